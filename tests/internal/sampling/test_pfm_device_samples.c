/* SPDX-License-Identifier: MIT */
/* Samples of the Tru64 counter device through the sampling calls of Linux. The test drives a model
 * of the device by hand and keeps its own account of every interrupt; the records must agree with
 * it. */
#include <errno.h>
#include <perfmon/alpha.h>
#include <perfmon/perfmon.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "device_sys.h"
#include "context/context.h"

enum { TEXT = 0x20000000, SIZE = 0x400, MAX_CPUS = 4 };

static struct alpha_device *model;
static struct alpha_device_sys model_state;
static struct alpha_emulator *emulator;
static struct sys model_system;
static struct alpha_device_options quirks;
static pfm_ctx_t *ctx;
static pfm_session_t *session;
static pfmlib_alpha_input_param_t settings;
static pfm_alpha_session_t device;
static pfm_sampling_t sampling;
static pfm_session_options_t options;
static pfm_error_t error;

/* Requests @failing fail from the @fail_at-th on; 0: none fails. Reading is request 1. */
static uint32_t failing;
static unsigned fail_at, n_requests;

static int spy_ioctl(const struct sys *sys, int fd, unsigned long request, void *arg)
{
	(void)sys;
	if (fail_at && (uint32_t)request == failing && ++n_requests >= fail_at)
		return -EIO;
	return model_system.ioctl(&model_system, fd, request, arg);
}

static long spy_read(const struct sys *sys, int fd, void *buf, size_t n)
{
	(void)sys;
	if (fail_at && failing == 1 && ++n_requests >= fail_at)
		return -EFAULT;
	return model_system.read(&model_system, fd, buf, n);
}

static int spy_open(const struct sys *sys, const char *path, int flags)
{
	(void)sys;
	return model_system.open(&model_system, path, flags);
}

static int spy_close(const struct sys *sys, int fd)
{
	(void)sys;
	return model_system.close(&model_system, fd);
}

static void begin(enum alpha_device_family family, unsigned n_cpus)
{
	alpha_device_set_defaults(&quirks, family);
	quirks.n_cpus = n_cpus;
	sampling = (pfm_sampling_t){ .size = sizeof(sampling) };
	settings = (pfmlib_alpha_input_param_t){ .pfp_alpha_n_ranges = 1,
		                                 .pfp_alpha_ranges = { { TEXT, TEXT + SIZE } } };
	device = (pfm_alpha_session_t){ .size = sizeof(device),
		                        .model = &settings,
		                        .n_cpus = n_cpus };
	options = (pfm_session_options_t){ .size = sizeof(options),
		                           .backend = "pfm_device",
		                           .backend_options = &device,
		                           .sampling = &sampling };
	error = (pfm_error_t){ .size = sizeof(error) };
	fail_at = n_requests = 0;
}

/* Opens the session on a model with the current quirks. */
static int open_text(const char *text)
{
	model = alpha_device_new(&quirks);
	assert_non_null(model);
	assert_int_equal(alpha_device_set_process(model, 1, 0, ALPHA_DEVICE_UNBOUND), 0);
	model_state = (struct alpha_device_sys){ .device = model, .pid = 1 };
	init_device_sys(&model_system, &model_state);
	assert_int_equal(pfm_open_context(&ctx, NULL, NULL), PFMLIB_SUCCESS);
	ctx->sys = model_system;
	ctx->sys.open = spy_open;
	ctx->sys.ioctl = spy_ioctl;
	ctx->sys.read = spy_read;
	ctx->sys.close = spy_close;
	return pfm_open_session(&session, ctx, &options, &text, 1, &error);
}

