/* SPDX-License-Identifier: MIT */
/* Reads models, and computes values from them. */
#include "pretend/model.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "pretend/expression.h"

/* ---- values ---------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *pmu, const char *event)
{
	char full[256];

	snprintf(full, sizeof(full), "%s::%s", pmu, event);
	return fnmatch(pattern, event, FNM_CASEFOLD) == 0 ||
	       fnmatch(pattern, full, FNM_CASEFOLD) == 0;
}

struct model_rate get_model_rate(const struct model *m, const char *pmu, const char *event)
{
	for (size_t i = 0; i < m->n_events; i++)
		if (matches(m->events[i].pattern, pmu, event))
			return m->events[i].rate;
	return (struct model_rate){ { 0 } };
}

enum model_fault get_model_fault(const struct model *m, const char *pmu, const char *event,
                                 double *number)
{
	for (size_t i = 0; i < m->n_troubles; i++)
		if (m->troubles[i].fault != FAULT_TAKEN &&
		    matches(m->troubles[i].pattern, pmu, event)) {
			*number = m->troubles[i].number;
			return m->troubles[i].fault;
		}
	return FAULT_NONE;
}

enum model_base get_rate_base(const struct model_rate *r)
{
	for (int base = 0; base < BASE_CONSTANT; base++)
		if (r->by[base] != 0)
			return (enum model_base)base;
	return BASE_CONSTANT;
}

/* Time in which as much is counted at speed 1 as in the first @time nanoseconds of the phases. */
static double stretch_time(const struct model *m, double time)
{
	double cycle = 0, work = 0, sum;

	for (size_t i = 0; i < m->n_phases; i++) {
		cycle += m->phases[i].length;
		work += m->phases[i].length * m->phases[i].speed;
	}
	if (cycle <= 0)
		return time;
	sum = floor(time / cycle) * work;
	time -= floor(time / cycle) * cycle;
	for (size_t i = 0; i < m->n_phases && time > 0; i++) {
		double part = time < m->phases[i].length ? time : m->phases[i].length;

		sum += part * m->phases[i].speed;
		time -= part;
	}
	return sum;
}

double get_mean_speed(const struct model *m, double from, double to)
{
	/* A moment is the beginning of a short time. */
	const double end = to > from ? to : from + 1;

	if (!m->n_phases)
		return 1;
	return fmax((stretch_time(m, end) - stretch_time(m, from)) / (end - from), 0);
}

double compute_model_count(const struct model_rate *r, double before, double after, double speed)
{
	const enum model_base base = get_rate_base(r);
	const double number = before <= 0 && after > 0 ? r->by[BASE_CONSTANT] : 0;

	if (base == BASE_CONSTANT)
		return number;
	return r->by[base] * (after - before) * (base == BASE_CLOCK ? speed : 1) + number;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Cuts the first word from *@line. */
static char *cut_word(char **line)
{
	char *word = *line + strspn(*line, " \t");

	*line = word + strcspn(word, " \t");
	if (**line)
		*(*line)++ = '\0';
	return word;
}

/* Larger factors and counts reach the end of 64 bits. */
static const double max_factor = 1e15;

/* A name and no more; refuses what would be cut. */
static const char *copy_word(char *to, size_t size, const char *word)
{
	return *word && strlen(word) < size && snprintf(to, size, "%s", word) > 0
	               ? NULL
	               : "expected a shorter name or pattern";
}

/* Reads a number from 0 on, the last of its line unless @rest is given. */
static bool read_number(char *text, double *out, char **rest)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || !(*out >= 0 && *out <= max_factor))
		return false;
	if (rest)
		*rest = end;
	return rest || !end[strspn(end, " \t")];
}

static const char *read_rate(const struct model *m, const char *text, struct model_rate *out)
{
	const char *problem = read_expression(m, text, out);
	bool is_count = true;
	unsigned n = 0;

	for (int base = 0; base < N_BASES; base++) {
		n += base < BASE_CONSTANT && out->by[base] != 0;
		is_count = is_count && out->by[base] > -1e-9 && out->by[base] <= max_factor;
		out->by[base] = fmax(out->by[base], 0); /* 1 - 0.6 - 0.4 is not 0 */
	}
	return problem     ? problem
	       : n > 1     ? "expected one of clock, faults and switches, got several"
	       : !is_count ? "expected a count that does not decrease, and factors up to 1e15"
	                   : NULL;
}

static const char *add_event(struct model *m, char *line)
{
	bool failed = false;
	const char *pattern = cut_word(&line);
	struct model_event e = { { 0 }, { { 0 } } };
	const char *problem = copy_word(e.pattern, sizeof(e.pattern), pattern);

	if (!problem)
		problem = read_rate(m, line, &e.rate);
	if (problem)
		return problem;
	m->events = base_grow_list(m->events, m->n_events, &m->events_capacity, sizeof(e), &failed);
	if (failed)
		return "out of memory";
	m->events[m->n_events++] = e;
	return NULL;
}

