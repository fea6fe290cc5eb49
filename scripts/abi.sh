#!/bin/sh
# SPDX-License-Identifier: MIT
#
# abi.sh [-w] LIBRARY: describes the ABI of the shared library (which must have debug information)
# on standard output; with -w in tests/abi/libperfmon.abi, after functions or structs were added:
#
#   ./scripts/abi.sh -w build/lib/libperfmon.so.1.0.0
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

private=$(mktemp)
trap 'rm -f "$private"' EXIT
# libpfm.so.3 alone uses the symbols with the version PERFMON_PRIVATE.
printf '[suppress_function]\nsymbol_name_regexp = ^pfmi_\ndrop = yes\n' >"$private"

describe() {
	abidw --suppressions "$private" --no-show-locs --no-corpus-path --no-comp-dir-path --drop-private-types \
		--drop-undefined-syms \
		 --headers-dir "$top/include" "$1"
}

case ${1:-} in
-w)
	describe "$2" >"$top/tests/abi/libperfmon.abi.new"
	mv "$top/tests/abi/libperfmon.abi.new" "$top/tests/abi/libperfmon.abi"
	;;
?*) describe "$1" ;;
*) sed -n 's/^# \{0,1\}//p' "$0" | sed -n '3,7p' >&2; exit 2 ;;
esac
