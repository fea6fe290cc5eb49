/* SPDX-License-Identifier: MIT */
/* The encoder of x86 cores: PERFEVTSEL registers of Intel and AMD, Intel's fixed counters and extra
 * registers.
 *
 * perf_event_attr.config has the bits of PERFEVTSEL, so most values are fields that the table
 * declares. This file adds the bits that the kernel sets itself: levels, interrupt and enable.
 * Events of fixed counter n have the kernel's pseudo code: event byte 0, unit mask n + 1.
 *
 * A set has one entry for the control register of each event, in order. Events on fixed counters
 * share FIXED_CTR_CTRL; the entry of each has the value of the whole register, so writing one of
 * them suffices. Extra registers follow. pfm_dispatch_set() adds IA32_PERF_GLOBAL_CTRL, which
 * enables the counters. */
#include "base/bits.h"
#include "pmu/x86.h"

/* ---- encode ---------------------------------------------------------------------------------- */

static uint64_t build_perfevtsel(const struct x86_select *s)
{
	uint64_t v = s->config & ~(register_field_mask(SEL_USR) << SEL_USR.lsb |
	                           register_field_mask(SEL_OS) << SEL_OS.lsb);

	v |= (uint64_t)((s->levels & PFM_PLM3) != 0) << SEL_USR.lsb;
	v |= (uint64_t)((s->levels & PFM_PLM0) != 0) << SEL_OS.lsb;
	return v | (uint64_t)1 << SEL_INT.lsb | (uint64_t)1 << SEL_EN.lsb;
}

static const struct counter_range *find_counter_range(const struct table *t, unsigned n)
{
	const struct counter_range *c = table_counters(t);
	unsigned i;

	for (i = 0; i < t->n_counters; i++)
		if (c[i].is_fixed == (n >= FIRST_FIXED_COUNTER) &&
		    n % FIRST_FIXED_COUNTER >= c[i].first && n % FIRST_FIXED_COUNTER <= c[i].last)
			return &c[i];
	return NULL;
}

static uint32_t get_register_address(uint32_t first, uint32_t usual, const struct counter_range *c,
                                     unsigned n)
{
	if (!c || !first)
		return usual + n % FIRST_FIXED_COUNTER;
	return first + (n % FIRST_FIXED_COUNTER - c->first) * c->register_step;
}

/* True if the control register of general counter *@n in @c is at @addr. */
static bool find_control_register(const struct counter_range *c, uint64_t addr, unsigned *n)
{
	for (*n = c->first; !c->is_fixed && *n <= c->last; ++*n)
		if (get_register_address(c->control_register, 0x186, c, *n) == addr)
			return true;
	return false;
}

bool pfmi_x86_find_register(const struct table *t, uint64_t addr, pfm_reg_t *out)
{
	const struct counter_range *c = table_counters(t);
	unsigned n;

	*out = (pfm_reg_t){ .kind = PFM_REG_EXTRA, .addr = addr };
	for (unsigned i = 0; i < t->n_counters; i++)
		if (find_control_register(&c[i], addr, &n)) {
			out->kind = PFM_REG_PMC;
			out->num = n;
			return true;
		}
	if (!(t->all_counters >> FIRST_FIXED_COUNTER))
		return false;
	if (addr == FIXED_CTR_CTRL)
		out->kind = PFM_REG_FIXED_CTRL;
	else if (addr == GLOBAL_CTRL)
		out->kind = PFM_REG_GLOBAL_CTRL;
	return true;
}

/* The bits of fixed counter @n in FIXED_CTR_CTRL: OS, user, any thread. */
static uint64_t build_fixed_ctr_bits(const struct table *t, unsigned n, const struct x86_select *s)
{
	const struct field *any = table_get_key_field(t, KEY_ANY);
	uint64_t config[N_CONFIG_WORDS] = { s->config }, nibble = 0;

	nibble |= s->levels & PFM_PLM0 ? 1 : 0;
	nibble |= s->levels & PFM_PLM3 ? 2 : 0;
	nibble |= any && pfmi_pmu_extract_field(any, config) ? 4 : 0;
	return nibble << 4 * (n - FIRST_FIXED_COUNTER);
}

