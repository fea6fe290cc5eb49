/* SPDX-License-Identifier: MIT */
/* pfm agent: samples all CPUs all the time and sends the profiles to a receiver. Each round is a
 * process of pfm record, so that memory stays the same however long it runs. The next round has
 * begun to sample before the one before it ends, so no time is left out; what both sample is a few
 * milliseconds. Profiles are converted and sent by a process beside the rounds. */
#include "common/pfm.h"
#include "record/push.h"
#include "record/rounds.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "stat/stat.h"

enum {
	USUAL_HZ = 19,
	USUAL_ROUND = 60,
	READY_MS = 30000, /* until a round samples */
	PATH_SIZE = 4096,
	MAX_LABELS = 32,
	REPORT_ROUNDS = 60, /* between two reports */
	NUMBER_SIZE = 24
};

enum {
	OPT_PUSH = LONG_ONLY,
	OPT_LABEL,
	OPT_FOLDER,
	OPT_ROUND,
	OPT_ROUNDS,
	OPT_CALL_GRAPH,
	OPT_NAMES,
	OPT_BUDGET,
	OPT_KEEP_BYTES
};

static const struct command_option options[] = {
	{ OPT_PUSH, "push", "URL",
	  "the receiver: pprof if the URL ends in /ingest (Pyroscope) or /writeraw (Parca), else "
	  "OTLP profiles; env: to that of OTEL_EXPORTER_OTLP_ENDPOINT" },
	{ OPT_LABEL, "label", "NAME=VALUE",
	  "a label, or an attribute of the resource, of all profiles; may be repeated" },
	{ 'e', "event", "EVENT,...", "events to sample; default cycles, or cpu-clock" },
	{ 'F', "freq", "HZ", "samples a second of each CPU, default 19" },
	{ OPT_BUDGET, "budget", "cpu=PERCENT",
	  "take fewer samples, down to one a second, while the agent uses more of one processor" },
	{ OPT_CALL_GRAPH, "call-graph", "HOW",
	  "call chains: fp (the default), dwarf, dwarf,SIZE or lbr" },
	{ OPT_NAMES, "names", NULL,
	  "look up names of functions on this machine, instead of by build ids at the receiver" },
	{ OPT_ROUND, "round", "S", "a profile is of S seconds, 60" },
	{ OPT_ROUNDS, "rounds", "N", "stop after N profiles" },
	{ OPT_FOLDER, "folder", "FOLDER",
	  "where profiles wait for the receiver; default $STATE_DIRECTORY or "
	  "/var/lib/perfmon-agent" },
	{ OPT_KEEP_BYTES, "keep-bytes", "N",
	  "remove the oldest that wait while all take more than N bytes, 100000000" },
	{ 0, NULL, NULL, NULL }
};

/* A round that samples. */
struct agent_round {
	pid_t pid; /* 0: none */
	int control;
	uint64_t began;
	char path[PATH_SIZE], part[PATH_SIZE + 8];
};

struct agent {
	struct record_rounds rounds;
	const char *events, *call_graph;
	struct label labels[MAX_LABELS + 1];
	unsigned n_labels;
	uint64_t hz, present_hz;
	double budget; /* of one processor; 0: none */
	sigset_t signals, before;
	pid_t pusher; /* 0: none */
	/* what reports tell */
	uint64_t n_rounds, n_failed, began, sampled_until, missed_ns;
	double cpu_before;
	uint64_t cpu_since;
};

/* ---- options --------------------------------------------------------------------------------- */

/* Adds NAME=VALUE, a copy. False if it is not such a text, or there are too many. */
static bool add_label(struct agent *a, const char *text)
{
	const size_t n =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
	char *copy;

	if (!n || n > MAX_LABEL_NAME || text[n] != '=' || !text[n + 1] || a->n_labels == MAX_LABELS)
		return false;
	copy = strdup(text);
	if (!copy)
		return false;
	copy[n] = '\0';
	a->labels[a->n_labels].name = copy;
	a->labels[a->n_labels++].value = copy + n + 1;
	return true;
}

static void free_labels(struct agent *a)
{
	while (a->n_labels)
		free((char *)(uintptr_t)a->labels[--a->n_labels].name);
}

