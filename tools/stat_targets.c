/* SPDX-License-Identifier: MIT */
/* pfm stat: tasks and control groups to count. Each task, each control group, or the whole system
 * is a part of the job with a session of its own. */
#include "pfm.h"
#include "stat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <mntent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/grow.h"
#include "alpha/emulator.h"
#include "alpha/session.h"

enum { PATH_SIZE = 4096, TICK_NS = 10000000 };

/* ---- parts ----------------------------------------------------------------------------------- */

static struct stat_target *add_target(struct stat_job *job, unsigned first, unsigned n)
{
	bool failed = false;

	job->parts = base_grow_list(job->parts, job->n_parts, &job->parts_capacity,
	                            sizeof(*job->parts), &failed);
	if (failed)
		return NULL;
	job->parts[job->n_parts] =
		(struct stat_target){ .first = first, .n_texts = n, .watch = -1 };
	return &job->parts[job->n_parts++];
}

/* Returns the name and number of thread @tid as ps shows them. */
static char *make_thread_label(int tid)
{
	char path[64], name[32] = "", label[64];
	size_t len = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	f = fopen(path, "r");
	if (f) {
		len = fread(name, 1, sizeof(name) - 1, f);
		fclose(f);
	}
	/* The kernel ends the name with a newline; the name itself may contain newlines. */
	name[len ? len - 1 : 0] = 0;
	snprintf(label, sizeof(label), "%s-%d", *name ? name : "?", tid);
	return strdup(label);
}

static int add_task(struct stat_job *job, int pid, bool thread)
{
	struct stat_target *p;
	unsigned i;

	/* Skip a task that is counted already. */
	for (i = 0; i < job->n_parts; i++)
		if (job->parts[i].pid == pid)
			return EXIT_DONE;
	p = add_target(job, 0, job->events.n);
	if (!p)
		return report_bad_option("tasks", ENOMEM);
	p->pid = pid;
	p->thread = thread;
	if (job->by == BY_THREAD && !(p->label = make_thread_label(pid)))
		return report_bad_option("tasks", ENOMEM);
	return EXIT_DONE;
}

/* Adds every thread of process @pid as a part. */
static int add_threads(struct stat_job *job, int pid)
{
	char path[64];
	const struct dirent *entry;
	int status = EXIT_DONE;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return report_bad_option(path, errno);
	while (status == EXIT_DONE && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			status = add_task(job, atoi(entry->d_name), true);
	closedir(dir);
	return status;
}

/* Returns the process of thread @tid; 0 if it cannot be read. */
static int read_thread_process(int tid)
{
	char path[64], line[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "r");
	while (f && !pid && fgets(line, sizeof(line), f))
		if (strncmp(line, "Tgid:", 5) == 0)
			pid = atoi(line + 5);
	if (f)
		fclose(f);
	return pid;
}

/* True if task @id is a thread of a process that is counted with all its threads. */
static bool is_within(const struct stat_job *job, int id)
{
	int pid = read_thread_process(id);
	unsigned i;

	for (i = 0; i < job->n_pids && pid != id; i++)
		if (job->pids[i] == pid)
			return true;
	return false;
}

/* Adds the requested processes, then threads of other processes. */
static int add_tasks(struct stat_job *job)
{
	int status = EXIT_DONE;
	unsigned i;

	for (i = 0; i < job->n_pids && status == EXIT_DONE; i++)
		if (!is_within(job, job->pids[i]))
			status = job->by == BY_THREAD ? add_threads(job, job->pids[i])
			                              : add_task(job, job->pids[i], false);
	for (i = 0; i < job->n_tids && status == EXIT_DONE; i++)
		if (!is_within(job, job->tids[i]))
			status = add_task(job, job->tids[i], true);
	return status;
}

/* ---- control groups -------------------------------------------------------------------------- */

/* Finds the mount of perf's control groups: the hierarchy of perf_event, or version 2. */
static bool find_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *m;
	bool own = false, any = false;

	path[0] = 0;
	while (mounts && !own && (m = getmntent(mounts))) {
		own = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "perf_event");
		if (!own && (any || strcmp(m->mnt_type, "cgroup2") != 0))
			continue;
		any = true;
		snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return *path != 0;
}

