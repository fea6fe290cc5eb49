/* SPDX-License-Identifier: MIT */
/* Shared by the files of this module: opening.c calls loading.c, which calls registry.c and
 * images.c. */
#ifndef PERFMON_CONTEXT_INTERNAL_H
#define PERFMON_CONTEXT_INTERNAL_H

#include "context/context.h"

/* Serialises loading in all contexts. (loading.c) */
extern pthread_mutex_t pfmi_context_load_lock;

/* The PFM_PMU_* flags of a table that do not depend on this machine. (registry.c) */
unsigned pfmi_context_get_table_flags(const struct table *t);
/* The source of the PMUs of @im, numbered from @first; @map is NULL for the built-in image.
 * (registry.c) */
struct pmu_source pfmi_context_make_image_source(const struct image *im, struct image_map *map,
                                                 unsigned first);
/* Frees everything that pfmi_context_load() made. (loading.c) */
void pfmi_context_unload(struct pfm_ctx *ctx);

/* Removes const for loading and for counting references, neither of which a user of the context can
 * observe. */
static inline struct pfm_ctx *context_cast_writable(const struct pfm_ctx *ctx)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} u = { .in = ctx };

	return u.out;
}

#endif
