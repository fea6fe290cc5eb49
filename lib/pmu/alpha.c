/* SPDX-License-Identifier: MIT */
/* Encoder for the Alpha PMUs: EV4, EV5 and PCA56, EV6, EV67.
 *
 * One word selects the events of all counters, so what goes together is mostly a matter of
 * counters; on EV67 four modes fix what both counters count, and each mode is an alternative for
 * the solver. Rates, modes, items and the order of the device's requests: facts about the driver,
 * written down beside each step below. */
#include <string.h>
#include <perfmon/alpha.h>
#include "pmu/pmu_internal.h"

/* Words of choice "kind" in the EV67 table. */
enum alpha_event_kind {
	KIND_EVENT,
	KIND_AGGREGATE,
	KIND_PAIR,
	KIND_PROFILEME,
	KIND_RATIO,
	KIND_MODE
};
/* Word of choice "pctr_mode" for statistics that any counting mode serves. */
enum { PM_MODE_ANY = 4 };

/* Results of constrain for encode. */
struct alpha_plan_extra {
	pfmlib_alpha_input_param_t input; /* zeroed if the caller gave none */
	int has_mode_word;                /* a mode word goes to the chip */
	uint64_t mode_word;               /* it, for the device */
};
_Static_assert(sizeof(struct alpha_plan_extra) <= sizeof(((struct plan *)0)->encoder_data),
               "extra must match the plan");

static const struct alpha_plan_extra *get_plan_extra(const struct plan *plan)
{
	return (const struct alpha_plan_extra *)(const void *)plan->encoder_data;
}

static enum alpha_event_kind get_event_kind(const struct event *ev)
{
	return (enum alpha_event_kind)pfmi_pmu_get_key_value(ev, KEY_KIND, ANY_COUNTER);
}

/* Takes the whole PMU for itself: both counters, or the window of a profiled instruction. */
static bool is_exclusive_event(const struct event *ev)
{
	return ev->table->encoder == ENCODER_EV67 && get_event_kind(ev) >= KIND_PAIR;
}

static bool is_profileme_event(const struct event *ev)
{
	return ev->table->encoder == ENCODER_EV67 && get_event_kind(ev) >= KIND_PROFILEME;
}

/* ---- constrain ------------------------------------------------------------------------------- */

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

/* Levels that events name: one setting serves all counters. Levels are the chip's modes, but that
 * user alone means what it means on Digital UNIX, where user code runs in executive mode. 0: no
 * level was named. */
static int get_named_modes(const struct encode_request *req, unsigned *modes, pfm_error_t *why)
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
	int rc = get_named_modes(req, &modes, why);

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
		/* The request rewrites the process filter together with the modes: say again what
		 * the scope said. */
		x->mode_word =
			in->pfp_alpha_ctxt |
			(in->pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS ? PF5_CTXT_THIS_PROC : 0);
		return PFMLIB_SUCCESS;
	}
	rc = pfm_alpha_mode_word(modes, in->pfp_alpha_scope, &x->mode_word);
	return rc ? pfmi_base_set_plain_error(
			    why, rc, PFM_KIND_MODEL,
			    "the chip counts kernel, executive and supervisor mode "
			    "together, or only the last two together")
	          : PFMLIB_SUCCESS;
}

/* Counters that can count @ev at all: the table's, less those that are taken or cannot have the
 * requested period. */
