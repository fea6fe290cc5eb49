/* SPDX-License-Identifier: MIT */
/* Distributes events among groups, and groups among rounds.
 *
 * A session on the calling thread finds the events that a task can count, at which privilege
 * levels, and why not the others. These events are grouped so that few readings read all of them:
 *
 *   1. Hardware events that the user or the plan of a metric put in one group stay together.
 *   2. Each such unit joins the first group of its PMU with which the kernel accepts it, or begins
 *      a group in a new round. The kernel has constraints that tables lack.
 *   3. Software events and tracepoints, which need no counter, join the first group of every round.
 *   4. Each event of the whole machine is a group of its own in every round.
 *
 * If the user limits the number of events in a group, software events are distributed, too. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "region/region.h"

/* Limit of events: a visit reads all of them, and more would take milliseconds. */
enum { EVENTS_MAX = 1024 };

/* ---- the events -------------------------------------------------------------------------- */

static bool is_soft(const pfm_attr_t *a)
{
	return a->type == PERF_TYPE_SOFTWARE || a->type == PERF_TYPE_TRACEPOINT;
}

static char *copy_or_empty(const char *text)
{
	return strdup(text ? text : "");
}

static int describe_event(const pfm_session_t *s, unsigned i, const pfm_count_t *count,
                          struct region_event *e)
{
	pfm_count_info_t info = PFM_INIT(info);
	int rc = pfm_describe_count(s, i, &info);

	if (rc)
		return rc;
	e->name = copy_or_empty(info.name);
	e->unit = copy_or_empty(info.unit);
	e->why = copy_or_empty(info.why);
	e->remedy = copy_or_empty(info.remedy);
	e->cpus = copy_or_empty(info.cpus);
	e->attr = info.attr;
	e->session_group = info.group;
	e->scale = count->scale;
	e->quality = count->quality;
	e->cause = count->cause;
	e->soft = is_soft(&info.attr);
	e->countable =
		info.n_kernel_events && !info.is_level &&
		(count->quality == PFM_QUALITY_EXACT || count->quality == PFM_QUALITY_SCALED ||
	         (count->quality == PFM_QUALITY_NOT_COUNTED && count->cause == PFM_CAUSE_NO_TIME));
	if (e->countable) {
		e->quality = PFM_QUALITY_EXACT;
		e->cause = PFM_CAUSE_NONE;
	}
	return e->name && e->unit && e->why && e->remedy && e->cpus ? PFMLIB_SUCCESS
	                                                            : PFMLIB_ERR_NOMEM;
}

static int describe_events(struct layout *l, pfm_session_t *s)
{
	unsigned n = pfm_session_size(s);
	pfm_count_t *counts = calloc(n + 1, sizeof(*counts));
	int rc = counts ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	l->events = calloc(n + 1, sizeof(*l->events));
	if (!l->events)
		rc = PFMLIB_ERR_NOMEM;
	for (unsigned i = 0; i < n && counts; i++)
		counts[i].size = sizeof(*counts);
	pfm_start_session(s);
	pfm_stop_session(s);
	if (!rc)
		rc = pfm_read_session(s, counts, n);
	for (unsigned i = 0; i < n && !rc; i++) {
		l->n_events = i + 1;
		rc = describe_event(s, i, &counts[i], &l->events[i]);
	}
	free(counts);
	return rc;
}

/* ---- events of the whole machine --------------------------------------------------------- */

