/* SPDX-License-Identifier: MIT */
/* Reads the variables of OpenTelemetry's exporters. A variable for one signal overrides the one for
 * all signals; an empty one is ignored. */
#include "common/otlp_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/otlp_resource.h"
#include "common/pfm.h"

enum { NAME_SIZE = 64, USUAL_MS = 10000, MOST_MS = 600000 };

static const char *get_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The value of the signal's own variable @name, or NULL. */
static const char *get_own_variable(const struct otlp_signal *signal, const char *name)
{
	char whole[NAME_SIZE];

	snprintf(whole, sizeof(whole), "OTEL_EXPORTER_OTLP_%s_%s", signal->name, name);
	return get_set(whole);
}

/* The value of the signal's own variable @name, or of the one for all signals; NULL if neither is
 * set. */
static const char *get_variable(const struct otlp_signal *signal, const char *name)
{
	const char *value = get_own_variable(signal, name);
	char whole[NAME_SIZE];

	snprintf(whole, sizeof(whole), "OTEL_EXPORTER_OTLP_%s", name);
	return value ? value : get_set(whole);
}

/* Names the variable that is set. Its value may be a secret. */
static int refuse(const struct otlp_signal *signal, const char *name, const char *expected)
{
	const bool is_own = get_own_variable(signal, name);

	fprintf(stderr, "%s: OTEL_EXPORTER_OTLP_%s%s%s: expected %s\n", signal->program,
	        is_own ? signal->name : "", is_own ? "_" : "", name, expected);
	return EXIT_REFUSED;
}

/* The signal's path is appended to the endpoint of all signals, not to its own endpoint. */
static int read_endpoint(struct otlp_settings *o)
{
	const char *whole = get_own_variable(o->signal, "ENDPOINT"),
		   *base = get_set("OTEL_EXPORTER_OTLP_ENDPOINT");
	size_t len;

	base = base ? base : "http://localhost:4318";
	if (!is_http_url(whole ? whole : base))
		return refuse(o->signal, "ENDPOINT", "a URL such as http://127.0.0.1:4318");
	len = strlen(base);
	len -= base[len - 1] == '/';
	if (whole)
		snprintf(o->url, sizeof(o->url), "%s", whole);
	else
		snprintf(o->url, sizeof(o->url), "%.*s%s", (int)len, base, o->signal->path);
	return EXIT_DONE;
}

static int read_timeout(struct otlp_settings *o)
{
	const char *text = get_variable(o->signal, "TIMEOUT");
	char *end;

	o->timeout_ms = text ? strtol(text, &end, 10) : USUAL_MS;
	return !text || (!*end && o->timeout_ms > 0 && o->timeout_ms <= MOST_MS)
	               ? EXIT_DONE
	               : refuse(o->signal, "TIMEOUT", "milliseconds, 1 to 600000");
}

/* Lets read_otlp_settings() refuse wrong headers before anything is sent. */
static bool accept_header(void *arg, const char *header)
{
	(void)arg;
	(void)header;
	return true;
}

int read_otlp_settings(const struct otlp_signal *signal, const char *url, struct otlp_settings *o)
{
	const char *compression = get_variable(signal, "COMPRESSION"),
		   *protocol = get_variable(signal, "PROTOCOL");
	int rc;

	*o = (struct otlp_settings){ .signal = signal };
	snprintf(o->url, sizeof(o->url), "%s", url);
	rc = strcmp(url, "env") == 0 ? read_endpoint(o) : EXIT_DONE;
	if (rc == EXIT_DONE)
		rc = read_timeout(o);
	if (rc != EXIT_DONE)
		return rc;
	if (protocol && strcmp(protocol, "http/protobuf") != 0)
		return refuse(o->signal, "PROTOCOL", "http/protobuf");
	if (compression && strcmp(compression, "gzip") != 0 && strcmp(compression, "none") != 0)
		return refuse(o->signal, "COMPRESSION", "gzip or none");
	o->has_gzip = !compression || strcmp(compression, "gzip") == 0;
	o->authority = get_variable(signal, "CERTIFICATE");
	o->certificate = get_variable(signal, "CLIENT_CERTIFICATE");
	o->key = get_variable(signal, "CLIENT_KEY");
	o->headers = get_variable(signal, "HEADERS");
	return visit_otlp_headers(o, accept_header, NULL);
}

static char *trim_blanks(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* Makes a header of "name=value". False, after a message, if that is not one. */
static bool make_header(const struct otlp_signal *signal, char *item, char header[HTTP_URL_SIZE])
{
	char *value = strchr(item, '=');

	if (value) {
		*value++ = '\0';
		value = trim_blanks(value);
		decode_percents(value);
	}
	item = trim_blanks(item);
	if (!value || !*item || strpbrk(item, ": \t\r\n") || strpbrk(value, "\r\n") ||
	    (size_t)snprintf(header, HTTP_URL_SIZE, "%s: %s", item, value) >= HTTP_URL_SIZE) {
		refuse(signal, "HEADERS", "name=value,...");
		return false;
	}
	return true;
}

int visit_otlp_headers(const struct otlp_settings *o, bool (*each)(void *arg, const char *header),
                       void *arg)
{
	char *copy = strdup(o->headers ? o->headers : ""), *rest = copy, *item,
	     header[HTTP_URL_SIZE];
	int rc = copy ? EXIT_DONE : report_no_memory();

	while (rc == EXIT_DONE && (item = strsep(&rest, ","))) {
		if (!*item)
			continue;
		if (!make_header(o->signal, item, header))
			rc = EXIT_REFUSED;
		else if (!each(arg, header))
			rc = report_no_memory();
	}
	if (copy)
		explicit_bzero(copy, strlen(copy));
	free(copy);
	explicit_bzero(header, sizeof(header));
	return rc;
}
