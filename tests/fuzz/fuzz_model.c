/* SPDX-License-Identifier: MIT */
/* Any text as a model of pfm pretend. What the reader accepts computes counts that a counter can
 * have: finite, not negative, and none that decreases. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pretend/model.h"
#include "time_bound.h"

static void check_rate(const struct model *m, const struct model_rate *r)
{
	static const double ticks[] = { 0, 1, 1e3, 1e9, 3600e9, 1e18 };

	for (size_t i = 1; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		double speed = get_mean_speed(m, ticks[i - 1], ticks[i]);
		double count = compute_model_count(r, ticks[i - 1], ticks[i], speed);

		if (!isfinite(count) || count < 0)
			abort();
	}
}

static void check_model(const struct model *m)
{
	double number;

	for (size_t i = 0; i < m->n_events; i++) {
		struct model_rate r = get_model_rate(m, "skl", m->events[i].pattern);

		check_rate(m, &m->events[i].rate);
		check_rate(m, &r);
	}
	for (size_t i = 0; i < m->n_troubles; i++)
		if (get_model_fault(m, "skl", m->troubles[i].pattern, &number) > FAULT_SILENT)
			abort();
}

int try_input(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	char *text = strndup((const char *)data, size);
	struct model m;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!text || !nowhere)
		abort();
	stderr = nowhere; /* messages of refused lines; sanitizers write to the descriptor */
	if (read_model(&m, "fuzz.model", text))
		check_model(&m);
	free_model(&m);
	free(text);
	return 0;
}
