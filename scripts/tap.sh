#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tap.sh PROGRAM ARGUMENT...: runs a cmocka program and hands its TAP on, with skipped tests as TAP
# has them. cmocka writes
# "not ok 3 # SKIP name"; a line "# SKIP why" that the test printed before is the reason.
set -eu

{
	status=$(
		{ { "$@" 3>&- 4>&- || echo $? >&3; } | awk '
			/^# SKIP / { why = substr($0, 8); next }
			/^not ok [0-9]+ # SKIP/ {
				name = $0
				sub(/^not ok [0-9]+ # SKIP */, "", name)
				print "ok " $3 " - " name " # SKIP " (why == "" ? "not to be had here" : why)
				why = ""
				next
			}
			/^(not )?ok / { why = "" }
			{ print; fflush() }' >&4; } 3>&1
	)
} 4>&1
exit "${status:-0}"
