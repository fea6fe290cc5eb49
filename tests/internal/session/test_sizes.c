/* SPDX-License-Identifier: MIT */
/* Programs are compiled with other versions of the headers than the library: their structs are
 * shorter or longer. Each struct that begins with its size is passed in every length, in memory of
 * exactly that length, and compared with the result of a caller of this version: shared members are
 * equal, and bytes after them are unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include "base/sizes.h"

#define FILL  0xa5
#define EXTRA 48 /* bytes of members of a later version */

/* A call that fills a struct of the caller. Returns the code of the library. */
typedef int (*fill_fn)(void *out);

static pfm_ctx_t *ctx;

static int fill_error(void *out)
{
	pfm_encoding_t e = PFM_INIT(e);

	return pfm_encode_event(ctx, "coreduo::NO_SUCH", 0, &e, out) == PFMLIB_ERR_NOTFOUND ? 0
	                                                                                    : -1;
}

static int fill_error_at(void *out)
{
	pfm_encoding_t e = PFM_INIT(e);

	return pfm_encode_event_at(ctx, -1, 0, 0, &e, out) == PFMLIB_ERR_INVAL ? 0 : -1;
}

static int fill_error_found(void *out)
{
	int pmu;
	unsigned event;

	return pfm_find_event_by_text(ctx, "coreduo::NO_SUCH", &pmu, &event, out) ==
	                       PFMLIB_ERR_NOTFOUND
	               ? 0
	               : -1;
}

static int fill_error_printed(void *out)
{
	char buf[80];

	return pfm_print_event(ctx, "coreduo::NO_SUCH", PFM_DIALECT_PERF, buf, sizeof(buf), out) ==
	                       PFMLIB_ERR_NOTFOUND
	               ? 0
	               : -1;
}

static int fill_error_both(void *out)
{
	char buf[80];

	return pfm_print_event(ctx, "coreduo::NO_SUCH", PFM_DIALECT_PERF, buf, sizeof(buf), out) ==
	                       PFMLIB_ERR_NOTFOUND
	               ? 0
	               : -1;
}

static int fill_error_set(void *out)
{
	static const char *const texts[] = { "coreduo::Instr_Ret", "coreduo::NO_SUCH" };
	const pfm_set_t *set;

	return pfm_dispatch_set(&set, ctx, texts, 2, NULL, out) == PFMLIB_ERR_NOTFOUND ? 0 : -1;
}

static int fill_error_context(void *out)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *other = NULL;

	o.pmu = "no such processor";
	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	return pfm_open_context(&other, &o, out) == PFMLIB_ERR_NOPMU && !other ? 0 : -1;
}

static int fill_error_session(void *out)
{
	static const char *const texts[] = { "page-faults", "coreduo::NO_SUCH" };
	pfm_session_t *s;

	return pfm_open_session(&s, ctx, NULL, texts, 2, out) == PFMLIB_ERR_NOTFOUND && !s ? 0 : -1;
}

static int fill_error_plan(void *out)
{
	static const char *const texts[] = { "coreduo::Mul", "coreduo::NO_SUCH" };
	pfm_plan_t *p;

	return pfm_create_plan(&p, ctx, texts, 2, NULL, out) == PFMLIB_ERR_NOTFOUND && !p ? 0 : -1;
}

static int fill_error_reading(void *out)
{
	pfm_session_t *s;

	return pfm_open_recording(&s, "/nonexistent/recording", out) == PFMLIB_ERR_SYS && !s ? 0
	                                                                                     : -1;
}

static int fill_error_recording(void *out)
{
	pfm_recording_t *r;

	return pfm_create_recording(&r, "/nonexistent/recording", NULL, NULL, out) ==
	                               PFMLIB_ERR_INVAL &&
	                       !r
	               ? 0
	               : -1;
}

static pfm_plan_t *plan;

static int fill_plan(void *out)
{
	return pfm_describe_plan(plan, out);
}

static int fill_planned(void *out)
{
	return pfm_describe_planned_event(plan, 1, out);
}

/* The number of the first metric of a processor. */
static unsigned first_metric(int pmu)
{
	perfmon_event_info_t e = PFM_INIT(e);
	unsigned i = 0;

	while (pfm_describe_event(ctx, pmu, i, &e) == PFMLIB_SUCCESS &&
	       !(e.flags & PFM_EVENT_METRIC))
		i++;
	return i;
}

