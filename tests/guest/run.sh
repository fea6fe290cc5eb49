#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh ARCH NAME [FILE[:DEST]]... -- LINE...: boot a guest, run the lines in it, relay their TAP
# as one stream.
#
# FILE is what initrd.sh takes, or a C file, which is compiled for the guest (foo.c becomes /foo),
# or one of the words pretend_pmu.ko, fuse.ko and cuse.ko (amd64) for a module of that name. Each
# LINE is one argument and follows the rules in init.c.
#
# Every case of the programs appears with NAME in front and a new number. A line whose command
# prints no TAP is a case of its own. A command that fails, prints another number of cases than it
# planned, or a guest that does not reach the end adds a failed case. When the guest cannot be had
# here the answer is "1..0 # SKIP what is missing", and success. GUEST_LOG names a file for
# everything the console said.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

usage() { echo "usage: run.sh ARCH NAME [FILE[:DEST]]... -- LINE..." >&2; exit 2; }
[ $# -ge 4 ] || usage
arch=$1 name=$2
shift 2
guest_describe "$arch"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# Run a step that may find something missing: its last words on stderr are then the reason.
# What it prints is kept in $tmp/out.
step() {
	rc=0
	"$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
	case $rc in
	0) ;;
	77) echo "1..0 # SKIP $arch guest: $(tail -n 1 "$tmp/err")"; exit 0 ;;
	*)
		sed 's/^/# /' "$tmp/err"
		echo "Bail out! $name: ${1##*/} failed with status $rc"
		exit 1
		;;
	esac
}

# Cheap to find out, so done before a kernel is fetched for nothing.
need_emulator() { (guest_need "$g_qemu" "$g_qemupkg"); }
step need_emulator
step "$here/kernel.sh" "$arch"

# Turn the list of files in the positional parameters into what initrd.sh takes, one after another.
n=$#
while [ "$n" -gt 0 ] && [ "$1" != -- ]; do
	spec=$1
	shift
	n=$((n - 1))
	case $spec in
	*.c)
		out=$tmp/$(basename "$spec" .c)
		step "$here/cc.sh" "$arch" -o "$out" "$spec"
		spec=$out
		;;
	pretend_pmu.ko)
		step "$here/module.sh"
		spec=$(cat "$tmp/out")
		;;
	fuse.ko | cuse.ko)
		step "$here/kernel.sh" "$arch" "$spec"
		spec=$(cat "$tmp/out")
		;;
	esac
	set -- "$@" "$spec"
	[ "$n" -gt 0 ] || usage
done
[ "$n" -gt 1 ] || usage
shift # the --
while [ "$n" -gt 1 ]; do
	printf '%s\n' "$1" >>"$tmp/run.list"
	shift
	n=$((n - 1))
done

step "$here/initrd.sh" "$arch" "$tmp/initrd" "$@" "$tmp/run.list:/run.list"
rc=0
"$here/boot.sh" "$arch" "$tmp/initrd" >"$tmp/console" 2>"$tmp/err" || rc=$?
[ -z "${GUEST_LOG:-}" ] || cp "$tmp/console" "$GUEST_LOG"
[ "$rc" -eq 0 ] || printf '\nGUEST-ENDED %d %s\n' "$rc" "$(tail -n 1 "$tmp/err")" >>"$tmp/console"

tr -d '\r' <"$tmp/console" |
	awk -v name="$name" -v expect="$(wc -l <"$tmp/run.list")" -f "$here/tap.awk"
