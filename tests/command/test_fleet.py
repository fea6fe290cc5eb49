#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many exporters of eight kinds of processors, and one that is real, scraped by one real Prometheus
with the rules of examples/fleet.

    PFM, PFM_SCRIPTED         the command, and the command on a scripted kernel
    PERFMON_LONG              1,000 exporters for two minutes instead of 20 for some seconds
    PERFMON_FLEET             another number of exporters

Each exporter's text is what pfm serve prints on a recorded machine; the test sets the rates at
which the counts grow.
"""
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import openmetrics  # noqa: E402
import tap  # noqa: E402
import test_answers  # noqa: E402
import test_serve  # noqa: E402
from waiting import wait_until  # noqa: E402

RULES = os.path.join(test_serve.SOURCE, "examples/fleet/rules.yml")
LONG = bool(os.environ.get("PERFMON_LONG"))
EXPORTERS = int(os.environ.get("PERFMON_FLEET", "1000" if LONG else "20"))
INTERVAL = 5 if EXPORTERS > 100 else 1
KINDS = [
    "GenuineIntel-6-8F-8", "GenuineIntel-6-6A-6", "GenuineIntel-6-55-4", "GenuineIntel-6-3F-2",
    "GenuineIntel-6-AD-1", "AuthenticAMD-26-2-1", "AuthenticAMD-25-11-1", "AuthenticAMD-23-31-0"
]
HYBRID = "GenuineIntel-6-97-2"


def cycles_rate(n):
    """Clocks per second of exporter @n."""
    return 1000000000 * (1 + n % 7)


def instructions_rate(n):
    """Their instructions: by kind, and not the same on each machine of a kind."""
    return cycles_rate(n) * (5 + n % len(KINDS)) // 10 * (1 + n // len(KINDS) % 3)


class Kind:
    """The text of a machine, cut where its counts are."""

    def __init__(self, text):
        self.model = re.search(r'perfmon_cpu_info\{.*model="(.*?)"\}', text)[1]
        self.pmus = re.findall(r'perfmon_cpu_info\{pmu="(.*?)"', text)
        self.n_bytes = len(text)
        self.n_series = sum(not line.startswith("#") for line in text.splitlines())
        self.parts = re.split(r"(?m)^(node_perf_(?:cpucycles|instructions)_total\{.*\} )\d+$", text)

    def render(self, n, seconds):
        parts = list(self.parts)
        for i in range(1, len(parts), 2):
            rate = cycles_rate(n) if "cpucycles" in parts[i] else instructions_rate(n)
            parts[i] += str(int(rate * seconds))
        return "".join(parts).encode()


def find_kinds(cpuids):
    place = test_answers.Place()
    kinds = []
    try:
        for cpuid in cpuids:
            env = {**place.env, "PERFMON_CPUID": cpuid}
            env.pop("PERFMON_EVENTS")
            with test_serve.Server("--listen", "unix:" + os.path.join(place.folder, "s"),
                                   program=("scripted", "serve"), env=env, cwd=place.folder) as s:
                try:
                    s.wait_for("listening on")
                except AssertionError:
                    if any("libmicrohttpd" in line for line in s.said):
                        raise unittest.SkipTest(
                            "no libmicrohttpd (Debian packages libmicrohttpd-dev, libmicrohttpd12)"
                        ) from None
                    raise
                kinds.append(
                    Kind(
                        test_serve.ask(os.path.join(place.folder, "s"), test_serve.OPENMETRICS)[2]))
    finally:
        place.close()
    return kinds


class Exporters(http.server.ThreadingHTTPServer):
    """All exporters, as paths of one server."""
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, kinds):
        self.kinds, self.begin, self.n_bytes, self.n_scrapes = kinds, time.monotonic() - 1, 0, 0
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        n = int(self.path.rpartition("/")[2])
        kind = self.server.kinds[-1 if n == EXPORTERS else n % len(KINDS)]
        text = kind.render(n, time.monotonic() - self.server.begin)
        self.server.n_bytes += len(text)
        self.server.n_scrapes += 1
        self.send_response(200)
        self.send_header("Content-Type",
                         "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Prometheus:
    """A real one, in a folder of its own."""

    def __init__(self, folder, targets):
        self.port = test_serve.find_free_port()
        shutil.copy(RULES, folder)
        with open(os.path.join(folder, "rules.yml"), "r+", encoding="utf-8") as f:
            text = f.read().replace("[1m]", "[%ds]" % (4 * INTERVAL))
            f.seek(0)
            f.write(text)
            f.truncate()
        with open(os.path.join(folder, "p.yml"), "w", encoding="ascii") as f:
            json.dump(
                {
                    "global": {"scrape_interval": "%ds" % INTERVAL, "evaluation_interval": "1s"
                               }, "rule_files": ["rules.yml"],
                    "scrape_configs": [{"job_name": "perfmon", "static_configs": targets}]
                }, f)
        self.p = subprocess.Popen([
            "prometheus", "--config.file=p.yml", "--storage.tsdb.path=d",
            "--web.listen-address=127.0.0.1:%d" % self.port
        ], cwd=folder, stderr=subprocess.DEVNULL)

    def query(self, text):
        """Rows of an answer: (labels, value or list of values)."""
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/query?query=%s" %
                                        (self.port, urllib.parse.quote(text))) as answer:
                rows = json.load(answer)["data"]["result"]
        except OSError:
            return []
        return [(r["metric"], r.get("values") or float(r["value"][1])) for r in rows]

    def cost(self):
        """(processor seconds, MiB resident)"""
        with open("/proc/%d/stat" % self.p.pid, encoding="ascii") as f:
            words = f.read().rpartition(") ")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), int(
            words[21]) * os.sysconf("SC_PAGESIZE") / 2**20

    def wait(self, seconds, text, wanted):
        def query_wanted():
            rows = self.query(text)
            return rows if wanted(rows) else None

        return wait_until(query_wanted, text, seconds)

    def close(self):
        self.p.terminate()
        self.p.wait(30)


@unittest.skipUnless(shutil.which("prometheus"),
                     "prometheus is missing (Debian package prometheus)")
class Fleet(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_rules_add_up_machines_of_a_model(self):
        """Instructions per cycle of each model are those of all its machines together; a hybrid
        machine does not stop the rules."""
        *kinds, hybrid = find_kinds([*KINDS, HYBRID])
        self.assertEqual(len({k.model for k in kinds}), len(KINDS))
        self.assertEqual(hybrid.pmus, ["adl_goldencove", "adl_gracemont"])
        exporters = Exporters([*kinds, hybrid])
        self.addCleanup(exporters.server_close)
        self.addCleanup(exporters.shutdown)
        p = Prometheus(self.folder, [{
            "targets": ["127.0.0.1:%d" % exporters.server_port],
            "labels": {"__metrics_path__": "/metrics/%d" % n, "instance": "machine-%d" % n}
        } for n in range(EXPORTERS + 1)])
        self.addCleanup(p.close)
        p.wait(20 + 6 * INTERVAL, "count(up == 1)",
               lambda rows: rows and rows[0][1] == EXPORTERS + 1)
        if LONG:
            time.sleep(120)    # the load of two minutes is what is measured
        rows = p.wait(20 + 6 * INTERVAL, "model:perfmon_ipc:ratio",
                      lambda rows: len(rows) == len(KINDS) and self.differs(kinds, rows) < 2e-3)
        for labels, value in sorted(rows, key=lambda row: row[0]["model"]):
            print("# %s: %.3f" % (labels["model"], value))
        self.assertEqual(
            {
                labels["model"]: n
                for labels, n in p.wait(10, "fleet:perfmon_machines:count", lambda rows: rows)
            }, {k.model: len(range(i, EXPORTERS, len(KINDS))) for i, k in enumerate(kinds)})
        if EXPORTERS <= 100:
            self.assertEqual(
                p.wait(10, "sum(scrape_samples_scraped)", lambda rows: rows)[0][1],
                sum(kinds[n % len(KINDS)].n_series for n in range(EXPORTERS)) + hybrid.n_series)
        spent, memory = p.cost()
        head = p.query("prometheus_tsdb_head_series") or [({}, 0)]
        print(
            "# %d exporters, each %d seconds: %d scrapes of %d bytes and %d series; Prometheus:"
            " %.1f s of processor time in %.0f s, %.0f MiB%s"
            % (
                EXPORTERS,
                INTERVAL,
                exporters.n_scrapes,
                exporters.n_bytes / max(1, exporters.n_scrapes),
                kinds[0].n_series,
                spent,
                time.monotonic() - exporters.begin,
                memory,
                ", %d series" % head[0][1] if head[0][1] else "",
            )
        )

    @staticmethod
    def differs(kinds, rows):
        """The largest relative difference from the rates that the exporters have."""
        worst = 0
        for labels, value in rows:
            (kind, ) = [i for i, k in enumerate(kinds) if k.model == labels["model"]]
            machines = range(kind, EXPORTERS, len(KINDS))
            expected = sum(map(instructions_rate, machines)) / sum(map(cycles_rate, machines))
            worst = max(worst, abs(value / expected - 1))
        return worst

    def test_counts_are_ours(self):
        """For each reading that Prometheus has, page faults and task-clock are those that the line
        protocol gives, to the unit."""
        lines = os.path.join(self.folder, "lines")
        with test_serve.Server("--listen", "127.0.0.1:0", "--lines", lines, "-I", "500", "-e",
                               "page-faults,task-clock") as s:
            port = s.address()[1]
            p = Prometheus(self.folder, [{"targets": ["127.0.0.1:%d" % port]}])
            self.addCleanup(p.close)
            ours = {}
            with socket.socket(socket.AF_UNIX) as c:
                c.settimeout(20)
                s.wait_for("listening on " + lines)
                c.connect(lines)
                reader = c.makefile("r")
                p.wait(20, "up == 1", lambda rows: rows)
                until = time.monotonic() + 5    # Prometheus scrapes by the clock
                while time.monotonic() < until:
                    c.sendall(b"read\n")
                    fields = [reader.readline().rstrip("\n").split("\t")]
                    while fields[-1][0] != "end":
                        fields.append(reader.readline().rstrip("\n").split("\t"))
                    ours[int(fields[-1][1])] = {f[1]: f[4] for f in fields[:-1]}
                    subprocess.run(
                        [
                            sys.executable,
                            "-c",
                            (
                                "import mmap\nm = mmap.mmap(-1, 4096 *"
                                " 2000)\nm.madvise(mmap.MADV_NOHUGEPAGE)\nfor i in range(2000): m[i"
                                " * 4096] = 1"
                            ),
                        ],
                        check=True,
                    )
                    time.sleep(0.2)    # until the next reading of the loop
            theirs = {
                name: dict(p.query(name + "[1m]")[0][1])
                for name in ("perfmon_readings_total", "node_perf_page_faults_total",
                             "perfmon_event_seconds_total")
            }
        same = 0
        for at, reading in theirs["perfmon_readings_total"].items():
            mine = ours.get(int(float(reading)))
            if mine:
                self.assertEqual(theirs["node_perf_page_faults_total"][at], mine["page-faults"])
                self.assertAlmostEqual(float(theirs["perfmon_event_seconds_total"][at]),
                                       float(mine["task-clock"]) / 1e9, delta=1e-9)
                same += 1
        readings = sorted(ours)
        grown = int(ours[readings[-1]]["page-faults"]) - int(ours[readings[0]]["page-faults"])
        print("# %d readings are the same in both; %d page faults" % (same, grown))
        self.assertGreaterEqual(same, 2)
        self.assertGreaterEqual(grown, 2000 * (len(readings) - 2))


@unittest.skipUnless(shutil.which("promtool"), "promtool is missing (Debian package prometheus)")
class Configuration(unittest.TestCase):
    def test_promtool_accepts_the_rules(self):
        test_serve.run("promtool", "check", "rules", RULES)
        test_serve.run("promtool", "check", "config",
                       os.path.join(os.path.dirname(RULES), "prometheus.yml"))


if __name__ == "__main__":
    tap.main()
