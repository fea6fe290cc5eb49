/* SPDX-License-Identifier: MIT */
/* Measures the metrics that rules need: a session that is read at intervals, so that each value has
 * one. */
#include "explain/queue.h"
#include "explain/readings.h"
#include "explain/sites.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FIRST_INTERVAL_MS = 50,
	DRAIN_MS = 100 /* samples are read at least that often */
};

/* A metric that no event counts: see compute_queue_share(). */
#define QUEUE_METRIC "run_queue"
/* Context switches in a second of elapsed time: see compute_switch_rate(). */
#define SWITCH_METRIC "switch_rate"
#define SWITCH_EVENT  "software::context-switches"

/* The threads that wait for a lock at a time, on average. */
#define LOCK_METRIC "lock_waiters"

/* A measurement: the session that counts, and the samplers. */
struct measurement {
	struct reading_series r;
	struct event_ratios ratios;
	struct sampler work, waits;
	const char *texts[EXPLAIN_METRICS_MAX + 1 + RATIO_TEXTS_MAX];
	size_t index[EXPLAIN_METRICS_MAX + 1]; /* of metrics in the evidence, by text */
	unsigned n_texts;
	struct child child;
};

static double compute_elapsed(const struct reading_series *r)
{
	return (double)(now_ns() - r->begin) / NS;
}

/* ---- interrupts ------------------------------------------------------------------------------ */

static volatile sig_atomic_t has_interrupt;

static void note_interrupt(int number)
{
	(void)number;
	has_interrupt = 1;
}

/* Programs that are started get back the default action, which a signal that is ignored would not
 * have. */
void catch_interrupts(void)
{
	const struct sigaction note = { .sa_handler = note_interrupt, .sa_flags = SA_RESTART };
	struct sigaction before;

	/* The caller may ignore interrupts, as nohup(1) does for SIGHUP. */
	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &note, NULL);
}

bool is_interrupted(void)
{
	return has_interrupt;
}

/* ---- which metrics can be measured ----------------------------------------------------------- */

/* True for metrics that are computed here. */
static bool is_own_metric(const char *name)
{
	return strcmp(name, QUEUE_METRIC) == 0 || strcmp(name, SWITCH_METRIC) == 0 ||
	       strcmp(name, LOCK_METRIC) == 0 || strcmp(name, BANDWIDTH_METRIC) == 0 ||
	       strchr(name, '/');
}

bool is_metric_accepted(pfm_ctx_t *ctx, struct explain_value *v)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *s;

	if (is_own_metric(v->metric))
		return false;
	options.flags = PFM_SESSION_DRY_RUN;
	if (pfm_open_session(&s, ctx, &options, &v->metric, 1, &error)) {
		pfm_explain_error(ctx, v->metric, &error, v->reason, sizeof(v->reason));
		return false;
	}
	pfm_close_session(s);
	return true;
}

