# SPDX-License-Identifier: MIT
"""libpfm4's names for vendors' tables: "EVENT" and "EVENT:MASK" become further names of the row
that has the same registers.

A name of the vendor's own always comes first. Where libpfm4's row needs more than its own bits and
those of default masks (a required modifier, a latency, a mask of another group), or where the
vendor has no row of these registers, no alias is added."""

import functools
import glob
import operator
import os
import re

from libpfm4 import name_tables
from language import tables as pt
from texts import event_texts

KINDS = frozenset(("core", "amd64", "arm", "plain", "ep_unc"))
# libpfm4's names of processors and boxes that differ from ours.
BOXES = (("snb_ep_", "snbep_"), ("ivb_ep_", "ivbep_"), ("hsw_ep_", "hswep_"), ("bdw_ep_", "bdx_"),
         ("imc_dclk", "imc"), ("ubo", "ubox"),
         ("sbox", "sbo"))
# chips of a package whose names are parts of the names of boxes
KUNPENG = 1, 3, 5, 7
CHA_REQUESTS = frozenset((0x35, 0x36))      # events of the CHA whose second filter is never empty
# Effects of a mask beyond adding bits.
BEYOND = frozenset(("ldlat", "excl_grp_but_0", "grp_req"))
GENERAL = (1 << 32) - 1   # of a row's counters
LEVELS = 1 << 27 | 1 << 30 | 1 << 31    # of an Arm word
# tables of scripts/older.py have all names
OWN_SOURCE = "names and numbers of libpfm4, 2026-06"
OTHERS = frozenset(("coreduo",))        # "core" is another processor in libpfm4
# fields outside the configuration that change the count
TELLING = frozenset(("msr", "msr_value"))


# ---- libpfm4's side ------------------------------------------------------------------------------


def list_row_flags(row):
    """Returns the flags of a row of libpfm4."""
    return set(row.keys.get("is", "").split(","))


def has_unit_row(unit, row):
    """True if the PMU has the event or the unit mask."""
    rev, low, high = (name_tables.get_key_number(k, n) for k,
                      n in ((unit.keys, "rev"), (row.keys, "from_rev"), (row.keys, "to_rev")))
    return row.keys.get(
        "only", unit.name) == unit.name and (not low or rev >= low) and (not high or rev <= high)


def get_default_masks(row, every, given):
    """Returns the default unit masks to add to @given, or None if a group has no default."""
    added = []
    limits = [
        name_tables.get_key_number(m.keys, "g") for m in given if "excl_grp_gt" in list_row_flags(m)
    ]
    served = {name_tables.get_key_number(m.keys, "g") for m in given}
    only = {
        name_tables.get_key_number(m.keys, "g") for m in given
        if "excl_grp_but_0" in list_row_flags(m)
    }
    if "grp_excl" in list_row_flags(row) and served:
        return added
    for group in range(name_tables.get_key_number(row.keys, "groups")):
        own = [m for m in every if name_tables.get_key_number(m.keys, "g") == group]
        if group in served or not own or limits and group > min(
                limits) or only and group not in only | {0}:
            continue
        found = [m for m in own if "dfl" in list_row_flags(m)]
        if not found and not any("grp_dfl_none" in list_row_flags(m)
                                 for m in own) and not all("omit" in list_row_flags(m)
                                                           for m in own):
            return None
        added += found
        limits += [group for m in found if "excl_grp_gt" in list_row_flags(m)]
        if "grp_excl" in list_row_flags(row) and found:
            return added[:1]
    return added


def get_config_words(unit, encoder, row, given):
    """Returns both words of the kernel's configuration, or None for a row that needs more than
    bits."""
    every = [m for m in row.masks if has_unit_row(unit, m)]
    added = get_default_masks(row, every, given) if every else []
    if (
        added is None
        or any(BEYOND - {"excl_grp_but_0"} & list_row_flags(m) for m in [row] + given)
        or any(BEYOND - {"ldlat"} & list_row_flags(m) for m in added)
    ):
        return None
    if "frontend" in list_row_flags(row):
        return get_frontend_config(row, given)
    # a box's filters may be separate
    if encoder != "ep_unc" and any(m.keys.get("req") for m in [row] + given + added):
        return None
    if encoder == "ep_unc":
        return get_box_config(unit, row, given + added)
    code, bits = row.code, 0
    for m in given + added:
        if "word1" in m.keys or "word1" in row.keys:
            return None
        code &= ~name_tables.get_key_number(m.keys, "clear")
        bits |= m.code if encoder == "amd64" else m.code >> 8
        if "code_override" in list_row_flags(m):
            code = code & ~0xff | m.code & 0xff
    if encoder == "arm":
        return code & ~LEVELS, 0
    if encoder == "amd64":
        code = code & 0xff | code >> 8 << 32
    return (code, bits) if "offcore" in list_row_flags(row) else (code | bits << 8, 0)


