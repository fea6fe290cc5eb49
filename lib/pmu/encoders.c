/* SPDX-License-Identifier: MIT */
/* The encoders there are, and what each of them does. One of Alpha's serves all its processors: what differs is in the tables and in
 * switches of its own. */
#include "pmu/pmu_internal.h"

#define ALPHA_ENCODERS ENCODER_EV4... ENCODER_EV67

static bool is_alpha_table(const struct table *t)
{
	return t->encoder >= ENCODER_EV4 && t->encoder <= ENCODER_EV67;
}

bool pfmi_pmu_has_encoder(const struct table *t)
{
	return t->encoder > ENCODER_NONE && t->encoder < N_ENCODERS;
}

int pfmi_pmu_check_event(struct event *ev, pfm_error_t *why)
{
	switch (ev->table->encoder) {
	case ENCODER_FORMAT: return pfmi_pmu_check_format_event(ev, why);
	case ENCODER_X86: return pfmi_x86_check_event(ev, why);
	case ENCODER_MONTECITO: return pfmi_mont_check_event(ev, why);
	case ALPHA_ENCODERS: return pfmi_alpha_check_event(ev, why);
	default: return PFMLIB_SUCCESS;
	}
}

int pfmi_pmu_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	switch (req->table->encoder) {
	case ENCODER_FORMAT:
	case ENCODER_MIPS: return pfmi_pmu_constrain_format_set(req, out, why);
	case ENCODER_X86: return pfmi_x86_constrain_set(req, out, why);
	case ENCODER_MONTECITO: return pfmi_mont_constrain_set(req, out, why);
	case ALPHA_ENCODERS: return pfmi_alpha_constrain_set(req, out, why);
	case ENCODER_PERF: return pfmi_linux_constrain_set(req, out, why);
	case ENCODER_NETBURST: return pfmi_netburst_constrain_set(req, out, why);
	default:
		return pfmi_base_set_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE, NULL, (struct slice){ 0 }, "no encoder for this processor");
	}
}

void pfmi_pmu_encode_registers(const struct plan *plan, const struct placement *where, struct register_values *out)
{
	switch (plan->request->table->encoder) {
	case ENCODER_FORMAT: pfmi_pmu_encode_format_set(plan, where, out); break;
	case ENCODER_X86: pfmi_x86_encode_set(plan, where, out); break;
	case ENCODER_MONTECITO: pfmi_mont_encode_set(plan, where, out); break;
	case ALPHA_ENCODERS: pfmi_alpha_encode_set(plan, where, out); break;
	case ENCODER_PERF: pfmi_linux_encode_set(plan, where, out); break;
	case ENCODER_NETBURST: pfmi_netburst_encode_set(plan, where, out); break;
	case ENCODER_MIPS: pfmi_mips_encode_set(plan, where, out); break;
	default: break;
	}
}

unsigned pfmi_pmu_encode_single(const struct event *ev, unsigned levels, pfm_encoding_t *out)
{
	return ev->table->encoder == ENCODER_X86 ? pfmi_x86_encode_single(ev, levels, out) : 0;
}

/* The words as the fields declare them. */
static int build_field_attr(const struct event *ev, pfm_attr_t *out)
{
	uint64_t config[4];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	out->expressible = 1;
	out->config = config[0];
	out->config1 = config[1];
	out->config2 = config[2];
	out->config3 = config[3];
	return PFMLIB_SUCCESS;
}

int pfmi_pmu_encode_attr(const struct event *ev, unsigned plm, pfm_attr_t *out, pfm_error_t *why)
{
	switch (ev->table->encoder) {
	case ENCODER_FORMAT: return build_field_attr(ev, out);
	case ENCODER_X86: return pfmi_x86_build_attr(ev, plm, out, why);
	case ENCODER_MONTECITO: return pfmi_mont_build_attr(ev, plm, out, why);
	case ALPHA_ENCODERS: return pfmi_alpha_build_attr(ev, plm, out, why);
	case ENCODER_PERF: return pfmi_linux_build_attr(ev, plm, out, why);
	case ENCODER_NETBURST: return pfmi_netburst_build_attr(ev, plm, out, why);
	case ENCODER_MIPS: return pfmi_mips_build_attr(ev, plm, out, why);
	default: return PFMLIB_SUCCESS;
	}
}

/* Taken from the whole attribute. */
static const uint64_t *get_attr_words(const struct event *ev, uint64_t own[4])
{
	pfm_attr_t a = { 0 };

	if (pfmi_pmu_encode_attr(ev, event_get_levels(ev, PFM_PLM0 | PFM_PLM3), &a, NULL))
		return NULL;
	own[0] = a.config;
	own[1] = a.config1;
	own[2] = a.config2;
	own[3] = a.config3;
	return own;
}

