/* SPDX-License-Identifier: MIT */
/* Each allocation and each system call of a context, its images, its machine and its sessions fails
 * in turn, once or from then on. Every function returns the right error, nothing leaks, and objects
 * that are still open give full answers after the failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/alpha.h>
#include <perfmon/perf_attr.h>
#include <perfmon/pfmlib.h>
#include "dispatched_set.h"
#include "alpha/emulator.h"
#include "context/context.h"
#include "fake_sys.h"
#include "region/region.h"
#include "starve.h"

#define N_OF(A) (sizeof(A) / sizeof((A)[0]))

static struct fake fake;
static int n_pmus; /* of the machine, while nothing fails */
static char here[] = P_tmpdir "/perfmon-starve-XXXXXX", image[64];
static bool have_image;
static unsigned calls; /* how many the stretch made; for the log */

/* ---- system calls of images.c, outside the syscall table ------------------------------------- */

/* images.c opens, stats and maps files without the syscall table. It is compiled into this test,
 * with macros that make one of these calls fail, in place of the library's copy. */
enum { NO_CALL, CALL_OPEN, CALL_FSTAT, CALL_MMAP, CALL_SCANDIR, CALL_STAT, N_CALLS };
static unsigned broken_call, broken_at, uses[N_CALLS];
static int broken_errno, maps, descriptors;

static bool must_fail(unsigned call)
{
	uses[call]++;
	if (call != broken_call || uses[call] != broken_at)
		return false;
	errno = broken_errno;
	return true;
}

static int counted_open(int fd)
{
	descriptors += fd >= 0;
	return fd;
}

static void *counted_map(void *at)
{
	maps += at != MAP_FAILED;
	return at;
}

#define open(...)    (must_fail(CALL_OPEN) ? -1 : counted_open(open(__VA_ARGS__)))
#define close(FD)    (descriptors--, close(FD))
#define fstat(...)   (must_fail(CALL_FSTAT) ? -1 : fstat(__VA_ARGS__))
#define stat(...)    (must_fail(CALL_STAT) ? -1 : stat(__VA_ARGS__))
#define scandir(...) (must_fail(CALL_SCANDIR) ? -1 : scandir(__VA_ARGS__))
#define mmap(...)    (must_fail(CALL_MMAP) ? MAP_FAILED : counted_map(mmap(__VA_ARGS__)))
#define munmap(...)  (maps--, munmap(__VA_ARGS__))
#include "../lib/context/images.c"
#undef open
#undef close
#undef fstat
#undef stat
#undef scandir
#undef mmap
#undef munmap

/* ---- one life of a context ------------------------------------------------------------------- */

struct life {
	pfm_ctx_options_t options;
	pfm_ctx_t *ctx;
	unsigned refused; /* calls that failed with PFMLIB_ERR_NOMEM */
	uint64_t sum;     /* of all answers, while nothing was refused */
};

static void add_to_sum(struct life *l, uint64_t value)
{
	l->sum = (l->sum ^ value) * 0x100000001b3u;
}

/* Checks the result of a call that may fail only with PFMLIB_ERR_NOMEM. @why, unless NULL, must
 * have the same code. */
static bool went_well(struct life *l, const char *what, int rc, const pfm_error_t *why)
{
	if (rc >= 0) {
		add_to_sum(l, (uint64_t)rc);
		return true;
	}
	if (!starve_hit || rc != PFMLIB_ERR_NOMEM)
		fail_msg("%s: %d (%s), kind %s, %s", what, rc, pfm_result_text(rc),
		         why ? pfm_error_kind_name(why->kind) : "unknown",
		         starve_hit ? "an allocation had failed" : "nothing had failed");
	if (why && (why->code != PFMLIB_ERR_NOMEM || why->kind != PFM_KIND_SYSTEM))
		fail_msg("%s: no memory, but the error says %d, kind %s", what, why->code,
		         pfm_error_kind_name(why->kind));
	l->refused++;
	return false;
}

static void encode(struct life *l, const char *text)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);

	if (went_well(l, text, pfm_encode_event(l->ctx, text, 0, &e, &why), &why))
		for (unsigned i = 0; i < e.n_regs; i++)
			add_to_sum(l, e.regs[i].value);
}

