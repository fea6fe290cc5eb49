/* SPDX-License-Identifier: MIT */
/* How far a count can be trusted. A value is extrapolated only from time it was really counted in, and where there is no
 * such time there is no value. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/sizes.h"
#include "base/text.h"
#include "session/session.h"
#include "context/context.h"

/* raw * enabled / running without losing a bit: the product has 128. */
uint64_t pfmi_extrapolate(uint64_t raw, uint64_t enabled, uint64_t running)
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
	/* Rounded to the nearest. */
	if (rest >= running - rest && q != UINT64_MAX)
		q++;
	return q;
}

static void say(struct counting *c, int about, const char *remedy, const char *fmt, va_list ap)
{
	c->told.about = about;
	vsnprintf(c->told.why, sizeof(c->told.why), fmt, ap);
	snprintf(c->told.remedy, sizeof(c->told.remedy), "%s", remedy);
}

void pfmi_tell(struct counting *c, int cause, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	if (c->told.cause)
		return; /* why it could not be opened says more than how the rest of it fared */
	va_start(ap, fmt);
	say(c, cause, remedy, fmt, ap);
	va_end(ap);
}

void pfmi_give_up(struct counting *c, int cause, int err, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	c->told.cause = cause;
	c->told.sys_errno = err;
	va_start(ap, fmt);
	say(c, cause, remedy, fmt, ap);
	va_end(ap);
}

static const char *device_name(const struct counting *c)
{
	return c->asked.device ? c->asked.device->name : table_text(c->asked.event.table, c->asked.event.table->name);
}

static void verdict(struct counting *c, pfm_count_t *n, int quality, int cause)
{
	n->quality = quality;
	n->cause = cause;
	if (cause == PFM_CAUSE_NONE && c->told.cause == PFM_CAUSE_NONE)
		c->told.about = PFM_CAUSE_NONE;
}

static unsigned percent(uint64_t part, uint64_t whole)
{
	return (unsigned)pfmi_extrapolate(100, part, whole);
}

#define FEWER "count fewer events at a time, or for longer"

static unsigned group_size(const struct pfm_session *s, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < s->n; k++)
		n += s->counts[k].asked.group == s->counts[i].asked.group;
	return n;
}

/* True if another event of the same PMU, outside of count @i's group, did get a counter. */
static bool others_ran(const struct pfm_session *s, unsigned i, const pfm_count_t *counts)
{
	for (unsigned k = 0; k < s->n; k++)
		if (s->counts[k].asked.group != s->counts[i].asked.group &&
		    s->counts[k].asked.attr.type == s->counts[i].asked.attr.type && counts[k].running)
			return true;
	return false;
}

/* Enabled for a while, but never on a counter. */
static void never_ran(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct counting *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	n->value = 0;
	if (c->asked.one_core) {
		verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
		pfmi_tell(c, n->cause, "", "nothing ran on the CPUs %s serves (%s)", device_name(c), c->asked.device->cpus);
	} else if (n->cause == PFM_CAUSE_BUSY) {
		verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
		pfmi_tell(c, n->cause, "leave the pinning (D) away, or count fewer events", "the pinned event could not keep its counter");
	} else if (others_ran(s, i, counts)) {
		verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_MULTIPLEXED);
		pfmi_tell(c, n->cause, FEWER, "more events than counters: its turn never came");
	} else if (group_size(s, i) > 1 && !c->opened.alone) {
		verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_GROUP);
		pfmi_tell(c, n->cause,
		          s->ctx->kernel && s->ctx->kernel->nmi_watchdog
		                  ? "switch the watchdog off (sysctl kernel.nmi_watchdog=0), or make the group smaller"
		                  : "make the group smaller, or let it be broken up (:W behind the brace)",
		          "the group never found enough free counters at once");
	} else {
		verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_BUSY);
		pfmi_tell(c, n->cause, "count it for longer; if that does not help, something else holds the counter it needs",
		          "it was switched on but never got a counter");
	}
}

/* Time on a counter, summed over the core types one event is counted on. A task is on one type at a time, so the times add up
 * to the whole if nothing was shared. */
static uint64_t ran_anywhere(const struct pfm_session *s, unsigned i, const pfm_count_t *counts)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < s->n; k++)
		if (k == i || (s->counts[i].asked.sibling && s->counts[k].asked.sibling == s->counts[i].asked.sibling))
			sum += counts[k].running;
	return sum;
}

