/* SPDX-License-Identifier: MIT */
/* Live migration: a virtual machine is moved to a host with another processor while its events are
 * counted. The kernel goes on with the registers that were chosen for the old one. */
#include "session/session_internal.h"
#include "machine/machine.h"

#define IDENTITY_CHECK_NS 1000000000u /* CPUID traps in a virtual machine: not at each reading */

void pfmi_session_check_processor(struct pfm_session *s)
{
	uint64_t now;

	s->n_user_reads = 0;
	if (s->has_cpu_changed || s->backend != &pfmi_perf_backend || s->ctx->assumed_cpuid)
		return;
	now = s->sys.get_time(&s->sys);
	if (now - s->identified_at < IDENTITY_CHECK_NS)
		return;
	s->identified_at = now;
	s->has_cpu_changed = pfmi_machine_is_other_host(&s->sys, &s->ctx->host);
}

/* True if the event is one of the processor, not of the kernel. */
static bool is_processor_event(const struct session_count *c)
{
	const struct kernel_pmu *pmu = c->config.kernel_pmu;

	return pmu ? pmu->is_core || pmu->is_uncore
	           : c->config.attr.type == PERF_TYPE_HARDWARE ||
	                       c->config.attr.type == PERF_TYPE_HW_CACHE ||
	                       c->config.attr.type == PERF_TYPE_RAW;
}

void pfmi_session_explain_other_cpu(const struct pfm_session *s, struct session_count *c,
                                    pfm_count_t *n)
{
	if (!is_processor_event(c) || n->quality >= PFM_QUALITY_NOT_COUNTED)
		return;
	n->quality = PFM_QUALITY_PARTIAL;
	n->cause = PFM_CAUSE_OTHER_CPU;
	pfmi_session_set_reason(c, n->cause, "open the session anew",
	                        "the machine was moved to another processor: the event was chosen "
	                        "for %s",
	                        s->ctx->host.id_text);
}
