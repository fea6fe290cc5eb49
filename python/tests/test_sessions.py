# SPDX-License-Identifier: MIT
"""Counting: software events, which every machine has; what a machine without a PMU says; recorded
machines; the device model."""
import mmap
import os
import subprocess
import sys
import threading
import time

import pytest

import perfmon
from perfmon import Cause, Quality, alpha


def can_count():
    with perfmon.Session(["page-faults"]) as s:
        pass
    return s["page-faults"].value is not None


needs_kernel = pytest.mark.skipif(not can_count(), reason="the kernel lets this user count nothing")


def touch(pages=300):
    """Faults on fresh pages, one by one."""
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as m:
        for i in range(0, len(m), mmap.PAGESIZE):
            m[i] = 1


def names(counts):
    """Without the mark of a user who may not count the kernel."""
    return [c.event.removesuffix(":u") for c in counts]


@needs_kernel
def test_contract():
    with perfmon.Session(["page-faults", "task-clock"]) as s:
        touch()
    assert 300 <= s["page-faults"].value < 380 and s["page-faults"].quality is Quality.EXACT
    assert str(s["page-faults"].quality) == "exact" and s["page-faults"].cause is Cause.NONE
    clock = s["task-clock"]
    assert clock.unit == "msec" and clock.amount == pytest.approx(
        clock.value * clock.scale) and clock.running > 0
    assert s[0] == s["page-faults"] and names(s) == ["page-faults", "task-clock"] and len(s) == 2
    assert s.closed and "page-faults" in repr(s)
    with pytest.raises(KeyError):
        s["cycles"]
    with pytest.raises(ValueError):
        s.start()
    s.close()


@needs_kernel
def test_start_stop_reset_read():
    s = perfmon.Session(["task-clock"])
    assert s["task-clock"].value is None  # never started: no number
    with pytest.raises(perfmon.NotCountedError, match="never started"):
        bool(s["task-clock"])
    with s:
        touch()
        first = s.read()
        s.stop()
        second, third = s.read(), s.read()
        assert first["task-clock"].value < second["task-clock"].value == third["task-clock"].value
        s.start()
        touch()
        assert (s.read() - third)["task-clock"].value > 0
        s.reset()
        assert s.read_count(0).value < second["task-clock"].value
    assert s.closed


@needs_kernel
def test_intervals():
    with perfmon.Session(["task-clock"]) as s:
        stop = time.monotonic() + 0.05
        while time.monotonic() < stop:
            touch(10)
        began = time.monotonic()
        got = list(s.intervals(0.01, 3))
    assert len(got) == 3 and all(0 <= r["task-clock"].value < s["task-clock"].value for r in got)
    assert got[2].time - began >= 0.03


@needs_kernel
def test_interval_has_the_counts_of_its_time():
    """Page faults after one reading are counted in the next interval, plus a few faults of
    Python itself."""
    with perfmon.Session(["page-faults"]) as s:
        got = []
        for reading in s.intervals(0.001, 3):
            got.append(reading["page-faults"].value)
            touch(400 * len(got))
    assert 400 <= got[1] < 480 and 800 <= got[2] < 880 and got[0] < 80
    assert sum(got) + 1200 <= s["page-faults"].value < sum(got) + 1280


@needs_kernel
def test_columns_of_values():
    with perfmon.Session(["page-faults", "coreduo::Uops_Ret"]) as s:
        touch()
    values = s._last.values()
    assert values[0] > 0 and values[1] != values[1]  # the second has no value


def test_uncountable_event_has_a_cause_and_no_value():
    with perfmon.Session(["montecito::CPU_OP_CYCLES_ALL"]) as s:
        touch(1)
    c = s[0]
    assert (c.value, c.amount, c.quality, c.cause) == (None, None, Quality.NOT_SUPPORTED,
                                                       Cause.NO_PMU)
    assert "montecito" in c.why and c.remedy and str(c).startswith(
        "montecito::CPU_OP_CYCLES_ALL: not supported (")
    assert str(Cause.NO_PMU) == "no PMU" and str(Quality.NOT_SUPPORTED) == "not supported"


def test_strict_sessions_raise():
    with pytest.raises(perfmon.PerfmonError) as refused:
        perfmon.Session(["page-faults", "montecito::CPU_OP_CYCLES_ALL"], strict=True)
    assert refused.value.code == perfmon.ErrorCode.NOPMU and refused.value.event == 1


