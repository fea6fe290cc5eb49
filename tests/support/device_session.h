/* SPDX-License-Identifier: MIT */
/* A session by hand on a model of the Tru64 counter device; a spy writes down every call. */
#ifndef PERFMON_TESTS_DEVICE_SESSION_H
#define PERFMON_TESTS_DEVICE_SESSION_H

#include <errno.h>
#include <perfmon/alpha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "device_sys.h"
#include "session/perf_event_internal.h"

enum { MAX_CALLS = 64 };

struct fixture {
	struct alpha_device *m;
	struct alpha_device_sys model_sys;
	struct sys inner;
	struct pfm_session s;
	struct session_count counts[4];
	pfm_alpha_session_t options;
	pfmlib_alpha_input_param_t in;
	unsigned n_calls;
	struct {
		uint32_t request;
		uint64_t arg;
	} calls[MAX_CALLS]; /* open: request 0, flags; close: request 1 */
	int open_errors;    /* so many opens fail with EBUSY first */
	int open_errno;     /* then all fail with this one */
	uint32_t refused;   /* request that fails ... */
	int refused_errno;  /* ... with this error, 0: none; PCNTOPENONE means read(2) */
	bool interrupted;   /* every second request is interrupted */
};

static inline void note(struct fixture *f, uint32_t request, uint64_t arg)
{
	assert_true(f->n_calls < MAX_CALLS);
	f->calls[f->n_calls].request = request;
	f->calls[f->n_calls++].arg = arg;
}

static inline int spy_open(const struct sys *sys, const char *path, int flags)
{
	struct fixture *f = sys->arg;

	note(f, 0, (uint64_t)flags);
	if (f->open_errors > 0) {
		f->open_errors--;
		return -EBUSY;
	}
	return f->open_errno ? -f->open_errno : f->inner.open(&f->inner, path, flags);
}

static inline int spy_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	struct fixture *f = sys->arg;

	note(f, (uint32_t)request, arg ? *(uint64_t *)arg : 0);
	if (f->refused_errno && request == f->refused)
		return -f->refused_errno;
	if (f->interrupted && f->n_calls % 2)
		return -EINTR;
	return f->inner.ioctl(&f->inner, fd, request, arg);
}

static inline long spy_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	struct fixture *f = sys->arg;

	if (f->refused_errno && f->refused == PCNTOPENONE)
		return -f->refused_errno;
	return f->inner.read(&f->inner, fd, buf, n);
}

static inline int spy_close(const struct sys *sys, int fd)
{
	struct fixture *f = sys->arg;

	note(f, 1, 0);
	return f->inner.close(&f->inner, fd);
}

static inline const struct table *table_of(enum alpha_device_family family)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (table_get_builtin(i)->libpfm_type == PFMLIB_ALPHA_EV4_PMU + (int)family)
			return table_get_builtin(i);
	fail_msg("no such table");
	return NULL;
}

static inline struct fixture *begin(enum alpha_device_family family, unsigned n_cpus, unsigned uid,
                                    int bound)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct alpha_device_options o;

	alpha_device_set_defaults(&o, family);
	o.n_cpus = n_cpus;
	f->m = alpha_device_new(&o);
	assert_int_equal(alpha_device_set_process(f->m, 1, uid, bound), 0);
	f->model_sys = (struct alpha_device_sys){ .device = f->m, .pid = 1 };
	init_device_sys(&f->inner, &f->model_sys);
	f->s.sys = (struct sys){
		.open = spy_open, .ioctl = spy_ioctl, .read = spy_read, .close = spy_close, .arg = f
	};
	f->s.live.backend = &pfmi_device_backend;
	f->s.counts = f->counts;
	f->options.size = sizeof f->options;
	f->options.n_cpus = n_cpus;
	f->s.options.size = sizeof f->s.options;
	f->s.options.backend_options = &f->options;
	return f;
}

static inline void add(struct fixture *f, const char *name)
{
	const struct table *t = table_of(alpha_device_get_options(f->m)->family);
	struct session_count *c = &f->counts[f->s.n_counts];

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (strcmp(table_get_row_name(t, i), name) == 0) {
			*c = (struct session_count){ .config.request = f->s.n_counts++,
				                     .config.cpus = "",
				                     .config.cpu = -1,
				                     .config.unit = "",
				                     .config.scale = 1 };
			pfmi_pmu_init_event(&c->config.event, t, i);
			return;
		}
	fail_msg("no event %s", name);
}

static inline void end(struct fixture *f)
{
	f->s.live.backend->close_counts(&f->s);
	alpha_device_free(f->m);
	free(f);
}

static inline void work(struct fixture *f, unsigned cpu, uint64_t c0, uint64_t c1, uint64_t c2)
{
	struct alpha_device_work w = {
		.pid = 1, .is_user = true, .cycles = 1000, .events = { c0, c1, c2 }
	};

	assert_int_equal(alpha_device_do_work(f->m, cpu, &w), 0);
}

static inline uint64_t value(struct fixture *f, unsigned i)
{
	pfm_count_t counts[4];

	assert_int_equal(f->s.live.backend->read_counts(&f->s, counts, f->s.n_counts), 0);
	return counts[i].value;
}

#endif
