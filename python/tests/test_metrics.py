# SPDX-License-Identifier: MIT
"""Metrics and plans."""
import math
import random

import pytest

import perfmon
from perfmon import MetricState


def test_a_metric_from_counts(built_in):
    ipc = built_in.metric("hardware::ipc")
    assert (ipc.name, ipc.unit, ipc.groups) == ("ipc", "insn per cycle", ("ratios",))
    assert [i.alias or i.text for i in ipc.inputs] == ["hardware::instructions", "cycles"]
    v = ipc.compute({"instructions": 3000, "cycles": 2000}, errors={"instructions": 30})
    assert (v.value, v.state, str(v)) == (1.5, MetricState.DEFINED, "1.5 insn per cycle")
    assert math.isclose(v.error, 0.015) and v.low < 1.5 < v.high
    v = ipc.compute({"instructions": 3000})
    assert (v.value, v.state, v.missing) == (None, MetricState.NOT_COUNTED, "cycles")
    assert str(ipc.compute({"instructions": 1, "cycles": 0})) == "division by zero"
    with pytest.raises(perfmon.PerfmonError):
        built_in.metric("hardware::cycles")


def test_default_constant_adds_no_error(built_in):
    """The list's own value of it is a value, not what is uncertain about it."""
    latency = built_in.metric("gnr::Info_Frontend_MS_Latency_Ret")
    constant, = [i.alias for i in latency.inputs if i.preset is not None]
    counts, exact = {"FRONTEND_RETIRED.MS_FLOWS": 3000,
                     "CPU_CLK_UNHALTED.THREAD": 2000}, {"CPU_CLK_UNHALTED.THREAD": 0}
    v = latency.compute(counts, exact)
    assert math.isclose(v.value, 1.5 * 77.14) and (v.error, v.low, v.high) == (0, v.value, v.value)
    assert math.isclose(latency.compute(counts, {**exact, constant: 7.714}).error, v.value / 10)


def test_partners_and_values_that_cannot_be_true(built_in):
    bound = built_in.metric("amdzen5::backend_bound")
    assert bound.partners == ("amdzen5::de_no_dispatch_per_slot.backend_stalls",)
    counts = {"de_no_dispatch_per_slot.backend_stalls": 4000, "ls_not_halted_cyc": 1000}
    assert bound.check(bound.compute(counts))
    wrong = bound.check(bound.compute({**counts, "ls_not_halted_cyc": 100}))
    assert not wrong and (wrong.result, wrong.low, wrong.high) == ("outside its range", 0,
                                                                   100) and "errata" in wrong.reason
    assert "not counted all the time" in bound.check(
        bound.compute({**counts, "ls_not_halted_cyc": 100}), extrapolated=True).reason
    assert built_in.metric("hardware::ipc").check(bound.compute(counts)).high is None
    assert built_in.metric("hardware::ipc").sum_parts == ()
    assert {str(part) for part in bound.sum_parts} == {"amdzen5::" + name for name in (
        "frontend_bound", "bad_speculation", "backend_bound", "retiring", "smt_contention_share")}
    half = bound.compute(counts)
    assert half.value == 50 and perfmon.Metric.check_sum([half, half], 100)
    assert perfmon.Metric.check_sum([half], 100).result == "parts do not sum to the whole"


def test_metrics_of_a_session():
    with perfmon.Session(["page-faults", "software::ratios"]) as s:
        bytearray(1 << 22)
        during = {row["metric"]: row for row in s.metrics()}
    rows = s.metrics()
    assert [row["metric"] for row in rows] == list(during)
    by = {row["metric"]: row for row in rows}
    faults = by["faults_per_second"]
    assert (faults["text"], faults["pmu"], faults["unit"],
            faults["state"]) == ("software::ratios", "software", "/s", "defined")
    assert (faults["quality"], faults["error"], faults["missing"]) == ("exact", 0, None)
    assert math.isclose(faults["value"],
                        1e9 * s["software::page-faults"].value / s["software::task-clock"].value)
    assert 0 < by["cpus_used"]["value"] < 1.5
    assert {len(row) for row in rows} == {15}
    assert {(row["plausibility"], row["reason"]) for row in rows} == {("plausible", "")}


def test_intervals_give_an_error():
    with perfmon.Session("software::faults_per_second") as s:
        rounds = []
        before = s.read()
        for i in range(4):
            bytearray((i + 1) << 22)
            now = s.read()
            rounds.append(now - before)
            before = now
        (row,) = s.metrics(rounds)
        assert row["error"] > 0 and row["low"] < row["value"] < row["high"]


