/* SPDX-License-Identifier: MIT */
/* From events to counts, step by step on sessions made by hand: memory for names, who keeps whom out, counts for each CPU, and when the
 * CPUs that are on line are asked for again. */
#include "units.h"
#include <errno.h>
#include "fake_session.h"
#include "lookup/lookup.h"

static struct session_builder opening;
static struct pfm_session *s;

static int end(void **state)
{
	if (s) {
		pfmi_session_free_names(s);
		pfmi_machine_free_cpus(&s->requested_cpus);
		pfmi_machine_free_cpus(&s->online_cpus);
		free(s->counts);
		free(s->cpu_text);
		free(s);
		s = NULL;
	}
	if (ctx)
		return done(state);
	return 0;
}

static void begin_session(void)
{
	pfm_ctx_t *kept = ctx;

	ctx = NULL;
	end(NULL);
	ctx = kept;
	s = calloc(1, sizeof(*s));
	assert_non_null(s);
	opening = (struct session_builder){ .session = s, .error = &error };
	error = (pfm_error_t){ .size = sizeof(error) };
	if (!ctx)
		return;
	s->ctx = ctx;
	s->sys = ctx->sys;
	pfmi_session_find_core_pmus(&opening);
}

static void use(const char *name)
{
	make_machine(name);
	assert_int_equal(pfmi_context_load(ctx, LOADED_ALL), PFMLIB_SUCCESS);
	begin_session();
}

/* ---- names ------------------------------------------------------------------------------------------------------------ */

/* Pieces of every size: empty texts that are nobody else's. */
static void memory_for_names(void **state)
{
	static const size_t sizes[] = { 1, 8, 899, 1, 900, 1, 901, 5000, 2, 450, 450, 1 };
	char *at[COUNT(sizes)];

	(void)state;
	begin_session();
	for (size_t i = 0; i < COUNT(sizes); i++) {
		at[i] = pfmi_session_alloc_name(s, sizes[i]);
		assert_non_null(at[i]);
		assert_int_equal(at[i][0], '\0');
		memset(at[i], (int)(i + 1), sizes[i]);
	}
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(at[i][k], i + 1);
	pfmi_session_free_names(s);
	assert_null(s->name_blocks);
	pfmi_session_free_names(s);
	/* What fits one piece comes out of one. */
	at[0] = pfmi_session_alloc_name(s, 100);
	for (unsigned i = 1; i < 9; i++)
		assert_ptr_equal(pfmi_session_alloc_name(s, 100), at[0] + 100 * i);
}

/* ---- counted alone ----------------------------------------------------------------------------------------------------- */

static struct event event_of(const char *text)
{
	struct event ev;
	unsigned unit;

	assert_int_equal(pfmi_lookup_event(ctx, text, &unit, &ev, NULL), PFMLIB_SUCCESS);
	return ev;
}

#define BIG   "adl_goldencove::"
#define ALONE BIG "FRONTEND_RETIRED.DSB_MISS"

static void who_keeps_whom_out(void **state)
{
	static const struct {
		const char *other;
		bool out;
	} rows[] = {
		{ BIG "L2_RQSTS.MISS", true },
		{ BIG "INST_RETIRED.ANY", false },
		{ "hardware::branches", true },
		{ "hardware::cache-misses", true },
		{ "hardware::cycles", false },
		{ "hardware::instructions", false },
		{ "hardware::ref-cycles", false },
		{ "hw_cache::L1-dcache-load-misses", true },
		{ "page-faults", false },
		{ "cpu_core/cache-misses/", true },
		{ "cpu_core/cpu-cycles/", false },
		{ "cpu_core/instructions/", false },
		{ "cpu_core/slots/", false },
		{ "cpu_core/event=0xc0,umask=1/", true },
		{ "cpu_core/event=0x3c,umask=1/", true },
		{ "cpu_core/event=0xc0,cmask=1/", false },
	};
	struct event alone;

	(void)state;
	use("hybrid");
	alone = event_of(ALONE);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct event other = event_of(rows[i].other);

		if (pfmi_session_has_exclusive_conflict(&alone, &other) != rows[i].out)
			fail_msg("%s", rows[i].other);
		assert_false(pfmi_session_has_exclusive_conflict(&other, &other));
		if (strcmp(rows[i].other, BIG "L2_RQSTS.MISS") == 0)
			assert_false(pfmi_session_has_exclusive_conflict(&other, &alone)); /* it is the other one's rule */
	}
}

static void add_count(const char *text, const char *device, unsigned group)
{
	struct session_count *c;

	s->counts = realloc(s->counts, (s->n_counts + 1) * sizeof(*s->counts));
	assert_non_null(s->counts);
	c = &s->counts[s->n_counts++];
	memset(c, 0, sizeof(*c));
	c->config.event = event_of(text);
	c->config.kernel_pmu = device ? pfmi_machine_find_kernel_pmu(ctx->kernel, pfmi_base_make_slice(device)) : NULL;
	c->config.group = group;
	c->config.cpu = -1;
	c->config.cpus = "";
	c->config.sibling_set = 5;
	c->config.name = pfmi_session_alloc_name(s, 64);
	assert_non_null(c->config.name);
	snprintf(c->config.name, 56, "%s", text);
	s->n_groups = group + 1;
}

