/* SPDX-License-Identifier: MIT */
/* Between the files that tell which processor and which row a text means: find.c by names, find_perf.c by what perf writes. */
#ifndef PERFMON_LOOKUP_INTERNAL_H
#define PERFMON_LOOKUP_INTERNAL_H

#include "lookup/lookup.h"

/* What is looked for, and as far as it is known what was found. */
struct search {
	const struct pfm_ctx *ctx;
	struct spec *spec;
	pfm_error_t *why;
	struct slice pmu; /* the processor that was named, by the text or by the context */
	uint32_t hash;    /* its pfmi_name_hash() */
	bool known;       /* there is one of that name */
	bool whole;       /* that may be the name of a whole */
	/* The first table that has the name for its own, NULL if none has, and the stage it is in. */
	const struct table *named;
	unsigned stage;
	unsigned unit;
	const struct table *table; /* the unit's */
	uint32_t row;
	struct spec_numbers numbers; /* perf's form: what its terms are, if no more than that */
};

#define NO_NAME ((struct name){ .kind = NAME_NONE })

/* find.c: the row of name @n on unit @unit is what was looked for; refused where the name is one that the library does not support. */
int pfmi_take_name(struct search *s, unsigned unit, struct name n);
/* The lists of @map cannot be read. */
int pfmi_damaged(const struct search *s, struct image_map *map);
/* Linux's generic name @name, whose pfmi_name_hash() is @h, on a core: "cpu_core/cycles/" is what that PMU's own file cpu-cycles says, as
 * perf has it. */
struct name pfmi_find_generic(const struct search *s, unsigned unit, uint32_t h, struct slice name);

/* find_perf.c: "pmu/.../": which unit, and the row if the first term is an event's name. Its fields come from the same unit's table. */
int pfmi_find_perf(struct search *s);
/* Is the text a raw number ("r412e")? It is one of *@unit's then. */
bool pfmi_find_raw(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint64_t *raw);
/* The event that raw number @raw is on a unit whose table is @t. */
int pfmi_raw_event(const struct table *t, uint64_t raw, const struct spec *spec, struct event *out, pfm_error_t *why);

#endif
