/* SPDX-License-Identifier: MIT */
/* pfm record: samples of a command, a process, CPUs or the whole system, in a file. */
#include "http_url.h"
#include "pfm.h"
#include "sampling_session.h"
#include "record_rounds.h"
#include "stat.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "alpha/emulator.h"
#include "alpha/session.h"
#include "export.h"
#include "metric.h"
#include "record_metrics.h"
#include "record_fields.h"
#include <perfmon/perfmon.h>

#define ME "pfm record"

enum {
	OPT_MODEL = LONG_ONLY,
	OPT_DEVICE,
	OPT_CONTROL,
	OPT_CONTINUOUS,
	OPT_ROUND,
	OPT_EVERY,
	OPT_ROUNDS,
	OPT_KEEP_BYTES,
	OPT_KEEP_AGE,
	OPT_EACH_EVENT,
	OPT_PUSH,
	OPT_CALL_GRAPH,
	OPT_BRANCH_FILTER,
	OPT_MEMORY,
	OPT_METRIC
};

static const struct command_option options[] = {
	{ 'e', "event", "EVENT,...",
	  "events to sample; may be repeated. Append :period=N or :freq=N to set the rate" },
	{ 'M', "metrics", "LIST",
	  "metrics to measure in each function, by samples that hold the counts of a group" },
	{ OPT_METRIC, "metric", "NAME",
	  "sample the event that shows where this metric comes from; may be repeated" },
	{ 'F', "freq", "HZ", "take HZ samples per second" },
	{ 'c', "count", "PERIOD", "take a sample after every PERIOD events" },
	{ 'g', "chains", NULL, "record call chains, as --call-graph fp" },
	{ OPT_CALL_GRAPH, "call-graph", "HOW",
	  "record call chains: fp (by frame pointers), dwarf or dwarf,SIZE (a copy of so many "
	  "bytes of the stack, default 8192, for code without frame pointers) or lbr (by the "
	  "processor's branch records)" },
	{ 'b', "branches", NULL, "record the last branches before each sample" },
	{ OPT_BRANCH_FILTER, "branch-filter", "KIND,...",
	  "record these branches: any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, "
	  "in_tx, no_tx; at level u, k or hv; save_type records their types" },
	{ 'd', "data", NULL, "record data addresses" },
	{ OPT_MEMORY, "memory", NULL,
	  "sample loads and stores with their latencies and where the data was, as 'pfm mem "
	  "record' does" },
	{ 'p', "pid", "PID", "sample this process until it ends or you interrupt" },
	{ 't', "tid", "TID", "sample this thread" },
	{ 'a', "all-cpus", NULL, "sample everything on every CPU" },
	{ 'C', "cpu", "LIST", "sample everything on these CPUs: 0,2-3" },
	{ 'i', "no-inherit", NULL, "do not sample child processes and threads" },
	{ 'm', "pages", "N", "size of each buffer in pages, a power of two; default 128" },
	{ 'R', "raw-samples", NULL, "record the fields of tracepoints" },
	{ 'D', "delay", "-1", "with --control: start when \"enable\" arrives" },
	{ OPT_CONTROL, "control", "WHERE",
	  "take the commands enable, disable, ping, stop and evlist from fd:N[,ACK] or "
	  "fifo:PATH[,ACK]" },
	{ 'z', "compress", NULL, "compress the file with zstd" },
	{ 'o', "output", "FILE",
	  "write the samples to FILE, in a format of pfm export if its name means one (x.pb.gz); "
	  "default perf.data" },
	{ OPT_CONTINUOUS, "continuous", "FOLDER",
	  "take recordings round after round, each a file in FOLDER" },
	{ OPT_ROUND, "round", "S", "with --continuous: a round takes S seconds, 10" },
	{ OPT_EVERY, "every", "S", "with --continuous: a round begins every S seconds, 60" },
	{ OPT_ROUNDS, "rounds", "N", "with --continuous: stop after N rounds" },
	{ OPT_KEEP_BYTES, "keep-bytes", "N",
	  "with --continuous: remove the oldest files while all take more than N bytes, "
	  "1000000000" },
	{ OPT_KEEP_AGE, "keep-age", "S", "with --continuous: remove files that are S seconds old" },
	{ OPT_PUSH, "push", "URL",
	  "with --continuous: send each file to URL, as pprof if it ends in /ingest, else as OTLP "
	  "profiles, and remove it once it is taken" },
	{ OPT_EACH_EVENT, "each-event", NULL,
	  "with --continuous: sample one event in each round, in turns" },
	{ OPT_DEVICE, "device", "FROM-TO",
	  "sample with the Alpha counter device, /dev/pfcntr, in this range of addresses" },
	{ OPT_MODEL, "device-model", "NAME",
	  "sample on an emulated Alpha counter device: ev4, ev5, pca56, ev6 or ev67" },
	{ 0, NULL, NULL, NULL }
};

