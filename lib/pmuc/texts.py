# SPDX-License-Identifier: MIT
"""What an event counts, in our own words.

Lists of events come without texts. The words are kept once per event name in lib/events/texts: a sentence where
somebody wrote one, else a base (what a family of names counts) and a glossary of the parts that follow it.

The files of texts, one thing a line, name and text two blanks apart:

    MEM_LOAD_RETIRED.L2_HIT  Sentence.       one event
    L2_REQUEST.ANY  = L2_RQSTS.REFERENCES    the same event under another name
    X.LATENCY_GT_#  Loads above # cycles.    the last number of a name, where no row has that number
    UNC_CHA_TOR_INSERTS.*  @tor Requests     the base of every name that begins so; %s is where the rest goes, else it
                                             follows a colon; its parts are looked up in section tor of the glossary first
    OCR.*  @ocr {what|Requests} {by}[, {snoop}]   a template: parts go to the slot that the glossary gives them
                                             (<what> reads); [...] is dropped where its slot is empty
A text may go on in indented lines; the first may stand there too.
metrics.txt has a text of its own for each metric: none is composed. glossary.txt has [SECTION ...] lines and TERM  words; a later block overrides an earlier one. Words that begin with +
follow the part before them without a comma, words that end in ~ stand before the part after them, words that
begin with ^ come first of all, - alone says nothing. # in a term is any number, and so in its words."""

import os
import re

import pmtable as pt

FILES = {"intel": ("intel_core", "intel_atom", "intel_older", "intel_uncore"), "amd": ("amd",), "arm": ("arm", "boxes"),
         "power": ("power", "boxes"), "s390": ("s390",), "riscv": ("riscv",), "other": ("others", "boxes")}
SMALL_CORE = re.compile(r"mont|bonnell|arcticwolf|atom|knight|\b(bnl|slm|glm|glp|ehl|snr|grr|srf|cwf|knl|knm)", re.I)
LIMIT = 200
NUMBER = re.compile(r"[0-9]+")
PLAIN = re.compile(r"[A-Z]{5,}")
WORD = re.compile(r"[A-Z0-9]+")
PART = re.compile(r"\.?[A-Z0-9]+")
LINKED = re.compile(r"(of|from|to|that|whose|in|into|by|at|for|with|without|on|while|beyond|because|between|after|before|when|as|and|or"
                    r"|through|over|under|within|until|per)\b")
PAST = re.compile(r"(served|sent|answered|kept|entered)\b")
PREPOSITION = re.compile(r" (of|in|for|to|from|by) ")
SLOT = re.compile(r"<(\w+)> ?")
HOLE = re.compile(r"\{(\w+)(?:\|([^}]*))?\}")
OPTION = re.compile(r"\[[^\]{]*\{(\w+)\}[^\]]*\]")
SUMMED = ", summed over cycles"
# What a word is as the attribute of a noun after it: "loads", "misses" make "load misses".
ATTRIBUTES = {"instructions": "instruction", "branches": "branch", "loads": "load", "stores": "store", "uops": "uop", "requests": "request",
              "reads": "read", "writes": "write", "prefetches": "prefetch", "snoops": "snoop", "operations": "operation", "pages": "page",
              "page walks": "page walk", "accesses": "access", "fetches": "fetch", "transactions": "transaction", "interrupts": "interrupt",
              "exceptions": "exception", "lines": "line", "probes": "probe", "commands": "command", "victims": "victim", "misses": "miss",
              "threads": "thread", "entries": "entry", "bubbles": "bubble", "barriers": "barrier", "credits": "credit", "calls": "call",
              "returns": "return", "jumps": "jump", "locks": "lock", "hits": "hit", "responses": "response"}
ALWAYS = ("cache", "TLB", "data", "code", "memory", "bus", "queue", "buffer", "table", "unit", "vector", "floating-point", "integer", "system",
          "hardware", "software", "demand", "second-level TLB", "SSE", "SSE2", "AVX", "MMX", "x87", "scheduler", "pipeline", "interface",
          "controller", "DRAM", "register", "microcode", "dispatch", "division", "graphics", "renaming", "page directory", "error", "core",
          "uncacheable", "not cacheable", "cacheable", "near", "far", "direct", "indirect", "scalar", "packed", "clean", "dirty", "speculative",
          "misaligned", "exclusive", "external", "internal", "local", "large", "small", "partial", "total", "normal", "return stack", "processor")
