# SPDX-License-Identifier: MIT
"""Metrics: rows that are expressions over events.

Intel gives many of them twice, in two grammars: a formula of its own whose letters represent
events, and an expression as perf reads them. A row has one formula, in the grammar of .pmu files;
language/meaning.py makes code of it."""

import marshal
import re
from collections import namedtuple

from language import tables as pt
from vendors.drafts import TEXTS, EventDraft, Entry, quote_text
from vendors.intel_core import find_core_of_file
from language.formulas import rewrite_formula
from language.meaning import convert_constant_name
from vendors.untrusted import (
    MAX_FORMULA, MAX_NAME, MAX_TEXT, RefusedValue, clean_description, convert_to_strings)

INTEL_TEXTS = (("UnitOfMeasure", "unit"), ("MetricGroup", "metric_group"),
               ("ParentCategory", "metric_parent"), ("Category", "topic"),
               ("LocateWith", "metric_locate"))
LINUX_TEXTS = (("MetricGroup", "metric_group"), ("MetricThreshold", "metric_threshold"),
               ("MetricConstraint", "metric_constraint"),
               ("DefaultMetricgroupName", "metric_default_group"),
               ("MetricgroupNoGroup", "metric_no_group"), ("AggregationMode", "aggregation"),
               ("Compat", "compat"))
SPELLED = pt.ComputedDict(lambda name: convert_constant_name(" ".join(name.split())))
OLD_NAME = re.compile(r"metric_TMA_[.A-Za-z0-9_]+(?:\(%\))?")

# ---- rows ----------------------------------------------------------------------------------------

def add_metric_row(reading, draft, name, desc, expression, grammar):
    """Adds a metric as a row. An event with its name keeps the name; the metric gets `.metric`.
    @expression is in the grammar of .pmu files, @grammar is the original one."""
    sheet = draft.sheet
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise RefusedValue("MetricName", "missing or unusable")
    expression = quote_text(expression)
    draft.values.insert(0, ("metric", expression))
    before = sheet.seen.get(pt.fold(name))
    if before is not None and before.flags & pt.ROW_METRIC and before.name == name:
        name = name_duplicate(reading, sheet, draft, before, expression, grammar)
        if not name:
            return before
    folded = pt.fold(name)
    for other in reading.builders.values():
        taken = other.seen.get(folded)
        if taken is not None and not taken.flags & pt.ROW_METRIC:
            name += ".metric"
            break
    row = Entry(name, desc or name, 0, draft.values, pt.ROW_METRIC, reading.file, draft.detail)
    sheet.add_row(row)
    reading.grammars[id(row)] = grammar
    reading.counts["metrics"] += 1
    return row


def name_duplicate(reading, sheet, draft, before, expression, grammar):
    """Returns the name for a second metric with a known name, '' to leave it out. Intel's formula
    precedes perf's; metrics of a variant's list that differ get the variant's name: hbm.NAME."""
    had = before.get_value("metric")
    if grammar != reading.grammars[id(before)]:
        if grammar == "intel":
            before.values, before.detail = draft.values, draft.detail
            reading.grammars[id(before)] = grammar
        return ""
    if had == expression:
        if before.file == reading.file:
            reading.report_note(before.name, "MetricName", "given twice, alike")
        return ""
    variant = find_variant_suffix(before.file, reading.file)
    if not variant or pt.fold("%s.%s" % (variant, before.name)) in sheet.seen:
        raise RefusedValue("MetricName", "the list has this name twice, with other expressions")
    return "%s.%s" % (variant, before.name)


def find_variant_suffix(first, second):
    """Returns the part of the second list's file name that the first one lacks: 'hbm' for
    sapphirerapids and sapphirerapidshbm."""
    one, two = (re.sub(r"_metrics.*", "", f.rsplit("/", 1)[-1]) for f in (first, second))
    return two[len(one):].strip("_").lower() if two.startswith(one) else ""


# ---- Intel's own ---------------------------------------------------------------------------------

def add_intel_metrics(reading, items, file):
    """Adds a list with Intel's formulas."""
    sheet = find_core_of_file(reading, file)
    reading.visit_objects(items, lambda e: add_intel_metric(reading, sheet, e))


