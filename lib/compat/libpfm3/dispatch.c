/* SPDX-License-Identifier: MIT */
/* The dispatch of sets of events in libpfm 3's interface. */
#include <string.h>
#include "selected.h"

static int init_event(const struct table *t, const pfmlib_event_t *e, struct event *ev)
{
	int rc = pfm3_check_event(t, e);

	if (rc)
		return rc;
	if (table_get_row(t, e->event)->flags & ROW_METRIC)
		return PFMLIB_ERR_ALIAS;
	/* The encoder checks which levels the processor has. */
	if (e->plm > 0xff)
		return PFMLIB_ERR_INVAL;
	pfmi_pmu_init_event(ev, t, e->event);
	ev->plm = (uint8_t)e->plm;
	for (unsigned i = 0; !rc && i < e->num_masks; i++)
		rc = pfmi_pmu_add_umask(ev, e->unit_masks[i]);
	return rc;
}

static void copy_registers(const pfm_reg_t *from, unsigned n, pfmlib_reg_t *to)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (pfmlib_reg_t){ .reg_value = from[i].value,
			                .reg_addr = from[i].addr,
			                .reg_num = from[i].num,
			                .reg_alt_addr = from[i].alt_addr };
}

static int dispatch_set(const struct table *t, const pfmlib_input_param_t *in, const void *model_in,
                        pfmlib_output_param_t *out, void *model_out)
{
	struct event events[PLAN_MAX_EVENTS];
	struct encode_request req = { .table = t,
		                      .events = events,
		                      .n_events = in->pfp_event_count,
		                      .plm = in->pfp_dfl_plm,
		                      .flags = in->pfp_flags,
		                      .unavailable_regs = &in->pfp_unavail_pmcs,
		                      .model_in = model_in,
		                      .model_out = model_out };
	struct placement where;
	struct register_values regs;
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; !rc && i < req.n_events; i++)
		rc = init_event(t, &in->pfp_events[i], &events[i]);
	if (!rc)
		rc = pfmi_pmu_dispatch_set(&req, &where, &regs, NULL);
	if (rc)
		return rc;
	out->pfp_pmc_count = regs.n_pmcs;
	out->pfp_pmd_count = regs.n_pmds;
	copy_registers(regs.pmcs, regs.n_pmcs, out->pfp_pmcs);
	copy_registers(regs.pmds, regs.n_pmds, out->pfp_pmds);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_dispatch_events(pfmlib_input_param_t *in, void *model_in, pfmlib_output_param_t *out,
                              void *model_out)
{
	const struct table *t = pfm3_get_selected_table();
	unsigned counters;

	if (!t)
		return PFMLIB_ERR_NOINIT;
	if (!in || !out || in->pfp_dfl_plm == 0 || in->pfp_dfl_plm > 0xf ||
	    in->pfp_event_count >= PFMLIB_MAX_PMCS)
		return PFMLIB_ERR_INVAL;
	counters = (unsigned)__builtin_popcountll(t->all_counters);
	if (in->pfp_event_count > counters || in->pfp_event_count > PLAN_MAX_EVENTS)
		return PFMLIB_ERR_NOASSIGN;
	return dispatch_set(t, in, model_in, out, model_out);
}
