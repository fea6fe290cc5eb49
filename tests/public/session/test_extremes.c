/* SPDX-License-Identifier: MIT */
/* Tables that no processor has, but that an image may hold: more counters than a control
 * register has room for, an extra register for every event, alternatives without the fields they
 * replace, figures without what they are figures of, two rows for one value. They are refused or
 * harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>
#include <perfmon/perfmon.h>

#include "dispatched_set.h"

#define BYTE_ORDER_NAME (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little")

static char folder[] = P_tmpdir "/perfmon-extremes-XXXXXX";
static pfm_ctx_t *ctx;

static void crowd(FILE *f)
{
	fputs("pmu crowd \"Invented: a counter and an extra register for each of 64 "
	      "events\"\nencoder x86\ntest\nsource \"invented\"\n"
	      "counter 0..31 width=48 control=0x186 value=0xc1\ncounter F0..F31 width=48 "
	      "control=0x38d value=0x309\n"
	      "field code at=config:0-7\nfield umask at=config:8-15\nfield msr bits=32\n",
	      f);
	for (unsigned i = 0; i < 64; i++)
		fprintf(f, "event E%u code=%u msr=0x%x on=%s%u \"Event.\"\n", i, i + 1, 0x1000 + i,
		        i < 32 ? "" : "F", i % 32);
}

static void flood(FILE *f)
{
	fputs("pmu flood \"Invented: three words for each event, and no counters that anybody "
	      "knows\"\nencoder format\ntest\nsource \"invented\"\n"
	      "field code at=config:0-7\nfield filter at=config1:0-7\nfield other "
	      "at=config3:0-7\nmodifier filter\nmodifier other\n",
	      f);
	for (unsigned i = 0; i < 64; i++)
		fprintf(f, "event E%u code=%u filter=%u other=1 \"Event.\"\n", i, i + 1, i + 1);
}

static void without_umask(FILE *f)
{
	fputs("pmu bare \"Invented: a way to count an event that no field can say\"\nencoder "
	      "x86\ntest\nsource \"invented\"\n"
	      "counter 0..3 width=48\nfield code at=config:0-7\nfield msr bits=32\nfield "
	      "offcore_rsp at=config1:0-63\nfield alt bits=64\n"
	      "event A code=1 msr=0x1a6 offcore_rsp=1 alt=0x1a7000001bb \"Event.\"\n"
	      "event B code=1 msr=0x1a6 offcore_rsp=2 alt=0x1a7000001bb \"Event.\"\n",
	      f);
}

static void without_slots(FILE *f)
{
	fputs("pmu slotless \"Invented: a figure of slots that nothing counts\"\nencoder "
	      "x86\ntest\nsource \"invented\"\n"
	      "counter 0..3 width=48\ncounter F3 width=48\nfield code at=config:0-7\nfield umask "
	      "at=config:8-15\n"
	      "rule slots code=0 umask=4 class\n"
	      "rule figures code=0 umask=0x80..0x87 needs=slots first \"Figures need slots.\" "
	      "\"invented\"\n"
	      "event FIGURE code=0 umask=0x80 on=F3 \"Event.\"\nevent OTHER code=1 umask=1 "
	      "\"Event.\"\n",
	      f);
}

static void many_modifiers(FILE *f)
{
	fputs("pmu many \"Invented: more modifiers than an event can be given\"\nencoder "
	      "x86\ntest\nsource \"invented\"\n"
	      "counter 0..3 width=48\nfield code at=config:0-7\nfield umask at=config:8-15\n",
	      f);
	for (unsigned i = 0; i < 17; i++)
		fprintf(f, "field m%u at=config1:%u\nmodifier m%u\n", i, i, i);
	fputs("event E code=1 umask=1 \"Event.\"\n", f);
}

static void rivals(FILE *f)
{
	fputs("pmu rivals \"Invented: a value is one row with a modifier taken back, or another "
	      "that needs nothing\"\nencoder x86\ntest\n"
	      "source \"invented\"\ncounter 0..3 width=48\nfield code at=config:0-7\nfield umask "
	      "at=config:8-15\n"
	      "field cmask at=config:24-31\nmodifier cmask\n"
	      "group part one default=left left=1:\"Left.\" right=2:\"Right.\"\n"
	      "event A code=1 umask=1 cmask=2 \"Event.\"\nevent B code=1 umasks=part \"Event.\"\n"
	      "event C code=1 umask=2 cmask=2 \"Event.\"\n"
	      "group also one default=none none=0:\"None.\" left=0x10:\"Left too.\"\nevent D "
	      "code=3 umasks=part,also \"Event.\"\n",
	      f);
}

/* NAME.pmu in the folder. */
static void write_source(const char *name, void (*put)(FILE *f))
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.pmu", folder, name);
	f = fopen(path, "w");
	put(f);
	fclose(f);
}

