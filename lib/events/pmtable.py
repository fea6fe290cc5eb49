# SPDX-License-Identifier: MIT
"""Compiled event tables: the model in memory, the writers (C and image file), and a reader.

lib/table.h is the layout. Both writers print the same records, so that a table inside the library and the same table
in an image differ in nothing. The reader looks names up exactly as the C code does; the compiler uses it to prove
each index that it builds, the tests use it to read images back.
"""

import hashlib
import itertools
import os
import re
import struct

IMAGE_MAGIC = 0x62646D70
IMAGE_VERSION = 1
TABLE_MAGIC = 0x31746D70
TABLE_PRESETS = 32  # set by the writer
IMAGE_MAX_TABLES = 4096
POOL_PAD = 8  # zero bytes at the end of every pool

ENCODERS = ("none", "format", "x86", "montecito", "ev4", "ev5", "ev6", "ev67", "perf")
TABLE_FALLBACK, TABLE_UNCORE, TABLE_VIEW, TABLE_TEST, TABLE_KERNEL = 1, 2, 4, 8, 16
NUMBER, TRAIT, CHOICE, TEXT = range(4)
# What a terminal would obey is in no string: descriptions of unknown origin are printed.
CONTROLS = {c: " " for c in range(1, 0xa0) if c < 0x20 or c > 0x7e} | {0: ""}
GROUP_ANY, GROUP_DEFAULT, GROUP_REQUIRED, GROUP_EXPLICIT = 1, 2, 4, 8
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

# The arrays in the order they follow the head: those with 64-bit members first, so that no padding is ever needed.
# (name, C type, struct format, C initialiser or None for strings)
RECORDS = (
    ("fields", "struct field", "IHBBBBHIIIQQQ" + "BBBB" * 4,
     "{%s, %s, %s, %s, %s, %s, %s, %s, {%s, %s}, %s, %s, %s, "
     "{{%s, %s, %s, %s}, {%s, %s, %s, %s}, {%s, %s, %s, %s}, {%s, %s, %s, %s}}}"),
    ("words", "struct word", "QII", "{%s, %s, %s}"),
    ("groups", "struct group", "IHHIHHQQ", "{%s, %s, %s, %s, %s, %s, %s, %s}"),
    ("matches", "struct match", "IIIIIIQQIBBBBII",
     "{%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s}"),
    ("features", "struct feature", "IIQ", "{%s, %s, %s}"),
    ("rows", "struct row", "IIQIIHBBI", "{%s, %s, %s, %s, %s, %s, %s, %s, %s}"),
    ("values", "struct value", "HHIQ", "{%s, %s, %s, %s}"),
    ("counters", "struct counter", "BBBBIII", "{%s, %s, %s, %s, %s, %s, %s}"),
    ("names", "struct name", "III", "{%s, %s, %s}"),
    ("slots", "struct slot", "II", "{%s, %s}"),
    ("takes", "uint16_t", "H", "%s"),
    ("pool", "char", "B", None),
)
SIZES = {name: struct.calcsize("<" + fmt) for name, _, fmt, _ in RECORDS}
FORMATS = {name: fmt for name, _, fmt, _ in RECORDS}
# In the order of struct table.
HEAD_ARRAYS = ("counters", "fields", "words", "groups", "matches", "features", "rows", "values", "takes", "names",
               "slots", "pool")
HEAD_FORMAT = "8IHHiiIQ24I64B"
HEAD_SIZE = struct.calcsize("<" + HEAD_FORMAT)
IMAGE_FORMAT = "IIQIIQQ32s"
IMAGE_SIZE = struct.calcsize("<" + IMAGE_FORMAT)

_FOLD = bytes(ord(".") if c == ord(":") else c + 32 if 65 <= c <= 90 else c for c in range(256))


def fold(text):
    """The form of a name that is compared: table.h, name_fold()."""
    return text.encode("utf-8", "surrogateescape").translate(_FOLD, b" \t-_")


