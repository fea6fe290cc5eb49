/* SPDX-License-Identifier: MIT */
/* pfm diff of results of regions: files of pfm stat --regions --json.
 *
 * The value of a region is its mean for each visit. With several processes on a side, such as those
 * of several runs, the processes are the sample; else the visits are. */
#include "diff/regions.h"
#include "base/text_output.h"
#include "common/pfm.h"
#include "diff/stats.h"
#include "diff/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A metric of a region in one process. */
struct observation {
	json_t *row; /* has the texts */
	const char *region, *parent, *metric;
	enum diff_side_name { OLD, NEW } side;
	double value, visits, variance; /* of a visit; variance: negative if unknown */
};

struct sample {
	unsigned n; /* processes */
	double sum, squares;
	double visits, variance; /* of the last process */
};

struct change {
	const struct observation *of;
	struct sample sides[SIDES];
	double means[SIDES], errors[SIDES], freedom; /* error: variance of the mean */
	double low, high, probability;
	bool is_significant;
};

struct region_diff {
	struct observation *observations;
	size_t n, room;
	struct change *changes;
	size_t n_changes;
	double confidence;
};

bool is_region_file(const char *path)
{
	FILE *in = fopen(path, "re");
	int c = in ? getc(in) : EOF;

	if (in)
		fclose(in);
	return c == '{';
}

/* ---- reading ----------------------------------------------------------------------------- */

static bool add_observation(struct region_diff *d, const struct observation *o)
{
	if (d->n == d->room) {
		size_t room = d->room ? 2 * d->room : 64;
		struct observation *more = realloc(d->observations, room * sizeof(*more));

		if (!more)
			return false;
		d->observations = more;
		d->room = room;
	}
	d->observations[d->n] = *o;
	json_incref(o->row);
	d->n++;
	return true;
}

static double get_variance(const json_t *of)
{
	const json_t *variance = json_object_get(of, "variance");

	return json_is_number(variance) ? json_number_value(variance) : -1;
}

/* Adds the metric called @metric, whose sum and variance are in @of, over @visits. */
static bool add_metric(struct region_diff *d, struct observation *o, const char *metric,
                       const json_t *of, const json_t *visits)
{
	const json_t *sum = json_object_get(of, "inclusive");

	if (!json_is_number(sum) || !(json_number_value(visits) > 0))
		return true;
	o->metric = metric;
	o->visits = json_number_value(visits);
	o->value = json_number_value(sum) / o->visits;
	o->variance = get_variance(of);
	return add_observation(d, o);
}

/* Adds a line of a file. False without memory. */
static bool add_line(struct region_diff *d, json_t *row, enum diff_side_name side)
{
	const char *region = json_string_value(json_object_get(row, "region")),
		   *parent = json_string_value(json_object_get(row, "parent")),
		   *thread = json_string_value(json_object_get(row, "thread"));
	const json_t *counts = json_object_get(row, "counts"), *visits, *count;
	struct observation o = { row, region, parent ? parent : "", NULL, side, 0, 0, 0 };
	size_t i;

	if (!region || !thread || strcmp(thread, "all") != 0)
		return true;
	visits = json_object_get(row, "outermost");
	visits = visits ? visits : json_object_get(row, "visits");
	if (!add_metric(d, &o, "wall_ns", json_object_get(row, "wall_ns"), visits))
		return false;
	json_array_foreach (counts, i, count) {
		const char *event = json_string_value(json_object_get(count, "event"));

		if (event && !add_metric(d, &o, event, count, json_object_get(count, "visits")))
			return false;
	}
	return true;
}

/* Reads @path. Returns an exit status. */
static int read_file(struct region_diff *d, const char *path, enum diff_side_name side)
{
	FILE *in = fopen(path, "re");
	size_t size = 0, number = 0;
	char *line = NULL;
	int status = EXIT_DONE;
	json_error_t error;
	ssize_t n;

	if (!in) {
		fprintf(stderr, "pfm diff: %s: %s\n", path, strerror(errno));
		return EXIT_TROUBLE;
	}
	while (status == EXIT_DONE && (n = getline(&line, &size, in)) > 0) {
		json_t *row = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, &error);

		number++;
		if (!row) {
			fprintf(stderr,
			        "pfm diff: %s: line %zu is not JSON: expected a file of pfm stat "
			        "--regions --json\n",
			        path, number);
			status = EXIT_TROUBLE;
		} else if (!add_line(d, row, side)) {
			status = report_no_memory();
		}
		json_decref(row);
	}
	free(line);
	fclose(in);
	return status;
}

