#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve --otlp: what a receiver gets (decoded by protoc), and receivers that are away, slow,
refuse, or answer nonsense."""
import gzip
import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
import test_answers  # noqa: E402
from http_server import HttpServer  # noqa: E402
from test_serve import OPENMETRICS, PFM, Server, ask, run  # noqa: E402
from waiting import wait_until  # noqa: E402

PROTO = os.path.join(os.environ["PERFMON_TESTS"], "proto")


class Receiver(HttpServer):
    """An HTTP server on loopback. @answers: what it does with each request, the last one from then
    on: a status, (status, headers), "garbage", "close" or a number of seconds to wait as a
    float."""

    def __init__(self, *answers, port=0):
        self.answers, self.got, self.times = list(answers), [], []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((self.path, dict(self.headers), body))
                receiver.times.append(time.monotonic())
                answer = receiver.answers.pop(0) if len(
                    receiver.answers) > 1 else receiver.answers[0]
                if answer == "garbage":
                    self.wfile.write(b"\x00\xffthis is no HTTP\r\n\r\n")
                elif isinstance(answer, float):
                    receiver.stop.wait(answer)
                elif answer != "close":
                    status, headers = answer if isinstance(answer, tuple) else (answer, {})
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "3")
                    self.end_headers()
                    self.wfile.write(b"abc")
                self.close_connection = True

            def log_message(self, *_):
                pass

        super().__init__(Handler, port)

    def wait_for(self, n):
        wait_until(lambda: len(self.got) >= n, "%d requests come" % n)


def decompress(body):
    """A body without its compression, which a build without zlib lacks."""
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def decode(body, headers):
    """The text of protoc --decode as nested lists of (name, text or list)."""
    if headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    text = subprocess.run(["protoc", "--decode=otlp.Request", "-I", PROTO, "otlp_metrics.proto"],
                          input=body, capture_output=True, check=True, timeout=60).stdout.decode()
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            stack.append([])
            stack[-2].append((line[:-2], stack[-1]))
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            stack[-1].append((name, value.strip('"')))
    return stack[0]


def values(node, *path):
    for name in path:
        node = [
            v for part in ([node] if node and isinstance(node[0], tuple) else node) for n, v in part
            if n == name
        ]
    return node


def value_of(any_value):
    """A text, a number, or a list with one of them."""
    (kind, value), = any_value
    if kind == "array_value":
        return [value_of(v) for name, v in value if name == "values"]
    return int(value) if kind == "int_value" else value


def attributes(node):
    return {dict(pair)["key"]: value_of(dict(pair)["value"]) for name, pair in node
            if name == "attributes"}


def metrics_of(body, headers):
    """Name -> (unit, kind, points as (attributes, value, node))."""
    found = {}
    for metric in values(decode(body, headers), "resource_metrics", "scope_metrics", "metrics"):
        m = dict(metric)
        kind = "sum" if "sum" in m else "gauge"
        points = [(attributes(p), float(dict(p).get("as_int",
                                                    dict(p).get("as_double", "nan"))), dict(p))
                  for n, p in m[kind] if n == "data_points"]
        found[m["name"]] = (m.get("unit", ""), kind, points, m[kind])
    return found


def setUpModule():
    p = subprocess.run([PFM, "serve", "--otlp", "http://127.0.0.1:1", "--max-series", "1"],
                       capture_output=True, text=True, check=False)
    if "libcurl" in p.stderr:
        raise unittest.SkipTest("no libcurl (Debian packages libcurl4-openssl-dev, libcurl4)")


class Requests(unittest.TestCase):
    def test_requests_have_the_counts_of_the_script(self):
        """The counts of the script (tests/answers/files/counts) on four CPUs, as protoc reads
        them."""
        if not shutil.which("protoc"):
            self.skipTest("protoc is missing (Debian package protobuf-compiler)")
        place = test_answers.Place()
        self.addCleanup(place.close)
        before = time.time_ns()
        with Receiver(200) as r:
            with Server("--otlp", r.url, "-I", "20", "-e", "page-faults,task-clock,branch-misses",
                        program=("scripted", "serve"), env=place.env, cwd=place.folder):
                r.wait_for(2)
        path, headers, body = r.got[0]
        self.assertEqual(path, "/v1/metrics")
        self.assertEqual(headers["Content-Type"], "application/x-protobuf")
        resource = attributes(values(decode(body, headers), "resource_metrics", "resource")[0])
        self.assertEqual(resource["service.name"], "perfmon")
        self.assertEqual(resource["host.name"], socket.gethostname())
        found = metrics_of(body, headers)
        unit, kind, ((labels, value, node), ), data = found["node_perf_page_faults"]
        self.assertEqual((unit, kind, value, labels),
                         ("", "sum", 4 * 1234567 + 6, {"event": "page-faults", "pmu": "software"}))
        # cumulative, monotonic
        self.assertEqual([v for n, v in data if n != "data_points"], ["2", "true"])
        self.assertLessEqual(before, int(node["start_time_unix_nano"]))
        self.assertLess(int(node["start_time_unix_nano"]), int(node["time_unix_nano"]))
        self.assertLess(int(node["time_unix_nano"]), time.time_ns())
        unit, _, ((_, value, _), ), _ = found["perfmon_event_seconds"]
        self.assertEqual(unit, "s")
        self.assertAlmostEqual(value, (4 * 1073741824 + 6) / 1e9)
        ranks = {labels["event"]: value
                 for labels, value, _ in found["perfmon_event_quality_rank"][2]}
        self.assertEqual(ranks, {"page-faults": 0, "task-clock": 0, "branch-misses": 3})
        self.assertNotIn("node_perf_branch_misses", found)    # no value, no sample
        second = metrics_of(r.got[1][2], r.got[1][1])
        self.assertEqual(second["perfmon_readings"][2][0][1],
                         found["perfmon_readings"][2][0][1] + 1)

    def test_variables_of_opentelemetry_are_read(self):
        """The variables of OpenTelemetry's exporters: where, headers, compression, the interval.
        One for metrics counts more than one for all signals."""
        with Receiver(200) as r:
            def first(*words, **env):
                n = len(r.got)
                with Server("--otlp", *words, "-e", "page-faults", env={
                        **os.environ, "OTEL_METRIC_EXPORT_INTERVAL": "20", **env}) as s:
                    r.wait_for(n + 1)
                    said = s.end() + "".join(s.said)
                self.assertNotIn("s3cret", said)
                return r.got[n]

            path, headers, body = first(
                "env", OTEL_EXPORTER_OTLP_ENDPOINT=r.url + "/base/",
                OTEL_EXPORTER_OTLP_HEADERS="api-key=s3cret%201, x-team = a,")
            self.assertEqual((path, headers["api-key"]), ("/base/v1/metrics", "s3cret 1"))
            self.assertEqual(body[:2], b"\x1f\x8b")
            path, headers, body = first(
                "env", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
                OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=r.url + "/whole",
                OTEL_EXPORTER_OTLP_HEADERS="api-key=wrong",
                OTEL_EXPORTER_OTLP_METRICS_HEADERS="api-key=right",
                OTEL_EXPORTER_OTLP_COMPRESSION="none")
            self.assertEqual((path, headers["api-key"]), ("/whole", "right"))
            self.assertNotIn("Content-Encoding", headers)
            self.assertIn(b"perfmon_readings", body)
            self.assertEqual(first(r.url, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")[0],
                             "/v1/metrics")
            n = len(r.times)
            with Server("--otlp", r.url, "-e", "page-faults",
                        env={**os.environ, "OTEL_METRIC_EXPORT_INTERVAL": "200"}):
                r.wait_for(n + 2)
            self.assertGreater(r.times[n + 1] - r.times[n], 0.1)
        for name, value in (("ENDPOINT", "localhost"), ("PROTOCOL", "grpc"), ("TIMEOUT", "soon"),
                            ("COMPRESSION", "zstd"), ("HEADERS", "x"), ("HEADERS", "a=b%0d%0ac")):
            done = subprocess.run([PFM, "serve", "--otlp", "env", "-e", "page-faults"],
                                  capture_output=True, text=True, check=False, timeout=20,
                                  env={**os.environ, "OTEL_EXPORTER_OTLP_" + name: value})
            self.assertEqual(done.returncode, 1, name)
            self.assertIn("OTEL_EXPORTER_OTLP_%s: expected" % name, done.stderr)

    def test_hosts_and_services_stay_apart(self):
        """Three hosts, and two services of one host, stay apart; a service that starts again is
        the same. What the environment says counts more."""
        if not shutil.which("protoc"):
            self.skipTest("protoc is missing (Debian package protobuf-compiler)")

        def resource(*words, **env):
            with Receiver(200) as r:
                with Server("--otlp", "http://127.0.0.1:%d" % r.server.server_address[1], "-I",
                            "20", *words, env={**os.environ, **env}):
                    r.wait_for(1)
            _, headers, body = r.got[0]
            return attributes(values(decode(body, headers), "resource_metrics", "resource")[0])

        with Receiver(200) as r:
            found = []
            for words in (["page-faults"], ["page-faults"], ["minor-faults"]):
                n = len(r.got)
                with Server("--otlp", r.url, "-I", "20", "-e", *words):
                    r.wait_for(n + 1)
                _, headers, body = r.got[n]
                found.append(
                    attributes(values(decode(body, headers), "resource_metrics", "resource")[0]))
        ids = [f["service.instance.id"] for f in found]
        self.assertEqual((ids[0] == ids[1], ids[1] == ids[2]), (True, False), ids)
        self.assertRegex(ids[0], r"^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                         r"[0-9a-f]{12}$")
        machine = os.uname()
        self.assertEqual((found[0]["host.name"], found[0]["os.type"], found[0]["os.version"]),
                         (socket.gethostname(), "linux", machine.release))
        self.assertEqual(found[0]["host.arch"], {"x86_64": "amd64", "aarch64": "arm64"}.get(
            machine.machine, machine.machine))
        cpu = dict(re.findall(r"^(.+?)\t*: (.+)$", read("/proc/cpuinfo").split("\n\n")[0], re.M))
        self.assertEqual(found[0].get("host.cpu.vendor.id"),
                         cpu.get("vendor_id") or cpu.get("CPU implementer"))
        self.assertEqual(found[0].get("host.cpu.model.id"), cpu.get("model") or cpu.get("CPU part"))
        self.assertEqual(found[0].get("host.cpu.model.name"), cpu.get("model name"))
        if os.path.exists("/etc/machine-id") and read("/etc/machine-id").strip():
            self.assertEqual(found[0]["host.id"], read("/etc/machine-id").strip())
        given = resource("-e", "page-faults", OTEL_SERVICE_NAME="counts", NODE_NAME="node7",
                         OTEL_RESOURCE_ATTRIBUTES="host.name=other,team=a%20b%2Cc,bad,=x")
        self.assertEqual((given["service.name"], given["k8s.node.name"], given["host.name"],
                          given["team"]), ("counts", "node7", "other", "a b,c"))

    def test_a_path_of_its_own(self):
        for url, path in (("/", "/v1/metrics"), ("/otlp", "/otlp"), ("/a/b?c=d", "/a/b?c=d")):
            with Receiver(200) as r:
                with Server("--otlp", r.url + url, "-I", "20", "-e", "page-faults"):
                    r.wait_for(1)
            self.assertEqual(r.got[0][0], path)

    def test_no_secret_in_messages(self):
        """Neither the password of the URL nor a token in its query, whether requests succeed or
        not."""
        for answer in (200, 400):
            with Receiver(answer) as r:
                url = r.url.replace("//", "//agent:s3cret@") + "/v1/metrics?token=t0ken"
                with Server("--otlp", url, "-I", "20", "-e", "page-faults") as s:
                    r.wait_for(2)
                    said = s.end() + "".join(s.said)
            self.assertIn("Authorization", r.got[0][1])
            self.assertEqual(r.got[0][0], "/v1/metrics?token=t0ken")
            self.assertIn("sending to %s/v1/metrics?***" % r.url.replace("//", "//***@"), said)
            self.assertNotRegex(said, "s3cret|t0ken|agent")

    def test_wrong_addresses_are_refused(self):
        for url in ("", "127.0.0.1:4318", "file:///etc/passwd", "ftp://x/y"):
            run(PFM, "serve", "--otlp", url, "-e", "page-faults", status=2)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Clock(unittest.TestCase):
    @staticmethod
    def write(place, name, text):
        with open(os.path.join(place.folder, name + ".new"), "w", encoding="ascii") as f:
            f.write(text + "\n")
        os.rename(os.path.join(place.folder, name + ".new"), os.path.join(place.folder, name))

    def find(self, read_text, name):
        """A text with a value: an interval in which the load had no turn has none."""
        def read_value():
            found = read_text()
            return found if openmetrics.value(found, name) is not None else None

        return wait_until(read_value)

    def count(self, place, stop):
        """Each of the four CPUs counts one in a millisecond."""
        begin = time.monotonic()
        while not stop.wait(0.01):
            ms = int((time.monotonic() - begin) * 1000)
            self.write(place, "counts", "1 2 %d %d000000 %d000000 0" % (ms, ms, ms))

    def test_set_back_and_forward(self):
        """Requests, answers and files go on as before, no counter decreases, and no sum ends before
        its start."""
        if not shutil.which("protoc"):
            self.skipTest("protoc is missing (Debian package protobuf-compiler)")
        place = test_answers.Place()
        self.addCleanup(place.close)
        answers, files = [], []
        with Receiver(200) as r:
            self.write(place, "counts", "1 2 0 0 0 0")
            load = threading.Thread(target=self.count, args=(place, r.stop))
            load.start()
            with Server("--otlp", r.url, "--listen", "127.0.0.1:0", "--textfile",
                        place.folder + "/counts.prom", "-I", "100", "-e", "page-faults",
                        program=("scripted", "serve"), env=place.env, cwd=place.folder) as s:
                address = s.address()
                for seconds in (0, -3600, -3600, 86400, -10 ** 9, 0):
                    self.write(place, "clock", str(seconds))
                    r.wait_for(len(r.got) + 3)
                    answers.append(
                        self.find(lambda: openmetrics.parse(ask(address, OPENMETRICS)[2]),
                                  "node_perf_page_faults"))
                    files.append(
                        self.find(
                            lambda: openmetrics.parse(read(place.folder + "/counts.prom"),
                                                      openmetrics=False),
                            "perfmon_page_faults_total"))
                r.stop.set()
                load.join()
        for found, name, suffix in ((answers, "node_perf_page_faults", ""),
                                    (files, "perfmon_page_faults_total", "_total")):
            faults = [openmetrics.value(f, name) for f in found]
            self.assertTrue(all(b > a for a, b in zip(faults, faults[1:])), faults)
            readings = [openmetrics.value(f, "perfmon_readings" + suffix) for f in found]
            self.assertTrue(all(b > a for a, b in zip(readings, readings[1:])), readings)
            intervals = [openmetrics.value(f, "perfmon_reading_interval_seconds") for f in found]
            self.assertTrue(all(0.04 < i < 5 for i in intervals), intervals)
        self.assertLess(max(b - a for a, b in zip(r.times, r.times[1:])), 5)
        points = [metrics_of(body, headers)["perfmon_readings"][2][0] for _, headers, body in r.got]
        times = [int(node["time_unix_nano"]) for _, _, node in points]
        self.assertLess(min(b - a for a, b in zip(times, times[1:])), -3000 * 10 ** 9)
        self.assertEqual([value for _, value, _ in points], sorted(value for _, value, _ in points))
        for _, _, node in points:
            self.assertLess(int(node["start_time_unix_nano"]), int(node["time_unix_nano"]))
        starts = [int(node["start_time_unix_nano"]) for _, _, node in points]
        # Later starts are those of clocks that were set back, each kept as long as it can be.
        self.assertEqual(len(set(starts)), 3)


class Faults(unittest.TestCase):
    """Beside each a scrape shows the counters."""

    def figures(self, address):
        f = openmetrics.parse(ask(address, OPENMETRICS)[2])
        return {name: openmetrics.value(f, "perfmon_otlp_" + name) for name in
                ("requests", "retries", "requests_dropped", "requests_rejected", "queue")}

    def until(self, address, wanted):
        def read_wanted():
            f = self.figures(address)
            return f if wanted(f) else None

        return wait_until(read_wanted)

    def serve(self, r, *more, interval="100"):
        return Server("--otlp", r.url, "--listen", "127.0.0.1:0", "-I", interval, "-e",
                      "page-faults", *more)

    def test_busy_then_well(self):
        """429 and 503 with and without a time: the same request again, then the queue. The queue
        holds 32 intervals and drops the oldest, so these are long enough for the three seconds of
        the two waits on a slow machine."""
        with Receiver((503, {"Retry-After": "1"}), 429, 200) as r, self.serve(r,
                                                                              interval="500") as s:
            address = s.address()
            f = self.until(address, lambda f: f["requests"] >= 5)
            self.assertEqual((f["retries"], f["requests_rejected"]), (2, 0))
            self.assertGreaterEqual(r.times[1] - r.times[0], 1)
            # the second wait is 2 s, less a tenth
            self.assertGreaterEqual(r.times[2] - r.times[1], 1.7)
            self.assertEqual(r.got[0][2], r.got[1][2])
            self.assertEqual(r.got[0][2], r.got[2][2])
            err = s.end()
            self.assertEqual(err.count("status 503") + "".join(s.said).count("status 503"), 1)
            self.assertIn("accepts requests again", err + "".join(s.said))

    def test_refused_for_good(self):
        with Receiver(400, 404, 200) as r, self.serve(r) as s:
            f = self.until(s.address(), lambda f: f["requests"] >= 2)
            self.assertEqual((f["retries"], f["requests_rejected"]), (0, 2))
            bodies = [body for _, _, body in r.got]
            self.assertEqual(len(set(bodies)), len(bodies))

    def test_a_page_is_no_receiver(self):
        """The server of a user interface answers every path with a page and status 200."""
        with Receiver((200, {"Content-Type": "text/html"}), 200) as r, self.serve(r) as s:
            f = self.until(s.address(), lambda f: f["requests"] >= 1)
            self.assertEqual((f["retries"], f["requests_rejected"]), (0, 1))
            self.assertIn("a user interface answers", s.end() + "".join(s.said))

    def test_garbage_and_closed_connections(self):
        with Receiver("garbage", "close", 200) as r, self.serve(r) as s:
            f = self.until(s.address(), lambda f: f["requests"] >= 2)
            self.assertEqual((f["retries"], f["requests_rejected"]), (2, 0))

    def test_absent_and_slow(self):
        """The receiver is absent or does not answer: the queue is bounded, and scrapes go on."""
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            r = Receiver.__new__(Receiver)
            r.url = "http://127.0.0.1:%d" % nobody.getsockname()[1]
            with Server("--otlp", r.url, "--listen", "127.0.0.1:0", "-I", "10", "-e",
                        "page-faults") as s:
                f = self.until(s.address(), lambda f: f["requests_dropped"] >= 10)
                self.assertLessEqual(f["queue"], 32)
                self.assertEqual(f["requests"], 0)
                self.assertRegex("".join(s.said) + s.end(), r"\d+ requests were not sent")
        with Receiver(20.0) as r, self.serve(r) as s:
            address = s.address()
            r.wait_for(1)
            begin = time.monotonic()
            self.figures(address)
            self.assertLess(time.monotonic() - begin, 2)
            begin = time.monotonic()
            s.end()
            self.assertLess(time.monotonic() - begin, 2)


if __name__ == "__main__":
    tap.main()
