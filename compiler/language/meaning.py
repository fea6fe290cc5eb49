# SPDX-License-Identifier: MIT
"""Meanings of the names in a metric's formula, and the pass over finished tables that turns
formulas into code.

A name is an event of the metric's own table, an event of another table of the same processor (a
unit off the core), an event of the kernel's own, a constant of the machine (#smt_on), or another
metric. Intel's lists put letters of their own after an event (`:c1:e1:u0x80`); they become what
every grammar of the library reads, and the list's spelling is kept beside it, so that counts may be
given by either."""

import re

from language import tables as pt
from language.formulas import (
    CodeWriter, Graph, Inputs, limit_recursion, parse_number, parse_formula, add_formula_to_graph)
from vendors.untrusted import RefusedValue

# Constants of the machine, the measurement or the processor: our name -> Intel's name.
CONSTANTS = {
    "#smt_on": "HYPERTHREADING_ON", "#threads_per_core": "THREADS_PER_CORE",
    "#duration_ms": "DURATIONTIMEINMILLISECONDS",
    "#system_tsc_freq": "SYSTEM_TSC_FREQ", "#num_packages": "SOCKET_COUNT",
    "#chas_per_socket": "CHAS_PER_SOCKET",
    "#cores_per_socket": "CORES_PER_SOCKET",
    "#num_cpus": "system.sockets[0].cpus.count * system.socket_count",
    "#num_cpus_online": "", "#num_cores": "", "#num_dies": "", "#core_wide": "", "#slots": "",
    "#has_pmem": "",
    "#user_time": "", "#system_time": "",
    # Energy in the unit of its register, 61 millionths of a joule; the kernel counts it in another.
    "#energy_pkg": "UNC_PKG_ENERGY_STATUS", "#energy_ram": "FREERUN_DRAM_ENERGY_STATUS",
}
OURS = {theirs: ours for ours, theirs in CONSTANTS.items() if theirs}
MORE = {"FREERUN_PKG_ENERGY_STATUS": "#energy_pkg"}
SECONDS = ("DURATIONTIMEINSECONDS", "duration_time")
TOOLS = {"user_time": "#user_time", "system_time": "#system_time", "TSC": "msr/tsc/"}
# Events of every kernel by table.
KERNEL = {
    pt.fold(name): table
    for table, names in (
        (
            "hardware::",
            (
                "cycles cpu-cycles instructions branches branch-instructions branch-misses"
                " cache-references cache-misses bus-cycles ref-cycles stalled-cycles-frontend"
                " stalled-cycles-backend"
            ),
        ),
        (
            "software::",
            (
                "cpu-clock task-clock page-faults faults context-switches cs cpu-migrations"
                " migrations minor-faults major-faults alignment-faults emulation-faults"
            ),
        ),
        (
            "hw_cache::",
            (
                "L1-dcache-loads L1-dcache-load-misses L1-icache-loads L1-icache-load-misses"
                " dTLB-loads dTLB-load-misses iTLB-loads iTLB-load-misses LLC-loads LLC-load-misses"
            ),
        ),
        (
            "cpu/",
            (
                "slots topdown-retiring topdown-bad-spec topdown-fe-bound topdown-be-bound"
                " topdown-heavy-ops topdown-br-mispredict topdown-fetch-lat topdown-mem-bound"
            ),
        ),
    )
    for name in names.split()
}
DROPPED = ("perf_metrics", "percore", "one_unit")    # keys that do not change what is counted
THRESHOLDS = ("cmask", "thresh", "threshold")       # one field, named differently
LATENCY = re.compile(r"mean ([0-9.e+]+)")


def convert_constant_name(name):
    """Converts Intel's name of a constant to ours; returns other names unchanged."""
    return OURS.get(name, name)