def get_frontend_config(row, given):
    """Returns the configuration of a front-end event: the unit mask is in the second word, with the
    smallest threshold by default."""
    mask = given[0].code >> 8 if len(given) == 1 else 0
    if mask and "fethr" in list_row_flags(given[0]) and not mask >> 8 & 0xFFF:
        mask |= 1 << 8
    return (row.code, mask) if mask else None


def get_box_config(unit, row, masks):
    """Returns the configuration words of a box's event. Unit masks extend above bit 15 and add to
    both halves of the filter, which is the second word."""
    code, filters = row.code, [0, 0]
    for m in masks:
        code |= m.code
        for i, key in enumerate(("f0", "f1")):
            filters[i] |= name_tables.get_key_number(m.keys, key)
    if "cha" in unit.keys.get("is", "").split(",") and code & 0xFF in CHA_REQUESTS:
        filters[1] = filters[1] or 0x3B
        filters[1] &= ~(8 if filters[1] >> 9 & 0xFFFFF else 0)
    return code, filters[0] | filters[1] << 32


def resolve_alias(unit, table, row, mask):
    """Returns the event and the unit masks of a name. Follows an alias one step. None for an alias
    with modifiers."""
    given = [mask] if mask else []
    if mask is None and "equiv" in row.keys:
        name, *rest = row.keys["equiv"].split(":")
        row, given = table.find_row(name), rest
    elif mask and "equiv" in mask.keys:
        given = mask.keys["equiv"].split(":")
    every = {m.name: m for m in row.masks if has_unit_row(unit, m)} if row else {}
    given = [m if type(m) is name_tables.Row else every.get(m) for m in given]
    if row is None or None in given or any("equiv" in m.keys for m in given):
        return None
    return row, given


def list_names(unit, table):
    """Yields (name, words, whether it is a fixed counter) of each event of the PMU, alone and with
    each unit mask."""
    for row in table.rows:
        if not has_unit_row(unit, row):
            continue
        for mask in [None] + [m for m in row.masks if has_unit_row(unit, m)]:
            meant = resolve_alias(unit, table, row, mask)
            found = get_config_words(unit, table.encoder, *meant) if meant else None
            if found:
                fixed = any("fixed" in list_row_flags(m) for m in [meant[0]] + meant[1])
                yield row.name + (":" + mask.name if mask else ""), found, fixed


# ---- the vendor's side ---------------------------------------------------------------------------


def get_config_registers(t, row):
    """Returns both words of a row's configuration; None if it has more."""
    given = {f: v for f, c, v in row.values if c == pt.ANY_COUNTER}
    if row.groups or row.flags & (pt.ROW_METRIC | pt.ROW_SHADOWED) or len(given) < len(row.values):
        return None
    out = [0, 0, 0, 0]
    for at, f in enumerate(t.fields):
        value = given.get(at, f.preset)
        if f.name in TELLING and value and not any(t.fields[i].name == "offcore_rsp"
                                                   for i in given):
            return None
        for word, low, width in f.ranges if f.kind != pt.TEXT else ():
            out[word] |= (value & (1 << width) - 1) << low
            value >>= width
    return None if out[2] or out[3] else tuple(out[:2])


def get_preference(row):
    """Sort key for rows with the same registers: rows on general counters first, then rows that are
    not deprecated, then rows with more counters."""
    return not row.counters & GENERAL, bool(row.flags
                                            & pt.ROW_DEPRECATED), -bin(row.counters).count("1")


def index_by_registers(t):
    """Returns {register values: number of the preferred row} of table @t."""
    rows = {}
    for i in sorted(range(len(t.rows)), key=lambda i: get_preference(t.rows[i])):
        found = get_config_registers(t, t.rows[i])
        if found:
            rows.setdefault(found, i)
    return rows


