/* SPDX-License-Identifier: MIT */
/* Metrics in a session: a text that names no event may name a metric or a group of them. What they need is planned into groups that
 * are counted together, each event once; their values come from the session's counts, as they are or between two readings. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/session.h"
#include "base/sizes.h"
#include "metric/metric.h"

/* A metric, and for each of its inputs 1 + the number of the planned event; 0 for what is no event. */
struct session_metric {
	struct metric_at at;
	unsigned request, n_inputs;
	uint16_t *planned;
};

/* ---- opening ---------------------------------------------------------------------------------------------------------- */

int pfmi_find_metrics(struct opening *o, const char *text)
{
	struct pfm_session *s = o->s;
	struct metric_list list = { 0 };
	struct session_metric *all = NULL;
	int rc = pfmi_metric_named(s->ctx, text, &list);

	if (rc == PFMLIB_ERR_NOTFOUND)
		rc = pfmi_metric_group(s->ctx, text, &list);
	if (!rc)
		all = realloc(s->metrics, (s->n_metrics + list.n) * sizeof(*all));
	if (all) {
		s->metrics = all;
		for (unsigned i = 0; i < list.n; i++)
			all[s->n_metrics++] = (struct session_metric){ .at = list.at[i], .request = o->request };
	}
	free(list.at);
	return rc || all ? rc : PFMLIB_ERR_NOMEM;
}

/* Group @g of @plan, whose events begin with number *@i, as a text for a session; NULL without memory. */
static char *group_text(const pfm_plan_t *plan, unsigned g, unsigned *i)
{
	pfm_planned_t e = PFM_INIT(e);
	size_t room = 8, at = 1;
	unsigned first = *i;
	char *text;

	for (; !pfm_describe_planned(plan, *i, &e) && e.group == g; (*i)++)
		room += strlen(e.text) + 1;
	text = malloc(room);
	if (!text)
		return NULL;
	text[0] = '{';
	for (unsigned k = first; k < *i && !pfm_describe_planned(plan, k, &e); k++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", k > first ? "," : "", e.text);
	snprintf(text + at, room - at, "}:W");
	if (*i - first == 1)
		snprintf(text, room, "%s", e.text);
	return text;
}

/* The counts from @before on are those of planned events @first to @last, whose texts differ. */
static void mark_planned(struct opening *o, const pfm_plan_t *plan, const unsigned *requests, unsigned before, unsigned first,
                         unsigned last)
{
	pfm_planned_t e = PFM_INIT(e);

	for (unsigned i = first; i < last && !pfm_describe_planned(plan, i, &e); i++)
		for (unsigned k = before; k < o->s->n; k++) {
			struct asked *a = &o->s->counts[k].asked;

			if (strcmp(a->name, e.text) != 0)
				continue;
			a->planned = i + 1;
			a->request = requests[e.request];
		}
}

static int add_groups(struct opening *o, const pfm_plan_t *plan, const unsigned *requests)
{
	pfm_plan_info_t info = PFM_INIT(info);
	int rc = PFMLIB_SUCCESS;

	pfm_describe_plan(plan, &info);
	for (unsigned g = 0, i = 0; g < info.n_groups && !rc; g++) {
		unsigned before = o->s->n, first = i;
		char *text = group_text(plan, g, &i);

		rc = text ? pfmi_add_text(o, text) : pfmi_opening_no_memory(o);
		if (!rc)
			mark_planned(o, plan, requests, before, first, i);
		free(text);
	}
	return rc;
}

/* Number of the planned event @text, 0 for none. */
static uint16_t planned_number(const pfm_plan_t *plan, const char *text)
{
	pfm_planned_t e = PFM_INIT(e);

	for (unsigned i = 0; !pfm_describe_planned(plan, i, &e); i++)
		if (strcmp(e.text, text) == 0)
			return (uint16_t)(i + 1);
	return 0;
}

static int find_inputs(struct opening *o, const pfm_plan_t *plan, struct session_metric *m)
{
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_metric_input_t in = PFM_INIT(in);
	const struct pfm_ctx *ctx = o->s->ctx;

	pfm_describe_metric(ctx, (int)m->at.unit, m->at.row, &info);
	m->planned = calloc(info.n_inputs + 1, sizeof(*m->planned));
	if (!m->planned)
		return pfmi_opening_no_memory(o);
	m->n_inputs = info.n_inputs;
	for (unsigned i = 0; i < m->n_inputs && !pfm_describe_metric_input(ctx, (int)m->at.unit, m->at.row, i, &in); i++)
		m->planned[i] = in.is_constant ? 0 : planned_number(plan, in.text);
	return PFMLIB_SUCCESS;
}

/* The texts that metrics were found by, once each; @requests says which they are. Returns how many. */
static unsigned metric_texts(const struct pfm_session *s, const char *const *texts, const char **out, unsigned *requests)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_metrics; i++)
		if (n == 0 || requests[n - 1] != s->metrics[i].request) {
			requests[n] = s->metrics[i].request;
			out[n++] = texts[s->metrics[i].request];
		}
	return n;
}

