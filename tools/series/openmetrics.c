/* SPDX-License-Identifier: MIT */
#include "series/openmetrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "series/otlp_metrics.h"

enum { NUMBER_MAX = 40, LINES_SIZE = 65536 };

enum exposition_format parse_exposition_format(const char *name)
{
	if (strcmp(name, "openmetrics") == 0)
		return EXPOSITION_OPENMETRICS;
	return strcmp(name, "prometheus") == 0 ? EXPOSITION_PROMETHEUS : EXPOSITION_NONE;
}

/* ---- families -------------------------------------------------------------------------------- */

static const char *get_suffix(enum family_type type)
{
	return type == FAMILY_COUNTER ? "_total" : type == FAMILY_INFO ? "_info" : "";
}

static const char *get_type_name(const struct exposition *x)
{
	static const char *const names[] = { "counter", "gauge", "stateset", "info" };

	/* The older format lacks the last two types. */
	return x->format == EXPOSITION_PROMETHEUS && x->type > FAMILY_GAUGE ? "gauge"
	                                                                    : names[x->type];
}

static bool is_plain_text(const char *text)
{
	while (*text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\')
		text++;
	return !*text;
}

static bool is_replacement(const char *text, size_t len)
{
	return len == 3 && memcmp(text, UTF8_REPLACEMENT, 3) == 0;
}

/* @escaped: characters that are written with a backslash. */
static void put_escaped_text(FILE *out, const char *text, const char *escaped)
{
	/* Almost all texts are plain. */
	if (is_plain_text(text)) {
		fputs(text, out);
		return;
	}
	for (size_t n, left = strlen(text); left; text += n, left -= n) {
		n = utf8_measure_char(text, left);
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

/* Lines are collected: one call of the C library for each costs more than making the line. */
static void flush_lines(struct exposition *x)
{
	if (x->n_lines)
		fwrite(x->lines, 1, x->n_lines, x->out);
	x->n_lines = 0;
}

/* Reserves @len bytes; NULL without memory. */
static char *reserve_line(struct exposition *x, size_t len)
{
	if (!x->lines)
		x->lines = malloc(LINES_SIZE);
	if (x->n_lines + len > LINES_SIZE)
		flush_lines(x);
	if (x->lines && len <= LINES_SIZE)
		return x->lines + x->n_lines;
	x->failed = true;
	return NULL;
}

static char *put_piece(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

/* Writes the texts of a list that NULL ends. */
static void put_texts(struct exposition *x, const char *const *texts)
{
	for (; *texts; texts++) {
		size_t len = strlen(*texts);
		char *to = reserve_line(x, len);

		if (!to)
			return;
		memcpy(to, *texts, len);
		x->n_lines += len;
	}
}

/* A name that other exporters of the same machine do not have: "node_perf_cpucycles" is
 * "perfmon_cpucycles", "process_open_fds" is "perfmon_process_open_fds". */
static const char *make_own_name(struct exposition *x, const char *name)
{
	static const char node[] = "node_perf_", process[] = "process_";
	const bool is_node = strncmp(name, node, sizeof(node) - 1) == 0;

	if (!x->has_own_names ||
	    (is_node ? x->keeps_node_names : strncmp(name, process, sizeof(process) - 1) != 0))
		return name;
	snprintf(x->own_name, sizeof(x->own_name), "perfmon_%s",
	         is_node ? name + sizeof(node) - 1 : name);
	return x->own_name;
}

void begin_family(struct exposition *x, const char *name, enum family_type type, const char *unit,
                  const char *help)
{
	const char *suffix;

	name = make_own_name(x, name);
	x->family = name;
	x->type = type;
	if (x->otlp) {
		otlp_begin_family(x->otlp, name, type, unit, help);
		return;
	}
	/* In the older format, the name of a family is that of its samples. */
	suffix = x->format == EXPOSITION_PROMETHEUS ? get_suffix(type) : "";
	put_texts(x, (const char *const[]){ "# TYPE ", name, suffix, " ", get_type_name(x), "\n",
	                                    NULL });
	if (*unit && x->format == EXPOSITION_OPENMETRICS)
		put_texts(x, (const char *const[]){ "# UNIT ", name, " ", unit, "\n", NULL });
	put_texts(x, (const char *const[]){ "# HELP ", name, suffix, " ", NULL });
	if (is_plain_text(help)) {
		put_texts(x, (const char *const[]){ help, "\n", NULL });
		return;
	}
	flush_lines(x);
	/* The older format escapes no quotes in help texts. */
	put_escaped_text(x->out, help, x->format == EXPOSITION_PROMETHEUS ? "\\" : "\"\\");
	putc('\n', x->out);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Appends a text to the labels. */
static void append_text(struct exposition *x, const char *text, size_t len)
{
	if (x->size - x->n < len) {
		size_t size = 2 * x->size + len + 256;
		char *more = realloc(x->labels, size);

		if (!more) {
			x->failed = true;
			return;
		}
		x->labels = more;
		x->size = size;
	}
	memcpy(x->labels + x->n, text, len);
	x->n += len;
}

static void append_escaped_text(struct exposition *x, const char *text)
{
	char *escaped = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&escaped, &len);

	if (out)
		put_escaped_text(out, text, "\"\\");
	if (!out || fclose(out) != 0)
		x->failed = true;
	else
		append_text(x, escaped, len);
	free(escaped);
}

static void append_label(struct exposition *x, const char *name, const char *value)
{
	if (!*value)
		return;
	append_text(x, x->n ? "," : "{", 1);
	append_text(x, name, strlen(name));
	append_text(x, "=\"", 2);
	/* Almost all values are plain, and labels take half of the time of a text. */
	if (is_plain_text(value))
		append_text(x, value, strlen(value));
	else
		append_escaped_text(x, value);
	append_text(x, "\"", 1);
}

static void make_labels(struct exposition *x, const struct label *labels)
{
	x->n = 0;
	if (x->common.value)
		append_label(x, x->common.name, x->common.value);
	for (; labels && labels->name; labels++)
		append_label(x, labels->name, labels->value);
}

/* Writes a sample with the present labels. */
static void put_sample(struct exposition *x, const char *value, size_t value_len)
{
	const char *suffix = get_suffix(x->type);
	const size_t family_len = strlen(x->family), suffix_len = strlen(suffix),
		     len = family_len + suffix_len + x->n + value_len + 3;
	char *to = reserve_line(x, len);

	if (!to)
		return;
	to = put_piece(to, x->family, family_len);
	to = put_piece(to, suffix, suffix_len);
	if (x->n) {
		to = put_piece(to, x->labels, x->n);
		*to++ = '}';
	}
	*to++ = ' ';
	to = put_piece(to, value, value_len);
	*to++ = '\n';
	x->n_lines = (size_t)(to - x->lines);
	x->n_samples++;
}

/* Writes the decimal digits of @value at the end of @text. Returns where they begin. */
static const char *format_whole(char text[NUMBER_MAX], uint64_t value)
{
	unsigned at = NUMBER_MAX;

	do
		text[--at] = (char)('0' + value % 10);
	while (value /= 10);
	return &text[at];
}

void put_whole_sample(struct exposition *x, const struct label *labels, uint64_t value)
{
	char text[NUMBER_MAX];
	const char *at;

	if (x->otlp) {
		x->otlp->point_start = x->start;
		otlp_add_whole(x->otlp, labels, NULL, value);
		x->n_samples++;
		return;
	}
	at = format_whole(text, value);
	make_labels(x, labels);
	put_sample(x, at, (size_t)(text + NUMBER_MAX - at));
}

void put_real_sample(struct exposition *x, const struct label *labels, double value)
{
	char text[NUMBER_MAX];

	const double most_whole = 1e15; /* the largest that 15 digits show exactly */

	if (!isfinite(value))
		return;
	if (x->otlp) {
		x->otlp->point_start = x->start;
		otlp_add_real(x->otlp, labels, value);
		x->n_samples++;
		return;
	}
	if (value >= 0 && value < most_whole && !signbit(value) &&
	    (double)(uint64_t)value == value) {
		put_whole_sample(x, labels, (uint64_t)value);
		return;
	}
	make_labels(x, labels);
	put_sample(x, text, (size_t)snprintf(text, sizeof(text), "%.15g", value));
}

void put_state_samples(struct exposition *x, const struct label *labels, const char *const *states,
                       unsigned n, unsigned current)
{
	size_t len;

	for (unsigned i = 0; x->otlp && i < n; i++) {
		otlp_add_whole(x->otlp, labels, &(struct label){ x->family, states[i] },
		               i == current);
		x->n_samples++;
	}
	if (x->otlp)
		return;
	make_labels(x, labels);
	len = x->n;
	for (unsigned i = 0; i < n; i++) {
		x->n = len;
		append_label(x, x->family, states[i]);
		put_sample(x, i == current ? "1" : "0", 1);
	}
}

void end_exposition(struct exposition *x)
{
	flush_lines(x);
	if (x->format == EXPOSITION_OPENMETRICS && !x->is_continued)
		fputs("# EOF\n", x->out);
	free(x->labels);
	free(x->lines);
	x->lines = NULL;
	x->labels = NULL;
	x->n = x->size = 0;
}
