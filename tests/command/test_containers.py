#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve --containers: control groups as each engine and driver lays them out, on folders, and a
kubelet that is an HTTP server of the test."""
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
import test_answers  # noqa: E402
import test_otlp  # noqa: E402
from http_server import HttpServer  # noqa: E402
from test_serve import OPENMETRICS, PFM, SOURCE, Scraper, Server, ask, quality  # noqa: E402
from waiting import wait_until  # noqa: E402

CLASSES = ("Guaranteed", "Burstable", "BestEffort")
SCHEMES = {"containerd": "containerd", "cri-o": "cri-o", "docker": "docker"}
PREFIXES = {"containerd": "cri-containerd-", "cri-o": "crio-", "docker": "docker-",
            "podman": "libpod-"}


# Page faults of the script on four CPUs, for the event that is opened after that of the machine.
SECOND = 4 * (1234567 + 123456) + 6


def make_id(n):
    return "%064x" % (0xa5 << 200 | n << 20 | 7)


def make_uid(n):
    return "%08x-1d2c-4b3a-9f8e-%012x" % (n + 0xc0ffee, n)


def make_folder(driver, engine, qos, uid, number):
    """The folder of a container, as the documentation of kubelet and of the engines has it."""
    if driver == "systemd":
        name = {"Guaranteed": "", "Burstable": "-burstable", "BestEffort": "-besteffort"}[qos]
        middle = "kubepods%s.slice/" % name if name else ""
        return "kubepods.slice/%skubepods%s-pod%s.slice/%s%s.scope" % (
            middle, name, uid.replace("-", "_"), PREFIXES[engine], number)
    middle = "" if qos == "Guaranteed" else qos.lower() + "/"
    return "kubepods/%spod%s/%s%s" % (middle, uid, "crio-" if engine == "cri-o" else "", number)


class Kubelet(HttpServer):
    """GET /pods of the pods in self.pods. @answers: what it does with each request, the last one
    from then on: 200, another status, "garbage" or a time to wait in seconds."""

    def __init__(self, *answers, certificate=None):
        self.pods, self.answers, self.got = {}, list(answers) or [200], []
        kubelet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kubelet.got.append((self.path, dict(self.headers)))
                answer = kubelet.answers.pop(0) if len(kubelet.answers) > 1 else kubelet.answers[0]
                if isinstance(answer, float):
                    kubelet.stop.wait(answer)
                    answer = 200
                text = b"<html>" if answer == "garbage" else json.dumps(kubelet.list()).encode()
                self.send_response(200 if answer == "garbage" else answer)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        super().__init__(Handler, certificate=certificate)

    def add(self, uid, namespace, pod, engine="containerd", kind="containerStatuses", **containers):
        """A pod with containers: name=number."""
        self.pods[uid] = {
            "metadata": {"uid": uid, "namespace": namespace, "name": pod},
            "status": {kind: [{
                "name": name, "image": "registry.example.org/%s:1" % name,
                "containerID": "%s://%s" % (engine, number)
            } for name, number in containers.items()]}
        }

    def list(self):
        return {"kind": "PodList", "apiVersion": "v1", "items": list(self.pods.values())}


class Scripted(unittest.TestCase):
    def setUp(self):
        self.place = test_answers.Place()
        self.addCleanup(self.place.close)
        self.groups = os.path.join(self.place.folder, "groups")
        self.scrapers = {}
        os.mkdir(self.groups)
        self.mount("none %s cgroup2 rw 0 0\n" % self.groups)

    def mount(self, text):
        with open(os.path.join(self.place.folder, "mounts"), "w", encoding="ascii") as f:
            f.write(text)

    def make(self, *folders):
        for folder in folders:
            os.makedirs(os.path.join(self.groups, folder))

    def remove(self, *folders):
        for folder in folders:
            os.rmdir(os.path.join(self.groups, folder))

    def serve(self, *words, env=None):
        return Server("--listen", "127.0.0.1:0", "-I", "10", "-e", "page-faults", "--containers",
                      *words, program=("scripted", "serve"), env={**self.place.env, **(env or {})},
                      cwd=self.place.folder)

    def read(self, address):
        """A reading that was made after the call."""
        return self.scrapers.setdefault(address, Scraper(address)).read()

    def labels(self, f):
        """The labels of each group, without those of the event; that of the machine is {}."""
        return [{k: v for k, v in own if k not in ("event", "pmu")}
                for own in f["perfmon_event_quality_rank"].samples]

    def until(self, address, condition):
        def read_wanted():
            f = self.read(address)
            return f if condition(f) else None

        return wait_until(read_wanted)


class Names(Scripted):
    def make_tree(self, kubelet=None):
        """All drivers, engines and classes. The wanted labels."""
        wanted, n = [{}], 0
        for driver in ("systemd", "cgroupfs"):
            for engine, scheme in SCHEMES.items():
                for qos in CLASSES:
                    n += 1
                    uid, number = make_uid(n), make_id(n)
                    self.make(make_folder(driver, engine, qos, uid, number))
                    if kubelet:
                        kubelet.add(uid, "ns%d" % (n % 3), "pod-%d" % n, scheme, app=number)
                    wanted.append({
                        "namespace": "ns%d" % (n % 3), "pod": "pod-%d" % n, "container": "app",
                        "image": "registry.example.org/app:1", "container_id": number
                    })
        return wanted

    def test_every_container_is_named(self):
        with Kubelet() as kubelet:
            wanted = self.make_tree(kubelet)
            # Beside them: the engine's own groups, services, and folders with a number.
            self.make("kubepods.slice/crio-conmon-%s.scope" % make_id(90),
                      "system.slice/ssh.service", "other/" + make_id(91),
                      "system.slice/docker-%s.scope" % make_id(92)[1:])
            for hierarchy in ("none %s cgroup2 rw 0 0\n" % self.groups,
                              "none %s cgroup rw,perf_event 0 0\n" % self.groups):
                self.mount(hierarchy)
                with self.serve("--kubelet", kubelet.url) as s:
                    f = self.until(s.address(), lambda f: len(self.labels(f)) >= len(wanted))
                    s.end()
                found = self.labels(f)
                for labels in wanted:
                    self.assertIn(labels, found)
                self.assertEqual(len(found), len(wanted))
                # The machine, beside its groups.
                self.assertEqual(found.count({}), 1)
                self.assertEqual(len(f["perfmon_event_quality_rank"].samples), len(wanted))

    def test_without_a_kubelet(self):
        """The path tells the pod's number and, with systemd, the engine."""
        self.make_tree()
        self.make("system.slice/docker-%s.scope" % make_id(50), "docker/" + make_id(51),
                  "machine.slice/libpod-%s.scope/container" % make_id(52),
                  "user.slice/user-1000.slice/libpod-payload-" + make_id(53),
                  # a cluster within a container (kind)
                  "docker/%s/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
                  "kubelet-kubepods-burstable-pod%s.slice/cri-containerd-%s.scope" %
                  ("x" * 64, make_uid(54).replace("-", "_"), make_id(54)))
        with self.serve() as s:
            found = self.labels(self.read(s.address()))
        by_id = {labels.get("container_id"): labels for labels in found}
        self.assertEqual(len(by_id), 18 + 5 + 1)
        for number, engine, uid in ((50, "docker", None), (51, "docker", None),
                                    (52, "podman", None), (53, "podman", None),
                                    (54, "containerd", make_uid(54)),
                                    (1, "containerd", make_uid(1)),
                                    (5, "cri-o", make_uid(5)), (9, "docker", make_uid(9))):
            labels = by_id[make_id(number)]
            self.assertEqual((labels["runtime"], labels.get("pod_uid")), (engine, uid), number)

    def test_other_containers_of_a_pod(self):
        """Init and ephemeral containers; a static pod, whose group has the hash of its file; a
        sandbox has the labels of its pod."""
        with Kubelet() as kubelet:
            uid, hashed = make_uid(1), "0123456789abcdef0123456789abcdef"
            kubelet.add(uid, "a", "one", kind="initContainerStatuses", first=make_id(1))
            kubelet.add(make_uid(2), "a", "two", kind="ephemeralContainerStatuses",
                        debug=make_id(2))
            kubelet.add(make_uid(3), "kube-system", "etcd", etcd=make_id(3))
            kubelet.pods[make_uid(3)]["metadata"]["annotations"] = {
                "kubernetes.io/config.hash": hashed}
            for n, pod in ((1, uid), (2, make_uid(2)), (3, hashed)):
                self.make("kubepods/burstable/pod%s/%s" % (pod, make_id(n)))
            with self.serve("--kubelet", kubelet.url) as s:
                f = self.until(s.address(), lambda f: len(self.labels(f)) == 4)
        names = {(x.get("pod"), x.get("container")) for x in self.labels(f)}
        self.assertEqual(names, {("one", "first"), ("two", "debug"), ("etcd", "etcd"),
                                 (None, None)})


