/* SPDX-License-Identifier: MIT */
/* Sampling sessions on a scripted kernel: buffers that the test fills record by record, limits and
 * refusals of kernels, tasks and CPUs that go away, and every system call and allocation failing in
 * turn. */
#include "fake_session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sampling/sampling.h"
#include "starve.h"

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, missing in older headers */

static pfm_sampling_t sampling;
static pfm_record_t record;

/* ---- what the kernel does -------------------------------------------------------------------- */

static void begin_sampling(void)
{
	make_machine("uncore");
	fake_file(&fake, "/proc/sys/kernel/perf_event_max_sample_rate", "100000");
	sampling = (pfm_sampling_t){ .size = sizeof(sampling), .pages = 1 };
	options.sampling = &sampling;
}

/* The value of every event. */
static uint64_t event_value;

static void set_event_value(struct fake *f, struct fake_event *e)
{
	(void)f;
	e->value = event_value;
	e->is_open = e->running = 1000000;
}

/* Opens a session whose events have counted nothing. */
static void open_at_rest(const char *const *texts, unsigned n)
{
	event_value = 0;
	fake.tick = set_event_value;
	must_open(texts, n);
}

/* The descriptor of the @nth sampling event of @type and @config that is open on @cpu. */
static int find_nth_event(uint32_t type, uint64_t config, int cpu, unsigned nth)
{
	for (unsigned i = 0; i < fake.n_events; i++) {
		const struct fake_event *e = event_text(i);

		if (e->used && e->a.attr.type == type && e->a.attr.config == config &&
		    e->a.attr.sample_id_all && e->cpu == cpu && nth-- == 0)
			return fake_fd(i);
	}
	return -1;
}

static int find_faults_event(int cpu)
{
	return find_nth_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, cpu, 0);
}

static int find_side_event(int cpu, unsigned nth)
{
	return find_nth_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, cpu, nth);
}

static uint64_t pair(uint32_t a, uint32_t b)
{
	const uint32_t both[2] = { a, b };
	uint64_t v;

	memcpy(&v, both, sizeof(v));
	return v;
}

static bool write_words(int fd, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	uint64_t bytes[32];
	struct record_header head = { type, misc, (uint16_t)(8 * (n + 1)) };

	assert_true(n < 32);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + 1, words, n * sizeof(*words));
	return fake_record(&fake, fd, bytes, head.size);
}

/* Writes a sample with the usual fields, of an event with a fixed period. */
static bool write_sample(int fd, uint64_t ip, uint64_t time)
{
	const uint64_t words[] = { fake_id(fd), ip, pair(7, 7), time, pair(0, 0) };

	return write_words(fd, PFM_RECORD_SAMPLE, PFM_MISC_USER | PFM_MISC_EXACT, words, 5);
}

/* Writes a sample that carries the id of an event of another session. */
static bool write_foreign(int fd, uint64_t ip, uint64_t time)
{
	const uint64_t words[] = { 0x77777, ip, pair(7, 7), time, pair(0, 0) };

	return write_words(fd, PFM_RECORD_SAMPLE, PFM_MISC_USER, words, 5);
}

/* Writes a record other than a sample: @n words of its own, then the trailer. */
static bool write_side(int fd, uint32_t type, const uint64_t *own, size_t n, uint64_t time)
{
	uint64_t words[16];
	const uint64_t tail[] = { pair(7, 7), time, pair(0, 0), fake_id(fd) };

	memcpy(words, own, n * sizeof(*own));
	memcpy(words + n, tail, sizeof(tail));
	return write_words(fd, type, 0, words, n + 4);
}

static bool next(void)
{
	record.size = sizeof(record);
	return pfm_next_record(session, &record) == 1;
}

static pfm_sample_statistics_t get_statistics(unsigned i)
{
	pfm_sample_statistics_t c = PFM_INIT(c);

	assert_int_equal(pfm_sampling_statistics(session, i, &c), PFMLIB_SUCCESS);
	return c;
}

static pfm_buffer_info_t buffers(void)
{
	pfm_buffer_info_t b = PFM_INIT(b);

	assert_int_equal(pfm_buffer_statistics(session, &b), PFMLIB_SUCCESS);
	return b;
}

/* ---- what is asked of the kernel ------------------------------------------------------------- */

static void default_rates_depend_on_the_type_of_event(void **state)
{
	(void)state;
	begin_sampling();
	must_open(TEXTS("task-clock", "page-faults", "cycles", "instructions:period=77"));
	assert_int_equal(event_text(1)->a.attr.sample_period, 1000000);
	assert_int_equal(event_text(2)->a.attr.sample_period, 1);
	assert_false(event_text(2)->a.attr.sample_type & PFM_SAMPLE_PERIOD);
	assert_true(event_text(3)->a.attr.freq);
	assert_int_equal(event_text(3)->a.attr.sample_freq, 1000);
	assert_true(event_text(3)->a.attr.sample_type & PFM_SAMPLE_PERIOD);
	assert_int_equal(event_text(4)->a.attr.sample_period, 77);
	assert_int_equal(get_statistics(2).freq, 1000);
}

