/* SPDX-License-Identifier: MIT */
/* Metrics of each place of a profile: what every event counted there, and the error that shows when
 * the samples are divided into batches. */
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/columns.h"
#include "common/event_list.h"
#include "common/metric.h"
#include "report/view.h"
#include "stat/stat.h"

enum {
	SAMPLES_MIN = 16,  /* with fewer a value says more about chance than about the function */
	CELL_WIDTH = 24,   /* of a metric in a table */
	NARROW_WIDTH = 20, /* in a narrow terminal */
	NAMES_MIN = 26,    /* columns for the names of functions and their blanks */
	TITLE_MAX = 512,
	NO_EVENT = -1
};

/* Where input @i of a metric comes from: an event of the recording, or a constant. */
struct column_input {
	int event; /* NO_EVENT: it is a constant, or was not recorded */
	bool is_constant, is_known;
	double constant;
};

struct metric_column {
	int pmu;
	unsigned event;
	pfm_metric_info_t info;
	struct column_input *inputs;
};

/* ---- events of inputs ------------------------------------------------------------------------ */

/* The PMU, type and configuration of an event, where those say all of it. */
static bool is_same_attr(const perfmon_attr_t *recorded, const perfmon_attr_t *wanted)
{
	uint64_t mask = wanted->type == PERF_TYPE_HARDWARE ? UINT32_MAX : UINT64_MAX;

	return wanted->type_known && wanted->expressible && !wanted->config1 && !wanted->config2 &&
	       recorded->type == wanted->type &&
	       (recorded->config & mask) == (wanted->config & mask);
}

/* True if @name is @text, or @text followed by modifiers or terms of sampling. */
static bool is_event_text(const char *name, const char *text)
{
	size_t len = strlen(text);

	return len && strncmp(name, text, len) == 0 &&
	       (!name[len] || (name[len] == ':' && name[len + 1] != ':'));
}

static bool is_input_event(const struct report_job *job, unsigned event,
                           const pfm_metric_input_t *in, const perfmon_attr_t *attr)
{
	pfm_count_info_t info = PFM_INIT(info);

	if (pfm_describe_count(job->profile.session, event, &info))
		return false;
	return is_event_text(info.name, in->text) || is_event_text(info.name, in->alias) ||
	       (attr && is_same_attr(&info.attr, attr));
}

/* The event that counts @in, of the group of @leader if that has it (NO_EVENT: of any group);
 * NO_EVENT if it was not recorded. *@is_beside: it is of that group. */
static int find_input_event(const struct report_job *job, const pfm_metric_input_t *in, int leader,
                            bool *is_beside)
{
	const struct event_counts *c = &job->profile.counts;
	pfm_encoding_t enc = PFM_INIT(enc);
	bool is_encoded = pfm_encode_event(job->ctx, in->text, 0, &enc, NULL) == PFMLIB_SUCCESS;
	int found = NO_EVENT;

	*is_beside = false;
	for (unsigned i = 0; i < c->n_events && !*is_beside; i++) {
		bool is_near = (int)c->leader[i] == leader;

		if ((found != NO_EVENT && !is_near) ||
		    !is_input_event(job, i, in, is_encoded ? &enc.attr : NULL))
			continue;
		found = (int)i;
		*is_beside = is_near;
	}
	return found;
}

/* How many inputs of a metric the group of @leader has. */
static unsigned count_inputs_beside(const struct report_job *job, const struct metric_column *m,
                                    int leader)
{
	pfm_metric_input_t in = PFM_INIT(in);
	unsigned n = 0;
	bool is_beside;

	for (unsigned i = 0; i < m->info.n_value_inputs &&
	                     !pfm_describe_metric_input(job->ctx, m->pmu, m->event, i, &in);
	     i++) {
		if (!in.is_constant)
			find_input_event(job, &in, leader, &is_beside);
		n += !in.is_constant && is_beside;
	}
	return n;
}

/* The leader whose group has the most inputs of the metric. */
static int choose_leader(const struct report_job *job, const struct metric_column *m)
{
	const struct event_counts *c = &job->profile.counts;
	unsigned most = 0;
	int best = NO_EVENT;

	for (unsigned i = 0; i < c->n_events; i++) {
		unsigned n = c->leader[i] == i ? count_inputs_beside(job, m, (int)i) : 0;

		if (n > most)
			best = (int)i;
		most = n > most ? n : most;
	}
	return best;
}

/* From the first record, the start of a command, to the last sample: the counts of the first sample
 * begin there. Of a slice of time, its part. */
static double compute_recorded_seconds(const struct report_job *job)
{
	return (double)time_span_between(job->profile.recorded.first, job->profile.sampled.last) /
	       1e9 / job->profile.n_slices;
}

