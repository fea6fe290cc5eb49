#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pmu.sh WORK ARCH STORY: pmu_session.c and the command on the PMU of a guest: arm32, arm64, riscv64
# or ppc64le.
#
# The library and pfm are compiled for the guest below WORK, and again where sources have changed.
# STORY is the guest's name, hotplug, commands (truth_session.c), events, repeat or report
# (events_session.c), or on arm32 nointerrupt, or on arm64 truth or serve (serve_session.c).
# shellcheck disable=SC2317 # functions that step calls
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ $# = 3 ] || { echo "usage: pmu.sh WORK ARCH STORY" >&2; exit 2; }
work=$1 arch=$2 story=$3
guest_describe "$arch"
top=$(realpath "$here/../..")
cross=$arch
[ "$arch" != arm32 ] || cross=armhf
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# The last words of something that is missing are the reason to skip.
step() {
	rc=0
	("$@") >"$tmp/out" 2>&1 || rc=$?
	case $rc in
	0) ;;
	77) echo "1..0 # SKIP $arch guest: $(tail -n 1 "$tmp/out")"; exit 0 ;;
	*)
		tail -n 40 "$tmp/out" | sed 's/^/# /'
		echo "Bail out! $arch guest: $1 failed with status $rc"
		exit 1
		;;
	esac
}

# Statically linked: pfm needs jansson, and nothing else of the guest.
build() {
	guest_need "$g_qemu" "$g_qemupkg"
	guest_need "$g_cc" "$g_ccpkg"
	guest_need flock util-linux
	guest_need meson meson
	[ "$arch" != arm32 ] || guest_need fdtput device-tree-compiler
	mkdir -p "$work"
	exec 9>"$folder.lock"
	flock -w 900 9 || guest_die "another job has held $folder.lock for fifteen minutes"
	deps=$("$here/../matrix/deps.sh" "$cross")
	printf "[properties]\npkg_config_libdir = ['%s/lib/pkgconfig']\n" "$deps" >"$folder.txt"
	[ -f "$folder/build.ninja" ] || meson setup "$folder" "$top" --cross-file "$top/cross/$cross.txt" \
		--cross-file "$folder.txt" \
		-Doptimization=1 -Ddebug=false -Ddefault_library=static -Dc_link_args=-static \
		-Dtests=disabled -Dman=disabled -Dpython=disabled -Dbench=disabled
	ninja -C "$folder" -j "${PERFMON_JOBS:-1}" tools/pfm tools/pfm-exporter lib/libperfmon.a
}

compile() {
	case $story in
	serve) "$here/cc.sh" "$arch" -O1 -o "$tmp/serve_session" "$here/serve_session.c" ;;
	events | repeat | report)
		"$here/cc.sh" "$arch" -O1 -I"$here/.." -o "$tmp/events_session" "$here/events_session.c"
		;;
	commands)
		"$here/cc.sh" "$arch" -O1 -I"$top/include" -I"$folder/include" -I"$here/.." \
			-o "$tmp/truth_session" "$here/truth_session.c" "$folder/lib/libperfmon.a" \
			-lpthread -lm
		;;
	*)
		"$here/cc.sh" "$arch" -O1 -I"$top/include" -I"$here/.." -o "$tmp/pmu_session" \
			"$here/pmu_session.c" "$here/region_counts.c" "$folder/lib/libperfmon.a" \
			-lpthread -lm
		;;
	esac
}

folder=$work/command-$arch
step "$here/kernel.sh" "$arch"
step build
step compile
case $story in
hotplug | serve)
	# On several processors QEMU's clock of instructions starves some of them.
	GUEST_ICOUNT=none GUEST_QEMU='-smp 2'
	export GUEST_ICOUNT GUEST_QEMU
	;;
nointerrupt)
	GUEST_PMU=nointerrupt
	export GUEST_PMU
	;;
esac
case $story in
serve) program=serve_session ;;
commands) program=truth_session ;;
events | repeat | report) program=events_session ;;
*) program=pmu_session ;;
esac
GUEST_TIMEOUT=${GUEST_TIMEOUT:-400} "$here/run.sh" "$arch" \
	"pmu-$arch-$story${GUEST_KERNEL:+-$GUEST_KERNEL}" "$tmp/$program" \
	"$folder/tools/pfm" "$folder/tools/pfm-exporter" -- \
	"/$program $arch $story"
