/* SPDX-License-Identifier: MIT */
/* libpfm4's fully qualified strings: each piece of them, of queries that are made by hand, as ours
 * and as libpfm4's own. */
#include "libpfm4_internal.h"

struct made {
	struct l4_query q;
	struct l4_code code;
	struct l4_perf_result perf;
};

static struct made *make(const char *pmu, const char *event)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	m.q.event = m.q.named_event = l4_event_of(pmu, event);
	l4_list_attrs(&m.q.event, PFM_OS_NONE, &m.q.attr_list);
	m.code.effective_modifiers = ~0u;
	return &m;
}

/* Number of a mask. */
static unsigned mask_of(const struct made *m, const char *name)
{
	for (unsigned i = 0; i < m->q.event.row->n_masks; i++)
		if (strcmp(l4_get_text(l4_get_row_masks(m->q.event.row)[i].name), name) == 0)
			return i;
	fail_msg("no mask %s", name);
	return 0;
}

static void string_is(const struct made *m, const struct l4_perf_result *perf, const char *want)
{
	char *got = NULL;

	assert_int_equal(l4_format_event(&m->q, &m->code, perf, &got), PFM_SUCCESS);
	assert_string_equal(got, want);
	free(got);
}

static void exactly(bool on)
{
	static const char *const exact[] = { "PERFMON_LIBPFM4_CORRECT", "0", NULL };

	l4_begin("GenuineIntel-6-55-4", on ? exact : NULL);
}

static void masks_follow_the_name_of_the_event(void **state)
{
	struct made *m = make("skx", "L2_RQSTS");
	unsigned first = mask_of(m, "DEMAND_DATA_RD_MISS"), second = mask_of(m, "CODE_RD_HIT");

	(void)state;
	string_is(m, NULL, "skx::L2_RQSTS");
	l4_set_bit(m->code.used_masks, first);
	l4_set_bit(m->code.used_masks, second);
	string_is(m, NULL,
	          first < second ? "skx::L2_RQSTS:DEMAND_DATA_RD_MISS:CODE_RD_HIT"
	                         : "skx::L2_RQSTS:CODE_RD_HIT:DEMAND_DATA_RD_MISS");
	l4_set_bit(m->code.hidden_masks, second); /* ours leaves out what would not read back */
	string_is(m, NULL, "skx::L2_RQSTS:DEMAND_DATA_RD_MISS");
	for (m->q.n_attrs = 0; m->q.n_attrs < 3;
	     m->q.n_attrs++) /* two copies that libpfm4 kept, and a modifier of the same number */
		m->q.attrs[m->q.n_attrs] =
			(struct l4_attr){ m->q.n_attrs == 1 ? L4_ATTR_MODIFIER : L4_ATTR_MASK,
			                  (uint16_t)first, 0 };
	exactly(true);
	m->code.used_masks[0] = m->code.used_masks[1] = m->code.used_masks[2] = 0;
	l4_set_bit(m->code.used_masks, first);
	string_is(m, NULL, "skx::L2_RQSTS:DEMAND_DATA_RD_MISS:DEMAND_DATA_RD_MISS");
	exactly(false);
	m->code.used_masks[0] = m->code.used_masks[1] = m->code.used_masks[2] = 0;
	m->code.has_raw_mask = true;
	m->code.raw_mask = 0x2f;
	string_is(m, NULL, "skx::L2_RQSTS:0x2f");
}

static void modifiers_print_with_their_values(void **state)
{
	struct made *m = make("skx", "UNHALTED_CORE_CYCLES");

	(void)state;
	m->code.shown_modifiers = 1 << 0 | 1 << 2 | 1 << 4; /* k, e, c */
	m->code.modifier_values[0] = 1;
	m->code.modifier_values[4] = 205;
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES:k=1:e=0:c=205");
	m->code.effective_modifiers = ~(1u << 2);
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES:k=1:c=205");
	exactly(true);
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES:k=1:e=0:c=205");
	exactly(false);
	m->code.takes_no_modifiers = true;
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES");
	m = make("skx", "UNHALTED_CORE_CYCLES");
	m->code.shown_modifiers = 1 << 4;
	m->code.modifier_values[4] = UINT64_MAX;
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES:c=18446744073709551615");
}

