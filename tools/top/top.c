/* SPDX-License-Identifier: MIT */
/* pfm top: where time is spent now, as a table that is drawn anew. */
#include "common/pfm.h"
#include "common/profile_messages.h"
#include "report/view.h"
#include "common/sampling_session.h"
#include "common/screen.h"
#include "stat/stat.h"
#include "top/top.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ME "pfm top"

enum { OPT_CHILDREN = LONG_ONLY, OPT_ITERATIONS, OPT_SORT };

enum {
	BUFFERS_MAX = 1024,  /* most buffers to wait for */
	NODES_MAX = 1 << 20, /* of the call tree: beyond it the samples are dropped */
	NS_PER_MS = 1000000
};

#define DELAY_DEFAULT 2.0
#define DELAY_MAX     3600.0

static const struct command_option options[] = {
	{ 'e', "event", "EVENT,...",
	  "events to sample, as for pfm record; 'e' shows the next one" },
	{ 'F', "freq", "HZ", "take HZ samples per second" },
	{ 'c', "count", "PERIOD", "take a sample each time an event has counted PERIOD" },
	{ 'g', "call-graph", NULL, "record call chains: shares with callees, and callers" },
	{ OPT_CHILDREN, "children", NULL, "with -g, sorted by the share with callees" },
	{ 'p', "pid", "PID", "sample this process" },
	{ 't', "tid", "TID", "sample this thread" },
	{ 'a', "all-cpus", NULL, "sample everything on every CPU; the default" },
	{ 'C', "cpu", "LIST", "sample everything on these CPUs: 0,2-3" },
	{ 'i', "no-inherit", NULL, "do not sample child processes and threads" },
	{ 'd', "delay", "SECONDS", "time between two tables; default 2" },
	{ 'z', "zero", NULL, "each table shows the samples since the one before" },
	{ 'n', "lines", "N", "rows of a table; default: as many as fit, 20 without a screen" },
	{ OPT_SORT, "sort", "KEY,...", "add up by these: task, object, symbol; default all three" },
	{ OPT_ITERATIONS, "iterations", "N", "end after N tables" },
	{ 0, NULL, NULL, NULL }
};

static volatile sig_atomic_t interrupted, resized, suspended;

static void on_end(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

static void on_suspend(int sig)
{
	(void)sig;
	suspended = 1;
}

static void catch_signals(bool is_screen)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act = { .sa_handler = on_end };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &act, NULL);
	act.sa_handler = on_resize;
	sigaction(SIGWINCH, &act, NULL);
	act.sa_handler = on_suspend;
	if (is_screen)
		sigaction(SIGTSTP, &act, NULL);
}

/* ---- the session ----------------------------------------------------------------------------- */

static int open_session(struct top_job *job)
{
	pfm_session_options_t so = PFM_INIT(so);
	struct sampling_target target = {
		.cpus = job->cpus,
		.pid = (int)job->pid,
		.child = job->child.pid,
		.all_cpus = job->all_cpus,
		.one_thread = job->one_thread,
		.no_inherit = job->no_inherit,
		.enable_on_exec = job->command,
	};
	bool is_clock;
	int status;

	so.sampling = &job->sampling;
	status = open_sampling_session(&job->session, job->ctx, &target, &so, &job->events,
	                               &is_clock);
	if (status != EXIT_DONE)
		return status;
	report_events_without_samples(ME, job->session);
	return has_sampling_event(job->session) ? EXIT_DONE : EXIT_REFUSED;
}

/* Starts the command; on a screen it gets none of the terminal. */
static int prepare_command(struct top_job *job)
{
	int kept[3], null = job->is_screen ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1, status;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	fflush(NULL);
	for (int fd = 0; null >= 0 && fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		dup2(null, fd);
	}
	status = child_prepare(job->command, &mask, &job->child);
	for (int fd = 0; null >= 0 && fd < 3; fd++) {
		dup2(kept[fd], fd);
		close(kept[fd]);
	}
	if (null >= 0)
		close(null);
	return status;
}

/* ---- records --------------------------------------------------------------------------------- */

void forget_top_samples(struct top_job *job)
{
	profile_clear(job->reader, job->keys);
	job->samples_before = 0;
	job->view.is_zoomed = false;
}

static int read_records(struct top_job *job)
{
	if (!profile_add_records(job->reader))
		return report_no_memory();
	if (job->profile.n_nodes > NODES_MAX)
		forget_top_samples(job);
	return EXIT_DONE;
}

static void check_child(struct top_job *job)
{
	if (job->child.pid > 0 &&
	    waitpid(job->child.pid, &job->wait_status, WNOHANG) == job->child.pid) {
		job->child.pid = 0;
		job->has_ended = true;
	}
}

