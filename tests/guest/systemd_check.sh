#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # expressions that another shell expands
#
# The checks of systemd.sh, as a service of the guest: perfmon-exporter.service starts, counts,
# restarts and stops with the rights that its unit names. TAP goes to the console.
set -u

export PATH=/bin:/usr/bin LC_ALL=C SYSTEMD_COLORS=0 SYSTEMD_PAGER=
n=0
unit=perfmon-exporter
exact='perfmon_event_quality_rank{event="page-faults",pmu="software"} 0'
log=/run/exporter.log
url=http://127.0.0.1:9747/metrics

check() { # DESCRIPTION STATUS [DETAIL]
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		echo "${3:-}" | sed 's/^/# /'
	fi
}

equal() { # DESCRIPTION GOT EXPECTED
	[ "$2" = "$3" ]
	check "$1" $? "expected '$3', got '$2'"
}

contains() { # DESCRIPTION TEXT PATTERN
	echo "$2" | grep -q -e "$3"
	check "$1" $? "expected '$3' in: $2"
}

property() { systemctl show -P "$1" $unit; }
status_line() { sed -n "s/^$1:[ 	]*//p" "/proc/$(property MainPID)/status"; }
scrape() { curl -sS --max-time 20 "$@" 2>&1; }
value() { sed -n "s/^$1 //p"; } # the value of a sample, from standard input

# Sleeps are intervals of systemd and of the service, which is what is tested.

# Waits until the unit is in a state, for at most a number of seconds.
wait_for() { # STATE SECONDS
	left=$2
	while [ "$left" -gt 0 ] && [ "$(property ActiveState)" != "$1" ]; do
		sleep 1
		left=$((left - 1))
	done
	property ActiveState
}

# Waits for an answer of the service.
answer() { # ADDRESS...
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		text=$(scrape "$@") && break
		sleep 1
	done
	echo "$text"
}

# The page faults of the machine; no number while they are not counted.
faults() { scrape $url | value 'node_perf_page_faults_total{event="page-faults",pmu="software"}'; }

# Compares the service with a count of all CPUs during a load. The scrapes themselves are not in it.
counts_a_load() { # DESCRIPTION
	sleep 1
	before=$(faults)
	own=$(pfm stat -a -x , -e page-faults -- sh -c \
		'i=0; while [ $i -lt 100 ]; do cat /dev/null; i=$((i + 1)); done; sleep 1' 2>&1 |
		grep page-faults | sed 's/,.*//')
	text=$(scrape $url)
	after=$(echo "$text" | value 'node_perf_page_faults_total{event="page-faults",pmu="software"}')
	echo "# page faults: $before, $after; pfm stat -a meanwhile: $own"
	[ "$own" -gt 1000 ] && [ $((after - before)) -ge "$own" ] &&
		[ $((after - before)) -lt $((own + own / 5 + 3000)) ] &&
		echo "$text" | grep -q "$exact"
	check "$1" $? \
		"$before to $after, root: $own; $(echo "$text" | grep 'event_cause_info{event="page-faults')"
}

start_with() { # ARGUMENTS...
	echo "ARGS=\"$*\"" >/etc/default/$unit
	systemctl restart $unit
}

override() { # NAME SETTINGS
	mkdir -p /run/systemd/system/$unit.service.d
	printf "[Service]\n%b\n" "$2" >/run/systemd/system/$unit.service.d/"$1".conf
	systemctl daemon-reload
}

