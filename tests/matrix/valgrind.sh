#!/bin/sh
# SPDX-License-Identifier: MIT
#
# valgrind.sh memcheck|helgrind
#
#   memcheck  tests of the ordinary build ($PERFMON_BUILD): above all, no uninitialised memory is
#             read
#   helgrind  programs with threads, in a build whose atomic operations are annotated
#             (helgrind_atomics.h)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

tool=$1
matrix_begin "$tool"
need valgrind valgrind
# One round instead of many, and no allocator that scribbles before valgrind can look.
export PERFMON_QUICK=1
unset MALLOC_PERTURB_
case $tool in
memcheck)
	ordinary=$work/build
	if [ -f "${PERFMON_BUILD:-}/build.ninja" ]; then
		ordinary=$PERFMON_BUILD
	else
		build
	fi
	# Left out: session_live (breakpoints never hit, the program runs as a translation),
	# context_starve (its allocations take the place of those that are watched), programs with
	# threads (variant-thread), and those that go through whole tables or all ranges. The programs
	# that repeat what they do with thousands of texts take as long as all others together, and so
	# do the units, which other sanitizers watch: they are in the long run.
	repeating=
	[ -z "${PERFMON_LONG:-}" ] ||
		repeating=,units,format_explain,find_suggest,decode_decode,tools_alpha_device_run
	exec python3 "$here/relay.py" --jobs "$jobs" --label memcheck --timeout 900 \
		--wrapper "valgrind -q --error-exitcode=99 --suppressions=$here/valgrind.supp \
--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite" \
		--only "lookup_spec,lookup_resolve,format_print,machine_host,machine_kernel_pmus,\
session_session,compat_libpfm3_pfmlib,\
session_interface,session_extremes,pmu_coreduo,units_libpfm4,\
pmu_modern,pmu_alpha,pmu_alpha_constrain,session_pfm_device,tools_alpha_device_model,\
pmu_montecito,pmu_montecito_events,pmu_montecito_decode$repeating" "$ordinary"
	;;
helgrind)
	[ -r /usr/include/valgrind/helgrind.h ] ||
		skip "valgrind/helgrind.h is missing (Debian package valgrind)"
	targets=$(programs context_threads libpfm4_threads)
	build -Ddevel=false -Dc_args="['-include', '$here/helgrind_atomics.h']"
	# Without fair scheduling a thread that waits in a loop keeps the others from the only CPU that
	# valgrind has.
	relay --label helgrind --timeout 900 \
		--wrapper "valgrind --tool=helgrind --fair-sched=yes -q --error-exitcode=99" --only \
		context_threads,libpfm4_threads
	;;
*)
	echo "usage: valgrind.sh memcheck|helgrind" >&2
	exit 2
	;;
esac
