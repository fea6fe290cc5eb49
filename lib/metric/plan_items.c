/* SPDX-License-Identifier: MIT */
/* Items of a plan: an event, or a leader with the events that follow it. The encoder and the solver
 * decide which items can be counted together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/planned_pmu.h"
#include "lookup/lookup.h"

bool pfmi_plan_constrain_trial_events(struct planned_pmu *p, unsigned n)
{
	p->request.n_events = n;
	return pfmi_pmu_plan_set(&p->request, &p->encoder_plan, NULL) == PFMLIB_SUCCESS;
}

/* Appends event @i to the @n trial events. Returns their new number. */
static unsigned add_trial_event(struct planned_pmu *p, unsigned i, unsigned n)
{
	if (n < PLAN_MAX_EVENTS) {
		p->trial_event_index[n] = i;
		event_copy(&p->trial_events[n], &p->plan->events[i].event);
	}
	return n + 1;
}

/* Appends all events of an item to the @n trial events. Returns their new number, which may exceed
 * PLAN_MAX_EVENTS. */
static unsigned add_trial_item(struct planned_pmu *p, unsigned item, unsigned n)
{
	const struct planned_event *e = p->plan->events;

	n = add_trial_event(p, p->first_event[item], n);
	for (unsigned i = 0; p->has_followers[item] && i < p->plan->n_events; i++)
		if (i != p->first_event[item] && e[i].item_index == item &&
		    e[i].event.table == p->table)
			n = add_trial_event(p, i, n);
	return n;
}

unsigned pfmi_plan_add_trial_items(struct planned_pmu *p, const uint16_t *items, unsigned n_items)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_items; i++)
		if (p->leader_item == items[i] + 1u)
			n = add_trial_item(p, items[i], n);
	for (unsigned i = 0; i < n_items; i++)
		if (p->leader_item != items[i] + 1u)
			n = add_trial_item(p, items[i], n);
	return n;
}

/* True if all registers of @b are among those of @a. */
static bool has_registers_within(const struct extra_register_use *a,
                                 const struct extra_register_use *b)
{
	for (unsigned i = 0; i < b->n_msrs; i++) {
		unsigned k = 0;

		while (k < a->n_msrs && a->msr[k] != b->msr[i])
			k++;
		if (k == a->n_msrs)
			return false;
	}
	return b->n_msrs > 0;
}

/* True if the items that can use only the registers of the last item need more values than these
 * hold. That is faster than the encoder's decision. */
static bool has_too_many_values(const struct planned_pmu *p, const uint16_t *items, unsigned n)
{
	const struct extra_register_use *last = &p->extra_register[items[n - 1]];
	uint64_t values[MAX_ALTERNATIVE_REGISTERS + 1];
	unsigned n_values = 0;

	for (unsigned i = n; i-- > 0 && n_values <= last->n_msrs && last->n_msrs;) {
		const struct extra_register_use *x = &p->extra_register[items[i]];
		bool known = !has_registers_within(last, x);

		for (unsigned k = 0; k < n_values && !known; k++)
			known = values[k] == x->value;
		if (!known)
			values[n_values++] = x->value;
	}
	return n_values > last->n_msrs;
}

/* Can the encoder and the solver place the items together? */
static bool can_place_items(struct planned_pmu *p, const uint16_t *items, unsigned n_items)
{
	struct placement where;
	unsigned n = pfmi_plan_add_trial_items(p, items, n_items);

	return n <= PLAN_MAX_EVENTS && pfmi_plan_constrain_trial_events(p, n) &&
	       pfmi_pmu_assign_counters(&p->encoder_plan, &where, NULL) == PFMLIB_SUCCESS;
}

bool pfmi_plan_can_share_group(void *arg, const uint16_t *items, unsigned n_items)
{
	struct planned_pmu *p = arg;

	return !(p->n_clash_groups && has_too_many_values(p, items, n_items)) &&
	       can_place_items(p, items, n_items);
}

static bool is_set_effect(unsigned effect)
{
	switch (effect) {
	case RULE_PAIR:
	case RULE_FOLLOW:
	case RULE_SHARE:
	case RULE_LIMIT:
	case RULE_MOVE:
	case RULE_NEEDS: return true;
	default: return false;
	}
}

