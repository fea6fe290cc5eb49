/* SPDX-License-Identifier: MIT */
/* Any bytes as a record of any layout, in either byte order: every pointer that comes out leads
 * into the record. */
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "sampling/sampling.h"
#include "time_bound.h"

static void inside(const void *p, uint64_t n, const uint8_t *from, size_t size)
{
	const uint8_t *at = p;

	if (n && (!p || at < from || n > size || (size_t)(at - from) > size - n))
		abort();
}

static void check_sample(const pfm_sample_t *s, const uint8_t *from, size_t size)
{
	inside(s->chain, s->n_chain * (uint64_t)8, from, size);
	inside(s->read, s->n_read * (uint64_t)8, from, size);
	inside(s->raw, s->raw_size, from, size);
	inside(s->branches, s->n_branches * (uint64_t)sizeof(pfm_branch_t), from, size);
	inside(s->regs.values, s->regs.n * (uint64_t)8, from, size);
	inside(s->intr_regs.values, s->intr_regs.n * (uint64_t)8, from, size);
	inside(s->stack, s->stack_used, from, size);
	if (s->aux)
		inside(s->aux, s->aux_size, from, size);
}

static void check(const pfm_record_t *r, const uint8_t *from, size_t size)
{
	switch (r->type) {
	case PFM_RECORD_SAMPLE: check_sample(&r->body.sample, from, size); break;
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2:
		inside(r->body.map.name, strlen(r->body.map.name) + 1, from, size);
		inside(r->body.map.build_id, r->body.map.build_id_size, from, size);
		break;
	case PFM_RECORD_COMM:
		inside(r->body.comm.name, strlen(r->body.comm.name) + 1, from, size);
		break;
	case PFM_RECORD_CGROUP:
		inside(r->body.cgroup.path, strlen(r->body.cgroup.path) + 1, from, size);
		break;
	case PFM_RECORD_NAMESPACES:
		inside(r->body.namespaces.links, r->body.namespaces.n * 16, from, size);
		break;
	case PFM_RECORD_TEXT_POKE:
		inside(r->body.poke.bytes, r->body.poke.old_length + r->body.poke.new_length, from,
		       size);
		break;
	case PFM_RECORD_READ:
		inside(r->body.read.words, r->body.read.n * (uint64_t)8, from, size);
		break;
	default: break;
	}
}

int try_input(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	unsigned flags = byte(&b);
	struct record_layout l = { .has_trailers = flags & 1 };
	struct record_header head = { 0 };
	pfm_record_t r;
	uint8_t *copy;

	take(&b, &l.fields, 4);
	take(&b, &l.read_format, 1);
	take(&b, &l.branch_type, 3);
	take(&b, &l.user_regs, 8);
	l.intr_regs = l.user_regs >> 3;
	size = b.left < RECORD_HEADER_SIZE    ? RECORD_HEADER_SIZE
	       : b.left > MAX_RECORD_SIZE - 1 ? MAX_RECORD_SIZE - 1
	                                      : b.left;
	copy = calloc(1, size); /* just as long as the record, so that reading beyond shows */
	if (!copy)
		abort();
	take(&b, copy, size);
	memcpy(&head, copy, sizeof(head));
	head.type %= 24;
	memcpy(copy, &head, sizeof(head));
	if (flags & 2)
		pfmi_sampling_swap_record(&l, copy, size);
	pfmi_sampling_get_record_id(&l, copy, size);
	pfmi_sampling_get_record_time(&l, copy, size);
	if (pfmi_sampling_decode_record(&l, copy, size, &r))
		check(&r, copy, size);
	free(copy);
	return 0;
}
