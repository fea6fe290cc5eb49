/* SPDX-License-Identifier: MIT */
/* Threads: the first use of everything by several at once, contexts and images they share, the
 * libpfm 3 calls while another thread changes the processor, sessions side by side. Every thread's
 * answers are held against those of one thread alone; run under ThreadSanitizer and helgrind this
 * is also the test for races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfmon/perfmon.h>
#include <perfmon/pfmlib_montecito.h>

enum { THREADS = 4 };

/* Work of the threads of a test. A thread may not assert: it records its failure, and the test's
 * own thread asserts. */
struct work {
	pthread_barrier_t start;
	pfm_ctx_t *ctx;
	int pmu;
};

struct worker {
	struct work *work;
	unsigned number;
	uint64_t sum; /* of everything it was told */
	const char *wrong;
};

/* Sanitizers and valgrind (which runs the quick form) touch pages of their own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static bool is_quick(void)
{
	return getenv("PERFMON_QUICK") != NULL;
}

static void add_to_sum(struct worker *w, uint64_t value)
{
	w->sum = (w->sum ^ value) * 0x100000001b3u;
}

static void add_text(struct worker *w, const char *s)
{
	for (; *s; s++)
		add_to_sum(w, (unsigned char)*s);
}

/* Runs @body in THREADS threads that start together. */
static void run_together(struct work *work, void *(*body)(void *), struct worker workers[THREADS])
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&work->start, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .work = work, .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&work->start);
	for (unsigned i = 0; i < THREADS; i++)
		if (workers[i].wrong)
			fail_msg("thread %u: %s", i, workers[i].wrong);
}

/* All threads get the answers that one thread alone gets. */
static void all_agree(const struct worker workers[THREADS], uint64_t alone)
{
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(workers[i].sum, alone);
}

/* ---- first use ------------------------------------------------------------------------------- */

static int dispatch_one(int event, pfmlib_output_param_t *out)
{
	static const pfmlib_input_param_t none;
	pfmlib_input_param_t in = none;

	in.pfp_event_count = 1;
	in.pfp_events[0].event = (unsigned)event;
	in.pfp_dfl_plm = PFM_PLM3;
	memset(out, 0, sizeof(*out));
	return pfm_dispatch_events(&in, NULL, out, NULL);
}

/* One call of each kind comes first in some thread of some child. */
static void first_call(struct worker *w, unsigned kind)
{
	pfm_encoding_t e = PFM_INIT(e);
	pfm_error_t why = PFM_INIT(why);
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	char name[96];
	int rc;

	switch (kind % 8) {
	case 0:
		rc = pfm_initialize();
		if (rc != PFMLIB_SUCCESS && rc != PFMLIB_ERR_NOTSUPP)
			w->wrong = "pfm_initialize";
		break;
	case 1:
		if (pfm_force_pmu(PFMLIB_MONTECITO_PMU))
			w->wrong = "pfm_force_pmu";
		break;
	case 2:
		if (pfm_encode_event(NULL, "montecito::CPU_OP_CYCLES_ALL", 0, &e, &why))
			w->wrong = "pfm_encode_event with the default context";
		break;
	case 3:
		rc = dispatch_one(0, out);
		if (rc != PFMLIB_SUCCESS && rc != PFMLIB_ERR_NOINIT && rc != PFMLIB_ERR_INVAL &&
		    rc != PFMLIB_ERR_NOASSIGN)
			w->wrong = "pfm_dispatch_events";
		break;
	case 4:
		if (pfm_count_pmus(NULL) < 10)
			w->wrong = "pfm_count_pmus of the default context";
		break;
	case 5:
		if (pfm_find_pmu(NULL, "ev67") < 0)
			w->wrong = "pfm_find_pmu in the default context";
		break;
	case 6:
		if (!pfm_encode_event(NULL, "coreduo::nonsense", 0, &e, &why) ||
		    !pfm_suggest_names(NULL, "coreduo::unhalted_core_cycle", &why, &name, 1))
			w->wrong = "pfm_suggest_names in the default context";
		break;
	default:
		rc = pfm_encode_event(NULL, "cycles", 0, &e, &why);
		if (rc && why.kind == PFM_KIND_NONE)
			w->wrong = "cycles in the default context";
		break;
	}
	free(out);
}

static void *use_first(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&w->work->start);
	for (unsigned i = 0; i < 8 && !w->wrong; i++)
		first_call(w, w->number * 2 + i + (unsigned)w->work->pmu);
	return NULL;
}

