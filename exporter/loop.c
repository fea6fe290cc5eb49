/* SPDX-License-Identifier: MIT */
/* pfm serve: reads the counters at each interval, and serves them until a signal ends it. */
#include "common/term.h"
#include "common/pfm.h"
#include "series/series.h"
#include "config.h"
#include "container.h"
#include "serve.h"
#include "web.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	LONGEST_WAIT_MS = 60000, /* longest sleep without clients */
	BUDGET_WAIT_MS = 1000,   /* between two checks of the budget, */
	LOCK_WAIT_MS = 100,      /* and of the lock */
	MACHINE_SERIES = 16      /* series that belong to no row: the version, the processors */
};

#define OPENING_PAUSE (10 * (uint64_t)NS)

/* ---- readings -------------------------------------------------------------------------------- */

/* Opens the present control groups, as far as --max-series permits. */
static int update_groups(struct serve *s)
{
	const uint64_t own =
		SERVE_SELF_SERIES + MACHINE_SERIES + (s->has_pressure ? PRESSURE_SERIES : 0);
	uint64_t size = s->max_series > own ? s->max_series - own : 0;

	int rc = update_cgroups(&s->job, size < SIZE_MAX ? (size_t)size : SIZE_MAX,
	                        !s->paused_since, &s->cgroups);

	name_containers(s);
	return rc;
}

/* Counts on CPUs that have come on line, from the next interval on. Events that cannot be opened
 * there are not tried again at each reading. */
static bool count_on_new_cpus(struct serve *s, uint64_t now)
{
	const bool is_early = s->last_opening && now - s->last_opening < OPENING_PAUSE;

	if (s->paused_since || is_early || !misses_cpu(&s->job.targets))
		return true;
	s->last_opening = now;
	return reopen_targets(&s->job) == EXIT_DONE;
}

/* False if the counters cannot be read, which ends the service. */
static bool read_counts_now(struct serve *s)
{
	uint64_t begin;
	double elapsed;

	if (s->job.targets.has_cgroup_patterns && update_groups(s) != EXIT_DONE)
		return false;
	begin = now_ns();
	elapsed = (double)(begin - s->last_reading) / NS;
	if (read_targets(&s->job.targets) != EXIT_DONE)
		return false;
	s->job.timing.reading_took = (double)(now_ns() - begin) / NS;
	note_own_times(s);
	s->job.timing.paused = compute_paused_seconds(s) - s->paused_before;
	s->paused_before += s->job.timing.paused;
	s->job.timing.known_since = find_known_reading(s);
	s->job.timing.reading = begin;
	set_own_counts(&s->job, elapsed, -1, -1);
	gather_rows(&s->job, true);
	if (!update_series(&s->job, elapsed)) {
		report_no_memory();
		return false;
	}
	free_slices(&s->job);
	forget_slots(&s->job);
	if (!count_on_new_cpus(s, begin))
		return false;
	s->last_reading = begin;
	s->version++;
	s->figures.readings++;
	s->figures.interval_seconds = elapsed;
	s->figures.reading_seconds = (double)(now_ns() - begin) / NS;
	return true;
}

/* With --rotate: moves the counters of what was on until now, or between the ends of turns of what
 * takes no turns. */
static bool move_totals(struct serve *s, bool is_turn_over)
{
	if (read_targets(&s->job.targets) != EXIT_DONE)
		return false;
	s->version++;
	if (is_turn_over)
		s->last_turn = now_ns();
	if (add_turns(&s->job, is_turn_over))
		return true;
	report_no_memory();
	return false;
}

