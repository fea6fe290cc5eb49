/* SPDX-License-Identifier: MIT */
/* Packed texts: threads that unpack them at the same time, processes that fork meanwhile, copies of
 * the image. tests/tables/test_packed_texts.py compares each text with its source. */
#include "units.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "table/table.h"

enum { N_THREADS = 4 };

extern char pfmi_text_memory[] __attribute__((visibility("hidden")));

static const struct packed_texts *get_packed_texts(void)
{
	return table_get_image_array(table_get_builtin_image(), ARRAY_PACKED_TEXTS);
}

/* Returns to the state at the start of a process: nothing is unpacked. */
static void forget_texts(void)
{
	const struct packed_texts *p = get_packed_texts();

	memset(pfmi_text_memory, 0,
	       8 * (size_t)p->n_symbols + ((p->n_blocks + 7u) & ~7u) + 256 +
	               (size_t)PACKED_BLOCK_SIZE * p->n_blocks);
}

static uint64_t add_text(uint64_t sum, const char *text)
{
	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
	return sum;
}

/* Sums up all texts of rows and unit masks, table by table from number @first on. */
static uint64_t sum_texts(unsigned first)
{
	unsigned n = table_count_builtins();
	uint64_t all = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct table *t = table_get_builtin((first + i) % n);
		uint64_t sum = 0;

		for (uint32_t row = 0; table_has_row(t, row); row++) {
			const struct row *r = table_get_row(t, row);

			sum = add_text(sum, table_get_description(t, r->desc));
			sum = add_text(sum, pfmi_table_get_row_text(t, row, KEY_METRIC));
		}
		for (uint32_t g = 0; g < t->n_groups; g++) {
			const struct umask_group *group = table_get_group(t, g);
			const struct named_value *w = table_named_values(t);

			for (unsigned k = 0; k < group->n_named_values; k++)
				sum = add_text(sum,
				               table_get_description(
						       t, w[group->first_named_value + k].desc));
		}
		all += sum;
	}
	return all;
}

struct worker {
	pthread_barrier_t *start;
	unsigned first_table;
	uint64_t sum;
};

static void *sum_texts_in_thread(void *at)
{
	struct worker *w = at;

	pthread_barrier_wait(w->start);
	w->sum = sum_texts(w->first_table);
	return NULL;
}

/* Each thread starts at another table, so that it finds blocks that others unpack or have unpacked.
 */
static void threads_read_equal_texts(void **state)
{
	uint64_t expected = sum_texts(0);

	(void)state;
	for (unsigned round = 0; round < 4; round++) {
		struct worker w[N_THREADS];
		pthread_t threads[N_THREADS];
		pthread_barrier_t start;

		forget_texts();
		pthread_barrier_init(&start, NULL, N_THREADS);
		for (unsigned i = 0; i < N_THREADS; i++) {
			w[i] = (struct worker){ &start, i * round * 37, 0 };
			assert_int_equal(
				pthread_create(&threads[i], NULL, sum_texts_in_thread, &w[i]), 0);
		}
		for (unsigned i = 0; i < N_THREADS; i++) {
			pthread_join(threads[i], NULL);
			assert_true(w[i].sum == expected);
		}
		pthread_barrier_destroy(&start);
	}
}

/* The child has complete blocks, and none that a thread of its parent was writing. */
static void child_reads_equal_texts(void **state)
{
	uint64_t expected = sum_texts(0);

	(void)state;
	for (unsigned round = 0; round < 16; round++) {
		pthread_barrier_t start;
		struct worker w = { &start, 0, 0 };
		pthread_t thread;
		int status = -1;
		pid_t child;

		forget_texts();
		pthread_barrier_init(&start, NULL, 2);
		assert_int_equal(pthread_create(&thread, NULL, sum_texts_in_thread, &w), 0);
		pthread_barrier_wait(&start);
		usleep(round * 150);
		child = fork();
		if (child == 0) {
			alarm(60);
			_exit(sum_texts(0) == expected ? 0 : 1);
		}
		assert_true(child > 0 && waitpid(child, &status, 0) == child);
		assert_int_equal(status, 0);
		pthread_join(thread, NULL);
		assert_true(w.sum == expected);
		pthread_barrier_destroy(&start);
	}
}

/* The address of a text never changes. */
static void texts_stay(void **state)
{
	const struct table *t = table_get_builtin(0);
	const char *first;

	(void)state;
	forget_texts();
	first = table_get_description(t, table_get_row(t, 0)->desc);
	sum_texts(0);
	assert_true(table_get_description(t, table_get_row(t, 0)->desc) == first);
}

/* A block begins with a text, and no text reaches its end. */
static void texts_are_within_blocks(void **state)
{
	const struct packed_texts *p = get_packed_texts();

	(void)state;
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const char *block = pfmi_table_unpack_text(i * PACKED_BLOCK_SIZE);

		assert_true(block[0] && !block[PACKED_BLOCK_SIZE - 1]);
	}
}

/* Packed texts exist in the library only, so other tables with packed texts are refused. */
static void other_texts_are_refused(void **state)
{
	const struct image *im = table_get_builtin_image();
	uint32_t identity = get_packed_texts()->identity,
		 size = get_packed_texts()->n_blocks * PACKED_BLOCK_SIZE;
	struct image *copy = malloc((size_t)im->size);
	struct table *t;
	const char *why;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, im, (size_t)im->size);
	t = (struct table *)(uintptr_t)table_get_image_table(copy, 0);
	assert_int_equal(t->n_packed, size);
	assert_true(pfmi_table_has_packed_texts(size, identity));
	assert_int_equal(pfmi_table_verify_image(copy, (size_t)im->size, VERIFY_HEAD, &why),
	                 PFMLIB_SUCCESS);
	t->packed_identity ^= 1;
	assert_int_equal(pfmi_table_verify_image(copy, (size_t)im->size, VERIFY_HEAD, &why),
	                 PFMLIB_ERR_IMAGE);
	assert_non_null(strstr(why, "packed for another build"));
	t->packed_identity ^= 1;
	t->n_packed += PACKED_BLOCK_SIZE;
	assert_int_equal(pfmi_table_verify(t, t->size, VERIFY_HEAD, &why), PFMLIB_ERR_IMAGE);
	/* Without packed texts, descriptions beyond the pool are refused. */
	t->n_packed = 0;
	assert_int_equal(pfmi_table_verify(t, t->size, VERIFY_ALL, &why), PFMLIB_ERR_IMAGE);
	free(copy);
}

UNIT(table_texts, cmocka_unit_test(threads_read_equal_texts),
     cmocka_unit_test(child_reads_equal_texts), cmocka_unit_test(texts_stay),
     cmocka_unit_test(texts_are_within_blocks), cmocka_unit_test(other_texts_are_refused));