/* ---- comparing --------------------------------------------------------------------------- */

static int compare_places(const struct observation *x, const struct observation *y)
{
	int order = strcmp(x->region, y->region);

	order = order ? order : strcmp(x->parent, y->parent);
	return order ? order : strcmp(x->metric, y->metric);
}

static int compare_observations(const void *a, const void *b)
{
	return compare_places(a, b);
}

static void add_to_sample(struct sample *s, const struct observation *o)
{
	s->n++;
	s->sum += o->value;
	s->squares += o->value * o->value;
	s->visits = o->visits;
	s->variance = o->variance;
}

/* Computes mean, variance of the mean, and degrees of freedom. False if one visit is all. */
static bool evaluate_sample(const struct sample *s, double *mean, double *error, double *freedom)
{
	double variance = s->variance, n = s->visits;

	*mean = s->sum / s->n;
	if (s->n > 1) {
		n = s->n;
		variance = (s->squares - s->sum * *mean) / (n - 1);
		/* The difference of two equal numbers may be a rounding error. */
		if (variance < 1e-12 * *mean * *mean)
			variance = 0;
	}
	*error = variance / n;
	*freedom = n - 1;
	return variance >= 0 && n > 1;
}

/* Welch's test. */
static void evaluate_change(struct change *c, double confidence)
{
	double freedom[SIDES], error, t, ratio;

	c->probability = 1;
	c->low = -INFINITY;
	c->high = INFINITY;
	for (unsigned side = 0; side < SIDES; side++)
		if (!evaluate_sample(&c->sides[side], &c->means[side], &c->errors[side],
		                     &freedom[side]))
			return;
	error = c->errors[OLD] + c->errors[NEW];
	c->freedom = error > 0 ? error * error /
	                                 (c->errors[OLD] * c->errors[OLD] / freedom[OLD] +
	                                  c->errors[NEW] * c->errors[NEW] / freedom[NEW])
	                       : 1;
	ratio = c->means[NEW] / c->means[OLD];
	c->low = c->high = ratio - 1;
	if (!(error > 0)) {
		c->probability = c->means[NEW] == c->means[OLD];
		return;
	}
	c->probability = compute_student_probability((c->means[NEW] - c->means[OLD]) / sqrt(error),
	                                             c->freedom);
	t = student_quantile(confidence, c->freedom) *
	    sqrt(c->errors[NEW] + ratio * ratio * c->errors[OLD]) / c->means[OLD];
	c->low -= t;
	c->high += t;
}

/* Makes a change of each place that both sides have. False without memory. */
static bool group_observations(struct region_diff *d)
{
	if (d->n)
		qsort(d->observations, d->n, sizeof(*d->observations), compare_observations);
	d->changes = calloc(d->n + 1, sizeof(*d->changes));
	for (size_t i = 0, n; d->changes && i < d->n; i += n) {
		struct change *c = &d->changes[d->n_changes];

		*c = (struct change){ .of = &d->observations[i] };
		for (n = 0; i + n < d->n && compare_places(c->of, c->of + n) == 0; n++)
			add_to_sample(&c->sides[c->of[n].side], &c->of[n]);
		if (c->sides[OLD].n && c->sides[NEW].n && c->sides[OLD].sum > 0) {
			evaluate_change(c, d->confidence);
			d->n_changes++;
		}
	}
	return d->changes != NULL;
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double i = fabs(x->means[NEW] / x->means[OLD] - 1),
	       j = fabs(y->means[NEW] / y->means[OLD] - 1);

	if (x->is_significant != y->is_significant)
		return x->is_significant ? -1 : 1;
	return i != j ? (i > j ? -1 : 1) : compare_places(x->of, y->of);
}

