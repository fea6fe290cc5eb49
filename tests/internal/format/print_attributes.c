/* SPDX-License-Identifier: MIT */
/* Levels, flags and counters as each dialect writes them. */
#include "unit_tables.h"
#include <perfmon/types.h>
#include "format/printer.h"

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

static void each_dialect_has_its_words(void **state)
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

UNIT(format_print_attributes, cmocka_unit_test(each_dialect_has_its_words));
