#!/bin/sh
# SPDX-License-Identifier: MIT
#
# abi.sh: what the shared library promises to programs that are built already.
#
#   1  its symbols are those of tests/abi/symbols, one by one: a new one is added there by hand,
#      none ever goes
#   2  the version script names the same
#   3  abidiff finds nothing in it that a program built against tests/abi/libperfmon.abi could
#      stumble over, and nothing new there
#   4  and 5: the symbols of libperfmon-profile, as 1 and 2
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

matrix_begin abi
list=$source/tests/abi/symbols
library=${PERFMON_BUILD:-}/lib/libperfmon.so.1.0.0
# shellcheck disable=SC2119  # build takes options of its own, none here
[ -f "$library" ] || { build; library=$work/build/lib/libperfmon.so.1.0.0; }
failed=0

result() { # NUMBER TEXT, the differences on standard input
	cat >"$work/result"
	if [ -s "$work/result" ]; then
		sed 's/^/# /' "$work/result" | head -n 40
		echo "not ok $1 - abi: $2"
		failed=1
	else
		echo "ok $1 - abi: $2"
	fi
}

echo 1..5
# NUMBER LIST LIBRARY SCRIPT PATTERN: tests NUMBER and NUMBER + 1
compare_symbols() {
	nm -D --defined-only --with-symbol-versions "$3" | sed -n "s/^[0-9a-f]* [A-Z] \($5\)/\1/p" |
		LC_ALL=C sort >"$work/exported"
	diff "$2" "$work/exported" >"$work/diff" || :
	result "$1" "the symbols of $(basename "$3") are those of the list" <"$work/diff"
	sed -n '1,/local:/s/^[[:space:]]*\([a-z_0-9]*\);/\1/p' "$4" | LC_ALL=C sort >"$work/map"
	sed 's/@.*//' "$2" | LC_ALL=C sort | diff - "$work/map" >"$work/diff" || :
	result $(($1 + 1)) "the version script names the same" <"$work/diff"
}

compare_symbols 1 "$list" "$library" "$source/lib/perfmon.map" '\(pfm\|perfmon\)_.*'

# Only where the description was made: the sizes of types are those of the machine.
what="the library is what tests/abi/libperfmon.abi describes"
if ! command -v abidiff >/dev/null; then
	echo "ok 3 - abi: $what # SKIP abidiff is missing (Debian package abigail-tools)"
elif [ "$(uname -m)" != x86_64 ]; then
	echo "ok 3 - abi: $what # SKIP it describes the library of x86_64"
else
	# An addition is a difference, too: the description lists all that later versions must keep.
	# libpfm.so.3 alone uses the symbols with the version PERFMON_PRIVATE.
	printf '[suppress_function]\nsymbol_name_regexp = ^pfmi_\ndrop = yes\n' >"$work/private"
	abidiff --suppressions "$work/private" --drop-private-types \
		--headers-dir2 "$source/include" "$source/tests/abi/libperfmon.abi" \
		"$library" >"$work/abidiff" 2>&1 &&
		: >"$work/abidiff" || echo "refresh it: ./scripts/abi.sh -w $library" >>"$work/abidiff"
	result 3 "$what" <"$work/abidiff"
fi
profile=$(dirname "$library")/profile/libperfmon-profile.so.1.0.0
compare_symbols 4 "$source/tests/abi/profile-symbols" "$profile" \
	"$source/lib/profile/perfmon-profile.map" '[a-z].*'
exit $failed
