#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve --pressure and --resctrl, on folders and files as Linux' documentation has them."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import tap  # noqa: E402
from test_containers import Kubelet, Scripted, make_folder, make_id, make_uid  # noqa: E402
import openmetrics  # noqa: E402


def pressure(some, full=None):
    line = "%s avg10=1.10 avg60=0.50 avg300=0.10 total=%d\n"
    return line % ("some", some) + (line % ("full", full) if full is not None else "")


class Files(Scripted):
    def setUp(self):
        super().setUp()
        self.root = self.place.env["PERFMON_SYSFS"]

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)

    def pods(self, kubelet, *numbers):
        """The folders of containers, which the kubelet names."""
        folders = []
        for n in numbers:
            folders.append(make_folder("systemd", "containerd", "Burstable", make_uid(n),
                                       make_id(n)))
            self.make(folders[-1])
            kubelet.add(make_uid(n), "a", "pod-%d" % n, app=make_id(n))
        return folders


class Pressure(Files):
    def test_pressure_of_version_2_is_in_microseconds(self):
        """Sums in microseconds, of the machine and of each container, with its names."""
        for resource, text in (("cpu", pressure(1500000, 0)), ("memory", pressure(2000, 1000)),
                               ("io", pressure(7))):
            self.write(self.root + "/proc/pressure/" + resource, text)
        with Kubelet() as kubelet:
            one, two = self.pods(kubelet, 1, 2)
            self.write(os.path.join(self.groups, one, "memory.pressure"), pressure(3000000, 250000))
            self.write(os.path.join(self.groups, one, "cpu.stat"),
                       "usage_usec 10\nnr_periods 40\nnr_throttled 3\nthrottled_usec 1250000\n")
            self.write(os.path.join(self.groups, two, "cpu.stat"), "usage_usec 10\n")
            with self.serve("--pressure", "--kubelet", kubelet.url) as s:
                f = self.until(s.address(), lambda f: len(self.labels(f)) == 3)
                s.end()
        value = openmetrics.value
        name = "perfmon_pressure_seconds"
        machine = {tuple(sorted(own)): v for own, v in f[name].samples.items() if len(own) == 2}
        self.assertEqual(machine[("kind", "some"), ("resource", "cpu")], 1.5)
        self.assertEqual(machine[("kind", "full"), ("resource", "memory")], 0.001)
        self.assertEqual(value(f, name, resource="memory", kind="some", pod="pod-1"), 3)
        self.assertEqual(value(f, name, resource="memory", kind="full", pod="pod-1"), 0.25)
        # Values that the kernel omits have no sample: io has no "full" here, pod-2 no pressure.
        self.assertEqual(len(f[name].samples), 5 + 2)
        self.assertEqual(value(f, "perfmon_cpu_quota_periods", pod="pod-1"), 40)
        self.assertEqual(value(f, "perfmon_cpu_throttled_periods", pod="pod-1"), 3)
        self.assertEqual(value(f, "perfmon_cpu_throttled_seconds", pod="pod-1"), 1.25)
        self.assertEqual(len(f["perfmon_cpu_throttled_seconds"].samples), 1)

    def test_times_of_version_1_are_in_nanoseconds(self):
        """The controller cpu is a hierarchy of its own there, with times in nanoseconds."""
        cpu = os.path.join(self.place.folder, "cpu")
        self.mount("none %s cgroup rw,perf_event 0 0\nnone %s cgroup rw,cpu,cpuacct 0 0\n" %
                   (self.groups, cpu))
        with Kubelet() as kubelet:
            (one, ) = self.pods(kubelet, 1)
            self.write(os.path.join(cpu, one, "cpu.stat"),
                       "nr_periods 9\nnr_throttled 2\nthrottled_time 2500000000\n")
            with self.serve("--pressure", "--kubelet", kubelet.url) as s:
                f = self.until(s.address(), lambda f: len(self.labels(f)) == 2)
                s.end()
        self.assertEqual(openmetrics.value(f, "perfmon_cpu_throttled_seconds", pod="pod-1"), 2.5)

    def test_series_are_bounded(self):
        """The limit of series knows those of each group."""
        for n, more in enumerate(((), ("--pressure", ))):
            with Kubelet() as kubelet, self.serve("--kubelet", kubelet.url, "--max-series", "200",
                                                  *more) as s:
                address = s.address()
                self.read(address)
                folders = self.pods(kubelet, *range(100 * n + 1, 100 * n + 31))
                f = self.until(address, lambda f: openmetrics.value(f, "perfmon_cgroups_omitted"))
                s.end()
            self.remove(*folders)
            self.assertEqual(openmetrics.value(f, "perfmon_cgroups"), 8 if more else 28)
            self.assertLess(sum(len(x.samples) for x in f.values()), 200)


