/* SPDX-License-Identifier: MIT */
/* Finds the event and the attribute that an error is about. */
#include <string.h>
#include "format/error_location.h"

/* The attribute whose name or value the token starts in. */
static void set_token_attr(struct error_location *p)
{
	struct slice rest = p->spec.attrs;
	struct spec_attr a;

	while (pfmi_spec_next_attr(&rest, &a)) {
		const char *end =
			a.has_value ? a.value.text + a.value.len : a.name.text + a.name.len;

		if (p->token.text < a.name.text || p->token.text > end)
			continue;
		p->attr = a;
		p->has_attr = true;
		return;
	}
}

void pfmi_format_locate_error(const struct pfm_ctx *ctx, const char *text, const pfm_error_t *error,
                              struct error_location *out)
{
	size_t len = text ? strlen(text) : 0;

	memset(out, 0, sizeof(*out));
	out->row = ROW_NONE;
	out->token = (struct slice){ text ? text : "", 0 };
	if (!text)
		return;
	if (error->start <= error->end && error->end <= len)
		out->token = (struct slice){ text + error->start, error->end - error->start };
	out->is_parsed = pfmi_spec_parse(text, &out->spec, NULL) == PFMLIB_SUCCESS;
	if (!out->is_parsed)
		return;
	out->has_event =
		pfmi_lookup_row(ctx, &out->spec, &out->pmu, &out->row, NULL) == PFMLIB_SUCCESS;
	if (!out->has_event)
		return;
	out->table = context_get_pmu_table(ctx, out->pmu);
	set_token_attr(out);
}

const struct umask_group *pfmi_format_find_named_group(const struct error_location *p)
{
	if (!p->has_attr || p->row == ROW_NONE)
		return NULL;
	for (unsigned i = 0; i < table_get_row(p->table, p->row)->n_groups; i++)
		if (pfmi_base_is_slice_icase(
			    p->attr.name,
			    table_get_text(p->table,
		                           pfmi_pmu_get_row_group(p->table, p->row, i)->name)))
			return pfmi_pmu_get_row_group(p->table, p->row, i);
	return NULL;
}
