/* SPDX-License-Identifier: MIT */
/* The encoders: what each of them has. pmu.h says what the operations do; encoders.c calls them. */
#ifndef PERFMON_ENCODERS_H
#define PERFMON_ENCODERS_H

#include "pmu/pmu.h"

typedef int check_op(struct event *ev, pfm_error_t *why);
typedef int constrain_op(const struct encode_request *req, struct plan *out, pfm_error_t *why);
typedef void encode_op(const struct plan *plan, const struct placement *where, struct register_values *out);
typedef int attr_op(const struct event *ev, unsigned plm, pfm_attr_t *out, pfm_error_t *why);
typedef const struct register_field *layout_op(const struct table *t, const char *name, unsigned *n);
typedef uint64_t event_select_mask_op(const struct table *t, const char *reg, unsigned i, unsigned *counter);

/* Operations of every encoder. */
constrain_op pfmi_pmu_constrain_format_set, pfmi_x86_constrain_set, pfmi_mont_constrain_set, pfmi_alpha_constrain_set, pfmi_linux_constrain_set,
	pfmi_netburst_constrain_set;
encode_op pfmi_pmu_encode_format_set, pfmi_x86_encode_set, pfmi_mont_encode_set, pfmi_alpha_encode_set, pfmi_linux_encode_set, pfmi_netburst_encode_set,
	pfmi_mips_encode_set;
/* Without it events are not checked. */
check_op pfmi_pmu_check_format_event, pfmi_x86_check_event, pfmi_mont_check_event, pfmi_alpha_check_event;
/* Without it the words are those of the declared fields. */
attr_op pfmi_x86_build_attr, pfmi_mont_build_attr, pfmi_alpha_build_attr, pfmi_linux_build_attr, pfmi_netburst_build_attr, pfmi_mips_build_attr;
const uint64_t *pfmi_x86_get_config_words(const struct event *ev, uint64_t own[4]);
/* Without it the answer is "missing". */
uint32_t pfmi_x86_get_extra_msr(const struct event *ev), pfmi_netburst_get_escr(const struct event *ev);
/* Without it one event is a set of one. */
unsigned pfmi_x86_encode_single(const struct event *ev, unsigned levels, pfm_encoding_t *out);
/* Only x86 has a register that enables all counters. */
bool pfmi_x86_build_global_ctrl(const struct encode_request *req, const struct placement *where,
                                pfm_reg_t *out);
/* Without it the words are the only registers. */
layout_op pfmi_x86_find_layout, pfmi_mont_find_layout, pfmi_alpha_find_layout, pfmi_netburst_find_layout, pfmi_mips_find_layout;
/* Without it fields declare bits. */
event_select_mask_op pfmi_x86_get_event_select_mask, pfmi_mont_get_event_select_mask, pfmi_alpha_get_event_select_mask, pfmi_mips_get_event_select_mask;
/* Without it the word does not consist of registers. */
bool pfmi_netburst_decode_register_pair(struct event *ev, const char *reg, uint64_t value, uint64_t *word);

#endif
