# SPDX-License-Identifier: MIT
"""libpfm.so.4 against libpfm4: golden answers, the names it was made of, an installed libpfm4, and real clients.

The golden answers are libpfm4's, so they are asked for with PERFMON_LIBPFM4_EXACT=1; without it, corrected rows are looked at alone."""

import collections
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

SOURCE = os.environ["PERFMON_SOURCE"]
OURS = os.environ["PERFMON_LIBPFM4"]                 # the folder with our library
CLIENT = os.environ["PERFMON_LIBPFM4_CLIENT"]        # built with our headers
PEER = os.environ.get("PERFMON_LIBPFM4_PEER")        # built with libpfm4's
NAMES = os.path.join(tap.SHARED, "facts/libpfm4/names.jsonl")
VECTORS = os.path.join(tap.SHARED, "vectors")
# A machine that no table is for, whatever this one is.
NOBODY = "netburst,amd64,core,atom,nhm,wsm,snb,ivb,hsw,bdw,skl,skx,clx,icl,icx,spr,emr,gnr,adl,rapl,knc,slm,glm,tmt,knl,knm,arch,arm"
# libpfm4 4.13 made the clients' files; the tables of later versions have these differently.
LATER = {"icl": "BR_INST_RETIRED BR_MISP_RETIRED MEM_LOAD_MISC_RETIRED", "icx": "BR_INST_RETIRED BR_MISP_RETIRED MEM_LOAD_MISC_RETIRED",
         "spr": "BR_INST_RETIRED BR_MISP_RETIRED ICACHE_DATA ICACHE_TAG SW_PREFETCH_ACCESS INST_RETIRED MEM_LOAD_L3_MISS_RETIRED RTM_RETIRED "
                "TOPDOWN AMX_OPS_RETIRED"}

sys.path.insert(0, os.path.join(SOURCE, "lib/pmuc"))
import libpfm4          # noqa: E402
import libpfm4_names    # noqa: E402


def environment(forced=None, exact=True, inactive=False, ours=True, disabled=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("LIBPFM_")}
    if ours:
        env["LD_LIBRARY_PATH"] = OURS
    else:
        env.pop("LD_LIBRARY_PATH", None)
    for key, value in (("LIBPFM_FORCE_PMU", forced), ("PERFMON_LIBPFM4_EXACT", "1" if exact else None),
                       ("LIBPFM_ENCODE_INACTIVE", "1" if inactive else None), ("LIBPFM_DISABLED_PMUS", disabled)):
        if value:
            env[key] = value
    return env


def run(args, env, text=""):
    done = subprocess.run(args, input=text, text=True, capture_output=True, env=env, timeout=600, check=False)
    if done.returncode < 0:
        raise AssertionError("%s: signal %d\n%s" % (args, -done.returncode, done.stderr))
    return done


def encode(queries, program=CLIENT, **env):
    """Answers of the client, one list of fields per (os, levels, attr size, arg size, string)."""
    text = "".join("%d %d %d %d %s\n" % q for q in queries)
    lines = run([program, "encode"], environment(**env), text).stdout.split("\n")[:-1]
    if len(lines) != len(queries):
        raise AssertionError("%d answers to %d questions" % (len(lines), len(queries)))
    return [line.split("|") for line in lines]


def rows_of(name):
    path = os.path.join(VECTORS, name)
    with (lzma.open(path, "rt") if name.endswith(".xz") else open(path, encoding="utf-8")) as f:
        return [json.loads(line) for line in f]


def needs(path):
    return unittest.skipUnless(os.path.exists(path), "%s is not here" % os.path.basename(path))


