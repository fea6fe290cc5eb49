/* SPDX-License-Identifier: MIT */
/* The libpfm 3 interface: from the name of an event to the values of the registers that make a
 * processor count it.
 *
 * Everything here works on one selected processor (a PMU), chosen by pfm_initialize() or
 * pfm_force_pmu(). It need not be the one this program runs on: nothing here touches hardware.
 * perfmon.h has contexts, several PMUs at once and sessions; headers named after a processor have
 * the features that only it has.
 *
 * All functions may be called from several threads at once. All return PFMLIB_SUCCESS or a negative
 * code unless said otherwise; results are written on success only, unless said otherwise. Unless
 * its comment says otherwise, every function returns PFMLIB_ERR_NOINIT while no PMU is selected,
 * and PFMLIB_ERR_INVAL for a NULL pointer, an event index beyond the table or a buffer of no bytes.
 *
 * 64-bit quantities are uint64_t also where older versions of this interface had unsigned long: the
 * same type on 64-bit systems, and wide enough on others. */
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

#define PFMLIB_MAX_PMCS            512 /* control registers an output can hold */
#define PFMLIB_MAX_PMDS            512 /* data registers an output can hold */
#define PFMLIB_MAX_MASKS_PER_EVENT 48

/* ---- types ----------------------------------------------------------------------------------- */

/* One event to measure. Zero it, then fill it by hand or with pfm_find_full_event(). */
typedef struct {
	unsigned int
		event; /* index in the selected PMU's table, from pfm_find_event() and its like */
	unsigned int plm; /* privilege levels to count at, PFM_PLM*; 0: pfp_dfl_plm */
	uint64_t flags;   /* none yet: 0 */
	unsigned int unit_masks[PFMLIB_MAX_MASKS_PER_EVENT]; /* indexes, not codes */
	unsigned int num_masks;                              /* how many of them are given */
	uint64_t reserved[2];                                /* 0 */
} pfmlib_event_t;

/* Events to measure. Zero the structure, then fill it. */
typedef struct {
	unsigned int pfp_event_count;
	unsigned int pfp_dfl_plm; /* privilege levels of events that name none; not 0 */
	unsigned int pfp_flags;   /* PFMLIB_PFP_* */
	unsigned int reserved1;
	pfmlib_event_t pfp_events[PFMLIB_MAX_PMCS];
	pfmlib_regmask_t pfp_unavail_pmcs; /* control registers that must not be used */
	uint64_t reserved[6];
} pfmlib_input_param_t;

/* How to measure it. */
typedef struct {
	unsigned int pfp_pmc_count;             /* entries filled in pfp_pmcs */
	unsigned int pfp_pmd_count;             /* entries filled in pfp_pmds */
	pfmlib_reg_t pfp_pmcs[PFMLIB_MAX_PMCS]; /* control registers; the first ones are the
	                                           counters', in event order */
	pfmlib_reg_t pfp_pmds[PFMLIB_MAX_PMDS]; /* data registers; likewise */
	uint64_t reserved[7];
} pfmlib_output_param_t;

/* Messages of older versions. Accepted and ignored: this library never prints. */
typedef struct {
	unsigned int pfm_debug:1;
	unsigned int pfm_verbose:1;
	unsigned int pfm_reserved:30;
} pfmlib_options_t;

/* ---- the library ----------------------------------------------------------------------------- */

/**
 * Select the PMU of this machine, or the one the environment names.
 *
 * LIBPFM_FORCE_PMU (a type number) or PERFMON_PMU (a name) skip detection. The environment is read
 * once, by the first call, and not at all in a set-user-ID program.
 *
 * A processor that libpfm 3 never knew is selected as well, by its own table; Intel's as
 * PFMLIB_GEN_IA32_PMU.
 *
 * Returns PFMLIB_ERR_NOTSUPP when no PMU of this machine is known; a PMU selected earlier stays
 * selected then. Needs no PMU selected.  Since 1.0.
 */
pfm_err_t pfm_initialize(void);

/**
 * Accepted for older programs. Returns PFMLIB_ERR_INVAL for NULL and has no effect otherwise.
 *
 * Needs no PMU selected.  Since 1.0.
 */
pfm_err_t pfm_set_options(pfmlib_options_t *options);

