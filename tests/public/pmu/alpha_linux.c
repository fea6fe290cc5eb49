/* SPDX-License-Identifier: MIT */
/* Linux on Alpha: event numbers of the driver, pairs of events that it accepts, and values that it
 * loads. */
#include "units.h"
#include <errno.h>
#include <stdbool.h>
#include <perfmon/alpha.h>

/* Event numbers of the driver. */
enum { CYCLES = 1, INSTRUCTIONS, MISSES, REPLAYS };

static const struct {
	uint64_t config;
	uint32_t type;
	int answer; /* an event number, or an errno */
} EVENTS[] = {
	{ 0, 0, CYCLES },           { 1, 0, INSTRUCTIONS },
	{ 2, 0, -EPERM },           { 3, 0, MISSES },
	{ 4, 0, -EINVAL },          { UINT64_MAX, 0, -EINVAL },
	{ 0, 1, -ENOENT },          { 1, 2, -ENOENT },
	{ 0, 3, -EOPNOTSUPP },      { 0, 4, -EINVAL },
	{ 1, 4, CYCLES },           { 2, 4, INSTRUCTIONS },
	{ 3, 4, MISSES },           { 4, 4, REPLAYS },
	{ 5, 4, -EINVAL },          { UINT64_C(1) << 32 | 1, 4, -EINVAL },
	{ 0, 5, -ENOENT },          { 1, 6, -ENOENT },
	{ 1, UINT32_MAX, -ENOENT },
};

static void single_events_of_linux(void **state)
{
	static const struct {
		unsigned counter;
		uint64_t mode;
	} alone[] = { [CYCLES] = { 1, PF67_RET_INST_AND_CYCLES },
		      [INSTRUCTIONS] = { 0, PF67_RET_INST_AND_CYCLES },
		      [MISSES] = { 1, PF67_RET_INST_AND_BCACHE_MISS },
		      [REPLAYS] = { 1, PF67_CYCLES_AND_REPLAY_TRAPS } };

	(void)state;
	for (size_t i = 0; i < COUNT(EVENTS); i++) {
		unsigned raw = 77, counter = 77;
		uint64_t mode = 77;
		int got = pfm_alpha_linux_event(EVENTS[i].type, EVENTS[i].config, &raw, &counter,
		                                &mode);

		assert_int_equal(got, EVENTS[i].answer < 0 ? EVENTS[i].answer : 0);
		assert_int_equal(
			pfm_alpha_linux_event(EVENTS[i].type, EVENTS[i].config, NULL, NULL, NULL),
			got);
		if (got < 0)
			assert_true(raw == 77 && counter == 77 && mode == 77);
		else
			assert_true(raw == (unsigned)EVENTS[i].answer &&
			            counter == alone[raw].counter && mode == alone[raw].mode);
	}
}

/* The driver accepts three pairs in either order, and each event has one possible counter. */
static void event_pairs_of_linux(void **state)
{
	unsigned good = 0;

	(void)state;
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = 0; b < 6; b++) {
			bool swapped = (a == CYCLES && b == INSTRUCTIONS) ||
			               (a == MISSES && b == INSTRUCTIONS) ||
			               (a == REPLAYS && b == CYCLES);
			bool straight = (b == CYCLES && a == INSTRUCTIONS) ||
			                (b == MISSES && a == INSTRUCTIONS) ||
			                (b == REPLAYS && a == CYCLES);
			unsigned counter[2] = { 77, 77 };
			uint64_t mode = 77;
			int got = pfm_alpha_linux_pair((unsigned[]){ a, b }, counter, &mode);

			assert_int_equal(got, swapped || straight ? 0 : -EINVAL);
			assert_int_equal(pfm_alpha_linux_pair((unsigned[]){ a, b }, NULL, NULL),
			                 got);
			if (got) {
				assert_true(counter[0] == 77 && counter[1] == 77 && mode == 77);
				continue;
			}
			good++;
			assert_true(counter[0] == (swapped ? 1 : 0) &&
			            counter[1] == (swapped ? 0 : 1));
			assert_int_equal(
				mode, a == MISSES || b == MISSES     ? PF67_RET_INST_AND_BCACHE_MISS
				      : a == REPLAYS || b == REPLAYS ? PF67_CYCLES_AND_REPLAY_TRAPS
								     : PF67_RET_INST_AND_CYCLES);
		}
	assert_int_equal(good, 6);
	assert_int_equal(pfm_alpha_linux_pair(NULL, NULL, NULL), -EINVAL);
}

/* The counter overflows after the period. Periods are limited to 2^20 - 1, and to at least 16 on
 * counter 0 and 4 on counter 1. */
static void start_values_for_periods(void **state)
{
	static const uint64_t periods[] = { 0,  1,  3,       4,       5,        15,
		                            16, 17, 0xffffe, 0xfffff, 0x100000, UINT64_MAX };

	(void)state;
	for (unsigned counter = 0; counter < 2; counter++)
		for (size_t i = 0; i < COUNT(periods); i++) {
			pfmlib_alpha_call_t call = { 77, 77, 77 };
			uint64_t least = counter ? 4 : 16,
				 left = periods[i] > 0xfffff ? 0xfffff
			                : periods[i] < least ? least
			                                     : periods[i],
				 values[2];
			unsigned select;

			assert_int_equal(pfm_alpha_linux_write(counter, periods[i], &call),
			                 PFMLIB_SUCCESS);
			assert_true(call.function == 6 && call.reserved == 0);
			assert_int_equal(pfm_alpha_split_counter_word(PFMLIB_ALPHA_EV67_PMU,
			                                              call.argument, &select, NULL,
			                                              values),
			                 PFMLIB_SUCCESS);
			assert_int_equal(select, 1u << counter);
			assert_true(values[counter] == 0x100000 - left && values[!counter] == 0);
		}
	assert_int_equal(pfm_alpha_linux_write(2, 100, &(pfmlib_alpha_call_t){ 0 }),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_alpha_linux_write(0, 100, NULL), PFMLIB_ERR_INVAL);
}

UNIT(pmu_alpha_linux, cmocka_unit_test(single_events_of_linux),
     cmocka_unit_test(event_pairs_of_linux), cmocka_unit_test(start_values_for_periods));