class Conventions(Scripted):
    def test_otlp_has_the_names_of_the_semantic_conventions(self):
        """Containers and CPUs in requests to an OpenTelemetry receiver."""
        if not shutil.which("protoc"):
            self.skipTest("protoc is missing (Debian package protobuf-compiler)")
        test_otlp.setUpModule()    # skips without libcurl
        uid, number = make_uid(1), make_id(1)
        self.make(make_folder("systemd", "containerd", "Burstable", uid, number))
        with Kubelet() as kubelet, test_otlp.Receiver(200) as r:
            kubelet.add(uid, "shop", "db-0", db=number)
            with self.serve("--kubelet", kubelet.url, "--otlp", r.url, "--per-cpu") as s:
                address = s.address()
                self.until(address, lambda f: any("pod" in x for x in self.labels(f)))
                n = len(r.got)
                r.wait_for(n + 2)
        _, headers, body = r.got[n + 1]
        (unit, kind, points, _) = test_otlp.metrics_of(body, headers)["node_perf_page_faults"]
        named = [labels for labels, _, _ in points if "container.id" in labels]
        self.assertEqual({x["cpu.logical_number"] for x, _, _ in points}, {0, 1, 2, 3})
        self.assertEqual(len(named), 4)
        for labels in named:
            del labels["cpu.logical_number"]
            self.assertEqual(labels, {
                "event": "page-faults", "pmu": "software", "k8s.namespace.name": "shop",
                "k8s.pod.name": "db-0", "k8s.container.name": "db", "container.id": number,
                "container.image.name": "registry.example.org/db",
                "container.image.tags": ["1"]})
        self.assertEqual((unit, kind), ("", "sum"))


