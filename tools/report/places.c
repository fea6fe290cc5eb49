/* SPDX-License-Identifier: MIT */
/* Places of samples as tables and as JSON: a table for each event, and for each slice of time. */
#include <math.h>
#include <string.h>
#include "common/pfm.h"
#include "report/view.h"

/* ---- columns --------------------------------------------------------------------------------- */

const char *get_event_name(const struct profile *p, unsigned event)
{
	static char name[256];
	pfm_count_info_t info = PFM_INIT(info);

	name[0] = '\0';
	if (pfm_describe_count(p->session, event, &info) == PFMLIB_SUCCESS)
		snprintf(name, sizeof(name), "%s", info.name);
	return name;
}

const struct profile_sum *get_place_sum(const struct profile *p, const struct profile_place *at)
{
	return &p->sums[(size_t)at->event * p->n_slices + at->slice];
}

uint64_t count_profile_samples(const struct profile *p)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < p->n_events; i++)
		n += p->samples[i];
	return n;
}

/* Standard error of a share of samples; an emulator's counts have none. */
static double standard_error(double share, const struct profile_sum *sum)
{
	return sum->samples && !sum->is_counted ? sqrt(share * (1 - share) / (double)sum->samples)
	                                        : 0;
}

double compute_slice_start(const struct profile *p, unsigned slice)
{
	return (double)time_span_length(&p->sampled) / 1e9 * slice / p->n_slices;
}

void put_share(FILE *out, double share, const struct profile_sum *sum)
{
	fprintf(out, "%6.2f%% +-%5.2f", 100 * share, 100 * standard_error(share, sum));
}

/* The samples of each event that samples, of a report of metrics: "cycles 100, instructions 100".
 * False if there are not several. */
static bool put_samples_of_leaders(const struct profile *p)
{
	const struct event_counts *c = &p->counts;
	char number[GROUPED_MAX], title[NAME_LINE];
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_events; i++)
		n += c->leader[i] == i && c->added[i];
	if (n < 2 || p->n_slices > 1)
		return false;
	fputs("samples:", stdout);
	for (unsigned i = 0; i < c->n_events; i++)
		if (c->leader[i] == i && c->added[i])
			printf(" %s of %s%s", group_digits(c->added[i], number),
			       profile_format_line(get_event_name(p, i), title), --n ? "," : "\n");
	return true;
}

