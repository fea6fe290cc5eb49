/* SPDX-License-Identifier: MIT */
/* Intel Core Solo and Core Duo: settings of pfm_dispatch_events() for these processors.
 *
 * The processors have two counters. Control register n of the output is IA32_PERFEVTSELn (reg_addr
 * 0x186 + n), and data register n is IA32_PMCn (reg_addr 0xc1 + n; reg_alt_addr is the index for
 * RDPMC). The enable and interrupt bits of the values are set. Privilege level 3 sets USR, and
 * level 0 sets OS. Levels 1 and 2 give PFMLIB_ERR_INVAL. */
#ifndef LIBPERFMON_COREDUO_H
#define LIBPERFMON_COREDUO_H

#include <stdint.h>
#include <perfmon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define PMU_COREDUO_NUM_COUNTERS 2

/* pfmlib_coreduo_counter_t.flags */
#define PFM_COREDUO_SEL_INV                                                                        \
	0x1 /* count the clock cycles in which the event occurs less than cnt_mask times */
#define PFM_COREDUO_SEL_EDGE 0x2 /* count how often the condition becomes true */

/** Settings of the event with the same index in pfp_events. */
typedef struct {
	uint64_t cnt_mask;  /**< count the clock cycles in which the event occurs at least this many
	                       times, 0..255; 0: count events */
	unsigned int flags; /**< PFM_COREDUO_SEL_* */
} pfmlib_coreduo_counter_t;

/** model_in of pfm_dispatch_events(). A value out of range or an unknown flag gives
 * PFMLIB_ERR_INVAL. */
typedef struct {
	pfmlib_coreduo_counter_t pfp_coreduo_counters[PMU_COREDUO_NUM_COUNTERS];
	uint64_t reserved[4]; /**< must be 0 */
} pfmlib_coreduo_input_param_t;

/** model_out of pfm_dispatch_events(). There are no results other than registers. */
typedef struct {
	uint64_t reserved[8];
} pfmlib_coreduo_output_param_t;

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