static int get_counter_mask(const struct encode_request *req, unsigned i, uint64_t *out,
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

/* True if EV67 counts @ev on @counter in @mode: cycles and retired instructions alternate on
 * counter 0, counter 1 has one statistic for each mode. */
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

/* A pair or a statistic is measured alone: beside anything else it has nowhere to go. */
static int check_exclusive_event(const struct encode_request *req, pfm_error_t *why)
{
	unsigned first = 0;

	while (first < req->n_events && !is_exclusive_event(&req->events[first]))
		first++;
	if (first == req->n_events || req->n_events == 1)
		return PFMLIB_SUCCESS;
	pfmi_base_set_event_error(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, (int)first,
	                          is_profileme_event(&req->events[first])
	                                  ? "ProfileMe counts only one statistic at a time"
	                                  : "this setting selects the events of both counters");
	if (why) {
		why->clash = (uint64_t)1 << first | (uint64_t)1 << (first ? 0 : 1);
		why->clash_counters = 3;
	}
	return PFMLIB_ERR_NOASSIGN;
}

static bool needs_both_counters(const struct encode_request *req)
{
	return req->n_events == 1 && is_exclusive_event(&req->events[0]) && req->unavailable_regs &&
	       (req->unavailable_regs->bits[0] & 3);
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
		rc = get_counter_mask(req, i, &out->alternatives[0].counter_masks[i], why);
	if (rc)
		return rc;
	if (needs_both_counters(req))
		out->alternatives[0].counter_masks[0] = 0;
	else if (req->table->encoder == ENCODER_EV67 && req->n_events &&
	         !is_exclusive_event(&req->events[0]))
		add_mode_alternatives(req, out);
	return PFMLIB_SUCCESS;
}

/* ---- encode ---------------------------------------------------------------------------------- */

/* The set as placed. */
struct alpha_placement {
	const struct plan *plan;
	const struct alpha_plan_extra *extra;
	int pmu;
	unsigned counter_mask;                      /* counters */
	int counter_events[PFM_ALPHA_MAX_COUNTERS]; /* on each counter, -1 for none */
	uint64_t rates[PFM_ALPHA_MAX_COUNTERS];
	uint64_t start_values[PFM_ALPHA_MAX_COUNTERS];
	bool has_start_values; /* some start value is not 0, or was asked for */
	unsigned statistic;
	pfmlib_alpha_output_param_t *out;
};

static const struct event *get_counter_event(const struct alpha_placement *p, unsigned counter)
{
	return p->counter_events[counter] < 0
	               ? NULL
	               : &p->plan->request->events[p->counter_events[counter]];
}

static void map_counter_events(struct alpha_placement *p, const struct placement *where)
{
	for (unsigned c = 0; c < PFM_ALPHA_MAX_COUNTERS; c++)
		p->counter_events[c] = -1;
	for (unsigned i = 0; i < p->plan->request->n_events; i++) {
		unsigned c = where->counters[i];

		p->counter_events[c] = (int)i;
		p->counter_mask |= 1u << c;
		if (is_exclusive_event(
			    &p->plan->request->events[i])) { /* both counters work for it */
			p->counter_events[0] = p->counter_events[1] = (int)i;
			p->counter_mask = 3;
		}
	}
}

/* The event's own period, else the setting of its counter, else the slow rate. */
static void choose_rates(struct alpha_placement *p)
{
	for (unsigned c = 0; c < pfm_alpha_num_counters(p->pmu); c++) {
		const struct event *ev = get_counter_event(p, c);
		bool own = ev && pfmi_pmu_has_user_key(ev, KEY_PERIOD);
		uint64_t period = own ? pfmi_pmu_get_key_value(ev, KEY_PERIOD, ANY_COUNTER)
		                      : p->extra->input.pfp_alpha_periods[c];

		if (!ev)
			continue;
		p->rates[c] = p->extra->input.pfp_alpha_rates[c]
		                      ? p->extra->input.pfp_alpha_rates[c]
		                      : pfm_alpha_rate(p->pmu, c, 0);
		if (!period)
			continue;
		p->rates[c] = period;
		if (pfm_alpha_rate(p->pmu, c, 1) == 0) { /* no second rate: a start value instead */
			p->has_start_values = true;
			(void)pfm_alpha_start_value(pfm_alpha_counter_width(p->pmu, c), period,
			                            &p->start_values[c]);
		}
	}
}

/* Selects, as the device takes them. A counter without an event has select 0. */
static uint64_t build_select_word(const struct alpha_placement *p, unsigned mode)
{
	uint64_t word = 0;

	for (unsigned c = 0; c < pfm_alpha_num_counters(p->pmu); c++) {
		const struct event *ev = get_counter_event(p, c);
		uint64_t sel =
			ev ? pfmi_table_get_row_value(ev->table, ev->row_index, KEY_SEL, c) : 0;
		uint64_t cbox =
			ev ? pfmi_table_get_row_value(ev->table, ev->row_index, KEY_CBOX, c) : 0;

		switch (p->pmu) {
		case PFMLIB_ALPHA_EV4_PMU: /* always counting: one that is not wanted is muted in
		                              the driver */
			word |= ev ? sel << (c == 0 ? ICCSR_MUX0_SHIFT : ICCSR_MUX1_SHIFT)
			           : (uint64_t)1 << (ICCSR_DISABLE_SHIFT + c);
			break;
		case PFMLIB_ALPHA_EV5_PMU:
		case PFMLIB_ALPHA_PCA56_PMU:
			word |= c == 0   ? PF5_SEL0(sel)
			        : c == 1 ? PF5_SEL1(sel) | cbox << 51
			                 : PF5_SEL2(sel) | cbox << 54;
			break;
		case PFMLIB_ALPHA_EV6_PMU: word |= c == 0 ? sel << 4 : sel; break;
		default: break;
		}
	}
	return p->pmu == PFMLIB_ALPHA_EV67_PMU ? (uint64_t)mode << 2 : word;
}

/* Counting mode of an event that is alone. Most statistics come from I_STAT, PMPC and the flags of
 * PCTR_CTL: any mode serves. */
static unsigned get_exclusive_mode(const struct event *ev)
{
	unsigned mode = (unsigned)pfmi_table_get_row_value(ev->table, ev->row_index, KEY_PCTR_MODE,
	                                                   ANY_COUNTER);

	if (get_event_kind(ev) == KIND_PAIR || get_event_kind(ev) == KIND_MODE)
		return (unsigned)pfmi_table_get_row_value(ev->table, ev->row_index, KEY_SEL,
		                                          ANY_COUNTER);
	return mode >= PM_MODE_ANY ? 0 : mode;
}

static uint64_t build_set_select(struct alpha_placement *p, const struct placement *where)
{
	const struct encode_request *req = p->plan->request;
	uint64_t rates = 0, word;

	if (req->n_events && is_exclusive_event(&req->events[0])) {
		const struct event *ev = &req->events[0];

		word = (uint64_t)get_exclusive_mode(ev) << 2 |
		       (is_profileme_event(ev) ? PF67_PROFILE_ME_MODE : 0);
		p->statistic = (unsigned)pfmi_table_get_row_value(ev->table, ev->row_index,
		                                                  KEY_STAT, ANY_COUNTER);
		if (!p->statistic && is_profileme_event(ev))
			p->statistic = p->extra->input.pfp_alpha_statistic;
		return word;
	}
	word = build_select_word(p, p->plan->alternatives[where->alternative].tag);
	if (p->pmu == PFMLIB_ALPHA_EV4_PMU)
		(void)pfm_alpha_rate_word(p->pmu, p->rates, p->counter_mask, &rates, NULL);
	return word | rates;
}

static void add_pmc(const struct alpha_placement *p, struct register_values *regs, unsigned num,
                    uint32_t request, uint64_t word)
{
	pfmlib_alpha_call_t call = { 0, 0, 0 };

	(void)pfm_alpha_device_call(p->pmu, request, word, &call);
	regs->pmcs[regs->n_pmcs++] = (pfm_reg_t){ .num = num,
		                                  .kind = PFM_REG_PMC,
		                                  .addr = call.function,
		                                  .alt_addr = request,
		                                  .value = call.argument };
	if (p->out)
		p->out->calls[p->out->n_calls++] = call;
}

/* ---- requests of the device ------------------------------------------------------------------ */

static void add_ioctl(const struct alpha_placement *p, unsigned when, const char *name,
                      uint32_t request, unsigned n, const uint64_t *words)
{
	pfmlib_alpha_ioctl_t *io;

	if (!p->out)
		return;
	io = &p->out->ioctls[p->out->n_ioctls++];
	*io = (pfmlib_alpha_ioctl_t){
		.name = name, .request = request, .when = when, .n_words = n
	};
	for (unsigned i = 0; i < n; i++)
		io->words[i] = words[i];
}

#define ADD_IOCTL(P, WHEN, REQUEST, N, WORDS) add_ioctl(P, WHEN, #REQUEST, REQUEST, N, WORDS)

/* Ranges come after the items, the stride with the first one, further ones after caller mode is on.
 */
static void add_ranges(const struct alpha_placement *p)
{
	const pfmlib_alpha_input_param_t *in = &p->extra->input;
	bool kernel = in->pfp_alpha_flags & PFM_ALPHA_FL_KERNEL;

	for (unsigned i = 0; i < in->pfp_alpha_n_ranges; i++) {
		uint64_t words[4] = { in->pfp_alpha_ranges[i].start, in->pfp_alpha_ranges[i].end,
			              in->pfp_alpha_stride, 0 };
		bool stride = i == 0 && (in->pfp_alpha_flags & PFM_ALPHA_FL_STRIDE);

		if (kernel && stride)
			ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETKRANGE, 4, words);
		else if (kernel)
			ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETKADDR, 2, words);
		else if (stride)
			ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETURANGE, 4, words);
		else
			ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETUADDR, 2, words);
		if (i == 0 && (in->pfp_alpha_flags & PFM_ALPHA_FL_CALLER))
			ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTCALLER, 0, NULL);
	}
}

