/* SPDX-License-Identifier: MIT */
/* Contexts inside the library: the set of processors a text is looked up in. */
#ifndef PERFMON_CTX_H
#define PERFMON_CTX_H

#include <pthread.h>
#include <stdatomic.h>
#include "pmu/pmu.h"
#include "machine/machine.h"

/* A processor of a context: what its table says, and what is known of it on this machine. Made when it is asked for. */
struct pmu_info {
	const struct table *table;
	const char *origin;                  /* "built in", "kernel", path of the image */
	unsigned flags;                      /* PFM_PMU_* */
	int perf_type;                       /* perf_event_attr.type here, -1 if the kernel does not show it */
	const struct kernel_pmu *kernel_pmu; /* the kernel's PMU that counts it, or NULL */
	struct image_map *image_map;         /* the image its table is in, or NULL */
	unsigned core_type;                  /* index of the hybrid core type */
};

/* Images mapped from the search path. (lib/context/images.c) */
struct image_set {
	unsigned n_maps;
	struct image_map {
		const struct image *image;
		size_t size;
		char *path;
		unsigned first_pmu;     /* number of the unit that is its first table */
		atomic_int check_state; /* 0: only the heads were checked; 1: all; negative: damaged, not to be used */
	} * maps;
	unsigned n_rejected;
	struct image_rejection {
		char *path;
		const char *reason;
	} * rejected;
};
/* Maps every image on @path (colon-separated folders and files). A file named explicitly that cannot be used is an error; in a
 * folder it is only listed under refused. */
int pfmi_image_open_path(const char *path, struct image_set *out, pfm_error_t *why);
void pfmi_image_close_all(struct image_set *im);
/* Checks the whole of an image when a table in it is first used; NULL, or what is wrong with it. Any thread. */
const char *pfmi_image_check_fault(struct image_map *map);
/* The path images are searched on when nobody says: user's data folder, then the installed one. */
size_t pfmi_image_get_default_path(char *buf, size_t len);

/* Where names of units are looked up, one after the other: images the caller chose, what is built in, images found, the kernel's. */
struct pmu_source {
	const struct image *image;   /* NULL: the kernel's */
	struct image_map *image_map; /* the image's, NULL: built in */
	unsigned first_pmu, n_pmus;  /* its units */
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
	struct pmu_source builtin_source; /* the one stage there is from the start */
	atomic_int n_refs;
	atomic_int loaded_parts; /* LOADED_* bits that are done */
	/* Above 0: when last asked, CPUs 0 to this less 1 were on line, and there can be no others. (lib/session/counts.c) */
	atomic_int n_contiguous_cpus;
	/* Valid once LOADED_ALL is set. Units are numbered: those built in, those of images, those of the kernel. */
	unsigned n_pmus, first_kernel_pmu;
	struct pmu_source *sources;
	unsigned n_sources;
	struct host_pmu *host_pmus; /* what this machine has, by number; the kernel's own left out */
	unsigned n_host_pmus;
	unsigned *search_order; /* units of unprefixed names, in order of precedence */
	unsigned n_search_order;
	uint32_t *kernel_name_slots; /* hash table over the names of the kernel's PMUs */
	struct image_set images;
	struct kernel_info *kernel;
};

enum {
	LOADED_BUILTIN = 1, /* what is inside the library: no system call */
	LOADED_HOST = 2,    /* who this machine is: a few CPUIDs */
	LOADED_ALL = 4      /* images and what the kernel shows */
};