def name_hash(folded):
    h = 0x811C9DC5
    for c in folded:
        h = ((h ^ c) * 0x01000193) & 0xFFFFFFFF
    return h


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
    """Key names of lib/keys.def: name -> (number, is a text)."""
    global _KEYS
    if _KEYS is None:
        _KEYS = {}
        with open(near("../keys.def", "keys.def"), encoding="utf-8") as f:
            for line in f:
                m = re.match(r'KEY\((\w+),\s*"(\w*)"\)\s*(/\*\s*text\b)?', line)
                if m:
                    _KEYS[m[2]] = (len(_KEYS), m[3] is not None)
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
    __slots__ = ("arch", "vendor", "family", "model_lo", "model_hi", "stepping_mask", "value", "mask", "pattern",
                 "core_type", "version_lo", "version_hi", "native_model")

    def __init__(self, arch="", vendor="", family=ANY32, model_lo=0, model_hi=ANY32, stepping_mask=0, value=0, mask=0,
                 pattern="", core_type=None, version_lo=0, version_hi=255, native_model=ANY32):
        self.arch, self.vendor, self.family = arch, vendor, family
        self.model_lo, self.model_hi, self.stepping_mask = model_lo, model_hi, stepping_mask
        self.value, self.mask, self.pattern = value, mask, pattern
        self.core_type, self.native_model = core_type, native_model
        self.version_lo, self.version_hi = version_lo, version_hi


class Row:
    """values: (field index, counter or ANYWHERE, number or, for text fields, str). takes: group indices."""
    __slots__ = ("name", "desc", "counters", "values", "takes", "flags", "aliases", "where")

    def __init__(self, name, desc, counters=0, values=(), takes=(), flags=0, aliases=(), where=None):
        self.name, self.desc, self.counters, self.values = name, desc, counters, values
        self.takes, self.flags, self.aliases, self.where = takes, flags, aliases, where


class Pool:
    """Strings, each once; offset 0 is the empty one."""

    def __init__(self):
        self.at = {"": 0}
        self.parts = [b"\0"]
        self.size = 1

    def add(self, text):
        at = self.at.get(text)
        if at is None:
            raw = text.translate(CONTROLS).encode("utf-8", "surrogateescape") + b"\0"
            at = self.at[text] = self.size
            self.parts.append(raw)
            self.size += len(raw)
        return at