static uint64_t get_items(const struct alpha_placement *p)
{
	uint64_t items =
		p->extra->input.pfp_alpha_items ? p->extra->input.pfp_alpha_items : PFM_COUNTERS;

	return items | pfm_alpha_statistic_bits(p->statistic);
}

static void add_setup_requests(const struct alpha_placement *p)
{
	uint64_t items = get_items(p);

	ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETITEMS, 1, &items);
	add_ranges(p);
	if (p->extra->input.pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS)
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTLOGSELECT, 0, NULL);
	else
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTLOGALL, 0, NULL);
	if (p->extra->has_mode_word)
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNT5CTXTS, 1, &p->extra->mode_word);
	if (items &
	    (PFM_COUNTERS | PFM_IPL)) /* opening does not clear; with neither there is nothing to */
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTCLEARCNT, 0, NULL);
}

static void add_read_requests(const struct alpha_placement *p)
{
	uint64_t items = get_items(p);

	if (items & PFM_COUNTERS) {
		if (p->pmu == PFMLIB_ALPHA_EV4_PMU)
			ADD_IOCTL(p, PFM_ALPHA_READ, PCNTGETCNT, 0, NULL);
		else if (p->plan->request->table->encoder == ENCODER_EV5)
			ADD_IOCTL(p, PFM_ALPHA_READ, PCNT5GETCNT, 0, NULL);
		else if (p->extra->input.pfp_alpha_flags & PFM_ALPHA_FL_GETCNT)
			ADD_IOCTL(p, PFM_ALPHA_READ, PCNT6GETCNT, 0, NULL);
		else
			ADD_IOCTL(p, PFM_ALPHA_READ, PCNT6READCNTRS, 0, NULL);
	}
	if (items & PFM_IPL)
		ADD_IOCTL(p, PFM_ALPHA_READ, PCNTGETIPLHIS, 0, NULL);
}

