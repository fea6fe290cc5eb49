/* SPDX-License-Identifier: MIT */
/* Sessions beside perf_event_open(2) by hand: the same attributes, groups and CPUs, in turn. See
 * sessions.h. */
#include <linux/perf_event.h>
#include <perfmon/perfmon.h>
#include <sched.h>
#include <sys/ioctl.h>
#include "sessions.h"

static char names[MAX_EVENTS][32];
static pfm_ctx_t *ctx;

/* Events of the kernel's own, which every machine counts: two clocks, which have no levels, kinds
 * of faults at sets of levels, and one more. */
static void name_events(void)
{
	static const char *const clocks[] = { "task-clock", "cpu-clock" };
	static const char *const faults[] = { "page-faults", "minor-faults", "major-faults",
		                              "alignment-faults", "emulation-faults" };
	static const char *const levels[] = { "", ":u", ":k", ":uk" };

	for (unsigned i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "%s", faults[i]);
	for (unsigned i = 0; i < 2; i++)
		snprintf(names[3 + i], sizeof(names[0]), "%s", clocks[i]);
	for (unsigned i = 5; i + 1 < MAX_EVENTS; i++)
		snprintf(names[i], sizeof(names[i]), "%s%s", faults[(i - 2) % 5],
		         levels[(i - 2) / 5 % 4]);
	snprintf(names[MAX_EVENTS - 1], sizeof(names[0]), "context-switches");
}

/* ---- ours ------------------------------------------------------------------------------------ */

static pfm_session_t *session;
static pfm_count_t counts[MAX_EVENTS];

/* "{page-faults,...}": written once, as the attributes of the other side are. */
static const char *group_of(unsigned n)
{
	static char text[MAX_EVENTS * 32 + 4];
	static unsigned written;
	size_t at = 0;

	for (unsigned i = 0; n != written && i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%c%s", i ? ',' : '{',
		                       names[i]);
	if (n != written)
		snprintf(text + at, sizeof(text) - at, "}");
	written = n;
	return text;
}

static void ours_open(unsigned n, bool all)
{
	pfm_session_options_t o = PFM_INIT(o);
	const char *const texts[] = { group_of(n) };

	o.flags = all ? PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_STRICT : PFM_SESSION_STRICT;
	if (pfm_open_session(&session, ctx, &o, texts, 1, NULL))
		report_failure("pfm_open_session()");
}

static void ours_start(void)
{
	if (pfm_start_session(session))
		report_failure("pfm_start_session()");
}

static void ours_read(void)
{
	unsigned n = pfm_session_size(session);

	for (unsigned i = 0; i < n; i++)
		counts[i].size = sizeof(counts[i]);
	if (pfm_read_session(session, counts, n))
		report_failure("pfm_read_session()");
}

static void ours_stop(void)
{
	if (pfm_stop_session(session))
		report_failure("pfm_stop_session()");
}

static void ours_close(void)
{
	pfm_close_session(session);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static struct perf_event_attr attrs[MAX_EVENTS];
static int fds[CPU_SETSIZE * MAX_EVENTS], cpus[CPU_SETSIZE];
static unsigned n_cpus, n_groups, in_group;

/* The attributes that the library makes of the names. */
static void copy_attributes(void)
{
	cpu_set_t set;

	ours_open(MAX_EVENTS, false);
	for (unsigned i = 0; i < MAX_EVENTS; i++) {
		pfm_count_info_t info = PFM_INIT(info);

		pfm_describe_count(session, i, &info);
		memset(&attrs[i], 0, sizeof(attrs[i]));
		attrs[i].size = sizeof(attrs[i]);
		attrs[i].type = info.attr.type;
		attrs[i].config = info.attr.config;
		attrs[i].exclude_user = info.attr.exclude_user != 0;
		attrs[i].exclude_kernel = info.attr.exclude_kernel != 0;
		attrs[i].exclude_hv = info.attr.exclude_hv != 0;
		attrs[i].exclude_idle = info.attr.exclude_idle != 0;
		attrs[i].exclude_guest = info.attr.exclude_guest != 0;
		attrs[i].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
		                       PERF_FORMAT_TOTAL_TIME_RUNNING;
		attrs[i].disabled = i == 0;
	}
	ours_close();
	sched_getaffinity(0, sizeof(set), &set);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[n_cpus++] = (int)i;
}

static void bare_open(unsigned n, bool all)
{
	n_groups = all ? n_cpus : 1;
	in_group = n;
	for (unsigned g = 0; g < n_groups; g++)
		for (unsigned i = 0; i < n; i++) {
			int lead = i ? fds[g * n] : -1;

			fds[g * n + i] =
				(int)syscall(SYS_perf_event_open, &attrs[i], all ? -1 : 0,
			                     all ? cpus[g] : -1, lead, PERF_FLAG_FD_CLOEXEC);
			if (fds[g * n + i] < 0)
				report_failure("perf_event_open()");
		}
}

static void run_command(unsigned long request)
{
	for (unsigned g = 0; g < n_groups; g++)
		if (ioctl(fds[g * in_group], request, 0))
			report_failure("ioctl()");
}

static void bare_start(void)
{
	run_command(PERF_EVENT_IOC_ENABLE);
}

static void bare_read(void)
{
	static uint64_t buf[3 + MAX_EVENTS];

	for (unsigned g = 0; g < n_groups; g++)
		if (read(fds[g * in_group], buf, sizeof(buf)) <= 0)
			report_failure("read()");
}

static void bare_stop(void)
{
	run_command(PERF_EVENT_IOC_DISABLE);
}

static void bare_close(void)
{
	for (unsigned i = n_groups * in_group; i-- > 0;)
		close(fds[i]);
}

int main(int argc, char **argv)
{
	static const struct session_side sides[] = {
		{ "bare", bare_open, bare_start, bare_read, bare_stop, bare_close },
		{ "ours", ours_open, ours_start, ours_read, ours_stop, ours_close },
	};

	name_events();
	if (pfm_open_context(&ctx, NULL, NULL))
		report_failure("pfm_open_context()");
	copy_attributes();
	return drive_side(sides, 2, argc, argv);
}