class Table:
    def __init__(self, name, desc="", encoder="none"):
        self.name, self.desc, self.encoder = name, desc, encoder
        self.source = self.unit = self.device = ""
        self.aka = []
        self.flags = 0
        self.perf_type = self.libpfm_type = -1
        self.counters, self.fields, self.groups, self.matches, self.features = [], [], [], [], []
        self.rows, self.synonyms, self.unsupported = [], [], []   # synonyms: (name, row index); unsupported: (name, why)
        self.field_at = {}
        self.where = None

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
        for kind_of in (NAME_EVENT, NAME_ALIAS):
            for i, row in enumerate(self.rows):
                if row.flags & ROW_SHADOWED:
                    continue
                if kind_of == NAME_EVENT:
                    yield row.name, i, NAME_EVENT
                else:
                    for alias in row.aliases:
                        yield alias, i, NAME_ALIAS
        for name, row in self.synonyms:
            yield name, row, NAME_SYNONYM
        for name, why in self.unsupported:
            yield name, why, NAME_UNSUPPORTED

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
            if len(row.takes) > MAX_TAKES or len(row.values) > 65535:
                bad("too many values or groups", i)
        seen = {}
        for text, target, kind in self.entries():
            folded = fold(text)
            if not folded:
                bad("empty name", target if kind < NAME_UNSUPPORTED else None)
            else:
                first = seen.setdefault(folded, (target, text))
                if first[0] != target:
                    bad("'%s' is the same name as '%s'" % (text, first[1]), target if kind < NAME_UNSUPPORTED else None)
        for name, row in self.synonyms:
            if not 0 <= row < len(self.rows):
                bad("synonym '%s' of no row" % name)
        return wrong

    # ---- layout ------------------------------------------------------------------------------------------------

    def layout(self):
        """The head tuple and the records of each array; verified."""
        pool = Pool()
        add = pool.add
        known = keys()
        data = {name: [] for name, _, _, _ in RECORDS}
        add(self.name)

        # The index first: names end up side by side in the pool, apart from descriptions that few calls read.
        hashes, seen = [], set()
        for text, target, kind in self.entries():
            folded = fold(text)
            if folded in seen:
                continue            # a spelling that folding already covers
            seen.add(folded)
            hashes.append(name_hash(folded))
            data["names"].append((add(text), add(target) if kind == NAME_UNSUPPORTED else target, kind))
        n_slots = 2
        while n_slots < 2 * len(hashes):
            n_slots *= 2
        slots = [(0, 0)] * n_slots
        for i, h in enumerate(hashes):
            at = h & (n_slots - 1)
            while slots[at][1]:
                at = (at + 1) & (n_slots - 1)
            slots[at] = (h, i + 1)
        data["slots"] = slots
        row_names = [add(r.name) for r in self.rows]

        def words(of):
            first = len(data["words"])
            distinct, more, values = [], [], set()
            for w in of:
                (more if w.value in values else distinct).append(w)
                values.add(w.value)
            for w in distinct + more:
                data["words"].append((w.value, add(w.name), add(w.desc)))
            return first, len(of), len(distinct)

        field_of_key = [0] * 64
        for i, f in enumerate(self.fields):
            key = known.get(f.name, (0, False))[0]
            if key:
                field_of_key[key] = i + 1
            first, n, _ = words(f.words)
            ranges = list(f.ranges) + [(0, 0, 0)] * (MAX_RANGES - len(f.ranges))
            data["fields"].append((add(f.name), key, f.kind, 32 if f.kind == TEXT else f.width, len(f.ranges),
                                   int(f.modifier), n, first, 0, 0, f.min, f.max & ALL64, f.preset)
                                  + tuple(x for r in ranges for x in (r[0], r[1], r[2], 0)))
        for g in self.groups:
            first, n, distinct = words(g.words)
            data["groups"].append((add(g.name), g.flags, g.field, first, n, distinct, g.preset, g.mask))
        for m in self.matches:
            data["matches"].append((add(m.arch), add(m.vendor), m.family, m.model_lo, m.model_hi, m.stepping_mask,
                                    m.value, m.mask, add(m.pattern), m.core_type or 0, int(m.core_type is not None),
                                    m.version_lo, m.version_hi, m.native_model, 0))
        for name, value in self.features:
            text = value if isinstance(value, str) else ""
            data["features"].append((add(name), add(text), 0 if text or value == "" else value))
        for c in self.counters:
            data["counters"].append((c.first, c.last, c.width, int(c.fixed), c.control, c.value, c.step))

        runs, take_runs = {}, {}
        values, takes = data["values"], data["takes"]
        texts = {i for i, f in enumerate(self.fields) if f.kind == TEXT}
        for row, name in zip(self.rows, row_names):
            run = tuple(sorted([(f, c, add(v)) if f in texts else (f, c, v) for f, c, v in row.values],
                               key=_field_counter))
            at = runs.get(run)
            if at is None:
                at = runs[run] = len(values)
                values.extend([(f, c, 0, v) for f, c, v in run])
            take = take_runs.get(row.takes)
            if take is None:
                take = take_runs[row.takes] = len(takes)
                takes.extend([(t,) for t in row.takes])
            data["rows"].append((name, add(row.desc), row.counters, at, take, len(run), len(row.takes), 0, row.flags))

        texts = [add(t) for t in (self.name, self.desc, self.source, " ".join(self.aka), self.unit, self.device)]
        offsets, at = {}, HEAD_SIZE
        for name, _, _, _ in RECORDS:
            offsets[name] = at
            at += SIZES[name] * (pool.size if name == "pool" else len(data[name]))
        pad = POOL_PAD + -(at + POOL_PAD) % 8  # look-up compares eight bytes at a time
        pool.parts.append(b"\0" * pad)
        pool.size += pad
        at += pad
        if at > 0xFFFFFFF0:
            raise ValueError("table %s is too big" % self.name)
        data["pool"] = pool
        counts = {name: pool.size if name == "pool" else len(data[name]) for name in HEAD_ARRAYS}
        head = (TABLE_MAGIC, at, *texts, ENCODERS.index(self.encoder),
                self.flags | (TABLE_PRESETS if any(f.preset and f.ranges for f in self.fields) else 0), self.perf_type, self.libpfm_type,
                self.n_general(), self.all_counters(),
                *[x for name in HEAD_ARRAYS for x in (counts[name], offsets[name])], *field_of_key)
        return head, data

    def to_bytes(self, byteorder="little"):
        order = "<" if byteorder == "little" else ">"
        head, data = self.layout()
        parts = [struct.pack(order + HEAD_FORMAT, *head)]
        for name, _, fmt, _ in RECORDS:
            if name == "pool":
                parts.extend(data["pool"].parts)
            elif data[name]:
                flat = [x for record in data[name] for x in record]
                parts.append(struct.pack(order + fmt * len(data[name]), *flat))
        raw = b"".join(parts)
        verify(self, raw, byteorder)
        return raw

    def to_c(self, tag):
        """(type definition, initialiser, size) with the same records, as C."""
        head, data = self.layout()
        verify(self, self.to_bytes(), "little")
        members, init = ["\tstruct table head;"], []
        init.append("\t{%s,\n\t {%s}}" % (", ".join(_number(x) for x in head[:-64]),
                                        ", ".join(str(x) for x in head[-64:])))
        for name, ctype, _, shape in RECORDS:
            if name == "pool":
                pool = data["pool"]
                members.append("\tchar pool[%d];" % pool.size)
                init.append("\n".join("\t" + _literal(p) for p in pool.parts[:-1]) +
                            "\n\t" + _literal(pool.parts[-1], True) if len(pool.parts) > 1 else '\t""')
            elif data[name]:
                members.append("\t%s %s[%d];" % (ctype, name, len(data[name])))
                init.append("\t{" + ",\n\t ".join(shape % tuple(_number(x) for x in r) for r in data[name]) + "}")
        return ("struct %s {\n%s\n};" % (tag, "\n".join(members)), "{\n%s\n}" % ",\n".join(init), head[1])


