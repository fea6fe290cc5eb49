#!/bin/sh
# SPDX-License-Identifier: MIT
#
# module.sh: print the path of pretend_pmu.ko, built for the amd64 guest's kernel. Built once per
# kernel and source, kept beside the kernels. Exits 77 when something is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ "$(uname -m)" = x86_64 ] || guest_skip \
	"the kernel's build tools for amd64 run on an amd64 machine only"
guest_need make make
guest_need flock util-linux
# The kernel was built with this one; another may not know the options in its configuration.
guest_need gcc-12 gcc-12
headers=$("$here/kernel.sh" amd64 headers)
release=$(cat "$("$here/kernel.sh" amd64 release)")
cache=$(guest_cache)
dir=$cache/pretend_pmu-$release-$(cat "$here/pretend_pmu.c" "$here/Kbuild" | cksum | cut -d' ' -f1)

answer() { echo "$dir/pretend_pmu.ko"; exit 0; }

[ ! -e "$dir" ] || answer
exec 9>"$cache/pretend_pmu.lock"
flock -w 600 9 || guest_die "another job has held $cache/pretend_pmu.lock for ten minutes"
[ ! -e "$dir" ] || answer

new=$dir.new
trap 'rm -rf "$new" "$new.work"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$new" "$new.work"
mkdir "$new" "$new.work"
cp "$here/pretend_pmu.c" "$here/Kbuild" "$new.work/"
make -C "$headers/build" -s M="$new.work" modules >"$new.work/log" 2>&1 || {
	tail -n 20 "$new.work/log" >&2
	guest_die "pretend_pmu.ko does not build"
}
strip --strip-debug -o "$new/pretend_pmu.ko" "$new.work/pretend_pmu.ko"
mv "$new" "$dir"
answer