int pfmi_plan_metrics(struct opening *o, const char *const *texts)
{
	struct pfm_session *s = o->s;
	const char **named = calloc(s->n_metrics, sizeof(*named));
	unsigned *requests = calloc(s->n_metrics, sizeof(*requests));
	unsigned n = named && requests ? metric_texts(s, texts, named, requests) : 0;
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_t *plan = NULL;
	int rc;

	options.plm = s->options.plm;
	rc = n ? pfm_plan(&plan, s->ctx, named, n, &options, o->why) : pfmi_opening_no_memory(o);
	/* An event may need the very counter that the watchdog holds: the kernel knows whether another will do. */
	if (rc == PFMLIB_ERR_NOASSIGN) {
		options.flags = PFM_PLAN_BARE;
		rc = pfm_plan(&plan, s->ctx, named, n, &options, o->why);
	}
	if (rc && n && o->why && o->why->event >= 0)
		o->why->event = (int)requests[o->why->event];
	if (!rc)
		rc = add_groups(o, plan, requests);
	for (unsigned i = 0; i < s->n_metrics && !rc; i++)
		rc = find_inputs(o, plan, &s->metrics[i]);
	pfm_free_plan(plan);
	free(named);
	free(requests);
	return rc;
}

void pfmi_free_metrics(struct pfm_session *s)
{
	for (unsigned i = 0; i < s->n_metrics; i++)
		free(s->metrics[i].planned);
	free(s->metrics);
}

/* ---- constants -------------------------------------------------------------------------------------------------------- */

static bool count_cpus(const struct pfm_session *s, const char *path, double *value)
{
	struct cpus set;
	bool known = !pfmi_cpus_load(&s->sys, path, &set);

	*value = (double)pfmi_cpus_count(&set);
	pfmi_cpus_free(&set);
	return known && *value > 0;
}

/* A fact of this machine or of the measurement; false for what is not known. */
static bool constant(const struct pfm_session *s, const char *name, double seconds, double *value)
{
	uint64_t smt = 0;

	*value = 0;
	if (strcmp(name, "#duration_ms") == 0) {
		*value = seconds * 1000;
		return seconds > 0;
	}
	if (strcmp(name, "#num_cpus") == 0 || strcmp(name, "#num_cpus_online") == 0)
		return count_cpus(s, name[9] ? "/sys/devices/system/cpu/online" : "/sys/devices/system/cpu/present", value);
	if ((strcmp(name, "#smt_on") != 0 && strcmp(name, "#threads_per_core") != 0) ||
	    pfmi_sys_number(&s->sys, "/sys/devices/system/cpu/smt/active", &smt))
		return false;
	*value = (double)smt + (name[1] == 't');
	return true;
}

/* ---- values ----------------------------------------------------------------------------------------------------------- */

/* What the inputs of a metric are, over some rounds. */
struct inputs {
	const struct pfm_session *s;
	const struct session_metric *m;
	const pfm_count_t *counts;
	double seconds;
	int quality, group; /* group: -1: none yet */
	bool across;
	int missing; /* count without a value */
};

static const pfm_count_t *count_of(const struct inputs *in, unsigned round, unsigned i)
{
	return (const pfm_count_t *)((const char *)in->counts + ((size_t)round * in->s->n + i) * pfmi_size_of(in->counts));
}

