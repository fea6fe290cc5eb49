# SPDX-License-Identifier: MIT
"""Statements about a whole processor: its names, counters and hosts."""

import re

from language import tables as pt
from language.statements import IDENT, NAME, StatementError, Token

ENCODER_NAMES = {name: name for name in pt.ENCODERS}
ENCODER_NAMES.update({"alpha_ev4": "ev4", "alpha_ev5": "ev5", "alpha_ev6": "ev6",
                      "alpha_ev67": "ev67",
                      "intel_arch": "x86", "ia64_montecito": "montecito"})


class StatementReader:
    """Services for all statements: error positions, and names that may be given only once."""

    def __init__(self):
        """Begins without errors."""
        self.errors = []      # ((file, line, column), text)
        self.table = None

    def report_error(self, where, text):
        """Keeps an error."""
        self.errors.append((where, text))

    def visit_words(self, words, action):
        """Calls @action for each word. An error in one word does not hide those of the next
        ones."""
        for w in words:
            try:
                action(w)
            except StatementError as e:
                self.report_error(e.where, e.text)

    def record_declaration(self, kind, token, name=None):
        """Records a declaration. Refuses a second one in the same part. True if it replaces one of
        a used part."""
        name = token.raw if name is None else name
        before = self.origins.get((kind, name))
        if before and before[1] == self.origin:
            raise StatementError(token.get_position(), "%s '%s' is declared twice; first in line %d"
                                 % (kind, name, before[0].line))
        self.origins[kind, name] = token, self.origin
        return before is not None

    @staticmethod
    def check_room(token, n, what):
        """Refuses more elements than an image can count."""
        if n > pt.MAX_ELEMENTS:
            raise StatementError(token.get_position(),
                                 "more than %d %s" % (pt.MAX_ELEMENTS, what))

    @staticmethod
    def parse_name(words, what):
        """Parses the name of a declaration."""
        if len(words) < 2:
            raise StatementError(words[0].get_position(len(words[0].raw)), "%s needs a name" % what)
        if words[1].is_text() or not IDENT.fullmatch(words[1].raw):
            raise StatementError(words[1].get_position(), "bad name '%s'" % words[1].raw)
        return words[1].raw


