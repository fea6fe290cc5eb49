# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# Properties of each guest, for the other scripts of this folder. Sourced, never run.
#
#   guest_describe ARCH   sets the g_* variables below, or exits 2 for an unknown guest
#   guest_need PROG PKG   exits 77 (skip) naming PROG and the Debian package PKG if PROG is not
#                         installed
#   guest_skip REASON     exits 77 with REASON, one line, on stderr
#   guest_die REASON      exits 1
#   guest_cache           prints the directory that holds what was fetched and built
#
# g_triplet    compiler prefix and name of the cross sysroot below /usr
# g_cc, g_ccpkg, g_libcpkg    compiler, its package, the package with its C library
# g_link       how programs are linked when the guest has no libraries of its own
# g_qemu, g_qemupkg, g_machine, g_console    the emulator, its package, its options, the guest's
#                                            console
# g_image      package that depends on the newest kernel of the release; empty: we build the kernel
# g_debian     Debian's name of the architecture
# g_append     further words of the kernel's command line

guest_skip() { echo "$*" >&2; exit 77; }
guest_die() { echo "${0##*/}: $*" >&2; exit 1; }

# Where kernels and modules are kept, as an absolute path: jobs change directory.
guest_cache() {
	[ -n "${PERFMON_CACHE:-${XDG_CACHE_HOME:-${HOME:-}}}" ] ||
		guest_skip "no place for kernels: none of PERFMON_CACHE, XDG_CACHE_HOME and HOME is set"
	g_cache=${PERFMON_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/perfmon}
	mkdir -p "$g_cache" 2>/dev/null || guest_skip "no place for kernels: $g_cache cannot be made"
	(cd "$g_cache" && pwd)
}

guest_need() {
	command -v "$1" >/dev/null 2>&1 || guest_skip "$1 is missing (Debian package $2)"
}

guest_describe() {
	g_icount="-icount ${GUEST_ICOUNT:-shift=0}"
	[ "${GUEST_ICOUNT:-}" != none ] || g_icount=
	g_link=-static g_image="" g_debian=$1 g_append=""
	case $1 in
	arm64)
		g_triplet=aarch64-linux-gnu g_libcpkg=libc6-dev-arm64-cross
		g_qemu=qemu-system-aarch64 g_qemupkg=qemu-system-arm
		# A fixed shift makes one instruction last one nanosecond; without it QEMU's PMU does not
		# announce inst_retired at all.
		g_machine="-M virt -cpu ${GUEST_CPU:-cortex-a57} $g_icount -m 256"
		g_console=ttyAMA0 g_image=linux-image-cloud-arm64
		;;
	amd64)
		g_triplet=x86_64-linux-gnu g_libcpkg=libc6-dev
		g_qemu=qemu-system-x86_64 g_qemupkg=qemu-system-x86
		# Never KVM, even where /dev/kvm opens: nested and paravirtual hosts hang without a word.
		g_machine="-M q35 -accel tcg -cpu ${GUEST_CPU:-max} -m 256"
		g_console=ttyS0 g_image=linux-image-cloud-amd64
		;;
	s390x)
		g_triplet=s390x-linux-gnu g_libcpkg=libc6-dev-s390x-cross
		g_qemu=qemu-system-s390x g_qemupkg=qemu-system-misc
		g_machine="-M s390-ccw-virtio -cpu ${GUEST_CPU:-max} -m 512"
		g_console=ttysclp0 g_image=linux-image-s390x
		;;
	alpha)
		g_triplet=alpha-linux-gnu g_libcpkg=libc6.1-dev-alpha-cross
		g_qemu=qemu-system-alpha g_qemupkg=qemu-system-misc
		g_machine="-M clipper -cpu ${GUEST_CPU:-ev67} -m 256"
		g_console=ttyS0
		# Statically linked glibc programs crash at start on alpha.
		g_link=
		;;
	arm32)
		g_triplet=arm-linux-gnueabihf g_libcpkg=libc6-dev-armhf-cross g_debian=armhf
		g_qemu=qemu-system-arm g_qemupkg=qemu-system-arm
		g_machine="-M virt,highmem=off -cpu ${GUEST_CPU:-cortex-a15} $g_icount -m 256"
		g_console=ttyAMA0 g_image=linux-image-armmp
		;;
	riscv64)
		g_triplet=riscv64-linux-gnu g_libcpkg=libc6-dev-riscv64-cross
		g_qemu=qemu-system-riscv64 g_qemupkg=qemu-system-misc
		g_machine="-M virt -cpu ${GUEST_CPU:-rv64,sscofpmf=true} $g_icount -m 256"
		g_console=ttyS0
		;;
	ppc64le)
		g_triplet=powerpc64le-linux-gnu g_libcpkg=libc6-dev-ppc64el-cross g_debian=ppc64el
		g_qemu=qemu-system-ppc64 g_qemupkg=qemu-system-ppc
		g_machine="-M pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off"
		g_machine="$g_machine -cpu ${GUEST_CPU:-power9} $g_icount -m 1024 -vga none"
		g_console=hvc0 g_image=linux-image-powerpc64le
		;;
	*)
		echo "${0##*/}: unknown guest '$1': arm64, arm32, amd64, s390x, alpha, riscv64 or ppc64le" >&2
		exit 2
		;;
	esac
	g_cc=$g_triplet-gcc g_ccpkg=gcc-$(echo "$g_triplet" | tr _ -)
	if [ "$g_triplet" = "$(uname -m)-linux-gnu" ]; then
		g_cc=gcc g_ccpkg=gcc
	fi
}