/* An unknown name stays an error. Suggestions need no memory, or are missing. */
static void encode_nonsense(struct life *l)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	char names[4][96], sentence[256];
	int rc = pfm_encode_event(l->ctx, "coreduo::L2_LINES_INN", 0, &e, &why);

	if (rc != PFMLIB_ERR_NOMEM)
		assert_int_equal(rc, PFMLIB_ERR_NOTFOUND);
	pfm_explain_error(l->ctx, "coreduo::L2_LINES_INN", &why, sentence, sizeof(sentence));
	pfm_suggest_names(l->ctx, "coreduo::L2_LINES_INN", &why, names, 4);
}

static void open_life(struct life *l)
{
	pfm_error_t why = PFM_INIT(why);

	l->ctx = NULL;
	if (went_well(l, "pfm_open_context", pfm_open_context(&l->ctx, &l->options, &why), &why)) {
		assert_non_null(l->ctx);
		if (!(l->options.flags & PFM_CTX_NO_HOST))
			l->ctx->sys = fake.sys;
	} else {
		assert_null(l->ctx);
	}
}

static void ask_everything(struct life *l)
{
	static const char *const set[] = { "montecito::IA64_INST_RETIRED_THIS",
		                           "montecito::CPU_OP_CYCLES_ALL" };
	static struct dispatched_set out;
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	char buf[256];
	int n = pfm_count_pmus(l->ctx);

	went_well(l, "pfm_count_pmus", n, NULL);
	for (int i = 0; i < n; i++) {
		perfmon_pmu_info_t info = PFM_INIT(info);

		assert_int_equal(pfm_describe_pmu(l->ctx, i, &info), PFMLIB_SUCCESS);
		add_to_sum(l, info.n_events);
		add_to_sum(l, info.flags);
	}
	encode(l, "coreduo::L2_LINES_IN:BOTH_CORES");
	encode_nonsense(l);
	if (l->options.images)
		encode(l, "testpmu::LAST_ONE");
	if (!(l->options.flags & PFM_CTX_NO_HOST)) {
		went_well(l, "pfm_find_pmu", pfm_find_pmu(l->ctx, "uncore_imc"), NULL);
		encode(l, "cycles");
		encode(l, "r412e");
	}
	went_well(l, "pfm_dispatch_set", dispatch_set(l->ctx, set, 2, NULL, &out, &why), &why);
	went_well(l, "pfm_print_event",
	          pfm_print_event(l->ctx, set[0], PFM_DIALECT_LIBPFM, buf, sizeof(buf), &why),
	          &why);
}

static void count_something(struct life *l, unsigned flags, const char *cpus)
{
	static const char *const texts[] = { "cycles", "{instructions,branch-misses}:W",
		                             "page-faults" };
	pfm_session_options_t o = { .size = sizeof(o), .flags = flags, .pid = 0, .cpus = cpus };
	pfm_error_t why = PFM_INIT(why);
	pfm_session_t *s;
	unsigned n;

	if (l->options.flags & PFM_CTX_NO_HOST)
		return;
	if (!went_well(l, "pfm_open_session", pfm_open_session(&s, l->ctx, &o, texts, 3, &why),
	               &why)) {
		assert_null(s);
		return;
	}
	n = pfm_session_size(s);
	went_well(l, "pfm_start_session", pfm_start_session(s), NULL);
	went_well(l, "pfm_stop_session", pfm_stop_session(s), NULL);
	for (unsigned i = 0; i < n; i++) {
		pfm_count_t count = PFM_INIT(count);
		pfm_count_info_t info = PFM_INIT(info);

		if (went_well(l, "pfm_read_count", pfm_read_count(s, i, &count), NULL))
			add_to_sum(l, count.value);
		assert_int_equal(pfm_describe_count(s, i, &info), PFMLIB_SUCCESS);
		add_to_sum(l, (uint64_t)count.cause);
	}
	went_well(l, "pfm_reset_session", pfm_reset_session(s), NULL);
	pfm_close_session(s);
}

/* On the model of the Tru64 device, which needs memory as well, and has nothing to say but that a
 * request failed. */
