/* SPDX-License-Identifier: MIT */
/* Dispatch as a request: counters, levels and what each model takes beside them go in, registers
 * come out. */
#include "requests.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- input ----------------------------------------------------------------------------------- */

static void clear_used_events(struct request_state *w)
{
	memset(w->in.pfp_events, 0, w->used * sizeof(w->in.pfp_events[0]));
	memset(&w->in.pfp_unavail_pmcs, 0, sizeof(w->in.pfp_unavail_pmcs));
	memset(&w->mont_in, 0, sizeof(w->mont_in));
	memset(&w->mont_out, 0, sizeof(w->mont_out));
	memset(&w->coreduo_in, 0, sizeof(w->coreduo_in));
	memset(&w->alpha_in, 0, sizeof(w->alpha_in));
	memset(&w->alpha_out, 0, sizeof(w->alpha_out));
	w->in.pfp_flags = 0;
	w->used = 0;
}

static void read_per_counter(struct request_state *w, unsigned i, const json_t *event)
{
	if (i < PMU_MONT_NUM_COUNTERS) {
		w->mont_in.pfp_mont_counters[i].thres = request_small(event, "th");
		w->mont_in.pfp_mont_counters[i].flags = request_small(event, "fl");
	}
	if (i < PMU_COREDUO_NUM_COUNTERS) {
		w->coreduo_in.pfp_coreduo_counters[i].cnt_mask = request_number(event, "cm");
		w->coreduo_in.pfp_coreduo_counters[i].flags = request_small(event, "fl");
	}
}

static int read_event(struct request_state *w, unsigned i, const json_t *event)
{
	pfmlib_event_t *e = &w->in.pfp_events[i];
	const json_t *mask;
	size_t k;
	int rc = request_event(event, &e->event);

	if (rc != PFMLIB_SUCCESS || !json_is_object(event))
		return rc;
	e->plm = request_small(event, "plm");
	json_array_foreach (json_object_get(event, "um"), k, mask)
		if (e->num_masks < PFMLIB_MAX_MASKS_PER_EVENT)
			e->unit_masks[e->num_masks++] = (unsigned)request_value(mask);
	read_per_counter(w, i, event);
	return rc;
}

int request_one_event(struct request_state *w, const json_t *event)
{
	clear_used_events(w);
	w->used = 1;
	return read_event(w, 0, event);
}

static int read_events(struct request_state *w, const json_t *req)
{
	const json_t *event;
	size_t i;
	int rc;

	json_array_foreach (json_object_get(req, "ev"), i, event) {
		if (i == PFMLIB_MAX_PMCS)
			return PFMLIB_ERR_TOOMANY;
		w->used = (unsigned)i + 1;
		rc = read_event(w, (unsigned)i, event);
		if (rc != PFMLIB_SUCCESS)
			return rc;
	}
	w->in.pfp_event_count = request_has(req, "count") ? request_small(req, "count") : w->used;
	w->in.pfp_dfl_plm = request_has(req, "plm") ? request_small(req, "plm") : PFM_PLM3;
	w->in.pfp_flags = request_number(req, "sys") ? PFMLIB_PFP_SYSTEMWIDE : 0;
	json_array_foreach (json_object_get(req, "un"), i, event)
		pfm_regmask_set(&w->in.pfp_unavail_pmcs, (unsigned)request_value(event));
	return PFMLIB_SUCCESS;
}

/* "used" is 1 in a feature that is there and does not say. */
static unsigned char is_feature_used(const json_t *feature)
{
	return feature ? request_has(feature, "used") ? request_byte(feature, "used") : 1 : 0;
}

static void read_opcm(pfmlib_mont_opcm_t *out, const json_t *f)
{
	out->opcm_used = is_feature_used(f);
	out->opcm_m = request_byte(f, "m");
	out->opcm_i = request_byte(f, "i");
	out->opcm_f = request_byte(f, "f");
	out->opcm_b = request_byte(f, "b");
	out->opcm_match = request_number(f, "match");
	out->opcm_mask = request_number(f, "mask");
}

static void read_ear(pfmlib_mont_ear_t *out, const json_t *f)
{
	out->ear_used = is_feature_used(f);
	out->ear_mode = (pfmlib_mont_ear_mode_t)request_small(f, "mode");
	out->ear_plm = request_small(f, "plm");
	out->ear_umask = request_number(f, "um");
}

