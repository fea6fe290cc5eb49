# SPDX-License-Identifier: MIT
"""The standard metrics, which every processor has under the same name, or a reason why it lacks
one.

lib/events/contract.txt defines them and the meanings of events that they are computed from. Each
core's table gets a metric for the first formula whose events it has, or its memory controllers and
caches; a metric that its list has under the name stays and gets the unit. A name without a formula
is refused, and the meaning that lacks is the reason. Tables whose rows have numbers that programs
use (libpfm 3) have theirs in the table NAME_ratios.
"""

import fnmatch
import functools
import re

from language import tables as pt
from language.event_meanings import MEANINGS, parse_tags
from language.formulas import parse_formula
from language.meaning import SECONDS, get_processor, group_by_family, split_name

GROUP = "standard"
SUM = re.compile(r"(\d+ \* )?([A-Za-z_][A-Za-z0-9_.]*)\{(\d+)\.\.(\d+)\}")
MEANING = re.compile(r"\{([a-z0-9_]+)\}")
TERM = re.compile(r"(?:([0-9]+) \* )?('[^']*'|[A-Za-z0-9_.:]+)")
BESIDE = frozenset(("rapl", "amd64_rapl"))      # energy meters, which are not processors
KERNEL = ("software::", "hardware::")
# Every processor has these, or they are no reason to refuse a metric of other events.
COMMON = frozenset(("cycles", "instructions", "slots", "ops_issued", "backend_stall_cycles"))


class Choice:
    """A list of formulas, of which a processor gets the first whose names it has: a metric of the
    contract, or a meaning. Formulas and reasons have conditions: the name of an event that must
    exist, or with ! must not; +PMU for this PMU only, -PMU for all but this one, with wildcards."""

    def __init__(self, name, unit=""):
        """Begins a list without formulas."""
        self.name, self.unit = name, unit
        self.text = ""
        self.reasons = []       # (PMUs, text)
        self.formulas = []      # (tokens, text)
        self.others = []        # names of events that have the meaning, which no formula uses
        self.pattern = None     # names of events that look like it

    def find_reason(self, core):
        """Returns the reason that the contract gives for the PMU called @core, or None."""
        return next((text for names, text in self.reasons if not names or core in names), None)


def is_for(token, core):
    """True if +PMU or -PMU is true of the PMU called @core."""
    return fnmatch.fnmatchcase(core, token[1:]) == (token[0] == "+")


def expand_sums(formula):
    """Expands X{0..3} to X0 + X1 + X2 + X3, and a factor before it to each."""
    return SUM.sub(lambda m: " + ".join("%s%s%d" % (m[1] or "", m[2], i)
                                        for i in range(int(m[3]), int(m[4]) + 1)), formula)


def parse_contract_line(line, choice):
    """Adds a line to a choice; returns False if the line is part of its text."""
    kind, rest = line[:2], line[2:]
    if kind == "! ":
        names, colon, reason = rest.partition(" : ")
        choice.reasons.append((names.split(), reason) if colon else ((), rest))
    elif kind == "= ":
        choice.formulas.append(((), expand_sums(rest)))
    elif kind == "? ":
        tokens, _, formula = rest.partition(" : ")
        choice.formulas.append((tuple(tokens.split()), expand_sums(formula)))
    elif kind == "& ":
        choice.others.append(rest)
    elif kind == "~ ":
        choice.pattern = re.compile(rest, re.IGNORECASE)
    else:
        return False
    return True


def read_contract_file(path):
    """Returns (metrics, {name: meaning}) of a file, in file order."""
    metrics, meanings, choice = [], {}, None
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            line = line.rstrip()
            head = re.fullmatch(r"\[(\w+)\] (.+)", line)
            meaning = re.fullmatch(r"\{(\w+)\}", line)
            if not line or line.startswith("#"):
                continue
            if head:
                choice = Choice(head[1], head[2])
                metrics.append(choice)
            elif meaning:
                if meaning[1] not in MEANINGS:
                    raise ContractError((path, n, 2), "unknown meaning '%s'" % meaning[1])
                choice = meanings[meaning[1]] = Choice(meaning[1])
            elif not parse_contract_line(line, choice):
                choice.text += (" " if choice.text else "") + line
    return metrics, meanings


def read_contract(path):
    """The metrics of a file, in file order."""
    return read_contract_file(path)[0]


class ContractError(Exception):
    """An error of the contract or of a table: (file, line, column) and text."""

    def __init__(self, where, text):
        """Keeps position and text."""
        super().__init__(text)
        self.where, self.text = where, text


