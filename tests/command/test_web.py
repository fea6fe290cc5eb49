#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pfm serve --web-config: TLS, client certificates and passwords, with certificates that openssl
makes for the test and hashes that crypt(3) makes."""
import base64
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import openmetrics  # noqa: E402
import tap  # noqa: E402
from test_serve import OPENMETRICS, PFM, PLAIN, Server, ask, find_free_port  # noqa: E402
from waiting import wait_until  # noqa: E402

CLIENTS = "  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n"
TLS = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"


def make_hash(password):
    """A hash of bcrypt with the lowest cost, so that the test is quick."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import crypt    # pylint: disable=import-outside-toplevel,deprecated-module
        except ImportError:
            raise unittest.SkipTest("this Python has no module crypt") from None
        return crypt.crypt(password, "$2b$04$" + "abcdefghijklmnopqrstuu")


class Files:
    """An authority, and certificates of a server and of clients."""

    def __init__(self):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is missing (Debian package openssl)")
        self.folder = tempfile.mkdtemp()
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority",
                     "-days", "2")
        self.sign("server", "IP:127.0.0.1,DNS:localhost", "serverAuth")
        self.sign("client", "DNS:prometheus.example.org", "clientAuth")
        self.sign("other", "DNS:other.example.org", "clientAuth")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-keyout", "stranger.key", "-out", "stranger.pem", "-subj",
                     "/CN=authority", "-days", "2")

    def close(self):
        shutil.rmtree(self.folder)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True,
                       timeout=60)

    def sign(self, name, names, purpose):
        self.write(name + ".ext", "subjectAltName=%s\nextendedKeyUsage=%s\n" % (names, purpose))
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                     "-CAcreateserial", "-days", "2", "-out", name + ".pem", "-extfile",
                     name + ".ext")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = Files()
        path = cls.files.write("empty.yml", "")
        done = subprocess.run([PFM, "serve", "--web-config", path, "--listen", "127.0.0.1:x"],
                              capture_output=True, text=True, check=False)
        if re.search("GnuTLS|libmicrohttpd|libyaml", done.stderr):
            raise unittest.SkipTest(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.files.close()

    def serve(self, text, *words):
        path = self.files.write("web.yml", text)
        return Server("--listen", "127.0.0.1:0", "-e", "page-faults", "--web-config", path, *words)

    def address(self, s):
        host, port = re.search(r"//(.*):(\d+)/metrics", s.wait_for("listening on")).groups()
        return host, int(port)

    def ask(self, address, request=OPENMETRICS, client=None, minimum=None, maximum=None):
        """An answer over TLS."""
        context = ssl.create_default_context(cafile=self.files.path("ca.pem"))
        if client:
            context.load_cert_chain(self.files.path(client + ".pem"),
                                    self.files.path(client + ".key"))
        context.minimum_version = minimum or context.minimum_version
        context.maximum_version = maximum or context.maximum_version
        with socket.create_connection(address, timeout=20) as plain, context.wrap_socket(
                plain, server_hostname="127.0.0.1") as c:
            c.sendall(request)
            data = b"".join(iter(lambda: c.recv(65536), b""))
        head, body = data.split(b"\r\n\r\n", 1)
        return int(head.split()[1]), head.decode().lower(), body.decode()

    def find_cipher(self, address, ciphers, version=ssl.TLSVersion.TLSv1_2, curve=None):
        """The suite that a client with these ciphers of OpenSSL gets; None without one."""
        context = ssl.create_default_context(cafile=self.files.path("ca.pem"))
        context.set_ciphers(ciphers)
        context.minimum_version = context.maximum_version = version
        if curve:
            context.set_ecdh_curve(curve)
        try:
            with socket.create_connection(address, timeout=20) as plain, context.wrap_socket(
                    plain, server_hostname="127.0.0.1") as c:
                return c.cipher()[0]
        except ssl.SSLError:
            return None

    def test_cipher_suites_limit_what_clients_get(self):
        """The list limits what clients get; suites that it lacks are refused, not forgotten."""
        ecdsa = "TLS_ECDHE_ECDSA_WITH_"
        with self.serve(TLS + "  cipher_suites: [%sAES_256_GCM_SHA384, TLS_AES_256_GCM_SHA384]\n"
                        "  curve_preferences: [CurveP256]\n" % ecdsa) as s:
            address = self.address(s)
            self.assertEqual(self.find_cipher(address, "ALL"), "ECDHE-ECDSA-AES256-GCM-SHA384")
            for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
                           "ECDHE-ECDSA-AES256-SHA"):
                self.assertIsNone(self.find_cipher(address, cipher + ":@SECLEVEL=0"), cipher)
            self.assertEqual(self.find_cipher(address, "ALL", ssl.TLSVersion.TLSv1_3),
                             "TLS_AES_256_GCM_SHA384")
            self.assertIsNone(self.find_cipher(address, "ALL", curve="secp384r1"))
            self.assertTrue(self.find_cipher(address, "ALL", curve="prime256v1"))
            s.end()
        both = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"
        for order, suite in (("true", "AES128-GCM-SHA256"), ("false", "AES256-GCM-SHA384")):
            with self.serve(TLS + "  cipher_suites: [%sAES_128_GCM_SHA256, %sAES_256_GCM_SHA384]\n"
                            "  prefer_server_cipher_suites: %s\n" % (ecdsa, ecdsa, order)) as s:
                self.assertEqual(self.find_cipher(self.address(s), both), "ECDHE-ECDSA-" + suite)
                s.end()

    def test_texts_in_the_file(self):
        """Certificate, key and authority may be in the file itself."""
        def member(key, name):
            with open(self.files.path(name), encoding="ascii") as f:
                return "  %s: |\n%s" % (key, "".join("    " + line for line in f))
        with self.serve("tls_server_config:\n" + member("cert", "server.pem") +
                        member("key", "server.key") + member("client_ca", "ca.pem") +
                        "  client_auth_type: RequireAndVerifyClientCert\n") as s:
            address = self.address(s)
            self.assertEqual(self.ask(address)[0], 403)
            self.assertEqual(self.ask(address, client="client")[0], 200)
            s.end()

    def with_password(self, user, password):
        token = base64.b64encode(("%s:%s" % (user, password)).encode())
        return OPENMETRICS.replace(b"Host", b"Authorization: Basic " + token + b"\r\nHost")

    def test_tls_has_the_chosen_version(self):
        with self.serve(TLS + "  min_version: TLS13\nhttp_server_config:\n  http2: false\n"
                        "  headers:\n    X-Frame-Options: deny\n") as s:
            address = self.address(s)
            self.assertIn("https://", s.said[-1])
            status, head, text = self.ask(address)
            self.assertEqual(status, 200)
            self.assertIn("x-frame-options: deny", head)
            openmetrics.parse(text)
            with self.assertRaises(ssl.SSLError):
                self.ask(address, maximum=ssl.TLSVersion.TLSv1_2)
            with self.assertRaises((OSError, ValueError, IndexError)):
                ask(address, PLAIN)    # without TLS
            self.assertEqual(self.ask(address)[0], 200)

    def test_client_certificates_are_checked(self):
        names = "  client_allowed_sans: ['prometheus.example.org', 'spiffe://x']\n"
        for more, client, wanted in (("", "client", 200), ("", "other", 200), ("", None, 403),
                                     ("", "stranger", 403), ("", "server", 403),
                                     (names, "client", 200), (names, "other", 403)):
            with self.serve(TLS + CLIENTS + more) as s:
                self.assertEqual(self.ask(self.address(s), client=client)[0], wanted,
                                 (more, client))
        optional = CLIENTS.replace("RequireAndVerify", "Verify").replace("Cert\n", "CertIfGiven\n")
        for client, wanted in ((None, 200), ("client", 200), ("stranger", 403)):
            with self.serve(TLS + optional) as s:
                self.assertEqual(self.ask(self.address(s), client=client)[0], wanted, client)

    def test_passwords_are_checked(self):
        users = "basic_auth_users:\n  alice: '%s'\n  bob: '%s'\n" % (make_hash("one"),
                                                                    make_hash("two"))
        with self.serve(users) as s:
            address = self.address(s)
            for user, password, wanted in (("alice", "one", 200), ("bob", "two", 200),
                                           ("alice", "two", 401), ("carol", "one", 401),
                                           ("alice", "", 401), ("", "", 401),
                                           ("alice", "one", 200)):
                status, headers, _ = ask(address, self.with_password(user, password))
                self.assertEqual(status, wanted, (user, password))
                self.assertEqual(headers.get("www-authenticate"),
                                 'basic realm="perfmon"' if wanted == 401 else None)
            for request in (PLAIN, PLAIN.replace(b"Host", b"Authorization: Basic !!\r\nHost"),
                            PLAIN.replace(b"Host", b"Authorization: Bearer x\r\nHost"),
                            PLAIN.replace(b"/metrics", b"/")):
                self.assertEqual(ask(address, request)[0], 401)
            # Guessing is slow, and does not keep those out who have the right one.
            found = [ask(address, self.with_password("alice", "guess%d" % i))[0]
                     for i in range(30)]
            self.assertEqual(set(found), {401, 429})
            self.assertGreater(found.count(429), 10)
            self.assertEqual(ask(address, self.with_password("alice", "one"))[0], 200)
            said = s.end() + "".join(s.said)
            self.assertNotRegex(said, r"alice|one|guess|\$2")

    def test_a_socket_in_the_file_system_has_its_permissions(self):
        path = self.files.path("socket")
        with self.serve("basic_auth_users:\n  a: '%s'\n" % make_hash("x"), "--listen",
                        "unix:" + path) as s:
            s.wait_for("unix:")
            self.assertEqual(ask(path)[0], 200)

    def test_a_hangup_reads_the_file_again(self):
        """A hangup has the file read again; an invalid one changes nothing."""
        with self.serve("basic_auth_users:\n  a: '%s'\n" % make_hash("old")) as s:
            address = self.address(s)
            self.assertEqual(ask(address, self.with_password("a", "old"))[0], 200)
            self.files.write("web.yml", "basic_auth_users:\n  a: '%s'\n" % make_hash("new"))
            s.p.send_signal(signal.SIGHUP)
            s.wait_for("read again")
            self.assertEqual([ask(address, self.with_password("a", p))[0] for p in ("old", "new")],
                             [401, 200])
            before = openmetrics.parse(ask(address, self.with_password("a", "new"))[2])
            self.files.write("web.yml", "basic_auth_users: [")
            s.p.send_signal(signal.SIGHUP)
            s.wait_for("stays in use")
            status, _, text = ask(address, self.with_password("a", "new"))
            self.assertEqual(status, 200)
            # The counters go on.
            self.assertGreaterEqual(
                openmetrics.value(openmetrics.parse(text), "node_perf_page_faults"),
                openmetrics.value(before, "node_perf_page_faults"))
            s.end()

    def test_wrong_files_are_refused(self):
        for text, problem in (
            ("x", "expected a mapping"), ("tls_server_config: 3", "expected a mapping"),
            ("tls_server_config: {cert_file: server.pem}", "cert_file and key_file"),
            (TLS + "  cipher: x\n", "cipher: the key is not supported"),
            (TLS + "  client_ca_file: ca.pem\n", "client_auth_type"),
            (TLS + "  client_auth_type: RequireAndVerifyClientCert\n", "client_ca_file"),
            (TLS + "  client_auth_type: Whatever\n", "expected NoClientCert"),
            (TLS + "  min_version: TLS14\n", "expected TLS10"),
            (TLS + "  min_version: TLS13\n  max_version: TLS12\n", "max_version"),
            (TLS.replace("server.pem", "nowhere.pem"), "No such file"),
            (TLS + "  cert: x\n", "cert: the file has this text and the name of a file"),
            (TLS + "  cipher_suites: []\n", "expected a list of cipher suites"),
            (TLS + "  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n",
             "'TLS_RSA_WITH_RC4_128_SHA' is not supported"),
            (TLS + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,"
             " TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n",
             "add TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
            (TLS + "  curve_preferences: [CurveP111]\n", "expected CurveP256"),
            (TLS + "  prefer_server_cipher_suites: 3\n", "expected true or false"),
            ("rate_limit: {burst: 2}\n", "rate_limit: the section is not supported: --budget"),
            ("basic_auth_users: {a: plain}", "a hash of bcrypt"),
            ("basic_auth_users: {a: &x y, b: *x}", ":1:32: aliases"),
            ("basic_auth_users: {a: 1, a: 2}", "there already"),
            ("basic_auth: {}", "the section is not supported"),
            ("http_server_config: {headers: {Set-Cookie: x}}", "the header is not supported"),
            ("a: b\n  c: d\n", ":2:"), ("[" * 40, "too many levels"),
            ("--- {}\n--- {}\n", "expected one document")):
            path = self.files.write("web.yml", text)
            done = subprocess.run([PFM, "serve", "-e", "page-faults", "--listen", "127.0.0.1:0",
                                   "--web-config", path], capture_output=True, text=True,
                                  check=False, timeout=20)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(problem, done.stderr, text)
            self.assertNotIn("listening", done.stderr)
        # The service would wait for a writer, and no signal would end it.
        os.mkfifo(self.files.path("fifo"))
        for path in (self.files.path("fifo"),
                     self.files.write("web.yml", TLS.replace("server.key", "fifo"))):
            done = subprocess.run([PFM, "serve", "-e", "page-faults", "--listen", "127.0.0.1:0",
                                   "--web-config", path], capture_output=True, text=True,
                                  check=False, timeout=20)
            self.assertEqual(done.returncode, 1)
            self.assertIn("expected a regular file", done.stderr)
        self.assertEqual(
            subprocess.run([PFM, "serve", "--textfile", "x", "--web-config", path],
                           capture_output=True, check=False).returncode, 2)

    def test_prometheus_beside_silent_clients(self):
        """A real Prometheus scrapes over mutual TLS, and no scrape fails, beside 1,000 clients that
        say nothing, some of whom have begun a handshake."""
        if not shutil.which("prometheus"):
            self.skipTest("prometheus is missing (Debian package prometheus)")
        need = 1200
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < need:
            self.skipTest("fewer than %d open files are allowed" % need)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, need), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with self.serve(TLS + CLIENTS) as s, tempfile.TemporaryDirectory() as folder:
            address = self.address(s)
            port = find_free_port()
            with open(os.path.join(folder, "p.yml"), "w", encoding="ascii") as f:
                f.write("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
                        "- job_name: pfm\n  scheme: https\n  tls_config:\n"
                        "    ca_file: %s\n    cert_file: %s\n    key_file: %s\n"
                        "  static_configs:\n  - targets: ['127.0.0.1:%d']\n"
                        % (self.files.path("ca.pem"), self.files.path("client.pem"),
                           self.files.path("client.key"), address[1]))
            with subprocess.Popen(["prometheus", "--config.file=p.yml", "--storage.tsdb.path=d",
                                   "--web.listen-address=127.0.0.1:%d" % port], cwd=folder,
                                  stderr=subprocess.DEVNULL) as p:
                silent = []

                def crowd_out():
                    """The values of "up", with 50 more silent clients, once there are six."""
                    for i in range(50):
                        silent.append(socket.create_connection(address, timeout=5))
                        if i % 2:
                            silent[-1].sendall(b"\x16\x03\x01\x02\x00\x01")
                    while len(silent) > 1000:
                        silent.pop(0).close()
                    time.sleep(0.1)    # 500 new clients a second are the load
                    up = self.query(port)
                    return up if len(up) >= 6 else None

                try:
                    up = wait_until(crowd_out, "six scrapes")
                finally:
                    p.terminate()
                    for c in silent:
                        c.close()
            self.assertEqual(set(up), {"1"})

    def query(self, port):
        """The values of "up" in the last minute."""
        import urllib.request    # pylint: disable=import-outside-toplevel
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/query?query=up%%5B1m%%5D" %
                                        port) as answer:
                found = json.load(answer)["data"]["result"]
                return [v for _, v in found[0]["values"]] if found else []
        except OSError:
            return []


if __name__ == "__main__":
    tap.main()
