# SPDX-License-Identifier: MIT
"""Lists of gator in their own form, from the numbers of them that SHARED/data/newer/gator holds.

write_tree() writes pmus.xml and the event files, as compiler reads them. Gator has titles instead of
names, so an event gets the name that another list has for its number on the same core or its
nearest relative, in a comment before it: Arm's or libpfm4's for that core, else Linux's or Arm's
for the relative."""

import csv
import json
import os
from xml.sax.saxutils import quoteattr

# Cores whose numbers beyond the architecture's are those of another core's list.
RELATIVES = {
    "Cortex-A32": "cortex-a53", "Cortex-A34": "cortex-a53", "Cortex-A35": "cortex-a53",
    "Cortex-A53": "cortex-a53", "Cortex-X925": "cortex-x4", "Cortex-A725": "cortex-a720",
    "Cortex-R52+": "cortex-r52",
}
# libpfm4's tables of cores.
LIBPFM4 = {
    "Cortex-A7": "arm_ac7", "Cortex-A8": "arm_ac8", "Cortex-A9": "arm_ac9",
    "Cortex-A15": "arm_ac15", "Cortex-A53": "arm_ac53", "Neoverse-N1": "arm_n1",
    "Cortex-X4": "arm_x4", "ARM11": "arm_1176", "Krait-architected": "qcom_krait",
}


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def read_libpfm4(path):
    """Returns {table: {number: name}}."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            entry = json.loads(line)
            for pmu in entry["pmus"]:
                found[pmu["name"]] = {e["code"]: e["e"] for e in reversed(entry["events"])}
    return found


def read_lists(folders):
    """Returns {core: {number: name}} of Arm's and Linux's lists below @folders."""
    found = {}
    for folder in folders:
        for top, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".json"):
                    add_list(found, os.path.join(top, name))
    return found


def add_list(found, path):
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    core = os.path.basename(path)[:-5]
    if type(data) is dict and data.get("_type") == "Events":
        events = [(e.get("code"), e.get("name")) for e in data["events"]]
    elif "cortex-a53" in path and type(data) is list:
        core = "cortex-a53"
        events = [(int(e["EventCode"], 0), e["EventName"]) for e in data if "EventCode" in e]
    else:
        return
    for code, name in events:
        if type(code) is int and name:
            found.setdefault(core, {})[code] = name


def find_name(row, core, libpfm4, lists):
    code = int(row["code"], 16)
    if row["mnemonic"]:
        return row["mnemonic"]
    own = lists.get(core.lower(), {}).get(code)
    name = own or libpfm4.get(LIBPFM4.get(core), {}).get(code)
    return name or lists.get(RELATIVES.get(core), {}).get(code, "")


def write_tree(newer, libpfm4, folders, into):
    """@newer has the numbers, @libpfm4 is the file of libpfm4's names, @folders have Arm's and
    Linux's lists, @into is new."""
    os.makedirs(into)
    names, lists = read_libpfm4(libpfm4), read_lists(folders)
    units = read_csv(os.path.join(newer, "_pmus.csv"))
    with open(os.path.join(into, "pmus.xml"), "w", encoding="utf-8") as f:
        f.write("<pmus>\n")
        for u in units:
            f.write(format_unit(u))
        f.write("</pmus>\n")
    for file in sorted({u["events_file"] for u in units}):
        path = os.path.join(newer, file + ".csv")
        if os.path.exists(path):
            write_events(read_csv(path), file, names, lists,
                         os.path.join(into, "events-%s.xml" % file))


def format_unit(u):
    keys = (("id", "id_sysfs"), ("counter_set", "counter_set"), ("core_name", "core_name"),
            ("pmnc_counters", "n_counters"), ("profile", "profile"))
    words = ["%s=%s" % (key, quoteattr(u[column])) for key, column in keys if u[column]]
    inner = "".join('<cpuid id="%s"/>' % c for c in u["cpuids"].split())
    return "<%s %s>%s</%s>\n" % (u["kind"], " ".join(words), inner, u["kind"])


def write_events(rows, file, names, lists, path):
    with open(path, "w", encoding="utf-8") as f:
        last = None
        for r in rows:
            if r["counter_set"] != last:
                f.write("%s<counter_set name=%s/>\n<category name=%s counter_set=%s>\n" % (
                    "</category>\n" if last else "", quoteattr(r["counter_set"] + "_cnt"),
                    quoteattr(r["category"]), quoteattr(r["counter_set"] + "_cnt")))
                last = r["counter_set"]
            if not r["code"]:
                continue
            name = find_name(r, file, names, lists)
            f.write("<!--%s-->" % name if name else "")
            f.write("<event event=%s title=%s name=%s%s/>\n" % (
                quoteattr(r["code"]), quoteattr(r["title"]), quoteattr(r["name"]),
                " counter=" + quoteattr(r["fixed_counter"]) if r["fixed_counter"] else ""))
        f.write("</category>\n")
