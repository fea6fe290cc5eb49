/* SPDX-License-Identifier: MIT */
/* Reads the group of a thread in user space, inline in begin and end. If one event cannot be read
 * in user space at the moment, the kernel reads them all. */
#ifndef PERFMON_REGION_READING_H
#define PERFMON_REGION_READING_H

#include "region/region.h"
#include "session/user_read.h"

#ifdef HAS_USER_READ

typedef const volatile struct perf_event_mmap_page event_page;

/* Reads the clock that all processors share, in nanoseconds. */
static inline uint64_t read_user_clock(const struct perf_event_mmap_page *page)
{
	return page->time_zero + read_page_clock(page);
}

/* Reads the leader of a group: its times, its value, and the clock. */
static inline __attribute__((always_inline)) bool
read_user_leader(const struct perf_event_mmap_page *page, uint64_t *out, uint64_t *clock)
{
	event_page *shared = page;
	uint32_t seq = shared->lock, index;
	uint64_t now, since;

	emit_compiler_barrier();
	index = page->index;
	if (!index || !page->cap_user_rdpmc)
		return false;
	now = read_page_clock(page);
	since = page->time_offset + now;
	*clock = page->time_zero + now;
	out[GROUP_ENABLED] = page->time_enabled + since;
	out[GROUP_RUNNING] = page->time_running + since;
	out[GROUP_VALUES] =
		(uint64_t)page->offset + extend_sign(read_counter(index - 1), page->pmc_width);
	emit_compiler_barrier();
	return !(seq & 1) && shared->lock == seq;
}

/* Reads the value of another event. */
static inline __attribute__((always_inline)) bool
read_user_member(const struct perf_event_mmap_page *page, uint64_t *out)
{
	event_page *shared = page;
	uint32_t seq = shared->lock, index;

	emit_compiler_barrier();
	index = page->index;
	if (!index || !page->cap_user_rdpmc)
		return false;
	*out = (uint64_t)page->offset + extend_sign(read_counter(index - 1), page->pmc_width);
	emit_compiler_barrier();
	return !(seq & 1) && shared->lock == seq;
}

/* Reads @g, the only group of the round of @t, to @words, and the clock. */
static inline __attribute__((always_inline)) bool
read_user_group(const struct thread *t, const struct group *g, uint64_t *words, uint64_t *clock)
{
	const struct perf_event_mmap_page *const *page =
		(const struct perf_event_mmap_page *const *)t->pages + g->first_fd;
	uint64_t n = g->n;

	if (!read_user_leader(*page, words, clock))
		return false;
	words[GROUP_NR] = n;
	for (const uint64_t *last = words + GROUP_VALUES + n - 1; words + GROUP_VALUES < last;)
		if (!read_user_member(*++page, ++words + GROUP_VALUES))
			return false;
	return true;
}

#else

static inline uint64_t read_user_clock(const void *page)
{
	(void)page;
	return 0;
}

static inline bool read_user_group(const struct thread *t, const struct group *g, uint64_t *words,
                                   uint64_t *clock)
{
	(void)t;
	(void)g;
	(void)words;
	(void)clock;
	return false;
}

#endif

#endif
