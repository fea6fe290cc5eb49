/* SPDX-License-Identifier: MIT */
/* Requests of the Alpha counter device about profiles: ranges, buckets, samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "alpha/request.h"

size_t alpha_request_count_sample_bytes(const struct device_request *c)
{
	const struct device_profile *p = &c->session->profile;

	if (!(c->session->items & PFM_PROFILING) || p->mode == PROFILE_NONE)
		return 0;
	return p->n_buckets * sizeof(uint32_t) * alpha_device_count_entries(c->device, c->session);
}

static bool is_valid_range(const struct device_text_range *r)
{
	return r->start < r->end && (r->start & 3) == 0 && (r->end & 3) == 0;
}

static bool is_in_kernel_text(const struct alpha_device *m, const struct device_text_range *r)
{
	return is_valid_range(r) && r->start >= m->options.ktext_start &&
	       r->end <= m->options.ktext_end;
}

static int add_caller_range(const struct device_request *c, const struct device_text_range *r)
{
	struct device_profile *p = &c->session->profile;

	if (p->n_caller_ranges == ALPHA_DEVICE_MAX_CALLER_RANGES)
		return -ENOSPC;
	if (!is_in_kernel_text(c->device, r))
		return -EFAULT;
	p->caller_ranges[p->n_caller_ranges++] = *r;
	return 0;
}

static uint64_t count_buckets(const struct alpha_device *m, const struct device_text_range *r,
                              uint64_t stride)
{
	uint64_t bytes = r->end - r->start + (m->options.end_inclusive ? 4 : 0), per;

	if (stride == 0 || stride > UINT64_MAX / 16)
		return 1;
	per = 4 * stride;
	return bytes / per + (bytes % per != 0 && !m->options.round_down);
}

/* Replaces the profile by a new one of range @r. Without memory the old one stays. */
static int replace_profile(const struct device_request *c, enum profile_mode mode,
                           const struct device_text_range *r, uint64_t stride)
{
	struct device_profile *p = &c->session->profile;
	uint64_t n = count_buckets(c->device, r, stride);
	unsigned blocks = alpha_device_count_entries(c->device, c->session);
	uint32_t *buckets = NULL;

	if (!c->device->fails_next_alloc &&
	    n <= c->device->options.max_buffer / sizeof(uint32_t) / blocks)
		buckets = calloc(n ? (size_t)n * blocks : 1, sizeof *buckets);
	c->device->fails_next_alloc = false;
	if (!buckets)
		return -ENOMEM;
	alpha_device_drop_profile(c->session);
	p->mode = mode;
	p->range = *r;
	p->stride = stride;
	p->n_buckets = (size_t)n;
	p->buckets = buckets;
	return 0;
}

int alpha_request_set_range(const struct device_request *c, enum profile_mode mode,
                            bool with_stride)
{
	uint64_t word[4] = { 0 };
	struct device_text_range r;
	uint64_t stride = c->session->profile.stride;
	int err = fetch_memory(c, c->arg, word, with_stride ? 32 : 16);

	if (err)
		return err;
	r = (struct device_text_range){ word[0], word[1] };
	if (!(c->session->items & PFM_PROFILING))
		return -EINVAL;
	if (mode == PROFILE_KERNEL && c->session->profile.charges_callers)
		return add_caller_range(c, &r);
	if (with_stride)
		stride = word[2];
	if (stride & (stride - 1))
		return -c->device->options.stride_errno;
	if (c->device->options.range_errno && !is_valid_range(&r))
		return -c->device->options.range_errno;
	if (mode == PROFILE_KERNEL && c->device->options.check_first_range &&
	    !is_in_kernel_text(c->device, &r))
		return -EFAULT;
	return replace_profile(c, mode, &r, stride);
}

int alpha_request_charge_callers(const struct device_request *c)
{
	if (c->session->profile.mode != PROFILE_KERNEL)
		return -EINVAL;
	c->session->profile.charges_callers = true;
	return 0;
}

long alpha_device_read_samples(struct alpha_device *m, int handle, uint64_t to, size_t n,
                               const struct alpha_device_memory *mem)
{
	struct device_session *u = alpha_device_get_session(m, handle);
	struct device_request c = { .device = m, .session = u, .memory = mem };
	size_t block, size, done = 0;
	unsigned blocks;

	if (!u)
		return -EBADF;
	size = alpha_request_count_sample_bytes(&c);
	blocks = alpha_device_count_entries(m, u);
	block = u->profile.n_buckets * sizeof(uint32_t);
	if (n > size)
		n = size;
	for (unsigned i = 0; i < blocks && done < n; i++) {
		unsigned which = m->options.blocks_backwards ? blocks - 1 - i : i;
		size_t part = n - done < block ? n - done : block;
		int err = store_memory(&c, to + done,
		                       u->profile.buckets + which * u->profile.n_buckets, part);

		if (err)
			return err;
		done += part;
	}
	if (m->options.read_clears && size)
		memset(u->profile.buckets, 0, size);
	return (long)done;
}