/* Makes sure the parts in @what are loaded; cheap when they are. */
int pfmi_context_load(const struct pfm_ctx *ctx, int what);
/* The same for everything, and says in @why (may be NULL) when that cannot be had. */
int pfmi_context_require_all(const struct pfm_ctx *ctx, pfm_error_t *why);
static inline bool context_is_loaded(const struct pfm_ctx *ctx, int what)
{
	/* Some compilers want the operand of atomic_load() writable. */
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return (atomic_load_explicit(&u.out->loaded_parts, memory_order_acquire) & what) == what;
}
/* Does the table answer to @s: its name, or one of its other names, without regard to case? */
bool pfmi_context_table_has_name(const struct table *t, struct slice s);
/* Is @s one of its other names? */
bool pfmi_context_table_has_alias(const struct table *t, struct slice s);
/* How many units are known so far. */
static inline unsigned context_count_pmus(const struct pfm_ctx *ctx)
{
	return context_is_loaded(ctx, LOADED_ALL) ? ctx->n_pmus : table_count_builtins();
}
/* The image that unit number @i, which is not built in and not the kernel's, is in. */
struct image_map *pfmi_context_pmu_image(const struct pfm_ctx *ctx, unsigned i);
const struct table *pfmi_context_pmu_table_slowpath(const struct pfm_ctx *ctx, unsigned i);
/* The table of unit number @i, of those that are known. */
static inline const struct table *context_pmu_table(const struct pfm_ctx *ctx, unsigned i)
{
	return i < table_count_builtins() ? table_builtin_at(i) : pfmi_context_pmu_table_slowpath(ctx, i);
}
/* All that is known of it. */
struct pmu_info pfmi_context_get_pmu(const struct pfm_ctx *ctx, unsigned i);
/* True if the unit's rows may be read; an image is checked when that is first asked. */
static inline bool context_is_image_usable(struct image_map *map)
{
	return !map || atomic_load_explicit(&map->check_state, memory_order_acquire) == 1 || !pfmi_image_check_fault(map);
}
static inline bool context_is_pmu_usable(const struct pfm_ctx *ctx, unsigned i)
{
	return i < table_count_builtins() || context_is_image_usable(pfmi_context_pmu_image(ctx, i));
}
/* The kernel's PMU that counts what unit @i has, or NULL. */
const struct kernel_pmu *pfmi_context_pmu_kernel_slowpath(const struct pfm_ctx *ctx, unsigned i);
static inline const struct kernel_pmu *context_pmu_kernel(const struct pfm_ctx *ctx, unsigned i)
{
	return context_is_loaded(ctx, LOADED_ALL) ? pfmi_context_pmu_kernel_slowpath(ctx, i) : NULL;
}

/* All of them; before everything is loaded, when another thread may be at the rest, what is built in. */
static inline const struct pmu_source *context_get_sources(const struct pfm_ctx *ctx, unsigned *n)
{
	bool all = context_is_loaded(ctx, LOADED_ALL);

	*n = all ? ctx->n_sources : 1;
	return all ? ctx->sources : &ctx->builtin_source;
}
/* An iteration over the PMUs of one name; zeroed to begin. PMUs with that name of their own come before
 * those that have it as an alias. */
struct pmu_name_iter {
	const struct table *table;   /* of the PMU that was found */
	struct image_map *image_map; /* the image that holds it; NULL: the built-in one, or the kernel's */
	unsigned pass, source_index; /* pass 0: own names, 1: aliases */
	uint32_t next_slot;          /* 1 + slot to continue from; 0: the source's first slot for the hash */
};
/* Is @s the table's own name, without regard to case? */
static inline bool context_table_has_own_name(const struct table *t, struct slice s)
{
	return s.len && table_is_text_icase(t, s, t->name);
}
/* Finds the next PMU called @s, whose pfmi_table_hash_name() is @h; -1 when there are no more. */
int pfmi_context_next_named_pmu(const struct pfm_ctx *ctx, struct slice s, uint32_t h,
                                struct pmu_name_iter *iter);
/* What the processor called @s has for parts in an image; NULL if it has none. */
const struct pmu_family *pfmi_context_find_family(const struct image *im, struct slice s, uint32_t h);
/* The parts of the processor called @s in an image, as table numbers; NULL if it has none. */
const uint16_t *pfmi_context_find_family_members(const struct image *im, struct slice s, uint32_t h, uint32_t *n);
/* The context behind calls that are given NULL, and behind the libpfm 3 interface. Made on first use, never freed. */
const struct pfm_ctx *pfmi_context_get_default(void);
/* The context that a caller means, who may have given none. */
static inline const struct pfm_ctx *context_or_default(const struct pfm_ctx *ctx)
{
	return ctx ? ctx : pfmi_context_get_default();
}
/* The table of processor @pmu of a context that was meant; NULL if there is none, or it is damaged. */
static inline const struct table *context_usable_table(const struct pfm_ctx *ctx, int pmu)
{
	/* Negative numbers are above any count. What is built in is known from the start, and sound. */
	if ((unsigned)pmu < table_count_builtins())
		return table_builtin_at((unsigned)pmu);
	return (unsigned)pmu < context_count_pmus(ctx) && context_is_pmu_usable(ctx, (unsigned)pmu) ? context_pmu_table(ctx, (unsigned)pmu) : NULL;
}
/* One more user of @ctx; pfm_close_context() is its counterpart. */
const struct pfm_ctx *pfmi_context_add_ref(const struct pfm_ctx *ctx);
#endif
