#!/bin/sh
# SPDX-License-Identifier: MIT
#
# source.sh PACKAGE: print the folder that holds the upstream source of a Debian package.
#
# Fetched once, with an apt that neither uses nor changes the system's lists, and kept below
# ${PERFMON_CACHE:-${XDG_CACHE_HOME:-~/.cache}/perfmon}. Exits 77 with one line on stderr when something is missing.
# PERFMON_OFFLINE=1 forbids downloads, PERFMON_MIRROR names a Debian mirror.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../guest/guest.sh"

[ $# = 1 ] || { echo "usage: source.sh PACKAGE" >&2; exit 2; }
package=$1
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=$(guest_cache)
dir=$cache/source-$suite-$package

answer() { echo "$dir"; exit 0; }

[ ! -e "$dir" ] || answer
guest_need apt-get apt
guest_need xz xz-utils
guest_need flock util-linux
[ -r "$keyring" ] || guest_skip "$keyring is missing (Debian package debian-archive-keyring)"
[ -z "${PERFMON_OFFLINE:-}" ] || guest_skip "no source of $package in the cache, and PERFMON_OFFLINE forbids to download it"
[ -w "$cache" ] || guest_skip "no source of $package in $cache, which cannot be written to"
exec 9>"$dir.lock"
flock -w 600 9 || guest_die "another job has held $dir.lock for ten minutes"
[ ! -e "$dir" ] || answer # the other job made it

mirror=${PERFMON_MIRROR:-}
if [ -z "$mirror" ] && [ -r /etc/apt/sources.list.d/debian.sources ]; then
	mirror=$(sed -n '/security/d; s/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources | head -n 1)
fi
mirror=${mirror:-http://deb.debian.org/debian}
apt=$dir.apt
trap 'rm -rf "$apt" "$dir.new"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$apt" "$dir.new" # what a killed job left
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/none" "$dir.new"
: >"$apt/status"
echo "deb-src [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<-CONF
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	Dir::State "$apt/state";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/cache";
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "$apt/none";
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "1";
	Acquire::http::Timeout "20";
	Acquire::https::Timeout "20";
CONF
if ! timeout --foreground 300 apt-get -c "$apt/apt.conf" -qq update >"$apt/log" 2>&1 ||
	! (cd "$apt" && timeout --foreground 300 apt-get -c apt.conf -qq source --download-only "$package" >>log 2>&1); then
	guest_skip "no network: the source of $package cannot be read from $mirror $suite"
fi
for tarball in "$apt/$package"_*.orig.tar.?z*; do
	tar -C "$dir.new" --strip-components=1 -xf "$tarball"
done
mv "$dir.new" "$dir"
answer
