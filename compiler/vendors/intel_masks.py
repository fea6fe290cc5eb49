# SPDX-License-Identifier: MIT
"""Unit masks that Intel lists apart from the events they belong to: the parts of OFFCORE_RESPONSE,
the bits of FP_ARITH_INST_RETIRED."""

from collections import namedtuple

from language import tables as pt
from vendors.drafts import Entry, MaskGroup
from vendors.intel_core import OFFCORE_RSP_0, OFFCORE_RSP_1, find_core_of_file
from vendors.untrusted import (
    NUMBER, NUMBERS, RefusedValue, clean_description, convert_to_strings, get_cached_value)
from language.tables import ALL64

# A request or a response: its bits in the register's value, and which of the two registers support
# it.
Part = namedtuple("Part", "name value registers desc")


def rename_clashing(sheet, heads, words):
    """Gives a longer name to a unit mask that would make a text equal to another row's name. Event
    names are matched first and as far as possible, so the unit mask would be unreachable."""
    for w in words:
        if any(pt.fold("%s.%s" % (head, w.name)) in sheet.seen for head in heads):
            w.name += "_MASK"


# ---- off-core responses --------------------------------------------------------------------------

def add_offcore_matrix(reading, items, file):
    """Makes unit masks of requests and responses for OFFCORE_RESPONSE, which represents both
    registers, and for OFFCORE_RESPONSE_0 and _1 where the registers differ."""
    sheet = find_core_of_file(reading, file)
    if "offcore_rsp" not in sheet.at:
        reading.report_refusal("OFFCORE_RESPONSE", "-", "this core has no such register")
        return
    parts = {"request": [], "response": []}

    def add_part(e):
        """Adds a line of the matrix."""
        kind, part = parse_matrix_part(convert_to_strings(e))
        parts[kind].append(part)
    reading.visit_objects(items, add_part)
    # this list numbers response bits from 0
    if any(p.value & 0xFFFF for p in parts["response"]):
        parts["response"] = [p._replace(value=p.value << 16) for p in parts["response"]]
    if not parts["request"] or not parts["response"]:
        if items:
            reading.report_refusal("OFFCORE_RESPONSE", "-", "requests or responses are missing")
        return
    for register in (None, 0, 1):
        groups = []
        for kind in parts:
            words = select_masks_of_register(reading, parts[kind], register)
            if not words:
                break
            groups.append(add_offcore_group(reading, sheet, kind, register, words))
        if len(groups) == 2:
            find_offcore_row(reading, sheet, register, tuple(groups))


def parse_matrix_part(e):
    """Returns the kind of a line of the matrix, and what it declares."""
    request, response = clean_description(e.get("MATRIX_REQUEST", "")), clean_description(
        e.get("MATRIX_RESPONSE", ""))
    value = get_cached_value(NUMBER, e, "MATRIX_VALUE")
    registers = get_cached_value(NUMBERS, e, "MATRIX_REGISTER") if e.get("MATRIX_REGISTER",
                                                                         "").strip() else (0, 1)
    if bool(request) == bool(response):
        raise RefusedValue("MATRIX_REQUEST", "neither a request nor a response alone")
    if request and value > 0xFFFF:
        raise RefusedValue("MATRIX_VALUE", "0x%x does not fit the request bits" % value)
    if any(r not in (0, 1) for r in registers):
        raise RefusedValue("MATRIX_REGISTER", "'%s'" % e["MATRIX_REGISTER"][:20])
    return "request" if request else "response", Part(request or response, value, registers,
                                                      clean_description(e.get("DESCRIPTION", "")))


def select_masks_of_register(reading, parts, register):
    """Unit masks of one register; None: of both registers."""
    words, seen = [], set()
    for p in parts:
        if set(p.registers) != {0, 1} if register is None else register not in p.registers:
            continue
        folded = pt.fold(p.name)
        if p.value > ALL64 or folded in seen:
            reading.report_refusal(p.name, "MATRIX_VALUE", "given twice or too big")
            continue
        seen.add(folded)
        # a dot in a text separates unit masks
        words.append(pt.Word(p.name.replace(".", "_"), p.value, p.desc))
    return words