class TableFamily:
    """Tables of one processor, and the meanings of names in them."""

    def __init__(self, tables):
        """Prepares to search names in tables, one table at a time."""
        self.tables = tables
        index = self.index_names      # not @self, which would be a reference cycle
        self.rows = pt.ComputedDict(lambda i: index(tables[i]))        # tables to search

    @staticmethod
    def index_names(t):
        """{folded name: row} of a table."""
        named = [entry for entry in t.list_names() if entry[2] != pt.NAME_UNSUPPORTED]
        named.reverse()                     # the first of two equal names takes precedence
        return dict(zip(map(pt.fold, [text for text, _, _ in named]),
                        [target for _, target, _ in named]))

    def find_event(self, home, name):
        """Returns (table, row) of the event. Searches the metric's own table first."""
        folded = pt.fold(name)
        order = [home] + [i for i in range(len(self.tables)) if i != home]
        for i in order:
            at = self.rows[i].get(folded)
            if at is not None and not self.tables[i].rows[at].flags & pt.ROW_METRIC:
                return i, self.tables[i].rows[at]
        return None

    def find_metric(self, home, name):
        """Returns the row of a metric of table @home, or None."""
        for n in (name, name + ".metric"):
            at = self.rows[home].get(pt.fold(n))
            if at is not None and self.tables[home].rows[at].flags & pt.ROW_METRIC:
                return self.tables[home].rows[at]
        return None


# ---- events --------------------------------------------------------------------------------------

def split_filter_values(t, value):
    """Splits the second filter register of a unit into its named fields."""
    words, left = [], value << 32
    for f in t.fields:
        if f.name.startswith("filter_") and len(f.ranges) == 1 and f.ranges[0][0] == 1:
            _, low, n = f.ranges[0]
            part = left >> low & ((1 << n) - 1)
            if low >= 32 and part:
                words.append("%s=0x%x" % (f.name, part))
                left &= ~(((1 << n) - 1) << low)
    if left:
        raise RefusedValue("Events",
                           "filter1=0x%x has bits that no field of %s has" % (value, t.name))
    return words


def rewrite_qualifier(t, q, umask):
    """Converts one of Intel's qualifiers to a list of ours; @umask: the event accepts a unit
    mask."""
    m = re.fullmatch(r"(c|e|i|eq)([0-9]+)", q)
    if m:
        key = {"c": "cmask", "e": "edge", "i": "inv", "eq": "eq"}[m[1]]
        if key == "cmask":
            key = next((k for k in THRESHOLDS if k in t.field_at), key)
        if key not in t.field_at:
            raise RefusedValue("Events", "'%s': %s has no field %s" % (q, t.name, key))
        return ["%s=%s" % (key, m[2])]
    if re.fullmatch(r"u0x[0-9a-fA-F]+", q):
        umask.append(q[1:])
        return []
    key, _, value = q.partition("=")
    if key == "opc":
        return ["filter_opc=" + value]
    if key == "tid":
        return ["filter_tid=" + value,
                "tid_en=1"] if "tid_en" in t.field_at else ["filter_tid=" + value]
    if key == "filter1":
        return split_filter_values(t, int(value, 0))
    if key == "ocr_msr_val":
        return ["offcore_rsp=" + value]
    return None


def rewrite_event(t, name, qualifiers):
    """Converts an event with its qualifiers to the library's grammar, without the name of its own
    table."""
    words, umask, level = [], [], ""
    for q in qualifiers:
        if q in DROPPED:
            continue
        if q.upper() in ("SUP", "USER"):
            level = "k" if q.upper() == "SUP" else "u"
            continue
        ours = rewrite_qualifier(t, q, umask)
        words += [q] if ours is None else ours
    if umask:       # replaces the row's own, possible only in perf's grammar
        return "%s/%s/%s" % (t.name, ",".join([name, "umask=" + umask[0]] + words), level)
    return ":".join([name] + words + ([level] if level else []))


def split_name(name):
    """Splits an event in a formula into (prefix with ::, base, qualifiers)."""
    prefix, colons, rest = name.rpartition("::")
    base, *qualifiers = rest.split(":")
    return prefix + colons, base, qualifiers


def make_input(ours, theirs, preset=""):
    """Makes an input with our name, the list's spelling and its default. Two spellings of one event
    are two inputs, because a list may distinguish them."""
    parts = [ours, theirs if theirs != ours else "", preset]
    while not parts[-1]:
        parts.pop()
    if any(";" in part or "|" in part for part in parts):
        raise RefusedValue("Formula", "'%s': ';' and '|' cannot be in a name" % ours[:60])
    return "input", "|".join(parts)


