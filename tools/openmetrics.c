/* SPDX-License-Identifier: MIT */
#include "openmetrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum { NUMBER_MAX = 40 };

enum exposition_format find_exposition_format(const char *name)
{
	if (strcmp(name, "openmetrics") == 0)
		return EXPOSITION_OPENMETRICS;
	return strcmp(name, "prometheus") == 0 ? EXPOSITION_PROMETHEUS : EXPOSITION_NONE;
}

/* ---- families ----------------------------------------------------------------------------------
 */

static const char *find_suffix(enum family_type type)
{
	return type == FAMILY_COUNTER ? "_total" : type == FAMILY_INFO ? "_info" : "";
}

static const char *find_type_name(const struct exposition *x)
{
	static const char *const names[] = { "counter", "gauge", "stateset", "info" };

	/* The older format has neither of the last two. */
	return x->format == EXPOSITION_PROMETHEUS && x->type > FAMILY_GAUGE ? "gauge"
	                                                                    : names[x->type];
}

static bool is_replacement(const char *text, size_t len)
{
	return len == 3 && memcmp(text, UTF8_REPLACEMENT, 3) == 0;
}

/* @escaped: characters that get a backslash. */
static void put_escaped_text(FILE *out, const char *text, const char *escaped)
{
	for (size_t n, left = strlen(text); left; text += n, left -= n) {
		n = utf8_char_length(text, left);
		if (!n || is_replacement(text, n)) {
			n = 1;
			fprintf(out, UTF8_REPLACEMENT "%02x", (unsigned char)*text);
		} else if (*text == '\n') {
			fputs("\\n", out);
		} else if (strchr(escaped, *text)) {
			fprintf(out, "\\%c", *text);
		} else {
			fwrite(text, 1, n, out);
		}
	}
}

/* In the older format a family is called as its samples are. */
void begin_family(struct exposition *x, const char *name, enum family_type type, const char *unit,
                  const char *help)
{
	const char *suffix;

	x->family = name;
	x->type = type;
	suffix = x->format == EXPOSITION_PROMETHEUS ? find_suffix(type) : "";
	fprintf(x->out, "# TYPE %s%s %s\n", name, suffix, find_type_name(x));
	if (*unit && x->format == EXPOSITION_OPENMETRICS)
		fprintf(x->out, "# UNIT %s %s\n", name, unit);
	fprintf(x->out, "# HELP %s%s ", name, suffix);
	/* The older format escapes no quotes in help texts. */
	put_escaped_text(x->out, help, x->format == EXPOSITION_PROMETHEUS ? "\\" : "\"\\");
	putc('\n', x->out);
}

/* ---- samples -----------------------------------------------------------------------------------
 */

/* A label in the list that *@between begins or continues. */
static void put_label(FILE *out, const char **between, const char *name, const char *value)
{
	if (!*value)
		return;
	fprintf(out, "%s%s=\"", *between, name);
	put_escaped_text(out, value, "\"\\");
	putc('"', out);
	*between = ",";
}

/* @state: the state of a state set, whose label has the name of the family; else NULL. */
static void put_sample(struct exposition *x, const struct label *labels, const char *state,
                       const char *value)
{
	const char *between = "{";

	fprintf(x->out, "%s%s", x->family, find_suffix(x->type));
	for (; labels && labels->name; labels++)
		put_label(x->out, &between, labels->name, labels->value);
	if (state)
		put_label(x->out, &between, x->family, state);
	fprintf(x->out, "%s %s\n", *between == ',' ? "}" : "", value);
	x->n_samples++;
}

void put_whole_sample(struct exposition *x, const struct label *labels, uint64_t value)
{
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_sample(x, labels, NULL, text);
}

void put_real_sample(struct exposition *x, const struct label *labels, double value)
{
	char text[NUMBER_MAX];

	if (!isfinite(value))
		return;
	snprintf(text, sizeof(text), "%.15g", value);
	put_sample(x, labels, NULL, text);
}

void put_state_samples(struct exposition *x, const struct label *labels, const char *const *states,
                       unsigned n, unsigned current)
{
	for (unsigned i = 0; i < n; i++)
		put_sample(x, labels, states[i], i == current ? "1" : "0");
}

void end_exposition(struct exposition *x)
{
	if (x->format == EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", x->out);
}
