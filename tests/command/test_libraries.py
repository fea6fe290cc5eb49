#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libperfmon, libpfm.so.3, libpfm.so.4 and PAPI: no exported names in common, and one program with
all of them."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap

BUILD = os.environ["PERFMON_BUILD"]
SOURCE = os.environ["PERFMON_SOURCE"]
PERFMON = os.path.join(BUILD, "lib/libperfmon.so.1")
LIBPFM3 = os.path.join(BUILD, "lib/compat/libpfm3/libpfm.so.3")
LIBPFM3_DEFAULT = os.path.join(BUILD, "lib/compat/libpfm3/default/libpfm.so.3")
LIBPFM4 = os.path.join(BUILD, "lib/compat/libpfm4/libpfm.so.4")

# A program of libpfm 3 and of libperfmon. It prints what each answers.
USER_OF_LIBPFM3 = r"""
#include <perfmon/pfmlib_montecito.h>
int registers_of_libpfm3(unsigned long long *value)
{
	static pfmlib_input_param_t in;
	static pfmlib_output_param_t out;

	if (pfm_initialize() && pfm_force_pmu(PFMLIB_MONTECITO_PMU))
		return 1;
	if (pfm_force_pmu(PFMLIB_MONTECITO_PMU) || pfm_find_full_event("CPU_OP_CYCLES_ALL", &in.pfp_events[0]))
		return 1;
	in.pfp_event_count = 1;
	in.pfp_dfl_plm = PFM_PLM3;
	if (pfm_dispatch_events(&in, 0, &out, 0))
		return 1;
	*value = out.pfp_pmcs[0].reg_value;
	return 0;
}
"""
MAIN = r"""
#include <stdio.h>
#include <perfmon/perfmon.h>
#ifdef WITH_PAPI
/* Of papi.h, which need not be installed. */
enum { PAPI_OK, PAPI_NATIVE_MASK = 0x40000000, PAPI_ENUM_EVENTS = 0, PAPI_ENUM_FIRST = 1 };
int PAPI_library_init(int version);
int PAPI_num_components(void);
int PAPI_enum_cmp_event(int *code, int modifier, int component);
#endif
int registers_of_libpfm3(unsigned long long *value);

int main(void)
{
	pfm_encoding_t e = PFM_INIT(e);
	unsigned long long value = 0;

	if (pfm_encode_event(NULL, "montecito::CPU_OP_CYCLES_ALL:u", 0, &e, NULL) || registers_of_libpfm3(&value))
		return 1;
	printf("%llx %llx\n", (unsigned long long)e.regs[0].value, value);
#ifdef WITH_PAPI
	int n = 0, code;

	if (PAPI_library_init(WITH_PAPI) != WITH_PAPI)
		return 2;
	for (int c = 0; c < PAPI_num_components(); c++) {
		code = PAPI_NATIVE_MASK;
		if (PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, c) == PAPI_OK)
			do
				n++;
			while (n < 1000000 && PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, c) == PAPI_OK);
	}
	printf("%d\n", n);
#endif
	return 0;
}
"""


def exported(path):
    """Names that @path defines for other objects, without versions."""
    done = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True,
                          check=True)
    return {
        line.split()[2].split("@")[0] for line in done.stdout.splitlines()
        if line.split()[1] in "TWDBRV"
    }


def system_library(name):
    """Path of a library of the system, or None."""
    done = subprocess.run(["cc", "-print-file-name=" + name], capture_output=True, text=True,
                          check=True)
    path = done.stdout.strip()
    return path if os.path.isabs(path) else None


class Names(unittest.TestCase):
    def setUp(self):
        if not shutil.which("nm"):
            self.skipTest("nm is missing (Debian package binutils)")

    def test_libperfmon_exports_no_name_of_libpfm(self):
        ours = exported(PERFMON)
        self.assertGreater(len(ours), 50)
        for path in (LIBPFM3, LIBPFM4, system_library("libpfm.so.4"), system_library("libpfm.so")):
            if path and os.path.exists(path):
                self.assertEqual(sorted(ours & exported(path)), [], path)

    def test_libperfmon_and_the_interface_of_libpfm_3(self):
        """facts/montecito.md lists the functions of libpfm 3.10; if it is missing, the header replaces it."""
        path = os.path.join(os.path.dirname(SOURCE), "shared/facts/montecito.md")
        if not os.path.exists(path):
            path = os.path.join(SOURCE, "include/libpfm3/perfmon/pfmlib.h")
        with open(path, encoding="utf-8") as f:
            theirs = set(re.findall(r"\bpfm_[a-z0-9_]+(?=\()", f.read()))
        self.assertIn("pfm_dispatch_events", theirs)
        self.assertEqual(sorted(theirs & exported(PERFMON)), [])


    def test_each_job_has_one_function(self):
        ours = exported(PERFMON)
        for pattern, wanted in ((r"pfm_(open|read|load)_recording", {"pfm_open_recording"}),
                                (r"pfm_(create|write|start)_recording", {"pfm_create_recording"}),
                                (r"pfm_(compute|evaluate|estimate|judge)_\w*metric\w*",
                                 {"pfm_compute_metric", "pfm_compute_session_metric",
                                  "pfm_compute_counted_metric"
                                  }), (r"pfm_encode\w*|pfm_dispatch\w*|pfm_get\w*encoding\w*", {
                                      "pfm_encode_event", "pfm_encode_event_at",
                                      "pfm_encode_perf_attr", "pfm_dispatch_set"
                                  }), (r"pfm_(count_session\w*|session_(size|length|count\w*))",
                                       {"pfm_session_size"
                                        }), (r"pfm_\w*sampl\w*statistics|pfm_read_samples",
                                             {"pfm_sampling_statistics"}), (r"pfm_spawn\w*",
                                                                            {"pfm_spawn_session"})):
            self.assertEqual({name for name in ours if re.fullmatch(pattern, name)}, wanted,
                             pattern)


