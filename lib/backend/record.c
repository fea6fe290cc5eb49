/* SPDX-License-Identifier: MIT */
/* A dry run: the perf_event backend talks to a kernel that says yes to everything and writes it down. Nothing is opened, so
 * what a real kernel would refuse is not found out; all that is read comes from below the root as usual. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../backend.h"
#include "record.h"

#define FIRST_FD 1000000 /* numbers no file has */

struct recorder {
	struct sys real;
	struct record *out; /* or NULL */
	int next;
};

static void note(const struct sys *sys, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(const struct sys *sys, const char *fmt, ...)
{
	const struct recorder *r = sys->arg;
	struct record *o = r->out;
	va_list ap;
	int n;

	if (!o || o->size < sizeof(*o))
		return;
	va_start(ap, fmt);
	n = vsnprintf(o->used < o->len ? o->text + o->used : NULL, o->used < o->len ? o->len - o->used : 0, fmt, ap);
	va_end(ap);
	o->used += n > 0 ? (size_t)n : 0;
}

static bool is_ours(int fd)
{
	return fd >= FIRST_FD;
}

static int record_open(const struct sys *sys, const char *path, int flags)
{
	const struct recorder *r = sys->arg;

	return r->real.open(&r->real, path, flags);
}

/* Nothing was counted: all values are zero. A group begins with the number of its members. */
static long record_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	const struct recorder *r = sys->arg;
	uint64_t *words = buf;

	if (!is_ours(fd))
		return r->real.read(&r->real, fd, buf, n);
	note(sys, "read fd=%d\n", fd - FIRST_FD);
	memset(buf, 0, n);
	if (n > 3 * sizeof(*words))
		words[0] = n / sizeof(*words) - 3;
	return (long)n;
}

static int record_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	const struct recorder *r = sys->arg;

	if (!is_ours(fd))
		return r->real.ioctl(&r->real, fd, request, arg);
	note(sys, "%s fd=%d\n", request == PERF_EVENT_IOC_ENABLE ? "enable" : "disable", fd - FIRST_FD);
	return 0;
}

static int record_close(const struct sys *sys, int fd)
{
	const struct recorder *r = sys->arg;

	if (!is_ours(fd))
		return r->real.close(&r->real, fd);
	note(sys, "close fd=%d\n", fd - FIRST_FD);
	return 0;
}

static int record_mmap(const struct sys *sys, int fd, size_t len, int writable, void **out)
{
	(void)sys;
	(void)fd;
	(void)len;
	(void)writable;
	(void)out;
	return -ENODEV;
}

static int record_munmap(const struct sys *sys, void *at, size_t len)
{
	(void)sys;
	(void)at;
	(void)len;
	return 0;
}

static int record_perf(const struct sys *sys, struct perf_event_attr *a, int pid, int cpu, int group, unsigned long flags)
{
	struct recorder *r = sys->arg;
	int fd = r->next++;

	(void)flags;
	note(sys, "open fd=%d type=%u config=0x%" PRIx64 " config1=0x%" PRIx64 " config2=0x%" PRIx64 " pid=%d cpu=%d group=%d",
	     fd, a->type, a->type == PERF_TYPE_BREAKPOINT ? (uint64_t)a->bp_type : (uint64_t)a->config, (uint64_t)a->config1,
	     (uint64_t)a->config2, pid, cpu, group < FIRST_FD ? -1 : group - FIRST_FD);
	note(sys, "%s%s%s%s%s%s%s%s%s%s\n", a->exclude_user ? " exclude_user" : "", a->exclude_kernel ? " exclude_kernel" : "",
	     a->exclude_hv ? " exclude_hv" : "", a->exclude_idle ? " exclude_idle" : "", a->exclude_host ? " exclude_host" : "",
	     a->exclude_guest ? " exclude_guest" : "", a->inherit ? " inherit" : "", a->pinned ? " pinned" : "",
	     a->enable_on_exec ? " enable_on_exec" : "", a->precise_ip ? " precise" : "");
	return FIRST_FD + fd;
}

static int record_list(const struct sys *sys, const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	const struct recorder *r = sys->arg;

	return r->real.list(&r->real, path, each, arg);
}

static bool record_cpuid(const struct sys *sys, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	const struct recorder *r = sys->arg;

	return r->real.cpuid(&r->real, leaf, subleaf, regs);
}

/* Gives the session its own system back. */
static void forget(struct pfm_session *s)
{
	struct recorder *r = s->sys.arg;

	s->sys = r->real;
	free(r);
}

static bool recording(const struct pfm_session *s)
{
	return s->sys.perf_event_open == record_perf;
}

static int record_program(struct pfm_session *s, pfm_error_t *why)
{
	struct recorder *r = malloc(sizeof(*r));
	int rc;

	if (!r)
		return pfmi_refuse(why, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	*r = (struct recorder){ .real = s->sys };
	/* In a dry run they may be meant for the backend that would count. */
	if (!s->options.backend || strcmp(s->options.backend, "record") == 0)
		r->out = s->options.backend_options;
	if (r->out && r->out->size >= sizeof(*r->out)) {
		r->out->used = 0;
		if (r->out->len)
			r->out->text[0] = '\0';
	}
	s->sys = (struct sys){
		.open = record_open,
		.read = record_read,
		.ioctl = record_ioctl,
		.close = record_close,
		.mmap = record_mmap,
		.munmap = record_munmap,
		.perf_event_open = record_perf,
		.list = record_list,
		.cpuid = record_cpuid,
		.arg = r,
	};
	rc = pfmi_backend_perf_event.program(s, why);
	if (rc)
		forget(s);
	return rc;
}

static int record_start(struct pfm_session *s)
{
	return pfmi_backend_perf_event.start(s);
}
static int record_stop(struct pfm_session *s)
{
	return pfmi_backend_perf_event.stop(s);
}
static int record_reset(struct pfm_session *s)
{
	return pfmi_backend_perf_event.reset(s);
}

static int record_read_counts(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	return pfmi_backend_perf_event.read(s, counts, n);
}

static void record_end(struct pfm_session *s)
{
	if (!recording(s))
		return;
	pfmi_backend_perf_event.close(s);
	forget(s);
}

const struct backend pfmi_backend_record = {
	.name = "record",
	.program = record_program,
	.start = record_start,
	.stop = record_stop,
	.reset = record_reset,
	.read = record_read_counts,
	.close = record_end,
};