def test_wrong_sessions():
    with pytest.raises(perfmon.UnknownEventError) as refused:
        perfmon.Session(["page-faults", "page-fault-s-of-mine"])
    assert refused.value.event == 1 and refused.value.token == "page-fault-s-of-mine"
    for wrong in (dict(events=[]), dict(events=["page-faults"],
                                        cpus="x"), dict(events=["page-faults"], backend="nope")):
        with pytest.raises(perfmon.PerfmonError):
            perfmon.Session(**wrong)
    with pytest.raises(perfmon.EventError):
        perfmon.Session(["{page-faults,task-clock"])


@needs_kernel
def test_an_exception_inside_passes_and_counts_stay():
    with pytest.raises(ZeroDivisionError):
        with perfmon.Session(["page-faults"]) as s:
            touch()
            1 / 0
    assert s["page-faults"].value > 0 and s.closed


@needs_kernel
def test_groups_have_a_count_for_each_member():
    with perfmon.Session(["{page-faults,task-clock}"]) as s:
        touch()
    assert names(s) == ["page-faults", "task-clock"] and s[0].group == s[1].group
    assert s["task-clock"].value > 0


@needs_kernel
def test_an_event_that_is_named_twice_is_no_sum_of_two():
    with perfmon.Session(["page-faults", "{page-faults,page-faults:u,page-faults}",
                          "page-faults"]) as s:
        touch()
    assert len(s) == 5 and s["page-faults"] == s[0] and 300 <= s["page-faults"].value < 380
    assert [c.request for c in s] == [0, 1, 1, 1, 2]


@needs_kernel
def test_a_process_and_its_children():
    code = "b = bytearray(4096 * 2000)\nfor i in range(0, len(b), 4096): b[i] = 1"
    done = perfmon.stat([sys.executable, "-c", code], ["page-faults", "task-clock"])
    assert done.status == 0 and done["page-faults"].value > 2000 and done.elapsed > 0 and done.args[
        0] == sys.executable
    assert perfmon.stat(["sh", "-c", "exit 3"], ["page-faults"]).status == 3
    assert perfmon.stat(["sh", "-c", "kill -TERM $$"], ["page-faults"]).status == -15
    with pytest.raises(FileNotFoundError):
        perfmon.stat(["/no/such/program"], ["page-faults"])
    with pytest.raises(ValueError):
        perfmon.stat([], ["page-faults"])


def test_run_with_a_wrong_event_leaves_no_process():
    with pytest.raises(perfmon.UnknownEventError):
        perfmon.stat(["sleep", "100"], ["nope-nope"])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_command_takes_no_more_time_than_passes():
    """The clock starts before the command does."""
    for _ in range(50):
        done = perfmon.stat(["true"], ["task-clock"])
        if done["task-clock"].value is None:
            pytest.skip(done["task-clock"].why)
        assert done["task-clock"].value <= done.elapsed * 1e9


@needs_kernel
def test_another_process_by_its_number():
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys\nsys.stdin.read(1)\nsum(bytearray(4096 * 1000))"],
        stdin=subprocess.PIPE)
    with perfmon.Session(["page-faults"], pid=child.pid) as s:
        child.communicate(b"x")
    assert s["page-faults"].value > 0
    with perfmon.Session(["page-faults"], pid=child.pid) as s:
        pass
    assert (s[0].value, s[0].cause) == (None, Cause.NO_PROCESS)


def test_system_wide_sums_and_splits():
    with perfmon.Session(["cpu-clock"], system_wide=True) as s:
        time.sleep(0.02)
    if s[0].cause is Cause.PERMISSION:
        pytest.skip("counting the whole system is not permitted")
    assert s["cpu-clock"].value > 0
    with perfmon.Session(["cpu-clock"], system_wide=True, per_cpu=True) as s:
        time.sleep(0.02)
    total = s["cpu-clock"]
    assert total.value == sum(c.value for c in s) and (len(s) == 1 or len(total.parts) == len(s))


