/* SPDX-License-Identifier: MIT */
/* Periods and attributes of sampling events, of a session that the test fills by
 * hand. */
#include "sampling/sampling_internal.h"
#include "bare_session.h"

static struct session_count counts[3];
static struct sampling_state sm;

static int begin(void **state)
{
	(void)state;
	if (!begin_bare())
		return -1;
	memset(counts, 0, sizeof(counts));
	sm = (struct sampling_state){ .config = { .fields = DEFAULT_FIELDS } };
	s->counts = counts;
	s->n_counts = 3;
	s->sampling = &sm;
	for (unsigned i = 0; i < 3; i++) {
		counts[i].config.group = i;
		counts[i].config.attr.type = PERF_TYPE_TRACEPOINT;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_bare();
	return 0;
}

static void default_rates_by_kind_of_event(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config, period, freq;
	} rows[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000, 0 },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1000000, 0 },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0 },
		{ PERF_TYPE_TRACEPOINT, 300, 1, 0 },
		{ PERF_TYPE_BREAKPOINT, 0, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned given = 0; given < 3; given++) {
			struct count_config *c = &counts[0].config;

			c->attr.type = rows[i].type;
			c->attr.config = rows[i].config;
			c->period = given == 1 ? 9 : 0;
			c->freq = 0;
			sm.config.freq = given == 2 ? 50 : 0;
			pfmi_sampling_choose_rates(s);
			assert_int_equal(c->period, given == 1 ? 9 : given ? 0 : rows[i].period);
			assert_int_equal(c->freq, given == 2 ? 50 : 0);
		}
}

static void refuses_rate_above_the_limit(void **state)
{
	(void)state;
	fake_file(&fake, "/proc/sys/kernel/perf_event_max_sample_rate", "1000");
	counts[0].config.freq = 1000;
	counts[1].config.freq = 1001;
	pfmi_sampling_choose_rates(s);
	assert_int_equal(counts[0].status.cause, PFM_CAUSE_NONE);
	assert_int_equal(counts[1].status.cause, PFM_CAUSE_ATTRIBUTE);
	assert_non_null(strstr(counts[1].status.reason, "at most 1000 samples a second"));
}

/* PERF_SAMPLE_PERIOD is not requested for a fixed period. */
static void fields_and_values_in_a_sample(void **state)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	(void)state;
	counts[0].config.period = 10;
	assert_int_equal(pfmi_sampling_get_sample_fields(s, &counts[0]),
	                 DEFAULT_FIELDS & ~(uint64_t)PFM_SAMPLE_PERIOD);
	counts[0].config.freq = 10;
	assert_int_equal(pfmi_sampling_get_sample_fields(s, &counts[0]), DEFAULT_FIELDS);
	assert_int_equal(pfmi_sampling_get_read_format(s, &counts[0]), times | 16);
	sm.lacks_lost_counts = true;
	assert_int_equal(pfmi_sampling_get_read_format(s, &counts[0]), times);
}

/* The leader of a sampled group reads all members; the members have no period. */
static void groups_that_the_leader_samples(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		counts[i].config.group = 5;
		counts[i].config.is_leader_sampled = true;
	}
	assert_true(pfmi_sampling_has_group_samples(s, &counts[0]));
	assert_false(pfmi_sampling_has_group_samples(s, &counts[1]));
	assert_false(pfmi_sampling_has_group_samples(s, &counts[2]));
	assert_int_equal(pfmi_sampling_get_sample_fields(s, &counts[0]),
	                 DEFAULT_FIELDS | PFM_SAMPLE_READ);
	assert_true(pfmi_sampling_get_read_format(s, &counts[0]) & PERF_FORMAT_GROUP);
	pfmi_sampling_choose_rates(s);
	assert_true(counts[0].config.period == 1 && counts[1].config.period == 0 &&
	            counts[1].config.freq == 0);
}

static void attributes_of_sampling_events(void **state)
{
	struct perf_attr a = { .exclude_kernel = 1 };

	(void)state;
	sm.config.fields |= PFM_SAMPLE_CHAIN | PFM_SAMPLE_STACK;
	sm.config.max_stack = 7;
	sm.config.user_stack = 512;
	sm.config.user_regs = 0xff; /* no registers were requested */
	sm.config.clock = 4;
	counts[0].config.freq = 99;
	counts[0].config.attr.precise = 2;
	pfmi_sampling_fill_event_attr(s, &counts[0], &a);
	assert_true(a.freq && a.sample_freq == 99 && a.precise_ip == 2);
	assert_int_equal(a.sample_type, sm.config.fields);
	assert_true(a.sample_max_stack == 7 && a.exclude_callchain_kernel &&
	            !a.exclude_callchain_user);
	assert_true(a.sample_stack_user == 512 && a.sample_regs_user == 0);
	assert_true(a.sample_id_all && a.use_clockid && a.clockid == 4);
	assert_true(a.watermark && a.wakeup_watermark == 1);
	sm.config.wakeup_events = 3;
	pfmi_sampling_set_common_attr(&sm.config, &a);
	assert_true(!a.watermark && a.wakeup_events == 3);
}

static void watermark_is_at_most_half_a_buffer(void **state)
{
	(void)state;
	assert_int_equal(pfmi_sampling_get_watermark(&sm, 4096), 1024);
	sm.config.watermark = 100;
	assert_int_equal(pfmi_sampling_get_watermark(&sm, 4096), 100);
	sm.config.watermark = 4000;
	assert_int_equal(pfmi_sampling_get_watermark(&sm, 4096), 2048);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(sampling_sampling_attr, CASE(default_rates_by_kind_of_event),
     CASE(refuses_rate_above_the_limit), CASE(fields_and_values_in_a_sample),
     CASE(groups_that_the_leader_samples), CASE(attributes_of_sampling_events),
     CASE(watermark_is_at_most_half_a_buffer));