static int fill_metric(void *out)
{
	int pmu = pfm_find_pmu(ctx, "skx");

	return pfm_describe_metric(ctx, pmu, first_metric(pmu), out);
}

static int fill_metric_input(void *out)
{
	int pmu = pfm_find_pmu(ctx, "skx");

	return pfm_describe_metric_input(ctx, pmu, first_metric(pmu), 0, out);
}

static int fill_metric_value(void *out)
{
	static const pfm_metric_operand_t counts[64]; /* none of them known */
	int pmu = pfm_find_pmu(ctx, "skx");
	pfm_metric_info_t info = PFM_INIT(info);

	pfm_describe_metric(ctx, pmu, first_metric(pmu), &info);
	return pfm_compute_metric(ctx, pmu, first_metric(pmu),
	                          &(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
	                                                .n_inputs = info.n_inputs,
	                                                .operands = counts },
	                          out);
}

static int fill_encoding(void *out)
{
	return pfm_encode_event(ctx, "coreduo::L2_LINES_IN:SELF:c=1", 0, out, NULL);
}

static int fill_encoding_at(void *out)
{
	return pfm_encode_event_at(ctx, pfm_find_pmu(ctx, "coreduo"), 3, 0, out, NULL);
}

static int fill_pmu(void *out)
{
	return pfm_describe_pmu(ctx, pfm_find_pmu(ctx, "ev6"), out);
}

static int fill_event(void *out)
{
	return pfm_describe_event(ctx, pfm_find_pmu(ctx, "montecito"), 5, out);
}

static int fill_modifier(void *out)
{
	return pfm_describe_modifier(ctx, pfm_find_pmu(ctx, "coreduo"), 0, 0, out);
}

static int fill_umask(void *out)
{
	int pmu = pfm_find_pmu(ctx, "coreduo");
	perfmon_event_info_t e = PFM_INIT(e);
	unsigned i = 0;

	while (pfm_describe_event(ctx, pmu, i, &e) == PFMLIB_SUCCESS && e.n_umasks == 0)
		i++;
	return pfm_describe_umask(ctx, pmu, i, 0, out);
}

static pfm_session_t *session;

static int fill_count(void *out)
{
	return pfm_read_count(session, 0, out);
}

static int fill_count_info(void *out)
{
	return pfm_describe_count(session, 1, out);
}

/* All that hand out a struct, with its size. */
static const struct out {
	const char *name;
	fill_fn fill;
	size_t size;
} outs[] = {
	{ "error of encode", fill_error, sizeof(pfm_error_t) },
	{ "error of encode_at", fill_error_at, sizeof(pfm_error_t) },
	{ "error of find", fill_error_found, sizeof(pfm_error_t) },
	{ "error of print", fill_error_printed, sizeof(pfm_error_t) },
	{ "error of encode and print", fill_error_both, sizeof(pfm_error_t) },
	{ "error of dispatch", fill_error_set, sizeof(pfm_error_t) },
	{ "error of a context", fill_error_context, sizeof(pfm_error_t) },
	{ "error of a session", fill_error_session, sizeof(pfm_error_t) },
	{ "error of a plan", fill_error_plan, sizeof(pfm_error_t) },
	{ "error of reading a recording", fill_error_reading, sizeof(pfm_error_t) },
	{ "error of a recording", fill_error_recording, sizeof(pfm_error_t) },
	{ "plan info", fill_plan, sizeof(pfm_plan_info_t) },
	{ "planned event", fill_planned, sizeof(pfm_planned_event_t) },
	{ "metric info", fill_metric, sizeof(pfm_metric_info_t) },
	{ "metric input", fill_metric_input, sizeof(pfm_metric_input_t) },
	{ "metric value", fill_metric_value, sizeof(pfm_metric_value_t) },
	{ "encoding", fill_encoding, sizeof(pfm_encoding_t) },
	{ "encoding at", fill_encoding_at, sizeof(pfm_encoding_t) },
	{ "pmu info", fill_pmu, sizeof(perfmon_pmu_info_t) },
	{ "event info", fill_event, sizeof(perfmon_event_info_t) },
	{ "umask info", fill_umask, sizeof(pfm_umask_info_t) },
	{ "modifier info", fill_modifier, sizeof(pfm_modifier_info_t) },
	{ "count", fill_count, sizeof(pfm_count_t) },
	{ "count info", fill_count_info, sizeof(pfm_count_info_t) },
};
#define N_OUTS (sizeof(outs) / sizeof(outs[0]))

