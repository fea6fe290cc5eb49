/* SPDX-License-Identifier: MIT */
/* perf's grammar, against texts put together from the numbers. */
#include "unit_tables.h"
#include <perfmon/types.h>
#include "format/printer.h"

/* Modifiers print as letters in perf's order, in any combination. */
static void modifiers_print_in_the_order_of_perf(void **state)
{
	uint64_t random = 41;

	(void)state;
	for (unsigned i = 0; i < 4096; i++) {
		uint64_t r = unit_random(&random);
		struct event ev = { .precise = (uint8_t)(r >> 8 & 3) };
		char expect[12], got[12];
		unsigned n = 0;

		ev.plm = (r & 1 ? PFM_PLM3 : 0u) | (r & 2 ? PFM_PLM0 : 0u) |
		         (r & 4 ? PFMI_PLMH : 0u);
		ev.exclude_flags = (r & 8 ? EVENT_ONLY_GUEST : 0u) |
		                   (r & 16 ? EVENT_ONLY_HOST : 0u) |
		                   (r & 32 ? EVENT_EXCLUDE_IDLE : 0u);
		for (unsigned k = 0; k < 3; k++)
			if (r >> k & 1)
				expect[n++] = "ukh"[k];
		memset(expect + n, 'p', ev.precise);
		n += ev.precise;
		for (unsigned k = 0; k < 3; k++)
			if (r >> (3 + k) & 1)
				expect[n++] = "GHI"[k];
		expect[n] = '\0';
		pfmi_format_write_perf_modifiers(&ev, got);
		assert_string_equal(got, expect);
	}
}

static void set(struct event *ev, enum field_key key, uint64_t value)
{
	if (value)
		assert_true(pfmi_pmu_set_user_field(
			ev, table_get_key_field_plus1(ev->table, key) - 1, value));
}

/* Code and unit mask of a row without groups, with fields that the user set. Fields of 0 are
 * omitted. */
static void fields_of_0_are_left_out(void **state)
{
	const struct table *t = table_with(ENCODER_X86, "coreduo");
	uint64_t random = 42;
	unsigned tried = 0;

	(void)state;
	for (uint32_t row = 0; row < t->n_rows; row++) {
		for (unsigned i = 0; i < 20 && is_event(t, row) && !table_get_row(t, row)->n_groups;
		     i++, tried++) {
			uint64_t r = unit_random(&random),
				 umask = pfmi_table_get_row_value(t, row, KEY_UMASK, ANY_COUNTER);
			unsigned cmask = r & 1 ? (unsigned)(r >> 8 & 255) : 0, inv = r >> 1 & 1,
				 edge = r >> 2 & 1;
			static struct event_printer p;
			struct event ev;
			char expect[128];
			int n;

			pfmi_pmu_init_event(&ev, t, row);
			if (pfmi_pmu_get_field_value(
				    &ev, table_get_key_field_plus1(t, KEY_EDGE) - 1, ANY_COUNTER))
				continue;
			set(&ev, KEY_CMASK, cmask);
			set(&ev, KEY_INV, inv);
			set(&ev, KEY_EDGE, edge);
			ev.plm = r & 8 ? PFM_PLM3 : 0;
			n = snprintf(
				expect, sizeof(expect), "cpu/event=0x%x",
				(unsigned)pfmi_table_get_row_value(t, row, KEY_CODE, ANY_COUNTER));
			if (umask)
				n += snprintf(expect + n, sizeof(expect) - (size_t)n, ",umask=0x%x",
				              (unsigned)umask);
			if (cmask)
				n += snprintf(expect + n, sizeof(expect) - (size_t)n, ",cmask=%u",
				              cmask);
			snprintf(expect + n, sizeof(expect) - (size_t)n, "%s%s/%s",
			         inv ? ",inv" : "", edge ? ",edge" : "", ev.plm ? "u" : "");
			p = (struct event_printer){ .event = &ev,
				                    .table = t,
				                    .dialect = PFM_DIALECT_PERF,
				                    .device = pfmi_base_make_slice("cpu") };
			assert_true(pfmi_format_append_perf_event(&p));
			assert_string_equal(p.text, expect);
		}
	}
	assert_true(tried > 1000);
}

/* Settings that perf's grammar cannot express are refused with the reason. */
static void settings_that_perf_has_no_term_for_are_refused(void **state)
{
	const struct table *t = table_with(ENCODER_X86, "coreduo");
	static struct event_printer p;
	struct event ev;

	(void)state;
	p = (struct event_printer){ .event = &ev,
		                    .table = t,
		                    .dialect = PFM_DIALECT_PERF,
		                    .device = pfmi_base_make_slice("cpu") };
	pfmi_pmu_init_event(&ev, t, 0);
	ev.has_no_levels = true;
	assert_false(pfmi_format_append_perf_event(&p));
	assert_string_equal(p.reason, "perf cannot express a count without a privilege level");
	pfmi_pmu_init_event(&ev, t, 0);
	ev.plm = PFM_PLM1;
	p.reason = NULL;
	assert_false(pfmi_format_append_perf_event(&p));
	assert_string_equal(p.reason, "perf distinguishes user, kernel and hypervisor only");
	pfmi_pmu_init_event(&ev, t, 0);
	ev.counter_pin = 1;
	p.reason = NULL;
	assert_false(pfmi_format_append_perf_event(&p));
	assert_string_equal(p.reason, "perf leaves the choice of the counter to the kernel");
}

