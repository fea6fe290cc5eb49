#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzz harnesses and runs them, as TAP: first the corpus, then inputs made from it.
#   run.sh [OPTION...] [NAME...]
#   --seconds N      each harness for so long, new inputs kept for the next time. Without it a fixed
#                    number of inputs from a fixed
#                    seed: the same on every machine, and what the test suite does
#   --runs N         each harness so many inputs, new ones kept for the next time
#   --bare           without the sanitizers and without looking at comparisons, several times as
#                    fast. What is kept goes through the
#                    sanitizers afterwards
#   --engine E       libfuzzer (default) or afl: the same harnesses under AFL++ (20 seconds each
#                    without --seconds)
#   --build FOLDER   where they are built and what they find is kept
# An input that breaks something is in FOLDER, and becomes a file of corpus/NAME when the cause is
# mended. Names: those of fuzz_*.c, pmu and vendor (fuzz_lists.py), and arm (fuzz_arm.py).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=${PERFMON_BUILD:-$source/build-fuzz}
[ -z "${PERFMON_BUILD:-}" ] || build=$PERFMON_BUILD/matrix/fuzz
library=${PERFMON_BUILD:-/nonexistent}/lib/libperfmon.so.1.0.0
tables=
[ ! -f "${PERFMON_BUILD:-}/lib/compat/libpfm4/libpfm4.bin" ] || tables=$PERFMON_BUILD
engine=libfuzzer
seconds='' runs='' bare='' unoptimised=''
while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=$2; shift 2 ;;
	--runs) runs=$2; shift 2 ;;
	--bare) bare=1; shift ;;
	--engine) engine=$2; shift 2 ;;
	--build) build=$2; shift 2 ;;
	-*) sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
	*) break ;;
	esac
done
case $engine in
libfuzzer) compiler=clang package=clang ;;
afl) compiler=afl-clang-fast package=afl++ seconds=${seconds:-20} ;;
*) echo "run.sh: the engine is libfuzzer or afl" >&2; exit 2 ;;
esac

# Inputs of a short run: each about as long as the others.
runs_of() {
	case $1 in
	text) echo 750 ;;
	image) echo 25000 ;;
	dispatch) echo 7000 ;;
	decode) echo 2500 ;;
	sysfs) echo 850 ;;
	device) echo 4000 ;;
	json) echo 4000 ;;
	libpfm4) echo 16500 ;;
	records) echo 50000 ;;
	recording) echo 5000 ;;
	jitdump) echo 10000 ;;
	demangle) echo 15000 ;;
	perf_map) echo 2500 ;;
	program) echo 1500 ;;
	formula) echo 7000 ;;
	regions) echo 600 ;;
	model) echo 10000 ;;
	plan) echo 700 ;;
	serve) echo 500 ;;
	pmu) echo 150 ;;
	vendor) echo 175 ;;
	arm) echo 10000 ;;
	esac
}

if [ $# = 0 ]; then
	set -- text image dispatch decode sysfs device json records recording formula plan serve libpfm4 \
		jitdump demangle perf_map program regions model
	[ "$engine" = afl ] || set -- "$@" arm
	# The suite has pmu and vendor in the row fuzz_lists.
	[ "$engine" = afl ] || [ -n "${PERFMON_BUILD:-}" ] || set -- "$@" pmu vendor
fi

# Nothing of the caller's may change what is tried, nor how fast: filling freed memory is the
# sanitizers' work here.
unset MALLOC_PERTURB_ PERFMON_PMU PERFMON_EVENTS PERFMON_SYSFS PERFMON_CPUID LIBPFM_FORCE_PMU \
	ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS
export LC_ALL=C

# A short run spends most of its time on the build, so its harnesses are not optimised.
make_harnesses() {
	command -v "$compiler" >/dev/null || return 0
	[ -n "$seconds$runs" ] || unoptimised='-Doptimization=0 -Ddebug=false -Dc_args=-g1'
	make_in "$build" && { [ -z "$bare" ] || make_in "$build/bare" -Dfuzz_checks=false; }
}

make_in() { # FOLDER OPTION...
	folder=$1
	shift
	if [ ! -f "$folder/build.ninja" ]; then
		# shellcheck disable=SC2086  # a list of words on purpose
		CC=$compiler AFL_QUIET=1 meson setup "$folder" "$source" -Dfuzz=enabled -Dtools=disabled \
			$unoptimised \
			-Dpython=disabled -Dman=disabled \
			-Dtests=disabled -Dbench=disabled -Db_lundef=false -Dtables="$tables" "$@" || return 1
	fi
	AFL_QUIET=1 ninja -C "$folder" -j "${PERFMON_JOBS:-1}" harnesses
}

number=0
good() { number=$((number + 1)); echo "ok $number - $*"; }
bad() {
	number=$((number + 1))
	tail -n 60 "$1" | sed 's/^/# /'
	shift
	echo "not ok $number - $*"
	failed=1
}

# How a run is limited, and where what it finds goes: a folder of its own each time, or the one of
# before.
start() { # NAME
	grown=$build/corpus-$1
	[ -n "$seconds$runs" ] || rm -rf "$grown"
	mkdir -p "$grown"
	seeds=$here/corpus/$1
	[ -d "$seeds" ] || seeds=
	# Images of this machine's byte order and of today's form: made, not kept.
	[ "$1" != image ] || python3 "$source/compiler/pmuc.py" --image "$grown/testpmu" \
		"$here/../pmu/testpmu.pmu" "$here/../pmu/testpmu2.pmu"
	# Programs for this machine's byte order, with shapes that changes of bytes do not make.
	[ "$1" != program ] || python3 "$here/make_programs.py" "$grown"
	log=$build/$1.log
}

run_libfuzzer() {
	# Comparisons would teach it addresses, which are others each time.
	limit="-runs=$(runs_of "$1") -seed=1 -use_cmp=0"
	[ -z "$runs" ] || limit="-runs=$runs"
	[ -z "$seconds" ] || limit="-max_total_time=$seconds"
	dictionary=
	[ ! -f "$here/$1.dict" ] || dictionary=-dict=$here/$1.dict
	# Which inputs are rare costs as much to know as to run one.
	[ -z "$bare" ] || limit="$limit -entropic=0"
	# shellcheck disable=SC2086  # words on purpose
	if "$build/${bare:+bare/}tests/fuzz/fuzz_$1" $limit $dictionary -reload=0 -timeout=60 \
		-rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$build/broken-$1-" "$grown" $seeds >"$log" 2>&1 &&
		{ [ -z "$bare" ] || "$build/tests/fuzz/fuzz_$1" -runs=0 -rss_limit_mb=4096 \
			-artifact_prefix="$build/broken-$1-" "$grown" \
			>"$log.checked" 2>&1 || { cat "$log.checked" >>"$log" && false; }; }; then
		good "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, $(
			sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1) branches"
	else
		bad "$log" "$1: an input broke it"
	fi
}

