/* SPDX-License-Identifier: MIT */
/* Events, groups and rounds in a file of sums. */
#include "made_regions.h"

static void layout_is_read_back(void **state)
{
	struct made_regions m;
	struct region_loaded *loaded = calloc(1, sizeof(*loaded));
	size_t n;
	char *bytes, *list;

	(void)state;
	make_regions(&m);
	m.events[0].cost_inside = 2.5;
	m.events[1].soft = true;
	n = pfmi_storage_write_events(&pfmi_regions.layout, "a,b", NULL);
	bytes = calloc(1, n);
	assert_int_equal(pfmi_storage_write_events(&pfmi_regions.layout, "a,b", bytes), n);
	list = pfmi_storage_read_events(&loaded->layout, bytes, n);
	assert_string_equal(list, "a,b");
	assert_int_equal(loaded->layout.n_events, 2);
	assert_int_equal(loaded->layout.sums, pfmi_regions.layout.sums);
	assert_string_equal(loaded->layout.events[1].name, "page-faults");
	assert_true(loaded->layout.events[0].cost_inside == 2.5 && loaded->layout.events[1].soft);
	assert_int_equal(loaded->layout.rounds[0].groups[0].events[1], 1);
	free(list);
	pfmi_region_unload(loaded);
	free(bytes);
	unmake_regions(&m);
}

/* Each shorter piece is refused. */
static void truncated_layouts_are_refused(void **state)
{
	struct made_regions m;
	size_t n;
	char *bytes;

	(void)state;
	make_regions(&m);
	n = pfmi_storage_write_events(&pfmi_regions.layout, "a,b", NULL);
	bytes = calloc(1, n);
	pfmi_storage_write_events(&pfmi_regions.layout, "a,b", bytes);
	for (size_t i = 0; i < n; i++) {
		struct region_loaded *loaded = calloc(1, sizeof(*loaded));
		char *list = pfmi_storage_read_events(&loaded->layout, bytes, i);

		assert_null(list);
		pfmi_region_unload(loaded);
	}
	free(bytes);
	unmake_regions(&m);
}

UNIT(region_storage_events, cmocka_unit_test(layout_is_read_back),
     cmocka_unit_test(truncated_layouts_are_refused));
