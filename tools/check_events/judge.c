/* SPDX-License-Identifier: MIT */
/* Judges an event by what it counted over kernels whose counts are known. Nothing here reads the
 * machine. */
#include "check_events/check_events.h"
#include "common/student_t.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A count within 1 % of the number is right: interrupts and other users of the core add a little.
 * An interval wider than 10 % decides nothing. */
#define RIGHT_WITHIN 0.01
#define NOISY_FROM   0.10
/* Counts that follow the expected numbers by less than this share of their variance do not depend
 * on the operation. */
#define RELATED_FROM 0.5
/* Operations that a kernel does not have: one in a hundred turns is none. */
#define NONE_BELOW 0.01

static const char *const judgement_names[N_JUDGEMENTS] = {
	[NOT_JUDGED] = "not checked", [JUDGED_RIGHT] = "right", [JUDGED_BIASED] = "biased",
	[JUDGED_NOISY] = "noisy",     [JUDGED_ZERO] = "zero",   [JUDGED_UNRELATED] = "unrelated"
};

const char *name_judgement(enum judgement j)
{
	return judgement_names[j];
}

double estimate_mean(const double *values, unsigned n, double *error)
{
	double mean = 0, variance = 0;

	for (unsigned i = 0; i < n; i++)
		mean += values[i] / n;
	for (unsigned i = 0; i < n; i++)
		variance += (values[i] - mean) * (values[i] - mean) / (n - 1);
	*error = n > 1 ? get_student_t(n - 1) * sqrt(variance / n) : INFINITY;
	return mean;
}

/* An observation in shares of the expected number. */
struct deviation {
	double value; /* counted / expected - 1; 0 between the bounds */
	double error;
};

/* Computes the mean number of the kernels with the operation; one without it is compared with it.
 */
static double mean_expected(const struct event_check *c)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (c->seen[i].expected.low > 0) {
			sum += (c->seen[i].expected.low + c->seen[i].expected.high) / 2;
			n++;
		}
	return n ? sum / n : 1;
}

static struct deviation compute_deviation(const struct event_check *c, const struct observation *o)
{
	double low = o->expected.low, high = o->expected.high, v = o->mean * c->factor;
	double scale = v < low && low > 0 ? low : high > 0 ? high : mean_expected(c);
	double difference = v < low ? v - low : v > high ? v - high : 0;

	if (high <= 0 && fabs(difference) < NONE_BELOW)
		difference = 0;
	return (struct deviation){ difference / scale, o->error * c->factor / scale };
}

int find_worst_observation(const struct event_check *c)
{
	double most = 0;
	int worst = -1;

	for (unsigned i = 0; i < c->n; i++) {
		double value = fabs(compute_deviation(c, &c->seen[i]).value);

		if (value > most) {
			most = value;
			worst = (int)i;
		}
	}
	return worst;
}

static bool is_zero(const struct event_check *c)
{
	bool expects_some = false;

	for (unsigned i = 0; i < c->n; i++) {
		expects_some |= c->seen[i].expected.low > 0;
		if (c->seen[i].mean != 0)
			return false;
	}
	return expects_some;
}

/* The share of the counts' variance over the kernels that the expected numbers explain; 1 if there
 * are too few kernels, or none without the operation. */
static double compute_relation(const struct event_check *c)
{
	double n = c->n, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

	for (unsigned i = 0; i < c->n; i++) {
		double e = (c->seen[i].expected.low + c->seen[i].expected.high) / 2;
		double v = c->seen[i].mean * c->factor;

		x += e / n;
		y += v / n;
		xx += e * e / n;
		yy += v * v / n;
		xy += e * v / n;
	}
	xx -= x * x;
	yy -= y * y;
	xy -= x * y;
	if (c->n < 4 || xx <= 1e-9 * x * x)
		return 1;
	return xy <= 0 || yy <= 0 ? 0 : xy * xy / (xx * yy);
}

static bool is_exact(const struct observation *o)
{
	return o->expected.low == o->expected.high;
}

