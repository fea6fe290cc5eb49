/* SPDX-License-Identifier: MIT */
/* Register values in words: their fields, and the events they choose. */
#include <string.h>
#include "format/format.h"

/* ---- fields --------------------------------------------------------------------------------------------------- */

static bool in_word(const struct field *f, unsigned word)
{
	return f->n_ranges && f->kind != FIELD_TEXT && f->range[0].word == word;
}

static const char *choice_word(const struct table *t, const struct field *f, uint64_t value)
{
	const struct word *w = table_words(t) + f->word;

	for (unsigned i = 0; f->kind == FIELD_CHOICE && i < f->n_words; i++)
		if (w[i].value == value)
			return table_text(t, w[i].name);
	return "";
}

static int declared_field(const struct target *g, unsigned word, unsigned i, const char **name, uint64_t *field, const char **text)
{
	const struct field *f = table_fields(g->t);
	uint64_t config[4] = { 0 };

	config[word] = g->value;
	for (unsigned k = 0; k < g->t->n_fields; k++)
		if (in_word(&f[k], word) && i-- == 0) {
			*name = table_text(g->t, f[k].name);
			*field = pfmi_field_get(&f[k], config);
			*text = choice_word(g->t, &f[k], *field);
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTFOUND;
}

/* Meaning of a hardware field that has a namesake among the table's. */
static const char *namesake_word(const struct table *t, const char *name, uint64_t value)
{
	const struct field *f = table_fields(t);

	for (unsigned i = 0; i < t->n_fields; i++)
		if (strcmp(table_text(t, f[i].name), name) == 0)
			return choice_word(t, &f[i], value);
	return "";
}

int pfm_decode_field(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i,
                     const char **name, uint64_t *field, const char **text)
{
	struct target g = { .t = pfmi_table_at(pfmi_ctx_meant(ctx), pmu), .reg = reg, .value = value };
	int word;

	if (!g.t || !reg || !name || !field || !text || !pfmi_target_find(&g))
		return PFMLIB_ERR_INVAL;
	word = pfmi_config_word(reg);
	if (word >= 0)
		return declared_field(&g, (unsigned)word, i, name, field, text);
	if (i >= g.n_layout)
		return PFMLIB_ERR_NOTFOUND;
	*name = g.layout[i].name;
	*field = bits_get(value, g.layout[i]);
	*text = namesake_word(g.t, *name, *field);
	return PFMLIB_SUCCESS;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

/* Levels are told where they are not the usual ones; a register that counts at none says nothing about the event. */
static void tell_levels(const struct target *g, struct event *ev)
{
	unsigned plm = g->pair ? ev->plm : g->plm;

	ev->plm = plm == pfmi_usual_levels(g->t) ? 0 : (uint8_t)plm;
}

int pfm_decode_event(const pfm_ctx_t *ctx, int pmu, const char *reg, uint64_t value, unsigned i, char *buf, size_t len)
{
	struct target g = { .t = pfmi_table_at(pfmi_ctx_meant(ctx), pmu), .reg = reg, .value = value };
	struct event ev;

	if (!g.t || !reg || !buf || !pfmi_target_find(&g) || !pfmi_has_encoder(g.t))
		return PFMLIB_ERR_INVAL;
	g.fixed = pfmi_target_bits(&g, "os0") != NULL;
	/* Any other register without an enable bit is none that chooses an event. */
	if (table_has_bits(g.t) && pfmi_config_word(reg) < 0 && !g.fixed && !g.pair && !pfmi_target_bits(&g, "en") && !pfmi_has_own_control(&g))
		return PFMLIB_ERR_NOTFOUND;
	if (!pfmi_target_event(&g, i, &ev))
		return PFMLIB_ERR_NOTFOUND;
	tell_levels(&g, &ev);
	return pfmi_event_print(&ev, NULL, PFM_DIALECT_VENDOR, (struct slice){ 0 }, buf, len, NULL);
}