@needs_kernel
def test_threads_count_themselves():
    got = {}

    def work(n):
        with perfmon.Session(["page-faults"]) as s:
            touch(n)
        got[n] = s["page-faults"].value

    threads = [threading.Thread(target=work, args=(n,)) for n in (100, 200, 400)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(got) == 3 and all(v is not None for v in got.values())


@needs_kernel
def test_sessions_keep_their_context():
    ctx = perfmon.Context()
    s = ctx.session(["page-faults"])
    ctx.close()
    with s:
        touch()
    assert s["page-faults"].value > 0


def test_plans_on_a_recorded_machine(machine):
    ctx = perfmon.Context(sysfs_root=machine("hybrid"))
    s = ctx.session(["cycles", "page-faults"], dry_run=True)
    plan = s.plan()
    by_pmu = {c.pmu: c for c in plan}
    assert [c.event for c in plan] == ["cycles", "cycles", "page-faults"
                                       ] and set(by_pmu) == {"cpu_core", "cpu_atom", "software"}
    assert all(by_pmu[p].attr.config >> 32 == ctx.pmus[p].type for p in ("cpu_core", "cpu_atom"))
    assert (by_pmu["cpu_core"].cpus, by_pmu["cpu_atom"].cpus) == ("0-3", "4-7")
    assert ctx.event("cpu_core/event=0x2e,umask=0x41/").perf_attr.type == ctx.pmus["cpu_core"].type


def test_counts_of_other_events_are_not_taken_away():
    with perfmon.Session(["task-clock"]) as a, perfmon.Session(["page-faults"]) as b:
        before = a.read()
        assert "task-clock" in a and "task-clock" not in b and "nope" not in a
    assert a.last - before and a.last + before and "task-clock" in a
    for wrong in (lambda: a.last - b.last, lambda: a.last + b.last):
        with pytest.raises(TypeError):
            wrong()


def test_counts_are_numbers():
    clock = perfmon.Count("task-clock", "software", 9, 9, 9, 9, perfmon.Quality.EXACT,
                          perfmon.Cause.NONE)
    faults = perfmon.Count("page-faults", "software", 2, 2, 9, 9, perfmon.Quality.EXACT,
                           perfmon.Cause.NONE)
    nothing = perfmon.Count("cycles", "hardware", None, 0, 0, 0, perfmon.Quality.NOT_SUPPORTED,
                            perfmon.Cause.NO_PMU)
    assert (int(clock), float(clock), clock / faults, clock // 2, 10 - clock,
            clock - faults) == (9, 9.0, 4.5, 4, 1, 7)
    assert clock > faults and clock == 9 and faults <= 2 and 3 > faults and max(clock,
                                                                                faults) is clock
    assert sum([clock, faults]) == 11 and round(clock) == 9 and -faults == -2 and [5, 6, 7
                                                                                   ][faults] == 7
    assert not perfmon.Count("x", "software", 0, 0, 9, 9, perfmon.Quality.EXACT, perfmon.Cause.NONE)
    assert hash(clock) == hash(9) and clock != nothing and nothing != 0
    for use in (int, float, bool, lambda c: c + 1, lambda c: 1 / c, lambda c: c < 5):
        with pytest.raises(perfmon.NotCountedError,
                           match="cycles has no value: not supported .no PMU"):
            use(nothing)
    with pytest.raises(TypeError):
        clock + "1"


@needs_kernel
def test_a_session_is_read_after_its_block():
    with perfmon.Session(["task-clock"]) as s:
        touch()
    assert s.closed and s.read() is s.last and s.read()["task-clock"] > 0


@needs_kernel
def test_a_command_without_arguments():
    done = perfmon.stat("true")
    assert done.args == ("true",) and done["task-clock"] > 0 and "seconds elapsed" in str(done)
    assert perfmon.stat("true", ["task-clock"]).args == ("true",)
    assert perfmon.stat(["sh", "-c", "exit 3"], ["task-clock"]).status == 3


def test_a_block_that_cannot_begin_ends_no_other(monkeypatch):
    counting, ended = perfmon.count("task-clock"), []
    with counting as outer:
        with monkeypatch.context() as patch:
            patch.setattr(perfmon.Session, "__enter__", lambda self: self.start(no_such_argument=1))
            with pytest.raises(TypeError), counting:
                ended.append("began")
    assert not ended and outer.last is not None


def test_counts_of_one_event_add_up():
    from perfmon.session import Count, Reading
    part = dict(raw=0, enabled=5, running=5, cause=Cause.NONE)
    exact = Count("cycles", "cpu_core", 10, quality=Quality.EXACT, **part)
    scaled = Count("cycles", "cpu_atom", 7, quality=Quality.SCALED, **part)
    missing = Count("cycles", "cpu_atom", None, quality=Quality.NOT_COUNTED, **part)
    assert Reading(["cycles"], [exact, scaled], 0)["cycles"].value == 17
    assert Reading(["cycles"], [exact, scaled], 0)["cycles"].quality is Quality.SCALED
    both = Reading(["cycles"], [exact, missing], 0)["cycles"]
    assert (both.value, both.quality, both.pmu,
            both.parts) == (10, Quality.PARTIAL, "cpu_core cpu_atom", (exact, missing))
    assert Reading(["cycles"], [missing, missing], 0)["cycles"].value is None
    user = Count("cycles:u", "cpu", 3, quality=Quality.EXACT, **part)
    assert Reading(["{cycles}"], [user], 0)["cycles"] == user and "cycles" in Reading(["{cycles}"],
                                                                                      [user], 0)
    with pytest.raises(KeyError):
        Reading(["{cycles}"], [user], 0)["cycle"]
    assert "cycles" in Reading(["cycles"], [exact], 0) and "nope" not in Reading(["cycles"],
                                                                                 [exact], 0)


# ---- the Alpha device


def test_device_model():
    with alpha.Session(["cycles", "issues", "loads"], device_model="ev5", n_cpus=2) as s:
        time.sleep(0.02)
    assert [c.event for c in s] == ["cycles", "issues", "loads"] and all(c.value > 0 for c in s)
    with alpha.Session(["cycles", "issues", "dcachemisses"], device_model="ev5") as s:
        time.sleep(0.02)
    # no counter is left for it
    assert [(c.value is None, c.cause) for c in s][2] == (True, Cause.GROUP)


def test_device_model_by_processor():
    with alpha.Session(["cycles"], device_model="ev6", n_cpus=3,
                       settings=alpha.Settings(open=alpha.Open.EACH)) as s:
        time.sleep(0.02)
        s.stop()
        counts = [s.count(0, entry) for entry in range(s.entries)]
        assert len(counts) == 3 and sum(counts) == s.read()["cycles"].value
        assert s.cycles(2) >= 0
        for wrong in (lambda: s.count(0, 3), lambda: s.levels(), lambda: s.pair()):
            with pytest.raises(perfmon.PerfmonError):
                wrong()


def test_device_model_levels_and_samples():
    settings = alpha.Settings(items=alpha.Item.COUNTERS | alpha.Item.IPL | alpha.Item.PROFILING,
                              stride=16, ranges=[(0x20001000, 0x20003000)])
    with alpha.Session(["cycles"], device_model="ev5", settings=settings) as s:
        time.sleep(0.02)
        s.stop()
        levels, samples = s.levels(), s.samples()
    assert len(levels) == 9 and sum(levels) > 0
    assert len(samples) * 4 == alpha.sample_bytes(0x20001000, 0x20003000, 16) and type(
        samples[0]).__name__ in ("uint32", "int")


def test_device_model_profileme():
    with alpha.Session(["pm_mode1"], device_model="ev67",
                       settings=alpha.Settings(statistic="PF67_PM_CYCLES")) as s:
        time.sleep(0.02)
        s.stop()
        pair = s.pair()
    assert pair.statistic >= 0 and pair.retired >= 0


def test_device_model_refuses_as_the_device_does():
    with alpha.Session(["cycles"], device_model="ev5", settings=alpha.Settings(rates=[256]),
                       uid=100) as s:
        pass
    assert s[0].cause is Cause.PERMISSION and s[0].remedy
    with alpha.Session(["ev5::cycles"], device_model="ev4") as s:
        pass
    assert s[0].cause is Cause.NO_PMU
    with pytest.raises(perfmon.PerfmonError):
        alpha.Session(["ev5::cycles"], device_model="ev8", pmu="ev5")
    with alpha.Session(["ev5::cycles"], device="/no/such/device") as s:
        pass
    assert s[0].cause in (Cause.NO_KERNEL, Cause.OTHER) and s[0].value is None


def test_groups_take_turns():
    """Each counts half of the time: its count is scaled to all of it."""
    s = perfmon.Session(["{page-faults}", "{task-clock}"])
    try:
        groups = [c.group for c in s.read()]
        turns = [1 if g in groups else 0 for g in range(max(groups) + 1)]
        s.select_groups(turns, groups[:1])
        s.start()
        for group in groups:
            s.select_groups(turns, [group])
            deadline = time.monotonic() + 0.1
            while time.monotonic() < deadline:
                pass
        s.stop()
        clock = s.read()[1]
    finally:
        s.close()
    if clock.value is None:
        pytest.skip(clock.why)
    assert clock.quality == Quality.SCALED and clock.enabled > 1.5 * clock.running
    assert clock.value == pytest.approx(clock.raw * clock.enabled / clock.running, rel=0.01)
