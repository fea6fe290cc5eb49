#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A packager: a staged install writes only below its prefix, the library has a version, programs
# contain no path of the build.
DESTDIR=$PWD/stage meson install -C "$BUILD" --no-rebuild --quiet >/dev/null
prefix=$(find stage -name perfmon.h -path '*include/perfmon/*' |
	sed 's,/include/perfmon/perfmon.h$,,')
[ "$(ls stage)" = "$(printf '%s' "${prefix#stage/}" | cut -d/ -f1)" ]
library=$(find stage -name 'libperfmon.so.1.*' -type f)
readelf -d "$library" | grep -q 'SONAME.*libperfmon.so.1'
readelf -d "$library" | grep NEEDED | grep -v 'libc\.so' && exit 1
grep -q "^prefix=" "$(find stage -name perfmon.pc)"
readelf -d "$prefix/bin/pfm" | grep -E 'R(UN)?PATH' | grep -F "$BUILD" && exit 1
for file in include/perfmon/perfmon.hpp include/perfmon/tru64/sys/pfcntr.h share/man/man1/pfm.1 \
	share/bash-completion/completions/pfm; do
	[ -f "$prefix/$file" ]
done
LD_LIBRARY_PATH=$(dirname "$library") "$prefix/bin/pfm" encode skl::MEM_LOAD_RETIRED.L3_MISS |
	grep -q 0x00000000005320d1
