/* SPDX-License-Identifier: MIT */
/* The tracing data of a recording, byte for byte, and the format text of a tracepoint: the one with
 * its ID, wherever tracefs is mounted, once for each tracepoint. */
#include "bare_session.h"

#define EVENTS "/sys/kernel/tracing/events/"
#define DEBUG  "/sys/kernel/debug/tracing/events/"

static struct session_count counts[4];
static struct perf_state perf;
static char names[4][64];

static int begin(void **state)
{
	(void)state;
	if (!begin_bare())
		return -1;
	memset(counts, 0, sizeof(counts));
	perf = (struct perf_state){ .page_size = 0x12345678 };
	s->counts = counts;
	s->live.backend_state = &perf;
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_bare();
	return 0;
}

static void add_count(const char *name, uint32_t type, uint64_t config)
{
	struct count_config *a = &counts[s->n_counts].config;

	snprintf(names[s->n_counts], sizeof(names[s->n_counts]), "%s", name);
	a->name = names[s->n_counts++];
	a->attr.type = type;
	a->attr.config = config;
}

static void expect_format(unsigned i, const char *text)
{
	char *format = pfmi_perfdata_read_trace_format(s, i);

	if (text)
		assert_string_equal(format, text);
	else
		assert_null(format);
	free(format);
}

static void the_number_of_a_tracepoint_is_compared_whole(void **state)
{
	(void)state;
	assert_true(pfmi_perfdata_has_tracepoint_id("name: x\nID: 372\nformat:\n", 372));
	assert_false(pfmi_perfdata_has_tracepoint_id("name: x\nID: 372\nformat:\n", 37));
	assert_false(pfmi_perfdata_has_tracepoint_id("name: x\nID: 37\nformat:\n", 372));
	assert_true(pfmi_perfdata_has_tracepoint_id("\nID: 18446744073709551615", UINT64_MAX));
	assert_false(
		pfmi_perfdata_has_tracepoint_id("ID: 372\n", 372)); /* the first line is a name's */
	assert_false(pfmi_perfdata_has_tracepoint_id("name: x\nXID: 372\n", 372));
	assert_false(pfmi_perfdata_has_tracepoint_id("", 0));
	assert_true(pfmi_perfdata_has_tracepoint_id("\nID: 0\n", 0));
}

static void a_format_must_have_the_number_of_its_tracepoint(void **state)
{
	(void)state;
	add_count("sched:switch", PERF_TYPE_TRACEPOINT, 7);
	add_count("sched:switch", PERF_TYPE_SOFTWARE, 7);
	add_count("sched:wakeup/cpu=3/", PERF_TYPE_TRACEPOINT, 8);
	add_count("nothing", PERF_TYPE_TRACEPOINT, 7);
	expect_format(0, NULL);
	fake_file(&fake, DEBUG "sched/switch/format", "debug\nID: 7");
	fake_file(&fake, EVENTS "sched/wakeup/format", "wakeup\nID: 8");
	expect_format(0, "debug\nID: 7\n");
	expect_format(1, NULL);
	expect_format(2, "wakeup\nID: 8\n"); /* the name ends before the slash */
	expect_format(3, NULL);
	/* The usual mount point comes first, even if its text is about another tracepoint. */
	fake_file(&fake, EVENTS "sched/switch/format", "new\nID: 7");
	expect_format(0, "new\nID: 7\n");
	fake_file(&fake, EVENTS "sched/switch/format", "other\nID: 70");
	expect_format(0, NULL);
}

/* Only two mount points are tried. */
static void tries_two_mount_points(void **state)
{
	(void)state;
	add_count("sched:switch", PERF_TYPE_TRACEPOINT, 7);
	expect_format(0, NULL);
	assert_int_equal(fake.uses[FAKE_OPEN], 2);
	fake_file(&fake, DEBUG "sched/switch/format", "debug\nID: 7");
	expect_format(0, "debug\nID: 7\n");
	assert_int_equal(fake.uses[FAKE_OPEN], 4);
	fake_file(&fake, EVENTS "sched/switch/format", "new\nID: 7");
	expect_format(0, "new\nID: 7\n");
	assert_int_equal(fake.uses[FAKE_OPEN], 5);
}