/* "cpu=1%" */
static bool read_budget_text(struct agent *a, const char *text)
{
	char *end;

	if (strncmp(text, "cpu=", 4) != 0)
		return false;
	a->budget = strtod(text + 4, &end) / 100;
	return end > text + 4 && strcmp(end, "%") == 0 && a->budget > 0 && a->budget <= 100;
}

static int parse_agent_option(struct command_args *args, struct agent *a, int id, const char *value)
{
	struct record_rounds *r = &a->rounds;
	bool is_good = true;

	switch (id) {
	case OPT_PUSH:
		if (!is_push_url(value))
			return report_usage_error(args,
			                          "expected a URL such as "
			                          "http://127.0.0.1:4040/ingest after --push, got "
			                          "'%s'.",
			                          value);
		r->push_url = value;
		break;
	case OPT_LABEL:
		if (!add_label(a, value))
			return report_usage_error(
				args,
				"expected up to %d labels NAME=VALUE, names of up to "
				"%d bytes, got '%s'.",
				MAX_LABELS, MAX_LABEL_NAME, value);
		break;
	case OPT_BUDGET:
		if (!read_budget_text(a, value))
			return report_usage_error(
				args, "expected cpu=PERCENT, such as cpu=1%%, got '%s'.", value);
		break;
	case 'e': a->events = value; break;
	case OPT_CALL_GRAPH: a->call_graph = value; break;
	case OPT_NAMES: r->has_names = true; break;
	case OPT_FOLDER: r->folder = value; break;
	case 'F': is_good = option_number(args, "-F", value, 1, 10000, &a->hz); break;
	case OPT_ROUND:
		is_good = option_number(args, "--round", value, 1, 3600, &r->round_seconds);
		break;
	case OPT_ROUNDS:
		is_good = option_number(args, "--rounds", value, 1, INT64_MAX, &r->n_rounds);
		break;
	case OPT_KEEP_BYTES:
		is_good = option_number(args, "--keep-bytes", value, 1, INT64_MAX, &r->keep_bytes);
		break;
	}
	return is_good ? -1 : args->status;
}

