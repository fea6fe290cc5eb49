# SPDX-License-Identifier: MIT
"""Top-down analysis of Intel's small cores.

Hybrids' small cores have no list of metrics: what they compute is in one sheet for all of them
at the top of the repository, a column for each core, with macros (#SLOTS) and thresholds that speak
of the row (P is its parent's). Its rows become what the lists of metrics have. The servers made of
such cores have lists, in the sheet's words."""

import csv
import functools
import re

from vendors.untrusted import RefusedValue, read_source

SHEET = "E-core_TMA_Metrics.csv"
# in hybrids; ARL-SKT goes before SKT
COLUMNS = {"gracemont": "GRT", "crestmont": "CMT", "skymont": "SKT"}
LEVELS = ("Level1", "Level2", "Level3")
MACRO = re.compile(r"#?[A-Za-z_][A-Za-z0-9_.]*(?::\w+)*")
DURATION = "DurationTimeInMilliSeconds"             # a row without a formula
DEEPEST = 8


def read_small_core_metrics(reading, source):
    """Returns (name of the core's table, metric in the form of a list) for every core of the model
    that has a column."""
    if COLUMNS.keys().isdisjoint(reading.cores):
        return
    try:
        rows = parse_table(read_source(source).decode("utf-8-sig"))
    except (OSError, ValueError, csv.Error) as why:
        reading.report_refusal("-", "-", "cannot be read: %s" % why)
        return
    for core, name in reading.cores.items():
        column = find_column(rows, reading.model.folder, core)
        if not column:
            continue
        known = collect_macros(rows, column)
        for e in collect_items(rows, column):
            try:
                yield name, make_metric(e, known)
            except RefusedValue as r:
                reading.report_refusal(e["name"], r.key, r.why)


@functools.lru_cache(1)
def parse_table(text):
    """Returns the rows below the line with the column names as dictionaries."""
    rows = list(csv.reader(text.splitlines()))
    heads = next((i for i, r in enumerate(rows) if r[:1] == ["Key"]), len(rows))
    if heads == len(rows):
        raise ValueError("no line that names the columns")
    return [dict(zip(rows[heads], (cell.strip() for cell in r))) for r in rows[heads + 1:]]


def find_column(rows, folder, core):
    """Returns the name of the column of @core, "" if the table has none."""
    code = COLUMNS.get(core)
    names = ("%s-%s" % (folder, code), code)
    return next((n for n in names if code and rows and n in rows[0]), "")


def collect_macros(rows, column):
    """Returns macros by name: the auxiliary rows, and the rows of the tree, which formulas use as
    ratios."""
    known = {r[k]: r.get(column, "") for r in rows
             for k in LEVELS if r.get(k) and (r["Key"] == "Aux" or is_tree(r))}
    return dict(known, **{DURATION: "1000 * DURATIONTIMEINSECONDS"})


def is_tree(row):
    """True if @row is a node of the tree of metrics."""
    return row["Key"].isupper()


def collect_items(rows, column):
    """Returns the rows of this core with name, level and parent row."""
    above = []
    for r in rows:
        level = next((i for i, k in enumerate(LEVELS) if r.get(k)), None)
        if level is None or not r.get(column) or r[column] == "#NA" or not (
                is_tree(r) or r["Key"].startswith("Info.")):
            continue
        name = r[LEVELS[level]].replace("%_", "")
        name = name if is_tree(r) else "%s_%s" % (r["Key"].replace(".", "_"), name)
        above[level:] = [(name, r.get("Threshold", ""))]
        yield dict(r, name=name, level=level + 1, above=list(above) if is_tree(r) else above[-1:],
                   formula=r[column])


def make_metric(e, known):
    """Converts a row to an object in the form of Intel's lists."""
    tree = is_tree(e)
    formula, events = assign_letters(expand_macros(e["formula"], known))
    threshold = " & ".join(convert_threshold(name, text, tree) for name,
                           text in reversed(e["above"]) if text)
    groups = [g for g in (e.get("Metric Group", ""), "TmaL%d" % e["level"] if tree else "") if g]
    return {"MetricName": e["name"], "Level": e["level"],
            "BriefDescription": e.get("Metric Description", ""), "Category": "TMA",
            "UnitOfMeasure": "percent" if tree or e[LEVELS[0]].startswith("%") else "",
            "ParentCategory": e["above"][-2][0] if len(e["above"]) > 1 else "",
            "MetricGroup": ";".join(groups),
            "Formula": "100 * ( %s )" % formula if tree else formula, "Events": events,
            "Threshold": {"Formula": threshold} if threshold else ""}


def expand_macros(text, known, depth=0):
    """Replaces each name in @text by its value in parentheses."""
    if depth > DEEPEST:
        raise RefusedValue("Formula", "macros of macros, more than %d deep" % DEEPEST)

    def expand_macro(m):
        """Returns the text of a macro in parentheses; other words stay."""
        return "( %s )" % expand_macros(known[m[0]], known, depth + 1) if known.get(m[0]) else m[0]
    return MACRO.sub(expand_macro, text)


def assign_letters(text):
    """Returns @text with letters in place of event names, and the list of those names, as in
    Intel's formulas."""
    names = list(dict.fromkeys(MACRO.findall(text)))
    letters = {n: "e%d" % i for i, n in enumerate(names)}
    return MACRO.sub(lambda m: letters[m[0]], text), [{"Name": n, "Alias": letters[n]}
                                                      for n in names]


def convert_threshold(name, text, share):
    """Converts a condition such as ">0.15 & P" on @name; to per cent if its value is a @share."""
    text = re.sub(r"&\s*P\b", "", text)
    return re.sub(r"([<>]=?)\s*([0-9.]+)",
                  lambda m: "%s %s %.6g" % (name, m[1], float(m[2]) * (100 if share else 1)),
                  text).strip()


# ---- servers -------------------------------------------------------------------------------------

def add_groups_of_small_cores(items):
    """Adds groups to the list of a server with small cores: levels of its tree become groups like
    those of big cores, and thresholds become per cent like its values. Returns other lists
    unchanged."""
    shares = [e for e in items if type(e) is dict
              and e.get("Category") == "TMA"] if type(items) is list else []
    if not shares or any("TmaL1" in str(e.get("MetricGroup")) for e in shares):
        return items
    return [assign_groups(e) if type(e) is dict
            and (e.get("Category"), e.get("CountDomain")) == ("TMA", "Slots") else e for e in items]


def assign_groups(e):
    """Returns metric @e with its level as a group and its threshold in percent."""
    e = dict(e, MetricGroup=";".join(g
                                     for g in (e.get("MetricGroup", ""), "TmaL%s" % e.get("Level"))
                                     if g))
    threshold = e.get("Threshold")
    if e.get("UnitOfMeasure") == "percent" and type(threshold) is dict and type(
            threshold.get("Formula")) is str:
        text = re.sub(r"([<>]=?)\s*(0?\.\d+)", lambda m: "%s %.6g" % (m[1], 100 * float(m[2])),
                      threshold["Formula"])
        e["Threshold"] = dict(threshold, Formula=text)
    return e