bool find_cgroup_mount(char *path, size_t size)
{
	if (find_mount(path, size))
		return true;
	fprintf(stderr,
	        "%s: no control groups are mounted: run 'mount -t cgroup2 none /sys/fs/cgroup' as "
	        "root\n",
	        program_name);
	return false;
}

static int add_cgroup(struct stat_job *job, const char *mount, const char *name, unsigned first,
                      unsigned n)
{
	struct stat_target *p = add_target(job, first, n);
	size_t size = strlen(mount) + strlen(name) + 2;

	if (!p)
		return report_bad_option("control groups", ENOMEM);
	p->label = strdup(name);
	if (*name)
		p->cgroup = malloc(size);
	if (!p->label || (*name && !p->cgroup))
		return report_bad_option("control groups", ENOMEM);
	if (strncmp(name, mount, strlen(mount)) == 0)
		snprintf(p->cgroup, size, "%s", name);
	else if (*name)
		snprintf(p->cgroup, size, "%s/%s", mount, name + (*name == '/'));
	if (!p->cgroup || access(p->cgroup, X_OK) == 0)
		return EXIT_DONE;
	fprintf(stderr,
	        "%s: %s: expected a control group, got '%s' (%s: %s); 'systemd-cgls' lists them\n",
	        program_name, job->each_cgroup ? "--for-each-cgroup" : "-G", name, p->cgroup,
	        strerror(errno));
	return EXIT_REFUSED;
}

static bool is_labelled(const struct stat_job *job, const char *name)
{
	unsigned i;

	for (i = 0; i < job->n_parts; i++)
		if (strcmp(job->parts[i].label, name) == 0)
			return true;
	return false;
}

static int report_too_many_groups(const struct stat_job *job)
{
	fprintf(stderr,
	        "%s: -G has more names than the %u event%s to count; --for-each-cgroup counts "
	        "every event for each\n",
	        program_name, job->events.n, job->events.n == 1 ? "" : "s");
	return EXIT_REFUSED;
}

/* Adds the groups of -G: one name for all events, or a name for each event, where an empty name is
 * the whole system. */
static int add_cgroups(struct stat_job *job)
{
	char mount[PATH_SIZE], *rest = job->cgroups;
	unsigned i = 0;
	int status = EXIT_DONE;

	if (!find_cgroup_mount(mount, sizeof(mount)))
		return EXIT_REFUSED;
	if (!job->each_cgroup && !strchr(job->cgroups, ','))
		return add_cgroup(job, mount, job->cgroups, 0, job->events.n);
	for (; rest && status == EXIT_DONE; i++) {
		const char *name = strsep(&rest, ",");

		if (job->each_cgroup)
			status = is_labelled(job, name)
			                 ? EXIT_DONE
			                 : add_cgroup(job, mount, name, 0, job->events.n);
		else if (i < job->events.n)
			status = add_cgroup(job, mount, name, i, 1);
		else
			status = report_too_many_groups(job);
	}
	if (status == EXIT_DONE && !job->each_cgroup && i < job->events.n)
		return add_cgroup(job, mount, "", i, job->events.n - i);
	return status;
}

int make_targets(struct stat_job *job)
{
	if (job->has_cgroup_patterns)
		return EXIT_DONE;
	if (job->cgroups)
		return add_cgroups(job);
	if (job->n_pids || job->n_tids)
		return add_tasks(job);
	return add_target(job, 0, job->events.n) ? EXIT_DONE : report_bad_option("events", ENOMEM);
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
	struct json j = { .out = job->out };

	if (job->json && text && !*text)
		text = NULL;
	refuse_input(job->json ? &j : NULL, job->ctx, text, error, WANTED_ANY);
}