static void passes_sample_fields_to_the_kernel(void **state)
{
	const struct perf_attr *a;

	(void)state;
	begin_sampling();
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_CHAIN | PFM_SAMPLE_BRANCH | PFM_SAMPLE_REGS |
	                  PFM_SAMPLE_INTR_REGS | PFM_SAMPLE_STACK;
	sampling.flags = PFM_SAMPLING_USER_CHAIN | PFM_SAMPLING_CLOCK;
	sampling.clock = 7;
	sampling.max_stack = 12;
	sampling.user_regs = 0xff;
	sampling.intr_regs = 0xf;
	sampling.user_stack = 512;
	sampling.wakeup_events = 3;
	must_open(TEXTS("cycles:u"));
	a = &event_text(1)->a.attr;
	assert_int_equal(a->sample_max_stack, 12);
	assert_true(a->exclude_callchain_kernel);
	assert_false(a->exclude_callchain_user);
	assert_int_equal(a->branch_sample_type, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
	assert_int_equal(a->sample_regs_user, 0xff);
	assert_int_equal(a->sample_regs_intr, 0xf);
	assert_int_equal(a->sample_stack_user, 512);
	assert_int_equal(a->clockid, 7);
	assert_int_equal(a->wakeup_events, 3);
	assert_false(a->watermark);
}

/* The reader unwinds user stacks: the kernel is asked for kernel frames only. */
static void user_frames_are_left_to_the_reader(void **state)
{
	const struct perf_attr *a;

	(void)state;
	begin_sampling();
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_CHAIN | PFM_SAMPLE_REGS | PFM_SAMPLE_STACK;
	sampling.flags = PFM_SAMPLING_KERNEL_CHAIN;
	sampling.user_regs = 0xff0fff;
	sampling.user_stack = 8192;
	must_open(TEXTS("cycles"));
	a = &event_text(1)->a.attr;
	assert_true(a->exclude_callchain_user);
	assert_false(a->exclude_callchain_kernel);
	assert_int_equal(a->sample_regs_user, 0xff0fff);
	assert_int_equal(a->sample_stack_user, 8192);
}

static void settings_are_refused_before_anything_is_opened(void **state)
{
	static const pfm_sampling_t wrong[] = {
		{ .size = sizeof(sampling), .period = (uint64_t)1 << 63 },
		{ .size = sizeof(sampling), .freq = (uint64_t)1 << 63 },
		{ .size = sizeof(sampling), .pages = 1u << 21 },
		{ .size = sizeof(sampling), .fields = PFM_SAMPLE_INTR_REGS },
	};

	(void)state;
	begin_sampling();
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		options.sampling = &wrong[i];
		assert_int_equal(open_texts(TEXTS("cycles")), PFMLIB_ERR_INVAL);
		assert_non_null(strstr(error.detail, "sampling."));
	}
	assert_int_equal(fake_open_events(&fake), 0);
}

static void unreadable_kernel_limit_is_no_limit(void **state)
{
	(void)state;
	begin_sampling();
	must_open(TEXTS("cycles:freq=100001"));
	assert_non_null(strstr(is_about(0).why, "at most 100000"));
	end_session();
	fake_remove(&fake, "/proc/sys/kernel/perf_event_max_sample_rate");
	must_open(TEXTS("cycles:freq=100001"));
	assert_string_equal(is_about(0).why, "");
}

/* ---- kernels and PMUs that give less --------------------------------------------------------- */

static int refuse_lost_counts(struct fake *f, const struct perf_attr *a, int pid, int cpu,
                              int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return a->read_format & FORMAT_LOST || a->build_id ? -EINVAL : 0;
}

static void an_older_kernel_tells_losses_by_records_alone(void **state)
{
	const uint64_t lost[] = { 0, 5 };

	(void)state;
	begin_sampling();
	fake.decide = refuse_lost_counts;
	sampling.records = PFM_SIDEBAND_USUAL;
	open_at_rest(TEXTS("page-faults", "page-faults:period=2"));
	assert_true(get_statistics(0).lost == PFM_LOST_UNKNOWN);
	assert_int_equal(get_statistics(0).quality, PFM_QUALITY_EXACT);
	assert_true(write_side(find_faults_event(-1), PFM_RECORD_LOST, lost, 2, 10));
	assert_true(next());
	assert_int_equal(record.body.lost.lost, 5);
	assert_int_equal(get_statistics(0).quality, PFM_QUALITY_PARTIAL);
	assert_int_equal(get_statistics(0).cause, PFM_CAUSE_LOST);
}

/* The PMU supports precision up to fake.number. */
static int limit_precision(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return (int)a->precise_ip > f->number ? -EOPNOTSUPP : 0;
}

static void precision_is_lowered_where_that_is_allowed(void **state)
{
	(void)state;
	begin_sampling();
	fake.decide = limit_precision;
	fake.number = 1;
	sampling.precise = 3;
	must_open(TEXTS("cycles"));
	read_all();
	expect_count(0, PFM_QUALITY_NOT_SUPPORTED, PFM_CAUSE_ATTRIBUTE);
	expect_why(0, "precision 3");
	expect_why(0, "LESS_PRECISE");
	end_session();
	sampling.flags = PFM_SAMPLING_LESS_PRECISE;
	must_open(TEXTS("cycles", "instructions:precise=2"));
	assert_int_equal(get_statistics(0).precise, 1);
	assert_int_equal(get_statistics(1).precise, 1);
	assert_int_equal(get_statistics(1).quality, PFM_QUALITY_EXACT);
}

static int refuse_branches(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return a->sample_type & PFM_SAMPLE_BRANCH ? -EOPNOTSUPP : 0;
}

static int refuse_stacks(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return a->sample_type & PFM_SAMPLE_STACK ? -EINVAL : 0;
}

static int refuse_sampling(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return a->type == PERF_TYPE_HARDWARE && a->sample_period ? -EOPNOTSUPP : 0;
}

static int refuse_everything(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)cpu;
	(void)group;
	return a->type == PERF_TYPE_HARDWARE ? -EOPNOTSUPP : 0;
}

