/* SPDX-License-Identifier: MIT */
/* Interface of libpfm 3 for the dual-core Itanium 2 9000 ("Montecito"): properties of its events.
 *
 * <perfmon/montecito.h> has the settings and results of pfm_dispatch_events(), and the functions
 * that decode samples. */
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
 * Return 1 if event @i, an index from pfm_find_event() or a related function, is of this kind, else
 * 0.
 *
 *   is_ear          uses an event address register (EAR)
 *   is_dear         uses the data EAR: load misses in cache (_cache), TLB (_tlb) or ALAT (_alat)
 *   is_iear         uses the code EAR: fetch misses in cache (_cache) or TLB (_tlb)
 *   is_etb          counts entries of the trace buffer
 *   support_opcm    supports opcode matchers
 *   support_iarr    supports code ranges
 *   support_darr    supports data ranges
 *   support_all     can count for both threads of the core
 *
 * The result does not depend on the selected PMU. It is 0 if @i is out of range.  Since 1.0.
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
 * Give the properties of event @i. PFMLIB_ERR_INVAL if @i is out of range or the result is NULL;
 * the result then does not change.
 *
 *   maxincr   maximum number of occurrences in one cycle; thresholds are less
 *   umask     unit mask of the event; for an EAR event that of the register, not of the counter
 *   group     PFMLIB_MONT_EVT_*_GRP: the events of a group share selectors in a cache
 *   set       number in the group, or PFMLIB_MONT_EVT_NO_SET; one set of L1D events and two sets of
 *             L2D events can be measured together
 *   type      PFMLIB_MONT_EVT_ACTIVE to _SELF_FLOATING
 *   ear_mode  mode of the EAR; PFMLIB_ERR_INVAL if the event uses no EAR
 *
 * pfm_mont_get_event_grp() and pfm_mont_get_event_ear_mode() are aliases.
 * Since 1.0.
 */
int pfm_mont_get_event_maxincr(unsigned int i, unsigned int *maxincr);
int pfm_mont_get_event_umask(unsigned int i, unsigned long *umask);
int pfm_mont_get_event_group(unsigned int i, int *grp);
int pfm_mont_get_event_grp(unsigned int i, int *grp);
int pfm_mont_get_event_set(unsigned int i, int *set);
int pfm_mont_get_event_type(unsigned int i, int *type);
int pfm_mont_get_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *mode);
int pfm_mont_get_event_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *mode);

/**
 * Returns 1 if these results of a successful pfm_dispatch_events() restrict code in fine mode, with
 * exact limits; else 0.
 *
 * Returns 0 for NULL and for results without a code range.  Since 1.0.
 */
int pfm_mont_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_mont_output_param_t *mod_out);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
