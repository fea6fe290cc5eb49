/* SPDX-License-Identifier: MIT */
/* The setting or field without which a scripted kernel takes an event. */
#include <errno.h>
#include "session/perf_refused.h"
#include "table/build.h"
#include "bare_session.h"

static struct session_count count;
static struct table *format;
static struct perf_attr refused; /* what the kernel refuses: any of these bits */

static int decide(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	assert_true(pid == 42 && cpu == 3 && group == -1);
	return (a->config & refused.config) || (a->config1 & refused.config1) ||
	                       (a->exclude_idle & refused.exclude_idle) ||
	                       (a->pinned & refused.pinned) ||
	                       (a->exclude_kernel & refused.exclude_kernel)
	               ? -EINVAL
	               : 0;
}

static int begin(void **state)
{
	const struct bitrange code = { .width = 8 }, umask = { .lsb = 8, .width = 8 },
			      ldlat = { .config_word = 1, .width = 16 };
	struct table_builder b;

	(void)state;
	if (!begin_bare())
		return -1;
	pfmi_table_begin_build(&b);
	pfmi_table_add_field(&b, "event", KEY_CODE, &code, 1);
	pfmi_table_add_field(&b, "umask", KEY_UMASK, &umask, 1);
	pfmi_table_add_field(&b, "ldlat", KEY_LDLAT, &ldlat, 1);
	format = pfmi_table_finish_build(&b);
	fake.decide = decide;
	memset(&refused, 0, sizeof(refused));
	memset(&count, 0, sizeof(count));
	count.config.event.table = format;
	count.config.attr = (perfmon_attr_t){ .config = 0x1cd, .config1 = 30 };
	return format ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(format);
	end_bare();
	return 0;
}

static struct refused_event make_event(void)
{
	return (struct refused_event){ .session = s,
		                       .count = &count,
		                       .attr = { .size = sizeof(struct perf_attr),
		                                 .config = 0x1cd,
		                                 .config1 = 30,
		                                 .exclude_idle = 1,
		                                 .exclude_kernel = 1,
		                                 .pinned = 1 },
		                       .pid = 42,
		                       .cpu = 3,
		                       .group_fd = -1 };
}

static void finds_the_only_refused_setting(void **state)
{
	struct refused_event q = make_event();

	(void)state;
	refused.pinned = 1;
	assert_int_equal(pfmi_perf_retry_open(&q, &q.attr, -1), -EINVAL);
	assert_string_equal(pfmi_perf_find_refused_setting(&q), "pinning (D)");
	refused.pinned = 0;
	refused.exclude_idle = 1;
	assert_string_equal(pfmi_perf_find_refused_setting(&q), "excluding idle time (I)");
	refused.pinned = 1; /* two at once are not found */
	assert_null(pfmi_perf_find_refused_setting(&q));
}

static void finds_the_only_refused_field(void **state)
{
	struct refused_event q = make_event();
	const struct field *f;
	uint64_t value = 0;

	(void)state;
	refused.config = 0x100;
	f = pfmi_perf_find_refused_field(&q, &value);
	assert_non_null(f);
	assert_string_equal(table_get_text(format, f->name), "umask");
	assert_int_equal(value, 1);
	refused.config = 0;
	refused.config1 = 2;
	f = pfmi_perf_find_refused_field(&q, &value);
	assert_non_null(f);
	assert_string_equal(table_get_text(format, f->name), "ldlat");
	assert_int_equal(value, 30);
	refused.config = 1;
	assert_null(pfmi_perf_find_refused_field(&q, &value));
}

static void bits_without_a_field(void **state)
{
	(void)state;
	assert_int_equal(pfmi_perf_compute_undeclared_bits(&count), 0);
	count.config.attr.config = 0x4301cd;
	assert_int_equal(pfmi_perf_compute_undeclared_bits(&count), 0x430000);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(session_perf_refused, CASE(finds_the_only_refused_setting), CASE(finds_the_only_refused_field),
     CASE(bits_without_a_field));