/* Marks changes so that comparisons of equal programs have no mark at all in most cases, however
 * many regions there are. False without memory. */
static bool mark_changes(struct region_diff *d)
{
	double *p = calloc(d->n_changes + 1, sizeof(*p));
	bool is_done;

	for (size_t i = 0; p && i < d->n_changes; i++)
		p[i] = d->changes[i].probability;
	is_done = p && adjust_probabilities(p, d->n_changes, FALSE_ALARMS);
	for (size_t i = 0; is_done && i < d->n_changes; i++) {
		d->changes[i].probability = p[i];
		d->changes[i].is_significant = p[i] < 1 - d->confidence;
	}
	free(p);
	if (is_done)
		qsort(d->changes, d->n_changes, sizeof(*d->changes), compare_changes);
	return is_done;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_change(const struct change *c)
{
	char interval[32] = "unknown";

	if (isfinite(c->low))
		snprintf(interval, sizeof(interval), "%+.2f to %+.2f %%", 100 * c->low,
		         100 * c->high);
	printf("%c %+9.2f %%  %-20s %11.5g %11.5g  ", c->is_significant ? '*' : ' ',
	       100 * (c->means[NEW] / c->means[OLD] - 1), interval, c->means[OLD], c->means[NEW]);
	base_put_line(stdout, c->of->metric);
	printf("  ");
	base_put_line(stdout, c->of->region);
	if (*c->of->parent) {
		printf(" (in ");
		base_put_line(stdout, c->of->parent);
		printf(")");
	}
	printf("\n");
}

static void print_table(const struct region_diff *d)
{
	size_t n = 0;

	printf("       change  %-20s %11s %11s  metric of a visit  region\n", "interval", "old",
	       "new");
	for (size_t i = 0; i < d->n_changes; i++) {
		print_change(&d->changes[i]);
		n += d->changes[i].is_significant;
	}
	if (!n)
		printf("No significant difference.\n");
}

static void print_json(const struct region_diff *d)
{
	for (size_t i = 0; i < d->n_changes; i++) {
		const struct change *c = &d->changes[i];
		struct json j = { .out = stdout };

		put_begin(&j, NULL, '{');
		put_text(&j, "region", c->of->region);
		put_text(&j, "parent", c->of->parent);
		put_text(&j, "metric", c->of->metric);
		put_number(&j, "old", c->means[OLD]);
		put_number(&j, "new", c->means[NEW]);
		put_number(&j, "change", c->means[NEW] / c->means[OLD] - 1);
		put_number(&j, "low", c->low);
		put_number(&j, "high", c->high);
		put_number(&j, "probability", c->probability);
		put_bool(&j, "significant", c->is_significant);
		put_end(&j, '}');
		put_line(&j);
	}
}

static int report_slower(const struct region_diff *d, double limit)
{
	size_t n = 0;

	for (size_t i = 0; limit >= 0 && i < d->n_changes; i++)
		n += d->changes[i].is_significant && d->changes[i].low > limit;
	if (!n)
		return EXIT_DONE;
	fprintf(stderr, "pfm diff: %zu value%s of regions grew by more than %g%%\n", n,
	        n > 1 ? "s" : "", 100 * limit);
	return EXIT_REGRESSED;
}

int diff_region_files(const struct diff_job *job)
{
	struct region_diff d = { .confidence = job->diff.confidence };
	int status = EXIT_DONE;

	for (unsigned i = 0; i < job->diff.n_recordings && status == EXIT_DONE; i++)
		status = read_file(&d, job->diff.recordings[i].path,
		                   job->diff.recordings[i].side == OLD_SIDE ? OLD : NEW);
	if (status == EXIT_DONE && (!group_observations(&d) || !mark_changes(&d)))
		status = report_no_memory();
	if (status == EXIT_DONE) {
		if (job->json)
			print_json(&d);
		else
			print_table(&d);
		status = report_slower(&d, job->fail_above);
	}
	for (size_t i = 0; i < d.n; i++)
		json_decref(d.observations[i].row);
	free(d.observations);
	free(d.changes);
	return status;
}
