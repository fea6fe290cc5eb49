/* SPDX-License-Identifier: MIT */
/* Every call of perfmon.h that asks about events: arguments that are wrong, structs of callers
 * older than the library, the default context, and an invented processor that has whatever a list
 * can say of an event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <unistd.h>
#include <perfmon/perfmon.h>
#include <perfmon/perf_attr.h>

#include "dispatched_set.h"

#define BYTE_ORDER_NAME (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little")

static const char toy_text[] =
	"pmu toy \"Invented: all that a list can say\"\n"
	"encoder x86\n"
	"source \"invented\"\n"
	"counter 0..3 width=48 control=0x186 value=0xc1\n"
	"counter F0..F2 width=48 control=0x38d value=0x309\n"
	"field code at=config:0-7\n"
	"field umask at=config:8-15\n"
	"field edge at=config:18\n"
	"field cmask at=config:24-31\n"
	"field inv at=config:23\n"
	"field offcore_rsp at=config1:0-63\n"
	"field ldlat at=config1:0-15\n"
	"field frontend at=config1:0-23\n"
	"field msr bits=32\n"
	"field msr_value bits=64\n"
	"field alt bits=64\n"
	"field period bits=32\n"
	"choice precise no may must\n"
	"choice pc level change\n"
	"choice int quiet\n"
	"choice speed slow fast turbo=7\n"
	"modifier cmask\nmodifier edge\nmodifier inv\nmodifier offcore_rsp\nmodifier "
	"ldlat\nmodifier frontend\nmodifier speed\n"
	"default umask=0 on=0..3\n"
	"event FULL code=0x11 period=2000003 precise=must on=0..1 on_htoff=0..3 errata=\"X1\" "
	"note=\"A note.\" replaced=OTHER "
	"scale=\"6.25e-02\" unit=\"MiB\" speed=turbo \"Short.\" \"Long.\"\n"
	"event OTHER code=0x12 scale=\"64\" precise=no \"Other.\"\n"
	"event TINY code=0x13 alias=TINIER,TINIEST scale=\"1e-30\" precise=may \"Tiny.\"\n"
	"event ODD code=0x14 scale=\"0.92030920993190389\" \"More digits than a double has.\"\n"
	"event NEVER code=0x15 scale=\"-2\" \"No multiplier.\"\n"
	"event BOTH code=0xb7 umask=1 msr=0x1a6 alt=0x1a7000101bb \"Either of two extra "
	"registers.\"\n"
	"event SECOND code=0xbb umask=1 msr=0x1a7 \"The second one alone.\"\n"
	"event SAME code=0xb7 umask=1 msr=0x1a6 alt=0x1a6000101b7 \"An other way that is none.\"\n"
	"event STRANGE code=0xb7 umask=1 msr=0x1a6 alt=0x1a8000101b7 \"A way into a register that "
	"is not of the pair.\"\n"
	"event LOAD code=0xcd umask=1 \"A load, slow if told so.\"\n"
	"event PLAIN code=0x2e \"No extra register.\"\n"
	"event FIXED code=0 umask=1 on=F0 \"On a fixed counter.\"\n";

/* A box of it, and kernel events whose rows have types of their own. */
static const char box_text[] = "pmu toy_box \"Invented: a part of toy\"\n"
			       "encoder format\n"
			       "family toy\n"
			       "uncore BOX\n"
			       "source \"invented\"\n"
			       "counter 0..1 width=48\n"
			       "field event at=config:0-7\n"
			       "event IN_BOX event=7 \"Of the box.\"\n";
static const char kinds_text[] = "pmu kinds \"Invented: events of several kernel PMUs\"\n"
				 "encoder perf\n"
				 "pmctype perf 1\n"
				 "source \"invented\"\n"
				 "field config at=config:0-63\n"
				 "field attr_type bits=32\n"
				 "event USUAL config=5 \"Of the table's type.\"\n"
				 "event OWN config=6 attr_type=2 \"Of a type of its own.\"\n";

/* A unit that comes with any processor: what the kernel reads from it says whether the list is
 * its. */
static const char mesh_text[] =
	"pmu mesh_list \"Invented: known by what it says of itself\"\n"
	"encoder format\n"
	"device mesh\n"
	"uncore mesh\n"
	"source \"invented\"\n"
	"text compat\n"
	"field code at=config:0-7\n"
	"event MESH_PLAIN code=0x20 \"Of every make.\"\n"
	"event MESH_FLITS code=0x21 compat=\"434* 435* 436* 50a*\" \"Of two makes.\"\n"
	"event MESH_TURNS code=0x22 compat=\"777\" \"Of another make.\"\n";

static const struct {
	const char *name, *text;
} sources[] = { { "toy", toy_text },
	        { "toy_box", box_text },
	        { "kinds", kinds_text },
	        { "mesh_list", mesh_text } };
#define N_SOURCES (sizeof(sources) / sizeof(sources[0]))

static char folder[] = P_tmpdir "/perfmon-interface-XXXXXX", image[64];
static pfm_ctx_t *ctx;
static int toy = -1;

static int make_image(void **state)
{
	const char *pmuc = getenv("PERFMON_PMUC");
	char command[1024];
	pfm_ctx_options_t o = PFM_INIT(o);
	int at;

	(void)state;
	if (!pmuc || !mkdtemp(folder))
		return 0;
	snprintf(image, sizeof(image), "%s/toy.pmdb", folder);
	at = snprintf(command, sizeof(command), "python3 '%s' --byteorder %s --image %s", pmuc,
	              BYTE_ORDER_NAME, image);
	for (unsigned i = 0; i < N_SOURCES; i++) {
		char path[64];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s.pmu", folder, sources[i].name);
		f = fopen(path, "w");
		fputs(sources[i].text, f);
		fclose(f);
		at += snprintf(command + at, sizeof(command) - (size_t)at, " %s", path);
	}
	o.images = image;
	o.flags = PFM_CTX_NO_HOST;
	if (system(command) != 0 || pfm_open_context(&ctx, &o, NULL) != PFMLIB_SUCCESS)
		return -1;
	toy = pfm_find_pmu(ctx, "toy");
	return toy < 0;
}

static int remove_image(void **state)
{
	char command[64];

	(void)state;
	pfm_close_context(ctx);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return *image ? system(command) : 0;
}

