/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface: translates the name of an event into the values of the registers that
 * make a processor count it.
 *
 * The functions work on one selected processor (a PMU), which pfm_initialize() or pfm_force_pmu()
 * selects. It need not be the processor of this machine, because the functions do not access
 * hardware. perfmon.h has contexts with several PMUs, and sessions. Headers named after a processor
 * have the features of that processor.
 *
 * All functions are thread-safe. Unless their comments say otherwise, they return PFMLIB_SUCCESS or
 * a negative code, write results only on success, return PFMLIB_ERR_NOINIT if no PMU is selected,
 * and return PFMLIB_ERR_INVAL for a NULL pointer, an event index out of range or a buffer of 0
 * bytes.
 *
 * 64-bit values are uint64_t, even where older versions of this interface had unsigned long: this
 * is the same type on 64-bit systems, and wide enough on others. */
#ifndef PERFMON_LIBPFM3_PFMLIB_H
#define PERFMON_LIBPFM3_PFMLIB_H

#include <stddef.h>
#include <stdint.h>
#include <perfmon/pfmlib_symbols.h>
#include <perfmon/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- version --------------------------------------------------------------------------------- */

#define PFMLIB_VERSION        (3 << 16 | 11)
#define PFMLIB_MAJ_VERSION(v) ((v) >> 16)
#define PFMLIB_MIN_VERSION(v) ((v)&0xffff)

/* ---- limits and flags ------------------------------------------------------------------------ */

#define PFMLIB_MAX_PMCS            512 /* number of control registers in an output */
#define PFMLIB_MAX_PMDS            512 /* number of data registers in an output */
#define PFMLIB_MAX_MASKS_PER_EVENT 48

/* ---- types ----------------------------------------------------------------------------------- */

/* One event to measure. Set it to zero, and then fill it, or call pfm_find_full_event(). */
typedef struct {
	unsigned int event; /* index in the table of the selected PMU */
	unsigned int plm;   /* privilege levels to count, PFM_PLM*; 0: pfp_dfl_plm */
	uint64_t flags;     /* must be 0 */
	unsigned int unit_masks[PFMLIB_MAX_MASKS_PER_EVENT]; /* indexes, not codes */
	unsigned int num_masks;                              /* number of unit masks */
	uint64_t reserved[2];                                /* 0 */
} pfmlib_event_t;

/* Events to measure. Set the structure to zero, and then fill it. */
typedef struct {
	unsigned int pfp_event_count;
	unsigned int pfp_dfl_plm; /* privilege levels of events that name none; not 0 */
	unsigned int pfp_flags;   /* PFMLIB_PFP_* */
	unsigned int reserved1;
	pfmlib_event_t pfp_events[PFMLIB_MAX_PMCS];
	pfmlib_regmask_t pfp_unavail_pmcs; /* control registers that must not be used */
	uint64_t reserved[6];
} pfmlib_input_param_t;

/* Registers that measure the events. */
typedef struct {
	unsigned int pfp_pmc_count;             /* number of entries in pfp_pmcs */
	unsigned int pfp_pmd_count;             /* number of entries in pfp_pmds */
	pfmlib_reg_t pfp_pmcs[PFMLIB_MAX_PMCS]; /* control registers; the first ones are the
	                                           counters', in event order */
	pfmlib_reg_t pfp_pmds[PFMLIB_MAX_PMDS]; /* data registers, in the same order */
	uint64_t reserved[7];
} pfmlib_output_param_t;

/* Message options of older versions. This library ignores them, because it prints no messages. */
typedef struct {
	unsigned int pfm_debug:1;
	unsigned int pfm_verbose:1;
	unsigned int pfm_reserved:30;
} pfmlib_options_t;

/* ---- the library ----------------------------------------------------------------------------- */

/**
 * Selects the PMU of this machine, or the PMU that the environment names.
 *
 * LIBPFM_FORCE_PMU (a type number) and PERFMON_PMU (a name) replace the detection. The first call
 * reads the environment. A set-user-ID program ignores it.
 *
 * A processor that libpfm 3 does not know is selected with its own table, or, if it is one of
 * Intel, as PFMLIB_GEN_IA32_PMU.
 *
 * Returns PFMLIB_ERR_NOTSUPP if no PMU of this machine is known; the selected PMU then stays the
 * same. Works without a selected PMU. Since 1.0.
 */
pfm_err_t pfm_initialize(void);