static void refuse_target(const struct stat_job *job, const struct stat_target *p,
                          const char *const *texts, unsigned n, const pfm_error_t *error)
{
	const char *text = error->clash || error->event < 0 || (unsigned)error->event >= n
	                           ? NULL
	                           : texts[error->event];
	unsigned i;

	if (job->skips_refused)
		return;
	report_stat_refusal(job, text, error);
	if (job->json)
		return;
	if (error->kind == PFM_KIND_SYSTEM && p->cgroup)
		fprintf(stderr, "  %s\n", p->cgroup);
	for (i = 0; i < n && i < 64; i++)
		if (error->clash >> i & 1)
			fprintf(stderr, "  %s\n", texts[i]);
}

static void make_session_options(const struct stat_job *job, const struct stat_target *p, int pid,
                                 pfm_session_options_t *so)
{
	so->pid = p->pid ? p->pid : pid;
	so->cpus = job->cpus;
	so->cgroup = p->cgroup;
	so->flags = job->no_inherit ? 0 : PFM_SESSION_INHERIT;
	if (job->dry_run)
		so->flags |= PFM_SESSION_DRY_RUN;
	if (job->all_cpus || job->cpus)
		so->flags = (so->flags | PFM_SESSION_SYSTEM_WIDE) & ~(unsigned)PFM_SESSION_INHERIT;
	else if (job->command && !p->pid && !job->delay && !job->control.on && !job->rotation.is_on)
		so->flags |= PFM_SESSION_ENABLE_ON_EXEC;
	if (job->by >= BY_CPU && job->by <= BY_NODE)
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
	p->rows = calloc(n, sizeof(*p->rows));
	if (!p->counts || !p->earlier || !p->slice_counts || !p->rows)
		return false;
	for (i = 0; i < n; i++)
		p->counts[i].size = sizeof(p->counts[i]);
	return true;
}

/* Collects the texts of @p for the library, and their filters. Events after the last --filter, such
 * as those of metrics, have no filter. Returns the number of texts. */
