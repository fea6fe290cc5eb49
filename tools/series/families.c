/* SPDX-License-Identifier: MIT */
/* Series as families of OpenMetrics and Prometheus. */
#include "series/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERFMON_VERSION
#define PERFMON_VERSION "unversioned"
#endif

/* ---- labels ---------------------------------------------------------------------------------- */

static void add_label(struct label_list *l, const char *name, const char *value)
{
	if (l->n < MAX_LABELS)
		l->at[l->n++] = (struct label){ name, value };
}

/* "S0-D0-C1" and its like as labels. */
static void add_places(struct label_list *l, const char *text)
{
	static const char *const names[] = { "socket", "die", "core" };

	for (unsigned i = 0; i < 3 && *text; i++) {
		size_t len = strcspn(text, "-");

		snprintf(l->places[i], PLACE_MAX, "%.*s", (int)len - 1, text + 1);
		if (l->places[i][0] == '?')
			snprintf(l->places[i], PLACE_MAX, "unknown");
		add_label(l, names[i], l->places[i]);
		text += len + (text[len] != '\0');
	}
}

/* Where @row counts. Rows of pfm's own have no place. */
static void add_place_labels(struct label_list *l, const struct stat_options *options,
                             const struct stat_row *row)
{
	const char *place = row->label + row->place;

	for (unsigned i = 0; row->part && i < row->part->n_labels; i++)
		add_label(l, row->part->labels[i].name, row->part->labels[i].value);
	if (row->part && row->part->cgroup && !row->part->labels)
		add_label(l, "cgroup", row->part->label);
	if (options->by == BY_THREAD)
		add_label(l, "thread", row->label);
	if (row->own || !*place)
		return;
	if (options->by == BY_CPU)
		add_label(l, "cpu", place);
	else if (options->by == BY_NODE)
		add_label(l, "node", strcmp(place, "N?") == 0 ? "unknown" : place + 1);
	else if (options->by == BY_CORE || options->by == BY_DIE || options->by == BY_SOCKET)
		add_places(l, place);
}

const struct label *list_count_labels(struct label_list *l, const struct stat_job *job,
                                      const struct stat_row *row)
{
	l->n = 0;
	add_label(l, "event", job->report.series->rows[row - job->result.rows].event);
	add_label(l, "pmu", row->info.pmu);
	add_place_labels(l, &job->options, row);
	l->at[l->n] = (struct label){ NULL, NULL };
	return l->at;
}

const struct label *list_metric_labels(struct label_list *l, const struct stat_job *job,
                                       const struct metric_series *m)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);

	l->n = 0;
	add_label(l, "metric", m->answer.info.name);
	if (pfm_describe_pmu(job->ctx, job->result.metrics.at[m->metric].pmu, &pmu) ==
	    PFMLIB_SUCCESS)
		add_label(l, "pmu", pmu.name);
	add_place_labels(l, &job->options, &job->result.rows[m->row]);
	l->at[l->n] = (struct label){ NULL, NULL };
	return l->at;
}

const struct label *extend_labels(struct label_list *l, const char *name, const char *value)
{
	add_label(l, name, value);
	l->at[l->n] = (struct label){ NULL, NULL };
	return l->at;
}

