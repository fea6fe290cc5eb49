/* SPDX-License-Identifier: MIT */
/* Encoders, one for each register layout. The file of an encoder ends with its operations;
 * encoders.c has them by the encoder's number in a table. */
#ifndef PERFMON_ENCODERS_H
#define PERFMON_ENCODERS_H

#include "pmu/pmu.h"

/* Fields that filter which occurrences of an event are counted. */
#define FILTER_KEYS                                                                                \
	((uint64_t)1 << KEY_CMASK | (uint64_t)1 << KEY_INV | (uint64_t)1 << KEY_EDGE |             \
	 (uint64_t)1 << KEY_IN_TX | (uint64_t)1 << KEY_IN_TX_CP | (uint64_t)1 << KEY_EQ)

/* Configuration word @word of event @event of a set. */
static inline pfm_reg_t pmu_make_config_register(unsigned word, uint64_t value, unsigned event)
{
	return (pfm_reg_t){ .num = word,
		            .kind = PFM_REG_CONFIG,
		            .addr = word,
		            .alt_addr = word,
		            .value = value,
		            .event = (int32_t)event };
}

extern const struct encoder_ops pfmi_format_ops, pfmi_x86_ops, pfmi_montecito_ops, pfmi_alpha_ops,
	pfmi_linux_ops, pfmi_netburst_ops, pfmi_mips_ops;

/* Functions that several files, or tests of one step, use. */
int pfmi_pmu_constrain_format_set(const struct encode_request *req, struct plan *out,
                                  pfm_error_t *why);
int pfmi_x86_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why);
int pfmi_alpha_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why);
int pfmi_pmu_constrain_perf_set(const struct encode_request *req, struct plan *out,
                                pfm_error_t *why);
int pfmi_pmu_check_format_event(struct event *ev, pfm_error_t *why);
void pfmi_netburst_build_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out);
const struct register_field *pfmi_x86_find_layout(const struct table *t, const char *name,
                                                  unsigned *n);
const struct register_field *pfmi_alpha_find_layout(const struct table *t, const char *name,
                                                    unsigned *n);
const struct register_field *pfmi_netburst_find_layout(const struct table *t, const char *name,
                                                       unsigned *n);
const struct register_field *pfmi_mips_find_layout(const struct table *t, const char *name,
                                                   unsigned *n);
const struct register_field *pfmi_power_find_layout(const struct table *t, const char *name,
                                                    unsigned *n);
uint64_t pfmi_x86_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                        unsigned *counter);
uint64_t pfmi_alpha_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                          unsigned *counter);
int pfmi_alpha_decode_shared_levels(const struct table *t, const char *reg, uint64_t value);
uint64_t pfmi_mips_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                         unsigned *counter);
/* The configuration words of event @i of @plan, on counter @counter or ANY_COUNTER. */
void pfmi_pmu_build_plan_words(const struct plan *plan, unsigned i, unsigned counter,
                               uint64_t config[N_CONFIG_WORDS]);

#endif
