/* SPDX-License-Identifier: MIT */
/* A kernel that refuses a setting of an event: what is opened instead, and the reason that the
 * count reports. */
#include <errno.h>
#include "sampling/sampling_internal.h"
#include "bare_session.h"

static struct session_count count;
static struct sampling_state sm;
static struct kernel_event event;
static struct perf_state perf;
static bool (*is_taken)(const struct perf_attr *a);

static int decide(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return is_taken(a) ? 0 : -f->number;
}

static int begin(void **state)
{
	(void)state;
	if (!begin_bare())
		return -1;
	fake.decide = decide;
	fake.number = EINVAL;
	memset(&count, 0, sizeof(count));
	count.config.freq = 100;
	event = (struct kernel_event){ .fd = -1, .leader = -1, .cpu = -1, .time_reference = -1 };
	perf = (struct perf_state){ .events = &event, .n_events = 1, .cgroup_fd = -1 };
	sm = (struct sampling_state){ .config = { .fields = DEFAULT_FIELDS } };
	s->counts = &count;
	s->n_counts = 1;
	s->live.backend_state = &perf;
	s->sampling = &sm;
	s->sampling_ops = &pfmi_sampling_ops;
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_bare();
	return 0;
}

static int retry(struct perf_attr *a, int err)
{
	int fd = pfmi_sampling_retry_open(s, &count, a, 0, -1, -1, err);

	if (fd >= 0)
		s->sys.close(&s->sys, fd);
	return fd;
}

static bool has_no_lost_counts(const struct perf_attr *a)
{
	return !(a->read_format & 16);
}

/* Kernels before Linux 6.0 do not count lost samples of an event. */
static void lost_counts_are_omitted(void **state)
{
	struct perf_attr a = { .size = sizeof(a), .read_format = 3 | 16 };

	(void)state;
	is_taken = has_no_lost_counts;
	assert_int_equal(retry(&a, -EBUSY), -EBUSY);
	assert_false(sm.lacks_lost_counts);
	assert_true(retry(&a, -EINVAL) >= 0);
	assert_true(sm.lacks_lost_counts);
	assert_int_equal(a.read_format, 3);
}

static bool has_low_precision(const struct perf_attr *a)
{
	return a->precise_ip <= 1;
}

static void precision_is_lowered_on_request(void **state)
{
	struct perf_attr a = { .size = sizeof(a), .precise_ip = 3 };

	(void)state;
	is_taken = has_low_precision;
	assert_int_equal(retry(&a, -EOPNOTSUPP), -EOPNOTSUPP);
	sm.config.flags = PFM_SAMPLING_LESS_PRECISE;
	fake.number = EOPNOTSUPP;
	assert_true(retry(&a, -EOPNOTSUPP) >= 0);
	assert_int_equal(a.precise_ip, 1);
	assert_int_equal(count.config.attr.precise, 1);
}

static void expect_reason(const char *piece)
{
	pfmi_sampling_diagnose_count(s, 0, 0, EINVAL);
	assert_int_equal(count.status.cause, PFM_CAUSE_ATTRIBUTE);
	if (!strstr(count.status.reason, piece))
		fail_msg("%s: no word of %s", count.status.reason, piece);
	memset(&count.status, 0, sizeof(count.status));
}

static bool has_no_precision(const struct perf_attr *a)
{
	return !a->precise_ip;
}

static bool has_no_branches(const struct perf_attr *a)
{
	return !(a->sample_type & PFM_SAMPLE_BRANCH);
}

static bool has_no_registers(const struct perf_attr *a)
{
	return !(a->sample_type & PFM_SAMPLE_REGS);
}

static bool is_counting(const struct perf_attr *a)
{
	return !a->freq && !a->sample_period;
}

static bool is_nothing(const struct perf_attr *a)
{
	(void)a;
	return false;
}

static void refused_setting_is_named(void **state)
{
	(void)state;
	is_taken = has_no_precision;
	count.config.attr.precise = 2;
	expect_reason("precision 2");
	count.config.attr.precise = 0;
	is_taken = has_no_branches;
	sm.config.fields |= PFM_SAMPLE_BRANCH;
	expect_reason("no branches");
	sm.config.fields = DEFAULT_FIELDS | PFM_SAMPLE_REGS;
	is_taken = has_no_registers;
	expect_reason("all requested sample fields");
	is_taken = is_counting;
	expect_reason("no overflow interrupt");
	is_taken = is_nothing;
	pfmi_sampling_diagnose_count(s, 0, 0, EINVAL);
	assert_int_equal(count.status.cause, PFM_CAUSE_NONE);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(sampling_sampling_diagnose, CASE(lost_counts_are_omitted),
     CASE(precision_is_lowered_on_request), CASE(refused_setting_is_named));
