/* SPDX-License-Identifier: MIT */
/* The quality of counts. A value is extrapolated only from time in which the event was counted; a
 * count without such time has no value. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/sizes.h"
#include "base/text.h"
#include "session/session_internal.h"
#include "context/context.h"

/* Computes raw * enabled / running with a product of 128 bits, which loses nothing. */
uint64_t pfmi_session_extrapolate_value(uint64_t raw, uint64_t enabled, uint64_t running)
{
	const uint64_t low = 0xffffffff;
	uint64_t a = raw >> 32, b = raw & low, c = enabled >> 32, d = enabled & low;
	uint64_t mid = (b * d >> 32) + (a * d & low) + (b * c & low);
	uint64_t hi = a * c + (a * d >> 32) + (b * c >> 32) + (mid >> 32);
	uint64_t lo = (mid & low) << 32 | (b * d & low), q = 0, rest;

	if (running == 0)
		return 0;
	if (hi >= running)
		return UINT64_MAX;
	rest = hi;
	for (int i = 63; i >= 0; i--) {
		bool carry = rest >> 63;

		rest = rest << 1 | (lo >> i & 1);
		if (carry || rest >= running) {
			rest -= running;
			q |= (uint64_t)1 << i;
		}
	}
	/* Rounds to the nearest number. */
	if (rest >= running - rest && q != UINT64_MAX)
		q++;
	return q;
}

static void set_formatted_reason(struct session_count *c, pfm_cause_t about, const char *remedy,
                                 const char *fmt, va_list ap)
{
	c->status.reason_cause = about;
	c->status.evidence[0] = '\0';
	vsnprintf(c->status.reason, sizeof(c->status.reason), fmt, ap);
	snprintf(c->status.remedy, sizeof(c->status.remedy), "%s", remedy);
}

void pfmi_session_set_reason(struct session_count *c, pfm_cause_t cause, const char *remedy,
                             const char *fmt, ...)
{
	va_list ap;

	if (c->status.cause)
		return; /* the reason why a part could not be opened says more than the state of the
		           other parts */
	va_start(ap, fmt);
	set_formatted_reason(c, cause, remedy, fmt, ap);
	va_end(ap);
}

void pfmi_session_fail_count(struct session_count *c, pfm_cause_t cause, int err,
                             const char *remedy, const char *fmt, ...)
{
	va_list ap;

	c->status.cause = cause;
	c->status.sys_errno = err;
	va_start(ap, fmt);
	set_formatted_reason(c, cause, remedy, fmt, ap);
	va_end(ap);
}

void pfmi_session_set_evidence(struct session_count *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->status.evidence, sizeof(c->status.evidence), fmt, ap);
	va_end(ap);
}

static const char *get_pmu_name(const struct session_count *c)
{
	return c->config.kernel_pmu
	               ? c->config.kernel_pmu->name
	               : table_get_text(c->config.event.table, c->config.event.table->name);
}

static void set_count_quality(struct session_count *c, pfm_count_t *n, pfm_quality_t quality,
                              pfm_cause_t cause)
{
	n->quality = quality;
	n->cause = cause;
	if (cause == PFM_CAUSE_NONE && c->status.cause == PFM_CAUSE_NONE)
		c->status.reason_cause = PFM_CAUSE_NONE;
}

static unsigned compute_percent(uint64_t part, uint64_t whole)
{
	return (unsigned)pfmi_session_extrapolate_value(100, part, whole);
}

#define REMEDY_COUNT_LESS "count fewer events at a time, or for longer"

static unsigned count_group_members(const struct pfm_session *s, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < s->n_counts; k++)
		n += s->counts[k].config.group == s->counts[i].config.group;
	return n;
}

/* True if an event of the same PMU outside the group of count @i got a counter. */
static bool has_running_rival(const struct pfm_session *s, unsigned i, const pfm_count_t *counts)
{
	for (unsigned k = 0; k < s->n_counts; k++)
		if (s->counts[k].config.group != s->counts[i].config.group &&
		    s->counts[k].config.attr.type == s->counts[i].config.attr.type &&
		    counts[k].running)
			return true;
	return false;
}

/* The file that the count is read from; "" if it is not read from a file. */
static const char *get_value_file(const struct session_count *c)
{
	const struct kernel_pmu *pmu = c->config.kernel_pmu;

	return c->config.attr.config < pmu->n_files ? pmu->files[c->config.attr.config] : "";
}

