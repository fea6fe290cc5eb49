# SPDX-License-Identifier: MIT
"""Event tables in memory: what there is of a processor, how names are folded and hashed, and the
keys of values.

pmlayout is how tables are in an image, pmimage writes images, pmview reads them.
"""

import os
import re

ENCODERS = ("none", "format", "x86", "montecito", "ev4", "ev5", "ev6", "ev67", "perf", "netburst",
            "mips")
# Encoders of one processor family: its numbers in libpfm 3, and the set of its counters
# (lib/table/verify.c).
SHAPES = {"montecito": ((4,), 0xFFF0), "ev4": ((150,), 0x3), "ev5": ((151, 152), 0x7),
          "ev6": ((153,), 0x3), "ev67": ((154,), 0x3)}
TABLE_FALLBACK, TABLE_UNCORE, TABLE_COMPAT_VIEW, TABLE_TEST_ONLY, TABLE_FROM_KERNEL = 1, 2, 4, 8, 16
TABLE_VALUES_OVERRIDE, TABLE_HAS_FOLDED_TWINS = 32, 64  # set by the writer
NUMBER, TRAIT, CHOICE, TEXT = range(4)
(
    GROUP_COMBINABLE,
    GROUP_HAS_DEFAULT,
    GROUP_REQUIRED,
    GROUP_EXPLICIT_IN_LIBPFM,
    GROUP_DEFAULT_YIELDS,
) = (1, 2, 4, 8, 16)
MAX_ROW_GROUPS = 8
ROW_FLAGS = {"hidden": 1, "deprecated": 2, "alone": 4, "per_pkg": 8, "experimental": 16, "arch": 32,
             "shadowed": 64,
             "metric": 128, "snapshot": 256, "free_running": 512}
(
    ROW_HIDDEN,
    ROW_DEPRECATED,
    ROW_ALONE,
    ROW_PER_PKG,
    ROW_EXPERIMENTAL,
    ROW_ARCH,
    ROW_SHADOWED,
    ROW_METRIC,
    ROW_SNAPSHOT,
    ROW_FREE_RUNNING,
) = ROW_FLAGS.values()
ROW_WITHOUT_RULE = 1024     # set by the compiler
(
    RULE_CLASS,
    RULE_COUNTERS,
    RULE_REFUSE,
    RULE_PAIR,
    RULE_FOLLOW,
    RULE_SHARE,
    RULE_LIMIT,
    RULE_NEEDS,
    RULE_NOTE,
    RULE_PLACE,
    RULE_MOVE,
) = range(11)
NEED_ANYWHERE, NEED_FIRST, NEED_BEFORE = range(3)
MAX_RULES = 255
MAX_RULE_TESTS = 255
MAX_ERRATA = 65535
# Flags that only some encoders obey (encoder_descriptions in lib/table/verify.c).
ENCODER_ROW_FLAGS = {"format": ROW_ALONE | ROW_FREE_RUNNING, "x86": ROW_ALONE}
COMMON_ROW_FLAGS = sum(ROW_FLAGS.values()) & ~(ROW_ALONE | ROW_FREE_RUNNING)
NAME_EVENT, NAME_ALIAS, NAME_SYNONYM, NAME_UNSUPPORTED = range(4)
ANY_COUNTER = 0xFFFF
ANY32 = 0xFFFFFFFF
ALL64 = 0xFFFFFFFFFFFFFFFF
MAX_RANGES = 4
MAX_NAMES = 65534    # rows and further names of a table
MAX_FIELDS = 255
MAX_VALUES = 255     # of a row
MAX_ELEMENTS = 65535  # features and matches of a table, words of a field, values of a group
TOO_MANY = "more than %d events and names" % MAX_NAMES


class ComputedDict(dict):
    """A cache of the meanings of texts and values, because few different ones occur."""

    def __init__(self, meaning):
        """Begins an empty cache of @meaning."""
        super().__init__()
        self.meaning = meaning

    def __missing__(self, what):
        """Computes a value once."""
        value = self[what] = self.meaning(what)
        return value


FOLD = bytes(ord(".") if c == ord(":") else c + 32 if 65 <= c <= 90 else c for c in range(256))


def _fold_bytes(text):
    """Folds a text: lower case, without blanks, hyphens and underscores."""
    return text.encode("utf-8", "surrogateescape").translate(FOLD, b" \t-_")


