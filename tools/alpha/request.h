/* SPDX-License-Identifier: MIT */
/* A request to the Alpha counter device, in execution. */
#ifndef PERFMON_ALPHA_REQUEST_H
#define PERFMON_ALPHA_REQUEST_H

#include <errno.h>
#include "alpha/state.h"

struct device_request {
	struct alpha_device *device;
	struct device_session *session;
	struct device_process *caller;
	uint32_t request;
	uint64_t arg;
	const struct alpha_device_memory *memory;
};

static inline int fetch_memory(const struct device_request *c, uint64_t from, void *to, size_t n)
{
	return c->memory->read(c->memory->arg, from, to, n) ? -c->device->options.pointer_errno : 0;
}

static inline int store_memory(const struct device_request *c, uint64_t to, const void *from,
                               size_t n)
{
	return c->memory->write(c->memory->arg, to, from, n) ? -c->device->options.pointer_errno
	                                                     : 0;
}

static inline void trace_pal_call(const struct device_request *c, unsigned function, uint64_t a1)
{
	if (c->device->trace_pal)
		c->device->trace_pal(c->device->trace_arg, function, a1);
}

/* ---- profiles (request_profile.c) ------------------------------------------------------------ */

/* Bytes of a block of samples; 0 without a profile. */
size_t alpha_request_count_sample_bytes(const struct device_request *c);
/* Sets the range of the profile from the words at the argument, the last of which is its stride if
 * @with_stride. Returns 0 or -errno. */
int alpha_request_set_range(const struct device_request *c, enum profile_mode mode,
                            bool with_stride);
/* Charges samples to the callers of the functions in the range. Returns 0 or -errno. */
int alpha_request_charge_callers(const struct device_request *c);

/* ---- counters (request_counters.c) ----------------------------------------------------------- */

enum start_mode { START_KEEP, START_ZERO, START_LOAD };

/* Execute requests with the counter word @word. Return 0 or -errno. */
int alpha_request_start_counters(const struct device_request *c, uint64_t word,
                                 enum start_mode how);
int alpha_request_stop_counters(const struct device_request *c, uint64_t word);
int alpha_request_write_counters(const struct device_request *c, uint64_t word, bool zero);
int alpha_request_read_counters(const struct device_request *c, uint64_t word);

#endif
