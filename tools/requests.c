/* SPDX-License-Identifier: MIT */
/* Requests of the golden vectors, one JSON object a line: {"id": ..., "req": {...}} is answered with {"id": ..., "res": {...}}.
 *
 * A request is a call of the libpfm 3 interface written down. What is zero or empty may be left out, in requests and in
 * answers; 64-bit quantities are hexadecimal strings. pfm(1) describes the keys. */
#include "pfm.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib_alpha.h>
#include <perfmon/pfmlib_coreduo.h>
#include <perfmon/pfmlib_montecito.h>

enum { TEXT_MAX = 1024 };

/* All a dispatch needs. One is used again and again: it is large. */
struct work {
	int pmu; /* PFMLIB_*_PMU */
	pfmlib_input_param_t in;
	pfmlib_output_param_t out;
	pfmlib_mont_input_param_t mont_in;
	pfmlib_mont_output_param_t mont_out;
	pfmlib_coreduo_input_param_t coreduo_in;
	pfmlib_alpha_input_param_t alpha_in;
	pfmlib_alpha_output_param_t alpha_out;
	unsigned used; /* events of @in that were written to and must be cleared */
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

/* A number, or a string that holds one. */
static uint64_t number_of(const json_t *value)
{
	if (json_is_string(value))
		return strtoull(json_string_value(value), NULL, 0);
	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : json_is_true(value);
}

static uint64_t number(const json_t *object, const char *key)
{
	return number_of(json_object_get(object, key));
}

static unsigned small(const json_t *object, const char *key)
{
	return (unsigned)number(object, key);
}

static unsigned char byte(const json_t *object, const char *key)
{
	return (unsigned char)number(object, key);
}

static bool has(const json_t *object, const char *key)
{
	return json_object_get(object, key) != NULL;
}

static const char *text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

/* Index of the event that @value names; one of [counter, name] goes by its name. */
static int event_index(const json_t *value, unsigned *index)
{
	const char *name;

	if (json_is_array(value))
		value = json_array_get(value, json_array_size(value) - 1);
	if (json_is_object(value)) {
		if (has(value, "idx")) {
			*index = small(value, "idx");
			return PFMLIB_SUCCESS;
		}
		value = json_object_get(value, "e");
	}
	name = json_string_value(value);
	return pfm_find_event_byname(name ? name : "", index);
}

/* ---- dispatch: input ------------------------------------------------------------------------------------------------------ */

static void clear(struct work *w)
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

static void per_counter(struct work *w, unsigned i, const json_t *event)
{
	if (i < PMU_MONT_NUM_COUNTERS) {
		w->mont_in.pfp_mont_counters[i].thres = small(event, "th");
		w->mont_in.pfp_mont_counters[i].flags = small(event, "fl");
	}
	if (i < PMU_COREDUO_NUM_COUNTERS) {
		w->coreduo_in.pfp_coreduo_counters[i].cnt_mask = number(event, "cm");
		w->coreduo_in.pfp_coreduo_counters[i].flags = small(event, "fl");
	}
}

static int read_event(struct work *w, unsigned i, const json_t *event)
{
	pfmlib_event_t *e = &w->in.pfp_events[i];
	const json_t *mask;
	size_t k;
	int rc = event_index(event, &e->event);

	if (rc != PFMLIB_SUCCESS || !json_is_object(event))
		return rc;
	e->plm = small(event, "plm");
	json_array_foreach (json_object_get(event, "um"), k, mask)
		if (e->num_masks < PFMLIB_MAX_MASKS_PER_EVENT)
			e->unit_masks[e->num_masks++] = (unsigned)number_of(mask);
	per_counter(w, i, event);
	return rc;
}

static int read_events(struct work *w, const json_t *req)
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
	w->in.pfp_event_count = has(req, "count") ? small(req, "count") : w->used;
	w->in.pfp_dfl_plm = has(req, "plm") ? small(req, "plm") : PFM_PLM3;
	w->in.pfp_flags = number(req, "sys") ? PFMLIB_PFP_SYSTEMWIDE : 0;
	json_array_foreach (json_object_get(req, "un"), i, event)
		pfm_regmask_set(&w->in.pfp_unavail_pmcs, (unsigned)number_of(event));
	return PFMLIB_SUCCESS;
}

