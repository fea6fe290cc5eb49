# SPDX-License-Identifier: MIT
"""Lists of Arm's Telemetry Specification: events, metrics with formulas, the top-down tree.

A file describes one product and one revision of it. Files of one product make one model; the
newest revision comes first and decides, older ones add what it lacks. A core's metrics are those
of its methodology: their groups, their places in the decision tree, and the events to sample where
a metric is high. A mesh (CMN) has components: node types whose events differ.
"""

import re

from vendors.drafts import EventDraft, Entry, Sheet, quote_text, quote_word
from vendors.heads import make_table_title
from vendors.hosts import add_match
from vendors.metrics import add_metric_row
from language.formulas import rewrite_formula
from vendors.untrusted import MAX_NAME, RefusedValue, clean_description

HEAD = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"\$schema"\s*:\s*"v[0-9.]+\.schema\.json"\s*,'
                  rb'\s*"document"')
CYCLES = 0x11
MESH_CYCLES = "SYS_CMN_CYCLES"      # the mesh's clock, counted by its DTC
MESH_CYCLE_EVENT = "dtc_cycles"
MESH_CYCLE_TYPE = 3                 # node type of the DTC in the kernel's driver
COMPAT = {"cmn_700": "43c*"}        # the kernel's identifiers of a mesh, as Linux's list has them
MAX_LEVELS = 8
IPC = "INST_RETIRED / CPU_CYCLES"
SHIFT = re.compile(r"\(([^()<]*)<<\s*([0-9]|[12][0-9])\)")    # (A + B << 12)


def is_telemetry_list(head):
    """True if a file that begins with @head is a Telemetry Specification."""
    return HEAD.match(head) is not None


def parse_product_of_file(name):
    """Returns model and revision of a file name: arm-c1-pro-r1p2-pmu is revision (1, 2) of
    c1_pro."""
    stem = re.sub(r"^arm[-_]|[-_]pmu$", "", name)
    m = re.search(r"[-_]r(\d+)p(\d+)$", stem)
    return (stem[:m.start()], (int(m[1]), int(m[2]))) if m else (stem, (99, 99))


def read_product(reading, data):
    """Reads one file of a core or a mesh."""
    product = data.get("product_configuration")
    if type(product) is not dict or type(product.get("product_name")) is not str:
        reading.report_refusal("-", "product_configuration", "expected a product's name")
        return
    source = "Arm telemetry-solution %s, %s" % (reading.model.folder, parse_release(data))
    if "components" in data:
        read_mesh(reading, data, product, source)
    else:
        read_core(reading, data, product, source)


def parse_release(data):
    """Returns the month and year of a file, for the source of its table."""
    document = data.get("document")
    stamp = document.get("timestamp") if type(document) is dict else ""
    m = re.match(r"(\d\d \w{3}) [\d:]+ (\d{4})", stamp if type(stamp) is str else "")
    return "%s %s" % m.groups() if m else "without a date"


# ---- cores ---------------------------------------------------------------------------------------

def read_core(reading, data, product, source):
    """Reads the events and metrics of a core."""
    sheet = find_core_table(reading, product)
    if source not in sheet.source:
        sheet.source = "%s; %s" % (sheet.source, source) if sheet.source else source
    slots = product.get("num_slots")
    if type(slots) is int and 0 < slots < 256 and "feature slots=%d" % slots not in sheet.features:
        sheet.features.append("feature slots=%d" % slots)
    events = list_object_items(reading, data, "events")
    reading.visit_objects(events, lambda e: read_event(reading, sheet, e))
    read_metrics(reading, sheet, data)


def find_core_table(reading, product):
    """Returns the sheet of the core."""
    m = reading.model

    def make_sheet():
        """Makes the sheet of the core."""
        sheet = Sheet(m.name, make_table_title(m.name,
                                               clean_description(product["product_name"])[:100]),
                      ["arm.core"])
        reading.cores[""] = m.name
        if "SME" in product["product_name"]:
            sheet.unit = "SME2"             # a shared unit with a PMU of its own
        else:
            sheet.device = "armv8_pmuv3_0"
        version = "armv9_" if str(product.get("architecture", "")).startswith("armv9") else "armv8_"
        sheet.aliases += dict.fromkeys(("armv8_" + m.name, version + m.name))
        sheet.aliases += reading.processor.libpfm if reading.processor else []
        return sheet
    sheet = reading.get_sheet(m.name, make_sheet)
    if not sheet.matches:
        match_product(reading, sheet, product)
    return sheet


def match_product(reading, sheet, product):
    """Adds the machines with the product's implementer and part."""
    implementer, part = product.get("implementer"), product.get("part_num")
    if all(type(t) is str and re.fullmatch("0x[0-9a-fA-F]{1,3}", t) for t in (implementer, part)):
        value = int(implementer, 16) << 24 | int(part, 16) << 4
        add_match(sheet, {"arch": "arm64", "value": value, "mask": 0xFF00FFF0})
    else:
        reading.report_refusal("-", "part_num", "not an implementer and a part")