def _field_counter(value):
    return value[0], value[1]


def _number(n):
    if n < 0:
        return str(n)
    if n < 0x80000000:
        return str(n) if n < 10 else "0x%x" % n
    return "0x%xu" % n if n <= ANY32 else "0x%xull" % n


def _literal(raw, last=False):
    """A C string for bytes that end in NUL; the last one leaves that NUL to the compiler."""
    text = raw.rstrip(b"\0") if last else raw
    out, previous = [], 0
    for c in text:
        if c in b'"\\' or c == 63 and previous == 63:
            out.append("\\" + chr(c))
        elif 32 <= c < 127:
            out.append(chr(c))
        else:
            out.append("\\%03o" % c if c else "\\0")
        previous = c
    return '"' + "".join(out) + '"'


def verify(table, raw, byteorder):
    """Every name must be found again, and lead to its row. A failure is a bug of this file, not of the input."""
    view = View(raw, byteorder)
    first = {}
    for text, target, kind in table.entries():
        folded = fold(text)
        if first.setdefault(folded, target) != target:
            raise ValueError("%s: '%s' stands for two rows" % (table.name, text))
        found = view.find_folded(folded)
        if found is None:
            raise AssertionError("%s: index lost '%s'" % (table.name, text))
        if kind != NAME_UNSUPPORTED and found[1] != target:
            raise AssertionError("%s: index of '%s' is wrong" % (table.name, text))


