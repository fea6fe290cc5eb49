#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve --api: counts that programs of the machine ask for.

    PFM  the command
"""
import fcntl
import json
import os
import pwd
import resource
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
from test_containers import Scripted  # noqa: E402
from test_serve import OPENMETRICS, SOURCE, Server, ask  # noqa: E402
from waiting import wait_until  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Client:
    def __init__(self, path, request=None):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(60)
        self.s.connect(path)
        self.lines = self.s.makefile("r")
        if request is not None:
            self.send(request)

    def send(self, request):
        text = request if isinstance(request, str) else json.dumps(request)
        self.s.sendall(text.encode() + b"\n")

    def read(self):
        """The next object; None at the end."""
        line = self.lines.readline()
        return json.loads(line) if line else None

    def rest(self):
        return list(iter(self.read, None))

    def close(self):
        self.lines.close()
        self.s.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Requests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "api")

    def serve(self, *words, **more):
        s = Server("--api", self.path, "--textfile", os.path.join(self.folder, "x.prom"), "-e",
                   "page-faults", *words, **more)
        self.addCleanup(s.__exit__)
        s.wait_for("listening on " + self.path)
        return s

    def ask(self, request):
        with Client(self.path, request) as c:
            return c.rest()

    def test_counts_of_a_time(self):
        """Lines of each interval, whose counts add up to what a program did meanwhile."""
        s = self.serve()
        pages, n = 3000, 0
        with Client(self.path, {"events": ["page-faults", "{context-switches,task-clock}"],
                                "seconds": 2, "interval_ms": 250}) as c:
            self.assertEqual(c.read(),
                             {"counting": {"events": 2, "seconds": 2, "interval": 0.25}})
            subprocess.run([sys.executable, "-c",
                            "import mmap\nm = mmap.mmap(-1, 4096 * %d)\n"
                            "m.madvise(mmap.MADV_NOHUGEPAGE)\n"
                            "for i in range(%d): m[i * 4096] = 1" % (pages, pages)], check=True)
            answers = c.rest()
        self.assertIn("end", answers[-1])
        self.assertGreaterEqual(answers[-1]["end"], 2)
        ends = [a["interval_end"] for a in answers if "interval_end" in a]
        self.assertGreaterEqual(len(ends), 3)
        self.assertEqual(ends, sorted(ends))
        counts = [a for a in answers if "event" in a]
        n = sum(a["value"] for a in counts if a["event"] == "page-faults")
        self.assertGreaterEqual(n, pages)
        self.assertEqual({a["event"] for a in counts},
                         {"page-faults", "context-switches", "task-clock"})
        self.assertEqual({a["quality"] for a in counts}, {"exact"})
        if jsonschema:
            with open(os.path.join(SOURCE, "docs/schema/serve-api.json"), encoding="utf-8") as f:
                validator = jsonschema.Draft202012Validator(json.load(f))
            for a in answers:
                if "event" not in a:
                    validator.validate(a)
        # The request is in the log, with its process and user.
        self.assertIn("process %d of user %d: {\"events\"" % (os.getpid(), os.getuid()), s.end())

    def test_wrong_requests_name_their_problem(self):
        s = self.serve()
        for request, problem in (
            ("x", "expected near 'x'"), ("[]", "expected an object"),
            ('{"seconds": 1, "seconds": 2}', "duplicate object key"),
            ({"event": ["x"]}, "got 'event'"), ({"seconds": 1}, "expected seconds, and events"),
            ({"events": ["page-faults"]}, "expected seconds, and events"),
            ({"events": "page-faults", "seconds": 1}, "events: expected a list of texts"),
            ({"events": [], "seconds": 1}, "events: expected a list of texts"),
            ({"events": ["a,,b"], "seconds": 1}, "events: expected a list of texts"),
            ({"events": ["r1"] * 65, "seconds": 1}, "at most 64 events"),
            ({"events": ["page-faults"], "seconds": 0}, "seconds: expected a number from 1 to"),
            ({"events": ["page-faults"], "seconds": 1, "interval_ms": 1}, "interval_ms: expected"),
            ({"events": ["page-faults"], "seconds": 1, "per": "x"}, "per: expected cpu"),
            ({"events": ["page-faults"], "seconds": 1, "cgroup": "../.."}, "cgroup: expected"),
            ({"events": ["page-faults"], "seconds": 1, "cgroup": "a,b"}, "cgroup: expected"),
            ({"events": ["page-faults"], "seconds": 1, "cgroup": "no/group"}, "cgroup: expected"),
            ({"events": ["nonsense"], "seconds": 1}, "nonsense")):
            answers = self.ask(request)
            self.assertIn(problem, json.dumps(answers), request)
            self.assertIn("error", answers[0], request)
        self.assertEqual(self.ask({"events": ["page-faults"], "seconds": 1})[-1].keys(), {"end"})
        s.end()
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_mode_of_the_socket_says_who_may_ask(self):
        """The mode of the socket says who may: owner and group."""
        self.serve()
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o660)
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chmod(self.folder, 0o755)
            done = subprocess.run(
                ["setpriv", "--reuid=%d" % nobody.pw_uid, "--regid=%d" % nobody.pw_gid,
                 "--clear-groups", "/usr/bin/python3", "-c",
                 "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])",
                 self.path], capture_output=True, text=True, check=False)
            self.assertIn("PermissionError", done.stderr)

    def test_the_budget_holds_for_requests(self):
        """The budget of the service is that of its requests, too."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.serve("--budget", "files=180")
        answers = self.ask({"events": ["page-faults"] * 60, "seconds": 1})
        self.assertEqual(answers[0]["error"]["kind"], "budget")
        self.assertIn("open files do not suffice", answers[0]["error"]["message"])
        self.assertEqual(resource.getrlimit(resource.RLIMIT_NOFILE), (soft, hard))

    def test_a_spent_budget_refuses_with_a_time_to_wait(self):
        """While the processor time is used up, a request is refused, with the time to wait."""
        self.serve("--budget", "cpu=0.1%", "-I", "10")
        def find_refusal():
            with Client(self.path, {"events": ["page-faults", "task-clock"], "seconds": 1,
                                    "interval_ms": 100}) as c:
                return c.read().get("error")

        refused = wait_until(find_refusal)
        self.assertEqual(refused["kind"], "budget")
        self.assertIn("processor time", refused["message"])
        self.assertGreaterEqual(refused["retry_after"], 1)

    def test_sixteen_at_a_time(self):
        """Further ones are refused; silent clients give way; a client that closes ends its count,
        and no descriptor is left over."""
        s = self.serve()
        fds = "/proc/%d/fd" % s.p.pid
        self.ask({"events": ["page-faults"], "seconds": 1})
        before = len(os.listdir(fds))
        request = {"events": ["page-faults"], "seconds": 600}
        silent = [Client(self.path) for _ in range(40)]
        clients = [Client(self.path, request) for _ in range(16)]
        for c in clients:
            self.assertIn("counting", c.read())
        self.assertIn("16 requests", self.ask(request)[0]["error"]["message"])
        for c in silent + clients:
            c.close()
        wait_until(lambda: len(os.listdir(fds)) <= before)
        self.assertEqual(len(os.listdir(fds)), before)
        with Client(self.path, request) as c:
            self.assertIn("counting", c.read())

    def test_a_pause_ends_counts(self):
        """While another program has the lock, nothing is counted, and no new request is taken."""
        lock = os.path.join(self.folder, "lock")
        self.serve("--give-way=" + lock)
        request = {"events": ["page-faults"], "seconds": 60, "interval_ms": 60000}
        with Client(self.path, request) as c, open(lock, "rb") as held:
            self.assertIn("counting", c.read())
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertEqual(c.read()["error"]["kind"], "paused")
            self.assertIsNone(c.read())
            self.assertEqual(self.ask(request)[0]["error"]["kind"], "paused")

    def test_a_half_closed_client_gets_its_answer(self):
        """A client that has sent all of its request, as nc -N does, gets its answer."""
        self.serve()
        with Client(self.path) as c:
            c.s.sendall(b'{"events": ["page-faults"], "seconds": 1}')
            c.s.shutdown(socket.SHUT_WR)
            self.assertIn("end", c.rest()[-1])

    def test_requests_are_counted(self):
        """Requests and refusals are counted, and those under way."""
        path = os.path.join(self.folder, "http")
        with Server("--api", self.path, "--listen", "unix:" + path, "-e", "page-faults") as s:
            try:
                s.wait_for("listening on " + self.path)
            except AssertionError:
                self.skipTest("no libmicrohttpd")
            self.ask("x")
            with Client(self.path, {"events": ["page-faults"], "seconds": 60}) as c:
                c.read()
                f = openmetrics.parse(ask(path, OPENMETRICS)[2])
        self.assertEqual(openmetrics.value(f, "perfmon_api_requests"), 2)
        self.assertEqual(openmetrics.value(f, "perfmon_api_refusals"), 1)
        self.assertEqual(openmetrics.value(f, "perfmon_api_counts"), 1)


class Groups(Scripted):
    def test_a_request_counts_one_group(self):
        """Counts of one control group, whose name the lines have."""
        self.make("batch/job")
        path = os.path.join(self.place.folder, "api")
        with Server("--api", path, "--textfile", os.path.join(self.place.folder, "x.prom"), "-e",
                    "page-faults", program=("scripted", "serve"), env=self.place.env,
                    cwd=self.place.folder) as s:
            s.wait_for("listening on " + path)
            for name in ("batch/job", os.path.join(self.groups, "batch/job")):
                with Client(path, {"events": ["page-faults"], "cgroup": name, "seconds": 1}) as c:
                    answers = c.rest()
                (count, ) = [a for a in answers if "event" in a]
                self.assertEqual(count["cgroup"], name)
            s.end()


if __name__ == "__main__":
    tap.main()
