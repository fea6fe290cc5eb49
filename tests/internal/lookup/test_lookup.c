/* SPDX-License-Identifier: MIT */
/* Every built-in name is found in the row or table that has it, however similar another name is. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>
#include "context/context.h"
#include "lookup/lookup.h"
#include "built_in.h"

#define BIG_CORE 0x40 /* CPUID leaf 1AH: a Core, not an Atom */

/* ---- processors ------------------------------------------------------------------------------ */

/* Checks the walk over PMUs with the name @name: PMUs with it as their own name if any, else
 * PMUs with it as an alias, and all of these. */
static void check_name(const pfm_ctx_t *c, const char *name, unsigned *n_others)
{
	struct slice s = pfmi_base_make_slice(name);
	unsigned n = context_count_pmus(c), own = 0, others = 0, steps = 0;
	struct pmu_name_iter called = { 0 };
	unsigned char seen[4096] = { 0 };
	int at;

	assert_true(n <= sizeof(seen));
	for (unsigned i = 0; i < n; i++) {
		const struct table *t = context_get_pmu_table(c, i);

		own += context_table_has_own_name(t, s);
		others += pfmi_context_table_has_name(t, s) && !context_table_has_own_name(t, s);
	}
	*n_others += others;
	while ((at = pfmi_context_next_named_pmu(c, s, pfmi_table_hash_name(s), &called)) >= 0) {
		const struct table *t = context_get_pmu_table(c, (unsigned)at);

		if (called.table != t || !pfmi_context_table_has_name(t, s) ||
		    context_table_has_own_name(t, s) != (own > 0))
			fail_msg("%s: %s is not next", name, table_get_text(t, t->name));
		assert_true(++steps < 2 * n);
		/* Two aliases of one table that differ in an underscore reach it twice. */
		if (seen[at]++)
			assert_false(context_table_has_own_name(t, s));
		else if (own)
			own--;
		else
			others--;
	}
	assert_int_equal(at, -1);
	if (own || others)
		fail_msg("%u of that name and %u others are not called %s", own, others, name);
}

/* Checks all names and aliases of the tables of @c, in small and capital letters. */
static unsigned walk_all(const pfm_ctx_t *c)
{
	unsigned others = 0;

	for (unsigned i = 0; i < context_count_pmus(c); i++) {
		const struct table *t = context_get_pmu_table(c, i);
		char names[512], *name = names;

		snprintf(names, sizeof(names), "%s %s", table_get_text(t, t->name),
		         table_get_text(t, t->aliases));
		for (unsigned k = 0; (name = strtok(k ? NULL : names, " ")); k++) {
			check_name(c, name, &others);
			for (char *p = name; *p; p++)
				*p = (char)toupper((unsigned char)*p);
			check_name(c, name, &others);
		}
	}
	return others;
}

static void all_of_a_name_are_called(void **state)
{
	unsigned others = 0;

	(void)state;
	assert_true(walk_all(ctx) > 20);
	check_name(ctx, "no_such_processor", &others);
	check_name(ctx, "", &others);
	assert_int_equal(others, 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* libpfm 3 has one name twice: the first event is found. */
static bool is_found(int pmu, const char *table, uint32_t row)
{
	const char *name = table_get_row_name(table_get_builtin((unsigned)pmu), row);
	char text[512];
	unsigned event;
	int at;

	snprintf(text, sizeof(text), "%s::%s", table, name);
	if (pfm_find_event_by_text(ctx, text, &at, &event, NULL))
		return false;
	return at == pmu &&
	       (event == row ||
	        (event < row &&
	         strcasecmp(table_get_row_name(table_get_builtin((unsigned)pmu), event), name) ==
	                 0));
}

/* Each row is found in the table that is searched first for its name. */
static void every_row_is_found_by_its_name(void **state)
{
	unsigned missing = 0, twins = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		const char *name = table_get_text(t, t->name);

		if (pfm_find_pmu(ctx, name) != (int)i)
			continue;
		for (uint32_t row = 0; row < t->n_rows; row++) {
			twins += (table_get_row(t, row)->flags & ROW_SHADOWED) != 0;
			if (is_found((int)i, name, row))
				continue;
			print_message("# %s::%s\n", name, table_get_row_name(t, row));
			missing++;
		}
	}
	assert_int_equal(missing, 0);
	assert_true(twins > 0);
}

/* ---- hybrid processors ----------------------------------------------------------------------- */

/* Returns the type of core that @t is for, or 0 if @t does not state it. */
static unsigned core_type(const struct table *t)
{
	for (unsigned i = 0; i < t->n_matches; i++)
		if (table_matches(t)[i].has_core_type)
			return table_matches(t)[i].core_type;
	return 0;
}

static bool has_big_core(const char *whole)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (strcmp(table_get_text(table_get_builtin(i), table_get_builtin(i)->family_name),
		           whole) == 0 &&
		    core_type(table_get_builtin(i)) == BIG_CORE)
			return true;
	return false;
}

