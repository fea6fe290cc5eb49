/* SPDX-License-Identifier: MIT */
/* Writes metrics as text for Prometheus and similar programs: OpenMetrics 1.0, or the Prometheus
 * text format 0.0.4, which node_exporter's textfile collector and promtool read. A text is a list
 * of families, each followed by its samples; end_exposition() ends it. Label values may be any
 * bytes. A byte that is not part of a UTF-8 character is written as U+FFFD and its two hexadecimal
 * digits, and so are the bytes of U+FFFD itself, so that different values stay different. */
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
	char *labels;              /* labels of the present sample, as they are written */
	size_t n, size;            /* number of bytes; size of the memory */
	char *lines;               /* samples that were not written to the file so far */
	size_t n_lines;            /* number of their bytes */
	struct otlp_metrics *otlp; /* with EXPOSITION_OTLP */
	uint64_t start;            /* of the next sample, by now_ns(); 0: that of the service */
	bool has_own_names;        /* no name is one of node_exporter's, */
	bool keeps_node_names;     /* but for those of its perf collector */
	struct label common;       /* the first label of each sample; its value NULL: without */
	char own_name[64];         /* the name of the family under way, if it was changed */
	bool is_continued;         /* another exposition follows: its end is that of both */
	bool failed;               /* without memory: the text is incomplete */
};

/* The format called @name; EXPOSITION_NONE for other names. */
enum exposition_format parse_exposition_format(const char *name);
/* Begins family @name, without "_total" or "_info". @unit is its last word, or "". */
void begin_family(struct exposition *x, const char *name, enum family_type type, const char *unit,
                  const char *help);
/* Writes a sample of the family. Labels with an empty value are left out. */
void put_whole_sample(struct exposition *x, const struct label *labels, uint64_t value);
/* Writes a sample, unless its value is not finite. */
void put_real_sample(struct exposition *x, const struct label *labels, double value);
/* Writes a sample for each of the @n states of a state set; number @current is the true one. */
void put_state_samples(struct exposition *x, const struct label *labels, const char *const *states,
                       unsigned n, unsigned current);
/* Ends the text and frees the memory of @x. */
void end_exposition(struct exposition *x);

#endif
