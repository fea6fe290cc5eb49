/* SPDX-License-Identifier: MIT */
/* pfm record -M: events of metrics, sampled in groups. */
#ifndef PFM_RECORD_METRICS_H
#define PFM_RECORD_METRICS_H

#include "event_list.h"
#include "pfm.h"

/* Adds to @events the groups that count the metrics and metric groups of @names, which commas
 * separate. DONE, or REFUSED with everything said. */
int add_sampled_metrics(const pfm_ctx_t *ctx, const char *names, struct event_list *events);

#endif
