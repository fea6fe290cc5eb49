/* SPDX-License-Identifier: MIT */
/* Files and folders of sysfs while they are read: memory that is clean however it was used before,
 * names that are sorted and no more than asked for, paths that fit. */
#include "units.h"
#include <errno.h>
#include <stddef.h>
#include "fake_sys.h"
#include "machine/machine_internal.h"

static struct fake fake;
static struct memory_arena scrap;
static struct sysfs_reader *reading;

static int begin(void **state)
{
	(void)state;
	fake_begin(&fake);
	scrap = (struct memory_arena){ 0 };
	reading = calloc(1, sizeof(*reading));
	if (!reading)
		return -1;
	reading->sys = &fake.sys;
	reading->scratch_memory = &scrap;
	return 0;
}

static int end(void **state)
{
	(void)state;
	pfmi_machine_arena_free(&scrap);
	free(reading);
	fake_end(&fake);
	return 0;
}

/* Dirties bytes that malloc() may return again. */
static void soil_memory(void)
{
	void *old[8];

	for (size_t i = 0; i < COUNT(old); i++) {
		old[i] = malloc(12000);
		assert_non_null(old[i]);
		memset(old[i], 0xa5, 12000);
		__asm__ volatile("" ::"r"(old[i]) : "memory"); /* or the compiler omits the write */
	}
	for (size_t i = 0; i < COUNT(old); i++)
		free(old[i]);
}

/* Allocations of all sizes are zeroed, aligned and do not overlap. */
static void allocations_are_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = { 1,    15,   16,   17, 0,     3000, 4000,
		                        7999, 8000, 8001, 1,  20000, 16,   5 };
	uint8_t *at[COUNT(sizes)];

	(void)state;
	soil_memory();
	for (size_t i = 0; i < COUNT(sizes); i++) {
		at[i] = pfmi_machine_arena_alloc(&scrap, sizes[i]);
		assert_non_null(at[i]);
		assert_int_equal((uintptr_t)at[i] % _Alignof(max_align_t), 0);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(at[i][k], 0);
		memset(at[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(at[i][k], i + 1);
	assert_false(scrap.failed);
	pfmi_machine_arena_free(&scrap);
	assert_null(scrap.blocks);
	pfmi_machine_arena_free(&scrap);
	/* The arena is usable again after it was freed. */
	assert_non_null(pfmi_machine_arena_alloc(&scrap, 16));
}

/* One block serves many: as much as fits, to the last byte. */
static void a_block_is_used_up(void **state)
{
	const struct arena_block *first;

	(void)state;
	assert_non_null(pfmi_machine_arena_alloc(&scrap, 16));
	first = scrap.blocks;
	for (unsigned i = 1; i < 8000 / 16; i++)
		assert_non_null(pfmi_machine_arena_alloc(&scrap, 16));
	assert_ptr_equal(scrap.blocks, first);
	assert_non_null(pfmi_machine_arena_alloc(&scrap, 1));
	assert_ptr_not_equal(scrap.blocks, first);
}

/* After one failure no block is asked for; what a block still has may be taken. */
static void memory_that_failed_once(void **state)
{
	(void)state;
	scrap.failed = true;
	assert_null(pfmi_machine_arena_alloc(&scrap, 1));
	assert_string_equal(pfmi_machine_arena_copy_text(&scrap, "lost", 4), "");
	scrap.failed = false;
	assert_non_null(pfmi_machine_arena_alloc(&scrap, 1));
	scrap.failed = true;
	assert_string_equal(pfmi_machine_arena_copy_text(&scrap, "there is room", 5), "there");
	assert_string_equal(pfmi_machine_arena_copy_text(&scrap, "", 0), "");
	assert_null(pfmi_machine_arena_alloc(&scrap, 8000));
	assert_true(scrap.failed);
}

static void files_and_paths_that_do_not_fit_are_refused(void **state)
{
	static char text[SYSFS_TEXT_SIZE + 1], name[400];

	(void)state;
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/long", "shorter"); /* a folder is listed once */
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/events/cycles", "event=0x3c");
	assert_true(pfmi_machine_read_sysfs_file(reading, "cpu", "events/", "cycles"));
	assert_string_equal(reading->text, "event=0x3c");
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/type", "");
	assert_true(pfmi_machine_read_sysfs_file(reading, "cpu", "", "type"));
	assert_string_equal(reading->text, "");
	assert_false(pfmi_machine_read_sysfs_file(reading, "cpu", "events/", "type"));
	/* A page with its end: as many letters as sysfs gives. */
	memset(text, 'x', sizeof(text) - 1);
	text[SYSFS_TEXT_SIZE - 2] = '\0';
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/long", text);
	assert_true(pfmi_machine_read_sysfs_file(reading, "cpu", "", "long"));
	assert_string_equal(reading->text, text);
	text[SYSFS_TEXT_SIZE - 2] = 'x';
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/long", text);
	assert_false(pfmi_machine_read_sysfs_file(reading, "cpu", "", "long"));
	/* A path is read whole or not at all. */
	memset(name, 'n', 255);
	snprintf(text, sizeof(text), EVENT_SOURCE_DIR "/cpu/events/%s", name);
	fake_file(&fake, text, "here");
	assert_true(pfmi_machine_read_sysfs_file(reading, "cpu", "events/", name));
	memset(name, 'n', sizeof(name) - 1);
	fake.uses[FAKE_OPEN] = 0;
	assert_false(pfmi_machine_read_sysfs_file(reading, "cpu", "events/", name));
	assert_int_equal(fake.uses[FAKE_OPEN], 0);
	assert_int_equal(fake.n_open, 0);
}

static void put_events(unsigned n)
{
	char path[128];

	for (unsigned i = n; i-- > 0;) {
		snprintf(path, sizeof(path), EVENT_SOURCE_DIR "/cpu/events/e%04u", i);
		fake_file(&fake, path, "event=1");
	}
}

/* More names than the list begins with, again and again: each keeps its place. */
static void names_keep_their_places_as_the_list_grows(void **state)
{
	struct string_list s;
	char name[16];

	(void)state;
	put_events(120);
	for (unsigned max = 1; max < 130; max++) {
		s = pfmi_machine_list_sysfs_names(reading, "cpu", "events", max, 5);
		assert_int_equal(s.n, max < 120 ? max : 120);
		assert_true(s.capacity >= s.n);
		for (unsigned i = 0; i < s.n; i++) {
			snprintf(name, sizeof(name), "e%04u", i);
			assert_string_equal(s.items[i], name);
		}
	}
}

static void names_that_are_too_long(void **state)
{
	struct string_list s;

	(void)state;
	put_events(2);
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/events/e00011", "event=2");
	fake_file(&fake, EVENT_SOURCE_DIR "/cpu/events/x", "event=3");
	s = pfmi_machine_list_sysfs_names(reading, "cpu", "events", 100, 5);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.items[2], "x");
	s = pfmi_machine_list_sysfs_names(reading, "cpu", "events", 100, 6);
	assert_int_equal(s.n, 4);
	assert_string_equal(s.items[2], "e00011");
	/* Omitted names are not counted against the limit. */
	s = pfmi_machine_list_sysfs_names(reading, "cpu", "events", 3, 5);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.items[2], "x");
}

