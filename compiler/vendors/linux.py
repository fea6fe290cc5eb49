# SPDX-License-Identifier: MIT
"""One list of Linux: the files of a folder of tools/perf/pmu-events/arch.

An object is an event, a metric, or both; it may take what an architecture's standard events say.
Metrics, their groups and the counts of counters wait until all events are known."""

import os
import re

from language import tables as pt
from vendors.architectures import get_core_counters, find_table
from vendors.drafts import EventDraft, quote_text, quote_word
from vendors.heads import find_unit_device
from vendors.intel_core import add_core_event, add_topdown_rows
from vendors.hosts import expand_to_identifiers, add_linux_matches
from vendors.metrics import add_linux_metric
from vendors.untrusted import (
    MAX_NAME, MAX_TEXT, NUMBER, RefusedValue, clean_description, name_of, convert_to_strings,
    get_cached_value)
from vendors.uncore import add_uncore_event

FIELD_KEYS = (("UMask", "umask"), ("CounterMask", "cmask"), ("Invert", "inv"),
              ("EdgeDetect", "edge"),
              ("EnAllCores", "enallcores"), ("EnAllSlices", "enallslices"), ("SliceId", "sliceid"),
              ("ThreadMask", "threadmask"), ("RdWrMask", "rdwrmask"))


def read_linux_lists(reading):
    """Reads the lists of a model of a Linux tree into sheets."""
    LinuxList(reading).read_files()


