#!/bin/sh
# SPDX-License-Identifier: MIT
#
# initrd.sh ARCH OUT FILE[:DEST]...: pack the files and our init into an initramfs for the guest.
#
# DEST is a path in the guest, by default /NAME-OF-FILE. /run.list, which init obeys, is one of the
# files. A dynamically linked FILE brings its loader and its libraries along; those that are not in
# the system's places are looked for in GUEST_LIBPATH (directories separated by colons). Exits 77
# when a tool is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ $# -ge 2 ] || { echo "usage: initrd.sh ARCH OUT FILE[:DEST]..." >&2; exit 2; }
arch=$1 out=$2
shift 2
guest_describe "$arch"
guest_need cpio cpio
guest_need gzip gzip
guest_need readelf binutils

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
root=$tmp/root

# The path of a library named in a NEEDED entry on this machine.
find_library() { # NAME
	for dir in $(echo "${GUEST_LIBPATH:-}" | tr : ' ') $library_path; do
		if [ -e "$dir/$1" ]; then
			echo "$dir/$1"
			return
		fi
	done
	guest_die "library $1 was not found (directories searched: ${GUEST_LIBPATH:-} $library_path)"
}

# Followed by hand instead of with ldd: ldd runs the file's own loader, and works for this machine's
# files only.
add_libraries() { # FILE
	for name in $(readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ ! -e "$root/lib/$name" ] || continue
		lib=$(find_library "$name")
		cp -L "$lib" "$root/lib/$name"
		add_libraries "$root/lib/$name"
	done
}

add_loader() { # FILE
	loader=$(readelf -l "$1" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\].*/\1/p')
	[ -n "$loader" ] || return 0
	mkdir -p "$root${loader%/*}"
	lib=$(find_library "${loader##*/}")
	cp -L "$lib" "$root$loader"
}

add_file() { # FILE DEST
	[ -r "$1" ] || guest_die "$1 cannot be read"
	mkdir -p "$root$(dirname "$2")"
	cp -L "$1" "$root$2"
	add_loader "$1"
	add_libraries "$1"
}

library_path="/usr/$g_triplet/lib /usr/lib/$g_triplet /lib/$g_triplet /usr/lib64 /lib64 /usr/lib /lib"

# mktemp makes a directory that only its owner may enter; as / that would lock out ordinary users of
# the guest.
umask 022
mkdir "$root"
(cd "$root" && mkdir bin dev lib proc sys tmp)
# Only root can make the node, and only the time before devtmpfs is mounted needs it.
mknod "$root/dev/console" c 5 1 2>/dev/null || :
"$here/cc.sh" "$arch" -Os -s -o "$tmp/init" "$here/init.c"
add_file "$tmp/init" /init
for spec; do
	case $spec in
	*:/*) add_file "${spec%%:/*}" "/${spec#*:/}" ;;
	*) add_file "$spec" "/${spec##*/}" ;;
	esac
done
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$tmp/initrd"
mv "$tmp/initrd" "$out"
