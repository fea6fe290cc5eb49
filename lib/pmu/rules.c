/* SPDX-License-Identifier: MIT */
/* The rules of a table: which counters an event gets, and what a set may hold.
 *
 * A rule holds for an event if all of its tests pass. Tests read the event's configuration words,
 * its precision and its levels, and the state of the machine, so a rule also holds for events that
 * are given by their numbers. Rules for single events narrow the counter masks of a plan; rules for
 * sets refuse a set, with the fewest events that do not fit together. */
#include "base/bits.h"
#include "pmu/rules.h"

#define EVEN_COUNTERS 0x55555555ull

/* ---- tests ----------------------------------------------------------------------------------- */

/* Can a text change what the test reads: has the table a modifier for these bits? Precision, levels
 * and the machine may differ for every event. */
static bool is_test_open(const struct table *t, const struct rule_test *test)
{
	if (test->word >= RULE_PRECISION)
		return true;
	for (unsigned i = 0; i < t->n_fields; i++) {
		const struct field *f = &table_fields(t)[i];

		for (unsigned k = 0; f->is_modifier && k < f->n_ranges; k++)
			if (f->ranges[k].config_word == test->word &&
			    test->mask >> f->ranges[k].lsb & 1)
				return true;
	}
	return false;
}

/* Do the @n tests from number @first on all pass? Tests that are joined are alternatives.
 * @may_change: those that a text can change pass. */
static inline bool pass_tests(const struct table *t, uint32_t first, unsigned n,
                              const struct rule_state *s, bool may_change)
{
	const struct rule_test *test = table_rule_tests(t) + first;
	bool passes = false;

	for (unsigned i = 0; i < n; i++) {
		uint64_t v = s->words[test[i].word] & test[i].mask;

		passes |= (v >= test[i].low && v <= test[i].high) ||
		          (may_change && is_test_open(t, &test[i]));
		if (test[i].joins_next)
			continue;
		if (!passes)
			return false;
		passes = false;
	}
	return true;
}

/* ---- single events --------------------------------------------------------------------------- */

/* Leaves event @i the counters in @mask. */
static int narrow_event(struct rule_use *u, const struct rule *r, unsigned i, uint64_t mask)
{
	uint64_t left = 0;

	if (u->plan->counterless_events >> i & 1)
		return PFMLIB_SUCCESS;
	for (unsigned a = 0; a < u->plan->n_alternatives; a++)
		left |= u->plan->alternatives[a].counter_masks[i] &= mask;
	return left ? PFMLIB_SUCCESS
	            : pfmi_rules_refuse_events(u, r, (uint64_t)1 << i, PFMLIB_ERR_NOASSIGN,
	                                       PFM_KIND_NO_PLACEMENT);
}

/* The even counters whose odd neighbours are free. */
static uint64_t list_pair_counters(const struct encode_request *req)
{
	uint64_t free = req->table->all_counters;

	if (req->unavailable_regs)
		free &= ~req->unavailable_regs->bits[0];
	return free & free >> 1 & EVEN_COUNTERS;
}

static int make_pair(struct rule_use *u, const struct rule *r, unsigned i)
{
	u->plan->pairs |= (uint64_t)1 << i;
	u->plan->pair_rule = r;
	return narrow_event(u, r, i, list_pair_counters(u->request));
}

/* Event @i takes the counter after that of the event before it. */
static int follow_event(struct rule_use *u, const struct rule *r, unsigned i)
{
	if (u->request->is_described)
		return narrow_event(u, r, i, EVEN_COUNTERS << 1);
	if (i == 0 || u->plan->followers >> (i - 1) & 1)
		return pfmi_rules_refuse_events(u, r, (uint64_t)1 << i, PFMLIB_ERR_EVTINCOMP,
		                                PFM_KIND_CONFLICT);
	u->plan->followers |= (uint64_t)1 << i;
	return make_pair(u, r, i - 1);
}

/* Moves event @i to the counters in @mask. */
static int place_event(struct rule_use *u, const struct rule *r, unsigned i)
{
	const struct encode_request *req = u->request;
	uint64_t mask = r->value & req->table->all_counters;

	if (req->unavailable_regs)
		mask &= ~req->unavailable_regs->bits[0];
	if (u->plan->counterless_events >> i & 1)
		return PFMLIB_SUCCESS;
	for (unsigned a = 0; a < u->plan->n_alternatives; a++)
		u->plan->alternatives[a].counter_masks[i] = mask;
	return narrow_event(u, r, i, mask);
}

static int limit_event(struct rule_use *u, const struct rule *r, unsigned i)
{
	switch (r->effect) {
	case RULE_COUNTERS: return narrow_event(u, r, i, r->value);
	case RULE_REFUSE:
		return pfmi_rules_refuse_events(u, r, (uint64_t)1 << i, PFMLIB_ERR_NOASSIGN,
		                                PFM_KIND_NO_PLACEMENT);
	case RULE_PAIR: return make_pair(u, r, i);
	case RULE_FOLLOW: return follow_event(u, r, i);
	case RULE_PLACE: return place_event(u, r, i);
	default: return PFMLIB_SUCCESS;
	}
}

/* ---- all rules ------------------------------------------------------------------------------- */

