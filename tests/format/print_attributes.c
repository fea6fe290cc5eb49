/* SPDX-License-Identifier: MIT */
/* Words of groups: an event said in another dialect's terms stays the event, and what was said is
 * what is written. */
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

static const char *written(const char *name, pfm_dialect_t dialect,
                           void (*change)(struct event *ev))
{
	const struct table *t = table_with(ENCODER_X86, "coreduo");
	static struct event_printer p;
	struct event ev;
	uint32_t row = 0;

	while (row < t->n_rows && strcmp(table_get_row_name(t, row), name) != 0)
		row++;
	assert_true(row < t->n_rows);
	pfmi_pmu_init_event(&ev, t, row);
	if (change)
		change(&ev);
	p = (struct event_printer){ .event = &ev, .table = t, .dialect = dialect };
	return pfmi_format_append_named_event(&p) ? p.text : p.reason;
}

static void levels_off(struct event *ev)
{
	ev->has_no_levels = true;
}

static void user(struct event *ev)
{
	ev->plm = PFM_PLM3;
}

static void pinned(struct event *ev)
{
	ev->counter_pin = 1;
}

static void threshold(struct event *ev)
{
	assert_true(pfmi_pmu_set_user_field(ev, table_get_key_field_plus1(ev->table, KEY_CMASK) - 1,
	                                    2));
	assert_true(
		pfmi_pmu_set_user_field(ev, table_get_key_field_plus1(ev->table, KEY_INV) - 1, 1));
}

static void words(void **state)
{
	(void)state;
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_LIBPFM, user), "coreduo::INSTR_RET:u");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_LIBPMC, user), "Instr_Ret,usr");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_VENDOR, user), "Instr_Ret:u");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_LIBPFM, threshold),
	                    "coreduo::INSTR_RET:i:c=2");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_LIBPMC, threshold),
	                    "Instr_Ret,cmask=2,inv");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_VENDOR, levels_off), "Instr_Ret:u=0");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_LIBPMC, levels_off),
	                    "libpmc cannot express a count without a privilege level");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_VENDOR, pinned),
	                    "Instr_Ret:counter=1");
	assert_string_equal(written("Instr_Ret", PFM_DIALECT_LIBPMC, pinned),
	                    "libpmc cannot name the counter");
}

UNIT(format_print_attributes, cmocka_unit_test(other_terms_are_the_same_event),
     cmocka_unit_test(words));
