/* SPDX-License-Identifier: MIT */
/* pfm record: reports numbers of samples and losses. */
#include "common/command_rights.h"
#include "record/recorder.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>
#include "profile/sample_visitor.h"

void report_lost_samples(const struct recorder *job)
{
	unsigned n = pfm_session_size(job->session);

	for (unsigned i = 0; i < n; i++) {
		pfm_sample_statistics_t c = PFM_INIT(c);
		pfm_count_info_t info = PFM_INIT(info);

		if (pfm_sampling_statistics(job->session, i, &c) ||
		    pfm_describe_count(job->session, i, &info))
			continue;
		if (c.lost && c.lost != PFM_LOST_UNKNOWN)
			fprintf(stderr,
			        RECORD_COMMAND
			        ": %s: %llu samples lost; larger buffers (-m) or fewer samples "
			        "(-c, -F) help\n",
			        info.name, (unsigned long long)c.lost);
		if (c.discarded && is_on_device(job))
			fprintf(stderr,
			        RECORD_COMMAND
			        ": %s: %llu samples were outside the range of --device\n",
			        info.name, (unsigned long long)c.discarded);
	}
}

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

/* Prints why event @i has no samples. */
static void explain_no_samples(const struct recorder *job, unsigned i,
                               const pfm_sample_statistics_t *c, const pfm_count_info_t *info)
{
	pfm_count_t count = PFM_INIT(count);
	bool is_command = job->command && !job->pid && !job->all_cpus && !job->cpus;
	char facts[160] = "";
	double unseen;

	if (pfm_read_count(job->session, i, &count))
		return;
	unseen = get_command_seconds(job) - (double)count.enabled / 1e9;
	fprintf(stderr, RECORD_COMMAND ": %s: no samples: ", info->name);
	if (is_command)
		read_command_rights(job->command, facts, sizeof(facts));
	if (is_command && unseen > TICK_SECONDS && unseen > (double)count.enabled / 4e9)
		fprintf(stderr, "%s (ran for %.3f s, enabled for %.3f s%s)\n",
		        *facts ? "the kernel does not permit sampling the command: it has more "
		                 "rights than its caller (set-user-ID), or its file is not readable"
		               : "the command ran while it was not enabled: it may have started a "
		                 "program with more rights than its caller (set-user-ID)",
		        get_command_seconds(job), (double)count.enabled / 1e9, facts);
	else if (count.value && c->period && count.value < c->period)
		fprintf(stderr,
		        "%llu events are fewer than a period of %llu; use a shorter one (-c)\n",
		        (unsigned long long)count.value, (unsigned long long)c->period);
	else if (count.value && is_clock(info) && !counts_excluded_levels(info))
		fprintf(stderr,
		        "%llu ns passed, but no timer fired on time; use a shorter period (-c) or "
		        "a higher frequency (-F)\n",
		        (unsigned long long)count.value);
	else if (count.value && !counts_excluded_levels(info))
		fprintf(stderr,
		        "%llu events were counted, but no interrupt came: sample a clock (-e "
		        "cpu-clock)\n",
		        (unsigned long long)count.value);
	else if (!count.enabled)
		fputs("nothing ran while it was enabled (for 0 ns)\n", stderr);
	else if (info->attr.exclude_kernel || info->attr.exclude_user)
		fprintf(stderr, "the event did not occur in %s code, and only that was sampled\n",
		        info->attr.exclude_kernel ? "user" : "kernel");
	else
		fputs("the event did not occur\n", stderr);
}

#define MAX_CHECKED_SIZE                                                                           \
	(64u << 20) /* bytes of a recording that is read again to look for samples */

/* Counts the samples of event @name in the recording @s, and those of unknown events, up to
 * @most. */
