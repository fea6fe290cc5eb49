/* SPDX-License-Identifier: MIT */
/* Texts of events, right and wrong, and tables, registers, plans and metrics of processors. */
#include "digests.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>

enum { ROOM = 512 };

static const char *const processors[] = { "alpha_ev4", "alpha_ev5", "alpha_pca56", "alpha_ev6", "alpha_ev67", "coreduo",
	                                  "intel_arch", "montecito", "software", "hw_cache", "hardware" };
enum { N_PROCESSORS = sizeof(processors) / sizeof(processors[0]) };

static pfm_ctx_t *open_for(const char *pmu)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx;

	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	o.pmu = pmu;
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	return ctx;
}

static void each_processor(const char *kind, void (*ask)(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *info))
{
	for (unsigned i = 0; i < N_PROCESSORS; i++) {
		pfm_ctx_t *ctx = open_for(processors[i]);
		pfm_pmu_info_t info = PFM_INIT(info);
		int pmu = pfm_find_pmu(ctx, processors[i]);
		char name[64];

		assert_int_equal(pfm_describe_pmu(ctx, pmu, &info), PFMLIB_SUCCESS);
		snprintf(name, sizeof(name), "%s/%s", kind, processors[i]);
		digest_begin(name);
		ask(ctx, pmu, &info);
		digest_end();
		pfm_close_context(ctx);
	}
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------ */

static size_t put(char *text, size_t at, const char *piece)
{
	size_t n = strlen(piece);

	if (at + n + 1 > ROOM)
		return at;
	memcpy(text + at, piece, n + 1);
	return at + n;
}

static size_t put_value(char *text, size_t at)
{
	static const char *const forms[] = { "=%llu", "=0x%llx", "=%llu", "=-%llu", "=%lluk", "=", "=0%llo" };
	const char *form;
	char value[40];

	form = forms[draw(6) ? draw(3) : draw(7)];
	snprintf(value, sizeof(value), form, (unsigned long long)draw_number());
	return put(text, at, value);
}

static size_t put_attribute(const pfm_ctx_t *ctx, int pmu, const pfm_event_info_t *e, char *text, size_t at)
{
	static const char *const others[] = { "u", "k", "uk", "h", "pp", "usr", "os", "W", "e",
		                              "usr", "any", "bogus", "=1", "edge", "all=1", "period=9", "D", "G",
		                              "", "c", "i", "t=3", "c=1", "u=0", "k=1", "0x41", "P",
		                              "I", "H", "pin", "excl", "freq=10", "precise=1" };
	pfm_umask_info_t u = PFM_INIT(u);
	pfm_modifier_info_t m = PFM_INIT(m);
	char with[128];

	at = put(text, at, draw(3) ? ":" : ",");
	switch (draw(5)) {
	case 0:
	case 1:
		if (e->n_umasks == 0 || pfm_describe_umask(ctx, pmu, e->event, draw(e->n_umasks), &u))
			break;
		snprintf(with, sizeof(with), "%s=%s", u.group, u.name);
		return put(text, at, draw(4) ? u.name : with);
	case 2:
		if (pfm_describe_modifier(ctx, pmu, e->event, draw(6), &m))
			break;
		at = put(text, at, m.name);
		return draw(4) ? put_value(text, at) : at;
	default: break;
	}
	return put(text, at, others[draw(sizeof(others) / sizeof(others[0]))]);
}

static void make_text(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *p, char text[ROOM])
{
	static const char *const letters = ":,=/{}x0- _.\t9U";
	pfm_event_info_t e = PFM_INIT(e);
	char number[32];
	size_t at = 0;
	unsigned where;

	text[0] = '\0';
	if (p->n_events == 0 || pfm_describe_event(ctx, pmu, draw(p->n_events), &e))
		return;
	if (draw(3)) {
		at = put(text, at, p->name);
		at = put(text, at, draw(8) ? "::" : "/");
	}
	snprintf(number, sizeof(number), "r%llx", (unsigned long long)draw_number());
	at = put(text, at, draw(16) ? e.name : number);
	for (unsigned n = draw(4); n > 0; n--)
		at = put_attribute(ctx, pmu, &e, text, at);
	if (at == 0 || draw(3))
		return;
	where = draw((unsigned)at);
	switch (draw(4)) {
	case 0: text[where] = letters[draw((unsigned)strlen(letters))]; break;
	case 1: text[where] ^= 0x20; break;
	case 2: text[where] = '\0'; break;
	default: memmove(text, text + 1, at);
	}
}

static void say_error(const pfm_ctx_t *ctx, const char *text, const pfm_error_t *why)
{
	char sentence[300], names[4][96];
	size_t n;

	say("code", (uint64_t)why->code);
	say("kind", (uint64_t)why->kind);
	say("start", why->start);
	say("end", why->end);
	say("event", (uint64_t)why->event);
	say_text("detail", why->detail);
	say("length", pfm_explain_error(ctx, text, why, sentence, sizeof(sentence)));
	say_text("sentence", sentence);
	n = pfm_suggest_names(ctx, text, why, names, 4);
	for (size_t i = 0; i < n && i < 4; i++)
		say_text("meant", names[i]);
}

static void say_attr(const pfm_attr_t *a)
{
	say("type", a->type_known ? a->type : 1000);
	say("levels", a->exclude_user | (uint64_t)a->exclude_kernel << 1 | (uint64_t)a->exclude_hv << 2 | (uint64_t)a->exclude_idle << 3 |
	                      (uint64_t)a->exclude_host << 4 | (uint64_t)a->exclude_guest << 5 | (uint64_t)a->pinned << 6 |
	                      (uint64_t)a->expressible << 7 | (uint64_t)a->precise << 8);
	say("config", a->config);
	say("config1", a->config1);
	say("config2", a->config2);
	say("config3", a->config3);
}

static void say_encoding(const pfm_encoding_t *e)
{
	say("event", e->event);
	say("plm", e->plm);
	for (unsigned i = 0; i < e->n_regs; i++) {
		say("register", e->regs[i].num);
		say("kind", e->regs[i].kind);
		say("addr", e->regs[i].addr);
		say("other", e->regs[i].alt_addr);
		say("value", e->regs[i].value);
	}
	say("counters", e->counters);
	say_attr(&e->attr);
	for (unsigned i = 0; i < e->n_alternatives; i++) {
		say("config", e->alternatives[i].config);
		say("control", e->alternatives[i].control);
		say("msr", e->alternatives[i].msr);
		say("value", e->alternatives[i].value);
	}
}

static void say_names(const pfm_ctx_t *ctx, const char *text)
{
	char name[ROOM];

	for (int d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++) {
		pfm_error_t why = PFM_INIT(why);
		int rc = pfm_print_event(ctx, text, (pfm_dialect_t)d, name, 20 + draw(80), &why);

		say("print", (uint64_t)rc);
		if (rc == 0)
			say_text("name", name);
		else
			say("kind", (uint64_t)why.kind);
	}
}

static void ask_text(const pfm_ctx_t *ctx, const char *text)
{
	static const unsigned levels[] = { 0, 0, PFM_PLM0, PFM_PLM3, PFM_PLM0 | PFM_PLM1, 15 };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	unsigned event = 0;
	int pmu = -1;

	say_text("text", text);
	if (pfm_encode_event(ctx, text, levels[draw(6)], &e, &why)) {
		say_error(ctx, text, &why);
	} else {
		say_encoding(&e);
		say_names(ctx, text);
	}
	say("found", (uint64_t)pfm_find_event_by_text(ctx, text, &pmu, &event, NULL));
	say("number", event);
}

static void texts_of(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *info)
{
	char text[ROOM];

	for (unsigned i = 0; i < 250; i++) {
		make_text(ctx, pmu, info, text);
		ask_text(ctx, text);
	}
}

void ask_texts(void)
{
	each_processor("text", texts_of);
}

/* ---- tables ----------------------------------------------------------------------------------------------------------------- */

static void say_row(const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_event_info_t e = PFM_INIT(e);
	pfm_umask_info_t u = PFM_INIT(u);
	pfm_modifier_info_t m = PFM_INIT(m);
	const char *name, *text;
	uint64_t value;
	int counter;

	say("event", (uint64_t)pfm_describe_event(ctx, pmu, event, &e));
	say_text("name", e.name);
	say_text("replaced", e.replaced);
	say_text("unit", e.unit);
	say_real("scale", e.scale);
	say("code", e.code);
	say("counters", e.counters);
	say("htoff", e.counters_htoff);
	say("flags", e.flags);
	say("precise", (uint64_t)e.precise);
	say("period", e.period);
	for (unsigned i = 0; pfm_describe_umask(ctx, pmu, event, i, &u) == PFMLIB_SUCCESS; i++) {
		say_text("group", u.group);
		say_text("mask", u.name);
		say_text("spelling", u.spellings);
		say("value", u.value);
		say("kind", (uint64_t)u.is_default << 1 | (uint64_t)u.is_any);
		for (unsigned k = 0; pfm_describe_spelling(ctx, pmu, event, i, k, &name) == PFMLIB_SUCCESS; k++)
			say_text("spelling", name);
	}
	for (unsigned i = 0; pfm_describe_field(ctx, pmu, event, i, &name, &text, &value, &counter) == PFMLIB_SUCCESS; i++) {
		say_text("field", name);
		say("value", value);
		say("counter", (uint64_t)counter);
	}
	for (unsigned i = 0; pfm_describe_modifier(ctx, pmu, event, i, &m) == PFMLIB_SUCCESS; i++) {
		say_text("modifier", m.name);
		say("least", m.min);
		say("most", m.max);
		say("preset", m.preset);
	}
}

static void table_of(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *p)
{
	const char *name, *text;
	unsigned plm;
	uint64_t value;
	int usual;

	say_text("name", p->name);
	say_text("aka", p->aka);
	say_text("device", p->device);
	say("flags", p->flags);
	say("type", (uint64_t)p->type);
	say("libpfm", (uint64_t)p->libpfm_type);
	say("counters", p->n_counters);
	say("fixed", p->n_fixed);
	say("width", p->width);
	for (unsigned i = 0; pfm_describe_feature(ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS; i++) {
		say_text("feature", name);
		say_text("text", text);
		say("value", value);
	}
	for (unsigned i = 0; pfm_describe_level(ctx, pmu, i, &name, &plm, &usual) == PFMLIB_SUCCESS; i++) {
		say_text("level", name);
		say("plm", plm << 1 | (unsigned)usual);
	}
	for (unsigned i = 0; i <= p->n_events; i++)
		say_row(ctx, pmu, i);
}

void ask_tables(void)
{
	each_processor("table", table_of);
}

/* ---- registers -------------------------------------------------------------------------------------------------------------- */

static void say_register(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value)
{
	const char *field, *text;
	char name[ROOM];
	uint64_t v;
	int rc;

	say("value", value);
	for (unsigned i = 0; (rc = pfm_decode_field(ctx, pmu, reg, value, i, &field, &v, &text)) == PFMLIB_SUCCESS; i++) {
		say_text("field", field);
		say("is", v);
		say_text("text", text);
	}
	say("end", (uint64_t)rc);
	for (unsigned i = 0; i < 4; i++) {
		rc = pfm_decode_event(ctx, pmu, reg, value, i, name, 30 + draw(100));
		say("event", (uint64_t)rc);
		if (rc)
			break;
		say_text("name", name);
	}
}

static void registers_of(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *info)
{
	char reg[ROOM];

	for (unsigned i = 0; pfm_describe_register(ctx, pmu, i, reg, 16) == PFMLIB_SUCCESS; i++) {
		say_text("register", reg);
		for (unsigned k = 0; k < 12; k++)
			say_register(ctx, pmu, reg, draw_number());
		/* What an event has there, and a bit more. */
		for (unsigned k = 0; k < 12 && info->n_events; k++) {
			pfm_encoding_t e = PFM_INIT(e);

			if (pfm_encode_event_at(ctx, pmu, draw(info->n_events), 0, &e, NULL) == PFMLIB_SUCCESS && e.n_regs)
				say_register(ctx, pmu, reg, e.regs[k % e.n_regs].value ^ (draw(3) ? 0 : UINT64_C(1) << draw(64)));
		}
	}
	for (unsigned k = 0; k < 10; k++) {
		static const char *const names[] = { "", "PMC", "PMC99", "config", "CONFIG1", "config9", "PERFEVTSEL0", "perfevtsel1",
			                             "F0", "pmc4" };

		say_text("register", names[k]);
		say_register(ctx, pmu, names[k], draw_number());
	}
}

void ask_registers(void)
{
	each_processor("register", registers_of);
}

/* ---- plans ------------------------------------------------------------------------------------------------------------------ */

static void say_plan(const pfm_ctx_t *ctx, const char *const *texts, unsigned n)
{
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_planned_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	pfm_plan_t *plan;
	int rc;

	options.taken = draw(3) ? 0 : draw(16);
	options.htoff = (int)draw(2);
	options.effort = draw(3) ? 0 : 1 + draw(50);
	rc = pfm_plan(&plan, ctx, texts, n, &options, &why);
	say("plan", (uint64_t)rc);
	if (rc) {
		say("kind", (uint64_t)why.kind);
		say("event", (uint64_t)why.event);
		say_text("detail", why.detail);
		return;
	}
	say("described", (uint64_t)pfm_describe_plan(plan, &info));
	say("events", info.n_events);
	say("groups", info.n_groups);
	say("rounds", info.n_rounds);
	say("bound", info.bound << 1 | (unsigned)info.optimal);
	say_text("certificate", info.certificate);
	for (unsigned i = 0; pfm_describe_planned(plan, i, &e) == PFMLIB_SUCCESS; i++) {
		say_text("planned", e.text);
		say("request", e.request);
		say("group", e.group);
		say("counter", (uint64_t)e.counter);
		say("added", (uint64_t)e.added << 1 | (uint64_t)e.in_proof);
	}
	pfm_free_plan(plan);
}

static void plans_of(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *info)
{
	char texts[12][ROOM];
	const char *pointers[12];

	for (unsigned i = 0; i < 60; i++) {
		unsigned n = 1 + draw(12);

		for (unsigned k = 0; k < n; k++) {
			pfm_event_info_t e = PFM_INIT(e);

			if (draw(40) == 0)
				make_text(ctx, pmu, info, texts[k]);
			else if (pfm_describe_event(ctx, pmu, draw(info->n_events), &e) == PFMLIB_SUCCESS)
				snprintf(texts[k], ROOM, "%s::%s", info->name, e.name);
			pointers[k] = texts[k];
			say_text("text", texts[k]);
		}
		say_plan(ctx, pointers, n);
	}
}

void ask_plans(void)
{
	each_processor("plan", plans_of);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------------------- */

static void say_value(int rc, const pfm_metric_value_t *v)
{
	say("rc", (uint64_t)rc);
	say_real("value", v->value);
	say_real("error", v->error);
	say_real("low", v->low);
	say_real("high", v->high);
	say("state", (uint64_t)v->state);
	say("missing", (uint64_t)v->missing);
	say("over", (uint64_t)v->over_threshold);
}

static double draw_count(void)
{
	return (double)(draw_number() >> 20);
}

static void draw_metric_count(pfm_metric_count_t *c)
{
	c->value = draw_count();
	c->error = draw(2) ? draw_count() : 0;
	c->known = draw(12) != 0;
}

static void say_values(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned n)
{
	enum { MOST = 8,
	       ROUNDS = 12 };
	pfm_metric_count_t counts[MOST] = { { 0 } };
	double samples[MOST * ROUNDS];
	pfm_metric_value_t v = PFM_INIT(v);
	unsigned rounds = draw(ROUNDS + 1);

	if (n > MOST)
		return;
	for (unsigned i = 0; i < n; i++)
		draw_metric_count(&counts[i]);
	for (unsigned i = 0; i < rounds * n; i++)
		samples[i] = draw(50) ? 1000 + draw(300) : draw_count();
	say_value(pfm_evaluate_metric(ctx, pmu, event, counts, n - (draw(9) == 0), &v), &v);
	say_value(pfm_estimate_metric(ctx, pmu, event, samples, rounds, n, &v), &v);
	say_value(pfm_judge_metric(ctx, pmu, event, counts, n, samples, rounds, draw(11) / 10.0, &v), &v);
}

static void say_metric(const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	pfm_metric_info_t m = PFM_INIT(m);
	pfm_metric_input_t in = PFM_INIT(in);
	char text[ROOM];

	if (pfm_describe_metric(ctx, pmu, event, &m))
		return;
	say_text("metric", m.name);
	say_text("unit", m.unit);
	say_text("groups", m.groups);
	say_text("parent", m.parent);
	say("level", m.level);
	say("inputs", m.n_inputs << 16 | m.n_value_inputs << 1 | (unsigned)m.has_threshold);
	for (unsigned i = 0; pfm_describe_metric_input(ctx, pmu, event, i, &in) == PFMLIB_SUCCESS; i++) {
		say_text("input", in.text);
		say_text("alias", in.alias);
		say("constant", (uint64_t)in.is_constant << 1 | (uint64_t)in.has_preset);
		say_real("preset", in.preset);
	}
	for (int threshold = 0; threshold < 2; threshold++)
		for (size_t room = ROOM; room > 0; room /= 8) {
			memset(text, 0, sizeof(text));
			say("length", (uint64_t)pfm_print_metric(ctx, pmu, event, threshold, text, room));
			say_text("formula", text);
		}
	for (unsigned i = 0; i < 8; i++)
		say_values(ctx, pmu, event, m.n_inputs);
}

static void metrics_of(const pfm_ctx_t *ctx, int pmu, const pfm_pmu_info_t *info)
{
	for (unsigned i = 0; i < info->n_events; i++)
		say_metric(ctx, pmu, i);
}

void ask_metrics(void)
{
	each_processor("metric", metrics_of);
}
