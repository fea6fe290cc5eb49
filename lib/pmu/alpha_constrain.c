/* SPDX-License-Identifier: MIT */
/* Constraints of sets of Alpha events: settings, levels, and the counters that each event can use.
 *
 * One word selects the events of all counters, so any events on different counters fit together. On
 * EV67 one of four modes selects the events of both counters; each mode is an alternative for the
 * solver. */
#include <string.h>
#include "pmu/alpha.h"

static bool has_rate(int pmu, unsigned counter, uint64_t rate)
{
	return rate == pfm_alpha_rate(pmu, counter, 0) || rate == pfm_alpha_rate(pmu, counter, 1);
}

/* True if @counter can interrupt every @period events. */
static bool can_interrupt_every(int pmu, unsigned counter, uint64_t period)
{
	if (pmu == PFMLIB_ALPHA_EV6_PMU || pmu == PFMLIB_ALPHA_EV67_PMU)
		return period >= 1 && period <= UINT64_C(1) << 20;
	return period != 0 && has_rate(pmu, counter, period);
}

static int check_rates(const struct table *t, const pfmlib_alpha_input_param_t *in,
                       pfm_error_t *why)
{
	bool start_values = t->encoder == ENCODER_EV6 || t->encoder == ENCODER_EV67;

	for (unsigned i = 0; i < PFM_ALPHA_MAX_COUNTERS; i++) {
		bool exists = i < pfm_alpha_num_counters(t->libpfm_type);

		if (in->pfp_alpha_rates[i] &&
		    (!exists || !has_rate(t->libpfm_type, i, in->pfp_alpha_rates[i])))
			return pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
			                                 "a counter cannot interrupt at this rate");
		if (in->pfp_alpha_periods[i] &&
		    (!exists || !start_values ||
		     !can_interrupt_every(t->libpfm_type, i, in->pfp_alpha_periods[i])))
			return pfmi_base_set_plain_error(
				why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
				"periods are 1 to 2^20 events, on EV6 and later");
	}
	return PFMLIB_SUCCESS;
}

static int check_ranges(const pfmlib_alpha_input_param_t *in, pfm_error_t *why)
{
	unsigned n = in->pfp_alpha_n_ranges,
		 most = in->pfp_alpha_flags & PFM_ALPHA_FL_CALLER ? PFM_ALPHA_MAX_RANGES : 1;

	if (n > most || (n && !(in->pfp_alpha_items & PFM_PROFILING)))
		return pfmi_base_set_plain_error(
			why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
			"expected one range (five in caller mode), and only with PFM_PROFILING");
	if ((in->pfp_alpha_flags & PFM_ALPHA_FL_CALLER) &&
	    (!n || !(in->pfp_alpha_flags & PFM_ALPHA_FL_KERNEL)))
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_FEATCOMB, PFM_KIND_MODEL,
		                                 "caller mode needs a range of kernel addresses");
	if ((in->pfp_alpha_flags & PFM_ALPHA_FL_STRIDE) &&
	    (in->pfp_alpha_stride & (in->pfp_alpha_stride - 1)))
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
		                                 "a stride must be 0 or a power of two");
	for (unsigned i = 0; i < n; i++)
		if (in->pfp_alpha_ranges[i].start >= in->pfp_alpha_ranges[i].end ||
		    ((in->pfp_alpha_ranges[i].start | in->pfp_alpha_ranges[i].end) & 3))
			return pfmi_base_set_plain_error(
				why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
				"a range is empty or not aligned to instructions");
	return PFMLIB_SUCCESS;
}

static int check_input(const struct table *t, const pfmlib_alpha_input_param_t *in,
                       pfm_error_t *why)
{
	const unsigned items = PFM_COUNTERS | PFM_IPL | PFM_PROFILING;

	if (in->pfp_alpha_scope > PFM_ALPHA_SCOPE_PROCESS ||
	    in->pfp_alpha_open > PFM_ALPHA_OPEN_ONE || (in->pfp_alpha_items & ~items) ||
	    (in->pfp_alpha_flags & ~63u))
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
		                                 "an unknown setting");
	if (in->pfp_alpha_statistic &&
	    (t->encoder != ENCODER_EV67 || !pfm_alpha_statistic_name(in->pfp_alpha_statistic)))
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
		                                 "this processor lacks that ProfileMe statistic");
	if ((in->pfp_alpha_flags & PFM_ALPHA_FL_KEEP) && t->encoder == ENCODER_EV4)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL,
		                                 "counters of EV4 cannot be read or written");
	return PFMLIB_SUCCESS;
}

