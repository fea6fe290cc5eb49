/* SPDX-License-Identifier: MIT */
/* Counts and metrics as series. A counter never decreases: it is the sum of what its intervals
 * counted, each extrapolated for itself, since a count that is extrapolated over all of the time
 * can decrease. What was not counted in the last interval has no sample. */
#include "series.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "metric.h"

#ifndef PERFMON_VERSION
#define PERFMON_VERSION "unversioned"
#endif

enum {
	N_QUALITIES = PFM_QUALITY_NOT_SUPPORTED + 1,
	MAX_LABELS = 10,
	PLACE_MAX = 16,
	/* Samples of a count: value, share of the time, cause, and the states of its quality; of a
	 * metric: value, error, cause, and states. */
	SAMPLES_EACH = 3 + N_QUALITIES
};

struct row_series {
	struct series_family family;
	const char *event; /* as labels name it */
	uint64_t total;
	double slot_error; /* with --rotate: in percent; negative: unknown */
	bool is_repeated;  /* another row has the same event and place: that one has the series */
	bool starts_label; /* the first row of its place */
};

struct metric_series {
	unsigned metric, row; /* of job->metrics; the first row of its place */
	bool is_computed;
	struct metric_answer answer;
};

/* A processor of the machine: the registry of PMUs is large, and each text names them. */
struct named_processor {
	const char *pmu, *model;
};

enum { MAX_PROCESSORS = 8 };

struct series {
	struct named_processor processors[MAX_PROCESSORS];
	unsigned n_processors;
	struct row_series *rows;
	struct metric_series *metrics;
	unsigned n_metrics, n_row_series, n_rows;
};

/* ---- which rows have series ------------------------------------------------------------------ */

static int compare_labels(const struct stat_row *a, const struct stat_row *b)
{
	int order = strcmp(a->label, b->label);

	return order ? order : !a->own - !b->own;
}

static int compare_events(const struct stat_row *a, const struct stat_row *b)
{
	int order = compare_labels(a, b);

	if (!order)
		order = strcmp(a->info.pmu, b->info.pmu);
	return order ? order : strcmp(find_series_event(&a->info), find_series_event(&b->info));
}

struct sorted_row {
	const struct stat_row *at;
};

/* Rows are of one array: of equal ones the first comes first. */
static int compare_rows(const void *a, const void *b)
{
	const struct stat_row *x = ((const struct sorted_row *)a)->at,
			      *y = ((const struct sorted_row *)b)->at;
	int order = compare_events(x, y);

	return order ? order : (x > y) - (x < y);
}

/* Of rows with one label, which are neighbours among the @n sorted ones, marks the first. */
static void mark_first_rows(const struct stat_job *job, const struct sorted_row *sorted)
{
	const struct stat_row *first = NULL;

	for (unsigned i = 0; i < job->n_rows; i++) {
		if (!first || sorted[i].at < first || compare_labels(sorted[i].at, first) != 0)
			first = sorted[i].at;
		if (i + 1 == job->n_rows || compare_labels(sorted[i + 1].at, first) != 0)
			job->series->rows[first - job->rows].starts_label = !first->own;
	}
}

static bool find_row_series(struct stat_job *job)
{
	struct sorted_row *sorted = calloc(job->n_rows + 1, sizeof(*sorted));

	if (!sorted)
		return false;
	for (unsigned i = 0; i < job->n_rows; i++) {
		sorted[i].at = &job->rows[i];
		job->series->rows[i].family = find_count_family(&job->rows[i].info);
		job->series->rows[i].event = find_series_event(&job->rows[i].info);
	}
	qsort(sorted, job->n_rows, sizeof(*sorted), compare_rows);
	for (unsigned i = 0; i < job->n_rows; i++) {
		bool is_repeated = i && compare_events(sorted[i - 1].at, sorted[i].at) == 0;

		job->series->rows[sorted[i].at - job->rows].is_repeated = is_repeated;
		job->series->n_row_series += !is_repeated;
	}
	mark_first_rows(job, sorted);
	free(sorted);
	return true;
}

/* Each metric has a series for each place. */
static bool find_metric_series(struct stat_job *job)
{
	struct series *s = job->series;
	unsigned n = 0;

	for (unsigned i = 0; i < job->n_rows; i++)
		n += s->rows[i].starts_label;
	s->metrics = calloc((size_t)n * job->metrics.n + 1, sizeof(*s->metrics));
	for (unsigned m = 0; s->metrics && m < job->metrics.n; m++)
		for (unsigned i = 0; i < job->n_rows; i++)
			if (s->rows[i].starts_label)
				s->metrics[s->n_metrics++] =
					(struct metric_series){ .metric = m, .row = i };
	return s->metrics;
}

