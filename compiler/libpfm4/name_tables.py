#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libpfm4's names: one text file per table, and the compiled form that libpfm.so.4 reads.

    name_tables.py --c OUT.c --blob OUT.bin [--byteorder little] FILE...    compile

libpfm4/name_importer.py writes those files from a list of names. The language is described in
lib/events/libpfm4/README.md, the compiled form in lib/compat/libpfm4/image.h."""

import argparse
import fnmatch
import functools
import os
import re
import struct
import sys
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOP)
from texts import event_texts  # noqa: E402

ENCODERS = ["core", "nhm_unc", "ep_unc", "amd64", "arm", "plain", "sparc", "mips", "netburst",
            "perf", "perf_raw", "torrent", "arch"]
# Modifiers by bit number. Where a name exists with several ranges, the width in bits or the highest
# value is added here.
CORE = "k u e i c t ldlat intx intxcp fe_thres".split()
EP = (
    "e i t8 t5 tf1 cf4 nf8 ff addr nf16 isoc nc cf6 tf3 cf64 loc rem lmem rmem dnid rcsnid t6 occ_i"
    " occ_e"
).split()
MODS = {"core": CORE, "arch": CORE, "nhm_unc": "e i c o".split(), "ep_unc": EP,
        "amd64": "k u e i c h g".split(), "arm": "k u hv".split(),
        "plain": "k u hv".split(), "sparc": "k u h".split(), "mips": "k u s e".split(),
        "netburst": "u k cmpl e thr".split()}
INTEL_FLAGS = (
    "ncombo fallback pebs dfl grp_excl offcore excl_grp_gt fixed no_auto code_override ldlat"
    " grp_dfl_none frontend fethr excl_grp_but_0 grp_req filt_umask force_filt0 spec deprecated"
    " duplicate no_mods"
).split()
AMD_FLAGS = "ncombo ibs_fetch ibs_op dfl omit".split()
PMU_FLAGS = {4: "raw", 8: "default", 0x10: "no_sampling", 0x20: "speculation", 0x40: "deprecated",
             0x80: "machines"}
PMU_OWN = {"core": {0x10000: "edge", 0x20000: "pebs_all"},
           "ep_unc": {0x10000: "occupancy", 0x20000: "cbo", 0x40000: "cha"}}
PMU_OWN["arch"] = PMU_OWN["core"]
TYPES = ["unknown", "core", "uncore", "os"]
LEVELS = {1: "k", 8: "u", 16: "h"}
HOSTS = ["none", "intel", "amd", "arm", "power", "cpuinfo", "sysfs", "any", "arch"]
FAMILIES = {"amd64": "amd", "arm": "arm", "core": "intel", "arch": "intel", "ep_unc": "intel",
            "nhm_unc": "intel", "netburst": "intel"}
# Descriptions of kernel events that perf_event.h does not name, and of unit masks of its cache
# events.
KERNEL = {"read": "Reads.", "write": "Writes.", "prefetch": "Prefetches.", "access": "All of them.",
          "miss": "Those that missed.",
          "r0000": "Any number of a raw event: r and hexadecimal digits.",
          "slots": "Slots in which an operation could have been issued.",
          "topdown-retiring": "Slots of operations that retired.",
          "topdown-bad-spec": "Slots lost to wrong speculation.",
          "topdown-fe-bound": "Slots the front end left empty.",
          "topdown-be-bound": "Slots the back end could not take."}
CACHES = {"l1d": "the L1 data cache", "l1i": "the L1 instruction cache",
          "ll": "the last-level cache", "dtlb": "the data TLB",
          "itlb": "the instruction TLB",
          "bpu": "the branch predictor", "node": "the memory of a node"}
# unit mask flag: bits that its filters set in word 1 and clear in word 0 (in corrections only)
WORDS = 1 << 31


class TextError(Exception):
    """An error in a text, with its position."""


# ---- the text ------------------------------------------------------------------------------------


class Row:
    """An event or a unit mask: its name, its code and the other words of its line."""

    def __init__(self, name, code, keys=None):
        """Begins a row or a mask without masks of its own."""
        self.name = name
        self.code = code
        self.keys = keys or {}
        self.masks = []
        self.exact = None   # libpfm4's row before correction

    def make_key(self):
        """Returns a value that equal rows share."""
        return self.name, self.code, tuple(sorted(self.keys.items())), tuple(m.make_key()
                                                                             for m in self.masks)

    def copy(self):
        """Returns a copy with masks of its own."""
        new = Row(self.name, self.code, dict(self.keys))
        new.masks = [m.copy() for m in self.masks]
        return new


class Table:
    """The rows of one table and the encoder that reads them."""

    def __init__(self, name, encoder):
        """Begins an empty table."""
        self.name = name
        self.encoder = encoder
        self.rows = []
        self.default = {}
        self.lists = 0   # number of machine lists in the table

    def find_row(self, name):
        """Returns the row called @name, or None."""
        return next((r for r in self.rows if r.name == name), None)


class Unit:
    """A PMU with a name and a number; its events are in a table that PMUs may share."""

    def __init__(self, name, keys):
        """Keeps the keys of the PMU @name."""
        self.name = name
        self.keys = keys


class Texts:
    """All files of libpfm4's names, parsed."""

    def __init__(self):
        """Begins without units, tables and corrections."""
        self.units = []
        self.tables = {}
        self.corrections = []

    def read_files(self, paths):
        """Reads all statements of the files @paths; corrections apply at the end."""
        lines = [(path, n, line.split("#")[0].split()) for path in paths for n,
                 line in enumerate(open(path, encoding="utf-8"), 1)]
        table = None
        pending = []
        for path, n, words in lines:
            if not words:
                continue
            try:
                if words[0] == "table":
                    table = self.tables[words[1]] = Table(words[1], words[2])
                    table.default = parse_keys(words[3:])
                elif words[0] == "pmu":
                    self.units += parse_units(words[1], parse_keys(words[2:]))
                elif words[0] == "correct":
                    self.corrections.append((words[1].split(","), words[2], parse_keys(words[3:])))
                elif words[0] == "event":
                    table.rows.append(parse_event(table, words, pending))
                elif words[0] == "list":
                    read_machine_list(table,
                                      os.path.join(os.path.dirname(path),
                                                   "../s390/cf_%s.pmu" % words[1]),
                                      int(words[3], 0) if words[3:]
                                      else 1 << 16)
                elif words[0] == "mask":
                    table.rows[-1].masks.append(Row(words[1], int(words[2], 0),
                                                    parse_keys(words[3:])))
                else:
                    raise TextError(
                        "\"%s\" begins no line here; known are table, pmu, event, list, mask and"
                        " correct"
                        % words[0]
                    )
            except (IndexError, ValueError, AttributeError, KeyError) as why:
                raise TextError("%s:%d: cannot read \"%s\" (%s)"
                                % (path, n, " ".join(words), why)) from why
            except TextError as why:
                raise TextError("%s:%d: %s" % (path, n, why)) from why
        for table, row in pending:
            self.copy_shared_row(table, row)
        for names, target, keys in self.corrections:
            for name in names:
                self.apply_correction(name, target, keys)

    def copy_shared_row(self, table, row):
        """Fills a row that refers to another row, which may refer to a third one."""
        source = row.keys.pop("from", None)
        if source is not None:
            other = self.find_shared_row(source, row.name, table)
            row.code, row.keys = other.code, dict(other.keys)
            row.masks = [m.copy() for m in other.masks]
        where, _, event = row.keys.pop("masks", "").rpartition(":")
        if event:
            row.masks = [m.copy() for m in self.find_shared_row(where or table.name, event,
                                                                table).masks]

    def find_shared_row(self, where, name, table):
        """Returns the row @name of the table @where, whose masks are complete."""
        other = self.tables[where].find_row(name) if where in self.tables else None
        if other is None:
            raise TextError("table %s: event %s is missing in table %s"
                            % (table.name, name, where))
        self.copy_shared_row(self.tables[where], other)
        return other

    def apply_correction(self, name, target, keys):
        """Applies the keys of a correction to the rows or masks that @target matches."""
        event, _, mask = target.partition(":")
        found = [(row, at) for row in self.tables[name].rows if fnmatch.fnmatchcase(row.name, event)
                 for at in ([m for m in row.masks if fnmatch.fnmatchcase(m.name, mask)] if mask
                            else [row])]
        if not found:
            raise TextError("correction: table %s has no %s" % (name, target))
        for row, at in found:
            self.correct_row(row, at, keys)

    def correct_row(self, row, at, keys):
        """Corrects @at, a mask of @row or @row itself; the row as libpfm4 has it is kept."""
        if row.exact is None:
            row.exact = row.copy()
        keys = dict(keys)
        if "on" in keys:   # sister models share a table: each gets a bit of its own
            others = at.copy()
            others.keys["only"], keys["only"] = keys.pop("rest"), keys.pop("on")
            row.masks.insert(row.masks.index(at) + 1, others)
        if "code" in keys:
            at.code = int(keys.pop("code"), 0)
        at.keys.update(keys)


