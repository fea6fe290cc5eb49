#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutated event lists, kept when they reach new lines of the readers: .pmu files and vendors'
lists.

    fuzz_lists.py pmu|vendor [--runs N] [--seconds N] [--seed N] [--keep FOLDER] [--library
    libperfmon.so] FILE-OR-FOLDER...

Whatever comes in, either an image comes out that can be read (by the library too, if it is named),
or a reason with file and place (pmu) or file, event and key (vendor): never a traceback, and
nothing half-written. The same seed gives the same inputs. An input that breaks this is made as
small as it gets, and written to standard output and below --keep. New inputs are kept there as
well.

An input of kind vendor is a tree: "%% PATH" starts a file.
"""

import argparse
import contextlib
import ctypes
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PMUC = os.path.normpath(os.path.join(HERE, "..", "..", "compiler"))
sys.dont_write_bytecode = True
sys.path.insert(0, PMUC)
from image import image_reader  # noqa: E402
import pmuc  # noqa: E402
from vendors import importing  # noqa: E402

# Seconds of processor time that an input may take: fixed, and for each byte. Traced, the slowest of
# 400 took 0.1 s, and 18 us a byte.
FIXED_TIME, TIME_PER_BYTE = 3, 0.001
HOSTILE = [
    "", "-", "0", "-1", "1", "2", "0x", "0xff", "0x1ff", "256", "65536", "0xffffffffffffffff",
    "0x10000000000000000", "9" * 30, "1e308", "nan", "null", "0,1,2,3", "0..63", "64", "3..1", "a",
    "A" * 300, "%s", "..", "/dev/null", "=", ":", ",", "\"", "@9", "\0", "\u00e9", "\u202e",
    "\x1b[31m", "!", "config:0-7", "config2:63-0"
]
VALUES = [
    0, 1, -1, 64, 256, 2**64, 1.5, 1e300, True, False, None, [], {}, [[]], {"a": 1}, "x" * 20000
] + HOSTILE


def time_bound(data):
    """CPU seconds that an input may take. The bound is linear, so that quadratic time fails."""
    return FIXED_TIME + TIME_PER_BYTE * len(data)


class Wrong(Exception):
    """An invalid result: output, status, reason or time."""


# ---- what is tried -------------------------------------------------------------------------------

def quietly(function, *args):
    """(status, standard output, standard error)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = function(*args)
    return status, out.getvalue(), err.getvalue()


def check_image(path, library):
    with open(path, "rb") as f:
        raw = f.read()
    for t in image_reader.read_image(raw)[0]:
        for i in range(t.count["rows"]):
            t.read_row(i)
    if library is None:
        return
    why = library.refusal(path)
    if why:
        raise Wrong("the library refuses the image: " + why)


def check_folder(folder, known):
    """Nothing but images may be there."""
    for at, _, names in os.walk(folder):
        for n in names:
            if os.path.join(at, n) not in known and not n.endswith(".pmdb"):
                raise Wrong("'%s' was left behind" % n)


def try_pmu(data, folder, library):
    source, image = os.path.join(folder, "x.pmu"), os.path.join(folder, "x.pmdb")
    with open(source, "wb") as f:
        f.write(data)
    status, _, err = quietly(pmuc.main, ["--image", image, source])
    if status not in (0, 1) or (status == 1) != (not os.path.exists(image)):
        raise Wrong("status %s, and %s image" % (status, "an" if os.path.exists(image) else "no"))
    if status and not err:
        raise Wrong("refused without a reason")
    for line in err.split("\n")[:-1]:
        if not re.match(r".*?:\d+:\d+: error: .|pmuc: .", line):
            raise Wrong("a reason without a place: " + line)
    check_folder(folder, [source, os.path.join(folder, "testpmu.pmu")])
    if not status:
        check_image(image, library)


def try_vendor(data, folder, library):
    tree, out = os.path.join(folder, "in"), os.path.join(folder, "out")
    for path, content in sections(data):
        full = os.path.normpath(os.path.join(tree, path))
        if not full.startswith(tree + os.sep) or len(path) > 200 or os.path.exists(full):
            continue
        try:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(content)
        except (OSError, ValueError):
            pass                # no file system has such a name
    os.makedirs(tree, exist_ok=True)
    status, text, err = quietly(importing.main,
                                [tree, "-o", out + "/", "--json", "--force", "--jobs", "1"])
    if status not in (0, 1) or err:
        raise Wrong("status %s: %s" % (status, err))
    for line in text.split("\n")[:-1]:
        check_line(json.loads(line))
    check_folder(out, [])
    for name in sorted(os.listdir(out)) if os.path.isdir(out) else ():
        check_image(os.path.join(out, name), library)


def check_line(line):
    if "refused" in line and not all(line["refused"].get(k)
                                     for k in ("file", "event", "key", "reason")):
        raise Wrong("a refusal without file, event, key or reason: %s" % line)
    fault = re.search(r": (\w*Error): ",
                      str(line.get("error") or line.get("problem") or (line.get("model") or {})))
    if fault:
        raise Wrong("a list broke its reader: %s" % json.dumps(line)[:300])


