/* SPDX-License-Identifier: MIT */
/* Basics of every module: slices of text, numbers in them, errors. */
#ifndef PERFMON_BASE_TEXT_H
#define PERFMON_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include "base/private.h"

struct slice {
	const char *text;
	uint32_t len;
};

static inline bool base_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of @s without the digits at its end. */
static inline uint32_t base_measure_without_number(struct slice s)
{
	while (s.len && base_is_digit(s.text[s.len - 1]))
		s.len--;
	return s.len;
}

/* The value of @c as a digit of a number up to base 16; 99 for other characters. */
static inline unsigned base_get_digit_value(char c)
{
	if (base_is_digit(c))
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}
/* Parses all of @s as a C number (base 0). False for other text or a number beyond 64 bits. */
PERFMON_PRIVATE bool pfmi_base_parse_number(struct slice s, uint64_t *out);
/* Reads a number as perf does: leading zeros do not make it octal. */
bool pfmi_base_parse_perf_number(struct slice s, uint64_t *out);
/* The slice of a whole terminated string. */
PERFMON_PRIVATE struct slice pfmi_base_make_slice(const char *s);
/* Is @s equal to @word without regard to case? */
PERFMON_PRIVATE bool pfmi_base_is_slice_icase(struct slice s, const char *word);

/* The rest of @word after @s, without regard to case; NULL if @word does not start with @s. */
const char *pfmi_base_skip_prefix_icase(struct slice s, const char *word);
/* Parses a decimal number in C's notation, in every locale. False for other text. */
bool pfmi_base_parse_decimal(const char *s, double *out);
/* Fills @why (if not NULL) and returns @code. @s is the faulty part of @text; without @text the
 * error has no place. */
int pfmi_base_set_error(pfm_error_t *why, int code, pfm_error_kind_t kind, const char *text,
                        struct slice s, const char *detail);
/* Sets an error that no part of a text caused. */
int pfmi_base_set_plain_error(pfm_error_t *why, int code, pfm_error_kind_t kind,
                              const char *detail);
/* Sets an error of event @event of a set. */
int pfmi_base_set_event_error(pfm_error_t *why, int code, pfm_error_kind_t kind, int event,
                              const char *detail);
/* Lists the @events (bit i: event i) as those of @why that clash. */
void pfmi_base_set_clash(pfm_error_t *why, uint64_t events);
/* The clashing events that @why lists (bit i: event i). */
uint64_t pfmi_base_get_clash(const pfm_error_t *why);
/* Sets the error of a wrong argument of a call and returns PFMLIB_ERR_INVAL. */
int pfmi_base_refuse_argument(pfm_error_t *why, const char *detail);
/* Sets the error of a failed allocation and returns PFMLIB_ERR_NOMEM. */
int pfmi_base_set_no_memory_error(pfm_error_t *why);
/* Sets the error of a failed system call: @err is its errno. */
int pfmi_base_set_errno_error(pfm_error_t *why, int code, int err, const char *detail);

#endif