def parse_keys(words):
    """Parses words of the form key=value; a word alone has the value ""."""
    keys = {}
    for word in words:
        key, eq, value = word.partition("=")
        keys[key] = value if eq else ""
    return keys


def parse_units(name, keys):
    """Expands ranges: "icx_unc_cha{0..39} id=330 perf=uncore_cha_{}" declares forty PMUs."""
    m = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}(.*)", name)
    if not m:
        return [Unit(name, keys)]
    out = []
    for i in range(int(m[2]), int(m[3]) + 1):
        own = dict(keys, id=str(int(keys["id"]) + i - int(m[2])))
        for key in ("perf", "desc"):
            own[key] = own.get(key, "").replace("{}", str(i))
        out.append(Unit(m[1] + str(i) + m[4], own))
    return out


def parse_event(table, words, pending):
    """Reads an event. Rows that refer to others are added to @pending."""
    row = Row(words[1], 0)
    rest = words[2:]
    if rest and "=" not in rest[0]:
        row.code = int(rest.pop(0), 0)
    row.keys = parse_keys(rest)
    if "from" in row.keys or "masks" in row.keys:
        pending.append((table, row))
    if "from" not in row.keys:
        for key, value in table.default.items():
            row.keys.setdefault(key, value)
    return row


def read_machine_list(table, path, end):
    """Reads the list of an IBM Z machine. Each list has one bit, which is set in the type of its
    rows. Rows stay sorted by code."""
    bit = 1 << table.lists
    table.lists += 1
    with open(path, encoding="utf-8") as f:
        own = f.read().split("\npmu ")[1]   # the counters of the core; other units follow
    at = {(r.name, r.code): r for r in table.rows}
    for name, code in re.findall(r"^event (\S+) code=(\S+)", own, re.M):
        if int(code, 0) < end:
            row = at.setdefault((name, int(code, 0)), Row(name, int(code, 0), {"type": "0"}))
            row.keys["type"] = str(int(row.keys["type"]) | bit)
    table.rows = sorted(at.values(), key=lambda r: r.code)