const uint64_t *pfmi_pmu_get_config_words(const struct event *ev, uint64_t own[4])
{
	return ev->table->encoder == ENCODER_X86 ? pfmi_x86_get_config_words(ev, own) : get_attr_words(ev, own);
}

uint32_t pfmi_pmu_get_extra_register(const struct event *ev)
{
	switch (ev->table->encoder) {
	case ENCODER_X86: return pfmi_x86_get_extra_msr(ev);
	case ENCODER_NETBURST: return pfmi_netburst_get_escr(ev);
	default: return 0;
	}
}

bool pfmi_pmu_has_plain_config(const struct table *t)
{
	/* A view has another processor's events under names of its own, which may be put together otherwise. */
	return t->encoder == ENCODER_FORMAT || (t->encoder == ENCODER_X86 && !(t->flags & TABLE_COMPAT_VIEW));
}

const struct register_field *pfmi_pmu_get_register_layout(const struct table *t, const char *name, unsigned *n)
{
	switch (t->encoder) {
	case ENCODER_X86: return pfmi_x86_find_layout(t, name, n);
	case ENCODER_MONTECITO: return pfmi_mont_find_layout(t, name, n);
	case ALPHA_ENCODERS: return pfmi_alpha_find_layout(t, name, n);
	case ENCODER_NETBURST: return pfmi_netburst_find_layout(t, name, n);
	case ENCODER_MIPS: return pfmi_mips_find_layout(t, name, n);
	default: return NULL;
	}
}

bool pfmi_pmu_has_event_select_mask(const struct table *t)
{
	return is_alpha_table(t) || t->encoder == ENCODER_MONTECITO || t->encoder == ENCODER_MIPS ||
	       (t->encoder == ENCODER_X86 && !table_has_field_bits(t));
}

uint64_t pfmi_pmu_get_event_select_mask(const struct table *t, const char *reg, unsigned i, unsigned *counter)
{
	switch (t->encoder) {
	case ENCODER_X86: return pfmi_x86_get_event_select_mask(t, reg, i, counter);
	case ENCODER_MONTECITO: return pfmi_mont_get_event_select_mask(t, reg, i, counter);
	case ALPHA_ENCODERS: return pfmi_alpha_get_event_select_mask(t, reg, i, counter);
	case ENCODER_MIPS: return pfmi_mips_get_event_select_mask(t, reg, i, counter);
	default: return 0;
	}
}

bool pfmi_pmu_has_register_pairs(const struct table *t)
{
	return t->encoder == ENCODER_NETBURST;
}

bool pfmi_pmu_decode_register_pair(struct event *ev, const char *reg, uint64_t value, uint64_t *word)
{
	return pfmi_netburst_decode_register_pair(ev, reg, value, word);
}

bool pfmi_pmu_build_global_ctrl(const struct encode_request *req, const struct placement *where,
                                pfm_reg_t *out)
{
	return req->table->encoder == ENCODER_X86 && pfmi_x86_build_global_ctrl(req, where, out);
}

const char *pfmi_pmu_list_registers(const struct table *t)
{
	switch (t->encoder) {
	case ENCODER_X86: return "PMC[0-31] PERFEVTSEL[0-31] FIXED_CTR_CTRL GLOBAL_CTRL PEBS_LD_LAT PEBS_FRONTEND "
		                         "OFFCORE_RSP_[0-1] SNOOP_RSP_[0-1]";
	case ENCODER_MONTECITO: return "PMC[4-42] PMD[4-63] IBR[0-7] DBR[0-7]";
	case ALPHA_ENCODERS: return "ICCSR PMCTR PCNT5MUX FREQ BC_CTL PM_MUX PCTR_CTL I_STAT I_CTL PCNTSETMUX PCNT6MUX PMC8 PMC9 PMC11";
	case ENCODER_NETBURST: return "CCCR[0-17] ESCR[0-1]";
	case ENCODER_MIPS: return "PERFCTL[0-3]";
	default: return "";
	}
}

const char *pfmi_pmu_describe_alternatives(const struct table *t)
{
	return is_alpha_table(t) ? "one setting pairs what counter 0 and counter 1 count, and none has all of them" : NULL;
}

unsigned pfmi_pmu_get_default_levels(const struct table *t)
{
	return t->encoder == ENCODER_MONTECITO ? PFM_PLM3 : PFM_PLM0 | PFM_PLM3;
}

bool pfmi_pmu_counts_all_levels(const struct table *t)
{
	return is_alpha_table(t);
}

bool pfmi_pmu_has_pfcntr(const struct table *t)
{
	return is_alpha_table(t);
}