class Resctrl(Files):
    def data(self, group, domain, **values):
        for file, value in values.items():
            self.write("%s/sys/fs/resctrl/%s/mon_data/%s/%s" % (self.root, group, domain, file),
                       "%s\n" % value)

    def test_groups_of_resctrl_have_their_labels(self):
        """The default group, groups of control, their monitored groups; one that has the number of
        a container has its labels; what the hardware lacks has its cause."""
        number = make_id(1)
        self.data(".", "mon_L3_00", llc_occupancy=1000, mbm_total_bytes=5000, mbm_local_bytes=4000)
        self.data(".", "mon_L3_01", llc_occupancy=2000, mbm_total_bytes="Unavailable",
                  mbm_local_bytes="Error")
        self.data("batch", "mon_L3_00", llc_occupancy=30)
        self.data("batch/mon_groups/job7", "mon_L3_00", llc_occupancy=40)
        self.data("mon_groups/" + number, "mon_L3_00", llc_occupancy=50,
                  mbm_total_bytes=2**40 + 1)
        self.data("info", "mon_L3_00", llc_occupancy=666)
        self.write(self.root + "/sys/fs/resctrl/tasks", "1\n")
        with Kubelet() as kubelet:
            self.pods(kubelet, 1)
            with self.serve("--resctrl", "--kubelet", kubelet.url) as s:
                f = self.until(s.address(), lambda f: len(self.labels(f)) == 2)
                s.end()
        def value(family, group, domain="00", **more):
            return openmetrics.value(f, family, resctrl_group=group, cache="L3", domain=domain,
                                     **more)
        occupancy, memory = "perfmon_resctrl_occupancy_bytes", "perfmon_resctrl_memory_bytes"
        self.assertEqual(value(occupancy, "/"), 1000)
        self.assertEqual(value(occupancy, "/", "01"), 2000)
        self.assertEqual(value(occupancy, "batch"), 30)
        self.assertEqual(value(occupancy, "batch/mon_groups/job7"), 40)
        self.assertEqual(value(occupancy, "mon_groups/" + number, pod="pod-1", container="app"), 50)
        self.assertEqual(value(memory, "/", kind="total"), 5000)
        self.assertEqual(value(memory, "/", kind="local"), 4000)
        self.assertEqual(value(memory, "mon_groups/" + number, kind="total"), 2**40 + 1)
        self.assertEqual(len(f[occupancy].samples), 5)
        self.assertEqual(len(f[memory].samples), 3)
        self.assertEqual(value("perfmon_resctrl_cause", "/", "01", kind="total",
                               cause="Unavailable"), 1)
        self.assertEqual(value("perfmon_resctrl_cause", "/", "01", kind="local", cause="Error"), 1)
        self.assertEqual(openmetrics.value(f, "perfmon_resctrl_omitted"), 0)

    def test_a_machine_without_it(self):
        """It is not mounted: the families are there, without samples."""
        with self.serve("--resctrl") as s:
            f = self.read(s.address())
            s.end()
        self.assertEqual(len(f["perfmon_resctrl_occupancy_bytes"].samples), 0)


if __name__ == "__main__":
    tap.main()
