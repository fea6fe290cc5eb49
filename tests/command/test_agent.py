#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm agent: profiles of the machine, round after round, at receivers that take them or are away.

    PFM  the command
"""
import base64
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
sys.dont_write_bytecode = True
import tap  # noqa: E402
from protobuf import fields, packed  # noqa: E402
from test_otlp import Receiver, decompress  # noqa: E402
from test_serve import PFM  # noqa: E402
from waiting import wait_until  # noqa: E402

OTLP = "/v1development/profiles"
NUMBER = "%064x" % 0xc0ffee
UID = "00c0ffee-1d2c-4b3a-9f8e-%012x" % os.getpid()
BUSY = "while True: pass"


def find(message, *path):
    """The values at a path of numbers of fields."""
    found = [message]
    for number in path:
        found = [v for m in found for n, v in fields(m) if n == number]
    return found


def resource_of(body):
    """The attributes of the resource of ProfilesData."""
    return {dict(fields(a))[1].decode(): find(dict(fields(a))[2], 1)[0].decode()
            for a in find(body, 1, 1, 1)}


def samples_of(body):
    """Attributes of each sample."""
    strings = [s.decode("utf-8", "replace") for s in find(body, 2, 5)]
    table = []
    for attribute in find(body, 2, 6):
        a = dict(fields(attribute))
        value = dict(fields(a[2])) if 2 in a and a[2] else {}
        table.append((strings[a.get(1, 0)], value.get(1, b"").decode() or value.get(3)))
    for sample in find(body, 1, 2, 2, 2):
        yield dict(table[i] for i in packed(dict(fields(sample))[2]))


class Agent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "waiting")

    def start(self, url, *words, **more):
        p = subprocess.Popen([PFM, "agent", "--push", url, "--folder", self.folder, "--round", "1",
                              *words], stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def end(self, p, status=0):
        _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, status, err)
        return err

    @contextlib.contextmanager
    def busy(self, cgroup=None):
        """A process that always runs, in a control group if that is to be had."""
        with subprocess.Popen([sys.executable, "-c", BUSY]) as p:
            try:
                if cgroup:
                    with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as f:
                        f.write(str(p.pid))
                yield p
            finally:
                p.kill()
                p.wait()

    def test_profiles_name_their_machine(self):
        """OTLP's resource has the host and the labels; every sample its process."""
        with Receiver(200) as r, self.busy() as busy:
            err = self.end(self.start(r.url + OTLP, "--rounds", "2", "--label", "region=eu1",
                                      "--label", "service.name=shop"))
            self.assertEqual(len(r.got), 2)
        for path, headers, sent in r.got:
            body = decompress(sent)
            self.assertEqual(headers.get("Content-Encoding"), "gzip" if body != sent else None)
            self.assertEqual((path, headers["Content-Type"]), (OTLP, "application/x-protobuf"))
            resource = resource_of(body)
            self.assertEqual(resource["host.name"], socket.gethostname())
            self.assertEqual((resource["region"], resource["service.name"]), ("eu1", "shop"))
            self.assertRegex(resource["service.instance.id"], r"^[0-9a-f-]{36}$")
            self.assertEqual(resource["os.type"], "linux")
            pids = [s["process.pid"] for s in samples_of(body)]
            self.assertIn(busy.pid, pids)
            self.assertIn(b"process.executable.build_id.gnu", body)
            self.assertIn(b"pfm.lost_samples", body)
        # Rounds overlap: nothing is left out.
        self.assertIn("2 profiles, 0 failed; 100.00 % of the time was sampled", err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_variables_of_opentelemetry_are_read(self):
        """They set the receiver, headers and compression. A variable for profiles wins over one
        for all signals."""
        def pushed(url, **env):
            with Receiver(200) as r:
                env = {name: value.replace("URL", r.url) for name, value in env.items()}
                err = self.end(self.start(url or r.url + OTLP, "--rounds", "1",
                                          env={**os.environ, **env}))
                self.assertNotIn("s3cret", err)
                (got, ) = r.got
                return got

        path, headers, body = pushed(
            "env", OTEL_EXPORTER_OTLP_ENDPOINT="URL/base/",
            OTEL_EXPORTER_OTLP_HEADERS="api-key=s3cret%201,x-team=a",
            OTEL_EXPORTER_OTLP_COMPRESSION="none")
        self.assertEqual((path, headers["api-key"], headers["x-team"]),
                         ("/base" + OTLP, "s3cret 1", "a"))
        self.assertNotIn("Content-Encoding", headers)
        self.assertEqual(resource_of(body)["host.name"], socket.gethostname())
        path, headers, _ = pushed(
            "env", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
            OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT="URL/whole",
            OTEL_EXPORTER_OTLP_HEADERS="api-key=wrong",
            OTEL_EXPORTER_OTLP_PROFILES_HEADERS="api-key=right")
        self.assertEqual((path, headers["api-key"]), ("/whole", "right"))
        self.assertEqual(pushed(None, OTEL_EXPORTER_OTLP_HEADERS="api-key=x")[1]["api-key"], "x")
        for name, value in (("ENDPOINT", "localhost"), ("PROFILES_TIMEOUT", "soon"),
                            ("HEADERS", "s3cret"), ("PROFILES_HEADERS", "s3cret")):
            err = self.end(self.start("env", env={**os.environ,
                                                  "OTEL_EXPORTER_OTLP_" + name: value}), 1)
            self.assertIn("pfm agent: OTEL_EXPORTER_OTLP_%s: expected" % name, err)
            self.assertNotIn("s3cret", err)

    def test_pyroscope(self):
        """pprof, with labels in the name of the application."""
        with Receiver(200) as r:
            self.end(self.start(r.url + "/ingest?x=y", "--rounds", "1", "--label", "a.b=c d",
                                "--label", "9=e,f}g"))
        (path, headers, body), = r.got
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))
        name, labels = re.fullmatch(r"(\w+)\{(.*)\}", query["name"]).groups()
        labels = dict(part.split("=", 1) for part in labels.split(","))
        self.assertEqual((name, labels["host_name"], labels["a_b"], labels["_9"]),
                         ("perfmon", socket.gethostname(), "c d", "e_f_g"))
        self.assertEqual((query["x"], query["format"]), ("y", "pprof"))
        self.assertEqual(int(query["until"]) - int(query["from"]), 1)
        self.assertTrue(gzip.decompress(body))
        self.assertEqual(headers["Content-Type"], "application/octet-stream")

    def test_parca(self):
        """WriteRaw in JSON: labels, and pprof in base64."""
        with Receiver(200) as r, self.busy():
            self.end(self.start(r.url + "/api/profiles/writeraw", "--rounds", "1", "--label",
                                "region=eu1", "--label", "host.name=other", "--label",
                                "7th.of=x", "--label", "region=eu2"))
        (_, headers, body), = r.got
        self.assertEqual(headers["Content-Type"], "application/json")
        (series, ) = json.loads(body)["series"]
        labels = {l["name"]: l["value"] for l in series["labels"]["labels"]}
        # Parca refuses names that come twice, and names that Prometheus does not permit.
        self.assertEqual(len(labels), len(series["labels"]["labels"]))
        for name in labels:
            self.assertRegex(name, r"^[a-zA-Z_][a-zA-Z0-9_]*$")
        self.assertEqual((labels["__name__"], labels["region"], labels["host_name"],
                          labels["_7th_of"]), ("perfmon", "eu2", "other", "x"))
        (sample, ) = series["samples"]
        profile = gzip.decompress(base64.b64decode(sample["raw_profile"], validate=True))
        self.assertTrue(find(profile, 2), "no samples")
        self.assertRegex(profile, b"cpu-clock|cycles")

    def test_samples_name_their_container(self):
        """Samples of a container have its number, and that of its pod."""
        root = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else \
            "/sys/fs/cgroup"
        pod = os.path.join(root, "kubepods-test-%d" % os.getpid(), "pod" + UID)
        group = os.path.join(pod, NUMBER)
        try:
            os.makedirs(group)
        except OSError as e:
            self.skipTest("no control groups can be made here: " + str(e))
        try:
            with Receiver(200) as r, self.busy(group) as busy:
                self.end(self.start(r.url + OTLP, "--rounds", "2"))
        finally:
            for path in (group, pod, os.path.dirname(pod)):
                wait_until(lambda path=path: not os.path.exists(path) or not self.remove(path))
        own = [s for _, _, body in r.got for s in samples_of(decompress(body))
               if s["process.pid"] == busy.pid]
        self.assertTrue(own)
        if "linux.cgroup" not in own[0]:
            self.skipTest("this kernel samples no control groups")
        for s in own:
            self.assertTrue(s["linux.cgroup"].endswith(NUMBER), s)
            self.assertEqual((s["container.id"], s["k8s.pod.uid"]), (NUMBER, UID))

    @staticmethod
    def remove(path):
        """An error, or None."""
        try:
            os.rmdir(path)
        except OSError as e:
            return e
        return None

    def test_a_receiver_that_is_away(self):
        """Profiles wait in the folder, the oldest first, and are sent when it is back."""
        with Receiver(503) as r:
            p = self.start(r.url + OTLP)
            r.wait_for(2)
            waiting = [n for n in os.listdir(self.folder) if n.endswith(".data")]
            self.assertTrue(waiting)
            r.answers[:] = [200]
            wait_until(lambda: not set(waiting) & set(os.listdir(self.folder)))
            p.send_signal(signal.SIGTERM)
            err = self.end(p)
        self.assertIn("the receiver answers with status 503", err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_page_is_no_receiver(self):
        """The server of a user interface answers every path with a page and status 200."""
        with Receiver((200, {"Content-Type": "text/html; charset=utf-8"})) as r:
            err = self.end(self.start(r.url + "/profiles/writeraw", "--rounds", "1"))
        self.assertIn("a user interface answers: correct the path", err)
        self.assertEqual(len([n for n in os.listdir(self.folder) if n.endswith(".data")]), 1)

    def test_budget(self):
        """Above the budget fewer samples are taken, down to one a second."""
        with Receiver(200) as r:
            err = self.end(self.start(r.url + OTLP, "--rounds", "4", "--budget", "cpu=0.001%",
                                      "-F", "4"))
        self.assertIn("now 2 samples a second", err)
        self.assertIn("now 1 samples a second", err)

    def test_refusals(self):
        for words, problem in (
            ([], "expected --push"), (["--push", "x"], "expected a URL"),
            (["--push", "http://127.0.0.1:1", "--label", "x"], "labels NAME=VALUE"),
            (["--push", "http://127.0.0.1:1", "--label", "a b=c"], "labels NAME=VALUE"),
            (["--push", "http://127.0.0.1:1", "--label", "a" * 63 + "=c"], "up to 62 bytes"),
            (["--push", "http://127.0.0.1:1", "--budget", "1%"], "expected cpu=PERCENT"),
            (["--push", "http://127.0.0.1:1", "more"], "expected options only")):
            done = subprocess.run([PFM, "agent", *words], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(problem, done.stderr)
        done = subprocess.run([PFM, "agent", "--push", "http://127.0.0.1:1", "--folder",
                               self.folder, "-e", "nonsense"], capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the recorder does not sample; its messages tell why", done.stderr)


if __name__ == "__main__":
    tap.main()
