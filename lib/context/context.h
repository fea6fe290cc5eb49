/* SPDX-License-Identifier: MIT */
/* Contexts inside the library: the set of processors a text is looked up in. */
#ifndef PERFMON_CTX_H
#define PERFMON_CTX_H

#include <pthread.h>
#include <stdatomic.h>
#include "pmu/pmu.h"
#include "machine/machine.h"

/* A processor of a context: what its table says, and what is known of it on this machine. Made when it is asked for. */
struct unit {
	const struct table *table;
	const char *origin;              /* "built in", "kernel", path of the image */
	unsigned flags;                  /* PFM_PMU_* */
	int type;                        /* perf_event_attr.type here, -1 if the kernel does not show it */
	const struct kernel_pmu *kernel; /* the kernel's PMU that counts it, or NULL */
	struct image_map *map;           /* the image its table is in, or NULL */
	unsigned core;                   /* index of the hybrid core type */
};

/* A unit that this machine has. */
struct host_unit {
	unsigned unit, core;
	const struct kernel_pmu *kernel;
};

/* Images mapped from the search path. (lib/context/images.c) */
struct images {
	unsigned n;
	struct image_map {
		const struct image *base;
		size_t size;
		char *path;
		unsigned first;   /* number of the unit that is its first table */
		atomic_int state; /* 0: only the heads were checked; 1: all; negative: damaged, not to be used */
	} * maps;
	unsigned n_refused;
	struct image_refusal {
		char *path;
		const char *why;
	} * refused;
};
/* Maps every image on @path (colon-separated folders and files). A file named explicitly that cannot be used is an error; in a
 * folder it is only listed under refused. */
int pfmi_images_open(const char *path, struct images *out, pfm_error_t *why);
void pfmi_images_close(struct images *im);
/* Checks the whole of an image when a table in it is first used; NULL, or what is wrong with it. Any thread. */
const char *pfmi_image_fault(struct image_map *map);
/* The path images are searched on when nobody says: user's data folder, then the installed one. */
size_t pfmi_images_default_path(char *buf, size_t len);

/* Where names of units are looked up, one after the other: images the caller chose, what is built in, images found, the kernel's. */
struct stage {
	const struct image *image; /* NULL: the kernel's */
	struct image_map *map;     /* the image's, NULL: built in */
	unsigned first, n;         /* its units */
	const uint32_t *calls;     /* hash table over their names, as an image has it */
	uint32_t n_calls;
};

struct pfm_ctx {
	struct sys sys;
	struct host host;
	char *cpuid;      /* identity to assume, or NULL */
	char *image_path; /* NULL: default */
	char *wanted;     /* processor of unprefixed names, NULL: this machine's */
	struct slice wanted_name;
	uint32_t wanted_hash;
	unsigned flags;
	struct stage builtin; /* the one stage there is from the start */
	atomic_int refs;
	atomic_int loaded; /* LOADED_* bits that are done */
	/* Above 0: when last asked, CPUs 0 to this less 1 were on line, and there can be no others. (lib/session/counts.c) */
	atomic_int all_cpus;
	/* Valid once LOADED_ALL is set. Units are numbered: those built in, those of images, those of the kernel. */
	unsigned n_units, first_kernel;
	struct stage *stages;
	unsigned n_stages;
	struct host_unit *here; /* what this machine has, by number; the kernel's own left out */
	unsigned n_here;
	unsigned *host_order; /* units of unprefixed names, in order of precedence */
	unsigned n_host_order;
	uint32_t *kernel_calls; /* hash table over the names of the kernel's PMUs */
	struct images images;
	struct kernel *kernel;
};

enum {
	LOADED_BUILTIN = 1, /* what is inside the library: no system call */
	LOADED_HOST = 2,    /* who this machine is: a few CPUIDs */
	LOADED_ALL = 4      /* images and what the kernel shows */
};

