/* SPDX-License-Identifier: MIT */
/* Errors as sentences: what is wrong, where, and the way out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/perfmon.h>
#define CHOSEN_PMU "coreduo"
#include "dispatched_set.h"
#include "built_in.h"

struct sentence {
	const char *text, *sentence;
};

static void sentences_name_the_token_and_the_way_out(void **state)
{
	static const struct sentence lines[] = {
		{ "L2_ADS,core=both",
		  "\"core=both\": \"both\" is not a value of core (this, all)" },
		{ "Instr_Rett", "\"Instr_Rett\" is not an event of coreduo; write "
		                "PROCESSOR::EVENT for another processor" },
		{ "montecito::Instr_Rett", "\"Instr_Rett\" is not an event of montecito" },
		{ "nopmu::x", "unknown PMU \"nopmu\"" },
		{ "dc-misses",
		  "\"dc-misses\": no event of this processor counts misses of the L1 data cache" },
		{ "L2_ADS,foo", "\"foo\" is not a qualifier of L2_ADS, which takes core, edge, "
		                "inv, cmask, os, usr" },
		{ "coreduo::L2_ADS:foo", "\"foo\" is not a qualifier of L2_ADS, which takes SELF, "
		                         "BOTH_CORES, edge, inv, cmask, u, k" },
		{ "cpu/evnt=1/", "\"evnt\" is not a qualifier of coreduo, which takes event, "
		                 "umask, edge, pc, inv, cmask" },
		{ "cpu/event=1/z",
		  "\"z\" is not a modifier: after the last slash write u, k or h for levels, "
		  "p, pp or ppp for precision, G, H or I for guests, host, no idle time" },
		{ "cpu/event=1/ue", "\"e\": this library has no exclusive groups" },
		{ "Instr_Ret:ub", "\"b\": this library cannot count with BPF" },
		{ "L2_ADS,,usr",
		  "expected a qualifier at position 8, got none: omit the separator, "
		  "or write one of core, edge, inv, cmask, os, usr" },
		{ "L2_ADS,usr=1", "\"usr\" takes no value; write it alone" },
		{ "L2_ADS,core", "\"core\" needs a value: this, all" },
		{ "L2_ADS,cmask=", "\"cmask\" needs a value: a number after \"=\"" },
		{ "L2_ADS,cmask=256", "\"cmask=256\": \"256\" is out of range: at most 255" },
		{ "L2_ADS,cmask=x", "\"cmask=x\": \"x\" is not valid: expected a number" },
		{ "L2_ADS,agent=any",
		  "\"agent\" cannot be used with L2_ADS, which takes core, edge, "
		  "inv, cmask, os, usr" },
		{ "SSE_PREFETCH", "SSE_PREFETCH needs one of NTA, T1, T2" },
		{ "SIMD_INT_INSTRUCTIONS", "SIMD_INT_INSTRUCTIONS needs at least one of MUL, "
		                           "SHIFT, PACK, UNPACK, LOGICAL, ARITHMETIC" },
		{ "coreduo::L2_ADS:SELF:BOTH_CORES",
		  "\"BOTH_CORES\": only one value of this group can be chosen" },
		{ "cpu/event=1", "\"/event=1\": a second '/' must follow the terms" },
		/* Unprintable characters are replaced by question marks. */
		{ "Instr\001\nRet", "\"Instr??Ret\" is not an event of coreduo; write "
		                    "PROCESSOR::EVENT for another processor" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t error = PFM_INIT(error);
		char buf[512];

		assert_int_not_equal(pfm_encode_event(ctx, lines[i].text, 0, &e, &error),
		                     PFMLIB_SUCCESS);
		assert_int_equal(pfm_explain_error(ctx, lines[i].text, &error, buf, sizeof(buf)),
		                 strlen(lines[i].sentence));
		assert_string_equal(buf, lines[i].sentence);
	}
}

