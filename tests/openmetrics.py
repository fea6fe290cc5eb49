# SPDX-License-Identifier: MIT
"""A strict reader of OpenMetrics 1.0 text and of the Prometheus text format, made from their
specifications."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)\Z")
SUFFIXES = {
    "counter": ["_total"], "gauge": [""], "stateset": [""], "info": ["_info"], "unknown": [""]
}


class Family:
    def __init__(self, name):
        self.name, self.type, self.unit, self.help = name, None, "", None
        self.samples = {}    # sorted labels -> value

    def __repr__(self):
        return "%s %s %s" % (self.name, self.type, self.samples)


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def read_labels(text):
    found = [(m[1], unescape(m[2])) for m in re.finditer(r'(\w+)="((?:[^"\\]|\\.)*)"', text or "")]
    names = [name for name, _ in found]
    if len(set(names)) != len(names):
        raise ValueError("a label is there twice: " + text)
    return tuple(sorted(found))


def check_states(f):
    sets = {}
    for labels, value in f.samples.items():
        own = dict(labels)
        state = own.pop(f.name)
        sets.setdefault(tuple(sorted(own.items())), {})[state] = value
    for own, states in sets.items():
        if sorted(states.values()) != [0.0] * (len(states) - 1) + [1.0]:
            raise ValueError("not one state of %s is true: %s" % (own, states))


def check_family(f, openmetrics):
    if f.type not in (SUFFIXES if openmetrics else ("counter", "gauge")):
        raise ValueError("type of %s: %s" % (f.name, f.type))
    if not f.help:
        raise ValueError("no help: " + f.name)
    if f.unit and not f.name.endswith("_" + f.unit):
        raise ValueError("unit %s of %s" % (f.unit, f.name))
    if openmetrics and f.name.endswith(("_total", "_info", "_created")):
        raise ValueError("the name of a family has the suffix of a sample: " + f.name)
    if f.type == "stateset":
        check_states(f)
    for labels, value in f.samples.items():
        if not math.isfinite(value) or (f.type == "counter" and value < 0) or (f.type == "info"
                                                                               and value != 1):
            raise ValueError("value of %s%s: %s" % (f.name, labels, value))


def parse(text, openmetrics=True):
    """{name: Family}; ValueError for what the specification excludes."""
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    lines = text.split("\n")[:-1]
    if openmetrics and (lines.pop() != "# EOF" or "# EOF" in lines):
        raise ValueError("# EOF is not the last line")
    families, f = {}, None
    for line in lines:
        comment = re.match(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)\Z", line)
        if comment:
            kind, name, value = comment.groups()
            if f is None or f.name != name:
                if name in families:
                    raise ValueError("the family is there twice: " + name)
                f = families[name] = Family(name)
            key = kind.lower()
            if getattr(f, key) or f.samples:
                raise ValueError("again: " + line)
            if kind == "HELP" and re.search(r'\\[^\\n"]' if openmetrics else r"\\[^\\n]",
                                            re.sub(r"\\\\", "", value)):
                raise ValueError("escape: " + line)
            setattr(f, key, unescape(value) if kind == "HELP" else value)
            continue
        sample = SAMPLE.match(line)
        if not sample or f is None:
            raise ValueError("not a sample: %r" % line)
        name, labels, value = sample[1], read_labels(sample[2]), float(sample[3])
        if name not in [f.name + s for s in (SUFFIXES[f.type] if openmetrics else [""])]:
            raise ValueError("%s is not of family %s" % (name, f.name))
        if labels in f.samples:
            raise ValueError("the series is there twice: " + line)
        f.samples[labels] = value
    for f in families.values():
        check_family(f, openmetrics)
    return families


def value(families, name, **labels):
    """The value of the one series of family @name that has these labels; None if it is missing."""
    found = (
        [
            v
            for own, v in families[name].samples.items()
            if name in families and labels.items() <= dict(own).items()
        ]
        if name in families
        else []
    )
    if len(found) > 1:
        raise ValueError("several series: %s %s" % (name, labels))
    return found[0] if found else None
