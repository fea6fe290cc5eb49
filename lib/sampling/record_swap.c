/* SPDX-License-Identifier: MIT */
/* Converts records of a machine with the other byte order, number by number: two numbers of 32 bits
 * swap in another way than one of 64. */
#include <byteswap.h>
#include <string.h>
#include "sampling/sampling.h"

#define SAMPLE_TRAILER_FIELDS                                                                      \
	(PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU |   \
	 PFM_SAMPLE_IDENTIFIER)
#define BRANCH_HW_INDEX ((uint64_t)1 << 17)
#define BRANCH_COUNTERS ((uint64_t)1 << 19)

struct swap_cursor {
	uint8_t *pos, *end;
	bool is_bad;
};

static bool check_bytes_left(struct swap_cursor *s, uint64_t size)
{
	if (size > (size_t)(s->end - s->pos))
		s->is_bad = true;
	return !s->is_bad;
}

static uint64_t swap_u64(struct swap_cursor *s)
{
	uint64_t v;

	if (!check_bytes_left(s, sizeof(v)))
		return 0;
	memcpy(&v, s->pos, sizeof(v));
	v = bswap_64(v);
	memcpy(s->pos, &v, sizeof(v));
	s->pos += sizeof(v);
	return v;
}

static uint32_t swap_u32(struct swap_cursor *s)
{
	uint32_t v;

	if (!check_bytes_left(s, sizeof(v)))
		return 0;
	memcpy(&v, s->pos, sizeof(v));
	v = bswap_32(v);
	memcpy(s->pos, &v, sizeof(v));
	s->pos += sizeof(v);
	return v;
}

static uint16_t swap_u16(struct swap_cursor *s)
{
	uint16_t v;

	if (!check_bytes_left(s, sizeof(v)))
		return 0;
	memcpy(&v, s->pos, sizeof(v));
	v = bswap_16(v);
	memcpy(s->pos, &v, sizeof(v));
	s->pos += sizeof(v);
	return v;
}

static void swap_words(struct swap_cursor *s, uint64_t n)
{
	while (n-- && !s->is_bad)
		swap_u64(s);
}

static void swap_u32_pair(struct swap_cursor *s)
{
	swap_u32(s);
	swap_u32(s);
}

static void skip_bytes(struct swap_cursor *s, uint64_t size)
{
	if (check_bytes_left(s, size))
		s->pos += size;
}

/* Swaps the fields that samples and trailers share, in the order that samples have them in. */
static void swap_common_fields(struct swap_cursor *s, uint64_t fields)
{
	for (unsigned bit = 0; bit <= 8; bit++)
		if (!(fields >> bit & 1))
			continue;
		else if (1u << bit == PFM_SAMPLE_TID || 1u << bit == PFM_SAMPLE_CPU)
			swap_u32_pair(s);
		else
			swap_u64(s);
}

static void swap_read_values(struct swap_cursor *s, uint64_t format)
{
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1),
		 times = (format & 1) + (format >> 1 & 1), n = 1;

	if (format >> 3 & 1)
		n = swap_u64(s);
	swap_words(s, times);
	for (; n && !s->is_bad; n--)
		swap_words(s, each);
}

static void swap_branches(struct swap_cursor *s, uint64_t type)
{
	uint64_t n = swap_u64(s);

	if (type & BRANCH_HW_INDEX)
		swap_u64(s);
	for (uint64_t i = 0; i < n && !s->is_bad; i++)
		swap_words(s, 3);
	if (type & BRANCH_COUNTERS)
		swap_words(s, n);
}

static void swap_registers(struct swap_cursor *s, uint64_t mask)
{
	if (swap_u64(s))
		swap_words(s, (uint64_t)__builtin_popcountll(mask));
}

static void swap_user_stack(struct swap_cursor *s)
{
	uint64_t size = swap_u64(s);

	if (!size)
		return;
	skip_bytes(s, size);
	swap_u64(s);
}

