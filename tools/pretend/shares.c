/* SPDX-License-Identifier: MIT */
/* Counters are shared as Linux does it (kernel/events/core.c): pinned groups come first, the others
 * take turns. At each turn the list of groups begins with another one, and groups get counters in
 * its order until one does not fit. */
#include "pretend/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "simulate/simulate.h"

enum { MAX_GROUPS = 128, MOST_CHOICES = 6 };

/* The groups of a context, and the events that have a counter at a moment. */
struct turn {
	const struct pretend_machine *machine;
	struct supervisor *supervisor;
	struct pretended_event *leaders[MAX_GROUPS];
	unsigned n_groups, n_on[MAX_GROUPS]; /* turns in which each has its counters */
	const struct event_name *names[TOGETHER_MOST];
	unsigned n_names;
	bool is_exclusive, is_core;
};

static bool is_placed(const struct pretend_machine *m, const char *const *texts, unsigned n)
{
	const pfm_set_t *set;

	if (pfm_dispatch_set(&set, m->ctx, texts, n, NULL, NULL))
		return false;
	pfm_close_set(set);
	return true;
}

unsigned list_names(const struct pretended_event *e, const struct event_name **names)
{
	unsigned n = 0;

	if (e->name.n)
		names[n++] = &e->name;
	if (e->next_name.n)
		names[n++] = &e->next_name;
	return n;
}

/* Bit i of @choices chooses the other text of the i-th event that has two. */
bool fit_together(const struct pretend_machine *m, const struct event_name *const *names,
                  unsigned n)
{
	const char *texts[TOGETHER_MOST];
	unsigned n_choices = 0;

	for (unsigned i = 0; i < n; i++)
		n_choices += names[i]->n > 1 && n_choices < MOST_CHOICES;
	for (unsigned choices = 0; n && choices < 1u << n_choices; choices++) {
		unsigned choice = 0;

		for (unsigned i = 0; i < n; i++) {
			bool has_choice = names[i]->n > 1 && choice < n_choices;

			texts[i] = names[i]->texts[has_choice && (choices >> choice & 1)];
			choice += has_choice;
		}
		if (is_placed(m, texts, n))
			return true;
	}
	return !n;
}

/* Some events must be the first of their group, which the solver takes for the first of all: moves
 * the names from @begin on before the others. False, with the order as it was, if they do not fit
 * either. */
static bool fits_at_front(struct turn *t, unsigned begin)
{
	const struct event_name *moved[TOGETHER_MOST];
	const unsigned n = t->n_names - begin;

	memcpy(moved, t->names + begin, n * sizeof(*moved));
	memcpy(moved + n, t->names, begin * sizeof(*moved));
	if (!begin || !fit_together(t->machine, moved, t->n_names))
		return false;
	memcpy(t->names, moved, t->n_names * sizeof(*moved));
	return true;
}

/* Adds the events of group @g to those with a counter, if they fit. */
static bool add_group(struct turn *t, unsigned g)
{
	const struct pretended_event *leader = t->leaders[g];
	const unsigned before = t->n_names;

	if (t->is_exclusive || (leader->is_exclusive && before))
		return false;
	for (size_t i = 0; i < t->supervisor->events.n; i++) {
		const struct pretended_event *e = t->supervisor->events.at[i];

		if (e->leader == leader->id && e->context == leader->context &&
		    t->n_names + 2 <= TOGETHER_MOST)
			t->n_names += list_names(e, t->names + t->n_names);
	}
	if (fit_together(t->machine, t->names, t->n_names) || fits_at_front(t, before)) {
		t->is_exclusive = leader->is_exclusive;
		return true;
	}
	t->n_names = before;
	return false;
}

/* Finds the groups that want counters: one leader each. */
static void find_groups(struct turn *t, uint64_t context)
{
	for (size_t i = 0; i < t->supervisor->events.n && t->n_groups < MAX_GROUPS; i++) {
		struct pretended_event *e = t->supervisor->events.at[i];

		if (e->context == context && e->is_enabled && e->leader == e->id)
			t->leaders[t->n_groups++] = e;
	}
}

static bool is_pinned(const struct turn *t, unsigned g)
{
	return t->leaders[g]->is_pinned;
}

/* Places the pinned groups; those that do not fit have no counter at any time. */
static void add_pinned_groups(struct turn *t)
{
	for (unsigned g = 0; g < t->n_groups; g++)
		if (is_pinned(t, g))
			t->n_on[g] += add_group(t, g);
}

/* Pinned events of CPUs, such as the watchdog's, come before those of tasks. */
static void add_taken_events(struct turn *t)
{
	const struct supervisor *s = t->supervisor;

	for (unsigned i = 0; t->is_core && i < s->n_taken; i++)
		t->names[t->n_names++] = &s->taken[i];
}