class Names(unittest.TestCase):
    """lib/events/libpfm4 is what a list of libpfm4's names says, and nothing else."""

    @needs(NAMES)
    def test_the_text_is_what_the_list_says(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        made = os.path.join(SOURCE, "lib/pmuc/libpfm4_names.py")
        subprocess.run([sys.executable, made, NAMES, folder], check=True)
        kept = os.path.join(SOURCE, "lib/events/libpfm4")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as new, open(os.path.join(kept, name), encoding="utf-8") as old:
                self.assertEqual(new.read(), old.read(), name)
        others = set(os.listdir(kept)) - set(os.listdir(folder))
        self.assertEqual(others, {"README.md", "corrections.pmu"} & others)

    @needs(NAMES)
    def test_every_event_and_mask_of_the_list_is_walked_in_order(self):
        listed = {}
        with open(NAMES, encoding="utf-8") as f:
            for line in f:
                table = json.loads(line)
                listed.update((p["name"], (p, table["events"])) for p in table["pmus"])
        seen = walked(run([CLIENT, "walk", "0"], environment(disabled="perf,ix86arch")).stdout)
        self.assertEqual(set(seen), set(listed))
        for name, (unit, events) in listed.items():
            self.assertEqual(seen[name]["id"], unit["id"])
            self.assertEqual([(i & 0x1fffff, e) for i, e in seen[name]["events"]],
                             [(n, e["e"]) for n, e in enumerate(events) if has(unit, e)], name)
            masks = [[u["u"] for u in e.get("u", []) if u.get("t", 1) == 1 and has(unit, u)] for e in events if has(unit, e)]
            if name != "power_torrent":
                self.assertEqual(seen[name]["masks"], masks, name)

    def test_a_fault_in_the_text_is_named_with_its_place(self):
        path = os.path.join(tempfile.mkdtemp(), "x.pmu")
        for text, what in (("evnt A 1\n", "begins no line"), ("table t core\nevent A zz\n", "cannot read"),
                           ("table t core\nevent A from=u\n", "no event A in table u")):
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            with self.assertRaises(libpfm4.Fault) as why:
                libpfm4.Texts().read([path])
            self.assertIn(what, str(why.exception))


def has(unit, row):
    """True if the PMU has the event or the mask of the list."""
    rev, fl = libpfm4_names.REVS.get(unit["name"], 0), row.get("fl", 0) if unit["name"].startswith("amd64") else 0
    return row.get("model", unit["id"]) == unit["id"] and rev >= (fl >> 8 & 0xff) and (not fl >> 16 & 0xff or rev <= (fl >> 16 & 0xff))


def walked(text):
    units, unit = {}, None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("  "):
            if words[words.index("type") + 1] == "1":
                unit["masks"][-1].append(words[1])
        elif line.startswith(" "):
            unit["events"].append((int(words[0]), words[1]))
            unit["masks"].append([])
        else:
            unit = units[words[1]] = {"id": int(words[0]), "events": [], "masks": []}
    return units


class Answers(unittest.TestCase):
    """Golden answers of libpfm4."""

    @needs(os.path.join(VECTORS, "libpfm4_public.jsonl"))
    def test_words_codes_and_strings_without_the_kernel(self):
        rows = rows_of("libpfm4_public.jsonl")
        answers = encode([(0, r["plm"], 0, 0, r["s"]) for r in rows], inactive=True)
        wrong = ["%s: %s" % (r["s"], a[:3]) for r, a in zip(rows, answers)
                 if (int(a[0]), a[1], a[2]) != (r["r"], " ".join(r.get("c", [])), r.get("f", ""))]
        self.assertEqual(wrong[:10], [])

    @needs(os.path.join(VECTORS, "libpfm4_public.jsonl"))
    def test_every_string_reads_back_to_the_same_words(self):
        rows = rows_of("libpfm4_public.jsonl")
        first = encode([(0, r["plm"], 0, 0, r["s"]) for r in rows], inactive=True, exact=False)
        good = [(r["plm"], a) for r, a in zip(rows, first) if a[0] == "0"]
        again = encode([(0, plm, 0, 0, a[2]) for plm, a in good], inactive=True, exact=False)
        self.assertEqual([(a, b) for (_, a), b in zip(good, again) if a[:2] != b[:2]][:10], [])

    def clients_strings(self, name, query):
        by = collections.defaultdict(list)
        for row in rows_of(name):
            by[row["pmu"]].append(row)
        wrong = []
        for pmu, rows in by.items():
            forced = dict(disabled=NOBODY) if pmu == "none" else dict(forced=pmu)
            for r, a in zip(rows, encode([query + (r["s"],) for r in rows], **forced)):
                event = r["s"].split("::")[-1].split(":")[0]
                later = event.upper() in LATER.get(pmu, "").split() or (pmu in ("nhm_unc", "wsm_unc") and r["r"] == -1)
                if not later and not same_attr(r, a, query[2]):
                    wrong.append((pmu, r, a))
        self.assertEqual(wrong[:5], [])

    @needs(os.path.join(VECTORS, "clients"))
    def test_the_strings_papi_asks(self):
        self.clients_strings("clients/papi_encode.jsonl.xz", (2, 9, 0, 0))

    @needs(os.path.join(VECTORS, "clients"))
    def test_the_strings_llvm_exegesis_asks(self):
        self.clients_strings("clients/llvm_encode.jsonl.xz", (1, 8, 0, 40))

    @needs(os.path.join(VECTORS, "clients"))
    def test_the_strings_pcp_asks(self):
        self.clients_strings("clients/pcp_encode.jsonl", (2, 9, 128, 0))


def same_attr(row, answer, size):
    code, kind, config, config1, config2, exclude, precise, cpu, after, _, text = answer
    if int(code) != row["r"] or int(code):
        return int(code) == row["r"]
    words = [int(str(row.get(k, 0)), 0) for k in ("config", "config1", "config2")]
    return (int(kind) == row["type"] and [int(config, 16), int(config1, 16), int(config2, 16)] == words and int(after) == size and
            sorted(exclude) == sorted(row.get("ex", "")) and int(precise) == row.get("precise", 0) and int(cpu) == row.get("cpu", -1) and
            text == row.get("f", text))


class Corrections(unittest.TestCase):
    """docs/libpfm4.md says what is answered otherwise than by libpfm4: both values of every row are what the library says."""

    def table(self):
        with open(os.path.join(SOURCE, "docs/libpfm4.md"), encoding="utf-8") as f:
            return re.findall(r"^\| (\w+::\S+) \| (0x[^|]*?) \| (0x[^|]*?) \|$", f.read().split("<!-- corrections -->")[1], re.M)

    def test_both_values_of_each_row(self):
        rows = self.table()
        self.assertGreater(len(rows), 60)
        for exact, column in ((True, 1), (False, 2)):
            answers = encode([(0, 0, 0, 0, r[0]) for r in rows], inactive=True, exact=exact)
            for r, a in zip(rows, answers):
                words = [int(w, 16) for w in a[1].split()]
                if not r[0].startswith("arm"):
                    words[0] &= ~0x500000
                self.assertEqual(" ".join(map(hex, words)), r[column], r[0])

    def test_every_correction_is_in_the_table(self):
        texts = libpfm4.Texts()
        folder = os.path.join(SOURCE, "lib/events/libpfm4")
        texts.read(sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".pmu")))
        told = {(r[0].split("::")[0], r[0].split("::")[1]) for r in self.table()}
        aliases = {"DEMAND_RFO_HIT", "PF_MISS", "PF_HIT", "CORE", "REF_TSC"}
        for names, target, _ in texts.corrections:
            units = {u.name for u in texts.units if u.keys["table"] in names}
            self.assertTrue(any((u, target) in told for u in units) or target.split(":")[-1] in aliases or "arm_thunderx2" in names, target)

    def test_levels_of_arm(self):
        for exact, word in ((True, "0x48000008"), (False, "0x80000008")):
            self.assertEqual(encode([(0, 8, 0, 0, "arm_n1::INST_RETIRED")], inactive=True, exact=exact)[0][1], word)
        for exact, word in ((True, "0x80000e8"), (False, "0x3a")):
            self.assertEqual(encode([(0, 9, 0, 0, "arm_thunderx2::OP_RETIRED")], inactive=True, exact=exact)[0][1], word)