# the form of a name for comparisons: table.h, table_fold_char()
fold = ComputedDict(_fold_bytes).__getitem__


# A part of a folded name that spec.c, is_letter_with_value(), reads as a modifier: "c=2".
has_letter_with_value = re.compile(rb"\.[^.]?=").search


def _weigh_character(c):
    """Contribution of a character of a folded name to its hash: names.c,
    pfmi_table_char_weights."""
    if c in b",/":
        return 0
    c = c * 0x9E3779B1 & ANY32
    c = (c ^ c >> 15) * 0x85EBCA6B & ANY32
    return (c ^ c >> 13) & 0x7FFFFFFF


_WEIGHTS = tuple(_weigh_character(c) for c in range(256))


# names share their pieces
_weigh = ComputedDict(lambda piece: sum(map(_WEIGHTS.__getitem__, piece))).__getitem__


def _hash_folded(folded):
    """Sum of the weights of characters, rotated by seven bits at each separator."""
    first, *pieces = map(_weigh, folded.split(b"."))
    h = 0x811C9DC5 + first
    for weight in pieces:
        h &= ANY32
        h = (h << 7 & ANY32 | h >> 25) + 0x2E + weight
    return h & ANY32


# hash of a folded name: names.c, pfmi_table_hash_name()
name_hash = ComputedDict(_hash_folded).__getitem__