TRIED = {"pmu": try_pmu, "vendor": try_vendor}


class Library:
    """The C library's opinion of an image."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.pfm_open_context.argtypes = [
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p
        ]
        self.lib.pfm_close_context.argtypes = [ctypes.c_void_p]

    def refusal(self, image):
        class Options(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("flags", ctypes.c_uint),
                        ("pmu", ctypes.c_char_p), ("sysfs_root", ctypes.c_char_p),
                        ("images", ctypes.c_char_p), ("cpuid", ctypes.c_char_p)]

        class Reason(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("code", ctypes.c_int), ("kind", ctypes.c_int),
                        ("start", ctypes.c_uint32), ("end", ctypes.c_uint32),
                        ("event", ctypes.c_int), ("sys_errno", ctypes.c_int),
                        ("clash_counters", ctypes.c_uint64),
                        ("detail", ctypes.c_char_p), ("number", ctypes.c_uint64)]
        options, reason, ctx = Options(), Reason(), ctypes.c_void_p()
        options.size, reason.size = ctypes.sizeof(options), ctypes.sizeof(reason)
        options.flags, options.images = 1, image.encode()
        if self.lib.pfm_open_context(ctypes.byref(ctx), ctypes.byref(options),
                                     ctypes.byref(reason)):
            return (reason.detail or b"?").decode()
        self.lib.pfm_close_context(ctx)
        return None


# ---- one input -----------------------------------------------------------------------------------

class Trial:
    """Runs inputs and records which lines of the readers they reached."""

    def __init__(self, kind, library):
        if kind in TRIED:
            self.attempt = TRIED[kind]
        self.library = library
        self.reached = set()
        self.new = False
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="lists", dir=shared)
        self.fixed = os.path.join(HERE, "..", "pmu", "testpmu.pmu")     # what "like" can name
        os.fsync = lambda fd: None      # a disk has nothing to do with it
        signal.signal(signal.SIGPROF, self.late)

    def late(self, signum, frame):
        raise Wrong("took more processor time than an input of its size may")

    def trace(self, frame, event, arg):
        return self.lines(frame.f_code) if frame.f_code.co_filename.startswith(PMUC) else None

    def lines(self, code):
        last = 0
        reached = self.reached

        def line(frame, event, arg):
            nonlocal last
            at = (code, last, frame.f_lineno)
            last = frame.f_lineno
            if at not in reached:
                reached.add(at)
                self.new = True
            return line
        return line

    def __call__(self, data):
        """None, or what went wrong; self.new says whether new lines were reached."""
        self.new = False
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)
        shutil.copy(self.fixed, self.folder)
        importing.RUN = None
        signal.setitimer(signal.ITIMER_PROF, time_bound(data))
        sys.settrace(self.trace)
        try:
            self.attempt(data, self.folder, self.library)
        except (Exception, SystemExit) as e:
            sys.settrace(None)
            return self.wrong(e)
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0)
        return None

    @staticmethod
    def wrong(e):
        """The fields that identify a kind of failure, then the message and traceback of @e."""
        place = traceback.extract_tb(e.__traceback__)[-1]
        wrong = "%s: %s" % (type(e).__name__, e)
        said = "".join(traceback.format_exception(type(e), e, e.__traceback__))
        return type(e), place.filename, place.lineno, wrong[:60] if isinstance(
            e, Wrong) else "", wrong, said


def shrunk(trial, data, wrong):
    """The smallest input that goes wrong in the same way: pieces are left out as long as that
    helps."""
    size = len(data) // 2
    tries = 3000
    while size and tries:
        at = 0
        while at < len(data) and tries:
            tries -= 1
            less = data[:at] + data[at + size:]
            got = trial(less)
            if got and got[:4] == wrong[:4]:
                data, wrong = less, got
            else:
                at += size
        size //= 2
    return data, wrong


# ---- other inputs out of known ones --------------------------------------------------------------

def sections(data):
    """The files of a tree: (path, content)."""
    for part in re.split(rb"(?m)^%% ", data)[1:]:
        path, _, content = part.partition(b"\n")
        yield path.decode("utf-8", "replace"), content


def joined(files):
    return b"".join(b"%% " + path.encode() + b"\n" + content.rstrip(b"\n") + b"\n"
                    for path, content in files)


class Mutator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def text(self, data, others):
        """Bytes, tokens or lines changed."""
        r = self.r
        how = r.randrange(6)
        if how == 0 and data:
            at = r.randrange(len(data))
            return data[:at] + bytes([r.randrange(256)]) + data[at + r.randrange(2):]
        if how <= 3:
            tokens = re.split(rb"([\s=,:@./\"\[\]{}]+)", data)
            at = r.randrange(len(tokens))
            other = re.split(rb"([\s=,:@./\"\[\]{}]+)", r.choice(others))
            tokens[at] = r.choice([
                r.choice(other),
                r.choice(tokens),
                r.choice(HOSTILE).encode(), b"", tokens[at] + tokens[at]
            ])
            return b"".join(tokens)
        lines = data.split(b"\n")
        other = r.choice(others).split(b"\n")
        at = r.randrange(len(lines))
        if how == 4:
            lines[at:at + r.randrange(2)] = [r.choice(r.choice([lines, other]))]
        else:
            del lines[at:at + r.choice([1, 1, 1, 4])]
        return b"\n".join(lines)

    def places(self, value, found):
        """Every (container, key) in a JSON value."""
        for key in list(value) if isinstance(
                value, dict) else range(len(value)) if isinstance(value, list) else ():
            found.append((value, key))
            self.places(value[key], found)
        return found

    def json(self, content):
        r = self.r
        value = json.loads(content)
        found = self.places(value, [])
        if not found:
            return content
        where, key = r.choice(found)
        how = r.randrange(8)
        if how == 0:
            del where[key]
        elif how == 1 and isinstance(where, list):
            where.insert(key, where[key])
        elif how == 2 and isinstance(where, dict):
            where[r.choice(found)[1] if r.randrange(2) else r.choice(HOSTILE)] = where.pop(key)
        elif how <= 4:
            other, k = r.choice(found)
            where[key] = json.loads(json.dumps(other[k]))
        else:
            where[key] = r.choice(VALUES)
        return json.dumps(value, indent=0).encode()

    def tree(self, data, others):
        files = list(sections(data))
        if not files:
            return self.text(data, others)
        at = self.r.randrange(len(files))
        path, content = files[at]
        how = self.r.randrange(12)
        if how == 0:
            path = self.text(path.encode(),
                             [p.encode() for p, _ in files]).decode("utf-8",
                                                                    "replace").replace("\n", "")
        elif how == 1:
            files.append(self.r.choice(list(sections(self.r.choice(others))) or files))
        elif how < 9 and path.endswith(".json"):
            try:
                content = self.json(content)
            except ValueError:
                content = self.text(content, others)
        else:
            content = self.text(content, others)
        files[at] = (path, content)
        return joined(files)


# ---- the run -------------------------------------------------------------------------------------

def read_all(places):
    for place in places:
        names = sorted(os.path.join(place, n)
                       for n in os.listdir(place)) if os.path.isdir(place) else [place]
        for n in names:
            with open(n, "rb") as f:
                yield n, f.read()


def keep(folder, name, data):
    if folder:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def report(trial, name, data, wrong, folder):
    data, wrong = shrunk(trial, data, wrong)
    keep(folder, "broken", data)
    print("%s: %s\n%s\nthe smallest input that does this:\n%s"
          % (name, wrong[4], wrong[5], data[:4000].decode("utf-8", "backslashreplace")))
    return 1


def fuzz(options, trial):
    mutator = Mutator(options.seed)
    mutate = mutator.text if options.kind == "pmu" else mutator.tree
    corpus = []
    for name, data in read_all(options.corpus):
        wrong = trial(data)
        if wrong:
            return report(trial, name, data, wrong, options.keep)
        if trial.new:
            corpus.append(data)
        elif options.useless:
            print("useless: " + name)
    known, end = len(trial.reached), time.monotonic() + (options.seconds or 1e9)
    runs = 0
    while time.monotonic() < end if options.seconds else runs < options.runs:
        runs += 1
        # New ones are tried most: they are where the readers were last surprised.
        at = mutator.r.choice([
            mutator.r.randrange(len(corpus)),
            len(corpus) - 1 - mutator.r.randrange(min(8, len(corpus)))
        ])
        data = corpus[at]
        for _ in range(mutator.r.choice([1, 1, 2, 4])):
            data = mutate(data, corpus)
        wrong = trial(data)
        if wrong:
            return report(trial, "input %d of seed %d" % (runs, options.seed), data, wrong,
                          options.keep)
        if trial.new and len(data) < 20000:
            corpus.append(data)
            keep(options.keep, "%06d" % runs, data)
    print("%d inputs from seed %d, %d pairs of lines reached, %d of them new, %d inputs kept"
          % (runs, options.seed, len(trial.reached), len(trial.reached) - known, len(corpus)))
    return 0


def same_each_time():
    if os.environ.get("PYTHONHASHSEED") != "0":         # sets come in another order each time
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable] + sys.argv)
    os.environ["SOURCE_DATE_EPOCH"] = "0"


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=["pmu", "vendor"])
    p.add_argument("corpus", nargs="+")
    p.add_argument("--runs", type=int, default=1000)
    p.add_argument("--seconds", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep")
    p.add_argument("--library")
    p.add_argument("--useless", action="store_true",
                   help="name files of the corpus that reach nothing new")
    options = p.parse_intermixed_args()
    same_each_time()
    trial = Trial(options.kind, Library(options.library) if options.library else None)
    try:
        return fuzz(options, trial)
    finally:
        shutil.rmtree(trial.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
