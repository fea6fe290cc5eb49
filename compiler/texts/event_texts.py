# SPDX-License-Identifier: MIT
"""Descriptions of events, in our own words.

Lists of events come without texts. The words are kept once per event name in lib/events/texts: a
sentence where one was written, else a base (what a family of names counts) and a glossary of the
parts that follow it.

The files of texts, one thing a line, name and text two blanks apart:

    MEM_LOAD_RETIRED.L2_HIT  Sentence.     one event
    L2_REQUEST.ANY  = L2_RQSTS.REFERENCES  the same event under another name
    X.LATENCY_GT_#  Loads above # cycles.  the last number of a name, where no row has that number
    UNC_CHA_TOR_INSERTS.*  @tor Requests   the base of every name that begins so; %s is where the
                                           rest goes, else it follows a colon; its parts are looked
                                           up in section tor of the glossary first
    OCR.*  @ocr {what|Requests} {by}[, {snoop}]
                                           a template: parts go to the slot that the glossary gives
                                           them (<what> reads); [...] is dropped where its slot is
                                           empty
    HNS_*  = HNF_*                         names that begin with HNS_ have the texts of those with
                                           HNF_;
    CME_*  = *; In the unit:               of those without CME_, with some words in front

A text may go on in indented lines; the first may be there too. metrics.txt and metrics_arm.txt
have a text for each metric: no text is composed.

glossary.txt has [SECTION ...] lines and lines of a term and its words, two blanks apart; a later
block overrides an earlier one. Words that begin with + follow the part before them without a comma,
words that end in ~ are before the part after them, words that begin with ^ come first of all, -
alone says nothing. # in a term is any number, and so in its words."""

import os
import re

from texts import phrases
from language import tables as pt

FILES = {"intel": ("intel_core", "intel_atom", "intel_older", "intel_uncore"), "amd": ("amd",),
         "arm": ("arm", "arm_c1", "arm_mesh", "boxes", "arm_older"), "power": ("power", "boxes"),
         "s390": ("s390",), "riscv": ("riscv",), "other": ("others", "boxes")}
METRIC_FILES = "metrics", "metrics_arm"
SMALL_CORE = re.compile(r"mont|bonnell|arcticwolf|atom|knight"
                        r"|\b(bnl|slm|glm|glp|ehl|snr|grr|srf|cwf|knl|knm)", re.I)
NUMBER = re.compile(r"[0-9]+")
PLAIN = re.compile(r"[A-Z]{5,}")
WORD = re.compile(r"[A-Z0-9]+")
PART = re.compile(r"\.?[A-Z0-9]+")
LAST_NUMBER = re.compile(r"^(.*?)([0-9]+)([^0-9]*)$")

_texts, _glossary, _seen, _metrics = {}, {}, {}, {}


class Texts:
    """Sentences and bases of one file, or of the files of a family, where the first file with a
    name takes precedence."""

    def __init__(self, files=()):
        """Joins texts; the first of @files wins."""
        self.exact, self.bases, self.renamed = {}, {}, {}
        for f in reversed(files):
            self.exact.update(f.exact)
            self.renamed.update(f.renamed)
            self.bases.update(f.bases)
        self.reach = max((k.count("_") + 1 for k in self.bases), default=0)

    def find_sentence(self, name):
        """Returns the sentence of an event, or None. `#` matches a number."""
        text = self.exact.get(name)
        if text is None:
            m = LAST_NUMBER.match(name)
            text = self.exact.get(m[1] + "#" + m[3]) if m else None
            text = text and text.replace("#", m[2])
        if text and text.startswith("= "):
            return self.find_sentence(text[2:])
        return text

    def find_other_name(self, name):
        """Returns (the name whose text @name has, words before it) by its beginning, or None."""
        for beginning, text in self.renamed.items():
            rest = name[len(beginning):]
            if name.startswith(beginning) and (beginning[-1] in "._" or rest[:1] in ("", ".", "_")):
                other, _, words = text.partition("; ")
                return other.rstrip("*") + rest, words
        return None

    def find_base(self, words):
        """Returns (number of words it covers, section, text) of the longest base, or None."""
        words = [w.lstrip(".") for w in words[:self.reach]]
        for n in range(len(words), 0, -1):
            found = self.bases.get("_".join(words[:n]))
            if found:
                return (n,) + found
        return None


