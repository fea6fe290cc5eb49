/* SPDX-License-Identifier: MIT */
/* Measurements that libpfm4 has no counterpart for: lists of events, sets measured together, and
 * the libpfm 3 interface. PERFMON_EVENTS names the images. */
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "numbers.h"

#define MAX_EVENTS 2048

static pfm_ctx_t *open_context(void)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx;

	o.flags = PFM_CTX_NO_HOST;
	if (pfm_open_context(&ctx, &o, NULL)) {
		fputs("no context\n", stderr);
		exit(1);
	}
	return ctx;
}

/* "pmu::NAME" for every event, with the first register's value. */
static int time_list(const char *name)
{
	pfm_ctx_t *ctx = open_context();
	int pmu = (pfm_count_pmus(ctx), pfm_find_pmu(ctx, name));
	perfmon_pmu_info_t info = PFM_INIT(info);

	if (pmu < 0 || pfm_describe_pmu(ctx, pmu, &info))
		return 1;
	for (unsigned i = 0; i < info.n_events; i++) {
		perfmon_event_info_t ev = PFM_INIT(ev);
		pfm_encoding_t e = PFM_INIT(e);

		if (pfm_describe_event(ctx, pmu, i, &ev) ||
		    pfm_encode_event_at(ctx, pmu, i, PFM_PLM0 | PFM_PLM3, &e, NULL))
			continue;
		printf("%s::%s\t%#" PRIx64 "\n", name, ev.name, e.n_regs ? e.regs[0].value : 0);
	}
	return 0;
}

enum { MAX_SET = 64 };

/* Each line is a set: its size, the result code, the median and the largest of many times in ns. */
static int time_sets(const char *path)
{
	pfm_ctx_t *ctx = open_context();
	char line[8192];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f)) {
		const pfm_set_t *out;
		const char *events[MAX_SET];
		pfm_error_t why = PFM_INIT(why);
		double v[301];
		unsigned n = 0;
		int rc = 0;

		for (char *p = strtok(line, " \n"); p && n < MAX_SET; p = strtok(NULL, " \n"))
			events[n++] = p;
		for (unsigned k = 0; k < 301; k++) {
			double t = now_ns();

			rc = pfm_dispatch_set(&out, ctx, events, n, NULL, &why);
			pfm_close_set(out);
			v[k] = now_ns() - t;
		}
		printf("{\"n\": %u, \"rc\": %d, \"ns\": %.0f, \"max\": %.0f}\n", n, rc,
		       median_value(v, 301), v[300]);
	}
	return f ? fclose(f) : 1;
}

static unsigned read_names(char (*names)[128])
{
	unsigned count = 0, n = 0;

	pfm_get_num_events(&count);
	for (unsigned i = 0; i < count && n < MAX_EVENTS; i++)
		n += pfm_get_event_name(i, names[n], sizeof(names[n])) == PFMLIB_SUCCESS;
	return n;
}

/* pfm_find_event() for every name: the median over the names of each one's hot median. */
static int time_find3(int type)
{
	static char names[MAX_EVENTS][128];
	static double each[MAX_EVENTS];
	unsigned n, index;

	if (pfm_force_pmu(type))
		return 1;
	n = read_names(names);
	for (unsigned i = 0; i < n; i++) {
		double v[31];

		for (unsigned k = 0; k < 31; k++) {
			double t = now_ns();

			for (unsigned r = 0; r < 16; r++)
				pfm_find_event(names[i], &index);
			v[k] = (now_ns() - t) / 16;
		}
		each[i] = median_value(v, 31);
	}
	printf("{\"n\": %u, \"p50\": %.1f}\n", n, median_value(each, n));
	return 0;
}

/* Random sets of @n events that can be measured together. */
static int time_dispatch3(int type, unsigned n)
{
	static pfmlib_input_param_t in;
	static pfmlib_output_param_t out;
	static double each[200];
	unsigned count = 0, found = 0;
	uint32_t seed = 1;

	if (pfm_force_pmu(type) || pfm_get_num_events(&count) || !count)
		return 1;
	for (unsigned tries = 0; found < 200 && tries < 2000000; tries++) {
		double v[31];

		memset(&in, 0, sizeof(in));
		in.pfp_event_count = n;
		in.pfp_dfl_plm = PFM_PLM3;
		for (unsigned i = 0; i < n; i++)
			in.pfp_events[i].event = next_random(&seed) % count;
		if (pfm_dispatch_events(&in, NULL, &out, NULL))
			continue;
		for (unsigned k = 0; k < 31; k++) {
			double t = now_ns();

			for (unsigned r = 0; r < 16; r++)
				pfm_dispatch_events(&in, NULL, &out, NULL);
			v[k] = (now_ns() - t) / 16;
		}
		each[found++] = median_value(v, 31);
	}
	printf("{\"sets\": %u, \"p50\": %.1f}\n", found, median_value(each, found));
	return found == 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "list"))
		return time_list(argv[2]);
	if (!strcmp(what, "sets"))
		return time_sets(argv[2]);
	if (!strcmp(what, "find3"))
		return time_find3(atoi(argv[2]));
	if (!strcmp(what, "dispatch3") && argc > 3)
		return time_dispatch3(atoi(argv[2]), (unsigned)atoi(argv[3]));
	fputs("usage: more list PMU | sets FILE | find3 TYPE | dispatch3 TYPE N\n", stderr);
	return 2;
}