run_afl() {
	dictionary=
	[ ! -f "$here/$1.dict" ] || dictionary="-x $here/$1.dict"
	rm -rf "$grown"
	# shellcheck disable=SC2086
	if ! AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 \
		AFL_IMPORT_FIRST=1 \
		afl-fuzz -i "$here/corpus/$1" -o "$grown" -V "$seconds" -m none -t 20000 $dictionary -- \
		"$build/tests/fuzz/fuzz_$1" >"$log" 2>&1; then
		bad "$log" "$1: afl-fuzz failed"
	elif find "$grown/default/crashes" "$grown/default/hangs" -name 'id*' | grep . >"$log"; then
		bad "$log" "$1: inputs broke it"
	else
		good "$1: $(sed -n 's/^execs_done *: *//p' "$grown/default/fuzzer_stats") inputs, $(
			sed -n 's/^edges_found *: *//p' "$grown/default/fuzzer_stats") branches"
	fi
}

run_lists() {
	set -- "$1" --runs "$(runs_of "$1")" --seconds "${seconds:-0}" --keep "$grown" "$here/corpus/$1"
	[ ! -f "$library" ] || set -- "$@" --library "$library"
	[ "$1" != pmu ] || set -- "$@" "$here/../pmu"
	python_harness fuzz_lists.py "$@"
}

# In memory: what was kept before is read as well, and lines are watched for fewer where speed is
# all.
run_arm() {
	set -- arm --runs "${runs:-$(runs_of arm)}" --seconds "${seconds:-0}" --keep "$grown" "$seeds" \
		"$grown"
	[ ! -f "$library" ] || set -- "$@" --library "$library"
	[ -z "$bare" ] || set -- "$@" --trace 500
	python_harness fuzz_arm.py "$@"
}

python_harness() { # PROGRAM NAME ARGUMENT...
	program=$1 name=$2
	shift
	[ "$name" != arm ] || shift
	if python3 "$here/$program" "$@" >"$log" 2>&1; then
		good "$name: $(cat "$log")"
	else
		bad "$log" "$name: an input broke it"
	fi
}

failed=0
echo "1..$#"
build=$build/$engine
mkdir -p "$build"
if ! make_harnesses >"$build/build.log" 2>&1; then
	for name in "$@"; do
		bad "$build/build.log" "$name: the harnesses do not build"
		: >"$build/build.log"
	done
	exit 1
fi
for name in "$@"; do
	start "$name"
	case $name in
	pmu | vendor) run_lists "$name" ;;
	arm) run_arm ;;
	*)
		if ! command -v "$compiler" >/dev/null; then
			good "$name # SKIP $compiler is missing (Debian package $package)"
		elif [ "$name" = serve ] && [ ! -x "$build/tests/fuzz/fuzz_serve" ]; then
			good "$name # SKIP libmicrohttpd is missing (Debian package libmicrohttpd-dev)"
		elif [ "$engine" = afl ]; then
			run_afl "$name"
		else
			run_libfuzzer "$name"
		fi
		;;
	esac
done
exit $failed
