/* SPDX-License-Identifier: MIT */
/* The cases of all files of this folder, as one group. */
#include "units.h"
#ifdef UNITS_OF_LIBPFM4 /* a program of their own: names of libpfm.so.4 are names of the library   \
                           as well */
#include "unit_files_libpfm4.h"
#else
#include "unit_files.h" /* the build writes them: UNIT_FILES */
#endif

#define UNIT_FILE(NAME) extern const struct unit_cases unit_##NAME;
UNIT_FILES
#undef UNIT_FILE

#define UNIT_FILE(NAME) &unit_##NAME,
static const struct unit_cases *const files[] = { UNIT_FILES };
#undef UNIT_FILE

static const char *const names[] = {
#define UNIT_FILE(NAME) #NAME,
	UNIT_FILES
#undef UNIT_FILE
};

enum { MAX_CASES = 4096 };

/* The cases of the files that were named "MODULE_FILE", or of all files. */
static size_t add_cases(struct CMUnitTest *all, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNT(files); i++) {
		if (name && strcmp(name, names[i]) != 0)
			continue;
		if (files[i]->n > MAX_CASES - n)
			abort();
		memcpy(all + n, files[i]->cases, files[i]->n * sizeof(all[0]));
		n += files[i]->n;
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest all[MAX_CASES];
	size_t n = add_cases(all, argc > 1 ? argv[1] : NULL);

	if (!n) {
		fprintf(stderr, "usage: %s [MODULE_FILE], such as %s\n", argv[0], names[0]);
		return 2;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("units", all, n, NULL, NULL);
}
