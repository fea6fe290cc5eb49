/* SPDX-License-Identifier: MIT */
/* Attributes of events for programs that call perf_event_open(2) themselves. */
#ifndef LIBPERFMON_PERF_ATTR_H
#define LIBPERFMON_PERF_ATTR_H

#include <stddef.h>
#include <perfmon/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct perf_event_attr; /* <linux/perf_event.h> */

/**
 * Fills the members of a perf_event_attr that select an event.
 *
 * @event    an event in any dialect; see perfmon(7)
 * @plm      levels to count if the text names none: any of PFM_PLM0..3; 0: PFM_PLM0 | PFM_PLM3
 * @attr     type, size, config, config1, config2, bp_type, exclude_user, exclude_kernel,
 *           exclude_hv and precise_ip are set; exclude_idle, exclude_host and exclude_guest are
 *           set to 1 if the text requests it. The other members (inherit ...) do not change
 * @name     receives the canonical name in libpfm's spelling, to be released with free(3); or NULL
 * @index    receives the number of the event in its table, -1 if the text gives fields; or NULL
 *
 * Returns PFMLIB_SUCCESS, or writes nothing and returns
 *   PFMLIB_ERR_INVAL    @event or @attr is NULL, or @plm is negative
 *   PFMLIB_ERR_NOPMU    the event belongs to a processor that this machine does not have
 *   PFMLIB_ERR_NOTSUPP  the kernel cannot count the event, or exports no PMU for it on this machine
 *   PFMLIB_ERR_FULL     the event needs config3 or config4, and the size member is too small
 *   PFMLIB_ERR_NOMEM    out of memory for @name
 * and the codes of pfm_encode_event() for a text that is wrong.
 *
 * Thread-safe. Since 1.0.
 */
int pfm_encode_perf_attr(const char *event, int plm, struct perf_event_attr *attr, char **name,
                         int *index);

/**
 * Fills @attr from an encoding of any context.
 *
 * @ctx       the context that @encoding is from, or NULL for the default one
 * @encoding  a result of pfm_encode_event()
 * @attr      as above
 * @size      size of *@attr in bytes: older headers lack config3 and config4
 *
 * Returns PFMLIB_SUCCESS, or the codes above. Thread-safe. Since 1.0.
 */
int pfm_fill_perf_event_attr(const pfm_ctx_t *ctx, const pfm_encoding_t *encoding,
                             struct perf_event_attr *attr, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