struct recorder {
	struct record_rounds rounds; /* of --continuous */
	struct event_list events, partner_metrics;
	pfm_sampling_t sampling;
	pfm_ctx_t *ctx;
	pfm_session_t *session;
	struct alpha_emulator *emulator; /* of the session's device, or NULL */
	pfm_recording_t *recording;
	char **command;
	const char *cpus, *output, *model;  /* model: of the Alpha device */
	const char *metrics;                /* names of metrics, or NULL */
	const struct export_format *format; /* of the exported file, NULL: not requested */
	const char *exported;               /* output is then exported to this file ... */
	char *intermediate;                 /* ... and has this name */
	pfmlib_alpha_input_param_t device;  /* with a range: the device itself */
	int pid;
	uint64_t branch_filter;
	bool wants_branches, wants_memory;
	bool all_cpus, one_thread, no_inherit, compress,
		is_default_event; /* stand_in: no event was named, and a clock replaces it */
	struct control control;
	bool start_off; /* with --control: until the command "enable" */
	struct child child;
	struct rusage usage; /* of the command */
	uint64_t size, start_time;
};

/* forwarded: the signal that the command must get, 0: none. */
static volatile sig_atomic_t interrupted, forwarded, ended;

/* An interrupt of the terminal reaches the command as well; every other signal is passed on to
 * it. */
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

/* Handles what would end the recorder, unless its caller ignores it, as nohup does. */
static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, was;

	sigaction(SIGCHLD, &act, NULL);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(ends[i], &act, NULL);
}

/* ---- the session ----------------------------------------------------------------------------- */

static bool on_device(const struct recorder *job)
{
	return job->model || job->device.pfp_alpha_n_ranges;
}

/* Other fields of samples do not exist on the device: requested ones are refused, default ones are
 * omitted. */
static void ask_device(struct recorder *job)
{
	static const struct {
		uint64_t field;
		const char *name;
	} fields[] = { { PFM_SAMPLE_TIME, "time" }, { PFM_SAMPLE_TID, "task" } };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fprintf(stderr,
		        ME ": %s: the device does not provide this, so the samples lack it\n",
		        fields[i].name);
	fputs(ME ": mappings, names of tasks: the device does not provide these, so addresses "
	         "print in hex\n",
	      stderr);
	job->sampling.fields &= ~(uint64_t)(PFM_SAMPLE_TIME | PFM_SAMPLE_TID);
	job->sampling.records = 0;
}

static int open_named_events(struct recorder *job, const char *const *texts, unsigned n)
{
	pfm_session_options_t so = PFM_INIT(so);
	pfm_alpha_session_t alpha = PFM_INIT(alpha);
	struct sampling_target target = {
		.cpus = job->cpus,
		.pid = job->pid,
		.child = job->child.pid,
		.all_cpus = job->all_cpus,
		.one_thread = job->one_thread,
		.no_inherit = job->no_inherit,
		.enable_on_exec = job->command && !job->control.on,
	};

	so.sampling = &job->sampling;
	if (on_device(job)) {
		if (job->model && !job->emulator &&
		    !(job->emulator = open_device_model("record", job->model)))
			return EXIT_REFUSED;
		alpha.emulator = job->emulator ? alpha_emulator_get_device(job->emulator) : NULL;
		alpha.model = job->device.pfp_alpha_n_ranges ? &job->device : NULL;
		so.backend = "pfm_device";
		so.backend_options = &alpha;
	}
	return open_sampling_session(&job->session, job->ctx, &target, &so, texts, n);
}

/* Without a PMU a clock says where time goes, though not where cycles do. */
static int open_default_events(struct recorder *job)
{
	static const char *const cycles[] = { "cycles" }, *const clock[] = { "cpu-clock" };
	int status = open_named_events(job, cycles, 1);

	if (status != EXIT_DONE || has_sampling_event(job->session))
		return status;
	pfm_close_session(job->session);
	job->session = NULL;
	job->is_default_event = true;
	return open_named_events(job, clock, 1);
}