class Churn(Scripted):
    def test_series_begin_with_their_names(self):
        """A container that the kubelet does not list so far has no series; then it has its names,
        and its count includes the time before."""
        with Kubelet() as kubelet:
            uid, number = make_uid(1), make_id(1)
            with self.serve("--kubelet", kubelet.url) as s:
                address = s.address()
                self.read(address)
                self.make(make_folder("systemd", "containerd", "Burstable", uid, number))
                for _ in range(3):
                    self.assertEqual(self.labels(self.read(address)), [{}])
                kubelet.add(uid, "a", "one", app=number)
                f = self.until(address, lambda f: len(self.labels(f)) == 2)
        self.assertIn("one", {x.get("pod") for x in self.labels(f)})
        self.assertEqual(openmetrics.value(f, "node_perf_page_faults", pod="one"), SECOND)
        self.assertEqual(quality(f, event="page-faults", pod="one"), "exact")

    def test_last_counts_are_served_once_more(self):
        uid, number = make_uid(1), make_id(1)
        folder = make_folder("systemd", "containerd", "Burstable", uid, number)
        self.make(folder)
        with self.serve() as s:
            address = s.address()
            self.assertEqual(len(self.labels(self.read(address))), 2)
            self.remove(folder)
            f = self.read(address)
            self.assertEqual(openmetrics.value(f, "node_perf_page_faults", container_id=number),
                             SECOND)
            self.assertEqual(self.labels(self.read(address)), [{}])

    def test_6000_containers_leave_no_series(self):
        """6,000 containers, 500 at a time. The scripted kernel allows as many files as 1,100 groups
        need on its four CPUs; no series is left over, and descriptors and memory stay the same."""
        parent = "kubepods.slice/kubepods-burstable.slice"
        self.make(parent)
        with self.serve(env={"PFM_SCRIPT_FILES": "5500"}) as s:
            address, first, previous = s.address(), None, []
            for i in range(12):
                folders = [make_folder("systemd", "containerd", "Burstable", make_uid(i),
                                       make_id(500 * i + k)) for k in range(500)]
                self.make(*folders)
                found = {x["container_id"] for x in self.labels(self.read(address)) if x}
                self.assertLessEqual({make_id(500 * i + k) for k in range(500)}, found)
                self.assertLessEqual(len(found), 1000)
                self.remove(*folders)
                os.rmdir(os.path.join(self.groups, os.path.dirname(folders[0])))
                previous = folders
            self.read(address)
            for _ in range(2):
                f = self.read(address)
                self.assertEqual(self.labels(f), [{}])
                now = (openmetrics.value(f, "process_open_fds"),
                       openmetrics.value(f, "perfmon_series"))
                first = first or now
                self.assertEqual(now, first)
            self.assertEqual(len(previous), 500)
            self.assertEqual((openmetrics.value(f, "perfmon_cgroups_added"), openmetrics.value(
                f, "perfmon_cgroups_removed")), (6000, 6000))
            print("# %.1f MB" % (openmetrics.value(f, "process_resident_memory_bytes") / 1e6))
            s.end()


