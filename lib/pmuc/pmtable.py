# SPDX-License-Identifier: MIT
"""Compiled event tables: the model in memory, the writer of images, and a reader.

lib/table/table.h is the layout. The image inside the library and an image file differ in nothing. What several tables have in
common (rows, lists of values and fields, strings) is written once. The reader looks names up exactly as the C code does.
"""

import array
import collections
import functools
import hashlib
import itertools
import operator
import os
import re
import struct
import sys

IMAGE_MAGIC = 0x62646D70
IMAGE_VERSION = 7
TABLE_MAGIC = 0x32746D70
TABLE_REPLACES, TABLE_TWINS = 32, 64  # set by the writer
IMAGE_MAX_TABLES = 4096
CALL_OTHER = 0x8000  # a name beside the table's own, in the index over names of tables
POOL_PAD = 8  # zero bytes at the end of every pool

ENCODERS = ("none", "format", "x86", "montecito", "ev4", "ev5", "ev6", "ev67", "perf", "netburst", "mips")
TABLE_FALLBACK, TABLE_UNCORE, TABLE_VIEW, TABLE_TEST, TABLE_KERNEL = 1, 2, 4, 8, 16
NUMBER, TRAIT, CHOICE, TEXT = range(4)
# What a terminal would obey is in no string: descriptions of unknown origin are printed.
CONTROLS = {c: " " for c in range(1, 0xa0) if c < 0x20 or c > 0x7e} | {0: ""}
GROUP_ANY, GROUP_DEFAULT, GROUP_REQUIRED, GROUP_EXPLICIT, GROUP_BEHIND = 1, 2, 4, 8, 16
MAX_TAKES = 8
ROW_FLAGS = {"hidden": 1, "deprecated": 2, "alone": 4, "per_pkg": 8, "experimental": 16, "arch": 32, "shadowed": 64,
             "metric": 128, "snapshot": 256, "free_running": 512}
ROW_HIDDEN, ROW_DEPRECATED, ROW_ALONE, ROW_PER_PKG, ROW_EXPERIMENTAL, ROW_ARCH, ROW_SHADOWED, ROW_METRIC, \
    ROW_SNAPSHOT, ROW_FREE_RUNNING = ROW_FLAGS.values()
NAME_EVENT, NAME_ALIAS, NAME_SYNONYM, NAME_UNSUPPORTED = range(4)
ANYWHERE = 0xFFFF
ANY32 = 0xFFFFFFFF
ALL64 = 0xFFFFFFFFFFFFFFFF
MAX_RANGES = 4

ROW_SOURCES_SHIFT = 29  # of a row's number in its table: bits of the sources above it
SOURCE_LIBPFM4 = 4
VALUE_WIDE = 0x800000
CHUNK = 256          # rows whose values are together
MAX_NAMES = 65534    # rows and further names of a table
MAX_FIELDS = 255
MAX_VALUES = 255     # of a row
WAY_ANY = ANY32

# Arrays of the image in the order they follow its head: name, struct format of an element. A page is read with those around it: what
# finds a table comes first, up to its name at the start of the pool, and what one look-up reads of it is together in the store, where each
# array is counted from the start of the store.
ARRAYS = (
    ("calls", "I"), ("tables", "IIQ7IIIiiIHH4H5I10I7I7I"),
    ("sets", "Q"), ("keys", "64B"), ("counters", "BBBBIII"), ("takes", "I"), ("group_numbers", "I"), ("pool", "B"),
    ("hosts", "II"), ("matches", "IIIIIIQQIBBBBII"), ("features", "IIQ"), ("wholes", "IIIII"), ("parts", "H"), ("filters", "Q"),
    ("store", "Q"), ("wides", "QII"), ("ways", "H"),
)
STORE = (
    ("fields", "IHBBBBHIIIQQQ" + "BBBB" * 4), ("words", "QII"), ("groups", "IHHIHHQQ"), ("names", "II"),
    ("slots", "I"), ("row_numbers", "I"), ("values", "I"), ("rows", "IIIHHHBB"),
)
FORMATS = dict(ARRAYS + STORE)
SIZES = {name: struct.calcsize("<" + fmt) for name, fmt in FORMATS.items()}
# Arrays that the head of the image says where they are, in the order of enum image_array.
DIRECTORY = ("tables", "calls", "wholes", "parts", "pool", "hosts", "filters")
N_DIRECTORY = 16
# Offsets in the head of a table, in the order of struct table: its own slices, then what all tables share.
SLICES = ("keys", "counters", "fields", "group_numbers", "matches", "features", "row_numbers", "names", "slots", "ways")
SHARED = ("sets", "words", "groups", "rows", "values", "wides", "takes")
# What numbers of elements count: bytes from one element that all tables share to the next, and of the slices from one address to the next
# that an element may have.
STEPS = {name: next(n for code, n in (("Q", 8), ("I", 4), ("H", 2), ("B", 1)) if code in FORMATS[name]) for name in SLICES}
HEAD_SIZE = SIZES["tables"]
IMAGE_FORMAT = "IIQIIQ32s" + "II" * N_DIRECTORY
IMAGE_SIZE = struct.calcsize("<" + IMAGE_FORMAT)


class Cache(dict):
    """Remembers what a text or a value means: the same few are there all the time."""

    def __init__(self, meaning):
        super().__init__()
        self.meaning = meaning

    def __missing__(self, what):
        value = self[what] = self.meaning(what)
        return value


_FOLD = bytes(ord(".") if c == ord(":") else c + 32 if 65 <= c <= 90 else c for c in range(256))


def _folded(text):
    return text.encode("utf-8", "surrogateescape").translate(_FOLD, b" \t-_")


fold = Cache(_folded).__getitem__       # the form of a name that is compared: table.h, name_fold()


def _weight(c):
    """What a character of a folded name adds to its hash: table.h, pfmi_weights."""
    c = c * 0x9E3779B1 & ANY32
    c = (c ^ c >> 15) * 0x85EBCA6B & ANY32
    return (c ^ c >> 13) & 0x7FFFFFFF


_WEIGHTS = tuple(_weight(c) for c in range(256))


_weigh = Cache(lambda piece: sum(map(_WEIGHTS.__getitem__, piece))).__getitem__      # names share their pieces


def _hashed(folded):
    """A sum over the characters of each piece, which separators turn by seven bits."""
    first, *pieces = map(_weigh, folded.split(b"."))
    h = 0x811C9DC5 + first
    for weight in pieces:
        h &= ANY32
        h = (h << 7 & ANY32 | h >> 25) + 0x2E + weight
    return h & ANY32


