/* SPDX-License-Identifier: MIT */
/* One PMU's part of a plan: its events become items, pack.c finds the least number of groups, and every group is placed by the solver
 * that will place it when it is counted. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/plan.h"
#include "lookup/lookup.h"

#define PROOF_ROOM 512
#define EFFORT     1500ul

/* What an event puts into an extra register, and the one or two registers that may hold it. */
struct extra {
	uint64_t value;
	uint32_t msr[2];
	bool used;
};

/* While it is packed. */
struct part {
	struct pfm_plan_result *plan;
	const struct table *table;
	pfmlib_regmask_t taken;
	struct encode_request req;
	unsigned n_items;
	uint64_t mask[MAX_EVENTS];
	bool plain[MAX_EVENTS], apart[MAX_EVENTS];
	uint16_t family[MAX_EVENTS], group[MAX_EVENTS];
	unsigned first[MAX_EVENTS]; /* an item's event; those of a bundle are found by their item number */
	unsigned bundle;            /* 1 + the item that has a leader and what it leads */
	struct extra extra[MAX_EVENTS];
	uint16_t clashing[MAX_EVENTS]; /* items that need different values in the same registers, */
	unsigned n_clashing, clashes;  /* and the number of groups that takes */
	struct event scratch[PLAN_MAX_EVENTS];
	unsigned at[PLAN_MAX_EVENTS]; /* which planned event each of those is */
	struct plan work;
};

/* ---- items ------------------------------------------------------------------------------------------------------------- */

static unsigned levels(const struct part *p)
{
	return p->plan->options.plm ? p->plan->options.plm : pfmi_pmu_get_default_levels(p->table);
}

/* Asks the encoder about the @n events in the scratch array. */
static bool constrain(struct part *p, unsigned n)
{
	p->req.n_events = n;
	return pfmi_encode_constrain(&p->req, &p->work, NULL) == PFMLIB_SUCCESS;
}

/* All of @from but the room for fields that nobody set. */
static void copy_event(struct event *to, const struct event *from)
{
	memcpy(to, from, offsetof(struct event, user_fields) + from->n_user_fields * sizeof(from->user_fields[0]));
}

/* Copies event @i behind the @n that are in the scratch array; returns how many there are then. */
static unsigned copy(struct part *p, unsigned i, unsigned n)
{
	if (n < PLAN_MAX_EVENTS) {
		p->at[n] = i;
		copy_event(&p->scratch[n], &p->plan->events[i].event);
	}
	return n + 1;
}

/* The same for every event of an item; PLAN_MAX_EVENTS and more: too many. */
static unsigned expand(struct part *p, unsigned item, unsigned n)
{
	const struct planned *e = p->plan->events;

	n = copy(p, p->first[item], n);
	for (unsigned i = 0; p->bundle == item + 1 && i < p->plan->n; i++)
		if (i != p->first[item] && e[i].item == item && e[i].event.table == p->table)
			n = copy(p, i, n);
	return n;
}

/* What a leader leads comes right behind it, and both first. */
static unsigned expand_all(struct part *p, const uint16_t *items, unsigned n_items)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_items; i++)
		if (p->bundle == items[i] + 1u)
			n = expand(p, items[i], n);
	for (unsigned i = 0; i < n_items; i++)
		if (p->bundle != items[i] + 1u)
			n = expand(p, items[i], n);
	return n;
}

/* Both registers of @b are among those of @a. */
static bool confined_to(const struct extra *a, const struct extra *b)
{
	return (b->msr[0] == a->msr[0] || b->msr[0] == a->msr[1]) && (b->msr[1] == a->msr[0] || b->msr[1] == a->msr[1]);
}

/* True if the items confined to the registers of the last one have more values than those hold: the encoder need not be asked. */
static bool overflows(const struct part *p, const uint16_t *items, unsigned n)
{
	const struct extra *last = &p->extra[items[n - 1]];
	uint64_t other = last->value;
	unsigned values = last->used;

	for (unsigned i = 0; i + 1 < n && last->used; i++) {
		const struct extra *x = &p->extra[items[i]];

		if (!x->used || !confined_to(last, x) || x->value == last->value || (values > 1 && x->value == other))
			continue;
		other = x->value;
		values++;
	}
	return values > 1u + (last->msr[0] != last->msr[1]);
}

