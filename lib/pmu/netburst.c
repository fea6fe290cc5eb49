/* SPDX-License-Identifier: MIT */
/* The encoder of Intel's Pentium 4 and the Xeons of its time: an ESCR selects an event, and the
 * CCCR of a counter selects the ESCR.
 *
 * perf_event_attr.config has the CCCR in the lower half and the ESCR in the upper half, with the
 * kernel's number of the event instead of the hardware's. It has no levels, because an ESCR has
 * bits for each thread of the core and the kernel sets those of the thread that it counts; the
 * registers here count both threads.
 *
 * Each ESCR exists twice, at neighbouring addresses: for the lower half of the counters of its
 * group, and for the upper half. So two events of one ESCR count on different halves, and a third
 * does not fit. */
#include <string.h>
#include "pmu/pmu_internal.h"

static const struct register_field ESCR_EVENT = { "event", 25, 6 },
				   ESCR_LEVELS = { "levels", 0, 4 },
				   CCCR_COMPARE = { "compare", 18, 1 },
				   CCCR_COMPARED = { "compared", 19, 6 },
				   CONFIG_PEBS = { "pebs", 0, 6 };

/* The counters of the first ESCR of a pair, and of the second. */
static const uint64_t half_counter_masks[] = { 0x13333, 0x2cccc };
#define USER_LEVEL_BITS   0x5u /* of both threads */
#define KERNEL_LEVEL_BITS 0xau
/* Bits of the kernel's word that select what is counted: the ESCR and the comparison in the CCCR;
 * masks and tags in the ESCR. The number of the event is not among them, because the kernel's
 * differs. */
#define CCCR_SELECT_MASK     0x01fce000u
#define ESCR_SELECT_MASK     0x01fffff000000000u
#define RESERVED_CONFIG_BITS 0x8000000030000fffu

struct netburst_plan_extra {
	uint64_t config[PLAN_MAX_EVENTS];
};
_Static_assert(sizeof(struct netburst_plan_extra) <= sizeof(((struct plan *)0)->encoder_data),
               "fits the plan");

/* Builds the config word. An edge or a threshold needs the comparison, which has an enable bit. */
static uint64_t build_config(const struct event *ev)
{
	uint64_t config[N_CONFIG_WORDS];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	if (register_field_extract(config[0], CCCR_COMPARED))
		config[0] = register_field_insert(config[0], CCCR_COMPARE, 1);
	return config[0];
}

/* The address of the first ESCR of the pair that selects the event. */
static uint32_t get_escr(const struct event *ev)
{
	return (uint32_t)pfmi_pmu_get_key_value(ev, KEY_MSR, ANY_COUNTER);
}

static int refuse_escr_clash(unsigned event, uint64_t with, pfm_error_t *why)
{
	pfmi_base_set_event_error(why, PFMLIB_ERR_NOASSIGN, PFM_KIND_NO_PLACEMENT, (int)event,
	                          "they need the same ESCR");
	pfmi_base_set_clash(why, with | (uint64_t)1 << event);
	return PFMLIB_ERR_NOASSIGN;
}

/* Refuses an event without a row: fields do not determine its ESCR. */
static int refuse_missing_escr(unsigned event, pfm_error_t *why)
{
	return pfmi_base_set_event_error(why, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT,
	                                 (int)event, "no event of this processor has these fields");
}

/* Restricts two events of one ESCR to different halves of the counters: the earlier event to the
 * lower half if both can count then. False if neither way works. */
static bool split_counter_halves(uint64_t *a, uint64_t *b)
{
	unsigned half = *a & half_counter_masks[0] && *b & half_counter_masks[1] ? 0 : 1;

	*a &= half_counter_masks[half];
	*b &= half_counter_masks[!half];
	return *a && *b;
}

static int share_escr_counters(const struct encode_request *req, unsigned i,
                               struct alternative *out, pfm_error_t *why)
{
	uint64_t others = 0;

	for (unsigned k = 0; k < i; k++)
		if (get_escr(&req->events[k]) == get_escr(&req->events[i]))
			others |= (uint64_t)1 << k;
	if (!others)
		return PFMLIB_SUCCESS;
	if (others & (others - 1) ||
	    !split_counter_halves(&out->counter_masks[__builtin_ctzll(others)],
	                          &out->counter_masks[i]))
		return refuse_escr_clash(i, others, why);
	return PFMLIB_SUCCESS;
}

static int constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	struct netburst_plan_extra *x = (struct netburst_plan_extra *)(void *)out->encoder_data;
	struct alternative *one = &out->alternatives[0];
	int rc = PFMLIB_SUCCESS;

	if (req->model_in)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL,
		                                 "this processor has no settings of its own");
	out->n_alternatives = 1;
	one->n_holds = 0;
	for (unsigned i = 0; i < req->n_events && !rc; i++) {
		if (!get_escr(&req->events[i]))
			return refuse_missing_escr(i, why);
		x->config[i] = build_config(&req->events[i]);
		one->counter_masks[i] = pfmi_pmu_get_counter_mask(&req->events[i]);
		if (req->unavailable_regs)
			one->counter_masks[i] &= ~req->unavailable_regs->bits[0];
		rc = share_escr_counters(req, i, one, why);
	}
	return rc;
}

