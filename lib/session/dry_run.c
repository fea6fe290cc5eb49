/* SPDX-License-Identifier: MIT */
/* Dry runs: the plan of the perf_event backend on a system where every event can be opened and nothing ever counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/session.h"

#define FIRST_FD 1000000 /* numbers no file has: even ones are read alone, odd ones as a group */

struct pretence {
	struct sys real;
	int next;
};

static bool is_ours(int fd)
{
	return fd >= FIRST_FD;
}

static int dry_open(const struct sys *sys, const char *path, int flags)
{
	const struct pretence *p = sys->arg;

	return p->real.open(&p->real, path, flags);
}

/* Nothing was counted or lost: all values are zero. A group begins with the number of its members. */
static long dry_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct pretence *p = sys->arg;
	uint64_t *words = buf;

	if (!is_ours(fd))
		return p->real.read(&p->real, fd, buf, n);
	memset(buf, 0, n);
	if ((fd - FIRST_FD) % 2 && n > GROUP_HEAD * sizeof(*words))
		words[0] = n / sizeof(*words) - GROUP_HEAD;
	return (long)n;
}

static int dry_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	const struct pretence *p = sys->arg;

	return is_ours(fd) ? 0 : p->real.ioctl(&p->real, fd, request, arg);
}

static int dry_close(const struct sys *sys, int fd)
{
	const struct pretence *p = sys->arg;

	return is_ours(fd) ? 0 : p->real.close(&p->real, fd);
}

static int dry_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	(void)sys;
	(void)fd;
	(void)len;
	(void)writable;
	(void)out;
	return -ENODEV;
}

static int dry_munmap(const struct sys *sys, void *at, size_t len)
{
	(void)sys;
	(void)at;
	(void)len;
	return 0;
}

/* No time passes. */
static uint64_t dry_now(const struct sys *sys)
{
	(void)sys;
	return 0;
}

static int dry_perf(const struct sys *sys, struct perf_event_attr *a, int pid, int cpu, int group, unsigned long flags)
{
	struct pretence *p = sys->arg;

	(void)pid;
	(void)cpu;
	(void)group;
	(void)flags;
	return FIRST_FD + 2 * p->next++ + ((a->read_format & PERF_FORMAT_GROUP) != 0);
}

static int dry_list(const struct sys *sys, const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	const struct pretence *p = sys->arg;

	return p->real.list(&p->real, path, each, arg);
}

static bool dry_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	const struct pretence *p = sys->arg;

	return p->real.cpuid(&p->real, leaf, subleaf, regs);
}

/* Gives the session its own system back. */
static void forget(struct pfm_session *s)
{
	struct pretence *p = s->sys.arg;

	s->sys = p->real;
	free(p);
}

static int dry_program(struct pfm_session *s, pfm_error_t *why)
{
	struct pretence *p = malloc(sizeof(*p));
	int rc;

	if (!p)
		return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	*p = (struct pretence){ .real = s->sys };
	s->sys = (struct sys){
		.open = dry_open,
		.read = dry_read,
		.ioctl = dry_ioctl,
		.close = dry_close,
		.mmap = dry_mmap,
		.munmap = dry_munmap,
		.now = dry_now,
		.perf_event_open = dry_perf,
		.list = dry_list,
		.cpuid = dry_cpuid,
		.arg = p,
	};
	rc = pfmi_backend_perf_event.program(s, why);
	if (rc)
		forget(s);
	return rc;
}

static int dry_start(struct pfm_session *s)
{
	return pfmi_backend_perf_event.start(s);
}
static int dry_stop(struct pfm_session *s)
{
	return pfmi_backend_perf_event.stop(s);
}
static int dry_reset(struct pfm_session *s)
{
	return pfmi_backend_perf_event.reset(s);
}

static int dry_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	return pfmi_backend_perf_event.read(s, counts, n);
}

static void dry_end(struct pfm_session *s)
{
	if (s->sys.perf_event_open != dry_perf)
		return;
	pfmi_backend_perf_event.close(s);
	forget(s);
}

const struct backend pfmi_backend_dry_run = {
	.name = "dry run",
	.program = dry_program,
	.start = dry_start,
	.stop = dry_stop,
	.reset = dry_reset,
	.read = dry_read_counts,
	.close = dry_end,
};
