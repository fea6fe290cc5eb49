# SPDX-License-Identifier: MIT
"""One folder of Intel's repository: events/*.json, metrics/*.json, and the lines of mapfile.csv
that name it.

Cores come first, and one table each: a hybrid has several. Uncore events follow. What speaks of
core events (masks, metrics, latencies) waits until all of them are known."""

import os
import re

from language import tables as pt
from vendors.intel_core import add_core_event, find_core_of_file, make_core_sheet, add_topdown_rows
from vendors.intel_small_core import add_groups_of_small_cores, read_small_core_metrics
from vendors.heads import get_core_libpfm_name, is_big, is_small, make_table_title
from vendors.intel_masks import add_fp_arith_masks, add_offcore_matrix
from vendors.hosts import select_intel_hosts, add_intel_matches
from vendors.metrics import add_intel_metric, add_intel_metrics, add_linux_metrics
from vendors.untrusted import MAX_NAME, clean_description
from vendors.uncore import add_uncore_event

CORE_FILE = re.compile(r"_core(_v[0-9.]+)?\.json$")
HYBRID_FILE = re.compile(r"[^_]+_([a-z0-9]+)_core(?:_v[0-9.]+)?\.json", re.I)


def read_folder(reading):
    """Reads a folder of Intel's repository."""
    hosts = select_intel_hosts(reading)
    cores = [inner for _, inner, _ in reading.model.files if is_core(inner)]
    hybrid = len(cores) > 1 or any(h.kind == "hybridcore" for h in hosts)
    roles = parse_roles(hosts)
    values = {inner: data for _, inner, data in reading.read_files(reading.model.files)}
    later = []
    for shown, inner, _ in sorted(reading.model.files, key=lambda f: (not is_core(f[1]), f[1])):
        reading.file = shown
        data = values.get(inner)
        if data is not None:
            later += [(shown, inner, *work)
                      for work in read_file(reading, inner, data, hybrid, roles)]
    for shown, inner, work, items in later:
        reading.file = shown
        work(reading, items, os.path.basename(inner))
    add_small_core_metrics(reading)
    add_intel_matches(reading, hosts)


def is_core(inner):
    """True if the file lists events of a core."""
    return inner.startswith("events") and CORE_FILE.search(inner) is not None


def parse_roles(hosts):
    """Returns {file name: line of the mapfile}; the line that names a core of a hybrid, if there is
    one."""
    roles = {}
    for h in hosts:
        if h.file not in roles or h.kind == "hybridcore":
            roles[h.file] = h
    return roles


def read_file(reading, inner, data, hybrid, roles):
    """Reads a file of events. For other files, returns postponed work as (function, items)."""
    file = os.path.basename(inner)
    if type(data) is dict and "Events" in data and inner.startswith("events"):
        if is_core(inner):
            add_core_list(reading, file, data, hybrid, roles.get(file))
        elif "matrix" in file:
            return [(add_offcore_matrix, data["Events"])]
        elif "fp_arith" in file:
            return [(add_fp_arith_masks, data["Events"])]
        elif "uncore" in file:
            experimental = "experimental" in file
            reading.visit_objects(data["Events"],
                                  lambda e: add_uncore_event(reading, e, experimental))
        else:
            reading.report_refusal("-", "-", "a list of unknown kind")
    elif type(data) is dict and type(data.get("Metrics")) is list:
        return [(add_intel_metrics, add_groups_of_small_cores(data["Metrics"]))]
    elif type(data) is dict and "Data" in data and "retire_latency" in file:
        return [(add_retire_latency, data["Data"])]
    elif type(data) is list and inner.startswith("metrics"):
        return [(add_linux_metrics, data)]
    else:
        reading.report_refusal("-", "-", "neither events nor metrics")
    return []


# ---- a core's list -------------------------------------------------------------------------------

