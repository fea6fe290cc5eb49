/* SPDX-License-Identifier: MIT */
/** Programs that a session counts from their first instruction. */
#ifndef LIBPERFMON_SPAWN_H
#define LIBPERFMON_SPAWN_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Starts program @argv and counts it from its first instruction.
 *
 * @out      receives the session; release it with pfm_close_session()
 * @ctx      a context, or NULL for the default one
 * @options  as for pfm_open_session(), or NULL to count the program and its children. Without
 *           PFM_SESSION_INHERIT in flags, children are not counted. The members pid, cpus and
 *           cgroup, and the flags PFM_SESSION_SYSTEM_WIDE and PFM_SESSION_DRY_RUN must be 0
 * @texts    @n events or groups, as for pfm_open_session()
 * @argv     the program, which is searched in PATH, and its arguments; ends with NULL
 * @pid      receives the process ID; the caller waits for it with waitpid(2)
 * @error    filled on failure; may be NULL
 *
 * Counting starts with the program, without pfm_start_session(); pfm_stop_session() ends it. The
 * program inherits the signal mask and the open files of the caller.
 *
 * Returns PFMLIB_SUCCESS after the child has executed the program. On failure, *@out is NULL, *@pid
 * is 0, and no child process is left:
 *   PFMLIB_ERR_INVAL  an argument is NULL or empty, or @options sets another target
 *   PFMLIB_ERR_SYS    the program cannot be executed; see error->sys_errno
 *   the codes of pfm_open_session()
 *
 * Thread-safe. It forks, so the handlers of pthread_atfork(3) run.
 */
int pfm_spawn_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                      const pfm_session_options_t *options, const char *const *texts, unsigned n,
                      char *const *argv, int *pid, pfm_error_t *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
