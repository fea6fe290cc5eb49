#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lines of docs/permissions.md: in containers and as services, where an engine answers or a
service manager starts."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
from waiting import wait_until

PFM = os.environ.get("PFM", "pfm")
BUILD = os.environ.get("PERFMON_BUILD", "")
SOURCE = os.environ["PERFMON_SOURCE"]
CLEAN = {
    k: v for k, v in os.environ.items()
    if not k.startswith(("PERFMON_", "LIBPFM_", "LC_", "LSAN_", "ASAN_")) and k != "LANG"
}
MANAGER = "/lib/systemd/systemd"
FILTER = "a security module or a container's seccomp filter"
PROFILE = "/usr/share/containers/seccomp.json"

with open(os.path.join(SOURCE, "docs", "permissions.md"), encoding="utf-8") as chapter:
    TEXT = chapter.read()


def level():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        return int(f.read())


def run(*words, **more):
    return subprocess.run(words, env=CLEAN, capture_output=True, text=True, errors="replace",
                          timeout=120, stdin=subprocess.DEVNULL, check=False, **more)


def library():
    folder = os.path.join(BUILD, "lib")
    return [os.path.join(folder, n) for n in os.listdir(folder) if n == "libperfmon.so.1"]


class Judged(unittest.TestCase):
    """Tools check the lines of the chapter without running them."""

    def tool(self, *words):
        if not shutil.which(words[0]):
            self.skipTest(words[0] + " is not installed")
        r = subprocess.run(words, env=dict(CLEAN, DOCKER_HOST="unix:///nonexistent"),
                           capture_output=True, text=True, timeout=60)
        return r.stdout + r.stderr

    def test_the_unit_is_one(self):
        service = re.search(r"```ini\n(.*?)```", TEXT, re.S).group(1)
        with tempfile.TemporaryDirectory() as folder:
            def said(text):
                path = os.path.join(folder, "count.service")
                with open(path, "w", encoding="ascii") as f:
                    f.write(text.replace("[Service]", "[Service]\nExecStart=/bin/true"))
                return [
                    line for line in self.tool("systemd-analyze", "verify", path).splitlines()
                    if "count.service" in line
                ]
            # systemd-analyze verify reports unknown words.
            if not said(service.replace("@system-service", "@no-such-service")):
                self.skipTest("systemd-analyze does not judge units here")
            self.assertEqual(said(service), [])
        groups = {}
        for line in self.tool("systemd-analyze", "syscall-filter").splitlines():
            word = line.strip()
            if word.startswith("@") and not line.startswith(" "):
                members = groups.setdefault(word, set())
            elif word and not word.startswith("#") and groups:
                members.add(word)

        def calls(name):
            return {c for m in groups[name] for c in (calls(m) if m.startswith("@") else {m})}
        self.assertIn("read", calls("@system-service"))
        self.assertNotIn("perf_event_open", calls("@system-service"))
        self.assertIn("perf_event_open", calls("@debug"))

    def test_options_of_containers(self):
        lines = re.findall(r"^docker run (.*) IMAGE ", TEXT, re.M)
        self.assertEqual(len(lines), 3)
        for line in lines:
            with tempfile.NamedTemporaryFile("w", suffix=".json") as profile:
                profile.write("{}")
                profile.flush()
                said = self.tool("docker", "run",
                                 *line.replace("perf.json", profile.name).split(), "image", "true")
            self.assertRegex(said, "(?i)cannot connect|docker daemon", line)
        self.assertIn("unknown flag", self.tool("docker", "run", "--cap-adds", "PERFMON", "image"))


