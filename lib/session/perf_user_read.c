/* SPDX-License-Identifier: MIT */
/* Reading a counter of the own thread without entering the kernel: the kernel keeps a page that
 * says which hardware counter holds the event just now and what to add, under a sequence count. */
#include "session/perf_event_internal.h"

/* the test that includes this file has a counter, a clock and a kernel of its own */
#ifdef TEST_PERF_PAGE

#define HAS_USER_READ 1
static uint64_t read_counter(uint32_t n);
static uint64_t read_clock(void);
static void emit_compiler_barrier(void);

#elif defined(__x86_64__) || defined(__i386__)

#define HAS_USER_READ 1

static uint64_t read_counter(uint32_t n)
{
	uint32_t lo, hi;

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(n));
	return (uint64_t)hi << 32 | lo;
}

static uint64_t read_clock(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

#elif defined(__aarch64__)

#define HAS_USER_READ 1

/* The number of the register is part of the instruction. */
#define CASE(N)                                                                                    \
	case N:                                                                                    \
		__asm__ volatile("mrs %0, pmevcntr" #N "_el0" : "=r"(v));                          \
		break;
static uint64_t read_counter(uint32_t n)
{
	uint64_t v = 0;

	__asm__ volatile("isb" ::: "memory");
	switch (n) {
		/* A row of macro calls is laid out anew each time. */
		/* clang-format off */
		CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10)
		CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) CASE(17) CASE(18) CASE(19) CASE(20)
		CASE(21) CASE(22) CASE(23) CASE(24) CASE(25) CASE(26) CASE(27) CASE(28) CASE(29) CASE(30)
	default: __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
		/* clang-format on */
	}
	return v;
}
#undef CASE

static uint64_t read_clock(void)
{
	uint64_t v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
}

#endif

#ifdef HAS_USER_READ

#ifndef TEST_PERF_PAGE
static void emit_compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

/* Nanoseconds since the kernel last wrote the page. */
static uint64_t compute_time_since_update(const struct perf_event_mmap_page *pc)
{
	uint64_t cyc = read_clock(), quot, rem;

	if (pc->cap_user_time_short)
		cyc = pc->time_cycles + ((cyc - pc->time_cycles) & pc->time_mask);
	quot = cyc >> pc->time_shift;
	rem = cyc & (((uint64_t)1 << pc->time_shift) - 1);
	return pc->time_offset + quot * pc->time_mult + (rem * pc->time_mult >> pc->time_shift);
}

static uint64_t extend_sign(uint64_t v, unsigned width)
{
	uint64_t top;

	if (width == 0 || width >= 64)
		return v;
	top = (uint64_t)1 << (width - 1);
	v &= (top << 1) - 1;
	return (v ^ top) - top;
}

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
		since = compute_time_since_update(pc);
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
