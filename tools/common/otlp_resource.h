/* SPDX-License-Identifier: MIT */
/* Attributes of OTLP's resource: the service and its machine. */
#ifndef PFM_OTLP_RESOURCE_H
#define PFM_OTLP_RESOURCE_H

#include <stdbool.h>
#include "series/openmetrics.h"

enum { MAX_ATTRIBUTES = 64 };

/* Attributes; those of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME replace others. */
struct otlp_resource {
	struct label at[MAX_ATTRIBUTES + 1];
	unsigned n;
	char *texts[2 * MAX_ATTRIBUTES];
	unsigned n_texts;
};

/* @command_line: tells services of one machine from each other. False without memory. */
bool make_otlp_resource(struct otlp_resource *r, const char *command_line);
void free_otlp_resource(struct otlp_resource *r);
/* Replaces "%2C" and its like. */
void decode_percents(char *text);
/* Adds an attribute, or replaces the value of one that is there. Empty ones are left out. False
 * without memory. */
bool add_otlp_attribute(struct otlp_resource *r, const char *name, const char *value);

#endif