/* Adds the events that show where metric @name comes from. */
static int add_partners_of_metric(struct recorder *job, const char *name)
{
	static struct metric_use metric;
	pfm_error_t error = PFM_INIT(error);
	char text[NAME_MAX_LEN];
	unsigned i = 0;

	if (find_metric(job->ctx, NULL, name, &metric, &error)) {
		report_refusal(job->ctx, metric.text, &error, WANTED_ANY);
		return EXIT_REFUSED;
	}
	for (; pfm_print_metric_partner(job->ctx, metric.pmu, metric.event, i, text, sizeof(text)) >
	       0;
	     i++) {
		if (!event_list_add(&job->events, text))
			return report_no_memory();
		fprintf(stderr, ME ": %s: sampling %s\n", name, text);
	}
	if (i)
		return EXIT_DONE;
	fprintf(stderr,
	        ME ": %s has no event whose samples show where it comes from; sample its clocks: "
	           "-e cycles\n",
	        name);
	return EXIT_REFUSED;
}

static int add_metric_partners(struct recorder *job)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < job->partner_metrics.n && status == EXIT_DONE; i++)
		status = add_partners_of_metric(job, job->partner_metrics.texts[i]);
	return status;
}

/* Before Linux 6.12 a group is sampled only for tasks that are named themselves. */
static int reopen_without_children(struct recorder *job)
{
	if (!job->metrics || job->no_inherit || has_sampling_event(job->session))
		return EXIT_DONE;
	pfm_close_session(job->session);
	job->session = NULL;
	job->no_inherit = true;
	if (open_named_events(job, (const char *const *)job->events.texts, job->events.n) !=
	    EXIT_DONE)
		return EXIT_REFUSED;
	if (has_sampling_event(job->session))
		fputs(ME ": this kernel cannot sample groups of child processes and threads: they "
		         "are left out\n",
		      stderr);
	return EXIT_DONE;
}

static int open_session(struct recorder *job)
{
	int status = job->events.n ? open_named_events(job, (const char *const *)job->events.texts,
	                                               job->events.n)
	                           : open_default_events(job);

	if (status != EXIT_DONE)
		return status;
	status = reopen_without_children(job);
	if (status != EXIT_DONE)
		return status;
	if (job->is_default_event)
		fputs(ME ": cycles cannot be sampled here; sampling cpu-clock instead\n", stderr);
	report_events_without_samples(ME, job->session);
	return has_sampling_event(job->session) ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* Samples that found a buffer full, by the events' own account: it tells them before a record
 * does. */
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

static int write_all(struct recorder *job)
{
	if (!job->recording || pfm_write_records(job->recording, &job->size) == PFMLIB_SUCCESS)
		return EXIT_DONE;
	fprintf(stderr, ME ": %s: %s\n", job->output, strerror(pfm_session_errno(job->session)));
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

/* Opens the file, which begins with the tasks as they are now: where sampling begins later, it is
 * opened then. */
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
		fprintf(stderr, ME ": %s: %s\n", job->output,
		        error.sys_errno ? describe_output_error(error.sys_errno) : error.detail);
		return EXIT_REFUSED;
	}
	if (job->compress && pfm_compress_recording(job->recording, 1) != PFMLIB_SUCCESS)
		fputs(ME ": not compressed: libzstd.so.1 is missing\n", stderr);
	return EXIT_DONE;
}

static int start_sampling(struct recorder *job)
{
	if (pfm_start_session(job->session) == PFMLIB_SUCCESS)
		return job->recording ? EXIT_DONE : open_file(job);
	fprintf(stderr, ME ": cannot start: %s\n", strerror(pfm_session_errno(job->session)));
	return EXIT_REFUSED;
}

/* Carries out what the other program has asked for. True if it has asked to stop, or sampling
 * cannot start: *@status. */
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
			fprintf(stderr, ME ": --control: unknown command '%s' is ignored\n",
			        job->control.line);
		else
			control_acknowledge(&job->control);
		if (word == CONTROL_STOP || *status != EXIT_DONE)
			return true;
	}
	return false;
}

enum { WAIT_MS = 100, MAX_BUFFERS = 256 };

