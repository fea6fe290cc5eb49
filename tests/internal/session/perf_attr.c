/* SPDX-License-Identifier: MIT */
/* Encodings in perf_event_attr: each member is at its place, and members that are not set stay
 * unchanged. */
#include "units.h"
#include <perfmon/perf_attr.h>
#include "session/perf_event_internal.h"

static void fill(union perf_attr_buffer *to, const perfmon_attr_t *from, size_t room, int rc)
{
	assert_int_equal(pfmi_perf_fill_attr(from, &to->attr, room), rc);
}

static void words(void **state)
{
	const perfmon_attr_t from = { .type = 0x80000004,
		                      .config = UINT64_MAX - 1,
		                      .config1 = 0x123456789abcdef0,
		                      .config2 = 0xfedcba9876543210 };
	union perf_attr_buffer a = { .words = { 0 } };

	(void)state;
	fill(&a, &from, sizeof(a), PFMLIB_SUCCESS);
	assert_int_equal(a.attr.type, 0x80000004);
	assert_int_equal(a.attr.size, sizeof(a.attr));
	/* Places in the kernel's ABI: config is the second word, config1 and config2 the eighth
	 * and ninth. */
	assert_true(a.words[1] == from.config && a.words[7] == from.config1 &&
	            a.words[8] == from.config2);
	assert_true(a.attr.bp_type == 0);
}

/* config3 is the 17th word, after the end of older structs: the buffer must have 136 bytes. */
static void third_word(void **state)
{
	const perfmon_attr_t from = { .config3 = 0xaabbccdd11223344 };
	union perf_attr_buffer a = { .words = { 0 } };

	(void)state;
	fill(&a, &from, 135, PFMLIB_ERR_FULL);
	for (size_t i = 0; i < COUNT(a.words); i++)
		assert_true(a.words[i] == 0);
	fill(&a, &from, 136, PFMLIB_SUCCESS);
	assert_int_equal(a.attr.size, 136);
	assert_true(a.words[16] == from.config3 && a.words[15] == 0 && a.words[17] == 0);
}

static void room(void **state)
{
	const perfmon_attr_t from = { .type = 4, .config = 5 };

	(void)state;
	for (size_t size = 0; size <= sizeof(union perf_attr_buffer); size++) {
		union perf_attr_buffer a = { .words = { 0 } };
		bool enough = size >= 80; /* PERF_ATTR_SIZE_VER1 */

		fill(&a, &from, size, enough ? PFMLIB_SUCCESS : PFMLIB_ERR_FULL);
		assert_int_equal(a.attr.size, !enough                 ? 0
		                              : size < sizeof(a.attr) ? size
		                                                      : sizeof(a.attr));
		assert_int_equal(a.attr.type, enough ? 4 : 0);
	}
}

/* A breakpoint has its kind in bp_type, beside its address and length. */
static void breakpoints(void **state)
{
	const perfmon_attr_t from = {
		.type = PERF_TYPE_BREAKPOINT, .config = 3, .config1 = 0x7fff0000, .config2 = 8
	};
	union perf_attr_buffer a = { .words = { 0 } };

	(void)state;
	fill(&a, &from, sizeof(a.attr), PFMLIB_SUCCESS);
	assert_true(a.attr.type == PERF_TYPE_BREAKPOINT && a.attr.config == 0);
	assert_true(a.attr.bp_type == 3 && a.attr.bp_addr == 0x7fff0000 && a.attr.bp_len == 8);
}

/* Levels follow the text; other switches are set where the text sets them and unchanged otherwise.
 */
static void switches(void **state)
{
	(void)state;
	for (unsigned asked = 0; asked < 256; asked++)
		for (unsigned had = 0; had < 2; had++) {
			const perfmon_attr_t from = { .exclude_user = asked & 1,
				                      .exclude_kernel = asked >> 1 & 1,
				                      .exclude_hv = asked >> 2 & 1,
				                      .exclude_idle = asked >> 3 & 1,
				                      .exclude_host = asked >> 4 & 1,
				                      .exclude_guest = asked >> 5 & 1,
				                      .pinned = asked >> 6 & 1,
				                      .precise = asked >> 7 ? 3 : 2 };
			union perf_attr_buffer a = { .words = { 0 } };

			a.attr.exclude_user = a.attr.exclude_kernel = a.attr.exclude_hv = had & 1u;
			a.attr.exclude_idle = a.attr.exclude_host = a.attr.exclude_guest =
				a.attr.pinned = had & 1u;
			a.attr.inherit = had & 1u;
			a.attr.precise_ip = 1;
			fill(&a, &from, sizeof(a.attr), PFMLIB_SUCCESS);
			assert_int_equal(a.attr.exclude_user, from.exclude_user);
			assert_int_equal(a.attr.exclude_kernel, from.exclude_kernel);
			assert_int_equal(a.attr.exclude_hv, from.exclude_hv);
			assert_int_equal(a.attr.exclude_idle, from.exclude_idle | had);
			assert_int_equal(a.attr.exclude_host, from.exclude_host | had);
			assert_int_equal(a.attr.exclude_guest, from.exclude_guest | had);
			assert_int_equal(a.attr.pinned, from.pinned | had);
			assert_int_equal(a.attr.precise_ip, from.precise);
			assert_int_equal(a.attr.inherit, had);
		}
}

/* The public call refuses a missing encoding, an event that the kernel cannot count, and an event
 * of another processor. */
static void refusals(void **state)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	struct perf_event_attr attr = { 0 };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_ctx_t *ctx;

	(void)state;
	assert_int_equal(pfm_open_context(&ctx, &options, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event(ctx, "software::page-faults", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_fill_perf_event_attr(ctx, NULL, &attr, sizeof(attr)),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_fill_perf_event_attr(ctx, &e, NULL, sizeof(attr)), PFMLIB_ERR_INVAL);
	for (int pmu = -2; pmu < 0; pmu++) {
		pfm_encoding_t none = e;

		none.pmu = pmu;
		assert_int_equal(pfm_fill_perf_event_attr(ctx, &none, &attr, sizeof(attr)),
		                 PFMLIB_ERR_INVAL);
	}
	e.pmu = INT32_MAX;
	assert_int_equal(pfm_fill_perf_event_attr(ctx, &e, &attr, sizeof(attr)), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_event(ctx, "coreduo::Instr_Ret", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_fill_perf_event_attr(ctx, &e, &attr, sizeof(attr)), PFMLIB_ERR_NOPMU);
	e.attr.expressible = 0;
	assert_int_equal(pfm_fill_perf_event_attr(ctx, &e, &attr, sizeof(attr)),
	                 PFMLIB_ERR_NOTSUPP);
	assert_true(attr.size == 0 && attr.type == 0 && attr.config == 0);
	pfm_close_context(ctx);
	assert_int_equal(pfm_encode_perf_attr(NULL, 0, &attr, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_perf_attr("page-faults", 0, NULL, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_perf_attr("page-faults", -1, &attr, NULL, NULL),
	                 PFMLIB_ERR_INVAL);
}

UNIT(session_perf_attr, cmocka_unit_test(words), cmocka_unit_test(third_word),
     cmocka_unit_test(room), cmocka_unit_test(breakpoints), cmocka_unit_test(switches),
     cmocka_unit_test(refusals));
