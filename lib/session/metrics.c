/* SPDX-License-Identifier: MIT */
/* Metrics in a session. A text that names no event may name a metric or a group of metrics. Their
 * events are planned into groups that are counted together, each event once. Values of metrics are
 * computed from the counts of the session, or from their differences between two readings. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "base/sizes.h"
#include "metric/metric.h"

/* A metric, and for each of its inputs 1 + the number of the planned event; 0 for other inputs. */
struct session_metric {
	struct metric_ref ref;
	unsigned request, n_inputs;
	uint16_t *planned_events;
};

/* ---- opening ------------------------------------------------------------------------------- */

int pfmi_session_add_metrics(struct session_builder *o, const char *text)
{
	struct pfm_session *s = o->session;
	struct metric_list list = { 0 };
	struct session_metric *all = NULL;
	int rc = pfmi_metric_find_by_name(s->ctx, text, &list);

	if (rc == PFMLIB_ERR_NOTFOUND)
		rc = pfmi_metric_find_group(s->ctx, text, &list);
	if (!rc)
		all = realloc(s->metrics, (s->n_metrics + list.n_metrics) * sizeof(*all));
	if (all) {
		s->metrics = all;
		for (unsigned i = 0; i < list.n_metrics; i++)
			all[s->n_metrics++] = (struct session_metric){ .ref = list.refs[i],
				                                       .request = o->request };
	}
	free(list.refs);
	return rc || all ? rc : PFMLIB_ERR_NOMEM;
}

/* Group @g of @plan as a text for a session. NULL without memory. */
static char *format_group_text(const pfm_plan_t *plan, unsigned g)
{
	int len = pfm_print_plan_group(plan, g, NULL, 0);
	char *text = malloc((size_t)len + 1);

	if (text)
		pfm_print_plan_group(plan, g, text, (size_t)len + 1);
	return text;
}

/* Marks the counts from @before on as those of the planned events of group @g. Their texts are
 * unique. */
static void mark_planned_counts(struct session_builder *o, const pfm_plan_t *plan,
                                const unsigned *requests, unsigned before, unsigned g)
{
	pfm_planned_event_t e = PFM_INIT(e);

	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		for (unsigned k = before; e.group == g && k < o->session->n_counts; k++) {
			struct count_config *a = &o->session->counts[k].config;

			if (strcmp(a->name, e.text) != 0)
				continue;
			a->planned_event = i + 1;
			a->request = requests[e.request];
		}
}

static int add_planned_groups(struct session_builder *o, const pfm_plan_t *plan,
                              const unsigned *requests)
{
	pfm_plan_info_t info = PFM_INIT(info);
	int rc = PFMLIB_SUCCESS;

	pfm_describe_plan(plan, &info);
	for (unsigned g = 0; g < info.n_groups && !rc; g++) {
		unsigned before = o->session->n_counts;
		char *text = format_group_text(plan, g);

		rc = text ? pfmi_session_add_text(o, text) : pfmi_session_report_no_memory(o);
		if (!rc)
			mark_planned_counts(o, plan, requests, before, g);
		free(text);
	}
	return rc;
}

/* Number of the planned event @text; 0 if it was not planned. */
static uint16_t find_planned_event(const pfm_plan_t *plan, const char *text)
{
	pfm_planned_event_t e = PFM_INIT(e);

	for (unsigned i = 0; !pfm_describe_planned_event(plan, i, &e); i++)
		if (strcmp(e.text, text) == 0)
			return (uint16_t)(i + 1);
	return 0;
}

static int map_metric_inputs(struct session_builder *o, const pfm_plan_t *plan,
                             struct session_metric *m)
{
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_metric_input_t in = PFM_INIT(in);
	const struct pfm_ctx *ctx = o->session->ctx;

	pfm_describe_metric(ctx, (int)m->ref.pmu, m->ref.row, &info);
	m->planned_events = calloc(info.n_inputs + 1, sizeof(*m->planned_events));
	if (!m->planned_events)
		return pfmi_session_report_no_memory(o);
	m->n_inputs = info.n_inputs;
	for (unsigned i = 0; i < m->n_inputs &&
	                     !pfm_describe_metric_input(ctx, (int)m->ref.pmu, m->ref.row, i, &in);
	     i++)
		m->planned_events[i] = in.is_constant ? 0 : find_planned_event(plan, in.text);
	return PFMLIB_SUCCESS;
}

/* Lists the texts by which metrics were found, each once. @requests tells which texts these are.
 * Returns their number. */
static unsigned list_metric_texts(const struct pfm_session *s, const char *const *texts,
                                  const char **out, unsigned *requests)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_metrics; i++)
		if (n == 0 || requests[n - 1] != s->metrics[i].request) {
			requests[n] = s->metrics[i].request;
			out[n++] = texts[s->metrics[i].request];
		}
	return n;
}

