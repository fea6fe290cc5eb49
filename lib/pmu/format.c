/* SPDX-License-Identifier: MIT */
/* The encoder of PMUs whose events are fields of configuration words: PMUs that the kernel
 * describes, Arm, POWER, s390, RISC-V, uncore boxes. The registers of a set are configuration
 * words; the kernel writes them to the hardware.
 *
 * A set has one entry for the config word of each event, in order, then entries for config1 to
 * config4 that are not 0. num and addr are the number of the word. Sets of Arm's cores and of
 * POWER8 and later (power.c) then have the control registers that the kernel computes from these
 * words. Data registers are the counters,
 * if the table declares them. */
#include <string.h>
#include "pmu/power.h"

#define NO_COUNTER 0xffu

/* Control registers of Arm's counters: PMEVTYPER<n>_EL0, and PMCCFILTR_EL0 for the cycle counter,
 * which stands where number 31 of the former would. The address is the number that MRS and MSR
 * encode, op0:op1:CRn:CRm:op2 from bit 19 on as in sys_reg() of Linux. Source: Arm Architecture
 * Reference Manual (DDI 0487), "PMEVTYPER<n>_EL0, Performance Monitors Event Type Registers". */
enum {
	PMEVTYPER0_EL0 = 3 << 19 | 3 << 16 | 14 << 12 | 12 << 8, /* S3_3_C14_C12_0 */
	PMEVTYPER_STEP = 1 << 5,
	ARM_CYCLE_COUNTER = 31
};
#define ARM_EVENT_MASK  UINT64_C(0xffff)    /* evtCount, as config has it */
#define ARM_NOT_AT_EL1  (UINT64_C(1) << 31) /* P */
#define ARM_NOT_AT_EL0  (UINT64_C(1) << 30) /* U */
#define ARM_ALSO_AT_EL2 (UINT64_C(1) << 27) /* NSH */
#define ARM_THRESHOLD   32                  /* TH, 12 bits (FEAT_PMUv3_TH) */
#define ARM_COMPARISON  61                  /* TC, 3 bits */

/* The counter that an event code of POWER requires, 0 for any: four bits of the code, at the bit
 * that the feature counter_at names. */
static uint64_t get_required_counter(const struct table *t, uint64_t config)
{
	uint64_t at = 64;

	return pfmi_pmu_find_feature(t, "counter_at", &at) && at < 64 ? config >> at & 0xf : 0;
}

/* The counters of the event; one that is given by its number has no cycle counter, which counts
 * cycles alone. */
static uint64_t get_possible_counters(const struct event *ev)
{
	uint64_t mask = pfmi_pmu_get_counter_mask(ev), counter, code;

	if (!ev->row && pfmi_pmu_find_feature(ev->table, "cycle_counter", &counter) &&
	    pfmi_pmu_find_feature(ev->table, "cycle_event", &code) && counter < 64 &&
	    pfmi_pmu_get_key_value(ev, KEY_CODE, ANY_COUNTER) != code)
		mask &= ~((uint64_t)1 << counter);
	return mask;
}

static uint64_t get_counter_mask(const struct event *ev, const struct encode_request *req)
{
	const struct table *t = ev->table;
	uint64_t mask = get_possible_counters(ev), config[N_CONFIG_WORDS], pmc;

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	pmc = get_required_counter(t, config[0]);
	if (pmc)
		mask &= (uint64_t)1 << pmc;
	return req->unavailable_regs ? mask & ~req->unavailable_regs->bits[0] : mask;
}

/* The counter that the event should have because few others can use it: arm64's cycle counter, or a
 * fixed counter. 0 if any counter will do. */
static uint64_t get_dedicated_counter(const struct event *ev, uint64_t mask, uint64_t counter,
                                      uint64_t code)
{
	if (counter < 64 && mask >> counter & 1 &&
	    pfmi_pmu_get_key_value(ev, KEY_CODE, ANY_COUNTER) == code)
		return (uint64_t)1 << counter;
	return mask & 0xffffffff ? mask & ~(uint64_t)0xffffffff : 0;
}

/* Adds an alternative in which the first event with a dedicated counter may use any. Returns the
 * number of alternatives. */
