/* SPDX-License-Identifier: MIT */
/* Metrics over time of recordings of pfm record -M. */
#ifndef PFM_HTML_PAGE_METRICS_H
#define PFM_HTML_PAGE_METRICS_H

#include "common/json.h"

/* Puts the member "slices": the metrics that the recording at @path, with @n_samples samples, was
 * made for, in equal parts of its time. Nothing for other recordings. False without memory. */
bool put_page_metrics(struct json *j, const char *path, size_t n_samples);

#endif
