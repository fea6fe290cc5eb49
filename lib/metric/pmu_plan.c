/* SPDX-License-Identifier: MIT */
/* The groups of one PMU's events: events become items, group_packing.c finds the least number of
 * groups, and the solver that places events for counting places each group. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/plan.h"
#include "lookup/lookup.h"

#define PROOF_TEXT_SIZE 512
#define DEFAULT_EFFORT  1500ul

/* The value that an event needs in an extra register, and the one or two registers that can hold
 * it. */
struct extra_register_use {
	uint64_t value;
	uint32_t msr[2];
	bool is_used;
};

/* A PMU of a plan while its events are put into groups. */
struct planned_pmu {
	struct pfm_plan *plan;
	const struct table *table;
	pfmlib_regmask_t reserved_counters;
	struct encode_request request;
	unsigned n_items;
	uint64_t counter_mask[MAX_PLANNED_EVENTS];
	bool is_plain[MAX_PLANNED_EVENTS], is_exclusive[MAX_PLANNED_EVENTS];
	uint16_t affinity[MAX_PLANNED_EVENTS], group[MAX_PLANNED_EVENTS];
	unsigned first_event[MAX_PLANNED_EVENTS]; /* the first event of each item; only the leader's
	                                             item has more */
	unsigned leader_item; /* 1 + the item of the leader and the events that follow it */
	struct extra_register_use extra_register[MAX_PLANNED_EVENTS];
	uint16_t clashing_items[MAX_PLANNED_EVENTS]; /* items that need different values in one
	                                                extra register */
	unsigned n_clashing, n_clash_groups; /* n_clash_groups: the groups that these need */
	struct event trial_events[PLAN_MAX_EVENTS];
	unsigned trial_event_index[PLAN_MAX_EVENTS]; /* index of the planned event that each is a
	                                                copy of */
	struct plan encoder_plan;
};

/* ---- items ----------------------------------------------------------------------------------- */

static unsigned get_privilege_levels(const struct planned_pmu *p)
{
	return p->plan->options.plm ? p->plan->options.plm : pfmi_pmu_get_default_levels(p->table);
}

/* Can the @n trial events be counted together? The encoder decides. */
static bool constrain_trial_events(struct planned_pmu *p, unsigned n)
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
	for (unsigned i = 0; p->leader_item == item + 1 && i < p->plan->n_events; i++)
		if (i != p->first_event[item] && e[i].item_index == item &&
		    e[i].event.table == p->table)
			n = add_trial_event(p, i, n);
	return n;
}

/* Makes the events of items the trial events. Events with a leader follow it directly, before all
 * others. */
static unsigned add_trial_items(struct planned_pmu *p, const uint16_t *items, unsigned n_items)
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

/* True if both registers of @b are among those of @a. */
static bool has_registers_within(const struct extra_register_use *a,
                                 const struct extra_register_use *b)
{
	return (b->msr[0] == a->msr[0] || b->msr[0] == a->msr[1]) &&
	       (b->msr[1] == a->msr[0] || b->msr[1] == a->msr[1]);
}

/* True if the items that can use only the registers of the last item need more values than these
 * hold. That is faster than the encoder's decision. */
static bool has_too_many_values(const struct planned_pmu *p, const uint16_t *items, unsigned n)
{
	const struct extra_register_use *last = &p->extra_register[items[n - 1]];
	uint64_t other = last->value;
	unsigned values = last->is_used;

	for (unsigned i = 0; i + 1 < n && last->is_used; i++) {
		const struct extra_register_use *x = &p->extra_register[items[i]];

		if (!x->is_used || !has_registers_within(last, x) || x->value == last->value ||
		    (values > 1 && x->value == other))
			continue;
		other = x->value;
		values++;
	}
	return values > 1u + (last->msr[0] != last->msr[1]);
}

/* Can the encoder and the solver place the items together? */
static bool can_place_items(struct planned_pmu *p, const uint16_t *items, unsigned n_items)
{
	struct placement where;
	unsigned n = add_trial_items(p, items, n_items);

	return n <= PLAN_MAX_EVENTS && constrain_trial_events(p, n) &&
	       pfmi_pmu_assign_counters(&p->encoder_plan, &where, NULL) == PFMLIB_SUCCESS;
}

static bool can_share_group(void *arg, const uint16_t *items, unsigned n_items)
{
	struct planned_pmu *p = arg;

	return !(p->n_clash_groups && has_too_many_values(p, items, n_items)) &&
	       can_place_items(p, items, n_items);
}

