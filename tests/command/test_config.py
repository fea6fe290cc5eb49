#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve --config: its errors, its jobs, and what happens when the file changes.

    PFM  the command
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
from test_serve import OPENMETRICS, PFM, SOURCE, Server, ask  # noqa: E402
from waiting import wait_until  # noqa: E402

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

# A file, the place of its error, and words of the message.
REFUSED = (
    ("", "1:1", "expected a mapping with the member 'jobs'"),
    ("jobs: 3", "1:7", "expected a list of jobs"),
    ("jobs: []", "1:7", "expected a list of jobs"),
    ("jobs: [{name: a}]\nrules: 1", "2:1", "the key is not known"),
    ("jobs:\n - events: [page-faults]\n", "2:4", "expected the member 'name'"),
    ("jobs: [{name: a b}]", "1:15", "expected 1 to 64 letters"),
    ("jobs: [{name: a, event: [x]}]", "1:18", "Did you mean 'events'?"),
    ("jobs: [{name: a, events: x}]", "1:26", "expected a list of texts"),
    ("jobs: [{name: a, events: []}]", "1:26", "expected a list of texts"),
    ("jobs: [{name: a, events: ['a,,b']}]", "1:27", "expected names separated by commas"),
    ("jobs: [{name: a, interval_ms: 3}]", "1:31", "from 10 to 86400000, got '3'"),
    ("jobs: [{name: a, interval_ms: x}]", "1:31", "expected a whole number"),
    ("jobs: [{name: a, containers: 1}]", "1:30", "expected true or false"),
    ("jobs: [{name: a, per: sockt}]", "1:23", "expected cpu, core, die, socket or node"),
    ("jobs: [{name: a, cpus: 0-}]", "1:24", "expected CPU numbers"),
    ("jobs: [{name: a, budget: {cpu: 1}}]", "1:32", "cpu=0.5%"),
    ("jobs: [{name: a, budget: {fils: 1}}]", "1:27", "Did you mean 'files'?"),
    ("jobs: [{name: a, kubelet: {url: x}}]", "1:33", "expected a URL"),
    ("jobs: [{name: a, otlp: x}]", "1:24", "expected env, or a URL"),
    ("jobs: [{name: a, wishes: [ipc=3]}]", "1:8", "--wish and --shift need --rotate"),
    ("jobs: [{name: a, textfile: x}, {name: a, textfile: y}]", "1:39", "choose a new one"),
    ("jobs: [{name: a}, {name: b}]", "1:19", "each job needs outputs of its own"),
    ("jobs: [{name: a, lines: x}, {name: b, lines: x}]", "1:46", "job 'a' has 'x' already"),
    ("jobs: [{name: a, lines: '${SVC_NO}'}]", "1:25", "variable SVC_NO of the environment is"),
    ("jobs: [{name: a, lines: 'x${a'}]", "1:25", "expected ${NAME}, got '${a'"),
    ("jobs: [{name: a, name: b}]", "1:18", "there already"),
    ("jobs:\n - name: a\n   events: [x\n", "4:1", "did not find expected"),
)
# Those that a schema cannot find: places in the file as a whole, or texts of a grammar of ours.
BEYOND_SCHEMA = re.compile("of the environment|NAME|commas|CPU numbers|need --rotate|choose a new|"
                           "outputs of its own|already|did not find|'jobs'|env, or a URL")


def check(path, status=0):
    done = subprocess.run([PFM, "serve", "--check-config", path], capture_output=True, text=True,
                          check=False, timeout=30)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stderr if status else done.stdout


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PFM, "serve", "--check-config", "/nonexistent"],
                              capture_output=True, text=True, check=False)
        if "without libyaml" in done.stderr:
            raise unittest.SkipTest("no libyaml (Debian package libyaml-dev)")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = self.file("serve.yml")

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, path=None):
        """Replaces the file at once, as editors do."""
        path = path or self.path
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(text if isinstance(text, str) else json.dumps({"jobs": text}))
        os.rename(path + ".new", path)

    def job(self, name, **members):
        return {"name": name, "events": ["page-faults"], "listen": ["unix:" + self.file(name)],
                **members}


