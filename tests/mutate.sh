#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutate.sh [--sample N --from K --seed S --tests NAME,... --seconds T --near --measured] [FILE...]:
# does the quick suite notice faults? See mutate.py. Works on a copy of the sources: nothing here is
# changed. An index beyond an array and a write beyond the arrays of a function stop the copy's
# programs, as they do under the sanitizers that the suite runs under, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/.." && pwd)
work=${PERFMON_BUILD:-$source/build-mutate}/mutate
shared=$(realpath "${PERFMON_SHARED:-$source/../shared}" 2>/dev/null || true)
[ ! -d "$shared" ] || { PERFMON_SHARED=$shared; export PERFMON_SHARED; }

rm -rf "$work/new"
mkdir -p "$work/new" "$work/source"
(cd "$source" && tar -cf - --exclude='./build*' --exclude=./.git --exclude=__pycache__ .) |
	tar -xf - -C "$work/new"

# There the tests link a shared object, from which nothing is hidden: for each fault one file is
# compiled and that object linked, not every test. Python's module and the manual ask the same
# library and are left out.
change() { # FILE EXPRESSION...
	file=$work/new/$1
	shift
	cp "$file" "$work/before"
	sed "$@" "$work/before" >"$file"
	! cmp -s "$file" "$work/before" || { echo "Bail out! $file is not as expected"; exit 1; }
}
change lib/meson.build -e "s/gnu_symbol_visibility: 'hidden'/gnu_symbol_visibility: 'default'/" \
	-e "s/^perfmon_inside = declare_dependency(link_with: perfmon_lib.get_static_lib(),/inside = shared_library('inside', \
objects: perfmon_lib.get_shared_lib().extract_all_objects(recursive: true), \
link_whole: [device_model, image], \
dependencies: [threads, libdl])\nperfmon_inside = declare_dependency(link_with: inside,/"
change lib/table/table.h -e 's/ __attribute__((visibility("hidden")));$/;/'
change compiler/image/image_writer.py -e '/^	\.hidden pfmi_builtin_image$/d'

# Unchanged files keep their times. A file that an earlier run changed is newer than its object, so
# it is compiled again.
(cd "$work/source" && find . ! -type d) | while read -r file; do
	[ -e "$work/new/$file" ] || rm -f "$work/source/$file"
done
(cd "$work/new" && find . ! -type d) | while read -r file; do
	cmp -s "$work/new/$file" "$work/source/$file" || { mkdir -p "$work/source/${file%/*}" &&
		cp "$work/new/$file" "$work/source/$file"; }
done
rm -rf "$work/new"

if ! { [ -f "$work/build/build.ninja" ] ||
	meson setup "$work/build" "$work/source" -Dtests=enabled -Dbench=disabled -Dman=disabled \
	-Dpython=disabled -Doptimization=1 -Ddebug=false \
	-Dc_args='-fsanitize=bounds -fsanitize-undefined-trap-on-error -fstack-protector-strong';
	} >"$work/setup.log" 2>&1; then
	tail -n 20 "$work/setup.log" | sed 's/^/# /'
	echo "Bail out! the copy cannot be configured"
	exit 1
fi
exec python3 "$here/mutate.py" "$work/source" "$work/build" "$@"