/* The name "arl" covers all members of the family. An event that several cores have is the big
 * core's, whatever the order of the members. */
static void the_big_core_comes_first(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const char *whole =
			table_get_text(table_get_builtin(i), table_get_builtin(i)->family_name);
		char text[128];
		unsigned event;
		int pmu;

		if (!*whole || core_type(table_get_builtin(i)) == BIG_CORE ||
		    !core_type(table_get_builtin(i)) || !has_big_core(whole))
			continue;
		snprintf(text, sizeof(text), "%s::INST_RETIRED.ANY", whole);
		if (pfm_find_event_by_text(ctx, text, &pmu, &event, NULL) ||
		    core_type(table_get_builtin((unsigned)pmu)) != BIG_CORE)
			fail_msg("%s is not the big core's", text);
		n++;
	}
	if (pfm_find_pmu(ctx, "adl_goldencove") >= 0)
		assert_true(n >= 6);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The name "skx" also covers its boxes: an event of each box is found under it, on that box or
 * on an earlier one. */
static bool part_is_asked(const struct image *im, const struct pmu_family *w, uint32_t k)
{
	const struct table *t = table_get_image_table(im, table_get_family_members(im, w)[k]);
	char text[512];
	unsigned event;
	int pmu;

	snprintf(text, sizeof(text), "%s::%s",
	         (const char *)table_get_image_array(im, ARRAY_POOL) + w->name,
	         table_get_row_name(t, 0));
	if (pfm_find_event_by_text(ctx, text, &pmu, &event, NULL) == PFMLIB_SUCCESS)
		return true;
	print_message("# %s, of %s\n", text, table_get_text(t, t->name));
	return false;
}

static void members_of_a_family_are_searched(void **state)
{
	const struct image *im = (const struct image *)(const void *)pfmi_builtin_image;
	const struct pmu_family *w = table_get_image_array(im, ARRAY_FAMILIES);
	unsigned missing = 0;

	(void)state;
	for (uint32_t i = 0; i < im->arrays[ARRAY_FAMILIES].n_elements; i++)
		for (uint32_t k = 0; k < w[i].n_members; k++)
			missing += !part_is_asked(im, &w[i], k);
	assert_int_equal(missing, 0);
}

/* ---- one unit -------------------------------------------------------------------------------- */

/* A lookup on one PMU finds only the events of that PMU. A text with slashes is refused. */
static void texts_are_looked_up_in_one_pmu(void **state)
{
	static const struct {
		const char *text;
		int rc;
		pfm_error_kind_t kind;
		unsigned start, end;
	} cases[] = {
		{ "Instr_Ret", PFMLIB_SUCCESS, 0, 0, 0 },
		{ "Instr_Ret:u:c=2", PFMLIB_SUCCESS, 0, 0, 0 },
		{ "Unhalted_Core_Cycles", PFMLIB_SUCCESS, 0, 0, 0 },
		{ "ALAT_CAPACITY_MISS_ALL", PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, 0, 22 },
		{ "Instr_Ret:nothing", PFMLIB_ERR_ATTR, PFM_KIND_UNKNOWN_QUALIFIER, 10, 17 },
		{ "Instr_Ret:c=256", PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, 12, 15 },
		{ "cpu/event=0xc0/", PFMLIB_ERR_INVAL, PFM_KIND_NONE, 0, 0 },
		{ "coreduo/Instr_Ret/", PFMLIB_ERR_INVAL, PFM_KIND_NONE, 0, 0 },
	};
	unsigned unit = (unsigned)pfm_find_pmu(ctx, "coreduo");
	struct event ev;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pfm_error_t why = PFM_INIT(why);
		int rc = pfmi_lookup_event_on_pmu(ctx, cases[i].text, unit, &ev, &why);

		if (rc != cases[i].rc ||
		    (rc && (why.kind != cases[i].kind || why.start != cases[i].start ||
		            why.end != cases[i].end)))
			fail_msg("'%s': %d, kind %d, %u to %u", cases[i].text, rc, why.kind,
			         why.start, why.end);
		if (!rc)
			assert_ptr_equal(ev.table, context_get_pmu_table(ctx, unit));
	}
	assert_int_equal(
		pfmi_lookup_event_on_pmu(ctx, "Instr_Ret", context_count_pmus(ctx), &ev, NULL),
		PFMLIB_ERR_INVAL);
	assert_int_equal(pfmi_lookup_event_on_pmu(ctx, "Instr_Ret", ~0u, &ev, NULL),
	                 PFMLIB_ERR_INVAL);
}

