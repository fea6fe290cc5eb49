/* SPDX-License-Identifier: MIT */
/* Samples the event that a rule names, after the counts. */
#include "explain/readings.h"
#include "explain/sites.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DRAIN_MS = 50 };

static void wait_and_drain(struct sampler *s)
{
	const struct timespec t = { 0, DRAIN_MS * 1000000 };

	nanosleep(&t, NULL);
	drain_sampler(s);
}

/* Prepares the program without its output, which its first run has printed. */
static bool prepare_quiet_child(char *const *command, struct child *child)
{
	const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
		  null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bool ok = kept >= 0 && null >= 0;

	fflush(NULL);
	if (ok)
		dup2(null, STDOUT_FILENO);
	ok = ok && child_prepare(command, NULL, child) == EXIT_DONE;
	if (kept >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	if (null >= 0)
		close(null);
	return ok;
}

static void sample_program(const pfm_ctx_t *ctx, const struct explain_target *t, const char *event,
                           struct sampler *s)
{
	struct child child = { .pid = 0 };

	if (!prepare_quiet_child(t->command, &child))
		return;
	begin_sampler(s, ctx, t, child.pid, event, SAMPLES_OF_WORK);
	if (s->session && child_start(t->command, &child) == EXIT_DONE) {
		while (waitpid(child.pid, NULL, WNOHANG) == 0)
			wait_and_drain(s);
		child.pid = 0;
	}
	base_discard_child(&child);
}

/* Samples @event until there are samples in *@out. */
static bool sample_event(const pfm_ctx_t *ctx, const struct explain_target *t, const char *event,
                         struct explain_sites *out)
{
	struct sampler s = { .session = NULL };

	if (t->command) {
		sample_program(ctx, t, event, &s);
	} else {
		const uint64_t end = now_ns() + (uint64_t)(t->seconds * NS);

		begin_sampler(&s, ctx, t, 0, event, SAMPLES_OF_WORK);
		while (s.session && !is_interrupted() && now_ns() < end)
			wait_and_drain(&s);
	}
	end_sampler(&s, out);
	return out->n > 0;
}

void sample_node(pfm_ctx_t *ctx, const struct explain_target *target,
                 const struct explain_rule *rule, struct explain_evidence *e)
{
	char events[RATIO_PARTS_MAX][EVENT_TEXT_MAX], meaning[MEANING_MAX];

	for (const char *at = rule->sample; *at && !is_interrupted(); at += strspn(at, " ")) {
		const size_t len = strcspn(at, " ");

		snprintf(meaning, sizeof(meaning), "%.*s", (int)len, at);
		at += len;
		if (find_events_of_meaning(ctx, meaning, events, RATIO_PARTS_MAX) &&
		    sample_event(ctx, target, events[0], &e->events))
			return;
	}
}
