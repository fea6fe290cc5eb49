# SPDX-License-Identifier: MIT
"""Several lists of one core become one table: rows are united by number and name.

The first list of a core is its maker's and decides. A row of another list that has a new number
comes with the name of its list as its source. A new name of a known number becomes another name of
the row, unless it is made of a title. A name that two lists give different numbers is a remark:
the first list's number stays."""

from collections import Counter

from language import tables as pt
from vendors.drafts import Entry

GENERAL = 0x7FFFFFFF
CYCLES = 0x11


def find_general_counters(rows):
    """The counters of most events but those for cycles, which may have one of their own."""
    found = Counter(row.counters for row in rows if row.counters)
    return max(found, key=found.get) & GENERAL if found else 0


def unite_lists(reading, other):
    """Adds the rows and hosts of the core of @other, a ModelReading, to the core of @reading."""
    target = reading.builders.get(reading.cores.get(""))
    source = other.builders.get(other.cores.get(""))
    reading.refused += other.refused
    reading.damaged |= other.damaged
    if target is None or source is None:
        return
    rows = {row.get_value("code"): row for row in reversed(target.rows)
            if not row.flags & pt.ROW_METRIC}
    general, added = find_general_counters(rows.values()), 0
    for row in source.rows:
        if not row.flags & pt.ROW_METRIC:
            added += unite_row(reading, target, source, rows, row, general)
    if added:
        target.source += "; " + source.source
    target.matches += [m for m in source.matches if m not in target.matches]
    reading.counts["core"] += added


def unite_row(reading, target, source, rows, row, general):
    """Adds a row of @source to @target if its number is new. Returns whether it was added."""
    code = row.get_value("code")
    same_name, known = target.seen.get(pt.fold(row.name)), rows.get(code)
    if same_name is not None and same_name is not known:
        reading.report_note(row.name, "code", "0x%x in %s: that of the first list stays" % (
            code, source.source))
        return False
    if known is not None:
        if row.name not in source.titled:
            target.add_alias(known, row.name)
        return False
    on = general | (row.counters & ~GENERAL if code == CYCLES else 0)
    added = Entry(row.name, row.desc, on, [("code", code)], row.flags, row.file, row.detail)
    added.add_text("source", source.source)
    target.add_row(added)
    rows[code] = added
    return True