/* Finds the inputs of a metric. Returns the name of one that its value needs and the recording does
 * not have, in @missing, as false; true if all are there and one of them is an event. */
static bool set_inputs(const struct report_job *job, struct metric_column *m,
                       pfm_metric_input_t *missing)
{
	pfm_metric_input_t in = PFM_INIT(in);
	int leader = choose_leader(job, m);
	bool has_event = false, is_beside;

	for (unsigned i = 0;
	     i < m->info.n_inputs && !pfm_describe_metric_input(job->ctx, m->pmu, m->event, i, &in);
	     i++) {
		struct column_input *to = &m->inputs[i];

		*to = (struct column_input){ .event = NO_EVENT,
			                     .is_constant = in.is_constant != 0 };
		if (!in.is_constant) {
			to->event = find_input_event(job, &in, leader, &is_beside);
			to->is_known = to->event != NO_EVENT;
		} else {
			to->is_known = !pfm_read_metric_constant(
				job->ctx, &in, compute_recorded_seconds(job), &to->constant);
		}
		has_event |= to->event != NO_EVENT;
		if (i < m->info.n_value_inputs && !to->is_known) {
			*missing = in;
			return false;
		}
	}
	missing->text[0] = '\0';
	return has_event;
}

/* ---- columns --------------------------------------------------------------------------------- */

void free_metric_columns(struct report_job *job)
{
	for (unsigned i = 0; i < job->n_columns; i++)
		free(job->columns[i].inputs);
	free(job->columns);
	pfm_close_context(job->ctx);
}

static bool has_column(const struct report_job *job, int pmu, unsigned event)
{
	for (unsigned i = 0; i < job->n_columns; i++)
		if (job->columns[i].pmu == pmu && job->columns[i].event == event)
			return true;
	return false;
}

enum { COLUMN_ADDED, COLUMN_NOT_RECORDED, COLUMN_NO_MEMORY };

/* Adds a column for metric @event of @pmu if the recording has what it needs; *@missing is an input
 * that it does not have. */
static int add_column(struct report_job *job, int pmu, unsigned event, pfm_metric_input_t *missing)
{
	struct metric_column m = { .pmu = pmu, .event = event, .info = PFM_INIT(m.info) }, *more;

	if (has_column(job, pmu, event))
		return COLUMN_ADDED;
	if (pfm_describe_metric(job->ctx, pmu, event, &m.info))
		return COLUMN_NOT_RECORDED;
	m.inputs = calloc(m.info.n_inputs + 1, sizeof(*m.inputs));
	more = m.inputs ? realloc(job->columns, (job->n_columns + 1) * sizeof(*more)) : NULL;
	if (!more) {
		free(m.inputs);
		return COLUMN_NO_MEMORY;
	}
	job->columns = more;
	if (!set_inputs(job, &m, missing)) {
		free(m.inputs);
		return COLUMN_NOT_RECORDED;
	}
	more[job->n_columns++] = m;
	return COLUMN_ADDED;
}

struct group_search {
	struct report_job *job;
	unsigned n_members;
	bool failed;
};

static bool add_group_column(void *arg, int pmu, unsigned event, const pfm_metric_info_t *info)
{
	struct group_search *g = arg;
	pfm_metric_input_t missing = PFM_INIT(missing);

	(void)info;
	g->n_members++;
	g->failed = add_column(g->job, pmu, event, &missing) == COLUMN_NO_MEMORY;
	return !g->failed;
}

/* Adds the metric, or the group of metrics, called @name. EXIT_DONE, or EXIT_REFUSED after a
 * message. */
static int add_named_columns(struct report_job *job, const char *name)
{
	static struct metric_use use;
	pfm_error_t error = PFM_INIT(error);
	pfm_metric_input_t missing = PFM_INIT(missing);
	struct group_search g = { .job = job };

	if (find_metric(job->ctx, NULL, name, &use, &error)) {
		if (!visit_group_metrics(job->ctx, name, add_group_column, &g) || g.failed)
			return report_no_memory();
		if (!g.n_members)
			report_refusal(job->ctx, name, &error, WANTED_ANY);
		return g.n_members ? EXIT_DONE : EXIT_REFUSED;
	}
	switch (add_column(job, use.pmu, use.event, &missing)) {
	case COLUMN_ADDED: return EXIT_DONE;
	case COLUMN_NO_MEMORY: return report_no_memory();
	default: break;
	}
	fprintf(stderr, "pfm %s: %s is left out: it needs %s, which was not recorded\n",
	        get_running_command(), name, *missing.text ? missing.text : "events");
	return EXIT_DONE;
}