/* Memory of exactly @size bytes, with the size in its first member. */
static unsigned char *sized(size_t size)
{
	unsigned char *s = malloc(size);

	assert_non_null(s);
	memset(s, FILL, size);
	memcpy(s, &size, sizeof(size));
	return s;
}

/* Lengths to try for a struct of @ours bytes: each up to the smaller ones, then steps. */
static size_t next_size(size_t size, size_t ours)
{
	return size + (size < 256 || size + 8 > ours ? 1 : ours / 61);
}

/* Leaves @byte where the next call has its variables. */
static __attribute__((noinline)) void fill_stack(unsigned char byte)
{
	volatile unsigned char bytes[16384];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = byte;
}

/* Fills a struct of the size that the library has. Holes between members have bytes of the
 * stack: they differ between two stacks, and become FILL, which is not compared. */
static unsigned char *fill_full_size(const struct out *out)
{
	unsigned char *full = sized(out->size), *other = sized(out->size);

	fill_stack(0x11);
	if (out->fill(full))
		fail_msg("%s: refused in its own size", out->name);
	fill_stack(0x77);
	if (out->fill(other))
		fail_msg("%s: refused in its own size", out->name);
	for (size_t b = sizeof(size_t); b < out->size; b++)
		if (full[b] != other[b])
			full[b] = FILL;
	free(other);
	return full;
}

/* Every byte the library writes into a struct of its own size is written in every other size. */
static void structs_of_every_size_get_their_bytes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_OUTS; i++) {
		unsigned char *full = fill_full_size(&outs[i]);

		for (size_t size = sizeof(size_t); size <= outs[i].size + EXTRA;
		     size = next_size(size, outs[i].size)) {
			unsigned char *s = sized(size);
			size_t kept, shared = size < outs[i].size ? size : outs[i].size;

			if (outs[i].fill(s))
				fail_msg("%s: refused in size %zu", outs[i].name, size);
			memcpy(&kept, s, sizeof(kept));
			assert_int_equal(kept, size);
			for (size_t b = sizeof(size_t); b < shared; b++)
				if (s[b] != full[b] && full[b] != FILL && s[b] != FILL)
					fail_msg("%s of size %zu: byte %zu is %#x, not %#x",
					         outs[i].name, size, b, s[b], full[b]);
			for (size_t b = shared; b < size; b++)
				assert_int_equal(s[b], FILL);
			free(s);
		}
		free(full);
	}
}

/* A size of 0 is that of version 1.0: programs whose language has no PFM_INIT() leave it. */
static void length_of_0_is_that_of_the_first_version(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_OUTS; i++) {
		unsigned char *full = fill_full_size(&outs[i]), s[8192];

		memset(s, FILL, sizeof(s));
		memset(s, 0, sizeof(size_t));
		if (outs[i].fill(s))
			fail_msg("%s: refused in size 0", outs[i].name);
		for (size_t b = sizeof(size_t); b < outs[i].size; b++)
			if (s[b] != full[b] && full[b] != FILL && s[b] != FILL)
				fail_msg("%s: byte %zu is %#x, not %#x", outs[i].name, b, s[b],
				         full[b]);
		for (size_t b = outs[i].size; b < sizeof(s); b++)
			assert_int_equal(s[b], FILL);
		free(full);
	}
}

static void refuses_sizes_that_do_not_hold_themselves(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_OUTS; i++)
		for (size_t size = 1; size < sizeof(size_t); size++) {
			unsigned char s[8192];
			int rc;

			memset(s, FILL, sizeof(s));
			memcpy(s, &size, sizeof(size));
			rc = outs[i].fill(s);
			/* An error of such a size is not filled; for other structs the call
			 * fails. */
			assert_int_equal(
				rc, strncmp(outs[i].name, "error", 5) == 0 ? 0 : PFMLIB_ERR_INVAL);
			for (size_t b = sizeof(size_t); b < sizeof(s); b++)
				assert_int_equal(s[b], FILL);
		}
}

