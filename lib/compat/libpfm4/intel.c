/* SPDX-License-Identifier: MIT */
/* Intel's three layouts: cores, the uncore of Nehalem, and the boxes of later uncores, with the
 * rules by which unit masks combine. */
#include <string.h>
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

static void begin_selection(struct mask_selection *p, const struct l4_query *q, struct l4_code *out)
{
	memset(p, 0, sizeof(*p));
	memset(out, 0, sizeof(*out));
	p->query = q;
	p->code = out;
	p->highest_group = p->only_group = p->last_group = p->override_code = NO_GROUP;
}

/* ---- masks ----------------------------------------------------------------------------------- */

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
static bool has_group_clash(struct mask_selection *p, const struct l4_mask *m)
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
	if (has_group_clash(p, m))
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

/* Adds the default masks of groups without a mask. @every: also if the event's groups exclude each
 * other. */
static int add_defaults(struct mask_selection *p, bool every)
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

/* Checks that the named masks are in groups that all named masks allow. */
static int check_groups(const struct mask_selection *p)
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

static int select_all_attrs(struct mask_selection *p)
{
	const struct l4_query *q = p->query;
	int rc = PFM_SUCCESS;

	for (unsigned i = 0; i < q->n_attrs && !rc; i++) {
		const struct l4_attr *a = &q->attrs[i];

		if (a->kind == L4_ATTR_MASK)
			rc = select_mask(p, a->number);
		else if (a->kind == L4_ATTR_RAW_MASK)
			rc = select_raw_mask(p, a->value);
		else if (a->kind == L4_ATTR_MODIFIER)
			rc = set_modifier(p, a->number, a->value);
	}
	return rc;
}

/* Hides default masks that would be refused or would mean something else if they were named. */
static void hide_defaults(struct mask_selection *p)
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

/* ---- words ----------------------------------------------------------------------------------- */

static void set_bits(uint64_t *word, unsigned at, unsigned width, uint64_t value)
{
	uint64_t mask = ((1ull << width) - 1) << at;

	*word = (*word & ~mask) | (value << at & mask);
}

static uint64_t get_bits(uint64_t word, unsigned at, unsigned width)
{
	return word >> at & ((1ull << width) - 1);
}

enum {
	CORE_K,
	CORE_U,
	CORE_E,
	CORE_I,
	CORE_C,
	CORE_T,
	CORE_LDLAT,
	CORE_INTX,
	CORE_INTXCP,
	CORE_FE_THRES
};

static const struct {
	uint8_t at, width;
} core_fields[] = {
	[CORE_K] = { 17, 1 },    [CORE_U] = { 16, 1 },      [CORE_E] = { 18, 1 },
	[CORE_I] = { 23, 1 },    [CORE_C] = { 24, 8 },      [CORE_T] = { 21, 1 },
	[CORE_INTX] = { 32, 1 }, [CORE_INTXCP] = { 33, 1 },
};

/* True if the user set a modifier that a mask fixes to another value. */
static bool has_fixed_modifier_conflict(const struct mask_selection *p)
{
	uint64_t word = ((p->query->event.row->code >> 8 & 0xff) | p->named_mask_bits) << 8;

	if (!(p->fixed_modifiers & p->given_modifiers))
		return false;
	for (unsigned i = CORE_K; i <= CORE_INTXCP; i++)
		if (i != CORE_LDLAT && (p->fixed_modifiers & p->given_modifiers) >> i & 1 &&
		    get_bits(word, core_fields[i].at, core_fields[i].width) !=
		            p->modifier_values[i])
			return true;
	return false;
}

/* Sets the levels to @plm if the user names none. */
static void set_core_levels(struct mask_selection *p, int plm)
{
	if (!(p->given_modifiers & 3)) {
		p->modifier_values[CORE_K] =
			(unsigned)plm & p->query->event.pmu->levels & PFM_PLM0 ? 1 : 0;
		p->modifier_values[CORE_U] =
			(unsigned)plm & p->query->event.pmu->levels & PFM_PLM3 ? 1 : 0;
	}
}

/* Sets the threshold of a front-end event in its mask. */
static int set_frontend_threshold(struct mask_selection *p)
{
	uint64_t own = get_bits(p->mask_bits, 8, 12);
	bool given = p->given_modifiers >> CORE_FE_THRES & 1;

	p->code->modifier_values[CORE_FE_THRES] = given ? p->modifier_values[CORE_FE_THRES] : 0;
	if (!(p->query->event.row->flags & ROW_HAS_FRONTEND) ||
	    !(p->named_mask_flags & MASK_HAS_FRONTEND_THRESHOLD))
		return PFM_SUCCESS;
	if (own && given && (p->fixed_modifiers >> CORE_FE_THRES & 1) &&
	    p->modifier_values[CORE_FE_THRES] != own)
		return PFM_ERR_ATTR_SET;
	if (!own)
		own = given ? p->modifier_values[CORE_FE_THRES] : 1;
	set_bits(&p->mask_bits, 8, 12, own);
	p->code->modifier_values[CORE_FE_THRES] = own;
	p->code->effective_modifiers |= 1u << CORE_FE_THRES;
	return PFM_SUCCESS;
}