class Bindings(unittest.TestCase):
    """Generators of bindings (bindgen, cgo) see what has a name and a type: they drop macros with
    casts, and make plain numbers of enums without a name."""

    def headers(self):
        folder = os.path.join(SOURCE, "include/perfmon")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".h"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    yield name, re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)

    def test_constants_are_no_casts(self):
        cast = (
            r"(?m)^#define (\w+)\s+\(*\(\s*(?:const |unsigned |struct |enum )*[a-z]\w*["
            r" *]*\)\s*[-~\w(]"
        )
        self.assertTrue(re.search(cast, "#define PFM_NO_EVENT ((uint32_t)-1)\n"))
        for name, text in self.headers():
            self.assertEqual(re.findall(cast, text), [], name)

    def test_enums_and_unions_have_names(self):
        # their structs of bit fields are those of the documents
        layouts = ("montecito.h", "pfcntr.h")
        for name, text in self.headers():
            self.assertEqual(re.findall(r"(?m)^(?:enum|union|struct) \{", text), [], name)
            if name not in layouts:
                self.assertEqual(re.findall(r"\b(?:enum|union|struct) \{[^{}]*\}\s*;", text), [],
                                 name)


@unittest.skipUnless(os.path.exists(LIBPFM3), "libpfm.so.3 is not built")
class OneCopy(unittest.TestCase):
    """The tables are in libperfmon.so.1 alone, which the others load."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def compile(self, name, text, *options):
        source, output = (os.path.join(self.folder, n) for n in (name + ".c", name))
        with open(source, "w", encoding="ascii") as f:
            f.write(text)
        done = subprocess.run(["cc", "-I" + SOURCE + "/include/libpfm3", "-I" + SOURCE + "/include",
                               source, "-o", output, *options], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output

    def run_with(self, program, *folders):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_"))}
        env["LD_LIBRARY_PATH"] = ":".join(folders)
        return subprocess.run([program], env=env, capture_output=True, text=True, check=False)

    def test_no_other_library_has_events(self):
        for path in (PERFMON, LIBPFM3, LIBPFM3_DEFAULT, os.path.join(BUILD, "tools/pfm"),
                     *glob.glob(os.path.join(BUILD, "lib/profile/*.so.1")),
                     *glob.glob(os.path.join(BUILD, "lib/region/adapters/*.so"))):
            if os.path.exists(path):
                with open(path, "rb") as f:
                    self.assertEqual(b"\0BUS_RD_PRTL_SELF\0" in f.read(), path == PERFMON, path)

    def test_libperfmon_of_another_build_is_refused(self):
        names = sorted(name for name in exported(PERFMON) if name.startswith("pfm"))
        private = [name for name in names if name.startswith("pfmi_")]
        self.assertGreater(len(private), 10)
        script = os.path.join(self.folder, "map")
        with open(script, "w", encoding="ascii") as f:
            f.write("PERFMON_1.0 { global: %s; local: *; };\nPERFMON_PRIVATE_0 { global: %s; };\n" %
                    ("; ".join(n for n in names if n not in private), "; ".join(private)))
        self.compile("libperfmon.so.1", "".join("int %s(void) { return 0; }\n" % n for n in names),
                     "-shared", "-fPIC", "-Wl,-soname,libperfmon.so.1",
                     "-Wl,--version-script," + script)
        program = self.compile(
            "program", "#include <perfmon/pfmlib.h>\nint main(void) { return pfm_initialize(); }\n",
            LIBPFM3, "-L" + os.path.join(BUILD, "lib"), "-lperfmon")
        done = self.run_with(program, self.folder, os.path.dirname(LIBPFM3))
        self.assertRegex(done.stderr, r"version `PERFMON_PRIVATE_\S+' not found")
        self.assertNotEqual(done.returncode, 0)

    def test_program_linked_to_libpfm_3_10(self):
        """The symbols of that library have no version."""
        functions = sorted(set(re.findall(r"\bpfm_\w+(?=\()", USER_OF_LIBPFM3)))
        stub = os.path.join(self.folder, "stub")
        os.mkdir(stub)
        self.compile("stub/libpfm.so.3", "".join("int %s(void) { return 99; }\n" % name
                                                 for name in functions), "-shared", "-fPIC",
                     "-Wl,-soname,libpfm.so.3")
        program = self.compile(
            "program", """#include <stdio.h>
