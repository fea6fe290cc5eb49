/* SPDX-License-Identifier: MIT */
/* Places of samples as tables and as JSON: a table for each event, and for each slice of time. */
#include <math.h>
#include <string.h>
#include "pfm.h"
#include "report_view.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	unsigned key;
} key_names[] = {
	{ "task", KEY_TASK },       { "object", KEY_OBJECT }, { "symbol", KEY_SYMBOL },
	{ "line", KEY_LINE },       { "cpu", KEY_CPU },       { "cgroup", KEY_CGROUP },
	{ "address", KEY_ADDRESS },
};

bool read_report_keys(const char *text, unsigned *keys, const char **wrong)
{
	enum { N = sizeof(key_names) / sizeof(key_names[0]) };

	for (*keys = 0;; text++) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < N && (strlen(key_names[i].name) != len ||
		                 strncmp(key_names[i].name, text, len) != 0))
			i++;
		if (i == N) {
			*wrong = text;
			return false;
		}
		*keys |= key_names[i].key;
		text += len;
		if (!*text)
			return true;
	}
}

unsigned report_keys(const struct profile_options *o)
{
	return o->keys ? o->keys : KEY_TASK | KEY_OBJECT | KEY_SYMBOL;
}

/* ---- columns --------------------------------------------------------------------------------- */