/* Makes sure the parts in @what are loaded; cheap when they are. */
int pfmi_ctx_load(const struct pfm_ctx *ctx, int what);
/* The same for everything, and says in @why (may be NULL) when that cannot be had. */
int pfmi_ctx_need(const struct pfm_ctx *ctx, pfm_error_t *why);
static inline bool pfmi_ctx_loaded(const struct pfm_ctx *ctx, int what)
{
	/* Some compilers want the operand of atomic_load() writable. */
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return (atomic_load_explicit(&u.out->loaded, memory_order_acquire) & what) == what;
}
/* Does the table answer to @s: its name, or one of its other names, without regard to case? */
bool pfmi_table_is(const struct table *t, struct slice s);
/* Is @s one of its other names? */
bool pfmi_table_is_also(const struct table *t, struct slice s);
/* How many units are known so far. */
static inline unsigned pfmi_ctx_count(const struct pfm_ctx *ctx)
{
	return pfmi_ctx_loaded(ctx, LOADED_ALL) ? ctx->n_units : pfmi_n_builtin();
}
/* The image that unit number @i, which is not built in and not the kernel's, is in. */
struct image_map *pfmi_unit_map(const struct pfm_ctx *ctx, unsigned i);
const struct table *pfmi_unit_far_table(const struct pfm_ctx *ctx, unsigned i);
/* The table of unit number @i, of those that are known. */
static inline const struct table *pfmi_unit_table(const struct pfm_ctx *ctx, unsigned i)
{
	return i < pfmi_n_builtin() ? pfmi_builtin(i) : pfmi_unit_far_table(ctx, i);
}
/* All that is known of it. */
struct unit pfmi_unit(const struct pfm_ctx *ctx, unsigned i);
/* True if the unit's rows may be read; an image is checked when that is first asked. */
static inline bool pfmi_map_ready(struct image_map *map)
{
	return !map || atomic_load_explicit(&map->state, memory_order_acquire) == 1 || !pfmi_image_fault(map);
}
static inline bool pfmi_unit_ready(const struct pfm_ctx *ctx, unsigned i)
{
	return i < pfmi_n_builtin() || pfmi_map_ready(pfmi_unit_map(ctx, i));
}
/* The kernel's PMU that counts what unit @i has, or NULL. */
const struct kernel_pmu *pfmi_unit_loaded_kernel(const struct pfm_ctx *ctx, unsigned i);
static inline const struct kernel_pmu *pfmi_unit_kernel(const struct pfm_ctx *ctx, unsigned i)
{
	return pfmi_ctx_loaded(ctx, LOADED_ALL) ? pfmi_unit_loaded_kernel(ctx, i) : NULL;
}