/**
 * Exists for older programs. Returns PFMLIB_ERR_INVAL for NULL, and has no other effect.
 *
 * Works without a selected PMU. Since 1.0.
 */
pfm_err_t pfm_set_options(pfmlib_options_t *options);

/**
 * Selects a PMU by type, on any machine. Replaces pfm_initialize().
 *
 * Returns PFMLIB_ERR_NOTSUPP if the library has no events for the type; the selected PMU then stays
 * the same. Works without a selected PMU. Since 1.0.
 */
pfm_err_t pfm_force_pmu(int type);

/**
 * Stores the version of the interface, (major << 16) | minor, in *@version.
 *
 * Compare its major number with that of PFMLIB_VERSION. Works without a selected PMU. Since 1.0.
 */
pfm_err_t pfm_get_version(unsigned int *version);

/**
 * Returns a phrase for a result code, never NULL, even for unknown codes.
 *
 * The string is constant: do not modify or release it. Works without a selected PMU. Since 1.0.
 */
char *pfm_strerror(int code);

/* ---- PMUs ------------------------------------------------------------------------------------ */

/**
 * Passes the names of all PMU types with events in this library, and of the selected PMU, to a
 * function like printf(3).
 *
 * Works without a selected PMU. Since 1.0.
 */
pfm_err_t pfm_list_supported_pmus(int (*pf)(const char *fmt, ...));

/**
 * Gives the name of the selected PMU, truncated to @maxlen bytes including its null byte.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_pmu_name(char *name, int maxlen);

/**
 * Gives the type of the selected PMU, PFMLIB_*_PMU, or PFMLIB_UNKNOWN_PMU if libpfm 3 has no number
 * for it.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_pmu_type(int *type);

/**
 * Gives the name of a PMU type, truncated to @maxlen bytes including its null byte.
 *
 * Returns PFMLIB_ERR_INVAL if the library has no events for the type. Works without a selected PMU.
 * Since 1.0.
 */
pfm_err_t pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen);

/**
 * Returns PFMLIB_SUCCESS if the library has events for the PMU type, PFMLIB_ERR_NOTSUPP if not.
 *
 * Since 1.0.
 */
pfm_err_t pfm_is_pmu_supported(int type);

/**
 * Give the registers of the selected PMU: the control registers, the data registers, and the data
 * registers that count.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs);
pfm_err_t pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds);
pfm_err_t pfm_get_impl_counters(pfmlib_regmask_t *impl_counters);

/**
 * Give the number of these registers.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_num_pmcs(unsigned int *num);
pfm_err_t pfm_get_num_pmds(unsigned int *num);
pfm_err_t pfm_get_num_counters(unsigned int *num);

/**
 * Gives the width of a counter in bits, or that of the narrowest counter if they differ.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_hw_counter_width(unsigned int *width);

/* ---- finding events -------------------------------------------------------------------------- */

/**
 * Gives the index of the event called @str, or with the code @str if it starts with a digit (C
 * notation: 10, 0xa, 012).
 *
 * Ignores case, and text after a colon. If several events have the code, gives the first in table
 * order.
 *
 * Returns PFMLIB_ERR_NOTFOUND for an unknown event, PFMLIB_ERR_INVAL if the number is malformed or
 * too large. Since 1.0.
 */
pfm_err_t pfm_find_event(const char *str, unsigned int *idx);

/**
 * Like pfm_find_event(), but only by name.
 *
 * Since 1.0.
 */
pfm_err_t pfm_find_event_byname(const char *name, unsigned int *idx);

/**
 * Gives the index of the first event in table order with the code.
 * PFMLIB_ERR_NOTFOUND if no event has the code.
 *
 * Since 1.0.
 */
pfm_err_t pfm_find_event_bycode(int code, unsigned int *idx);

/**
 * Gives the index of the next event after @start with the code.
 * PFMLIB_ERR_NOTFOUND if no event has the code.
 *
 * Since 1.0.
 */
pfm_err_t pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next);

/**
 * Gives the index of the unit mask of event @event with the name @str, or with the code @str if
 * that is a number.
 *
 * Returns PFMLIB_ERR_UMASK if the unit mask is unknown. Since 1.0.
 */
pfm_err_t pfm_find_event_mask(unsigned int event, const char *str, unsigned int *mask_idx);

