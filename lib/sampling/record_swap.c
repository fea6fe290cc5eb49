/* SPDX-License-Identifier: MIT */
/* Records of a machine of the other byte order. Numbers are turned one by one: two numbers of 32 bits are not one of 64. */
#include <byteswap.h>
#include <string.h>
#include "sampling/sampling.h"

#define TRAILER         (PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU | PFM_SAMPLE_IDENTIFIER)
#define BRANCH_HW_INDEX ((uint64_t)1 << 17)
#define BRANCH_COUNTERS ((uint64_t)1 << 19)

struct span {
	uint8_t *at, *end;
	bool bad;
};

static bool room(struct span *s, uint64_t size)
{
	if (size > (size_t)(s->end - s->at))
		s->bad = true;
	return !s->bad;
}

static uint64_t turn64(struct span *s)
{
	uint64_t v;

	if (!room(s, sizeof(v)))
		return 0;
	memcpy(&v, s->at, sizeof(v));
	v = bswap_64(v);
	memcpy(s->at, &v, sizeof(v));
	s->at += sizeof(v);
	return v;
}

static uint32_t turn32(struct span *s)
{
	uint32_t v;

	if (!room(s, sizeof(v)))
		return 0;
	memcpy(&v, s->at, sizeof(v));
	v = bswap_32(v);
	memcpy(s->at, &v, sizeof(v));
	s->at += sizeof(v);
	return v;
}

static uint16_t turn16(struct span *s)
{
	uint16_t v;

	if (!room(s, sizeof(v)))
		return 0;
	memcpy(&v, s->at, sizeof(v));
	v = bswap_16(v);
	memcpy(s->at, &v, sizeof(v));
	s->at += sizeof(v);
	return v;
}

static void turn_words(struct span *s, uint64_t n)
{
	while (n-- && !s->bad)
		turn64(s);
}

static void turn_pair(struct span *s)
{
	turn32(s);
	turn32(s);
}

static void skip(struct span *s, uint64_t size)
{
	if (room(s, size))
		s->at += size;
}

/* The fields that both samples and trailers have, in the order of the bits in which samples have them. */
static void turn_words_and_pairs(struct span *s, uint64_t fields)
{
	for (unsigned bit = 0; bit <= 8; bit++)
		if (!(fields >> bit & 1))
			continue;
		else if (1u << bit == PFM_SAMPLE_TID || 1u << bit == PFM_SAMPLE_CPU)
			turn_pair(s);
		else
			turn64(s);
}

static void turn_read(struct span *s, uint64_t format)
{
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1), times = (format & 1) + (format >> 1 & 1), n = 1;

	if (format >> 3 & 1)
		n = turn64(s);
	turn_words(s, times);
	for (; n && !s->bad; n--)
		turn_words(s, each);
}

static void turn_branches(struct span *s, uint64_t type)
{
	uint64_t n = turn64(s);

	if (type & BRANCH_HW_INDEX)
		turn64(s);
	for (uint64_t i = 0; i < n && !s->bad; i++)
		turn_words(s, 3);
	if (type & BRANCH_COUNTERS)
		turn_words(s, n);
}

static void turn_regs(struct span *s, uint64_t mask)
{
	if (turn64(s))
		turn_words(s, (uint64_t)__builtin_popcountll(mask));
}

static void turn_stack(struct span *s)
{
	uint64_t size = turn64(s);

	if (!size)
		return;
	skip(s, size);
	turn64(s);
}

