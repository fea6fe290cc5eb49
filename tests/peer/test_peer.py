#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's libpfm4 asked about the same events.

tests/peer/answers.c prints what it gives for every name it has, and for ours with a colon where the
vendor has a dot; `pfm encode` is asked the same names. Where both know a name, registers and perf
attributes agree or the difference is listed in tests/peer/differences.txt with its reason. AMD's names
differ altogether: there rows meet by event select and unit mask. Lists are read from
$PERFMON_SHARED; the program from $PERFMON_PEER.

    tests/peer/test_peer.py --list    prints the differences in the form of the table
"""

import contextlib
import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "..", "compiler")]
from language import tables as pt  # noqa: E402
from image import image_reader  # noqa: E402
import pmuc  # noqa: E402
from tap import SHARED, main  # noqa: E402

PEER = os.environ.get("PERFMON_PEER", "")
PFM = os.environ.get("PFM", "pfm")
TABLE = os.path.join(HERE, "peer", "differences.txt")
TABLE_IS_FOR = "4.13.0"
DATA = os.path.join(SHARED, "data")
LISTS = ["intel/" + cpu for cpu in ("HSW", "SKL", "SKX", "ICX", "SPR")
         ] + ["linux-6.1/x86/amdzen3", "linux-6.12/x86/amdzen4"]
INTEL = ("hsw", "skl", "skx", "icx", "spr")
AMD = {"amd64_fam19h_zen3": "amdzen3", "amd64_fam19h_zen4": "amdzen4"}
AMD_L3 = {"amd64_fam19h_zen3_l3": "amdzen3_amd_l3"}
SLOWEST = 120     # seconds for one question to either side


# ---- the two sides -------------------------------------------------------------------------------

@functools.lru_cache(None)
def peer_version():
    """Of the file the program is linked with; its interface tells no more than 4.0."""
    out = subprocess.run(["ldd", PEER], capture_output=True, text=True, check=False).stdout
    path = re.search(r"(/\S*libpfm\.so\S*)", out)
    version = path and re.search(r"\.so\.([\d.]+)$", os.path.realpath(path.group(1)))
    return version.group(1) if version else "unknown"


class Answer:
    """The result of one side for a name."""

    def __init__(self, pmu, event, regs, perf, mask=None):
        self.pmu, self.event, self.regs, self.perf, self.mask = pmu, event, regs, perf, mask

    def __str__(self):
        return ",".join(self.regs) + "/" + (",".join(self.perf) if self.perf else "none")


def perf_words(kind, *config):
    """Type and config words as short as they can be said: type 4 and trailing zeros go without
    saying, a type that differs from machine to machine is '?'."""
    words = list(config)
    while len(words) > 1 and words[-1] == "0x0":
        words.pop()
    words[0] = ("" if str(kind) == "4" else "%s:" % ("?" if kind is None else kind)) + words[0]
    return words


def ask_peer(*pmus, names=()):
    """All that the peer lists for @pmus, and its answers for @names; those it refuses are left
    out."""
    p = subprocess.run([PEER, *pmus] + (["-"] if names else []),
                       input="".join(n + "\n" for n in names), capture_output=True, text=True,
                       check=True, timeout=SLOWEST, env=dict(os.environ,
                                                             LIBPFM_ENCODE_INACTIVE="1"))
    found = []
    for line in p.stdout.splitlines():
        f = line.split("\t")
        if not f[4].startswith("-"):
            perf = None if f[5].startswith("-") else perf_words(*f[5:])
            found.append(Answer(f[0], f[1], f[4].split(","), perf, (int(f[2], 16), int(f[3], 16))))
    return found


@functools.lru_cache(None)
def peer_pmus():
    """Name -> number of events."""
    out = subprocess.run([PEER], capture_output=True, text=True, check=True, timeout=SLOWEST).stdout
    return {name: int(n) for name, n in (line.split("\t") for line in out.splitlines())}


def ask_us(names, images=""):
    """Name -> Answer, or the kind of the refusal."""
    with tempfile.TemporaryDirectory() as nowhere:      # no kernel's names: tables alone
        env = dict(os.environ, PERFMON_EVENTS=images, PERFMON_SYSFS=nowhere, XDG_DATA_HOME=nowhere)
        p = subprocess.run([PFM, "encode", "--json", "-"], input="".join(n + "\n" for n in names),
                           capture_output=True, text=True, timeout=SLOWEST, env=env, check=False)
    lines = [json.loads(line) for line in p.stdout.splitlines()]
    assert len(lines) == len(names), p.stderr
    answers = {}
    for name, a in zip(names, lines):
        if "error" in a:
            answers[name] = a["error"]["kind"]
            continue
        perf = a["perf"] and perf_words(a["perf"]["type"],
                                        *(a["perf"][k] for k in ("config", "config1", "config2")))
        answers[name] = Answer(a["pmu"], a["event"], [r["value"] for r in a["regs"]], perf)
    return answers


# ---- the table -----------------------------------------------------------------------------------

def read_table(path=TABLE):
    """(reasons, {(pmu, event): (theirs, ours, reason)})"""
    reasons, rows = {}, {}
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            line = line.partition("#")[0].strip()
            if not line:
                continue
            if line.startswith("reason "):
                _, key, text = line.split(None, 2)
                reasons[key] = text
                continue
            words = line.split()
            if len(words) != 5 or words[4] not in reasons or (words[0], words[1]) in rows:
                raise ValueError(
                    "%s:%d: want PMU EVENT THEIRS OURS REASON, once each, the reason declared above"
                    % (path, n))
            rows[words[0], words[1]] = tuple(words[2:])
    return reasons, rows


class Comparison:
    def __init__(self, pmu):
        self.pmu, self.agree, self.differ, self.only, self.ours = pmu, 0, {}, {}, 0

    def add(self, name, theirs, ours):
        if isinstance(ours, str):
            self.only.setdefault(ours, []).append(name)
        elif str(theirs) == str(ours):
            self.agree += 1
        else:
            self.differ[self.pmu, name] = (str(theirs), str(ours))

    def judge(self, test):
        """Prints the count; every difference is in the table, and nothing else is."""
        rows = {k: v for k, v in read_table()[1].items() if k[0] == self.pmu}
        print("# %s: %d agree, %d differ, %d only ours, %d only theirs%s" %
              (self.pmu, self.agree, len(self.differ), self.ours, sum(map(len, self.only.values())),
               "".join("; %s %d, as %s" % (k, len(v), ", ".join(v[:3]))
                       for k, v in sorted(self.only.items()) if v)))
        wrong = [
            "%s %s: theirs %s, ours %s: not in the table" % (*k, *v)
            for k, v in self.differ.items() if k not in rows
        ]
        wrong += ["%s %s: the table has %s and %s, it is %s and %s" % (*k, *v[:2], *self.differ[k])
                  for k, v in rows.items() if k in self.differ and self.differ[k] != v[:2]]
        wrong += ["%s %s: no longer differs" % k for k in rows if k not in self.differ]
        test.assertEqual(wrong, [], "\n" + "\n".join(wrong))
        test.assertGreater(self.agree + len(self.differ), 0, "nothing was compared")


# ---- comparisons ---------------------------------------------------------------------------------

def vendor_names(folder, model):
    """The names of a list, with the first dot as a colon."""
    with open(os.path.join(folder, model + ".pmdb"), "rb") as f:
        tables = image_reader.read_image(f.read())[0]
    t = next(t for t in tables if t.name == model)
    rows = (t.read_row(i) for i in range(t.count["rows"]))
    return [r["name"].replace(".", ":", 1) for r in rows if not r["flags"] & pt.ROW_METRIC]


def compare_intel(pmu, images):
    """Their names and the vendor's."""
    c = Comparison(pmu)
    theirs = {a.event: a for a in ask_peer(pmu)}
    vendors = vendor_names(images, pmu)
    for a in ask_peer(names=[pmu + "::" + n for n in vendors]):
        theirs.setdefault(a.event, a)
    c.ours = len(set(vendors) - set(theirs))
    names = list(theirs)
    for name, ours in zip(names, ask_us([pmu + "::" + n for n in names], images).values()):
        c.add(name, theirs[name], ours)
    return c


