/* SPDX-License-Identifier: MIT */
/* The grammar of a PMU: its registers, the modifiers and levels of its events, the words of its
 * fields. */
#include <stdio.h>
#include <string.h>
#include "format/format.h"
#include "base/sizes.h"

/* ---- registers ------------------------------------------------------------------------------- */

static bool has_fields_in_word(const struct table *t, int word)
{
	const struct field *f = table_fields(t);
	bool any = false;

	for (unsigned i = 0; i < t->n_fields; i++)
		any |= f[i].n_ranges && f[i].kind != FIELD_TEXT &&
		       f[i].ranges[0].config_word == word;
	return any;
}

static bool has_register(const struct table *t, const char *name)
{
	struct decode_target g = { .table = t, .reg_name = name };
	int word = pfmi_pmu_get_config_index(name);

	return pfmi_pmu_has_encoder(t) && pfmi_pmu_init_decode_target(&g) &&
	       (word < 0 || has_fields_in_word(t, word));
}

/* The @i-th of the registers that one word of a list ("PMC[0-7]", "I_STAT") names and @t has. False
 * if there are no more; then @i is less by those there are. */
static bool find_register_in_word(const struct table *t, const char *word, unsigned *i, char *name,
                                  size_t len)
{
	size_t base = strcspn(word, "[ ");
	unsigned first = 0, last = 0;
	bool many = sscanf(word + base, "[%u-%u]", &first, &last) == 2;

	for (unsigned k = first; k <= last; k++) {
		if (many)
			snprintf(name, len, "%.*s%u", (int)base, word, k);
		else
			snprintf(name, len, "%.*s", (int)base, word);
		if (has_register(t, name) && (*i)-- == 0)
			return true;
	}
	return false;
}

/* Gets the @i-th register of a list of words; NULL is an empty list. */
static bool find_register_in_list(const struct table *t, const char *list, unsigned *i, char *name,
                                  size_t len)
{
	while (list && *list) {
		if (find_register_in_word(t, list, i, name, len))
			return true;
		list += strcspn(list, " ");
		list += *list == ' ';
	}
	return false;
}

int pfm_describe_register(const pfm_ctx_t *ctx, int pmu, unsigned i, char *name, size_t len)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	char found[32] = "";

	if (!t || !name || !len)
		return PFMLIB_ERR_INVAL;
	if (!find_register_in_list(t, pfmi_pmu_get_encoder(t)->registers, &i, found,
	                           sizeof(found)) &&
	    !find_register_in_list(t, "config config1 config2 config3 config4", &i, found,
	                           sizeof(found)))
		return PFMLIB_ERR_NOTFOUND;
	if (strlen(found) >= len)
		return PFMLIB_ERR_FULL;
	memcpy(name, found, strlen(found) + 1);
	return PFMLIB_SUCCESS;
}

/* ---- modifiers and levels -------------------------------------------------------------------- */

int pfm_describe_modifier(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                          pfm_modifier_info_t *info)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	pfm_modifier_info_t full = { .size = sizeof(full) };
	struct event ev;

	if (!t || !table_has_row(t, event) || !base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	pfmi_pmu_init_event(&ev, t, event);
	for (unsigned k = 0; k < t->n_fields; k++) {
		const struct field *f = &table_fields(t)[k];

		if (!f->is_modifier || f->kind == FIELD_TEXT || i-- > 0)
			continue;
		full.name = table_get_text(t, f->name);
		full.min = f->min;
		full.max = pfmi_pmu_get_modifier_limit(&ev, f);
		full.preset = pfmi_pmu_get_field_value(&ev, k, ANY_COUNTER);
		base_copy_struct_out(info, &full, sizeof(full));
		return PFMLIB_SUCCESS;
	}
	return PFMLIB_ERR_NOTFOUND;
}

int pfm_describe_privilege_level(const pfm_ctx_t *ctx, int pmu, unsigned i, const char **name,
                                 unsigned *plm, int *is_default)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);

	if (!t || !name || !plm || !is_default)
		return PFMLIB_ERR_INVAL;
	if (!pfmi_lookup_get_level_word(i, name, plm))
		return PFMLIB_ERR_NOTFOUND;
	*is_default = (*plm & pfmi_pmu_get_encoder(t)->default_levels) != 0;
	return PFMLIB_SUCCESS;
}

/* ---- words ----------------------------------------------------------------------------------- */

int pfm_describe_value_name(const pfm_ctx_t *ctx, int pmu, const char *field, unsigned i,
                            const char **name, uint64_t *value)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);

	if (!t || !field || !name || !value)
		return PFMLIB_ERR_INVAL;
	for (unsigned k = 0; k < t->n_fields; k++) {
		const struct field *f = &table_fields(t)[k];

		if ((f->kind != FIELD_FLAG_SET && f->kind != FIELD_ENUMERATION) ||
		    strcmp(table_get_text(t, f->name), field) != 0)
			continue;
		if (i >= f->n_named_values)
			return PFMLIB_ERR_NOTFOUND;
		*name = table_get_text(t, table_named_values(t)[f->first_named_value + i].name);
		*value = table_named_values(t)[f->first_named_value + i].value;
		return PFMLIB_SUCCESS;
	}
	return PFMLIB_ERR_NOTFOUND;
}

int pfm_describe_umask_name(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned umask,
                            unsigned i, const char **name)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	const struct umask_group *g;
	const struct named_value *w;

	if (!t || !table_has_row(t, event) || !name)
		return PFMLIB_ERR_INVAL;
	w = pfmi_pmu_get_row_umask(t, event, umask, &g);
	for (unsigned k = 0; w && k < g->n_named_values; k++) {
		const struct named_value *other = table_named_values(t) + g->first_named_value + k;

		if (other->value == w->value && i-- == 0) {
			*name = table_get_text(t, other->name);
			return PFMLIB_SUCCESS;
		}
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* ---- this machine ---------------------------------------------------------------------------- */

int pfm_find_fallback_pmu(const pfm_ctx_t *ctx)
{
	if (!ctx)
		ctx = pfmi_context_get_default();
	if (pfmi_context_load(ctx, LOADED_ALL))
		return -1;
	for (unsigned i = 0; i < ctx->n_host_pmus; i++) {
		unsigned pmu = ctx->host_pmus[i].pmu_index,
			 flags = pfmi_context_get_pmu(ctx, pmu).flags;

		if (flags & PFM_PMU_FALLBACK && flags & PFM_PMU_CORE)
			return (int)pmu;
	}
	return -1;
}