static uint64_t count_samples_of(pfm_session_t *s, const char *name, uint64_t most)
{
	struct profile_losses losses = { .records = 0 };
	pfm_count_info_t info = PFM_INIT(info);
	struct sample_visitor visit;
	struct visited_sample sample;
	uint64_t n = 0;

	begin_sample_visit(&visit, s, SOURCE_RECORDING, &losses, NULL);
	while (n < most && visit_next_sample(&visit, &sample) == 1)
		n += pfm_describe_count(s, sample.event, &info) != PFMLIB_SUCCESS ||
		     strcmp(info.name, name) == 0;
	end_sample_visit(&visit);
	return n + losses.without_event;
}

/* Counts the samples of event @name, up to @most. @most if the recording cannot be read. */
static uint64_t count_samples(const struct recorder *job, const char *name, uint64_t most)
{
	pfm_session_t *s = NULL;
	uint64_t n = pfm_open_recording(&s, job->output, NULL) != PFMLIB_SUCCESS
	                     ? most
	                     : count_samples_of(s, name, most);

	pfm_close_session(s);
	return n;
}

/* Fewer expected samples prove nothing: each task and CPU ends within a period. */
enum { MIN_EXPECTED_SAMPLES = 100 };

/* The number of samples below which event @i has too few for its count and period; 1: only none is
 * too few. *@count: the count. */
static uint64_t get_fewest_samples(const struct recorder *job, unsigned i,
                                   const pfm_sample_statistics_t *c, const pfm_count_info_t *info,
                                   pfm_count_t *count)
{
	const uint64_t lost = c->lost == PFM_LOST_UNKNOWN ? 0 : c->lost;
	uint64_t half;

	if (!c->period || c->throttled || counts_excluded_levels(info) ||
	    pfm_read_count(job->session, i, count))
		return 1;
	half = count->value / c->period / 2;
	return half < MIN_EXPECTED_SAMPLES / 2 || half <= lost + c->discarded
	               ? 1
	               : half - lost - c->discarded;
}

static void report_few_samples(const pfm_sample_statistics_t *c, const pfm_count_info_t *info,
                               uint64_t samples, const pfm_count_t *count)
{
	fprintf(stderr,
	        RECORD_COMMAND
	        ": %s: %llu samples, but %llu events make %llu at a period of %llu: few of the "
	        "interrupts were delivered\n",
	        info->name, (unsigned long long)samples, (unsigned long long)count->value,
	        (unsigned long long)(count->value / c->period), (unsigned long long)c->period);
}

void explain_missing_samples(const struct recorder *job)
{
	unsigned n = job->size > MAX_CHECKED_SIZE ? 0 : pfm_session_size(job->session);

	for (unsigned i = 0; i < n; i++) {
		pfm_sample_statistics_t c = PFM_INIT(c);
		pfm_count_info_t info = PFM_INIT(info);
		pfm_count_t count = PFM_INIT(count);
		uint64_t samples, fewest;

		if (pfm_sampling_statistics(job->session, i, &c) ||
		    pfm_describe_count(job->session, i, &info) || *info.why)
			continue;
		fewest = get_fewest_samples(job, i, &c, &info, &count);
		samples = count_samples(job, info.name, fewest);
		if (!samples)
			explain_no_samples(job, i, &c, &info);
		else if (samples < fewest)
			report_few_samples(&c, &info, samples, &count);
	}
}

void report_recording(const struct recorder *job)
{
	bool is_usual = strcmp(job->output, "perf.data") == 0;

	if (is_record_round)
		return;
	fprintf(stderr, RECORD_COMMAND ": %.1f MB in %s; 'pfm report%s%s%s' shows them\n",
	        (double)job->size / 1e6, job->output, job->metrics ? " --metrics" : "",
	        is_usual ? "" : " ", is_usual ? "" : job->output);
}

int export_result(const struct recorder *job)
{
	int status = export_recording(job->format, job->output, job->exported, NULL, false, false,
	                              job->wants_waits);

	if (status == EXIT_DONE) {
		unlink(job->output);
		remove_stored_files(&job->kept_files, job->output);
		fprintf(stderr, RECORD_COMMAND ": samples are in %s\n", job->exported);
	} else {
		fprintf(stderr, RECORD_COMMAND ": the recording is kept in %s\n", job->output);
	}
	return status;
}
