/* SPDX-License-Identifier: MIT */
/* Intel's layouts behind libpfm4's names: each bit of PERFEVTSEL, second words, how masks go together, boxes of the uncore. */
#include "libpfm4.h"
#include <perfmon/pfmlib.h>

static const char *const INACTIVE[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };

static int encode(const char *text, int plm, struct l4_code *c)
{
	struct l4_query q;
	int rc = l4_parse(text, PFM_OS_NONE, &q);

	*c = (struct l4_code){ 0 };
	if (rc)
		return rc;
	return q.ev.encoder == L4_NHM_UNC  ? l4_encode_nhm_unc(&q, plm, c)
	       : q.ev.encoder == L4_EP_UNC ? l4_encode_ep_unc(&q, plm, c)
	                                   : l4_encode_core(&q, plm, c);
}

static void word_is(const char *text, int plm, uint64_t want)
{
	struct l4_code c;
	int rc = encode(text, plm, &c);

	if (rc || c.word[0] != want)
		fail_msg("%s: %d, %llx", text, rc, (unsigned long long)c.word[0]);
}

static void refuses(const char *text, int want)
{
	struct l4_code c;
	int rc = encode(text, PFM_PLM3, &c);

	if (rc != want)
		fail_msg("%s: %d, not %d", text, rc, want);
}

enum { K = PFM_PLM0,
       U = PFM_PLM3 };

static void selects_of_cores(void **state)
{
	(void)state;
	word_is("skx::UNHALTED_CORE_CYCLES", K | U, 0x53003c);
	word_is("skx::UNHALTED_CORE_CYCLES", U, 0x51003c);
	word_is("skx::UNHALTED_CORE_CYCLES", K, 0x52003c);
	word_is("skx::UNHALTED_CORE_CYCLES", PFM_PLMH, 0x50003c);
	word_is("skx::UNHALTED_CORE_CYCLES:k", U, 0x52003c); /* what is named is all */
	word_is("skx::UNHALTED_CORE_CYCLES:k=0", U, 0x50003c);
	refuses("skx::UNHALTED_CORE_CYCLES:e", PFM_ERR_ATTR); /* needs a counter mask */
	word_is("skx::UNHALTED_CORE_CYCLES:e:c=1", U, 0x155003c);
	word_is("skx::UNHALTED_CORE_CYCLES:i", U, 0xd1003c);
	word_is("skx::UNHALTED_CORE_CYCLES:t", U, 0x71003c);
	word_is("skx::UNHALTED_CORE_CYCLES:c=255", U, 0xff51003c);
	word_is("skx::UNHALTED_CORE_CYCLES:c=1:i", U, 0x1d1003c);
	word_is("skx::UNHALTED_CORE_CYCLES:intx", U, 0x10051003c);
	word_is("skx::UNHALTED_CORE_CYCLES:intxcp", U, 0x20051003c);
	refuses("skx::UNHALTED_CORE_CYCLES:c=256", PFM_ERR_ATTR_VAL);
}

