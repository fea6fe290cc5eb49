/* SPDX-License-Identifier: MIT */
/* Dry runs: the plan of the perf_event backend on a system where every event can be opened and
 * nothing ever counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/perf_event_internal.h"

/* descriptors that no file has: even ones are read alone, odd ones as a group */
#define DRY_RUN_FIRST_FD 1000000

struct dry_run_system {
	struct sys real_sys;
	int next_fd_number;
};

static bool is_dry_run_fd(int fd)
{
	return fd >= DRY_RUN_FIRST_FD;
}

static int dry_run_open_file(const struct sys *sys, const char *path, int flags)
{
	const struct dry_run_system *p = sys->arg;

	return p->real_sys.open(&p->real_sys, path, flags);
}

/* Reads zeros, as nothing was counted or lost. A group begins with the number of its members. */
static long dry_run_read_fd(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct dry_run_system *p = sys->arg;
	uint64_t *words = buf;

	if (!is_dry_run_fd(fd))
		return p->real_sys.read(&p->real_sys, fd, buf, n);
	memset(buf, 0, n);
	if ((fd - DRY_RUN_FIRST_FD) % 2 && n > GROUP_HEADER_WORDS * sizeof(*words))
		words[0] = n / sizeof(*words) - GROUP_HEADER_WORDS;
	return (long)n;
}

static int dry_run_ioctl_fd(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	const struct dry_run_system *p = sys->arg;

	return is_dry_run_fd(fd) ? 0 : p->real_sys.ioctl(&p->real_sys, fd, request, arg);
}

static int dry_run_close_fd(const struct sys *sys, int fd)
{
	const struct dry_run_system *p = sys->arg;

	return is_dry_run_fd(fd) ? 0 : p->real_sys.close(&p->real_sys, fd);
}

static int dry_run_map_fd(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	(void)sys;
	(void)fd;
	(void)len;
	(void)writable;
	(void)out;
	return -ENODEV;
}

static int dry_run_unmap_memory(const struct sys *sys, void *at, size_t len)
{
	(void)sys;
	(void)at;
	(void)len;
	return 0;
}

/* Time does not pass. */
static uint64_t dry_run_get_time(const struct sys *sys)
{
	(void)sys;
	return 0;
}

static int dry_run_open_event(const struct sys *sys, struct perf_attr *a, int pid, int cpu,
                              int group, unsigned long flags)
{
	struct dry_run_system *p = sys->arg;

	(void)pid;
	(void)cpu;
	(void)group;
	(void)flags;
	return DRY_RUN_FIRST_FD + 2 * p->next_fd_number++ +
	       ((a->read_format & PERF_FORMAT_GROUP) != 0);
}

static int dry_run_list_folder(const struct sys *sys, const char *path,
                               int (*each)(void *arg, const char *name), void *arg)
{
	const struct dry_run_system *p = sys->arg;

	return p->real_sys.list_folder(&p->real_sys, path, each, arg);
}

static bool dry_run_read_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf,
                               uint32_t regs[4])
{
	const struct dry_run_system *p = sys->arg;

	return p->real_sys.read_cpuid(&p->real_sys, leaf, subleaf, regs);
}

/* Replaces the simulated system of the session by the real one. */
static void restore_real_system(struct pfm_session *s)
{
	struct dry_run_system *p = s->sys.arg;

	s->sys = p->real_sys;
	free(p);
}

static int dry_run_open_counts(struct pfm_session *s, pfm_error_t *why)
{
	struct dry_run_system *p = malloc(sizeof(*p));
	int rc;

	if (!p)
		return pfmi_base_set_no_memory_error(why);
	*p = (struct dry_run_system){ .real_sys = s->sys };
	s->sys = (struct sys){
		.open = dry_run_open_file,
		.read = dry_run_read_fd,
		.ioctl = dry_run_ioctl_fd,
		.close = dry_run_close_fd,
		.mmap = dry_run_map_fd,
		.munmap = dry_run_unmap_memory,
		.get_time = dry_run_get_time,
		.perf_event_open = dry_run_open_event,
		.list_folder = dry_run_list_folder,
		.read_cpuid = dry_run_read_cpuid,
		.log = s->sys.log,
		.arg = p,
	};
	rc = pfmi_perf_backend.open_counts(s, why);
	if (rc)
		restore_real_system(s);
	return rc;
}

static int dry_run_start_counting(struct pfm_session *s)
{
	return pfmi_perf_backend.start_counting(s);
}
static int dry_run_stop_counting(struct pfm_session *s)
{
	return pfmi_perf_backend.stop_counting(s);
}
static int dry_run_reset_counts(struct pfm_session *s)
{
	return pfmi_perf_backend.reset_counts(s);
}

static int dry_run_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	return pfmi_perf_backend.read_counts(s, counts, n);
}

static void dry_run_close_counts(struct pfm_session *s)
{
	if (s->sys.perf_event_open != dry_run_open_event)
		return;
	pfmi_perf_backend.close_counts(s);
	restore_real_system(s);
}

const struct backend pfmi_session_dry_run_backend = {
	.name = "dry run",
	.open_counts = dry_run_open_counts,
	.start_counting = dry_run_start_counting,
	.stop_counting = dry_run_stop_counting,
	.reset_counts = dry_run_reset_counts,
	.read_counts = dry_run_read_counts,
	.close_counts = dry_run_close_counts,
};
