/* SPDX-License-Identifier: MIT */
/* Contexts: which processors there are, and which of them a text means. All state of the library is here. */
#include "ctx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- loading -------------------------------------------------------------------------------------------------- */

const char *pfmi_env(const char *name)
{
	const char *value = getenv(name);

	return value && *value && !getauxval(AT_SECURE) ? value : NULL;
}

/* What follows @start in @s; NULL if @s does not start so. No call into the C library: the first one of a process is dear. */
static const char *behind(const char *s, const char *start)
{
	while (*start && *s == *start) {
		s++;
		start++;
	}
	return *start ? NULL : s;
}

static void take(const char *variable, const char *name, const char **to)
{
	const char *value = *to ? NULL : behind(variable, name);

	if (value && *value)
		*to = value;
}

/* Like getenv(), but once for all: it would be half of what a program that only initialises waits for. */
void pfmi_wishes_read(struct wishes *out)
{
	*out = (struct wishes){ 0 };
	for (char **e = environ; e && *e; e++) {
		const char *ours = **e == 'P' ? behind(*e, "PERFMON_") : NULL;

		if (ours) {
			take(ours, "PMU=", &out->pmu);
			take(ours, "EVENTS=", &out->events);
			take(ours, "CPUID=", &out->cpuid);
			take(ours, "SYSFS=", &out->sysfs);
		} else if (**e == 'L') {
			take(*e, "LIBPFM_FORCE_PMU=", &out->force_pmu);
		}
	}
	if ((out->pmu || out->events || out->cpuid || out->sysfs || out->force_pmu) && getauxval(AT_SECURE))
		*out = (struct wishes){ 0 };
}

const struct pmu_ops *pfmi_find_ops(enum encoder encoder)
{
	/* Not a table: its pointers would be relocated in every process. */
	switch (encoder) {
	case ENCODER_FORMAT: return &pfmi_ops_format;
	case ENCODER_X86: return &pfmi_ops_x86;
	case ENCODER_MONTECITO: return &pfmi_ops_montecito;
	case ENCODER_EV4: return &pfmi_ops_ev4;
	case ENCODER_EV5: return &pfmi_ops_ev5;
	case ENCODER_EV6: return &pfmi_ops_ev6;
	case ENCODER_EV67: return &pfmi_ops_ev67;
	case ENCODER_PERF: return &pfmi_ops_perf;
	case ENCODER_NONE:
	case N_ENCODERS: break;
	}
	return NULL;
}

static struct unit describe_table(const struct table *t, const char *origin)
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
	return (struct unit){ .table = t, .origin = origin, .flags = flags, .type = t->perf_type };
}

static void load_builtin(struct pfm_ctx *ctx)
{
	ctx->n_builtin = pfmi_n_builtin < MAX_BUILTIN ? pfmi_n_builtin : MAX_BUILTIN;
	for (unsigned i = 0; i < ctx->n_builtin; i++)
		ctx->builtin[i] = describe_table(pfmi_builtin(i), "built in");
}

bool pfmi_unit_is(const struct unit *u, struct slice s)
{
	const char *aka = table_text(u->table, u->table->aka);

	if (pfmi_slice_is(s, table_text(u->table, u->table->name)))
		return true;
	while (*aka) {
		const char *rest = pfmi_behind(s, aka);

		if (rest && (*rest == ' ' || *rest == '\0'))
			return true;
		aka += strcspn(aka, " ");
		aka += *aka == ' ';
	}
	return false;
}

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

static bool perf_generic(const struct unit *u)
{
	return u->table->encoder == ENCODER_PERF;
}

/* Units that come with any processor are known by what the kernel reads from the unit itself. */
static void find_by_identifier(const struct pfm_ctx *ctx, struct unit *u)
{
	const struct kernel_pmu *device = device_of(ctx, u->table, 0);

	if (!device || !pfmi_unit_ready(u) || !pfmi_kernel_identifies(device, u->table))
		return;
	u->kernel = device;
	u->flags |= PFM_PMU_HOST;
}

