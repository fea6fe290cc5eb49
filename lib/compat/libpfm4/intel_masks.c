/* SPDX-License-Identifier: MIT */
/* The rules by which unit masks of Intel's events combine. */
#include <string.h>
#include "compat/libpfm4/intel.h"

void l4_begin_selection(struct mask_selection *p, const struct l4_query *q, struct l4_code *out)
{
	memset(p, 0, sizeof(*p));
	memset(out, 0, sizeof(*out));
	p->query = q;
	p->code = out;
	p->highest_group = p->only_group = p->last_group = p->override_code = NO_GROUP;
}

/* Adds the filter words of a mask: for a box's filters, or for both words of a core's event. */
static void add_mask_filters(struct mask_selection *p, const struct l4_mask *m)
{
	p->filters[0] |= l4_get_mask_filter(m)->words[0];
	p->filters[1] |= l4_get_mask_filter(m)->words[1];
}

static void add_mask_bits(struct mask_selection *p, const struct l4_mask *m)
{
	const struct l4_query *q = p->query;

	if (q->event.encoder == L4_ENCODER_EP_UNC && (q->event.pmu->flags & PMU_IS_POWER_CONTROL) &&
	    (q->event.row->code & 0x80))
		p->mask_bits = (p->mask_bits & ~0xc0ull) | (m->code >> 8 & 0xc0);
	else
		p->mask_bits |= m->code >> 8;
	if (q->event.encoder == L4_ENCODER_EP_UNC || m->flags & MASK_PATCHES_WORDS)
		add_mask_filters(p, m);
}

/* Adds a mask to its group. True if one of the group's masks excludes others. */
static bool add_mask_to_group(struct mask_selection *p, const struct l4_mask *m)
{
	uint32_t bit = 1u << m->group;
	bool clash;

	if (m->flags & MASK_NO_COMBINATION)
		p->exclusive_groups |= bit;
	clash = (p->served_groups & bit) && (p->exclusive_groups & bit);
	p->served_groups |= bit;
	return clash;
}

static int select_mask(struct mask_selection *p, unsigned number)
{
	const struct l4_mask *m = &l4_get_row_masks(p->query->event.row)[number];
	bool core = p->query->event.encoder == L4_ENCODER_CORE ||
	            p->query->event.encoder == L4_ENCODER_ARCH;

	if ((p->query->event.row->flags & ROW_GROUPS_EXCLUSIVE) && p->last_group != NO_GROUP &&
	    p->last_group != m->group)
		return PFM_ERR_FEATCOMB;
	p->last_group = m->group;
	if ((m->flags & MASK_EXCLUDES_HIGHER_GROUPS) &&
	    p->query->event.encoder != L4_ENCODER_NHM_UNC)
		p->highest_group = m->group;
	if ((m->flags & MASK_EXCLUDES_ALL_BUT_GROUP0) && core)
		p->only_group = m->group;
	if (m->flags & MASK_REQUIRES_GROUP)
		p->needed_groups |= 1u << m->needed_group;
	if (add_mask_to_group(p, m))
		return PFM_ERR_FEATCOMB;
	if (m->flags & MASK_OVERRIDES_CODE) /* such masks exclude the others of their group */
		p->override_code = m->code & 0xff;
	p->fixed_modifiers |= m->fixed_modifiers;
	p->required_modifiers |= m->required_modifiers;
	p->named_mask_flags |= m->flags;
	add_mask_bits(p, m);
	p->named_mask_bits |= m->code >> 8;
	l4_set_bit(p->code->used_masks, number);
	return PFM_SUCCESS;
}

static unsigned get_raw_mask_width(const struct l4_query *q)
{
	if (q->event.encoder != L4_ENCODER_CORE || !(q->event.row->flags & ROW_HAS_OFFCORE))
		return 8;
	return strncmp(l4_get_text(q->event.pmu->name), "wsm", 3) == 0 ? 16 : 38;
}

static int select_raw_mask(struct mask_selection *p, uint64_t value)
{
	if (value >> get_raw_mask_width(p->query))
		return PFM_ERR_ATTR;
	p->mask_bits = p->named_mask_bits = value;
	p->has_raw_mask = p->code->has_raw_mask = true;
	p->code->raw_mask = value;
	p->served_groups = NO_GROUP;
	return PFM_SUCCESS;
}

static int set_modifier(struct mask_selection *p, unsigned number, uint64_t value)
{
	const struct l4_modifier *mod = &l4_modifiers[p->query->event.encoder][number];

	if (mod->is_number && (value < mod->min || value > mod->max))
		return p->query->event.encoder == L4_ENCODER_NHM_UNC ? PFM_ERR_INVAL
		                                                     : PFM_ERR_ATTR_VAL;
	p->given_modifiers |= 1ull << number;
	p->modifier_values[number] = value;
	return PFM_SUCCESS;
}