/* Waits for samples, and for commands where there are some. */
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
		status = write_all(job);
		done = (job->control.on && serve_control(job, &status)) ||
		       is_recording_over(job, wait_status) || (interrupted && job->child.pid <= 0);
		show_progress(job);
		if (forwarded && job->child.pid > 0)
			child_signal(&job->child, forwarded);
		forwarded = 0;
	}
	/* The recording has failed, or what was sampled has ended: the command is
	 * ended, too. */
	if (job->child.pid > 0) {
		if (status != EXIT_DONE || forwarded)
			child_signal(&job->child, forwarded ? forwarded : SIGTERM);
		while (wait4(job->child.pid, wait_status, 0, &job->usage) < 0 && errno == EINTR)
			;
		job->child.pid = 0;
	}
	pfm_stop_session(job->session);
	if (status == EXIT_DONE && !job->recording)
		status = open_file(job); /* of a program that never asked for samples */
	return status == EXIT_DONE ? write_all(job) : status;
}

static void put_losses(const struct recorder *job)
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
			        ME ": %s: %llu samples lost; larger buffers (-m) or fewer samples "
			           "(-c, -F) help\n",
			        info.name, (unsigned long long)c.lost);
		if (c.discarded && on_device(job))
			fprintf(stderr,
			        ME ": %s: %llu samples were outside the range of --device\n",
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

/* Why event @i has no samples, in words. */
static void explain_no_samples(const struct recorder *job, unsigned i,
                               const pfm_sample_statistics_t *c, const pfm_count_info_t *info)
{
	pfm_count_t count = PFM_INIT(count);
	bool is_command = job->command && !job->pid && !job->all_cpus && !job->cpus;
	double unseen;

	if (pfm_read_count(job->session, i, &count))
		return;
	unseen = get_command_seconds(job) - (double)count.enabled / 1e9;
	fprintf(stderr, ME ": %s: no samples: ", info->name);
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

/* True if the recording @s has a sample of event @name. Reads as far as the first. */
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

static void explain_missing_samples(const struct recorder *job)
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

static int start_recording(struct recorder *job)
{
	int status = job->start_off ? EXIT_DONE : start_sampling(job);

	job->start_time = now_ns();
	if (status != EXIT_DONE || !job->command)
		return status;
	return child_start(job->command, &job->child);
}

static void report_recording(const struct recorder *job)
{
	bool is_usual = strcmp(job->output, "perf.data") == 0;

	if (is_record_round)
		return;
	fprintf(stderr, ME ": %.1f MB in %s; 'pfm report%s%s%s' shows them\n",
	        (double)job->size / 1e6, job->output, job->metrics ? " --metrics" : "",
	        is_usual ? "" : " ", is_usual ? "" : job->output);
}

/* Exports the recording and removes it; if that fails, the samples are not lost. */
static int export_result(const struct recorder *job)
{
	int status = export_recording(job->format, job->output, job->exported, NULL, false);

	if (status == EXIT_DONE) {
		unlink(job->output);
		fprintf(stderr, ME ": samples are in %s\n", job->exported);
	} else {
		fprintf(stderr, ME ": the recording is kept in %s\n", job->output);
	}
	return status;
}

static int record_until_end(struct recorder *job)
{
	int status = EXIT_DONE, wait_status = 0;
	sigset_t before;

	sigprocmask(SIG_SETMASK, NULL, &before);
	if (job->command)
		status = child_prepare(job->command, &before, &job->child);
	if (status == EXIT_DONE)
		status = open_session(job);
	catch_signals();
	if (status == EXIT_DONE)
		status = start_recording(job);
	if (status != EXIT_DONE)
		return status;
	status = record_session(job, &wait_status);
	if (job->recording && pfm_close_recording(job->recording) != PFMLIB_SUCCESS &&
	    status == EXIT_DONE) {
		fprintf(stderr, ME ": %s: %s\n", job->output,
		        strerror(pfm_session_errno(job->session)));
		status = EXIT_REFUSED;
	}
	job->recording = NULL;
	term_progress(stderr, "");
	put_losses(job);
	if (!on_device(job))
		explain_missing_samples(job);
	if (status == EXIT_DONE && job->format)
		status = export_result(job);
	else
		report_recording(job);
	if (status != EXIT_DONE || !job->command)
		return status;
	return child_status(job->command[0], wait_status);
}

/* ---- the command line ------------------------------------------------------------------------ */

/* An output whose name means a format of pfm export is exported from a recording beside it. DONE,
 * or REFUSED without memory. */
static int choose_output(struct recorder *job)
{
	job->format = find_export_format_of_file(job->output);
	if (!job->format)
		return EXIT_DONE;
	if (asprintf(&job->intermediate, "%s.perf.data", job->output) < 0) {
		job->intermediate = NULL;
		return report_no_memory();
	}
	job->exported = job->output;
	job->output = job->intermediate;
	return EXIT_DONE;
}

static bool add_memory_event(void *arg, const char *text)
{
	struct recorder *job = arg;

	return event_list_add(&job->events, text);
}

/* Chooses the events of --memory, unless -e names some. DONE, or REFUSED, everything said. */
static int choose_memory_events(struct recorder *job)
{
	int n = job->events.n ? 1 : visit_memory_events(add_memory_event, job);

	if (n > 0)
		return EXIT_DONE;
	if (n < 0)
		return report_no_memory();
	fputs(ME ": this machine exports no events that sample loads or stores (mem-loads, "
	         "mem-stores, ibs_op); name an event with -e\n",
	      stderr);
	return EXIT_REFUSED;
}

static int check_options(struct command_args *args, struct recorder *job)
{
	if (args->n)
		job->command = args->operands;
	if (!job->command && !job->pid && !job->all_cpus && !job->cpus)
		return report_usage_error(
			args,
			"expected what to sample: -- COMMAND, -p PID, -t TID, -a or -C CPUS.");
	if (job->pid && (job->all_cpus || job->cpus))
		return report_usage_error(
			args, "-p and -t (tasks) cannot be combined with -a and -C (CPUs).");
	if (job->start_off && !job->control.on)
		return report_usage_error(args, "--delay -1 needs --control.");
	if (job->sampling.freq && job->sampling.period)
		return report_usage_error(args,
		                          "-F (frequency) and -c (period) cannot be combined.");
	if (on_device(job) && job->metrics)
		return report_usage_error(args, "The device samples one event: -M needs several.");
	if (job->sampling.pages & (job->sampling.pages - 1))
		return report_usage_error(args, "-m: expected a power of two, such as 128.");
	if (job->wants_branches && job->sampling.fields & PFM_SAMPLE_BRANCH)
		return report_usage_error(
			args,
			"-b (branches) cannot be combined with --call-graph lbr, which uses them.");
	if (job->wants_branches) {
		job->sampling.fields |= PFM_SAMPLE_BRANCH;
		job->sampling.branch_filter =
			job->branch_filter ? job->branch_filter : get_default_branch_filter();
	}
	if (on_device(job) && !job->events.n)
		return report_usage_error(args, "The device samples one event; name it with -e.");
	if (on_device(job) && job->sampling.fields & (PFM_SAMPLE_CHAIN | PFM_SAMPLE_ADDR |
	                                              PFM_SAMPLE_RAW | PFM_SAMPLE_BRANCH))
		return report_usage_error(args,
		                          "the device's samples have no call chains (-g), no data "
		                          "addresses (-d), no branches (-b) and no bytes of "
		                          "tracepoints (-R).");
	if (check_cpu_list(args, job->cpus))
		return EXIT_USAGE;
	if (!job->output)
		job->output = "perf.data";
	if (strcmp(job->output, "-") == 0)
		return report_usage_error(args, "-o: expected a file, got standard output.");
	if (choose_output(job) != EXIT_DONE)
		return EXIT_REFUSED;
	if (job->format && !export_can_write(job->exported))
		return report_usage_error(args, "this pfm was built without zlib; install "
		                                "zlib1g-dev and build it again, or omit '.gz'.");
	if (job->wants_memory && choose_memory_events(job) != EXIT_DONE)
		return EXIT_REFUSED;
	job->ctx = open_context(job->model);
	return job->ctx ? EXIT_DONE : EXIT_REFUSED;
}

static bool read_range(const char *text, pfmlib_alpha_input_param_t *device)
{
	char *end;
	pfmlib_alpha_range_t *range = &device->pfp_alpha_ranges[0];

	errno = 0;
	range->start = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end != '-')
		return false;
	text = end + 1;
	range->end = strtoull(text, &end, 0);
	device->pfp_alpha_n_ranges =
		isdigit((unsigned char)*text) && !*end && !errno && range->start < range->end;
	return device->pfp_alpha_n_ranges;
}

static bool read_round_option(struct command_args *args, struct recorder *job, int id,
                              const char *value)
{
	struct record_rounds *r = &job->rounds;

	switch (id) {
	case OPT_ROUND: return option_number(args, "--round", value, 1, 86400, &r->round_seconds);
	case OPT_EVERY: return option_number(args, "--every", value, 1, 864000, &r->every);
	case OPT_ROUNDS: return option_number(args, "--rounds", value, 1, INT64_MAX, &r->n_rounds);
	case OPT_KEEP_BYTES:
		return option_number(args, "--keep-bytes", value, 1, INT64_MAX, &r->keep_bytes);
	default: return option_number(args, "--keep-age", value, 1, INT32_MAX, &r->keep_seconds);
	}
}

/* Each round checks the other options. */
static int check_rounds(struct command_args *args, struct recorder *job)
{
	struct record_rounds *r = &job->rounds;

	if (job->output || args->n || job->control.on || job->start_off)
		return report_usage_error(
			args, "--continuous cannot be combined with -o, --control, --delay and "
			      "a command: each round is a file of its own.");
	r->round_seconds = r->round_seconds ? r->round_seconds : 10;
	r->every = r->every ? r->every : 60;
	r->keep_bytes = r->keep_bytes ? r->keep_bytes : 1000000000;
	if (r->round_seconds > r->every)
		return report_usage_error(args,
		                          "expected rounds (--round) no longer than their distance "
		                          "(--every).");
	return record_continuously(args, r, &job->events);
}

static int read_options(struct command_args *args, struct recorder *job)
{
	const char *value;
	uint64_t number;
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case 'e':
			if (!*value)
				return report_usage_error(
					args, "-e: expected events separated by commas.");
			if (!event_list_add(&job->events, value))
				return report_no_memory();
			break;
		case 'M':
			if (!*value)
				return report_usage_error(args, "-M: expected metrics separated by "
				                                "commas.");
			if (job->metrics)
				return report_usage_error(args, "expected one -M, got two: "
				                                "separate metrics by commas.");
			job->metrics = value;
			break;
		case OPT_METRIC:
			if (!*value)
				return report_usage_error(args, "--metric: expected a metric.");
			if (!event_list_add(&job->partner_metrics, value))
				return report_no_memory();
			break;
		case 'F':
			if (!option_number(args, "-F", value, 1, 1000000000, &job->sampling.freq))
				return args->status;
			break;
		case 'c':
			if (!option_number(args, "-c", value, 1, INT64_MAX, &job->sampling.period))
				return args->status;
			break;
		case 'm':
			if (!option_number(args, "-m", value, 1, 1 << 20, &number))
				return args->status;
			job->sampling.pages = (uint32_t)number;
			break;
		case 't':
		case 'p':
			if (job->pid)
				return report_usage_error(
					args,
					"expected one process or thread: -p PID or -t TID, once.");
			job->one_thread = id == 't';
			if (!option_number(args, id == 'p' ? "-p" : "-t", value, 1, INT32_MAX,
			                   &number))
				return args->status;
			job->pid = (int)number;
			break;
		case 'g': job->sampling.fields |= PFM_SAMPLE_CHAIN; break;
		case OPT_CALL_GRAPH: {
			const char *expected = read_call_graph(value, &job->sampling);

			if (expected)
				return report_usage_error(args, "--call-graph: %s, got '%s'.",
				                          expected, value);
			break;
		}
		case OPT_MEMORY:
			job->wants_memory = true;
			want_memory_fields(&job->sampling);
			break;
		case 'b': job->wants_branches = true; break;
		case OPT_BRANCH_FILTER:
			job->wants_branches = true;
			if (!read_branch_filter(value, &job->branch_filter))
				return report_usage_error(
					args,
					"--branch-filter: expected any, any_call, any_ret, "
					"ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, u, "
					"k, hv or save_type, separated by commas, got '%s'.",
					value);
			break;
		case 'd': job->sampling.fields |= PFM_SAMPLE_ADDR; break;
		case 'a': job->all_cpus = true; break;
		case 'C': job->cpus = value; break;
		case 'i': job->no_inherit = true; break;
		case 'R': job->sampling.fields |= PFM_SAMPLE_RAW; break;
		case 'z': job->compress = true; break;
		case 'D':
			if (strcmp(value, "-1") != 0)
				return report_usage_error(
					args, "expected -1 after --delay, got '%s'.", value);
			job->start_off = true;
			break;
		case OPT_CONTROL:
			if (control_open(&job->control, value))
				break;
			if (!errno)
				return report_usage_error(args,
				                          "expected fd:N[,ACK] or fifo:PATH[,ACK] "
				                          "after --control, got '%s'.",
				                          value);
			fprintf(stderr, ME ": %s: %s\n", value, strerror(errno));
			return EXIT_REFUSED;
		case 'o': job->output = value; break;
		case OPT_CONTINUOUS: job->rounds.folder = value; break;
		case OPT_PUSH:
			if (!is_http_url(value))
				return report_usage_error(
					args,
					"expected a URL such as http://127.0.0.1:4040/ingest after "
					"--push, got '%s'.",
					value);
			job->rounds.push_url = value;
			break;
		case OPT_EACH_EVENT: job->rounds.takes_turns = true; break;
		case OPT_ROUND:
		case OPT_EVERY:
		case OPT_ROUNDS:
		case OPT_KEEP_BYTES:
		case OPT_KEEP_AGE:
			if (!read_round_option(args, job, id, value))
				return args->status;
			break;
		case OPT_MODEL: job->model = value; break;
		case OPT_DEVICE:
			if (!read_range(value, &job->device))
				return report_usage_error(
					args, "--device: expected a range of addresses such as "
					      "0x120000000-0x120002000.");
			break;
		}
	return id < 0 ? args->status : -1;
}

