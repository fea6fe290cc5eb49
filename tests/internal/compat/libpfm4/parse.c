/* SPDX-License-Identifier: MIT */
/* libpfm4's texts to queries: prefixes, masks, modifiers with every form of value, aliases, raw
 * events, and what is refused. */
#include "libpfm4_internal.h"
#include <perfmon/pfmlib.h>

static const char *const INACTIVE[] = { "LIBPFM_ENCODE_INACTIVE", "1", NULL };

/* "k3=1 m7" and so on: the attributes of a query, by kind and number. */
static void attributes_are(const struct l4_query *q, const char *want)
{
	char text[512] = "";
	size_t at = 0;

	for (unsigned i = 0; i < q->n_attrs; i++) {
		const char *name = q->attrs[i].kind == L4_ATTR_RAW_MASK
		                           ? "raw"
		                           : l4_get_attr_name(&q->event, &q->attrs[i]);

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "", name);
		if (q->attrs[i].kind != L4_ATTR_MASK)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "=%llu",
			                       (unsigned long long)q->attrs[i].value);
	}
	assert_string_equal(text, want);
}

static void reads(const char *text, pfm_os_t os, const char *pmu, const char *event,
                  const char *attributes)
{
	struct l4_query q;
	int rc = l4_parse_event(text, os, &q);

	if (rc)
		fail_msg("%s: %d", text, rc);
	assert_string_equal(l4_get_text(q.event.pmu->name), pmu);
	assert_string_equal(l4_get_event_name(&q.event), event);
	attributes_are(&q, attributes);
}

static void refuses(const char *text, pfm_os_t os, int want)
{
	struct l4_query q;
	int rc = l4_parse_event(text, os, &q);

	if (rc != want)
		fail_msg("%s: %d, not %d", text, rc, want);
}

static void prefixes_are_whole_names_of_pmus(void **state)
{
	(void)state;
	reads("UNHALTED_CORE_CYCLES", PFM_OS_NONE, "skx", "UNHALTED_CORE_CYCLES", "");
	reads("unhalted_core_CYCLES", PFM_OS_NONE, "skx", "UNHALTED_CORE_CYCLES", "");
	reads("SKX::UNHALTED_CORE_CYCLES", PFM_OS_NONE, "skx", "UNHALTED_CORE_CYCLES", "");
	refuses("sk::UNHALTED_CORE_CYCLES", PFM_OS_NONE, PFM_ERR_NOTFOUND);
	refuses("::UNHALTED_CORE_CYCLES", PFM_OS_NONE, PFM_ERR_NOTFOUND);
	refuses("amd64_fam17h_zen1::RETIRED_INSTRUCTIONS", PFM_OS_NONE,
	        PFM_ERR_NOTFOUND); /* not this machine's */
	l4_begin("GenuineIntel-6-55-4", INACTIVE);
	reads("amd64_fam17h_zen1::RETIRED_INSTRUCTIONS", PFM_OS_NONE, "amd64_fam17h_zen1",
	      "RETIRED_INSTRUCTIONS", "");
	l4_end_case();
	refuses("UNHALTED_CORE_CYCLE", PFM_OS_NONE, PFM_ERR_NOTFOUND);
	refuses("UNHALTED_CORE_CYCLESS", PFM_OS_NONE, PFM_ERR_NOTFOUND);
	refuses("", PFM_OS_NONE, PFM_ERR_NOTFOUND);
}

/* No blank, no comma, anywhere. */
static void blanks_and_commas_are_refused(void **state)
{
	static const char *const bad[] = { "UNHALTED_CORE_CYCLES,", " UNHALTED_CORE_CYCLES",
		                           "UNHALTED_CORE_CYCLES:k\t", "UNHALTED_CORE_CYCLES\n" };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		refuses(bad[i], PFM_OS_NONE, PFM_ERR_INVAL);
	reads("skx::UNHALTED_CORE_CYCLES.k.u=0:c=3", PFM_OS_NONE, "skx", "UNHALTED_CORE_CYCLES",
	      "k=1 u=0 c=3");
	refuses("skx::UNHALTED_CORE_CYCLES:", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::UNHALTED_CORE_CYCLES::k", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::UNHALTED_CORE_CYCLES:k:", PFM_OS_NONE, PFM_ERR_ATTR);
}

