/* SPDX-License-Identifier: MIT */
/* pfm diff of results of regions: files of pfm stat --regions --json.
 *
 * The value of a region is its mean for each visit. With several runs on a side, the runs are the
 * sample; else the visits are. A process without the number of its run is a run. */
#include "diff/regions.h"
#include "base/text_output.h"
#include "common/pfm.h"
#include "diff/region_rows.h"
#include "diff/stats.h"
#include "diff/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct sample {
	unsigned n; /* runs */
	double sum, squares;
	double visits, variance; /* of the last run */
};

struct change {
	const struct region_value *of;
	struct sample sides[SIDES];
	double means[SIDES], errors[SIDES], freedom; /* error: variance of the mean */
	double low, high, probability;
	bool is_significant;
};

/* A region that one side has entered. */
struct lone_region {
	const struct region_value *of;
	unsigned side;
};

struct region_diff {
	const struct region_comparison *how;
	struct region_values values;
	struct change *changes;
	struct lone_region *lone;
	size_t n_changes, n_lone;
};

bool is_region_file(const char *path)
{
	struct stat s;
	/* Bytes read from a pipe are lost for the reader of recordings. */
	FILE *in = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "re") : NULL;
	int c = in ? getc(in) : EOF;

	if (in)
		fclose(in);
	return c == '{';
}

/* ---- comparing --------------------------------------------------------------------------- */

static void add_to_sample(struct sample *s, const struct region_value *v)
{
	const double value = v->is_total ? v->sum : v->sum / v->visits;

	s->n++;
	s->sum += value;
	s->squares += value * value;
	s->visits = v->visits;
	s->variance = v->variance;
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
	bool is_known = true;

	c->probability = 1;
	c->low = -INFINITY;
	c->high = INFINITY;
	for (unsigned side = 0; side < SIDES; side++)
		is_known &= evaluate_sample(&c->sides[side], &c->means[side], &c->errors[side],
		                            &freedom[side]);
	if (!is_known)
		return;
	error = c->errors[OLD_SIDE] + c->errors[NEW_SIDE];
	c->freedom =
		error > 0 ? error * error /
				    (c->errors[OLD_SIDE] * c->errors[OLD_SIDE] / freedom[OLD_SIDE] +
	                             c->errors[NEW_SIDE] * c->errors[NEW_SIDE] / freedom[NEW_SIDE])
			  : 1;
	if (error > 0)
		c->probability = compute_student_probability(
			(c->means[NEW_SIDE] - c->means[OLD_SIDE]) / sqrt(error), c->freedom);
	else
		c->probability = c->means[NEW_SIDE] == c->means[OLD_SIDE];
	if (!(c->means[OLD_SIDE] > 0))
		return;
	ratio = c->means[NEW_SIDE] / c->means[OLD_SIDE];
	c->low = c->high = ratio - 1;
	t = student_quantile(confidence, c->freedom) *
	    sqrt(c->errors[NEW_SIDE] + ratio * ratio * c->errors[OLD_SIDE]) / c->means[OLD_SIDE];
	c->low -= t;
	c->high += t;
}

/* Notes a region that one side alone has entered. Each region has a value for its visits. */
static void add_lone_region(struct region_diff *d, const struct change *c)
{
	if (c->of->is_total)
		d->lone[d->n_lone++] =
			(struct lone_region){ c->of, c->sides[NEW_SIDE].n ? NEW_SIDE : OLD_SIDE };
}

/* A region that is entered as often as before needs no line about that. */
static bool is_same_number(const struct change *c)
{
	return c->of->is_total && c->means[OLD_SIDE] == c->means[NEW_SIDE];
}

/* Makes a change of each place that both sides have. False without memory. */
static bool group_values(struct region_diff *d)
{
	const struct region_values *v = &d->values;

	join_region_values(&d->values);
	d->changes = calloc(v->n + 1, sizeof(*d->changes));
	d->lone = calloc(v->n + 1, sizeof(*d->lone));
	for (size_t i = 0, n; d->changes && d->lone && i < v->n; i += n) {
		struct change *c = &d->changes[d->n_changes];

		*c = (struct change){ .of = &v->at[i] };
		for (n = 0; i + n < v->n && compare_region_places(c->of, c->of + n) == 0; n++)
			add_to_sample(&c->sides[c->of[n].side], &c->of[n]);
		if (!c->sides[OLD_SIDE].n || !c->sides[NEW_SIDE].n) {
			add_lone_region(d, c);
		} else if (c->sides[OLD_SIDE].sum > 0 || c->sides[NEW_SIDE].sum > 0) {
			evaluate_change(c, d->how->confidence);
			d->n_changes += !is_same_number(c);
		}
	}
	return d->changes && d->lone;
}

/* The growth of the mean as a fraction of the old one; infinite from 0. */
static double get_growth(const struct change *c)
{
	return c->means[OLD_SIDE] > 0 ? c->means[NEW_SIDE] / c->means[OLD_SIDE] - 1 : INFINITY;
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double i = fabs(get_growth(x)), j = fabs(get_growth(y));

	if (x->is_significant != y->is_significant)
		return x->is_significant ? -1 : 1;
	return i != j ? (i > j ? -1 : 1) : compare_region_places(x->of, y->of);
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
		d->changes[i].is_significant = p[i] < 1 - d->how->confidence;
	}
	free(p);
	if (is_done)
		qsort(d->changes, d->n_changes, sizeof(*d->changes), compare_changes);
	return is_done;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_place(FILE *out, const struct region_value *of)
{
	base_put_line(out, of->region);
	if (*of->parent) {
		fputs(" (in ", out);
		base_put_line(out, of->parent);
		fputc(')', out);
	}
	fputc('\n', out);
}

