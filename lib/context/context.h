/* SPDX-License-Identifier: MIT */
/* A context: the PMUs in which texts are looked up, built in, loaded from images or provided by the
 * kernel. */
#ifndef PERFMON_CTX_H
#define PERFMON_CTX_H

#include <pthread.h>
#include <stdatomic.h>
#include "pmu/pmu.h"
#include "base/private.h"
#include "machine/machine.h"

/* A PMU of a context: its table and its state on this machine. */
struct pmu_info {
	const struct table *table;
	const char *origin;                  /* "built in", "kernel", path of the image */
	unsigned flags;                      /* PFM_PMU_* */
	int perf_type;                       /* perf_event_attr.type; -1: unknown to the kernel */
	const struct kernel_pmu *kernel_pmu; /* the kernel's PMU that counts it, or NULL */
	struct image_map *image_map;         /* the image its table is in, or NULL */
	unsigned core_type;                  /* index of the core type of a hybrid processor */
};

/* The images on the search path. (images.c) */
struct image_set {
	unsigned n_maps;
	struct image_map {
		const struct image *image;
		size_t size;
		char *path;
		const struct log *log;  /* the context's */
		unsigned first_pmu;     /* number of the PMU that is its first table */
		atomic_int check_state; /* 0: heads checked; 1: all checked; negative: damaged */
	} * maps;
	unsigned n_rejected;
	struct image_rejection {
		char *path;
		const char *reason;
	} * rejected;
};
/* Maps every image on @path (colon-separated folders and files). A file of the path that cannot be
 * used is an error; one in a folder of the path is listed under "rejected". */
int pfmi_image_map_search_path(const char *path, struct image_set *out, pfm_error_t *why);
void pfmi_image_unmap_all(struct image_set *im);
/* Checks all of an image when one of its tables is first used. Returns NULL, or a text with the
 * fault. Thread-safe. */
const char *pfmi_image_find_fault(struct image_map *map);
/* Writes the default search path for images: the user's data folder, then the installed one. */
size_t pfmi_image_get_default_path(char *buf, size_t len);

/* A PMU source. Names are looked up in the sources in this order: images that the caller chose, the
 * built-in image, images that were found, the kernel. */
struct pmu_source {
	const struct image *image;   /* NULL: the kernel's */
	struct image_map *image_map; /* the image's, NULL: built in */
	unsigned first_pmu, n_pmus;  /* its PMUs */
	const uint32_t *name_slots;  /* hash table over their names, as an image has it */
	uint32_t n_name_slots;
};

struct pfm_ctx {
	struct sys sys;
	struct host host;
	char *assumed_cpuid; /* identity to assume, or NULL */
	char *image_path;    /* NULL: default */
	char *default_pmu;   /* processor of unprefixed names, NULL: this machine's */
	struct slice default_pmu_name;
	uint32_t default_pmu_hash;
	unsigned flags;
	struct pmu_source builtin_source; /* the source before anything is loaded */
	atomic_int n_refs;
	atomic_int loaded_parts; /* LOADED_* bits that are done */
	/* Above 0: CPUs 0 to n_contiguous_cpus - 1 were online when last read, and no others are
	 * possible. (lib/session/counts.c) */
	atomic_int n_contiguous_cpus;
	/* Valid once LOADED_ALL is set. PMUs are numbered in this order: built-in, of images, of
	 * the kernel. */
	unsigned n_pmus, first_kernel_pmu;
	struct pmu_source *sources;
	unsigned n_sources;
	struct host_pmu *host_pmus; /* PMUs of this machine by number, without the kernel's own */
	unsigned n_host_pmus;
	unsigned *search_order; /* PMUs in which unprefixed names are looked up, in order */
	unsigned n_search_order;
	uint32_t *kernel_name_slots; /* hash table over the names of the kernel's PMUs */
	struct image_set images;
	struct kernel_info *kernel;
};

enum {
	LOADED_BUILTIN = 1, /* the built-in image: no system call */
	LOADED_HOST = 2,    /* identity of this machine: a few CPUIDs */
	LOADED_ALL = 4      /* images and PMUs exported by the kernel */
};