def test_metric_without_counts_is_none():
    with perfmon.Session(["skx::Info_Thread_IPC"], dry_run=True) as s:
        pass
    (row,) = s.metrics()
    assert (row["value"], row["state"], row["error"],
            row["over_threshold"]) == (None, "not counted", None, None)
    assert row["missing"] in ("skx::INST_RETIRED.ANY", "skx::CPU_CLK_UNHALTED.THREAD")


def test_an_interval_from_repetitions(built_in):
    rng = random.Random(2)
    ipc = built_in.metric("hardware::ipc")
    samples = []
    for _ in range(12):
        # of different length, the same ratio: the error is small
        cycles = rng.uniform(1e9, 2e9)
        samples.append({"cycles": cycles, "instructions": 1.25 * cycles * rng.gauss(1, 0.001)})
    v = ipc.compute(repetitions=samples)
    assert abs(v.value - 1.25) < 0.01 and 0 < v.error < 0.01


def test_an_interval_from_the_parts_of_a_run(built_in):
    ipc = built_in.metric("hardware::ipc")
    whole, parts = {"instructions": 20, "cycles": 10}, [{"instructions": 9, "cycles": 5},
                                                        {"instructions": 11, "cycles": 5}]
    v = ipc.compute(whole, intervals=parts, observed=0.5)
    assert (v.value, round(v.error ** 2, 9)) == (2, 0.02) and v.low < 2 < v.high
    assert ipc.compute(whole, intervals=parts).error > v.error
    assert ipc.compute(whole, intervals=parts[:1]).error < 0
    assert ipc.compute(whole, intervals=[], observed=1).error == 0


def test_metrics_are_listed(built_in):
    names = {m.name for m in built_in.metrics("ratios")}
    assert {"ipc", "ghz", "cpus_used", "LLC_miss_share"} <= names
    # Every processor that counts clocks has it.
    ghz = [str(m) for m in built_in.metrics("gh?")]
    assert {m.rpartition("::")[2] for m in ghz} == {"ghz"} and len(set(ghz)) == len(ghz)
    assert {"hardware::ghz", "amdzen4::ghz"} <= set(ghz)
    assert [str(m) for m in built_in.metrics("gh?", pmu="hardware")] == ["hardware::ghz"]


def test_a_plan(built_in):
    p = perfmon.plan(["coreduo::L2_Lines_In", "coreduo::Uops_Ret", "coreduo::L2_Rqsts"],
                     context=built_in)
    assert (len(p), p.bound, p.optimal, p.rounds) == (2, 2, True, 2)
    assert "2 counters" in p.certificate and sum(map(len, p)) == 3
    assert all(e.pmu == "coreduo" and e.counter in (0, 1) for group in p for e in group)
    assert len(
        perfmon.plan(["coreduo::L2_Lines_In", "coreduo::Uops_Ret"], context=built_in,
                     taken=[0])) == 2
    with pytest.raises(perfmon.UnknownEventError):
        perfmon.plan(["coreduo::nobody"], context=built_in)


def test_a_schedule(built_in):
    events = ["coreduo::L2_Lines_In", "coreduo::Uops_Ret", "coreduo::L2_Rqsts"]
    s = perfmon.schedule(events, wishes={"coreduo::Uops_Ret": (20, 0)}, slot_seconds=2,
                         context=built_in)
    assert (len(s), s.slot_seconds, s.shift) == (30, 2.0, 0)   # with wishes, a cycle takes a minute
    assert all(len(groups) == 1 for groups in s) and {g for groups in s for g in groups} == {0, 1}
    assert len(set(s.turns)) == 1 and s.turns[0] != 0
    by_event = {e.event: e for e in s.events}
    assert by_event["coreduo::Uops_Ret"].slots >= 20
    assert by_event["coreduo::Uops_Ret"].slots == sum(
        any(e.event.endswith("Uops_Ret") for g in groups for e in s.plan[g]) for groups in s)
    assert s.slot_at(0) == 0 and s.slot_at(3) == 1 and s.slot_at(60) == 0
    alone = perfmon.schedule(events[:1], context=built_in)
    assert alone.turns == (0,) and alone.events[0].standard_error == 0
    with pytest.raises(perfmon.PerfmonError):
        perfmon.schedule(events, wishes=dict.fromkeys(events, (60, 0)), context=built_in)
    with pytest.raises(perfmon.ArgumentError):
        perfmon.schedule(events, wishes={"other": (1, 0)}, context=built_in)
