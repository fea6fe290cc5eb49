/* SPDX-License-Identifier: MIT */
/* The code of a metric as an image could have it, three lines: value, threshold, input. It is run,
 * differentiated and printed; what comes out must be finite, the same each time, and inside its
 * buffer. */
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/perfmon.h>
#include "metric/metric.h"
#include "table/build.h"
#include "time_bound.h"

enum { MAX_LINE = 6000, N_INPUTS = 8 };

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

static void check_run(const char *code, const struct metric_number *own)
{
	static const double values[N_INPUTS] = { 1, 0, 3, 1e300, 0.25, -7, 12, 5e-324 };
	pfm_metric_operand_t in[N_INPUTS];
	struct metric_number out, again;

	for (unsigned i = 0; i < N_INPUTS; i++)
		in[i] = (pfm_metric_operand_t){ .value = values[i], .known = i != 6 };
	for (unsigned along = 0; along <= N_INPUTS; along++) {
		int rc = pfmi_metric_run_code(code, in, N_INPUTS, along, own, &out);

		if (rc != pfmi_metric_run_code(code, in, N_INPUTS, along, own, &again))
			abort();
		if (rc || out.state)
			continue;
		if (!(out.value <= DBL_MAX && out.value >= -DBL_MAX) ||
		    !(out.derivative <= DBL_MAX && out.derivative >= -DBL_MAX) ||
		    out.value != again.value)
			abort();
	}
}

static void check_print(const struct metric *m, int threshold)
{
	int n = pfmi_metric_print_formula(m, threshold, NULL, 0);
	char *text;

	if (n < 0)
		return;
	for (int len = 1; len <= n + 1; len += n / 2 + 1) {
		text = malloc((size_t)len);
		if (!text || pfmi_metric_print_formula(m, threshold, text, (size_t)len) != n ||
		    strlen(text) >= (size_t)len)
			abort();
		free(text);
	}
}

/* A table of one metric, which has one input. */
static struct table *table_with_input(const char *text)
{
	struct table_builder b;
	unsigned field;

	pfmi_table_begin_build(&b);
	b.head.encoder = ENCODER_PERF;
	b.head.perf_type = b.head.libpfm_type = -1;
	field = pfmi_table_add_text_field(&b, KEY_METRIC_INPUTS);
	pfmi_table_begin_row(&b, "metric", "", ROW_METRIC);
	pfmi_table_set_row_value(&b, field, pfmi_table_add_text(&b, text, strlen(text)));
	return pfmi_table_finish_build(&b);
}

int try_input(const uint8_t *data, size_t size)
{
	static char code[MAX_LINE], threshold[MAX_LINE], inputs[MAX_LINE];
	const uint8_t *end = data + size;
	const struct metric_number own = { .value = 2 };
	struct metric m = { .code = code, .threshold_code = threshold };
	struct metric_input in;
	struct table *t;

	take_line(&data, end, code);
	take_line(&data, end, threshold);
	take_line(&data, end, inputs);
	m.table = t = table_with_input(inputs);
	if (!t)
		return 0;
	for (unsigned i = 0; i < pfmi_metric_count_inputs(&m) + 1; i++)
		pfmi_metric_get_input(&m, i, &in);
	check_run(code, NULL);
	check_run(threshold, &own);
	check_print(&m, 0);
	check_print(&m, 1);
	free(t);
	return 0;
}