class Errors(Files):
    def test_errors_name_file_line_and_column(self):
        """Each error names the file, line and column of the token."""
        for text, place, problem in REFUSED:
            self.write(text)
            err = check(self.path, status=1)
            self.assertIn("%s:%s: " % (self.path, place), err, text)
            self.assertIn(problem, err, text)
        self.assertIn("No such file", check(self.file("nowhere"), status=1))

    def test_other_options_are_refused(self):
        self.write([self.job("a")])
        for words in (["--config", self.path, "-e", "cycles"], ["-I50", "--config", self.path]):
            done = subprocess.run([PFM, "serve", *words], capture_output=True, text=True,
                                  check=False, timeout=30)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--config stands alone", done.stderr)

    def test_variables_of_the_environment_are_replaced(self):
        """${NAME} is a variable of the environment, as Kubernetes sets the node's address."""
        self.write([self.job("a", kubelet={"url": "https://${SVC_IP}:${SVC_PORT}/x"},
                             containers=True)])
        for ip, status in (("127.0.0.1", 0), ("", 1)):
            done = subprocess.run([PFM, "serve", "--check-config", self.path], check=False,
                                  capture_output=True, timeout=30,
                                  env={**os.environ, "SVC_IP": ip, "SVC_PORT": "10250"})
            self.assertEqual(done.returncode, status, done.stderr)

    def test_unknown_events_are_no_errors(self):
        """Another machine may have them; their places are reported."""
        self.write("jobs:\n - name: a\n   events: [page-faults,\n            nonsense]\n")
        done = subprocess.run([PFM, "serve", "--check-config", self.path], capture_output=True,
                              text=True, check=True, timeout=30)
        self.assertIn(":4:13: events/1: this machine does not have one", done.stderr)
        self.assertEqual(done.stdout, self.path +
                         ": 1 job, no errors; 1 event not on this machine\n")

    def test_the_example_has_no_errors(self):
        self.assertIn("3 jobs, no errors", check(os.path.join(SOURCE, "examples/fleet/serve.yml")))

    @unittest.skipUnless(jsonschema, "python3-jsonschema or python3-yaml is missing")
    def test_the_schema_and_the_program_agree(self):
        """docs/schema/serve-config.json and the program agree."""
        with open(os.path.join(SOURCE, "docs/schema/serve-config.json"), encoding="utf-8") as f:
            schema = json.load(f)
        validator = jsonschema.Draft202012Validator(schema)
        with open(os.path.join(SOURCE, "exporter/config.c"), encoding="utf-8") as f:
            table = re.search(r"keys\[\] = \{(.*?)\n\};", f.read(), re.S)[1]
        self.assertEqual(sorted(re.findall(r'\{ "(\w+)", VALUE', table)),
                         sorted(schema["$defs"]["job"]["properties"]))
        with open(os.path.join(SOURCE, "examples/fleet/serve.yml"), encoding="utf-8") as f:
            validator.validate(yaml.safe_load(f))
        for text, _, problem in REFUSED:
            if not BEYOND_SCHEMA.search(problem):
                self.assertFalse(validator.is_valid(yaml.safe_load(text)), text)