/* What the encoder and the solver say of them. */
static bool placed(struct part *p, const uint16_t *items, unsigned n_items)
{
	struct placement where;
	unsigned n = expand_all(p, items, n_items);

	return n <= PLAN_MAX_EVENTS && constrain(p, n) && pfmi_pmu_assign_counters(&p->work, &where, NULL) == PFMLIB_SUCCESS;
}

static bool fits(void *arg, const uint16_t *items, unsigned n_items)
{
	struct part *p = arg;

	return !(p->clashes && overflows(p, items, n_items)) && placed(p, items, n_items);
}

/* True if the event needs nothing but a counter of its own. */
static bool is_plain(const struct event *ev)
{
	static const enum key keys[] = { KEY_MSR, KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND, KEY_OFFCORE1 };

	if (event_has_flag(ev, ROW_ALONE))
		return false;
	if (ev->table->encoder != ENCODER_X86)
		return ev->table->encoder == ENCODER_FORMAT || ev->table->encoder == ENCODER_PERF;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (event_has_key(ev, keys[i]) || pfmi_pmu_has_user_key(ev, keys[i]))
			return false;
	return !(ev->table->flags & TABLE_VIEW);
}

/* Every counter that could count the one event the encoder was just asked about. */
static uint64_t candidates(const struct part *p)
{
	return p->work.counterless_events & 1 ? 0 : pfmi_pmu_plan_counter_mask(&p->work) & ~p->taken.bits[0];
}

static int refuse_event(const struct planned *e, pfm_error_t *error)
{
	int rc = pfmi_refuse(error, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, e->text, pfmi_slice(e->text),
	                     "no free counter can count this event");

	if (error)
		error->event = (int)e->request;
	return rc;
}

static bool in_part(const struct part *p, const struct planned *e)
{
	return e->event.table == p->table;
}

static void new_item(struct part *p, unsigned event, uint64_t mask)
{
	struct planned *e = &p->plan->events[event];
	unsigned item = p->n_items++;

	e->item = (uint16_t)item;
	p->first[item] = event;
	p->mask[item] = mask;
	p->plain[item] = is_plain(&e->event);
	p->apart[item] = event_has_flag(&e->event, ROW_ALONE);
	p->family[item] = e->family;
}

/* May event @led come right behind @leader? */
static bool leads(struct part *p, const struct event *leader, const struct event *led)
{
	p->scratch[0] = *leader;
	p->scratch[1] = *led;
	return constrain(p, 2);
}

/* The slots event, added because event @led of the plan needs it; NULL if that is no help: then there is no plan. */
static struct planned *add_leader(struct part *p, unsigned led)
{
	struct pfm_plan_result *plan = p->plan;
	struct planned *e = plan->n < MAX_EVENTS ? pfmi_plan_event(plan) : NULL;

	if (!e)
		return NULL;
	*e = (struct planned){ .request = plan->events[led].request, .unit = plan->events[led].unit, .counter = -1, .added = true };
	snprintf(e->text, sizeof(e->text), "%s::TOPDOWN.SLOTS", table_text(p->table, p->table->name));
	if (pfmi_lookup_event_on_pmu(plan->ctx, e->text, e->unit, &e->event, NULL) || !leads(p, &e->event, &plan->events[led].event))
		return NULL;
	return e;
}

/* The event that must come before event @led: another of the plan, or one that is added for it. */
static struct planned *find_leader(struct part *p, unsigned led)
{
	struct planned *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n; i++)
		if (i != led && in_part(p, &e[i]) && leads(p, &e[i].event, &e[led].event))
			return &e[i];
	return add_leader(p, led);
}

/* Events that take no counter and do not stand beside just any event are led. */
static bool is_led(struct part *p, const struct event *ev)
{
	return p->work.counterless_events & 1 && p->table->encoder == ENCODER_X86 && !leads(p, ev, ev);
}

/* Asks the encoder about event @i alone; false if nothing can count it. */
static bool can_count(struct part *p, unsigned i)
{
	p->scratch[0] = p->plan->events[i].event;
	return constrain(p, 1) && (candidates(p) || p->work.counterless_events & 1);
}