/* The folder of devices, of one of them, and one in that. */
static void folders_of_devices_are_listed(void **state)
{
	struct string_list s;

	(void)state;
	put_events(1);
	fake_file(&fake, EVENT_SOURCE_DIR "/uncore/type", "9");
	s = pfmi_machine_list_sysfs_names(reading, "", "", 10, 63);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.items[0], "cpu");
	assert_string_equal(s.items[1], "uncore");
	s = pfmi_machine_list_sysfs_names(reading, "uncore", "", 10, 63);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.items[0], "type");
	s = pfmi_machine_list_sysfs_names(reading, "uncore", "events", 10, 63);
	assert_int_equal(s.n, 0);
	fake.fail = FAKE_LIST;
	fake.fail_at = fake.uses[FAKE_LIST] + 1;
	fake.fail_errno = EACCES;
	s = pfmi_machine_list_sysfs_names(reading, "uncore", "", 10, 63);
	assert_int_equal(s.n, 0);
}

/* Without memory for more the list ends; the first names are whole. */
static void names_without_memory(void **state)
{
	struct string_list s;

	(void)state;
	put_events(40);
	assert_true(pfmi_machine_can_have_sysfs_file(
		reading, "cpu", "events")); /* what is in its folder is known */
	assert_non_null(pfmi_machine_arena_alloc(
		&scrap, 7700 - 32 * sizeof(void *))); /* what is left: a list of sixteen, not all of
	                                                 their names */
	scrap.failed = true;
	s = pfmi_machine_list_sysfs_names(reading, "cpu", "events", 100, 63);
	assert_int_equal(s.n, 16);
	assert_string_equal(s.items[9], "e0009");
	assert_string_equal(s.items[15], "");
}

UNIT(machine_sysfs_reader,
     cmocka_unit_test_setup_teardown(allocations_are_zeroed_aligned_and_apart, begin, end),
     cmocka_unit_test_setup_teardown(a_block_is_used_up, begin, end),
     cmocka_unit_test_setup_teardown(memory_that_failed_once, begin, end),
     cmocka_unit_test_setup_teardown(files_and_paths_that_do_not_fit_are_refused, begin, end),
     cmocka_unit_test_setup_teardown(names_keep_their_places_as_the_list_grows, begin, end),
     cmocka_unit_test_setup_teardown(names_that_are_too_long, begin, end),
     cmocka_unit_test_setup_teardown(folders_of_devices_are_listed, begin, end),
     cmocka_unit_test_setup_teardown(names_without_memory, begin, end));
