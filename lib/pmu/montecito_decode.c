/* SPDX-License-Identifier: MIT */
/* Decoding of Montecito's address registers and trace buffer.
 *
 * PMD39 has four more bits for each of the sixteen entries of the trace buffer, those of PMD48+j
 * next to those of PMD56+j. */
#include <string.h>
#include "montecito.h"

static const struct register_field dear_latency = { "latency", 0, 13 },
				   dear_overflow = { "overflow", 13, 1 },
				   dear_status = { "status", 14, 2 };
static const struct register_field dear_slot = { "slot", 0, 2 }, dear_bundle = { "bundle", 2, 1 },
				   dear_valid = { "valid", 3, 1 };
static const struct register_field iear_status = { "status", 0, 2 },
				   iear_latency = { "latency", 0, 12 },
				   iear_overflow = { "overflow", 12, 1 };
static const struct register_field etb_next = { "next", 0, 4 }, etb_full = { "full", 5, 1 };
static const struct register_field etb_source = { "source", 0, 1 },
				   etb_mispredict = { "mispredict", 1, 1 },
				   etb_slot = { "slot", 2, 2 };
static const struct register_field ip_addr = { "addr", 0, 60 }, ip_cycles = { "cycles", 60, 4 };
static const struct register_field ip_delay = { "delay", 0, 8 }, ip_page = { "addr", 8, 52 };

/* Bits of a nibble of PMD39. */
enum { EXT_BUNDLE = 1, EXT_BRUFLUSH = 2 };
enum { EXT_CYCLES = 3, EXT_FLUSH = 4, EXT_EARLY_FREEZE = 8 };

#define SLOT_NOT_TAKEN 3
#define BUNDLE_MASK    (~(uint64_t)15)

/* In TLB mode the status is where the translation was found, a pfmlib_mont_level_t; in cache mode
 * the latency excludes levels that are faster. */
static pfmlib_mont_level_t get_memory_level(pfmlib_mont_ear_mode_t mode, bool valid,
                                            uint64_t status, uint64_t latency, bool overflow)
{
	if (!valid || mode == PFMLIB_MONT_EAR_ALAT_MODE)
		return PFMLIB_MONT_LEVEL_NONE;
	if (mode == PFMLIB_MONT_EAR_TLB_MODE)
		return (pfmlib_mont_level_t)status;
	return overflow || latency >= PFMLIB_MONT_L3_CYCLES ? PFMLIB_MONT_LEVEL_FAR
	                                                    : PFMLIB_MONT_LEVEL_L2;
}

int pfm_mont_decode_dear(pfmlib_mont_ear_mode_t mode, uint64_t pmd32, uint64_t pmd33,
                         uint64_t pmd36, pfmlib_mont_dear_sample_t *out)
{
	uint64_t status = register_field_extract(pmd33, dear_status);
	bool cache = mode == PFMLIB_MONT_EAR_CACHE_MODE;

	if (!out ||
	    (!cache && mode != PFMLIB_MONT_EAR_TLB_MODE && mode != PFMLIB_MONT_EAR_ALAT_MODE))
		return PFMLIB_ERR_INVAL;
	memset(out, 0, sizeof(*out));
	out->dear_valid = status != 0;
	out->dear_daddr = pmd32;
	out->dear_latency = cache ? (uint32_t)register_field_extract(pmd33, dear_latency) : 0;
	out->dear_overflow = cache && register_field_extract(pmd33, dear_overflow);
	out->dear_iaddr_valid = register_field_extract(pmd36, dear_valid) != 0;
	out->dear_iaddr = (pmd36 & BUNDLE_MASK) + 16 * register_field_extract(pmd36, dear_bundle);
	out->dear_slot = (uint32_t)register_field_extract(pmd36, dear_slot);
	out->dear_level = get_memory_level(mode, out->dear_valid, status, out->dear_latency,
	                                   out->dear_overflow);
	return PFMLIB_SUCCESS;
}

int pfm_mont_decode_iear(pfmlib_mont_ear_mode_t mode, uint64_t pmd34, uint64_t pmd35,
                         pfmlib_mont_iear_sample_t *out)
{
	uint64_t status = register_field_extract(pmd34, iear_status);
	bool cache = mode == PFMLIB_MONT_EAR_CACHE_MODE;

	if (!out || (!cache && mode != PFMLIB_MONT_EAR_TLB_MODE))
		return PFMLIB_ERR_INVAL;
	memset(out, 0, sizeof(*out));
	out->iear_valid = status != 0;
	out->iear_iaddr = pmd34 & ~(uint64_t)31;
	out->iear_latency = cache ? (uint32_t)register_field_extract(pmd35, iear_latency) : 0;
	out->iear_overflow = cache && register_field_extract(pmd35, iear_overflow);
	out->iear_level = get_memory_level(mode, out->iear_valid, status, out->iear_latency,
	                                   out->iear_overflow);
	return PFMLIB_SUCCESS;
}