/**
 * Select a PMU by type, whatever machine this is. Counts as pfm_initialize().
 *
 * Returns PFMLIB_ERR_NOTSUPP for a type the library has no events for; the selection stays as it
 * was then. Needs no PMU selected.  Since 1.0.
 */
pfm_err_t pfm_force_pmu(int type);

/**
 * Write the version of the library, (major << 16) | minor, into *@version.
 *
 * Compare its major number with that of PFMLIB_VERSION. Needs no PMU selected.  Since 1.0.
 */
pfm_err_t pfm_get_version(unsigned int *version);

/**
 * One phrase for a result code. Never NULL; codes that do not exist get a phrase too.
 *
 * The text is constant: do not modify or free it. Needs no PMU selected.  Since 1.0.
 */
char *pfm_strerror(int code);

/* ---- PMUs ------------------------------------------------------------------------------------ */

/**
 * Pass the name of every PMU type the library has events for, and of the selected one, to a
 * printf-like function.
 *
 * Needs no PMU selected.  Since 1.0.
 */
pfm_err_t pfm_list_supported_pmus(int (*pf)(const char *fmt, ...));

/**
 * Name of the selected PMU. A name that does not fit in @maxlen bytes is cut; the text always ends
 * with a NUL.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_pmu_name(char *name, int maxlen);

/**
 * Type of the selected PMU, PFMLIB_*_PMU; PFMLIB_UNKNOWN_PMU for one that libpfm 3 had no number
 * for.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_pmu_type(int *type);

/**
 * Name of any PMU type, cut to @maxlen bytes with its NUL.
 *
 * Returns PFMLIB_ERR_INVAL for a type the library has no events for. Needs no PMU selected.
 * Since 1.0.
 */
pfm_err_t pfm_get_pmu_name_bytype(int type, char *name, size_t maxlen);

/**
 * PFMLIB_SUCCESS if the library has events for this PMU type, PFMLIB_ERR_NOTSUPP if not.
 *
 * Since 1.0.
 */
pfm_err_t pfm_is_pmu_supported(int type);

/**
 * Registers of the selected PMU: the control registers, the data registers, and the data registers
 * that count.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_impl_pmcs(pfmlib_regmask_t *impl_pmcs);
pfm_err_t pfm_get_impl_pmds(pfmlib_regmask_t *impl_pmds);
pfm_err_t pfm_get_impl_counters(pfmlib_regmask_t *impl_counters);

/**
 * How many there are of each.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_num_pmcs(unsigned int *num);
pfm_err_t pfm_get_num_pmds(unsigned int *num);
pfm_err_t pfm_get_num_counters(unsigned int *num);

/**
 * Bits of a counter, of the narrowest one where they differ.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_hw_counter_width(unsigned int *width);

/* ---- finding events -------------------------------------------------------------------------- */

/**
 * Index of the event called @str, or with code @str if that starts with a digit (C notation: 10,
 * 0xa, 012).
 *
 * Names compare without regard to case; what follows a colon is ignored. Several events may have
 * one code: the first in table order is found.
 *
 * Returns PFMLIB_ERR_NOTFOUND for an unknown event, PFMLIB_ERR_INVAL for a malformed or too large
 * number.  Since 1.0.
 */
pfm_err_t pfm_find_event(const char *str, unsigned int *idx);

/**
 * As pfm_find_event(), by name only.
 *
 * Since 1.0.
 */
pfm_err_t pfm_find_event_byname(const char *name, unsigned int *idx);

/**
 * Index of the first event in table order that has this code; PFMLIB_ERR_NOTFOUND if none has.
 *
 * Since 1.0.
 */
pfm_err_t pfm_find_event_bycode(int code, unsigned int *idx);

/**
 * Index of the next event behind @start that has this code; PFMLIB_ERR_NOTFOUND if none has.
 *
 * Since 1.0.
 */
pfm_err_t pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next);

/**
 * Index of the unit mask of event @event that is called @str, or whose code is the number @str.
 *
 * Returns PFMLIB_ERR_UMASK when it has no such mask.  Since 1.0.
 */
pfm_err_t pfm_find_event_mask(unsigned int event, const char *str, unsigned int *mask_idx);

