/* SPDX-License-Identifier: MIT */
/* One event and sets of them: other ways to count the same, events that must be alone or need no
 * counter, levels. */
#include "dispatched_set.h"
#include "unit_tables.h"
#include <perfmon/types.h>
#include "open_for.h"

/* @ev with another code and unit mask, as if its text said so. */
static struct event set_code(struct event ev, uint64_t code, uint64_t umask)
{
	const uint64_t values[] = { code, umask };
	const unsigned fields[] = { table_get_key_field_plus1(ev.table, KEY_CODE) - 1,
		                    table_get_key_field_plus1(ev.table, KEY_UMASK) - 1 };

	for (unsigned i = 0; i < 2; i++)
		assert_true(pfmi_pmu_set_user_field(&ev, fields[i], values[i]));
	return ev;
}

/* Intel's two registers for off-core responses: event b7, unit mask 1 (later 2a, 1) has MSR 1a6;
 * what counts the same with 1a7 is bb, 1 (2b, 1) or, of Atoms, b7, 2. */
static void expect_twin(const pfm_encoding_t *e)
{
	uint64_t word = e->attr.config & 0xffff, twin = e->alternatives[0].config & 0xffff;

	if (!e->n_alternatives || (word != 0x1b7 && word != 0x12a))
		return;
	assert_true(word == 0x12a ? twin == 0x12b : twin == 0x1bb || twin == 0x2b7);
	assert_true(e->alternatives[0].msr == 0x1a7);
}

/* Each other way to count a row: its control register is what the event has with that code and unit
 * mask. */
static unsigned expect_alternatives(const pfm_ctx_t *ctx, unsigned pmu, uint32_t row)
{
	const struct table *t = table_get_builtin(pmu);
	const struct field *code = table_get_key_field(t, KEY_CODE),
			   *umask = table_get_key_field(t, KEY_UMASK);
	pfm_encoding_t e = PFM_INIT(e);

	assert_int_equal(pfm_encode_event_at(ctx, (int)pmu, row, PFM_PLM3, &e, NULL),
	                 PFMLIB_SUCCESS);
	expect_twin(&e);
	for (unsigned i = 0; i < e.n_alternatives; i++) {
		const uint64_t config[N_CONFIG_WORDS] = { e.alternatives[i].config };
		struct event ev, other;
		struct placement where;
		struct register_values regs;

		pfmi_pmu_init_event(&ev, t, row);
		other = set_code(ev, pfmi_pmu_extract_field(code, config),
		                 pfmi_pmu_extract_field(umask, config));
		find_place(&other, 1, PFM_PLM3, &where, &regs);
		assert_true(e.alternatives[i].control == regs.pmcs[0].value);
		assert_true(e.alternatives[i].config != e.attr.config);
		/* Off-core responses, and what later processors have in their place. */
		assert_true(e.alternatives[i].msr == 0 ||
		            e.alternatives[i].msr >> 1 == 0x1a6 >> 1 ||
		            e.alternatives[i].msr >> 2 == 0x3e0 >> 2);
		for (unsigned k = 1; k < e.n_regs; k++)
			assert_true(e.alternatives[i].value == e.regs[k].value);
	}
	return e.n_alternatives;
}

static void other_encodings_of_an_event(void **state)
{
	pfm_ctx_t *ctx = open_for(NULL);
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		unsigned here = 0;

		for (uint32_t row = 0;
		     table_get_key_field_plus1(t, KEY_ALT) && row < t->n_rows && here < 10; row++)
			if (is_event(t, row) && pfmi_table_has_row_value(t, row, KEY_ALT))
				here += expect_alternatives(ctx, i, row);
		found += here;
	}
	assert_true(found > 100);
	pfm_close_context(ctx);
}