static void refused_setting_is_reported(void **state)
{
	static const struct {
		int (*decide)(struct fake *f, const struct perf_attr *attr, int pid, int cpu,
		              int group);
		uint64_t fields;
		const char *why;
	} rows[] = {
		{ refuse_branches, PFM_SAMPLE_BRANCH, "records no branches" },
		{ refuse_stacks, PFM_SAMPLE_STACK, "fewer fields" },
		{ refuse_sampling, PFM_SAMPLE_IP, "counted, not sampled" },
		{ refuse_everything, PFM_SAMPLE_IP, "" },
	};

	(void)state;
	begin_sampling();
	sampling.user_stack = 64;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.decide = rows[i].decide;
		sampling.fields = rows[i].fields;
		must_open(TEXTS("cycles"));
		read_all();
		assert_int_not_equal(counts[0].cause, PFM_CAUSE_NONE);
		expect_why(0, rows[i].why);
		assert_int_equal(fake_open_events(&fake),
		                 /* The attempt leaves neither an open event nor a mapped ring
		                  * buffer. */
		                 0);
		end_session();
	}
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void all_buffers_shrink_until_they_fit(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	begin_sampling();
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	sampling.pages = 64;
	fake.locked = 7 * 17 * page; /* seven CPUs with 16 pages and a control page each */
	must_open(TEXTS("page-faults"));
	assert_int_equal(buffers().n, 7);
	assert_int_equal(buffers().pages, 16);
	assert_int_equal(buffers().wanted, 64);
	assert_int_equal(fake.mapped, fake.locked);
	assert_int_equal(event_text(fake_number(find_side_event(0, 0)))->a.attr.wakeup_watermark,
	                 16 * page / 4);
	end_session();
	/* above the size of the buffer, which a full buffer would never reach */
	sampling.watermark = 1 << 30;
	must_open(TEXTS("page-faults"));
	assert_int_equal(event_text(fake_number(find_side_event(0, 0)))->a.attr.wakeup_watermark,
	                 16 * page / 2);
	end_session();
	assert_int_equal(fake.mapped, 0);
	fake.locked = 3 * page; /* below the smallest buffer of all CPUs */
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_PERM);
	assert_int_equal(error.sys_errno, EPERM);
	assert_non_null(strstr(error.detail, "perf_event_mlock_kb"));
	assert_non_null(strstr(error.detail, "ulimit -l"));
	assert_int_equal(fake.n_open, 0);
	assert_int_equal(fake.n_maps, 0);
}

/* All sessions of a user share one limit: the rest decides the size of the buffers, and a session
 * without any buffer reports it. */
static void sessions_share_the_limit_of_locked_memory(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	pfm_session_t *first;

	(void)state;
	begin_sampling();
	fake_file(&fake, "/proc/sys/kernel/perf_event_mlock_kb", "516");
	sampling.pages = 64;
	fake.locked = (65 + 17) * page;
	must_open(TEXTS("page-faults"));
	assert_int_equal(buffers().pages, 64);
	first = session;
	session = NULL;
	must_open(TEXTS("page-faults"));
	assert_int_equal(buffers().pages, 16);
	pfm_close_session(session);
	fake.locked = 66 * page;
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_PERM);
	assert_int_equal(error.number, 516);
	session = first;
	assert_int_equal(buffers().pages, 64);
	end_session();
	assert_int_equal(fake.mapped, 0);
}

static int refuse_side_event(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)pid;
	(void)cpu;
	(void)group;
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY && a->sample_id_all
	               ? -f->number
	               : 0;
}

static void missing_buffers_report_the_reason(void **state)
{
	static const struct {
		int err, code;
		const char *detail;
	} rows[] = {
		{ EMFILE, PFMLIB_ERR_SYS, "ulimit -n" },
		{ EACCES, PFMLIB_ERR_PERM, "lacks the permission for the requested side records" },
		{ ENOMEM, PFMLIB_ERR_NOMEM, "cannot be set up" },
		{ EINVAL, PFMLIB_ERR_SYS, "cannot be set up" },
	};

	(void)state;
	begin_sampling();
	fake.decide = refuse_side_event;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.number = rows[i].err;
		assert_int_equal(open_texts(TEXTS("page-faults")), rows[i].code);
		assert_int_equal(error.sys_errno, rows[i].err);
		assert_non_null(strstr(error.detail, rows[i].detail));
		assert_int_equal(error.number,
		                 /* the event, and the event that owns the buffer */
		                 rows[i].err == EMFILE ? 2 : 0);
		assert_int_equal(fake.n_open, 0);
	}
}

static int refuse_cpu_3(struct fake *f, const struct perf_attr *a, int pid, int cpu, int group)
{
	(void)f;
	(void)pid;
	(void)group;
	return a->sample_id_all && a->config == PERF_COUNT_SW_DUMMY && cpu == 3 ? -ENODEV : 0;
}

static void cpu_that_goes_offline_has_no_buffer(void **state)
{
	(void)state;
	begin_sampling();
	fake.decide = refuse_cpu_3;
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults"));
	assert_int_equal(buffers().n, 6);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	assert_true(write_sample(find_faults_event(2), 1, 5));
	pfm_stop_session(session);
	assert_true(next());
	assert_int_equal(record.body.sample.ip, 1);
	assert_false(next());
}

