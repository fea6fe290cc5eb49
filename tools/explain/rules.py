#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles rules of pfm explain into a table of C: rules.py OUTPUT FILE..."""
import re
import sys

CONDITIONS_MAX = 4
CONDITION = re.compile(r"([\w:/]+) ([<>]) ([0-9.]+)")
KEYS = ("say", "look", "show")
OPTIONAL = ("sample",)


class RuleError(Exception):
    """A fault in a line, or in a node."""


def quote(text):
    """A string of C."""
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def begin_node(rest, nodes):
    """Adds the node of a line "NAME [under PARENT]"."""
    name, _, parent = rest.partition(" under ")
    if not re.fullmatch(r"[a-z0-9-]+", name) or any(n["name"] == name for n in nodes):
        raise RuleError("'%s': expected a new name of small letters, digits and -" % name)
    if parent and not any(n["name"] == parent for n in nodes):
        raise RuleError("the parent '%s' must come before" % parent)
    nodes.append({"name": name, "parent": parent, "when": []})


def add_line(line, nodes):
    """Adds one line to the nodes."""
    key, _, rest = line.partition(" ")
    if key == "node":
        begin_node(rest, nodes)
    elif not nodes:
        raise RuleError("expected node NAME, got '%s'" % key)
    elif key == "when":
        m = CONDITION.fullmatch(rest)
        if not m or len(nodes[-1]["when"]) == CONDITIONS_MAX:
            raise RuleError("expected METRIC < NUMBER or METRIC > NUMBER, at most %d, got '%s'"
                            % (CONDITIONS_MAX, rest))
        nodes[-1]["when"].append((m[1], m[2] == ">", float(m[3])))
    elif key in KEYS + OPTIONAL and key not in nodes[-1]:
        nodes[-1][key] = rest
    else:
        raise RuleError("expected node, when, say, look, show or sample, each once, got '%s'" % key)


def check_node(node):
    """Refuses a node without evidence, or a claim that names a metric of no condition."""
    if not node["when"] or any(k not in node for k in KEYS):
        raise RuleError("node %s needs when, say, look and show" % node["name"])
    known = {metric for metric, _, _ in node["when"]}
    for name in re.findall(r"\{([\w:/]+)\}", node["say"]):
        if name not in known:
            raise RuleError("node %s says {%s}, which is in none of its conditions"
                            % (node["name"], name))


def read_rules(path):
    """The nodes of a file, in file order."""
    nodes = []
    with open(path, encoding="ascii") as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if line and not line.startswith("#"):
                try:
                    add_line(line, nodes)
                except RuleError as e:
                    raise SystemExit("%s:%d: %s" % (path, n, e)) from e
    for node in nodes:
        try:
            check_node(node)
        except RuleError as e:
            raise SystemExit("%s: %s" % (path, e)) from e
    return nodes


def write_node(node):
    """The initializer of a node."""
    when = ", ".join("{ %s, %s, %r }" % (quote(m), "true" if above else "false", limit)
                     for m, above, limit in node["when"])
    return "\t{ %s, %s, %d, { %s },\n\t  %s },\n" % (
        quote(node["name"]), quote(node["parent"]), len(node["when"]), when,
        ",\n\t  ".join(quote(node.get(k, "")) for k in KEYS + OPTIONAL))


def main(output, *paths):
    """Reads all files and writes one table."""
    nodes = [node for path in paths for node in read_rules(path)]
    with open(output, "w", encoding="ascii") as out:
        out.write('#include "explain/explain.h"\n\nconst struct explain_rule explain_rules[] = {\n')
        out.write("".join(map(write_node, nodes)))
        out.write('\t{ NULL, "", 0, { { NULL, false, 0 } }, "", "", "", "" },\n};\n')


main(*sys.argv[1:])