/* Rows that must be counted alone, with every kind of neighbour. */
static bool place_beside(const struct table *t, uint32_t alone, uint32_t other)
{
	uint64_t fixed = table_get_row_counter_mask(t, table_get_row(t, other)) >> 32;
	struct event events[2];
	struct placement where;
	struct register_values regs;

	for (unsigned first = 0; first < 2; first++) {
		struct encode_request req = {
			.table = t, .events = events, .n_events = 2, .plm = PFM_PLM3
		};
		pfm_error_t why = PFM_INIT(why);
		int rc;

		pfmi_pmu_init_event(&events[first], t, alone);
		pfmi_pmu_init_event(&events[!first], t, other);
		if (pfmi_pmu_check_event(&events[0], NULL) ||
		    pfmi_pmu_check_event(&events[1], NULL))
			return false;
		rc = pfmi_pmu_dispatch_set(&req, &where, &regs, &why);
		if (rc == PFMLIB_ERR_EVTINCOMP) /* they differ in a register that there is once */
			return false;
		if (fixed) {
			assert_int_equal(rc, PFMLIB_SUCCESS);
			assert_true(where.counters[!first] >= 32);
			assert_true(where.counters[first] < 32);
		} else {
			assert_int_equal(rc, PFMLIB_ERR_NOASSIGN);
			assert_int_equal(why.kind, PFM_KIND_ALONE);
			assert_int_equal(why.event, first);
			assert_true(has_clash(&why, 3));
		}
	}
	return true;
}

static void exclusive_events_are_placed_alone(void **state)
{
	unsigned seen[2] = { 0 };

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);
		uint32_t alone = ROW_NONE;

		if (t->encoder != ENCODER_X86)
			continue;
		for (uint32_t row = 0; row < t->n_rows; row++)
			if (table_get_row(t, row)->flags & ROW_EXCLUSIVE && is_event(t, row) &&
			    !table_get_row(t, row)->n_groups)
				alone = row;
		for (uint32_t row = 0; alone != ROW_NONE && row < t->n_rows; row += 13) {
			const struct row *r = table_get_row(t, row);

			if (!is_event(t, row) || r->n_groups ||
			    r->flags & (ROW_EXCLUSIVE | ROW_FREE_RUNNING) ||
			    !table_get_row_counter_mask(t, r))
				continue;
			seen[table_get_row_counter_mask(t, r) >> 32 != 0] +=
				place_beside(t, alone, row);
		}
	}
	assert_true(seen[0] > 50 && seen[1] > 0);
}

/* An event that runs by itself takes no counter, however many there are. */
static void free_running_events_take_no_counter(void **state)
{
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < table_count_builtins(); i++) {
		const struct table *t = table_get_builtin(i);

		for (uint32_t row = 0; row < t->n_rows; row++) {
			struct event events[3];
			struct placement where;
			struct register_values regs;

			if (!(table_get_row(t, row)->flags & ROW_FREE_RUNNING) || !is_event(t, row))
				continue;
			for (unsigned k = 0; k < 3; k++)
				pfmi_pmu_init_event(&events[k], t, row);
			find_place(events, 3, PFM_PLM3, &where, &regs);
			for (unsigned k = 0; k < 3; k++)
				assert_int_equal(where.counters[k], 0xff);
			assert_int_equal(regs.n_pmds, 0);
			seen++;
		}
	}
	assert_true(seen > 0);
}

/* Levels that the text or else the caller names replace the default. */
static void named_levels_replace_the_default(void **state)
{
	static const struct {
		const char *suffix;
		unsigned levels, hypervisor;
	} texts[] = {
		{ "", 0, 0 },
		{ ":u", PFM_PLM3, 0 },
		{ ":k", PFM_PLM0, 0 },
		{ ":uk", PFM_PLM0 | PFM_PLM3, 0 },
		{ ":ukh", PFM_PLM0 | PFM_PLM3, 1 },
		{ ":h", 0, 1 },
	};
	pfm_ctx_t *ctx = open_for("skl");

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		for (unsigned k = 0; k < 4; k++) {
			const unsigned asked[] = { 0, PFM_PLM0, PFM_PLM3, PFM_PLM0 | PFM_PLM3 };
			bool named = texts[i].levels || texts[i].hypervisor;
			unsigned want = named      ? texts[i].levels
			                : asked[k] ? asked[k]
			                           : PFM_PLM0 | PFM_PLM3;
			pfm_encoding_t e = PFM_INIT(e);
			char text[64];

			snprintf(text, sizeof(text), "INST_RETIRED.ANY_P%s", texts[i].suffix);
			if (pfm_encode_event(ctx, text, asked[k], &e, NULL))
				fail_msg("%s", text);
			assert_int_equal(e.attr.exclude_user, !(want & PFM_PLM3));
			assert_int_equal(e.attr.exclude_kernel, !(want & PFM_PLM0));
			assert_int_equal(e.attr.exclude_hv,
			                 named ? !texts[i].hypervisor : asked[k] != 0);
			/* Bits 16 and 17 of the control register: user and kernel. */
			assert_int_equal(e.regs[0].value >> 16 & 3,
			                 (want & PFM_PLM3 ? 1u : 0) | (want & PFM_PLM0 ? 2u : 0));
		}
	pfm_close_context(ctx);
}