static void refuses_invalid_buffer(void **state)
{
	(void)state;
	begin_sampling();
	sampling.pages = 1;
	fake.empty_rings = true;
	assert_int_equal(open_texts(TEXTS("page-faults")), PFMLIB_ERR_SYS);
	assert_int_equal(fake.n_maps, 0);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void the_oldest_of_all_buffers_comes_first(void **state)
{
	static const int cpus[] = { 0, 1, 2, 3, 4, 5, 7 };
	uint64_t time = 0, n = 0, random = 1;

	(void)state;
	begin_sampling();
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults"));
	for (uint64_t t = 1; t <= 300; t++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		assert_true(write_sample(find_faults_event(cpus[(random >> 33) % 7]), t, t));
	}
	while (next()) {
		assert_true(record.time > time);
		time = record.time;
		n++;
	}
	assert_int_equal(n, 300);
	assert_int_equal(get_statistics(0).samples, 300);
	assert_int_equal(get_statistics(0).exact, 300);
}

/* While the session runs, a record waits if an older one may still arrive in another buffer. */
static void young_records_wait(void **state)
{
	const uint64_t now = pfmi_sampling_get_clock_ns(CLOCK_MONOTONIC);

	(void)state;
	begin_sampling();
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults"));
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	assert_true(write_sample(find_faults_event(0), 1, 1000));
	assert_true(write_sample(find_faults_event(1), 2, now + 30 * UINT64_C(1000000000)));
	assert_true(next());
	assert_int_equal(record.body.sample.ip, 1);
	assert_false(next());
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	assert_true(next());
	assert_int_equal(record.body.sample.ip, 2);
}

static void a_buffer_without_records_is_given_up_and_the_others_go_on(void **state)
{
	static const uint64_t nonsense[4] = { 0 };

	(void)state;
	begin_sampling();
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults"));
	assert_true(fake_record(&fake, find_faults_event(4), nonsense, sizeof(nonsense)));
	assert_true(write_sample(find_faults_event(4), 1, 1));
	assert_true(write_sample(find_faults_event(5), 2, 2));
	assert_true(next());
	assert_int_equal(record.body.sample.ip, 2);
	assert_false(next());
	assert_int_equal(buffers().damaged, 1);
	/* Records written later are found. */
	assert_true(write_sample(find_faults_event(4), 3, 3));
	assert_true(next());
	assert_int_equal(record.body.sample.ip, 3);
}

static void room_is_given_back_while_a_long_pass_is_read(void **state)
{
	unsigned n = 0;

	(void)state;
	begin_sampling();
	must_open(TEXTS("page-faults"));
	while (write_sample(find_faults_event(-1), n, n))
		n++;
	for (unsigned i = 0; i < n / 2; i++)
		assert_true(next());
	assert_true(
		/* half of the buffer has been read and released */
		write_sample(find_faults_event(-1), n, n));
	for (unsigned i = n / 2; i <= n; i++) {
		assert_true(next());
		assert_int_equal(record.body.sample.ip, i);
	}
	assert_false(next());
}

static void an_older_program_gets_the_record_it_knows(void **state)
{
	pfm_record_t old = { .size = offsetof(pfm_record_t, body) };

	(void)state;
	begin_sampling();
	must_open(TEXTS("page-faults"));
	assert_true(write_sample(find_faults_event(-1), 1, 9));
	old.body.sample.ip = 12345;
	assert_int_equal(pfm_next_record(session, &old), 1);
	assert_int_equal(old.size, offsetof(pfm_record_t, body));
	assert_int_equal(old.type, PFM_RECORD_SAMPLE);
	assert_int_equal(old.time, 9);
	assert_int_equal(old.body.sample.ip, 12345);
	old.size = 3;
	assert_int_equal(pfm_next_record(session, &old), PFMLIB_ERR_INVAL);
}

/* Writes random records on a random CPU: samples of two events with different fields, other
 * records, unknown ids, and times that stop or go back. */
static void write_some(uint64_t *random, uint64_t time)
{
	static const int cpus[] = { 0, 1, 2, 3, 4, 5, 7 };
	const uint64_t own[] = { pair(7, 7), 0x6f6c6c6568 };
	int cpu, cycles;

	*random = *random * 6364136223846793005u + 1442695040888963407u;
	cpu = cpus[(*random >> 33) % 7];
	cycles = find_nth_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, cpu, 0);
	assert_true(cycles >= 0);
	for (uint64_t n = (*random >> 40) % 6; n; n--) {
		const uint64_t words[] = { fake_id(cycles),        time + n, pair(7, 8), time,
			                   pair((uint32_t)cpu, 0), 100 + n };

		switch ((*random >> 45) % 9) {
		case 0:
			assert_true(
				write_words(cycles, PFM_RECORD_SAMPLE, PFM_MISC_EXACT, words, 6));
			break;
		case 1:
			assert_true(
				write_side(find_side_event(cpu, 0), PFM_RECORD_COMM, own, 2, time));
			break;
		case 2: assert_true(write_foreign(find_faults_event(cpu), time, time)); break;
		case 3: assert_true(write_sample(find_faults_event(cpu), time, time - 5)); break;
		default:
			assert_true(write_sample(find_faults_event(cpu), time + n, time + n % 2));
			break;
		}
	}
}

/* Takes all records, up to @at_once in each call, one by one if it is 0. Returns a hash of their
 * fields in order. */
static uint64_t take_all(pfm_record_t *records, unsigned at_once)
{
	uint64_t sum = 0;
	int n;

	while ((n = at_once ? pfm_next_records(session, records, at_once)
	                    : pfm_next_record(session, records)) > 0)
		for (int i = 0; i < n; i++) {
			const pfm_record_t *r = &records[i];
			const uint64_t say[] = {
				r->type,
				r->misc,
				r->event,
				r->has,
				r->time,
				r->id,
				r->pid,
				r->tid,
				r->cpu,
				r->raw_size,
				r->unparsed,
				r->stream,
				r->type == PFM_RECORD_SAMPLE ? r->body.sample.ip : 0,
				r->type == PFM_RECORD_SAMPLE ? r->body.sample.period : 0,
				*(const uint32_t *)r->raw
			};

			for (unsigned k = 0; k < sizeof(say) / sizeof(say[0]); k++)
				sum = (sum ^ say[k]) * 0x100000001b3u;
		}
	assert_int_equal(n, 0);
	return sum;
}

/* The first turn uses a longer struct than the library's, so that each record is decoded on its
 * own. */
static void many_records_equal_single_records(void **state)
{
	enum { MOST = 40, ROUNDS = 30, AT_A_TIME = 40 };
	static const unsigned turns[] = { 0, 0, 1, 2, 3, MOST };
	static pfm_record_t records[MOST];
	uint64_t right[ROUNDS], samples[2] = { 0 }, weight = 0, bytes = 0;

	for (unsigned turn = 0; turn < sizeof(turns) / sizeof(turns[0]); turn++) {
		uint64_t random = 1;

		memset(records, 0, sizeof(records));
		records[0].size = sizeof(records[0]) * (turn ? 1 : 2);
		if (turn)
			done(state); /* frees the machine of the previous turn */
		begin_sampling();
		options.flags = PFM_SESSION_SYSTEM_WIDE;
		must_open(TEXTS("page-faults", "cycles"));
		for (unsigned k = 0; k < ROUNDS; k++) {
			uint64_t sum;

			for (unsigned i = 0; i < AT_A_TIME; i++)
				write_some(&random, 1000 * (k + 1) + 3 * i);
			sum = take_all(records, turns[turn]);
			right[k] = turn ? right[k] : sum;
			assert_true(sum == right[k]);
		}
		samples[0] = turn ? samples[0] : get_statistics(0).samples;
		samples[1] = turn ? samples[1] : get_statistics(1).samples;
		weight = turn ? weight : get_statistics(1).weight;
		bytes = turn ? bytes : buffers().bytes;
		assert_true(samples[0] > 500 && samples[1] > 50);
		assert_int_equal(get_statistics(0).samples, samples[0]);
		assert_int_equal(get_statistics(1).samples, samples[1]);
		assert_int_equal(get_statistics(1).exact, samples[1]);
		assert_int_equal(get_statistics(1).weight, weight);
		assert_int_equal(buffers().bytes, bytes);
	}
}

