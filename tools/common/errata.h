/* SPDX-License-Identifier: MIT */
/* Errata of events and PMUs, as the commands print them. */
#ifndef PFM_ERRATA_H
#define PFM_ERRATA_H

#include <stdbool.h>
#include <perfmon/perfmon.h>
#include "common/json.h"

/* Writes an erratum as an object, which the caller ends. */
void put_erratum_begin(struct json *j, const pfm_erratum_t *e);
/* Writes the errata of event @event of @pmu as the member "known_errata"; nothing without one. */
void put_event_errata(struct json *j, const pfm_ctx_t *ctx, int pmu, unsigned event);
/* Finds the @i-th erratum of the encoded event of @text that is about the event as it is. */
bool find_encoded_erratum(const pfm_ctx_t *ctx, const char *text, unsigned plm,
                          const pfm_encoding_t *enc, unsigned *i, pfm_erratum_t *e);
/* Writes these errata as the member "known_errata". */
void put_encoded_errata(struct json *j, const pfm_ctx_t *ctx, const char *text, unsigned plm,
                        const pfm_encoding_t *enc);
/* Writes "IDS: effect" and what helps to @line. Returns @line. */
enum { ERRATUM_LINE_MAX = 1024 };
char *format_erratum(const pfm_erratum_t *e, char line[ERRATUM_LINE_MAX]);

#endif