/* FIXED_CTR_CTRL of the whole set. */
static uint64_t build_fixed_ctr_ctrl(const struct plan *plan, const struct placement *where)
{
	const struct x86_plan_extra *x =
		(const struct x86_plan_extra *)(const void *)plan->encoder_data;
	uint64_t v = 0;

	for (unsigned i = 0; i < plan->request->n_events; i++)
		if (where->counters[i] != NO_COUNTER && where->counters[i] >= FIRST_FIXED_COUNTER)
			v |= build_fixed_ctr_bits(plan->request->table, where->counters[i],
			                          &x->selects[i]);
	return v;
}

static pfm_reg_t make_extra_register(const struct x86_select *s, unsigned event)
{
	return (pfm_reg_t){ .num = s->extra_msr,
		            .kind = PFM_REG_EXTRA,
		            .addr = s->extra_msr,
		            .alt_addr = s->extra_msr,
		            .value = s->extra_value,
		            .event = (int32_t)event };
}

static void encode_general_counter(const struct table *t, unsigned n, const struct x86_select *s,
                                   unsigned event, pfm_reg_t *pmc, pfm_reg_t *pmd)
{
	const struct counter_range *c = find_counter_range(t, n);
	uint64_t addr = get_register_address(c ? c->control_register : 0, 0x186, c, n);

	*pmc = (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_PMC,
		            .addr = addr,
		            .alt_addr = addr,
		            .value = build_perfevtsel(s),
		            .event = (int32_t)event };
	*pmd = (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_PMD,
		            .addr = get_register_address(c ? c->value_register : 0, 0xc1, c, n),
		            .alt_addr = n,
		            .event = (int32_t)event };
}

static void encode_fixed_counter(const struct table *t, unsigned n, uint64_t value, unsigned event,
                                 pfm_reg_t *pmc, pfm_reg_t *pmd)
{
	const struct counter_range *c = find_counter_range(t, n);

	*pmc = (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_FIXED_CTRL,
		            .addr = FIXED_CTR_CTRL,
		            .alt_addr = FIXED_CTR_CTRL,
		            .value = value,
		            .event = (int32_t)event };
	*pmd = (pfm_reg_t){ .num = n,
		            .kind = PFM_REG_PMD,
		            .addr = get_register_address(c ? c->value_register : 0, FIXED_CTR0, c,
		                                         n),
		            .alt_addr = RDPMC_FIXED + (n - FIRST_FIXED_COUNTER),
		            .event = (int32_t)event };
}

/* Adds each extra register once. */
static void encode_extra_registers(const struct x86_plan_extra *x, unsigned n,
                                   struct register_values *out)
{
	for (unsigned i = 0; i < n; i++)
		if (x->selects[i].extra_msr && !pfmi_x86_shares_extra_register(x, i))
			out->pmcs[out->n_pmcs++] = make_extra_register(&x->selects[i], i);
}

/* Adds the control registers of the second counters of pairs. */
static void encode_companions(const struct plan *plan, const struct placement *where,
                              struct register_values *out)
{
	const struct table *t = plan->request->table;

	for (uint64_t left = plan->pairs; left; left &= left - 1) {
		unsigned i = base_find_lowest_bit(left), n = where->counters[i] + 1u;
		const struct counter_range *c = find_counter_range(t, n);
		uint64_t addr = get_register_address(c ? c->control_register : 0, 0x186, c, n);

		out->pmcs[out->n_pmcs++] = (pfm_reg_t){ .num = n,
			                                .kind = PFM_REG_PMC,
			                                .addr = addr,
			                                .alt_addr = addr,
			                                .value = plan->pair_rule->value,
			                                .event = (int32_t)i };
	}
}

/* Adds PERF_METRICS once, for the first event that is a figure in it: without a counter of its own,
 * the event is read there. */
static void encode_perf_metrics(const struct plan *plan, const struct x86_plan_extra *x,
                                struct register_values *out)
{
	const struct table *t = plan->request->table;

	for (uint64_t left = plan->counterless_events; left; left &= left - 1) {
		unsigned i = base_find_lowest_bit(left);

		if (!x86_is_perf_metric(t, x->selects[i].config))
			continue;
		out->pmds[out->n_pmds++] = (pfm_reg_t){ .num = PERF_METRICS,
			                                .kind = PFM_REG_PMD,
			                                .addr = PERF_METRICS,
			                                .alt_addr = RDPMC_METRICS,
			                                .event = (int32_t)i };
		return;
	}
}

