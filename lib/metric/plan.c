/* SPDX-License-Identifier: MIT */
/* Plans: texts become events, events of one PMU become items, pack.c finds the least number of groups, and every group is placed
 * by the solver that will place it when it is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/metric.h"
#include "metric/pack.h"

#define MAX_EVENTS PACK_MAX_ITEMS
#define MAX_UNITS  64
#define TEXT_ROOM  352
#define PROOF_ROOM 512
#define EFFORT     1500ul

/* An event of a plan. */
struct planned {
	struct event event;
	char text[TEXT_ROOM];
	unsigned request, unit;
	uint16_t family; /* 1 + the metric it came with first, 0 for none */
	uint16_t item;   /* among those of its PMU */
	unsigned group;
	int counter;
	bool added, leads, in_proof;
};

struct pfm_plan_result {
	const struct pfm_ctx *ctx;
	pfm_plan_options_t options;
	unsigned n, room, families;
	struct planned *events;
	unsigned n_groups, n_rounds, bound;
	bool optimal;
	char *certificate;
};

/* One PMU's part while it is packed. */
struct part {
	struct pfm_plan_result *plan;
	const struct table *table;
	pfmlib_regmask_t taken;
	struct request req;
	unsigned n_items;
	uint64_t mask[MAX_EVENTS];
	bool plain[MAX_EVENTS];
	uint16_t family[MAX_EVENTS], group[MAX_EVENTS];
	unsigned first[MAX_EVENTS]; /* an item's event; those of a bundle are found by their item number */
	unsigned bundle;            /* 1 + the item that has a leader and what it leads */
	struct event scratch[PLAN_MAX_EVENTS];
	unsigned at[PLAN_MAX_EVENTS]; /* which planned event each of those is */
	struct plan work;
};

/* ---- texts ------------------------------------------------------------------------------------------------------------- */

static struct planned *new_event(struct pfm_plan_result *p)
{
	if (p->n == p->room) {
		unsigned room = p->room * 2 + 16;
		struct planned *events = realloc(p->events, room * sizeof(*events));

		if (!events)
			return NULL;
		p->events = events;
		p->room = room;
	}
	p->events[p->n] = (struct planned){ .counter = -1 };
	return &p->events[p->n++];
}

static int add_event(struct pfm_plan_result *p, const char *text, unsigned request, unsigned family, pfm_error_t *error)
{
	struct planned *e;
	int rc;

	/* Metrics share their events. */
	for (unsigned i = 0; family && i < p->n; i++)
		if (strcmp(p->events[i].text, text) == 0)
			return PFMLIB_SUCCESS;
	if (p->n == MAX_EVENTS)
		return pfmi_refuse(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL, (struct slice){ 0 }, "too many events for one plan");
	if (strlen(text) >= TEXT_ROOM)
		return pfmi_refuse(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, text, pfmi_slice(text), "an event's text is too long");
	e = new_event(p);
	if (!e)
		return pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	snprintf(e->text, sizeof(e->text), "%s", text);
	e->request = request;
	e->family = (uint16_t)family;
	rc = pfmi_ctx_event(p->ctx, text, &e->unit, &e->event, error);
	p->n -= rc != 0;
	return rc;
}

/* The events of metric @row of unit @unit. */
static int add_metric(struct pfm_plan_result *p, unsigned unit, uint32_t row, unsigned request, pfm_error_t *error)
{
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_metric_input_t in = PFM_INIT(in);
	int rc = pfm_describe_metric(p->ctx, (int)unit, row, &info);

	p->families++;
	for (unsigned i = 0; !rc && i < info.n_value_inputs; i++) {
		rc = pfm_describe_metric_input(p->ctx, (int)unit, row, i, &in);
		if (!rc && !in.is_constant)
			rc = add_event(p, in.text, request, p->families, error);
	}
	return rc;
}

static bool in_group(const char *groups, struct slice name)
{
	for (const char *s = groups; *s; s += strcspn(s, ";"), s += *s == ';')
		if (strcspn(s, ";") == name.len && pfmi_behind(name, s))
			return true;
	return false;
}

