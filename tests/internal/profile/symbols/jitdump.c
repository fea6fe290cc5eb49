/* SPDX-License-Identifier: MIT */
#include "profile/symbols/jitdump.h"
#include "units.h"

static void names_of_dumps(void **state)
{
	(void)state;
	assert_true(is_jitdump_path("/tmp/jit-123.dump"));
	assert_true(is_jitdump_path("jit-1.dump"));
	assert_false(is_jitdump_path("/tmp/jit-.dump"));
	assert_false(is_jitdump_path("/tmp/jit-12.dump.old"));
	assert_false(is_jitdump_path("/tmp/jit-12.dump/file"));
}

/* Numbers of the format that tools/perf/Documentation/jitdump-specification.txt describes. */
static void put32(FILE *f, unsigned n, const uint32_t *numbers)
{
	fwrite(numbers, sizeof(*numbers), n, f);
}

static void put64(FILE *f, unsigned n, const uint64_t *numbers)
{
	fwrite(numbers, sizeof(*numbers), n, f);
}

static FILE *write_dump(void)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	put32(f, 6, (uint32_t[]){ 0x4a695444, 1, 40, 62, 0, 1 });
	put64(f, 2, (uint64_t[]){ 0, 0 });
	/* load: 8 bytes of name, 16 bytes of code at 0x5000 */
	put32(f, 2, (uint32_t[]){ 0, 2 * 8 + 5 * 8 + 8 + 16 });
	put64(f, 1, (uint64_t[]){ 0 });
	put32(f, 2, (uint32_t[]){ 1, 0 });
	put64(f, 4, (uint64_t[]){ 0x5000, 0x5000, 16, 1 });
	fwrite("compile\0", 8, 1, f);
	put64(f, 2, (uint64_t[]){ 0, 0 });
	/* moved to 0x7000 */
	put32(f, 2, (uint32_t[]){ 1, 2 * 8 + 6 * 8 });
	put64(f, 1, (uint64_t[]){ 0 });
	put32(f, 2, (uint32_t[]){ 1, 0 });
	put64(f, 5, (uint64_t[]){ 0x7000, 0x5000, 0x7000, 16, 1 });
	rewind(f);
	return f;
}

static void loaded_and_moved_code(void **state)
{
	struct symbol_table t = { .n = 0 };
	FILE *f = write_dump();

	(void)state;
	assert_true(jitdump_read(&t, f, 1, &(struct budget){ .limit = 4096 }));
	fclose(f);
	symbol_table_sort(&t);
	assert_string_equal(symbol_table_find(&t, 0x500f)->name, "compile");
	assert_string_equal(symbol_table_find(&t, 0x7000)->name, "compile");
	assert_null(symbol_table_find(&t, 0x7010));
	symbol_table_free(&t);
}

UNIT(profile_jitdump, cmocka_unit_test(names_of_dumps), cmocka_unit_test(loaded_and_moved_code));
