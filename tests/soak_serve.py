#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve under a mixed load for a long time: its memory and its descriptors stay as they are.

    soak_serve.py [--seconds N] [--log FILE] PFM

Every second a program scrapes in both formats, reads the lines, and control groups are born and
removed. A receiver of OTLP changes its manners: it is away, slow, answers 503, 429 and garbage, and
works. Bad clients come in bursts, and the lock of --give-way is taken at times. Every fifth second
the log gets a row: seconds, KiB resident and descriptors of each service. Exit status 1 if the
memory of the last quarter is larger than that of the first, or if descriptors are left over.
"""
import argparse
import fcntl
import http.server
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

GROUPS = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
MANNERS = ["away", "works", "503", "429", "garbage", "slow", "away"]
MOST_GROWTH_KIB = 512


class Receiver(threading.Thread):
    """An OTLP receiver on a port of loopback, whose manners change every @turn seconds."""

    def __init__(self, turn):
        super().__init__(daemon=True)
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.turn, self.stop, self.requests = turn, threading.Event(), dict.fromkeys(MANNERS, 0)

    def handler(self, manner):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                receiver.requests[manner] += 1
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if manner == "garbage":
                    self.wfile.write(random.randbytes(300))
                    return
                if manner == "slow":
                    receiver.stop.wait(receiver.turn / 3)
                status = int(manner) if manner.isdigit() else 200
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "2")
                self.send_header("Content-Length", "0")
                self.end_headers()

        return Handler

    def listen(self, manner):
        """A child that has not started its program yet may have the last listener, too."""
        for _ in range(100):
            try:
                return http.server.ThreadingHTTPServer(("127.0.0.1", self.port),
                                                       self.handler(manner))
            except OSError:
                time.sleep(0.05)
        raise AssertionError("port %d cannot be listened on again" % self.port)

    def run(self):
        http.server.ThreadingHTTPServer.allow_reuse_address = True
        http.server.ThreadingHTTPServer.daemon_threads = True
        n = 0
        while not self.stop.is_set():
            manner = MANNERS[n % len(MANNERS)]
            n += 1
            if manner == "away":
                # Bound and not listening: the port stays ours, and refuses connections.
                with socket.socket() as held:
                    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    held.bind(("127.0.0.1", self.port))
                    self.stop.wait(self.turn)
                continue
            server = self.listen(manner)
            server.block_on_close = False
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2},
                                      daemon=True)
            thread.start()
            self.stop.wait(self.turn)
            server.shutdown()
            server.server_close()


def ask(path, request, timeout=20):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        s.connect(path)
        s.sendall(request)
        return b"".join(iter(lambda: s.recv(65536), b""))


def scrape(path):
    for accept in (b"application/openmetrics-text;version=1.0.0", b"text/plain"):
        answer = ask(
            path,
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept:"
            b" %s\r\nAccept-Encoding: gzip\r\n\r\n" % accept,
        )
        if not answer.startswith(b"HTTP/1.1 200"):
            raise AssertionError(answer[:200])


def read_lines(path, dice):
    """A reader of the line protocol that leaves in the middle of an answer, at times."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        s.sendall(dice.choice([b"read\n", b"read page-*\nread\n", dice.randbytes(40), b"read"]))
        if dice.random() < 0.8:
            s.shutdown(socket.SHUT_WR)
            s.recv(100)


def be_a_nuisance(path, dice):
    """Half requests, garbage and clients that leave."""
    clients = []
    for _ in range(40):
        c = socket.socket(socket.AF_UNIX)
        c.settimeout(0.05)
        try:
            c.connect(path)
            c.sendall(
                dice.choice([
                    b"GET /metr",
                    dice.randbytes(500),
                    b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\nabc",
                    b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20, b"\r\n" * 50,
                    b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: x\r\n\r\nzz\r\n"
                ]))
        except OSError:
            pass
        clients.append(c)
    time.sleep(0.2)
    for c in clients:
        c.close()


