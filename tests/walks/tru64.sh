#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A Tru64 programmer: a source written from pfm(7) compiles unchanged and counts on a device that is a model.
# shellcheck disable=SC2046  # a list of options on purpose
cc -w -I"$SOURCE/include/tru64" "$SOURCE/tests/tru64_program.c" -o program $(pkg-config --cflags perfmon)
status=0
pfm alpha device --model ev4 -- ./program ev4 >said || status=$?
[ $status = 126 ] || grep -q 'counted, nothing else' said   # 126: this kernel lets nobody answer another's calls
pfm encode ev4::cycles | grep -q 0x0000000000000a00
