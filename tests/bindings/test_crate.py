#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Rust crates with the sources of the library (scripts/crate.sh): they build with a C compiler
alone, need no installed library, and answer the golden vectors; their benchmark; a program without
std. Needs cargo."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
import native_requests

SOURCE = os.environ["PERFMON_SOURCE"]
BUILD = os.environ["PERFMON_BUILD"]
LIBRARY = os.path.join(BUILD, "lib")
KERNEL_CRATE = """[package]
name = "kernel"
version = "1.0.0"
edition = "2021"

[lib]
path = "kernel.rs"
crate-type = ["staticlib"]

[profile.release]
panic = "abort"

[dependencies]
perfmon = { path = "%s/perfmon", default-features = false }
"""
KERNEL = """#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[no_mangle]
pub extern "C" fn kernel_encode() -> u64 {
    match perfmon::encode("coreduo::L2_Lines_In,core=all,prefetch=only", 0) {
        Ok(event) => event.registers()[0].value,
        Err(_) => 0,
    }
}
"""


class Vendored(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("cargo", "cc", "ar"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.crates = os.path.join(folder.name, "crates")
        subprocess.run([os.path.join(SOURCE, "scripts/crate.sh"), BUILD, cls.crates], check=True)
        cls.environment = {**os.environ, "CARGO_NET_OFFLINE": "true",
                           "CARGO_HOME": os.path.join(folder.name, "home"),
                           "PKG_CONFIG_LIBDIR": folder.name}
        cls.installed = {**cls.environment, "PERFMON_LIB_DIR": LIBRARY, "LD_LIBRARY_PATH": LIBRARY}
        subprocess.run(["cargo", "build", "--locked", "--quiet", "--example", "vectors"],
                       cwd=cls.crates, env=cls.environment, check=True)
        cls.program = os.path.join(cls.crates, "target/debug/examples/vectors")

    def test_program_needs_no_installed_library(self):
        needed = subprocess.run(["readelf", "-d", self.program], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        self.assertNotIn("perfmon", needed)

    def test_golden_vectors_have_the_answers_of_c(self):
        native_requests.compare(self, [self.program])

    def test_benchmarks_print_counts_with_quality(self):
        out = subprocess.run(["cargo", "bench", "--locked", "--quiet", "--bench", "sort"],
                             cwd=self.crates, env=self.installed, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        self.assertRegex(out, r"(?m)^sort: \[\S+ ns \S+ ns \S+ ns\]$")
        self.assertRegex(out, r"(?m)^    task-clock +(\S+ +\w+ \(\w+\)|\w+: .+)$")

    def test_program_without_std_needs_one_function_of_the_library(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        for name, text in (("Cargo.toml", KERNEL_CRATE % self.crates), ("kernel.rs", KERNEL)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=folder, env=self.installed,
                       check=True)
        library = os.path.join(folder, "target/release/libkernel.a")
        names = subprocess.run(["nm", "-u", library], check=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout
        self.assertEqual(set(re.findall(r"U (pfm_\w+)", names)), {"pfm_encode_event"})
        program = os.path.join(folder, "program")
        with open(program + ".c", "w", encoding="utf-8") as f:
            f.write("unsigned long long kernel_encode(void);\n"
                    "void rust_eh_personality(void)\n{\n}\n"
                    "int main(void)\n{\n\treturn kernel_encode() != 0x53d024;\n}\n")
        subprocess.run(["cc", program + ".c", library, "-L" + LIBRARY, "-lperfmon", "-o", program],
                       check=True)
        self.assertEqual(subprocess.run([program], env=self.installed, check=False).returncode, 0)

    def test_crate_is_small_enough_for_a_registry(self):
        done = subprocess.run(["tar", "czf", "-", "perfmon-sys"], cwd=self.crates, check=True,
                              stdout=subprocess.PIPE)
        # crates.io accepts 10 MB.
        self.assertLess(len(done.stdout), 10_000_000)


if __name__ == "__main__":
    tap.main()
