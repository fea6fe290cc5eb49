/* SPDX-License-Identifier: MIT */
/* Shared by the files that find the PMU and the row of a text:
 *   names.c        the names of one table, and the kernel's generic names
 *   instances.c    boxes of which a machine has several
 *   perf_syntax.c  "pmu/terms/" and raw numbers
 *   lookup.c       the lookup order, and the functions that other modules call
 * Each file calls only files above it in this list. */
#ifndef PERFMON_LOOKUP_INTERNAL_H
#define PERFMON_LOOKUP_INTERNAL_H

#include "lookup/lookup.h"

/* A search, and its result. */
struct pmu_search {
	const struct pfm_ctx *ctx;
	struct spec *spec;
	pfm_error_t *error;
	struct slice pmu_name;  /* the PMU that the text or the context names */
	uint32_t pmu_name_hash; /* pfmi_table_hash_name() of it */
	bool has_pmu;           /* some PMU, family or device has that name */
	unsigned pmu_index;     /* result */
	const struct table *table;
	uint32_t row_index;
	struct spec_codes
		codes; /* SPEC_PERF: the code and unit mask, if the terms are nothing else */
};

#define NAME_NOT_FOUND ((struct name_entry){ .kind = NAME_NONE })

/* ---- names.c --------------------------------------------------------------------------------- */

/**
 * Find the longest prefix of @spec's name that is a name of @t.
 *
 * Bit i of @prefixes admits spec->prefixes[i]. On success spec->attrs is the text after the name.
 * The kind of the result is NAME_NONE if no prefix is a name.
 */
struct name_entry pfmi_lookup_longest_prefix(const struct table *t, struct spec *spec,
                                             unsigned prefixes);
/* Finds the longest prefix on PMU @pmu; NAME_NONE if its image is damaged. */
struct name_entry pfmi_lookup_name_on_pmu(const struct pmu_search *s, unsigned pmu);
/**
 * Store PMU @pmu and the row of name @n as the result of @s.
 *
 * Returns PFMLIB_SUCCESS, or PFMLIB_ERR_ALIAS if the library does not support that name.
 */
int pfmi_lookup_accept_name(struct pmu_search *s, unsigned pmu, struct name_entry n);
/* Refuses a PMU because image @map, which holds its table, is damaged. */
int pfmi_lookup_refuse_damaged_image(const struct pmu_search *s, struct image_map *map);
/* Is "name" of this hash one of Linux's generic hardware events ("cycles")? */
bool pfmi_lookup_is_generic_name(uint32_t hash, struct slice name);
/* Finds the event that generic name @name represents on core PMU @pmu, as perf does: "cycles" is
 * the kernel's event "cpu-cycles" there. */
struct name_entry pfmi_lookup_generic_name(const struct pmu_search *s, unsigned pmu, uint32_t hash,
                                           struct slice name);
/* Finds the longest prefix of the name that is a generic name on PMU @pmu. */
struct name_entry pfmi_lookup_generic_prefix(struct pmu_search *s, unsigned pmu);

/* ---- instances.c ----------------------------------------------------------------------------- */

/* Does this machine have a box of PMU @pmu with the number that @name ends with? True if the kernel
 * does not say. */
bool pfmi_lookup_has_box_number(const struct pfm_ctx *ctx, unsigned pmu, struct slice name);

/* ---- perf_syntax.c --------------------------------------------------------------------------- */

/* Finds the PMU of "pmu/terms/", and the row if the first term is the name of an event. */
int pfmi_lookup_perf_spec(struct pmu_search *s);
/* Is the text a raw number ("r412e")? If so, stores its PMU and value, and sets spec->form. */
bool pfmi_lookup_raw_number(const struct pfm_ctx *ctx, struct spec *spec, unsigned *pmu,
                            uint64_t *raw);
/* Makes @out the event with configuration word @raw on a PMU with table @t. */
int pfmi_lookup_read_raw_event(const struct table *t, uint64_t raw, const struct spec *spec,
                               struct event *out, pfm_error_t *why);

#endif
