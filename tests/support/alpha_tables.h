/* SPDX-License-Identifier: MIT */
/* Tables that are built in by libpfm 3's type, and their rows by name. */
#ifndef PERFMON_TESTS_ALPHA_TABLES_H
#define PERFMON_TESTS_ALPHA_TABLES_H

#include <string.h>
#include "pmu/pmu.h"

static inline const struct table *table_of(int pmu)
{
	for (unsigned i = 0; i < table_count_builtins(); i++)
		if (table_get_builtin(i)->libpfm_type == pmu)
			return table_get_builtin(i);
	fail_msg("no table of type %d", pmu);
	return NULL;
}

static inline unsigned row_of(int pmu, const char *name)
{
	const struct table *t = table_of(pmu);

	for (unsigned i = 0; i < t->n_rows; i++)
		if (strcmp(table_get_row_name(t, i), name) == 0)
			return i;
	fail_msg("no event %s", name);
	return 0;
}

#endif