static void encode_set(const struct plan *plan, const struct placement *where,
                       struct register_values *out)
{
	const struct x86_plan_extra *x =
		(const struct x86_plan_extra *)(const void *)plan->encoder_data;
	const struct table *t = plan->request->table;
	uint32_t extras = 0;

	for (unsigned i = 0; i < plan->request->n_events; i++) {
		unsigned n = where->counters[i];

		extras |= x->selects[i].extra_msr;
		if (n == NO_COUNTER)
			out->pmcs[out->n_pmcs++] =
				pmu_make_config_register(0, x->selects[i].config, i);
		else if (n < FIRST_FIXED_COUNTER)
			encode_general_counter(t, n, &x->selects[i], i, &out->pmcs[out->n_pmcs++],
			                       &out->pmds[out->n_pmds++]);
		else
			encode_fixed_counter(t, n, build_fixed_ctr_ctrl(plan, where), i,
			                     &out->pmcs[out->n_pmcs++], &out->pmds[out->n_pmds++]);
	}
	encode_perf_metrics(plan, x, out);
	encode_companions(plan, where, out);
	if (extras)
		encode_extra_registers(x, plan->request->n_events, out);
}

static bool build_global_ctrl(const struct encode_request *req, const struct placement *where,
                              pfm_reg_t *out)
{
	uint64_t value = 0, address = GLOBAL_CTRL;

	if (!(req->table->all_counters >> FIRST_FIXED_COUNTER) &&
	    !pfmi_pmu_find_feature(req->table, "global_ctrl", &address))
		return false;
	for (unsigned i = 0; i < req->n_events; i++) {
		uint64_t config[N_CONFIG_WORDS];

		pfmi_pmu_build_config_words(&req->events[i], ANY_COUNTER, config);
		if (where->counters[i] != NO_COUNTER)
			value |= (uint64_t)1 << where->counters[i];
		else if (x86_is_perf_metric(req->table, config[0]))
			value |= PERF_METRICS_ENABLE;
	}
	*out = (pfm_reg_t){ .num = (uint32_t)address,
		            .kind = PFM_REG_GLOBAL_CTRL,
		            .addr = address,
		            .alt_addr = address,
		            .value = value,
		            .event = -1 };
	return true;
}

/* ---- perf ------------------------------------------------------------------------------------ */

/* Can perf_event_attr have the value of extra register @msr? It needs a field for that. */
static bool is_msr_expressible(const struct table *t, uint32_t msr)
{
	enum field_key key = msr ? pfmi_x86_find_msr_key(msr) : KEY_NONE;

	return !msr || (key != KEY_NONE && table_get_key_field_plus1(t, key));
}

static const uint64_t *get_config_words(const struct event *ev, uint64_t own[N_CONFIG_WORDS])
{
	uint64_t value;
	uint32_t msr;

	return x86_build_config(ev, own, &msr, &value);
}

static uint32_t get_extra_register(const struct event *ev)
{
	uint64_t own[N_CONFIG_WORDS], value;
	uint32_t msr;

	x86_build_config(ev, own, &msr, &value);
	return msr;
}

static void build_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	const uint64_t *config;
	uint64_t own[N_CONFIG_WORDS], value;
	uint32_t msr;

	(void)plm;
	config = x86_build_config(ev, own, &msr, &value);
	attr_set_words(out, config);
	out->expressible = is_msr_expressible(ev->table, msr);
}

/* ---- checks of one event --------------------------------------------------------------------- */

static int set_field_error(const struct event *ev, unsigned i, int code, pfm_error_kind_t kind,
                           const char *detail, pfm_error_t *why)
{
	pfmi_base_set_plain_error(why, code, kind, detail);
	if (why) {
		why->start = ev->user_fields[i].start;
		why->end = ev->user_fields[i].end;
	}
	return code;
}

static bool has_field_key(const struct event *ev, unsigned i, enum field_key key)
{
	return table_get_key_field_plus1(ev->table, key) == ev->user_fields[i].field + 1u;
}

static bool is_filter_field(const struct event *ev, unsigned i)
{
	return FILTER_KEYS >> table_fields(ev->table)[ev->user_fields[i].field].key & 1;
}

