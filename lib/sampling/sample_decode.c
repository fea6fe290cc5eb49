/* SPDX-License-Identifier: MIT */
/* Decodes samples: the fields of constant size first, then those with lengths. */
#include "sampling/record_cursor.h"

/* Bits of read_format (the lowest: enabled, running, id, group, lost) and of branch_sample_type. */
#define READ_FORMAT_GROUP 8u
#define BRANCH_HW_INDEX   ((uint64_t)1 << 17)
#define BRANCH_COUNTERS   ((uint64_t)1 << 19)

/* The number of words that the values of @format have at the cursor; 0 if there are fewer. */
static uint64_t count_read_words(const struct record_cursor *c, uint64_t format)
{
	uint64_t n = get_bytes_left(c) / sizeof(uint64_t);
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1); /* value, id, lost */
	uint64_t times = (format & 1) + (format >> 1 & 1), members;

	if (!(format & READ_FORMAT_GROUP))
		return each + times <= n ? each + times : 0;
	if (n < 1 + times)
		return 0;
	memcpy(&members, c->pos, sizeof(members));
	if (c->is_foreign)
		members = bswap_64(members);
	return members <= (n - 1 - times) / each ? 1 + times + members * each : 0;
}

const uint64_t *pfmi_sampling_parse_read_values(struct record_cursor *c, uint64_t format,
                                                uint32_t *n)
{
	uint64_t words = count_read_words(c, format);

	*n = (uint32_t)words;
	if (words)
		return read_word_array(c, words);
	refuse_record(c);
	return NULL;
}

static void parse_branches(struct record_cursor *c, const struct record_layout *l, pfm_sample_t *s)
{
	uint64_t n = read_u64(c);
	const void *entries;

	s->branch_index = l->branch_type & BRANCH_HW_INDEX ? read_u64(c) : UINT64_MAX;
	if (n > get_bytes_left(c) / sizeof(pfm_branch_t)) {
		refuse_record(c);
		return;
	}
	entries = read_word_array(c, n * 3);
	if (l->branch_type & BRANCH_COUNTERS)
		read_word_array(c, n);
	if (!entries)
		return;
	s->branches = entries;
	s->branch_type = l->branch_type;
	s->n_branches = (uint32_t)n;
}

static void parse_registers(struct record_cursor *c, uint64_t mask, pfm_regs_t *out)
{
	out->abi = read_u64(c);
	if (!out->abi)
		return;
	out->n = (uint32_t)__builtin_popcountll(mask);
	out->values = read_word_array(c, out->n);
	if (!out->values)
		out->n = 0;
}

/* True if a chain has the most frames permitted. Context markers are not frames. */
static bool is_chain_full(const pfm_sample_t *s, uint32_t most)
{
	uint32_t frames = 0;

	if (!most || s->n_chain < most)
		return false;
	for (uint32_t i = 0; i < s->n_chain; i++)
		frames += s->chain[i] < PFM_CHAIN_MARKER;
	return frames >= most;
}

static void parse_user_stack(struct record_cursor *c, pfm_record_t *out)
{
	pfm_sample_t *s = &out->body.sample;
	uint64_t size = read_u64(c);

	if (!size)
		return;
	s->stack = read_bytes(c, size);
	s->stack_used = read_u64(c);
	s->stack_size = s->stack ? size : 0;
	out->truncated |= s->stack && s->stack_used >= size ? PFM_TRUNCATED_STACK : 0;
	if (s->stack_used > s->stack_size)
		s->stack_used = s->stack_size;
}

static void parse_weights(struct record_cursor *c, pfm_sample_t *s)
{
	uint64_t v = read_u64(c);

	s->weight = (uint32_t)v;
	s->weight2 = (uint16_t)(v >> 32);
	s->weight3 = (uint16_t)(v >> 48);
}

/* Reads all fields of constant size, or nothing if the record is too short. */
static void parse_identity(struct record_cursor *c, uint64_t f, pfm_record_t *out)
{
	if (sizeof(uint64_t) * (unsigned)__builtin_popcountll(f & IDENTITY_FIELDS) <=
	    get_bytes_left(c))
		parse_identity_words(c, f, out);
	else
		refuse_record(c);
}

static void parse_variable_fields(struct record_cursor *c, const struct record_layout *l,
                                  pfm_record_t *out)
{
	pfm_sample_t *s = &out->body.sample;
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_READ) {
		s->read = pfmi_sampling_parse_read_values(c, l->read_format, &s->n_read);
		s->read_format = l->read_format;
	}
	if (f & PFM_SAMPLE_CHAIN) {
		uint64_t n = read_u64(c);

		s->chain = read_word_array(c, n);
		s->n_chain = s->chain ? (uint32_t)n : 0;
		out->truncated |= is_chain_full(s, l->max_frames) ? PFM_TRUNCATED_CHAIN : 0;
	}
	if (f & PFM_SAMPLE_RAW) {
		s->raw_size = read_u32(c);
		s->raw = read_bytes(c, s->raw_size);
		if (!s->raw)
			s->raw_size = 0;
	}
	if (f & PFM_SAMPLE_BRANCH)
		parse_branches(c, l, s);
	if (f & PFM_SAMPLE_REGS) {
		parse_registers(c, l->user_regs, &s->regs);
		s->regs_mask = l->user_regs;
	}
	if (f & PFM_SAMPLE_STACK)
		parse_user_stack(c, out);
}

static void parse_late_fields(struct record_cursor *c, const struct record_layout *l,
                              pfm_sample_t *s)
{
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_WEIGHT)
		s->weight = read_u64(c);
	else if (f & PFM_SAMPLE_WEIGHTS)
		parse_weights(c, s);
	if (f & PFM_SAMPLE_SOURCE)
		s->source = read_u64(c);
	if (f & PFM_SAMPLE_TRANSACTION)
		s->transaction = read_u64(c);
	if (f & PFM_SAMPLE_INTR_REGS) {
		parse_registers(c, l->intr_regs, &s->intr_regs);
		s->intr_regs_mask = l->intr_regs;
	}
	if (f & PFM_SAMPLE_PHYS_ADDR)
		s->phys_addr = read_u64(c);
	if (f & PFM_SAMPLE_CGROUP)
		s->cgroup = read_u64(c);
	if (f & PFM_SAMPLE_DATA_PAGE)
		s->data_page = read_u64(c);
	if (f & PFM_SAMPLE_CODE_PAGE)
		s->code_page = read_u64(c);
	if (f & PFM_SAMPLE_AUX) {
		s->aux_size = read_u64(c);
		s->aux = read_last_bytes(c, s->aux_size);
	}
}

#define VARIABLE_FIELDS                                                                            \
	(PFM_SAMPLE_READ | PFM_SAMPLE_CHAIN | PFM_SAMPLE_RAW | PFM_SAMPLE_BRANCH |                 \
	 PFM_SAMPLE_REGS | PFM_SAMPLE_STACK)

void pfmi_sampling_parse_sample(struct record_cursor *c, const struct record_layout *l,
                                pfm_record_t *out)
{
	parse_identity(c, l->fields, out);
	if (l->fields & VARIABLE_FIELDS)
		parse_variable_fields(c, l, out);
	if (l->fields & ~(uint64_t)(IDENTITY_FIELDS | VARIABLE_FIELDS))
		parse_late_fields(c, l, &out->body.sample);
	out->has = l->fields;
}
