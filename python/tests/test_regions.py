# SPDX-License-Identifier: MIT
"""Regions, each test in a process of its own; pages of fresh mappings fault once when they are
written."""
import subprocess
import sys
import textwrap

import pytest

START = """
import mmap, threading
import perfmon

def fault(n):
    if n:
        with mmap.mmap(-1, n * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as m:
            for i in range(n):
                m[i * mmap.PAGESIZE] = 1

def counts(region, parent="", thread=0):
    for row in perfmon.read_regions():
        if (row.region, row.parent, row.thread) == (region, parent, thread):
            c = row.counts[0]
            return row.visits, c.inclusive, c.exclusive
    return None

"""


def run(text, status=0):
    done = subprocess.run([sys.executable, "-c", START + textwrap.dedent(text)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stderr


@pytest.fixture(scope="module", autouse=True)
def counted():
    done = subprocess.run([
        sys.executable, "-c",
        START + "perfmon.start_regions('page-faults')\nwith perfmon.region('x'): pass\n"
        "raise SystemExit(0 if counts('x')[1] is not None else 77)"
    ], check=False)
    if done.returncode == 77:
        pytest.skip("the kernel counts no page faults here")


def test_nested_and_raised():
    run("""
        perfmon.start_regions("page-faults")
        for i in range(2):  # what Python itself touches for the first time is touched in the first round
            for _ in range(5):
                try:
                    with perfmon.region("outer%d" % i):
                        fault(300)
                        with perfmon.region("inner%d" % i):
                            fault(200)
                            raise KeyError
                except KeyError:
                    pass
        visits, inclusive, exclusive = counts("outer1")
        assert visits == 5 and 0 <= inclusive - 2500 <= 20, (visits, inclusive)
        assert 0 <= exclusive - 1500 <= 20, exclusive
        assert 0 <= counts("inner1", "outer1")[1] - 1000 <= 20
    """)


def test_decorator_and_thread():
    run("""
        @perfmon.region("work")
        def work(n):
            fault(n)
            return n

        perfmon.start_regions("page-faults")
        t = threading.Thread(target=work, args=(400,))
        t.start(); t.join()
        assert work(300) == 300
        visits, inclusive, _ = counts("work")
        assert visits == 2 and 0 <= inclusive - 700 < 60, (visits, inclusive)
    """)


def test_visit_that_moves():
    run("""
        perfmon.start_regions("page-faults")
        visit = perfmon.RegionVisit("task")
        fault(300)
        visit.suspend()
        fault(1000)
        def go_on():
            visit.resume()
            fault(400)
            visit.leave()
        t = threading.Thread(target=go_on)
        t.start(); t.join()
        visits, inclusive, _ = counts("task")
        assert visits == 1 and 0 <= inclusive - 700 < 60, inclusive
    """)


def test_off_and_refused():
    run("""
        with perfmon.region("off"):
            pass
        assert perfmon.read_regions() == []
        try:
            perfmon.start_regions("nonsense")
        except perfmon.PerfmonError as e:
            assert "nonsense" in str(e)
        else:
            raise AssertionError("no error")
        perfmon.start_regions("page-faults")
        perfmon.stop_regions()
    """)