name_hash = Cache(_hashed).__getitem__      # of a folded name: table.h, name_hash()


def near(*names):
    """The first of the files that exists: sources and installed scripts lie differently."""
    here = os.path.dirname(os.path.abspath(__file__))
    for name in names:
        path = os.path.join(here, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(names[0])


_KEYS = None


def keys():
    """Key names of lib/table/keys.def: name -> (number, is a text)."""
    global _KEYS
    if _KEYS is None:
        _KEYS = {}
        with open(near("../table/keys.def", "keys.def"), encoding="utf-8") as f:
            for line in f:
                m = re.match(r'(KEY|TEXT)\((\w+),\s*"(\w*)"\)', line)
                if m:
                    _KEYS[m[3]] = (len(_KEYS), m[1] == "TEXT")
        if len(_KEYS) > 64:
            raise ValueError("keys.def: more than 64 keys")
    return _KEYS


class Word:
    __slots__ = ("name", "value", "desc")

    def __init__(self, name, value, desc=""):
        self.name, self.value, self.desc = name, value, desc


class Field:
    """A named field; ranges are (word, lsb, width), lowest value bits first."""
    __slots__ = ("name", "kind", "width", "ranges", "modifier", "words", "min", "max", "preset")

    def __init__(self, name, kind=NUMBER, width=64, ranges=(), modifier=False, words=(), low=0, high=None, preset=0):
        self.name, self.kind, self.ranges, self.modifier = name, kind, tuple(ranges), modifier
        self.width = sum(r[2] for r in self.ranges) or width
        self.words = list(words)
        self.min = low
        self.max = (1 << self.width) - 1 if high is None else high
        self.preset = preset


class Group:
    """Values is a list of Word; words with the value of an earlier one are further spellings of it."""
    __slots__ = ("name", "flags", "field", "words", "preset", "mask")

    def __init__(self, name, flags=0, field=0, words=(), preset=0, mask=None):
        self.name, self.flags, self.field, self.words, self.preset = name, flags, field, list(words), preset
        self.mask = mask
        if mask is None:
            self.mask = 0
            for w in self.words:
                self.mask |= w.value


class Counter:
    __slots__ = ("first", "last", "width", "fixed", "control", "value", "step")

    def __init__(self, first, last, width, fixed=False, control=0, value=0, step=1):
        self.first, self.last, self.width, self.fixed = first, last, width, fixed
        self.control, self.value, self.step = control, value, step

    def bits(self):
        low = self.first + (32 if self.fixed else 0)
        return ((1 << (self.last - self.first + 1)) - 1) << low


class Match:
    __slots__ = ("arch", "vendor", "family", "model_lo", "model_hi", "stepping_mask", "value", "mask", "prefix",
                 "exact", "core_type", "version_lo", "version_hi", "native_model")

    def __init__(self, arch="", vendor="", family=ANY32, model_lo=0, model_hi=ANY32, stepping_mask=0, value=0, mask=0,
                 prefix="", exact=False, core_type=None, version_lo=0, version_hi=255, native_model=ANY32):
        self.arch, self.vendor, self.family = arch, vendor, family
        self.model_lo, self.model_hi, self.stepping_mask = model_lo, model_hi, stepping_mask
        self.value, self.mask, self.prefix, self.exact = value, mask, prefix, exact
        self.core_type, self.native_model = core_type, native_model
        self.version_lo, self.version_hi = version_lo, version_hi


class Row:
    """values: (field index, counter or ANYWHERE, number or, for text fields, str). takes: group indices."""
    __slots__ = ("name", "desc", "counters", "values", "takes", "flags", "aliases", "where")

    def __init__(self, name, desc, counters=0, values=(), takes=(), flags=0, aliases=(), where=None):
        self.name, self.desc, self.counters, self.values = name, desc, counters, values
        self.takes, self.flags, self.aliases, self.where = takes, flags, aliases, where


class Table:
    def __init__(self, name, desc="", encoder="none"):
        self.name, self.desc, self.encoder = name, desc, encoder
        self.source = self.unit = self.device = ""
        self.part_of = ""    # the processor this is a box or a kind of core of
        self.aka = []
        self.flags = 0
        self.perf_type = self.libpfm_type = -1
        self.counters, self.fields, self.groups, self.matches, self.features = [], [], [], [], []
        self.rows, self.synonyms, self.unsupported = [], [], []   # synonyms: (name, row index); unsupported: (name, why)
        self.field_at = {}
        self.where = None
        self.family = ""    # in whose words its events are described
        self.lent = []      # rows behind the others that only synonyms lead to; their takes are Groups
        self.sources = {}   # row index -> sources that agree with it, as ROW_SOURCES_SHIFT has them

    # ---- building ----------------------------------------------------------------------------------------------

    def add_field(self, field):
        self.field_at[field.name] = len(self.fields)
        self.fields.append(field)
        return len(self.fields) - 1

    def all_counters(self):
        bits = 0
        for c in self.counters:
            bits |= c.bits()
        return bits

    def n_general(self):
        return max((c.last + 1 for c in self.counters if not c.fixed), default=0)

    def entries(self):
        """Every findable name: (text, target, kind); target is a row index, or the reason of an unsupported name."""
        out = [(row.name, i, NAME_EVENT) for i, row in enumerate(self.rows) if not row.flags & ROW_SHADOWED]
        out += [(alias, i, NAME_ALIAS) for i, row in enumerate(self.rows) if row.aliases and not row.flags & ROW_SHADOWED
                for alias in row.aliases]
        out += [(name, row, NAME_SYNONYM) for name, row in self.synonyms]
        return out + [(name, why, NAME_UNSUPPORTED) for name, why in self.unsupported]

    def check(self):
        """What is wrong with the model: list of (row index or None, text)."""
        wrong = []

        def bad(text, row=None):
            wrong.append((row, text))

        if not re.fullmatch(r"[a-z0-9_]+", self.name):
            bad("bad processor name '%s'" % self.name)
        if self.encoder not in ENCODERS:
            bad("unknown encoder '%s'" % self.encoder)
        everything = self.all_counters()
        if len({f.name for f in self.fields}) != len(self.fields):
            bad("two fields of one name")
        if len(self.fields) > MAX_FIELDS:
            bad("more than %d fields" % MAX_FIELDS)
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
        limits = [(f.kind == TEXT, f.min, f.max) for f in self.fields]
        groups = len(self.groups)
        for i, row in enumerate(self.rows):
            if row.counters & ~everything:
                bad("counter that does not exist", i)
            for f, c, v in row.values:
                text, low, high = limits[f]
                if text:
                    if type(v) is not str:
                        bad("%s: needs a text" % self.fields[f].name, i)
                elif not low <= v <= high:
                    bad("%s: 0x%x does not fit" % (self.fields[f].name, v), i)
                if c != ANYWHERE and not everything >> c & 1:
                    bad("%s: counter that does not exist" % self.fields[f].name, i)
            for t in row.takes:
                if t >= groups:
                    bad("unknown group", i)
            if len(row.takes) > MAX_TAKES or len(row.values) > MAX_VALUES:
                bad("too many values or groups", i)
        entries, seen = self.entries(), {}
        folded = [fold(text) for text, _, _ in entries]
        names = set(folded)
        for (text, target, kind), name in zip(entries, folded) if b"" in names or len(names) < len(folded) else ():
            if not name:
                bad("empty name", target if kind < NAME_UNSUPPORTED else None)
            else:
                first = seen.setdefault(name, (target, text))
                if first[0] != target:
                    bad("'%s' is the same name as '%s'" % (text, first[1]), target if kind < NAME_UNSUPPORTED else None)
        if len(self.rows) + len(names - {b""}) > MAX_NAMES:
            bad("more than %d events and names" % MAX_NAMES)
        for name, row in self.synonyms:
            if not 0 <= row < len(self.rows) + len(self.lent):
                bad("synonym '%s' of no row" % name)
        return wrong


# ---- writing ---------------------------------------------------------------------------------------------------------

_field_counter = operator.itemgetter(0, 1)


def shapes(rows):
    """What fields, on which counters, rows have values for: the different ones."""
    return {tuple(map(_field_counter, row.values)) for row in rows}


def slot_of(h, n):
    """Where probing starts: table.h, slot_of()."""
    return (h * 0x9E3779B1 & ANY32) * n >> 32


def n_slots(n):
    return max(2, n * 3 // 2 + 1)


def _name_bits(h):
    h = h * 0x85EBCA6B & ANY32
    return 1 << (h >> 26) | 1 << (h >> 20 & 63) | 1 << (h >> 14 & 63) | 1 << (h >> 8 & 63)


name_bits = Cache(_name_bits).__getitem__       # the bits of a name in a word of a filter: table.h, name_bits()


def filter_words(hashes):
    """Words that say which hashes are not among @hashes, seven bits for each: one in thirty of the others passes."""
    n = len(hashes) * 7 // 64 + 1
    words = [0] * n
    for h in hashes:
        words[(h * 0x9E3779B1 & ANY32) * n >> 32] |= name_bits(h)       # slot_of(h, n)
    return words


# What stands before the first separator of a folded name: lib/spec.c takes none at the very start for one.
first_piece = Cache(lambda name: name[:1] + name[1:].partition(b".")[0]).__getitem__


def first_pieces(names):
    """What stands before the first separator of texts that may be those names; nothing where characters that are left out stand before a
    separator at the very start."""
    pieces = set(map(first_piece, names))
    return pieces | {b"" for piece in pieces if piece[:1] == b"."}


def way_hash(code, umask, config1=0):
    return ((code * 0x9E3779B1 ^ umask ^ (config1 ^ config1 >> 32) * 0xC2B2AE35 & ANY32) * 0x85EBCA6B) & ANY32


WAYS = Cache(lambda way: way_hash(*way))    # many models have the same codes
HOST_ARCH, HOST_MODEL, HOST_FAMILY, HOST_PART, HOST_UPPER, HOST_ID, HOST_DEVICE = range(7)
PART_MASK, UPPER_MASK = 0xFF00FFF0, 0xFFFF0000    # of MIDR and of PVR, as machine/host.c looks them up


def config1_fields(t):
    """Fields that have bits in the second word of the configuration: index -> [(where in the value, bits, where in the word)]."""
    out = {}
    for i, f in enumerate(t.fields):
        at = 0
        for word, lsb, width in f.ranges:
            if word == 1:
                out.setdefault(i, []).append((at, (1 << width) - 1, lsb))
            at += width
    return out


# The field of config1 by which Linux takes the value of an extra register (lib/pmu/x86.c, extra_fields).
FIELD_OF_MSR = {0x1A6: "offcore_rsp", 0x1A7: "offcore_rsp", 0x3F6: "ldlat", 0x3F7: "frontend"}


def extra_register(t, values):
    """The @values, by field, that name an extra register and say what goes in it, as one of the field the kernel has for it."""
    field = t.field_at.get(FIELD_OF_MSR.get(values[t.field_at["msr"]]))
    return () if field is None else ((field, ANYWHERE, values.get(t.field_at.get("msr_value"), 0)),)


def config1_of(values, fields):
    """What @values lay into the second word of the configuration; @fields are config1_fields() of their table."""
    extra = 0
    for f, _, v in values:
        for at, bits, lsb in fields.get(f, ()):
            extra |= (v >> at & bits) << lsb
    return extra


def host_hash(kind, a):
    """table.h, host_hash()."""
    return (((a & ANY32) * 0x9E3779B1 ^ kind) * 0x85EBCA6B) & ANY32


def id_words(text):
    """The first two words of a textual identity, which its index is over; None if @text does not have them whole."""
    m = re.match(r"[^-,]*[-,][^-,]*(?=[-,])", text)
    return m and m[0]


def host_keys(m):
    """Where a line of hosts is looked for."""
    if m.family != ANY32:
        if m.model_hi - m.model_lo >= 64:
            return [host_hash(HOST_FAMILY, m.family)]
        return [host_hash(HOST_MODEL, m.family * 0x01000193 ^ model) for model in range(m.model_lo, m.model_hi + 1)]
    if m.mask & PART_MASK == PART_MASK:
        return [host_hash(HOST_PART, m.value & PART_MASK)]
    if m.mask & UPPER_MASK == UPPER_MASK:
        return [host_hash(HOST_UPPER, m.value & UPPER_MASK)]
    words = id_words(m.prefix + "," if m.exact else m.prefix)
    if words:
        return [host_hash(HOST_ID, name_hash(fold(words)))]
    return [host_hash(HOST_ARCH, name_hash(fold(m.arch)))]


def placed(entries, empty=0, n=None):
    """A hash table of (hash, what) with @n slots: each in the first free slot from where its hash says."""
    n = n or n_slots(len(entries))
    slots, taken = [empty] * n, bytearray(n)
    for h, what in entries:
        at = taken.find(0, (h * 0x9E3779B1 & ANY32) * n >> 32)     # slot_of(h, n)
        if at < 0:
            at = taken.find(0)
        taken[at] = 1
        slots[at] = what
    return slots


def packed_slots(hashes, numbers, sparse=1):
    """A hash table of numbers: 16 bits of hash, 16 bits 1 + number. What has the highest bits is entered first, so that none on the way to
    an entry is lower."""
    n = len(hashes)
    high = [~h & 0xFFFF for h in hashes]
    order = sorted(range(n), key=high.__getitem__)
    return placed([(hashes[i], (hashes[i] & 0xFFFF) << 16 | numbers[i] + 1) for i in order], n=n_slots(n) * sparse)


def ends(texts):
    """{text: the longest one of @texts that it ends}."""
    mirrored = sorted([t[::-1] for t in texts], reverse=True)
    inside = {}
    for longer, text in zip(mirrored, mirrored[1:]):
        if longer.startswith(text):
            inside[text[::-1]] = inside.get(longer[::-1], longer[::-1])
    return inside


class Pool(dict):
    """Strings, each once, and where they are; offset 0 is the empty one. Of the @texts that it begins with, one that another ends in is
    the end of that one, which is where the first of both was."""

    def __init__(self, texts=()):
        plain = {text for text in texts if text and text.isascii() and text.isprintable()}
        inside = ends(plain)
        wholes = dict.fromkeys(["", *[inside.get(text, text) for text in texts]])
        self.parts = [text.encode() if text in plain else self.harmless(text) for text in wholes]
        *places, self.size = itertools.accumulate([len(part) + 1 for part in self.parts], initial=0)
        super().__init__(zip(wholes, places))
        for text, whole in inside.items():
            self[text] = self[whole] + len(whole) - len(text)

    @staticmethod
    def harmless(text):
        return text.translate(CONTROLS).encode("utf-8", "surrogateescape")

    def __missing__(self, text):
        raw, at = self.harmless(text), self.size
        self[text] = at
        self.parts.append(raw)
        self.size += len(raw) + 1
        return at

    def add(self, text):
        return self[text]

    def end(self):
        """All of it. Look-up compares eight bytes at a time."""
        pad = POOL_PAD + -(self.size + POOL_PAD) % 8
        self.size += pad
        return b"\0".join(self.parts) + b"\0" * (1 + pad)


def texts_of(tables, values, entries):
    """All texts in the order of the pool; @values has those of each table's rows, @entries its entries(). What tables are called and the
    words of their hosts come first: any look-up compares one of those. Names are side by side, apart from the texts that few calls read."""
    texts = dict.fromkeys(x for t in tables for x in (t.name, *t.aka, *(x for m in t.matches for x in (m.arch, m.vendor))))
    for names in entries:
        texts.update(dict.fromkeys([text for text, _, _ in names]))
    for t, of_rows in zip(tables, values):
        texts.update(dict.fromkeys([v for row in of_rows for _, _, v in row if type(v) is str]))
        texts.update(dict.fromkeys(other_texts(t)))
        texts.update(dict.fromkeys([x for row in t.rows + t.lent for x in (row.name, row.desc)]))
    return texts


def other_texts(t):
    """Those of a table that few calls read, but for values of rows."""
    yield from (t.name, t.desc, t.source, " ".join(t.aka), t.unit, t.device, t.part_of)
    for of in (*t.fields, *t.groups, *(g for row in t.lent for g in row.takes)):
        yield from (x for w in spellings_last(of.words) for x in (w.name, w.desc))
        yield of.name
    yield from (why for _, why in t.unsupported)
    yield from (x for m in t.matches for x in (m.arch, m.vendor, m.prefix))
    yield from (x for name, value in t.features for x in (name, value) if type(x) is str)


def spellings_last(words):
    """Words in the order of the image: those with the value of an earlier one come last."""
    first, more, values = [], [], set()
    for w in words:
        (more if w.value in values else first).append(w)
        values.add(w.value)
    return first + more


class Body:
    """Bytes of the image that grow, of one array or of several."""

    def __init__(self):
        self.parts, self.size = [], 0

    def put(self, raw, step):
        """How many steps from the start of the body @raw lies."""
        gap = -self.size % step
        at = (self.size + gap) // step
        self.parts.append(b"\0" * gap + raw if gap else raw)
        self.size += gap + len(raw)
        return at


class Records:
    """An array of the image that grows. Equal elements, or equal slices, are there once."""

    def __init__(self, name, order, body):
        self.pack = struct.Struct(order + FORMATS[name]).pack
        self.step = STEPS.get(name, SIZES[name])
        self.body, self.seen = body, {}

    def slice(self, records):
        """Number of the first of these elements."""
        key = tuple(records)
        at = self.seen.get(key)
        if at is None:
            at = self.seen[key] = self.put(key)
        return at

    def put(self, records):
        pack = self.pack
        return self.body.put(b"".join([pack(*r) for r in records]), self.step)

    def one(self, record):
        return self.slice((record,))

    def each(self, records):
        """Numbers of elements of which each is there once, and those that are new side by side."""
        seen = self.seen
        new = [r for r in dict.fromkeys(records) if r not in seen]
        if new:
            seen.update(zip(new, itertools.count(self.put(new))))
        return [seen[r] for r in records]

    @property
    def n(self):
        """How many there are of an array that has its body to itself."""
        return self.body.size // self.step


LONGEST_PIECE = 8       # numbers


class Numbers(Records):
    """The same for arrays of plain numbers."""

    def __init__(self, name, order, body):
        super().__init__(name, order, body)
        form = order + "%d" + FORMATS[name]
        self.packs, self.within = Cache(lambda n: struct.Struct(form % n).pack), {}

    def prepare(self, slices):
        """Which of @slices are pieces of longer ones: these are there in their place."""
        short, lengths, within = set(), {}, self.within
        for s in slices:
            if 0 < len(s) <= LONGEST_PIECE:
                short.add(s)
                lengths.setdefault(s[0], set()).add(len(s))
        for s in sorted(slices, key=len, reverse=True):
            if s in within:
                continue
            for i, first in enumerate(s):
                for n in lengths.get(first, ()):
                    piece = s[i:i + n]
                    if piece in short and piece not in within and n < len(s):
                        within[piece] = s, i

    def put(self, numbers):
        if numbers in self.within:
            whole, i = self.within[numbers]
            return self.slice(whole) + i
        return self.body.put(self.packs[len(numbers)](*numbers), self.step)


class Writer:
    """Lays tables out in an image, whose pool begins with @texts."""

    def __init__(self, byteorder, texts=()):
        self.order = "<" if byteorder == "little" else ">"
        self.pool = Pool(texts)
        self.heads = []
        self.folded = []        # names of each table
        self.bodies = {name: Body() for name, _ in ARRAYS if name not in ("tables", "pool")}
        for name, fmt in ARRAYS + STORE:
            if name not in ("tables", "pool", "store"):
                body = self.bodies.get(name) or self.bodies["store"]
                setattr(self, name, (Numbers if fmt in "IHQ" else Records)(name, self.order, body))

    def index_names(self, t, entries):
        """Further names of the table, and the index over all of them: numbers of their first elements."""
        add, rows = self.pool.add, len(t.rows)
        folded = [fold(text) for text, _, _ in entries]
        if len(set(folded)) < len(folded):
            once = {}
            for entry, name in zip(entries, folded):
                if once.setdefault(name, entry)[1] != entry[1]:
                    raise ValueError("%s: '%s' stands for two rows" % (t.name, entry[0]))
            entries, folded = list(once.values()), list(once)       # without spellings that folding already covers
        self.folded.append(folded)
        events = [target for _, target, kind in entries if kind == NAME_EVENT]
        names = [(add(text), kind << 30 | (add(target) if kind == NAME_UNSUPPORTED else target))
                 for text, target, kind in entries[len(events):]]
        slots = packed_slots(list(map(name_hash, folded)), events + list(range(rows, rows + len(names))))
        return (self.names.slice(names), len(names)), (self.slots.slice(slots), len(slots))

    def add_words(self, of):
        """(first word, how many, how many values)"""
        words, add = spellings_last(of), self.pool.add
        return self.words.slice([(w.value, add(w.name), add(w.desc)) for w in words]), len(of), len({w.value for w in of})

    def add_fields(self, t):
        """(first byte of the keys, first field)"""
        known, add = keys(), self.pool.add
        field_of_key, fields = [0] * 64, []
        for i, f in enumerate(t.fields):
            key = known.get(f.name, (0, False))[0]
            if key:
                field_of_key[key] = i + 1
            first, n, _ = self.add_words(f.words)
            ranges = list(f.ranges) + [(0, 0, 0)] * (MAX_RANGES - len(f.ranges))
            fields.append((add(f.name), key, f.kind, 32 if f.kind == TEXT else f.width, len(f.ranges), int(f.modifier), n, first,
                           0, 0, f.min, f.max & ALL64, f.preset) + tuple(x for r in ranges for x in (r[0], r[1], r[2], 0)))
        return self.keys.one(tuple(field_of_key)), self.fields.slice(fields)

    def add_groups(self, groups):
        """Their numbers; words first, so that neither leaves gaps among the others."""
        records = []
        for g in groups:
            first, n, distinct = self.add_words(g.words)
            records.append((self.pool.add(g.name), g.flags, g.field, first, n, distinct, g.preset, g.mask))
        return [self.groups.one(r) for r in records]

    def add_takes(self, t):
        """(numbers of the table's groups, those of each row); groups of rows that are lent are not the table's."""
        own = len(t.groups)
        groups = self.add_groups(t.groups + [g for row in t.lent for g in row.takes])
        lent = iter(groups[own:])
        takes = [tuple([groups[k] for k in row.takes]) if row.takes else () for row in t.rows]
        return groups[:own], takes + [tuple([next(lent) for _ in row.takes]) for row in t.lent]

    def add_match(self, m):
        add = self.pool.add
        return (add(m.arch), add(m.vendor), m.family, m.model_lo, m.model_hi, m.stepping_mask, m.value, m.mask, add(m.prefix),
                m.core_type or 0, int(m.core_type is not None), m.version_lo, m.version_hi, m.native_model, int(m.exact))

    def add_feature(self, name, value):
        text = value if isinstance(value, str) else ""
        return self.pool.add(name), self.pool.add(text), 0 if text or value == "" else value

    def wide(self, field, counter, value):
        number = self.wides.one((value, counter, 0))
        if number >= VALUE_WIDE:
            raise ValueError("more values than an image can hold")
        return field << 24 | VALUE_WIDE | number

    def packed(self, value):
        """A value of a row as it is in the image."""
        f, c, v = value
        if type(v) is str:
            v = self.pool[v]
        return f << 24 | v if c == ANYWHERE and v < VALUE_WIDE else self.wide(f, c, v)

    def add_rows(self, t, takes, values):
        """Their numbers among all rows, those that are lent behind the others. Values are close to their rows."""
        at, of_values, of_takes, of_sets = self.pool, self.values.slice, Cache(self.takes.slice), Cache(self.sets.one)
        rows, numbers = t.rows + t.lent, []
        for start in range(0, len(rows), CHUNK):
            runs, taken = values[start:start + CHUNK], takes[start:start + CHUNK]
            numbers += self.rows.each([
                (at[row.name], at[row.desc], first, of_takes[take], of_sets[row.counters], row.flags, len(run), len(take))
                for row, first, run, take in zip(rows[start:start + CHUNK], [of_values(run) for run in runs], runs, taken)])
        for i in range(len(t.rows), len(rows)):
            numbers[i] |= SOURCE_LIBPFM4 << ROW_SOURCES_SHIFT
        for i, sources in t.sources.items():
            numbers[i] |= sources << ROW_SOURCES_SHIFT
        if self.sets.n > 65536:
            raise ValueError("more sets of counters than an image can hold")
        if self.takes.n > 65536:
            raise ValueError("more groups of unit masks than an image can hold")
        return self.row_numbers.slice(numbers)

    def add_ways(self, t):
        """(first slot, how many) of the index over code and unit mask; none where a code depends on the counter, where either is not in
        the first word alone, or where users may set it on any event."""
        code, umask = t.field_at.get("code"), t.field_at.get("umask")
        if code is None or any(t.fields[f].modifier or {word for word, _, _ in t.fields[f].ranges} != {0}
                               for f in (code, umask) if f is not None):
            return 0, 0
        wanted = [f for f in (code, umask) if f is not None]
        rows = [(i, row) for i, row in enumerate(t.rows, 1) if not row.flags & (ROW_SHADOWED | ROW_METRIC)]
        taken = {t.groups[g].field for _, row in rows for g in row.takes}
        if code in taken or any(f in wanted and c != ANYWHERE for shape in shapes(row for _, row in rows) for f, c in shape):
            return 0, 0
        entries = self.way_entries(t, rows, code, umask)
        # Keys that many rows have (those that differ in an extra register) come last, so that the others are found where they belong.
        often = collections.Counter(h for h, _ in entries)
        entries.sort(key=lambda entry: often[entry[0]])
        bits = len(t.rows).bit_length()
        entries = [(h, (h & 0xFFFF) >> bits << bits | number) for h, number in entries]
        slots = placed(entries, n=len(entries) * 5 // 4 + 2)      # few look-ups: little room
        return self.ways.slice(slots), len(slots)

    def way_entries(self, t, rows, code, umask):
        """[(hash, number)] of the numbered rows in the index over code and unit mask."""
        second, found, msr = config1_fields(t), [], t.field_at.get("msr")
        by_words = {i for i, g in enumerate(t.groups) if g.field in (code, umask)}
        presets = {f: t.fields[f].preset for f in (code, umask) if f is not None}
        beside = self.fields_over(t, list(presets))
        for number, row in rows:
            has = presets.copy()
            for f, _, v in row.values:
                has[f] = v
            register = extra_register(t, has) if msr in has else ()
            extra = config1_of([*row.values, *register], second) if second else 0
            for f, _, v in row.values if beside else ():
                for g, move in beside.get(f, ()):
                    has[g] |= move(v)
            mask = WAY_ANY if row.takes and not by_words.isdisjoint(row.takes) else has.get(umask, 0) & ANY32
            found.append((number, row, has[code] & ANY32, mask, extra, register))
        entries, seen = [], set()
        crowded = {way[2:4] for way in found if way[4]}
        beyond, registers = set(second), {t.field_at.get("msr"), t.field_at.get("msr_value")}
        for number, row, has_code, mask, extra, register in found:
            if extra:
                entries.append((WAYS[has_code, mask, extra], number))
            if (has_code, mask) in crowded:
                # Of rows that differ in config1 alone the first stands for an event that has something else there.
                without = beyond | registers if register else beyond
                alike = row.flags, row.counters, tuple(row.takes), tuple([v for v in row.values if v[0] not in without])
                if extra and alike in seen:
                    continue
                seen.add(alike)
            entries.append((WAYS[has_code, mask, 0], number))
        return entries

    @staticmethod
    def fields_over(t, wanted):
        """Fields that reach into the bits of those @wanted (a whole word, say): field -> [(wanted field, value -> its value there)]."""
        def bits(f):
            return [(word, lsb + i) for word, lsb, width in t.fields[f].ranges for i in range(width)]

        def mover(pairs):
            return lambda v: sum((v >> a & 1) << b for a, b in pairs)
        out = {}
        for w in wanted:
            place = {at: i for i, at in enumerate(bits(w))}
            for f in range(len(t.fields)):
                pairs = [(i, place[at]) for i, at in enumerate(bits(f)) if at in place] if f not in wanted else []
                if pairs:
                    out.setdefault(f, []).append((w, mover(pairs)))
        return out

    @staticmethod
    def any_bit_twice(t):
        """Has some row two values for one bit?"""
        bits = [[(word, lsb + i) for word, lsb, width in f.ranges for i in range(width)] for f in t.fields]
        for shape in shapes(t.rows + t.lent):
            taken = [bit for f, counter in shape if counter == ANYWHERE for bit in bits[f]]
            if len(taken) > len(set(taken)):
                return True
        return False

    def add(self, t, values, entries):
        """A table, whose rows have those @values and whose entries() are those."""
        add = self.pool.add
        texts = [add(x) for x in (t.name, t.desc, t.source, " ".join(t.aka), t.unit, t.device, t.part_of)]
        keys_at, fields = self.add_fields(t)
        groups, takes = self.add_takes(t)
        (names, n_names), (slots, n_slot) = self.index_names(t, entries)
        if len(t.rows) + n_names > MAX_NAMES:
            raise ValueError("table %s is too big" % t.name)
        ways, n_ways = self.add_ways(t)
        slices = {"keys": keys_at, "fields": fields, "names": names, "slots": slots, "ways": ways,
                  "group_numbers": self.group_numbers.slice(groups),
                  "counters": self.counters.slice([(c.first, c.last, c.width, int(c.fixed), c.control, c.value, c.step)
                                                   for c in t.counters]),
                  "matches": self.matches.slice([self.add_match(m) for m in t.matches]),
                  "features": self.features.slice([self.add_feature(*f) for f in t.features]),
                  "row_numbers": self.add_rows(t, takes, values)}
        flags = t.flags | (TABLE_REPLACES if any(f.preset and f.ranges for f in t.fields) or self.any_bit_twice(t) else 0)
        flags |= TABLE_TWINS if any(row.flags & ROW_SHADOWED for row in t.rows) else 0
        self.heads.append((t.name, t.all_counters(), texts, (t.perf_type, t.libpfm_type, flags, ENCODERS.index(t.encoder), t.n_general()),
                           (len(t.counters), len(t.fields), len(t.matches), len(t.features), len(t.rows), n_names, n_slot, n_ways,
                            len(groups)), slices, len(t.lent)))

    def index_tables(self, tables):
        """The index over their names; own names come before other ones."""
        names = [(t.name, i) for i, t in enumerate(tables)] + [(n, i | CALL_OTHER) for i, t in enumerate(tables) for n in t.aka]
        wholes = {}
        for i, t in enumerate(tables):
            if t.part_of:
                wholes.setdefault(t.part_of, []).append(i)
        records = []
        for name, parts in wholes.items():
            names.append((name, len(tables) + len(records)))
            words = self.filter_of(parts, [i for i, t in enumerate(tables) if t.name == name])
            records.append((self.pool.add(name), self.parts.slice(parts), len(parts), self.filters.slice(words), len(words)))
        self.wholes.slice(records)
        self.whole_of = {name: i + 1 for i, name in enumerate(wholes)}
        # Few names, each looked for in one image after the other: most of these searches end at an empty slot.
        self.calls.slice(packed_slots([name_hash(fold(name)) for name, _ in names], [i for _, i in names], sparse=3))

    def filter_of(self, parts, own):
        """The filter over all names of @parts, where one that ends in a separator stands for itself and for what is before it too, and over
        what stands before the first separator in them and in the names of @own, the tables that are called like the whole. Both are numbers
        of tables."""
        folded = set().union(*[self.folded[i] for i in parts])
        folded |= {name[:-1] for name in folded if name.endswith(b".")}
        folded |= first_pieces(folded.union(*[self.folded[i] for i in own]))
        return filter_words(list(map(name_hash, folded)))

    def index_hosts(self, tables):
        """Hash table over what hosts are known by. Units of any processor are known by the kernel's name for them."""
        entries = {}
        for i, t in enumerate(tables):
            for key in [k for m in t.matches for k in host_keys(m)]:
                entries[key, i] = None
            if not t.matches and t.encoder == "perf":
                entries[host_hash(HOST_ARCH, name_hash(b"")), i] = None
            elif not t.matches and t.flags & TABLE_UNCORE and t.device:
                entries[host_hash(HOST_DEVICE, name_hash(fold(t.device))), i] = None
        self.hosts.slice(placed([(key, (key, i + 1)) for key, i in entries], (0, 0)))

    def head(self, at, size, offsets, table):
        """Offsets count from the head itself."""
        name, everything, texts, (perf_type, libpfm_type, flags, encoder, n_general), counts, slices, n_lent = table
        return struct.pack(
            self.order + FORMATS["tables"], TABLE_MAGIC, size - at, everything, *texts, offsets["pool"] - at, self.pool.size,
            perf_type, libpfm_type, flags, encoder, n_general, *counts,
            *[offsets[a] + slices[a] * STEPS[a] - at for a in SLICES], *[offsets[a] - at for a in SHARED], n_lent,
            self.whole_of.get(name, 0), *[0] * 5)

    def end(self, digest, built, byteorder):
        bodies = {name: b"".join(body.parts) for name, body in self.bodies.items()}
        bodies["pool"] = self.pool.end()
        bodies["tables"] = b"\0" * (HEAD_SIZE * len(self.heads))
        offsets, at = {}, IMAGE_SIZE
        for name, _ in ARRAYS:
            offsets[name] = at
            at += -(-len(bodies[name]) // 8) * 8
        offsets.update((name, offsets["store"]) for name, _ in STORE)
        counts = {name: len(bodies[name]) // SIZES[name] for name in DIRECTORY}
        if at > 0x7FFFFFF0:
            raise ValueError("the image is too big")
        bodies["tables"] = b"".join(self.head(offsets["tables"] + i * HEAD_SIZE, at, offsets, h) for i, h in enumerate(self.heads))
        rest = b"".join(bodies[name].ljust(-(-len(bodies[name]) // 8) * 8, b"\0") for name, _ in ARRAYS)
        directory = [x for name in DIRECTORY for x in (offsets[name], counts[name])]
        head = struct.pack(self.order + IMAGE_FORMAT, IMAGE_MAGIC, IMAGE_VERSION, at, len(self.heads), checksum(
            struct.pack(self.order + "II" * N_DIRECTORY, *directory, *[0] * (2 * N_DIRECTORY - len(directory))) + rest, byteorder),
            built, digest.ljust(32, b"\0"), *directory, *[0] * (2 * N_DIRECTORY - len(directory)))
        return head + rest


def checksum(raw, byteorder):
    """Two running sums over 64-bit words, folded to 32 bits: cheap enough to take whenever an image is opened."""
    total, at = weighted(raw, byteorder)
    n = len(raw) // 8
    first, second = total % (1 << 64), (n * total - at) % (1 << 64)
    both = first ^ (second << 1 | second >> 63) % (1 << 64)
    return (both ^ both >> 32) & 0xFFFFFFFF


BLOCK = 4096                                                    # words
EVEN = int.from_bytes((b"\xff" * 8 + b"\0" * 8) * (BLOCK // 2), "little")
HALVES = [(1 << i, (1 << (128 << i)) - 1) for i in reversed(range(BLOCK.bit_length() - 2))]


def weighted(raw, byteorder):
    """(sum of the 64-bit words, sum of each times its number). The words of a block are added side by side: two of them are in each 128
    bits of one great number, which is folded in the middle until 128 bits are left."""
    words = array.array("Q", raw)
    if byteorder == "big":
        words.byteswap()
    total, weights = 0, 0
    for start in range(0, len(words), BLOCK):
        block = int.from_bytes(words[start:start + BLOCK].tobytes(), "little")
        odd = block >> 64 & EVEN
        here, at = (block & EVEN) + odd, odd
        for half, lower in HALVES:
            upper = here >> 128 * half
            at = (at & lower) + (at >> 128 * half) + 2 * half * upper
            here = (here & lower) + upper
        total += here
        weights += at + start * here
    return total, weights


def image_bytes(tables, byteorder="little", digest=b"", built=0):
    """A whole image of Tables."""
    if len(tables) > IMAGE_MAX_TABLES:
        raise ValueError("an image holds at most %d tables" % IMAGE_MAX_TABLES)
    in_order = [[sorted(row.values, key=_field_counter) for row in t.rows + t.lent] for t in tables]
    entries = [t.entries() for t in tables]
    w = Writer(byteorder, texts_of(tables, in_order, entries))
    packed = Cache(w.packed).__getitem__
    values = [[tuple(map(packed, row)) for row in rows] for rows in in_order]
    w.values.prepare(dict.fromkeys(itertools.chain.from_iterable(values)))
    for t, rows, names in zip(tables, values, entries):
        w.add(t, rows, names)
    w.index_tables(tables)
    w.index_hosts(tables)
    return w.end(digest, built, byteorder)


def embedding(path, raw):
    """Assembler text that brings the image @raw, which lies at @path, into the library. It changes whenever the image does, which is
    what builds look at. A section of its own comes behind the constants of the code: the start of the image is in pages beside them."""
    return """/* SPDX-License-Identifier: MIT */
/* Written by pmuc.py: the image with checksum %s */
#ifdef __CET__
#include <cet.h>
#endif
	.section .tables, "a", %%progbits
	.globl pfmi_builtin_image
	.hidden pfmi_builtin_image
	.type pfmi_builtin_image, %%object
	.balign 64
pfmi_builtin_image:
	.incbin "%s"
	.size pfmi_builtin_image, . - pfmi_builtin_image
	.section .note.GNU-stack, "", %%progbits
""" % (hashlib.sha256(raw).hexdigest(), os.path.abspath(path).replace("\\", "\\\\").replace('"', '\\"'))


# ---- reading ---------------------------------------------------------------------------------------------------------

class View:
    """One table of an image, read as the C code reads it."""

    def __init__(self, raw, byteorder="little", at=None):
        self.order = "<" if byteorder == "little" else ">"
        self.raw = raw
        head_at = IMAGE_SIZE if at is None else at
        head = struct.unpack_from(self.order + FORMATS["tables"], raw, head_at)
        if head[0] != TABLE_MAGIC:
            raise ValueError("not a table")
        self.size, self.all_counters = head[1:3]
        self.perf_type, self.libpfm_type, self.flags, self.encoder, self.n_general = head[12:17]
        self.count = dict(zip(("counters", "fields", "matches", "features", "rows", "names", "slots", "ways", "group_numbers"),
                              head[17:26]))
        self.count["pool"], self.n_lent = head[11], head[43]
        self.at = {name: head_at + offset for name, offset in zip(SLICES + SHARED, head[26:43])}
        self.at["pool"] = head_at + head[10]
        self.field_of_key = self.element("keys", 0)
        self.name, self.desc, self.source, aka, self.unit, self.device, self.part_of = (self.text(o) for o in head[3:10])
        self.aka = aka.split()

    def text(self, offset):
        if offset >= self.count["pool"]:
            raise ValueError("string outside the pool")
        at = self.at["pool"] + offset
        return self.raw[at:self.raw.index(b"\0", at)].decode("utf-8", "surrogateescape")

    def element(self, array_name, i):
        """Element of any array, counted from where the table's own slice begins."""
        return struct.unpack_from(self.order + FORMATS[array_name], self.raw, self.at[array_name] + i * SIZES[array_name])

    def record(self, array_name, i):
        """Element @i of those that belong to the table; rows and groups in its own order."""
        array_name = "group_numbers" if array_name == "groups" else array_name
        if array_name in ("sets", "words", "values", "wides", "takes"):
            return self.element(array_name, i)
        if not 0 <= i < self.count[array_name] + (self.n_lent if array_name == "rows" else 0):
            raise IndexError("%s %d" % (array_name, i))
        if array_name == "rows":
            return self.element("rows", self.element("row_numbers", i)[0] & (1 << ROW_SOURCES_SHIFT) - 1)
        if array_name == "group_numbers":
            return self.element("groups", self.element("group_numbers", i)[0])
        return self.element(array_name, i)

    def records(self, array_name):
        return [self.record(array_name, i) for i in range(self.count["group_numbers" if array_name == "groups" else array_name])]

    def entry(self, i):
        """Name number @i: (text offset, row or reason, kind)."""
        if i < self.count["rows"]:
            return self.record("rows", i)[0], i, NAME_EVENT
        text, target = self.record("names", i - self.count["rows"])
        return text, target & 0x3FFFFFFF, target >> 30

    def find_folded(self, folded):
        """(text offset, row or reason, kind), or None."""
        h, n = name_hash(folded), self.count["slots"]
        at = slot_of(h, n)
        while True:
            slot = self.element("slots", at)[0]
            if slot <= (h & 0xFFFF) << 16:
                return None
            if slot >> 16 == h & 0xFFFF:
                entry = self.entry((slot & 0xFFFF) - 1)
                start = self.at["pool"] + entry[0]
                if self.raw[start:self.raw.index(b"\0", start)].translate(_FOLD, b" \t-_") == folded:
                    return entry
            at = at + 1 if at + 1 < n else 0

    def find(self, text):
        """Row number of a name, or None."""
        found = self.find_folded(fold(text))
        return found[1] if found and found[2] != NAME_UNSUPPORTED else None

    def field(self, key):
        """Index of the field of that name, or None: key fields by number as in C, others by name."""
        number = keys().get(key, (0, False))[0]
        if number:
            return self.field_of_key[number] - 1 if self.field_of_key[number] else None
        for i in range(self.count["fields"]):
            if self.text(self.record("fields", i)[0]) == key:
                return i
        return None

    def field_ranges(self, index):
        f = self.record("fields", index)
        return [f[13 + 4 * i:16 + 4 * i] for i in range(f[4])]

    def unpack(self, packed):
        """(field, counter, value) of a value."""
        field, value = packed >> 24, packed & VALUE_WIDE - 1
        if not packed & VALUE_WIDE:
            return field, ANYWHERE, value
        wide, counter, _ = self.element("wides", value)
        return field, counter, wide

    def row(self, i):
        """takes: numbers among the table's own groups."""
        name, desc, value, take, counters, flags, n_values, n_takes = self.record("rows", i)
        own = {self.element("group_numbers", k)[0]: k for k in range(self.count["group_numbers"])} if n_takes else {}
        return {"name": self.text(name), "desc": self.text(desc), "counters": self.element("sets", counters)[0], "flags": flags,
                "values": [self.unpack(self.element("values", value + k)[0]) for k in range(n_values)],
                "takes": [own.get(self.element("takes", take + k)[0]) for k in range(n_takes)]}

    def value(self, i, key, counter=ANYWHERE):
        f = self.field(key)
        if f is None:
            return 0
        general = None
        for field, c, v in self.row(i)["values"]:
            if field == f and c == counter:
                return v
            if field == f and c == ANYWHERE and general is None:
                general = v
        return self.record("fields", f)[12] if general is None else general

    def value_list(self, i, key):
        f = self.field(key)
        return [v for field, _, v in self.row(i)["values"] if field == f]

    def texts(self, i, key):
        return [self.text(v) for v in self.value_list(i, key)]

    def value_text(self, i, key, counter=ANYWHERE):
        return self.text(self.value(i, key, counter))


def image_head(raw):
    """What the head of an image in either byte order says; raises ValueError."""
    for byteorder, order in (("little", "<"), ("big", ">")):
        if len(raw) >= IMAGE_SIZE and struct.unpack_from(order + "I", raw)[0] == IMAGE_MAGIC:
            break
    else:
        raise ValueError("not an image")
    _, version, size, n, crc, built, digest, *directory = struct.unpack_from(order + IMAGE_FORMAT, raw)
    return {"byteorder": byteorder, "version": version, "size": size, "n_tables": n, "checksum": crc, "built": built,
            "digest": digest, "tables": directory[0]}


def read_image(raw):
    """(tables, header dict) of an image in either byte order; raises ValueError."""
    head = image_head(raw)
    if head["version"] != IMAGE_VERSION or head["size"] != len(raw) or \
            head["checksum"] != checksum(raw[IMAGE_SIZE - 8 * N_DIRECTORY:], head["byteorder"]):
        raise ValueError("damaged image")
    return [View(raw, head["byteorder"], head["tables"] + i * HEAD_SIZE) for i in range(head["n_tables"])], head


@functools.lru_cache(None)
def compiler_digest():
    """Changes with the compiler and the key names, so that images are made anew when either does."""
    h = hashlib.sha256()
    here = os.path.dirname(os.path.abspath(__file__))
    parts = [os.path.join(here, name) for name in sorted(os.listdir(here)) if re.fullmatch(r"pm[a-z]+\.py", name)]
    heads = near("../events/heads", "heads")
    parts += [os.path.join(heads, name) for name in sorted(os.listdir(heads)) if name.endswith(".pmu")]
    for path in parts + [near("../table/keys.def", "keys.def")]:
        with open(path, "rb") as f:
            h.update(f.read())
    return h.digest()
