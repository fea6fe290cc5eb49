#!/bin/sh
# SPDX-License-Identifier: MIT
#
# wasm.sh BUILD FOLDER: makes the npm package of bindings/js in FOLDER, with the tables of the build
# folder BUILD. Needs clang, lld, wasi-libc and python3. CLANG names another compiler.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 2 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed -n '3,4p' >&2; exit 2; }
build=$1 folder=$2
clang=${CLANG:-clang}
tables=$build/lib/events/builtin.pmdb
flags="--target=wasm32-wasi -Oz -std=c11 -D_GNU_SOURCE -w -ffunction-sections -fdata-sections"

mkdir -p "$folder/objects"
words=$(python3 "$top/bindings/js/pack.py" "$tables" "$folder/perfmon.tables")
# All objects are made again if a source is newer.
if [ -n "$(find "$top/lib" "$top/include" "$top/bindings/js" -name '*.[ch]' \
	-newer "$folder/objects/made" 2>/dev/null || echo none)" ]; then
	rm -f "$folder"/objects/*.o
	touch "$folder/objects/made"
fi
# The modules below session/; a child process is not among what an encoder needs.
sed -n '/^lib_sources/,/# session/p' "$top/lib/meson.build" | grep -o "'[a-z0-9_/]*\.c'" |
	tr -d "'" | grep -v base/child.c |
	while read -r file; do
		object=$folder/objects/$(echo "$file" | tr / _).o
		[ -e "$object" ] || echo "$file $object"
	done >"$folder/objects/list"
while read -r file object; do
	# shellcheck disable=SC2086
	"$clang" $flags -I"$top/bindings/js/wasi" -I"$top/lib" -I"$top/include" -c \
		"$top/lib/$file" -o "$object"
done <"$folder/objects/list"
# shellcheck disable=SC2086
"$clang" $flags -DPERFMON_TABLES_SIZE="$(wc -c <"$tables")" -DPERFMON_WORDS_AT="$words" \
	-I"$top/bindings/js/wasi" -I"$top/include" -c "$top/bindings/js/src/perfmon_wasm.c" \
	-o "$folder/objects/perfmon_wasm.o"
"$clang" --target=wasm32-wasi -mexec-model=reactor \
	-Wl,--gc-sections,--strip-all,-z,stack-size=1048576 "$folder"/objects/*.o \
	-o "$folder/perfmon.wasm"
cp "$top/bindings/js/perfmon.js" "$top/bindings/js/perfmon.d.ts" "$top/bindings/js/package.json" \
	"$top/bindings/js/README.md" "$folder"