static void print_change(FILE *out, const struct change *c)
{
	char interval[32] = "unknown", change[32] = "from 0";

	if (isfinite(c->low))
		snprintf(interval, sizeof(interval), "%+.2f to %+.2f %%", 100 * c->low,
		         100 * c->high);
	if (c->means[OLD_SIDE] > 0)
		snprintf(change, sizeof(change), "%+.2f %%", get_growth(c) * 100);
	fprintf(out, "%c %11s  %-20s %11.5g %11.5g  ", c->is_significant ? '*' : ' ', change,
	        interval, c->means[OLD_SIDE], c->means[NEW_SIDE]);
	base_put_line(out, c->of->metric);
	fputs(c->of->is_total ? " of a run  " : "  ", out);
	print_place(out, c->of);
}

static void print_table(FILE *out, const struct region_diff *d)
{
	static const char *const sides[SIDES] = { "old", "new" };
	size_t n = 0;

	fprintf(out, "       change  %-20s %11s %11s  metric of a visit  region\n", "interval",
	        "old", "new");
	for (size_t i = 0; i < d->n_changes; i++) {
		print_change(out, &d->changes[i]);
		n += d->changes[i].is_significant;
	}
	for (size_t i = 0; i < d->n_lone; i++) {
		fprintf(out, "Only in %s: ", sides[d->lone[i].side]);
		print_place(out, d->lone[i].of);
	}
	if (!n)
		fputs("No significant difference.\n", out);
}

static void begin_json(struct json *j, const struct region_value *of)
{
	put_begin(j, NULL, '{');
	put_text(j, "region", of->region);
	put_text(j, "parent", of->parent);
}

static void end_json(struct json *j)
{
	put_end(j, '}');
	put_line(j);
}

static void print_json(FILE *out, const struct region_diff *d)
{
	struct json j = { .out = out };

	for (size_t i = 0; i < d->n_changes; i++) {
		const struct change *c = &d->changes[i];

		begin_json(&j, c->of);
		put_text(&j, "metric", c->of->metric);
		put_number(&j, "old", c->means[OLD_SIDE]);
		put_number(&j, "new", c->means[NEW_SIDE]);
		put_number(&j, "change", get_growth(c));
		put_number(&j, "low", c->low);
		put_number(&j, "high", c->high);
		put_number(&j, "probability", c->probability);
		put_bool(&j, "significant", c->is_significant);
		end_json(&j);
	}
	for (size_t i = 0; i < d->n_lone; i++) {
		begin_json(&j, d->lone[i].of);
		put_text(&j, "only", d->lone[i].side == NEW_SIDE ? "new" : "old");
		end_json(&j);
	}
}

/* A value that was 0 has grown beyond each limit. */
static bool has_grown(const struct change *c, double limit)
{
	return c->is_significant && (c->means[OLD_SIDE] > 0 ? c->low > limit : true);
}

static int report_slower(const struct region_diff *d)
{
	const double limit = d->how->limit;
	size_t n = 0;

	for (size_t i = 0; limit >= 0 && i < d->n_changes; i++)
		n += has_grown(&d->changes[i], limit);
	if (!n)
		return EXIT_DONE;
	fprintf(stderr, "%s: %zu value%s of regions grew by more than %g%%\n", d->how->command, n,
	        n > 1 ? "s" : "", 100 * limit);
	return EXIT_REGRESSED;
}

int compare_region_texts(const struct region_comparison *how, const struct region_text *texts,
                         unsigned n)
{
	struct region_diff d = { .how = how };
	int status = EXIT_DONE;

	for (unsigned i = 0; i < n && status == EXIT_DONE; i++)
		status = read_region_values(&d.values, texts[i].in, texts[i].path, texts[i].side,
		                            texts[i].is_run);
	if (status == EXIT_DONE && (!group_values(&d) || !mark_changes(&d)))
		status = report_no_memory();
	if (status == EXIT_DONE) {
		(how->json ? print_json : print_table)(how->out, &d);
		status = report_slower(&d);
	}
	free_region_values(&d.values);
	free(d.changes);
	free(d.lone);
	return status;
}

int diff_region_files(const struct diff_job *job)
{
	const struct region_comparison how = { .confidence = job->diff.confidence,
		                               .limit = job->fail_above,
		                               .json = job->json,
		                               .out = stdout,
		                               .command = "pfm diff" };
	const unsigned n = job->diff.n_recordings;
	struct region_text *texts = calloc(n + 1, sizeof(*texts));
	int status = texts ? EXIT_DONE : report_no_memory();

	for (unsigned i = 0; i < n && status == EXIT_DONE; i++) {
		const struct diff_recording *r = &job->diff.recordings[i];

		texts[i] = (struct region_text){ fopen(r->path, "re"), r->path, r->side, false };
		if (!texts[i].in) {
			fprintf(stderr, "pfm diff: %s: %s\n", r->path, strerror(errno));
			status = EXIT_TROUBLE;
		}
	}
	if (status == EXIT_DONE)
		status = compare_region_texts(&how, texts, n);
	for (unsigned i = 0; i < n && texts; i++)
		if (texts[i].in)
			fclose(texts[i].in);
	free(texts);
	return status;
}
