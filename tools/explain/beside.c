/* SPDX-License-Identifier: MIT */
/* Facts that an answer needs beside the counts: the speed of the memory, and the places of an
 * event. */
#include "explain/readings.h"
#include "explain/sites.h"
#include "common/pfm.h"
#include "stat/stat.h"
#include "truth/speed.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DRAIN_MS = 50, LINE_BYTES = 64 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* Sets @v to the share of the memory's bytes that the lines are. A program that uses less than a
 * CPU could move as many in each moment that it runs. */
static void compute_bandwidth_share(const struct explain_evidence *e, struct explain_value *v)
{
	const struct explain_value *lines = find_value(e, LINES_METRIC),
				   *cpus = find_value(e, CPUS_METRIC);
	double share_of_line;

	if (!lines->is_known || !cpus->is_known) {
		snprintf(v->reason, sizeof(v->reason), "%s",
		         lines->is_known ? cpus->reason : lines->reason);
		return;
	}
	share_of_line = 1e9 * LINE_BYTES / e->memory.bytes_a_second * fmax(1, cpus->value);
	v->value = lines->value * share_of_line;
	v->low = lines->low * share_of_line;
	v->high = lines->high * share_of_line;
	v->is_known = true;
}

void measure_memory_use(struct explain_evidence *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct explain_value *v = &e->values[i];

		if (strcmp(v->metric, BANDWIDTH_METRIC) != 0)
			continue;
		*v->reason = 0;
		if (!e->memory.is_known) {
			e->memory.is_measured = true;
			e->memory.is_known = truth_measure_memory(&e->memory.nanoseconds,
			                                          &e->memory.bytes_a_second);
		}
		if (e->memory.is_known)
			compute_bandwidth_share(e, v);
		else
			snprintf(v->reason, sizeof(v->reason),
			         "the speed of the memory cannot be measured here; --memory "
			         "NS,GB/S");
	}
}

/* ---- places ---------------------------------------------------------------------------------- */

static double read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wait_and_drain(struct sampler *s)
{
	const struct timespec t = { 0, DRAIN_MS * 1000000 };

	nanosleep(&t, NULL);
	drain_sampler(s);
}

/* Prepares the program; what it prints is left out, as its first run has printed it. */
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
		const double end = read_clock() + t->seconds;

		begin_sampler(&s, ctx, t, 0, event, SAMPLES_OF_WORK);
		while (s.session && !is_interrupted() && read_clock() < end)
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
