/* SPDX-License-Identifier: MIT */
/* One text becomes counts, without a session: modifiers and groups, types of cores, and places of
 * errors. */
#include "units.h"
#include "fake_session.h"
#include "sampling/sampling.h"

static struct session_builder opening;

static void begin_text(void)
{
	opening = (struct session_builder){ .session = calloc(1, sizeof(*opening.session)),
		                            .error = &error };
	assert_non_null(opening.session);
	opening.session->ctx = ctx;
	opening.session->sys = ctx->sys;
	pfmi_session_find_core_pmus(&opening);
}

static void end_text(void)
{
	pfmi_session_free_names(opening.session);
	free(opening.session->counts);
	free(opening.session);
	opening.session = NULL;
}

static int end(void **state)
{
	if (opening.session)
		end_text();
	return done(state);
}

static void use(const char *name)
{
	make_machine(name);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	begin_text();
}

/* Parses @text, which must become @n counts and nothing more. */
static const struct count_config *parse_event_text(const char *text, unsigned n)
{
	int rc;

	end_text();
	begin_text();
	rc = pfmi_session_add_text(&opening, text);
	if (rc || opening.session->n_counts != n)
		fail_msg("%s: %d, %u counts", text, rc, opening.session->n_counts);
	return &opening.session->counts[0].config;
}

static const struct count_config *asked(unsigned i)
{
	return &opening.session->counts[i].config;
}

static void refuse(const char *text, int code, uint32_t start, uint32_t end)
{
	int rc;

	end_text();
	begin_text();
	opening.request = 7;
	error = (pfm_error_t){ .size = sizeof(error) };
	rc = pfmi_session_add_text(&opening, text);
	if (rc != code || error.start != start || error.end != end || error.event != 7)
		fail_msg("%s: %d at %u-%u of event %d", text, rc, error.start, error.end,
		         error.event);
	error.start = 99;
	opening.error = NULL; /* without a pfm_error_t */
	assert_int_equal(pfmi_session_add_text(&opening, text), code);
}

/* ---- cores ----------------------------------------------------------------------------------- */

static void finds_each_core_pmu(void **state)
{
	char path[80];

	(void)state;
	use("uncore");
	assert_int_equal(opening.n_core_pmus, 1);
	end(NULL);
	use("hybrid");
	assert_int_equal(opening.n_core_pmus, 2);
	assert_string_equal(opening.core_pmus[0]->name, "cpu_atom");
	assert_string_equal(opening.core_pmus[1]->name, "cpu_core");
	end(NULL);
	/* More types of cores than any processor has. */
	fake_begin(&fake);
	for (int c = 'a'; c <= 'f'; c++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/cpu_%c/type", c);
		fake_file(&fake, path,
		          (const char[]){ '1', c == 'f' ? '0' : (char)(c - 'a' + '1'), '\0' });
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/cpu_%c/cpus", c);
		fake_file(&fake, path, (const char[]){ (char)(c - 'a' + '0'), '\0' });
	}
	open_context("GenuineIntel-6-97-2");
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	begin_text();
	assert_int_equal(opening.n_core_pmus, MAX_CORE_PMUS);
	parse_event_text("cycles", MAX_CORE_PMUS);
}

/* ---- letters --------------------------------------------------------------------------------- */

/* Letters of the session are cut off; letters of the event stay in its text. */
static void cuts_off_letters_of_the_session(void **state)
{
	static const struct {
		const char *text;
		bool pinned, no_kernel, no_user;
		unsigned precise;
	} rows[] = {
		{ "cycles", false, false, false, 0 },
		{ "cycles:D", true, false, false, 0 },
		{ "cycles:S", false, false, false, 0 },
		{ "cycles:W", false, false, false, 0 },
		{ "cycles:DSW", true, false, false, 0 },
		{ "cycles:uD", true, true, false, 0 },
		{ "cycles:Dk", true, false, true, 0 },
		{ "cycles:SkW", false, false, true, 0 },
		{ "cpu/instructions/D", true, false, false, 0 },
		{ "cpu/instructions/uSD", true, true, false, 0 },
		{ "cpu/instructions/ppD", true, false, false, 2 },
		{ "  cycles:D", true, false, false, 0 },
	};

	(void)state;
	use("uncore");
	for (unsigned i = 0; i < COUNT(rows); i++) {
		const struct count_config *a = parse_event_text(rows[i].text, 1);

		assert_string_equal(a->name, rows[i].text + strspn(rows[i].text, " "));
		if (a->attr.pinned != rows[i].pinned ||
		    a->attr.exclude_kernel != rows[i].no_kernel ||
		    a->attr.exclude_user != rows[i].no_user || a->attr.precise != rows[i].precise ||
		    a->weak)
			fail_msg("%s", rows[i].text);
	}
	refuse("D", PFMLIB_ERR_NOTFOUND, 0, 1);
	refuse("cycles:DQ", PFMLIB_ERR_ATTR, 7, 9);
	refuse("  nothing:D", PFMLIB_ERR_NOTFOUND, 2, 9);
}

