#!/bin/sh
# SPDX-License-Identifier: MIT
#
# source.sh PACKAGE: print the folder that holds the upstream source of a Debian package, and its
# version in the file .version.
#
# Fetched once, with an apt that neither uses nor changes the system's lists, and kept below
# ${PERFMON_CACHE:-${XDG_CACHE_HOME:-~/.cache}/perfmon}. Exits 77 with one line on stderr when
# something is missing.
# PERFMON_OFFLINE=1 forbids downloads, PERFMON_MIRROR names a Debian mirror.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../guest/guest.sh"
. "$here/../guest/apt.sh"

[ $# = 1 ] || { echo "usage: source.sh PACKAGE" >&2; exit 2; }
package=$1
suite=bookworm
cache=$(guest_cache)
dir=$cache/source-$suite-$package

answer() { echo "$dir"; exit 0; }

[ ! -e "$dir" ] || answer
guest_need xz xz-utils
guest_need flock util-linux
[ -w "$cache" ] || guest_skip "no source of $package in $cache, which cannot be written to"
exec 9>"$dir.lock"
flock -w 600 9 || guest_die "another job has held $dir.lock for ten minutes"
[ ! -e "$dir" ] || answer # the other job made it

apt=$dir.apt
trap 'rm -rf "$apt" "$dir.new"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$apt" "$dir.new" # what a killed job left
apt_setup "$apt" deb-src "$(dpkg --print-architecture)" "source of $package"
(cd "$apt" && timeout --foreground 300 apt-get -c "$apt_conf" -qq source --download-only \
	"$package" >>apt.log 2>&1) ||
	guest_skip "no network: the source of $package cannot be read from $mirror $suite"
mkdir "$dir.new"
for tarball in "$apt/$package"_*.orig.tar.*; do
	[ "$tarball" != "${tarball%.asc}" ] || tar -C "$dir.new" --strip-components=1 -xf "$tarball"
done
basename "$apt/$package"_*.dsc | sed 's/[^_]*_\(.*\)-.*/\1/' >"$dir.new/.version"
mv "$dir.new" "$dir"
answer