static void count_on_a_device(struct life *l)
{
	static const char *const texts[] = { "ev5::cycles", "ev5::issues", "ev5::loads" };
	pfmlib_alpha_input_param_t settings = { .pfp_alpha_scope = PFM_ALPHA_SCOPE_SYSTEM,
		                                .pfp_alpha_open = PFM_ALPHA_OPEN_EACH };
	pfm_alpha_session_t device = { .size = sizeof(device), .model = &settings };
	pfm_session_options_t o = { .size = sizeof(o),
		                    .backend = "pfm_device",
		                    .backend_options = &device };
	pfm_error_t why = PFM_INIT(why);
	struct alpha_emulator *emulator = NULL;
	pfm_session_t *s;
	pfm_count_t count;
	bool ok;

	if (!went_well(l, "alpha_emulator_open",
	               alpha_emulator_open("ev5", 2, 0, 0, &emulator) ? PFMLIB_ERR_NOMEM : 0, NULL))
		return;
	device.emulator = alpha_emulator_get_device(emulator);
	if (!went_well(l, "pfm_open_session", pfm_open_session(&s, l->ctx, &o, texts, 3, &why),
	               &why)) {
		assert_null(s);
		alpha_emulator_close(emulator);
		return;
	}
	ok = pfm_start_session(s) == 0;
	ok &= pfm_stop_session(s) == 0;
	for (unsigned i = 0; i < 3; i++) {
		count = (pfm_count_t)PFM_INIT(count);
		ok &= pfm_read_count(s, i, &count) == 0 &&
		      (count.cause == PFM_CAUSE_NONE || count.cause == PFM_CAUSE_NO_TIME);
	}
	if (!ok && !starve_hit)
		fail_msg("the model of the device refuses something, and nothing had failed");
	l->refused += !ok;
	add_to_sum(l, ok);
	pfm_close_session(s);
	alpha_emulator_close(emulator);
}

static void use_library(struct life *l)
{
	l->sum = 1;
	l->refused = 0;
	fake.n_events = 0; /* what an event counts depends on its number */
	ask_everything(l);
	count_something(l, 0, NULL);
	count_something(l, 0, "0,1");
	count_something(l, PFM_SESSION_SYSTEM_WIDE | PFM_SESSION_PER_CPU, NULL);
	count_something(l, PFM_SESSION_DRY_RUN, NULL);
	count_on_a_device(l);
}

static void keeps_every_record(long before)
{
	assert_int_equal(fake.n_open, 0);
	assert_int_equal(fake.n_maps, 0);
	assert_int_equal(maps, 0);
	assert_int_equal(descriptors, 0);
	if (starve_live != before)
		fail_msg("%ld pieces of memory are not given back", starve_live - before);
}

/* The life of a context with @options, in which the @at-th allocation fails; false if there were
 * fewer. */
static bool live_starved(const pfm_ctx_options_t *options, uint64_t healthy, unsigned at, bool on)
{
	struct life l = { .options = *options };
	long before = starve_live;
	bool hit;

	starve_hit = false;
	starve_on = on;
	starve_at = at;
	open_life(&l);
	if (l.ctx)
		use_library(&l);
	starve_at = 0;
	hit = starve_hit;
	starve_hit = false;
	/* There is enough again: a context that was opened has lost nothing. */
	if (l.ctx) {
		use_library(&l);
		if (l.sum != healthy)
			fail_msg("after allocation %u failed the answers are others", at);
	}
	pfm_close_context(l.ctx);
	keeps_every_record(before);
	return hit;
}

static void every_allocation(const pfm_ctx_options_t *options)
{
	struct life l = { .options = *options };
	unsigned at;

#ifdef STARVE_NOT_HERE
	print_message("# SKIP a sanitizer's allocator does not fail\n");
	skip();
#endif
	open_life(&l);
	use_library(&l);
	pfm_close_context(l.ctx);
	for (at = 1; live_starved(options, l.sum, at, false); at++)
		;
	calls = at - 1;
	for (at = 1; live_starved(options, l.sum, at, true); at += 1 + at / 8)
		;
	print_message("# %u allocations\n", calls);
}

/* ---- allocations ----------------------------------------------------------------------------- */

static void contexts_of_what_is_built_in(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };

	(void)state;
	every_allocation(&o);
}

static void contexts_with_environment_options(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(o),
		                .flags = PFM_CTX_NO_IMAGES,
		                .pmu = "coreduo",
		                .cpuid = "GenuineIntel-6-97-2",
		                .sysfs_root = "/nowhere" };

	(void)state;
	o.flags |= PFM_CTX_NO_HOST;
	every_allocation(&o);
}

static void need_image(void)
{
	if (have_image)
		return;
	print_message("# SKIP no compiler of tables here\n");
	skip();
}