/* Lists the event of switches, the accepted metrics and the events of ratios. */
static void choose_texts(pfm_ctx_t *ctx, struct explain_evidence *e, struct measurement *m)
{
	m->texts[m->n_texts++] = SWITCH_EVENT;
	for (size_t i = 0; i < e->n; i++)
		if (is_metric_accepted(ctx, &e->values[i])) {
			m->texts[m->n_texts] = e->values[i].metric;
			m->index[m->n_texts++] = i;
		}
	find_ratios(ctx, e, m->n_texts, &m->ratios);
	for (unsigned i = 0; i < m->ratios.n_texts; i++)
		m->texts[m->n_texts++] = m->ratios.texts[i];
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Keeps every second reading. */
static void thin_out(struct reading_series *r)
{
	for (unsigned i = 0; i < READINGS_MAX / 2; i++) {
		memcpy(r->counts + (size_t)i * r->n_counts,
		       r->counts + (size_t)(2 * i) * r->n_counts, r->n_counts * sizeof(*r->counts));
		r->seconds[i] = r->seconds[2 * i];
		r->queued[i] = r->queued[2 * i];
		r->locked[i] = r->locked[2 * i];
	}
	r->n = READINGS_MAX / 2;
	r->interval_ms *= 2;
}

static void take_reading(struct reading_series *r)
{
	pfm_count_t *counts;

	if (r->n == READINGS_MAX)
		thin_out(r);
	counts = r->counts + (size_t)r->n * r->n_counts;
	for (unsigned i = 0; i < r->n_counts; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(*counts) };
	r->seconds[r->n] = compute_elapsed(r);
	r->queued[r->n] = r->pid ? read_queue_time(r->pid) : 0;
	r->locked[r->n] = r->pid ? count_lock_waiters(r->pid) : 0;
	if (pfm_read_session(r->s, counts, r->n_counts) == PFMLIB_SUCCESS)
		r->n++;
}

static bool has_ended(struct measurement *m, int *status)
{
	if (m->child.pid > 0 && waitpid(m->child.pid, status, WNOHANG) == m->child.pid)
		m->child.pid = 0;
	return m->child.pid == 0;
}

/* Waits for the next reading, and reads samples meanwhile. False if the program ends, or without
 * one after an interrupt. */
static bool wait_interval(struct measurement *m, bool is_program, int *status)
{
	unsigned left = m->r.interval_ms;

	while (left > 0) {
		const unsigned part = left < DRAIN_MS ? left : DRAIN_MS;
		const struct timespec t = { 0, (long)part * 1000000 };

		if (is_program ? has_ended(m, status) : is_interrupted())
			return false;
		nanosleep(&t, NULL);
		drain_sampler(&m->work);
		drain_sampler(&m->waits);
		left -= part;
	}
	return true;
}

/* Reads until the program has ended, or for @seconds, but at least twice. */
static void take_readings(struct measurement *m, bool is_program, double seconds, int *status)
{
	take_reading(&m->r);
	while ((is_program || compute_elapsed(&m->r) < seconds) &&
	       wait_interval(m, is_program, status))
		take_reading(&m->r);
	pfm_stop_session(m->r.s);
	if (is_program || m->r.n < 2)
		take_reading(&m->r);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Subtracts two readings. The count of a task that never ran between them is 0, not unknown. */
static void subtract_counts(const pfm_count_t *earlier, const pfm_count_t *later, int is_level,
                            pfm_count_t *out)
{
	pfm_subtract_counts(earlier, later, is_level, out);
	if (out->enabled == 0 && later->enabled > 0) {
		out->quality = later->quality;
		out->cause = later->cause;
	}
}

/* Computes the counts between neighbouring readings. NULL without memory. */
static pfm_count_t *subtract_readings(const struct reading_series *r)
{
	const unsigned rounds = r->n - 1;
	pfm_count_t *out = calloc((size_t)rounds * r->n_counts + 1, sizeof(*out));
	pfm_count_info_t info = PFM_INIT(info);

	for (unsigned k = 0; out && k < rounds; k++)
		for (unsigned i = 0; i < r->n_counts; i++) {
			const pfm_count_t *at = r->counts + (size_t)k * r->n_counts + i;
			pfm_count_t *to = out + (size_t)k * r->n_counts + i;

			to->size = sizeof(*to);
			pfm_describe_count(r->s, i, &info);
			subtract_counts(at, at + r->n_counts, info.is_level, to);
		}
	return out;
}

/* Takes over the value of a metric, or the reason why there is none. */
static void take_value(const struct reading_series *r, const pfm_session_metric_t *m,
                       struct explain_value *v, bool *is_pretended)
{
	pfm_count_info_t info = PFM_INIT(info);

	*is_pretended |= m->quality == PFM_QUALITY_PRETENDED;
	if (m->missing >= 0 && !pfm_describe_count(r->s, (unsigned)m->missing, &info) && *info.why)
		snprintf(v->reason, sizeof(v->reason), "%s", info.why);
	else if (m->state != PFM_METRIC_DEFINED)
		snprintf(v->reason, sizeof(v->reason), "the program did too little to count");
	else if (m->error < 0)
		snprintf(v->reason, sizeof(v->reason), TOO_SHORT);
	v->is_known = !*v->reason;
	v->value = m->value;
	v->low = m->low;
	v->high = m->high;
}

/* Sets a value that is read from tasks. */
static void set_task_mean(const struct reading_series *r, struct explain_value *v,
                          const double *numbers, unsigned n)
{
	if (r->pid)
		set_mean(v, numbers, n);
	else
		snprintf(v->reason, sizeof(v->reason),
		         "it is measured for programs and processes alone");
}

/* The share of the time in which the tasks waited for a CPU: of neighbouring readings, since tasks
 * that ended take their time with them. */
static void compute_queue_share(const struct reading_series *r, struct explain_value *v)
{
	double shares[READINGS_MAX];
	unsigned n = 0;

	for (unsigned i = 1; i < r->n; i++)
		if (r->queued[i] >= r->queued[i - 1] && r->seconds[i] > r->seconds[i - 1])
			shares[n++] = (r->queued[i] - r->queued[i - 1]) /
			              (r->seconds[i] - r->seconds[i - 1]);
	set_task_mean(r, v, shares, n);
}

/* The threads that wait for a lock: of all readings but the first, when nothing has begun. */
static void compute_lock_waiters(const struct reading_series *r, struct explain_value *v)
{
	set_task_mean(r, v, r->locked + 1, r->n - 1);
}

/* Context switches in a second of elapsed time, by the differences @rounds. */
static void compute_switch_rate(const struct reading_series *r, const pfm_count_t *rounds,
                                struct explain_value *v)
{
	double rates[READINGS_MAX];
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i = 0, n = 0;

	while (i < r->n_counts &&
	       (pfm_describe_count(r->s, i, &info) || strcmp(info.name, SWITCH_EVENT) != 0))
		i++;
	for (unsigned k = 0; i < r->n_counts && k + 1 < r->n; k++)
		if (r->seconds[k + 1] > r->seconds[k])
			rates[n++] = (double)rounds[(size_t)k * r->n_counts + i].value /
			             (r->seconds[k + 1] - r->seconds[k]);
	set_mean(v, rates, n);
}

static void compute_own_metric(const struct reading_series *r, const pfm_count_t *rounds,
                               struct explain_value *v)
{
	if (strcmp(v->metric, QUEUE_METRIC) == 0)
		compute_queue_share(r, v);
	else if (strcmp(v->metric, LOCK_METRIC) == 0)
		compute_lock_waiters(r, v);
	else if (strcmp(v->metric, SWITCH_METRIC) == 0)
		compute_switch_rate(r, rounds, v);
	else if (strcmp(v->metric, BANDWIDTH_METRIC) == 0)
		snprintf(v->reason, sizeof(v->reason), BANDWIDTH_IS_MOOT);
}

static bool compute_values(const struct measurement *m, struct explain_evidence *e)
{
	const struct reading_series *r = &m->r;
	pfm_session_metric_t metric = PFM_INIT(metric);
	pfm_count_t *rounds;
	double seconds = r->seconds[r->n - 1];

	e->rounds = r->n - 1;
	e->seconds = seconds;
	rounds = subtract_readings(r);
	if (!rounds)
		return false;
	for (unsigned i = 0; i < pfm_count_metrics(r->s); i++)
		if (!pfm_compute_session_metric(r->s, i, rounds, e->rounds, seconds / e->rounds,
		                                &metric))
			take_value(r, &metric, &e->values[m->index[metric.request]],
			           &e->is_pretended);
	for (size_t i = 0; i < e->n; i++)
		compute_own_metric(r, rounds, &e->values[i]);
	for (unsigned i = 0; i < m->ratios.n; i++)
		compute_ratio(r, rounds, &m->ratios.list[i], &e->values[m->ratios.list[i].value]);
	free(rounds);
	return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

void set_counted_target(pfm_session_options_t *options, const struct explain_target *target,
                        pid_t child)
{
	options->pid = child ? child : target->pid;
	options->flags = options->pid ? PFM_SESSION_INHERIT : PFM_SESSION_SYSTEM_WIDE;
	if (child)
		options->flags |= PFM_SESSION_ENABLE_ON_EXEC;
}

/* Opens the session, and samplers that need no counter of the PMU. */
static bool open_target(const pfm_ctx_t *ctx, const struct explain_target *t, struct measurement *m)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pid_t child = t->command ? m->child.pid : 0;

	set_counted_target(&options, t, child);
	if (pfm_open_session(&m->r.s, ctx, &options, m->texts, m->n_texts, &error)) {
		report_refusal(ctx, NULL, &error, WANTED_ANY);
		return false;
	}
	m->r.pid = options.pid;
	m->r.n_counts = pfm_session_size(m->r.s);
	m->r.counts = calloc((size_t)READINGS_MAX * m->r.n_counts + 1, sizeof(*m->r.counts));
	begin_sampler(&m->work, ctx, t, child, "cpu-clock", SAMPLES_OF_WORK);
	begin_sampler(&m->waits, ctx, t, child, "context-switches", SAMPLES_OF_WAITS);
	return m->r.counts;
}

static int measure_target(pfm_ctx_t *ctx, const struct explain_target *t, struct measurement *m,
                          struct explain_evidence *e, int *status)
{
	if (t->command && child_prepare(t->command, NULL, &m->child))
		return EXIT_REFUSED;
	catch_interrupts();
	if (!open_target(ctx, t, m))
		return EXIT_REFUSED;
	m->r.begin = now_ns();
	pfm_start_session(m->r.s);
	if (t->command && child_start(t->command, &m->child))
		return EXIT_REFUSED;
	take_readings(m, t->command, t->seconds, status);
	return m->r.n > 1 && compute_values(m, e) ? EXIT_DONE : report_no_memory();
}

int measure_evidence(pfm_ctx_t *ctx, const struct explain_target *target,
                     struct explain_evidence *e, int *status)
{
	struct measurement *m = calloc(1, sizeof(*m));
	int result;

	if (!m)
		return report_no_memory();
	program_name = "pfm explain";
	m->r.interval_ms = FIRST_INTERVAL_MS;
	choose_texts(ctx, e, m);
	result = measure_target(ctx, target, m, e, status);
	end_sampler(&m->work, result == EXIT_DONE ? &e->work : NULL);
	end_sampler(&m->waits, result == EXIT_DONE ? &e->waits : NULL);
	base_discard_child(&m->child);
	free(m->r.counts);
	pfm_close_session(m->r.s);
	free(m);
	return result;
}