static void sets_that_do_not_fit_are_refused(void **state)
{
	pfm_ctx_t *ctx = open_for("skl");
	const char *many[MAX_SET + 1], *two[] = { "INST_RETIRED.ANY_P", "ev6::cycles" },
				       *hole[] = { "INST_RETIRED.ANY_P", NULL };
	struct dispatched_set out = { 0 };
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	for (unsigned i = 0; i <= MAX_SET; i++)
		many[i] = "software::page-faults";
	assert_int_equal(dispatch_set(ctx, many, MAX_SET + 1, NULL, &out, &why),
	                 PFMLIB_ERR_TOOMANY);
	assert_int_equal(why.kind, PFM_KIND_TOO_MANY);
	assert_int_equal(dispatch_set(ctx, many, MAX_SET, NULL, &out, &why), PFMLIB_SUCCESS);
	assert_int_equal(out.n_events, MAX_SET);
	assert_int_equal(out.n_pmcs, MAX_SET);
	for (unsigned i = 0; i < MAX_SET; i++)
		assert_int_equal(out.counter[i], -1);
	assert_int_equal(dispatch_set(ctx, many, 0, NULL, &out, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(dispatch_set(ctx, NULL, 1, NULL, &out, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(dispatch_set(ctx, hole, 2, NULL, &out, &why), PFMLIB_ERR_INVAL);
	assert_int_equal(why.event, 1);
	assert_int_equal(dispatch_set(ctx, two, 2, NULL, &out, &why), PFMLIB_ERR_EVTINCOMP);
	assert_int_equal(why.event, 1);
	assert_int_equal(why.end, strlen(two[1]));
	pfm_close_context(ctx);
}

/* True if the event @text can be counted where @free are the only counters that are. @counter:
 * where, or -1 if it takes none. */
static bool countable_on(const pfm_ctx_t *ctx, const struct table *t, const char *text,
                         uint64_t free, int *counter)
{
	pfmlib_regmask_t taken = { 0 };
	pfm_dispatch_options_t options = PFM_INIT(options);
	struct dispatched_set out = { 0 };

	taken.bits[0] = t->all_counters & ~free;
	options.unavailable = &taken;
	options.plm = PFM_PLM3;
	if (dispatch_set(ctx, &text, 1, &options, &out, NULL) != PFMLIB_SUCCESS)
		return false;
	*counter = out.counter[0];
	return true;
}

/* The counters that an event on counter @c takes: with a companion, the next one too. */
static uint64_t counters_from(const pfm_encoding_t *e, unsigned c)
{
	bool has_companion =
		e->n_regs > 1 && e->regs[0].kind == PFM_REG_PMC && e->regs[1].kind == PFM_REG_PMC;

	return (has_companion ? (uint64_t)3 : 1) << c;
}

/* The counters an encoding names are those it can be placed on, no more and no fewer. */
static void expect_counters(const pfm_ctx_t *ctx, const struct table *t, const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);
	int counter;

	if (pfm_encode_event(ctx, text, PFM_PLM3, &e, NULL) != PFMLIB_SUCCESS ||
	    !countable_on(ctx, t, text, t->all_counters, &counter) || counter < 0)
		return;
	for (unsigned c = 0; c < 64; c++)
		if (t->all_counters >> c & 1 && countable_on(ctx, t, text, counters_from(&e, c),
		                                             &counter) != (e.counters >> c & 1))
			fail_msg("%s: counter %u", text, c);
}

static void counters_as_written(void **state)
{
	static const char *const codes[] = {
		"/event=0x51,umask=0xfe/", "/event=0x51,umask=0xfe,cmask=1/",
		"/event=0,umask=1/",       "/event=0,umask=3/",
		"/event=0,umask=0x80/",    "/event=0x1e/",
		"/event=0x2001e/",
	};
	char text[512];

	(void)state;
	for (unsigned pmu = 0; pmu < table_count_builtins(); pmu++) {
		const struct table *t = table_get_builtin(pmu);
		const char *name = table_get_text(t, t->name);
		pfm_ctx_t *ctx;

		if ((t->encoder != ENCODER_X86 && t->encoder != ENCODER_FORMAT) ||
		    !t->all_counters || t->flags & TABLE_COMPAT_VIEW)
			continue;
		ctx = open_for(name);
		for (size_t i = 0; i < COUNT(codes); i++) {
			snprintf(text, sizeof(text), "%s%s", name, codes[i]);
			expect_counters(ctx, t, text);
		}
		for (uint32_t row = pmu % 5; row < t->n_rows; row += 5) {
			snprintf(text, sizeof(text), "%s::%s", name,
			         table_get_text(t, table_get_row(t, row)->name));
			expect_counters(ctx, t, text);
			strcat(text, ":c=1");
			expect_counters(ctx, t, text);
		}
		pfm_close_context(ctx);
	}
}

/* Every row whose table says "precise=must" has precise_ip 1 at least, and no other row has any. */
static void precision_that_rows_need(void **state)
{
	unsigned n_must = 0;

	(void)state;
	for (unsigned pmu = 0; pmu < table_count_builtins(); pmu++) {
		const struct table *t = table_get_builtin(pmu);
		pfm_ctx_t *ctx;

		if (!table_get_key_field_plus1(t, KEY_PRECISE))
			continue;
		ctx = open_for(NULL);
		for (uint32_t row = 0; row < t->n_rows; row++) {
			bool must = pfmi_table_get_row_value(t, row, KEY_PRECISE, ANY_COUNTER) == 2;
			pfm_encoding_t e = PFM_INIT(e);

			if (!is_event(t, row) ||
			    pfm_encode_event_at(ctx, (int)pmu, row, 0, &e, NULL) != PFMLIB_SUCCESS)
				continue;
			if (e.attr.precise != must)
				fail_msg("%s::%s: precise %u, expected %u",
				         table_get_text(t, t->name), table_get_row_name(t, row),
				         e.attr.precise, must);
			n_must += must;
		}
		pfm_close_context(ctx);
	}
	assert_true(n_must > 100);
}

static void precision_that_texts_ask_for(void **state)
{
	static const struct {
		const char *text;
		int rc;
		unsigned precise;
	} lines[] = {
		{ "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", PFMLIB_SUCCESS, 1 },
		{ "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4:pp", PFMLIB_SUCCESS, 2 },
		{ "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4:precise=3", PFMLIB_SUCCESS, 3 },
		{ "skx::MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4:precise=0", PFMLIB_ERR_ATTR_VAL, 0 },
		{ "skx::MEM_LOAD_RETIRED.L3_MISS:precise=0", PFMLIB_SUCCESS, 0 },
	};
	pfm_ctx_t *ctx = open_for(NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		int rc = pfm_encode_event(ctx, lines[i].text, 0, &e, NULL);

		if (rc != lines[i].rc || (!rc && e.attr.precise != lines[i].precise))
			fail_msg("%s: %d, precise %u; expected %d, %u", lines[i].text, rc,
			         e.attr.precise, lines[i].rc, lines[i].precise);
	}
	pfm_close_context(ctx);
}

UNIT(encode_encode, cmocka_unit_test(precision_that_rows_need),
     cmocka_unit_test(precision_that_texts_ask_for), cmocka_unit_test(other_encodings_of_an_event),
     cmocka_unit_test(counters_as_written), cmocka_unit_test(exclusive_events_are_placed_alone),
     cmocka_unit_test(free_running_events_take_no_counter),
     cmocka_unit_test(named_levels_replace_the_default),
     cmocka_unit_test(sets_that_do_not_fit_are_refused));