main() {
	override log "StandardError=append:$log"
	# Debian's kernels begin at level 3, where CAP_PERFMON does not suffice.
	equal "the level of Debian's kernel" "$(cat /proc/sys/kernel/perf_event_paranoid)" 3
	systemctl start $unit
	sleep 3
	equal "at level 3 it waits" "$(property SubState)" auto-restart
	contains "and says what it needs" "$(cat $log)" \
		'run with the capability CAP_SYS_ADMIN,.* or set kernel.perf_event_paranoid to 2'
	override rights 'AmbientCapabilities=CAP_SYS_ADMIN\nCapabilityBoundingSet=CAP_SYS_ADMIN\n'
	systemctl restart $unit
	contains "with an override for that capability it counts" "$(answer $url)" "$exact"
	rm /run/systemd/system/$unit.service.d/rights.conf
	systemctl daemon-reload
	systemctl stop $unit
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	systemctl start $unit
	equal "at level 2 it starts" "$(wait_for active 20)" active
	contains "and counts" "$(answer $url)" "$exact"
	[ "$(status_line Uid | sed 's/[	 ].*//')" -ge 61184 ]
	check "its user is a dynamic one" $? "$(status_line Uid)"
	equal "its only capability is CAP_PERFMON" "$(status_line CapEff)" 0000004000000000
	equal "it can get no others" "$(status_line CapBnd)" 0000004000000000
	equal "it may not gain rights" "$(status_line NoNewPrivs)" 1
	equal "its system calls are filtered" "$(status_line Seccomp)" 2

	counts_a_load "page faults of the machine are those that root counts"
	before=$(faults)
	echo 0 >/sys/class/rtc/rtc0/wakealarm
	echo +3 >/sys/class/rtc/rtc0/wakealarm
	# All CPUs but one are switched off meanwhile.
	sh -c 'echo mem >/sys/power/state'
	check "the machine is suspended and resumes" $?
	after=$(faults)
	[ "$after" -ge "$before" ]
	check "its counts stay" $? "$before, $after"
	sleep 2
	faults >/dev/null
	counts_a_load "all CPUs are counted again"
	date -s @$(($(date +%s) - 3600)) >/dev/null
	counts_a_load "counts go on when the clock is set back"
	date -s @$(($(date +%s) + 86400)) >/dev/null
	counts_a_load "and forward"

	equal "nothing but the loopback address listens" \
		"$(sed -n 's/^ *[0-9]*: \([0-9A-F:]*\) 0*:0000 0A.*/\1/p' /proc/net/tcp /proc/net/tcp6)" \
		0100007F:2613
	text=$(systemctl status $unit 2>&1)
	echo "$text" | sed 's/^/# /'
	contains "systemctl says that it runs" "$text" 'active (running)'
	text=$(systemd-analyze security $unit 2>&1)
	contains "systemd-analyze calls its exposure OK" "$text" \
		'Overall exposure level for perfmon-exporter.service: 1\.[0-9] OK'
	echo "$text" | grep Overall | sed 's/^/# /'

	pid=$(property MainPID)
	kill -s SEGV "$pid"
	sleep 2
	equal "after a crash it waits" "$(property SubState)" auto-restart
	equal "and starts again" "$(wait_for active 20)" active
	equal "once" "$(property NRestarts)" 1
	contains "and answers" "$(answer $url)" '^perfmon_build_info'

	pid=$(property MainPID)
	systemctl restart $unit
	[ "$(property MainPID)" != "$pid" ] && [ "$(property ActiveState)" = active ]
	check "a restart replaces the process" $? "$pid, $(property MainPID), $(property ActiveState)"
	contains "which answers" "$(answer $url)" '^perfmon_build_info'

	start_with --listen unix:/run/perfmon/counts --lines /run/perfmon/lines --give-way
	text=$(answer --unix-socket /run/perfmon/counts http://localhost/metrics)
	contains "it answers on a socket in /run/perfmon" "$text" '^perfmon_paused{reason="lock"} 0'
	text=$(setpriv --reuid 65534 --regid 65534 --clear-groups curl -sS --unix-socket \
		/run/perfmon/counts http://localhost/metrics 2>&1)
	contains "which every user may ask" "$text" '^perfmon_build_info'
	text=$(flock /run/perfmon/pmu.lock sh -c \
		'sleep 1; curl -sS --unix-socket /run/perfmon/counts http://localhost/metrics' 2>&1)
	contains "root may pause it by the lock" "$text" '^perfmon_paused{reason="lock"} 1'
	text=$(setpriv --reuid 65534 --regid 65534 --clear-groups flock /run/perfmon/pmu.lock true 2>&1)
	contains "other users may not" "$text" 'Permission denied'
	sleep 1
	text=$(answer --unix-socket /run/perfmon/counts http://localhost/metrics)
	contains "and it counts again" "$text" '^perfmon_paused{reason="lock"} 0'

	start_with "--for-each-cgroup system.slice/*.service -e task-clock,page-faults"
	text=$(answer $url)
	contains "it counts control groups" "$text" 'cgroup="system.slice/perfmon-exporter.service"'
	contains "each of them" "$text" 'cgroup="system.slice/check.service"'

	mkdir -p /var/lib
	mkdir -m 1777 /var/lib/textfile
	override textfile ReadWritePaths=/var/lib/textfile
	start_with --textfile /var/lib/textfile/perfmon.prom -I 1000
	sleep 4
	contains "it writes a file where an override permits it" \
		"$(cat /var/lib/textfile/perfmon.prom 2>&1)" '^perfmon_build_info'
	contains "which others may read" "$(ls -l /var/lib/textfile/perfmon.prom)" '^-rw-r--r--'

	start_with --listen nonsense
	sleep 8
	equal "wrong arguments end it" "$(property ActiveState)/$(property ExecMainStatus)" failed/2
	equal "for good" "$(property NRestarts)" 0

	start_with
	contains "the usual arguments count again" "$(answer $url)" '^perfmon_build_info'
	systemctl stop $unit
	equal "it stops" "$(property ActiveState)/$(property Result)/$(property ExecMainStatus)" \
		inactive/success/0
	equal "and leaves nothing behind" "$(ls /run/perfmon 2>/dev/null)" ""
	scrape $url >/dev/null
	equal "nor answers" $? 7
	sed 's/^/# /' $log
	echo "1..$n"
}

sleep 1
printf '\nGUEST-RUN 1 systemd_check.sh\n'
main
printf '\nGUEST-RC 0 systemd_check.sh\nGUEST-DONE 1\n'
sleep 1
# A reset ends the emulator, also after the machine was suspended.
echo b >/proc/sysrq-trigger
