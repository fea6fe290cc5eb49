# SPDX-License-Identifier: MIT
"""The standard metrics, which every processor has under the same name, or a reason why it lacks
one.

lib/events/contract.txt defines them. Each core's table gets a metric for the first formula whose
events it has, or its memory controllers and caches; a metric that its list has under the name stays
and gets the unit. A name without a formula is refused with the reason. Tables whose rows have
numbers that programs use (libpfm 3) have theirs in the table NAME_ratios.
"""

import functools
import re

from language import tables as pt
from language.formulas import parse_formula
from language.meaning import SECONDS, group_by_family, split_name

GROUP = "standard"
SUM = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\{(\d+)\.\.(\d+)\}")
BESIDE = frozenset(("rapl", "amd64_rapl"))      # energy meters, which are not processors
KERNEL = ("software::", "hardware::")


class StandardMetric:
    """A metric of the contract. Conditions of a formula: the name of an event that must exist, +PMU
    for this PMU only, -PMU for all but this one. A reason has PMU conditions only."""

    def __init__(self, name, unit):
        self.name, self.unit = name, unit
        self.text = ""
        self.reasons = []       # (tokens, text)
        self.formulas = []      # (tokens, text)


    def find_reason(self, core):
        """Returns why the PMU called @core has no formula."""
        return next(text for tokens, text in self.reasons if all(
            is_for(token, core) for token in tokens))


def is_for(token, core):
    """True if +PMU or -PMU is true of the PMU called @core."""
    return (token[1:] == core) == (token[0] == "+")


def expand_sums(formula):
    """Expands X{0..3} to (X0 + X1 + X2 + X3)."""
    return SUM.sub(lambda m: "(%s)" % " + ".join(
        "%s%d" % (m[1], i) for i in range(int(m[2]), int(m[3]) + 1)), formula)


def read_contract(path):
    """The Standards of a file, in file order."""
    found = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip()
            head = re.fullmatch(r"\[(\w+)\] (.+)", line)
            if not line or line.startswith("#"):
                continue
            if head:
                found.append(StandardMetric(head[1], head[2]))
            elif line.startswith("! "):
                tokens, colon, reason = line[2:].partition(" : ")
                found[-1].reasons.append((tokens.split(), reason) if colon else ((), line[2:]))
            elif line.startswith("= "):
                found[-1].formulas.append(((), expand_sums(line[2:])))
            elif line.startswith("? "):
                needed, _, formula = line[2:].partition(" : ")
                found[-1].formulas.append((tuple(needed.split()), expand_sums(formula)))
            else:
                found[-1].text += (" " if found[-1].text else "") + line
    return found


def is_core(table):
    """True for the main table of a processor's cores: not a unit, view, test or table of ratios."""
    return not (table.flags & (pt.TABLE_UNCORE | pt.TABLE_COMPAT_VIEW | pt.TABLE_TEST_ONLY)
                or table.unit or table.encoder == "perf" or table.name in BESIDE
                or table.name.endswith("_ratios"))


@functools.lru_cache(None)
def find_names(formula):
    """Names of events, metrics and constants in a formula of a .pmu file."""
    return tuple(name for _, name in parse_formula(formula, "own").names)


class NameScope:
    """Names for a core's metrics: its own names, those of its boxes, and for a table NAME_ratios
    those of NAME."""

    def __init__(self, group, core, home):
        self.core = core.name
        own = [core, home] if home is not core else [core]
        boxes = [t for t in group if t.flags & pt.TABLE_UNCORE]
        self.known = {pt.fold(text) for t in own + boxes for text, _, kind in t.list_names()
                      if kind != pt.NAME_UNSUPPORTED}
        # Only boxes use metrics of boxes.
        self.metrics = {pt.fold(r.name) for t in boxes for r in t.rows if r.flags & pt.ROW_METRIC}

    def has_name(self, name):
        if name[0] in "+-":
            return is_for(name, self.core)
        if name in SECONDS or name.startswith(("#",) + KERNEL) or "/" in name:
            return True
        return pt.fold(split_name(name)[1]) in self.known - self.metrics


def add_standard_metrics(tables, path):
    """Adds the metrics of the contract to the tables, or the reasons for their absence."""
    contract = read_contract(path)
    for group in group_by_family(tables):
        by_name = {t.name: t for t in group}
        for core in filter(is_core, list(group)):
            home = by_name.get(core.name + "_ratios", core)
            scope = NameScope(group, core, home)
            for standard in contract:
                add_standard_metric(standard, core, home, scope)


def add_standard_metric(standard, core, home, scope):
    folded = pt.fold(standard.name)
    for row in home.rows:
        if pt.fold(row.name) == folded and row.flags & pt.ROW_METRIC:
            set_unit(home, row, standard.unit)
            add_to_group(home, row)
            return
    if folded in scope.known:
        return                      # an event of that name
    for needed, formula in standard.formulas:
        if all(map(scope.has_name, needed)) and all(map(scope.has_name, find_names(formula))):
            values = [(find_text_field(home, key), pt.ANY_COUNTER, text) for key, text in
                      (("metric", formula), ("unit", standard.unit), ("metric_group", GROUP))]
            home.rows.append(pt.Row(standard.name, standard.text, 0, values, (), pt.ROW_METRIC, (),
                                    core.rows[0].where))
            scope.known.add(folded)
            return
    home.unsupported.append(
        (standard.name, "cannot be measured: " + standard.find_reason(core.name)))


def find_text_field(table, name):
    at = table.field_at.get(name)
    return at if at is not None else table.add_field(pt.Field(name, pt.TEXT, 32))


def set_unit(table, row, unit):
    at = find_text_field(table, "unit")
    row.values = [v for v in row.values if v[0] != at] + [(at, pt.ANY_COUNTER, unit)]


def add_to_group(table, row):
    at = find_text_field(table, "metric_group")
    had = next((v for f, _, v in row.values if f == at), "")
    row.values = [v for v in row.values if v[0] != at] + \
        [(at, pt.ANY_COUNTER, ";".join(filter(None, (had, GROUP))))]