/* ---- in -------------------------------------------------------------------------------------- */

static int give_ctx_options(const void *in)
{
	pfm_ctx_t *other;
	int rc = pfm_open_context(&other, in, NULL);

	pfm_close_context(other);
	return rc;
}

static int give_set_options(const void *in)
{
	static const char *const texts[] = { "coreduo::Instr_Ret" };
	const pfm_set_t *set;
	int rc = pfm_dispatch_set(&set, ctx, texts, 1, in, NULL);

	pfm_close_set(set);
	return rc;
}

static int give_plan_options(const void *in)
{
	static const char *const texts[] = { "coreduo::Mul" };
	pfm_plan_t *p = NULL;
	int rc = pfm_create_plan(&p, ctx, texts, 1, in, NULL);

	pfm_close_plan(p);
	return rc;
}

static int give_session_options(const void *in)
{
	static const char *const texts[] = { "page-faults" };
	pfm_session_t *s;
	int rc = pfm_open_session(&s, ctx, in, texts, 1, NULL);

	pfm_close_session(s);
	return rc;
}

static int give_error(const void *in)
{
	char buf[80], names[2][96];

	pfm_suggest_names(ctx, "coreduo::NO_SUCH", in, names, 2);
	return pfm_explain_error(ctx, "coreduo::NO_SUCH", in, buf, sizeof(buf)) ? 0
	                                                                        : PFMLIB_ERR_INVAL;
}

static void options_of_every_length(void **state)
{
	static const struct {
		int (*give)(const void *in);
		size_t size;
	} ins[] = {
		{ give_ctx_options, sizeof(pfm_ctx_options_t) },
		{ give_set_options, sizeof(pfm_dispatch_options_t) },
		{ give_plan_options, sizeof(pfm_plan_options_t) },
		{ give_session_options, sizeof(pfm_session_options_t) },
		{ give_error, sizeof(pfm_error_t) },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(ins) / sizeof(ins[0]); i++)
		for (size_t size = sizeof(size_t); size <= ins[i].size + EXTRA; size++) {
			unsigned char *s = sized(size);
			size_t shared = size < ins[i].size ? size : ins[i].size;

			/* Known members have default values. The bytes of later members have any
			 * value in an error, and must be 0 in options. */
			memset(s + sizeof(size), 0, shared - sizeof(size));
			if (ins[i].give != give_error && size > ins[i].size) {
				assert_int_equal(ins[i].give(s), PFMLIB_ERR_INVAL);
				memset(s + shared, 0, size - shared);
			}
			if (ins[i].give == give_error &&
			    size > offsetof(pfm_error_t, kind) + sizeof(int)) {
				static const int code = PFMLIB_ERR_NOTFOUND,
						 kind = PFM_KIND_UNKNOWN_EVENT;

				memcpy(s + offsetof(pfm_error_t, code), &code, sizeof(code));
				memcpy(s + offsetof(pfm_error_t, kind), &kind, sizeof(kind));
			}
			if (ins[i].give != give_error ||
			    size > offsetof(pfm_error_t, kind) + sizeof(int))
				assert_int_equal(ins[i].give(s), 0);
			else
				ins[i].give(s);
			free(s);
		}
	for (size_t size = 0; size < sizeof(size_t); size++) {
		unsigned char s[512] = { 0 };

		memcpy(s, &size, sizeof(size));
		for (unsigned i = 0; i < sizeof(ins) / sizeof(ins[0]); i++)
			if (ins[i].give != give_error || size)
				assert_int_equal(ins[i].give(s), size ? PFMLIB_ERR_INVAL : 0);
	}
}

static int give_sampling(const void *in)
{
	pfm_session_options_t o = PFM_INIT(o);

	o.flags = PFM_SESSION_DRY_RUN;
	o.sampling = in;
	return give_session_options(&o);
}

static int give_regions_options(const void *in)
{
	return pfm_start_regions(in, NULL);
}