/* One turn of the rotation, which begins with group @first. */
static void take_turn(struct turn *t, unsigned first)
{
	t->n_names = 0;
	add_taken_events(t);
	t->is_exclusive = false;
	add_pinned_groups(t);
	for (unsigned i = 0; i < t->n_groups; i++) {
		unsigned g = (first + i) % t->n_groups;

		if (is_pinned(t, g))
			continue;
		if (!add_group(t, g))
			return;
		t->n_on[g]++;
	}
}

static void set_shares(const struct turn *t, uint64_t context, unsigned n_turns)
{
	for (unsigned g = 0; g < t->n_groups; g++)
		for (size_t i = 0; i < t->supervisor->events.n; i++) {
			struct pretended_event *e = t->supervisor->events.at[i];

			if (e->context == context && e->leader == t->leaders[g]->id)
				e->share = e->limit * t->n_on[g] / n_turns;
		}
}

void find_taken_events(struct supervisor *s)
{
	const struct pretend_pmu *core = get_pretend_core(s->machine);
	perfmon_pmu_info_t p = PFM_INIT(p);

	if (!core || pfm_describe_pmu(s->machine->ctx, core->pmu, &p))
		return;
	for (size_t i = 0; i < s->model->n_troubles && s->n_taken < TAKEN_MOST; i++) {
		struct event_name *name = &s->taken[s->n_taken];
		const struct model_trouble *t = &s->model->troubles[i];

		name->n = 1;
		if (t->fault == FAULT_TAKEN && snprintf(name->texts[0], EVENT_TEXT_MAX, "%s::%s",
		                                        p.name, t->pattern) < EVENT_TEXT_MAX)
			s->n_taken++;
	}
}

void share_counters(struct supervisor *s, uint64_t context)
{
	const struct pretend_pmu *pmu = find_pretend_type(s->machine, (uint32_t)(context >> 40));
	struct turn t = { .machine = s->machine,
		          .supervisor = s,
		          .is_core = pmu && pmu == get_pretend_core(s->machine) };
	unsigned n_turns = 0;

	set_aside_closed_events(s, context);
	find_groups(&t, context);
	for (unsigned first = 0; first < t.n_groups; first++) {
		if (is_pinned(&t, first))
			continue;
		take_turn(&t, first);
		n_turns++;
	}
	if (!n_turns) {
		take_turn(&t, 0);
		n_turns = 1;
	}
	set_shares(&t, context, n_turns);
}

/* Instructions that the programs in the emulator have executed, as time of the model's clock. */
static double read_simulated_ticks(const struct supervisor *s)
{
	return (double)count_simulated(s->machine->simulated, SIMULATED_INSTRUCTIONS) /
	       s->simulated_rate;
}

/* The ticks of the base of @e, whose kernel event has @raw. Counts by the clock end at the moment
 * of a fault; of others it is not known, and they go on. */
static double get_ticks(const struct supervisor *s, const struct pretended_event *e, uint64_t raw)
{
	double ticks = (double)raw;

	if (!e->pmu || get_rate_base(&e->rate) != BASE_CLOCK)
		return ticks;
	if (s->simulated_rate > 0)
		ticks = read_simulated_ticks(s);
	return ticks < (double)e->end ? ticks : (double)e->end;
}

double read_moment(const struct supervisor *s)
{
	struct timespec now = { 0 };

	if (s->simulated_rate > 0)
		return read_simulated_ticks(s);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec - s->began;
}

/* The count of @e since it was settled, with a counter all the time. */
static double count_since(const struct supervisor *s, const struct pretended_event *e, double ticks)
{
	return compute_model_count(&e->rate, e->last_ticks, ticks,
	                           get_mean_speed(s->model, e->last_moment, s->moment));
}

uint64_t peek_value(const struct supervisor *s, const struct pretended_event *e, uint64_t raw)
{
	const double value = e->value + e->share * count_since(s, e, get_ticks(s, e, raw));

	if (get_rate_base(&e->rate) == BASE_CONSTANT)
		return (uint64_t)(e->rate.by[BASE_CONSTANT] + 0.5);
	return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

uint64_t peek_running(const struct pretended_event *e, uint64_t running)
{
	const double now =
		(double)e->running + e->share * ((double)running - (double)e->last_running);

	return now > 0 ? (uint64_t)(now + 0.5) : 0;
}

void begin_ticks(const struct supervisor *s, struct pretended_event *e)
{
	e->last_ticks = get_ticks(s, e, 0);
	e->last_moment = s->moment;
}

void settle_event(const struct supervisor *s, struct pretended_event *e, uint64_t raw,
                  uint64_t running)
{
	const double ticks = get_ticks(s, e, raw);

	/* A count that is a number has it once the event was enabled. The emulator goes on while an
	 * event is disabled. */
	if (get_rate_base(&e->rate) == BASE_CONSTANT)
		e->value += e->share * compute_model_count(&e->rate, (double)e->last_running,
		                                           (double)running, 1);
	else if (e->is_enabled || s->simulated_rate <= 0)
		e->value += e->share * count_since(s, e, ticks);
	e->running += (uint64_t)(e->share * (double)(running - e->last_running));
	e->last_ticks = ticks;
	e->last_moment = s->moment;
	e->last_running = running;
}