/* A child for each try: a process uses something first only once. */
static void first_use_by_several_threads(void **state)
{
	unsigned tries = is_quick() ? 2 : 32;

	(void)state;
	for (unsigned i = 0; i < tries; i++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			struct work work = { .pmu = (int)i };
			struct worker workers[THREADS];
			pthread_t threads[THREADS];
			bool wrong = false;

			pthread_barrier_init(&work.start, NULL, THREADS);
			for (unsigned k = 0; k < THREADS; k++) {
				workers[k] = (struct worker){ .work = &work, .number = k };
				wrong |= pthread_create(&threads[k], NULL, use_first,
				                        &workers[k]) != 0;
			}
			for (unsigned k = 0; k < THREADS; k++) {
				pthread_join(threads[k], NULL);
				if (workers[k].wrong)
					fprintf(stderr, "# %s\n", workers[k].wrong);
				wrong |= workers[k].wrong != NULL;
			}
			/* Not through exit(): the reports and leak checks of the parent are the
			 * parent's. A checker of threads speaks up at once and gives its own status
			 * then. */
			_exit(wrong);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* Everything about the first events of every processor. */
static void visit_processors(struct worker *w, const pfm_ctx_t *ctx, unsigned most)
{
	int n = pfm_count_pmus(ctx);

	add_to_sum(w, (uint64_t)n);
	for (int pmu = 0; pmu < n; pmu++) {
		perfmon_pmu_info_t info = PFM_INIT(info);

		if (pfm_describe_pmu(ctx, pmu, &info)) {
			w->wrong = "pfm_describe_pmu";
			return;
		}
		add_text(w, info.name);
		for (unsigned e = 0; e < info.n_events && e < most; e++) {
			perfmon_event_info_t event = PFM_INIT(event);
			pfm_encoding_t code = PFM_INIT(code);
			char text[256], printed[512];

			if (pfm_describe_event(ctx, pmu, e, &event)) {
				w->wrong = "pfm_describe_event";
				return;
			}
			snprintf(text, sizeof(text), "%s::%s", info.name, event.name);
			add_to_sum(w, (uint64_t)pfm_encode_event(ctx, text, 0, &code, NULL));
			for (unsigned r = 0; r < code.n_regs; r++)
				add_to_sum(w, code.regs[r].value);
			if (!pfm_print_event(ctx, text, PFM_DIALECT_PERF, printed, sizeof(printed),
			                     NULL))
				add_text(w, printed);
		}
	}
}

static void *walk_shared(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&w->work->start);
	visit_processors(w, w->work->ctx, is_quick() ? 8 : 1000);
	return NULL;
}

/* The context is new for the threads: what it loads late, it loads while they all ask. */
static void a_context_is_shared(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	struct work work = { 0 };
	struct worker alone = { 0 }, workers[THREADS];

	(void)state;
	o.flags = PFM_CTX_NO_IMAGES;
	assert_int_equal(pfm_open_context(&work.ctx, &o, NULL), PFMLIB_SUCCESS);
	visit_processors(&alone, work.ctx, is_quick() ? 8 : 1000);
	assert_null(alone.wrong);
	pfm_close_context(work.ctx);
	for (unsigned round = 0; round < (is_quick() ? 1 : 4); round++) {
		assert_int_equal(pfm_open_context(&work.ctx, &o, NULL), PFMLIB_SUCCESS);
		run_together(&work, walk_shared, workers);
		all_agree(workers, alone.sum);
		pfm_close_context(work.ctx);
	}
}

static void *ask_by_name(void *arg)
{
	static const char *const texts[] = { "testpmu::L2_LINES_IN:BOTH_CORES", "testpmu::LAST_ONE",
		                             "testpmu::NO_SUCH_EVENT", "coreduo::Instr_Ret",
		                             "no_such_pmu::cycles" };
	struct worker *w = arg;

	pthread_barrier_wait(&w->work->start);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_error_t why = PFM_INIT(why);

		add_to_sum(w, (uint64_t)pfm_encode_event(w->work->ctx, texts[i], 0, &e, &why));
		add_to_sum(w, e.n_regs ? e.regs[0].value : 0);
		add_to_sum(w, (uint64_t)why.kind);
	}
	return NULL;
}