/* The counts differ from the expected numbers by *@low to *@high: those of kernels that have the
 * operation, and others that are counted though they lack it. *@noise is the greatest error. */
static void find_range(const struct event_check *c, double *low, double *high, double *noise)
{
	bool is_first = true;

	*low = *high = *noise = 0;
	for (unsigned i = 0; i < c->n; i++) {
		struct deviation d = compute_deviation(c, &c->seen[i]);

		if ((is_exact(&c->seen[i]) || d.value != 0) && d.error > *noise)
			*noise = d.error;
		if (c->seen[i].expected.low <= 0 && d.value == 0)
			continue;
		*low = is_first ? d.value : fmin(*low, d.value);
		*high = is_first ? d.value : fmax(*high, d.value);
		is_first = false;
	}
}

/* True if each observation is right within its error. */
static bool is_right(const struct event_check *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct deviation d = compute_deviation(c, &c->seen[i]);

		if (fabs(d.value) > RIGHT_WITHIN + d.error)
			return false;
	}
	return true;
}

static void explain_worst(struct event_check *c)
{
	int worst = find_worst_observation(c);
	const struct observation *o = &c->seen[worst];

	if (worst < 0)
		return;
	if (is_exact(o))
		snprintf(c->reason, sizeof(c->reason),
		         "%s (%s): expected %.6g in a turn, counted %.6g", o->kernel->name,
		         o->kernel->about, o->expected.low, o->mean * c->factor);
	else
		snprintf(c->reason, sizeof(c->reason),
		         "%s (%s): expected %.6g to %.6g in a turn, counted %.6g", o->kernel->name,
		         o->kernel->about, o->expected.low, o->expected.high, o->mean * c->factor);
}

/* True if a kernel has an exact number of the operation. */
static bool has_exact_number(const struct event_check *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->seen[i].expected.low > 0 && is_exact(&c->seen[i]))
			return true;
	return false;
}

void judge_event(struct event_check *c)
{
	double noise;

	if (c->n == 0) {
		c->result.judgement = NOT_JUDGED;
		return;
	}
	find_range(c, &c->result.low, &c->result.high, &noise);
	if (is_zero(c)) {
		c->result.judgement = JUDGED_ZERO;
		snprintf(c->reason, sizeof(c->reason), "0 in each of %u kernels", c->n);
	} else if (compute_relation(c) < RELATED_FROM) {
		c->result.judgement = JUDGED_UNRELATED;
	} else if (noise > NOISY_FROM) {
		c->result.judgement = JUDGED_NOISY;
		snprintf(c->reason, sizeof(c->reason),
		         "the interval of a kernel's count is %.0f %% of it wide",
		         fmin(200 * noise, 1000));
	} else if (is_right(c)) {
		c->result.judgement = JUDGED_RIGHT;
		c->result.is_exact = has_exact_number(c);
		c->result.high = fmax(fmax(-c->result.low, c->result.high), noise);
		c->result.low = 0;
	} else {
		c->result.judgement = JUDGED_BIASED;
	}
	if (c->result.judgement == JUDGED_UNRELATED || c->result.judgement == JUDGED_BIASED)
		explain_worst(c);
}

char *describe_judgement(const struct judged *e, char buf[96])
{
	if (e->judgement == JUDGED_RIGHT && e->is_exact)
		snprintf(buf, 96, "right to %.2g %%", fmax(100 * e->high, 0.001));
	else if (e->judgement == JUDGED_RIGHT)
		snprintf(buf, 96, "right, between its bounds");
	else if (e->judgement == JUDGED_BIASED && e->high - e->low < 0.01)
		snprintf(buf, 96, "biased by %+.3g %%", 50 * (e->low + e->high));
	else if (e->judgement == JUDGED_BIASED)
		snprintf(buf, 96, "biased by %+.3g to %+.3g %%", 100 * e->low, 100 * e->high);
	else
		snprintf(buf, 96, "%s", name_judgement(e->judgement));
	return buf;
}
