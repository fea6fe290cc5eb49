/* SPDX-License-Identifier: MIT */
/* Montecito's code and data ranges: debug registers, PMC38, and PMC41, which selects the filters of
 * data accesses. Refuses ranges that the hardware cannot represent. */
#include <string.h>
#include "montecito.h"
#include "montecito_regs.h"

int pfmi_mont_add_pmc(const struct mont_plan_context *w, unsigned num, uint64_t value)
{
	struct mont_plan *mp = w->plan;

	if (mont_is_unavailable(w, num))
		return mont_set_error(w, PFMLIB_ERR_NOASSIGN, -1,
		                      "a control register that is needed is not available");
	mp->pmcs[mp->n_pmcs].num = (uint8_t)num;
	mp->pmcs[mp->n_pmcs++].value = value;
	return PFMLIB_SUCCESS;
}

/* ---- code range ------------------------------------------------------------------------------ */

/* Requirements of a set's events for the registers of code ranges. */
struct code_range_needs {
	unsigned n_retired;         /* events that count retired instructions */
	unsigned retired_pair_mask; /* bit k: pair k tags one of them */
	unsigned n_prefetch;        /* events about prefetches, or demand fetches and prefetches */
	bool needs_pair0, needs_pair1; /* some prefetch event needs pair 0, pair 1 */
	bool has_qualified_cycles;     /* CPU_OP_CYCLES_QUAL, which uses pair 0 only */
	bool is_fine;
	unsigned first_register; /* first register of a single block or fine range */
	bool uses_both_pairs;    /* the range must be on pair 0 and on pair 1 */
};

static int collect_prefetch_needs(const struct mont_plan_context *w, unsigned i,
                                  struct code_range_needs *c)
{
	unsigned flags = w->input->pfp_mont_irange.rr_flags;

	switch (w->plan->events[i].code) {
	case CODE_L1I_PREFETCHES:
	case CODE_L1I_STRM_PREFETCHES:
	case CODE_L2I_PREFETCHES: c->needs_pair1 = true; break;
	case CODE_ISB_BUNPAIRS_IN:
	case CODE_L1I_FETCH_RAB_HIT:
	case CODE_L1I_FETCH_ISB_HIT:
	case CODE_L1I_FILLS:
		if (!(flags & (PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH)))
			return mont_set_error(
				w, PFMLIB_ERR_IRRFLAGS, (int)i,
				"choose demand fetches, prefetches or both for the range");
		c->needs_pair0 |= (flags & PFMLIB_MONT_IRR_DEMAND_FETCH) != 0;
		c->needs_pair1 |= (flags & PFMLIB_MONT_IRR_PREFETCH_MATCH) != 0;
		break;
	default: return PFMLIB_SUCCESS;
	}
	c->n_prefetch++;
	return PFMLIB_SUCCESS;
}

static int collect_code_range_needs(const struct mont_plan_context *w, const struct mont_range *r,
                                    unsigned n, struct code_range_needs *c)
{
	unsigned flags = w->input->pfp_mont_irange.rr_flags;
	bool retired_only;

	memset(c, 0, sizeof(*c));
	c->is_fine = !(flags & PFMLIB_MONT_RR_NO_FINE_MODE);
	for (unsigned i = 0; i < n; i++)
		c->is_fine &= pfmi_mont_is_fine_range(&r[i]);
	for (unsigned i = 0; i < w->req->n_events; i++) {
		const struct mont_event_traits *tr = &w->plan->events[i];

		if (tr->code == CODE_RETIRED) {
			c->n_retired++;
			c->retired_pair_mask |= 1u << (tr->umask & 3);
		}
		c->has_qualified_cycles |=
			tr->code == CODE_CYCLES && tr->umask == UMASK_CYCLES_QUAL;
	}
	retired_only = c->n_retired == w->req->n_events;
	/* Fine mode takes two ranges. Blocks can hold four, if each event counts instructions that
	 * one pair tags. */
	c->is_fine &= !(retired_only && n > 2);
	if (c->is_fine ? n > 2 : !retired_only && n > 1)
		return mont_set_error(
			w, PFMLIB_ERR_IRRTOOMANY, -1,
			c->is_fine ? "fine mode takes two ranges"
				   : "only retired instructions can have several ranges");
	for (unsigned i = 0; i < w->req->n_events; i++) {
		int rc = collect_prefetch_needs(w, i, c);

		if (rc)
			return rc;
	}
	c->first_register = c->n_prefetch && !c->needs_pair0 ? 2 : 0;
	c->uses_both_pairs = c->needs_pair0 && c->needs_pair1;
	if ((c->first_register == 2 || c->uses_both_pairs) && c->has_qualified_cycles)
		return mont_set_error(w, PFMLIB_ERR_FEATCOMB, -1,
		                      "qualified cycles use only the first pair of code registers");
	return PFMLIB_SUCCESS;
}

