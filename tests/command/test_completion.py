#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion of pfm in zsh and fish. tests/command/test_cli.py has that of bash.

    PFM  the command (default: pfm of the path)
"""
import os
import shlex
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

PFM = shutil.which(os.environ.get("PFM", "pfm"))
TOOLS = os.path.join(os.environ["PERFMON_TESTS"], "..", "tools")
# compadd and its like, printing the words that they are given.
ZSH = """
compadd() {
	local p='' w
	while [[ $1 == -* ]]; do
		case $1 in
		-S) shift 2 ;;
		-p) p=$2; shift 2 ;;
		--) shift; break ;;
		*) shift ;;
		esac
	done
	for w in "$@"; do [[ $p$w == $PREFIX* ]] && print -r -- "$p$w"; done
	return 0
}
_files() { print -- FILES }
_normal() { print -r -- COMMAND $words }
words=("$@")
CURRENT=$#words
PREFIX=$words[CURRENT]
source $COMPLETION
"""


class Shell:
    def test_the_shell_completes_commands(self):
        self.assertEqual(self.complete("", "st"), ["stat"])
        self.assertIn("encode", self.complete("", ""))

    def test_the_shell_completes_options(self):
        self.assertEqual(self.complete("stat", "--topd"), ["--topdown"])

    def test_the_shell_completes_events(self):
        found = ["skx::INST_RETIRED.ANY", "skx::INST_RETIRED.ANY_P"]
        self.assertEqual(sorted(self.complete("encode", "skx::INST_RETIRED.AN")), found)
        self.assertEqual(self.complete("stat", "-e", "cycles,page-f"), ["cycles,page-faults"])
        self.assertIn("INST_RETIRED.ANY", self.complete("encode", "--pmu", "skx", "INST_RETIRED.A"))

    def test_the_shell_completes_processors(self):
        self.assertIn("skx", self.complete("list", "--pmu", "sk"))


class Zsh(Shell, unittest.TestCase):
    def setUp(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is missing (Debian package zsh)")

    def complete(self, *words):
        done = subprocess.run(
            ["zsh", "-f", "-s", PFM, *filter(None, words[:-1]), words[-1]], input=ZSH,
            capture_output=True, text=True, timeout=60, check=True,
            env={**os.environ, "COMPLETION": os.path.join(TOOLS, "completion", "pfm.zsh")})
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_the_command_that_is_counted(self):
        self.assertEqual(self.complete("stat", "--", "ls", "-"), ["COMMAND", "ls", "-"])


class Fish(Shell, unittest.TestCase):
    def setUp(self):
        if not shutil.which("fish"):
            self.skipTest("fish is missing (Debian package fish)")

    def complete(self, *words):
        line = " ".join(["pfm", *filter(None, words[:-1]), words[-1]])
        script = "set -x PATH %s $PATH; source %s; complete -C %s" % tuple(map(shlex.quote, (
            os.path.dirname(PFM), os.path.join(TOOLS, "completion", "pfm.fish"), line)))
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True,
                              timeout=60, check=True)
        self.assertEqual(done.stderr, "")
        return [x.partition("\t")[0] for x in done.stdout.splitlines()]


if __name__ == "__main__":
    tap.main()