static void read_range(pfmlib_mont_input_rr_t *out, const json_t *f)
{
	const json_t *limit;
	size_t i;

	out->rr_used = is_feature_used(f);
	out->rr_flags = request_small(f, "fl");
	json_array_foreach (json_object_get(f, "lim"), i, limit) {
		if (i == 4)
			break;
		out->rr_limits[i].rr_start = request_value(json_array_get(limit, 0));
		out->rr_limits[i].rr_end = request_value(json_array_get(limit, 1));
		out->rr_limits[i].rr_plm = (unsigned)request_value(json_array_get(limit, 2));
	}
}

static void read_montecito(pfmlib_mont_input_param_t *in, const json_t *req)
{
	const json_t *etb = json_object_get(req, "etb"), *ipear = json_object_get(req, "ipear");

	read_opcm(&in->pfp_mont_opcm1, json_object_get(req, "op1"));
	read_opcm(&in->pfp_mont_opcm2, json_object_get(req, "op2"));
	read_ear(&in->pfp_mont_iear, json_object_get(req, "iear"));
	read_ear(&in->pfp_mont_dear, json_object_get(req, "dear"));
	read_range(&in->pfp_mont_irange, json_object_get(req, "ir"));
	read_range(&in->pfp_mont_drange, json_object_get(req, "dr"));
	in->pfp_mont_etb.etb_used = is_feature_used(etb);
	in->pfp_mont_etb.etb_plm = request_small(etb, "plm");
	in->pfp_mont_etb.etb_ds = request_byte(etb, "ds");
	in->pfp_mont_etb.etb_tm = request_byte(etb, "tm");
	in->pfp_mont_etb.etb_ptm = request_byte(etb, "ptm");
	in->pfp_mont_etb.etb_ppm = request_byte(etb, "ppm");
	in->pfp_mont_etb.etb_brt = request_byte(etb, "brt");
	in->pfp_mont_ipear.ipear_used = is_feature_used(ipear);
	in->pfp_mont_ipear.ipear_plm = request_small(ipear, "plm");
	in->pfp_mont_ipear.ipear_delay = (unsigned short)request_number(ipear, "delay");
}

/* Whether a model input is passed: as "in" says, else if the request holds anything to put in
 * it. */
static bool wants_model_in(const json_t *req)
{
	static const char *const features[] = { "op1", "op2",   "iear", "dear",
		                                "etb", "ipear", "ir",   "dr" };
	const json_t *event;
	size_t i;

	if (request_has(req, "in"))
		return request_number(req, "in") != 0;
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (request_has(req, features[i]))
			return true;
	json_array_foreach (json_object_get(req, "ev"), i, event)
		if (request_has(event, "th") || request_has(event, "fl") ||
		    request_has(event, "cm"))
			return true;
	return false;
}

static bool wants_model_out(const json_t *req)
{
	return request_has(req, "out") ? request_number(req, "out") != 0
	                               : request_has(req, "ir") || request_has(req, "dr");
}

/* ---- output ---------------------------------------------------------------------------------- */

static void write_pmcs(struct json *j, const pfmlib_reg_t *regs, unsigned n)
{
	unsigned i;

	put_begin(j, "pmc", '[');
	for (i = 0; i < n; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, regs[i].reg_num);
		put_hex(j, NULL, regs[i].reg_value);
		if (regs[i].reg_addr != regs[i].reg_alt_addr || regs[i].reg_addr != regs[i].reg_num)
			put_int(j, NULL, (int64_t)regs[i].reg_addr);
		if (regs[i].reg_addr != regs[i].reg_alt_addr)
			put_int(j, NULL, (int64_t)regs[i].reg_alt_addr);
		put_end(j, ']');
	}
	put_end(j, ']');
}

static void write_pmds(struct json *j, const pfmlib_reg_t *regs, unsigned n)
{
	unsigned i;

	put_begin(j, "pmd", '[');
	for (i = 0; i < n; i++) {
		if (regs[i].reg_addr == regs[i].reg_num &&
		    regs[i].reg_alt_addr == regs[i].reg_num) {
			put_int(j, NULL, regs[i].reg_num);
			continue;
		}
		put_begin(j, NULL, '[');
		put_int(j, NULL, regs[i].reg_num);
		put_int(j, NULL, (int64_t)regs[i].reg_addr);
		put_int(j, NULL, (int64_t)regs[i].reg_alt_addr);
		put_end(j, ']');
	}
	put_end(j, ']');
}

