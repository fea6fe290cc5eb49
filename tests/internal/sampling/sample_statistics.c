/* SPDX-License-Identifier: MIT */
/* Samples compared with the count of their event: too few, lost, or attributed to another event. */
#include "filled_buffers.h"

static uint64_t counted;

static int read_at_once(struct pfm_session *session, unsigned i, pfm_count_t *count)
{
	(void)session;
	(void)i;
	*count = (pfm_count_t){
		.size = sizeof(*count), .value = counted, .raw = counted, .enabled = 5, .running = 5
	};
	return PFMLIB_SUCCESS;
}

static const struct backend user_read_backend = { .name = "at once",
	                                          .read_user_count = read_at_once };
static struct kernel_event parts[2 * COUNTS];
static pfm_count_t last[COUNTS];

static unsigned tested, neighbour; /* the count under test and its neighbour */

/* Sets up two counts with two kernel events each. Count @tested took @samples samples with period
 * 10 and counted @count. */
static void set_counts(uint64_t count, uint64_t samples)
{
	counted = count;
	memset(parts, 0, sizeof(parts));
	memset(last, 0, sizeof(last));
	perf.events = parts;
	s->live.backend = &user_read_backend;
	s->reading.last_counts = last;
	s->live.running = false;
	s->n_counts = 2;
	for (unsigned i = 0; i < 2; i++) {
		counts[i].kernel_state = (struct count_kernel_state){ .first_event = 2 * i,
			                                              .n_events = 2,
			                                              .n_open = 2 };
		counts[i].config.period = 10;
		memset(&tallies[i], 0, offsetof(struct sample_totals, layout));
	}
	tallies[tested].n_samples = samples;
}

/* Runs @check with each of the two counts as the one under test. */
static void check_both_counts(void **state, void (*check)(void))
{
	for (tested = 0; tested < 2; tested++) {
		neighbour = !tested;
		check();
		assert_true(end(state) == 0 && begin(state) == 0);
	}
}

static pfm_sample_statistics_t expect_statistics(pfm_quality_t quality, pfm_cause_t cause)
{
	pfm_sample_statistics_t c = PFM_INIT(c);

	assert_int_equal(pfm_sampling_statistics(s, tested, &c), PFMLIB_SUCCESS);
	if (c.quality != quality || c.cause != cause)
		fail_msg("%llu samples of %llu are %s %s", (unsigned long long)c.samples,
		         (unsigned long long)c.count, pfm_quality_name(c.quality),
		         pfm_cause_name(c.cause));
	assert_true(c.count == counted && c.period == 10 && c.samples == tallies[tested].n_samples);
	return c;
}

/* A count is exact with at least half of the samples that are due, less one period for each
 * counter. */
static void check_fewer_samples(void)
{
	static const struct {
		uint64_t count, samples;
		bool few;
	} rows[] = { { 109, 0, false }, { 110, 0, true },   { 110, 3, true },
		     { 110, 4, false }, { 1000, 48, true }, { 1000, 49, false } };

	open_buffers(1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		set_counts(rows[i].count, rows[i].samples);
		expect_statistics(rows[i].few ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT,
		                  rows[i].few ? PFM_CAUSE_OTHER : PFM_CAUSE_NONE);
		/* The counts of children include unknown remainders */
		s->options.flags = PFM_SESSION_INHERIT;
		expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		s->options.flags = 0;
	}
}

static void fewer_samples_than_are_due(void **state)
{
	check_both_counts(state, check_fewer_samples);
}

static void check_lost_samples(void)
{
	pfm_sample_statistics_t c;

	open_buffers(1);
	set_counts(1000, 100);
	parts[2 * neighbour].lost_samples = 9;
	c = expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(c.lost == 0);
	parts[2 * tested].lost_samples = 3;
	parts[2 * tested + 1].lost_samples = 4;
	c = expect_statistics(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	assert_true(c.lost == 7);
	/* Older kernels do not count losses: only the lost records show them. */
	sm.lacks_lost_counts = true;
	c = expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(c.lost == PFM_LOST_UNKNOWN);
	sm.n_lost = 1;
	expect_statistics(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	sm.n_lost = 0;
	tallies[tested].n_discarded = 1;
	expect_statistics(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	tallies[tested].n_throttled = 1; /* throttling takes precedence as the cause */
	expect_statistics(PFM_QUALITY_PARTIAL, PFM_CAUSE_THROTTLED);
	assert_int_equal(pfm_sampling_statistics(s, 2, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_sampling_statistics(s, 0, NULL), PFMLIB_ERR_INVAL);
}

static void lost_samples_are_reported(void **state)
{
	check_both_counts(state, check_lost_samples);
}

/* Two counts of one software event may take each other's samples. Their number shows it once
 * all samples have been read. */
static void check_two_counts_of_one_event(void)
{
	open_buffers(1);
	for (unsigned i = 0; i < 2; i++)
		counts[i].config.attr = (perfmon_attr_t){ .type = PERF_TYPE_SOFTWARE,
			                                  .config = PERF_COUNT_SW_PAGE_FAULTS };
	set_counts(50, 5);
	expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	for (uint64_t samples = 0; samples < 12; samples++) {
		bool right = samples >= 3 && samples <= 7;

		set_counts(50, samples);
		expect_statistics(right ? PFM_QUALITY_EXACT : PFM_QUALITY_PARTIAL,
		                  right ? PFM_CAUSE_NONE : PFM_CAUSE_OTHER);
		s->live.running = true; /* more samples may follow */
		expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	}
	set_counts(50, 0);
	counts[neighbour].config.attr.config =
		PERF_COUNT_SW_CONTEXT_SWITCHES; /* a different event */
	expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	sm.n_ambiguous_samples = 1;
	expect_statistics(PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	/* Samples of hardware events carry their own id */
	counts[tested].config.attr.type = PERF_TYPE_RAW;
	expect_statistics(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void samples_of_two_counts_of_one_event(void **state)
{
	check_both_counts(state, check_two_counts_of_one_event);
}

UNIT(sampling_sample_statistics, CASE(fewer_samples_than_are_due), CASE(lost_samples_are_reported),
     CASE(samples_of_two_counts_of_one_event));