static void values_of_attributes_are_read_by_their_kind(void **state)
{
	static const struct {
		const char *attr;
		int rc;
		const char *want;
	} rows[] = {
		{ "k", 0, "k=1" },
		{ "k=1", 0, "k=1" },
		{ "k=0", 0, "k=0" },
		{ "k=y", 0, "k=1" },
		{ "k=Y", 0, "k=1" },
		{ "k=t", 0, "k=1" },
		{ "k=T", 0, "k=1" },
		{ "k=n", 0, "k=0" },
		{ "k=N", 0, "k=0" },
		{ "k=f", 0, "k=0" },
		{ "k=F", 0, "k=0" },
		{ "K=1", 0, "k=1" },
		{ "k=2", PFM_ERR_ATTR_VAL, "" },
		{ "k=", PFM_ERR_ATTR_VAL, "" },
		{ "k=10", PFM_ERR_ATTR_VAL, "" },
		{ "c", PFM_ERR_ATTR_VAL, "" },
		{ "c=", PFM_ERR_ATTR_VAL, "" },
		{ "c=7", 0, "c=7" },
		{ "c=0x1f", 0, "c=31" },
		{ "c=010", 0, "c=8" },
		{ "c=08", PFM_ERR_ATTR_VAL, "" },
		{ "c=7x", PFM_ERR_ATTR_VAL, "" },
		{ "c=x", PFM_ERR_ATTR_VAL, "" },
		{ "kk", PFM_ERR_ATTR, "" },
		{ "=1", PFM_ERR_ATTR, "" },
		{ "c=255", 0, "c=255" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];

		snprintf(text, sizeof(text), "skx::UNHALTED_CORE_CYCLES:%s", rows[i].attr);
		if (rows[i].rc)
			refuses(text, PFM_OS_NONE, rows[i].rc);
		else
			reads(text, PFM_OS_NONE, "skx", "UNHALTED_CORE_CYCLES", rows[i].want);
	}
}

/* The kernel's own attributes are there where its interface is meant, and one layer has more than
 * the other. */
