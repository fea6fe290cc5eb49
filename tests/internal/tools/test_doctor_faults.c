/* SPDX-License-Identifier: MIT */
/* pfm doctor on kernels that a script makes: no event on one kind of core, counters that others
 * hold, shared counters, no time at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>
#include <cmocka.h>
#include <jansson.h>
#include "context/context.h"
#include "fake_sys.h"
#include "tools/common/pfm.h"
#include "tools/list/list.h"

static struct fake fake;
static bool asked; /* --json was handed over */
static json_t *found;
extern const struct command cmd_doctor;

/* ---- what the command has around it ---- */

int next_option(struct command_args *args, const char **value)
{
	(void)args;
	*value = NULL;
	asked = !asked;
	return asked ? LONG_ONLY : 0;
}

int report_usage_error(const struct command_args *args, const char *format, ...)
{
	(void)args;
	(void)format;
	return 2;
}

int report_no_memory(void)
{
	return 1;
}

pfm_ctx_t *open_context(const char *pmu)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_ctx_t *ctx;

	(void)pmu;
	o.flags = PFM_CTX_NO_IMAGES;
	o.cpuid = "GenuineIntel-6-97-2";
	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	ctx->sys = fake.sys;
	return ctx;
}

void report_known_counts(pfm_ctx_t *ctx, bool json)
{
	(void)ctx;
	(void)json;
}

/* ---- running it ---- */

/* Runs the command, which prints a line for each check. */
static void run_doctor(void)
{
	struct command_args args = { .cmd = &cmd_doctor };
	FILE *out = tmpfile();
	char line[8192];
	int keep;

	assert_non_null(out);
	fflush(stdout);
	keep = dup(STDOUT_FILENO);
	dup2(fileno(out), STDOUT_FILENO);
	assert_int_equal(cmd_doctor.run(&args), 0);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	rewind(out);
	found = json_object();
	while (fgets(line, sizeof(line), out)) {
		json_t *o = json_loads(line, 0, NULL);

		assert_non_null(o);
		json_object_set_new(found, json_string_value(json_object_get(o, "check")), o);
	}
	fclose(out);
	assert_int_equal(fake.n_open, 0);
}

static const char *get_finding_text(const char *check, const char *key)
{
	const char *text = json_string_value(json_object_get(json_object_get(found, check), key));

	return text ? text : "";
}

static void end_machine(void)
{
	json_decref(found);
	found = NULL;
	fake_end(&fake);
}

static bool is_hardware(const struct perf_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE;
}

/* Both kinds of core count what is expected in half of the time each. */
static void as_expected(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = e->a.attr.type == PERF_TYPE_SOFTWARE &&
	                           e->a.attr.config == PERF_COUNT_SW_PAGE_FAULTS
	                   ? 600
	                   : 15000000;
	e->is_open = 1000000;
	e->running = is_hardware(&e->a.attr) ? 500000 : 1000000;
}

static void kinds_of_cores_are_added(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	fake.tick = as_expected;
	run_doctor();
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(found, "instructions:u"), "count")),
	                 30000000);
	assert_string_equal(get_finding_text("instructions:u", "state"), "good");
	assert_string_equal(get_finding_text("instructions:u", "quality"), "exact");
	end_machine();
}

/* The slow cores know no event but time. */
static int fast_cores_alone(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
                            int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return is_hardware(attr) && (attr->type == 10 || attr->config >> 32 == 10) ? -ENOENT : 0;
}

static void hybrid_without_the_event(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	fake.decide = fast_cores_alone;
	fake.tick = as_expected;
	run_doctor();
	assert_string_equal(get_finding_text("cycles:u", "state"), "note");
	assert_string_equal(get_finding_text("cycles:u", "quality"), "partial");
	assert_non_null(strstr(get_finding_text("cycles:u", "why"), "cpu_atom"));
	assert_string_equal(get_finding_text("page-faults:u", "state"), "good");
	end_machine();
}

static int another_process_holds_the_device(struct fake *f, const struct perf_attr *attr, int pid,
                                            int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return is_hardware(attr) ? -EBUSY : 0;
}

static void counters_that_others_hold(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	fake.decide = another_process_holds_the_device;
	run_doctor();
	assert_string_equal(get_finding_text("cycles:u", "state"), "bad");
	assert_string_equal(get_finding_text("cycles:u", "cause"), pfm_cause_name(PFM_CAUSE_BUSY));
	assert_non_null(strstr(get_finding_text("cycles:u", "why"), "holds"));
	assert_string_not_equal(get_finding_text("cycles:u", "remedy"), "");
	assert_null(json_object_get(json_object_get(found, "cycles:u"), "count"));
	end_machine();
}

/* Others count too: a third of the time is ours. */
static void share_counters(struct fake *f, struct fake_event *e)
{
	as_expected(f, e);
	if (is_hardware(&e->a.attr))
		e->running = 150000;
}

static void a_shared_counter_is_a_note(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	fake.tick = share_counters;
	run_doctor();
	assert_string_equal(get_finding_text("instructions:u", "state"), "note");
	assert_string_equal(get_finding_text("instructions:u", "quality"), "scaled");
	assert_string_equal(get_finding_text("instructions:u", "cause"),
	                    pfm_cause_name(PFM_CAUSE_MULTIPLEXED));
	assert_string_not_equal(get_finding_text("instructions:u", "why"), "");
	end_machine();
}

static void never_on(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = e->is_open = e->running = 0;
}

static void no_time_at_all(void **state)
{
	(void)state;
	fake_recorded(&fake, "hybrid");
	fake.tick = never_on;
	run_doctor();
	assert_string_equal(get_finding_text("cycles:u", "state"), "bad");
	assert_string_equal(get_finding_text("cycles:u", "cause"),
	                    pfm_cause_name(PFM_CAUSE_NO_TIME));
	assert_string_not_equal(get_finding_text("cycles:u", "why"), "");
	assert_null(json_object_get(json_object_get(found, "cycles:u"), "count"));
	end_machine();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_cores_are_added),
		cmocka_unit_test(hybrid_without_the_event),
		cmocka_unit_test(counters_that_others_hold),
		cmocka_unit_test(a_shared_counter_is_a_note),
		cmocka_unit_test(no_time_at_all),
	};

	return cmocka_run_group_tests_name("pfm doctor on a scripted kernel", tests, NULL, NULL);
}