static int read_options(struct command_args *args, struct agent *a)
{
	const char *value, *state = getenv("STATE_DIRECTORY");
	int id, status;

	while ((id = next_option(args, &value)) > 0) {
		status = parse_agent_option(args, a, id, value);
		if (status >= 0)
			return status;
	}
	if (id < 0)
		return args->status;
	if (args->n)
		return report_usage_error(args, "expected options only, got '%s'.",
		                          args->operands[0]);
	if (!a->rounds.push_url)
		return report_usage_error(args, "expected --push, the URL of a receiver.");
	a->rounds.push_url = find_push_url(a->rounds.push_url);
	if (!a->rounds.push_url)
		return EXIT_REFUSED;
	if (!a->rounds.folder)
		a->rounds.folder = state && *state ? state : "/var/lib/perfmon-agent";
	return -1;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Runs pfm record in the child until a signal. */
static int run_record(const struct agent *a, const struct agent_round *r, const char *control)
{
	char hz[NUMBER_SIZE];
	const char *const words[] = { "record",      "-a",        "--cgroups",
		                      "-F",          hz,          "--call-graph",
		                      a->call_graph, "--control", control,
		                      "-o",          r->part,     a->events ? "-e" : NULL,
		                      a->events,     NULL };
	char *argv[sizeof(words) / sizeof(words[0])];
	int n = 0;

	snprintf(hz, sizeof(hz), "%llu", (unsigned long long)a->present_hz);
	for (; words[n]; n++)
		argv[n] = (char *)(uintptr_t)words[n];
	argv[n] = NULL;
	is_record_round = is_renamed_round = true;
	is_later_round = a->n_rounds > 0;
	return run_pfm_command(&cmd_record, n, argv);
}

/* Waits until the round answers, which it does when it samples. False if it has ended. */
static bool wait_until_ready(const struct agent_round *r, int answers)
{
	struct pollfd p = { .fd = answers, .events = POLLIN };
	char text[16];

	return write(r->control, "ping\n", 5) == 5 && poll(&p, 1, READY_MS) == 1 &&
	       read(answers, text, sizeof(text)) > 0;
}

/* Starts a round, which samples when this returns. False after a message. */
static bool start_round(struct agent *a, struct agent_round *r)
{
	char name[ROUND_NAME_SIZE], control[64];
	int to[2], from[2];
	bool is_ready;

	*r = (struct agent_round){ .control = -1 };
	name_round(name);
	snprintf(r->path, sizeof(r->path), "%s/%s", a->rounds.folder, name);
	snprintf(r->part, sizeof(r->part), "%s.part", r->path);
	if (pipe(to) != 0 || pipe(from) != 0)
		return false;
	fflush(NULL);
	r->pid = fork();
	if (r->pid == 0) {
		snprintf(control, sizeof(control), "fd:%d,%d", to[0], from[1]);
		close(to[1]);
		close(from[0]);
		sigprocmask(SIG_SETMASK, &a->before, NULL);
		_exit(run_record(a, r, control));
	}
	close(to[0]);
	close(from[1]);
	r->control = to[1];
	is_ready = r->pid > 0 && wait_until_ready(r, from[0]);
	close(from[0]);
	r->began = now_ns();
	if (!is_ready)
		fputs("pfm agent: the recorder does not sample; its messages tell why\n", stderr);
	return is_ready;
}

/* Ends a round and names its file. */
static void end_round(struct agent *a, struct agent_round *r)
{
	struct stat st;

	if (r->pid <= 0)
		return;
	kill(r->pid, SIGINT);
	a->sampled_until = now_ns();
	waitpid(r->pid, NULL, 0);
	close(r->control);
	r->pid = 0;
	if (stat(r->part, &st) == 0 && st.st_size > 0 && rename(r->part, r->path) == 0) {
		a->n_rounds++;
		return;
	}
	a->n_failed++;
	fprintf(stderr, "pfm agent: the profile %s failed: its samples are lost\n",
	        base_name(r->path));
	unlink(r->part);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Sends the profiles that wait, in a process beside the rounds, unless one is at it. */
static void push_beside(struct agent *a, bool is_last)
{
	if (a->pusher && waitpid(a->pusher, NULL, is_last ? 0 : WNOHANG) == a->pusher)
		a->pusher = 0;
	if (a->pusher)
		return;
	fflush(NULL);
	a->pusher = fork();
	if (a->pusher == 0) {
		push_rounds(&a->rounds);
		fflush(NULL);
		_exit(0);
	}
	if (is_last && a->pusher > 0)
		waitpid(a->pusher, NULL, 0);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* Processor time of the agent and of its processes that have ended. */
static double read_cpu_time(void)
{
	double seconds = 0;

	for (int i = 0; i < 2; i++) {
		struct rusage u;

		getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
		seconds += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	}
	return seconds;
}

/* The share of one processor since the last call. */
static double take_cpu_share(struct agent *a)
{
	const uint64_t now = now_ns();
	const double cpu = read_cpu_time(),
		     share = (cpu - a->cpu_before) / ((double)(now - a->cpu_since) / NS);

	a->cpu_before = cpu;
	a->cpu_since = now;
	return share;
}

/* Takes fewer samples above the budget, and more again below half of it. */
static void keep_budget(struct agent *a, double share)
{
	const uint64_t before = a->present_hz;

	if (a->budget > 0 && share > a->budget)
		a->present_hz = a->present_hz > 1 ? a->present_hz / 2 : 1;
	else if (share < a->budget / 2 && a->present_hz < a->hz)
		a->present_hz = 2 * a->present_hz < a->hz ? 2 * a->present_hz : a->hz;
	if (a->present_hz != before)
		fprintf(stderr,
		        "pfm agent: %.2f %% of a processor used; now %llu samples a second\n",
		        100 * share, (unsigned long long)a->present_hz);
}

static void report_state(const struct agent *a)
{
	const double all = (double)(now_ns() - a->began) / NS;

	fprintf(stderr,
	        "pfm agent: %llu profiles, %llu failed; %.2f %% of the time was sampled; %.2f %% "
	        "of a processor\n",
	        (unsigned long long)a->n_rounds, (unsigned long long)a->n_failed,
	        100 * (1 - (double)a->missed_ns / NS / all), 100 * read_cpu_time() / all);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Waits until @until. True if a signal to stop arrived. */
static bool wait_for_end(const struct agent *a, uint64_t until)
{
	while (now_ns() < until) {
		const uint64_t left = until - now_ns();
		const struct timespec t = { .tv_sec = (time_t)(left / NS),
			                    .tv_nsec = (long)(left % NS) };

		if (sigtimedwait(&a->signals, NULL, &t) > 0)
			return true;
	}
	return false;
}

/* Tries again after a round could not begin, and notes the time that is missing. False if a signal
 * arrived, or if it cannot begin now either. */
static bool start_after_gap(struct agent *a, struct agent_round *r)
{
	const uint64_t since = a->sampled_until;

	if (wait_for_end(a, now_ns() + NS) || !start_round(a, r)) {
		end_round(a, r);
		return false;
	}
	a->missed_ns += r->began - since;
	return true;
}

/* Takes rounds until a signal. */
static int take_rounds(struct agent *a)
{
	const uint64_t length = a->rounds.round_seconds * NS;
	struct agent_round round, next = { .control = -1 };
	bool is_over = false;

	if (!start_round(a, &round)) {
		end_round(a, &round);
		return EXIT_REFUSED;
	}
	a->began = a->cpu_since = round.began;
	while (!is_over) {
		is_over = wait_for_end(a, round.began + length);
		is_over |= a->rounds.n_rounds && a->n_rounds + 1 >= a->rounds.n_rounds;
		if (!is_over && !start_round(a, &next))
			end_round(a, &next);
		end_round(a, &round);
		round = next;
		next = (struct agent_round){ .control = -1 };
		if (!is_over && round.pid <= 0)
			is_over = !start_after_gap(a, &round);
		push_beside(a, is_over);
		keep_round_limits(&a->rounds);
		keep_budget(a, take_cpu_share(a));
		if (a->n_rounds % REPORT_ROUNDS == 0)
			report_state(a);
	}
	report_state(a);
	return a->n_rounds ? EXIT_DONE : EXIT_REFUSED;
}

static int run_in_folder(struct agent *a)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	const int lock = open_rounds_folder(a->rounds.folder);
	int status;

	if (lock < 0)
		return EXIT_REFUSED;
	sigemptyset(&a->signals);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&a->signals, ends[i]);
	sigprocmask(SIG_BLOCK, &a->signals, &a->before);
	signal(SIGPIPE, SIG_IGN);
	status = take_rounds(a);
	sigprocmask(SIG_SETMASK, &a->before, NULL);
	close(lock);
	return status;
}

static int run_agent(struct command_args *args)
{
	static struct agent a;
	int status;

	a = (struct agent){ .rounds = { .round_seconds = USUAL_ROUND, .keep_bytes = 100000000 },
		            .hz = USUAL_HZ,
		            .call_graph = "fp" };
	program_name = "pfm agent";
	status = read_options(args, &a);
	a.present_hz = a.hz;
	a.rounds.labels = a.labels;
	if (status < 0)
		status = run_in_folder(&a);
	free_labels(&a);
	return status;
}

const struct command cmd_agent = {
	.name = "agent",
	.usage = "--push URL [--label NAME=VALUE]... [OPTION]...",
	.summary = "profile the machine all the time, for a store of profiles",
	.about =
		"Samples all CPUs until a signal ends it, 19 times a second, with call chains and "
		"the container of each sample, and sends a profile of each minute to a receiver. "
		"Profiles that it does not take wait in a folder. Names of functions are looked up "
		"by the receiver, from build ids, unless --names is given.",
	.examples = "For an OpenTelemetry Collector, with a label for the fleet\n"
		    "pfm agent --push http://127.0.0.1:4318/v1development/profiles --label "
		    "region=eu1\n"
		    "For Pyroscope, with names, within half a percent of a processor\n"
		    "pfm agent --push http://127.0.0.1:4040/ingest --names --budget cpu=0.5%\n",
	.options = options,
	.run = run_agent
};