def list_object_items(reading, data, key):
    """Yields the members of an object as objects with their name under "name"."""
    found = data.get(key)
    if type(found) is not dict:
        reading.report_refusal("-", key, "expected an object")
        return []
    return [dict(value, name=name) if type(value) is dict else value
            for name, value in found.items()]


def make_event_name(e):
    """Returns the name of object @e if it can be one."""
    name = e["name"].strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise RefusedValue("name", "too long, or cannot be printed")
    return name


def get_event_code(e, limit):
    """Returns the code of object @e."""
    code = e.get("code")
    if type(code) is not str or not re.fullmatch("0x[0-9a-fA-F]{1,8}", code):
        raise RefusedValue("code", "'%s' is not a number" % str(code)[:20])
    if int(code, 16) > limit:
        raise RefusedValue("code", "expected an event number, got '%s'" % code)
    return int(code, 16)


def make_event_text(e):
    """Returns the title, and the description as the long text."""
    title, text = e.get("title"), e.get("description")
    title = clean_description(title) if type(title) is str else ""
    text = clean_description(text) if type(text) is str else ""
    return (title, text if text != title else "") if title else (text, "")


def read_event(reading, sheet, e):
    """Adds an event of the core. A second list may repeat it."""
    name, code = make_event_name(e), get_event_code(e, sheet.at["code"].max)
    if type(e.get("accesses")) is list and "PMU" not in e["accesses"]:
        reading.report_note(name, "accesses", "an event of the trace unit alone: left out")
        return
    known = next((row for row in sheet.rows if row.name == name), None)
    if known is not None:
        if known.get_value("code") != code:
            raise RefusedValue("code",
                               "0x%x, another list has 0x%x" % (code, known.get_value("code")))
        return
    general = sheet.known & 0x7FFFFFFF
    desc, detail = make_event_text(e)
    on = general | 1 << 31 if code == CYCLES else general
    sheet.add_row(Entry(name, desc, on, [("code", code)], 0, reading.file, detail))
    reading.counts["core"] += 1


# ---- metrics -------------------------------------------------------------------------------------

def read_metrics(reading, sheet, data, spell=None):
    """Adds the metrics of a core; @spell spells names of events."""
    groups = read_metric_groups(reading, sheet, data)
    tree = read_decision_tree(data)
    seen = {row.name for row in sheet.rows}
    items = [e for e in list_object_items(reading, data, "metrics")
             if not (type(e) is dict and e["name"] in seen)]
    reading.visit_objects(items, lambda e: read_metric(reading, sheet, e, groups, tree, spell))


def read_metric_groups(reading, sheet, data):
    """Returns {metric: names of its groups}. Adds statements for descriptions of groups."""
    groups, out = data.get("groups"), {}
    found = groups.get("metrics") if type(groups) is dict else None
    for group, what in found.items() if type(found) is dict else ():
        names = what.get("metrics") if type(what) is dict else None
        if type(names) is not list or len(group) > MAX_NAME:
            reading.report_refusal(group[:60], "groups", "expected a list of metrics")
            continue
        for name in names:
            out.setdefault(str(name), []).append(group)
        text = what.get("description")
        line = "metricgroup %s %s" % (
            quote_word(group), quote_text(clean_description(text) if type(text) is str else group))
        if not any(f.startswith("metricgroup %s " % quote_word(group)) for f in sheet.features):
            sheet.features.append(line)
    return out


def read_decision_tree(data):
    """Returns {metric: (its parent or '', its level)} of the top-down methodology."""
    methods = data.get("methodologies")
    method = methods.get("topdown_methodology") if type(methods) is dict else None
    tree = method.get("decision_tree") if type(method) is dict else None
    if type(tree) is not dict or type(tree.get("root_nodes")) is not list:
        return {}
    nodes = tree.get("metrics")
    below = {n["name"]: n.get("next_items") for n in nodes if type(n) is dict and
             type(n.get("name")) is str} if type(nodes) is list else {}
    found, level = {str(root): ("", 1) for root in tree["root_nodes"]}, list(tree["root_nodes"])
    for depth in range(2, MAX_LEVELS):
        upper, level = level, []
        for name in upper:
            children = below.get(name) if type(name) is str else None
            for child in children if type(children) is list else ():
                if type(child) is str and child in below and child not in found:
                    found[child] = name, depth
                    level.append(child)
    return found