static void unknown_flags_are_refused(void **state)
{
	pfm_ctx_options_t context = PFM_INIT(context);
	pfm_dispatch_options_t dispatch = PFM_INIT(dispatch);
	pfm_plan_options_t planning = PFM_INIT(planning);
	pfm_session_options_t counting = PFM_INIT(counting);
	pfm_sampling_t sampling = PFM_INIT(sampling);
	pfm_regions_options_t regions = PFM_INIT(regions);
	const struct {
		int (*give)(const void *in);
		const void *options;
		unsigned *flags;
	} all[] = {
		{ give_ctx_options, &context, &context.flags },
		{ give_set_options, &dispatch, &dispatch.flags },
		{ give_plan_options, &planning, &planning.flags },
		{ give_session_options, &counting, &counting.flags },
		{ give_sampling, &sampling, &sampling.flags },
		{ give_regions_options, &regions, &regions.flags },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (unsigned bit = 8; bit < 32; bit++) {
			*all[i].flags = 1u << bit;
			assert_int_equal(all[i].give(all[i].options), PFMLIB_ERR_INVAL);
		}
}

/* The detail of the error names the member. */
static void errors_of_options_name_the_member(void **state)
{
	struct {
		pfm_plan_options_t known;
		uint64_t later;
	} given = { .known = { .size = sizeof(given) }, .later = 1 };
	static const char *const texts[] = { "coreduo::Mul" };
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_t *p;

	(void)state;
	assert_int_equal(pfm_create_plan(&p, ctx, texts, 1, &given.known, &error),
	                 PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail,
	                    "options.size: a member that only a later version has is set");
	given.later = 0;
	given.known.flags = 1u << 31;
	assert_int_equal(pfm_create_plan(&p, ctx, texts, 1, &given.known, &error),
	                 PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail, "options.flags has unknown flags");
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static void counts_in_the_callers_stride(void **state)
{
	pfm_count_t ours[2] = { PFM_INIT(ours[0]), PFM_INIT(ours[1]) };

	(void)state;
	assert_int_equal(pfm_read_session(session, ours, 2), 0);
	for (size_t size = sizeof(size_t); size <= sizeof(pfm_count_t) + EXTRA; size++) {
		unsigned char *all = malloc(2 * size);
		size_t shared = size < sizeof(pfm_count_t) ? size : sizeof(pfm_count_t);

		memset(all, FILL, 2 * size);
		for (unsigned i = 0; i < 2; i++)
			memcpy(all + i * size, &size, sizeof(size));
		/* The library takes the address for what its own header says it is; nothing is read
		 * through that type. */
		assert_int_equal(pfm_read_session(session, (pfm_count_t *)(void *)all, 2), 0);
		for (unsigned i = 0; i < 2; i++) {
			assert_memory_equal(all + i * size + sizeof(size_t),
			                    (char *)&ours[i] + sizeof(size_t),
			                    shared - sizeof(size_t));
			for (size_t b = shared; b < size; b++)
				assert_int_equal(all[i * size + b], FILL);
		}
		free(all);
	}
	ours[1].size--;
	assert_int_equal(pfm_read_session(session, ours, 2), PFMLIB_ERR_INVAL);
}

int main(void)
{
	static const char *const texts[] = { "page-faults", "context-switches" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_of_every_size_get_their_bytes),
		cmocka_unit_test(length_of_0_is_that_of_the_first_version),
		cmocka_unit_test(refuses_sizes_that_do_not_hold_themselves),
		cmocka_unit_test(options_of_every_length),
		cmocka_unit_test(unknown_flags_are_refused),
		cmocka_unit_test(errors_of_options_name_the_member),
		cmocka_unit_test(counts_in_the_callers_stride),
	};
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_session_options_t so = PFM_INIT(so);
	static const char *const planned[] = { "coreduo::Mul", "coreduo::FP_Assist" };
	int rc;

	o.flags = PFM_CTX_NO_IMAGES;
	so.flags = PFM_SESSION_DRY_RUN;
	if (pfm_open_context(&ctx, &o, NULL) ||
	    pfm_open_session(&session, ctx, &so, texts, 2, NULL) ||
	    pfm_create_plan(&plan, ctx, planned, 2, NULL, NULL))
		return 1;
	rc = cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
	pfm_close_session(session);
	pfm_close_context(ctx);
	return rc;
}
