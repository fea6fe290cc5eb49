/* SPDX-License-Identifier: MIT */
#include "profile/symbols/linkage_stubs.h"
#include <stdlib.h>
#include <string.h>
#include "own_file.h"

/* The texts of the dynamic symbols of @e; the caller frees them. */
static char *read_names(struct elf_file *e)
{
	for (unsigned i = 0; i < e->n_sections; i++) {
		Elf64_Shdr s = elf_get_section(e, i);

		if (s.sh_type == SHT_DYNSYM) {
			s = elf_get_section(e, s.sh_link);
			return elf_read_bytes(e, s.sh_size, s.sh_offset);
		}
	}
	return NULL;
}

/* This program calls free() of the C library. */
static void stubs_of_this_program(void **state)
{
	struct elf_file e = open_own_file();
	struct symbol_table t = { .n = 0 };
	unsigned n_free = 0;
	char *names;

	(void)state;
	assert_true(elf_load_sections(&e));
	names = read_names(&e);
	assert_non_null(names);
	linkage_stubs_add(&e, NULL, &t);
	assert_int_equal(t.n, 0);
	linkage_stubs_add(&e, names, &t);
	for (size_t i = 0; i < t.n; i++) {
		assert_true(t.list[i].is_linkage_stub && t.list[i].size >= 8);
		n_free += strcmp(t.list[i].name, "free") == 0;
	}
#if defined(__x86_64__) || defined(__aarch64__)
	assert_true(n_free >= 1);
#else
	assert_int_equal(n_free, 0);
#endif
	symbol_table_free(&t);
	free(names);
	elf_free_sections(&e);
	close(e.fd);
}

UNIT(profile_linkage_stubs, cmocka_unit_test(stubs_of_this_program));
