/* SPDX-License-Identifier: MIT */
/* Series as lines of the protocol of pfm serve --lines. */
#include "series/values.h"

#include <fnmatch.h>
#include <string.h>

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
	const struct stat_row *row = &job->result.rows[i];
	const pfm_count_t *count = &row->tally.count;
	const struct row_series *r = &job->report.series->rows[i];
	struct label_list labels;

	list_count_labels(&labels, job, row);
	fputs("count\t", out);
	put_line_field(out, r->event);
	put_line_field(out, row->info.pmu);
	put_line_place(out, &labels);
	if (!has_series_value(job->report.series, row))
		fputs("-\t", out);
	else
		fprintf(out, "%llu\t",
		        (unsigned long long)(row->info.is_level ? count->value : r->total));
	fprintf(out, "%.17g\t", count->scale != 0 ? count->scale : 1);
	put_line_field(out, row->info.unit);
	put_line_field(out, pfm_quality_name(get_series_quality(job, i)));
	fprintf(out, "%s\n", get_series_cause(job, i));
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
	put_line_field(out, pfm_quality_name(get_metric_quality(job->report.series, m)));
	fprintf(out, "%s\n",
	        has_metric_value(m) ? "" : pfm_metric_state_name(m->answer.value.state));
}

void put_count_lines(FILE *out, const struct stat_job *job, const char *pattern)
{
	const struct series *s = job->report.series;

	for (unsigned i = 0; i < job->result.n_rows; i++)
		if (!is_series_hidden(job, i) && fnmatch(pattern, s->rows[i].event, 0) == 0)
			put_count_line(out, job, i);
	for (unsigned i = 0; i < s->n_metrics; i++)
		if (s->metrics[i].is_computed &&
		    fnmatch(pattern, s->metrics[i].answer.info.name, 0) == 0)
			put_metric_line(out, job, &s->metrics[i]);
}