/* An image from a folder is checked when its first event is asked for: here, by all at once. */
static void an_image_is_first_used_by_several(void **state)
{
	const char *pmuc = getenv("PERFMON_PMUC"), *tests = getenv("PERFMON_TESTS");
	char folder[] = P_tmpdir "/perfmon-threads-XXXXXX", image[64], command[2048];
	pfm_ctx_options_t o = PFM_INIT(o);
	struct work work = { 0 };
	struct worker workers[THREADS];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(image, sizeof(image), "%s/test.pmdb", folder);
	snprintf(command, sizeof(command),
	         "python3 '%s' --byteorder %s --image '%s' '%s/pmu/testpmu.pmu'", pmuc ? pmuc : "",
	         __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little", image,
	         tests ? tests : "");
	if (!pmuc || !tests || system(command) != 0) {
		print_message("# SKIP no compiler of tables here\n");
		rmdir(folder);
		skip();
	}
	o.flags = PFM_CTX_NO_HOST;
	o.images = folder;
	for (unsigned round = 0; round < (is_quick() ? 2 : 16); round++) {
		assert_int_equal(pfm_open_context(&work.ctx, &o, NULL), PFMLIB_SUCCESS);
		run_together(&work, ask_by_name, workers);
		all_agree(workers, workers[0].sum);
		assert_true(pfm_find_pmu(work.ctx, "testpmu") >= 0);
		pfm_close_context(work.ctx);
	}
	unlink(image);
	rmdir(folder);
}

/* ---- fork() ---------------------------------------------------------------------------------- */

/* A new context each time, which loads everything at its first question: a name that no processor
 * has. */
static const char *load_it_all(void)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	pfm_encoding_t e = PFM_INIT(e);
	const char *wrong = NULL;
	pfm_ctx_t *ctx;

	o.flags = PFM_CTX_NO_IMAGES;
	if (pfm_open_context(&ctx, &o, NULL))
		return "pfm_open_context";
	if (pfm_encode_event(ctx, "no_such_event_of_any_processor", 0, &e, NULL) !=
	    PFMLIB_ERR_NOTFOUND)
		wrong = "a name that does not exist";
	if (pfm_encode_event(ctx, "ev67::cycles", 0, &e, NULL))
		wrong = "ev67::cycles";
	pfm_close_context(ctx);
	return wrong;
}

static atomic_bool forking;

static void *load_without_end(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&w->work->start);
	while (atomic_load(&forking) && !w->wrong)
		w->wrong = load_it_all();
	return NULL;
}

/* Calls that a program may make between fork() and exec(): the child would wait for ever for a
 * lock that another thread held at the fork. */
static int in_the_child(void)
{
	pfm_session_options_t o = PFM_INIT(o);
	static const char *const texts[] = { "page-faults:u" };
	pfm_encoding_t e = PFM_INIT(e);
	pfm_session_t *s;

	alarm(60);
	if (load_it_all() || pfm_encode_event(NULL, "montecito::CPU_OP_CYCLES_ALL", 0, &e, NULL))
		return 1;
	o.flags = PFM_SESSION_DRY_RUN;
	if (pfm_open_session(&s, NULL, &o, texts, 1, NULL) == PFMLIB_SUCCESS)
		pfm_close_session(s);
	return 0;
}

static void a_child_is_born_while_others_load(void **state)
{
	struct worker workers[2];
	struct work work = { 0 };
	pthread_t threads[2];
	int ends[2], status;
	bool bad = false;

	(void)state;
	atomic_store(&forking, true);
	pthread_barrier_init(&work.start, NULL, 3);
	for (unsigned i = 0; i < 2; i++) {
		workers[i] = (struct worker){ .work = &work, .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, load_without_end, &workers[i]),
		                 0);
	}
	pthread_barrier_wait(&work.start);
	assert_int_equal(pipe(ends), 0);
	for (unsigned i = 0; i < (is_quick() ? 5 : 100) && !bad; i++) {
		char said = 1;
		pid_t pid = fork();

		if (pid == 0) {
			said = (char)in_the_child();
			/* The child is killed, because at a normal exit valgrind would report the
			 * unfinished objects of the other threads as lost. */
			if (write(ends[1], &said, 1) == 1)
				kill(getpid(), SIGKILL);
			_exit(1);
		}
		bad = pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
		      WTERMSIG(status) != SIGKILL || read(ends[0], &said, 1) != 1 || said;
	}
	close(ends[0]);
	close(ends[1]);
	atomic_store(&forking, false);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&work.start);
	assert_false(bad);
	assert_null(workers[0].wrong);
	assert_null(workers[1].wrong);
}