/* Can a rule about sets or pairs hold for @ev? */
static bool has_set_rule(const struct event *ev)
{
	const struct rule *r;
	unsigned at = 0;

	while ((r = pfmi_pmu_find_event_rule(ev, &at)))
		if (is_set_effect(r->effect))
			return true;
	return false;
}

/* True if the event needs nothing but a counter of its own. */
static bool is_plain_event(const struct event *ev)
{
	static const enum field_key keys[] = { KEY_MSR, KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND,
		                               KEY_OFFCORE1 };

	if (event_has_flag(ev, ROW_EXCLUSIVE) || has_set_rule(ev))
		return false;
	if (ev->table->encoder != ENCODER_X86)
		return ev->table->encoder == ENCODER_FORMAT || ev->table->encoder == ENCODER_PERF;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (event_has_key(ev, keys[i]) || pfmi_pmu_has_user_key(ev, keys[i]))
			return false;
	return !(ev->table->flags & TABLE_COMPAT_VIEW);
}

/* The counters that can count the only trial event. */
static uint64_t get_counter_mask(const struct planned_pmu *p)
{
	return p->encoder_plan.counterless_events & 1
	               ? 0
	               : pfmi_pmu_get_plan_counter_mask(&p->encoder_plan) &
	                         ~p->reserved_counters.bits[0];
}

int pfmi_plan_refuse_event(const struct planned_event *e, pfm_error_t *error)
{
	int rc = pfmi_base_set_error(error, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, e->text,
	                             pfmi_base_make_slice(e->text),
	                             "no free counter can count this event");

	if (error)
		error->event = (int)e->request_index;
	return rc;
}

bool pfmi_plan_is_on_planned_pmu(const struct planned_pmu *p, const struct planned_event *e)
{
	return e->event.table == p->table;
}

static void add_item(struct planned_pmu *p, unsigned event, uint64_t mask)
{
	struct planned_event *e = &p->plan->events[event];
	unsigned item = p->n_items++;

	e->item_index = (uint16_t)item;
	p->first_event[item] = event;
	p->counter_mask[item] = mask;
	p->is_plain[item] = is_plain_event(&e->event);
	p->is_exclusive[item] = event_has_flag(&e->event, ROW_EXCLUSIVE);
	p->affinity[item] = e->metric_number;
}

/* Can @led be counted directly after @leader? */
static bool can_lead_event(struct planned_pmu *p, const struct event *leader,
                           const struct event *led)
{
	p->trial_events[0] = *leader;
	p->trial_events[1] = *led;
	return pfmi_plan_constrain_trial_events(p, 2);
}

/* Adds a slots event as the leader of event @led. NULL if that is impossible, so that the plan
 * fails. */
static struct planned_event *add_leader(struct planned_pmu *p, unsigned led)
{
	struct pfm_plan *plan = p->plan;
	struct planned_event *e =
		plan->n_events < MAX_PLANNED_EVENTS ? pfmi_plan_add_event(plan) : NULL;

	if (!e)
		return NULL;
	*e = (struct planned_event){ .request_index = plan->events[led].request_index,
		                     .pmu = plan->events[led].pmu,
		                     .counter = -1,
		                     .is_added = true };
	snprintf(e->text, sizeof(e->text), "%s::TOPDOWN.SLOTS",
	         table_get_text(p->table, p->table->name));
	if (pfmi_lookup_event_on_pmu(plan->ctx, e->text, e->pmu, &e->event, NULL) ||
	    !can_lead_event(p, &e->event, &plan->events[led].event))
		return NULL;
	return e;
}

/* Finds the leader of event @led: another event of the plan, or a new one. */
static struct planned_event *find_or_add_leader(struct planned_pmu *p, unsigned led)
{
	struct planned_event *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n_events; i++)
		if (i != led && !e[i].brace_number && pfmi_plan_is_on_planned_pmu(p, &e[i]) &&
		    can_lead_event(p, &e[i].event, &e[led].event))
			return &e[i];
	return add_leader(p, led);
}