/* Marks the units this machine has and ties them to the kernel's PMUs. A fallback serves only if nothing better does. */
static void find_host_units(struct pfm_ctx *ctx)
{
	bool specific = false;

	for (unsigned i = 0; i < ctx->n_units; i++) {
		struct unit *u = &ctx->units[i];

		if (u->table->flags & (TABLE_VIEW | TABLE_TEST))
			continue;
		if (perf_generic(u)) {
			u->flags |= PFM_PMU_HOST;
		} else if (u->table->flags & TABLE_KERNEL) {
			u->flags |= PFM_PMU_HOST | PFM_PMU_KERNEL;
		} else if (ctx->host.known && pfmi_host_matches(&ctx->host, u->table, &u->core)) {
			u->kernel = device_of(ctx, u->table, u->core);
			if (!u->kernel && u->flags & PFM_PMU_CORE)
				u->kernel = only_core(ctx);
			if (u->flags & PFM_PMU_UNCORE && !u->kernel && ctx->kernel && ctx->kernel->n)
				continue; /* the list knows the box, this machine does not have it */
			u->flags |= PFM_PMU_HOST;
			specific |= u->flags & PFM_PMU_CORE && !(u->flags & PFM_PMU_FALLBACK);
		} else if (u->flags & PFM_PMU_UNCORE && u->table->n_matches == 0) {
			find_by_identifier(ctx, u);
		}
		if (u->kernel) {
			u->flags |= PFM_PMU_KERNEL;
			u->type = u->kernel->types[0];
		}
	}
	for (unsigned i = 0; specific && i < ctx->n_units; i++)
		if (ctx->units[i].flags & PFM_PMU_FALLBACK)
			ctx->units[i].flags &= ~(unsigned)PFM_PMU_HOST;
}

/* What the kernel shows comes first, then images, then what is built in. */
static unsigned precedence(const struct pfm_ctx *ctx, unsigned unit)
{
	if (ctx->units[unit].table->flags & TABLE_KERNEL)
		return 0;
	return unit >= ctx->n_builtin ? 1 : 2;
}

static int order_host_units(struct pfm_ctx *ctx)
{
	ctx->host_order = malloc((ctx->n_units + 1) * sizeof(*ctx->host_order));
	if (!ctx->host_order)
		return PFMLIB_ERR_NOMEM;
	for (unsigned rank = 0; rank < 3; rank++)
		for (unsigned i = 0; i < ctx->n_units; i++)
			if (ctx->units[i].flags & PFM_PMU_HOST && precedence(ctx, i) == rank)
				ctx->host_order[ctx->n_host_order++] = i;
	return PFMLIB_SUCCESS;
}

static unsigned count_names(const struct unit *u)
{
	const char *aka = table_text(u->table, u->table->aka);
	unsigned n = 1 + (*aka != '\0');

	for (; *aka; aka++)
		n += *aka == ' ';
	return n;
}

static void add_name(struct pfm_ctx *ctx, unsigned unit, struct slice name)
{
	uint32_t h = pfmi_name_hash(name), i = h & (ctx->n_slots - 1);

	while (ctx->slots[i].name)
		i = (i + 1) & (ctx->n_slots - 1);
	ctx->slots[i] = (struct slot){ .hash = h, .name = unit + 1 };
}

static void add_other_names(struct pfm_ctx *ctx, unsigned unit)
{
	const struct table *t = ctx->units[unit].table;
	const char *aka = table_text(t, t->aka);

	while (*aka) {
		size_t n = strcspn(aka, " ");

		add_name(ctx, unit, (struct slice){ aka, (uint32_t)n });
		aka += n + (aka[n] == ' ');
	}
}

static void add_part(struct unit *whole, unsigned part)
{
	if (!whole->end_parts || part < whole->first_part)
		whole->first_part = (uint16_t)(part < PARTS_OPEN ? part : PARTS_OPEN);
	if (part >= whole->end_parts)
		whole->end_parts = (uint16_t)(part + 1 < PARTS_OPEN ? part + 1 : PARTS_OPEN);
}

/* Tells the units that @unit's name begins with, up to an underscore, that they have parts. */
static void tell_whole(struct pfm_ctx *ctx, unsigned unit)
{
	const char *name = table_text(ctx->units[unit].table, ctx->units[unit].table->name);

	for (const char *p = strchr(name, '_'); p; p = strchr(p + 1, '_')) {
		struct slice whole = { name, (uint32_t)(p - name) };
		uint32_t h = pfmi_name_hash(whole);

		for (uint32_t i = h & (ctx->n_slots - 1); ctx->slots[i].name; i = (i + 1) & (ctx->n_slots - 1))
			if (ctx->slots[i].hash == h && pfmi_unit_is(&ctx->units[ctx->slots[i].name - 1], whole)) {
				add_part(&ctx->units[ctx->slots[i].name - 1], unit);
				ctx->units[unit].whole = h;
			}
	}
}

/* What a prefix means first: images the caller chose, what is built in, images found, what the kernel shows. */
static unsigned rank(const struct pfm_ctx *ctx, unsigned unit)
{
	if (ctx->units[unit].map)
		return ctx->image_path ? 0 : 2;
	return unit < ctx->n_builtin ? 1 : 3;
}

