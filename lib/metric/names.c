/* SPDX-License-Identifier: MIT */
/* Look-up of metrics: one by its name, or those of a group. */
#include <stdlib.h>
#include <string.h>
#include <perfmon/aggregate.h>
#include "metric/metric.h"
#include "lookup/lookup.h"
#include "base/grow.h"

#define MAX_CANDIDATE_PMUS 64

static int add_metric_ref(struct metric_list *list, unsigned pmu, uint32_t row)
{
	bool failed = false;

	list->refs = base_grow_list(list->refs, list->n_metrics, &list->capacity,
	                            sizeof(*list->refs), &failed);
	if (failed)
		return PFMLIB_ERR_NOMEM;
	list->refs[list->n_metrics++] = (struct metric_ref){ pmu, row };
	return PFMLIB_SUCCESS;
}

int pfmi_metric_add_by_name(const struct pfm_ctx *ctx, const char *text, struct metric_list *out)
{
	struct spec spec;
	unsigned pmu;
	uint32_t row;

	if (pfmi_spec_parse(text, &spec, NULL) || pfmi_lookup_row(ctx, &spec, &pmu, &row, NULL) ||
	    row == ROW_NONE ||
	    !(table_get_row(context_get_pmu_table(ctx, pmu), row)->flags & ROW_METRIC))
		return PFMLIB_ERR_NOTFOUND;
	return add_metric_ref(out, pmu, row);
}

/* The rest of @text, of *@len bytes, after @word, whose length is subtracted from *@len; NULL if
 * @text does not begin with @word. */
static const char *skip_prefix(const char *word, const char *text, size_t *len)
{
	const char *rest = strlen(word) <= *len
	                           ? pfmi_base_skip_prefix_icase(pfmi_base_make_slice(word), text)
	                           : NULL;

	*len -= rest ? strlen(word) : 0;
	return rest;
}

/* Is @name "TopdownL1" for the group "TmaL1" of Intel's lists, or that of another level? */
static bool is_topdown_group_alias(const char *s, size_t len, struct slice name)
{
	size_t n = name.len;
	const char *ours = skip_prefix("TmaL", s, &len),
		   *requested = ours ? skip_prefix("TopdownL", name.text, &n) : NULL;

	return requested && len == n && strncmp(ours, requested, len) == 0;
}

static bool is_in_group(const char *groups, struct slice name)
{
	for (const char *s = groups; *s; s += strcspn(s, ";"), s += *s == ';')
		if ((strcspn(s, ";") == name.len && pfmi_base_skip_prefix_icase(name, s)) ||
		    is_topdown_group_alias(s, strcspn(s, ";"), name))
			return true;
	return false;
}

/* Is @group "Memory_Bound_group" or "tma_memory_bound_group" for the parent Memory_Bound: the group
 * of the metrics that Memory_Bound is split into? */
static bool is_group_of_parent(const char *parent, struct slice group)
{
	const struct slice prefix = pfmi_base_make_slice("tma_");
	const char *rest = pfmi_base_skip_prefix_icase(pfmi_base_make_slice(parent), group.text);

	if (!*parent || group.len < prefix.len)
		return false;
	if (!rest && pfmi_base_skip_prefix_icase(prefix, group.text))
		rest = pfmi_base_skip_prefix_icase(pfmi_base_make_slice(parent),
		                                   group.text + prefix.len);
	return rest && rest + strlen("_group") == group.text + group.len &&
	       pfmi_base_skip_prefix_icase(pfmi_base_make_slice("_group"), rest);
}

/* Adds the metrics of @group on one PMU. */
static int add_group_metrics(const struct pfm_ctx *ctx, unsigned pmu, struct slice group,
                             struct metric_list *out)
{
	const struct table *t = context_get_pmu_table(ctx, pmu);
	int rc = PFMLIB_SUCCESS;

	for (uint32_t row = 0; table_get_key_field_plus1(t, KEY_METRIC) && row < t->n_rows && !rc;
	     row++)
		if (table_get_row(t, row)->flags & ROW_METRIC &&
		    (is_in_group(pfmi_table_get_row_text(t, row, KEY_METRIC_GROUP), group) ||
		     is_group_of_parent(pfmi_table_get_row_text(t, row, KEY_METRIC_PARENT), group)))
			rc = add_metric_ref(out, pmu, row);
	return rc;
}

int pfmi_metric_find_group(const struct pfm_ctx *ctx, const char *text, struct metric_list *out)
{
	unsigned pmus[MAX_CANDIDATE_PMUS], n, before = out->n_metrics;
	struct spec spec;
	int rc = PFMLIB_SUCCESS;

	if (pfmi_spec_parse(text, &spec, NULL) || !spec.name.len)
		return PFMLIB_ERR_NOTFOUND;
	n = pfmi_lookup_list_candidate_pmus(ctx, &spec, pmus, MAX_CANDIDATE_PMUS);
	for (unsigned i = 0; i < n && !rc; i++)
		if (context_is_pmu_usable(ctx, pmus[i]))
			rc = add_group_metrics(ctx, pmus[i], spec.name, out);
	return rc || out->n_metrics > before ? rc : PFMLIB_ERR_NOTFOUND;
}

int pfm_list_metric_group(const pfm_ctx_t *ctx, const char *text, pfm_metric_ref_t *out, unsigned n)
{
	struct metric_list found = { .n_metrics = 0 };
	int rc;

	if (!text || (n && !out))
		return PFMLIB_ERR_INVAL;
	rc = pfmi_metric_find_group(context_get_or_default(ctx), text, &found);
	for (unsigned i = 0; !rc && i < found.n_metrics && i < n; i++)
		out[i] = (pfm_metric_ref_t){ (int)found.refs[i].pmu, found.refs[i].row };
	free(found.refs);
	return rc ? rc : (int)found.n_metrics;
}
