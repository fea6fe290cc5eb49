/* SPDX-License-Identifier: MIT */
/* Detects programs with more rights. When a task executes a program that has more rights than its
 * caller (set-user-ID) or may not be read, the kernel removes the task's events without notice, and
 * their counts stop. This shows in the processor time of the process, all of whose threads are
 * counted. A program of the process is known by its auxiliary vector, which has random bytes of
 * each execve(2). In a program with more rights it has AT_SECURE, or other users may not read it.
 * Another program without either sign proves nothing: most have the rights of their caller. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "session/perf_event_internal.h"

/* The longest tick of a kernel: a smaller difference proves nothing. */
#define MAX_UNSEEN_TIME_NS 10000000u

bool pfmi_perf_get_process_time(const struct pfm_session *s, uint64_t *ns)
{
	const unsigned flags = PFM_SESSION_INHERIT | PFM_SESSION_SYSTEM_WIDE |
	                       PFM_SESSION_ENABLE_ON_EXEC | PFM_SESSION_DRY_RUN;
	const struct perf_state *st = s->live.backend_state;

	return s->options.pid > 0 && st->tasks.has_all_threads && !st->n_time_references &&
	       !s->sampling && (s->options.flags & flags) == PFM_SESSION_INHERIT &&
	       s->sys.get_process_time && s->sys.get_process_time(&s->sys, s->options.pid, ns) == 0;
}

/* Keys of an auxiliary vector (Linux, include/uapi/linux/auxvec.h). */
enum { AUX_END = 0, AUX_SECURE = 23, AUX_MAX = 0xffff };

/* A word of @size bytes in the order of this machine. */
static uint64_t read_word(const unsigned char *at, unsigned size)
{
	uint32_t half;
	uint64_t word;

	if (size == sizeof(half)) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&word, at, sizeof(word));
	return word;
}

/* True if the auxiliary vector says that the program has more rights than its caller. Words of a
 * 32-bit process have four bytes; two of them, read as one, are larger than each key. */
static bool has_secure_entry(const unsigned char *vector, unsigned long n)
{
	const unsigned size = n >= sizeof(uint64_t) && read_word(vector, sizeof(uint64_t)) > AUX_MAX
	                              ? sizeof(uint32_t)
	                              : sizeof(uint64_t);

	for (; n >= 2 * size && read_word(vector, size) != AUX_END;
	     vector += 2 * size, n -= 2 * size)
		if (read_word(vector, size) == AUX_SECURE)
			return read_word(vector + size, size) != 0;
	return false;
}

/* Reads a hash of the auxiliary vector of the process. Returns 0, -ENODATA if the process is a
 * zombie, or another -errno. */
static int read_program(const struct pfm_session *s, uint64_t *program, bool *is_secure)
{
	unsigned char vector[1024];
	char path[32];
	long n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", s->options.pid);
	fd = s->sys.open(&s->sys, path, O_RDONLY);
	if (fd < 0)
		return fd;
	n = s->sys.read(&s->sys, fd, vector, sizeof(vector));
	s->sys.close(&s->sys, fd);
	if (n <= 0)
		return n ? (int)n : -ENODATA;
	*program = pfmi_base_hash_bytes(vector, (size_t)n);
	*is_secure = has_secure_entry(vector, (unsigned long)n);
	return 0;
}

void pfmi_perf_start_process_clock(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	struct stopwatch *w = &st->process_clock;
	uint64_t now;
	bool is_secure;

	if (w->is_running || !pfmi_perf_get_process_time(s, &now))
		return;
	session_start_stopwatch(w, now);
	if (!st->has_program)
		st->has_program = read_program(s, &st->program, &is_secure) == 0;
}

/* Returns the fact by which the process has executed a program with more rights since its counts
 * began; NULL if nothing shows it. */
static const char *describe_rights_change(const struct pfm_session *s)
{
	const struct perf_state *st = s->live.backend_state;
	uint64_t program;
	bool is_secure = false;
	int rc;

	if (!st->has_program)
		return NULL;
	rc = read_program(s, &program, &is_secure);
	if (rc == -EACCES || rc == -EPERM)
		return "its /proc/PID/auxv is no longer readable";
	return !rc && is_secure && program != st->program
	               ? "its /proc/PID/auxv has changed, and has AT_SECURE"
	               : NULL;
}