def find_ambiguous_events(t, table, taken):
    """Returns the events with a unit mask whose name would be parsed as a modifier, such as
    "L1D_PEND_MISS:EDGE"."""
    modifiers = {f.name for f in t.fields} | set("ukheict")
    return {row.name for row in table.rows for m in row.masks
            if m.name.lower() in modifiers and pt.fold(row.name + ":" + m.name) not in taken}


def add_aliases_to_table(t, unit, table):
    """Adds the names that libpfm4's @unit has for rows of table @t."""
    taken = {pt.fold(text) for text, _, _ in t.list_names()}
    rows = index_by_registers(t)

    def add_synonym(name, found, fixed):
        """Adds @name to the row with the register values @found, if it is new."""
        general = found in rows and t.rows[rows[found]].counters & GENERAL
        if found in rows and (general or fixed
                              or t.encoder != "x86") and pt.fold(name) not in taken:
            taken.add(pt.fold(name))
            t.synonyms.append((name, rows[found]))

    every = list(list_names(unit, table))
    for one in every:
        if ":" in one[0]:
            add_synonym(*one)
    doubtful = find_ambiguous_events(t, table, taken)
    for one in every:
        if one[0] not in doubtful:
            add_synonym(*one)
    if "code" in t.field_at:
        add_event_rows(t, unit, table, taken)
    if "precise" in t.field_at:
        set_alias_precision(t)


def set_alias_precision(t):
    """Gives alias rows the precision of the vendor's row with the same registers. Where unit masks
    decide which row that is, the value is "as_encoded": lib/pmu/precision.c finds the row."""
    at = t.field_at["precise"]
    as_encoded = next(w.value for w in t.fields[at].words if w.name == "as_encoded")
    encoded = {i for i, f in enumerate(t.fields) if f.ranges}

    def get_encoding(row):
        """Returns the values of @row that select its event."""
        return frozenset((f, v) for f, c, v in row.values if f in encoded and v)

    precision, precise_codes = {}, set()
    for row in t.rows:
        value = next((v for f, _, v in row.values if f == at), 0)
        precision.setdefault(get_encoding(row), set()).add(value)
        if value:
            precise_codes.update(v for f, _, v in row.values if f == t.field_at["code"])
    for row in t.alias_rows:
        code = next(v for f, _, v in row.values if f == t.field_at["code"])
        if code not in precise_codes:
            continue
        found = precision.get(get_encoding(row), ()) if not row.groups else ()
        value = next(iter(found)) if len(found) == 1 else as_encoded
        if value:
            row.values.append((at, pt.ANY_COUNTER, value))


# ---- events of its own ---------------------------------------------------------------------------

# Bits of word 0 above the event's code, as fields of the vendor's table.
BITS = (("umask", 8, 8), ("edge", 18, 1), ("any", 21, 1), ("inv", 23, 1), ("cmask", 24, 8),
        ("in_tx", 32, 1), ("in_tx_cp", 33, 1))
FRONTEND_MSR = 0x3F7
LATENCY = 3     # unit mask of an event without one


def split_config(t, *words):
    """Splits words into values of the kernel's format fields; None if bits are outside of all
    fields."""
    left, values = list(words), {}
    for f in sorted(t.fields, key=lambda f: f.name not in ("code", "umask")):
        value = at = 0
        for word, lsb, width in f.ranges if f.kind == pt.NUMBER and all(word < len(left) for word,
                                                                        _, _ in f.ranges) else ():
            bits = (1 << width) - 1 << lsb
            value |= (left[word] & bits) >> lsb << at
            left[word] &= ~bits
            at += width
        if value or f.name == "code":
            values[f.name] = value
    return None if any(left) else values


def get_offcore_register(values):
    """Returns the off-core register of an event. Big cores have a code for each of the two
    registers, small cores a unit mask."""
    code = values["code"]
    if code not in (0xB7, 0xBB, 0x2A, 0x2B):
        return 0
    return 0x1A7 if code in (0xBB, 0x2B) or (code, values.get("umask")) == (0xB7, 2) else 0x1A6


