/* SPDX-License-Identifier: MIT */
#include "profile/tree/time_span.h"

void time_span_note(struct time_span *s, uint64_t time)
{
	if (!s->has_time || time < s->first)
		s->first = time;
	if (!s->has_time || time > s->last)
		s->last = time;
	s->has_time = true;
}

uint64_t time_span_between(uint64_t earlier, uint64_t later)
{
	return later > earlier ? later - earlier : 0;
}

uint64_t time_span_after(uint64_t time, uint64_t ns)
{
	return time < UINT64_MAX - ns ? time + ns : UINT64_MAX;
}

uint64_t time_span_length(const struct time_span *s)
{
	return time_span_between(s->first, s->last);
}

size_t time_span_part(const struct time_span *s, uint64_t time, uint64_t step, size_t n)
{
	uint64_t part = step ? time_span_between(s->first, time) / step : 0;

	return part < n ? (size_t)part : n - 1;
}

uint32_t time_span_slice(const struct time_span *s, uint64_t time, uint32_t n)
{
	double length = (double)time_span_length(s) / n;
	double at = length > 0 ? (double)time_span_between(s->first, time) / length : 0;

	return at < n ? (uint32_t)at : n - 1;
}