/* True for events of the processor, as opposed to the kernel's own. */
static bool is_processor_event(const struct session_count *c)
{
	const struct kernel_pmu *pmu = c->config.kernel_pmu;

	return pmu ? pmu->is_core || (pmu->is_uncore && !pmu->files)
	           : c->config.attr.type == PERF_TYPE_HARDWARE ||
	                       c->config.attr.type == PERF_TYPE_HW_CACHE ||
	                       c->config.attr.type == PERF_TYPE_RAW;
}

bool pfmi_session_has_watchdog(const struct pfm_session *s)
{
	const char *arch = s->ctx->host.arch;

	return s->ctx->kernel && s->ctx->kernel->nmi_watchdog &&
	       (!*arch || strcmp(arch, "x86") == 0);
}

/* Explains an event that had no rival in its session, and no counter. Who holds the counters cannot
 * be read, except that the watchdog has one. */
static void explain_idle_event(struct pfm_session *s, unsigned i, pfm_count_t *n)
{
	struct session_count *c = &s->counts[i];

	if (pfmi_session_has_watchdog(s) && is_processor_event(c)) {
		set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
		pfmi_session_set_reason(
			c, n->cause, "switch the watchdog off (sysctl kernel.nmi_watchdog=0)",
			"it never got a counter; the kernel's NMI watchdog holds one");
		return;
	}
	set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
	pfmi_session_set_reason(c, n->cause,
	                        "count it for longer; pfm doctor lists the processes that have "
	                        "events open",
	                        "it was enabled but never got a counter");
}

/* Explains a count that was enabled and never had a counter. */
static void explain_never_ran(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct session_count *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	n->value = 0;
	if (c->config.lacks_core_types) {
		set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
		pfmi_session_set_reason(c, n->cause, "", "no task ran on the CPUs of %s (%s)",
		                        get_pmu_name(c), c->config.kernel_pmu->cpu_list);
	} else if (c->config.kernel_pmu && c->config.kernel_pmu->files) {
		set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_OTHER);
		pfmi_session_set_reason(c, n->cause, "look at the file with cat(1)",
		                        "the driver gives no number, or a negative one: %s",
		                        get_value_file(c));
	} else if (n->cause == PFM_CAUSE_BUSY) {
		set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
		pfmi_session_set_reason(c, n->cause, "omit the pinning (D), or count fewer events",
		                        "the pinned event could not keep its counter");
	} else if (has_running_rival(s, i, counts)) {
		set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED);
		pfmi_session_set_reason(c, n->cause, REMEDY_COUNT_LESS,
		                        "more events than counters: it never got a counter");
	} else if (count_group_members(s, i) > 1 && !c->kernel_state.is_ungrouped) {
		set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_GROUP);
		pfmi_session_set_reason(
			c, n->cause,
			pfmi_session_has_watchdog(s)
				? "switch the watchdog off (sysctl kernel.nmi_watchdog=0), or make "
				  "the group smaller"
				: "make the group smaller, or allow the library to split it (:W "
				  "after the brace)",
			"the group never found enough free counters at once");
	} else {
		explain_idle_event(s, i, n);
	}
	if (!c->status.cause)
		pfmi_session_set_evidence(
			c, "enabled for %llu ns, on a counter for 0 ns%s",
			(unsigned long long)n->enabled,
			pfmi_session_has_watchdog(s) ? "; kernel.nmi_watchdog is 1" : "");
}

/* Sums the time on a counter over all core types of one event. A task is on one core type at a
 * time, so the sum is the whole time unless counters were shared. */
static uint64_t sum_sibling_running(const struct pfm_session *s, unsigned i,
                                    const pfm_count_t *counts)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < s->n_counts; k++)
		if (k == i || (s->counts[i].config.sibling_set &&
		               s->counts[k].config.sibling_set == s->counts[i].config.sibling_set))
			sum += counts[k].running;
	return sum;
}

