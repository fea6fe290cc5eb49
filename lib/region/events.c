/* SPDX-License-Identifier: MIT */
/* Events that regions count: sessions on the calling thread and, on request, of the whole machine
 * find which events can be counted, at which privilege levels, and why not the others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "context/context.h"
#include "region/region.h"

/* Limit of events: a visit reads all of them, and more would take milliseconds. */
enum { EVENTS_MAX = 1024 };

/* ---- descriptions ------------------------------------------------------------------------ */

static char *copy_or_empty(const char *text)
{
	return strdup(text ? text : "");
}

/* True if the kernel can count the event for this thread. The session that was read has all events
 * at once; those without time, or without a counter beside the others, get theirs in turns. */
static bool can_be_counted(const pfm_count_t *count)
{
	return pfm_counter_quality(count->quality, count->cause) <= PFM_QUALITY_SCALED ||
	       (count->quality == PFM_QUALITY_NOT_COUNTED &&
	        (count->cause == PFM_CAUSE_NO_TIME || count->cause == PFM_CAUSE_MULTIPLEXED));
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
	e->soft = pfmi_region_is_software(&info.attr);
	e->countable = info.n_kernel_events && !info.is_level && can_be_counted(count);
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

bool pfmi_region_open_on_cpus(struct region_event *e)
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
	pfmi_layout_close_events(&whole);
}

/* ---- the list ---------------------------------------------------------------------------- */

/* Splits a list into its *@n pieces, each terminated. The caller frees the result, which holds
 * the pointers, then their bytes. NULL without memory. */
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

void pfmi_layout_open_metrics(struct layout *l, const char *events)
{
	pfm_session_options_t options = PFM_INIT(options);
	unsigned n = 0;
	const char **texts = *events ? split_list(events, &n) : NULL;

	options.flags = PFM_SESSION_ONE_THREAD | PFM_SESSION_DRY_RUN;
	if (n && n <= EVENTS_MAX && !pfm_open_context(&l->ctx, NULL, NULL) &&
	    !pfm_open_session(&l->session, l->ctx, &options, texts, n, NULL) &&
	    pfm_session_size(l->session) == l->n_events)
		l->n_metrics = pfm_count_metrics(l->session);
	free(texts);
}

static int refuse_many_events(pfm_error_t *error)
{
	return pfmi_base_set_error(error, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL,
	                           (struct slice){ 0 },
	                           "more than 1024 events of regions: name fewer");
}

int pfmi_layout_open_events(struct layout *l, const char *events, bool system, pfm_error_t *error)
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
	if (!rc)
		l->is_pretended = context_is_pretended(l->ctx);
	free(texts);
	return rc;
}

void pfmi_layout_close_events(struct layout *l)
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
	pfm_close_session(l->session);
	pfm_close_context(l->ctx);
}