def read_metric(reading, sheet, e, groups, tree, spell):
    """Adds a metric with its groups and its place in the decision tree."""
    formula = e.get("formula")
    if type(formula) is not str:
        raise RefusedValue("formula", "missing")
    draft = EventDraft(sheet, e["name"], e)
    name = e["name"].strip()
    if name == "ipc" and formula.strip() != IPC:
        name = "ipc_active"         # without clocks that wait for an event, which `ipc` includes
    if type(e.get("units")) is str and clean_description(e["units"]):
        draft.set_text("unit", clean_description(e["units"]))
    if e["name"] in groups:
        draft.set_text("metric_group", ";".join(groups[e["name"]]))
    parent, level = tree.get(e["name"], ("", 0))
    if parent:
        draft.set_text("metric_parent", parent)
    if level:
        sheet.declare_field("metric_level", None, 8)
        draft.set_value("metric_level", level)
    samples = e.get("sample_events")
    samples = [s for s in samples if type(s) is str] if type(samples) is list else []
    if samples and not spell:
        draft.set_text("metric_locate", ";".join(samples))
    desc, draft.detail = make_event_text(e)
    add_metric_row(reading, draft, name, desc, rewrite_formula(formula, "own", spell), "own")


# ---- meshes --------------------------------------------------------------------------------------

def read_mesh(reading, data, product, source):
    """Reads the components of a mesh."""
    m = reading.model

    def make_sheet():
        """Makes the sheet of the mesh."""
        sheet = Sheet("arm_" + m.name, "Arm " + clean_description(product["product_name"])[:100],
                      ["arm.cmn"])
        sheet.device, sheet.unit, sheet.uncore = "arm_cmn", "arm_cmn", True
        sheet.source = source
        if m.name in COMPAT:
            EventDraft(sheet, "", {}).declare_text("compat")
        return sheet
    sheet = reading.get_sheet("arm_" + m.name, make_sheet)
    cycles = Entry(MESH_CYCLE_EVENT, "Clocks of the mesh.", None, [("type", MESH_CYCLE_TYPE)], 0,
                   reading.file)
    sheet.add_row(cycles)
    for name, component in data["components"].items():
        if type(component) is not dict:
            reading.report_refusal(str(name)[:60], "components", "expected an object")
            continue
        node = component.get("product_configuration")
        node = node.get("device_id") if type(node) is dict else None
        if type(node) is int and 0 < node <= sheet.at["type"].max:
            items = list_object_items(reading, component, "events")
            reading.visit_objects(
                items, lambda e, node=node: read_mesh_event(reading, sheet, node, e))
    for component in [*data["components"].values(), data]:
        if type(component) is dict:
            read_mesh_metrics(reading, sheet, component)


def read_mesh_event(reading, sheet, node, e):
    """Adds an event of a node of the mesh."""
    if e["name"] == MESH_CYCLES:
        return
    name, code = make_event_name(e), get_event_code(e, sheet.at["eventid"].max)
    desc, detail = make_event_text(e)
    row = Entry(name, desc, None, [("eventid", code), ("type", node)], 0, reading.file, detail)
    if reading.model.name in COMPAT:
        row.add_text("compat", COMPAT[reading.model.name])
    sheet.add_row(row)
    reading.counts["uncore"] += 1


def read_mesh_metrics(reading, sheet, component):
    """Adds the metrics of a component, except those of watchpoints, which depend on a port's
    number, and those of the mesh's frequency, which no counter has."""
    groups = read_metric_groups(reading, sheet, component)
    events = {row.name for row in sheet.rows}

    def read_mesh_metric(e):
        """Adds a metric of the component."""
        formula = e.get("formula")
        if type(formula) is not str:
            raise RefusedValue("formula", "missing")
        names = set(re.findall(r"[A-Za-z_]\w*", formula)) - {MESH_CYCLES}
        missing = sorted(names - events)
        if missing:
            reading.report_note(e["name"][:MAX_NAME], "formula",
                                "left out: it needs %s, an unknown event" % missing[0][:60])
            return
        chosen = get_filter_number(component, e["name"])

        def spell_name(name):
            """Spells an event with the filter of the metric."""
            if name == MESH_CYCLES:
                return MESH_CYCLE_EVENT
            return "%s:occupid=%d" % (name, chosen) if chosen else name
        e["formula"] = SHIFT.sub(lambda m: "((%s) * %d)" % (m[1], 1 << int(m[2])), formula)
        read_metric(reading, sheet, e, groups, {}, spell_name)
    reading.visit_objects(list_object_items(reading, component, "metrics"), read_mesh_metric)


def get_filter_number(component, name):
    """Returns the number of the filter at the end of a metric's name:
    X__occupancy_filter_read_requests. The kernel uses one field for the numbers of all kinds of
    filters."""
    what = component.get("filter_specification")
    filters = what.get("filters") if type(what) is dict else None
    for kind, found in filters.items() if type(filters) is dict else ():
        known = found.get("encodings") if type(found) is dict else None
        choice = name.partition("__%s_" % kind)[2]
        found = known.get(choice) if type(known) is dict and choice else None
        number = found.get("encoding") if type(found) is dict else None
        if type(number) is int and 0 <= number < 16:
            return number
    return 0
