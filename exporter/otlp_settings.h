/* SPDX-License-Identifier: MIT */
/* Where and how --otlp sends, from the option and from the variables of OpenTelemetry. */
#ifndef PFM_SERVE_OTLP_SETTINGS_H
#define PFM_SERVE_OTLP_SETTINGS_H

#include "common/http_url.h"
#include "serve.h"

struct otlp_settings {
	char url[HTTP_URL_SIZE];
	const char *headers;     /* "name=value,..."; NULL: none */
	const char *authority;   /* files in PEM; NULL: those of the system */
	const char *certificate; /* of this client; NULL: none */
	const char *key;
	long timeout_ms;
	bool has_gzip;
};

/* @url: the value of --otlp; "env" takes the endpoint from the variables. Returns an exit status,
 * after an error message. */
int read_otlp_settings(const char *url, struct otlp_settings *o);
/* Calls @each with each header, "name: value". Returns an exit status, after an error message. */
int visit_otlp_headers(const struct otlp_settings *o, bool (*each)(void *arg, const char *header),
                       void *arg);

#endif
