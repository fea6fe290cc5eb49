/* SPDX-License-Identifier: MIT */
/* Runs each round as a child process with the options of pfm record, so that rounds are independent
 * and a failed one does not end the others. A complete file is renamed to its final name. Rounds
 * begin at multiples of their distance by the system clock, delayed by a hash of the machine's
 * name, so that the machines of a fleet sample at different times.
 *
 * Removes files that are too old, then the oldest ones until the size limit is met. Reports removed
 * files and failed rounds. */
#include "record/rounds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/push.h"
#include "common/http_url.h"
#include "common/pfm.h"
#include "stat/stat.h"

enum { PATH_SIZE = 4096, HOST_SIZE = 256, NUMBER_SIZE = 24, PART_LENGTH = 5 };

bool is_record_round, is_later_round, is_renamed_round;

struct kept_file {
	char name[ROUND_NAME_SIZE];
	uint64_t bytes;
	time_t time;
};

struct file_list {
	struct kept_file *files;
	unsigned n;
	size_t capacity;
};

/* ---- the folder ------------------------------------------------------------------------------ */

/* True if @name is the name of a round, "perf-20260102T030405Z.data", with ".part" after it for
 * @is_part. Other files, such as a user's "perf-before.data", are never removed. */
static bool is_own_file(const char *name, bool is_part)
{
	static const char form[] = "perf-00000000T000000Z.data";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	return strcmp(name + sizeof(form) - 1, is_part ? ".part" : "") == 0;
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct kept_file *)a)->name, ((const struct kept_file *)b)->name);
}

/* Lists regular files of rounds, or their parts, the oldest first. False if the folder cannot be
 * read. */
static bool list_files(const char *folder, bool are_parts, struct file_list *list)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	struct stat st;

	*list = (struct file_list){ .n = 0 };
	while (dir && (e = readdir(dir))) {
		bool failed = false;

		if (!is_own_file(e->d_name, are_parts) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		list->files = base_grow_list(list->files, list->n, &list->capacity,
		                             sizeof(*list->files), &failed);
		if (failed)
			break;
		list->files[list->n] =
			(struct kept_file){ .bytes = (uint64_t)st.st_size, .time = st.st_mtime };
		memcpy(list->files[list->n++].name, e->d_name, strlen(e->d_name) + 1);
	}
	if (list->n)
		qsort(list->files, list->n, sizeof(*list->files), compare_files);
	if (dir)
		closedir(dir);
	return dir != NULL;
}

static void remove_file(const char *folder, const struct kept_file *file, const char *why)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", folder, file->name);
	if (unlink(path) == 0)
		fprintf(stderr, "%s: removed %s: %s\n", program_name, file->name, why);
	else if (errno != ENOENT)
		fprintf(stderr, "%s: cannot remove %s: %s\n", program_name, path, strerror(errno));
}

void keep_round_limits(const struct record_rounds *r)
{
	struct file_list list;
	uint64_t bytes = 0;
	time_t now = time(NULL);
	unsigned i;

	if (!list_files(r->folder, false, &list))
		fprintf(stderr, "%s: cannot read %s: %s\n", program_name, r->folder,
		        strerror(errno));
	for (i = 0; i < list.n; i++)
		bytes += list.files[i].bytes;
	for (i = 0; i < list.n; i++) {
		const struct kept_file *f = &list.files[i];
		bool is_old = r->keep_seconds && now > f->time &&
		              (uint64_t)(now - f->time) > r->keep_seconds;

		if (!is_old && !(r->keep_bytes && bytes > r->keep_bytes))
			continue;
		bytes -= f->bytes;
		remove_file(r->folder, f,
		            is_old ? "older than --keep-age" : "more than --keep-bytes");
	}
	free(list.files);
}

/* ---- a round --------------------------------------------------------------------------------- */

static bool is_own_option(const char *word, bool *takes_next)
{
	static const char *const names[] = { "--continuous", "--round",      "--every",
		                             "--rounds",     "--keep-bytes", "--keep-age",
		                             "--push",       "--each-event", "--names" };

	*takes_next = false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(word, names[i], len) != 0 || (word[len] && word[len] != '='))
			continue;
		*takes_next = !word[len] && strcmp(word, "--each-event") != 0 &&
		              strcmp(word, "--names") != 0;
		return true;
	}
	return false;
}