static void write_range(struct json *j, const char *key, const pfmlib_mont_output_rr_t *rr)
{
	unsigned n = 4, i;

	if (!rr->rr_nbr_used)
		return;
	put_begin(j, key, '{');
	put_int(j, "n", rr->rr_nbr_used);
	while (n && !rr->rr_infos[n - 1].rr_soff && !rr->rr_infos[n - 1].rr_eoff)
		n--;
	if (n)
		put_begin(j, "inf", '[');
	for (i = 0; i < n; i++) {
		put_begin(j, NULL, '[');
		put_hex(j, NULL, rr->rr_infos[i].rr_soff);
		put_hex(j, NULL, rr->rr_infos[i].rr_eoff);
		put_end(j, ']');
	}
	if (n)
		put_end(j, ']');
	put_begin(j, "br", '[');
	for (i = 0; i < rr->rr_nbr_used && i < 8; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, rr->rr_br[i].reg_num);
		put_hex(j, NULL, rr->rr_br[i].reg_value);
		put_int(j, NULL, (int64_t)rr->rr_br[i].reg_addr);
		put_end(j, ']');
	}
	put_end(j, ']');
	put_end(j, '}');
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

/* Words of the device and of wrperfmon have all their digits, as the vectors write them. */
static void read_word(struct json *j, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "0x%016" PRIx64, value);
	put_text(j, key, digits);
}

static void request_code(struct json *j, const char *key, uint32_t value)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "0x%08" PRIx32, value);
	put_text(j, key, digits);
}

static bool is_alpha(int pmu)
{
	return pmu >= PFMLIB_ALPHA_EV4_PMU && pmu <= PFMLIB_ALPHA_EV67_PMU;
}

static void read_alpha(pfmlib_alpha_input_param_t *in, const json_t *req)
{
	const json_t *value;
	size_t i;

	json_array_foreach (json_object_get(req, "freq"), i, value)
		if (i < PFM_ALPHA_MAX_COUNTERS)
			in->pfp_alpha_rates[i] = request_value(value);
	json_array_foreach (json_object_get(req, "period"), i, value)
		if (i < PFM_ALPHA_MAX_COUNTERS)
			in->pfp_alpha_periods[i] = request_value(value);
	in->pfp_alpha_scope = strcmp(request_text(req, "scope"), "process") == 0
	                              ? PFM_ALPHA_SCOPE_PROCESS
	                              : PFM_ALPHA_SCOPE_SYSTEM;
	in->pfp_alpha_modes = request_small(req, "modes");
	in->pfp_alpha_items = request_small(req, "items");
	in->pfp_alpha_statistic = request_small(req, "stat");
}

static void write_alpha_ioctls(struct json *j, const pfmlib_alpha_output_param_t *out)
{
	unsigned i, k;

	put_begin(j, "ioctls", '[');
	for (i = 0; i < out->n_ioctls && i < PFM_ALPHA_MAX_IOCTLS; i++) {
		put_begin(j, NULL, '{');
		put_text(j, "name", out->ioctls[i].name);
		request_code(j, "req", out->ioctls[i].request);
		if (out->ioctls[i].n_words)
			put_begin(j, "arg", '[');
		for (k = 0; k < out->ioctls[i].n_words && k < 4; k++)
			read_word(j, NULL, out->ioctls[i].words[k]);
		if (out->ioctls[i].n_words)
			put_end(j, ']');
		put_end(j, '}');
	}
	put_end(j, ']');
	put_begin(j, "wrperfmon", '[');
	for (i = 0; i < out->n_calls && i < PFM_ALPHA_MAX_CALLS; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, out->calls[i].function);
		read_word(j, NULL, out->calls[i].argument);
		put_end(j, ']');
	}
	put_end(j, ']');
}

/* The words of the "group" vectors: what selects the events, for the device and for wrperfmon. */
static void write_alpha_select(struct json *j, const pfmlib_alpha_output_param_t *out)
{
	unsigned i;

	for (i = 0; i < out->n_ioctls && i < PFM_ALPHA_MAX_IOCTLS; i++)
		if (out->ioctls[i].request == PCNTSETMUX || out->ioctls[i].request == PCNT5MUX ||
		    out->ioctls[i].request == PCNT6MUX)
			read_word(j, "arg", out->ioctls[i].words[0]);
	for (i = 0; i < out->n_calls && i < PFM_ALPHA_MAX_CALLS; i++)
		if (out->calls[i].function == 2) {
			read_word(j, "a1", out->calls[i].argument);
			break;
		}
}

