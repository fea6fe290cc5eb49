/* SPDX-License-Identifier: MIT */
/* Tracepoints, breakpoints and events of the kernel's own PMUs, by name, on recorded machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "expect.h"
#include "context/context.h"
#include "fake_sys.h"

static struct fake fake;

static struct slice make_slice(const char *s)
{
	return (struct slice){ s, (uint32_t)strlen(s) };
}

static int done(void **state)
{
	(void)state;
	fake_end(&fake);
	return 0;
}

static void tracepoints_are_found_under_both_mount_points(void **state)
{
	uint64_t id;

	(void)state;
	fake_recorded(&fake, "hybrid");
	assert_int_equal(pfmi_lookup_tracepoint_id(&fake.sys, make_slice("sched"),
	                                           make_slice("sched_switch"), &id),
	                 0);
	assert_int_equal(id, 372);
	assert_int_equal(pfmi_lookup_tracepoint_id(&fake.sys, make_slice("sched"),
	                                           make_slice("nothing"), &id),
	                 -ENOENT);
	assert_int_equal(
		pfmi_lookup_tracepoint_id(&fake.sys, make_slice(".."), make_slice("x"), &id),
		-ENOENT);
	assert_int_equal(
		pfmi_lookup_tracepoint_id(&fake.sys, make_slice("sched"), make_slice("a/b"), &id),
		-ENOENT);
	fake_remove(&fake, "/sys/kernel/tracing/events/sched/sched_switch/id");
	fake_remove(&fake, "/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id");
	assert_int_equal(pfmi_lookup_tracepoint_id(&fake.sys, make_slice("sched"),
	                                           make_slice("sched_switch"), &id),
	                 -ENODEV);
	fake_file(&fake, "/sys/kernel/debug/tracing/events/sched/sched_switch/id", "7");
	assert_int_equal(pfmi_lookup_tracepoint_id(&fake.sys, make_slice("sched"),
	                                           make_slice("sched_switch"), &id),
	                 0);
	assert_int_equal(id, 7);
	fake.fail = FAKE_OPEN;
	fake.fail_at = 1;
	fake.fail_on = true;
	fake.fail_errno = EACCES;
	fake.uses[FAKE_OPEN] = 0;
	assert_int_equal(pfmi_lookup_tracepoint_id(&fake.sys, make_slice("sched"),
	                                           make_slice("sched_switch"), &id),
	                 -EACCES);
}

/* A context that looks at the fake machine. */
static pfm_ctx_t *open_machine_context(const char *machine)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx;

	fake_recorded(&fake, machine);
	o.flags = PFM_CTX_NO_IMAGES;
	o.cpuid = "GenuineIntel-6-97-2";
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	ctx->sys = fake.sys;
	return ctx;
}

static int encode(const pfm_ctx_t *ctx, const char *text, perfmon_attr_t *attr, pfm_error_t *why)
{
	pfm_encoding_t e = PFM_INIT(e);
	int rc = pfm_encode_event(ctx, text, 0, &e, why);

	*attr = e.attr;
	return rc;
}