static void start(const char *text)
{
	pfm_count_info_t info = PFM_INIT(info);
	int rc = open_text(text);

	if (rc)
		fail_msg("%s: %d %s", text, rc, error.detail ? error.detail : "");
	assert_int_equal(pfm_describe_count(session, 0, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.why, "");
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
}

static void end(void)
{
	pfm_close_session(session);
	pfm_close_context(ctx);
	alpha_device_free(model);
	session = NULL;
	ctx = NULL;
	model = NULL;
}

static int tear_down(void **state)
{
	(void)state;
	end();
	alpha_emulator_close(emulator);
	emulator = NULL;
	return 0;
}

/* The test's own account: events so far, and the samples that must come, by CPU and bucket. */
static struct {
	uint64_t events[MAX_CPUS], period;
	unsigned expected[MAX_CPUS][SIZE / 4 + 1], outside, width;
} account_of_test;

/* Lets @cpu count @events at @pc, and works out where it interrupts. */
static void run_work(unsigned cpu, uint64_t pc, bool user, uint64_t events)
{
	struct alpha_device_work w = { .pid = 1,
		                       .is_user = user,
		                       .pc = pc,
		                       .cycles = events,
		                       .events = { events, events, events } };
	uint64_t before = account_of_test.events[cpu] / account_of_test.period;

	account_of_test.events[cpu] += events;
	before = account_of_test.events[cpu] / account_of_test.period - before;
	if (user && pc >= TEXT && pc < TEXT + SIZE)
		account_of_test.expected[cpu][(pc - TEXT) / account_of_test.width] +=
			(unsigned)before;
	else
		account_of_test.outside += (unsigned)before;
	assert_int_equal(alpha_device_do_work(model, cpu, &w), 0);
}

static void begin_truth(uint64_t period)
{
	memset(&account_of_test, 0, sizeof(account_of_test));
	account_of_test.period = period;
	account_of_test.width = 16;
}

/* Takes all available records off the account. Returns their number. */
static unsigned take_records(bool each)
{
	pfm_record_t r = PFM_INIT(r);
	unsigned n = 0;
	int rc;

	for (; (rc = pfm_next_record(session, &r)) == 1; n++) {
		unsigned *left =
			&account_of_test.expected[each ? r.cpu : 0][(r.body.sample.ip - TEXT) /
		                                                    account_of_test.width];

		assert_int_equal(r.type, PFM_RECORD_SAMPLE);
		assert_int_equal(r.misc, PFM_MISC_USER);
		assert_int_equal(r.event, 0);
		assert_int_equal(r.has, PFM_SAMPLE_IDENTIFIER | PFM_SAMPLE_IP | PFM_SAMPLE_PERIOD |
		                                (each ? PFM_SAMPLE_CPU : 0));
		assert_in_range(r.body.sample.ip, TEXT, TEXT + SIZE - 4);
		assert_int_equal((r.body.sample.ip - TEXT) % account_of_test.width, 0);
		assert_int_equal(r.body.sample.period, account_of_test.period);
		assert_true(*left > 0);
		--*left;
	}
	assert_int_equal(rc, 0);
	return n;
}

static void expect_nothing_left(void)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		for (unsigned i = 0; i <= SIZE / 4; i++)
			assert_int_equal(account_of_test.expected[cpu][i], 0);
}

static pfm_sample_statistics_t get_statistics(void)
{
	pfm_sample_statistics_t n = PFM_INIT(n);

	assert_int_equal(pfm_sampling_statistics(session, 0, &n), PFMLIB_SUCCESS);
	return n;
}

/* ---- the profile ----------------------------------------------------------------------------- */

/* Each family at its slowest rate: odd numbers of events at odd addresses, reads at odd times, with
 * and without buckets that reading empties. */
