#!/bin/sh
# SPDX-License-Identifier: MIT
#
# boot.sh ARCH INITRD [APPEND]: boot the guest with an initramfs; its console goes to stdout.
#
# The emulator's exit status says nothing about what ran inside; look for GUEST-DONE in the output.
# 124 means that the guest was still running after GUEST_TIMEOUT seconds (120).
#   GUEST_CPU     e.g. cortex-a57,pmu=off; a model that the kernel cannot start on prints nothing at
#                 all
#   GUEST_ICOUNT  arm64, arm32, riscv64 and ppc64le: what follows -icount (shift=0), or none
#   GUEST_PMU     arm32 only, "nointerrupt": counter overflows raise no interrupt
#   GUEST_QEMU    further options of the emulator
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ $# -ge 2 ] || { echo "usage: boot.sh ARCH INITRD [APPEND]" >&2; exit 2; }
guest_describe "$1"
guest_need "$g_qemu" "$g_qemupkg"
guest_need timeout coreutils
kernel=$("$here/kernel.sh" "$1")
# QEMU gives the PMU of a 32-bit processor neither a name nor its interrupt, which is number 7 of
# the processor's own.
if [ "$1" = arm32 ]; then
	guest_need fdtput device-tree-compiler
	# shellcheck disable=SC2086 # lists of options
	"$g_qemu" $g_machine ${GUEST_QEMU:-} -machine "dumpdtb=$2.dtb" -display none -nic none >/dev/null \
		2>&1
	fdtput -t s "$2.dtb" /pmu compatible arm,cortex-a15-pmu
	[ "${GUEST_PMU:-}" = nointerrupt ] || fdtput -t x "$2.dtb" /pmu interrupts 1 7 304
	GUEST_QEMU="${GUEST_QEMU:-} -dtb $2.dtb"
fi
# In the foreground: a signal to our process group must reach the emulator as well.
# shellcheck disable=SC2086 # lists of options
exec timeout --foreground -k 5 "${GUEST_TIMEOUT:-120}" "$g_qemu" $g_machine ${GUEST_QEMU:-} \
	-display none -no-reboot \
	-monitor none -serial stdio -nic none -kernel "$kernel" -initrd "$2" \
	-append "console=$g_console panic=-1 quiet loglevel=2 $g_append ${3:-}" </dev/null