static int open_images(void **state)
{
	const char *pmuc = getenv("PERFMON_PMUC");
	char command[1024], path[96];
	pfm_ctx_options_t o = PFM_INIT(o);

	(void)state;
	if (!pmuc || !mkdtemp(folder))
		return 0;
	write_source("crowd", crowd);
	write_source("bare", without_umask);
	write_source("flood", flood);
	write_source("slotless", without_slots);
	write_source("rivals", rivals);
	write_source("many", many_modifiers);
	snprintf(command, sizeof(command),
	         "cd %s && python3 '%s' --byteorder %s --image x.pmdb *.pmu", folder, pmuc,
	         BYTE_ORDER_NAME);
	snprintf(path, sizeof(path), "%s/x.pmdb", folder);
	o.images = path;
	o.flags = PFM_CTX_NO_HOST;
	return system(command) != 0 || pfm_open_context(&ctx, &o, NULL) != PFMLIB_SUCCESS;
}

static int remove_images(void **state)
{
	static const char *const names[] = { "crowd.pmu",  "bare.pmu", "flood.pmu", "slotless.pmu",
		                             "rivals.pmu", "many.pmu", "x.pmdb" };
	char path[96];

	(void)state;
	pfm_close_context(ctx);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	return 0;
}

/* The first @n of @pmu's events. */
static int dispatch_of(const char *pmu, unsigned n, struct dispatched_set *set, pfm_error_t *why)
{
	char names[64][16];
	const char *texts[64];

	for (unsigned i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%s::E%u", pmu, i);
		texts[i] = names[i];
	}
	*set = (struct dispatched_set){ 0 };
	*why = (pfm_error_t)PFM_INIT(*why);
	return dispatch_set(ctx, texts, n, NULL, set, why);
}

static int dispatch(unsigned n, struct dispatched_set *set, pfm_error_t *why)
{
	return dispatch_of("crowd", n, set, why);
}

/* Each event takes three registers. A set that needs more than the answer can hold is refused, not
 * truncated. */
static void a_set_has_as_many_words_as_fit_the_answer(void **state)
{
	static struct dispatched_set set;
	pfm_error_t why;

	(void)state;
	if (!ctx)
		skip();
	assert_int_equal(dispatch_of("flood", 32, &set, &why), PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, MAX_SET_REGS);
	for (unsigned i = 0; i < 32; i++)
		assert_true(set.pmcs[i].value == i + 1 && set.pmcs[32 + 2 * i].value == i + 1 &&
		            set.pmcs[33 + 2 * i].value == 1);
	assert_int_equal(dispatch_of("flood", 33, &set, &why), PFMLIB_ERR_TOOMANY);
	assert_int_equal(why.kind, PFM_KIND_TOO_MANY);
	assert_int_equal(dispatch_of("flood", 64, &set, &why), PFMLIB_ERR_TOOMANY);
}

static void a_set_has_as_many_registers_as_fit_the_answer(void **state)
{
	static struct dispatched_set set;
	pfm_error_t why;

	(void)state;
	if (!ctx)
		skip();
	assert_int_equal(dispatch(48, &set, &why), PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, MAX_SET_REGS);
	assert_int_equal(set.pmcs[MAX_SET_REGS - 1].addr, 0x1000 + 47);
	assert_int_equal(dispatch(49, &set, &why), PFMLIB_ERR_TOOMANY);
	assert_int_equal(dispatch(64, &set, &why), PFMLIB_ERR_TOOMANY);
}

static void counters_that_no_register_has_room_for_count_nothing(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	if (!ctx)
		skip();
	assert_int_equal(pfm_encode_event(ctx, "crowd::E47", 0, &e, &why), PFMLIB_SUCCESS);
	assert_int_equal(e.regs[0].value, UINT64_C(3) << 60);
	assert_int_equal(pfm_encode_event(ctx, "crowd::E48", 0, &e, &why), PFMLIB_ERR_NOASSIGN);
}

static void another_way_needs_the_fields_it_changes(void **state)
{
	const char *const texts[] = { "bare::A", "bare::B" };
	struct dispatched_set set = { 0 };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	if (!ctx)
		skip();
	assert_int_equal(pfm_encode_event(ctx, "bare::A", 0, &e, &why), PFMLIB_SUCCESS);
	assert_int_equal(e.n_alternatives, 0);
	assert_int_equal(dispatch_set(ctx, texts, 2, NULL, &set, &why), PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 3));
}

/* A figure needs an event that can lead its group. Without one the plan is refused, and the error
 * names the figure. */