class NameMeanings:
    """Meanings of names in the metrics of one table: ("input", NAME), ("seconds", NAME of the
    milliseconds), ("number", value) or ("metric", row). Each name is looked up once."""

    def __init__(self, family, home):
        """Begins without known names."""
        self.f, self.home = family, home
        self.known, self.signs, self.stack = {}, {}, []

    def find_meaning(self, function, name):
        """Returns the meaning of a name, found once."""
        what = self.known.get((function, name))
        if what is None:
            what = self.known[function, name] = self.find_leaf_meaning(
                name) if function == "name" else self.find_function_meaning(function, name)
        return what

    def find_leaf_meaning(self, name):
        """Finds the meaning of a name that is not the argument of a function."""
        if name in SECONDS:
            return "seconds", make_input("#duration_ms", CONSTANTS["#duration_ms"])[1]
        # not a value: valid only in the branch that is not taken
        if name in ("NaN", "nan", "#NA"):
            return "number", None
        if name.startswith("#"):
            return self.find_constant(name)
        if name in OURS or name in MORE:
            return make_input(OURS.get(name) or MORE[name], name)
        if name in TOOLS:
            return make_input(TOOLS[name], name)
        return self.find_event(name)

    @staticmethod
    def find_constant(name):
        """Finds a constant of the machine."""
        ours = name.lower().replace("#smton", "#smt_on")
        if ours not in CONSTANTS:
            raise RefusedValue("Formula", "no constant '%s'" % name[:40])
        return make_input(ours, CONSTANTS[ours])

    def find_event(self, name):
        """Finds an event of the tables, the kernel, or a metric."""
        if "/" in name:
            return self.find_raw_event(name)
        prefix, base, qualifiers = split_name(name)
        found = self.f.find_event(self.home, base)
        if found is None:
            return self.find_other_meaning(name, base)
        t, row = self.f.tables[found[0]], found[1]
        if "retire_latency" in qualifiers:
            return self.find_latency(t, row, name)
        ours = rewrite_event(t, row.name, qualifiers)
        if found[0] != self.home and "/" not in ours:
            ours = t.name + "::" + ours
        return make_input(ours, name if not prefix else "")

    def find_raw_event(self, name):
        """Converts perf's pmu/terms/modifiers. A named event among the terms must exist."""
        m = re.fullmatch(r"([A-Za-z0-9_]*)/([^/]*)/([A-Za-z]*)", name)
        if not m:
            raise RefusedValue("Formula", "unknown event '%s'" % name[:60])
        first, comma, rest = m[2].partition(",")
        if "?" in name:
            raise RefusedValue("Formula", "'%s' needs a number, which is missing" % name[:60])
        if m[1] not in ("cpu", "cpu_core", "cpu_atom") or "=" in first:
            return make_input(name, "")
        found = self.f.find_event(self.home, first)
        if found is None and pt.fold(first) not in KERNEL:
            raise RefusedValue("Formula", "no event '%s'" % first[:60])
        if found is None or self.f.tables[found[0]].device != (m[1] if m[1] != "cpu" else
                                                               self.f.tables[self.home].device):
            return make_input(name, "")
        t, row = self.f.tables[found[0]], found[1]
        if m[3] == "R":
            return self.find_latency(t, row, name)
        return make_input("%s/%s/%s" % (t.name, row.name + comma + rest, m[3]), name)

    @staticmethod
    def find_latency(t, row, name):
        """Returns the latency of retirement of a kind of instructions, a constant of GNR's list."""
        ours = "#retire_latency(%s)" % row.name
        for f, _, v in row.values:
            m = LATENCY.search(v) if t.fields[f].name == "note" else None
            if m:
                return make_input(ours, name, m[1])
        return make_input(ours, name)

    def find_other_meaning(self, name, base):
        """Finds an event of the kernel or a metric."""
        table = KERNEL.get(pt.fold(base))
        if table:
            own = name.rpartition("::")[2]
            behind = own[len(base):]
            return make_input("%s%s/%s" % (table, base, behind.lstrip(":")) if table.endswith("/")
                              else table + own, name)
        row = self.f.find_metric(self.home, name)
        if row is None:
            raise RefusedValue("Formula", "no event '%s'" % name[:60])
        return "metric", row

    def find_function_meaning(self, function, name):
        """Finds the meaning of a function of a name."""
        if function == "has_event":
            base = name.strip("/").split("/")[-1].split(",")[0].split(":")[0]
            return "number", float(self.f.find_event(self.home, base) is not None
                                   or pt.fold(base) in KERNEL)
        return make_input("#%s(%s)" % (function, name), "")

    def is_in_threshold(self, function, name):
        """Returns the meaning of a name in a threshold, where metrics precede events."""
        row = self.f.find_metric(self.home,
                                 name) if function == "name" and not name.startswith("#") else None
        return ("metric", row) if row is not None else self.find_meaning(function, name)

    def get_texts(self, row):
        """The texts of a metric's row by field name."""
        fields = self.f.tables[self.home].fields
        return {fields[f].name: v for f, _, v in row.values if fields[f].kind == pt.TEXT}

    def get_formula(self, row):
        """The parsed formula of a metric."""
        return parse_formula(self.get_texts(row)["metric"], "own")

    def make_metric_signature(self, row):
        """Returns (a number for everything that determines a metric's value, the rows that it is
        computed from). Metrics with the same number have the same code on any processor."""
        known = self.signs.get(id(row))
        if known:
            return known
        if any(r is row for r in self.stack):
            raise RefusedValue("Formula", "'%s' is computed from itself" % row.name)
        if len(self.stack) > 40:
            raise RefusedValue("Formula", "metrics of metrics, more than 40 deep")
        self.stack.append(row)
        try:
            formula, parts, below = self.get_formula(row), [], {id(row)}
            for kind, what in [self.find_meaning(*name) for name in formula.names]:
                if kind == "metric":
                    what, rows = self.make_metric_signature(what)
                    below |= rows
                parts.append((kind, what))
        finally:
            self.stack.pop()
        key = formula, tuple(parts)
        known = self.signs[id(row)] = SIGNS.setdefault(key, len(SIGNS)), below
        return known

    def make_threshold_key(self, formula, row):
        """Returns the key that determines the code of a row's threshold; None if that depends on
        another metric."""
        parts = []
        for kind, what in [self.is_in_threshold(*name) for name in formula.names]:
            if what is row:
                kind, what = "own", None
            elif kind == "metric":
                what, rows = self.make_metric_signature(what)
                if id(row) in rows:
                    return None
            parts.append((kind, what))
        return formula, tuple(parts)