def get_offcore_name(register):
    """Returns the name of the off-core event of @register."""
    return "OFFCORE_RESPONSE" if register is None else "OFFCORE_RESPONSE_%d" % register


def add_offcore_group(reading, sheet, kind, register, words):
    """Adds the unit masks of one kind. Returns the group's name. Requests precede responses in a
    text."""
    name = get_offcore_name(register)
    heads = [name] if kind == "request" else [
        "%s.%s" % (name, w) for w, _, _ in sheet.groups[-1].words
    ]
    rename_clashing(sheet, heads, words)
    own = pt.fold(name) in sheet.seen      # keep the list's own event without unit masks
    group = kind if register is None else "%s_%d" % (kind, register)
    sheet.groups.append(MaskGroup(group, "offcore_rsp", [(w.name, w.value, w.desc) for w in words],
                                  not own))
    reading.counts["masks"] += len(words)
    return group


def find_offcore_row(reading, sheet, register, groups):
    """Returns the event with these unit masks: the list's own, or a new one."""
    name = get_offcore_name(register)
    row = sheet.seen.get(pt.fold(name))
    if row is None:
        second = (0xB7,
                  2) if reading.processor and reading.processor.cores.get("",
                                                                          (False, ))[0] else (0xBB,
                                                                                              1)
        encodings = [(0xB7, 1, OFFCORE_RSP_0), (*second, OFFCORE_RSP_1)]
        if register is not None:
            encodings = encodings[register:register + 1]
        code, umask, msr = encodings[0]
        values = [("code", code), ("umask", umask), ("msr", msr)]
        values += [("alt", "0x%x:0x%x:0x%x" % encoding) for encoding in encodings[1:]]
        row = Entry(name, "Off-core responses, composed of requests and responses.", None, values,
                    0, reading.file)
        sheet.add_row(row)
    if not row.groups and not row.has_value("offcore_rsp") and ":" not in str(
            row.get_value("msr") or ""):
        row.groups = groups
        # The list's own event names no register; a zero selects the register of the groups.
        row.values = row.values + [("offcore_rsp", 0)]


# ---- floating-point operations -------------------------------------------------------------------

def add_fp_arith_masks(reading, items, file):
    """Returns the unit-mask bits of FP_ARITH_INST_RETIRED and the operations of each."""
    sheet = find_core_of_file(reading, file)
    words, bits = [], {}

    def add_mask(e):
        """Adds a unit mask of the list."""
        e = convert_to_strings(e)
        name, bit = clean_description(e.get("BitName", "")), get_cached_value(NUMBER, e, "BitIndex")
        operations = get_cached_value(NUMBER, e, "FlopsMultiplier")
        folded = pt.fold(name)
        if not name:
            raise RefusedValue("BitName", "missing")
        if bit > 7:
            raise RefusedValue("BitIndex", "%d: the unit mask has 8 bits" % bit)
        before = bits.setdefault(folded, bit)
        if before != bit:
            raise RefusedValue("BitName", "'%s' is two bits" % name)
        if all(pt.fold(w.name) != folded for w in words):       # some lists have all rows twice
            desc = "%d operations. %s" % (operations, clean_description(e.get("Description", "")))
            words.append(pt.Word(name, 1 << bit, desc))
    reading.visit_objects(items, add_mask)
    if not words:
        return
    rename_clashing(sheet, ["FP_ARITH_INST_RETIRED"], words)
    sheet.groups.append(MaskGroup("fp_arith", "umask", [(w.name, w.value, w.desc) for w in words],
                                  True))
    reading.counts["masks"] += len(words)
    row = sheet.seen.get(b"fparithinstretired")
    if row is None:
        row = Entry("FP_ARITH_INST_RETIRED",
                    "Floating-point instructions retired, by the kinds chosen.", None,
                    [("code", 0xC7)], 0, reading.file)
        sheet.add_row(row)
    if len(row.groups) < pt.MAX_ROW_GROUPS:
        row.groups += ("fp_arith",)
