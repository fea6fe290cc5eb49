/* SPDX-License-Identifier: MIT */
/* Intel's three layouts: cores, the uncore of Nehalem, and the boxes of later uncores. They share how unit masks combine. */
#include <string.h>
#include "compat/libpfm4/l4.h"

#define NONE 0xffffffffu

/* What the masks of an event say together. */
struct picks {
	const struct l4_query *q;
	struct l4_code *out;
	uint64_t bits; /* of unit masks, from bit 0 */
	uint64_t hard; /* bits of the masks that a user named */
	uint64_t filter[2];
	uint32_t hw, req;       /* modifiers that masks set, and that they need */
	uint32_t flags;         /* of named masks, or-ed */
	uint32_t limit, only;   /* no group above; no group but 0 and this */
	uint32_t last;          /* group of the mask before */
	uint32_t served, alone; /* groups with a mask; with one that wants no other */
	uint32_t needed;        /* groups that must have one */
	uint32_t code;          /* another event code */
	uint64_t given;         /* modifiers the user gave, by bit */
	uint64_t value[24];
	bool raw;
};

static void start(struct picks *p, const struct l4_query *q, struct l4_code *out)
{
	memset(p, 0, sizeof(*p));
	memset(out, 0, sizeof(*out));
	p->q = q;
	p->out = out;
	p->limit = p->only = p->last = p->code = NONE;
}

/* ---- masks ---------------------------------------------------------------------------------------------------- */

/* What a mask adds to the filters of a box, or a corrected one to both words of a core's event. */
static void filter(struct picks *p, const struct l4_mask *m)
{
	p->filter[0] |= l4_filter(m)->word[0];
	p->filter[1] |= l4_filter(m)->word[1];
}

static void mask_bits(struct picks *p, const struct l4_mask *m)
{
	const struct l4_query *q = p->q;

	if (q->ev.encoder == L4_EP_UNC && (q->ev.u->flags & U_OCCUPANCY) && (q->ev.row->code & 0x80))
		p->bits = (p->bits & ~0xc0ull) | (m->code >> 8 & 0xc0);
	else
		p->bits |= m->code >> 8;
	if (q->ev.encoder == L4_EP_UNC || m->flags & F_WORDS)
		filter(p, m);
}

/* Another mask of a group, where one of them wants no other. */
static bool group_clash(struct picks *p, const struct l4_mask *m)
{
	uint32_t bit = 1u << m->group;
	bool clash;

	if (m->flags & F_NCOMBO)
		p->alone |= bit;
	clash = (p->served & bit) && (p->alone & bit);
	p->served |= bit;
	return clash;
}

static int take_mask(struct picks *p, unsigned number)
{
	const struct l4_mask *m = &l4_masks(p->q->ev.row)[number];
	bool core = p->q->ev.encoder == L4_CORE || p->q->ev.encoder == L4_ARCH;

	if ((p->q->ev.row->flags & F_GRP_EXCL) && p->last != NONE && p->last != m->group)
		return PFM_ERR_FEATCOMB;
	p->last = m->group;
	if ((m->flags & F_EXCL_GRP_GT) && p->q->ev.encoder != L4_NHM_UNC)
		p->limit = m->group;
	if ((m->flags & F_BUT_0) && core)
		p->only = m->group;
	if (m->flags & F_GRP_REQ)
		p->needed |= 1u << m->needs;
	if (group_clash(p, m))
		return PFM_ERR_FEATCOMB;
	if (m->flags & F_CODE_OVERRIDE) /* masks with other codes do not get along in their group */
		p->code = m->code & 0xff;
	p->hw |= m->hw;
	p->req |= m->req;
	p->flags |= m->flags;
	mask_bits(p, m);
	p->hard |= m->code >> 8;
	l4_set(p->out->masks, number);
	return PFM_SUCCESS;
}

static unsigned raw_width(const struct l4_query *q)
{
	if (q->ev.encoder != L4_CORE || !(q->ev.row->flags & F_OFFCORE))
		return 8;
	return strncmp(l4_text(q->ev.u->name), "wsm", 3) == 0 ? 16 : 38;
}

static int take_raw(struct picks *p, uint64_t value)
{
	if (value >> raw_width(p->q))
		return PFM_ERR_ATTR;
	p->bits = p->hard = value;
	p->raw = p->out->raw = true;
	p->out->raw_mask = value;
	p->served = NONE;
	return PFM_SUCCESS;
}