static void every_interrupt_in_the_range_is_a_record(void **state)
{
	static const struct {
		enum alpha_device_family family;
		const char *event;
		uint64_t period;
	} all[] = { { ALPHA_DEVICE_EV4, "ev4::cycles", 65536 },
		    { ALPHA_DEVICE_EV4, "ev4::dcache", 4096 },
		    { ALPHA_DEVICE_EV5, "ev5::cycles", 65536 },
		    { ALPHA_DEVICE_EV5, "ev5::longstalls", 16384 },
		    { ALPHA_DEVICE_PCA56, "pca56::issues", 65536 },
		    { ALPHA_DEVICE_EV6, "ev6::retinst", 1048576 },
		    { ALPHA_DEVICE_EV67, "ev67::cycles0", 1048576 } };

	(void)state;
	for (unsigned k = 0; k < 2 * sizeof(all) / sizeof(all[0]); k++) {
		pfm_sample_statistics_t n;
		uint64_t chance = 12345 + k;
		unsigned taken = 0;

		begin(all[k / 2].family, 1);
		quirks.read_clears = k % 2;
		begin_truth(all[k / 2].period);
		start(all[k / 2].event);
		for (unsigned i = 0; i < 3000; i++) {
			chance = chance * 6364136223846793005u + 1442695040888963407u;
			run_work(0, TEXT - 64 + (chance >> 33) % (SIZE + 128) / 4 * 4,
			         (chance >> 20) % 8 != 0,
			         (chance >> 40) % (3 * account_of_test.period));
			if (i % 7 == 0)
				taken += take_records(false);
		}
		assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
		taken += take_records(false);
		expect_nothing_left();
		n = get_statistics();
		assert_true(taken > 1000 && account_of_test.outside > 100);
		assert_int_equal(n.samples, taken);
		assert_int_equal(n.discarded, account_of_test.outside);
		assert_int_equal(n.samples + n.discarded,
		                 account_of_test.events[0] / account_of_test.period);
		assert_int_equal(n.weight, taken * account_of_test.period);
		assert_int_equal(n.period, account_of_test.period);
		assert_int_equal(n.count / account_of_test.period,
		                 account_of_test.events[0] / account_of_test.period);
		assert_int_equal(n.lost, 0);
		assert_int_equal(n.quality, PFM_QUALITY_EXACT);
		end();
	}
}

static void distinguishes_each_processor(void **state)
{
	(void)state;
	begin(ALPHA_DEVICE_EV5, 3);
	begin_truth(65536);
	sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_CPU;
	start("ev5::cycles");
	run_work(0, TEXT, true, 200000);
	run_work(1, TEXT + 20, true, 400000);
	run_work(2, TEXT + SIZE - 4, true, 65535);
	run_work(2, TEXT, true, 1);
	assert_int_equal(take_records(true), 3 + 6 + 1);
	expect_nothing_left();
	assert_int_equal(get_statistics().samples, 10);
}

/* The address of a sample is the start of its bucket; a stride of 0 gives a single bucket. */
static void strides_say_how_near_an_address_is(void **state)
{
	static const unsigned strides[] = { 1, 64, 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		begin(ALPHA_DEVICE_EV5, 1);
		settings.pfp_alpha_flags = PFM_ALPHA_FL_STRIDE;
		settings.pfp_alpha_stride = strides[i];
		begin_truth(65536);
		account_of_test.width = strides[i] ? strides[i] * 4 : SIZE;
		start("ev5::cycles");
		run_work(0, TEXT + 0x10c, true, 700000);
		run_work(0, TEXT + 0x30c, true, 700000);
		assert_int_equal(take_records(false), 21);
		expect_nothing_left();
		end();
	}
}

static void profiles_the_kernel_on_request(void **state)
{
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	settings.pfp_alpha_flags = PFM_ALPHA_FL_KERNEL;
	settings.pfp_alpha_ranges[0] =
		(pfmlib_alpha_range_t){ quirks.ktext_start, quirks.ktext_start + 0x1000 };
	begin_truth(65536);
	start("ev5::cycles");
	run_work(0, TEXT, true, 40 * 65536);
	run_work(0, quirks.ktext_start + 0x44, false, 65536);
	assert_int_equal(pfm_next_record(session, &r), 1);
	assert_int_equal(r.misc, PFM_MISC_KERNEL);
	assert_true(r.body.sample.ip == quirks.ktext_start + 0x40);
	assert_int_equal(pfm_next_record(session, &r), 0);
	assert_int_equal(get_statistics().samples, 1);
	assert_int_equal(get_statistics().discarded, 40);
	/* samples outside the range were not requested */
	assert_int_equal(get_statistics().quality, PFM_QUALITY_EXACT);
}

