/* SPDX-License-Identifier: MIT */
/* Any bytes as a compiler's dump. Names of the functions that it adds stay readable. */
#include <stdlib.h>
#include <string.h>
#include "profile/symbols/jitdump.h"
#include "time_bound.h"

int try_input(const uint8_t *data, size_t size)
{
	struct budget budget = { .subject = "functions", .unit = "bytes", .limit = 1 << 20 };
	struct symbol_table t = { .n = 0 };
	FILE *f = fmemopen((void *)(uintptr_t)data, size, "r");

	if (!f)
		return 0;
	if (!jitdump_read(&t, f, 0, &budget))
		abort();
	fclose(f);
	symbol_table_sort(&t);
	for (size_t i = 0; i < t.n; i++) {
		const struct symbol *s = symbol_table_find(&t, t.list[i].start);

		if (!s || !*s->name || (i && t.list[i].start <= t.list[i - 1].start))
			abort();
	}
	symbol_table_free(&t);
	return 0;
}
