#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs and libraries that are gone after a recording keep their names.

    PFM  the command (default: pfm of the path)
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tap  # noqa: E402

PFM = os.environ.get("PFM", "pfm")
# Half of the work, a command, and the other half. Statically linked, so that it runs anywhere.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned x;
__attribute__((noinline)) void hot(long n) { for (long i = 0; i < n; i++) x += (unsigned)i; }
int main(int argc, char **argv)
{
	hot(200000000);
	if (argc > 1) {
		if (argv[1][0] == '-')
			remove(argv[2]);
		else
			rename(argv[1], argv[2]);
	}
	hot(200000000);
	return 0;
}
"""
LIBRARY = """
static volatile unsigned y;
void warm(long n) { for (long i = 0; i < n; i++) y += (unsigned)i; }
"""
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*warm)(long) = library ? (void (*)(long))dlsym(library, "warm") : NULL;
	if (argc < 2 || !warm)
		return 9;
	warm(200000000);
	remove(argv[1]);
	warm(200000000);
	return 0;
}
"""


class KeptFiles(unittest.TestCase):
    def setUp(self):
        if not shutil.which("gcc"):
            self.skipTest("no C compiler (Debian: gcc)")
        self.folder = tempfile.mkdtemp(prefix="perfmon-kept-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.build("work", PROGRAM, "-static")

    def build(self, name, source, *args):
        source_file = os.path.join(self.folder, name + ".c")
        with open(source_file, "w", encoding="utf-8") as f:
            f.write(source)
        subprocess.run(["gcc", "-O1", "-Wl,--build-id", *args, "-o", name, source_file],
                       cwd=self.folder, check=True)
        os.remove(source_file)

    def pfm(self, *args):
        return subprocess.run([PFM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, check=False)

    def record(self, *command):
        done = self.pfm("record", "-e", "task-clock:u", "-o", "run.data", "--", *command)
        if "not permitted" in done.stderr or "Permission" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def report(self, *args):
        done = self.pfm("report", "--json", "--sort", "object,symbol", *args, "run.data")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def named_share(self, name):
        rows, _ = self.report()
        everything = sum(r["samples"] for r in rows)
        self.assertGreater(everything, 100)
        return sum(r["samples"] for r in rows if r["function"] == name) / everything

    def need_root(self):
        if os.geteuid() != 0:
            self.skipTest("root alone can change root folders and namespaces")

    def test_a_program_that_is_deleted_while_it_runs(self):
        said = self.record("./work", "-", "work")
        self.assertIn("1 program or library that is gone is stored in run.data.files", said)
        self.assertGreater(self.named_share("hot"), 0.99)

    def test_a_program_that_is_replaced_while_it_runs(self):
        self.build("other", PROGRAM + "int added;", "-static")
        said = self.record("./work", "other", "work")
        self.assertIn("stored in run.data.files", said)
        self.assertGreater(self.named_share("hot"), 0.99)

    def test_a_library_that_is_deleted_while_it_is_used(self):
        self.build("libwarm.so", LIBRARY, "-shared", "-fPIC")
        self.build("loader", LOADER)
        self.record("./loader", "./libwarm.so")
        self.assertGreater(self.named_share("warm"), 0.97)

    def test_a_program_in_a_changed_root_folder(self):
        self.need_root()
        os.makedirs(os.path.join(self.folder, "root", "bin"))
        shutil.move(os.path.join(self.folder, "work"), os.path.join(self.folder, "root", "bin"))
        self.record("chroot", "root", "/bin/work")
        self.assertGreater(self.named_share("hot"), 0.97)

    def test_a_program_in_another_mount_namespace(self):
        self.need_root()
        script = "mkdir only && mount -t tmpfs none only && cp work only && only/work"
        if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
            self.skipTest("no mount namespaces here")
        self.record("unshare", "-m", "sh", "-c", script)
        self.assertGreater(self.named_share("hot"), 0.97)

    def test_files_that_stay_are_not_stored(self):
        self.assertNotIn("stored", self.record("./work"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "run.data.files")))

    def test_files_of_others_beside_a_recording_are_not_believed(self):
        self.need_root()
        self.record("./work", "-", "work")
        for folder, _, files in os.walk(os.path.join(self.folder, "run.data.files")):
            for name in files:
                os.chown(os.path.join(folder, name), 65534, 65534)
        self.assertEqual(self.named_share("hot"), 0)

    def test_a_folder_that_the_user_names(self):
        self.record("./work", "-", "work")
        os.rename(os.path.join(self.folder, "run.data.files"), os.path.join(self.folder, "store"))
        self.assertEqual(self.named_share("hot"), 0)
        rows, said = self.report("--symbols", "store")
        self.assertEqual(said, "")
        self.assertEqual(max(rows, key=lambda r: r["samples"])["function"], "hot")

    def test_a_file_that_is_gone_is_one_row_and_says_why(self):
        self.record("./work")
        os.remove(os.path.join(self.folder, "work"))
        done = self.pfm("report", "--sort", "object,symbol", "run.data")
        rows = [line.split()[-2:] for line in done.stdout.splitlines() if " work " in line]
        self.assertEqual(rows, [["[no", "name]"]])
        self.assertIn("/work are not named: the file is gone, or it is of another mount namespace",
                      done.stderr)
        rows, _ = self.report()
        self.assertGreater(len([r for r in rows if r["function"].startswith("0x")]), 1)

    def test_an_export_leaves_no_folder(self):
        done = self.pfm("record", "-e", "task-clock:u", "-o", "run.folded", "--", "./work", "-",
                        "work")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "run.folded"), encoding="utf-8") as f:
            self.assertIn(";hot ", f.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["run.folded"])


if __name__ == "__main__":
    tap.main()
