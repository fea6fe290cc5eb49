# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154
#
# apt with a state of its own: the system's package lists and architectures are neither used nor
# changed. Sourced after guest.sh, with $suite set, and $archive for another one than debian.
#
#   apt_setup WORKDIR KIND ARCH WHAT    makes WORKDIR/apt.conf, $apt_conf, for KIND (deb or deb-src)
#                                       of ARCH, and fetches the
#                                       lists; WHAT is what the caller will fetch. Exits 77 (skip)
#                                       where that cannot be done.
#
# PERFMON_OFFLINE=1 forbids downloads, PERFMON_MIRROR names a Debian mirror.

apt_setup() {
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	guest_need apt-get apt
	guest_need dpkg-deb dpkg
	[ -r "$keyring" ] || guest_skip "$keyring is missing (Debian package debian-archive-keyring)"
	[ -z "${PERFMON_OFFLINE:-}" ] || guest_skip \
		"no $4 in the cache, and PERFMON_OFFLINE forbids to download one"
	mirror=${PERFMON_MIRROR:-}
	if [ -z "$mirror" ] && [ -r /etc/apt/sources.list.d/debian.sources ]; then
		mirror=$(sed -n '/security/d; s/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources |
			head -n 1)
	fi
	mirror=${mirror:-http://deb.debian.org/debian}
	[ "${archive:-debian}" = debian ] || mirror=${mirror%/debian}/$archive

	mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" "$1/none"
	: >"$1/status"
	echo "$2 [signed-by=$keyring] $mirror $suite main" >"$1/sources.list"
	apt_conf=$1/apt.conf
	# The system's hooks are cleared because they may tidy up the system's own package cache.
	cat >"$apt_conf" <<-CONF
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		Dir::State "$1/state";
		Dir::State::status "$1/status";
		Dir::Cache "$1/cache";
		Dir::Etc::sourcelist "$1/sources.list";
		Dir::Etc::sourceparts "$1/none";
		APT::Architecture "$3";
		APT::Architectures { "$3"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "1";
		Acquire::http::Timeout "20";
		Acquire::https::Timeout "20";
	CONF
	# A mirror that cannot be reached is only a warning to apt.
	if ! timeout --foreground 300 apt-get -c "$apt_conf" -qq update >"$1/apt.log" 2>&1 ||
		grep -q '^[EW]:.*Failed' "$1/apt.log"; then
		guest_skip "no network: the package lists of $mirror $suite ($3) cannot be read"
	fi
}