static void attributes_of_the_kernel(void **state)
{
	(void)state;
	refuses("skx::UNHALTED_CORE_CYCLES:period=5", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::UNHALTED_CORE_CYCLES:period=5", PFM_OS_PERF_EVENT, PFM_ERR_ATTR);
	reads("skx::UNHALTED_CORE_CYCLES:period=5:u:mg", PFM_OS_PERF_EVENT_EXT, "skx",
	      "UNHALTED_CORE_CYCLES", "period=5 u=1 mg=1");
	reads("skx::UNHALTED_CORE_CYCLES:u", PFM_OS_PERF_EVENT, "skx", "UNHALTED_CORE_CYCLES",
	      "u=1");
	refuses("skx::UNHALTED_CORE_CYCLES:h", PFM_OS_PERF_EVENT_EXT, PFM_ERR_ATTR);
	refuses("skx::UNHALTED_CORE_CYCLES:period", PFM_OS_PERF_EVENT_EXT, PFM_ERR_ATTR_VAL);
}

/* A repeated attribute is one attribute; a second one of the same name with another value is
 * refused. */
static void a_repeated_attribute_with_another_value_is_refused(void **state)
{
	(void)state;
	reads("skx::UNHALTED_CORE_CYCLES:k:u:k=1", PFM_OS_NONE, "skx", "UNHALTED_CORE_CYCLES",
	      "k=1 u=1");
	refuses("skx::UNHALTED_CORE_CYCLES:k:u:k=0", PFM_OS_NONE, PFM_ERR_ATTR_SET);
	reads("skx::L2_RQSTS:CODE_RD_HIT:CODE_RD_HIT:c=1", PFM_OS_NONE, "skx", "L2_RQSTS",
	      "CODE_RD_HIT c=1");
}

static void masks_have_no_values_and_raw_masks_are_numbers(void **state)
{
	(void)state;
	reads("skx::L2_RQSTS:code_rd_hit:DEMAND_DATA_RD_MISS", PFM_OS_NONE, "skx", "L2_RQSTS",
	      "CODE_RD_HIT DEMAND_DATA_RD_MISS");
	refuses("skx::L2_RQSTS:CODE_RD_HI", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:CODE_RD_HIT=1", PFM_OS_NONE, PFM_ERR_ATTR);
	reads("skx::L2_RQSTS:0x2f", PFM_OS_NONE, "skx", "L2_RQSTS", "raw=47");
	reads("skx::L2_RQSTS:0X2F:c=1", PFM_OS_NONE, "skx", "L2_RQSTS", "raw=47 c=1");
	refuses("skx::L2_RQSTS:0x2f=1", PFM_OS_NONE, PFM_ERR_ATTR_VAL);
	refuses("skx::L2_RQSTS:0x", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:0x2g", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:0x2f:0x2e", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:CODE_RD_HIT:0x2f", PFM_OS_NONE, PFM_ERR_ATTR);
	refuses("skx::L2_RQSTS:0x2f:CODE_RD_HIT", PFM_OS_NONE, PFM_ERR_ATTR);
	l4_begin("GenuineIntel-6-55-4", INACTIVE);
	refuses("power9::PM_CYC:0x2f", PFM_OS_NONE, PFM_ERR_ATTR); /* a PMU without raw masks */
	l4_end_case();
}

/* As many attributes as there is room for. */
static void one_attribute_more_than_fit_is_refused(void **state)
{
	char text[1024] = "skx::UNHALTED_CORE_CYCLES";
	struct l4_query q;

	(void)state;
	for (unsigned i = 0; i < L4_MAX_ATTRS; i++)
		strcat(text, ":k");
	assert_int_equal(l4_parse_event(text, PFM_OS_NONE, &q), PFM_SUCCESS);
	strcat(text, ":k");
	assert_int_equal(l4_parse_event(text, PFM_OS_NONE, &q), PFM_ERR_TOOMANY);
}

static void raw_events_are_r_and_a_hexadecimal_number(void **state)
{
	static const char *const bad[] = { "perf_raw::r",
		                           "perf_raw::R53",
		                           "perf_raw::r0x",
		                           "perf_raw::r53g",
		                           "perf_raw::rx",
		                           "perf_raw::53",
		                           "perf_raw::rffffffffffffffff" };
	struct l4_query q;

	(void)state;
	assert_int_equal(l4_parse_event("perf_raw::r5300c0", PFM_OS_PERF_EVENT, &q), PFM_SUCCESS);
	assert_true(q.raw_code == 0x5300c0 && q.n_attrs == 0);
	assert_int_equal(l4_parse_event("perf_raw::rfffffffffffffffe:u", PFM_OS_PERF_EVENT, &q),
	                 PFM_SUCCESS);
	assert_true(q.raw_code == UINT64_MAX - 1 && q.n_attrs == 1);
	assert_int_equal(l4_parse_event("perf_raw::r0", PFM_OS_PERF_EVENT, &q), PFM_SUCCESS);
	for (size_t i = 0; i < COUNT(bad); i++)
		refuses(bad[i], PFM_OS_PERF_EVENT, PFM_ERR_NOTFOUND);
}

/* An alias is parsed as its target with the target's unit masks; the user's attributes come after
 * them. */
static void an_alias_reads_as_its_target(void **state)
{
	unsigned n = 0, with_attributes = 0;

	(void)state;
	l4_begin("GenuineIntel-6-55-4", INACTIVE);
	for (uint32_t i = 0; i < l4_image.pmus.n_elements; i++)
		for (uint32_t pos = 0; pos < l4_get_event_end(i); pos++) {
			struct l4_event ev, named;
			struct l4_query q;
			char text[256];
			const char *target;

			if (!l4_get_event(i, pos, &ev) || ev.is_tracepoint_system ||
			    !ev.row->alias_target)
				continue;
			if (!l4_find_event(i, l4_get_event_name(&ev),
			                   strlen(l4_get_event_name(&ev)), &named) ||
			    !named.row->alias_target)
				continue; /* another one of that name comes first */
			target = l4_get_text(named.row->alias_target);
			snprintf(text, sizeof(text), "%s::%s", l4_get_text(ev.pmu->name),
			         l4_get_event_name(&ev));
			assert_int_equal(l4_parse_event(text, PFM_OS_NONE, &q), PFM_SUCCESS);
			assert_int_equal(q.n_attrs, q.n_alias_attrs);
			assert_string_equal(l4_get_event_name(&q.named_event),
			                    l4_get_event_name(&ev));
			assert_true(l4_is_same_name(l4_get_event_name(&q.event), target,
			                            strcspn(target, ":.")));
			with_attributes += q.n_attrs > 0;
			n++;
		}
	assert_true(n > 20 && with_attributes > 0);
	l4_end_case();
}

UNIT(compat_libpfm4_parse, cmocka_unit_test(prefixes_are_whole_names_of_pmus),
     cmocka_unit_test(blanks_and_commas_are_refused),
     cmocka_unit_test(values_of_attributes_are_read_by_their_kind),
     cmocka_unit_test(attributes_of_the_kernel),
     cmocka_unit_test(a_repeated_attribute_with_another_value_is_refused),
     cmocka_unit_test(masks_have_no_values_and_raw_masks_are_numbers),
     cmocka_unit_test(one_attribute_more_than_fit_is_refused),
     cmocka_unit_test(raw_events_are_r_and_a_hexadecimal_number),
     cmocka_unit_test(an_alias_reads_as_its_target));
