/* SPDX-License-Identifier: MIT */
/* First step of the corridor: a text is cut into slices. Nothing is looked up and nothing is copied. */
#ifndef PERFMON_SPEC_H
#define PERFMON_SPEC_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/perfmon.h>
#include "base/text.h"

enum spec_form {
	SPEC_NAME, /* name, then attributes behind ':' '.' or ',' */
	SPEC_PERF, /* pmu/term,term=value/modifiers */
	SPEC_RAW   /* rHEX:modifiers */
};

/* A place where the event name may end: @len bytes from its start, @hash of the folded bytes so far. */
struct cut {
	uint32_t len, hash;
};

#define SPEC_MAX_CUTS 12
#define SPEC_MAX_TEXT 4096u

struct spec {
	const char *text; /* whole text, for positions */
	uint32_t len;
	enum spec_form form;
	struct slice pmu;       /* before "::" or the first '/'; length 0 if not given */
	uint32_t pmu_hash;      /* SPEC_NAME: pfmi_name_hash() of it */
	struct slice name;      /* SPEC_NAME: everything up to the first ','; SPEC_PERF: the terms; SPEC_RAW: the digits */
	struct slice rest;      /* what follows the event name: attributes, separator included */
	struct slice modifiers; /* SPEC_PERF: what follows the last '/' */
	uint32_t n_cuts;
	struct cut cuts[SPEC_MAX_CUTS]; /* shortest first */
};

/* One attribute. @at is the separator before it, 0 for the first term of SPEC_PERF. */
struct spec_attr {
	struct slice name, value;
	bool has_value;
	char at;
};

/* Terms of SPEC_PERF that are a code and perhaps a unit mask, in hexadecimal digits, and nothing else: how nearly all are spelled. */
struct spec_numbers {
	unsigned n; /* 0: other terms */
	uint64_t code, umask;
};

/* Cuts @text. Returns 0 or a negative PFMLIB code with @why filled. */
int pfmi_spec_parse(const char *text, struct spec *out, pfm_error_t *why);
/* Takes the next attribute off @rest. False at the end. An empty attribute has an empty name: the caller refuses it. */
bool pfmi_spec_next(struct slice *rest, struct spec_attr *out);
/* Reads "event=0x2e,umask=0x4f", or the first alone, where nothing stands behind the last slash. */
void pfmi_spec_numbers(const struct spec *spec, struct spec_numbers *out);
/* Takes the next event, or group in braces, off @list; false when there are no more (list->s is NULL then). What pfm_split_events()
 * says. (lib/lookup/split.c) */
bool pfmi_split(struct slice *list, struct slice *event);
#endif
