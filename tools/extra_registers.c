/* SPDX-License-Identifier: MIT */
/* Control registers of x86 whose event an extra register decides. */
#include "extra_registers.h"

/* The events of @n registers, 0 if they cannot be decoded or have none. */
static unsigned decode_registers(const pfm_ctx_t *ctx, int pmu, const pfm_reg_t *regs, unsigned n,
                                 pfm_decoded_event_t *out, unsigned n_out)
{
	int n_events;

	for (unsigned i = 0; i < n_out; i++)
		out[i] = (pfm_decoded_event_t){ .size = sizeof(out[i]) };
	n_events = pfm_decode_set(ctx, pmu, regs, n, out, n_out);
	return n_events > 0 && out[0].text[0] ? (unsigned)n_events : 0;
}

static void swap_registers(pfm_reg_t *a, pfm_reg_t *b)
{
	pfm_reg_t first = *a;

	*a = *b;
	*b = first;
}

unsigned find_events_of_extra(const pfm_ctx_t *ctx, int pmu, const struct register_value pair[2],
                              pfm_decoded_event_t *out, unsigned n_out)
{
	unsigned alone, together;
	pfm_reg_t regs[2];

	for (unsigned i = 0; i < 2; i++) {
		if (pfm_find_register(ctx, pmu, pair[i].name, &regs[i]) != PFMLIB_SUCCESS)
			return 0;
		regs[i].value = pair[i].value;
	}
	if (regs[0].kind == PFM_REG_EXTRA)
		swap_registers(&regs[0], &regs[1]);
	if (regs[0].kind != PFM_REG_PMC || regs[1].kind != PFM_REG_EXTRA)
		return 0;
	alone = decode_registers(ctx, pmu, regs, 1, out, n_out);
	together = decode_registers(ctx, pmu, regs, 2, out, n_out);
	return together < alone ? together : 0;
}