static int run_record(struct command_args *args)
{
	struct recorder job = { .sampling = PFM_INIT(job.sampling),
		                .child = { .go = -1, .failure = -1 } };
	int status;

	program_name = ME;
	job.sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU |
	                      PFM_SAMPLE_PERIOD;
	job.sampling.records = PFM_SIDEBAND_USUAL;
	status = read_options(args, &job);
	if (status < 0 && job.rounds.folder)
		status = check_rounds(args, &job);
	if (status < 0)
		status = check_options(args, &job);
	if (status == EXIT_DONE && job.ctx)
		status = add_metric_partners(&job);
	if (status == EXIT_DONE && job.metrics)
		status = add_sampled_metrics(job.ctx, job.metrics, &job.events);
	if (status == EXIT_DONE && on_device(&job))
		ask_device(&job);
	if (status == EXIT_DONE && job.ctx)
		status = record_until_end(&job);
	child_discard(&job.child);
	pfm_close_recording(job.recording);
	pfm_close_session(job.session);
	alpha_emulator_close(job.emulator);
	pfm_close_context(job.ctx);
	event_list_free(&job.events);
	event_list_free(&job.partner_metrics);
	free(job.intermediate);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.usage = "[-e EVENT,...] [OPTION]... -- COMMAND [ARG]...\n"
		 "[-e EVENT,...] [OPTION]... -p PID | -t TID | -a | -C CPUS [-- COMMAND [ARG]...]",
	.summary = "sample a command, a process, CPUs or the system",
	.about = "Writes samples, the places where events happen, to a file in perf's format "
		 "perf.data: pfm report, perf and other tools read it. The file is readable at any "
		 "time, even after the recorder was killed. Without -e, -M and --metric, samples "
		 "cycles, or cpu-clock on a machine without a PMU.\n"
		 "With -p, -t, -a or -C a command only sets the duration. The exit status is the "
		 "command's.",
	.examples = "Where does a program spend its time, and who calls it there?\n"
		    "pfm record -g -- ./work\n"
		    "How many page faults has each function, for each second of its time?\n"
		    "pfm record -M faults_per_second -- ./work\n"
		    "Which branches are mispredicted?\n"
		    "pfm record --metric branch_mpki -- ./work\n"
		    "The same for a program without frame pointers\n"
		    "pfm record --call-graph dwarf -- ./work\n"
		    "The data addresses of page faults\n"
		    "pfm record -d -e page-faults -- ./work\n"
		    "The cycles of an emulated Alpha\n"
		    "pfm record --device-model ev5 -e cycles -- sleep 0.1\n"
		    "The system for ten seconds, 99 times a second\n"
		    "pfm record -a -F 99 -- sleep 10\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_record
};