/* All of them; before everything is loaded, when another thread may be at the rest, what is built in. */
static inline const struct stage *pfmi_ctx_stages(const struct pfm_ctx *ctx, unsigned *n)
{
	bool all = pfmi_ctx_loaded(ctx, LOADED_ALL);

	*n = all ? ctx->n_stages : 1;
	return all ? ctx->stages : &ctx->builtin;
}
/* A walk over the units of one name: zero it to begin. A processor's own name comes before another one's other name. */
struct called {
	const struct table *table; /* of the unit that was found */
	struct image_map *map;     /* the image it is in, NULL: built in, or the kernel's */
	unsigned pass, stage;      /* pass 1: other names */
	uint32_t at;               /* 1 + slot to go on from, 0: where the stage begins */
	unsigned other_stage;      /* the first that has it as another name, and 1 + the slot; 0 for none */
	uint32_t other_at;
	bool whole; /* one that has been passed by may be the name of a whole */
};
/* Is that the table's own name, without regard to case? */
static inline bool table_is_called(const struct table *t, struct slice s)
{
	const char *name = table_text(t, t->name), *rest;
	uint64_t here;

	if (s.len < 8) {
		memcpy(&here, name, 8);
		if (pfmi_first_bytes(here, s.len) == pfmi_eight_bytes(s))
			return !name[s.len];
	}
	rest = pfmi_name_behind(name, s);
	return rest && *rest == '\0';
}
/* The table that is unit @i of @st. */
static inline const struct table *stage_table(const struct pfm_ctx *ctx, const struct stage *st, uint32_t i)
{
	return st->image ? image_table(st->image, i) : ctx->kernel->pmus[i].table;
}
/* The first slot of @st that may be for a name with hash @h, or shows that there is none. */
static inline uint32_t stage_slot(const struct stage *st, uint32_t h)
{
	uint32_t at = slot_of(h, st->n_calls);

	while (st->calls[at] > (h << 16 | 0xffff))
		at = at + 1 < st->n_calls ? at + 1 : 0;
	return at;
}
/* May something in @st have a name with hash @h? */
static inline bool stage_may_have(const struct stage *st, uint32_t h)
{
	return st->calls[stage_slot(st, h)] > h << 16;
}
/* The next unit of stage @st whose own name is @s; -1 at the stage's end. */
static inline int called_in_stage(const struct pfm_ctx *ctx, const struct stage *st, struct slice s, uint32_t h, struct called *c)
{
	uint32_t at = c->at ? c->at - 1 : slot_of(h, st->n_calls), slot;

	while ((slot = st->calls[at]) > h << 16) {
		uint32_t i = (slot & (CALL_OTHER | CALL_NUMBER)) - 1, here = at + 1; /* beyond all units if it is another name */

		at = here < st->n_calls ? here : 0;
		if (slot >> 16 != (uint16_t)h)
			continue;
		if (i >= st->n) {
			if (!(slot & CALL_OTHER)) {
				c->whole = true;
			} else if (!c->other_at) {
				c->other_stage = c->stage;
				c->other_at = here;
			}
			continue;
		}
		c->table = stage_table(ctx, st, i);
		if (!table_is_called(c->table, s))
			continue;
		c->at = at + 1;
		return (int)(st->first + i);
	}
	c->at = 0;
	return -1;
}
/* The next unit that has @s as another name, from where the first one is. */
int pfmi_ctx_next_other(const struct pfm_ctx *ctx, struct slice s, uint32_t h, struct called *c);
/* The next unit called @s; -1 when there are no more. @h is the pfmi_name_hash() of @s. */
static inline int called_next(const struct pfm_ctx *ctx, struct slice s, uint32_t h, struct called *c)
{
	unsigned n_stages;
	const struct stage *stages = pfmi_ctx_stages(ctx, &n_stages);

	for (; c->pass == 0 && c->stage < n_stages; c->stage++) {
		int i = called_in_stage(ctx, &stages[c->stage], s, h, c);

		if (i >= 0) {
			c->map = stages[c->stage].map;
			return i;
		}
	}
	return c->other_at ? pfmi_ctx_next_other(ctx, s, h, c) : -1;
}
/* The same where it is no step of an encoding. */
int pfmi_ctx_next_called(const struct pfm_ctx *ctx, struct slice s, uint32_t h, struct called *c);
/* What the processor called @s has for parts in an image; NULL if it has none. */
const struct whole *pfmi_image_whole(const struct image *im, struct slice s, uint32_t h);
/* The parts of the processor called @s in an image, as table numbers; NULL if it has none. */
const uint16_t *pfmi_image_parts(const struct image *im, struct slice s, uint32_t h, uint32_t *n);
/* The context behind calls that are given NULL, and behind the libpfm 3 interface. Made on first use, never freed. */
const struct pfm_ctx *pfmi_ctx_default(void);
/* The context that a caller means, who may have given none. */
static inline const struct pfm_ctx *pfmi_ctx_meant(const struct pfm_ctx *ctx)
{
	return ctx ? ctx : pfmi_ctx_default();
}
/* The table of processor @pmu of a context that was meant; NULL if there is none, or it is damaged. */
static inline const struct table *pfmi_table_at(const struct pfm_ctx *ctx, int pmu)
{
	/* Negative numbers are above any count. What is built in is known from the start, and sound. */
	if ((unsigned)pmu < pfmi_n_builtin())
		return pfmi_builtin((unsigned)pmu);
	return (unsigned)pmu < pfmi_ctx_count(ctx) && pfmi_unit_ready(ctx, (unsigned)pmu) ? pfmi_unit_table(ctx, (unsigned)pmu) : NULL;
}
/* One more user of @ctx; pfm_close_context() is its counterpart. */
const struct pfm_ctx *pfmi_ctx_hold(const struct pfm_ctx *ctx);
#endif
