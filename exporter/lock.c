/* SPDX-License-Identifier: MIT */
/* pfm serve --give-way: counting pauses while another program holds a lock (flock(2)) on a file,
 * which reserves all counters for it, and while events of other programs compete (probe.c).
 */
#include "common/pfm.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_MODE = 0660 };

/* Only the owner of the lock's file and the members of its group may pause the service. */
static void limit_lock(const struct serve *s)
{
	struct stat file;

	if (fstat(s->lock_fd, &file) != 0 || !(file.st_mode & S_IRWXO))
		return;
	if (fchmod(s->lock_fd, file.st_mode & (S_IRWXU | S_IRWXG)) != 0)
		fprintf(stderr,
		        "pfm serve: every user who may open %s can pause counting: 'chmod o= %s' "
		        "limits it to its group\n",
		        s->lock_path, s->lock_path);
}

int open_give_way_lock(struct serve *s)
{
	s->lock_fd = -1;
	if (!s->lock_path)
		return EXIT_DONE;
	s->lock_fd = open(s->lock_path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->lock_fd >= 0)
		fchmod(s->lock_fd, LOCK_MODE);
	else
		s->lock_fd = open(s->lock_path, O_RDONLY | O_CLOEXEC);
	if (s->lock_fd >= 0) {
		limit_lock(s);
		return EXIT_DONE;
	}
	fprintf(stderr, "pfm serve: cannot open the lock %s: %s\n", s->lock_path, strerror(errno));
	return EXIT_REFUSED;
}

void close_give_way_lock(struct serve *s)
{
	if (s->lock_path && s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
}

/* Reads the name of process @pid; "process PID" if it is hidden. */
static void read_process_name(long pid, char *name, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(name, size, "process %ld", pid);
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(name, (int)size, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* Finds the process that has the lock: "1: FLOCK  ADVISORY  WRITE 71 fe:00:1234 0 EOF". */
static void find_lock_holder(struct serve *s)
{
	char line[256];
	struct stat file;
	FILE *locks = fopen("/proc/locks", "re");

	*s->lock_holder = '\0';
	while (locks && fstat(s->lock_fd, &file) == 0 && fgets(line, sizeof(line), locks)) {
		unsigned long long inode;
		long pid;

		if (sscanf(line, "%*s FLOCK %*s WRITE %ld %*[^:]:%*[^:]:%llu", &pid, &inode) != 2 ||
		    inode != file.st_ino)
			continue;
		s->lock_holder_pid = pid;
		read_process_name(pid, s->lock_holder, sizeof(s->lock_holder));
	}
	if (locks)
		fclose(locks);
}

static void report_pause(struct serve *s, bool is_locked)
{
	*s->lock_holder = '\0';
	if (is_locked)
		find_lock_holder(s);
	if (*s->lock_holder)
		fprintf(stderr, "pfm serve: counting is paused: '%s' (process %ld) has the lock\n",
		        s->lock_holder, s->lock_holder_pid);
}

/* A shared lock is refused while another program has an exclusive one. */
static bool is_lock_held(const struct serve *s)
{
	if (flock(s->lock_fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(s->lock_fd, LOCK_UN);
	return false;
}

double compute_paused_seconds(const struct serve *s)
{
	uint64_t now = s->paused_since ? now_ns() - s->paused_since : 0;

	return (double)(s->paused_ns + now) / NS;
}

/* The end is reported if the beginning was. */
static int end_pause(struct serve *s)
{
	const uint64_t length = now_ns() - s->paused_since;
	int rc;

	s->paused_ns += length;
	s->paused_since = 0;
	rc = start_targets(&s->job);
	if (rc == EXIT_DONE && *s->lock_holder)
		fprintf(stderr, "pfm serve: counting goes on after a pause of %.1f s\n",
		        (double)length / NS);
	return rc;
}

int give_way(struct serve *s)
{
	bool is_locked = s->lock_fd >= 0 && is_lock_held(s),
	     is_over_budget = are_interrupts_too_many(&s->budget), is_held;

	/* In a pause the probe has no counters, so it cannot tell anything. */
	if (is_locked || is_over_budget)
		stop_probe(s);
	is_held = is_locked || is_over_budget || do_events_compete(s);
	if (is_held)
		s->pause_reason = is_locked ? "lock" : is_over_budget ? "budget" : "events";
	if (is_held && !s->paused_since) {
		stop_targets(&s->job.targets);
		s->paused_since = now_ns();
		report_pause(s, is_locked);
	}
	return !is_held && s->paused_since ? end_pause(s) : EXIT_DONE;
}
