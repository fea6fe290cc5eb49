/* SPDX-License-Identifier: MIT */
/* perf's spellings: terms between slashes ("cpu/event=0x2e,umask=0x41/u") and raw numbers
 * ("r412e"). */
#include <string.h>
#include "lookup/lookup_internal.h"

/* A search for "pmu/terms/". The first term may be the name of an event. */
struct perf_terms {
	struct spec_attr first_term;
	uint32_t first_term_hash;
	bool is_name;          /* the first term has no value */
	bool is_generic;       /* the first term is searched as a generic name of the kernel */
	unsigned fallback_pmu; /* the first PMU of that name; ~0 for none */
};

/* Accepts terms that are fields of PMU @pmu, without an event name. */
static int accept_fields_of_pmu(struct pmu_search *s, unsigned pmu)
{
	if (!context_is_pmu_usable(s->ctx, pmu))
		return pfmi_lookup_refuse_damaged_image(s, pfmi_context_get_pmu_image(s->ctx, pmu));
	s->pmu_index = pmu;
	s->table = context_get_pmu_table(s->ctx, pmu);
	s->row_index = ROW_NONE;
	return PFMLIB_SUCCESS;
}

/* Looks for the first term as an event name on PMU @pmu. True ends the search: the row is in @s,
 * or the error in *@rc. */
static bool try_event_name(struct pmu_search *s, const struct perf_terms *t, unsigned pmu, int *rc)
{
	struct spec *whole = s->spec, name = *whole;
	struct name_entry found;

	found = t->is_generic
	                ? pfmi_lookup_generic_name(s, pmu, t->first_term_hash, t->first_term.name)
	                : table_find_name(context_get_pmu_table(s->ctx, pmu), t->first_term_hash,
	                                  t->first_term.name.text, t->first_term.name.len);
	if (found.kind == NAME_NONE)
		return false;
	name.name = t->first_term.name; /* what an error points at */
	s->spec = &name;
	*rc = pfmi_lookup_accept_name(s, pmu, found);
	s->spec = whole;
	return true;
}

/* Tries PMU @pmu. Terms without an event name accept the first PMU. */
static bool try_pmu(struct pmu_search *s, struct perf_terms *t, unsigned pmu, int *rc)
{
	if (t->fallback_pmu == ~0u)
		t->fallback_pmu = pmu;
	if (!context_is_pmu_usable(s->ctx, pmu))
		return false;
	if (t->is_name)
		return try_event_name(s, t, pmu, rc);
	*rc = accept_fields_of_pmu(s, pmu);
	return true;
}

static bool has_device_name(const struct pmu_search *s, unsigned pmu)
{
	const struct table *t = context_get_pmu_table(s->ctx, pmu);

	return pfmi_base_is_slice_icase(s->spec->pmu_name, table_get_text(t, t->device));
}

/* Tries the default PMU of the context and the members of its family. The device name alone would
 * not do: it is "cpu" on every x86 processor. */
static bool try_default_pmu(struct pmu_search *s, struct perf_terms *t, int *rc)
{
	struct pmu_name_iter c = { 0 };
	unsigned n_stages;
	const struct pmu_source *stages;
	int at;

	if (!s->ctx->default_pmu)
		return false;
	stages = context_get_sources(s->ctx, &n_stages);
	while ((at = pfmi_context_next_named_pmu(s->ctx, s->ctx->default_pmu_name,
	                                         s->ctx->default_pmu_hash, &c)) >= 0)
		if (has_device_name(s, (unsigned)at) && try_pmu(s, t, (unsigned)at, rc))
			return true;
	for (unsigned i = 0; i < n_stages; i++) {
		const struct pmu_source *st = &stages[i];
		uint32_t n = 0;
		const uint16_t *parts = st->image ? pfmi_context_find_family_members(
							    st->image, s->ctx->default_pmu_name,
							    s->ctx->default_pmu_hash, &n)
		                                  : NULL;

		for (uint32_t k = 0; k < n; k++)
			if (has_device_name(s, st->first_pmu + parts[k]) &&
			    try_pmu(s, t, st->first_pmu + parts[k], rc))
				return true;
	}
	return false;
}

/* Tries this machine's PMUs with that device name: the kernel's own first, then the last table. The
 * name also represents cores for which the kernel has no PMU. */
