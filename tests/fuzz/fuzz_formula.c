/* SPDX-License-Identifier: MIT */
/* Formulas and plans. An input that begins with 'p' is a set of events that is planned: every group must be placed as the plan says.
 * Any other is the code of a metric as an image could have it, three lines: value, threshold, input. It is run, differentiated and
 * printed; what comes out must be finite, the same each time, and inside its buffer. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>
#include "metric/metric.h"
#include "table/build.h"
#include "bytes.h"

enum { MAX_LINE = 6000,
       MAX_EVENTS = 14,
       N_INPUTS = 8 };

static pfm_ctx_t *context(void)
{
	static pfm_ctx_t *ctx;
	pfm_ctx_options_t o = PFM_INIT(o);

	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (!ctx && pfm_open_context(&ctx, &o, NULL))
		abort();
	return ctx;
}

/* ---- formulas ----------------------------------------------------------------------------------------------------------- */

/* The next line of the input, terminated; what does not fit is dropped. */
static void take_line(const uint8_t **at, const uint8_t *end, char line[MAX_LINE])
{
	size_t n = 0;

	for (; *at < end && **at != '\n' && **at; (*at)++)
		if (n + 1 < MAX_LINE)
			line[n++] = (char)**at;
	line[n] = '\0';
	*at += *at < end;
}

static void check_run(const char *code, const struct cell *own)
{
	static const double values[N_INPUTS] = { 1, 0, 3, 1e300, 0.25, -7, 12, 5e-324 };
	pfm_metric_count_t in[N_INPUTS];
	struct cell out, again;

	for (unsigned i = 0; i < N_INPUTS; i++)
		in[i] = (pfm_metric_count_t){ .value = values[i], .known = i != 6 };
	for (unsigned along = 0; along <= N_INPUTS; along++) {
		int rc = pfmi_metric_run(code, in, N_INPUTS, along, own, &out);

		if (rc != pfmi_metric_run(code, in, N_INPUTS, along, own, &again))
			abort();
		if (rc || out.state)
			continue;
		if (!(out.v <= DBL_MAX && out.v >= -DBL_MAX) || !(out.d <= DBL_MAX && out.d >= -DBL_MAX) || out.v != again.v)
			abort();
	}
}

static void check_print(const struct metric *m, int threshold)
{
	int n = pfmi_metric_print(m, threshold, NULL, 0);
	char *text;

	if (n < 0)
		return;
	for (int len = 1; len <= n + 1; len += n / 2 + 1) {
		text = malloc((size_t)len);
		if (!text || pfmi_metric_print(m, threshold, text, (size_t)len) != n || strlen(text) >= (size_t)len)
			abort();
		free(text);
	}
}

/* A table of one metric, which has one input. */
static struct table *table_with_input(const char *text)
{
	struct builder b;
	unsigned field;

	pfmi_build_begin(&b);
	b.head.encoder = ENCODER_PERF;
	b.head.perf_type = b.head.libpfm_type = -1;
	field = pfmi_build_text_field(&b, KEY_METRIC_INPUTS);
	pfmi_build_row(&b, "metric", "", ROW_METRIC);
	pfmi_build_value(&b, field, pfmi_build_text(&b, text, strlen(text)));
	return pfmi_build_end(&b);
}

static void check_formula(const uint8_t *data, size_t size)
{
	static char code[MAX_LINE], threshold[MAX_LINE], inputs[MAX_LINE];
	const uint8_t *end = data + size;
	const struct cell own = { .v = 2 };
	struct metric m = { .code = code, .threshold = threshold };
	struct metric_input in;
	struct table *t;

	take_line(&data, end, code);
	take_line(&data, end, threshold);
	take_line(&data, end, inputs);
	m.table = t = table_with_input(inputs);
	if (!t)
		return;
	for (unsigned i = 0; i < pfmi_metric_inputs(&m) + 1; i++)
		pfmi_metric_input(&m, i, &in);
	check_run(code, NULL);
	check_run(threshold, &own);
	check_print(&m, 0);
	check_print(&m, 1);
	free(t);
}

/* ---- plans -------------------------------------------------------------------------------------------------------------- */

/* A processor with events, by number. */
static int take_pmu(struct bytes *b, pfm_pmu_info_t *info)
{
	int n = pfm_count_pmus(context()), pmu = (int)(pair(b) % (unsigned)n);

	for (int i = 0; i < n; i++, pmu = (pmu + 1) % n)
		if (!pfm_describe_pmu(context(), pmu, info) && info->n_events)
			return pmu;
	abort();
}

static void check_group(const pfm_plan_t *plan, unsigned group, const pfm_plan_options_t *o)
{
	static pfm_set_t set;
	pfmlib_regmask_t unavailable = { { o->taken } };
	pfm_set_options_t options = PFM_INIT(options);
	pfm_planned_t e = PFM_INIT(e);
	const char *members[PFM_MAX_SET];
	int counters[PFM_MAX_SET];
	unsigned n = 0;

	for (unsigned i = 0; !pfm_describe_planned(plan, i, &e); i++)
		if (e.group == group) {
			if (n == PFM_MAX_SET)
				abort();
			members[n] = e.text;
			counters[n++] = e.counter;
		}
	options.plm = o->plm;
	options.htoff = o->htoff;
	options.unavailable = o->taken ? &unavailable : NULL;
	set.size = sizeof(set);
	if (n == 0 || pfm_dispatch_set(context(), members, n, &options, &set, NULL))
		abort();
	for (unsigned i = 0; i < n; i++)
		if (set.counter[i] != counters[i])
			abort();
}

static void check_plan(struct bytes *b)
{
	char texts[MAX_EVENTS][200];
	const char *pointers[MAX_EVENTS];
	pfm_pmu_info_t p = PFM_INIT(p);
	pfm_event_info_t e = PFM_INIT(e);
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_error_t why = PFM_INIT(why);
	pfm_plan_t *plan;
	unsigned n = 1 + byte(b) % MAX_EVENTS, how = byte(b);
	int pmu = take_pmu(b, &p);

	for (unsigned i = 0; i < n; i++) {
		if (pfm_describe_event(context(), pmu, pair(b) % p.n_events, &e))
			abort();
		snprintf(texts[i], sizeof(texts[i]), "%s::%s", p.name, e.name);
		pointers[i] = texts[i];
	}
	options.taken = how & 1 ? shifted(b) : 0;
	options.htoff = how >> 1 & 1;
	options.effort = 1 + byte(b);
	if (pfm_plan(&plan, context(), pointers, n, &options, &why)) {
		if (plan || why.code >= 0 || why.event >= (int)n)
			abort();
		return;
	}
	if (pfm_describe_plan(plan, &info) || info.bound > info.n_groups || (info.optimal && info.bound != info.n_groups) ||
	    !*info.certificate)
		abort();
	for (unsigned g = 0; g < info.n_groups; g++)
		check_group(plan, g, &options);
	pfm_free_plan(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data + 1, size - 1 };

	if (size && *data == 'p')
		check_plan(&b);
	else
		check_formula(data, size);
	return 0;
}