/**
 * Parses an event and unit masks, NAME:MASK:MASK. A number selects the unit masks whose union has
 * exactly its bits.
 *
 * Sets *@e to zero first, even if the call fails later.
 *
 * Returns PFMLIB_ERR_NOTFOUND for an unknown name; PFMLIB_ERR_UMASK if a mask is unknown or empty,
 * a required mask is missing, or the event takes no masks; PFMLIB_ERR_TOOMANY if the structure
 * cannot hold the masks. Since 1.0.
 */
pfm_err_t pfm_find_full_event(const char *str, pfmlib_event_t *e);

/* ---- descriptions ---------------------------------------------------------------------------- */

/**
 * Gives the number of events of the selected PMU. Their indexes start at 0.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_num_events(unsigned int *count);

/**
 * Gives the length of the longest name with all its unit masks that pfm_get_full_event_name() can
 * write, without the null byte.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_max_event_name_len(size_t *len);

/**
 * Gives the name of an event, in upper case. Returns PFMLIB_ERR_INVAL if the name and its null byte
 * do not fit.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_name(unsigned int idx, char *name, size_t maxlen);

/**
 * Gives the name and the unit masks of an event, NAME:MASK:MASK, in upper case. The masks are in
 * the order of @e.
 *
 * Returns PFMLIB_ERR_FULL if the name and its null byte do not fit (@name then holds the truncated
 * name), or the codes of pfm_dispatch_events() for an invalid event. Since 1.0.
 */
pfm_err_t pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen);

/**
 * Gives the code of an event, as pfm_find_event_bycode() accepts it.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_code(unsigned int idx, int *code);

/**
 * Gives the code of an event on one counter, for processors on which codes differ. (unsigned)-1
 * means any counter.
 *
 * Returns PFMLIB_ERR_INVAL if the counter does not exist. Since 1.0.
 */
pfm_err_t pfm_get_event_code_counter(unsigned int idx, unsigned int counter, int *code);

/**
 * Gives the set of counters that can count an event, with the numbers of pfm_get_impl_counters().
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters);

/**
 * Gives the description of an event. Release it with free(3).
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_description(unsigned int idx, char **desc);

/**
 * Gives the number of unit masks of an event, 0 if it takes none.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_num_event_masks(unsigned int idx, unsigned int *count);

/**
 * Gives the name of a unit mask, in upper case.
 *
 * Returns PFMLIB_ERR_NOTSUPP if the event takes no unit masks, PFMLIB_ERR_FULL if the name and its
 * null byte do not fit. Since 1.0.
 */
pfm_err_t pfm_get_event_mask_name(unsigned int idx, unsigned int mask_idx, char *name,
                                  size_t maxlen);

/**
 * Gives the code of a unit mask.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx, unsigned int *code);

/**
 * Gives the description of a unit mask. Release it with free(3).
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_mask_description(unsigned int idx, unsigned int mask_idx, char **desc);

/**
 * Gives the event that counts processor cycles, ready for pfm_dispatch_events().
 *
 * Returns PFMLIB_ERR_NOTSUPP if the PMU lacks the event. Since 1.0.
 */
pfm_err_t pfm_get_cycle_event(pfmlib_event_t *e);

/**
 * Gives the event that counts retired instructions, ready for pfm_dispatch_events().
 *
 * Returns PFMLIB_ERR_NOTSUPP if the PMU lacks the event. Since 1.0.
 */
pfm_err_t pfm_get_inst_retired_event(pfmlib_event_t *e);

/* ---- registers ------------------------------------------------------------------------------- */

/**
 * Computes the register values that measure a set of events together.
 *
 * @in         events and the default privilege levels; not modified
 * @model_in   processor-specific settings, or NULL for none
 * @out        owned by the caller; the call writes the counts and as many entries as they give
 * @model_out  receives processor-specific results, or NULL
 *
 * The event that the fewest counters can count is placed first, on its lowest free counter, so
 * equal input gives equal output. No hardware is programmed. On failure, @out and @model_out are
 * unchanged.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_NOINIT    no PMU is selected
 *   PFMLIB_ERR_INVAL     the input, the output or the default privilege level is missing, an
 *                        index is out of range, or a setting does not fit in its register
 *   PFMLIB_ERR_UMASK     a unit mask is invalid, or a required unit mask is missing
 *   PFMLIB_ERR_NOASSIGN  the events do not fit on the counters
 *   other codes          see the page of the processor
 *
 * Since 1.0.
 */
pfm_err_t pfm_dispatch_events(pfmlib_input_param_t *in, void *model_in, pfmlib_output_param_t *out,
                              void *model_out);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
