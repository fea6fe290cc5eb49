/* SPDX-License-Identifier: MIT */
/* Basics of every module: slices of text, numbers in them, errors. */
#ifndef PERFMON_BASE_TEXT_H
#define PERFMON_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <perfmon/perfmon.h>

struct slice {
	const char *text;
	uint32_t len;
};

/* Of eight bytes as they are in memory the first @n, 0 to 8, with 0 for the others; and the last
 * @n, 1 to 8, at any place in the result. */
static inline uint64_t base_keep_first_bytes(uint64_t bytes, unsigned n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return n < 8 ? bytes & (((uint64_t)1 << 8 * n) - 1) : bytes;
#else
	return n < 8 ? bytes & ~(~(uint64_t)0 >> 8 * n) : bytes;
#endif
}
static inline uint64_t base_keep_last_bytes(uint64_t bytes, unsigned n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return bytes >> 8 * (8 - n);
#else
	return bytes << 8 * (8 - n);
#endif
}
/* The first eight bytes of a slice, as they are in memory; 0 for those that it does not have.
 * Nothing after it is read. */
static inline uint64_t base_load_first_bytes(struct slice s)
{
	uint64_t bytes = 0;
	uint32_t first = 0, last = 0;

	if (s.len >= 8) {
		memcpy(&bytes, s.text, 8);
		return bytes;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* In two pieces that have bytes in common, which are the same in both. */
	if (s.len >= 4) {
		memcpy(&first, s.text, 4);
		memcpy(&last, s.text + s.len - 4, 4);
		return first | (uint64_t)last << 8 * (s.len - 4);
	}
	if (s.len >= 2) {
		memcpy(&first, s.text, 2);
		memcpy(&last, s.text + s.len - 2, 2);
		return first | last << 8 * (s.len - 2);
	}
	return s.len ? (unsigned char)s.text[0] : 0;
#else
	(void)first;
	(void)last;
	memcpy(&bytes, s.text, s.len);
	return bytes;
#endif
}

static inline bool base_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of @s without the digits at its end. */
static inline uint32_t base_length_without_number(struct slice s)
{
	while (s.len && base_is_digit(s.text[s.len - 1]))
		s.len--;
	return s.len;
}

/* The value of @c as a digit of a number up to base 16; 99 for other characters. */
static inline unsigned base_digit_value(char c)
{
	if (base_is_digit(c))
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}
/* A whole slice as a C number (base 0); false for other text or a number beyond 64 bits. */
bool pfmi_base_parse_number(struct slice s, uint64_t *out);
/* Reads a number as perf does: leading zeros do not make it octal. */
bool pfmi_base_parse_perf_number(struct slice s, uint64_t *out);
/* A whole terminated string. */
struct slice pfmi_base_make_slice(const char *s);
/* Equal without regard to case; and what @word goes on with after @s, NULL if it does not start
 * so. */
bool pfmi_base_is_slice_icase(struct slice s, const char *word);
const char *pfmi_base_skip_prefix_icase(struct slice s, const char *word);
/* A number as C writes it, whatever the locale. False for other text. */
bool pfmi_base_parse_decimal(const char *s, double *out);
/* Fills @why (if not NULL) and returns @code. @s marks the culprit inside @spec's text; NULL text
 * marks nothing. */
int pfmi_base_set_error(pfm_error_t *why, int code, pfm_error_kind_t kind, const char *text,
                        struct slice s, const char *detail);
/* Sets the error of a failed system call: @err is its errno. */
int pfmi_base_set_errno_error(pfm_error_t *why, int code, int err, const char *detail);

#endif
