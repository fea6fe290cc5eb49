/* SPDX-License-Identifier: MIT */
/* Counts programs from their first instruction. A child waits at a pipe until its counters are
 * open, and the kernel enables them when it executes the program. */
#include <perfmon/spawn.h>
#include "base/child.h"
#include "base/sizes.h"
#include "session/session.h"

static int open_spawned(struct pfm_session **out, const pfm_ctx_t *ctx,
                        const pfm_session_options_t *options, const char *const *texts, unsigned n,
                        char *const *argv, int *pid, pfm_error_t *why)
{
	struct child child;
	pfm_session_options_t own = *options;
	int err = base_fork_child(argv, NULL, &child), rc;

	if (err)
		return pfmi_base_set_errno_error(why, PFMLIB_ERR_SYS, err,
		                                 "no process can be started");
	own.pid = child.pid;
	own.flags |= PFM_SESSION_ENABLE_ON_EXEC;
	rc = pfm_open_session(out, ctx, &own, texts, n, why);
	if (!rc)
		rc = pfm_start_session(*out);
	if (rc) {
		base_discard_child(&child);
	} else {
		err = base_start_child(&child);
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
	pfm_session_options_t own = usual;
	pfm_error_t mine = { .size = sizeof(mine) },
		    *why = error ? base_choose_error_struct(error, &mine) : &mine;
	const char *wrong;
	int rc;

	if (out)
		*out = NULL;
	if (pid)
		*pid = 0;
	if (!out || !argv || !argv[0] || !pid)
		wrong = "out, argv or pid is NULL, or argv is empty";
	else
		wrong = base_copy_options_in(&own, sizeof(own), options ? options : &usual);
	if (!wrong && has_other_target(&own))
		wrong = "options name a target beside the program";
	rc = wrong ? pfmi_base_refuse_argument(why, wrong)
	           : open_spawned(out, ctx, &own, texts, n, argv, pid, why);
	return base_return_error(error, why, rc);
}
