/* SPDX-License-Identifier: MIT */
/* Decodes runs of samples that have equal sizes and fields, which most samples belong to. */
#include "sampling/record_cursor.h"

/* Sets the members that are equal in all samples of a run. */
static __attribute__((noinline)) void begin_run_record(const struct sample_run *u, uint64_t has,
                                                       pfm_record_t *out)
{
	const struct record_header head = { PFM_RECORD_SAMPLE, 0, 0 };

	pfmi_sampling_begin_record(&head, NULL, u->sample_size, out);
	out->event = u->count_index;
	out->has = has;
	out->id = u->id;
	out->body.sample.period = u->period;
}

/* True if @out holds a sample of the run's event and is zero otherwise. Ids are unique in the
 * system, so they differ between sessions. */
static inline bool is_run_record(const struct sample_run *u, uint64_t has, const pfm_record_t *out)
{
	return out->type == PFM_RECORD_SAMPLE && out->has == has && out->id == u->id &&
	       out->event == u->count_index && out->raw_size == u->sample_size;
}

/* Decodes a run. Callers pass constant fields, so that their copies of the loop need not test
 * them. */
static inline __attribute__((always_inline)) unsigned
decode_sample_run(struct sample_run *run, uint64_t fields, pfm_record_t *out, unsigned n)
{
	const struct sample_run u = { run->next_sample,
		                      run->sample_size,
		                      fields,
		                      run->id,
		                      run->time_limit,
		                      0,
		                      run->count_index,
		                      0,
		                      0 };
	const uint64_t has = fields | PFM_SAMPLE_PERIOD;
	const size_t time_at = fields & PFM_SAMPLE_TIME
	                               ? sizeof(uint64_t) * pfmi_sampling_count_words_before(
								    fields, PFM_SAMPLE_TIME)
	                               : 0;
	const uint8_t *at = u.next_sample;
	uint64_t weight = 0, exact = 0;
	unsigned k = 0;

	for (; k < n; k++, at += u.sample_size) {
		struct record_cursor c = { .pos = at + RECORD_HEADER_SIZE };
		struct record_cursor time = { .pos = c.pos + time_at };
		struct record_header head;

		memcpy(&head, at, sizeof(head));
		if (head.type != PFM_RECORD_SAMPLE || head.size != u.sample_size ||
		    take_u64(&c) != u.id || (time_at && take_u64(&time) > u.time_limit))
			break;
		if (!is_run_record(&u, has, &out[k]))
			begin_run_record(run, has, &out[k]);
		out[k].misc = head.misc;
		out[k].raw = at;
		parse_identity_words(&c, fields & ~(uint64_t)PFM_SAMPLE_IDENTIFIER, &out[k]);
		exact += (head.misc & PFM_MISC_EXACT) != 0;
		weight += fields & PFM_SAMPLE_PERIOD ? out[k].body.sample.period : 0;
	}
	run->next_sample = at;
	run->n_exact = exact;
	run->total_weight = fields & PFM_SAMPLE_PERIOD ? weight : k * run->period;
	return k;
}

/* Usual fields of samples. Events of the kernel itself lack the period. */
#define USUAL_RUN_FIELDS                                                                           \
	(PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU)

unsigned pfmi_sampling_decode_run(struct sample_run *u, pfm_record_t *out, unsigned n)
{
	switch (u->fields) {
	case USUAL_RUN_FIELDS: return decode_sample_run(u, USUAL_RUN_FIELDS, out, n);
	case USUAL_RUN_FIELDS | PFM_SAMPLE_PERIOD:
		return decode_sample_run(u, USUAL_RUN_FIELDS | PFM_SAMPLE_PERIOD, out, n);
	default: return decode_sample_run(u, u->fields, out, n);
	}
}
