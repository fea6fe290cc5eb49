/* SPDX-License-Identifier: MIT */
/* pfm serve --give-way: detects that events of other programs compete for counters. There are two
 * signs. The probe, a pinned event on each CPU, is always on a counter unless other pinned events,
 * or programs that bypass the kernel, have taken all of them. Events that are not pinned cannot
 * take the probe's counter, but the service's own events share counters with them: if these once
 * had counters for a whole reading, a lack of counters is caused by other programs. Counting then
 * pauses, for a time that doubles as long as the competition continues. After a pause the probe
 * alone counts for a moment; the service counts again if the probe gets its counters. */
#include "common/pfm.h"
#include "serve.h"

#include <errno.h>
#include <stdlib.h>

/* Most processors have fixed counters for cycles and instructions, which tell nothing about the
 * others. Every core PMU has this event. */
#define PROBE_EVENT "branch-misses:D"

#define LEAST_SHARE 0.95  /* least share of the time in which events must have counters */
#define WHOLE_SHARE 0.995 /* share that counts as the whole time */

enum {
	LOOK_NS = NS / 2, /* between two readings of the probe */
	FIRST_PAUSE_SECONDS = 1,
	MAX_PAUSE_SECONDS = 64,
	CALM_SECONDS = 10 /* without competition, after which the next pause is a short one again */
};

int open_probe(struct serve *s)
{
	static const char *const text = PROBE_EVENT;
	struct serve_probe *p = &s->probe;
	pfm_session_options_t so = PFM_INIT(so);
	pfm_error_t error = PFM_INIT(error);

	p->pause_seconds = FIRST_PAUSE_SECONDS;
	if (!s->lock_path)
		return EXIT_DONE;
	so.flags = PFM_SESSION_SYSTEM_WIDE;
	so.cpus = s->job.options.cpus;
	/* Without a PMU there is nothing to compete for. */
	if (pfm_open_session(&p->session, s->job.ctx, &so, &text, 1, &error) != PFMLIB_SUCCESS) {
		p->session = NULL;
		return EXIT_DONE;
	}
	p->n = pfm_session_size(p->session);
	p->counts = calloc(p->n ? p->n : 1, sizeof(*p->counts));
	if (!p->counts)
		return report_bad_option("counts", ENOMEM);
	for (unsigned i = 0; i < p->n; i++)
		p->counts[i].size = sizeof(p->counts[i]);
	return EXIT_DONE;
}

void close_probe(struct serve *s)
{
	pfm_close_session(s->probe.session);
	free(s->probe.counts);
	s->probe.session = NULL;
	s->probe.counts = NULL;
}

unsigned count_probe_files(const struct serve *s)
{
	pfm_count_info_t info = PFM_INIT(info);
	unsigned n = 0;

	for (unsigned i = 0; s->probe.session && i < s->probe.n; i++)
		if (!pfm_describe_count(s->probe.session, i, &info))
			n += info.n_kernel_events;
	return n;
}

static struct probe_times add_times(const pfm_count_t *counts, unsigned n)
{
	struct probe_times sum = { 0 };

	for (unsigned i = 0; i < n; i++) {
		sum.enabled += (double)counts[i].enabled;
		sum.running += (double)counts[i].running;
	}
	return sum;
}

/* The share of the time since @before in which events had counters; negative if no time has
 * passed. */
static double compute_running_share(struct probe_times before, struct probe_times now)
{
	const double enabled = now.enabled - before.enabled, running = now.running - before.running;

	return enabled > 0 && running >= 0 ? running / enabled : -1;
}

/* True if the probe lost its counter on some CPU since the last reading. False if its session
 * cannot be read. */
static bool is_probe_starved(struct serve_probe *p)
{
	const struct probe_times before = p->times;
	bool is_lost = false;
	double share;

	if (!p->session || pfm_read_session(p->session, p->counts, p->n) != PFMLIB_SUCCESS)
		return false;
	for (unsigned i = 0; i < p->n; i++)
		is_lost |= p->counts[i].cause == PFM_CAUSE_BUSY;
	p->times = add_times(p->counts, p->n);
	share = compute_running_share(before, p->times);
	return is_lost || (share >= 0 && share < LEAST_SHARE);
}

/* Starts the probe. An event that had lost its counter tries again. */
static void start_probe(struct serve_probe *p, uint64_t now)
{
	p->is_on = true;
	p->next_look = now + LOOK_NS;
	p->own = (struct probe_times){ 0 };
	if (!p->session)
		return;
	pfm_start_session(p->session);
	if (pfm_read_session(p->session, p->counts, p->n) == PFMLIB_SUCCESS)
		p->times = add_times(p->counts, p->n);
}

void stop_probe(struct serve *s)
{
	struct serve_probe *p = &s->probe;

	if (p->is_on && p->session)
		pfm_stop_session(p->session);
	p->is_on = p->is_trying = p->lacks_counters = false;
	p->paused_until = 0;
}

static void begin_pause(struct serve *s, uint64_t now)
{
	struct serve_probe *p = &s->probe;

	stop_probe(s);
	p->paused_until = now + (uint64_t)p->pause_seconds * NS;
	p->pause_seconds =
		p->pause_seconds < MAX_PAUSE_SECONDS ? 2 * p->pause_seconds : MAX_PAUSE_SECONDS;
}

/* Ends a pause: the service waits while the probe tries. */
static bool begin_trial(struct serve_probe *p, uint64_t now)
{
	p->paused_until = 0;
	p->resumed = now;
	start_probe(p, now);
	p->is_trying = p->session != NULL;
	return p->is_trying;
}

bool do_events_compete(struct serve *s)
{
	struct serve_probe *p = &s->probe;
	const uint64_t now = now_ns();

	if (!s->lock_path)
		return false;
	if (p->paused_until)
		return now < p->paused_until || begin_trial(p, now);
	if (!p->is_on)
		start_probe(p, now);
	if (!p->lacks_counters && now < p->next_look)
		return p->is_trying;
	p->next_look = now + LOOK_NS;
	if (is_probe_starved(p) || p->lacks_counters) {
		begin_pause(s, now);
		return true;
	}
	p->is_trying = false;
	if (now - p->resumed > (uint64_t)CALM_SECONDS * NS)
		p->pause_seconds = FIRST_PAUSE_SECONDS;
	return false;
}

void note_own_times(struct serve *s)
{
	struct serve_probe *p = &s->probe;
	const struct probe_times before = p->own;
	double share;

	if (!p->is_on)
		return;
	p->own = (struct probe_times){ 0 };
	for (unsigned k = 0; k < s->job.targets.n; k++) {
		struct probe_times part =
			add_times(s->job.targets.list[k].counts, s->job.targets.list[k].n);

		p->own.enabled += part.enabled;
		p->own.running += part.running;
	}
	share = before.enabled > 0 ? compute_running_share(before, p->own) : -1;
	p->was_own_whole |= share >= WHOLE_SHARE;
	p->lacks_counters = p->was_own_whole && share >= 0 && share < LEAST_SHARE;
}
