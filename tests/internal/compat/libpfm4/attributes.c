/* SPDX-License-Identifier: MIT */
/* Attributes of events: masks, modifiers and those of the kernel's layer. */
#include "libpfm4_internal.h"
#include <ctype.h>
#include <perfmon/pfmlib.h>

/* Attributes are in order: unit masks of the PMU, modifiers, attributes of the kernel's layer.
 * No attribute follows the last one. */
static void attributes_in_order(void **state)
{
	static const pfm_os_t layers[] = { PFM_OS_NONE, PFM_OS_PERF_EVENT, PFM_OS_PERF_EVENT_EXT };

	(void)state;
	for (uint32_t u = 0; u < l4_image.pmus.n_elements; u += 3)
		for (uint32_t pos = 0; pos < l4_get_event_end(u); pos += 7) {
			struct l4_event ev;

			if (!l4_get_event(u, pos, &ev))
				continue;
			for (size_t o = 0; o < COUNT(layers); o++) {
				struct l4_attr_list list;
				struct l4_attr a;
				unsigned n = 0, of_kind[4] = { 0 };
				int last = -1, kind = 0;

				l4_list_attrs(&ev, layers[o], &list);
				for (; l4_get_attr(&ev, &list, n, &a); n++) {
					assert_true(a.kind > kind ||
					            (a.kind == kind && a.number > last));
					assert_true(
						a.kind != L4_ATTR_MASK || ev.is_tracepoint_system ||
						l4_has_mask(&ev,
					                    &l4_get_row_masks(ev.row)[a.number]));
					assert_true(*l4_get_attr_name(&ev, &a) && a.value == 0);
					kind = a.kind;
					last = a.number;
					of_kind[a.kind]++;
				}
				assert_true(of_kind[L4_ATTR_MASK] == list.n_masks &&
				            of_kind[L4_ATTR_MODIFIER] ==
				                    l4_count_bits(list.modifiers));
				assert_true(of_kind[L4_ATTR_OS] == l4_count_bits(list.os_attrs) &&
				            (o || !list.os_attrs));
				assert_false(l4_get_attr(&ev, &list, n + 1, &a));
			}
		}
}

/* Modifiers of a few events that remain in each OS layer. */
static void each_layer_keeps_the_modifiers_of_its_events(void **state)
{
	enum {
		BASIC = 1u << OS_ATTR_U | 1u << OS_ATTR_K | 1u << OS_ATTR_MG | 1u << OS_ATTR_MH,
		EXT = (1u << N_OS_ATTRS) - 1
	};
	static const struct {
		const char *pmu, *event;
		uint32_t mods, ext;
	} rows[] = {
		{ "skx", "UNHALTED_CORE_CYCLES", 0x1bc,
		  EXT & ~(1u << OS_ATTR_H | 1u << OS_ATTR_PRECISE | 1u << OS_ATTR_HW_SMPL) },
		{ "perf", "PERF_COUNT_SW_CPU_CLOCK", 0,
		  EXT & ~(1u << OS_ATTR_H | 1u << OS_ATTR_PRECISE | 1u << OS_ATTR_HW_SMPL) },
		{ "perf", "PERF_COUNT_HW_CPU_CYCLES", 0,
		  EXT & ~(1u << OS_ATTR_H | 1u << OS_ATTR_HW_SMPL) },
		{ "arm_n1", "CPU_CYCLES", 0,
		  EXT & ~(1u << OS_ATTR_PRECISE | 1u << OS_ATTR_HW_SMPL) },
		{ "netburst", "global_power_events", 0x1c,
		  EXT & ~(1u << OS_ATTR_H | 1u << OS_ATTR_PRECISE | 1u << OS_ATTR_HW_SMPL) },
		{ "skx_unc_cha0", "UNC_C_CLOCKTICKS", 0, 0 },
	};

	(void)state;
	l4_end_case();
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t unit = l4_number_of(rows[i].pmu);
		struct l4_event ev;
		struct l4_attr_list none, basic, ext;

		if (!l4_find_event(unit, rows[i].event, strlen(rows[i].event), &ev))
			continue;
		l4_list_attrs(&ev, PFM_OS_NONE, &none);
		l4_list_attrs(&ev, PFM_OS_PERF_EVENT, &basic);
		l4_list_attrs(&ev, PFM_OS_PERF_EVENT_EXT, &ext);
		assert_int_equal(none.os_attrs, 0);
		assert_true((basic.modifiers & ~none.modifiers) == 0 &&
		            basic.modifiers == ext.modifiers &&
		            (basic.os_attrs & ~ext.os_attrs) == 0);
		if (!rows[i].ext)
			continue;
		assert_int_equal(ext.modifiers, rows[i].mods);
		assert_int_equal(ext.os_attrs, rows[i].ext);
		assert_int_equal(basic.os_attrs & BASIC, BASIC);
	}
}

UNIT(compat_libpfm4_attributes, cmocka_unit_test(attributes_in_order),
     cmocka_unit_test(each_layer_keeps_the_modifiers_of_its_events));