static const char *add_name(struct model *m, char *line)
{
	bool failed = false;
	const char *name = cut_word(&line), *sign = cut_word(&line);
	struct model_name n = { { 0 }, { { 0 } } };
	const char *problem = copy_word(n.name, sizeof(n.name), name);

	if (!problem && (strcmp(sign, "=") != 0 || !is_model_name(name)))
		problem = "expected 'let NAME = EXPRESSION', with a name of letters, digits and "
			  "_; clock, faults and switches are taken";
	if (!problem)
		problem = read_rate(m, line, &n.rate);
	if (problem)
		return problem;
	m->names = base_grow_list(m->names, m->n_names, &m->names_capacity, sizeof(n), &failed);
	if (failed)
		return "out of memory";
	m->names[m->n_names++] = n;
	return NULL;
}

static const char *add_generic(struct model *m, char *line)
{
	bool failed = false;
	struct model_generic g = { { 0 }, { 0 } };

	if (copy_word(g.name, sizeof(g.name), cut_word(&line)) || !line[strspn(line, " \t|")])
		return "expected 'generic NAME EVENT | EVENT...'";
	if (snprintf(g.events, sizeof(g.events), "%s", line) >= (int)sizeof(g.events))
		return "expected fewer events";
	m->generics = base_grow_list(m->generics, m->n_generics, &m->generics_capacity, sizeof(g),
	                             &failed);
	if (failed)
		return "out of memory";
	m->generics[m->n_generics++] = g;
	return NULL;
}

static bool has_number(enum model_fault fault)
{
	return fault == FAULT_SHARE || fault == FAULT_GONE || fault == FAULT_THROTTLE ||
	       fault == FAULT_MOVED;
}

static const char *add_trouble(struct model *m, char *line)
{
	static const char *const kinds[] = { "",       "busy",  "wrap", "zero",     "share",
		                             "silent", "taken", "gone", "throttle", "moved" };
	const char *kind = cut_word(&line), *pattern = cut_word(&line);
	struct model_trouble t = { FAULT_NONE, { 0 }, 0 };
	bool failed = false;

	for (unsigned i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			t.fault = (enum model_fault)i;
	if (t.fault == FAULT_NONE || copy_word(t.pattern, sizeof(t.pattern), pattern))
		return "expected 'fault KIND PATTERN', where KIND is busy, wrap, zero, share, "
		       "silent, taken, gone, throttle or moved";
	if (t.fault == FAULT_SHARE && !(read_number(line, &t.number, NULL) && t.number <= 1))
		return "expected a share from 0 to 1";
	if (has_number(t.fault) && !read_number(line, &t.number, NULL))
		return "expected a number after the pattern";
	if (!has_number(t.fault) && line[strspn(line, " \t")])
		return "expected nothing after the pattern";
	m->troubles = base_grow_list(m->troubles, m->n_troubles, &m->troubles_capacity, sizeof(t),
	                             &failed);
	if (failed)
		return "out of memory";
	m->troubles[m->n_troubles++] = t;
	return NULL;
}

#define MIN_PHASE_MS 1e-3
#define MAX_PHASE_MS 1e9
#define MAX_SPEED    1e6

/* "phase MILLISECONDS SPEED" */
static const char *add_phase(struct model *m, char *line)
{
	double length, speed;

	if (!read_number(line, &length, &line) || !read_number(line, &speed, NULL) ||
	    length < MIN_PHASE_MS || length > MAX_PHASE_MS || speed > MAX_SPEED)
		return "expected 'phase MILLISECONDS SPEED', at least 0.001 and at most 1e9 "
		       "milliseconds, and a speed up to 1e6";
	if (m->n_phases == MODEL_PHASES)
		return "expected at most 16 phases";
	m->phases[m->n_phases++] = (struct model_phase){ length * 1e6, speed };
	return NULL;
}

static const char *set_user_share(struct model *m, char *line)
{
	return !read_number(line, &m->user_share, NULL) || m->user_share > 1
	               ? "expected 'user SHARE' with a share from 0 to 1"
	               : NULL;
}

static const char *read_line(struct model *m, char *line)
{
	static const struct {
		const char *word;
		const char *(*read)(struct model *m, char *line);
	} statements[] = { { "event", add_event },     { "let", add_name },
		           { "generic", add_generic }, { "fault", add_trouble },
		           { "phase", add_phase },     { "user", set_user_share } };
	const char *word = cut_word(&line);

	if (!*word || *word == '#')
		return NULL;
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (strcmp(word, statements[i].word) == 0)
			return statements[i].read(m, line);
	return "expected event, let, generic, fault, phase or user";
}

bool read_model(struct model *m, const char *name, const char *text)
{
	unsigned number = 1;

	*m = (struct model){ .user_share = 1 };
	snprintf(m->name, sizeof(m->name), "%.*s", (int)strcspn(name, "."), name);
	for (const char *at = text; *at; number++) {
		size_t len = strcspn(at, "\n");
		char *line = strndup(at, len);
		const char *problem = line ? read_line(m, line) : "out of memory";

		if (problem)
			fprintf(stderr, "pfm pretend: %s:%u: %s, got '%.*s'\n", name, number,
			        problem, (int)len, at);
		free(line);
		if (problem)
			return false;
		at += len + (at[len] != '\0');
	}
	return true;
}

void free_model(struct model *m)
{
	free(m->events);
	free(m->names);
	free(m->generics);
	free(m->troubles);
	*m = (struct model){ .user_share = 1 };
}
