#!/bin/sh
# SPDX-License-Identifier: MIT
#
# simulated.sh PFM: fifty static programs for arm64 have the same instructions by
# pfm stat --simulate as by the PMU of a guest whose clock counts instructions, within 0.1 %. The
# start of a program differs by about 2,000: the guest's kernel has a vDSO, in which the C library
# looks for functions.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"
[ $# = 1 ] || { echo "usage: simulated.sh PFM" >&2; exit 2; }
pfm=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

guest_describe arm64
command -v "$g_cc" >/dev/null || skip "$g_cc is missing"
"$g_cc" -O1 -static -o "$tmp/programs" "$here/programs.c" -lm
"$g_cc" -O1 -static -o "$tmp/counted" "$here/counted.c"
count() {
	"$pfm" stat --simulate --simulate-cpu cortex-a57 --json -e instructions -- "$tmp/programs" "$1" |
		sed -n 's/.*"value": *\([0-9]*\).*/\1/p'
}
[ -n "$(count 0)" ] || skip "pfm stat --simulate does not count here"
"$here/run.sh" arm64 simulated "$tmp/counted" "$tmp/programs" -- /counted >"$tmp/out"
sed -n 's/^# program \([0-9]*\): \([0-9]*\) instructions$/\1 \2/p' "$tmp/out" >"$tmp/counts"
[ -s "$tmp/counts" ] || { cat "$tmp/out"; exit 0; }
echo "1..$(wc -l <"$tmp/counts")"
while read -r number counted; do
	simulated=$(count "$number")
	away=$((counted > simulated ? counted - simulated : simulated - counted))
	no=""
	[ $((away * 1000)) -le "$counted" ] || no="not "
	echo "${no}ok $((number + 1)) - program $number: $counted in the guest, $simulated simulated"
done <"$tmp/counts"