static void contexts_with_an_image(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST, .images = image };

	(void)state;
	need_image();
	every_allocation(&o);
}

static void contexts_with_folders_of_images(void **state)
{
	char path[256];
	pfm_ctx_options_t o = {
		.size = sizeof(o), .flags = PFM_CTX_NO_HOST, .images = path, .pmu = "testpmu"
	};

	(void)state;
	need_image();
	snprintf(path, sizeof(path), "/nowhere:%s::%s", here, image);
	every_allocation(&o);
}

static void contexts_of_a_machine_and_its_sessions(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(o),
		                .flags = PFM_CTX_NO_IMAGES,
		                .cpuid = "GenuineIntel-6-97-2" };

	(void)state;
	every_allocation(&o);
}

static void contexts_with_everything(void **state)
{
	pfm_ctx_options_t o = { .size = sizeof(o), .images = here, .cpuid = "GenuineIntel-6-97-2" };

	(void)state;
	need_image();
	every_allocation(&o);
}

/* Calls that never allocate. */
static void encoding_allocates_nothing(void **state)
{
	static const char *const set[] = { "coreduo::Instr_Ret", "coreduo::FP_Assist" };
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	struct life l = { .options = o };
	static pfmlib_output_param_t out;
	pfmlib_input_param_t in = { .pfp_event_count = 2, .pfp_dfl_plm = PFM_PLM3 };
	pfm_error_t why = PFM_INIT(why);
	char buf[512];

	(void)state;
	open_life(&l);
	pfm_count_pmus(l.ctx);
	assert_int_equal(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_event("CPU_OP_CYCLES_ALL", &in.pfp_events[0].event),
	                 PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_event("IA64_INST_RETIRED_THIS", &in.pfp_events[1].event),
	                 PFMLIB_SUCCESS);
	starve_hit = false;
	starve_on = true;
	starve_at = 1;
	encode(&l, "coreduo::L2_LINES_IN:BOTH_CORES:u:c=1");
	encode_nonsense(&l);
	for (int d = PFM_DIALECT_LIBPFM; d <= PFM_DIALECT_VENDOR; d++)
		assert_int_equal(
			pfm_print_event(l.ctx, set[0], (pfm_dialect_t)d, buf, sizeof(buf), &why),
			PFMLIB_SUCCESS);
	assert_int_equal(pfm_dispatch_events(&in, NULL, &out, NULL), PFMLIB_SUCCESS);
	assert_int_equal(pfm_decode_event(l.ctx, pfm_find_pmu(l.ctx, "coreduo"), "PERFEVTSEL0",
	                                  0x4300c0, 0, buf, sizeof(buf)),
	                 PFMLIB_SUCCESS);
	starve_at = 0;
	assert_false(starve_hit);
	pfm_close_context(l.ctx);
}

/* A set takes one block of memory, however many events and registers it has. */
static void a_set_is_one_allocation(void **state)
{
	static const char *const texts[] = { "coreduo::Instr_Ret", "coreduo::FP_Assist" };
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST | PFM_CTX_NO_IMAGES };
	struct life l = { .options = o };
	pfm_error_t why = PFM_INIT(why);
	const pfm_set_t *set;

	(void)state;
#ifdef STARVE_NOT_HERE
	print_message("# SKIP a sanitizer's allocator does not fail\n");
	skip();
#endif
	open_life(&l);
	starve_at = 1;
	assert_int_equal(pfm_dispatch_set(&set, l.ctx, texts, 2, NULL, &why), PFMLIB_ERR_NOMEM);
	assert_null(set);
	starve_hit = false;
	starve_at = 2;
	assert_int_equal(pfm_dispatch_set(&set, l.ctx, texts, 2, NULL, &why), PFMLIB_SUCCESS);
	starve_at = 0;
	assert_false(starve_hit);
	pfm_close_set(set);
	pfm_close_context(l.ctx);
}

/* Regions either have their event or do not start, whichever allocation fails. */
static void regions_with_their_event(void **state)
{
	pfm_error_t why = PFM_INIT(why);

	(void)state;
	for (unsigned i = 1; i == 1 || starve_hit; i++) {
		struct layout l = { 0 };
		int rc;

		starve_hit = false;
		starve_at = i;
		rc = pfmi_layout_plan(&l, "page-faults", false, &why);
		starve_at = 0;
		if (rc != PFMLIB_ERR_NOMEM && (rc || l.n_events != 1))
			fail_msg("allocation %u fails: expected 1 event or code %d, got %u events "
			         "and code %d",
			         i, PFMLIB_ERR_NOMEM, l.n_events, rc);
		pfmi_layout_free(&l);
	}
}

