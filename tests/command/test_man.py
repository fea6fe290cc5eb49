#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages against the headers, the version script and the library; their examples compiled
and run.

    PERFMON_SOURCE   root of the source tree (default: the parent of this folder)
    PERFMON_BUILD    build directory; without it examples and exported symbols are skipped

Conventions of the pages that this relies on: the names in a NAME section are the pages that will be
installed; a display in EXAMPLES that begins with #include is a complete program; a display after
"It prints:" is its exact output; a comment 'compiled only' or 'pmuc' in the line before a display
says how else it is checked.
"""

import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SOURCE = os.environ.get("PERFMON_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PERFMON_BUILD", "")
DOCS = os.path.join(SOURCE, "docs")
MANDOC = shutil.which("mandoc")
PFM = os.environ.get("PFM", os.path.join(BUILD, "tools/pfm"))

# Pages of other packages that ours refer to.
FOREIGN = {
    "objdump(1)", "free(3)", "ioctl(2)", "open(2)", "perf_event_open(2)", "perf_event_paranoid(2)",
    "printf(3)", "read(2)", "perf(1)", "debuginfod(8)", "fnmatch(3)", "perf-stat(1)",
    "perf-list(1)", "capabilities(7)", "wait(2)", "poll(2)", "malloc(3)", "clock_gettime(2)",
    "getrusage(2)", "taskset(1)", "fork(2)", "pthread_atfork(3)"
}
# Style remarks of mandoc that do not matter here, and why.
IGNORED = (
    "operating system explicitly specified",  # the footer says the same on every system
    "referenced manual not found",  # mandoc searches its database only; see references()
    "outdated mandoc.db",
    "possible typo in section name: Sh RETURN VALUE",  # man-pages(7) has RETURN VALUE,
    "sections out of conventional order",  # and an order that test_order checks
)
# In pages written from tables, lines hold names and texts as the tables have them.
IGNORED_GENERATED = IGNORED + ("input text line longer than 80 bytes", "consider using OS macro")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def pages():
    """Every page: those of the source tree and those that the build wrote."""
    found = sorted(glob.glob(os.path.join(DOCS, "man[1-9]", "*.[1-9]")))
    return found + sorted(p for p in glob.glob(os.path.join(BUILD, "docs", "*.7")) if BUILD)


def label(path):
    name, section = os.path.basename(path).rsplit(".", 1)
    return "%s(%s)" % (name, section)


def names(text):
    """The names in the NAME section."""
    head = re.search(r"^\.Sh NAME\n(.*?)^\.Nd", text, re.S | re.M)
    return re.findall(r"^\.Nm (\S+)", head[1], re.M) if head else []


def section(text, title):
    found = re.search(r"^\.Sh %s\n(.*?)(?=^\.Sh |\Z)" % title, text, re.S | re.M)
    return found[1] if found else ""


# ---- headers -------------------------------------------------------------------------------------

def is_libpfm4(path):
    """True for the page of the other library, whose headers have a folder of their own."""
    return os.path.basename(path) == "libpfm4.3"


def headers(path=""):
    folders = ["include/libpfm4/perfmon"
               ] if is_libpfm4(path) else ["include/perfmon", "include/libpfm3/perfmon"]
    return {
        os.path.basename(p): read(p) for folder in folders
        for p in glob.glob(os.path.join(SOURCE, folder, "*.h"))
    }


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def without_directives(text):
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", without_comments(text), flags=re.M)


def squeeze(text):
    return re.sub(r"\s*([(),*;{}\[\]])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def prototypes(path=""):
    """name -> (header, prototype squeezed, is inline)."""
    found = {}
    for header, text in headers(path).items():
        for m in re.finditer(
            r"((?:static inline )?[A-Za-z_][A-Za-z0-9_ ]*?["
            r" *]+)(pfm_[a-z0-9_]+)\(((?:[^()]|\([^()]*\))*)\)"
            r"\s*(?=;|\{)",
            re.sub(r"\bPERFMON_[A-Z_]+_ (?=void pfm_)", "", without_directives(text)),
        ):
            inline = m[1].startswith("static inline ")
            found[m[2]] = header, squeeze("%s %s(%s)" %
                                          (m[1].replace("static inline ", ""), m[2], m[3])), inline
    return found


def types(path=""):
    """name -> body squeezed, of every structure, union and enumeration."""
    found, opaque = {}, {}
    for text in headers(path).values():
        text = without_directives(text)
        for m in re.finditer(
            (
                r"typedef (?:struct|union|enum)(?: \w+)? \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
                r" (\w+);"
            ),
            text,
        ):
            found[m[2]] = squeeze(m[1])
        for m in re.finditer(r"\n(?:struct|union) (\w+) \{((?:[^{}]|\{[^{}]*\})*)\};", text):
            found[m[1]] = squeeze(m[2])
        for m in re.finditer(r"typedef (?:struct|union) (\w+) (\w+);", text):
            opaque.setdefault(m[2], m[1])
    for name, tag in opaque.items():
        found.setdefault(name, found.get(tag, ""))
    return found


def constants(path=""):
    """Macros, enumerators and constant objects."""
    found = set()
    for text in headers(path).values():
        found.update(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
        found.update(re.findall(r"^static const \w+ (\w+) =", text, re.M))
        for body in re.findall(r"enum(?: \w+)? \{([^{}]*)\}", without_comments(text)):
            found.update(re.findall(r"\b([A-Za-z_]\w*)\b(?=\s*(?:=|,|$))", body.strip()))
    return found


# ---- displays ------------------------------------------------------------------------------------

def unescape(lines):
    return "\n".join(
        re.sub(r"^\\&", "", line).replace("\\e", "\\").replace("\\&", "") for line in lines) + "\n"


def displays(text):
    """(marker, line before, text) of each literal display in a piece of a page."""
    out, lines, i = [], text.split("\n"), 0
    while i < len(lines):
        if lines[i].startswith(".Bd -literal"):
            end = lines.index(".Ed", i)
            marker = lines[i - 1][4:] if i and lines[i - 1].startswith('.\\" ') else ""
            before = next((line for line in reversed(lines[:i]) if not line.startswith(".")), "")
            out.append((marker, before, unescape(lines[i + 1:end])))
            i = end
        i += 1
    return out


class Program:
    """A program of an EXAMPLES section."""

    def __init__(self, path, number, text, run):
        self.path, self.number, self.text, self.run, self.expected = path, number, text, run, None
        self.name = "%s_%d" % (os.path.basename(path).replace(".", "_"), number)


def programs():
    out = []
    for path in pages():
        last = None
        for marker, before, text in displays(section(read(path), "EXAMPLES")):
            if text.startswith("#include"):
                last = Program(path, len(out), text, "compiled only" not in marker)
                out.append(last)
            elif before.endswith("It prints:") and last:
                last.expected = text
    return out


# ---- building ------------------------------------------------------------------------------------

def library():
    return os.path.join(BUILD, "lib", "libperfmon.so") if BUILD else ""


def runnable():
    """Why programs for this build cannot be run here, or None."""
    if not BUILD or not os.path.exists(library()):
        return "no built library (PERFMON_BUILD)"
    with open(library(), "rb") as f, open("/proc/self/exe", "rb") as me:
        ours, mine = f.read(20), me.read(20)
    if ours[18:20] != mine[18:20] and not (mine[18] == 62 and ours[18] == 3):
        return "the library is for another machine"
    return None


def compiler():
    """The command that compiled the library, with the options that change its ABI."""
    command, flags = shlex.split(os.environ.get("CC", "cc")), []
    try:
        with open(os.path.join(BUILD, "meson-info", "intro-targets.json"), encoding="utf-8") as f:
            for target in json.load(f):
                if target["name"] == "perfmon" and target["type"] == "shared library":
                    source = next(s for s in target["target_sources"] if s.get("compiler"))
                    command = source["compiler"]
                    flags = [
                        p for p in source["parameters"]
                        if re.match(r"-m\d|-fsanitize|--coverage", p)
                    ]
    except (OSError, StopIteration, ValueError, KeyError):
        pass
    return command + flags


class Built:
    """Every example, compiled once: program -> (error text or None, executable)."""
    results = None

    @classmethod
    def get(cls):
        if cls.results is None:
            cls.folder = tempfile.TemporaryDirectory(prefix="perfmon-man-")
            base = compiler()
            todo = programs()
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                cls.results = dict(
                    zip([p.name for p in todo], pool.map(lambda p: cls.compile(base, p), todo)))
        return cls.results

    @classmethod
    def compile(cls, base, program):
        source = os.path.join(cls.folder.name, program.name + ".c")
        exe = os.path.join(cls.folder.name, program.name)
        with open(source, "w", encoding="utf-8") as f:
            f.write(program.text)
        if is_libpfm4(program.path):
            folders, links = ["libpfm4"
                              ], ["-L" + os.path.join(BUILD, "lib/compat/libpfm4"), "-lpfm"]
        else:
            folders, links = ["", "libpfm3"], [
                "-L" + os.path.join(BUILD, "lib"), "-Wl,--as-needed",
                "-L" + os.path.join(BUILD, "lib/profile"), "-lperfmon-profile", "-lperfmon",
                os.path.join(BUILD, "lib/compat/libpfm3/libpfm.so.3")
            ]
        done = subprocess.run(
            base + [
                "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1",
                *("-I" + os.path.join(SOURCE, "include", f)
                  for f in folders), source, "-o", exe, *links
            ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        return (done.stdout if done.returncode else None), exe


def clean_environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PERFMON_", "LIBPFM_"))}
    env["LD_LIBRARY_PATH"] = ":".join(
        os.path.join(BUILD, f)
        for f in ("lib", "lib/profile", "lib/compat/libpfm3", "lib/compat/libpfm4"))
    env["XDG_DATA_HOME"] = "/nonexistent"
    return env


# ---- the cases -----------------------------------------------------------------------------------

class Pages(unittest.TestCase):
    """One case a page and question; filled in below."""
    maxDiff = None


def lint(path):
    def case(self):
        if not MANDOC:
            self.skipTest("mandoc is not installed")
        done = subprocess.run([MANDOC, "-Tlint", "-Wstyle", path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, universal_newlines=True)
        ignored = IGNORED if path.startswith(DOCS) else IGNORED_GENERATED
        left = [
            line for line in done.stdout.splitlines() if not any(word in line for word in ignored)
        ]
        # A quote macro extends to the end of the line: text after a comma would be quoted, too.
        left += re.findall(r"^\.(?:Pq )?(?:Ql|Sq|Dq) \S+ , \S.*", read(path), re.M)
        self.assertEqual(left, [])
    return case


def references(path):
    def case(self):
        known = {
            "%s(%s)" % (name, page.rsplit(".", 1)[1]) for page in pages()
            for name in names(read(page))
        } | FOREIGN
        if not BUILD:
            known |= {
                r for r in re.findall(r"perfmon_\w+\(7\)", "\n".join(map(reference_list, pages())))
            }
        wrong = [r for r in reference_list(path).split("\n") if r and r not in known]
        self.assertEqual(wrong, [], "no such page")
    return case


def reference_list(path):
    return "\n".join("%s(%s)" % m for m in re.findall(r"\bXr (\S+) (\d)", read(path)))


def vocabulary(path):
    """Functions, types and constants that a page speaks of exist."""
    def case(self):
        text = read(path)
        functions, known = prototypes(path), constants(path)
        wrong = [n for n in re.findall(r"^\.(?:Fn|Fo) (pfm_\w+)", text, re.M) if n not in functions]
        wrong += [
            n for n in re.findall(r"\b(pfm_[a-z0-9_]+_t)\b", text)
            if n not in types(path) and n not in ("pfm_ctx_t", "pfm_session_t", "pfm_profile_t",
                                                  "pfm_symbols_t", "pfm_plan_t", "pfm_err_t",
                                                  "pfm_error_kind_t", "pfm_quality_t",
                                                  "pfm_cause_t", "pfm_log_fn_t")
        ]
        for n in re.findall(r"\b((?:PFMLIB|PFM|PF5|PF6|PF67|PCNT)[A-Z0-9]*_?\w*\*?)",
                            re.sub(r"^\.Dt .*|\\&", "", text, flags=re.M)):
            if n.endswith("*"):
                pattern = re.compile(re.escape(n[:-1]) + r"\w*")
                if not any(pattern.fullmatch(k) for k in known):
                    wrong.append(n)
            elif n not in known:
                wrong.append(n)
        self.assertEqual(sorted(set(wrong) - ALLOWED_WORDS), [])
    return case


# Beginnings of names that pages speak of.
ALLOWED_WORDS = {"PF67_PM_", "PCNTDISABLE"}    # the second is of sys/pfcntr.h alone


def synopsis(path):
    """Prototypes of the SYNOPSIS are those of the headers, and every name of the page has one."""
    def case(self):
        text, declared = read(path), prototypes()
        shown, header, result, args, name = {}, "", "", None, ""
        for line in section(text, "SYNOPSIS").split("\n"):
            word, _, rest = line.partition(" ")
            rest = rest.strip().strip('"')
            if word == ".In":
                header = os.path.basename(rest)
            elif word == ".Ft":
                result = rest
            elif word == ".Fo":
                name, args = rest, []
            elif word == ".Fa":
                args.append(rest)
            elif word == ".Fc":
                shown[name] = header, squeeze("%s %s(%s)" % (result, name, ", ".join(args)))
            elif word == ".Fn":
                parts = shlex.split(line)[1:]
                shown[parts[0]] = header, squeeze("%s %s(%s)" %
                                                  (result, parts[0], ", ".join(parts[1:])))
        for name in names(text):
            if name in declared:
                self.assertIn(name, shown)
                self.assertEqual(shown[name], declared[name][:2])
    return case


def structures(path):
    """Structures that a page shows are those of the headers."""
    def case(self):
        known = types()
        for _, _, text in displays(read(path)):
            m = re.match(r"typedef (?:struct|union)(?: \w+)? \{(.*)\} (\w+);\s*$", text, re.S) or \
                re.match(r"struct (?P<n>\w+) \{(.*)\};\s*$", text, re.S)
            if m and not text.startswith("#"):
                body, name = (m[1], m[2]) if text.startswith("typedef") else (m[2], m[1])
                self.assertIn(name, known)
                self.assertEqual(squeeze(body), known[name], name)
    return case


def example(program):
    def case(self):
        why = runnable()
        if why:
            self.skipTest(why)
        failed, exe = Built.get()[program.name]
        self.assertIsNone(failed, "%s\n%s" % (failed, program.text))
        if not program.run:
            return
        device = re.search(r'"(ev4|ev5|pca56|ev6|ev67)::.*\.backend = "pfm_device"', program.text,
                           re.S)
        under = [PFM, "alpha", "device", "--model", device[1], "--"] if device else []
        done = subprocess.run([*under, exe], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=clean_environment(), universal_newlines=True, timeout=60)
        if under and done.returncode == 126:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        if program.expected is not None:
            self.assertEqual(done.stdout, program.expected)
    return case


def sections(path):
    """A page of a function has what a reader looks for."""
    def case(self):
        text = read(path)
        for title in ("DESCRIPTION", "SEE ALSO", "EXAMPLES"):
            self.assertTrue(section(text, title), title)
        if names(text)[0].startswith("pfm_") and names(text)[0] != "pfm_device":
            self.assertTrue(
                section(text, "RETURN VALUE") or "void" in section(text, "SYNOPSIS"),
                "RETURN VALUE")
            self.assertTrue(section(text, "ATTRIBUTES"), "ATTRIBUTES")
        self.assertTrue(
            any(t.startswith("#include") for _, _, t in displays(section(text, "EXAMPLES"))),
            "no program")
    return case


# Sections of man-pages(7), in its order; EVENT NAMES is our own.
SECTIONS = ("NAME", "LIBRARY", "SYNOPSIS", "DESCRIPTION", "EVENT NAMES", "EXIT STATUS",
            "RETURN VALUE", "ERRORS", "DIAGNOSTICS", "ENVIRONMENT", "FILES", "ATTRIBUTES",
            "CAVEATS", "EXAMPLES", "SEE ALSO")


def order(path):
    """A page of the source tree has sections of man-pages(7) alone, in its order."""
    def case(self):
        found = re.findall(r"^\.Sh (.*)$", read(path), re.M)
        self.assertEqual(found, [s for s in SECTIONS if s in found])
    return case


def spdx(path):
    def case(self):
        self.assertTrue(read(path).startswith('.\\" SPDX-License-Identifier: MIT\n'))
    return case


class Whole(unittest.TestCase):
    """Questions about all pages together."""
    maxDiff = None

    MAPS = {
        "lib/perfmon.map": "lib/libperfmon.so",
        "lib/compat/libpfm3/libpfm3.map": "lib/compat/libpfm3/libpfm.so.3",
        "lib/profile/perfmon-profile.map": "lib/profile/libperfmon-profile.so"
    }

    def exported(self, *maps):
        return {n for m in maps or self.MAPS
                for n in re.findall(r"^\t(pfm_\w+);", read(os.path.join(SOURCE, m)), re.M)}

    def documented(self):
        return {
            n for p in pages() if p.endswith(".3") for n in names(read(p)) if n.startswith("pfm_")
        } - {"pfm_device"}

    def test_processors_that_the_overview_names_are_built_in(self):
        """As examples today's processors come first, and the page names no image or import that
        they would need."""
        text = read(os.path.join(SOURCE, "docs/man7/perfmon.7"))
        section = re.search(r"\.Ss Processors\n(.*?)\n\.S[sh] ", text, re.S)[1]
        named = re.findall(r"^\.It Li (\S+) Ta", section, re.M)
        self.assertEqual(named[:3], ["skx", "amdzen4", "neoverse_n1"])
        done = subprocess.run(
            [PFM, "list", "--pmus", "--json"], capture_output=True, text=True, check=True,
            timeout=60,
            env={**os.environ, "XDG_DATA_HOME": "/nonexistent", "XDG_DATA_DIRS": "/nonexistent"})
        self.assertLessEqual(set(named),
                             {json.loads(line)["pmu"] for line in done.stdout.splitlines()})

    def test_version_script_is_the_headers(self):
        self.assertEqual(self.exported(),
                         {n for n, (_, _, inline) in prototypes().items() if not inline})

    def test_library_exports_the_version_script(self):
        if not BUILD or not os.path.exists(library()):
            self.skipTest("no built library (PERFMON_BUILD)")
        for script, path in self.MAPS.items():
            done = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions",
                                   os.path.join(BUILD, path)], stdout=subprocess.PIPE,
                                  universal_newlines=True)
            if done.returncode:
                self.skipTest("nm cannot read the library")
            found = {
                line.split()[2].split("@")[0] for line in done.stdout.splitlines()
                if line.split()[1] in "TW" and "@@PERFMON_PRIVATE_" not in line
            }
            self.assertEqual(found, self.exported(script), path)

    def test_every_symbol_has_a_page_and_every_page_a_symbol(self):
        self.assertEqual(self.documented(), set(prototypes()))

    def test_no_name_has_two_pages(self):
        seen = {}
        for p in pages():
            for n in names(read(p)):
                key = n, p.rsplit(".", 1)[1]
                self.assertNotIn(key, seen, p)
                seen[key] = p

    def test_every_type_is_in_a_page(self):
        text = "\n".join(read(p) for p in pages())
        self.assertEqual([t for t in sorted(types()) if not re.search(r"\b%s\b" % t, text)], [])

    def test_every_public_constant_is_in_a_page(self):
        text = "\n".join(read(p) for p in pages())
        missing = [
            c for c in sorted(constants())
            if c.startswith(("PFM_", "PFMLIB_", "PCNT",
                             "PMU_")) and not re.search(r"\b%s\b" % c, text)
        ]
        # Types of processors without events are in the header alone; so are macros that help to
        # declare a structure.
        self.assertEqual(
            [c for c in missing if not re.match(r"PFMLIB_\w+_PMU$|PFM_MONT_|PFMLIB_SYMBOL$", c)],
            [])

    def test_the_manual_has_the_texts_of_all_errors(self):
        shown = re.findall(r"^\.It Dv PFMLIB_(\w+) Pq \\?(-?\d+)\n(.*?)\.\n",
                           read(os.path.join(DOCS, "man3", "pfm_result_text.3")), re.M | re.S)
        errors = re.findall(r'^ERR\((\w+), (-?\d+), "(.*)"\)',
                          read(os.path.join(SOURCE, "lib", "base", "errors.def")), re.M)

        def plain(text):
            return re.sub(r"\s+", " ", re.sub(r"^\.Fn (\w+)", r"\1()", text, flags=re.M)).lower()
        self.assertEqual([(n, v, plain(t)) for n, v, t in shown],
                         [(n, v, plain(t)) for n, v, t in errors])

    def test_the_manual_has_the_records_of_images(self):
        sys.path.insert(0, os.path.join(SOURCE, "compiler"))
        from image import layout
        from language import tables
        text = read(os.path.join(DOCS, "man5", "perfmon_image.5"))
        shown = dict(re.findall(r"^\.It (\w+) Ta (\d+) Ta ", text.split(".It Sy Array")[1], re.M))
        self.assertEqual({n: int(s) for n, s in shown.items()},
                         {n: s for n, s in layout.SIZES.items() if n != "store"})
        for size in (layout.IMAGE_SIZE, layout.HEAD_SIZE):
            self.assertIn("head of %d bytes" % size, text)
        self.assertIn("0x%x" % layout.IMAGE_MAGIC, text)
        self.assertIn("version Ta %d\n" % layout.IMAGE_VERSION, text)
        self.assertIn("0x%x" % layout.TABLE_MAGIC, text)

    def test_the_manual_has_the_numbers_of_encoders(self):
        sys.path.insert(0, os.path.join(SOURCE, "compiler"))
        from language import tables
        text = read(os.path.join(DOCS, "man5", "perfmon_image.5"))
        self.assertIn(", ".join("%d %s" % (i, n) for i, n in enumerate(tables.ENCODERS) if i),
                      re.sub(r"\n", " ", text))

    def test_event_table_statements(self):
        """Every statement of the language is explained, and its example compiles."""
        text = read(os.path.join(DOCS, "man5", "perfmon_events.5"))
        code = "".join(
            read(os.path.join(SOURCE, "compiler", "language", part + ".py"))
            for part in ("head", "fields", "table_compiler"))
        statements = set(re.findall(r"^    def do_(\w+)\(", code, re.M)) | {"use"}
        self.assertGreater(len(statements), 20)
        self.assertEqual([
            s for s in sorted(statements) if not re.search(r"^\.It (?:Ic|Li) %s\b" % s, text, re.M)
        ], [])
        tables = [t for marker, _, t in displays(text) if marker == "pmuc"]
        self.assertTrue(tables)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "toy.pmu")
            with open(path, "w", encoding="utf-8") as f:
                f.write(tables[0])
            done = subprocess.run(
                [sys.executable,
                 os.path.join(SOURCE, "compiler", "pmuc.py"), "--check", path],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_no_macro_is_in_the_text(self):
        """A macro of mdoc in the middle of a text line prints as a word."""
        if not MANDOC:
            self.skipTest("mandoc is not installed")
        macros = re.compile(r"(?:^|[ (])(?:Ns|Ar|Fa|Va|Dv|Li|Vt|Cm|Fl|Em|Sy|Xr|Pq|Dq|Ql|Ic)"
                            r" [A-Za-z.,]", re.M)
        for path in pages():
            with self.subTest(os.path.basename(path)):
                done = subprocess.run([MANDOC, "-T", "ascii", path], stdout=subprocess.PIPE,
                                      universal_newlines=True)
                text = re.sub(".\b", "", done.stdout)
                self.assertEqual(macros.findall(text), [])

    def test_example_of_the_device_reports_its_absence(self):
        """Without a device the first example of pfm_device(3) fails and names the cause."""
        failed, exe = Built.get()[next(p.name for p in programs()
                                            if "issued alone" in p.text)]
        self.assertIsNone(failed)
        done = subprocess.run([exe], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=clean_environment(), universal_newlines=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("ev4::issues: not ", done.stderr)

    def test_every_page_is_installed(self):
        listed = set(re.findall(r"'(man\d/[\w.-]+)'", read(os.path.join(DOCS, "meson.build"))))
        self.assertEqual(
            listed,
            {os.path.relpath(p, DOCS) for p in glob.glob(os.path.join(DOCS, "man*", "*.[1-9]"))})

    def test_generated_pages_name_every_event(self):
        if not BUILD or not glob.glob(os.path.join(BUILD, "docs", "perfmon_*.7")):
            self.skipTest("no generated pages (PERFMON_BUILD)")
        sys.path.insert(0, os.path.join(SOURCE, "compiler"))
        from language.table_compiler import compile_all
        for path in glob.glob(os.path.join(BUILD, "docs", "perfmon_*.7")):
            stem = os.path.basename(path)[len("perfmon_"):-2]
            (table, *_), _, _ = compile_all([os.path.join(SOURCE, "lib", "events", stem + ".pmu")])
            text = read(path).replace("\\-", "-").replace("\\&", "")
            shown = set(re.findall(r"^\.It Li (\S+)", text, re.M))
            self.assertEqual([r.name for r in table.rows if r.name not in shown], [], stem)


class Site(unittest.TestCase):
    """The HTML pages."""

    @classmethod
    def setUpClass(cls):
        cls.folder = None
        if not MANDOC:
            raise unittest.SkipTest("mandoc is not installed")
        cls.folder = tempfile.TemporaryDirectory(prefix="perfmon-site-")
        subprocess.run([
            sys.executable,
            os.path.join(DOCS, "site.py"), "--mandoc", MANDOC, "--version", "0", "--out",
            cls.folder.name
        ] + pages(), check=True, stdout=subprocess.DEVNULL)
        cls.texts = {
            os.path.basename(p): read(p) for p in glob.glob(os.path.join(cls.folder.name, "*.html"))
        }

    @classmethod
    def tearDownClass(cls):
        if cls.folder:
            cls.folder.cleanup()

    def test_every_page_is_there(self):
        self.assertEqual(set(self.texts),
                         {os.path.basename(p) + ".html" for p in pages()} | {"index.html"})

    def test_every_link_leads_somewhere(self):
        wrong = []
        for file, text in self.texts.items():
            for target in re.findall(r'href="([^"]*)"', text):
                to, _, mark = target.partition("#")
                other = self.texts.get(to or file)
                if other is None or mark and 'id="%s"' % mark not in other:
                    wrong.append("%s: %s" % (file, target))
        self.assertEqual(wrong, [])

    def test_every_page_is_in_the_index(self):
        linked = set(re.findall(r'href="([^"#]*)"', self.texts["index.html"]))
        self.assertEqual(set(self.texts) - linked, set())

    def test_nothing_is_loaded(self):
        for file, text in self.texts.items():
            self.assertIsNone(
                re.search(r'<link\b|\bsrc="|url\(|@import|https?://(?!www\.w3\.org)[^<\s]*"', text),
                file)

    def test_no_anchor_stands_twice(self):
        for file, text in self.texts.items():
            found = re.findall(r'\bid="([^"]*)"', text)
            self.assertEqual(sorted({i for i in found if found.count(i) > 1}), [], file)

    def test_the_box_finds_events_by_several_words(self):
        """In a browser: the box finds events by several words, without regard to case, '-' and
        '_'."""
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
            "google-chrome")
        if not browser:
            self.skipTest("no Chromium")
        if "perfmon_coreduo.7.html" not in self.texts:
            self.skipTest("no generated pages (PERFMON_BUILD)")
        url = "file://%s/perfmon_coreduo.7.html?q=l2%%20LINES-in" % self.folder.name
        with tempfile.TemporaryDirectory(prefix="perfmon-browser-") as profile:
            done = subprocess.run([
                browser, "--headless", "--no-sandbox", "--disable-gpu",
                "--user-data-dir=" + profile, "--dump-dom", url
            ], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
                                  timeout=120)
        if done.returncode:
            self.skipTest("Chromium does not start here")
        shown = [
            m[1] for m in re.finditer(r'<dt id="e-([^"]*)"([^>]*)>', done.stdout)
            if "hidden" not in m[2]
        ]
        self.assertEqual(shown, ["L2_Lines_In", "L2_M_Lines_In"])
        self.assertRegex(done.stdout, r">2 of \d+</output>")


def fill():
    for path in pages():
        mark = re.sub(r"\W", "_", label(path)).strip("_")
        setattr(Pages, "test_lint_" + mark, lint(path))
        setattr(Pages, "test_references_" + mark, references(path))
        setattr(Pages, "test_license_" + mark, spdx(path))
        if path.startswith(DOCS):
            setattr(Pages, "test_order_" + mark, order(path))
        if path.endswith(".3"):
            setattr(Pages, "test_synopsis_" + mark, synopsis(path))
            setattr(Pages, "test_structures_" + mark, structures(path))
            setattr(Pages, "test_sections_" + mark, sections(path))
            setattr(Pages, "test_vocabulary_" + mark, vocabulary(path))
    for program in programs():
        setattr(Pages, "test_example_" + program.name, example(program))


# ---- TAP -----------------------------------------------------------------------------------------

class Tap(unittest.TestResult):
    def __init__(self, total):
        super().__init__()
        self.n, self.bad = 0, 0
        print("1..%d" % total)

    def line(self, ok, test, note="", detail=""):
        self.n += 1
        self.bad += not ok
        print("%s %d - %s%s" % ("ok" if ok else "not ok", self.n, test.id().split(".", 1)[1], note))
        for text in detail.splitlines():
            print("# " + text)
        sys.stdout.flush()

    def addSuccess(self, test):
        self.line(True, test)

    def addSkip(self, test, reason):
        self.line(True, test, " # SKIP " + reason)

    def addFailure(self, test, err):
        self.line(False, test, "", self._exc_info_to_string(err, test))

    addError = addFailure


def main():
    fill()
    suite = unittest.TestLoader().loadTestsFromModule(sys.modules[__name__])
    if len(sys.argv) > 1:
        suite = unittest.TestSuite(t for group in suite for t in group
                                   if any(word in t.id() for word in sys.argv[1:]))
    result = Tap(suite.countTestCases())
    suite.run(result)
    return 1 if result.bad else 0


if __name__ == "__main__":
    sys.exit(main())
