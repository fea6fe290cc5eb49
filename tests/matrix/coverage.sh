#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh: how much of lib/ the C tests and some of those of the command reach, by gcovr, and
# the lines they do not, file by file.
# Two TAP cases: more than 95 % of the lines, more than 85 % of the branches.
#
# Counts the code of lib/ that this machine compiles, without optimisation; of branches, those in
# the source: not the ones the compiler adds (--exclude-throw-branches) or proves never to be taken
# (--exclude-unreachable-branches). Vendors' lists stay away, so that the figures are the same
# everywhere. A test that fails is named: it is a failed case of the suite proper.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

matrix_begin coverage
need gcovr gcovr
targets=test-programs
# Threads count the same lines: without atomic counters gcov can find a negative number.
# Only functions of lib/: each process that ends writes the counts of every file that has some.
build -Ddevel=false -Db_coverage=true -Doptimization=0 -Ddebug=false \
	"-Dc_args=-fprofile-update=atomic -fprofile-filter-files=.*/lib/[^/]*/.*"
find "$work/build" -name '*.gcda' -delete # counts of the last time

# Left out: what goes through very many sets, ranges, rows and sizes, and comes by nothing that
# others do not reach.
unset PERFMON_SHARED
PERFMON_QUICK=1 python3 "$here/relay.py" --label coverage --jobs "$jobs" \
	--also chains,symbols,doctor,region_tool \
	--skip table_pairs=long --skip pmu_montecito_random=long --skip session_sizes=long --skip \
	table_roundtrip=long \
	--skip pmu_montecito_range=long "$work/build" >"$work/test.log" 2>&1 || true
sed -n 's/^not ok [0-9]* - /# a test failed: /p' "$work/test.log"
gcovr -r "$source" -f "$source/lib/" --exclude-unreachable-branches --exclude-throw-branches \
	--json "$work/lines.json" \
	--json-summary "$work/summary.json" "$work/build/lib" >"$work/gcovr.log" 2>&1 ||
	die "coverage: gcovr" "$work/gcovr.log"
exec python3 - "$work/summary.json" "$work/lines.json" <<'PYTHON'
import json, sys

def ranges(lines):
    """[1, 2, 3, 7] -> "1-3, 7"."""
    found = []
    for n in lines:
        if found and found[-1][1] == n - 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return ", ".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in found)

whole, files = (json.load(open(path)) for path in sys.argv[1:])
missed = {f["file"]: [l["line_number"] for l in f["lines"]
                      if not l["count"] and not l["gcovr/noncode"]] for f in files["files"]}
print("1..2")
for f in sorted(whole["files"], key=lambda f: f["line_percent"] or 0):
    print("# %-30s lines %5.1f %%, branches %5.1f %%%s" % (
        f["filename"], f["line_percent"] or 0,
        100 if f["branch_percent"] is None else f["branch_percent"],
        "; not reached: " + ranges(missed[f["filename"]]) if missed[f["filename"]] else ""))
bad = 0
for n, (what, least) in enumerate((("line", 95), ("branch", 85)), 1):
    reached, total = whole[what + "_covered"], whole[what + "_total"]
    ok = reached * 100 > total * least
    bad += not ok
    print("%sok %d - coverage: over %d %% of the %s in lib/ (%d of %d, %.1f %%)" % (
        "" if ok else "not ", n, least, what + ("s" if what == "line" else "es"), reached, total,
        100 * reached / total))
sys.exit(bad > 0)
PYTHON