/* Waits for a key, for a buffer that fills, or until @deadline. */
static void wait_for_input(struct top_job *job, uint64_t deadline)
{
	int fds[BUFFERS_MAX];
	struct pollfd polled[BUFFERS_MAX + 1];
	unsigned n = pfm_session_fds(job->profile.session, fds, BUFFERS_MAX), at = 0;
	uint64_t now = now_ns();

	n = n < BUFFERS_MAX ? n : BUFFERS_MAX;
	for (unsigned i = 0; i < n; i++)
		polled[at++] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (job->is_screen)
		polled[at++] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	poll(polled, at, deadline > now ? (int)((deadline - now) / NS_PER_MS) + 1 : 0);
	for (unsigned i = 0; i < n; i++)
		if (polled[i].revents & POLLHUP) {
			job->has_ended |=
				pfm_wait_session(job->profile.session, 0) == PFM_WAIT_ENDED;
			return;
		}
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void zoom_in(struct top_job *job)
{
	if (!job->view.has_children || job->chosen_place == UINT32_MAX)
		return;
	job->view.is_zoomed = true;
	job->view.zoomed = job->chosen_place;
}

/* Goes back from help or callers; false if the table was shown. */
static bool go_back(struct top_job *job)
{
	bool was_elsewhere = job->has_help || job->view.is_zoomed;

	if (job->has_help)
		job->has_help = false;
	else
		job->view.is_zoomed = false;
	return was_elsewhere;
}

static void obey_key(struct top_job *job, int key)
{
	struct top_view *v = &job->view;

	switch (key) {
	case KEY_END: job->is_over = true; break;
	case 'q': job->is_over |= !go_back(job); break;
	case KEY_ESCAPE: go_back(job); break;
	case KEY_UP: v->chosen -= v->chosen > 0; break;
	case KEY_DOWN: v->chosen++; break;
	case KEY_ENTER: zoom_in(job); break;
	case 's': v->is_by_children = v->has_children && !v->is_by_children; break;
	case 'k': choose_next_keys(job); break;
	case 'e': choose_next_event(job); break;
	case 'p':
	case ' ': job->is_paused = !job->is_paused; break;
	case 'z': forget_top_samples(job); break;
	case 'h':
	case '?': job->has_help = !job->has_help; break;
	default: break;
	}
}

static void obey_keys(struct top_job *job)
{
	bool any = false;

	for (int key; !job->is_over && (key = screen_read_key()) != KEY_NOTHING; any = true)
		obey_key(job, key);
	if (any && !job->is_over)
		draw_top_screen(job);
}

/* Gives the terminal back while the job is stopped. */
static void suspend_screen(struct top_job *job)
{
	suspended = 0;
	screen_close();
	raise(SIGSTOP);
	if (screen_open())
		draw_top_screen(job);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int run_top_loop(struct top_job *job)
{
	uint64_t delay = (uint64_t)(job->delay * 1e9), deadline = now_ns() + delay;
	int status = EXIT_DONE;

	job->table_time = now_ns();
	if (job->is_screen)
		draw_top_screen(job);
	while (status == EXIT_DONE && !job->is_over && !interrupted) {
		wait_for_input(job, deadline);
		check_child(job);
		status = read_records(job);
		if (suspended && job->is_screen)
			suspend_screen(job);
		if (job->is_screen)
			obey_keys(job);
		if (resized && job->is_screen)
			draw_top_screen(job);
		resized = 0;
		if (!job->is_screen)
			job->is_over |= job->has_ended;
		if (status != EXIT_DONE || (now_ns() < deadline && !job->is_over))
			continue;
		if (!job->is_over || !job->is_screen)
			finish_top_table(job);
		deadline = now_ns() + delay;
	}
	return status;
}

static int run_session(struct top_job *job)
{
	int status;

	job->view.has_children = job->options.tree != NO_TREE;
	job->options.messages = get_profile_messages();
	job->reader = profile_begin(&job->profile, job->session, true, &job->options);
	job->session = NULL;
	if (!job->reader || job->profile.failed)
		return report_no_memory();
	if (pfm_start_session(job->profile.session) != PFMLIB_SUCCESS) {
		fprintf(stderr, ME ": cannot start: %s\n",
		        strerror(pfm_session_errno(job->profile.session)));
		return EXIT_REFUSED;
	}
	status = job->command ? child_start(job->command, &job->child) : EXIT_DONE;
	if (status != EXIT_DONE)
		return status;
	catch_signals(job->is_screen);
	job->is_screen = job->is_screen && screen_open();
	job->view.has_cursor = job->is_screen;
	status = run_top_loop(job);
	screen_close();
	if (job->child.pid > 0)
		child_signal(&job->child, SIGTERM);
	return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int check_options(struct command_args *args, struct top_job *job)
{
	const struct option_rule rules[] = {
		{ job->pid && (job->all_cpus || job->cpus),
		  "-p and -t (tasks) cannot be combined with -a and -C (CPUs)." },
		{ job->view.is_by_children && !job->options.tree,
		  "--children needs call chains: -g." },
		{ job->pid && args->n, "-p and -t cannot be combined with a command." },
		{ job->sampling.freq && job->sampling.period,
		  "-F (frequency) and -c (period) cannot be combined." },
	};

	if (check_option_rules(args, rules, sizeof(rules) / sizeof(rules[0])) != EXIT_DONE ||
	    check_cpu_list(args, job->cpus))
		return EXIT_USAGE;
	if (args->n)
		job->command = args->operands;
	if (!job->pid && !job->command && !job->cpus)
		job->all_cpus = true;
	job->options.keys = job->keys;
	job->ctx = open_context(NULL);
	return job->ctx ? EXIT_DONE : EXIT_REFUSED;
}

static int read_delay(struct command_args *args, struct top_job *job, const char *text)
{
	char *end;

	job->delay = strtod(text, &end);
	if (end != text && !*end && job->delay >= 0.1 && job->delay <= DELAY_MAX)
		return EXIT_DONE;
	return args->status = report_usage_error(
		       args, "-d: expected seconds from 0.1 to 3600, got '%s'.", text);
}

static int read_number(struct command_args *args, const char *name, const char *text, uint64_t max,
                       uint64_t *to)
{
	return option_number(args, name, text, 1, max, to) ? EXIT_DONE : args->status;
}

static int apply_option(struct command_args *args, struct top_job *job, int id, const char *value)
{
	switch (id) {
	case 'e': return event_list_add(&job->events, value) ? EXIT_DONE : report_no_memory();
	case 'F': return read_number(args, "-F", value, 1000000000, &job->sampling.freq);
	case 'c': return read_number(args, "-c", value, INT64_MAX, &job->sampling.period);
	case 'g':
		job->sampling.fields |= PFM_SAMPLE_CHAIN;
		job->options.tree = CALLEE_TREE;
		return EXIT_DONE;
	case OPT_CHILDREN: job->view.is_by_children = true; return EXIT_DONE;
	case 'p': return read_number(args, "-p", value, INT32_MAX, &job->pid);
	case 't':
		job->one_thread = true;
		return read_number(args, "-t", value, INT32_MAX, &job->pid);
	case 'a': job->all_cpus = true; return EXIT_DONE;
	case 'C': job->cpus = value; return EXIT_DONE;
	case 'i': job->no_inherit = true; return EXIT_DONE;
	case 'd': return read_delay(args, job, value);
	case 'z': job->zero = true; return EXIT_DONE;
	case 'n': return read_number(args, "-n", value, UINT32_MAX, &job->line_limit);
	case OPT_ITERATIONS:
		return read_number(args, "--iterations", value, UINT32_MAX, &job->iterations);
	default: break;
	}
	return option_keys(args, value, TOP_KEYS, &job->keys) ? EXIT_DONE : args->status;
}

static int run_top(struct command_args *args)
{
	struct top_job job = { .sampling = PFM_INIT(job.sampling),
		               .delay = DELAY_DEFAULT,
		               .keys = TOP_KEYS };
	const char *value;
	int id, status;

	program_name = ME;
	job.sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU |
	                      PFM_SAMPLE_PERIOD;
	job.sampling.records = PFM_SIDEBAND_USUAL;
	while ((id = next_option(args, &value)) > 0)
		if (apply_option(args, &job, id, value) != EXIT_DONE)
			return args->status;
	if (id < 0)
		return args->status;
	status = check_options(args, &job);
	job.is_screen = screen_is_possible();
	if (status == EXIT_DONE && job.command)
		status = prepare_command(&job);
	if (status == EXIT_DONE)
		status = open_session(&job);
	if (status == EXIT_DONE)
		status = run_session(&job);
	base_discard_child(&job.child);
	profile_end(job.reader);
	profile_free(&job.profile);
	pfm_close_session(job.session);
	pfm_close_context(job.ctx);
	event_list_free(&job.events);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.usage = "[OPTION]... [-p PID | -t TID | -C CPUS | -- COMMAND [ARG]...]",
	.summary = "show where time is spent now",
	.about = "Samples all CPUs, or what is named, and shows the functions with the most "
		 "samples, with the standard error of each share; the table is drawn anew every "
		 "two seconds. On a terminal keys choose what is shown: 'h' lists them. Elsewhere "
		 "each table is printed below the one before, until the command ends, --iterations "
		 "are done, or an interrupt comes. Without -e, samples cycles, or cpu-clock on a "
		 "machine without a PMU.",
	.examples = "What is the machine busy with?\n"
		    "pfm top\n"
		    "Who calls the expensive functions of a process?\n"
		    "pfm top -g -p 1234\n"
		    "One table of the next five seconds, for a log\n"
		    "pfm top -d 5 --iterations 1 -n 10 >now.txt\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_top
};