static unsigned add_dedicated_alternative(const struct encode_request *req, struct plan *out)
{
	struct alternative *first = &out->alternatives[0], *second = &out->alternatives[1];
	uint64_t counter = 64, code = 0;

	if (pfmi_pmu_find_feature(req->table, "cycle_counter", &counter) &&
	    !pfmi_pmu_find_feature(req->table, "cycle_event", &code))
		counter = 64;
	for (unsigned i = 0; i < req->n_events; i++) {
		uint64_t own = get_dedicated_counter(&req->events[i], first->counter_masks[i],
		                                     counter, code);

		if (!own)
			continue;
		memcpy(second->counter_masks, first->counter_masks,
		       req->n_events * sizeof(first->counter_masks[0]));
		second->n_holds = 0;
		first->counter_masks[i] = own;
		return 2;
	}
	return 1;
}

/* True for cores with Arm's PMUv3, whose cycle counter has number 31. */
static bool is_arm_core(const struct table *t)
{
	uint64_t counter;

	return pfmi_pmu_find_feature(t, "cycle_counter", &counter) && counter == ARM_CYCLE_COUNTER;
}

/* Checks that the registers of a set fit into struct register_values. */
static int check_register_count(const struct encode_request *req, pfm_error_t *why)
{
	unsigned words = req->n_events * (is_arm_core(req->table) ? 2 : 1);

	for (unsigned i = 0; i < req->n_events; i++) {
		uint64_t config[N_CONFIG_WORDS];

		pfmi_pmu_build_config_words(&req->events[i], ANY_COUNTER, config);
		for (unsigned word = 1; word < N_CONFIG_WORDS; word++)
			words += config[word] != 0;
	}
	return words <= PLAN_MAX_REGS
	               ? PFMLIB_SUCCESS
	               : pfmi_base_set_plain_error(why, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY,
	                                           "the set needs too many registers");
}

int pfmi_pmu_constrain_format_set(const struct encode_request *req, struct plan *out,
                                  pfm_error_t *why)
{
	if (req->model_in)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL,
		                                 "this processor has no settings of its own");
	out->alternatives[0].n_holds = 0;
	for (unsigned i = 0; i < req->n_events; i++) {
		bool counted = req->table->n_counters != 0;

		out->alternatives[0].counter_masks[i] =
			counted ? get_counter_mask(&req->events[i], req) : 0;
		out->counterless_events |= (uint64_t)!counted << i;
	}
	out->n_alternatives = add_dedicated_alternative(req, out);
	return req->n_events > PLAN_MAX_REGS / (N_CONFIG_WORDS + 1) ? check_register_count(req, why)
	                                                            : PFMLIB_SUCCESS;
}

/* The control register of counter @n for event @ev with the words @config, as Linux writes it where
 * the kernel runs at EL1 (drivers/perf/arm_pmuv3.c: armv8pmu_set_event_filter). A kernel at EL2
 * also sets NSH to count itself. */
static uint64_t build_arm_control(const struct event *ev, unsigned plm, unsigned n,
                                  const uint64_t config[N_CONFIG_WORDS])
{
	unsigned levels = event_get_levels(ev, plm);
	uint64_t value = 0;

	value |= levels & PFM_PLM0 ? 0 : ARM_NOT_AT_EL1;
	value |= levels & PFM_PLM3 ? 0 : ARM_NOT_AT_EL0;
	value |= !ev->plm || ev->plm & PFMI_PLMH ? ARM_ALSO_AT_EL2 : 0;
	if (n == ARM_CYCLE_COUNTER)
		return value;
	value |= config[0] & ARM_EVENT_MASK;
	if (config[1] >> 5 & 0xfff) /* fields threshold, threshold_compare, threshold_count */
		value |= (config[1] >> 5 & 0xfff) << ARM_THRESHOLD |
		         ((config[1] >> 3 & 3) << 1 | (config[1] >> 2 & 1)) << ARM_COMPARISON;
	return value;
}

/* Adds the control registers of counters, which the kernel computes from configuration words and
 * levels. */
static void encode_arm_controls(const struct plan *plan, const struct placement *where,
                                struct register_values *out)
{
	uint64_t config[N_CONFIG_WORDS];

	for (unsigned i = 0; i < plan->request->n_events; i++) {
		const struct event *ev = &plan->request->events[i];
		unsigned n = where->counters[i];
		uint64_t addr = PMEVTYPER0_EL0 + (uint64_t)n * PMEVTYPER_STEP;

		if (n > ARM_CYCLE_COUNTER)
			continue;
		pfmi_pmu_build_plan_words(plan, i, n, config);
		out->pmcs[out->n_pmcs++] = (pfm_reg_t){
			.num = n,
			.kind = PFM_REG_PMC,
			.addr = addr,
			.alt_addr = addr,
			.value = build_arm_control(ev, plan->request->plm, n, config),
			.event = (int32_t)i,
		};
	}
}

