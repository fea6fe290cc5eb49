/* SPDX-License-Identifier: MIT */
/* Lists of CPUs, a count for each CPU, and when the CPUs on line are read again. */
#include <errno.h>
#include "built_session.h"

#define BIG   "adl_goldencove::"
#define ALONE BIG "FRONTEND_RETIRED.DSB_MISS"

static int keep_cpus(const char *list, unsigned flags)
{
	s->options.cpus = list;
	s->options.flags = flags;
	return pfmi_session_apply_cpu_list(&opening);
}

#define EACH (PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU)

static void lists_of_cpus(void **state)
{
	static const char *const bad[] = { "x", "1-", "3-1", "0,", "0 1", "99999" };
	char list[] = "2,0";

	(void)state;
	use("uncore");
	for (size_t i = 0; i < COUNT(bad); i++) {
		begin_session();
		add_count("cycles", NULL, 0);
		assert_int_equal(keep_cpus(bad[i], 0), PFMLIB_ERR_INVAL);
		assert_non_null(strstr(error.detail, "expected a list of CPUs"));
	}
	begin_session();
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(list, PFM_SESSION_SYSTEM_WIDE), PFMLIB_SUCCESS);
	list[0] = 'x'; /* the session has its own copy of the text */
	assert_string_equal(s->options.cpus, "2,0");
	assert_int_equal(pfmi_machine_count_cpus(&s->cpus.requested), 2);
	assert_int_equal(pfmi_machine_count_cpus(&s->cpus.online), 7);
	assert_int_equal(s->n_counts, 1);
	/* Counts of a task do not depend on the CPUs on line. */
	begin_session();
	add_count("cycles", NULL, 0);
	fake.uses[FAKE_OPEN] = 0;
	assert_int_equal(keep_cpus("", 0), PFMLIB_SUCCESS);
	assert_null(s->options.cpus);
	assert_int_equal(fake.uses[FAKE_OPEN], 0);
	assert_int_equal(pfmi_machine_count_cpus(&s->cpus.online), 0);
	begin_session();
	add_count("uncore_imc/clockticks/", "uncore_imc", 0);
	assert_int_equal(keep_cpus(NULL, 0), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_machine_count_cpus(&s->cpus.online), 7);
}

static void expect_copy(unsigned i, const char *name, const char *cpu, unsigned group)
{
	const struct count_config *a = &s->counts[i].config;

	assert_string_equal(a->name, name);
	assert_string_equal(a->cpus, cpu);
	assert_int_equal(a->cpu, atoi(cpu));
	assert_int_equal(a->group, group);
	assert_int_equal(a->sibling_set, 0);
	/* Each name has its own memory, because levels may be appended to it. */
	for (unsigned k = 0; k < i; k++)
		assert_ptr_not_equal(a->name, s->counts[k].config.name);
}

/* Each group is repeated as a group on each CPU; boxes are repeated only on the CPUs that count
 * for them. */
static void copies_for_each_cpu(void **state)
{
	(void)state;
	use("uncore");
	add_count("cycles", NULL, 0);
	add_count("instructions", NULL, 0);
	add_count("page-faults", NULL, 1);
	assert_int_equal(keep_cpus("7,1-2", EACH), PFMLIB_SUCCESS);
	assert_true(s->n_counts == 9 && s->n_groups == 6);
	for (unsigned i = 0; i < 3; i++) {
		static const char *const cpus[] = { "1", "2", "7" };

		expect_copy(3 * i, "cycles", cpus[i], 2 * i);
		expect_copy(3 * i + 1, "instructions", cpus[i], 2 * i);
		expect_copy(3 * i + 2, "page-faults", cpus[i], 2 * i + 1);
	}
	begin_session();
	add_count("cycles", "cpu", 0);
	add_count("uncore_imc/clockticks/", "uncore_imc", 1);
	assert_int_equal(keep_cpus(NULL, EACH), PFMLIB_SUCCESS);
	assert_int_equal(
		s->n_counts,
		7 + 2); /* every CPU on line for cycles, the first of each package for the box */
	expect_copy(0, "cycles", "0", 0);
	expect_copy(1, "uncore_imc/clockticks/", "0", 1);
	expect_copy(2, "cycles", "1", 2);
	expect_copy(6, "uncore_imc/clockticks/", "4", 9);
	expect_copy(8, "cycles", "7", 12);
	/* PER_CPU without SYSTEM_WIDE makes no copies. */
	begin_session();
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus("1-2", PFM_SESSION_PER_CPU), PFMLIB_SUCCESS);
	assert_int_equal(s->n_counts, 1);
}

/* One instance of a box is counted on the CPUs of that instance. */
static void counts_an_instance_on_its_own_cpus(void **state)
{
	const char *where[] = { "0", "4-5" };
	static const char *const names[] = { "box_0", "box_1" };
	static const int types[] = { 40, 41 };
	struct kernel_pmu box = { .name = "box",
		                  .n_instances = 2,
		                  .instance_types = types,
		                  .instance_names = names,
		                  .instance_cpu_lists = where };

	(void)state;
	use("uncore");
	for (unsigned instance = 0; instance < 3; instance++) {
		begin_session();
		add_count("cycles", NULL, 0);
		s->counts[0].config.kernel_pmu = &box;
		s->counts[0].config.instance = instance;
		assert_int_equal(keep_cpus(NULL, EACH), PFMLIB_SUCCESS);
		assert_int_equal(s->n_counts, instance == 0 ? 3 : instance);
	}
	/* An instance without a CPU list may be on any CPU. */
	where[1] = "";
	begin_session();
	add_count("cycles", NULL, 0);
	s->counts[0].config.kernel_pmu = &box;
	assert_int_equal(keep_cpus(NULL, EACH), PFMLIB_SUCCESS);
	assert_int_equal(s->n_counts, 7);
}

