/* SPDX-License-Identifier: MIT */
/* Where the record backend writes what it is asked: options.backend_options of a session may point to one of these,
 * which must live as long as the session. */
#ifndef PERFMON_BACKEND_RECORD_H
#define PERFMON_BACKEND_RECORD_H

#include <stddef.h>

struct record {
	size_t size; /* of this struct */
	char *text;  /* one line per request, always terminated */
	size_t len;  /* bytes at text */
	size_t used; /* length the whole text has, also what did not fit */
};

#endif
