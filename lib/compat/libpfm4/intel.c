/* SPDX-License-Identifier: MIT */
/* Intel's layouts of cores and of Nehalem's uncore. */
#include "compat/libpfm4/intel.h"

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
		    l4_get_bits(word, core_fields[i].at, core_fields[i].width) !=
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
	uint64_t own = l4_get_bits(p->mask_bits, 8, 12);
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
	l4_set_bits(&p->mask_bits, 8, 12, own);
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

		l4_set_bits(&word, core_fields[i].at, core_fields[i].width, p->modifier_values[i]);
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
			p->code->modifier_values[i] = l4_get_bits(
				p->code->words[0], core_fields[i].at, core_fields[i].width);
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
	rc = l4_add_defaults(p, false);
	return rc ? rc : l4_check_groups(p);
}

int l4_encode_core(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct mask_selection p;
	int rc;

	l4_begin_selection(&p, q, out);
	rc = l4_select_all_attrs(&p);
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
	l4_hide_defaults(&p);
	return rc;
}

int l4_encode_nhm_unc(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const uint8_t at[] = { 18, 23, 24, 17 };
	struct mask_selection p;
	uint64_t word = q->event.row->code;
	int rc;

	(void)plm;
	l4_begin_selection(&p, q, out);
	rc = l4_select_all_attrs(&p);
	if (rc)
		return rc;
	rc = l4_add_defaults(&p, false);
	if (rc)
		return rc;
	for (unsigned i = 0; i < 4; i++)
		if (p.given_modifiers >> i & 1)
			l4_set_bits(&word, at[i], i == 2 ? 8 : 1, p.modifier_values[i]);
	out->words[0] = word | p.mask_bits << 8 | 0x500000;
	out->n_words = 1;
	for (unsigned i = 0; i < 4; i++)
		out->modifier_values[i] = l4_get_bits(out->words[0], at[i], i == 2 ? 8 : 1);
	out->shown_modifiers = q->attr_list.modifiers;
	out->effective_modifiers = ~0u;
	l4_hide_defaults(&p);
	return PFM_SUCCESS;
}
