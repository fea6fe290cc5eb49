/* SPDX-License-Identifier: MIT */
/* Measures the metrics that rules need: a session that is read at intervals, so that each value has
 * one. */
#include "explain/explain.h"
#include "check_events/check_events.h"
#include "explain/queue.h"
#include "common/pfm.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/spawn.h>

/* The first interval is a twentieth of a second. When READINGS_MAX are kept, every second one is
 * dropped, and the interval doubles. */
enum { READINGS_MAX = 64, FIRST_INTERVAL_MS = 50 };

/* A metric that no event counts: see compute_queue_share(). */
#define QUEUE_METRIC "run_queue"
/* Context switches in a second of elapsed time: see compute_switch_rate(). */
#define SWITCH_METRIC "switch_rate"
#define SWITCH_EVENT  "software::context-switches"

struct reading_series {
	pfm_session_t *s;
	unsigned n_counts, n;
	pfm_count_t *counts; /* READINGS_MAX times n_counts */
	double seconds[READINGS_MAX];
	double queued[READINGS_MAX]; /* seconds in which the tasks could run and had no CPU */
	pid_t pid;
	double begin;
	unsigned interval_ms;
};

static double read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- which metrics can be measured ----------------------------------------------------------- */

/* True if the texts of @metric are accepted here. */
static bool is_metric_accepted(pfm_ctx_t *ctx, struct explain_value *v)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *s;

	options.flags = PFM_SESSION_DRY_RUN;
	if (pfm_open_session(&s, ctx, &options, &v->metric, 1, &error)) {
		pfm_explain_error(ctx, v->metric, &error, v->reason, sizeof(v->reason));
		return false;
	}
	pfm_close_session(s);
	return true;
}

/* True for metrics that are computed here. */
static bool is_own_metric(const char *name)
{
	return strcmp(name, QUEUE_METRIC) == 0 || strcmp(name, SWITCH_METRIC) == 0;
}

/* Lists the event of switches and the accepted metrics in @texts, and in @index the places of
 * metrics in @e. Returns the number of texts. */
static unsigned choose_metrics(pfm_ctx_t *ctx, struct explain_evidence *e, const char **texts,
                               size_t *index)
{
	unsigned n = 0;

	texts[n++] = SWITCH_EVENT;
	for (size_t i = 0; i < e->n; i++)
		if (!is_own_metric(e->values[i].metric) && is_metric_accepted(ctx, &e->values[i])) {
			texts[n] = e->values[i].metric;
			index[n++] = i;
		}
	return n;
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
	r->seconds[r->n] = read_clock() - r->begin;
	r->queued[r->n] = r->pid ? read_queue_time(r->pid) : 0;
	if (pfm_read_session(r->s, counts, r->n_counts) == PFMLIB_SUCCESS)
		r->n++;
}

