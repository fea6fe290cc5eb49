#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts test cases, not test programs: reads Meson's JUnit logs and prints failures with what they
say, skips, and the closing line.

tally.py LOG
"""
import re
import sys
import xml.etree.ElementTree as tree

MOST_LINES = 20    # of a reason


def get_program(suite):
    return suite.get("name").rsplit(" / ", 1)[-1]


def read_cases(log):
    """Name of each test program -> its cases as (name, outcome, why)."""
    suites = {}
    for suite in log.iter("testsuite"):
        cases = suites.setdefault(get_program(suite), [])
        for case in suite.iter("testcase"):
            skip = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                cases.append((case.get("name"), "failed", ""))
            elif skip is not None:
                cases.append((case.get("name"), "skipped", skip.get("message") or ""))
            else:
                cases.append((case.get("name"), "passed", ""))
        if not cases:  # it ended before it said anything
            cases.append(("(no case)", "failed" if suite.get("errors") != "0"
                          or suite.get("failures") != "0" else "passed", ""))
        elif int(suite.get("errors") or 0) > 0 and all(c[1] != "failed" for c in cases):
            cases.append(("(how it ended)", "failed", ""))
    return suites


def read_reasons(log):
    """(name of the test program, failed case) -> the comments in its output before and after the
    line of the case."""
    reasons = {}
    for suite in log.iter("testsuite"):
        name, before, failed = get_program(suite), [], None
        for line in (suite.findtext("system-out") or "").splitlines():
            found = re.match(r"(not )?ok \d+ (?:- )?(.*)", line)
            if found:
                failed = reasons.setdefault((name, found[2]), before) if found[1] else None
                before = []
            elif line.startswith("#"):
                (before if failed is None else failed).append(line)
    return reasons


def main(args):
    log = tree.parse(args[0]).getroot()
    suites, reasons = read_cases(log), read_reasons(log)
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name, cases in suites.items():
        for case, outcome, why in cases:
            count[outcome] += 1
            if outcome != "passed":
                print(f"{outcome:8}{name}: {case}{': ' + why if why else ''}")
            if outcome == "failed":
                title = re.sub(r"^\d+ - ", "", case)
                print("".join(f"        {line}\n"
                              for line in reasons.get((name, title), [])[-MOST_LINES:]), end="")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