/* Probing meets names in the order they were put in. A processor's own name comes before another one's other name. */
static int index_units(struct pfm_ctx *ctx)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ctx->n_units; i++)
		n += count_names(&ctx->units[i]);
	for (ctx->n_slots = 16; ctx->n_slots < 4 * n; ctx->n_slots *= 2)
		;
	ctx->slots = calloc(ctx->n_slots, sizeof(*ctx->slots));
	if (!ctx->slots)
		return PFMLIB_ERR_NOMEM;
	for (unsigned pass = 0; pass < 8; pass++)
		for (unsigned i = 0; i < ctx->n_units; i++) {
			if (rank(ctx, i) != pass % 4)
				continue;
			if (pass < 4)
				add_name(ctx, i, pfmi_slice(table_text(ctx->units[i].table, ctx->units[i].table->name)));
			else
				add_other_names(ctx, i);
		}
	for (unsigned i = 0; i < ctx->n_units; i++)
		tell_whole(ctx, i);
	return PFMLIB_SUCCESS;
}

static unsigned count_tables(const struct pfm_ctx *ctx)
{
	unsigned n = ctx->n_builtin + (ctx->kernel ? ctx->kernel->n : 0);

	for (unsigned i = 0; i < ctx->images.n; i++)
		n += ctx->images.maps[i].base->n_tables;
	return n;
}

static void add_image_tables(struct pfm_ctx *ctx)
{
	for (unsigned i = 0; i < ctx->images.n; i++) {
		struct image_map *m = &ctx->images.maps[i];
		const char *base = (const char *)m->base;
		const uint64_t *offsets = (const uint64_t *)(const void *)(base + m->base->offsets);

		for (uint32_t k = 0; k < m->base->n_tables; k++) {
			struct unit u = describe_table((const struct table *)(const void *)(base + offsets[k]), m->path);

			u.map = m;
			ctx->units[ctx->n_units++] = u;
		}
	}
}