/* perf's spelling of an event whose text sets @field to @value, even to 0, encodes the same
 * extra register. */
static void keeps_its_register(const pfm_ctx_t *ctx, const char *event, const char *field,
                               unsigned value)
{
	pfm_encoding_t first = PFM_INIT(first), again = PFM_INIT(again);
	char text[512], perf[512];

	snprintf(text, sizeof(text), "%s:%s=%u", event, field, value);
	assert_int_equal(pfm_encode_event(ctx, text, 0, &first, NULL), PFMLIB_SUCCESS);
	assert_int_equal(first.n_regs, 2);
	assert_int_equal(pfm_print_event(ctx, text, PFM_DIALECT_PERF, perf, sizeof(perf), NULL),
	                 PFMLIB_SUCCESS);
	assert_non_null(strstr(perf, field));
	assert_int_equal(pfm_encode_event(ctx, perf, 0, &again, NULL), PFMLIB_SUCCESS);
	if (again.n_regs != 2 || memcmp(again.regs, first.regs, 2 * sizeof(first.regs[0])) != 0)
		fail_msg("%s is read as another register than %s", perf, text);
}

static void extra_registers_print_as_terms_that_read_back(void **state)
{
	static const enum field_key keys[] = { KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND };
	unsigned tried = 0;

	(void)state;
	for (unsigned k = 0; k < table_count_builtins(); k++) {
		const struct table *t = table_get_builtin(k);
		pfm_ctx_options_t o = PFM_INIT(o);
		pfm_ctx_t *ctx;

		if (t->encoder != ENCODER_X86 || t->flags & TABLE_COMPAT_VIEW ||
		    !(table_get_key_field_plus1(t, KEY_LDLAT) |
		      table_get_key_field_plus1(t, KEY_FRONTEND)))
			continue;
		o.pmu = table_get_text(t, t->name);
		o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
		assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
		for (uint32_t row = 0, n = 0; row < t->n_rows && n < 5; row++) {
			const struct row *r = table_get_row(t, row);

			/* The row counts on a general counter, has no extra register of its own,
			 * and is found by its name. */
			if (r->n_groups ||
			    r->flags & (ROW_SHADOWED | ROW_METRIC | ROW_FREE_RUNNING) ||
			    pfmi_table_has_row_value(t, row, KEY_MSR) ||
			    !(table_get_row_counter_mask(t, r) & 1))
				continue;
			for (unsigned i = 0; i < COUNT(keys); i++)
				for (unsigned value = 0;
				     table_get_key_field_plus1(t, keys[i]) && value < 3;
				     value++, tried++)
					keeps_its_register(
						ctx, table_get_text(t, r->name),
						table_get_text(
							t, table_get_key_field(t, keys[i])->name),
						value);
			n++;
		}
		pfm_close_context(ctx);
	}
	assert_true(tried > 100);
}

/* Texts and their terms. iperf_cfg of the router of Nehalem EX (bits 0 to 31 of config1) has the
 * bits of qlx_cfg (0 to 15) too, and xbr_match is all of config1. Code 0 of Zhaoxin, unlike
 * Intel's, is on general counters. */
static void one_term_for_bits_of_several_fields(void **state)
{
	static const struct {
		const char *pmu, *text, *perf;
	} rows[] = {
		{ "nhm_ex_rbox", "qpi0_idle_filt:qlx_cfg=5", "uncore_rbox/iperf_cfg=0x40000005/" },
		{ "nhm_ex_rbox", "raw:qlx_cfg=5", "uncore_rbox/qlx_cfg=5/" },
		{ "nhm_ex_rbox", "raw:xbr_match=0x100000005",
		  "uncore_rbox/xbr_match=0x100000005/" },
		{ "zxd", "L1_ICACHE_LOADS:edge=1", "cpu/event=0x0,umask=0x3,edge/" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		pfm_ctx_options_t o = PFM_INIT(o);
		char perf[512];
		pfm_ctx_t *ctx;

		o.pmu = rows[i].pmu;
		o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
		assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfm_print_event(ctx, rows[i].text, PFM_DIALECT_PERF, perf,
		                                 sizeof(perf), NULL),
		                 PFMLIB_SUCCESS);
		assert_string_equal(perf, rows[i].perf);
		pfm_close_context(ctx);
	}
}

/* A load latency event is precise by its row; Linux hsw_hw_config refuses filters of transactions
 * then. Without them the text asks for the precision. */
static void filters_that_precise_events_lack(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	char perf[512];
	pfm_ctx_t *ctx;

	(void)state;
	o.pmu = "icx";
	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_print_event(ctx, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128",
	                                 PFM_DIALECT_PERF, perf, sizeof(perf), NULL),
	                 PFMLIB_SUCCESS);
	assert_non_null(strstr(perf, "/p"));
	assert_int_equal(pfm_print_event(ctx, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128:in_tx=1",
	                                 PFM_DIALECT_PERF, perf, sizeof(perf), NULL),
	                 PFMLIB_ERR_NOTSUPP);
	pfm_close_context(ctx);
}

UNIT(format_print_perf, cmocka_unit_test(filters_that_precise_events_lack),
     cmocka_unit_test(one_term_for_bits_of_several_fields),
     cmocka_unit_test(modifiers_print_in_the_order_of_perf),
     cmocka_unit_test(fields_of_0_are_left_out),
     cmocka_unit_test(settings_that_perf_has_no_term_for_are_refused),
     cmocka_unit_test(extra_registers_print_as_terms_that_read_back));