/* True for an event that uses no counter and cannot be counted without a leader. */
static bool is_led_event(struct planned_pmu *p, const struct event *ev)
{
	return p->encoder_plan.counterless_events & 1 && p->table->encoder == ENCODER_X86 &&
	       !can_lead_event(p, ev, ev);
}

/* Can a counter that is not reserved count event @i? An x86 event may need a leader, which its item
 * gets later. */
static bool can_count_event(struct planned_pmu *p, unsigned i)
{
	bool is_possible;

	p->trial_events[0] = p->plan->events[i].event;
	p->request.is_described = p->table->encoder == ENCODER_X86;
	is_possible = pfmi_plan_constrain_trial_events(p, 1) &&
	              (get_counter_mask(p) || p->encoder_plan.counterless_events & 1);
	p->request.is_described = false;
	return is_possible;
}

/* Makes the item of event @led's leader. False if the leader is missing or its counter is reserved.
 */
static bool begin_led_item(struct planned_pmu *p, unsigned led)
{
	struct planned_event *leader = find_or_add_leader(p, led);
	unsigned at;

	if (!leader)
		return false;
	at = (unsigned)(leader - p->plan->events);
	/* A leader before @led has its item already. */
	if (at > led && !can_count_event(p, at))
		return false;
	if (at > led)
		add_item(p, at, get_counter_mask(p));
	leader->is_leader = true;
	p->leader_item = leader->item_index + 1u;
	p->has_followers[leader->item_index] = true;
	return true;
}

/* Puts event @i into the item of the event before it if it takes the counter after that event's. */
static bool join_item_before(struct planned_pmu *p, unsigned i)
{
	struct planned_event *e = p->plan->events;

	if (i == 0 || !pfmi_plan_is_on_planned_pmu(p, &e[i - 1]) ||
	    !can_lead_event(p, &e[i - 1].event, &e[i].event) || !(p->encoder_plan.followers & 2))
		return false;
	e[i].is_follower = true;
	e[i].item_index = e[i - 1].item_index;
	p->has_followers[e[i].item_index] = true;
	p->is_plain[e[i].item_index] = false;
	return true;
}

static int make_item(struct planned_pmu *p, unsigned i, pfm_error_t *error)
{
	struct planned_event *e;
	uint64_t mask;

	if (!can_count_event(p, i))
		return join_item_before(p, i) ? PFMLIB_SUCCESS
		                              : pfmi_plan_refuse_event(&p->plan->events[i], error);
	mask = get_counter_mask(p);
	if (!is_led_event(p, &p->plan->events[i].event)) {
		add_item(p, i, mask);
		return PFMLIB_SUCCESS;
	}
	/* begin_led_item() may add an event, which reallocates the events. */
	if (!p->leader_item && !begin_led_item(p, i))
		return pfmi_plan_refuse_event(&p->plan->events[i], error);
	e = &p->plan->events[i];
	e->item_index = (uint16_t)(p->leader_item - 1);
	if (i < p->first_event[e->item_index] && e->metric_number)
		p->affinity[e->item_index] = e->metric_number;
	return PFMLIB_SUCCESS;
}

/* Reports that the group in braces to which @e belongs does not fit. */
static int refuse_braces(const struct planned_event *e, pfm_error_t *error)
{
	int rc = pfmi_base_set_plain_error(error, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT,
	                                   "the events in braces cannot be counted together");

	if (error)
		error->event = (int)e->request_index;
	return rc;
}

/* Makes the item of a group in braces that begins with event @first. */
static int make_braced_item(struct planned_pmu *p, unsigned first, pfm_error_t *error)
{
	struct planned_event *e = p->plan->events;
	uint16_t item;

	if (!can_count_event(p, first))
		return refuse_braces(&e[first], error);
	add_item(p, first, get_counter_mask(p));
	item = e[first].item_index;
	p->is_plain[item] = false;
	for (unsigned i = first + 1; i < p->plan->n_events; i++) {
		if (e[i].brace_number != e[first].brace_number)
			continue;
		e[i].item_index = item;
		e[i].is_follower = p->has_followers[item] = true;
		p->is_exclusive[item] |= event_has_flag(&e[i].event, ROW_EXCLUSIVE);
	}
	return PFMLIB_SUCCESS;
}

