# SPDX-License-Identifier: MIT
"""What sources disagree about, as a remark on the rows: lib/events/audit.txt, which scripts/audit.py makes.

    PROCESSOR,... core|small|boxes EVENT: what each source says, and what is taken
"""

import re

import pmtable as pt

FIELD = "dispute"


def fold(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def read(path):
    """(processor, part) -> {folded event: text}."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            where, _, text = line.rstrip("\n").partition(": ")
            if not text or line.startswith("#"):
                continue
            processors, part, event = where.split()
            for p in processors.split(","):
                found.setdefault((p, part), {})[fold(event)] = text
    return found


def part_of(table):
    if table.flags & pt.TABLE_UNCORE:
        return "boxes"
    return "small" if table.device == "cpu_atom" else "core"


def mark(tables, path):
    """Adds the remarks of the file @path to the rows of @tables."""
    disputes = read(path)
    for t in tables:
        found = disputes.get((t.part_of or t.name, part_of(t)), {})
        for i, row in enumerate(t.rows):
            text = found.get(fold(row.name))
            if text is None or row.flags & pt.ROW_METRIC:
                continue
            at = t.field_at.get(FIELD)
            at = t.add_field(pt.Field(FIELD, pt.TEXT, 32)) if at is None else at
            t.rows[i] = pt.Row(row.name, row.desc, row.counters, list(row.values) + [(at, pt.ANYWHERE, text)], row.takes, row.flags,
                               row.aliases, row.where)