/* The metrics of group @text. PFMLIB_ERR_NOTFOUND if no metric is in a group of that name. */
static int add_group(struct pfm_plan_result *p, const char *text, unsigned request, pfm_error_t *error)
{
	unsigned units[MAX_UNITS], found = 0, n_units;
	struct spec spec;
	int rc = pfmi_spec_parse(text, &spec, NULL);

	if (rc || !spec.name.len)
		return PFMLIB_ERR_NOTFOUND;
	n_units = pfmi_ctx_candidates(p->ctx, &spec, units, MAX_UNITS);
	for (unsigned i = 0; i < n_units; i++) {
		const struct table *t = pfmi_unit_table(p->ctx, units[i]);

		if (!pfmi_unit_ready(p->ctx, units[i]) || !table_key(t, KEY_METRIC))
			continue;
		for (uint32_t row = 0; row < t->n_rows && !rc; row++)
			if (table_row(t, row)->flags & ROW_METRIC && in_group(pfmi_row_text(t, row, KEY_METRIC_GROUP), spec.name)) {
				rc = add_metric(p, units[i], row, request, error);
				found++;
			}
	}
	return rc ? rc : found ? PFMLIB_SUCCESS
	                       : PFMLIB_ERR_NOTFOUND;
}

static int add_text(struct pfm_plan_result *p, const char *text, unsigned request, pfm_error_t *error)
{
	pfm_error_t mine = PFM_INIT(mine), unheard = PFM_INIT(unheard);
	unsigned unit;
	uint32_t row;
	struct spec spec;
	int rc = pfmi_spec_parse(text, &spec, NULL), group;

	if (!rc && !pfmi_ctx_find(p->ctx, &spec, &unit, &row, NULL) && row != ROW_NONE &&
	    table_row(pfmi_unit_table(p->ctx, unit), row)->flags & ROW_METRIC)
		return add_metric(p, unit, row, request, error);
	rc = add_event(p, text, request, 0, &mine);
	group = rc ? add_group(p, text, request, &unheard) : PFMLIB_ERR_NOTFOUND;
	if (rc && group == PFMLIB_SUCCESS)
		return PFMLIB_SUCCESS;
	if (rc && error) {
		size_t size = error->size;

		*error = group == PFMLIB_ERR_NOTFOUND ? mine : unheard;
		error->size = size;
		error->event = (int)request;
	}
	return rc;
}

/* ---- items ------------------------------------------------------------------------------------------------------------- */

static unsigned levels(const struct part *p)
{
	const struct pmu_ops *ops = pfmi_ops(p->table);

	if (p->plan->options.plm)
		return p->plan->options.plm;
	return ops && ops->default_plm ? ops->default_plm : PFM_PLM0 | PFM_PLM3;
}

/* Asks the encoder about the @n events in the scratch array. */
static bool constrain(struct part *p, unsigned n)
{
	const struct pmu_ops *ops = pfmi_ops(p->table);

	p->req.n = n;
	p->work.req = &p->req;
	p->work.none = 0;
	p->work.n_alternatives = 0;
	return ops && ops->constrain(&p->req, &p->work, NULL) == PFMLIB_SUCCESS;
}

