#!/bin/sh
# SPDX-License-Identifier: MIT
#
# guest_session.sh IMAGE.S WORK GUEST: sessions inside a guest: arm64 (a real PMU), nopmu (the same
# without it), amd64 (the pretend PMU), hotplug (amd64 with a CPU that comes and goes,
# PERFMON_HOTPLUGS times), s390x (big-endian), alpha. library.sh compiles the library for the
# guest; IMAGE.S holds the event tables in the guest's byte order; WORK keeps the compiled library.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
image=$1 work=$2 guest=$3
arch=$guest
[ "$guest" != nopmu ] || arch=arm64
[ "$guest" != hotplug ] || arch=amd64

run() {
	exec "$here/library.sh" "$image" "$work" "$arch" "session-$guest" \
		"$here/guest_session.c,$here/region_counts.c" "$@"
}

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
amd64) run pretend_pmu.ko -- '/guest_session software' 'insmod /pretend_pmu.ko' \
	'/guest_session pretend' ;;
hotplug)
	GUEST_QEMU='-smp 2'
	export GUEST_QEMU
	run -- "/guest_session hotplug ${PERFMON_HOTPLUGS:-2}"
	;;
s390x) run -- '/guest_session software' '/guest_session regionfaults' ;;
alpha) run -- '/guest_session alpha' 'uid=65534 paranoid=2 /guest_session alphauser' ;;
esac