HEADS = set(ATTRIBUTES) | {"stalls", "refills", "fills", "look-ups", "evictions", "writebacks", "flushes", "replacements", "aborts", "errors",
                           "events", "cycles", "data", "cache", "TLB", "queue", "buffer", "bytes", "conflicts", "faults", "assists", "rejections",
                           "retries", "turnarounds", "transfers", "ticks", "slots", "invalidations", "reloads", "restarts", "entries made",
                           "references", "divisions", "multiplications", "prefetcher", "bits", "changes", "words", "packets", "walks"}
# What a word is before the noun that it tells more about.
BEFORE = {"retired": "retired~", "predicted wrongly": "mispredicted~", "predicted": "predicted~", "dispatched": "dispatched~",
          "executed": "executed~", "taken": "taken~", "not taken": "not-taken~", "conditional": "conditional~", "mispredicted": "mispredicted~"}
# What a word is after a noun that it tells more about.
AFTER = {"hits": "that hit", "misses": "that missed", "taken": "that are taken", "not taken": "that are not taken",
         "conditional": "that are conditional", "unconditional": "that are unconditional", "direct": "that are direct",
         "indirect": "that are indirect", "modified": "in modified state", "exclusive": "in exclusive state", "shared": "in shared state",
         "invalid": "in invalid state", "owned": "in owned state", "completed": "that completed", "started": "that started",
         "retired": "that retired", "executed": "that executed", "issued": "that were issued", "dispatched": "that were dispatched",
         "predicted wrongly": "that were mispredicted", "predicted": "that were predicted", "aborted": "that were aborted",
         "rejected": "that were rejected", "dropped": "that were dropped", "blocked": "that were blocked", "stalled": "that stalled",
         "pending": "that are pending", "outstanding": "that are outstanding", "scalar": "that are scalar", "packed": "that are packed",
         "full": "that is full", "empty": "that is empty", "busy": "that is busy", "single-precision": "in single precision",
         "double-precision": "in double precision", "all kinds": "of all kinds", "any kind": "of any kind", "all of them": "of all kinds",
         "across two lines": "across two lines", "data": "for data", "code": "for code", "loads": "for loads", "stores": "for stores",
         "reads": "for reads", "writes": "for writes", "prefetches": "for prefetches"}
LAST_NUMBER = re.compile(r"^(.*?)([0-9]+)([^0-9]*)$")

_texts, _glossary, _seen, _metrics = {}, {}, {}, {}


class Texts:
    """Sentences and bases: of one file, or of the files of a family, of which the first that knows a name is right."""

    def __init__(self, files=()):
        self.exact, self.bases = {}, {}
        for f in reversed(files):
            self.exact.update(f.exact)
            self.bases.update(f.bases)
        self.reach = max((k.count("_") + 1 for k in self.bases), default=0)

    def sentence(self, name):
        text = self.exact.get(name)
        if text is None:
            m = LAST_NUMBER.match(name)
            text = self.exact.get(m[1] + "#" + m[3]) if m else None
            text = text and text.replace("#", m[2])
        if text and text.startswith("= "):
            return self.sentence(text[2:])
        return text

    def base(self, words):
        """(number of words it covers, section, text) of the longest base, or None."""
        words = [w.lstrip(".") for w in words[:self.reach]]
        for n in range(len(words), 0, -1):
            found = self.bases.get("_".join(words[:n]))
            if found:
                return (n,) + found
        return None


def folder():
    """lib/events/texts of a source tree, or the folder of that name beside an installed compiler."""
    try:
        return pt.first_existing("../events/texts", "texts")
    except FileNotFoundError:
        return None


def lines(name):
    """(place, line) of a file of texts; an indented line continues the one above it."""
    where = folder()
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


def canonical(name):
    return name.upper().replace(":", ".").replace("-", "_").replace(" ", "_")


def of_family(family, small=False):
    """The texts of a family; of Intel's those of small cores or of big ones first."""
    found = _texts.get((family, small))
    if not found:
        files = [load(f) for f in FILES.get(family, FILES["other"])]
        if small:
            files.insert(0, files.pop(1))
        found = _texts[family, small] = Texts(files)
    return found