/* True if @word is -e or --event, which is omitted if events take turns. */
static bool is_event_option(const char *word, bool *takes_next)
{
	*takes_next = strcmp(word, "-e") == 0 || strcmp(word, "--event") == 0;
	return *takes_next || strncmp(word, "--event=", 8) == 0 ||
	       (strncmp(word, "-e", 2) == 0 && word[2]);
}

/* Runs pfm record in the child with the same options for the time of a round; writes to @path. */
static int run_round(const struct command_args *args, const struct record_rounds *r,
                     const char *event, char *path)
{
	static char event_option[] = "-e", output_option[] = "-o", end_of_options[] = "--",
		    program[] = "sleep";
	char **argv = calloc((size_t)args->argc + 8, sizeof(*argv)), seconds[NUMBER_SIZE];
	int n = 0;

	if (!argv)
		return EXIT_REFUSED;
	for (int i = 0; i < args->argc; i++) {
		bool takes_next;

		if (i && (is_own_option(args->argv[i], &takes_next) ||
		          (event && is_event_option(args->argv[i], &takes_next))))
			i += takes_next;
		else
			argv[n++] = args->argv[i];
	}
	if (event) {
		argv[n++] = event_option;
		argv[n++] = strdup(event);
	}
	argv[n++] = output_option;
	argv[n++] = path;
	argv[n++] = end_of_options;
	argv[n++] = program;
	is_record_round = is_renamed_round = true;
	snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)r->round_seconds);
	argv[n++] = seconds;
	return run_pfm_command(args->cmd, n, argv);
}

/* Waits until @until. True if a signal to stop arrived. */
static bool wait_for_signal(const sigset_t *signals, uint64_t until)
{
	uint64_t now = now_ns(), left = until > now ? until - now : 0;
	const struct timespec t = { .tv_sec = (time_t)(left / NS), .tv_nsec = (long)(left % NS) };
	int sig = sigtimedwait(signals, NULL, &t);

	return sig > 0 && sig != SIGCHLD;
}

/* Returns the child's status. Passes a signal to stop on to the child. */
static int wait_for_round(pid_t pid, const sigset_t *signals, bool *is_over)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0)
		if (wait_for_signal(signals, now_ns() + NS)) {
			*is_over = true;
			kill(pid, SIGINT);
		}
	return status;
}

void name_round(char name[ROUND_NAME_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(name, ROUND_NAME_SIZE, "perf-%Y%m%dT%H%M%SZ.data", &utc);
}

/* Takes one round. True if a signal to stop arrived. */
static bool take_round(const struct command_args *args, const struct record_rounds *r,
                       const char *event, const sigset_t *signals, const sigset_t *before)
{
	char name[ROUND_NAME_SIZE], path[4096], part[4096 + PART_LENGTH + 1];
	bool is_over = false;
	struct stat st;
	int status;
	pid_t pid;

	name_round(name);
	snprintf(path, sizeof(path), "%s/%s", r->folder, name);
	snprintf(part, sizeof(part), "%s.part", path);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, before, NULL);
		_exit(run_round(args, r, event, part));
	}
	status = pid > 0 ? wait_for_round(pid, signals, &is_over) : -1;
	/* An interrupted recording is complete up to the interruption. */
	if ((status == 0 || is_over) && stat(part, &st) == 0 && st.st_size > 0 &&
	    rename(part, path) == 0)
		return is_over;
	fprintf(stderr, "%s: the round of %s failed: its samples are lost\n", program_name, name);
	unlink(part);
	return is_over;
}

/* ---- pushing --------------------------------------------------------------------------------- */

