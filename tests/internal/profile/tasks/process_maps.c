/* SPDX-License-Identifier: MIT */
#include "profile/tasks/process_maps.h"
#include <unistd.h>
#include "own_code.h"
#include "units.h"

static __attribute__((noinline)) int function_to_find(int n)
{
	return n + 1;
}

struct found {
	uint64_t address, offset;
	char name[4096];
	unsigned n;
};

static void look_at_mapping(void *arg, const struct process_mapping *m)
{
	struct found *f = arg;

	if (f->address < m->start || f->address >= m->end)
		return;
	f->offset = f->address - m->start + m->offset;
	snprintf(f->name, sizeof(f->name), "%s", m->name);
	f->n++;
}

static void the_mapping_of_a_function(void **state)
{
	struct own_code code = find_own_code((uint64_t)(uintptr_t)function_to_find);
	struct found f = { .address = code_address((uint64_t)(uintptr_t)function_to_find) };

	(void)state;
	read_process_maps((uint32_t)getpid(), look_at_mapping, &f);
	assert_int_equal(function_to_find(1), 2);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.name, code.path);
	assert_int_equal(f.offset, code.offset);
}

static void a_process_that_is_gone_has_no_mappings(void **state)
{
	struct found f = { .n = 0 };

	(void)state;
	read_process_maps(UINT32_MAX, look_at_mapping, &f);
	assert_int_equal(f.n, 0);
}

UNIT(profile_process_maps, cmocka_unit_test(the_mapping_of_a_function),
     cmocka_unit_test(a_process_that_is_gone_has_no_mappings));
