/* SPDX-License-Identifier: MIT */
/* Computes counts from the readings of their kernel events. */
#include <string.h>
#include "session/perf_event_internal.h"

/* Sum over the kernel events of a count. */
struct count_sum {
	uint64_t value, raw, enabled, running;
	pfm_quality_t quality;
	pfm_cause_t cause;
};

/* Adds @raw, counted in @running of the @enabled nanoseconds in which it was to be counted. */
static inline void add_to_sum(struct count_sum *sum, bool is_level, uint64_t raw, uint64_t enabled,
                              uint64_t running)
{
	sum->raw += raw;
	sum->enabled += enabled;
	sum->running += running;
	if (running == 0 && enabled) {
		sum->quality = PFM_QUALITY_PARTIAL;
	} else if (running < enabled && !is_level) {
		uint64_t more = pfmi_session_extrapolate_value(raw, enabled, running);

		sum->value = sum->value > UINT64_MAX - more ? UINT64_MAX : sum->value + more;
		if (sum->quality == PFM_QUALITY_EXACT)
			sum->quality = PFM_QUALITY_SCALED;
	} else {
		sum->value += raw;
	}
}

/* The longest time for which the event can have been enabled; 0: unknown. A CPU's event: since the
 * start. A task's, with those that it starts: as long as all CPUs together. */
static inline uint64_t get_max_time(const struct perf_state *st, const struct kernel_event *p)
{
	return p->pid == -1 ? st->hotplug.max_enabled_time : st->hotplug.max_task_time;
}

static inline bool is_time_impossible(const struct perf_state *st, const struct kernel_event *p,
                                      uint64_t enabled)
{
	uint64_t most = get_max_time(st, p);

	return most && enabled > most;
}

/* Adds the @value and @times of kernel event @p. @away: time that its task spent on other CPUs. */
static inline void add_event_to_sum(struct count_sum *sum, const struct perf_state *st,
                                    bool is_level, const struct kernel_event *p, uint64_t value,
                                    const uint64_t times[2], uint64_t away)
{
	const uint64_t *zeros = st->reset_readings + p->times_index;
	uint64_t enabled = times[0] - zeros[0], running = times[1] - zeros[1];

	if (times[0] == LOST_COUNTER_TIME) {
		sum->cause = PFM_CAUSE_BUSY;
		sum->quality = PFM_QUALITY_PARTIAL;
		return;
	}
	if (is_time_impossible(st, p, enabled)) {
		sum->cause = PFM_CAUSE_OTHER;
		sum->quality = PFM_QUALITY_PARTIAL;
		enabled = running = get_max_time(st, p);
	}
	if (away) {
		uint64_t idle = enabled > running ? enabled - running : 0;

		enabled = running + (idle > away ? idle - away : 0);
	}
	add_to_sum(sum, is_level, is_level ? value : value - st->reset_readings[p->value_index],
	           enabled, running);
}

static inline void write_sum_to_count(const struct count_sum *sum, pfm_count_t *out)
{
	*out = (pfm_count_t){ .size = sizeof(*out),
		              .value = sum->value,
		              .raw = sum->raw,
		              .enabled = sum->enabled,
		              .running = sum->running,
		              .quality = sum->quality,
		              .cause = sum->cause };
}

/* Computes count @c from the readings of its kernel events and their time references. */
static void sum_kernel_events(struct pfm_session *s, struct session_count *c, pfm_count_t *out)
{
	const struct perf_state *st = s->live.backend_state;
	struct count_sum sum = { .quality = PFM_QUALITY_EXACT };
	uint64_t all_away = 0;

	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		const struct kernel_event *p = &st->events[c->kernel_state.first_event + k];
		uint64_t away = p->time_reference < 0
		                        ? 0
		                        : st->time_references[p->time_reference].time_elsewhere;

		if (p->fd < 0)
			continue;
		all_away += away;
		add_event_to_sum(&sum, st, c->config.is_level, p, st->readings[p->value_index],
		                 st->readings + p->times_index, away);
	}
	c->kernel_state.time_elsewhere = all_away;
	if (pfmi_perf_has_missed_cpu(s, c)) {
		sum.quality = PFM_QUALITY_PARTIAL;
		sum.cause = PFM_CAUSE_NO_CPU;
	}
	write_sum_to_count(&sum, out);
}

/* Computes a count with one open kernel event that ran all the time, as most counts do. Returns
 * false for other counts. */
static inline bool compute_simple_count(const struct perf_state *st, const struct session_count *c,
                                        pfm_count_t *out)
{
	const struct kernel_event *p;
	uint64_t enabled, running, value;

	/* A count without kernel events may have no array of them. */
	if (c->kernel_state.n_events != 1)
		return false;
	p = &st->events[c->kernel_state.first_event];
	if (p->fd < 0 || p->time_reference >= 0 || c->config.is_level)
		return false;
	enabled = st->readings[p->times_index] - st->reset_readings[p->times_index];
	running = st->readings[p->times_index + 1] - st->reset_readings[p->times_index + 1];
	value = st->readings[p->value_index] - st->reset_readings[p->value_index];
	if (enabled != running || st->readings[p->times_index] == LOST_COUNTER_TIME ||
	    is_time_impossible(st, p, enabled) ||
	    (p->pid == -1 &&
	     (enabled < st->hotplug.min_enabled_time || st->hotplug.has_missed_cpu)))
		return false;
	write_sum_to_count(&(struct count_sum){ value, value, enabled, running, PFM_QUALITY_EXACT,
	                                        PFM_CAUSE_NONE },
	                   out);
	return true;
}

