/* SPDX-License-Identifier: MIT */
/* A sentence about an error while it is written. */
#ifndef PERFMON_SENTENCE_H
#define PERFMON_SENTENCE_H

#include "format/error_location.h"
#include "format/format.h"

struct sentence {
	const struct pfm_ctx *ctx;
	const pfm_error_t *error;
	struct error_location location;
	char *buf;
	size_t size;
	size_t length; /* of the whole sentence, even if the buffer is too small */
};

/* Appends a text as printf() would. */
__attribute__((format(printf, 2, 3))) void pfmi_format_extend_sentence(struct sentence *s,
                                                                       const char *format, ...);
/* Appends @t in quotes; what cannot be printed becomes '?', and a long token is cut. */
void pfmi_format_append_quoted_token(struct sentence *s, struct slice t);
/* Appends the token that the error points at. */
void pfmi_format_append_token(struct sentence *s);
/* Appends the words of a group in the grammar of the attribute: libpfm's (@libpfm), where it has
 * its own. Returns their number. */
unsigned pfmi_format_append_group_words(struct sentence *s, const struct table *t,
                                        const struct umask_group *g, bool libpfm);
/* Appends @before and the attributes that the event takes, if the event is known. */
void pfmi_format_append_accepted_qualifiers(struct sentence *s, const char *before);
/* The name of the event, or "the event". */
const char *pfmi_format_get_event_name(const struct error_location *p);

#endif
