/* SPDX-License-Identifier: MIT */
/* Writes metrics as text that Prometheus and its like read: OpenMetrics 1.0, or the Prometheus text
 * format 0.0.4, which node_exporter's textfile collector and promtool read.
 *
 * A text is a list of families, each with its samples after it; end_exposition() ends it. Label
 * values may be any bytes. A byte that is not part of a UTF-8 character is written as U+FFFD and
 * its two hexadecimal digits, and so are the bytes of U+FFFD itself: different values stay
 * different. */
#ifndef PFM_OPENMETRICS_H
#define PFM_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct otlp_metrics;

enum exposition_format {
	EXPOSITION_NONE,
	EXPOSITION_OPENMETRICS,
	EXPOSITION_PROMETHEUS,
	EXPOSITION_OTLP /* a message instead of a text */
};
enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_STATESET, FAMILY_INFO };

struct label {
	const char *name; /* NULL after the last one of a list */
	const char *value;
};

struct exposition {
	FILE *out;
	enum exposition_format format;
	const char *family; /* under way */
	enum family_type type;
	size_t n_samples;          /* written so far */
	char *labels;              /* of the sample under way, as they are written */
	size_t n, size;            /* bytes of them */
	char *lines;               /* samples that are not in the file yet */
	size_t n_lines;            /* bytes of them */
	struct otlp_metrics *otlp; /* with EXPOSITION_OTLP */
	bool failed;               /* memory ran out: the text is not whole */
};

/* The format called @name, EXPOSITION_NONE if that is unknown. */
enum exposition_format find_exposition_format(const char *name);
/* Begins family @name, without "_total" or "_info". @unit is its last word, or "". */
void begin_family(struct exposition *x, const char *name, enum family_type type, const char *unit,
                  const char *help);
/* One sample of the family. Labels with an empty value are left out. */
void put_whole_sample(struct exposition *x, const struct label *labels, uint64_t value);
/* A value that is not finite is left out. */
void put_real_sample(struct exposition *x, const struct label *labels, double value);
/* One sample for each of the @n states of a state set; state number @current is the true one. */
void put_state_samples(struct exposition *x, const struct label *labels, const char *const *states,
                       unsigned n, unsigned current);
/* Ends the text, and frees the memory that @x has. */
void end_exposition(struct exposition *x);

#endif
