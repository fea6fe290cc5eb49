/* SPDX-License-Identifier: MIT */
/* The PMUs that a text can be about, for suggestions. */
#include "lookup/lookup.h"

struct pmu_list {
	unsigned *pmus, n, max;
};

static void add_pmu(struct pmu_list *list, unsigned pmu)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->pmus[i] == pmu)
			return;
	if (list->n < list->max)
		list->pmus[list->n++] = pmu;
}

static void add_host_pmus(const struct pfm_ctx *ctx, struct pmu_list *list)
{
	for (unsigned i = 0; i < ctx->n_host_pmus; i++)
		add_pmu(list, ctx->host_pmus[i].pmu_index);
	for (unsigned i = ctx->first_kernel_pmu; i < ctx->n_pmus; i++)
		add_pmu(list, i);
}

/* Adds the PMUs called @name, then the members of the family of that name. */
static void add_named_pmus(const struct pfm_ctx *ctx, struct slice name, struct pmu_list *list)
{
	uint32_t h = pfmi_table_hash_name(name), n_members = 0;
	struct pmu_name_iter iter = { 0 };
	unsigned n_sources;
	const struct pmu_source *sources = context_get_sources(ctx, &n_sources);
	int at;

	while ((at = pfmi_context_next_named_pmu(ctx, name, h, &iter)) >= 0)
		add_pmu(list, (unsigned)at);
	for (unsigned i = 0; i < n_sources; i++) {
		const struct image *im = sources[i].image;
		const uint16_t *members =
			im ? pfmi_context_find_family_members(im, name, h, &n_members) : NULL;

		for (uint32_t k = 0; members && k < n_members; k++)
			add_pmu(list, sources[i].first_pmu + members[k]);
	}
}

unsigned pfmi_lookup_list_candidate_pmus(const struct pfm_ctx *ctx, const struct spec *spec,
                                         unsigned *pmus, unsigned max)
{
	struct slice name = spec->pmu_name.len ? spec->pmu_name : ctx->default_pmu_name;
	struct pmu_list list = { pmus, 0, max };

	if (pfmi_context_load(ctx, LOADED_ALL))
		return 0;
	if (name.len)
		add_named_pmus(ctx, name, &list);
	else
		add_host_pmus(ctx, &list);
	return list.n;
}