static int take_mod(struct picks *p, unsigned number, uint64_t value)
{
	const struct l4_mod *mod = &l4_mods[p->q->ev.encoder][number];

	if (mod->number && (value < mod->low || value > mod->high))
		return p->q->ev.encoder == L4_NHM_UNC ? PFM_ERR_INVAL : PFM_ERR_ATTR_VAL;
	p->given |= 1ull << number;
	p->value[number] = value;
	return PFM_SUCCESS;
}

/* True if a group may stay empty for this mask's sake, and the mask is no candidate. */
static bool is_excused(const struct picks *p, const struct l4_mask *m)
{
	uint32_t g = m->group;

	return (p->limit != NONE && g > p->limit) || (m->flags & F_GRP_DFL_NONE) || (p->only != NONE && g != 0 && g != p->only);
}

/* The defaults of one group: number added, or an error. */
static int default_group(struct picks *p, uint32_t group)
{
	const struct l4_row *r = p->q->ev.row;
	const struct l4_mask *m = l4_masks(r);
	bool excused = false;
	int n = 0;

	for (unsigned i = 0; i < r->n_masks; i++) {
		if (m[i].group != group || !l4_mask_valid(&p->q->ev, &m[i]))
			continue;
		if (is_excused(p, &m[i])) {
			excused = true;
			continue;
		}
		if (!(m[i].flags & F_DFL))
			continue;
		if (m[i].flags & F_EXCL_GRP_GT) /* no other group has such a mask */
			p->limit = m[i].group;
		mask_bits(p, &m[i]);
		l4_set(p->out->masks, i);
		l4_set(p->out->by_default, i);
		n++;
		if (r->flags & F_GRP_EXCL)
			return n;
	}
	return n || excused ? n : PFM_ERR_UMASK;
}

/* @every: whatever the event's flags are. */
static int add_defaults(struct picks *p, bool every)
{
	const struct l4_row *r = p->q->ev.row;
	uint32_t all = (1u << r->groups) - 1, limit = p->limit;
	bool some = p->served & all;
	int n = 0;

	if ((p->served & all) == all || !(every || !(r->flags & F_GRP_EXCL) || !some))
		return PFM_SUCCESS;
	for (uint32_t g = 0; g < r->groups && n >= 0; g++) {
		if (p->served & 1u << g)
			continue;
		n = default_group(p, g);
		if (n > 0 && (r->flags & F_GRP_EXCL))
			break;
	}
	p->limit = limit;
	return n < 0 ? n : PFM_SUCCESS;
}

/* The masks the user named must keep within what they set themselves. */
static int check_groups(const struct picks *p)
{
	const struct l4_mask *m = l4_masks(p->q->ev.row);

	if (p->only == NONE && p->limit == NONE)
		return PFM_SUCCESS;
	for (unsigned i = 0; i < p->q->ev.row->n_masks; i++) {
		if (!l4_has(p->out->masks, i))
			continue;
		if (p->only != NONE && !l4_has(p->out->by_default, i) && m[i].group != 0 && m[i].group != p->only)
			return PFM_ERR_FEATCOMB;
	}
	for (unsigned i = 0; i < p->q->ev.row->n_masks; i++)
		if (l4_has(p->out->masks, i) && p->limit != NONE && (m[i].group | (uint32_t)m[i].needs << 8) > p->limit)
			return PFM_ERR_FEATCOMB;
	return PFM_SUCCESS;
}

static int take_all(struct picks *p)
{
	const struct l4_query *q = p->q;
	int rc = PFM_SUCCESS;

	for (unsigned i = 0; i < q->n && !rc; i++) {
		const struct l4_attr *a = &q->a[i];

		if (a->kind == ATTR_MASK)
			rc = take_mask(p, a->number);
		else if (a->kind == ATTR_RAW)
			rc = take_raw(p, a->value);
		else if (a->kind == ATTR_MOD)
			rc = take_mod(p, a->number, a->value);
	}
	return rc;
}

