/* SPDX-License-Identifier: MIT */
/* Reads an event of the calling thread from its page, which the kernel may change at any time. */
#include "session/perf_event_internal.h"
#include "session/user_read.h"

#ifdef HAS_USER_READ

#define MAX_PAGE_READ_TRIES 16 /* after these the caller reads by a system call */

/* Reads the page once. Returns false if the page has no value, or has changed meanwhile. */
static bool read_page_once(const struct perf_event_mmap_page *pc, uint64_t out[3])
{
	uint32_t index = pc->index;
	uint64_t since = 0;

	if (!pc->cap_user_rdpmc || index == 0)
		return false; /* not on a counter that user code can read */
	out[1] = pc->time_enabled;
	out[2] = pc->time_running;
	if (pc->cap_user_time)
		since = pc->time_offset + read_page_clock(pc);
	else if (out[1] != out[2])
		return false; /* the counter is shared, and without a clock the time of its use is
		                 unknown */
	out[1] += since;
	out[2] += since;
	out[0] = (uint64_t)pc->offset + extend_sign(read_counter(index - 1), pc->pmc_width);
	return true;
}

bool pfmi_perf_read_user_page(const void *page, uint64_t out[3])
{
	const struct perf_event_mmap_page *pc = page;
	const volatile __u32 *lock = &pc->lock;

	/* The kernel changes the page on the CPU where the reader runs, so that a second attempt is
	 * rarely needed. Another thread that resets the counter may change it at the same time,
	 * which makes the sequence number odd. */
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
