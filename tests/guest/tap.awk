# SPDX-License-Identifier: MIT
#
# Turns the console of a guest into one TAP stream; run.sh explains the rules.
# Variables: name, put in front of each case; expect, how many lines the guest had to run.

function result(ok, text) {
	n++
	if (!ok)
		failed++
	print (ok ? "ok " : "not ok ") n " - " name ": " text
}

# Directives stand at the end of the description and are understood by whoever reads our stream.
function is_todo(text) { return text ~ /# *[Tt][Oo][Dd][Oo]/ }

BEGIN { n = failed = ran = inside = n_outside = 0 }

$1 == "GUEST-RUN" {
	command = $0
	sub(/^GUEST-RUN [0-9]+ /, "", command)
	inside = 1; cases = 0; plan = -1
	next
}

$1 == "GUEST-RC" {
	inside = 0
	ran++
	if ($2 != 0)
		result(0, command " (exit status " $2 ")")
	else if (plan >= 0 && plan != cases)
		result(0, command " (planned " plan " cases, ran " cases ")")
	else if (plan < 0 && cases > 0)
		result(0, command " (printed no plan)")
	else if (plan < 0)
		result(1, command)
	next
}

$1 == "GUEST-DONE" { done = ($2 == expect); next }
$1 == "GUEST-ENDED" { ended = $0; next }

!inside { if (NF > 0) outside[++n_outside] = $0; next }

/^1\.\.[0-9]+/ {
	plan = substr($1, 4) + 0
	if (plan == 0 && cases == 0) {
		reason = $0
		sub(/^[^#]*/, "", reason)
		print "ok " ++n " - " name ": " command " " reason
	}
	next
}

/^ok( |$)/ || /^not ok( |$)/ {
	ok = /^ok/
	text = $0
	sub(/^(not )?ok *[0-9]* *-? */, "", text)
	cases++
	n++
	if (!ok && !is_todo(text))
		failed++
	print (ok ? "ok " : "not ok ") n " - " name ": " text
	next
}

/^Bail out!/ { print "# " $0; result(0, command " bailed out"); plan = cases; next }
/^ *$/ { next }
/^#/ { print; next }
{ print "# " $0 }

END {
	if (inside)
		result(0, "the guest ended inside: " command)
	if (!done) {
		result(0, "the guest ran " ran " of " expect " lines and did not reach the end")
		for (i = n_outside > 20 ? n_outside - 19 : 1; i <= n_outside; i++)
			print "# " outside[i]
		if (ended != "")
			print "# emulator: " ended
	}
	print "1.." n
	exit failed > 0
}