static void expect_exclusive(const char *marks)
{
	pfmi_session_mark_exclusive_groups(s);
	assert_int_equal(s->n_counts, strlen(marks));
	for (unsigned i = 0; i < s->n_counts; i++)
		if (s->counts[i].config.exclusive != (marks[i] == 'x'))
			fail_msg("count %u of %s", i, marks);
}

/* The whole group of one that must be alone takes turns with another group that it keeps out; with its own it does not. */
static void turns(void **state)
{
	(void)state;
	use("hybrid");
	add_count(ALONE, "cpu_core", 0);
	add_count(BIG "INST_RETIRED.ANY", "cpu_core", 0);
	add_count(BIG "L2_RQSTS.MISS", "cpu_core", 1);
	add_count("page-faults", NULL, 2);
	expect_exclusive("xx..");
	begin_session();
	add_count(BIG "L2_RQSTS.MISS", "cpu_core", 0);
	add_count(ALONE, "cpu_core", 1);
	expect_exclusive(".x");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count(BIG "L2_RQSTS.MISS", "cpu_core", 0);
	add_count("page-faults", NULL, 1);
	expect_exclusive("...");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count(BIG "L2_RQSTS.MISS", "cpu_atom", 1); /* on another PMU */
	expect_exclusive("..");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count("hardware::branches", NULL, 1); /* wherever it is counted */
	expect_exclusive("x.");
	begin_session();
	add_count(ALONE, "cpu_core", 0);
	add_count("hardware::cycles", NULL, 1);
	expect_exclusive("..");
}

/* ---- a count for each CPU ------------------------------------------------------------------------------------------------ */

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
		assert_non_null(strstr(error.detail, "no list of CPUs"));
	}
	begin_session();
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(list, PFM_SESSION_SYSTEM_WIDE), PFMLIB_SUCCESS);
	list[0] = 'x'; /* the caller's text may go */
	assert_string_equal(s->options.cpus, "2,0");
	assert_int_equal(pfmi_machine_count_cpus(&s->requested_cpus), 2);
	assert_int_equal(pfmi_machine_count_cpus(&s->online_cpus), 7);
	assert_int_equal(s->n_counts, 1);
	/* Of a task's counts nothing depends on what is on line. */
	begin_session();
	add_count("cycles", NULL, 0);
	fake.uses[FAKE_OPEN] = 0;
	assert_int_equal(keep_cpus("", 0), PFMLIB_SUCCESS);
	assert_null(s->options.cpus);
	assert_int_equal(fake.uses[FAKE_OPEN], 0);
	assert_int_equal(pfmi_machine_count_cpus(&s->online_cpus), 0);
	begin_session();
	add_count("uncore_imc/clockticks/", "uncore_imc", 0);
	assert_int_equal(keep_cpus(NULL, 0), PFMLIB_SUCCESS);
	assert_int_equal(pfmi_machine_count_cpus(&s->online_cpus), 7);
}

static void expect_copy(unsigned i, const char *name, const char *cpu, unsigned group)
{
	const struct count_config *a = &s->counts[i].config;

	assert_string_equal(a->name, name);
	assert_string_equal(a->cpus, cpu);
	assert_int_equal(a->cpu, atoi(cpu));
	assert_int_equal(a->group, group);
	assert_int_equal(a->sibling_set, 0);
	/* Levels may be put behind each name of its own. */
	for (unsigned k = 0; k < i; k++)
		assert_ptr_not_equal(a->name, s->counts[k].config.name);
}

/* Groups stay groups, CPU after CPU; boxes are there only where they count something. */
static void one_for_each(void **state)
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
	assert_int_equal(s->n_counts, 7 + 2); /* all that are on line, and the first of each package */
	expect_copy(0, "cycles", "0", 0);
	expect_copy(1, "uncore_imc/clockticks/", "0", 1);
	expect_copy(2, "cycles", "1", 2);
	expect_copy(6, "uncore_imc/clockticks/", "4", 9);
	expect_copy(8, "cycles", "7", 12);
	/* One of the two flags is not both. */
	begin_session();
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus("1-2", PFM_SESSION_PER_CPU), PFMLIB_SUCCESS);
	assert_int_equal(s->n_counts, 1);
}

/* A box that is asked for alone is where that box is. */
static void one_instance(void **state)
{
	const char *where[] = { "0", "4-5" };
	static const char *const names[] = { "box_0", "box_1" };
	static const int types[] = { 40, 41 };
	struct kernel_pmu box = { .name = "box", .n_instances = 2, .instance_types = types, .instance_names = names, .instance_cpu_lists = where };

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
	/* Where it does not say where it is, it may be anywhere. */
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
	assert_int_equal(keep_cpus("3", EACH), PFMLIB_SUCCESS); /* who names them needs to know nothing */
	assert_int_equal(s->n_counts, 1);
}

/* ---- CPUs on line ------------------------------------------------------------------------------------------------------------ */

