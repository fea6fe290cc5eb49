/* SPDX-License-Identifier: MIT */
/* From an event's name to what perf_event_open(2) is given, for programs that make that call
 * themselves. */
#ifndef PERFMON_PERF_ATTR_H
#define PERFMON_PERF_ATTR_H

#include <stddef.h>
#include <perfmon/perfmon.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct perf_event_attr; /* <linux/perf_event.h> */

/**
 * Fill the part of a perf_event_attr that says what to count.
 *
 * @event    an event in any dialect; see perfmon(7)
 * @plm      levels to count when the text names none: any of PFM_PLM0..3, 0 for PFM_PLM0 | PFM_PLM3
 * @attr     type, size, config, config1, config2, bp_type, exclude_user, exclude_kernel, exclude_hv
 * and precise_ip are set, and exclude_idle, exclude_host and exclude_guest switched on where the
 * text asks for it; every other member is left as it is, so that what the caller asked for
 * (inherit, read_format ...) stays
 * @name     if not NULL, gets the canonical name in libpfm's spelling; free(3) it
 * @index    if not NULL, gets the event's number in its processor's table, -1 for an event spelled
 * out in fields
 *
 * Returns PFMLIB_SUCCESS, or, with nothing written,
 *   PFMLIB_ERR_INVAL    a NULL @event or @attr
 *   PFMLIB_ERR_NOPMU    the event belongs to a processor that this machine does not have
 *   PFMLIB_ERR_NOTSUPP  the kernel's perf events cannot count it, or not on this machine
 *   PFMLIB_ERR_FULL     it needs config3, and the struct's size member does not say that there is
 * room for it PFMLIB_ERR_NOMEM    no memory for @name and whatever pfm_encode_event() returns for a
 * text that is wrong.
 *
 * Safe to call from several threads at once.  Since 1.0.
 */
int pfm_encode_perf_attr(const char *event, int plm, struct perf_event_attr *attr, char **name,
                         int *index);

/**
 * Fills @attr from an encoding of any context.
 *
 * @ctx       the context that @encoding is from, or NULL for the default one
 * @encoding  what pfm_encode_event() made
 * @attr      as above
 * @size      bytes that are at @attr: config3 is behind what older headers know
 *
 * Returns PFMLIB_SUCCESS, or as above.  Safe to call from several threads at once.  Since 1.0.
 */
int pfm_fill_perf_event_attr(const pfm_ctx_t *ctx, const pfm_encoding_t *encoding,
                             struct perf_event_attr *attr, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