static void masks_of_cores(void **state)
{
	struct l4_query q;
	struct l4_code c;

	(void)state;
	word_is("skx::L2_RQSTS:DEMAND_DATA_RD_MISS", U, 0x512124);
	word_is("skx::L2_RQSTS:RFO_MISS", U, 0x512224); /* which stands for another one */
	word_is("skx::L2_RQSTS:0x2f", U, 0x512f24);
	word_is("skx::L2_RQSTS:0xff", U, 0x51ff24);
	refuses("skx::L2_RQSTS:0x100", PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:DEMAND_DATA_RD_MISS:DEMAND_DATA_RD_HIT", PFM_ERR_FEATCOMB);
	assert_int_equal(l4_parse("skx::L2_RQSTS:DEMAND_DATA_RD_MISS:c=2", PFM_OS_NONE, &q), PFM_SUCCESS);
	assert_int_equal(l4_encode_core(&q, U, &c), PFM_SUCCESS);
	assert_true(c.n == 1 && l4_has(c.masks, q.a[0].number) && !l4_has(c.by_default, q.a[0].number) && c.value[4] == 2 && c.value[1] == 1);
	assert_true(c.value[0] == 0 && !c.raw && !c.no_mods);
}

static void second_words(void **state)
{
	struct l4_code c;

	(void)state;
	assert_int_equal(encode("skx::FRONTEND_RETIRED:DSB_MISS", U, &c), PFM_SUCCESS);
	assert_true(c.n == 2 && c.word[0] == 0x5101c6 && c.word[1] == 0x11);
	assert_int_equal(encode("skx::OFFCORE_RESPONSE_0:0x3fffffffff", U, &c), PFM_SUCCESS);
	assert_true(c.n == 2 && c.word[0] == 0x5101b7 && c.word[1] == 0x3fffffffff);
	refuses("skx::OFFCORE_RESPONSE_0:0x4000000000", PFM_ERR_ATTR);
	assert_int_equal(encode("skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:ANY_RESPONSE", U, &c), PFM_SUCCESS);
	assert_true(c.n == 2 && c.word[1] == 0x10003);
	assert_int_equal(encode("skx::MEM_TRANS_RETIRED:LOAD_LATENCY", U, &c), PFM_SUCCESS);
	assert_true(c.n == 2 && c.word[0] == 0x5101cd && c.word[1] == 3 && (c.used >> 6 & 1));
	assert_int_equal(encode("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65535", U, &c), PFM_SUCCESS);
	assert_true(c.word[1] == 65535 && c.value[6] == 65535);
	refuses("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=0", PFM_ERR_ATTR_VAL);
	refuses("skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=65536", PFM_ERR_ATTR_VAL);
}

/* The number of an event of @pmu without masks whose modifiers are those of @mods, as a text. */
static bool plain_event(const char *pmu, uint32_t mods, char *text, size_t len, uint64_t *code)
{
	uint32_t unit = l4_number_of(pmu);
	struct l4_event ev;

	for (uint32_t pos = 0; pos < l4_event_end(unit); pos++)
		if (l4_event_at(unit, pos, &ev) && ev.row->n_masks == 0 && (ev.row->mods & mods) == mods && !ev.row->equiv && !ev.row->req) {
			snprintf(text, len, "%s::%s", pmu, l4_event_name(&ev));
			*code = ev.row->code;
			return true;
		}
	return false;
}

/* What each modifier adds to the word of an event. */
static void bits_of(const char *pmu, uint32_t mods, const char *const *texts, const uint64_t *bits)
{
	char text[128], more[160];
	struct l4_code plain, c;
	uint64_t code = 0;

	assert_true(plain_event(pmu, mods, text, sizeof(text), &code));
	assert_int_equal(encode(text, U, &plain), PFM_SUCCESS);
	assert_true((plain.word[0] & 0xff) == (code & 0xff));
	for (; *texts; texts++, bits++) {
		snprintf(more, sizeof(more), "%s:%s", text, *texts);
		assert_int_equal(encode(more, U, &c), PFM_SUCCESS);
		if ((c.word[0] ^ plain.word[0]) != *bits)
			fail_msg("%s: %llx", more, (unsigned long long)c.word[0]);
	}
	snprintf(more, sizeof(more), "%s:%s", text, mods & 4 && texts[-1][0] == 't' ? "t=256" : "c=256");
	assert_true(encode(more, U, &c) < 0);
}

static void boxes(void **state)
{
	static const char *const nehalem[] = { "e", "i", "c=255", "o", NULL }, *const cha[] = { "e", "i", "t=5", NULL };
	static const uint64_t nehalem_bits[] = { 1 << 18, 1 << 23, 0xffull << 24, 1 << 17 }, cha_bits[] = { 1 << 18, 1 << 23, 5 << 24 };
	char text[128];
	struct l4_code c;
	uint64_t code;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", INACTIVE);
	bits_of("nhm_unc", 15, nehalem, nehalem_bits);
	assert_true(plain_event("nhm_unc", 15, text, sizeof(text), &code));
	assert_int_equal(encode(text, 0, &c), PFM_SUCCESS);
	assert_true(c.n == 1 && c.word[0] == (code | 0x500000)); /* no levels */
	if (plain_event("skx_unc_cha0", 7, text, sizeof(text), &code))
		bits_of("skx_unc_cha0", 7, cha, cha_bits);
	l4_end();
}

/* Every event and every mask of Skylake by itself: what it says is in the word, and nothing else. */
static void every_mask(void **state)
{
	uint32_t unit = l4_number_of("skx");
	unsigned n = 0;

	(void)state;
	for (uint32_t pos = 0; pos < l4_event_end(unit); pos++) {
		struct l4_event ev;

		if (!l4_event_at(unit, pos, &ev) || ev.row->equiv || (ev.row->flags & (F_OFFCORE | F_FRONTEND)))
			continue;
		for (unsigned i = 0; i < ev.row->n_masks; i++) {
			const struct l4_mask *m = &l4_masks(ev.row)[i];
			struct l4_code c;
			char text[192];

			if (!l4_mask_valid(&ev, m) || m->equiv || (m->flags & (F_CODE_OVERRIDE | F_WORDS)) || ev.row->groups != 1)
				continue;
			snprintf(text, sizeof(text), "skx::%s:%s", l4_event_name(&ev), l4_text(m->name));
			if (encode(text, U, &c))
				continue;
			if (c.word[0] != (0x510000 | ev.row->code | m->code))
				fail_msg("%s: %llx", text, (unsigned long long)c.word[0]);
			n++;
		}
	}
	assert_true(n > 100);
}

UNIT(libpfm4_intel, cmocka_unit_test(selects_of_cores), cmocka_unit_test(masks_of_cores), cmocka_unit_test(second_words),
     cmocka_unit_test(boxes), cmocka_unit_test(every_mask));