/* Copies event @i behind the @n that are in the scratch array; returns how many there are then. */
static unsigned copy(struct part *p, unsigned i, unsigned n)
{
	if (n < PLAN_MAX_EVENTS) {
		p->at[n] = i;
		p->scratch[n] = p->plan->events[i].event;
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

static bool fits(void *arg, const uint16_t *items, unsigned n_items)
{
	struct part *p = arg;
	struct placement where;
	unsigned n = expand_all(p, items, n_items);

	return n <= PLAN_MAX_EVENTS && constrain(p, n) && pfmi_assign(&p->work, &where, NULL) == PFMLIB_SUCCESS;
}

/* True if the event needs nothing but a counter of its own. */
static bool is_plain(const struct event *ev)
{
	static const enum key keys[] = { KEY_MSR, KEY_OFFCORE, KEY_LDLAT, KEY_FRONTEND, KEY_OFFCORE1 };

	if (ev->table->encoder != ENCODER_X86)
		return ev->table->encoder == ENCODER_FORMAT || ev->table->encoder == ENCODER_PERF;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (ev->at[keys[i]] || pfmi_event_was_set(ev, keys[i]))
			return false;
	return !(ev->table->flags & TABLE_VIEW);
}

/* Every counter that could count the one event the encoder was just asked about. Encoders that know settings of a whole set name
 * only those they would choose for it alone: there, the table's word counts. */
static uint64_t candidates(const struct part *p)
{
	const struct plan *plan = &p->work;
	uint64_t mask = 0;

	if (plan->none & 1)
		return 0;
	if (!is_plain(&p->scratch[0]) && p->table->encoder != ENCODER_X86)
		return pfmi_event_counters(&p->scratch[0]) & ~p->taken.bits[0];
	for (unsigned a = 0; a < plan->n_alternatives; a++)
		mask |= plan->alternatives[a].mask[0];
	return mask;
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

static unsigned new_item(struct part *p, unsigned event, uint64_t mask)
{
	struct planned *e = &p->plan->events[event];
	unsigned item = p->n_items++;

	e->item = (uint16_t)item;
	p->first[item] = event;
	p->mask[item] = mask;
	p->plain[item] = is_plain(&e->event);
	p->family[item] = e->family;
	return item;
}

/* The event that must come before event @led: another of the plan, or one that is added for it. */
static struct planned *find_leader(struct part *p, unsigned led)
{
	struct pfm_plan_result *plan = p->plan;
	struct planned *e;

	p->scratch[1] = plan->events[led].event;
	for (unsigned i = 0; i < plan->n; i++) {
		if (i == led || !in_part(p, &plan->events[i]))
			continue;
		p->scratch[0] = plan->events[i].event;
		if (constrain(p, 2))
			return &plan->events[i];
	}
	e = plan->n < MAX_EVENTS ? new_event(plan) : NULL;
	if (!e)
		return NULL;
	*e = (struct planned){ .request = plan->events[led].request, .unit = plan->events[led].unit, .counter = -1, .added = true };
	snprintf(e->text, sizeof(e->text), "%s::TOPDOWN.SLOTS", table_text(p->table, p->table->name));
	p->scratch[1] = plan->events[led].event;
	if (pfmi_ctx_event_on(plan->ctx, e->text, e->unit, &e->event, NULL) || !in_part(p, e)) {
		plan->n--;
		return NULL;
	}
	p->scratch[0] = e->event;
	if (constrain(p, 2))
		return e;
	plan->n--;
	return NULL;
}

/* Events that take no counter and do not stand beside just any event are led. */
static bool is_led(struct part *p, const struct event *ev, uint64_t none)
{
	if (!(none & 1) || p->table->encoder != ENCODER_X86)
		return false;
	p->scratch[0] = p->scratch[1] = *ev;
	return !constrain(p, 2);
}

static int make_items(struct part *p, pfm_error_t *error)
{
	struct pfm_plan_result *plan = p->plan;
	unsigned n = plan->n;

	for (unsigned i = 0; i < n; i++) {
		struct planned *leader;

		if (!in_part(p, &plan->events[i]) || plan->events[i].leads)
			continue;
		p->scratch[0] = plan->events[i].event;
		if (!constrain(p, 1) || (!candidates(p) && !(p->work.none & 1)))
			return refuse_event(&plan->events[i], error);
		if (!is_led(p, &plan->events[i].event, p->work.none)) {
			p->scratch[0] = plan->events[i].event;
			constrain(p, 1);
			new_item(p, i, candidates(p));
			continue;
		}
		leader = p->bundle ? &plan->events[p->first[p->bundle - 1]] : find_leader(p, i);
		if (!leader)
			return refuse_event(&plan->events[i], error);
		if (!p->bundle) {
			unsigned at = (unsigned)(leader - plan->events), item;

			p->scratch[0] = leader->event;
			constrain(p, 1);
			/* One that was met before has its item already. */
			item = at < i ? leader->item : new_item(p, at, candidates(p));
			leader->leads = true;
			p->bundle = item + 1;
		}
		plan->events[i].item = (uint16_t)(p->bundle - 1);
		if (i < p->first[p->bundle - 1] && plan->events[i].family)
			p->family[p->bundle - 1] = plan->events[i].family;
	}
	return PFMLIB_SUCCESS;
}

/* ---- extra registers --------------------------------------------------------------------------------------------------- */

/* What an event puts into an extra register, and the one or two registers that may hold it. */
struct extra {
	uint64_t value;
	uint32_t msr[2];
	bool used;
};

static struct extra extra_of(struct part *p, unsigned item)
{
	struct extra x = { 0 };
	const struct event *ev = &p->plan->events[p->first[item]].event;
	struct placement where;
	struct regs regs;

	p->scratch[0] = *ev;
	p->req.n = 1;
	if (p->plain[item] || p->table->encoder != ENCODER_X86 || pfmi_dispatch(&p->req, &where, &regs, NULL))
		return x;
	for (unsigned i = 0; i < regs.n_pmcs; i++)
		if (regs.pmcs[i].kind == PFM_REG_EXTRA) {
			x.used = true;
			x.value = regs.pmcs[i].value;
			x.msr[0] = x.msr[1] = (uint32_t)regs.pmcs[i].addr;
		}
	if (x.used && ev->row != ROW_NONE && pfmi_row_has(p->table, ev->row, KEY_ALT))
		x.msr[1] = (uint32_t)(pfmi_row_value(p->table, ev->row, KEY_ALT, ANYWHERE) >> 32);
	return x;
}

/* Items that need different values in one register are as many groups; two registers to choose from halve that. The encoder is
 * asked whether it is so. Returns the bound. */
static unsigned bound_by_registers(struct part *p, const struct extra *x, uint16_t *distinct, unsigned *n_distinct)
{
	unsigned best = 0;

	for (unsigned i = 0; i < p->n_items; i++) {
		unsigned n = 0, width = 1u + (x[i].msr[0] != x[i].msr[1]);

		for (unsigned k = 0; x[i].used && k < p->n_items; k++) {
			bool known = !x[k].used || (x[k].msr[0] != x[i].msr[0] && x[k].msr[0] != x[i].msr[1]) ||
			             (x[k].msr[1] != x[i].msr[0] && x[k].msr[1] != x[i].msr[1]);

			for (unsigned j = 0; j < n && !known; j++)
				known = x[distinct[j]].value == x[k].value;
			if (!known)
				distinct[n++] = (uint16_t)k;
		}
		if (n > width && (n + width - 1) / width > best && !fits(p, distinct, width + 1)) {
			best = (n + width - 1) / width;
			*n_distinct = n;
			memcpy(distinct + MAX_EVENTS, distinct, n * sizeof(*distinct));
		}
	}
	return best;
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

static void write_proof(struct part *p, const struct pack *k, unsigned n_distinct, char *buf, size_t len)
{
	char counters[128];
	unsigned n = 0, width;

	width = counters_text(k->counters, counters, sizeof(counters));
	for (unsigned i = 0; i < p->n_items; i++)
		n += p->mask[i] && !(p->mask[i] & ~k->counters);
	switch (k->proof) {
	case PACK_ONE: snprintf(buf, len, "one group holds every event"); break;
	case PACK_COUNTERS:
		snprintf(buf, len, "%u events have %u counters (%s) and no others: at least %u groups", n, width, counters, k->bound);
		break;
	case PACK_GIVEN:
		snprintf(buf, len, "%u events need different values in the same extra registers: at least %u groups", n_distinct, k->bound);
		break;
	default: snprintf(buf, len, "every way to use fewer than %u groups was tried", k->bound); break;
	}
	if (!k->optimal)
		snprintf(buf + strlen(buf), len - strlen(buf), "; the search ended within %u of that", k->n_groups - k->bound);
}

static void mark_proof(struct part *p, const struct pack *k, const uint16_t *distinct, unsigned n_distinct)
{
	struct planned *e = p->plan->events;

	for (unsigned i = 0; i < p->plan->n; i++)
		if (in_part(p, &e[i]) && k->proof == PACK_COUNTERS)
			e[i].in_proof = p->mask[e[i].item] && !(p->mask[e[i].item] & ~k->counters);
	for (unsigned i = 0; i < n_distinct && k->proof == PACK_GIVEN; i++)
		e[p->first[distinct[i]]].in_proof = true;
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
	if (n == 0 || n > PLAN_MAX_EVENTS || !constrain(p, n) || pfmi_assign(&p->work, &where, NULL))
		return n == 0;
	for (unsigned i = 0; i < n; i++) {
		struct planned *e = &p->plan->events[p->at[i]];

		e->group = base + g;
		e->counter = where.counter[i] == 0xff ? -1 : where.counter[i];
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

static int pack_part(struct part *p, const uint16_t *distinct, unsigned n_distinct, unsigned given, unsigned base, struct pack *out)
{
	struct pfm_plan_result *plan = p->plan;
	int rc;

	*out = (struct pack){ .n = p->n_items, .mask = p->mask, .plain = p->plain, .fits = fits, .arg = p, .given = given, .family = p->family, .group = p->group, .effort = plan->options.effort ? plan->options.effort : EFFORT };
	if (p->n_items <= 16 && !plan->options.effort)
		out->effort = 100 * EFFORT;
	rc = pfmi_pack(out);
	if (rc)
		return rc;
	out->n_groups = spread(p, out->n_groups);
	out->bound = out->optimal ? out->n_groups : out->bound;
	for (unsigned g = 0; g < out->n_groups; g++)
		if (!settle(p, g, base))
			return PFMLIB_ERR_NOASSIGN;
	mark_proof(p, out, distinct, n_distinct);
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
static uint64_t watchdog(const struct pfm_plan_result *plan, const struct unit *u)
{
	const struct table *t = u->table;

	if (plan->options.flags & PFM_PLAN_BARE || !plan->ctx->kernel || !plan->ctx->kernel->nmi_watchdog || !(u->flags & PFM_PMU_HOST) ||
	    t->encoder != ENCODER_X86 || !t->all_counters)
		return 0;
	if (t->all_counters >> 33 & 1)
		return (uint64_t)1 << 33;
	return (uint64_t)1 << (63 - (unsigned)__builtin_clzll(t->all_counters & 0xffffffff));
}

static int plan_unit(struct pfm_plan_result *plan, struct part *p, const struct unit *u, bool several, pfm_error_t *error)
{
	uint16_t *distinct = calloc(2 * MAX_EVENTS, sizeof(*distinct));
	struct extra *x = calloc(MAX_EVENTS, sizeof(*x));
	unsigned n_distinct = 0, given = 0;
	char proof[PROOF_ROOM];
	struct pack k;
	int rc = distinct && x ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	p->plan = plan;
	p->table = u->table;
	p->n_items = p->bundle = 0;
	p->taken = (pfmlib_regmask_t){ .bits = { plan->options.taken | watchdog(plan, u) } };
	p->req = (struct request){ .table = u->table, .events = p->scratch, .htoff = plan->options.htoff != 0, .unavailable = p->taken.bits[0] ? &p->taken : NULL };
	p->req.plm = levels(p);
	if (!rc)
		rc = make_items(p, error);
	for (unsigned i = 0; !rc && i < p->n_items; i++)
		x[i] = extra_of(p, i);
	if (!rc)
		given = bound_by_registers(p, x, distinct, &n_distinct);
	if (!rc)
		rc = pack_part(p, distinct + MAX_EVENTS, n_distinct, given, plan->n_groups, &k);
	if (rc == PFMLIB_ERR_NOASSIGN && p->n_items) {
		/* Something of these events is shared that nobody knew of: ask about every group. */
		memset(p->plain, 0, sizeof(p->plain));
		rc = pack_part(p, distinct + MAX_EVENTS, n_distinct, given, plan->n_groups, &k);
	}
	if (!rc) {
		write_proof(p, &k, n_distinct, proof, sizeof(proof));
		plan->n_groups += k.n_groups;
		plan->n_rounds = k.n_groups > plan->n_rounds ? k.n_groups : plan->n_rounds;
		plan->bound += k.bound;
		plan->optimal = plan->optimal && k.optimal;
		rc = tell(plan, p, proof, several);
	}
	free(distinct);
	free(x);
	return rc;
}

/* Leaders first, then as the texts came. */
static int by_group(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->leads != y->leads)
		return x->leads ? -1 : 1;
	return x->item != y->item ? (x->item < y->item ? -1 : 1) : strcmp(x->text, y->text);
}

static int plan_all(struct pfm_plan_result *plan, pfm_error_t *error)
{
	struct part *p = malloc(sizeof(*p));
	unsigned several = 0;
	int rc = p ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	plan->optimal = true;
	for (unsigned i = 1; i < plan->n; i++)
		several |= plan->events[i].event.table != plan->events[0].event.table;
	for (unsigned i = 0; i < plan->n && !rc; i++) {
		bool done = false;

		for (unsigned k = 0; k < i && !done; k++)
			done = plan->events[k].event.table == plan->events[i].event.table;
		if (!done) {
			struct unit u = pfmi_unit(plan->ctx, plan->events[i].unit);

			rc = plan_unit(plan, p, &u, several, error);
		}
	}
	free(p);
	if (!rc && !plan->n) { /* metrics of constants alone */
		plan->certificate = strdup("there is no event to count");
		rc = plan->certificate ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
	}
	if (!rc && plan->n)
		qsort(plan->events, plan->n, sizeof(plan->events[0]), by_group);
	return rc;
}

/* ---- the interface ----------------------------------------------------------------------------------------------------- */

int pfm_plan(pfm_plan_t **out, const pfm_ctx_t *ctx, const char *const *texts, unsigned n, const pfm_plan_options_t *options,
             pfm_error_t *error)
{
	struct pfm_plan_result *plan;
	int rc = PFMLIB_SUCCESS;

	if (out)
		*out = NULL;
	if (!out || !texts || !n || (options && options->size < sizeof(options->size) + sizeof(options->flags)))
		return pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 },
		                   "out or texts is NULL, there are no events, or options.size is not set");
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return pfmi_refuse(error, PFMLIB_ERR_NOMEM, PFM_KIND_SYSTEM, NULL, (struct slice){ 0 }, NULL);
	plan->ctx = pfmi_ctx_hold(ctx);
	plan->options.size = sizeof(plan->options);
	if (options)
		memcpy(&plan->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	for (unsigned i = 0; i < n && !rc; i++)
		rc = texts[i] ? add_text(plan, texts[i], i, error)
		              : pfmi_refuse(error, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "an event is NULL");
	if (!rc)
		rc = plan_all(plan, error);
	if (rc) {
		pfm_free_plan(plan);
		return rc;
	}
	*out = plan;
	return PFMLIB_SUCCESS;
}

static int deliver(const void *full, size_t full_size, void *out)
{
	size_t size;

	memcpy(&size, out, sizeof(size));
	memcpy(out, full, size < full_size ? size : full_size);
	memcpy(out, &size, sizeof(size));
	return PFMLIB_SUCCESS;
}

int pfm_describe_plan(const pfm_plan_t *plan, pfm_plan_info_t *info)
{
	pfm_plan_info_t full;

	if (!plan || !info || info->size < 2 * sizeof(size_t))
		return PFMLIB_ERR_INVAL;
	full = (pfm_plan_info_t){ .n_events = plan->n,
		                  .n_groups = plan->n_groups,
		                  .n_rounds = plan->n_rounds,
		                  .bound = plan->bound,
		                  .optimal = plan->optimal,
		                  .certificate = plan->certificate };
	return deliver(&full, sizeof(full), info);
}

int pfm_describe_planned(const pfm_plan_t *plan, unsigned i, pfm_planned_t *event)
{
	const struct planned *e;
	pfm_planned_t full;

	if (!plan || !event || event->size < 2 * sizeof(size_t))
		return PFMLIB_ERR_INVAL;
	if (i >= plan->n)
		return PFMLIB_ERR_NOTFOUND;
	e = &plan->events[i];
	full = (pfm_planned_t){ .request = e->request, .pmu = (int)e->unit, .text = e->text, .group = e->group, .counter = e->counter, .added = e->added, .in_proof = e->in_proof };
	return deliver(&full, sizeof(full), event);
}

void pfm_free_plan(pfm_plan_t *plan)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx;

	if (!plan)
		return;
	ctx.in = plan->ctx; /* the plan's own hold on it */
	pfm_close_context(ctx.out);
	free(plan->events);
	free(plan->certificate);
	free(plan);
}