bool is_series_hidden(const struct stat_job *job, unsigned row)
{
	const struct stat_target *part = job->result.rows[row].part;

	return job->report.series->rows[row].is_repeated || (part && part->is_hidden);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void put_count_sample(struct exposition *x, const struct stat_job *job, unsigned i,
                             const struct series_unit *unit)
{
	const struct stat_row *row = &job->result.rows[i];
	uint64_t total = job->report.series->rows[i].total;
	struct label_list labels;
	double scale = row->tally.count.scale;

	if (row->info.is_level)
		total = row->tally.count.value;
	if (!has_series_value(job->report.series, row))
		return;
	list_count_labels(&labels, job, row);
	x->start = job->report.series->rows[i].start;
	if (*unit->base || (scale != 0 && scale != 1))
		put_real_sample(x, labels.at,
		                (double)total * (scale != 0 ? scale : 1) * unit->factor);
	else
		put_whole_sample(x, labels.at, total);
	x->start = 0;
}

/* The rows from @first on that have the family of that one. */
static void put_count_family(struct exposition *x, const struct stat_job *job, unsigned first)
{
	const struct series_family f = job->report.series->rows[first].family;

	begin_family(x, f.name,
	             job->result.rows[first].info.is_level ? FAMILY_GAUGE : FAMILY_COUNTER,
	             f.unit.base, f.help);
	for (unsigned i = first; i < job->result.n_rows; i++) {
		const struct row_series *r = &job->report.series->rows[i];

		if (!is_series_hidden(job, i) && strcmp(r->family.name, f.name) == 0)
			put_count_sample(x, job, i, &r->family.unit);
	}
}

static void put_count_families(struct exposition *x, const struct stat_job *job)
{
	enum { MAX_FAMILIES = 64 };
	const char *names[MAX_FAMILIES];
	unsigned n = 0, k;

	for (unsigned i = 0; i < job->result.n_rows; i++) {
		const char *name = job->report.series->rows[i].family.name;

		for (k = 0; k < n && names[k] != name; k++)
			;
		if (k < n || n == MAX_FAMILIES)
			continue;
		names[n++] = name;
		put_count_family(x, job, i);
	}
}

static void put_running_shares(struct exposition *x, const struct stat_job *job)
{
	struct label_list labels;

	begin_family(x, "perfmon_event_running_ratio", FAMILY_GAUGE, "ratio",
	             "Share of the last interval in which the event was on a counter.");
	for (unsigned i = 0; i < job->result.n_rows; i++) {
		const pfm_tally_t *t = &job->result.rows[i].tally;

		if (!is_series_hidden(job, i) &&
		    (t->count.enabled > 0 || (t->counted && t->enabled > 0)))
			put_real_sample(x, list_count_labels(&labels, job, &job->result.rows[i]),
			                get_series_share(job, i));
	}
}

/* Events that take turns: each slot is a measurement. */
static void put_slot_errors(struct exposition *x, const struct stat_job *job)
{
	struct label_list labels;

	begin_family(x, "perfmon_event_standard_error_ratio", FAMILY_GAUGE, "ratio",
	             "Standard error of the count of the last interval, as a share of it, from how "
	             "its turns differ.");
	for (unsigned i = 0; i < job->result.n_rows; i++)
		if (!is_series_hidden(job, i) && job->result.rows[i].tally.counted &&
		    is_scaled(&job->result.rows[i].tally.count) &&
		    job->report.series->rows[i].slot_error >= 0)
			put_real_sample(x, list_count_labels(&labels, job, &job->result.rows[i]),
			                job->report.series->rows[i].slot_error / 100);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void put_metric_value(struct exposition *x, const struct stat_job *job,
                             const struct metric_series *m, const struct series_unit *unit)
{
	struct label_list labels;

	if (!has_metric_value(m))
		return;
	list_metric_labels(&labels, job, m);
	if (!*unit->base)
		extend_labels(&labels, "unit", unit->text);
	put_real_sample(x, labels.at, m->answer.value.value * unit->factor);
}

/* The metrics from @first on that have the family of that one. */
static void put_metric_family(struct exposition *x, const struct stat_job *job, unsigned first)
{
	const struct series *s = job->report.series;
	const struct series_family f = get_metric_family(&s->metrics[first].answer.info);

	begin_family(x, f.name, FAMILY_GAUGE, f.unit.base, f.help);
	for (unsigned i = first; i < s->n_metrics; i++) {
		const struct series_family other = get_metric_family(&s->metrics[i].answer.info);

		if (s->metrics[i].is_computed && strcmp(other.name, f.name) == 0)
			put_metric_value(x, job, &s->metrics[i], &other.unit);
	}
}

static void put_metric_families(struct exposition *x, const struct stat_job *job)
{
	const struct series *s = job->report.series;
	unsigned k;

	for (unsigned i = 0; i < s->n_metrics; i++) {
		const char *name;

		if (!s->metrics[i].is_computed)
			continue;
		name = get_metric_family(&s->metrics[i].answer.info).name;
		for (k = 0; k < i; k++)
			if (s->metrics[k].is_computed &&
			    get_metric_family(&s->metrics[k].answer.info).name == name)
				break;
		if (k == i)
			put_metric_family(x, job, i);
	}
}

static void put_metric_errors(struct exposition *x, const struct stat_job *job)
{
	const struct series *s = job->report.series;
	struct label_list labels;

	begin_family(x, "perfmon_metric_standard_error", FAMILY_GAUGE, "",
	             "Standard error of the value of the last interval, in the unit of the value.");
	for (unsigned i = 0; i < s->n_metrics; i++) {
		const struct metric_series *m = &s->metrics[i];

		if (has_metric_value(m) && m->answer.value.error > 0)
			put_real_sample(x, list_metric_labels(&labels, job, m),
			                m->answer.value.error *
			                        get_metric_family(&m->answer.info).unit.factor);
	}
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void put_processors(struct exposition *x, const struct series *s)
{
	begin_family(x, "perfmon_cpu", FAMILY_INFO, "", "Processors of this machine.");
	for (unsigned i = 0; i < s->n_processors; i++)
		put_whole_sample(x,
		                 (struct label[]){ { "pmu", s->processors[i].pmu },
		                                   { "model", s->processors[i].model },
		                                   { 0 } },
		                 1);
}

void put_series(struct exposition *x, const struct stat_job *job)
{
	begin_family(x, "perfmon_build", FAMILY_INFO, "", "The version of pfm.");
	put_whole_sample(x, (struct label[]){ { "version", PERFMON_VERSION }, { 0 } }, 1);
	put_processors(x, job->report.series);
	put_count_families(x, job);
	put_running_shares(x, job);
	if (job->rotation.is_on)
		put_slot_errors(x, job);
	put_count_qualities(x, job);
	put_metric_families(x, job);
	put_metric_errors(x, job);
	put_metric_qualities(x, job);
}

int report_series(struct stat_job *job, double elapsed)
{
	struct exposition x = { .out = job->report.out, .format = job->options.format };

	if (!update_series(job, elapsed))
		return ENOMEM;
	put_series(&x, job);
	end_exposition(&x);
	return x.failed ? ENOMEM : fflush(job->report.out) ? errno : 0;
}