/* Makes the leader of event @led the head of the bundle; false if there is none, or its counter is taken. */
static bool begin_bundle(struct part *p, unsigned led)
{
	struct planned *leader = find_leader(p, led);
	unsigned at;

	if (!leader)
		return false;
	at = (unsigned)(leader - p->plan->events);
	/* One that was met before has its item already. */
	if (at > led && !can_count(p, at))
		return false;
	if (at > led)
		new_item(p, at, candidates(p));
	leader->leads = true;
	p->bundle = leader->item + 1u;
	return true;
}

static int make_item(struct part *p, unsigned i, pfm_error_t *error)
{
	struct planned *e;
	uint64_t mask;

	if (!can_count(p, i))
		return refuse_event(&p->plan->events[i], error);
	mask = candidates(p);
	if (!is_led(p, &p->plan->events[i].event)) {
		new_item(p, i, mask);
		return PFMLIB_SUCCESS;
	}
	/* A leader may be added, and where the events lie is another place then. */
	if (!p->bundle && !begin_bundle(p, i))
		return refuse_event(&p->plan->events[i], error);
	e = &p->plan->events[i];
	e->item = (uint16_t)(p->bundle - 1);
	if (i < p->first[e->item] && e->family)
		p->family[e->item] = e->family;
	return PFMLIB_SUCCESS;
}

static int make_items(struct part *p, pfm_error_t *error)
{
	unsigned n = p->plan->n;
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; i < n && !rc; i++)
		if (in_part(p, &p->plan->events[i]) && !p->plan->events[i].leads)
			rc = make_item(p, i, error);
	return rc;
}

/* ---- extra registers --------------------------------------------------------------------------------------------------- */

static struct extra extra_of(struct part *p, unsigned item)
{
	struct extra x = { 0 };
	const struct event *ev = &p->plan->events[p->first[item]].event;
	struct placement where;
	struct register_values regs;

	p->scratch[0] = *ev;
	p->req.n_events = 1;
	if (p->plain[item] || p->table->encoder != ENCODER_X86 || pfmi_encode_dispatch(&p->req, &where, &regs, NULL))
		return x;
	for (unsigned i = 0; i < regs.n_pmcs; i++)
		if (regs.pmcs[i].kind == PFM_REG_EXTRA) {
			x.used = true;
			x.value = regs.pmcs[i].value;
			x.msr[0] = x.msr[1] = (uint32_t)regs.pmcs[i].addr;
		}
	if (x.used && ev->row_index != ROW_NONE && pfmi_row_has(p->table, ev->row_index, KEY_ALT))
		x.msr[1] = (uint32_t)(pfmi_row_value(p->table, ev->row_index, KEY_ALT, ANYWHERE) >> 32);
	return x;
}

/* Items with a value each, all different, that share the registers of item @i. Returns how many. */
static unsigned values_beside(const struct part *p, unsigned i, uint16_t *items)
{
	const struct extra *x = p->extra;
	unsigned n = 0;

	for (unsigned k = 0; k < p->n_items; k++) {
		bool known = !x[k].used || !confined_to(&x[i], &x[k]);

		for (unsigned j = 0; j < n && !known; j++)
			known = x[items[j]].value == x[k].value;
		if (!known)
			items[n++] = (uint16_t)k;
	}
	return n;
}

/* Items that need different values in one register are as many groups; two registers to choose from halve that. The encoder is
 * asked whether it is so. */
static void bound_by_registers(struct part *p)
{
	uint16_t items[MAX_EVENTS];

	for (unsigned i = 0; i < p->n_items; i++) {
		unsigned width = 1u + (p->extra[i].msr[0] != p->extra[i].msr[1]), n = p->extra[i].used ? values_beside(p, i, items) : 0,
			 groups = (n + width - 1) / width;

		if (n > width && groups > p->clashes && !placed(p, items, width + 1)) {
			p->clashes = groups;
			p->n_clashing = n;
			memcpy(p->clashing, items, n * sizeof(*items));
		}
	}
}

/* ---- results ----------------------------------------------------------------------------------------------------------- */