/* "used" is 1 in a feature that is there and does not say. */
static unsigned char feature_used(const json_t *feature)
{
	return feature ? has(feature, "used") ? byte(feature, "used") : 1 : 0;
}

static void read_opcm(pfmlib_mont_opcm_t *out, const json_t *f)
{
	out->opcm_used = feature_used(f);
	out->opcm_m = byte(f, "m");
	out->opcm_i = byte(f, "i");
	out->opcm_f = byte(f, "f");
	out->opcm_b = byte(f, "b");
	out->opcm_match = number(f, "match");
	out->opcm_mask = number(f, "mask");
}

static void read_ear(pfmlib_mont_ear_t *out, const json_t *f)
{
	out->ear_used = feature_used(f);
	out->ear_mode = (pfmlib_mont_ear_mode_t)small(f, "mode");
	out->ear_plm = small(f, "plm");
	out->ear_umask = number(f, "um");
}

static void read_range(pfmlib_mont_input_rr_t *out, const json_t *f)
{
	const json_t *limit;
	size_t i;

	out->rr_used = feature_used(f);
	out->rr_flags = small(f, "fl");
	json_array_foreach (json_object_get(f, "lim"), i, limit) {
		if (i == 4)
			break;
		out->rr_limits[i].rr_start = number_of(json_array_get(limit, 0));
		out->rr_limits[i].rr_end = number_of(json_array_get(limit, 1));
		out->rr_limits[i].rr_plm = (unsigned)number_of(json_array_get(limit, 2));
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
	in->pfp_mont_etb.etb_used = feature_used(etb);
	in->pfp_mont_etb.etb_plm = small(etb, "plm");
	in->pfp_mont_etb.etb_ds = byte(etb, "ds");
	in->pfp_mont_etb.etb_tm = byte(etb, "tm");
	in->pfp_mont_etb.etb_ptm = byte(etb, "ptm");
	in->pfp_mont_etb.etb_ppm = byte(etb, "ppm");
	in->pfp_mont_etb.etb_brt = byte(etb, "brt");
	in->pfp_mont_ipear.ipear_used = feature_used(ipear);
	in->pfp_mont_ipear.ipear_plm = small(ipear, "plm");
	in->pfp_mont_ipear.ipear_delay = (unsigned short)number(ipear, "delay");
}

/* Whether a model input is passed: as "in" says, else if the request holds anything to put in it. */
static bool wants_model_in(const json_t *req)
{
	static const char *const features[] = { "op1", "op2", "iear", "dear", "etb", "ipear", "ir", "dr" };
	const json_t *event;
	size_t i;

	if (has(req, "in"))
		return number(req, "in") != 0;
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (has(req, features[i]))
			return true;
	json_array_foreach (json_object_get(req, "ev"), i, event)
		if (has(event, "th") || has(event, "fl") || has(event, "cm"))
			return true;
	return false;
}

static bool wants_model_out(const json_t *req)
{
	return has(req, "out") ? number(req, "out") != 0 : has(req, "ir") || has(req, "dr");
}

/* ---- dispatch: output ----------------------------------------------------------------------------------------------------- */

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
		if (regs[i].reg_addr == regs[i].reg_num && regs[i].reg_alt_addr == regs[i].reg_num) {
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

/* ---- dispatch: Alpha ------------------------------------------------------------------------------------------------------ */

/* Words of the device and of wrperfmon have all their digits, as the vectors write them. */
static void word(struct json *j, const char *key, uint64_t value)
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
			in->pfp_alpha_rates[i] = number_of(value);
	json_array_foreach (json_object_get(req, "period"), i, value)
		if (i < PFM_ALPHA_MAX_COUNTERS)
			in->pfp_alpha_periods[i] = number_of(value);
	in->pfp_alpha_scope = strcmp(text(req, "scope"), "process") == 0 ? PFM_ALPHA_SCOPE_PROCESS : PFM_ALPHA_SCOPE_SYSTEM;
	in->pfp_alpha_open = strcmp(text(req, "mode"), "each") == 0  ? PFM_ALPHA_OPEN_EACH
	                     : strcmp(text(req, "mode"), "one") == 0 ? PFM_ALPHA_OPEN_ONE
	                                                             : PFM_ALPHA_OPEN_ALL;
	in->pfp_alpha_modes = small(req, "modes");
	in->pfp_alpha_items = small(req, "items");
	in->pfp_alpha_statistic = small(req, "stat");
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
			word(j, NULL, out->ioctls[i].words[k]);
		if (out->ioctls[i].n_words)
			put_end(j, ']');
		put_end(j, '}');
	}
	put_end(j, ']');
	put_begin(j, "wrperfmon", '[');
	for (i = 0; i < out->n_calls && i < PFM_ALPHA_MAX_CALLS; i++) {
		put_begin(j, NULL, '[');
		put_int(j, NULL, out->calls[i].function);
		word(j, NULL, out->calls[i].argument);
		put_end(j, ']');
	}
	put_end(j, ']');
}

