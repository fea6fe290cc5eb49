/* SPDX-License-Identifier: MIT */
/* Pentium 4: two events of one pair of ESCRs use one ESCR each. A search through all placements
 * gives the expected result. */
#include "unit_tables.h"
#include <perfmon/types.h>
#include "pmu/pmu_internal.h"

/* The counters that use the second ESCR of a pair, from the manual's table of ESCRs. */
static bool has_upper_escr(unsigned counter)
{
	static const unsigned second[] = { 2, 3, 6, 7, 10, 11, 14, 15, 17 };

	for (size_t i = 0; i < COUNT(second); i++)
		if (second[i] == counter)
			return true;
	return false;
}

static uint64_t escr_of(const struct event *ev)
{
	return pfmi_pmu_get_key_value(ev, KEY_MSR, ANY_COUNTER);
}

/* Returns true if events @i and later have a placement, given the counters of the earlier ones. */
static bool can_place(const struct event *events, unsigned n, unsigned i, unsigned counter[])
{
	if (i == n)
		return true;
	for (unsigned c = 0; c < 18; c++) {
		bool free = pfmi_pmu_get_counter_mask(&events[i]) >> c & 1;

		for (unsigned k = 0; k < i; k++)
			free = free && counter[k] != c &&
			       (escr_of(&events[k]) != escr_of(&events[i]) ||
			        has_upper_escr(counter[k]) != has_upper_escr(c));
		counter[i] = c;
		if (free && can_place(events, n, i + 1, counter))
			return true;
	}
	return false;
}

/* Draws a random row that is an event: metrics have no registers. */
static uint32_t random_event(const struct table *t, uint64_t *seed)
{
	uint32_t row;

	do
		row = (uint32_t)(unit_random(seed) % t->n_rows);
	while (!is_event(t, row));
	return row;
}

static void random_sets_are_placed_or_refused(void **state)
{
	const struct table *t = table_with(ENCODER_NETBURST, NULL);
	unsigned placed = 0, refused = 0;
	uint64_t seed = 11;

	(void)state;
	for (unsigned round = 0; round < 4000; round++) {
		struct event events[4];
		unsigned n = 1 + (unsigned)(unit_random(&seed) % 4), counter[4];
		struct encode_request req = {
			.table = t, .events = events, .n_events = n, .plm = PFM_PLM3
		};
		struct placement where;
		struct register_values regs;
		int rc;

		for (unsigned i = 0; i < n; i++)
			pfmi_pmu_init_event(&events[i], t, random_event(t, &seed));
		rc = pfmi_pmu_dispatch_set(&req, &where, &regs, NULL);
		assert_int_equal(rc, can_place(events, n, 0, counter) ? PFMLIB_SUCCESS
		                                                      : PFMLIB_ERR_NOASSIGN);
		refused += rc != 0;
		placed += rc == 0;
		for (unsigned i = 0; i < n && !rc; i++) {
			unsigned c = where.counters[i];

			assert_true(pfmi_pmu_get_counter_mask(&events[i]) >> c & 1);
			/* CCCRs start at 0x360, counters at 0x300. The row names the first ESCR of
			 * the pair. */
			assert_true(regs.pmcs[i].addr == 0x360 + c && regs.pmcs[i].num == c &&
			            regs.pmcs[i].kind == PFM_REG_PMC);
			assert_true(regs.pmds[i].addr == 0x300 + c && regs.pmds[i].num == c);
			assert_true(regs.pmcs[n + i].addr ==
			            escr_of(&events[i]) + has_upper_escr(c));
			assert_int_equal(regs.pmcs[n + i].kind, PFM_REG_EXTRA);
			for (unsigned k = 0; k < i; k++)
				assert_true(where.counters[k] != c &&
				            regs.pmcs[n + k].addr != regs.pmcs[n + i].addr);
		}
	}
	assert_true(placed > 500 && refused > 100);
}

/* ESCR: levels of both threads in the lowest bits (user 0 and 2, kernel 1 and 3), the event from
 * bit 25 on. CCCR: PEBS is clear. */
static void register_values_of_events(void **state)
{
	const struct table *t = table_with(ENCODER_NETBURST, NULL);

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (unsigned plm = 1; plm < 16; plm++) {
			unsigned levels = (plm & PFM_PLM3 ? 5u : 0) | (plm & PFM_PLM0 ? 10u : 0);
			struct placement where;
			struct event ev;
			struct register_values regs;
			perfmon_attr_t attr = { 0 };

			if (!is_event(t, row))
				continue;
			pfmi_pmu_init_event(&ev, t, row);
			find_place(&ev, 1, plm, &where, &regs);
			pfmi_netburst_build_attr(&ev, plm, &attr);
			assert_true(attr.expressible);
			assert_int_equal(regs.pmcs[1].value & 15, levels);
			assert_true(regs.pmcs[1].value >> 25 ==
			            pfmi_pmu_get_key_value(&ev, KEY_SEL, ANY_COUNTER));
			assert_true((regs.pmcs[1].value >> 4 & 0x1fffff) ==
			            (attr.config >> 36 & 0x1fffff));
			assert_true(regs.pmcs[0].value == (attr.config & 0xffffffc0));
		}
}

/* Edge, threshold and complement are properties of the comparison, so each sets bit 18, compare. */
static void comparison_fields_imply_compare(void **state)
{
	const struct table *t = table_with(ENCODER_NETBURST, NULL);

	(void)state;
	for (unsigned i = 0; i < t->n_fields; i++) {
		const char *name = table_get_text(t, table_fields(t)[i].name);
		bool compares = strcmp(name, "edge") == 0 || strcmp(name, "thr") == 0 ||
		                strcmp(name, "cmpl") == 0;
		struct event ev;
		perfmon_attr_t attr = { 0 };

		if (!table_fields(t)[i].is_modifier)
			continue;
		for (uint64_t value = 0; value <= (strcmp(name, "thr") == 0 ? 15 : 1);
		     value += value ? value : 1) {
			pfmi_pmu_init_event(&ev, t, 0);
			assert_true(pfmi_pmu_set_user_field(&ev, i, value));
			pfmi_netburst_build_attr(&ev, PFM_PLM3, &attr);
			assert_int_equal(attr.config >> 18 & 1, compares && value);
		}
	}
}

static void escrs_and_cccrs_have_their_fields(void **state)
{
	unsigned n;

	(void)state;
	assert_non_null(pfmi_netburst_find_layout(NULL, "ESCR0", &n));
	assert_int_equal(n, 8);
	assert_non_null(pfmi_netburst_find_layout(NULL, "cccr17", &n));
	assert_int_equal(n, 12);
	assert_null(pfmi_netburst_find_layout(NULL, "CCC", &n));
	assert_non_null(pfmi_netburst_find_layout(NULL, "PMC0", &n)); /* the name that sets use */
	assert_int_equal(n, 12);
	assert_null(pfmi_netburst_find_layout(NULL, "PMD0", &n));
}

UNIT(pmu_netburst, cmocka_unit_test(random_sets_are_placed_or_refused),
     cmocka_unit_test(register_values_of_events), cmocka_unit_test(comparison_fields_imply_compare),
     cmocka_unit_test(escrs_and_cccrs_have_their_fields));