class HeadCompiler(StatementReader):
    """Statements from pmu to match."""

    def do_pmu(self, words):
        """Names the PMU."""
        self.at_name = words[0].get_position()
        if self.named:
            raise StatementError(words[0].get_position(), "pmu is given twice")
        self.named = True
        if len(words) < 2 or not NAME.fullmatch(words[1].raw):
            raise StatementError(words[min(1, len(words) - 1)].get_position(),
                                 "pmu needs a name of lower case letters, digits and _")
        self.table.name = words[1].raw
        if len(words) != 3 or not words[2].is_text() or not words[2].get_text():
            raise StatementError(words[-1].get_position(), "missing description of the processor")
        self.table.desc = words[2].get_text()

    def do_alias(self, words):
        """Adds other names of the PMU."""

        def add_alias(w):
            """Adds one name."""
            if not re.fullmatch(r"[A-Za-z0-9_.]+", w.raw):
                raise StatementError(w.get_position(), "bad name '%s'" % w.raw)
            if w.raw in self.table.aliases or w.raw == self.table.name:
                raise StatementError(w.get_position(), "'%s' is given twice" % w.raw)
            self.table.aliases.append(w.raw)
        self.visit_words(words[1:], add_alias)

    def do_encoder(self, words):
        """Chooses the encoder."""
        self.encoder_set = True
        if len(words) != 2 or words[1].raw not in ENCODER_NAMES:
            raise StatementError(words[-1].get_position(),
                                 "unknown encoder '%s'" % (words[1].raw if len(words) > 1 else ""))
        self.record_declaration("encoder", words[1], "")
        self.table.encoder = ENCODER_NAMES[words[1].raw]

    def do_source(self, words):
        """Keeps the source of the table."""
        if len(words) != 2 or not words[1].is_text():
            raise StatementError(words[-1].get_position(), "source takes one text")
        self.table.source = words[1].get_text()

    def set_flag(self, words, bit):
        """Sets a flag of the table, whose statement has no words."""
        if len(words) > 1:
            raise StatementError(words[1].get_position(), "%s stands alone" % words[0].raw)
        self.table.flags |= bit

    def do_texts(self, words):
        """Chooses the glossary that describes events."""
        if len(words) != 2:
            raise StatementError(words[-1].get_position(), "texts takes the name of a family")
        self.texts_family = words[1].raw

    def do_fallback(self, words):
        """Marks an architectural table."""
        self.set_flag(words, pt.TABLE_FALLBACK)

    def do_view(self, words):
        """Marks another spelling of a processor."""
        self.set_flag(words, pt.TABLE_COMPAT_VIEW)

    def do_test(self, words):
        """Marks an invented table."""
        self.set_flag(words, pt.TABLE_TEST_ONLY)

    def do_uncore(self, words):
        """Names the unit of a package."""
        self.table.flags |= pt.TABLE_UNCORE
        if len(words) > 2:
            raise StatementError(words[2].get_position(), "uncore takes the name of one unit")
        if len(words) == 2:
            self.table.unit = words[1].get_text()

    def do_core_unit(self, words):
        """Names the unit of a core."""
        if len(words) != 2:
            raise StatementError(words[-1].get_position(), "core_unit takes the name of one unit")
        self.table.unit = words[1].get_text()

    def do_family(self, words):
        """Names the processor that the PMU belongs to."""
        if len(words) != 2 or not IDENT.fullmatch(words[1].raw):
            raise StatementError(words[-1].get_position(),
                                 "family takes the name of the processor that this PMU belongs to")
        self.table.family_name = words[1].raw

    def do_device(self, words):
        """Keeps the kernel's name of the PMU."""
        if len(words) != 2:
            raise StatementError(words[-1].get_position(),
                                 "device takes the name the kernel gives the PMU")
        self.table.device = words[1].get_text()

    def do_pmctype(self, words):
        """Keeps a type number of the kernel or of libpfm 3."""
        if len(words) != 3 or words[1].raw not in ("perf", "libpfm"):
            raise StatementError(words[min(1, len(words) - 1)].get_position(),
                                 "pmctype takes perf or libpfm and a number")
        n = words[2].parse_number()
        if n > 0x7FFFFFFF:
            raise StatementError(words[2].get_position(), "0x%x does not fit" % n)
        self.record_declaration("pmctype", words[1])
        setattr(self.table, words[1].raw + "_type", n)

    def do_feature(self, words):
        """Adds features."""

        def add_feature(w):
            """Adds one feature."""
            key, value = w.split_pair()
            if not IDENT.fullmatch(key) or value is None:
                raise StatementError(w.get_position(), "a feature is NAME=VALUE")
            replaces = self.record_declaration("feature", w, key)
            what = value.parse_number() if re.match(r"[0-9]", value.raw) else value.get_text()
            if replaces:
                self.table.features = [f for f in self.table.features if f[0] != key]
            self.check_room(w, len(self.table.features) + 1, "features")
            self.table.features.append((key, what))
        self.visit_words(words[1:], add_feature)

    def do_metricgroup(self, words):
        """Describes a group of metrics."""
        if len(words) != 3 or not words[2].is_text():
            raise StatementError(words[-1].get_position(), "metricgroup takes a name and a text")
        self.record_declaration("feature", words[1], "metricgroup." + words[1].get_text())
        self.check_room(words[1], len(self.table.features) + 1, "features")
        self.table.features.append(("metricgroup." + words[1].get_text(), words[2].get_text()))

    def do_counter(self, words):
        """Declares counters."""
        if len(words) < 2:
            raise StatementError(words[0].get_position(), "counter needs numbers")
        m = re.fullmatch(r"(F?)([0-9]{1,3})(?:\.\.(F?)([0-9]{1,3}))?", words[1].raw)
        if not m or (m[3] and not m[1]):
            raise StatementError(words[1].get_position(), "bad counter '%s'" % words[1].raw)
        c = pt.Counter(int(m[2]), int(m[4] or m[2]), 0, m[1] == "F")
        given = set()

        def read_key(w):
            """Reads a key of the counters."""
            key, value = w.split_pair()
            if key in given:
                raise StatementError(w.get_position(), "'%s' is given twice" % key)
            given.add(key)
            if key == "kind" and value is not None:
                if value.raw not in ("fixed", "general"):
                    raise StatementError(value.get_position(), "a counter is fixed or general")
                c.fixed = c.fixed or value.raw == "fixed"
            elif key in ("width", "control", "value", "step") and value is not None:
                n = value.parse_number()
                if n > (64 if key == "width" else pt.ANY32) or key == "width" and not n:
                    raise StatementError(value.get_position(), "0x%x does not fit" % n)
                setattr(c, key, n)
            else:
                raise StatementError(w.get_position(), "unknown key '%s'" % key)
        self.visit_words(words[2:], read_key)
        if "width" not in given:
            raise StatementError(words[1].get_position(), "counter without width")
        if not c.first <= c.last < 32:
            raise StatementError(words[1].get_position(),
                                 "counters are numbered 0..31, fixed ones F0..F31")
        for n in range(c.first, c.last + 1):
            if self.record_declaration("counter", words[1], "%s%d" % ("F" if c.fixed else "", n)):
                for old in self.table.counters[:]:
                    if old.fixed == c.fixed and old.first <= n <= old.last:
                        self.table.counters.remove(old)
        self.table.counters.append(c)

    def do_match(self, words):
        """Adds hosts that the table is for."""
        matches = self.parse_matches(words)
        self.check_room(words[0], len(self.table.matches) + len(matches), "matches")
        self.table.matches += matches

    def parse_matches(self, words):
        """Returns the machines of KEY=VALUE words, [] after an error."""
        one = {}
        lists = {"model": [(0, pt.ANY32)], "family": [(pt.ANY32, pt.ANY32)]}
        identities = []

        def parse_key_value(w):
            """Reads one condition of a match."""
            key, value = w.split_pair()
            if (value is None and key != "nearest") or (value is not None and not value.raw):
                raise StatementError(w.get_position(), "match takes KEY=VALUE")
            if key in one:
                raise StatementError(w.get_position(), "'%s' is given twice" % key)
            one[key] = value
            if key == "nearest":
                if value is not None:
                    raise StatementError(w.get_position(), "nearest takes no value")
            elif key in ("arch", "vendor", "prefix", "exact"):
                one[key] = value.get_text()
            elif key in ("family", "model"):
                lists[key] = self.parse_ranges(value, 0xFFFFFF)
                if key == "family" and any(a != b for a, b in lists[key]):
                    lists[key] = [(n, n) for a, b in lists[key]
                                  for n in range(a, min(b, a + 256) + 1)]
            elif key == "stepping":
                one[key] = 0
                for a, b in self.parse_ranges(value, 31):
                    one[key] |= (1 << (b + 1)) - (1 << a)
            elif key == "pmuversion":
                r = self.parse_ranges(value, 255)
                one[key] = r[0][0], r[-1][1]
            elif key in ("midr", "pvr", "implver", "cputype", "id"):
                identities.append(w)
                number, slash, mask = value.raw.partition("/")
                n = Token(number, *value.get_position()).parse_number()
                m = Token(mask, *value.get_position(len(number) +
                                                    1)).parse_number() if slash else pt.ALL64
                if n & ~m:
                    raise StatementError(value.get_position(),
                                         "the value has bits outside its mask")
                one[key] = n, m
            elif key in ("core_type", "native_model"):
                n = value.parse_number()
                if n > (255 if key == "core_type" else 0xFFFFFF):
                    raise StatementError(value.get_position(), "0x%x does not fit" % n)
                one[key] = n
            else:
                raise StatementError(w.get_position(), "unknown key '%s'" % key)

        before = len(self.errors)
        self.visit_words(words[1:], parse_key_value)
        if len(words) < 2:
            raise StatementError(words[0].get_position(), "match takes KEY=VALUE")
        if len(identities) > 1:
            raise StatementError(
                identities[1].get_position(),
                "one identity per match: midr, pvr, implver, cputype and id exclude each other")
        if len(self.errors) > before:
            return []
        value, mask = one[identities[0].split_pair()[0]] if identities else (0, 0)
        arch = one.get("arch", "")
        if not arch and identities:
            arch = {"implver": "alpha", "cputype": "alpha", "midr": "arm64", "pvr": "powerpc"}.get(
                identities[0].split_pair()[0], "")
        version = one.get("pmuversion", (0, 255))
        return [pt.Match(arch, one.get("vendor", ""), family, low, high, one.get("stepping", 0),
                         value, mask, one.get("exact", one.get("prefix", "")), "exact" in one,
                         one.get("core_type"), version[0], version[1],
                         one.get("native_model", pt.ANY32), "nearest" in one)
                for family, _ in lists["family"] for low, high in lists["model"]]

    @staticmethod
    def parse_ranges(token, most):
        """Parses numbers, ranges A..B and lists of them to (low, high) pairs."""
        out = []
        for part in token.split_list():
            low, dots, high = part.raw.partition("..")
            a = Token(low, *part.get_position()).parse_number()
            b = Token(high, *part.get_position(len(low) + 2)).parse_number() if dots else a
            if b < a or b > most:
                raise StatementError(part.get_position(), "'%s' is out of range" % part.raw)
            out.append((a, b))
        return out
