/* SPDX-License-Identifier: MIT */
/* Any set of events with any settings that only one processor has: Montecito's filters, ranges and
 * address registers, the counter masks of the Core Duo, rates and ranges of the Alpha device.
 * Through the libpfm 3 interface, and as texts through pfm_dispatch_set(). Nothing outside the
 * answer may be touched, and no two events may share a counter. */
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>
#include <perfmon/alpha.h>
#include <perfmon/coreduo.h>
#include <perfmon/montecito.h>
#include "../support/dispatched_set.h"
#include "bytes.h"
#include "settings.h"
#include "time_bound.h"

enum { MAX_EVENTS = 16, UNTOUCHED = 0x5a };

/* Settings of a processor beside its events; sizes are those of the public structures. */
static union {
	pfmlib_mont_input_param_t montecito;
	pfmlib_coreduo_input_param_t coreduo;
	pfmlib_alpha_input_param_t alpha;
} model_in;
static union {
	pfmlib_mont_output_param_t montecito;
	pfmlib_coreduo_output_param_t coreduo;
	pfmlib_alpha_output_param_t alpha;
} model_out;

/* ---- settings -------------------------------------------------------------------------------- */

/* Mostly a block of memory, sometimes two words. */
static void take_range(struct bytes *b, pfmlib_mont_input_rr_t *r)
{
	unsigned how = byte(b);

	r->rr_used = how & 1;
	r->rr_flags = how >> 1 & 15;
	for (unsigned i = 0; i < (how >> 5 & 3) + 1; i++) {
		r->rr_limits[i].rr_plm = byte(b) & 15;
		r->rr_limits[i].rr_start = how & 128 ? word(b) : shifted(b);
		r->rr_limits[i].rr_end =
			how & 128 ? word(b) : r->rr_limits[i].rr_start + shifted(b);
	}
}

static void take_opcode(struct bytes *b, pfmlib_mont_opcm_t *m)
{
	unsigned how = byte(b);

	m->opcm_used = how & 1;
	m->opcm_m = how >> 1 & 1;
	m->opcm_i = how >> 2 & 1;
	m->opcm_f = how >> 3 & 1;
	m->opcm_b = how >> 4 & 1;
	m->opcm_match = word(b) >> (how >> 5 & 1) * 23;
	m->opcm_mask = word(b) >> (how >> 5 & 1) * 23;
}

static void take_ear(struct bytes *b, pfmlib_mont_ear_t *e)
{
	unsigned how = byte(b);

	e->ear_used = how & 1;
	e->ear_mode = (pfmlib_mont_ear_mode_t)(how >> 1 & 3);
	e->ear_plm = how >> 3 & 15;
	e->ear_umask = byte(b);
}

static void take_montecito(struct bytes *b, pfmlib_mont_input_param_t *in)
{
	unsigned what = byte(b);

	memset(in, 0, sizeof(*in));
	for (unsigned i = 0; what & 1 && i < PMU_MONT_NUM_COUNTERS; i++) {
		in->pfp_mont_counters[i].flags = byte(b) & 15;
		in->pfp_mont_counters[i].thres = byte(b);
	}
	if (what & 2) {
		take_opcode(b, &in->pfp_mont_opcm1);
		take_opcode(b, &in->pfp_mont_opcm2);
	}
	if (what & 4)
		take_ear(b, &in->pfp_mont_iear);
	if (what & 8)
		take_ear(b, &in->pfp_mont_dear);
	if (what & 16)
		take(b, &in->pfp_mont_etb, sizeof(in->pfp_mont_etb));
	if (what & 32)
		take(b, &in->pfp_mont_ipear, sizeof(in->pfp_mont_ipear));
	if (what & 64)
		take_range(b, &in->pfp_mont_drange);
	if (what & 128)
		take_range(b, &in->pfp_mont_irange);
}

