#!/bin/sh
# SPDX-License-Identifier: MIT
#
# guest_session.sh IMAGE.S GUEST: sessions inside a guest: arm64 (a real PMU), nopmu (the same without it), amd64 (the pretend
# PMU), hotplug (amd64 with a CPU that comes and goes, PERFMON_HOTPLUGS times), s390x (big-endian), alpha. The library is compiled
# for the guest; IMAGE.S brings in what pmuc.py made of the event tables, in the guest's byte order.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$here/../lib
image=$1 guest=${2:-arm64}
arch=$guest
[ "$guest" != nopmu ] || arch=arm64
[ "$guest" != hotplug ] || arch=amd64
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# All modules of libperfmon; the compatibility libraries and the adapters are libraries of their own.
# shellcheck disable=SC2046 # file names without blanks
set -- $(find "$lib" -name '*.c' ! -path '*/compat/*' ! -path '*/adapters/*' | sort)
rc=0
"$here/guest/cc.sh" "$arch" -O1 -I"$here/../include" -I"$lib" -DPERFMON_DATADIR='"/usr/share/perfmon"' -o "$tmp/guest_session" \
	-I"$here" "$here/guest_session.c" "$here/guest/region_counts.c" "$@" "$image" -lpthread 2>"$tmp/err" || rc=$?
if [ "$rc" -eq 77 ]; then
	echo "1..0 # SKIP $guest guest: $(tail -n 1 "$tmp/err")"
	exit 0
elif [ "$rc" -ne 0 ]; then
	sed 's/^/# /' "$tmp/err"
	echo 'Bail out! the library does not compile for the guest'
	exit 1
fi

run() { "$here/guest/run.sh" "$arch" "session-$guest" "$tmp/guest_session" "$@"; }

case $guest in
arm64)
	run -- '/guest_session pmu' 'access=1 /guest_session userread' \
		'/guest_session regions' 'access=1 /guest_session regions reads' \
		'uid=65534 paranoid=3 /guest_session level 3' 'uid=65534 paranoid=2 /guest_session level 2' \
		'uid=65534 paranoid=1 /guest_session level 1' 'uid=65534 paranoid=0 /guest_session level 0' \
		'uid=65534 paranoid=-1 /guest_session level -1'
	;;
nopmu)
	GUEST_CPU=cortex-a57,pmu=off
	export GUEST_CPU
	run -- '/guest_session nopmu' '/guest_session software'
	;;
amd64) run pretend_pmu.ko -- '/guest_session software' 'insmod /pretend_pmu.ko' '/guest_session pretend' ;;
hotplug)
	GUEST_QEMU='-smp 2'
	export GUEST_QEMU
	run -- "/guest_session hotplug ${PERFMON_HOTPLUGS:-2}"
	;;
s390x) run -- '/guest_session software' '/guest_session regionfaults' ;;
alpha) run -- '/guest_session alpha' 'uid=65534 paranoid=2 /guest_session alphauser' ;;
esac
