/* SPDX-License-Identifier: MIT */
/* Montecito's features beside its counters, in libpfm 3's order: instruction and data EAR, code
 * range, data range, opcode matchers, trace buffer. Each step refuses what the hardware cannot do,
 * or adds its registers to the plan. */
#include <string.h>
#include "montecito.h"
#include "montecito_regs.h"

static uint64_t get_system_wide_bit(const struct mont_plan_context *w)
{
	return (w->req->flags & PFMLIB_PFP_SYSTEMWIDE) != 0;
}

static unsigned choose_levels(const struct mont_plan_context *w, unsigned plm)
{
	return plm ? plm : w->req->plm;
}

static void add_pmds(const struct mont_plan_context *w, unsigned first, unsigned last)
{
	for (; first <= last; first++)
		w->plan->pmds[w->plan->n_pmds++] = (uint8_t)first;
}

static void add_trace_pmds(const struct mont_plan_context *w)
{
	add_pmds(w, 38, 39);
	add_pmds(w, 48, 63);
}

/* ---- event address registers ----------------------------------------------------------------- */

static bool is_iear_event(const struct mont_event_traits *tr)
{
	return tr->ear == MONT_EAR_ICACHE || tr->ear == MONT_EAR_ITLB;
}
static bool is_dear_event(const struct mont_event_traits *tr)
{
	return tr->ear >= MONT_EAR_DCACHE;
}

static unsigned get_ear_mode(const struct mont_event_traits *tr)
{
	return tr->ear == MONT_EAR_ITLB || tr->ear == MONT_EAR_DTLB ? PFMLIB_MONT_EAR_TLB_MODE
	       : tr->ear == MONT_EAR_ALAT                           ? PFMLIB_MONT_EAR_ALAT_MODE
	                                                            : PFMLIB_MONT_EAR_CACHE_MODE;
}

/* The first event of a kind, or NULL. Most sets have no event of these kinds. */
static const struct mont_event_traits *
find_event_of_kind(const struct mont_plan_context *w, bool (*is)(const struct mont_event_traits *))
{
	if (!w->ear_kinds && !w->has_etb_event)
		return NULL;
	for (unsigned i = 0; i < w->req->n_events; i++)
		if (is(&w->plan->events[i]))
			return &w->plan->events[i];
	return NULL;
}

/* Gets the caller's setting, or that of event @tr. False without both. */
static bool get_ear_setting(const struct mont_plan_context *w, const pfmlib_mont_ear_t *given,
                            const struct mont_event_traits *tr, unsigned *mode, uint64_t *umask,
                            unsigned *plm)
{
	if (given && given->ear_used) {
		*mode = (unsigned)given->ear_mode;
		*umask = given->ear_umask;
		*plm = choose_levels(w, given->ear_plm);
	} else if (tr) {
		*mode = get_ear_mode(tr);
		*umask = tr->ear_umask;
		*plm = w->req->plm;
	} else {
		return false;
	}
	return true;
}

static int plan_iear(const struct mont_plan_context *w)
{
	unsigned mode, plm;
	uint64_t umask, pmc = 0;
	int rc;

	if (!get_ear_setting(w, w->input ? &w->input->pfp_mont_iear : NULL,
	                     find_event_of_kind(w, is_iear_event), &mode, &umask, &plm))
		return PFMLIB_SUCCESS;
	if (mode != PFMLIB_MONT_EAR_CACHE_MODE && mode != PFMLIB_MONT_EAR_TLB_MODE)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "the instruction EAR has cache and TLB mode");
	pmc = register_field_insert(pmc, iear_bits[IEAR_FIELD_PLM], plm);
	pmc = register_field_insert(pmc, iear_bits[IEAR_FIELD_PM], get_system_wide_bit(w));
	pmc = register_field_insert(pmc,
	                            mode == PFMLIB_MONT_EAR_TLB_MODE ? iear_tlb_umask
	                                                             : iear_bits[IEAR_FIELD_UMASK],
	                            umask);
	pmc = register_field_insert(pmc, iear_bits[IEAR_FIELD_CT],
	                            mode == PFMLIB_MONT_EAR_CACHE_MODE);
	rc = pfmi_mont_add_pmc(w, PMC_IEAR, pmc);
	if (!rc)
		add_pmds(w, 34, 35);
	return rc;
}