def add_core_list(reading, file, data, hybrid, role):
    """Adds the events of a core, or of one core of a hybrid processor."""
    m = reading.model
    parts = HYBRID_FILE.fullmatch(file)
    core = parts[1].lower() if hybrid and parts else ""
    header = data["Header"] if type(data.get("Header")) is dict else {}
    given = (get_header_title(header) or m.folder)[:200]
    reading.desc = reading.desc or given
    events = data["Events"]
    keys = set()
    for e in events if type(events) is list else ():
        if type(e) is dict:
            keys.update(e)
    name = m.name + "_" + core if core else m.name
    sheet = reading.get_sheet(
        name, lambda: make_core_sheet(reading, name, core, keys, get_core_device(core, role),
                                      make_table_title(m.name, given, core)))
    reading.cores[core] = name
    sheet.aliases += [n for n in list_core_aliases(m, core)
                      if n not in [sheet.name] + sheet.aliases]
    sheet.source = "intel/perfmon %s, version %s of %s" % (
        m.folder, clean_description(str(header.get(
            "Version", "")))[:20], clean_description(str(header.get("DatePublished", "")))[:20])
    reading.visit_objects(events, lambda e: add_core_event(reading, sheet, e))
    mend_rows(reading, sheet)
    add_topdown_rows(reading, sheet)
    count_without_hyperthreading(sheet)


def mend_rows(reading, sheet):
    """Adds values that the list of the processor lacks, unless a newer list has them."""
    for name, values, reason in reading.processor.mends if reading.processor else ():
        row = sheet.seen.get(pt.fold(name))
        if row is not None and not any(row.has_value(key) for key, _ in values):
            row.values = row.values + values
            row.add_text("note", reason)


def get_header_title(header):
    """Title of the processor in the header of a list."""
    info = header.get("Info")
    title = re.sub(r"^Performance Monitoring Events for ", "",
                   clean_description(info) if type(info) is str else "")
    return re.sub(r"\s*-\s*V[0-9.]+$", "", title)


def get_core_device(core, role):
    """The kernel's name of a core's PMU."""
    if not core:
        return "cpu"
    if is_big(core):
        return "cpu_core"
    if role and role.core_name == "LowPower_Atom":
        return "cpu_lowpower"
    return "cpu_atom" if is_small(core) or role and role.core_name == "Atom" else "cpu_core"


def list_core_aliases(model, core):
    """Names of a core's table in other programs."""
    processor = model.find_processor()
    if not processor:
        return []
    names = processor.linux[:1] + processor.libpfm
    if core:
        names = ["%s_%s" % (processor.linux[0], core)]
        if get_core_libpfm_name(core):
            names.insert(0, "%s_%s"
                         % (processor.libpfm[0] if processor.libpfm else model.name,
                            get_core_libpfm_name(core)))
    return [n.replace("-", "_") for n in names]


def count_without_hyperthreading(sheet):
    """Counts the general counters with hyper-threading off, if an event has them."""
    if sheet.htoff:
        sheet.features.append("feature n_general_htoff=%d" %
                              (sheet.htoff & 0xFFFFFFFF).bit_length())


def add_small_core_metrics(reading):
    """Adds the metrics of a hybrid's small cores."""
    if not reading.model.sheet:
        return
    reading.file, source = reading.model.sheet
    for name, e in read_small_core_metrics(reading, source):
        reading.visit_objects(
            [e], lambda item, sheet=reading.builders[name]: add_intel_metric(reading, sheet, item))


# ---- latencies -----------------------------------------------------------------------------------

def add_retire_latency(reading, data, file):
    """Adds latencies of retirement to the events that they belong to."""
    sheet = find_core_of_file(reading, file)
    if type(data) is not dict:
        reading.report_refusal("-", "Data", "expected an object")
        return
    for name, v in data.items():
        row = sheet.seen.get(pt.fold(name))
        if row is None:
            reading.report_refusal(name[:MAX_NAME], "Data", "no event of that name")
        elif type(v) is not dict or not all(type(v.get(k)) in (int, float)
                                            for k in ("MIN", "MAX", "MEAN")):
            reading.report_refusal(name[:MAX_NAME], "Data", "expected MIN, MAX and MEAN")
        else:
            row.add_text("note", "retire latency in cycles: least %g, mean %g, most %g"
                         % (v["MIN"], v["MEAN"], v["MAX"]))
