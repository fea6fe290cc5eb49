#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutate.sh [--listed | --sample N --seed S] [FILE...]: does the quick suite notice faults? See mutate.py.
# Works on a copy of the sources: nothing here is changed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/.." && pwd)
work=${PERFMON_BUILD:-$source/build-mutate}/mutate
shared=$(realpath "${PERFMON_SHARED:-$source/../shared}" 2>/dev/null || true)
[ ! -d "$shared" ] || { PERFMON_SHARED=$shared; export PERFMON_SHARED; }

rm -rf "$work/source"
mkdir -p "$work/source"
(cd "$source" && tar -cf - --exclude='./build*' --exclude=./.git .) | tar -xf - -C "$work/source"
if ! { [ -f "$work/build/build.ninja" ] || meson setup "$work/build" "$work/source" -Dtests=enabled -Dbench=disabled; } \
	>"$work/setup.log" 2>&1; then
	tail -n 20 "$work/setup.log" | sed 's/^/# /'
	echo "Bail out! the copy cannot be configured"
	exit 1
fi
exec python3 "$here/mutate.py" "$work/source" "$work/build" "$@"