class Requests(Scripted):
    def test_the_token_is_read_for_each_request(self):
        """It is read for each request, and is in no message."""
        token = os.path.join(self.place.folder, "token")
        self.make(make_folder("systemd", "cri-o", "BestEffort", make_uid(1), make_id(1)))
        with open(token, "w", encoding="ascii") as f:
            f.write("s3cret1\n")
        with Kubelet(401, 200) as kubelet:
            with self.serve("--kubelet", kubelet.url + "/", "--kubelet-token", token) as s:
                address = s.address()
                s.wait_for("status 401")
                with open(token, "w", encoding="ascii") as f:
                    f.write("s3cret2")
                kubelet.add(make_uid(1), "a", "one", app=make_id(1))
                f = self.until(address, lambda f: "one" in str(self.labels(f)))
                said = s.end() + "".join(s.said)
        self.assertEqual([path for path, _ in kubelet.got[:2]], ["/pods", "/pods"])
        self.assertEqual([headers["Authorization"] for _, headers in kubelet.got[:2]],
                         ["Bearer s3cret1", "Bearer s3cret2"])
        self.assertNotIn("s3cret", said)
        self.assertEqual(openmetrics.value(f, "perfmon_kubelet_failures"), 1)
        self.assertGreaterEqual(openmetrics.value(f, "perfmon_kubelet_answers"), 1)

    def test_a_faulty_kubelet_does_not_stop_scrapes(self):
        """Garbage and a slow answer: scrapes go on, and the names come later."""
        self.make(make_folder("systemd", "cri-o", "BestEffort", make_uid(1), make_id(1)))
        with Kubelet("garbage", 1.0, 200) as kubelet:
            kubelet.add(make_uid(1), "a", "one", app=make_id(1))
            with self.serve("--kubelet", kubelet.url) as s:
                address = s.address()
                longest, end = 0, time.monotonic() + 20
                while True:
                    begin = time.monotonic()
                    f = self.read(address)
                    longest = max(longest, time.monotonic() - begin)
                    if "one" in str(self.labels(f)):
                        break
                    self.assertLess(time.monotonic(), end)
                self.assertLess(longest, 0.9)
                self.assertIn("not a list of pods", s.end() + "".join(s.said))

    def test_numbers_replace_names_after_10_seconds(self):
        """Without names, the numbers of the path are served after ten seconds at the latest."""
        self.make(make_folder("systemd", "cri-o", "BestEffort", make_uid(1), make_id(1)))
        with self.serve("--kubelet", "http://127.0.0.1:1") as s:
            address = s.address()
            begin = time.monotonic()
            f = self.until(address, lambda f: len(self.labels(f)) == 2)
            self.assertLess(time.monotonic() - begin, 20)
            self.assertIn({"pod_uid": make_uid(1), "runtime": "cri-o", "container_id": make_id(1)},
                          self.labels(f))

    def test_certificates_of_the_kubelet_are_checked(self):
        from test_web import Files    # pylint: disable=import-outside-toplevel
        files = Files()
        self.addCleanup(files.close)
        self.make(make_folder("systemd", "cri-o", "BestEffort", make_uid(1), make_id(1)))
        pair = files.path("server.pem"), files.path("server.key")
        with Kubelet(certificate=pair) as kubelet:
            kubelet.add(make_uid(1), "a", "one", app=make_id(1))
            for authority in (files.path("ca.pem"), "none"):
                with self.serve("--kubelet", kubelet.url, "--kubelet-ca", authority) as s:
                    self.until(s.address(), lambda f: "one" in str(self.labels(f)))
            before = len(kubelet.got)
            with self.serve("--kubelet", kubelet.url, "--kubelet-ca",
                            files.path("stranger.pem")) as s:
                s.address()
                self.assertRegex(s.wait_for("certificate"), "certificate")
            self.assertEqual(len(kubelet.got), before)

    def test_wrong_options_are_refused(self):
        for words in (["--kubelet", "http://127.0.0.1:10255"],
                      ["--containers", "--kubelet", "127.0.0.1:10255"],
                      ["--containers", "--for-each-cgroup", "x"]):
            done = subprocess.run([PFM, "serve", *words], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, words)


