/* SPDX-License-Identifier: MIT */
/* Contexts: which processors there are, and which of them a text means. All state of the library is here. */
#include "context/context.h"
#include "base/sizes.h"

#include <stdlib.h>
#include <string.h>

static unsigned flags_of(const struct table *t)
{
	unsigned flags = 0;

	if (t->flags & TABLE_UNCORE)
		flags |= PFM_PMU_UNCORE;
	else if (t->encoder != ENCODER_PERF && !(t->flags & TABLE_KERNEL))
		flags |= PFM_PMU_CORE;
	if (t->flags & TABLE_FALLBACK)
		flags |= PFM_PMU_FALLBACK;
	if (t->flags & (TABLE_VIEW | TABLE_TEST))
		flags |= PFM_PMU_HIDDEN;
	return flags;
}

bool pfmi_table_is_also(const struct table *t, struct slice s)
{
	const char *aka = table_text(t, t->aka);

	while (*aka) {
		const char *rest = pfmi_name_behind(aka, s);

		if (rest && (*rest == ' ' || *rest == '\0'))
			return true;
		aka += strcspn(aka, " ");
		aka += *aka == ' ';
	}
	return false;
}

bool pfmi_table_is(const struct table *t, struct slice s)
{
	return table_is_called(t, s) || pfmi_table_is_also(t, s);
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

struct image_map *pfmi_unit_map(const struct pfm_ctx *ctx, unsigned i)
{
	unsigned k = ctx->images.n;

	if (i < pfmi_n_builtin() || i >= ctx->first_kernel)
		return NULL;
	while (k-- > 0 && ctx->images.maps[k].first > i)
		;
	return &ctx->images.maps[k];
}

const struct table *pfmi_unit_far_table(const struct pfm_ctx *ctx, unsigned i)
{
	const struct image_map *map;

	if (i >= ctx->first_kernel)
		return ctx->kernel->pmus[i - ctx->first_kernel].table;
	map = pfmi_unit_map(ctx, i);
	return image_table(map->base, i - map->first);
}

/* Unit @i among those that this machine has, or NULL. */
static const struct host_unit *unit_here(const struct pfm_ctx *ctx, unsigned i)
{
	unsigned low = 0, high = pfmi_ctx_loaded(ctx, LOADED_ALL) ? ctx->n_here : 0;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (ctx->here[mid].unit == i)
			return &ctx->here[mid];
		if (ctx->here[mid].unit < i)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct kernel_pmu *pfmi_unit_loaded_kernel(const struct pfm_ctx *ctx, unsigned i)
{
	const struct host_unit *here = unit_here(ctx, i);

	if (here)
		return here->kernel;
	return i >= ctx->first_kernel ? &ctx->kernel->pmus[i - ctx->first_kernel] : NULL;
}

static unsigned kernels_flags(const struct kernel_pmu *k)
{
	return PFM_PMU_HOST | PFM_PMU_KERNEL | (k->is_core ? (unsigned)PFM_PMU_CORE : 0) | (k->is_uncore ? (unsigned)PFM_PMU_UNCORE : 0);
}

struct unit pfmi_unit(const struct pfm_ctx *ctx, unsigned i)
{
	const struct table *t = pfmi_unit_table(ctx, i);
	struct unit u = { .table = t, .origin = "built in", .flags = flags_of(t), .type = t->perf_type };
	const struct host_unit *here = unit_here(ctx, i);

	if (i >= pfmi_n_builtin()) {
		u.map = pfmi_unit_map(ctx, i);
		u.origin = u.map ? u.map->path : "kernel";
	}
	u.kernel = pfmi_unit_kernel(ctx, i);
	if (t->flags & TABLE_KERNEL)
		u.flags |= kernels_flags(u.kernel);
	if (here) {
		u.flags |= PFM_PMU_HOST | (here->kernel ? (unsigned)PFM_PMU_KERNEL : 0);
		u.core = here->core;
	}
	if (u.kernel)
		u.type = u.kernel->types[0];
	return u;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static struct stage stage_of(const struct image *im, struct image_map *map, unsigned first)
{
	return (struct stage){ im, map, first, im->n_tables, image_array(im, ARRAY_CALLS), im->arrays[ARRAY_CALLS].n };
}

int pfmi_ctx_next_other(const struct pfm_ctx *ctx, struct slice s, uint32_t h, struct called *c)
{
	unsigned n_stages;
	const struct stage *stages = pfmi_ctx_stages(ctx, &n_stages);

	if (c->pass == 0) {
		c->pass = 1;
		c->stage = c->other_stage;
		c->at = c->other_at;
	}
	for (; c->stage < n_stages; c->stage++) {
		const struct stage *st = &stages[c->stage];
		uint32_t at = c->at ? c->at - 1 : slot_of(h, st->n_calls), slot;

		while ((slot = st->calls[at]) > h << 16) {
			uint32_t i = (slot & CALL_NUMBER) - 1;

			at = at + 1 < st->n_calls ? at + 1 : 0;
			if (slot >> 16 != (uint16_t)h || !(slot & CALL_OTHER) || i >= st->n)
				continue;
			c->table = stage_table(ctx, st, i);
			if (pfmi_table_is_also(c->table, s)) {
				c->at = at + 1;
				c->map = st->map;
				return (int)(st->first + i);
			}
		}
		c->at = 0;
	}
	return -1;
}

int pfmi_ctx_next_called(const struct pfm_ctx *ctx, struct slice s, uint32_t h, struct called *c)
{
	return called_next(ctx, s, h, c);
}

const struct whole *pfmi_image_whole(const struct image *im, struct slice s, uint32_t h)
{
	const struct whole *wholes = image_array(im, ARRAY_WHOLES);
	const char *pool = image_array(im, ARRAY_POOL);
	uint32_t at = 0;
	int i;

	while ((i = image_next_called(im, h, &at)) >= 0) {
		const struct whole *w = wholes + ((unsigned)i - im->n_tables);

		if ((unsigned)i >= im->n_tables && pfmi_slice_is(s, pool + w->name))
			return w;
	}
	return NULL;
}

const uint16_t *pfmi_image_parts(const struct image *im, struct slice s, uint32_t h, uint32_t *n)
{
	const struct whole *w = pfmi_image_whole(im, s, h);

	*n = w ? w->n_parts : 0;
	return w ? whole_parts(im, w) : NULL;
}

/* ---- this machine --------------------------------------------------------------------------------------------- */

/* The kernel's PMU that counts what @t describes. */
static const struct kernel_pmu *device_of(const struct pfm_ctx *ctx, const struct table *t, unsigned core)
{
	const char *device = table_text(t, t->device);

	if (!ctx->kernel)
		return NULL;
	if (!(t->flags & TABLE_UNCORE) && ctx->host.n_types > core && ctx->host.types[core].device[0])
		device = ctx->host.types[core].device;
	if (!*device)
		return NULL;
	return pfmi_kernel_find(ctx->kernel, (struct slice){ device, (uint32_t)strlen(device) });
}

/* The core PMU of a kernel that names it after the processor (arm64): the only one there is. */
static const struct kernel_pmu *only_core(const struct pfm_ctx *ctx)
{
	const struct kernel_pmu *found = NULL;

	for (unsigned i = 0; ctx->kernel && i < ctx->kernel->n; i++)
		if (ctx->kernel->pmus[i].is_core) {
			if (found)
				return NULL;
			found = &ctx->kernel->pmus[i];
		}
	return found;
}

/* A list of what this machine has, while it grows. */
struct found_here {
	struct pfm_ctx *ctx;
	struct image_map *map; /* where the tables at hand are; NULL: built in */
	unsigned first, room;
	bool failed;
};

/* Puts unit @u into the list, which is in order. */
static void add_here(struct found_here *f, struct host_unit u)
{
	struct pfm_ctx *ctx = f->ctx;
	unsigned at = ctx->n_here;

	if (ctx->n_here == f->room) {
		struct host_unit *more = realloc(ctx->here, (2 * f->room + 32) * sizeof(*more));

		if (!more) {
			f->failed = true;
			return;
		}
		ctx->here = more;
		f->room = 2 * f->room + 32;
	}
	while (at > 0 && ctx->here[at - 1].unit > u.unit)
		at--;
	if (at > 0 && ctx->here[at - 1].unit == u.unit)
		return;
	memmove(ctx->here + at + 1, ctx->here + at, (ctx->n_here - at) * sizeof(u));
	ctx->here[at] = u;
	ctx->n_here++;
}

/* A table that says it is for this machine. */
static void meet_host(void *arg, uint32_t table, unsigned core)
{
	struct found_here *f = arg;
	struct pfm_ctx *ctx = f->ctx;
	const struct table *t = image_table(f->map ? f->map->base : pfmi_builtins(), table);
	struct host_unit u = { f->first + table, core, NULL };

	if (t->flags & (TABLE_VIEW | TABLE_TEST))
		return;
	if (t->encoder != ENCODER_PERF) {
		u.kernel = device_of(ctx, t, core);
		if (!u.kernel && !(t->flags & TABLE_UNCORE))
			u.kernel = only_core(ctx);
		if (t->flags & TABLE_UNCORE && !u.kernel && ctx->kernel && ctx->kernel->n)
			return; /* the list knows the box, this machine does not have it */
	}
	add_here(f, u);
}

/* Units that come with any processor are known by what the kernel reads from the unit itself. */
static void meet_device(void *arg, uint32_t table, unsigned core)
{
	struct found_here *f = arg;
	const struct table *t = image_table(f->map ? f->map->base : pfmi_builtins(), table);
	const struct kernel_pmu *device = device_of(f->ctx, t, core);

	if (device && pfmi_map_ready(f->map) && pfmi_kernel_identifies(device, t))
		add_here(f, (struct host_unit){ f->first + table, core, device });
}

static void find_in_image(struct found_here *f, struct image_map *map, unsigned first)
{
	const struct image *im = map ? map->base : pfmi_builtins();

	f->map = map;
	f->first = first;
	pfmi_image_hosts(im, &f->ctx->host, 0, meet_host, f);
	for (unsigned i = 0; f->ctx->kernel && i < f->ctx->kernel->n; i++)
		pfmi_image_devices(im, f->ctx->kernel->pmus[i].name, meet_device, f);
}

/* Leaves out the tables that another core's makes needless. */
static void drop_fallbacks(struct pfm_ctx *ctx)
{
	const struct table *best = NULL;
	unsigned kept = 0;

	for (unsigned i = 0; i < ctx->n_here; i++) {
		const struct table *t = pfmi_unit_table(ctx, ctx->here[i].unit);

		if (flags_of(t) & PFM_PMU_CORE && (!best || pfmi_host_prefers(t, best)))
			best = t;
	}
	for (unsigned i = 0; i < ctx->n_here; i++)
		if (!best || !pfmi_host_prefers(best, pfmi_unit_table(ctx, ctx->here[i].unit)))
			ctx->here[kept++] = ctx->here[i];
	ctx->n_here = kept;
}

/* Finds the units this machine has, and ties them to the kernel's PMUs. */
static int find_host_units(struct pfm_ctx *ctx)
{
	struct found_here f = { .ctx = ctx };

	find_in_image(&f, NULL, 0);
	for (unsigned i = 0; i < ctx->images.n; i++)
		find_in_image(&f, &ctx->images.maps[i], ctx->images.maps[i].first);
	drop_fallbacks(ctx);
	return f.failed ? PFMLIB_ERR_NOMEM : PFMLIB_SUCCESS;
}

/* What the kernel shows comes first, then images, then what is built in. */
static int order_host_units(struct pfm_ctx *ctx)
{
	unsigned n_kernel = ctx->n_units - ctx->first_kernel, n = 0;

	ctx->host_order = malloc((ctx->n_here + n_kernel + 1) * sizeof(*ctx->host_order));
	if (!ctx->host_order)
		return PFMLIB_ERR_NOMEM;
	for (unsigned i = 0; i < n_kernel; i++)
		ctx->host_order[n++] = ctx->first_kernel + i;
	for (unsigned i = 0; i < ctx->n_here; i++)
		if (ctx->here[i].unit >= pfmi_n_builtin())
			ctx->host_order[n++] = ctx->here[i].unit;
	for (unsigned i = 0; i < ctx->n_here; i++)
		if (ctx->here[i].unit < pfmi_n_builtin())
			ctx->host_order[n++] = ctx->here[i].unit;
	ctx->n_host_order = n;
	return PFMLIB_SUCCESS;
}

static unsigned count_words(const char *s)
{
	unsigned n = *s != '\0';

	for (; *s; s++)
		n += *s == ' ';
	return n;
}

/* The stage of the kernel's PMUs. They are few, and their names known only now. */
static int index_kernels(struct pfm_ctx *ctx, struct stage *st)
{
	unsigned n = 0;

	for (unsigned i = 0; i < st->n; i++)
		n += 1 + count_words(table_text(ctx->kernel->pmus[i].table, ctx->kernel->pmus[i].table->aka));
	st->n_calls = 4 * n + 1;
	ctx->kernel_calls = calloc(st->n_calls, sizeof(*ctx->kernel_calls));
	st->calls = ctx->kernel_calls;
	if (!ctx->kernel_calls)
		return PFMLIB_ERR_NOMEM;
	for (unsigned i = 0; i < st->n; i++) {
		const struct table *t = ctx->kernel->pmus[i].table;
		const char *aka = table_text(t, t->aka);

		pfmi_enter_name(ctx->kernel_calls, st->n_calls, pfmi_name_hash(pfmi_slice(table_text(t, t->name))), i + 1);
		for (size_t len; *aka; aka += len + (aka[len] == ' ')) {
			len = strcspn(aka, " ");
			pfmi_enter_name(ctx->kernel_calls, st->n_calls, pfmi_name_hash((struct slice){ aka, (uint32_t)len }),
			                (i + 1) | CALL_OTHER);
		}
	}
	return PFMLIB_SUCCESS;
}

/* ---- loading -------------------------------------------------------------------------------------------------- */

/* Units of images and of the kernel get their numbers; what is built in has them. */
static int number_units(struct pfm_ctx *ctx)
{
	struct stage *next = calloc(ctx->images.n + 2, sizeof(*next));

	if (!next)
		return PFMLIB_ERR_NOMEM;
	ctx->stages = next;
	if (!ctx->image_path)
		*next++ = ctx->builtin;
	ctx->n_units = pfmi_n_builtin();
	for (unsigned i = 0; i < ctx->images.n; i++) {
		struct image_map *map = &ctx->images.maps[i];

		map->first = ctx->n_units;
		ctx->n_units += map->base->n_tables;
		*next++ = stage_of(map->base, map, map->first);
	}
	if (ctx->image_path)
		*next++ = ctx->builtin;
	ctx->first_kernel = ctx->n_units;
	ctx->n_units += ctx->kernel ? ctx->kernel->n : 0;
	*next = (struct stage){ .first = ctx->first_kernel, .n = ctx->n_units - ctx->first_kernel };
	ctx->n_stages = (unsigned)(next - ctx->stages) + 1;
	return index_kernels(ctx, next);
}

static int load_images(struct pfm_ctx *ctx)
{
	char path[2048];

	if (ctx->flags & PFM_CTX_NO_IMAGES)
		return PFMLIB_SUCCESS;
	if (!ctx->image_path && pfmi_images_default_path(path, sizeof(path)) >= sizeof(path))
		return PFMLIB_SUCCESS;
	return pfmi_images_open(ctx->image_path ? ctx->image_path : path, &ctx->images, NULL);
}

static int code_of_want(const struct watched *w)
{
	return !w->want ? PFMLIB_SUCCESS : w->want == -ENOMEM ? PFMLIB_ERR_NOMEM
	                                                      : PFMLIB_ERR_SYS;
}

static int load_host(struct pfm_ctx *ctx)
{
	struct watched w;

	if (ctx->flags & PFM_CTX_NO_HOST)
		return PFMLIB_SUCCESS;
	pfmi_sys_watch(&w, &ctx->sys);
	pfmi_host_identify(&w.sys, ctx->cpuid, &ctx->host);
	return code_of_want(&w);
}

static int load_machine(struct pfm_ctx *ctx)
{
	struct watched w;

	pfmi_sys_watch(&w, &ctx->sys);
	pfmi_host_cores(&w.sys, ctx->cpuid, &ctx->host);
	ctx->kernel = pfmi_kernel_read(&w.sys);
	if (!ctx->kernel)
		return PFMLIB_ERR_NOMEM;
	if (!ctx->cpuid)
		pfmi_host_detail(&w.sys, &ctx->host);
	return code_of_want(&w);
}

static int load_all(struct pfm_ctx *ctx)
{
	bool host = !(ctx->flags & PFM_CTX_NO_HOST);
	int rc = load_images(ctx);

	if (!rc && host)
		rc = load_machine(ctx);
	if (!rc)
		rc = number_units(ctx);
	if (!rc && host)
		rc = find_host_units(ctx);
	return rc ? rc : order_host_units(ctx);
}

static void unload_all(struct pfm_ctx *ctx)
{
	pfmi_images_close(&ctx->images);
	pfmi_kernel_free(ctx->kernel);
	free(ctx->here);
	free(ctx->kernel_calls);
	free(ctx->host_order);
	free(ctx->stages);
	ctx->stages = NULL;
	ctx->kernel = NULL;
	ctx->here = NULL;
	ctx->kernel_calls = NULL;
	ctx->host_order = NULL;
	ctx->n_units = ctx->n_here = ctx->n_host_order = ctx->n_stages = 0;
}

/* One lock for all contexts, so that fork() can wait until no thread loads: a child would find it taken for ever. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
	pthread_mutex_lock(&loading);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&loading);
}

/* When the library is loaded: a fork() that has begun while the first context is born would not hear of handlers it brings. */
__attribute__((constructor)) static void mind_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* Logically a context never changes: what is loaded late was there from the start. Hence the one place that looks past const. */
static struct pfm_ctx *writable(const struct pfm_ctx *ctx)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return u.out;
}

int pfmi_ctx_load(const struct pfm_ctx *constant, int what)
{
	struct pfm_ctx *ctx = writable(constant);
	int rc = PFMLIB_SUCCESS, have = atomic_load_explicit(&ctx->loaded, memory_order_acquire);

	if ((have & what) == what)
		return PFMLIB_SUCCESS;
	pthread_mutex_lock(&loading);
	have = atomic_load_explicit(&ctx->loaded, memory_order_relaxed);
	if (what & (LOADED_HOST | LOADED_ALL) && !(have & LOADED_HOST)) {
		rc = load_host(ctx);
		have |= rc ? 0 : LOADED_HOST;
	}
	if (!rc && what & LOADED_ALL && !(have & LOADED_ALL)) {
		rc = load_all(ctx);
		if (rc)
			unload_all(ctx);
		else
			have |= LOADED_ALL;
	}
	atomic_store_explicit(&ctx->loaded, have, memory_order_release);
	pthread_mutex_unlock(&loading);
	return rc;
}

int pfmi_ctx_need(const struct pfm_ctx *ctx, pfm_error_t *why)
{
	int rc = pfmi_ctx_load(ctx, LOADED_ALL);

	return rc ? pfmi_refuse(why, rc, rc == PFMLIB_ERR_IMAGE ? PFM_KIND_IMAGE : PFM_KIND_SYSTEM, NULL, (struct slice){ 0 },
	                        rc == PFMLIB_ERR_SYS ? "what this machine has could not be read: no file can be opened any more"
	                                             : "what this machine has could not be read")
	          : PFMLIB_SUCCESS;
}

int pfm_describe_refusal(const pfm_ctx_t *ctx, unsigned i, const char **path, const char **why)
{
	const struct images *im;
	int rc;

	if (!path || !why)
		return PFMLIB_ERR_INVAL;
	if (!ctx)
		ctx = pfmi_ctx_default();
	rc = pfmi_ctx_load(ctx, LOADED_ALL);
	if (rc)
		return rc;
	im = &ctx->images;
	if (i < im->n_refused) {
		*path = im->refused[i].path;
		*why = im->refused[i].why;
		return PFMLIB_SUCCESS;
	}
	i -= im->n_refused;
	for (unsigned k = 0; k < im->n; k++) {
		const char *fault = pfmi_image_fault(&im->maps[k]);

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

static struct pfm_ctx default_ctx = { .refs = 1 };
/* In its place as long as there is no memory for what the environment says: it has no processor and no image that could be found. */
static struct pfm_ctx starved_ctx;

static char *copy_text(const char *given, const char *wish, bool *failed)
{
	const char *text = given ? given : wish;
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static void free_texts(struct pfm_ctx *ctx)
{
	free(ctx->cpuid);
	free(ctx->image_path);
	free(ctx->wanted);
	ctx->cpuid = ctx->image_path = ctx->wanted = NULL;
}

static void set_up(struct pfm_ctx *ctx, const pfm_ctx_options_t *o, bool *failed)
{
	struct wishes w;

	pfmi_wishes_read(&w);
	ctx->flags = o ? o->flags : 0;
	ctx->builtin = stage_of(pfmi_builtins(), NULL, 0);
	ctx->wanted = copy_text(o ? o->pmu : NULL, w.pmu, failed);
	if (ctx->wanted)
		ctx->wanted_name = pfmi_slice(ctx->wanted);
	ctx->wanted_hash = pfmi_name_hash(ctx->wanted_name);
	ctx->image_path = copy_text(o ? o->images : NULL, w.events, failed);
	ctx->cpuid = copy_text(o ? o->cpuid : NULL, w.cpuid, failed);
	pfmi_sys_real(&ctx->sys, o && o->sysfs_root ? o->sysfs_root : w.sysfs);
	atomic_store_explicit(&ctx->loaded, LOADED_BUILTIN, memory_order_release);
}

static void set_up_starved(void)
{
	static char without[] = "(no memory for the environment).pmdb";

	free_texts(&default_ctx);
	default_ctx.loaded = 0;
	if (pfmi_ctx_loaded(&starved_ctx, LOADED_BUILTIN))
		return;
	atomic_init(&starved_ctx.refs, 1);
	starved_ctx.wanted = starved_ctx.image_path = without;
	starved_ctx.wanted_name = pfmi_slice(without);
	starved_ctx.wanted_hash = pfmi_name_hash(starved_ctx.wanted_name);
	starved_ctx.builtin = stage_of(pfmi_builtins(), NULL, 0);
	pfmi_sys_real(&starved_ctx.sys, NULL);
	atomic_store_explicit(&starved_ctx.loaded, LOADED_BUILTIN, memory_order_release);
}

/* Every thread takes the lock once and remembers that it did: cheap, and plain even to tools that do not know what an atomic flag
 * promises. */
const struct pfm_ctx *pfmi_ctx_default(void)
{
	static THREAD_LOCAL bool seen;
	bool failed = false;

	if (!seen) {
		pthread_mutex_lock(&loading);
		if (!pfmi_ctx_loaded(&default_ctx, LOADED_BUILTIN))
			set_up(&default_ctx, NULL, &failed);
		if (failed)
			set_up_starved();
		pthread_mutex_unlock(&loading);
		seen = !failed;
	}
	return failed ? &starved_ctx : &default_ctx;
}

static bool find_wanted(const struct pfm_ctx *ctx)
{
	struct called c = { 0 };
	unsigned n_stages;
	const struct stage *stages = pfmi_ctx_stages(ctx, &n_stages);
	uint32_t n;

	if (pfmi_ctx_next_called(ctx, ctx->wanted_name, ctx->wanted_hash, &c) >= 0)
		return true;
	for (unsigned i = 0; i < n_stages; i++)
		if (stages[i].image && pfmi_image_parts(stages[i].image, ctx->wanted_name, ctx->wanted_hash, &n))
			return true;
	return false;
}

/* A processor or an image the caller named must be there: that is checked at once, everything else is loaded when needed. */
static int check_wishes(struct pfm_ctx *ctx, pfm_error_t *error)
{
	int rc = PFMLIB_SUCCESS;

	if (ctx->image_path && !(ctx->flags & PFM_CTX_NO_IMAGES)) {
		struct images probe = { 0 };

		rc = pfmi_images_open(ctx->image_path, &probe, error);
		pfmi_images_close(&probe);
		if (rc)
			return rc;
	}
	if (ctx->wanted && !find_wanted(ctx)) {
		rc = pfmi_ctx_need(ctx, error);
		if (!rc && !find_wanted(ctx))
			rc = pfmi_refuse(error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, ctx->wanted, ctx->wanted_name, NULL);
	}
	return rc;
}

static int open_context(struct pfm_ctx **out, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	pfm_ctx_options_t o;
	struct pfm_ctx *ctx;
	bool failed = false;
	int rc;

	if (!pfmi_take(&o, sizeof(o), options))
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "options.size is not set");
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	atomic_init(&ctx->refs, 1);
	set_up(ctx, &o, &failed);
	rc = failed ? pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL)
	            : check_wishes(ctx, error);
	if (rc) {
		pfm_close_context(ctx);
		return rc;
	}
	*out = ctx;
	return PFMLIB_SUCCESS;
}

int pfm_open_context(pfm_ctx_t **out, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	pfm_error_t mine, *why = pfmi_error_begin(error, &mine);
	int rc;

	if (out)
		*out = NULL;
	rc = out ? open_context(out, options, why)
	         : pfmi_refuse(why, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "out is NULL");
	return pfmi_error_end(error, why, rc);
}

const struct pfm_ctx *pfmi_ctx_hold(const struct pfm_ctx *ctx)
{
	if (!ctx)
		return pfmi_ctx_default();
	atomic_fetch_add(&writable(ctx)->refs, 1);
	return ctx;
}

void pfm_close_context(pfm_ctx_t *ctx)
{
	if (!ctx || ctx == &default_ctx || ctx == &starved_ctx || atomic_fetch_sub(&ctx->refs, 1) != 1)
		return;
	unload_all(ctx);
	free_texts(ctx);
	free(ctx);
}
