#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cc.sh ARCH ARGUMENT...: the C compiler for the guest's programs, linked the way the guest can run
# them.
# Exits 77 when the compiler or its C library is not installed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ $# -ge 2 ] || { echo "usage: cc.sh ARCH ARGUMENT..." >&2; exit 2; }
guest_describe "$1"
shift
guest_need "$g_cc" "$g_ccpkg"
[ -n "$(printf '#include <unistd.h>\n' | "$g_cc" -E -P - 2>/dev/null)" ] ||
	guest_skip "the C library of $g_triplet is missing (Debian package $g_libcpkg)"
# shellcheck disable=SC2086 # empty, or one word
exec "$g_cc" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra $g_link "$@"