class Filter(unittest.TestCase):
    """The system calls of examples/container."""

    def test_kubelet_and_receiver(self):
        """Each system call of the service when it asks a kubelet and sends to a receiver is allowed."""
        from test_otlp import Receiver    # pylint: disable=import-outside-toplevel
        if not shutil.which("strace"):
            self.skipTest("strace is missing (Debian package strace)")
        with open(os.path.join(SOURCE, "examples/container/perfmon-seccomp.json"),
                  encoding="utf-8") as f:
            allowed = {name for rule in json.load(f)["syscalls"] for name in rule["names"]}
        with tempfile.TemporaryDirectory() as folder, Kubelet() as kubelet, Receiver(200) as r:
            with Server("-f", "-o", folder + "/trace", PFM, "serve", "--containers", "--kubelet",
                        kubelet.url, "--otlp", r.url, "-I", "20", "-e", "task-clock",
                        program=("strace", )) as s:
                try:
                    s.wait_for("sending to")
                except AssertionError as e:
                    self.skipTest(str(e))    # control groups, libcurl, or the right to trace
                r.wait_for(2)
                with open("/proc/%d/task/%d/children" % (s.p.pid, s.p.pid), encoding="ascii") as f:
                    os.kill(int(f.read()), signal.SIGTERM)
                s.p.communicate(timeout=20)
            with open(folder + "/trace", encoding="utf-8", errors="replace") as f:
                called = set(re.findall(r"^\d+ +(\w+)\(", f.read(), re.M))
        self.assertGreaterEqual(len(kubelet.got), 1)
        self.assertEqual(called - allowed, set())


class Live(unittest.TestCase):
    """A group of this machine."""

    def find_mount(self):
        with open("/proc/self/mounts", encoding="utf-8") as f:
            mounts = [line.split() for line in f]
        if any(m[2] == "cgroup" and "perf_event" in m[3] for m in mounts):
            self.skipTest("perf's control groups are of version 1 here")
        for m in mounts:
            if m[2] == "cgroup2":
                return m[1]
        return self.skipTest("no control groups of version 2 are mounted")

    def test_the_task_clock_equals_cpu_stat(self):
        """The task clock of a container is the kernel's own figure in cpu.stat."""
        folder = os.path.join(self.find_mount(), "docker", make_id(7))
        try:
            os.makedirs(folder)
        except OSError as e:
            self.skipTest(str(e))
        self.addCleanup(os.rmdir, os.path.dirname(folder))
        self.addCleanup(os.rmdir, folder)
        program = (
            "import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass\n"
            "input()\n"
        )
        with Server("--listen", "127.0.0.1:0", "--containers", "-e", "task-clock") as s:
            address = s.address()
            first = openmetrics.parse(ask(address, OPENMETRICS)[2])
            with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE,
                                  preexec_fn=lambda: self.enter(folder)) as p:
                wait_until(lambda: self.read_usage(folder) >= 1)
                f = openmetrics.parse(ask(address, OPENMETRICS)[2])
                usage = self.read_usage(folder)
                p.communicate(b"\n")
        clock = openmetrics.value(f, "perfmon_event_seconds", container_id=make_id(7))
        if clock is None:
            self.fail(str(f["perfmon_event_cause"].samples))
        self.assertEqual(openmetrics.value(first, "perfmon_event_seconds",
                                           container_id=make_id(7)), 0)
        print("# task-clock %.4f s, cpu.stat %.4f s" % (clock, usage))
        self.assertLess(abs(clock - usage), 0.02 * usage + 0.01)

    @staticmethod
    def enter(folder):
        with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write("0")

    @staticmethod
    def read_usage(folder):
        with open(os.path.join(folder, "cpu.stat"), encoding="ascii") as f:
            return int(re.search(r"usage_usec (\d+)", f.read())[1]) / 1e6


if __name__ == "__main__":
    tap.main()