# What a client prints of descriptions is ours, so it is left out: lines of papi_native_avail, texts in quotes and brackets.
PAPI = {"papi_component_avail": [], "papi_avail": [], "papi_avail -d": [], "papi_native_avail": r"^\| {12}.*$", "papi_xml_event_info": r' desc="[^"]*"',
        "papi_event_chooser PRESET PAPI_TOT_CYC": [], "papi_command_line PAPI_TOT_CYC PAPI_TOT_INS NOSUCH perf::CYCLES": []}
EXAMPLES = "/usr/share/doc/libpfm4-dev/examples"
FORCED = """netburst netburst_p core atom nhm nhm_ex wsm wsm_dp amd64_k7 amd64_k8_revb amd64_k8_revg amd64_fam10h_barcelona amd64_fam10h_istanbul
amd64_fam11h_turion amd64_fam12h_llano amd64_fam14h_bobcat amd64_fam15h_interlagos amd64_fam16h amd64_fam17h amd64_fam17h_zen2
amd64_fam19h_zen3 amd64_fam19h_zen4 snb snb_ep ivb ivb_ep hsw hsw_ep bdw skl skx clx knc knl knm slm glm tmt""".split()


def sanitized():
    """A library with sanitizers cannot be loaded by programs without."""
    undefined = subprocess.run(["nm", "-D", "--undefined-only", os.path.join(OURS, "libpfm.so.4")], capture_output=True, text=True, check=True)
    return re.search(r"__(a|t|ub)san_", undefined.stdout)


