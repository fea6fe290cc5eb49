#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh: lines and branches of lib/ that the tests reach, by gcovr, and those they do not, file by file. Two TAP cases: at
# least 95 % of the lines, at least 85 % of the branches. The uncovered lines go to $PERFMON_BUILD/matrix/coverage/uncovered.txt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

matrix_begin coverage
need gcovr gcovr
build -Ddevel=false -Db_coverage=true -Doptimization=0
find "$work/build" -name '*.gcda' -delete
# The usual suite, with the command's tests and all others that run the library.
meson test -C "$work/build" --no-rebuild --num-processes "$jobs" >"$work/test.log" 2>&1 || true
# Branches: what the compiler adds and what cannot be reached in C are not ours.
gcovr -r "$source" -f "$source/lib/" -e "$source/lib/device/" --exclude-unreachable-branches --exclude-throw-branches \
	--json-summary "$work/summary.json" --txt "$work/uncovered.txt" --html-details "$work/coverage.html" "$work/build" >"$work/gcovr.log" 2>&1 ||
	die "coverage: gcovr" "$work/gcovr.log"
exec python3 - "$work/summary.json" "$work/uncovered.txt" <<'PYTHON'
import json, sys
whole = json.load(open(sys.argv[1]))
print("1..2")
for file in sorted(whole["files"], key=lambda f: f["line_percent"] or 0):
    print("# %-40s lines %5.1f %%  branches %5.1f %%" % (file["filename"], file["line_percent"] or 0, file["branch_percent"] or 0))
bad = 0
for n, (what, least) in enumerate((("line", 95), ("branch", 85)), 1):
    percent = whole[what + "_percent"]
    bad += percent < least
    print("%sok %d - coverage: %.1f %% of the %ss in lib/, at least %d" % ("not " if percent < least else "", n, percent, what, least))
print("# what is not reached: %s" % sys.argv[2])
sys.exit(bad > 0)
PYTHON
