/* SPDX-License-Identifier: MIT */
/* pfm record: the loop from the start of the command to its end. */
#include "record/recorder.h"

#include "archive/archive.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* forwarded: the signal that the command must get; 0: no signal */
static volatile sig_atomic_t interrupted, forwarded, ended;

/* The terminal sends an interrupt to the command as well; other signals are passed on to it. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (sig == SIGCHLD) {
		ended = 1;
		return;
	}
	interrupted = 1;
	if ((sig != SIGINT && sig != SIGQUIT) || info->si_code == SI_USER)
		forwarded = sig;
}

/* Catches signals that would end the recorder, unless its caller ignores them, as nohup does. */
static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, was;

	sigaction(SIGCHLD, &act, NULL);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(ends[i], &act, NULL);
}

/* Counts samples lost in full buffers by reading the events, which precede records of losses. */
static uint64_t count_losses(pfm_session_t *s)
{
	unsigned n = pfm_session_size(s);
	uint64_t lost = 0;

	for (unsigned i = 0; i < n; i++) {
		pfm_sample_statistics_t c = PFM_INIT(c);

		if (pfm_sampling_statistics(s, i, &c) == PFMLIB_SUCCESS &&
		    c.lost != PFM_LOST_UNKNOWN)
			lost += c.lost;
	}
	return lost;
}

static void show_progress(const struct recorder *job)
{
	pfm_buffer_info_t b = PFM_INIT(b);
	uint64_t lost = count_losses(job->session);
	char line[120], lost_text[40] = "";

	pfm_buffer_statistics(job->session, &b);
	if (lost)
		snprintf(lost_text, sizeof(lost_text), ", %llu samples lost",
		         (unsigned long long)lost);
	snprintf(line, sizeof(line), "%.0f s, %.1f MB%s%s",
	         (double)(now_ns() - job->start_time) / 1e9, (double)job->size / 1e6, lost_text,
	         b.damaged ? ", a buffer was damaged" : "");
	term_progress(stderr, line);
}

static int write_records(struct recorder *job)
{
	if (!job->recording || pfm_write_records(job->recording, &job->size) == PFMLIB_SUCCESS) {
		if (!is_renamed_round)
			keep_mapped_files(&job->kept_files, job->output, job->size);
		return EXIT_DONE;
	}
	fprintf(stderr, RECORD_COMMAND ": %s: %s\n", job->output,
	        strerror(pfm_session_errno(job->session)));
	return EXIT_REFUSED;
}

static bool is_recording_over(struct recorder *job, int *wait_status)
{
	if (!job->command || !ended || job->child.pid <= 0 ||
	    wait4(job->child.pid, wait_status, WNOHANG, &job->usage) != job->child.pid)
		return false;
	job->child.pid = 0;
	return true;
}

/* Opens the file, which begins with the current tasks. With a delay it is opened when sampling
 * begins. */
static int open_file(struct recorder *job)
{
	pfm_error_t error = PFM_INIT(error);
	char line[4096] = "pfm record";
	size_t at = strlen(line);

	if (job->metrics)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "\n-M\n%s\n--", job->metrics);
	for (char **p = job->command; p && *p && at < sizeof(line); p++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "\n%s", *p);
	if (pfm_create_recording(&job->recording, job->output, job->session, line, &error) !=
	    PFMLIB_SUCCESS) {
		fprintf(stderr, RECORD_COMMAND ": %s: %s\n", job->output,
		        error.sys_errno ? describe_output_error(error.sys_errno) : error.detail);
		return EXIT_REFUSED;
	}
	remove_earlier_visits(job->output);
	if (job->compress && pfm_compress_recording(job->recording, 1) != PFMLIB_SUCCESS)
		fputs(RECORD_COMMAND ": not compressed: libzstd.so.1 is missing\n", stderr);
	return EXIT_DONE;
}

static int start_sampling(struct recorder *job)
{
	if (pfm_start_session(job->session) == PFMLIB_SUCCESS)
		return job->recording ? EXIT_DONE : open_file(job);
	fprintf(stderr, RECORD_COMMAND ": cannot start: %s\n",
	        strerror(pfm_session_errno(job->session)));
	return EXIT_REFUSED;
}

/* Executes the commands of the controlling program. True, with *@status set, after "stop" or if
 * sampling cannot start. */
