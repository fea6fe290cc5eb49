/* SPDX-License-Identifier: MIT */
/* An event said in the terms of another dialect stays the event. */
#include "unit_tables.h"
#include <perfmon/types.h>
#include "format/printer.h"

/* A value that the words of group @g can make up. */
static uint64_t some_value(const struct table *t, const struct umask_group *g, uint64_t *random)
{
	const struct named_value *w = table_named_values(t) + g->first_named_value;
	uint64_t value = w[unit_random(random) % g->n_values].value;

	if (g->flags & GROUP_COMBINABLE && unit_random(random) & 1)
		value |= w[unit_random(random) % g->n_values].value;
	return value;
}

/* Each row with groups, with words at random, once as a raw mask: the same registers whatever words
 * a dialect likes. */
static void other_terms_are_the_same_event(void **state)
{
	static const pfm_dialect_t dialects[] = { PFM_DIALECT_LIBPFM, PFM_DIALECT_LIBPMC,
		                                  PFM_DIALECT_VENDOR };
	const struct table *t = table_with(ENCODER_X86, "coreduo");
	uint64_t random = 43;
	unsigned tried = 0;

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++)
		for (unsigned i = 0; i < 50 && is_event(t, row) && table_get_row(t, row)->n_groups;
		     i++, tried++) {
			struct event ev, said;

			pfmi_pmu_init_event(&ev, t, row);
			for (unsigned k = 0; k < table_get_row(t, row)->n_groups; k++)
				ev.group_values[k] =
					some_value(t, pfmi_pmu_get_row_group(t, row, k), &random);
			ev.has_raw_umask = unit_random(&random) & 1;
			for (size_t d = 0; d < COUNT(dialects); d++) {
				said = ev;
				pfmi_format_use_dialect_terms(&said, dialects[d]);
				assert_true(pfmi_format_has_equal_config(&ev, &said));
			}
		}
	assert_true(tried > 1000);
}

UNIT(format_dialect_terms, cmocka_unit_test(other_terms_are_the_same_event));