static void find_processors(struct series *s, const pfm_ctx_t *ctx)
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);
	int n = pfm_count_pmus(ctx);

	for (int i = 0; i < n && s->n_processors < MAX_PROCESSORS; i++) {
		if (pfm_describe_pmu(ctx, i, &pmu) || !(pmu.flags & PFM_PMU_HOST) ||
		    !(pmu.flags & PFM_PMU_CORE) || (pmu.flags & (PFM_PMU_HIDDEN | PFM_PMU_KERNEL)))
			continue;
		s->processors[s->n_processors++] = (struct named_processor){ pmu.name, pmu.desc };
	}
}

static bool prepare_series(struct stat_job *job)
{
	if (job->series)
		return true;
	job->series = calloc(1, sizeof(*job->series));
	if (!job->series)
		return false;
	find_processors(job->series, job->ctx);
	job->series->rows = calloc(job->n_rows + 1, sizeof(*job->series->rows));
	job->series->n_rows = job->n_rows;
	return job->series->rows && find_row_series(job) && find_metric_series(job);
}

void free_series(struct stat_job *job)
{
	if (job->series) {
		free(job->series->rows);
		free(job->series->metrics);
	}
	free(job->series);
	job->series = NULL;
}

void move_series(struct stat_job *job, const unsigned *moved)
{
	struct series *s = job->series;

	for (unsigned i = 0; s && i < s->n_rows; i++)
		if (moved[i] != UINT_MAX)
			s->rows[moved[i]] = s->rows[i];
	if (s)
		s->n_rows = job->n_rows;
}

bool extend_series(struct stat_job *job)
{
	struct series *s = job->series;
	struct row_series *more;

	if (!s)
		return prepare_series(job);
	more = realloc(s->rows, (job->n_rows + 1) * sizeof(*more));
	if (!more)
		return false;
	s->rows = more;
	for (unsigned i = s->n_rows; i < job->n_rows; i++)
		s->rows[i] = (struct row_series){ 0 };
	for (unsigned i = 0; i < job->n_rows; i++)
		s->rows[i].starts_label = false;
	s->n_rows = job->n_rows;
	free(s->metrics);
	s->metrics = NULL;
	s->n_metrics = s->n_row_series = 0;
	return find_row_series(job) && find_metric_series(job);
}

size_t count_most_series(struct stat_job *job)
{
	if (!prepare_series(job))
		return 0;
	return ((size_t)job->series->n_row_series + job->series->n_metrics) * SAMPLES_EACH +
	       (job->rotation.is_on ? job->series->n_row_series : 0);
}

bool update_series(struct stat_job *job, double elapsed)
{
	if (!prepare_series(job))
		return false;
	for (unsigned i = 0; i < job->n_rows; i++) {
		if (job->rows[i].tally.counted)
			job->series->rows[i].total += job->rows[i].tally.count.value;
		if (job->rotation.is_on)
			job->series->rows[i].slot_error = find_slot_error(job, &job->rows[i]);
	}
	for (unsigned i = 0; i < job->series->n_metrics; i++) {
		struct metric_series *m = &job->series->metrics[i];

		m->is_computed = compute_stat_metric(job, &job->metrics.at[m->metric],
		                                     job->rows[m->row].label, elapsed, &m->answer);
	}
	return true;
}

/* ---- labels ---------------------------------------------------------------------------------- */

struct label_list {
	struct label at[MAX_LABELS + 1];
	unsigned n;
	char places[3][PLACE_MAX]; /* socket, die, core */
};

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
static void add_place_labels(struct label_list *l, const struct stat_job *job,
                             const struct stat_row *row)
{
	const char *place = row->label + row->place;

	if (row->part && row->part->cgroup)
		add_label(l, "cgroup", row->part->label);
	if (job->by == BY_THREAD)
		add_label(l, "thread", row->label);
	if (row->own || !*place)
		return;
	if (job->by == BY_CPU)
		add_label(l, "cpu", place);
	else if (job->by == BY_NODE)
		add_label(l, "node", strcmp(place, "N?") == 0 ? "unknown" : place + 1);
	else if (job->by == BY_CORE || job->by == BY_DIE || job->by == BY_SOCKET)
		add_places(l, place);
}