/* ---- metrics, which are not events ----------------------------------------------------------- */

/* A metric has no registers, so no call encodes it, whatever its table's encoder would make of
 * its empty fields. */
static void metrics_have_no_registers(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0; row < t->n_rows; row++) {
			pfm_encoding_t e = PFM_INIT(e);
			char text[512];

			if (!(table_get_row(t, row)->flags & ROW_METRIC))
				continue;
			snprintf(text, sizeof(text), "%s::%s", table_get_text(t, t->name),
			         table_get_row_name(t, row));
			assert_int_equal(pfm_encode_event(ctx, text, 0, &e, NULL),
			                 PFMLIB_ERR_ALIAS);
			assert_int_equal(pfm_encode_event_at(ctx, (int)i, row, 0, &e, NULL),
			                 PFMLIB_ERR_ALIAS);
			n++;
		}
	}
	assert_true(n > 4000);
}

/* ---- modifiers ------------------------------------------------------------------------------- */

/* Encodes @event of @pmu with the flag @name set to @value, in perf's form or libpfm's. */
static int encode_flag(const char *pmu, const char *event, const char *name, const char *value,
                       bool perf, pfm_encoding_t *e)
{
	char text[512];

	snprintf(text, sizeof(text), perf ? "%s/%s,%s=%s/" : "%s::%s:%s=%s", pmu, event, name,
	         value);
	memset(e, 0, sizeof(*e));
	e->size = sizeof(*e);
	return pfm_encode_event(ctx, text, 0, e, NULL);
}

/* Flags are numbers like other fields: hexadecimal equals decimal, also between slashes. */
static void flags_are_numbers(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		const char *pmu = table_get_text(t, t->name),
			   *event = t->n_rows ? table_get_row_name(t, t->n_rows / 2) : "";

		for (unsigned f = 0; f < t->n_fields; f++) {
			const struct field *field = &table_fields(t)[f];

			for (unsigned perf = 0; perf < 2 && field->is_modifier && field->width == 1;
			     perf++) {
				const char *name = table_get_text(t, field->name);
				pfm_encoding_t off, on, hex_off, hex_on;
				int rc_off = encode_flag(pmu, event, name, "0", perf, &off),
				    rc_on = encode_flag(pmu, event, name, "1", perf, &on);

				assert_int_equal(
					encode_flag(pmu, event, name, "0x0", perf, &hex_off),
					rc_off);
				assert_int_equal(
					encode_flag(pmu, event, name, "0x1", perf, &hex_on), rc_on);
				assert_memory_equal(&off, &hex_off, sizeof(off));
				assert_memory_equal(&on, &hex_on, sizeof(on));
				n += !rc_on && !rc_off;
			}
		}
	}
	assert_true(n > 1000);
}

/* A libpfm4 name with unit masks and the same name with a trailing separator are one row's:
 * lib/lookup/lookup.c searches only one of them. */
static void a_separator_changes_nothing(void **state)
{
	unsigned pairs = 0;

	(void)state;
	for (unsigned k = 0; k < table_count_builtins(); k++) {
		const struct table *t = table_get_builtin(k);

		for (uint32_t i = t->n_rows; i < table_count_names(t); i++) {
			struct name_entry n = table_get_name(t, i), without;
			struct slice s = pfmi_base_make_slice(table_get_text(t, n.text));

			if (n.kind != NAME_SYNONYM || n.row < t->n_rows || !s.len ||
			    !strchr(".:", s.text[s.len - 1]))
				continue;
			s.len--;
			without = table_find_name(t, pfmi_table_hash_name(s), s.text, s.len);
			if (without.kind != NAME_SYNONYM || without.row < t->n_rows)
				continue;
			if (without.row != n.row)
				fail_msg("%s: %s", table_get_text(t, t->name), s.text);
			pairs++;
		}
	}
	if (table_count_builtins() > 400)
		assert_true(pairs > 700);
}

