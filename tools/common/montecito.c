/* SPDX-License-Identifier: MIT */
/* Values of the Montecito options are lists such as "cache,umask=0xff,plm=u". */
#include "common/montecito.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A piece of a list: a word, or KEY=VALUE. */
struct option_piece {
	const char *text;
	size_t len, key_len;
	const char *value; /* NULL: a word */
	size_t value_len;
};

/* A word and the number it represents. */
struct word_value {
	const char *word;
	uint64_t value;
};

static const struct word_value ear_modes[] = { { "cache", PFMLIB_MONT_EAR_CACHE_MODE },
	                                       { "tlb", PFMLIB_MONT_EAR_TLB_MODE },
	                                       { "alat", PFMLIB_MONT_EAR_ALAT_MODE },
	                                       { NULL, 0 } };
static const struct word_value taken_words[] = {
	{ "none", 0 }, { "nottaken", 1 }, { "taken", 2 }, { "all", 3 }, { NULL, 0 }
};
static const struct word_value predicted_words[] = {
	{ "none", 0 }, { "wrong", 1 }, { "right", 2 }, { "all", 3 }, { NULL, 0 }
};
static const struct word_value branch_words[] = {
	{ "all", 0 }, { "iprel", 1 }, { "return", 2 }, { "indirect", 3 }, { NULL, 0 }
};
static const struct word_value range_flags[] = { { "inv", PFMLIB_MONT_RR_INV },
	                                         { "nofine", PFMLIB_MONT_RR_NO_FINE_MODE },
	                                         { "demand", PFMLIB_MONT_IRR_DEMAND_FETCH },
	                                         { "prefetch", PFMLIB_MONT_IRR_PREFETCH_MATCH },
	                                         { NULL, 0 } };
static const struct word_value no_words[] = { { NULL, 0 } };

static bool parse_next_piece(const char **at, struct option_piece *p)
{
	const char *equals;

	if (!*at)
		return false;
	p->text = *at;
	p->len = strcspn(*at, ",");
	*at = p->text[p->len] ? p->text + p->len + 1 : NULL;
	equals = memchr(p->text, '=', p->len);
	p->key_len = equals ? (size_t)(equals - p->text) : p->len;
	p->value = equals ? equals + 1 : NULL;
	p->value_len = equals ? p->len - p->key_len - 1 : 0;
	return true;
}

static bool report_wrong_piece(struct mont_mistake *m, const char *list, const char *at, size_t len,
                               const char *why)
{
	m->start = (size_t)(at - list);
	m->end = m->start + len;
	m->reason = why;
	return false;
}

static bool piece_equals(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(text, word, len) == 0;
}

static bool piece_has_key(const struct option_piece *p, const char *key)
{
	return p->value && piece_equals(p->text, p->key_len, key);
}

static bool parse_number(const char *text, size_t len, uint64_t *out)
{
	char digits[32], *end;

	if (len == 0 || len >= sizeof(digits) || !isdigit((unsigned char)text[0]))
		return false;
	memcpy(digits, text, len);
	digits[len] = 0;
	errno = 0;
	*out = strtoull(digits, &end, 0);
	return !*end && !errno;
}

static bool parse_word_or_number(const char *text, size_t len, const struct word_value *words,
                                 uint64_t *out)
{
	for (; words->word; words++)
		if (piece_equals(text, len, words->word)) {
			*out = words->value;
			return true;
		}
	return parse_number(text, len, out);
}

/* Parses the value of @p: a word of @words or a number up to @max. */
static bool parse_piece_value(const char *list, const struct option_piece *p,
                              const struct word_value *words, uint64_t max, uint64_t *out,
                              struct mont_mistake *m)
{
	if (!parse_word_or_number(p->value, p->value_len, words, out))
		return report_wrong_piece(m, list, p->value, p->value_len,
		                          "expected a number or a known word");
	if (*out > max)
		return report_wrong_piece(m, list, p->value, p->value_len, "too large");
	return true;
}

/* Levels are letters, u and k, or the bits of PFM_PLM0 to PFM_PLM3. */
static bool parse_levels(const char *list, const struct option_piece *p, unsigned *out,
                         struct mont_mistake *m)
{
	uint64_t bits = 0;
	size_t i;

	if (parse_number(p->value, p->value_len, &bits)) {
		if (bits == 0 || bits > 15)
			return report_wrong_piece(m, list, p->value, p->value_len,
			                          "expected levels as bits 0 to 3");
	} else {
		for (i = 0; i < p->value_len; i++)
			if (p->value[i] == 'u')
				bits |= PFM_PLM3;
			else if (p->value[i] == 'k')
				bits |= PFM_PLM0;
			else
				return report_wrong_piece(
					m, list, p->value + i, 1,
					"expected levels u for user, k for kernel, or a number");
		if (!bits)
			return report_wrong_piece(m, list, p->value, 0, "which levels?");
	}
	*out = (unsigned)bits;
	return true;
}