/* ---- one family after the other -------------------------------------------------------------- */

static void encode_ev4(const struct alpha_placement *p, uint64_t select,
                       struct register_values *regs)
{
	add_pmc(p, regs, PFM_ALPHA_PMC_SELECT, PCNTSETMUX, select);
	add_pmc(p, regs, PFM_ALPHA_PMC_START, PCNTRENABLE, 0);
	ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETMUX, 1, &select);
	add_setup_requests(p);
	ADD_IOCTL(p, PFM_ALPHA_START, PCNTRENABLE, 0, NULL);
	ADD_IOCTL(p, PFM_ALPHA_STOP, PCNTRDISABLE, 0, NULL);
	if (p->out)
		p->out->iccsr = regs->pmcs[0].value;
}

static void encode_ev5(const struct alpha_placement *p, uint64_t select,
                       struct register_values *regs)
{
	uint64_t word = PF5_CTRS(p->counter_mask, PMCTRS_ALL_CPUS, 0, 0, 0), rates = 0;
	bool keep = p->extra->input.pfp_alpha_flags & PFM_ALPHA_FL_KEEP;
	int privileged = 0;

	(void)pfm_alpha_rate_word(p->pmu, p->rates, p->counter_mask, &rates, &privileged);
	add_pmc(p, regs, PFM_ALPHA_PMC_SELECT, PCNT5MUX, select);
	add_pmc(p, regs, PFM_ALPHA_PMC_RATES, PCNT5FREQ, rates);
	if (p->extra->has_mode_word)
		add_pmc(p, regs, PFM_ALPHA_PMC_MODES, PCNT5CTXTS, p->extra->mode_word);
	add_pmc(p, regs, PFM_ALPHA_PMC_START, keep ? PCNT5ENABLE : PCNT5RESTART, word);
	ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNT5MUX, 1, &select);
	ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNT5FREQ, 1, &rates);
	add_setup_requests(p);
	if (keep)
		ADD_IOCTL(p, PFM_ALPHA_START, PCNT5ENABLE, 1, &word);
	else
		ADD_IOCTL(p, PFM_ALPHA_START, PCNT5RESTART, 1, &word);
	ADD_IOCTL(p, PFM_ALPHA_STOP, PCNT5DISABLE, 1, &word);
	if (!p->out)
		return;
	p->out->privileged = (unsigned)privileged;
	p->out->cbox = (select & PF5_MUX_CBOX_KMASK) >> 51;
	p->out->pmctr =
		(select & (PF5_MUX0_KMASK | 0xff)) | pfm_alpha_pmctr_ctl(rates, p->counter_mask);
	if (p->extra->has_mode_word)
		p->out->pmctr |= p->extra->mode_word & PF5_CTXT_EXEC_AND_SUPER;
}

