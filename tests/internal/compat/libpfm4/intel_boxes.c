/* SPDX-License-Identifier: MIT */
/* Boxes of Intel's uncores: what each modifier adds to the word. */
#include "libpfm4_codes.h"

/* The number of an event of @pmu without masks whose modifiers are those of @mods, as a text. */
static bool plain_event(const char *pmu, uint32_t mods, char *text, size_t len, uint64_t *code)
{
	uint32_t unit = l4_number_of(pmu);
	struct l4_event ev;

	for (uint32_t pos = 0; pos < l4_get_event_end(unit); pos++)
		if (l4_get_event(unit, pos, &ev) && ev.row->n_masks == 0 &&
		    (ev.row->modifiers & mods) == mods && !ev.row->alias_target &&
		    !ev.row->required_modifiers) {
			snprintf(text, len, "%s::%s", pmu, l4_get_event_name(&ev));
			*code = ev.row->code;
			return true;
		}
	return false;
}

/* Bits that each modifier adds to the word of an event. */
static void bits_of(const char *pmu, uint32_t mods, const char *const *texts, const uint64_t *bits)
{
	char text[128], more[160];
	struct l4_code plain, c;
	uint64_t code = 0;

	assert_true(plain_event(pmu, mods, text, sizeof(text), &code));
	assert_int_equal(encode(text, U, &plain), PFM_SUCCESS);
	assert_true((plain.words[0] & 0xff) == (code & 0xff));
	for (; *texts; texts++, bits++) {
		snprintf(more, sizeof(more), "%s:%s", text, *texts);
		assert_int_equal(encode(more, U, &c), PFM_SUCCESS);
		if ((c.words[0] ^ plain.words[0]) != *bits)
			fail_msg("%s: %llx", more, (unsigned long long)c.words[0]);
	}
	snprintf(more, sizeof(more), "%s:%s", text,
	         mods & 4 && texts[-1][0] == 't' ? "t=256" : "c=256");
	assert_true(encode(more, U, &c) < 0);
}

static void words_of_boxes_have_no_levels(void **state)
{
	static const char *const nehalem[] = { "e", "i", "c=255", "o", NULL }, *const cha[] = {
		"e", "i", "t=5", NULL
	};
	static const uint64_t nehalem_bits[] = { 1 << 18, 1 << 23, 0xffull << 24, 1 << 17 },
			      cha_bits[] = { 1 << 18, 1 << 23, 5 << 24 };
	char text[128];
	struct l4_code c;
	uint64_t code;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", INACTIVE);
	bits_of("nhm_unc", 15, nehalem, nehalem_bits);
	assert_true(plain_event("nhm_unc", 15, text, sizeof(text), &code));
	assert_int_equal(encode(text, 0, &c), PFM_SUCCESS);
	assert_true(c.n_words == 1 && c.words[0] == (code | 0x500000)); /* no levels */
	if (plain_event("skx_unc_cha0", 7, text, sizeof(text), &code))
		bits_of("skx_unc_cha0", 7, cha, cha_bits);
	l4_end_case();
}

UNIT(compat_libpfm4_intel_boxes, cmocka_unit_test(words_of_boxes_have_no_levels));
