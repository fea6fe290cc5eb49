/* SPDX-License-Identifier: MIT */
/* Finds the report of a machine like this one that has a result of an event. */
#include "check_events/known.h"

bool find_known_bias(const pfm_ctx_t *ctx, const char *text, char buf[KNOWN_TEXT_MAX])
{
	perfmon_event_info_t event = PFM_INIT(event);
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_encoding_t enc = PFM_INIT(enc);
	struct machine_facts facts;

	if (pfm_encode_event(ctx, text, 0, &enc, NULL) ||
	    pfm_describe_event(ctx, enc.pmu, enc.event, &event) ||
	    pfm_describe_pmu(ctx, enc.pmu, &pmu) ||
	    !is_checked_on_hardware(known_checks, pmu.name, event.name))
		return false;
	read_machine_facts(&facts);
	return describe_known_bias(known_checks, pmu.name, event.name, facts.processor, buf);
}

bool is_checkable(const pfm_ctx_t *ctx, int pmu, unsigned event)
{
	struct event_check c = { .factor = 1 };
	const char *tags = find_meaning_tags(ctx, pmu, event);

	if (tags)
		read_meaning(&c, tags);
	return c.has_quantity;
}
