/* SPDX-License-Identifier: MIT */
/* libpfm 3's interface to the dual-core Itanium 2 9000 ("Montecito"): questions about its events.
 *
 * <perfmon/montecito.h> has the settings and results of pfm_dispatch_events(), and the decoders of
 * what the hardware records. */
#ifndef PERFMON_LIBPFM3_PFMLIB_MONTECITO_H
#define PERFMON_LIBPFM3_PFMLIB_MONTECITO_H

#include <perfmon/montecito.h>
#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/**
 * Kind of event @i, an index from pfm_find_event() and its like: 1 if it is of that kind, else 0.
 *
 *   is_ear          feeds an event address register
 *   is_dear         the one for data: misses of loads in cache (_cache), TLB (_tlb) or ALAT (_alat)
 *   is_iear         the one for code: misses of fetches in cache (_cache) or TLB (_tlb)
 *   is_etb          counts what the trace buffer records
 *   support_opcm    counts truly while an opcode matcher is in use
 *   support_iarr    the same for code ranges
 *   support_darr    the same for data ranges
 *   support_all     can count for both threads of the core
 *
 * All of them answer about the Montecito table whatever PMU is selected, and 0 for an index beyond
 * it.  Since 1.0.
 */
int pfm_mont_is_ear(unsigned int i);
int pfm_mont_is_dear(unsigned int i);
int pfm_mont_is_dear_tlb(unsigned int i);
int pfm_mont_is_dear_cache(unsigned int i);
int pfm_mont_is_dear_alat(unsigned int i);
int pfm_mont_is_iear(unsigned int i);
int pfm_mont_is_iear_tlb(unsigned int i);
int pfm_mont_is_iear_cache(unsigned int i);
int pfm_mont_is_etb(unsigned int i);
int pfm_mont_support_opcm(unsigned int i);
int pfm_mont_support_iarr(unsigned int i);
int pfm_mont_support_darr(unsigned int i);
int pfm_mont_support_all(unsigned int i);

/**
 * Traits of event @i. PFMLIB_ERR_INVAL for an index beyond the table or a NULL result; the result
 * is left alone then.
 *
 *   maxincr   most occurrences in one cycle; thresholds are below it
 *   umask     unit mask of the event; for an EAR event that of the register, not of the counter
 *   group     PFMLIB_MONT_EVT_*_GRP: the events of a group share selectors in the cache they look
 * at set       number within the group, or PFMLIB_MONT_EVT_NO_SET. One set of L1D events, two of
 * L2D events fit together type      PFMLIB_MONT_EVT_ACTIVE to _SELF_FLOATING ear_mode
 * PFMLIB_ERR_INVAL too if the event feeds no EAR
 *
 * pfm_mont_get_event_grp() and pfm_mont_get_event_ear_mode() are other names of the same calls.
 * Since 1.0.
 */
int pfm_mont_get_event_maxincr(unsigned int i, unsigned int *maxincr);
int pfm_mont_get_event_umask(unsigned int i, uint64_t *umask);
int pfm_mont_get_event_group(unsigned int i, int *grp);
int pfm_mont_get_event_grp(unsigned int i, int *grp);
int pfm_mont_get_event_set(unsigned int i, int *set);
int pfm_mont_get_event_type(unsigned int i, int *type);
int pfm_mont_get_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *mode);
int pfm_mont_get_event_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *mode);

/**
 * 1 if these outputs of a pfm_dispatch_events() that succeeded restrict code in fine mode, with
 * exact limits; else 0.
 *
 * NULL, or outputs without a code range, give 0.  Since 1.0.
 */
int pfm_mont_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_mont_output_param_t *mod_out);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