/* Stores the modes of the levels that the events name in *@modes, 0 if they name none. One setting
 * applies to all counters. Levels are the chip's modes, except that user level alone is executive
 * and supervisor mode: on Digital UNIX user code runs in executive mode. */
static int collect_named_modes(const struct encode_request *req, unsigned *modes, pfm_error_t *why)
{
	unsigned plm = 0;

	*modes = 0;
	for (unsigned i = 0; i < req->n_events; i++) {
		if (req->events[i].has_no_levels)
			return pfmi_base_set_event_error(why, PFMLIB_ERR_INVAL, PFM_KIND_BAD_VALUE,
			                                 (int)i, "no privilege level remains");
		if (i > 0 && req->events[i].plm != plm)
			return pfmi_base_set_event_error(
				why, PFMLIB_ERR_FEATCOMB, PFM_KIND_CONFLICT, (int)i,
				"the counters share one setting of levels");
		plm = req->events[i].plm;
	}
	if (plm == PFM_PLM3)
		*modes = PFM_ALPHA_MODE_EXEC | PFM_ALPHA_MODE_SUPER;
	else if (plm != (PFM_PLM0 | PFM_PLM3) && plm != 15)
		*modes = plm & 15;
	return PFMLIB_SUCCESS;
}

static int resolve_modes(const struct encode_request *req, struct alpha_plan_extra *x,
                         pfm_error_t *why)
{
	const pfmlib_alpha_input_param_t *in = &x->input;
	unsigned modes;
	int rc = collect_named_modes(req, &modes, why);

	if (rc)
		return rc;
	if (in->pfp_alpha_modes && modes && in->pfp_alpha_modes != modes)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_FEATCOMB, PFM_KIND_CONFLICT,
		                                 "events and settings name different levels");
	if (in->pfp_alpha_modes)
		modes = in->pfp_alpha_modes;
	x->has_mode_word = modes || (in->pfp_alpha_flags & PFM_ALPHA_FL_CTXT);
	if (!x->has_mode_word)
		return PFMLIB_SUCCESS;
	if (req->table->encoder != ENCODER_EV5)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL,
		                                 "this processor always counts at all levels");
	if (in->pfp_alpha_flags & PFM_ALPHA_FL_CTXT) {
		if (modes)
			return pfmi_base_set_plain_error(
				why, PFMLIB_ERR_FEATCOMB, PFM_KIND_CONFLICT,
				"a mode word and modes cannot be combined");
		/* The request also overwrites the process filter, so the word repeats the scope. */
		x->mode_word =
			in->pfp_alpha_ctxt |
			(in->pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS ? PF5_CTXT_THIS_PROC : 0);
		return PFMLIB_SUCCESS;
	}
	rc = pfm_alpha_mode_word(modes, in->pfp_alpha_scope, &x->mode_word);
	return rc ? pfmi_base_set_plain_error(
			    why, rc, PFM_KIND_MODEL,
			    "the chip counts kernel, executive and supervisor mode together, or "
			    "only the last two together")
	          : PFMLIB_SUCCESS;
}

/* Finds the counters that can count event @i: those of its row that are available and can have the
 * requested period. */
static int compute_counter_mask(const struct encode_request *req, unsigned i, uint64_t *out,
                                pfm_error_t *why)
{
	const struct event *ev = &req->events[i];
	uint64_t mask =
		table_get_row_counter_mask(ev->table, table_get_row(ev->table, ev->row_index));

	if (pfmi_pmu_has_user_key(ev, KEY_PERIOD)) {
		uint64_t period = pfmi_pmu_get_key_value(ev, KEY_PERIOD, ANY_COUNTER);

		for (unsigned c = 0; c < PFM_ALPHA_MAX_COUNTERS; c++)
			if ((mask >> c & 1) &&
			    !can_interrupt_every(req->table->libpfm_type, c, period))
				mask &= ~((uint64_t)1 << c);
		if (!mask)
			return pfmi_base_set_event_error(
				why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE, (int)i,
				"no counter of this event has that period");
	}
	if (ev->counter_pin != ANY_COUNTER) {
		mask &= ev->counter_pin < 64 ? (uint64_t)1 << ev->counter_pin : 0;
		if (!mask)
			return pfmi_base_set_event_error(why, PFMLIB_ERR_ATTR_VAL,
			                                 PFM_KIND_BAD_VALUE, (int)i,
			                                 "that counter cannot count this event");
	}
	if (req->unavailable_regs)
		mask &= ~req->unavailable_regs->bits[0];
	*out = mask;
	return PFMLIB_SUCCESS;
}