static void a_figure_needs_its_slots(void **state)
{
	const char *const texts[] = { "slotless::OTHER", "slotless::FIGURE" };
	pfm_plan_t *plan = NULL;
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	if (!ctx)
		skip();
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 2, NULL, &why), PFMLIB_ERR_NOASSIGN);
	assert_null(plan);
	assert_true(why.event == 1 && why.kind == PFM_KIND_NO_PLACEMENT);
	assert_true(why.start == 0 && why.end == strlen(texts[1]));
	assert_int_equal(pfm_create_plan(&plan, ctx, texts, 1, NULL, &why), PFMLIB_SUCCESS);
	pfm_close_plan(plan);
}

/* The row that needs the fewest attributes is printed, wherever it is in the table. Default
 * attributes of groups are not counted. */
static void the_row_that_needs_least_is_it(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "rivals/event=1,umask=1/", "B" },
		{ "rivals/event=1,umask=1,cmask=2/", "A" },
		{ "rivals/event=1,umask=2,cmask=2/", "C" },
		{ "rivals/event=1,umask=1,cmask=3/", "A:cmask=3" },
		{ "rivals/event=1,umask=2/", "B:part=right" },
		/* One word of two groups is written with the group's name, but for the first. */
		{ "rivals::D:also=left", "D:also=left" },
		{ "rivals::D:right", "D:part=right" },
	};
	char buf[64];

	(void)state;
	if (!ctx)
		skip();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pfm_print_event(ctx, rows[i].text, PFM_DIALECT_VENDOR, buf,
		                                 sizeof(buf), NULL),
		                 PFMLIB_SUCCESS);
		assert_string_equal(buf, rows[i].said);
	}
	assert_int_equal(pfm_print_event(ctx, "rivals::D:right:also=left", PFM_DIALECT_LIBPFM, buf,
	                                 sizeof(buf), NULL),
	                 PFMLIB_SUCCESS);
	assert_string_equal(buf, "rivals::D:right:also=left");
}

/* An event takes at most 16 attributes; the error marks the 17th. */
static void an_event_takes_so_many_attributes(void **state)
{
	char text[256] = "many::E";
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	if (!ctx)
		skip();
	for (unsigned i = 0; i < 17; i++) {
		unsigned start = (unsigned)strlen(text) + 1;
		int rc;

		snprintf(text + start - 1, sizeof(text) - start, ":m%u", i);
		rc = pfm_encode_event(ctx, text, 0, &e, &why);
		assert_int_equal(rc, i < 16 ? PFMLIB_SUCCESS : PFMLIB_ERR_TOOMANY);
		if (!rc)
			assert_int_equal(e.attr.config1, (UINT64_C(2) << i) - 1);
		else
			assert_true(why.kind == PFM_KIND_TOO_MANY && why.start == start &&
			            why.end == strlen(text));
	}
}

/* A register's number is that of a counter there is, not of one that looks the same in six bits. */
static void registers_are_as_many_as_counters(void **state)
{
	static const char *const wrong[] = { "PMC2",  "PMC32",        "PMC33", "PMC64",
		                             "PMC65", "PERFEVTSEL64", "PMC99" };
	int pmu = pfm_find_pmu(NULL, "coreduo");
	const char *name, *text;
	uint64_t value;

	(void)state;
	assert_int_equal(pfm_decode_field(NULL, pmu, "PMC1", 0, 0, &name, &value, &text),
	                 PFMLIB_SUCCESS);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(pfm_decode_field(NULL, pmu, wrong[i], 0, 0, &name, &value, &text),
		                 PFMLIB_ERR_INVAL);
}

/* Nothing an event says takes more than 4096 bytes, in no form. */
static void long_texts_are_refused_in_every_form(void **state)
{
	static const char *const heads[] = {
		"", "coreduo::", "cpu/", "cpu/event=1/", "coreduo::Mul,", "coreduo::Mul:"
	};
	static char text[10000];

	(void)state;
	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t why = PFM_INIT(why);

		memset(text, 'u', sizeof(text) - 1);
		memcpy(text, heads[i], strlen(heads[i]));
		text[sizeof(text) - 2] = '/';
		assert_int_equal(pfm_encode_event(NULL, text, 0, &e, &why), PFMLIB_ERR_SYNTAX);
		assert_string_equal(why.detail, "the text is longer than 4096 bytes");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_has_as_many_registers_as_fit_the_answer),
		cmocka_unit_test(a_set_has_as_many_words_as_fit_the_answer),
		cmocka_unit_test(counters_that_no_register_has_room_for_count_nothing),
		cmocka_unit_test(another_way_needs_the_fields_it_changes),
		cmocka_unit_test(a_figure_needs_its_slots),
		cmocka_unit_test(the_row_that_needs_least_is_it),
		cmocka_unit_test(an_event_takes_so_many_attributes),
		cmocka_unit_test(registers_are_as_many_as_counters),
		cmocka_unit_test(long_texts_are_refused_in_every_form),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tables and texts at their limits", tests, open_images,
	                                   remove_images);
}
