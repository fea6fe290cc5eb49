#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Checks tap.awk against consoles that were written by hand: what it must never do is call a broken
# run good.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
n=0 failed=0

# Feed stdin to tap.awk as the console of a guest named g that had LINES lines to run.
verdict() { # DESCRIPTION LINES EXPECTED-OUTPUT-WITHOUT-COMMENTS EXPECTED-STATUS
	status=0
	out=$(awk -v name=g -v expect="$2" -f "$here/tap.awk") || status=$?
	out=$(echo "$out" | grep -v '^#' | tr '\n' '|')
	n=$((n + 1))
	if [ "$out" = "$3" ] && [ "$status" -eq "$4" ]; then
		echo "ok $n - $1"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1"
		echo "# status $status, $out"
		echo "# wanted $4, $3"
	fi
}

run="GUEST-RUN 1 /t"
good=$(printf '%s\n' "$run" "1..1" "ok 1 - a" "" "GUEST-RC 0 /t")

verdict "two programs become one stream" 2 'ok 1 - g: a|ok 2 - g: a|1..2|' 0 <<-CONSOLE
	$good
	$good
	GUEST-DONE 2
CONSOLE
verdict "kernel messages outside a command do not count" 1 'ok 1 - g: a|1..1|' 0 <<-CONSOLE
	ok 1 - nonsense from a firmware
	$good
	GUEST-DONE 1
CONSOLE
verdict "a command without TAP is a case" 1 'ok 1 - g: /t|1..1|' 0 <<-CONSOLE
	$run
	hello
	GUEST-RC 0 /t
	GUEST-DONE 1
CONSOLE
verdict "a program may skip all" 1 'ok 1 - g: /t # SKIP no tracefs|1..1|' 0 <<-CONSOLE
	$run
	1..0 # SKIP no tracefs
	GUEST-RC 0 /t
	GUEST-DONE 1
CONSOLE
verdict "a failure that is expected is none" 1 'not ok 1 - g: a # TODO later|1..1|' 0 <<-CONSOLE
	$run
	1..1
	not ok 1 - a # TODO later
	GUEST-RC 0 /t
	GUEST-DONE 1
CONSOLE
verdict "a failed case fails" 1 'not ok 1 - g: a|1..1|' 1 <<-CONSOLE
	$run
	1..1
	not ok 1 - a
	GUEST-RC 0 /t
	GUEST-DONE 1
CONSOLE
verdict "an exit status fails" 1 'ok 1 - g: a|not ok 2 - g: /t (exit status 134)|1..2|' 1 <<-CONSOLE
	$run
	1..1
	ok 1 - a
	GUEST-RC 134 /t
	GUEST-DONE 1
CONSOLE
verdict "missing cases fail" 1 'ok 1 - g: a|not ok 2 - g: /t (planned 2 cases, ran 1)|1..2|' 1 <<-CONSOLE
	$run
	1..2
	ok 1 - a
	GUEST-RC 0 /t
	GUEST-DONE 1
CONSOLE
verdict "a missing plan fails" 1 'ok 1 - g: a|not ok 2 - g: /t (printed no plan)|1..2|' 1 <<-CONSOLE
	$run
	ok 1 - a
	GUEST-RC 0 /t
	GUEST-DONE 1
CONSOLE
verdict "a missing verdict fails" 1 \
	'ok 1 - g: a|not ok 2 - g: the guest ran 1 of 1 lines and did not reach the end|1..2|' 1 <<-CONSOLE
	$good
CONSOLE
verdict "a run that is too short fails" 2 \
	'ok 1 - g: a|not ok 2 - g: the guest ran 1 of 2 lines and did not reach the end|1..2|' 1 <<-CONSOLE
	$good
	GUEST-DONE 1
CONSOLE
verdict "silence fails" 1 \
	'not ok 1 - g: the guest ran 0 of 1 lines and did not reach the end|1..1|' 1 </dev/null
echo "1..$n"
[ "$failed" -eq 0 ]