static unsigned target_texts(const struct stat_job *job, const struct stat_target *p,
                             const char **texts, const char **filters)
{
	unsigned i, n = 0;

	for (i = p->first; i < p->first + p->n_texts; i++) {
		if (find_own_event(job->events.texts[i]))
			continue;
		filters[n] = i < job->n_filters ? job->filters[i] : NULL;
		texts[n++] = job->events.texts[i];
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
	if (job->filters)
		so.filters = filters;
	if (job->model) {
		alpha_emulator_close(p->emulator);
		p->emulator = open_device_model("stat", job->model);
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
	unsigned n = texts && filters ? target_texts(job, p, texts, filters) : 0, before = p->n;
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
		       : job->skips_refused
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
	bool fresh = !job->n_rows;
	int status = EXIT_DONE;
	unsigned i;

	for (i = 0; i < job->n_parts && status == EXIT_DONE; i++)
		status = open_target(job, &job->parts[i], pid);
	for (i = 0; i < job->n_parts && status == EXIT_DONE && fresh; i++)
		if (!make_rows(job, &job->parts[i]) ||
		    !visit_session_metrics(job, job->parts[i].session))
			status = report_bad_option("counts", ENOMEM);
	if (status == EXIT_DONE && fresh && (!make_own_rows(job) || !prepare_ratios(job)))
		status = report_bad_option("counts", ENOMEM);
	return status;
}

int refuse_bad_events(struct stat_job *job)
{
	struct stat_target all = { .n_texts = job->events.n, .watch = -1 };
	const bool was_dry = job->dry_run;
	int status;

	job->dry_run = true;
	status = open_target(job, &all, 0);
	job->dry_run = was_dry;
	free_target(&all);
	return status;
}

int open_new_target(struct stat_job *job, struct stat_target *p)
{
	int status;

	job->skips_refused = true;
	status = open_target(job, p, 0);
	job->skips_refused = false;
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
		if (p->counts[i].cause == PFM_CAUSE_NO_CPU &&
		    p->counts[i].quality == PFM_QUALITY_PARTIAL)
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

	for (struct stat_target *p = job->parts; p < job->parts + job->n_parts; p++)
		if (rc == EXIT_DONE && p->session && is_cpu_missing(p))
			rc = reopen_target(job, p);
	return rc;
}

bool misses_cpu(const struct stat_job *job)
{
	bool misses = false;

	for (unsigned i = 0; i < job->n_parts; i++)
		misses |= is_cpu_missing(&job->parts[i]);
	return misses;
}

int start_targets(struct stat_job *job)
{
	int rc = job->rotation.is_on ? select_slot(job) : EXIT_DONE;

	for (struct stat_target *p = job->parts; p < job->parts + job->n_parts && rc == EXIT_DONE;
	     p++)
		rc = start_target(p);
	return rc;
}

void stop_targets(struct stat_job *job)
{
	struct stat_target *p;

	for (p = job->parts; p < job->parts + job->n_parts; p++)
		if (p->session)
			pfm_stop_session(p->session);
}

int read_targets(struct stat_job *job)
{
	struct stat_target *p;
	int rc;

	for (p = job->parts; p < job->parts + job->n_parts; p++) {
		rc = p->session ? pfm_read_session(p->session, p->counts, p->n) : PFMLIB_SUCCESS;
		if (rc != PFMLIB_SUCCESS)
			return report_cannot_open(p, "read the counts", rc);
	}
	return EXIT_DONE;
}

void check_unwatched_time(struct stat_job *job, double seconds)
{
	const bool followed = !job->all_cpus && !job->cpus && !job->no_inherit && !job->delay &&
	                      !job->control.on && !job->model;

	for (struct stat_target *p = job->parts; followed && p < job->parts + job->n_parts; p++) {
		uint64_t longest = 0;

		for (unsigned i = 0; i < p->n; i++)
			longest = p->counts[i].enabled > longest ? p->counts[i].enabled : longest;
		p->unseen_seconds = seconds - (double)longest / NS;
		p->ran_unwatched = !p->pid && seconds * NS > (double)longest + TICK_NS;
		/* The kernel does not count starts and ends of tasks, which take a quarter of the
		 * time of many short tasks. */
		p->lost_rights =
			p->ran_unwatched && seconds * NS > 1.25 * (double)longest + TICK_NS;
		for (unsigned i = 0; p->ran_unwatched && i < p->n; i++)
			if (has_value(&p->counts[i])) {
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

bool have_targets_ended(const struct stat_job *job)
{
	unsigned i;

	for (i = 0; i < job->n_parts; i++)
		if (!job->parts[i].pid ||
		    !has_process_ended(job->parts[i].pid, job->parts[i].watch))
			return false;
	return true;
}

void close_targets(struct stat_job *job)
{
	struct stat_target *p;

	for (p = job->parts; p < job->parts + job->n_parts; p++) {
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
	free(p->rows);
	free(p->turns);
	free(p->planned_groups);
	free(p->is_on);
}

void free_targets(struct stat_job *job)
{
	free_rows(job);
	close_targets(job);
	for (struct stat_target *p = job->parts; p < job->parts + job->n_parts; p++)
		free_target(p);
	free(job->parts);
}

/* ---- where a CPU is -------------------------------------------------------------------------- */

/* Appends a letter and a number, such as "S0"; "S?" for an unknown number. */
static size_t append_number(char *label, size_t at, const char *letter, int number)
{
	char text[16] = "?";

	if (number >= 0)
		snprintf(text, sizeof(text), "%d", number);
	return at +
	       (size_t)snprintf(label + at, LABEL_MAX - at, "%s%s%s", at ? "-" : "", letter, text);
}

void make_topology_label(const pfm_ctx_t *ctx, enum aggregation by, const char *cpu,
                         char label[LABEL_MAX])
{
	pfm_cpu_info_t place = PFM_INIT(place);
	size_t at = 0;

	if (by == BY_CPU) {
		snprintf(label, LABEL_MAX, "%s", cpu);
		return;
	}
	pfm_describe_cpu(ctx, (unsigned)strtoul(cpu, NULL, 10), &place);
	if (by == BY_NODE) {
		append_number(label, 0, "N", place.node);
		return;
	}
	at = append_number(label, at, "S", place.socket);
	if (by != BY_SOCKET)
		at = append_number(label, at, "D", place.die);
	if (by == BY_CORE)
		append_number(label, at, "C", place.core);
}
