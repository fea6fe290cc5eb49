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
typedef uint64_t significant_op(const struct table *t, const char *reg, unsigned i, unsigned *counter);

/* What all have. */
constrain_op pfmi_format_constrain, pfmi_x86_constrain, pfmi_montecito_constrain, pfmi_alpha_constrain, pfmi_linux_constrain,
	pfmi_netburst_constrain;
encode_op pfmi_format_encode, pfmi_x86_encode, pfmi_montecito_encode, pfmi_alpha_encode, pfmi_linux_encode, pfmi_netburst_encode,
	pfmi_mips_encode;
/* Else there is nothing to check. */
check_op pfmi_format_check, pfmi_x86_check, pfmi_montecito_check, pfmi_alpha_check;
/* Else the words are those of the declared fields. */
attr_op pfmi_x86_attr, pfmi_montecito_attr, pfmi_alpha_attr, pfmi_linux_attr, pfmi_netburst_attr, pfmi_mips_attr;
const uint64_t *pfmi_x86_words(const struct event *ev, uint64_t own[4]);
/* Else there is none. */
uint32_t pfmi_x86_extra(const struct event *ev), pfmi_netburst_escr(const struct event *ev);
/* Else one event is a set of one. */
unsigned pfmi_x86_alone(const struct event *ev, unsigned levels, pfm_encoding_t *out);
/* Else there are no registers but the words. */
layout_op pfmi_x86_layout, pfmi_montecito_layout, pfmi_alpha_layout, pfmi_netburst_layout, pfmi_mips_layout;
/* Else fields declare bits. */
significant_op pfmi_montecito_significant, pfmi_alpha_significant, pfmi_mips_significant;
/* Else the word is not put together of registers. */
bool pfmi_netburst_completes(struct event *ev, const char *reg, uint64_t value, uint64_t *word);

#endif
