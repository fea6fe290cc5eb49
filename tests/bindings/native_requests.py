# SPDX-License-Identifier: MIT
"""Requests of the native interface (tests/driver/README.md) that every binding answers, and the
answers of the driver in C."""
import json
import os
import subprocess

TESTS = os.environ["PERFMON_TESTS"]
VECTORS = os.environ["PERFMON_VECTORS"]
PFM = os.environ["PFM"]
# Sets of current processors, some of which do not fit.
SETS = (("spr::INST_RETIRED.ANY", "spr::MEM_LOAD_RETIRED.L3_MISS", "spr::OCR.DEMAND_DATA_RD.DRAM"),
        ("amdzen4::ls_dispatch.ld_dispatch", "amdzen4::ex_ret_instr"),
        ("neoverse_n1::L2D_CACHE", "neoverse_n1::CPU_CYCLES"),
        ("coreduo::Mul", "coreduo::Div"), ("skl::NO_SUCH_EVENT", "skl::INST_RETIRED.ANY"),
        ("skl::INST_RETIRED.ANY", "hsw::INST_RETIRED.ANY"))


def golden(name):
    with open(os.path.join(TESTS, "vectors", name + ".jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def encode_requests():
    for vector in golden("core"):
        yield {"op": "encode", "text": "core::" + vector["spec"], "plm": 0}
    for vector in golden("libpfm4"):
        yield {"op": "encode", "text": vector["s"], "plm": vector.get("plm", 0) & 15}


def set_requests():
    for pmu in ("coreduo", "montecito"):
        for vector in golden(pmu):
            events = vector["req"].get("ev", [])
            if events and all(isinstance(e, str) for e in events):
                texts = [f"{pmu}::{e}" for e in events]
                yield {"op": "dispatch", "texts": texts}
    for texts in SETS:
        yield {"op": "dispatch", "texts": texts}
        yield {"op": "plan", "texts": texts}
    for vectors in zip(*[iter(golden("core"))] * 6):
        yield {"op": "plan", "texts": ["core::" + v["spec"] for v in vectors]}


def other_requests():
    for vector in golden("core"):
        if vector.get("evsel_en_int"):
            yield {"op": "decode", "pmu": "core", "reg": "PERFEVTSEL0",
                   "value": vector["evsel_en_int"]}
        yield {"op": "print", "text": "core::" + vector["spec"],
               "dialect": len(vector["spec"]) % 4}


def metric_requests():
    listed = subprocess.run([PFM, "list", "--metrics", "--json", "--pmu", "skl"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    names = [json.loads(line)["metric"] for line in listed.splitlines()]
    for i, name in enumerate(names):
        values = [float((i * 37 + k * 101) % 1009) for k in range(40)]
        yield {"op": "metric", "text": "skl::" + name, "values": values}
    yield {"op": "metric", "text": "skl::INST_RETIRED.ANY", "values": []}


def all_requests():
    """Each request as a line of JSON, in ASCII."""
    groups = (encode_requests(), set_requests(), other_requests(), metric_requests())
    return [json.dumps(request) for group in groups for request in group]


def ask(command, lines, **more):
    done = subprocess.run(command, input="\n".join(lines) + "\n", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    if done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout.splitlines()


def compare(test, command, **more):
    """Asserts that the driver of a binding answers like the driver in C. Returns how many."""
    lines = all_requests()
    expected = ask([VECTORS, "native", "--json"], lines)
    test.assertEqual(len(expected), len(lines))
    test.assertGreaterEqual(len(lines), 2000)
    found = ask(command, lines, **more)
    for request, ours, theirs in zip(lines, expected, found):
        test.assertEqual(theirs, ours, request)
    test.assertEqual(len(found), len(lines))
    return len(lines)