static void the_period_is_the_text_s_or_the_session_s(void **state)
{
	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	sampling.period = 256;
	begin_truth(256);
	start("ev5::cycles");
	run_work(0, TEXT, true, 1000);
	assert_int_equal(take_records(false), 3);
	end();
	begin(ALPHA_DEVICE_EV5, 1);
	sampling.period = 65536;
	begin_truth(256);
	start("ev5::cycles:period=256");
	run_work(0, TEXT, true, 1000);
	assert_int_equal(take_records(false), 3);
	assert_int_equal(get_statistics().period, 256);
}

/* Samples that arrive during a pass wait for the next one; a stopped device gives all samples at
 * once. */
static void a_pass_ends_where_its_look_did(void **state)
{
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	begin_truth(65536);
	start("ev5::cycles");
	run_work(0, TEXT, true, 2 * 65536);
	assert_int_equal(pfm_next_record(session, &r), 1);
	run_work(0, TEXT + 16, true, 65536);
	assert_int_equal(pfm_next_record(session, &r), 1);
	assert_int_equal(r.body.sample.ip, TEXT);
	assert_int_equal(pfm_next_record(session, &r), 0);
	assert_int_equal(pfm_next_record(session, &r), 1);
	assert_int_equal(r.body.sample.ip, TEXT + 16);
	run_work(0, TEXT + 32, true, 65536);
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	assert_int_equal(pfm_next_record(session, &r), 1);
	assert_int_equal(r.body.sample.ip, TEXT + 32);
	assert_int_equal(pfm_next_record(session, &r), 0);
	assert_int_equal(pfm_next_record(session, &r), 0);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void begin_pairs(void)
{
	begin(ALPHA_DEVICE_EV67, 2);
	sampling.fields = PFM_SAMPLE_CPU;
	start("ev67::mispredict_per_ret");
}

static void pairs_of_profileme_are_records(void **state)
{
	const struct alpha_device_work w = { .pid = 1,
		                             .is_user = true,
		                             .pc = TEXT,
		                             .events = { (uint64_t)25 << 20,
		                                         (uint64_t)200 << 20 } };
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	begin_pairs();
	assert_int_equal(pfm_next_record(session, &r), 0);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(pfm_wait_session(session, 0), PFM_WAIT_TIMEOUT);
		alpha_device_do_work(model, 1, &w);
		assert_int_equal(pfm_wait_session(session, 0), PFM_WAIT_READY);
		assert_int_equal(pfm_next_record(session, &r), 1);
		assert_int_equal(r.type, PFM_RECORD_READ);
		assert_int_equal(r.event, 0);
		assert_int_equal(r.cpu, 1);
		assert_true(r.pid == UINT32_MAX &&
		            r.tid == UINT32_MAX); /* the thread of a pair is unknown */
		assert_int_equal(r.unparsed, 0);
		assert_true(r.body.read.n == 3 && r.body.read.words[0] == 2);
		assert_int_equal(r.body.read.words[1], 25 * i);
		assert_int_equal(r.body.read.words[2], 200 * i);
		assert_int_equal(pfm_next_record(session, &r), 0);
	}
	assert_int_equal(get_statistics().samples, 0);
}

/* The counts of pairs start at 0 with the session, on each CPU. */
static void pairs_begin_anew_with_the_session(void **state)
{
	const struct alpha_device_work w = { .pid = 1,
		                             .is_user = true,
		                             .pc = TEXT,
		                             .events = { (uint64_t)25 << 20,
		                                         (uint64_t)200 << 20 } };
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	begin_pairs();
	for (unsigned i = 0; i < 3; i++)
		alpha_device_do_work(model, i % 2, &w);
	assert_int_equal(pfm_reset_session(session), PFMLIB_SUCCESS);
	for (unsigned i = 1; i < 3; i++) {
		while (pfm_next_record(session, &r) == 1)
			assert_int_equal(i, 1); /* pairs counted before may be reported once */
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			alpha_device_do_work(model, cpu, &w);
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			assert_int_equal(pfm_next_record(session, &r), 1);
			assert_int_equal(r.cpu, cpu);
			assert_true(r.body.read.words[1] == 25 * i &&
			            r.body.read.words[2] == 200 * i);
		}
		assert_int_equal(pfm_next_record(session, &r), 0);
	}
}

