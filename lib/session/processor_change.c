/* SPDX-License-Identifier: MIT */
/* Live migration: a virtual machine moves to a host with another processor while its events are
 * counted. The kernel keeps the registers that were chosen for the old processor. */
#include "session/session_internal.h"
#include "machine/machine.h"

/* Checks are rare, since CPUID is slow in a virtual machine. */
#define IDENTITY_CHECK_NS 1000000000u

void pfmi_session_check_processor(struct pfm_session *s)
{
	uint64_t now;

	s->processor.n_reads = 0;
	if (s->processor.has_changed || s->live.backend != &pfmi_perf_backend ||
	    s->ctx->assumed_cpuid)
		return;
	now = s->sys.get_time(&s->sys);
	if (now - s->processor.identified_at < IDENTITY_CHECK_NS)
		return;
	s->processor.identified_at = now;
	s->processor.has_changed = pfmi_machine_is_other_host(&s->sys, &s->ctx->host);
}