/* True if EV67 counts @ev on @counter in @mode. Counter 0 counts retired instructions or cycles in
 * alternate modes; counter 1 counts another event in each mode. */
static bool can_mode_count(const struct event *ev, unsigned counter, unsigned mode)
{
	unsigned sel =
		(unsigned)pfmi_table_get_row_value(ev->table, ev->row_index, KEY_SEL, counter);

	return counter == 0 ? (sel & 1) == (mode & 1) : sel == mode;
}

static void add_mode_alternatives(const struct encode_request *req, struct plan *out)
{
	out->n_alternatives = 4;
	for (unsigned mode = 4; mode-- > 0;) {
		struct alternative *a = &out->alternatives[mode];

		a->n_holds = 0;
		a->tag = mode;
		for (unsigned i = 0; i < req->n_events; i++) {
			uint64_t all = out->alternatives[0].counter_masks[i], mask = 0;

			for (unsigned c = 0; c < 2; c++)
				if ((all >> c & 1) && can_mode_count(&req->events[i], c, mode))
					mask |= (uint64_t)1 << c;
			a->counter_masks[i] = mask;
		}
	}
}

/* Refuses an exclusive event (a pair or a statistic) beside other events. */
static int check_exclusive_event(const struct encode_request *req, pfm_error_t *why)
{
	unsigned first = 0;

	while (first < req->n_events && !alpha_is_exclusive_event(&req->events[first]))
		first++;
	if (first == req->n_events || req->n_events == 1)
		return PFMLIB_SUCCESS;
	pfmi_base_set_event_error(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, (int)first,
	                          alpha_is_profileme_event(&req->events[first])
	                                  ? "ProfileMe counts only one statistic at a time"
	                                  : "this setting selects the events of both counters");
	pfmi_base_set_clash(why, (uint64_t)1 << first | (uint64_t)1 << (first ? 0 : 1));
	if (why)
		why->clash_counters = 3;
	return PFMLIB_ERR_NOASSIGN;
}

static bool needs_both_counters(const struct encode_request *req)
{
	return req->n_events == 1 && alpha_is_exclusive_event(&req->events[0]) &&
	       req->unavailable_regs && (req->unavailable_regs->bits[0] & 3);
}

int pfmi_alpha_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	struct alpha_plan_extra *x = (struct alpha_plan_extra *)(void *)out->encoder_data;
	int rc;

	memset(x, 0, sizeof *x);
	if (req->model_in)
		x->input = *(const pfmlib_alpha_input_param_t *)req->model_in;
	rc = req->n_events ? check_input(req->table, &x->input, why)
	                   : pfmi_base_set_plain_error(why, PFMLIB_ERR_INVAL, PFM_KIND_MODEL,
	                                               "no events");
	if (rc == 0)
		rc = check_rates(req->table, &x->input, why);
	if (rc == 0)
		rc = check_ranges(&x->input, why);
	if (rc == 0)
		rc = resolve_modes(req, x, why);
	if (rc == 0)
		rc = check_exclusive_event(req, why);
	out->n_alternatives = 1;
	out->alternatives[0].n_holds = 0;
	out->alternatives[0].tag = 0;
	out->counterless_events = 0;
	for (unsigned i = 0; rc == 0 && i < req->n_events; i++)
		rc = compute_counter_mask(req, i, &out->alternatives[0].counter_masks[i], why);
	if (rc)
		return rc;
	if (needs_both_counters(req))
		out->alternatives[0].counter_masks[0] = 0;
	else if (req->table->encoder == ENCODER_EV67 && req->n_events &&
	         !alpha_is_exclusive_event(&req->events[0]))
		add_mode_alternatives(req, out);
	return PFMLIB_SUCCESS;
}
