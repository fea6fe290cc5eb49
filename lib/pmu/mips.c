/* SPDX-License-Identifier: MIT */
/* The encoder of MIPS: one control register for each counter, with the number of the event and a
 * bit for each level. The kernel's config is the number, with bit 7 for events of odd counters. */
#include <string.h>
#include "pmu/pmu_internal.h"

static const struct register_field EXCEPTION_BIT = { "exl", 0, 1 }, KERNEL_BIT = { "k", 1, 1 },
				   SUPERVISOR_BIT = { "s", 2, 1 }, USER_BIT = { "u", 3, 1 },
				   EVENT_BITS = { "event", 5, 7 };

/* True if the text names a level that only MIPS has; such levels are fields. */
static bool has_mips_level(const struct event *ev)
{
	return pfmi_pmu_get_key_value(ev, KEY_SUPERVISOR, ANY_COUNTER) ||
	       pfmi_pmu_get_key_value(ev, KEY_EXCEPTION, ANY_COUNTER);
}

/* Builds the control register. If the text names levels, only these are counted. */
static uint64_t build_perfctl(const struct event *ev, unsigned plm)
{
	unsigned levels = has_mips_level(ev) ? ev->plm : event_get_levels(ev, plm);
	uint64_t v = register_field_insert(0, EVENT_BITS,
	                                   pfmi_pmu_get_key_value(ev, KEY_CODE, ANY_COUNTER));

	v = register_field_insert(v, USER_BIT, (levels & PFM_PLM3) != 0);
	v = register_field_insert(v, KERNEL_BIT, (levels & PFM_PLM0) != 0);
	v = register_field_insert(v, SUPERVISOR_BIT,
	                          levels & PFM_PLM1 ||
	                                  pfmi_pmu_get_key_value(ev, KEY_SUPERVISOR, ANY_COUNTER));
	return register_field_insert(
		v, EXCEPTION_BIT,
		levels & PFM_PLM2 || pfmi_pmu_get_key_value(ev, KEY_EXCEPTION, ANY_COUNTER));
}

static void encode_set(const struct plan *plan, const struct placement *where,
                       struct register_values *out)
{
	for (unsigned i = 0; i < plan->request->n_events; i++) {
		unsigned n = where->counters[i];

		out->pmcs[out->n_pmcs++] =
			(pfm_reg_t){ .num = n,
			             .kind = PFM_REG_PMC,
			             .addr = n,
			             .alt_addr = n,
			             .value = build_perfctl(&plan->request->events[i],
			                                    plan->request->plm),
			             .event = (int32_t)i };
		out->pmds[out->n_pmds++] = (pfm_reg_t){
			.num = n, .kind = PFM_REG_PMD, .addr = n, .alt_addr = n, .event = (int32_t)i
		};
	}
}

static void build_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	uint64_t config[N_CONFIG_WORDS];

	(void)plm;
	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	out->config = config[0];
	out->expressible = !has_mips_level(ev); /* the kernel counts them as part of kernel level */
}

static const struct register_field perfctl_bits[] = {
	{ "e", 0, 1 },   { "os", 1, 1 },  { "s", 2, 1 },
	{ "usr", 3, 1 }, { "int", 4, 1 }, { "event", 5, 7 },
};

/* The counter of a control register, by its name; 32 for other registers. */
static unsigned find_perfctl_counter(const char *name)
{
	size_t len = strcspn(name, "0123456789");
	struct slice word = { name, (uint32_t)len };

	if (!pfmi_base_is_slice_icase(word, "PERFCTL") && !pfmi_base_is_slice_icase(word, "PMC"))
		return 32;
	return name[len] >= '0' && name[len] <= '3' && !name[len + 1] ? (unsigned)(name[len] - '0')
	                                                              : 32;
}

const struct register_field *pfmi_mips_find_layout(const struct table *t, const char *name,
                                                   unsigned *n)
{
	(void)t;
	*n = sizeof(perfctl_bits) / sizeof(perfctl_bits[0]);
	return find_perfctl_counter(name) < 32 ? perfctl_bits : NULL;
}

uint64_t pfmi_mips_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                         unsigned *counter)
{
	(void)t;
	*counter = find_perfctl_counter(reg);
	return i == 0 && *counter < 32 ? register_field_mask(EVENT_BITS) << EVENT_BITS.lsb : 0;
}

const struct encoder_ops pfmi_mips_ops = {
	.constrain_set = pfmi_pmu_constrain_format_set,
	.encode_set = encode_set,
	.build_attr = build_attr,
	.find_layout = pfmi_mips_find_layout,
	.get_event_select_mask = pfmi_mips_get_event_select_mask,
	.registers = "PERFCTL[0-3]",
	.default_levels = PFM_PLM0 | PFM_PLM3,
};
