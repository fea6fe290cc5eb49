/* SPDX-License-Identifier: MIT */
#include "profile/symbols/elf_file.h"
#include <stdlib.h>
#include <string.h>
#include "own_file.h"

static struct elf_file open_self(void)
{
	struct elf_file e = open_own_file();

	assert_true(elf_load_sections(&e));
	return e;
}

static void close_file(struct elf_file *e)
{
	elf_free_sections(e);
	close(e->fd);
}

static void sections_of_this_program(void **state)
{
	struct elf_file e = open_self();
	unsigned n_tables = 0;
	size_t size = 0;
	char *comment;

	(void)state;
	assert_int_equal(e.is_64bit, sizeof(void *) == 8);
	for (unsigned i = 0; i < e.n_sections; i++)
		n_tables += elf_get_section(&e, i).sh_type == SHT_DYNSYM;
	assert_int_equal(n_tables, 1);
	comment = elf_read_named_section(&e, ".comment", 4096, &size);
	assert_non_null(comment); /* compilers write their names there */
	assert_true(size > 1 && elf_measure_names(comment, size) == size);
	free(comment);
	assert_null(elf_read_named_section(&e, ".comment", 1, &size));
	assert_null(elf_read_named_section(&e, ".no-such-section", 4096, &size));
	close_file(&e);
}

static void outside_of_the_file(void **state)
{
	struct elf_file e = open_self();
	char byte;

	(void)state;
	assert_true(elf_read_at(&e, &byte, 1, e.size - 1));
	assert_false(elf_read_at(&e, &byte, 1, e.size));
	assert_false(elf_read_at(&e, &byte, 1, UINT64_MAX));
	assert_null(elf_read_bytes(&e, UINT64_MAX, 1));
	assert_null(elf_read_bytes(&e, 0, 0));
	assert_false(e.out_of_memory);
	close_file(&e);
}

static void names_without_an_end(void **state)
{
	(void)state;
	assert_int_equal(elf_measure_names("ab\0cd\0ef", 8), 6);
	assert_int_equal(elf_measure_names("abc", 3), 0);
	assert_int_equal(elf_measure_names("", 0), 0);
}

UNIT(profile_elf_file, cmocka_unit_test(sections_of_this_program),
     cmocka_unit_test(outside_of_the_file), cmocka_unit_test(names_without_an_end));
