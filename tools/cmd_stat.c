/* SPDX-License-Identifier: MIT */
/* pfm stat: counts events of a command, a process, CPUs or the whole system. */
#include "pfm.h"
#include "stat.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <perfmon/pfmlib_alpha.h>

enum { OPT_JSON = LONG_ONLY,
       OPT_DRY_RUN,
       OPT_MODEL,
       OPT_PER_CPU,
       NOT_FOUND = 127,
       NOT_RUN = 126,
       NS = 1000000000,
       POLL_NS = 100000000 };

#define DEFAULT_EVENTS \
	"task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses"

static const struct opt options[] = {
	{ 'e', "event", "EVENT,...", "what to count; may be given several times. {A,B} is a group, counted at the same times" },
	{ 'p', "pid", "PID", "count this process, until it ends or you interrupt" },
	{ 'a', "all-cpus", NULL, "count everything on every CPU" },
	{ 'C', "cpu", "LIST", "count everything on these CPUs: 0,2-3" },
	{ OPT_PER_CPU, "per-cpu", NULL, "with -a or -C: the counts of each CPU, not their sum" },
	{ 'r', "repeat", "N", "run the command N times: mean and deviation" },
	{ 'I', "interval", "MS", "counts of every interval as it ends" },
	{ 'i', "no-inherit", NULL, "leave out child processes and threads" },
	{ OPT_DRY_RUN, "dry-run", NULL, "print what would be programmed; count nothing" },
	{ OPT_JSON, "json", NULL, "one JSON object for each count, on standard output" },
	{ 'o', "output", "FILE", "write the counts here" },
	{ OPT_MODEL, "device-model", "NAME", "count on a model of the Alpha counter device: ev4, ev5, pca56, ev6 or ev67" },
	{ 0, NULL, NULL, NULL }
};

struct job {
	struct event_list events;
	pfm_ctx_t *ctx;
	char **command; /* NULL: none */
	int pid;        /* 0: not asked for */
	const char *cpus, *model, *output;
	bool all, json, dry_run, no_inherit, per_cpu;
	unsigned repeat;
	uint64_t interval; /* nanoseconds, 0 for none */
	/* while it runs */
	FILE *out;
	int write_error;          /* errno of the first failure */
	sigset_t signals, before; /* those waited for; the mask as it was */
	bool interrupted;
	uint64_t since; /* when the first run began */
	pfm_session_t *session;
	unsigned n; /* counts of it */
	struct tally *tallies;
	pfm_count_t *counts, *earlier;
	double elapsed, user, system; /* summed over runs */
	char target[256];
};

