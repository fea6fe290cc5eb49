/* SPDX-License-Identifier: MIT */
/* Writes results as a table for users. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "region/region.h"

enum { COUNT_COLUMNS = 20, NAME_COLUMNS = 32, VALUE_SIZE = REAL_SIZE + 256 };

/* Formats a number as "1,234,567". */
static const char *format_grouped(uint64_t value, char buf[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value), at = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = 0;
	return buf;
}

static void put_duration(FILE *out, uint64_t ns)
{
	static const struct {
		uint64_t from;
		double unit;
		char name[4];
	} units[] = { { 1000000000, 1e9, "s" }, { 1000000, 1e6, "ms" }, { 1000, 1e3, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ns >= units[i].from) {
			pfmi_region_put_real(out, 3, (double)ns / units[i].unit);
			fprintf(out, " %s", units[i].name);
			return;
		}
	fprintf(out, "%" PRIu64 " ns", ns);
}

/* Newton's method, because the library does not use libm. */
static double compute_root(double v)
{
	double x = v > 1 ? v : 1;

	while (v > 0) {
		double next = (x + v / x) / 2;

		if (next >= x)
			return x;
		x = next;
	}
	return 0;
}

static void put_plural(FILE *out, uint64_t n, const char *what)
{
	char buf[32];

	fprintf(out, "%s %s%s", format_grouped(n, buf), what, n == 1 ? "" : "s");
}

static void put_heading(FILE *out, const pfm_region_info_t *info)
{
	fprintf(out, "\n%s", info->region);
	if (*info->parent)
		fprintf(out, " (in %s)", info->parent);
	if (info->thread)
		fprintf(out, info->thread > 0 ? ", thread %d" : ", threads that ended later",
		        info->thread);
	fprintf(out, ": ");
	put_plural(out, info->visits, "visit");
	if (!info->thread && info->threads > 1)
		fprintf(out, " in %" PRIu64 " threads", info->threads);
	if (info->unfinished)
		fprintf(out, ", %" PRIu64 " unfinished", info->unfinished);
	if (info->costly)
		fprintf(out, "  [begin and end cost more than 10 %% of a count]");
	fprintf(out, "\n");
}

static void put_times(FILE *out, const pfm_region_info_t *info)
{
	fprintf(out, "%*swall ", COUNT_COLUMNS + 2, "");
	put_duration(out, info->wall);
	fprintf(out, ", own ");
	put_duration(out, info->exclusive);
	if (info->task_visits) {
		fprintf(out, ", on a CPU ");
		put_duration(out, info->task);
	}
	if (info->outermost > 1) {
		fprintf(out, "; a visit ");
		put_duration(out, info->wall_min);
		fprintf(out, " to ");
		put_duration(out, info->wall_max);
	}
	fprintf(out, "\n");
}

static void put_missing(FILE *out, const pfm_region_event_t *e, const pfm_region_count_t *c)
{
	fprintf(out, "%*s  %-*s%s%s\n", COUNT_COLUMNS, pfm_quality_name(c->quality), NAME_COLUMNS,
	        e->name, *e->why ? "  " : "", *e->why ? e->why : pfm_cause_name(c->cause));
}

/* Formats a value with its unit. */
static const char *format_value(const pfm_region_event_t *e, uint64_t value, double scale,
                                char text[VALUE_SIZE])
{
	char number[REAL_SIZE];

	if (!*e->unit && (scale == 1 || scale == 0))
		return format_grouped(value, text);
	snprintf(text, VALUE_SIZE, "%s%s%s",
	         pfmi_region_format_real(3, (double)value * scale, number), *e->unit ? " " : "",
	         e->unit);
	return text;
}

static void put_count(FILE *out, const pfm_region_info_t *info, const pfm_region_event_t *e,
                      const pfm_region_count_t *c)
{
	char text[VALUE_SIZE];

	fprintf(out, "%*s  %-*s  own ", COUNT_COLUMNS,
	        format_value(e, c->inclusive, c->scale, text), NAME_COLUMNS, e->name);
	fputs(format_value(e, c->exclusive, c->scale, text), out);
	if (c->visits > 1) {
		fprintf(out, "; a visit %s", format_value(e, c->min, c->scale, text));
		fprintf(out, " to %s, deviation ", format_value(e, c->max, c->scale, text));
		pfmi_region_put_real(out, 1, compute_root(c->variance) * c->scale);
	}
	if (c->quality != PFM_QUALITY_EXACT)
		fprintf(out, "; counted in %" PRIu64 " of %" PRIu64 " visits", c->visits,
		        info->outermost);
	if (e->whole_machine)
		fprintf(out, "; whole machine while the region ran");
	fprintf(out, "\n");
}

static void put_metrics(FILE *out, const pfm_region_results_t *r, unsigned i)
{
	for (unsigned m = 0; m < pfm_count_region_metrics(); m++) {
		pfm_session_metric_t value = PFM_INIT(value);
		const char *name;

		if (pfm_region_metric(r, i, m, &name, &value))
			continue;
		if (value.state != PFM_METRIC_DEFINED) {
			fprintf(out, "%*s  %s\n", COUNT_COLUMNS, pfm_metric_state_name(value.state),
			        name);
			continue;
		}
		fprintf(out, "%*s", COUNT_COLUMNS - 12, "");
		pfmi_region_put_real(out, 4, value.value);
		fprintf(out, "  %s\n", name);
	}
}

static void put_row(FILE *out, const pfm_region_results_t *r, unsigned i)
{
	pfm_region_info_t info = PFM_INIT(info);

	pfm_describe_region(r, i, &info);
	if (info.thread && !(r->flags & PFM_REGIONS_PER_THREAD))
		return;
	put_heading(out, &info);
	put_times(out, &info);
	for (unsigned k = 0; k < pfm_count_region_events(); k++) {
		pfm_region_event_t e = PFM_INIT(e);
		pfm_region_count_t c = PFM_INIT(c);

		pfm_describe_region_event(k, &e);
		pfm_region_count(r, i, k, &c);
		if (c.quality == PFM_QUALITY_EXACT || c.quality == PFM_QUALITY_PARTIAL)
			put_count(out, &info, &e, &c);
		else
			put_missing(out, &e, &c);
	}
	put_metrics(out, r, i);
}

/* Writes the cost of an empty visit: "41 ns, 96 instructions". */
static void put_cost(FILE *out, const pfm_region_results_t *r)
{
	char text[VALUE_SIZE];
	double inside, pair;

	pfm_region_cost(&inside, &pair);
	fprintf(out, "Cost of an empty visit: ");
	pfmi_region_put_real(out, 0, pair);
	fprintf(out, " ns (");
	pfmi_region_put_real(out, 0, inside);
	fprintf(out, " ns inside it)");
	for (unsigned k = 0; k < pfm_count_region_events(); k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfm_describe_region_event(k, &e);
		if (e.cost_pair < 0.5)
			continue;
		fprintf(out, ", %s %s",
		        format_value(&e, (uint64_t)(e.cost_pair + 0.5),
		                     pfmi_regions.layout.events[k].scale, text),
		        e.name);
	}
	fprintf(out, r->flags & PFM_REGIONS_NO_SUBTRACT ? "; not subtracted\n" : "; subtracted\n");
}

bool pfmi_region_write_table(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "Regions of %s, process %d\n", program_invocation_short_name, (int)getpid());
	put_cost(out, r);
	if (r->missed)
		fprintf(out,
		        "%" PRIu64 " begins and ends in signal handlers were ignored: they "
		        "interrupted another one.\n",
		        r->missed);
	if (r->unmatched)
		fprintf(out, "%" PRIu64 " ends without a begin were ignored.\n", r->unmatched);
	if (!r->n)
		fprintf(out, "No region was entered.\n");
	for (unsigned i = 0; i < r->n; i++)
		put_row(out, r, i);
	return true;
}
