# SPDX-License-Identifier: MIT
"""libpfm4's names for vendors' tables: "EVENT" and "EVENT:MASK" become further names of the row that has the same registers.

A name of the vendor's own always comes first. Where libpfm4's row needs more than its own bits and those of default masks (a required
modifier, a latency, a mask of another group), or where the vendor has no row of these registers, no name is lent."""

import glob
import os

import libpfm4
import pmtable as pt

KINDS = frozenset(("core", "amd64", "arm", "plain"))
# What a mask does beyond adding bits.
BEYOND = frozenset(("ldlat", "fethr", "frontend", "excl_grp_but_0", "grp_req", "no_mods"))
GENERAL = (1 << 32) - 1   # of a row's counters
LEVELS = 1 << 27 | 1 << 30 | 1 << 31    # of an Arm word
OTHERS = frozenset(("coreduo",))        # "core" is another processor in libpfm4
TELLING = frozenset(("msr", "msr_value"))   # fields beside the configuration that change what is counted


# ---- libpfm4's side --------------------------------------------------------------------------------------------------


def flags_of(row):
    return set(row.keys.get("is", "").split(","))


def is_in(unit, row):
    """True if the PMU has the event or the mask."""
    rev, low, high = (libpfm4.number(k, n) for k, n in ((unit.keys, "rev"), (row.keys, "from_rev"), (row.keys, "to_rev")))
    return row.keys.get("only", unit.name) == unit.name and (not low or rev >= low) and (not high or rev <= high)


def defaults(row, every, given):
    """The masks that are added to @given, group by group; None if a group must be chosen."""
    added = []
    limits = [libpfm4.number(m.keys, "g") for m in given if "excl_grp_gt" in flags_of(m)]
    served = {libpfm4.number(m.keys, "g") for m in given}
    if "grp_excl" in flags_of(row) and served:
        return added
    for group in range(libpfm4.number(row.keys, "groups")):
        own = [m for m in every if libpfm4.number(m.keys, "g") == group]
        if group in served or not own or limits and group > min(limits):
            continue
        found = [m for m in own if "dfl" in flags_of(m)]
        if not found and not any("grp_dfl_none" in flags_of(m) for m in own) and not all("omit" in flags_of(m) for m in own):
            return None
        added += found
        limits += [group for m in found if "excl_grp_gt" in flags_of(m)]
        if "grp_excl" in flags_of(row) and found:
            return added[:1]
    return added


def words(unit, encoder, row, given):
    """Both words of the kernel's configuration, or None where it takes more than bits."""
    every = [m for m in row.masks if is_in(unit, m)]
    added = defaults(row, every, given) if every else []
    if added is None or "frontend" in flags_of(row) or any(m.keys.get("req") or BEYOND & flags_of(m) for m in [row] + given + added):
        return None
    code, bits = row.code, 0
    for m in given + added:
        if "word1" in m.keys or "word1" in row.keys:
            return None
        code &= ~libpfm4.number(m.keys, "clear")
        bits |= m.code if encoder == "amd64" else m.code >> 8
        if "code_override" in flags_of(m):
            code = code & ~0xff | m.code & 0xff
    if encoder == "arm":
        return code & ~LEVELS, 0
    if encoder == "amd64":
        code = code & 0xff | code >> 8 << 32
    return (code, bits) if "offcore" in flags_of(row) else (code | bits << 8, 0)


def target(unit, table, row, mask):
    """The event and the masks that a name means: an alias is followed one step. None if it brings modifiers."""
    given = [mask] if mask else []
    if mask is None and "equiv" in row.keys:
        name, *rest = row.keys["equiv"].split(":")
        row, given = table.find(name), rest
    elif mask and "equiv" in mask.keys:
        given = mask.keys["equiv"].split(":")
    every = {m.name: m for m in row.masks if is_in(unit, m)} if row else {}
    given = [m if type(m) is libpfm4.Row else every.get(m) for m in given]
    if row is None or None in given or any("equiv" in m.keys for m in given):
        return None
    return row, given


def names(unit, table):
    """(name, words, whether a fixed counter is meant) of each event of the PMU, and of each with one mask."""
    for row in table.rows:
        if not is_in(unit, row):
            continue
        for mask in [None] + [m for m in row.masks if is_in(unit, m)]:
            meant = target(unit, table, row, mask)
            found = words(unit, table.encoder, *meant) if meant else None
            if found:
                fixed = any("fixed" in flags_of(m) for m in [meant[0]] + meant[1])
                yield row.name + (":" + mask.name if mask else ""), found, fixed


# ---- the vendor's side -----------------------------------------------------------------------------------------------


def registers(t, row):
    """Both words of a row's configuration; None if it has more than those."""
    given = {f: v for f, c, v in row.values if c == pt.ANYWHERE}
    if row.takes or row.flags & (pt.ROW_METRIC | pt.ROW_SHADOWED) or len(given) < len(row.values):
        return None
    out = [0, 0, 0, 0]
    for at, f in enumerate(t.fields):
        value = given.get(at, f.preset)
        if f.name in TELLING and value and not any(t.fields[i].name == "offcore_rsp" for i in given):
            return None
        for word, low, width in f.ranges if f.kind != pt.TEXT else ():
            out[word] |= (value & (1 << width) - 1) << low
            value >>= width
    return None if out[2] or out[3] else tuple(out[:2])


def rank(row):
    """Rows of the same registers: those on general counters, on most of them, not given up, in order."""
    return not row.counters & GENERAL, bool(row.flags & pt.ROW_DEPRECATED), -bin(row.counters).count("1")


def by_registers(t):
    rows = {}
    for i in sorted(range(len(t.rows)), key=lambda i: rank(t.rows[i])):
        found = registers(t, t.rows[i])
        if found:
            rows.setdefault(found, i)
    return rows


def ambiguous(t, table, taken):
    """Events that would take the name of a mask of theirs, which is not known here, for a modifier: "L1D_PEND_MISS:EDGE"."""
    modifiers = {f.name for f in t.fields} | set("ukheict")
    return {row.name for row in table.rows for m in row.masks
            if m.name.lower() in modifiers and pt.fold(row.name + ":" + m.name) not in taken}


def lend_table(t, unit, table):
    taken = {pt.fold(text) for text, _, _ in t.entries()}
    rows = by_registers(t)

    def take(name, found, fixed):
        general = found in rows and t.rows[rows[found]].counters & GENERAL
        if found in rows and (general or fixed or t.encoder != "x86") and pt.fold(name) not in taken:
            taken.add(pt.fold(name))
            t.synonyms.append((name, rows[found]))

    every = list(names(unit, table))
    for one in every:
        if ":" in one[0]:
            take(*one)
    doubtful = ambiguous(t, table, taken)
    for one in every:
        if one[0] not in doubtful:
            take(*one)


def lend(tables, folder):
    """Adds libpfm4's names to the tables that answer to the name of one of its PMUs. Returns the files that were read."""
    files = sorted(glob.glob(os.path.join(folder, "*.pmu")), key=lambda f: (not f.endswith("pmus.pmu"), f))
    texts = libpfm4.Texts()
    texts.read(files)
    units = {u.name: u for u in texts.units}
    for t in tables:
        unit = next((units[n] for n in [t.name] + t.aka if n in units), None)
        table = texts.tables[unit.keys["table"]] if unit else None
        if table and table.encoder in KINDS and t.name not in OTHERS:
            lend_table(t, unit, table)
    return files