/* Explains a count whose task never ran on the CPUs of the count. */
static void explain_never_on_cpus(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct session_count *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	if (sum_sibling_running(s, i, counts)) {
		/* the task ran on another core type, which has a count of its own */
		set_count_quality(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		return;
	}
	set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	pfmi_session_set_reason(
		c, n->cause, "check where it may run (taskset -p), or omit the list of CPUs",
		"it never ran on the requested CPUs (%s)", s->options.cpus ? s->options.cpus : "");
}

static void explain_zero_enabled_time(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct session_count *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	n->value = 0;
	if (c->kernel_state.time_elsewhere) {
		explain_never_on_cpus(s, i, counts);
		return;
	}
	set_count_quality(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	if (s->options.flags & PFM_SESSION_DRY_RUN)
		pfmi_session_set_reason(c, n->cause, "", "this was a dry run");
	else if (!s->live.started && !(s->options.flags & PFM_SESSION_ENABLE_ON_EXEC))
		pfmi_session_set_reason(c, n->cause, "start the session before reading it",
		                        "counting was never started");
	else
		pfmi_session_set_reason(
			c, n->cause, "count for longer",
			"no task ran while it was enabled, or for less than a tick of the clock");
}

static void assess_shared_counter(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct session_count *c = &s->counts[i];
	pfm_count_t *n = &counts[i];
	uint64_t ran = sum_sibling_running(s, i, counts);

	if (c->config.lacks_core_types) {
		n->value = n->raw;
		set_count_quality(c, n, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
		pfmi_session_set_reason(
			c, n->cause,
			c->config.missing_core
				? ""
				: "name the event without a PMU to count it on every type of core",
			"counted %u %% of the time: %s serves CPUs %s only%s%s%s",
			compute_percent(n->running, n->enabled), get_pmu_name(c),
			c->config.kernel_pmu->cpu_list, c->config.missing_core ? ", and " : "",
			c->config.missing_core ? c->config.missing_core->name : "",
			c->config.missing_core ? " does not have the event" : "");
		return;
	}
	/* For a moment while a task changes its core type, neither count runs. */
	if (c->config.sibling_set && ran + n->enabled / 1000 >= n->enabled) {
		n->value = n->raw;
		set_count_quality(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		return;
	}
	if (n->running == 0) {
		explain_never_ran(s, i, counts);
		return;
	}
	if (c->config.sibling_set)
		n->value = pfmi_session_extrapolate_value(n->raw, n->enabled, ran);
	set_count_quality(c, n, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	pfmi_session_set_reason(
		c, n->cause, REMEDY_COUNT_LESS,
		"more events than counters: counted %u %% of the time and extrapolated",
		compute_percent(ran, n->enabled));
}

/* Explains a count that has nothing of a CPU for all or some of the time. */
static void explain_missed_cpu(struct session_count *c, pfm_count_t *n)
{
	if (n->running == 0)
		n->value = 0;
	set_count_quality(c, n, n->running ? PFM_QUALITY_PARTIAL : PFM_QUALITY_NOT_COUNTED,
	                  PFM_CAUSE_NO_CPU);
	pfmi_session_set_reason(c, n->cause, "open the session anew",
	                        "a CPU came on line during the count: events there are missing");
}

/* Explains a value without a time: the kernel's clock ticks slowly, or never. */
static void explain_unknown_time(struct session_count *c, pfm_count_t *n)
{
	n->value = n->raw;
	set_count_quality(c, n, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_TIME);
	pfmi_session_set_reason(
		c, n->cause, "count for longer",
		"the kernel reports no time for this value: it is unknown how long it was counted");
}

/* Explains an enabled time that is longer than the time since the start, or for tasks, than all
 * CPUs had in that time. */
static void explain_impossible_time(struct session_count *c, const pfm_count_t *n)
{
	pfmi_session_set_reason(
		c, n->cause, "count again",
		"the kernel reports more time than has passed: its times cannot be trusted");
	if (!c->status.cause)
		pfmi_session_set_evidence(c, "at most %llu ns are possible",
		                          (unsigned long long)n->enabled);
}

static void explain_partial_count(struct session_count *c, pfm_count_t *n)
{
	pfm_cause_t cause = n->cause ? n->cause : PFM_CAUSE_MULTIPLEXED;

	set_count_quality(c, n, PFM_QUALITY_PARTIAL, cause);
	if (cause == PFM_CAUSE_BUSY)
		pfmi_session_set_reason(c, cause, "omit the pinning (D), or count fewer events",
		                        "on some CPUs the pinned event lost its counter");
	else if (cause == PFM_CAUSE_OTHER)
		explain_impossible_time(c, n);
	else
		pfmi_session_set_reason(c, cause, REMEDY_COUNT_LESS,
		                        "on some CPUs or for some tasks it never got a counter");
}

/* The quality of a count that is not open: "not supported" where processor, kernel or permissions
 * exclude it, else "not counted". */
static pfm_quality_t get_unopened_quality(pfm_cause_t cause)
{
	switch (cause) {
	case PFM_CAUSE_NO_PMU:
	case PFM_CAUSE_NO_KERNEL:
	case PFM_CAUSE_ATTRIBUTE:
	case PFM_CAUSE_GROUP:
	case PFM_CAUSE_PERMISSION: return PFM_QUALITY_NOT_SUPPORTED;
	default: return PFM_QUALITY_NOT_COUNTED;
	}
}

static void assess_inexact_count(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct session_count *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	if (c->status.cause && !c->kernel_state.n_open) {
		*n = (pfm_count_t){ .size = n->size,
			            .quality = get_unopened_quality(c->status.cause),
			            .scale = c->config.scale };
		n->cause = c->status.cause;
	} else if (n->cause == PFM_CAUSE_NO_CPU) {
		explain_missed_cpu(c, n);
	} else if (n->cause == PFM_CAUSE_BUSY && n->running == 0) {
		explain_never_ran(s, i, counts);
	} else if (n->enabled == 0 && n->running == 0 &&
	           (s->options.flags & PFM_SESSION_DRY_RUN ||
	            (n->raw == 0 && !c->config.is_level))) {
		explain_zero_enabled_time(s, i, counts);
	} else if (n->enabled == 0) {
		explain_unknown_time(c, n);
	} else if (n->running >= n->enabled) {
		if (n->quality == PFM_QUALITY_PARTIAL)
			explain_partial_count(c, n);
		else
			set_count_quality(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	} else if (n->running == 0 && !c->config.sibling_set) {
		explain_never_ran(s, i, counts);
	} else if (n->quality == PFM_QUALITY_PARTIAL && !c->config.sibling_set &&
	           !c->config.lacks_core_types) {
		explain_partial_count(c, n);
	} else if (c->config.is_level) {
		n->value = n->raw;
		set_count_quality(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	} else {
		assess_shared_counter(s, i, counts);
	}
	/* Targets that could not be opened are missing from the sum, so it cannot be better than
	 * partial. */
	if (c->status.cause && c->kernel_state.n_open && n->quality < PFM_QUALITY_NOT_COUNTED) {
		n->quality = PFM_QUALITY_PARTIAL;
		n->cause = c->status.cause;
	}
	n->sys_errno = n->cause == c->status.cause ? c->status.sys_errno : 0;
}

/* True if the count is exact and has no reason to set or to clear, as most counts. */
static inline bool is_clearly_exact(const struct session_count *c, const pfm_count_t *n)
{
	return n->quality == PFM_QUALITY_EXACT && n->running && n->running == n->enabled &&
	       !n->cause && !c->status.cause && !c->status.reason_cause;
}

/* Makes a count partial if its event was chosen for another processor than the machine has now. */
static void explain_other_cpu(const struct pfm_session *s, struct session_count *c, pfm_count_t *n)
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

/* Names the erratum of a count that has nothing worse than a shared counter. */
static void explain_erratum(struct session_count *c, pfm_count_t *n)
{
	const struct table *t = c->config.event.table;
	const struct erratum *e = c->config.erratum;
	char remedy[sizeof(c->status.remedy)];

	if (n->quality > PFM_QUALITY_SCALED)
		return;
	n->cause = PFM_CAUSE_ERRATUM;
	if (e->instead_plus1)
		snprintf(remedy, sizeof(remedy), "count %s instead",
		         table_get_row_name(t, e->instead_plus1 - 1u));
	else
		snprintf(remedy, sizeof(remedy), "%s", table_get_text(t, e->workaround));
	pfmi_session_set_reason(c, n->cause, remedy, "erratum %s: %s", table_get_text(t, e->ids),
	                        table_get_text(t, e->effect));
}

/* Sets quality and value of count @i. True if it is exact without remarks. */
static inline bool assess_count(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	bool clear = is_clearly_exact(&s->counts[i], &counts[i]);

	counts[i].scale = s->counts[i].config.scale;
	if (!clear)
		assess_inexact_count(s, i, counts);
	if (s->processor.has_changed)
		explain_other_cpu(s, &s->counts[i], &counts[i]);
	if (s->counts[i].config.erratum)
		explain_erratum(&s->counts[i], &counts[i]);
	return clear && !s->counts[i].config.erratum;
}

void pfmi_session_assess_quality(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	s->reading.is_all_exact &= assess_count(s, i, counts);
}

void pfmi_session_mark_pretended(struct pfm_session *s, pfm_count_t *counts, unsigned n)
{
	if (!context_is_pretended(s->ctx))
		return;
	s->reading.is_all_exact = false;
	for (unsigned i = 0; i < n; i++)
		if (counts[i].quality <= PFM_QUALITY_PARTIAL)
			counts[i].quality = PFM_QUALITY_PRETENDED;
}

void pfmi_session_assess_all_qualities(struct pfm_session *s, pfm_count_t *counts)
{
	bool clear = true;

	for (unsigned i = 0; i < s->n_counts; i++)
		clear &= assess_count(s, i, counts);
	s->reading.is_all_exact = clear;
}

/* Sets quality and value of the difference @d, whose numbers are set, from a count that was
 * @before. */
static void assess_counted_difference(const pfm_count_t *before, pfm_count_t *d, uint64_t value)
{
	bool exact = before->quality == PFM_QUALITY_EXACT && d->quality == PFM_QUALITY_EXACT;

	d->value = d->raw;
	if (d->enabled == 0 && d->running == 0) {
		d->value = 0;
		d->quality = PFM_QUALITY_NOT_COUNTED;
		d->cause = d->cause ? d->cause : PFM_CAUSE_NO_TIME;
	} else if (exact || d->running >= d->enabled) {
		/* The counter was shared only before the interval. */
		if (d->quality == PFM_QUALITY_SCALED) {
			d->quality = PFM_QUALITY_EXACT;
			d->cause = PFM_CAUSE_NONE;
		}
	} else if (d->running == 0) {
		d->value = 0;
		d->quality = PFM_QUALITY_NOT_COUNTED;
		d->cause = d->cause ? d->cause : PFM_CAUSE_MULTIPLEXED;
	} else if (d->quality == PFM_QUALITY_PARTIAL) {
		d->value = d->value > value ? d->value : value;
	} else {
		d->value = pfmi_session_extrapolate_value(d->raw, d->enabled, d->running);
		d->quality = PFM_QUALITY_SCALED;
		d->cause = d->cause ? d->cause : PFM_CAUSE_MULTIPLEXED;
	}
}

/* The difference of pretended counts is pretended. */
static void assess_difference(const pfm_count_t *before, pfm_count_t *d, uint64_t value)
{
	const pfm_quality_t quality = d->quality;
	pfm_count_t earlier = *before;

	earlier.quality = pfm_counter_quality(before->quality, before->cause);
	d->quality = pfm_counter_quality(d->quality, d->cause);
	assess_counted_difference(&earlier, d, value);
	if (quality > PFM_QUALITY_NOT_SUPPORTED && d->quality <= PFM_QUALITY_PARTIAL)
		d->quality = quality;
}

int pfm_subtract_counts(const pfm_count_t *earlier, const pfm_count_t *later, int is_level,
                        pfm_count_t *out)
{
	pfm_count_t a, d;
	bool reset;

	if (!earlier || !later || !base_has_struct_size(out) ||
	    !base_copy_struct_in(&a, sizeof(a), earlier) ||
	    !base_copy_struct_in(&d, sizeof(d), later))
		return PFMLIB_ERR_INVAL;
	reset = d.raw < a.raw || d.enabled < a.enabled || d.running < a.running;
	if (!is_level && !reset && pfm_counter_quality(d.quality, d.cause) <= PFM_QUALITY_PARTIAL) {
		uint64_t value = d.value > a.value ? d.value - a.value : 0;

		d.raw -= a.raw;
		d.enabled -= a.enabled;
		d.running -= a.running;
		assess_difference(&a, &d, value);
	}
	base_copy_struct_out(out, &d, sizeof(d));
	return PFMLIB_SUCCESS;
}

const char *pfm_quality_name(pfm_quality_t quality)
{
	static const char names[][16] = { "exact",         "scaled",    "partial",  "not counted",
		                          "not supported", "pretended", "simulated" };

	return quality >= 0 && quality <= PFM_QUALITY_SIMULATED ? names[quality] : "";
}

pfm_quality_t pfm_counter_quality(pfm_quality_t quality, pfm_cause_t cause)
{
	if (quality != PFM_QUALITY_PRETENDED && quality != PFM_QUALITY_SIMULATED)
		return quality;
	switch (cause) {
	case PFM_CAUSE_NONE:
	case PFM_CAUSE_ERRATUM: return PFM_QUALITY_EXACT;
	case PFM_CAUSE_MULTIPLEXED: return PFM_QUALITY_SCALED;
	default: return PFM_QUALITY_PARTIAL;
	}
}

const char *pfm_cause_name(pfm_cause_t cause)
{
	static const char names[][16] = {
		"",          "no PMU",    "permission", "busy",      "group",     "multiplexed",
		"files",     "attribute", "no process", "no CPU",    "memory",    "no time",
		"no kernel", "other",     "lost",       "throttled", "other CPU", "erratum",
	};

	return cause >= 0 && cause <= PFM_CAUSE_ERRATUM ? names[cause] : "";
}