class LinuxList:
    """A list while it is read."""

    def __init__(self, reading):
        """Prepares to read the files of a model."""
        m = reading.model
        self.reading, self.model = reading, m
        self.intel = m.arch == "x86" and not m.folder.startswith("amd")
        self.standard = {}      # name in small letters -> object
        self.metrics = []       # postponed: (file, object, unit)
        self.groups = []        # postponed: (file, descriptions of metric groups)
        self.counters = []      # postponed: (file, numbers of counters of units)
        reading.desc = "%s (Linux event list, %s)" % (m.folder, m.arch)

    def read_files(self):
        """Reads all files: events first, then the metrics that use them."""
        self.read_standard()
        for shown, inner, data in self.reading.read_files(
                sorted(self.model.files, key=lambda f: f[1])):
            self.read_file(shown, os.path.basename(inner), data)
        if self.reading.intel:
            for name in self.reading.cores.values():
                add_topdown_rows(self.reading, self.reading.builders[name])
        self.enter_metrics()
        self.enter_groups()
        for shown, data in self.counters:
            self.reading.file = shown
            self.reading.visit_objects(data, self.read_unit_counters)
        add_linux_matches(self.reading)

    def read_standard(self):
        """Reads the architecture's standard events, which objects refer to by name."""
        for _, _, data in self.reading.read_files((shown, "", source) for shown,
                                                  source in self.model.standard):
            for e in data if type(data) is list else ():
                if type(e) is dict:
                    for key in ("EventName", "MetricName"):
                        if type(e.get(key)) is str:
                            self.standard.setdefault(e[key].lower(), e)

    def read_file(self, shown, file, data):
        """Reads one file, or keeps it until the events are read."""
        if file == "counter.json" and type(data) is not dict:
            self.counters.append((shown, data))
        elif type(data) is not dict:
            topic = re.sub(r"[-_]", " ", file[:-5])
            self.reading.visit_objects(data, lambda e: self.read_object(e, topic))
        elif file == "metricgroups.json":
            self.groups.append((shown, data))
        else:
            self.reading.report_refusal("-", "-", "neither events nor metrics")

    # ---- events ----------------------------------------------------------------------------------

    def read_object(self, e, topic):
        """Reads an object: an event, a metric, or both."""
        e = self.merge_standard(convert_to_strings(e))
        unit = e.get("Unit", "").strip()
        metric = "MetricName" in e or "MetricExpr" in e
        if metric:
            self.metrics.append((self.reading.file, e, unit))
        if "EventName" in e:
            self.add_event(e, topic, unit)
        elif not metric:
            raise RefusedValue("EventName", "missing")

    def merge_standard(self, e):
        """Returns @e completed with the standard event that it refers to."""
        name = e.get("ArchStdEvent")
        if not name:
            return e
        base = self.standard.get(name.strip().lower())
        if base is None:
            raise RefusedValue("ArchStdEvent", "no standard event of that name")
        merged = dict(convert_to_strings(base))
        merged.update({k: v for k, v in e.items() if k != "ArchStdEvent"})
        return merged

    def add_event(self, e, topic, unit):
        """Adds an event to the sheet of its unit."""
        if not re.fullmatch(r"[A-Za-z0-9_, -]{0,60}", unit):
            raise RefusedValue("Unit", "unknown unit '%s'" % unit[:40])
        if self.intel and unit and not unit.startswith("cpu_"):
            add_uncore_event(self.reading, e)
        elif self.intel:
            sheet = find_table(self.reading, unit)
            row = add_core_event(self.reading, sheet, e)
            row.add_text("topic", topic)
        else:
            self.add_plain_event(find_table(self.reading, unit), e, topic)

    def add_plain_event(self, sheet, e, topic):
        """Adds an event of AMD, Arm, POWER, s390, RISC-V or their units: fields without
        constraints."""
        draft = EventDraft(sheet, name_of(e), e)
        arch = self.model.arch
        uncore = sheet.uncore
        selector = set_event_select(draft)
        draft.set_fields(FIELD_KEYS)
        if draft.get_number("PerPkg") or uncore and arch == "x86":
            draft.flags |= pt.ROW_PER_PKG
        if draft.get_number("Experimental"):
            draft.flags |= pt.ROW_EXPERIMENTAL
        period = draft.get_number("SampleAfterValue")
        if period:
            sheet.declare_field("period", None)
            draft.set_value("period", str(period))
        compat = e.get("Compat", "").strip()
        if compat:
            draft.set_text("compat", expand_to_identifiers(compat))
        draft.set_filters()
        row = draft.make_row(get_core_counters(sheet, arch, selector), self.reading.file)
        draft.set_text("topic", topic)
        sheet.add_row(row)
        self.reading.counts["uncore" if uncore else "core"] += 1

    # ---- postponed objects -----------------------------------------------------------------------

    def enter_metrics(self):
        """Adds the metrics that were kept."""
        for shown, e, unit in self.metrics:
            self.reading.file = shown
            sheet = self.find_metric_table(unit)
            try:
                add_linux_metric(self.reading, sheet, e)
            except RefusedValue as r:
                self.reading.report_refusal(e.get("MetricName", "-")[:MAX_NAME], r.key, r.why)

    def find_metric_table(self, unit):
        """Returns the table for metrics: the core's, or the unit's if the list has no core."""
        tables = self.reading.builders
        if unit.startswith("cpu_") or not tables or self.reading.cores or self.model.arch == "x86":
            return find_table(self.reading, unit if unit.startswith("cpu_") else "")
        return find_table(self.reading, unit) if unit else next(iter(tables.values()))

    def enter_groups(self):
        """Adds the texts of groups of metrics."""
        for shown, data in self.groups:
            self.reading.file = shown
            for group, text in data.items():
                if type(text
                        ) is not str or not group or len(group) > MAX_NAME or len(text) > MAX_TEXT:
                    self.reading.report_refusal(group[:60], "-", "expected a text")
                elif self.reading.builders:
                    sheet = self.find_metric_table("")
                    sheet.features.append(
                        "metricgroup %s %s" %
                        (quote_word(group), quote_text(clean_description(text) or group)))

    def read_unit_counters(self, e):
        """Sets the numbers of counters of a unit."""
        e = convert_to_strings(e)
        unit = e.get("Unit", "").strip()
        fixed, general = get_cached_value(NUMBER, e, "CountersNumFixed"), get_cached_value(
            NUMBER, e, "CountersNumGeneric")
        if fixed > 32 or general > 32:
            raise RefusedValue("CountersNumGeneric", "more than 32 counters")
        device = "cpu" if unit == "core" else unit if unit.startswith("cpu_") else find_unit_device(
            unit)
        for sheet in self.reading.builders.values():
            if sheet.device == device:
                sheet.fixed, sheet.general = fixed, general


def split_into_fields(sheet, config):
    """Splits a configuration word into values of the head's fields, code first; uses a field for
    the whole word if they do not cover it."""
    out, left = [], config
    for f in sorted(sheet.at.values(), key=lambda f: f.name != "code"):
        v, place = 0, 0
        for word, lsb, width in f.ranges:
            if word == 0:
                v |= (left >> lsb & (1 << width) - 1) << place
                left &= ~(((1 << width) - 1) << lsb)
            place += width
        if v or f.name == "code" and f.ranges:
            out.append((f.name, v))
    if not left and out:
        return out
    sheet.declare_field("config", "config:0-63")
    return [("config", config)]


def set_event_select(draft):
    """Sets and returns the value that selects the event: all 64 bits, a node of a mesh, or an event
    code."""
    sheet, e = draft.sheet, draft.event
    if "ConfigCode" in e:
        value = draft.get_number("ConfigCode")
        for field, v in split_into_fields(sheet, value):
            draft.set_value(field, v)
    elif "EventidCode" in e:
        draft.set_field("eventid", draft.get_number("EventidCode"), "EventidCode")
        draft.set_field("type", draft.get_number("NodeType"), "NodeType")
    elif "EventCode" in e:
        draft.set_field("code", draft.get_number("EventCode"), "EventCode")
    else:
        raise RefusedValue("EventCode", "missing")
    return draft.values[0][1]
