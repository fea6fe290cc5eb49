# SPDX-License-Identifier: MIT
"""The event to sample when a metric is high, stored in the field metric_locate.

Vendors' lists name partners for many metrics. lib/events/partners.txt adds those of metrics that
have none, and a metric of the contract whose unit is MPKI has the event that it counts.
"""

import re

from language import tables as pt
from language.standard_metrics import find_text_field

NOTHING = "#NA"         # placeholder of Intel's lists for no event
CONTRACT_MPKI = re.compile(r"1000 \* \(?([A-Za-z_][A-Za-z0-9_.:]*)")


def read_partners(path):
    """Returns {folded name of a metric: [events]} of a file."""
    found, names = {}, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.strip()
            if line.startswith("["):
                names = [pt.fold(name) for name in line.strip("[]").split()]
            elif line and not line.startswith("#"):
                for name in names:
                    found.setdefault(name, []).extend(line.split())
    return found


def get_text_value(table, row, key):
    """The text of a row, "" for none."""
    at = table.field_at.get(key)
    return next((v for f, _, v in row.values if f == at), "") if at is not None else ""


def add_partners(tables, path):
    """Sets the events to sample for the metrics of cores."""
    partners = read_partners(path)
    for t in tables:
        if t.flags & (pt.TABLE_UNCORE | pt.TABLE_COMPAT_VIEW | pt.TABLE_TEST_ONLY):
            continue
        metrics = [row for row in t.rows if row.flags & pt.ROW_METRIC]
        events = {pt.fold(text) for text, target, kind in t.list_names()
                  if kind != pt.NAME_UNSUPPORTED and not t.rows[target].flags & pt.ROW_METRIC}
        for row in metrics:
            if get_text_value(t, row, "metric_locate") in ("", NOTHING):
                name = find_partner(t, row, partners, events)
                if name:
                    set_partner(t, row, name)


def find_partner(table, row, partners, events):
    """Returns the name of the event, or '' if missing."""
    for name in partners.get(pt.fold(row.name), ()):
        if pt.fold(name) in events:
            return name
    counted = CONTRACT_MPKI.match(get_text_value(table, row, "metric"))
    if counted and get_text_value(table, row, "unit") == "MPKI" and \
            ("::" in counted[1] or pt.fold(counted[1]) in events):
        return counted[1]
    return ""


def set_partner(table, row, name):
    """Sets the event to sample of a metric."""
    at = find_text_field(table, "metric_locate")
    row.values = [v for v in row.values if v[0] != at] + [(at, pt.ANY_COUNTER, name)]