static int set_load_latency(struct mask_selection *p)
{
	bool given = p->given_modifiers >> CORE_LDLAT & 1;

	if (given && !(p->named_mask_flags & MASK_HAS_LDLAT))
		return PFM_ERR_ATTR;
	if (!(p->named_mask_flags & MASK_HAS_LDLAT))
		return PFM_SUCCESS;
	p->code->modifier_values[CORE_LDLAT] = given ? p->modifier_values[CORE_LDLAT] : 3;
	p->code->words[1] = p->code->modifier_values[CORE_LDLAT];
	p->code->effective_modifiers |= 1u << CORE_LDLAT;
	p->code->n_words = 2;
	return PFM_SUCCESS;
}

static void build_core_word(struct mask_selection *p)
{
	const struct l4_row *r = p->query->event.row;
	uint64_t word = r->code & ~p->filters[1];
	bool second = r->flags & (ROW_HAS_OFFCORE | ROW_HAS_FRONTEND);

	for (uint64_t bits =
	             (p->given_modifiers | 3) & ~(1ull << CORE_LDLAT | 1ull << CORE_FE_THRES);
	     bits; bits &= bits - 1) {
		unsigned i = (unsigned)__builtin_ctzll(bits);

		set_bits(&word, core_fields[i].at, core_fields[i].width, p->modifier_values[i]);
	}
	if (!second)
		word |= p->mask_bits << 8;
	if (p->override_code != NO_GROUP)
		word = (word & ~0xffull) | p->override_code;
	p->code->words[0] = word | 0x500000;
	if (second) {
		p->code->words[1] = p->mask_bits;
		p->code->n_words = 2;
	}
	for (unsigned i = CORE_K; i <= CORE_INTXCP; i++)
		if (i != CORE_LDLAT)
			p->code->modifier_values[i] = get_bits(p->code->words[0], core_fields[i].at,
			                                       core_fields[i].width);
}

/* Adds the second word of corrected masks. */
static void add_corrected_word(struct mask_selection *p)
{
	if (p->filters[0]) {
		p->code->words[1] |= p->filters[0];
		p->code->n_words = 2;
	}
}

static int complete_core_masks(struct mask_selection *p)
{
	int rc;

	if (has_fixed_modifier_conflict(p))
		return PFM_ERR_ATTR_SET;
	rc = add_defaults(p, false);
	return rc ? rc : check_groups(p);
}

int l4_encode_core(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct mask_selection p;
	int rc;

	begin_selection(&p, q, out);
	rc = select_all_attrs(&p);
	if (rc == PFM_SUCCESS)
		rc = complete_core_masks(&p);
	if (rc)
		return rc;
	set_core_levels(&p, plm);
	out->n_words = 1;
	out->effective_modifiers = ~(1u << CORE_LDLAT | 1u << CORE_FE_THRES);
	rc = set_frontend_threshold(&p);
	if (rc == PFM_SUCCESS) {
		build_core_word(&p);
		add_corrected_word(&p);
		rc = set_load_latency(&p);
	}
	if (rc == PFM_SUCCESS && (q->event.pmu->flags & PMU_EDGE_NEEDS_CMASK) &&
	    out->modifier_values[CORE_E] && !out->modifier_values[CORE_C])
		rc = PFM_ERR_ATTR;
	out->takes_no_modifiers = p.named_mask_flags & MASK_TAKES_NO_MODIFIERS;
	out->shown_modifiers = q->attr_list.modifiers;
	hide_defaults(&p);
	return rc;
}

/* ---- Nehalem's uncore ------------------------------------------------------------------------ */

int l4_encode_nhm_unc(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const uint8_t at[] = { 18, 23, 24, 17 };
	struct mask_selection p;
	uint64_t word = q->event.row->code;
	int rc;

	(void)plm;
	begin_selection(&p, q, out);
	rc = select_all_attrs(&p);
	if (rc)
		return rc;
	rc = add_defaults(&p, false);
	if (rc)
		return rc;
	for (unsigned i = 0; i < 4; i++)
		if (p.given_modifiers >> i & 1)
			set_bits(&word, at[i], i == 2 ? 8 : 1, p.modifier_values[i]);
	out->words[0] = word | p.mask_bits << 8 | 0x500000;
	out->n_words = 1;
	for (unsigned i = 0; i < 4; i++)
		out->modifier_values[i] = get_bits(out->words[0], at[i], i == 2 ? 8 : 1);
	out->shown_modifiers = q->attr_list.modifiers;
	out->effective_modifiers = ~0u;
	hide_defaults(&p);
	return PFM_SUCCESS;
}