def image_table(images, model, name):
    with open(os.path.join(images, model + ".pmdb"), "rb") as f:
        return next(t for t in image_reader.read_image(f.read())[0] if t.name == name)


def compare_amd(pmu, model, name, images):
    """By event select and unit mask, taken from both tables; registers from both encoders."""
    c = Comparison(pmu)
    theirs = {}
    for a in ask_peer(pmu):
        theirs.setdefault(a.mask, a)
    t = image_table(images, model, name)
    codes = {}
    for i in range(t.count["rows"]):
        row = t.read_row(i)
        if not row["flags"] & pt.ROW_METRIC:
            codes[row["name"]] = (t.read_value(i, "code") or 0, t.read_value(i, "umask") or 0)
    for event, ours in zip(codes, ask_us([name + "::" + n for n in codes], images).values()):
        if codes[event] in theirs:
            c.add(event, theirs[codes[event]], ours)
        else:
            c.ours += 1
    met = set(codes.values())
    c.only["no row of that code and mask"] = [a.event for a in theirs.values() if a.mask not in met]
    return c


def compare_architectural(pmu, images):
    """Events every Intel table of theirs has, against our table of what CPUID promises."""
    c = Comparison(pmu + "/arch")
    theirs = [a for a in ask_peer(pmu) if ":" not in a.event]
    for a, ours in zip(theirs, ask_us(["intel_arch::" + a.event for a in theirs], images).values()):
        if not isinstance(ours, str):
            c.add(a.event, a, ours)
    return c


def compare_generic():
    c = Comparison("perf")
    theirs = ask_peer("perf")
    for a, ours in zip(theirs, ask_us([a.event for a in theirs]).values()):
        c.add(a.event, a, ours)
    return c


def compare_architecture_table():
    c = Comparison("ix86arch")
    theirs = ask_peer("ix86arch")
    for a, ours in zip(theirs, ask_us(["ix86arch::" + a.event for a in theirs]).values()):
        c.add(a.event, a, ours)
    return c


