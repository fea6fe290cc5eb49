/* SPDX-License-Identifier: MIT */
/* Sets of events with settings as fuzz_dispatch.c makes them, and the registers that come of each. */
#include "digests.h"
#include <stdio.h>
#include <stdlib.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_alpha.h>
#include <perfmon/pfmlib_coreduo.h>
#include <perfmon/pfmlib_montecito.h>

static void say_ranges(const pfmlib_mont_output_rr_t *r)
{
	say("ranges", r->rr_nbr_used);
	for (unsigned i = 0; i < r->rr_nbr_used && i < 8; i++) {
		say("number", r->rr_br[i].reg_num);
		say("value", r->rr_br[i].reg_value);
	}
	for (unsigned i = 0; i < 4; i++) {
		say("before", r->rr_infos[i].rr_soff);
		say("behind", r->rr_infos[i].rr_eoff);
	}
}

static void say_alpha(const pfmlib_alpha_output_param_t *a)
{
	say("open", a->open_flags);
	say("counters", a->counters);
	say("privileged", a->privileged);
	say("statistic", a->statistic);
	for (unsigned i = 0; i < PFM_ALPHA_MAX_COUNTERS; i++)
		say("rate", a->rates[i]);
	say("iccsr", a->iccsr);
	say("pmctr", a->pmctr);
	say("cbox", a->cbox);
	say("pctr_ctl", a->pctr_ctl);
	say("i_ctl", a->i_ctl);
	for (unsigned i = 0; i < a->n_ioctls; i++) {
		say_text("ioctl", a->ioctls[i].name);
		say("request", a->ioctls[i].request);
		say("when", a->ioctls[i].when);
		for (unsigned k = 0; k < a->ioctls[i].n_words; k++)
			say("word", a->ioctls[i].words[k]);
	}
	for (unsigned i = 0; i < a->n_calls; i++) {
		say("call", a->calls[i].function);
		say("argument", a->calls[i].argument);
	}
}

static void say_model(int type, const void *out)
{
	const pfmlib_mont_output_param_t *m = out;

	if (type == PFMLIB_MONTECITO_PMU) {
		say_ranges(&m->pfp_mont_drange);
		say_ranges(&m->pfp_mont_irange);
	} else if (type >= PFMLIB_ALPHA_EV4_PMU) {
		say_alpha(out);
	}
}

static pfm_err_t said_events(pfmlib_input_param_t *in, void *model_in, pfmlib_output_param_t *out, void *model_out)
{
	pfm_err_t rc = pfm_dispatch_events(in, model_in, out, model_out);
	int type;

	say("events", (uint64_t)rc);
	if (rc || pfm_get_pmu_type(&type))
		return rc;
	for (unsigned i = 0; i < out->pfp_pmc_count; i++) {
		say("pmc", out->pfp_pmcs[i].reg_num);
		say("value", out->pfp_pmcs[i].reg_value);
		say("addr", out->pfp_pmcs[i].reg_addr);
		say("other", out->pfp_pmcs[i].reg_alt_addr);
	}
	for (unsigned i = 0; i < out->pfp_pmd_count; i++) {
		say("pmd", out->pfp_pmds[i].reg_num);
		say("addr", out->pfp_pmds[i].reg_addr);
		say("other", out->pfp_pmds[i].reg_alt_addr);
	}
	if (model_out)
		say_model(type, model_out);
	return rc;
}

static void say_regs(const pfm_reg_t *r, unsigned n)
{
	say("registers", n);
	for (; n > 0; n--, r++) {
		say("number", r->num);
		say("kind", r->kind);
		say("addr", r->addr);
		say("other", r->alt_addr);
		say("value", r->value);
	}
}

static int said_set(const pfm_ctx_t *ctx, const char *const *texts, unsigned n, const pfm_set_options_t *options, pfm_set_t *out,
                    pfm_error_t *why)
{
	int rc = pfm_dispatch_set(ctx, texts, n, options, out, why);
	char sentence[200];

	for (unsigned i = 0; i < n; i++)
		say_text("text", texts[i]);
	say("set", (uint64_t)rc);
	if (rc) {
		say("kind", (uint64_t)why->kind);
		say("event", (uint64_t)why->event);
		say("clash", why->clash);
		say_text("detail", why->detail);
		if (why->event >= 0 && why->event < (int)n) {
			pfm_explain_error(ctx, texts[why->event], why, sentence, sizeof(sentence));
			say_text("sentence", sentence);
		}
		return rc;
	}
	for (unsigned i = 0; i < out->n_events; i++)
		say("counter", (uint64_t)out->counter[i]);
	say_regs(out->pmcs, out->n_pmcs);
	say_regs(out->pmds, out->n_pmds);
	return rc;
}

#define pfm_dispatch_events    said_events
#define pfm_dispatch_set       said_set
#define LLVMFuzzerTestOneInput ask_dispatch
#include "../fuzz/fuzz_dispatch.c"