/* With --rotate, metrics and quality are of whole cycles; the counters move with each turn. */
bool refresh_counts(struct serve *s)
{
	if (s->job.rotation.is_on && s->figures.readings)
		return move_totals(s, false);
	return (s->figures.readings && now_ns() - s->last_reading < s->shared_ns) ||
	       read_counts_now(s);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Reports each reason once, with all events that it applies to. */
static void report_missing_counts(const struct stat_result *result)
{
	for (unsigned i = 0; i < result->n_rows; i++) {
		const pfm_count_info_t *info = &result->rows[i].info;
		const char *between = "";
		unsigned k = 0;

		while (k < i && strcmp(result->rows[k].info.why, info->why) != 0)
			k++;
		if (!*info->why || k < i)
			continue;
		fputs("pfm serve: ", stderr);
		for (k = i; k < result->n_rows; k++)
			if (strcmp(result->rows[k].info.why, info->why) == 0 &&
			    (k == i || strcmp(result->rows[k].info.name,
			                      result->rows[k - 1].info.name) != 0)) {
				fprintf(stderr, "%s%s", between, result->rows[k].info.name);
				between = ", ";
			}
		fprintf(stderr, ": %s\n", info->why);
		if (*info->remedy)
			fprintf(stderr, "  %s\n", info->remedy);
	}
}

/* True if a person has to give the service a right: it counts after its next start. */
static bool lacks_right(const struct stat_targets *targets)
{
	for (unsigned k = 0; k < targets->n; k++)
		for (unsigned i = 0; i < targets->list[k].n; i++)
			if (targets->list[k].counts[i].cause == PFM_CAUSE_PERMISSION)
				return true;
	return false;
}

/* Nothing can be counted now. Causes of this machine do not go away with another start, and are
 * served. */
static int report_nothing_counted(struct stat_job *job)
{
	gather_rows(job, true);
	report_missing_counts(&job->result);
	if (!lacks_right(&job->targets)) {
		fputs("pfm serve: nothing can be counted; the causes are served\n", stderr);
		return EXIT_DONE;
	}
	fputs("pfm serve: nothing can be counted\n", stderr);
	return EXIT_REFUSED;
}

static int check_series(struct serve *s)
{
	size_t n = count_most_series(&s->job) + SERVE_SELF_SERIES + MACHINE_SERIES +
	           (s->has_pressure ? PRESSURE_SERIES : 0);

	if (n <= s->max_series)
		return EXIT_DONE;
	fprintf(stderr,
	        "pfm serve: up to %zu series would be served, and --max-series allows %llu: count "
	        "fewer events or metrics, add up more (--per-socket, --per-die), or allow %zu\n",
	        n, (unsigned long long)s->max_series, n);
	return EXIT_REFUSED;
}

/* Finds the control groups that match the patterns at the start. Checks the events even without
 * any. */
static int open_first_groups(struct serve *s)
{
	struct stat_job *job = &s->job;
	int rc;

	if (!job->targets.has_cgroup_patterns)
		return EXIT_DONE;
	rc = refuse_bad_events(job);
	return rc == EXIT_DONE ? update_cgroups(job, SIZE_MAX, false, &s->cgroups) : rc;
}

/* Opens and starts the counters. */
static int start_counts(struct serve *s)
{
	struct stat_job *job = &s->job;
	int rc;

	job->ctx = open_context(NULL);
	if (!job->ctx)
		return EXIT_REFUSED;
	limit_files(&s->budget);
	job->request.counters_free = (unsigned)s->budget.resources[BUDGET_COUNTERS_FREE].limit;
	rc = drop_bad_events(job);
	if (rc == EXIT_DONE)
		rc = plan_stat_metrics(job);
	if (rc == EXIT_DONE)
		rc = make_targets(job);
	if (rc == EXIT_DONE)
		rc = open_targets(job, 0);
	if (rc == EXIT_DONE)
		rc = open_first_groups(s);
	if (rc == EXIT_DONE)
		rc = open_probe(s);
	if (rc == EXIT_DONE)
		rc = check_files(s);
	if (rc == EXIT_DONE)
		rc = check_series(s);
	if (rc == EXIT_DONE)
		rc = start_targets(job);
	s->last_reading = now_ns();
	if (rc != EXIT_DONE)
		return rc;
	return job->targets.has_cgroup_patterns || !has_nothing_to_count(job)
	               ? EXIT_DONE
	               : report_nothing_counted(job);
}

/* Says what this build cannot do before anything else. */
static int check_outputs(struct serve *s)
{
	if (!s->textfile && !s->n_addresses && !s->otlp_url && !s->lines_path && !s->api_path)
		s->addresses[s->n_addresses++] = SERVE_USUAL_ADDRESS;
	if (!s->n_addresses && s->web_path) {
		fputs("pfm serve: --web-config needs --listen\n", stderr);
		return EXIT_USAGE;
	}
	if (have_http && s->web_path)
		s->web = load_web_config(s->web_path);
	if (!s->n_addresses || have_http)
		return !s->web_path || s->web ? EXIT_DONE : EXIT_REFUSED;
	fputs("pfm serve: this pfm was built without libmicrohttpd: --textfile works, --listen "
	      "needs a build with Debian's libmicrohttpd-dev\n",
	      stderr);
	return EXIT_REFUSED;
}

static int open_outputs(struct serve *s)
{
	int rc = EXIT_DONE;

	if (s->textfile)
		rc = open_textfile(s);
	for (unsigned i = 0; i < s->n_addresses && rc == EXIT_DONE; i++)
		rc = open_listener(s, s->addresses[i]);
	if (rc == EXIT_DONE)
		rc = start_http(s);
	if (rc == EXIT_DONE)
		rc = open_lines(s);
	if (rc == EXIT_DONE)
		rc = open_api(s);
	if (rc == EXIT_DONE)
		rc = open_kubelet(s);
	return rc == EXIT_DONE ? open_otlp(s) : rc;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Ignores signals that have no meaning here and would end the process: its sockets and files would
 * be left over. */
static void ignore_signals(void)
{
	static const int ignored[] = { SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
		                       SIGPROF, SIGPOLL, SIGPWR,  SIGXFSZ };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_IGN);
}

/* Opens a descriptor for the signals that end the service. Signals that the caller ignores, as
 * nohup(1) does, stay ignored. */
static int open_signals(sigset_t *before)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction was;
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaddset(&signals, ends[i]);
	ignore_signals();
	sigprocmask(SIG_BLOCK, &signals, before);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ends a slot when its time is over, and takes a reading when the cycle is over. Returns the
 * milliseconds until the next slot; negative if the counters could not be read. */
static int rotate_groups(struct serve *s, uint64_t *slot_end)
{
	struct rotation *r = &s->job.rotation;

	if (!r->is_on || s->paused_since)
		return LONGEST_WAIT_MS;
	if (!*slot_end)
		*slot_end = now_ns() + compute_slot_end(r);
	if (now_ns() >= *slot_end) {
		if (!move_totals(s, true))
			return -1;
		gather_slice(&s->job);
		end_slice(&s->job);
		end_slot(&s->job);
		if (select_slot(&s->job) != EXIT_DONE ||
		    (r->n_past >= r->info.n_slots && !read_counts_now(s)))
			return -1;
		*slot_end = now_ns() + compute_slot_end(r);
	}
	return find_ms_until(*slot_end, LONGEST_WAIT_MS);
}

/* Writes the textfile when it is time. Returns the milliseconds until the next time. */
static int serve_textfile(struct serve *s, uint64_t *next)
{
	uint64_t now = now_ns();

	if (!s->textfile)
		return LONGEST_WAIT_MS;
	if (now >= *next) {
		if (!refresh_counts(s))
			return -1;
		write_textfile(s);
		*next += s->job.timing.interval * get_back_off(&s->budget);
		if (*next < now)
			*next = now + s->job.timing.interval;
	}
	return find_ms_until(*next, LONGEST_WAIT_MS);
}

static int get_longest_wait(const struct serve *s)
{
	return s->lock_path ? LOCK_WAIT_MS : s->budget.is_on ? BUDGET_WAIT_MS : LONGEST_WAIT_MS;
}

/* The descriptors for which the loop waits. */
struct serve_waits {
	struct pollfd at[3 + SERVE_MAX_LISTENERS];
	unsigned n;
};

static void list_waits(const struct serve *s, int signals, struct serve_waits *w)
{
	int fds[SERVE_MAX_LISTENERS];
	const unsigned n = list_http_fds(s, fds);

	w->at[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
	w->n = 1;
	for (unsigned i = 0; i < n; i++)
		w->at[w->n++] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (get_lines_fd(s) >= 0)
		w->at[w->n++] = (struct pollfd){ .fd = get_lines_fd(s), .events = POLLIN };
	if (get_api_fd(s) >= 0)
		w->at[w->n++] = (struct pollfd){ .fd = get_api_fd(s), .events = POLLIN };
}

/* Handles signals. True if one of them ends the service; *@rc is its exit status then. A hangup
 * comes from a terminal that is gone, or from a person who has changed a file. */
static bool take_signals(struct serve *s, struct serve_waits *w, int *rc)
{
	struct signalfd_siginfo info;
	bool is_reload = false;

	*rc = EXIT_DONE;
	while (read(w->at[0].fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP || term_is_terminal(stderr))
			return true;
		is_reload = true;
	}
	if (is_reload)
		*rc = reload_http(s);
	list_waits(s, w->at[0].fd, w);
	return *rc != EXIT_DONE;
}

/* Does what is due. Returns the milliseconds until something else is; negative if the counters
 * could not be read. */
static int do_work(struct serve *s, uint64_t *next, uint64_t *slot_end)
{
	const int longest = get_longest_wait(s), turn = rotate_groups(s, slot_end);
	int wait = serve_textfile(s, next);

	if (turn < 0 || wait < 0 || !run_http(s) || !run_lines(s))
		return -1;
	run_api(s);
	wait = run_kubelet(s, wait);
	wait = run_otlp(s, turn < wait ? turn : wait);
	if (wait < 0)
		return -1;
	wait = compute_http_timeout(s, wait < longest ? wait : longest);
	return compute_api_timeout(s, compute_lines_timeout(s, wait));
}

static int serve_until_signal(struct serve *s, int signals)
{
	const int longest = get_longest_wait(s);
	uint64_t next = now_ns() + s->job.timing.interval, slot_end = 0;
	struct serve_waits waits;
	int rc;

	begin_budget(&s->budget);
	if (s->config)
		__atomic_add_fetch(&s->config->n_started, 1, __ATOMIC_RELAXED);
	list_waits(s, signals, &waits);
	for (;;) {
		int wait, n;

		if (give_way(s) != EXIT_DONE)
			return EXIT_REFUSED;
		wait = compute_budget_wait(&s->budget);
		if (wait > 0) {
			n = poll(waits.at, 1, wait < longest ? wait : longest);
		} else {
			wait = do_work(s, &next, &slot_end);
			if (wait < 0)
				return EXIT_REFUSED;
			n = poll_with_otlp(s, waits.at, waits.n, wait);
		}
		if (n < 0 && errno != EINTR)
			return report_bad_option("poll", errno);
		if (n > 0 && waits.at[0].revents && take_signals(s, &waits, &rc))
			return rc;
	}
}

/* Takes pending signals, which would end the process before it has cleaned up. */
static void discard_signals(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		;
}

int serve_counts(struct serve *s)
{
	sigset_t before;
	int signals = open_signals(&before), rc;

	if (signals < 0)
		return report_bad_option("signals", errno);
	rc = check_outputs(s);
	if (rc == EXIT_DONE)
		rc = open_give_way_lock(s);
	if (rc == EXIT_DONE)
		rc = start_counts(s);
	if (rc == EXIT_DONE)
		rc = open_outputs(s);
	if (rc == EXIT_DONE)
		rc = serve_until_signal(s, signals);
	close_otlp(s);
	close_kubelet(s);
	close_api(s);
	close_lines(s);
	stop_http(s);
	close_textfile(s);
	close_give_way_lock(s);
	discard_signals(signals);
	close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
