# SPDX-License-Identifier: MIT
"""Runs unittest cases and prints TAP."""

import os
import shutil
import signal
import subprocess
import sys
import unittest

# Vendors' lists and recorded machines, which are other people's and not part of the project.
SHARED = os.environ.get("PERFMON_SHARED") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared")


# Programs under test start with the usual signals, even where the suite runs under nohup or as a
# background job of a shell.
for usual in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(usual, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def own_mounts():
    """Whether programs of the tests may create a mount namespace: root may, except in a chroot
    whose root is not a mount point."""
    if os.geteuid() or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.n = 0

    def say(self, test, ok, tail="", why=""):
        self.n += 1
        name = test.id().replace("__main__.", "").replace("#", "")
        print("%s %d - %s%s" % ("ok" if ok else "not ok", self.n, name, tail))
        for line in why.splitlines():
            print("# " + line)
        sys.stdout.flush()

    def addSuccess(self, test):
        self.say(test, True)

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, False, why=self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, False, why=self.failures[-1][1])

    def addSkip(self, test, reason):
        self.say(test, True, " # SKIP " + " ".join(reason.split()))

    def addSubTest(self, test, subtest, err):
        if err:
            super().addSubTest(test, subtest, err)
            self.say(subtest, False, why=(self.failures or self.errors)[-1][1])


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    if len(sys.argv) > 1:
        suite = unittest.TestSuite(t for s in suite for t in s
                                   if any(a in t.id() for a in sys.argv[1:]))
    result = Result()
    print("TAP version 13")
    suite.run(result)
    print("1..%d" % result.n)
    sys.exit(0 if result.wasSuccessful() else 1)
