/* SPDX-License-Identifier: MIT */
/* Requests of the golden vectors: what their operations share. */
#ifndef PERFMON_TESTS_REQUESTS_H
#define PERFMON_TESTS_REQUESTS_H

#include <jansson.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_alpha.h>
#include <perfmon/pfmlib_coreduo.h>
#include <perfmon/pfmlib_montecito.h>
#include <stdbool.h>
#include "common/json.h"

/* All a dispatch needs. One is used again and again: it is large. */
struct request_state {
	int pmu; /* PFMLIB_*_PMU */
	pfmlib_input_param_t in;
	pfmlib_output_param_t out;
	pfmlib_mont_input_param_t mont_in;
	pfmlib_mont_output_param_t mont_out;
	pfmlib_coreduo_input_param_t coreduo_in;
	pfmlib_alpha_input_param_t alpha_in;
	pfmlib_alpha_output_param_t alpha_out;
	unsigned used; /* events of @in that were written to and must be cleared */
};

/* Members of requests; what is not there is zero or empty. A number may be a string that holds
 * one. */
uint64_t request_value(const json_t *value);
uint64_t request_number(const json_t *object, const char *key);
unsigned request_small(const json_t *object, const char *key);
unsigned char request_byte(const json_t *object, const char *key);
bool request_has(const json_t *object, const char *key);
const char *request_text(const json_t *object, const char *key);

/* Index of the event that @value names; one of [counter, name] goes by its name. */
int request_event(const json_t *value, unsigned *index);

/* (requests_check.c) True if a member of @request, or of what is in it, is of another type, too
 * wide or too long; then @text says which, and what it has to be. */
bool request_find_malformed(const json_t *request, char *text, size_t size);

/* (requests_dispatch.c) The operation "dispatch"; one event of its input alone, as the first one of
 * w->in. */
void request_dispatch(struct request_state *w, struct json *j, const json_t *req);
int request_one_event(struct request_state *w, const json_t *event);

/* Answers the requests of @in, one JSON object a line, on @out (requests.c). Returns 0, or 1 if a
 * line was not understood. */
int answer_requests(FILE *in, FILE *out);
/* Calls of the native interface (requests_native.c). */
int answer_native_requests(FILE *in, FILE *out);

#endif
