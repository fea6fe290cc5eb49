/* SPDX-License-Identifier: MIT */
/* A session whose kernel events the test makes by hand. */
#ifndef TESTS_KERNEL_EVENTS_H
#define TESTS_KERNEL_EVENTS_H

#include "units.h"
#include <errno.h>
#include "session/perf_event_internal.h"
#include "fake_sys.h"

#define PARTS 8

static struct fake fake;
static struct pfm_ctx *ctx;
static struct pfm_session *s;
static struct perf_state perf;
static struct kernel_event parts[PARTS];
static struct session_count counts[PARTS];
static struct time_reference witnesses[2];
static pfm_count_t read_counts[PARTS];

static inline void as_they_are(struct fake *f, struct fake_event *e)
{
	(void)f;
	(void)e;
}

static inline int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake.tick = as_they_are;
	ctx = calloc(1, sizeof(*ctx));
	s = calloc(1, sizeof(*s));
	if (!s || !ctx)
		return -1;
	memset(parts, 0, sizeof(parts));
	memset(counts, 0, sizeof(counts));
	memset(witnesses, 0, sizeof(witnesses));
	perf = (struct perf_state){ .events = parts,
		                    .cgroup_fd = -1,
		                    .time_references = witnesses };
	s->ctx = ctx;
	s->sys = fake.sys;
	s->counts = counts;
	s->live.backend_state = &perf;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	free(perf.readings);
	fake_end(&fake);
	free(s);
	free(ctx);
	return 0;
}

static inline int open_event(uint64_t format, int group, int pid, int cpu)
{
	struct perf_attr a = { .size = sizeof(a),
		               .read_format = 3 | format,
		               .disabled = group < 0 };

	return fake.sys.perf_event_open(&fake.sys, &a, pid, cpu, group, 0);
}

/* One more part of count @count. @lead: the part it joins, -1: none. */
static inline struct kernel_event *add_part(unsigned count, int lead, bool whole, int pid, int cpu)
{
	unsigned me = perf.n_events++;
	struct kernel_event *p = &parts[me];

	*p = (struct kernel_event){ .leader = lead,
		                    .reads_group = whole,
		                    .time_reference = -1,
		                    .next_member = -1,
		                    .last_member = -1,
		                    .pid = pid,
		                    .cpu = cpu,
		                    .count_index = count };
	p->fd = open_event(whole ? PERF_FORMAT_GROUP : 0, lead < 0 ? -1 : parts[lead].fd, pid, cpu);
	if (lead >= 0) {
		parts[parts[lead].last_member < 0 ? lead : parts[lead].last_member].next_member =
			(int)me;
		parts[lead].last_member = (int)me;
		parts[lead].n_members++;
	}
	if (counts[count].kernel_state.n_events++ == 0)
		counts[count].kernel_state.first_event = me;
	counts[count].kernel_state.n_open++;
	s->n_counts = count + 1 > s->n_counts ? count + 1 : s->n_counts;
	return p;
}

static inline void set(unsigned part, uint64_t value, uint64_t on, uint64_t running)
{
	struct fake_event *e = fake_event(&fake, parts[part].fd);

	assert_non_null(e);
	e->value = value;
	e->is_open = on;
	e->running = running;
}

static inline int try_read(void)
{
	s->reading.is_all_exact = false;
	return pfmi_perf_read_counts(s, read_counts, s->n_counts);
}

static inline void expect(unsigned i, uint64_t value, uint64_t raw, uint64_t enabled,
                          uint64_t running, pfm_quality_t quality, pfm_cause_t cause)
{
	const pfm_count_t *c = &read_counts[i];

	if (c->value != value || c->raw != raw || c->enabled != enabled || c->running != running ||
	    c->quality != quality || c->cause != cause)
		fail_msg("count %u: %llu (%llu) in %llu of %llu, %s %s", i,
		         (unsigned long long)c->value, (unsigned long long)c->raw,
		         (unsigned long long)c->running, (unsigned long long)c->enabled,
		         pfm_quality_name(c->quality), pfm_cause_name(c->cause));
	assert_int_equal(c->size, sizeof(*c));
}

static inline void expect_exact(unsigned i, uint64_t value, uint64_t time)
{
	expect(i, value, value, time, time, PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

/* Lets a time reference count on CPU @i. */
static inline void watch(unsigned i, uint64_t on, uint64_t running)
{
	struct fake_event *e;

	if (!witnesses[i].is_needed) {
		witnesses[i].is_needed = true;
		witnesses[i].fd = open_event(0, -1, 42, (int)i);
		perf.n_time_references = i + 1;
	}
	e = fake_event(&fake, witnesses[i].fd);
	e->is_open = on;
	e->running = running;
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

#endif