/* ---- waiting, and what the device does not have ---------------------------------------------- */

static void waiting_ends_with_records_time_or_the_session(void **state)
{
	const void *bytes;
	size_t len;
	int fd;

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	begin_truth(65536);
	start("ev5::cycles");
	assert_int_equal(pfm_wait_session(session, 0), PFM_WAIT_TIMEOUT);
	assert_int_equal(pfm_wait_session(session, 15), PFM_WAIT_TIMEOUT);
	run_work(0, TEXT, true, 65536);
	assert_int_equal(pfm_wait_session(session, -1), PFM_WAIT_READY);
	assert_int_equal(pfm_session_fds(session, &fd, 1), 0);
	assert_int_equal(pfm_next_bytes(session, &bytes, &len, NULL), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(pfm_signal_session(session, 1), PFMLIB_ERR_NOTSUPP);
	assert_int_equal(take_records(false), 1);
	run_work(0, TEXT, true, 65536);
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	assert_int_equal(pfm_wait_session(session, -1), PFM_WAIT_READY);
	assert_int_equal(take_records(false), 1);
	assert_int_equal(pfm_wait_session(session, -1), PFM_WAIT_ENDED);
}

static void refuses_events_the_device_lacks(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		begin(ALPHA_DEVICE_EV5, 1);
		sampling.fields = i == 0   ? PFM_SAMPLE_IP | PFM_SAMPLE_TID
		                  : i == 1 ? PFM_SAMPLE_CHAIN
		                           : 0;
		sampling.records = i == 2 ? PFM_SIDEBAND_COMM : 0;
		assert_int_equal(open_text("ev5::cycles"), PFMLIB_ERR_NOTSUPP);
		assert_non_null(strstr(error.detail, i == 2 ? "records" : "IP, PERIOD and CPU"));
		end();
	}
}

/* ---- recordings ------------------------------------------------------------------------------ */

static char file[32];
static pfm_session_t *live;

static pfm_recording_t *open_recording(void)
{
	pfm_recording_t *r;
	int fd;

	strcpy(file, P_tmpdir "/perfmon-alphaXXXXXX");
	fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pfm_create_recording(&r, file, session, "a\nb", &error), PFMLIB_SUCCESS);
	return r;
}

/* From here on records are read from the recording; restore() goes back to the device. */
static void read_back(pfm_recording_t *r)
{
	assert_int_equal(pfm_stop_session(session), PFMLIB_SUCCESS);
	assert_int_equal(pfm_close_recording(r), PFMLIB_SUCCESS);
	live = session;
	assert_int_equal(pfm_open_recording(&session, file, &error), PFMLIB_SUCCESS);
	unlink(file);
}

static void restore(void)
{
	pfm_close_session(session);
	session = live;
}