static int plan_dear(const struct mont_plan_context *w)
{
	unsigned mode, plm;
	uint64_t umask, pmc = 0;
	int rc;

	if (!get_ear_setting(w, w->input ? &w->input->pfp_mont_dear : NULL,
	                     find_event_of_kind(w, is_dear_event), &mode, &umask, &plm))
		return PFMLIB_SUCCESS;
	if (mode > PFMLIB_MONT_EAR_ALAT_MODE)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "the data EAR has cache, TLB and ALAT mode");
	pmc = register_field_insert(pmc, dear_bits[DEAR_FIELD_PLM], plm);
	pmc = register_field_insert(pmc, dear_bits[DEAR_FIELD_PM], get_system_wide_bit(w));
	pmc = register_field_insert(pmc, dear_bits[DEAR_FIELD_MODE], mode);
	pmc = register_field_insert(pmc, dear_bits[DEAR_FIELD_UMASK], umask);
	pmc = register_field_insert(pmc, dear_bits[DEAR_FIELD_ISM], ISM_IA64);
	rc = pfmi_mont_add_pmc(w, PMC_DEAR, pmc);
	if (!rc) {
		add_pmds(w, 32, 33);
		add_pmds(w, 36, 36);
	}
	return rc;
}

/* ---- opcode matchers ------------------------------------------------------------------------- */

static uint64_t build_opcm_mask(uint64_t pmc, const pfmlib_mont_opcm_t *o)
{
	pmc = register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_MASK], o->opcm_mask);
	pmc = register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_B], o->opcm_b);
	pmc = register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_F], o->opcm_f);
	pmc = register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_I], o->opcm_i);
	return register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_M], o->opcm_m);
}

/* Plans the opcode matchers. PMC36 is not written: its reset value exempts no channel from them. */
static int plan_opcm(const struct mont_plan_context *w)
{
	uint64_t pmc = OPCM1_BASE;
	int rc = PFMLIB_SUCCESS;

	if (w->has_opcm1 || w->has_irange) {
		if (w->has_opcm1)
			pmc = build_opcm_mask(pmc, &w->input->pfp_mont_opcm1);
		pmc = register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_IG_AD], !w->has_irange);
		pmc = register_field_insert(pmc, opcm_mask_bits[OPCM_FIELD_INV],
		                            w->has_irange && w->input->pfp_mont_irange.rr_flags &
		                                                     PFMLIB_MONT_RR_INV);
		rc = pfmi_mont_add_pmc(w, PMC_OPCM1_MASK, pmc);
		if (!rc && w->has_opcm1)
			rc = pfmi_mont_add_pmc(
				w, PMC_OPCM1_MATCH,
				register_field_insert(0, opcm_match_bits[0],
			                              w->input->pfp_mont_opcm1.opcm_match));
	}
	if (!rc && w->has_opcm2) {
		rc = pfmi_mont_add_pmc(w, PMC_OPCM2_MASK,
		                       build_opcm_mask(OPCM2_BASE, &w->input->pfp_mont_opcm2));
		if (!rc)
			rc = pfmi_mont_add_pmc(
				w, PMC_OPCM2_MATCH,
				register_field_insert(0, opcm_match_bits[0],
			                              w->input->pfp_mont_opcm2.opcm_match));
	}
	return rc;
}

/* ---- trace buffer ---------------------------------------------------------------------------- */

static bool is_etb_event(const struct mont_event_traits *tr)
{
	return tr->etb;
}
static bool is_noncache_dear_event(const struct mont_event_traits *tr)
{
	return tr->ear == MONT_EAR_DTLB || tr->ear == MONT_EAR_ALAT;
}

