/* SPDX-License-Identifier: MIT */
/* pfm stat: waiting for the end of what is counted, and counting, once or many times. */
#include "common/pfm.h"
#include "series/series.h"
#include "stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 100000000, GRACE_NS = 2000000000 };

/* One run: when it began, and what ends it. */
struct stat_run {
	struct child child;
	unsigned number, intervals;
	uint64_t start_time, previous_time, next_report,
		slice;      /* slice: end of the current slice; 0 without slices */
	uint64_t next_poll; /* next time to check processes */
	struct rusage usage;
	double elapsed;
	int status;     /* of the command */
	bool own_child; /* pfm ended the command after --timeout */
};

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* ---- waiting --------------------------------------------------------------------------------- */

enum wake_reason { TIMEOUT, CHILD_ENDED, INTERRUPTED };

/* Waits for a signal until @until. The terminal sends an interrupt to the command as well, so pfm
 * waits for its end; other signals are passed on to the command. */
static enum wake_reason wait_signal(struct stat_job *job, const struct child *child, uint64_t until)
{
	uint64_t now = now_ns(), left = until > now ? until - now : 0;
	struct timespec t = { .tv_sec = (time_t)(left / NS), .tv_nsec = (long)(left % NS) };
	siginfo_t info;
	int sig;

	if (job->control.on) {
		control_wait(&job->control, &job->timing.signals, NULL, 0, left);
		t = (struct timespec){ 0 };
	}
	sig = sigtimedwait(&job->timing.signals, &info, &t);

	if (sig < 0)
		return TIMEOUT;
	if (sig == SIGCHLD)
		return CHILD_ENDED;
	job->timing.interrupted = true;
	if (child->pid <= 0)
		return INTERRUPTED;
	if ((sig != SIGINT && sig != SIGQUIT) || info.si_code == SI_USER)
		child_signal(child, sig);
	return TIMEOUT;
}

static void show_progress(const struct stat_job *job, unsigned run)
{
	double seconds = (double)(now_ns() - job->timing.since) / NS;
	char line[120];

	if (seconds < 1)
		return;
	if (job->timing.repeat > 1)
		snprintf(line, sizeof(line), "run %u of %u, %.0f s", run, job->timing.repeat,
		         seconds);
	else if (job->timing.interval && !term_is_terminal(job->report.out))
		snprintf(line, sizeof(line), "%.0f s", seconds);
	else
		return;
	term_progress(stderr, line);
}

static void report_run(struct stat_job *job, double elapsed, double time)
{
	int err;

	if (job->report.out == stderr || job->timing.interval)
		term_progress(stderr, "");
	if (job->options.separator && !job->report.has_header)
		put_column_names(job);
	job->report.has_header = true;
	err = job->options.format ? report_series(job, elapsed) : report_counts(job, elapsed, time);
	if (err && !job->report.write_error)
		job->report.write_error = err;
	if (time >= 0)
		note_interval(job, elapsed, time);
}

static double convert_to_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Reads the counts. */
static int read_counts(struct stat_job *job, const struct stat_run *r)
{
	int rc = read_targets(&job->targets);

	/* Counting may have stopped before the end of a command that got a signal. */
	if (rc == EXIT_DONE && job->command && r->child.pid <= 0 && !r->own_child)
		check_unwatched_time(job, convert_to_seconds(r->usage.ru_utime) +
		                                  convert_to_seconds(r->usage.ru_stime) -
		                                  (double)r->child.time_before_exec / NS);
	return rc;
}

/* Reports the counts since the last interval. */
static int report_interval(struct stat_job *job, struct stat_run *r)
{
	uint64_t now = now_ns();

	if (read_counts(job, r) != EXIT_DONE)
		return EXIT_REFUSED;
	set_own_counts(job, (double)(now - r->previous_time) / NS, -1, -1);
	gather_rows(job, true);
	report_run(job, (double)(now - r->previous_time) / NS, (double)(now - r->start_time) / NS);
	r->previous_time = now;
	r->intervals++;
	/* Slices do not cross intervals. */
	free_slices(job);
	forget_slots(job);
	if (r->slice && !job->rotation.is_on)
		r->slice = now + begin_slice(job);
	return EXIT_DONE;
}

/* Reads the counts of the slice that has ended. */
static int read_slice(struct stat_job *job, struct stat_run *r, uint64_t now)
{
	if (read_targets(&job->targets) != EXIT_DONE)
		return EXIT_REFUSED;
	gather_slice(job);
	end_slice(job);
	if (job->rotation.is_on) {
		end_slot(job);
		if (select_slot(job) != EXIT_DONE)
			return EXIT_REFUSED;
		now = now_ns();
	}
	r->slice = now + begin_slice(job);
	return EXIT_DONE;
}

