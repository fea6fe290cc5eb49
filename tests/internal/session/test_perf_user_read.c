/* SPDX-License-Identifier: MIT */
/* Counters read from user space, on a model of the kernel's page: every number of few bits, every
 * way in which a writer can come between the reader's steps, and a writer that never rests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define TEST_PERF_PAGE
#include "../lib/session/perf_user_read.c"

/* ---- the model ------------------------------------------------------------------------------- */

static struct {
	struct perf_event_mmap_page page;
	volatile uint64_t counters[4], clock;
} world;
static void (*between)(void); /* what happens between two steps of the reader */
static unsigned asked[4], strange;

static uint64_t read_counter(uint32_t n)
{
	if (between)
		between();
	if (n >= 4) {
		strange++;
		return 0;
	}
	asked[n]++;
	return world.counters[n];
}

static uint64_t read_clock(void)
{
	if (between)
		between();
	return world.clock;
}

static void emit_compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
	if (between)
		between();
}

static void begin(void)
{
	memset(&world, 0, sizeof(world));
	memset(asked, 0, sizeof(asked));
	strange = 0;
	between = NULL;
	world.page.cap_user_rdpmc = 1;
	world.page.index = 1;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A counter of @width bits starts below zero, so that it overflows in time: what it holds is a
 * signed number. */
static void every_number_of_few_bits(void **state)
{
	uint64_t out[3];

	(void)state;
	begin();
	for (unsigned width = 1; width <= 12; width++)
		for (uint64_t v = 0; v < (uint64_t)4 << width; v++) {
			int64_t low = (int64_t)(v % ((uint64_t)1 << width)),
				half = (int64_t)1 << (width - 1);

			world.page.pmc_width = (uint16_t)width;
			world.page.offset = 1000000;
			world.counters[0] = v;
			assert_true(pfmi_perf_read_user_page(&world.page, out));
			assert_int_equal(out[0], 1000000 + (low < half ? low : low - 2 * half));
		}
	for (unsigned width = 0; width <= 128; width += 64) {
		world.page.pmc_width = (uint16_t)width;
		world.counters[0] = UINT64_MAX - 4;
		assert_true(pfmi_perf_read_user_page(&world.page, out));
		assert_int_equal(out[0], 999995);
	}
}

/* Time since @from by the whole product, which few bits leave room for. */
static uint64_t nanoseconds(uint64_t cycles)
{
	return (cycles * world.page.time_mult) >> world.page.time_shift;
}

static void expect_time(uint64_t cycles)
{
	uint64_t out[3];

	world.page.time_enabled = 900;
	world.page.time_running = 400;
	world.page.time_offset = 77;
	assert_true(pfmi_perf_read_user_page(&world.page, out));
	assert_int_equal(out[1], 900 + 77 + nanoseconds(cycles));
	assert_int_equal(out[2], 400 + 77 + nanoseconds(cycles));
}

static void every_clock_of_few_bits(void **state)
{
	(void)state;
	begin();
	world.page.cap_user_time = 1;
	for (unsigned shift = 0; shift <= 7; shift++)
		for (uint32_t mult = 0; mult < 48; mult++)
			for (world.clock = 0; world.clock < 512; world.clock++) {
				world.page.time_shift = (uint16_t)shift;
				world.page.time_mult = mult;
				expect_time(world.clock);
			}
	/* One of so few bits that it goes round: since the page was written it has done so at most
	 * once. */
	world.page.cap_user_time_short = 1;
	world.page.time_shift = 2;
	world.page.time_mult = 13;
	for (unsigned bits = 1; bits <= 6; bits++)
		for (uint64_t written = 0; written < 256; written++)
			for (uint64_t since = 0; since < (uint64_t)1 << bits; since++) {
				world.page.time_mask = ((uint64_t)1 << bits) - 1;
				world.page.time_cycles = written;
				world.clock = (written + since) & world.page.time_mask;
				expect_time(written + since);
			}
}

static void what_the_page_cannot_tell(void **state)
{
	uint64_t out[3];

	(void)state;
	begin();
	assert_true(pfmi_perf_read_user_page(&world.page, out));
	assert_int_equal(asked[0], 1);
	world.page.index = 0; /* on no counter just now */
	assert_false(pfmi_perf_read_user_page(&world.page, out));
	world.page.index = 4;
	assert_true(pfmi_perf_read_user_page(&world.page, out));
	assert_int_equal(asked[3], 1);
	world.page.cap_user_rdpmc = 0;
	assert_false(pfmi_perf_read_user_page(&world.page, out));
	world.page.cap_user_rdpmc = 1;
	world.page.time_enabled = 2; /* the counter was shared, and the page has no clock */
	assert_false(pfmi_perf_read_user_page(&world.page, out));
	assert_int_equal(asked[0] + asked[3], 2);
}

/* ---- a writer between the reader's steps ----------------------------------------------------- */

#define STATES 4
#define STEPS  9 /* of the way from one state to the next, the first and the last on the lock */
#define LAST   ((STATES - 1) * STEPS) /* steps of the writer */

/* The event moves from counter to counter. No piece of one state fits into another. */
static const struct held {
	uint32_t index;
	uint64_t counter, count, clock, enabled;
} wholes[STATES] = {
	{ 1, 17, 1000, 50, 10000 },
	{ 3, 170, 2001, 600, 20300 },
	{ 2, 1700, 4007, 7000, 47000 },
	{ 1, 17000, 8123, 80000, 99000 },
};

static unsigned at; /* steps that the writer has made */

static void write_step(void)
{
	struct perf_event_mmap_page *p = &world.page;
	const struct held *from = &wholes[at / STEPS], *to = from + 1;

	switch (at++ % STEPS) {
	case 0: p->lock++; break;
	case 1: p->index = to->index; break;
	case 2: p->offset = (int64_t)(to->count - to->counter); break;
	case 3: p->time_enabled = to->enabled; break;
	case 4: p->time_running = to->enabled / 2; break;
	case 5: p->time_offset = (uint64_t)0 - to->clock; break;
	case 6: world.counters[to->index - 1] = to->counter; break;
	case 7: world.clock = to->clock; break;
	default: p->lock++; break;
	}
}

static unsigned hooks[4], n_hooks; /* at the reader's n-th step the writer is so far */

static void write_to_hook(void)
{
	unsigned until = n_hooks < 4 ? hooks[n_hooks] : LAST;

	n_hooks++;
	while (at < until)
		write_step();
}

static void in_state_0(void)
{
	begin();
	world.page.cap_user_time = 1;
	world.page.time_mult = 1;
	world.page.index = wholes[0].index;
	world.page.offset = (int64_t)(wholes[0].count - wholes[0].counter);
	world.page.time_enabled = wholes[0].enabled;
	world.page.time_running = wholes[0].enabled / 2;
	world.page.time_offset = (uint64_t)0 - wholes[0].clock;
	world.counters[0] = wholes[0].counter;
	world.clock = wholes[0].clock;
	at = n_hooks = 0;
}

/* True if the values are those of one state, which had not ended before the read began. */
static bool is_a_state(const uint64_t out[3], unsigned first)
{
	for (unsigned i = first; i < STATES; i++)
		if (out[0] == wholes[i].count && out[1] == wholes[i].enabled &&
		    out[2] == wholes[i].enabled / 2)
			return true;
	return false;
}

/* The reader begins when the writer has made @start steps. */
static bool read_beside(unsigned start)
{
	uint64_t out[3] = { 0 };
	bool known;

	in_state_0();
	while (at < start)
		write_step();
	between = write_to_hook;
	known = pfmi_perf_read_user_page(&world.page, out);
	if (known && !is_a_state(out, start / STEPS))
		fail_msg("torn: %llu %llu %llu, writer at %u, then %u %u %u %u",
		         (unsigned long long)out[0], (unsigned long long)out[1],
		         (unsigned long long)out[2], start, hooks[0], hooks[1], hooks[2], hooks[3]);
	assert_int_equal(strange, 0);
	return known;
}

static void every_way_to_come_between(void **state)
{
	unsigned long known = 0, asked_kernel = 0;

	(void)state;
	for (unsigned start = 0; start <= LAST; start++)
		for (hooks[0] = start; hooks[0] <= LAST; hooks[0]++)
			for (hooks[1] = hooks[0]; hooks[1] <= LAST; hooks[1]++)
				for (hooks[2] = hooks[1]; hooks[2] <= LAST; hooks[2]++)
					for (hooks[3] = hooks[2]; hooks[3] <= LAST; hooks[3]++)
						*(read_beside(start) ? &known : &asked_kernel) += 1;
	assert_true(known > 0 && asked_kernel > 0);
	print_message("# %lu read, %lu left to the kernel\n", known, asked_kernel);
}

static unsigned written;

static void write_whole(void)
{
	world.page.lock += 2;
	written++;
}

static void a_writer_that_never_rests(void **state)
{
	uint64_t out[3];

	(void)state;
	begin();
	written = 0;
	between = write_whole;
	assert_false(pfmi_perf_read_user_page(&world.page, out));
	assert_in_range(written, 2, 1000);
}

/* ---- a thread -------------------------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define HAVE_THREAD                                                                                \
	1 /* stores are seen in their order, as they are by the kernel's reader on its own         \
	     processor */
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef HAVE_THREAD
#endif
#endif

#ifdef HAVE_THREAD

#define READS 300000

static volatile bool over;

static void write_now(uint64_t n)
{
	volatile struct perf_event_mmap_page *p = &world.page;
	uint64_t counter = n * 2654435761u % 100003;

	p->lock++;
	p->index = (uint32_t)(n % 4) + 1;
	p->offset = (int64_t)(3 * n - counter);
	p->time_enabled = p->time_running = n;
	world.counters[n % 4] = counter;
	p->lock++;
}

static void *write_on(void *arg)
{
	(void)arg;
	for (uint64_t n = 1; !over; n++) {
		write_now(n);
		for (unsigned i = 0; i < n % 64; i++)
			__asm__ volatile("pause");
	}
	return NULL;
}

static void a_thread_that_writes(void **state)
{
	unsigned known = 0;
	uint64_t out[3];
	pthread_t thread;

	(void)state;
	begin();
	over = false;
	write_now(0);
	assert_int_equal(pthread_create(&thread, NULL, write_on, NULL), 0);
	for (unsigned i = 0; i < READS; i++)
		if (pfmi_perf_read_user_page(&world.page, out)) {
			known++;
			if (out[0] != 3 * out[1] || out[2] != out[1]) {
				over = true;
				fail_msg("torn: %llu at %llu", (unsigned long long)out[0],
				         (unsigned long long)out[1]);
			}
		}
	over = true;
	pthread_join(thread, NULL);
	assert_int_equal(strange, 0);
	assert_true(known > 0);
	print_message("# %u of %u read\n", known, READS);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_of_few_bits),
		cmocka_unit_test(every_clock_of_few_bits),
		cmocka_unit_test(what_the_page_cannot_tell),
		cmocka_unit_test(every_way_to_come_between),
		cmocka_unit_test(a_writer_that_never_rests),
#ifdef HAVE_THREAD
		cmocka_unit_test(a_thread_that_writes),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