/* ---- trace buffer ---------------------------------------------------------------------------- */

static unsigned get_entry_extension(uint64_t pmd39, unsigned entry)
{
	return (unsigned)(pmd39 >> (entry < 8 ? 8 * entry : 8 * (entry - 8) + 4)) & 15;
}

/* The number of entries, and the oldest of them. Before the buffer wraps, only the entries before
 * the next one are used. */
static unsigned count_entries(uint64_t pmd38, unsigned *oldest)
{
	unsigned next = (unsigned)register_field_extract(pmd38, etb_next);
	bool full = register_field_extract(pmd38, etb_full);

	*oldest = full ? next : 0;
	return full ? PMU_MONT_NUM_ETB : next;
}

static pfmlib_mont_branch_t *append_branch(pfmlib_mont_branch_t *out, unsigned *n, unsigned entry)
{
	pfmlib_mont_branch_t *br = &out[(*n)++];

	memset(br, 0, sizeof(*br));
	br->br_slot = SLOT_NOT_TAKEN;
	br->br_entry = (uint8_t)entry;
	return br;
}

static void read_branch_source(pfmlib_mont_branch_t *br, uint64_t pmd, unsigned ext)
{
	br->br_source_valid = 1;
	br->br_source = (pmd & BUNDLE_MASK) + (ext & EXT_BUNDLE ? 16 : 0);
	br->br_slot = (uint8_t)register_field_extract(pmd, etb_slot);
	br->br_taken = br->br_slot != SLOT_NOT_TAKEN;
	br->br_mispredicted = (uint8_t)register_field_extract(pmd, etb_mispredict);
	br->br_flushed = (ext & EXT_BRUFLUSH) != 0;
}

int pfm_mont_decode_etb(uint64_t pmd38, uint64_t pmd39, const uint64_t pmds[PMU_MONT_NUM_ETB],
                        pfmlib_mont_branch_t out[PMU_MONT_NUM_ETB], unsigned int *n)
{
	unsigned oldest, count = count_entries(pmd38, &oldest), found = 0;
	pfmlib_mont_branch_t *open = NULL; /* a taken branch whose target may come next */

	if (!pmds || !out || !n)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < count; i++) {
		unsigned entry = (oldest + i) % PMU_MONT_NUM_ETB;
		uint64_t pmd = pmds[entry];

		if (register_field_extract(pmd, etb_source)) {
			open = append_branch(out, &found, entry);
			read_branch_source(open, pmd, get_entry_extension(pmd39, entry));
			if (!open->br_taken)
				open = NULL;
			continue;
		}
		/* This bit is set in every target: without it the entry was never written. */
		if (!register_field_extract(pmd, etb_mispredict))
			continue;
		if (!open)
			open = append_branch(out, &found, entry);
		open->br_target = pmd & BUNDLE_MASK;
		open->br_target_valid = open->br_taken = 1;
		open = NULL;
	}
	*n = found;
	return PFMLIB_SUCCESS;
}

int pfm_mont_decode_ipear(uint64_t pmd38, uint64_t pmd39, const uint64_t pmds[PMU_MONT_NUM_ETB],
                          pfmlib_mont_ip_t out[PMU_MONT_NUM_ETB], unsigned int *n)
{
	unsigned oldest, count = count_entries(pmd38, &oldest);

	if (!pmds || !out || !n)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < count; i++) {
		unsigned entry = (oldest + i) % PMU_MONT_NUM_ETB,
			 ext = get_entry_extension(pmd39, entry);
		uint64_t pmd = pmds[entry];
		pfmlib_mont_ip_t *ip = &out[i];

		memset(ip, 0, sizeof(*ip));
		ip->ip_entry = (uint8_t)entry;
		ip->ip_cycles = (uint32_t)((ext & EXT_CYCLES) << 4 |
		                           register_field_extract(pmd, ip_cycles));
		ip->ip_flushed = (ext & EXT_FLUSH) != 0;
		ip->ip_early_freeze = (ext & EXT_EARLY_FREEZE) != 0;
		ip->ip_delay =
			ip->ip_early_freeze ? (uint32_t)register_field_extract(pmd, ip_delay) : 0;
		ip->ip_addr = ip->ip_early_freeze ? register_field_extract(pmd, ip_page) << 12
		                                  : register_field_extract(pmd, ip_addr) << 4;
	}
	*n = count;
	return PFMLIB_SUCCESS;
}
