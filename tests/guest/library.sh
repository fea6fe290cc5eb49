#!/bin/sh
# SPDX-License-Identifier: MIT
#
# library.sh IMAGE.S WORK ARCH NAME FILE... -- LINE...: run.sh with programs that use the library.
#
# A FILE that ends in .c is compiled for the guest and linked with the whole library; FILE.c,MORE.c
# is one program of two sources. Other files and the lines are passed to run.sh.
# IMAGE.S includes the image that pmuc.py built from the event tables, in the guest's byte order.
# WORK keeps the compiled library between runs, one for each guest, until its sources change.
# Three words name the programs of the CUSE test:
#   cuse_server     linked with libfuse3, for a guest of the same architecture as this machine
#   cuse_client     uses the library and opens the device through door.c
#   device_program  (of command/programs) opens the device through door.c without the library
# shellcheck disable=SC2317 # functions that step calls
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ $# -ge 6 ] || { echo "usage: library.sh IMAGE.S WORK ARCH NAME FILE... -- LINE..." >&2; exit 2; }
image=$(realpath "$1") work=$2 arch=$3 name=$4
shift 4
guest_describe "$arch"
top=$(realpath "$here/../..")
state=$(cat "$top"/lib/*/*.[ch] "$top"/lib/*/*/*.[ch] "$top"/include/perfmon/*.h "$image" \
	"$here/library.sh" | cksum)
objects=$work/library-$arch-${state%% *}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# As in run.sh, the last line of a step that misses a tool is the reason to skip. The subshell lets
# a step exit.
step() {
	rc=0
	("$@") >"$tmp/out" 2>"$tmp/err" || rc=$?
	case $rc in
	0) ;;
	77) echo "1..0 # SKIP $arch guest: $(tail -n 1 "$tmp/err")"; exit 0 ;;
	*)
		sed 's/^/# /' "$tmp/err"
		echo "Bail out! $name: $1 failed with status $rc"
		exit 1
		;;
	esac
}

compile() { "$here/cc.sh" "$arch" -O1 -I"$top/include" -I"$top/lib" -I"$top/tools" -I"$top" \
	-I"$top/tests" -I"$top/tests/support" "$@"; }

# The objects appear under their name when all are there: another test may look for them at the same
# time.
compile_library() {
	guest_need "$g_qemu" "$g_qemupkg"
	guest_need flock util-linux
	mkdir -p "$work"
	exec 9>"$work/library-$arch.lock"
	flock -w 600 9 || guest_die "another job has held $work/library-$arch.lock for ten minutes"
	[ ! -e "$objects" ] || return 0
	rm -rf "$work/library-$arch"-*
	# Files of different folders may have the same name.
	for folder in $(cd "$top/lib" && find . -name '*.c' ! -path './compat/*' \
		! -path './region/adapters/*' ! -path './freestanding/*' -printf '%h\n' | sort -u); do
		mkdir -p "$objects.new/$folder"
		(cd "$objects.new/$folder" &&
			compile -c -DPERFMON_DATADIR='"/usr/share/perfmon"' "$top/lib/$folder"/*.c) || return $?
	done
	(cd "$objects.new" && compile -c "$image") || return $?
	mv "$objects.new" "$objects"
}

# Linked dynamically: initrd.sh brings its libraries along.
compile_server() {
	guest_need "$g_cc" "$g_ccpkg"
	guest_need pkg-config pkg-config
	pkg-config --exists fuse3 || guest_skip "libfuse is missing (Debian package libfuse3-dev)"
	# shellcheck disable=SC2046 # lists of options
	"$g_cc" -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra \
		-I"$top/include" -I"$top/lib" -I"$top/tools" -I"$top" -I"$top/tests/support" $(pkg-config \
		--cflags fuse3) \
		-o "$tmp/cuse_server" "$here/cuse_server.c" "$top"/tools/alpha/model.c \
		"$top"/tools/alpha/request.c "$top"/tools/alpha/request_counters.c \
		"$top"/tools/alpha/request_profile.c "$top"/tools/alpha/work.c $(pkg-config --libs fuse3)
}

[ "$arch" != amd64 ] || [ "$(uname -m)" = x86_64 ] || case " $* " in
*" cuse_server "*) echo \
	"1..0 # SKIP $arch guest: libfuse is that of this machine, which is another one"; exit 0 ;;
esac
step compile_library
n=$#
while [ "$n" -gt 0 ] && [ "$1" != -- ]; do
	file=$1
	shift
	n=$((n - 1))
	# shellcheck disable=SC2046 # names of object files have no blanks
	case $file in
	cuse_server) step compile_server ;;
	cuse_client) step compile -Wl,--wrap=open -o "$tmp/$file" "$here/$file.c" "$here/door.c" $(find \
		"$objects" -name "*.o") -lpthread -lm ;;
	device_program) step compile -Wl,--wrap=open -o "$tmp/$file" \
		"$top/tests/command/programs/$file.c" "$here/door.c" ;;
	*.c) step compile -o "$tmp/$(basename "${file%%,*}" .c)" $(echo "$file" |
		tr , ' ') $(find "$objects" -name "*.o") -lpthread -lm ;;
	esac
	case $file in
	cuse_server | cuse_client | device_program) file=$tmp/$file ;;
	*.c) file=$tmp/$(basename "${file%%,*}" .c) ;;
	esac
	set -- "$@" "$file"
done
[ "$n" -gt 1 ] || { echo "library.sh: no lines" >&2; exit 2; }
# The arguments are now "--", the lines and then the files: move the files to the front.
shift
n=$((n - 1))
set -- "$@" --
while [ "$n" -gt 0 ]; do
	set -- "$@" "$1"
	shift
	n=$((n - 1))
done
rc=0
"$here/run.sh" "$arch" "$name" "$@" || rc=$?
exit "$rc"
