/* SPDX-License-Identifier: MIT */
/* Shared by the files of this module: opening.c calls loading.c, which calls registry.c and
 * images.c. */
#ifndef PERFMON_CONTEXT_INTERNAL_H
#define PERFMON_CONTEXT_INTERNAL_H

#include "context/context.h"

/* Serialises loading in all contexts. (loading.c) */
extern pthread_mutex_t pfmi_context_load_lock;

/* PFM_PMU_* of a table, without what this machine adds. (registry.c) */
unsigned pfmi_context_get_table_flags(const struct table *t);
/* The source of the PMUs of @im, numbered from @first; @map is NULL for the built-in image.
 * (registry.c) */
struct pmu_source pfmi_context_make_image_source(const struct image *im, struct image_map *map,
                                                 unsigned first);
/* Frees all that pfmi_context_load() made. (loading.c) */
void pfmi_context_unload(struct pfm_ctx *ctx);

/* A context never changes for its users: parts that load late were there from the start. Loading
 * and counting references look past const here. */
static inline struct pfm_ctx *context_cast_writable(const struct pfm_ctx *ctx)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return u.out;
}

#endif
