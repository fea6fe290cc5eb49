/* SPDX-License-Identifier: MIT */
/* Errata of this machine. */
#include "lookup/lookup.h"
#include "machine/machine.h"

bool pfmi_lookup_is_pmu_here(const struct pfm_ctx *ctx, unsigned pmu, const struct table *t)
{
	unsigned core;

	if (pfmi_context_load(ctx, LOADED_HOST) ||
	    (t->n_matches && !pfmi_machine_is_table_for_host(&ctx->host, t, &core)) ||
	    pfmi_context_load(ctx, LOADED_ALL))
		return false;
	return pfmi_context_get_pmu(ctx, pmu).flags & PFM_PMU_HOST;
}

const struct erratum *pfmi_lookup_avoidable_erratum(const struct pfm_ctx *ctx, unsigned pmu,
                                                    const struct event *ev)
{
	const struct table *t = ev->table;
	const struct erratum *e = table_errata(t), *end = e + t->n_errata;

	for (; e < end; e++)
		if (e->instead_plus1 &&
		    pfmi_pmu_fit_erratum(ev, pfmi_pmu_choose_levels(t, 0), false, e) ==
		            ERRATUM_APPLIES &&
		    (!pfmi_lookup_is_pmu_here(ctx, pmu, t) ||
		     pfmi_machine_has_erratum(&ctx->host, t, e)))
			return e;
	return NULL;
}
