/* SPDX-License-Identifier: MIT */
/* pfm record: why an event has no samples, or fewer than its count and its period make, with the
 * facts that were read. */
#include "common/command_rights.h"
#include "record/missing_samples.h"

#include <linux/perf_event.h>
#include <string.h>

#define TICK_SECONDS 0.01

static double get_command_seconds(const struct recorder *job)
{
	const struct timeval *user = &job->usage.ru_utime, *system = &job->usage.ru_stime;

	return (double)(user->tv_sec + system->tv_sec) +
	       (double)(user->tv_usec + system->tv_usec) / 1e6;
}

static bool is_clock(const pfm_count_info_t *info)
{
	return info->attr.type == PERF_TYPE_SOFTWARE &&
	       info->attr.config <= PERF_COUNT_SW_TASK_CLOCK;
}

/* Does the event count where it is not sampled? Clocks of the kernel count time at all levels, and
 * drop samples at those that are excluded. */
static bool counts_excluded_levels(const pfm_count_info_t *info)
{
	return is_clock(info) && (info->attr.exclude_kernel || info->attr.exclude_user);
}

/* The recorder samples a command alone, which may be a program with more rights. */
static bool samples_command_alone(const struct recorder *job)
{
	return job->command && !job->pid && !job->all_cpus && !job->cpus;
}

/* True, with @m filled, if the command ran for longer than the event was enabled. */
static bool has_run_unseen(const struct recorder *job, const pfm_count_t *count,
                           struct missing_samples *m)
{
	const double ran = get_command_seconds(job), enabled = (double)count->enabled / 1e9;
	char facts[160] = "";

	if (!samples_command_alone(job) || ran - enabled <= TICK_SECONDS ||
	    ran - enabled <= enabled / 4)
		return false;
	read_command_rights(job->command, facts, sizeof(facts));
	snprintf(
		m->why, sizeof(m->why), "%s",
		*facts ? "the kernel does not permit sampling the command: it has more rights than "
			 "its caller (set-user-ID), or its file is not readable"
		       : "the command ran while it was not enabled: it may have started a program "
			 "with more rights than its caller (set-user-ID)");
	snprintf(m->evidence, sizeof(m->evidence), "ran for %.3f s, enabled for %.3f s%s", ran,
	         enabled, facts);
	m->shows_evidence = true;
	return true;
}

/* Finds why an event has no samples, from its count. */
static void explain_no_samples(const pfm_sample_statistics_t *c, const pfm_count_info_t *info,
                               const pfm_count_t *count, struct missing_samples *m)
{
	const unsigned long long value = count->value, period = c->period;
	const bool has_all_levels = !counts_excluded_levels(info);
	const size_t size = sizeof(m->why);

	if (value && period && value < period)
		snprintf(m->why, size,
		         "%llu events are fewer than a period of %llu; use a shorter one (-c)",
		         value, period);
	else if (value && is_clock(info) && has_all_levels)
		snprintf(m->why, size,
		         "%llu ns passed, but no timer fired on time; use a shorter period (-c) or "
		         "a higher frequency (-F)",
		         value);
	else if (value && has_all_levels)
		snprintf(m->why, size,
		         "%llu events were counted, but no interrupt came: sample a clock (-e "
		         "cpu-clock)",
		         value);
	else if (!count->enabled)
		snprintf(m->why, size, "nothing ran while it was enabled (for 0 ns)");
	else if (info->attr.exclude_kernel || info->attr.exclude_user)
		snprintf(m->why, size,
		         "the event did not occur in %s code, and only that was sampled",
		         info->attr.exclude_kernel ? "user" : "kernel");
	else
		snprintf(m->why, size, "the event did not occur");
	snprintf(m->evidence, sizeof(m->evidence), "counted %llu, enabled for %.3f s", value,
	         (double)count->enabled / 1e9);
}

/* Fewer expected samples prove nothing: each task and CPU ends within a period. */
enum { MIN_EXPECTED_SAMPLES = 100 };

uint64_t get_fewest_samples(const struct recorded_event *e)
{
	const pfm_sample_statistics_t *c = &e->statistics;
	const uint64_t lost = c->lost == PFM_LOST_UNKNOWN ? 0 : c->lost;
	uint64_t half;

	if (!c->period || c->throttled || counts_excluded_levels(&e->info))
		return 1;
	half = e->count.value / c->period / 2;
	return half < MIN_EXPECTED_SAMPLES / 2 || half <= lost + c->discarded
	               ? 1
	               : half - lost - c->discarded;
}

static void explain_few_samples(const pfm_sample_statistics_t *c, uint64_t samples,
                                const pfm_count_t *count, struct missing_samples *m)
{
	snprintf(m->why, sizeof(m->why),
	         "%llu samples, but %llu events make %llu at a period of %llu: few of the "
	         "interrupts were delivered",
	         (unsigned long long)samples, (unsigned long long)count->value,
	         (unsigned long long)(count->value / c->period), (unsigned long long)c->period);
	snprintf(m->evidence, sizeof(m->evidence), "counted %llu, period %llu",
	         (unsigned long long)count->value, (unsigned long long)c->period);
}

void find_missing_samples(const struct recorder *job, const struct recorded_event *e,
                          uint64_t samples, struct missing_samples *m)
{
	*m = (struct missing_samples){ .why = "" };
	if (!samples && !has_run_unseen(job, &e->count, m))
		explain_no_samples(&e->statistics, &e->info, &e->count, m);
	else if (samples && samples < get_fewest_samples(e))
		explain_few_samples(&e->statistics, samples, &e->count, m);
}

bool read_recorded_event(const struct recorder *job, unsigned i, struct recorded_event *e)
{
	*e = (struct recorded_event){ .statistics = PFM_INIT(e->statistics),
		                      .info = PFM_INIT(e->info),
		                      .count = PFM_INIT(e->count) };
	return pfm_sampling_statistics(job->session, i, &e->statistics) == PFMLIB_SUCCESS &&
	       pfm_describe_count(job->session, i, &e->info) == PFMLIB_SUCCESS &&
	       pfm_read_count(job->session, i, &e->count) == PFMLIB_SUCCESS;
}
