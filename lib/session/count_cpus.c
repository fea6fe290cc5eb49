/* SPDX-License-Identifier: MIT */
/* The CPUs of a session: the caller's list and the CPUs on line. Makes one count for each CPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/session_internal.h"
#include "context/context.h"
#include "machine/machine.h"

#define CPU_NUMBER_SIZE 8 /* bytes for the number of a CPU */

static void free_cpu_sets(struct cpu_mask *sets, unsigned n)
{
	for (unsigned i = 0; sets && i < n; i++)
		pfmi_machine_free_cpus(&sets[i]);
	free(sets);
}

/* The CPUs on which the PMU of @c counts; empty: all. */
static int get_served_cpus(const struct session_count *c, struct cpu_mask *out)
{
	const struct kernel_pmu *d = c->config.kernel_pmu;
	int rc = 0;

	*out = (struct cpu_mask){ 0 };
	for (unsigned i = 0; d && !rc && i < d->n_instances; i++) {
		if (!session_count_has_instance(c, i))
			continue;
		rc = pfmi_machine_add_cpu_list(out, d->instance_cpu_lists[i]);
		if (rc != -ENOMEM && (rc || !*d->instance_cpu_lists[i])) {
			pfmi_machine_free_cpus(out);
			return 0;
		}
	}
	return rc;
}

/* Copies the @n counts @old for @cpu alone. @serves: the CPUs of each count. @number: the number of
 * the CPU as a text, which must stay valid. */
static int copy_counts_for_cpu(struct session_builder *o, const struct session_count *old,
                               const struct cpu_mask *serves, unsigned n, const char *number)
{
	unsigned cpu = (unsigned)strtoull(number, NULL, 10);

	for (unsigned i = 0; i < n; i++) {
		struct session_count *c;

		if (serves[i].n_words && !pfmi_machine_has_cpu(&serves[i], cpu))
			continue;
		c = pfmi_session_append_count(o);
		if (!c)
			return pfmi_session_report_no_memory(o);
		*c = old[i];
		c->config.cpu = (int)cpu;
		c->config.cpus = number;
		c->config.group += o->session->n_groups;
		c->config.sibling_set = 0;
		c->config.name = pfmi_session_copy_name(o->session, old[i].config.name);
		if (!c->config.name)
			return pfmi_session_report_no_memory(o);
	}
	return PFMLIB_SUCCESS;
}

static int copy_counts_for_each_cpu(struct session_builder *o, const struct session_count *old,
                                    const struct cpu_mask *serves, unsigned n,
                                    const struct cpu_mask *cpus, char *text)
{
	unsigned groups = o->session->n_groups;
	int rc = PFMLIB_SUCCESS;

	o->session->n_groups = 0;
	for (unsigned cpu = 0; !rc && pfmi_machine_next_cpu(cpus, &cpu); cpu++) {
		int len = snprintf(text, CPU_NUMBER_SIZE, "%u", cpu);

		rc = copy_counts_for_cpu(o, old, serves, n, text);
		text += len + 1;
		o->session->n_groups += groups;
	}
	return rc;
}

/* Repeats the groups of the list for each CPU. @text: memory for the numbers of the CPUs. */
static int split_counts_by_cpu(struct session_builder *o, const struct cpu_mask *cpus, char *text)
{
	struct pfm_session *s = o->session;
	struct session_count *old = s->counts;
	struct cpu_mask *serves = calloc(s->n_counts + 1, sizeof(*serves));
	unsigned n = s->n_counts;
	int rc = PFMLIB_SUCCESS;

	if (!serves)
		return pfmi_session_report_no_memory(o);
	for (unsigned i = 0; i < n && !rc; i++)
		if (get_served_cpus(&old[i], &serves[i]))
			rc = pfmi_session_report_no_memory(o);
	if (!rc && n * pfmi_machine_count_cpus(cpus) > MAX_SESSION_COUNTS)
		rc = pfmi_session_report_error(o, PFMLIB_ERR_TOOMANY, PFM_KIND_TOO_MANY, NULL, 0,
		                               "at most 262144 counts, one for each CPU");
	if (rc) {
		free_cpu_sets(serves, n);
		return rc;
	}
	s->counts = NULL;
	s->n_counts = o->counts_capacity = 0;
	rc = pfmi_session_reserve_counts(o, n * (unsigned)pfmi_machine_count_cpus(cpus))
	             ? PFMLIB_SUCCESS
	             : pfmi_session_report_no_memory(o);
	if (!rc)
		rc = copy_counts_for_each_cpu(o, old, serves, n, cpus, text);
	free_cpu_sets(serves, n);
	free(old);
	return rc;
}

/* False for counts of tasks on any CPU: these do not depend on the CPUs that exist. */
static bool is_cpu_dependent(const struct pfm_session *s)
{
	bool any = s->cpus.requested.n_words || s->sampling ||
	           s->options.flags & PFM_SESSION_SYSTEM_WIDE;

	for (unsigned i = 0; i < s->n_counts && !any; i++)
		any = s->counts[i].config.kernel_pmu && s->counts[i].config.kernel_pmu->is_uncore;
	return any;
}

enum {
	CPUS_UNREAD = 0,     /* pfm_ctx.n_contiguous_cpus before any session */
	CPUS_READ_ONCE = -1, /* the first session has read the CPUs; the second one will cache their
	                        number */
	CPUS_READ_ALWAYS = -2
};

static atomic_int *get_contiguous_cpus_cache(const struct pfm_session *s)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx = { .in = s->ctx };

	return &ctx.out->n_contiguous_cpus;
}