static void modifiers_are_no_name(void **state)
{
	(void)state;
	add_count("a:b:u", PERF_TYPE_TRACEPOINT, 1);
	add_count(":b", PERF_TYPE_TRACEPOINT, 1);
	add_count("a:", PERF_TYPE_TRACEPOINT, 1);
	fake_file(&fake, EVENTS "a/b/format", "x\nID: 1");
	expect_format(0, "x\nID: 1\n");
	expect_format(1, NULL);
	expect_format(2, NULL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct byte_buffer expected, out;

static void put(const void *p, size_t n)
{
	assert_true(pfmi_perfdata_reserve_bytes(&expected, n));
	memcpy(expected.data + expected.end, p, n);
	expected.end += n;
}

static void put32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void put_text(const char *text)
{
	size_t n = strlen(text);
	uint64_t len = n;

	put(&len, sizeof(len));
	put(text, n);
}

static void put_head(const char *page, const char *event, uint32_t systems)
{
	const uint16_t one = 1;
	const uint8_t order_and_long[] = { *(const uint8_t *)&one == 0, sizeof(long) };

	expected.end = 0;
	put("\x17\x08\x44tracing0.6", 14); /* its end is a part of it */
	put(order_and_long, 2);
	put32(0x12345678);
	put("header_page", 12);
	put_text(page);
	put("header_event", 13);
	put_text(event);
	put32(0);
	put32(systems);
}

static void put_tail(void)
{
	static const uint8_t zeros[16];

	put(zeros, 16);
}

static void expect_bytes(bool any)
{
	out = (struct byte_buffer){ .data = NULL };
	assert_int_equal(pfmi_perfdata_build_tracing_data(s, &out), any);
	assert_int_equal(out.end, expected.end);
	assert_memory_equal(out.data, expected.data, out.end);
	free(out.data);
}

static void byte_for_byte(void **state)
{
	(void)state;
	expected = (struct byte_buffer){ .data = NULL };
	add_count("a:b", PERF_TYPE_TRACEPOINT, 1);
	add_count("a:b", PERF_TYPE_TRACEPOINT, 1); /* once is enough */
	add_count("a:b", PERF_TYPE_SOFTWARE, 2);   /* not a tracepoint */
	add_count("c:d", PERF_TYPE_TRACEPOINT, 2);
	/* Nothing can be read. */
	put_head("", "", 0);
	put_tail();
	expect_bytes(false);
	/* One format can be read. */
	fake_file(&fake, EVENTS "header_page", "the page");
	fake_file(&fake, DEBUG "header_event", "an event");
	fake_file(&fake, EVENTS "c/d/format", "second\nID: 2");
	put_head("the page\n", "an event\n", 1);
	put("c", 2);
	put32(1);
	put_text("second\nID: 2\n");
	put_tail();
	expect_bytes(true);
	/* Both. */
	fake_file(&fake, EVENTS "a/b/format", "first\nID: 1");
	put_head("the page\n", "an event\n", 2);
	put("a", 2);
	put32(1);
	put_text("first\nID: 1\n");
	put("c", 2);
	put32(1);
	put_text("second\nID: 2\n");
	put_tail();
	expect_bytes(true);
	free(expected.data);
}

/* Tracing data is appended to the bytes that a buffer already has. */
static void it_is_added(void **state)
{
	(void)state;
	expected = out = (struct byte_buffer){ .data = NULL };
	fake_file(&fake, EVENTS "a/b/format", "first\nID: 1");
	add_count("a:b", PERF_TYPE_TRACEPOINT, 1);
	put_head("", "", 1);
	put("a", 2);
	put32(1);
	put_text("first\nID: 1\n");
	put_tail();
	assert_true(pfmi_perfdata_reserve_bytes(&out, 5));
	memcpy(out.data, "12345", 5);
	out.end = 5;
	assert_true(pfmi_perfdata_build_tracing_data(s, &out));
	assert_int_equal(out.end, expected.end + 5);
	assert_memory_equal(out.data, "12345", 5);
	assert_memory_equal(out.data + 5, expected.data, expected.end);
	free(out.data);
	free(expected.data);
}

/* A buffer that cannot grow any more: there is nothing, wherever it ends. */
static void writes_nothing_beyond_the_largest_buffer(void **state)
{
	bool ok = false;

	(void)state;
	fake_file(&fake, EVENTS "a/b/format", "first\nID: 1");
	add_count("a:b", PERF_TYPE_TRACEPOINT, 1);
	/* More than half of what may be: it is never made longer. */
	out = (struct byte_buffer){ .data = malloc(MAX_UNPACKED_SIZE / 2 + 1),
		                    .capacity = MAX_UNPACKED_SIZE / 2 + 1 };
	assert_non_null(out.data);
	for (size_t left = 0; !ok; left++) {
		assert_true(left < 200);
		out.end = out.capacity - left;
		ok = pfmi_perfdata_build_tracing_data(s, &out);
		assert_true(out.end <= out.capacity && (!ok || out.end == out.capacity));
	}
	free(out.data);
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, begin, end)

UNIT(perfdata_tracing_data, cmocka_unit_test(the_number_of_a_tracepoint_is_compared_whole),
     CASE(a_format_must_have_the_number_of_its_tracepoint), CASE(tries_two_mount_points),
     CASE(modifiers_are_no_name), CASE(byte_for_byte), CASE(it_is_added),
     CASE(writes_nothing_beyond_the_largest_buffer));
