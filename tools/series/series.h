/* SPDX-License-Identifier: MIT */
/* Counts and metrics of pfm stat and pfm serve as families of OpenMetrics: their names, units and
 * labels. */
#ifndef PFM_SERIES_H
#define PFM_SERIES_H

#include "series/openmetrics.h"
#include "stat/stat.h"

/* ---- names (names.c) ------------------------------------------------------------------------- */

struct series_unit {
	const char *text; /* as the event or metric has it */
	const char *base; /* the base unit of OpenMetrics, "" if it has no name there */
	double factor;    /* from one to the other */
};

struct series_family {
	const char *name, *help;
	struct series_unit unit;
};

/* The name of an event in labels. */
const char *get_series_event(const pfm_count_info_t *info);
struct series_family get_count_family(const pfm_count_info_t *info);
struct series_family get_metric_family(const pfm_metric_info_t *info);

/* ---- values (series.c) ----------------------------------------------------------------------- */

/* The series of a job's rows and metrics. */
struct series;

/* Adds what was counted since the last call to the counters and computes the metrics, which are of
 * the @elapsed seconds. Call after gather_rows(). False without memory. */
bool update_series(struct stat_job *job, double elapsed);
/* With --rotate: moves the counters, each by what its event counted since its last turn. Call this
 * after a reading, at the end of a turn, or within one for the events that take no turns. False
 * without memory. */
bool add_turns(struct stat_job *job, bool is_turn_over);
/* The most samples that put_series() can write for the rows that there are. */
size_t count_most_series(struct stat_job *job);
void free_series(struct stat_report *report);
/* Rows were removed: moved[i] is where row i is now, UINT_MAX if it is gone. */
void move_series(struct stat_job *job, const unsigned *moved);
/* Rows were removed or added: finds all series; totals stay. False without memory. */
bool extend_series(struct stat_job *job);

/* ---- output (families.c, lines.c) ------------------------------------------------------------ */

/* Writes all families of counts and metrics, as they were at the last update. */
void put_series(struct exposition *x, const struct stat_job *job);
/* update_series(), and a whole text of job->options.format to job->report.out. 0, or an error
 * number. */
int report_series(struct stat_job *job, double elapsed);
/* Counts and metrics whose event or metric matches @pattern, as fnmatch(3) does, as lines of the
 * protocol of pfm serve --lines. */
void put_count_lines(FILE *out, const struct stat_job *job, const char *pattern);

#endif