/* True if the kernel refuses to open events on CPUs that are off line, so that they need not be
 * listed first. */
static bool is_offline_cpu_detectable(const struct pfm_session *s)
{
	return s->live.backend && s->live.backend->reports_offline_cpus && !s->sampling &&
	       (s->options.flags & (PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU)) ==
	               PFM_SESSION_SYSTEM_WIDE;
}

static bool is_same_cpu_set(const struct cpu_mask *a, const struct cpu_mask *b)
{
	return a->n_words == b->n_words &&
	       memcmp(a->words, b->words, a->n_words * sizeof(*a->words)) == 0;
}

/* Remembers the number of CPUs if all possible CPUs, 0 to n - 1, are online: the set of possible
 * CPUs never changes while the kernel runs. */
static void cache_contiguous_cpus(const struct pfm_session *s)
{
	struct cpu_mask possible, first;
	size_t n = pfmi_machine_count_cpus(&s->cpus.online);
	bool all = !pfmi_machine_read_cpus(&s->sys, PFMI_POSSIBLE_CPUS_PATH, &possible) && n &&
	           !pfmi_machine_make_first_cpus((unsigned)n, &first);

	if (all) {
		all = is_same_cpu_set(&first, &possible) &&
		      is_same_cpu_set(&first, &s->cpus.online);
		pfmi_machine_free_cpus(&first);
	}
	pfmi_machine_free_cpus(&possible);
	atomic_store(get_contiguous_cpus_cache(s), all ? (int)n : CPUS_READ_ALWAYS);
}

int pfmi_session_refresh_online_cpus(struct pfm_session *s)
{
	struct cpu_mask now;
	int rc = pfmi_machine_read_cpus(&s->sys, PFMI_ONLINE_CPUS_PATH, &now);

	s->cpus.is_online_assumed = false;
	if (rc || is_same_cpu_set(&now, &s->cpus.online)) {
		pfmi_machine_free_cpus(&now);
		return rc == -ENOMEM ? rc : 0;
	}
	atomic_store(get_contiguous_cpus_cache(s), CPUS_READ_ALWAYS);
	pfmi_machine_free_cpus(&s->cpus.online);
	s->cpus.online = now;
	return -EAGAIN;
}

/* Reads the CPUs that are on line now, since the context may be older than the last change. If the
 * kernel refuses to open events on CPUs off line, the earlier list is good enough. */
static int read_online_cpus(struct pfm_session *s)
{
	int known = is_offline_cpu_detectable(s) ? atomic_load(get_contiguous_cpus_cache(s))
	                                         : CPUS_READ_ALWAYS,
	    rc;

	s->cpus.is_online_assumed = known > 0;
	if (s->cpus.is_online_assumed)
		return pfmi_machine_make_first_cpus((unsigned)known, &s->cpus.online);
	rc = pfmi_machine_read_cpus(&s->sys, PFMI_ONLINE_CPUS_PATH, &s->cpus.online);
	if (known == CPUS_READ_ONCE)
		cache_contiguous_cpus(s);
	else if (known == CPUS_UNREAD)
		atomic_store(get_contiguous_cpus_cache(s), CPUS_READ_ONCE);
	if (rc)
		/* an unreadable list is reported where it is used */
		return rc == -ENOMEM ? rc : 0;
	/* Later tasks can only be sampled into buffers that belong to a CPU, because two tasks may
	 * write at the same time. */
	if (s->sampling && s->cpus.requested.n_words == 0 &&
	    (s->options.flags & (PFM_SESSION_INHERIT | PFM_SESSION_SYSTEM_WIDE)) ==
	            PFM_SESSION_INHERIT)
		rc = pfmi_machine_copy_cpus(&s->cpus.online, &s->cpus.requested);
	return rc;
}

int pfmi_session_apply_cpu_list(struct session_builder *o)
{
	const unsigned per_cpu = PFM_SESSION_PER_CPU | PFM_SESSION_SYSTEM_WIDE;
	struct pfm_session *s = o->session;
	const char *given = s->options.cpus ? s->options.cpus : "";
	const struct cpu_mask *cpus = *given ? &s->cpus.requested : &s->cpus.online;
	size_t len = strlen(given);
	int rc = pfmi_machine_parse_cpu_list(given, &s->cpus.requested);

	if (rc == -EINVAL)
		return pfmi_session_report_error(
			o, PFMLIB_ERR_INVAL, PFM_KIND_NONE, NULL, 0,
			"expected a list of CPUs such as 0,2-3 in options.cpus");
	if (!rc && is_cpu_dependent(s))
		rc = read_online_cpus(s);
	s->cpus.text =
		rc ? NULL : malloc(len + 1 + CPU_NUMBER_SIZE * pfmi_machine_count_cpus(cpus));
	if (!s->cpus.text)
		return pfmi_session_report_no_memory(o);
	memcpy(s->cpus.text, given, len + 1);
	s->options.cpus = len ? s->cpus.text : NULL;
	if ((s->options.flags & per_cpu) != per_cpu)
		return PFMLIB_SUCCESS;
	if (cpus->n_words == 0)
		return pfmi_session_report_error(
			o, PFMLIB_ERR_NOTFOUND, PFM_KIND_SYSTEM, NULL, 0,
			"the list of CPUs on line cannot be read from " PFMI_ONLINE_CPUS_PATH);
	return split_counts_by_cpu(o, cpus, s->cpus.text + len + 1);
}