/* Loads the parts in @what (LOADED_*) that are not loaded. Returns a PFMLIB code. Thread-safe. */
int pfmi_context_load(const struct pfm_ctx *ctx, int what);
/* Loads everything; fills @why (may be NULL) on failure. */
int pfmi_context_require_all(const struct pfm_ctx *ctx, pfm_error_t *why);
static inline bool context_is_loaded(const struct pfm_ctx *ctx, int what)
{
	/* atomic_load() may need a writable operand. */
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return (atomic_load_explicit(&u.out->loaded_parts, memory_order_acquire) & what) == what;
}
/* True if this machine is a pretended one; LOADED_ALL must be loaded. */
static inline bool context_is_pretended(const struct pfm_ctx *ctx)
{
	return ctx && ctx->kernel && *ctx->kernel->pretended;
}
/* Is @s the name or an alias of the table, without regard to case? */
PERFMON_PRIVATE bool pfmi_context_table_has_name(const struct table *t, struct slice s);
/* The number of PMUs that are known so far. */
static inline unsigned context_count_pmus(const struct pfm_ctx *ctx)
{
	return context_is_loaded(ctx, LOADED_ALL) ? ctx->n_pmus : table_count_builtins();
}
/* The image of PMU @i; NULL for built-in and kernel-provided PMUs. */
struct image_map *pfmi_context_get_pmu_image(const struct pfm_ctx *ctx, unsigned i);
const struct table *pfmi_context_get_pmu_table_slowpath(const struct pfm_ctx *ctx, unsigned i);
/* The table of PMU @i. */
static inline const struct table *context_get_pmu_table(const struct pfm_ctx *ctx, unsigned i)
{
	return i < table_count_builtins() ? table_get_builtin(i)
	                                  : pfmi_context_get_pmu_table_slowpath(ctx, i);
}
/* The state of PMU @i on this machine. */
struct pmu_info pfmi_context_get_pmu(const struct pfm_ctx *ctx, unsigned i);
/* The facts of this machine (bits of enum machine_fact) that limit events of the PMU; 0 if it is
 * one of another machine. */
unsigned pfmi_context_read_limit_facts(const struct pfm_ctx *ctx, const struct pmu_info *u);
/* May the rows of the image be read? An image is checked at its first use. */
static inline bool context_is_image_usable(struct image_map *map)
{
	return !map || atomic_load_explicit(&map->check_state, memory_order_acquire) == 1 ||
	       !pfmi_image_find_fault(map);
}
static inline bool context_is_pmu_usable(const struct pfm_ctx *ctx, unsigned i)
{
	return i < table_count_builtins() ||
	       context_is_image_usable(pfmi_context_get_pmu_image(ctx, i));
}
/* The kernel's PMU that counts the events of PMU @i, or NULL. */
const struct kernel_pmu *pfmi_context_get_kernel_pmu_slowpath(const struct pfm_ctx *ctx,
                                                              unsigned i);
static inline const struct kernel_pmu *context_get_kernel_pmu(const struct pfm_ctx *ctx, unsigned i)
{
	return context_is_loaded(ctx, LOADED_ALL) ? pfmi_context_get_kernel_pmu_slowpath(ctx, i)
	                                          : NULL;
}

/* All sources of @ctx. Before everything is loaded, only the built-in source: another thread may be
 * loading the others. */
static inline const struct pmu_source *context_get_sources(const struct pfm_ctx *ctx, unsigned *n)
{
	bool all = context_is_loaded(ctx, LOADED_ALL);

	*n = all ? ctx->n_sources : 1;
	return all ? ctx->sources : &ctx->builtin_source;
}
/* An iteration over the PMUs of one name; zeroed to begin. PMUs with that name of their own come
 * before those that have it as an alias. */
struct pmu_name_iter {
	const struct table *table;   /* of the PMU that was found */
	struct image_map *image_map; /* its image; NULL: built in, or the kernel's */
	unsigned pass, source_index; /* pass 0: own names, 1: aliases */
	uint32_t next_slot;          /* 1 + slot to continue from; 0: the first */
};
/* Is @s the table's own name, without regard to case? */
static inline bool context_table_has_own_name(const struct table *t, struct slice s)
{
	return s.len && table_is_text_icase(t, s, t->name);
}
/* Finds the next PMU called @s, whose pfmi_table_hash_name() is @h; -1 when there are no more. */
int pfmi_context_next_named_pmu(const struct pfm_ctx *ctx, struct slice s, uint32_t h,
                                struct pmu_name_iter *iter);
/* The family called @s in an image, or NULL. */
const struct pmu_family *pfmi_context_find_family(const struct image *im, struct slice s,
                                                  uint32_t h);
/* The members of the family called @s as table numbers, or NULL. */
const uint16_t *pfmi_context_find_family_members(const struct image *im, struct slice s, uint32_t h,
                                                 uint32_t *n);
/* The context of calls whose context is NULL, and of the libpfm 3 interface. It is made at its
 * first use and never freed. */
const struct pfm_ctx *pfmi_context_get_default(void);
/* @ctx, or the default context for NULL. */
static inline const struct pfm_ctx *context_get_or_default(const struct pfm_ctx *ctx)
{
	return ctx ? ctx : pfmi_context_get_default();
}
/* The table of PMU @pmu; NULL if @ctx has no such PMU or its image is damaged. */
static inline const struct table *context_get_usable_table(const struct pfm_ctx *ctx, int pmu)
{
	/* A negative number is above any count. Built-in tables need no check. */
	if ((unsigned)pmu < table_count_builtins())
		return table_get_builtin((unsigned)pmu);
	return (unsigned)pmu < context_count_pmus(ctx) && context_is_pmu_usable(ctx, (unsigned)pmu)
	               ? context_get_pmu_table(ctx, (unsigned)pmu)
	               : NULL;
}
/* Adds a reference to @ctx; pfm_close_context() drops it. */
const struct pfm_ctx *pfmi_context_add_ref(const struct pfm_ctx *ctx);
#endif