/* In TLB and ALAT mode the data EAR stores its instruction address in a register of the trace
 * buffer, which must be off. plan_etb() then writes PMC39 = 0, as libpfm 3.10 does, because the
 * register may hold the setting of an earlier session. */
static bool is_trace_buffer_blocked(const struct mont_plan_context *w)
{
	const pfmlib_mont_ear_t *dear = w->input ? &w->input->pfp_mont_dear : NULL;

	return find_event_of_kind(w, is_noncache_dear_event) ||
	       (dear && dear->ear_used && dear->ear_mode != PFMLIB_MONT_EAR_CACHE_MODE);
}

static uint64_t build_etb(const struct mont_plan_context *w, const pfmlib_mont_etb_t *e)
{
	uint64_t pmc = register_field_insert(0, etb_bits[ETB_FIELD_PM], get_system_wide_bit(w));

	pmc = register_field_insert(pmc, etb_bits[ETB_FIELD_PLM],
	                            choose_levels(w, e ? e->etb_plm : 0));
	pmc = register_field_insert(pmc, etb_bits[ETB_FIELD_TM], e ? e->etb_tm : 3);
	pmc = register_field_insert(pmc, etb_bits[ETB_FIELD_PTM], e ? e->etb_ptm : 3);
	pmc = register_field_insert(pmc, etb_bits[ETB_FIELD_PPM], e ? e->etb_ppm : 3);
	return register_field_insert(pmc, etb_bits[ETB_FIELD_BRT], e ? e->etb_brt : 0);
}

static int plan_etb(const struct mont_plan_context *w)
{
	const pfmlib_mont_etb_t *given =
		w->input && w->input->pfp_mont_etb.etb_used ? &w->input->pfp_mont_etb : NULL;
	bool used = given || find_event_of_kind(w, is_etb_event),
	     blocked = is_trace_buffer_blocked(w);
	uint64_t pmc = used ? build_etb(w, given) : 0;
	int rc;

	if (!used && !blocked)
		return PFMLIB_SUCCESS;
	if (blocked && pmc)
		return mont_set_error(
			w, PFMLIB_ERR_EVTINCOMP, -1,
			"the data EAR in TLB or ALAT mode and the trace buffer cannot be combined");
	rc = pfmi_mont_add_pmc(w, PMC_ETB, pmc);
	if (!rc && used)
		add_trace_pmds(w);
	return rc;
}

static int plan_ipear(const struct mont_plan_context *w)
{
	const pfmlib_mont_ipear_t *p =
		w->input && w->input->pfp_mont_ipear.ipear_used ? &w->input->pfp_mont_ipear : NULL;
	uint64_t pmc;
	int rc;

	if (!p)
		return PFMLIB_SUCCESS;
	if (w->input->pfp_mont_etb.etb_used || find_event_of_kind(w, is_etb_event))
		return mont_set_error(
			w, PFMLIB_ERR_FEATCOMB, -1,
			"the trace buffer holds branches or instruction addresses, not both");
	pmc = register_field_insert(0, ipear_bits[IPEAR_FIELD_PLM], choose_levels(w, p->ipear_plm));
	pmc = register_field_insert(pmc, ipear_bits[IPEAR_FIELD_PM], get_system_wide_bit(w));
	pmc = register_field_insert(pmc, ipear_bits[IPEAR_FIELD_MODE], IPEAR_MODE);
	rc = pfmi_mont_add_pmc(
		w, PMC_IPEAR,
		register_field_insert(pmc, ipear_bits[IPEAR_FIELD_DELAY], p->ipear_delay));
	if (!rc)
		add_trace_pmds(w);
	return rc;
}

/* ---- settings that would count something else ------------------------------------- */

/* Checks that all events for an address register are of one kind. A setting of the caller overrides
 * the mode of its event. */
