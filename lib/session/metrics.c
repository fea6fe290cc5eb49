/* SPDX-License-Identifier: MIT */
/* Metrics in a session. A text that names no event may name a metric or a group of metrics. Their
 * events are planned into groups that are counted together, each event once. Values of metrics are
 * computed from the counts of the session, or from their differences between two readings. */
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
	int rc = pfmi_metric_add_by_name(s->ctx, text, &list);

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
		if (strcmp(e.text, text) == 0 || strcmp(e.replaced, text) == 0)
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

/* A reading from which the metrics of a session are computed. */
struct metric_reading {
	const pfm_count_t *counts;
	unsigned rounds;
	double seconds;
};

/* The counts of a metric's inputs, and their numbers in the session. */
struct collected_counts {
	const struct pfm_session *session;
	const struct metric_reading *reading;
	unsigned n;
	pfm_input_count_t *counts;
	pfm_count_part_t *parts; /* those of each count, one after the other */
	unsigned *numbers;
};

static const pfm_count_t *get_round_count(const struct collected_counts *c, unsigned round,
                                          unsigned i)
{
	return (const pfm_count_t *)((const char *)c->reading->counts +
	                             ((size_t)round * c->session->n_counts + i) *
	                                     base_get_struct_size(c->reading->counts));
}

/* Adds count @i of the session as one of input @input: the mean over the rounds, and each round as
 * a part. */
static void collect_count(struct collected_counts *c, unsigned input, unsigned i)
{
	pfm_input_count_t *to = &c->counts[c->n];
	pfm_count_part_t *parts = &c->parts[(size_t)c->n * c->reading->rounds];

	c->numbers[c->n++] = i;
	*to = (pfm_input_count_t){ .input = input,
		                   .group = c->session->counts[i].config.group,
		                   .observed = 1,
		                   .parts = parts };
	for (unsigned r = 0; r < c->reading->rounds; r++) {
		const pfm_count_t *count = get_round_count(c, r, i);

		to->quality = count->quality > to->quality ? count->quality : to->quality;
		parts[r].raw = (double)count->value;
		to->value += (double)count->value;
	}
	to->value /= c->reading->rounds;
}

/* True if count @i of @s is one of input @input: of its event on some PMU or CPU. */
static bool is_count_of_input(const struct pfm_session *s, const struct session_metric *m,
                              unsigned input, unsigned i)
{
	return m->planned_events[input] &&
	       s->counts[i].config.planned_event == m->planned_events[input];
}

static size_t count_input_counts(const struct pfm_session *s, const struct session_metric *m)
{
	size_t n = 0;

	for (unsigned input = 0; input < m->n_inputs; input++)
		for (unsigned i = 0; i < s->n_counts; i++)
			n += is_count_of_input(s, m, input, i);
	return n;
}

static int compute_collected(struct collected_counts *c, const struct session_metric *m,
                             pfm_session_metric_t *out)
{
	pfm_metric_counts_t data = { .size = sizeof(data),
		                     .model = PFM_ERROR_FROM_REPETITIONS,
		                     .counts = c->counts,
		                     .n_parts = c->reading->rounds,
		                     .seconds = c->reading->seconds };
	int rc;

	for (unsigned input = 0; input < m->n_inputs; input++)
		for (unsigned i = 0; i < c->session->n_counts; i++)
			if (is_count_of_input(c->session, m, input, i))
				collect_count(c, input, i);
	data.n_counts = c->n;
	rc = pfm_compute_counted_metric(c->session->ctx, (int)m->ref.pmu, m->ref.row, &data, out);
	if (!rc && out->missing >= 0)
		out->missing = (int)c->numbers[out->missing];
	return rc;
}

/* Computes metric @m and the quality of its value. */
static int compute_value(const struct pfm_session *s, const struct session_metric *m,
                         const struct metric_reading *r, pfm_session_metric_t *out)
{
	const size_t most = count_input_counts(s, m) + 1;
	struct collected_counts c = { .session = s,
		                      .reading = r,
		                      .counts = calloc(most, sizeof(*c.counts)),
		                      .parts = calloc(most * r->rounds, sizeof(*c.parts)),
		                      .numbers = calloc(most, sizeof(*c.numbers)) };
	int rc =
		c.counts && c.parts && c.numbers ? compute_collected(&c, m, out) : PFMLIB_ERR_NOMEM;

	free(c.counts);
	free(c.parts);
	free(c.numbers);
	return rc;
}

unsigned pfm_count_metrics(const pfm_session_t *s)
{
	return s ? s->n_metrics : 0;
}

/* ---- plausibility ---------------------------------------------------------------------------- */

#define MAX_SUM_PARTS 8

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
                             pfm_session_metric_t *out)
{
	pfm_metric_check_t check = PFM_INIT(check);
	pfm_metric_value_t parts[MAX_SUM_PARTS];
	unsigned events[MAX_SUM_PARTS];
	bool extrapolated = false;
	double whole;
	int n = pfm_list_metric_sum(s->ctx, out->pmu, out->event, events, MAX_SUM_PARTS, &whole);
	int rc;

	for (int i = 0; i < n; i++) {
		const struct session_metric *m = find_session_metric(s, out->pmu, events[i]);
		pfm_session_metric_t part = PFM_INIT(part);

		if (!m)
			return PFMLIB_SUCCESS;
		rc = compute_value(s, m, r, &part);
		if (rc)
			return rc;
		parts[i] = (pfm_metric_value_t){ .size = sizeof(parts[i]),
			                         .value = part.value,
			                         .error = part.error,
			                         .low = part.low,
			                         .high = part.high,
			                         .state = part.state };
		extrapolated |= part.quality != PFM_QUALITY_EXACT;
	}
	rc = n > 0 ? pfm_check_metric_sum(parts, (unsigned)n, whole, extrapolated, &check)
	           : PFMLIB_SUCCESS;
	if (!rc && n > 0) {
		out->plausibility = check.result;
		out->reason = check.reason;
	}
	return rc;
}

/* Metric @m before a reading. */
static pfm_session_metric_t identify_metric(const struct session_metric *m)
{
	return (pfm_session_metric_t){ .size = sizeof(pfm_session_metric_t),
		                       .pmu = (int)m->ref.pmu,
		                       .event = m->ref.row,
		                       .state = PFM_METRIC_NOT_COUNTED,
		                       .quality = PFM_QUALITY_NOT_COUNTED,
		                       .missing = -1,
		                       .over_threshold = -1,
		                       .reason = "" };
}

int pfm_compute_session_metric(const pfm_session_t *s, unsigned i, const pfm_count_t *counts,
                               unsigned rounds, double seconds, pfm_session_metric_t *out)
{
	const struct metric_reading r = { counts, rounds, seconds };
	pfm_session_metric_t full;
	int rc = PFMLIB_SUCCESS;

	if (!s || i >= s->n_metrics || !base_has_struct_size(out) ||
	    (rounds && !base_has_struct_size(counts)))
		return PFMLIB_ERR_INVAL;
	full = identify_metric(&s->metrics[i]);
	if (rounds)
		rc = compute_value(s, &s->metrics[i], &r, &full);
	if (!rc && rounds && full.plausibility == PFM_PLAUSIBLE && !full.state)
		rc = check_session_sum(s, &r, &full);
	if (rc)
		return rc;
	full.request = s->metrics[i].request;
	base_copy_struct_out(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}
