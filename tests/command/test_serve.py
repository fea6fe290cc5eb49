#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts and metrics as OpenMetrics: pfm stat --format and pfm serve.

    PFM, PFM_SCRIPTED  the command, and the command on a scripted kernel
"""
import concurrent.futures
import gzip
import fcntl
import http.client
import json
import mmap
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
import openmetrics  # noqa: E402
import tap  # noqa: E402
import test_answers  # noqa: E402
from waiting import read_state, wait_until  # noqa: E402

PFM = os.path.abspath(os.environ.get("PFM", "pfm"))
SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUALITIES = [
    "exact", "scaled", "partial", "not counted", "not supported", "pretended", "simulated"
]


def run(*words, status=0, **more):
    done = subprocess.run(words, capture_output=True, timeout=60, check=False, **more)
    if done.returncode != status:
        raise AssertionError("%s ended with %d: %s" %
                             (words, done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def split(text):
    """The expositions of a text."""
    return [t + "# EOF\n" for t in text.split("# EOF\n")[:-1]]


def quality(families, family="perfmon_event_quality", **labels):
    """The state that is true, or that of the rank."""
    if family not in families:
        return QUALITIES[int(openmetrics.value(families, family + "_rank", **labels))]
    states = [
        s for s in QUALITIES if openmetrics.value(families, family, **labels, **{family: s}) == 1
    ]
    assert len(states) == 1, (labels, states)
    return states[0]


class Parser(unittest.TestCase):
    """The reader of these tests refuses what OpenMetrics excludes."""

    def test_the_parser_refuses_wrong_pages(self):
        good = (
            '# TYPE a_seconds counter\n# UNIT a_seconds seconds\n# HELP a_seconds'
            ' x\na_seconds_total{b="c"} 1\n# EOF\n'
        )
        openmetrics.parse(good)
        for old, new in (("# EOF\n", ""), ("# EOF", "# EOF\n"), (" 1", " NaN"), ("_total", ""),
                         ('"c"', '"c\\x"'), ('"c"', '"c"c"'), (" 1\n",
                                                               ' 1\na_seconds_total{b="c"} 1\n'),
                         ("UNIT a_seconds seconds", "UNIT a_seconds ms"), ('b="c"', 'b="c",b="d"'),
                         ("} 1", "}  1"), ("} 1", "} -1"), ("# HELP a_seconds x\n", "")):
            with self.assertRaises(ValueError, msg=(old, new)):
                openmetrics.parse(good.replace(old, new))


class Scripted(unittest.TestCase):
    """A kernel whose counts are known."""

    @classmethod
    def setUpClass(cls):
        cls.place = test_answers.Place()

    @classmethod
    def tearDownClass(cls):
        cls.place.close()

    def stat(self, *words, form="openmetrics", status=0):
        return run("scripted", "stat", "--format", form, *words, env=self.place.env,
                   cwd=self.place.folder, status=status)

    def test_units_and_names(self):
        """tests/answers/files/counts has the counts of each of four CPUs, the second and later ones
        one more each."""
        f = openmetrics.parse(
            self.stat("-a", "--timeout", "1", "-e", "page-faults,task-clock,blinks,toy::Trips"))
        self.assertEqual(openmetrics.value(f, "node_perf_page_faults"), 4 * 1234567 + 6)
        self.assertEqual(f["node_perf_page_faults"].type, "counter")
        self.assertEqual(openmetrics.value(f, "perfmon_event_seconds", event="task-clock"),
                         (4 * 1073741824 + 6) / 1e9)
        self.assertEqual(f["perfmon_event_seconds"].unit, "seconds")
        # The help says how the time of a machine is counted.
        self.assertIn("idle or not", f["perfmon_event_seconds"].help)
        self.assertEqual(openmetrics.value(f, "perfmon_event_joules", event="blinks"),
                         0.5 * (4 * 31 + 6))

    def test_scaled_counts_have_their_mark(self):
        f = openmetrics.parse(self.stat("-e", "toy::Falls,toy::Trips,page-faults", "--", "true"))
        names = {dict(labels)["event"] for labels in f["perfmon_event_running_ratio"].samples}
        qualities = {e: quality(f, event=e) for e in names}
        self.assertEqual(qualities["page-faults"], "exact")
        self.assertIn("scaled", qualities.values())
        for event, q in qualities.items():
            share = openmetrics.value(f, "perfmon_event_running_ratio", event=event)
            self.assertEqual(q == "scaled", 0 < share < 1, (event, q, share))
            cause = [
                dict(own).get("cause") for own in f["perfmon_event_cause"].samples
                if dict(own)["event"] == event
            ]
            self.assertEqual(cause, [] if q == "exact" else ["multiplexed"], event)

    def test_missing_counts_have_no_sample(self):
        """branch-misses are on no counter; the kernel refuses emulation-faults; coreduo is another
        processor."""
        f = openmetrics.parse(
            self.stat("-e", "page-faults,branch-misses,emulation-faults,coreduo::Instr_Ret", "--",
                      "true"))
        self.assertEqual(quality(f, event="branch-misses"), "not counted")
        self.assertIsNone(openmetrics.value(f, "node_perf_branch_misses"))
        for event in ("emulation-faults", "Instr_Ret"):
            q = quality(f, event=event)
            self.assertIn(q, ("not counted", "not supported"))
            self.assertIsNone(openmetrics.value(f, "perfmon_events", event=event))

    def test_counts_have_labels_of_their_places(self):
        for option, names in (("--per-cpu", {"cpu"}), ("--per-core", {"socket", "die", "core"}),
                              ("--per-die", {"socket", "die"}), ("--per-socket", {"socket"}),
                              ("--per-node", {"node"})):
            f = openmetrics.parse(
                self.stat("-a", option, "--timeout", "1", "-e", "context-switches"))
            for labels in f["node_perf_context_switches"].samples:
                self.assertEqual(set(dict(labels)), names | {"event", "pmu"})
            self.assertEqual(sum(f["node_perf_context_switches"].samples.values()), 4 * 12 + 6,
                             option)

    def test_one_series_for_one_event(self):
        """However it is spelled, and if metrics need it, too."""
        f = openmetrics.parse(
            self.stat("-a", "--timeout", "1", "-e",
                      "faults,page-faults,software::page-faults,page-faults", "-M",
                      "software::ratios"))
        self.assertEqual(list(f["node_perf_page_faults"].samples.values()), [4 * 1234567 + 6])

    def test_metrics_have_the_values_of_the_script(self):
        f = openmetrics.parse(self.stat("-a", "--timeout", "1", "-M",
                                        "software::faults_per_second"))
        self.assertAlmostEqual(openmetrics.value(f, "perfmon_metric", metric="faults_per_second"),
                               (4 * 1234567 + 6) / ((4 * 1073741824 + 6) / 1e9), delta=1e-3)
        self.assertEqual(quality(f, "perfmon_metric_quality", metric="faults_per_second"), "exact")

    def test_the_format_of_prometheus_has_its_types(self):
        f = openmetrics.parse(
            self.stat("-a", "--timeout", "1", "-e", "page-faults,task-clock", form="prometheus"),
            openmetrics=False)
        self.assertEqual(f["node_perf_page_faults_total"].type, "counter")
        self.assertEqual(f["perfmon_event_quality"].type, "gauge")

    def test_wrong_options_are_refused(self):
        for words in (["--format",
                       "xml"], ["--format", "openmetrics",
                                "--json"], ["--format", "openmetrics", "-x",
                                            ","], ["--format", "openmetrics", "-r",
                                                   "2"], ["--format", "openmetrics", "--regions"],
                      ["--format", "openmetrics", "--", "true", "::", "false"]):
            run(PFM, "stat", "-e", "page-faults", *words,
                *([] if "::" in words else ["--", "true"]), status=2)


class Large(unittest.TestCase):
    """The usual events of each of 1,400 CPUs of a scripted kernel."""

    def test_a_hundred_thousand_series(self):
        place = test_answers.Place()
        self.addCleanup(place.close)
        machine = os.path.join(place.folder, "machine")
        with open(machine, encoding="utf-8") as f:
            text = re.sub(r"(?m)^(/sys/devices/system/cpu/(?:online|possible|present)\t).*",
                          r"\g<1>0-1399", f.read())
        with open(machine, "w", encoding="utf-8") as f:
            f.write(text)
        with Server("--listen", "127.0.0.1:0", "--per-cpu", "--full-quality", "--max-series",
                    "200000", "-I", "600000", program=("scripted", "serve"), env=place.env,
                    cwd=place.folder) as s:
            address = s.address()

            def cpu_seconds():
                with open("/proc/%d/schedstat" % s.p.pid, encoding="ascii") as f:
                    return int(f.read().split()[0]) / 1e9

            ask(address)    # takes the reading
            begin = cpu_seconds()
            request = OPENMETRICS.replace(b"Accept:", b"Accept-Encoding: gzip\r\nAccept:")
            body = ask(address, request, decode=False)[2]
            took = cpu_seconds() - begin
        n = int(re.search(rb"(?m)^perfmon_series (\d+)$", gzip.decompress(body))[1])
        print("# %d series: %d bytes, %.0f ms" % (n, len(body), took * 1e3))
        self.assertGreater(n, 100000)
        self.assertLess(len(body), 2e6 * n / 1e5)
        with open(PFM, "rb") as f:
            sanitized = re.search(rb"__[atm]san_init|__ubsan", f.read())
        if not sanitized:
            self.assertLess(took, 0.1 * n / 1e5)


    def test_a_thousand_cpus(self):
        """12 events of each of 1,024 CPUs: the sums are right, and a reading takes little processor
        time and memory."""
        place = test_answers.Place()
        self.addCleanup(place.close)
        machine = os.path.join(place.folder, "machine")
        with open(machine, encoding="utf-8") as f:
            text = re.sub(r"(?m)^(/sys/devices/system/cpu/(?:online|possible|present)\t).*",
                          r"\g<1>0-1023", f.read())
        with open(machine, "w", encoding="utf-8") as f:
            f.write(text)
        events = (
            "page-faults,minor-faults,major-faults,context-switches,cpu-migrations,task-clock,cycles,instructions,branches,"
            "cache-references,toy::Ticks,toy::Blinks"
        )
        with Server("--listen", "127.0.0.1:0", "-I", "10", "-e", events,
                    program=("scripted", "serve"), env=place.env, cwd=place.folder) as s:
            scraper = Scraper(s.address())
            first, last = scraper.read(), scraper.read()
        # tests/answers/files/counts; each CPU counts one more than the one before it.
        self.assertEqual(openmetrics.value(first, "node_perf_page_faults"),
                         1024 * 1234567 + sum(range(1024)))
        took = openmetrics.value(last, "process_cpu_seconds") - openmetrics.value(
            first, "process_cpu_seconds")
        memory = openmetrics.value(last, "process_resident_memory_bytes") / (1 << 20)
        print(
            "# 12 events of 1,024 CPUs: %.1f ms a reading, the scripted kernel included; %.1f MiB"
            % (took * 1e3, memory))
        self.assertEqual(openmetrics.value(last, "perfmon_readings"), 2)
        with open(PFM, "rb") as f:
            if not re.search(rb"__[atm]san_init|__ubsan", f.read()):
                self.assertLess(took, 0.1)
                self.assertLess(memory, 64)


class Live(unittest.TestCase):
    """Software events of this machine, which every kernel counts."""

    def test_intervals_are_expositions(self):
        """Counters go on from interval to interval; page faults of a known load are among them."""
        # The load goes on once the text of the next interval is written.
        load = (
            "import mmap, sys\nfor n in range(3):\n m = mmap.mmap(-1, 4096 * 500);"
            " m.madvise(mmap.MADV_NOHUGEPAGE)\n for i in range(500): m[i * 4096] = 1\n"
            " while open(sys.argv[1]).read().count('# EOF') <= n: pass"
        )
        with tempfile.NamedTemporaryFile("r") as out:
            run(PFM, "stat", "--format", "openmetrics", "-I", "100", "-o", out.name, "-e",
                "page-faults,task-clock,duration_time", "--", sys.executable, "-c", load, out.name)
            text = out.read()
        found = [openmetrics.parse(t) for t in split(text)]
        self.assertGreaterEqual(len(found), 3)
        for family in ("node_perf_page_faults", "perfmon_event_seconds"):
            for labels in found[-1][family].samples:
                series = [f[family].samples[labels] for f in found if labels in f[family].samples]
                self.assertEqual(series, sorted(series))
        # The last interval may end before the command runs again: then nothing was counted in it.
        counted = [
            list(f["node_perf_page_faults"].samples.values())[0] for f in found
            if f["node_perf_page_faults"].samples
        ]
        self.assertGreaterEqual(counted[-1], 1500)

    def test_any_bytes_in_labels(self):
        """A thread may have any name."""
        name = b'a"\\\xff\n\xef\xbf\xbd\xc3\xa4'[:15]
        program = (
            "import ctypes\nctypes.CDLL(None).prctl(15, %r, 0, 0, 0)\nprint(flush=True)\nwhile"
            " True: pass" % name
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            text = run(PFM, "stat", "--format", "openmetrics", "--per-thread", "-e", "page-faults",
                       "-p", str(p.pid), "--timeout", "100", status=0)
            p.kill()
        (labels, ) = openmetrics.parse(text)["perfmon_event_running_ratio"].samples or [()]
        self.assertIn('a"\\\ufffdff', dict(labels).get("thread", ""))


class Readers(unittest.TestCase):
    """Programs that others wrote to read these formats."""

    WORDS = ("-a", "--per-cpu", "--timeout", "50", "-e", "page-faults,task-clock,cycles", "-M",
             "software::ratios")

    def test_prometheus_client_reads_the_page(self):
        try:
            from prometheus_client.openmetrics import parser
        except ImportError:
            self.skipTest("prometheus_client is missing (Debian package python3-prometheus-client)")
        text = run(PFM, "stat", "--format", "openmetrics", *self.WORDS)
        theirs = {f.name: f for f in parser.text_string_to_metric_families(text)}
        ours = openmetrics.parse(text)
        self.assertEqual(set(theirs), set(ours))
        for name, f in theirs.items():
            self.assertEqual((f.type, f.unit), (ours[name].type, ours[name].unit))
            self.assertEqual({tuple(sorted(s.labels.items())): s.value for s in f.samples},
                             ours[name].samples)

    def test_promtool_accepts_the_page(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is missing (Debian package prometheus)")
        text = run(PFM, "stat", "--format", "prometheus", *self.WORDS)
        self.assertEqual(run("promtool", "check", "metrics", input=text.encode()), "")


class Contract(unittest.TestCase):
    """Metrics that every processor has."""

    def test_each_has_a_family(self):
        with open(os.path.join(SOURCE, "lib/events/contract.txt"), encoding="utf-8") as f:
            contract = dict(re.findall(r"^\[(\w+)\] (.+)$", f.read(), re.M))
        with open(os.path.join(SOURCE, "tools/series/names.c"), encoding="utf-8") as f:
            table = re.search(r"contract_names\[\] = \{(.*?)\};", f.read(), re.S)[1]
        ours = dict(re.findall(r'\{ "(\w+)", "([^"]+)", "perfmon_\w+" \}', table))
        self.assertEqual(ours, contract)
        # Each is explained, and no other.
        with open(os.path.join(SOURCE, "docs/guide/values.md"), encoding="utf-8") as f:
            explained = re.findall(r"`(perfmon_\w+)`", f.read().split("## The service itself")[0])
        families = set(re.findall(r'"(perfmon_\w+)" \}', table))
        self.assertEqual(set(explained) - {"perfmon_metric_quality_rank"}, families)


class Server:
    """pfm serve as a child, until the end of the with statement."""

    def __init__(self, *words, program=(PFM, "serve"), **more):
        self.p = subprocess.Popen([*program, *words], stderr=subprocess.PIPE,
                                  stdout=subprocess.PIPE, **more)
        self.said = []       # the lines of standard error that were read
        self.skipped = []    # those of them that no wait_for() has returned

    def __enter__(self):
        return self

    def wait_for(self, text):
        """The next line of standard error that has @text, or one before it that an earlier call has
        skipped: the order of messages may change. The service ends if the line does not come."""
        for line in self.skipped:
            if text in line:
                self.skipped.remove(line)
                return line
        ending = threading.Timer(120, self.p.kill)
        ending.start()
        try:
            for line in self.p.stderr:
                self.said.append(line.decode())
                if text in self.said[-1]:
                    return self.said[-1]
                self.skipped.append(self.said[-1])
        finally:
            ending.cancel()
        raise AssertionError("no '%s' in %s" % (text, self.said))

    def address(self):
        """Host and port. Skips the test where HTTP is not to be had."""
        try:
            text = self.wait_for("http://")
        except AssertionError as e:
            self.__exit__()
            if "libmicrohttpd" in str(e):
                raise unittest.SkipTest(
                    "no libmicrohttpd (Debian packages libmicrohttpd-dev, libmicrohttpd12)"
                ) from None
            raise
        host, port = re.search(r"//(.*):(\d+)/metrics", text).groups()
        return host.strip("[]"), int(port)

    def end(self, sig=signal.SIGTERM):
        """End the service and return its remaining messages; the exit status must be 0."""
        self.p.send_signal(sig)
        _, err = self.p.communicate(timeout=20)
        if self.p.returncode != 0:
            raise AssertionError("status %d: %s" % (self.p.returncode, err.decode()))
        return err.decode()

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
            self.p.communicate()
        self.p.stdout.close()
        self.p.stderr.close()


PLAIN = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
OPENMETRICS = PLAIN.replace(
    b"Connection", b"Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\nConnection")


def ask(address, request=PLAIN, decode=True):
    """(status, headers, body) of an answer; @address is (host, port) or a path; the body as text if
    @decode."""
    with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as s:
        s.settimeout(120)    # a budget may hold clients back
        s.connect(address)
        s.sendall(request)
        data = b""
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    return int(lines[0].split()[1]), dict(line.lower().split(": ", 1)
                                          for line in lines[1:]), body.decode() if decode else body


class Scraper:
    """A client that reads a service again and again."""

    def __init__(self, address, request=OPENMETRICS):
        self.address, self.request, self.readings = address, request, None

    def read(self):
        """A text whose reading was taken for this call: the service counts its readings, and an
        answer with the number of the last one is of before."""
        while True:
            self.begin = time.monotonic()
            f = openmetrics.parse(ask(self.address, self.request)[2],
                                  openmetrics=self.request == OPENMETRICS)
            self.end = time.monotonic()
            readings = openmetrics.value(f, "perfmon_readings" if self.request == OPENMETRICS else
                                         "perfmon_readings_total")
            if readings != self.readings:
                self.readings = readings
                return f


class Http(unittest.TestCase):
    """Answers to clients, good and bad."""

    @classmethod
    def setUpClass(cls):
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            ask(s.address())

    def test_the_client_chooses_the_format(self):
        with Server("--listen", "127.0.0.1:0", "-I", "10", "-M", "software::ratios") as s:
            address = s.address()
            for request, kind in ((OPENMETRICS,
                                   "application/openmetrics-text; version=1.0.0; charset=utf-8"),
                                  (PLAIN, "text/plain; version=0.0.4; charset=utf-8")):
                status, headers, text = ask(address, request)
                self.assertEqual((status, headers["content-type"]), (200, kind))
                f = openmetrics.parse(text, openmetrics=request == OPENMETRICS)
                self.assertEqual(sum(len(family.samples) for family in f.values()),
                                 openmetrics.value(f, "perfmon_series"))

    def test_counters_of_a_known_load(self):
        """No fewer page faults than the load has, and the processor time of all CPUs."""
        with Server("--listen", "127.0.0.1:0", "-I", "10", "-e", "page-faults,task-clock") as s:
            scraper = Scraper(s.address())
            before, least, most = scraper.read(), -scraper.end, -scraper.begin
            load = mmap.mmap(-1, 4096 * 2000)
            load.madvise(mmap.MADV_NOHUGEPAGE)
            for i in range(2000):
                load[i * 4096] = 1
            after = scraper.read()
            faults, clock = (openmetrics.value(after, name) - openmetrics.value(before, name)
                             for name in ("node_perf_page_faults", "perfmon_event_seconds"))
            self.assertGreaterEqual(faults, 2000)
            # Each clock was read between the beginning and the end of its request.
            least, most = least + scraper.begin, most + scraper.end
            self.assertTrue(0.999 * least <= clock / os.cpu_count() <= 1.001 * most,
                            (clock, least, most))

    def test_bad_requests_have_their_status(self):
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()
            for request, status in ((b"GET / HTTP/1.1",
                                     404), (b"GET /metrics/../etc/passwd HTTP/1.1",
                                            404), (b"POST /metrics HTTP/1.1",
                                                   405), (b"DELETE /metrics HTTP/1.1", 405),
                                    (b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 30000,
                                     431), (b"HEAD /metrics HTTP/1.1\r\nConnection: close", 200)):
                found, headers, body = ask(address, request + b"\r\nHost: localhost\r\n\r\n")
                self.assertEqual(found, status, request[:40])
                self.assertEqual(headers.get("allow"), "get, head" if status == 405 else None)
                if request.startswith(b"HEAD"):
                    self.assertEqual(body, "")
            f = openmetrics.parse(ask(address, OPENMETRICS)[2])
            self.assertGreaterEqual(openmetrics.value(f, "perfmon_http_refusals"), 4)

    def test_any_bytes_leave_the_service_running(self):
        """Bytes in the place of requests: the service goes on."""
        dice = random.Random(9747)
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()
            for _ in range(300):
                request = bytearray(OPENMETRICS)
                for _ in range(dice.randrange(1, 12)):
                    at = dice.randrange(len(request))
                    request[at:at + dice.randrange(3)] = dice.randbytes(dice.randrange(4))
                with socket.create_connection(address) as c:
                    c.settimeout(0.01)
                    c.sendall(bytes(request))
                    try:
                        c.recv(64)
                    except (TimeoutError, ConnectionResetError):
                        pass
            self.assertEqual(ask(address)[0], 200)
            s.end()

    def test_pages_are_compressed_on_demand(self):
        """Pages are compressed for clients that accept gzip, with unchanged content."""
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "-I", "60000") as s:
            address = s.address()
            for accept, compressed in (("gzip", True), ("deflate, gzip;q=0.5, *;q=0", True),
                                       ("GZIP ; q=1", True), ("gzip;q=0", False), ("gzip; q=0.000",
                                                                                   False),
                                       ("identity", False), ("xgzip, gzipx", False), ("", False)):
                with socket.create_connection(address) as c:
                    c.sendall(
                        PLAIN.replace(b"Connection",
                                      b"Accept-Encoding: %s\r\nConnection" % accept.encode()))
                    data = b"".join(iter(lambda c=c: c.recv(65536), b""))
                head, body = data.split(b"\r\n\r\n", 1)
                self.assertEqual(b"content-encoding: gzip" in head.lower(), compressed, accept)
                text = gzip.decompress(body) if compressed else body
                self.assertEqual(
                    openmetrics.value(openmetrics.parse(text.decode(), openmetrics=False),
                                      "perfmon_readings_total"), 1)

    def test_100_clients_get_their_answers(self):
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults,task-clock", "--per-cpu") as s:
            address = s.address()
            with concurrent.futures.ThreadPoolExecutor(100) as pool:
                answers = list(pool.map(lambda _: ask(address, OPENMETRICS), range(300)))
            self.assertEqual({status for status, _, _ in answers}, {200})
            # Clients that come within 50 ms share a reading, so the counts of the first and of the
            # last one are of different readings, and there are fewer readings than answers.
            readings = {openmetrics.value(openmetrics.parse(text), "perfmon_readings")
                        for _, _, text in answers}
            self.assertLess(max(readings), 300)

    def test_connections_are_kept(self):
        """A client asks again over its connection. Others that have had their answers are closed
        when a new client needs the place, the oldest first."""
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()

            def request(c, method="GET"):
                c.request(method, "/metrics")
                answer = c.getresponse()
                answer.read()
                return answer.status, c.sock is not None

            clients = [http.client.HTTPConnection(*address, timeout=10) for _ in range(100)]
            self.assertEqual([request(clients[0], method) for method in ("GET", "HEAD", "GET")],
                             3 * [(200, True)])
            begin = time.monotonic()
            for c in clients:
                self.assertEqual(request(c), (200, True))
            self.assertLess(time.monotonic() - begin, 2)
            # The last ones are still there.
            sockets = [c.sock for c in clients[-50:]]
            for c in clients[-50:]:
                self.assertEqual(request(c), (200, True))
            self.assertEqual([c.sock for c in clients[-50:]], sockets)
            clients[-1].request("GET", "/nothing")
            answer = clients[-1].getresponse()
            self.assertEqual((answer.status, answer.headers["Connection"]), (404, "close"))
            for c in clients:
                c.close()
            s.end()

    def test_each_scrape_has_a_reading(self):
        """Of scrapers that do not know of each other, each gets counts that are new when it asks:
        the clock of all CPUs is the time of its request, and the text says how old it is."""
        with Server("--listen", "127.0.0.1:0", "-e", "task-clock") as s:
            scraper = Scraper(s.address())
            seen = []
            for _ in range(12):
                f = scraper.read()
                begin, end = scraper.begin, scraper.end
                age = openmetrics.value(f, "perfmon_reading_age_seconds")
                self.assertTrue(0 <= age <= 0.05 + end - begin, (age, end - begin))
                seen.append((begin - age, end - age,
                             openmetrics.value(f, "perfmon_event_seconds") / os.cpu_count()))
        for (b1, e1, v1), (b2, e2, v2) in zip(seen, seen[1:]):
            # A reading was begun between the two times; a clock that is read CPU after CPU may be
            # off by the length of the reading.
            self.assertTrue(b2 - e1 - 0.02 <= v2 - v1 <= e2 - b1 + 0.02,
                            (v2 - v1, b2 - e1, e2 - b1))

    def test_own_figures_are_never_old(self):
        """With one reading for all clients, the figures of the service move with each answer, and
        the age of the counts grows."""
        for request in (OPENMETRICS, OPENMETRICS.replace(b"Accept:",
                                                         b"Accept-Encoding: gzip\r\nAccept:")):
            with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "-I", "600000") as s:
                address = s.address()
                found = []
                for _ in range(3):
                    body = ask(address, request, decode=False)[2]
                    text = (gzip.decompress(body) if b"gzip" in request else body).decode()
                    found.append(openmetrics.parse(text))
                    self.assertEqual(sum(len(family.samples) for family in found[-1].values()),
                                     openmetrics.value(found[-1], "perfmon_series"))
                self.assertEqual([openmetrics.value(f, "perfmon_http_answers") for f in found],
                                 [1, 2, 3])
                self.assertEqual([openmetrics.value(f, "perfmon_readings") for f in found],
                                 [1, 1, 1])
                ages = [openmetrics.value(f, "perfmon_reading_age_seconds") for f in found]
                self.assertEqual(ages, sorted(set(ages)))
                self.assertEqual(len({openmetrics.value(f, "node_perf_page_faults")
                                      for f in found}), 1)

    def test_odd_requests_are_refused(self):
        """Names of other machines, paths that only look like ours, bodies, and weights of 0."""
        get = b"GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n"
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "--allow-host",
                    "node7,node7.example.org") as s:
            address = s.address()
            for status, path, headers in (
                (200, b"/metrics", b"Host: localhost:9747\r\n"),
                (200, b"/metrics", b"Host: 127.0.0.1:9747\r\n"),
                (200, b"/metrics", b"Host: [::1]:9747\r\n"),
                (200, b"/metrics", b"Host: Node7.example.org\r\n"),
                (200, b"/metrics?x=y", b"Host: node7\r\nContent-Length: 0\r\n"),
                (421, b"/metrics", b"Host: evil.example\r\n"),
                (421, b"/metrics", b"Host: node7.example.org.evil.example\r\n"),
                (421, b"/metrics", b"Host: node\r\n"),
                (421, b"/metrics", b"Host: \r\n"),
                (421, b"/metrics", b"Host: localhost:80@evil.example\r\n"),
                (400, b"/metrics", b""),
                (400, b"/metrics", b"Host: localhost\r\nHost: evil.example\r\n"),
                (404, b"/metrics%00x", b"Host: localhost\r\n"),
                (404, b"/%6detrics", b"Host: localhost\r\n"),
                (404, b"//metrics", b"Host: localhost\r\n"),
                (400, b"/metrics", b"Host: localhost\r\nContent-Length: 5\r\n"
                 b"Transfer-Encoding: chunked\r\n"),
                (400, b"/metrics", b"Host: localhost\r\nContent-Length: 5\r\n"),
            ):
                self.assertEqual(ask(address, get % (path, headers))[0], status, (path, headers))
            self.assertEqual(ask(address, b"GET /metrics HTTP/1.0\r\n\r\n")[0], 200)

    def test_formats_by_weight(self):
        om, text = b"application/openmetrics-text", b"text/plain"
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()
            for accept, wanted in (
                (om, om), (om + b";q=0", text), (om + b"; q=0.000, */*", text),
                (om + b";version=1.0.0;q=0.5," + text + b";q=0.4", om),
                (om + b";q=0.3," + text + b";version=0.0.4;q=0.9", text),
                (om + b";version=9.0.0," + text + b";q=0.1", text),
                (b"application/openmetrics-textual", text), (b"text/html", text), (b"*/*", text),
                (om + b";version=1.0.0;q=0.6," + om + b";version=0.0.1;q=0.5,"
                 + text + b";version=0.0.4;q=0.4,*/*;q=0.3", om)):
                headers = ask(address, PLAIN.replace(b"Connection",
                                                     b"Accept: " + accept + b"\r\nConnection"))[1]
                self.assertTrue(headers["content-type"].startswith(wanted.decode()), accept)

    def test_a_thousand_silent_clients(self):
        """They give way, the oldest first, and a scrape has its answer at once: half of them have
        sent half of a request, and new ones come between the scrapes."""
        need = 1100
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < need:
            self.skipTest("fewer than %d open files are allowed" % need)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, need), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()
            silent = []

            def add(n):
                for i in range(n):
                    silent.append(socket.create_connection(address))
                    if i % 2:
                        silent[-1].sendall(b"GET /metr")

            add(1000)
            longest, base = 0, 0
            for _ in range(20):
                begin = time.monotonic()
                status, _, text = ask(address, OPENMETRICS)
                longest = max(longest, time.monotonic() - begin)
                self.assertEqual(status, 200)
                while len(silent) > 1000:
                    silent.pop(0).close()
                add(20)
            print("# the longest of 20 scrapes beside 1,000 silent clients: %.0f ms"
                  % (longest * 1e3))
            self.assertLess(longest, 1)
            f = openmetrics.parse(text)
            # 1,020 came before the last scrape, and at most 64 and it have a place.
            self.assertGreater(openmetrics.value(f, "perfmon_http_connections_closed"), 900)
            self.assertLess(openmetrics.value(f, "process_open_fds"), 300)
            for c in silent:
                c.close()
            s.end()

    def test_slow_clients_hold_up_others_for_seconds_only(self):
        """Clients that send half a request, some of them byte by byte, hold up others for seconds
        only."""
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()
            slow = [socket.create_connection(address) for _ in range(64)]
            for c in slow:
                c.sendall(b"GET /metr")
            stop = threading.Event()

            def drip():
                while not stop.wait(0.5):
                    for c in slow[:32]:
                        try:
                            c.sendall(b"i")
                        except OSError:
                            pass

            thread = threading.Thread(target=drip)
            thread.start()
            begin = time.monotonic()
            try:
                self.assertEqual(ask(address)[0], 200)
            finally:
                stop.set()
                thread.join()
            self.assertLess(time.monotonic() - begin, 15)
            for c in slow:
                c.close()
            s.end()

    def test_the_service_sleeps_without_clients(self):
        """Without clients the service sleeps; one that stays silent is waited for as long as it has
        time."""
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            address = s.address()
            path = "/proc/%d/status" % s.p.pid

            def count_sleeps():
                with open(path, encoding="ascii") as f:
                    return int(re.search(r"(?m)^voluntary_ctxt_switches:\s+(\d+)", f.read())[1])

            for c in (None, socket.create_connection(address)):
                wait_until(lambda: read_state(s.p.pid) == "S")
                before = count_sleeps()
                time.sleep(2.5)    # the time without requests is what is measured
                self.assertLessEqual(count_sleeps() - before, 1)
            c.close()

    def test_nothing_else_listens(self):
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults") as s:
            host, port = s.address()
            ask((host, port))
            inodes = set()
            for fd in os.listdir("/proc/%d/fd" % s.p.pid):
                try:
                    link = os.readlink("/proc/%d/fd/%s" % (s.p.pid, fd))
                except FileNotFoundError:
                    continue    # the connection of the request is closed
                inodes |= set(re.findall(r"socket:\[(\d+)\]", link))
            listening = []
            for table in ("tcp", "tcp6", "udp", "udp6"):
                if not os.path.exists("/proc/net/" + table):
                    continue
                with open("/proc/net/" + table, encoding="ascii") as f:
                    for line in list(f)[1:]:
                        words = line.split()
                        if words[9] in inodes and words[3] == ("07" if table[0] == "u" else "0A"):
                            listening.append((table, words[1]))
            self.assertEqual(listening, [("tcp", "0100007F:%04X" % port)])
            self.assertNotIn("every machine", "".join(s.said) + s.end())

    def test_an_open_address_is_warned_of(self):
        with Server("--listen", "0.0.0.0:0", "-e", "page-faults") as s:
            self.assertIn("neither a password nor encryption",
                          s.wait_for("every machine that reaches 0.0.0.0:"))

    def test_a_socket_is_removed_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s")
            for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
                with Server("--listen", "unix:" + path, "-e", "page-faults", "--listen",
                            "127.0.0.1:0") as s:
                    address = s.address()
                    self.assertEqual(ask(path)[0], 200)
                    self.assertEqual(ask(address)[0], 200)
                    s.end(sig)
                self.assertEqual(os.listdir(folder), [])
            with Server("--listen", "unix:" + path, "-e", "page-faults") as s:
                s.wait_for("unix:")
                busy = subprocess.run(
                    [PFM, "serve", "--listen", "unix:" + path, "-e", "page-faults"],
                    capture_output=True, check=False, timeout=20)
                self.assertEqual((busy.returncode, b"File exists" in busy.stderr), (1, True),
                                 busy.stderr)
                self.assertEqual(ask(path)[0], 200)
                s.p.kill()
            # the socket of the killed process is there
            with Server("--listen", "unix:" + path, "-e", "page-faults") as s:
                s.wait_for("unix:")
                self.assertEqual(ask(path)[0], 200)
                s.end()
            with open(path, "w", encoding="ascii") as f:
                f.write("mine")
            run(PFM, "serve", "--listen", "unix:" + path, "-e", "page-faults", status=1)
            with open(path, encoding="ascii") as f:
                self.assertEqual(f.read(), "mine")

    def test_signals_without_a_meaning(self):
        """They do not end the service, and leave its socket and file in place."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s")
            with Server("--listen", "unix:" + path, "-e", "page-faults") as s:
                s.wait_for("unix:")
                for sig in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM,
                            signal.SIGPROF, signal.SIGPIPE, signal.SIGRTMIN, signal.SIGRTMAX):
                    s.p.send_signal(sig)
                    self.assertEqual(ask(path)[0], 200, sig)
                s.end()
            self.assertEqual(os.listdir(folder), [])

    def test_prometheus_takes_every_series(self):
        """A real Prometheus asks for OpenMetrics and takes every series."""
        if not shutil.which("prometheus"):
            self.skipTest("prometheus is missing (Debian package prometheus)")
        with tempfile.TemporaryDirectory() as folder, Server("--listen", "127.0.0.1:0", "-M",
                                                             "software::ratios") as s:
            port = find_free_port()
            with open(os.path.join(folder, "p.yml"), "w", encoding="ascii") as f:
                f.write(
                    "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: pfm\n "
                    " static_configs:\n  - targets: ['127.0.0.1:%d']\n"
                    % s.address()[1]
                )
            with subprocess.Popen([
                    "prometheus", "--config.file=p.yml", "--storage.tsdb.path=d",
                    "--web.listen-address=127.0.0.1:%d" % port
            ], cwd=folder, stderr=subprocess.DEVNULL) as p:
                try:
                    values = wait_until(lambda: self.query_both(port), "two scraped values")
                finally:
                    p.terminate()
            self.assertEqual(values[0], values[1])

    def query_both(self, port):
        values = self.query(port, "scrape_samples_scraped") + self.query(port, "perfmon_series")
        return values if len(values) == 2 else None

    @staticmethod
    def query(port, text):
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/query?query=%s" %
                                        (port, text)) as answer:
                return [r["value"][1] for r in json.load(answer)["data"]["result"]]
        except OSError:
            return []