static void take_coreduo(struct bytes *b, pfmlib_coreduo_input_param_t *in)
{
	memset(in, 0, sizeof(*in));
	for (unsigned i = 0; i < PMU_COREDUO_NUM_COUNTERS; i++) {
		in->pfp_coreduo_counters[i].cnt_mask = pair(b);
		in->pfp_coreduo_counters[i].flags = byte(b) & 7;
	}
}

static void take_model(struct bytes *b, int type)
{
	memset(&model_out, 0, sizeof(model_out));
	if (type == PFMLIB_MONTECITO_PMU)
		take_montecito(b, &model_in.montecito);
	else if (type >= PFMLIB_ALPHA_EV4_PMU)
		take_alpha(b, type, &model_in.alpha);
	else
		take_coreduo(b, &model_in.coreduo);
}

static void check_model(int type)
{
	const pfmlib_mont_output_rr_t *r[] = { &model_out.montecito.pfp_mont_drange,
		                               &model_out.montecito.pfp_mont_irange };
	const pfmlib_alpha_output_param_t *a = &model_out.alpha;

	if (type == PFMLIB_MONTECITO_PMU)
		for (unsigned i = 0; i < 2; i++)
			if (r[i]->rr_nbr_used > 8 || r[i]->rr_nbr_used % 2)
				abort();
	if (type < PFMLIB_ALPHA_EV4_PMU)
		return;
	if (a->n_ioctls > PFM_ALPHA_MAX_IOCTLS || a->n_calls > PFM_ALPHA_MAX_CALLS)
		abort();
	for (unsigned i = 0; i < a->n_ioctls; i++)
		if (!a->ioctls[i].name || a->ioctls[i].n_words > 4)
			abort();
}

/* ---- libpfm 3 -------------------------------------------------------------------------------- */

static void check_output(const pfmlib_output_param_t *out)
{
	const unsigned char *rest = (const unsigned char *)(out->pfp_pmcs + out->pfp_pmc_count);

	if (out->pfp_pmc_count > PFMLIB_MAX_PMCS || out->pfp_pmd_count > PFMLIB_MAX_PMDS)
		abort();
	for (size_t i = 0; i < (PFMLIB_MAX_PMCS - out->pfp_pmc_count) * sizeof(out->pfp_pmcs[0]);
	     i++)
		if (rest[i] != UNTOUCHED)
			abort();
}

static void dispatch_numbers(struct bytes *b, int type, unsigned shape)
{
	static pfmlib_input_param_t in;
	static pfmlib_output_param_t out;
	unsigned n_events = 1, n = byte(b) % MAX_EVENTS;

	pfm_get_num_events(&n_events);
	memset(&in, 0, sizeof(in));
	memset(&out, UNTOUCHED, sizeof(out));
	in.pfp_event_count = n;
	in.pfp_dfl_plm = byte(b) & 15;
	in.pfp_flags = byte(b) & 1;
	for (unsigned i = 0; i < n; i++) {
		unsigned event = pair(b), masks = byte(b);

		in.pfp_events[i].event = event & 0x8000 ? event : event % n_events;
		in.pfp_events[i].plm = masks >> 4;
		in.pfp_events[i].num_masks = masks & 7;
		for (unsigned k = 0; k < (masks & 7); k++)
			in.pfp_events[i].unit_masks[k] = byte(b);
	}
	if (shape & 64)
		take(b, in.pfp_unavail_pmcs.bits, 8);
	take_model(b, type);
	if (pfm_dispatch_events(&in, shape & 8 ? &model_in : NULL, &out,
	                        shape & 16 ? &model_out : NULL))
		return;
	check_output(&out);
	if (shape & 16)
		check_model(type);
}

/* ---- sets of texts --------------------------------------------------------------------------- */

static int find_type(const pfm_ctx_t *ctx, int type)
{
	perfmon_pmu_info_t info = PFM_INIT(info);

	for (int i = 0; pfm_describe_pmu(ctx, i, &info) == PFMLIB_SUCCESS; i++)
		if (info.libpfm_type == type)
			return i;
	return 0;
}