/* ---- contexts of one's own ------------------------------------------------------------------- */

static void *open_and_close(void *arg)
{
	struct worker *w = arg;
	pfm_ctx_options_t o = PFM_INIT(o);

	o.flags = PFM_CTX_NO_IMAGES;
	o.pmu = w->number % 2 ? "montecito" : "ev67";
	pthread_barrier_wait(&w->work->start);
	for (unsigned i = 0; i < (is_quick() ? 2 : 20) && !w->wrong; i++) {
		pfm_encoding_t e = PFM_INIT(e);
		pfm_ctx_t *ctx;

		if (pfm_open_context(&ctx, &o, NULL)) {
			w->wrong = "pfm_open_context";
			return NULL;
		}
		if (pfm_encode_event(ctx, w->number % 2 ? "CPU_OP_CYCLES_ALL" : "cycles", 0, &e,
		                     NULL) ||
		    pfm_count_pmus(ctx) < 10)
			w->wrong = "an event of the processor that was wished for";
		pfm_close_context(ctx);
	}
	return NULL;
}

static void contexts_come_and_go(void **state)
{
	struct work work = { 0 };
	struct worker workers[THREADS];

	(void)state;
	run_together(&work, open_and_close, workers);
}

/* ---- the libpfm 3 interface ------------------------------------------------------------------ */

/* Names, codes and registers of the first events. */
static void walk_pfmlib(struct worker *w, unsigned most)
{
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));
	unsigned n = 0;

	pfm_get_num_events(&n);
	add_to_sum(w, n);
	for (unsigned i = 0; out && i < n && i < most; i++) {
		char name[128] = "";
		int code = 0;

		add_to_sum(w, (uint64_t)pfm_get_event_name(i, name, sizeof(name)));
		add_text(w, name);
		add_to_sum(w, (uint64_t)pfm_get_event_code(i, &code));
		add_to_sum(w, (uint64_t)code);
		add_to_sum(w, (uint64_t)dispatch_one((int)i, out));
		for (unsigned k = 0; k < out->pfp_pmc_count; k++)
			add_to_sum(w, out->pfp_pmcs[k].reg_value);
	}
	free(out);
}

static void *dispatch_shared(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&w->work->start);
	if (pfm_force_pmu(PFMLIB_MONTECITO_PMU))
		w->wrong = "pfm_force_pmu";
	walk_pfmlib(w, is_quick() ? 20 : 1000);
	return NULL;
}

static void events_are_dispatched_by_several(void **state)
{
	struct work work = { 0 };
	struct worker alone = { 0 }, workers[THREADS];

	(void)state;
	assert_int_equal(pfm_force_pmu(PFMLIB_MONTECITO_PMU), PFMLIB_SUCCESS);
	walk_pfmlib(&alone, is_quick() ? 20 : 1000);
	run_together(&work, dispatch_shared, workers);
	all_agree(workers, alone.sum);
}

static bool is_one_of(int type, const int *types, unsigned n)
{
	while (n-- > 0)
		if (type == types[n])
			return true;
	return false;
}

/* The first thread changes the processor all the time. The others cannot know whose events they
 * get; they get one's or the other's, whole. */
static void *change_processors(void *arg)
{
	static const int types[] = { PFMLIB_MONTECITO_PMU, PFMLIB_COREDUO_PMU,
		                     PFMLIB_ALPHA_EV67_PMU };
	struct worker *w = arg;
	pfmlib_output_param_t *out = calloc(1, sizeof(*out));

	pthread_barrier_wait(&w->work->start);
	for (unsigned i = 0; i < (is_quick() ? 50 : 2000) && !w->wrong; i++) {
		char name[128] = "";
		int rc, type = 0;

		if (w->number == 0 && pfm_force_pmu(types[i % 3]))
			w->wrong = "pfm_force_pmu";
		rc = pfm_get_event_name(i % 200, name, sizeof(name));
		if ((rc == PFMLIB_SUCCESS) != (name[0] != '\0'))
			w->wrong = "a name without success, or the other way round";
		if (pfm_get_pmu_type(&type) || !is_one_of(type, types, 3))
			w->wrong = "a processor nobody asked for";
		rc = dispatch_one((int)(i % 200), out);
		if (rc == PFMLIB_SUCCESS &&
		    (out->pfp_pmc_count == 0 || out->pfp_pmc_count > PFMLIB_MAX_PMCS))
			w->wrong = "success without registers";
	}
	free(out);
	return NULL;
}