# ---- the compiled form ---------------------------------------------------------------------------


class StringPool:
    """Strings of the image, each once, terminated by NUL."""

    def __init__(self):
        """Begins with the empty string at offset 0."""
        self.data = bytearray(b"\0")
        self.at = {"": 0}

    def add_text(self, text):
        """Returns the offset of @text, which is added at first use."""
        if text not in self.at:
            self.at[text] = len(self.data)
            self.data += text.encode("ascii") + b"\0"
        return self.at[text]


def hash_name(name):
    """Hashes a name in lower case, eight letters at a time, as l4_hash_name() in
    lib/compat/libpfm4/names.c does."""
    text = name.encode("ascii")
    h = len(text)
    for at in range(0, len(text) + 1, 8):   # the last piece is short, or empty
        h = (h ^ (int.from_bytes(text[at:at + 8], "little")
                  | 0x2020202020202020)) * 0x9e3779b97f4a7c15 & 0xffffffffffffffff
        h ^= h >> 32
    return h & 0xffffffff


def build_index(names):
    """Builds an open-addressed index at most two thirds full: a slot has the number plus one. The
    first of equal names is stored."""
    size = 4
    while size * 2 < len(names) * 3:
        size *= 2
    slots = [0] * size
    for n, name in enumerate(names):
        at = hash_name(name) & size - 1
        while slots[at]:
            at = at + 1 & size - 1
        slots[at] = n + 1
    return slots