/* Its task was elsewhere all the while. */
static void never_there(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct counting *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	if (ran_anywhere(s, i, counts)) {
		verdict(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE); /* on another type of core, which has a count of its own */
		return;
	}
	verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	pfmi_tell(c, n->cause, "see where it may run (taskset -p), or name no CPUs", "it never ran on the CPUs asked for (%s)",
	          s->options.cpus ? s->options.cpus : "");
}

static void no_time(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct counting *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	n->value = 0;
	if (c->opened.away) {
		never_there(s, i, counts);
		return;
	}
	verdict(c, n, PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_TIME);
	if (s->options.flags & PFM_SESSION_DRY_RUN)
		pfmi_tell(c, n->cause, "", "this was a dry run");
	else if (!s->started && !(s->options.flags & PFM_SESSION_ENABLE_ON_EXEC))
		pfmi_tell(c, n->cause, "start the session before reading it", "counting was never started");
	else
		pfmi_tell(c, n->cause, "count for longer", "nothing ran while it was switched on, or for less than a tick of the clock");
}

static void shared(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct counting *c = &s->counts[i];
	pfm_count_t *n = &counts[i];
	uint64_t ran = ran_anywhere(s, i, counts);

	if (c->asked.one_core) {
		n->value = n->raw;
		verdict(c, n, PFM_QUALITY_PARTIAL, PFM_CAUSE_NO_CPU);
		pfmi_tell(c, n->cause, c->asked.lacking ? "" : "name the event without a PMU to count it on every type of core",
		          "counted %u %% of the time: %s serves CPUs %s only%s%s%s", percent(n->running, n->enabled), device_name(c),
		          c->asked.device->cpus, c->asked.lacking ? ", and " : "", c->asked.lacking ? c->asked.lacking->name : "",
		          c->asked.lacking ? " does not have the event" : "");
		return;
	}
	/* Switching between core types costs moments in which neither counts. */
	if (c->asked.sibling && ran + n->enabled / 1000 >= n->enabled) {
		n->value = n->raw;
		verdict(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		return;
	}
	if (n->running == 0) {
		never_ran(s, i, counts);
		return;
	}
	if (c->asked.sibling)
		n->value = pfmi_extrapolate(n->raw, n->enabled, ran);
	verdict(c, n, PFM_QUALITY_SCALED, PFM_CAUSE_MULTIPLEXED);
	pfmi_tell(c, n->cause, FEWER, "more events than counters: counted %u %% of the time and extrapolated",
	          percent(ran, n->enabled));
}

/* A CPU was there of which it has nothing, for all or some of the time. */
static void lacks_cpu(struct counting *c, pfm_count_t *n)
{
	if (n->running == 0)
		n->value = 0;
	verdict(c, n, n->running ? PFM_QUALITY_PARTIAL : PFM_QUALITY_NOT_COUNTED, PFM_CAUSE_NO_CPU);
	pfmi_tell(c, n->cause, "open the session anew",
	          "a CPU has come on line, or came back, while it was counted: what happens there since is missing");
}

static void some_missing(struct counting *c, pfm_count_t *n)
{
	int cause = n->cause ? n->cause : PFM_CAUSE_MULTIPLEXED;

	verdict(c, n, PFM_QUALITY_PARTIAL, cause);
	if (cause == PFM_CAUSE_BUSY)
		pfmi_tell(c, cause, "leave the pinning (D) away, or count fewer events", "on some CPUs the pinned event lost its counter");
	else
		pfmi_tell(c, cause, FEWER, "on some CPUs or for some tasks its turn never came");
}

/* What could not be opened: ruled out here as it was asked (by processor, kernel or rights), or only missed this time. */
static int unopened(int cause)
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

static void judge_closely(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	struct counting *c = &s->counts[i];
	pfm_count_t *n = &counts[i];

	if (c->told.cause && !c->opened.n_open) {
		*n = (pfm_count_t){ .size = n->size, .quality = unopened(c->told.cause), .scale = c->asked.scale };
		n->cause = c->told.cause;
	} else if (n->cause == PFM_CAUSE_NO_CPU) {
		lacks_cpu(c, n);
	} else if (n->cause == PFM_CAUSE_BUSY && n->running == 0) {
		never_ran(s, i, counts);
	} else if (n->enabled == 0 && n->running == 0 && (n->raw == 0 || s->options.flags & PFM_SESSION_DRY_RUN) && !c->asked.is_level) {
		no_time(s, i, counts);
	} else if (n->enabled == 0 || n->running >= n->enabled) {
		/* Clocks that tick slowly may show no time at all for a count that is there. */
		if (n->quality == PFM_QUALITY_PARTIAL)
			some_missing(c, n);
		else
			verdict(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		if (n->enabled == 0)
			n->value = n->raw;
	} else if (n->running == 0 && !c->asked.sibling) {
		never_ran(s, i, counts);
	} else if (n->quality == PFM_QUALITY_PARTIAL && !c->asked.sibling && !c->asked.one_core) {
		some_missing(c, n);
	} else if (c->asked.is_level) {
		n->value = n->raw;
		verdict(c, n, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	} else {
		shared(s, i, counts);
	}
	/* What could not be opened somewhere is missing from the sum, whatever the rest is worth. */
	if (c->told.cause && c->opened.n_open && n->quality < PFM_QUALITY_NOT_COUNTED) {
		n->quality = PFM_QUALITY_PARTIAL;
		n->cause = c->told.cause;
	}
	n->sys_errno = n->cause == c->told.cause ? c->told.sys_errno : 0;
}

/* As nearly all are: exact, with nothing to say or to take back. */
static inline bool is_clear(const struct counting *c, const pfm_count_t *n)
{
	return n->quality == PFM_QUALITY_EXACT && n->running && n->running == n->enabled && !n->cause && !c->told.cause && !c->told.about;
}

/* True if it is clear. */
static inline bool judge(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	bool clear = is_clear(&s->counts[i], &counts[i]);

	counts[i].scale = s->counts[i].asked.scale;
	if (!clear)
		judge_closely(s, i, counts);
	return clear;
}

void pfmi_judge(struct pfm_session *s, unsigned i, pfm_count_t *counts)
{
	s->clear &= judge(s, i, counts);
}

void pfmi_judge_all(struct pfm_session *s, pfm_count_t *counts)
{
	bool clear = true;

	for (unsigned i = 0; i < s->n; i++)
		clear &= judge(s, i, counts);
	s->clear = clear;
}

/* Quality and value of the difference @d, whose numbers are in place, of a count that was @before. */
static void judge_between(const pfm_count_t *before, pfm_count_t *d, uint64_t value)
{
	bool exact = before->quality == PFM_QUALITY_EXACT && d->quality == PFM_QUALITY_EXACT;

	d->value = d->raw;
	if (exact || d->running >= d->enabled) {
		/* Whatever was shared was shared before. */
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
		d->value = pfmi_extrapolate(d->raw, d->enabled, d->running);
		d->quality = PFM_QUALITY_SCALED;
		d->cause = d->cause ? d->cause : PFM_CAUSE_MULTIPLEXED;
	}
}

int pfm_count_between(const pfm_count_t *earlier, const pfm_count_t *later, int is_level, pfm_count_t *out)
{
	pfm_count_t a, d;
	bool reset;

	if (!earlier || !later || !pfmi_sized(out) || !pfmi_take(&a, sizeof(a), earlier) || !pfmi_take(&d, sizeof(d), later))
		return PFMLIB_ERR_INVAL;
	reset = d.raw < a.raw || d.enabled < a.enabled || d.running < a.running;
	if (!is_level && !reset && d.quality < PFM_QUALITY_NOT_COUNTED) {
		uint64_t value = d.value > a.value ? d.value - a.value : 0;

		d.raw -= a.raw;
		d.enabled -= a.enabled;
		d.running -= a.running;
		judge_between(&a, &d, value);
	}
	pfmi_give(out, &d, sizeof(d));
	return PFMLIB_SUCCESS;
}

const char *pfm_quality_name(int quality)
{
	static const char names[][16] = { "exact", "scaled", "partial", "not counted", "not supported" };

	return quality >= 0 && quality <= PFM_QUALITY_NOT_SUPPORTED ? names[quality] : "";
}

const char *pfm_cause_name(int cause)
{
	static const char names[][16] = {
		"",
		"no PMU",
		"permission",
		"busy",
		"group",
		"multiplexed",
		"files",
		"attribute",
		"no process",
		"no CPU",
		"memory",
		"no time",
		"no kernel",
		"other",
		"lost",
		"throttled",
	};

	return cause >= 0 && cause <= PFM_CAUSE_THROTTLED ? names[cause] : "";
}
