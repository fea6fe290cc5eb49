/* SPDX-License-Identifier: MIT */
/* Encodings in perf_event_attr: each member is at its place, and members that are not set stay
 * unchanged. */
#include "units.h"
#include <linux/perf_event.h>
#include <perfmon/perf_attr.h>
#include "session/perf_event_internal.h"

/* The attributes as the kernel's header describes them, and as 64-bit words. */
union filled {
	struct perf_event_attr attr;
	uint64_t words[32];
};

static void fill(union filled *to, const perfmon_attr_t *from, size_t room, int rc)
{
	assert_int_equal(pfmi_perf_fill_attr(from, (struct perf_attr *)&to->attr, room), rc);
}

static void words_of_an_event_go_to_the_attr(void **state)
{
	const perfmon_attr_t from = { .type = 0x80000004,
		                      .config = UINT64_MAX - 1,
		                      .config1 = 0x123456789abcdef0,
		                      .config2 = 0xfedcba9876543210 };
	union filled a = { .words = { 0 } };

	(void)state;
	fill(&a, &from, sizeof(a), PFMLIB_SUCCESS);
	assert_int_equal(a.attr.type, 0x80000004);
	assert_int_equal(a.attr.size, 128);
	/* Places in the kernel's ABI: config is the second word, config1 and config2 the eighth
	 * and ninth. */
	assert_true(a.words[1] == from.config && a.words[7] == from.config1 &&
	            a.words[8] == from.config2);
	assert_true(a.attr.bp_type == 0);
}

/* config3 and config4 are the 17th and 18th word, after the end of older structs:
 * PERF_ATTR_SIZE_VER8 is 136 bytes, PERF_ATTR_SIZE_VER9 144. */