/* ---- the boxes of later uncores -------------------------------------------------------------- */

enum {
	BOX_E,
	BOX_I,
	BOX_T8,
	BOX_T5,
	BOX_TF1,
	BOX_CF4,
	BOX_NF8,
	BOX_FF,
	BOX_ADDR, /* no event supports it */
	BOX_NF16,
	BOX_ISOC,
	BOX_NC,
	BOX_CF6,
	BOX_TF3,  /* no event supports it */
	BOX_CF64, /* no event supports it */
	BOX_LOC,
	BOX_REM,
	BOX_LMEM,
	BOX_RMEM,
	BOX_DNID,
	BOX_RCSNID,
	BOX_T6,
	BOX_OCC_I,
	BOX_OCC_E
};

#define BOX_TID_MODIFIERS  (1ull << BOX_TF1 | 1ull << BOX_CF4 | 1ull << BOX_CF6)
#define BOX_NODE_MODIFIERS (1u << BOX_NF8 | 1u << BOX_NF16)

struct box_selection {
	struct mask_selection selection;
	uint64_t word;
};

static bool is_occupancy_event(const struct l4_query *q)
{
	return (q->event.pmu->flags & PMU_IS_POWER_CONTROL) && (q->event.row->code & 0x80);
}

/* The bits of each modifier: in word 0 (0), filter 0 (1) or filter 1 (2). */
static const struct {
	uint8_t word_index, at, width;
} box_fields[] = {
	[BOX_E] = { 0, 18, 1 },    [BOX_I] = { 0, 23, 1 },     [BOX_T8] = { 0, 24, 8 },
	[BOX_T5] = { 0, 24, 5 },   [BOX_TF1] = { 1, 0, 1 },    [BOX_CF4] = { 1, 1, 3 },
	[BOX_NF8] = { 1, 10, 8 },  [BOX_FF] = { 1, 0, 0 },     [BOX_NF16] = { 2, 0, 16 },
	[BOX_ISOC] = { 2, 31, 1 }, [BOX_NC] = { 2, 30, 1 },    [BOX_CF6] = { 1, 1, 5 },
	[BOX_LOC] = { 2, 1, 1 },   [BOX_REM] = { 2, 0, 1 },    [BOX_LMEM] = { 2, 1, 1 },
	[BOX_RMEM] = { 2, 5, 1 },  [BOX_DNID] = { 1, 8, 4 },   [BOX_RCSNID] = { 1, 14, 4 },
	[BOX_T6] = { 0, 24, 8 },   [BOX_OCC_I] = { 0, 30, 1 }, [BOX_OCC_E] = { 0, 31, 1 },
};

static unsigned get_box_field_position(const struct l4_query *q, unsigned mod)
{
	if (is_occupancy_event(q) && mod <= BOX_I)
		return mod == BOX_E ? 31 : 30;
	return box_fields[mod].at;
}

static unsigned get_band_shift(const struct l4_query *q)
{
	unsigned band = (unsigned)(q->event.row->code & 0xff) - 0xb;

	return 8 * (band & 3);
}

static void apply_box_modifier(struct box_selection *b, unsigned mod, uint64_t v)
{
	const struct l4_query *q = b->selection.query;
	uint64_t *part = box_fields[mod].word_index
	                         ? &b->selection.filters[box_fields[mod].word_index - 1]
	                         : &b->word;

	if (mod == BOX_FF) {
		b->selection.filters[0] = v << get_band_shift(q);
	} else {
		set_bits(part, get_box_field_position(q, mod), box_fields[mod].width, v);
	}
	if (BOX_TID_MODIFIERS >> mod & 1)
		b->word |= 1u << 19;
	if (mod == BOX_DNID || mod == BOX_RCSNID)
		b->selection.filters[0] |= mod == BOX_DNID ? 1u << 13 : 1u << 18;
}

static int select_box_attrs(struct box_selection *b)
{
	const struct l4_query *q = b->selection.query;
	int rc = PFM_SUCCESS;

	for (unsigned i = 0; i < q->n_attrs && !rc; i++) {
		const struct l4_attr *a = &q->attrs[i];

		if (a->kind == L4_ATTR_MASK) {
			rc = select_mask(&b->selection, a->number);
		} else if (a->kind == L4_ATTR_RAW_MASK) {
			rc = select_raw_mask(&b->selection, a->value);
		} else if (a->kind == L4_ATTR_MODIFIER) {
			rc = set_modifier(&b->selection, a->number, a->value);
			if (rc == PFM_SUCCESS)
				apply_box_modifier(b, a->number, a->value);
		}
	}
	return rc;
}