static void wait_interval(const struct reading_series *r)
{
	struct timespec t = { r->interval_ms / 1000, (long)(r->interval_ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* Reads until the program has ended. */
static void follow_program(struct reading_series *r, pid_t pid, int *status)
{
	while (waitpid(pid, status, WNOHANG) == 0) {
		wait_interval(r);
		take_reading(r);
	}
	pfm_stop_session(r->s);
	take_reading(r);
}

static void follow_time(struct reading_series *r, double seconds)
{
	while (read_clock() - r->begin < seconds) {
		wait_interval(r);
		take_reading(r);
	}
	pfm_stop_session(r->s);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Subtracts two readings. A task that never ran in between has counted nothing, which is a count.
 */
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
		snprintf(v->reason, sizeof(v->reason),
		         "the run was too short for an interval: let the program do more work");
	v->is_known = !*v->reason;
	v->value = m->value;
	v->low = m->low;
	v->high = m->high;
}

/* The share of the time in which the tasks waited for a CPU: of neighbouring readings, since tasks
 * that ended take their time with them. */
static void compute_queue_share(const struct reading_series *r, struct explain_value *v)
{
	double shares[READINGS_MAX], error;
	unsigned n = 0;

	for (unsigned i = 1; i < r->n; i++)
		if (r->queued[i] >= r->queued[i - 1] && r->seconds[i] > r->seconds[i - 1])
			shares[n++] = (r->queued[i] - r->queued[i - 1]) /
			              (r->seconds[i] - r->seconds[i - 1]);
	if (!r->pid || n < 2) {
		snprintf(v->reason, sizeof(v->reason),
		         r->pid ? "the run was too short for an interval"
		                : "it is measured for programs and processes alone");
		return;
	}
	v->value = estimate_mean(shares, n, &error);
	v->low = v->value - error;
	v->high = v->value + error;
	v->is_known = true;
}

/* Context switches in a second of elapsed time, by the differences @rounds. */
static void compute_switch_rate(const struct reading_series *r, const pfm_count_t *rounds,
                                struct explain_value *v)
{
	double rates[READINGS_MAX], error;
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i = 0, n = 0;

	while (i < r->n_counts &&
	       (pfm_describe_count(r->s, i, &info) || strcmp(info.name, SWITCH_EVENT) != 0))
		i++;
	for (unsigned k = 0; i < r->n_counts && k + 1 < r->n; k++)
		if (r->seconds[k + 1] > r->seconds[k])
			rates[n++] = (double)rounds[(size_t)k * r->n_counts + i].value /
			             (r->seconds[k + 1] - r->seconds[k]);
	if (n < 2) {
		snprintf(v->reason, sizeof(v->reason), "the run was too short for an interval");
		return;
	}
	v->value = estimate_mean(rates, n, &error);
	v->low = v->value - error;
	v->high = v->value + error;
	v->is_known = true;
}

static bool compute_values(const struct reading_series *r, const size_t *index,
                           struct explain_evidence *e)
{
	pfm_session_metric_t m = PFM_INIT(m);
	pfm_count_t *rounds;
	double seconds = r->seconds[r->n - 1];

	e->rounds = r->n - 1;
	e->seconds = seconds;
	rounds = subtract_readings(r);
	if (!rounds)
		return false;
	for (unsigned i = 0; i < pfm_count_metrics(r->s); i++)
		if (!pfm_compute_session_metric(r->s, i, rounds, e->rounds, seconds / e->rounds,
		                                &m))
			take_value(r, &m, &e->values[index[m.request]], &e->is_pretended);
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->values[i].metric, QUEUE_METRIC) == 0)
			compute_queue_share(r, &e->values[i]);
		else if (strcmp(e->values[i].metric, SWITCH_METRIC) == 0)
			compute_switch_rate(r, rounds, &e->values[i]);
	free(rounds);
	return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int open_target(pfm_ctx_t *ctx, const struct explain_target *t, const char *const *texts,
                       unsigned n, struct reading_series *r, pid_t *pid)
{
	pfm_session_options_t options = PFM_INIT(options);
	pfm_error_t error = PFM_INIT(error);
	int rc;

	options.flags = t->command || t->pid ? PFM_SESSION_INHERIT : PFM_SESSION_SYSTEM_WIDE;
	options.pid = t->pid;
	r->begin = read_clock();
	if (t->command)
		rc = pfm_spawn_session(&r->s, ctx, &options, texts, n, t->command, pid, &error);
	else
		rc = pfm_open_session(&r->s, ctx, &options, texts, n, &error);
	if (rc && t->command && rc == PFMLIB_ERR_SYS)
		fprintf(stderr, "pfm explain: cannot run '%s': %s\n", t->command[0],
		        strerror(error.sys_errno));
	else if (rc)
		report_refusal(ctx, NULL, &error, WANTED_ANY);
	return rc;
}

static bool follow_target(const struct explain_target *t, struct reading_series *r, pid_t pid,
                          int *status)
{
	r->n_counts = pfm_session_size(r->s);
	r->pid = t->command ? pid : t->pid;
	r->counts = calloc((size_t)READINGS_MAX * r->n_counts + 1, sizeof(*r->counts));
	if (!r->counts)
		return false;
	if (!t->command)
		pfm_start_session(r->s);
	take_reading(r);
	if (t->command)
		follow_program(r, pid, status);
	else
		follow_time(r, t->seconds);
	return true;
}

int measure_evidence(pfm_ctx_t *ctx, const struct explain_target *target,
                     struct explain_evidence *e, int *status)
{
	struct reading_series r = { .interval_ms = FIRST_INTERVAL_MS };
	const char *texts[EXPLAIN_METRICS_MAX + 1];
	size_t index[EXPLAIN_METRICS_MAX + 1];
	unsigned n = choose_metrics(ctx, e, texts, index);
	pid_t pid = 0;
	bool ok;

	signal(SIGINT, SIG_IGN); /* it ends the program, whose counts are explained */
	if (open_target(ctx, target, texts, n, &r, &pid))
		return EXIT_REFUSED;
	ok = follow_target(target, &r, pid, status) && r.n > 1 && compute_values(&r, index, e);
	free(r.counts);
	pfm_close_session(r.s);
	return ok ? EXIT_DONE : report_no_memory();
}