void put_group_title(const struct profile *p, unsigned event, unsigned slice)
{
	char number[GROUPED_MAX], title[NAME_LINE];

	if (put_samples_of_leaders(p))
		return;
	printf("%s%s%s", term_colour_begin(stdout, BOLD),
	       profile_format_line(get_event_name(p, event), title), term_colour_end(stdout));
	if (p->n_slices > 1)
		printf(", %.3f to %.3f s", compute_slice_start(p, slice),
		       compute_slice_start(p, slice + 1));
	printf(": %s samples\n",
	       group_digits(p->sums[(size_t)event * p->n_slices + slice].samples, number));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static double compute_share(uint64_t weight, const struct profile_sum *sum)
{
	return (double)weight / (double)sum->weight;
}

static void put_place(const struct report_job *job, const struct profile_place *at,
                      const struct key_layout *layout)
{
	const struct profile_sum *sum = get_place_sum(&job->profile, at);

	if (job->options.children) {
		put_share(stdout, compute_share(at->children_weight, sum), sum);
		fputs("  ", stdout);
	}
	put_share(stdout, compute_share(at->weight, sum), sum);
	put_metric_cells(job, at->counts);
	put_key_columns(stdout, &job->profile, at, report_keys(&job->options), layout, 0);
}

/* Places of one event and slice, from number @i on; *@n_shown: those within the limit. Returns the
 * number of all. */
static size_t count_group(const struct report_job *job, size_t i, size_t *n_shown)
{
	const struct profile *p = &job->profile;
	size_t n = 1;

	while (i + n < p->n_places && p->places[i + n].event == p->places[i].event &&
	       p->places[i + n].slice == p->places[i].slice)
		n++;
	*n_shown = job->line_limit && job->line_limit < n ? (size_t)job->line_limit : n;
	return n;
}

size_t measure_share_columns(const struct report_job *job)
{
	return job->has_two_shares ? 2 * SHARE_COLUMNS + 2 : SHARE_COLUMNS;
}

size_t measure_room_after(const struct report_job *job, size_t used)
{
	return job->terminal_columns > used ? job->terminal_columns - used : 0;
}

/* The layout of @n places from number @i on. */
static struct key_layout lay_out_places(const struct report_job *job, size_t i, size_t n)
{
	unsigned keys = report_keys(&job->options);
	struct key_layout layout = { 0 };

	if (!job->terminal_columns)
		return plain_key_layout;
	for (size_t end = i + n; i < end; i++)
		measure_keys(&layout, &job->profile, &job->profile.places[i], keys, 0);
	fit_keys(&layout, keys,
	         measure_room_after(job, measure_share_columns(job) + measure_metric_cells(job)));
	return layout;
}

/* The places from @i on that have one event and one slice. Returns the index of the next one. */
static size_t put_group(const struct report_job *job, size_t i)
{
	const struct profile *p = &job->profile;
	const struct profile_place *first = &p->places[i];
	size_t shown, n = count_group(job, i, &shown);
	const struct key_layout layout = lay_out_places(job, i, shown);
	uint64_t rest = 0;

	put_group_title(p, first->event, first->slice);
	if (job->options.children)
		printf("%15s  %15s\n", "children", "self");
	if (job->n_columns) {
		printf("%15s", "samples");
		put_metric_titles(job);
		putchar('\n');
	}
	for (size_t k = i; k < i + shown; k++)
		put_place(job, &p->places[k], &layout);
	for (size_t k = i + shown; k < i + n; k++)
		rest += p->places[k].weight;
	if (n > shown)
		printf("%6.2f%%%s in %zu more place%s; -n 0 shows all\n",
		       100 * compute_share(rest, get_place_sum(p, first)),
		       job->options.children ? " (self)" : "", n - shown, n - shown > 1 ? "s" : "");
	putchar('\n');
	return i + n;
}

void put_places(const struct report_job *job)
{
	for (size_t i = 0; i < job->profile.n_places;)
		i = put_group(job, i);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_real_named(struct json *j, const char *prefix, const char *name, double value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	put_real(j, key, value);
}

static void put_count_named(struct json *j, const char *prefix, const char *name, uint64_t value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	put_count(j, key, value);
}

void put_share_members(struct json *j, const char *prefix, uint64_t samples, uint64_t weight,
                       const struct profile_sum *sum)
{
	double share = compute_share(weight, sum);

	put_count_named(j, prefix, "samples", samples);
	put_count_named(j, prefix, "weight", weight);
	put_real_named(j, prefix, "share", share);
	put_real_named(j, prefix, "error", standard_error(share, sum));
}

static void put_place_json(const struct report_job *job, const struct profile_place *at)
{
	const struct profile_sum *sum = get_place_sum(&job->profile, at);
	struct json j = { .out = stdout };

	put_begin(&j, NULL, '{');
	put_key_members(&j, &job->profile, at, report_keys(&job->options));
	put_share_members(&j, "", at->samples, at->weight, sum);
	if (job->options.children)
		put_share_members(&j, "children_", at->children_samples, at->children_weight, sum);
	put_metric_members(&j, job, at->counts);
	put_end(&j, '}');
	put_line(&j);
}

void put_places_json(const struct report_job *job)
{
	size_t shown, n;

	for (size_t i = 0; i < job->profile.n_places; i += n) {
		n = count_group(job, i, &shown);
		for (size_t k = i; k < i + shown; k++)
			put_place_json(job, &job->profile.places[k]);
	}
}
