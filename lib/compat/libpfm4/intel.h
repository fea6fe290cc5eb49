/* SPDX-License-Identifier: MIT */
/* Shared by Intel's layouts: the unit masks and modifiers of an event while it is encoded. */
#ifndef LIBPFM4_INTEL_H
#define LIBPFM4_INTEL_H

#include "compat/libpfm4/l4.h"

#define NO_GROUP 0xffffffffu

/* The masks and modifiers of a query while it is encoded. */
struct mask_selection {
	const struct l4_query *query;
	struct l4_code *code;
	uint64_t mask_bits;       /* of all unit masks, from bit 0 */
	uint64_t named_mask_bits; /* bits of the masks that a user named */
	uint64_t filters[2];
	uint32_t fixed_modifiers,
		required_modifiers; /* modifiers that masks set, and modifiers that they need */
	uint32_t named_mask_flags;  /* flags of all named masks */
	uint32_t highest_group,
		only_group;  /* the highest group allowed; the only group allowed beside 0 */
	uint32_t last_group; /* group of the last mask */
	uint32_t served_groups,
		exclusive_groups; /* groups with a mask; groups with a mask that excludes others */
	uint32_t needed_groups;   /* groups that must have a mask */
	uint32_t override_code;   /* event code of a mask, which replaces that of the row */
	uint64_t given_modifiers; /* modifiers that the user set, one bit for each */
	uint64_t modifier_values[24];
	bool has_raw_mask;
};

void l4_begin_selection(struct mask_selection *p, const struct l4_query *q, struct l4_code *out);
/* Adds one attribute of the query: a mask, a raw mask or a modifier. */
int l4_select_attr(struct mask_selection *p, const struct l4_attr *a);
int l4_select_all_attrs(struct mask_selection *p);
/* Adds the default masks of groups without a mask. @every: also if the event's groups exclude each
 * other. */
int l4_add_defaults(struct mask_selection *p, bool every);
/* Checks that the named masks are in groups that all named masks allow. */
int l4_check_groups(const struct mask_selection *p);
/* Hides default masks that would be refused or would mean something else if they were named. */
void l4_hide_defaults(struct mask_selection *p);

static inline void l4_set_bits(uint64_t *word, unsigned at, unsigned width, uint64_t value)
{
	uint64_t mask = ((1ull << width) - 1) << at;

	*word = (*word & ~mask) | (value << at & mask);
}

static inline uint64_t l4_get_bits(uint64_t word, unsigned at, unsigned width)
{
	return word >> at & ((1ull << width) - 1);
}

#endif
