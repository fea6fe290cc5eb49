/* SPDX-License-Identifier: MIT */
/* Shared by the Montecito files: values of the event table, and address ranges. */
#ifndef PERFMON_PMU_MONTECITO_H
#define PERFMON_PMU_MONTECITO_H

#include <stdbool.h>
#include <stdint.h>
#include <perfmon/montecito.h>
#include "pmu/pmu.h"

/* Named values of lib/events/montecito.pmu. */
enum { MONT_ACCEPTS_OPCM = 1, MONT_ACCEPTS_IARR = 2, MONT_ACCEPTS_DARR = 4 };
enum {
	MONT_EAR_NONE,
	MONT_EAR_ICACHE,
	MONT_EAR_ITLB,
	MONT_EAR_DCACHE,
	MONT_EAR_DTLB,
	MONT_EAR_ALAT
};
enum { MONT_SET_NONE, MONT_SET_L1D, MONT_SET_L2D = MONT_SET_L1D + 7 }; /* first set of each group */

static inline bool mont_is_l1d_set(uint64_t set)
{
	return set >= MONT_SET_L1D && set < MONT_SET_L2D;
}
static inline bool mont_is_l2d_set(uint64_t set)
{
	return set >= MONT_SET_L2D;
}

#define MONT_MAX_PAIRS 4 /* pairs of debug registers, for code and for data */
/* Log2 of the largest block: address bits 56 to 63 are always compared. */
#define MONT_MAX_BLOCK 56

/* An address range with both ends included, so that it can end at the highest address. */
struct mont_range {
	uint64_t first, last;
	unsigned plm;
};

/* 2^log2 bytes at a multiple of 2^log2: one pair of debug registers describes a block. */
struct mont_block {
	uint64_t addr;
	uint8_t log2;
	uint8_t plm;
};

static inline uint64_t mont_get_block_last(struct mont_block b)
{
	return b.addr + (((uint64_t)1 << b.log2) - 1);
}

/* Reads the ranges of @in. @plm: levels of entries without levels; @align: a power of two. Returns
 * the number of ranges; PFMLIB_ERR_IRRINVAL if one is empty or ends before its start,
 * PFMLIB_ERR_IRRALIGN if a limit is not a multiple of @align. */
int pfmi_mont_read_ranges(const pfmlib_mont_input_rr_t *in, unsigned plm, unsigned align,
                          struct mont_range r[MONT_MAX_PAIRS]);

/* Covers @n ranges with blocks, each of which is for the levels of one range. The cover is libpfm
 * 3's, of up to four blocks, if it is sound; otherwise the one of at most @spare blocks with the
 * fewest bytes outside the ranges. Returns the number of blocks, or PFMLIB_ERR_TOOMANY. */
int pfmi_mont_cover_ranges(const struct mont_range *r, unsigned n, unsigned spare,
                           struct mont_block out[MONT_MAX_PAIRS]);

/* Finds the cover of at most @n_pairs blocks with the fewest bytes. Returns the number of blocks,
 * or PFMLIB_ERR_TOOMANY. */
int pfmi_mont_compute_best_cover(const struct mont_range *r, unsigned n, unsigned n_pairs,
                                 struct mont_block out[MONT_MAX_PAIRS]);

/* Finds the smallest block that contains the range. False if it is too large. */
bool pfmi_mont_enclose_range(const struct mont_range *r, struct mont_block *out);

/* True if the range fits fine mode: first and last bundle in one page of 64 KB. */
bool pfmi_mont_is_fine_range(const struct mont_range *r);

/* Appends the pair of registers @num and @num + 1 for @b; a register's address is its number plus
 * @addr_add. */
void pfmi_mont_put_block(pfmlib_mont_output_rr_t *out, unsigned num, struct mont_block b,
                         unsigned addr_add);
/* Appends the two pairs of fine mode for @r at registers @num and @num + 4, and stores in
 * rr_infos[@info] how far they exceed the range. */