SIGNS = {}      # (formula, meanings of its names) -> a number


class Expression:
    """A metric or a threshold in a graph of its own."""

    def __init__(self, names):
        """Begins an empty expression."""
        self.names, self.g, self.done = names, Graph(), {}

    def add_node(self, kind, what):
        """Adds the node of a meaning."""
        if kind == "input":
            return self.g.add_node("input", what)
        if kind == "metric":
            return self.add_metric(what)
        if kind == "seconds":
            return self.g.add_node("/", self.g.add_node("input", what), self.g.add_number(1000.0))
        if what is None:
            return self.g.add_node("/", self.g.add_number(0.0), self.g.add_number(0.0))
        return self.g.add_number(what)

    def add_metric(self, row):
        """Returns a metric's value. Values of other metrics are computed in place."""
        at = self.done.get(id(row))
        if at is None:
            at = self.done[id(row)] = self.add_formula(self.names.get_formula(row),
                                                       self.names.find_meaning)
        return at

    def add_formula(self, formula, meaning):
        """Adds a formula whose names have the meanings @meaning."""
        return add_formula_to_graph(formula, self.g, lambda function,
                                    name: self.add_node(*meaning(function, name)))

    def write_code(self, root, inputs=()):
        """Returns (code, names of its inputs), those of @inputs first."""
        known = Inputs(inputs)
        return CodeWriter(self.g, known).write_code(root), known.names


