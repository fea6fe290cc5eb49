#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deps.sh ARCH: print the folder that holds cmocka and jansson, static, with headers and pkg-config files, for an architecture
# of cross/ARCH.txt.
#
# Debian has the two for its own architectures only, so they are built from its source packages, once, and kept below
# ${PERFMON_CACHE:-${XDG_CACHE_HOME:-~/.cache}/perfmon}. Exits 77 with one line on stderr when something is missing.
# PERFMON_OFFLINE=1 forbids downloads, PERFMON_MIRROR names a Debian mirror.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../guest/guest.sh"

[ $# = 1 ] || { echo "usage: deps.sh ARCH" >&2; exit 2; }
triplet=$(sed -n "s/^c = '\(.*\)-gcc'/\1/p" "$here/../../cross/$1.txt")
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=$(guest_cache)
dir=$cache/deps-$suite-$1

answer() { echo "$dir"; exit 0; }

# The two source packages, fetched with an apt that neither uses nor changes the system's lists, unpacked and kept.
fetch() { # INTO
	[ ! -e "$1" ] || return 0
	guest_need apt-get apt
	guest_need xz xz-utils
	[ -r "$keyring" ] || guest_skip "$keyring is missing (Debian package debian-archive-keyring)"
	[ -z "${PERFMON_OFFLINE:-}" ] || guest_skip "no cmocka for this architecture in the cache, and PERFMON_OFFLINE forbids to download it"
	mirror=${PERFMON_MIRROR:-}
	if [ -z "$mirror" ] && [ -r /etc/apt/sources.list.d/debian.sources ]; then
		mirror=$(sed -n '/security/d; s/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources | head -n 1)
	fi
	mirror=${mirror:-http://deb.debian.org/debian}
	apt=$1.apt
	rm -rf "$apt" "$1.new"
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/none" "$1.new"
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
		! (cd "$apt" && timeout --foreground 300 apt-get -c apt.conf -qq source --download-only cmocka jansson >>log 2>&1); then
		guest_skip "no network: the sources of cmocka and jansson cannot be read from $mirror $suite"
	fi
	for package in cmocka jansson; do
		mkdir "$1.new/$package"
		basename "$apt/$package"_*.dsc | sed 's/.*_\(.*\)-.*/\1/' >"$1.new/$package.version"
		for tarball in "$apt/$package"_*.orig.tar.?z; do
			tar -C "$1.new/$package" --strip-components=1 -xf "$tarball"
		done
	done
	mv "$1.new" "$1"
	rm -rf "$apt"
}

describe() { # NAME VERSION: its pkg-config file
	# shellcheck disable=SC2016 # pkg-config expands it
	printf '%s\nName: %s\nDescription: %s for %s\nVersion: %s\nLibs: -L${prefix}/lib -l%s\nCflags: -I${prefix}/include\n' \
		'prefix=${pcfiledir}/../..' "$1" "$1" "$triplet" "$2" "$1"
}

build() { # SOURCES OUT
	obj=$2/obj
	mkdir -p "$2/include" "$2/lib/pkgconfig" "$obj"
	: >"$obj/jansson_private_config.h"
	cc="$triplet-gcc -std=gnu11 -O2 -w -D_GNU_SOURCE -DHAVE_STDINT_H -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_STRINGS_H
		-DHAVE_MALLOC_H -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_REALTIME -DHAVE_GCC_THREAD_LOCAL_STORAGE -DHAVE_STRSIGNAL
		-DHAVE_SIGLONGJMP -DHAVE_UNISTD_H -DHAVE_GETPID -DINITIAL_HASHTABLE_ORDER=3"
	cp "$1"/cmocka/include/*.h "$2/include/"
	sed 's/@json_have_sync_builtins@/0/; s/@json_inline@/inline/; s/@json_have_[a-z_]*@/1/' \
		"$1/jansson/src/jansson_config.h.in" >"$2/include/jansson_config.h"
	cp "$1/jansson/src/jansson.h" "$2/include/"
	for file in "$1/cmocka/src/cmocka.c" "$1"/jansson/src/*.c; do
		# shellcheck disable=SC2086 # words on purpose
		$cc -I"$2/include" -I"$obj" -c -o "$obj/$(basename "$file" .c).o" "$file"
	done
	"$triplet-ar" rcs "$2/lib/libcmocka.a" "$obj/cmocka.o"
	rm "$obj/cmocka.o"
	"$triplet-ar" rcs "$2/lib/libjansson.a" "$obj"/*.o
	rm -r "$obj"
	describe cmocka "$(cat "$1/cmocka.version")" >"$2/lib/pkgconfig/cmocka.pc"
	describe jansson "$(cat "$1/jansson.version")" >"$2/lib/pkgconfig/jansson.pc"
}

[ ! -e "$dir" ] || answer
guest_need "$triplet-gcc" "gcc-$triplet"
guest_need flock util-linux
[ -w "$cache" ] || guest_skip "no cmocka for $1 in $cache, which cannot be written to"
exec 9>"$cache/deps.lock"
flock -w 600 9 || guest_die "another job has held $cache/deps.lock for ten minutes"
[ ! -e "$dir" ] || answer # the other job made it

trap 'rm -rf "$dir.new"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$dir.new" # what a killed job left
fetch "$cache/deps-$suite-source"
build "$cache/deps-$suite-source" "$dir.new" >&2
mv "$dir.new" "$dir"
answer
