# SPDX-License-Identifier: MIT
"""The machine, and calls that summarise: findings, CPUs, tracepoints, groups, tallies, regions."""
import glob
import json
import math
import os
import statistics
import subprocess
import sys

import pytest

import perfmon
from perfmon import Cause, Count, FindingState, FindingTopic, Quality, libpfm3


def number_in(path):
    with open(path, encoding="ascii") as f:
        return int(f.read())


def count_of(value, quality=Quality.EXACT, cause=Cause.NONE):
    return Count("page-faults", "software", value, value or 0, 100, 100, quality, cause)


def test_findings_name_the_kernel_and_faults():
    found = perfmon.check_system(workload=False)
    assert {FindingTopic.MACHINE, FindingTopic.PERMISSIONS} <= {f.topic for f in found}
    assert any(os.uname().release in f.observed for f in found)
    assert all(f.check and f.state in FindingState for f in found)
    assert all(f.count is None and f.quality is None for f in found)


def test_the_workload_is_counted_too():
    rows = [f for f in perfmon.check_system() if f.topic is FindingTopic.WORKLOAD]
    assert rows and all(f.quality is not None for f in rows if f.count is not None)


def test_a_recorded_machine_has_no_workload(machine):
    with perfmon.Context(sysfs_root=machine("uncore")) as context:
        found = perfmon.check_system(context)
    assert found and not [f for f in found if f.topic is FindingTopic.WORKLOAD]


def test_places_of_cpus_are_those_of_sysfs():
    folders = glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology")
    if not folders:
        pytest.skip("the kernel exports no topology")
    for folder in folders:
        number = int(folder.split("/")[-2][3:])
        place = perfmon.default_context().cpu(number)
        assert place.core == number_in(folder + "/core_id")
        assert place.socket == number_in(folder + "/physical_package_id")
    assert perfmon.default_context().cpu(1 << 20).core is None


def test_tracepoints_are_those_of_tracefs():
    roots = [r for r in ("/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events")
             if os.path.isdir(r + "/sched")]
    context = perfmon.default_context()
    if not roots or not os.access(roots[0], os.R_OK):
        with pytest.raises(perfmon.PerfmonError):
            context.tracepoints()
        with pytest.raises(perfmon.PerfmonError):
            context.tracepoint_format("sched:sched_switch")
        return
    names = sorted("sched:" + os.path.basename(os.path.dirname(p))
                   for p in glob.glob(roots[0] + "/sched/*/format"))
    assert list(context.tracepoints("sched:*")) == names
    with open(roots[0] + "/sched/sched_switch/format", encoding="utf-8") as f:
        assert context.tracepoint_format("sched:sched_switch") == f.read()


def test_a_group_of_metrics(built_in):
    group = built_in.metric_group("hardware::ratios")
    assert {m.name for m in group} == {m.name for m in built_in.metrics("ratios", pmu="hardware")}
    with pytest.raises(perfmon.UnknownEventError):
        built_in.metric_group("hardware::nobody")


def test_a_tally_of_runs():
    values = [10, 12, 17, 11]
    t = perfmon.tally(map(count_of, values))
    assert (t.runs, t.counted, t.quality, t.mean) == (4, 4, Quality.EXACT, statistics.mean(values))
    assert math.isclose(t.error, statistics.stdev(values) / math.sqrt(len(values)))
    missing = count_of(None, Quality.NOT_COUNTED, Cause.BUSY)
    t = perfmon.tally([count_of(10), missing])
    assert (t.runs, t.counted, t.mean, t.error) == (2, 1, 10, None)
    assert (t.quality, t.cause) == (Quality.PARTIAL, Cause.BUSY)
    assert perfmon.tally([missing]).mean is None


def test_phrases_of_libpfm3():
    codes = [c for c in perfmon.ErrorCode if c >= perfmon.ErrorCode.UMASK]
    phrases = [libpfm3.error_text(c) for c in codes]
    assert all(phrases) and len(set(phrases)) == len(codes)
    assert phrases == [c.message for c in codes]


REGIONS = """
import os, perfmon, sys
assert perfmon.regions_cost() == (0, 0)
try:
    perfmon.write_regions(1, "json")
except perfmon.ArgumentError:
    pass
else:
    raise AssertionError("results before the start")
perfmon.start_regions("software::faults_per_second")
for _ in range(3):
    with perfmon.region("kept"):
        bytearray(1 << 22)
    with perfmon.region("forgotten"):
        pass
perfmon.reset_region("forgotten")
with perfmon.region("forgotten"):
    pass
rows = {r.region: r for r in perfmon.read_regions() if r.thread == 0}
assert rows["kept"].visits == 3 and rows["forgotten"].visits == 1
metric, = rows["kept"].metrics
assert metric.name == "faults_per_second"
assert (metric.value is None) == (metric.state is not perfmon.MetricState.DEFINED)
inside, pair = perfmon.regions_cost()
assert 0 < inside < 1e9 and 0 < pair < 1e9
perfmon.write_regions(1, "json")
"""


def test_regions_are_reset_written_and_have_metrics():
    done = subprocess.run([sys.executable, "-c", REGIONS], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    head, *rows = map(json.loads, done.stdout.splitlines())  # a line of JSON for each row
    assert head["program"] and "kept" in {row["region"] for row in rows}