def find_free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Lines(unittest.TestCase):
    """The line protocol: several readers of one set of counters."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "lines")

    def connect(self):
        c = socket.socket(socket.AF_UNIX)
        self.addCleanup(c.close)
        # With a time limit connect() would fail if the server has yet to accept others.
        c.connect(self.path)
        c.settimeout(20)
        return c, c.makefile("rb")

    def read(self, client, request=b"read\n"):
        """Lines of an answer, each as a list of fields, up to the one that ends it."""
        client[0].sendall(request)
        found = []
        while not found or found[-1][0] not in ("end", "error", "version"):
            line = client[1].readline()
            if not line:
                break
            found.append(line.decode().rstrip("\n").split("\t"))
        return found

    def test_ten_readers_of_one_group(self):
        """All see the values that a scrape of the same reading shows, and the kernel has one set of
        events."""
        with Server("--lines", self.path, "--listen", "unix:" + self.path + ".http", "-I", "600000",
                    "-e", "page-faults,cycles", "-M", "software::faults_per_second") as s:
            s.wait_for("listening on /")
            readers = [self.connect() for _ in range(10)]
            answers = [self.read(r) for r in readers]
            self.assertEqual(answers.count(answers[0]), 10)
            files = len(os.listdir("/proc/%d/fd" % s.p.pid))
            readers += [self.connect() for _ in range(10)]
            self.assertEqual([self.read(r) for r in readers].count(answers[0]), 20)
            self.assertEqual(len(os.listdir("/proc/%d/fd" % s.p.pid)), files + 10)
            (faults, ) = [f for f in answers[0] if f[:2] == ["count", "page-faults"]]
            self.assertEqual((faults[2], faults[3], faults[7], faults[8]),
                             ("software", "-", "exact", ""))
            (metric, ) = [f for f in answers[0] if f[0] == "metric"]
            self.assertEqual((metric[1], len(metric)), ("faults_per_second", 9))
            self.assertEqual(answers[0][-1][0], "end")
            self.assertEqual(answers[0][-1][3], "counting")
            try:
                f = openmetrics.parse(ask(self.path + ".http", OPENMETRICS)[2])
            except OSError:
                self.skipTest(
                    "no libmicrohttpd (Debian packages libmicrohttpd-dev, libmicrohttpd12)")
            self.assertEqual(openmetrics.value(f, "node_perf_page_faults"), float(faults[4]))
            self.assertEqual(openmetrics.value(f, "perfmon_readings"), 1)
            s.end()
        self.assertEqual(os.listdir(os.path.dirname(self.path)), [])

    def test_differences_have_the_faults_of_a_known_load(self):
        """A reader subtracts what it read before: the page faults of a known load are in it."""
        with Server("--lines", self.path, "-I", "10", "-e", "page-faults,context-switches") as s:
            s.wait_for("listening on")
            c = self.connect()
            (before, end) = self.read(c, b"read page-*\n")
            self.assertEqual((before[1], end[0]), ("page-faults", "end"))
            load = mmap.mmap(-1, 4096 * 2000)
            load.madvise(mmap.MADV_NOHUGEPAGE)
            for i in range(2000):
                load[i * 4096] = 1
            reading = end[1]
            while end[1] == reading:
                (after, end) = self.read(c, b"read page-*\r\n")
            self.assertGreaterEqual(int(after[4]) - int(before[4]), 2000)

    def test_bad_lines_are_answered(self):
        with Server("--lines", self.path, "-e", "page-faults") as s:
            s.wait_for("listening on")
            c = self.connect()
            self.assertEqual(self.read(c, b"version\n")[0][:2], ["version", "1"])
            for request in (b"\n", b"write 3\n", b"\xff\x00\n", b"READ\n"):
                self.assertEqual(self.read(c, request)[0][0], "error")
            self.assertEqual(self.read(c, b"read nobody\n")[0][0], "end")
            # Several requests at once, cut anywhere.
            # The answer to the first shows that the service has read the part of the second.
            c[0].sendall(b"version\nver")
            self.assertEqual(c[1].readline()[:7], b"version")
            c[0].sendall(b"sion\nversion\n")
            self.assertEqual([c[1].readline()[:7] for _ in range(2)], [b"version"] * 2)
            c[0].sendall(b"x" * 300)
            try:
                self.assertEqual(c[1].readline(), b"")
            except ConnectionResetError:    # it sent more than was read
                pass
            # More readers than there is room for: those that have been silent the longest give
            # way, and others have their answers.
            many = [self.connect() for _ in range(70)]
            self.assertEqual([self.read(m, b"version\n")[0][0] for m in many[6:]],
                             64 * ["version"])
            self.assertEqual([m[1].readline() for m in many[:6]],
                             6 * [b"error\ttoo many readers\n"])
            self.assertEqual(self.read(many[-1], b"version\n")[0][0], "version")
            for m in many:
                m[1].close()
                m[0].close()
            # One that takes nothing does not hold up others.
            lazy = self.connect()
            lazy[0].settimeout(0.05)
            try:
                for _ in range(20000):
                    lazy[0].sendall(b"read\n" * 10)
            except TimeoutError:
                pass
            self.assertEqual(self.read(self.connect(), b"version\n")[0][0], "version")
            s.end()


class Budget(unittest.TestCase):
    """--budget: kept under loads that would break it, measured from outside."""

    def cpu_seconds(self, s):
        with open("/proc/%d/schedstat" % s.p.pid, encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e9

    def storm(self, address, seconds):
        """Clients that ask as fast as they are answered; how many answers they got."""
        until = time.monotonic() + seconds

        def ask_on(_):
            n = 0
            while time.monotonic() < until:
                try:
                    with socket.create_connection(address,
                                                  timeout=max(0.5, until - time.monotonic())) as c:
                        c.sendall(PLAIN)
                        while c.recv(65536):
                            pass
                        n += 1
                except OSError:
                    pass
            return n

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return sum(pool.map(ask_on, range(8)))

    def test_the_budget_limits_processor_time(self):
        words = ("--listen", "127.0.0.1:0", "-I", "10", "--per-cpu")
        with Server(*words) as s:
            address = s.address()
            begin = self.cpu_seconds(s)
            self.storm(address, 1)
            free = self.cpu_seconds(s) - begin
        with Server(*words, "--budget", "cpu=0.3%") as s:
            address = s.address()
            ask(address)
            begin, t = self.cpu_seconds(s), time.monotonic()
            self.storm(address, 3)
            used, t = self.cpu_seconds(s) - begin, time.monotonic() - t
            # The bucket of ten seconds, the share, and the work that was in progress.
            most = 0.03 + 0.003 * t + 0.03
            self.assertLess(used, most)
            self.assertGreater(free * t, 1.5 * most, "this load keeps the budget anyway")
            f = self.ask_until_answered(address)
            print("# cpu: %.3f s of %.1f s; without a budget %.3f s of 1 s" % (used, t, free))
            self.assertGreaterEqual(openmetrics.value(f, "perfmon_budget_exceeded", resource="cpu"),
                                    1)
            self.assertGreaterEqual(openmetrics.value(f, "perfmon_budget_back_off"), 2)
            self.assertGreater(openmetrics.value(f, "perfmon_budget_waited_seconds"), 1)
            self.assertGreater(openmetrics.value(f, "perfmon_http_deferrals"), 1)
            self.assertLess(openmetrics.value(f, "perfmon_reading_age_seconds"), 0.3)
            self.assertEqual(openmetrics.value(f, "perfmon_budget_limit", resource="cpu"), 0.003)
            while openmetrics.value(f, "perfmon_budget_recoveries") < 1:
                time.sleep(2)    # processor time is earned by time; a request would spend it
                f = self.ask_until_answered(address)

    def ask_until_answered(self, address):
        """A text. A refusal for lack of processor time says when to come again."""
        while True:
            status, headers, text = ask(address, OPENMETRICS)
            if status == 200:
                return openmetrics.parse(text)
            self.assertEqual((status, text), (429,
                                              "the processor time of --budget is used up\n"))
            self.assertTrue(1 <= int(headers["retry-after"]) <= 10, headers)
            time.sleep(int(headers["retry-after"]))    # as a client that obeys the header

    def test_the_budget_limits_files(self):
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "--budget", "files=2000") as s:
            f = openmetrics.parse(ask(s.address(), OPENMETRICS)[2])
            self.assertEqual(openmetrics.value(f, "perfmon_budget_limit", resource="files"), 2000)
            self.assertEqual(openmetrics.value(f, "process_max_fds"),
                             min(2000,
                                 resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            self.assertLess(abs(openmetrics.value(f, "perfmon_budget_use", resource="files") -
                                openmetrics.value(f, "process_open_fds")), 3)
        p = subprocess.run([PFM, "serve", "-e", "page-faults,minor-faults", "--budget", "files=9"],
                           capture_output=True, text=True, check=False)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(
            p.stderr,
            r"up to \d+ files would be open, and --budget allows 9: .* or allow files=\d+")

    def test_too_many_interrupts_stop_counting(self):
        """Counting stops while /proc/interrupts shows too many of the PMU's, and goes on after
        them."""
        place = test_answers.Place()
        self.addCleanup(place.close)
        path = os.path.join(place.machine.root, "proc", "interrupts")
        os.makedirs(os.path.dirname(path), exist_ok=True)

        def write(n):
            with open(path + ".new", "w", encoding="ascii") as f:
                f.write(
                    "           CPU0       CPU1\n  0:  1  2  timer\nPMI:  %d  5   Performance"
                    " monitoring interrupts\n" % n
                )
            os.rename(path + ".new", path)

        write(1000)
        with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "-I", "10", "--budget",
                    "interrupts=200/s", program=("scripted", "serve"), env=place.env,
                    cwd=place.folder) as s:
            address, begin = s.address(), time.monotonic()

            def is_paused():
                f = openmetrics.parse(ask(address, OPENMETRICS)[2])
                return openmetrics.value(f, "perfmon_paused", reason="budget") == 1

            def interrupt_often():
                """1,000 interrupts each second, whenever the service looks."""
                write(1000 + int(1000 * (time.monotonic() - begin)))
                return is_paused()

            self.assertFalse(is_paused())
            wait_until(interrupt_often, "counting stops")
            wait_until(lambda: not is_paused(), "counting goes on")
            f = openmetrics.parse(ask(address, OPENMETRICS)[2])
        self.assertGreaterEqual(
            openmetrics.value(f, "perfmon_budget_exceeded", resource="interrupts"), 1)
        self.assertGreaterEqual(openmetrics.value(f, "perfmon_budget_recoveries"), 1)

    def test_counters_stay_free_for_others(self):
        """Two of the toy's four counters: its events make groups of at most two of them."""
        place = test_answers.Place()
        self.addCleanup(place.close)
        with Server("--listen", "127.0.0.1:0", "-e",
                    "toy::Ticks,toy::Turns:parts=front,toy::Stretches,toy::Trips", "--budget",
                    "counters-free=2", program=("scripted", "serve"), env=place.env,
                    cwd=place.folder) as s:
            f = openmetrics.parse(ask(s.address(), OPENMETRICS)[2])
            self.assertEqual(openmetrics.value(f, "perfmon_budget_limit", resource="counters-free"),
                             2)
            # Ticks may have the fixed counter; three others need two groups of two counters.
            self.assertEqual(openmetrics.value(f, "perfmon_rotation_cycle_seconds"), 2)

    def test_wrong_budgets_are_refused(self):
        for text in ("", "cpu", "cpu=", "cpu=1", "cpu=0%", "cpu=-1%", "files=1.5", "files=x",
                     "interrupts=5", "cpu=1%,", "none=3", "cpu=nan%"):
            run(PFM, "serve", "--budget", text, "-e", "page-faults", status=2)