/* Copies for the caller: none, and what was there stays. */
static void failed_copies_leave_old_texts(void **state)
{
	struct perf_event_attr attr;
	char here_before[] = "x", *text = here_before;
	pfmlib_event_t event;
	long before;

	(void)state;
#ifdef STARVE_NOT_HERE
	skip();
#endif
	assert_int_equal(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	assert_int_equal(pfm_find_full_event("L3_INSERTS:M", &event), PFMLIB_SUCCESS);
	assert_int_equal(pfm_encode_perf_attr("software::page-faults", PFM_PLM3, &attr, NULL, NULL),
	                 PFMLIB_SUCCESS);
	before = starve_live;
	starve_hit = false;
	starve_on = true;
	starve_at = 1;
	assert_int_equal(pfm_get_event_description(event.event, &text), PFMLIB_ERR_NOMEM);
	assert_int_equal(pfm_get_event_mask_description(event.event, 0, &text), PFMLIB_ERR_NOMEM);
	assert_int_equal(
		pfm_encode_perf_attr("software::page-faults", PFM_PLM3, &attr, &text, NULL),
		PFMLIB_ERR_NOMEM);
	starve_at = 0;
	assert_ptr_equal(text, here_before);
	assert_int_equal(starve_live, before);
}

/* The first call in a process creates the default context, so each case needs a process of its own.
 * The @at-th allocation fails. Returns 0 if it was reached and every check passed, 1 if there were
 * fewer allocations, otherwise the number of the failed check. */
static int first_use(unsigned at)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	int rc;

	starve_hit = false;
	starve_on = false;
	starve_at = at;
	rc = at % 2 ? pfm_encode_event(NULL, "coreduo::Instr_Ret", 0, &e, &why) : pfm_initialize();
	starve_at = 0;
	if (!starve_hit)
		return 1;
	/* pfm_initialize() may also fail because the processor is not supported, and either call
	 * may succeed without an optional allocation. */
	if (at % 2 ? rc && (rc != PFMLIB_ERR_NOMEM || why.code != rc)
	           : rc != 0 && rc != PFMLIB_ERR_NOMEM && rc != PFMLIB_ERR_NOTSUPP)
		return 2;
	return pfm_encode_event(NULL, "coreduo::Instr_Ret", 0, &e, &why) ? 3 : 0;
}

static void the_default_context(void **state)
{
	unsigned at, ended = 0;

	(void)state;
#ifdef STARVE_NOT_HERE
	skip();
#endif
	for (at = 1; ended != 3 && at < 10000; at++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(first_use(at));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			fail_msg("allocation %u: status %#x", at, (unsigned)status);
		ended |= WEXITSTATUS(status) ? 1u << at % 2 : 0;
	}
	print_message("# %u allocations\n", at - 1);
	assert_true(at > 2);
}

/* Lack of memory at the first call gives an error; the next call reads the environment again. */
static int first_wish(unsigned at)
{
	pfm_encoding_t e = PFM_INIT(e), again = PFM_INIT(again);
	int rc;

	setenv("PERFMON_PMU", "coreduo", 1);
	setenv("PERFMON_CPUID", "GenuineIntel-6-97-2", 1);
	setenv("PERFMON_EVENTS", "/nowhere", 1);
	starve_hit = false;
	starve_on = false;
	starve_at = at;
	rc = pfm_encode_event(NULL, "Instr_Ret", 0, &e, NULL);
	starve_at = 0;
	if (!starve_hit)
		return 1;
	if (pfm_encode_event(NULL, "Instr_Ret", 0, &again, NULL))
		return 2;
	return rc || (e.pmu == again.pmu && e.regs[0].value == again.regs[0].value) ? 0 : 3;
}

static void the_environment_is_not_forgotten(void **state)
{
	bool ended = false;
	unsigned at;

	(void)state;
#ifdef STARVE_NOT_HERE
	skip();
#endif
	for (at = 1; !ended && at < 10000; at++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(first_wish(at));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			fail_msg("allocation %u: status %#x", at, (unsigned)status);
		ended = WEXITSTATUS(status) == 1;
	}
	assert_true(at > 4);
}

