/* SPDX-License-Identifier: MIT */
/* Unit masks of Intel's cores: alone, together, and as numbers. */
#include "libpfm4_codes.h"

static void masks_of_cores(void **state)
{
	struct l4_query q;
	struct l4_code c;

	(void)state;
	word_is("skx::L2_RQSTS:DEMAND_DATA_RD_MISS", U, 0x512124);
	word_is("skx::L2_RQSTS:RFO_MISS", U, 0x512224); /* an alias of another unit mask */
	word_is("skx::L2_RQSTS:0x2f", U, 0x512f24);
	word_is("skx::L2_RQSTS:0xff", U, 0x51ff24);
	refuses("skx::L2_RQSTS:0x100", PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:DEMAND_DATA_RD_MISS:DEMAND_DATA_RD_HIT", PFM_ERR_FEATCOMB);
	assert_int_equal(l4_parse_event("skx::L2_RQSTS:DEMAND_DATA_RD_MISS:c=2", PFM_OS_NONE, &q),
	                 PFM_SUCCESS);
	assert_int_equal(l4_encode_core(&q, U, &c), PFM_SUCCESS);
	assert_true(c.n_words == 1 && l4_has_bit(c.used_masks, q.attrs[0].number) &&
	            !l4_has_bit(c.default_masks, q.attrs[0].number) && c.modifier_values[4] == 2 &&
	            c.modifier_values[1] == 1);
	assert_true(c.modifier_values[0] == 0 && !c.has_raw_mask && !c.takes_no_modifiers);
}

/* Every event and every unit mask of Skylake by itself: the word has its bits and no others. */
static void each_mask_of_skylake_sets_its_own_bits_only(void **state)
{
	uint32_t unit = l4_number_of("skx");
	unsigned n = 0;

	(void)state;
	for (uint32_t pos = 0; pos < l4_get_event_end(unit); pos++) {
		struct l4_event ev;

		if (!l4_get_event(unit, pos, &ev) || ev.row->alias_target ||
		    (ev.row->flags & (ROW_HAS_OFFCORE | ROW_HAS_FRONTEND)))
			continue;
		for (unsigned i = 0; i < ev.row->n_masks; i++) {
			const struct l4_mask *m = &l4_get_row_masks(ev.row)[i];
			struct l4_code c;
			char text[192];

			if (!l4_has_mask(&ev, m) || m->alias_target ||
			    (m->flags & (MASK_OVERRIDES_CODE | MASK_PATCHES_WORDS)) ||
			    ev.row->n_groups != 1)
				continue;
			snprintf(text, sizeof(text), "skx::%s:%s", l4_get_event_name(&ev),
			         l4_get_text(m->name));
			if (encode(text, U, &c))
				continue;
			if (c.words[0] != (0x510000 | ev.row->code | m->code))
				fail_msg("%s: %llx", text, (unsigned long long)c.words[0]);
			n++;
		}
	}
	assert_true(n > 100);
}

UNIT(compat_libpfm4_intel_masks, cmocka_unit_test(masks_of_cores),
     cmocka_unit_test(each_mask_of_skylake_sets_its_own_bits_only));
