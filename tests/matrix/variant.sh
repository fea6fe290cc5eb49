#!/bin/sh
# SPDX-License-Identifier: MIT
#
# variant.sh NAME: the C tests built another way.
#
#   clang     by clang, optimised, without assertions
#   address   with AddressSanitizer and UndefinedBehaviorSanitizer; in the long run the command's
#             own tests as well
#   thread    with ThreadSanitizer: what has threads
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

name=$1
matrix_begin "$name"
# gcc warns of things that are not so when a sanitizer has been at the code; the ordinary builds are
# without warnings.
case $name in
clang)
	need clang clang
	CC=clang
	export CC
	export PERFMON_QUICK=1 # what the ordinary build reads to the last row is sampled here
	targets="test-programs tools/pfm"
	build --buildtype=release -Db_ndebug=true
	relay --label clang
	;;
address)
	targets=test-programs
	build -Ddevel=false -Db_sanitize=address,undefined -Doptimization=1 -Ddebug=false \
		"-Dc_args=-g1 -fno-sanitize-recover=undefined"
	# Every case, with fewer repetitions.
	export PERFMON_QUICK=1
	ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:detect_leaks=1
	UBSAN_OPTIONS=print_stacktrace=1
	export ASAN_OPTIONS UBSAN_OPTIONS
	# The command's own tests take a third of the time: in the long run.
	# shellcheck disable=SC2086 # two words or none
	relay --label address ${PERFMON_LONG:+--also cli} \
		--skip "table_roundtrip=long: the ordinary build runs it"
	;;
thread)
	only="context_threads libpfm4_threads profile_profile_threads compat_libpfm3_pfmlib session_session session_live"
	# shellcheck disable=SC2086 # a list of words on purpose
	targets="$(programs $only) tests/command/regions/test_regions"
	only="$only regions"
	build -Ddevel=false -Db_sanitize=thread -Doptimization=1
	# The sanitizer reports a race the first time that two threads meet, so short runs are enough.
	export PERFMON_QUICK=1
	TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1"
	export TSAN_OPTIONS
	# The sanitizer's shadow memory and the random places of newer kernels do not always agree.
	relay --label thread --wrapper "$(command -v setarch >/dev/null && echo 'setarch -R')" --only \
		"$(echo "$only" | tr ' ' ,)"
	;;
*)
	echo "usage: variant.sh clang|address|thread" >&2
	exit 2
	;;
esac