/* Can each group in braces be counted? */
static int check_braced_items(struct planned_pmu *p, pfm_error_t *error)
{
	for (uint16_t item = 0; item < p->n_items; item++) {
		const struct planned_event *e = &p->plan->events[p->first_event[item]];

		if (e->brace_number && !can_place_items(p, &item, 1))
			return refuse_braces(e, error);
	}
	return PFMLIB_SUCCESS;
}

/* Puts event @i into an item. All of a group in braces are put into one with its first event. */
static int add_planned_event(struct planned_pmu *p, unsigned i, pfm_error_t *error)
{
	const struct planned_event *e = &p->plan->events[i];

	if (!e->brace_number)
		return make_item(p, i, error);
	return e->is_follower ? PFMLIB_SUCCESS : make_braced_item(p, i, error);
}

int pfmi_plan_make_items(struct planned_pmu *p, pfm_error_t *error)
{
	unsigned n = p->plan->n_events;
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; i < n && !rc; i++)
		if (pfmi_plan_is_on_planned_pmu(p, &p->plan->events[i]) &&
		    !p->plan->events[i].is_leader)
			rc = add_planned_event(p, i, error);
	return rc ? rc : check_braced_items(p, error);
}

/* Adds the registers of the alternative encodings of @ev. */
static void add_alternative_registers(const struct event *ev, struct extra_register_use *x)
{
	uint64_t alt;

	for (unsigned i = 0; x->n_msrs < MAX_ALTERNATIVE_REGISTERS &&
	                     (alt = pfmi_table_get_row_alternative(ev->table, ev->row_index, i));
	     i++)
		x->msr[x->n_msrs++] = (uint32_t)(alt >> 32);
}

static struct extra_register_use get_extra_register_use(struct planned_pmu *p, unsigned item)
{
	struct extra_register_use x = { 0 };
	const struct event *ev = &p->plan->events[p->first_event[item]].event;
	struct placement where;
	struct register_values regs;

	p->trial_events[0] = *ev;
	p->request.n_events = 1;
	if (p->is_plain[item] || p->table->encoder != ENCODER_X86 ||
	    pfmi_pmu_dispatch_set(&p->request, &where, &regs, NULL))
		return x;
	for (unsigned i = 0; i < regs.n_pmcs; i++)
		if (regs.pmcs[i].kind == PFM_REG_EXTRA) {
			x.value = regs.pmcs[i].value;
			x.msr[0] = (uint32_t)regs.pmcs[i].addr;
			x.n_msrs = 1;
		}
	if (x.n_msrs && event_has_key(ev, KEY_ALT))
		add_alternative_registers(ev, &x);
	return x;
}

/* Lists items that share the registers of item @i and need different values. Returns how many. */
static unsigned list_distinct_values(const struct planned_pmu *p, unsigned i, uint16_t *items)
{
	const struct extra_register_use *x = p->extra_register;
	unsigned n = 0;

	for (unsigned k = 0; k < p->n_items; k++) {
		bool known = !has_registers_within(&x[i], &x[k]);

		for (unsigned j = 0; j < n && !known; j++)
			known = x[items[j]].value == x[k].value;
		if (!known)
			items[n++] = (uint16_t)k;
	}
	return n;
}

void pfmi_plan_compute_register_bound(struct planned_pmu *p)
{
	uint16_t items[MAX_PLANNED_EVENTS];

	for (unsigned i = 0; i < p->n_items; i++)
		p->extra_register[i] = get_extra_register_use(p, i);
	for (unsigned i = 0; i < p->n_items; i++) {
		unsigned width = p->extra_register[i].n_msrs,
			 n = width ? list_distinct_values(p, i, items) : 0,
			 groups = width ? (n + width - 1) / width : 0;

		if (n > width && groups > p->n_clash_groups &&
		    !can_place_items(p, items, width + 1)) {
			p->n_clash_groups = groups;
			p->n_clashing = n;
			memcpy(p->clashing_items, items, n * sizeof(*items));
		}
	}
}