static bool try_host_pmus(struct pmu_search *s, struct perf_terms *t,
                          const struct kernel_pmu *device, int *rc)
{
	const struct pfm_ctx *ctx = s->ctx;

	for (unsigned i = ctx->n_pmus; device && i-- > ctx->first_kernel_pmu;)
		if (&ctx->kernel->pmus[i - ctx->first_kernel_pmu] == device && try_pmu(s, t, i, rc))
			return true;
	for (unsigned i = ctx->n_host_pmus; i-- > 0;) {
		const struct host_pmu *u = &ctx->host_pmus[i];
		bool bare = !u->kernel_pmu &&
		            pfmi_context_get_pmu(ctx, u->pmu_index).flags & PFM_PMU_CORE &&
		            has_device_name(s, u->pmu_index);

		if (((u->kernel_pmu && u->kernel_pmu == device) || bare) &&
		    try_pmu(s, t, u->pmu_index, rc))
			return true;
	}
	return false;
}

static bool try_named_pmus(struct pmu_search *s, struct perf_terms *t, int *rc)
{
	struct pmu_name_iter c = { 0 };
	uint32_t h = pfmi_table_hash_name(s->spec->pmu_name);
	int at;

	while ((at = pfmi_context_next_named_pmu(s->ctx, s->spec->pmu_name, h, &c)) >= 0)
		if (try_pmu(s, t, (unsigned)at, rc))
			return true;
	return false;
}

int pfmi_lookup_perf_spec(struct pmu_search *s)
{
	struct slice rest = s->spec->attrs, terms = s->spec->attrs;
	struct perf_terms t = { .fallback_pmu = ~0u };
	const struct kernel_pmu *device;
	int rc;

	pfmi_spec_read_codes(s->spec, &s->codes);
	t.is_name = !s->codes.n_terms && pfmi_spec_next_attr(&terms, &t.first_term) &&
	            !t.first_term.has_value;
	t.first_term_hash = t.is_name ? pfmi_table_hash_name(t.first_term.name) : 0;
	if (!(s->codes.n_terms || t.is_name || t.first_term.name.len))
		return pfmi_base_set_error(s->error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX,
		                           s->spec->text, s->spec->name,
		                           "no terms between the slashes");
	rc = pfmi_context_require_all(s->ctx, s->error);
	if (rc)
		return rc;
	device = s->ctx->kernel ? pfmi_machine_find_kernel_pmu(s->ctx->kernel, s->spec->pmu_name)
	                        : NULL;
	if (t.is_name)
		s->spec->attrs = terms;
	if (try_default_pmu(s, &t, &rc) || try_host_pmus(s, &t, device, &rc) ||
	    try_named_pmus(s, &t, &rc))
		return rc;
	t.is_generic = true;
	if (try_host_pmus(s, &t, device, &rc) || try_named_pmus(s, &t, &rc))
		return rc;
	s->spec->attrs = rest;
	if (t.fallback_pmu == ~0u)
		return pfmi_base_set_error(s->error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU,
		                           s->spec->text, s->spec->pmu_name, NULL);
	return accept_fields_of_pmu(s, t.fallback_pmu);
}

/* ---- raw numbers ----------------------------------------------------------------------------- */

/* "r412e": hexadecimal digits after an r, up to a colon. */
static bool parse_raw_number(struct spec *spec, uint64_t *value)
{
	uint32_t len = spec->n_prefixes ? spec->prefixes[0].len : 0;

	if (len < 2 || len > 17 || spec->name.text[0] != 'r' ||
	    (len < spec->name.len && spec->name.text[len] != ':'))
		return false;
	*value = 0;
	for (uint32_t i = 1; i < len; i++) {
		char c = spec->name.text[i];
		int d = c >= '0' && c <= '9'                     ? c - '0'
		        : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
		                                                 : -1;

		if (d < 0)
			return false;
		*value = *value << 4 | (unsigned)d;
	}
	spec->form = SPEC_RAW;
	spec->attrs = (struct slice){ spec->name.text + len,
		                      spec->len - (uint32_t)(spec->name.text + len - spec->text) };
	return true;
}

/* The PMU of a raw number: the named one, or this machine's first core PMU. */
static int find_raw_pmu(const struct pfm_ctx *ctx, const struct spec *spec, unsigned *pmu)
{
	struct slice name = spec->pmu_name.len ? spec->pmu_name : ctx->default_pmu_name;
	struct pmu_name_iter c = { 0 };
	int at = name.len ? pfmi_context_next_named_pmu(ctx, name, pfmi_table_hash_name(name), &c)
	                  : -1;

	if (at < 0 && (name.len || pfmi_context_load(ctx, LOADED_ALL)))
		return PFMLIB_ERR_NOTFOUND;
	for (unsigned i = 0; at < 0 && i < ctx->n_search_order; i++) {
		struct pmu_info u = pfmi_context_get_pmu(ctx, ctx->search_order[i]);

		if (u.flags & PFM_PMU_CORE ||
		    pfmi_base_is_slice_icase(pfmi_base_make_slice("raw"),
		                             table_get_text(u.table, u.table->name)))
			at = (int)ctx->search_order[i];
	}
	if (at < 0)
		return PFMLIB_ERR_NOTFOUND;
	*pmu = (unsigned)at;
	return PFMLIB_SUCCESS;
}