def checksum(raw, byteorder):
    """Two running sums over 64-bit words, folded to 32 bits: cheap enough to take whenever an image is opened."""
    words = struct.unpack(("<" if byteorder == "little" else ">") + "%dQ" % (len(raw) // 8), raw)
    first = sum(words) % (1 << 64)
    second = sum(itertools.accumulate(words)) % (1 << 64)
    both = first ^ (second << 1 | second >> 63) % (1 << 64)
    return (both ^ both >> 32) & 0xFFFFFFFF


def processor_slots(tables):
    """Hash slots (hash, 1 + table number) over the names of processors, as lib/ctx.c fills them for images."""
    names = [(t.name, i) for i, t in enumerate(tables)] + [(n, i) for i, t in enumerate(tables) for n in t.aka]
    size = 16
    while size < 2 * len(names):
        size *= 2
    slots = [(0, 0)] * size
    for name, i in names:
        h = name_hash(fold(name))
        at = h % size
        while slots[at][1]:
            at = (at + 1) % size
        slots[at] = (h, i + 1)
    return slots


def image_bytes(tables, byteorder="little", digest=b"", built=0):
    """A whole image file."""
    order = "<" if byteorder == "little" else ">"
    if not 0 < len(tables) <= IMAGE_MAX_TABLES:
        raise ValueError("an image holds 1 to %d tables" % IMAGE_MAX_TABLES)
    bodies = [t if isinstance(t, bytes) else t.to_bytes(byteorder) for t in tables]
    at = IMAGE_SIZE + 8 * len(bodies)
    offsets = []
    for b in bodies:
        offsets.append(at)
        at += len(b)
    rest = struct.pack(order + "%dQ" % len(bodies), *offsets) + b"".join(bodies)
    head = struct.pack(order + IMAGE_FORMAT, IMAGE_MAGIC, IMAGE_VERSION, at, len(bodies), checksum(rest, byteorder), built,
                       IMAGE_SIZE, digest.ljust(32, b"\0"))
    return head + rest


def c_file(tables):
    """The C file that holds @tables inside the library."""
    out = ["/* SPDX-License-Identifier: MIT */",
           "/* Written by pmuc.py from the .pmu files beside it. */",
           '#include "table.h"', "",
           "#ifdef __GNUC__",
           '#pragma GCC diagnostic ignored "-Woverlength-strings"',
           "#endif", ""]
    for name, ctype, _, _ in RECORDS:
        out.append('_Static_assert(sizeof(%s) == %d, "layout of %s");' % (ctype, SIZES[name], ctype))
    out.append('_Static_assert(sizeof(struct table) == %d, "layout of struct table");' % HEAD_SIZE)
    out.append('_Static_assert(sizeof(struct image) == %d, "layout of struct image");' % IMAGE_SIZE)
    out.append('_Static_assert(N_KEYS == %d, "pmuc.py has read another keys.def");\n' % len(keys()))
    members, inits, where, at = [], [], [], 0
    for t in tables:
        tag = "table_" + t.name
        kind, init, size = t.to_c(tag)
        out.append(kind + "\n")
        members.append("\tstruct %s %s;" % (tag, t.name))
        inits.append(init)
        where.append((t.name, at))
        at += size
    if tables:
        out.append("/* One object, so that finding a table takes an offset and no relocation. */")
        out.append("static const struct tables {\n%s\n} tables = {\n%s\n};\n" % ("\n".join(members), ",\n".join(inits)))
        for name, offset in where:
            out.append('_Static_assert(offsetof(struct tables, %s) == %d, "layout of %s");' % (name, offset, name))
        out.append("\nstatic const uint32_t offsets[%d] = {%s};\n"
                   % (len(where), ", ".join(str(o) for _, o in where)))
        out.append("const unsigned pfmi_n_builtin = %d;\n" % len(tables))
        out.append("const struct table *pfmi_builtin(unsigned i)\n{\n\tif (i >= pfmi_n_builtin)\n\t\treturn NULL;\n"
                   "\treturn (const struct table *)(const void *)((const char *)&tables + offsets[i]);\n}")
        slots = processor_slots(tables)
        out.append("\nconst unsigned pfmi_n_builtin_slots = %d;\nconst struct slot pfmi_builtin_slots[%d] = {" % (len(slots), len(slots)))
        out.extend("\t{0x%xu, %du}," % slot for slot in slots)
        out.append("};")
    else:
        out.append("const unsigned pfmi_n_builtin = 0;\n")
        out.append("const unsigned pfmi_n_builtin_slots = 1;\nconst struct slot pfmi_builtin_slots[1] = {{0, 0}};")
        out.append("const struct table *pfmi_builtin(unsigned i)\n{\n\t(void)i;\n\treturn NULL;\n}")
    return "\n".join(out) + "\n"


# ---- reading ---------------------------------------------------------------------------------------------------------

class View:
    """One table in memory, read as the C code reads it."""

    def __init__(self, raw, byteorder="little"):
        self.order = "<" if byteorder == "little" else ">"
        self.raw = raw
        head = struct.unpack_from(self.order + HEAD_FORMAT, raw)
        if head[0] != TABLE_MAGIC:
            raise ValueError("not a table")
        self.size = head[1]
        (self.encoder, self.flags, self.perf_type, self.libpfm_type, self.n_general, self.all_counters) = head[8:14]
        self.count, self.at = {}, {}
        for i, name in enumerate(HEAD_ARRAYS):
            self.count[name], self.at[name] = head[14 + 2 * i:16 + 2 * i]
        self.field_of_key = head[-64:]
        self.name, self.desc, self.source, aka, self.unit, self.device = (self.text(o) for o in head[2:8])
        self.aka = aka.split()
        self._slot = struct.Struct(self.order + "II")
        self._name = struct.Struct(self.order + "III")

    def text(self, offset):
        if offset >= self.count["pool"]:
            raise ValueError("string outside the pool")
        at = self.at["pool"] + offset
        return self.raw[at:self.raw.index(b"\0", at)].decode("utf-8", "surrogateescape")

    def record(self, array, i):
        if not 0 <= i < self.count[array]:
            raise IndexError("%s %d" % (array, i))
        return struct.unpack_from(self.order + FORMATS[array], self.raw, self.at[array] + i * SIZES[array])

    def records(self, array):
        return [self.record(array, i) for i in range(self.count[array])]

    def find_folded(self, folded):
        """(text offset, row or reason, kind), or None."""
        mask = self.count["slots"] - 1
        h = name_hash(folded)
        at = h & mask
        while True:
            slot_hash, n = self._slot.unpack_from(self.raw, self.at["slots"] + 8 * at)
            if not n:
                return None
            if slot_hash == h:
                name = self._name.unpack_from(self.raw, self.at["names"] + 12 * (n - 1))
                start = self.at["pool"] + name[0]
                text = self.raw[start:self.raw.index(b"\0", start)]
                if text.translate(_FOLD, b" \t-_") == folded:
                    return name
            at = (at + 1) & mask

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

    def row(self, i):
        name, desc, counters, value, take, n_values, n_takes, _, flags = self.record("rows", i)
        return {"name": self.text(name), "desc": self.text(desc), "counters": counters, "flags": flags,
                "values": [self.record("values", value + k) for k in range(n_values)],
                "takes": [self.record("takes", take + k)[0] for k in range(n_takes)]}

    def value(self, i, key, counter=ANYWHERE):
        f = self.field(key)
        if f is None:
            return 0
        general = None
        for field, c, _, v in self.row(i)["values"]:
            if field == f and c == counter:
                return v
            if field == f and c == ANYWHERE and general is None:
                general = v
        return self.record("fields", f)[12] if general is None else general

    def value_list(self, i, key):
        f = self.field(key)
        return [v for field, _, _, v in self.row(i)["values"] if field == f]

    def value_text(self, i, key, counter=ANYWHERE):
        return self.text(self.value(i, key, counter))


def read_image(raw):
    """(tables, header dict) of an image in either byte order; raises ValueError."""
    for byteorder, order in (("little", "<"), ("big", ">")):
        if len(raw) >= IMAGE_SIZE and struct.unpack_from(order + "I", raw)[0] == IMAGE_MAGIC:
            break
    else:
        raise ValueError("not an image")
    magic, version, size, n, crc, built, offsets, digest = struct.unpack_from(order + IMAGE_FORMAT, raw)
    if version != IMAGE_VERSION or size != len(raw) or crc != checksum(raw[IMAGE_SIZE:], byteorder):
        raise ValueError("damaged image")
    tables = []
    for at in struct.unpack_from(order + "%dQ" % n, raw, offsets):
        length = struct.unpack_from(order + "II", raw, at)[1]
        tables.append(View(raw[at:at + length], byteorder))
    return tables, {"byteorder": byteorder, "built": built, "digest": digest, "version": version}


def compiler_digest():
    """Changes with the compiler and the key names, so that images are made anew when either does."""
    h = hashlib.sha256()
    here = os.path.dirname(os.path.abspath(__file__))
    parts = [os.path.join(here, name) for name in sorted(os.listdir(here)) if re.fullmatch(r"pm[a-z]+\.py", name)]
    for path in parts + [near("../keys.def", "keys.def")]:
        with open(path, "rb") as f:
            h.update(f.read())
    return h.digest()
