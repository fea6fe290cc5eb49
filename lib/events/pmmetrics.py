# SPDX-License-Identifier: MIT
"""Metrics: rows that are expressions over events.

Intel gives most of them twice, in two grammars: a formula of its own whose letters stand for events, and an expression
as perf reads them. Both stay, in one row.
"""

import re

import pmtable as pt
from pmbuild import ANY, Draft
from pmcore import core_of
from pmread import MAX_FORMULA, MAX_NAME, MAX_TEXT, Refused, clean, strings

INTEL_TEXTS = (("MetricGroup", "metric_group"), ("ParentCategory", "metric_parent"), ("Category", "topic"),
               ("LocateWith", "metric_locate"))
LINUX_TEXTS = (("MetricGroup", "metric_group"), ("MetricThreshold", "metric_threshold"),
               ("MetricConstraint", "metric_constraint"), ("DefaultMetricgroupName", "metric_default_group"),
               ("MetricgroupNoGroup", "metric_no_group"), ("AggregationMode", "aggregation"), ("Compat", "compat"))


# ---- rows ------------------------------------------------------------------------------------------------------------

def metric_row(reading, d, name, desc, expression, grammar):
    """A metric as a row; an event of its name keeps that name, the metric gets `.metric`."""
    b = d.b
    if not expression:
        raise Refused("MetricExpr", "missing")
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise Refused("MetricName", "missing or unusable")
    folded = pt.fold(name)
    before = b.seen.get(folded)
    if before is not None and before.flags & pt.ROW_METRIC and before.name == name:
        return same_metric(reading, b, before, expression, grammar)
    for other in reading.builders.values():
        taken = other.seen.get(folded)
        if taken is not None and not taken.flags & pt.ROW_METRIC:
            name += ".metric"
            break
    d.values.insert(0, (b.text("metric"), ANY, expression))
    row = pt.Row(name, desc or name, 0, d.values, (), pt.ROW_METRIC, (), reading.file)
    b.add(row)
    reading.grammars[id(row)] = grammar
    reading.counts["metrics"] += 1
    return row


def same_metric(reading, b, before, expression, grammar):
    """A metric that is there already gets its expression in the other grammar."""
    metric, formula = b.text("metric"), b.at.get("formula")
    had = next(v for f, _, v in before.values if f == metric)
    if grammar != reading.grammars[id(before)] and not any(f == formula for f, _, _ in before.values):
        perf, own = (expression, had) if grammar == "perf" else (had, expression)
        before.values = [(f, c, perf if f == metric else v) for f, c, v in before.values]
        before.values.append((b.text("formula"), ANY, own))
    elif had == expression:
        reading.note(before.name, "MetricName", "given twice, alike")
    else:
        raise Refused("MetricName", "the list has this name twice, with other expressions")
    return before


# ---- Intel's own -----------------------------------------------------------------------------------------------------

def intel_metrics(reading, items, file):
    """A list with Intel's formulas."""
    b = core_of(reading, file)
    reading.objects(items, lambda e: intel_metric(reading, b, e))


def intel_metric(reading, b, e):
    expression = spelled_out(e)
    d = Draft(b, "", e)
    unit = text_of(e, "UnitOfMeasure")
    if unit:
        d.text("unit", unit)
    for key, field in INTEL_TEXTS:
        text = text_of(e, key)
        if text:
            d.text(field, text)
    level = e.get("Level")
    if type(level) is int and 0 < level < 256:
        d.set(b.plain("metric_level", 8), level)
    threshold = e.get("Threshold")
    if type(threshold) is dict and text_of(threshold, "BaseFormula"):
        d.text("metric_threshold", text_of(threshold, "BaseFormula"))
    row = metric_row(reading, d, text_of(e, "MetricName"), text_of(e, "BriefDescription"), expression, "intel")
    legacy = text_of(e, "LegacyName")
    if legacy and len(legacy) <= MAX_NAME:
        b.alias(row, legacy)


def text_of(e, key):
    text = e.get(key, "")
    if type(text) is not str:
        raise Refused(key, "a text is expected")
    limit = MAX_FORMULA if key == "Formula" else MAX_TEXT
    if len(text) > limit:
        raise Refused(key, "a text of more than %d characters" % limit)
    return clean(text)


def spelled_out(e):
    """The formula with the names of events and constants in place of its letters."""
    formula = text_of(e, "Formula")
    names = {}
    for key in ("Events", "Constants"):
        pairs = e.get(key, [])
        if type(pairs) is not list:
            raise Refused(key, "a list is expected")
        for p in pairs:
            if type(p) is not dict or type(p.get("Name")) is not str or type(p.get("Alias")) is not str:
                raise Refused(key, "Name and Alias are expected")
            names[p["Alias"]] = " ".join(p["Name"].split())
    expression = re.sub(r"[A-Za-z_][A-Za-z0-9_]*", lambda m: names.get(m[0], m[0]), formula)
    if len(expression) > MAX_FORMULA:
        raise Refused("Formula", "an expression of more than %d characters" % MAX_FORMULA)
    return expression


# ---- as perf has them ------------------------------------------------------------------------------------------------

def linux_metrics(reading, items, file):
    """A list in Linux's form that lies in Intel's folder."""
    reading.objects(items, lambda e: linux_metric(reading, core_of(reading, file), strings(e)))


def linux_metric(reading, b, e):
    d = Draft(b, e.get("MetricName", ""), e)
    if e.get("ScaleUnit", "").strip():
        d.scale()
    for key, field in LINUX_TEXTS:
        text = e.get(key, "").strip()
        if text:
            d.text(field, text)
    desc = d.describe()
    metric_row(reading, d, d.name.strip(), desc, e.get("MetricExpr", "").strip(), "perf")
