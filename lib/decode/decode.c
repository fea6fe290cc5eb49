/* SPDX-License-Identifier: MIT */
/* Register values to fields and events. */
#include <string.h>
#include "format/format.h"

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_field_in_word(const struct field *f, unsigned word)
{
	return f->n_ranges && f->kind != FIELD_TEXT && f->ranges[0].config_word == word;
}

static const char *get_choice_word(const struct table *t, const struct field *f, uint64_t value)
{
	const struct named_value *w = table_named_values(t) + f->first_named_value;

	for (unsigned i = 0; f->kind == FIELD_ENUMERATION && i < f->n_named_values; i++)
		if (w[i].value == value)
			return table_get_text(t, w[i].name);
	return "";
}

static int decode_declared_field(const struct decode_target *g, unsigned word, unsigned i,
                                 const char **name, uint64_t *field, const char **text)
{
	const struct field *f = table_fields(g->table);
	uint64_t config[N_CONFIG_WORDS] = { 0 };

	config[word] = g->value;
	for (unsigned k = 0; k < g->table->n_fields; k++)
		if (is_field_in_word(&f[k], word) && i-- == 0) {
			*name = table_get_text(g->table, f[k].name);
			*field = pfmi_pmu_extract_field(&f[k], config);
			*text = get_choice_word(g->table, &f[k], *field);
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTFOUND;
}

/* The word for a hardware field that has the name of one of the table's fields. */
static const char *get_namesake_word(const struct table *t, const char *name, uint64_t value)
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if (strcmp(table_get_text(t, f[i].name), name) == 0)
			return get_choice_word(t, &f[i], value);
	return "";
}

int pfm_decode_field(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i,
                     const char **name, uint64_t *field, const char **text)
{
	struct decode_target g = { .table = context_get_usable_table(context_get_or_default(ctx),
		                                                     pmu),
		                   .reg_name = reg,
		                   .value = value };
	int word;

	if (!g.table || !reg || !name || !field || !text)
		return PFMLIB_ERR_INVAL;
	g.reg_name = pfmi_pmu_resolve_register_name(g.table, reg);
	if (!pfmi_pmu_init_decode_target(&g))
		return PFMLIB_ERR_INVAL;
	word = pfmi_pmu_get_config_index(reg);
	if (word >= 0)
		return decode_declared_field(&g, (unsigned)word, i, name, field, text);
	if (i >= g.n_layout)
		return PFMLIB_ERR_NOTFOUND;
	*name = g.layout[i].name;
	*field = register_field_extract(value, g.layout[i]);
	*text = get_namesake_word(g.table, *name, *field);
	/* The companion of a pair counts nothing: its first field, the event, has the rule's text.
	 */
	if (i == 0 && !**text)
		*text = pfmi_pmu_get_companion_text(g.table, value);
	return PFMLIB_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

int pfm_decode_event(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i,
                     char *buf, size_t len)
{
	struct decode_target g = { .table = context_get_usable_table(context_get_or_default(ctx),
		                                                     pmu),
		                   .reg_name = reg,
		                   .value = value };
	struct event ev;

	if (!g.table || !reg || !buf)
		return PFMLIB_ERR_INVAL;
	g.reg_name = pfmi_pmu_resolve_register_name(g.table, reg);
	if (!pfmi_pmu_init_decode_target(&g) || !pfmi_pmu_has_encoder(g.table))
		return PFMLIB_ERR_INVAL;
	g.is_fixed_control = pfmi_pmu_find_register_field(&g, "os0") != NULL;
	/* No other register without an enable bit selects an event. */
	if (table_has_field_bits(g.table) && pfmi_pmu_get_config_index(reg) < 0 &&
	    !g.is_fixed_control && !g.is_register_pair && !pfmi_pmu_find_register_field(&g, "en") &&
	    !pfmi_pmu_has_register_select_mask(&g))
		return PFMLIB_ERR_NOTFOUND;
	if (!pfmi_pmu_find_decoded_event(&g, i, &ev))
		return PFMLIB_ERR_NOTFOUND;
	pfmi_pmu_set_decoded_levels(&g, &ev);
	return pfmi_format_print_event(&ev, NULL, PFM_DIALECT_VENDOR, (struct slice){ 0 }, buf, len,
	                               NULL);
}
