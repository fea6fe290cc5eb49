/* SPDX-License-Identifier: MIT */
/* Samples that a recording lacks. */
#ifndef PERFMON_PROFILE_LOSSES_H
#define PERFMON_PROFILE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct profile_losses {
	uint64_t records, samples, throttled, without_event;
	bool damaged; /* the recording breaks off before its end */
};

bool is_profile_complete(const struct profile_losses *l);
/* Prints the losses as a sentence. Returns @buf. */
#define LOSSES_MAX 320
char *print_profile_losses(const struct profile_losses *l, char buf[LOSSES_MAX]);

#endif
