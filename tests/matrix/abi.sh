#!/bin/sh
# SPDX-License-Identifier: MIT
#
# abi.sh: what the shared library promises to programs that are built already.
#
#   1  its symbols are those of tests/abi/symbols, one by one: a new one is added there by hand, none ever goes
#   2  the version script names the same
#   3  abidiff against the library of the last tag finds nothing incompatible
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

matrix_begin abi
list=$source/tests/abi/symbols
library=${PERFMON_BUILD:-}/lib/libperfmon.so.0.0.0
# shellcheck disable=SC2119  # build takes options of its own, none here
[ -f "$library" ] || { build; library=$work/build/lib/libperfmon.so.0.0.0; }
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

echo 1..3
nm -D --defined-only --with-symbol-versions "$library" | sed -n 's/^[0-9a-f]* [A-Z] \(pfm.*\)/\1/p' | LC_ALL=C sort >"$work/exported"
diff "$list" "$work/exported" >"$work/diff" || :
result 1 "the symbols are those of the list" <"$work/diff"
sed -n '/global:/,/local:/s/^[[:space:]]*\([a-z_0-9]*\);/\1/p' "$source/lib/perfmon.map" | LC_ALL=C sort >"$work/map"
sed 's/@.*//' "$list" | LC_ALL=C sort | diff - "$work/map" >"$work/diff" || :
result 2 "the version script names the same" <"$work/diff"

what="nothing incompatible since the last tag"
tag=$(git -C "$source" describe --tags --abbrev=0 2>/dev/null) || tag=
if [ -z "$tag" ]; then
	echo "ok 3 - abi: $what # SKIP there is no tag yet"
elif ! command -v abidiff >/dev/null; then
	echo "ok 3 - abi: $what # SKIP abidiff is missing (Debian package abigail-tools)"
else
	old=$work/$tag
	if [ ! -f "$old/build/lib/libperfmon.so" ]; then
		rm -rf "$old"
		mkdir -p "$old/source"
		git -C "$source" archive "$tag" | tar -x -C "$old/source"
		meson setup "$old/build" "$old/source" -Dtests=disabled -Dtools=disabled -Dpython=disabled -Dbench=disabled -Dman=disabled >"$work/old.log" 2>&1
		ninja -C "$old/build" -j "$jobs" lib/libperfmon.so.0.0.0 >>"$work/old.log" 2>&1
	fi
	# Bits 4 and 8 of its status: a change, an incompatible one. New functions are no reason to speak.
	status=0
	abidiff --no-added-syms --headers-dir1 "$old/source/include" --headers-dir2 "$source/include" "$old/build/lib/libperfmon.so.0.0.0" "$library" \
		>"$work/abidiff" 2>&1 || status=$?
	[ "$status" = 0 ] && : >"$work/abidiff"
	result 3 "nothing incompatible since $tag" <"$work/abidiff"
fi
exit $failed
