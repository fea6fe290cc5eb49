#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzz harnesses and runs each for SECONDS (default 20), as TAP. A crash is kept below the build folder; make it a file in
# tests/fuzz/corpus/NAME when it is mended: the corpus is run first, every time.
#   run.sh BUILD [SECONDS [NAME...]]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
seconds=${2:-20}
[ $# -gt 1 ] && shift
shift
names=${*:-text image dispatch decode}

if ! command -v clang >/dev/null; then
	echo "1..0 # SKIP clang is not installed"
	exit 0
fi
if [ ! -f "$build/build.ninja" ]; then
	CC=clang meson setup "$build" "$here/../.." -Dfuzz=enabled -Dtools=disabled -Dpython=disabled -Dman=disabled \
		-Dtests=disabled -Dbench=disabled -Db_lundef=false >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
fi
ninja -C "$build" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }

n=0
# shellcheck disable=SC2086  # a list of words on purpose
set -- $names
echo "1..$#"
for name in "$@"; do
	n=$((n + 1))
	grown=$build/corpus-$name
	mkdir -p "$grown"
	if "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$build/crash-$name-" "$grown" "$here/corpus/$name" >"$build/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
		echo "ok $n - $name: $runs inputs in ${seconds} s without a fault"
	else
		sed 's/^/# /' "$build/$name.log" | tail -n 40
		echo "not ok $n - $name"
	fi
done
