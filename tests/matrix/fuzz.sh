#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fuzz.sh SECONDS: every libFuzzer harness for SECONDS, the corpus first (tests/fuzz/run.sh). A long run by hand:
# tests/fuzz/run.sh build-fuzz 3600
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

matrix_begin fuzz
need clang clang
exec "$source/tests/fuzz/run.sh" "$work/build" "${1:-15}"