def get_field_values(t, encoder, code, config1=0, extra="offcore_rsp"):
    """Returns the values of a row with these words, or None if the table lacks a field."""
    if encoder == "ep_unc":
        return split_config(t, code, config1 if kernel_takes_filter(t) else 0)
    wide = encoder in ("arm", "plain")
    named = {"code": code & (0xF000000FF if encoder == "amd64" else code if wide else 0xFF)}
    if encoder == "amd64":
        named["code"] = code & 0xFF | code >> 24 & 0xF00
    if encoder == "amd64":
        code &= GENERAL     # above are bits of the code
    if not wide:
        named.update((name, code >> lsb & (1 << width) - 1) for name, lsb,
                     width in BITS if code >> lsb & (1 << width) - 1)
    if config1:
        named[extra] = config1
        named.update({} if extra == "ldlat" else
                     {"msr": FRONTEND_MSR if extra == "frontend" else get_offcore_register(named)})
    if any(n not in t.field_at or v >> t.fields[t.field_at[n]].width for n, v in named.items()):
        return None
    return named


def kernel_takes_filter(t):
    """True if the kernel accepts a second word for this box. Otherwise libpfm4's second word has no
    effect."""
    return any(word == 1 for f in t.fields for word, _, _ in f.ranges)


def is_filter_only_mask(t, m):
    """True if a unit mask of a box has filter bits only and the kernel accepts no filter: the mask
    would select nothing."""
    return not m.code and m.keys.keys() & {"f0", "f1"} and "dfl" not in list_row_flags(
        m) and not kernel_takes_filter(t)


def is_plain_mask(m, may=frozenset()):
    """True if the row only adds bits of a unit mask or of the off-core register, and attributes in
    @may."""
    return not (BEYOND | {"code_override"}) & list_row_flags(m) and not m.keys.keys() & (
        {"equiv", "hw", "req", "word1", "clear"} - may)


def make_box_group(t, unit, row, number, masks):
    """Makes a Group of the unit masks of one group of a box's event; None if they are not bits of
    one field. An opcode, which requires a queue, also clears the default match of all opcodes."""
    simple = {}
    if any("grp_req" in list_row_flags(m) for m in masks):
        return None
    for m in masks:
        if "equiv" in m.keys or is_filter_only_mask(t, m):
            continue
        code, filters = get_box_config(unit, name_tables.Row(row.name, 0), [m])
        values = split_config(t, code, filters if kernel_takes_filter(t) else 0)
        if values and not values.pop("code"):
            simple[m.name] = values
    found = {f for values in simple.values() for f in values}
    field = found.pop() if len(found) == 1 else "umask" if not found else None
    preset = [m for m in masks if "dfl" in list_row_flags(m)]
    if not simple or field not in t.field_at or any(m.name not in simple for m in preset):
        return None
    return build_group(t, number, masks, field, {n: v.get(field, 0) for n, v in simple.items()},
                       preset)


def make_group(t, row, encoder, number, masks):
    """Makes a Group of the unit masks of one group; None if its default is not a single mask. A
    default adds its own bits even if its name has the value of other masks."""
    field = "offcore_rsp" if "offcore" in list_row_flags(row) else "umask"
    shift = 0 if encoder == "amd64" else 8
    simple = {m.name: m.code >> shift
              for m in masks if is_plain_mask(m) and (field != "umask" or m.code >> shift <= 0xFF)}
    for m in masks:
        meant = [simple.get(n) for n in m.keys.get("equiv", "").split(":")]
        if "equiv" in m.keys and None not in meant:
            simple[m.name] = functools.reduce(operator.or_, meant)
    preset = [m for m in masks if "dfl" in list_row_flags(m)]
    if not simple or field not in t.field_at or not all(is_plain_mask(m, {"equiv"})
                                                        for m in preset):
        return None
    return build_group(t, number, masks, field, simple, preset, shift)


def has_optional_mask(masks):
    """True if a name may leave out all of @masks."""
    return any("grp_dfl_none" in list_row_flags(m)
               for m in masks) or all("omit" in list_row_flags(m) for m in masks)


def build_group(t, number, masks, field, simple, preset, shift=None):
    """Makes the Group of the unit masks in @simple, whose values are bits of @field. @shift gives
    the added bits of defaults; without it, defaults add their values."""
    plain = [m for m in masks if m.name in simple]
    flags = 0 if all("ncombo" in list_row_flags(m) for m in plain) else pt.GROUP_COMBINABLE
    flags |= pt.GROUP_HAS_DEFAULT if preset else 0 if has_optional_mask(
        masks) else pt.GROUP_REQUIRED
    bits = 0
    for m in preset:
        bits |= simple[m.name] if shift is None else m.code >> shift
    values = [simple[m.name] for m in plain]
    # The first of several names of a value is not used after a colon.
    doubles = ["BITS_%X" % v for v in dict.fromkeys(values) if values.count(v) > 1]
    named = [pt.Word(n, int(n[5:], 16)) for n in doubles] + [pt.Word(m.name, v) for m,
                                                             v in zip(plain, values)]
    group = pt.Group("m%d" % number, flags, t.field_at[field], named, bits)
    group.mask |= bits
    return group


