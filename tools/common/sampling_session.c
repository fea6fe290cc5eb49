/* SPDX-License-Identifier: MIT */
#include "common/sampling_session.h"

#include <stdio.h>

static void set_target(pfm_session_options_t *o, const struct sampling_target *t)
{
	o->cpus = t->cpus;
	o->pid = t->pid ? t->pid : t->child;
	o->flags = t->no_inherit ? 0 : PFM_SESSION_INHERIT;
	if (t->all_cpus || t->cpus)
		o->flags = PFM_SESSION_SYSTEM_WIDE;
	else if (t->enable_on_exec && !t->pid)
		o->flags |= PFM_SESSION_ENABLE_ON_EXEC;
	if (t->one_thread)
		o->flags |= PFM_SESSION_ONE_THREAD;
	if (o->flags & PFM_SESSION_SYSTEM_WIDE)
		o->pid = 0;
}

static int open_texts(pfm_session_t **out, const pfm_ctx_t *ctx,
                      const pfm_session_options_t *options, const char *const *texts, unsigned n)
{
	pfm_error_t error = PFM_INIT(error);

	error.event = -1;
	if (pfm_open_session(out, ctx, options, texts, n, &error) == PFMLIB_SUCCESS)
		return EXIT_DONE;
	report_refusal(ctx,
	               error.event < 0 || (unsigned)error.event >= n ? NULL : texts[error.event],
	               &error, WANTED_EVENT);
	return EXIT_REFUSED;
}

bool has_sampling_event(const pfm_session_t *session)
{
	pfm_count_info_t info = PFM_INIT(info);

	for (unsigned i = 0; i < pfm_session_size(session); i++)
		if (!pfm_describe_count(session, i, &info) && !*info.why)
			return true;
	return false;
}

int open_sampling_session(pfm_session_t **out, const pfm_ctx_t *ctx,
                          const struct sampling_target *target, pfm_session_options_t *options,
                          const struct event_list *events, bool *is_clock)
{
	static const char *const cycles[] = { "cycles" }, *const clock[] = { "cpu-clock" };
	int status;

	*is_clock = false;
	set_target(options, target);
	if (events->n)
		return open_texts(out, ctx, options, (const char *const *)events->texts, events->n);
	status = open_texts(out, ctx, options, cycles, 1);
	if (status != EXIT_DONE || has_sampling_event(*out))
		return status;
	pfm_close_session(*out);
	*out = NULL;
	*is_clock = true;
	return open_texts(out, ctx, options, clock, 1);
}

void report_events_without_samples(const char *program, const pfm_session_t *session)
{
	pfm_count_info_t info = PFM_INIT(info);

	for (unsigned i = 0; i < pfm_session_size(session); i++)
		if (!pfm_describe_count(session, i, &info) && *info.why)
			fprintf(stderr, "%s: %s: %s%s%s\n", program, info.name, info.why,
			        *info.remedy ? "; " : "", info.remedy);
}
