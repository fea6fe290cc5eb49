/* SPDX-License-Identifier: MIT */
/* Event to register values and perf attributes. */
#ifndef PERFMON_ENCODE_H
#define PERFMON_ENCODE_H

#include "lookup/lookup.h"

/* Encodes the event @ev of a text that was looked up. Nothing of @out is touched on failure.
 * (lib/encode/encode.c) */
int pfmi_encode_resolved_event(const struct pfm_ctx *ctx, const struct spec *spec, unsigned pmu,
                               const struct event *ev, unsigned plm, pfm_encoding_t *out,
                               pfm_error_t *why);

#endif