static int add_listed_columns(struct report_job *job, const char *names)
{
	struct event_list list = { 0 };
	int status = event_list_add(&list, names) ? EXIT_DONE : report_no_memory();

	for (unsigned i = 0; i < list.n && status == EXIT_DONE; i++)
		status = add_named_columns(job, list.texts[i]);
	event_list_free(&list);
	return status;
}

/* True if PMU @pmu is of this machine, or has counted some recorded event. */
static bool is_recorded_pmu(const struct report_job *job, const perfmon_pmu_info_t *pmu)
{
	size_t len = strlen(pmu->name);

	for (unsigned i = 0; i < job->profile.n_events; i++) {
		const char *name = get_event_name(&job->profile, i);

		if (strncmp(name, pmu->name, len) == 0 && strncmp(name + len, "::", 2) == 0)
			return true;
	}
	return pmu->flags & (PFM_PMU_HOST | PFM_PMU_KERNEL);
}

/* Adds every metric that can be computed from the recording. */
static int add_all_columns(struct report_job *job)
{
	pfm_metric_input_t missing = PFM_INIT(missing);
	int n = pfm_count_pmus(job->ctx);

	for (int pmu = 0; pmu < n; pmu++) {
		perfmon_pmu_info_t info = PFM_INIT(info);

		if (pfm_describe_pmu(job->ctx, pmu, &info) || !is_recorded_pmu(job, &info))
			continue;
		for (unsigned e = 0; e < info.n_events; e++)
			if (add_column(job, pmu, e, &missing) == COLUMN_NO_MEMORY)
				return report_no_memory();
	}
	return EXIT_DONE;
}