static void sets_are_explained_by_number_or_by_name(void **state)
{
	static const char *const texts[] = { "Instr_Ret", "FP_Assist", "Mul", "Div" };
	pfm_error_t error = PFM_INIT(error);
	struct dispatched_set set = { 0 };
	char buf[256];

	(void)state;
	assert_int_equal(dispatch_set(ctx, texts, 4, NULL, &set, &error), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&error, 0x6));
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "events 2 and 3 can only count on counter 1");
	pfm_explain_error(ctx, "Instr_Ret,FP_Assist,cmask=1,inv,Mul,Div", &error, buf, sizeof(buf));
	assert_string_equal(buf,
	                    "\"FP_Assist,cmask=1,inv\" and \"Mul\" can only count on counter 1");
	set_clash(&error, 0xd);
	error.clash_counters = 0x300000003;
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "events 1, 3 and 4 can only count on counters 0 and 1 and "
	                         "fixed counters 0 and 1");
	pfm_explain_error(ctx, "Instr_Ret,FP_Assist,Mul,Div", &error, buf, sizeof(buf));
	assert_string_equal(buf, "\"Instr_Ret\", \"Mul\" and \"Div\" can only count on counters 0 "
	                         "and 1 and fixed counters 0 and 1");
	pfm_explain_error(ctx, "w,x,y,z", &error, buf, sizeof(buf));
	assert_string_equal(buf, "\"w\", \"y\" and \"z\" can only count on counters 0 and 1 and "
	                         "fixed counters 0 and 1");
	/* A text that is one event of the set, not all of them. */
	pfm_explain_error(ctx, "Div", &error, buf, sizeof(buf));
	assert_string_equal(buf, "events 1, 3 and 4 can only count on counters 0 and 1 and "
	                         "fixed counters 0 and 1");
	set_clash(&error, 0x1);
	error.clash_counters = 0;
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "event 1 has no counter left that can count it");
}

/* A set of more events than there are counters: the first that is too many is named. */
static void more_events_than_counters(void **state)
{
	const char *texts[40];
	char buf[256];

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		texts[i] = "montecito::IA64_INST_RETIRED";
	for (unsigned n = 12; n <= 40; n++) {
		pfm_error_t error = PFM_INIT(error);
		struct dispatched_set set = { 0 };

		assert_int_equal(dispatch_set(ctx, texts, n, NULL, &set, &error),
		                 n > 12 ? PFMLIB_ERR_NOASSIGN : PFMLIB_SUCCESS);
		if (n == 12)
			continue;
		assert_int_equal(error.event, 12);
		pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
		assert_string_equal(buf, "expected at most twelve counters");
	}
}

/* The message names the exclusive event of the error, or the first event if the error has no
 * event. */
static void an_event_that_must_be_alone(void **state)
{
	static const struct {
		int event;
		uint64_t clash;
		const char *text, *said;
	} rows[] = {
		{ 1, 0x6, NULL, "event 2 must be counted alone: event 3 has no counter beside it" },
		{ 0, 0x5, "a,b,c", "\"a\" must be counted alone: \"c\" has no counter beside it" },
		{ 2, 0x6, "a,b,c", "\"c\" must be counted alone: \"b\" has no counter beside it" },
		{ 63, UINT64_C(0x8000000000000001), NULL,
		  "event 64 must be counted alone: event 1 has no counter beside "
		  "it" },
		{ -1, 0x3, NULL,
		  "event 1 must be counted alone: event 2 has no counter beside it" },
		{ 64, 0x3, NULL,
		  "event 1 must be counted alone: event 2 has no counter beside it" },
		{ -1, 0x1, "Mul",
		  "\"Mul\" must be counted alone: others of its group need counters beside it" },
		{ 3, 0x8, "Mul",
		  "\"Mul\" must be counted alone: others of its group need counters beside it" },
	};
	char buf[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pfm_error_t error = { .size = sizeof(error),
			              .code = PFMLIB_ERR_NOASSIGN,
			              .kind = PFM_KIND_ALONE };

		error.event = rows[i].event;
		set_clash(&error, rows[i].clash);
		pfm_explain_error(ctx, rows[i].text, &error, buf, sizeof(buf));
		assert_string_equal(buf, rows[i].said);
	}
}