static void write_alpha(struct json *j, int pmu, const pfmlib_alpha_output_param_t *out)
{
	unsigned i;

	write_alpha_select(j, out);
	put_begin(j, "rates", '[');
	for (i = 0; i < pfm_alpha_num_counters(pmu); i++)
		put_int(j, NULL, (int64_t)out->rates[i]);
	put_end(j, ']');
	if (out->privileged)
		put_int(j, "privileged", 1);
	if (out->iccsr)
		read_word(j, "iccsr", out->iccsr);
	if (out->pmctr)
		read_word(j, "pmctr", out->pmctr);
	if (out->cbox)
		put_int(j, "cbox", (int64_t)out->cbox);
	if (out->pctr_ctl)
		read_word(j, "pctr_ctl", out->pctr_ctl);
	if (out->i_ctl)
		read_word(j, "i_ctl", out->i_ctl);
	write_alpha_ioctls(j, out);
}

/* The "freq" vectors: the words that set the rates. */
static int write_alpha_rates(struct json *j, int pmu, const pfmlib_alpha_input_param_t *in,
                             const json_t *req)
{
	unsigned counters = (1u << pfm_alpha_num_counters(pmu)) - 1;
	uint64_t arg, a1;
	int privileged,
		rc = pfm_alpha_rate_word(pmu, in->pfp_alpha_rates, counters, &arg, &privileged);

	if (!request_has(req, "freq") || rc != PFMLIB_SUCCESS)
		return rc;
	put_begin(j, "freq", '{');
	read_word(j, "arg", arg);
	if (pmu == PFMLIB_ALPHA_EV5_PMU || pmu == PFMLIB_ALPHA_PCA56_PMU) {
		pfm_alpha_driver_rates(arg, &a1, &privileged);
		request_code(j, "req", PCNT5FREQ);
		read_word(j, "a1", a1);
		put_int(j, "privileged", privileged);
		put_hex(j, "pmctr_ctl", pfm_alpha_pmctr_ctl(a1, counters));
	}
	put_end(j, '}');
	return PFMLIB_SUCCESS;
}

static void op_alpha(struct request_state *w, struct json *j, const json_t *req)
{
	int rc = PFMLIB_SUCCESS;

	read_alpha(&w->alpha_in, req);
	if (w->used)
		rc = pfm_dispatch_events(&w->in, &w->alpha_in, &w->out, &w->alpha_out);
	else
		rc = request_has(req, "freq") ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;
	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS)
		return;
	if (w->used) {
		write_pmcs(j, w->out.pfp_pmcs, w->out.pfp_pmc_count);
		write_pmds(j, w->out.pfp_pmds, w->out.pfp_pmd_count);
		write_alpha(j, w->pmu, &w->alpha_out);
	}
	write_alpha_rates(j, w->pmu, &w->alpha_in, req);
}

void request_dispatch(struct request_state *w, struct json *j, const json_t *req)
{
	bool montecito = w->pmu == PFMLIB_MONTECITO_PMU;
	void *model_in = NULL, *model_out = NULL;
	int rc;

	clear_used_events(w);
	rc = read_events(w, req);
	if (rc != PFMLIB_SUCCESS) {
		put_int(j, "rc", rc);
		return;
	}
	if (is_alpha(w->pmu)) {
		op_alpha(w, j, req);
		return;
	}
	read_montecito(&w->mont_in, req);
	if (wants_model_in(req))
		model_in = montecito ? (void *)&w->mont_in : (void *)&w->coreduo_in;
	if (montecito && wants_model_out(req))
		model_out = &w->mont_out;
	rc = pfm_dispatch_events(request_number(req, "noinp") ? NULL : &w->in, model_in,
	                         request_number(req, "nooutp") ? NULL : &w->out, model_out);
	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS)
		return;
	if (!request_number(req, "nooutp")) {
		write_pmcs(j, w->out.pfp_pmcs, w->out.pfp_pmc_count);
		write_pmds(j, w->out.pfp_pmds, w->out.pfp_pmd_count);
	}
	if (!model_out)
		return;
	write_range(j, "ir", &w->mont_out.pfp_mont_irange);
	write_range(j, "dr", &w->mont_out.pfp_mont_drange);
	if (pfm_mont_irange_is_fine(&w->out, &w->mont_out) == 1)
		put_int(j, "fine", 1);
}