/* The words of the "group" vectors: what selects the events, for the device and for wrperfmon. */
static void write_alpha_select(struct json *j, const pfmlib_alpha_output_param_t *out)
{
	unsigned i;

	for (i = 0; i < out->n_ioctls && i < PFM_ALPHA_MAX_IOCTLS; i++)
		if (out->ioctls[i].request == PCNTSETMUX || out->ioctls[i].request == PCNT5MUX || out->ioctls[i].request == PCNT6MUX)
			word(j, "arg", out->ioctls[i].words[0]);
	for (i = 0; i < out->n_calls && i < PFM_ALPHA_MAX_CALLS; i++)
		if (out->calls[i].function == 2) {
			word(j, "a1", out->calls[i].argument);
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
		word(j, "iccsr", out->iccsr);
	if (out->pmctr)
		word(j, "pmctr", out->pmctr);
	if (out->cbox)
		put_int(j, "cbox", (int64_t)out->cbox);
	if (out->pctr_ctl)
		word(j, "pctr_ctl", out->pctr_ctl);
	if (out->i_ctl)
		word(j, "i_ctl", out->i_ctl);
	write_alpha_ioctls(j, out);
}

/* The "freq" vectors: the words that set the rates. */
static int write_alpha_rates(struct json *j, int pmu, const pfmlib_alpha_input_param_t *in, const json_t *req)
{
	unsigned counters = (1u << pfm_alpha_num_counters(pmu)) - 1;
	uint64_t arg, a1;
	int privileged, rc = pfm_alpha_rate_word(pmu, in->pfp_alpha_rates, counters, &arg, &privileged);

	if (!has(req, "freq") || rc != PFMLIB_SUCCESS)
		return rc;
	put_begin(j, "freq", '{');
	word(j, "arg", arg);
	if (pmu == PFMLIB_ALPHA_EV5_PMU || pmu == PFMLIB_ALPHA_PCA56_PMU) {
		pfm_alpha_driver_rates(arg, &a1, &privileged);
		request_code(j, "req", PCNT5FREQ);
		word(j, "a1", a1);
		put_int(j, "privileged", privileged);
		put_hex(j, "pmctr_ctl", pfm_alpha_pmctr_ctl(a1, counters));
	}
	put_end(j, '}');
	return PFMLIB_SUCCESS;
}

static void op_alpha(struct work *w, struct json *j, const json_t *req)
{
	int rc = PFMLIB_SUCCESS;

	read_alpha(&w->alpha_in, req);
	if (w->used)
		rc = pfm_dispatch_events(&w->in, &w->alpha_in, &w->out, &w->alpha_out);
	else
		rc = has(req, "freq") ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;
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

static void op_dispatch(struct work *w, struct json *j, const json_t *req)
{
	bool montecito = w->pmu == PFMLIB_MONTECITO_PMU;
	void *model_in = NULL, *model_out = NULL;
	int rc;

	clear(w);
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
	rc = pfm_dispatch_events(number(req, "noinp") ? NULL : &w->in, model_in, number(req, "nooutp") ? NULL : &w->out, model_out);
	put_int(j, "rc", rc);
	if (rc != PFMLIB_SUCCESS)
		return;
	if (!number(req, "nooutp")) {
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

/* ---- the other operations ------------------------------------------------------------------------------------------------- */

static void write_name(struct json *j, int rc, unsigned index)
{
	char name[TEXT_MAX];

	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS && pfm_get_event_name(index, name, sizeof(name)) == PFMLIB_SUCCESS)
		put_text(j, "name", name);
}

static void op_find(struct work *w, struct json *j, const json_t *req)
{
	unsigned index = 0;
	int rc = pfm_find_event(text(req, "s"), &index);

	(void)w;
	write_name(j, rc, index);
}

static void op_find_full(struct work *w, struct json *j, const json_t *req)
{
	pfmlib_event_t e;
	unsigned i;
	int rc = pfm_find_full_event(text(req, "s"), &e);

	(void)w;
	write_name(j, rc, e.event);
	if (rc != PFMLIB_SUCCESS || !e.num_masks)
		return;
	put_begin(j, "um", '[');
	for (i = 0; i < e.num_masks; i++)
		put_int(j, NULL, e.unit_masks[i]);
	put_end(j, ']');
}

static void op_find_mask(struct work *w, struct json *j, const json_t *req)
{
	unsigned index = 0, mask = 0;
	int rc = event_index(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_find_event_mask(index, text(req, "s"), &mask);
	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_int(j, "mask", mask);
}

static void op_bycode(struct work *w, struct json *j, const json_t *req)
{
	unsigned index = 0;
	int rc = pfm_find_event_bycode((int)number(req, "code"), &index);

	(void)w;
	write_name(j, rc, index);
}

static void op_bycode_next(struct work *w, struct json *j, const json_t *req)
{
	unsigned start = 0, index = 0;
	int rc = event_index(req, &start);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_find_event_bycode_next((int)number(req, "code"), start, &index);
	write_name(j, rc, index);
}

static size_t length(const json_t *req)
{
	uint64_t len = has(req, "len") ? number(req, "len") : TEXT_MAX;

	return len < TEXT_MAX ? (size_t)len : TEXT_MAX;
}

static void write_text(struct json *j, int rc, const char *s)
{
	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_text(j, "str", s);
}

static void op_full_name(struct work *w, struct json *j, const json_t *req)
{
	char name[TEXT_MAX];
	int rc;

	clear(w);
	w->used = 1;
	rc = read_event(w, 0, req);
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_full_event_name(&w->in.pfp_events[0], name, length(req));
	write_text(j, rc, name);
}

static void op_name(struct work *w, struct json *j, const json_t *req)
{
	char name[TEXT_MAX];
	unsigned index = 0;
	int rc = event_index(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_event_name(index, name, length(req));
	write_text(j, rc, name);
}

static void op_mask_name(struct work *w, struct json *j, const json_t *req)
{
	char name[TEXT_MAX];
	unsigned index = 0;
	int rc = event_index(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_event_mask_name(index, small(req, "mask"), name, length(req));
	write_text(j, rc, name);
}

static void op_code_counter(struct work *w, struct json *j, const json_t *req)
{
	unsigned index = 0;
	int code = 0, rc = event_index(req, &index);

	(void)w;
	if (rc == PFMLIB_SUCCESS)
		rc = pfm_get_event_code_counter(index, small(req, "cnt"), &code);
	put_int(j, "rc", rc);
	if (rc == PFMLIB_SUCCESS)
		put_int(j, "code", code);
}

static void write_event(struct json *j, const char *key, int rc, const pfmlib_event_t *e)
{
	char name[TEXT_MAX];

	if (rc == PFMLIB_SUCCESS && pfm_get_event_name(e->event, name, sizeof(name)) == PFMLIB_SUCCESS)
		put_text(j, key, name);
}

static void op_info(struct work *w, struct json *j, const json_t *req)
{
	pfmlib_regmask_t pmcs, pmds, counters;
	unsigned version, events, n_pmcs, n_pmds, n_counters, width;
	char name[TEXT_MAX];
	pfmlib_event_t e;
	size_t longest;
	int type;

	(void)w;
	(void)req;
	if (pfm_get_pmu_name(name, sizeof(name)) != PFMLIB_SUCCESS || pfm_get_pmu_type(&type) != PFMLIB_SUCCESS ||
	    pfm_get_version(&version) != PFMLIB_SUCCESS || pfm_get_num_events(&events) != PFMLIB_SUCCESS ||
	    pfm_get_num_pmcs(&n_pmcs) != PFMLIB_SUCCESS || pfm_get_num_pmds(&n_pmds) != PFMLIB_SUCCESS ||
	    pfm_get_num_counters(&n_counters) != PFMLIB_SUCCESS || pfm_get_hw_counter_width(&width) != PFMLIB_SUCCESS ||
	    pfm_get_max_event_name_len(&longest) != PFMLIB_SUCCESS || pfm_get_impl_pmcs(&pmcs) != PFMLIB_SUCCESS ||
	    pfm_get_impl_pmds(&pmds) != PFMLIB_SUCCESS || pfm_get_impl_counters(&counters) != PFMLIB_SUCCESS) {
		put_int(j, "rc", PFMLIB_ERR_NOTSUPP);
		return;
	}
	put_int(j, "rc", PFMLIB_SUCCESS);
	put_text(j, "pmu_name", name);
	put_int(j, "pmu_type", type);
	put_int(j, "version", version);
	put_int(j, "num_events", events);
	put_int(j, "num_pmcs", n_pmcs);
	put_int(j, "num_pmds", n_pmds);
	put_int(j, "num_counters", n_counters);
	put_int(j, "width", width);
	put_int(j, "max_name_len", (int64_t)longest);
	put_hex(j, "impl_pmcs", pmcs.bits[0]);
	put_hex(j, "impl_pmds", pmds.bits[0]);
	put_hex(j, "impl_counters", counters.bits[0]);
	write_event(j, "cycle", pfm_get_cycle_event(&e), &e);
	write_event(j, "inst", pfm_get_inst_retired_event(&e), &e);
}

static const struct {
	const char *name;
	void (*run)(struct work *w, struct json *j, const json_t *req);
} operations[] = {
	{ "dispatch", op_dispatch },
	{ "find", op_find },
	{ "find_full", op_find_full },
	{ "find_mask", op_find_mask },
	{ "bycode", op_bycode },
	{ "bycode_next", op_bycode_next },
	{ "full_name", op_full_name },
	{ "name", op_name },
	{ "mask_name", op_mask_name },
	{ "code_counter", op_code_counter },
	{ "info", op_info },
};

/* ---- lines ---------------------------------------------------------------------------------------------------------------- */

/* The type of the processor called @name, or PFMLIB_NO_PMU. The Core Duo has a table of its own for this interface, which knows
 * fewer events by other names. */
static int type_of(const pfm_ctx_t *ctx, const char *name)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	int pmu = pfm_find_pmu(ctx, name);

	if (strcmp(name, "coreduo") == 0)
		return PFMLIB_COREDUO_PMU;
	if (pmu < 0 || pfm_describe_pmu(ctx, pmu, &info) != PFMLIB_SUCCESS)
		return PFMLIB_NO_PMU;
	return info.libpfm_type;
}

/* Selects the processor that the request is about; the one before it usually was about the same. */
static bool select_pmu(struct work *w, const pfm_ctx_t *ctx, const char *name)
{
	int type = type_of(ctx, *name ? name : "montecito");

	if (type == w->pmu && type != PFMLIB_NO_PMU)
		return true;
	w->pmu = PFMLIB_NO_PMU;
	if (type == PFMLIB_NO_PMU || pfm_force_pmu(type) != PFMLIB_SUCCESS)
		return false;
	w->pmu = type;
	return true;
}

static void write_failure(struct json *j, int code, int kind, size_t at, const char *message)
{
	put_begin(j, "error", '{');
	put_int(j, "code", code);
	put_text(j, "kind", pfm_error_kind_name(kind));
	put_begin(j, "at", '[');
	put_int(j, NULL, (int64_t)at);
	put_int(j, NULL, (int64_t)at);
	put_end(j, ']');
	put_text(j, "message", message);
	put_begin(j, "suggest", '[');
	put_end(j, ']');
	put_end(j, '}');
}

static bool answer_request(struct work *w, const pfm_ctx_t *ctx, struct json *j, const json_t *req)
{
	const char *op = has(req, "op") ? text(req, "op") : "dispatch";
	size_t i;

	if (!select_pmu(w, ctx, text(req, "pmu"))) {
		write_failure(j, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0, "no processor of that name in the libpfm 3 interface");
		return false;
	}
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (strcmp(operations[i].name, op) == 0) {
			put_begin(j, "res", '{');
			operations[i].run(w, j, req);
			put_end(j, '}');
			return true;
		}
	write_failure(j, PFMLIB_ERR_INVAL, PFM_KIND_BAD_VALUE, 0, "no operation of that name");
	return false;
}

static void write_id(struct json *j, const json_t *line)
{
	const json_t *id = json_object_get(line, "id");
	char *copy = id ? json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	if (copy)
		put_raw(j, "id", copy);
	free(copy);
}

static bool answer_line(struct work *w, const pfm_ctx_t *ctx, struct json *j, const char *line, size_t len)
{
	json_error_t where;
	json_t *parsed = json_loadb(line, len, JSON_REJECT_DUPLICATES, &where);
	const json_t *req = json_object_get(parsed, "req");
	bool ok = false;

	put_begin(j, NULL, '{');
	write_id(j, parsed);
	if (!parsed)
		write_failure(j, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, where.position > 0 ? (size_t)where.position - 1 : 0, where.text);
	else if (!json_is_object(parsed) || (req && !json_is_object(req)))
		write_failure(j, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, 0, "a request is an object");
	else
		ok = answer_request(w, ctx, j, req ? req : parsed);
	put_end(j, '}');
	put_line(j);
	json_decref(parsed);
	return ok;
}

int answer_requests(int fd, FILE *out)
{
	struct work *w = calloc(1, sizeof(*w));
	struct lines in = { .fd = fd };
	struct json j = { .out = out };
	pfm_ctx_t *ctx = open_context(NULL);
	int status = ctx && w ? DONE : REFUSED;
	char *line;
	size_t len;

	if (!w)
		fputs("pfm: out of memory\n", stderr);
	else
		w->pmu = PFMLIB_NO_PMU;
	while (ctx && w && lines_next(&in, &line, &len))
		if (line[strspn(line, " \t\r")] && !answer_line(w, ctx, &j, line, len))
			status = REFUSED;
	if (in.failed)
		status = REFUSED;
	lines_free(&in);
	pfm_close_context(ctx);
	free(w);
	return status;
}
