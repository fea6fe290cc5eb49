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

/* Operations of an encoder. An operation is required unless its comment says what NULL means. */
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

struct encoder_ops {
	/* Checks unit masks, modifiers and levels of an event that was read from text, and
	 * completes it. Returns 0 or PFMLIB_ERR_*, with the reason in *@why. NULL: every event is
	 * valid. */
	int (*check_event)(struct event *ev, pfm_error_t *why);
	/* The largest value of modifier @f of the event. NULL: that of the field. */
	uint64_t (*get_modifier_limit)(const struct event *ev, const struct field *f);
	/* Fills *@out with the counters that each event of a set can use. Returns 0 or
	 * PFMLIB_ERR_*. */
	int (*constrain_set)(const struct encode_request *req, struct plan *out, pfm_error_t *why);
	/* Writes the registers of a set whose counters are assigned; cannot fail. */
	void (*encode_set)(const struct plan *plan, const struct placement *where,
	                   struct register_values *out);
	/* Writes the configuration words of perf_event_attr for one event; cannot fail. */
	void (*build_attr)(const struct event *ev, unsigned plm, perfmon_attr_t *out);
	/* The register that enables the counters of a set; false if no register is needed. NULL: no
	 * PMU of the encoder has one. */
	bool (*build_global_ctrl)(const struct encode_request *req, const struct placement *where,
	                          pfm_reg_t *out);
	/* The configuration words of an event: @own, filled, or the event's own. NULL: build_attr
	 * has them. */
	const uint64_t *(*get_config_words)(const struct event *ev, uint64_t own[4]);
	/* Address of the further register that an event sets, 0 for none. NULL: no event sets
	 * one. */
	uint32_t (*get_extra_register)(const struct event *ev);
	/* Fields of the register called @name, their number in *@n; NULL if the register is
	 * unknown. NULL: registers have no fields of their own. */
	const struct register_field *(*find_layout)(const struct table *t, const char *name,
	                                            unsigned *n);
	/* Bits of a register that identify the event. NULL: the fields of the table have them. */
	uint64_t (*get_event_select_mask)(const struct table *t, const char *reg, unsigned i,
	                                  unsigned *counter);
	/* Turns one register of a pair into a configuration word. NULL: events are not in pairs of
	 * registers. */
	bool (*decode_register_pair)(struct event *ev, const char *reg, uint64_t value,
	                             uint64_t *word);
	const char *registers;    /* for pfmi_pmu_list_registers(), or NULL */
	const char *alternatives; /* for pfmi_pmu_describe_alternatives(), or NULL */
	unsigned default_levels; /* PFM_PLM* counted when no levels are named; 0: user and kernel */
	bool counts_all_levels;  /* the kernel's driver has no levels */
	bool has_pfcntr;         /* the Tru64 counter device can count its events */
};

extern const struct encoder_ops pfmi_format_ops, pfmi_x86_ops, pfmi_montecito_ops, pfmi_alpha_ops,
	pfmi_linux_ops, pfmi_netburst_ops, pfmi_mips_ops;

typedef int check_op(struct event *ev, pfm_error_t *why);
typedef int constrain_op(const struct encode_request *req, struct plan *out, pfm_error_t *why);
typedef void encode_op(const struct plan *plan, const struct placement *where,
                       struct register_values *out);
typedef void attr_op(const struct event *ev, unsigned plm, perfmon_attr_t *out);
typedef const struct register_field *layout_op(const struct table *t, const char *name,
                                               unsigned *n);
typedef uint64_t event_select_mask_op(const struct table *t, const char *reg, unsigned i,
                                      unsigned *counter);

/* Operations that several files or tests use. */
constrain_op pfmi_pmu_constrain_format_set, pfmi_x86_constrain_set, pfmi_mont_constrain_set,
	pfmi_alpha_constrain_set, pfmi_pmu_constrain_perf_set, pfmi_netburst_constrain_set;
encode_op pfmi_pmu_encode_format_set, pfmi_x86_encode_set, pfmi_mont_encode_set,
	pfmi_alpha_encode_set, pfmi_pmu_encode_perf_set, pfmi_netburst_encode_set,
	pfmi_mips_encode_set;
check_op pfmi_pmu_check_format_event, pfmi_x86_check_event, pfmi_mont_check_event,
	pfmi_alpha_check_event;
attr_op pfmi_pmu_build_format_attr, pfmi_x86_build_attr, pfmi_mont_build_attr,
	pfmi_alpha_build_attr, pfmi_pmu_build_perf_attr, pfmi_netburst_build_attr,
	pfmi_mips_build_attr;
layout_op pfmi_x86_find_layout, pfmi_mont_find_layout, pfmi_alpha_find_layout,
	pfmi_netburst_find_layout, pfmi_mips_find_layout;
event_select_mask_op pfmi_x86_get_event_select_mask, pfmi_mont_get_event_select_mask,
	pfmi_alpha_get_event_select_mask, pfmi_mips_get_event_select_mask;
const uint64_t *pfmi_x86_get_config_words(const struct event *ev, uint64_t own[4]);
uint32_t pfmi_x86_get_extra_register(const struct event *ev);
uint32_t pfmi_netburst_get_escr(const struct event *ev);
bool pfmi_x86_build_global_ctrl(const struct encode_request *req, const struct placement *where,
                                pfm_reg_t *out);
bool pfmi_netburst_decode_register_pair(struct event *ev, const char *reg, uint64_t value,
                                        uint64_t *word);

#endif
