#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# An engineer with a slow program: finds out what this machine can count, finds events, counts,
# corrects a typing error, and samples.
pfm doctor >doctor.txt
grep -q 'This machine' doctor.txt && grep -q "A small known workload" doctor.txt
pfm list faults | grep -q page-faults
pfm list sapphire | grep -q '^  spr '
pfm encode spr::L3_MISS 2>refusal && exit 1
grep -q 'did you mean MEM_LOAD_RETIRED.L3_MISS' refusal
pfm encode 'zen4::branch mispredictions' 2>refusal && exit 1
grep -q 'amdzen4::ex_ret_brn_misp' refusal
pfm stat -e page-faults,task-clock -- sh -c 'exit 3' >counts 2>&1 && exit 1
grep -q page-faults counts
pfm stat --json -e page-faults,montecito::CPU_OP_CYCLES_ALL -- true >counts 2>/dev/null || true
python3 - <<'END'
import json
rows = [r for r in map(json.loads, open("counts", encoding="utf-8")) if "quality" in r]
byname = {r["event"].split(":u")[0]: r for r in rows}
assert byname["page-faults"]["value"] > 0, rows
assert not byname["montecito::CPU_OP_CYCLES_ALL"].get("value"), rows
END
pfm stat -e page-fautls -- true 2>refusal && exit 1
grep -q 'page-faults' refusal
grep -q 'git clone' refusal && exit 1
# shellcheck disable=SC2016  # the inner shell's variable
pfm record -e cpu-clock -o samples -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done' \
	2>/dev/null
pfm report samples >report.txt