static void encode_ev6(const struct alpha_placement *p, uint64_t select,
                       struct register_values *regs)
{
	uint64_t load =
		PF6_CTRS(p->counter_mask, PMCTRS_ALL_CPUS, p->start_values[0], p->start_values[1]);
	uint64_t bare = PF6_CTRS(p->counter_mask, PMCTRS_ALL_CPUS, 0, 0),
		 word = p->has_start_values ? load : bare;
	bool keep = !p->has_start_values && (p->extra->input.pfp_alpha_flags & PFM_ALPHA_FL_KEEP);
	uint32_t start = p->has_start_values ? PCNT6ENABWRITE : keep ? PCNT6ENABLE : PCNT6RESTART;

	add_pmc(p, regs, PFM_ALPHA_PMC_SELECT, PCNT6MUX, select);
	add_pmc(p, regs, PFM_ALPHA_PMC_START, start, word);
	ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNT6MUX, 1, &select);
	add_setup_requests(p);
	add_ioctl(p, PFM_ALPHA_START,
	          p->has_start_values ? "PCNT6ENABWRITE"
	          : keep              ? "PCNT6ENABLE"
	                              : "PCNT6RESTART",
	          start, 1, &word);
	ADD_IOCTL(p, PFM_ALPHA_STOP, PCNT6DISABLE, 1, &bare);
	if (!p->out)
		return;
	p->out->pctr_ctl =
		select | (p->has_start_values ? word & (PF6_CTR0_KMASK | PF6_CTR1_KMASK) : 0);
	p->out->i_ctl = (uint64_t)p->counter_mask << 18;
}

