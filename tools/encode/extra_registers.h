/* SPDX-License-Identifier: MIT */
/* Control registers of x86 whose event an extra register decides. */
#ifndef PFM_EXTRA_REGISTERS_H
#define PFM_EXTRA_REGISTERS_H

#include "common/pfm.h"

struct register_value {
	const char *name;
	uint64_t value;
};

/**
 * Find the events that a control register and an extra register mean together.
 *
 * @pair holds the two in any order. Returns how many events there are, of which the first @n_out
 * are in @out; 0 if the second register does not decide the event of the first.
 */
unsigned find_events_of_extra(const pfm_ctx_t *ctx, int pmu, const struct register_value pair[2],
                              pfm_decoded_event_t *out, unsigned n_out);

#endif