static void swap_sample(struct swap_cursor *s, const struct record_layout *l)
{
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_IDENTIFIER)
		swap_u64(s);
	swap_common_fields(
		s, f & (PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ADDR));
	if (f & PFM_SAMPLE_ID)
		swap_u64(s);
	if (f & PFM_SAMPLE_STREAM)
		swap_u64(s);
	swap_common_fields(s, f & (PFM_SAMPLE_CPU | PFM_SAMPLE_PERIOD));
	if (f & PFM_SAMPLE_READ)
		swap_read_values(s, l->read_format);
	if (f & PFM_SAMPLE_CHAIN)
		swap_words(s, swap_u64(s));
	if (f & PFM_SAMPLE_RAW)
		skip_bytes(s, swap_u32(s));
	if (f & PFM_SAMPLE_BRANCH)
		swap_branches(s, l->branch_type);
	if (f & PFM_SAMPLE_REGS)
		swap_registers(s, l->user_regs);
	if (f & PFM_SAMPLE_STACK)
		swap_user_stack(s);
	/* the three parts of a weight swap as one number */
	if (f & (PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS))
		swap_u64(s);
	for (uint64_t bit = PFM_SAMPLE_SOURCE; bit <= PFM_SAMPLE_TRANSACTION; bit <<= 1)
		if (f & bit & ~(uint64_t)PFM_SAMPLE_IDENTIFIER)
			swap_u64(s);
	if (f & PFM_SAMPLE_INTR_REGS)
		swap_registers(s, l->intr_regs);
	swap_words(s, (uint64_t)__builtin_popcountll(f & (PFM_SAMPLE_PHYS_ADDR | PFM_SAMPLE_CGROUP |
	                                                  PFM_SAMPLE_DATA_PAGE |
	                                                  PFM_SAMPLE_CODE_PAGE)));
	if (f & PFM_SAMPLE_AUX)
		swap_u64(s);
}

static void swap_trailer(struct swap_cursor *s, const struct record_layout *l)
{
	uint64_t f = l->fields & SAMPLE_TRAILER_FIELDS;
	size_t size = 8 * (size_t)__builtin_popcountll(f);
	struct swap_cursor t = *s;

	if (!l->has_trailers || !check_bytes_left(s, size))
		return;
	s->end -= size;
	t.pos = s->end;
	swap_common_fields(&t, f & (PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID));
	if (f & PFM_SAMPLE_STREAM)
		swap_u64(&t);
	swap_common_fields(&t, f & PFM_SAMPLE_CPU);
	if (f & PFM_SAMPLE_IDENTIFIER)
		swap_u64(&t);
}

static void swap_map(struct swap_cursor *s, bool second, uint16_t misc)
{
	swap_u32_pair(s);
	swap_words(s, 3);
	if (!second)
		return;
	if (misc & PFM_MISC_BUILD_ID) {
		skip_bytes(s, 24);
	} else {
		swap_u32_pair(s);
		swap_words(s, 2);
	}
	swap_u32_pair(s);
}

static void swap_record_body(struct swap_cursor *s, const struct record_layout *l, uint32_t type,
                             uint16_t misc)
{
	switch (type) {
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: swap_map(s, type == PFM_RECORD_MAP2, misc); break;
	case PFM_RECORD_LOST: swap_words(s, 2); break;
	case PFM_RECORD_COMM:
	case PFM_RECORD_ITRACE_START:
	case PFM_RECORD_SWITCH_CPU: swap_u32_pair(s); break;
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK:
		swap_u32_pair(s);
		swap_u32_pair(s);
		swap_u64(s);
		break;
	case PFM_RECORD_THROTTLE:
	case PFM_RECORD_UNTHROTTLE:
	case PFM_RECORD_AUX: swap_words(s, 3); break;
	case PFM_RECORD_READ:
		swap_u32_pair(s);
		swap_read_values(s, l->read_format);
		break;
	case PFM_RECORD_LOST_SAMPLES:
	case PFM_RECORD_CGROUP:
	case PFM_RECORD_AUX_ID: swap_u64(s); break;
	case PFM_RECORD_DEFERRED_CHAIN:
		swap_u64(s);
		swap_words(s, swap_u64(s));
		break;
	case PFM_RECORD_NAMESPACES:
		swap_u32_pair(s);
		for (uint64_t n = swap_u64(s); n && !s->is_bad; n--)
			swap_words(s, 2);
		break;
	case PFM_RECORD_KSYMBOL:
	case PFM_RECORD_TEXT_POKE:
		swap_u64(s);
		if (type == PFM_RECORD_KSYMBOL)
			swap_u32(s);
		swap_u16(s);
		swap_u16(s);
		break;
	case PFM_RECORD_BPF:
		swap_u16(s);
		swap_u16(s);
		swap_u32(s);
		break;
	default: break;
	}
}

bool pfmi_sampling_swap_record(const struct record_layout *l, void *bytes, size_t size)
{
	struct swap_cursor s = { bytes, (uint8_t *)bytes + size, false };
	uint32_t type = swap_u32(&s);
	uint16_t misc = swap_u16(&s);

	swap_u16(&s);
	if (type == PFM_RECORD_SAMPLE) {
		swap_sample(&s, l);
	} else if (type <= PFM_RECORD_DEFERRED_CHAIN) {
		swap_trailer(&s, l);
		if (!s.is_bad)
			swap_record_body(&s, l, type, misc);
	}
	return !s.is_bad;
}
