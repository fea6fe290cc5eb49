#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing among those named. Does nothing when all are there.
set -eu

missing=
for p in "$@"; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo \
		"these packages are missing and need root to install:$missing" >&2; exit 1; }
	sudo=sudo
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086  # a list of words on purpose
if ! { $sudo apt-get -qq update && $sudo apt-get -qq -y --no-install-recommends install $missing;
	} >"$log" 2>&1; then
	cat "$log" >&2
	exit 1
fi
rm -f "$log"
