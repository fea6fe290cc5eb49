/* SPDX-License-Identifier: MIT */
/* CPU lists and sets: grammar, sets against a naive model, and files as long as the kernel can
 * write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake_sys.h"
#include "machine/machine.h"

static void ranges_one_by_one(void **state)
{
	const char *p = "0,2-3,10";
	unsigned first, last;

	(void)state;
	assert_true(pfmi_machine_next_cpu_range(&p, &first, &last) && first == 0 && last == 0);
	assert_true(pfmi_machine_next_cpu_range(&p, &first, &last) && first == 2 && last == 3);
	assert_true(pfmi_machine_next_cpu_range(&p, &first, &last) && first == 10 && last == 10);
	assert_false(pfmi_machine_next_cpu_range(&p, &first, &last));
	assert_int_equal(*p, '\0');
}

static void refuses_bad_lists(void **state)
{
	static const char *const bad[] = { "0-", "-1", "3-1",         "0,,1",  "0 1",    ",",
		                           "0,", "a",  "99999999999", "65536", "0-65536" };
	struct cpu_mask set;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(pfmi_machine_parse_cpu_list(bad[i], &set), -EINVAL);
		assert_null(set.words);
	}
	assert_int_equal(pfmi_machine_parse_cpu_list("", &set), 0);
	assert_int_equal(set.n_words, 0);
	assert_int_equal(pfmi_machine_parse_cpu_list("65535", &set), 0);
	assert_true(pfmi_machine_has_cpu(&set, MAX_CPU_NUMBER - 1));
	pfmi_machine_free_cpus(&set);
	pfmi_machine_free_cpus(&set);
}

static void check_set(const char *list, const char *naive, unsigned n)
{
	struct cpu_mask set;
	unsigned next = 0, count = 0;

	assert_int_equal(pfmi_machine_parse_cpu_list(list, &set), 0);
	for (unsigned cpu = 0; cpu < n; cpu++) {
		if (pfmi_machine_has_cpu(&set, cpu) != naive[cpu])
			fail_msg("%s: CPU %u", list, cpu);
		if (!naive[cpu])
			continue;
		assert_true(pfmi_machine_next_cpu(&set, &next));
		assert_int_equal(next++, cpu);
		count++;
	}
	assert_false(pfmi_machine_next_cpu(&set, &next));
	assert_int_equal(pfmi_machine_count_cpus(&set), count);
	pfmi_machine_free_cpus(&set);
}

/* Ranges that overlap, in any order: each CPU is in the set once. */
static void sets_are_what_a_naive_one_is(void **state)
{
	(void)state;
	srand(7);
	for (unsigned round = 0; round < 2000; round++) {
		char list[256] = "", naive[300] = { 0 };
		size_t at = 0;

		for (int n = rand() % 8; n >= 0; n--) {
			unsigned first = (unsigned)rand() % 200,
				 last = first + (unsigned)(rand() % 3 ? rand() % 100 : 0);

			at += (size_t)snprintf(list + at, sizeof(list) - at,
			                       first == last ? "%s%u" : "%s%u-%u", at ? "," : "",
			                       first, last);
			memset(naive + first, 1, last - first + 1);
		}
		check_set(list, naive, sizeof(naive));
	}
}

/* "0,2,4 ..." up to below @n. */
static char *every_second(unsigned n)
{
	char *list = malloc(n * 4), *p = list;

	assert_non_null(list);
	for (unsigned cpu = 0; cpu < n; cpu += 2)
		p += sprintf(p, cpu ? ",%u" : "%u", cpu);
	return list;
}

static void files_of_any_length(void **state)
{
	char *list = every_second(8192), *read = NULL;
	struct cpu_mask set, copy;
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	fake_file(&fake, "/list", list);
	assert_int_equal(pfmi_machine_read_cpu_list(&fake.sys, "/list", &read), 0);
	assert_string_equal(read, list);
	free(read);
	free(list);
	fake_file(&fake, "/list", "5,0-3,2-4,9,007,5-5,63-64,65535");
	assert_int_equal(pfmi_machine_read_cpu_list(&fake.sys, "/list", &read), 0);
	assert_string_equal(read,
	                    "0-5,7,9,63-64,65535"); /* each CPU once, although some are repeated */
	free(read);
	read = NULL;
	assert_int_equal(pfmi_machine_read_cpu_list(&fake.sys, "/nothing", &read), -ENOENT);
	assert_null(read);
	fake_file(&fake, "/list", "0-");
	assert_int_equal(pfmi_machine_read_cpu_list(&fake.sys, "/list", &read), -EINVAL);
	assert_null(read);
	fake_file(&fake, "/list", "");
	assert_int_equal(pfmi_machine_read_cpu_list(&fake.sys, "/list", &read), 0);
	assert_string_equal(read, "");
	free(read);
	/* The file has one line, so one read is enough. */
	fake.uses[FAKE_READ] = 0;
	fake_file(&fake, "/list", "1,3-4");
	assert_int_equal(pfmi_machine_read_cpus(&fake.sys, "/list", &set), 0);
	assert_int_equal(fake.uses[FAKE_READ], 1);
	assert_int_equal(pfmi_machine_count_cpus(&set), 3);
	assert_int_equal(pfmi_machine_copy_cpus(&set, &copy), 0);
	assert_true(pfmi_machine_has_cpu(&copy, 1) && !pfmi_machine_has_cpu(&copy, 2) &&
	            pfmi_machine_has_cpu(&copy, 4));
	pfmi_machine_free_cpus(&set);
	pfmi_machine_free_cpus(&copy);
	fake_file(&fake, "/list", "1-");
	assert_int_equal(pfmi_machine_read_cpus(&fake.sys, "/list", &set), -EINVAL);
	assert_int_equal(set.n_words, 0);
	assert_int_equal(fake.n_open, 0);
	fake_end(&fake);
}

/* The kernel cuts a list that does not fit a page, and what is left looks like a list. Only the
 * newline is missing. */
static void a_list_the_kernel_has_cut(void **state)
{
	char *list = every_second(8192), *read = NULL;
	struct fake fake;

	(void)state;
	fake_begin(&fake);
	list[4095] = '\0';
	fake_file(&fake, "/list", list)->text[4095] = '\0';
	assert_int_equal(pfmi_machine_read_cpu_list(&fake.sys, "/list", &read), -EFBIG);
	assert_null(read);
	free(list);
	fake_end(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_one_by_one),
		cmocka_unit_test(refuses_bad_lists),
		cmocka_unit_test(sets_are_what_a_naive_one_is),
		cmocka_unit_test(files_of_any_length),
		cmocka_unit_test(a_list_the_kernel_has_cut),
	};

	return cmocka_run_group_tests_name("cpus", tests, NULL, NULL);
}
