/* SPDX-License-Identifier: MIT */
/* Contexts: which processors there are, and which of them a text means. All state of the library is here. */
#include "context/context.h"
#include "base/sizes.h"

#include <stdlib.h>
#include <string.h>

static unsigned get_table_pmu_flags(const struct table *t)
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

bool pfmi_context_table_has_alias(const struct table *t, struct slice s)
{
	const char *aka = table_text(t, t->aliases);

	while (*aka) {
		const char *rest = pfmi_table_skip_prefix_icase(aka, s);

		if (rest && (*rest == ' ' || *rest == '\0'))
			return true;
		aka += strcspn(aka, " ");
		aka += *aka == ' ';
	}
	return false;
}

bool pfmi_context_table_has_name(const struct table *t, struct slice s)
{
	return context_table_has_own_name(t, s) || pfmi_context_table_has_alias(t, s);
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

struct image_map *pfmi_context_pmu_image(const struct pfm_ctx *ctx, unsigned i)
{
	unsigned k = ctx->images.n_maps;

	if (i < table_count_builtins() || i >= ctx->first_kernel_pmu)
		return NULL;
	while (k-- > 0 && ctx->images.maps[k].first_pmu > i)
		;
	return &ctx->images.maps[k];
}

const struct table *pfmi_context_pmu_table_slowpath(const struct pfm_ctx *ctx, unsigned i)
{
	const struct image_map *map;

	if (i >= ctx->first_kernel_pmu)
		return ctx->kernel->pmus[i - ctx->first_kernel_pmu].table;
	map = pfmi_context_pmu_image(ctx, i);
	return table_image_table_at(map->image, i - map->first_pmu);
}

/* Unit @i among those that this machine has, or NULL. */
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

const struct kernel_pmu *pfmi_context_pmu_kernel_slowpath(const struct pfm_ctx *ctx, unsigned i)
{
	const struct host_pmu *here = find_host_pmu(ctx, i);

	if (here)
		return here->kernel_pmu;
	return i >= ctx->first_kernel_pmu ? &ctx->kernel->pmus[i - ctx->first_kernel_pmu] : NULL;
}

static unsigned get_kernel_pmu_flags(const struct kernel_pmu *k)
{
	return PFM_PMU_HOST | PFM_PMU_KERNEL | (k->is_core ? (unsigned)PFM_PMU_CORE : 0) | (k->is_uncore ? (unsigned)PFM_PMU_UNCORE : 0);
}

struct pmu_info pfmi_context_get_pmu(const struct pfm_ctx *ctx, unsigned i)
{
	const struct table *t = context_pmu_table(ctx, i);
	struct pmu_info u = { .table = t, .origin = "built in", .flags = get_table_pmu_flags(t), .perf_type = t->perf_type };
	const struct host_pmu *here = find_host_pmu(ctx, i);

	if (i >= table_count_builtins()) {
		u.image_map = pfmi_context_pmu_image(ctx, i);
		u.origin = u.image_map ? u.image_map->path : "kernel";
	}
	u.kernel_pmu = context_pmu_kernel(ctx, i);
	if (t->flags & TABLE_FROM_KERNEL)
		u.flags |= get_kernel_pmu_flags(u.kernel_pmu);
	if (here) {
		u.flags |= PFM_PMU_HOST | (here->kernel_pmu ? (unsigned)PFM_PMU_KERNEL : 0);
		u.core_type = here->core_type;
	}
	if (u.kernel_pmu)
		u.perf_type = u.kernel_pmu->instance_types[0];
	return u;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static struct pmu_source make_image_source(const struct image *im, struct image_map *map, unsigned first)
{
	return (struct pmu_source){ im, map, first, im->n_tables, table_image_array(im, ARRAY_PMU_NAMES), im->arrays[ARRAY_PMU_NAMES].n_elements };
}

/* The table that is PMU @i of @source. */
static const struct table *source_get_table(const struct pfm_ctx *ctx, const struct pmu_source *source,
                                            uint32_t i)
{
	return source->image ? table_image_table_at(source->image, i) : ctx->kernel->pmus[i].table;
}

/* Does the table answer to @s, as its own name (@is_alias false) or as an alias? */
static bool table_has_name_of_kind(const struct table *t, struct slice s, bool is_alias)
{
	return is_alias ? pfmi_context_table_has_alias(t, s) : context_table_has_own_name(t, s);
}

/* Finds the next PMU of @source in the pass that @iter is in; -1 at the end of the source. */
static int find_next_in_source(const struct pfm_ctx *ctx, const struct pmu_source *source, struct slice s,
                               uint32_t h, struct pmu_name_iter *iter)
{
	uint32_t at = iter->next_slot ? iter->next_slot - 1 : table_first_slot(h, source->n_name_slots), slot;

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

const struct pmu_family *pfmi_context_find_family(const struct image *im, struct slice s, uint32_t h)
{
	const struct pmu_family *wholes = table_image_array(im, ARRAY_FAMILIES);
	const char *pool = table_image_array(im, ARRAY_POOL);
	uint32_t at = 0;
	int i;

	while ((i = table_next_pmu_by_name(im, h, &at)) >= 0) {
		const struct pmu_family *w = wholes + ((unsigned)i - im->n_tables);

		if ((unsigned)i >= im->n_tables && pfmi_base_is_slice_icase(s, pool + w->name))
			return w;
	}
	return NULL;
}

const uint16_t *pfmi_context_find_family_members(const struct image *im, struct slice s, uint32_t h, uint32_t *n)
{
	const struct pmu_family *w = pfmi_context_find_family(im, s, h);

	*n = w ? w->n_members : 0;
	return w ? table_family_members(im, w) : NULL;
}

/* ---- this machine --------------------------------------------------------------------------------------------- */

/* The kernel's PMU that counts what @t describes. */
static const struct kernel_pmu *find_table_device(const struct pfm_ctx *ctx, const struct table *t, unsigned core)
{
	const char *device = table_text(t, t->device);

	if (!ctx->kernel)
		return NULL;
	if (!(t->flags & TABLE_UNCORE) && ctx->host.n_core_types > core && ctx->host.core_types[core].device[0])
		device = ctx->host.core_types[core].device;
	if (!*device)
		return NULL;
	return pfmi_machine_find_kernel_pmu(ctx->kernel, (struct slice){ device, (uint32_t)strlen(device) });
}

/* The core PMU of a kernel that names it after the processor (arm64): the only one there is. */
static const struct kernel_pmu *find_only_core_pmu(const struct pfm_ctx *ctx)
{
	const struct kernel_pmu *found = NULL;

	for (unsigned i = 0; ctx->kernel && i < ctx->kernel->n_pmus; i++)
		if (ctx->kernel->pmus[i].is_core) {
			if (found)
				return NULL;
			found = &ctx->kernel->pmus[i];
		}
	return found;
}

/* A list of what this machine has, while it grows. */
struct host_pmu_list {
	struct pfm_ctx *ctx;
	struct image_map *image_map; /* where the tables at hand are; NULL: built in */
	unsigned first_pmu, capacity;
	bool is_out_of_memory;
};

/* Puts unit @u into the list, which is in order. */
static void add_host_pmu(struct host_pmu_list *f, struct host_pmu u)
{
	struct pfm_ctx *ctx = f->ctx;
	unsigned at = ctx->n_host_pmus;

	if (ctx->n_host_pmus == f->capacity) {
		struct host_pmu *more = realloc(ctx->host_pmus, (2 * f->capacity + 32) * sizeof(*more));

		if (!more) {
			f->is_out_of_memory = true;
			return;
		}
		ctx->host_pmus = more;
		f->capacity = 2 * f->capacity + 32;
	}
	while (at > 0 && ctx->host_pmus[at - 1].pmu_index > u.pmu_index)
		at--;
	if (at > 0 && ctx->host_pmus[at - 1].pmu_index == u.pmu_index)
		return;
	memmove(ctx->host_pmus + at + 1, ctx->host_pmus + at, (ctx->n_host_pmus - at) * sizeof(u));
	ctx->host_pmus[at] = u;
	ctx->n_host_pmus++;
}

/* A table that says it is for this machine. */
static void add_matching_table(void *arg, uint32_t table, unsigned core)
{
	struct host_pmu_list *f = arg;
	struct pfm_ctx *ctx = f->ctx;
	const struct table *t = table_image_table_at(f->image_map ? f->image_map->image : table_builtin_image(), table);
	struct host_pmu u = { f->first_pmu + table, core, NULL };

	if (t->flags & (TABLE_COMPAT_VIEW | TABLE_TEST_ONLY))
		return;
	if (t->encoder != ENCODER_PERF) {
		u.kernel_pmu = find_table_device(ctx, t, core);
		if (!u.kernel_pmu && !(t->flags & TABLE_UNCORE))
			u.kernel_pmu = find_only_core_pmu(ctx);
		if (t->flags & TABLE_UNCORE && !u.kernel_pmu && ctx->kernel && ctx->kernel->n_pmus)
			return; /* the list knows the box, this machine does not have it */
	}
	add_host_pmu(f, u);
}

/* Units that come with any processor are known by what the kernel reads from the unit itself. */
static void add_matching_device(void *arg, uint32_t table, unsigned core)
{
	struct host_pmu_list *f = arg;
	const struct table *t = table_image_table_at(f->image_map ? f->image_map->image : table_builtin_image(), table);
	const struct kernel_pmu *device = find_table_device(f->ctx, t, core);

	if (device && context_is_image_usable(f->image_map) && pfmi_machine_has_kernel_identifier(device, t))
		add_host_pmu(f, (struct host_pmu){ f->first_pmu + table, core, device });
}

static void find_host_pmus_in_image(struct host_pmu_list *f, struct image_map *map, unsigned first)
{
	const struct image *im = map ? map->image : table_builtin_image();

	f->image_map = map;
	f->first_pmu = first;
	pfmi_machine_visit_host_tables(im, &f->ctx->host, 0, add_matching_table, f);
	for (unsigned i = 0; f->ctx->kernel && i < f->ctx->kernel->n_pmus; i++)
		pfmi_machine_visit_device_tables(im, f->ctx->kernel->pmus[i].name, add_matching_device, f);
}

/* Leaves out the tables that another core's makes needless. */
static void drop_generic_fallbacks(struct pfm_ctx *ctx)
{
	const struct table *best = NULL;
	unsigned kept = 0;

	for (unsigned i = 0; i < ctx->n_host_pmus; i++) {
		const struct table *t = context_pmu_table(ctx, ctx->host_pmus[i].pmu_index);

		if (get_table_pmu_flags(t) & PFM_PMU_CORE && (!best || pfmi_machine_is_better_table(t, best)))
			best = t;
	}
	for (unsigned i = 0; i < ctx->n_host_pmus; i++)
		if (!best || !pfmi_machine_is_better_table(best, context_pmu_table(ctx, ctx->host_pmus[i].pmu_index)))
			ctx->host_pmus[kept++] = ctx->host_pmus[i];
	ctx->n_host_pmus = kept;
}

/* Finds the units this machine has, and ties them to the kernel's PMUs. */
static int find_host_pmus(struct pfm_ctx *ctx)
{
	struct host_pmu_list f = { .ctx = ctx };

	find_host_pmus_in_image(&f, NULL, 0);
	for (unsigned i = 0; i < ctx->images.n_maps; i++)
		find_host_pmus_in_image(&f, &ctx->images.maps[i], ctx->images.maps[i].first_pmu);
	drop_generic_fallbacks(ctx);
	return f.is_out_of_memory ? PFMLIB_ERR_NOMEM : PFMLIB_SUCCESS;
}

/* What the kernel shows comes first, then images, then what is built in. */
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

static unsigned count_aliases(const char *s)
{
	unsigned n = *s != '\0';

	for (; *s; s++)
		n += *s == ' ';
	return n;
}

/* The stage of the kernel's PMUs. They are few, and their names known only now. */
static int index_kernel_names(struct pfm_ctx *ctx, struct pmu_source *st)
{
	unsigned n = 0;

	for (unsigned i = 0; i < st->n_pmus; i++)
		n += 1 + count_aliases(table_text(ctx->kernel->pmus[i].table, ctx->kernel->pmus[i].table->aliases));
	st->n_name_slots = 4 * n + 1;
	ctx->kernel_name_slots = calloc(st->n_name_slots, sizeof(*ctx->kernel_name_slots));
	st->name_slots = ctx->kernel_name_slots;
	if (!ctx->kernel_name_slots)
		return PFMLIB_ERR_NOMEM;
	for (unsigned i = 0; i < st->n_pmus; i++) {
		const struct table *t = ctx->kernel->pmus[i].table;
		const char *aka = table_text(t, t->aliases);

		pfmi_table_insert_name(ctx->kernel_name_slots, st->n_name_slots, pfmi_table_hash_name(pfmi_base_make_slice(table_text(t, t->name))), i + 1);
		for (size_t len; *aka; aka += len + (aka[len] == ' ')) {
			len = strcspn(aka, " ");
			pfmi_table_insert_name(ctx->kernel_name_slots, st->n_name_slots, pfmi_table_hash_name((struct slice){ aka, (uint32_t)len }),
			                       (i + 1) | PMU_NAME_IS_ALIAS);
		}
	}
	return PFMLIB_SUCCESS;
}

/* ---- loading -------------------------------------------------------------------------------------------------- */

/* Units of images and of the kernel get their numbers; what is built in has them. */
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
		*next++ = make_image_source(map->image, map, map->first_pmu);
	}
	if (ctx->image_path)
		*next++ = ctx->builtin_source;
	ctx->first_kernel_pmu = ctx->n_pmus;
	ctx->n_pmus += ctx->kernel ? ctx->kernel->n_pmus : 0;
	*next = (struct pmu_source){ .first_pmu = ctx->first_kernel_pmu, .n_pmus = ctx->n_pmus - ctx->first_kernel_pmu };
	ctx->n_sources = (unsigned)(next - ctx->sources) + 1;
	return index_kernel_names(ctx, next);
}

static int load_images(struct pfm_ctx *ctx)
{
	char path[2048];

	if (ctx->flags & PFM_CTX_NO_IMAGES)
		return PFMLIB_SUCCESS;
	if (!ctx->image_path && pfmi_image_get_default_path(path, sizeof(path)) >= sizeof(path))
		return PFMLIB_SUCCESS;
	return pfmi_image_open_path(ctx->image_path ? ctx->image_path : path, &ctx->images, NULL);
}

static int get_watch_error(const struct watched_sys *w)
{
	return !w->resource_error ? PFMLIB_SUCCESS : w->resource_error == -ENOMEM ? PFMLIB_ERR_NOMEM
	                                                                          : PFMLIB_ERR_SYS;
}

static int load_host_identity(struct pfm_ctx *ctx)
{
	struct watched_sys w;

	if (ctx->flags & PFM_CTX_NO_HOST)
		return PFMLIB_SUCCESS;
	pfmi_machine_init_watched_sys(&w, &ctx->sys);
	pfmi_machine_identify_host(&w.sys, ctx->assumed_cpuid, &ctx->host);
	return get_watch_error(&w);
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
	return get_watch_error(&w);
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
		rc = find_host_pmus(ctx);
	return rc ? rc : order_host_pmus(ctx);
}

static void unload_everything(struct pfm_ctx *ctx)
{
	pfmi_image_close_all(&ctx->images);
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

/* One lock for all contexts, so that fork() can wait until no thread loads: a child would find it taken for ever. */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_before_fork(void)
{
	pthread_mutex_lock(&load_lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&load_lock);
}

/* When the library is loaded: a fork() that has begun while the first context is born would not hear of handlers it brings. */
__attribute__((constructor)) static void install_fork_handlers(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

/* Logically a context never changes: what is loaded late was there from the start. Hence the one place that looks past const. */
static struct pfm_ctx *cast_context_writable(const struct pfm_ctx *ctx)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return u.out;
}

int pfmi_context_load(const struct pfm_ctx *constant, int what)
{
	struct pfm_ctx *ctx = cast_context_writable(constant);
	int rc = PFMLIB_SUCCESS, have = atomic_load_explicit(&ctx->loaded_parts, memory_order_acquire);

	if ((have & what) == what)
		return PFMLIB_SUCCESS;
	pthread_mutex_lock(&load_lock);
	have = atomic_load_explicit(&ctx->loaded_parts, memory_order_relaxed);
	if (what & (LOADED_HOST | LOADED_ALL) && !(have & LOADED_HOST)) {
		rc = load_host_identity(ctx);
		have |= rc ? 0 : LOADED_HOST;
	}
	if (!rc && what & LOADED_ALL && !(have & LOADED_ALL)) {
		rc = load_everything(ctx);
		if (rc)
			unload_everything(ctx);
		else
			have |= LOADED_ALL;
	}
	atomic_store_explicit(&ctx->loaded_parts, have, memory_order_release);
	pthread_mutex_unlock(&load_lock);
	return rc;
}

int pfmi_context_require_all(const struct pfm_ctx *ctx, pfm_error_t *why)
{
	int rc = pfmi_context_load(ctx, LOADED_ALL);

	return rc ? pfmi_base_set_error(why, rc, rc == PFMLIB_ERR_IMAGE ? PFM_KIND_IMAGE : PFM_KIND_SYSTEM, NULL, (struct slice){ 0 },
	                                rc == PFMLIB_ERR_SYS ? "what this machine has could not be read: no file can be opened any more"
	                                                     : "what this machine has could not be read")
	          : PFMLIB_SUCCESS;
}

int pfm_describe_refusal(const pfm_ctx_t *ctx, unsigned i, const char **path, const char **why)
{
	const struct image_set *im;
	int rc;

	if (!path || !why)
		return PFMLIB_ERR_INVAL;
	if (!ctx)
		ctx = pfmi_context_get_default();
	rc = pfmi_context_load(ctx, LOADED_ALL);
	if (rc)
		return rc;
	im = &ctx->images;
	if (i < im->n_rejected) {
		*path = im->rejected[i].path;
		*why = im->rejected[i].reason;
		return PFMLIB_SUCCESS;
	}
	i -= im->n_rejected;
	for (unsigned k = 0; k < im->n_maps; k++) {
		const char *fault = pfmi_image_check_fault(&im->maps[k]);

		if (fault && i-- == 0) {
			*path = im->maps[k].path;
			*why = fault;
			return PFMLIB_SUCCESS;
		}
	}
	return PFMLIB_ERR_NOTFOUND;
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

/* glibc has room for a few bytes of the quick kind also in libraries that are loaded late; other C libraries may not. */
#ifdef __GLIBC__
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define THREAD_LOCAL _Thread_local
#endif

static struct pfm_ctx default_context = { .n_refs = 1 };
/* In its place as long as there is no memory for what the environment says: it has no processor and no image that could be found. */
static struct pfm_ctx no_memory_context;

static char *copy_option(const char *given, const char *wish, bool *failed)
{
	const char *text = given ? given : wish;
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static void free_option_texts(struct pfm_ctx *ctx)
{
	free(ctx->assumed_cpuid);
	free(ctx->image_path);
	free(ctx->default_pmu);
	ctx->assumed_cpuid = ctx->image_path = ctx->default_pmu = NULL;
}

static void init_context(struct pfm_ctx *ctx, const pfm_ctx_options_t *o, bool *failed)
{
	struct env_options w;

	pfmi_machine_read_env_options(&w);
	ctx->flags = o ? o->flags : 0;
	ctx->trace = w.trace;
	ctx->builtin_source = make_image_source(table_builtin_image(), NULL, 0);
	ctx->default_pmu = copy_option(o ? o->pmu : NULL, w.pmu, failed);
	if (ctx->default_pmu)
		ctx->default_pmu_name = pfmi_base_make_slice(ctx->default_pmu);
	ctx->default_pmu_hash = pfmi_table_hash_name(ctx->default_pmu_name);
	ctx->image_path = copy_option(o ? o->images : NULL, w.events, failed);
	ctx->assumed_cpuid = copy_option(o ? o->cpuid : NULL, w.cpuid, failed);
	pfmi_machine_init_real_sys(&ctx->sys, o && o->sysfs_root ? o->sysfs_root : w.sysfs_root);
	atomic_store_explicit(&ctx->loaded_parts, LOADED_BUILTIN, memory_order_release);
}

static void init_no_memory_context(void)
{
	static char without[] = "(no memory for the environment).pmdb";

	free_option_texts(&default_context);
	default_context.loaded_parts = 0;
	if (context_is_loaded(&no_memory_context, LOADED_BUILTIN))
		return;
	atomic_init(&no_memory_context.n_refs, 1);
	no_memory_context.default_pmu = no_memory_context.image_path = without;
	no_memory_context.default_pmu_name = pfmi_base_make_slice(without);
	no_memory_context.default_pmu_hash = pfmi_table_hash_name(no_memory_context.default_pmu_name);
	no_memory_context.builtin_source = make_image_source(table_builtin_image(), NULL, 0);
	pfmi_machine_init_real_sys(&no_memory_context.sys, NULL);
	atomic_store_explicit(&no_memory_context.loaded_parts, LOADED_BUILTIN, memory_order_release);
}

/* Every thread takes the lock once and remembers that it did: cheap, and plain even to tools that do not know what an atomic flag
 * promises. */
const struct pfm_ctx *pfmi_context_get_default(void)
{
	static THREAD_LOCAL bool seen;
	bool failed = false;

	if (!seen) {
		pthread_mutex_lock(&load_lock);
		if (!context_is_loaded(&default_context, LOADED_BUILTIN))
			init_context(&default_context, NULL, &failed);
		if (failed)
			init_no_memory_context();
		pthread_mutex_unlock(&load_lock);
		seen = !failed;
	}
	return failed ? &no_memory_context : &default_context;
}

static bool has_default_pmu(const struct pfm_ctx *ctx)
{
	struct pmu_name_iter c = { 0 };
	unsigned n_stages;
	const struct pmu_source *stages = context_get_sources(ctx, &n_stages);
	uint32_t n;

	if (pfmi_context_next_named_pmu(ctx, ctx->default_pmu_name, ctx->default_pmu_hash, &c) >= 0)
		return true;
	for (unsigned i = 0; i < n_stages; i++)
		if (stages[i].image && pfmi_context_find_family_members(stages[i].image, ctx->default_pmu_name, ctx->default_pmu_hash, &n))
			return true;
	return false;
}

/* A processor or an image the caller named must be there: that is checked at once, everything else is loaded when needed. */
static int check_context_options(struct pfm_ctx *ctx, pfm_error_t *error)
{
	int rc = PFMLIB_SUCCESS;

	if (ctx->image_path && !(ctx->flags & PFM_CTX_NO_IMAGES)) {
		struct image_set probe = { 0 };

		rc = pfmi_image_open_path(ctx->image_path, &probe, error);
		pfmi_image_close_all(&probe);
		if (rc)
			return rc;
	}
	if (ctx->default_pmu && !has_default_pmu(ctx)) {
		rc = pfmi_context_require_all(ctx, error);
		if (!rc && !has_default_pmu(ctx))
			rc = pfmi_base_set_error(error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, ctx->default_pmu, ctx->default_pmu_name, NULL);
	}
	return rc;
}

static int create_context(struct pfm_ctx **out, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	pfm_ctx_options_t o;
	struct pfm_ctx *ctx;
	bool failed = false;
	int rc;

	if (!base_copy_struct_in(&o, sizeof(o), options))
		return pfmi_base_set_error(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "options.size is not set");
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return pfmi_base_set_error(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	atomic_init(&ctx->n_refs, 1);
	init_context(ctx, &o, &failed);
	rc = failed ? pfmi_base_set_error(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL)
	            : check_context_options(ctx, error);
	if (rc) {
		pfm_close_context(ctx);
		return rc;
	}
	*out = ctx;
	return PFMLIB_SUCCESS;
}

int pfm_open_context(pfm_ctx_t **out, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_begin_error(error, &mine);
	int rc;

	if (out)
		*out = NULL;
	rc = out ? create_context(out, options, why)
	         : pfmi_base_set_error(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "out is NULL");
	return base_finish_error(error, why, rc);
}

const struct pfm_ctx *pfmi_context_add_ref(const struct pfm_ctx *ctx)
{
	if (!ctx)
		return pfmi_context_get_default();
	atomic_fetch_add(&cast_context_writable(ctx)->n_refs, 1);
	return ctx;
}

void pfm_close_context(pfm_ctx_t *ctx)
{
	if (!ctx || ctx == &default_context || ctx == &no_memory_context || atomic_fetch_sub(&ctx->n_refs, 1) != 1)
		return;
	unload_everything(ctx);
	free_option_texts(ctx);
	free(ctx);
}
