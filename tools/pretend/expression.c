/* SPDX-License-Identifier: MIT */
/* Expressions of models, by descent over sums, products and factors. */
#include "pretend/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct parser {
	const struct model *model;
	const char *at, *problem;
	unsigned depth;
};

static struct model_rate read_sum(struct parser *p);

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t");
}

static bool take(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static struct model_rate fail(struct parser *p, const char *problem)
{
	if (!p->problem)
		p->problem = problem;
	return (struct model_rate){ { 0 } };
}

static bool is_constant(const struct model_rate *r)
{
	return get_rate_base(r) == BASE_CONSTANT;
}

static struct model_rate scale(struct model_rate r, double factor)
{
	for (int i = 0; i < N_BASES; i++)
		r.by[i] *= factor;
	return r;
}

static const char *const bases[] = { "clock", "faults", "switches" };

static size_t measure_name(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

bool is_model_name(const char *text)
{
	for (int i = 0; i < BASE_CONSTANT; i++)
		if (strcmp(bases[i], text) == 0)
			return false;
	return isalpha((unsigned char)*text) && !text[measure_name(text)];
}

/* The last definition of a name holds. */
static struct model_rate read_name(struct parser *p)
{
	size_t len = measure_name(p->at);
	const char *name = p->at;
	struct model_rate r = { { 0 } };

	p->at += len;
	for (int i = 0; i < BASE_CONSTANT; i++)
		if (strlen(bases[i]) == len && strncmp(bases[i], name, len) == 0) {
			r.by[i] = 1;
			return r;
		}
	for (size_t i = p->model->n_names; i-- > 0;)
		if (strlen(p->model->names[i].name) == len &&
		    strncmp(p->model->names[i].name, name, len) == 0)
			return p->model->names[i].rate;
	return fail(p, "unknown name: define it with let first");
}

static struct model_rate read_factor(struct parser *p)
{
	struct model_rate r = { { 0 } };
	char *end;

	skip_blanks(p);
	if (++p->depth > DEPTH_MAX)
		return fail(p, "expected fewer parentheses");
	if (take(p, '(')) {
		r = read_sum(p);
		if (!take(p, ')'))
			r = fail(p, "expected ')'");
	} else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
		r.by[BASE_CONSTANT] = strtod(p->at, &end);
		p->at = end;
	} else if (isalpha((unsigned char)*p->at)) {
		r = read_name(p);
	} else {
		r = fail(p, "expected a number or a name");
	}
	p->depth--;
	return r;
}

static struct model_rate read_product(struct parser *p)
{
	struct model_rate r = read_factor(p);

	for (;;) {
		bool divides = take(p, '/');
		struct model_rate f;

		if (!divides && !take(p, '*'))
			return r;
		f = read_factor(p);
		if (is_constant(&f) && divides && f.by[BASE_CONSTANT] != 0)
			r = scale(r, 1 / f.by[BASE_CONSTANT]);
		else if (is_constant(&f) && !divides)
			r = scale(r, f.by[BASE_CONSTANT]);
		else if (is_constant(&r) && !divides)
			r = scale(f, r.by[BASE_CONSTANT]);
		else
			r = fail(p, divides ? "expected a number other than 0 after '/'"
			                    : "expected a number on one side of '*'");
	}
}

static struct model_rate read_sum(struct parser *p)
{
	struct model_rate r = read_product(p);

	for (;;) {
		bool subtracts = take(p, '-');
		struct model_rate term;

		if (!subtracts && !take(p, '+'))
			return r;
		term = read_product(p);
		for (int i = 0; i < N_BASES; i++)
			r.by[i] += subtracts ? -term.by[i] : term.by[i];
	}
}

const char *read_expression(const struct model *m, const char *text, struct model_rate *out)
{
	struct parser p = { .model = m, .at = text };

	*out = read_sum(&p);
	skip_blanks(&p);
	if (!p.problem && *p.at)
		p.problem = "expected the end of the line";
	return p.problem;
}
