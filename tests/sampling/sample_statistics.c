/* SPDX-License-Identifier: MIT */
/* Samples against the count of their event: too few, lost, mixed up. */
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

static const struct backend at_once = { .name = "at once", .read_user_count = read_at_once };
static struct kernel_event parts[2 * COUNTS];
static pfm_count_t last[COUNTS];

static unsigned one, other; /* the count that is asked about, and the one beside it */

/* Two counts with two parts each, of which @one took @samples samples every 10 of what was
 * @counted. */
static void begin_accounts(uint64_t count, uint64_t samples)
{
	counted = count;
	memset(parts, 0, sizeof(parts));
	memset(last, 0, sizeof(last));
	perf.events = parts;
	s->backend = &at_once;
	s->last_counts = last;
	s->running = false;
	s->n_counts = 2;
	for (unsigned i = 0; i < 2; i++) {
		counts[i].kernel_state = (struct count_kernel_state){ .first_event = 2 * i,
			                                              .n_events = 2,
			                                              .n_open = 2 };
		counts[i].config.period = 10;
		memset(&tallies[i], 0, offsetof(struct sample_totals, layout));
	}
	tallies[one].n_samples = samples;
}

/* Each of two counts is asked about, beside the other. */
static void of_both(void **state, void (*check)(void))
{
	for (one = 0; one < 2; one++) {
		other = !one;
		check();
		assert_true(end(state) == 0 && begin(state) == 0);
	}
}

static pfm_sample_statistics_t expect_account(pfm_quality_t quality, pfm_cause_t cause)
{
	pfm_sample_statistics_t c = PFM_INIT(c);

	assert_int_equal(pfm_sampling_statistics(s, one, &c), PFMLIB_SUCCESS);
	if (c.quality != quality || c.cause != cause)
		fail_msg("%llu samples of %llu are %s %s", (unsigned long long)c.samples,
		         (unsigned long long)c.count, pfm_quality_name(c.quality),
		         pfm_cause_name(c.cause));
	assert_true(c.count == counted && c.period == 10 && c.samples == tallies[one].n_samples);
	return c;
}

/* Half of what is due, with a period more or less for each counter. */
static void fewer_samples(void)
{
	static const struct {
		uint64_t count, samples;
		bool few;
	} rows[] = { { 109, 0, false }, { 110, 0, true },   { 110, 3, true },
		     { 110, 4, false }, { 1000, 48, true }, { 1000, 49, false } };

	open_buffers(1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin_accounts(rows[i].count, rows[i].samples);
		expect_account(rows[i].few ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT,
		               rows[i].few ? PFM_CAUSE_OTHER : PFM_CAUSE_NONE);
		s->options.flags = PFM_SESSION_INHERIT; /* those of children are too many to know */
		expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
		s->options.flags = 0;
	}
}

static void fewer_samples_than_are_due(void **state)
{
	of_both(state, fewer_samples);
}

static void get_lost_samples(void)
{
	pfm_sample_statistics_t c;

	open_buffers(1);
	begin_accounts(1000, 100);
	parts[2 * other].lost_samples = 9;
	c = expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(c.lost == 0);
	parts[2 * one].lost_samples = 3;
	parts[2 * one + 1].lost_samples = 4;
	c = expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	assert_true(c.lost == 7);
	/* A kernel that does not tell: records about losses are all there is. */
	sm.lacks_lost_counts = true;
	c = expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	assert_true(c.lost == PFM_LOST_UNKNOWN);
	sm.n_lost = 1;
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	sm.n_lost = 0;
	tallies[one].n_discarded = 1;
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_LOST);
	tallies[one].n_throttled = 1; /* says more */
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_THROTTLED);
	assert_int_equal(pfm_sampling_statistics(s, 2, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_sampling_statistics(s, 0, NULL), PFMLIB_ERR_INVAL);
}

static void what_was_lost(void **state)
{
	of_both(state, get_lost_samples);
}

/* Two counts of one event of the kernel's own may have taken each other's samples: their number
 * shows it, once all were taken. */
static void twins(void)
{
	open_buffers(1);
	for (unsigned i = 0; i < 2; i++)
		counts[i].config.attr = (pfm_attr_t){ .type = PERF_TYPE_SOFTWARE,
			                              .config = PERF_COUNT_SW_PAGE_FAULTS };
	begin_accounts(50, 5);
	expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	for (uint64_t samples = 0; samples < 12; samples++) {
		bool right = samples >= 3 && samples <= 7;

		begin_accounts(50, samples);
		expect_account(right ? PFM_QUALITY_EXACT : PFM_QUALITY_PARTIAL,
		               right ? PFM_CAUSE_NONE : PFM_CAUSE_OTHER);
		s->running = true; /* there may be more to come */
		expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	}
	begin_accounts(50, 0);
	counts[other].config.attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES; /* no twin */
	expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
	sm.n_ambiguous_samples = 1;
	expect_account(PFM_QUALITY_PARTIAL, PFM_CAUSE_OTHER);
	counts[one].config.attr.type = PERF_TYPE_RAW; /* these are never another's */
	expect_account(PFM_QUALITY_EXACT, PFM_CAUSE_NONE);
}

static void samples_of_twins(void **state)
{
	of_both(state, twins);
}

UNIT(sampling_sample_statistics, CASE(fewer_samples_than_are_due), CASE(what_was_lost),
     CASE(samples_of_twins));
