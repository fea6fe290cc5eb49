# SPDX-License-Identifier: MIT
"""Tables for programs without an operating system: names of events and what encodes them."""

import fnmatch

from language.tables import ROW_METRIC


def strip_tables(tables, patterns):
    """Removes the kernel's own tables, and of the others the rows that are formulas or that no
    pattern matches, errata, and texts for readers."""
    tables[:] = [t for t in tables if t.encoder != "perf"]
    for t in tables:
        remove_rows(t, patterns)
        remove_texts(t)


def remove_rows(t, patterns):
    """Removes rows that are formulas or match no pattern; numbers of rows change."""
    rows = [i for i, row in enumerate(t.rows) if not row.flags & ROW_METRIC
            and any(fnmatch.fnmatchcase(row.name, p) for p in patterns)]
    moved = {old: new for new, old in enumerate(rows)}
    moved.update((len(t.rows) + i, len(rows) + i) for i in range(len(t.alias_rows)))
    t.rows = [t.rows[i] for i in rows]
    t.synonyms = [(name, moved[row]) for name, row in t.synonyms if row in moved]
    t.sources = {moved[row]: sources for row, sources in t.sources.items() if row in moved}
    t.errata = []


def remove_texts(t):
    """Removes descriptions and sources."""
    t.desc = t.source = ""
    t.unsupported = [(name, "") for name, _ in t.unsupported]
    for described in (*t.rows, *t.alias_rows, *words_of(t)):
        described.desc = ""
    for rule in t.rules:
        rule.text = rule.source = ""


def words_of(t):
    """Named values of fields and of groups of unit masks."""
    for of in (*t.fields, *t.groups, *(g for row in t.alias_rows for g in row.groups)):
        yield from of.words