static void the_processor_changes_meanwhile(void **state)
{
	struct work work = { 0 };
	struct worker workers[THREADS];

	(void)state;
	pfm_force_pmu(PFMLIB_COREDUO_PMU);
	run_together(&work, change_processors, workers);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void touch_pages(unsigned n)
{
	long page = sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, (size_t)(n * (unsigned long)page), PROT_READ | PROT_WRITE,
	                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (unsigned i = 0; i < n; i++)
		p[i * (unsigned long)page] = 1;
	munmap((void *)(uintptr_t)p, (size_t)(n * (unsigned long)page));
}

static bool is_slowed(void)
{
	return SANITIZED || is_quick();
}

/* Each thread counts its own faults: those it makes, not those of its neighbours, who make many
 * more or less. */
static void *count_own_faults(void *arg)
{
	static const char *const texts[] = { "page-faults", "task-clock" };
	struct worker *w = arg;
	unsigned pages = 64u << w->number;

	pthread_barrier_wait(&w->work->start);
	for (unsigned round = 0; round < (is_quick() ? 1 : 8) && !w->wrong; round++) {
		pfm_count_t counts[2] = { PFM_INIT(counts[0]), PFM_INIT(counts[1]) };
		pfm_session_t *s;

		if (pfm_open_session(&s, w->work->ctx, NULL, texts, 2, NULL)) {
			w->wrong = "pfm_open_session";
			return NULL;
		}
		if (pfm_start_session(s) < 0)
			w->wrong = "pfm_start_session";
		touch_pages(pages);
		if (pfm_stop_session(s) < 0 || pfm_read_session(s, counts, 2))
			w->wrong = "pfm_read_session";
		if (counts[0].quality == PFM_QUALITY_EXACT &&
		    (counts[0].value < pages || (!is_slowed() && counts[0].value > pages + 50)))
			w->wrong = "the faults are not this thread's";
		add_to_sum(w, (uint64_t)counts[0].quality);
		pfm_close_session(s);
	}
	return NULL;
}

static void sessions_run_side_by_side(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	struct work work = { 0 };
	struct worker workers[THREADS];

	(void)state;
	o.flags = PFM_CTX_NO_IMAGES;
	assert_int_equal(pfm_open_context(&work.ctx, &o, NULL), PFMLIB_SUCCESS);
	run_together(&work, count_own_faults, workers);
	all_agree(workers, workers[0].sum);
	pfm_close_context(work.ctx);
	work.ctx = NULL; /* the default one */
	run_together(&work, count_own_faults, workers);
}

static void *keep_context(void *arg)
{
	static const char *const texts[] = { "cycles" };
	struct worker *w = arg;
	pfm_session_options_t o = PFM_INIT(o);
	pfm_count_info_t info = PFM_INIT(info);
	pfm_session_t *s;

	o.flags = PFM_SESSION_DRY_RUN;
	if (pfm_open_session(&s, w->work->ctx, &o, texts, 1, NULL))
		w->wrong = "pfm_open_session";
	pthread_barrier_wait(&w->work->start);
	if (w->wrong)
		return NULL;
	/* Somebody closes the context now. */
	if (w->number == 0)
		pfm_close_context(w->work->ctx);
	if (pfm_describe_count(s, 0, &info) || strcmp(info.name, "cycles") != 0)
		w->wrong = "pfm_describe_count";
	pfm_close_session(s);
	return NULL;
}

static void the_last_session_takes_the_context_along(void **state)
{
	pfm_ctx_options_t o = PFM_INIT(o);
	struct worker workers[THREADS];

	(void)state;
	o.flags = PFM_CTX_NO_IMAGES;
	for (unsigned i = 0; i < (is_quick() ? 1 : 10); i++) {
		struct work work = { 0 };

		assert_int_equal(pfm_open_context(&work.ctx, &o, NULL), PFMLIB_SUCCESS);
		run_together(&work, keep_context, workers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			first_use_by_several_threads), /* before anything else has used anything */
		cmocka_unit_test(a_context_is_shared),
		cmocka_unit_test(an_image_is_first_used_by_several),
		cmocka_unit_test(a_child_is_born_while_others_load),
		cmocka_unit_test(contexts_come_and_go),
		cmocka_unit_test(events_are_dispatched_by_several),
		cmocka_unit_test(the_processor_changes_meanwhile),
		cmocka_unit_test(sessions_run_side_by_side),
		cmocka_unit_test(the_last_session_takes_the_context_along),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