/* Fine mode: two pairs for each range. */
static int put_fine_ranges(const struct mont_plan_context *w, const struct mont_range *r,
                           unsigned n, const struct code_range_needs *c)
{
	if (c->n_prefetch && n != 1)
		return mont_set_error(w, PFMLIB_ERR_IRRTOOMANY, -1,
		                      "prefetch events take one range");
	for (unsigned i = 0; i < n; i++)
		pfmi_mont_put_fine_range(&w->plan->irange, c->first_register + 2 * i, &r[i], i);
	if (c->uses_both_pairs)
		pfmi_mont_put_fine_range(&w->plan->irange, c->first_register + 2, &r[0], 0);
	return PFMLIB_SUCCESS;
}

/* Puts a range into one block, on the pair that all events use: prefetch events determine it, the
 * others use pair 0. Like libpfm 3, it accepts every retired-instruction event beside prefetch
 * events, whichever pair tags it. */
static int put_single_block(const struct mont_plan_context *w, const struct mont_range *r,
                            const struct code_range_needs *c)
{
	bool others = c->n_prefetch + c->n_retired != w->req->n_events;
	struct mont_block b;

	if (others && (c->needs_pair1 || c->retired_pair_mask & ~1u))
		return mont_set_error(
			w, PFMLIB_ERR_FEATCOMB, -1,
			"some events use another pair of code registers than the others");
	if (!pfmi_mont_enclose_range(r, &b))
		return mont_set_error(
			w,
			(r->last - r->first) >> MONT_MAX_BLOCK ? PFMLIB_ERR_IRRTOOBIG
							       : PFMLIB_ERR_IRRINVAL,
			-1, "no block that a debug register can describe contains the range");
	pfmi_mont_put_block(&w->plan->irange, c->first_register, b, 1);
	if (c->uses_both_pairs)
		pfmi_mont_put_block(&w->plan->irange, c->first_register + 2, b, 1);
	pfmi_mont_put_range_infos(&w->plan->irange, r, 1, &b, 1);
	return PFMLIB_SUCCESS;
}

/* The error sentence for ranges that need @n_blocks pairs of code registers: the events that must
 * be counted together. */
static const char *explain_needed_events(unsigned n_blocks)
{
	switch (n_blocks) {
	case 1:
		return "the range takes the first pair of code registers: count "
		       "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33";
	case 2:
		return "the ranges take two pairs of code registers: count "
		       "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33 and "
		       "IA64_TAGGED_INST_RETIRED_IBRP1_PMC34_35 in one set, and add them up";
	case 3:
		return "the ranges take three pairs of code registers: count "
		       "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33, "
		       "IA64_TAGGED_INST_RETIRED_IBRP1_PMC34_35 and "
		       "IA64_TAGGED_INST_RETIRED_IBRP2_PMC32_33 in one set, and add them up";
	default:
		return "the ranges take four pairs of code registers: count "
		       "IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33, "
		       "IA64_TAGGED_INST_RETIRED_IBRP1_PMC34_35, "
		       "IA64_TAGGED_INST_RETIRED_IBRP2_PMC32_33 and "
		       "IA64_TAGGED_INST_RETIRED_IBRP3_PMC34_35 in one set, and add them up";
	}
}

/* Puts ranges into as many blocks as needed; into larger ones if the pairs that tag an event are
 * fewer, so that each range is covered and rr_soff and rr_eoff tell what is counted besides. Each
 * event is tagged by one pair; the caller adds the counts up. */
static int put_cover_blocks(const struct mont_plan_context *w, const struct mont_range *r,
                            unsigned n, const struct code_range_needs *c)
{
	struct mont_block b[MONT_MAX_PAIRS];
	unsigned tagged = 0;
	int n_blocks;

	while (c->retired_pair_mask >> tagged & 1)
		tagged++;
	n_blocks = pfmi_mont_cover_ranges(r, n, tagged, b);
	if (n_blocks < 0)
		return mont_set_error(
			w, PFMLIB_ERR_IRRTOOMANY, -1,
			"the pairs of code registers that tag an event cannot cover the ranges");
	if ((unsigned)n_blocks > tagged && n <= tagged) {
		int n_larger = pfmi_mont_compute_best_cover(r, n, tagged, b);

		n_blocks = n_larger > 0 ? n_larger : n_blocks;
	}
	if ((unsigned)n_blocks > tagged)
		return mont_set_error(w, PFMLIB_ERR_IRRINVAL, -1,
		                      explain_needed_events((unsigned)n_blocks));
	for (unsigned i = 0; i < (unsigned)n_blocks; i++)
		pfmi_mont_put_block(&w->plan->irange, 2 * i, b[i], 0);
	pfmi_mont_put_range_infos(&w->plan->irange, r, n, b, (unsigned)n_blocks);
	return PFMLIB_SUCCESS;
}

