/* SPDX-License-Identifier: MIT */
/* Queries about Montecito events by their index. Each reads one field of the event table. */
#include <perfmon/pfmlib_montecito.h>
#include "pmu/montecito.h"
#include "selected.h"

/* The built-in table of Montecito. */
static const struct table *find_montecito_table(void)
{
	for (unsigned i = 0; i < pfm3_count_tables(); i++)
		if (pfm3_get_table(i)->encoder == ENCODER_MONTECITO)
			return pfm3_get_table(i);
	return NULL;
}

/* Reads field @key of event @i. Returns 0, or PFMLIB_ERR_INVAL for an index beyond the table. */
static int read_event_field(unsigned i, enum field_key key, uint64_t *value)
{
	const struct table *t = find_montecito_table();

	if (!t || i >= t->n_rows)
		return PFMLIB_ERR_INVAL;
	*value = pfmi_table_get_row_value(t, i, key, ANY_COUNTER);
	return PFMLIB_SUCCESS;
}

static uint64_t get_ear_kind(unsigned i)
{
	uint64_t ear;

	return read_event_field(i, KEY_EAR, &ear) ? MONT_EAR_NONE : ear;
}

static int has_accepted_filter(unsigned i, uint64_t filter)
{
	uint64_t value;

	return read_event_field(i, KEY_ACCEPTS, &value) == PFMLIB_SUCCESS && value & filter;
}

int pfm_mont_is_ear(unsigned int i)
{
	return get_ear_kind(i) != MONT_EAR_NONE;
}
int pfm_mont_is_dear(unsigned int i)
{
	return get_ear_kind(i) >= MONT_EAR_DCACHE;
}
int pfm_mont_is_dear_tlb(unsigned int i)
{
	return get_ear_kind(i) == MONT_EAR_DTLB;
}
int pfm_mont_is_dear_cache(unsigned int i)
{
	return get_ear_kind(i) == MONT_EAR_DCACHE;
}
int pfm_mont_is_dear_alat(unsigned int i)
{
	return get_ear_kind(i) == MONT_EAR_ALAT;
}
int pfm_mont_is_iear(unsigned int i)
{
	return get_ear_kind(i) == MONT_EAR_ICACHE || get_ear_kind(i) == MONT_EAR_ITLB;
}
int pfm_mont_is_iear_tlb(unsigned int i)
{
	return get_ear_kind(i) == MONT_EAR_ITLB;
}
int pfm_mont_is_iear_cache(unsigned int i)
{
	return get_ear_kind(i) == MONT_EAR_ICACHE;
}
int pfm_mont_support_opcm(unsigned int i)
{
	return has_accepted_filter(i, MONT_ACCEPTS_OPCM);
}
int pfm_mont_support_iarr(unsigned int i)
{
	return has_accepted_filter(i, MONT_ACCEPTS_IARR);
}
int pfm_mont_support_darr(unsigned int i)
{
	return has_accepted_filter(i, MONT_ACCEPTS_DARR);
}

int pfm_mont_is_etb(unsigned int i)
{
	uint64_t value;

	return read_event_field(i, KEY_ETB, &value) == PFMLIB_SUCCESS && value;
}

int pfm_mont_support_all(unsigned int i)
{
	(void)i; /* the table has no event that counts for both threads */
	return 0;
}

int pfm_mont_get_event_maxincr(unsigned int i, unsigned int *maxincr)
{
	uint64_t value;

	if (!maxincr || read_event_field(i, KEY_MAX, &value))
		return PFMLIB_ERR_INVAL;
	*maxincr = (unsigned)value;
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_event_umask(unsigned int i, unsigned long *umask)
{
	uint64_t value;

	if (!umask || read_event_field(i, pfm_mont_is_ear(i) ? KEY_EAR_UMASK : KEY_UMASK, &value))
		return PFMLIB_ERR_INVAL;
	*umask = (unsigned long)value;
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_event_group(unsigned int i, int *grp)
{
	uint64_t set;

	if (!grp || read_event_field(i, KEY_SET, &set))
		return PFMLIB_ERR_INVAL;
	*grp = mont_is_l1d_set(set)   ? PFMLIB_MONT_EVT_L1D_CACHE_GRP
	       : mont_is_l2d_set(set) ? PFMLIB_MONT_EVT_L2D_CACHE_GRP
	                              : PFMLIB_MONT_EVT_NO_GRP;
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_event_grp(unsigned int i, int *grp)
{
	return pfm_mont_get_event_group(i, grp);
}

int pfm_mont_get_event_set(unsigned int i, int *set)
{
	uint64_t value;

	if (!set || read_event_field(i, KEY_SET, &value))
		return PFMLIB_ERR_INVAL;
	*set = mont_is_l1d_set(value)   ? (int)value - MONT_SET_L1D
	       : mont_is_l2d_set(value) ? (int)value - MONT_SET_L2D
	                                : PFMLIB_MONT_EVT_NO_SET;
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_event_type(unsigned int i, int *type)
{
	uint64_t value;

	if (!type || read_event_field(i, KEY_TYPE, &value))
		return PFMLIB_ERR_INVAL;
	*type = (int)value; /* the named values of the table are in the order of
	                       PFMLIB_MONT_EVT_ACTIVE ... _SELF_FLOATING */
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *mode)
{
	uint64_t ear = get_ear_kind(i);

	if (!mode || ear == MONT_EAR_NONE)
		return PFMLIB_ERR_INVAL;
	*mode = ear == MONT_EAR_ITLB || ear == MONT_EAR_DTLB ? PFMLIB_MONT_EAR_TLB_MODE
	        : ear == MONT_EAR_ALAT                       ? PFMLIB_MONT_EAR_ALAT_MODE
	                                                     : PFMLIB_MONT_EAR_CACHE_MODE;
	return PFMLIB_SUCCESS;
}

int pfm_mont_get_event_ear_mode(unsigned int i, pfmlib_mont_ear_mode_t *mode)
{
	return pfm_mont_get_ear_mode(i, mode);
}

int pfm_mont_irange_is_fine(pfmlib_output_param_t *outp, pfmlib_mont_output_param_t *mod_out)
{
	if (!outp || !mod_out || outp->pfp_pmc_count >= PFMLIB_MAX_PMCS ||
	    mod_out->pfp_mont_irange.rr_nbr_used == 0)
		return 0;
	for (unsigned i = 0; i < outp->pfp_pmc_count; i++)
		if (outp->pfp_pmcs[i].reg_num == 38)
			return outp->pfp_pmcs[i].reg_value >> 13 & 1;
	return 0;
}