static void kernel_events_by_name(void **state)
{
	static const struct {
		const char *text;
		uint64_t config, config1, config2;
		uint32_t type;
		int user_only;
	} rows[] = {
		{ "sched:sched_switch", 372, 0, 0, 2, 0 },
		{ "sched:sched_switch:u", 372, 0, 0, 2, 1 },
		{ "mem:0x1000", 3, 0x1000, 4, 5, 0 },
		{ "mem:0x1000/8", 3, 0x1000, 8, 5, 0 },
		{ "mem:0x1000/2:w", 2, 0x1000, 2, 5, 0 },
		{ "mem:0x1000:x:u", 4, 0x1000, sizeof(long), 5, 1 },
		{ "mem:4096/1:rw", 3, 4096, 1, 5, 0 },
		{ "cpu_core/instructions/", 0xc0, 0, 0, 4, 0 },
		{ "cpu_core/instructions,cmask=2,inv/u", 0x28000c0, 0, 0, 4, 1 },
		{ "cpu_core/cycles/", 0x3c, 0, 0, 4, 0 },
		{ "cpu_core::cycles", 0x3c, 0, 0, 4, 0 },
		{ "cpu_core::cycles:u", 0x3c, 0, 0, 4, 1 },
		{ "cpu_core::cycles,cmask=2", 0x200003c, 0, 0, 4, 0 },
		{ "cpu_atom::cycles", 0x3c, 0, 0, 10, 0 },
		{ "cpu_atom/event=0x2e,umask=0x41/", 0x412e, 0, 0, 10, 0 },
		{ "cpu_atom/config=0x1234,config1=7/", 0x1234, 7, 0, 10, 0 },
		{ "power/energy-pkg/", 2, 0, 0, 20, 0 },
		{ "uncore_imc/data_reads/", 1, 0, 0, 21, 0 },
		{ "uncore_imc_1/data_reads/", 1, 0, 0, 22, 0 },
	};
	pfm_ctx_t *ctx = open_machine_context("hybrid");

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		perfmon_attr_t attr;
		pfm_error_t why = PFM_INIT(why);
		int rc = encode(ctx, rows[i].text, &attr, &why);

		if (rc || attr.type != rows[i].type || attr.config != rows[i].config ||
		    attr.config1 != rows[i].config1 || attr.config2 != rows[i].config2 ||
		    attr.exclude_kernel != rows[i].user_only)
			fail_msg("%s: %d (%s), type %u config %llx %llx %llx", rows[i].text, rc,
			         why.detail ? why.detail : "", attr.type,
			         (unsigned long long)attr.config, (unsigned long long)attr.config1,
			         (unsigned long long)attr.config2);
	}
	pfm_close_context(ctx);
}

/* Texts in perf's syntax give the same events: devices with one or several instances, terms,
 * levels. */
static void kernel_events_as_perf_writes_them(void **state)
{
	static const char *const rows[] = {
		"cpu_core/instructions/",
		"cpu_core/instructions,cmask=2,inv/u",
		"cpu_core::cycles:u",
		"cpu_atom::cycles",
		"cpu_atom/event=0x2e,umask=0x41/",
		"cpu_atom/config=0x1234,config1=7/",
		"power/energy-pkg/",
		"uncore_imc/data_reads/",
		"uncore_imc_1/data_reads/",
		"uncore_imc_1/event=0x1/",
	};
	pfm_ctx_t *ctx = open_machine_context("hybrid");

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		perfmon_attr_t attr, again;
		char text[256];

		assert_int_equal(
			pfm_print_event(ctx, rows[i], PFM_DIALECT_PERF, text, sizeof(text), NULL),
			PFMLIB_SUCCESS);
		assert_memory_equal(text, rows[i], strcspn(rows[i], "/:"));
		assert_int_equal(encode(ctx, rows[i], &attr, NULL), PFMLIB_SUCCESS);
		assert_int_equal(encode(ctx, text, &again, NULL), PFMLIB_SUCCESS);
		if (memcmp(&attr, &again, sizeof(attr)) != 0)
			fail_msg("%s is another event than %s", text, rows[i]);
	}
	pfm_close_context(ctx);
}

