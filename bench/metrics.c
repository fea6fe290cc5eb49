/* SPDX-License-Identifier: MIT */
/* Times the planning of many events and the evaluation of metrics. Other libraries have no
 * equivalent, so perfmon is measured alone. Prints a line for each: its name and its time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "metric/metric.h"

enum { ROUNDS = 21, MOST = 400, TEXT = 512, REPEATS = 200 };

static double read_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Up to @most events of @pmu that can be counted, from all over its table. */
static unsigned events_of(const char *pmu, unsigned most, char (*texts)[TEXT])
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	perfmon_event_info_t e = PFM_INIT(e);
	pfm_encoding_t enc = PFM_INIT(enc);
	unsigned n = 0, step;
	int number = pfm_find_pmu(NULL, pmu);

	if (pfm_describe_pmu(NULL, number, &p))
		return 0;
	step = p.n_events > 2 * most ? p.n_events / most : 1;
	for (unsigned i = 0; i < p.n_events && n < most; i += step) {
		if (pfm_describe_event(NULL, number, i, &e) || e.flags & PFM_EVENT_METRIC)
			continue;
		snprintf(texts[n], TEXT, "%s::%s", pmu, e.name);
		n += pfm_encode_event(NULL, texts[n], 0, &enc, NULL) == 0 && enc.counters;
	}
	return n;
}

static void time_plan(const char *pmu, unsigned most)
{
	static char texts[MOST][TEXT];
	const char *pointers[MOST];
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_t *made;
	double times[ROUNDS];
	unsigned n = events_of(pmu, most, texts);

	options.flags = PFM_PLAN_ALL_COUNTERS;
	for (unsigned i = 0; i < n; i++)
		pointers[i] = texts[i];
	for (unsigned r = 0; r < ROUNDS; r++) {
		double begin = read_clock_ns();

		if (!n || pfm_create_plan(&made, NULL, pointers, n, &options, NULL)) {
			printf("plan of %u events, %s: refused\n", n, pmu);
			return;
		}
		times[r] = read_clock_ns() - begin;
		pfm_describe_plan(made, &info);
		pfm_close_plan(made);
	}
	qsort(times, ROUNDS, sizeof(*times), compare_numbers);
	printf("plan of %u events, %s: %.3f ms, %u groups, at least %u\n", n, pmu,
	       times[ROUNDS / 2] / 1e6, info.n_groups, info.bound);
}

/* All metrics of @pmu, each evaluated again and again; the operations are those of value and
 * threshold. */
static void time_evaluate(const char *pmu)
{
	static pfm_metric_operand_t counts[METRIC_MAX_INPUTS];
	perfmon_pmu_info_t p = PFM_INIT(p);
	pfm_metric_value_t v = PFM_INIT(v);
	int number = pfm_find_pmu(NULL, pmu);
	double operations = 0, took = 0;
	unsigned metrics = 0;
	struct metric m;

	for (unsigned i = 0; i < METRIC_MAX_INPUTS; i++)
		counts[i] = (pfm_metric_operand_t){ .value = 1e6 + 1000 * i, .known = 1 };
	for (unsigned e = 0; !pfm_describe_pmu(NULL, number, &p) && e < p.n_events; e++) {
		double begin;
		unsigned step;

		if (pfmi_metric_find_by_row(NULL, number, e, &m))
			continue;
		for (const char *c = m.code; (step = pfmi_metric_get_instruction_length(c));
		     c += step)
			operations += REPEATS;
		for (const char *c = m.threshold_code;
		     (step = pfmi_metric_get_instruction_length(c)); c += step)
			operations += REPEATS;
		begin = read_clock_ns();
		for (unsigned r = 0; r < REPEATS; r++)
			pfm_compute_metric(
				NULL, number, e,
				&(pfm_metric_data_t){ .size = sizeof(pfm_metric_data_t),
			                              .n_inputs = pfmi_metric_count_inputs(&m),
			                              .operands = counts },
				&v);
		took += read_clock_ns() - begin;
		metrics++;
	}
	printf("%u metrics of %s: %.2f ns for an operation, %.0f ns for a metric\n", metrics, pmu,
	       took / operations, took / metrics / REPEATS);
}

int main(void)
{
	static const char *const pmus[] = { "skx",     "clx",        "spr", "adl_goldencove",
		                            "amdzen4", "neoverse_n1" };

	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		time_plan(pmus[i], 40);
		time_plan(pmus[i], MOST);
	}
	time_evaluate("skx");
	time_evaluate("spr");
	time_evaluate("power9");
	return 0;
}