def import_lists(folder):
    out, err = io.StringIO(), io.StringIO()
    for path in LISTS:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            if pmuc.main(["import", os.path.join(DATA, path), "-o", folder + "/"]):
                raise AssertionError(err.getvalue())


# ---- tests ---------------------------------------------------------------------------------------

def needs_peer(test):
    if not (PEER and os.access(PEER, os.X_OK)):
        test.skipTest("built without libpfm4-dev: the peer cannot be asked")
    if peer_version() not in (TABLE_IS_FOR, "unknown"):
        test.skipTest("differences are known for libpfm %s, this is %s" %
                      (TABLE_IS_FOR, peer_version()))


class Table(unittest.TestCase):
    """The table of differences itself, which needs no peer."""

    def test_each_reason_has_a_source_and_a_row(self):
        reasons, rows = read_table()
        self.assertEqual(set(reasons), {row[2] for row in rows.values()},
                         "a reason nobody gives, or the reverse")
        for key, text in reasons.items():
            self.assertIn("Source:", text, key)

    def test_a_difference_is_no_agreement(self):
        for (pmu, event), (theirs, ours, _) in read_table()[1].items():
            self.assertNotEqual(theirs, ours, "%s %s" % (pmu, event))


class Judged(unittest.TestCase):
    """The comparison finds planted differences."""

    class Listener(unittest.TestCase):
        def runTest(self):
            pass

    def judge(self, change):
        c = Comparison("spr")
        c.agree = 1
        c.differ = {k: v[:2] for k, v in read_table()[1].items() if k[0] == "spr"}
        change(c)
        with contextlib.redirect_stdout(io.StringIO()):
            c.judge(self.Listener())

    def test_as_in_the_table(self):
        self.judge(lambda c: None)

    def test_new_changed_and_gone(self):
        first = next(k for k in read_table()[1] if k[0] == "spr")
        for change in (lambda c: c.differ.update({("spr", "NEW:ONE"): ("0x1/0x1", "0x2/0x2")}),
                       lambda c: c.differ.update({first: ("0x1/0x1", "0x2/0x2")}),
                       lambda c: c.differ.pop(first),
                       lambda c: (setattr(c, "agree", 0), c.differ.clear())):
            with self.assertRaises(AssertionError):
                self.judge(change)


class Generic(unittest.TestCase):
    def setUp(self):
        needs_peer(self)

    def test_generic_events_equal_those_of_libpfm4(self):
        compare_generic().judge(self)

    def test_architectural_events_equal_those_of_libpfm4(self):
        if not peer_pmus().get("ix86arch"):
            self.skipTest(
                "libpfm4 makes its ix86arch table from CPUID, and this machine's shows no PMU")
        compare_architecture_table().judge(self)

    def test_events_of_coreduo_equal_those_of_libpfm4(self):
        if not peer_pmus().get("coreduo"):
            self.skipTest("libpfm4's 64-bit build has no coreduo table")
        c = Comparison("coreduo")
        theirs = ask_peer("coreduo")
        for a, ours in zip(theirs, ask_us(["coreduo::" + a.event for a in theirs]).values()):
            c.add(a.event, a, ours)
        c.judge(self)


class Lists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = None
        if PEER and os.path.isdir(DATA):
            cls.images = tempfile.mkdtemp()
            import_lists(cls.images)

    @classmethod
    def tearDownClass(cls):
        if cls.images:
            shutil.rmtree(cls.images)

    def setUp(self):
        needs_peer(self)
        if not self.images:
            self.skipTest("no vendor lists at PERFMON_SHARED")


def add_list_tests():
    def each(name, compare):
        setattr(Lists, "test_" + name, lambda self: compare(self.images).judge(self))

    for pmu in INTEL:
        each(pmu, lambda images, pmu=pmu: compare_intel(pmu, images))
        each(pmu + "_architectural", lambda images, pmu=pmu: compare_architectural(pmu, images))
    for pmu, model in AMD.items():
        each(model, lambda images, pmu=pmu, model=model: compare_amd(pmu, model, model, images))
    for pmu, name in AMD_L3.items():
        each(name, lambda images, pmu=pmu, name=name: compare_amd(pmu,
                                                                  name.split("_")[0], name, images))


def list_differences():
    with tempfile.TemporaryDirectory() as images:
        import_lists(images)
        found = [compare_generic()] + [compare_intel(p, images) for p in INTEL
                                       ] + [compare_architectural(p, images) for p in INTEL]
        found += [compare_amd(p, m, m, images) for p, m in AMD.items()]
        found += [compare_amd(p, n.split("_")[0], n, images) for p, n in AMD_L3.items()]
    reasons = read_table()[1] if os.path.exists(TABLE) else {}
    for c in found:
        for key, value in c.differ.items():
            print("%-20s %-45s %-22s %-22s %s" % (*key, *value, reasons.get(key, ("", "", "?"))[2]))
    for c in found:
        print("# %s: %d agree, %d differ, %d only theirs" %
              (c.pmu, c.agree, len(c.differ), sum(map(len, c.only.values()))))


add_list_tests()
if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        list_differences()
    else:
        main()