static int complete_box_masks(struct mask_selection *p)
{
	const struct l4_row *r = p->query->event.row;
	uint32_t req;
	int rc;

	if (p->needed_groups & ~p->served_groups)
		return PFM_ERR_FEATCOMB;
	if (r->n_masks) {
		rc = add_defaults(p, true);
		if (rc)
			return rc;
		if (!p->has_raw_mask &&
		    !(p->code->used_masks[0] | p->code->used_masks[1] | p->code->used_masks[2]))
			return PFM_ERR_ATTR;
	}
	req = r->required_modifiers | p->required_modifiers;
	if ((p->given_modifiers & BOX_NODE_MODIFIERS & ~req) ||
	    (req && !(p->given_modifiers & req)))
		return PFM_ERR_ATTR;
	return PFM_SUCCESS;
}

/* Sets the filter of request events of the caching and home agent, which count nothing without one:
 * all requests, unless the user set one. */
static void complete_cha_filter(struct mask_selection *p)
{
	uint32_t code = p->query->event.row->code & 0xff;

	if (!(p->query->event.pmu->flags & PMU_IS_CHA) || (code != 0x35 && code != 0x36))
		return;
	if (!p->filters[1])
		p->filters[1] = 0x3b;
	else if (get_bits(p->filters[1], 9, 20))
		p->filters[1] &= ~8ull;
}

static void build_box_words(struct box_selection *b)
{
	struct mask_selection *p = &b->selection;
	struct l4_code *out = p->code;

	out->words[out->n_words++] = b->word | p->mask_bits << 8;
	complete_cha_filter(p);
	if (p->filters[0] || p->filters[1] || (p->given_modifiers & BOX_TID_MODIFIERS) ||
	    (p->query->event.row->flags & ROW_FORCES_FILTER0))
		out->words[out->n_words++] = p->filters[0];
	if (p->filters[1])
		out->words[out->n_words++] = p->filters[1];
}

/* The value that libpfm4 prints for a modifier; it may differ from the value set. */
static uint64_t get_shown_box_value(const struct box_selection *b, unsigned mod)
{
	const struct mask_selection *p = &b->selection;
	const uint64_t word[3] = { p->code->words[0], p->filters[0], p->filters[1] };

	/* libpfm4 prints six bits as threshold; those for occupancies are above them. */
	if (l4_is_exact_mode() && mod == BOX_T6)
		return get_bits(word[0], 24, 6);
	if (l4_is_exact_mode() && mod == BOX_TF1)
		return get_bits(word[0], 19, 1);
	if (l4_is_exact_mode() && (mod == BOX_RMEM || mod == BOX_LMEM))
		return get_bits(word[2], mod == BOX_RMEM ? 0 : 1, 1);
	if (!l4_is_exact_mode() &&
	    (mod == BOX_T6 ||
	     (mod >= BOX_LOC && mod <= BOX_RMEM))) /* other modifiers share the word */
		return p->modifier_values[mod];
	if (mod == BOX_FF)
		return p->given_modifiers >> BOX_FF & 1
		               ? get_bits(word[1], get_band_shift(p->query), 8)
		               : 0;
	return get_bits(word[box_fields[mod].word_index], get_box_field_position(p->query, mod),
	                box_fields[mod].width);
}

int l4_encode_ep_unc(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct box_selection b = { .word = q->event.row->code };
	const uint32_t filters = ~(1u << BOX_E | 1u << BOX_I | 1u << BOX_T8 | 1u << BOX_T5 |
	                           1u << BOX_T6 | 1u << BOX_OCC_I | 1u << BOX_OCC_E);
	int rc;

	(void)plm;
	begin_selection(&b.selection, q, out);
	rc = select_box_attrs(&b);
	if (rc == PFM_SUCCESS)
		rc = complete_box_masks(&b.selection);
	if (rc)
		return rc;
	build_box_words(&b);
	out->shown_modifiers =
		q->attr_list.modifiers & ~(BOX_NODE_MODIFIERS & ~(q->event.row->required_modifiers |
	                                                          b.selection.required_modifiers));
	out->effective_modifiers = ~filters | (uint32_t)b.selection.given_modifiers;
	for (unsigned i = 0; i < 24; i++)
		out->modifier_values[i] = get_shown_box_value(&b, i);
	hide_defaults(&b.selection);
	return PFM_SUCCESS;
}