/* A command that waits to be let go. */
struct child {
	pid_t pid;
	int go;      /* a byte here starts it; closing it ends it */
	int failure; /* errno of exec comes back here */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static int complain(const char *what, int err)
{
	fprintf(stderr, "pfm stat: %s: %s\n", what, strerror(err));
	return REFUSED;
}

/* ---- the command that is counted ------------------------------------------------------------------------------------------- */

static _Noreturn void wait_and_exec(const struct job *job, int go, int failure)
{
	ssize_t got;
	char byte;
	int err;

	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(0);
	sigprocmask(SIG_SETMASK, &job->before, NULL);
	execvp(job->command[0], job->command);
	err = errno;
	while (write(failure, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(err == ENOENT ? NOT_FOUND : NOT_RUN);
}

static int prepare_child(const struct job *job, struct child *c)
{
	int go[2], failure[2];

	if (pipe2(go, O_CLOEXEC) != 0)
		return complain("no pipe", errno);
	if (pipe2(failure, O_CLOEXEC) != 0) {
		close(go[0]);
		close(go[1]);
		return complain("no pipe", errno);
	}
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		close(failure[0]);
		wait_and_exec(job, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	c->go = go[1];
	c->failure = failure[0];
	if (c->pid > 0)
		return DONE;
	close(c->go);
	close(c->failure);
	return complain("no process", errno);
}

/* Lets the command go. An exit status if it cannot be run, else DONE. */
static int start_child(const struct job *job, struct child *c)
{
	ssize_t got;
	int err = 0;

	/* If it is gone already, reading says so. */
	(void)!write(c->go, "", 1);
	close(c->go);
	c->go = -1;
	do
		got = read(c->failure, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	close(c->failure);
	c->failure = -1;
	if (got != (ssize_t)sizeof(err))
		return DONE;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	fprintf(stderr, "pfm stat: cannot run '%s': %s\n", job->command[0], strerror(err));
	return err == ENOENT ? NOT_FOUND : NOT_RUN;
}

static void drop_child(struct child *c)
{
	if (c->go >= 0)
		close(c->go);
	if (c->failure >= 0)
		close(c->failure);
	if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
}

/* ---- sessions --------------------------------------------------------------------------------------------------------------- */

static int open_session(struct job *job, int pid)
{
	pfm_session_options_t so = PFM_INIT(so);
	pfm_alpha_session_t alpha = PFM_INIT(alpha);
	pfm_error_t error = PFM_INIT(error);
	unsigned i;

	error.event = -1;
	so.pid = pid;
	so.cpus = job->cpus;
	so.flags = job->no_inherit ? 0 : PFM_SESSION_INHERIT;
	if (job->dry_run)
		so.flags |= PFM_SESSION_DRY_RUN;
	if (job->all || job->cpus)
		so.flags = (so.flags | PFM_SESSION_SYSTEM_WIDE) & ~(unsigned)PFM_SESSION_INHERIT;
	else if (job->command && !job->pid)
		so.flags |= PFM_SESSION_ENABLE_ON_EXEC;
	if (job->per_cpu)
		so.flags |= PFM_SESSION_PER_CPU;
	if (job->model) {
		alpha.device_model = job->model;
		so.backend = "pfm_device";
		so.backend_options = &alpha;
	}
	if (pfm_open_session(&job->session, job->ctx, &so, (const char *const *)job->events.texts, job->events.n, &error) == PFMLIB_SUCCESS) {
		job->n = pfm_count_session(job->session);
		return DONE;
	}
	job->session = NULL;
	refuse(job->ctx, error.clash || error.event < 0 || (unsigned)error.event >= job->events.n ? NULL : job->events.texts[error.event],
	       &error);
	for (i = 0; i < job->events.n && i < 64; i++)
		if (error.clash >> i & 1)
			fprintf(stderr, "  %s\n", job->events.texts[i]);
	return REFUSED;
}

static bool make_room(struct job *job)
{
	unsigned i, n = job->n ? job->n : 1;

	if (job->tallies)
		return true;
	job->tallies = calloc(n, sizeof(*job->tallies));
	job->counts = calloc(n, sizeof(*job->counts));
	job->earlier = calloc(n, sizeof(*job->earlier));
	if (!job->tallies || !job->counts || !job->earlier) {
		complain("counts", ENOMEM);
		return false;
	}
	for (i = 0; i < n; i++)
		job->counts[i].size = sizeof(job->counts[i]);
	return true;
}

static int read_counts(struct job *job)
{
	int rc = pfm_read_session(job->session, job->counts, job->n);

	if (rc == PFMLIB_SUCCESS)
		return DONE;
	fprintf(stderr, "pfm stat: cannot read the counts: %s\n",
	        rc == PFMLIB_ERR_SYS ? strerror(pfm_session_errno(job->session)) : pfm_strerror(rc));
	return REFUSED;
}

/* ---- waiting ---------------------------------------------------------------------------------------------------------------- */

enum woken { TIMEOUT,
	     CHILD_ENDED,
	     INTERRUPTED };

/* Waits for a signal until @until. The terminal's interrupt reaches the command as well: its end is awaited then. */
static enum woken wait_signal(struct job *job, const struct child *child, uint64_t until)
{
	uint64_t now = now_ns(), left = until > now ? until - now : 0;
	struct timespec t = { .tv_sec = (time_t)(left / NS), .tv_nsec = (long)(left % NS) };
	int sig = sigtimedwait(&job->signals, NULL, &t);

	if (sig < 0)
		return TIMEOUT;
	if (sig == SIGCHLD)
		return CHILD_ENDED;
	job->interrupted = true;
	if (child->pid <= 0)
		return INTERRUPTED;
	if (sig != SIGINT && sig != SIGQUIT)
		kill(child->pid, sig);
	return TIMEOUT;
}

/* A descriptor that becomes readable when process @pid ends, or -1 where the kernel has none. */
static int watch_process(int pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

static bool process_ended(int pid, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0)
		return poll(&p, 1, 0) > 0;
	return kill(pid, 0) != 0 && errno == ESRCH;
}

static void show_progress(const struct job *job, unsigned run)
{
	double seconds = (double)(now_ns() - job->since) / NS;
	char line[120];

	if (seconds < 1)
		return;
	if (job->repeat > 1)
		snprintf(line, sizeof(line), "run %u of %u, %.0f s", run, job->repeat, seconds);
	else if (job->interval && !term_is_terminal(job->out))
		snprintf(line, sizeof(line), "%.0f s", seconds);
	else
		return;
	term_progress(stderr, line);
}

/* ---- counting --------------------------------------------------------------------------------------------------------------- */

static void report(struct job *job, double elapsed, double time)
{
	struct report r = { .out = job->out, .json = job->json, .ctx = job->ctx, .session = job->session, .tallies = job->tallies, .n = job->n, .elapsed = elapsed, .user = -1, .system = -1, .time = time, .repeat = job->repeat, .target = job->target, .per_cpu = job->per_cpu };
	int err;

	if (job->command && time < 0) {
		r.user = job->user / job->repeat;
		r.system = job->system / job->repeat;
	}
	if (job->out == stderr || job->interval)
		term_progress(stderr, "");
	err = report_counts(&r);
	if (err && !job->write_error)
		job->write_error = err;
}

/* Shows what was counted since the interval before. */
static int report_interval(struct job *job, uint64_t began, uint64_t *last)
{
	uint64_t now = now_ns();
	unsigned i;

	if (read_counts(job) != DONE)
		return REFUSED;
	for (i = 0; i < job->n; i++) {
		pfm_count_t d = job->earlier[i].size ? count_between(&job->earlier[i], &job->counts[i]) : job->counts[i];

		job->tallies[i] = (struct tally){ .runs = 0 };
		tally_add(&job->tallies[i], &d);
		job->earlier[i] = job->counts[i];
	}
	report(job, (double)(now - *last) / NS, (double)(now - began) / NS);
	*last = now;
	return DONE;
}

/* Until the command ends, or the process, or the user has seen enough. The command's end is taken note of in @usage. */
static int wait_to_the_end(struct job *job, struct child *child, unsigned run, uint64_t began, int *status, struct rusage *usage)
{
	uint64_t last = began, next = began + job->interval, now, until;
	int watch = job->pid ? watch_process(job->pid) : -1, rc = DONE;
	enum woken why;

	for (;;) {
		now = now_ns();
		if (job->interval && now >= next) {
			rc = report_interval(job, began, &last);
			next += job->interval;
			if (next < now)
				next = now + job->interval;
		}
		show_progress(job, run);
		until = job->interval && next < now + POLL_NS ? next : now + POLL_NS;
		why = wait_signal(job, child, until);
		if (why == INTERRUPTED || rc != DONE)
			break;
		if (child->pid > 0 && wait4(child->pid, status, WNOHANG, usage) == child->pid) {
			child->pid = 0;
			break;
		}
		if (job->pid && !job->command && process_ended(job->pid, watch))
			break;
	}
	pfm_stop_session(job->session);
	job->elapsed += (double)(now_ns() - began) / NS;
	if (rc == DONE && job->interval)
		rc = report_interval(job, began, &last);
	if (watch >= 0)
		close(watch);
	return rc;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* What the command's end means for ours. */
static int exit_status(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : DONE;
}

/* True if no event could be opened: then there is nothing to wait for. */
static bool nothing_opened(struct job *job)
{
	unsigned i;

	if (read_counts(job) != DONE)
		return false;
	for (i = 0; i < job->n; i++)
		if (has_value(&job->counts[i]) || job->counts[i].cause == PFM_CAUSE_NO_TIME)
			return false;
	return true;
}

static int count_with(struct job *job, struct child *child, unsigned run)
{
	struct rusage usage;
	uint64_t began;
	int status = 0, rc = open_session(job, job->pid ? job->pid : child->pid);
	bool idle;
	unsigned i;

	memset(&usage, 0, sizeof(usage));
	if (rc != DONE || !make_room(job))
		return REFUSED;
	idle = !job->command && nothing_opened(job);
	if (idle)
		job->interval = 0;
	began = now_ns();
	rc = pfm_start_session(job->session);
	if (rc != PFMLIB_SUCCESS) {
		fprintf(stderr, "pfm stat: cannot start counting: %s\n",
		        rc == PFMLIB_ERR_SYS ? strerror(pfm_session_errno(job->session)) : pfm_strerror(rc));
		return REFUSED;
	}
	rc = job->command ? start_child(job, child) : DONE;
	if (rc == DONE && !idle)
		rc = wait_to_the_end(job, child, run, began, &status, &usage);
	if (rc == DONE && !job->interval)
		rc = read_counts(job);
	if (rc != DONE)
		return rc;
	for (i = 0; i < job->n && !job->interval; i++)
		tally_add(&job->tallies[i], &job->counts[i]);
	job->user += seconds_of(usage.ru_utime);
	job->system += seconds_of(usage.ru_stime);
	return exit_status(status);
}

static int run_once(struct job *job, unsigned run)
{
	struct child child = { .pid = 0, .go = -1, .failure = -1 };
	int rc = job->command ? prepare_child(job, &child) : DONE;

	if (rc == DONE)
		rc = count_with(job, &child, run);
	drop_child(&child);
	return rc;
}

static bool counted_something(const struct job *job)
{
	unsigned i;

	for (i = 0; i < job->n; i++)
		if (job->tallies[i].counted)
			return true;
	return false;
}

static int count(struct job *job)
{
	unsigned run;
	int rc = DONE, status = DONE;

	job->since = now_ns();
	for (run = 1; run <= job->repeat && !job->interrupted; run++) {
		pfm_close_session(job->session);
		job->session = NULL;
		rc = run_once(job, run);
		if (rc != DONE)
			status = rc;
		if (!job->session || !job->tallies || !job->counts)
			return rc;
		if (rc == NOT_FOUND || rc == NOT_RUN)
			break;
	}
	term_progress(stderr, "");
	job->repeat = run > 1 ? run - 1 : 1;
	if (!job->interval && job->tallies[0].runs)
		report(job, job->elapsed / job->repeat, -1);
	return status == DONE && !counted_something(job) ? REFUSED : status;
}

/* ---- the command -------------------------------------------------------------------------------------------------------------- */

static void describe_target(struct job *job)
{
	size_t at = 0, room = sizeof(job->target);
	int i;

	if (job->pid)
		at = (size_t)snprintf(job->target, room, "process %d", job->pid);
	else if (job->all || job->cpus)
		at = (size_t)snprintf(job->target, room, "%s%s", job->cpus ? "CPUs " : "all CPUs", job->cpus ? job->cpus : "");
	if (at && job->command)
		at += (size_t)snprintf(job->target + at, room - at, " during ");
	for (i = 0; job->command && job->command[i] && at + 1 < room; i++)
		at += (size_t)snprintf(job->target + at, room - at, "%s%s", i ? " " : "", job->command[i]);
}

/* Signals are waited for, not handled: nothing is interrupted half way. */
static void block_signals(struct job *job)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction was;
	size_t i;

	sigemptyset(&job->signals);
	sigaddset(&job->signals, SIGCHLD);
	/* Whoever started us may want some ignored, as nohup does. */
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaddset(&job->signals, ends[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &job->signals, &job->before);
}

static int perform(struct job *job)
{
	int rc;

	job->ctx = open_context(job->model);
	if (!job->ctx)
		return REFUSED;
	if (!job->dry_run) {
		block_signals(job);
		return count(job);
	}
	rc = open_session(job, job->pid);
	if (rc == DONE)
		report_plan(job->out, job->json, job->ctx, job->session);
	return rc;
}

/* Numbers and ranges with commas between: 0,2-3. */
static bool is_cpu_list(const char *text)
{
	char *end;

	for (;; text = end + 1) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (!isdigit((unsigned char)*text))
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (!isdigit((unsigned char)*text))
				return false;
		}
		if (first > last || last > 65535 || (*end && *end != ','))
			return false;
		if (!*end)
			return true;
	}
}

static int check(struct args *args, struct job *job)
{
	if (job->events.n == 0 && job->model)
		return usage(args, "the usual events are none of %s's: say with -e which to count.", job->model);
	if (job->events.n == 0 && !event_list_add(&job->events, DEFAULT_EVENTS))
		return complain("events", ENOMEM);
	if (args->n)
		job->command = args->operands;
	if (!job->command && !job->pid && !job->all && !job->cpus && !job->dry_run)
		return usage(args, "what should be counted? A command behind --, -p PID, -a or -C CPUS.");
	if (job->repeat > 1 && !job->command)
		return usage(args, "--repeat is for commands.");
	if (job->repeat > 1 && job->interval)
		return usage(args, "--repeat and --interval do not go together.");
	if (job->cpus && !is_cpu_list(job->cpus))
		return usage(args, "-C wants a list of CPUs, as in 0,2-3; not '%s'.", job->cpus);
	if (job->per_cpu && !job->all && !job->cpus)
		return usage(args, "--per-cpu goes with -a or -C.");
	if (job->pid && (job->all || job->cpus))
		return usage(args, "-p counts a process, -a and -C count CPUs: choose.");
	/* A command writes to standard output: counts would get mixed into that. */
	job->out = job->json || !job->command || job->dry_run ? stdout : stderr;
	if (job->output)
		job->out = fopen(job->output, "w");
	if (!job->out)
		return complain(job->output, errno);
	describe_target(job);
	return DONE;
}

/* True if there is nothing before a comma of @list, or behind its last one; says so. */
static bool is_missing(const char *list)
{
	const char *at = strchr(list, ',') == list ? list : strstr(list, ",,");
	size_t len = strlen(list), start = at ? (size_t)(at - list) + (at != list) : len - 1;
	pfm_error_t error;

	if (strchr(list, '/') || (!at && list[len - 1] != ','))
		return false; /* commas between slashes are another matter */
	blame(&error, PFMLIB_ERR_SYNTAX, PFM_KIND_SYNTAX, start, start + 1, "an event name is missing beside this comma");
	refuse(NULL, list, &error);
	return true;
}

static int read_options(struct args *args, struct job *job)
{
	const char *value;
	uint64_t number;
	int id;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case 'e':
			if (!*value)
				return usage(args, "-e wants events, with commas between.");
			if (is_missing(value))
				return REFUSED;
			if (!event_list_add(&job->events, value))
				return complain("events", ENOMEM);
			break;
		case 'p':
			if (!option_number(args, "-p", value, 1, INT32_MAX, &number))
				return args->status;
			job->pid = (int)number;
			break;
		case 'r':
			if (!option_number(args, "--repeat", value, 1, 1000000, &number))
				return args->status;
			job->repeat = (unsigned)number;
			break;
		case 'I':
			if (!option_number(args, "--interval", value, 1, 86400000, &number))
				return args->status;
			job->interval = number * 1000000;
			break;
		case 'a': job->all = true; break;
		case OPT_PER_CPU: job->per_cpu = true; break;
		case 'C': job->cpus = value; break;
		case 'i': job->no_inherit = true; break;
		case 'o': job->output = value; break;
		case OPT_DRY_RUN: job->dry_run = true; break;
		case OPT_JSON: job->json = true; break;
		case OPT_MODEL: job->model = value; break;
		}
	return id < 0 ? args->status : -1;
}

/* -1 and errno if anything of it could not be written, now or before. */
static int close_output(FILE *out, int before)
{
	bool failed = ferror(out) != 0;

	errno = 0;
	if (fclose(out) == 0 && !failed)
		return 0;
	if (before)
		errno = before;
	else if (!errno)
		errno = EIO;
	return -1;
}

static int run(struct args *args)
{
	struct job job = { .repeat = 1 };
	int status = read_options(args, &job);

	if (status < 0)
		status = check(args, &job);
	else
		job.out = NULL;
	if (status == DONE && job.out)
		status = perform(&job);
	if (job.output && job.out && close_output(job.out, job.write_error) != 0 && status == DONE)
		status = complain(job.output, errno);
	pfm_close_session(job.session);
	pfm_close_context(job.ctx);
	event_list_free(&job.events);
	free(job.tallies);
	free(job.counts);
	free(job.earlier);
	return status;
}

const struct command cmd_stat = {
	.name = "stat",
	.usage = "[-e EVENT,...] [OPTION]... -- COMMAND [ARG]...\n[-e EVENT,...] [OPTION]... -p PID | -a | -C CPUS [-- COMMAND [ARG]...]",
	.summary = "count events of a command, a process, CPUs or the system",
	.about = "Every count comes with its quality: exact, scaled (it shared a counter and was extrapolated), partial, not counted, not supported; and "
		 "with the cause and the remedy where it is not exact. A count that was not taken is never shown as a number.\n"
		 "In lists a comma separates events; KEY=VALUE and the words edge, inv, os and usr belong to the event before them; commas inside "
		 "slashes and braces separate nothing. With -p, -a or -C a command only says how long to count.\n"
		 "Counts of a command go to standard error, others and all JSON to standard output. The exit status is the command's; without a "
		 "command, or if it is 0, 1 when nothing could be counted.",
	.examples = "The usual events of a command\n"
		    "pfm stat -- make\n"
		    "A group, counted at the same times, and an event in libpmc's dialect\n"
		    "pfm stat -e '{cycles,instructions}' -e L2_Rqsts,cachestate=i,usr -- ./work\n"
		    "Ten runs: mean and deviation\n"
		    "pfm stat -r 10 -e page-faults,context-switches -- ./work\n"
		    "The system, every second, until interrupted\n"
		    "pfm stat -a -I 1000 -e sched:sched_switch,page-faults\n"
		    "What would be programmed on this machine?\n"
		    "pfm stat --dry-run -e cpu/event=0x2e,umask=0x41/\n",
	.options = options,
	.stops_at_operand = true,
	.run = run
};