static int plan_irange(const struct mont_plan_context *w)
{
	struct mont_range r[MONT_MAX_PAIRS];
	struct code_range_needs c;
	uint64_t pmc = IRANGE_BASE;
	int rc, n;

	if (!w->has_irange)
		return PFMLIB_SUCCESS;
	if (!w->req->model_out)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "no debug registers are free for a code range");
	n = pfmi_mont_read_ranges(&w->input->pfp_mont_irange, w->req->plm, 16, r);
	if (n <= 0)
		return mont_set_error(w, n ? n : PFMLIB_ERR_IRRINVAL, -1,
		                      n == PFMLIB_ERR_IRRALIGN
		                              ? "code ranges are made of 16-byte bundles"
		                              : "a code range is empty or missing");
	rc = collect_code_range_needs(w, r, (unsigned)n, &c);
	if (rc)
		return rc;
	rc = c.is_fine                         ? put_fine_ranges(w, r, (unsigned)n, &c)
	     : c.n_retired == w->req->n_events ? put_cover_blocks(w, r, (unsigned)n, &c)
	                                       : put_single_block(w, r, &c);
	if (rc)
		return rc;
	for (unsigned i = 0; i < w->plan->irange.rr_nbr_used; i += 2)
		pmc = register_field_insert(pmc, irange_bits[w->plan->irange.rr_br[i].reg_num / 2],
		                            0);
	return pfmi_mont_add_pmc(
		w, PMC_IRANGE,
		register_field_insert(pmc, irange_bits[IRANGE_FIELD_FINE], c.is_fine));
}

/* ---- data range ------------------------------------------------------------------------------ */

static int plan_drange(const struct mont_plan_context *w)
{
	struct mont_range r[MONT_MAX_PAIRS];
	struct mont_block b[MONT_MAX_PAIRS];
	int n, n_blocks;

	if (!w->has_drange)
		return PFMLIB_SUCCESS;
	if (!w->req->model_out)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "no debug registers are free for a data range");
	n = pfmi_mont_read_ranges(&w->input->pfp_mont_drange, w->req->plm, 1, r);
	if (n <= 0)
		return mont_set_error(w, PFMLIB_ERR_DRRINVAL, -1,
		                      "a data range is empty or missing");
	n_blocks = pfmi_mont_cover_ranges(r, (unsigned)n, MONT_MAX_PAIRS, b);
	if (n_blocks < 0)
		return mont_set_error(w, PFMLIB_ERR_DRRTOOMANY, -1,
		                      "four pairs of data registers cannot cover the ranges");
	for (unsigned i = 0; i < (unsigned)n_blocks; i++)
		pfmi_mont_put_block(&w->plan->drange, 2 * i, b[i], 0);
	pfmi_mont_put_range_infos(&w->plan->drange, r, (unsigned)n, b, (unsigned)n_blocks);
	return PFMLIB_SUCCESS;
}

static unsigned get_used_pairs(const pfmlib_mont_output_rr_t *rr)
{
	unsigned pairs = 0;

	for (unsigned i = 0; i < rr->rr_nbr_used; i += 2)
		pairs |= 1u << rr->rr_br[i].reg_num / 2;
	return pairs;
}

/* Plans PMC41. For each of four channels it has the filters that data accesses must pass: data
 * range, opcode matcher, code range. */
static int plan_channels(const struct mont_plan_context *w)
{
	static const uint8_t cfg[8] = {
		3, 2, 3, 0, 1, 0, 1, 0
	}; /* by data 1 | opcode 2 | code 4 */
	unsigned data = get_used_pairs(&w->plan->drange), code = get_used_pairs(&w->plan->irange);
	uint64_t pmc = DRANGE_BASE;

	if (!w->has_irange && !w->has_drange)
		return PFMLIB_SUCCESS;
	for (unsigned i = 0; i < w->plan->n_pmcs; i++)
		if (w->plan->pmcs[i].num == PMC_IRANGE &&
		    register_field_extract(w->plan->pmcs[i].value, irange_bits[IRANGE_FIELD_FINE]))
			code &= 3; /* in fine mode the other pairs are upper limits */
	for (unsigned k = 0; k < 4; k++) {
		unsigned use = (data >> k & 1) | (code >> k & 1) << 2;

		if (use && (k % 2 ? w->has_opcm2 : w->has_opcm1))
			use |= 2;
		pmc = register_field_insert(pmc, drange_bits[k], cfg[use]);
		pmc = register_field_insert(pmc, drange_bits[4 + k], use != 0);
	}
	return pfmi_mont_add_pmc(w, PMC_DRANGE, pmc);
}

/* ---- both ------------------------------------------------------------------------------------ */

int pfmi_mont_plan_ranges(const struct mont_plan_context *w)
{
	int rc = plan_irange(w);

	rc = rc ? rc : plan_drange(w);
	return rc ? rc : plan_channels(w);
}
