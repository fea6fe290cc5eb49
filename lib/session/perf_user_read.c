/* SPDX-License-Identifier: MIT */
/* Reads an event of the calling thread from its page, which the kernel may write meanwhile. */
#include "session/perf_event_internal.h"
#include "session/user_read.h"

#ifdef HAS_USER_READ

#define MAX_PAGE_READ_TRIES 16 /* then the kernel is asked */

/* Reads the page once, which the kernel may change meanwhile. Returns false if the page cannot
 * tell. */
static bool read_page_once(const struct perf_event_mmap_page *pc, uint64_t out[3])
{
	uint32_t index = pc->index;
	uint64_t since = 0;

	if (!pc->cap_user_rdpmc || index == 0)
		return false; /* not on a counter that can be read from here */
	out[1] = pc->time_enabled;
	out[2] = pc->time_running;
	if (pc->cap_user_time)
		since = pc->time_offset + read_page_clock(pc);
	else if (out[1] != out[2])
		return false; /* shared, and for how long cannot be told without a clock */
	out[1] += since;
	out[2] += since;
	out[0] = (uint64_t)pc->offset + extend_sign(read_counter(index - 1), pc->pmc_width);
	return true;
}

bool pfmi_perf_read_user_page(const void *page, uint64_t out[3])
{
	const struct perf_event_mmap_page *pc = page;
	const volatile __u32 *lock = &pc->lock;

	/* The kernel writes the page where the reader runs, so that at most once in a while a
	 * second try is needed. Another thread that resets the counter may write it at the same
	 * time: an odd number shows that. */
	for (unsigned tries = 0; tries < MAX_PAGE_READ_TRIES; tries++) {
		uint32_t seq = *lock;
		bool known;

		if (seq & 1)
			return false;
		emit_compiler_barrier();
		known = read_page_once(pc, out);
		emit_compiler_barrier();
		if (*lock == seq)
			return known;
	}
	return false;
}

#else

bool pfmi_perf_read_user_page(const void *page, uint64_t out[3])
{
	(void)page;
	(void)out;
	return false;
}

#endif
