/* SPDX-License-Identifier: MIT */
/* Checks of pfm_check_system(): what this user may count. */
#include "system/system_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of <linux/capability.h>. */
enum { CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };

static const char *describe_paranoid_level(long level)
{
	switch (level) {
	case 1: return "own tasks, including their time in the kernel";
	case 2: return "own tasks, in user mode only";
	default: return "own tasks, in user mode only; kernels of Debian need CAP_SYS_ADMIN";
	}
}

static void check_paranoid_level(struct pfm_system_check *c)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	struct finding f = { .check = "paranoid level", .state = PFM_FINDING_GOOD };
	long level;

	if (!pfmi_check_read_number(c, path, &level)) {
		f.state = PFM_FINDING_BAD;
		pfmi_check_set_text(f.observed,
		                    "%s cannot be read: no /proc, or a kernel without perf events",
		                    path);
		pfmi_check_set_text(f.remedy, "mount -t proc proc /proc");
	} else if (level <= -1) {
		pfmi_check_set_text(f.observed, "%ld: all users may count everything", level);
	} else if (level == 0) {
		pfmi_check_set_text(f.observed, "0: all users may count CPUs, no raw tracepoints");
	} else {
		pfmi_check_set_text(f.observed, "%ld: without a capability %s", level,
		                    describe_paranoid_level(level));
		if (geteuid() && level > 1) {
			f.state = PFM_FINDING_NOTE;
			pfmi_check_set_text(
				f.remedy,
				"sysctl kernel.perf_event_paranoid=1 (0 for whole CPUs), or setcap "
				"cap_perfmon+ep on the program");
		}
	}
	pfmi_check_add_finding(c, PFM_FINDING_PERMISSIONS, &f);
}

static const char *describe_capability_bit(uint64_t set, unsigned number)
{
	return set >> number & 1 ? "yes" : "no";
}

static void check_capabilities(struct pfm_system_check *c)
{
	struct finding f = { .check = "capabilities", .state = PFM_FINDING_GOOD };
	char value[64];
	uint64_t set;

	if (c->is_recorded ||
	    !pfmi_check_read_key(c, "/proc/self/status", "CapEff", value, sizeof(value)))
		return;
	set = strtoull(value, NULL, 16);
	pfmi_check_set_text(f.observed, "CAP_PERFMON %s, CAP_SYS_ADMIN %s, CAP_SYS_PTRACE %s",
	                    describe_capability_bit(set, CAPABILITY_PERFMON),
	                    describe_capability_bit(set, CAPABILITY_SYS_ADMIN),
	                    describe_capability_bit(set, CAPABILITY_SYS_PTRACE));
	pfmi_check_add_finding(c, PFM_FINDING_PERMISSIONS, &f);
}

static void check_seccomp(struct pfm_system_check *c)
{
	struct finding f = { .check = "seccomp", .state = PFM_FINDING_GOOD };
	char mode[16];
	struct trial t;

	if (c->is_recorded ||
	    !pfmi_check_read_key(c, "/proc/self/status", "Seccomp", mode, sizeof(mode)))
		return;
	if (strcmp(mode, "2") != 0) {
		pfmi_check_set_text(f.observed, "no filter");
		pfmi_check_add_finding(c, PFM_FINDING_PERMISSIONS, &f);
		return;
	}
	pfmi_check_try_event(c, "task-clock", 0, false, &t);
	pfmi_check_set_text(f.observed, "a seccomp filter is active, and perf_event_open %s it",
	                    t.is_counted ? "passes" : "does not pass");
	if (!t.is_counted) {
		f.state = PFM_FINDING_BAD;
		pfmi_check_set_text(f.consequence, "containers set such filters");
		pfmi_check_set_text(
			f.remedy,
			"docker run --cap-add PERFMON (from Docker 23 on), or --security-opt "
			"seccomp=PROFILE with perf_event_open allowed; in a unit "
			"SystemCallFilter=@system-service perf_event_open");
		pfmi_check_set_text(f.available, CHECK_AVAILABLE_WITHOUT_PERF);
	}
	pfmi_check_add_finding(c, PFM_FINDING_PERMISSIONS, &f);
}

