/* SPDX-License-Identifier: MIT */
/* Reads the numbers and arrays of a record in turn, without reading beyond its end. */
#ifndef PERFMON_RECORD_CURSOR_H
#define PERFMON_RECORD_CURSOR_H

#include <byteswap.h>
#include <string.h>
#include "sampling/sampling.h"

/* The bytes of a record that are not parsed yet. After one field that did not fit, no field
 * fits. */
struct record_cursor {
	const uint8_t *pos, *end;
	bool is_bad;
	/* The record has the other byte order: its bytes are writable, and each number is converted
	 * in place when it is read. */
	bool is_foreign;
};

static inline size_t get_bytes_left(const struct record_cursor *c)
{
	return (size_t)(c->end - c->pos);
}

static inline void refuse_record(struct record_cursor *c)
{
	c->is_bad = true;
	c->pos = c->end;
}

static inline const void *read_bytes(struct record_cursor *c, uint64_t size)
{
	const void *p = c->pos;

	if (size > get_bytes_left(c)) {
		refuse_record(c);
		return NULL;
	}
	c->pos += size;
	return p;
}

/* take_uN() reads a number that is known to fit, read_uN() one that may not: 0 then. */
#define DEFINE_NUMBER_READERS(bits)                                                                \
	static inline uint##bits##_t take_u##bits(struct record_cursor *c)                         \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
                                                                                                   \
		memcpy(&v, c->pos, sizeof(v));                                                     \
		if (c->is_foreign) {                                                               \
			v = bswap_##bits(v);                                                       \
			memcpy((uint8_t *)(uintptr_t)c->pos, &v, sizeof(v));                       \
		}                                                                                  \
		c->pos += sizeof(v);                                                               \
		return v;                                                                          \
	}                                                                                          \
                                                                                                   \
	static inline uint##bits##_t read_u##bits(struct record_cursor *c)                         \
	{                                                                                          \
		if (sizeof(uint##bits##_t) <= get_bytes_left(c))                                   \
			return take_u##bits(c);                                                    \
		refuse_record(c);                                                                  \
		return 0;                                                                          \
	}

DEFINE_NUMBER_READERS(16)
DEFINE_NUMBER_READERS(32)
DEFINE_NUMBER_READERS(64)

/* Reads two numbers that share a word. */
static inline void take_word_halves(struct record_cursor *c, uint32_t *first, uint32_t *second)
{
	*first = take_u32(c);
	*second = take_u32(c);
}

/* Returns the next @n words, or NULL: if they do not fit, and while they are converted. In a
 * foreign file they may be unaligned. */
static inline const uint64_t *read_word_array(struct record_cursor *c, uint64_t n)
{
	if (n > get_bytes_left(c) / sizeof(uint64_t) ||
	    (n && !c->is_foreign && (uintptr_t)c->pos % sizeof(uint64_t))) {
		refuse_record(c);
		return NULL;
	}
	if (!c->is_foreign)
		return read_bytes(c, n * sizeof(uint64_t));
	while (n--)
		take_u64(c);
	return NULL;
}

/* Returns a terminated string that fills the rest of the record, or NULL. Text has no byte
 * order. */
static inline const char *read_string(struct record_cursor *c)
{
	const char *s = (const char *)c->pos;

	if (c->is_foreign)
		return NULL;
	if (get_bytes_left(c) == 0 || !memchr(s, '\0', get_bytes_left(c))) {
		refuse_record(c);
		return NULL;
	}
	c->pos = c->end;
	return s;
}

/* Returns @size bytes without a byte order at the end of the record, or NULL. */
static inline const void *read_last_bytes(struct record_cursor *c, uint64_t size)
{
	return c->is_foreign ? NULL : read_bytes(c, size);
}

/* ---- parts of records that several files decode -------------------------------------------- */

/* Reads the values of @format (sample_decode.c). Sets @n to the number of words. */
const uint64_t *pfmi_sampling_parse_read_values(struct record_cursor *c, uint64_t format,
                                                uint32_t *n);
void pfmi_sampling_parse_sample(struct record_cursor *c, const struct record_layout *l,
                                pfm_record_t *out);
/* Clears the record and sets the members that every record has (record_layout.c). */
void pfmi_sampling_begin_record(const struct record_header *head, const void *bytes, size_t size,
                                pfm_record_t *out);
/* Number of words of @fields before @field, among the first fields of a sample (record_layout.c).
 * IDENTIFIER is the very first field. */
size_t pfmi_sampling_count_words_before(uint64_t fields, uint64_t field);

/* The fields of constant size at the start of a sample: one word each. */
#define IDENTITY_FIELDS                                                                            \
	(PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | SAMPLE_TRAILER_FIELDS | PFM_SAMPLE_ADDR |         \
	 PFM_SAMPLE_PERIOD)

/* Reads the fields of constant size. */
static inline __attribute__((always_inline)) void
parse_identity_words(struct record_cursor *c, uint64_t f, pfm_record_t *out)
{
	uint32_t reserved;

	if (f & PFM_SAMPLE_IDENTIFIER)
		out->id = take_u64(c);
	if (f & PFM_SAMPLE_IP)
		out->body.sample.ip = take_u64(c);
	if (f & PFM_SAMPLE_TID)
		take_word_halves(c, &out->pid, &out->tid);
	if (f & PFM_SAMPLE_TIME)
		out->time = take_u64(c);
	if (f & PFM_SAMPLE_ADDR)
		out->body.sample.addr = take_u64(c);
	if (f & PFM_SAMPLE_ID)
		out->id = take_u64(c);
	if (f & PFM_SAMPLE_STREAM)
		out->stream = take_u64(c);
	if (f & PFM_SAMPLE_CPU)
		take_word_halves(c, &out->cpu, &reserved);
	if (f & PFM_SAMPLE_PERIOD)
		out->body.sample.period = take_u64(c);
}

#endif