static unsigned counters_text(uint64_t counters, char *buf, size_t len)
{
	size_t at = 0;
	unsigned n = 0;

	buf[0] = '\0';
	for (unsigned c = 0; c < 64; c++) {
		if (!(counters >> c & 1))
			continue;
		if (at + 8 < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s%u", n ? "," : "", c < 32 ? "" : "F", c % 32);
		n++;
	}
	return n;
}

static void write_proof(const struct part *p, const struct pack *k, char *buf, size_t len)
{
	char counters[128];
	unsigned n = 0, width;

	width = counters_text(k->counters, counters, sizeof(counters));
	for (unsigned i = 0; i < p->n_items; i++)
		n += p->mask[i] && !(p->mask[i] & ~k->counters);
	switch (k->proof) {
	case PACK_ONE: snprintf(buf, len, "one group holds every event"); break;
	case PACK_COUNTERS:
		snprintf(buf, len, "%u events have %u counter%s (%s) and no other%s: at least %u groups", n, width, width == 1 ? "" : "s", counters,
		         width == 1 ? "" : "s", k->bound);
		break;
	case PACK_GIVEN:
		snprintf(buf, len, "%u events need different values in the same extra registers: at least %u groups", p->n_clashing,
		         k->bound);
		break;
	case PACK_APART: snprintf(buf, len, "%u events must be counted alone: at least %u groups", k->bound, k->bound); break;
	default: snprintf(buf, len, "every way to use fewer than %u groups was tried", k->bound); break;
	}
	if (!k->optimal)
		snprintf(buf + strlen(buf), len - strlen(buf), "; the search ended within %u of that", k->n_groups - k->bound);
}

static void mark_proof(const struct part *p, const struct pack *k)
{
	struct planned *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n; i++)
		if (in_part(p, &e[i]) && k->proof == PACK_COUNTERS)
			e[i].in_proof = p->mask[e[i].item] && !(p->mask[e[i].item] & ~k->counters);
	for (unsigned i = 0; i < p->plan->n; i++)
		if (in_part(p, &e[i]) && k->proof == PACK_APART)
			e[i].in_proof = p->apart[e[i].item];
	for (unsigned i = 0; i < p->n_clashing && k->proof == PACK_GIVEN; i++)
		e[p->first[p->clashing[i]]].in_proof = true;
}

/* Counters of group @g, as they will be given out. False if the group does not fit after all. */
static bool settle(struct part *p, unsigned g, unsigned base)
{
	uint16_t items[MAX_EVENTS];
	struct placement where;
	unsigned n_items = 0, n;

	for (unsigned i = 0; i < p->n_items; i++)
		if (p->group[i] == g)
			items[n_items++] = (uint16_t)i;
	n = expand_all(p, items, n_items);
	if (n == 0 || n > PLAN_MAX_EVENTS || !constrain(p, n) || pfmi_pmu_assign_counters(&p->work, &where, NULL))
		return n == 0;
	for (unsigned i = 0; i < n; i++) {
		struct planned *e = &p->plan->events[p->at[i]];

		e->group = base + g;
		e->counter = where.counters[i] == 0xff ? -1 : where.counters[i];
	}
	return true;
}

/* Sets of the kernel's own events take no counters that anybody knows, and hold so many. */
static unsigned spread(struct part *p, unsigned n_groups)
{
	unsigned seen = 0, most = n_groups;

	for (unsigned i = 0; i < p->n_items; i++)
		if (!p->mask[i] && p->plain[i]) {
			p->group[i] = (uint16_t)(seen++ / PACK_MAX_GROUP);
			most = p->group[i] + 1u > most ? p->group[i] + 1u : most;
		}
	return most;
}

static int pack_part(struct part *p, struct pack *out)
{
	struct pfm_plan_result *plan = p->plan;
	int rc;

	*out = (struct pack){
		.n = p->n_items,
		.mask = p->mask,
		.plain = p->plain,
		.apart = p->apart,
		.fits = fits,
		.arg = p,
		.given = p->clashes,
		.family = p->family,
		.group = p->group,
		.effort = plan->options.effort ? plan->options.effort : EFFORT,
	};
	if (p->n_items <= 16 && !plan->options.effort)
		out->effort = 100 * EFFORT;
	rc = pfmi_pack(out);
	if (rc)
		return rc;
	out->n_groups = spread(p, out->n_groups);
	out->bound = out->optimal ? out->n_groups : out->bound;
	for (unsigned g = 0; g < out->n_groups; g++)
		if (!settle(p, g, plan->n_groups))
			return PFMLIB_ERR_NOASSIGN;
	mark_proof(p, out);
	return PFMLIB_SUCCESS;
}