static void add_kernel_tables(struct pfm_ctx *ctx)
{
	for (unsigned i = 0; ctx->kernel && i < ctx->kernel->n; i++) {
		const struct kernel_pmu *k = &ctx->kernel->pmus[i];
		struct unit u = describe_table(k->table, "kernel");

		u.kernel = k;
		u.type = k->types[0];
		u.flags |= PFM_PMU_KERNEL | (k->is_core ? (unsigned)PFM_PMU_CORE : 0) | (k->is_uncore ? (unsigned)PFM_PMU_UNCORE : 0);
		ctx->units[ctx->n_units++] = u;
	}
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

static void load_host(struct pfm_ctx *ctx)
{
	unsigned core;

	if (ctx->flags & PFM_CTX_NO_HOST)
		return;
	pfmi_host_identify(&ctx->sys, ctx->cpuid, &ctx->host);
	for (unsigned i = 0; i < ctx->n_builtin; i++)
		if (ctx->builtin[i].table->field_of_key[KEY_ARCH_BIT] &&
		    pfmi_host_matches(&ctx->host, ctx->builtin[i].table, &core))
			ctx->may_lack |= (uint32_t)1 << i;
}

static int load_all(struct pfm_ctx *ctx)
{
	int rc = load_images(ctx);

	if (!(ctx->flags & PFM_CTX_NO_HOST)) {
		pfmi_host_cores(&ctx->sys, ctx->cpuid, &ctx->host);
		ctx->kernel = pfmi_kernel_read(&ctx->sys);
		if (!ctx->kernel)
			return PFMLIB_ERR_NOMEM;
	}
	if (!(ctx->flags & PFM_CTX_NO_HOST) && !ctx->cpuid)
		pfmi_host_detail(&ctx->sys, &ctx->host);
	ctx->units = malloc((count_tables(ctx) + 1) * sizeof(*ctx->units));
	if (!ctx->units)
		return PFMLIB_ERR_NOMEM;
	memcpy(ctx->units, ctx->builtin, ctx->n_builtin * sizeof(ctx->units[0]));
	ctx->n_units = ctx->n_builtin;
	add_image_tables(ctx);
	add_kernel_tables(ctx);
	if (!(ctx->flags & PFM_CTX_NO_HOST))
		find_host_units(ctx);
	if (!rc)
		rc = index_units(ctx);
	return rc ? rc : order_host_units(ctx);
}

static void unload_all(struct pfm_ctx *ctx)
{
	pfmi_images_close(&ctx->images);
	pfmi_kernel_free(ctx->kernel);
	free(ctx->units);
	free(ctx->slots);
	free(ctx->host_order);
	ctx->kernel = NULL;
	ctx->units = NULL;
	ctx->slots = NULL;
	ctx->host_order = NULL;
	ctx->n_units = ctx->n_host_order = 0;
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
	pthread_mutex_lock(&ctx->lock);
	have = atomic_load_explicit(&ctx->loaded, memory_order_relaxed);
	if (what & (LOADED_HOST | LOADED_ALL) && !(have & LOADED_HOST)) {
		load_host(ctx);
		have |= LOADED_HOST;
	}
	if (what & LOADED_ALL && !(have & LOADED_ALL)) {
		rc = load_all(ctx);
		if (rc)
			unload_all(ctx);
		else
			have |= LOADED_ALL;
	}
	atomic_store_explicit(&ctx->loaded, have, memory_order_release);
	pthread_mutex_unlock(&ctx->lock);
	return rc;
}

int pfmi_ctx_need(const struct pfm_ctx *ctx, pfm_error_t *why)
{
	int rc = pfmi_ctx_load(ctx, LOADED_ALL);

	return rc ? pfmi_refuse(why, rc, rc == PFMLIB_ERR_IMAGE ? PFM_KIND_IMAGE : PFM_KIND_SYSTEM, NULL, (struct slice){ 0 },
	                        "what this machine has could not be read")
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

static struct pfm_ctx default_ctx = { .refs = 1, .lock = PTHREAD_MUTEX_INITIALIZER };

static char *copy_text(const char *given, const char *wish, bool *failed)
{
	const char *text = given ? given : wish;
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

static void set_up(struct pfm_ctx *ctx, const pfm_ctx_options_t *o, bool *failed)
{
	struct wishes w;

	pfmi_wishes_read(&w);
	ctx->flags = o ? o->flags : 0;
	ctx->wanted = copy_text(o ? o->pmu : NULL, w.pmu, failed);
	if (ctx->wanted)
		ctx->wanted_name = pfmi_slice(ctx->wanted);
	ctx->wanted_hash = pfmi_name_hash(ctx->wanted_name);
	ctx->image_path = copy_text(o ? o->images : NULL, w.events, failed);
	ctx->cpuid = copy_text(o ? o->cpuid : NULL, w.cpuid, failed);
	pfmi_sys_real(&ctx->sys, o && o->sysfs_root ? o->sysfs_root : w.sysfs);
	load_builtin(ctx);
	atomic_store_explicit(&ctx->loaded, LOADED_BUILTIN, memory_order_release);
}

/* Every thread takes the lock once and remembers that it did: cheap, and plain even to tools that do not know what an atomic flag
 * promises. A lock of its own, so that nobody waits while another thread loads. */
RARELY const struct pfm_ctx *pfmi_ctx_default(void)
{
	static pthread_mutex_t first_use = PTHREAD_MUTEX_INITIALIZER;
	static THREAD_LOCAL bool seen;
	bool failed = false;

	if (!seen) {
		pthread_mutex_lock(&first_use);
		if (!pfmi_ctx_loaded(&default_ctx, LOADED_BUILTIN))
			set_up(&default_ctx, NULL, &failed);
		pthread_mutex_unlock(&first_use);
		seen = true;
	}
	return &default_ctx;
}

static bool find_wanted(const struct pfm_ctx *ctx)
{
	uint32_t cursor = 0;

	return pfmi_ctx_next_called(ctx, ctx->wanted_name, ctx->wanted_hash, &cursor) >= 0;
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

int pfm_open_context(pfm_ctx_t **out, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	pfm_ctx_options_t o = { .size = sizeof(o) };
	struct pfm_ctx *ctx;
	bool failed = false;
	int rc;

	if (!out)
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "out is NULL");
	*out = NULL;
	if (options && options->size < sizeof(options->size) + sizeof(options->flags))
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "options.size is not set");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	atomic_init(&ctx->refs, 1);
	ctx->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
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

const struct pfm_ctx *pfmi_ctx_hold(const struct pfm_ctx *ctx)
{
	if (!ctx)
		return pfmi_ctx_default();
	atomic_fetch_add(&writable(ctx)->refs, 1);
	return ctx;
}

void pfm_close_context(pfm_ctx_t *ctx)
{
	if (!ctx || ctx == &default_ctx || atomic_fetch_sub(&ctx->refs, 1) != 1)
		return;
	unload_all(ctx);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx->cpuid);
	free(ctx->image_path);
	free(ctx->wanted);
	free(ctx);
}
