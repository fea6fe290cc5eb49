/* SPDX-License-Identifier: MIT */
/* Encoder for the Alpha PMUs: EV4, EV5 and PCA56, EV6, EV67.
 *
 * The comments below describe the driver's rates, modes, items and order of requests. */
#include <string.h>
#include "pmu/alpha.h"

/* A set whose counters are assigned. */
struct alpha_placement {
	const struct plan *plan;
	const struct alpha_plan_extra *extra;
	int pmu;
	unsigned counter_mask;
	int counter_events[PFM_ALPHA_MAX_COUNTERS]; /* event on each counter, -1 for none */
	uint64_t rates[PFM_ALPHA_MAX_COUNTERS];
	uint64_t start_values[PFM_ALPHA_MAX_COUNTERS];
	bool has_start_values; /* some start value is not 0 or was requested */
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
		if (alpha_is_exclusive_event(
			    &p->plan->request->events[i])) { /* it uses both counters */
			p->counter_events[0] = p->counter_events[1] = (int)i;
			p->counter_mask = 3;
		}
	}
}

/* Chooses the rate of each counter: its event's period, the caller's setting, or the slow rate. */
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
		/* Without a second rate, a start value makes the period. */
		if (pfm_alpha_rate(p->pmu, c, 1) == 0) {
			p->has_start_values = true;
			(void)pfm_alpha_start_value(pfm_alpha_counter_width(p->pmu, c), period,
			                            &p->start_values[c]);
		}
	}
}

/* Builds the word that selects the events, in the device's form. A counter without an event has
 * select 0. */
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
		case PFMLIB_ALPHA_EV4_PMU: /* EV4 counters always count; this bit makes the driver
		                              ignore an unused one */
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

/* The counting mode of an exclusive event. Most statistics come from I_STAT, PMPC and the flags of
 * PCTR_CTL, which every mode provides. */
static unsigned get_exclusive_mode(const struct event *ev)
{
	unsigned mode = (unsigned)pfmi_table_get_row_value(ev->table, ev->row_index, KEY_PCTR_MODE,
	                                                   ANY_COUNTER);

	if (alpha_get_event_kind(ev) == KIND_PAIR || alpha_get_event_kind(ev) == KIND_MODE)
		return (unsigned)pfmi_table_get_row_value(ev->table, ev->row_index, KEY_SEL,
		                                          ANY_COUNTER);
	return mode >= PM_MODE_ANY ? 0 : mode;
}

static uint64_t build_set_select(struct alpha_placement *p, const struct placement *where)
{
	const struct encode_request *req = p->plan->request;
	uint64_t rates = 0, word;

	if (req->n_events && alpha_is_exclusive_event(&req->events[0])) {
		const struct event *ev = &req->events[0];

		word = (uint64_t)get_exclusive_mode(ev) << 2 |
		       (alpha_is_profileme_event(ev) ? PF67_PROFILE_ME_MODE : 0);
		p->statistic = (unsigned)pfmi_table_get_row_value(ev->table, ev->row_index,
		                                                  KEY_STAT, ANY_COUNTER);
		if (!p->statistic && alpha_is_profileme_event(ev))
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
		                                  .value = call.argument,
		                                  .event = -1 };
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

/* Adds the requests for ranges: they follow the items. The first range has the stride; caller mode
 * is enabled between the first range and the others. */
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

static uint64_t get_requested_items(const struct alpha_placement *p)
{
	uint64_t items =
		p->extra->input.pfp_alpha_items ? p->extra->input.pfp_alpha_items : PFM_COUNTERS;

	return items | pfm_alpha_statistic_bits(p->statistic);
}

static void add_setup_requests(const struct alpha_placement *p)
{
	uint64_t items = get_requested_items(p);

	ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTSETITEMS, 1, &items);
	add_ranges(p);
	if (p->extra->input.pfp_alpha_scope == PFM_ALPHA_SCOPE_PROCESS)
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTLOGSELECT, 0, NULL);
	else
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTLOGALL, 0, NULL);
	if (p->extra->has_mode_word)
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNT5CTXTS, 1, &p->extra->mode_word);
	if (items & (PFM_COUNTERS | PFM_IPL)) /* opening the device does not clear the counters */
		ADD_IOCTL(p, PFM_ALPHA_SETUP, PCNTCLEARCNT, 0, NULL);
}

static void add_read_requests(const struct alpha_placement *p)
{
	uint64_t items = get_requested_items(p);

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

/* ---- encoding by family ---------------------------------------------------------------------- */

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

static void fill_model_output(const struct alpha_placement *p)
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

/* Adds the data registers in the order of events; an exclusive event has both counters. */
static void add_pmds(const struct alpha_placement *p, const struct placement *where,
                     struct register_values *regs)
{
	const struct encode_request *req = p->plan->request;
	unsigned function = p->pmu == PFMLIB_ALPHA_EV4_PMU ? 0 : 5;

	for (unsigned i = 0; i < req->n_events; i++) {
		unsigned first = alpha_is_exclusive_event(&req->events[i]) ? 0 : where->counters[i];
		unsigned last = alpha_is_exclusive_event(&req->events[i]) ? 1 : where->counters[i];

		for (unsigned c = first; c <= last; c++)
			regs->pmds[regs->n_pmds++] = (pfm_reg_t){ .num = c,
				                                  .kind = PFM_REG_PMD,
				                                  .addr = function ? function : c,
				                                  .alt_addr = c,
				                                  .value = p->start_values[c],
				                                  .event = (int32_t)i };
	}
}

static void encode_set(const struct plan *plan, const struct placement *where,
                       struct register_values *regs)
{
	struct alpha_placement p = { .plan = plan,
		                     .extra = alpha_get_plan_extra(plan),
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
	fill_model_output(&p);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Linux supports EV67 and later, has its own event numbers, and counts at all levels. */
static void build_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	bool all_levels = (plm & (PFM_PLM0 | PFM_PLM3)) == (PFM_PLM0 | PFM_PLM3);
	uint64_t raw = pfmi_pmu_get_key_value(ev, KEY_LINUX, ANY_COUNTER);

	memset(out, 0, sizeof *out);
	if (raw == 0 || !all_levels || ev->exclude_flags)
		return;
	out->type = 4;
	out->type_known = 1;
	out->expressible = 1;
	out->config = raw;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Refuses raw events: no configuration word describes an event of these PMUs. */
static int check_event(struct event *ev, pfm_error_t *why)
{
	return ev->row_index == ROW_NONE
	               ? pfmi_base_set_plain_error(
				 why, PFMLIB_ERR_NOTSUPP, PFM_KIND_UNEXPRESSIBLE,
				 "expected an event name: Alpha processors have no raw events")
	               : PFMLIB_SUCCESS;
}

const struct encoder_ops pfmi_alpha_ops = {
	.check_event = check_event,
	.constrain_set = pfmi_alpha_constrain_set,
	.encode_set = encode_set,
	.build_attr = build_attr,
	.find_layout = pfmi_alpha_find_layout,
	.get_event_select_mask = pfmi_alpha_get_event_select_mask,
	.decode_shared_levels = pfmi_alpha_decode_shared_levels,
	.registers = "ICCSR PMCTR PCNT5MUX FREQ BC_CTL PM_MUX PCTR_CTL I_STAT I_CTL PCNTSETMUX "
		     "PCNT6MUX PMC8 PMC9 PMC10 PMC11",
	.alternatives =
		"one setting pairs the events of counters 0 and 1; no setting has all these events",
	.counts_all_levels = true,
	.has_pfcntr = true,
	.default_levels = PFM_PLM0 | PFM_PLM3,
};
