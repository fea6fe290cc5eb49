/* SPDX-License-Identifier: MIT */
/* Writes results as a table for users. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text_output.h"
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

enum {
	LINE_COLUMNS = 80,
	HEADING_COLUMNS = 30, /* beside numbers of visits and threads */
	DURATION_SIZE = REAL_SIZE + 8
};

static const char *format_duration(uint64_t ns, char text[DURATION_SIZE])
{
	static const struct {
		uint64_t from;
		double unit;
		char name[4];
	} units[] = { { 1000000000, 1e9, "s" }, { 1000000, 1e6, "ms" }, { 1000, 1e3, "us" } };
	char number[REAL_SIZE];

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ns >= units[i].from) {
			snprintf(text, DURATION_SIZE, "%s %s",
			         pfmi_region_format_real(3, (double)ns / units[i].unit, number),
			         units[i].name);
			return text;
		}
	snprintf(text, DURATION_SIZE, "%" PRIu64 " ns", ns);
	return text;
}

/* Adds a part to a line of which *@used columns are used. It begins a new line if it would be
 * longer than a terminal. */
static void put_part(FILE *out, size_t *used, const char *text)
{
	size_t length = strlen(text);

	if (*used + 2 + length + 1 > LINE_COLUMNS) {
		fprintf(out, ";\n%*s%s", COUNT_COLUMNS + 2, "", text);
		*used = COUNT_COLUMNS + 2 + length;
		return;
	}
	fprintf(out, "; %s", text);
	*used += 2 + length;
}

static void put_plural(FILE *out, uint64_t n, const char *what)
{
	char buf[32];

	fprintf(out, "%s %s%s", format_grouped(n, buf), what, n == 1 ? "" : "s");
}

static void put_heading(FILE *out, const pfm_region_info_t *info)
{
	const size_t length = strlen(info->region), inside = strlen(info->parent);
	const bool is_long = length + inside > HEADING_COLUMNS;

	fputc('\n', out);
	base_put_line(out, info->region);
	if (inside) {
		fputs(is_long ? "\n  (in " : " (in ", out);
		base_put_line(out, info->parent);
		fputc(')', out);
	}
	if (info->thread)
		fprintf(out, info->thread > 0 ? ", thread %d" : ", threads that ended later",
		        info->thread);
	fputs(is_long ? ":\n  " : ": ", out);
	put_plural(out, info->visits, "visit");
	if (!info->thread && info->threads > 1)
		fprintf(out, " in %" PRIu64 " threads", info->threads);
	if (info->unfinished)
		fprintf(out, ", %" PRIu64 " unfinished", info->unfinished);
	fprintf(out, "\n");
	if (info->costly)
		fprintf(out, "%*s[begin and end cost more than 10 %% of a count]\n",
		        COUNT_COLUMNS + 2, "");
}

static void put_times(FILE *out, const pfm_region_info_t *info)
{
	char text[4 * DURATION_SIZE], one[DURATION_SIZE], two[DURATION_SIZE];
	size_t used;

	used = (size_t)fprintf(out, "%*swall %s, own %s", COUNT_COLUMNS + 2, "",
	                       format_duration(info->wall, one),
	                       format_duration(info->exclusive, two));
	if (info->task_visits)
		used += (size_t)fprintf(out, ", on a CPU %s", format_duration(info->task, one));
	if (info->wall_error) {
		snprintf(text, sizeof(text), "+- %s", format_duration(info->wall_error, one));
		put_part(out, &used, text);
	}
	if (info->outermost > 1) {
		snprintf(text, sizeof(text), "a visit %s to %s",
		         format_duration(info->wall_min, one),
		         format_duration(info->wall_max, two));
		put_part(out, &used, text);
	}
	fprintf(out, "\n");
}

/* Writes @text in lines of a terminal's width, below the names. */
static void put_wrapped(FILE *out, const char *text)
{
	const size_t room = LINE_COLUMNS - COUNT_COLUMNS - 2;

	while (*text) {
		size_t len = strlen(text), line = len > room ? room : len;

		while (line < len && line && text[line] != ' ')
			line--;
		line = line ? line : len; /* one long word */
		fprintf(out, "%*s%.*s\n", COUNT_COLUMNS + 2, "", (int)line, text);
		text += line + (text[line] == ' ');
	}
}

