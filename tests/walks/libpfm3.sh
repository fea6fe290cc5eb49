#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A libpfm 3 programmer: an old program compiles unchanged, and gives the same registers.
DESTDIR=$PWD/stage meson install -C "$BUILD" --no-rebuild --quiet >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/stage" -name libpfm3.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$PWD/stage" -name libpfm3.so)")
PKG_CONFIG_SYSROOT_DIR=$PWD/stage
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
# shellcheck disable=SC2046  # a list of options on purpose
cc -Wall -Wextra -Werror "$SOURCE/examples/libpfm3_dispatch.c" -o dispatch $(pkg-config --cflags \
	--libs libpfm3)
./dispatch IA64_INST_RETIRED_THIS >registers
grep -qi 'pmc' registers
pfm dispatch --user --pmu montecito CPU_OP_CYCLES_ALL IA64_INST_RETIRED_THIS >ours
sed -n 's/.*PMC[0-9]* *0x0*\([0-9a-f]*\).*/\1/p' ours >values
[ "$(wc -l <values)" = 2 ]
while read -r value; do
	grep -qi "$value" registers
done <values