class Textfile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "perfmon.prom")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def test_readers_see_whole_files(self):
        with Server("--textfile", self.path, "-I", "10", "-e", "page-faults,task-clock") as s:
            wait_until(self.read)
            readings = []
            while not readings or readings[-1] <= readings[0] + 50:
                f = openmetrics.parse(self.read(), openmetrics=False)
                self.assertEqual(sum(len(family.samples) for family in f.values()),
                                 openmetrics.value(f, "perfmon_series"))
                readings.append(openmetrics.value(f, "perfmon_readings_total"))
            self.assertEqual(readings, sorted(readings))
            self.assertEqual(s.end(), "")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_disk_removes_the_old_file(self):
        """If the file cannot be written, the old one is removed. Writing resumes when it fits."""
        room = 1 << 20

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        with Server("--textfile", self.path, "-I", "20", "-e", "page-faults",
                    preexec_fn=limit) as s:
            wait_until(self.read)
            resource.prlimit(s.p.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
            self.assertIn("File too large", s.wait_for("perfmon.prom"))
            wait_until(lambda: os.listdir(self.folder) == [])
            resource.prlimit(s.p.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
            s.wait_for("written again")
            wait_until(self.read)
            self.assertGreater(
                openmetrics.value(openmetrics.parse(self.read(), openmetrics=False),
                                  "perfmon_textfile_errors_total"), 0)
            self.assertEqual(s.end(), "")
        self.assertEqual(os.listdir(self.folder), [])

    def test_node_exporter_reads_the_file(self):
        if not shutil.which("prometheus-node-exporter"):
            self.skipTest("prometheus-node-exporter is missing (Debian package of that name)")
        port = find_free_port()
        with (
            Server("--textfile", self.path, "-I", "100", "-e", "page-faults"),
            subprocess.Popen(
                [
                    "prometheus-node-exporter",
                    "--collector.disable-defaults",
                    "--collector.textfile",
                    "--collector.textfile.directory=" + self.folder,
                    "--web.listen-address=127.0.0.1:%d" % port,
                ],
                stderr=subprocess.DEVNULL,
            ) as p,
        ):
            try:
                wait_until(self.read)
                wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
                text = ask(("127.0.0.1", port), b"GET /metrics HTTP/1.0\r\n\r\n")[2]
            finally:
                p.terminate()
        self.assertRegex(text, r"(?m)^perfmon_page_faults_total\{.*\} \d")
        self.assertRegex(text, r"(?m)^node_textfile_scrape_error 0$")
        # Its own process_ families are among its own; no family comes twice.
        types = re.findall(r"(?m)^# TYPE (\S+)", text)
        self.assertEqual(len(types), len(set(types)))
        self.assertIn("process_open_fds", types)
        self.assertIn("perfmon_process_open_fds", types)

    def test_names_are_its_own(self):
        """No family has the name of one of node_exporter's; with --node-names counts have the names
        of its perf collector, and never those of its process."""
        for words, prefix in (((), "perfmon_"), (("--node-names", ), "node_perf_")):
            with Server("--textfile", self.path, "-I", "10", *words):
                wait_until(self.read)
                f = openmetrics.parse(self.read(), openmetrics=False)
            self.assertEqual({name for name in f if not name.startswith("perfmon_")},
                             {name for name in f if name.startswith("node_perf_")})
            self.assertIn(prefix + "page_faults_total", f)
            self.assertIn("perfmon_process_cpu_seconds_total", f)
            os.path.exists(self.path) and os.remove(self.path)


    def test_nothing_is_counted_while_another_has_the_lock(self):
        """While another program has the lock, nothing is counted and no count has a value; then it
        goes on."""
        lock = os.path.join(self.folder, "lock")

        def find(name, **labels):
            return openmetrics.value(openmetrics.parse(self.read(), openmetrics=False), name,
                                     **labels)

        with Server("--textfile", self.path, "-I", "20", "-e", "page-faults",
                    "--give-way=" + lock) as s:
            wait_until(lambda: self.read() and find("perfmon_page_faults_total") is not None)
            self.assertEqual(find("perfmon_paused", reason="lock"), 0)
            # Only its owner and members of its group may open it.
            self.assertEqual(os.stat(lock).st_mode & 0o777, 0o660)
            with open(lock, "rb") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                wait_until(lambda: find("perfmon_paused", reason="lock") == 1 and find(
                    "perfmon_page_faults_total") is None)
                with open("/proc/self/comm", encoding="utf-8") as own:
                    name = own.read().strip()
                self.assertEqual(find("perfmon_lock_holder_info", process=name,
                                      pid=str(os.getpid())), 1)
                self.assertEqual(find("perfmon_event_cause_info", cause="paused"), 1)
                self.assertIn("'%s' (process %d) has the lock" % (name, os.getpid()),
                              s.wait_for("has the lock"))
                wait_until(lambda: find("perfmon_paused_seconds_total") > 0.1)
            wait_until(lambda: find("perfmon_paused", reason="lock") == 0 and find(
                "perfmon_page_faults_total") is not None)
            self.assertNotIn("perfmon_lock_holder_info",
                             openmetrics.parse(self.read(), openmetrics=False))
            s.end()


class Pauses(unittest.TestCase):
    """A pause within an interval. The clock of all CPUs is known."""

    def test_an_interval_with_a_pause_is_partial(self):
        """The count of an interval with a pause is partial, its share is that of the time outside
        of it, and the next interval is exact again."""
        with tempfile.TemporaryDirectory() as folder:
            lock = os.path.join(folder, "lock")
            with Server("--listen", "127.0.0.1:0", "-e", "task-clock", "-M",
                        "software::faults_per_second", "--give-way=" + lock) as s:
                scraper = Scraper(s.address())
                first = scraper.read()
                with open(lock, "rb") as f:
                    fcntl.flock(f, fcntl.LOCK_EX)
                    s.wait_for("has the lock")
                    time.sleep(0.3)    # the length of the pause is what is measured
                self.assertIn("counting goes on after a pause of 0.", s.wait_for("goes on"))
                second, third = scraper.read(), scraper.read()
        elapsed = openmetrics.value(second, "perfmon_reading_interval_seconds")
        clock = (openmetrics.value(second, "perfmon_event_seconds") - openmetrics.value(
            first, "perfmon_event_seconds")) / os.cpu_count()
        paused = openmetrics.value(second, "perfmon_paused_seconds")
        share = openmetrics.value(second, "perfmon_event_running_ratio", event="task-clock")
        self.assertGreater(paused, 0.3)
        self.assertLess(abs(clock + paused - elapsed), 0.1)
        self.assertAlmostEqual(share, 1 - paused / elapsed, delta=0.02)
        self.assertEqual([quality(f, event="task-clock") for f in (first, second, third)],
                         ["exact", "partial", "exact"])
        self.assertEqual(openmetrics.value(second, "perfmon_event_cause", event="task-clock",
                                           cause="paused"), 1)
        self.assertEqual(quality(second, "perfmon_metric_quality", metric="faults_per_second"),
                         "partial")
        self.assertNotIn("paused", str(third["perfmon_event_cause"].samples))

    @unittest.skipUnless(shutil.which("strace"), "strace is missing (Debian package strace)")
    def test_counts_of_a_slow_reading_are_partial(self):
        """A reading that is interrupted for long has counts of an unknown time: strace delays each
        call that reads one."""
        with Server("--listen", "127.0.0.1:0", "-e", "task-clock", "-M",
                    "software::faults_per_second",
                    program=("strace", "-f", "-o", "/dev/null", "-e", "trace=read", "-e",
                             "inject=read:delay_enter=60000", PFM, "serve")) as s:
            scraper = Scraper(s.address())
            counts = scraper.read()
            with open("/proc/%d/task/%d/children" % (s.p.pid, s.p.pid), encoding="ascii") as f:
                for child in f.read().split():
                    os.kill(int(child), signal.SIGTERM)
            s.p.wait(timeout=20)
        self.assertEqual(quality(counts, event="task-clock"), "partial")
        self.assertEqual(openmetrics.value(counts, "perfmon_event_cause", event="task-clock",
                                           cause="slow reading"), 1)
        self.assertEqual(quality(counts, "perfmon_metric_quality", metric="faults_per_second"),
                         "partial")

    def test_each_scraper_sees_the_mark(self):
        """A pause is in the interval of each of two scrapers, though it ends before the reading of
        one of them: both get the count as partial once, and exact from then on."""
        with tempfile.TemporaryDirectory() as folder:
            lock = os.path.join(folder, "lock")
            with Server("--listen", "127.0.0.1:0", "-e", "task-clock", "--give-way=" + lock) as s:
                address = s.address()
                scrapers = [http.client.HTTPConnection(*address, timeout=20) for _ in range(2)]
                other = Scraper(address)    # each of its requests is a client of its own

                def read(n):
                    other.read()
                    scrapers[n].request("GET", "/metrics")
                    f = openmetrics.parse(scrapers[n].getresponse().read().decode(),
                                          openmetrics=False)
                    return (quality(f, event="task-clock"),
                            openmetrics.value(f, "perfmon_event_running_ratio",
                                              event="task-clock"))

                self.assertEqual([read(0), read(1)], [("exact", 1), ("exact", 1)])
                with open(lock, "rb") as f:
                    fcntl.flock(f, fcntl.LOCK_EX)
                    s.wait_for("has the lock")
                    time.sleep(0.3)    # the length of the pause is what is measured
                s.wait_for("goes on")
                found = [read(0), read(1), read(0), read(1), read(0)]
                for c in scrapers:
                    c.close()
        self.assertEqual([q for q, _ in found], ["partial", "partial", "exact", "exact", "exact"])
        self.assertLess(found[0][1], 0.8)
        self.assertLess(found[1][1], 0.8)
        self.assertEqual(found[2][1], 1)

    def test_an_open_lock_is_closed(self):
        """A lock that every user may open is limited to its group."""
        with tempfile.TemporaryDirectory() as folder:
            lock = os.path.join(folder, "lock")
            with open(lock, "w", encoding="ascii"):
                os.chmod(lock, 0o664)
            with Server("--listen", "127.0.0.1:0", "-e", "page-faults", "--give-way=" + lock) as s:
                s.address()
                self.assertEqual(os.stat(lock).st_mode & 0o777, 0o660)


class Missing(unittest.TestCase):
    """Events and metrics that this machine does not have: the others are served, and these have a
    cause."""

    def setUp(self):
        self.place = test_answers.Place()
        self.addCleanup(self.place.close)

    def serve(self, *words):
        s = Server("--listen", "127.0.0.1:0", *words, program=("scripted", "serve"),
                   env=self.place.env, cwd=self.place.folder)
        with s:
            f = openmetrics.parse(ask(s.address(), OPENMETRICS)[2])
            s.end()
        return f, "".join(s.said)

    def causes(self, f, family="perfmon_event_cause", name="event"):
        return {dict(labels)[name]: dict(labels)["cause"] for labels in f[family].samples}

    def test_unknown_names_are_series_with_a_cause(self):
        f, said = self.serve("-e", "page-faults,toy::Unknown,nonsense", "-M",
                             "software::faults_per_second,no_such_metric")
        self.assertEqual(openmetrics.value(f, "node_perf_page_faults"), 4 * 1234567 + 6)
        self.assertEqual(quality(f, event="page-faults"), "exact")
        for event in ("toy::Unknown", "nonsense"):
            self.assertEqual(quality(f, event=event), "not supported")
            self.assertEqual(self.causes(f)[event], "unknown event")
            self.assertIn(event, said)
        self.assertEqual(quality(f, "perfmon_metric_quality", metric="no_such_metric"),
                         "not supported")
        self.assertIn("no_such_metric", self.causes(f, "perfmon_metric_cause", "metric"))
        self.assertEqual(sum(len(family.samples) for family in f.values()),
                         openmetrics.value(f, "perfmon_series"))

    def test_unknown_names_take_no_turns(self):
        f, _ = self.serve("--rotate=50", "--wish", "no_such_metric=3", "-e",
                          "toy::Falls,toy::Unknown,toy::Trips", "-M", "no_such_metric")
        self.assertEqual(self.causes(f)["toy::Unknown"], "unknown event")
        self.assertIn("no_such_metric", self.causes(f, "perfmon_metric_cause", "metric"))
        self.assertEqual({dict(labels)["event"] for labels in
                          f["perfmon_event_quality_rank"].samples},
                         {"toy::Falls", "toy::Trips", "toy::Unknown"})

    def test_events_that_cannot_be_counted(self):
        """A machine that can count none of the events serves why."""
        f, said = self.serve("-e", "coreduo::Instr_Ret,coreduo::L2_Rqsts")
        self.assertEqual(set(self.causes(f)), {"Instr_Ret", "L2_Rqsts"})
        self.assertIn("nothing can be counted; the causes are served", said)


class Turns(unittest.TestCase):
    """--rotate: each counter moves at the end of its turn, not once in a cycle."""

    def test_counters_move_with_each_scrape(self):
        """On this machine software events take no turns: their counts are those of the scrape."""
        with Server("--listen", "127.0.0.1:0", "--rotate=60000", "-e", "task-clock") as s:
            address = s.address()
            first_end = last_end = None
            while not first_end or last_end < first_end + 0.5:
                begin = time.monotonic()
                f = openmetrics.parse(ask(address, OPENMETRICS)[2])
                last_end = time.monotonic()
                value = openmetrics.value(f, "perfmon_event_seconds") / os.cpu_count()
                if not first_end:
                    first_begin, first_end, first = begin, last_end, value
        # A reading serves the requests of 50 ms, and each is within its first request.
        self.assertGreater(value - first, begin - first_end - 0.051)
        self.assertLess(value - first, last_end - first_begin + 0.051)

    def test_within_a_cycle(self):
        """Falls and Trips share a counter of the toy and take turns of 0.2 s. A wish makes the cycle
        last a minute; long before its end each counter has moved with its turns."""
        place = test_answers.Place()
        self.addCleanup(place.close)
        stop = threading.Event()
        path = os.path.join(place.folder, "counts")
        with open(path, encoding="ascii") as f:
            rows = [line.split() for line in f if line.strip() and line[0] != "#"]
        begin = time.monotonic()

        def write():
            ms = int((time.monotonic() - begin) * 1000) + 1
            with open(path + ".new", "w", encoding="ascii") as f:
                for n, row in enumerate(rows):
                    f.write("%s %s %d %d000000 %d000000 %s\n" % (row[0], row[1],
                                                                1000 * (n + 1) * ms, ms, ms,
                                                                row[5]))
            os.rename(path + ".new", path)

        def count():
            while not stop.wait(0.01):
                write()

        write()
        load = threading.Thread(target=count)
        load.start()
        try:
            with Server("--listen", "127.0.0.1:0", "--rotate=200", "--wish", "toy::Falls=100", "-e",
                        "toy::Falls,toy::Trips", program=("scripted", "serve"), env=place.env,
                        cwd=place.folder) as s:
                address = s.address()
                seen = {"toy::Falls": [], "toy::Trips": []}

                def note_values():
                    f = openmetrics.parse(ask(address, OPENMETRICS)[2])
                    for event, found in seen.items():
                        value = openmetrics.value(f, "perfmon_events", event=event)
                        if value is not None and (not found or found[-1] != value):
                            found.append(value)
                    return min(map(len, seen.values())) >= 3

                wait_until(note_values, "three values of each event", limit=30)
        finally:
            stop.set()
            load.join()
        for event, found in seen.items():
            self.assertEqual(found, sorted(found), event)


class GiveWay(unittest.TestCase):
    """--give-way on a kernel whose events get, lose and get back their counters. branch-misses is
    the pinned probe's event; a pinned event without a counter has no time."""

    def setUp(self):
        self.place = test_answers.Place()
        self.addCleanup(self.place.close)
        self.path = os.path.join(self.place.folder, "counts")
        self.ms = {"probe": [1000, 1000], "own": [1000, 1000]}
        self.write()

    def write(self):
        """The kernel's times so far, in milliseconds: enabled and on a counter."""
        with open(self.path + ".new", "w", encoding="ascii") as f:
            for kind, config, (enabled, running) in (("0", "5", self.ms["probe"]),
                                                     ("4", "11", self.ms["own"])):
                f.write("%s %s %d %d000000 %d000000 0\n" %
                        (kind, config, running * 7, enabled, running))
        os.rename(self.path + ".new", self.path)

    def pass_time(self, probe=1.0, own=1.0):
        """100 ms, in which the events had counters for these shares."""
        for name, share in (("probe", probe), ("own", own)):
            self.ms[name][0] += 100
            self.ms[name][1] += int(100 * share)
        self.write()

    def read(self, address):
        return openmetrics.parse(ask(address, OPENMETRICS)[2])

    def until(self, address, paused, shares):
        """Lets time pass with these shares until counting is paused for events, or not any more."""
        def is_wanted():
            self.pass_time(*shares)
            f = self.read(address)
            return f if openmetrics.value(f, "perfmon_paused", reason="events") == paused else None

        return wait_until(is_wanted, "perfmon_paused becomes %d" % paused)

    def serve(self):
        s = Server("--listen", "127.0.0.1:0", "-e", "toy::Ticks", "-I", "50",
                   "--give-way=" + os.path.join(self.place.folder, "lock"),
                   program=("scripted", "serve"), env=self.place.env, cwd=self.place.folder)
        address = s.address()
        self.scraper = Scraper(address)
        return s, address

    def test_a_probe_without_its_counter_pauses_the_service(self):
        """A probe that loses its counter pauses the service; once it has one again, counting goes
        on."""
        s, address = self.serve()
        with s:
            for _ in range(8):
                self.pass_time()
                self.assertEqual(
                    openmetrics.value(self.scraper.read(), "perfmon_paused", reason="events"), 0)
            self.until(address, 1, (0.5, 1))
            f = self.until(address, 0, (1, 1))
            self.assertGreater(openmetrics.value(f, "perfmon_paused_seconds"), 0.9)
            self.assertEqual(openmetrics.value(f, "perfmon_paused", reason="lock"), 0)

    def test_pinned_event_without_counter(self):
        """The error state of a pinned event: another program has had all counters from the
        start."""
        self.ms["probe"] = [0, 0]
        self.write()
        s, address = self.serve()
        with s:
            wait_until(lambda: openmetrics.value(self.read(address), "perfmon_paused",
                                                 reason="events") == 1)
            self.ms["probe"] = [1000, 1000]
            self.until(address, 0, (1, 1))

    def test_events_that_lose_time_have_rivals(self):
        """Events that had counters all the time and lose some of it have rivals, though the pinned
        probe keeps its own."""
        s, address = self.serve()
        with s:
            for _ in range(3):
                self.pass_time()
                self.scraper.read()
            self.until(address, 1, (1, 0.6))
            self.until(address, 0, (1, 1))

    def test_own_events_that_never_fitted(self):
        """More events than counters are the service's own fault."""
        s, address = self.serve()
        with s:
            for _ in range(12):
                self.pass_time(1, 0.6)
                self.assertEqual(
                    openmetrics.value(self.scraper.read(), "perfmon_paused", reason="events"), 0)


class Hotplug(unittest.TestCase):
    """CPUs that come on line on a scripted kernel: an event counts 1,000 between two readings, and
    the number of its CPU on top; a tenth more where it was opened before."""

    def setUp(self):
        self.place = test_answers.Place()
        self.addCleanup(self.place.close)
        self.milliseconds = 0

    def write(self, name, text):
        path = os.path.join(self.place.folder, name)
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(text + "\n")
        os.rename(path + ".new", path)

    def serve(self):
        s = Server("--listen", "127.0.0.1:0", "-e", "page-faults", "-I", "10",
                   program=("scripted", "serve"), env=self.place.env, cwd=self.place.folder)
        return s, Scraper(s.address())

    def read(self, scraper, n):
        """[(quality, increase)] of the next n readings."""
        found = []
        for _ in range(n):
            self.milliseconds += 1000
            self.write("counts", "1 2 %d %d000000 %d000000 0" % (3 * (self.milliseconds,)))
            f = scraper.read()
            total = openmetrics.value(f, "node_perf_page_faults")
            found.append((quality(f), total - self.total))
            self.total = total
        return found

    def test_counted_from_the_next_interval_on(self):
        self.total = 0
        self.write("online", "0-2")
        s, scraper = self.serve()
        with s:
            self.assertEqual(self.read(scraper, 2), [("exact", 3000 + 3), ("exact", 3000)])
            self.write("online", "0-3")
            self.assertEqual(self.read(scraper, 1), [("partial", 3000)])
            # The kernel's new events count 4,000 and 4,400 of the script at once.
            self.assertEqual(self.read(scraper, 2), [("exact", 3 * 4400 + 4000 + 6),
                                                     ("exact", 3 * 1100 + 1000)])
            # Sessions are opened once in ten seconds.
            self.write("online", "0-4")
            self.assertEqual(self.read(scraper, 2), 2 * [("partial", 3 * 1100 + 1000)])

    def test_fewer_files_than_cpus(self):
        """A session that cannot be opened again continues unchanged."""
        self.total = 0
        self.place.env["PFM_SCRIPT_FILES"] = "5"
        self.write("online", "0-2")
        s, scraper = self.serve()
        with s:
            self.assertEqual(self.read(scraper, 1), [("exact", 3000 + 3)])
            self.write("online", "0-3")
            self.assertEqual(self.read(scraper, 3), 3 * [("partial", 3000)])


class Cgroups(unittest.TestCase):
    """--for-each-cgroup with patterns, on control groups that are folders: they appear and vanish
    while the service counts."""

    def setUp(self):
        self.place = test_answers.Place()
        self.addCleanup(self.place.close)
        self.groups = os.path.join(self.place.folder, "groups")
        self.scrapers = {}
        os.mkdir(self.groups)
        with open(os.path.join(self.place.folder, "mounts"), "w", encoding="ascii") as f:
            f.write("none %s cgroup2 rw 0 0\n" % self.groups)

    def make(self, *names):
        for name in names:
            os.makedirs(os.path.join(self.groups, name))

    def remove(self, *names):
        for name in names:
            os.rmdir(os.path.join(self.groups, name))

    def serve(self, *words, env=None):
        s = Server("--listen", "127.0.0.1:0", "-I", "10", *words, program=("scripted", "serve"),
                   env={**self.place.env, **(env or {})}, cwd=self.place.folder)
        return s, s.address()

    def read(self, address):
        """A reading that was made after the call."""
        return self.scrapers.setdefault(address, Scraper(address)).read()

    def counted(self, f, family="node_perf_page_faults"):
        """The value of each group."""
        return {dict(labels)["cgroup"]: value
                for labels, value in f[family].samples.items()} if family in f else {}

    def test_pods_come_and_go(self):
        """Groups that match are counted from the next reading on; those that are gone have no
        series; the others go on."""
        self.make("kube/pod1/c1", "kube/pod2", "system/x")
        s, address = self.serve("--for-each-cgroup", "kube/pod*,kube/pod*/*", "-e", "page-faults")
        with s:
            self.assertEqual(set(self.counted(self.read(address))),
                             {"kube/pod1", "kube/pod1/c1", "kube/pod2"})
            before = self.counted(self.read(address))["kube/pod2"]
            self.make("kube/pod3")
            self.remove("kube/pod1/c1", "kube/pod1")
            f = self.read(address)
            self.assertEqual(set(self.counted(f)), {"kube/pod2", "kube/pod3"})
            self.assertGreaterEqual(self.counted(f)["kube/pod2"], before)
            # A new folder of the same name is another group: its counter begins again.
            # Two folders at a time have two inodes.
            self.make("kube/other")
            self.remove("kube/pod2")
            os.rename(os.path.join(self.groups, "kube/other"),
                      os.path.join(self.groups, "kube/pod2"))
            f = self.read(address)
            self.assertEqual((openmetrics.value(
                f, "perfmon_cgroups"), openmetrics.value(
                    f, "perfmon_cgroups_added"), openmetrics.value(f, "perfmon_cgroups_removed")),
                             (2, 5, 3))
            self.assertEqual(quality(f, event="page-faults", cgroup="kube/pod2"), "exact")
            self.remove("kube/pod2", "kube/pod3")
            self.assertEqual(self.counted(self.read(address)), {})

    def test_counters_of_others_never_decrease(self):
        """The kernel counts on (a new script) while groups before and after this one in the list
        come and go."""
        path = os.path.join(self.place.folder, "counts")
        self.make("b")
        s, address = self.serve("--for-each-cgroup", "*", "-e", "page-faults")
        with s:
            for i in range(12):
                with open(path + ".new", "w", encoding="ascii") as f:
                    f.write("1 2 %d %d %d 0\n" % (1000 * (i + 1), 10**9 * (i + 1), 10**9 * (i + 1)))
                os.rename(path + ".new", path)
                (self.make if i % 2 == 0 else self.remove)("a", "c%d" % (i // 2))
                found = self.counted(self.read(address))
                self.assertEqual(set(found),
                                 {"b"} | ({"a", "c%d" % (i // 2)} if i % 2 == 0 else set()))
                # Each of four CPUs counts one more than the one before it; the first reading has
                # all since the start.
                self.assertEqual(found["b"], 4 * 1000 * (i + 1) + 6)

    def test_metrics_of_each(self):
        self.make("a")
        s, address = self.serve("--for-each-cgroup", "*", "-M", "software::faults_per_second")
        with s:
            self.read(address)
            self.make("b")
            f = self.read(address)
            found = {dict(labels)["cgroup"]
                     for labels in f["perfmon_metric"].samples} if "perfmon_metric" in f else set()
            named = {dict(labels)["cgroup"] for labels in f["perfmon_metric_quality_rank"].samples}
            self.assertEqual(named, {"a", "b"})
            self.assertLessEqual(found, named)

    def test_max_series_bounds_what_is_counted(self):
        """--max-series bounds what is counted later; what was left out is exported, and has room
        again when others end."""
        self.make("g0")
        words = ("--for-each-cgroup", "g*", "-e", "page-faults")
        done = subprocess.run(
            ["scripted", "serve", *words, "--listen", "127.0.0.1:0", "--max-series", "1"],
            env=self.place.env, cwd=self.place.folder, capture_output=True, text=True, check=False)
        n = int(re.search(r"up to (\d+) series", done.stderr)[1])
        s, address = self.serve(*words, "--max-series", str(n))
        with s:
            self.make("g1", "g2")
            f = self.read(address)
            self.assertEqual((openmetrics.value(
                f, "perfmon_cgroups"), openmetrics.value(f, "perfmon_cgroups_omitted")), (1, 2))
            self.assertLessEqual(openmetrics.value(f, "perfmon_series"), n)
            self.remove("g0")
            f = self.read(address)
            self.assertEqual((openmetrics.value(
                f, "perfmon_cgroups"), openmetrics.value(f, "perfmon_cgroups_omitted")), (1, 1))

    def test_jobs_and_units(self):
        """Groups of Slurm have the number of their job, in both versions of control groups, those of
        systemd the name of the unit."""
        wanted = {
            "slurm/uid_1000/job_4711": {"slurm_job": "4711"},
            "slurm/uid_1000/job_4711/step_0/task_1": {"slurm_job": "4711"},
            "system.slice/node1_slurmstepd.scope/job_12/step_batch": {"slurm_job": "12"},
            "system.slice/ssh.service": {"unit": "ssh.service"},
            "system.slice/slurmd.service": {"unit": "slurmd.service"},
            "user.slice/job_5": {}, "slurm/job_x": {}, "slurmjob_7": {},
        }
        self.make(*(path for path in wanted if path != "slurm/uid_1000/job_4711"))
        s, address = self.serve("--for-each-cgroup", ",".join(wanted), "-e", "page-faults")
        with s:
            f = self.read(address)
        found = {}
        for own in f["node_perf_page_faults"].samples:
            labels = {k: v for k, v in own if k not in ("event", "pmu")}
            found[labels.pop("cgroup")] = labels
        self.assertEqual(found, wanted)

    def test_files_run_out(self):
        """Groups for which files lack are left out and counted; the others, and the answers, go
        on. Each group needs a file for each of four CPUs, and 160 are kept for clients."""
        self.make(*("g%03d" % k for k in range(100)))
        s = Server("--listen", "127.0.0.1:0", "-I", "10", "--for-each-cgroup", "g*", "-e",
                   "page-faults", program=("scripted", "serve"), env=self.place.env,
                   cwd=self.place.folder,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (360, 360)))
        with s:
            address = s.address()
            for _ in range(3):
                f = self.read(address)
                self.assertEqual(len(self.counted(f)), 50)
                self.assertEqual((openmetrics.value(
                    f, "perfmon_cgroups_without_files"), openmetrics.value(
                        f, "perfmon_cgroups_omitted")), (50, 50))
            self.remove(*("g%03d" % k for k in range(30)))
            f = self.read(address)
            self.assertEqual(len(self.counted(f)), 50)
            self.assertEqual(openmetrics.value(f, "perfmon_cgroups_without_files"), 20)
            s.end()

    def test_groups_cannot_be_listed(self):
        """No more files for a moment: those that are counted stay, and the failure is counted."""
        self.make("a", "b")
        s, address = self.serve("--for-each-cgroup", "*", "-e", "page-faults")
        c = http.client.HTTPConnection(*address, timeout=10)
        self.addCleanup(c.close)
        with s:

            readings = 0

            def read():
                """A new reading, by the one connection that has a file."""
                nonlocal readings
                last = readings
                while readings == last:
                    c.request("GET", "/metrics")
                    f = openmetrics.parse(c.getresponse().read().decode(), openmetrics=False)
                    readings = openmetrics.value(f, "perfmon_readings_total")
                return f

            read()
            soft, hard = resource.prlimit(s.p.pid, resource.RLIMIT_NOFILE)
            files = len(os.listdir("/proc/%d/fd" % s.p.pid))
            resource.prlimit(s.p.pid, resource.RLIMIT_NOFILE, (files, hard))
            f = read()
            resource.prlimit(s.p.pid, resource.RLIMIT_NOFILE, (soft, hard))
            self.assertEqual(set(self.counted(f, "node_perf_page_faults_total")), {"a", "b"})
            self.assertGreaterEqual(openmetrics.value(f, "perfmon_cgroups_failures_total"), 1)
            self.make("c")
            self.assertEqual(set(self.counted(read(), "node_perf_page_faults_total")),
                             {"a", "b", "c"})
            s.end()

    def test_a_named_group(self):
        """It may be missing at the start, come, go and come again."""
        s, address = self.serve("--for-each-cgroup", "system/db,/system/web", "-e", "page-faults")
        with s:
            for names in ([], ["system/db"], ["system/db", "system/web"]):
                for name in names:
                    if not os.path.exists(os.path.join(self.groups, name)):
                        self.make(name)
                f = self.read(address)
                self.assertEqual(set(self.counted(f)), set(names))
                self.assertEqual(openmetrics.value(f, "perfmon_cgroups_missing"), 2 - len(names))
            self.remove("system/db")
            f = self.read(address)
            self.assertEqual(set(self.counted(f)), {"system/web"})
            self.assertEqual(openmetrics.value(f, "perfmon_cgroups_missing"), 1)
            s.end()

    def test_an_idle_group_counts_exactly_0(self):
        """A group of which no task ran has counted all there was: 0, exact, without a cause."""
        with open(os.path.join(self.place.folder, "counts"), "w", encoding="ascii") as f:
            f.write("1 2 0 0 0 0\n")
        self.make("a")
        s, address = self.serve("--for-each-cgroup", "a", "-e", "page-faults", "-C", "0")
        with s:
            for _ in range(2):
                f = self.read(address)
                self.assertEqual(self.counted(f), {"a": 0})
                self.assertEqual(quality(f, event="page-faults"), "exact")
                self.assertEqual(f["perfmon_event_cause"].samples, {})

    def test_refused_at_start(self):
        """Without any group, the events are checked all the same."""
        done = subprocess.run([
            "scripted", "serve", "--for-each-cgroup", "*", "-e", "nonsense", "--listen",
            "127.0.0.1:0"
        ], env=self.place.env, cwd=self.place.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nonsense", done.stderr)

    def test_10000_groups_leave_no_file_open(self):
        """Born and gone while it counts. The scripted kernel allows 3,000 open files, and 500
        groups on 4 CPUs need 2,500: were those of groups that are gone left open, the next ones
        could not be opened. Series, descriptors and memory stay where they are."""
        self.make("stays", *("p/g%d" % k for k in range(500)))
        s, address = self.serve("--for-each-cgroup", "stays,p[0-9]*/*", "-e", "page-faults",
                                env={"PFM_SCRIPT_FILES": "3000"})
        with s:
            most, first, begin, parent = 0, None, time.monotonic(), os.path.join(self.groups, "p")
            for i in range(20):
                # Another path is another group, and one call moves all of them.
                os.rename(parent, parent := os.path.join(self.groups, "p%d" % i))
                names = ["p%d/g%d" % (i, k) for k in range(500)]
                f = self.read(address)
                self.assertEqual(set(self.counted(f)), {"stays", *names})
                self.assertEqual({quality(f, event="page-faults", cgroup=n) for n in names[::99]},
                                 {"exact"})
                most = max(most, openmetrics.value(f, "perfmon_series"))
                if i % 5 == 4:
                    os.rename(parent, parent := os.path.join(self.groups, "p"))
                    f = self.read(address)
                    now = openmetrics.value(f, "process_open_fds"), openmetrics.value(
                        f, "perfmon_series")
                    first = first or now
                    self.assertEqual(now, first)
            print(
                "# 10,000 groups in %.1f s, at most %d series, %.3f s of processor time, %.1f MB" %
                (time.monotonic() - begin, most, openmetrics.value(f, "process_cpu_seconds"),
                 openmetrics.value(f, "process_resident_memory_bytes") / 1e6))
            self.assertEqual(set(self.counted(f)), {"stays"})
            self.assertEqual((openmetrics.value(
                f, "perfmon_cgroups_added"), openmetrics.value(f, "perfmon_cgroups_removed")),
                             (10001, 10000))


class Pcp(unittest.TestCase):
    """pmdaopenmetrics of pcp reads the endpoint, driven by dbpmda: without pmcd. pcp is the
    installed one, or PERFMON_PCP, a folder that the Debian packages pcp, pcp-conf, python3-pcp and
    libpcp* with libpcp*-dev were unpacked into (dpkg -x). It needs python3-requests."""

    def setUp(self):
        self.root = os.environ.get("PERFMON_PCP", "")
        self.pmda = self.root + "/usr/lib/pcp/pmdas/openmetrics/pmdaopenmetrics.python"
        self.dbpmda = self.root + "/usr/bin/dbpmda"
        if not (os.path.exists(self.pmda) and os.path.exists(self.dbpmda)):
            self.skipTest(
                "pmdaopenmetrics is missing (Debian packages pcp and python3-pcp, or PERFMON_PCP)")
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def environment(self):
        """Of the unpacked pcp: its paths, and folders that it may write to."""
        if not self.root:
            return dict(os.environ)
        with open(self.root + "/etc/pcp.conf", encoding="utf-8") as f:
            text = re.sub(r"(?m)^(PCP_\w+=)(/etc/pcp|/usr/lib/pcp|/usr/share/pcp|/var/lib/pcp)",
                          r"\1" + self.root + r"\2", f.read())
        text = re.sub(r"(?m)^(PCP_\w+=)(/run/pcp|/var/log/pcp)", r"\1" + self.folder, text)
        with open(self.folder + "/pcp.conf", "w", encoding="utf-8") as f:
            f.write(text)
        return {
            **os.environ, "PCP_CONF": self.folder + "/pcp.conf",
            "LD_LIBRARY_PATH": self.root + "/usr/lib",
            "PYTHONPATH": self.root + "/usr/lib/python3/dist-packages"
        }

    def test_counts_are_ours(self):
        """To the unit: the counters are read once, so all clients get the same."""
        with Server("--listen", "127.0.0.1:0", "-I", "3600000", "-e",
                    "page-faults,task-clock") as s:
            address = s.address()
            f = openmetrics.parse(ask(address, OPENMETRICS)[2])
            os.mkdir(self.folder + "/urls")
            with open(self.folder + "/urls/perfmon.url", "w", encoding="ascii") as url:
                url.write("http://127.0.0.1:%d/metrics\n" % address[1])
            with open(self.folder + "/names", "w", encoding="ascii") as names:
                names.write("root {\n\topenmetrics 144:*:*\n}\n")
            # The first answer says that the agent is ready; each request then gets the answer of
            # the one before.
            requests = [
                "open pipe /usr/bin/python3 %s -c %s/urls -l %s/log -t 5" %
                (self.pmda, self.folder, self.folder), "wait 1", "children openmetrics",
                "children openmetrics.perfmon",
                *2 * ["pmid openmetrics.perfmon.node_perf_page_faults_total"],
                *("fetch 144.1.%d" % i for i in range(1, 9)), "close"
            ]
            p = subprocess.run([self.dbpmda, "-n", self.folder + "/names", "-ie"],
                               input="\n".join(requests) + "\n", capture_output=True, text=True,
                               timeout=60, check=False, env=self.environment())
        found = re.search(r"(?m)^   (144\.1\.\d+)$", p.stdout)
        if not found:
            self.fail(p.stdout + p.stderr)
        values = dict(re.findall(r"(144\.1\.\d+) \(.*\n    inst .* value (\S+)", p.stdout))
        self.assertEqual(int(values[found[1]]), openmetrics.value(f, "node_perf_page_faults"))
        self.assertIn("%.9f" % openmetrics.value(f, "perfmon_event_seconds", event="task-clock"),
                      {"%.9f" % float(v) for v in values.values()})


class Refusals(unittest.TestCase):
    def serve(self, *words, status):
        done = subprocess.run([PFM, "serve", *words], capture_output=True, text=True, timeout=30,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (status, ""), (words, done.stderr))
        return done.stderr

    def test_the_number_in_the_refusal_is_enough(self):
        """The number in the refusal is the number that is enough."""
        with tempfile.TemporaryDirectory() as folder:
            words = [
                "--textfile",
                os.path.join(folder, "f.prom"), "-e", "page-faults", "-I", "10", "--max-series"
            ]
            n = int(re.search(r"up to (\d+) series", self.serve(*words, "10", status=1))[1])
            self.assertIn("up to %d series" % n, self.serve(*words, str(n - 1), status=1))
            with Server(*words, str(n)) as s:
                wait_until(lambda: os.path.exists(words[1]))
                with open(words[1], encoding="utf-8") as f:
                    self.assertLessEqual(
                        openmetrics.value(openmetrics.parse(f.read(), openmetrics=False),
                                          "perfmon_series"), n)
                s.end()

    def test_the_default_limit_is_enough_for_128_cpus(self):
        """12 events of each of 128 CPUs."""
        place = test_answers.Place()
        self.addCleanup(place.close)
        machine = os.path.join(place.folder, "machine")
        with open(machine, encoding="utf-8") as f:
            text = re.sub(r"(?m)^(/sys/devices/system/cpu/(?:online|possible|present)\t).*",
                          r"\g<1>0-127", f.read())
        with open(machine, "w", encoding="utf-8") as f:
            f.write(text)
        with Server("--listen", "127.0.0.1:0", "--per-cpu", program=("scripted", "serve"),
                    env=place.env, cwd=place.folder) as s:
            f = openmetrics.parse(ask(s.address(), OPENMETRICS)[2])
        self.assertEqual(len(f["node_perf_page_faults"].samples), 128)
        self.assertEqual(len(f["perfmon_event_quality_rank"].samples), 12 * 128)
        self.assertNotIn("perfmon_event_quality", f)
        self.assertIn("task-clock", f["perfmon_event_seconds"].help)

    def test_wrong_options_are_refused(self):
        for words in (["x"], ["-e", ""], ["-e", "a,,b"], ["-I", "1"], ["--max-series", "0"],
                      ["-C", "x"], ["--per-cpu", "--per-core"], ["--listen", "example.org:80"],
                      ["--listen", "127.0.0.1"], ["--listen", "127.0.0.1:x"], ["--listen", "unix:"],
                      ["--listen", "127.0.0.1:65536"], ["--listen", "unix:" + "x" * 200]):
            self.serve(*words, status=2)
        for words in (["-e", "toy::Unknown"], ["-M", "unknown"], ["--textfile",
                                                                  "/dev/null"], ["--textfile", "/"],
                      ["--give-way=/nowhere/lock"], ["--listen", "192.0.2.1:9747"]):
            self.serve(*words, status=1)

    def test_nothing_to_count(self):
        done = subprocess.run([PFM, "stat", "-a", "--json", "-e", "cycles", "--timeout", "10"],
                              capture_output=True, text=True, check=False)
        if '"not supported"' not in done.stdout:
            self.skipTest("this machine has a PMU")
        for words in (["-e", "cycles"], ["-M", "ipc"]):
            with Server("--listen", "127.0.0.1:0", *words) as s:
                f = openmetrics.parse(ask(s.address(), OPENMETRICS)[2])
                said = "".join(s.said)
            self.assertIn("nothing can be counted; the causes are served", said)
            self.assertIn("cycles: ", said)
            self.assertEqual({dict(labels)["cause"] for labels in
                              f["perfmon_event_cause"].samples}, {"no PMU"})


class Unit(unittest.TestCase):
    """The service of the Debian package perfmon-exporter."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "perfmon-exporter.service")
        with open(os.path.join(SOURCE, "debian/perfmon-exporter.service"), encoding="utf-8") as f:
            self.text = f.read().replace("/usr/bin/pfm", PFM)
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(self.text)

    def analyze(self, *words):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is missing (Debian package systemd)")
        done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True,
                              timeout=60, check=False,
                              env={**os.environ, "SYSTEMD_PAGER": "", "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_systemd_accepts_the_unit(self):
        self.assertNotIn("perfmon-exporter", self.analyze("verify", "--man=no", self.path))

    def test_the_unit_has_few_rights(self):
        """systemd's figure, from 0 to 100: the fewest rights that are known to work have 15."""
        self.analyze("security", "--offline=true", "--threshold=20", self.path)

    def test_the_filter_allows_the_calls_of_the_service(self):
        """The filter allows what the service calls, from its start to its end."""
        if not shutil.which("strace"):
            self.skipTest("strace is missing (Debian package strace)")
        allowed = set(self.words_of(re.search(r"SystemCallFilter=(@.*)", self.text)[1]))
        allowed -= set(self.words_of(re.search(r"SystemCallFilter=~(.*)", self.text)[1]))
        trace = os.path.join(self.folder, "trace")
        p = subprocess.Popen([
            "strace", "-f", "-o", trace, PFM, "serve", "--listen", "unix:" + self.folder + "/s",
            "-I", "10"
        ], stderr=subprocess.PIPE)
        p.stderr.readline()
        for request in (PLAIN, OPENMETRICS):
            try:
                ask(self.folder + "/s", request)
            except OSError:
                pass    # without libmicrohttpd
        with open("/proc/%d/task/%d/children" % (p.pid, p.pid), encoding="ascii") as f:
            for child in f.read().split():
                os.kill(int(child), signal.SIGTERM)
        p.communicate(timeout=20)
        with open(trace, encoding="utf-8", errors="replace") as f:
            called = set(re.findall(r"^\d+ +(\w+)\(", f.read(), re.M))
        if not called:
            self.skipTest("strace may not trace here")
        self.assertIn("perf_event_open", called)
        # The start of the program is systemd's.
        self.assertEqual(called - allowed - {"execve"}, set())

    def words_of(self, text, seen=()):
        """The system calls of a filter, its groups taken apart."""
        for word in text.split():
            if word.startswith("@") and word not in seen:
                found = self.analyze("syscall-filter", word)
                yield from self.words_of(
                    " ".join(line.strip() for line in found.splitlines()[1:]
                             if not line.strip().startswith("#")), (*seen, word))
            else:
                yield word


class Container(unittest.TestCase):
    """examples/container: the fewest rights, and files that their readers accept."""

    FOLDER = os.path.join(SOURCE, "examples/container")
    KUBERNETES = os.path.join(SOURCE, "examples/kubernetes")

    def load(self, name, folder=FOLDER):
        """The last document of a file."""
        try:
            import yaml    # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("yaml is missing (Debian package python3-yaml)")
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return list(yaml.safe_load_all(f))[-1]

    def allowed(self):
        """The system calls of the filter."""
        with open(os.path.join(self.FOLDER, "perfmon-seccomp.json"), encoding="utf-8") as f:
            profile = json.load(f)
        self.assertEqual(profile["defaultAction"], "SCMP_ACT_ERRNO")
        # Without a list the filter is for the machine's own architecture; runc refuses lists with a
        # name that is new to it.
        self.assertNotIn("architectures", profile)
        return {
            name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW"
            for name in rule["names"]
        }

    def check_arguments(self, words):
        """pfm serve accepts them: it refuses nothing before it listens."""
        place = test_answers.Place()
        self.addCleanup(place.close)
        with open(os.path.join(place.folder, "mounts"), "w", encoding="ascii") as f:
            f.write("none %s cgroup2 rw 0 0\n" % place.folder)
        words = [w.replace("0.0.0.0:9747", "127.0.0.1:0") for w in words]
        with Server(*words, program=("scripted", "serve"), env=place.env, cwd=place.folder) as s:
            try:
                s.address()
            except AssertionError as e:
                if "libmicrohttpd" not in str(e):
                    raise

    def test_the_compose_file_grants_one_capability(self):
        service = self.load("compose.yaml")["services"]["perfmon"]
        self.assertEqual((service["cap_drop"], service["cap_add"]), (["ALL"], ["PERFMON"]))
        self.assertIn("no-new-privileges:true", service["security_opt"])
        self.assertTrue(all(port.startswith("127.0.0.1:") for port in service["ports"]))
        for file in (service["build"]["dockerfile"],
                     "examples/container/" + service["security_opt"][1].split(":")[1]):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, file)), file)
        self.check_arguments(service["command"])

    def test_the_daemonset_grants_one_capability(self):
        spec = self.load("daemonset.yaml", self.KUBERNETES)["spec"]["template"]["spec"]
        container = spec["containers"][0]
        self.assertEqual(container["securityContext"]["capabilities"],
                         {"drop": ["ALL"], "add": ["PERFMON"]})
        self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
        self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        self.assertFalse({"hostPID", "hostNetwork", "hostIPC"} & set(spec))
        self.assertFalse(container["securityContext"].get("privileged"))
        self.assertTrue(all(mount["readOnly"] for mount in container["volumeMounts"]))
        self.assertIn("--containers", container["args"])
        self.check_arguments(container["args"])

    def test_the_base_grants_the_list_of_pods_only(self):
        """kubectl makes of the folder: one right, to get the list of pods; labels that select
        each other; one namespace."""
        if not shutil.which("kubectl"):
            self.skipTest("kubectl is missing")
        try:
            import yaml    # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("yaml is missing (Debian package python3-yaml)")
        found = {d["kind"]: d for d in yaml.safe_load_all(run("kubectl", "kustomize",
                                                              self.KUBERNETES))}
        self.assertEqual(set(found), {"Namespace", "ServiceAccount", "ClusterRole",
                                      "ClusterRoleBinding", "DaemonSet", "PodMonitor"})
        self.assertEqual(found["ClusterRole"]["rules"],
                         [{"apiGroups": [""], "resources": ["nodes/pods"], "verbs": ["get"]}])
        namespaces = {d["metadata"].get("namespace") for kind, d in found.items()
                      if kind != "Namespace" and not kind.startswith("Cluster")}
        self.assertEqual(found["Namespace"]["metadata"]["name"], *namespaces)
        self.assertEqual(namespaces, {found["ClusterRoleBinding"]["subjects"][0]["namespace"]})
        spec = found["DaemonSet"]["spec"]
        labels = spec["template"]["metadata"]["labels"]
        self.assertEqual(spec["selector"]["matchLabels"], labels)
        monitor = found["PodMonitor"]["spec"]
        self.assertLessEqual(monitor["selector"]["matchLabels"].items(), labels.items())
        self.assertEqual([e["port"] for e in monitor["podMetricsEndpoints"]],
                         [p["name"] for p in spec["template"]["spec"]["containers"][0]["ports"]])
        self.assertEqual(spec["template"]["spec"]["serviceAccountName"],
                         found["ServiceAccount"]["metadata"]["name"])

    def test_the_profile_allows_the_calls_of_the_service(self):
        """The filter allows what the service calls, and few others."""
        allowed = self.allowed()
        self.assertIn("perf_event_open", allowed)
        # runc calls these between the filter and the program.
        self.assertLessEqual({"close", "execve", "fcntl", "fstatfs", "futex", "openat", "write"},
                             allowed)
        self.assertFalse({
            "ptrace", "mount", "umount2", "bpf", "setuid", "init_module", "unshare", "setns",
            "chroot"
        } & allowed)
        if not shutil.which("strace"):
            self.skipTest("strace is missing (Debian package strace)")
        with tempfile.TemporaryDirectory() as folder:
            p = subprocess.Popen([
                "strace", "-f", "-o", folder + "/trace", PFM, "serve", "--listen", "unix:" +
                folder + "/s", "-I", "10", "--budget", "cpu=5%", "-e", "page-faults,task-clock"
            ], stderr=subprocess.PIPE)
            p.stderr.readline()
            for request in (PLAIN, OPENMETRICS):
                try:
                    ask(folder + "/s", request)
                except OSError:
                    pass    # without libmicrohttpd
            with open("/proc/%d/task/%d/children" % (p.pid, p.pid), encoding="ascii") as f:
                for child in f.read().split():
                    os.kill(int(child), signal.SIGTERM)
            p.communicate(timeout=20)
            with open(folder + "/trace", encoding="utf-8", errors="replace") as f:
                called = set(re.findall(r"^\d+ +(\w+)\(", f.read(), re.M))
        if not called:
            self.skipTest("strace may not trace here")
        self.assertEqual(called - allowed, set())


class Rules(unittest.TestCase):
    """examples/fleet: rules and alerts, with the tests that come with them."""

    FOLDER = os.path.join(SOURCE, "examples/fleet")

    def test_promtool_accepts_the_rules(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is missing (Debian package prometheus)")
        run("promtool", "check", "config", "--syntax-only", "prometheus.yml", cwd=self.FOLDER)
        self.assertIn("SUCCESS", run("promtool", "test", "rules", "rules_test.yml",
                                     cwd=self.FOLDER))

    def test_metrics_of_the_alerts_exist(self):
        """Each name of the alerts is one that the service writes."""
        with open(os.path.join(self.FOLDER, "alerts.yml"), encoding="utf-8") as f:
            used = set(re.findall(r"\bperfmon_\w+", f.read()))
        known = set()
        for name in ("exporter/self.c", "tools/series/quality.c"):
            with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
                known |= set(re.findall(r'"(perfmon_\w+)"', f.read()))
        self.assertEqual({name for name in used
                          if re.sub("_(total|info)$", "", name) not in known}, set())


class Program(unittest.TestCase):
    """The exporter as a program of its own."""
    EXPORTER = os.path.join(os.path.dirname(PFM), "pfm-exporter")

    def test_it_has_the_options_of_pfm_serve(self):
        ours = subprocess.run([self.EXPORTER, "--help"], capture_output=True, text=True, check=True)
        self.assertEqual(ours.stdout, run(PFM, "serve", "--help"))
        self.assertEqual(ours.stdout, run(PFM, "help", "serve"))

    def test_pfm_reports_its_absence(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(PFM, folder)
            done = subprocess.run([alone, "serve"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr, "pfm serve: cannot run %s/pfm-exporter: No such file or directory "
            "(Debian package perfmon-exporter)\n" % os.path.realpath(folder))

    def test_its_version_tells_what_the_build_left_out(self):
        version = subprocess.run([self.EXPORTER, "--version"], capture_output=True, text=True,
                                 check=True).stdout
        self.assertRegex(version, r"^pfm-exporter [0-9.]+( \(without libmicrohttpd: .*\))?\n$")
        if not shutil.which("readelf"):
            self.skipTest("readelf is missing (Debian package binutils)")
        needed = run("readelf", "-d", self.EXPORTER)
        self.assertEqual("libmicrohttpd" in needed, "without" not in version)


if __name__ == "__main__":
    tap.main()
