/* SPDX-License-Identifier: MIT */
/* Questions about Alpha events by their index: columns of the event tables, and what follows from
 * them. */
#include <perfmon/alpha.h>
#include <string.h>
#include "pmu/pmu.h"

static const struct table *find_alpha_table(int pmu)
{
	if (pmu < PFMLIB_ALPHA_EV4_PMU || pmu > PFMLIB_ALPHA_EV67_PMU)
		return NULL;
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (table_get_builtin(i)->libpfm_type == pmu)
			return table_get_builtin(i);
	return NULL;
}

static int find_event_table(int pmu, unsigned idx, const struct table **t)
{
	*t = find_alpha_table(pmu);
	if (!*t)
		return PFMLIB_ERR_NOTSUPP;
	return idx < (*t)->n_rows ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;
}

/* Words of trait "uncertainty", which differ between the tables, and what they say. */
static const struct {
	char word[15];
	uint32_t flag;
} uncertainty_words[] = {
	{ "name", PFM_ALPHA_UNC_NAME },
	{ "header_only", PFM_ALPHA_UNC_HEADER_ONLY },
	{ "pin", PFM_ALPHA_UNC_PIN },
	{ "disputed", PFM_ALPHA_UNC_DISPUTED },
	{ "cost", PFM_ALPHA_UNC_COST },
	{ "replayed", PFM_ALPHA_UNC_REPLAYED },
	{ "over", PFM_ALPHA_UNC_OVER },
	{ "not_built", PFM_ALPHA_UNC_NOT_BUILT },
	{ "twice", PFM_ALPHA_UNC_TWICE },
	{ "retired4", PFM_ALPHA_UNC_RETIRED },
	{ "bcache_early3", PFM_ALPHA_UNC_EARLY },
	{ "replay_late1", PFM_ALPHA_UNC_LATE },
	{ "delay_window2", PFM_ALPHA_UNC_WINDOW },
	{ "approximate", PFM_ALPHA_UNC_APPROXIMATE },
	{ "cbr_only", PFM_ALPHA_UNC_CBR },
	{ "probes", PFM_ALPHA_UNC_PROBES },
};

static unsigned compute_uncertainty_flags(const struct table *t, unsigned idx)
{
	const struct field *f = table_get_key_field(t, KEY_UNCERTAINTY);
	uint64_t set = pfmi_table_get_row_value(t, idx, KEY_UNCERTAINTY, ANY_COUNTER);
	unsigned flags = 0;

	for (unsigned i = 0; f && i < f->n_named_values; i++)
		for (unsigned k = 0;
		     (set >> i & 1) && k < sizeof uncertainty_words / sizeof uncertainty_words[0];
		     k++)
			if (strcmp(table_get_text(
					   t, table_named_values(t)[f->first_named_value + i].name),
			           uncertainty_words[k].word) == 0)
				flags |= uncertainty_words[k].flag;
	return flags;
}

/* The first constant that row @idx has for any counter. */
static const char *get_constant(const struct table *t, unsigned idx, unsigned counter)
{
	unsigned at = table_get_key_field_plus1(t, KEY_CONST);
	const struct row *r = table_get_row(t, idx);

	for (unsigned i = 0; at && i < r->n_values; i++) {
		struct field_value v = table_get_row_value(t, r, i);

		if (v.field == at - 1 &&
		    (counter == ANY_COUNTER || v.counter == ANY_COUNTER || v.counter == counter))
			return table_get_text(t, (uint32_t)v.value);
	}
	return "";
}

/* Words of choice "weight": one, half, double. A half counts half units: two counts in the
 * equations are one event. */
static void set_event_weight(const struct table *t, unsigned idx, pfm_alpha_event_info_t *info)
{
	uint64_t weight = pfmi_table_get_row_value(t, idx, KEY_WEIGHT, ANY_COUNTER);

	info->weight_num = 1;
	info->weight_den = weight == 2 ? 2 : 1;
	info->half_units = weight == 1;
}

