# SPDX-License-Identifier: MIT
"""C++ names beside libstdc++'s __cxa_demangle() and beside c++filt, for the symbols of the C++
libraries that this machine has."""

import glob
import os
import re
import shutil
import subprocess
import unittest

import tap

PROGRAM = os.path.join(os.environ["PERFMON_BUILD"], "tests", "demangle_names")
FOLDERS = ["/usr/lib/*-linux-gnu*/", "/usr/lib64/", "/usr/lib/", "/usr/lib/llvm-*/lib/"]
ENOUGH = 60000 if os.environ.get("PERFMON_LONG") else 20000    # names


def read_symbols(path):
    symbols = set()
    for option in ([], ["-D"]):
        done = subprocess.run(["nm", *option, path], capture_output=True, text=True,
                              errors="replace", check=False)
        symbols |= {re.sub("@.*", "", line.split(" ")[-1]) for line in done.stdout.splitlines()}
    return {s for s in symbols if s.startswith("_Z")}


def read_installed_symbols():
    """Symbols of libraries, the smallest first: those have the most different makers."""
    paths = {os.path.realpath(p) for folder in FOLDERS for p in glob.glob(folder + "*.so*")}
    symbols = set()
    for path in sorted((p for p in paths if os.path.isfile(p)), key=os.path.getsize):
        if len(symbols) < ENOUGH:
            symbols |= read_symbols(path)
    return sorted(symbols)


def without_empty_packs(text):
    """libstdc++ prints "f<, int>(, int)" where a pack has no elements, and forgets the blank
    between two ">" after one."""
    text = re.sub(r"(?<=[(<{]), |, (?=, )|, (?=[)>}])", "", text)
    return text.replace("> >", ">>").replace("> >", ">>")


class TestNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("nm") or not os.path.exists(PROGRAM):
            raise unittest.SkipTest("nm is missing (Debian package binutils)")
        cls.symbols = read_installed_symbols()
        if len(cls.symbols) < 1000:
            raise unittest.SkipTest("no C++ libraries are installed")

    def test_names_are_those_of_the_cxx_library(self):
        done = subprocess.run([PROGRAM], input="\n".join(self.symbols) + "\n", text=True,
                              capture_output=True, check=False)
        if done.returncode == 77:
            self.skipTest("libstdc++.so.6 is missing (Debian package libstdc++6)")
        *rows, last = done.stdout.splitlines()
        n_equal = int(last.split()[1])
        others = [r.split("\t") for r in rows]
        lost = [symbol for symbol, ours, _ in others if not ours]
        # A reference to a template parameter is resolved in the function that has it; libstdc++
        # keeps the scope in which it was seen first.
        odd = [r for r in others
               if r[2] and without_empty_packs(r[1]) != without_empty_packs(r[2])]
        self.assertEqual(lost, [], "names that only libstdc++ demangles")
        self.assertLess(len(odd), len(self.symbols) / 1000, odd[:3])
        print("# %d of %d names are equal, %d differ beside empty packs" %
              (n_equal, len(self.symbols), len(odd)))
        self.assertGreater(n_equal, len(self.symbols) * 0.97)

    def test_names_are_those_of_binutils(self):
        if not shutil.which("c++filt"):
            self.skipTest("c++filt is missing (Debian package binutils)")
        # c++filt writes std::string out, so names without abbreviations are compared.
        plain = [s for s in self.symbols if not re.search("S[absiod]", s)]
        theirs = subprocess.run(["c++filt"], input="\n".join(plain) + "\n", text=True,
                                capture_output=True, check=True).stdout.splitlines()
        ours = subprocess.run([PROGRAM, "ours"], input="\n".join(plain) + "\n", text=True,
                              capture_output=True, check=True).stdout.splitlines()
        # c++filt reads old names of Rust as such, and no reference temporary without a number.
        pairs = [(without_empty_packs(a), without_empty_packs(b[:len(a)]))
                 for a, b, symbol in zip(ours, theirs, plain)
                 if b != symbol and not re.search("17h[0-9a-f]{16}E", symbol)]
        odd = [p for p in pairs if p[0] != p[1]]
        self.assertEqual(len(ours), len(theirs))
        self.assertLess(len(odd), len(plain) / 1000, odd[:3])


if __name__ == "__main__":
    tap.main()