static bool report_unknown_piece(const char *list, const struct option_piece *p,
                                 struct mont_mistake *m)
{
	return report_wrong_piece(m, list, p->text, p->len,
	                          p->len ? "not a setting of this option"
	                                 : "expected a setting between two commas");
}

/* ---- opcode matchers ------------------------------------------------------------------------- */

static bool parse_opcm_slots(const char *list, const struct option_piece *p,
                             pfmlib_mont_opcm_t *out, struct mont_mistake *m)
{
	size_t i;

	if (p->value_len == 0)
		return report_wrong_piece(m, list, p->value, 0, "slots are m, i, f and b");
	for (i = 0; i < p->value_len; i++)
		switch (p->value[i]) {
		case 'm': out->opcm_m = 1; break;
		case 'i': out->opcm_i = 1; break;
		case 'f': out->opcm_f = 1; break;
		case 'b': out->opcm_b = 1; break;
		default:
			return report_wrong_piece(m, list, p->value + i, 1,
			                          "slots are m, i, f and b");
		}
	return true;
}

bool mont_parse_opcm(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	const uint64_t max = (UINT64_C(1) << 41) - 1;
	pfmlib_mont_opcm_t *out = s->n_opcm ? &s->in.pfp_mont_opcm2 : &s->in.pfp_mont_opcm1;
	const char *at = value;
	struct option_piece p = { 0 };

	if (s->n_opcm == 2)
		return report_wrong_piece(m, value, value, strlen(value),
		                          "expected at most two opcode matchers");
	out->opcm_used = 1;
	while (parse_next_piece(&at, &p))
		if (piece_has_key(&p, "slots")) {
			if (!parse_opcm_slots(value, &p, out, m))
				return false;
		} else if (piece_has_key(&p, "match")) {
			if (!parse_piece_value(value, &p, no_words, max, &out->opcm_match, m))
				return false;
		} else if (piece_has_key(&p, "mask")) {
			if (!parse_piece_value(value, &p, no_words, max, &out->opcm_mask, m))
				return false;
		} else {
			return report_unknown_piece(value, &p, m);
		}
	/* A matcher without a slot would match no instruction. */
	if (!(out->opcm_m | out->opcm_i | out->opcm_f | out->opcm_b))
		out->opcm_m = out->opcm_i = out->opcm_f = out->opcm_b = 1;
	s->n_opcm++;
	s->is_used = true;
	return true;
}

/* ---- address ranges -------------------------------------------------------------------------- */

/* START-END, or START+SIZE. */
static bool parse_limits(const char *list, const struct option_piece *p,
                         pfmlib_mont_input_rr_desc_t *out, struct mont_mistake *m)
{
	size_t split = strcspn(p->text, "-+,");
	uint64_t second;

	if (split >= p->len || !parse_number(p->text, split, &out->rr_start) ||
	    !parse_number(p->text + split + 1, p->len - split - 1, &second))
		return report_wrong_piece(m, list, p->text, p->len,
		                          "expected START-END or START+SIZE");
	out->rr_end = p->text[split] == '+' ? out->rr_start + second : second;
	if (out->rr_end <= out->rr_start)
		return report_wrong_piece(m, list, p->text, p->len,
		                          p->text[split] != '+' ? "the end comes before the start"
		                          : second ? "the range goes beyond the last address"
		                                   : "the range is empty");
	return true;
}

static bool parse_range(pfmlib_mont_input_rr_t *rr, unsigned *n, const struct word_value *flags,
                        const char *value, struct mont_mistake *m)
{
	pfmlib_mont_input_rr_desc_t *out = &rr->rr_limits[*n & 3];
	const char *at = value;
	uint64_t flag = 0;
	struct option_piece p = { 0 };

	if (*n == 4)
		return report_wrong_piece(m, value, value, strlen(value),
		                          "expected at most four ranges");
	parse_next_piece(&at, &p);
	if (!parse_limits(value, &p, out, m))
		return false;
	while (parse_next_piece(&at, &p))
		if (piece_has_key(&p, "plm")) {
			if (!parse_levels(value, &p, &out->rr_plm, m))
				return false;
		} else if (!p.value && parse_word_or_number(p.text, p.len, flags, &flag) &&
		           !isdigit((unsigned char)p.text[0])) {
			rr->rr_flags |= (unsigned)flag;
		} else {
			return report_unknown_piece(value, &p, m);
		}
	rr->rr_used = 1;
	(*n)++;
	return true;
}

bool mont_parse_irange(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	s->is_used = true;
	return parse_range(&s->in.pfp_mont_irange, &s->n_irange, range_flags, value, m);
}

bool mont_parse_drange(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	s->is_used = true;
	return parse_range(&s->in.pfp_mont_drange, &s->n_drange, no_words, value, m);
}

/* ---- event address registers, trace buffer --------------------------------------------------- */

/* Unit masks have 4 bits for data, 8 for the code cache and 7 for its TLB. */
static bool parse_ear(pfmlib_mont_ear_t *out, bool has_alat, const char *value,
                      struct mont_mistake *m)
{
	const char *at = value;
	uint64_t mode, most;
	struct option_piece p = { .text = value };