int pfmi_session_plan_metrics(struct session_builder *o, const char *const *texts)
{
	struct pfm_session *s = o->session;
	const char **named = calloc(s->n_metrics, sizeof(*named));
	unsigned *requests = calloc(s->n_metrics, sizeof(*requests));
	unsigned n = named && requests ? list_metric_texts(s, texts, named, requests) : 0;
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_t *plan = NULL;
	int rc;

	options.plm = s->options.plm;
	options.flags = PFM_PLAN_RESERVED_IF_NEEDED;
	rc = n ? pfm_create_plan(&plan, s->ctx, named, n, &options, o->error)
	       : pfmi_session_report_no_memory(o);
	if (rc && n && o->error && o->error->event >= 0)
		o->error->event = (int)requests[o->error->event];
	if (!rc)
		rc = add_planned_groups(o, plan, requests);
	for (unsigned i = 0; i < s->n_metrics && !rc; i++)
		rc = map_metric_inputs(o, plan, &s->metrics[i]);
	pfm_close_plan(plan);
	free(named);
	free(requests);
	return rc;
}

void pfmi_session_free_metrics(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_metrics; i++)
		free(s->metrics[i].planned_events);
	free(s->metrics);
}

/* ---- values -------------------------------------------------------------------------------- */

/* The inputs of a metric over several rounds. */
struct metric_input_counts {
	const struct pfm_session *session;
	const struct session_metric *metric;
	const pfm_count_t *counts;
	double seconds;
	pfm_quality_t quality;
	int group; /* -1: no group so far */
	bool is_across_groups;
	int missing_count; /* index of an input that was not counted; negative: none */
};

static const pfm_count_t *get_round_count(const struct metric_input_counts *in, unsigned round,
                                          unsigned i)
{
	return (const pfm_count_t *)((const char *)in->counts +
	                             ((size_t)round * in->session->n_counts + i) *
	                                     base_get_struct_size(in->counts));
}

/* Merges the quality of count @i into input @input. False if the count has no value. */
static bool note_input_quality(struct metric_input_counts *in, const pfm_count_t *c, unsigned i)
{
	int group = (int)in->session->counts[i].config.group;

	if (c->quality > in->quality)
		in->quality = c->quality;
	in->is_across_groups |= in->group >= 0 && in->group != group;
	in->group = group;
	if (c->quality < PFM_QUALITY_NOT_COUNTED)
		return true;
	in->missing_count = (int)i;
	return false;
}

