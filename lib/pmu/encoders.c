/* SPDX-License-Identifier: MIT */
/* The encoders by number, the functions of pmu.h that call them, and the perf attribute of one
 * event. */
#include "pmu/pmu_internal.h"

/* The encoder of tables that this library has none for. */
static const struct encoder_ops no_ops = { .default_levels = PFM_PLM0 | PFM_PLM3 };

#define CHOOSE(ID, OPS) (HAS_ENCODER(ID) ? &(OPS) : &no_ops)

/* A table of addresses would cost a relocation for each. */
const struct encoder_ops *pfmi_pmu_get_encoder(const struct table *t)
{
	switch (t->encoder) {
	case ENCODER_FORMAT: return CHOOSE(ENCODER_FORMAT, pfmi_format_ops);
	case ENCODER_X86: return CHOOSE(ENCODER_X86, pfmi_x86_ops);
	case ENCODER_MONTECITO: return CHOOSE(ENCODER_MONTECITO, pfmi_montecito_ops);
	case ENCODER_EV4: return CHOOSE(ENCODER_EV4, pfmi_alpha_ops);
	case ENCODER_EV5: return CHOOSE(ENCODER_EV5, pfmi_alpha_ops);
	case ENCODER_EV6: return CHOOSE(ENCODER_EV6, pfmi_alpha_ops);
	case ENCODER_EV67: return CHOOSE(ENCODER_EV67, pfmi_alpha_ops);
	case ENCODER_PERF: return CHOOSE(ENCODER_PERF, pfmi_linux_ops);
	case ENCODER_NETBURST: return CHOOSE(ENCODER_NETBURST, pfmi_netburst_ops);
	case ENCODER_MIPS: return CHOOSE(ENCODER_MIPS, pfmi_mips_ops);
	default: return &no_ops;
	}
}

bool pfmi_pmu_has_encoder(const struct table *t)
{
	return pfmi_pmu_get_encoder(t) != &no_ops;
}

int pfmi_pmu_check_event(struct event *ev, pfm_error_t *why)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(ev->table);

	return ops->check_event ? ops->check_event(ev, why) : PFMLIB_SUCCESS;
}

uint64_t pfmi_pmu_get_modifier_limit(const struct event *ev, const struct field *f)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(ev->table);

	return ops->get_modifier_limit ? ops->get_modifier_limit(ev, f) : f->max;
}

int pfmi_pmu_constrain_set(const struct encode_request *req, struct plan *out, pfm_error_t *why)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(req->table);

	if (!ops->constrain_set)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_NONE,
		                                 "no encoder for this processor");
	return ops->constrain_set(req, out, why);
}

void pfmi_pmu_encode_registers(const struct plan *plan, const struct placement *where,
                               struct register_values *out)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(plan->request->table);

	if (ops->encode_set)
		ops->encode_set(plan, where, out);
}

/* Fills the configuration words of the attribute. */
static void build_config_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(ev->table);

	if (ops->build_attr)
		ops->build_attr(ev, plm, out);
}

/* Builds the attribute and copies its words to @own. */
static const uint64_t *build_attr_words(const struct event *ev, uint64_t own[N_CONFIG_WORDS])
{
	perfmon_attr_t a = { 0 };

	build_config_attr(ev, event_get_levels(ev, PFM_PLM0 | PFM_PLM3), &a);
	attr_get_words(&a, own);
	return own;
}

const uint64_t *pfmi_pmu_get_config_words(const struct event *ev, uint64_t own[N_CONFIG_WORDS])
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(ev->table);

	return ops->get_config_words ? ops->get_config_words(ev, own) : build_attr_words(ev, own);
}

uint32_t pfmi_pmu_get_extra_register(const struct event *ev)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(ev->table);

	return ops->get_extra_register ? ops->get_extra_register(ev) : 0;
}

bool pfmi_pmu_has_plain_config(const struct table *t)
{
	/* The fields of a table with libpfm 3's names may be combined in another way. */
	return t->encoder == ENCODER_FORMAT ||
	       (t->encoder == ENCODER_X86 && !(t->flags & TABLE_COMPAT_VIEW));
}

const struct register_field *pfmi_pmu_get_register_layout(const struct table *t, const char *name,
                                                          unsigned *n)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(t);

	return ops->find_layout ? ops->find_layout(t, name, n) : NULL;
}

bool pfmi_pmu_has_event_select_mask(const struct table *t)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(t);

	return ops->get_event_select_mask &&
	       (t->encoder != ENCODER_X86 || !table_has_field_bits(t));
}

uint64_t pfmi_pmu_get_event_select_mask(const struct table *t, const char *reg, unsigned i,
                                        unsigned *counter)
{
	const struct encoder_ops *ops = pfmi_pmu_get_encoder(t);

	return ops->get_event_select_mask ? ops->get_event_select_mask(t, reg, i, counter) : 0;
}

/* ---- perf attributes ------------------------------------------------------------------------- */

unsigned pfmi_pmu_choose_levels(const struct table *t, unsigned plm)
{
	return plm ? plm : pfmi_pmu_get_encoder(t)->default_levels;
}

/* Fills the members other than the configuration words. */
static void set_common_attr(const struct event *ev, int type, unsigned levels, perfmon_attr_t *out)
{
	out->type = (uint32_t)type;
	out->type_known = type >= 0;
	out->exclude_user = !(levels & PFM_PLM3);
	out->exclude_kernel = !(levels & PFM_PLM0);
	out->exclude_hv = ev->plm && !(ev->plm & PFMI_PLMH);
	out->precise = ev->precise;
	out->exclude_idle = (ev->exclude_flags & EVENT_EXCLUDE_IDLE) != 0;
	out->exclude_host = (ev->exclude_flags & EVENT_ONLY_GUEST) != 0;
	out->exclude_guest = (ev->exclude_flags & EVENT_ONLY_HOST) != 0;
}

void pfmi_pmu_build_event_attr(const struct event *ev, int type, unsigned plm, perfmon_attr_t *out)
{
	unsigned levels = event_get_levels(ev, plm);

	*out = (perfmon_attr_t){ 0 };
	set_common_attr(ev, type, levels, out);
	build_config_attr(ev, levels, out);
}

void pfmi_pmu_build_requested_attr(const struct event *ev, int type, unsigned plm,
                                   perfmon_attr_t *out)
{
	pfmi_pmu_build_event_attr(ev, type, pfmi_pmu_choose_levels(ev->table, plm), out);
	/* If the caller names levels, only these are counted. */
	if (plm && !ev->plm && !pfmi_pmu_get_encoder(ev->table)->counts_all_levels)
		out->exclude_hv = 1;
}