static int check_ear_events(const struct mont_plan_context *w,
                            bool (*is)(const struct mont_event_traits *))
{
	const struct mont_event_traits *first = find_event_of_kind(w, is);

	for (unsigned i = 0; first && i < w->req->n_events; i++) {
		const struct mont_event_traits *tr = &w->plan->events[i];

		if (is(tr) && tr->row != first->row)
			return mont_set_error(
				w, PFMLIB_ERR_EVTINCOMP, (int)i,
				"an event address register serves one kind of event at a time");
	}
	return PFMLIB_SUCCESS;
}

static int check_opcode_width(const struct mont_plan_context *w, const pfmlib_mont_opcm_t *o)
{
	if ((o->opcm_match | o->opcm_mask) >> opcm_match_bits[0].width)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "expected at most 41 bits, the size of an instruction, in "
		                      "the opcode's match and mask");
	return PFMLIB_SUCCESS;
}

static int check_opcode_slots(const struct mont_plan_context *w, const pfmlib_mont_opcm_t *o)
{
	if ((o->opcm_m | o->opcm_i | o->opcm_f | o->opcm_b) > 1)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "expected 0 or 1 in opcm_m, opcm_i, opcm_f and opcm_b");
	return check_opcode_width(w, o);
}

/* Flags without a meaning, which a later version may give one. */
static int check_flags(const struct mont_plan_context *w)
{
	const unsigned counter = PFMLIB_MONT_FL_EVT_NO_QUALCHECK | PFMLIB_MONT_FL_EVT_ALL_THRD |
	                         PFMLIB_MONT_FL_EVT_ACTIVE_ONLY | PFMLIB_MONT_FL_EVT_ALWAYS,
		       range = PFMLIB_MONT_RR_INV | PFMLIB_MONT_RR_NO_FINE_MODE |
	                       PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH;
	const pfmlib_mont_input_param_t *in = w->input;

	if (in->pfp_mont_flags)
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1, "expected 0 in pfp_mont_flags");
	if ((w->has_irange && in->pfp_mont_irange.rr_flags & ~range) ||
	    (w->has_drange && in->pfp_mont_drange.rr_flags & ~range))
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1, "unknown flags of an address range");
	for (unsigned i = 0; i < w->req->n_events; i++)
		if (w->plan->events[i].flags & ~counter)
			return mont_set_error(w, PFMLIB_ERR_INVAL, (int)i,
			                      "unknown flags of a counter");
	return PFMLIB_SUCCESS;
}

static bool fits_field(uint64_t value, struct register_field f)
{
	return !(value & ~register_field_mask(f));
}

/* Values that are wider than the bits of their register. */
static int check_widths(const struct mont_plan_context *w)
{
	const pfmlib_mont_input_param_t *in = w->input;
	bool is_tlb = in->pfp_mont_iear.ear_mode == PFMLIB_MONT_EAR_TLB_MODE;

	if (in->pfp_mont_iear.ear_used &&
	    !fits_field(in->pfp_mont_iear.ear_umask,
	                is_tlb ? iear_tlb_umask : iear_bits[IEAR_FIELD_UMASK]))
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      is_tlb ? "expected at most 7 bits in the unit mask of the "
		                               "instruction EAR in TLB mode"
		                             : "expected at most 8 bits in the unit mask of the "
		                               "instruction EAR");
	if (in->pfp_mont_dear.ear_used &&
	    !fits_field(in->pfp_mont_dear.ear_umask, dear_bits[DEAR_FIELD_UMASK]))
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "expected at most 4 bits in the unit mask of the data EAR");
	if (in->pfp_mont_ipear.ipear_used &&
	    !fits_field(in->pfp_mont_ipear.ipear_delay, ipear_bits[IPEAR_FIELD_DELAY]))
		return mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                      "expected a delay from 0 to 255 in ipear_delay");
	return PFMLIB_SUCCESS;
}

