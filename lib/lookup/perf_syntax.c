/* SPDX-License-Identifier: MIT */
/* Which processor and event is meant by what perf writes instead of a name: terms between slashes, and raw numbers. */
#include <string.h>
#include "lookup/lookup_internal.h"

/* "pmu/.../" while its unit is looked for: the first term may be the name of an event. */
struct terms {
	struct spec_attr first;
	uint32_t hash;
	bool named;        /* the first term is a word */
	bool generic;      /* it may be one of the kernel's names for every core */
	unsigned fallback; /* the first unit that answers to the name, if none has the event; ~0 for none */
};

/* The event is spelled out in fields of @unit. */
static int take_terms(struct search *s, unsigned unit)
{
	if (!pfmi_unit_ready(s->ctx, unit))
		return pfmi_damaged(s, pfmi_unit_map(s->ctx, unit));
	s->unit = unit;
	s->table = pfmi_unit_table(s->ctx, unit);
	s->row = ROW_NONE;
	return PFMLIB_SUCCESS;
}

/* Has @unit an event of the name that the first term is? True ends the search: with the row in @s, or with the error in *@rc. */
static bool try_name(struct search *s, const struct terms *t, unsigned unit, int *rc)
{
	struct spec *whole = s->spec, name = *whole;
	struct name found;

	found = t->generic ? pfmi_find_generic(s, unit, t->hash, t->first.name)
	                   : pfmi_table_find(pfmi_unit_table(s->ctx, unit), t->hash, t->first.name.s, t->first.name.len);
	if (found.kind == NAME_NONE)
		return false;
	name.name = t->first.name; /* what an error points at */
	s->spec = &name;
	*rc = pfmi_take_name(s, unit, found);
	s->spec = whole;
	return true;
}

/* Is this unit it? Without the name of an event the first one is. */
static bool try_unit(struct search *s, struct terms *t, unsigned unit, int *rc)
{
	if (t->fallback == ~0u)
		t->fallback = unit;
	if (!pfmi_unit_ready(s->ctx, unit))
		return false;
	if (t->named)
		return try_name(s, t, unit, rc);
	*rc = take_terms(s, unit);
	return true;
}

static bool has_device(const struct search *s, unsigned unit)
{
	const struct table *t = pfmi_unit_table(s->ctx, unit);

	return pfmi_slice_is(s->spec->pmu, table_text(t, t->device));
}

/* The processor the context was given, and its parts: a device name alone says "cpu" for every x86. */
static bool try_wanted(struct search *s, struct terms *t, int *rc)
{
	struct called c = { 0 };
	unsigned n_stages;
	const struct stage *stages;
	int at;

	if (!s->ctx->wanted)
		return false;
	stages = pfmi_ctx_stages(s->ctx, &n_stages);
	while ((at = pfmi_ctx_next_called(s->ctx, s->ctx->wanted_name, s->ctx->wanted_hash, &c)) >= 0)
		if (has_device(s, (unsigned)at) && try_unit(s, t, (unsigned)at, rc))
			return true;
	for (unsigned i = 0; i < n_stages; i++) {
		const struct stage *st = &stages[i];
		uint32_t n = 0;
		const uint16_t *parts = st->image ? pfmi_image_parts(st->image, s->ctx->wanted_name, s->ctx->wanted_hash, &n) : NULL;

		for (uint32_t k = 0; k < n; k++)
			if (has_device(s, st->first + parts[k]) && try_unit(s, t, st->first + parts[k], rc))
				return true;
	}
	return false;
}

/* What this machine has under that name, the kernel's own first, then the last list. The kernel's name is good for this machine's
 * cores also where the kernel has no PMU for them. */