def make_groups(t, unit, row, encoder, every):
    """Returns the groups of an event, or None if they cannot be represented: masks of one group
    only, or a default that is not a mask. Leaves out a group of a box that may stay empty."""
    numbers = sorted({name_tables.get_key_number(m.keys, "g") for m in every})
    if "grp_excl" in list_row_flags(row) and len(numbers) > 1 or "frontend" in list_row_flags(
            row) or len(numbers) > pt.MAX_ROW_GROUPS:
        return None
    masks = {n: [m for m in every if name_tables.get_key_number(m.keys, "g") == n] for n in numbers}
    if encoder == "ep_unc":
        groups = [make_box_group(t, unit, row, n, masks[n]) for n in numbers]
        numbers = [n for n, g in zip(numbers, groups) if g or not has_optional_mask(masks[n])]
        groups = [g for n, g in zip(masks, groups) if n in numbers]
    else:
        groups = [make_group(t, row, encoder, n, masks[n]) for n in numbers]
    if None in groups:
        return None
    limits = [
        name_tables.get_key_number(m.keys, "g") for m in every if "excl_grp_gt" in list_row_flags(m)
    ]
    for n, g in zip(numbers, groups):
        if limits and n > min(limits) and g.flags & pt.GROUP_HAS_DEFAULT:
            g.flags |= pt.GROUP_DEFAULT_YIELDS
    return groups


def resolve_name(unit, table, row, mask):
    """Returns both words of a name, with the modifiers of its alias, and the field of the second
    word; None if it needs more."""
    if mask is not None and "equiv" in mask.keys:       # an alias of an alias: the last but one
        further = next((m for m in row.masks if m.name == mask.keys["equiv"] and "equiv" in m.keys),
                       None)
        mask = further or mask
    short = (mask or row).keys.get("equiv", "").split(":")
    bits = 0
    for word in [w for w in short if re.fullmatch(r"[eit](=1)?|c=\w+", w)]:
        bits |= int(word[2:], 0) << 24 if word[0] == "c" else 1 << {"e": 18, "i": 23,
                                                                    "t": 21}[word[0]]
        short.remove(word)
    if bits:
        alike = name_tables.Row((mask or row).name, 0, {"equiv": ":".join(short)})
        row, mask = (row, alike) if mask else (alike, None)
    if mask is not None and len(short) == 1:
        mask = next((m for m in row.masks if m.name == short[0] and "ldlat" in list_row_flags(m)),
                    mask)
    latency = mask is not None and "ldlat" in list_row_flags(mask)
    if latency:
        mask = name_tables.Row(mask.name, mask.code, {**mask.keys, "is": ""})
    meant = resolve_alias(unit, table, row, mask)
    found = get_config_words(unit, table.encoder, *meant) if meant else None
    extra = "ldlat" if latency else "frontend" if "frontend" in list_row_flags(
        row) else "offcore_rsp"
    return found and (found[0] | bits, LATENCY if latency else found[1], extra)


def find_allowed_counters(t, code):
    """Returns the counters that all of the vendor's rows with this code can use; all counters if
    they have none in common."""
    both = everything = t.get_all_counters() & GENERAL
    at = t.field_at["code"]
    for row in t.rows:
        if row.counters & GENERAL and any(f == at and c == pt.ANY_COUNTER and v == code for f, c,
                                          v in row.values):
            both &= row.counters
    return both or everything


def list_mask_names(row, groups):
    """Returns the compared forms of all names of @row with one mask of @groups."""
    return {pt.fold(row.name + ":" + w.name) for g in groups for w in g.words}


