/* SPDX-License-Identifier: MIT */
/* Any request of the libpfm 3 interface, Montecito's model features included: raw bytes fill the structures. Nothing outside them
 * may be touched, and output beyond the counts stays as it was. */
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_montecito.h>

static const uint8_t *at;
static size_t left;

static void take(void *to, size_t n)
{
	size_t k = n < left ? n : left;

	memset(to, 0, n);
	memcpy(to, at, k);
	at += k;
	left -= k;
}

static unsigned byte(void)
{
	uint8_t b;

	take(&b, 1);
	return b;
}

static void check_tail(const pfmlib_output_param_t *out)
{
	if (out->pfp_pmc_count > PFMLIB_MAX_PMCS || out->pfp_pmd_count > PFMLIB_MAX_PMDS)
		abort();
	for (unsigned i = out->pfp_pmc_count; i < PFMLIB_MAX_PMCS; i++)
		if (out->pfp_pmcs[i].reg_num != 0x5a5a5a5a)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int types[] = { PFMLIB_MONTECITO_PMU, PFMLIB_COREDUO_PMU, PFMLIB_GEN_IA32_PMU, PFMLIB_ALPHA_EV67_PMU };
	static pfmlib_input_param_t in;
	static pfmlib_output_param_t out;
	pfmlib_mont_input_param_t model_in;
	pfmlib_mont_output_param_t model_out;
	unsigned shape, n;
	int type;

	at = data;
	left = size;
	shape = byte();
	type = types[shape & 3];
	if (pfm_force_pmu(type))
		abort();
	memset(&in, 0, sizeof(in));
	memset(&out, 0x5a, sizeof(out));
	memset(&model_out, 0, sizeof(model_out));
	in.pfp_event_count = n = byte() % 16;
	in.pfp_dfl_plm = byte() & 0xf;
	in.pfp_flags = byte() & 1;
	for (unsigned i = 0; i < n; i++) {
		take(&in.pfp_events[i].event, 2);
		in.pfp_events[i].plm = byte() & 0xf;
		in.pfp_events[i].num_masks = byte() % 6;
		for (unsigned k = 0; k < in.pfp_events[i].num_masks && k < 6; k++)
			in.pfp_events[i].unit_masks[k] = byte() % 8;
	}
	take(in.pfp_unavail_pmcs.bits, 8);
	take(&model_in, sizeof(model_in));
	if (type != PFMLIB_MONTECITO_PMU)
		pfm_dispatch_events(&in, NULL, &out, NULL);
	else if (pfm_dispatch_events(&in, shape & 4 ? &model_in : NULL, &out, shape & 4 && shape & 8 ? &model_out : NULL) == PFMLIB_SUCCESS)
		check_tail(&out);
	return 0;
}