/* True if the event needs nothing but a counter of its own. */
static bool is_plain_event(const struct event *ev)
{
	static const enum field_key keys[] = { KEY_MSR, KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND,
		                               KEY_OFFCORE1 };

	if (event_has_flag(ev, ROW_EXCLUSIVE))
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

static int refuse_event(const struct planned_event *e, pfm_error_t *error)
{
	int rc = pfmi_base_set_error(error, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, e->text,
	                             pfmi_base_make_slice(e->text),
	                             "no free counter can count this event");

	if (error)
		error->event = (int)e->request_index;
	return rc;
}

static bool is_on_planned_pmu(const struct planned_pmu *p, const struct planned_event *e)
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
	return constrain_trial_events(p, 2);
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
static struct planned_event *find_leader(struct planned_pmu *p, unsigned led)
{
	struct planned_event *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n_events; i++)
		if (i != led && is_on_planned_pmu(p, &e[i]) &&
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

/* Can a counter that is not reserved count event @i? */
static bool can_count_event(struct planned_pmu *p, unsigned i)
{
	p->trial_events[0] = p->plan->events[i].event;
	return constrain_trial_events(p, 1) &&
	       (get_counter_mask(p) || p->encoder_plan.counterless_events & 1);
}

/* Makes the item of event @led's leader. False if the leader is missing or its counter is reserved.
 */
static bool begin_led_item(struct planned_pmu *p, unsigned led)
{
	struct planned_event *leader = find_leader(p, led);
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
	return true;
}

static int make_item(struct planned_pmu *p, unsigned i, pfm_error_t *error)
{
	struct planned_event *e;
	uint64_t mask;

	if (!can_count_event(p, i))
		return refuse_event(&p->plan->events[i], error);
	mask = get_counter_mask(p);
	if (!is_led_event(p, &p->plan->events[i].event)) {
		add_item(p, i, mask);
		return PFMLIB_SUCCESS;
	}
	/* begin_led_item() may add an event, which reallocates the events. */
	if (!p->leader_item && !begin_led_item(p, i))
		return refuse_event(&p->plan->events[i], error);
	e = &p->plan->events[i];
	e->item_index = (uint16_t)(p->leader_item - 1);
	if (i < p->first_event[e->item_index] && e->metric_number)
		p->affinity[e->item_index] = e->metric_number;
	return PFMLIB_SUCCESS;
}

static int make_items(struct planned_pmu *p, pfm_error_t *error)
{
	unsigned n = p->plan->n_events;
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; i < n && !rc; i++)
		if (is_on_planned_pmu(p, &p->plan->events[i]) && !p->plan->events[i].is_leader)
			rc = make_item(p, i, error);
	return rc;
}

/* ---- extra registers ------------------------------------------------------------------------- */

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
			x.is_used = true;
			x.value = regs.pmcs[i].value;
			x.msr[0] = x.msr[1] = (uint32_t)regs.pmcs[i].addr;
		}
	if (x.is_used && ev->row_index != ROW_NONE &&
	    pfmi_table_has_row_value(p->table, ev->row_index, KEY_ALT))
		x.msr[1] = (uint32_t)(pfmi_table_get_row_value(p->table, ev->row_index, KEY_ALT,
		                                               ANY_COUNTER) >>
		                      32);
	return x;
}

/* Lists items that share the registers of item @i and need different values. Returns how many. */
static unsigned list_distinct_values(const struct planned_pmu *p, unsigned i, uint16_t *items)
{
	const struct extra_register_use *x = p->extra_register;
	unsigned n = 0;

	for (unsigned k = 0; k < p->n_items; k++) {
		bool known = !x[k].is_used || !has_registers_within(&x[i], &x[k]);

		for (unsigned j = 0; j < n && !known; j++)
			known = x[items[j]].value == x[k].value;
		if (!known)
			items[n++] = (uint16_t)k;
	}
	return n;
}

/* Computes how many groups the items need whose values share an extra register: one for each value,
 * or half as many for a choice of two registers. The encoder confirms that more do not fit. */
static void compute_register_bound(struct planned_pmu *p)
{
	uint16_t items[MAX_PLANNED_EVENTS];

	for (unsigned i = 0; i < p->n_items; i++) {
		unsigned width = 1u + (p->extra_register[i].msr[0] != p->extra_register[i].msr[1]),
			 n = p->extra_register[i].is_used ? list_distinct_values(p, i, items) : 0,
			 groups = (n + width - 1) / width;

		if (n > width && groups > p->n_clash_groups &&
		    !can_place_items(p, items, width + 1)) {
			p->n_clash_groups = groups;
			p->n_clashing = n;
			memcpy(p->clashing_items, items, n * sizeof(*items));
		}
	}
}

/* ---- results --------------------------------------------------------------------------------- */

static unsigned format_counters(uint64_t counters, char *buf, size_t len)
{
	size_t at = 0;
	unsigned n = 0;

	buf[0] = '\0';
	for (unsigned c = 0; c < 64; c++) {
		if (!(counters >> c & 1))
			continue;
		if (at + 8 < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s%u", n ? "," : "",
			                       c < 32 ? "" : "F", c % 32);
		n++;
	}
	return n;
}