/* ---- system calls ---------------------------------------------------------------------------- */

static void count_pmus(void)
{
	pfm_ctx_options_t o = { .size = sizeof(o),
		                .flags = PFM_CTX_NO_IMAGES,
		                .cpuid = "GenuineIntel-6-97-2" };
	pfm_ctx_t *ctx;

	assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
	ctx->sys = fake.sys;
	n_pmus = pfm_count_pmus(ctx);
	assert_true(n_pmus > (int)table_count_builtins());
	pfm_close_context(ctx);
}

/* Without memory or descriptors (@want) the PMUs of the machine may be unknown. The count of PMUs
 * is then an error, not a smaller number. */
static void ask_of_the_machine(const pfm_ctx_t *ctx, bool want)
{
	pfm_encoding_t code = PFM_INIT(code);
	pfm_error_t why = PFM_INIT(why);
	int n = pfm_count_pmus(ctx),
	    rc = pfm_encode_event(ctx, "coreduo::Instr_Ret", 0, &code, &why);

	if (!want) {
		assert_true(n >= (int)table_count_builtins());
		assert_int_equal(rc, PFMLIB_SUCCESS);
	}
	assert_true(!want || n == n_pmus || n == PFMLIB_ERR_NOMEM || n == PFMLIB_ERR_SYS);
	assert_true(rc == PFMLIB_SUCCESS || ((rc == PFMLIB_ERR_NOMEM || rc == PFMLIB_ERR_SYS) &&
	                                     why.code == rc && why.detail));
}

/* One call to the machine fails. The library does not crash or leak, and the session reports the
 * failure. */
static void every_call_to_the_machine(void **state)
{
	static const int errors[] = { EIO, ENOMEM, EMFILE, EACCES, EINTR };
	static const enum fake_call kinds[] = { FAKE_OPEN, FAKE_READ, FAKE_LIST,  FAKE_CLOSE,
		                                FAKE_MMAP, FAKE_PERF, FAKE_IOCTL, FAKE_READ_PERF };
	static const char *const texts[] = { "cycles", "{instructions,branch-misses}:W",
		                             "page-faults" };
	unsigned step = getenv("PERFMON_QUICK") ? 2 : 1, told = 0, all = 0;

	(void)state;
	count_pmus();
	for (unsigned e = 0; e < N_OF(errors); e += step)
		for (unsigned k = 0; k < N_OF(kinds); k++)
			for (unsigned at = 1;; at += getenv("PERFMON_QUICK") ? 1 + at / 4 : 1) {
				pfm_ctx_options_t o = { .size = sizeof(o),
					                .flags = PFM_CTX_NO_IMAGES,
					                .cpuid = "GenuineIntel-6-97-2" };
				pfm_error_t why = PFM_INIT(why);
				long before = starve_live;
				pfm_session_t *s = NULL;
				pfm_ctx_t *ctx;
				unsigned used;

				assert_int_equal(pfm_open_context(&ctx, &o, NULL), PFMLIB_SUCCESS);
				ctx->sys = fake.sys;
				fake.fail = kinds[k];
				fake.uses[kinds[k]] = 0;
				fake.fail_at = at;
				fake.fail_errno = errors[e];
				fake.fail_on = e % 2;
				ask_of_the_machine(ctx, errors[e] == ENOMEM || errors[e] == EMFILE);
				if (pfm_open_session(&s, ctx, NULL, texts, N_OF(texts), &why) ==
				    PFMLIB_SUCCESS) {
					pfm_count_t count = PFM_INIT(count);
					bool ok = pfm_start_session(s) == 0;

					ok &= pfm_stop_session(s) == 0;
					for (unsigned i = 0; i < pfm_session_size(s); i++)
						ok &= pfm_read_count(s, i, &count) == 0 &&
						      count.cause == PFM_CAUSE_NONE;
					told += !ok;
				} else {
					assert_null(s);
					assert_true(why.code < 0);
					told++;
				}
				all++;
				pfm_close_session(s);
				pfm_close_context(ctx);
				used = fake.uses[kinds[k]];
				fake.fail_at = 0;
				fake.n_events = 0;
				keeps_every_record(before);
				if (used < at)
					break;
			}
	print_message("# %u lives, %u of them told of the failure\n", all, told);
	assert_true(told > (step > 1 ? 5 : 20));
}