static void put_missing(FILE *out, const pfm_region_event_t *e, const pfm_region_count_t *c)
{
	const char *why = *e->why ? e->why : pfm_cause_name(c->cause);

	if (strlen(e->name) <= NAME_COLUMNS &&
	    COUNT_COLUMNS + NAME_COLUMNS + 4 + strlen(why) <= LINE_COLUMNS) {
		fprintf(out, "%*s  %-*s  %s\n", COUNT_COLUMNS, pfm_quality_name(c->quality),
		        NAME_COLUMNS, e->name, why);
		return;
	}
	fprintf(out, "%*s  %s\n", COUNT_COLUMNS, pfm_quality_name(c->quality), e->name);
	put_wrapped(out, why);
}

/* Formats a value with its unit. Times have the unit that suits them. */
static const char *format_value(const pfm_region_event_t *e, uint64_t value, double scale,
                                char text[VALUE_SIZE])
{
	char number[REAL_SIZE];

	if (!*e->unit && (scale == 1 || scale == 0))
		return format_grouped(value, text);
	if (strcmp(e->unit, "msec") == 0)
		return format_duration((uint64_t)((double)value * scale * 1e6 + 0.5), text);
	snprintf(text, VALUE_SIZE, "%s%s%s",
	         pfmi_region_format_real(3, (double)value * scale, number), *e->unit ? " " : "",
	         e->unit);
	return text;
}

/* "a visit 1 to 2, deviation 0.2" */
static void put_spread(FILE *out, size_t *used, const pfm_region_event_t *e,
                       const pfm_region_count_t *c)
{
	char text[3 * VALUE_SIZE], least[VALUE_SIZE], most[VALUE_SIZE], deviation[VALUE_SIZE];
	const double root = pfmi_region_compute_root(c->variance);

	snprintf(text, sizeof(text), "a visit %s to %s, deviation %s",
	         format_value(e, c->min, c->scale, least), format_value(e, c->max, c->scale, most),
	         strcmp(e->unit, "msec") == 0
	                 ? format_value(e, (uint64_t)(root + 0.5), c->scale, deviation)
	                 : pfmi_region_format_real(1, root * c->scale, deviation));
	put_part(out, used, text);
}

static void put_count(FILE *out, const pfm_region_info_t *info, const pfm_region_event_t *e,
                      const pfm_region_count_t *c)
{
	char text[VALUE_SIZE], own[VALUE_SIZE];
	size_t used;

	used = (size_t)fprintf(out, "%*s  %-*s", COUNT_COLUMNS,
	                       format_value(e, c->inclusive, c->scale, text), NAME_COLUMNS,
	                       e->name);
	if (strlen(e->name) > NAME_COLUMNS)
		used = (size_t)fprintf(out, "\n%*s", COUNT_COLUMNS, "") - 1;
	used += (size_t)fprintf(out, "  own %s", format_value(e, c->exclusive, c->scale, own));
	if (c->error) {
		snprintf(text, sizeof(text), "+- %s", format_value(e, c->error, c->scale, own));
		put_part(out, &used, text);
	}
	if (c->visits > 1)
		put_spread(out, &used, e, c);
	if (c->quality == PFM_QUALITY_PRETENDED)
		put_part(out, &used, pfm_quality_name(c->quality));
	if (c->visits != info->outermost) {
		snprintf(text, sizeof(text), "counted in %" PRIu64 " of %" PRIu64 " visits",
		         c->visits, info->outermost);
		put_part(out, &used, text);
	}
	if (e->whole_machine)
		put_part(out, &used, "whole machine while the region ran");
	fprintf(out, "\n");
}