def is_core(table):
    """True for the main table of a processor's cores: not a unit, view, test or table of ratios."""
    return not (table.flags & (pt.TABLE_UNCORE | pt.TABLE_COMPAT_VIEW | pt.TABLE_TEST_ONLY)
                or table.unit or table.encoder == "perf" or table.name in BESIDE
                or table.name.endswith("_ratios"))


def is_box_of(box, core):
    """True if @box is a unit outside of the cores of the processor that has @core."""
    processor = get_processor(box)
    return box.flags & pt.TABLE_UNCORE and (
        processor == box.name or processor in (core.name, core.family_name))


@functools.lru_cache(None)
def find_names(formula):
    """Names of events, metrics and constants in a formula of a .pmu file."""
    return tuple(name for _, name in parse_formula(formula, "own").names)


@functools.lru_cache(None)
def split_terms(formula):
    """[(factor, name)] of a sum of events, or None if the formula is not one."""
    terms = [TERM.fullmatch(term) for term in formula.split(" + ")]
    return [(int(m[1] or 1), m[2].strip("'")) for m in terms] if all(terms) else None


class CoreScope:
    """Names that the metrics of a core can use: those of its table, of its boxes and, for a table
    NAME_ratios, of NAME; and the meanings that it has."""

    def __init__(self, group, core, home, meanings):
        """Collects names and tags of a core and its boxes."""
        self.core, self.home, self.meanings = core, home, meanings
        own = [core, home] if home is not core else [core]
        boxes = [t for t in group if is_box_of(t, core)]
        self.rows = {}
        for t in reversed(own + boxes):
            self.rows.update((pt.fold(text), t.rows[target]) for text, target, kind
                             in reversed(t.list_names()) if kind != pt.NAME_UNSUPPORTED)
        # Only boxes use metrics of boxes.
        self.box_metrics = {pt.fold(r.name) for t in boxes for r in t.rows
                            if r.flags & pt.ROW_METRIC}
        self.tables = own + boxes
        self.tagged = self.read_own_tags()
        self.found = {}

    def read_own_tags(self):
        """{meaning: formula} of the rows that have a tag in their file, the core's own first."""
        found = {}
        for t in self.tables:
            here = {}
            at = t.field_at.get("meaning")
            for row in t.rows if at is not None else ():
                for text in [v for f, _, v in row.values if f == at]:
                    for is_part, factor, name in parse_tags(text):
                        here.setdefault(name, []).append((is_part, factor, row.name))
            for name, terms in here.items():
                whole = [x for x in terms if not x[0]][:1] or terms
                found.setdefault(name, " + ".join(
                    "%d * %s" % x[1:] if x[1] != 1 else x[2] for x in whole))
        return found

    def has_name(self, name):
        """True of a condition that holds, or of a name that a formula can use."""
        if name[0] in "+-":
            return is_for(name, self.core.name)
        if name[0] == "!":
            return not self.has_name(name[1:])
        if name in SECONDS or name.startswith(("#",) + KERNEL) or "/" in name:
            return True
        folded = pt.fold(split_name(name)[1])
        return folded in self.rows and folded not in self.box_metrics

    def has_names(self, tokens, formula):
        """True if conditions hold and a formula can be computed."""
        return all(map(self.has_name, tokens)) and all(map(self.has_name, find_names(formula)))

    def find_meaning(self, name):
        """Returns the formula of a meaning, or None."""
        if name not in self.found:
            choice = self.meanings[name]
            self.found[name] = None if choice.find_reason(self.core.name) else self.tagged.get(
                name) or next((formula for tokens, formula in choice.formulas
                               if self.has_names(tokens, formula)), None)
        return self.found[name]

    def insert_meanings(self, formula):
        """Replaces {MEANING} in a formula; returns (formula, names of the meanings that lack)."""
        lacking = [n for n in MEANING.findall(formula) if self.find_meaning(n) is None]
        return MEANING.sub(lambda m: self.quote_meaning(m[1]), formula), lacking

    def quote_meaning(self, name):
        """The formula of a meaning as an operand."""
        formula = self.find_meaning(name) or "0"
        return formula if TERM.fullmatch(formula) and " " not in formula else "(%s)" % formula

    def tag_rows(self):
        """Gives the events of meanings their tags."""
        for name in self.meanings:
            formula = self.find_meaning(name)
            terms = split_terms(formula) if formula and name not in self.tagged else None
            for factor, event in terms or ():
                row = self.rows.get(pt.fold(split_name(event)[1]))
                if row is not None and event.find(":") == -1:
                    add_tag(self.find_table(row), row, "+" * (len(terms) > 1) + (
                        "%d*" % factor if factor != 1 else "") + name)
            for event in self.meanings[name].others:
                row = self.rows.get(pt.fold(event))
                if row is not None:
                    add_tag(self.find_table(row), row, name)

    def find_table(self, row):
        """The table of a row."""
        return next(t for t in self.tables if any(r is row for r in t.rows))

    def find_untagged(self):
        """Yields (name, meaning) of events that look like a meaning that the core has no event
        of."""
        for name, choice in self.meanings.items():
            if choice.pattern and self.find_meaning(name) is None and not choice.find_reason(
                    self.core.name):
                yield from ((text, name) for t in self.tables for text, _, kind in t.list_names()
                            if kind == pt.NAME_EVENT and choice.pattern.fullmatch(text))


