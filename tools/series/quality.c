/* SPDX-License-Identifier: MIT */
/* How far counts and metrics of the last interval can be trusted, and why not. Events and metrics
 * that this machine does not have are among them. */
#include "series/values.h"

/* ---- counts ---------------------------------------------------------------------------------- */

/* True for a control group of which no task ran: it has counted all there was. */
static bool is_idle_group(const struct stat_row *row)
{
	return row->part && row->part->cgroup && row->tally.count.cause == PFM_CAUSE_NO_TIME;
}

/* Why the count is not that of the whole interval; "" if it is. Levels are of the last moment. */
static const char *get_interval_cause(const struct series *s, const struct stat_row *row)
{
	if (row->own || row->info.is_level ||
	    (!row->tally.counted && row->tally.count.cause != PFM_CAUSE_NO_TIME))
		return "";
	return s->paused_share > 0 ? "paused" : s->is_late ? "slow reading" : "";
}

bool has_series_value(const struct series *s, const struct stat_row *row)
{
	return row->tally.counted || (is_idle_group(row) && s->paused_share < 1);
}

static pfm_quality_t get_last_quality(const struct series *s, const struct stat_row *row)
{
	const pfm_quality_t quality =
		is_idle_group(row) ? PFM_QUALITY_EXACT : row->tally.count.quality;

	if (!*get_interval_cause(s, row))
		return quality;
	if (!has_series_value(s, row))
		return PFM_QUALITY_NOT_COUNTED;
	return quality < PFM_QUALITY_PARTIAL ? PFM_QUALITY_PARTIAL : quality;
}

static const char *get_last_cause(const struct series *s, const struct stat_row *row)
{
	const char *cause = get_interval_cause(s, row);

	if (*cause)
		return cause;
	return get_last_quality(s, row) == PFM_QUALITY_EXACT || !row->tally.count.cause
	               ? ""
	               : pfm_cause_name(row->tally.count.cause);
}

static double get_last_share(const struct series *s, const struct stat_row *row)
{
	const pfm_tally_t *t = &row->tally;
	const double share = t->counted && t->enabled > 0 ? t->running / t->enabled : 0;

	return (share < 1 ? share : 1) * (1 - s->paused_share);
}

/* The earlier reading whose mark counts; NULL if the last one says everything. */
static const struct worse_reading *get_worse_reading(const struct stat_job *job, unsigned row)
{
	const struct series *s = job->report.series;
	const struct worse_reading *w = &s->rows[row].worse;

	return w->time > job->timing.known_since && w->time != job->timing.reading &&
	                       has_series_value(s, &job->result.rows[row]) &&
	                       w->quality > get_last_quality(s, &job->result.rows[row])
	               ? w
	               : NULL;
}

pfm_quality_t get_series_quality(const struct stat_job *job, unsigned row)
{
	const struct worse_reading *w = get_worse_reading(job, row);

	if (!w)
		return get_last_quality(job->report.series, &job->result.rows[row]);
	/* There is a value, of a part of the time. */
	return w->quality == PFM_QUALITY_NOT_COUNTED || w->quality == PFM_QUALITY_NOT_SUPPORTED
	               ? PFM_QUALITY_PARTIAL
	               : w->quality;
}

const char *get_series_cause(const struct stat_job *job, unsigned row)
{
	const struct worse_reading *w = get_worse_reading(job, row);

	return w ? w->cause : get_last_cause(job->report.series, &job->result.rows[row]);
}

double get_series_share(const struct stat_job *job, unsigned row)
{
	const struct worse_reading *w = get_worse_reading(job, row);
	const double share = get_last_share(job->report.series, &job->result.rows[row]);

	return w && w->share < share ? w->share : share;
}

void note_worse_reading(struct stat_job *job, unsigned row)
{
	const struct series *s = job->report.series;
	struct worse_reading *w = &job->report.series->rows[row].worse;
	const struct worse_reading last = { get_last_quality(s, &job->result.rows[row]),
		                            get_last_cause(s, &job->result.rows[row]),
		                            get_last_share(s, &job->result.rows[row]),
		                            job->timing.reading };

	if (last.quality != PFM_QUALITY_EXACT &&
	    (w->time <= job->timing.known_since || last.quality >= w->quality))
		*w = last;
}

/* ---- metrics --------------------------------------------------------------------------------- */

bool has_metric_value(const struct metric_series *m)
{
	return m->is_computed && m->answer.value.state == PFM_METRIC_DEFINED;
}

pfm_quality_t get_metric_quality(const struct series *s, const struct metric_series *m)
{
	const pfm_quality_t quality =
		has_metric_value(m) ? m->answer.value.quality : PFM_QUALITY_NOT_COUNTED;

	return (s->paused_share > 0 || s->is_late) && quality < PFM_QUALITY_PARTIAL
	               ? PFM_QUALITY_PARTIAL
	               : quality;
}

