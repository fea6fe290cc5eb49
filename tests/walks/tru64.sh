#!/bin/sh -eu
# SPDX-License-Identifier: MIT
# A Tru64 programmer: a program written from pfm(7) of Tru64 compiles unchanged, and counts on the
# device model.
# shellcheck disable=SC2046  # a list of options on purpose
cc -w -I"$SOURCE/include/tru64" "$SOURCE/tests/command/programs/tru64_program.c" -o program \
	$(pkg-config --cflags perfmon)
status=0
pfm alpha device --model ev4 -- ./program ev4 >said || status=$?
[ $status = 126 ] || grep -q 'counted, nothing else' said   # 126: this kernel does not permit to answer system calls of another process
pfm encode ev4::cycles | grep -q 0x0000000000000a00
