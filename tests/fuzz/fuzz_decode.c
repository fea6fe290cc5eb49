/* SPDX-License-Identifier: MIT */
/* Any recorded registers: values of any register of any processor back to names, Montecito's
 * address registers and trace buffer, ProfileMe samples and interrupts of Alpha processors. */
#include <stdlib.h>
#include <perfmon/perfmon.h>
#include <perfmon/alpha.h>
#include <perfmon/montecito.h>
#include "bytes.h"
#include "time_bound.h"

static pfm_ctx_t *context(void)
{
	static pfm_ctx_t *ctx;
	pfm_ctx_options_t o = PFM_INIT(o);

	o.flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES;
	if (!ctx && pfm_open_context(&ctx, &o, NULL))
		abort();
	return ctx;
}

static void registers(struct bytes *b)
{
	static const char *const names[] = {
		"config",         "config1",     "config2",     "PERFEVTSEL0",   "PERFEVTSEL1",
		"PERF_CTL0",      "PMC4",        "PMC32",       "PMC34",         "PMC37",
		"PMC38",          "PMC39",       "PMC40",       "PMC41",         "PMC42",
		"ICCSR",          "PMCTR",       "CBOX",        "PCTR_CTL",      "I_STAT",
		"FIXED_CTR_CTRL", "GLOBAL_CTRL", "PEBS_LD_LAT", "PEBS_FRONTEND", ""
	};
	const pfm_ctx_t *ctx = context();
	int pmu = (int)byte(b) % 32;
	const char *reg = names[byte(b) % (sizeof(names) / sizeof(names[0]))];
	uint64_t value = word(b);
	char name[256];

	for (unsigned i = 0; i < 70; i++) {
		const char *field, *text;
		uint64_t v;

		if (pfm_decode_field(ctx, pmu, reg, value, i, &field, &v, &text))
			break;
	}
	for (unsigned i = 0; i < 3; i++) {
		pfm_encoding_t e = PFM_INIT(e);

		if (pfm_decode_event(ctx, pmu, reg, value, i, name, sizeof(name)))
			break;
		if (pfm_encode_event(ctx, name, 0, &e, NULL) == PFMLIB_ERR_SYNTAX)
			abort();
	}
}

static void montecito(struct bytes *b)
{
	pfmlib_mont_branch_t branches[PMU_MONT_NUM_ETB];
	pfmlib_mont_ip_t ips[PMU_MONT_NUM_ETB];
	pfmlib_mont_dear_sample_t dear;
	pfmlib_mont_iear_sample_t iear;
	uint64_t r[3], pmds[PMU_MONT_NUM_ETB];
	unsigned mode = byte(b) & 3, n = 0;

	take(b, r, sizeof(r));
	take(b, pmds, sizeof(pmds));
	pfm_mont_decode_dear((pfmlib_mont_ear_mode_t)mode, r[0], r[1], r[2], &dear);
	pfm_mont_decode_iear((pfmlib_mont_ear_mode_t)mode, r[0], r[1], &iear);
	if (pfm_mont_decode_etb(r[0], r[1], pmds, branches, &n) == PFMLIB_SUCCESS &&
	    n > PMU_MONT_NUM_ETB)
		abort();
	for (unsigned i = 0; i < n; i++)
		if (branches[i].br_entry >= PMU_MONT_NUM_ETB || branches[i].br_slot > 3)
			abort();
	if (pfm_mont_decode_ipear(r[0], r[1], pmds, ips, &n) == PFMLIB_SUCCESS &&
	    n > PMU_MONT_NUM_ETB)
		abort();
	for (unsigned i = 0; i < n; i++)
		if (ips[i].ip_entry >= PMU_MONT_NUM_ETB || ips[i].ip_cycles > 63)
			abort();
}

static void alpha(struct bytes *b)
{
	int pmu = PFMLIB_ALPHA_EV4_PMU + (int)byte(b) % 6; /* one too many */
	uint64_t r[3], values[PFM_ALPHA_MAX_COUNTERS] = { 0 }, w, num, den;
	unsigned select, cpu, raw[2], counter[2];
	pfm_alpha_interrupt_t interrupt;
	pfm_alpha_sample_t sample;
	pfm_alpha_request_t request;
	pfmlib_alpha_call_t call;
	int a, m;

	take(b, r, sizeof(r));
	pfm_alpha_decode_interrupt(pmu, (int)byte(b) & 3, r, &interrupt);
	pfm_alpha_decode_sample(r[0], r[1], r[2], &sample);
	if (!sample.trap_name)
		abort();
	/* A counter word taken apart and put together is what it was, as far as its fields go. */
	if (pfm_alpha_split_counter_word(pmu, r[0], &select, &cpu, values) == PFMLIB_SUCCESS) {
		uint64_t again;

		if (pfm_alpha_counter_word(pmu, select, cpu, values, &w) == PFMLIB_SUCCESS &&
		    (pfm_alpha_split_counter_word(pmu, w, &select, &cpu, values) ||
		     pfm_alpha_counter_word(pmu, select, cpu, values, &again) || again != w))
			abort();
	}
	pfm_alpha_rate_word(pmu, r, byte(b), &w, &a);
	pfm_alpha_driver_rates(r[0], &w, &a);
	pfm_alpha_word_modes(r[0], &a, &m);
	pfm_alpha_start_value(byte(b), r[0], &w);
	pfm_alpha_sample_bytes(r[0], r[1], r[2], byte(b) & 3, byte(b), &w);
	pfm_alpha_bucket(r[0], r[2], r[1]);
	pfm_alpha_ratio(byte(b), r[0], r[1], &num, &den);
	if (pfm_alpha_request(byte(b), &request) == PFMLIB_SUCCESS)
		pfm_alpha_device_call(pmu, request.request, r[0], &call);
	pfm_alpha_linux_event((uint32_t)r[0] & 7, r[1], &raw[0], &counter[0], &w);
	raw[0] = byte(b);
	raw[1] = byte(b);
	pfm_alpha_linux_pair(raw, counter, &w);
}

int try_input(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };

	switch (byte(&b) % 3) {
	case 0: registers(&b); break;
	case 1: montecito(&b); break;
	default: alpha(&b);
	}
	return 0;
}