/* Converts and sends a recording in a child process, whose memory is then freed. */
static int push_recording(const struct record_rounds *r, const struct kept_file *file)
{
	const struct pushed_profile profile = { .url = r->push_url,
		                                .labels = r->labels,
		                                .from = (uint64_t)file->time - r->round_seconds,
		                                .until = (uint64_t)file->time,
		                                .has_names = r->has_names };
	char path[PATH_SIZE], why[256] = "", url[HTTP_URL_SIZE];
	enum push_result result;

	snprintf(path, sizeof(path), "%s/%s", r->folder, file->name);
	result = push_profile(&profile, path, why, sizeof(why));
	if (result != PUSH_TAKEN && *why)
		fprintf(stderr, "%s: %s: %s: %s\n", program_name, file->name,
		        redact_http_url(r->push_url, url, sizeof(url)), why);
	return (int)result;
}

static enum push_result push_in_child(const struct record_rounds *r, const struct kept_file *file)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(push_recording(r, file));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return PUSH_LATER;
	return WIFEXITED(status) ? (enum push_result)WEXITSTATUS(status) : PUSH_REFUSED;
}

/* Sends files, the oldest first. Files that the receiver did not accept stay in the folder, within
 * its limits. */
void push_rounds(const struct record_rounds *r)
{
	struct file_list list;
	enum push_result result = PUSH_TAKEN;

	if (!r->push_url || !list_files(r->folder, false, &list))
		return;
	for (unsigned i = 0; i < list.n && result != PUSH_LATER && result != PUSH_IMPOSSIBLE; i++) {
		char path[PATH_SIZE];

		result = push_in_child(r, &list.files[i]);
		snprintf(path, sizeof(path), "%s/%s", r->folder, list.files[i].name);
		if (result == PUSH_REFUSED)
			remove_file(r->folder, &list.files[i], "it cannot be sent");
		else if (result == PUSH_TAKEN)
			unlink(path);
	}
	free(list.files);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Hashes the machine's name by FNV-1a. */
static uint64_t hash_host(void)
{
	char name[HOST_SIZE] = "";
	uint64_t hash = 0xcbf29ce484222325;

	if (gethostname(name, sizeof(name) - 1) != 0)
		return 0;
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	return hash ^ hash >> 32;
}

/* Returns the time of the next round by now_ns(). */
static uint64_t compute_next_round(const struct record_rounds *r)
{
	const uint64_t every = r->every * NS, free_time = every - r->round_seconds * NS,
		       offset = free_time ? hash_host() % free_time : 0;
	struct timespec t;
	uint64_t system;

	clock_gettime(CLOCK_REALTIME, &t);
	system = (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
	return now_ns() + (every - (system + every - offset) % every) % every;
}

/* Locks the folder against other recorders, which would write, remove or send the same files.
 * Returns a descriptor to close, or -1. */
static int lock_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		fprintf(stderr, "%s: cannot read %s: %s\n", program_name, folder, strerror(errno));
	} else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		fprintf(stderr,
		        "%s: another pfm record --continuous writes to %s; name another folder\n",
		        program_name, folder);
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Removes the files of rounds that a killed recorder did not complete. */
static void remove_parts(const char *folder)
{
	struct file_list list;

	if (list_files(folder, true, &list))
		for (unsigned i = 0; i < list.n; i++)
			remove_file(folder, &list.files[i], "its round was cut off");
	free(list.files);
}

int open_rounds_folder(const char *folder)
{
	int lock;

	if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "%s: cannot make %s: %s\n", program_name, folder, strerror(errno));
		return -1;
	}
	lock = lock_folder(folder);
	if (lock >= 0)
		remove_parts(folder);
	return lock;
}

int record_continuously(const struct command_args *args, const struct record_rounds *r,
                        const struct event_list *events)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	sigset_t signals, before;
	bool is_over = false;
	int lock;

	lock = open_rounds_folder(r->folder);
	if (lock < 0)
		return EXIT_REFUSED;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&signals, ends[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	for (uint64_t n = 0; !is_over && (!r->n_rounds || n < r->n_rounds); n++) {
		const uint64_t begin = compute_next_round(r);

		while (!is_over && now_ns() < begin)
			is_over = wait_for_signal(&signals, begin);
		if (is_over)
			break;
		is_later_round = n > 0;
		is_over = take_round(
			args, r, r->takes_turns && events->n ? events->texts[n % events->n] : NULL,
			&signals, &before);
		push_rounds(r);
		keep_round_limits(r);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(lock);
	return EXIT_DONE;
}
