/* SPDX-License-Identifier: MIT */
/* pfm serve --api: clients (api.c) and what they have counted (api_counts.c). */
#ifndef PFM_SERVE_API_H
#define PFM_SERVE_API_H

#include "serve.h"

/* Counts for one client. */
struct api_count;

/* Begins what the JSON text @request asks for. Writes the first line of the answer to @out: what is
 * counted, or an error. NULL after an error. */
struct api_count *begin_api_count(const struct serve *s, const char *request, FILE *out);
/* Writes the counts of an interval that is over, and the last line when all is. False if the count
 * is over. */
bool continue_api_count(struct api_count *c, FILE *out);
/* The time of the next interval. */
uint64_t get_api_time(const struct api_count *c);
/* Ends counting, after the line of an error unless @why is NULL. */
void end_api_count(struct api_count *c, const char *why, FILE *out);
/* Writes the line of an error. @retry_seconds: 0 if another try makes no sense. */
void put_api_error(FILE *out, const char *kind, const char *message, unsigned retry_seconds);

#endif
