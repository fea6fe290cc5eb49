/* SPDX-License-Identifier: MIT */
/* Checks of pfm_check_system(): the NMI watchdog, rdpmc, limits, tracefs. */
#include "system/system_check.h"
#include "context/context.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

/* A session of many events and CPUs needs more descriptors than this. */
enum { MIN_OPEN_FILES = 256 };

static void check_watchdog(struct pfm_system_check *c)
{
	struct finding f = { .check = "NMI watchdog", .state = PFM_FINDING_GOOD };
	long is_on;

	if (!pfmi_check_read_number(c, "/proc/sys/kernel/nmi_watchdog", &is_on))
		return;
	pfmi_check_set_text(f.observed, "%s", is_on ? "on" : "off");
	/* POWER's detector uses timers (arch/powerpc/kernel/watchdog.c of Linux). */
	if (is_on && strcmp(c->ctx->host.arch, "powerpc") != 0) {
		f.state = PFM_FINDING_NOTE;
		pfmi_check_set_text(f.consequence,
		                    "it holds a counter of every CPU: one event fewer fits");
		pfmi_check_set_text(f.remedy, "sysctl kernel.nmi_watchdog=0");
	}
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

static const char *describe_rdpmc(long value)
{
	switch (value) {
	case 0: return "no counters themselves";
	case 1: return "counters that they opened";
	default: return "every counter";
	}
}

static void check_rdpmc(struct pfm_system_check *c)
{
	static const char *const paths[] = { "/sys/bus/event_source/devices/cpu/rdpmc",
		                             "/sys/bus/event_source/devices/cpu_core/rdpmc" };
	struct finding f = { .check = "rdpmc", .state = PFM_FINDING_GOOD };
	long value;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!pfmi_check_read_number(c, paths[i], &value))
			continue;
		pfmi_check_set_text(f.observed, "%ld: programs may read %s", value,
		                    describe_rdpmc(value));
		if (!value) {
			f.state = PFM_FINDING_NOTE;
			pfmi_check_set_text(f.remedy, "echo 1 > %s", paths[i]);
		}
		pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
		return;
	}
}

static void check_resource_limits(struct pfm_system_check *c)
{
	struct finding f = { .check = "limits", .state = PFM_FINDING_GOOD };
	struct rlimit files;
	long kib;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	pfmi_check_set_text(f.observed, "%" PRIu64 " open files", (uint64_t)files.rlim_cur);
	if (pfmi_check_read_number(c, "/proc/sys/kernel/perf_event_mlock_kb", &kib))
		pfmi_check_set_text(f.observed,
		                    "%" PRIu64
		                    " open files; %ld KiB of sample buffers for each user",
		                    (uint64_t)files.rlim_cur, kib);
	if (files.rlim_cur < MIN_OPEN_FILES) {
		uint64_t best = files.rlim_max > MIN_OPEN_FILES ? files.rlim_max : MIN_OPEN_FILES;

		f.state = PFM_FINDING_BAD;
		pfmi_check_set_text(f.consequence, "each event takes a file for each task and CPU");
		pfmi_check_set_text(f.remedy, "ulimit -n %" PRIu64, best);
		pfmi_check_set_text(f.available, "a few events of one task");
	}
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

static int stop_at_name(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

static void check_tracefs(struct pfm_system_check *c)
{
	struct finding f = { .check = "tracefs", .state = PFM_FINDING_BAD };
	const struct sys *sys = &c->sys.sys;
	bool is_denied = false;

	for (size_t i = 0; i < TRACEFS_MOUNTS; i++) {
		const char *path = pfmi_machine_tracefs_paths[i];
		int rc = sys->list_folder(sys, path, stop_at_name, NULL);

		is_denied |= rc == -EACCES;
		if (rc < 0)
			continue;
		f.state = PFM_FINDING_GOOD;
		pfmi_check_set_text(f.observed, "on %.*s", (int)(strlen(path) - strlen("/events")),
		                    path);
		pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
		return;
	}
	pfmi_check_set_text(f.observed, "%s",
	                    is_denied ? "this user lacks the permission to read it"
	                              : "not mounted");
	pfmi_check_set_text(f.consequence, "names of tracepoints are looked up there");
	pfmi_check_set_text(f.remedy, "%s",
	                    is_denied ? "mount -o remount,mode=755 /sys/kernel/tracing"
	                              : "mount -t tracefs tracefs /sys/kernel/tracing");
	pfmi_check_set_text(f.available, "everything except tracepoints");
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

void pfmi_check_obstacles(struct pfm_system_check *c)
{
	check_watchdog(c);
	check_rdpmc(c);
	check_resource_limits(c);
	check_tracefs(c);
}