/* The next CPU of a list such as "0,2-3", from *@cpu on; false at its end. */
static bool next_cpu(const char **list, int *cpu, int *last)
{
	char *end;

	if (*cpu < *last) {
		++*cpu;
		return true;
	}
	if (!**list)
		return false;
	*cpu = *last = (int)strtol(*list, &end, 10);
	if (*end == '-')
		*last = (int)strtol(end + 1, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return true;
}

static void close_cpu_fds(struct region_event *e)
{
	while (e->n_cpu_fds > 0)
		close(e->cpu_fds[--e->n_cpu_fds]);
	free(e->cpu_fds);
	e->cpu_fds = NULL;
}

static bool add_cpu_fd(struct region_event *e, int fd)
{
	int *more = realloc(e->cpu_fds, (size_t)(e->n_cpu_fds + 1) * sizeof(*more));

	if (!more)
		return false;
	e->cpu_fds = more;
	more[e->n_cpu_fds++] = fd;
	return true;
}

/* Returns the CPUs of the PMU of @e, or all. */
static const char *get_event_cpus(const struct region_event *e, char *all, size_t size)
{
	if (*e->cpus)
		return e->cpus;
	snprintf(all, size, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	return all;
}

/* Opens @e on each of its CPUs that is on line; false if the kernel refuses one of them. */
static bool open_cpu_fds(struct region_event *e)
{
	char all[32];
	const char *list = get_event_cpus(e, all, sizeof(all));
	int cpu = -1, last = -1;

	while (next_cpu(&list, &cpu, &last)) {
		int fd = pfmi_region_open_event(&e->attr, -1, cpu, -1, false);

		if (fd == -ENODEV || (fd >= 0 && add_cpu_fd(e, fd)))
			continue;
		if (fd >= 0)
			close(fd);
		close_cpu_fds(e);
		return false;
	}
	return e->n_cpu_fds > 0;
}

/* Adds the events that only the whole machine can count, as described by a session of all CPUs. */
static void add_system_events(struct layout *l, const pfm_session_options_t *usual,
                              const char *const *texts, unsigned n)
{
	pfm_session_options_t options = *usual;
	struct layout whole = { 0 };
	pfm_session_t *s;

	options.flags = PFM_SESSION_SYSTEM_WIDE;
	if (pfm_open_session(&s, l->ctx, &options, texts, n, NULL))
		return;
	if (!describe_events(&whole, s) && whole.n_events == l->n_events)
		for (unsigned i = 0; i < l->n_events; i++)
			if (!l->events[i].countable && whole.events[i].countable) {
				struct region_event e = l->events[i];

				l->events[i] = whole.events[i];
				l->events[i].system = true;
				whole.events[i] = e;
			}
	pfm_close_session(s);
	pfmi_layout_free(&whole);
}

/* ---- groups ------------------------------------------------------------------------------ */

static struct group *add_group(struct round *r)
{
	struct group *more = realloc(r->groups, (r->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	r->groups = more;
	more[r->n] = (struct group){ 0 };
	return &more[r->n++];
}

static bool add_event(struct group *g, unsigned event)
{
	unsigned *more = realloc(g->events, (g->n + 1) * sizeof(*more));

	if (!more)
		return false;
	g->events = more;
	more[g->n++] = event;
	return true;
}

static struct round *add_round(struct layout *l)
{
	struct round *more = realloc(l->rounds, (l->n_rounds + 1) * sizeof(*more));

	if (!more)
		return NULL;
	l->rounds = more;
	more[l->n_rounds] = (struct round){ 0 };
	return &more[l->n_rounds++];
}

/* True if the kernel opens the group for this thread. *@fault: the event that it refuses. */
static bool can_open_group(const struct layout *l, const struct group *g, unsigned *fault, int *err)
{
	int fds[PFM_MAX_SET + 1] = { -1 }; /* descriptors, the leader's first; -1: not open */
	unsigned n = 0;

	*err = 0;
	while (n < g->n && n < PFM_MAX_SET && !*err) {
		fds[n] = pfmi_region_open_event(&l->events[g->events[n]].attr, 0, -1, fds[0], true);
		if (fds[n] < 0) {
			*err = -fds[n];
			*fault = g->events[n];
		} else {
			n++;
		}
	}
	for (unsigned i = n; i-- > 0;)
		close(fds[i]);
	return !*err && g->n <= PFM_MAX_SET;
}

/* Adds the events of @unit to @g if the kernel accepts them together; else leaves @g as it was. */
static bool can_join_group(const struct layout *l, struct group *g, const unsigned *unit,
                           unsigned n)
{
	unsigned before = g->n, fault;
	int err;

	if (l->max_group_size && g->n + n > l->max_group_size)
		return false;

	for (unsigned i = 0; i < n; i++)
		if (!add_event(g, unit[i]))
			return false;
	if (can_open_group(l, g, &fault, &err))
		return true;
	g->n = before;
	return false;
}

static bool is_of_group_pmu(const struct layout *l, const struct group *g, unsigned event)
{
	const pfm_attr_t *a = &l->events[g->events[0]].attr, *b = &l->events[event].attr;
	bool core_a = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE ||
	              a->type == PERF_TYPE_RAW;
	bool core_b = b->type == PERF_TYPE_HARDWARE || b->type == PERF_TYPE_HW_CACHE ||
	              b->type == PERF_TYPE_RAW;

	return a->type == b->type || (core_a && core_b) || (is_soft(a) && is_soft(b));
}

/* Rule 2: uses the first round in which the unit fits. Groups of other PMUs count at the same
 * time. */
static bool place_in_round(struct layout *l, const unsigned *unit, unsigned n)
{
	struct group *g;
	bool ok;

	for (unsigned r = 0; r < l->n_rounds; r++) {
		bool met = false;

		for (unsigned i = 0; i < l->rounds[r].n; i++) {
			if (!is_of_group_pmu(l, &l->rounds[r].groups[i], unit[0]))
				continue;
			met = true;
			if (can_join_group(l, &l->rounds[r].groups[i], unit, n))
				return true;
		}
		if (met)
			continue;
		g = add_group(&l->rounds[r]);
		if (g && can_join_group(l, g, unit, n))
			return true;
		if (g)
			free(l->rounds[r].groups[--l->rounds[r].n].events);
	}
	if (!add_round(l))
		return false;
	g = add_group(&l->rounds[l->n_rounds - 1]);
	ok = g && can_join_group(l, g, unit, n);
	if (!ok) {
		if (g)
			free(g->events);
		free(l->rounds[--l->n_rounds].groups);
	}
	return ok;
}

static void mark_uncountable(struct region_event *e, pfm_cause_t cause, const char *why)
{
	char *text = strdup(why);

	e->countable = false;
	e->quality = PFM_QUALITY_NOT_COUNTED;
	e->cause = cause;
	if (text) {
		free(e->why);
		e->why = text;
	}
}

/* Rule 1: keeps hardware events of one group of the session together. */
static void place_session_group(struct layout *l, unsigned first)
{
	unsigned unit[PFM_MAX_SET], n = 0;

	for (unsigned i = first; i < l->n_events && n < PFM_MAX_SET; i++)
		if (l->events[i].countable && !l->events[i].soft && !l->events[i].system &&
		    l->events[i].session_group == l->events[first].session_group)
			unit[n++] = i;
	if (place_in_round(l, unit, n))
		return;
	for (unsigned i = 0; i < n; i++)
		if (n == 1 || !place_in_round(l, &unit[i], 1))
			mark_uncountable(&l->events[unit[i]], PFM_CAUSE_GROUP,
			                 "the kernel refuses the event for a thread");
}

static bool is_placed(const struct layout *l, unsigned event)
{
	for (unsigned r = 0; r < l->n_rounds; r++)
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			for (unsigned i = 0; i < l->rounds[r].groups[g].n; i++)
				if (l->rounds[r].groups[g].events[i] == event)
					return true;
	return false;
}

/* Rule 3: adds a software event to a group. */
static bool place_software_event(struct layout *l, unsigned event)
{
	for (unsigned r = 0; r < l->n_rounds; r++) {
		struct round *round = &l->rounds[r];
		struct group *g = round->n ? &round->groups[0] : add_group(round);

		if (!g)
			return false;
		if (can_join_group(l, g, &event, 1))
			continue;
		g = add_group(round);
		if (!g)
			return false;
		if (!can_join_group(l, g, &event, 1)) {
			free(round->groups[--round->n].events);
			mark_uncountable(&l->events[event], PFM_CAUSE_OTHER,
			                 "the kernel refuses the event for a thread");
			return true;
		}
	}
	return true;
}

/* Rule 4: makes a group of an event of the whole machine. */
static bool place_system_event(struct layout *l, unsigned event)
{
	struct region_event *e = &l->events[event];

	if (!open_cpu_fds(e)) {
		mark_uncountable(e, PFM_CAUSE_PERMISSION,
		                 "the kernel refuses the event for the whole machine");
		return true;
	}
	for (unsigned r = 0; r < l->n_rounds; r++) {
		struct group *g = add_group(&l->rounds[r]);

		if (!g || !add_event(g, event))
			return false;
		g->n_system = e->n_cpu_fds;
		g->system_fds = e->cpu_fds;
	}
	return true;
}

/* Assigns the events of a group their places in a snapshot, in the sums of an entry, and among a
 * thread's descriptors. */
static void number_group(struct layout *l, unsigned r, struct group *g)
{
	g->word = l->rounds[r].words;
	l->rounds[r].words += GROUP_VALUES + g->n;
	g->sums = l->sums;
	l->sums += (unsigned)(sizeof(struct group_sums) + g->n * sizeof(struct span)) /
	           (unsigned)sizeof(uint64_t);
	g->first_fd = l->n_fds;
	l->n_fds += g->n;
	for (unsigned k = 0; k < g->n; k++)
		if (!l->events[g->events[k]].soft)
			l->events[g->events[k]].round = r;
}

void pfmi_layout_assign_places(struct layout *l)
{
	l->words = l->sums = l->n_fds = 0;
	for (unsigned r = 0; r < l->n_rounds; r++) {
		l->rounds[r].words = 0;
		l->rounds[r].sums = l->sums;
		l->sums += sizeof(struct visit_sums) / sizeof(uint64_t);
		for (unsigned i = 0; i < l->rounds[r].n; i++)
			number_group(l, r, &l->rounds[r].groups[i]);
		if (l->words < l->rounds[r].words)
			l->words = l->rounds[r].words;
	}
}

static int make_groups(struct layout *l)
{
	bool is_added = true;

	for (unsigned i = 0; i < l->n_events; i++)
		if (l->events[i].countable && !l->events[i].soft && !l->events[i].system &&
		    !is_placed(l, i))
			place_session_group(l, i);
	if (!l->n_rounds)
		is_added = add_round(l) != NULL;
	for (unsigned i = 0; i < l->n_events && is_added; i++)
		if (l->events[i].countable && l->events[i].soft && !l->events[i].system)
			is_added = place_software_event(l, i);
	for (unsigned i = 0; i < l->n_events && is_added; i++)
		if (l->events[i].countable && l->events[i].system)
			is_added = place_system_event(l, i);
	if (is_added)
		pfmi_layout_assign_places(l);
	return is_added ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
}

/* ---- the list ---------------------------------------------------------------------------- */

/* Splits a list into its *@n pieces, each terminated. The caller frees the result, which has their
 * bytes behind the pointers. NULL without memory. */
static const char **split_list(const char *list, unsigned *n)
{
	size_t size = strlen(list) + 1, len;
	const char **texts = malloc(size * sizeof(*texts) + size), *rest, *piece;
	char *copy;

	if (!texts)
		return NULL;
	copy = memcpy(texts + size, list, size);
	for (rest = copy; pfm_split_events(&rest, &piece, &len) == 1; texts[(*n)++] = piece)
		copy[piece - copy + (ptrdiff_t)len] = '\0';
	return texts;
}

static int open_sessions(struct layout *l, const char *const *texts, unsigned n, bool system,
                         pfm_error_t *error)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_session_t *s;
	int rc;

	options.flags = PFM_SESSION_ONE_THREAD;
	rc = pfm_open_session(&s, l->ctx, &options, texts, n, error);
	if (rc)
		return rc;
	rc = describe_events(l, s);
	pfm_close_session(s);
	if (!rc && system)
		add_system_events(l, &options, texts, n);
	options.flags |= PFM_SESSION_DRY_RUN;
	if (!rc)
		rc = pfm_open_session(&l->session, l->ctx, &options, texts, n, error);
	if (!rc)
		l->n_metrics = pfm_session_size(l->session) == l->n_events
		                       ? pfm_count_metrics(l->session)
		                       : 0;
	return rc;
}

static int refuse_many_events(pfm_error_t *error)
{
	return pfmi_base_set_error(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL,
	                           (struct slice){ 0 },
	                           "more than 1024 events of regions: name fewer");
}

int pfmi_layout_plan(struct layout *l, const char *events, bool system, pfm_error_t *error)
{
	unsigned n = 0;
	const char **texts = events && *events ? split_list(events, &n) : NULL;
	int rc = pfm_open_context(&l->ctx, NULL, error);

	if (!rc && events && *events && !texts)
		rc = pfmi_base_set_no_memory_error(error);
	if (!rc && n > EVENTS_MAX)
		rc = refuse_many_events(error);
	if (!rc && n)
		rc = open_sessions(l, texts, n, system, error);
	for (unsigned i = 0; i < l->n_events && l->max_group_size; i++)
		l->events[i].soft = false;
	if (!rc)
		rc = make_groups(l);
	free(texts);
	return rc;
}

void pfmi_layout_free(struct layout *l)
{
	for (unsigned i = 0; i < l->n_events; i++) {
		struct region_event *e = &l->events[i];

		free(e->name);
		free(e->unit);
		free(e->why);
		free(e->remedy);
		free(e->cpus);
		close_cpu_fds(e);
	}
	free(l->events);
	for (unsigned r = 0; r < l->n_rounds; r++) {
		for (unsigned g = 0; g < l->rounds[r].n; g++)
			free(l->rounds[r].groups[g].events);
		free(l->rounds[r].groups);
	}
	free(l->rounds);
	pfm_close_session(l->session);
	pfm_close_context(l->ctx);
	*l = (struct layout){ 0 };
}
