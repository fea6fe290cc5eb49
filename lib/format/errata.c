/* SPDX-License-Identifier: MIT */
/* Errata of PMUs and of events. */
#include <string.h>
#include "base/sizes.h"
#include "lookup/lookup.h"
#include "machine/machine.h"

static const char *get_replacement(const struct table *t, const struct erratum *e)
{
	return e->instead_plus1 ? table_get_row_name(t, e->instead_plus1 - 1u) : "";
}

static void describe_erratum(const struct pfm_ctx *ctx, int pmu, const struct table *t,
                             const struct erratum *e, unsigned flags, pfm_erratum_t *out)
{
	pfm_erratum_t full = {
		.ids = table_get_text(t, e->ids),
		.effect = table_get_text(t, e->effect),
		.workaround = table_get_text(t, e->workaround),
		.kernel = table_get_text(t, e->kernel),
		.machines = table_get_text(t, e->machines),
		.instead = get_replacement(t, e),
		.source = table_get_text(t, e->source),
		.count = (pfm_erratum_count_t)e->count,
		.flags = flags | (pfmi_pmu_is_erratum_general(t, e) ? PFM_ERRATUM_EVERY_EVENT : 0),
		.n_events = e->n_rows,
	};

	if (pfmi_lookup_is_pmu_here(ctx, (unsigned)pmu, t) &&
	    pfmi_machine_has_erratum(&ctx->host, t, e))
		full.flags |= PFM_ERRATUM_HERE;
	base_copy_struct_out(out, &full, sizeof(full));
}

int pfm_describe_erratum(const pfm_ctx_t *ctx, int pmu, unsigned i, pfm_erratum_t *out)
{
	const struct table *t;

	ctx = context_get_or_default(ctx);
	t = context_get_usable_table(ctx, pmu);
	if (!t || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	if (i >= t->n_errata)
		return PFMLIB_ERR_NOTFOUND;
	describe_erratum(ctx, pmu, t, table_errata(t) + i, 0, out);
	return PFMLIB_SUCCESS;
}

int pfm_describe_erratum_event(const pfm_ctx_t *ctx, int pmu, unsigned i, unsigned k,
                               unsigned *event)
{
	const struct table *t = context_get_usable_table(context_get_or_default(ctx), pmu);
	const struct erratum *e;

	if (!t || !event)
		return PFMLIB_ERR_INVAL;
	if (i >= t->n_errata)
		return PFMLIB_ERR_NOTFOUND;
	e = table_errata(t) + i;
	if (k >= e->n_rows)
		return PFMLIB_ERR_NOTFOUND;
	*event = table_erratum_rows(t)[e->first_row + k];
	return PFMLIB_SUCCESS;
}

/* Finds erratum @i of those that are about @ev. */
static int find_event_erratum(const struct pfm_ctx *ctx, int pmu, const struct event *ev,
                              unsigned plm, unsigned i, pfm_erratum_t *out)
{
	const struct table *t = ev->table;
	const struct erratum *e = table_errata(t), *end = e + t->n_errata;

	for (; e < end; e++) {
		enum erratum_fit fit =
			pfmi_pmu_fit_erratum(ev, pfmi_pmu_choose_levels(t, plm), false, e);

		if (fit == ERRATUM_UNRELATED || i--)
			continue;
		describe_erratum(ctx, pmu, t, e,
		                 fit == ERRATUM_CONDITIONAL ? PFM_ERRATUM_CONDITIONAL : 0, out);
		return PFMLIB_SUCCESS;
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* Replaces a row that only libpfm4's names lead to by the row of the list with the same fields. */
static void choose_listed_row(struct event *ev)
{
	if (ev->row_index != ROW_NONE && ev->row_index >= ev->table->n_rows) {
		ev->row_index = ROW_NONE;
		pfmi_lookup_adopt_row(ev);
	}
}

int pfm_describe_event_erratum(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned i,
                               pfm_erratum_t *out)
{
	const struct table *t;
	struct event ev;

	ctx = context_get_or_default(ctx);
	t = context_get_usable_table(ctx, pmu);
	if (!t || !table_has_row(t, event) || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	if (!t->n_errata || table_get_row(t, event)->flags & ROW_METRIC)
		return PFMLIB_ERR_NOTFOUND;
	pfmi_pmu_init_event(&ev, t, event);
	return find_event_erratum(ctx, pmu, &ev, 0, i, out);
}

int pfm_describe_text_erratum(const pfm_ctx_t *ctx, const char *text, unsigned plm, unsigned i,
                              pfm_erratum_t *out)
{
	struct event ev;
	unsigned pmu;
	int rc;

	if (!text || !base_has_struct_size(out) || plm > PFMI_LEVEL_MASK)
		return PFMLIB_ERR_INVAL;
	ctx = context_get_or_default(ctx);
	rc = pfmi_lookup_event(ctx, text, &pmu, &ev, NULL);
	if (rc)
		return rc;
	choose_listed_row(&ev);
	return find_event_erratum(ctx, (int)pmu, &ev, plm, i, out);
}
