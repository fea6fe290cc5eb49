#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public call with every argument out of its range, one at a time and all together, as the
headers declare them.

A call may refuse its arguments. It must not crash, hang, write past its buffers, or report success
without an object to work on. Promises of the caller that a library cannot check are not tested:
that an array has the length given with it, that a pointer is valid.
"""
import ctypes
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap

SOURCE, BUILD = os.environ["PERFMON_SOURCE"], os.environ["PERFMON_BUILD"]
LIBRARIES = {"include": "lib/libperfmon.so.1", "include/libpfm3": "lib/compat/libpfm3/libpfm.so.3"}
EXPORTS = {"include": "lib/perfmon.map", "include/libpfm3": "lib/compat/libpfm3/libpfm3.map"}
ROOM, GUARD = 16384, b"\xa5" * 64
INTS = (-2**31, -32769, -2, -1, 1 << 20, 2**31 - 1)
UNSIGNED = (2**32 - 1, 2**31, 1 << 20)
TEXTS = (None, b"", b":", b"::", b"{", b"{}", b"a" * 5000, b"\xff\xfe", b"%s%n", b"cpu/",
         b"coreduo::", b"\x1b[2J", b"cycles:period=99999999999999999999")
HEADERS = {
    "include": ("context.h", "event.h", "metric.h", "plan.h", "session.h", "spawn.h", "sampling.h",
                "recording.h", "system.h", "aggregate.h", "alpha.h", "coreduo.h", "montecito.h"),
    "include/libpfm3": ("pfmlib.h", "pfmlib_coreduo.h", "pfmlib_montecito.h")
}
RECORDING = os.path.join(SOURCE, "tests/fuzz/corpus/recording/file")
EV67 = 154       # PFMLIB_ALPHA_EV67_PMU
LONG_WAITS = {"timeout"}        # -1 is in range: the call waits without a limit


def headers():
    """(folder, name, text without comments) of every header."""
    for folder, names in HEADERS.items():
        for name in names:
            with open(os.path.join(SOURCE, folder, "perfmon", name), encoding="utf-8") as f:
                yield folder, name, re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def prototypes():
    """name -> (header, [(type, name)], folder of the header) of every function."""
    found = {}
    for folder, header, text in headers():
        text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
        for name, params in re.findall(r"(?:^|\n)\w[\w \*]*?\b(pfm_\w+)\(([^;{}]*?)\)\s*;", text):
            if "(*pf)" not in params and "(*each)" not in params:       # a function of the caller's
                found[name] = header, [
                    split(p) for p in " ".join(params.split()).split(", ") if p != "void"
                ], folder
    return found


def split(param):
    array = re.match(r"(.*)\(\*(\w+)\)(\[\d+\])$", param)
    if array:
        return array[1].strip() + " *" + array[3], array[2]
    param = re.sub(r"(\w+)\[\w+\]$", r"*\1", param)
    kind, name = re.match(r"(.*?[\s\*])(\w+)$", param).groups()
    return kind.strip(), name


class Room:
    """Memory of the caller's with marks on both sides. A struct's size comes first."""

    def __init__(self, size=None, room=ROOM):
        self.bytes = ctypes.create_string_buffer(GUARD + bytes(room) + GUARD, 2 * len(GUARD) + room)
        self.room = room
        if size is not None:
            ctypes.c_size_t.from_buffer(self.bytes, len(GUARD)).value = size

    def at(self):
        return ctypes.c_void_p(ctypes.addressof(self.bytes) + len(GUARD))

    def whole(self):
        raw = self.bytes.raw
        return raw[:len(GUARD)] == GUARD and raw[len(GUARD) + self.room:][:len(GUARD)] == GUARD


class Caller:
    """Good arguments for every parameter, and bad ones."""

    def __init__(self, sizes):
        self.libraries = {
            folder: ctypes.CDLL(os.path.join(BUILD, path)) for folder, path in LIBRARIES.items()
        }
        self.lib, self.sizes = self.libraries["include"], sizes
        self.rooms = []
        self.session, self.reading, self.plan = (ctypes.c_void_p() for _ in range(3))
        texts = (ctypes.c_char_p * 2)(b"page-faults:u", b"task-clock:u")
        self.lib.pfm_open_session(ctypes.byref(self.session), None, None, texts, 2, None)
        self.lib.pfm_create_plan(ctypes.byref(self.plan), None,
                                 (ctypes.c_char_p * 1)(b"coreduo::Mul"), 1, None, None)
        self.lib.pfm_open_recording(ctypes.byref(self.reading), RECORDING.encode(), None)
        self.function("pfm_initialize", "include/libpfm3")()
        self.texts = texts

    def function(self, name, folder):
        if folder == "include":
            return getattr(self.lib, name)
        # Names of libpfm.so.3 have a version, which dlsym() does not find.
        find = ctypes.CDLL(None).dlvsym
        find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p,
                                                        ctypes.c_char_p)
        at = find(self.libraries[folder]._handle, name.encode(), b"LIBPFM_3")
        assert at, name
        return ctypes.CFUNCTYPE(ctypes.c_long)(at)

    def room(self, *args):
        self.rooms.append(Room(*args))
        return self.rooms[-1].at()

    def good(self, function, kind, name):
        if kind.startswith("const char *") and kind.count("*") == 1:
            return {"path": b"/nonexistent/perfmon", "reg": b"PERFEVTSEL0",
                    "name": b"coreduo"}.get(name, b"coreduo::Mul")
        if kind == "const char *const *":
            return self.texts
        if "pfm_ctx_t *" == kind.replace("const ", ""):
            return None
        if "pfm_session_t *" == kind.replace("const ", ""):
            return self.reading if FUNCTIONS[function][0] in ("sampling.h",
                                                              "recording.h") else self.session
        if "pfm_plan_t *" == kind.replace("const ", ""):
            return self.plan
        if kind in ("pfm_recording_t *", "const pfm_system_check_t *", "pfm_system_check_t *"):
            return None
        if kind.endswith("*]") or kind.endswith("]"):
            return self.room(None)
        if "*" in kind:
            base = re.sub(r"const |\*|\s", "", kind)
            return self.room(self.sizes.get(base))
        if name in ("pmu", "type") and FUNCTIONS[function][0] == "alpha.h":
            return EV67
        if name == "n":
            return 0 if function in ("pfm_evaluate_metric", "pfm_estimate_metric",
                                     "pfm_judge_metric") else 1
        return {"len": 64, "maxlen": 64, "counters": 1}.get(name, 0)

    def bad(self, function, kind, name):
        if kind.startswith("const char *") and kind.count("*") == 1:
            return TEXTS
        if name == "maxlen":
            return (0, 1, 2)
        if kind in ("int", "pfm_dialect_t"):
            return (0, 1) if name in LONG_WAITS else INTS
        if kind in ("unsigned", "unsigned int", "uint32_t"):
            return (0,) if name in ("n", "rounds", "counters") else UNSIGNED
        if kind == "size_t":
            return (0, 1, 2)
        if kind == "uint64_t":
            return (2**64 - 1, 1 << 63)
        if kind == "double":
            return (float("nan"), float("inf"), -1.0, 1.0)
        if "*" not in kind or name == "buf":
            return ()
        base = re.sub(r"const |\*|\s", "", kind)
        if base in self.sizes and kind.count("*") == 1:
            whole = self.sizes[base]
            return (None, *(self.room(size)
                            for size in (0, 1, 3, whole - 1, whole + 8, 4096, ROOM)))
        return (None,)

    def call(self, function, values):
        result = self.function(function, FUNCTIONS[function][2])
        result.restype = ctypes.c_long
        converted = [
            ctypes.c_double(v)
            if kind == "double" else ctypes.c_uint64(v & (2**64 - 1)) if type(v) is int else v
            for v, (kind, _) in zip(values, FUNCTIONS[function][1])
        ]
        result(*converted)
        return all(room.whole() for room in self.rooms)


def struct_sizes():
    """Struct sizes as the compiler has them: of PFM_INIT's types."""
    names = set()
    for _, _, text in headers():
        names |= set(re.findall(r"^\}\s*(pfm_\w+_t);", text, flags=re.M))
    lines = "".join('printf("%s %%zu\\n", sizeof(%s));' % (n, n) for n in sorted(names))
    program = "#include <stdio.h>\n%sint main(void) { %s return 0; }" % ("".join(
        "#include <perfmon/%s>\n" % name for names in HEADERS.values() for name in names), lines)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "sizes.c"), os.path.join(folder, "sizes")
        with open(source, "w", encoding="utf-8") as f:
            f.write(program)
        subprocess.run([
            "cc", *("-I" + os.path.join(SOURCE, folder) for folder in HEADERS), source, "-o", binary
        ], check=True)
        out = subprocess.run([binary], check=True, stdout=subprocess.PIPE, text=True).stdout
        return {name: int(size) for name, size in (line.split() for line in out.splitlines())}