static void wrong_kernel_events_are_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		pfm_error_kind_t kind;
	} rows[] = {
		{ "sched:nothing", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT },
		{ "mem:", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT },
		{ "mem:here", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "mem:0x1000/9", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "mem:0x1000/", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "mem:0x1000:q", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER },
		{ "sched:sched_switch:zz", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER },
		{ "cpu_core/event=0x100/", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "cpu_core/nothing/", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER },
		{ "cpu_core::nothing", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT },
		{ "power::cycles", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT },
		{ "cpu_none/event=1/", PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU },
	};
	pfm_ctx_t *ctx = open_machine_context("hybrid");

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		perfmon_attr_t attr;
		pfm_error_t why = PFM_INIT(why);
		int rc = encode(ctx, rows[i].text, &attr, &why);

		if (rc != rows[i].code || why.kind != rows[i].kind ||
		    why.end > strlen(rows[i].text))
			fail_msg("%s: %d %s at %u-%u", rows[i].text, rc,
			         pfm_error_kind_name(why.kind), why.start, why.end);
	}
	pfm_close_context(ctx);
}

static void parameters_of_kernel_events(void **state)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{ "hv_24x7/PM_PB_CYC/",
		  "\"PM_PB_CYC\" requires a value for chip: write hv_24x7/PM_PB_CYC,chip=NUMBER/" },
		{ "hv_24x7/PM_PB_CYC,domain=2/u", "\"PM_PB_CYC\" requires a value for chip: write "
		                                  "hv_24x7/PM_PB_CYC,domain=2,chip=NUMBER/u" },
		{ "hv_24x7::PM_PB_CYC",
		  "\"PM_PB_CYC\" requires a value for chip: write hv_24x7::PM_PB_CYC,chip=NUMBER" },
	};
	char sentence[256];
	pfm_ctx_t *ctx = open_machine_context("uncore");
	pfm_error_t why = PFM_INIT(why);
	perfmon_attr_t attr;

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_ROW_NUMBER(rows[i].text, encode(ctx, rows[i].text, &attr, &why),
		                  PFMLIB_ERR_ATTR_MISSING);
		EXPECT_ROW_NUMBER(rows[i].text, why.kind, PFM_KIND_MISSING_VALUE);
		EXPECT_ROW_NUMBER(rows[i].text, why.end - why.start, strlen("PM_PB_CYC"));
		assert_memory_equal(rows[i].text + why.start, "PM_PB_CYC", strlen("PM_PB_CYC"));
		pfm_explain_error(ctx, rows[i].text, &why, sentence, sizeof(sentence));
		EXPECT_ROW_TEXT(rows[i].text, sentence, rows[i].sentence);
	}
	assert_int_equal(encode(ctx, "hv_24x7/PM_PB_CYC,chip=3/", &attr, &why), PFMLIB_SUCCESS);
	assert_true(attr.config == 0x6000030001);
	assert_int_equal(encode(ctx, "hv_24x7/PM_PB_CYC,chip=3,domain=2/", &attr, &why),
	                 PFMLIB_SUCCESS);
	assert_true(attr.config == 0x6000030002);
	pfm_close_context(ctx);
}

static void unreadable_tracefs_is_explained(void **state)
{
	pfm_ctx_t *ctx = open_machine_context("hybrid");
	pfm_error_t why = PFM_INIT(why);
	perfmon_attr_t attr;

	(void)state;
	assert_int_equal(encode(ctx, "cycles", &attr, &why), PFMLIB_SUCCESS);
	fake.fail = FAKE_OPEN;
	fake.fail_at = 1;
	fake.fail_on = true;
	fake.fail_errno = EACCES;
	assert_int_equal(encode(ctx, "sched:sched_switch", &attr, &why), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(why.kind, PFM_KIND_UNKNOWN_EVENT);
	assert_int_equal(why.sys_errno, EACCES);
	assert_non_null(strstr(why.detail, "only root can read tracefs"));
	pfm_close_context(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(tracepoints_are_found_under_both_mount_points, done),
		cmocka_unit_test_teardown(kernel_events_by_name, done),
		cmocka_unit_test_teardown(kernel_events_as_perf_writes_them, done),
		cmocka_unit_test_teardown(wrong_kernel_events_are_refused, done),
		cmocka_unit_test_teardown(parameters_of_kernel_events, done),
		cmocka_unit_test_teardown(unreadable_tracefs_is_explained, done),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
