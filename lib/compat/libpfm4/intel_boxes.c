/* SPDX-License-Identifier: MIT */
/* The layout of the boxes of Intel's uncores since Sandy Bridge EP. */
#include "compat/libpfm4/intel.h"

enum box_modifier {
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

#define BOX_TID_MODIFIERS (1ull << BOX_TF1 | 1ull << BOX_CF4 | 1ull << BOX_CF6)

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
		l4_set_bits(part, get_box_field_position(q, mod), box_fields[mod].width, v);
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
		rc = l4_select_attr(&b->selection, &q->attrs[i]);
		if (rc == PFM_SUCCESS && q->attrs[i].kind == L4_ATTR_MODIFIER)
			apply_box_modifier(b, q->attrs[i].number, q->attrs[i].value);
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
		rc = l4_add_defaults(p, true);
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
	else if (l4_get_bits(p->filters[1], 9, 20))
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
		return l4_get_bits(word[0], 24, 6);
	if (l4_is_exact_mode() && mod == BOX_TF1)
		return l4_get_bits(word[0], 19, 1);
	if (l4_is_exact_mode() && (mod == BOX_RMEM || mod == BOX_LMEM))
		return l4_get_bits(word[2], mod == BOX_RMEM ? 0 : 1, 1);
	if (!l4_is_exact_mode() &&
	    (mod == BOX_T6 ||
	     (mod >= BOX_LOC && mod <= BOX_RMEM))) /* other modifiers share the word */
		return p->modifier_values[mod];
	if (mod == BOX_FF)
		return p->given_modifiers >> BOX_FF & 1
		               ? l4_get_bits(word[1], get_band_shift(p->query), 8)
		               : 0;
	return l4_get_bits(word[box_fields[mod].word_index], get_box_field_position(p->query, mod),
	                   box_fields[mod].width);
}

int l4_encode_ep_unc(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct box_selection b = { .word = q->event.row->code };
	const uint32_t filters = ~(1u << BOX_E | 1u << BOX_I | 1u << BOX_T8 | 1u << BOX_T5 |
	                           1u << BOX_T6 | 1u << BOX_OCC_I | 1u << BOX_OCC_E);
	int rc;

	(void)plm;
	l4_begin_selection(&b.selection, q, out);
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
	l4_hide_defaults(&b.selection);
	return PFM_SUCCESS;
}
