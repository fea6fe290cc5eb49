/* SPDX-License-Identifier: MIT */
#include "profile/tree/losses.h"

#include <stdio.h>

void losses_read_record(struct profile_losses *l, const pfm_record_t *record)
{
	switch (record->type) {
	case PFM_RECORD_LOST: l->records += record->body.lost.lost; break;
	case PFM_RECORD_LOST_SAMPLES: l->samples += record->body.lost.lost; break;
	case PFM_RECORD_THROTTLE: l->throttled++; break;
	default: break;
	}
}

uint64_t count_lost_records(const struct profile_losses *l)
{
	return l->records > l->samples ? l->records : l->samples;
}

uint64_t limit_weight(uint64_t sum, uint64_t weight, bool *damaged)
{
	uint64_t left = sum < INT64_MAX ? INT64_MAX - sum : 0;

	*damaged |= weight > left;
	return weight < left ? weight : left;
}

bool is_profile_complete(const struct profile_losses *l)
{
	return !l->records && !l->samples && !l->throttled && !l->without_event && !l->damaged;
}

const char *get_profile_quality(const struct profile_losses *l)
{
	if (l->pretended)
		return pfm_quality_name(PFM_QUALITY_PRETENDED);
	if (*l->emulator)
		return pfm_quality_name(PFM_QUALITY_SIMULATED);
	return is_profile_complete(l) ? "exact" : "partial";
}

char *print_profile_losses(const struct profile_losses *l, char buf[LOSSES_MAX])
{
	snprintf(buf, LOSSES_MAX,
	         "quality: %s; lost records: %llu; lost samples: %llu; throttled: %llu times; "
	         "samples without an event: %llu; recording: %s",
	         get_profile_quality(l), (unsigned long long)l->records,
	         (unsigned long long)l->samples, (unsigned long long)l->throttled,
	         (unsigned long long)l->without_event, l->damaged ? "damaged" : "complete");
	return buf;
}