void pfmi_mont_put_fine_range(pfmlib_mont_output_rr_t *out, unsigned num,
                              const struct mont_range *r, unsigned info);
/* Stores in rr_infos how far the blocks exceed each range. */
void pfmi_mont_put_range_infos(pfmlib_mont_output_rr_t *out, const struct mont_range *r, unsigned n,
                               const struct mont_block *b, unsigned n_blocks);

/* ---- what the encoder's files share ---------------------------------------------------------- */

#define MONT_MAX_EVENTS PMU_MONT_NUM_COUNTERS

/* Codes of events with special rules. */
enum {
	CODE_RETIRED = 0x08,
	CODE_CYCLES = 0x12,
	UMASK_CYCLES_QUAL = 1,
	CODE_CANCELS0 = 0xe0,
	CODE_CANCELS1 = 0xe2,
	CODE_L1I_PREFETCHES = 0x44,
	CODE_L1I_STRM_PREFETCHES = 0x5f,
	CODE_L2I_PREFETCHES = 0x45,
	CODE_ISB_BUNPAIRS_IN = 0x46,
	CODE_L1I_FETCH_RAB_HIT = 0x65,
	CODE_L1I_FETCH_ISB_HIT = 0x66,
	CODE_L1I_FILLS = 0x41
};

/* The fields of an event. */
struct mont_event_traits {
	uint64_t counters;
	uint32_t row;
	uint16_t plm; /* levels that the event names, 0 for none */
	uint8_t code, umask, mesi, max_increment, threshold, set, type, accepts, ear, ear_umask,
		etb;
	bool has_no_levels; /* every level is excluded */
	uint32_t flags;     /* PFMLIB_MONT_FL_* */
};

/* Data that constrain_set() passes to encode_set(). */
struct mont_plan {
	struct mont_event_traits events[MONT_MAX_EVENTS];
	unsigned n_pmcs, n_pmds;
	struct {
		uint8_t num;
		uint64_t value;
	} pmcs[12]; /* control registers after those of the counters, in order */
	uint8_t pmds[24];
	pfmlib_mont_output_rr_t irange, drange;
};

_Static_assert(sizeof(struct mont_plan) <= sizeof(((struct plan *)0)->encoder_data),
               "the plan has no room");

/* State of constrain_set() that its steps share. */
struct mont_plan_context {
	const struct encode_request *req;
	const pfmlib_mont_input_param_t *input; /* NULL for none */
	struct mont_plan *plan;
	pfm_error_t *error;
	bool has_irange, has_drange, has_opcm1, has_opcm2; /* filters in use */
	unsigned ear_kinds; /* bit for each kind of address register that an event uses */
	bool has_etb_event; /* some event uses the trace buffer */
};

static inline int mont_set_error(const struct mont_plan_context *w, int code, int event,
                                 const char *detail)
{
	if (w->error)
		*w->error = (pfm_error_t){ .size = w->error->size,
			                   .code = code,
			                   .kind = PFM_KIND_MODEL,
			                   .event = event,
			                   .detail = detail };
	return code;
}

static inline bool mont_is_unavailable(const struct mont_plan_context *w, unsigned num)
{
	return pfm_regmask_isset(w->req->unavailable_regs, num);
}

/* Adds control register @num to the plan. PFMLIB_ERR_NOASSIGN if it is not available. */
int pfmi_mont_add_pmc(const struct mont_plan_context *w, unsigned num, uint64_t value);
/* Plans the code range, the data range, and the register for both. (montecito_range_plan.c) */
int pfmi_mont_plan_ranges(const struct mont_plan_context *w);

/* Plans everything but the counters: address registers, ranges, opcode matchers, trace buffer.
 * Refuses settings that would count something other than what was requested. Fills w->plan. Returns
 * 0 or PFMLIB_ERR_*. */
int pfmi_mont_plan_features(const struct mont_plan_context *w);

#endif
