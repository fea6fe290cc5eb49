/* SPDX-License-Identifier: MIT */
/* Levels, precision, the counter and perf's letters. */
#include "units.h"
#include "attr_texts.h"

/* Two attributes of one text contradict each other: the error marks the second one. */
static void attributes_that_contradict(void **state)
{
	static const struct wrong lines[] = {
		{ "Instr_Ret:u=0:u", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 15 },
		{ "Instr_Ret:u:u=0", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 12, 13 },
		{ "Instr_Ret:k=n:u:k=y", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 16, 17 },
		{ "Instr_Ret:h=0:h", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 15 },
		{ "Instr_Ret:h=0:hv", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 16 },
		{ "Instr_Ret:u=0:uk", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 15 },
		{ "Instr_Ret:uk:k=0", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 13, 14 },
		{ "Instr_Ret:u=0:plm=0x8", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 17 },
		{ "Instr_Ret:plm=0x9:k=0", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 18, 19 },
		{ "Instr_Ret:plm=0x1:plm=0x8", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 18, 21 },
		{ "Instr_Ret:counter=0:counter=1", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 20, 27 },
		{ "Instr_Ret:precise=1:precise=2", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 20, 27 },
		{ "Instr_Ret:p:precise=2", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 12, 19 },
		{ "Instr_Ret:e=0:e", PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT, 14, 15 },
	};
	static const struct right same[] = {
		{ "Instr_Ret:u:u=1", 0x5100c0 },
		{ "Instr_Ret:k=0:u:k=n", 0x5100c0 },
		{ "Instr_Ret:plm=0x8:plm=0x8:u", 0x5100c0 },
		{ "Instr_Ret:counter=0:counter=0", 0x5300c0 },
	};

	(void)state;
	check_errors("coreduo", lines, sizeof(lines) / sizeof(lines[0]));
	check_values("coreduo", same, sizeof(same) / sizeof(same[0]));
}

static void refused_numbers_come_with_their_range(void **state)
{
	static const struct {
		const char *text, *detail;
	} lines[] = {
		{ "Instr_Ret:counter=64", "a counter from 0 to 63" },
		{ "Instr_Ret:plm=0x10", "levels from 0 to 15" },
		{ "Instr_Ret:precise=4", "a precise level from 0 to 3" },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t encoding = PFM_INIT(encoding);
		pfm_error_t error = PFM_INIT(error);

		assert_int_equal(pfm_encode_event(ctx, lines[i].text, 0, &encoding, &error),
		                 PFMLIB_ERR_ATTR_VAL);
		assert_non_null(strstr(error.detail, lines[i].detail));
	}
	pfm_close_context(ctx);
}

/* perf's letters G, H and I exclude host, guest and idle time. After a colon, unit masks and
 * libpfm's modifiers take precedence over them. */
static void guests_host_and_idle_time(void **state)
{
	static const struct {
		const char *text;
		unsigned idle, host, guest;
		uint64_t value;
	} lines[] = {
		{ "cpu/event=0xc0/G", 0, 1, 0, 0x5300c0 },
		{ "cpu/event=0xc0/H", 0, 0, 1, 0x5300c0 },
		{ "cpu/event=0xc0/I", 1, 0, 0, 0x5300c0 },
		{ "cpu/event=0xc0/GH", 0, 0, 0, 0x5300c0 },
		{ "cpu/event=0xc0/ukhpppHI", 1, 0, 1, 0x5300c0 },
		{ "cpu/event=0xc0/DSW", 0, 0, 0, 0x5300c0 },
		{ "Instr_Ret:G", 0, 1, 0, 0x5300c0 },
		{ "Instr_Ret:H", 0, 0, 1, 0x5300c0 },
		{ "Instr_Ret:uGI", 1, 1, 0, 0x5100c0 },
		{ "Instr_Ret:I", 0, 0, 0, 0xd300c0 },
		{ "Instr_Ret:i", 0, 0, 0, 0xd300c0 },
		{ "Instr_Ret:h", 0, 0, 0, 0x5000c0 },
		{ "L2_Rqsts,cachestate=i", 0, 0, 0, 0x53712e },
		{ "r00c0:I", 1, 0, 0, 0x5300c0 },
		{ "r00c0:HG", 0, 0, 0, 0x5300c0 },
	};
	pfm_ctx_t *ctx = open_for("coreduo");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e), back = PFM_INIT(back);
		pfm_error_t error = PFM_INIT(error);
		char buf[256];

		if (pfm_encode_event(ctx, lines[i].text, 0, &e, &error))
			fail_msg("%s: %s", lines[i].text, pfm_error_kind_name(error.kind));
		if (e.attr.exclude_idle != lines[i].idle || e.attr.exclude_host != lines[i].host ||
		    e.attr.exclude_guest != lines[i].guest || e.regs[0].value != lines[i].value)
			fail_msg("%s: idle %d, host %d, guest %d left out, 0x%llx", lines[i].text,
			         e.attr.exclude_idle, e.attr.exclude_host, e.attr.exclude_guest,
			         (unsigned long long)e.regs[0].value);
		/* Only perf's dialect can express these letters; its text encodes to the same
		 * attributes. */
		assert_int_equal(pfm_print_event(ctx, lines[i].text, PFM_DIALECT_PERF, buf,
		                                 sizeof(buf), NULL),
		                 PFMLIB_SUCCESS);
		assert_int_equal(pfm_encode_event(ctx, buf, 0, &back, NULL), PFMLIB_SUCCESS);
		assert_memory_equal(&e.attr, &back.attr, sizeof(e.attr));
		for (int d = PFM_DIALECT_LIBPFM;
		     d <= PFM_DIALECT_VENDOR && lines[i].idle + lines[i].host + lines[i].guest; d++)
			if (d != PFM_DIALECT_PERF) {
				assert_int_equal(pfm_print_event(ctx, lines[i].text,
				                                 (pfm_dialect_t)d, buf, sizeof(buf),
				                                 &error),
				                 PFMLIB_ERR_NOTSUPP);
				assert_int_equal(error.kind, PFM_KIND_UNEXPRESSIBLE);
			}
	}
	pfm_close_context(ctx);
}

UNIT(lookup_attr_levels, cmocka_unit_test(attributes_that_contradict),
     cmocka_unit_test(refused_numbers_come_with_their_range),
     cmocka_unit_test(guests_host_and_idle_time));