class Jobs(Files):
    """Jobs are processes; the supervisor's changes show in what they serve."""

    def serve(self):
        return Server("--config", self.path)

    def read(self, name):
        """Families that the job serves; None without an answer."""
        try:
            return openmetrics.parse(ask(self.file(name), OPENMETRICS)[2])
        except (OSError, ValueError):
            return None

    def wait(self, name, wanted=lambda f: True):
        def read_wanted():
            families = self.read(name)
            return families if families and wanted(families) else None

        return wait_until(read_wanted, name)

    def begin(self, s, *names):
        if self.libmicrohttpd_lacks(s):
            self.skipTest("no libmicrohttpd (Debian package libmicrohttpd-dev)")
        for name in names:
            self.wait(name)

    @staticmethod
    def libmicrohttpd_lacks(s):
        try:
            s.wait_for("listening on")
        except AssertionError as e:
            if "built without lib" in str(e):
                return True
            raise
        return False

    @staticmethod
    def value(families, family, **labels):
        return openmetrics.value(families, family, **labels)

    def test_each_job_has_its_own_events_and_outputs(self):
        self.write([self.job("a"), self.job("b", events=["task-clock", "context-switches"]),
                    {"name": "c", "textfile": self.file("c.prom"), "interval_ms": 50,
                     "events": ["minor-faults"]}])
        with self.serve() as s:
            self.begin(s, "a", "b")
            a, b = self.read("a"), self.read("b")
            self.assertIn("node_perf_page_faults", a)
            self.assertNotIn("node_perf_page_faults", b)
            self.assertIn("node_perf_context_switches", b)
            self.assertEqual(self.value(a, "perfmon_config_job", perfmon_job="a"), 1)
            self.wait("a", lambda f: self.value(f, "perfmon_config_jobs_running") == 3)
            wait_until(lambda: os.path.exists(self.file("c.prom")))
            with open(self.file("c.prom"), encoding="utf-8") as f:
                samples = [l for l in f if not l.startswith("#")]
            self.assertTrue(samples)
            for line in samples:
                self.assertIn('{perfmon_job="c"', line)
            s.end()
        self.assertEqual(os.listdir(self.folder), ["serve.yml"])

    def test_jobs_that_stay_keep_their_counts(self):
        """By a hangup, by a new file, by the symbolic link of a ConfigMap: a job that stays keeps
        its counts, and a bad file keeps the jobs that there were."""
        self.write([self.job("a"), self.job("b")])
        with self.serve() as s:
            self.begin(s, "a", "b")
            started = self.value(self.read("a"), "process_start_time_seconds")
            self.write([self.job("a"), self.job("c")])
            s.p.send_signal(signal.SIGHUP)
            a = self.wait("a", lambda f: self.value(f, "perfmon_config_reloads") == 1)
            self.wait("c")
            self.assertFalse(os.path.exists(self.file("b")))
            self.assertEqual(self.value(a, "process_start_time_seconds"), started)
            self.assertEqual(self.value(a, "perfmon_config_last_reload_successful"), 1)

            self.write([self.job("a"), self.job("c", events=["minor-faults", "task-clock"])])
            self.wait("c", lambda f: "node_perf_minor_faults" in f)

            self.write("jobs: [{name: a, nonsense: 1}]")
            a = self.wait("a", lambda f: self.value(f, "perfmon_config_refusals") == 1)
            self.assertEqual(self.value(a, "perfmon_config_last_reload_successful"), 0)
            self.assertEqual(self.value(a, "process_start_time_seconds"), started)
            self.assertIn("node_perf_minor_faults", self.read("c"))

            self.write([self.job("a")])
            a = self.wait("a", lambda f: self.value(f, "perfmon_config_reloads") == 3)
            self.assertEqual(self.value(a, "perfmon_config_last_reload_successful"), 1)
            self.assertEqual(self.value(a, "perfmon_config_jobs"), 1)
            said = s.end()
        self.assertIn("serve.yml:1:18: nonsense: the key is not known", said)
        self.assertIn("the jobs of its last good version go on", said)

    def test_a_new_link_of_a_configmap_is_read(self):
        """Kubernetes has FILE -> ..data/FILE, and replaces the link ..data."""
        for version, name in (("..1", "a"), ("..2", "b")):
            os.mkdir(self.file(version))
            self.write([self.job("x"), self.job(name)], self.file(version + "/serve.yml"))
        os.symlink("..1", self.file("..data"))
        os.symlink("..data/serve.yml", self.path)
        with self.serve() as s:
            self.begin(s, "x", "a")
            os.symlink("..2", self.file("..new"))
            os.rename(self.file("..new"), self.file("..data"))
            self.wait("b")
            self.wait("x", lambda f: self.value(f, "perfmon_config_jobs_running") == 2)
            self.assertFalse(os.path.exists(self.file("a")))
            s.end()

    def test_a_job_that_fails_stops_no_other(self):
        """Its process begins again after pauses; the service ends if no job can serve."""
        bad = self.job("bad", listen=["unix:" + self.file("no/folder")])
        self.write([self.job("good"), bad])
        with self.serve() as s:
            self.begin(s, "good")
            f = self.wait("good", lambda f: self.value(f, "perfmon_config_job_restarts") >= 1)
            self.assertEqual(self.value(f, "perfmon_config_jobs"), 2)
            for seconds in (1, 2):
                s.wait_for("job 'bad' has ended (status 1); it begins again in %d s" % seconds)
            s.end()
        self.write([bad])
        done = subprocess.run([PFM, "serve", "--config", self.path], capture_output=True, text=True,
                              check=False, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no job of %s can serve anything" % self.path, done.stderr)


if __name__ == "__main__":
    tap.main()
