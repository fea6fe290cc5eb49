# SPDX-License-Identifier: MIT
"""Tests wait for the fact that they need, not for a time in which it usually comes true."""
import os
import subprocess
import time


def wait_until(fact, what="", limit=60):
    """The first true value of @fact(). Files, answers of services and lines of /proc send no event
    that a test could wait for, so they are read until they are as wanted. @limit ends a test that
    would wait for ever; no result depends on it."""
    end = time.monotonic() + limit
    while not (value := fact()):
        if time.monotonic() > end:
            raise AssertionError("never true: " + (what or str(fact)))
        time.sleep(0.002)    # leaves the processor to what is waited for
    return value


def read_state(pid):
    """The letter of a process's state: "S" sleeps, "T" is stopped, "" has ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(") ")[2][:1]
    except OSError:
        return ""


def start_counting(words, **more):
    """A process of the command @words, with --control in place of its first None, once it counts:
    its answer to "ping" comes from the loop that follows the start."""
    control, answers = os.pipe(), os.pipe()
    at = words.index(None)
    words = [*words[:at], "--control", "fd:%d,%d" % (control[0], answers[1]), *words[at + 1:]]
    p = subprocess.Popen(words, pass_fds=(control[0], answers[1]), **more)
    os.close(control[0])
    os.close(answers[1])
    try:
        os.write(control[1], b"ping\n")
        os.read(answers[0], 16)    # nothing if it has ended
    finally:
        os.close(control[1])
        os.close(answers[0])
    return p