/* An image that the user names must exist, so a failing system call is an error. An image in a
 * folder is skipped instead, unless descriptors are missing. */
static void every_call_for_an_image(void **state)
{
	char path[256];
	pfm_ctx_options_t o = { .size = sizeof(o), .flags = PFM_CTX_NO_HOST, .images = path };
	unsigned refused = 0;

	(void)state;
	need_image();
	for (unsigned named = 0; named < 4; named++)
		for (unsigned call = CALL_OPEN; call < N_CALLS; call++)
			for (unsigned at = 1;; at++) {
				bool want =
					named > 1 && (call == CALL_OPEN || call == CALL_SCANDIR);
				pfm_error_t why = PFM_INIT(why);
				pfm_encoding_t e = PFM_INIT(e);
				long before = starve_live;
				pfm_ctx_t *ctx;
				int rc;

				snprintf(path, sizeof(path), "%s", named & 1 ? image : here);
				memset(uses, 0, sizeof(uses));
				broken_call = call;
				broken_at = at;
				broken_errno = call == CALL_MMAP ? ENOMEM : want ? EMFILE : EIO;
				rc = pfm_open_context(&ctx, &o, &why);
				if (rc) {
					assert_null(ctx);
					assert_true(rc == PFMLIB_ERR_IMAGE ||
					            rc == PFMLIB_ERR_NOMEM || rc == PFMLIB_ERR_SYS);
					assert_int_equal(why.code, rc);
					assert_true(why.detail && *why.detail);
					refused++;
				} else {
					rc = pfm_encode_event(ctx, "testpmu::LAST_ONE", 0, &e,
					                      &why);
					assert_true(rc == PFMLIB_SUCCESS ||
					            rc == PFMLIB_ERR_NOPMU ||
					            rc == PFMLIB_ERR_NOMEM ||
					            rc == PFMLIB_ERR_IMAGE || rc == PFMLIB_ERR_SYS);
					if (rc)
						assert_int_equal(why.code, rc);
					refused += rc != 0;
				}
				if (want && !(named & 1) && at == 1)
					assert_int_equal(rc, uses[call] ? PFMLIB_ERR_SYS
					                                : PFMLIB_SUCCESS);
				broken_call = NO_CALL;
				pfm_close_context(ctx);
				keeps_every_record(before);
				if (uses[call] < at)
					break;
				if (rc == 0 && at == 1 && named & 1 && call != CALL_SCANDIR &&
				    call != CALL_STAT)
					fail_msg("call %u failed and nobody said so", call);
			}
	assert_true(refused >= 6);
}

/* ---- main ------------------------------------------------------------------------------------ */

static int set_up(void **state)
{
	const char *tests = getenv("PERFMON_TESTS"), *pmuc = getenv("PERFMON_PMUC");
	char command[2048];

	(void)state;
	fake_recorded(&fake, "uncore");
	if (!mkdtemp(here))
		return -1;
	snprintf(image, sizeof(image), "%s/test.pmdb", here);
	snprintf(command, sizeof(command),
	         "python3 '%s' --byteorder %s --image '%s' '%s/pmu/testpmu.pmu'", pmuc ? pmuc : "",
	         __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little", image,
	         tests ? tests : "tests");
	have_image = pmuc && system(command) == 0;
	return 0;
}

static int clean_up(void **state)
{
	(void)state;
	unlink(image);
	rmdir(here);
	fake_end(&fake);
	return 0;
}

static int enough_again(void **state)
{
	(void)state;
	starve_at = 0;
	fake.fail_at = 0;
	return 0;
}

#define CASE(NAME) cmocka_unit_test_teardown(NAME, enough_again)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(contexts_of_what_is_built_in),
		CASE(contexts_with_environment_options),
		CASE(contexts_with_an_image),
		CASE(contexts_with_folders_of_images),
		CASE(contexts_of_a_machine_and_its_sessions),
		CASE(contexts_with_everything),
		CASE(the_default_context),
		CASE(the_environment_is_not_forgotten),
		CASE(failed_copies_leave_old_texts),
		CASE(encoding_allocates_nothing),
		CASE(a_set_is_one_allocation),
		CASE(regions_with_their_event),
		CASE(every_call_to_the_machine),
		CASE(every_call_for_an_image),
	};

	return cmocka_run_group_tests_name("starve", tests, set_up, clean_up);
}
