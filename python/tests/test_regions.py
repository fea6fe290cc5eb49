# SPDX-License-Identifier: MIT
"""Regions, each test in a process of its own; pages of fresh mappings fault once when they are
written."""
import json
import os
import subprocess
import sys
import textwrap

import pytest

import perfmon

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


def test_coroutines_count_what_they_run():
    """Two tasks take turns; each has its own faults alone, in its own region and in those
    inside."""
    run("""
        import asyncio

        @perfmon.region("first")
        async def first():
            with perfmon.region("inside"):
                for _ in range(4):
                    fault(100)
                    await asyncio.sleep(0)
            return 1

        @perfmon.region("second")
        async def second():
            for _ in range(4):
                fault(300)
                await asyncio.sleep(0)
            raise KeyError

        async def main():
            return await asyncio.gather(first(), second(), return_exceptions=True)

        asyncio.run(main())
        perfmon.start_regions("page-faults")
        one, error = asyncio.run(main())
        assert one == 1 and isinstance(error, KeyError)
        for name, pages in (("first", 400), ("inside", 400), ("second", 1200)):
            visits, inclusive, _ = counts(name)
            assert visits == 1 and 0 <= inclusive - pages <= 40, (name, inclusive)
    """)


def test_cancelled_coroutine_is_counted():
    run("""
        import asyncio

        @perfmon.region("cancelled")
        async def wait():
            fault(200)
            await asyncio.sleep(60)

        async def main():
            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            fault(500)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        perfmon.start_regions("page-faults")
        asyncio.run(main())
        visits, inclusive, _ = counts("cancelled")
        assert visits == 1 and 0 <= inclusive - 200 <= 60, inclusive
    """)


def test_with_across_an_await_is_not_counted():
    errors = run("""
        import asyncio

        async def wait():
            with perfmon.region("waits"):
                await asyncio.sleep(0)
            with perfmon.region("works"):
                fault(200)

        perfmon.start_regions("page-faults")
        asyncio.run(wait())
        assert counts("waits") is None or counts("waits")[0] == 0, counts("waits")
        assert counts("works")[0] == 1 and counts("works")[1] >= 200
    """)
    assert "region 'waits': the coroutine waited inside" in errors


def test_asynchronous_generator_is_refused():
    run("""
        try:
            @perfmon.region("x")
            async def numbers():
                yield 1
        except TypeError as e:
            assert "asynchronous generator" in str(e) and "numbers" in str(e)
        else:
            raise AssertionError("no error")
    """)


def test_results_of_a_killed_process_are_read_from_its_file(tmp_path):
    run(f"""
        import os
        perfmon.start_regions("page-faults", output="{tmp_path}/")
        with perfmon.region("first"):
            fault(10)
        with perfmon.region("open"):
            os._exit(0)
    """)
    (path, ) = tmp_path.glob("*.regions")
    found = perfmon.load_regions(path)
    assert not found.has_ended and not found.incomplete and found.unfinished == 1
    assert found.rank == -1 and found.process > 0
    assert any("first" in r.values() for r in found.results), found.results
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(perfmon.ArgumentError):
        perfmon.load_regions(tmp_path / "other")


def test_report_of_pytest_benchmark_has_counts(tmp_path):
    """Four pages an iteration, without the calibration; an unknown kind of count has its reason."""
    pytest.importorskip("pytest_benchmark", reason="needs Debian's python3-pytest-benchmark")
    (tmp_path / "test_pages.py").write_text(START.split("def counts")[0] + textwrap.dedent("""
        def test_four(benchmark):
            benchmark(fault, 4)

        def test_rounds(benchmark):
            benchmark.pedantic(fault, (9,), rounds=5, iterations=2)
    """), encoding="utf-8")
    out = tmp_path / "out.json"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "perfmon.pytest_counts",
                           "-p", "no:cacheprovider", "--benchmark-json=%s" % out,
                           "--benchmark-max-time=0.05", str(tmp_path)], capture_output=True,
                          text=True, check=False,
                          env=dict(os.environ, PERFMON_REGIONS="page-faults",
                                   PERFMON_REGIONS_OUTPUT="/dev/null"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = {b["name"]: b["extra_info"] for b in json.loads(out.read_text())["benchmarks"]}
    assert found["test_four"]["page-faults"] == pytest.approx(4, abs=0.2)
    assert found["test_rounds"]["page-faults"] == pytest.approx(9, abs=0.5)