def find_folder():
    """lib/events/texts of a source tree, or the folder texts next to an installed compiler."""
    try:
        return pt.find_first_existing("../lib/events/texts", "event_texts")
    except FileNotFoundError:
        return None


def read_lines(name):
    """Yields (position, line) of a file of texts; an indented line continues the previous one."""
    where = find_folder()
    path = where and os.path.join(where, name + ".txt")
    if not path or not os.path.exists(path):
        return
    at, whole = "", ""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip()
            if not line or line.startswith("#"):
                continue
            if line.startswith(" "):
                whole += (" " if "  " in whole else "  ") + line.strip()
                continue
            if whole:
                yield at, whole
            at, whole = "%s:%d" % (path, number), line
    if whole:
        yield at, whole


def make_canonical(name):
    """Returns a name in the form of the files of texts."""
    return name.upper().replace(":", ".").replace("-", "_").replace(" ", "_")


def load_family(family, small=False):
    """Texts of a family; for Intel those of small cores or of big ones first."""
    found = _texts.get((family, small))
    if not found:
        files = [load_texts(f) for f in FILES.get(family, FILES["other"])]
        if small:
            files.insert(0, files.pop(1))
        found = _texts[family, small] = Texts(files)
    return found


def load_texts(name):
    """Reads a file of names and texts."""
    texts = Texts()
    for at, line in read_lines(name):
        key, gap, text = line.partition("  ")
        key, text = make_canonical(key), text.strip()
        if not gap or not text:
            raise ValueError("%s: a name and a text, two blanks apart" % at)
        if key.endswith("*") and text.startswith("= "):
            key, table, value = key[:-1], texts.renamed, text[2:]
        elif key.endswith("*"):
            section = ""
            if text.startswith("@"):
                section, _, text = text[1:].partition(" ")
            key = "_".join(WORD.findall(key))
            table, value = texts.bases, (section, text)
        else:
            table = texts.exact
            value = "= " + make_canonical(text[2:]) if text.startswith("= ") else text
        if key in table:
            raise ValueError("%s: %s is there already" % (at, key))
        table[key] = value
    return texts


def load_metric_texts():
    """Returns {metric: text or "= NAME"} of the files of metrics."""
    if not _metrics:
        for at, line in (x for f in METRIC_FILES for x in read_lines(f)):
            key, gap, text = line.partition("  ")
            if not gap or key in _metrics:
                raise ValueError("%s: %s" % (at, key + " is there already" if gap else
                                             "expected a name and a text, got '%s'" % key))
            _metrics[key] = text.strip()
    return _metrics


def find_metric_text(name):
    """Returns the text of the metric @name, or None."""
    found = load_metric_texts()
    text = found.get(name) or found.get(name[:-len(".metric")] if name.endswith(".metric") else "")
    return found.get(text[2:]) if text and text.startswith("= ") else text


class Section(dict):
    """Terms and their words; @reach is the number of words of the longest term that begins with a
    word."""

    def __init__(self):
        """Begins an empty section."""
        super().__init__()
        self.reach = {}

    def add_term(self, key, text):
        """Adds a term, and how many words terms with its first word have at most."""
        self[key] = text
        words = PART.findall(key.replace("#", "0"))
        first = NUMBER.sub("#", words[0])
        self.reach[first] = max(self.reach.get(first, 1), len(words))


def load_glossary():
    """Returns {section: {term: words}}. A later block replaces the terms of an earlier one."""
    if not _glossary:
        names, block = ["common"], set()
        for at, line in read_lines("glossary"):
            if line.startswith("["):
                names, block = line.strip("[]").split(), set()
                continue
            word, gap, text = line.partition("  ")
            if not gap or word in block:
                raise ValueError("%s: %s" % (at, word + " is there already" if gap else
                                             "a term and its words, two blanks apart"))
            block.add(word)
            for n in names:
                _glossary.setdefault(n, Section()).add_term(word, text.strip())
        _glossary.setdefault("common", Section())
    return _glossary


def find_term(words, sections):
    """Returns the words of the glossary for a sequence of words, or None. Dots of the name matter:
    L3_MISS.REMOTE_HIT is not L3_MISS_REMOTE."""
    key = "_".join(words).replace("_.", ".").lstrip(".")
    for s in sections:
        if key in s:
            return s[key]
    pattern = NUMBER.sub("#", key)
    if pattern != key:
        for s in sections:
            if pattern in s:
                numbers = iter(NUMBER.findall(key))
                return re.sub("#", lambda m: next(numbers), s[pattern])
    return None


