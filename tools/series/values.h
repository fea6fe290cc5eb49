/* SPDX-License-Identifier: MIT */
/* The values of series, shared by the files that find and write them. */
#ifndef PFM_SERIES_VALUES_H
#define PFM_SERIES_VALUES_H

#include "common/metric.h"
#include "series/series.h"

/* A reading that was worse than exact. */
struct worse_reading {
	pfm_quality_t quality;
	const char *cause;
	double share;  /* of the time that was counted */
	uint64_t time; /* 0: there was none */
};

struct row_series {
	struct worse_reading worse; /* the worst one that some reader has yet to get */
	struct series_family family;
	const char *event; /* as labels name it */
	uint64_t total;
	uint64_t start;    /* time by now_ns() since which it is counted */
	double slot_error; /* with --rotate: in percent; negative: unknown */
	bool is_repeated;  /* another row has the same event and place: that one has the series */
	bool starts_label; /* the first row of its place */
};

struct metric_series {
	unsigned metric, row; /* of job->result.metrics; the first row of its place */
	bool is_computed;
	struct metric_answer answer;
};

/* A processor of the machine: the registry of PMUs is large, and each text names them. */
struct named_processor {
	const char *pmu, *model;
};

enum {
	MAX_PROCESSORS = 8,
	N_QUALITIES = PFM_QUALITY_SIMULATED + 1,
	MAX_LABELS = 16,
	PLACE_MAX = 16
};

struct series {
	struct named_processor processors[MAX_PROCESSORS];
	unsigned n_processors;
	struct row_series *rows;
	struct metric_series *metrics;
	unsigned n_metrics, n_row_series, n_rows;
	double paused_share; /* of the last interval */
	double reading_took; /* seconds */
	bool is_late;        /* the last two readings took times too different */
	bool has_turns;      /* totals move with add_turns() */
};

/* ---- labels and values (families.c) ---------------------------------------------------------- */

struct label_list {
	struct label at[MAX_LABELS + 1];
	unsigned n;
	char places[3][PLACE_MAX]; /* socket, die, core */
};

/* The list is valid as long as @l is. */
const struct label *list_count_labels(struct label_list *l, const struct stat_job *job,
                                      const struct stat_row *row);
const struct label *list_metric_labels(struct label_list *l, const struct stat_job *job,
                                       const struct metric_series *m);
/* Appends to the list. */
const struct label *extend_labels(struct label_list *l, const char *name, const char *value);
/* True if another row has the series, or it waits for its labels. */
bool is_series_hidden(const struct stat_job *job, unsigned row);
/* A control group that had nothing to do has counted all there was. */
bool has_series_value(const struct series *s, const struct stat_row *row);
bool has_metric_value(const struct metric_series *m);

/* ---- quality (quality.c) --------------------------------------------------------------------- */

/* How far the count can be trusted since each reader's last reading, and why not; "" if it is
 * exact. */
pfm_quality_t get_series_quality(const struct stat_job *job, unsigned row);
const char *get_series_cause(const struct stat_job *job, unsigned row);
/* The share of that time in which it was counted. */
double get_series_share(const struct stat_job *job, unsigned row);
/* Keeps the marks of the last reading for readers that get a later one. */
void note_worse_reading(struct stat_job *job, unsigned row);
pfm_quality_t get_metric_quality(const struct series *s, const struct metric_series *m);
/* Write the families about the quality of counts, and of metrics. */
void put_count_qualities(struct exposition *x, const struct stat_job *job);
void put_metric_qualities(struct exposition *x, const struct stat_job *job);

#endif