static void write_proof(const struct planned_pmu *p, const struct pack_problem *k, char *buf,
                        size_t len)
{
	char counters[128];
	unsigned n = 0, width;

	width = format_counters(k->proof_counters, counters, sizeof(counters));
	for (unsigned i = 0; i < p->n_items; i++)
		n += p->counter_mask[i] && !(p->counter_mask[i] & ~k->proof_counters);
	switch (k->proof) {
	case PACK_PROOF_ONE_GROUP: snprintf(buf, len, "one group holds every event"); break;
	case PACK_PROOF_COUNTERS:
		snprintf(buf, len,
		         "%u events have %u counter%s (%s) and no other%s: at least %u groups", n,
		         width, width == 1 ? "" : "s", counters, width == 1 ? "" : "s", k->bound);
		break;
	case PACK_PROOF_CALLER:
		snprintf(buf, len,
		         "%u events need different values in the same extra registers: at least %u "
		         "groups",
		         p->n_clashing, k->bound);
		break;
	case PACK_PROOF_EXCLUSIVE:
		snprintf(buf, len, "%u events must be counted alone: at least %u groups", k->bound,
		         k->bound);
		break;
	default:
		snprintf(buf, len, "every way to use fewer than %u groups was tried", k->bound);
		break;
	}
	if (!k->is_optimal)
		snprintf(buf + strlen(buf), len - strlen(buf),
		         "; the search ended within %u of that", k->n_groups - k->bound);
}

static void mark_proof_events(const struct planned_pmu *p, const struct pack_problem *k)
{
	struct planned_event *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n_events; i++)
		if (is_on_planned_pmu(p, &e[i]) && k->proof == PACK_PROOF_COUNTERS)
			e[i].is_in_proof = p->counter_mask[e[i].item_index] &&
			                   !(p->counter_mask[e[i].item_index] & ~k->proof_counters);
	for (unsigned i = 0; i < p->plan->n_events; i++)
		if (is_on_planned_pmu(p, &e[i]) && k->proof == PACK_PROOF_EXCLUSIVE)
			e[i].is_in_proof = p->is_exclusive[e[i].item_index];
	for (unsigned i = 0; i < p->n_clashing && k->proof == PACK_PROOF_CALLER; i++)
		e[p->first_event[p->clashing_items[i]]].is_in_proof = true;
}

/* Sets the counters of group @g. False if the group cannot be placed. */
static bool place_group(struct planned_pmu *p, unsigned g, unsigned base)
{
	uint16_t items[MAX_PLANNED_EVENTS];
	struct placement where;
	unsigned n_items = 0, n;

	for (unsigned i = 0; i < p->n_items; i++)
		if (p->group[i] == g)
			items[n_items++] = (uint16_t)i;
	n = add_trial_items(p, items, n_items);
	if (n == 0 || n > PLAN_MAX_EVENTS || !constrain_trial_events(p, n) ||
	    pfmi_pmu_assign_counters(&p->encoder_plan, &where, NULL))
		return n == 0;
	for (unsigned i = 0; i < n; i++) {
		struct planned_event *e = &p->plan->events[p->trial_event_index[i]];

		e->group = base + g;
		e->counter = where.counters[i] == 0xff ? -1 : where.counters[i];
	}
	return true;
}

/* Distributes items that need no known counters: a group holds PACK_MAX_GROUP of them. Returns the
 * number of groups. */
static unsigned spread_counterless_items(struct planned_pmu *p, unsigned n_groups)
{
	unsigned seen = 0, most = n_groups;

	for (unsigned i = 0; i < p->n_items; i++)
		if (!p->counter_mask[i] && p->is_plain[i]) {
			p->group[i] = (uint16_t)(seen++ / PACK_MAX_GROUP);
			most = p->group[i] + 1u > most ? p->group[i] + 1u : most;
		}
	return most;
}

static int pack_pmu_items(struct planned_pmu *p, struct pack_problem *out)
{
	struct pfm_plan *plan = p->plan;
	int rc;

	*out = (struct pack_problem){
		.n_items = p->n_items,
		.counter_mask = p->counter_mask,
		.is_plain = p->is_plain,
		.is_exclusive = p->is_exclusive,
		.can_share_group = can_share_group,
		.arg = p,
		.proven_bound = p->n_clash_groups,
		.affinity = p->affinity,
		.group = p->group,
		.effort = plan->options.effort ? plan->options.effort : DEFAULT_EFFORT,
	};
	if (p->n_items <= 16 && !plan->options.effort)
		out->effort = 100 * DEFAULT_EFFORT;
	rc = pfmi_plan_pack_groups(out);
	if (rc)
		return rc;
	out->n_groups = spread_counterless_items(p, out->n_groups);
	out->bound = out->is_optimal ? out->n_groups : out->bound;
	for (unsigned g = 0; g < out->n_groups; g++)
		if (!place_group(p, g, plan->n_groups))
			return PFMLIB_ERR_NOASSIGN;
	mark_proof_events(p, out);
	return PFMLIB_SUCCESS;
}