# the folder of pmuc.py
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def find_first_existing(*names):
    """Returns the first existing file of @names, which begin at the folder of pmuc.py. Source tree
    and installation have different folders."""
    for name in names:
        path = os.path.join(TOP, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(names[0])


_KEYS = None


def read_keys():
    """Key names of lib/table/keys.def: {name: (number, whether it is a text)}."""
    global _KEYS
    if _KEYS is None:
        _KEYS = {}
        with open(find_first_existing("../lib/table/keys.def", "keys.def"), encoding="utf-8") as f:
            for line in f:
                m = re.match(r'(KEY|TEXT)\((\w+),\s*"(\w*)"\)', line)
                if m:
                    _KEYS[m[3]] = (len(_KEYS), m[1] == "TEXT")
        if len(_KEYS) > 64:
            raise ValueError("keys.def: more than 64 keys")
    return _KEYS


class Word:
    """A named value: of a list, or of a group of unit masks."""
    __slots__ = ("name", "value", "desc")

    def __init__(self, name, value, desc=""):
        """Keeps a word of a list or a group."""
        self.name, self.value, self.desc = name, value, desc


class Field:
    """A named field; ranges are (word, lsb, width), lowest value bits first."""
    __slots__ = ("name", "kind", "width", "ranges", "modifier", "words", "min", "max", "preset")

    def __init__(self, name, kind=NUMBER, width=64, ranges=(), modifier=False, words=(), low=0,
                 high=None, preset=0):
        """Declares a field."""
        self.name, self.kind, self.ranges, self.modifier = name, kind, tuple(ranges), modifier
        self.width = sum(r[2] for r in self.ranges) or width
        self.words = list(words)
        self.min = low
        self.max = (1 << self.width) - 1 if high is None else high
        self.preset = preset


class Group:
    """Values are a list of Word. Words with the value of an earlier one are alternative
    spellings."""
    __slots__ = ("name", "flags", "field", "words", "preset", "mask")

    def __init__(self, name, flags=0, field=0, words=(), preset=0, mask=None):
        """Declares a group; its mask is that of its values unless a mask is given."""
        self.name, self.flags, self.field, self.words, self.preset = name, flags, field, list(
            words), preset
        self.mask = mask
        if mask is None:
            self.mask = 0
            for w in self.words:
                self.mask |= w.value


class Counter:
    """Counters with consecutive numbers, and their registers."""
    __slots__ = ("first", "last", "width", "fixed", "control", "value", "step")

    def __init__(self, first, last, width, fixed=False, control=0, value=0, step=1):
        """Declares counters with their registers."""
        self.first, self.last, self.width, self.fixed = first, last, width, fixed
        self.control, self.value, self.step = control, value, step

    def get_mask(self):
        """The counters as bits; fixed counter n is bit 32 + n."""
        low = self.first + (32 if self.fixed else 0)
        return ((1 << (self.last - self.first + 1)) - 1) << low


class Match:
    """The machines that a table is for; names of members as in struct host_match."""
    __slots__ = ("arch", "vendor", "family", "model_lo", "model_hi", "stepping_mask", "value",
                 "mask", "prefix",
                 "exact", "core_type", "version_lo", "version_hi", "native_model", "nearest")

    def __init__(self, arch="", vendor="", family=ANY32, model_lo=0, model_hi=ANY32,
                 stepping_mask=0, value=0, mask=0,
                 prefix="", exact=False, core_type=None, version_lo=0, version_hi=255,
                 native_model=ANY32, nearest=False):
        """Declares hosts that a table is for."""
        self.arch, self.vendor, self.family = arch, vendor, family
        self.model_lo, self.model_hi, self.stepping_mask = model_lo, model_hi, stepping_mask
        self.value, self.mask, self.prefix, self.exact = value, mask, prefix, exact
        self.core_type, self.native_model = core_type, native_model
        self.version_lo, self.version_hi = version_lo, version_hi
        self.nearest = nearest


def place_bits(field, value):
    """The bits of @value where @field has them in its configuration word."""
    out = 0
    for _, lsb, width in field.ranges:
        out |= (value & ((1 << width) - 1)) << lsb
        value >>= width
    return out


class Rule:
    """Tests are (mask, low, high, word, whether the next one is an alternative); parts are (mask,
    word) of bits that events share."""
    __slots__ = ("name", "effect", "first", "number", "value", "tests", "parts", "text", "source",
                 "where")

    def __init__(self, name, texts=(), where=None):
        """Begins a rule without effect."""
        self.name, self.where = name, where
        self.text, self.source = (*texts, "", "")[:2]
        self.effect, self.first, self.number, self.value = None, 0, 0, 0
        self.tests, self.parts = [], []


class Row:
    """Values are (field index, counter or ANYWHERE, number or, for text fields, str); takes are
    group indices."""
    __slots__ = ("name", "desc", "counters", "values", "groups", "flags", "aliases", "where")

    def __init__(self, name, desc, counters=0, values=(), row_groups=(), flags=0, aliases=(),
                 where=None):
        """Keeps a row."""
        self.name, self.desc, self.counters, self.values = name, desc, counters, values
        self.groups, self.flags, self.aliases, self.where = row_groups, flags, aliases, where


class Table:
    """One event table while it is compiled: its head, rows and names."""

    def __init__(self, name, desc="", encoder="none"):
        """Begins an empty table."""
        self.name, self.desc, self.encoder = name, desc, encoder
        self.source = self.unit = self.device = ""
        self.family_name = ""    # the processor of this box or core type
        self.aliases = []
        self.flags = 0
        self.perf_type = self.libpfm_type = -1
        self.counters, self.fields, self.groups, self.matches, self.features = [], [], [], [], []
        self.rules, self.errata = [], []
        # synonyms: (name, row index); unsupported: (name, why)
        self.rows, self.synonyms, self.unsupported = [], [], []
        self.field_at = {}
        self.where = None
        self.texts_family = ""    # the family whose glossary describes its events
        # rows that only synonyms refer to, after the others; their takes are Groups
        self.alias_rows = []
        self.sources = {}   # row index -> sources that confirm it, in the form of ROW_SOURCES_SHIFT

    # ---- building --------------------------------------------------------------------------------

    def add_field(self, field):
        """Adds a field and returns its index."""
        self.field_at[field.name] = len(self.fields)
        self.fields.append(field)
        return len(self.fields) - 1

    def get_all_counters(self):
        """All counters as bits."""
        bits = 0
        for c in self.counters:
            bits |= c.get_mask()
        return bits

    def n_general(self):
        """Number of general counters."""
        return max((c.last + 1 for c in self.counters if not c.fixed), default=0)

    def list_names(self):
        """Yields (text, target, kind) of every name; the target is a row index, or the reason of an
        unsupported name."""
        out = [(row.name, i, NAME_EVENT) for i,
               row in enumerate(self.rows) if not row.flags & ROW_SHADOWED]
        out += [(alias, i, NAME_ALIAS) for i,
                row in enumerate(self.rows) if row.aliases and not row.flags & ROW_SHADOWED
                for alias in row.aliases]
        out += [(name, row, NAME_SYNONYM) for name, row in self.synonyms]
        return out + [(name, why, NAME_UNSUPPORTED) for name, why in self.unsupported]

    def check_table(self):
        """Checks the model. Returns a list of (row index or None, text). The compiler, which checks
        rows and names while reading them, calls check_head() only."""
        return [(None, text) for text in self.check_head()] + self.check_rows() + self.check_names()

    def check_head(self):
        """Checks all but the rows. Returns a list of texts."""
        wrong = []
        bad = wrong.append
        if not re.fullmatch(r"[a-z0-9_]+", self.name):
            bad("bad processor name '%s'" % self.name)
        if self.encoder not in ENCODERS:
            bad("unknown encoder '%s'" % self.encoder)
        types, counters = SHAPES.get(self.encoder, ((self.libpfm_type,), self.get_all_counters()))
        if self.libpfm_type not in types or self.get_all_counters() != counters:
            bad("encoder %s is for another processor: libpfm %s and its counters"
                % (self.encoder, " or ".join(map(str, types))))
        if len({f.name for f in self.fields}) != len(self.fields):
            bad("two fields of one name")
        if len(self.fields) > MAX_FIELDS:
            bad("more than %d fields" % MAX_FIELDS)
        if len(self.rules) > MAX_RULES:
            bad("more than %d rules" % MAX_RULES)
        for r in self.rules:
            if len(r.tests) > MAX_RULE_TESTS:
                bad("rule %s: more than %d values" % (r.name, MAX_RULE_TESTS))
        for f in self.fields:
            if not 1 <= f.width <= 64:
                bad("field %s: width %d" % (f.name, f.width))
            if len(f.ranges) > MAX_RANGES:
                bad("field %s: more than %d bit ranges" % (f.name, MAX_RANGES))
            if any(w > 3 or low + n > 64 or n < 1 for w, low, n in f.ranges):
                bad("field %s: bits outside a 64-bit word" % f.name)
            if f.kind == NUMBER and not (f.min <= f.max < 1 << f.width):
                bad("field %s: bad bounds" % f.name)
        for g in self.groups:
            if g.field >= len(self.fields):
                bad("group %s: no field" % g.name)
            elif g.mask >> self.fields[g.field].width:
                bad("group %s: does not fit field %s" % (g.name, self.fields[g.field].name))
            if g.preset & ~g.mask:
                bad("group %s: default has bits that no value has" % g.name)
        return wrong

    def check_rows(self):
        """Returns [(row index, text)] of errors in rows."""
        wrong, everything, groups = [], self.get_all_counters(), len(self.groups)

        def add_fault(text):
            """Notes a fault of the row."""
            wrong.append((i, text))
        limits = [(f.kind == TEXT, f.min, f.max) for f in self.fields]
        for i, row in enumerate(self.rows):
            if row.counters & ~everything:
                add_fault("counter that does not exist")
            for f, c, v in row.values:
                text, low, high = limits[f]
                if text:
                    if type(v) is not str:
                        add_fault("%s: needs a text" % self.fields[f].name)
                elif not low <= v <= high:
                    add_fault("%s: 0x%x does not fit" % (self.fields[f].name, v))
                if c != ANY_COUNTER and not everything >> c & 1:
                    add_fault("%s: counter that does not exist" % self.fields[f].name)
            for t in row.groups:
                if t >= groups:
                    add_fault("unknown group")
            if len(row.groups) > MAX_ROW_GROUPS or len(row.values) > MAX_VALUES:
                add_fault("too many values or groups")
        return wrong

    def check_names(self):
        """Returns [(row index or None, text)] of errors in names."""
        wrong, seen = [], {}
        for text, target, kind in self.list_names():
            name, row = fold(text), target if kind < NAME_UNSUPPORTED else None
            first = seen.setdefault(name, (target, text))
            if not name:
                wrong.append((row, "empty name"))
            elif first[0] != target:
                wrong.append((row, "'%s' is the same name as '%s'" % (text, first[1])))
        if self.has_too_many(seen):
            wrong.append((None, TOO_MANY))
        return wrong + [(None, "synonym '%s' of no row" % name) for name, row in self.synonyms
                        if not 0 <= row < len(self.rows) + len(self.alias_rows)]

    def has_too_many(self, names):
        """True if there are more rows or folded @names than a table can hold."""
        return len(self.rows) + len(names) > MAX_NAMES