/* Reads the counts and the processor time of processes while they exist. The two differ if a
 * process has executed a program whose rights removed its events. */
static int poll_processes(struct stat_targets *targets, struct stat_run *r, uint64_t now)
{
	if (!targets->n_pids || now < r->next_poll)
		return EXIT_DONE;
	r->next_poll = now + POLL_NS;
	return read_targets(targets);
}

static uint64_t choose_earlier_deadline(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_timed_out(const struct stat_timing *timing, const struct stat_run *r, uint64_t now)
{
	return timing->timeout && now >= r->start_time + timing->timeout;
}

/* True if the time or the number of intervals that the user requested is over. */
static bool is_time_over(const struct stat_timing *timing, const struct stat_run *r, uint64_t now)
{
	return is_timed_out(timing, r, now) ||
	       (timing->intervals && r->intervals >= timing->intervals);
}

/* True if the target has ended; stores the end of the command. */
static bool is_target_gone(const struct stat_job *job, struct stat_run *r)
{
	if (r->child.pid > 0 &&
	    wait4(r->child.pid, &r->status, WNOHANG, &r->usage) == r->child.pid) {
		r->child.pid = 0;
		return true;
	}
	/* Ended too if the command or the user ended before counting began, or if the output cannot
	 * be written. */
	if (r->child.pid <= 0 &&
	    (job->command || job->timing.interrupted || job->report.write_error))
		return true;
	return !job->command && (job->targets.n_pids || job->targets.n_tids) &&
	       have_targets_ended(&job->targets);
}

/* Asks the command to end because its time is over, and kills it if it does not, or if the user
 * interrupts again. */
static void end_child(struct stat_job *job, struct stat_run *r)
{
	uint64_t now = now_ns(), until = now + GRACE_NS;
	bool before = job->timing.interrupted;

	if (r->child.pid <= 0)
		return;
	r->own_child = true;
	job->timing.interrupted = false;
	child_signal(&r->child, SIGTERM);
	while (!is_target_gone(job, r) && now < until && !job->timing.interrupted) {
		wait_signal(job, &r->child, choose_earlier_deadline(until, now + POLL_NS));
		now = now_ns();
	}
	job->timing.interrupted |= before;
	if (r->child.pid <= 0)
		return;
	kill(r->child.pid, SIGKILL);
	while (wait4(r->child.pid, &r->status, 0, &r->usage) < 0 && errno == EINTR)
		;
	r->child.pid = 0;
}

/* Executes the commands of the controlling program. */
static int serve_control(struct stat_job *job)
{
	enum control_word word = CONTROL_NOTHING;
	int rc = EXIT_DONE;

	while (rc == EXIT_DONE && (word = control_next(&job->control)) != CONTROL_NOTHING) {
		if (word == CONTROL_ENABLE) {
			rc = start_targets(job);
			job->timing.was_enabled = true;
		} else if (word == CONTROL_DISABLE || word == CONTROL_STOP)
			stop_targets(&job->targets);
		else if (word == CONTROL_EVLIST)
			for (unsigned i = 0; i < job->request.events.n; i++)
				fprintf(stderr, "%s\n", job->request.events.texts[i]);
		if (word == CONTROL_UNKNOWN)
			fprintf(stderr, "%s: --control: unknown command '%s' is ignored\n",
			        program_name, job->control.line);
		else
			control_acknowledge(&job->control);
		if (word == CONTROL_STOP)
			job->control.in = -1; /* further commands are ignored */
	}
	return rc;
}

/* Returns the next time to check processes and update the display, which no signal requests. */
static uint64_t compute_next_look(const struct stat_job *job, uint64_t now)
{
	bool must_poll = job->targets.n_pids || job->targets.n_tids || job->control.on ||
	                 term_is_terminal(stderr);

	return now + (must_poll ? POLL_NS : 60 * (uint64_t)NS);
}

/* Returns the time of the next thing to do at @now. */
static uint64_t compute_next_deadline(const struct stat_job *job, const struct stat_run *r,
                                      uint64_t now)
{
	uint64_t until = compute_next_look(job, now);

	if (job->timing.interval)
		until = choose_earlier_deadline(until, r->next_report);
	if (r->slice)
		until = choose_earlier_deadline(until, r->slice);
	if (job->timing.timeout)
		until = choose_earlier_deadline(until, r->start_time + job->timing.timeout);
	return until;
}

/* Reports the interval that is over at @now. An interval that ends together with everything is
 * reported after counting has stopped, so that it is complete. */
static int end_interval(struct stat_job *job, struct stat_run *r, uint64_t now)
{
	int rc;

	if (!job->timing.interval || now < r->next_report || is_timed_out(&job->timing, r, now))
		return EXIT_DONE;
	rc = report_interval(job, r);
	r->next_report += job->timing.interval;
	if (r->next_report < now)
		r->next_report = now + job->timing.interval;
	return rc;
}

/* Waits until the command or the process ends, the time is over, or the user interrupts. */
static int wait_for_end(struct stat_job *job, struct stat_run *r)
{
	bool over = false;
	uint64_t now;
	int rc = EXIT_DONE;

	r->previous_time = r->start_time;
	r->next_report = r->start_time + job->timing.interval;
	r->slice =
		needs_slices(job) && job->timing.repeat < 2 ? r->start_time + begin_slice(job) : 0;
	while (rc == EXIT_DONE && !over) {
		now = now_ns();
		rc = end_interval(job, r, now);
		if (r->slice && now >= r->slice)
			rc = read_slice(job, r, now);
		if (rc == EXIT_DONE)
			rc = poll_processes(&job->targets, r, now);
		if (rc == EXIT_DONE && job->control.on)
			rc = serve_control(job);
		show_progress(job, r->number);
		over = is_time_over(&job->timing, r, now);
		if (over || rc != EXIT_DONE || is_target_gone(job, r))
			break;
		if (wait_signal(job, &r->child, compute_next_deadline(job, r, now)) == INTERRUPTED)
			break;
	}
	stop_targets(&job->targets);
	now = now_ns();
	if (over)
		end_child(job, r);
	r->elapsed = (double)(now - r->start_time) / NS;
	/* Reports the rest of the last interval. */
	if (rc == EXIT_DONE && job->timing.interval &&
	    !(job->timing.intervals && r->intervals >= job->timing.intervals))
		rc = report_interval(job, r);
	return rc;
}

/* ---- counting -------------------------------------------------------------------------------- */

bool has_nothing_to_count(struct stat_job *job)
{
	unsigned i, k;

	if (read_targets(&job->targets) != EXIT_DONE)
		return false;
	for (k = 0; k < job->targets.n; k++)
		for (i = 0; i < job->targets.list[k].n; i++)
			if (has_value(&job->targets.list[k].counts[i]) ||
			    job->targets.list[k].counts[i].cause == PFM_CAUSE_NO_TIME)
				return false;
	for (i = 0; i < job->result.n_rows; i++)
		if (job->result.rows[i].own)
			return false;
	return true;
}

/* Waits for the start of counting. False if the user interrupts or the command ends before. */
static bool wait_for_start(struct stat_job *job, struct stat_run *r)
{
	uint64_t begin = now_ns() + job->timing.delay;

	while (now_ns() < begin)
		if (wait_signal(job, &r->child, begin) == INTERRUPTED || is_target_gone(job, r))
			return false;
	return true;
}

/* Starts the command and counting; --delay decides which comes first. */
static int start_run(struct stat_job *job, struct stat_run *r)
{
	int rc = job->timing.delay && job->command ? child_start(job->command, &r->child)
	                                           : EXIT_DONE;

	job->timing.missed = rc == EXIT_DONE && job->timing.delay && !wait_for_start(job, r);
	if (job->timing.missed)
		return EXIT_DONE;
	r->start_time = now_ns();
	if (rc == EXIT_DONE && !job->timing.start_off)
		rc = start_targets(job);
	if (rc == EXIT_DONE && job->command && !job->timing.delay)
		rc = child_start(job->command, &r->child);
	return rc;
}

static void report_escaped_targets(const struct stat_job *job)
{
	unsigned i;

	for (i = 0; i < job->targets.n; i++) {
		if (job->targets.list[i].label || job->targets.n > 1)
			fprintf(stderr, "%s\n",
			        job->targets.list[i].label ? job->targets.list[i].label : "task");
		if (job->targets.list[i].session)
			report_plan(stderr, false, job->ctx, job->targets.list[i].session);
	}
}

/* Returns the exit status of a run that was counted: that of its command. */
static int get_run_status(const struct stat_job *job, const struct stat_run *r)
{
	return job->command && !r->own_child ? child_get_status(job->command[0], r->status)
	                                     : EXIT_DONE;
}

/* Adds the counts of the run to the rows. */
static void add_run_counts(struct stat_job *job, const struct stat_run *r)
{
	const double user = convert_to_seconds(r->usage.ru_utime),
		     system = convert_to_seconds(r->usage.ru_stime);
	bool known;

	job->timing.outlived_counting |= job->command && (job->timing.delay || r->own_child ||
	                                                  job->timing.start_off || job->control.on);
	known = job->command && !job->targets.n_pids && !job->targets.n_tids &&
	        !job->timing.outlived_counting;
	set_own_counts(job, job->timing.missed ? -1 : r->elapsed, known ? user : -1,
	               known ? system : -1);
	/* Counts after the last complete slice are not used; with repetitions, every run is a
	 * slice. */
	if (needs_slices(job) && job->timing.repeat > 1 && !job->timing.missed) {
		gather_slice(job);
		end_slice(job);
	}
	if (job->rotation.is_on && !job->timing.missed) {
		gather_slot(job);
		end_slot(job);
	}
	gather_rows(job, false);
	if (job->timing.missed)
		return;
	job->result.elapsed += job->result.run_seconds[job->result.runs++] = r->elapsed;
	job->result.user += user;
	job->result.system += system;
}

static int count_with_child(struct stat_job *job, struct stat_run *r)
{
	int rc = open_targets(job, r->child.pid);
	bool idle;

	if (rc != EXIT_DONE)
		return rc;
	if (job->options.verbose && r->number == 1)
		report_escaped_targets(job);
	idle = !job->command && has_nothing_to_count(job);
	if (idle)
		job->timing.interval = 0;
	r->start_time = now_ns();
	rc = start_run(job, r);
	/* Without counting there are no intervals. */
	if (job->timing.missed)
		job->timing.interval = 0;
	if (rc == EXIT_DONE && !idle && !job->timing.missed)
		rc = wait_for_end(job, r);
	if (rc != EXIT_DONE || job->timing.interval)
		return rc != EXIT_DONE ? rc : get_run_status(job, r);
	rc = read_counts(job, r);
	if (rc != EXIT_DONE)
		return rc;
	add_run_counts(job, r);
	return get_run_status(job, r);
}

static int run_once(struct stat_job *job, unsigned number)
{
	struct stat_run r = { .number = number };
	int rc = job->command ? child_prepare(job->command, &job->timing.saved_signals, &r.child)
	                      : EXIT_DONE;

	if (rc == EXIT_DONE)
		rc = count_with_child(job, &r);
	base_discard_child(&r.child);
	return rc;
}

static bool has_counts(const struct stat_result *result)
{
	unsigned i;

	for (i = 0; i < result->n_rows; i++)
		if (result->rows[i].was_counted)
			return true;
	return false;
}

/* Blocks signals, which are waited for instead of handled, so that nothing is interrupted half
 * way. */
static void block_signals(struct stat_timing *timing)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction was;
	size_t i;

	sigemptyset(&timing->signals);
	sigaddset(&timing->signals, SIGCHLD);
	/* The caller may ignore some signals, as nohup(1) does. */
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaddset(&timing->signals, ends[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &timing->signals, &timing->saved_signals);
}

/* Writes the page of --html, if something was counted. */
static int write_counted_page(struct stat_job *job)
{
	if (job->report.intervals)
		return write_interval_page(job);
	return job->result.runs ? write_page(job, job->result.elapsed / job->timing.repeat)
	                        : EXIT_DONE;
}

int count_runs(struct stat_job *job)
{
	unsigned run;
	int rc = EXIT_DONE, status = EXIT_DONE;

	job->result.run_seconds = calloc(job->timing.repeat, sizeof(*job->result.run_seconds));
	if (!job->result.run_seconds)
		return report_bad_option("runs", ENOMEM);
	block_signals(&job->timing);
	job->timing.since = now_ns();
	for (run = 1; run <= job->timing.repeat && !job->timing.interrupted; run++) {
		close_targets(&job->targets);
		rc = run_once(job, run);
		if (rc != EXIT_DONE)
			status = rc;
		if (!job->result.n_rows)
			return rc;
		if (rc == NOT_FOUND || rc == NOT_RUN)
			break;
	}
	term_progress(stderr, "");
	/* A run that did not start, or without readable counts, adds nothing; a run that was too
	 * short adds no time. */
	job->timing.repeat = job->result.runs ? job->result.runs : 1;
	if (!job->timing.interval && job->result.rows[0].tally.runs)
		report_run(job, job->result.elapsed / job->timing.repeat, -1);
	if (job->timing.interval)
		report_why(job);
	if (job->options.html && write_counted_page(job) != EXIT_DONE && status == EXIT_DONE)
		status = EXIT_REFUSED;
	return status == EXIT_DONE && !has_counts(&job->result) ? EXIT_REFUSED : status;
}