/* Notes how far count @i of input @input can be trusted. False if it has no value. */
static bool judge(struct inputs *in, const pfm_count_t *c, unsigned i)
{
	int group = (int)in->s->counts[i].asked.group;

	if (c->quality > in->quality)
		in->quality = c->quality;
	in->across |= in->group >= 0 && in->group != group;
	in->group = group;
	if (c->quality < PFM_QUALITY_NOT_COUNTED)
		return true;
	in->missing = (int)i;
	return false;
}

static double not_a_number(void)
{
	const uint64_t bits = 0x7ff8000000000000;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Input @input in @round: counts of one event on several PMUs and CPUs are one. NaN where there is none. */
static double input_value(struct inputs *in, unsigned round, unsigned input, bool needed)
{
	pfm_metric_input_t d = PFM_INIT(d);
	double sum = 0;
	bool any = false;

	for (unsigned i = 0; i < in->s->n && in->m->planned[input]; i++) {
		const pfm_count_t *c = count_of(in, round, i);

		if (in->s->counts[i].asked.planned != in->m->planned[input])
			continue;
		if (needed ? !judge(in, c, i) : c->quality >= PFM_QUALITY_NOT_COUNTED)
			return not_a_number();
		sum += (double)c->value;
		any = true;
	}
	if (any || in->m->planned[input] || pfm_describe_metric_input(in->s->ctx, (int)in->m->at.unit, in->m->at.row, input, &d) ||
	    !d.is_constant)
		return any ? sum : not_a_number();
	return constant(in->s, d.text, in->seconds, &sum) ? sum : d.has_preset ? d.preset
	                                                                       : not_a_number();
}

static int estimate(struct inputs *in, unsigned rounds, pfm_metric_value_t *value)
{
	pfm_metric_info_t info = PFM_INIT(info);
	double *samples = calloc((size_t)rounds * in->m->n_inputs + 1, sizeof(*samples));
	int rc = samples ? pfm_describe_metric(in->s->ctx, (int)in->m->at.unit, in->m->at.row, &info) : PFMLIB_ERR_NOMEM;

	for (unsigned r = 0; r < rounds && !rc; r++)
		for (unsigned i = 0; i < in->m->n_inputs; i++)
			samples[(size_t)r * in->m->n_inputs + i] = input_value(in, r, i, i < info.n_value_inputs);
	if (!rc)
		rc = pfm_estimate_metric(in->s->ctx, (int)in->m->at.unit, in->m->at.row, samples, rounds, in->m->n_inputs, value);
	free(samples);
	return rc;
}

/* What a single reading says of its own error: none where everything was counted all the time, else nobody knows. */
static void judge_single(const struct inputs *in, pfm_metric_value_t *v)
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

int pfm_compute_metric(const pfm_session_t *s, unsigned i, const pfm_count_t *counts, unsigned rounds, double seconds,
                       pfm_session_metric_t *out)
{
	pfm_metric_value_t v = { .size = sizeof(v), .state = PFM_METRIC_NOT_COUNTED, .missing = -1, .over_threshold = -1 };
	pfm_session_metric_t full = PFM_INIT(full);
	struct inputs in = { .s = s, .counts = counts, .seconds = seconds, .group = -1, .missing = -1 };
	int rc = PFMLIB_SUCCESS;

	if (!s || i >= s->n_metrics || !pfmi_sized(out) || (rounds && !pfmi_sized(counts)))
		return PFMLIB_ERR_INVAL;
	in.m = &s->metrics[i];
	if (rounds)
		rc = estimate(&in, rounds, &v);
	if (rc)
		return rc;
	if (rounds == 1 && !v.state)
		judge_single(&in, &v);
	full = (pfm_session_metric_t){ .size = sizeof(full),
		                       .pmu = (int)in.m->at.unit,
		                       .event = in.m->at.row,
		                       .request = in.m->request,
		                       .value = v.value,
		                       .error = v.error,
		                       .low = v.low,
		                       .high = v.high,
		                       .state = v.state,
		                       .missing = in.missing,
		                       .over_threshold = v.over_threshold,
		                       .quality = rounds && in.missing < 0 ? in.quality : PFM_QUALITY_NOT_COUNTED,
		                       .across_groups = in.across };
	pfmi_give(out, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}