static bool try_here(struct search *s, struct terms *t, const struct kernel_pmu *device, int *rc)
{
	const struct pfm_ctx *ctx = s->ctx;

	for (unsigned i = ctx->n_units; device && i-- > ctx->first_kernel;)
		if (&ctx->kernel->pmus[i - ctx->first_kernel] == device && try_unit(s, t, i, rc))
			return true;
	for (unsigned i = ctx->n_here; i-- > 0;) {
		const struct host_unit *u = &ctx->here[i];
		bool bare = !u->kernel && pfmi_unit(ctx, u->unit).flags & PFM_PMU_CORE && has_device(s, u->unit);

		if (((u->kernel && u->kernel == device) || bare) && try_unit(s, t, u->unit, rc))
			return true;
	}
	return false;
}

static bool try_called(struct search *s, struct terms *t, int *rc)
{
	struct called c = { 0 };
	uint32_t h = pfmi_name_hash(s->spec->pmu);
	int at;

	while ((at = pfmi_ctx_next_called(s->ctx, s->spec->pmu, h, &c)) >= 0)
		if (try_unit(s, t, (unsigned)at, rc))
			return true;
	return false;
}

int pfmi_find_perf(struct search *s)
{
	struct slice rest = s->spec->rest, terms = s->spec->rest;
	struct terms t = { .fallback = ~0u };
	const struct kernel_pmu *device;
	int rc;

	pfmi_spec_numbers(s->spec, &s->numbers);
	t.named = !s->numbers.n && pfmi_spec_next(&terms, &t.first) && !t.first.has_value;
	t.hash = t.named ? pfmi_name_hash(t.first.name) : 0;
	if (!(s->numbers.n || t.named || t.first.name.len))
		return pfmi_refuse(s->why, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, s->spec->text, s->spec->name,
		                   "no terms between the slashes");
	rc = pfmi_ctx_need(s->ctx, s->why);
	if (rc)
		return rc;
	device = s->ctx->kernel ? pfmi_kernel_find(s->ctx->kernel, s->spec->pmu) : NULL;
	if (t.named)
		s->spec->rest = terms;
	if (try_wanted(s, &t, &rc) || try_here(s, &t, device, &rc) || try_called(s, &t, &rc))
		return rc;
	t.generic = true;
	if (try_here(s, &t, device, &rc) || try_called(s, &t, &rc))
		return rc;
	s->spec->rest = rest;
	if (t.fallback == ~0u)
		return pfmi_refuse(s->why, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, s->spec->text, s->spec->pmu, NULL);
	return take_terms(s, t.fallback);
}

/* ---- raw numbers ---------------------------------------------------------------------------------------------- */

/* "r412e": hexadecimal digits behind an r, up to a colon. */
static bool is_raw(struct spec *spec, uint64_t *value)
{
	uint32_t len = spec->n_cuts ? spec->cuts[0].len : 0;

	if (len < 2 || len > 17 || spec->name.s[0] != 'r' || (len < spec->name.len && spec->name.s[len] != ':'))
		return false;
	*value = 0;
	for (uint32_t i = 1; i < len; i++) {
		char c = spec->name.s[i];
		int d = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
		                                                                                : -1;

		if (d < 0)
			return false;
		*value = *value << 4 | (unsigned)d;
	}
	spec->form = SPEC_RAW;
	spec->rest = (struct slice){ spec->name.s + len, spec->len - (uint32_t)(spec->name.s + len - spec->text) };
	return true;
}

/* The unit raw numbers are for: the named one, else this machine's first core PMU. */
static int raw_unit(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *unit)
{
	struct slice pmu = spec->pmu.len ? spec->pmu : ctx->wanted_name;
	struct called c = { 0 };
	int at = pmu.len ? pfmi_ctx_next_called(ctx, pmu, pfmi_name_hash(pmu), &c) : -1;

	if (at < 0 && (pmu.len || pfmi_ctx_load(ctx, LOADED_ALL)))
		return PFMLIB_ERR_NOTFOUND;
	for (unsigned i = 0; at < 0 && i < ctx->n_host_order; i++) {
		struct unit u = pfmi_unit(ctx, ctx->host_order[i]);

		if (u.flags & PFM_PMU_CORE || pfmi_slice_is(pfmi_slice("raw"), table_text(u.table, u.table->name)))
			at = (int)ctx->host_order[i];
	}
	if (at < 0)
		return PFMLIB_ERR_NOTFOUND;
	*unit = (unsigned)at;
	return PFMLIB_SUCCESS;
}