/* An event by its number, with one of its unit masks. */
static void write_text(const pfm_ctx_t *ctx, int pmu, unsigned event, unsigned mask, char *to,
                       size_t room)
{
	perfmon_pmu_info_t p = PFM_INIT(p);
	perfmon_event_info_t e = PFM_INIT(e);
	pfm_umask_info_t u = PFM_INIT(u);
	int n;

	if (pfm_describe_pmu(ctx, pmu, &p) || pfm_describe_event(ctx, pmu, event % p.n_events, &e))
		abort();
	n = snprintf(to, room, "%s::%s", p.name, e.name);
	if (mask &&
	    pfm_describe_umask(ctx, pmu, event % p.n_events, mask - 1, &u) == PFMLIB_SUCCESS)
		snprintf(to + n, room - (size_t)n, ":%s", u.name);
}

static void check_set(const struct dispatched_set *set, unsigned n)
{
	uint64_t taken = 0;

	if (set->n_events != n || set->n_pmcs > MAX_SET_REGS || set->n_pmds > MAX_SET_REGS)
		abort();
	for (unsigned i = 0; i < n; i++) {
		if (set->counter[i] < 0)
			continue;
		if (set->counter[i] > 63 || taken >> set->counter[i] & 1)
			abort();
		taken |= UINT64_C(1) << set->counter[i];
	}
}

static void dispatch_texts(struct bytes *b, int type, unsigned shape)
{
	static pfm_ctx_t *ctx;
	static struct dispatched_set set;
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_dispatch_options_t options = PFM_INIT(options);
	pfm_error_t why = PFM_INIT(why);
	pfmlib_regmask_t unavailable = { { 0 } };
	char texts[MAX_EVENTS][200];
	const char *pointers[MAX_EVENTS];
	unsigned n = byte(b) % MAX_EVENTS, how = byte(b);
	int pmu;

	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (!ctx && pfm_open_context(&ctx, &o, NULL))
		abort();
	pmu = find_type(ctx, type);
	for (unsigned i = 0; i < n; i++) {
		unsigned event = pair(b);

		write_text(ctx, pmu, event, byte(b) % 12, texts[i], sizeof(texts[i]));
		pointers[i] = texts[i];
	}
	if (shape & 64) {
		take(b, unavailable.bits, 8);
		options.unavailable = &unavailable;
	}
	options.plm = how & 15;
	options.flags = how >> 4 & 1;
	options.htoff = how >> 5 & 1;
	take_model(b, type);
	options.model_in = shape & 8 ? &model_in : NULL;
	options.model_out = shape & 16 ? &model_out : NULL;
	if (dispatch_set(ctx, pointers, n, &options, &set, &why)) {
		if (why.code >= 0 || why.event >= (int)n || (n < 64 && get_clash(&why) >> n))
			abort();
		return;
	}
	check_set(&set, n);
	if (shape & 16)
		check_model(type);
}

int try_input(const uint8_t *data, size_t size)
{
	static const int types[] = { PFMLIB_MONTECITO_PMU, PFMLIB_COREDUO_PMU,
		                     PFMLIB_GEN_IA32_PMU,  PFMLIB_ALPHA_EV4_PMU,
		                     PFMLIB_ALPHA_EV5_PMU, PFMLIB_ALPHA_PCA56_PMU,
		                     PFMLIB_ALPHA_EV6_PMU, PFMLIB_ALPHA_EV67_PMU };
	struct bytes b = { data, size };
	unsigned shape = byte(&b);
	int type = types[shape & 7];

	if (pfm_force_pmu(type))
		abort();
	if (shape & 32)
		dispatch_texts(&b, type, shape);
	else
		dispatch_numbers(&b, type, shape);
	return 0;
}
