/* SPDX-License-Identifier: MIT */
#include "profile/kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profile/messages.h"

void kernel_symbols_expect(struct kernel_symbols *k, const char *name, uint64_t address)
{
	snprintf(k->expected, sizeof(k->expected), "%s", name);
	k->expected_at = address;
}

/* Lines of /proc/kallsyms: address, type, name. All addresses are zero for users without
 * permission. */
static void load_kernel(struct kernel_symbols *k)
{
	bool another = false, starved = false;
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t size = 0;
	char *line = NULL;

	errno = 0;
	while (f && !starved && getline(&line, &size, f) > 0) {
		char *rest, *name;
		uint64_t start = strtoull(line, &rest, 16);

		if (!start || strlen(rest) < 4 || !strchr("tTwW", rest[1]))
			continue;
		rest[3 + strcspn(rest + 3, "\t\n ")] = '\0';
		another |= strcmp(rest + 3, k->expected) == 0 && start != k->expected_at;
		name = strdup(rest + 3);
		starved = !name ||
		          !symbol_table_add(&k->table, &(struct symbol){ .start = start,
		                                                         .section_rest = UINT64_MAX,
		                                                         .name = name,
		                                                         .demangled = name });
		if (starved)
			free(name);
	}
	starved |= errno == ENOMEM;
	free(line);
	if (f)
		fclose(f);
	if (starved)
		report_missing_names();
	if (another)
		show_profile_message("functions of the kernel are not named: the recording is of "
		                     "another kernel, or of an earlier boot");
	if (another || starved)
		symbol_table_clear(&k->table);
	symbol_table_sort(&k->table);
}

const char *kernel_symbols_at(struct kernel_symbols *k, uint64_t address)
{
	const struct symbol *s;

	if (!k->is_loaded)
		load_kernel(k);
	k->is_loaded = true;
	s = symbol_table_find(&k->table, address);
	return s ? s->name : NULL;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	symbol_table_free(&k->table);
}