/* The order of Netburst's is its own. */
static void modifiers_of_netburst(void **state)
{
	struct made *m = make("netburst", "global_power_events");

	(void)state;
	m->code.shown_modifiers = 0x1f;
	m->code.modifier_values[0] = 1;
	m->code.modifier_values[4] = 9;
	m->q.attr_list.modifiers = 0x1f;
	string_is(m, NULL, "netburst::global_power_events:k=0:u=1:e=0:cmpl=0:thr=9");
	m->q.attr_list.modifiers = 0x1f & ~3u;
	string_is(m, NULL, "netburst::global_power_events:e=0:cmpl=0:thr=9");
}

static void attributes_of_the_kernel(void **state)
{
	struct made *m = make("skx", "UNHALTED_CORE_CYCLES");

	(void)state;
	m->perf.shown_attrs = 1u << OS_ATTR_U | 1u << OS_ATTR_PERIOD | 1u << OS_ATTR_HW_SMPL;
	m->perf.attr_values[OS_ATTR_U] = 1;
	m->perf.attr_values[OS_ATTR_PERIOD] = 2000003;
	string_is(m, &m->perf, "skx::UNHALTED_CORE_CYCLES:u=1:period=2000003:hw_smpl=0");
	m->code.takes_no_modifiers = true;
	string_is(m, &m->perf, "skx::UNHALTED_CORE_CYCLES");
	exactly(true);
	{
		char *got = (char *)m;

		assert_int_equal(l4_format_event(&m->q, &m->code, &m->perf, &got), PFM_SUCCESS);
		assert_null(got); /* libpfm4 has none */
	}
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES");
	exactly(false);
}

/* An alias goes by its own name, and in libpfm4's own strings by its target's. */
static void an_alias_prints_its_own_name(void **state)
{
	struct made *m = make("skx", "UNHALTED_CORE_CYCLES");
	static struct l4_row alias;

	(void)state;
	alias = *m->q.event.row;
	alias.alias_target = alias.name;
	m->q.named_event.row = &alias;
	m->q.event.row = &alias;
	m->q.named_event.row = make("skx", "INSTRUCTION_RETIRED")->q.event.row;
	m->q.event.row = &alias;
	m->q.named_event = l4_event_of("skx", "INSTRUCTION_RETIRED");
	string_is(m, NULL, "skx::INSTRUCTION_RETIRED");
	exactly(true);
	string_is(m, NULL, "skx::UNHALTED_CORE_CYCLES");
	exactly(false);
}

static void a_raw_event_prints_its_number(void **state)
{
	static struct made m;

	(void)state;
	memset(&m, 0, sizeof(m));
	assert_true(l4_get_event(l4_number_of("perf_raw"), 0, &m.q.event));
	m.q.named_event = m.q.event;
	m.q.raw_code = 0x5300c0;
	string_is(&m, NULL, "perf_raw::r5300c0");
	string_is(&m, &m.perf, "perf_raw::r5300c0");
	exactly(true);
	string_is(&m, NULL, "perf_raw::r5300c0");
	string_is(&m, &m.perf, "perf_raw::");
	exactly(false);
}

/* libpfm4 cuts after 255 bytes, within a word; ours are whole. */
static void only_strings_of_libpfm4_are_cut(void **state)
{
	struct made *m = make("skx", "UNHALTED_CORE_CYCLES");
	char want[1024];
	size_t at = (size_t)snprintf(want, sizeof(want), "skx::UNHALTED_CORE_CYCLES");
	char *got;

	(void)state;
	m->perf.shown_attrs = (1u << N_OS_ATTRS) - 1;
	for (unsigned i = 0; i < N_OS_ATTRS; i++) {
		m->perf.attr_values[i] = UINT64_MAX;
		at += (size_t)snprintf(want + at, sizeof(want) - at, ":%s=18446744073709551615",
		                       l4_os_attrs[i].name);
	}
	assert_true(at > 300);
	string_is(m, &m->perf, want);
	exactly(true);
	assert_int_equal(l4_format_event(&m->q, &m->code, &m->perf, &got), PFM_SUCCESS);
	assert_int_equal(strlen(got), strlen("skx::") + 255);
	assert_memory_equal(got, want, strlen(got));
	free(got);
	exactly(false);
}

UNIT(compat_libpfm4_string, cmocka_unit_test(masks_follow_the_name_of_the_event),
     cmocka_unit_test(modifiers_print_with_their_values), cmocka_unit_test(modifiers_of_netburst),
     cmocka_unit_test(attributes_of_the_kernel), cmocka_unit_test(an_alias_prints_its_own_name),
     cmocka_unit_test(a_raw_event_prints_its_number),
     cmocka_unit_test(only_strings_of_libpfm4_are_cut));