def find_parts(words, sections, unknown=None):
    """Returns the words for the parts of a name, longest terms first; unknown parts stay as they
    are."""
    out, i = [], 0
    while i < len(words):
        first = NUMBER.sub("#", words[i].lstrip("."))
        longest = max(s.reach.get(first, 0) for s in sections)
        for n in range(min(longest, len(words) - i), 0, -1):
            text = find_term(words[i:i + n], sections)
            if text is not None:
                break
        else:
            word = words[i].lstrip(".")
            n = 1
            text = ("+" + word if word.isdigit() else
                    word.lower() if PLAIN.fullmatch(word) else word)
            if unknown is not None and not word.isdigit():
                unknown.append(word)
        i += n
        if text.startswith("^"):
            out.insert(0, text[1:])
        elif text != "-":
            out.append(text)
    return out


def find_text(family, unit, name, texts, unknown=None):
    """Returns the text of a canonical name: its own, that of its alias, or one composed from its
    parts."""
    text, other = texts.find_sentence(name), None
    if not text:
        other = texts.find_other_name(name)
    if other:
        text, words = find_text(family, unit, other[0], texts, unknown), other[1]
        if words and text[1:2].islower():
            text = text[:1].lower() + text[1:]
        return "%s %s" % (words, text) if words else text
    return text or compose_text(family, unit, name, texts, unknown)


def compose_text(family, unit, name, texts, unknown=None):
    """Composes a sentence for @name of terms of the glossary. Unknown words are added to
    @unknown."""
    words = PART.findall(name)
    found = texts.find_base(words)
    if not found:
        parts = find_parts(words, list_sections(family, unit), unknown)
        return phrases.make_sentence(phrases.join_words(phrases.order_parts(parts, False)))
    n, section, text = found
    parts = find_parts(words[n:], list_sections(family, unit, section), unknown)
    if "{" in text:
        return phrases.make_sentence(phrases.fill_template(text, parts))
    rest = phrases.join_words(phrases.order_parts(parts, "%s" not in text))
    if "%s" in text:
        return phrases.make_sentence(text.replace("%s", rest or "any"))
    if not rest:
        return phrases.make_sentence(text)
    link = ": " if ";" in text or not phrases.LINKED.match(rest) else ", " if "," in text else " "
    return phrases.make_sentence(text + link + rest)


def list_sections(family, unit, first=""):
    """Returns the sections of the glossary for a name's parts, in order of precedence."""
    g = load_glossary()
    return [g[n] for n in (first, unit.replace(" ", "_"), family, "common") if n in g]


def is_small(family, facts):
    """True if the event is of one of Intel's small cores."""
    return family == "intel" and bool(facts and SMALL_CORE.search(facts.get("core") or ""))


def describe_mask(family, unit, event, name, facts=None):
    """Returns a sentence about the unit mask @name, which @event and other events share: its own
    words only."""
    found = load_family(family, is_small(family,
                                         facts)).find_base(PART.findall(make_canonical(event)))
    sections = list_sections(family, unit, found[1] if found else "")
    parts = find_parts(PART.findall(make_canonical(name)), sections)
    return phrases.make_sentence(
        phrases.join_words(phrases.order_parts(parts, False)) or "Any of them")


def describe_event(family, unit, name, facts=None, unknown=None):
    """Returns one sentence about the event @name of @unit ("" for a core, else the vendor's word in
    lower case). @facts["core"], a processor's name, decides between small and big cores. Unknown
    parts are added to the list @unknown."""
    small = is_small(family, facts)
    key = family, unit, name, small
    text = _seen.get(key)
    if text is None or unknown is not None:
        texts, plain = load_family(family, small), make_canonical(name)
        text = _seen[key] = find_text(family, unit, plain, texts, unknown)
    return text


def check_texts():
    """Returns errors of the files of texts: aliases without a target."""
    faults = [
        "metrics: %s = %s, which has no text" % (k, v[2:]) for k, v in load_metric_texts().items()
        if v.startswith("= ") and load_metric_texts().get(v[2:], "= ").startswith("= ")
    ]
    return faults + ["%s: %s = %s, which has no text" % (family, k, v[2:]) for family in FILES
                     for k, v in load_family(family).exact.items()
                     if v.startswith("= ") and not load_family(family).find_sentence(v[2:])]