SIZES = struct_sizes()
FUNCTIONS = prototypes()
# theirs is NULL alone
ENDS = {
    "pfm_close_context", "pfm_close_session", "pfm_close_plan", "pfm_close_schedule",
    "pfm_close_recording", "pfm_close_set", "pfm_close_system_check"
}


def tries(caller, function, params):
    """Argument lists: each parameter's bad values beside good ones, then some lists of bad ones
    alone."""
    good = [None if function in ENDS else caller.good(function, *p) for p in params]
    bad = [caller.bad(function, *p) for p in params]
    for i, values in enumerate(bad):
        for v in values:
            if function not in ENDS or v is None:
                yield [*good[:i], v, *good[i + 1:]]
    dice = random.Random(1)
    for _ in range(0 if function in ENDS else 100):
        yield [dice.choice(b) if b and dice.random() < 0.7 else g for g, b in zip(good, bad)]


def attack(function, report):
    """In a child: says before each call what it is, and after it if something was written where it
    may not."""
    caller = Caller(SIZES)
    for values in tries(caller, function, FUNCTIONS[function][1]):
        shown = ", ".join("a struct" if isinstance(v, ctypes.c_void_p) else repr(v)[:40]
                          for v in values)
        os.write(report, ("%s(%s)\n" % (function, shown)).encode())
        if not caller.call(function, values):
            os.write(report, b"wrote behind what it was given\n")
            os._exit(1)


class EveryCall(unittest.TestCase):
    def attacked(self, function):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 2
            try:
                signal.alarm(30)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                os.close(reading)
                attack(function, writing)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading, "rb") as f:
            lines = f.read().decode(errors="replace").splitlines()
        status = os.waitpid(pid, 0)[1]
        self.assertTrue(lines, "nothing was tried")
        self.assertEqual(
            status, 0,
            "status %d after %d calls: %s" % (status, len(lines), " / ".join(lines[-2:])))

    def test_the_headers_were_read(self):
        for folder, path in EXPORTS.items():
            with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
                exported = set(re.findall(r"\b(pfm_\w+);", f.read()))
            self.assertLess({name for name, known in FUNCTIONS.items() if known[2] == folder},
                            exported)
        self.assertGreater(len(FUNCTIONS), 50)


def case(function):
    return lambda self: self.attacked(function)


for name in FUNCTIONS:
    setattr(EveryCall, "test_" + name, case(name))

if __name__ == "__main__":
    tap.main()
