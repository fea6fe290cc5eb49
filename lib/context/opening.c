/* SPDX-License-Identifier: MIT */
/* Opening and closing contexts; the default context. All state of the library is in contexts. */
#include "context/context_internal.h"
#include "base/sizes.h"

#include <stdlib.h>
#include <string.h>

/* glibc reserves some static TLS for libraries that dlopen() loads; other C libraries may not. */
#ifdef __GLIBC__
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define THREAD_LOCAL _Thread_local
#endif

static struct pfm_ctx default_context = { .n_refs = 1 };
/* Replaces the default context while memory for the environment's options is missing: it has no
 * default PMU and no images. */
static struct pfm_ctx no_memory_context;

static char *copy_option(const char *given, const char *from_environment, bool *failed)
{
	const char *text = given ? given : from_environment;
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

static struct log make_log(const pfm_ctx_options_t *o, unsigned topics)
{
	struct log log = { .topics = topics };

	if (o && o->log) {
		log.write = o->log;
		log.data = o->log_data;
		log.max_level = o->log_level ? o->log_level : PFM_LOG_WARNING;
	}
	return log;
}

static void init_context(struct pfm_ctx *ctx, const pfm_ctx_options_t *o, bool *failed)
{
	struct env_options w;

	pfmi_machine_read_env_options(&w);
	ctx->flags = o ? o->flags : 0;
	ctx->builtin_source = pfmi_context_make_image_source(table_get_builtin_image(), NULL, 0);
	ctx->default_pmu = copy_option(o ? o->pmu : NULL, w.pmu, failed);
	if (ctx->default_pmu)
		ctx->default_pmu_name = pfmi_base_make_slice(ctx->default_pmu);
	ctx->default_pmu_hash = pfmi_table_hash_name(ctx->default_pmu_name);
	ctx->image_path = copy_option(o ? o->images : NULL, w.events, failed);
	ctx->assumed_cpuid = copy_option(o ? o->cpuid : NULL, w.cpuid, failed);
	pfmi_machine_init_real_sys(&ctx->sys, o && o->sysfs_root ? o->sysfs_root : w.sysfs_root);
	ctx->sys.log = make_log(o, w.log_topics);
	atomic_store_explicit(&ctx->loaded_parts, LOADED_BUILTIN, memory_order_release);
}

static void init_no_memory_context(void)
{
	static char no_memory_name[] = "(no memory for the environment).pmdb";

	free_option_texts(&default_context);
	default_context.loaded_parts = 0;
	if (context_is_loaded(&no_memory_context, LOADED_BUILTIN))
		return;
	atomic_init(&no_memory_context.n_refs, 1);
	no_memory_context.default_pmu = no_memory_context.image_path = no_memory_name;
	no_memory_context.default_pmu_name = pfmi_base_make_slice(no_memory_name);
	no_memory_context.default_pmu_hash =
		pfmi_table_hash_name(no_memory_context.default_pmu_name);
	no_memory_context.builtin_source =
		pfmi_context_make_image_source(table_get_builtin_image(), NULL, 0);
	pfmi_machine_init_real_sys(&no_memory_context.sys, NULL);
	atomic_store_explicit(&no_memory_context.loaded_parts, LOADED_BUILTIN,
	                      memory_order_release);
}

/* Each thread takes the lock once and remembers that it did. That costs little, and race detectors
 * that do not model atomic flags understand it. */
const struct pfm_ctx *pfmi_context_get_default(void)
{
	static THREAD_LOCAL bool seen;
	bool failed = false;

	if (!seen) {
		pthread_mutex_lock(&pfmi_context_load_lock);
		if (!context_is_loaded(&default_context, LOADED_BUILTIN))
			init_context(&default_context, NULL, &failed);
		if (failed)
			init_no_memory_context();
		pthread_mutex_unlock(&pfmi_context_load_lock);
		seen = !failed;
	}
	return failed ? &no_memory_context : &default_context;
}

static bool has_default_pmu(const struct pfm_ctx *ctx)
{
	struct pmu_name_iter c = { 0 };
	unsigned n_sources;
	const struct pmu_source *sources = context_get_sources(ctx, &n_sources);
	uint32_t n;

	if (pfmi_context_next_named_pmu(ctx, ctx->default_pmu_name, ctx->default_pmu_hash, &c) >= 0)
		return true;
	for (unsigned i = 0; i < n_sources; i++)
		if (sources[i].image &&
		    pfmi_context_find_family_members(sources[i].image, ctx->default_pmu_name,
		                                     ctx->default_pmu_hash, &n))
			return true;
	return false;
}

/* Checks that the PMU and the images that the caller named exist. Everything else is loaded when a
 * call needs it. */
static int check_context_options(struct pfm_ctx *ctx, pfm_error_t *error)
{
	int rc = PFMLIB_SUCCESS;

	if (ctx->image_path && !(ctx->flags & PFM_CTX_NO_IMAGES)) {
		struct image_set probe = { 0 };

		rc = pfmi_image_map_search_path(ctx->image_path, &probe, error);
		pfmi_image_unmap_all(&probe);
		if (rc)
			return rc;
	}
	if (ctx->default_pmu && !has_default_pmu(ctx)) {
		rc = pfmi_context_require_all(ctx, error);
		if (!rc && !has_default_pmu(ctx))
			rc = pfmi_base_set_error(error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU,
			                         ctx->default_pmu, ctx->default_pmu_name, NULL);
	}
	return rc;
}

static int create_context(struct pfm_ctx **out, const pfm_ctx_options_t *options,
                          pfm_error_t *error)
{
	pfm_ctx_options_t o;
	struct pfm_ctx *ctx;
	const char *wrong = base_copy_options_in(&o, sizeof(o), options);
	bool failed = false;
	int rc;

	if (!wrong)
		wrong = base_find_unknown_flag(o.flags, PFM_CTX_NO_IMAGES);
	if (!wrong && (unsigned)o.log_level > PFM_LOG_DEBUG)
		wrong = "log_level is not a level";
	if (wrong)
		return pfmi_base_refuse_argument(error, wrong);
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return pfmi_base_set_no_memory_error(error);
	atomic_init(&ctx->n_refs, 1);
	init_context(ctx, &o, &failed);
	rc = failed ? pfmi_base_set_no_memory_error(error) : check_context_options(ctx, error);
	if (rc) {
		pfm_close_context(ctx);
		return rc;
	}
	*out = ctx;
	return PFMLIB_SUCCESS;
}

int pfm_open_context(pfm_ctx_t **out, const pfm_ctx_options_t *options, pfm_error_t *error)
{
	pfm_error_t mine, *why = base_choose_error_struct(error, &mine);
	int rc;

	if (out)
		*out = NULL;
	rc = out ? create_context(out, options, why)
	         : pfmi_base_refuse_argument(why, "out is NULL");
	return base_return_error(error, why, rc);
}

const struct pfm_ctx *pfmi_context_add_ref(const struct pfm_ctx *ctx)
{
	if (!ctx)
		return pfmi_context_get_default();
	atomic_fetch_add(&context_cast_writable(ctx)->n_refs, 1);
	return ctx;
}

pfm_ctx_t *pfm_ref_context(pfm_ctx_t *ctx)
{
	if (ctx)
		(void)pfmi_context_add_ref(ctx);
	return ctx;
}

void pfm_close_context(pfm_ctx_t *ctx)
{
	if (!ctx || ctx == &default_context || ctx == &no_memory_context ||
	    atomic_fetch_sub(&ctx->n_refs, 1) != 1)
		return;
	pfmi_context_unload(ctx);
	free_option_texts(ctx);
	free(ctx);
}

/* ---- refused images -------------------------------------------------------------------------- */

int pfm_describe_rejected_image(const pfm_ctx_t *ctx, unsigned i, const char **path,
                                const char **why)
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
		const char *fault = pfmi_image_find_fault(&im->maps[k]);

		if (fault && i-- == 0) {
			*path = im->maps[k].path;
			*why = fault;
			return PFMLIB_SUCCESS;
		}
	}
	return PFMLIB_ERR_NOTFOUND;
}