static uint64_t build_escr(const struct event *ev, uint64_t config, unsigned plm)
{
	unsigned levels = event_get_levels(ev, plm);
	uint64_t v = register_field_insert(config >> 32, ESCR_EVENT,
	                                   pfmi_pmu_get_key_value(ev, KEY_SEL, ANY_COUNTER));

	return register_field_insert(v, ESCR_LEVELS,
	                             (levels & PFM_PLM3 ? USER_LEVEL_BITS : 0) |
	                                     (levels & PFM_PLM0 ? KERNEL_LEVEL_BITS : 0));
}

/* Writes one CCCR for each event, in order; the ESCRs follow. */
static void encode_set(const struct plan *plan, const struct placement *where,
                       struct register_values *out)
{
	const struct netburst_plan_extra *x =
		(const struct netburst_plan_extra *)(const void *)plan->encoder_data;
	const struct counter_range *c = table_counters(plan->request->table);

	for (unsigned i = 0; i < plan->request->n_events; i++) {
		unsigned n = where->counters[i];

		out->pmcs[out->n_pmcs++] =
			(pfm_reg_t){ .num = n,
			             .kind = PFM_REG_PMC,
			             .addr = c->control_register + n,
			             .alt_addr = c->control_register + n,
			             .value = register_field_insert(x->config[i] & 0xffffffff,
			                                            CONFIG_PEBS, 0),
			             .event = (int32_t)i };
		out->pmds[out->n_pmds++] = (pfm_reg_t){ .num = n,
			                                .kind = PFM_REG_PMD,
			                                .addr = c->value_register + n,
			                                .alt_addr = n,
			                                .event = (int32_t)i };
	}
	for (unsigned i = 0; i < plan->request->n_events; i++) {
		const struct event *ev = &plan->request->events[i];
		unsigned n = where->counters[i],
			 escr_bits = get_escr(ev) + (n < 64 && half_counter_masks[1] >> n & 1);

		out->pmcs[out->n_pmcs++] =
			(pfm_reg_t){ .num = escr_bits,
			             .kind = PFM_REG_EXTRA,
			             .addr = escr_bits,
			             .alt_addr = escr_bits,
			             .value = build_escr(ev, x->config[i], plan->request->plm),
			             .event = (int32_t)i };
	}
}

void pfmi_netburst_build_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	(void)plm;
	out->config = build_config(ev);
	out->expressible = 1;
}

static const struct register_field escr_bits[] = {
	{ "t1_usr", 0, 1 },     { "t1_os", 1, 1 }, { "t0_usr", 2, 1 }, { "t0_os", 3, 1 },
	{ "tag_enable", 4, 1 }, { "tag", 5, 4 },   { "mask", 9, 16 },  { "event", 25, 6 },
};
static const struct register_field cccr_bits[] = {
	{ "enable", 12, 1 }, { "select", 13, 3 }, { "thread", 16, 2 },  { "compare", 18, 1 },
	{ "cmpl", 19, 1 },   { "thr", 20, 4 },    { "edge", 24, 1 },    { "force_ovf", 25, 1 },
	{ "pmi0", 26, 1 },   { "pmi1", 27, 1 },   { "cascade", 30, 1 }, { "ovf", 31, 1 },
};

const struct register_field *pfmi_netburst_find_layout(const struct table *t, const char *name,
                                                       unsigned *n)
{
	const char *number = name + strcspn(name, "0123456789");
	struct slice word = { name, (uint32_t)(number - name) };
	bool one_digit = *number && !number[1],
	     up_to_17 = one_digit ||
	                (*number == '1' && number[1] >= '0' && number[1] <= '7' && !number[2]);

	(void)t;
	if (pfmi_base_is_slice_icase(word, "ESCR")) {
		*n = sizeof(escr_bits) / sizeof(escr_bits[0]);
		return one_digit && *number <= '1' ? escr_bits : NULL;
	}
	*n = sizeof(cccr_bits) / sizeof(cccr_bits[0]);
	return up_to_17 && (pfmi_base_is_slice_icase(word, "CCCR") ||
	                    pfmi_base_is_slice_icase(word, "PMC"))
	               ? cccr_bits
	               : NULL;
}

/* Decodes a CCCR with its ESCR, or an ESCR alone, which does not determine the ESCR's address. */
static bool decode_register_pair(struct event *ev, const char *reg, uint64_t value, uint64_t *word)
{
	bool alone = *reg == 'E' || *reg == 'e';
	uint64_t own = build_config(ev),
		 given_bits = alone ? ESCR_SELECT_MASK : ESCR_SELECT_MASK | CCCR_SELECT_MASK, high;

	value = alone ? value << 32 : value;
	high = value >> 32;
	ev->plm = (uint8_t)((high & USER_LEVEL_BITS ? PFM_PLM3 : 0) |
	                    (high & KERNEL_LEVEL_BITS ? PFM_PLM0 : 0));
	*word = (own & ~given_bits) | (value & given_bits);
	return !(value & RESERVED_CONFIG_BITS) &&
	       register_field_extract(high, ESCR_EVENT) ==
	               pfmi_pmu_get_key_value(ev, KEY_SEL, ANY_COUNTER);
}

const struct encoder_ops pfmi_netburst_ops = {
	.constrain_set = constrain_set,
	.encode_set = encode_set,
	.build_attr = pfmi_netburst_build_attr,
	.get_extra_register = get_escr,
	.find_layout = pfmi_netburst_find_layout,
	.decode_register_pair = decode_register_pair,
	.registers = "CCCR[0-17] ESCR[0-1]",
	.default_levels = PFM_PLM0 | PFM_PLM3,
};