/* Masks that nobody named and that would not be accepted by name, or would then mean something else. */
static void hide_defaults(struct picks *p)
{
	const struct l4_mask *m = l4_masks(p->q->ev.row);
	struct l4_code *out = p->out;

	if (!(out->by_default[0] | out->by_default[1] | out->by_default[2]))
		return;
	for (unsigned i = 0; i < p->q->ev.row->n_masks; i++) {
		bool above = false;

		if (!l4_has(out->by_default, i))
			continue;
		for (unsigned k = 0; (m[i].flags & F_EXCL_GRP_GT) && k < p->q->ev.row->n_masks; k++)
			above |= l4_has(out->masks, k) && m[k].group > m[i].group;
		if (above || m[i].equiv || m[i].hw || m[i].req ||
		    (m[i].flags & (F_LDLAT | F_FETHR | F_CODE_OVERRIDE | F_BUT_0 | F_GRP_REQ)))
			l4_set(out->hidden, i);
	}
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

static void put(uint64_t *word, unsigned at, unsigned width, uint64_t value)
{
	uint64_t mask = ((1ull << width) - 1) << at;

	*word = (*word & ~mask) | (value << at & mask);
}

static uint64_t get(uint64_t word, unsigned at, unsigned width)
{
	return word >> at & ((1ull << width) - 1);
}

enum { CK,
       CU,
       CE,
       CI,
       CC,
       CT,
       LDLAT,
       INTX,
       INTXCP,
       FE_THRES };

static const struct {
	uint8_t at, width;
} core_field[] = {
	[CK] = { 17, 1 },
	[CU] = { 16, 1 },
	[CE] = { 18, 1 },
	[CI] = { 23, 1 },
	[CC] = { 24, 8 },
	[CT] = { 21, 1 },
	[INTX] = { 32, 1 },
	[INTXCP] = { 33, 1 },
};

/* A modifier that a mask fixes may be given if it has the mask's value. */
static bool is_hard_wired(const struct picks *p)
{
	uint64_t word = ((p->q->ev.row->code >> 8 & 0xff) | p->hard) << 8;

	if (!(p->hw & p->given))
		return false;
	for (unsigned i = CK; i <= INTXCP; i++)
		if (i != LDLAT && (p->hw & p->given) >> i & 1 && get(word, core_field[i].at, core_field[i].width) != p->value[i])
			return true;
	return false;
}

/* Sets the levels to those given, or to @plm. */
static void core_levels(struct picks *p, int plm)
{
	if (!(p->given & 3)) {
		p->value[CK] = (unsigned)plm & p->q->ev.u->levels & PFM_PLM0 ? 1 : 0;
		p->value[CU] = (unsigned)plm & p->q->ev.u->levels & PFM_PLM3 ? 1 : 0;
	}
}

/* The threshold of a front-end event goes where the mask has it. */
static int frontend(struct picks *p)
{
	uint64_t own = get(p->bits, 8, 12);
	bool given = p->given >> FE_THRES & 1;

	p->out->value[FE_THRES] = given ? p->value[FE_THRES] : 0;
	if (!(p->q->ev.row->flags & F_FRONTEND) || !(p->flags & F_FETHR))
		return PFM_SUCCESS;
	if (own && given && (p->hw >> FE_THRES & 1) && p->value[FE_THRES] != own)
		return PFM_ERR_ATTR_SET;
	if (!own)
		own = given ? p->value[FE_THRES] : 1;
	put(&p->bits, 8, 12, own);
	p->out->value[FE_THRES] = own;
	p->out->used |= 1u << FE_THRES;
	return PFM_SUCCESS;
}

static int latency(struct picks *p)
{
	bool given = p->given >> LDLAT & 1;

	if (given && !(p->flags & F_LDLAT))
		return PFM_ERR_ATTR;
	if (!(p->flags & F_LDLAT))
		return PFM_SUCCESS;
	p->out->value[LDLAT] = given ? p->value[LDLAT] : 3;
	p->out->word[1] = p->out->value[LDLAT];
	p->out->used |= 1u << LDLAT;
	p->out->n = 2;
	return PFM_SUCCESS;
}

static void core_word(struct picks *p)
{
	const struct l4_row *r = p->q->ev.row;
	uint64_t word = r->code & ~p->filter[1];
	bool second = r->flags & (F_OFFCORE | F_FRONTEND);

	for (uint64_t bits = (p->given | 3) & ~(1ull << LDLAT | 1ull << FE_THRES); bits; bits &= bits - 1) {
		unsigned i = (unsigned)__builtin_ctzll(bits);

		put(&word, core_field[i].at, core_field[i].width, p->value[i]);
	}
	if (!second)
		word |= p->bits << 8;
	if (p->code != NONE)
		word = (word & ~0xffull) | p->code;
	p->out->word[0] = word | 0x500000;
	if (second) {
		p->out->word[1] = p->bits;
		p->out->n = 2;
	}
	for (unsigned i = CK; i <= INTXCP; i++)
		if (i != LDLAT)
			p->out->value[i] = get(p->out->word[0], core_field[i].at, core_field[i].width);
}

/* What corrected masks have in a second word. */
static void corrected_word(struct picks *p)
{
	if (p->filter[0]) {
		p->out->word[1] |= p->filter[0];
		p->out->n = 2;
	}
}

static int core_masks(struct picks *p)
{
	int rc;

	if (is_hard_wired(p))
		return PFM_ERR_ATTR_SET;
	rc = add_defaults(p, false);
	return rc ? rc : check_groups(p);
}

int l4_encode_core(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct picks p;
	int rc;

	start(&p, q, out);
	rc = take_all(&p);
	if (rc == PFM_SUCCESS)
		rc = core_masks(&p);
	if (rc)
		return rc;
	core_levels(&p, plm);
	out->n = 1;
	out->used = ~(1u << LDLAT | 1u << FE_THRES);
	rc = frontend(&p);
	if (rc == PFM_SUCCESS) {
		core_word(&p);
		corrected_word(&p);
		rc = latency(&p);
	}
	if (rc == PFM_SUCCESS && (q->ev.u->flags & U_EDGE) && out->value[CE] && !out->value[CC])
		rc = PFM_ERR_ATTR;
	out->no_mods = p.flags & F_NO_MODS;
	out->shown = q->list.mods;
	hide_defaults(&p);
	return rc;
}

/* ---- Nehalem's uncore ----------------------------------------------------------------------------------------- */

int l4_encode_nhm_unc(const struct l4_query *q, int plm, struct l4_code *out)
{
	static const uint8_t at[] = { 18, 23, 24, 17 };
	struct picks p;
	uint64_t word = q->ev.row->code;
	int rc;

	(void)plm;
	start(&p, q, out);
	rc = take_all(&p);
	if (rc)
		return rc;
	rc = add_defaults(&p, false);
	if (rc)
		return rc;
	for (unsigned i = 0; i < 4; i++)
		if (p.given >> i & 1)
			put(&word, at[i], i == 2 ? 8 : 1, p.value[i]);
	out->word[0] = word | p.bits << 8 | 0x500000;
	out->n = 1;
	for (unsigned i = 0; i < 4; i++)
		out->value[i] = get(out->word[0], at[i], i == 2 ? 8 : 1);
	out->shown = q->list.mods;
	out->used = ~0u;
	hide_defaults(&p);
	return PFM_SUCCESS;
}

/* ---- the boxes of later uncores -------------------------------------------------------------------------------- */

enum { BE,
       BI,
       BT8,
       BT5,
       TF1,
       CF4,
       NF8,
       FF,
       ADDR, /* no event has it */
       NF16,
       ISOC,
       NC,
       CF6,
       TF3,  /* nor this one */
       CF64, /* nor this */
       LOC,
       REM,
       LMEM,
       RMEM,
       DNID,
       RCSNID,
       BT6,
       OCC_I,
       OCC_E };

#define TID (1ull << TF1 | 1ull << CF4 | 1ull << CF6)
#define NF  (1u << NF8 | 1u << NF16)

struct box {
	struct picks p;
	uint64_t word;
};

static bool is_occupancy(const struct l4_query *q)
{
	return (q->ev.u->flags & U_OCCUPANCY) && (q->ev.row->code & 0x80);
}

/* Where a modifier is: word 0 (part 0), filter 0 (1) or filter 1 (2). */
static const struct {
	uint8_t part, at, width;
} box_field[] = {
	[BE] = { 0, 18, 1 },
	[BI] = { 0, 23, 1 },
	[BT8] = { 0, 24, 8 },
	[BT5] = { 0, 24, 5 },
	[TF1] = { 1, 0, 1 },
	[CF4] = { 1, 1, 3 },
	[NF8] = { 1, 10, 8 },
	[FF] = { 1, 0, 0 },
	[NF16] = { 2, 0, 16 },
	[ISOC] = { 2, 31, 1 },
	[NC] = { 2, 30, 1 },
	[CF6] = { 1, 1, 5 },
	[LOC] = { 2, 1, 1 },
	[REM] = { 2, 0, 1 },
	[LMEM] = { 2, 1, 1 },
	[RMEM] = { 2, 5, 1 },
	[DNID] = { 1, 8, 4 },
	[RCSNID] = { 1, 14, 4 },
	[BT6] = { 0, 24, 8 },
	[OCC_I] = { 0, 30, 1 },
	[OCC_E] = { 0, 31, 1 },
};

static unsigned box_at(const struct l4_query *q, unsigned mod)
{
	if (is_occupancy(q) && mod <= BI)
		return mod == BE ? 31 : 30;
	return box_field[mod].at;
}

static unsigned band_shift(const struct l4_query *q)
{
	unsigned band = (unsigned)(q->ev.row->code & 0xff) - 0xb;

	return 8 * (band & 3);
}

static void box_mod(struct box *b, unsigned mod, uint64_t v)
{
	const struct l4_query *q = b->p.q;
	uint64_t *part = box_field[mod].part ? &b->p.filter[box_field[mod].part - 1] : &b->word;

	if (mod == FF) {
		b->p.filter[0] = v << band_shift(q);
	} else {
		put(part, box_at(q, mod), box_field[mod].width, v);
	}
	if (TID >> mod & 1)
		b->word |= 1u << 19;
	if (mod == DNID || mod == RCSNID)
		b->p.filter[0] |= mod == DNID ? 1u << 13 : 1u << 18;
}

static int box_attrs(struct box *b)
{
	const struct l4_query *q = b->p.q;
	int rc = PFM_SUCCESS;

	for (unsigned i = 0; i < q->n && !rc; i++) {
		const struct l4_attr *a = &q->a[i];

		if (a->kind == ATTR_MASK) {
			rc = take_mask(&b->p, a->number);
		} else if (a->kind == ATTR_RAW) {
			rc = take_raw(&b->p, a->value);
		} else if (a->kind == ATTR_MOD) {
			rc = take_mod(&b->p, a->number, a->value);
			if (rc == PFM_SUCCESS)
				box_mod(b, a->number, a->value);
		}
	}
	return rc;
}

static int box_masks(struct picks *p)
{
	const struct l4_row *r = p->q->ev.row;
	uint32_t req;
	int rc;

	if (p->needed & ~p->served)
		return PFM_ERR_FEATCOMB;
	if (r->n_masks) {
		rc = add_defaults(p, true);
		if (rc)
			return rc;
		if (!p->raw && !(p->out->masks[0] | p->out->masks[1] | p->out->masks[2]))
			return PFM_ERR_ATTR;
	}
	req = r->req | p->req;
	if ((p->given & NF & ~req) || (req && !(p->given & req)))
		return PFM_ERR_ATTR;
	return PFM_SUCCESS;
}

/* Events of the home agent's requests count nothing without a filter: all of it, unless the user said which. */
static void cha_filter(struct picks *p)
{
	uint32_t code = p->q->ev.row->code & 0xff;

	if (!(p->q->ev.u->flags & U_CHA) || (code != 0x35 && code != 0x36))
		return;
	if (!p->filter[1])
		p->filter[1] = 0x3b;
	else if (get(p->filter[1], 9, 20))
		p->filter[1] &= ~8ull;
}

static void box_words(struct box *b)
{
	struct picks *p = &b->p;
	struct l4_code *out = p->out;

	out->word[out->n++] = b->word | p->bits << 8;
	cha_filter(p);
	if (p->filter[0] || p->filter[1] || (p->given & TID) || (p->q->ev.row->flags & F_FORCE_FILT0))
		out->word[out->n++] = p->filter[0];
	if (p->filter[1])
		out->word[out->n++] = p->filter[1];
}

/* What libpfm4 prints for a modifier, which is not always what was set. */
static uint64_t box_shows(const struct box *b, unsigned mod)
{
	const struct picks *p = &b->p;
	const uint64_t word[3] = { p->out->word[0], p->filter[0], p->filter[1] };

	if (l4_exact() && mod == TF1)
		return get(word[0], 19, 1);
	if (l4_exact() && (mod == RMEM || mod == LMEM))
		return get(word[2], mod == RMEM ? 0 : 1, 1);
	if (!l4_exact() && (mod == BT6 || (mod >= LOC && mod <= RMEM))) /* the threshold's word has further modifiers in it */
		return p->value[mod];
	if (mod == FF)
		return p->given >> FF & 1 ? get(word[1], band_shift(p->q), 8) : 0;
	return get(word[box_field[mod].part], box_at(p->q, mod), box_field[mod].width);
}

int l4_encode_ep_unc(const struct l4_query *q, int plm, struct l4_code *out)
{
	struct box b = { .word = q->ev.row->code };
	const uint32_t filters = ~(1u << BE | 1u << BI | 1u << BT8 | 1u << BT5 | 1u << BT6 | 1u << OCC_I | 1u << OCC_E);
	int rc;

	(void)plm;
	start(&b.p, q, out);
	rc = box_attrs(&b);
	if (rc == PFM_SUCCESS)
		rc = box_masks(&b.p);
	if (rc)
		return rc;
	box_words(&b);
	out->shown = q->list.mods & ~(NF & ~(q->ev.row->req | b.p.req));
	out->used = ~filters | (uint32_t)b.p.given;
	for (unsigned i = 0; i < 24; i++)
		out->value[i] = box_shows(&b, i);
	hide_defaults(&b.p);
	return PFM_SUCCESS;
}
