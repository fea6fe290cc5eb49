# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # the scripts use what is set here, and set $here
#
# Functions and variables that the scripts of this folder share. Sourced, never run.
#
#   $source, $work   the source tree; the folder for this script's builds and logs
#                    ($PERFMON_BUILD/matrix/NAME)
#   $jobs            how many compilers or tests at once ($PERFMON_JOBS; 1 under a meson test that
#                    runs two scripts at a time)
#   need PROG PKG    skips the whole script if PROG is missing
#   skip REASON      prints REASON as a skip in TAP and ends the script
#   $tables          the build whose compiled event tables are used ($PERFMON_BUILD), or empty: they
#                    are compiled again
#   build OPTION...  configures $work/build, once, and builds it, or $targets of it; a failure is
#                    one failed case and the end
#   programs NAME... prints the targets that the C tests of these names are
#   relay ARG...     runs the tests of that build (relay.py), and ends the script

source=$(cd "$here/../.." && pwd)
jobs=${PERFMON_JOBS:-1}
targets=
tables=
[ ! -f "${PERFMON_BUILD:-}/lib/compat/libpfm4/libpfm4.bin" ] || tables=$(cd "$PERFMON_BUILD" && pwd)
# Fixed language: reports read the same everywhere.
export LC_ALL=C

matrix_begin() { # NAME
	work=${PERFMON_BUILD:-$source/build-matrix}/matrix/$1
	mkdir -p "$work"
}

skip() { echo "1..0 # SKIP $*"; exit 0; }

need() {
	command -v "$1" >/dev/null 2>&1 || skip "$1 is missing (Debian package $2)"
}

die() { # CASE LOG
	grep -v '^\[[0-9]*/[0-9]*\] ' "$2" | tail -n 60 | sed 's/^/# /'
	echo "not ok 1 - $1"
	echo "1..1"
	exit 1
}

# A changed list of options starts afresh, and so does another compiler.
build() {
	wanted="${CC:-} $*"
	if [ ! -f "$work/build/build.ninja" ] || [ "$(cat "$work/options" 2>/dev/null)" != "$wanted" ];
		then
		rm -rf "$work/build"
		meson setup "$work/build" "$source" -Dtests=enabled -Dtools=enabled -Dman=disabled \
			-Dpython=disabled -Dbench=disabled \
			-Ddevel=true -Db_colorout=never -Dtables="$tables" "$@" >"$work/setup.log" 2>&1 ||
			die "${work##*/}: the build is configured" "$work/setup.log"
		echo "$wanted" >"$work/options"
	fi
	# shellcheck disable=SC2086 # a list of words on purpose
	ninja -C "$work/build" -j "$jobs" $targets >"$work/build.log" 2>&1 ||
		die "${work##*/}: it builds without a warning" "$work/build.log"
}

programs() { # NAME...
	printf 'tests/test_%s ' "$@"
}

relay() {
	exec python3 "$here/relay.py" --jobs "$jobs" "$@" "$work/build"
}