static void later_words_need_a_larger_struct(void **state)
{
	static const struct {
		uint64_t config3, config4;
		uint32_t size;
	} rows[] = { { 0xaabbccdd11223344, 0, 136 },
		     { 0, 0x5566778899aabbcc, 144 },
		     { 0xaabbccdd11223344, 0x5566778899aabbcc, 144 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const perfmon_attr_t from = { .config3 = rows[i].config3,
			                      .config4 = rows[i].config4 };
		union filled a = { .words = { 0 } };

		fill(&a, &from, rows[i].size - 1, PFMLIB_ERR_FULL);
		for (size_t k = 0; k < COUNT(a.words); k++)
			assert_true(a.words[k] == 0);
		fill(&a, &from, rows[i].size, PFMLIB_SUCCESS);
		assert_int_equal(a.attr.size, rows[i].size);
		assert_true(a.words[16] == rows[i].config3 && a.words[17] == rows[i].config4);
		assert_true(a.words[15] == 0 && a.words[18] == 0);
	}
}

/* What lies behind the caller's struct stays unchanged, whatever the version of its header. */
static void bytes_behind_the_struct_stay(void **state)
{
	const perfmon_attr_t from = { .type = 4, .config = 5 };

	(void)state;
	for (size_t size = 0; size <= sizeof(union filled); size++) {
		union filled a = { .words = { 0 } };
		bool enough = size >= 80; /* PERF_ATTR_SIZE_VER2 */

		memset((char *)&a + size, 0x5a, sizeof(a) - size);
		fill(&a, &from, size, enough ? PFMLIB_SUCCESS : PFMLIB_ERR_FULL);
		for (size_t i = size; i < sizeof(a); i++)
			assert_int_equal(((unsigned char *)&a)[i], 0x5a);
		if (!enough)
			continue;
		assert_int_equal(a.attr.size, size < 128 ? size : 128);
		assert_int_equal(a.attr.type, 4);
	}
}

#define SAME_PLACE(MEMBER)                                                                         \
	_Static_assert(offsetof(struct perf_attr, MEMBER) ==                                       \
	                               offsetof(struct perf_event_attr, MEMBER) &&                 \
	                       sizeof(((struct perf_attr *)0)->MEMBER) ==                          \
	                               sizeof(((struct perf_event_attr *)0)->MEMBER),              \
	               "the kernel's header has " #MEMBER " elsewhere")

SAME_PLACE(type);
SAME_PLACE(size);
SAME_PLACE(config);
SAME_PLACE(sample_period);
SAME_PLACE(sample_freq);
SAME_PLACE(sample_type);
SAME_PLACE(read_format);
SAME_PLACE(wakeup_events);
SAME_PLACE(wakeup_watermark);
SAME_PLACE(bp_type);
SAME_PLACE(bp_addr);
SAME_PLACE(config1);
SAME_PLACE(bp_len);
SAME_PLACE(config2);
SAME_PLACE(branch_sample_type);
SAME_PLACE(sample_regs_user);
SAME_PLACE(sample_stack_user);
SAME_PLACE(clockid);
SAME_PLACE(sample_regs_intr);
SAME_PLACE(aux_watermark);
SAME_PLACE(sample_max_stack);
SAME_PLACE(aux_sample_size);
SAME_PLACE(sig_data);
_Static_assert(sizeof(struct perf_attr) == 144, "PERF_ATTR_SIZE_VER9");

/* Sets one flag in the library's layout and in that of the kernel's header. */
#define SAME_FLAG(MEMBER)                                                                          \
	do {                                                                                       \
		union filled ours = { .words = { 0 } }, theirs = { .words = { 0 } };               \
                                                                                                   \
		((struct perf_attr *)&ours.attr)->MEMBER = 1;                                      \
		theirs.attr.MEMBER = 1;                                                            \
		assert_memory_equal(ours.words, theirs.words, sizeof(ours.words));                 \
	} while (0)

static void flags_have_the_bits_of_the_kernels_header(void **state)
{
	(void)state;
	SAME_FLAG(disabled);
	SAME_FLAG(inherit);
	SAME_FLAG(pinned);
	SAME_FLAG(exclusive);
	SAME_FLAG(exclude_user);
	SAME_FLAG(exclude_kernel);
	SAME_FLAG(exclude_hv);
	SAME_FLAG(exclude_idle);
	SAME_FLAG(mmap);
	SAME_FLAG(comm);
	SAME_FLAG(freq);
	SAME_FLAG(inherit_stat);
	SAME_FLAG(enable_on_exec);
	SAME_FLAG(task);
	SAME_FLAG(watermark);
	SAME_FLAG(precise_ip);
	SAME_FLAG(mmap_data);
	SAME_FLAG(sample_id_all);
	SAME_FLAG(exclude_host);
	SAME_FLAG(exclude_guest);
	SAME_FLAG(exclude_callchain_kernel);
	SAME_FLAG(exclude_callchain_user);
	SAME_FLAG(mmap2);
	SAME_FLAG(comm_exec);
	SAME_FLAG(use_clockid);
	SAME_FLAG(context_switch);
	SAME_FLAG(write_backward);
	SAME_FLAG(namespaces);
	SAME_FLAG(ksymbol);
	SAME_FLAG(bpf_event);
	SAME_FLAG(aux_output);
	SAME_FLAG(cgroup);
	SAME_FLAG(text_poke);
	SAME_FLAG(build_id);
	SAME_FLAG(inherit_thread);
	SAME_FLAG(remove_on_exec);
	SAME_FLAG(sigtrap);
}

/* A breakpoint has its kind in bp_type, beside its address and length. */
static void a_breakpoint_has_its_kind_in_bp_type(void **state)
{
	const perfmon_attr_t from = {
		.type = PERF_TYPE_BREAKPOINT, .config = 3, .config1 = 0x7fff0000, .config2 = 8
	};
	union filled a = { .words = { 0 } };

	(void)state;
	fill(&a, &from, sizeof(a), PFMLIB_SUCCESS);
	assert_true(a.attr.type == PERF_TYPE_BREAKPOINT && a.attr.config == 0);
	assert_true(a.attr.bp_type == 3 && a.attr.bp_addr == 0x7fff0000 && a.attr.bp_len == 8);
}

/* Levels follow the text; other switches are set where the text sets them and unchanged otherwise.
 */
static void levels_follow_the_text_and_switches_stay(void **state)
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
			union filled a = { .words = { 0 } };

			a.attr.exclude_user = a.attr.exclude_kernel = a.attr.exclude_hv = had & 1u;
			a.attr.exclude_idle = a.attr.exclude_host = a.attr.exclude_guest =
				a.attr.pinned = had & 1u;
			a.attr.inherit = had & 1u;
			a.attr.precise_ip = 1;
			fill(&a, &from, sizeof(a), PFMLIB_SUCCESS);
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
static void events_that_the_kernel_cannot_count_are_refused(void **state)
{
	pfm_ctx_options_t options = { .size = sizeof(options),
		                      .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	struct perf_event_attr attr = { .size = 0 };
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
	for (size_t i = 0; i < COUNT(e.attr.reserved1); i++) {
		pfm_encoding_t later = e;

		later.attr.reserved1[i] = 1;
		assert_int_equal(pfm_fill_perf_event_attr(ctx, &later, &attr, sizeof(attr)),
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

UNIT(session_perf_attr, cmocka_unit_test(words_of_an_event_go_to_the_attr),
     cmocka_unit_test(later_words_need_a_larger_struct),
     cmocka_unit_test(bytes_behind_the_struct_stay),
     cmocka_unit_test(flags_have_the_bits_of_the_kernels_header),
     cmocka_unit_test(a_breakpoint_has_its_kind_in_bp_type),
     cmocka_unit_test(levels_follow_the_text_and_switches_stay),
     cmocka_unit_test(events_that_the_kernel_cannot_count_are_refused));