def load(name):
    texts = Texts()
    for at, line in lines(name):
        key, gap, text = line.partition("  ")
        key, text = canonical(key), text.strip()
        if not gap or not text:
            raise ValueError("%s: a name and a text, two blanks apart" % at)
        if key.endswith("*"):
            section = ""
            if text.startswith("@"):
                section, _, text = text[1:].partition(" ")
            key = "_".join(WORD.findall(key))
            table, value = texts.bases, (section, text)
        else:
            table, value = texts.exact, "= " + canonical(text[2:]) if text.startswith("= ") else text
        if key in table:
            raise ValueError("%s: %s is there already" % (at, key))
        table[key] = value
    return texts


def metrics():
    """{metric: text or "= NAME"} of metrics.txt."""
    if not _metrics:
        for at, line in lines("metrics"):
            key, gap, text = line.partition("  ")
            if not gap or key in _metrics:
                raise ValueError("%s: %s" % (at, "expected a name and a text, got '%s'" % key if not gap else key + " is there already"))
            _metrics[key] = text.strip()
    return _metrics


def metric(name):
    """The text of the metric @name, or None."""
    found = metrics()
    text = found.get(name) or found.get(name[:-len(".metric")] if name.endswith(".metric") else "")
    return found.get(text[2:]) if text and text.startswith("= ") else text


class Section(dict):
    """Terms and their words; @reach tells how many words the longest term has that begins with a word."""

    def __init__(self):
        super().__init__()
        self.reach = {}

    def enter(self, key, text):
        self[key] = text
        words = PART.findall(key.replace("#", "0"))
        first = NUMBER.sub("#", words[0])
        self.reach[first] = max(self.reach.get(first, 1), len(words))


def glossary():
    """{section: {term: words}}; of two blocks that give a term to one section the later wins."""
    if not _glossary:
        names, block = ["common"], set()
        for at, line in lines("glossary"):
            if line.startswith("["):
                names, block = line.strip("[]").split(), set()
                continue
            word, gap, text = line.partition("  ")
            if not gap or word in block:
                raise ValueError("%s: %s" % (at, "a term and its words, two blanks apart" if not gap else word + " is there already"))
            block.add(word)
            for n in names:
                _glossary.setdefault(n, Section()).enter(word, text.strip())
        _glossary.setdefault("common", Section())
    return _glossary


def term(words, sections):
    """The words of the glossary for a run of words, or None. A dot of the name counts: L3_MISS.REMOTE_HIT has no L3_MISS_REMOTE."""
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


def phrases(words, sections, unknown=None):
    """The parts of a name in words, longest terms first; what the glossary does not have stays as it is."""
    out, i = [], 0
    while i < len(words):
        first = NUMBER.sub("#", words[i].lstrip("."))
        longest = max(s.reach.get(first, 0) for s in sections)
        for n in range(min(longest, len(words) - i), 0, -1):
            text = term(words[i:i + n], sections)
            if text is not None:
                break
        else:
            word = words[i].lstrip(".")
            n, text = 1, "+" + word if word.isdigit() else word.lower() if PLAIN.fullmatch(word) else word
            if unknown is not None and not word.isdigit():
                unknown.append(word)
        i += n
        if text.startswith("^"):
            out.insert(0, text[1:])
        elif text != "-":
            out.append(text)
    return out


def joined(parts):
    """Words of the glossary as one text; a part that links itself ("of cores", "that missed") needs no comma, and a sum over cycles
    comes last."""
    text, glue, end = "", "", ""
    for p in parts:
        p = SLOT.sub("", p)
        if SUMMED in p:
            p, end = p.replace(SUMMED, ""), SUMMED
        if p == "cycles" and "cycles" in text.lower():
            continue
        if p.startswith("+"):
            p, glue = p[1:], " " if text else ""
        elif glue and p.startswith("that ") and re.search(r" that (are|were) [\w ]+$", text) and re.match(r"that (are|were) ", p):
            glue, p = " and ", p.split(" ", 2)[2]
        elif glue and p.startswith("that ") and " that " in text:
            glue = " and "
        elif glue and PAST.match(p):
            glue = " and were " if " that " in " " + text else " "
        elif glue and LINKED.match(p):
            glue = " "
        elif p.startswith(","):
            glue = ""
        text += glue + p.strip("~ ")
        glue = " " if p.endswith("~") else ", "
    return text + end


def is_attribute(p):
    return p in ATTRIBUTES or p in ALWAYS or p.endswith((" cache", " TLB", " queue", " buffer", " unit")) and not PREPOSITION.search(p)