def parse_bits(names, text):
    """Returns the bits that a comma-separated list of @names sets."""
    value = 0
    for word in text.split(",") if text else []:
        if word not in names:
            raise TextError("expected one of %s, got \"%s\"" % (", ".join(names), word))
        value |= 1 << names.index(word)
    return value


def get_key_number(keys, key):
    """Returns the number of @key, 0 if it is missing."""
    return int(keys.get(key, "0"), 0)


@functools.lru_cache(None)
def read_kernel_texts():
    """Returns {name in lower case: description} from the tables of the kernel's own events."""
    said = dict(KERNEL)
    said.update(("perf_count_hw_cache_" + c, "Accesses to %s." % text) for c,
                text in CACHES.items())
    for table in ("hardware", "software", "hw_cache"):
        with open(os.path.join(TOP, "..", "lib", "events", table + ".pmu"), encoding="ascii") as f:
            for name, rest, text in re.findall(r'^event +(\S+)([^"\n]*)"([^"]*)"', f.read(), re.M):
                every = [name] + re.findall(r"alias=(\S+)", rest)
                said.update((n.lower(), text) for n in ",".join(every).split(","))
    return said


class Compiler:
    """Makes the image of all tables: arrays of fixed-width elements."""

    def __init__(self, texts, order):
        """Begins an empty image with the byte order @order of struct."""
        self.texts = texts
        self.order = order
        self.pool = StringPool()
        self.ids = {u.name: int(u.keys["id"]) for u in texts.units}
        self.rows, self.row_at = [], {}
        self.masks, self.list_at = [], {}
        self.filters, self.filter_at = [(0, 0)], {(0, 0): 0}
        self.numbers = []   # row numbers of the tables
        self.slots = []     # 16 bits each: indices of all tables
        self.family, self.box = None, ""   # current table, for its texts
        self.models = [0]   # numbers of host matches

    def pack_values(self, form, *values):
        """Packs values in the byte order of the image."""
        return struct.pack(self.order + form, *values)

    def describe_event(self, name):
        """Returns the offset of our description of an event. @name has a dot before the unit
        mask."""
        if self.family is None:
            return self.pool.add_text(read_kernel_texts()[name.rpartition(".")[2].lower()])
        return self.pool.add_text(event_texts.describe_event(self.family, self.box, name))

    def compile_mask(self, m, encoder, event):
        """Packs a struct l4_mask."""
        keys = m.keys
        flags = parse_bits(AMD_FLAGS if encoder == "amd64" else INTEL_FLAGS,
                           keys.get("is", "")) | get_key_number(keys, "t") << 28
        if encoder == "amd64":
            flags |= get_key_number(keys, "from_rev") << 8 | get_key_number(keys, "to_rev") << 16
        if "word1" in keys or "clear" in keys:
            flags |= WORDS
        filters = get_key_number(keys, "word1") or get_key_number(keys, "f0"), get_key_number(
            keys, "clear") or get_key_number(keys, "f1")
        if filters not in self.filter_at:
            self.filter_at[filters] = len(self.filters)
            self.filters.append(filters)
        mods = MODS.get(encoder, [])
        return self.pack_values("Q6I3H2B", m.code, self.pool.add_text(m.name),
                                self.pool.add_text(keys.get("equiv", "")), flags,
                                parse_bits(mods, keys.get("req", "")),
                                hash_name(m.name), self.describe_event(event + "." + m.name),
                                self.ids[keys["only"]] if "only" in keys else 0,
                                self.filter_at[filters], parse_bits(mods, keys.get("hw", "")),
                                get_key_number(keys, "g"), get_key_number(keys, "needs"))

    def compile_masks(self, row, encoder):
        """Returns the number of the first mask of @row; equal lists are stored once."""
        data = tuple(self.compile_mask(m, encoder, row.name) for m in row.masks)
        if not data:
            return 0
        if data not in self.list_at:
            self.list_at[data] = len(self.masks)
            self.masks += data
        return self.list_at[data]

    def compile_row(self, r, encoder):
        """Returns the number of the row; equal rows are stored once."""
        keys = r.keys
        flags = parse_bits(AMD_FLAGS if encoder == "amd64" else INTEL_FLAGS, keys.get("is", ""))
        if encoder == "amd64":
            flags |= get_key_number(keys, "from_rev") << 8 | get_key_number(keys, "to_rev") << 16
        mods = MODS.get(encoder, [])
        exact = 0 if r.exact is None else self.compile_row(r.exact, encoder)
        data = self.pack_values("Q8I2H4B", r.code, self.pool.add_text(r.name),
                                self.pool.add_text(keys.get("equiv", "")),
                                self.compile_masks(r, encoder), flags,
                                parse_bits(mods, keys.get("mods", "")),
                                parse_bits(mods, keys.get("req", "")), exact,
                                self.describe_event(r.name), len(r.masks),
                                self.ids[keys["only"]] if "only" in keys else 0,
                                get_key_number(keys, "groups"), self.find_traits(r, encoder),
                                get_key_number(keys, "pic"), get_key_number(keys, "type"))
        if data not in self.row_at:
            self.row_at[data] = len(self.rows)
            self.rows.append(data)
        return self.row_at[data]

    @staticmethod
    def find_traits(r, encoder):
        """Returns a bit set. 1: some unit masks exist on some models only; 2: a unit mask is
        PEBS."""
        every = [m.keys for m in r.masks]
        own = any("only" in k or "from_rev" in k or "to_rev" in k for k in every)
        pebs = encoder in ("core", "arch") and any("pebs" in k.get("is", "").split(",")
                                                   for k in every)
        return own | pebs << 1

    def compile_table(self, t):
        """Packs a struct l4_table and adds its rows and index of names."""
        first = len(self.numbers)
        self.family = FAMILIES.get(t.encoder,
                                   "power" if t.name.startswith(("power", "ppc")) else "other")
        if t.encoder in ("perf", "perf_raw"):
            self.family = None
        self.box = re.sub(r"\d*$", "", t.name.split("_unc_")[1]) if "_unc_" in t.name else ""
        self.numbers += [self.compile_row(r, t.encoder) for r in t.rows]
        slots = build_index([r.name for r in t.rows])
        at = len(self.slots)
        self.slots += slots
        return self.pack_values("5I", first, len(t.rows), at,
                                len(slots) - 1, ENCODERS.index(t.encoder))

    def is_on_unit(self, unit, row):
        """True if the PMU has the event. Sister models share tables."""
        rev, low, high = get_key_number(unit.keys, "rev"), get_key_number(
            row.keys, "from_rev"), get_key_number(row.keys, "to_rev")
        return row.keys.get("only",
                            unit.name) == unit.name and (not low or rev >= low) and (not high
                                                                                     or rev <= high)

    def compile_unit(self, u, tables):
        """Packs a struct l4_pmu."""
        k = u.keys
        t = self.texts.tables[k["table"]]
        own = PMU_OWN.get(t.encoder, {})
        names = {v: b for b, v in list(PMU_FLAGS.items()) + list(own.items())}
        flags = sum(names[w] for w in k["is"].split(",")) if k.get("is") else 0
        kind, _, values = k.get("host", "none").partition(":")
        words = []
        if kind == "amd":
            words = [self.ids[w] for w in values.split(",")]
        elif kind in ("intel", "arm", "power"):
            words = [int(w, 10 if kind == "intel" else 16) for w in re.split("[,:]", values)]
        text = values if kind in ("cpuinfo", "sysfs") else ""
        at = len(self.models)
        self.models += words
        valid = [self.is_on_unit(u, r) for r in t.rows]
        levels = sum(b for b, w in LEVELS.items() if w in k.get("levels", ""))
        counted = sum(valid) if "counted" in k else len(t.rows)
        return self.pack_values("6I6H8B", self.pool.add_text(u.name),
                                self.pool.add_text(k.get("perf", "")), flags, at,
                                self.pool.add_text(text),
                                self.pool.add_text(k.get("desc", "").replace("_", " ")),
                                self.ids[u.name], tables.index(k["table"]), counted,
                                valid.index(True) if True in valid else 0, len(words),
                                get_key_number(k, "rev"), TYPES.index(k["type"]),
                                get_key_number(k, "counters"), get_key_number(k, "fixed"), levels,
                                get_key_number(k, "words"), HOSTS.index(kind), "sysfs" in k, 0)

    def build_image(self):
        """Returns the bytes of the image."""
        names = list(self.texts.tables)
        self.masks.append(bytes(len(self.pack_values("Q6I3H2B", *[0] * 12))))   # number 0 is unused
        self.rows.append(bytes(len(self.pack_values("Q8I2H4B", *[0] * 15))))
        tables = [self.compile_table(self.texts.tables[n]) for n in names]
        units = [self.compile_unit(u, names) for u in self.texts.units]
        by_id = [0] * 700
        for n, u in enumerate(self.texts.units):
            by_id[self.ids[u.name]] = n + 1
        filters = b"".join(self.pack_values("QQ", *f) for f in self.filters)
        halves = lambda values: b"".join(self.pack_values("H", v) for v in values)
        words = lambda values: b"".join(self.pack_values("I", v) for v in values)
        unit_slots = build_index([u.name for u in self.texts.units])
        parts = [("rows", b"".join(self.rows), len(self.rows)),
                 ("masks", b"".join(self.masks), len(self.masks)),
                 ("filters", filters, len(self.filters)), ("units", b"".join(units), len(units)),
                 ("tables", b"".join(tables), len(tables)),
                 ("numbers", halves(self.numbers), len(self.numbers)),
                 ("models", words(self.models), len(self.models)),
                 ("slots", halves(self.slots), len(self.slots)),
                 ("unit_slots", halves(unit_slots), len(unit_slots)),
                 ("by_id", halves(by_id), len(by_id)),
                 ("strings", bytes(self.pool.data), len(self.pool.data))]
        head = 8 + 8 * len(parts)
        out, body = b"", b""
        for _, data, n in parts:
            body += bytes(-(head + len(body)) % 8)
            out += self.pack_values("II", head + len(body), n)
            body += data
        return b"PFM4\0\0\0\1" + out + body


