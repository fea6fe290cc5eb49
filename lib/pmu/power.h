/* SPDX-License-Identifier: MIT */
/* The control registers of POWER8 and later, which are of whole sets. */
#ifndef PERFMON_PMU_POWER_H
#define PERFMON_PMU_POWER_H

#include "pmu/pmu_internal.h"

/* True for tables that declare, with the feature mmcr, the ISA of their control registers. */
bool pfmi_power_has_controls(const struct table *t);
/* The name of a control register by its number in sets. */
const char *pfmi_power_get_control_name(unsigned number);
/* The address of counter @counter, 1 to 6. */
uint64_t pfmi_power_get_counter_address(unsigned counter);
/* Adds the control registers to @out. */
void pfmi_power_encode_controls(const struct plan *plan, const struct placement *where,
                                struct register_values *out);

#endif
