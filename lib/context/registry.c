/* SPDX-License-Identifier: MIT */
/* The registry of a context: its PMUs by number and by name. */
#include "context/context_internal.h"

#include <string.h>

unsigned pfmi_context_get_table_flags(const struct table *t)
{
	unsigned flags = 0;

	if (t->flags & TABLE_UNCORE)
		flags |= PFM_PMU_UNCORE;
	else if (t->encoder != ENCODER_PERF && !(t->flags & TABLE_FROM_KERNEL))
		flags |= PFM_PMU_CORE;
	if (t->flags & TABLE_FALLBACK)
		flags |= PFM_PMU_FALLBACK;
	if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
		flags |= PFM_PMU_HIDDEN;
	return flags;
}

/* Is @s an alias of the table? */
static bool table_has_alias(const struct table *t, struct slice s)
{
	const char *aliases = table_get_text(t, t->aliases);

	while (*aliases) {
		const char *rest = pfmi_table_skip_prefix_icase(aliases, s);

		if (rest && (*rest == ' ' || *rest == '\0'))
			return true;
		aliases += strcspn(aliases, " ");
		aliases += *aliases == ' ';
	}
	return false;
}

bool pfmi_context_table_has_name(const struct table *t, struct slice s)
{
	return context_table_has_own_name(t, s) || table_has_alias(t, s);
}

/* ---- PMUs by number -------------------------------------------------------------------------- */

struct image_map *pfmi_context_get_pmu_image(const struct pfm_ctx *ctx, unsigned i)
{
	unsigned k = ctx->images.n_maps;

	if (i < table_count_builtins() || i >= ctx->first_kernel_pmu)
		return NULL;
	while (k-- > 0 && ctx->images.maps[k].first_pmu > i)
		;
	return &ctx->images.maps[k];
}

const struct table *pfmi_context_get_pmu_table_slowpath(const struct pfm_ctx *ctx, unsigned i)
{
	const struct image_map *map;

	if (i >= ctx->first_kernel_pmu)
		return ctx->kernel->pmus[i - ctx->first_kernel_pmu].table;
	map = pfmi_context_get_pmu_image(ctx, i);
	return table_get_image_table(map->image, i - map->first_pmu);
}