/* Where nothing is marked the sentence is about the whole text. */
static void an_error_without_a_place(void **state)
{
	pfm_error_t error = { .size = sizeof(error),
		              .code = PFMLIB_ERR_NOTSUPP,
		              .kind = PFM_KIND_NOT_ON_CPU,
		              .event = -1 };
	char buf[256];

	(void)state;
	pfm_explain_error(ctx, "Instr_Ret", &error, buf, sizeof(buf));
	assert_string_equal(buf, "\"Instr_Ret\": this processor reports that it lacks this "
	                         "architectural event");
	error.kind = PFM_KIND_SYSTEM;
	error.detail = "the counters cannot be opened";
	error.sys_errno = 13;
	pfm_explain_error(ctx, NULL, &error, buf, sizeof(buf));
	assert_string_equal(buf, "the counters cannot be opened (Permission denied)");
}

/* Every kind has a word and a sentence, with and without a text, in a buffer of any size. */
static void every_kind_in_every_buffer(void **state)
{
	static const char *const texts[] = {
		NULL, "", "L2_Rqsts,core=x", "cpu/event=1/", "a::b", ":::", "\xff"
	};
	char names[8][96];

	(void)state;
	assert_string_equal(pfm_error_kind_name(PFM_KIND_MODEL), "model");
	assert_string_equal(pfm_error_kind_name(PFM_KIND_NONE), "");
	assert_string_equal(pfm_error_kind_name((pfm_error_kind_t)-1), "");
	assert_string_equal(pfm_error_kind_name(PFM_KIND_ALONE), "alone");
	assert_string_equal(pfm_error_kind_name(PFM_KIND_ALONE + 1), "");
	for (int kind = -1; kind <= PFM_KIND_MODEL + 1; kind++)
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
			for (unsigned start = 0; start < 20; start += 3) {
				pfm_error_t error = {
					.size = sizeof(error),
					.code = PFMLIB_ERR_ATTR,
					.kind = (pfm_error_kind_t)kind,
					.start = start,
					.end = start + 2,
					.event = -1,
					.clash_counters = start,
				};
				char whole[512], buf[64];
				size_t len;

				set_clash(&error, start * 3);
				len = pfm_explain_error(ctx, texts[t], &error, whole,
				                        sizeof(whole));
				assert_true(len > 0 && len == strlen(whole));
				for (size_t size = 0; size < sizeof(buf); size += 7) {
					memset(buf, 'x', sizeof(buf));
					assert_int_equal(
						pfm_explain_error(ctx, texts[t], &error, buf, size),
						len);
					assert_int_equal(buf[size], 'x');
					if (size) {
						assert_int_equal(strlen(buf),
						                 len < size ? len : size - 1);
						assert_memory_equal(buf, whole, strlen(buf));
					}
				}
				assert_true(pfm_suggest_names(ctx, texts[t], &error, names, 8) <=
				            8);
			}
	assert_int_equal(pfm_explain_error(ctx, NULL, NULL, NULL, 0), 0);
}

/* A program without PFM_INIT() leaves size at 0. */
static void an_error_of_size_0_is_explained(void **state)
{
	pfm_encoding_t encoding = { .size = 0 };
	pfm_error_t error = { .size = 0 };
	char buf[80];

	(void)state;
	assert_int_equal(pfm_encode_event(NULL, "nopmu::x", 0, &encoding, &error),
	                 PFMLIB_ERR_NOPMU);
	assert_int_equal(error.code, PFMLIB_ERR_NOPMU);
	assert_true(pfm_explain_error(NULL, "nopmu::x", &error, buf, sizeof(buf)) > 0);
	assert_non_null(strstr(buf, "nopmu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_name_the_token_and_the_way_out),
		cmocka_unit_test(sets_are_explained_by_number_or_by_name),
		cmocka_unit_test(more_events_than_counters),
		cmocka_unit_test(an_event_that_must_be_alone),
		cmocka_unit_test(an_error_without_a_place),
		cmocka_unit_test(every_kind_in_every_buffer),
		cmocka_unit_test(an_error_of_size_0_is_explained),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_context, close_context);
}