def natural(parts, follows):
    """Parts as English says them: attributes before their nouns, and clauses after. @follows tells that a noun stands before them."""
    if not follows and len(parts) > 1 and parts[-1] == "cycles":
        parts = ["cycles of~"] + parts[:-1]
    out = []
    parts = [p for i, p in enumerate(parts) if not i or parts[i - 1].split(" ")[-1] != p]      # L1D_CACHE: no second "cache"
    for i, p in enumerate(parts):
        after = parts[i + 1] if i + 1 < len(parts) else ""
        noun = follows or any(not x.endswith("~") for x in out)
        if not noun and after and p in BEFORE:
            p = BEFORE[p]
        if after in HEADS and is_attribute(p):
            p = ATTRIBUTES.get(p, p) + "~"
        elif noun and not (out and out[-1].endswith("~")):
            p = AFTER.get(p.rstrip("~"), p)
        out.append(p)
    return out


def filled(template, parts):
    """A template with the parts in their slots; "[...]" is dropped if its slot is empty, what has no slot comes last."""
    slots = {"rest": []}
    for p in parts:
        marks = SLOT.split(p)           # words before any mark, then a slot and its words in turn
        for name, said in zip(["rest"] + marks[1::2], marks[::2]):
            if said.strip():
                slots.setdefault(name if "{" + name in template else "rest", []).append(said.strip())

    def fill(m):
        return joined(slots.pop(m[1], [])) or m[2] or ""
    text = OPTION.sub(lambda m: m[0][1:-1] if slots.get(m[1]) else "", template)
    text = HOLE.sub(fill, text)
    rest = joined([p for kept in slots.values() for p in kept])
    if rest:
        text += (" " if LINKED.match(rest) else ", ") + rest
    return re.sub(r" +(?=[,;:)]|$)", "", re.sub(r" {2,}", " ", text)).strip(" ,")


def sentence_of(text):
    text = text.strip().rstrip(".,:;").replace(") (", "; ")
    if len(text) >= LIMIT:
        text = text[:LIMIT - 1].rsplit(",", 1)[0]
    return text[:1].upper() + text[1:] + "."


def composed(family, unit, name, texts, unknown=None):
    words = PART.findall(name)
    found = texts.base(words)
    if not found:
        return sentence_of(joined(natural(phrases(words, sections_of(family, unit), unknown), False)))
    n, section, text = found
    parts = phrases(words[n:], sections_of(family, unit, section), unknown)
    if "{" in text:
        return sentence_of(filled(text, parts))
    rest = joined(natural(parts, "%s" not in text))
    if "%s" in text:
        return sentence_of(text.replace("%s", rest or "any"))
    if not rest:
        return sentence_of(text)
    link = ": " if ";" in text or not LINKED.match(rest) else ", " if "," in text else " "
    return sentence_of(text + link + rest)


def sections_of(family, unit, first=""):
    """The sections of the glossary where a name's parts are looked up, in order."""
    g = glossary()
    return [g[n] for n in (first, unit.replace(" ", "_"), family, "common") if n in g]


def is_small(family, facts):
    return family == "intel" and bool(facts and SMALL_CORE.search(facts.get("core") or ""))


def mask(family, unit, event, name, facts=None):
    """A sentence about the unit mask @name that @event and others take: its own words alone."""
    found = of_family(family, is_small(family, facts)).base(PART.findall(canonical(event)))
    parts = phrases(PART.findall(canonical(name)), sections_of(family, unit, found[1] if found else ""))
    return sentence_of(joined(natural(parts, False)) or "Any of them")


def describe(family, unit, name, facts=None, unknown=None):
    """One sentence about the event @name of @unit ("" for a core, else the vendor's word in lower case). @facts["core"], a
    processor's name, tells small cores from big ones. Parts that the glossary does not have are added to the list @unknown."""
    small = is_small(family, facts)
    key = family, unit, name, small
    text = _seen.get(key)
    if text is None or unknown is not None:
        texts, plain = of_family(family, small), canonical(name)
        text = _seen[key] = texts.sentence(plain) or composed(family, unit, plain, texts, unknown)
    return text


def check():
    """Faults of the files of texts: aliases that lead nowhere."""
    faults = ["metrics: %s = %s, which has no text" % (k, v[2:]) for k, v in metrics().items()
              if v.startswith("= ") and metrics().get(v[2:], "= ").startswith("= ")]
    return faults + ["%s: %s = %s, which has no text" % (family, k, v[2:]) for family in FILES
                     for k, v in of_family(family).exact.items()
                     if v.startswith("= ") and not of_family(family).sentence(v[2:])]