/* Records handed out together keep their data until the next call. */
static void many_records_keep_their_data(void **state)
{
	static pfm_record_t records[200];
	unsigned n = 0;

	(void)state;
	memset(records, 0, sizeof(records));
	records[0].size = sizeof(records[0]);
	begin_sampling();
	must_open(TEXTS("page-faults"));
	for (unsigned round = 0; round < 3; round++) {
		for (n = 0; write_sample(find_faults_event(-1), n, n);)
			n++;
		assert_int_equal(
			pfm_next_records(session, records, sizeof(records) / sizeof(records[0])),
			n);
		assert_false(write_sample(find_faults_event(-1), 0, 0));
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(records[i].size, sizeof(records[0]));
			assert_int_equal(records[i].body.sample.ip, i);
			assert_memory_equal((const uint64_t *)records[i].raw + 2,
			                    &records[i].body.sample.ip, 8);
		}
		assert_int_equal(pfm_next_records(session, records, 1), 0);
	}
	assert_int_equal(pfm_next_records(session, NULL, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_records(NULL, records, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_records(session, records, 0), 0);
	records[0].size = 3;
	assert_int_equal(pfm_next_records(session, records, 1), PFMLIB_ERR_INVAL);
}

/* The size in the first record is the distance between the records. */
static void an_older_program_gets_many_records_it_knows(void **state)
{
	enum { OLD = offsetof(pfm_record_t, body) };
	static uint64_t room[4 * OLD / sizeof(uint64_t)];
	const size_t size = OLD;
	pfm_record_t r;

	(void)state;
	begin_sampling();
	must_open(TEXTS("page-faults"));
	for (uint64_t i = 1; i <= 3; i++)
		assert_true(write_sample(find_faults_event(-1), i, 10 * i));
	memset(room, 0x5a, sizeof(room));
	memcpy(room, &size, sizeof(size));
	assert_int_equal(pfm_next_records(session, (pfm_record_t *)(void *)room, 9), 3);
	for (uint64_t i = 0; i < 3; i++) {
		memcpy(&r, (const char *)room + i * OLD, OLD);
		assert_int_equal(r.size, OLD);
		assert_int_equal(r.time, 10 * (i + 1));
	}
	for (size_t i = 3 * OLD; i < sizeof(room); i++)
		assert_int_equal(((const unsigned char *)room)[i], 0x5a);
}

static int fill_account(void *out)
{
	return pfm_sampling_statistics(session, 0, out);
}

static int fill_buffers(void *out)
{
	return pfm_buffer_statistics(session, out);
}

/* Fills structs of every size from below to above the library's: shared members are equal, and
 * bytes after the caller's size do not change. */
static void expect_every_length(int (*fill)(void *out), const void *full, size_t ours)
{
	for (size_t size = sizeof(size_t); size <= ours + 24; size++) {
		unsigned char *s = malloc(size);
		size_t shared = size < ours ? size : ours;

		assert_non_null(s);
		memset(s, 0xa5, size);
		memcpy(s, &size, sizeof(size));
		assert_int_equal(fill(s), PFMLIB_SUCCESS);
		assert_memory_equal(s, &size, sizeof(size));
		for (size_t b = shared; b < size; b++)
			assert_int_equal(s[b], 0xa5);
		/* Compares members, not padding: both have a member in the 8 bytes after the
		 * size. */
		if (shared >= sizeof(size_t) + 8)
			assert_memory_equal(s + sizeof(size_t), (const char *)full + sizeof(size_t),
			                    8);
		free(s);
	}
	for (size_t size = 1; size < sizeof(size_t); size++)
		assert_int_equal(fill(&size), PFMLIB_ERR_INVAL);
}

static void structs_of_every_length(void **state)
{
	pfm_sample_statistics_t c;
	pfm_buffer_info_t b;

	(void)state;
	begin_sampling();
	must_open(TEXTS("page-faults"));
	c = get_statistics(0);
	b = buffers();
	expect_every_length(fill_account, &c, sizeof(c));
	expect_every_length(fill_buffers, &b, sizeof(b));
	end_session();
	for (size_t size = 0; size <= sizeof(sampling) + 24; size++) {
		/* No more than the size says, so that sanitizers see reads behind it. A size of 0
		 * is that of version 1.0. */
		size_t room = size == 0 ? sizeof(sampling) : size;
		pfm_sampling_t *given = calloc(1, room > sizeof(size_t) ? room : sizeof(size_t));

		assert_non_null(given);
		memcpy(given, &size, sizeof(size));
		options.sampling = given;
		assert_int_equal(pfm_open_session(&session, ctx, &options,
		                                  (const char *[]){ "page-faults" }, 1, NULL),
		                 size && size < sizeof(size_t) ? PFMLIB_ERR_INVAL : PFMLIB_SUCCESS);
		pfm_close_session(session);
		session = NULL;
		free(given);
	}
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* Old contents of the caller's record never show in the next one. */
static void old_record_contents_never_show(void **state)
{
	static const pfm_record_t empty;
	pfm_record_t left = { .type = PFM_RECORD_SAMPLE,
		              .has = PFM_SAMPLE_IP,
		              .raw = &left,
		              .stream = 5 },
		     kept;

	(void)state;
	left.body.sample.n_chain = 3;
	left.body.sample.addr = left.body.sample.weight = 9;
	begin_sampling();
	must_open(TEXTS("page-faults"));
	for (uint64_t i = 0; i < 8; i++)
		assert_true(write_sample(find_faults_event(-1), 0x401000 + i, i));
	for (uint64_t i = 0; i < 8; i++) {
		memset(&record, i % 4 == 1 ? 0xff : 0, i % 4 == 1 ? sizeof(record) : 0);
		if (i % 4 == 2) /* the remains of a sample of another session */
			record = left;
		assert_true(next());
		assert_int_equal(record.body.sample.ip, 0x401000 + i);
		assert_int_equal(record.time, i);
		assert_int_equal(record.body.sample.period, 1);
		assert_int_equal(record.event, 0);
		kept = record;
		kept.body.sample.ip = kept.body.sample.period = 0;
		assert_memory_equal(&kept.body.sample, &empty.body.sample,
		                    sizeof(kept.body.sample));
		assert_true(record.stream == 0 && record.unparsed == 0);
	}
	assert_false(next());
	assert_int_equal(get_statistics(0).samples, 8);
}

/* The kernel writes one sample of a software event for all who have it open, with the id of the
 * first, and the time by its clock. */
static void reports_samples_with_unknown_ids(void **state)
{
	(void)state;
	for (unsigned several = 0; several < 2; several++) {
		begin_sampling();
		if (several)
			open_at_rest(TEXTS("page-faults", "context-switches"));
		else
			open_at_rest(TEXTS("page-faults", "cycles"));
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
		assert_true(write_foreign(find_faults_event(-1), 0x401000, 1));
		assert_true(next());
		assert_int_equal(record.type, PFM_RECORD_SAMPLE);
		assert_int_equal(record.event, several ? PFM_NO_EVENT : 0);
		assert_int_equal(record.body.sample.ip, 0x401000);
		assert_int_equal(record.has & PFM_SAMPLE_TIME, 0);
		assert_false(next());
		assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
		assert_int_equal(get_statistics(0).samples, !several);
		assert_int_equal(get_statistics(0).quality,
		                 several ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT);
		assert_int_equal(get_statistics(1).quality,
		                 several ? PFM_QUALITY_PARTIAL : PFM_QUALITY_EXACT);
		done(NULL);
	}
}

/* Fewer samples than the count needs: the interrupts came only with the clock of a virtual
 * machine. */
static void reports_too_few_samples(void **state)
{
	(void)state;
	for (unsigned inherit = 0; inherit < 2; inherit++) {
		begin_sampling();
		options.flags = inherit ? PFM_SESSION_INHERIT : 0;
		open_at_rest(TEXTS("page-faults:period=1000"));
		for (uint64_t i = 1; i <= 10; i++)
			assert_true(
				write_sample(find_faults_event(inherit ? 0 : -1), 0x401000, i) &&
				next());
		event_value = 21000; /* 20 samples are due, besides the period that has begun */
		assert_int_equal(get_statistics(0).quality, PFM_QUALITY_EXACT);
		event_value = 40000;
		assert_int_equal(get_statistics(0).samples, 10);
		assert_int_equal(get_statistics(0).quality,
		                 inherit ? PFM_QUALITY_EXACT : PFM_QUALITY_PARTIAL);
		assert_int_equal(get_statistics(0).cause,
		                 inherit ? PFM_CAUSE_NONE : PFM_CAUSE_OTHER);
		done(NULL);
	}
}

static void reports_records_lost_by_kernel_and_processor(void **state)
{
	const uint64_t dropped[] = { 3 }, off[] = { 100, 0, 0 }, on[] = { 350, 0, 0 };
	pfm_sample_statistics_t c = { .size = 2 };

	(void)state;
	begin_sampling();
	open_at_rest(TEXTS("page-faults", "cycles:period=1000"));
	assert_int_equal(get_statistics(1).quality, PFM_QUALITY_EXACT);
	assert_true(write_side(event_text(2)->used ? fake_fd(2) : -1, PFM_RECORD_LOST_SAMPLES,
	                       dropped, 1, 50));
	assert_true(next());
	assert_int_equal(record.event, 1);
	assert_int_equal(get_statistics(1).discarded, 3);
	assert_int_equal(get_statistics(1).cause, PFM_CAUSE_LOST);
	assert_int_equal(get_statistics(0).quality, PFM_QUALITY_EXACT);
	assert_true(write_side(fake_fd(2), PFM_RECORD_THROTTLE, off, 3, 100));
	assert_true(write_side(fake_fd(2), PFM_RECORD_UNTHROTTLE, on, 3, 350));
	assert_true(next() && next());
	assert_int_equal(get_statistics(1).throttled, 1);
	assert_int_equal(get_statistics(1).throttled_ns, 250);
	assert_int_equal(get_statistics(1).cause, PFM_CAUSE_THROTTLED);
	event_text(1)->lost = 4;
	assert_int_equal(get_statistics(0).lost, 4);
	assert_int_equal(get_statistics(0).cause, PFM_CAUSE_LOST);
	assert_int_equal(pfm_sampling_statistics(session, 2, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_sampling_statistics(session, 0, &c), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_buffer_statistics(session, NULL), PFMLIB_ERR_INVAL);
	fake.fail = FAKE_READ_PERF;
	fake.fail_at = fake.uses[FAKE_READ_PERF] + 1;
	fake.fail_errno = EIO;
	c.size = sizeof(c);
	assert_int_equal(pfm_sampling_statistics(session, 0, &c), PFMLIB_ERR_SYS);
	fake.fail_at = 0;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void tasks_end_one_after_the_other(void **state)
{
	int fds[4];

	(void)state;
	begin_sampling();
	fake_file(&fake, "/proc/40/status", "Name:\tmain\nTgid:\t40");
	fake_file(&fake, "/proc/40/task/40/comm", "main");
	fake_file(&fake, "/proc/40/task/41/comm", "worker");
	options.pid = 40;
	options.flags = PFM_SESSION_INHERIT; /* one buffer for each CPU, shared by both threads */
	must_open(TEXTS("page-faults"));
	assert_int_equal(pfm_session_fds(session, fds, 4), 7);
	assert_int_equal(fds[0], find_side_event(0, 0));
	/* The first thread has ended on CPU 0, then the second. */
	fake_event(&fake, find_side_event(0, 0))->revents = POLLHUP;
	assert_true(write_sample(find_faults_event(0), 1, 1));
	assert_int_equal(pfm_wait_session(session, 100), PFM_WAIT_READY);
	assert_int_equal(pfm_session_fds(session, fds, 4), 7);
	assert_int_equal(fds[0], find_side_event(0, 1));
	assert_true(next());
	assert_false(next());
	fake_event(&fake, find_side_event(0, 1))->revents = POLLHUP;
	assert_int_equal(pfm_wait_session(session, 100), PFM_WAIT_TIMEOUT);
	assert_int_equal(pfm_session_fds(session, fds, 4), 6);
	assert_int_equal(fds[0], find_side_event(1, 0));
	for (unsigned i = 0; i < fake.n_events; i++)
		event_text(i)->revents = POLLHUP;
	assert_int_equal(pfm_wait_session(session, 100), PFM_WAIT_ENDED);
	assert_int_equal(pfm_session_fds(session, fds, 4), 0);
}

/* A program that has closed its standard input gets descriptor 0 from open calls. */
static void a_buffer_goes_to_descriptor_0_as_to_any(void **state)
{
	struct side_event *second = NULL;
	int fds[4], fd;

	(void)state;
	begin_sampling();
	fake_file(&fake, "/proc/40/status", "Name:\tmain\nTgid:\t40");
	fake_file(&fake, "/proc/40/task/40/comm", "main");
	fake_file(&fake, "/proc/40/task/41/comm", "worker");
	options.pid = 40;
	options.flags = PFM_SESSION_INHERIT;
	must_open(TEXTS("page-faults"));
	fd = find_side_event(0, 1);
	for (unsigned i = 0; i < session->sampling->n_side_events; i++)
		if (session->sampling->side_events[i].fd == fd)
			second = &session->sampling->side_events[i];
	assert_non_null(second);
	second->fd = 0;
	fake_event(&fake, find_side_event(0, 0))->revents = POLLHUP;
	fake.fail = FAKE_POLL;
	fake.fail_at = fake.uses[FAKE_POLL] +
	               2; /* fails the second poll: the script has no descriptor 0 */
	fake.fail_errno = EINTR;
	pfm_wait_session(session, 100);
	pfm_session_fds(session, fds, 4);
	second->fd = fd;
	assert_int_equal(fds[0], 0);
}

static void waiting_that_fails_says_so(void **state)
{
	(void)state;
	begin_sampling();
	must_open(TEXTS("page-faults"));
	fake.fail = FAKE_POLL;
	fake.fail_at = 1;
	fake.fail_errno = EINVAL;
	assert_int_equal(pfm_wait_session(session, 5), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), EINVAL);
	fake.fail_at = fake.uses[FAKE_POLL] + 1;
	fake.fail_errno = EINTR; /* a signal ends the wait */
	assert_int_equal(pfm_wait_session(session, 5), PFM_WAIT_TIMEOUT);
	/* Scripted descriptors take no signals. The first one is a descriptor of this program. */
	end_session();
	must_open(TEXTS("page-faults"));
	assert_int_equal(pfm_signal_session(session, SIGRTMIN), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), EBADF);
	assert_int_equal(pfm_signal_session(session, -1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_signal_session(NULL, 1), PFMLIB_ERR_INVAL);
}

static void raw_bytes_come_buffer_by_buffer(void **state)
{
	unsigned buffer, seen = 0;
	const void *bytes;
	size_t len;

	(void)state;
	begin_sampling();
	options.flags = PFM_SESSION_SYSTEM_WIDE;
	must_open(TEXTS("page-faults"));
	assert_int_equal(pfm_next_bytes(session, NULL, &len, NULL), PFMLIB_ERR_INVAL);
	for (int cpu = 0; cpu < 3; cpu++)
		assert_true(write_sample(find_faults_event(cpu), 1, 1));
	while (pfm_next_bytes(session, &bytes, &len, &buffer) == 1) {
		assert_int_equal(len, 48);
		assert_true(buffer < 3);
		seen |= 1u << buffer;
	}
	assert_int_equal(seen, 7);
	assert_int_equal(buffers().bytes, 3 * 48);
}

/* ---- everything fails once ------------------------------------------------------------------- */

static const char *const session_texts[] = { "page-faults:u", "cycles:precise=2:period=1000",
	                                     "{task-clock,instructions:period=100}" };

/* Returns true if @rc reports success. A failure must leave its errno in the session. */
static bool check_result(int rc)
{
	if (rc < 0 && rc != PFMLIB_ERR_INVAL)
		assert_int_equal(pfm_session_errno(session), fake.fail_errno);
	return rc >= 0;
}

/* Runs a whole session with records. Returns true if every step succeeded. */
static bool run_whole_session(void)
{
	pfm_sample_statistics_t c = PFM_INIT(c);
	bool ok = open_texts(session_texts, 3) == PFMLIB_SUCCESS;
	int cpu = options.flags & PFM_SESSION_SYSTEM_WIDE ? 2 : -1, faults;
	unsigned n = 0;

	assert_true(ok == (session != NULL));
	if (!ok) {
		assert_true(error.detail && *error.detail);
		assert_true(error.sys_errno == fake.fail_errno || error.code == PFMLIB_ERR_NOMEM);
		assert_int_equal(fake.n_open, 0);
		assert_int_equal(fake.n_maps, 0);
		return false;
	}
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		ok &= !*is_about(i).why;
	ok &= check_result(pfm_start_session(session));
	faults = find_faults_event(cpu);
	if (faults >= 0 && event_text(fake_number(faults))->output >= 0)
		for (n = 0; n < 5; n++)
			assert_true(write_sample(faults, n, n + 1));
	ok &= pfm_session_fds(session, NULL, 0) == 0 || check_result(pfm_wait_session(session, 1));
	ok &= check_result(pfm_stop_session(session));
	for (unsigned i = 0; i < n && pfm_session_fds(session, NULL, 0); i++) {
		assert_true(next());
		assert_int_equal(record.body.sample.ip, i);
	}
	for (unsigned i = 0; i < pfm_session_size(session); i++)
		ok &= check_result(pfm_sampling_statistics(session, i, &c));
	end_session();
	return ok;
}

/* Failures without a report: close() frees in any case; the first event only probes for the system
 * call; a smaller buffer replaces a larger one that failed; and an event that is refused or whose
 * task or CPU is gone is opened in another way. */
static bool may_be_silent(enum fake_call call, unsigned at, int err)
{
	if (call == FAKE_CLOSE || (err == EPERM && (call == FAKE_PERF || call == FAKE_MMAP)))
		return true;
	return call == FAKE_PERF &&
	       (at == 1 || err == EACCES || err == EINVAL || err == ENODEV || err == ESRCH);
}

static void every_call_may_fail(void **state)
{
	static const int errors[] = { EMFILE, EACCES, EPERM, EINVAL, ENODEV, ESRCH, ENOMEM, EIO };
	static const enum fake_call calls[] = { FAKE_PERF, FAKE_MMAP,      FAKE_IOCTL,
		                                FAKE_POLL, FAKE_READ_PERF, FAKE_CLOSE };
	unsigned step = getenv("PERFMON_QUICK") ? 3 : 1;

	(void)state;
	begin_sampling();
	sampling.records = PFM_SIDEBAND_USUAL;
	assert_true(run_whole_session());
	for (unsigned wide = 0; wide < 2; wide++)
		for (unsigned e = 0; e < sizeof(errors) / sizeof(errors[0]); e += step)
			for (unsigned k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
				for (unsigned at = 1; at == 1 || fake.uses[calls[k]] >= at - 1;
				     at++) {
					memset(fake.uses, 0, sizeof(fake.uses));
					fake.n_events = 0;
					options.flags = wide ? PFM_SESSION_SYSTEM_WIDE : 0;
					fake.fail = calls[k];
					fake.fail_at = at;
					fake.fail_errno = errors[e];
					if (run_whole_session() && fake.uses[calls[k]] >= at &&
					    !may_be_silent(calls[k], at, errors[e]))
						fail_msg(
							"call %u, use %u, errno %d: nobody said so",
							(unsigned)calls[k], at, errors[e]);
				}
	fake.fail_at = 0;
}

static void every_allocation_may_fail(void **state)
{
	unsigned refused_ones = 0;

	(void)state;
#ifdef STARVE_NOT_HERE
	skip();
#endif
	begin_sampling();
	assert_true(run_whole_session());
	for (unsigned at = 1;; at++) {
		int rc;

		starve_hit = false;
		starve_at = at;
		rc = open_texts(session_texts, 3);
		starve_at = 0;
		if (!starve_hit)
			break;
		if (rc) {
			assert_int_equal(rc, PFMLIB_ERR_NOMEM);
			assert_null(session);
			refused_ones++;
		}
		end_session();
	}
	assert_true(refused_ones > 8);
}

/* Sessions that only count, missing sessions and invalid records give no records. */
static void no_records_without_sampling(void **state)
{
	make_machine("uncore");
	must_open(TEXTS("page-faults"));
	record.size = sizeof(record);
	assert_int_equal(pfm_next_record(session, &record), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_records(session, &record, 1), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_record(NULL, &record), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_records(NULL, &record, 1), PFMLIB_ERR_INVAL);
	done(state);
	begin_sampling();
	must_open(TEXTS("page-faults"));
	assert_int_equal(pfm_next_record(session, NULL), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_records(session, NULL, 1), PFMLIB_ERR_INVAL);
	record.size = sizeof(record.size) - 1;
	assert_int_equal(pfm_next_record(session, &record), PFMLIB_ERR_INVAL);
	assert_int_equal(pfm_next_records(session, &record, 1), PFMLIB_ERR_INVAL);
	record.size = sizeof(record);
}

int main(void)
{
#define ROW(NAME) cmocka_unit_test_teardown(NAME, done)
	const struct CMUnitTest tests[] = {
		ROW(no_records_without_sampling),
		ROW(default_rates_depend_on_the_type_of_event),
		ROW(passes_sample_fields_to_the_kernel),
		ROW(user_frames_are_left_to_the_reader),
		ROW(settings_are_refused_before_anything_is_opened),
		ROW(unreadable_kernel_limit_is_no_limit),
		ROW(an_older_kernel_tells_losses_by_records_alone),
		ROW(precision_is_lowered_where_that_is_allowed),
		ROW(refused_setting_is_reported),
		ROW(all_buffers_shrink_until_they_fit),
		ROW(sessions_share_the_limit_of_locked_memory),
		ROW(missing_buffers_report_the_reason),
		ROW(cpu_that_goes_offline_has_no_buffer),
		ROW(refuses_invalid_buffer),
		ROW(the_oldest_of_all_buffers_comes_first),
		ROW(young_records_wait),
		ROW(a_buffer_without_records_is_given_up_and_the_others_go_on),
		ROW(room_is_given_back_while_a_long_pass_is_read),
		ROW(an_older_program_gets_the_record_it_knows),
		ROW(many_records_equal_single_records),
		ROW(many_records_keep_their_data),
		ROW(an_older_program_gets_many_records_it_knows),
		ROW(structs_of_every_length),
		ROW(old_record_contents_never_show),
		ROW(reports_samples_with_unknown_ids),
		ROW(reports_too_few_samples),
		ROW(reports_records_lost_by_kernel_and_processor),
		ROW(tasks_end_one_after_the_other),
		ROW(a_buffer_goes_to_descriptor_0_as_to_any),
		ROW(waiting_that_fails_says_so),
		ROW(raw_bytes_come_buffer_by_buffer),
		ROW(every_call_may_fail),
		ROW(every_allocation_may_fail),
	};

	return cmocka_run_group_tests_name("sampling_script", tests, NULL, NULL);
}
