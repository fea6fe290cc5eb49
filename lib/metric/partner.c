/* SPDX-License-Identifier: MIT */
/* The partner of a metric: the event whose samples show which code the value comes from. A list, or
 * lib/events/partners.txt, names partners in the field metric_locate; a metric of a tree without
 * one has those of the metric that it is a part of. */
#include <stdio.h>
#include <string.h>
#include <perfmon/event.h>
#include "metric/metric.h"

#define MAX_TREE_DEPTH 12 /* ends the search in a table whose metrics are parts of each other */

/* Value of field "metric_locate" of row @row, "" if missing or if the list names no event. */
static const char *get_own_partners(const struct table *t, uint32_t row)
{
	const struct row *r = table_get_row(t, row);

	for (unsigned i = 0; i < r->n_values; i++) {
		struct field_value v = table_get_row_value(t, r, i);
		const struct field *f = table_fields(t) + v.field;
		const char *text;

		if (f->kind != FIELD_TEXT ||
		    strcmp(table_get_text(t, f->name), "metric_locate") != 0)
			continue;
		text = table_get_text(t, (uint32_t)v.value);
		return strcmp(text, "#NA") == 0 ? "" : text;
	}
	return "";
}

/* Row of the parent metric of @row; ROW_NONE without one. */
static uint32_t find_parent_row(const struct table *t, uint32_t row)
{
	struct slice name =
		pfmi_base_make_slice(pfmi_table_get_row_text(t, row, KEY_METRIC_PARENT));
	struct name_entry found = { .kind = NAME_NONE };

	if (name.len)
		found = table_find_name(t, pfmi_table_hash_name(name), name.text, name.len);
	return found.kind < NAME_UNSUPPORTED && table_get_row(t, found.row)->flags & ROW_METRIC
	               ? found.row
	               : ROW_NONE;
}

/* Partners of metric @row, separated by ';': its own, or those of the nearest parent with some. */
static const char *get_partners(const struct table *t, uint32_t row)
{
	const char *partners = get_own_partners(t, row);

	for (unsigned depth = 0; !*partners && depth < MAX_TREE_DEPTH; depth++) {
		row = find_parent_row(t, row);
		if (row == ROW_NONE)
			break;
		partners = get_own_partners(t, row);
	}
	return partners;
}

/* Item @i of a list separated by semicolons; empty past the last. */
static struct slice get_list_item(const char *list, unsigned i)
{
	for (; i && *list; i--) {
		list += strcspn(list, ";");
		list += *list == ';';
	}
	return (struct slice){ list, (uint32_t)strcspn(list, ";") };
}

/* ":pp" if the event @text has a precise form. */
static const char *get_precise_suffix(const struct pfm_ctx *ctx, const char *text)
{
	perfmon_event_info_t info = PFM_INIT(info);
	unsigned event;
	int pmu;

	return !pfm_find_event_by_text(ctx, text, &pmu, &event, NULL) &&
	                       !pfm_describe_event(ctx, pmu, event, &info) && info.precise > 0
	               ? ":pp"
	               : "";
}

int pfm_print_metric_partner(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i, char *buf,
                             size_t len)
{
	char text[352];
	struct slice name;
	struct metric m;
	int rc = buf || !len ? pfmi_metric_find_by_row(ctx, pmu, event, &m) : PFMLIB_ERR_INVAL;

	if (rc)
		return rc;
	name = get_list_item(get_partners(m.table, m.row), i);
	if (!name.len)
		return PFMLIB_ERR_NOTFOUND;
	pfmi_metric_format_full_name(&m, name, text, sizeof(text));
	return snprintf(buf, len, "%s%s", text, get_precise_suffix(ctx, text));
}
