/* SPDX-License-Identifier: MIT */
/* Shared by the files of x86 cores: x86_config.c, configuration words; x86_constrain.c, sets of
 * events; x86_layout.c, fields of registers; x86.c, registers, perf attributes, checks. */
#ifndef PERFMON_X86_H
#define PERFMON_X86_H

#include <string.h>
#include "pmu/pmu_internal.h"

#define FIXED_CTR_CTRL      0x38du
#define GLOBAL_CTRL         0x38fu
#define PERF_METRICS_ENABLE ((uint64_t)1 << 48) /* of GLOBAL_CTRL */
/* IA32_PERF_METRICS and its number for RDPMC. Source: Intel's Software Developer's Manual, volume
 * 3B, "Performance Metrics"; Linux has them as MSR_PERF_METRICS and
 * INTEL_PMC_FIXED_RDPMC_METRICS. */
#define PERF_METRICS        0x329u
#define RDPMC_METRICS       0x20000000u
#define FIXED_CTR0          0x309u
#define FIRST_FIXED_COUNTER 32u /* number of fixed counter 0 */
#define SLOTS_FIXED_NUMBER  3u  /* the fixed counter of slots, which comes with PERF_METRICS */
#define RDPMC_FIXED         0x40000000u
#define NO_COUNTER          0xffu
#define GENERAL_COUNTERS    0xffffffffull
#define ENCODABLE_COUNTERS  0xffffffffffffull /* FIXED_CTR_CTRL has 16 fixed counters */
/* Edge, inverse, threshold, transactions and equality exist on general counters only. */
#define GENERAL_ONLY_FILTERS 0x13ff840000ull

enum {
	MSR_OFFCORE_RSP_0 = 0x1a6,
	MSR_OFFCORE_RSP_1 = 0x1a7,
	MSR_PEBS_LD_LAT = 0x3f6,
	MSR_PEBS_FRONTEND = 0x3f7,
	MSR_SNOOP_RSP_0 = 0x1328,
	MSR_SNOOP_RSP_1 = 0x1329
};

/* Values of an event's registers that do not depend on the counter. */
struct x86_select {
	uint64_t config;      /* PERFEVTSEL without levels, interrupt and enable */
	uint64_t extra_value; /* of the extra register */
	uint32_t extra_msr;   /* the extra register, 0 for none */
	uint32_t levels;
};

struct x86_plan_extra {
	struct x86_select selects[PLAN_MAX_EVENTS];
};
_Static_assert(sizeof(struct x86_plan_extra) <= sizeof(((struct plan *)0)->encoder_data),
               "fits the plan");

/* ---- x86_layout.c ---------------------------------------------------------------------------- */

/* Fields of PERFEVTSEL. */
#define SEL_USR   ((struct register_field){ "usr", 16, 1 })
#define SEL_OS    ((struct register_field){ "os", 17, 1 })
#define SEL_EDGE  ((struct register_field){ "edge", 18, 1 })
#define SEL_INT   ((struct register_field){ "int", 20, 1 })
#define SEL_EN    ((struct register_field){ "en", 22, 1 })
#define SEL_INV   ((struct register_field){ "inv", 23, 1 })
#define SEL_CMASK ((struct register_field){ "cmask", 24, 8 })
#define SEL_CORE  ((struct register_field){ "core", 14, 2 })
#define SEL_MESI  ((struct register_field){ "mesi", 8, 4 })

/* Has the processor Core Duo's settings (pfmlib_coreduo_input_param_t)? */
bool pfmi_x86_has_coreduo_settings(const struct table *t);

/* ---- x86_config.c ---------------------------------------------------------------------------- */

#define X86_EXTRA_KEYS                                                                             \
	((uint64_t)1 << KEY_OFFCORE | (uint64_t)1 << KEY_LDLAT | (uint64_t)1 << KEY_FRONTEND |     \
	 (uint64_t)1 << KEY_OFFCORE1)

/* Has the table the names and values of libpfm 3.10: codes with unit masks added to them, and
 * defaults of two groups of bits? */