static void turn_sample(struct span *s, const struct layout *l)
{
	uint64_t f = l->fields;

	if (f & PFM_SAMPLE_IDENTIFIER)
		turn64(s);
	turn_words_and_pairs(s, f & (PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ADDR));
	if (f & PFM_SAMPLE_ID)
		turn64(s);
	if (f & PFM_SAMPLE_STREAM)
		turn64(s);
	turn_words_and_pairs(s, f & (PFM_SAMPLE_CPU | PFM_SAMPLE_PERIOD));
	if (f & PFM_SAMPLE_READ)
		turn_read(s, l->read_format);
	if (f & PFM_SAMPLE_CHAIN)
		turn_words(s, turn64(s));
	if (f & PFM_SAMPLE_RAW)
		skip(s, turn32(s));
	if (f & PFM_SAMPLE_BRANCH)
		turn_branches(s, l->branch_type);
	if (f & PFM_SAMPLE_REGS)
		turn_regs(s, l->regs);
	if (f & PFM_SAMPLE_STACK)
		turn_stack(s);
	if (f & (PFM_SAMPLE_WEIGHT | PFM_SAMPLE_WEIGHTS)) /* the three parts of a weight stand as one number, too */
		turn64(s);
	for (uint64_t bit = PFM_SAMPLE_SOURCE; bit <= PFM_SAMPLE_TRANSACTION; bit <<= 1)
		if (f & bit & ~(uint64_t)PFM_SAMPLE_IDENTIFIER)
			turn64(s);
	if (f & PFM_SAMPLE_INTR_REGS)
		turn_regs(s, l->intr_regs);
	turn_words(s, (uint64_t)__builtin_popcountll(f & (PFM_SAMPLE_PHYS_ADDR | PFM_SAMPLE_CGROUP | PFM_SAMPLE_DATA_PAGE |
	                                                  PFM_SAMPLE_CODE_PAGE)));
	if (f & PFM_SAMPLE_AUX)
		turn64(s);
}

static void turn_trailer(struct span *s, const struct layout *l)
{
	uint64_t f = l->fields & TRAILER;
	size_t size = 8 * (size_t)__builtin_popcountll(f);
	struct span t = *s;

	if (!l->trailers || !room(s, size))
		return;
	s->end -= size;
	t.at = s->end;
	turn_words_and_pairs(&t, f & (PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ID));
	if (f & PFM_SAMPLE_STREAM)
		turn64(&t);
	turn_words_and_pairs(&t, f & PFM_SAMPLE_CPU);
	if (f & PFM_SAMPLE_IDENTIFIER)
		turn64(&t);
}

static void turn_map(struct span *s, bool second, uint16_t misc)
{
	turn_pair(s);
	turn_words(s, 3);
	if (!second)
		return;
	if (misc & PFM_MISC_BUILD_ID) {
		skip(s, 24);
	} else {
		turn_pair(s);
		turn_words(s, 2);
	}
	turn_pair(s);
}

static void turn_own(struct span *s, const struct layout *l, uint32_t type, uint16_t misc)
{
	switch (type) {
	case PFM_RECORD_MAP:
	case PFM_RECORD_MAP2: turn_map(s, type == PFM_RECORD_MAP2, misc); break;
	case PFM_RECORD_LOST: turn_words(s, 2); break;
	case PFM_RECORD_COMM:
	case PFM_RECORD_ITRACE_START:
	case PFM_RECORD_SWITCH_CPU: turn_pair(s); break;
	case PFM_RECORD_EXIT:
	case PFM_RECORD_FORK:
		turn_pair(s);
		turn_pair(s);
		turn64(s);
		break;
	case PFM_RECORD_THROTTLE:
	case PFM_RECORD_UNTHROTTLE:
	case PFM_RECORD_AUX: turn_words(s, 3); break;
	case PFM_RECORD_READ:
		turn_pair(s);
		turn_read(s, l->read_format);
		break;
	case PFM_RECORD_LOST_SAMPLES:
	case PFM_RECORD_CGROUP:
	case PFM_RECORD_AUX_ID: turn64(s); break;
	case PFM_RECORD_NAMESPACES:
		turn_pair(s);
		for (uint64_t n = turn64(s); n && !s->bad; n--)
			turn_words(s, 2);
		break;
	case PFM_RECORD_KSYMBOL:
	case PFM_RECORD_TEXT_POKE:
		turn64(s);
		if (type == PFM_RECORD_KSYMBOL)
			turn32(s);
		turn16(s);
		turn16(s);
		break;
	case PFM_RECORD_BPF:
		turn16(s);
		turn16(s);
		turn32(s);
		break;
	default: break;
	}
}

bool pfmi_record_swap(const struct layout *l, void *bytes, size_t size)
{
	struct span s = { bytes, (uint8_t *)bytes + size, false };
	uint32_t type = turn32(&s);
	uint16_t misc = turn16(&s);

	turn16(&s);
	if (type == PFM_RECORD_SAMPLE) {
		turn_sample(&s, l);
	} else if (type <= PFM_RECORD_AUX_ID) {
		turn_trailer(&s, l);
		if (!s.bad)
			turn_own(&s, l, type, misc);
	}
	return !s.bad;
}