class Containers(unittest.TestCase):
    """An image of pfm and a shell, started as the chapter describes. An engine's own filter
    depends on its age, so the test asks the engine, and checks what the chapter says about that
    answer."""
    engine = None
    first = ()

    @classmethod
    def setUpClass(cls):
        cls.image = cls.why_not = None
        if os.geteuid() or not 1 <= level() <= 2:
            cls.why_not = "not root, or a level at which capabilities do not matter so"
        elif not cls.engine or not shutil.which(cls.engine) or run(cls.engine, "info").returncode:
            cls.why_not = "no %s answers here" % (cls.engine or "engine")
        else:
            cls.build()

    @classmethod
    def build(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-image-")
        tree = os.path.join(cls.folder, "tree")
        for place in "bin", "lib64", "proc", "sys/kernel/tracing", "tmp", "dev", "etc":
            os.makedirs(os.path.join(tree, place))
        os.symlink("lib64", os.path.join(tree, "lib"))
        shutil.copy(PFM, os.path.join(tree, "bin", "pfm"))
        shutil.copy(os.path.realpath("/bin/sh"), os.path.join(tree, "bin", "sh"))
        for name in "pfm", "sh":
            for path in re.findall(r"(/\S+) \(0x",
                                   run("ldd", PFM if name == "pfm" else "/bin/sh").stdout):
                shutil.copy(os.path.realpath(path),
                            os.path.join(tree, "lib64", os.path.basename(path)))
        with open(os.path.join(tree, "work"), "w", encoding="ascii") as f:
            f.write("#!/bin/sh\ni=0\nwhile [ $i -lt 100000 ]; do i=$((i+1)); done\n")
        os.chmod(os.path.join(tree, "work"), 0o755)
        archive = os.path.join(cls.folder, "image.tar")
        run("tar", "-C", tree, "-cf", archive, ".")
        cls.image = "perfmon-test-%d" % os.getpid()
        done = run(cls.engine, "import", archive, cls.image)
        cls.first = ()
        started = run(cls.engine, "run", "--rm", cls.image, "/bin/sh", "-c", ":")
        if "rlimit" in started.stderr: # an engine that may not raise what it sets by itself
            cls.first = ("--ulimit", "nofile=1024:4096", "--ulimit", "nproc=1024:2048")
            started = run(cls.engine, "run", *cls.first, "--rm", cls.image, "/bin/sh", "-c", ":")
        if done.returncode or started.returncode:
            cls.why_not = "%s starts nothing here: %s" % (cls.engine,
                                                          (done.stderr +
                                                           started.stderr).strip()[-120:])
        profile = os.path.join(cls.folder, "perf.json")
        line = re.search(r"^jq .* > perf.json$", TEXT, re.M)[0]
        if not shutil.which("jq") or not os.path.exists(PROFILE) or run("sh", "-c", line,
                                                                        cwd=cls.folder).returncode:
            profile = None
        cls.profile = profile

    @classmethod
    def tearDownClass(cls):
        if cls.image:
            run(cls.engine, "image", "rm", "-f", cls.image)
            shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        if self.why_not:
            self.skipTest(self.why_not)

    def start(self, *options, command="pfm stat -e page-faults:u,page-faults:k -- ./work"):
        if "seccomp=perf.json" in options and not self.profile:
            self.skipTest("no jq, or no profile in " + PROFILE)
        words = [w.replace("perf.json", self.profile or "") for w in options]
        return run(self.engine, "run", *self.first, "--rm", *words, self.image, *command.split())

    def unknown(self, done):
        """An old engine that does not know the capability, which the chapter tells."""
        return "unknown capability" in done.stderr.lower()

    def counts(self, done):
        """Of user mode and of the kernel: whether they were counted."""
        lines = [
            line for line in (done.stdout + done.stderr).splitlines()
            if re.search(r"\[software\]", line)
        ]
        self.assertEqual(len(lines), 2, done.stdout + done.stderr)
        return ["not supported" not in line for line in lines]

    def test_nothing_but_the_filter(self):
        done = self.start()
        self.assertEqual(self.counts(done), [False, False])
        self.assertIn(FILTER, done.stderr + done.stdout)
        self.assertNotIn("belongs to another user", done.stderr + done.stdout)
        done = self.start(command="pfm doctor --json")
        found = {o["check"]: o for o in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(found["seccomp"]["state"], "bad")
        for check in "own code", "own kernel time", "whole CPUs":
            self.assertIn(FILTER, found[check]["why"])
            self.assertEqual(found[check]["works"], "encoding, listing, dry runs")
        self.assertIn("0x186", self.start(command="pfm encode coreduo::Instr_Ret").stdout)

    def test_a_filter_that_lets_the_call_pass(self):
        done = self.start("--security-opt", "seccomp=perf.json")
        self.assertEqual(self.counts(done), [True, level() < 2])
        if level() > 1:
            self.assertIn("perf_event_paranoid is 2", done.stdout + done.stderr)

    def test_a_container_with_the_capability_counts(self):
        done = self.start("--cap-add", "PERFMON")
        if self.unknown(done):
            return
        both = self.counts(done)
        if not any(both): # the engine's filter asks for more
            self.assertIn(FILTER, done.stdout + done.stderr)
            both = self.counts(
                self.start("--cap-add", "PERFMON", "--security-opt", "seccomp=perf.json"))
        self.assertEqual(both, [True, True])

    def test_a_container_of_an_administrator_counts(self):
        self.assertEqual(self.counts(self.start("--cap-add", "SYS_ADMIN")), [True, True])

    def test_lines_of_the_page_count_in_containers(self):
        lines = re.findall(r"^%s run --rm (.*) IMAGE (.*)$" % self.engine, TEXT, re.M)
        self.assertTrue(lines)
        for options, command in lines:
            with self.subTest(options):
                done = self.start(*options.split(), command=command)
                if self.unknown(done):
                    continue
                if done.returncode and "seccomp" not in options:
                    self.assertIn(FILTER, done.stdout + done.stderr)
                else:
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertRegex(done.stdout + done.stderr, r"\d (msec )?task-clock")

    def test_a_container_is_counted_from_outside(self):
        name = "%s-busy" % self.image
        run(self.engine, "run", *self.first, "-d", "--rm", "--name", name, self.image, "/bin/sh",
            "-c", "while :; do :; done")
        try:
            pid = run(self.engine, "inspect", "-f", "{{.State.Pid}}", name).stdout.strip()
            with open("/proc/%s/cgroup" % pid, encoding="ascii") as f:
                groups = dict(line.strip().split(":", 2)[1:] for line in f)
            group = groups.get("perf_event", groups.get("", "/")).lstrip("/")
            if not group:
                self.skipTest("the container is in no control group that can be counted")
            for where in (["-a", "-G", group], ["-p", pid]):
                done = run(PFM, "stat", *where, "-e", "task-clock", "--json", "--timeout", "500")
                row = json.loads(done.stdout.splitlines()[0])
                self.assertGreater(int(row.get("value", 0)), 10**7, done.stdout + done.stderr)
        finally:
            run(self.engine, "rm", "-f", name)


class Docker(Containers):
    engine = "docker"


class Podman(Containers):
    engine = "podman"


class Services(unittest.TestCase):
    """A service manager as the first process of a machine of its own: this machine's files, with
    what is written put aside."""
    units = {
        "alone.target": "Wants=dbus.socket dbus.service\n",
        "sysinit.target": "",
        "basic.target": "",
        "shutdown.target": "",
        "dbus.socket": "[Socket]\nListenStream=/run/dbus/system_bus_socket\n",
        "dbus.service": (
            "Requires=dbus.socket\n[Service]\nExecStart=dbus-daemon --system --address=systemd:"
            " --nofork --nopidfile\n"
        ),
    }

    @classmethod
    def setUpClass(cls):
        cls.why_not = cls.manager = None
        cls.groups = []
        if not tap.own_mounts() or level() != 2:
            cls.why_not = "not root, or a level at which capabilities do not matter so"
        elif not os.path.exists(MANAGER) or not shutil.which("systemd-run") or not shutil.which(
                "dbus-daemon"):
            cls.why_not = "systemd or dbus is not installed"
        else:
            cls.boot()

    @classmethod
    def boot(cls):
        cls.folder = tempfile.mkdtemp(prefix="perfmon-manager-")
        new = os.path.join(cls.folder, "new")
        for name in "upper/usr/bin", "upper/usr/lib", "upper/etc/systemd", "work", "new":
            os.makedirs(os.path.join(cls.folder, name))
        os.chmod(cls.folder, 0o755)
        for program in "pfm", "pfm-exporter":
            shutil.copy(os.path.join(os.path.dirname(PFM), program),
                        os.path.join(cls.folder, "upper/usr/bin", program))
        for path in library():
            shutil.copy(os.path.realpath(path),
                        os.path.join(cls.folder, "upper/usr/lib", os.path.basename(path)))
        # Nothing of this machine's own is started: these are the only units.
        os.mkdir(os.path.join(cls.folder, "units"))
        for name, text in cls.units.items():
            with open(os.path.join(cls.folder, "units", name), "w", encoding="ascii") as f:
                f.write("[Unit]\nDefaultDependencies=no\n" + text)
        script = """set -e
            mount --make-rprivate /
            mount -t tmpfs tmpfs {f}/work
            cp -a {f}/upper {f}/work/upper
            mkdir {f}/work/work
            mount -t overlay -o lowerdir=/,upperdir={f}/work/upper,workdir={f}/work/work overlay {f}/new
            mount -t proc proc {f}/new/proc
            mount --rbind /sys {f}/new/sys
            umount -l {f}/new/sys/fs/cgroup
            mount -t cgroup2 cgroup2 {f}/new/sys/fs/cgroup
            mount --rbind /dev {f}/new/dev
            for d in run tmp etc/systemd/system usr/lib/systemd/system; do mount -t tmpfs tmpfs {f}/new/$d; done
            cp {f}/units/* {f}/new/etc/systemd/system
            cd {f}/new
            mkdir -p run/old
            pivot_root . run/old
            umount -l /run/old
            exec env -i container=test PATH=/usr/bin:/bin:/sbin {m} --show-status=no --log-target=null systemd.unit=alone.target
            """.format(f=cls.folder, m=MANAGER)
        cls.log = open(os.path.join(cls.folder, "log"), "w+", encoding="utf-8", errors="replace")
        spaces = ["--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"]
        cls.manager = subprocess.Popen(
            ["unshare", "--fork", "--kill-child", *spaces, "sh", "-c", script], stdout=cls.log,
            stderr=cls.log, stdin=subprocess.DEVNULL, preexec_fn=cls.own_groups)
        if wait_until(lambda: "runs" if cls.inside("systemd-run", "--pipe", "--wait",
                                                   "true").returncode == 0 else
                      cls.manager.poll() is not None and "ended") == "runs":
            return
        cls.log.seek(0)
        cls.why_not = "the manager does not start here: " + " ".join(cls.log.read().split())[-120:]

    @classmethod
    def own_groups(cls):
        """Of the child to be: control groups that can be taken away afterwards."""
        for folder in cls.group_folders():
            with contextlib.suppress(OSError):
                os.mkdir(folder)
                with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as f:
                    f.write("0")

    @classmethod
    def group_folders(cls):
        with open("/proc/self/mounts", encoding="utf-8") as f:
            mounts = [line.split() for line in f]
        name = os.path.basename(cls.folder)
        return [os.path.join(m[1], name) for m in mounts if m[2] in ("cgroup", "cgroup2")]

    @classmethod
    def tearDownClass(cls):
        if not cls.manager:
            return
        cls.manager.kill()
        cls.manager.wait()
        cls.log.close()
        for top in cls.group_folders():
            def remove(top=top):
                """A group can be removed once its last process has ended."""
                for folder, _, _ in os.walk(top, topdown=False):
                    with contextlib.suppress(OSError):
                        os.rmdir(folder)
                return not os.path.exists(top)

            wait_until(remove)
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def inside(cls, *words):
        with open("/proc/%d/task/%d/children" % (cls.manager.pid, cls.manager.pid),
                  encoding="ascii") as f:
            child = f.read().split()
        if not child:
            return subprocess.CompletedProcess(words, 1, "", "")
        return run("nsenter", "-t", child[0], "-m", "-p", "-u", "-i", "-n", "-C", "-r", "-w",
                   *words)

    def setUp(self):
        if self.why_not:
            self.skipTest(self.why_not)

    def once(self, *settings, command="pfm stat -a -e task-clock --timeout 100"):
        words = [w for s in ("User=nobody", *settings) for w in ("-p", s)]
        done = self.inside("systemd-run", "--pipe", "--wait", *words, *command.split())
        return done.returncode, done.stdout + done.stderr

    def test_the_line_of_the_page_counts(self):
        line = re.search(r"^sudo (systemd-run .*)$", TEXT, re.M)[1].split()
        done = self.inside(*line)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\d msec task-clock")
        code, said = self.once()
        self.assertEqual(code, 1)
        self.assertIn("counting everything on a CPU needs 0 or lower", said)

    def test_the_unit_of_the_page_counts(self):
        unit = re.search(r"```ini\n(.*?)```", TEXT, re.S)[1]
        unit = unit.replace("User=perfmon", "User=nobody")
        unit = unit.replace(
            "[Service]",
            "[Service]\nType=oneshot\nStandardOutput=file:/tmp/said\nStandardError=file:/tmp/said\n"
            "ExecStart=/usr/bin/pfm stat -a -e task-clock --timeout 100")
        self.inside("sh", "-c", 'printf %s "$1" > /etc/systemd/system/count.service', "sh", unit)
        self.inside("systemctl", "daemon-reload")
        done = self.inside("systemctl", "start", "count.service")
        said = self.inside("cat", "/tmp/said").stdout
        self.assertEqual(done.returncode, 0, done.stderr + said)
        self.assertRegex(said, r"\d msec task-clock")

    def test_filters_of_system_calls_must_name_the_call(self):
        rights = "AmbientCapabilities=CAP_PERFMON"
        self.assertEqual(
            self.once(rights, "SystemCallFilter=@system-service perf_event_open")[0], 0)
        self.assertRegex(self.once(rights, "SystemCallFilter=@system-service")[1], "status=SYS")
        code, said = self.once(rights, "SystemCallFilter=@system-service",
                               "SystemCallErrorNumber=EPERM")
        self.assertEqual(code, 1)
        self.assertIn(FILTER, said)

    def test_what_is_hidden(self):
        found = self.once("ProtectProc=invisible", command="pfm doctor --json")[1]
        self.assertIn("hidepid=invisible", found)
        found = self.once("ProcSubset=pid", command="pfm doctor --json")[1]
        self.assertIn("perf_event_paranoid cannot be read", found)


    def test_the_exporter_has_one_capability(self):
        """The service of the Debian package perfmon-exporter counts, answers, and has one
        capability and no user of its own."""
        unit = "perfmon-exporter.service"
        self.inside("ip", "link", "set", "lo", "up")
        with open(os.path.join(SOURCE, "debian", unit), encoding="utf-8") as f:
            self.inside("sh", "-c", 'printf %s "$2" > /etc/systemd/system/"$1"', "sh", unit,
                        f.read())
        self.inside(
            "sh",
            "-c",
            (
                "mkdir -p /etc/default; echo 'ARGS=\"--listen 127.0.0.1:9747 --listen"
                " unix:/run/perfmon/counts -I 10\"' > /etc/default/perfmon-exporter"
            ),
        )
        self.inside("systemctl", "daemon-reload")
        done = self.inside("systemctl", "start", unit)
        if "libmicrohttpd" in self.inside("journalctl", "-u", unit).stdout:
            self.skipTest("no libmicrohttpd (Debian packages libmicrohttpd-dev, libmicrohttpd12)")
        self.assertEqual(done.returncode, 0, done.stderr)
        program = (
            "import os, socket, urllib.request\ndef ask():\n    while True:\n        try:"
            " return urllib.request.urlopen('http://127.0.0.1:9747/metrics',"
            " timeout=10).read().decode()\n        except OSError: os.sched_yield()\nprint(ask())\ns"
            " = socket.socket(socket.AF_UNIX)\ns.connect('/run/perfmon/counts')\ns.sendall(b'GET"
            " /metrics HTTP/1.0\\r\\n\\r\\n')\nprint(s.recv(20).decode())\n"
        )
        ask = ("setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c", program)
        said = self.inside(*ask)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r'(?m)^node_perf_page_faults_total\{.*\} \d+$')
        self.assertRegex(said.stdout,
                         r'(?m)^perfmon_event_quality_rank\{event="page-faults",.*\} 0$')
        self.assertIn("HTTP/1.1 200", said.stdout)
        pid = self.inside("systemctl", "show", "--value", "-p", "MainPID", unit).stdout.strip()
        status = dict(
            re.findall(r"(?m)^(\w+):\s+(\S+)",
                       self.inside("cat", "/proc/%s/status" % pid).stdout))
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        # CAP_PERFMON
        self.assertEqual({int(status[name], 16) for name in ("CapEff", "CapBnd")}, {1 << 38})
        self.assertGreaterEqual(int(status["Uid"]), 61184)    # systemd's range of dynamic users
        # A service that was killed is started again; one that is stopped ends well.
        self.inside("kill", "-KILL", pid)
        wait_until(lambda: self.inside("systemctl", "show", "--value", "-p", "MainPID",
                                       unit).stdout.strip() not in ("0", pid))
        self.assertIn("node_perf_page_faults_total", self.inside(*ask).stdout)
        self.assertEqual(self.inside("systemctl", "stop", unit).returncode, 0)
        self.assertEqual(
            self.inside("systemctl", "show", "--value", "-p", "Result", unit).stdout.strip(),
            "success")


del Containers  # not a test case by itself

class Bare(unittest.TestCase):
    """Containers without the file systems of the kernel."""

    def without(self, folder, *words):
        if not tap.own_mounts():
            self.skipTest("not root")
        # The dynamic linker finds the library's folder with /proc.
        libraries = os.path.join(BUILD, "lib")
        return run(
            "unshare", "-m", "sh", "-c",
            'mount -t tmpfs none "$1" && export LD_LIBRARY_PATH="$2" && shift 2 && exec "$@"', "sh",
            folder, libraries + ":" + os.path.join(libraries, "profile"), PFM, *words)

    def test_record_without_sys_names_the_cause(self):
        for events in "cpu-clock", "page-faults":
            r = self.without("/sys", "record", "-e", events, "-o", "/dev/null", "--", "true")
            self.assertEqual(r.returncode, 1)
            self.assertIn("the list of CPUs on line cannot be read from "
                          "/sys/devices/system/cpu/online", r.stderr)
            self.assertIn("name the CPUs (-C)", r.stderr)

    def test_a_command_without_proc_is_counted_completely(self):
        r = self.without("/proc", "stat", "--json", "-e", "page-faults,task-clock", "--", "true")
        rows = [json.loads(line) for line in r.stdout.splitlines()]
        self.assertEqual([row["quality"] for row in rows], ["exact", "exact"], r.stdout + r.stderr)


if __name__ == "__main__":
    tap.main()
