# SPDX-License-Identifier: MIT
"""Instructions that a command executes, counted by valgrind: equal in every run and on every
machine."""

import os
import re
import shutil
import subprocess
import unittest


def count_instructions(command, stdin=None, env=None, expected=0):
    """All those of @command and its children in user space; it must end with status @expected.
    Skips the test without valgrind."""
    if not shutil.which("valgrind"):
        raise unittest.SkipTest("valgrind is missing (Debian package valgrind)")
    environment = dict(os.environ if env is None else env)
    # memory that is freed is written to: a list that is copied again and again shows
    environment["MALLOC_PERTURB_"] = "77"
    with open(stdin or "/dev/null", "rb") as given:
        done = subprocess.run([
            "valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes",
            "--cachegrind-out-file=/dev/null", *command
        ], stdin=given, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, errors="replace", check=False)
    assert done.returncode == expected, (command[:4], done.returncode, done.stderr)
    counts = re.findall(r"I +refs: +([\d,]+)", done.stderr)
    assert counts, done.stderr
    return sum(int(count.replace(",", "")) for count in counts)
