/* SPDX-License-Identifier: MIT */
/* A file as the body of an HTTP request, by libcurl, which is loaded when it is needed. */
#ifndef PFM_HTTP_PUSH_H
#define PFM_HTTP_PUSH_H

#include <stdbool.h>
#include "common/otlp_settings.h"

enum push_result {
	PUSH_TAKEN,
	PUSH_LATER,     /* the receiver is away, or refuses whatever the file holds */
	PUSH_REFUSED,   /* the receiver cannot take this file */
	PUSH_IMPOSSIBLE /* libcurl is missing */
};

struct pushed_file {
	const char *url, *path;
	const char *type;                     /* of the contents */
	const struct otlp_settings *settings; /* headers, certificates, compression; NULL: none */
};

/* Sends a file. What went wrong is in @why, of @size bytes. */
enum push_result push_file(const struct pushed_file *f, char *why, unsigned size);

#endif