	parse_next_piece(&at, &p);
	if (p.value || !parse_word_or_number(p.text, p.len, ear_modes, &mode) ||
	    mode > (has_alat ? 2 : 1))
		return report_wrong_piece(m, value, p.text, p.len,
		                          has_alat ? "expected cache, tlb or alat"
		                                   : "expected cache or tlb");
	out->ear_mode = (pfmlib_mont_ear_mode_t)mode;
	most = has_alat ? 15 : mode == PFMLIB_MONT_EAR_TLB_MODE ? 127 : 255;
	while (parse_next_piece(&at, &p))
		if (piece_has_key(&p, "umask")) {
			if (!parse_piece_value(value, &p, no_words, most, &out->ear_umask, m))
				return false;
		} else if (piece_has_key(&p, "plm")) {
			if (!parse_levels(value, &p, &out->ear_plm, m))
				return false;
		} else {
			return report_unknown_piece(value, &p, m);
		}
	out->ear_used = 1;
	return true;
}

bool mont_parse_iear(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	s->is_used = true;
	return parse_ear(&s->in.pfp_mont_iear, false, value, m);
}

bool mont_parse_dear(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	s->is_used = true;
	return parse_ear(&s->in.pfp_mont_dear, true, value, m);
}

static bool parse_etb_field(const char *list, const struct option_piece *p,
                            const struct word_value *words, unsigned char *out,
                            struct mont_mistake *m)
{
	uint64_t value;

	if (!parse_piece_value(list, p, words, 3, &value, m))
		return false;
	*out = (unsigned char)value;
	return true;
}

bool mont_parse_etb(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	pfmlib_mont_etb_t *etb = &s->in.pfp_mont_etb;
	const char *at = value;
	struct option_piece p = { 0 };
	bool ok;

	s->is_used = true;
	etb->etb_used = 1;
	etb->etb_tm = etb->etb_ptm = etb->etb_ppm = 3;
	while (parse_next_piece(&at, &p)) {
		if (piece_has_key(&p, "tm"))
			ok = parse_etb_field(value, &p, taken_words, &etb->etb_tm, m);
		else if (piece_has_key(&p, "ptm"))
			ok = parse_etb_field(value, &p, predicted_words, &etb->etb_ptm, m);
		else if (piece_has_key(&p, "ppm"))
			ok = parse_etb_field(value, &p, predicted_words, &etb->etb_ppm, m);
		else if (piece_has_key(&p, "brt"))
			ok = parse_etb_field(value, &p, branch_words, &etb->etb_brt, m);
		else if (piece_has_key(&p, "ds"))
			ok = parse_etb_field(value, &p, no_words, &etb->etb_ds, m);
		else if (piece_has_key(&p, "plm"))
			ok = parse_levels(value, &p, &etb->etb_plm, m);
		else
			return report_unknown_piece(value, &p, m);
		if (!ok)
			return false;
	}
	return true;
}

bool mont_parse_ipear(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	pfmlib_mont_ipear_t *ipear = &s->in.pfp_mont_ipear;
	const char *at = value;
	uint64_t delay;
	struct option_piece p = { 0 };

	s->is_used = true;
	ipear->ipear_used = 1;
	while (parse_next_piece(&at, &p))
		if (piece_has_key(&p, "delay")) {
			if (!parse_piece_value(value, &p, no_words, 255, &delay, m))
				return false;
			ipear->ipear_delay = (unsigned short)delay;
		} else if (piece_has_key(&p, "plm")) {
			if (!parse_levels(value, &p, &ipear->ipear_plm, m))
				return false;
		} else {
			return report_unknown_piece(value, &p, m);
		}
	return true;
}

/* ---- counters -------------------------------------------------------------------------------- */

bool mont_parse_thres(struct mont_settings *s, const char *value, struct mont_mistake *m)
{
	const char *at = value;
	uint64_t thres;
	struct option_piece p = { 0 };
	unsigned i = 0;

	s->is_used = true;
	for (; parse_next_piece(&at, &p); i++) {
		if (i == PMU_MONT_NUM_COUNTERS)
			return report_wrong_piece(m, value, p.text, p.len,
			                          "expected at most one threshold per counter");
		if (!parse_number(p.text, p.len, &thres) || thres > 7)
			return report_wrong_piece(m, value, p.text, p.len,
			                          "expected a number from 0 to 7 for each event");
		s->in.pfp_mont_counters[i].thres = (unsigned)thres;
	}
	s->n_thres = i;
	return true;
}

void mont_turn_off_qualcheck(struct mont_settings *s)
{
	unsigned i;

	s->is_used = true;
	for (i = 0; i < PMU_MONT_NUM_COUNTERS; i++)
		s->in.pfp_mont_counters[i].flags |= PFMLIB_MONT_FL_EVT_NO_QUALCHECK;
}
