/* SPDX-License-Identifier: MIT */
/* Sends recordings to receivers of profiles. */
#ifndef PFM_RECORD_PUSH_H
#define PFM_RECORD_PUSH_H

#include <stdbool.h>
#include <stdint.h>
#include "common/http_push.h"
#include "series/openmetrics.h"

enum { MAX_LABEL_NAME = 62 }; /* bytes of the name of a label */

struct pushed_profile {
	const char *url;
	const struct label *labels; /* NULL: none; the last has no name */
	uint64_t from, until;       /* seconds since 1970 */
	bool has_names;             /* names of functions are looked up here */
};

/* True if @text may be the value of --push: a URL, or "env". */
bool is_push_url(const char *text);
/* Where --push sends: @url, or for "env" the endpoint of OpenTelemetry's variables. NULL after a
 * message if one of these variables is wrong. @url NULL: NULL. */
const char *find_push_url(const char *url);
/* Converts the recording @path and sends it: as pprof to a URL that ends in /ingest (Pyroscope) or
 * /writeraw (Parca), else as OTLP. On failure *@why tells, unless a message did. */
enum push_result push_profile(const struct pushed_profile *p, const char *path, char *why,
                              unsigned size);

#endif
