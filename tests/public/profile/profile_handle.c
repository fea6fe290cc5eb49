/* SPDX-License-Identifier: MIT */
#include <perfmon/profile.h>
#include <perfmon/recording.h>
#include <errno.h>
#include "tiny_recording.h"
#include "units.h"

/* Twice 0x2000 -> 0x1000, once 0x1000 alone, 10 ns, 20 ns and 2 s after the first. */
static void write_three_samples(struct tiny_recording *t)
{
	const uint64_t deep[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2001 };
	const uint64_t flat[] = { (uint64_t)PFM_CHAIN_USER, 0x1000 };

	tiny_begin(t);
	tiny_add_comm(t, "prog");
	tiny_add_sample(t, 1000000010, deep, COUNT(deep));
	tiny_add_sample(t, 1000000020, deep, COUNT(deep));
	tiny_add_sample(t, 3000000030, flat, COUNT(flat));
	tiny_end(t, NULL);
}

static pfm_profile_t *open_three(const pfm_profile_options_t *options)
{
	struct tiny_recording t;
	pfm_profile_t *p;

	write_three_samples(&t);
	assert_int_equal(pfm_open_profile(&p, t.path, options, NULL), PFMLIB_SUCCESS);
	tiny_remove(&t);
	return p;
}

static void functions_of_a_recording(void **state)
{
	pfm_profile_event_t e = PFM_INIT(e);
	pfm_profile_info_t info = PFM_INIT(info);
	pfm_function_t f = PFM_INIT(f);
	pfm_profile_t *p = open_three(NULL);

	(void)state;
	assert_int_equal(pfm_describe_profile(p, &info), PFMLIB_SUCCESS);
	assert_int_equal(info.n_events, 1);
	assert_int_equal(info.n_stacks, 2);
	assert_int_equal(info.is_complete, 1);
	assert_int_equal(info.has_stacks, 1);
	assert_int_equal(info.last_time - info.first_time, 2000000020);
	assert_int_equal(pfm_describe_profile_event(p, 0, &e), PFMLIB_SUCCESS);
	assert_string_equal(e.name, "cpu-clock");
	assert_string_equal(e.unit, "nanoseconds");
	assert_int_equal(e.samples, 3);
	assert_int_equal(e.n_functions, 2);
	assert_int_equal(pfm_describe_profile_event(p, 1, &e), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_function(p, 0, 0, &f), PFMLIB_SUCCESS);
	assert_string_equal(f.function, "0x1000");
	assert_string_equal(f.object, "[unknown]");
	assert_int_equal(f.self_samples, 3);
	assert_true(f.self_share == 1 && f.self_error == 0);
	assert_int_equal(pfm_describe_function(p, 0, 1, &f), PFMLIB_SUCCESS);
	assert_string_equal(f.function, "0x2000");
	assert_int_equal(f.self_samples, 0);
	assert_int_equal(f.children_samples, 2);
	/* sqrt(2/3 * 1/3 / 3) */
	assert_true(f.children_error > 0.27216 && f.children_error < 0.27217);
	assert_int_equal(pfm_describe_function(p, 0, 2, &f), PFMLIB_ERR_NOTFOUND);
	pfm_close_profile(p);
}

static void stacks_with_labels(void **state)
{
	pfm_profile_options_t o = PFM_INIT(o);
	pfm_stack_t s = PFM_INIT(s);
	pfm_frame_t f = PFM_INIT(f);
	pfm_profile_t *p;

	(void)state;
	o.labels = PFM_LABEL_THREAD | PFM_LABEL_CPU;
	p = open_three(&o);
	assert_int_equal(pfm_describe_stack(p, 0, &s), PFMLIB_SUCCESS);
	assert_int_equal(s.n_frames, 2);
	assert_string_equal(s.task, "prog");
	assert_int_equal(s.pid, TINY_PID);
	assert_int_equal(s.tid, TINY_PID);
	assert_int_equal(s.cpu, -1);
	assert_string_equal(s.cgroup, "");
	assert_int_equal(s.samples, 2);
	assert_int_equal(pfm_describe_frame(p, 0, 0, &f), PFMLIB_SUCCESS);
	assert_string_equal(f.function, "0x1000");
	assert_int_equal(f.flags, PFM_FRAME_UNNAMED);
	assert_string_equal(f.source, "");
	assert_int_equal(pfm_describe_frame(p, 0, 1, &f), PFMLIB_SUCCESS);
	assert_string_equal(f.function, "0x2000");
	assert_int_equal(pfm_describe_frame(p, 0, 2, &f), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_describe_stack(p, 2, &s), PFMLIB_ERR_NOTFOUND);
	pfm_close_profile(p);
}

static uint64_t count_samples(const pfm_profile_options_t *o)
{
	pfm_profile_event_t e = PFM_INIT(e);
	pfm_profile_t *p = open_three(o);

	assert_int_equal(pfm_describe_profile_event(p, 0, &e), PFMLIB_SUCCESS);
	pfm_close_profile(p);
	return e.samples;
}