static unsigned event_of(const char *text)
{
	unsigned event;
	int pmu;

	if (!ctx)
		skip();
	assert_int_equal(pfm_find_event_by_text(ctx, text, &pmu, &event, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pmu, toy);
	return event;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static void an_event_is_described_in_full(void **state)
{
	perfmon_event_info_t info = PFM_INIT(info);

	(void)state;
	assert_int_equal(pfm_describe_event(ctx, toy, event_of("toy::FULL"), &info),
	                 PFMLIB_SUCCESS);
	assert_int_equal(info.pmu, toy);
	assert_string_equal(info.name, "FULL");
	assert_string_equal(info.desc, "Short.");
	assert_string_equal(info.detail, "Long.");
	assert_string_equal(info.errata, "X1");
	assert_string_equal(info.note, "A note.");
	assert_string_equal(info.replaced, "OTHER");
	assert_string_equal(info.unit, "MiB");
	assert_true(info.scale == 0.0625);
	assert_int_equal(info.code, 0x11);
	assert_int_equal(info.counters, 0x3);
	assert_int_equal(info.counters_htoff, 0xf);
	assert_int_equal(info.precise, 2);
	assert_int_equal(info.period, 2000003);
}

/* The call sets every member of the struct, so no old value remains. */
static void an_event_is_described_in_a_struct_that_was_used(void **state)
{
	perfmon_event_info_t info = PFM_INIT(info);
	unsigned full = event_of("toy::FULL"), usual;
	int kinds;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(ctx, "kinds::USUAL", &kinds, &usual, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_event(ctx, toy, full, &info), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_event(ctx, kinds, usual, &info), PFMLIB_SUCCESS);
	assert_int_equal(info.size, sizeof(info));
	assert_int_equal(info.pmu, kinds);
	assert_string_equal(info.name, "USUAL");
	assert_string_equal(info.desc, "Of the table's type.");
	assert_string_equal(info.detail, "");
	assert_string_equal(info.errata, "");
	assert_string_equal(info.note, "");
	assert_string_equal(info.replaced, "");
	assert_string_equal(info.unit, "");
	assert_string_equal(info.topic, "");
	assert_true(info.scale == 1);
	assert_int_equal(info.code, 0);
	assert_int_equal(info.counters, 0);
	assert_int_equal(info.counters_htoff, 0);
	assert_int_equal(info.flags, 0);
	assert_int_equal(info.n_umasks, 0);
	assert_int_equal(info.n_fields, 1);
	assert_int_equal(info.precise, 0);
	assert_int_equal(info.period, 0);
}

static void scales_are_read_to_the_last_bit(void **state)
{
	static const struct {
		const char *text;
		double scale;
	} rows[] = {
		{ "toy::OTHER", 64 }, { "toy::TINY", 1e-30 }, { "toy::ODD", 0.92030920993190389 },
		{ "toy::NEVER", 1 },  { "toy::PLAIN", 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		perfmon_event_info_t info = PFM_INIT(info);

		assert_int_equal(pfm_describe_event(ctx, toy, event_of(rows[i].text), &info),
		                 PFMLIB_SUCCESS);
		if (info.scale != rows[i].scale)
			fail_msg("%s: %.17g", rows[i].text, info.scale);
	}
}

/* A word of a choice where there is one, a text, or a number; and whether it is one counter's. */
static void fields_have_words(void **state)
{
	unsigned event = event_of("toy::FULL"), i = 0, seen = 0;
	const char *name, *text;
	uint64_t value;
	int counter, rc;

	(void)state;
	while ((rc = pfm_describe_field(ctx, toy, event, i++, &name, &text, &value, &counter)) ==
	       PFMLIB_SUCCESS) {
		assert_int_equal(counter, -1);
		if (strcmp(name, "speed") == 0) {
			assert_string_equal(text, "turbo");
			assert_int_equal(value, 7);
		} else if (strcmp(name, "precise") == 0) {
			assert_string_equal(text, "must");
		} else if (strcmp(name, "code") == 0) {
			assert_string_equal(text, "");
			assert_int_equal(value, 0x11);
		} else if (strcmp(name, "unit") == 0) {
			assert_string_equal(text, "MiB");
			assert_int_equal(value, 0);
		} else {
			continue;
		}
		seen++;
	}
	assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
	assert_int_equal(seen, 4);
	assert_int_equal(pfm_find_event_by_text(NULL, "ev5::cycles", &counter, &event, NULL),
	                 PFMLIB_SUCCESS);
	for (i = 0, seen = 0; !pfm_describe_field(NULL, pfm_find_pmu(NULL, "ev5"), event, i, &name,
	                                          &text, &value, &counter);
	     i++)
		if (strcmp(name, "sel") == 0)
			seen |= 1u << counter;
	assert_int_equal(seen, 5); /* cycles count on 0 and 2, each with a select of its own */
}

/* ---- extra registers ------------------------------------------------------------------------- */

static int dispatch(struct dispatched_set *set, pfm_error_t *why, const char *a, const char *b,
                    const char *c)
{
	const char *texts[] = { a, b, c };

	*set = (struct dispatched_set){ 0 };
	*why = (pfm_error_t)PFM_INIT(*why);
	return dispatch_set(ctx, texts, c ? 3 : 2, NULL, set, why);
}

static uint64_t extra_of(const struct dispatched_set *set, uint64_t addr)
{
	for (unsigned i = 0; i < set->n_pmcs; i++)
		if (set->pmcs[i].kind == PFM_REG_EXTRA && set->pmcs[i].addr == addr)
			return set->pmcs[i].value;
	return 0;
}

static void one_of_two_extra_registers(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why;
	struct dispatched_set set;

	(void)state;
	event_of("toy::BOTH");
	assert_int_equal(pfm_encode_event(ctx, "toy::BOTH:offcore_rsp=0x10001", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(e.regs[0].value, 0x5301b7);
	assert_true(e.n_regs == 2 && e.regs[1].kind == PFM_REG_EXTRA && e.regs[1].addr == 0x1a6 &&
	            e.regs[1].value == 0x10001);
	assert_int_equal(e.attr.config1, 0x10001);
	assert_int_equal(e.n_alternatives, 1);
	assert_int_equal(e.alternatives[0].config, 0x1bb);
	assert_int_equal(e.alternatives[0].control, 0x5301bb);
	assert_int_equal(e.alternatives[0].msr, 0x1a7);
	assert_int_equal(e.alternatives[0].value, 0x10001);
	assert_int_equal(
		dispatch(&set, &why, "toy::BOTH:offcore_rsp=1", "toy::BOTH:offcore_rsp=1", NULL),
		PFMLIB_SUCCESS);
	assert_int_equal(set.n_pmcs, 4); /* two controls, the extra register, GLOBAL_CTRL */
	assert_int_equal(extra_of(&set, 0x1a6), 1);
	assert_int_equal(dispatch(&set, &why, "toy::BOTH:offcore_rsp=1", "toy::BOTH:offcore_rsp=2",
	                          "toy::BOTH:offcore_rsp=2"),
	                 PFMLIB_SUCCESS);
	assert_int_equal(extra_of(&set, 0x1a6), 1);
	assert_int_equal(extra_of(&set, 0x1a7), 2);
	assert_int_equal(set.pmcs[0].value & 0xffff, 0x01b7);
	assert_int_equal(set.pmcs[1].value & 0xffff, 0x01bb);
	assert_int_equal(set.pmcs[2].value & 0xffff, 0x01bb);
	/* An event that can use only one register takes it first, wherever it is in the set. */
	assert_int_equal(dispatch(&set, &why, "toy::BOTH:offcore_rsp=1", "toy::BOTH:offcore_rsp=2",
	                          "toy::SECOND:offcore_rsp=2"),
	                 PFMLIB_SUCCESS);
	assert_int_equal(extra_of(&set, 0x1a6), 1);
	assert_int_equal(dispatch(&set, &why, "toy::BOTH:offcore_rsp=1", "toy::BOTH:offcore_rsp=2",
	                          "toy::SECOND:offcore_rsp=4"),
	                 PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 7));
	assert_int_equal(
		dispatch(&set, &why, "toy::SAME:offcore_rsp=1", "toy::SAME:offcore_rsp=2", NULL),
		PFMLIB_ERR_NOASSIGN);
	assert_true(has_clash(&why, 3));
	assert_int_equal(dispatch(&set, &why, "toy::STRANGE:offcore_rsp=1",
	                          "toy::STRANGE:offcore_rsp=2", NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(extra_of(&set, 0x1a6), 1);
	assert_int_equal(extra_of(&set, 0x1a8), 2);
	/* SAME has 0x1a6 alone. */
	assert_int_equal(
		dispatch(&set, &why, "toy::STRANGE:offcore_rsp=1", "toy::SAME:offcore_rsp=2", NULL),
		PFMLIB_SUCCESS);
	assert_int_equal(extra_of(&set, 0x1a6), 2);
	assert_int_equal(extra_of(&set, 0x1a8), 1);
}

/* A field of config1 that the user sets selects the extra register; an event has only one. */
static void a_setting_chooses_the_extra_register(void **state)
{
	static const struct {
		const char *text;
		uint64_t addr, value;
	} rows[] = {
		{ "toy::LOAD:ldlat=9", 0x3f6, 9 },          { "toy::LOAD:ldlat=0", 0x3f6, 0 },
		{ "toy::LOAD:fe_thres=0x11", 0x3f7, 0x11 }, { "toy::LOAD:offcore_rsp=3", 0x1a6, 3 },
		{ "toy::SECOND:offcore_rsp=3", 0x1a7, 3 },
	};
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	event_of("toy::LOAD");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pfm_encode_event(ctx, rows[i].text, 0, &e, &why), PFMLIB_SUCCESS);
		if (e.n_regs != 2 || e.regs[1].addr != rows[i].addr ||
		    e.regs[1].value != rows[i].value || e.attr.config1 != rows[i].value)
			fail_msg("%s: 0x%llx in 0x%llx", rows[i].text,
			         (unsigned long long)e.regs[1].value,
			         (unsigned long long)e.regs[1].addr);
	}
	assert_int_equal(pfm_encode_event(ctx, "toy::LOAD", 0, &e, &why), PFMLIB_SUCCESS);
	assert_int_equal(e.n_regs, 1);
	assert_int_equal(pfm_encode_event(ctx, "toy::BOTH:ldlat=3", 0, &e, &why),
	                 PFMLIB_ERR_ATTR_SET);
	assert_string_equal(why.detail, "the event uses another extra register");
	assert_int_equal(why.start, strlen("toy::BOTH:"));
	assert_int_equal(pfm_encode_event(ctx, "toy::LOAD:ldlat=3:offcore_rsp=1", 0, &e, NULL),
	                 PFMLIB_ERR_ATTR_SET);
	assert_int_equal(pfm_encode_event(ctx, "toy::LOAD:ldlat=70000", 0, &e, &why),
	                 PFMLIB_ERR_ATTR_VAL);
}

/* A list may have words for the values of a field that the processor's registers have. */
static void describes_register_field_in_words(void **state)
{
	static const struct {
		const char *field, *word;
		uint64_t value;
	} rows[] = {
		{ "pc", "level", 0x53002e },  { "pc", "change", 0x5b002e },
		{ "int", "quiet", 0x43002e }, { "int", "", 0x53002e },
		{ "en", "", 0x53002e },       { "event", "", 0x53002e },
	};

	(void)state;
	event_of("toy::PLAIN");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = "", *word = NULL;
		uint64_t field;

		for (unsigned k = 0; strcmp(name, rows[i].field) != 0; k++)
			assert_int_equal(pfm_decode_field(ctx, toy, "PERFEVTSEL0", rows[i].value, k,
			                                  &name, &field, &word),
			                 PFMLIB_SUCCESS);
		assert_string_equal(word, rows[i].word);
	}
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void a_modifier_may_be_a_choice(void **state)
{
	static const struct {
		const char *text;
		int rc;
		pfm_error_kind_t kind;
	} rows[] = {
		{ "toy::PLAIN:speed=fast", 0, 0 },
		{ "toy::PLAIN,speed=turbo", 0, 0 },
		{ "toy::PLAIN:speed=1", 0, 0 },
		{ "toy::PLAIN:speed=quick", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "toy::PLAIN:speed", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE },
		{ "toy::PLAIN:speed=9", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "toy::PLAIN:edge=", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE },
		{ "toy::PLAIN:u=", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE },
		{ "toy::PLAIN:edge=maybe", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "toy::PLAIN:counter=2", 0, 0 },
		{ "toy::PLAIN:counter=32", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "toy::PLAIN:counter=64", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "toy::PLAIN:counter=x", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE },
		{ "toy::PLAIN:counter", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE },
		{ "toy::PLAIN:plm=", PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE },
		{ "toy::PLAIN,counter=2", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER },
		{ "toy::PLAIN:precise=1", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED },
		{ "toy::OTHER:p", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED },
		{ "toy/OTHER/pp", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED },
		{ "toy::TINY:precise=2", 0, 0 },
		{ "toy/TINY/P", 0, 0 },
		{ "toy/TINY/hGHI", 0, 0 },
		{ "toy::FIXED:cmask=1", PFMLIB_ERR_ATTR_EVENT, PFM_KIND_QUALIFIER_NOT_ALLOWED },
		{ "toy/code=0x2e,edge/", 0, 0 },
		{ "toy/code/", 0, 0 },
		{ "toy/=3/", PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX },
		{ "toy/edge,=3/", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER },
	};

	(void)state;
	event_of("toy::PLAIN");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t why = PFM_INIT(why);
		int rc = pfm_encode_event(ctx, rows[i].text, 0, &e, &why);

		if (rc != rows[i].rc || (rc && why.kind != rows[i].kind))
			fail_msg("%s: %d %s %s", rows[i].text, rc, pfm_error_kind_name(why.kind),
			         why.detail ? why.detail : "");
	}
}

static void answer_shows_effect_of_settings(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	event_of("toy::PLAIN");
	assert_int_equal(pfm_encode_event(ctx, "toy/TINY/hp", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_true(e.attr.exclude_user && e.attr.exclude_kernel && !e.attr.exclude_hv &&
	            e.attr.precise == 1);
	assert_int_equal(e.regs[0].value, 0x500013); /* the register has no bit for level h */
	assert_int_equal(pfm_encode_event(ctx, "toy/TINY/P", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_int_equal(e.attr.precise, 3);
	assert_int_equal(pfm_encode_event(ctx, "toy/code/", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_int_equal(e.attr.config, 1); /* perf: a term without a value is 1 */
	assert_int_equal(pfm_encode_event(ctx, "toy::PLAIN:counter=2", 0, &e, NULL),
	                 PFMLIB_SUCCESS);
	assert_true(e.regs[0].num == 2 && e.regs[0].addr == 0x188);
}

/* ---- names without a processor --------------------------------------------------------------- */

static void a_name_of_one_processor_alone_is_that_ones(void **state)
{
	pfm_error_t why = PFM_INIT(why);
	unsigned event;
	int pmu;

	(void)state;
	event_of("toy::PLAIN");
	assert_int_equal(pfm_find_event_by_text(ctx, "CPU_OP_CYCLES_ALL", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pmu, pfm_find_pmu(ctx, "montecito"));
	assert_int_equal(pfm_find_event_by_text(ctx, "STRANGE:offcore_rsp=1", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pmu, toy);
	assert_int_equal(pfm_find_event_by_text(ctx, "issues", &pmu, &event, &why),
	                 PFMLIB_ERR_AMBIGUOUS);
	assert_int_equal(why.kind, PFM_KIND_AMBIGUOUS);
	assert_true(why.start == 0 && why.end == 6);
	assert_int_equal(pfm_find_event_by_text(ctx, "nothing-has-this", &pmu, &event, &why),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(why.kind, PFM_KIND_UNKNOWN_EVENT);
	assert_int_equal(pfm_find_event_by_text(ctx, "dc-misses", &pmu, &event, &why),
	                 PFMLIB_ERR_ALIAS);
	assert_int_equal(pfm_find_event_by_text(ctx, "toy/code=3/", &pmu, &event, &why),
	                 PFMLIB_ERR_NOTFOUND);
	assert_string_equal(why.detail, "expected an event, got only fields");
}

static void a_processor_stands_for_its_parts(void **state)
{
	pfm_error_t why = PFM_INIT(why);
	unsigned event;
	int pmu;

	(void)state;
	event_of("toy::PLAIN");
	assert_int_equal(pfm_find_event_by_text(ctx, "toy::IN_BOX", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pmu, pfm_find_pmu(ctx, "toy_box"));
	assert_int_equal(pfm_find_event_by_text(ctx, "toy_box::PLAIN", &pmu, &event, &why),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(why.kind, PFM_KIND_UNKNOWN_EVENT);
	assert_int_equal(pfm_find_event_by_text(ctx, "to::PLAIN", &pmu, &event, &why),
	                 PFMLIB_ERR_NOPMU);
}

static void rows_may_have_a_type_of_their_own(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);

	(void)state;
	event_of("toy::PLAIN");
	assert_int_equal(pfm_encode_event(ctx, "kinds::USUAL", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_true(e.attr.type_known && e.attr.type == 1 && e.attr.config == 5);
	assert_int_equal(pfm_encode_event(ctx, "kinds::OWN", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_true(e.attr.type_known && e.attr.type == 2 && e.attr.config == 6);
}

static void units_are_known_by_their_identifier(void **state)
{
	static const struct {
		const char *identifier; /* "": the kernel reads none */
		bool known;
	} rows[] = { { "43401", true },  { "50a", true }, { "777", true }, { "0434", false },
		     { "43701", false }, { "50", false }, { "", false } };

	(void)state;
	event_of("toy::PLAIN");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char command[512], root[96];
		pfm_ctx_options_t o = PFM_INIT(o);
		perfmon_pmu_info_t about = PFM_INIT(about);
		pfm_encoding_t e = PFM_INIT(e);
		pfm_ctx_t *c;

		snprintf(root, sizeof(root), "%s/machine", folder);
		snprintf(command, sizeof(command),
		         "rm -rf %s && mkdir -p %s/sys/bus/event_source/devices/mesh/format && cd "
		         "%s/sys/bus/event_source/devices/mesh && "
		         "echo 60 >type && echo 0 >cpumask && echo config:0-7 >format/event && { [ "
		         "-z '%s' ] || echo '%s' >identifier; }",
		         root, root, root, rows[i].identifier, rows[i].identifier);
		assert_int_equal(system(command), 0);
		o.sysfs_root = root;
		o.images = image;
		o.cpuid = "0x00000000413fd0c1";
		assert_int_equal(pfm_open_context(&c, &o, NULL), PFMLIB_SUCCESS);
		assert_int_equal(pfm_describe_pmu(c, pfm_find_pmu(c, "mesh_list"), &about),
		                 PFMLIB_SUCCESS);
		if (((about.flags & PFM_PMU_HOST) != 0) != rows[i].known)
			fail_msg("identifier \"%s\"", rows[i].identifier);
		assert_int_equal(pfm_encode_event(c, "MESH_FLITS", 0, &e, NULL),
		                 rows[i].known ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND);
		assert_true(!rows[i].known || (e.attr.type == 60 && e.attr.config == 0x21));
		pfm_close_context(c);
	}
}

/* Where others may write to the file it is read, not mapped: nothing they do to it ends this
 * process. */
static void an_image_may_shrink_while_it_is_used(void **state)
{
	char command[320], path[96];
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_encoding_t e = PFM_INIT(e);
	pfm_ctx_t *c;

	(void)state;
	event_of("toy::PLAIN");
	snprintf(path, sizeof(path), "%s/shrinks.pmdb", folder);
	snprintf(command, sizeof(command), "cp %s %s && chmod 664 %s", image, path, path);
	assert_int_equal(system(command), 0);
	o.images = path;
	o.flags = PFM_CTX_NO_HOST;
	assert_int_equal(pfm_open_context(&c, &o, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event(c, "toy::PLAIN", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(pfm_encode_event(c, "toy::OTHER", 0, &e, NULL), PFMLIB_SUCCESS);
	pfm_close_context(c);
	unlink(path);
}

/* Processors of several images may have one name beside their own: each of them answers to it. */
static void a_name_that_several_images_have(void **state)
{
	char command[1024], path[96];
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *c;

	(void)state;
	event_of("toy::PLAIN");
	snprintf(path, sizeof(path), "%s/several", folder);
	snprintf(command, sizeof(command),
	         "mkdir %s && for i in 1 2 3 4 5; do printf 'pmu p%%d \"Invented.\"\\nalias "
	         "shared\\nencoder format\\ncounter 0 width=8\\n"
	         "field code at=config:0-7\\nevent E%%d code=%%d \"Event.\"\\n' $i $i $i "
	         ">%s/p$i.pmu && "
	         "python3 '%s' --byteorder %s --image %s/p$i.pmdb %s/p$i.pmu || exit 1; done",
	         path, path, getenv("PERFMON_PMUC"), BYTE_ORDER_NAME, path, path);
	assert_int_equal(system(command), 0);
	o.images = path;
	o.flags = PFM_CTX_NO_HOST;
	assert_int_equal(pfm_open_context(&c, &o, NULL), PFMLIB_SUCCESS);
	for (unsigned i = 1; i <= 5; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		char text[32], own[32];

		snprintf(text, sizeof(text), "shared::E%u", i);
		snprintf(own, sizeof(own), "p%u", i);
		assert_int_equal(pfm_encode_event(c, text, 0, &e, NULL), PFMLIB_SUCCESS);
		assert_int_equal(e.pmu, pfm_find_pmu(c, own));
		assert_int_equal(e.regs[0].value, i);
	}
	pfm_close_context(c);
}

static void settings_belong_to_processors_that_have_some(void **state)
{
	static const char *const texts[] = { "toy::PLAIN", "toy_box::IN_BOX", "kinds::OWN" };
	pfm_dispatch_options_t o = PFM_INIT(o);
	pfm_error_t why = PFM_INIT(why);
	struct dispatched_set set = { 0 };

	(void)state;
	event_of("toy::PLAIN");
	o.model_in = &o;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(dispatch_set(ctx, &texts[i], 1, &o, &set, &why),
		                 PFMLIB_ERR_NOTSUPP);
		assert_int_equal(why.kind, PFM_KIND_MODEL);
		assert_int_equal(dispatch_set(ctx, &texts[i], 1, NULL, &set, &why), PFMLIB_SUCCESS);
	}
	/* More counters where hyper-threading is off. */
	o.model_in = NULL;
	o.htoff = 1;
	assert_int_equal(
		dispatch_set(ctx, (const char *const[]){ "toy::FULL", "toy::FULL", "toy::FULL" }, 3,
	                     &o, &set, NULL),
		PFMLIB_SUCCESS);
	o.htoff = 0;
	assert_int_equal(
		dispatch_set(ctx, (const char *const[]){ "toy::FULL", "toy::FULL", "toy::FULL" }, 3,
	                     &o, &set, NULL),
		PFMLIB_ERR_NOASSIGN);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* Opens a context that looks for images where the user's are. True if one of ours is refused. */
static bool look_in_folder(pfm_ctx_t **c, const char **path, const char **why)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	unsigned n = 0;

	o.flags = PFM_CTX_NO_HOST;
	unsetenv("PERFMON_EVENTS");
	assert_int_equal(pfm_open_context(c, &o, NULL), PFMLIB_SUCCESS);
	while (pfm_describe_rejected_image(*c, n, path, why) == PFMLIB_SUCCESS)
		if (strncmp(*path, folder, strlen(folder)) == 0)
			return true;
		else
			n++;
	return false;
}

static void images_of_the_user_are_found_and_judged(void **state)
{
	static const struct {
		const char *prepare; /* in the folder of images */
		const char *why;
	} rows[] = {
		{ "cp ../../toy.pmdb a.pmdb", NULL },
		{ "chmod o+w a.pmdb", "every user can write to it" },
		{ "chmod o-w a.pmdb; chmod o+w .",
		  "its folder belongs to another user, or every user can write to it" },
		{ "chmod o-w .; head -c 20 ../../toy.pmdb >a.pmdb", "too short for an image" },
		{ "head -c 2000 ../../toy.pmdb >a.pmdb", "truncated or extended" },
		{ "rm a.pmdb; mkdir a.pmdb", "not a regular file" },
		{ "rmdir a.pmdb; ln -s nothing a.pmdb", "the file does not exist" },
		/* The header is valid; the first query checks the rest. */
		{ "rm a.pmdb; cp ../../toy.pmdb a.pmdb; printf '\\377\\377\\377\\377' | dd "
		  "of=a.pmdb bs=1 seek=$(($(wc -c <a.pmdb) - "
		  "40)) conv=notrunc 2>/dev/null",
		  "" },
		{ "rm a.pmdb", NULL },
	};
	char data[96], *old = getenv("XDG_DATA_HOME");
	unsigned event;
	int pmu;

	(void)state;
	event_of("toy::PLAIN");
	old = old ? strdup(old) : NULL;
	snprintf(data, sizeof(data), "%s/data", folder);
	setenv("XDG_DATA_HOME", data, 1);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char command[512];
		const char *path, *why = NULL;
		pfm_error_t error = PFM_INIT(error);
		pfm_ctx_t *c;
		int rc;

		snprintf(command, sizeof(command), "mkdir -p %s/perfmon && cd %s/perfmon && %s",
		         data, data, rows[i].prepare);
		assert_int_equal(system(command), 0);
		if (look_in_folder(&c, &path, &why) != (rows[i].why != NULL) ||
		    (rows[i].why && !strstr(why, rows[i].why)))
			fail_msg("%s: %s", rows[i].prepare, why ? why : "not refused");
		rc = pfm_find_event_by_text(c, "toy::PLAIN", &pmu, &event, &error);
		assert_int_equal(rc, i == 0                         ? PFMLIB_SUCCESS
		                     : rows[i].why && !*rows[i].why ? PFMLIB_ERR_IMAGE
		                                                    : PFMLIB_ERR_NOPMU);
		if (rc == PFMLIB_ERR_IMAGE)
			assert_true(error.kind == PFM_KIND_IMAGE && error.detail);
		pfm_close_context(c);
	}
	if (old)
		setenv("XDG_DATA_HOME", old, 1);
	else
		unsetenv("XDG_DATA_HOME");
	free(old);
}

/* ---- suggestions ----------------------------------------------------------------------------- */

static void suggestions_are_about_what_was_wrong(void **state)
{
	static const struct {
		const char *text, *first; /* NULL: nothing comes to mind */
	} rows[] = {
		{ "toy::PLAN", "PLAIN" },
		{ "toi::PLAIN", "toy" },
		{ "toy::PLAIN:speed=fasd", "fast" },
		{ "toy::PLAIN:speed=zzzzzzzz", "slow" },
		{ "toy::PLAIN:sped=1", "speed" },
		{ "toy::PLAIN:zzzzzzzzzzzz", NULL },
		{ "coreduo::L2_ADS,core", "core=this" },
		{ "coreduo::L2_ADS,core=al", "all" },
		{ "coreduo::L2_ADS,usr=1", "usr" },
		{ "coreduo::SSE_PREFETCH", "NTA" },
		{ "coreduo::L2_ADS:BOTH_CORS", "BOTH_CORES" },
		{ "coreduo::L2_ADS,,usr", NULL },
		{ "ev5::retinst", "ev6::retinst" },
		{ "toy::TINER", "TINIER" }, /* of the names of one event the closest */
		{ "toy::TINI", "TINY" },
	};

	(void)state;
	event_of("toy::PLAIN");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t why = PFM_INIT(why);
		char names[8][96] = { "" };
		size_t n;

		assert_int_not_equal(pfm_encode_event(ctx, rows[i].text, 0, &e, &why),
		                     PFMLIB_SUCCESS);
		n = pfm_suggest_names(ctx, rows[i].text, &why, names, 8);
		if ((n != 0) != (rows[i].first != NULL) ||
		    (n && strcmp(names[0], rows[i].first) != 0))
			fail_msg("%s: %zu, %s", rows[i].text, n, names[0]);
		/* Room for fewer: the same ones, the best first. */
		if (n > 1) {
			char one[96];

			assert_int_equal(pfm_suggest_names(ctx, rows[i].text, &why, &one, 1), 1);
			assert_string_equal(one, names[0]);
		}
	}
	assert_int_equal(pfm_suggest_names(ctx, NULL, NULL, NULL, 0), 0);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void arguments_of_descriptions(void **state)
{
	int coreduo = pfm_find_pmu(NULL, "coreduo"), n = pfm_count_pmus(NULL), counter, pmu;
	perfmon_pmu_info_t about = PFM_INIT(about);
	perfmon_event_info_t info = PFM_INIT(info);
	pfm_umask_info_t umask = PFM_INIT(umask);
	const char *name, *text;
	uint64_t value;
	unsigned event;

	(void)state;
	assert_int_equal(pfm_find_pmu(NULL, NULL), -1);
	assert_int_equal(pfm_find_pmu(NULL, "no such processor"), -1);
	for (int wrong = -1; wrong <= n; wrong += n + 1) {
		assert_int_equal(pfm_describe_pmu(NULL, wrong, &about), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_event(NULL, wrong, 0, &info), PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_umask(NULL, wrong, 0, 0, &umask), PFMLIB_ERR_INVAL);
		assert_int_equal(
			pfm_describe_field(NULL, wrong, 0, 0, &name, &text, &value, &counter),
			PFMLIB_ERR_INVAL);
		assert_int_equal(pfm_describe_feature(NULL, wrong, 0, &name, &text, &value),
		                 PFMLIB_ERR_INVAL);
	}
	assert_int_equal(pfm_describe_pmu(NULL, coreduo, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_pmu(NULL, coreduo, &about), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_event(NULL, coreduo, about.n_events, &info),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_event(NULL, coreduo, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_umask(NULL, coreduo, about.n_events, 0, &umask),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_umask(NULL, coreduo, 0, 0, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(NULL, coreduo, about.n_events, 0, &name, &text, &value,
	                                    &counter),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(NULL, coreduo, 0, 0, NULL, &text, &value, &counter),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(NULL, coreduo, 0, 0, &name, NULL, &value, &counter),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(NULL, coreduo, 0, 0, &name, &text, NULL, &counter),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(NULL, coreduo, 0, 0, &name, &text, &value, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_field(NULL, coreduo, 0, 100, &name, &text, &value, &counter),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_feature(NULL, coreduo, 0, NULL, &text, &value),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_feature(NULL, coreduo, 0, &name, NULL, &value),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_feature(NULL, coreduo, 0, &name, &text, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_feature(NULL, coreduo, 1000, &name, &text, &value),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_rejected_image(NULL, 0, NULL, &text), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rejected_image(NULL, 0, &name, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_rejected_image(NULL, 1000, &name, &text),
	                 PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_find_event_by_text(NULL, NULL, &pmu, &event, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(NULL, "x", NULL, &event, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(NULL, "x", &pmu, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_find_event_by_text(NULL, "coreduo::L2_ADS", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_umask(NULL, pmu, event, 100, &umask), PFMLIB_ERR_NOTFOUND);
	about.size = info.size = umask.size = sizeof(size_t) - 1;
	assert_int_equal(pfm_describe_pmu(NULL, coreduo, &about), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_event(NULL, coreduo, 0, &info), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_umask(NULL, coreduo, 0, 0, &umask), PFMLIB_ERR_INVAL);
}

static void arguments_of_encodings(void **state)
{
	const char *texts[65] = { "coreduo::Instr_Ret" };
	int coreduo = pfm_find_pmu(NULL, "coreduo"), n = pfm_count_pmus(NULL);
	pfm_dispatch_options_t options = { .size = sizeof(size_t) - 1 };
	pfm_encoding_t e = PFM_INIT(e);
	struct dispatched_set set = { 0 };
	pfm_error_t why = PFM_INIT(why);
	const char *name, *text;
	char buf[64];
	uint64_t value;

	(void)state;
	assert_int_equal(pfm_encode_event(NULL, NULL, 0, &e, &why), PFMLIB_ERR_INVAL);
	assert_string_equal(why.detail, "text or out is NULL, or out->size is invalid");
	assert_int_equal(pfm_encode_event(NULL, texts[0], 0, NULL, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_event_at(NULL, -1, 0, 0, &e, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_event_at(NULL, n, 0, 0, &e, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_event_at(NULL, coreduo, 100000, 0, &e, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_event_at(NULL, coreduo, 0, 0, NULL, &why), PFMLIB_ERR_INVAL);
	e.size = 1;
	assert_int_equal(pfm_encode_event(NULL, texts[0], 0, &e, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_event_at(NULL, coreduo, 0, 0, &e, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(dispatch_set(NULL, NULL, 1, NULL, &set, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(dispatch_set(NULL, texts, 0, NULL, &set, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_dispatch_set(NULL, NULL, texts, 1, NULL, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(dispatch_set(NULL, texts, 1, &options, &set, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(dispatch_set(NULL, texts, 65, NULL, &set, &why), PFMLIB_ERR_TOOMANY);
	assert_int_equal(dispatch_set(NULL, texts, 2, NULL, &set, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(why.event, 1);
	assert_string_equal(why.detail, "an event is NULL");
	assert_int_equal(dispatch_set(NULL, texts, 2, NULL, &set, NULL), PFMLIB_ERR_INVAL);
	texts[1] = "montecito::CPU_OP_CYCLES_ALL";
	assert_int_equal(dispatch_set(NULL, texts, 2, NULL, &set, &why), PFMLIB_ERR_EVTINCOMP);
	assert_int_equal(why.event, 1);
	assert_int_equal(pfm_decode_field(NULL, -1, "PMC0", 0, 0, &name, &value, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(NULL, n, "PMC0", 0, 0, &name, &value, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(NULL, coreduo, NULL, 0, 0, &name, &value, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(NULL, coreduo, "PMC0", 0, 0, NULL, &value, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(NULL, coreduo, "PMC0", 0, 0, &name, NULL, &text),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_field(NULL, coreduo, "PMC0", 0, 0, &name, &value, NULL),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_event(NULL, -1, "PMC0", 0, 0, buf, sizeof(buf)),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_event(NULL, coreduo, NULL, 0, 0, buf, sizeof(buf)),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_event(NULL, coreduo, "PMC0", 0, 0, NULL, 0), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_decode_event(NULL, coreduo, "PMC9", 0, 0, buf, sizeof(buf)),
	                 PFMLIB_ERR_INVAL);
}

static void arguments_of_contexts(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(size_t) - 1 };
	pfm_error_t why = PFM_INIT(why);
	pfm_ctx_t *c = (pfm_ctx_t *)(void *)&o; /* anything that is not NULL */

	(void)state;
	assert_int_equal(pfm_open_context(NULL, NULL, &why), PFMLIB_ERR_INVAL);
	assert_string_equal(why.detail, "out is NULL");
	assert_int_equal(pfm_open_context(&c, &o, &why), PFMLIB_ERR_INVAL);
	assert_string_equal(why.detail, "options.size is invalid");
	assert_null(c);
	assert_int_equal(pfm_open_context(&c, NULL, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_count_pmus(c), pfm_count_pmus(NULL));
	/* Each reference is closed; the context lives until the last one is. */
	assert_ptr_equal(pfm_ref_context(c), c);
	pfm_close_context(c);
	assert_int_equal(pfm_count_pmus(c), pfm_count_pmus(NULL));
	pfm_close_context(c);
	assert_null(pfm_ref_context(NULL));
	pfm_close_context(NULL);
	o = (pfm_ctx_options_t){ .size = sizeof(o),
		                 .pmu = "no such processor",
		                 .flags = PFM_CTX_NO_HOST };
	assert_int_equal(pfm_open_context(&c, &o, &why), PFMLIB_ERR_NOPMU);
	assert_null(c);
	/* A caller whose struct ends after the flags. */
	o.size = offsetof(pfm_ctx_options_t, pmu);
	assert_int_equal(pfm_open_context(&c, &o, &why), PFMLIB_SUCCESS);
	pfm_close_context(c);
}

/* ---- older callers --------------------------------------------------------------------------- */

#define OLD 0x5a

/* True if nothing was written after the first @size bytes of @s. */
static int kept(const void *s, size_t size, size_t whole)
{
	const unsigned char *p = s;

	for (size_t i = size; i < whole; i++)
		if (p[i] != OLD)
			return 0;
	return 1;
}

#define OLDER(VAR, MEMBER)                                                                         \
	do {                                                                                       \
		memset(&(VAR), OLD, sizeof(VAR));                                                  \
		(VAR).size = (size_t)((const char *)&(VAR).MEMBER - (const char *)&(VAR));         \
	} while (0)

static void structs_of_older_callers_get_what_they_have_room_for(void **state)
{
	int coreduo = pfm_find_pmu(NULL, "coreduo"), pmu;
	perfmon_pmu_info_t about;
	perfmon_event_info_t info;
	pfm_umask_info_t umask;
	pfm_encoding_t e, all = PFM_INIT(all);
	unsigned event;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(NULL, "coreduo::L2_ADS", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	OLDER(about, origin);
	assert_int_equal(pfm_describe_pmu(NULL, coreduo, &about), PFMLIB_SUCCESS);
	assert_string_equal(about.name, "coreduo");
	assert_true(kept(&about, about.size, sizeof(about)) &&
	            about.size == offsetof(perfmon_pmu_info_t, origin));
	OLDER(info, detail);
	assert_int_equal(pfm_describe_event(NULL, coreduo, event, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.name, "L2_ADS");
	assert_true(info.pmu == coreduo && info.event == event &&
	            kept(&info, info.size, sizeof(info)));
	assert_int_equal(pfm_describe_event(NULL, coreduo, 100000, &info), PFMLIB_ERR_INVAL);
	OLDER(umask, desc);
	assert_int_equal(pfm_describe_umask(NULL, coreduo, event, 0, &umask), PFMLIB_SUCCESS);
	assert_string_equal(umask.group, "core");
	assert_true(kept(&umask, umask.size, sizeof(umask)));
	assert_int_equal(pfm_encode_event(NULL, "coreduo::L2_ADS:u", 0, &all, NULL),
	                 PFMLIB_SUCCESS);
	OLDER(e, attr);
	assert_int_equal(pfm_encode_event(NULL, "coreduo::L2_ADS:u", 0, &e, NULL), PFMLIB_SUCCESS);
	assert_true(e.pmu == coreduo && e.plm == PFM_PLM3 && e.n_regs == 1 &&
	            e.regs[0].value == all.regs[0].value);
	assert_true(e.counters == all.counters && kept(&e, e.size, sizeof(e)) &&
	            e.size == offsetof(pfm_encoding_t, attr));
	/* A call that fails leaves the struct unchanged. */
	OLDER(e, attr);
	assert_int_equal(pfm_encode_event(NULL, "coreduo::L2_ADS:counter=7", 0, &e, NULL),
	                 PFMLIB_ERR_ATTR_VAL);
	assert_true(kept(&e.pmu, 0, sizeof(e) - offsetof(pfm_encoding_t, pmu)));
}

/* Some groups of unit masks take one value, others any number. */
static void groups_of_one_and_of_any(void **state)
{
	pfm_umask_info_t umask = PFM_INIT(umask);
	unsigned event, one = 0, any = 0;
	int pmu;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(NULL, "coreduo::L2_LD", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	for (unsigned i = 0; pfm_describe_umask(NULL, pmu, event, i, &umask) == PFMLIB_SUCCESS;
	     i++) {
		assert_int_equal(umask.is_combinable, strcmp(umask.group, "cachestate") == 0);
		any += umask.is_combinable != 0;
		one += !umask.is_combinable;
	}
	assert_true(any >= 4 && one >= 2);
}

static void options_of_older_callers_are_the_usual_ones(void **state)
{
	const char *const text = "coreduo::Instr_Ret";
	pfm_dispatch_options_t o = {
		.size = offsetof(pfm_dispatch_options_t, unavailable),
		.plm = PFM_PLM3,
		.unavailable = (const pfmlib_regmask_t *)(const void *)1, /* after the struct */
	};
	struct dispatched_set set = { 0 };

	(void)state;
	assert_int_equal(dispatch_set(NULL, &text, 1, &o, &set, NULL), PFMLIB_SUCCESS);
	assert_int_equal(set.pmcs[0].value, 0x5100c0);
}

/* ---- events by number ------------------------------------------------------------------------ */

static void events_by_number_are_events_by_name(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	unsigned same = 0;
	pfm_ctx_t *c;
	int n;

	(void)state;
	o.flags = PFM_CTX_NO_HOST |
	          PFM_CTX_NO_IMAGES; /* a processor may say that it lacks an event */
	assert_int_equal(pfm_open_context(&c, &o, NULL), PFMLIB_SUCCESS);
	n = pfm_count_pmus(c);
	for (int pmu = 0; pmu < n; pmu++) {
		perfmon_pmu_info_t about = PFM_INIT(about);

		assert_int_equal(pfm_describe_pmu(c, pmu, &about), PFMLIB_SUCCESS);
		for (unsigned event = 0; event < about.n_events; event++) {
			perfmon_event_info_t info = PFM_INIT(info);
			pfm_encoding_t a = PFM_INIT(a), b = PFM_INIT(b);
			pfm_error_t why = PFM_INIT(why);
			char text[256];
			int rc, found;
			unsigned first;

			assert_int_equal(pfm_describe_event(c, pmu, event, &info), PFMLIB_SUCCESS);
			snprintf(text, sizeof(text), "%s::%s", about.name, info.name);
			rc = pfm_encode_event_at(c, pmu, event, PFM_PLM3, &a, &why);
			/* A name that two rows share is the first one's. */
			if (pfm_find_event_by_text(c, text, &found, &first, NULL) || found != pmu ||
			    first != event)
				continue;
			if (rc != pfm_encode_event(c, text, PFM_PLM3, &b, NULL))
				fail_msg("%s: %d by number", text, rc);
			if (rc)
				continue;
			if (a.pmu != b.pmu || a.event != b.event || a.plm != b.plm ||
			    a.n_regs != b.n_regs ||
			    memcmp(a.regs, b.regs, a.n_regs * sizeof(a.regs[0])) != 0 ||
			    a.counters != b.counters || a.attr.config != b.attr.config ||
			    a.attr.type != b.attr.type)
				fail_msg("%s differs by number", text);
			same++;
		}
	}
	pfm_close_context(c);
	assert_true(same > 1000);
}

static void a_mask_that_must_be_named_cannot_be_left_out(void **state)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	unsigned event;
	int pmu;

	(void)state;
	assert_int_equal(pfm_find_event_by_text(NULL, "coreduo::SSE_PREFETCH", &pmu, &event, NULL),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_event_at(NULL, pmu, event, 0, &e, &why), PFMLIB_ERR_UMASK);
	assert_int_equal(why.kind, PFM_KIND_MISSING_UMASK);
}

/* ---- the kernel's own structure -------------------------------------------------------------- */

/* Undefined level bits are refused, because nothing would be counted at such a level. */
static void refuses_invalid_levels(void **state)
{
	static const char *const text[] = { "coreduo::Instr_Ret" };
	pfm_encoding_t e = PFM_INIT(e);
	struct dispatched_set set = { 0 };
	pfm_dispatch_options_t of_set = PFM_INIT(of_set);
	pfm_plan_options_t of_plan = PFM_INIT(of_plan);
	pfm_session_options_t of_session = PFM_INIT(of_session);
	pfm_session_t *session;
	pfm_plan_t *plan;
	int pmu = pfm_find_pmu(NULL, "coreduo");

	(void)state;
	of_session.flags = PFM_SESSION_DRY_RUN;
	for (unsigned bit = 0; bit < 32; bit++) {
		const unsigned plm = PFM_PLM3 | 1u << bit;
		const int want = bit < 4 ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;

		of_set.plm = of_plan.plm = of_session.plm = plm;
		assert_int_equal(pfm_encode_event(NULL, text[0], plm, &e, NULL), want);
		assert_int_equal(pfm_encode_event_at(NULL, pmu, 0, plm, &e, NULL), want);
		assert_int_equal(dispatch_set(NULL, text, 1, &of_set, &set, NULL), want);
		assert_int_equal(pfm_create_plan(&plan, NULL, text, 1, &of_plan, NULL), want);
		pfm_close_plan(plan);
		assert_int_equal(pfm_open_session(&session, NULL, &of_session, text, 1, NULL),
		                 want);
		pfm_close_session(session);
	}
}

/* Breakpoints, members that older headers do not have, and PMUs of other machines. */
static void attributes_for_the_kernel(void **state)
{
	struct perf_event_attr attr = { .inherit = 1, .pinned = 1 };
	union {
		struct perf_event_attr attr;
		uint64_t words[32];
	} big = { .words = { 0 } };
	pfm_encoding_t e = PFM_INIT(e), by_text = PFM_INIT(by_text);
	int foreign = 0;

	(void)state;
	if (pfm_encode_perf_attr("mem:0x1000/8:w", 0, &attr, NULL, NULL) == PFMLIB_SUCCESS) {
		assert_int_equal(attr.type, PERF_TYPE_BREAKPOINT);
		assert_int_equal(attr.bp_type, 2);
		assert_int_equal(attr.config, 0);
		assert_int_equal(attr.bp_addr, 0x1000);
		assert_int_equal(attr.bp_len, 8);
		assert_true(attr.inherit && attr.pinned);
	}
	/* At most one of these is this machine's processor. */
	foreign += pfm_encode_perf_attr("coreduo::Mul", 0, &attr, NULL, NULL) == PFMLIB_ERR_NOPMU;
	foreign += pfm_encode_perf_attr("ev6::cycles", 0, &attr, NULL, NULL) == PFMLIB_ERR_NOPMU;
	assert_true(foreign >= 1);
	assert_int_equal(pfm_encode_event(NULL, "page-faults", 0, &e, NULL), 0);
	e.attr.config3 = 0x1122334455667788;
	e.attr.pinned = 1;
	assert_int_equal(pfm_fill_perf_event_attr(NULL, &e, &big.attr, 128), PFMLIB_ERR_FULL);
	assert_int_equal(big.words[0], 0);
	assert_int_equal(pfm_fill_perf_event_attr(NULL, &e, &big.attr, sizeof(big)), 0);
	assert_int_equal(big.words[16], 0x1122334455667788);
	assert_int_equal(big.attr.size, 136);
	assert_true(big.attr.pinned);
	e.attr.config4 = 0x99aabbccddeeff00;
	assert_int_equal(pfm_fill_perf_event_attr(NULL, &e, &big.attr, 136), PFMLIB_ERR_FULL);
	assert_int_equal(pfm_fill_perf_event_attr(NULL, &e, &big.attr, sizeof(big)), 0);
	assert_true(big.words[16] == 0x1122334455667788 && big.words[17] == 0x99aabbccddeeff00);
	assert_int_equal(big.attr.size, 144);
	assert_int_equal(pfm_fill_perf_event_attr(NULL, NULL, &attr, sizeof(attr)),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_fill_perf_event_attr(NULL, &e, NULL, sizeof(attr)), PFMLIB_ERR_INVAL);
	e.pmu = pfm_count_pmus(NULL);
	assert_int_equal(pfm_fill_perf_event_attr(NULL, &e, &attr, sizeof(attr)), PFMLIB_ERR_INVAL);
	/* A level has the same effect from the caller's argument and from the text. */
	assert_int_equal(pfm_encode_event(NULL, "page-faults", PFM_PLM3, &e, NULL), 0);
	assert_int_equal(pfm_encode_event(NULL, "page-faults:u", 0, &by_text, NULL), 0);
	assert_memory_equal(&e.attr, &by_text.attr, sizeof(e.attr));
	assert_int_equal(pfm_encode_event(NULL, "coreduo::Instr_Ret", PFM_PLM0, &e, NULL), 0);
	assert_int_equal(pfm_encode_event(NULL, "coreduo::Instr_Ret:k", 0, &by_text, NULL), 0);
	assert_memory_equal(&e.attr, &by_text.attr, sizeof(e.attr));
	assert_true(e.attr.exclude_hv);
}

static void the_kernels_structure_is_filled(void **state)
{
	struct perf_event_attr attr;
	char *name = NULL;
	int index = -1;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.sample_period = 77;
	assert_int_equal(pfm_encode_perf_attr("software::page-faults:u", PFM_PLM0 | PFM_PLM3, &attr,
	                                      &name, &index),
	                 PFMLIB_SUCCESS);
	assert_true(attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_PAGE_FAULTS &&
	            attr.size == sizeof(attr));
	assert_true(!attr.exclude_user && attr.exclude_kernel && attr.exclude_hv &&
	            !attr.precise_ip);
	assert_int_equal(attr.sample_period, 77); /* the caller's own */
	assert_string_equal(name, "software::PAGE-FAULTS:u");
	assert_true(index >= 0);
	free(name);
	assert_int_equal(pfm_encode_perf_attr("hardware::cycles:kpp", PFM_PLM3, &attr, NULL, NULL),
	                 PFMLIB_SUCCESS);
	assert_true(attr.type == PERF_TYPE_HARDWARE && attr.config == 0 && attr.exclude_user &&
	            !attr.exclude_kernel);
	assert_int_equal(attr.precise_ip, 2);
	assert_int_equal(pfm_encode_perf_attr("hardware::cycles", PFM_PLM3, &attr, NULL, NULL),
	                 PFMLIB_SUCCESS);
	assert_true(!attr.exclude_user && attr.exclude_kernel);
	/* No other spelling than the caller's. */
	assert_int_equal(
		pfm_encode_perf_attr("software/config=0x99/", PFM_PLM3, &attr, &name, NULL),
		PFMLIB_SUCCESS);
	assert_string_equal(name, "software/config=0x99/");
	assert_true(attr.type == PERF_TYPE_SOFTWARE && attr.config == 0x99);
	free(name);
}

static void fills_no_attr_that_the_kernel_cannot_count(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} rows[] = {
		{ "nothing-has-this", PFMLIB_ERR_NOTFOUND },
		{ "montecito::CPU_OP_CYCLES_ALL", PFMLIB_ERR_NOTSUPP },
		{ "ev67::inflt_retires", PFMLIB_ERR_NOTSUPP },
	};
	struct perf_event_attr attr, before;
	char *name = NULL;
	int index = -1;

	(void)state;
	memset(&attr, OLD, sizeof(attr));
	before = attr;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(pfm_encode_perf_attr(rows[i].text, PFM_PLM3, &attr, &name, &index),
		                 rows[i].rc);
	assert_int_equal(pfm_encode_perf_attr(NULL, PFM_PLM3, &attr, &name, &index),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_perf_attr("cycles", PFM_PLM3, NULL, &name, &index),
	                 PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_encode_perf_attr("cycles", -1, &attr, &name, &index),
	                 PFMLIB_ERR_INVAL);
	assert_true(memcmp(&attr, &before, sizeof(attr)) == 0 && !name && index == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_described_in_full),
		cmocka_unit_test(an_event_is_described_in_a_struct_that_was_used),
		cmocka_unit_test(scales_are_read_to_the_last_bit),
		cmocka_unit_test(fields_have_words),
		cmocka_unit_test(one_of_two_extra_registers),
		cmocka_unit_test(a_setting_chooses_the_extra_register),
		cmocka_unit_test(describes_register_field_in_words),
		cmocka_unit_test(a_modifier_may_be_a_choice),
		cmocka_unit_test(answer_shows_effect_of_settings),
		cmocka_unit_test(a_name_of_one_processor_alone_is_that_ones),
		cmocka_unit_test(a_processor_stands_for_its_parts),
		cmocka_unit_test(rows_may_have_a_type_of_their_own),
		cmocka_unit_test(units_are_known_by_their_identifier),
		cmocka_unit_test(an_image_may_shrink_while_it_is_used),
		cmocka_unit_test(a_name_that_several_images_have),
		cmocka_unit_test(settings_belong_to_processors_that_have_some),
		cmocka_unit_test(images_of_the_user_are_found_and_judged),
		cmocka_unit_test(suggestions_are_about_what_was_wrong),
		cmocka_unit_test(arguments_of_descriptions),
		cmocka_unit_test(arguments_of_encodings),
		cmocka_unit_test(refuses_invalid_levels),
		cmocka_unit_test(arguments_of_contexts),
		cmocka_unit_test(attributes_for_the_kernel),
		cmocka_unit_test(structs_of_older_callers_get_what_they_have_room_for),
		cmocka_unit_test(groups_of_one_and_of_any),
		cmocka_unit_test(options_of_older_callers_are_the_usual_ones),
		cmocka_unit_test(events_by_number_are_events_by_name),
		cmocka_unit_test(a_mask_that_must_be_named_cannot_be_left_out),
		cmocka_unit_test(the_kernels_structure_is_filled),
		cmocka_unit_test(fills_no_attr_that_the_kernel_cannot_count),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("interface", tests, make_image, remove_image);
}
