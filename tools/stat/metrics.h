/* SPDX-License-Identifier: MIT */
/* Shared by the sources of pfm stat that deal with metrics. */
#ifndef PFM_STAT_METRICS_H
#define PFM_STAT_METRICS_H

#include "common/metric.h"
#include "stat/stat.h"

/* An input of a metric, and the event that it means. */
struct metric_input {
	pfm_metric_input_t in;
	struct event_at at;
};

/* Selects the rows for a value: those with the label, of one PMU or of all for NULL. For an event
 * in several rows: the row counted together with @beside; for NULL, the row whose group has most of
 * @metric's inputs. */
struct metric_search {
	const char *label, *pmu;
	const struct stat_row *beside;
	const struct stat_metric *metric;
};

/* Adds a metric to @list, unless it is there. False without memory. */
bool add_stat_metric(struct stat_metrics *list, int pmu, unsigned event);

/* Finds the event of each row's text. */
void find_row_events(struct stat_job *job);
bool is_same_event(struct event_at a, struct event_at b);
/* Input @i of @m. False if it has fewer. */
bool find_stat_input(const struct stat_job *job, const struct stat_metric *m, unsigned i,
                     struct metric_input *out);
/* True if @row counts @input. Rows with qualifiers count another event. */
bool is_row_of_input(const struct stat_row *row, const struct metric_input *input);
/* Computes @m from the @rows. @whole: only if the rows have all its events and the value is
 * defined. */
bool evaluate_rows(const struct stat_job *job, const struct stat_metric *m,
                   const struct metric_search *rows, double elapsed, bool whole,
                   struct metric_answer *out);

#endif
