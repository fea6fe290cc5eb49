/* SPDX-License-Identifier: MIT */
/* Chunks of sums: in a file or in memory, reused, and moved at a fork. */
#include "made_file.h"

static void slots_are_zero_and_apart(void **state)
{
	struct thread t = { .tid = 7 };
	char *slots[300];
	unsigned n_chunks = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT(slots); i++) {
		slots[i] = pfmi_storage_alloc_slot(&t, 400);
		assert_non_null(slots[i]);
		for (unsigned k = 0; k < 400; k++)
			assert_int_equal(slots[i][k], 0);
		memset(slots[i], (int)(i % 100 + 1), 400);
		pfmi_storage_commit_slot(&t);
	}
	for (unsigned i = 0; i < COUNT(slots); i++)
		assert_true(slots[i][0] == (char)(i % 100 + 1) && slots[i][399] == slots[i][0]);
	for (const struct region_chunk *c = t.chunks; c; c = c->own.next, n_chunks++)
		assert_true(c->kind == CHUNK_SUMS && c->tid == 7 && c->n && c->used <= c->bytes);
	assert_true(n_chunks > 1);
	pfmi_storage_forget_thread(&t);
}

static void released_chunks_serve_the_next_thread(void **state)
{
	struct thread t = { .tid = 7 }, next = { .tid = 8 };
	const struct region_chunk *first;
	char *slot;

	(void)state;
	memset(pfmi_storage_alloc_slot(&t, 64), 1, 64);
	pfmi_storage_commit_slot(&t);
	first = t.chunks;
	pfmi_storage_release(&t);
	assert_null(t.chunks);
	assert_int_equal(first->kind, CHUNK_FREE);
	slot = pfmi_storage_alloc_slot(&next, 64);
	assert_ptr_equal(next.chunks, first);
	assert_true(first->kind == CHUNK_SUMS && first->tid == 8 && first->n == 0 && !slot[0]);
	pfmi_storage_forget_thread(&next);
}

static void missed_calls_are_in_the_last_chunk_alone(void **state)
{
	struct thread t = { .tid = 7, .missed = 2, .unmatched = 3, .unmatched_region = 4 };

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_non_null(pfmi_storage_alloc_slot(&t, 400));
	assert_non_null(t.chunks->own.next);
	assert_true(t.chunks->missed == 2 && t.chunks->unmatched == 3 &&
	            t.chunks->unmatched_region == 4);
	assert_true(t.chunks->own.next->missed == 0 && t.chunks->own.next->unmatched == 0);
	pfmi_storage_forget_thread(&t);
}

/* After a fork the chunks are memory of the child at their addresses. */
static void detached_sums_leave_the_file_as_it_was(void **state)
{
	struct made_regions m;
	struct entry *e;
	struct region_chunk in_file;
	int fd;

	(void)state;
	make_file(&m);
	e = m.thread.entries;
	assert_true(m.thread.chunks->offset != 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, &in_file, sizeof(in_file), (off_t)m.thread.chunks->offset),
	                 sizeof(in_file));
	assert_int_equal(in_file.n, m.thread.chunks->n);
	assert_true(pfmi_storage_detach(&m.thread));
	assert_ptr_equal(e, m.thread.entries);
	assert_int_equal(e->begun, 2);
	assert_int_equal(m.thread.chunks->offset, 0);
	m.thread.chunks->tid = 99;
	assert_int_equal(pread(fd, &in_file, sizeof(in_file), REGION_FILE_PAGE), sizeof(in_file));
	assert_int_not_equal(in_file.tid, 99);
	close(fd);
	unmake_file(&m);
}

/* The sums of one thread move to another in steps, and the process may be killed at each. */
static void each_step_of_a_merge_counts_once(void **state)
{
	struct made_regions m;
	pfm_region_results_t *r;
	struct thread pool = { .tid = -1, .last = &pool.entries };
	struct entry *from, *sum;
	struct node *node;

	(void)state;
	make_file(&m);
	from = m.thread.entries;
	sum = pfmi_thread_find_or_make_entry(&pool, from->region, from->parent, &node);
	assert_non_null(sum);
	sum->threads = 0;
	for (unsigned step = 0; step < 3; step++) {
		if (step == 0)
			pfmi_storage_begin_merge(&pool, sum, &m.thread, from);
		else if (step == 1)
			pfmi_entry_merge(sum, from);
		else
			pfmi_storage_end_merge(from);
		r = load_file();
		assert_int_equal(made_count(r, made_row(r, "outer", "", 0), 0).inclusive, 1200);
		assert_int_equal(made_info(r, made_row(r, "outer", "", 0)).threads, 1);
		pfm_close_region_results(r);
	}
	pfmi_storage_forget_thread(&pool);
	pfmi_arena_free(&pool.arena);
	unmake_file(&m);
}

UNIT(region_storage, cmocka_unit_test(slots_are_zero_and_apart),
     cmocka_unit_test(released_chunks_serve_the_next_thread),
     cmocka_unit_test(missed_calls_are_in_the_last_chunk_alone),
     cmocka_unit_test(detached_sums_leave_the_file_as_it_was),
     cmocka_unit_test(each_step_of_a_merge_counts_once));