def measure(pid):
    """(KiB resident, descriptors) of a process."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]), len(os.listdir("/proc/%d/fd" % pid))


class Soak:
    """The services, and what comes to them each second."""

    def __init__(self, pfm, seconds, log):
        self.folder, self.seconds, self.log, self.dice = tempfile.mkdtemp(
        ), seconds, log, random.Random(34)
        self.receiver = Receiver(max(2, min(60, seconds / 14)))
        self.groups = []
        here = os.path.join(self.folder, "")
        self.services = [
            self.start(pfm, here + "a", "-e",
                       "page-faults,minor-faults,context-switches,task-clock,cycles", "-M",
                       "software::ratios", "--per-cpu", "--textfile", here + "a.prom", "--lines",
                       here + "a.lines", "--otlp", "http://127.0.0.1:%d" % self.receiver.port,
                       "--give-way=" + here + "lock"),
            self.start(pfm, here + "b", "--rotate=200", "--budget", "cpu=2%,files=500")
        ]
        if self.born("kept") and self.born("lost"):
            self.services.append(
                self.start(pfm, here + "c", "-e", "page-faults,task-clock", "--for-each-cgroup",
                           ",".join(os.path.basename(g) for g in self.groups)))
        else:
            print("# no control groups: %s is not writable" % GROUPS)
        self.rows = []

    @staticmethod
    def start(pfm, path, *words):
        p = subprocess.Popen([pfm, "serve", "--listen", "unix:" + path, "-I", "1000", *words],
                             stderr=open(path + ".err", "wb"))
        end = time.monotonic() + 20
        while not os.path.exists(path):
            if p.poll() is not None or time.monotonic() > end:
                with open(path + ".err", encoding="utf-8") as f:
                    raise SystemExit("pfm serve did not start: " + f.read())
            time.sleep(0.02)
        p.path = path
        return p

    def born(self, name):
        group = os.path.join(GROUPS, "perfmon-soak-%d-%s" % (os.getpid(), name))
        try:
            os.mkdir(group)
        except OSError:
            return False
        self.groups.append(group)
        return True

    def work_in_group(self, name):
        """A control group that lives as long as a program in it."""
        if not self.born(name):
            return
        group = self.groups.pop()
        with subprocess.Popen([
                "true"
        ], preexec_fn=lambda: open(group + "/cgroup.procs", "w", encoding="ascii").write("0")) as p:
            p.wait()
        for _ in range(50):
            try:
                os.rmdir(group)
                return
            except OSError:
                time.sleep(0.02)

    def second(self, n):
        for p in self.services:
            scrape(p.path)
        read_lines(self.services[0].path + ".lines", self.dice)
        for i in range(3):
            self.work_in_group("%d-%d" % (n, i))
        if n == 30 and len(self.groups) == 2:
            os.rmdir(self.groups.pop())
        if n % 10 == 5:
            be_a_nuisance(self.services[n // 10 % len(self.services)].path, self.dice)
        if n % 60 == 40:
            with open(os.path.join(self.folder, "lock"), "wb") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                time.sleep(0.5)

    def run(self):
        self.receiver.start()
        begin, n = time.monotonic(), 0
        while time.monotonic() - begin < self.seconds:
            self.second(n)
            if n % 5 == 0:
                self.rows.append([measure(p.pid) for p in self.services])
                print(
                    "%d\t%s" % (time.monotonic() - begin, "\t".join("%d\t%d" % r
                                                                    for r in self.rows[-1])),
                    file=self.log, flush=True)
            n += 1
            time.sleep(max(0, begin + n - time.monotonic()))
        return n

    def judge(self, n):
        """The peak of the last quarter beside the peak of the first, without its first tenth."""
        bad = 0
        quarter = max(1, len(self.rows) // 4)
        for i, p in enumerate(self.services):
            first, last = ([r[i] for r in part]
                           for part in (self.rows[:quarter], self.rows[-quarter:]))
            growth = max(r[0] for r in last) - max(r[0] for r in first)
            left_over = min(r[1] for r in last) - min(r[1] for r in first[len(first) // 2:])
            ok = growth <= MOST_GROWTH_KIB and left_over <= 0
            bad += not ok
            print(
                "%s: service %s: %d KiB in the first quarter, %d in the last; descriptors %d,"
                " then %d"
                % (
                    "ok" if ok else "not ok",
                    os.path.basename(p.path),
                    max(r[0] for r in first),
                    max(r[0] for r in last),
                    min(r[1] for r in first[len(first) // 2 :]),
                    min(r[1] for r in last),
                )
            )
        print("# %d seconds, %d turns, requests of OTLP: %s" %
              (self.seconds, n, self.receiver.requests))
        return bad

    def close(self):
        bad = 0
        self.receiver.stop.set()
        for p in self.services:
            p.send_signal(signal.SIGTERM)
            status = p.wait(20)
            if status != 0:
                with open(p.path + ".err", encoding="utf-8") as f:
                    print("not ok: service %s ended with %d: %s" %
                          (os.path.basename(p.path), status, f.read()))
                bad += 1
        for g in self.groups:
            os.rmdir(g)
        shutil.rmtree(self.folder)
        return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--log", type=argparse.FileType("w"), default=os.devnull)
    parser.add_argument("pfm")
    args = parser.parse_args()
    soak = Soak(os.path.abspath(args.pfm), args.seconds, args.log)
    try:
        n = soak.run()
        bad = soak.judge(n)
    finally:
        left = soak.close()
    return 1 if bad or left else 0


if __name__ == "__main__":
    sys.exit(main())