# ---- rows ----------------------------------------------------------------------------------------

def find_text_field(t, name):
    """Index of a text field, which is added if the table lacks it."""
    at = t.field_at.get(name)
    return t.add_field(pt.Field(name, pt.TEXT, 32)) if at is None else at


def compile_value(names, row, scale):
    """Returns (code, inputs) of a metric."""
    x = Expression(names)
    root = x.add_metric(row)
    return x.write_code(
        x.g.add_node("*", root, x.g.add_number(parse_number(scale))) if scale else root)


def compile_threshold(names, row, scale, formula, inputs):
    """Compiles a metric's threshold, which perf compares with the unscaled value."""
    x = Expression(names)
    value = x.g.add_node("value")
    x.done[id(row)] = x.g.add_node("/", value, x.g.add_number(
        parse_number(scale))) if scale else value
    return x.write_code(x.add_formula(formula, names.is_in_threshold), inputs)


# key of a metric or threshold -> (code, inputs): processors share most metrics
CODES = {}


def compute_once(key, make):
    """Returns the result of @make, cached by @key; None is not cached."""
    code = CODES.get(key)
    if code is None:
        code = make()
        if key is not None:
            CODES[key] = code
    return code


def compile_row(names, row, note):
    """Returns {field: text} of a metric: its code, the code of its threshold, and the inputs of
    both."""
    texts = names.get_texts(row)
    scale, text, threshold = texts.get("scale", ""), texts.get("metric_threshold"), ""
    whole = names.make_metric_signature(row)[0], scale
    code, inputs = compute_once(whole, lambda: compile_value(names, row, scale))
    if text:
        try:
            formula = parse_formula(text, "own")
            key = names.make_threshold_key(formula, row)
            threshold, inputs = compute_once(key and whole + key,
                                             lambda: compile_threshold(names, row, scale, formula,
                                                                       inputs))
        except RefusedValue as r:
            note(row, "Threshold", r.why)
    return {"metric": code, "metric_threshold": threshold, "metric_inputs": inputs}


def get_family(name):
    """Prefix of the names of a processor's tables: skx for skx_uncore_cha, adl for adl_goldencove
    and adl_uncore_imc."""
    return name.split("_")[0]


def get_processor(t):
    """The processor of a table: that of a box whose names are its own, but which serves one
    processor's metrics; its family; or its own name."""
    serves = next((value for name, value in t.features if name == "serves"), "")
    return serves or t.family_name or t.name


def group_by_family(tables):
    """Returns tables grouped by processor."""
    groups = {}
    for t in tables:
        family = "" if t.encoder == "perf" else get_family(get_processor(t))
        groups.setdefault(family, []).append(t)
    return groups.values()


def compile_metrics(tables, refuse, note=lambda row, key, why: None):
    """Compiles the formulas of all metrics in @tables. Calls @refuse(table, row, key, why) for
    invalid ones."""
    for group in group_by_family(tables):
        if not any(r.flags & pt.ROW_METRIC for t in group for r in t.rows):
            continue
        family, ready = TableFamily(group), []
        for home, t in enumerate(group):
            names = NameMeanings(family, home)
            for row in t.rows:
                if not row.flags & pt.ROW_METRIC:
                    continue
                try:
                    with limit_recursion():
                        ready.append((t, row, compile_row(names, row, note)))
                except RefusedValue as r:
                    refuse(t, row, r.key, r.why)
        for t, row, fields in ready:
            replace_texts(t, row, fields)


def replace_texts(t, row, fields):
    """Replaces the texts of a formula by its code."""
    gone = [t.field_at[n] for n in ("metric", "metric_threshold", "metric_inputs", "scale")
            if n in t.field_at]
    row.values = [v for v in row.values if v[0] not in gone]
    given = [(n, text) for n in ("metric", "metric_threshold") for text in [fields[n]] if text] + \
        [("metric_inputs", text) for text in fields["metric_inputs"]]      # one value each
    row.values = [(find_text_field(t, n), pt.ANY_COUNTER, text) for n, text in given] + row.values