@unittest.skipIf(sanitized(), "the library was built with sanitizers")
class Clients(unittest.TestCase):
    """Programs of libpfm4's, run with our library and with libpfm4: what they print but descriptions is the same."""

    def compare(self, command, leave_out, pmu, program_env=None):
        said = []
        for ours in (True, False):
            env = environment(forced=pmu, ours=ours, exact=True)
            env.update(program_env or {})
            done = run(command, env)
            text = done.stdout + done.stderr
            if leave_out:   # but for what a group of the pattern keeps
                text = re.sub(leave_out, lambda m: m[m.lastindex] if m.lastindex else "", text, flags=re.M)
            said.append([done.returncode] + [line for line in text.splitlines() if line.strip()])
        self.assertEqual(said[0], said[1], (command, pmu))
        return len(said[0])

    @unittest.skipUnless(PEER and shutil.which("papi_avail"), "papi-tools is not installed")
    def test_papi(self):
        for command, leave_out in PAPI.items():
            for pmu in FORCED:
                self.compare(command.split(), leave_out, pmu)

    @unittest.skipUnless(PEER and shutil.which("llvm-exegesis"), "llvm-exegesis is not installed")
    def test_llvm_exegesis(self):
        for cpu, pmu in (("core2", "core"), ("sandybridge", "snb"), ("haswell", "hsw"), ("skylake", "skl"), ("k8", "amd64_k8_revb"),
                         ("znver1", "amd64_fam17h"), ("znver2", "amd64_fam17h_zen2"), ("silvermont", "slm")):
            for mode in ("latency", "uops"):
                command = ["llvm-exegesis", "-mode=" + mode, "-mcpu=" + cpu, "-opcode-name=ADD64rr", "--dump-object-to-disk=false"]
                # Which registers a snippet has is by chance.
                self.compare(command, r"^(?!.*(cannot create|Unable|unable|ERRNO|not valid)).*$", pmu)

    @unittest.skipUnless(PEER and os.path.exists(EXAMPLES + "/showevtinfo.c") and shutil.which("cc"), "libpfm4's examples are not installed")
    def test_libpfm4s_own_examples(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        os.mkdir(folder + "/perfmon")
        with open(folder + "/perfmon/err.h", "w", encoding="ascii") as f:
            f.write("#include <err.h>\n")
        for name in ("showevtinfo", "check_events"):
            subprocess.run(["cc", "-w", "-I", folder, "%s/%s.c" % (EXAMPLES, name), "-o", "%s/%s" % (folder, name), "-lpfm"], check=True)
        # Lists of all PMUs are longer here, and their counts.
        listed = (r'^Desc.*$|^\t\[\d+, \w+, "[^"]*".*\]$|^.*Total events.*$|(?P<mask>^Umask[^\]]*\] : [^:]*) : .*$|(?P<modifier>^Modif[^\]]*\]) : .*$|'
                  r'(?P<pmu>^PMU name : \w+) .*$')
        for pmu in FORCED:
            self.assertGreater(self.compare([folder + "/showevtinfo"], listed, pmu), 10)
            self.compare([folder + "/showevtinfo", "-E"], listed, pmu)
            self.compare([folder + "/check_events", "NOSUCH"], listed, pmu)


class Interface(unittest.TestCase):
    """The shared object and its headers."""

    def test_thirteen_symbols_and_the_name(self):
        path = os.path.join(OURS, "libpfm.so.4")
        listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        found = [line.split()[-1] for line in listed.splitlines() if not line.split()[-1].startswith("_")]
        with open(os.path.join(SOURCE, "lib/libpfm4/libpfm4.map"), encoding="utf-8") as f:
            self.assertEqual(sorted(found), sorted(re.findall(r"\t\t(pfm_\w+);", f.read())))
        self.assertEqual(len(found), 13)
        dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        self.assertIn("[libpfm.so.4]", dynamic)

    @unittest.skipUnless(PEER, "libpfm4-dev is not installed")
    def test_structures_are_laid_out_as_in_libpfm4(self):
        self.assertEqual(run([CLIENT, "layout"], environment()).stdout, run([PEER, "layout"], environment(ours=False)).stdout)

    @unittest.skipUnless(PEER, "libpfm4-dev is not installed")
    def test_either_program_runs_with_either_library(self):
        text = "0 9 0 0 perf::CYCLES\n2 9 0 0 perf::L1-DCACHE-LOADS:u\n0 9 0 0 NOSUCH\n"
        said = [run([program, "encode"], environment(ours=ours, disabled=NOBODY), text).stdout for program in (CLIENT, PEER) for ours in (0, 1)]
        self.assertEqual(len(set(said)), 1, said)

    @unittest.skipUnless(PEER, "libpfm4-dev is not installed")
    def test_a_walk_tells_what_libpfm4_tells(self):
        """Every field of every structure, for what both versions have alike."""
        for layer in ("0", "1", "2"):
            ours = sections(run([PEER, "walk", layer], environment(forced="ix86arch")).stdout)
            theirs = sections(run([PEER, "walk", layer], environment(forced="ix86arch", ours=False)).stdout)
            for name in sorted(set(ours) & set(theirs) - {"icl", "icx", "spr"}):
                self.assertEqual(ours[name], theirs[name], name)
            self.assertGreater(len(theirs), 300)
            self.assertLessEqual(set(theirs), set(ours))

    @unittest.skipUnless(PEER, "libpfm4-dev is not installed")
    def test_what_goes_wrong_goes_wrong_alike(self):
        """Return codes before initialisation, of bad arguments, and of sizes of structures."""
        said = [run([PEER, "rules"], environment(ours=ours, disabled=NOBODY)).stdout for ours in (True, False)]
        self.assertEqual(said[0], said[1])
        self.assertGreater(len(said[0].splitlines()), 25)

    def test_eight_threads_initialise_ask_and_terminate(self):
        done = run([CLIENT, "threads"], environment(inactive=True))
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong answers\n"))


def sections(text):
    out = {}
    for line in text.splitlines():
        if not line.startswith(" "):
            lines = out[line.split()[1]] = []
        lines.append(line)
    return out


if __name__ == "__main__":
    tap.main()