static int tell(struct pfm_plan_result *plan, const struct part *p, const char *proof, bool several)
{
	const char *name = table_text(p->table, p->table->name);
	size_t had = plan->certificate ? strlen(plan->certificate) : 0, room = had + strlen(proof) + strlen(name) + 8;
	char *text = realloc(plan->certificate, room);

	if (!text)
		return PFMLIB_ERR_NOMEM;
	plan->certificate = text;
	snprintf(text + had, room - had, "%s%s%s%s", had ? "; " : "", several ? name : "", several ? ": " : "", proof);
	return PFMLIB_SUCCESS;
}

/* What this machine's kernel keeps for its watchdog: the clock counter if there is a fixed one, else the last. */
static uint64_t watchdog(const struct pfm_plan_result *plan, const struct pmu_info *u)
{
	const struct table *t = u->table;

	if (plan->options.flags & PFM_PLAN_BARE || !plan->ctx->kernel || !plan->ctx->kernel->nmi_watchdog || !(u->flags & PFM_PMU_HOST) ||
	    t->encoder != ENCODER_X86 || !t->all_counters)
		return 0;
	if (t->all_counters >> 33 & 1)
		return (uint64_t)1 << 33;
	return (uint64_t)1 << (63 - (unsigned)__builtin_clzll(t->all_counters & 0xffffffff));
}

static void begin_part(struct part *p, struct pfm_plan_result *plan, const struct pmu_info *u)
{
	p->plan = plan;
	p->table = u->table;
	p->taken = (pfmlib_regmask_t){ .bits = { plan->options.taken | watchdog(plan, u) } };
	p->req = (struct encode_request){
		.table = u->table,
		.events = p->scratch,
		.htoff = plan->options.htoff != 0,
		.unavailable_regs = p->taken.bits[0] ? &p->taken : NULL,
	};
	p->req.plm = levels(p);
}

/* Adds what packing found to the plan. */
static int end_part(struct part *p, const struct pack *k, bool several)
{
	struct pfm_plan_result *plan = p->plan;
	char proof[PROOF_ROOM];

	write_proof(p, k, proof, sizeof(proof));
	plan->n_groups += k->n_groups;
	plan->n_rounds = k->n_groups > plan->n_rounds ? k->n_groups : plan->n_rounds;
	plan->bound += k->bound;
	plan->optimal = plan->optimal && k->optimal;
	return tell(plan, p, proof, several);
}

/* The least number of groups, in @k. */
static int pack_items(struct part *p, struct pack *k)
{
	int rc;

	for (unsigned i = 0; i < p->n_items; i++)
		p->extra[i] = extra_of(p, i);
	bound_by_registers(p);
	rc = pack_part(p, k);
	if (rc == PFMLIB_ERR_NOASSIGN) {
		/* Something of these events is shared that nobody knew of: ask about every group. */
		memset(p->plain, 0, sizeof(p->plain));
		rc = pack_part(p, k);
	}
	return rc;
}

static int plan_items(struct part *p, bool several, pfm_error_t *error)
{
	struct pack k;
	int rc = pack_items(p, &k);

	if (!rc)
		rc = end_part(p, &k, several);
	return rc == PFMLIB_ERR_NOMEM      ? pfmi_refuse(error, rc, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL)
	       : rc == PFMLIB_ERR_NOASSIGN ? refuse_event(&p->plan->events[p->first[k.n_groups < p->n_items ? k.n_groups : 0]], error)
	                                   : rc;
}

int pfmi_plan_part(struct pfm_plan_result *plan, const struct pmu_info *u, bool several, pfm_error_t *error)
{
	struct part *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	begin_part(p, plan, u);
	rc = make_items(p, error);
	if (!rc)
		rc = plan_items(p, several, error);
	free(p);
	return rc;
}
