#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile surroundings: promises of the environment to privileged programs, images of other people,
odd paths, other languages, closed and full files, a full disk and a killed import, kernel files
that change while they are read.

PFM names the command, PERFMON_PMUC the compiler of tables, PERFMON_BUILD the build directory. What
needs root is skipped without it, by name.
"""

import glob
import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import tap

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PFM = os.environ.get("PFM", "pfm")
PMUC = os.environ.get("PERFMON_PMUC", os.path.join(HERE, "..", "compiler", "pmuc.py"))
PROGRAM = os.path.join(os.environ.get("PERFMON_BUILD", ""), "tests", "hostile_program")
TESTPMU = os.path.join(HERE, "pmu", "testpmu.pmu")
NOBODY = 65534
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_", "LIBPFM_", "LC_", "XDG_")) and k not in ("LANG", "LANGUAGE",
                                                                              "MALLOC_PERTURB_")
}
CLEAN["PERFMON_PMUC"] = PMUC
ROOT = os.geteuid() == 0


def pfm(*args, env=None, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("timeout", 120)
    return subprocess.run([PFM, *args], env=dict(CLEAN, **(env or {})), text=True, **more)


def compile_image(path):
    subprocess.run([sys.executable, PMUC, "--image", path, TESTPMU], check=True)


def within_reach(folder):
    """Copies the command and its library to a folder that every user can read, because the build
    may be in root's home. Returns the command and the path of its libraries."""
    command = shutil.copy(PFM, os.path.join(folder, "pfm"))
    os.chmod(command, 0o755)
    libraries = os.path.join(folder, "libraries")
    os.mkdir(libraries)
    for path in glob.glob(os.path.join(os.environ.get("PERFMON_BUILD", ""), "lib",
                                       "libperfmon.so*")):
        if os.path.isfile(path):
            os.chmod(shutil.copy(path, libraries), 0o755)
    return command, dict(LD_LIBRARY_PATH=libraries)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perfmon-hostile-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), "w", encoding="utf-8") as f:
            f.write(text)

    def ok(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


def fake_machine(folder):
    """A recorded machine with a PMU of its own."""
    device = os.path.join(folder, "sys", "bus", "event_source", "devices", "madeup")
    os.makedirs(os.path.join(device, "format"))
    os.makedirs(os.path.join(device, "events"))
    for name, text in (("type", "77\n"), ("format/event", "config:0-7\n"), ("events/things",
                                                                            "event=0x12\n")):
        with open(os.path.join(device, name), "w", encoding="utf-8") as f:
            f.write(text)


class Privileges(Folder):
    """A set-uid program believes nothing that its caller put into the environment."""

    def believed(self, program, **env):
        if not os.access(PROGRAM, os.X_OK):
            self.skipTest("hostile_program is not built")
        out = subprocess.run([program], env=dict({"PATH": CLEAN.get("PATH", "")},
                                                 **env), stdout=subprocess.PIPE, text=True,
                             check=True, preexec_fn=lambda: os.setresuid(NOBODY, NOBODY, NOBODY)
                             if ROOT else None)
        return set(out.stdout.split())

    def promises(self):
        os.makedirs(self.at("images"))
        compile_image(self.at("images", "test.pmdb"))
        os.makedirs(self.at("home", "perfmon"))
        shutil.copy(self.at("images", "test.pmdb"), self.at("home", "perfmon"))
        fake_machine(self.at("machine"))
        return ((dict(PERFMON_PMU="montecito"), {"default-pmu", "unprefixed-events"}),
                (dict(LIBPFM_FORCE_PMU="33"), {"default-pmu"}),
                (dict(PERFMON_CPUID="ia64-32-0"), {"default-pmu", "unprefixed-events"}),
                (dict(PERFMON_EVENTS=self.at("images")), {"images"}),
                (dict(XDG_DATA_HOME=self.at("home")), {"images"}),
                (dict(PERFMON_SYSFS=self.at("machine")), {"sysfs"}))

    def copy(self, mode):
        shutil.copy(PROGRAM, self.at("program"))
        os.chmod(self.at("program"), mode)
        return self.at("program")

    def test_ordinary_programs_listen(self):
        montecito = subprocess.run([PFM, "list", "--pmu", "montecito"], env=CLEAN,
                                   stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("montecito", montecito.stdout)
        for env, words in self.promises():
            if "LIBPFM_FORCE_PMU" in env:
                env = dict(LIBPFM_FORCE_PMU=str(self.montecito_type()))
            self.assertLessEqual(words, self.believed(self.copy(0o755), **env), env)

    def montecito_type(self):
        header = open(os.path.join(HERE, "..", "include", "perfmon", "types.h"),
                      encoding="utf-8").read()
        return int(header.split("PFMLIB_MONTECITO_PMU", 1)[1].split()[0].strip("(),"), 0)

    def test_set_uid_programs_do_not(self):
        if not ROOT:
            self.skipTest("needs root")
        program = self.copy(0o4755)
        if os.statvfs(program).f_flag & os.ST_NOSUID:
            self.skipTest("the folder for temporary files is mounted nosuid")
        everything = {}
        for env, _ in self.promises():
            if "LIBPFM_FORCE_PMU" in env:
                env = dict(LIBPFM_FORCE_PMU=str(self.montecito_type()))
            everything.update(env)
            self.assertEqual(self.believed(program, **env), set(), env)
        self.assertEqual(self.believed(program, **everything), set())


class Trust(Folder):
    """Images that others could have written are not used unless they are named; a message gives the
    reason."""

    def setUp(self):
        super().setUp()
        if not ROOT:
            self.skipTest("needs root to make files of others")
        compile_image(self.at("test.pmdb"))

    def used(self, path=None):
        """Returns whether the image's processor is listed, and the messages about unused images."""
        result = pfm("list", "--pmu", "testpmu", env=dict(PERFMON_EVENTS=path or self.folder))
        every = pfm("list", env=dict(PERFMON_EVENTS=path or self.folder))
        self.assertEqual(every.returncode, 0, every.stderr)
        return result.returncode == 0 and "LAST_ONE" in result.stdout, every.stderr

    def refused(self, *words):
        used, why = self.used()
        self.assertFalse(used)
        for word in words:
            self.assertIn(word, why)

    def test_own_images_are_used(self):
        self.assertTrue(self.used()[0])

    def test_image_of_another_user(self):
        os.chown(self.at("test.pmdb"), NOBODY, NOBODY)
        self.refused("test.pmdb", "another user")

    def test_image_that_anybody_can_write(self):
        os.chmod(self.at("test.pmdb"), 0o666)
        self.refused("test.pmdb", "every user can write")

    def test_folder_of_another_user(self):
        os.chown(self.folder, NOBODY, NOBODY)
        self.refused("test.pmdb", "folder")

    def test_folder_that_anybody_can_write(self):
        os.chmod(self.folder, 0o777)
        self.refused("test.pmdb", "folder")

    def test_named_files_are_the_callers_business(self):
        os.chown(self.at("test.pmdb"), NOBODY, NOBODY)
        os.chmod(self.at("test.pmdb"), 0o666)
        self.assertTrue(self.used(self.at("test.pmdb"))[0])

    def test_links_lead_to_the_file_that_counts(self):
        os.makedirs(self.at("other"))
        os.rename(self.at("test.pmdb"), self.at("other", "test.pmdb"))
        os.chown(self.at("other", "test.pmdb"), NOBODY, NOBODY)
        os.symlink(self.at("other", "test.pmdb"), self.at("test.pmdb"))
        self.refused("another user")

    def test_what_is_no_file(self):
        os.rename(self.at("test.pmdb"), self.at("kept.pmdb"))
        os.mkfifo(self.at("fifo.pmdb"))
        os.mkdir(self.at("folder.pmdb"))
        os.symlink("/dev/zero", self.at("zero.pmdb"))
        os.symlink(self.at("nowhere"), self.at("broken.pmdb"))
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.at("socket.pmdb"))
            used, why = self.used()
        self.assertTrue(used)
        for name in ("fifo", "folder", "zero", "broken", "socket"):
            self.assertIn(name + ".pmdb", why)

    def test_damaged_images_are_refused(self):
        image = open(self.at("test.pmdb"), "rb").read()
        for name, data in (("empty", b""), ("short", image[:40]), ("cut", image[:-8]),
                           ("text", b"not an image" * 100),
                           ("turned", image[:200] + bytes([image[200] ^ 255]) + image[201:])):
            with open(self.at(name + ".pmdb"), "wb") as f:
                f.write(data)
        used, why = self.used()
        self.assertTrue(used)
        for name in ("empty", "short", "cut", "text", "turned"):
            self.assertIn(name + ".pmdb", why)

    def as_nobody(self, *args):
        if not hasattr(self, "copy"):
            self.copy, self.libraries = within_reach(self.folder)
        return subprocess.run([self.copy, *args], env=dict(CLEAN, PERFMON_EVENTS=self.folder,
                                                           **self.libraries), cwd="/", timeout=120,
                              text=True, stdin=subprocess.DEVNULL, capture_output=True,
                              preexec_fn=lambda: os.setresuid(NOBODY, NOBODY, NOBODY))

    def test_ordinary_users_use_roots_images(self):
        self.assertIn("LAST_ONE", self.ok(self.as_nobody("list", "--pmu", "testpmu")))

    def test_ordinary_users_do_not_use_each_others_images(self):
        os.chown(self.at("test.pmdb"), NOBODY - 1, NOBODY - 1)
        result = self.as_nobody("list")
        self.assertNotIn("testpmu", self.ok(result))
        self.assertIn("another user", result.stderr)
        os.chown(self.at("test.pmdb"), NOBODY, NOBODY)
        self.assertIn("LAST_ONE", self.ok(self.as_nobody("list", "--pmu", "testpmu")))


@unittest.skipUnless(os.geteuid() == 0,
                     "only root makes programs that others start with more rights")
class MoreRights(Folder):
    """The kernel takes its events away from a program with more rights than its caller's, and from
    one that may not be read."""

    def as_nobody(self, *args):
        done = subprocess.run([self.copy, "stat", *args], env=dict(CLEAN,
                                                                   **self.libraries), cwd="/",
                              timeout=120, text=True, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, preexec_fn=lambda: os.setresuid(NOBODY, NOBODY, NOBODY))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_what_is_left_of_an_event_makes_a_metric(self):
        """A user who may count user mode alone gets metrics and ratios of user mode; an event with
        ":u" in the text is another event."""
        self.copy, self.libraries = within_reach(self.folder)
        counts = self.as_nobody("--json", "-M", "software::faults_per_second", "--", "true")
        if counts[0]["event"] != "software::page-faults:u" or counts[0]["value"] is None:
            self.skipTest("nobody may count more here, or nothing")
        faults, clock, metric = counts
        self.assertEqual((clock["event"], clock["quality"], metric["quality"]),
                         ("software::task-clock", "exact", "exact"))
        self.assertAlmostEqual(metric["value"], faults["value"] / clock["value"] * 1e9, delta=1)
        for events, ratio in (("page-faults,task-clock", "faults_per_second"),
                              ("{page-faults,task-clock}",
                               "faults_per_second"), ("page-faults:u,task-clock", "per_second")):
            with self.subTest(events=events):
                faults = self.as_nobody("--json", "-e", events, "--", "true")[0]
                self.assertEqual((faults["event"], faults["ratio"]), ("page-faults:u", ratio))

    def test_counts_of_programs_with_more_rights_are_partial(self):
        self.copy, self.libraries = within_reach(self.folder)
        program = self.at("dd")
        shutil.copy(shutil.which("dd"), program)
        work = [program, "if=/dev/zero", "of=/dev/null", "bs=64k", "count=20000"]
        event = ["--json", "-e", "task-clock"]
        os.chmod(program, 0o755)
        plain = self.as_nobody(*event, "--", *work)
        if [c["quality"] for c in plain] != ["exact"]:
            self.skipTest("nobody may count nothing here")
        for mode in 0o4755, 0o711:
            os.chmod(program, mode)
            for command in work, ["sh", "-c", " ".join(work) + "; true"]:
                with self.subTest(mode=oct(mode), command=command[0]):
                    counts = self.as_nobody(*event, "--", *command)
                    if mode == 0o4755 and counts[0]["value"] > plain[0]["value"] / 2:
                        self.skipTest("the file system takes no heed of the bit")
                    # What a shell starts cannot be read afterwards.
                    direct = command is work
                    self.assertEqual([(c["quality"], c["cause"]) for c in counts],
                                     [("partial", "permission" if direct else "other")])
                    self.assertIn("set-user-ID", counts[0]["why"])
                    self.assertRegex(counts[0]["evidence"], r"^ran for [\d.]+ s, enabled for ")
                    self.assertEqual("mode of %s is %o" % (program, mode) in counts[0]["evidence"],
                                     direct)
            several = self.as_nobody("-I", "20", *event, "--", *work)
            self.assertIn((several[-1]["quality"], several[-1]["cause"]),
                          [("partial", "permission"), ("not counted", "permission")])
        # A process that does it while it is counted.
        with subprocess.Popen(
            ["sh", "-c", "read line; exec " + " ".join(work[:-1] + ["count=1000000"])],
                stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: os.setresuid(NOBODY, NOBODY, NOBODY)) as p:
            late = threading.Timer(0.5, lambda: p.communicate(b"go\n"))
            late.start()
            counts = self.as_nobody(*event, "--timeout", "1500", "-p", str(p.pid))
            p.kill()
            late.join()
        self.assertEqual([(c["quality"], c["cause"]) for c in counts], [("partial", "permission")],
                         counts)

    def test_what_has_ended_by_the_reading(self):
        """A process that executes an unreadable program, and whose end is not waited for, is
        checked while it lives."""
        self.copy, self.libraries = within_reach(self.folder)
        program = self.at("dd")
        shutil.copy(shutil.which("dd"), program)
        work = [program, "if=/dev/zero", "of=/dev/null", "bs=64k"]
        began = time.monotonic()
        subprocess.run(work + ["count=20000"], check=True, stderr=subprocess.DEVNULL)
        work += ["count=%d" % (20000 * 0.8 / (time.monotonic() - began))]
        qualities = {}
        for mode in 0o755, 0o711:
            os.chmod(program, mode)
            with subprocess.Popen(["sh", "-c", "read line; exec " + " ".join(work)],
                                  stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  preexec_fn=lambda: os.setresuid(NOBODY, NOBODY, NOBODY)) as p:
                late = threading.Timer(0.3, p.communicate, [b"go\n"])
                late.start()
                qualities[mode] = [
                    (c["quality"], c.get("cause"))
                    for c in self.as_nobody("--json", "-e", "task-clock", "-p", str(p.pid))
                ]
                late.join()
        if qualities[0o755] != [("exact", None)]:
            self.skipTest("nobody may count nothing here")
        self.assertEqual(qualities[0o711], [("partial", "permission")])


class ForeignText(Folder):
    """Names that other people gave, and arguments, do not speak to the terminal: no control byte
    but newline and tab comes out, beside our own colours."""

    EVIL = "a\x1b]0;title\x07b\x1b[2Jc\x08\x7f\u009b31m\rd\x1b[31me\x1b[8mf"

    def silent(self, *args, **more):
        r = subprocess.run([PFM, *args], env=dict(CLEAN, **more.pop("env", {})), cwd=self.folder,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                           **more)
        for out in (r.stdout, r.stderr):
            for c in out.decode("utf-8", "surrogateescape"):
                self.assertFalse((c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"
                                 or "\udc80" <= c <= "\udc9f", (args, out))
        return (r.stdout + r.stderr).decode("utf-8", "surrogateescape")

    def test_control_characters_of_arguments_are_escaped(self):
        evil = self.EVIL
        for args in (["encode", evil], ["show", evil], ["list", evil], ["list", "--pmu", evil],
                     ["decode", "--pmu", "coreduo",
                      evil + "=1"], ["dispatch", evil, evil], ["stat", "-e", evil, "--", "true"],
                     ["stat", "-e", "page-faults", "--", "true",
                      evil], ["stat", "-e", "page-faults", "--",
                              "/nonexistent/" + evil], ["stat", "-C", evil], ["stat", "-p", evil],
                     ["stat", "-G", evil], ["stat", "-o", "/nonexistent/" + evil, "--",
                                            "true"], [evil], ["--" + evil], ["list", "--" + evil],
                     ["help", evil], ["import", "/nonexistent/" + evil
                                      ], ["alpha", "device", "--model", evil, "--",
                                          "true"], ["alpha", "session",
                                                    "/nonexistent/" + evil], ["alpha", evil],
                     ["record", "-e", "page-faults:u", "--",
                      "/nonexistent/" + evil], ["report", evil], ["metric", evil], ["plan", evil],
                     ["--color",
                      evil], ["doctor",
                              evil], ["stat", "-x", ",", "-e", "page-faults," + evil, "--",
                                      "true"]):
            self.silent(*args)

    def test_control_characters_of_files_are_escaped(self):
        """Contents of a file may be shown on a terminal later."""
        path = self.at("counts")
        for more in ([], ["--append"]):
            self.silent("stat", "-o", path, *more, "-e", "page-faults", "--", "true", self.EVIL)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(text.count("\\x1b]0;title\\x07b"), 2, text)
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")

    def test_where_colours_are_shown(self):
        """The command uses bold, dim and a few colours; other sequences could hide the text after
        them."""
        for args in (["import", "/nonexistent/" + self.EVIL], ["encode",
                                                               self.EVIL], ["report", self.EVIL],
                     ["stat", "-e", "page-faults", "--", "/nonexistent/" + self.EVIL]):
            done = subprocess.run([PFM, args[0], "--color=always", *args[1:]], env=CLEAN,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                                  check=False)
            left = re.sub("\x1b\\[(0|1|2|1;31|32|33|36)m", "", (done.stdout + done.stderr).decode())
            self.assertNotIn("\x1b", left)
            self.assertRegex(left, r"(\\x1b|\?)\[8m")

    def test_bytes_that_are_no_characters(self):
        for evil in (b"\x9b31m", b"\xc2", b"\xc2\x9b", b"\xe2\x9b", b"x\xff\x1b", b"\x1b[1;",
                     b"\x1b[99999999999999999m"):
            self.silent(b"encode", b"coreduo::" + evil)

    def test_control_characters_of_the_environment_are_escaped(self):
        for name in ("PERFMON_PMU", "PERFMON_EVENTS", "PERFMON_SYSFS", "PERFMON_CPUID"):
            self.silent("list", "--pmus", env={name: "/nowhere/" + self.EVIL})

    def test_images_and_devices(self):
        for data in (b"", b"not an image" * 100):
            with open(self.at(self.EVIL + ".pmdb"), "wb") as f:
                f.write(data)
            self.assertIn(".pmdb", self.silent("list", env=dict(PERFMON_EVENTS=self.folder)))
        fake_machine(self.at("machine"))
        devices = self.at("machine", "sys", "bus", "event_source", "devices")
        shutil.copytree(os.path.join(devices, "madeup"), os.path.join(devices, self.EVIL))
        self.silent("list", env=dict(PERFMON_SYSFS=self.at("machine")))
        self.silent("doctor", env=dict(PERFMON_SYSFS=self.at("machine")))

    def test_long_answers_are_escaped_whole(self):
        """Megabytes, a few bytes of which are escaped: all the others stay where they are."""
        said = []
        with open(self.at("toy.pmu"), "w", encoding="ascii") as f:
            f.write(
                'pmu toy "Toy"\nencoder format\ncounter 0..1 width=32\nfield code'
                ' at=config:0-7\nevent TICKS code=1 "'
                + "tick " * 9999
                + '"\n'
            )
        for name in "plain", self.EVIL:
            subprocess.run([sys.executable, PMUC, "--image",
                            self.at(name + ".pmdb"), f.name], check=True)
            said.append(
                self.silent("list", "--all", env=dict(PERFMON_EVENTS=self.at(name + ".pmdb"))))
        escaped = "".join(c if " " <= c < "\x7f" else "".join(f"\\x{b:02x}" for b in c.encode())
                          for c in self.EVIL)
        self.assertIn(escaped, said[1])
        # assertEqual would compare for minutes
        self.assertTrue(said[1].replace(escaped, "plain") == said[0])

    def test_control_characters_of_lists_are_escaped(self):
        path = self.at(self.EVIL + ".pmu")
        with open(path, "w", encoding="utf-8") as f:
            f.write("pmu x\nnonsense \x1b[2J\n")
        self.assertIn("nonsense", self.silent("import", path, "-o", self.at("out.pmdb")))

    def test_harmless_characters_pass(self):
        self.assertIn("Grün € 😀", self.silent("encode", "Grün € 😀"))
        self.assertIn("\x1b[1m", pfm("show", "coreduo", "--color=always").stdout)

    def test_nothing_goes_another_way(self):
        """The guard is on the streams, so no code may write to the descriptors."""
        top = os.path.join(HERE, "..")
        paths = glob.glob(os.path.join(top, "tools", "*", "*.c")) + glob.glob(
            os.path.join(top, "exporter", "*.c"))
        self.assertGreater(len(paths), 100)
        for path in sorted(paths):
            name = os.path.basename(path)
            if "alpha" in path or name in ("term.c", "term_guard.c"):
                continue
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    if "dup2(" in line or "F_DUPFD" in line:
                        continue        # a child gets descriptors; pfm writes nothing
                    for word in ("STDOUT_FILENO", "STDERR_FILENO", "dprintf(", "write(1,",
                                 "write(2,", "dumpfd(", "fdopen(1", "fdopen(2"):
                        self.assertNotIn(word, line, "%s:%d" % (name, number))


class Paths(Folder):
    """Names that shells and formats would stumble over."""

    NAMES = ("with blank", "new\nline", "quo'te\"s", "$HOME`id`", "-o", "%s%n", "Grün €", "a" * 200,
             "semi;colon&", "back\\slash", ".hidden")

    def test_folders_of_images(self):
        for name in self.NAMES:
            with self.subTest(name=name):
                os.makedirs(self.at(name))
                compile_image(self.at(name, "test.pmdb"))
                self.assertIn(
                    "LAST_ONE",
                    self.ok(pfm("list", "--pmu", "testpmu",
                                env=dict(PERFMON_EVENTS=self.at(name)))))

    def test_lists_of_odd_paths_are_imported(self):
        for name in self.NAMES:
            with self.subTest(name=name):
                os.makedirs(self.at(name, "out"))
                shutil.copy(TESTPMU, self.at(name, name[:100] + ".pmu"))
                self.ok(
                    pfm("import", self.at(name, name[:100] + ".pmu"), "-o",
                        self.at(name, "out", "an image.pmdb")))
                self.assertIn(
                    "LAST_ONE",
                    self.ok(
                        pfm("list", "--pmu", "testpmu",
                            env=dict(PERFMON_EVENTS=self.at(name, "out", "an image.pmdb")))))

    def test_relative_paths_are_found(self):
        compile_image(self.at("here.pmdb"))
        for path in ("here.pmdb", "./here.pmdb", "."):
            self.assertIn(
                "LAST_ONE",
                self.ok(
                    pfm("list", "--pmu", "testpmu", env=dict(PERFMON_EVENTS=path),
                        cwd=self.folder)))

    def test_search_paths_of_nothing(self):
        for path in (":", "::::", ":" * 5000, "/nowhere", "/dev/null", "/nowhere/" + "x" * 4000,
                     "a:" * 3000):
            self.assertIn("Instr_Ret",
                          self.ok(pfm("list", "--pmu", "coreduo", env=dict(PERFMON_EVENTS=path))),
                          path[:40])

    def test_long_values_of_the_environment_do_no_harm(self):
        long = "x" * 100000
        result = pfm("encode", "coreduo::Instr_Ret",
                     env=dict(PERFMON_SYSFS="/" + long, HOME="/" + long, XDG_DATA_HOME="/" + long))
        self.assertIn("c0", self.ok(result))
        result = pfm("encode", "coreduo::Instr_Ret", env=dict(PERFMON_PMU=long))
        self.assertEqual(result.returncode, 1, result.stderr[:200])
        result = pfm("encode", "coreduo::Instr_Ret", env=dict(PERFMON_CPUID=long))
        self.assertIn(result.returncode, (0, 1))

    def test_no_environment_at_all(self):
        result = subprocess.run([PFM, "encode", "coreduo::Instr_Ret"], env={},
                                stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("c0", result.stdout)

    def test_recorded_machine_in_an_odd_place(self):
        for name in ("with blank", "new\nline", "%s%n"):
            with self.subTest(name=name):
                fake_machine(self.at(name))
                self.assertIn(
                    "things",
                    self.ok(pfm("list", "--pmu", "madeup", env=dict(PERFMON_SYSFS=self.at(name)))))


class Languages(Folder):
    """A decimal comma and other letters change nothing that programs read."""

    def german(self):
        names = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, text=True,
                               check=False).stdout.split() if shutil.which("locale") else []
        for name in names:
            if name.lower().replace("-", "") == "de_de.utf8":
                return dict(LC_ALL=name)
        if not shutil.which("localedef") or not os.path.exists("/usr/share/i18n/locales/de_DE"):
            self.skipTest("no German locale and nothing to make one of (Debian package locales)")
        subprocess.run(
            ["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8",
             self.at("de_DE.UTF-8")], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        return dict(LOCPATH=self.folder, LC_ALL="de_DE.UTF-8")

    def same(self, *args, **env):
        german = self.german()
        first, second = pfm(*args, env=env), pfm(*args, env=dict(env, **german))
        self.assertEqual(first.returncode, second.returncode)
        self.assertEqual(first.stdout, second.stdout)
        return second.stdout

    def test_the_locale_has_a_comma(self):
        out = subprocess.run(["printf", "%.1f", "0"], env=dict(CLEAN, **self.german()),
                             stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(out.stdout, "0,0")

    def test_json_is_the_same_in_each_language(self):
        for line in self.same("list", "--json", "--pmu", "coreduo").splitlines():
            json.loads(line)
        for line in self.same("encode", "--json", "coreduo::Instr_Ret",
                              "montecito::CPU_OP_CYCLES_ALL").splitlines():
            json.loads(line)

    def test_scales_of_the_kernel(self):
        fake_machine(self.at("machine"))
        events = self.at("machine", "sys", "bus", "event_source", "devices", "madeup", "events")
        for name, text in (("energy", "event=0x2\n"),
                           ("energy.scale", "2.3283064365386962890625e-10\n"), ("energy.unit",
                                                                                "Joules\n")):
            with open(os.path.join(events, name), "w", encoding="utf-8") as f:
                f.write(text)
        out = self.same("show", "--json", "madeup::energy", PERFMON_SYSFS=self.at("machine"))
        self.assertIn("2.328306", out)

    def test_counts_are_the_same_in_each_language(self):
        out = pfm("stat", "--json", "-e", "task-clock", "--", "true", env=self.german())
        for line in out.stdout.splitlines():
            json.loads(line)

    def test_the_turkish_i(self):
        """Lower case of I is not i there; names of events must not care."""
        if not shutil.which("localedef") or not os.path.exists("/usr/share/i18n/locales/tr_TR"):
            self.skipTest("no Turkish locale to be made (Debian package locales)")
        subprocess.run(
            ["localedef", "--no-archive", "-i", "tr_TR", "-f", "ISO-8859-9",
             self.at("tr_TR")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        env = dict(LOCPATH=self.folder, LC_ALL="tr_TR")
        self.assertIn("c0",
                      self.ok(pfm("encode", "coreduo::INSTR_RET", "coreduo::instr_ret", env=env)))
        self.assertIn(
            "montecito",
            self.ok(
                pfm("encode", "MONTECITO::IA64_INST_RETIRED_THIS",
                    "montecito::ia64_inst_retired_this", env=env)))


class Files(Folder):
    """Standard files that are closed, full or gone."""

    def test_commands_work_without_open_files(self):
        for args in (("encode", "coreduo::Instr_Ret"), ("stat", "-e", "page-faults", "--", "true"),
                     ("list", ), ("decode", "--pmu", "coreduo", "PERFEVTSEL0=0x4300c0")):
            with self.subTest(args=args):
                result = subprocess.run([PFM, *args], env=CLEAN, stdin=None, stdout=None,
                                        stderr=None, timeout=60, close_fds=True,
                                        preexec_fn=lambda: os.closerange(0, 3))
                self.assertIn(result.returncode, (0, 1, 2))

    def test_a_closed_input_is_an_error(self):
        result = pfm("encode", "coreduo::Instr_Ret", stdin=None, preexec_fn=lambda: os.close(0))
        self.assertIn("c0", self.ok(result))
        result = pfm("encode", "-", stdin=None, preexec_fn=lambda: os.close(0))
        self.assertIn(result.returncode, (0, 1, 2))
        result = pfm("stat", "-e", "page-faults", "--", "true", stdin=None,
                     preexec_fn=lambda: os.close(0))
        self.assertIn(result.returncode, (0, 1))

    def test_full_output_is_a_failure(self):
        for args in (("list", ), ("encode", "coreduo::Instr_Ret"), ("list", "--json"),
                     ("show", "coreduo::Instr_Ret"), ("--help", )):
            with self.subTest(args=args), open("/dev/full", "w", encoding="utf-8") as full:
                result = pfm(*args, stdout=full)
                self.assertNotEqual(result.returncode, 0, args)
                self.assertTrue(result.stderr, args)

    def test_reader_that_goes_away(self):
        first = subprocess.Popen([PFM, "list"], env=CLEAN, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        first.stdout.read(10)
        first.stdout.close()
        self.assertEqual(first.stderr.read(), b"")
        first.stderr.close()
        self.assertIn(first.wait(60), (0, 1, -signal.SIGPIPE, 128 + signal.SIGPIPE))

    def test_few_descriptors_are_an_error_or_enough(self):
        result = pfm("stat", "-e", ",".join(["page-faults"] * 20), "--", "true",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)))
        self.assertIn(result.returncode, (0, 1))
        self.assertNotIn("Assertion", result.stderr)

    def test_little_memory_is_an_error_or_enough(self):
        for size in (1 << 22, 6 << 20, 1 << 23, 1 << 24):
            result = pfm("list", "--pmu", "coreduo",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
            self.assertGreaterEqual(result.returncode, 0,
                                    "died of signal %d with %d bytes" % (-result.returncode, size))


class Imports(Folder):
    """An import that cannot finish leaves what was there, and nothing else."""

    EVENTS = 20000

    def setUp(self):
        super().setUp()
        head = [
            "pmu testpmu \"Invented\"", "encoder format", "test", "match arch=test",
            "source \"invented\"", "counter 0..3 width=40", "field code at=config:0-7",
            "event LAST_ONE code=0x1 \"As in the small one.\""
        ]
        rows = [
            "event EVENT_%05d code=0x%x \"Made up, number %d.\"" % (i, i & 0xff, i)
            for i in range(self.EVENTS)
        ]
        self.write("big.pmu", "\n".join(head + rows) + "\n")
        os.makedirs(self.at("out"))
        self.image = self.at("out", "big.pmdb")
        compile_image(self.image)
        self.old = open(self.image, "rb").read()

    def check_old(self):
        self.assertEqual(open(self.image, "rb").read(), self.old)
        self.assertEqual(os.listdir(self.at("out")), ["big.pmdb"])

    def test_the_import_works_at_all(self):
        self.ok(pfm("import", self.at("big.pmu"), "-o", self.image))
        self.assertGreater(os.path.getsize(self.image), 1 << 20)
        self.assertEqual(os.listdir(self.at("out")), ["big.pmdb"])

    def test_file_size_limit(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        result = pfm("import", self.at("big.pmu"), "-o", self.image, preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertIn("too large", result.stderr.lower())
        self.check_old()

    def test_a_full_disk_leaves_no_image(self):
        if not tap.own_mounts():
            self.skipTest("needs root to mount a small disk")
        script = """set -e
mount -t tmpfs -o size=64k tmpfs "$1" || exit 99
cp "$2" "$1/big.pmdb"
rc=0
"$3" import "$4" -o "$1/big.pmdb" || rc=$?
cmp "$2" "$1/big.pmdb"
test "$(ls -A "$1")" = big.pmdb
exit $rc"""
        os.makedirs(self.at("disk"))
        result = subprocess.run([
            "unshare", "-m", "sh", "-c", script, "sh",
            self.at("disk"), self.image, PFM,
            self.at("big.pmu")
        ], env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode == 99 or "unshare" in result.stderr:
            self.skipTest("no mounts of our own here: " + result.stderr.strip())
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertIn("no space", result.stderr.lower())

    def test_places_that_cannot_be_written_are_refused(self):
        for target in ("/proc/nowhere.pmdb", self.at("missing",
                                                     "x.pmdb"), self.at("big.pmu", "x.pmdb")):
            result = pfm("import", TESTPMU, "-o", target)
            self.assertEqual(result.returncode, 1, target)
            self.assertNotIn("Traceback", result.stderr)
            self.assertTrue(result.stderr)

    def interrupt(self, number, leaves_nothing):
        whole = None
        for delay in (0.05, 0.15, 0.3, 0.5, 0.8, 1.2):
            child = subprocess.Popen([PFM, "import", self.at("big.pmu"), "-o", self.image,
                                      "--force"], env=CLEAN, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            time.sleep(delay)    # any moment will do: the rule holds at each
            child.send_signal(number)
            ended = child.wait(60)
            data = open(self.image, "rb").read()
            if data != self.old:
                whole = whole or data
                # the image was there before the signal, the end perhaps not
                self.assertIn(ended, (0, -number, 128 + number))
                self.assertEqual(len(data), len(whole))
                with open(self.image, "wb") as f:
                    f.write(self.old)
            if leaves_nothing:
                self.assertEqual(os.listdir(self.at("out")), ["big.pmdb"])
        # The file may have changed; the mapped image is used.
        self.assertIn(
            "LAST_ONE",
            self.ok(pfm("list", "--pmu", "testpmu", env=dict(PERFMON_EVENTS=self.at("out")))))

    def test_an_interrupt_leaves_no_image(self):
        self.interrupt(signal.SIGINT, True)

    def test_sigterm_leaves_no_image(self):
        self.interrupt(signal.SIGTERM, True)

    def test_a_kill_leaves_the_old_image(self):
        self.interrupt(signal.SIGKILL, False)


class Giants(Folder):
    """Impossible machines: bounded time and memory, and clear messages."""

    def setUp(self):
        super().setUp()
        # thousands of folders: in memory, where that can be had
        if os.access("/dev/shm", os.W_OK):
            self.folder = tempfile.mkdtemp(prefix="perfmon-hostile-", dir="/dev/shm")
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def machine(self, cpus, boxes):
        devices = os.path.join(self.at("machine"), "sys/bus/event_source/devices")
        os.makedirs(os.path.join(self.at("machine"), "sys/devices/system/cpu"))
        files = {
            "../../../devices/system/cpu/online": cpus, "cpu/type": "4", "cpu/cpus": cpus,
            "cpu/format/event": "config:0-7"
        }
        for i in range(boxes):
            files.update({
                "uncore_box_%d/%s" % (i, name): text for name, text in
                {"type": str(100 + i), "cpumask": cpus, "format/event": "config:0-7"}.items()
            })
        for name, text in files.items():
            path = os.path.join(devices, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as f:
                f.write(text + "\n")

    def run_on_box(self, *args):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        return pfm(*args, env=dict(CLEAN, PERFMON_SYSFS=self.at("machine")), preexec_fn=limit)

    def test_more_cpus_than_a_kernel_has(self):
        self.machine(",".join(["0-1000000"] * 300), 4000)
        self.ok(self.run_on_box("encode", "uncore_box/event=1/"))
        r = self.run_on_box("stat", "--dry-run", "-a", "-e", "uncore_box/event=1/", "--", "true")
        self.assertIn("the list of CPUs on line cannot be read", r.stdout + r.stderr)

    def test_all_boxes_on_all_cpus(self):
        self.machine(",".join(["0-65535"] * 300), 500)
        self.ok(self.run_on_box("list", "--pmus"))
        r = self.run_on_box("stat", "--dry-run", "-a", "-e", "cpu/event=1/", "--", "true")
        self.assertIn("65536 kernel events, CPUs 0-65535\n", r.stdout + r.stderr)
        for options in (("-a",), ("-a", "--per-cpu")):
            r = self.run_on_box("stat", "--dry-run", *options, "-e", "uncore_box/event=1/", "--",
                                "true")
            self.assertEqual(r.returncode, 1, r.stderr)
            self.assertIn("more than 262144 counters of the kernel", r.stderr)
        r = self.run_on_box("stat", "--dry-run", "-a", "--per-cpu", "-e",
                            ",".join(["cpu/event=1/"] * 5), "--", "true")
        self.assertIn("at most 262144 counts, one for each CPU", r.stderr)


class Changes(Folder):
    """Kernel files that come, go and change while they are read."""

    def test_files_that_change(self):
        fake_machine(self.at("machine"))
        device = self.at("machine", "sys", "bus", "event_source", "devices", "madeup")
        done = threading.Event()

        def change():
            texts = ("config:0-7\n", "config:0-63\n", "config9:1\n", "", "x" * 5000, "config:7-0\n",
                     "config1:0-7,9\n")
            i = 0
            while not done.is_set():
                i += 1
                for name in ("format/event", "events/things", "type", "cpumask",
                             "events/things.scale"):
                    try:
                        with open(os.path.join(device, name), "w", encoding="utf-8") as f:
                            f.write(texts[i % len(texts)])
                        if i % 5 == 0:
                            os.unlink(os.path.join(device, name))
                    except OSError:
                        pass

        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(60):
                result = pfm("list", "--json", env=dict(PERFMON_SYSFS=self.at("machine")))
                self.assertEqual(result.returncode, 0, result.stderr)
                for line in result.stdout.splitlines():
                    json.loads(line)
        finally:
            done.set()
            thread.join()

    SURROUNDINGS = """
import ctypes, os, locale, sys
lib = ctypes.CDLL(sys.argv[1])
lib.pfm_open_context.argtypes = (ctypes.c_void_p,) * 3
lib.pfm_close_context.argtypes = lib.pfm_count_pmus.argtypes = (ctypes.c_void_p,)
lib.pfm_find_pmu.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
def context():
    ctx = ctypes.c_void_p()
    assert lib.pfm_open_context(ctypes.byref(ctx), None, None) == 0
    return ctx
def has(ctx):
    return lib.pfm_find_pmu(ctx, b"testpmu") >= 0
early, late = context(), context()
assert not has(early)
os.environ["PERFMON_EVENTS"] = sys.argv[2]
n = lib.pfm_count_pmus(early)
between = context()
assert has(between) and not has(early)              # one that has looked keeps what it has seen
locale.setlocale(locale.LC_ALL, "C.UTF-8")
for name in list(os.environ):
    del os.environ[name]
assert has(between) and lib.pfm_count_pmus(early) == n
after = context()
assert not has(after) and not has(None)
for ctx in early, late, between, after:
    lib.pfm_close_context(ctx)
print("as before")
"""

    def test_surroundings_that_change(self):
        library = os.path.join(os.environ.get("PERFMON_BUILD", ""), "lib", "libperfmon.so")
        if not os.path.exists(library):
            self.skipTest("the shared library is not built")
        compile_image(self.at("test.pmdb"))
        result = subprocess.run([sys.executable, "-c", self.SURROUNDINGS, library,
                                 self.at("test.pmdb")], env=CLEAN, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual((result.stderr, result.stdout), ("", "as before\n"))

    def test_image_that_is_replaced(self):
        """A program that has the image mapped keeps the old one; the next program gets the new
        one."""
        compile_image(self.at("test.pmdb"))
        env = dict(CLEAN, PERFMON_EVENTS=self.folder)
        child = subprocess.Popen([PFM, "encode", "--json", "-"], env=env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        child.stdin.write("testpmu::LAST_ONE\n")
        child.stdin.flush()
        first = child.stdout.readline()
        compile_image(self.at("test.pmdb"))
        child.stdin.write("testpmu::LAST_ONE\n")
        child.stdin.close()
        self.assertEqual(child.stdout.readline(), first)
        child.stdout.close()
        self.assertEqual(child.wait(60), 0)


LOOP = "i=0; while [ $i -lt %u ]; do i=$((i+1)); done"


@unittest.skipUnless(ROOT, "needs root: a program that its user may not read")
class Unreadable(Folder):
    """The kernel takes the events of a task away that runs a program which its user may not
    read."""

    def setUp(self):
        super().setUp()
        self.command, self.environment = within_reach(self.folder)
        os.chmod(shutil.copy("/bin/sh", self.at("secret")), 0o711)

    def stat(self, *options):
        command = "%s; exec %s -c '%s'" % (LOOP % 300000, self.at("secret"), LOOP % 400000)
        return subprocess.run([
            self.command, "stat", "--json", "-e", "page-faults:u", *options, "--", "sh", "-c",
            command
        ], env=dict(CLEAN, **self.environment), capture_output=True, text=True, check=False,
                              timeout=120, user=NOBODY, group=NOBODY, extra_groups=[])

    def rows(self, done):
        text = done.stdout if done.stdout.strip() else done.stderr
        return [json.loads(line) for line in text.splitlines() if "page-faults" in line]

    def test_less_than_half_of_the_time_is_missed(self):
        row = self.rows(self.stat())[-1]
        self.assertEqual((row["quality"], row["cause"]), ("partial", "other"), row)
        self.assertIn("programs with more rights", row["why"])
        self.assertRegex(row["evidence"], r"^ran for [\d.]+ s, enabled for [\d.]+ s$")

    def test_no_interval_without_time_is_exact(self):
        rows = self.rows(self.stat("-I", "100"))
        self.assertTrue(rows)
        for row in rows:
            if not row["enabled"]:
                self.assertEqual(row["quality"], "not counted", row)
        self.assertIn(("not counted", "other"), [(r["quality"], r.get("cause")) for r in rows])

    def test_a_recording_without_samples_says_why(self):
        # A folder that the user can write to: pfm record makes a file.
        os.mkdir(self.at("out"))
        os.chmod(self.at("out"), 0o777)
        done = subprocess.run([
            self.command, "record", "-e", "page-faults:u:period=1000000", "-o",
            self.at("out", "x"), "--",
            self.at("secret"), "-c", LOOP % 400000
        ], env=dict(CLEAN, **self.environment), capture_output=True, text=True, check=False,
                              timeout=120, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn("no samples: the kernel does not permit sampling the command", done.stderr)
        self.assertIn("its file is not readable", done.stderr)
        self.assertRegex(done.stderr, r"\(ran for [\d.]+ s, enabled for [\d.]+ s; mode of \S+ is")


if __name__ == "__main__":
    tap.main()
