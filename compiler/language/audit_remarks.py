# SPDX-License-Identifier: MIT
"""Sources that agree with rows, or dispute them. scripts/audit.py makes the two files.

    audit.txt     PROCESSOR,... core|small|lowpower|boxes EVENT: what each source says, and what is
                  taken: a remark on a row
    sources.txt   PROCESSOR PART N CHECKSUM, then a digit for each of N rows in the order of their
                  folded names: the sources that agree with it
"""

import re
import zlib

from language import tables as pt

FIELD = "dispute"
# Rows that lib/events/heads adds to those of lists: groups of unit masks, and fields of a register.
OURS = re.compile("offcoreresponse[01]?|perfmetrics.*|fparithinstretired")
PARTS = {"cpu_atom": "small", "cpu_lowpower": "lowpower"}


def fold_name(name):
    """Folds a name as remarks and sources do."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def read_disputes(path):
    """Returns {(processor, part): {folded event: text}}."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            where, _, text = line.rstrip("\n").partition(": ")
            if not text or line.startswith("#"):
                continue
            processors, part, event = where.split()
            for p in processors.split(","):
                found.setdefault((p, part), {})[fold_name(event)] = text
    return found


def read_sources(path):
    """Returns {(processor, part): (number of rows, checksum of their names, a digit for each
    row)}."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) == 4 and words[0] != "#":
                at = words[0], words[1]
                found[at] = int(words[2]), int(words[3], 16), ""
            elif len(words) == 1:
                found[at] = found[at][:2] + (found[at][2] + words[0],)
    return found


def get_part(table):
    """Returns the (processor, part) of a table in these files."""
    if table.flags & pt.TABLE_UNCORE:
        return table.family_name or table.name, "boxes"
    # A processor with small cores only is not a member of its file's family.
    return (
        table.name if table.device == "cpu" or not table.family_name else table.family_name
    ), PARTS.get(table.device, "core")


def list_row_names(tables):
    """Returns {(processor, part): folded names of its rows}, without the rows that no list has, and
    those of a further list, which have a source of their own."""
    names = {}
    for t in tables:
        found, source = names.setdefault(get_part(t), set()), t.field_at.get("source")
        found.update(n for n in (fold_name(r.name) for r in t.rows
                                 if not r.flags & pt.ROW_METRIC
                                 and all(field != source for field, _, _ in r.values))
                     if not OURS.fullmatch(n))
    return names


def read_sources_by_row(tables, path):
    """Returns {(processor, part): {folded event: sources that confirm the row}} for tables that
    still have the compared list."""
    out, names = {}, list_row_names(tables)
    for where, (n, checksum, digits) in read_sources(path).items():
        ours = sorted(names.get(where, ()))
        if len(ours) == n == len(digits) and zlib.crc32(" ".join(ours).encode()) == checksum:
            out[where] = {name: int(digit) for name, digit in zip(ours, digits)}
    return out


def mark_tables(tables, disputes_path, sources_path):
    """Adds sources and remarks of the files to the rows of @tables."""
    disputes, sources = read_disputes(disputes_path), read_sources_by_row(tables, sources_path)
    for t in tables:
        where = get_part(t)
        mark_table(t, disputes.get(where, {}), sources.get(where, {}))


def mark_table(t, disputes, sources):
    """Adds the remarks and the sources of a table to its rows."""
    for i, row in enumerate(t.rows):
        if row.flags & pt.ROW_METRIC:
            continue
        name = fold_name(row.name)
        if name in disputes:
            at = t.field_at.get(FIELD)
            at = t.add_field(pt.Field(FIELD, pt.TEXT, 32)) if at is None else at
            row = t.rows[i] = pt.Row(row.name, row.desc, row.counters,
                                     list(row.values) + [(at, pt.ANY_COUNTER, disputes[name])],
                                     row.groups,
                                     row.flags, row.aliases, row.where)
        if name in sources:
            t.sources[i] = sources[name]