const char *event_name(const struct profile *p, unsigned event)
{
	static char name[256];
	pfm_count_info_t info = PFM_INIT(info);

	name[0] = '\0';
	if (pfm_describe_count(p->session, event, &info) == PFMLIB_SUCCESS)
		snprintf(name, sizeof(name), "%s", info.name);
	return name;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct profile_sum *sum_of_place(const struct profile *p, const struct profile_place *at)
{
	return &p->sums[(size_t)at->event * p->n_slices + at->slice];
}

double standard_error(double share, uint64_t n)
{
	return n ? sqrt(share * (1 - share) / (double)n) : 0;
}

double slice_start(const struct profile *p, unsigned slice)
{
	return (double)(p->last_time - p->first_time) / 1e9 * slice / p->n_slices;
}

void put_share(double share, uint64_t n)
{
	printf("%6.2f%% +-%5.2f", 100 * share, 100 * standard_error(share, n));
}

/* Prints a column of @width; the blanks that fill it only before another column. */
static void put_column(const char *text, int width, int *pending)
{
	int len = (int)strlen(text);

	if (!len) {
		*pending += width + 1;
		return;
	}
	printf("%*s%s", *pending, "", text);
	*pending = len < width ? width - len + 1 : 1;
}

/* "inlined > inlined  file.c:12" after the function. */
static void put_spot(const struct profile *p, const struct profile_place *at, int *pending)
{
	char line[NAME_LINE];
	bool has_before = at->function;

	for (const char *s = p->texts.text[at->inlined]; *s; s += *s == ';') {
		int len = (int)strcspn(s, ";");

		if (!has_before)
			printf("%*s", *pending, "");
		printf("%s%.*s", has_before ? " > " : "", len, s);
		has_before = true;
		s += len;
	}
	if (!at->source)
		return;
	if (has_before)
		*pending = 2;
	put_column(profile_line(base_name(p->texts.text[at->source]), line), 0, pending);
}

void put_key_columns(const struct profile *p, const struct profile_place *at, unsigned keys,
                     unsigned depth)
{
	char line[NAME_LINE], number[24];
	int pending = 2;

	if (keys & KEY_CPU) {
		snprintf(number, sizeof(number), "%u", at->cpu);
		put_column(at->cpu == UNKNOWN_CPU ? "-" : number, 4, &pending);
	}
	if (keys & KEY_CGROUP)
		put_column(profile_line(p->texts.text[at->cgroup], line), 24, &pending);
	if (keys & KEY_TASK)
		put_column(profile_line(p->texts.text[at->task], line), 16, &pending);
	if (keys & KEY_OBJECT)
		put_column(profile_line(base_name(p->texts.text[at->object]), line), 24, &pending);
	if (keys & KEY_ADDRESS) {
		snprintf(number, sizeof(number), "%#llx", (unsigned long long)at->address);
		put_column(number, 18, &pending);
	}
	pending += 2 * (int)depth;
	if (keys & KEY_SYMBOL)
		put_column(profile_line(p->texts.text[at->function], line), 0, &pending);
	if (keys & KEY_LINE)
		put_spot(p, at, &pending);
	putchar('\n');
}

void put_group_title(const struct profile *p, unsigned event, unsigned slice)
{
	char number[GROUPED_MAX], title[NAME_LINE];

	printf("%s%s%s", term_colour_begin(stdout, BOLD), profile_line(event_name(p, event), title),
	       term_colour_end(stdout));
	if (p->n_slices > 1)
		printf(", %.3f to %.3f s", slice_start(p, slice), slice_start(p, slice + 1));
	printf(": %s samples\n",
	       group_digits(p->sums[(size_t)event * p->n_slices + slice].samples, number));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static double share_of(uint64_t weight, const struct profile_sum *sum)
{
	return (double)weight / (double)sum->weight;
}

static bool is_beyond_limit(const struct report_job *job, uint64_t shown)
{
	return job->line_limit && shown >= job->line_limit;
}

static void put_place(const struct report_job *job, const struct profile_place *at)
{
	const struct profile_sum *sum = sum_of_place(&job->profile, at);

	if (job->options.children) {
		put_share(share_of(at->children_weight, sum), sum->samples);
		fputs("  ", stdout);
	}
	put_share(share_of(at->weight, sum), sum->samples);
	put_metric_cells(job, at->counts);
	put_key_columns(&job->profile, at, report_keys(&job->options), 0);
}

/* The places from @i on that have one event and one slice. Returns the index of the next one. */
static size_t put_group(const struct report_job *job, size_t i)
{
	const struct profile *p = &job->profile;
	const struct profile_place *first = &p->places[i];
	uint64_t shown = 0, hidden = 0, rest = 0;

	put_group_title(p, first->event, first->slice);
	if (job->options.children)
		printf("%15s  %15s\n", "children", "self");
	if (job->n_columns) {
		printf("%15s", "samples");
		put_metric_titles(job);
		putchar('\n');
	}
	for (; i < p->n_places && p->places[i].event == first->event &&
	       p->places[i].slice == first->slice;
	     i++) {
		if (is_beyond_limit(job, shown)) {
			hidden++;
			rest += p->places[i].weight;
			continue;
		}
		shown++;
		put_place(job, &p->places[i]);
	}
	if (hidden)
		printf("%6.2f%%%s in %llu more place%s; -n 0 shows all\n",
		       100 * share_of(rest, sum_of_place(p, first)),
		       job->options.children ? " (self)" : "", (unsigned long long)hidden,
		       hidden > 1 ? "s" : "");
	putchar('\n');
	return i;
}

void put_places(const struct report_job *job)
{
	for (size_t i = 0; i < job->profile.n_places;)
		i = put_group(job, i);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void put_key_members(struct json *j, const struct profile *p, const struct profile_place *at,
                     unsigned keys)
{
	put_text(j, "event", event_name(p, at->event));
	if (p->n_slices > 1) {
		put_real(j, "from", slice_start(p, at->slice));
		put_real(j, "to", slice_start(p, at->slice + 1));
	}
	if (keys & KEY_CPU && at->cpu == UNKNOWN_CPU)
		put_null(j, "cpu");
	else if (keys & KEY_CPU)
		put_int(j, "cpu", at->cpu);
	if (keys & KEY_CGROUP)
		put_text(j, "cgroup", p->texts.text[at->cgroup]);
	if (keys & KEY_TASK)
		put_text(j, "task", p->texts.text[at->task]);
	if (keys & KEY_OBJECT)
		put_text(j, "object", p->texts.text[at->object]);
	if (keys & KEY_ADDRESS)
		put_hex(j, "address", at->address);
	if (keys & KEY_SYMBOL)
		put_text(j, "function", p->texts.text[at->function]);
	if (keys & KEY_LINE) {
		put_text(j, "inlined", p->texts.text[at->inlined]);
		put_text(j, "source", p->texts.text[at->source]);
	}
}

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
	double share = share_of(weight, sum);

	put_count_named(j, prefix, "samples", samples);
	put_count_named(j, prefix, "weight", weight);
	put_real_named(j, prefix, "share", share);
	put_real_named(j, prefix, "error", standard_error(share, sum->samples));
}

static void put_place_json(const struct report_job *job, const struct profile_place *at)
{
	const struct profile_sum *sum = sum_of_place(&job->profile, at);
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
	const struct profile *p = &job->profile;
	uint64_t shown = 0;

	for (size_t i = 0; i < p->n_places; i++) {
		if (i && (p->places[i].event != p->places[i - 1].event ||
		          p->places[i].slice != p->places[i - 1].slice))
			shown = 0;
		if (!is_beyond_limit(job, shown++))
			put_place_json(job, &p->places[i]);
	}
}
