/* SPDX-License-Identifier: MIT */
/* Loading: images, the kernel's PMUs and the identity of this machine are read when a call first
 * needs them, by one thread. */
#include "context/context_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- fork safety ----------------------------------------------------------------------------- */

/* One lock for all contexts. fork() waits until no thread loads, because no thread of the child
 * would release the lock. */
pthread_mutex_t pfmi_context_load_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_before_fork(void)
{
	pthread_mutex_lock(&pfmi_context_load_lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&pfmi_context_load_lock);
}

/* Runs when the library is loaded: a fork() that begins while the first context is made would not
 * call handlers installed by that context. */
__attribute__((constructor)) static void install_fork_handlers(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

/* ---- this machine's PMUs --------------------------------------------------------------------- */

/* Drops tables of other family members and generic fallbacks if this processor has a table of its
 * own. */
static void drop_fallbacks(struct pfm_ctx *ctx)
{
	const struct table *best = NULL;
	unsigned kept = 0;

	for (unsigned i = 0; i < ctx->n_host_pmus; i++) {
		const struct table *t = context_get_pmu_table(ctx, ctx->host_pmus[i].pmu_index);

		if (pfmi_context_get_table_flags(t) & PFM_PMU_CORE &&
		    (!best || pfmi_machine_is_better_table(&ctx->host, t, best)))
			best = t;
	}
	for (unsigned i = 0; i < ctx->n_host_pmus; i++)
		if (!best || !pfmi_machine_is_better_table(
				     &ctx->host, best,
				     context_get_pmu_table(ctx, ctx->host_pmus[i].pmu_index)))
			ctx->host_pmus[kept++] = ctx->host_pmus[i];
	ctx->n_host_pmus = kept;
}

/* Logs which core tables serve this machine, and that a table is not this processor's own. */
static void log_core_tables(const struct pfm_ctx *ctx)
{
	for (unsigned i = 0; i < ctx->n_host_pmus; i++) {
		const struct table *t = context_get_pmu_table(ctx, ctx->host_pmus[i].pmu_index);
		unsigned flags = pfmi_context_get_table_flags(t);
		bool is_fallback = flags & (PFM_PMU_FALLBACK | PFM_PMU_NEAREST);

		if (flags & PFM_PMU_CORE)
			pfmi_machine_log(&ctx->sys.log, LOG_MACHINE,
			                 is_fallback ? PFM_LOG_INFO : PFM_LOG_DEBUG,
			                 "table %s serves this processor%s",
			                 table_get_text(t, t->name),
			                 is_fallback ? ", which has no table of its own" : "");
	}
}

static bool is_image_map_usable(void *map)
{
	return context_is_image_usable(map);
}

/* Lists the PMUs of this machine, each with the kernel's PMU that counts its events. */
static int match_host_tables(struct pfm_ctx *ctx)
{
	struct pmu_image image = { table_get_builtin_image(), 0, is_image_map_usable, NULL };
	struct host_pmu_list list = { 0 };

	pfmi_machine_match_image(&list, &ctx->host, ctx->kernel, &image);
	for (unsigned i = 0; i < ctx->images.n_maps; i++) {
		struct image_map *map = &ctx->images.maps[i];

		image = (struct pmu_image){ map->image, map->first_pmu, is_image_map_usable, map };
		pfmi_machine_match_image(&list, &ctx->host, ctx->kernel, &image);
	}
	ctx->host_pmus = list.pmus;
	ctx->n_host_pmus = list.n_pmus;
	drop_fallbacks(ctx);
	log_core_tables(ctx);
	return list.is_out_of_memory ? PFMLIB_ERR_NOMEM : PFMLIB_SUCCESS;
}

/* The order in which unprefixed names are looked up: the kernel's PMUs, then images, then the
 * built-in tables. */
static int order_host_pmus(struct pfm_ctx *ctx)
{
	unsigned n_kernel = ctx->n_pmus - ctx->first_kernel_pmu, n = 0;

	ctx->search_order = malloc((ctx->n_host_pmus + n_kernel + 1) * sizeof(*ctx->search_order));
	if (!ctx->search_order)
		return PFMLIB_ERR_NOMEM;
	for (unsigned i = 0; i < n_kernel; i++)
		ctx->search_order[n++] = ctx->first_kernel_pmu + i;
	for (unsigned i = 0; i < ctx->n_host_pmus; i++)
		if (ctx->host_pmus[i].pmu_index >= table_count_builtins())
			ctx->search_order[n++] = ctx->host_pmus[i].pmu_index;
	for (unsigned i = 0; i < ctx->n_host_pmus; i++)
		if (ctx->host_pmus[i].pmu_index < table_count_builtins())
			ctx->search_order[n++] = ctx->host_pmus[i].pmu_index;
	ctx->n_search_order = n;
	return PFMLIB_SUCCESS;
}

/* ---- names of the kernel's PMUs -------------------------------------------------------------- */

static unsigned count_aliases(const char *s)
{
	unsigned n = *s != '\0';

	for (; *s; s++)
		n += *s == ' ';
	return n;
}

/* Builds the hash table over the names of the kernel's PMUs, which are known only now. */
static int index_kernel_names(struct pfm_ctx *ctx, struct pmu_source *st)
{
	unsigned n = 0;

	for (unsigned i = 0; i < st->n_pmus; i++)
		n += 1 + count_aliases(table_get_text(ctx->kernel->pmus[i].table,
		                                      ctx->kernel->pmus[i].table->aliases));
	st->n_name_slots = 4 * n + 1;
	ctx->kernel_name_slots = calloc(st->n_name_slots, sizeof(*ctx->kernel_name_slots));
	st->name_slots = ctx->kernel_name_slots;
	if (!ctx->kernel_name_slots)
		return PFMLIB_ERR_NOMEM;
	for (unsigned i = 0; i < st->n_pmus; i++) {
		const struct table *t = ctx->kernel->pmus[i].table;
		const char *aliases = table_get_text(t, t->aliases);

		pfmi_table_insert_name(
			ctx->kernel_name_slots, st->n_name_slots,
			pfmi_table_hash_name(pfmi_base_make_slice(table_get_text(t, t->name))),
			i + 1);
		for (size_t len; *aliases; aliases += len + (aliases[len] == ' ')) {
			len = strcspn(aliases, " ");
			pfmi_table_insert_name(
				ctx->kernel_name_slots, st->n_name_slots,
				pfmi_table_hash_name((struct slice){ aliases, (uint32_t)len }),
				(i + 1) | PMU_NAME_IS_ALIAS);
		}
	}
	return PFMLIB_SUCCESS;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Numbers the PMUs of images and of the kernel; built-in ones have their numbers. */
static int number_pmus(struct pfm_ctx *ctx)
{
	struct pmu_source *next = calloc(ctx->images.n_maps + 2, sizeof(*next));

	if (!next)
		return PFMLIB_ERR_NOMEM;
	ctx->sources = next;
	if (!ctx->image_path)
		*next++ = ctx->builtin_source;
	ctx->n_pmus = table_count_builtins();
	for (unsigned i = 0; i < ctx->images.n_maps; i++) {
		struct image_map *map = &ctx->images.maps[i];

		map->first_pmu = ctx->n_pmus;
		ctx->n_pmus += map->image->n_tables;
		*next++ = pfmi_context_make_image_source(map->image, map, map->first_pmu);
	}
	if (ctx->image_path)
		*next++ = ctx->builtin_source;
	ctx->first_kernel_pmu = ctx->n_pmus;
	ctx->n_pmus += ctx->kernel ? ctx->kernel->n_pmus : 0;
	*next = (struct pmu_source){ .first_pmu = ctx->first_kernel_pmu,
		                     .n_pmus = ctx->n_pmus - ctx->first_kernel_pmu };
	ctx->n_sources = (unsigned)(next - ctx->sources) + 1;
	return index_kernel_names(ctx, next);
}

static void log_refused_images(const struct pfm_ctx *ctx)
{
	for (unsigned i = 0; i < ctx->images.n_rejected; i++)
		pfmi_machine_log(&ctx->sys.log, LOG_IMAGE, PFM_LOG_WARNING, "%s is ignored: %s",
		                 ctx->images.rejected[i].path, ctx->images.rejected[i].reason);
}

static int load_images(struct pfm_ctx *ctx)
{
	char path[2048];
	int rc;

	if (ctx->flags & PFM_CTX_NO_IMAGES)
		return PFMLIB_SUCCESS;
	if (!ctx->image_path && pfmi_image_get_default_path(path, sizeof(path)) >= sizeof(path))
		return PFMLIB_SUCCESS;
	rc = pfmi_image_map_search_path(ctx->image_path ? ctx->image_path : path, &ctx->images,
	                                NULL);
	for (unsigned i = 0; i < ctx->images.n_maps; i++)
		ctx->images.maps[i].log = &ctx->sys.log;
	log_refused_images(ctx);
	return rc;
}

static int convert_resource_error(const struct watched_sys *w)
{
	return !w->resource_error             ? PFMLIB_SUCCESS
	       : w->resource_error == -ENOMEM ? PFMLIB_ERR_NOMEM
	                                      : PFMLIB_ERR_SYS;
}

static int load_host_identity(struct pfm_ctx *ctx)
{
	struct watched_sys w;

	if (ctx->flags & PFM_CTX_NO_HOST)
		return PFMLIB_SUCCESS;
	pfmi_machine_init_watched_sys(&w, &ctx->sys);
	pfmi_machine_identify_host(&w.sys, ctx->assumed_cpuid, &ctx->host);
	return convert_resource_error(&w);
}

static int load_machine_state(struct pfm_ctx *ctx)
{
	struct watched_sys w;

	pfmi_machine_init_watched_sys(&w, &ctx->sys);
	pfmi_machine_read_core_types(&w.sys, ctx->assumed_cpuid, &ctx->host);
	ctx->kernel = pfmi_machine_read_kernel_info(&w.sys);
	if (!ctx->kernel)
		return PFMLIB_ERR_NOMEM;
	if (!ctx->assumed_cpuid)
		pfmi_machine_read_host_details(&w.sys, &ctx->host);
	return convert_resource_error(&w);
}

static int load_everything(struct pfm_ctx *ctx)
{
	bool host = !(ctx->flags & PFM_CTX_NO_HOST);
	int rc = load_images(ctx);

	if (!rc && host)
		rc = load_machine_state(ctx);
	if (!rc)
		rc = number_pmus(ctx);
	if (!rc && host)
		rc = match_host_tables(ctx);
	return rc ? rc : order_host_pmus(ctx);
}

void pfmi_context_unload(struct pfm_ctx *ctx)
{
	pfmi_image_unmap_all(&ctx->images);
	pfmi_machine_free_kernel_info(ctx->kernel);
	free(ctx->host_pmus);
	free(ctx->kernel_name_slots);
	free(ctx->search_order);
	free(ctx->sources);
	ctx->sources = NULL;
	ctx->kernel = NULL;
	ctx->host_pmus = NULL;
	ctx->kernel_name_slots = NULL;
	ctx->search_order = NULL;
	ctx->n_pmus = ctx->n_host_pmus = ctx->n_search_order = ctx->n_sources = 0;
}

int pfmi_context_load(const struct pfm_ctx *constant, int what)
{
	struct pfm_ctx *ctx = context_cast_writable(constant);
	int rc = PFMLIB_SUCCESS,
	    have = atomic_load_explicit(&ctx->loaded_parts, memory_order_acquire);

	if ((have & what) == what)
		return PFMLIB_SUCCESS;
	pthread_mutex_lock(&pfmi_context_load_lock);
	have = atomic_load_explicit(&ctx->loaded_parts, memory_order_relaxed);
	if (what & (LOADED_HOST | LOADED_ALL) && !(have & LOADED_HOST)) {
		rc = load_host_identity(ctx);
		have |= rc ? 0 : LOADED_HOST;
	}
	if (!rc && what & LOADED_ALL && !(have & LOADED_ALL)) {
		rc = load_everything(ctx);
		if (rc)
			pfmi_context_unload(ctx);
		else
			have |= LOADED_ALL;
	}
	atomic_store_explicit(&ctx->loaded_parts, have, memory_order_release);
	pthread_mutex_unlock(&pfmi_context_load_lock);
	return rc;
}

int pfmi_context_require_all(const struct pfm_ctx *ctx, pfm_error_t *why)
{
	int rc = pfmi_context_load(ctx, LOADED_ALL);

	return rc ? pfmi_base_set_plain_error(
			    why, rc, rc == PFMLIB_ERR_IMAGE ? PFM_KIND_IMAGE : PFM_KIND_SYSTEM,
			    rc == PFMLIB_ERR_SYS ? "the PMUs of this machine could not be read: "
						   "the process cannot open more files"
						 : "the PMUs of this machine could not be read")
	          : PFMLIB_SUCCESS;
}
