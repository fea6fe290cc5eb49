/* SPDX-License-Identifier: MIT */
/* Reading the groups of a thread from user space, inline in begin and end. Where one event cannot
 * be read so just now, the kernel is asked for all. */
#ifndef PERFMON_REGION_READING_H
#define PERFMON_REGION_READING_H

#include "region/region.h"
#include "session/user_read.h"

#ifdef HAS_USER_READ

typedef const volatile struct perf_event_mmap_page event_page;

/* The clock of all processors, in nanoseconds. */
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

/* Reads all groups of the round of @t, of which it has one at least, to @out, and the clock. */
static inline __attribute__((always_inline)) bool
read_user_groups(const struct thread *t, const struct round *r, uint64_t *out, uint64_t *clock)
{
	const struct group *g = r->groups, *end = g + r->n;

	do {
		void *const *pages = t->pages + g->first_fd;
		uint64_t *words = out + g->word;

		if (!read_user_leader(pages[0], words, clock))
			return false;
		words[GROUP_NR] = g->n;
		for (unsigned i = 1; i < g->n; i++)
			if (!read_user_member(pages[i], words + GROUP_VALUES + i))
				return false;
	} while (++g < end);
	return true;
}

#else

static inline uint64_t read_user_clock(const void *page)
{
	(void)page;
	return 0;
}

static inline __attribute__((always_inline)) bool
read_user_groups(const struct thread *t, const struct round *r, uint64_t *out, uint64_t *clock)
{
	(void)t;
	(void)r;
	(void)out;
	(void)clock;
	return false;
}

#endif

#endif
