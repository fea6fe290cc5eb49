#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the judgements of reports of pfm check-events as a table of C: embed.py OUTPUT FILE..."""
import json
import sys

JUDGEMENTS = {"right": "JUDGED_RIGHT", "biased": "JUDGED_BIASED", "noisy": "JUDGED_NOISY",
              "zero": "JUDGED_ZERO", "unrelated": "JUDGED_UNRELATED"}


def quote(text):
    """A string of C. Other characters than printable ASCII are refused."""
    if not text.isascii() or not text.isprintable():
        raise ValueError("'%s' is not printable ASCII" % ascii(text)[:60])
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def list_rows(report):
    """The rows of a report's judged events."""
    machine = report["machine"]
    words = [machine["processor"], machine.get("microcode", ""), machine["system"],
             machine.get("emulator", "")]
    for event in report["events"]:
        if event["judgement"] not in JUDGEMENTS:
            continue
        yield "\t{ %s, %s, { %s, %s, %r, %r } },\n" % (
            quote(event["event"]), ", ".join(map(quote, words)), JUDGEMENTS[event["judgement"]],
            "true" if "within" in event else "false", float(event.get("low", 0)),
            float(event.get("high", event.get("within", 0))))


def main(output, *reports):
    """Reads the reports and writes their rows."""
    rows = []
    for path in reports:
        with open(path, encoding="utf-8") as f:
            rows += list_rows(json.load(f))
    with open(output, "w", encoding="ascii") as out:
        out.write('#include "check_events/known.h"\n\nconst struct known_check known_checks[] = {\n')
        out.write("".join(rows))
        out.write("\t{ NULL, NULL, NULL, NULL, NULL, { NOT_JUDGED, false, 0, 0 } },\n};\n")


main(*sys.argv[1:])
