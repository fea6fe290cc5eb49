#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cross.sh ARCH: the C tests on another architecture, under QEMU's user emulation. ARCH: a file in
# cross/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

arch=$1
matrix_begin "cross-$arch"
file=$source/cross/$arch.txt
triplet=$(sed -n "s/^c = '\(.*\)-gcc'/\1/p" "$file")
emulator=$(sed -n "s/^exe_wrapper = \['\(qemu-[^']*\)'.*/\1/p" "$file")

need "$triplet-gcc" "gcc-$triplet"
need "$emulator" qemu-user-static
need pkg-config pkg-config
printf '#include <unistd.h>\n' | "$triplet-gcc" -E - >/dev/null 2>&1 ||
	skip "the C library of $triplet is missing"
deps=$("$here/deps.sh" "$arch" 2>"$work/deps.log") || {
	[ $? = 77 ] || die "$arch: cmocka and jansson build" "$work/deps.log"
	skip "$(tail -n 1 "$work/deps.log")"
}
printf "[properties]\npkg_config_libdir = ['%s/lib/pkgconfig']\n" "$deps" >"$work/deps.txt"
# Optimised, for the emulator's sake.
optimization=1
set --
wrapper="$emulator -L /usr/$triplet"
lacks="QEMU's user emulation has no"

# Most x86-64 kernels run i686 programs themselves, which says more than an emulator does; and under
# QEMU 7.2 the forked child of a dynamically linked one never returns from fork().
loader=/usr/$triplet/lib/ld-linux.so.2
if [ "$arch" = i686 ]; then
	if "$loader" --version >/dev/null 2>&1; then
		wrapper=
		optimization=0
		set -- -Dc_link_args="['-Wl,--dynamic-linker=$loader', '-Wl,-rpath,/usr/$triplet/lib']"
	else
		skip "this kernel runs no i686 programs"
	fi
fi
targets=test-programs
# The tables of this machine have the other byte order.
! grep -q "endian = 'big'" "$file" || tables=
build --cross-file "$file" --cross-file "$work/deps.txt" -Doptimization=$optimization \
	-Ddebug=false "$@"

# The exhaustive loops over errors run natively; here a part of them does.
export PERFMON_QUICK=1
[ -n "$wrapper" ] || relay --label "$arch" --timeout 900
# Searches and failing allocations do not depend on the byte order: emulators leave them to this
# machine. Emulators with this machine's byte order also skip the tests that go through whole tables.
set --
long="table_pairs pmu_solver pmu_montecito_random context_starve session_sizes"
case $arch in
mips | s390x) ;;
*) long="$long table_roundtrip table_table metric_evaluate" ;;
esac
for name in $long; do
	set -- "$@" --skip "$name=long: this machine runs it"
done
relay "$@" --label "$arch" --wrapper "$wrapper" --timeout 900 \
	--skip "session_live=$lacks perf_event_open" --skip "regions=$lacks perf_event_open" \
	--skip "tools_alpha_device_run=$lacks seccomp user notification"