int choose_metric_columns(struct report_job *job, const char *path)
{
	char *recorded = job->metric_names ? NULL : read_recorded_metrics(path);
	const char *names = job->metric_names ? job->metric_names : recorded;
	int status = EXIT_REFUSED;

	job->ctx = open_context(NULL);
	if (job->ctx)
		status = names ? add_listed_columns(job, names) : add_all_columns(job);
	free(recorded);
	if (status != EXIT_DONE || job->n_columns)
		return status;
	fprintf(stderr,
	        "pfm %s: %s has no events from which a metric can be computed; record some with "
	        "'pfm record -M METRIC'\n",
	        get_running_command(), path);
	return EXIT_REFUSED;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The number of samples that a value of a metric is from: of the group that has the fewest. */
static double count_column_samples(const struct event_counts *c, const struct metric_column *m,
                                   uint32_t block)
{
	double least = -1;

	for (unsigned i = 0; i < m->info.n_value_inputs; i++) {
		double n =
			m->inputs[i].event == NO_EVENT
				? -1
				: event_counts_get_samples(c, block, (uint32_t)m->inputs[i].event);

		if (n >= 0 && (least < 0 || n < least))
			least = n;
	}
	return least < 0 ? 0 : least;
}

/* Input @in of a metric in each batch. */
static void fill_repetitions(const struct report_job *job, const struct column_input *in,
                             uint32_t block, double values[COUNT_BATCHES])
{
	if (in->is_known && !in->is_constant) {
		event_counts_get_repetitions(&job->profile.counts, block, (uint32_t)in->event,
		                             values);
		return;
	}
	for (unsigned b = 0; b < COUNT_BATCHES; b++)
		values[b] = in->is_known ? in->constant : NAN;
}

/* The value of a metric at a place. Each batch counts as a repetition of the whole, as the value is
 * that of their mean. False without memory. */
static bool compute_column(const struct report_job *job, const struct metric_column *m,
                           uint32_t block, pfm_metric_value_t *v)
{
	double *samples = calloc((size_t)COUNT_BATCHES * m->info.n_inputs, sizeof(*samples));
	double values[COUNT_BATCHES];
	pfm_metric_data_t data = PFM_INIT(data);
	int rc;

	for (unsigned i = 0; samples && i < m->info.n_inputs; i++) {
		fill_repetitions(job, &m->inputs[i], block, values);
		for (unsigned b = 0; b < COUNT_BATCHES; b++)
			samples[(size_t)b * m->info.n_inputs + i] = values[b];
	}
	data.model = PFM_ERROR_FROM_REPETITIONS;
	data.n_inputs = m->info.n_inputs;
	data.samples = samples;
	data.n_samples = COUNT_BATCHES;
	rc = samples ? pfm_compute_metric(job->ctx, m->pmu, m->event, &data, v) : PFMLIB_ERR_NOMEM;
	free(samples);
	return rc == PFMLIB_SUCCESS;
}

/* "ipc [insn per cycle]"; returns the width of its column. */
static int print_column_title(const struct report_job *job, const struct metric_column *m,
                              char title[TITLE_MAX])
{
	int len = snprintf(title, TITLE_MAX, "%s%s%s%s", m->info.name, *m->info.unit ? " [" : "",
	                   m->info.unit, *m->info.unit ? "]" : "");

	if (job->metric_width)
		return job->metric_width;
	return len < CELL_WIDTH ? CELL_WIDTH : len;
}

size_t measure_metric_cells(const struct report_job *job)
{
	char title[TITLE_MAX];
	size_t sum = 0;

	for (unsigned i = 0; i < job->n_shown_columns; i++)
		sum += 2 + (size_t)print_column_title(job, &job->columns[i], title);
	return sum;
}

/* Do the shares, the metrics and names fit into the terminal? */
static bool fits_terminal(const struct report_job *job)
{
	return measure_share_columns(job) + measure_metric_cells(job) + NAMES_MIN <=
	       job->terminal_columns;
}

void fit_metric_columns(struct report_job *job)
{
	job->n_shown_columns = job->n_columns;
	if (!job->n_columns || !job->terminal_columns || fits_terminal(job))
		return;
	job->metric_width = NARROW_WIDTH;
	while (job->n_shown_columns > 1 && !fits_terminal(job))
		job->n_shown_columns--;
	job->has_two_shares = job->has_two_shares && fits_terminal(job);
}

void put_hidden_metrics(const struct report_job *job)
{
	char *names = NULL;
	size_t size;
	FILE *f = job->n_shown_columns < job->n_columns ? open_memstream(&names, &size) : NULL;

	if (!f)
		return;
	fputs("Hidden metrics:", f);
	for (unsigned i = job->n_shown_columns; i < job->n_columns; i++)
		fprintf(f, "%s %s", i == job->n_shown_columns ? "" : ",",
		        job->columns[i].info.name);
	fputs("; widen the terminal, or choose with --metrics=NAME,...", f);
	if (fclose(f) == 0)
		term_wrap(stdout, 0, 0, names);
	free(names);
}

/* Prints @text at the right of a column. */
static void put_cell(const char *text, int width)
{
	size_t used = count_columns(text, strlen(text)), size = (size_t)width;

	printf("  %*s", (int)(used < size ? size - used : 0), "");
	put_cut(stdout, text, size, CUT_MIDDLE);
}

void put_metric_titles(const struct report_job *job)
{
	char title[TITLE_MAX];

	for (unsigned i = 0; i < job->n_shown_columns; i++) {
		int width = print_column_title(job, &job->columns[i], title);

		put_cell(title, width);
	}
}

void put_metric_cells(const struct report_job *job, uint32_t block)
{
	char title[TITLE_MAX], cell[TITLE_MAX];

	for (unsigned i = 0; i < job->n_shown_columns; i++) {
		const struct metric_column *m = &job->columns[i];
		double n = count_column_samples(&job->profile.counts, m, block);
		pfm_metric_value_t v = PFM_INIT(v);
		int width = print_column_title(job, m, title);

		if (n < SAMPLES_MIN)
			snprintf(cell, sizeof(cell), "too few%s (%.0f)",
			         width < CELL_WIDTH ? "" : " samples", n);
		else if (!compute_column(job, m, block, &v))
			snprintf(cell, sizeof(cell), "-");
		else if (v.state != PFM_METRIC_DEFINED)
			snprintf(cell, sizeof(cell), "%s", pfm_metric_state_name(v.state));
		else
			snprintf(cell, sizeof(cell), "%.4g +- %*.2g", v.value,
			         width < CELL_WIDTH ? 0 : 7, v.error);
		put_cell(cell, width);
	}
}

void put_metric_members(struct json *j, const struct report_job *job, uint32_t block)
{
	if (!job->options.metrics)
		return;
	put_begin(j, "metrics", '[');
	for (unsigned i = 0; i < job->n_columns; i++) {
		const struct metric_column *m = &job->columns[i];
		double n = count_column_samples(&job->profile.counts, m, block);
		pfm_metric_value_t v = PFM_INIT(v);
		bool is_computed = n >= SAMPLES_MIN && compute_column(job, m, block, &v);
		bool has_value = is_computed && v.state == PFM_METRIC_DEFINED;

		put_begin(j, NULL, '{');
		put_text(j, "metric", m->info.name);
		put_text_if(j, "unit", m->info.unit);
		put_count(j, "samples", (uint64_t)n);
		put_real(j, "value", has_value ? v.value : NAN);
		if (has_value) {
			put_real(j, "error", v.error);
			put_real(j, "low", v.low);
			put_real(j, "high", v.high);
		} else {
			put_text(j, "why",
			         is_computed ? pfm_metric_state_name(v.state) : "too few samples");
		}
		put_end(j, '}');
	}
	put_end(j, ']');
}
