#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kernel.sh ARCH [FILE]: print the path of the guest's kernel, or of FILE in the same folder.
#
# Fetched (arm64, arm32, amd64, s390x, ppc64le) or built (alpha, riscv64) on first use and kept in
# ${PERFMON_CACHE:-${XDG_CACHE_HOME:-~/.cache}/perfmon}. FILE: release (uname -r of the kernel); on
# amd64
# also fuse.ko, cuse.ko and headers (a tree to build modules against, of exactly this kernel).
#
# Exits 77 with one line on stderr when something is missing. PERFMON_OFFLINE=1 forbids downloads.
# PERFMON_MIRROR names a Debian mirror, GUEST_JOBS the number of compilers for a build.
# GUEST_KERNEL=6.12 fetches that version in place of Debian 12's own.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/guest.sh"
. "$here/apt.sh"

[ $# -ge 1 ] || { echo "usage: kernel.sh ARCH [FILE]" >&2; exit 2; }
arch=$1 file=${2:-kernel}
guest_describe "$arch"

# The guests' behaviour is written down for this release's kernels, so it does not follow the
# host's.
suite=bookworm source=linux-source-6.1
cache=$(guest_cache)
archive=debian

case $arch in
alpha | riscv64) dir=$cache/kernel-$arch-$(cksum <"$here/$arch.config" | cut -d' ' -f1) ;;
*) dir=$cache/kernel-$arch ;;
esac
# Debian's security archive has the kernel of the next release for this one.
if [ -n "${GUEST_KERNEL:-}" ]; then
	[ -n "$g_image" ] || guest_skip "there is no kernel $GUEST_KERNEL for $arch"
	g_image=linux-image-$GUEST_KERNEL-${g_image#linux-image-}
	suite=bookworm-security archive=debian-security dir=$dir-$GUEST_KERNEL
fi

answer() {
	[ -e "$dir/$file" ] || guest_die "the $arch guest has no file '$file'"
	echo "$dir/$file"
	exit 0
}

# Print the newest package that META depends on and whose name begins with PREFIX.
apt_depends() { # META PREFIX
	apt-cache -c "$apt_conf" show "$1" 2>/dev/null | sed -n 's/^Depends: *//p' | tr ',|' '[\n*]' |
		sed -n "s/^ *\($2[^ ]*\).*/\1/p" | sort -V | tail -n 1
}

apt_unpack() { # WORKDIR DEST PACKAGE...
	work=$1 dest=$2
	shift 2
	for pkg; do
		(cd "$work" && timeout --foreground 900 apt-get -c "$apt_conf" -qq download "$pkg" >>apt.log \
			2>&1) ||
			guest_skip "package $pkg of Debian $suite cannot be downloaded"
		dpkg-deb -x "$work/$pkg"_*.deb "$dest"
		rm -f "$work/$pkg"_*.deb
	done
}

fetch() { # OUT
	work=$1.apt
	mkdir -p "$work"
	apt_setup "$work" deb "$g_debian" "$arch kernel"
	image=$(apt_depends "$g_image" linux-image-)
	[ -n "$image" ] || guest_skip "package $g_image is not in Debian $suite"
	apt_unpack "$work" "$work/root" "$image"
	release=${image#linux-image-}
	echo "$release" >"$1/release"
	cp "$work/root/boot/vmlinu"*"-$release" "$1/kernel"
	if [ "$arch" = amd64 ]; then
		for ko in fuse cuse; do
			cp "$work/root/lib/modules/$release/kernel/fs/fuse/$ko.ko" "$1/"
		done
		fetch_headers "$work" "$1/headers"
	fi
	rm -rf "$work"
}

# Fetched together with the kernel: next week the mirror may only have headers of a newer one.
fetch_headers() { # WORKDIR OUT
	common=$(apt_depends "linux-headers-$release" linux-headers-)
	kbuild=$(apt_depends "linux-headers-$release" linux-kbuild-)
	if [ -z "$common" ] || [ -z "$kbuild" ]; then
		guest_skip "package linux-headers-$release is not in Debian $suite"
	fi
	apt_unpack "$1" "$2" "linux-headers-$release" "$common" "$kbuild"
	# The packages expect to be in /usr, but a cache may be moved, so their one absolute path
	# becomes relative.
	for makefile in "$2"/usr/src/linux-headers-*-cloud-amd64/Makefile; do
		# shellcheck disable=SC2016 # make expands it
		sed 's,/usr/src/,$(dir $(lastword $(MAKEFILE_LIST)))../,' "$makefile" >"$makefile.new"
		mv "$makefile.new" "$makefile"
	done
	find "$2/usr/src/$common/arch" -mindepth 1 -maxdepth 1 -type d ! -name x86 -exec rm -r {} +
	for link in scripts tools; do
		ln -sfn "../../lib/$kbuild/$link" "$2/usr/src/$common/$link"
	done
	ln -s "usr/src/linux-headers-$release" "$2/build"
}

build() { # OUT KERNEL-ARCHITECTURE IMAGE
	for tool in "$g_cc $g_ccpkg" "make make" "flex flex" "bison bison" "bc bc" "xz xz-utils" \
		"perl perl"; do
		# shellcheck disable=SC2086
		guest_need $tool
	done
	work=$1.work tarball=/usr/src/$source.tar.xz
	mkdir -p "$work/obj"
	if [ ! -r "$tarball" ]; then
		apt_setup "$work" deb "$(dpkg --print-architecture)" "$arch kernel"
		apt_unpack "$work" "$work/root" "$source"
		tarball=$work/root$tarball
	fi
	# Drivers this kernel never compiles are more than half of the files; their Kconfig files must
	# stay.
	tar -C "$work" -xf "$tarball" --exclude='*/drivers/gpu/drm/*.[ch]' --exclude='*/drivers/net/*.c' \
		--exclude='*/drivers/media/*.c' --exclude='*/sound/*.[ch]' --exclude='*/Documentation/*.rst'
	log=$work/build.log
	for step in "allnoconfig KCONFIG_ALLCONFIG=$here/$arch.config" "-j${GUEST_JOBS:-2} ${3##*/}" \
		kernelrelease; do
		# shellcheck disable=SC2086
		make -C "$work/$source" -s ARCH="$2" CROSS_COMPILE="$g_triplet-" O="$work/obj" $step \
			>"$log" 2>&1 || { tail -n 20 "$log" >&2; guest_die "the $arch kernel does not build"; }
	done
	tail -n 1 "$log" >"$1/release"
	case $3 in
	vmlinux) "$g_triplet-strip" -o "$1/kernel" "$work/obj/vmlinux" ;;
	*) cp "$work/obj/$3" "$1/kernel" ;;
	esac
	rm -rf "$work"
}

[ ! -e "$dir/kernel" ] || answer
guest_need flock util-linux
[ -w "$cache" ] || guest_skip "no $arch kernel in $cache, which cannot be written to"
exec 9>"$dir.lock"
flock -w 1800 9 || guest_die "another job has held $dir.lock for half an hour"
[ ! -e "$dir/kernel" ] || answer # the other job made it

new=$dir.new
trap 'rm -rf "$new" "$new.apt" "$new.work"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$new" "$new.apt" "$new.work" # what a killed job left
mkdir -p "$new"
case $arch in
alpha) build "$new" alpha vmlinux ;;
riscv64) build "$new" riscv arch/riscv/boot/Image ;;
*) fetch "$new" ;;
esac
mv "$new" "$dir"
answer
