/* SPDX-License-Identifier: MIT */
/* pfm serve --config: a process for each job, so that a job that fails stops no other. The file is
 * read again at a hangup and when it changes: jobs whose text is the same go on, others end, and
 * new ones begin. A file with errors changes nothing. The file is looked at, not watched: that also
 * finds a ConfigMap, of which Kubernetes replaces a symbolic link to a folder, and files of network
 * file systems. */
#include "common/pfm.h"
#include "common/term.h"
#include "config.h"
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = NS / 2, MAX_PAUSE_SECONDS = 64, END_SECONDS = 10 };

/* Distinguishes versions of a file. */
struct file_version {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct job_process {
	pid_t pid;          /* 0: it has ended */
	uint64_t next;      /* time at which it begins again */
	unsigned n_seconds; /* length of the next pause */
};

struct job_set {
	const char *path;
	struct serve_config *config;
	struct job_process *processes; /* of each job */
	struct config_status *status;
	struct file_version read, seen; /* the version that was read, and that of the last look */
	sigset_t before;
};

/* ---- processes ------------------------------------------------------------------------------- */

static void start_job(struct job_set *set, unsigned i)
{
	struct job_process *p = &set->processes[i];
	const pid_t parent = getpid();

	fflush(NULL);
	p->pid = fork();
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, &set->before, NULL);
		if (getppid() != parent)
			_exit(EXIT_REFUSED);
		i = (unsigned)run_config_job(&set->config->jobs[i], set->status);
		fflush(NULL);
		_exit((int)i);
	}
	if (p->pid < 0)
		fprintf(stderr, "pfm serve: cannot start job '%s': %s\n", set->config->jobs[i].name,
		        strerror(errno));
	p->pid = p->pid > 0 ? p->pid : 0;
	p->next = now_ns() + (uint64_t)p->n_seconds * NS;
}

/* Ends a process, which removes its sockets and files. */
static void stop_process(pid_t pid)
{
	const uint64_t until = now_ns() + (uint64_t)END_SECONDS * NS;
	const struct timespec pause = { .tv_nsec = NS / 100 };

	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (now_ns() > until)
			kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

static void stop_jobs(struct job_set *set)
{
	for (unsigned i = 0; i < set->config->n; i++)
		if (set->processes[i].pid)
			kill(set->processes[i].pid, SIGTERM);
	for (unsigned i = 0; i < set->config->n; i++)
		if (set->processes[i].pid)
			stop_process(set->processes[i].pid);
}

static unsigned count_running(const struct job_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->config->n; i++)
		n += set->processes[i].pid != 0;
	return n;
}

/* Notes jobs whose process has ended by itself; each pause before it begins again is longer. */
static void note_ends(struct job_set *set)
{
	for (unsigned i = 0; i < set->config->n; i++) {
		struct job_process *p = &set->processes[i];
		int status;

		if (!p->pid || waitpid(p->pid, &status, WNOHANG) != p->pid)
			continue;
		p->pid = 0;
		p->n_seconds = !p->n_seconds                          ? 1
		               : 2 * p->n_seconds < MAX_PAUSE_SECONDS ? 2 * p->n_seconds
		                                                      : MAX_PAUSE_SECONDS;
		p->next = now_ns() + (uint64_t)p->n_seconds * NS;
		fprintf(stderr, "pfm serve: job '%s' has ended (%s %d); it begins again in %u s\n",
		        set->config->jobs[i].name, WIFSIGNALED(status) ? "signal" : "status",
		        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), p->n_seconds);
	}
}

static void restart_jobs(struct job_set *set)
{
	for (unsigned i = 0; i < set->config->n; i++)
		if (!set->processes[i].pid && now_ns() >= set->processes[i].next) {
			start_job(set, i);
			set->status->n_restarts++;
		}
}

/* ---- versions of the file -------------------------------------------------------------------- */

static struct file_version read_file_version(const char *path)
{
	struct stat file;

	if (stat(path, &file) != 0)
		return (struct file_version){ 0 };
	return (struct file_version){ file.st_dev, file.st_ino, file.st_size, file.st_mtim };
}

static bool is_same_version(struct file_version a, struct file_version b)
{
	return a.device == b.device && a.inode == b.inode && a.size == b.size &&
	       a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec;
}

/* True if the file has changed and stayed as it is since the last look: no program is writing it.
 */
static bool has_new_version(struct job_set *set)
{
	const struct file_version now = read_file_version(set->path);
	const bool is_settled = is_same_version(now, set->seen);

	set->seen = now;
	return is_settled && !is_same_version(now, set->read);
}

