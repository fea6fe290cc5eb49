#!/bin/sh
# SPDX-License-Identifier: MIT
#
# as_user.sh: when root runs the suite, the C tests and those of the command once more as a user
# without rights, groups and a home of any use. An ordinary user's suite is that already.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs"
matrix_begin as-user
[ "$(id -u)" = 0 ] || skip "not root: the whole suite runs as an ordinary user"
need setpriv util-linux
ordinary=$work/build
if [ -f "${PERFMON_BUILD:-}/build.ninja" ]; then
	ordinary=$PERFMON_BUILD
else
	build --buildtype=debugoptimized
fi
$user test -x "$ordinary/tools/pfm" || skip "an ordinary user cannot get to $ordinary"
# Root's python3 may be unreadable for other users, who use the system's instead.
relay_python=$(command -v python3)
HOME=/nonexistent
PERFMON_QUICK=1 # the run as root covers pure computations
PATH=/usr/local/bin:/usr/bin:/bin
PYTHONDONTWRITEBYTECODE=1
export HOME PATH PERFMON_QUICK PYTHONDONTWRITEBYTECODE
$user python3 -c 'import json' || skip "an ordinary user has no python3"
exec "$relay_python" "$here/relay.py" --jobs "$jobs" --label as-user --also cli,hostile,import \
	--wrapper "$user sh -c 'case \$0 in */python3*) exec python3 \"\$@\" ;; *) exec \"\$0\" \"\$@\" ;; esac'" "$ordinary"