/* Copies the value of hidepid= among the options of the file system on /proc, "" if it has none.
 * Returns false if the mounts cannot be read. */
static bool read_hidepid_option(struct pfm_system_check *c, char *level, size_t size)
{
	char *mounts;
	size_t len;

	*level = '\0';
	if (pfmi_check_read_file(c, "/proc/mounts", &mounts, &len))
		return false;
	for (char *at = mounts, *line; (line = check_cut_line(&at));) {
		const char *option = strstr(line, "hidepid=");

		if (!option || !strstr(line, " /proc proc "))
			continue;
		option += strlen("hidepid=");
		snprintf(level, size, "%.*s", (int)strcspn(option, ", "), option);
	}
	free(mounts);
	return true;
}

/* Checks whether /proc hides the processes of other users: these cannot be named with -p and -t. */
static void check_hidden_processes(struct pfm_system_check *c)
{
	struct finding f = { .check = "other processes", .state = PFM_FINDING_GOOD };
	char level[16];

	if (!read_hidepid_option(c, level, sizeof(level)))
		return;
	if (!*level || strcmp(level, "0") == 0 || strcmp(level, "off") == 0) {
		pfmi_check_set_text(f.observed, "/proc shows those of every user");
	} else {
		f.state = PFM_FINDING_NOTE;
		pfmi_check_set_text(
			f.observed,
			"/proc is mounted with hidepid=%s: it hides those of other users", level);
		pfmi_check_set_text(
			f.consequence,
			"-p and -t cannot find processes of other users; reports lack the names of "
			"their threads and programs");
		pfmi_check_set_text(f.remedy, "mount -o remount,hidepid=0 /proc");
		pfmi_check_set_text(f.available,
		                    "own processes, and whole CPUs where they are permitted");
	}
	pfmi_check_add_finding(c, PFM_FINDING_PERMISSIONS, &f);
}

/* Tries to count @event in a session with @flags. @available: what can be counted if it cannot. */
static bool try_counting_scope(struct pfm_system_check *c, const char *check, const char *event,
                               unsigned flags, const char *available)
{
	struct finding f = { .check = check, .state = PFM_FINDING_GOOD };
	struct trial t;

	if (c->is_recorded)
		return true;
	pfmi_check_try_event(c, event, flags, false, &t);
	if (t.is_counted && t.count.cause != PFM_CAUSE_PERMISSION) {
		pfmi_check_set_text(f.observed, "can be counted");
	} else {
		f.state = PFM_FINDING_BAD;
		pfmi_check_set_text(f.observed, "cannot be counted");
		pfmi_check_set_text(f.consequence, "%s", t.reason);
		pfmi_check_set_text(f.remedy, "%s", t.remedy);
		pfmi_check_set_text(f.available, "%s",
		                    c->cannot_count ? CHECK_AVAILABLE_WITHOUT_PERF : available);
	}
	pfmi_check_add_finding(c, PFM_FINDING_PERMISSIONS, &f);
	return f.state == PFM_FINDING_GOOD;
}

void pfmi_check_permissions(struct pfm_system_check *c)
{
	check_paranoid_level(c);
	check_capabilities(c);
	check_seccomp(c);
	check_hidden_processes(c);
	c->cannot_count =
		!try_counting_scope(c, "own code", "task-clock", 0, CHECK_AVAILABLE_WITHOUT_PERF);
	try_counting_scope(c, "own kernel time", "page-faults:k", 0,
	                   "events in user mode: EVENT:u");
	try_counting_scope(c, "whole CPUs", "page-faults", PFM_SESSION_SYSTEM_WIDE,
	                   "commands and own processes: pfm stat -- COMMAND, -p PID");
}
