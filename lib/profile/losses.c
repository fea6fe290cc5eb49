/* SPDX-License-Identifier: MIT */
#include "profile/losses.h"

#include <stdio.h>

bool is_profile_complete(const struct profile_losses *l)
{
	return !l->records && !l->samples && !l->throttled && !l->without_event && !l->damaged;
}

char *print_profile_losses(const struct profile_losses *l, char buf[LOSSES_MAX])
{
	snprintf(buf, LOSSES_MAX,
	         "quality: %s; lost records: %llu; lost samples: %llu; throttled: %llu times; "
	         "samples without an event: %llu; recording: %s",
	         is_profile_complete(l) ? "exact" : "partial", (unsigned long long)l->records,
	         (unsigned long long)l->samples, (unsigned long long)l->throttled,
	         (unsigned long long)l->without_event, l->damaged ? "damaged" : "complete");
	return buf;
}