/* True if the mask cannot be a default and its group may stay empty. */
static bool is_group_excused(const struct mask_selection *p, const struct l4_mask *m)
{
	uint32_t g = m->group;

	return (p->highest_group != NO_GROUP && g > p->highest_group) ||
	       (m->flags & MASK_GROUP_OPTIONAL) ||
	       (p->only_group != NO_GROUP && g != 0 && g != p->only_group);
}

/* Adds the default masks of one group. Returns their number, or an error. */
static int add_group_defaults(struct mask_selection *p, uint32_t group)
{
	const struct l4_row *r = p->query->event.row;
	const struct l4_mask *m = l4_get_row_masks(r);
	bool excused = false;
	int n = 0;

	for (unsigned i = 0; i < r->n_masks; i++) {
		if (m[i].group != group || !l4_has_mask(&p->query->event, &m[i]))
			continue;
		if (is_group_excused(p, &m[i])) {
			excused = true;
			continue;
		}
		if (!(m[i].flags & MASK_IS_DEFAULT))
			continue;
		if (m[i].flags &
		    MASK_EXCLUDES_HIGHER_GROUPS) /* this flag occurs in one group only */
			p->highest_group = m[i].group;
		add_mask_bits(p, &m[i]);
		l4_set_bit(p->code->used_masks, i);
		l4_set_bit(p->code->default_masks, i);
		n++;
		if (r->flags & ROW_GROUPS_EXCLUSIVE)
			return n;
	}
	return n || excused ? n : PFM_ERR_UMASK;
}

int l4_add_defaults(struct mask_selection *p, bool every)
{
	const struct l4_row *r = p->query->event.row;
	uint32_t all = (1u << r->n_groups) - 1, limit = p->highest_group;
	bool some = p->served_groups & all;
	int n = 0;

	if ((p->served_groups & all) == all ||
	    !(every || !(r->flags & ROW_GROUPS_EXCLUSIVE) || !some))
		return PFM_SUCCESS;
	for (uint32_t g = 0; g < r->n_groups && n >= 0; g++) {
		if (p->served_groups & 1u << g)
			continue;
		n = add_group_defaults(p, g);
		if (n > 0 && (r->flags & ROW_GROUPS_EXCLUSIVE))
			break;
	}
	p->highest_group = limit;
	return n < 0 ? n : PFM_SUCCESS;
}

int l4_check_groups(const struct mask_selection *p)
{
	const struct l4_mask *m = l4_get_row_masks(p->query->event.row);

	if (p->only_group == NO_GROUP && p->highest_group == NO_GROUP)
		return PFM_SUCCESS;
	for (unsigned i = 0; i < p->query->event.row->n_masks; i++) {
		if (!l4_has_bit(p->code->used_masks, i))
			continue;
		if (p->only_group != NO_GROUP && !l4_has_bit(p->code->default_masks, i) &&
		    m[i].group != 0 && m[i].group != p->only_group)
			return PFM_ERR_FEATCOMB;
	}
	for (unsigned i = 0; i < p->query->event.row->n_masks; i++)
		if (l4_has_bit(p->code->used_masks, i) && p->highest_group != NO_GROUP &&
		    (m[i].group | (uint32_t)m[i].needed_group << 8) > p->highest_group)
			return PFM_ERR_FEATCOMB;
	return PFM_SUCCESS;
}

int l4_select_attr(struct mask_selection *p, const struct l4_attr *a)
{
	switch (a->kind) {
	case L4_ATTR_MASK: return select_mask(p, a->number);
	case L4_ATTR_RAW_MASK: return select_raw_mask(p, a->value);
	case L4_ATTR_MODIFIER: return set_modifier(p, a->number, a->value);
	default: return PFM_SUCCESS;
	}
}

int l4_select_all_attrs(struct mask_selection *p)
{
	int rc = PFM_SUCCESS;

	for (unsigned i = 0; i < p->query->n_attrs && !rc; i++)
		rc = l4_select_attr(p, &p->query->attrs[i]);
	return rc;
}

void l4_hide_defaults(struct mask_selection *p)
{
	const struct l4_mask *m = l4_get_row_masks(p->query->event.row);
	struct l4_code *out = p->code;

	if (!(out->default_masks[0] | out->default_masks[1] | out->default_masks[2]))
		return;
	for (unsigned i = 0; i < p->query->event.row->n_masks; i++) {
		bool above = false;

		if (!l4_has_bit(out->default_masks, i))
			continue;
		for (unsigned k = 0;
		     (m[i].flags & MASK_EXCLUDES_HIGHER_GROUPS) && k < p->query->event.row->n_masks;
		     k++)
			above |= l4_has_bit(out->used_masks, k) && m[k].group > m[i].group;
		if (above || m[i].alias_target || m[i].fixed_modifiers || m[i].required_modifiers ||
		    (m[i].flags &
		     (MASK_HAS_LDLAT | MASK_HAS_FRONTEND_THRESHOLD | MASK_OVERRIDES_CODE |
		      MASK_EXCLUDES_ALL_BUT_GROUP0 | MASK_REQUIRES_GROUP)))
			l4_set_bit(out->hidden_masks, i);
	}
}
