/* SPDX-License-Identifier: MIT */
/* Counts made of events: attributes, levels, and events that cannot be counted. */
#include <errno.h>
#include "built_session.h"

static const struct count_config *read_text(const char *text)
{
	begin_session();
	s->options.plm = options.plm;
	s->options.flags = options.flags;
	s->live.policy_backend = &pfmi_perf_backend;
	assert_int_equal(pfmi_session_add_text(&opening, text), PFMLIB_SUCCESS);
	assert_int_equal(s->n_counts, 1);
	return &s->counts[0].config;
}

static void expect_cause(const char *text, pfm_cause_t cause, const char *why)
{
	read_text(text);
	assert_int_equal(s->counts[0].status.cause, cause);
	assert_non_null(strstr(s->counts[0].status.reason, why));
}

static void what_is_asked(void **state)
{
	const struct count_config *a;

	(void)state;
	use("uncore");
	assert_true(read_text("cycles")->has_default_levels);
	assert_false(read_text("cycles:u")->has_default_levels);
	options.plm = PFM_PLM3;
	a = read_text("cycles");
	assert_true(!a->has_default_levels && a->attr.exclude_kernel);
	options.plm = 0;
	a = read_text("uncore_cha_3/event=1/");
	assert_true(a->instance == 4 && a->attr.type == 33);
	assert_string_equal(a->kernel_pmu->name, "uncore_cha");
	a = read_text("uncore_cha/event=1/");
	assert_true(a->instance == 0 && a->attr.type == 30);
	a = read_text("cpu/instructions/");
	assert_true(a->instance == 0 && a->scale == 1 && !a->is_level);
	assert_string_equal(a->unit, "");
	a = read_text("uncore_imc/cas_count_read/");
	assert_true(a->scale == 6.103515625e-5);
	assert_string_equal(a->unit, "MiB");
	assert_true(read_text("mesh/occupancy/")->is_level);
	assert_int_equal(read_text("cycles")->cpu, -1);
	assert_string_equal(read_text("cycles")->cpus, "");
}

static void what_cannot_be_counted(void **state)
{
	(void)state;
	use("uncore");
	expect_cause("cycles", PFM_CAUSE_NONE, "");
	expect_cause("ev6::cycles", PFM_CAUSE_NO_PMU, "this machine has no ev6");
	expect_cause("context-switches:u", PFM_CAUSE_ATTRIBUTE, "occurs only in the kernel");
	expect_cause("context-switches", PFM_CAUSE_NONE, "");
	expect_cause("page-faults:u", PFM_CAUSE_NONE, "");
	/* The device backend decides itself about events of other processors. */
	begin_session();
	s->live.policy_backend = &pfmi_device_backend;
	assert_int_equal(pfmi_session_add_text(&opening, "ev6::cycles"), PFMLIB_SUCCESS);
	assert_int_equal(s->counts[0].status.cause, PFM_CAUSE_NONE);
}

/* An event that no privilege level counts is refused: it would be an exact 0. */
static void events_without_a_level(void **state)
{
	static const char *const texts[] = { "page-faults:u=0:k=0", "page-faults:h" };

	(void)state;
	use("uncore");
	for (size_t i = 0; i < COUNT(texts); i++)
		expect_cause(texts[i], PFM_CAUSE_ATTRIBUTE, "counted at no privilege level");
	read_text("page-faults:u");
	assert_int_equal(s->counts[0].status.cause, PFM_CAUSE_NONE);
}

/* A kernel that must be asked for readings in user space names the bit in its core PMU's format. */
static void readings_in_user_space(void **state)
{
	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/type", "8");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/cpus", "0-3");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/format/event", "config:0-15");
	fake_file(&fake, "/sys/bus/event_source/devices/armv8_pmuv3/format/rdpmc", "config1:33");
	fake_file(&fake, "/sys/bus/event_source/devices/software/type", "1");
	open_context("0x00000000413fd0c1");
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	assert_true(read_text("cycles")->get_user_read_bits == 0);
	options.flags = PFM_SESSION_USER_READ;
	assert_true(read_text("cycles")->get_user_read_bits == (uint64_t)1 << 33);
	assert_true(read_text("armv8_pmuv3/event=8/")->get_user_read_bits == (uint64_t)1 << 33);
	assert_true(read_text("page-faults")->get_user_read_bits == 0);
	end(NULL);
	use("uncore"); /* its format has no field for reading in user space */
	options.flags = PFM_SESSION_USER_READ;
	assert_true(read_text("cycles")->get_user_read_bits == 0);
}

UNIT(session_counts, CASE(what_is_asked), CASE(what_cannot_be_counted),
     CASE(events_without_a_level), CASE(readings_in_user_space));
