/* SPDX-License-Identifier: MIT */
/* A device model with its device open, and requests to it. */
#ifndef PERFMON_TESTS_UNITS_DEVICE_MODEL_H
#define PERFMON_TESTS_UNITS_DEVICE_MODEL_H

#include "units.h"
#include <errno.h>
#include <perfmon/pfcntr.h>
#include "alpha/state.h"

struct model_device {
	struct alpha_device *m;
	int handle;
};

enum { ROOT = 1, USER = 2 };

/* The driver's last call of PALcode. */
struct recorded_call {
	unsigned n, function;
	uint64_t a1;
};

static inline void record_call(void *arg, unsigned function, uint64_t a1)
{
	struct recorded_call *t = arg;

	t->n++;
	t->function = function;
	t->a1 = a1;
}

/* Options as documented, for one processor. */
static inline struct alpha_device_options options_of(enum alpha_device_family family)
{
	struct alpha_device_options o;

	alpha_device_set_defaults(&o, family);
	o.n_cpus = 1;
	return o;
}

/* Process ROOT has the device open, in @mode; process USER is there too. Both are bound to
 * processor 0. */
static inline struct model_device open_device(const struct alpha_device_options *o, unsigned mode)
{
	struct model_device d = { alpha_device_new(o), -1 };

	assert_non_null(d.m);
	assert_int_equal(alpha_device_set_process(d.m, ROOT, 0, 0), 0);
	assert_int_equal(alpha_device_set_process(d.m, USER, 100, 0), 0);
	d.handle = alpha_device_open_session(d.m, ROOT, mode);
	assert_true(d.handle >= 0);
	return d;
}

static inline int send_request(const struct model_device *d, uint32_t request, void *arg)
{
	return alpha_device_do_ioctl(d->m, d->handle, ROOT, request, (uint64_t)(uintptr_t)arg,
	                             &alpha_device_own_memory);
}

/* A request whose argument is a word. */
static inline int print_call(const struct model_device *d, uint32_t request, uint64_t word)
{
	return send_request(d, request, &word);
}

/* A request that fills an array. */
static inline int read_results(const struct model_device *d, uint32_t request, void *array)
{
	uint64_t pointer = (uint64_t)(uintptr_t)array;

	return send_request(d, request, &pointer);
}

static inline struct alpha_device_view read_kernel_log(const struct model_device *d, unsigned cpu)
{
	struct alpha_device_view v;

	assert_int_equal(alpha_device_get_view(d->m, cpu, &v), 0);
	return v;
}

#endif
