/* SPDX-License-Identifier: MIT */
/* The encoder of the kernel's own events: hardware, software and cache events by their number in
 * perf_event_open(2). The kernel chooses their counters, so the solver assigns none. */
#include "pmu/pmu_internal.h"

static uint64_t get_event_number(const struct event *ev)
{
	uint64_t config[N_CONFIG_WORDS];

	pfmi_pmu_build_config_words(ev, ANY_COUNTER, config);
	return config[0];
}

int pfmi_pmu_constrain_perf_set(const struct encode_request *req, struct plan *out,
                                pfm_error_t *why)
{
	if (req->model_in)
		return pfmi_base_set_plain_error(why, PFMLIB_ERR_NOTSUPP, PFM_KIND_MODEL,
		                                 "these events have no settings of their own");
	out->n_alternatives = 1;
	out->alternatives[0].n_holds = 0;
	for (unsigned i = 0; i < req->n_events; i++) {
		out->alternatives[0].counter_masks[i] = 0;
		out->counterless_events |= (uint64_t)1 << i;
	}
	return PFMLIB_SUCCESS;
}

static void encode_perf_set(const struct plan *plan, const struct placement *where,
                            struct register_values *out)
{
	(void)where;
	for (unsigned i = 0; i < plan->request->n_events; i++)
		out->pmcs[out->n_pmcs++] =
			pmu_make_config_register(0, get_event_number(&plan->request->events[i]), i);
}

static void build_perf_attr(const struct event *ev, unsigned plm, perfmon_attr_t *out)
{
	const struct table *t = ev->table;

	(void)plm;
	if (table_get_key_field(t, KEY_ATTR_TYPE) && ev->row_index != ROW_NONE &&
	    pfmi_table_has_row_value(t, ev->row_index, KEY_ATTR_TYPE)) {
		out->type = (uint32_t)pfmi_table_get_row_value(t, ev->row_index, KEY_ATTR_TYPE,
		                                               ANY_COUNTER);
		out->type_known = 1;
	} else if (t->perf_type >= 0) {
		out->type = (uint32_t)t->perf_type;
		out->type_known = 1;
	}
	out->config = get_event_number(ev);
	out->expressible = 1;
}

const struct encoder_ops pfmi_linux_ops = {
	.constrain_set = pfmi_pmu_constrain_perf_set,
	.encode_set = encode_perf_set,
	.build_attr = build_perf_attr,
	.default_levels = PFM_PLM0 | PFM_PLM3,
};
