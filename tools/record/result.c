/* SPDX-License-Identifier: MIT */
/* pfm record: reports numbers of samples and losses. */
#include "record/missing_samples.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/json.h"
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

static void report_missing_samples(const struct recorded_event *e, uint64_t samples,
                                   const struct missing_samples *m)
{
	if (*m->why)
		fprintf(stderr, RECORD_COMMAND ": %s: %s%s%s%s%s\n", e->info.name,
		        samples ? "" : "no samples: ", m->why, m->shows_evidence ? " (" : "",
		        m->shows_evidence ? m->evidence : "", m->shows_evidence ? ")" : "");
}

void explain_missing_samples(const struct recorder *job)
{
	unsigned n = job->size > MAX_CHECKED_SIZE ? 0 : pfm_session_size(job->session);

	for (unsigned i = 0; i < n; i++) {
		struct recorded_event e;
		struct missing_samples m;
		uint64_t samples;

		if (!read_recorded_event(job, i, &e) || *e.info.why)
			continue;
		samples = count_samples(job, e.info.name, get_fewest_samples(&e));
		find_missing_samples(job, &e, samples, &m);
		report_missing_samples(&e, samples, &m);
	}
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void put_event_losses(struct json *j, const pfm_sample_statistics_t *c)
{
	if (c->lost != PFM_LOST_UNKNOWN)
		put_count(j, "lost", c->lost);
	put_count(j, "discarded", c->discarded);
	put_count(j, "throttled", c->throttled);
}

/* Writes why samples are missing, or why there can be none, with the facts. */
static void put_reason(struct json *j, const struct recorder *job, const struct recorded_event *e,
                       const uint64_t *samples)
{
	struct missing_samples m = { .why = "" };

	if (*e->info.why) {
		put_text(j, "quality", pfm_quality_name(e->count.quality));
		put_text(j, "cause", pfm_cause_name(e->count.cause));
		put_text(j, "why", e->info.why);
		put_text_if(j, "remedy", e->info.remedy);
		put_text_if(j, "evidence", e->info.evidence);
		return;
	}
	if (samples && !is_on_device(job))
		find_missing_samples(job, e, *samples, &m);
	put_text_if(j, "why", m.why);
	put_text_if(j, "evidence", m.evidence);
}

static void put_event(struct json *j, const struct recorder *job, const struct recorded_event *e)
{
	const bool is_readable = job->size <= MAX_CHECKED_SIZE;
	const uint64_t samples =
		is_readable ? count_samples(job, e->info.name, UINT64_MAX) : UINT64_MAX;

	put_begin(j, NULL, '{');
	put_text(j, "event", e->info.name);
	if (samples != UINT64_MAX)
		put_count(j, "samples", samples);
	put_event_losses(j, &e->statistics);
	put_count(j, "count", e->count.value);
	put_count(j, "enabled", e->count.enabled);
	put_count(j, "running", e->count.running);
	if (e->statistics.period)
		put_count(j, "period", e->statistics.period);
	if (e->statistics.freq)
		put_count(j, "frequency", e->statistics.freq);
	put_reason(j, job, e, samples != UINT64_MAX ? &samples : NULL);
	put_end(j, '}');
	put_line(j);
}

int put_result(const struct recorder *job)
{
	struct json j = { .out = stdout };
	struct recorded_event e;
	struct stat st;

	for (unsigned i = 0; i < pfm_session_size(job->session); i++)
		if (read_recorded_event(job, i, &e))
			put_event(&j, job, &e);
	put_begin(&j, NULL, '{');
	put_text(&j, "file", job->exported ? job->exported : job->output);
	if (!job->exported && stat(job->output, &st) == 0)
		put_count(&j, "bytes", (uint64_t)st.st_size);
	put_end(&j, '}');
	put_line(&j);
	/* A round or run ends without the flush at the end of a command. */
	if (fflush(stdout) == 0)
		return EXIT_DONE;
	fprintf(stderr, RECORD_COMMAND ": cannot write the output: %s\n", strerror(errno));
	return EXIT_REFUSED;
}

/* ---- the file -------------------------------------------------------------------------------- */

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
