#!/bin/sh
# SPDX-License-Identifier: MIT
#
# crate.sh BUILD FOLDER: makes the Rust crates in FOLDER with the sources of the library and the
# tables of the build folder BUILD, so that they need a C compiler and nothing installed.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 2 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed -n '3,4p' >&2; exit 2; }
build=$1 folder=$2
vendor=$folder/perfmon-sys/vendor

mkdir -p "$folder"
cp -R "$top/bindings/rust/." "$folder"
rm -rf "$vendor"
mkdir -p "$vendor/include"
cp -R "$top/include/perfmon" "$vendor/include"
cp "$top/LICENSE" "$folder/perfmon-sys"
# The sources of libperfmon, and all headers of lib/.
sed -n '/^lib_sources/,/^)/p' "$top/lib/meson.build" | grep -o "'[a-z0-9_/]*\.c'" | tr -d "'" |
	sed 's/^/lib\//' >"$vendor/sources"
(cd "$top" && find lib -name '*.h' -o -name '*.def') | cat "$vendor/sources" - |
	while read -r file; do
		mkdir -p "$vendor/$(dirname "$file")"
		cp "$top/$file" "$vendor/$file"
	done
cp "$build/lib/events/builtin.pmdb" "$vendor/tables.pmdb"
sed 's/\.incbin ".*"/.incbin "tables.pmdb"/' "$build/lib/events/builtin.S" >"$vendor/tables.S"
echo tables.S >>"$vendor/sources"