def add_tag(table, row, tag):
    """Adds a tag to a row."""
    at = find_text_field(table, "meaning")
    had = next((v for f, _, v in row.values if f == at), "")
    if tag not in had.split(";"):
        row.values = [v for v in row.values if v[0] != at] + \
            [(at, pt.ANY_COUNTER, ";".join(filter(None, (had, tag))))]


def add_standard_metrics(tables, path, refuse):
    """Adds the metrics of the contract to the tables, or the reasons for their absence, and tags of
    meaning to their events. Calls @refuse(where, text) where the contract is wrong."""
    try:
        metrics, meanings = read_contract_file(path)
    except ContractError as e:
        refuse(e.where, e.text)
        return
    for group in group_by_family(tables):
        by_name = {t.name: t for t in group}
        for core in filter(is_core, list(group)):
            home = by_name.get(core.name + "_ratios", core)
            scope = CoreScope(group, core, home, meanings)
            for text, name in scope.find_untagged():
                refuse(core.rows[0], "%s::%s looks like an event that counts %s: give it this"
                       " meaning in %s" % (core.name, text, MEANINGS[name], path))
            for metric in metrics:
                add_standard_metric(metric, scope, refuse)
            scope.tag_rows()


def add_standard_metric(metric, scope, refuse):
    """Adds a metric, or the reason why the core lacks it."""
    home, folded = scope.home, pt.fold(metric.name)
    for row in home.rows:
        if pt.fold(row.name) == folded and row.flags & pt.ROW_METRIC:
            set_unit(home, row, metric.unit)
            add_to_group(home, row)
            return
    if folded in scope.rows:
        return                      # an event of that name
    least = None                    # the meanings that lack for the formula that is nearest
    for tokens, text in metric.formulas:
        formula, lacking = scope.insert_meanings(text)
        possible = scope.has_names(tokens, formula)
        if possible and not lacking:
            values = [(find_text_field(home, key), pt.ANY_COUNTER, value) for key, value in
                      (("metric", formula), ("unit", metric.unit), ("metric_group", GROUP))]
            home.rows.append(pt.Row(metric.name, metric.text, 0, values, (), pt.ROW_METRIC, (),
                                    scope.core.rows[0].where))
            scope.rows[folded] = home.rows[-1]
            return
        if lacking and not tokens and (least is None or len(lacking) < len(least)):
            least = lacking
    home.unsupported.append((metric.name, "cannot be measured: " + explain_refusal(
        metric, least or (), scope, refuse)))


def explain_refusal(metric, lacking, scope, refuse):
    """Returns why a metric has no formula. Reports a refusal that the table contradicts: events of
    its own meanings exist, and only what every processor has lacks."""
    if lacking and all(name in COMMON for name in lacking):
        refuse(scope.core.rows[0], "%s::%s is refused, though only %s lack" % (
            scope.core.name, metric.name, ", ".join(MEANINGS[name] for name in lacking)))
    reasons = [choice.find_reason(scope.core.name) for choice in
               [metric] + [scope.meanings[name] for name in lacking]]
    return next(filter(None, reasons), None) or "no event counts " + MEANINGS[lacking[0]]


def find_text_field(table, name):
    """Index of a text field, which is added if the table lacks it."""
    at = table.field_at.get(name)
    return at if at is not None else table.add_field(pt.Field(name, pt.TEXT, 32))


def set_unit(table, row, unit):
    """Gives a metric its unit."""
    at = find_text_field(table, "unit")
    row.values = [v for v in row.values if v[0] != at] + [(at, pt.ANY_COUNTER, unit)]


def add_to_group(table, row):
    """Adds a metric to the group of standard metrics."""
    at = find_text_field(table, "metric_group")
    had = next((v for f, _, v in row.values if f == at), "")
    row.values = [v for v in row.values if v[0] != at] + \
        [(at, pt.ANY_COUNTER, ";".join(filter(None, (had, GROUP))))]