static int append_certificate(struct pfm_plan *plan, const struct planned_pmu *p, const char *proof,
                              bool several)
{
	const char *name = table_get_text(p->table, p->table->name);
	size_t had = plan->certificate ? strlen(plan->certificate) : 0,
	       size = had + strlen(proof) + strlen(name) + 8;
	char *text = realloc(plan->certificate, size);

	if (!text)
		return PFMLIB_ERR_NOMEM;
	plan->certificate = text;
	snprintf(text + had, size - had, "%s%s%s%s", had ? "; " : "", several ? name : "",
	         several ? ": " : "", proof);
	return PFMLIB_SUCCESS;
}

/* The counter that the kernel's NMI watchdog uses: the fixed counter of cycles, or the last general
 * one. */
static uint64_t get_watchdog_counter(const struct pfm_plan *plan, const struct pmu_info *u)
{
	const struct table *t = u->table;

	if (plan->options.flags & PFM_PLAN_ALL_COUNTERS || !plan->ctx->kernel ||
	    !plan->ctx->kernel->nmi_watchdog || !(u->flags & PFM_PMU_HOST) ||
	    t->encoder != ENCODER_X86 || !t->all_counters)
		return 0;
	if (t->all_counters >> 33 & 1)
		return (uint64_t)1 << 33;
	return (uint64_t)1 << (63 - (unsigned)__builtin_clzll(t->all_counters & 0xffffffff));
}

static void init_planned_pmu(struct planned_pmu *p, struct pfm_plan *plan, const struct pmu_info *u)
{
	p->plan = plan;
	p->table = u->table;
	p->reserved_counters = (pfmlib_regmask_t){ .bits = { plan->options.taken |
		                                             get_watchdog_counter(plan, u) } };
	p->request = (struct encode_request){
		.table = u->table,
		.events = p->trial_events,
		.htoff = plan->options.htoff != 0,
		.unavailable_regs = p->reserved_counters.bits[0] ? &p->reserved_counters : NULL,
	};
	p->request.plm = get_privilege_levels(p);
}

/* Adds the groups of this PMU to the plan. */
static int merge_planned_pmu(struct planned_pmu *p, const struct pack_problem *k, bool several)
{
	struct pfm_plan *plan = p->plan;
	char proof[PROOF_TEXT_SIZE];

	write_proof(p, k, proof, sizeof(proof));
	plan->n_groups += k->n_groups;
	plan->n_rounds = k->n_groups > plan->n_rounds ? k->n_groups : plan->n_rounds;
	plan->bound += k->bound;
	plan->is_optimal = plan->is_optimal && k->is_optimal;
	return append_certificate(plan, p, proof, several);
}

/* Computes the least number of groups. */
static int pack_items(struct planned_pmu *p, struct pack_problem *k)
{
	int rc;

	for (unsigned i = 0; i < p->n_items; i++)
		p->extra_register[i] = get_extra_register_use(p, i);
	compute_register_bound(p);
	rc = pack_pmu_items(p, k);
	if (rc == PFMLIB_ERR_NOASSIGN) {
		/* Plain items share a resource that no table declares: each group is checked. */
		memset(p->is_plain, 0, sizeof(p->is_plain));
		rc = pack_pmu_items(p, k);
	}
	return rc;
}

static int plan_items(struct planned_pmu *p, bool several, pfm_error_t *error)
{
	struct pack_problem k;
	int rc = pack_items(p, &k);

	if (!rc)
		rc = merge_planned_pmu(p, &k, several);
	return rc == PFMLIB_ERR_NOMEM ? pfmi_base_set_plain_error(error, rc, PFM_KIND_SYSTEM, NULL)
	       : rc == PFMLIB_ERR_NOASSIGN
	               ? refuse_event(&p->plan->events[p->first_event[k.n_groups < p->n_items
	                                                                      ? k.n_groups
	                                                                      : 0]],
	                              error)
	               : rc;
}

int pfmi_plan_group_pmu_events(struct pfm_plan *plan, const struct pmu_info *u, bool several,
                               pfm_error_t *error)
{
	struct planned_pmu *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return pfmi_base_set_no_memory_error(error);
	init_planned_pmu(p, plan, u);
	rc = make_items(p, error);
	if (!rc)
		rc = plan_items(p, several, error);
	free(p);
	return rc;
}