static void filters_choose_samples(void **state)
{
	pfm_profile_options_t o = PFM_INIT(o);

	(void)state;
	o.event = "cpu-*";
	assert_int_equal(count_samples(&o), 3);
	o.event = "cycles";
	assert_int_equal(count_samples(&o), 0);
	o.event = NULL;
	o.task = "p*g";
	o.symbol = "0x1000";
	assert_int_equal(count_samples(&o), 3);
	o.symbol = "0x2000";
	assert_int_equal(count_samples(&o), 0);
	o.symbol = NULL;
	o.task = "x";
	assert_int_equal(count_samples(&o), 0);
	o.task = NULL;
	o.to = 1;
	assert_int_equal(count_samples(&o), 2);
	o.from = 1;
	o.to = 0;
	assert_int_equal(count_samples(&o), 1);
}

static void innermost_functions_alone(void **state)
{
	pfm_profile_options_t o = PFM_INIT(o);
	pfm_profile_event_t e = PFM_INIT(e);
	pfm_profile_t *p;

	(void)state;
	o.flags = PFM_PROFILE_INNERMOST | PFM_PROFILE_NO_LINES;
	p = open_three(&o);
	assert_int_equal(pfm_describe_profile_event(p, 0, &e), PFMLIB_SUCCESS);
	assert_int_equal(e.n_functions, 1);
	assert_int_equal(e.samples, 3);
	pfm_close_profile(p);
}

static void texts_of_a_profile_name_its_quality(void **state)
{
	static const char lines[] =
		"prog;0x2000;0x1000 2000\nprog;0x1000 1000\n# quality: exact; lost records: 0; "
		"lost samples: 0; throttled: 0 times; samples without an event: 0; recording: "
		"complete\n";
	pfm_profile_t *p = open_three(NULL);
	const char *text;
	size_t n;

	(void)state;
	assert_int_equal(pfm_fold_profile(p, 0, &text, &n), PFMLIB_SUCCESS);
	assert_string_equal(text, lines);
	assert_int_equal(n, sizeof(lines) - 1);
	assert_int_equal(pfm_fold_profile(p, 1, &text, &n), PFMLIB_ERR_NOTFOUND);
	assert_int_equal(pfm_draw_flame_graph(p, 0, NULL, &text, NULL), PFMLIB_SUCCESS);
	assert_non_null(strstr(text, "<title>0x2000, 66.67% (2000)</title>"));
	assert_non_null(strstr(text, "cpu-clock"));
	pfm_close_profile(p);
}

static void records_of_a_session(void **state)
{
	pfm_profile_event_t e = PFM_INIT(e);
	pfm_record_t record = PFM_INIT(record);
	struct tiny_recording t;
	pfm_session_t *session;
	pfm_profile_t *p;

	(void)state;
	write_three_samples(&t);
	assert_int_equal(pfm_open_recording(&session, t.path, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_create_profile(&p, session, NULL, NULL), PFMLIB_SUCCESS);
	while (pfm_next_record(session, &record) == 1) {
		assert_int_equal(pfm_add_profile_record(p, &record), PFMLIB_SUCCESS);
		assert_int_equal(pfm_describe_profile_event(p, 0, &e), PFMLIB_SUCCESS);
	}
	assert_int_equal(e.samples, 3);
	assert_int_equal(pfm_clear_profile(p), PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_profile_event(p, 0, &e), PFMLIB_SUCCESS);
	assert_int_equal(e.samples, 0);
	assert_int_equal(e.n_functions, 0);
	pfm_close_profile(p);
	pfm_close_session(session);
	tiny_remove(&t);
}

static void profiles_refuse_wrong_arguments(void **state)
{
	pfm_profile_options_t o = PFM_INIT(o);
	pfm_error_t error = PFM_INIT(error);
	pfm_function_t f = PFM_INIT(f);
	pfm_record_t record = PFM_INIT(record);
	pfm_profile_t *p = (pfm_profile_t *)&o;

	(void)state;
	assert_int_equal(pfm_open_profile(&p, "/nonexistent", NULL, &error), PFMLIB_ERR_SYS);
	assert_null(p);
	assert_int_equal(error.sys_errno, ENOENT);
	assert_int_equal(pfm_open_profile(&p, NULL, NULL, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_profile(NULL, "x", NULL, NULL), PFMLIB_ERR_INVAL);
	o.flags = 1u << 31;
	assert_int_equal(pfm_open_profile(&p, "/dev/null", &o, &error), PFMLIB_ERR_INVAL);
	assert_string_equal(error.detail, "options.flags: unknown flag");
	o.flags = 0;
	o.size = 1;
	assert_int_equal(pfm_open_profile(&p, "/dev/null", &o, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_open_profile(&p, "/proc/self/exe", NULL, &error), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_create_profile(&p, NULL, NULL, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_describe_function(NULL, 0, 0, &f), PFMLIB_ERR_INVAL);
	p = open_three(NULL);
	f.size = 1;
	assert_int_equal(pfm_describe_function(p, 0, 0, &f), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_add_profile_record(p, &record), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_clear_profile(p), PFMLIB_ERR_INVAL);
	assert_null(pfm_get_profile_message(p, 1000));
	pfm_close_profile(p);
	pfm_close_profile(NULL);
}

UNIT(profile_profile_handle, cmocka_unit_test(functions_of_a_recording),
     cmocka_unit_test(stacks_with_labels), cmocka_unit_test(filters_choose_samples),
     cmocka_unit_test(innermost_functions_alone),
     cmocka_unit_test(texts_of_a_profile_name_its_quality), cmocka_unit_test(records_of_a_session),
     cmocka_unit_test(profiles_refuse_wrong_arguments));