static void finish_output(const struct alpha_placement *p)
{
	static const unsigned modes[] = { PCNTOPENALL, PCNTOPENEACH, PCNTOPENONE };
	pfmlib_alpha_output_param_t *out = p->out;
	uint32_t stop = p->pmu == PFMLIB_ALPHA_EV4_PMU                    ? PCNTRDISABLE
	                : p->plan->request->table->encoder == ENCODER_EV5 ? PCNT5DISABLE
	                                                                  : PCNT6DISABLE;

	if (!out)
		return;
	add_read_requests(p);
	(void)pfm_alpha_device_call(p->pmu, stop, p->counter_mask, &out->calls[out->n_calls++]);
	out->open_flags = modes[p->extra->input.pfp_alpha_open];
	out->counters = p->counter_mask;
	out->statistic = p->statistic;
	for (unsigned c = 0; c < PFM_ALPHA_MAX_COUNTERS; c++)
		out->rates[c] = p->rates[c];
}

/* Counters in the order of events; those that an event takes whole come both. */
static void add_pmds(const struct alpha_placement *p, const struct placement *where,
                     struct register_values *regs)
{
	const struct encode_request *req = p->plan->request;
	unsigned function = p->pmu == PFMLIB_ALPHA_EV4_PMU ? 0 : 5;

	for (unsigned i = 0; i < req->n_events; i++) {
		unsigned first = is_exclusive_event(&req->events[i]) ? 0 : where->counters[i];
		unsigned last = is_exclusive_event(&req->events[i]) ? 1 : where->counters[i];

		for (unsigned c = first; c <= last; c++)
			regs->pmds[regs->n_pmds++] = (pfm_reg_t){ .num = c,
				                                  .kind = PFM_REG_PMD,
				                                  .addr = function ? function : c,
				                                  .alt_addr = c,
				                                  .value = p->start_values[c] };
	}
}

void pfmi_alpha_encode_set(const struct plan *plan, const struct placement *where,
                           struct register_values *regs)
{
	struct alpha_placement p = { .plan = plan,
		                     .extra = get_plan_extra(plan),
		                     .pmu = plan->request->table->libpfm_type,
		                     .out = plan->request->model_out };
	uint64_t select;

