#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve for some time under all that may disturb it: two scrapers of each service, a flood of
requests, pauses, a budget, rotation, and bursts of control groups. Over every window of five
seconds the rate of a clock that is known is right within 1 %, or a count of the window is not
marked exact. Control groups that lived for a moment have their counts, and leave no series.

    PFM              the command
    PERFMON_SECONDS  how long, 100
"""
import fcntl
import http.client
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
from test_serve import Server  # noqa: E402
from waiting import wait_until  # noqa: E402

SECONDS = float(os.environ.get("PERFMON_SECONDS", "100"))
# Seconds; with turns, those of the rules in examples/fleet.
WINDOW, RULES_WINDOW, TOLERANCE = 5, 60, 0.01
CPUS = os.sysconf("SC_NPROCESSORS_ONLN")
ROOT = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
PAGES, GROUPS_A_MINUTE = 200, 500
ACCEPT = {"Accept": "application/openmetrics-text;version=1.0.0"}


class Scraper(threading.Thread):
    """Reads task-clock over one connection, every second, as Prometheus does."""

    def __init__(self, address, until, has_turns):
        super().__init__(daemon=True)
        self.address, self.until, self.has_turns = address, until, has_turns
        self.readings, self.deferred, self.failed = [], 0, []

    def scrape(self, connection):
        sent = time.monotonic()
        connection.request("GET", "/metrics", headers=ACCEPT)
        answer = connection.getresponse()
        text = answer.read().decode()
        received = time.monotonic()
        if answer.status == 429:
            self.deferred += 1
            return
        f = openmetrics.parse(text)
        age = openmetrics.value(f, "perfmon_reading_age_seconds")
        value = openmetrics.value(f, "perfmon_event_seconds", event="task-clock") \
            if f["perfmon_event_seconds"].samples else None
        rank = openmetrics.value(f, "perfmon_event_quality_rank", event="task-clock")
        # The time of the reading lies between these two. With turns, the age is that of the
        # event whose turn was over first.
        self.readings.append((sent - age, received - (0 if self.has_turns else age), value, rank,
                              openmetrics.value(f, "process_resident_memory_bytes")))

    def run(self):
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        while time.monotonic() < self.until:
            begin = time.monotonic()
            try:
                self.scrape(connection)
            except (OSError, http.client.HTTPException) as e:
                self.failed.append(repr(e))
                connection.close()
            time.sleep(max(0, begin + 1 - time.monotonic()))    # a scrape interval of a second
        connection.close()

    def windows(self):
        """(least rate, most rate, is exact) of each window; the clock's rate is CPUS."""
        for i, first in enumerate(self.readings):
            for k in range(i + 1, len(self.readings)):
                last = self.readings[k]
                if last[0] - first[0] < (RULES_WINDOW if self.has_turns else WINDOW):
                    continue
                inner = self.readings[i + 1:k + 1]
                is_exact = all(r[3] == 0 for r in inner) and first[2] is not None
                if is_exact:
                    grown = (last[2] - first[2]) / CPUS
                    yield (grown / (last[1] - first[0]), grown / max(1e-9, last[0] - first[1]),
                           True)
                else:
                    yield 0, 0, False
                break


class Flood(threading.Thread):
    """Requests without a pause, for a third of the time."""

    def __init__(self, addresses, until):
        super().__init__(daemon=True)
        self.addresses, self.until, self.n = addresses, until, 0

    def run(self):
        request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        while time.monotonic() < self.until:
            if time.monotonic() % 15 > 5:
                time.sleep(0.1)    # the flood is over for a while
                continue
            for address in self.addresses:
                try:
                    with socket.create_connection(address, timeout=5) as s:
                        s.sendall(request)
                        while s.recv(65536):
                            pass
                        self.n += 1
                except OSError:
                    pass