bool pfmi_lookup_raw_number(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu,
                            uint64_t *raw)
{
	return parse_raw_number(spec, raw) && find_raw_pmu(ctx, spec, pmu) == PFMLIB_SUCCESS;
}

/* Keeps the extra register that the user set in @requested, if the row found for it has none of its
 * own. */
static void keep_extra_register(struct event *ev, const struct event *requested)
{
	const struct field *f = table_fields(ev->table);

	for (unsigned i = 0; i < requested->n_user_fields; i++) {
		unsigned k = 0;

		if (!field_is_extra_register(ev->table, &f[requested->user_fields[i].field]))
			continue;
		while (k < ev->n_user_fields &&
		       !field_is_extra_register(ev->table, &f[ev->user_fields[k].field]))
			k++;
		if (k < ev->n_user_fields) {
			ev->user_keys &= ~((uint64_t)1 << f[ev->user_fields[k].field].key);
			ev->user_fields[k] = ev->user_fields[--ev->n_user_fields];
		}
		pfmi_pmu_set_user_field(ev, requested->user_fields[i].field,
		                        requested->user_fields[i].value);
	}
}

void pfmi_lookup_adopt_row(struct event *ev)
{
	const struct event requested = *ev;
	uint64_t own[N_CONFIG_WORDS];
	const uint64_t *config = NULL;

	if (ev->row_index == ROW_NONE && !(ev->table->flags & TABLE_FROM_KERNEL) &&
	    table_has_field_bits(ev->table))
		config = pfmi_pmu_get_config_words(ev, own);
	if (!config || !pfmi_pmu_decode_config_words(ev->table, config, ALL_CONFIG_WORDS, ev))
		return;
	if (!event_has_key(ev, KEY_MSR))
		keep_extra_register(ev, &requested);
	/* Both events have the same config words but different extra registers. */
	if (pfmi_pmu_get_extra_register(&requested) &&
	    pfmi_pmu_get_extra_register(&requested) != pfmi_pmu_get_extra_register(ev))
		*ev = requested;
}

/* Splits a raw configuration word into the fields of the table, so that later steps see an ordinary
 * event. */
static int set_raw_fields(const struct table *t, uint64_t value, const struct spec *spec,
                          struct event *ev, pfm_error_t *why)
{
	const struct field *f = table_fields(t);
	uint64_t config[N_CONFIG_WORDS] = { value }, back[N_CONFIG_WORDS] = { 0 };

	for (unsigned i = 0; i < t->n_fields; i++) {
		uint64_t v = pfmi_pmu_extract_field(&f[i], config), put[N_CONFIG_WORDS] = { 0 };

		if (!v || !f[i].n_ranges || f[i].kind == FIELD_TEXT ||
		    ev->n_user_fields == EVENT_MAX_USER_FIELDS)
			continue;
		field_insert(&f[i], put, v);
		if (!(put[0] & ~back[0]))
			continue;
		pfmi_pmu_set_user_field(ev, i, v);
		back[0] |= put[0];
	}
	if (back[0] != value)
		return pfmi_base_set_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text,
		                           spec->name,
		                           "bits that belong to no field of this processor");
	return PFMLIB_SUCCESS;
}

int pfmi_lookup_read_raw_event(const struct table *t, uint64_t raw, const struct spec *spec,
                               struct event *out, pfm_error_t *why)
{
	struct event found = { .n_user_fields = 0 };
	int rc;

	if (!table_has_field_bits(t)) {
		/* The number belongs to a driver without fields. */
		if (!pfmi_pmu_decode_config_words(t, (uint64_t[N_CONFIG_WORDS]){ raw }, 1, &found))
			return pfmi_base_set_error(
				why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, spec->text,
				spec->name, "no event of this processor has that raw number");
		return pfmi_lookup_resolve_attrs(t, found.row_index, spec, out, why);
	}
	rc = pfmi_lookup_resolve_attrs(t, ROW_NONE, spec, out, why);
	if (!rc)
		rc = set_raw_fields(t, raw, spec, out, why);
	if (!rc)
		pfmi_lookup_adopt_row(out);
	return rc;
}
