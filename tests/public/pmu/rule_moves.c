/* SPDX-License-Identifier: MIT */
/* Events that move to another part of a register: the bands of the power control unit, as Linux's
 * snbep_pcu_get_constraint() and snbep_pcu_alter_er() place them. */
#include "set_answers.h"

#define BAND0 "UNC_P_FREQ_BAND0_CYCLES:filter_band0="

static const struct set_answer answers[] = {
	{ "jkt_uncore_pcu", { BAND0 "10", BAND0 "20" }, FITS, { 0, 1 }, 0 },
	{ "hsx_uncore_pcu",
	  { BAND0 "10", BAND0 "20", BAND0 "30", BAND0 "40" },
	  FITS,
	  { 0, 1, 2, 3 },
	  0 },
	{ "ivt_uncore_pcu",
	  { BAND0 "10", "UNC_P_FREQ_BAND1_CYCLES:filter_band1=20", BAND0 "30", BAND0 "20" },
	  FITS,
	  { 0, 1, 2, 3 },
	  0 },
	{ "jkt_uncore_pcu",
	  { BAND0 "1", BAND0 "2", BAND0 "3", BAND0 "4", BAND0 "5" },
	  REFUSED,
	  { 0 },
	  0x1f },
};

static void bands_move_while_some_are_free(void **state)
{
	(void)state;
	check_answers(answers, COUNT(answers));
}

/* A second use of a band takes the next free one, or the one with its value: code and byte move. */
static void bands_move_within_their_register(void **state)
{
	const char *const events[] = { BAND0 "10", "UNC_P_FREQ_BAND1_CYCLES:filter_band1=20",
		                       BAND0 "30", BAND0 "20" };
	const uint64_t codes[] = { 0xb, 0xc, 0xd, 0xc },
		       filters[] = { 10, 20 << 8, 30 << 16, 20 << 8 };
	pfm_ctx_t *ctx = open_for("ivt_uncore_pcu");
	struct dispatched_set set = { 0 };

	(void)state;
	assert_int_equal(dispatch_set(ctx, events, 4, NULL, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, 8);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(set.pmcs[i].value, codes[i]);
		assert_int_equal(set.pmcs[4 + i].value, filters[i]);
	}
	pfm_close_context(ctx);
}

UNIT(pmu_rule_moves, cmocka_unit_test(bands_move_while_some_are_free),
     cmocka_unit_test(bands_move_within_their_register));
