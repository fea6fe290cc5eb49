/* SPDX-License-Identifier: MIT */
/* pfm record: reports numbers of samples and losses. */
#include "record/recorder.h"

#include <string.h>
#include <unistd.h>

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

/* Prints why event @i has no samples. */
static void explain_no_samples(const struct recorder *job, unsigned i,
                               const pfm_sample_statistics_t *c, const pfm_count_info_t *info)
{
	pfm_count_t count = PFM_INIT(count);
	bool is_command = job->command && !job->pid && !job->all_cpus && !job->cpus;
	double unseen;

	if (pfm_read_count(job->session, i, &count))
		return;
	unseen = get_command_seconds(job) - (double)count.enabled / 1e9;
	fprintf(stderr, RECORD_COMMAND ": %s: no samples: ", info->name);
	if (is_command && unseen > TICK_SECONDS && unseen > (double)count.enabled / 4e9)
		fputs("the kernel does not permit sampling the command: it has more rights than "
		      "its caller (set-user-ID), or its file is not readable\n",
		      stderr);
	else if (count.value && c->period && count.value < c->period)
		fprintf(stderr,
		        "%llu events are fewer than a period of %llu; use a shorter one (-c)\n",
		        (unsigned long long)count.value, (unsigned long long)c->period);
	else if (count.value)
		fprintf(stderr,
		        "%llu events were counted, but no interrupt came: sample a clock (-e "
		        "cpu-clock)\n",
		        (unsigned long long)count.value);
	else if (!count.enabled)
		fputs("nothing ran while it was enabled\n", stderr);
	else if (info->attr.exclude_kernel || info->attr.exclude_user)
		fprintf(stderr, "the event did not occur in %s code, and only that was sampled\n",
		        info->attr.exclude_kernel ? "user" : "kernel");
	else
		fputs("the event did not occur\n", stderr);
}

#define MAX_CHECKED_SIZE                                                                           \
	(64u << 20) /* bytes of a recording that is read again to look for samples */

/* True if the recording @s has a sample of event @name. Reads up to the first one. */
static bool has_sample_of(pfm_session_t *s, const char *name)
{
	pfm_record_t record = PFM_INIT(record);
	pfm_count_info_t info = PFM_INIT(info);

	while (pfm_next_record(s, &record) == 1)
		if (record.type == PFM_RECORD_SAMPLE &&
		    (record.event == PFM_NO_EVENT ||
		     pfm_describe_count(s, record.event, &info) != PFMLIB_SUCCESS ||
		     strcmp(info.name, name) == 0))
			return true;
	return false;
}

static bool is_sampled(const struct recorder *job, const char *name)
{
	pfm_session_t *s = NULL;
	bool is = pfm_open_recording(&s, job->output, NULL) != PFMLIB_SUCCESS ||
	          has_sample_of(s, name);

	pfm_close_session(s);
	return is;
}

void explain_missing_samples(const struct recorder *job)
{
	unsigned n = job->size > MAX_CHECKED_SIZE ? 0 : pfm_session_size(job->session);

	for (unsigned i = 0; i < n; i++) {
		pfm_sample_statistics_t c = PFM_INIT(c);
		pfm_count_info_t info = PFM_INIT(info);

		if (pfm_sampling_statistics(job->session, i, &c) ||
		    pfm_describe_count(job->session, i, &info) || *info.why)
			continue;
		if (!is_sampled(job, info.name))
			explain_no_samples(job, i, &c, &info);
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
	int status = export_recording(job->format, job->output, job->exported, NULL, false, false);

	if (status == EXIT_DONE) {
		unlink(job->output);
		fprintf(stderr, RECORD_COMMAND ": samples are in %s\n", job->exported);
	} else {
		fprintf(stderr, RECORD_COMMAND ": the recording is kept in %s\n", job->output);
	}
	return status;
}
