#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deps.sh ARCH: print the folder that holds cmocka and jansson, static, with headers and pkg-config
# files, for an architecture of cross/ARCH.txt.
#
# Debian has the two for its own architectures only, so they are built from its source packages,
# once, and kept below
# ${PERFMON_CACHE:-${XDG_CACHE_HOME:-~/.cache}/perfmon}. Exits 77 with one line on stderr when
# something is missing.
# PERFMON_OFFLINE=1 forbids downloads, PERFMON_MIRROR names a Debian mirror.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../guest/guest.sh"

[ $# = 1 ] || { echo "usage: deps.sh ARCH" >&2; exit 2; }
triplet=$(sed -n "s/^c = '\(.*\)-gcc'/\1/p" "$here/../../cross/$1.txt")
suite=bookworm
cache=$(guest_cache)
dir=$cache/deps-$suite-$1

answer() { echo "$dir"; exit 0; }

describe() { # NAME VERSION: its pkg-config file
	# shellcheck disable=SC2016 # pkg-config expands it
	printf '%s\nName: %s\nDescription: %s for %s\nVersion: %s\nLibs: -L${prefix}/lib -l%s\nCflags: -I${prefix}/include\n' \
		'prefix=${pcfiledir}/../..' "$1" "$1" "$triplet" "$2" "$1"
}

build() { # CMOCKA JANSSON OUT
	obj=$3/obj
	mkdir -p "$3/include" "$3/lib/pkgconfig" "$obj"
	: >"$obj/jansson_private_config.h"
	cc="$triplet-gcc -std=gnu11 -O2 -w -D_GNU_SOURCE -DHAVE_STDINT_H -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_STRINGS_H
		-DHAVE_MALLOC_H -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_REALTIME -DHAVE_GCC_THREAD_LOCAL_STORAGE
		-DHAVE_STRSIGNAL -DHAVE_SIGLONGJMP -DHAVE_UNISTD_H -DHAVE_GETPID -DINITIAL_HASHTABLE_ORDER=3"
	cp "$1"/include/*.h "$3/include/"
	sed 's/@json_have_sync_builtins@/0/; s/@json_inline@/inline/; s/@json_have_[a-z_]*@/1/' \
		"$2/src/jansson_config.h.in" >"$3/include/jansson_config.h"
	cp "$2/src/jansson.h" "$3/include/"
	for file in "$1/src/cmocka.c" "$2"/src/*.c; do
		# shellcheck disable=SC2086 # words on purpose
		$cc -I"$3/include" -I"$obj" -c -o "$obj/$(basename "$file" .c).o" "$file"
	done
	"$triplet-ar" rcs "$3/lib/libcmocka.a" "$obj/cmocka.o"
	rm "$obj/cmocka.o"
	"$triplet-ar" rcs "$3/lib/libjansson.a" "$obj"/*.o
	rm -r "$obj"
	describe cmocka "$(cat "$1/.version")" >"$3/lib/pkgconfig/cmocka.pc"
	describe jansson "$(cat "$2/.version")" >"$3/lib/pkgconfig/jansson.pc"
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
cmocka=$("$here/source.sh" cmocka)
jansson=$("$here/source.sh" jansson)
build "$cmocka" "$jansson" "$dir.new" >&2
mv "$dir.new" "$dir"
answer