/* Returns the row of @t that the text "@name:@behind" means, or ROW_NONE. */
static uint32_t row_before(const struct table *t, struct slice name, const char *behind)
{
	char text[512];
	struct spec spec;
	struct name_entry n;

	snprintf(text, sizeof(text), "%s::%.*s:%s", table_get_text(t, t->name), (int)name.len,
	         name.text, behind);
	assert_int_equal(pfmi_spec_parse(text, &spec, NULL), PFMLIB_SUCCESS);
	n = pfmi_lookup_spec_name(t, &spec);
	return n.kind == NAME_NONE ? ROW_NONE : n.row;
}

static bool has_group(const struct table *t, uint32_t row, const char *name)
{
	for (unsigned i = 0; row != ROW_NONE && i < table_get_row(t, row)->n_groups; i++)
		if (strcasecmp(table_get_text(
				       t, table_get_row_group(t, table_get_row(t, row), i)->name),
		               name) == 0)
			return true;
	return false;
}

/* Two events share a name: the vendor's row @own (or ROW_NONE) and a row from libpfm4. The text
 * after the name decides between them. The vendor's row has precedence if both or neither accept
 * the text. */
static void either_of_a_name(const struct table *t, struct slice name, uint32_t own, uint32_t lent)
{
	for (unsigned i = 0; i < table_get_row(t, lent)->n_groups; i++) {
		const struct umask_group *g = table_get_row_group(t, table_get_row(t, lent), i);
		const char *group = table_get_text(t, g->name);
		char behind[256];

		snprintf(behind, sizeof(behind), "%s=%s", group,
		         table_get_text(t, table_named_values(t)[g->first_named_value].name));
		assert_int_equal(row_before(t, name, behind),
		                 has_group(t, own, group) ? own : lent);
	}
	assert_int_equal(row_before(t, name, "0x1"),
	                 own != ROW_NONE && table_get_row(t, own)->n_groups ? own : lent);
	assert_int_equal(row_before(t, name, "no_such_group=1"), own);
}

/* Checks all libpfm4 names with unit masks that, without the separator, belong to a row of the
 * vendor's or to no row. */
static void groups_tell_events_of_a_name_apart(void **state)
{
	unsigned pairs = 0, alone = 0;

	(void)state;
	for (unsigned k = 0; k < table_count_builtins(); k++) {
		const struct table *t = table_get_builtin(k);

		for (uint32_t i = t->n_rows; i < table_count_names(t); i++) {
			struct name_entry n = table_get_name(t, i), own;
			struct slice s = pfmi_base_make_slice(table_get_text(t, n.text));

			if (n.kind != NAME_SYNONYM || n.row < t->n_rows || s.len < 2 ||
			    !strchr(".:", s.text[s.len - 1]))
				continue;
			s.len--;
			own = table_find_name(t, pfmi_table_hash_name(s), s.text, s.len);
			if (own.kind < NAME_UNSUPPORTED && own.row == n.row)
				continue;
			either_of_a_name(t, s, own.kind < NAME_UNSUPPORTED ? own.row : ROW_NONE,
			                 n.row);
			pairs += own.kind < NAME_UNSUPPORTED;
			alone += own.kind >= NAME_UNSUPPORTED;
		}
	}
	if (table_count_builtins() > 400)
		assert_true(pairs > 200 && alone > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_name_are_called),
		cmocka_unit_test(every_row_is_found_by_its_name),
		cmocka_unit_test(the_big_core_comes_first),
		cmocka_unit_test(members_of_a_family_are_searched),
		cmocka_unit_test(texts_are_looked_up_in_one_pmu),
		cmocka_unit_test(metrics_have_no_registers),
		cmocka_unit_test(flags_are_numbers),
		cmocka_unit_test(a_separator_changes_nothing),
		cmocka_unit_test(groups_tell_events_of_a_name_apart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("find", tests, open_context, close_context);
}
