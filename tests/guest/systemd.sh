#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # guest.sh sets g_*
#
# systemd.sh PFM LIBRARIES: the unit of the package perfmon-exporter under systemd, in a guest of
# this machine's kind.
#
# The guest's first process is this machine's systemd; systemd_check.sh is its only other service.
# PFM is the command, which finds its library in LIBRARIES (directories separated by colons).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"

[ $# = 2 ] || { echo "usage: systemd.sh PFM LIBRARIES" >&2; exit 2; }
pfm=$1 libraries=$2
top=$(realpath "$here/../..")
units=/lib/systemd/system
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

skip() { echo "1..0 # SKIP systemd guest: $1"; exit 0; }

find_program() { # NAME PACKAGE
	command -v "$1" 2>/dev/null || { echo "$1 is missing (Debian package $2)" >&2; return 77; }
}

find_library() { # NAME
	for dir in /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib; do
		[ ! -e "$dir/$1" ] || { echo "$dir/$1"; return; }
	done
	return 77
}

[ "$(uname -m)" = x86_64 ] || skip \
	"it runs this machine's systemd in the amd64 guest, and this machine is $(uname -m)"
[ -x /lib/systemd/systemd ] || skip "/lib/systemd/systemd is missing (Debian package systemd)"
guest_describe amd64
set --
for program in systemctl:systemd systemd-analyze:systemd curl:curl flock:util-linux \
	setpriv:util-linux cat:coreutils \
	sleep:coreutils sed:sed grep:grep ls:coreutils mkdir:coreutils rm:coreutils date:coreutils \
	sh:dash; do
	path=$(find_program "${program%%:*}" "${program#*:}" 2>"$tmp/err") || skip "$(cat "$tmp/err")"
	set -- "$@" "$path:/bin/${program%%:*}"
done
for library in libmicrohttpd.so.12 libcurl.so.4; do
	path=$(find_library $library) || skip "$library is missing"
	set -- "$@" "$path:/lib/$library"
done
for unit in basic.target final.target local-fs.target multi-user.target network.target \
	paths.target poweroff.target \
	shutdown.target slices.target sockets.target swap.target sysinit.target \
	systemd-poweroff.service timers.target umount.target; do
	[ -r $units/$unit ] || skip "$units/$unit is missing"
	set -- "$@" "$units/$unit:$units/$unit"
done

printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$tmp/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$tmp/group"
printf 'passwd: files systemd\ngroup: files systemd\n' >"$tmp/nsswitch.conf"
echo 0123456789abcdef0123456789abcdef >"$tmp/machine-id"
cat >"$tmp/check.service" <<-UNIT
	[Unit]
	After=multi-user.target
	[Service]
	Type=oneshot
	ExecStart=/bin/sh /systemd_check.sh
	StandardOutput=tty
	StandardError=tty
	TTYPath=/dev/$g_console
	TimeoutStartSec=infinity
UNIT
GUEST_LIBPATH=$libraries:/lib/systemd:/usr/lib/x86_64-linux-gnu/systemd
export GUEST_LIBPATH
rc=0
"$here/initrd.sh" amd64 "$tmp/initrd" "$@" /lib/systemd/systemd:/lib/systemd/systemd \
	/lib/systemd/systemd-shutdown:/lib/systemd/systemd-shutdown "$(find_library libnss_systemd.so.2)" \
	"$pfm:/usr/bin/pfm" "${pfm%/*}/pfm-exporter:/usr/bin/pfm-exporter" "$top/debian/perfmon-exporter.service:$units/perfmon-exporter.service" \
	"$top/debian/perfmon-exporter.default:/etc/default/perfmon-exporter" "$here/systemd_check.sh" \
	"$tmp/passwd:/etc/passwd" "$tmp/group:/etc/group" "$tmp/nsswitch.conf:/etc/nsswitch.conf" \
	"$tmp/machine-id:/etc/machine-id" "$tmp/check.service:$units/check.service" >"$tmp/out" \
	2>"$tmp/err" || rc=$?
[ "$rc" != 77 ] || skip "$(tail -n 1 "$tmp/err")"
[ "$rc" = 0 ] || { sed 's/^/# /' "$tmp/err"; echo "Bail out! initrd.sh failed with status $rc";
	exit 1; }

GUEST_QEMU="${GUEST_QEMU:-} -smp 2 -m 512" GUEST_TIMEOUT=${GUEST_TIMEOUT:-300} \
	"$here/boot.sh" amd64 "$tmp/initrd" \
	"rdinit=/lib/systemd/systemd systemd.unit=check.service systemd.show_status=0 ${GUEST_APPEND:-}" \
	>"$tmp/console" 2>"$tmp/err" || rc=$?
[ -z "${GUEST_LOG:-}" ] || cp "$tmp/console" "$GUEST_LOG"
[ "$rc" != 77 ] || skip "$(tail -n 1 "$tmp/err")"
[ "$rc" = 0 ] || printf '\nGUEST-ENDED %d %s\n' "$rc" "$(tail -n 1 "$tmp/err")" >>"$tmp/console"
tr -d '\r' <"$tmp/console" | awk -v name=systemd -v expect=1 -f "$here/tap.awk"