/* The recording holds the records that the session would have handed out. */
static void a_recording_holds_every_record(void **state)
{
	(void)state;
	for (unsigned each = 0; each < 2; each++) {
		pfm_count_info_t info = PFM_INIT(info);
		pfm_recording_t *r;
		uint64_t size = 0, before = 0;

		begin(ALPHA_DEVICE_EV5, 1 + each);
		begin_truth(65536);
		sampling.fields = each ? PFM_SAMPLE_IP | PFM_SAMPLE_CPU : 0;
		start("ev5::cycles");
		r = open_recording();
		for (unsigned i = 0; i < 4; i++) {
			run_work(i % (1 + each), TEXT + 16 * i, true, 65536 * 200);
			assert_int_equal(pfm_write_records(r, &size), PFMLIB_SUCCESS);
			assert_true(size >= before + 200 * 24);
			before = size;
		}
		run_work(0, TEXT, true, 65536);
		assert_int_equal(get_statistics().samples, 800);
		read_back(r);
		assert_int_equal(pfm_describe_count(session, 0, &info), PFMLIB_SUCCESS);
		assert_string_equal(info.name, "ev5::cycles");
		assert_int_equal(pfm_session_size(session), 1);
		assert_int_equal(take_records(each), 801);
		expect_nothing_left();
		restore();
		assert_int_equal(get_statistics().samples, 801);
		end();
	}
}

/* Numbers of records around the size of the write buffer: each record is written once. */
static void a_recording_of_many_at_once(void **state)
{
	static const unsigned many[] = { 681, 682, 683, 684, 1366, 3000 };

	(void)state;
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		pfm_recording_t *r;

		begin(ALPHA_DEVICE_EV5, 1);
		begin_truth(65536);
		start("ev5::cycles");
		r = open_recording();
		for (unsigned k = 0; k < 4; k++)
			run_work(0, TEXT + 16 * k, true, 65536 * (uint64_t)(many[i] / 4));
		run_work(0, TEXT, true, 65536 * (uint64_t)(many[i] % 4));
		assert_int_equal(pfm_write_records(r, NULL), PFMLIB_SUCCESS);
		read_back(r);
		assert_int_equal(take_records(false), many[i]);
		expect_nothing_left();
		restore();
		end();
	}
}

static void a_recording_holds_pairs(void **state)
{
	struct alpha_device_work w = { .pid = 1,
		                       .is_user = true,
		                       .pc = TEXT,
		                       .events = { (uint64_t)25 << 20, (uint64_t)200 << 20 } };
	pfm_recording_t *recording;
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	begin(ALPHA_DEVICE_EV67, 1);
	start("ev67::mispredict_per_ret");
	recording = open_recording();
	for (unsigned i = 0; i < 2; i++) {
		alpha_device_do_work(model, 0, &w);
		assert_int_equal(pfm_write_records(recording, NULL), PFMLIB_SUCCESS);
	}
	read_back(recording);
	for (uint64_t i = 1; i <= 2; i++) {
		assert_int_equal(pfm_next_record(session, &r), 1);
		assert_int_equal(r.type, PFM_RECORD_READ);
		assert_int_equal(r.body.read.n, 3);
		assert_int_equal(r.body.read.words[1], 25 * i);
		assert_int_equal(r.body.read.words[2], 200 * i);
	}
	assert_int_equal(pfm_next_record(session, &r), 0);
	restore();
}

/* A device that fails while it is recorded ends the recording and is its reason; the records
 * written before are readable. */
static void a_recording_tells_of_a_device_that_fails(void **state)
{
	pfm_recording_t *r;

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	begin_truth(65536);
	start("ev5::cycles");
	r = open_recording();
	run_work(0, TEXT, true, 65536 * 3);
	assert_int_equal(pfm_write_records(r, NULL), PFMLIB_SUCCESS);
	run_work(0, TEXT, true, 65536);
	failing = 1;
	fail_at = 1;
	assert_int_equal(pfm_write_records(r, NULL), PFMLIB_ERR_SYS);
	assert_int_equal(pfm_session_errno(session), EFAULT);
	fail_at = 0;
	assert_int_equal(pfm_close_recording(r), PFMLIB_SUCCESS);
	unlink(file);
}

static void many_at_once_are_one_of_the_device(void **state)
{
	pfm_record_t r[4] = { PFM_INIT(r[0]) };

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	begin_truth(65536);
	start("ev5::cycles");
	run_work(0, TEXT, true, 65536 * 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pfm_next_records(session, r, 4), 1);
		assert_int_equal(r[0].body.sample.ip, TEXT);
	}
	assert_int_equal(pfm_next_records(session, r, 4), 0);
}

