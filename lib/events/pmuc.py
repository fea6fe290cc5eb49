#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles event tables.

    pmuc.py --c OUT.c [--depfile FILE] NAME.pmu...                   the tables inside the library
    pmuc.py --image OUT.pmdb [--byteorder little|big] NAME.pmu...    an image file
    pmuc.py --check NAME.pmu...                                      only say what is wrong
    pmuc.py import PATH... [--cpu PATTERN] [-o FILE] [--json]        vendors' event lists to images

README.md describes the language, ../table.h the result. Everything wrong is reported as FILE:LINE:COLUMN: error: text,
all errors of a run together; then the exit status is 1 and nothing is written.
"""

import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True   # the build directory and an installed copy stay as they are
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pmtable as pt  # noqa: E402

MAX_FILE = 16 << 20
MAX_USE = 8
ENCODER_NAMES = {name: name for name in pt.ENCODERS}
ENCODER_NAMES.update({"alpha_ev4": "ev4", "alpha_ev5": "ev5", "alpha_ev6": "ev6", "alpha_ev67": "ev67",
                      "intel_arch": "x86", "ia64_montecito": "montecito"})
WORDS = {"config": 0, "config1": 1, "config2": 2, "config3": 3}
IDENTITY = ("pmu", "aka", "match", "fallback", "view", "test", "source")   # never taken over by `use`
ROW_STATEMENTS = ("event", "synonym", "unsupported", "drop")
NAME = re.compile(r"[a-z0-9_]+")
IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


class Bad(Exception):
    """An error at a place."""

    def __init__(self, where, text):
        super().__init__(text)
        self.where, self.text = where, text


class Token:
    """A word of a line. A word that starts with a quote is a text; in another, '=' splits key and value."""
    __slots__ = ("raw", "file", "line", "col")

    def __init__(self, raw, file, line, col):
        self.raw, self.file, self.line, self.col = raw, file, line, col

    def at(self, offset=0):
        return self.file, self.line, self.col + offset

    def is_text(self):
        return self.raw.startswith('"')

    def text(self):
        return unquote(self.raw)

    def pair(self):
        """(key, value token); value None without '='."""
        if self.is_text():
            raise Bad(self.at(), "a text where KEY=VALUE is expected")
        key, equals, value = self.raw.partition("=")
        if '"' in key:
            raise Bad(self.at(), "a quote inside a key")
        if not equals:
            return key, None
        return key, Token(value, self.file, self.line, self.col + len(key) + 1)

    def split(self, mark=","):
        """Parts between unquoted marks, each a token."""
        parts, start, quoted, i = [], 0, False, 0
        while i < len(self.raw):
            c = self.raw[i]
            if c == "\\" and quoted:
                i += 1
            elif c == '"':
                quoted = not quoted
            elif c == mark and not quoted:
                parts.append(Token(self.raw[start:i], self.file, self.line, self.col + start))
                start = i + 1
            i += 1
        parts.append(Token(self.raw[start:], self.file, self.line, self.col + start))
        return parts

    def number(self):
        m = re.fullmatch(r"0[xX]([0-9a-fA-F]{1,16})|([0-9]{1,20})", self.raw)
        n = int(m[1], 16) if m and m[1] else int(m[2]) if m else None
        if n is None or n > pt.ALL64:
            raise Bad(self.at(), "'%s' is not a number" % self.raw if self.raw else "a number is missing")
        return n


def unquote(raw):
    return re.sub(r'\\(.)|"', lambda m: m[1] or "", raw)


def tokens(text, file, errors):
    """Statements of a file: lists of tokens."""
    statement, broken = [], False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        i, n = 0, len(line)
        continued = False
        while i < n:
            c = line[i]
            if c in " \t":
                i += 1
                continue
            if c == "#":
                break
            if c == "\\" and not line[i + 1:].strip():
                continued = True
                break
            start, quoted = i, None
            while i < n and (quoted is not None or line[i] not in ' \t#'):
                if quoted is not None and line[i] == "\\" and i + 1 < n:
                    i += 1
                elif line[i] == '"':
                    quoted = i if quoted is None else None
                elif quoted is None and line[i] == "\\" and not line[i + 1:].strip():
                    break
                i += 1
            if quoted is not None:
                errors.append(((file, number, quoted + 1), "a text that does not end"))
                broken = True
                i = n
            else:
                statement.append(Token(line[start:i], file, number, start + 1))
        if not continued:
            if statement and not broken:
                yield statement
            statement, broken = [], False
    if statement and not broken:
        yield statement


class Compiler:
    """One .pmu file, with all that it uses, to a Table."""

    def __init__(self):
        self.errors = []      # ((file, line, column), text)
        self.files = []       # every file read, for the depfile
        self.table = None

    def error(self, where, text):
        self.errors.append((where, text))

    # ---- reading -----------------------------------------------------------------------------------------------

    def load(self, path, stack=()):
        """[(tokens, inherited)] of a file with its `use` statements replaced by what they bring."""
        out = []
        self.files.append(path)
        try:
            if os.path.getsize(path) > MAX_FILE:
                raise Bad((path, 1, 1), "file is too big")
            with open(path, "rb") as f:
                text = f.read().decode("utf-8")
        except OSError as e:
            raise Bad((path, 1, 1), e.strerror or str(e))
        except UnicodeDecodeError as e:
            raise Bad((path, 1, 1), "not UTF-8 at byte %d" % e.start)
        for s in tokens(text, path, self.errors):
            if s[0].raw != "use":
                out.append((s, False))
                continue
            if len(s) != 2 or s[1].is_text() or "/" in s[1].raw:
                self.error(s[-1].at(), "use takes one file of this folder")
                continue
            other = os.path.join(os.path.dirname(path), s[1].raw)
            if other in stack + (path,) or len(stack) >= MAX_USE:
                self.error(s[1].at(), "files use each other in a circle")
                continue
            try:
                out += [(t, True) for t, _ in self.load(other, stack + (path,)) if t[0].raw not in IDENTITY]
            except Bad as e:
                if e.where[0] != other:
                    raise
                self.error(s[1].at(), "%s: %s" % (s[1].raw, e.text))
        return out

    def compile(self, path):
        """The table, or None when there were errors."""
        self.table = t = pt.Table("", "")
        self.at_name = (path, 1, 1)
        self.named = self.encoder_set = False
        self.origin = {}       # (kind, name) -> (token, inherited)
        self.groups, self.default = {}, {}
        self.default_counters = None
        self.default_takes = ()
        self.rows = []         # (Row, inherited, token) or None where dropped
        self.names = {}        # folded -> (text, token, row number, inherited)
        self.waiting = []      # synonyms and unsupported names, resolved when all rows are known
        try:
            statements = self.load(path)
        except Bad as e:
            self.error(e.where, e.text)
            return None
        if not statements:
            self.error((path, 1, 1), "an empty file")
            return None
        if statements[0][0][0].raw != "pmu":
            self.error(statements[0][0][0].at(), "the first statement must be pmu")
        for rows in (False, True):
            for words, inherited in statements:
                self.inherited = inherited
                word = words[0]
                method = getattr(self, "do_" + word.raw, None) if NAME.fullmatch(word.raw) else None
                if not method:
                    if not rows:
                        self.error(word.at(), "unknown statement '%s'" % word.raw)
                elif (word.raw in ROW_STATEMENTS) == rows:
                    try:
                        method(words)
                    except Bad as e:
                        self.error(e.where, e.text)
            if not rows:
                self.finish_head()
        self.finish()
        return None if self.errors else t

    def each(self, words, action):
        """Does @action for each word; one bad word does not hide the next."""
        for w in words:
            try:
                action(w)
            except Bad as e:
                self.error(e.where, e.text)

    def declare(self, kind, token, name=None):
        """Notes a declaration; refuses a second one in the same file. True if it replaces an inherited one."""
        name = token.raw if name is None else name
        before = self.origin.get((kind, name))
        if before and before[1] == self.inherited:
            raise Bad(token.at(), "%s '%s' is declared twice; first in line %d" % (kind, name, before[0].line))
        self.origin[kind, name] = token, self.inherited
        return before is not None

    @staticmethod
    def name(words, what):
        if len(words) < 2:
            raise Bad(words[0].at(len(words[0].raw)), "%s needs a name" % what)
        if words[1].is_text() or not IDENT.fullmatch(words[1].raw):
            raise Bad(words[1].at(), "bad name '%s'" % words[1].raw)
        return words[1].raw

    # ---- head --------------------------------------------------------------------------------------------------

    def do_pmu(self, words):
        self.at_name = words[0].at()
        if self.named:
            raise Bad(words[0].at(), "pmu is given twice")
        self.named = True
        if len(words) < 2 or not NAME.fullmatch(words[1].raw):
            raise Bad(words[min(1, len(words) - 1)].at(), "pmu needs a name of lower case letters, digits and _")
        self.table.name = words[1].raw
        if len(words) != 3 or not words[2].is_text() or not words[2].text():
            raise Bad(words[-1].at(), "missing description of the processor")
        self.table.desc = words[2].text()

    def do_aka(self, words):
        def one(w):
            if not re.fullmatch(r"[A-Za-z0-9_.]+", w.raw):
                raise Bad(w.at(), "bad name '%s'" % w.raw)
            if w.raw in self.table.aka or w.raw == self.table.name:
                raise Bad(w.at(), "'%s' is given twice" % w.raw)
            self.table.aka.append(w.raw)
        self.each(words[1:], one)

    def do_encoder(self, words):
        self.encoder_set = True
        if len(words) != 2 or words[1].raw not in ENCODER_NAMES:
            raise Bad(words[-1].at(), "unknown encoder '%s'" % (words[1].raw if len(words) > 1 else ""))
        self.declare("encoder", words[1], "")
        self.table.encoder = ENCODER_NAMES[words[1].raw]

    def do_source(self, words):
        if len(words) != 2 or not words[1].is_text():
            raise Bad(words[-1].at(), "source takes one text")
        self.table.source = words[1].text()

    def flag(self, words, bit):
        if len(words) > 1:
            raise Bad(words[1].at(), "%s stands alone" % words[0].raw)
        self.table.flags |= bit

    def do_fallback(self, words):
        self.flag(words, pt.TABLE_FALLBACK)

    def do_view(self, words):
        self.flag(words, pt.TABLE_VIEW)

    def do_test(self, words):
        self.flag(words, pt.TABLE_TEST)

    def do_uncore(self, words):
        self.table.flags |= pt.TABLE_UNCORE
        if len(words) > 2:
            raise Bad(words[2].at(), "uncore takes the name of one unit")
        if len(words) == 2:
            self.table.unit = words[1].text()

    def do_device(self, words):
        if len(words) != 2:
            raise Bad(words[-1].at(), "device takes the name the kernel gives the PMU")
        self.table.device = words[1].text()

    def do_pmctype(self, words):
        if len(words) != 3 or words[1].raw not in ("perf", "libpfm"):
            raise Bad(words[min(1, len(words) - 1)].at(), "pmctype takes perf or libpfm and a number")
        n = words[2].number()
        if n > 0x7FFFFFFF:
            raise Bad(words[2].at(), "0x%x does not fit" % n)
        self.declare("pmctype", words[1])
        setattr(self.table, words[1].raw + "_type", n)

    def do_feature(self, words):
        def one(w):
            key, value = w.pair()
            if not IDENT.fullmatch(key) or value is None:
                raise Bad(w.at(), "a feature is NAME=VALUE")
            replaces = self.declare("feature", w, key)
            what = value.number() if re.match(r"[0-9]", value.raw) else value.text()
            if replaces:
                self.table.features = [f for f in self.table.features if f[0] != key]
            self.table.features.append((key, what))
        self.each(words[1:], one)

    def do_counter(self, words):
        if len(words) < 2:
            raise Bad(words[0].at(), "counter needs numbers")
        m = re.fullmatch(r"(F?)([0-9]{1,3})(?:\.\.(F?)([0-9]{1,3}))?", words[1].raw)
        if not m or (m[3] and not m[1]):
            raise Bad(words[1].at(), "bad counter '%s'" % words[1].raw)
        c = pt.Counter(int(m[2]), int(m[4] or m[2]), 0, m[1] == "F")
        given = set()

        def one(w):
            key, value = w.pair()
            if key in given:
                raise Bad(w.at(), "'%s' is given twice" % key)
            given.add(key)
            if key == "kind" and value is not None:
                if value.raw not in ("fixed", "general"):
                    raise Bad(value.at(), "a counter is fixed or general")
                c.fixed = c.fixed or value.raw == "fixed"
            elif key in ("width", "control", "value", "step") and value is not None:
                n = value.number()
                if n > (64 if key == "width" else pt.ANY32) or key == "width" and not n:
                    raise Bad(value.at(), "0x%x does not fit" % n)
                setattr(c, key, n)
            else:
                raise Bad(w.at(), "unknown key '%s'" % key)
        self.each(words[2:], one)
        if "width" not in given:
            raise Bad(words[1].at(), "counter without width")
        if not c.first <= c.last < 32:
            raise Bad(words[1].at(), "counters are numbered 0..31, fixed ones F0..F31")
        for n in range(c.first, c.last + 1):
            if self.declare("counter", words[1], "%s%d" % ("F" if c.fixed else "", n)):
                for old in self.table.counters[:]:
                    if old.fixed == c.fixed and old.first <= n <= old.last:
                        self.table.counters.remove(old)
        self.table.counters.append(c)

    def do_match(self, words):
        one = {}
        lists = {"model": [(0, pt.ANY32)], "family": [(pt.ANY32, pt.ANY32)]}
        identities = []

        def key_value(w):
            key, value = w.pair()
            if value is None or not value.raw:
                raise Bad(w.at(), "match takes KEY=VALUE")
            if key in one:
                raise Bad(w.at(), "'%s' is given twice" % key)
            one[key] = value
            if key in ("arch", "vendor", "pattern"):
                one[key] = value.text()
            elif key in ("family", "model"):
                lists[key] = self.ranges(value, 0xFFFFFF)
                if key == "family" and any(a != b for a, b in lists[key]):
                    lists[key] = [(n, n) for a, b in lists[key] for n in range(a, min(b, a + 256) + 1)]
            elif key == "stepping":
                one[key] = 0
                for a, b in self.ranges(value, 31):
                    one[key] |= (1 << (b + 1)) - (1 << a)
            elif key == "pmuversion":
                r = self.ranges(value, 255)
                one[key] = r[0][0], r[-1][1]
            elif key in ("midr", "pvr", "implver", "cputype", "id"):
                identities.append(w)
                number, slash, mask = value.raw.partition("/")
                n = Token(number, *value.at()).number()
                m = Token(mask, *value.at(len(number) + 1)).number() if slash else pt.ALL64
                if n & ~m:
                    raise Bad(value.at(), "the value has bits outside its mask")
                one[key] = n, m
            elif key in ("core_type", "native_model"):
                n = value.number()
                if n > (255 if key == "core_type" else 0xFFFFFF):
                    raise Bad(value.at(), "0x%x does not fit" % n)
                one[key] = n
            else:
                raise Bad(w.at(), "unknown key '%s'" % key)

        before = len(self.errors)
        self.each(words[1:], key_value)
        if len(words) < 2:
            raise Bad(words[0].at(), "match takes KEY=VALUE")
        if len(identities) > 1:
            raise Bad(identities[1].at(), "one identity per match: midr, pvr, implver, cputype and id exclude each other")
        if len(self.errors) > before:
            return
        value, mask = one[identities[0].pair()[0]] if identities else (0, 0)
        arch = one.get("arch", "")
        if not arch and identities:
            arch = {"implver": "alpha", "cputype": "alpha", "midr": "arm64", "pvr": "powerpc"}.get(
                identities[0].pair()[0], "")
        version = one.get("pmuversion", (0, 255))
        for family, _ in lists["family"]:
            for low, high in lists["model"]:
                self.table.matches.append(pt.Match(
                    arch, one.get("vendor", ""), family, low, high, one.get("stepping", 0), value, mask,
                    one.get("pattern", ""), one.get("core_type"), version[0], version[1],
                    one.get("native_model", pt.ANY32)))

    @staticmethod
    def ranges(token, most):
        """Numbers, ranges A..B and lists of them, as (low, high) pairs."""
        out = []
        for part in token.split():
            low, dots, high = part.raw.partition("..")
            a = Token(low, *part.at()).number()
            b = Token(high, *part.at(len(low) + 2)).number() if dots else a
            if b < a or b > most:
                raise Bad(part.at(), "'%s' is out of range" % part.raw)
            out.append((a, b))
        return out

    # ---- fields and groups -------------------------------------------------------------------------------------

    def put_field(self, token, field):
        if self.declare("field", token, field.name):
            self.table.fields[self.table.field_at[field.name]] = field
        else:
            if field.name in self.table.field_at:
                raise Bad(token.at(), "field '%s' exists" % field.name)
            self.table.add_field(field)

    def do_field(self, words):
        name = self.name(words, "field")
        got = {}

        def one(w):
            key, value = w.pair()
            if key not in ("bits", "at", "range") or value is None:
                raise Bad(w.at(), "unknown key '%s'" % key)
            if key in got:
                raise Bad(w.at(), "'%s' is given twice" % key)
            if key == "bits":
                got[key] = value.number()
                if not 1 <= got[key] <= 64:
                    raise Bad(value.at(), "a field has 1 to 64 bits")
            elif key == "range":
                got[key] = self.ranges(value, pt.ALL64)
                if len(got[key]) != 1:
                    raise Bad(value.at(), "range takes LOW..HIGH")
            else:
                got[key] = self.bit_ranges(value)
        before = len(self.errors)
        self.each(words[2:], one)
        if len(self.errors) > before:
            self.origin["broken", name] = words[1], False
            return
        if not got:
            raise Bad(words[1].at(), "a field needs bits, at or range")
        ranges = got.get("at", ())
        low, high = got.get("range", [(0, None)])[0]
        width = got.get("bits") or sum(r[2] for r in ranges) or max(1, high.bit_length())
        if ranges and width != sum(r[2] for r in ranges):
            raise Bad(words[1].at(), "bits and at disagree about the width")
        if high is not None and high >> width:
            raise Bad(words[1].at(), "range does not fit %d bits" % width)
        self.put_field(words[1], pt.Field(name, pt.NUMBER, width, ranges, low=low, high=high, preset=low))

    @staticmethod
    def bit_ranges(value):
        word, colon, bits = value.raw.partition(":")
        if not colon or word not in WORDS:
            raise Bad(value.at(), "expected config, config1, config2 or config3, a colon and bits")
        out, used = [], 0
        for part in Token(bits, *value.at(len(word) + 1)).split():
            m = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", part.raw)
            low, high = (int(m[1]), int(m[2] or m[1])) if m else (1, 0)
            if not low <= high < 64:
                raise Bad(part.at(), "bad bits '%s'" % part.raw)
            mask = (1 << (high + 1)) - (1 << low)
            if used & mask:
                raise Bad(part.at(), "bits given twice")
            used |= mask
            out.append((WORDS[word], low, high - low + 1))
        if len(out) > pt.MAX_RANGES:
            raise Bad(value.at(), "more than %d bit ranges" % pt.MAX_RANGES)
        return out

    def word_list(self, tokens_, numbered):
        """Words of a trait or choice; A:0..6 stands for seven, A/B for two spellings, A=N gives a value."""
        words, seen, position = [], {}, 0

        def one(w):
            nonlocal position
            key, value = w.pair()
            if value is not None and not numbered:
                raise Bad(value.at(), "words of a trait have no values")
            m = re.fullmatch(r"(.*?)([0-9]{1,4})\.\.([0-9]{1,4})", key)
            names = [["%s%d" % (m[1], n)] for n in range(int(m[2]), int(m[3]) + 1)] if m else [key.split("/")]
            if m and (int(m[2]) > int(m[3]) or value is not None):
                raise Bad(w.at(), "bad range of words")
            if value is not None:
                position = value.number()
            for spellings in names:
                for s in spellings:
                    folded = pt.fold(s)
                    if not folded or folded in seen:
                        raise Bad(w.at(), "the word '%s' is given twice" % s if folded else "an empty word")
                    seen[folded] = s
                    words.append(pt.Word(s, position if numbered else 1 << position))
                position += 1
        self.each(tokens_, one)
        return words

    def do_trait(self, words):
        name = self.name(words, "trait")
        got = self.word_list(words[2:], False)
        if not got and len(words) > 2:
            return               # said already
        if not got or len({w.value for w in got}) > 64:
            raise Bad(words[1].at(), "a trait has 1 to 64 words")
        high = max(w.value for w in got) * 2 - 1
        self.put_field(words[1], pt.Field(name, pt.TRAIT, high.bit_length(), words=got, high=high))

    def do_choice(self, words):
        name = self.name(words, "choice")
        got = self.word_list(words[2:], True)
        if not got and len(words) > 2:
            return
        if not got:
            raise Bad(words[1].at(), "a choice needs words")
        high = max(w.value for w in got)
        self.put_field(words[1], pt.Field(name, pt.CHOICE, max(1, high.bit_length()), words=got, high=high))

    def do_text(self, words):
        if len(words) > 2:
            raise Bad(words[2].at(), "text takes one name")
        self.put_field(words[1] if len(words) > 1 else words[0],
                       pt.Field(self.name(words, "text"), pt.TEXT, 32))

    def do_group(self, words):
        name = self.name(words, "group")
        if len(words) < 3 or words[2].raw not in ("one", "any"):
            raise Bad(words[min(2, len(words) - 1)].at(), "after its name, a group says one or any")
        replaces = self.declare("group", words[1], name)
        got, values, seen = {}, [], {}

        def one(w):
            key, value = w.pair()
            if value is None:
                raise Bad(w.at(), "a group takes VALUE=NUMBER")
            if key in ("field", "default", "mask", "explicit"):
                if key in got:
                    raise Bad(w.at(), "'%s' is given twice" % key)
                got[key] = value
                return
            number = value.split(":")[0]
            desc = value.raw[len(number.raw):]
            if desc and not re.fullmatch(r':"(?:[^"\\]|\\.)*"', desc):
                raise Bad(value.at(len(number.raw)), "a value's description is a quoted text after a colon")
            n = number.number()
            for s in key.split("/"):
                folded = pt.fold(s)
                if not folded or folded in seen:
                    raise Bad(w.at(), "the word '%s' is given twice" % s if folded else "an empty word")
                seen[folded] = n
                values.append((pt.Word(s, n, unquote(desc[1:])), number))
        before = len(self.errors)
        self.each(words[3:], one)
        if len(self.errors) > before:
            self.groups[name] = None       # known, but broken: no second error for its users
            return
        if not values:
            raise Bad(words[1].at(), "a group needs values")
        self.groups[name] = (words, got, values, seen, words[2].raw == "any", replaces)

    def make_groups(self):
        """When all fields are known."""
        t = self.table
        for name, parts in list(self.groups.items()):
            if not parts:
                continue
            words, got, values, seen, union, _ = parts
            self.groups[name] = None
            field = got["field"].raw if "field" in got else "umask"
            if field not in t.field_at:
                if ("broken", field) not in self.origin:
                    self.error(got.get("field", words[1]).at(), "unknown field '%s'" % field)
                continue
            index = t.field_at[field]
            f = t.fields[index]
            fits = True
            for w, token in values:
                if w.value >> f.width:
                    self.error(token.at(), "0x%x does not fit field %s" % (w.value, field))
                    fits = False
            flags = pt.GROUP_ANY if union else 0
            preset = 0
            try:
                if "default" in got and got["default"].raw == "!":
                    flags |= pt.GROUP_REQUIRED
                elif "default" in got:
                    flags |= pt.GROUP_DEFAULT
                    parts = got["default"].split()
                    if len(parts) > 1 and not union:
                        raise Bad(got["default"].at(), "a group of one value has one default")
                    for p in parts:
                        if pt.fold(p.raw) not in seen:
                            raise Bad(p.at(), "the group has no value '%s'" % p.raw)
                        preset |= seen[pt.fold(p.raw)]
                mask = got["mask"].number() if "mask" in got else None
                if "explicit" in got and got["explicit"].number():
                    flags |= pt.GROUP_EXPLICIT
            except Bad as e:
                self.error(e.where, e.text)
                continue
            if not fits:
                continue
            group = pt.Group(name, flags, index, [w for w, _ in values], preset, mask)
            if any(w.value & ~group.mask for w in group.words) or group.mask >> f.width:
                self.error(got["mask"].at(), "the mask does not fit the values and the field")
                continue
            self.groups[name] = len(t.groups)
            t.groups.append(group)

    def do_modifier(self, words):
        name = self.name(words, "modifier")
        self.declare("modifier", words[1], name)
        got = {}

        def one(w):
            key, value = w.pair()
            if key not in ("field", "max") or value is None or key in got:
                raise Bad(w.at(), "unknown key '%s'" % key if key not in got else "'%s' is given twice" % key)
            got[key] = value if key == "field" else value.number()
        self.each(words[2:], one)
        self.modifiers = getattr(self, "modifiers", [])
        self.modifiers.append((words[1], name, got))

    def make_modifiers(self):
        t = self.table
        for token, name, got in getattr(self, "modifiers", []):
            field = got["field"].raw if "field" in got else name
            if field not in t.field_at:
                if ("broken", field) not in self.origin:
                    self.error(got.get("field", token).at(), "unknown field '%s'" % field)
                continue
            f = t.fields[t.field_at[field]]
            if name != field:       # a second name for the same bits
                if name in t.field_at:
                    self.error(token.at(), "'%s' is a field already" % name)
                    continue
                f = pt.Field(name, f.kind, f.width, f.ranges, words=f.words, low=f.min, high=f.max)
                t.add_field(f)
            f.modifier = True
            if "max" in got:
                if got["max"] >> f.width:
                    self.error(token.at(), "max does not fit the field")
                else:
                    f.max = got["max"]

    def do_default(self, words):
        def one(w):
            key, value = w.pair()
            if value is None:
                raise Bad(w.at(), "default takes KEY=VALUE")
            self.declare("default", w, key)
            self.default[key] = w
        self.each(words[1:], one)

    def finish_head(self):
        """Everything rows refer to, in the order of its dependence."""
        self.make_modifiers()
        self.make_groups()
        t = self.table
        for key, w in self.default.items():
            try:
                value = w.pair()[1]
                if key == "on":
                    self.default_counters = self.counter_set(value)
                elif key == "takes":
                    self.default_takes = self.group_list(value)
                else:
                    f = self.field_index(w, key)
                    n = self.field_value(t.fields[f], value)
                    if type(n) is str:
                        raise Bad(w.at(), "texts have no default")
                    t.fields[f].preset = n
            except Bad as e:
                self.error(e.where, e.text)

    # ---- values ------------------------------------------------------------------------------------------------

    def field_index(self, token, key):
        """Index of a field; texts that all tables may have come into being when first used."""
        t = self.table
        if key in t.field_at:
            return t.field_at[key]
        known = pt.keys().get(key)
        if known and known[1]:
            return t.add_field(pt.Field(key, pt.TEXT, 32))
        if key == "on_htoff":
            return t.add_field(pt.Field(key, pt.NUMBER, 64))
        if ("broken", key) in self.origin:
            raise Bad(token.at(), "'%s' could not be declared" % key)
        raise Bad(token.at(), "unknown key '%s'" % key)

    def field_value(self, f, value):
        if f.kind == pt.TEXT:
            return value.text()
        if f.name == "on_htoff":
            return self.counter_set(value)
        if f.kind == pt.NUMBER:
            n = value.number()
            if not f.min <= n <= f.max:
                raise Bad(value.at(), "%s does not fit %s (%d..%d)" % (value.raw, f.name, f.min, f.max))
            return n
        total = 0
        for part in value.split() if f.kind == pt.TRAIT else [value]:
            folded = pt.fold(part.raw)
            found = [w.value for w in f.words if pt.fold(w.name) == folded]
            if not found and f.kind == pt.TRAIT and folded in (b"none", b"") and part.raw == value.raw:
                return 0
            if not found:
                raise Bad(part.at(), "%s has no word '%s'" % (f.name, part.raw))
            total |= found[0]
        return total

    def counter_set(self, value):
        everything = self.table.all_counters()
        bits = 0
        for part in value.split():
            m = re.fullmatch(r"(F?)([0-9]{1,3})(?:\.\.(F?)([0-9]{1,3}))?", part.raw)
            if not m or (m[3] and not m[1]) or int(m[4] or m[2]) < int(m[2]) or int(m[4] or m[2]) > 31:
                raise Bad(part.at(), "bad counter '%s'" % part.raw)
            base = 32 if m[1] else 0
            these = ((2 << int(m[4] or m[2])) - (1 << int(m[2]))) << base
            if these & ~everything:
                raise Bad(part.at(), "counter '%s' does not exist" % part.raw)
            bits |= these
        return bits

    def group_list(self, value):
        out = []
        for part in value.split():
            if part.raw not in self.groups:
                raise Bad(part.at(), "unknown group '%s'" % part.raw)
            if self.groups[part.raw] is not None:
                if self.groups[part.raw] in out:
                    raise Bad(part.at(), "group '%s' is taken twice" % part.raw)
                out.append(self.groups[part.raw])
        if len(out) > pt.MAX_TAKES:
            raise Bad(value.at(), "an event takes at most %d groups" % pt.MAX_TAKES)
        return tuple(out)

    # ---- rows --------------------------------------------------------------------------------------------------

    def claim(self, text, token, row):
        """Enters a name; an inherited row of that name makes room, any other is an error."""
        folded = pt.fold(text)
        if not folded:
            raise Bad(token.at(), "an empty name")
        before = self.names.get(folded)
        if before and before[2] == row:
            return
        if before:
            raise Bad(token.at(), "'%s' is the same name as '%s' in line %d%s"
                      % (text, before[0], before[1].line, "" if before[1].file == token.file else
                         " of " + os.path.basename(before[1].file)))
        self.names[folded] = text, token, row, self.inherited

    def forget(self, row):
        self.rows[row] = None
        self.names = {k: v for k, v in self.names.items() if v[2] != row}

    def do_event(self, words):
        t = self.table
        if len(words) < 2:
            raise Bad(words[0].at(), "event needs a name")
        name = words[1].text()
        number = len(self.rows)
        before = self.names.get(pt.fold(name))
        if before and before[3] and not self.inherited and type(before[2]) is int:
            number = before[2]
            self.forget(number)
        else:
            self.rows.append(None)
        texts, values, flags, aliases, given = [], {}, 0, [], set()
        on, named, takes = None, 0, self.default_takes
        for w in words[2:]:
            try:
                if w.is_text():
                    texts.append(w)
                    continue
                key, value = w.pair()
                key, at, counter = key.partition("@")
                if value is None:
                    raise Bad(w.at(), "unknown word '%s'" % key)
                if (key, counter) in given:
                    raise Bad(w.at(), "'%s' is given twice" % w.raw.partition("=")[0])
                given.add((key, counter))
                where = pt.ANYWHERE
                if at:
                    bits = self.counter_set(Token(counter, *w.at(len(key) + 1)))
                    if bits & (bits - 1):
                        raise Bad(w.at(len(key) + 1), "one counter is needed here")
                    where = bits.bit_length() - 1
                if key in t.field_at or key not in ("on", "takes", "alias", "hidden", "shadowed", "flags"):
                    f = self.field_index(w, key)
                    values[f, where] = self.field_value(t.fields[f], value)
                    named |= 0 if where == pt.ANYWHERE else 1 << where
                elif at:
                    raise Bad(w.at(), "'%s' takes no counter" % key)
                elif key == "on":
                    on = self.counter_set(value)
                elif key == "takes":
                    takes = self.group_list(value)
                elif key == "alias":
                    aliases += value.split()
                elif key == "flags":
                    for part in value.split():
                        if part.raw not in pt.ROW_FLAGS:
                            raise Bad(part.at(), "unknown flag '%s'" % part.raw)
                        flags |= pt.ROW_FLAGS[part.raw]
                elif value.number() > 1:
                    raise Bad(value.at(), "%s does not fit %s (0..1)" % (value.raw, key))
                elif value.number():
                    flags |= pt.ROW_FLAGS[key]
            except Bad as e:
                self.error(e.where, e.text)
        if not texts or not texts[0].text():
            self.error(words[1].at(), "missing description of event '%s'" % name)
        elif len(texts) > 2:
            self.error(texts[2].at(), "an event has a description and one longer text")
        elif len(texts) == 2:
            values[self.field_index(texts[1], "detail"), pt.ANYWHERE] = texts[1].text()
        counters = (on or 0) | named
        if on is None and not named:
            counters = t.all_counters() if self.default_counters is None else self.default_counters
        row = pt.Row(name, texts[0].text() if texts else "", counters,
                     [(f, c, v) for (f, c), v in values.items()], takes, flags, (), words[1])
        if not flags & pt.ROW_SHADOWED:
            self.claim(name, words[1], number)
            for a in aliases:
                try:
                    self.claim(a.text(), a, number)
                    row.aliases += (a.text(),)
                except Bad as e:
                    self.error(e.where, e.text)
        elif aliases:
            self.error(aliases[0].at(), "a shadowed event has no names")
        self.rows[number] = row

    def do_drop(self, words):
        if len(words) < 2:
            raise Bad(words[0].at(), "drop needs a name")

        def one(w):
            found = self.names.get(pt.fold(w.text()))
            if not found:
                raise Bad(w.at(), "nothing of the name '%s' to drop" % w.text())
            if type(found[2]) is int:
                self.forget(found[2])
            else:
                del self.names[pt.fold(w.text())]
                self.waiting = [x for x in self.waiting if x[1] is not found[1]]
        self.each(words[1:], one)

    def do_synonym(self, words):
        if len(words) != 3:
            raise Bad(words[-1].at(), "synonym takes a name and an event")
        self.claim(words[1].text(), words[1], words[1])
        self.waiting.append(("synonym", words[1], words[2]))

    def do_unsupported(self, words):
        if len(words) != 3 or not words[2].is_text() or not words[2].text():
            raise Bad(words[-1].at(), "unsupported takes a name and the reason as text")
        self.claim(words[1].text(), words[1], words[1])
        self.waiting.append(("unsupported", words[1], words[2]))

    def finish(self):
        t = self.table
        index = {}
        for i, row in enumerate(self.rows):
            if row:
                index[i] = len(t.rows)
                t.rows.append(row)
        for kind, name, what in self.waiting:
            if kind == "unsupported":
                t.unsupported.append((name.text(), what.text()))
                continue
            found = self.names.get(pt.fold(what.text()))
            if not found or type(found[2]) is not int:
                self.error(what.at(), "no event '%s'" % what.text())
            else:
                t.synonyms.append((name.text(), index.get(found[2], 0)))
        if not self.named:
            return
        if not self.encoder_set:
            self.error(self.at_name, "no encoder is given")
        if not t.rows and not self.errors:
            self.error(self.at_name, "a table without events")
        if not self.errors:
            for row, text in t.check():
                self.error(t.rows[row].where.at() if row is not None else self.at_name, text)


def compile_all(paths):
    """(tables, files read, errors)."""
    tables, files, errors = [], [], []
    taken = {}
    for path in paths:
        c = Compiler()
        table = c.compile(path)
        files += c.files
        errors += c.errors
        if not table:
            continue
        for name in [table.name] + table.aka:
            # A view's other names may be those of a processor with its own table: that one wins when looked up.
            if name in taken and (name == table.name or not (table.flags | taken[name][1]) & pt.TABLE_VIEW):
                errors.append((c.at_name, "the name '%s' belongs to %s already" % (name, taken[name][0])))
            taken.setdefault(name, (path, table.flags))
        tables.append(table)
    seen = set()
    unique = [e for e in errors if not (e in seen or seen.add(e))]
    return tables, sorted(set(files)), unique


def write_atomically(path, data):
    """Writes a file or leaves what was there; never leaves a piece. What is no file (a device, a pipe) is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as f:
            f.write(data)
        return
    folder = os.path.dirname(os.path.abspath(path))
    fd, temp = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temp, 0o666 & ~mask & ~0o022)
        os.rename(temp, path)
    except BaseException:
        try:
            os.unlink(temp)
        except OSError:
            pass
        raise