/* Lists the events for which each rule holds. */
static void list_rule_events(struct rule_use *u)
{
	const struct encode_request *req = u->request;
	const struct rule *r = table_rules(req->table);

	memset(u->events, 0, req->table->n_rules * sizeof(u->events[0]));
	memset(u->parts, 0, req->table->n_rules * sizeof(u->parts[0]));
	for (unsigned i = 0; i < req->n_events; i++) {
		struct rule_state s;

		pfmi_rules_read_state(req, &req->events[i], &s);
		for (unsigned k = 0; k < req->table->n_rules; k++)
			if (pass_tests(req->table, r[k].first_test, r[k].n_tests, &s, false))
				u->events[k] |= (uint64_t)1 << i;
	}
}

int pfmi_pmu_apply_rules(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	const struct rule *r = table_rules(req->table);
	struct rule_use u; /* its arrays are large: only the rules of the table are set to 0 */
	int rc = PFMLIB_SUCCESS;

	u.request = req;
	u.plan = out;
	u.why = why;
	list_rule_events(&u);
	for (unsigned k = 0; k < req->table->n_rules && !rc; k++) {
		for (uint64_t left = u.events[k]; left && !rc; left &= left - 1)
			rc = limit_event(&u, &r[k], base_find_lowest_bit(left));
		if (!rc && u.events[k])
			rc = pfmi_rules_limit_set(&u, &r[k], u.events[k]);
	}
	return rc ? rc : pfmi_rules_move_events(&u);
}

/* ---- for users ------------------------------------------------------------------------------- */

/* Is the rule a remark on the PMU, not on some of its events? */
static bool is_general_rule(const struct table *t, const struct rule *r)
{
	const struct rule_test *test = table_rule_tests(t) + r->first_test;

	for (unsigned i = 0; i < r->n_tests; i++)
		if (test[i].word != RULE_MACHINE && test[i].word != RULE_HT_OFF)
			return false;
	return r->effect == RULE_NOTE;
}

const char *pfmi_pmu_get_companion_text(const struct table *t, uint64_t value)
{
	const struct rule *r = table_rules(t);

	for (unsigned k = 0; k < t->n_rules; k++)
		if (r[k].effect == RULE_PAIR && r[k].value == value)
			return table_get_text(t, r[k].text);
	return "";
}

bool pfmi_pmu_is_erratum_general(const struct table *t, const struct erratum *e)
{
	const struct rule_test *test = table_rule_tests(t) + e->first_test;

	for (unsigned i = 0; i < e->n_tests; i++)
		if (test[i].word < RULE_PRECISION)
			return false;
	return e->is_for_all;
}

enum erratum_fit pfmi_pmu_fit_erratum(const struct event *ev, unsigned plm, bool htoff,
                                      const struct erratum *e)
{
	struct encode_request req = { .table = ev->table, .plm = plm, .htoff = htoff };
	struct rule_state s;

	if (!table_has_erratum_row(ev->table, e, ev->row_index))
		return ERRATUM_UNRELATED;
	pfmi_rules_read_state(&req, ev, &s);
	if (pass_tests(ev->table, e->first_test, e->n_tests, &s, false))
		return ERRATUM_APPLIES;
	return pass_tests(ev->table, e->first_test, e->n_tests, &s, true) ? ERRATUM_CONDITIONAL
	                                                                  : ERRATUM_UNRELATED;
}

const struct rule *pfmi_pmu_find_event_rule(const struct event *ev, unsigned *at)
{
	struct encode_request req = { .table = ev->table, .plm = PFM_PLM0 | PFM_PLM3 };
	const struct rule *r = table_rules(ev->table);
	struct rule_state s;

	if (!ev->table->n_rules)
		return NULL;
	pfmi_rules_read_state(&req, ev, &s);
	while (*at < ev->table->n_rules) {
		const struct rule *of = &r[(*at)++];

		if (of->effect != RULE_CLASS && !is_general_rule(ev->table, of) &&
		    pass_tests(ev->table, of->first_test, of->n_tests, &s, true))
			return of;
	}
	return NULL;
}

bool pfmi_pmu_holds_rule(const struct event *ev, const struct rule *r, unsigned facts)
{
	struct encode_request req = { .table = ev->table,
		                      .plm = PFM_PLM0 | PFM_PLM3,
		                      .facts = facts };
	struct rule_state s;

	pfmi_rules_read_state(&req, ev, &s);
	return pass_tests(ev->table, r->first_test, r->n_tests, &s, false);
}

unsigned pfmi_pmu_list_rule_facts(const struct table *t, const struct rule *r)
{
	const struct rule_test *test = table_rule_tests(t) + r->first_test;
	unsigned facts = 0;

	for (unsigned i = 0; i < r->n_tests; i++)
		if (test[i].word == RULE_MACHINE)
			facts |= (unsigned)test[i].mask;
	return facts;
}

unsigned pfmi_pmu_list_limit_facts(const struct table *t)
{
	const struct rule *r = table_rules(t);
	unsigned facts = 0;

	for (unsigned k = 0; k < t->n_rules; k++)
		if (r[k].effect != RULE_NOTE)
			facts |= pfmi_pmu_list_rule_facts(t, &r[k]);
	return facts;
}