/* Events that cannot be sampled report the reason and give no records. */
static void events_that_cannot_be_sampled_say_why(void **state)
{
	static const struct {
		enum alpha_device_family family;
		const char *text, *why;
		uint64_t period, freq;
		unsigned precise;
		bool nowhere;
	} all[] = {
		{ ALPHA_DEVICE_EV5, "ev5::cycles", "not by frequency", 0, 1000, 0, false },
		{ ALPHA_DEVICE_EV5, "ev5::cycles", "after so many", 1000, 0, 0, false },
		{ ALPHA_DEVICE_EV4, "ev4::dcache", "after so many", 65536, 0, 0, false },
		{ ALPHA_DEVICE_EV6, "ev6::retinst:period=1000", "one sample per 1048576 events", 0,
		  0, 0, false },
		{ ALPHA_DEVICE_EV6, "ev6::retinst", "after so many", 1000, 0, 0, false },
		{ ALPHA_DEVICE_EV67, "ev67::mispredict_per_ret", "does not report the period", 4096,
		  0, 0, false },
		{ ALPHA_DEVICE_EV5, "ev5::cycles", "expected addresses", 0, 0, 0, true },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		pfm_count_info_t info = PFM_INIT(info);
		pfm_record_t r = PFM_INIT(r);

		begin(all[i].family, 1);
		sampling.period = all[i].period;
		sampling.freq = all[i].freq;
		if (all[i].nowhere)
			settings.pfp_alpha_n_ranges = 0;
		assert_int_equal(open_text(all[i].text), PFMLIB_SUCCESS);
		assert_int_equal(pfm_describe_count(session, 0, &info), PFMLIB_SUCCESS);
		if (!strstr(info.why, all[i].why))
			fail_msg("%s: %s", all[i].text, info.why);
		assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
		assert_int_equal(pfm_next_record(session, &r), 0);
		assert_int_equal(pfm_wait_session(session, 0), PFM_WAIT_ENDED);
		assert_int_equal(get_statistics().samples, 0);
		assert_int_equal(get_statistics().quality, PFM_QUALITY_NOT_SUPPORTED);
		end();
	}
}

static void one_event_is_sampled_at_a_time(void **state)
{
	static const char *const texts[] = { "ev5::cycles", "ev5::loads" };
	pfm_count_info_t info = PFM_INIT(info);

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	assert_int_equal(open_text("ev5::cycles"), PFMLIB_SUCCESS);
	pfm_close_session(session);
	assert_int_equal(pfm_open_session(&session, ctx, &options, texts, 2, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_describe_count(session, 0, &info), PFMLIB_SUCCESS);
	assert_string_equal(info.why, "");
	assert_int_equal(pfm_describe_count(session, 1, &info), PFMLIB_SUCCESS);
	assert_non_null(strstr(info.why, "one event is sampled at a time"));
}

/* Failed requests are reported, and the samples found before them are kept. */
static void reports_failed_requests(void **state)
{
	static const uint32_t requests[] = { PCNTGETRSIZE, PCNT5GETCNT, 1 };
	pfm_record_t r = PFM_INIT(r);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned at = 1; at < 3; at++) {
			begin(ALPHA_DEVICE_EV5, 1);
			begin_truth(65536);
			failing = requests[i];
			fail_at = at;
			if (i == 0) {
				assert_int_equal(open_text("ev5::cycles"),
				                 at == 1 ? PFMLIB_ERR_SYS : PFMLIB_SUCCESS);
				assert_true(at == 2 || error.sys_errno == EIO);
			} else {
				start("ev5::cycles");
				run_work(0, TEXT, true, 65536 * 3);
				assert_int_equal(pfm_next_record(session, &r),
				                 at == 1 || i == 2 ? PFMLIB_ERR_SYS : 1);
				assert_true(pfm_session_errno(session) == (at == 2 && i == 1 ? 0
				                                           : i == 2 ? EFAULT
				                                                    : EIO));
				fail_at = 0;
				run_work(0, TEXT, true, 65536);
				assert_int_equal(take_records(false) + (at == 2 && i == 1) +
				                         take_records(false),
				                 4);
			}
			end();
		}
}

