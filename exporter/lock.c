/* SPDX-License-Identifier: MIT */
/* pfm serve --give-way: counting pauses while another program holds a lock (flock(2)) on a file,
 * which reserves all counters for it, and while events of other programs compete (probe.c).
 */
#include "common/pfm.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int open_give_way_lock(struct serve *s)
{
	s->lock_fd = -1;
	if (!s->lock_path)
		return EXIT_DONE;
	s->lock_fd = open(s->lock_path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	if (s->lock_fd >= 0)
		return EXIT_DONE;
	fprintf(stderr, "pfm serve: cannot open the lock %s: %s\n", s->lock_path, strerror(errno));
	return EXIT_REFUSED;
}

void close_give_way_lock(struct serve *s)
{
	if (s->lock_path && s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
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
	} else if (!is_held && s->paused_since) {
		s->paused_ns += now_ns() - s->paused_since;
		s->paused_since = 0;
		return start_targets(&s->job);
	}
	return EXIT_DONE;
}
