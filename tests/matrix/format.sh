#!/bin/sh
# SPDX-License-Identifier: MIT
#
# format.sh: every C file is laid out as .clang-format says. To lay one out: clang-format -i FILE
set -eu
cd "$(dirname "$0")/../.."

if ! command -v clang-format >/dev/null; then
	echo "1..0 # SKIP clang-format is not installed"
	exit 0
fi
if ! files=$(git ls-files '*.c' '*.h' 2>/dev/null) || [ -z "$files" ]; then
	files=$(find bench examples include lib tests tools -name '*.[ch]' | sort)
fi
n=0 rc=0
for f in $files; do
	n=$((n + 1))
	if clang-format --dry-run -Werror "$f" 2>/dev/null; then
		echo "ok $n - format: $f"
	else
		echo "not ok $n - format: $f"
		rc=1
	fi
done
echo "1..$n"
exit $rc