static void too_many_counts(void **state)
{
	(void)state;
	use("uncore");
	for (unsigned i = 0; i < 5; i++)
		add_count("cycles", NULL, i);
	assert_int_equal(keep_cpus("0-65535", EACH), PFMLIB_ERR_TOOMANY);
	assert_int_equal(error.kind, PFM_KIND_TOO_MANY);
	assert_int_equal(s->n_counts, 5);
	fake_remove(&fake, "/sys/devices/system/cpu/online");
	begin_session();
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(NULL, EACH), PFMLIB_ERR_NOTFOUND);
	begin_session();
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus("3", EACH),
	                 PFMLIB_SUCCESS); /* an explicit CPU list does not need the online file */
	assert_int_equal(s->n_counts, 1);
}

/* ---- CPUs on line ---------------------------------------------------------------------------- */

#define ONLINE   "/sys/devices/system/cpu/online"
#define POSSIBLE "/sys/devices/system/cpu/possible"

/* Opens a session on all CPUs. Expects that it reads @files files, takes @n CPUs to be on line,
 * and assumes that the list stays (@assumed). */
static void expect_cpu_files_read(unsigned files, unsigned n, bool assumed)
{
	begin_session();
	s->live.backend = &pfmi_perf_backend;
	add_count("cycles", NULL, 0);
	fake.uses[FAKE_OPEN] = 0;
	assert_int_equal(keep_cpus(NULL, PFM_SESSION_SYSTEM_WIDE), PFMLIB_SUCCESS);
	assert_int_equal(fake.uses[FAKE_OPEN], files);
	assert_int_equal(pfmi_machine_count_cpus(&s->cpus.online), n);
	assert_int_equal(s->cpus.is_online_assumed, assumed);
}

/* The second session reads the list of possible CPUs; if no more can come on line, the third
 * session reads no file. After an assumption was wrong, every session reads the online list. */
static void reads_online_list_when_needed(void **state)
{
	(void)state;
	use("uncore");
	fake_file(&fake, ONLINE, "0-7");
	fake_file(&fake, POSSIBLE, "0-7");
	expect_cpu_files_read(1, 8, false);
	expect_cpu_files_read(2, 8, false);
	expect_cpu_files_read(0, 8, true);
	assert_int_equal(pfmi_session_refresh_online_cpus(s), 0); /* it was not that */
	assert_false(s->cpus.is_online_assumed);
	expect_cpu_files_read(0, 8, true);
	fake_file(&fake, ONLINE, "0-5,7");
	assert_int_equal(pfmi_session_refresh_online_cpus(s), -EAGAIN);
	assert_int_equal(pfmi_machine_count_cpus(&s->cpus.online), 7);
	assert_false(s->cpus.is_online_assumed);
	expect_cpu_files_read(1, 7, false);
	fake_file(&fake, ONLINE, "0-7");
	expect_cpu_files_read(1, 8, false);
	expect_cpu_files_read(1, 8, false);
}

static void machines_that_may_change(void **state)
{
	static const struct {
		const char *online, *possible;
		unsigned n;
	} rows[] = { { "0-3", "0-7", 4 },
		     { "1-4", "1-4", 4 },
		     { "0-3", NULL, 4 },
		     { "0-3", "all", 4 },
		     { "0,2-4", "0-3", 4 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		end(NULL);
		use("uncore");
		fake_file(&fake, ONLINE, rows[i].online);
		if (rows[i].possible)
			fake_file(&fake, POSSIBLE, rows[i].possible);
		expect_cpu_files_read(1, rows[i].n, false);
		expect_cpu_files_read(2, rows[i].n, false);
		expect_cpu_files_read(1, rows[i].n, false);
	}
}

/* Sessions that would not notice that a CPU is off line assume nothing. */
static void sessions_that_must_read_the_online_list(void **state)
{
	(void)state;
	use("uncore");
	fake_file(&fake, ONLINE, "0-7");
	fake_file(&fake, POSSIBLE, "0-7");
	for (unsigned i = 0; i < 3; i++)
		expect_cpu_files_read(i < 2 ? 1 + i : 0, 8, i == 2);
	begin_session();
	s->live.backend = &pfmi_perf_backend;
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(NULL, EACH), PFMLIB_SUCCESS);
	assert_false(s->cpus.is_online_assumed);
	begin_session();
	s->live.backend = &pfmi_session_dry_run_backend;
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(NULL, PFM_SESSION_SYSTEM_WIDE), PFMLIB_SUCCESS);
	assert_false(s->cpus.is_online_assumed);
	expect_cpu_files_read(0, 8, true); /* other sessions keep their assumption */
}

UNIT(session_count_cpus, CASE(lists_of_cpus), CASE(copies_for_each_cpu),
     CASE(counts_an_instance_on_its_own_cpus), CASE(too_many_counts),
     CASE(reads_online_list_when_needed), CASE(machines_that_may_change),
     CASE(sessions_that_must_read_the_online_list));