def report(errors):
    for (file, line, column), text in sorted(errors):
        print("%s:%d:%d: error: %s" % (file, line, column, text), file=sys.stderr)
    return 1 if errors else 0


def usage(text=None):
    if text:
        print("pmuc: %s" % text, file=sys.stderr)
    print(__doc__.strip().split("\n\n")[1], file=sys.stderr)
    return 2


def main(argv):
    if argv and argv[0] == "import":
        import pmvendor
        return pmvendor.main(argv[1:])
    out = {"--byteorder": "little" if sys.byteorder == "little" else "big"}
    inputs, check = [], False
    i = 0
    while i < len(argv):
        a = argv[i]
        if a in ("--c", "--image", "--depfile", "--byteorder"):
            i += 1
            if i == len(argv):
                return usage("%s needs a value" % a)
            out[a] = argv[i]
        elif a == "--check":
            check = True
        elif a in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        elif a.startswith("-"):
            return usage("unknown option '%s'" % a)
        else:
            inputs.append(a)
        i += 1
    if out["--byteorder"] not in ("little", "big"):
        return usage("byte order is little or big")
    if not inputs and "--c" not in out or not (check or "--c" in out or "--image" in out):
        return usage()
    tables, files, errors = compile_all(inputs)
    if errors:
        return report(errors)
    here = os.path.abspath(__file__)
    files += [here, os.path.join(os.path.dirname(here), "pmtable.py"), pt.near("../keys.def", "keys.def")]
    try:
        if "--c" in out:
            write_atomically(out["--c"], pt.c_file(tables).encode())
        if "--image" in out:
            write_atomically(out["--image"], pt.image_bytes(tables, out["--byteorder"]))
        if "--depfile" in out:
            target = out.get("--c") or out.get("--image")
            line = "%s: %s\n" % (target, " ".join(f.replace(" ", "\\ ") for f in files))
            write_atomically(out["--depfile"], line.encode())
    except (OSError, ValueError) as e:
        print("pmuc: %s" % e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
