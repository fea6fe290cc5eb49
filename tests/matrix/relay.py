#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the C test programs of a build and relays their cases as one TAP stream.

    relay.py --label NAME [--wrapper WORDS] [--jobs N] [--only a,b] [--also c] [--skip 'a=why']
    [--timeout S] BUILD

--also adds tests that are no C programs: those of the command. Each case appears once, as "NAME:
program: case". A program that dies, plans another number of cases than it runs, or runs over its
time is a failed case of its own. --wrapper is put in front of each program (an emulator, valgrind);
--skip leaves a program out and says why; a name that is not a test of the build is an error, so
that lists here cannot rot.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time


def tests_of(build, also):
    """name -> (command, environment) of every test that is a C program of this build, or in
    @also."""
    found = {}
    for test in json.loads(subprocess.check_output(["meson", "introspect", "--tests", build])):
        # Words that are files of the build are named from its top.
        command = [
            os.path.join(build, word) if os.path.isfile(os.path.join(build, word)) else word
            for word in test["cmd"]
        ]
        programs = [
            word for word in command if os.path.basename(word).startswith("test_")
            and os.access(word, os.X_OK) and not word.endswith((".py", ".sh"))
        ]
        if programs:
            found[test["name"]] = programs[:1], test["env"]
        elif test["name"] in also:
            found[test["name"]] = command, test["env"]
    return found


def run(wrapper, command, env, seconds):
    """The program's lines, what went wrong with it as a whole, its exit status, and how long it
    took."""
    environment = dict(os.environ, **env)
    start = time.monotonic()
    with subprocess.Popen(wrapper + command, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as child:
        fault = None
        try:
            out = child.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out = child.communicate()[0]
            fault = "still running after %d s" % seconds
    return out.decode("utf-8",
                      "replace").splitlines(), fault, child.returncode, time.monotonic() - start


def cases(lines, fault, status):
    """(ok, text, remarks) of every case. cmocka writes a skipped test as 'not ok N # SKIP name'; a
    line '# SKIP why' before it is the reason. The remarks of a failed case are the lines before it
    and those after it, where cmocka has its reasons."""
    planned, n, bad, remarks, why, failed = None, 0, 0, [], "", None
    reports = [line for line in lines if re.match(r"==\d+==|SUMMARY: ", line)]
    for line in lines:
        plan = re.match(r"1\.\.(\d+)", line)
        case = re.match(r"(not )?ok\b\s*\d*(?:\s*-)?\s*(.*)", line)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                yield True, line.partition(
                    "#")[2].strip() and "# " + line.partition("#")[2].strip(), []
                return
        elif case:
            if failed:
                yield False, failed[0], failed[1] + remarks
            failed = None
            n += 1
            text = case[2]
            skip = re.match(r"# SKIP\s*(.*)", text, re.I)
            if skip:
                text = "%s # SKIP %s" % (skip[1], why or "not to be had here")
            ok = not case[1] or bool(re.search(r"# SKIP", text, re.I))
            bad += not ok
            if ok:
                yield ok, text, []
            else:
                failed = text, remarks
            remarks, why = [], ""
        else:
            reason = re.match(r"# SKIP\s*(.*)", line)
            why = reason[1] if reason else why
            remarks.append(line)
    if failed:
        yield False, failed[0], failed[1] + remarks
    if fault is None and status < 0:
        fault = "died of signal %d" % -status
    if fault is None and status and not bad:
        fault = "exit status %d" % status
    if fault is None and planned != n:
        fault = "planned %s cases, ran %d" % (planned, n)
    if fault:
        yield False, fault, reports + remarks


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("build")
    ask.add_argument("--label", required=True)
    ask.add_argument("--wrapper", default="")
    ask.add_argument("--jobs", type=int, default=int(os.environ.get("PERFMON_JOBS", "1")))
    ask.add_argument("--only", default="")
    ask.add_argument("--also", default="")
    ask.add_argument("--skip", action="append", default=[])
    ask.add_argument("--timeout", type=int, default=600)
    o = ask.parse_args()
    tests = tests_of(os.path.abspath(o.build), o.also.split(","))
    left_out = dict(s.split("=", 1) for s in o.skip)
    wanted = o.only.split(",") if o.only else list(tests)
    unknown = [name for name in wanted + list(left_out) if name not in tests]
    n, failed = 0, 0
    print("TAP version 13")
    for name in unknown:
        n += 1
        failed += 1
        print("not ok %d - %s: the build has no test called %s" % (n, o.label, name))
    wanted = [name for name in wanted if name in tests]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        running = {name: pool.submit(run, shlex.split(o.wrapper), *tests[name], o.timeout)
                   for name in wanted if name not in left_out}
        for name in wanted:
            if name in left_out:
                n += 1
                print("ok %d - %s: %s # SKIP %s" % (n, o.label, name, left_out[name]))
                continue
            *result, seconds = running[name].result()
            print("# %s: %s: %.1f s" % (o.label, name, seconds))
            for ok, text, remarks in cases(*result):
                n += 1
                failed += not ok
                for line in remarks[-40:]:
                    print("# " + line)
                print("%sok %d - %s: %s: %s" % ("" if ok else "not ", n, o.label, name, text),
                      flush=True)
    print("1..%d" % n)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
