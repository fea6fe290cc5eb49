# SPDX-License-Identifier: MIT
"""Runs pytest on the files named and prints TAP, a line for each case, as Meson counts them."""
import sys

import pytest


class Tap:
    def __init__(self):
        self.n = 0

    def say(self, ok, name, tail="", why=""):
        self.n += 1
        print("%s %d - %s%s" % ("ok" if ok else "not ok", self.n, name.replace("#", ""), tail))
        for line in why.splitlines():
            print("# " + line)
        sys.stdout.flush()

    def pytest_addoption(self, parser):
        # asked for where failures are explained
        parser.addoption("--verbose", dest="verbose", type=int, default=0)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("/")[2]
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(
                report.longrepr)
            self.say(True, name, " # SKIP " + reason.replace("Skipped: ", ""))
        elif report.failed:
            self.say(False, name, why=report.longreprtext)
        elif report.when == "call":
            self.say(True, name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.say(False, report.nodeid or "collection", why=report.longreprtext)


if __name__ == "__main__":
    tap = Tap()
    print("TAP version 13")
    status = pytest.main(["-p", "no:terminal", "-p", "no:cacheprovider", *sys.argv[1:]],
                         plugins=[tap])
    print("1..%d" % tap.n)
    sys.exit(0 if status == pytest.ExitCode.OK else 1)
