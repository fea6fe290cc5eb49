#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fresh.sh [COMMAND ARG...]: the newcomer's machine. ./quickstart, or COMMAND, in a copy of the
# sources in root's home of a bare Debian 12 that has nothing but its minimal base. With
# PERFMON_LONG=1 also ./check --quick: a bare machine that runs ./check, such as the CI's, tests the
# same. Needs root, debootstrap and a mirror; what is mounted goes with this process.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${PERFMON_FRESH:-}" != mounts ] && [ "$(id -u)" = 0 ] &&
	unshare --mount --propagation private true 2>/dev/null; then
	PERFMON_FRESH=mounts exec unshare --mount --propagation private "$0" "$@"
fi
. "$here/common.sh"
matrix_begin fresh
[ "$(id -u)" = 0 ] || skip "not root"
need debootstrap debootstrap
need unshare util-linux
[ ! -e /etc/perfmon-fresh ] || skip "this is such a machine"
[ "${PERFMON_FRESH:-}" = mounts ] || skip "no mounts of its own: this root is no mount"

# The mirror this machine is set up with, in the one-line or the newer form, else Debian's own.
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
[ -n "$mirror" ] || mirror=$(awk '$1 == "deb" {
	for (i = 2; i < NF; i++) if ($i ~ /^http/) { print $i; exit } }' /etc/apt/sources.list \
	2>/dev/null || true)
mirror=${mirror:-http://deb.debian.org/debian}

root=$work/root
if [ ! -e "$root/etc/perfmon-fresh" ]; then
	rm -rf --one-file-system "$root"
	debootstrap --variant=minbase bookworm "$root" "$mirror" \
		>"$work/debootstrap.log" 2>&1 || skip "no bare Debian could be made ($work/debootstrap.log)"
	: >"$root/etc/perfmon-fresh"
	chmod 700 "$root/root"
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
cp /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
# A root that is a mount itself: what is tested inside may want mounts of its own.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"

copy=$root/root/perfmon
rm -rf --one-file-system "$copy"
mkdir "$copy"
(cd "$source" && tar cf - --exclude=./.git --exclude='./build*' --exclude=__pycache__ .) |
	tar xf - -C "$copy"

# Programs are compiled without optimisation: the suite proper tries optimised ones.
inside() { # COMMAND ARG...
	# shellcheck disable=SC2016 # HOME is the one inside
	chroot "$root" /usr/bin/env -i HOME=/root \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 \
		CFLAGS=-O0 CXXFLAGS=-O0 \
		PERFMON_QUICK=1 \
		sh -c 'cd "$HOME/perfmon" && exec "$@"' sh "$@"
}

if [ $# -gt 0 ]; then
	inside "$@"
	exit
fi
n=0 failed=0
# Tables, vectors, functions and clocks do not depend on what is installed; the suite proper makes
# the packages.
left_out='--no-suite tables --no-suite vectors --no-suite unit --no-suite hostile --no-suite clock --no-suite install'
set -- ./quickstart
[ -z "${PERFMON_LONG:-}" ] || set -- "$@" "./check --quick $left_out"
for command; do
	n=$((n + 1))
	log=$work/$n.log
	# shellcheck disable=SC2086 # words on purpose
	if inside $command >"$log" 2>&1; then
		echo "ok $n - on a bare Debian 12: $command ($(grep . "$log" | tail -n 1))"
	else
		failed=1
		grep -E '^not ok|^# |FAIL|rror' "$log" | tail -n 60 | sed 's/^#* */# /'
		echo "not ok $n - on a bare Debian 12: $command"
	fi
done
echo "1..$n"
rm -rf --one-file-system "$copy"
exit $failed
