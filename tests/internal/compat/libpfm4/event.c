/* SPDX-License-Identifier: MIT */
/* Lookup of libpfm4's PMUs, events and attributes by name, by number and in order; unknown ones are
 * not found. */
#include "libpfm4_internal.h"
#include <ctype.h>
#include <perfmon/pfmlib.h>

static void pmus_are_found_by_name_and_number(void **state)
{
	unsigned known = 0;

	(void)state;
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++) {
		const char *name = l4_get_text(l4_get_pmu(i)->name);
		char other[64];
		size_t len = strlen(name);

		assert_int_equal(l4_find_pmu_by_name(name, len), i);
		assert_int_equal(l4_find_pmu_by_id(l4_get_pmu(i)->id), i);
		for (size_t k = 0; k <= len; k++)
			other[k] = (char)toupper((unsigned char)name[k]);
		assert_int_equal(l4_find_pmu_by_name(other, len), i);
		other[0] = '!';
		assert_int_equal(l4_find_pmu_by_name(other, len), -1);
	}
	for (unsigned id = 0; id < L4_MAX_PMU_ID + 10; id++)
		known += l4_find_pmu_by_id(id) >= 0;
	assert_int_equal(known, l4_image.pmus.n_elements);
	assert_int_equal(l4_find_pmu_by_id(UINT32_MAX), -1);
	assert_int_equal(l4_find_pmu_by_name("", 0), -1);
}

/* Every event of every PMU is found by its position, its index and its name. Their number equals
 * the reported count, and the end position has no event. */
static void events_of_all_units(void **state)
{
	static const char *const inactive[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };

	(void)state;
	l4_begin("GenuineIntel-6-55-4", inactive);
	for (uint32_t u = 0; u < l4_image.pmus.n_elements; u++) {
		uint32_t end = l4_get_event_end(u), n = 0;
		struct l4_event ev, same;
		int first = -1;

		for (uint32_t pos = 0; pos < end; pos++) {
			const char *name;

			if (!l4_get_event(u, pos, &ev))
				continue;
			n++;
			first = first < 0 ? l4_make_event_index(&ev) : first;
			name = l4_get_event_name(&ev);
			assert_true(l4_get_event_by_index(l4_make_event_index(&ev), &same));
			assert_true(same.row == ev.row && same.position == ev.position &&
			            same.is_tracepoint_system == ev.is_tracepoint_system &&
			            same.pmu_number == u);
			if (ev.encoder == L4_ENCODER_PERF_RAW)
				continue;
			assert_true(l4_find_event(u, name, strlen(name), &same));
			assert_true(l4_is_same_name(l4_get_event_name(&same), name, strlen(name)));
			assert_false(l4_find_event(u, name, strlen(name) - 1, &same) &&
			             strlen(l4_get_event_name(&same)) == strlen(name));
		}
		assert_false(l4_get_event(u, end, &ev));
		assert_int_equal(l4_count_events(u), n);
		assert_int_equal(l4_get_first_event_index(u), first);
	}
	assert_false(l4_get_event_by_index(-1, &(struct l4_event){ 0 }));
	assert_false(l4_get_event_by_index(INT32_MAX, &(struct l4_event){ 0 }));
	l4_end_case();
}

/* The architectural PMU has the events that CPUID reports as available; here all of version 3. */
static void the_architectural_unit(void **state)
{
	static const char *const forced[] = { "LIBPFM_FORCE_PMU", "ix86arch", NULL };
	uint32_t arch = l4_number_of("ix86arch"), n;
	struct l4_event ev;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", forced); /* version 3, nothing missing */
	n = l4_count_events(arch);
	assert_true(n >= 7 && l4_get_event_end(arch) == n);
	for (uint32_t pos = 0; pos < n; pos++)
		assert_true(l4_get_event(arch, pos, &ev) && ev.position == pos);
	assert_false(l4_get_event(arch, n, &ev));
	ev = l4_event_of("ix86arch", "INSTRUCTION_RETIRED");
	{
		struct l4_attr_list list;

		l4_list_attrs(&ev, PFM_OS_NONE, &list);
		assert_true((list.modifiers >> 5 & 1) &&
		            !(list.modifiers >> 7 &
		              3)); /* version 3 has :t, but not :intx and :intxcp */
	}
	l4_end_case();
}

/* AMD unit masks and rows are limited to some revisions, those of other tables to one PMU. */
static void revisions_limit_masks_and_rows_of_amd(void **state)
{
	struct l4_event ev = l4_event_of("amd64_k8_revb", "SCRUBBER_SINGLE_BIT_ECC_ERRORS");
	struct l4_pmu u = *ev.pmu;
	static const struct {
		unsigned first, last, rev;
		bool valid;
	} rows[] = {
		{ 0, 0, 1, true },  { 2, 0, 1, false }, { 2, 0, 2, true },  { 0, 3, 3, true },
		{ 0, 3, 4, false }, { 2, 3, 2, true },  { 2, 3, 4, false },
	};

	(void)state;
	ev.pmu = &u;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct l4_mask m = { .flags = rows[i].first << 8 | rows[i].last << 16 };

		u.revision = (uint16_t)rows[i].rev;
		ev.encoder = L4_ENCODER_AMD64;
		assert_int_equal(l4_has_mask(&ev, &m), rows[i].valid);
		ev.encoder = L4_ENCODER_CORE;
		assert_true(l4_has_mask(&ev, &m));
		m.only_pmu = u.id;
		assert_true(l4_has_mask(&ev, &m));
		m.only_pmu++;
		assert_false(l4_has_mask(&ev, &m));
	}
}

/* Rows that some machines have: Intel's energy meters and IBM Z's counters. */
static void rows_of_machines(void **state)
{
	static const struct l4_pmu intel = { .host_kind = L4_HOST_INTEL },
				   other = { .host_kind = L4_HOST_CPUINFO };

	(void)state;
	l4_begin("GenuineIntel-6-2D-7", NULL); /* list 1 of energy meters */
	for (unsigned kinds = 0; kinds < 256; kinds++) {
		const struct l4_row row = { .kind = (uint8_t)kinds };

		assert_int_equal(l4_is_row_for_host(&intel, &row), (kinds >> 1 & 1));
		assert_int_equal(l4_is_row_for_host(&other, &row),
		                 (kinds >> 6 & 1)); /* no IBM Z: as z16 */
	}
	l4_end_case();
}

UNIT(compat_libpfm4_event, cmocka_unit_test(pmus_are_found_by_name_and_number),
     cmocka_unit_test(events_of_all_units), cmocka_unit_test(the_architectural_unit),
     cmocka_unit_test(revisions_limit_masks_and_rows_of_amd), cmocka_unit_test(rows_of_machines));