void pfmi_perf_stop_process_clock(struct pfm_session *s)
{
	struct stopwatch *w = &((struct perf_state *)s->live.backend_state)->process_clock;
	uint64_t now;

	if (w->is_running)
		session_stop_stopwatch(w,
		                       pfmi_perf_get_process_time(s, &now) ? now : w->started_at);
}

void pfmi_perf_reset_process_clock(struct pfm_session *s)
{
	struct perf_state *st = s->live.backend_state;
	struct stopwatch *w = &st->process_clock;
	uint64_t now = 0;

	st->last_taken = st->last_seen = 0;
	w->is_running = w->is_running && pfmi_perf_get_process_time(s, &now);
	session_reset_stopwatch(w, now);
}

uint64_t pfmi_perf_read_process_time(const struct pfm_session *s)
{
	const struct stopwatch *w =
		&((const struct perf_state *)s->live.backend_state)->process_clock;
	uint64_t now;

	return w->is_running && pfmi_perf_get_process_time(s, &now) ? session_read_stopwatch(w, now)
	                                                            : w->elapsed;
}

/* True if count @c counts the process. */
static bool is_process_count(const struct perf_state *st, const struct session_count *c)
{
	return c->kernel_state.n_open && st->events[c->kernel_state.first_event].pid > 0;
}

/* Finds the longest enabled time of a count of the process, or of a turn, one group of which counts
 * at any time. False without such a count. */
static bool find_longest_time(const struct pfm_session *s, const pfm_count_t *counts,
                              uint64_t *seen)
{
	const struct perf_state *st = s->live.backend_state;
	bool any = false;

	*seen = 0;
	if (s->live.turns)
		pfmi_session_sum_turn_times(s, counts);
	for (unsigned i = 0; i < s->n_counts; i++) {
		uint64_t time;

		if (!is_process_count(st, &s->counts[i]) || counts[i].cause == PFM_CAUSE_BUSY)
			continue;
		any = true;
		time = s->live.turns ? pfmi_session_get_turn_time(s, counts, i) : counts[i].enabled;
		*seen = time > *seen ? time : *seen;
	}
	return any;
}

static void explain_unseen_time(struct pfm_session *s, uint64_t taken, uint64_t seen)
{
	const char *change = describe_rights_change(s);
	const bool has_rights = change != NULL;

	for (unsigned i = 0; i < s->n_counts; i++) {
		struct session_count *c = &s->counts[i];

		if (c->status.cause || !is_process_count(s->live.backend_state, c))
			continue;
		pfmi_session_fail_count(
			c, has_rights ? PFM_CAUSE_PERMISSION : PFM_CAUSE_OTHER,
			has_rights ? EACCES : 0,
			has_rights ? "start counting from a process with the same rights" : "",
			"process %d ran for %.3f s on CPUs but was counted for %.3f s: %s",
			s->options.pid, (double)taken / 1e9, (double)seen / 1e9,
			has_rights ? "it has started a program with more rights (set-user-ID), or "
				     "one whose file is not readable"
				   : "the start and end of threads, or programs with more "
				     "rights than the process (set-user-ID)");
		pfmi_session_set_evidence(c, "ran for %llu ns, enabled for %llu ns%s%s",
		                          (unsigned long long)taken, (unsigned long long)seen,
		                          has_rights ? "; " : "", has_rights ? change : "");
	}
}

/* The counts must have been enabled for the processor time since the last reset, and since the last
 * reading. The process goes on while counts are read: the time since then begins after that. */
bool pfmi_perf_check_process_time(struct pfm_session *s, uint64_t taken, const pfm_count_t *counts)
{
	struct perf_state *st = s->live.backend_state;
	uint64_t seen, seen_since;
	bool is_missing;

	/* The clock of a process that has ended tells the time until it was stopped last. */
	if (taken < st->last_taken || !find_longest_time(s, counts, &seen))
		return true;
	seen_since = seen > st->last_seen ? seen - st->last_seen : 0;
	is_missing = taken > seen + MAX_UNSEEN_TIME_NS ||
	             taken - st->last_taken > seen_since + MAX_UNSEEN_TIME_NS;
	st->last_taken = pfmi_perf_read_process_time(s);
	st->last_seen = seen;
	if (is_missing)
		explain_unseen_time(s, taken, seen);
	return !is_missing;
}