static bool is_same_job(const struct config_job *a, const struct config_job *b)
{
	bool is_same = strcmp(a->name, b->name) == 0 && a->argc == b->argc;

	for (int i = 0; i < a->argc && is_same; i++)
		is_same = strcmp(a->argv[i], b->argv[i]) == 0;
	return is_same;
}

/* Moves the processes of jobs that stay to @to, and ends the others. */
static void keep_processes(struct job_set *set, const struct serve_config *next,
                           struct job_process *to)
{
	for (unsigned i = 0; i < set->config->n; i++) {
		unsigned k = 0;

		while (k < next->n && !is_same_job(&set->config->jobs[i], &next->jobs[k]))
			k++;
		if (k < next->n)
			to[k] = set->processes[i];
		else if (set->processes[i].pid)
			stop_process(set->processes[i].pid);
	}
}

static void take_config(struct job_set *set, struct serve_config *next)
{
	struct job_process *processes = calloc(next->n + 1, sizeof(*processes));
	struct timespec now;

	if (!processes) {
		report_no_memory();
		free_serve_config(next);
		return;
	}
	if (set->config)
		keep_processes(set, next, processes);
	free_serve_config(set->config);
	free(set->processes);
	set->config = next;
	set->processes = processes;
	clock_gettime(CLOCK_REALTIME, &now);
	set->status->n_jobs = next->n;
	set->status->taken = (double)now.tv_sec + (double)now.tv_nsec / NS;
	set->status->is_good = true;
	for (unsigned i = 0; i < next->n; i++)
		if (!processes[i].pid)
			start_job(set, i);
}

/* Reads the file again. With @is_hangup the jobs that stay read their files of --web-config, too.
 */
static void reload(struct job_set *set, bool is_hangup)
{
	struct serve_config *next;

	set->read = set->seen = read_file_version(set->path);
	next = load_serve_config(set->path);
	if (!next) {
		set->status->is_good = false;
		set->status->n_refused++;
		fprintf(stderr,
		        "pfm serve: %s is refused: the jobs of its last good version go on\n",
		        set->path);
		return;
	}
	for (unsigned i = 0; is_hangup && i < set->config->n; i++)
		if (set->processes[i].pid)
			kill(set->processes[i].pid, SIGHUP);
	take_config(set, next);
	set->status->n_taken++;
	fprintf(stderr, "pfm serve: %s is read again: %u job%s\n", set->path, next->n,
	        next->n == 1 ? "" : "s");
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void block_signals(sigset_t *signals, sigset_t *before)
{
	static const int taken[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD };

	sigemptyset(signals);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(signals, taken[i]);
	sigprocmask(SIG_BLOCK, signals, before);
}

/* Waits for a signal, until the next look at the file. 0 without one. */
static int wait_for_signal(const sigset_t *signals)
{
	const struct timespec t = { .tv_nsec = LOOK_NS };
	const int sig = sigtimedwait(signals, NULL, &t);

	return sig > 0 ? sig : 0;
}

static int run_jobs(struct job_set *set, const sigset_t *signals)
{
	for (;;) {
		const int sig = wait_for_signal(signals);
		const bool is_hangup = sig == SIGHUP && !term_is_terminal(stderr);

		if (sig && sig != SIGCHLD && !is_hangup)
			return EXIT_DONE;
		note_ends(set);
		if (!set->status->n_started && !count_running(set)) {
			fprintf(stderr, "pfm serve: no job of %s can serve anything\n", set->path);
			return EXIT_REFUSED;
		}
		if (is_hangup || has_new_version(set))
			reload(set, is_hangup);
		restart_jobs(set);
		set->status->n_running = count_running(set);
	}
}

int run_config(const char *path)
{
	struct job_set set = { .path = path };
	struct serve_config *config;
	sigset_t signals;
	int rc;

	set.read = set.seen = read_file_version(path);
	config = load_serve_config(path);
	if (!config)
		return EXIT_REFUSED;
	set.status = mmap(NULL, sizeof(*set.status), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (set.status == MAP_FAILED) {
		free_serve_config(config);
		return report_no_memory();
	}
	block_signals(&signals, &set.before);
	take_config(&set, config);
	rc = set.config ? run_jobs(&set, &signals) : EXIT_REFUSED;
	if (set.config)
		stop_jobs(&set);
	free_serve_config(set.config);
	free(set.processes);
	munmap(set.status, sizeof(*set.status));
	sigprocmask(SIG_SETMASK, &set.before, NULL);
	return rc;
}