pfm_err_t pfm_alpha_get_event_info(int pmu, unsigned int idx, pfm_alpha_event_info_t *info)
{
	const struct table *t;
	int rc = find_event_table(pmu, idx, &t);
	uint64_t mode;

	if (rc || !info)
		return rc ? rc : PFMLIB_ERR_INVAL;
	memset(info, 0, sizeof *info);
	mode = t->encoder == ENCODER_EV67
	               ? pfmi_table_get_row_value(t, idx, KEY_PCTR_MODE, ANY_COUNTER)
	               : 4;
	info->kind = (int)pfmi_table_get_row_value(t, idx, KEY_KIND, ANY_COUNTER);
	info->statistic = (unsigned)pfmi_table_get_row_value(t, idx, KEY_STAT, ANY_COUNTER);
	info->pm_mode = info->kind < PFM_ALPHA_PROFILEME || mode > 3 ? -1 : (int)mode;
	set_event_weight(t, idx, info);
	info->counters = pfm_alpha_is_pair(pmu, idx) || info->kind >= PFM_ALPHA_PROFILEME
	                         ? 3
	                         : (unsigned)table_get_row_counter_mask(t, table_get_row(t, idx));
	info->uncertainty = compute_uncertainty_flags(t, idx);
	info->error_counts = info->uncertainty & PFM_ALPHA_UNC_RETIRED ? 4 : 0;
	info->shift_cycles = info->uncertainty & PFM_ALPHA_UNC_EARLY  ? -3
	                     : info->uncertainty & PFM_ALPHA_UNC_LATE ? 1
	                                                              : 0;
	info->window_less = info->uncertainty & PFM_ALPHA_UNC_WINDOW ? 2 : 0;
	info->linux_raw = (int)pfmi_table_get_row_value(t, idx, KEY_LINUX, ANY_COUNTER);
	info->constant = get_constant(t, idx, ANY_COUNTER);
	info->formula = pfmi_table_get_row_text(t, idx, KEY_FORMULA);
	info->note = pfmi_table_get_row_text(t, idx, KEY_NOTE);
	return PFMLIB_SUCCESS;
}

static int get_event_kind(int pmu, unsigned idx)
{
	const struct table *t;

	return find_event_table(pmu, idx, &t)
	               ? PFM_ALPHA_EVENT
	               : (int)pfmi_table_get_row_value(t, idx, KEY_KIND, ANY_COUNTER);
}

int pfm_alpha_is_profileme(int pmu, unsigned int idx)
{
	return get_event_kind(pmu, idx) >= PFM_ALPHA_PROFILEME;
}
int pfm_alpha_is_ratio(int pmu, unsigned int idx)
{
	return get_event_kind(pmu, idx) == PFM_ALPHA_RATIO;
}
int pfm_alpha_is_pair(int pmu, unsigned int idx)
{
	return get_event_kind(pmu, idx) == PFM_ALPHA_PAIR;
}

static bool can_count_on(const struct table *t, unsigned idx, unsigned counter)
{
	return counter < 64 &&
	       (table_get_row_counter_mask(t, table_get_row(t, idx)) >> counter & 1);
}

pfm_err_t pfm_alpha_get_event_select(int pmu, unsigned int idx, unsigned int counter,
                                     unsigned int *select, unsigned int *cbox)
{
	const struct table *t;
	int rc = find_event_table(pmu, idx, &t);

	if (rc || !can_count_on(t, idx, counter))
		return rc ? rc : PFMLIB_ERR_INVAL;
	if (select)
		*select = (unsigned)pfmi_table_get_row_value(t, idx, KEY_SEL, counter);
	if (cbox)
		*cbox = (unsigned)pfmi_table_get_row_value(t, idx, KEY_CBOX, counter);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_alpha_get_event_constant(int pmu, unsigned int idx, unsigned int counter,
                                       const char **constant)
{
	const struct table *t;
	int rc = find_event_table(pmu, idx, &t);

	if (rc || !constant || !can_count_on(t, idx, counter))
		return rc ? rc : PFMLIB_ERR_INVAL;
	*constant = get_constant(t, idx, counter);
	return PFMLIB_SUCCESS;
}

/* Dispatches the events, so that the answer agrees with a dispatch. */
static bool can_count_together(const struct table *t, unsigned a, unsigned b)
{
	struct event events[2];
	struct encode_request req = {
		.table = t, .events = events, .n_events = 2, .plm = PFM_PLM0 | PFM_PLM3
	};
	struct placement where;
	struct register_values regs;

	pfmi_pmu_init_event(&events[0], t, a);
	pfmi_pmu_init_event(&events[1], t, b);
	return pfmi_pmu_dispatch_set(&req, &where, &regs, NULL) == PFMLIB_SUCCESS;
}

pfm_err_t pfm_alpha_get_event_partner(int pmu, unsigned int idx, unsigned int n,
                                      unsigned int *partner)
{
	const struct table *t;
	int rc = find_event_table(pmu, idx, &t);

	if (rc || !partner)
		return rc ? rc : PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < t->n_rows; i++)
		if (can_count_together(t, idx, i) && n-- == 0) {
			*partner = i;
			return PFMLIB_SUCCESS;
		}
	return PFMLIB_ERR_NOTFOUND;
}