C_TEXT = """/* SPDX-License-Identifier: MIT */
/* Made by compiler/libpfm4/name_tables.py out of lib/events/libpfm4: %d bytes, checksum %08x. */
__asm__(".section .rodata\\n"
        ".balign 64\\n"
        ".globl l4_image\\n"
        ".hidden l4_image\\n"
        "l4_image:\\n"
        ".incbin \\"%s\\"\\n"
        ".previous");
_Static_assert(sizeof(int) == 4, "the image holds fixed-width numbers");
"""


def compile_files(args):
    """Writes the image of the files, and the C file that embeds it."""
    texts = Texts()
    texts.read_files(sorted(args.files, key=lambda f: (not f.endswith("pmus.pmu"), f)))
    data = Compiler(texts, ">" if args.byteorder == "big" else "<").build_image()
    with open(args.blob, "wb") as f:
        f.write(data)
    with open(args.c, "w", encoding="ascii") as f:
        f.write(C_TEXT % (len(data), zlib.crc32(data), os.path.abspath(args.blob)))


def main():
    """Runs the command. An error of a text is printed and ends it."""
    parser = argparse.ArgumentParser(description="Compile libpfm4's names.")
    parser.add_argument("--c", required=True)
    parser.add_argument("--blob", required=True)
    parser.add_argument("--byteorder", choices=["little", "big"], default=sys.byteorder)
    parser.add_argument("files", nargs="+")
    try:
        compile_files(parser.parse_args())
    except TextError as why:
        print("libpfm4: %s" % why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