def add_intel_metric(reading, sheet, e):
    """Adds a metric of Intel's repository; equal ones are read once."""
    key = marshal.dumps(e)
    m = READ.get(key)
    if m is None:
        m = READ[key] = read_metric(e)
    draft = EventDraft(sheet, "", e)
    draft.values = [*m.values]
    for field in m.own:
        draft.declare_text(field)
    if m.level:
        sheet.declare_field("metric_level", None, 8)
    if m.fault:
        reading.report_note(m.name, "Threshold", m.fault)
    row = add_metric_row(reading, draft, m.name, m.desc, m.expression, "intel")
    if m.legacy and len(m.legacy) <= MAX_NAME:
        sheet.add_alias(row, m.legacy)


# A parsed metric of a list. Values are those of its row without the expression; @own are the texts
# among them that only some tables have; @fault is the error of its threshold.
Metric = namedtuple("Metric", "name desc values own level fault expression legacy")
READ = {}       # bytes of a metric in its list -> Metric: processors share most metrics


def read_metric(e):
    """Reads a metric of Intel's repository without regard to its table."""
    expression = expand_letters(e)
    texts = [(field, get_text_value(e, key)) for key, field in INTEL_TEXTS]
    values = [(field, quote_text(text)) for field, text in texts if text]
    level, threshold, fault = e.get("Level"), e.get("Threshold"), ""
    if type(level) is not int or not 0 < level < 256:
        level = 0
    if level:
        values.append(("metric_level", level))
    if type(threshold) is dict and get_text_value(threshold, "Formula"):
        try:
            values.append(("metric_threshold",
                           quote_text(expand_letters(threshold, ("ThresholdMetrics",), "Value"))))
        except RefusedValue as r:
            fault = r.why
    return Metric(get_text_value(e, "MetricName"), get_text_value(e, "BriefDescription"), values,
                  [f for f, text in texts if text and f not in TEXTS],
                  level, fault, expression, get_text_value(e, "LegacyName"))


def get_text_value(e, key):
    """Returns a text of an object within its limit, "" if it is missing."""
    text = e.get(key, "")
    if type(text) is not str:
        raise RefusedValue(key, "expected a text")
    limit = MAX_FORMULA if key == "Formula" else MAX_TEXT
    if len(text) > limit:
        raise RefusedValue(key, "a text of more than %d characters" % limit)
    return clean_description(text)


def expand_letters(e, keys=("Events", "Constants"), what="Name"):
    """Returns the formula with the names of events and constants in place of its letters."""
    names = {}
    for key in keys:
        pairs = e.get(key, [])
        if type(pairs) is not list:
            raise RefusedValue(key, "expected a list")
        for p in pairs:
            if type(p) is not dict or type(p.get(what)) is not str or type(
                    p.get("Alias")) is not str:
                raise RefusedValue(key, "expected %s and Alias" % what)
            names[p["Alias"]] = SPELLED[p[what]]
    text = get_text_value(e, "Formula")
    if not text:
        raise RefusedValue("Formula", "missing")
    # Some lists have old names of metrics in the formula itself, with marks that are not letters.
    for i, old in enumerate(sorted(set(OLD_NAME.findall(text)), key=len, reverse=True)):
        names["old__%d" % i] = old
        text = text.replace(old, "old__%d" % i)

    def spell_name(name):
        """Returns the event of a letter; `[0]` asks for one unit alone."""
        if name.endswith("[0]"):        # the count of the first unit alone
            return names.get(name[:-3], name[:-3]) + ":one_unit"
        return names.get(name, name)
    return rewrite_formula(text, "intel", spell_name)


# ---- perf's form ---------------------------------------------------------------------------------

def add_linux_metrics(reading, items, file):
    """Adds a list in Linux's form from Intel's folder."""
    reading.visit_objects(
        items, lambda e: add_linux_metric(reading, find_core_of_file(reading, file),
                                          convert_to_strings(e)))


def add_linux_metric(reading, sheet, e):
    """Adds a metric of a Linux tree."""
    draft = EventDraft(sheet, e.get("MetricName", ""), e)
    if e.get("ScaleUnit", "").strip():
        draft.parse_scale()
    for key, field in LINUX_TEXTS:
        text = e.get(key, "").strip()
        if text:
            draft.set_text(field,
                           rewrite_formula(text, "perf") if field == "metric_threshold" else text)
    desc = draft.make_description()
    expression = e.get("MetricExpr", "").strip()
    if not expression:
        raise RefusedValue("MetricExpr", "missing")
    add_metric_row(reading, draft, draft.name.strip(), desc, rewrite_formula(expression, "perf"),
                   "perf")