class Groups(threading.Thread):
    """Control groups of containers that live for some seconds, each with one process that touches
    pages."""

    def __init__(self, parent, until):
        super().__init__(daemon=True)
        self.parent, self.until = parent, until
        self.born, self.waiting, self.ended = 0, [], {}
        self.found = {}    # counts, by number, of the watcher

    def give_birth(self):
        number = "%064x" % (0xbeef << 64 | self.born)
        path = os.path.join(self.parent, "docker-%s.scope" % number)
        os.mkdir(path)
        pid = os.fork()
        if pid == 0:
            with open(os.path.join(path, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write("0")
            os.kill(os.getpid(), signal.SIGSTOP)    # until the service has found the group
            with open("/dev/zero", "rb") as f:
                memory = bytearray(4096 * PAGES)
                f.readinto(memory)
            os._exit(0)
        os.waitpid(pid, os.WUNTRACED)
        self.waiting.append((pid, number, path))
        self.born += 1

    def end_found(self):
        """Ends groups that the service has found."""
        waiting, self.waiting = self.waiting, []
        for pid, number, path in waiting:
            if number not in self.found:
                self.waiting.append((pid, number, path))
                continue
            os.kill(pid, signal.SIGCONT)
            os.waitpid(pid, 0)
            self.remove(path)
            self.ended[number] = time.monotonic()

    @staticmethod
    def remove(path):
        """The kernel may need a moment after the end of the process."""
        def is_removed():
            try:
                os.rmdir(path)
                return True
            except OSError:
                return False

        wait_until(is_removed)

    def run(self):
        burst = GROUPS_A_MINUTE // 12
        next_burst = time.monotonic()
        while time.monotonic() < self.until:
            if time.monotonic() >= next_burst:
                next_burst += 5
                for _ in range(burst):
                    self.give_birth()
            self.end_found()
            time.sleep(0.1)    # the pace of the load
        while self.waiting:
            self.end_found()
            time.sleep(0.1)    # until the watcher has read again


class Watcher(threading.Thread):
    """Reads the counts of groups every half second."""

    def __init__(self, address, groups, until):
        super().__init__(daemon=True)
        self.address, self.groups, self.until = address, groups, until
        self.counts, self.after, self.stale, self.series = {}, set(), set(), []
        self.late = 0    # readings after the last group

    def read(self):
        ended = dict(self.groups.ended)
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        begin = time.monotonic()
        connection.request("GET", "/metrics", headers=ACCEPT)
        f = openmetrics.parse(connection.getresponse().read().decode())
        connection.close()
        for labels, value in f["node_perf_page_faults"].samples.items():
            number = dict(labels).get("container_id")
            if number:
                self.counts[number] = value
                if number in ended:
                    # One reading has it after its end; a later one must not.
                    (self.stale if number in self.after else self.after).add(number)
        self.series.append((begin, openmetrics.value(f, "perfmon_series"),
                            openmetrics.value(f, "process_resident_memory_bytes"),
                            openmetrics.value(f, "process_open_fds"),
                            openmetrics.value(f, "perfmon_cgroups_omitted")))

    def run(self):
        while time.monotonic() < self.until or self.groups.is_alive() or self.late < 4:
            self.late += not self.groups.is_alive()
            self.read()
            time.sleep(0.5)    # a scrape interval


class Clocks(unittest.TestCase):
    def check_scrapers(self, name, scrapers):
        n = n_exact = n_tight = 0
        for s in scrapers:
            self.assertEqual(s.failed, [], name)
            self.assertGreater(len(s.readings), 3, name)
            for least, most, is_exact in s.windows():
                n += 1
                n_exact += is_exact
                n_tight += is_exact and most - least < TOLERANCE
                if is_exact:
                    self.assertLessEqual(least, 1 + TOLERANCE, name)
                    self.assertGreaterEqual(most, 1 - TOLERANCE, name)
        memory = [r[4] for s in scrapers for r in s.readings]
        print("# %s: %d windows, %d exact, %d of them known within 1 %%; %d scrapes deferred; "
              "%.1f to %.1f MiB" % (name, n, n_exact, n_tight, sum(s.deferred for s in scrapers),
                                    min(memory) / 2**20, max(memory) / 2**20))
        self.assertLess(max(memory) - memory[0], 4 << 20, name)
        return n_exact, n

    def test_rates_are_right_or_marked(self):
        with tempfile.TemporaryDirectory() as folder:
            lock = os.path.join(folder, "lock")
            servers = {
                "plain": ["--give-way=" + lock],
                "budget": ["--budget", "cpu=2%"],
                "rotation": ["--rotate=500"],
            }
            running, scrapers, until = [], {}, time.monotonic() + SECONDS
            try:
                for name, words in servers.items():
                    s = Server("--listen", "127.0.0.1:0", "-e",
                               "task-clock,page-faults,context-switches", *words)
                    running.append(s)
                    address = s.address()
                    scrapers[name] = [Scraper(address, until, name == "rotation")
                                      for _ in range(2)]
                threads = [x for pair in scrapers.values() for x in pair]
                flood = Flood([scrapers[n][0].address for n in ("plain", "budget")], until)
                for t in (*threads, flood):
                    t.start()
                n_pauses = 0
                with open(lock, "rb") as held:
                    while time.monotonic() < until - 5:
                        time.sleep(min(17, SECONDS / 3))    # between two pauses
                        fcntl.flock(held, fcntl.LOCK_EX)
                        time.sleep(2)    # the length of a pause
                        fcntl.flock(held, fcntl.LOCK_UN)
                        n_pauses += 1
                for t in (*threads, flood):
                    t.join()
                for s in running:
                    self.assertIsNone(s.p.poll(), "a service has ended")
                    s.end()
            finally:
                for s in running:
                    s.__exit__()
        results = {name: self.check_scrapers(name, pair) for name, pair in scrapers.items()}
        print("# %d pauses, %d requests of the flood" % (n_pauses, flood.n))
        n_exact, n = results["plain"]
        self.assertGreater(n_exact, 0)
        self.assertLess(n_exact, n, "no pause was marked")
        self.assertGreater(results["rotation"][0], 0)

    def test_groups_come_and_go(self):
        parent = os.path.join(ROOT, "perfmon-test-%d" % os.getpid())
        try:
            os.mkdir(parent)
        except OSError as e:
            self.skipTest("no control groups can be made here: " + str(e))
        until = time.monotonic() + SECONDS
        try:
            with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "--containers",
                        "--max-series", "5000") as s:
                address = s.address()
                groups = Groups(parent, until)
                watcher = Watcher(address, groups, until)
                groups.found = watcher.counts
                watcher.read()
                groups.start()
                watcher.start()
                groups.join()
                watcher.join()
                self.assertIsNone(s.p.poll(), "the service has ended")
                s.end()
        finally:
            os.rmdir(parent)
        seen = [watcher.counts[n] for n in groups.ended if n in watcher.counts]
        print("# %d groups, %d of them seen, %d with all of their pages, %d after their end" %
              (groups.born, len(seen), sum(n >= PAGES for n in seen), len(watcher.after)))
        first, last = watcher.series[0], watcher.series[-1]
        print("# series %d to %d, at most %d; memory %.1f to %.1f MiB; descriptors %d to %d" %
              (first[1], last[1], max(x[1] for x in watcher.series),
               first[2] / 2**20, last[2] / 2**20, first[3], last[3]))
        self.assertEqual(watcher.stale, set())
        self.assertEqual(len(seen), groups.born)
        self.assertEqual(sum(n >= PAGES for n in seen), groups.born)
        self.assertEqual(last[1], first[1])
        self.assertEqual(max(x[4] for x in watcher.series), 0)
        # Memory of the second half is that of the first.
        half = len(watcher.series) // 2
        self.assertLess(max(x[2] for x in watcher.series[half:]) -
                        max(x[2] for x in watcher.series[:half]), 1 << 20)
        self.assertLessEqual(last[3], first[3] + 1)


if __name__ == "__main__":
    tap.main()