/* PMU @i in the list of this machine's PMUs; NULL if it is not one of them. */
static const struct host_pmu *find_host_pmu(const struct pfm_ctx *ctx, unsigned i)
{
	unsigned low = 0, high = context_is_loaded(ctx, LOADED_ALL) ? ctx->n_host_pmus : 0;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (ctx->host_pmus[mid].pmu_index == i)
			return &ctx->host_pmus[mid];
		if (ctx->host_pmus[mid].pmu_index < i)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct kernel_pmu *pfmi_context_get_kernel_pmu_slowpath(const struct pfm_ctx *ctx, unsigned i)
{
	const struct host_pmu *here = find_host_pmu(ctx, i);

	if (here)
		return here->kernel_pmu;
	return i >= ctx->first_kernel_pmu ? &ctx->kernel->pmus[i - ctx->first_kernel_pmu] : NULL;
}

static unsigned get_kernel_pmu_flags(const struct kernel_pmu *k)
{
	return PFM_PMU_HOST | PFM_PMU_KERNEL | (k->is_core ? (unsigned)PFM_PMU_CORE : 0) |
	       (k->is_uncore ? (unsigned)PFM_PMU_UNCORE : 0);
}

struct pmu_info pfmi_context_get_pmu(const struct pfm_ctx *ctx, unsigned i)
{
	const struct table *t = context_get_pmu_table(ctx, i);
	struct pmu_info u = { .table = t,
		              .origin = "built in",
		              .flags = pfmi_context_get_table_flags(t),
		              .perf_type = t->perf_type };
	const struct host_pmu *here = find_host_pmu(ctx, i);

	if (i >= table_count_builtins()) {
		u.image_map = pfmi_context_get_pmu_image(ctx, i);
		u.origin = u.image_map ? u.image_map->path : "kernel";
	}
	u.kernel_pmu = context_get_kernel_pmu(ctx, i);
	if (t->flags & TABLE_FROM_KERNEL)
		u.flags |= get_kernel_pmu_flags(u.kernel_pmu);
	if (here) {
		u.flags |= PFM_PMU_HOST | (here->kernel_pmu ? (unsigned)PFM_PMU_KERNEL : 0);
		u.core_type = here->core_type;
		if (pfmi_machine_is_nearest_table(&ctx->host, t))
			u.flags |= PFM_PMU_FALLBACK | PFM_PMU_NEAREST;
	}
	if (u.kernel_pmu)
		u.perf_type = u.kernel_pmu->instance_types[0];
	return u;
}

unsigned pfmi_context_read_limit_facts(const struct pfm_ctx *ctx, const struct pmu_info *u)
{
	const unsigned facts = u->flags & PFM_PMU_HOST ? pfmi_pmu_list_limit_facts(u->table) : 0;

	return facts ? pfmi_machine_read_facts(&ctx->sys, facts, NULL, 0) : 0;
}

/* ---- PMUs by name ---------------------------------------------------------------------------- */

struct pmu_source pfmi_context_make_image_source(const struct image *im, struct image_map *map,
                                                 unsigned first)
{
	return (struct pmu_source){ im,
		                    map,
		                    first,
		                    im->n_tables,
		                    table_get_image_array(im, ARRAY_PMU_NAMES),
		                    im->arrays[ARRAY_PMU_NAMES].n_elements };
}

/* The table that is PMU @i of @source. */
static const struct table *source_get_table(const struct pfm_ctx *ctx,
                                            const struct pmu_source *source, uint32_t i)
{
	return source->image ? table_get_image_table(source->image, i) : ctx->kernel->pmus[i].table;
}

/* Is @s an alias of the table (@is_alias), or its own name (otherwise)? */
static bool table_has_name_of_kind(const struct table *t, struct slice s, bool is_alias)
{
	return is_alias ? table_has_alias(t, s) : context_table_has_own_name(t, s);
}

/* Finds the next PMU of @source in the pass that @iter is in; -1 at the end of the source. */
static int find_next_in_source(const struct pfm_ctx *ctx, const struct pmu_source *source,
                               struct slice s, uint32_t h, struct pmu_name_iter *iter)
{
	uint32_t at = iter->next_slot ? iter->next_slot - 1
	                              : table_get_first_slot(h, source->n_name_slots),
		 slot;

	while ((slot = source->name_slots[at]) > h << 16) {
		uint32_t i = (slot & PMU_NAME_NUMBER_MASK) - 1;
		bool is_alias = slot & PMU_NAME_IS_ALIAS;

		at = at + 1 < source->n_name_slots ? at + 1 : 0;
		if (slot >> 16 != (uint16_t)h || is_alias != iter->pass || i >= source->n_pmus)
			continue;
		iter->table = source_get_table(ctx, source, i);
		if (!table_has_name_of_kind(iter->table, s, is_alias))
			continue;
		iter->next_slot = at + 1;
		iter->image_map = source->image_map;
		return (int)(source->first_pmu + i);
	}
	iter->next_slot = 0;
	return -1;
}

int pfmi_context_next_named_pmu(const struct pfm_ctx *ctx, struct slice s, uint32_t h,
                                struct pmu_name_iter *iter)
{
	unsigned n_sources;
	const struct pmu_source *sources = context_get_sources(ctx, &n_sources);

	for (; iter->pass < 2; iter->pass++, iter->source_index = 0)
		for (; iter->source_index < n_sources; iter->source_index++) {
			int i = find_next_in_source(ctx, &sources[iter->source_index], s, h, iter);

			if (i >= 0)
				return i;
		}
	return -1;
}

const struct pmu_family *pfmi_context_find_family(const struct image *im, struct slice s,
                                                  uint32_t h)
{
	const struct pmu_family *families = table_get_image_array(im, ARRAY_FAMILIES);
	const char *pool = table_get_image_array(im, ARRAY_POOL);
	uint32_t at = 0;
	int i;

	while ((i = table_next_pmu_by_name(im, h, &at)) >= 0) {
		const struct pmu_family *family = families + ((unsigned)i - im->n_tables);

		if ((unsigned)i >= im->n_tables && pfmi_base_is_slice_icase(s, pool + family->name))
			return family;
	}
	return NULL;
}

const uint16_t *pfmi_context_find_family_members(const struct image *im, struct slice s, uint32_t h,
                                                 uint32_t *n)
{
	const struct pmu_family *family = pfmi_context_find_family(im, s, h);

	*n = family ? family->n_members : 0;
	return family ? table_get_family_members(im, family) : NULL;
}