/* The model inside the process invents a program with the events, whose profile has a known
 * shape. */
static void the_model_has_a_program_to_profile(void **state)
{
	static const char *const texts[] = { "ev5::cycles" };
	pfm_record_t r = PFM_INIT(r);
	unsigned in[4] = { 0 }, n = 0, rounds = 0, pieces = 0;
	uint64_t seen[4] = { 0 }; /* the 64 pieces of each part that were seen */

	(void)state;
	begin(ALPHA_DEVICE_EV5, 1);
	assert_int_equal(alpha_emulator_open("ev5", 1, 0, 0, &emulator), 0);
	device = (pfm_alpha_session_t){ .size = sizeof(device),
		                        .emulator = alpha_emulator_get_device(emulator) };
	assert_int_equal(pfm_open_session(&session, NULL, &options, texts, 1, &error),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_start_session(session), PFMLIB_SUCCESS);
	for (; n < 400 && rounds < 1000; rounds++) {
		assert_int_equal(pfm_wait_session(session, 1000), PFM_WAIT_READY);
		while (pfm_next_record(session, &r) == 1) {
			assert_in_range(r.body.sample.ip, ALPHA_DEVICE_TEXT,
			                ALPHA_DEVICE_TEXT + ALPHA_DEVICE_TEXT_SIZE - 1);
			in[(r.body.sample.ip - ALPHA_DEVICE_TEXT) / (ALPHA_DEVICE_TEXT_SIZE / 4)]++;
			seen[(r.body.sample.ip - ALPHA_DEVICE_TEXT) /
			     (ALPHA_DEVICE_TEXT_SIZE / 4)] |=
				UINT64_C(1) << (r.body.sample.ip - ALPHA_DEVICE_TEXT) /
						       (ALPHA_DEVICE_TEXT_SIZE / 256) % 64;
			n++;
		}
	}
	assert_true(n >= 400);
	/* The parts have a half, a quarter and two eighths of the samples, within the standard
	 * error, spread over many pieces of each part. */
	assert_in_range(in[0], n * 0.4, n * 0.6);
	assert_in_range(in[1], n * 0.16, n * 0.34);
	assert_in_range(in[2], n * 0.07, n * 0.18);
	assert_in_range(in[3], n * 0.07, n * 0.18);
	for (unsigned i = 0; i < 4; i++)
		pieces += (unsigned)__builtin_popcountll(seen[i]);
	assert_true(pieces > 100);
}

int main(void)
{
#define ROW(NAME) cmocka_unit_test_teardown(NAME, tear_down)
	const struct CMUnitTest tests[] = {
		ROW(every_interrupt_in_the_range_is_a_record),
		ROW(distinguishes_each_processor),
		ROW(strides_say_how_near_an_address_is),
		ROW(profiles_the_kernel_on_request),
		ROW(the_period_is_the_text_s_or_the_session_s),
		ROW(a_pass_ends_where_its_look_did),
		ROW(pairs_of_profileme_are_records),
		ROW(pairs_begin_anew_with_the_session),
		ROW(waiting_ends_with_records_time_or_the_session),
		ROW(refuses_events_the_device_lacks),
		ROW(a_recording_holds_every_record),
		ROW(a_recording_of_many_at_once),
		ROW(a_recording_holds_pairs),
		ROW(a_recording_tells_of_a_device_that_fails),
		ROW(many_at_once_are_one_of_the_device),
		ROW(events_that_cannot_be_sampled_say_why),
		ROW(one_event_is_sampled_at_a_time),
		ROW(reports_failed_requests),
		ROW(the_model_has_a_program_to_profile),
	};

	return cmocka_run_group_tests_name("pfm_samples", tests, NULL, NULL);
}