static void put_metrics(FILE *out, const pfm_region_results_t *r, unsigned i)
{
	for (unsigned m = 0; m < r->layout->n_metrics; m++) {
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

/* Values whose intervals contain 0. */
struct short_values {
	FILE *names; /* to a text in memory */
	unsigned n;
	uint64_t most; /* visits that the values need which a number of visits helps */
};

static void add_short_value(struct short_values *s, const char *name, uint64_t enough)
{
	if (!enough || !s->names)
		return;
	fprintf(s->names, "%s%s", s->n++ ? ", " : "", name);
	if (enough != UINT64_MAX && enough > s->most)
		s->most = enough;
}

/* Writes which values of row @i are not larger than the error of the subtracted cost. */
static void put_short_values(FILE *out, const pfm_region_results_t *r, unsigned i,
                             const pfm_region_info_t *info)
{
	char *names = NULL, *text = NULL;
	size_t size;
	struct short_values s = { .names = open_memstream(&names, &size) };
	int length = -1;

	add_short_value(&s, "wall", info->enough_visits);
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);
		pfm_region_count_t c = PFM_INIT(c);

		pfmi_results_describe_event(r, k, &e);
		pfm_region_count(r, i, k, &c);
		if (pfmi_region_has_count(&c))
			add_short_value(&s, e.name, c.enough_visits);
	}
	if (s.names && !fclose(s.names) && s.n)
		length = s.most ? asprintf(&text,
		                           "[too short to measure: %s: use --visits %" PRIu64
		                           " or count more work]",
		                           names, s.most)
		                : asprintf(&text, "[too short to measure: %s: count more work]",
		                           names);
	if (length > 0) {
		put_wrapped(out, text);
		free(text);
	}
	free(names);
}

static void put_row(FILE *out, const pfm_region_results_t *r, unsigned i)
{
	pfm_region_info_t info = PFM_INIT(info);

	pfm_describe_region(r, i, &info);
	if (info.thread && !(r->flags & PFM_REGIONS_PER_THREAD))
		return;
	put_heading(out, &info);
	put_short_values(out, r, i, &info);
	put_times(out, &info);
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);
		pfm_region_count_t c = PFM_INIT(c);

		pfmi_results_describe_event(r, k, &e);
		pfm_region_count(r, i, k, &c);
		if (pfmi_region_has_count(&c))
			put_count(out, &info, &e, &c);
		else
			put_missing(out, &e, &c);
	}
	put_metrics(out, r, i);
}

/* Writes the cost of an empty visit: "41 ns, 96 instructions". */
static void put_cost(FILE *out, const pfm_region_results_t *r)
{
	char text[VALUE_SIZE], cost[2 * VALUE_SIZE];
	char pair[REAL_SIZE], inside[REAL_SIZE];
	size_t used;

	used = (size_t)fprintf(out, "Cost of an empty visit: %s ns (%s ns inside it)",
	                       pfmi_region_format_real(0, r->layout->wall_pair, pair),
	                       pfmi_region_format_real(0, r->layout->wall_inside, inside));
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfmi_results_describe_event(r, k, &e);
		if (e.cost_pair < 0.5)
			continue;
		snprintf(cost, sizeof(cost), "%s %s",
		         format_value(&e, (uint64_t)(e.cost_pair + 0.5), r->layout->events[k].scale,
		                      text),
		         e.name);
		put_part(out, &used, cost);
	}
	put_part(out, &used, r->flags & PFM_REGIONS_NO_SUBTRACT ? "not subtracted" : "subtracted");
	fprintf(out, "\n");
}

bool pfmi_region_write_table(FILE *out, const pfm_region_results_t *r)
{
	fputs("Regions of ", out);
	base_put_line(out, r->process.program);
	if (r->process.more)
		fprintf(out, ", %" PRIu64 " processes", 1 + r->process.more);
	else
		fprintf(out, ", process %d", r->process.pid);
	if (r->process.rank >= 0)
		fprintf(out, ", rank %d", r->process.rank);
	fputs("\n", out);
	put_cost(out, r);
	if (r->missed)
		fprintf(out,
		        "%" PRIu64 " begins and ends in signal handlers were ignored: they "
		        "interrupted another one.\n",
		        r->missed);
	if (r->unmatched) {
		fprintf(out, "%" PRIu64 " ends without a begin were ignored, one of region ",
		        r->unmatched);
		base_put_line(out, pfmi_results_get_name(r, r->unmatched_region));
		fputs(".\n", out);
	}
	if (!r->n)
		fprintf(out, "No region was entered.\n");
	for (unsigned i = 0; i < r->n; i++)
		put_row(out, r, i);
	return true;
}
