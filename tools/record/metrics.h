/* SPDX-License-Identifier: MIT */
/* pfm record -M: events of metrics, sampled in groups. */
#ifndef PFM_RECORD_METRICS_H
#define PFM_RECORD_METRICS_H

#include "common/event_list.h"
#include "common/pfm.h"

/* Adds the groups for the metrics and metric groups in the comma-separated @names to @events.
 * EXIT_DONE, or EXIT_REFUSED after a message. */
int add_sampled_metrics(const pfm_ctx_t *ctx, const char *names, struct event_list *events);

#endif