static bool serve_control(struct recorder *job, int *status)
{
	enum control_word word;

	while ((word = control_next(&job->control)) != CONTROL_NOTHING) {
		if (word == CONTROL_ENABLE)
			*status = start_sampling(job);
		else if (word == CONTROL_DISABLE || word == CONTROL_STOP)
			pfm_stop_session(job->session);
		else if (word == CONTROL_EVLIST)
			for (unsigned i = 0; i < job->events.n; i++)
				fprintf(stderr, "%s\n", job->events.texts[i]);
		if (word == CONTROL_UNKNOWN)
			fprintf(stderr,
			        RECORD_COMMAND ": --control: unknown command '%s' is ignored\n",
			        job->control.line);
		else
			control_acknowledge(&job->control);
		if (word == CONTROL_STOP || *status != EXIT_DONE)
			return true;
	}
	return false;
}

enum { WAIT_MS = 100, MAX_BUFFERS = 256 };

/* Waits for samples, and for commands with --control. */
static int wait_for_more(struct recorder *job)
{
	int fds[MAX_BUFFERS];
	unsigned n;

	if (!job->control.on)
		return pfm_wait_session(job->session, WAIT_MS);
	n = pfm_session_fds(job->session, fds, MAX_BUFFERS);
	control_wait(&job->control, NULL, fds, n < MAX_BUFFERS ? n : MAX_BUFFERS,
	             (uint64_t)WAIT_MS * 1000000);
	return pfm_wait_session(job->session, 0);
}

static int record_session(struct recorder *job, int *wait_status)
{
	int status = EXIT_DONE, woken = PFM_WAIT_TIMEOUT;
	bool done = false;

	while (status == EXIT_DONE && !done && woken != PFM_WAIT_ENDED && woken >= 0) {
		woken = wait_for_more(job);
		status = write_records(job);
		done = (job->control.on && serve_control(job, &status)) ||
		       is_recording_over(job, wait_status) || (interrupted && job->child.pid <= 0);
		show_progress(job);
		if (forwarded && job->child.pid > 0)
			child_signal(&job->child, forwarded);
		forwarded = 0;
	}
	/* End the command after a failure, or after the end of the sampled tasks. */
	if (job->child.pid > 0) {
		if (status != EXIT_DONE || forwarded)
			child_signal(&job->child, forwarded ? forwarded : SIGTERM);
		while (wait4(job->child.pid, wait_status, 0, &job->usage) < 0 && errno == EINTR)
			;
		job->child.pid = 0;
	}
	pfm_stop_session(job->session);
	if (status == EXIT_DONE && !job->recording)
		status = open_file(job); /* the controlling program never sent "enable" */
	return status == EXIT_DONE ? write_records(job) : status;
}

static int start_recording(struct recorder *job)
{
	int status = job->start_off ? EXIT_DONE : start_sampling(job);

	job->start_time = now_ns();
	if (status != EXIT_DONE || !job->command)
		return status;
	return child_start(job->command, &job->child);
}

int record_until_end(struct recorder *job)
{
	int status, wait_status = 0;
	sigset_t before;

	sigprocmask(SIG_SETMASK, NULL, &before);
	status = begin_visits(&job->visits);
	if (job->command && status == EXIT_DONE)
		status = child_prepare(job->command, &before, &job->child);
	clear_visit_variables(&job->visits, job->child.pid);
	if (status == EXIT_DONE)
		status = open_record_session(job);
	catch_signals();
	if (status == EXIT_DONE)
		status = start_recording(job);
	if (status != EXIT_DONE)
		return status;
	status = record_session(job, &wait_status);
	if (job->recording && pfm_close_recording(job->recording) != PFMLIB_SUCCESS &&
	    status == EXIT_DONE) {
		fprintf(stderr, RECORD_COMMAND ": %s: %s\n", job->output,
		        strerror(pfm_session_errno(job->session)));
		status = EXIT_REFUSED;
	}
	job->recording = NULL;
	term_progress(stderr, "");
	if (!is_renamed_round)
		store_kept_files(&job->kept_files, job->output);
	report_lost_samples(job);
	if (!is_on_device(job))
		explain_missing_samples(job);
	if (!is_on_device(job))
		report_short_processes(job);
	if (status == EXIT_DONE && job->wants_json)
		status = put_result(job);
	if (status == EXIT_DONE && job->format)
		status = export_result(job);
	else
		report_recording(job);
	if (status == EXIT_DONE && job->command)
		status = write_visits(&job->visits, job->output, job->command[0], wait_status);
	if (status == EXIT_DONE && job->wants_bundle)
		status = archive_recording(job->output, NULL);
	if (status != EXIT_DONE || !job->command)
		return status;
	return child_get_status(job->command[0], wait_status);
}