static inline bool x86_is_libpfm3_view(const struct table *t)
{
	return t->flags & TABLE_COMPAT_VIEW && table_get_key_field(t, KEY_CORE_SPEC);
}

/* Has neither the row nor the user a value for an extra register? True for nearly every event. */
static inline bool x86_has_no_extra_register(const struct event *ev)
{
	return !((ev->row_keys | ev->user_keys) & ((uint64_t)1 << KEY_MSR | X86_EXTRA_KEYS));
}

/* Is the event a metric in PERF_METRICS? It is read with the slots counter and needs no counter. */
static inline bool x86_is_perf_metric(const struct table *t, uint64_t config)
{
	return t->all_counters >> (FIRST_FIXED_COUNTER + SLOTS_FIXED_NUMBER) & 1 &&
	       (config & 0xff) == 0 && (config >> 8 & 0xff) >= 0x80 && (config >> 8 & 0xff) <= 0x87;
}

/* The field that holds the value of extra register @msr, KEY_NONE without one. */
enum field_key pfmi_x86_find_msr_key(uint32_t msr);
/* Has the table a field for any extra register? */
bool pfmi_x86_has_extra_registers(const struct table *t);
/* Makes @out the register at @addr, without a value: a control register of a counter, a global one,
 * or otherwise an extra register. False if the table has no such register. */
bool pfmi_x86_find_register(const struct table *t, uint64_t addr, pfm_reg_t *out);
/* The event's extra register, 0 for none: that of its row, or of a field that the user set. */
uint32_t pfmi_x86_compute_extra_msr(const struct event *ev);
/* Writes the configuration words of the event to @own, its extra register (0 for none) to *@msr and
 * that register's value to *@value. config1 has the value even if the row has only the register.
 * Returns @own. */
const uint64_t *pfmi_x86_build_own_config(const struct event *ev, uint64_t own[N_CONFIG_WORDS],
                                          uint32_t *msr, uint64_t *value);
/* Gets the configuration words: those of the row, if nothing adds to them, otherwise @own. */
static inline const uint64_t *x86_build_config(const struct event *ev, uint64_t own[N_CONFIG_WORDS],
                                               uint32_t *msr, uint64_t *value)
{
	*msr = 0;
	*value = 0;
	if (x86_has_no_extra_register(ev) && !ev->n_user_fields &&
	    !(ev->row && ev->row->n_groups) && !x86_is_libpfm3_view(ev->table))
		return ev->base_config;
	return pfmi_x86_build_own_config(ev, own, msr, value);
}
/* The counters of an event without a row: the fixed counter of the kernel's pseudo code, otherwise
 * every general counter. */
uint64_t pfmi_x86_get_rowless_counter_mask(const struct event *ev);
/* The counters of an event's row, whatever its attributes are. @htoff: hyper-threading is off. */
static inline uint64_t x86_get_row_counter_mask(const struct event *ev, bool htoff)
{
	if (!ev->row)
		return pfmi_x86_get_rowless_counter_mask(ev);
	if (htoff && pfmi_table_has_row_value(ev->table, ev->row_index, KEY_HTOFF))
		return pfmi_table_get_row_value(ev->table, ev->row_index, KEY_HTOFF, ANY_COUNTER);
	return table_get_row_counter_mask(ev->table, ev->row);
}
/* The counters of @mask that support the attributes of the event with configuration @config. */
static inline uint64_t x86_narrow_counter_mask(const struct event *ev, uint64_t config,
                                               uint64_t mask)
{
	mask &= config & GENERAL_ONLY_FILTERS ? GENERAL_COUNTERS : ENCODABLE_COUNTERS;
	if (ev->counter_pin != ANY_COUNTER)
		mask &= ev->counter_pin < 64 ? (uint64_t)1 << ev->counter_pin : 0;
	return mask;
}

/* ---- x86_constrain.c ------------------------------------------------------------------------- */

/* Does an event before event @i use its extra register? */
bool pfmi_x86_shares_extra_register(const struct x86_plan_extra *x, unsigned i);

#endif