static bool is_extra_field(const struct event *ev, unsigned i)
{
	return X86_EXTRA_KEYS >> table_fields(ev->table)[ev->user_fields[i].field].key & 1;
}

/* Checks that the user's fields belong to the event's extra register: config1 holds the value of
 * one. */
static int check_extra_register(const struct event *ev, pfm_error_t *why)
{
	uint32_t msr;

	if (x86_has_no_extra_register(ev))
		return PFMLIB_SUCCESS;
	msr = pfmi_x86_compute_extra_msr(ev);
	for (unsigned i = 0; i < ev->n_user_fields; i++)
		if (is_extra_field(ev, i) && !has_field_key(ev, i, pfmi_x86_find_msr_key(msr)))
			return set_field_error(ev, i, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT,
			                       "the event uses another extra register", why);
	return PFMLIB_SUCCESS;
}

static bool is_perf_metric_event(const struct event *ev)
{
	uint64_t config[N_CONFIG_WORDS];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	return x86_is_perf_metric(ev->table, config[0]);
}

/* Checks the user's filters against fixed counters, top-down metrics and unit masks. */
static int check_user_filters(const struct event *ev, pfm_error_t *why)
{
	bool fixed_only, metric;

	fixed_only = ev->table->all_counters >> FIRST_FIXED_COUNTER &&
	             !(x86_get_row_counter_mask(ev, false) & GENERAL_COUNTERS);
	metric = (fixed_only || ev->user_keys & X86_EXTRA_KEYS) && is_perf_metric_event(ev);
	for (unsigned i = 0; i < ev->n_user_fields; i++) {
		if ((fixed_only && is_filter_field(ev, i) && ev->user_fields[i].value) ||
		    (metric && is_extra_field(ev, i)))
			return set_field_error(ev, i, PFMLIB_ERR_ATTR_EVENT,
			                       PFM_KIND_QUALIFIER_NOT_ALLOWED,
			                       metric ? "a top-down event takes no filter"
			                              : "a fixed counter has no such filter",
			                       why);
		/* A unit mask with edge cannot be counted without edge. */
		if (has_field_key(ev, i, KEY_EDGE) && !ev->user_fields[i].value &&
		    pfmi_pmu_get_key_value(ev, KEY_EDGE, ANY_COUNTER))
			return set_field_error(ev, i, PFMLIB_ERR_ATTR_SET, PFM_KIND_CONFLICT,
			                       "the unit mask sets edge", why);
	}
	return PFMLIB_SUCCESS;
}

static int check_user_settings(const struct event *ev, pfm_error_t *why)
{
	int rc = ev->user_keys & (FILTER_KEYS | X86_EXTRA_KEYS) ? check_user_filters(ev, why)
	                                                        : PFMLIB_SUCCESS;

	if (rc)
		return rc;
	if (ev->counter_pin != ANY_COUNTER &&
	    !(ev->counter_pin < 64 && x86_get_row_counter_mask(ev, true) >> ev->counter_pin & 1))
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_ATTR_VAL, PFM_KIND_BAD_VALUE,
		                                 "the event cannot count on that counter");
	return check_extra_register(ev, why);
}

static int check_event(struct event *ev, pfm_error_t *why)
{
	if ((!ev->n_user_fields && ev->counter_pin == ANY_COUNTER) ||
	    x86_is_libpfm3_view(ev->table))
		return PFMLIB_SUCCESS;
	return check_user_settings(ev, why);
}

const struct encoder_ops pfmi_x86_ops = {
	.check_event = check_event,
	.constrain_set = pfmi_x86_constrain_set,
	.encode_set = encode_set,
	.build_attr = build_attr,
	.build_global_ctrl = build_global_ctrl,
	.get_config_words = get_config_words,
	.get_extra_register = get_extra_register,
	.find_layout = pfmi_x86_find_layout,
	.get_event_select_mask = pfmi_x86_get_event_select_mask,
	.registers =
		"PMC[0-31] PERFEVTSEL[0-31] FIXED_CTR_CTRL GLOBAL_CTRL PEBS_LD_LAT PEBS_FRONTEND "
		"OFFCORE_RSP_[0-1] SNOOP_RSP_[0-1] OMR_[0-3]",
	.default_levels = PFM_PLM0 | PFM_PLM3,
};
