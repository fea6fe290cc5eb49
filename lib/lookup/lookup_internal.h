/* SPDX-License-Identifier: MIT */
/* Between the files that tell which processor and which row a text means: find.c by names, find_perf.c by what perf writes. */
#ifndef PERFMON_LOOKUP_INTERNAL_H
#define PERFMON_LOOKUP_INTERNAL_H

#include "lookup/lookup.h"

/* What is looked for, and as far as it is known what was found. */
struct pmu_search {
	const struct pfm_ctx *ctx;
	struct spec *spec;
	pfm_error_t *error;
	struct slice pmu_name;  /* the processor that was named, by the text or by the context */
	uint32_t pmu_name_hash; /* its pfmi_table_hash_name() */
	bool has_pmu;           /* there is one of that name */
	bool may_be_family;     /* that may be the name of a whole */
	/* The first table that has the name for its own, NULL if none has, and the stage it is in. */
	const struct table *first_named_table;
	unsigned named_source;
	unsigned pmu_index;
	const struct table *table; /* the unit's */
	uint32_t row_index;
	struct spec_codes codes; /* perf's form: what its terms are, if no more than that */
};

#define NAME_NOT_FOUND ((struct name_entry){ .kind = NAME_NONE })

/* find.c: the row of name @n on unit @unit is what was looked for; refused where the name is one that the library does not support. */
int pfmi_lookup_accept_name(struct pmu_search *s, unsigned unit, struct name_entry n);
/* The lists of @map cannot be read. */
int pfmi_lookup_refuse_damaged_image(const struct pmu_search *s, struct image_map *map);
/* Linux's generic name @name, whose pfmi_table_hash_name() is @h, on a core: "cpu_core/cycles/" is what that PMU's own file cpu-cycles says, as
 * perf has it. */
struct name_entry pfmi_lookup_generic_name(const struct pmu_search *s, unsigned unit, uint32_t h, struct slice name);

/* find_perf.c: "pmu/.../": which unit, and the row if the first term is an event's name. Its fields come from the same unit's table. */
int pfmi_lookup_perf_spec(struct pmu_search *s);
/* Is the text a raw number ("r412e")? It is one of *@unit's then. */
bool pfmi_lookup_raw_number(const struct pfm_ctx *ctx, struct spec *spec, unsigned *unit, uint64_t *raw);
/* The event that raw number @raw is on a unit whose table is @t. */
int pfmi_lookup_read_raw_event(const struct table *t, uint64_t raw, const struct spec *spec, struct event *out, pfm_error_t *why);

#endif
