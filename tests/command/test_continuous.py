#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm record --continuous: rounds, limits of the folder, and receivers that take, refuse, or are
away."""
import calendar
import gzip
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import tap  # noqa: E402
from test_otlp import Receiver, decompress  # noqa: E402
from test_serve import PFM  # noqa: E402
from waiting import wait_until  # noqa: E402

EVENTS = ("-a", "-F", "99", "-e", "cpu-clock")


class Continuous(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "rounds")

    def start(self, *words, every="1", events=EVENTS, **more):
        return subprocess.Popen([
            PFM, "record", "--continuous", self.folder, "--round", "1", "--every", every, *words,
            *events
        ], stderr=subprocess.PIPE, text=True, **more)

    def record(self, *words, status=0, **more):
        with self.start(*words, **more) as p:
            _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, status, err)
        return err

    def files_now(self):
        return os.listdir(self.folder) if os.path.exists(self.folder) else []

    def files(self):
        return sorted(os.listdir(self.folder))

    def report(self, name):
        return subprocess.run([PFM, "report", os.path.join(self.folder, name)], capture_output=True,
                              text=True, check=True).stdout

    def test_rounds_with_events_in_turns(self):
        err = self.record("--rounds", "2", "--each-event",
                          events=("-a", "-F", "99", "-e", "cpu-clock,task-clock"))
        self.assertEqual(err, "")
        names = self.files()
        self.assertEqual(len(names), 2)
        for name, event in zip(names, ("cpu-clock", "task-clock")):
            self.assertRegex(name, r"^perf-\d{8}T\d{6}Z\.data$")
            self.assertTrue(self.report(name).startswith(event + ": "), name)

    def test_the_oldest_rounds_go_first(self):
        """The oldest go first, others' files stay, and each removal is reported."""
        os.mkdir(self.folder)
        for name, age in (("perf-20200101T000000Z.data", 1000), ("perf-20200102T000000Z.data", 0),
                          ("perf-20200103T000000Z.data", 0), ("notes.txt", 5000)):
            path = os.path.join(self.folder, name)
            with open(path, "wb") as f:
                f.write(b"x" * 1000000)
            os.utime(path, (time.time() - age, ) * 2)
        err = self.record("--rounds", "1", "--keep-age", "500", "--keep-bytes", "1900000")
        self.assertIn("removed perf-20200101T000000Z.data: older than --keep-age", err)
        self.assertIn("removed perf-20200102T000000Z.data: more than --keep-bytes", err)
        self.assertEqual([n for n in self.files() if n.startswith(("perf-2020", "notes"))],
                         ["notes.txt", "perf-20200103T000000Z.data"])

    def test_nothing_is_left_beside_the_files(self):
        """A program that is gone when its round ends would leave a copy under the name that the
        file had before."""
        program = os.path.join(os.path.dirname(self.folder), "gone")
        shutil.copy(shutil.which("sleep"), program)
        with subprocess.Popen([program, "60"]) as p:
            os.unlink(program)
            self.record("--rounds", "1")
            p.kill()
        self.assertEqual([n for n in self.files() if not n.endswith(".data")], [])

    def test_a_signal_ends_it(self):
        """Data of the current round is kept when a signal ends the recorder."""
        with self.start(every="1") as p:
            wait_until(lambda: os.path.isdir(self.folder) and any(
                n.endswith(".part") for n in self.files()))
            p.send_signal(signal.SIGTERM)
            _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)
        self.assertNotIn("failed", err)
        self.assertTrue(self.files() and not any(n.endswith(".part") for n in self.files()))

    def test_one_recorder_in_a_folder(self):
        with self.start("--rounds", "3") as first:
            wait_until(self.files_now)
            err = self.record("--rounds", "1", status=1)
            self.assertIn("another pfm record --continuous writes to " + self.folder, err)
            _, err = first.communicate(timeout=60)
        self.assertEqual((first.returncode, len(self.files())), (0, 3), err)

    def test_machines_take_turns(self):
        """The name of a machine decides when in the interval its rounds begin, so that a fleet does
        not push all at once."""
        every = 5

        def offset(name):
            """FNV-1a, folded, within the time that a round of one second leaves."""
            value = 0xcbf29ce484222325
            for c in name.encode():
                value = (value ^ c) * 0x100000001b3 % 2**64
            return (value ^ value >> 32) % ((every - 1) * 10**9) / 1e9

        names = ["node%d" % i for i in range(20)]
        chosen = [next(n for n in names if int(offset(n)) == k) for k in (0, 2)]
        started = []
        for name in chosen:
            folder = os.path.join(os.path.dirname(self.folder), name)
            started.append((name, folder,
                            subprocess.Popen([
                                "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name,
                                PFM, "record", "--continuous", folder, "--round", "1", "--every",
                                str(every), "--rounds", "1", *EVENTS
                            ], stderr=subprocess.PIPE, text=True)))
        for name, folder, p in started:
            _, err = p.communicate(timeout=60)
            if "unshare" in err or "hostname" in err:
                self.skipTest("a machine's name cannot be set here: " + err.strip())
            self.assertEqual((p.returncode, err), (0, ""))
            (file,) = os.listdir(folder)
            begin = calendar.timegm(time.strptime(file, "perf-%Y%m%dT%H%M%SZ.data"))
            self.assertIn((begin - int(offset(name))) % every, (0, 1), (name, file))

    def test_files_of_others_stay(self):
        """Files with users' names and files that are not regular stay; only the part that a killed
        recorder left is removed."""
        os.mkdir(self.folder)
        path = os.path.join(self.folder, "perf-2020010%dT000000Z.data")
        os.mkdir(path % 1)
        os.symlink(sys.executable, path % 2)
        os.mkfifo(path % 3)
        part = path % 4 + ".part"
        for name in (part, os.path.join(self.folder, "perf-before.data"), path % 5 + ".old"):
            with open(name, "w", encoding="ascii") as f:
                f.write("0" * 100)
            os.utime(name, (1, 1))
        before = set(self.files())
        err = self.record("--rounds", "1", "--keep-bytes", "1", "--keep-age", "1")
        self.assertEqual(before - set(self.files()), {os.path.basename(part)}, err)
        self.assertIn("removed %s: its round was cut off" % os.path.basename(part), err)

    def test_failed_rounds_are_reported(self):
        err = self.record("--rounds", "1", events=("-a", "-e", "nonsense_event"))
        self.assertRegex(err, r"the round of perf-\S+ failed: its samples are lost")
        self.assertEqual(self.files(), [])

    def test_a_round_that_cannot_be_written_is_reported(self):
        """A round that cannot be written is lost and reported; later rounds succeed when there is
        room."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        with self.start("--rounds", "2", every="2", preexec_fn=limit) as p:
            said = p.stderr.readline() + p.stderr.readline()
            self.assertIn("File too large", said)
            self.assertRegex(said, r"the round of perf-\S+ failed: its samples are lost")
            self.assertFalse([name for name in self.files_now() if name.endswith(".data")])
            resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (1 << 30, resource.RLIM_INFINITY))
            _, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertEqual(len(self.files()), 1)

    def test_wrong_options_are_refused(self):
        for words in (["--round", "5", "--every", "2"], ["-o", "x"], ["--round",
                                                                      "0"], ["--", "true"]):
            p = subprocess.run([PFM, "record", "--continuous", self.folder, *words],
                               capture_output=True, check=False)
            self.assertEqual(p.returncode, 2, words)


class Push(Continuous):
    """Each round goes to a receiver."""

    def without_curl(self, err):
        if "libcurl" in err:
            self.skipTest("no libcurl (Debian packages libcurl4-openssl-dev, libcurl4)")

    test_one_recorder_in_a_folder = (
        test_files_of_others_stay
    ) = test_machines_take_turns = test_disk_full = None
    test_rounds_with_events_in_turns = (
        test_limits
    ) = test_a_signal_ends_it = test_failed_rounds_are_reported = test_refused = None

    def test_rounds_are_pushed_to_pyroscope(self):
        with Receiver(200) as r:
            self.without_curl(self.record("--rounds", "1", "--push", r.url + "/ingest"))
        (path, headers, body), = r.got
        self.assertRegex(path, r"^/ingest\?name=perfmon%7B.*host_name.*%7D&format=pprof&"
                             r"from=(\d+)&until=(\d+)$")
        begin, end = map(int, re.findall(r"=(\d+)", path))
        self.assertTrue(end - begin == 1 and abs(end - time.time()) < 20)
        self.assertIn(b"cpu-clock", gzip.decompress(body))
        self.assertEqual(headers["Content-Type"], "application/octet-stream")
        self.assertEqual(self.files(), [])

    def test_names_are_pushed_on_demand(self):
        """The receiver finds names of functions by build ids, unless --names asks for them; those
        of the kernel it cannot find."""
        load = subprocess.Popen(["sh", "-c", 'while :; do "$0" list --json >/dev/null; done', PFM])
        try:
            for words, named in (([], False), (["--names"], True)):
                for path in "/ingest", "/v1development/profiles":
                    with Receiver(200) as r:
                        self.without_curl(
                            self.record("--rounds", "1", "--push", r.url + path, *words,
                                        events=("-a", "-F", "999", "-e", "cpu-clock", "-g")))
                    body = decompress(r.got[0][2])
                    self.assertRegex(body, rb"libperfmon\.so")
                    self.assertRegex(body, rb"[0-9a-f]{40}")
                    self.assertEqual(bool(re.search(rb"pfmi_\w{4}", body)), named, path)
                    self.assertIn(b"sys_execve", body)
        finally:
            load.kill()
            load.wait()

    def test_otlp_after_the_receiver_was_away(self):
        """Data that the receiver refuses stays in the folder and is sent in order later."""
        with Receiver(503, 200) as r:
            err = self.record("--rounds", "2", "--push", r.url + "/v1development/profiles")
            self.without_curl(err)
        self.assertIn("status 503", err)
        self.assertEqual(len(r.got), 3)
        self.assertEqual(r.got[0][2], r.got[1][2])
        self.assertNotEqual(r.got[1][2], r.got[2][2])
        self.assertEqual({(path, h["Content-Type"]) for path, h, _ in r.got},
                         {("/v1development/profiles", "application/x-protobuf")})
        self.assertIn(b"cpu-clock", decompress(r.got[0][2]))
        self.assertEqual(self.files(), [])

    def test_wrong_places_lose_nothing(self):
        """A receiver refuses all data because of the path, the rights or a fault of its own."""
        for n, status in enumerate((401, 404, 500)):
            with self.subTest(status), Receiver(status) as r:
                err = self.record("--rounds", "1", "--push", r.url)
                self.without_curl(err)
                self.assertIn("status %d" % status, err)
                self.assertNotIn("removed", err)
                self.assertEqual(len(self.files()), n + 1)

    def test_urls_that_are_not_http(self):
        for url in ("", "x", "http://", "https:///x", "http://:80", "file:///etc/passwd",
                    "telnet://127.0.0.1:9", "http://a b", "http://a\n", "http://\u00e9",
                    "http://a/" + "x" * 5000):
            for command in (["record", "-a", "--continuous", self.folder, "--push",
                             url], ["serve", "-e", "cs", "--otlp", url]):
                p = subprocess.run([PFM, *command], capture_output=True, text=True, check=False,
                                   timeout=20)
                self.assertEqual(p.returncode, 2, command)
                self.assertIn("a URL such as http://127.0.0.1:4", p.stderr)
        self.assertFalse(os.path.exists(self.folder))

    def test_refused_for_good(self):
        with Receiver(400) as r:
            err = self.record("--rounds", "1", "--push", r.url)
            self.without_curl(err)
        self.assertIn("status 400", err)
        self.assertRegex(err, r"removed perf-\S+: it cannot be sent")
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    tap.main()