/* ---- families -------------------------------------------------------------------------------- */

/* Everything that has a quality: rows, metrics and refused names, one after the other. */
struct quality_item {
	struct label_list labels;
	pfm_quality_t quality;
	const char *cause;
};

static bool get_count_item(const struct stat_job *job, unsigned i, struct quality_item *out)
{
	if (is_series_hidden(job, i))
		return false;
	list_count_labels(&out->labels, job, &job->result.rows[i]);
	out->quality = get_series_quality(job, i);
	out->cause = get_series_cause(job, i);
	return true;
}

/* A metric without a value has a cause. */
static bool get_metric_item(const struct stat_job *job, unsigned i, struct quality_item *out)
{
	const struct series *s = job->report.series;
	const struct metric_series *m = &s->metrics[i];

	if (!m->is_computed)
		return false;
	list_metric_labels(&out->labels, job, m);
	out->quality = get_metric_quality(s, m);
	out->cause = has_metric_value(m) ? "" : pfm_metric_state_name(m->answer.value.state);
	return true;
}

static bool get_refused_item(const struct stat_job *job, unsigned i, bool is_metric,
                             struct quality_item *out)
{
	const struct refused_name *r = &job->request.refused[i];

	if (r->is_metric != is_metric)
		return false;
	out->labels.n = 0;
	extend_labels(&out->labels, is_metric ? "metric" : "event", r->text);
	out->quality = PFM_QUALITY_NOT_SUPPORTED;
	out->cause = r->cause;
	return true;
}

/* Item @i; false if it has no series of its own. */
static bool get_item(const struct stat_job *job, unsigned i, bool is_metric,
                     struct quality_item *out)
{
	const unsigned n = is_metric ? job->report.series->n_metrics : job->result.n_rows;

	if (i >= n)
		return get_refused_item(job, i - n, is_metric, out);
	return is_metric ? get_metric_item(job, i, out) : get_count_item(job, i, out);
}

static unsigned count_items(const struct stat_job *job, bool is_metric)
{
	return (is_metric ? job->report.series->n_metrics : job->result.n_rows) +
	       job->request.n_refused;
}

static void put_ranks(struct exposition *x, const struct stat_job *job, bool is_metric)
{
	struct quality_item item;

	begin_family(x, is_metric ? "perfmon_metric_quality_rank" : "perfmon_event_quality_rank",
	             FAMILY_GAUGE, "",
	             "How far the value of the last interval can be trusted: 0 exact, 1 scaled, 2 "
	             "partial, 3 not counted, 4 not supported, 5 pretended, 6 simulated.");
	for (unsigned i = 0; i < count_items(job, is_metric); i++)
		if (get_item(job, i, is_metric, &item))
			put_whole_sample(x, item.labels.at, item.quality);
}

static void put_states(struct exposition *x, const struct stat_job *job, bool is_metric)
{
	const char *names[N_QUALITIES];
	struct quality_item item;

	for (unsigned q = 0; q < N_QUALITIES; q++)
		names[q] = pfm_quality_name((pfm_quality_t)q);
	begin_family(x, is_metric ? "perfmon_metric_quality" : "perfmon_event_quality",
	             FAMILY_STATESET, "", "How far the value of the last interval can be trusted.");
	for (unsigned i = 0; i < count_items(job, is_metric); i++)
		if (get_item(job, i, is_metric, &item))
			put_state_samples(x, item.labels.at, names, N_QUALITIES,
			                  (unsigned)item.quality);
}

static void put_causes(struct exposition *x, const struct stat_job *job, bool is_metric)
{
	struct quality_item item;

	begin_family(x, is_metric ? "perfmon_metric_cause" : "perfmon_event_cause", FAMILY_INFO, "",
	             is_metric ? "Why the metric has no value in the last interval."
	                       : "Why the count of the last interval is not exact.");
	for (unsigned i = 0; i < count_items(job, is_metric); i++) {
		if (!get_item(job, i, is_metric, &item) || !*item.cause)
			continue;
		extend_labels(&item.labels, "cause", item.cause);
		put_whole_sample(x, item.labels.at, 1);
	}
}

static void put_qualities(struct exposition *x, const struct stat_job *job, bool is_metric)
{
	put_ranks(x, job, is_metric);
	if (job->options.has_full_quality)
		put_states(x, job, is_metric);
	put_causes(x, job, is_metric);
}

void put_count_qualities(struct exposition *x, const struct stat_job *job)
{
	put_qualities(x, job, false);
}

void put_metric_qualities(struct exposition *x, const struct stat_job *job)
{
	if (count_items(job, true))
		put_qualities(x, job, true);
}