	regs->n_pmcs = regs->n_pmds = 0;
	if (p.out)
		memset(p.out, 0, sizeof *p.out);
	map_counter_events(&p, where);
	choose_rates(&p);
	select = build_set_select(&p, where);
	switch (plan->request->table->encoder) {
	case ENCODER_EV4: encode_ev4(&p, select, regs); break;
	case ENCODER_EV5: encode_ev5(&p, select, regs); break;
	default: encode_ev6(&p, select, regs);
	}
	add_pmds(&p, where, regs);
	finish_output(&p);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Linux counts on EV67 and later, by numbers of its own, and cannot leave any level out. */
int pfmi_alpha_build_attr(const struct event *ev, unsigned plm, pfm_attr_t *out, pfm_error_t *why)
{
	bool all_levels = (plm & (PFM_PLM0 | PFM_PLM3)) == (PFM_PLM0 | PFM_PLM3);
	uint64_t raw = pfmi_pmu_get_key_value(ev, KEY_LINUX, ANY_COUNTER);

	(void)why;
	memset(out, 0, sizeof *out);
	if (raw == 0 || !all_levels || ev->exclude_flags)
		return PFMLIB_SUCCESS;
	out->type = 4;
	out->type_known = 1;
	out->expressible = 1;
	out->config = raw;
	return PFMLIB_SUCCESS;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static const struct register_field iccsr_bits[] = {
	{ "pc1", 0, 1 }, { "pc0", 3, 1 }, { "mux0", 8, 4 }, { "mux1", 32, 3 }, { "disable", 35, 2 }
};
static const struct register_field pmctr_bits[] = {
	{ "sel2", 0, 4 },  { "sel1", 4, 4 },  { "kk", 8, 1 },     { "kp", 9, 1 },
	{ "ctl2", 10, 2 }, { "ctl1", 12, 2 }, { "ctl0", 14, 2 },  { "ctr2", 16, 14 },
	{ "ku", 30, 1 },   { "sel0", 31, 1 }, { "ctr1", 32, 16 }, { "ctr0", 48, 16 },
};
static const struct register_field pcnt5mux_bits[] = { { "sel2", 0, 4 },
	                                               { "sel1", 4, 4 },
	                                               { "sel0", 31, 1 },
	                                               { "cbox1", 51, 3 },
	                                               { "cbox2", 54, 3 } };
/* Arguments of wrperfmon function 2: the second selects where BC_CTL has them, or PM_MUX. */
static const struct register_field ev5_select_bits[] = { { "sel2", 0, 4 },
	                                                 { "sel1", 4, 4 },
	                                                 { "sel0", 31, 1 },
	                                                 { "cbox1", 19, 3 },
	                                                 { "cbox2", 22, 3 } };
static const struct register_field pca56_select_bits[] = {
	{ "sel2", 0, 4 }, { "sel1", 4, 4 }, { "sel0", 31, 1 }, { "cbox1", 8, 3 }, { "cbox2", 11, 3 }
};
static const struct register_field ev5_freq_bits[] = { { "frq2", 4, 2 },
	                                               { "frq1", 6, 2 },
	                                               { "frq0", 8, 2 } };
/* Argument of the enabling functions: a bit for each counter. EV4's takes nothing. */
static const struct register_field ev5_enable_bits[] = { { "ctr0", 0, 1 },
	                                                 { "ctr1", 1, 1 },
	                                                 { "ctr2", 2, 1 } };
static const struct register_field ev6_enable_bits[] = { { "ctr0", 0, 1 }, { "ctr1", 1, 1 } };
static const struct register_field bc_ctl_bits[] = { { "cbox1", 19, 3 }, { "cbox2", 22, 3 } };
static const struct register_field pm_mux_bits[] = { { "pm0_mux", 8, 3 }, { "pm1_mux", 11, 3 } };
static const struct register_field ev6_pctr_ctl_bits[] = {
	{ "sl1", 0, 4 }, { "sl0", 4, 1 }, { "pctr1", 6, 20 }, { "pctr0", 28, 20 }
};
static const struct register_field ev67_pctr_ctl_bits[] = {
	{ "tak", 0, 1 },    { "val", 1, 1 },           { "sl1", 2, 2 },         { "sl0", 4, 1 },
	{ "pctr1", 6, 20 }, { "pm_killed_bm", 26, 1 }, { "pm_stalled", 27, 1 }, { "pctr0", 28, 20 },
};
static const struct register_field i_stat_bits[] = {
	{ "par", 29, 1 }, { "ovr", 30, 3 }, { "icm", 33, 1 }, { "trap_type", 34, 4 },
	{ "lso", 38, 1 }, { "trp", 39, 1 }, { "mis", 40, 1 },
};
static const struct register_field i_ctl_bits[] = { { "spce", 0, 1 },
	                                            { "pct0_en", 18, 1 },
	                                            { "pct1_en", 19, 1 } };

enum {
	FAMILY_EV4 = 1,
	FAMILY_EV5 = 2,
	FAMILY_PCA56 = 4,
	FAMILY_EV6 = 8,
	FAMILY_EV67 = 16
}; /* bit n: PFMLIB_ALPHA_EV4_PMU + n */

const struct register_field *pfmi_alpha_find_layout(const struct table *t, const char *name,
                                                    unsigned *n)
{
	unsigned family = 1u << (t->libpfm_type - PFMLIB_ALPHA_EV4_PMU);
	struct slice s = { name, (uint32_t)strlen(name) };

	/* Code, not a table: addresses in a table would have to be relocated. */
#define MATCH_LAYOUT(FAMILIES, NAME, BITS)                                                         \
	if ((family & (FAMILIES)) && pfmi_base_is_slice_icase(s, NAME)) {                          \
		*n = (unsigned)(sizeof(BITS) / sizeof((BITS)[0]));                                 \
		return BITS;                                                                       \
	}
	MATCH_LAYOUT(FAMILY_EV4, "ICCSR", iccsr_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMCTR", pmctr_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PCNT5MUX", pcnt5mux_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "FREQ", ev5_freq_bits)
	MATCH_LAYOUT(FAMILY_EV5, "BC_CTL", bc_ctl_bits)
	MATCH_LAYOUT(FAMILY_PCA56, "PM_MUX", pm_mux_bits)
	MATCH_LAYOUT(FAMILY_EV6, "PCTR_CTL", ev6_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "PCTR_CTL", ev67_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "I_STAT", i_stat_bits)
	MATCH_LAYOUT(FAMILY_EV6 | FAMILY_EV67, "I_CTL", i_ctl_bits)
	/* The word of selects as the device takes it, and as a register of ours. */
	MATCH_LAYOUT(FAMILY_EV4, "PCNTSETMUX", iccsr_bits)
	MATCH_LAYOUT(FAMILY_EV6, "PCNT6MUX", ev6_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "PCNT6MUX", ev67_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV4, "PMC8", iccsr_bits)
	MATCH_LAYOUT(FAMILY_EV5, "PMC8", ev5_select_bits)
	MATCH_LAYOUT(FAMILY_PCA56, "PMC8", pca56_select_bits)
	MATCH_LAYOUT(FAMILY_EV6, "PMC8", ev6_pctr_ctl_bits)
	MATCH_LAYOUT(FAMILY_EV67, "PMC8", ev67_pctr_ctl_bits)
	/* Further values that a set is written with: rates, and which counters are enabled. */
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMC9", ev5_freq_bits)
	MATCH_LAYOUT(FAMILY_EV5 | FAMILY_PCA56, "PMC11", ev5_enable_bits)
	MATCH_LAYOUT(FAMILY_EV6 | FAMILY_EV67, "PMC11", ev6_enable_bits)
#undef TRY
	return NULL;
}

/* Bits of a register that choose what its counter number @i counts: its selects, on EV67 the mode
 * that is both counters'. */
uint64_t pfmi_alpha_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                          unsigned *counter)
{
	static const char names[][4][6] = {
		{ "mux0", "", "mux1", "" },
		{ "sel0", "", "sel1", "cbox1" },
		{ "sl0", "", "sl1", "" },
		{ "sl0", "sl1", "sl0", "sl1" },
	};
	unsigned which = t->encoder == ENCODER_EV4   ? 0
	                 : t->encoder == ENCODER_EV5 ? 1
	                 : t->encoder == ENCODER_EV6 ? 2
	                                             : 3,
		 n;
	static const char third[2][6] = { "sel2", "cbox2" };
	const struct register_field *b = pfmi_alpha_find_layout(t, reg, &n);
	uint64_t mask = 0;

	if (!b || i >= pfm_alpha_num_counters(t->libpfm_type))
		return 0;
	*counter = i;
	for (unsigned k = 0; k < n; k++)
		for (unsigned half = 0; half < 2; half++)
			if (strcmp(b[k].name, i == 2 ? third[half] : names[which][2 * i + half]) ==
			    0)
				mask |= register_field_mask(b[k]) << b[k].lsb;
	return mask;
}

/* Rows without a name would be words without a description. */
int pfmi_alpha_check_event(struct event *ev, pfm_error_t *why)
{
	return ev->row_index == ROW_NONE
	               ? pfmi_base_set_plain_error(
				 why, PFMLIB_ERR_NOTSUPP, PFM_KIND_UNEXPRESSIBLE,
				 "expected an event name: Alpha processors have no raw events")
	               : PFMLIB_SUCCESS;
}

const struct encoder_ops pfmi_alpha_ops = {
	.check_event = pfmi_alpha_check_event,
	.constrain_set = pfmi_alpha_constrain_set,
	.encode_set = pfmi_alpha_encode_set,
	.build_attr = pfmi_alpha_build_attr,
	.find_layout = pfmi_alpha_find_layout,
	.get_event_select_mask = pfmi_alpha_get_event_select_mask,
	.registers = "ICCSR PMCTR PCNT5MUX FREQ BC_CTL PM_MUX PCTR_CTL I_STAT I_CTL PCNTSETMUX "
		     "PCNT6MUX PMC8 PMC9 PMC11",
	.alternatives =
		"one setting pairs the events of counters 0 and 1; no setting has all these events",
	.counts_all_levels = true,
	.has_pfcntr = true,
};