/* The list is valid as long as @l is. */
static const struct label *list_count_labels(struct label_list *l, const struct stat_job *job,
                                             const struct stat_row *row)
{
	l->n = 0;
	add_label(l, "event", job->series->rows[row - job->rows].event);
	add_label(l, "pmu", row->info.pmu);
	add_place_labels(l, job, row);
	l->at[l->n] = (struct label){ NULL, NULL };
	return l->at;
}

static const struct label *list_metric_labels(struct label_list *l, const struct stat_job *job,
                                              const struct metric_series *m)
{
	pfm_pmu_info_t pmu = PFM_INIT(pmu);

	l->n = 0;
	add_label(l, "metric", m->answer.info.name);
	if (pfm_describe_pmu(job->ctx, job->metrics.at[m->metric].pmu, &pmu) == PFMLIB_SUCCESS)
		add_label(l, "pmu", pmu.name);
	add_place_labels(l, job, &job->rows[m->row]);
	l->at[l->n] = (struct label){ NULL, NULL };
	return l->at;
}

/* Appends to the list. */
static const struct label *extend_labels(struct label_list *l, const char *name, const char *value)
{
	add_label(l, name, value);
	l->at[l->n] = (struct label){ NULL, NULL };
	return l->at;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* A control group that had nothing to do has counted all there was. */
static bool has_series_value(const struct stat_row *row)
{
	return row->tally.counted ||
	       (row->part && row->part->cgroup && row->tally.count.cause == PFM_CAUSE_NO_TIME);
}

static void put_count_sample(struct exposition *x, const struct stat_job *job, unsigned i,
                             const struct series_unit *unit)
{
	const struct stat_row *row = &job->rows[i];
	uint64_t total = job->series->rows[i].total;
	struct label_list labels;
	double scale = row->tally.count.scale;

	if (row->info.is_level)
		total = row->tally.count.value;
	if (!has_series_value(row))
		return;
	list_count_labels(&labels, job, row);
	if (*unit->base || (scale != 0 && scale != 1))
		put_real_sample(x, labels.at,
		                (double)total * (scale != 0 ? scale : 1) * unit->factor);
	else
		put_whole_sample(x, labels.at, total);
}

/* The rows from @first on that have the family of that one. */
static void put_count_family(struct exposition *x, const struct stat_job *job, unsigned first)
{
	const struct series_family f = job->series->rows[first].family;

	begin_family(x, f.name, job->rows[first].info.is_level ? FAMILY_GAUGE : FAMILY_COUNTER,
	             f.unit.base, f.help);
	for (unsigned i = first; i < job->n_rows; i++) {
		const struct row_series *r = &job->series->rows[i];

		if (!r->is_repeated && strcmp(r->family.name, f.name) == 0)
			put_count_sample(x, job, i, &r->family.unit);
	}
}

static void put_count_families(struct exposition *x, const struct stat_job *job)
{
	enum { MAX_FAMILIES = 64 };
	const char *names[MAX_FAMILIES];
	unsigned n = 0, k;

	for (unsigned i = 0; i < job->n_rows; i++) {
		const char *name = job->series->rows[i].family.name;

		for (k = 0; k < n && names[k] != name; k++)
			;
		if (k < n || n == MAX_FAMILIES)
			continue;
		names[n++] = name;
		put_count_family(x, job, i);
	}
}

static void put_quality(struct exposition *x, const struct label *labels, pfm_quality_t quality)
{
	const char *names[N_QUALITIES];

	for (unsigned q = 0; q < N_QUALITIES; q++)
		names[q] = pfm_quality_name((pfm_quality_t)q);
	put_state_samples(x, labels, names, N_QUALITIES, (unsigned)quality);
}

static void put_count_qualities(struct exposition *x, const struct stat_job *job)
{
	struct label_list labels;

	begin_family(x, "perfmon_event_quality", FAMILY_STATESET, "",
	             "How far the count of the last interval can be trusted.");
	for (unsigned i = 0; i < job->n_rows; i++)
		if (!job->series->rows[i].is_repeated)
			put_quality(x, list_count_labels(&labels, job, &job->rows[i]),
			            job->rows[i].tally.count.quality);
}

static void put_running_shares(struct exposition *x, const struct stat_job *job)
{
	struct label_list labels;

	begin_family(x, "perfmon_event_running_ratio", FAMILY_GAUGE, "ratio",
	             "Share of the last interval in which the event was on a counter.");
	for (unsigned i = 0; i < job->n_rows; i++) {
		const pfm_tally_t *t = &job->rows[i].tally;
		double share = t->counted && t->enabled > 0 ? t->running / t->enabled : 0;

		if (!job->series->rows[i].is_repeated &&
		    (t->count.enabled > 0 || (t->counted && t->enabled > 0)))
			put_real_sample(x, list_count_labels(&labels, job, &job->rows[i]),
			                share < 1 ? share : 1);
	}
}

static void put_count_causes(struct exposition *x, const struct stat_job *job)
{
	struct label_list labels;

	begin_family(x, "perfmon_event_cause", FAMILY_INFO, "",
	             "Why the count of the last interval is not exact.");
	for (unsigned i = 0; i < job->n_rows; i++) {
		const pfm_count_t *count = &job->rows[i].tally.count;

		if (job->series->rows[i].is_repeated || count->quality == PFM_QUALITY_EXACT)
			continue;
		list_count_labels(&labels, job, &job->rows[i]);
		put_whole_sample(x, extend_labels(&labels, "cause", pfm_cause_name(count->cause)),
		                 1);
	}
}

/* Events that take turns: each slot is a measurement. */
static void put_slot_errors(struct exposition *x, const struct stat_job *job)
{
	struct label_list labels;

	begin_family(x, "perfmon_event_standard_error_ratio", FAMILY_GAUGE, "ratio",
	             "Standard error of the count of the last interval, as a share of it, from how "
	             "its turns differ.");
	for (unsigned i = 0; i < job->n_rows; i++)
		if (!job->series->rows[i].is_repeated && job->rows[i].tally.counted &&
		    job->rows[i].tally.count.quality == PFM_QUALITY_SCALED &&
		    job->series->rows[i].slot_error >= 0)
			put_real_sample(x, list_count_labels(&labels, job, &job->rows[i]),
			                job->series->rows[i].slot_error / 100);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static bool has_metric_value(const struct metric_series *m)
{
	return m->is_computed && m->answer.value.state == PFM_METRIC_DEFINED;
}

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
	const struct series *s = job->series;
	const struct series_family f = find_metric_family(&s->metrics[first].answer.info);

	begin_family(x, f.name, FAMILY_GAUGE, f.unit.base, f.help);
	for (unsigned i = first; i < s->n_metrics; i++) {
		const struct series_family other = find_metric_family(&s->metrics[i].answer.info);

		if (s->metrics[i].is_computed && strcmp(other.name, f.name) == 0)
			put_metric_value(x, job, &s->metrics[i], &other.unit);
	}
}

static void put_metric_families(struct exposition *x, const struct stat_job *job)
{
	const struct series *s = job->series;
	unsigned k;

	for (unsigned i = 0; i < s->n_metrics; i++) {
		const char *name;

		if (!s->metrics[i].is_computed)
			continue;
		name = find_metric_family(&s->metrics[i].answer.info).name;
		for (k = 0; k < i; k++)
			if (s->metrics[k].is_computed &&
			    find_metric_family(&s->metrics[k].answer.info).name == name)
				break;
		if (k == i)
			put_metric_family(x, job, i);
	}
}

static void put_metric_qualities(struct exposition *x, const struct stat_job *job)
{
	const struct series *s = job->series;
	struct label_list labels;

	begin_family(x, "perfmon_metric_quality", FAMILY_STATESET, "",
	             "How far the value of the last interval can be trusted.");
	for (unsigned i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].is_computed)
			put_quality(x, list_metric_labels(&labels, job, &s->metrics[i]),
			            has_metric_value(&s->metrics[i]) ? s->metrics[i].answer.quality
			                                             : PFM_QUALITY_NOT_COUNTED);
}

