/* SPDX-License-Identifier: MIT */
/* Chooses the events that the Tru64 counter device counts, and explains what it cannot count. */
#include <errno.h>
#include "session/pfm_device.h"

void pfmi_device_fail_count(struct session_count *c, pfm_cause_t cause, int err, const char *why,
                            const char *remedy)
{
	if (!c->status.cause)
		pfmi_session_fail_count(c, cause, err, remedy, "%s", why);
}

void pfmi_device_fail_all_counts(struct pfm_session *s, pfm_cause_t cause, int err, const char *why,
                                 const char *remedy)
{
	for (unsigned i = 0; i < s->n_counts; i++)
		pfmi_device_fail_count(&s->counts[i], cause, err, why, remedy);
}

void pfmi_device_choose_settings(const struct pfm_session *s, struct device_state *d)
{
	bool whole = s->options.flags & PFM_SESSION_SYSTEM_WIDE;

	if (d->options.model) {
		d->encoder_input = *d->options.model;
		return;
	}
	d->encoder_input.pfp_alpha_scope = whole ? PFM_ALPHA_SCOPE_SYSTEM : PFM_ALPHA_SCOPE_PROCESS;
	d->encoder_input.pfp_alpha_open =
		s->options.flags & PFM_SESSION_PER_CPU ? PFM_ALPHA_OPEN_EACH : PFM_ALPHA_OPEN_ALL;
}

void pfmi_device_check_scope(struct pfm_session *s, const struct device_state *d)
{
	bool each = s->options.flags & PFM_SESSION_PER_CPU &&
	            d->encoder_input.pfp_alpha_open == PFM_ALPHA_OPEN_EACH;

	if (s->options.cgroup)
		pfmi_device_fail_all_counts(s, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                            "the device cannot count control groups",
		                            "count the whole system, or a process");
	else if (s->options.cpus && !each)
		pfmi_device_fail_all_counts(s, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                            "the device counts all processors, together or each",
		                            "count every processor, or omit the processor");
}

int pfmi_device_solve_event_set(struct device_state *d, struct device_event_set *set,
                                pfm_error_t *why)
{
	struct encode_request req = { .table = set->events[0].table,
		                      .events = set->events,
		                      .n_events = set->n_events,
		                      .plm = PFM_PLM0 | PFM_PLM3,
		                      .model_in = &d->encoder_input,
		                      .model_out = &d->encoder_output };
	struct register_values regs;

	return pfmi_pmu_dispatch_set(&req, &set->placement, &regs, why);
}

int pfmi_device_find_request_index(const struct device_event_set *set, unsigned number)
{
	for (unsigned i = 0; i < set->n_events; i++)
		if (set->requests[i] == number)
			return (int)i;
	return -1;
}

/* Checks that the device can count @c beside the events of @set. Otherwise stores the cause. */
static bool can_add_device_event(const struct pfm_session *s, struct session_count *c,
                                 const struct device_event_set *set)
{
	if (!pfmi_pmu_get_encoder(c->config.event.table)->has_pfcntr ||
	    (set->n_events && c->config.event.table != set->events[0].table))
		pfmi_device_fail_count(c, PFM_CAUSE_NO_PMU, ENODEV,
		                       "the device counts events of one Alpha processor",
		                       "name events of the same one");
	else if (c->config.event.exclude_flags)
		pfmi_device_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                       "the device cannot exclude idle time, the host or guests",
		                       "omit the letters G, H and I");
	else if (s->options.filters && s->options.filters[c->config.request])
		pfmi_device_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                       "filters are for tracepoints: the device has no tracepoints",
		                       "omit the filter");
	else if (s->sampling && set->n_events)
		pfmi_device_fail_count(
			c, PFM_CAUSE_GROUP, ENOSPC,
			"the profile does not record which counter interrupted: one event "
			"is sampled at a time",
			"sample it in a session of its own");
	else if (set->n_events == PFM_ALPHA_MAX_COUNTERS)
		pfmi_device_fail_count(c, PFM_CAUSE_GROUP, ENOSPC, "all counters are taken",
		                       "count fewer events at a time");
	else
		return true;
	return false;
}

/* Adds the event of @c to @set. If they do not fit together, stores the cause instead. */
static void add_device_event(struct device_state *d, struct session_count *c,
                             struct device_event_set *set)
{
	pfm_error_t why = { .size = sizeof(why) };

	set->events[set->n_events] = c->config.event;
	set->requests[set->n_events++] = c->config.request;
	if (!pfmi_device_solve_event_set(d, set, &why))
		return;
	set->n_events--;
	if (why.kind == PFM_KIND_NO_PLACEMENT)
		pfmi_device_fail_count(c, PFM_CAUSE_GROUP, ENOSPC,
		                       "it does not fit beside the events before it",
		                       "count fewer events at a time");
	else
		pfmi_device_fail_count(c, PFM_CAUSE_ATTRIBUTE, EINVAL,
		                       why.detail ? why.detail : "a setting does not apply to it",
		                       "");
}

void pfmi_device_choose_events(struct pfm_session *s, struct device_state *d,
                               struct device_event_set *set)
{
	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		if (!c->status.cause &&
		    pfmi_device_find_request_index(set, c->config.request) < 0 &&
		    can_add_device_event(s, c, set))
			add_device_event(d, c, set);
	}
}
