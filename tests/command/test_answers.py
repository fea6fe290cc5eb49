#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole answers of the command, byte for byte: tests/answers/NAME.txt has commands and what they
say.

    $ COMMAND       run by the shell in a folder of its own, which holds the files of
                    tests/answers/files
    60$ COMMAND     on a terminal of so many columns
    | LINE          what it writes to standard output (or to the terminal), ! LINE: to standard
                    error; an empty answer has none
    ? N             its exit status, where that is not 0

Control characters are shown as \\x1b, the blank that ends a line as \\x20. A $ at the end of a line
goes on in the next. The machine is tests/answers/files/machine with the processor of files/toy.pmu;
the lists beside it are imported, vendors' lists are not asked. Where an answer says what changes
from run to run, the command takes that out of it with sed. "scripted" is pfm on a kernel that
counts what tests/answers/files/counts says (see pfm_scripted.c); "vectors" is the driver of the
golden vectors (tests/driver).

    python3 tests/command/test_answers.py --rewrite [NAME...]     writes the answers again: read the
                                                          difference before you commit it
"""
import difflib
import fcntl
import glob
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
from test_machines import Machine  # noqa: E402
import tap  # noqa: E402

BUILD = os.environ["PERFMON_BUILD"]
PFM = os.path.abspath(os.environ.get("PFM", os.path.join(BUILD, "tools", "pfm")))
SCRIPTED = os.environ.get("PFM_SCRIPTED",
                          os.path.join(os.path.dirname(PFM), "..", "tests", "pfm_scripted"))
PMUC = os.path.abspath(
    os.environ.get("PERFMON_PMUC",
                   os.path.join(os.environ["PERFMON_TESTS"], "..", "compiler", "pmuc.py")))
HERE = os.path.join(os.environ["PERFMON_TESTS"], "answers")
FILES = os.path.join(HERE, "files")
VECTORS = os.environ.get("PERFMON_VECTORS",
                         os.path.join(os.path.dirname(PFM), "..", "tests", "vectors"))
COMMAND = re.compile(r"(\d*)\$ (.*)")


def visible(text):
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\\]", lambda m: "\\\\"
                  if m[0] == "\\" else "\\x%02x" % ord(m[0]), text)
    return re.sub(r" (?=\n|$)", r"\\x20", text)


def marked(mark, text):
    if not text:
        return ""
    lines = visible(text).split("\n")
    end = "" if lines[-1] == "" else "\\\n"    # no newline at the end
    return "".join(mark + (" " + line if line else "") + "\n"
                   for line in lines[:-1 if not end else None])[:-1] + (end or "\n")


class Place:
    """Where the commands are run."""

    def __init__(self):
        self.machine = Machine(os.path.join(FILES, "machine"), "GenuineIntel-6-FE-1")
        self.folder = os.path.join(self.machine.root, "here")
        programs = os.path.join(self.machine.root, "bin")
        os.mkdir(self.folder)
        os.mkdir(programs)
        os.symlink(PFM, os.path.join(programs, "pfm"))
        os.symlink(os.path.abspath(SCRIPTED), os.path.join(programs, "scripted"))
        os.symlink(os.path.abspath(VECTORS), os.path.join(programs, "vectors"))
        images = []
        self.env = {
            k: v for k, v in self.machine.env.items()
            if not k.startswith(("LC_", "LIBPFM_")) and k not in ("LANG", "PAGER")
        }
        self.env.update(PATH=programs + os.pathsep + os.environ["PATH"], TERM="xterm",
                        PFM_SCRIPT=self.folder, PERFMON_PMUC=PMUC,
                        MACHINES=os.path.join(os.path.dirname(HERE), "machines"))
        for path in sorted(glob.glob(os.path.join(FILES, "*"))):
            name = shutil.copy(path, self.folder)
            if name.endswith(".pmu"):
                images.append(name[:-len("pmu")] + "pmdb")
                subprocess.run([PFM, "import", name, "-o", images[-1]], env=self.env,
                               stdout=subprocess.DEVNULL, check=True)
        self.env["PERFMON_EVENTS"] = ":".join(images)

    def close(self):
        shutil.rmtree(self.machine.root)

    def said(self, columns, command):
        """The output of @command, as the files have it."""
        p = self.on_terminal(int(columns), command) if columns else subprocess.run(
            ["sh", "-c", command], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        text = "".join(
            marked(mark,
                   s.decode("utf-8", "backslashreplace").replace(self.machine.root, "ROOT"))
            for mark, s in (("|", p.stdout), ("!", p.stderr)))
        return text + ("? %d\n" % p.returncode if p.returncode else "")

    def on_terminal(self, columns, command):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {k: v for k, v in self.env.items() if k != "NO_COLOR"}
        with subprocess.Popen(["sh", "-c", command], env=env, cwd=self.folder, stdin=slave,
                              stdout=slave, stderr=slave) as p:
            os.close(slave)
            out = b""
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:    # Linux says EIO once the other end is closed
                    break
                if not piece:
                    break
                out += piece
            os.close(master)
            p.wait()
        return subprocess.CompletedProcess(command, p.returncode, out.replace(b"\r\n", b"\n"), b"")


def cases(path):
    """(lines before, columns, command, output) of a file."""
    before, columns, command, said = "", None, None, ""
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = COMMAND.match(line)
            if command is not None and command.endswith("$"):
                command = command[:-1] + "\n" + line.rstrip("\n")
            elif m or (command is not None and not line.startswith(("|", "!", "?"))):
                if command is not None:
                    yield before, columns, command, said
                    before, command, said = "", None, ""
                if m:
                    columns, command = m[1], m[2]
                else:
                    before += line
            elif command is None:
                before += line
            else:
                said += line
    if command is not None:
        yield before, columns, command, said
    elif before:
        yield before, None, None, ""


def rewrite(names):
    place = Place()
    for path in sorted(glob.glob(os.path.join(HERE, "*.txt"))):
        if names and os.path.basename(path)[:-4] not in names:
            continue
        text = ""
        for before, columns, command, _ in cases(path):
            text += before
            if command:
                text += "%s$ %s\n%s" % (columns, command.replace(
                    "\n", "$\n"), place.said(columns, command))
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    place.close()


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place()

    @classmethod
    def tearDownClass(cls):
        cls.place.close()


def test_of(path):
    def test(self):
        for _, columns, command, wanted in cases(path):
            if command is None:
                continue
            with self.subTest(command.replace("\n", " ")):
                got = self.place.said(columns, command)
                if got != wanted:
                    self.fail("\n".join(
                        difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted",
                                             "said", lineterm="", n=1)))
    return test


for file in sorted(glob.glob(os.path.join(HERE, "*.txt"))):
    setattr(Answers, "test_" + os.path.basename(file)[:-4], test_of(file))

if __name__ == "__main__":
    if sys.argv[1:2] == ["--rewrite"]:
        rewrite(sys.argv[2:])
    else:
        tap.main()
