/* SPDX-License-Identifier: MIT */
/* Times of samples. A file chooses them: they may be 0, decrease, or reach the largest number. What
 * is computed here is in bounds for any of them, so no other file subtracts times. */
#ifndef PERFMON_PROFILE_TIME_SPAN_H
#define PERFMON_PROFILE_TIME_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the earliest to the latest time that was noted, in nanoseconds. All zeros: none was. */
struct time_span {
	uint64_t first, last;
	bool has_time; /* 0 is a time as any other */
};

void time_span_note(struct time_span *s, uint64_t time);
/* Nanoseconds from @earlier to @later; 0 if @later is earlier. */
uint64_t time_span_between(uint64_t earlier, uint64_t later);
/* @time and @ns nanoseconds, at most the largest time. */
uint64_t time_span_after(uint64_t time, uint64_t ns);
/* Nanoseconds from the first time to the last. */
uint64_t time_span_length(const struct time_span *s);
/* The part of @time, of @n parts of @step nanoseconds from the first time on: an index below @n,
 * which is not 0. Times outside are in the first or the last part. */
size_t time_span_part(const struct time_span *s, uint64_t time, uint64_t step, size_t n);
/* The part of @time, of @n equal parts of the whole span; as above. */
uint32_t time_span_slice(const struct time_span *s, uint64_t time, uint32_t n);

#endif
