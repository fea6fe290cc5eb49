/* SPDX-License-Identifier: MIT */
/* Configuration words of events of x86 cores, their extra registers, and their counters. */
#include "pmu/x86.h"

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t build_libpfm3_config(const struct event *ev)
{
	uint64_t config = pfmi_pmu_get_key_value(ev, KEY_CODE, ANY_COUNTER) |
	                  pfmi_pmu_get_key_value(ev, KEY_UMASK, ANY_COUNTER) << 8;

	if (pfmi_pmu_get_key_value(ev, KEY_CORE_SPEC, ANY_COUNTER) &&
	    !register_field_extract(config, SEL_CORE))
		config = register_field_insert(config, SEL_CORE, 1);
	if (pfmi_pmu_get_key_value(ev, KEY_MESI, ANY_COUNTER) &&
	    !register_field_extract(config, SEL_MESI))
		config = register_field_insert(config, SEL_MESI, 0xf);
	if (pfmi_pmu_get_key_value(ev, KEY_EDGE, ANY_COUNTER))
		config = register_field_insert(config, SEL_EDGE, 1);
	if (pfmi_pmu_get_key_value(ev, KEY_INV, ANY_COUNTER))
		config = register_field_insert(config, SEL_INV, 1);
	return register_field_insert(config, SEL_CMASK,
	                             pfmi_pmu_get_key_value(ev, KEY_CMASK, ANY_COUNTER));
}

/* The extra register of each field of config1, and the second register of a pair. */
static const struct {
	enum field_key key;
	uint32_t msr, second_msr;
} extra_fields[] = {
	{ KEY_OFFCORE, MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1 },
	{ KEY_LDLAT, MSR_PEBS_LD_LAT, 0 },
	{ KEY_FRONTEND, MSR_PEBS_FRONTEND, 0 },
	{ KEY_OFFCORE1, MSR_SNOOP_RSP_0, MSR_SNOOP_RSP_1 },
};
#define N_EXTRA_FIELDS (sizeof(extra_fields) / sizeof(extra_fields[0]))

enum field_key pfmi_x86_find_msr_key(uint32_t msr)
{
	for (unsigned i = 0; msr && i < N_EXTRA_FIELDS; i++)
		if (extra_fields[i].msr == msr || extra_fields[i].second_msr == msr)
			return extra_fields[i].key;
	return KEY_NONE;
}

bool pfmi_x86_has_extra_registers(const struct table *t)
{
	bool has = table_get_key_field_plus1(t, KEY_MSR);

	for (unsigned i = 0; i < N_EXTRA_FIELDS; i++)
		has |= table_get_key_field_plus1(t, extra_fields[i].key) != 0;
	return has;
}

/* Does an event without a row use the second register of a pair? The kernel decides it by the code:
 * big cores have a code for each register, small cores a unit mask. (intel_*_extra_regs in
 * arch/x86/events/intel/core.c) */
static bool is_second_msr_event(const struct event *ev)
{
	uint64_t config[N_CONFIG_WORDS];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	switch (config[0] & 0xffff) {
	case 0x1bb:
	case 0x12b:
	case 0x2b7:
	case 0x227: return true;
	default: return false;
	}
}

uint32_t pfmi_x86_compute_extra_msr(const struct event *ev)
{
	uint32_t msr = (uint32_t)pfmi_pmu_get_key_value(ev, KEY_MSR, ANY_COUNTER);

	for (unsigned i = 0; msr == 0 && i < N_EXTRA_FIELDS; i++)
		if (pfmi_pmu_has_user_key(ev, extra_fields[i].key) ||
		    pfmi_pmu_get_key_value(ev, extra_fields[i].key, ANY_COUNTER))
			msr = extra_fields[i].second_msr && is_second_msr_event(ev)
			              ? extra_fields[i].second_msr
			              : extra_fields[i].msr;
	return msr;
}

const uint64_t *pfmi_x86_build_own_config(const struct event *ev, uint64_t own[N_CONFIG_WORDS],
                                          uint32_t *msr, uint64_t *value)
{
	const struct field *f;
	enum field_key key;

	if (x86_is_libpfm3_view(ev->table)) {
		own[0] = build_libpfm3_config(ev);
		memset(own + 1, 0, (N_CONFIG_WORDS - 1) * sizeof(*own));
		return own;
	}
	pfmi_pmu_build_config_words(ev, ANY_COUNTER, own);
	*msr = x86_has_no_extra_register(ev) ? 0 : pfmi_x86_compute_extra_msr(ev);
	if (*msr == 0)
		return own;
	key = pfmi_x86_find_msr_key(*msr);
	f = key != KEY_NONE ? table_get_key_field(ev->table, key) : NULL;
	*value = f && f->n_ranges ? pfmi_pmu_extract_field(f, own)
	                          : pfmi_pmu_get_key_value(ev, key, ANY_COUNTER);
	if (!*value && !pfmi_pmu_has_user_key(ev, key)) {
		*value = pfmi_pmu_get_key_value(ev, KEY_MSR_VALUE, ANY_COUNTER);
		if (f && f->n_ranges)
			field_insert(f, own, *value);
	}
	return own;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Does the kernel give fixed counters codes of their own? It does for Intel; Zhaoxin's events of
 * these codes count on general counters. */
static bool has_pseudo_codes(const struct table *t)
{
	uint64_t value;

	return !pfmi_pmu_find_feature(t, "pseudo_codes", &value) || value;
}

uint64_t pfmi_x86_get_rowless_counter_mask(const struct event *ev)
{
	const struct table *t = ev->table;
	uint64_t config[N_CONFIG_WORDS], fixed;
	unsigned umask;

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	umask = (unsigned)(config[0] >> 8 & 0xff);
	/* The kernel's pseudo code of a fixed counter that exists. */
	fixed = (config[0] & 0xff) == 0 && umask >= 1 && umask <= 31
	                ? t->all_counters & (uint64_t)1 << (FIRST_FIXED_COUNTER + umask - 1)
	                : 0;
	return fixed && has_pseudo_codes(t) ? fixed : t->all_counters & GENERAL_COUNTERS;
}