static void put_metric_errors(struct exposition *x, const struct stat_job *job)
{
	const struct series *s = job->series;
	struct label_list labels;

	begin_family(x, "perfmon_metric_standard_error", FAMILY_GAUGE, "",
	             "Standard error of the value of the last interval, in the unit of the value.");
	for (unsigned i = 0; i < s->n_metrics; i++) {
		const struct metric_series *m = &s->metrics[i];

		if (has_metric_value(m) && m->answer.value.error > 0)
			put_real_sample(x, list_metric_labels(&labels, job, m),
			                m->answer.value.error *
			                        find_metric_family(&m->answer.info).unit.factor);
	}
}

static void put_metric_causes(struct exposition *x, const struct stat_job *job)
{
	const struct series *s = job->series;
	struct label_list labels;

	begin_family(x, "perfmon_metric_cause", FAMILY_INFO, "",
	             "Why the metric has no value in the last interval.");
	for (unsigned i = 0; i < s->n_metrics; i++) {
		const struct metric_series *m = &s->metrics[i];

		if (!m->is_computed || has_metric_value(m))
			continue;
		list_metric_labels(&labels, job, m);
		extend_labels(&labels, "cause", pfm_metric_state_name(m->answer.value.state));
		put_whole_sample(x, labels.at, 1);
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
	put_processors(x, job->series);
	put_count_families(x, job);
	put_count_qualities(x, job);
	put_running_shares(x, job);
	put_count_causes(x, job);
	if (job->rotation.is_on)
		put_slot_errors(x, job);
	if (!job->series->n_metrics)
		return;
	put_metric_families(x, job);
	put_metric_qualities(x, job);
	put_metric_errors(x, job);
	put_metric_causes(x, job);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A field, without the characters that end one. */
static void put_line_field(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '\t': fputs("\\t", out); break;
		case '\n': fputs("\\n", out); break;
		case '\\': fputs("\\\\", out); break;
		default: putc(*text, out);
		}
	putc('\t', out);
}

/* "cpu=3", "socket=0,die=1"; "-" for a sum over all. Labels 0 and 1 are the event and its PMU. */
static void put_line_place(FILE *out, const struct label_list *l)
{
	char place[LABEL_MAX * 4] = "-";
	size_t at = 0;

	for (unsigned i = 0; i < l->n && at < sizeof(place); i++)
		if (strcmp(l->at[i].name, "event") != 0 && strcmp(l->at[i].name, "metric") != 0 &&
		    strcmp(l->at[i].name, "pmu") != 0)
			at += (size_t)snprintf(place + at, sizeof(place) - at, "%s%s=%s",
			                       at ? "," : "", l->at[i].name, l->at[i].value);
	put_line_field(out, place);
}

static void put_count_line(FILE *out, const struct stat_job *job, unsigned i)
{
	const struct stat_row *row = &job->rows[i];
	const pfm_count_t *count = &row->tally.count;
	const struct row_series *r = &job->series->rows[i];
	struct label_list labels;

	list_count_labels(&labels, job, row);
	fputs("count\t", out);
	put_line_field(out, r->event);
	put_line_field(out, row->info.pmu);
	put_line_place(out, &labels);
	if (!has_series_value(row))
		fputs("-\t", out);
	else
		fprintf(out, "%llu\t",
		        (unsigned long long)(row->info.is_level ? count->value : r->total));
	fprintf(out, "%.17g\t", count->scale != 0 ? count->scale : 1);
	put_line_field(out, row->info.unit);
	put_line_field(out, pfm_quality_name(count->quality));
	fprintf(out, "%s\n",
	        count->quality == PFM_QUALITY_EXACT ? "" : pfm_cause_name(count->cause));
}

static void put_metric_line(FILE *out, const struct stat_job *job, const struct metric_series *m)
{
	struct label_list labels;

	list_metric_labels(&labels, job, m);
	fputs("metric\t", out);
	put_line_field(out, m->answer.info.name);
	put_line_field(out, labels.n > 1 ? labels.at[1].value : "");
	put_line_place(out, &labels);
	if (has_metric_value(m))
		fprintf(out, "%.17g\t%.17g\t", m->answer.value.value,
		        m->answer.value.error > 0 ? m->answer.value.error : 0);
	else
		fputs("-\t-\t", out);
	put_line_field(out, m->answer.info.unit);
	put_line_field(out, pfm_quality_name(has_metric_value(m) ? m->answer.quality
	                                                         : PFM_QUALITY_NOT_COUNTED));
	fprintf(out, "%s\n",
	        has_metric_value(m) ? "" : pfm_metric_state_name(m->answer.value.state));
}

void put_count_lines(FILE *out, const struct stat_job *job, const char *pattern)
{
	const struct series *s = job->series;

	for (unsigned i = 0; i < job->n_rows; i++)
		if (!s->rows[i].is_repeated && fnmatch(pattern, s->rows[i].event, 0) == 0)
			put_count_line(out, job, i);
	for (unsigned i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].is_computed &&
		    fnmatch(pattern, s->metrics[i].answer.info.name, 0) == 0)
			put_metric_line(out, job, &s->metrics[i]);
}

int report_series(struct stat_job *job, double elapsed)
{
	struct exposition x = { .out = job->out, .format = job->format };

	if (!update_series(job, elapsed))
		return ENOMEM;
	put_series(&x, job);
	end_exposition(&x);
	return x.failed ? ENOMEM : fflush(job->out) ? errno : 0;
}
