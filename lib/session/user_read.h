/* SPDX-License-Identifier: MIT */
/* Reading an event of the calling thread without entering the kernel: the kernel keeps a page that
 * says which hardware counter holds the event just now and what to add, under a sequence count.
 * Inline, because callers on a hot path execute few instructions beside these. */
#ifndef PERFMON_SESSION_USER_READ_H
#define PERFMON_SESSION_USER_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* A test that includes this file has a counter, a clock and a kernel of its own. */
#ifdef TEST_PERF_PAGE

#define HAS_USER_READ 1
static uint64_t read_counter(uint32_t n);
static uint64_t read_clock(void);
static void emit_compiler_barrier(void);

#elif defined(__x86_64__) || defined(__i386__)

#define HAS_USER_READ 1

static inline uint64_t read_counter(uint32_t n)
{
	uint32_t lo, hi;

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(n));
	return (uint64_t)hi << 32 | lo;
}

static inline uint64_t read_clock(void)
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
static inline uint64_t read_counter(uint32_t n)
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

static inline uint64_t read_clock(void)
{
	uint64_t v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
}

#endif

#ifdef HAS_USER_READ

#ifndef TEST_PERF_PAGE
static inline void emit_compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

/* The processor's clock in nanoseconds, by the page's factors. */
static inline uint64_t read_page_clock(const struct perf_event_mmap_page *pc)
{
	uint64_t cyc = read_clock(), quot, rem;

	if (pc->cap_user_time_short)
		cyc = pc->time_cycles + ((cyc - pc->time_cycles) & pc->time_mask);
	quot = cyc >> pc->time_shift;
	rem = cyc & (((uint64_t)1 << pc->time_shift) - 1);
	return quot * pc->time_mult + (rem * pc->time_mult >> pc->time_shift);
}

/* The @width low bits of @v as a signed number; all of them for 0. */
static inline uint64_t extend_sign(uint64_t v, unsigned width)
{
	unsigned shift = -width & 63;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

#endif

#endif
