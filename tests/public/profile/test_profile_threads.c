/* SPDX-License-Identifier: MIT */
/* Profiles and symbols of several threads at once: each thread has its own, and all find the
 * same. */
#include <perfmon/profile.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include "own_code.h"
#include "tiny_recording.h"
#include "units.h"

enum { N_THREADS = 4, N_ADDRESSES = 40, STEP = 997 };

struct result {
	char names[N_ADDRESSES][256], sources[N_ADDRESSES][256];
	char folded[512];
	unsigned n_messages;
	int rc;
};

static struct own_code own;
static char cplusplus_library[4096]; /* "": it is not installed */
static struct tiny_recording recording;
static pthread_barrier_t barrier;

/* Finds a path of the C++ library, whose names are demangled. */
static void find_cplusplus_library(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
	struct link_map *map = NULL;

	if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
		snprintf(cplusplus_library, sizeof(cplusplus_library), "%s", map->l_name);
}

static void look_up_addresses(pfm_symbols_t *symbols, struct result *r)
{
	for (unsigned i = 0; i < N_ADDRESSES; i++) {
		bool is_own = i % 2 || !*cplusplus_library;
		pfm_symbol_t s = PFM_INIT(s);

		pfm_find_file_symbol(symbols, is_own ? own.path : cplusplus_library,
		                     is_own ? own.offset + i : 0xa0000 + (uint64_t)i * STEP, &s);
		snprintf(r->names[i], sizeof(r->names[i]), "%s", s.function);
		snprintf(r->sources[i], sizeof(r->sources[i]), "%s", s.source);
	}
}

static void fold_recording(struct result *r)
{
	const char *text = "";
	pfm_profile_t *p;

	r->rc = pfm_open_profile(&p, recording.path, NULL, NULL);
	if (!r->rc)
		r->rc = pfm_fold_profile(p, 0, &text, NULL);
	snprintf(r->folded, sizeof(r->folded), "%s", text);
	while (pfm_get_profile_message(p, r->n_messages))
		r->n_messages++;
	pfm_close_profile(p);
}

static void *run_thread(void *arg)
{
	struct result *r = arg;
	pfm_symbols_t *symbols;

	pthread_barrier_wait(&barrier);
	r->rc = pfm_open_symbols(&symbols, NULL);
	if (r->rc)
		return NULL;
	look_up_addresses(symbols, r);
	pfm_close_symbols(symbols);
	fold_recording(r);
	return NULL;
}

static void threads_find_the_same(void **state)
{
	static struct result results[N_THREADS];
	const uint64_t chain[] = { (uint64_t)PFM_CHAIN_USER, 0x1000, 0x2001 };
	pthread_t threads[N_THREADS];

	(void)state;
	own = find_own_code((uint64_t)(uintptr_t)threads_find_the_same);
	find_cplusplus_library();
	tiny_begin(&recording);
	tiny_add_comm(&recording, "prog");
	tiny_add_sample(&recording, 10, chain, COUNT(chain));
	tiny_end(&recording, NULL);
	pthread_barrier_init(&barrier, NULL, N_THREADS);
	for (unsigned i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_thread, &results[i]), 0);
	for (unsigned i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	tiny_remove(&recording);
	for (unsigned i = 0; i < N_THREADS; i++) {
		assert_int_equal(results[i].rc, PFMLIB_SUCCESS);
		assert_memory_equal(results[i].names, results[0].names, sizeof(results[0].names));
		assert_memory_equal(results[i].sources, results[0].sources,
		                    sizeof(results[0].sources));
		assert_string_equal(results[i].folded, results[0].folded);
		assert_int_equal(results[i].n_messages, results[0].n_messages);
	}
	assert_string_equal(results[0].names[1], "threads_find_the_same");
	assert_non_null(strstr(results[0].folded, "prog;0x2000;0x1000 1000\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(threads_find_the_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
