/* SPDX-License-Identifier: MIT */
/* Rules of sets: parts of registers that events share, limits, events that others need; and what
 * all rules use, the words that they test and their refusals. */
#include "base/bits.h"
#include "pmu/rules.h"

void pfmi_rules_read_state(const struct encode_request *req, const struct event *ev,
                           struct rule_state *s)
{
	uint64_t own[N_CONFIG_WORDS];
	const uint64_t *config = pfmi_pmu_get_config_words(ev, own);
	unsigned precise = ev->precise;

	for (unsigned i = 0; i < N_CONFIG_WORDS; i++)
		s->words[RULE_CONFIG + i] = config ? config[i] : 0;
	if (!precise && ev->row_precision == PRECISE_REQUIRED)
		precise = 1;
	s->words[RULE_PRECISION] = precise;
	s->words[RULE_LEVELS] = event_get_levels(ev, req->plm);
	s->words[RULE_HT_OFF] = req->htoff != 0;
	s->words[RULE_SAMPLED] = ev->precise && !req->is_counted;
	s->words[RULE_COUNTED] = req->is_counted;
	s->words[RULE_MACHINE] = req->facts;
}

int pfmi_rules_refuse_events(struct rule_use *u, const struct rule *r, uint64_t events, int code,
                             pfm_error_kind_t kind)
{
	const struct table *t = u->request->table;

	pfmi_base_set_event_error(u->why, code, kind, (int)base_find_lowest_bit(events),
	                          table_get_text(t, r->text));
	if (u->why && kind == PFM_KIND_NO_PLACEMENT)
		pfmi_base_set_clash(u->why, events);
	return code;
}

/* Compares parts number @from to @to - 1 of two events. */
static bool has_equal_parts(const struct rule_use *u, const struct rule *r, unsigned from,
                            unsigned to, unsigned a, unsigned b)
{
	const struct rule_test *part =
		table_rule_tests(u->request->table) + r->first_test + r->n_tests;
	struct rule_state of_a, of_b;

	pfmi_rules_read_state(u->request, &u->request->events[a], &of_a);
	pfmi_rules_read_state(u->request, &u->request->events[b], &of_b);
	for (unsigned i = from; i < to; i++)
		if ((of_a.words[part[i].word] ^ of_b.words[part[i].word]) & part[i].mask)
			return false;
	return true;
}

/* Refuses two events that share a part of a register and have different bits for it. */
static int check_shared_parts(struct rule_use *u, const struct rule *r, uint64_t events)
{
	for (uint64_t a = events; a; a &= a - 1)
		for (uint64_t b = a & (a - 1); b; b &= b - 1) {
			const unsigned i = base_find_lowest_bit(a), k = base_find_lowest_bit(b);

			if (has_equal_parts(u, r, 0, r->number, i, k) &&
			    !has_equal_parts(u, r, r->number, r->n_parts, i, k))
				return pfmi_rules_refuse_events(u, r, (a & -a) | (b & -b),
				                                PFMLIB_ERR_NOASSIGN,
				                                PFM_KIND_NO_PLACEMENT);
		}
	return PFMLIB_SUCCESS;
}

/* Refuses more events than the limit, of those with the parts of event @first. */
static int check_limit(struct rule_use *u, const struct rule *r, uint64_t events, unsigned first)
{
	uint64_t clash = 0;

	for (uint64_t left = events; left; left &= left - 1)
		if (has_equal_parts(u, r, 0, r->n_parts, first, base_find_lowest_bit(left)) &&
		    base_count_bits(clash) <= r->number)
			clash |= left & -left;
	return base_count_bits(clash) > r->number
	               ? pfmi_rules_refuse_events(u, r, clash, PFMLIB_ERR_NOASSIGN,
	                                          PFM_KIND_NO_PLACEMENT)
	               : PFMLIB_SUCCESS;
}

static int check_limits(struct rule_use *u, const struct rule *r, uint64_t events)
{
	int rc = PFMLIB_SUCCESS;

	for (uint64_t left = events; left && !rc; left &= left - 1)
		rc = check_limit(u, r, events, base_find_lowest_bit(left));
	return rc;
}

static int check_needed_event(struct rule_use *u, const struct rule *r, uint64_t events)
{
	uint64_t needed = u->events[r->number];

	if (r->need_place == NEED_FIRST)
		needed &= 1;
	else if (r->need_place == NEED_BEFORE)
		needed &= (events & -events) - 1;
	u->plan->needed |= needed;
	if (u->request->is_described || needed)
		return PFMLIB_SUCCESS;
	return pfmi_rules_refuse_events(u, r, events, PFMLIB_ERR_EVTINCOMP, PFM_KIND_CONFLICT);
}

int pfmi_rules_limit_set(struct rule_use *u, const struct rule *r, uint64_t events)
{
	switch (r->effect) {
	case RULE_SHARE: return check_shared_parts(u, r, events);
	case RULE_LIMIT: return check_limits(u, r, events);
	case RULE_NEEDS: return check_needed_event(u, r, events);
	default: return PFMLIB_SUCCESS;
	}
}