%s
int main(void)
{
	unsigned long long value = 0;
	int rc = registers_of_libpfm3(&value);

	printf("%%d %%llx\\n", rc, value);
	return 0;
}
""" % USER_OF_LIBPFM3, "-DPERFMON_LIBPFM3_STATIC", stub + "/libpfm.so.3")
        self.assertEqual(self.run_with(program, stub).stdout, "1 0\n")
        done = self.run_with(program, os.path.dirname(LIBPFM3_DEFAULT), os.path.join(BUILD, "lib"))
        # tests/vectors: mp0200 of libpfm 3.10
        self.assertEqual((done.stdout, done.stderr), ("0 2001208\n", ""))

    def test_program_linked_to_libpfm_so_3(self):
        """A program of the library beside libperfmon.so.1 runs with the one in the private folder."""
        program = self.compile(
            "program", "#include <perfmon/pfmlib.h>\n"
            "int main(void) { return pfm_force_pmu(PFMLIB_MONTECITO_PMU); }\n", LIBPFM3,
            "-L" + os.path.join(BUILD, "lib"), "-lperfmon")
        done = self.run_with(program, os.path.dirname(LIBPFM3_DEFAULT), os.path.join(BUILD, "lib"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class OneProgram(unittest.TestCase):
    """Each order of the libraries on the command line, with PAPI, which needs libpfm4 itself."""

    def build(self, *libraries):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        papi = ["-DWITH_PAPI=0x%02x%02x0000" % tuple(map(int, m)) for path in libraries
                for m in re.findall(r"libpapi\.so\.(\d+)\.(\d+)$", path)]
        for name, text in (("main.c", MAIN), ("user3.c", USER_OF_LIBPFM3)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        program = os.path.join(folder, "program")
        include = os.path.join(SOURCE, "include")
        done = subprocess.run([
            "cc", "-Wall", "-Werror", *papi, "-I" + include, "-I" + include + "/libpfm3",
            os.path.join(folder, "main.c"),
            os.path.join(folder, "user3.c"), "-o", program, "-L" + os.path.join(BUILD, "lib"),
            *libraries
        ], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_program(self, program):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_"))}
        env["LD_LIBRARY_PATH"] = ":".join((os.path.join(BUILD, "lib"), os.path.dirname(LIBPFM3)))
        env["LIBPFM_FORCE_PMU"] = "skl"  # PAPI's libpfm4 may be older than this machine
        done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.split()

    def check(self, *libraries):
        words = self.run_program(self.build(*libraries))
        # PMC value of the event, once by libperfmon and once by libpfm.so.3: facts of the Itanium 2
        # manual.
        self.assertEqual(words[0], words[1], words)
        return words

    def setUp(self):
        if not os.path.exists(LIBPFM3):
            self.skipTest("libpfm.so.3 is not built")

    def test_libperfmon_and_libpfm3(self):
        self.check("-lperfmon", LIBPFM3)
        self.check(LIBPFM3, "-lperfmon")

    def test_papi_counts_in_the_same_program(self):
        papi = sorted(
            glob.glob(
                os.path.join(os.path.dirname(system_library("libc.so.6") or ""), "libpapi.so.?.?")))
        if not papi:
            self.skipTest("PAPI is not installed (Debian package libpapi7.0)")
        counts = {
            self.check(*order)[2]
            for order in ((papi[-1], "-lperfmon", LIBPFM3), ("-lperfmon", LIBPFM3, papi[-1]),
                          (LIBPFM3, papi[-1], "-lperfmon"))
        }
        self.assertEqual(len(counts), 1, counts)
        self.assertGreater(int(counts.pop()), 0)


class OneFile(unittest.TestCase):
    """The headers of libperfmon and libpfm4 in one C file."""

    def both(self, *headers):
        source = "".join(f'#include "{os.path.join(SOURCE, "include", h)}"\n' for h in headers)
        done = subprocess.run(
            ["cc", "-fsyntax-only", "-Werror", "-I", os.path.join(SOURCE, "include"), "-xc", "-"],
            input=source, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_headers_compile_with_libperfmon_first(self):
        self.both("perfmon/perfmon.h", "libpfm4/perfmon/pfmlib.h")

    def test_headers_compile_with_libpfm4_first(self):
        self.both("libpfm4/perfmon/pfmlib.h", "perfmon/perfmon.h")


if __name__ == "__main__":
    tap.main()