/* Sums the time that all kernel events of count @c were enabled in *@time. False if they did not
 * run all that time, or if a CPU may be missing. */
static bool sum_exact_time(const struct perf_state *st, const struct session_count *c,
                           uint64_t *time)
{
	const struct kernel_event *p = &st->events[c->kernel_state.first_event];
	uint64_t shortest = UINT64_MAX;

	*time = 0;
	for (unsigned k = 0; k < c->kernel_state.n_events; k++) {
		const uint64_t *now = st->readings + p[k].times_index,
			       *zeros = st->reset_readings + p[k].times_index;
		uint64_t enabled = now[0] - zeros[0];

		/* If times were lost, these differ as well. */
		if (now[1] - zeros[1] != enabled || is_time_impossible(st, p, enabled))
			return false;
		*time += enabled;
		shortest = enabled < shortest ? enabled : shortest;
	}
	return *time && (p->pid != -1 || shortest >= st->hotplug.min_enabled_time);
}

/* Writes a count that is exact without remarks. Pairs of words where the structure permits it:
 * writing each member takes twice as long. */
static inline void write_exact_count(uint64_t value, uint64_t time, double scale, pfm_count_t *out)
{
	enum {
		HAS_PAIR_LAYOUT = sizeof(out->size) == 8 && offsetof(pfm_count_t, raw) == 16 &&
		                  offsetof(pfm_count_t, running) == 32 &&
		                  offsetof(pfm_count_t, scale) == 56 && PFM_QUALITY_EXACT == 0 &&
		                  PFM_CAUSE_NONE == 0
	};
	typedef uint64_t pair __attribute__((vector_size(16)));
	char *to = (char *)out;
	uint64_t last;

	if (!HAS_PAIR_LAYOUT) {
		write_sum_to_count(&(struct count_sum){ value, value, time, time, PFM_QUALITY_EXACT,
		                                        PFM_CAUSE_NONE },
		                   out);
		out->scale = scale;
		return;
	}
	memcpy(&last, &scale, sizeof(last));
	memcpy(to, &(pair){ sizeof(*out), value }, sizeof(pair));
	memcpy(to + sizeof(pair), &(pair){ value, time }, sizeof(pair));
	memcpy(to + 2 * sizeof(pair), &(pair){ time, 0 }, sizeof(pair));
	memcpy(to + 3 * sizeof(pair), &(pair){ 0, last }, sizeof(pair));
}

/* Writes @n exact counts with the values of kernel event @p. */
static inline void write_exact_counts(const struct perf_state *st, const struct kernel_event *p,
                                      unsigned n, uint64_t time, const double *scales,
                                      pfm_count_t *out)
{
	const uint64_t *values = st->readings + p->value_index,
		       *zeros = st->reset_readings + p->value_index;

	for (unsigned m = 0; m < n; m++)
		write_exact_count(values[m] - zeros[m], time, scales[m], out + m);
}

/* Adds the values of another kernel event. */
static inline void add_event_values(const struct perf_state *st, const struct kernel_event *p,
                                    unsigned n, pfm_count_t *out)
{
	const uint64_t *values = st->readings + p->value_index,
		       *zeros = st->reset_readings + p->value_index;

	for (unsigned m = 0; m < n; m++)
		out[m].value = out[m].raw += values[m] - zeros[m];
}

bool pfmi_perf_compute_exact_counts(const struct pfm_session *s, pfm_count_t *out)
{
	const struct perf_state *st = s->live.backend_state;
	uint64_t time;

	for (unsigned i = 0, n; i < s->n_counts; i += n) {
		const struct session_count *c = &s->counts[i];
		const struct kernel_event *p = &st->events[c->kernel_state.first_event];

		if (!sum_exact_time(st, c, &time))
			return false;
		n = perf_get_counts_per_reading(p);
		write_exact_counts(st, p, n, time, st->scales + i, out + i);
		for (unsigned k = 1; k < c->kernel_state.n_events; k++)
			add_event_values(st, p + k, n, out + i);
	}
	return true;
}

void pfmi_perf_compute_all_counts(struct pfm_session *s, pfm_count_t *counts)
{
	const struct perf_state *st = s->live.backend_state;

	for (unsigned i = 0; i < s->n_counts; i++)
		if (!compute_simple_count(st, &s->counts[i], &counts[i]))
			sum_kernel_events(s, &s->counts[i], &counts[i]);
	for (unsigned i = 0; i < st->n_unserved_times; i++)
		counts[st->unserved_times[i].count_index].enabled +=
			st->time_references[st->unserved_times[i].time_reference].time_on_cpu;
}

int pfmi_perf_read_user_count(struct pfm_session *s, unsigned i, pfm_count_t *count)
{
	const struct perf_state *st = s->live.backend_state;
	const struct session_count *c = &s->counts[i];
	const struct kernel_event *p;
	struct count_sum sum = { .quality = PFM_QUALITY_EXACT };
	uint64_t v[3];

	if (c->kernel_state.n_events != 1)
		return PFMLIB_ERR_NOTSUPP;
	p = &st->events[c->kernel_state.first_event];
	if (!p->user_page || !s->live.running || !pfmi_perf_read_user_page(p->user_page, v))
		return PFMLIB_ERR_NOTSUPP;
	add_event_to_sum(&sum, st, c->config.is_level, p, v[0], v + 1, 0);
	write_sum_to_count(&sum, count);
	return PFMLIB_SUCCESS;
}