/**
 * Event and unit masks from a text, NAME:MASK:MASK. A mask may be a number: the union of masks with
 * exactly those bits.
 *
 * *@e is zeroed first, also when the call then fails.
 *
 * Returns PFMLIB_ERR_NOTFOUND for an unknown name; PFMLIB_ERR_UMASK for an unknown mask, an empty
 * one, none where the event needs one, or one where it has none; PFMLIB_ERR_TOOMANY for more masks
 * than the structure holds.  Since 1.0.
 */
pfm_err_t pfm_find_full_event(const char *str, pfmlib_event_t *e);

/* ---- about events ---------------------------------------------------------------------------- */

/**
 * Number of events of the selected PMU. Their indexes are 0 to one less.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_num_events(unsigned int *count);

/**
 * Length of the longest name, with all its unit masks, that pfm_get_full_event_name() can write,
 * without the NUL.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_max_event_name_len(size_t *len);

/**
 * Name of an event, in capitals. Returns PFMLIB_ERR_INVAL when it does not fit with its NUL.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_name(unsigned int idx, char *name, size_t maxlen);

/**
 * Name and unit masks of an event, NAME:MASK:MASK, in capitals, masks in the order given.
 *
 * Returns PFMLIB_ERR_FULL when it does not fit with its NUL (@name then holds what fits, with a
 * NUL), or what pfm_dispatch_events() returns for an event that is not valid.  Since 1.0.
 */
pfm_err_t pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen);

/**
 * Event code, as pfm_find_event_bycode() takes it.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_code(unsigned int idx, int *code);

/**
 * Event code on one counter, for processors where they differ. (unsigned)-1 asks for any counter.
 *
 * Returns PFMLIB_ERR_INVAL for a counter that does not exist.  Since 1.0.
 */
pfm_err_t pfm_get_event_code_counter(unsigned int idx, unsigned int counter, int *code);

/**
 * Counters that can count an event, in the numbers of pfm_get_impl_counters().
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters);

/**
 * A sentence about an event. Free it with free().
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_description(unsigned int idx, char **desc);

/**
 * Number of unit masks of an event, 0 if it takes none.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_num_event_masks(unsigned int idx, unsigned int *count);

/**
 * Name of a unit mask, in capitals.
 *
 * Returns PFMLIB_ERR_NOTSUPP if the event has no unit masks, PFMLIB_ERR_FULL when the name does not
 * fit with its NUL. Since 1.0.
 */
pfm_err_t pfm_get_event_mask_name(unsigned int idx, unsigned int mask_idx, char *name,
                                  size_t maxlen);

/**
 * Code of a unit mask.
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx, unsigned int *code);

/**
 * A sentence about a unit mask. Free it with free().
 *
 * Since 1.0.
 */
pfm_err_t pfm_get_event_mask_description(unsigned int idx, unsigned int mask_idx, char **desc);

/**
 * The event that counts processor cycles, ready for pfm_dispatch_events().
 *
 * Returns PFMLIB_ERR_NOTSUPP if the PMU has none.  Since 1.0.
 */
pfm_err_t pfm_get_cycle_event(pfmlib_event_t *e);

/**
 * The event that counts retired instructions, ready for pfm_dispatch_events().
 *
 * Returns PFMLIB_ERR_NOTSUPP if the PMU has none.  Since 1.0.
 */
pfm_err_t pfm_get_inst_retired_event(pfmlib_event_t *e);

/* ---- the purpose of it all ------------------------------------------------------------------- */

/**
 * Compute the register values that measure a set of events together.
 *
 * @in        events and the default privilege levels; not modified
 * @model_in  processor-specific settings, or NULL for none
 * @out       owned by the caller; the counts and as many entries as they say are written, the rest
 * is left alone
 * @model_out processor-specific results, or NULL when not wanted
 *
 * Counters are chosen lowest first, events with the fewest choices first, so equal input gives
 * equal output. Nothing is programmed. On failure @out and @model_out are unchanged.
 *
 * Returns PFMLIB_SUCCESS, or
 *   PFMLIB_ERR_NOINIT    no PMU selected
 *   PFMLIB_ERR_INVAL     no input, no output, no default privilege level, an event beyond the
 * table, or a setting that its register cannot hold PFMLIB_ERR_UMASK     an event with a wrong unit
 * mask, or without the one it needs PFMLIB_ERR_NOASSIGN  more events than counters, or no way to
 * place them others               as the processor's own page says
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