def add_event_rows(t, unit, table, known):
    """Adds rows that only libpfm4 has: events with several unit masks, and names without a vendor's
    row. @known: existing names."""
    def add_row(name, values, row_groups, spelled):
        """Adds a hidden row that only libpfm4's names lead to."""
        t.synonyms += [(s, len(t.rows) + len(t.alias_rows)) for s in spelled]
        known.update(pt.fold(s) for s in spelled)
        row = [(t.field_at[n], pt.ANY_COUNTER, v) for n, v in values.items()]
        text = event_texts.describe_event(t.texts_family, t.unit, name, {"core": t.name})
        t.alias_rows.append(
            pt.Row(name, text, find_allowed_counters(t, values["code"]), row, row_groups,
                   pt.ROW_HIDDEN))

    for row in table.rows:
        # the first of two equal names takes precedence
        if not has_unit_row(unit, row) or pt.fold(row.name + ".") in known:
            continue
        every = [m for m in row.masks if has_unit_row(unit, m)]
        several = every and "equiv" not in row.keys and (table.encoder == "ep_unc"
                                                         or not row.keys.get("req"))
        groups = make_groups(t, unit, row, table.encoder, every) if several else None
        for word in (w.name for g in groups or () for w in g.words):
            if word in ("u", "k", "h"):     # lib/lookup/lookup.h, lookup_is_level_letter()
                raise ValueError("%s: unit mask %s has the name of a level" % (row.name, word))
        combine = groups and (len(groups) > 1 or groups[0].flags & pt.GROUP_COMBINABLE)
        # The vendor's event of that name has its own unit masks.
        by_groups = combine and pt.fold(row.name) not in known
        for m in [None] + every:
            name = row.name + (":" + m.name if m else "")
            if pt.fold(name) in known or by_groups and (m is None
                                                        or any(m.name == w.name for g in groups
                                                               for w in g.words)):
                continue
            found = resolve_name(unit, table, row,
                                 m) if m is None or not is_filter_only_mask(t, m) else None
            values = get_field_values(t, table.encoder, *found) if found else None
            if values is not None:
                add_row(name, values, (), [name])
        if combine:
            code = row.code if table.encoder != "amd64" else row.code & 0xFF | (row.code >> 8
                                                                                & 0xF) << 32
            values = get_field_values(t, table.encoder,
                                      *(get_box_config(unit, row, []) if table.encoder == "ep_unc"
                                        else (code,)))
            if values is not None:
                if "offcore" in list_row_flags(row):
                    values["msr"] = get_offcore_register(values)
                # Without groups, the name of an unknown unit mask would be parsed as a modifier.
                spelled = known | list_mask_names(row, groups)
                alone = (pt.fold(row.name) not in known
                         and row.name not in find_ambiguous_events(t, table, spelled))
                if not any(g.flags & (pt.GROUP_HAS_DEFAULT | pt.GROUP_REQUIRED)
                           for g in groups) and table.encoder == "ep_unc":
                    alone = False       # one of the groups must have a mask
                add_row(row.name, values, groups, [row.name + "."] + ([row.name] if alone else []))


def is_box_name(name):
    """True if libpfm4's PMU @name is a unit outside the cores."""
    return "_unc_" in name or name.startswith("hisi_")


def get_box_base_name(box):
    """Returns the name of a box without its number."""
    return box.rstrip("0123456789")


def add_aliases_to_box(t, units):
    """Adds libpfm4's names of a box, without its number, to its table as aliases."""
    if {t.name, *t.aliases} & units.keys():
        return
    for name in [n for n in t.aliases if is_box_name(n)]:
        for ours, theirs in BOXES:
            name = re.sub(ours + "$" if ours[-1] != "_" else "^" + ours, theirs, name)
            if name in units and name not in t.aliases:
                t.aliases.append(name)
    if t.name.startswith("hip08_hisi_sccl_"):
        t.aliases += ["hisi_sccl%d_%s" % (chip, t.name.split("_")[-1]) for chip in KUNPENG]


def add_aliases(tables, folder):
    """Adds libpfm4's names to the tables of its PMUs. Returns the files that were read."""
    files = sorted(glob.glob(os.path.join(folder, "*.pmu")),
                   key=lambda f: (not f.endswith("pmus.pmu"), f))
    names4 = name_tables.Texts()
    names4.read_files(files)
    units = {u.name: u for u in names4.units}
    # the first one of each kind represents all
    units = {
        **{get_box_base_name(n): u for n, u in reversed(units.items()) if is_box_name(n)}, **units
    }
    for t in tables:
        add_aliases_to_box(t, units)
        unit = next((units[n] for n in [t.name] + t.aliases if n in units), None)
        table = names4.tables[unit.keys["table"]] if unit else None
        if table and table.encoder in KINDS and not {t.name, *t.aliases
                                                     } & OTHERS and t.source != OWN_SOURCE:
            add_aliases_to_table(t, unit, table)
    return files
