/* SPDX-License-Identifier: MIT */
/* Events that move to another part of a shared register, such as the bands of Intel's power control
 * unit: four events, each with its own byte of one register.
 *
 * The rules of the parts form a ring. An event takes a part that has its value, else the next free
 * one from its own on. Events with equal values are together, so a set fits if it has no more
 * values than there are parts. */
#include "base/bits.h"
#include "pmu/rules.h"

/* The part of rule @r, which has one. */
static const struct rule_test *get_part(const struct rule_use *u, const struct rule *r)
{
	return table_rule_tests(u->request->table) + r->first_test + r->n_tests;
}

static uint64_t get_part_value(const struct rule_use *u, const struct rule *r,
                               const struct rule_state *s)
{
	const struct rule_test *part = get_part(u, r);

	return part->mask ? (s->words[part->word] & part->mask) >> base_find_lowest_bit(part->mask)
	                  : 0;
}

/* The rule after @r in its ring; @r if the ring ends there. */
static const struct rule *get_next(const struct rule_use *u, const struct rule *r)
{
	const struct rule *next = table_rules(u->request->table) + r->number;

	return next->effect == RULE_MOVE ? next : r;
}

/* Makes the words in @s those of an event of rule @to with @value, instead of rule @from. */
static void move_state(const struct rule_use *u, const struct rule *from, const struct rule *to,
                       uint64_t value, struct rule_state *s)
{
	const struct rule_test *tests = table_rule_tests(u->request->table) + to->first_test;
	const struct rule_test *old = get_part(u, from), *part = get_part(u, to);

	for (unsigned i = 0; i < to->n_tests; i++)
		s->words[tests[i].word] = (s->words[tests[i].word] & ~tests[i].mask) | tests[i].low;
	s->words[old->word] &= ~old->mask;
	if (part->mask)
		s->words[part->word] |= value << base_find_lowest_bit(part->mask) & part->mask;
}

/* Finds the part for @value from rule @r on: one whose users have that value, else a free one. NULL
 * if all have other values. */
static const struct rule *find_part(const struct rule_use *u, const struct rule *r, uint64_t value)
{
	const struct rule *first = table_rules(u->request->table), *at = r, *free = NULL;

	for (unsigned i = 0; i < u->request->table->n_rules; i++) {
		const struct part_use *use = &u->parts[at - first];

		if (use->events && use->value == value)
			return at;
		if (!use->events && !free)
			free = at;
		at = get_next(u, at);
		if (at == r)
			break;
	}
	return free;
}

/* The events that use the parts of the ring of @r. */
static uint64_t list_ring_events(const struct rule_use *u, const struct rule *r)
{
	const struct rule *first = table_rules(u->request->table), *at = r;
	uint64_t events = 0;

	for (unsigned i = 0; i < u->request->table->n_rules; i++) {
		events |= u->parts[at - first].events & -u->parts[at - first].events;
		at = get_next(u, at);
	}
	return events;
}

static int move_event(struct rule_use *u, const struct rule *r, unsigned i)
{
	const struct rule *to;
	struct rule_state s;
	struct part_use *use;
	uint64_t value;

	pfmi_rules_read_state(u->request, &u->request->events[i], &s);
	value = get_part_value(u, r, &s);
	to = find_part(u, r, value);
	if (!to)
		return pfmi_rules_refuse_events(u, r, list_ring_events(u, r) | (uint64_t)1 << i,
		                                PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT);
	use = &u->parts[to - table_rules(u->request->table)];
	use->events |= (uint64_t)1 << i;
	use->value = value;
	if (to == r)
		return PFMLIB_SUCCESS;
	move_state(u, r, to, value, &s);
	memcpy(u->plan->moved[i].config, &s.words[RULE_CONFIG], sizeof(u->plan->moved[i].config));
	u->plan->moved_events |= (uint64_t)1 << i;
	return PFMLIB_SUCCESS;
}

/* The first rule with an alternative that holds for event @i, NULL without one. */
static const struct rule *find_ring(const struct rule_use *u, unsigned i)
{
	const struct rule *r = table_rules(u->request->table);

	for (unsigned k = 0; k < u->request->table->n_rules; k++)
		if (r[k].effect == RULE_MOVE && u->events[k] >> i & 1)
			return &r[k];
	return NULL;
}

int pfmi_rules_move_events(struct rule_use *u)
{
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; i < u->request->n_events && !rc; i++) {
		const struct rule *r = find_ring(u, i);

		if (r)
			rc = move_event(u, r, i);
	}
	return rc;
}
