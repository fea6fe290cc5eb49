/* SPDX-License-Identifier: MIT */
/* Binds calls of the libpfm 3 interface to libpfm.so.3 by version.
 *
 * libpfm4 has functions of the same names. With the version, a process can hold both libraries:
 * this program calls libpfm.so.3, and a library that was linked with libpfm4 (PAPI's) calls
 * libpfm.so.4. Define PERFMON_LIBPFM3_STATIC where the interface is linked statically. */
#ifndef PERFMON_LIBPFM3_PFMLIB_SYMBOLS_H
#define PERFMON_LIBPFM3_PFMLIB_SYMBOLS_H

#include <stdint.h> /* defines __GLIBC__ where the C library is glibc */

#if defined __GLIBC__ && defined __GNUC__ && !defined PERFMON_LIBPFM3_STATIC
#define PFMLIB_SYMBOL(NAME) __asm__(".symver " #NAME ", " #NAME "@LIBPFM_3");
PFMLIB_SYMBOL(pfm_dispatch_events)
PFMLIB_SYMBOL(pfm_find_event)
PFMLIB_SYMBOL(pfm_find_event_bycode)
PFMLIB_SYMBOL(pfm_find_event_bycode_next)
PFMLIB_SYMBOL(pfm_find_event_byname)
PFMLIB_SYMBOL(pfm_find_event_mask)
PFMLIB_SYMBOL(pfm_find_full_event)
PFMLIB_SYMBOL(pfm_force_pmu)
PFMLIB_SYMBOL(pfm_get_cycle_event)
PFMLIB_SYMBOL(pfm_get_event_code)
PFMLIB_SYMBOL(pfm_get_event_code_counter)
PFMLIB_SYMBOL(pfm_get_event_counters)
PFMLIB_SYMBOL(pfm_get_event_description)
PFMLIB_SYMBOL(pfm_get_event_mask_code)
PFMLIB_SYMBOL(pfm_get_event_mask_description)
PFMLIB_SYMBOL(pfm_get_event_mask_name)
PFMLIB_SYMBOL(pfm_get_event_name)
PFMLIB_SYMBOL(pfm_get_full_event_name)
PFMLIB_SYMBOL(pfm_get_hw_counter_width)
PFMLIB_SYMBOL(pfm_get_impl_counters)
PFMLIB_SYMBOL(pfm_get_impl_pmcs)
PFMLIB_SYMBOL(pfm_get_impl_pmds)
PFMLIB_SYMBOL(pfm_get_inst_retired_event)
PFMLIB_SYMBOL(pfm_get_max_event_name_len)
PFMLIB_SYMBOL(pfm_get_num_counters)
PFMLIB_SYMBOL(pfm_get_num_event_masks)
PFMLIB_SYMBOL(pfm_get_num_events)
PFMLIB_SYMBOL(pfm_get_num_pmcs)
PFMLIB_SYMBOL(pfm_get_num_pmds)
PFMLIB_SYMBOL(pfm_get_pmu_name)
PFMLIB_SYMBOL(pfm_get_pmu_name_bytype)
PFMLIB_SYMBOL(pfm_get_pmu_type)
PFMLIB_SYMBOL(pfm_get_version)
PFMLIB_SYMBOL(pfm_initialize)
PFMLIB_SYMBOL(pfm_is_pmu_supported)
PFMLIB_SYMBOL(pfm_list_supported_pmus)
PFMLIB_SYMBOL(pfm_mont_get_ear_mode)
PFMLIB_SYMBOL(pfm_mont_get_event_ear_mode)
PFMLIB_SYMBOL(pfm_mont_get_event_group)
PFMLIB_SYMBOL(pfm_mont_get_event_grp)
PFMLIB_SYMBOL(pfm_mont_get_event_maxincr)
PFMLIB_SYMBOL(pfm_mont_get_event_set)
PFMLIB_SYMBOL(pfm_mont_get_event_type)
PFMLIB_SYMBOL(pfm_mont_get_event_umask)
PFMLIB_SYMBOL(pfm_mont_irange_is_fine)
PFMLIB_SYMBOL(pfm_mont_is_dear)
PFMLIB_SYMBOL(pfm_mont_is_dear_alat)
PFMLIB_SYMBOL(pfm_mont_is_dear_cache)
PFMLIB_SYMBOL(pfm_mont_is_dear_tlb)
PFMLIB_SYMBOL(pfm_mont_is_ear)
PFMLIB_SYMBOL(pfm_mont_is_etb)
PFMLIB_SYMBOL(pfm_mont_is_iear)
PFMLIB_SYMBOL(pfm_mont_is_iear_cache)
PFMLIB_SYMBOL(pfm_mont_is_iear_tlb)
PFMLIB_SYMBOL(pfm_mont_support_all)
PFMLIB_SYMBOL(pfm_mont_support_darr)
PFMLIB_SYMBOL(pfm_mont_support_iarr)
PFMLIB_SYMBOL(pfm_mont_support_opcm)
PFMLIB_SYMBOL(pfm_set_options)
PFMLIB_SYMBOL(pfm_strerror)
#undef PFMLIB_SYMBOL
#endif

#endif
