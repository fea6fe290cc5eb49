/* SPDX-License-Identifier: MIT */
/* Counts programs from their first instruction. A child waits at a pipe until its counters are
 * open, and the kernel enables them when it executes the program. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/spawn.h>
#include "base/sizes.h"
#include "session/session.h"

/* A child before it executes the program. The failure pipe closes when the program starts. */
struct waiting_child {
	pid_t pid;
	int go_fd, failure_fd;
};

/* Reads @n bytes in spite of signals. False if there are fewer. */
static bool read_bytes(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n;
}

/* Runs in the child, which may only call functions that are safe after a fork of a program with
 * threads. */
static _Noreturn void run_program(char *const *argv, int go_fd, int failure_fd)
{
	char byte;
	int err;

	if (!read_bytes(go_fd, &byte, 1))
		_exit(0); /* the parent could not open the session */
	execvp(argv[0], argv);
	err = errno;
	while (write(failure_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Forks the child. Returns 0 or an errno. */
static int fork_child(char *const *argv, struct waiting_child *c)
{
	int go[2], failure[2], err;

	if (pipe2(go, O_CLOEXEC))
		return errno;
	if (pipe2(failure, O_CLOEXEC)) {
		err = errno;
		close_pair(go);
		return err;
	}
	c->pid = fork();
	err = errno;
	if (c->pid == 0) {
		close(go[1]);
		run_program(argv, go[0], failure[1]);
	}
	if (c->pid < 0) {
		close_pair(go);
		close_pair(failure);
		return err;
	}
	close(go[0]);
	close(failure[1]);
	c->go_fd = go[1];
	c->failure_fd = failure[0];
	return 0;
}

static void reap_child(const struct waiting_child *c)
{
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Lets the child execute its program. Returns 0, or the errno of its failure; the child has ended
 * then. */
static int release_child(const struct waiting_child *c)
{
	int err = 0;
	ssize_t sent = write(c->go_fd, "", 1);

	close(c->go_fd);
	if (sent != 1 || !read_bytes(c->failure_fd, &err, sizeof(err)))
		err = sent == 1 ? 0 : EPIPE;
	close(c->failure_fd);
	if (err)
		reap_child(c);
	return err;
}

static void discard_child(const struct waiting_child *c)
{
	close(c->go_fd);
	close(c->failure_fd);
	reap_child(c);
}

static int open_spawned(struct pfm_session **out, const pfm_ctx_t *ctx,
                        const pfm_session_options_t *options, const char *const *texts, unsigned n,
                        char *const *argv, int *pid, pfm_error_t *why)
{
	struct waiting_child child = { .pid = -1, .go_fd = -1, .failure_fd = -1 };
	pfm_session_options_t own = *options;
	int err = fork_child(argv, &child), rc;

	if (err)
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, err,
		                                 "no process can be started");
	own.pid = child.pid;
	own.flags |= PFM_SESSION_ENABLE_ON_EXEC;
	rc = pfm_open_session(out, ctx, &own, texts, n, why);
	if (!rc)
		rc = pfm_start_session(*out);
	if (rc) {
		discard_child(&child);
	} else {
		err = release_child(&child);
		if (err)
			rc = pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, err,
			                               "the program cannot be run");
	}
	if (rc) {
		pfm_close_session(*out);
		*out = NULL;
		return rc;
	}
	*pid = child.pid;
	return PFMLIB_SUCCESS;
}

static bool has_other_target(const pfm_session_options_t *o)
{
	return o->pid || o->cpus || o->cgroup ||
	       o->flags & (PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_DRY_RUN);
}

int pfm_spawn_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                      const pfm_session_options_t *options, const char *const *texts, unsigned n,
                      char *const *argv, int *pid, pfm_error_t *error)
{
	const pfm_session_options_t usual = { .size = sizeof(usual), .flags = PFM_SESSION_INHERIT };
	pfm_session_options_t own;
	pfm_error_t mine = { .size = sizeof(mine) },
		    *why = error ? base_choose_error_struct(error, &mine) : &mine;
	int rc;

	if (out)
		*out = NULL;
	if (pid)
		*pid = 0;
	if (!out || !argv || !argv[0] || !pid)
		rc = pfmi_base_refuse_argument(why, "out, argv or pid is NULL, or argv is empty");
	else if (!base_copy_struct_in(&own, sizeof(own), options ? options : &usual) ||
	         has_other_target(&own))
		rc = pfmi_base_refuse_argument(
			why,
			"options.size is not set, or options name a target beside the program");
	else
		rc = open_spawned(out, ctx, &own, texts, n, argv, pid, why);
	return base_return_error(error, why, rc);
}
