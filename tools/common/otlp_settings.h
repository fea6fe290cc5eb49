/* SPDX-License-Identifier: MIT */
/* Settings of a sender of OTLP: its endpoint, headers, certificates and compression, from an option
 * and from the variables of OpenTelemetry's exporters. */
#ifndef PFM_OTLP_SETTINGS_H
#define PFM_OTLP_SETTINGS_H

#include <stdbool.h>
#include "common/http_url.h"

/* A signal of OpenTelemetry: metrics or profiles. */
struct otlp_signal {
	const char *program; /* named in messages */
	const char *name;    /* in names of variables: "METRICS" */
	const char *path;    /* of a receiver: "/v1/metrics" */
};

struct otlp_settings {
	const struct otlp_signal *signal;
	char url[HTTP_URL_SIZE];
	const char *headers;     /* "name=value,..."; NULL: none */
	const char *authority;   /* files in PEM; NULL: those of the system */
	const char *certificate; /* of this client; NULL: none */
	const char *key;
	long timeout_ms;
	bool has_gzip;
};

/* Reads the settings of @signal, and refuses wrong ones. @url: the value of the option; "env" takes
 * the endpoint from the variables. Returns an exit status, after an error message. */
int read_otlp_settings(const struct otlp_signal *signal, const char *url, struct otlp_settings *o);
/* Calls @each with each header, "name: value". Returns an exit status, after an error message. */
int visit_otlp_headers(const struct otlp_settings *o, bool (*each)(void *arg, const char *header),
                       void *arg);

#endif