static void encode_format_set(const struct plan *plan, const struct placement *where,
                              struct register_values *out)
{
	const bool has_power_controls = pfmi_power_has_controls(plan->request->table);
	uint64_t config[N_CONFIG_WORDS];

	for (unsigned i = 0; i < plan->request->n_events; i++) {
		unsigned n = where->counters[i];

		pfmi_pmu_build_plan_words(plan, i, n == NO_COUNTER ? ANY_COUNTER : n, config);
		out->pmcs[out->n_pmcs++] = pmu_make_config_register(0, config[0], i);
		if (n != NO_COUNTER)
			out->pmds[out->n_pmds++] = (pfm_reg_t){
				.num = n,
				.kind = PFM_REG_PMD,
				.addr = has_power_controls ? pfmi_power_get_counter_address(n) : n,
				.alt_addr = n,
				.event = (int32_t)i
			};
	}
	for (unsigned i = 0; i < plan->request->n_events; i++) {
		pfmi_pmu_build_plan_words(plan, i, ANY_COUNTER, config);
		for (unsigned word = 1; word < N_CONFIG_WORDS; word++)
			if (config[word])
				out->pmcs[out->n_pmcs++] =
					pmu_make_config_register(word, config[word], i);
	}
	if (is_arm_core(plan->request->table))
		encode_arm_controls(plan, where, out);
	if (has_power_controls)
		pfmi_power_encode_controls(plan, where, out);
}

static const struct register_field arm_control_bits[] = {
	{ "evtCount", 0, 16 }, { "nsh", 27, 1 }, { "u", 30, 1 },
	{ "p", 31, 1 },        { "th", 32, 12 }, { "tc", 61, 3 },
};

/* Fields of Arm's control registers, PMEVTYPER0 ... PMEVTYPER30 and PMCCFILTR. */
static const struct register_field *find_arm_layout(const struct table *t, const char *name,
                                                    unsigned *n)
{
	static const char words[2][10] = { "PMEVTYPER", "PMCCFILTR" };
	unsigned word = pfmi_base_skip_prefix_icase((struct slice){ words[1], 9 }, name) ? 1 : 0;
	const char *number = pfmi_base_skip_prefix_icase((struct slice){ words[word], 9 }, name);
	uint64_t counter;

	if (!number || !is_arm_core(t))
		return NULL;
	if (word ? *number != '\0'
	         : !pfmi_base_parse_number((struct slice){ number, (uint32_t)strlen(number) },
	                                   &counter) ||
	                    counter >= ARM_CYCLE_COUNTER)
		return NULL;
	*n = sizeof(arm_control_bits) / sizeof(arm_control_bits[0]);
	return arm_control_bits;
}

static const struct register_field *find_layout(const struct table *t, const char *name,
                                                unsigned *n)
{
	return pfmi_power_has_controls(t) ? pfmi_power_find_layout(t, name, n)
	                                  : find_arm_layout(t, name, n);
}

/* Checks that the text sets all parameters of an event of the kernel ("domain=?"). */
int pfmi_pmu_check_format_event(struct event *ev, pfm_error_t *why)
{
	const struct table *t = ev->table;
	const char *s = ev->row_index == ROW_NONE
	                        ? ""
	                        : pfmi_table_get_row_text(t, ev->row_index, KEY_PARAMS);

	while (*s) {
		size_t len = strcspn(s, " ");
		bool given = false;

		for (unsigned i = 0; i < ev->n_user_fields; i++)
			given |= pfmi_base_is_slice_icase(
				(struct slice){ s, (uint32_t)len },
				table_get_text(t, table_fields(t)[ev->user_fields[i].field].name));
		if (!given)
			return pfmi_base_set_plain_error(
				why, PFMLIB_ERR_ATTR_MISSING, PFM_KIND_MISSING_VALUE,
				"the kernel needs values for fields of the event");
		s += len + (s[len] == ' ');
	}
	return PFMLIB_SUCCESS;
}

/* Writes the configuration words as the fields of the table declare them. */
static void build_format_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	uint64_t config[N_CONFIG_WORDS];

	(void)plm;
	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	out->expressible = 1;
	attr_set_words(out, config);
}

const struct encoder_ops pfmi_format_ops = {
	.check_event = pfmi_pmu_check_format_event,
	.constrain_set = pfmi_pmu_constrain_format_set,
	.encode_set = encode_format_set,
	.find_layout = find_layout,
	.build_attr = build_format_attr,
	.default_levels = PFM_PLM0 | PFM_PLM3,
};