#define ONLINE   "/sys/devices/system/cpu/online"
#define POSSIBLE "/sys/devices/system/cpu/possible"

/* A session on all CPUs reads @files files, takes @n CPUs to be on line, and that @assumed. */
static void expect_asked(unsigned files, unsigned n, bool assumed)
{
	begin_session();
	s->backend = &pfmi_perf_backend;
	add_count("cycles", NULL, 0);
	fake.uses[FAKE_OPEN] = 0;
	assert_int_equal(keep_cpus(NULL, PFM_SESSION_SYSTEM_WIDE), PFMLIB_SUCCESS);
	assert_int_equal(fake.uses[FAKE_OPEN], files);
	assert_int_equal(pfmi_machine_count_cpus(&s->online_cpus), n);
	assert_int_equal(s->is_online_assumed, assumed);
}

/* The second session looks whether there can be more; if not, the third asks nobody. What turns out otherwise is asked for ever after. */
static void who_asks_when(void **state)
{
	(void)state;
	use("uncore");
	fake_file(&fake, ONLINE, "0-7");
	fake_file(&fake, POSSIBLE, "0-7");
	expect_asked(1, 8, false);
	expect_asked(2, 8, false);
	expect_asked(0, 8, true);
	assert_int_equal(pfmi_session_refresh_online_cpus(s), 0); /* it was not that */
	assert_false(s->is_online_assumed);
	expect_asked(0, 8, true);
	fake_file(&fake, ONLINE, "0-5,7");
	assert_int_equal(pfmi_session_refresh_online_cpus(s), -EAGAIN);
	assert_int_equal(pfmi_machine_count_cpus(&s->online_cpus), 7);
	assert_false(s->is_online_assumed);
	expect_asked(1, 7, false);
	fake_file(&fake, ONLINE, "0-7");
	expect_asked(1, 8, false);
	expect_asked(1, 8, false);
}

static void machines_that_may_change(void **state)
{
	static const struct {
		const char *online, *possible;
		unsigned n;
	} rows[] = { { "0-3", "0-7", 4 }, { "1-4", "1-4", 4 }, { "0-3", NULL, 4 }, { "0-3", "all", 4 }, { "0,2-4", "0-3", 4 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		end(NULL);
		use("uncore");
		fake_file(&fake, ONLINE, rows[i].online);
		if (rows[i].possible)
			fake_file(&fake, POSSIBLE, rows[i].possible);
		expect_asked(1, rows[i].n, false);
		expect_asked(2, rows[i].n, false);
		expect_asked(1, rows[i].n, false);
	}
}

/* Where a CPU that has gone would not show: nothing is assumed. */
static void sessions_that_must_know(void **state)
{
	(void)state;
	use("uncore");
	fake_file(&fake, ONLINE, "0-7");
	fake_file(&fake, POSSIBLE, "0-7");
	for (unsigned i = 0; i < 3; i++)
		expect_asked(i < 2 ? 1 + i : 0, 8, i == 2);
	begin_session();
	s->backend = &pfmi_perf_backend;
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(NULL, EACH), PFMLIB_SUCCESS);
	assert_false(s->is_online_assumed);
	begin_session();
	s->backend = &pfmi_session_dry_run_backend;
	add_count("cycles", NULL, 0);
	assert_int_equal(keep_cpus(NULL, PFM_SESSION_SYSTEM_WIDE), PFMLIB_SUCCESS);
	assert_false(s->is_online_assumed);
	expect_asked(0, 8, true); /* and others are not disturbed by it */
}

/* ---- what is asked of an event ------------------------------------------------------------------------------------------------ */

static const struct count_config *read_text(const char *text)
{
	begin_session();
	s->options.plm = options.plm;
	s->options.flags = options.flags;
	s->policy_backend = &pfmi_perf_backend;
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
	expect_cause("context-switches:u", PFM_CAUSE_ATTRIBUTE, "happens in the kernel alone");
	expect_cause("context-switches", PFM_CAUSE_NONE, "");
	expect_cause("page-faults:u", PFM_CAUSE_NONE, "");
	/* Who judges every processor's events judges them itself. */
	begin_session();
	s->policy_backend = &pfmi_device_backend;
	assert_int_equal(pfmi_session_add_text(&opening, "ev6::cycles"), PFMLIB_SUCCESS);
	assert_int_equal(s->counts[0].status.cause, PFM_CAUSE_NONE);
}

/* A kernel that wants to be asked for it says where: in its core PMU's format. */
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
	use("uncore"); /* whose format says nothing of it */
	options.flags = PFM_SESSION_USER_READ;
	assert_true(read_text("cycles")->get_user_read_bits == 0);
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, end)

UNIT(session_counts, CASE(memory_for_names), CASE(who_keeps_whom_out), CASE(turns), CASE(lists_of_cpus), CASE(one_for_each),
     CASE(one_instance), CASE(too_many_counts), CASE(who_asks_when), CASE(machines_that_may_change), CASE(sessions_that_must_know),
     CASE(what_is_asked), CASE(what_cannot_be_counted), CASE(readings_in_user_space));
