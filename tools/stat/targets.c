/* SPDX-License-Identifier: MIT */
/* pfm stat: tasks and control groups to count. Each task, each control group, or the whole system
 * is a part of the job with a session of its own. */
#include "common/pfm.h"
#include "common/command_rights.h"
#include "stat/stat.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/grow.h"
#include "alpha/emulator.h"
#include "alpha/session.h"

enum { TICK_NS = 10000000 };

/* ---- parts ----------------------------------------------------------------------------------- */

struct stat_target *add_target(struct stat_targets *targets, unsigned first, unsigned n)
{
	bool failed = false;

	targets->list = base_grow_list(targets->list, targets->n, &targets->capacity,
	                               sizeof(*targets->list), &failed);
	if (failed)
		return NULL;
	targets->list[targets->n] =
		(struct stat_target){ .first = first, .n_texts = n, .watch = -1 };
	return &targets->list[targets->n++];
}

/* Returns the name and number of thread @tid as ps shows them. */

int make_targets(struct stat_job *job)
{
	if (job->targets.has_cgroup_patterns && !job->targets.adds_whole)
		return EXIT_DONE;
	if (job->targets.cgroups)
		return add_cgroups(job);
	if (job->targets.n_pids || job->targets.n_tids)
		return add_tasks(job);
	return add_target(&job->targets, 0, job->request.events.n)
	               ? EXIT_DONE
	               : report_bad_option("events", ENOMEM);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Opens a descriptor that becomes readable when process @pid ends; -1 if the kernel lacks
 * pidfd_open(). */
static int watch_process(int pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

void report_stat_refusal(const struct stat_job *job, const char *text, const pfm_error_t *error)
{
	struct json j = { .out = job->report.out };

	if (job->options.json && text && !*text)
		text = NULL;
	refuse_input(job->options.json ? &j : NULL, job->ctx, text, error, WANTED_ANY);
}

static void refuse_target(const struct stat_job *job, const struct stat_target *p,
                          const char *const *texts, unsigned n, const pfm_error_t *error)
{
	const char *text = error->n_clash || error->event < 0 || (unsigned)error->event >= n
	                           ? NULL
	                           : texts[error->event];
	unsigned i;

	if (job->targets.skips_refused)
		return;
	report_stat_refusal(job, text, error);
	if (job->options.json)
		return;
	if (error->kind == PFM_KIND_SYSTEM && p->cgroup)
		fprintf(stderr, "  %s\n", p->cgroup);
	for (i = 0; i < error->n_clash; i++)
		if (error->clash[i] < n)
			fprintf(stderr, "  %s\n", texts[error->clash[i]]);
}

static void make_session_options(const struct stat_job *job, const struct stat_target *p, int pid,
                                 pfm_session_options_t *so)
{
	so->pid = p->pid ? p->pid : pid;
	so->cpus = job->options.cpus;
	so->cgroup = p->cgroup;
	so->flags = job->options.no_inherit ? 0 : PFM_SESSION_INHERIT;
	if (job->options.dry_run)
		so->flags |= PFM_SESSION_DRY_RUN;
	if (job->options.all_cpus || job->options.cpus)
		so->flags = (so->flags | PFM_SESSION_SYSTEM_WIDE) & ~(unsigned)PFM_SESSION_INHERIT;
	else if (job->command && !p->pid && !job->timing.delay && !job->control.on &&
	         !job->rotation.is_on)
		so->flags |= PFM_SESSION_ENABLE_ON_EXEC;
	if (job->options.by >= BY_CPU && job->options.by <= BY_NODE)
		so->flags |= PFM_SESSION_PER_CPU;
	if (p->thread)
		so->flags |= PFM_SESSION_ONE_THREAD;
}

static bool grow_targets(struct stat_target *p)
{
	unsigned i, n = p->n ? p->n : 1;

	p->counts = calloc(n, sizeof(*p->counts));
	p->earlier = calloc(n, sizeof(*p->earlier));
	p->slice_counts = calloc(n, sizeof(*p->slice_counts));
	p->turn_counts = calloc(n, sizeof(*p->turn_counts));
	p->rows = calloc(n, sizeof(*p->rows));
	if (!p->counts || !p->earlier || !p->slice_counts || !p->turn_counts || !p->rows)
		return false;
	for (i = 0; i < n; i++)
		p->counts[i].size = sizeof(p->counts[i]);
	return true;
}

/* Collects the texts of @p for the library, and their filters. Events after the last --filter, such
 * as those of metrics, have no filter. Returns the number of texts. */
static unsigned list_target_texts(const struct stat_request *request, const struct stat_target *p,
                                  const char **texts, const char **filters)
{
	unsigned i, n = 0;

	for (i = p->first; i < p->first + p->n_texts; i++) {
		if (find_own_event(request->events.texts[i]))
			continue;
		filters[n] = i < request->n_filters ? request->filters[i] : NULL;
		texts[n++] = request->events.texts[i];
	}
	return n;
}

/* Opens the session of the @n @texts, which are those of @p. */
static int open_session(struct stat_job *job, struct stat_target *p, int pid, const char **texts,
                        unsigned n, const char **filters)
{
	pfm_session_options_t so = PFM_INIT(so);
	pfm_alpha_session_t alpha = PFM_INIT(alpha);
	pfm_error_t error = PFM_INIT(error);

	error.event = -1;
	make_session_options(job, p, pid, &so);
	if (job->request.filters)
		so.filters = filters;
	if (job->options.model) {
		alpha_emulator_close(p->emulator);
		p->emulator = open_device_model("stat", job->options.model);
		if (!p->emulator)
			return EXIT_REFUSED;
		alpha.emulator = alpha_emulator_get_device(p->emulator);
		so.backend = "pfm_device";
		so.backend_options = &alpha;
	}
	if (pfm_open_session(&p->session, job->ctx, &so, texts, n, &error) != PFMLIB_SUCCESS) {
		p->session = NULL;
		refuse_target(job, p, texts, n, &error);
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}

static int open_target(struct stat_job *job, struct stat_target *p, int pid)
{
	const char **texts = calloc(p->n_texts + 1, sizeof(*texts)),
		   **filters = calloc(p->n_texts + 1, sizeof(*filters));
	unsigned n = texts && filters ? list_target_texts(&job->request, p, texts, filters) : 0,
		 before = p->n;
	int status = !texts || !filters ? report_bad_option("events", ENOMEM)
	             : n                ? open_session(job, p, pid, texts, n, filters)
	                                : EXIT_DONE;

	free(texts);
	free(filters);
	if (status != EXIT_DONE || !n)
		return status;
	p->n = pfm_session_size(p->session);
	if (p->counts)
		return p->n == before ? EXIT_DONE
		       : job->targets.skips_refused
		               ? EXIT_REFUSED
		               : report_bad_option("CPUs went on or off line between runs", EAGAIN);
	if (!grow_targets(p))
		return report_bad_option("counts", ENOMEM);
	if (p->pid)
		p->watch = watch_process(p->pid);
	return EXIT_DONE;
}

int open_targets(struct stat_job *job, int pid)
{
	bool fresh = !job->result.n_rows;
	int status = EXIT_DONE;
	unsigned i;

	for (i = 0; i < job->targets.n && status == EXIT_DONE; i++)
		status = open_target(job, &job->targets.list[i], pid);
	for (i = 0; i < job->targets.n && status == EXIT_DONE && fresh; i++)
		if (!make_rows(job, &job->targets.list[i]) ||
		    !add_session_metrics(&job->result, job->targets.list[i].session))
			status = report_bad_option("counts", ENOMEM);
	if (status == EXIT_DONE && fresh && (!make_own_rows(job) || !prepare_ratios(job)))
		status = report_bad_option("counts", ENOMEM);
	return status;
}

int refuse_bad_events(struct stat_job *job)
{
	struct stat_target all = { .n_texts = job->request.events.n, .watch = -1 };
	const bool was_dry = job->options.dry_run;
	int status;

	job->options.dry_run = true;
	status = open_target(job, &all, 0);
	job->options.dry_run = was_dry;
	free_target(&all);
	return status;
}

/* True if the event at @number is valid, or has been noted as refused; *@is_valid tells which. */
static bool try_event(struct stat_job *job, unsigned number, bool *is_valid)
{
	const char *text = job->request.events.texts[number];
	pfm_session_options_t so = PFM_INIT(so);
	pfm_error_t error = PFM_INIT(error);
	pfm_session_t *session = NULL;
	struct stat_target one = { .n_texts = 1, .watch = -1 };

	*is_valid = true;
	if (find_own_event(text))
		return true;
	error.event = -1;
	make_session_options(job, &one, 0, &so);
	so.flags |= PFM_SESSION_DRY_RUN;
	*is_valid = pfm_open_session(&session, job->ctx, &so, &text, 1, &error) == PFMLIB_SUCCESS;
	if (*is_valid) {
		pfm_close_session(session);
		return true;
	}
	report_stat_refusal(job, text, &error);
	return add_refused_name(&job->request, text, &error, false);
}

int drop_bad_events(struct stat_job *job)
{
	struct event_list *events = &job->request.events;
	unsigned n = 0;
	bool is_valid;

	for (unsigned i = 0; i < events->n; i++) {
		if (!try_event(job, i, &is_valid))
			return report_bad_option("events", ENOMEM);
		if (is_valid)
			events->texts[n++] = events->texts[i];
		else
			free(events->texts[i]);
	}
	events->n = n;
	return EXIT_DONE;
}

int open_new_target(struct stat_job *job, struct stat_target *p)
{
	int status;

	job->targets.skips_refused = true;
	status = open_target(job, p, 0);
	job->targets.skips_refused = false;
	return status;
}

static int report_cannot_open(const struct stat_target *p, const char *what, int rc)
{
	fprintf(stderr, "%s: cannot %s: %s\n", program_name, what,
	        rc == PFMLIB_ERR_SYS ? strerror(pfm_session_errno(p->session))
	                             : pfm_result_text(rc));
	return EXIT_REFUSED;
}

static int start_target(const struct stat_target *p)
{
	int rc = p->session ? pfm_start_session(p->session) : PFMLIB_SUCCESS;

	return rc == PFMLIB_SUCCESS ? EXIT_DONE : report_cannot_open(p, "start counting", rc);
}

static bool is_cpu_missing(const struct stat_target *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->counts[i].cause == PFM_CAUSE_NO_CPU && has_value(&p->counts[i]))
			return true;
	return false;
}

/* Counts begin at 0. Without memory the arrays are missing. */
static void forget_counts(struct stat_target *p)
{
	if (p->earlier)
		memset(p->earlier, 0, p->n * sizeof(*p->earlier));
	if (p->slice_counts)
		memset(p->slice_counts, 0, p->n * sizeof(*p->slice_counts));
	if (p->turn_counts)
		memset(p->turn_counts, 0, p->n * sizeof(*p->turn_counts));
}

/* Replaces the session of @p by a new one for the same rows; otherwise nothing changes. */
static int reopen_target(struct stat_job *job, struct stat_target *p)
{
	pfm_session_t *old = p->session;
	const unsigned n = p->n;
	int rc = open_new_target(job, p);

	if (rc != EXIT_DONE || !has_rows_of_counts(job, p)) {
		pfm_close_session(p->session);
		p->session = old;
		p->n = n;
		return EXIT_DONE;
	}
	pfm_close_session(old);
	forget_counts(p);
	if (job->rotation.is_on)
		rc = select_slot(job);
	return rc == EXIT_DONE ? start_target(p) : rc;
}

int reopen_targets(struct stat_job *job)
{
	int rc = EXIT_DONE;

	for (struct stat_target *p = job->targets.list; p < job->targets.list + job->targets.n; p++)
		if (rc == EXIT_DONE && p->session && is_cpu_missing(p))
			rc = reopen_target(job, p);
	return rc;
}

bool misses_cpu(const struct stat_targets *targets)
{
	bool misses = false;

	for (unsigned i = 0; i < targets->n; i++)
		misses |= is_cpu_missing(&targets->list[i]);
	return misses;
}

int start_targets(struct stat_job *job)
{
	int rc = job->rotation.is_on ? select_slot(job) : EXIT_DONE;

	for (struct stat_target *p = job->targets.list;
	     p < job->targets.list + job->targets.n && rc == EXIT_DONE; p++)
		rc = start_target(p);
	return rc;
}

void stop_targets(struct stat_targets *targets)
{
	struct stat_target *p;

	for (p = targets->list; p < targets->list + targets->n; p++)
		if (p->session)
			pfm_stop_session(p->session);
}

int read_targets(struct stat_targets *targets)
{
	struct stat_target *p;
	int rc;

	for (p = targets->list; p < targets->list + targets->n; p++) {
		rc = p->session ? pfm_read_session(p->session, p->counts, p->n) : PFMLIB_SUCCESS;
		if (rc != PFMLIB_SUCCESS)
			return report_cannot_open(p, "read the counts", rc);
	}
	return EXIT_DONE;
}

void check_unwatched_time(struct stat_job *job, double seconds)
{
	const bool followed = !job->options.all_cpus && !job->options.cpus &&
	                      !job->options.no_inherit && !job->timing.delay && !job->control.on &&
	                      !job->options.model;
	/* While groups are switched, the tasks on all CPUs go on. */
	const double allowed =
		TICK_NS + (double)job->rotation.switch_ns * (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (followed && job->command)
		read_command_rights(job->command, job->result.rights_facts,
		                    sizeof(job->result.rights_facts));
	for (struct stat_target *p = job->targets.list;
	     followed && p < job->targets.list + job->targets.n; p++) {
		uint64_t longest = 0;

		for (unsigned i = 0; i < p->n; i++)
			longest = p->counts[i].enabled > longest ? p->counts[i].enabled : longest;
		p->unseen_seconds = seconds - (double)longest / NS;
		p->ran_unwatched = !p->pid && seconds * NS > (double)longest + allowed;
		/* The kernel does not count starts and ends of tasks either. */
		p->lost_rights = p->ran_unwatched && *job->result.rights_facts;
		snprintf(p->unseen_facts, sizeof(p->unseen_facts),
		         "ran for %.6f s, enabled for %.6f s", seconds, (double)longest / NS);
		for (unsigned i = 0; p->ran_unwatched && i < p->n; i++)
			if (has_value(&p->counts[i])) {
				if (p->counts[i].quality < PFM_QUALITY_PARTIAL)
					p->counts[i].quality = PFM_QUALITY_PARTIAL;
				p->counts[i].cause =
					p->lost_rights ? PFM_CAUSE_PERMISSION : PFM_CAUSE_OTHER;
			}
	}
}

static bool has_process_ended(int pid, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0)
		return poll(&p, 1, 0) > 0;
	return kill(pid, 0) != 0 && errno == ESRCH;
}

bool have_targets_ended(const struct stat_targets *targets)
{
	unsigned i;

	for (i = 0; i < targets->n; i++)
		if (!targets->list[i].pid ||
		    !has_process_ended(targets->list[i].pid, targets->list[i].watch))
			return false;
	return true;
}

void close_targets(struct stat_targets *targets)
{
	struct stat_target *p;

	for (p = targets->list; p < targets->list + targets->n; p++) {
		pfm_close_session(p->session);
		p->session = NULL;
		alpha_emulator_close(p->emulator);
		p->emulator = NULL;
		forget_counts(p); /* counts of the next run start at 0 */
	}
}

void free_target(struct stat_target *p)
{
	pfm_close_session(p->session);
	if (p->watch >= 0)
		close(p->watch);
	free(p->cgroup);
	free(p->label);
	free(p->counts);
	free(p->earlier);
	free(p->slice_counts);
	free(p->turn_counts);
	free(p->rows);
	free(p->turns);
	free(p->planned_groups);
	free(p->is_on);
	while (p->n_labels)
		free(p->labels[--p->n_labels].value);
	free(p->labels);
}

void free_targets(struct stat_job *job)
{
	free_rows(&job->result);
	close_targets(&job->targets);
	for (struct stat_target *p = job->targets.list; p < job->targets.list + job->targets.n; p++)
		free_target(p);
	free(job->targets.list);
}
