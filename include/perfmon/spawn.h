/* SPDX-License-Identifier: MIT */
/** Starting a program that a session counts from its first instruction. */
#ifndef PERFMON_SPAWN_H
#define PERFMON_SPAWN_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/**
 * Start program @argv and count it from its first instruction.
 *
 * @out      the session, which counts from the start of the program on; closed by the caller
 * @ctx      a context, or NULL for the default one
 * @options  as of pfm_open_session(), or NULL: the program and its children. Without
 *           PFM_SESSION_INHERIT in flags, children are left out. Members pid, cpus and cgroup, and
 *           the flags PFM_SESSION_SYSTEM_WIDE and PFM_SESSION_DRY_RUN, must be 0
 * @texts    @n events or groups, as of pfm_open_session()
 * @argv     the program, which is searched in PATH, and its arguments; ends with NULL
 * @pid      its process id; the caller waits for it with waitpid(2)
 * @error    details of a failure, or NULL
 *
 * Counting needs no pfm_start_session(); pfm_stop_session() ends it. The program inherits the
 * signal mask and the open files of the caller.
 *
 * Returns PFMLIB_SUCCESS once the program runs. On failure *@out is NULL, *@pid is 0, and no
 * process is left:
 *   PFMLIB_ERR_INVAL  an argument is NULL or empty, or @options asks for other targets
 *   PFMLIB_ERR_SYS    the program cannot be run; error->sys_errno says why
 *   any error of pfm_open_session()
 *
 * Thread-safe. It forks: handlers of pthread_atfork(3) run.
 */
int pfm_spawn_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                      const pfm_session_options_t *options, const char *const *texts, unsigned n,
                      char *const *argv, int *pid, pfm_error_t *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