static int check_counter_settings(const struct mont_plan_context *w, unsigned i)
{
	const struct mont_event_traits *tr = &w->plan->events[i];
	bool active = tr->type == PFMLIB_MONT_EVT_ACTIVE;

	if (tr->threshold >= tr->max_increment && tr->threshold)
		return mont_set_error(w, PFMLIB_ERR_INVAL, (int)i,
		                      "the threshold must be below what can happen in one cycle");
	if (tr->flags & PFMLIB_MONT_FL_EVT_ACTIVE_ONLY && !active)
		return mont_set_error(w, PFMLIB_ERR_NOTSUPP, (int)i,
		                      "the event also counts while its thread is inactive");
	if (tr->flags & PFMLIB_MONT_FL_EVT_ALWAYS && active)
		return mont_set_error(w, PFMLIB_ERR_NOTSUPP, (int)i,
		                      "the event only counts while its thread is active");
	return PFMLIB_SUCCESS;
}

static bool has_valid_levels(const struct mont_plan_context *w)
{
	const pfmlib_mont_input_param_t *in = w->input;
	unsigned all = w->req->plm;

	if (in) {
		all |= in->pfp_mont_iear.ear_used ? in->pfp_mont_iear.ear_plm : 0;
		all |= in->pfp_mont_dear.ear_used ? in->pfp_mont_dear.ear_plm : 0;
		all |= in->pfp_mont_etb.etb_used ? in->pfp_mont_etb.etb_plm : 0;
		all |= in->pfp_mont_ipear.ipear_used ? in->pfp_mont_ipear.ipear_plm : 0;
		for (unsigned i = 0; i < MONT_MAX_PAIRS; i++) {
			all |= w->has_irange ? in->pfp_mont_irange.rr_limits[i].rr_plm : 0;
			all |= w->has_drange ? in->pfp_mont_drange.rr_limits[i].rr_plm : 0;
		}
	}
	return all < 16;
}

static int check_settings(const struct mont_plan_context *w)
{
	const pfmlib_mont_etb_t *etb =
		w->input && w->input->pfp_mont_etb.etb_used ? &w->input->pfp_mont_etb : NULL;
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; !rc && i < w->req->n_events; i++)
		rc = check_counter_settings(w, i);
	if (!rc)
		rc = check_ear_events(w, is_iear_event);
	if (!rc)
		rc = check_ear_events(w, is_dear_event);
	if (!rc && w->has_opcm1)
		rc = check_opcode_slots(w, &w->input->pfp_mont_opcm1);
	if (!rc && w->has_opcm2)
		rc = check_opcode_slots(w, &w->input->pfp_mont_opcm2);
	if (!rc && w->input)
		rc = check_flags(w);
	if (!rc && w->input)
		rc = check_widths(w);
	if (!rc && etb &&
	    (etb->etb_ds || (etb->etb_tm | etb->etb_ptm | etb->etb_ppm | etb->etb_brt) > 3))
		rc = mont_set_error(
			w, PFMLIB_ERR_INVAL, -1,
			etb->etb_ds ? "expected 0 as data selection of the trace buffer"
				    : "expected at most two bits in a field of the trace buffer");
	if (!rc && !has_valid_levels(w))
		rc = mont_set_error(w, PFMLIB_ERR_INVAL, -1,
		                    "expected a privilege level from 0 to 3");
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void clear_range_output(pfmlib_mont_output_rr_t *rr)
{
	rr->rr_nbr_used = 0;
	memset(rr->rr_infos, 0, sizeof(rr->rr_infos));
}

int pfmi_mont_plan_features(const struct mont_plan_context *w)
{
	int rc;

	w->plan->n_pmcs = w->plan->n_pmds = 0;
	clear_range_output(&w->plan->irange);
	clear_range_output(&w->plan->drange);
	rc = plan_iear(w);
	rc = rc ? rc : plan_dear(w);
	rc = rc ? rc : pfmi_mont_plan_ranges(w);
	rc = rc ? rc : plan_opcm(w);
	rc = rc ? rc : plan_etb(w);
	rc = rc ? rc : plan_ipear(w);
	return rc ? rc : check_settings(w);
}