static double get_missing_value(void)
{
	const uint64_t bits = 0x7ff8000000000000;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Sums input @input in @round over the PMUs and CPUs of its event. NaN if a count is missing. */
static double sum_input_counts(struct metric_input_counts *in, unsigned round, unsigned input,
                               bool needed)
{
	pfm_metric_input_t d = PFM_INIT(d);
	double sum = 0;
	bool any = false;

	for (unsigned i = 0; i < in->session->n_counts && in->metric->planned_events[input]; i++) {
		const pfm_count_t *c = get_round_count(in, round, i);

		if (in->session->counts[i].config.planned_event !=
		    in->metric->planned_events[input])
			continue;
		if (needed ? !note_input_quality(in, c, i) : c->quality >= PFM_QUALITY_NOT_COUNTED)
			return get_missing_value();
		sum += (double)c->value;
		any = true;
	}
	if (any || in->metric->planned_events[input] ||
	    pfm_describe_metric_input(in->session->ctx, (int)in->metric->ref.pmu,
	                              in->metric->ref.row, input, &d))
		return any ? sum : get_missing_value();
	return pfmi_metric_read_constant(&in->session->sys, &d, in->seconds, &sum)
	               ? sum
	               : get_missing_value();
}

static int estimate_metric(struct metric_input_counts *in, unsigned rounds,
                           pfm_metric_value_t *value)
{
	pfm_metric_info_t info = PFM_INIT(info);
	double *samples = calloc((size_t)rounds * in->metric->n_inputs + 1, sizeof(*samples));
	int rc = samples ? pfm_describe_metric(in->session->ctx, (int)in->metric->ref.pmu,
	                                       in->metric->ref.row, &info)
	                 : PFMLIB_ERR_NOMEM;

	for (unsigned r = 0; r < rounds && !rc; r++)
		for (unsigned i = 0; i < in->metric->n_inputs; i++)
			samples[(size_t)r * in->metric->n_inputs + i] =
				sum_input_counts(in, r, i, i < info.n_value_inputs);
	if (!rc)
		rc = pfm_compute_metric(in->session->ctx, (int)in->metric->ref.pmu,
		                        in->metric->ref.row,
		                        &(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
		                                              .model = PFM_ERROR_FROM_REPETITIONS,
		                                              .n_inputs = in->metric->n_inputs,
		                                              .samples = samples,
		                                              .n_samples = rounds },
		                        value);
	free(samples);
	return rc;
}

/* Sets the error of a value from a single reading: zero if everything was counted all the time,
 * else unknown. */
static void set_single_round_error(const struct metric_input_counts *in, pfm_metric_value_t *v)
{
	bool exact = in->quality == PFM_QUALITY_EXACT;

	v->error = exact ? 0 : -1;
	v->low = exact ? v->value : -DBL_MAX;
	v->high = exact ? v->value : DBL_MAX;
}

unsigned pfm_count_metrics(const pfm_session_t *s)
{
	return s ? s->n_metrics : 0;
}

/* Computes metric @metric and the quality of its value. */
static int compute_value(const struct pfm_session *s, const struct session_metric *metric,
                         const pfm_count_t *counts, unsigned rounds, double seconds,
                         struct metric_input_counts *in, pfm_metric_value_t *v)
{
	int rc = PFMLIB_SUCCESS;

	*in = (struct metric_input_counts){ .session = s,
		                            .metric = metric,
		                            .counts = counts,
		                            .seconds = seconds,
		                            .group = -1,
		                            .missing_count = -1 };
	*v = (pfm_metric_value_t){ .size = sizeof(*v),
		                   .state = PFM_METRIC_NOT_COUNTED,
		                   .missing = -1,
		                   .over_threshold = -1 };
	if (rounds)
		rc = estimate_metric(in, rounds, v);
	if (!rc && rounds == 1 && !v->state)
		set_single_round_error(in, v);
	return rc;
}

/* ---- plausibility ---------------------------------------------------------------------------- */

#define MAX_SUM_PARTS 8

/* A reading from which the metrics of a session are computed. */
struct metric_reading {
	const pfm_count_t *counts;
	unsigned rounds;
	double seconds;
};

static const struct session_metric *find_session_metric(const struct pfm_session *s, int pmu,
                                                        unsigned event)
{
	for (unsigned i = 0; i < s->n_metrics; i++)
		if ((int)s->metrics[i].ref.pmu == pmu && s->metrics[i].ref.row == event)
			return &s->metrics[i];
	return NULL;
}

/* Checks the sum that @out is a part of, if the session has all parts. */
static int check_session_sum(const struct pfm_session *s, const struct metric_reading *r,
                             const pfm_session_metric_t *out, pfm_metric_check_t *check)
{
	pfm_metric_value_t parts[MAX_SUM_PARTS];
	unsigned events[MAX_SUM_PARTS];
	bool extrapolated = false;
	double whole;
	int n = pfm_list_metric_sum(s->ctx, out->pmu, out->event, events, MAX_SUM_PARTS, &whole);

	for (int i = 0; i < n; i++) {
		const struct session_metric *m = find_session_metric(s, out->pmu, events[i]);
		struct metric_input_counts in;
		int rc;

		if (!m)
			return PFMLIB_SUCCESS;
		rc = compute_value(s, m, r->counts, r->rounds, r->seconds, &in, &parts[i]);
		if (rc)
			return rc;
		extrapolated |= in.quality != PFM_QUALITY_EXACT;
	}
	return n > 0 ? pfm_check_metric_sum(parts, (unsigned)n, whole, extrapolated, check)
	             : PFMLIB_SUCCESS;
}

/* Sets the plausibility of @out, whose value is @v. */
static int check_session_metric(const struct pfm_session *s, const struct metric_reading *r,
                                const pfm_metric_value_t *v, pfm_session_metric_t *out)
{
	pfm_metric_check_t check = PFM_INIT(check);
	pfm_metric_info_t info = PFM_INIT(info);
	double peak = 0;
	int rc = pfm_describe_metric(s->ctx, out->pmu, out->event, &info);

	if (!rc && !v->state && pfmi_metric_is_memory_bandwidth(&info))
		peak = pfm_memory_bandwidth(s->ctx);
	if (!rc)
		rc = pfm_check_metric(s->ctx, out->pmu, out->event, v,
		                      out->quality != PFM_QUALITY_EXACT, peak, &check);
	if (!rc && check.result == PFM_PLAUSIBLE && !v->state)
		rc = check_session_sum(s, r, out, &check);
	out->plausibility = check.result;
	out->reason = check.reason;
	return rc;
}

int pfm_compute_session_metric(const pfm_session_t *s, unsigned i, const pfm_count_t *counts,
                               unsigned rounds, double seconds, pfm_session_metric_t *out)
{
	pfm_session_metric_t full;
	struct metric_input_counts in;
	pfm_metric_value_t v;
	int rc;

	if (!s || i >= s->n_metrics || !base_has_struct_size(out) ||
	    (rounds && !base_has_struct_size(counts)))
		return PFMLIB_ERR_INVAL;
	rc = compute_value(s, &s->metrics[i], counts, rounds, seconds, &in, &v);
	if (rc)
		return rc;
	full = (pfm_session_metric_t){ .size = sizeof(full),
		                       .pmu = (int)in.metric->ref.pmu,
		                       .event = in.metric->ref.row,
		                       .request = in.metric->request,
		                       .value = v.value,
		                       .error = v.error,
		                       .low = v.low,
		                       .high = v.high,
		                       .state = v.state,
		                       .missing = in.missing_count,
		                       .over_threshold = v.over_threshold,
		                       .quality = rounds && in.missing_count < 0
		                                          ? in.quality
		                                          : PFM_QUALITY_NOT_COUNTED,
		                       .across_groups = in.is_across_groups };
	rc = check_session_metric(s, &(struct metric_reading){ counts, rounds, seconds }, &v,
	                          &full);
	if (rc)
		return rc;
	base_copy_struct_out(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}