bool pfmi_find_raw(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint64_t *raw)
{
	return is_raw(spec, raw) && raw_unit(ctx, spec, unit) == PFMLIB_SUCCESS;
}

/* The row that @asked was found to be has no extra register of its own: the field that was named stays the one that says which. */
static void keep_extra(struct event *ev, const struct event *asked)
{
	const struct field *f = table_fields(ev->table);

	for (unsigned i = 0; i < asked->n_set; i++) {
		unsigned k = 0;

		if (!pfmi_is_extra(ev->table, &f[asked->set[i].field]))
			continue;
		while (k < ev->n_set && !pfmi_is_extra(ev->table, &f[ev->set[k].field]))
			k++;
		if (k < ev->n_set) {
			ev->touched &= ~((uint64_t)1 << f[ev->set[k].field].key);
			ev->set[k] = ev->set[--ev->n_set];
		}
		pfmi_event_set(ev, asked->set[i].field, asked->set[i].value);
	}
}

void pfmi_adopt_row(struct event *ev)
{
	const struct event asked = *ev;
	uint64_t own[4];
	const uint64_t *config = NULL;

	if (ev->row == ROW_NONE && !(ev->table->flags & TABLE_KERNEL) && table_has_bits(ev->table))
		config = pfmi_event_words(ev, own);
	if (!config || !pfmi_event_from_config(ev->table, config, 15, ev))
		return;
	if (!pfmi_event_has(ev, KEY_MSR))
		keep_extra(ev, &asked);
	/* Of one word, and of another register. */
	if (pfmi_event_extra(&asked) && pfmi_event_extra(&asked) != pfmi_event_extra(ev))
		*ev = asked;
}

/* Takes a raw configuration word apart into the fields of the unit's table, so that all later steps see an ordinary event. */
static int raw_fields(const struct table *t, uint64_t value, const struct spec *spec, struct event *ev, pfm_error_t *why)
{
	const struct field *f = table_fields(t);
	uint64_t config[4] = { value }, back[4] = { 0 };

	for (unsigned i = 0; i < t->n_fields; i++) {
		uint64_t v = pfmi_field_get(&f[i], config), put[4] = { 0 };

		if (!v || !f[i].n_ranges || f[i].kind == FIELD_TEXT || ev->n_set == EVENT_MAX_SET)
			continue;
		pfmi_field_put(&f[i], put, v);
		if (!(put[0] & ~back[0]))
			continue;
		pfmi_event_set(ev, i, v);
		back[0] |= put[0];
	}
	if (back[0] != value)
		return pfmi_refuse(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text, spec->name,
		                   "bits that belong to no field of this processor");
	return PFMLIB_SUCCESS;
}

int pfmi_raw_event(const struct table *t, uint64_t raw, const struct spec *spec, struct event *out, pfm_error_t *why)
{
	struct event found = { .n_set = 0 };
	int rc;

	if (!table_has_bits(t)) {
		/* A number of the kernel's own driver. */
		if (!pfmi_event_from_config(t, (uint64_t[4]){ raw }, 1, &found))
			return pfmi_refuse(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text, spec->name,
			                   "no event of this processor has that raw number");
		return pfmi_resolve(t, found.row, spec, out, why);
	}
	rc = pfmi_resolve(t, ROW_NONE, spec, out, why);
	if (!rc)
		rc = raw_fields(t, raw, spec, out, why);
	if (!rc)
		pfmi_adopt_row(out);
	return rc;
}