static void parses_modifiers_after_a_brace(void **state)
{
	(void)state;
	use("uncore");
	parse_event_text("{cpu/instructions/,cycles}:u", 2);
	assert_string_equal(asked(0)->name, "cpu/instructions/u");
	assert_string_equal(asked(1)->name, "cycles:u");
	assert_true(asked(0)->attr.exclude_kernel && asked(1)->attr.exclude_kernel);
	parse_event_text("{ cycles , instructions }uDW", 2); /* the colon may be missing */
	for (unsigned i = 0; i < 2; i++)
		assert_true(asked(i)->attr.exclude_kernel && asked(i)->attr.pinned &&
		            asked(i)->weak);
	assert_string_equal(asked(0)->name, "cycles:u");
	parse_event_text("{cycles,instructions:D}:S", 2);
	assert_true(!asked(0)->attr.pinned && asked(1)->attr.pinned && !asked(0)->weak);
	parse_event_text("{cycles,instructions}:W", 2);
	assert_true(asked(0)->weak && asked(1)->weak && !asked(1)->attr.pinned);
	/* Modifiers of a group do not apply to the next text. */
	assert_int_equal(pfmi_session_add_text(&opening, "{branches}"), PFMLIB_SUCCESS);
	assert_false(asked(2)->weak);
	parse_event_text("{cycles}:", 1);
	assert_string_equal(asked(0)->name, "cycles");
	refuse("{cycles}:uq", PFMLIB_ERR_ATTR, 10, 11);
	refuse("{cycles}::u", PFMLIB_ERR_ATTR, 9, 10);
	refuse("{cycles} u", PFMLIB_ERR_ATTR, 8, 9);
	parse_event_text("{cycles}:WDSWDSWDSWDSWDSWDSWDSu",
	                 1); /* letters of the group need no memory in the text */
	refuse("{cycles}:uuuuuuuuuuuuuuuu", PFMLIB_ERR_ATTR, 24,
	       25); /* event texts have memory for fifteen letters */
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void texts_that_are_no_list(void **state)
{
	(void)state;
	use("uncore");
	refuse("{", PFMLIB_ERR_SYNTAX, 0, 1);
	refuse("  {cycles", PFMLIB_ERR_SYNTAX, 2, 3);
	refuse("{}", PFMLIB_ERR_SYNTAX, 1, 1);
	refuse("{cycles,,instructions}", PFMLIB_ERR_SYNTAX, 8, 8);
	refuse("{cycles,}", PFMLIB_ERR_SYNTAX, 8, 8);
	refuse("{,cycles}", PFMLIB_ERR_SYNTAX, 1, 1);
	refuse("{cycles, nothing}", PFMLIB_ERR_NOTFOUND, 9, 16);
	refuse("{nothing}:u", PFMLIB_ERR_NOTFOUND, 1,
	       8); /* the error does not include the letters of the group */
	refuse("{cycles,nothing }k", PFMLIB_ERR_NOTFOUND, 8, 15);
	refuse("", PFMLIB_ERR_NOTFOUND, 0, 0);
}

/* Sets of texts that occur again, with others between them, in short names that look alike, and of
 * the largest size. */
static void parses_sets_of_events(void **state)
{
	char many[4096];

	(void)state;
	use("uncore");
	parse_event_text("{cycles,instructions,cycles}", 3);
	assert_string_equal(asked(2)->name, "cycles");
	parse_event_text("{r1,r2,r1,r3,r2,r1}:u", 6);
	assert_string_equal(asked(5)->name, "r1:u");
	parse_event_text("{r10,r1}", 2);
	parse_event_text("{cycles,cycles:u}", 2);
	many[0] = '\0';
	for (unsigned i = 0; i < MAX_GROUP_MEMBERS; i++)
		snprintf(many + strlen(many), 16, "%cr%x", i ? ',' : '{', 0x100 + i);
	strcat(many, "}");
	parse_event_text(many, MAX_GROUP_MEMBERS);
	for (unsigned i = 0; i < MAX_GROUP_MEMBERS; i++)
		assert_int_equal(asked(i)->attr.config, 0x100 + i);
	snprintf(strchr(many, '}'), 16, ",r999}");
	refuse(many, PFMLIB_ERR_TOOMANY, 1 + MAX_GROUP_MEMBERS * 5, 1 + MAX_GROUP_MEMBERS * 5 + 4);
}

static void groups_are_numbered(void **state)
{
	(void)state;
	use("uncore");
	parse_event_text("{cycles,instructions}", 2);
	assert_true(asked(0)->group == 0 && asked(1)->group == 0 && opening.session->n_groups == 1);
	opening.request = 3;
	assert_int_equal(pfmi_session_add_text(&opening, "branches"), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_session_add_text(&opening, "branches"), PFMLIB_SUCCESS);
	assert_true(asked(2)->group == 1 && asked(3)->group == 2 && opening.session->n_groups == 3);
	assert_true(asked(2)->request == 3 && asked(0)->request == 0);
}

#define BIG "adl_goldencove::"

/* An event that must be counted alone is refused in a group before or after the other event; a
 * weak group is split in two. */
static void splits_groups_of_exclusive_events(void **state)
{
	static const char alone[] = BIG "FRONTEND_RETIRED.DSB_MISS", other[] = BIG "L2_RQSTS.MISS";
	char text[256];

	(void)state;
	use("hybrid");
	snprintf(text, sizeof(text), "{%s,%s}", alone, other);
	refuse(text, PFMLIB_ERR_NOASSIGN, 1, sizeof(alone));
	snprintf(text, sizeof(text), "{%s,%s}", other, alone);
	refuse(text, PFMLIB_ERR_NOASSIGN, 1 + sizeof(other),
	       (uint32_t)(sizeof(other) + sizeof(alone)));
	snprintf(text, sizeof(text), "{%s,%s}:W", other, alone);
	parse_event_text(text, 2);
	assert_true(asked(0)->group == 0 && asked(1)->group == 1);
	snprintf(text, sizeof(text), "{%s,%s}", alone, BIG "INST_RETIRED.ANY");
	parse_event_text(text, 2);
	assert_true(asked(0)->group == 0 && asked(1)->group == 0);
	snprintf(text, sizeof(text), "{%s,page-faults}", alone); /* on no PMU at all */
	parse_event_text(text, 2);
	/* Events that the kernel defines are counted on that core, too; those of the other type of
	 * core are not. */
	snprintf(text, sizeof(text), "{branches,%s}", alone);
	refuse(text, PFMLIB_ERR_NOASSIGN, 10, 9 + sizeof(alone));
	snprintf(text, sizeof(text), "{cpu_atom/cache-misses/,%s}", alone);
	parse_event_text(text, 2);
}

/* ---- types of cores -------------------------------------------------------------------------- */

static void on_each_type(void **state)
{
	(void)state;
	use("hybrid");
	parse_event_text("cycles", 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(asked(i)->kernel_pmu, opening.core_pmus[i]);
		assert_true(asked(i)->attr.config >> 32 ==
		            (uint64_t)opening.core_pmus[i]->instance_types[0]);
		assert_int_equal(asked(i)->group, i);
		assert_true(asked(i)->sibling_set &&
		            asked(i)->sibling_set == asked(0)->sibling_set);
		assert_true(!asked(i)->lacks_core_types && !asked(i)->missing_core);
	}
	assert_int_equal(pfmi_session_add_text(&opening, "instructions"), PFMLIB_SUCCESS);
	assert_true(asked(2)->sibling_set == asked(3)->sibling_set &&
	            asked(2)->sibling_set != asked(0)->sibling_set);
	/* Only one type of core has this event. */
	parse_event_text("slots", 1);
	assert_string_equal(asked(0)->kernel_pmu->name, "cpu_core");
	assert_true(asked(0)->lacks_core_types && asked(0)->sibling_set == 0);
	assert_ptr_equal(asked(0)->missing_core, opening.core_pmus[0]);
	/* Both types of cores have this event, each with its own code. */
	parse_event_text("mem-stores", 2);
	assert_true(asked(0)->attr.config == 0x6d0 && asked(1)->attr.config == 0x2cd);
	/* A text that names a core type lacks no other core type. */
	parse_event_text("cpu_atom/mem-stores/", 1);
	assert_string_equal(asked(0)->kernel_pmu->name, "cpu_atom");
	assert_true(asked(0)->lacks_core_types && !asked(0)->missing_core &&
	            !asked(0)->sibling_set);
	parse_event_text(BIG "L2_RQSTS.MISS", 1);
	assert_string_equal(asked(0)->kernel_pmu->name, "cpu_core");
	parse_event_text("page-faults", 1);
	assert_null(asked(0)->kernel_pmu);
	parse_event_text("uncore_imc/data_reads/", 1);
	assert_false(asked(0)->lacks_core_types);
}

/* A group is repeated on each type of core that has any of its events; events of no core stay with
 * the first. */
static void groups_on_each_type(void **state)
{
	(void)state;
	use("hybrid");
	parse_event_text("{cycles,slots,page-faults}", 4);
	assert_string_equal(asked(0)->kernel_pmu->name, "cpu_atom");
	assert_string_equal(asked(0)->name, "cycles");
	assert_string_equal(asked(1)->name, "page-faults");
	assert_string_equal(asked(2)->name, "cycles");
	assert_string_equal(asked(3)->name, "slots");
	assert_true(asked(0)->group == 0 && asked(1)->group == 0 && asked(2)->group == 1 &&
	            asked(3)->group == 1);
	assert_int_equal(asked(0)->sibling_set, asked(2)->sibling_set);
	parse_event_text("{page-faults,slots}", 2);
	assert_true(asked(0)->group == 0 && asked(1)->group == 0);
	parse_event_text("{page-faults,context-switches}", 2);
	assert_true(asked(0)->group == 0 && asked(1)->group == 0 && opening.session->n_groups == 1);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void terms_of_samples(void **state)
{
	static struct sampling_state sampling;

	(void)state;
	use("uncore");
	refuse("cycles:period=5", PFMLIB_ERR_ATTR, 7, 13);
	end_text();
	begin_text();
	opening.session->sampling = &sampling;
	assert_int_equal(pfmi_session_add_text(&opening, "cycles:period=5"), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_session_add_text(&opening, "{cycles,cpu/instructions,freq=7/}:u"),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfmi_session_add_text(&opening, "cycles:period=9:uD"), PFMLIB_SUCCESS);
	assert_true(asked(0)->period == 5 && asked(0)->freq == 0);
	assert_true(asked(1)->period == 0 && asked(2)->freq == 7);
	assert_true(asked(3)->period == 9 && asked(3)->attr.pinned &&
	            asked(3)->attr.exclude_kernel);
	error = (pfm_error_t){ .size = sizeof(error) };
	assert_int_equal(pfmi_session_add_text(&opening, "{cycles,instructions:period=0}"),
	                 PFMLIB_ERR_ATTR_VAL);
	assert_int_equal(error.start, 21);
	assert_int_equal(error.end, 29);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, end)

UNIT(session_event_list, CASE(finds_each_core_pmu), CASE(cuts_off_letters_of_the_session),
     CASE(parses_modifiers_after_a_brace), CASE(texts_that_are_no_list),
     CASE(parses_sets_of_events), CASE(groups_are_numbered),
     CASE(splits_groups_of_exclusive_events), CASE(on_each_type), CASE(groups_on_each_type),
     CASE(terms_of_samples));
