/* SPDX-License-Identifier: MIT */
/* Positions of fields in records, which the layout of the event gives, and the start of a decoded
 * record. */
#include <string.h>
#include "sampling/record_cursor.h"

size_t pfmi_sampling_count_words_before(uint64_t fields, uint64_t field)
{
	static const uint64_t order =
		PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_ADDR;
	uint64_t before = fields & order & (field == PFM_SAMPLE_ID ? order : field - 1);

	return (size_t)__builtin_popcountll(before) + !!(fields & PFM_SAMPLE_IDENTIFIER);
}

void pfmi_sampling_complete_layout(struct record_layout *l)
{
	l->is_fixed_size =
		l->fields & PFM_SAMPLE_IDENTIFIER && !(l->fields & ~(uint64_t)IDENTITY_FIELDS);
	l->sample_size =
		RECORD_HEADER_SIZE +
		sizeof(uint64_t) * (size_t)__builtin_popcountll(l->fields & IDENTITY_FIELDS);
}

/* The record is cleared in pieces that compilers turn into stores: for the whole structure they
 * generate code that takes longer than all other decoding. */
void pfmi_sampling_begin_record(const struct record_header *head, const void *bytes, size_t size,
                                pfm_record_t *out)
{
	enum { PIECE = 64 };
	size_t at = 0;

	for (; at + PIECE <= sizeof(*out); at += PIECE)
		memset((uint8_t *)out + at, 0, PIECE);
	memset((uint8_t *)out + at, 0, sizeof(*out) % PIECE);
	out->size = sizeof(*out);
	out->type = head->type;
	out->misc = head->misc;
	out->event = PFM_NO_EVENT;
	out->raw = bytes;
	out->raw_size = (uint32_t)size;
}

static uint64_t read_word_at(const void *bytes, size_t size, size_t at)
{
	uint64_t v = 0;

	if (at >= RECORD_HEADER_SIZE && size >= sizeof(v) && at <= size - sizeof(v))
		memcpy(&v, (const uint8_t *)bytes + at, sizeof(v));
	return v;
}

static uint32_t get_record_type(const void *bytes)
{
	uint32_t type;

	memcpy(&type, bytes, sizeof(type));
	return type;
}

uint64_t pfmi_sampling_get_record_id(const struct record_layout *l, const void *bytes, size_t size)
{
	static const uint64_t after = PFM_SAMPLE_ID | PFM_SAMPLE_STREAM | PFM_SAMPLE_CPU;

	if (!(l->fields & (PFM_SAMPLE_ID | PFM_SAMPLE_IDENTIFIER)))
		return 0;
	if (get_record_type(bytes) == PFM_RECORD_SAMPLE)
		return read_word_at(bytes, size,
		                    RECORD_HEADER_SIZE +
		                            8 * (l->fields & PFM_SAMPLE_IDENTIFIER
		                                         ? 0
		                                         : pfmi_sampling_count_words_before(
								   l->fields, PFM_SAMPLE_ID)));
	if (!l->has_trailers || size < 16 || get_record_type(bytes) > PFM_RECORD_DEFERRED_CHAIN)
		return 0;
	if (l->fields & PFM_SAMPLE_IDENTIFIER)
		return read_word_at(bytes, size, size - 8);
	return read_word_at(bytes, size,
	                    size - 8 * (size_t)__builtin_popcountll(l->fields & after));
}

uint64_t pfmi_sampling_get_record_time(const struct record_layout *l, const void *bytes,
                                       size_t size)
{
	static const uint64_t after = PFM_SAMPLE_TIME | PFM_SAMPLE_ID | PFM_SAMPLE_STREAM |
	                              PFM_SAMPLE_CPU | PFM_SAMPLE_IDENTIFIER;
	size_t back;

	if (!(l->fields & PFM_SAMPLE_TIME))
		return 0;
	if (get_record_type(bytes) == PFM_RECORD_SAMPLE)
		return read_word_at(bytes, size,
		                    RECORD_HEADER_SIZE + 8 * pfmi_sampling_count_words_before(
								     l->fields, PFM_SAMPLE_TIME));
	back = 8 * (size_t)__builtin_popcountll(l->fields & after);
	return l->has_trailers && size >= back &&
	                       get_record_type(bytes) <= PFM_RECORD_DEFERRED_CHAIN
	               ? read_word_at(bytes, size, size - back)
	               : 0;
}

void pfmi_sampling_set_sample_time(const struct record_layout *l, void *bytes, size_t size,
                                   uint64_t time)
{
	const size_t at = RECORD_HEADER_SIZE +
	                  8 * pfmi_sampling_count_words_before(l->fields, PFM_SAMPLE_TIME);

	if (l->fields & PFM_SAMPLE_TIME && size >= sizeof(time) && at <= size - sizeof(time))
		memcpy((uint8_t *)bytes + at, &time, sizeof(time));
}
