/* SPDX-License-Identifier: MIT */
/* Settings of an Alpha session out of an input: mostly such as a program would make. */
#ifndef PERFMON_FUZZ_SETTINGS_H
#define PERFMON_FUZZ_SETTINGS_H

#include <perfmon/alpha.h>
#include "bytes.h"

static inline void take_alpha(struct bytes *b, int type, pfmlib_alpha_input_param_t *in)
{
	memset(in, 0, sizeof(*in));
	for (unsigned i = 0; i < PFM_ALPHA_MAX_COUNTERS; i++) {
		unsigned how = byte(b);

		in->pfp_alpha_rates[i] = how < 8    ? pfm_alpha_rate(type, i, how)
		                         : how < 16 ? shifted(b)
		                                    : 0;
		in->pfp_alpha_periods[i] = how & 128 ? shifted(b) : 0;
	}
	in->pfp_alpha_flags = byte(b);
	in->pfp_alpha_scope = byte(b) % 3;
	in->pfp_alpha_open = byte(b) & 3;
	in->pfp_alpha_modes = byte(b) & 63;
	in->pfp_alpha_items = pair(b) & 0xff0f;
	in->pfp_alpha_statistic = byte(b) % 48;
	in->pfp_alpha_n_ranges = byte(b) % (PFM_ALPHA_MAX_RANGES + 2);
	in->pfp_alpha_ctxt = word(b);
	in->pfp_alpha_stride = shifted(b);
	for (unsigned i = 0; i < PFM_ALPHA_MAX_RANGES && i < in->pfp_alpha_n_ranges; i++) {
		in->pfp_alpha_ranges[i].start =
			(byte(b) & 1 ? UINT64_C(0xfffffc0000000000) : 0) + shifted(b);
		in->pfp_alpha_ranges[i].end = in->pfp_alpha_ranges[i].start + shifted(b);
	}
}

#endif
