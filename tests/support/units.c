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

int main(void)
{
	struct CMUnitTest all[1024];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(files); i++) {
		if (files[i]->n > COUNT(all) - n)
			abort();
		memcpy(all + n, files[i]->cases, files[i]->n * sizeof(all[0]));
		n += files[i]->n;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("units", all, n, NULL, NULL);
}
