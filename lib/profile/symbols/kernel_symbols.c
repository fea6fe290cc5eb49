/* SPDX-License-Identifier: MIT */
#include "profile/symbols/kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/messages.h"
#include "profile/regular_file.h"
#include "profile/symbols/symbols.h"

void kernel_symbols_expect_symbol(struct kernel_symbols *k, const char *name, uint64_t address)
{
	snprintf(k->recorded.symbol, sizeof(k->recorded.symbol), "%s", name);
	k->recorded.symbol_at = address;
}

void kernel_symbols_set_release(struct kernel_symbols *k, const char *release,
                                struct symbol_sources *sources)
{
	snprintf(k->recorded.release, sizeof(k->recorded.release), "%s", release);
	k->sources = sources;
}

/* The function in a line of /proc/kallsyms: address, type, name. NULL if it is another symbol; all
 * addresses are zero for users without permission. */
static char *parse_line(char *line, uint64_t *start)
{
	char *rest, *name;

	*start = strtoull(line, &rest, 16);
	if (!*start || strlen(rest) < 4 || !strchr("tTwW", rest[1]))
		return NULL;
	name = rest + 3;
	name[strcspn(name, "\t\n ")] = '\0';
	return name;
}

/* Several ABIs can share the function of a system call; the name of the native ABI is used. */
static bool is_name_of_other_abi(const char *name)
{
	return strncmp(name, "__ia32_", strlen("__ia32_")) == 0;
}

static bool add_function(struct kernel_symbols *k, const char *name, uint64_t start)
{
	char *copy = strdup(name);
	const struct symbol s = { .start = start,
		                  .section_rest = UINT64_MAX,
		                  .rank = !is_name_of_other_abi(name),
		                  .name = copy,
		                  .demangled = copy };

	if (copy && symbol_table_add(&k->table, &s))
		return true;
	free(copy);
	return false;
}

/* The list that was stored beside the recording, if it belongs to root or to the owner of the
 * recording; else that of the running kernel. */
static FILE *open_kernel_list(const struct kernel_symbols *k)
{
	const struct symbol_sources *s = k->sources;
	char path[4096] = "";
	struct stat st;
	FILE *f = NULL;
	int fd = -1;

	if (s && s->recording_store)
		snprintf(path, sizeof(path), "%s/" KERNEL_LIST_NAME, s->recording_store);
	if (*path)
		fd = open_regular_file(path, &st);
	if (fd >= 0 && (st.st_uid == 0 || st.st_uid == s->trust.recorder))
		f = fdopen(fd, "r");
	if (fd >= 0 && !f)
		close(fd);
	return f ? f : fopen("/proc/kallsyms", "re");
}

static void load_kernel_symbols(struct kernel_symbols *k)
{
	bool is_another = false, is_starved = false;
	FILE *f = open_kernel_list(k);
	size_t size = 0;
	char *line = NULL;

	errno = 0;
	while (f && !is_starved && getline(&line, &size, f) > 0) {
		uint64_t start;
		const char *name = parse_line(line, &start);

		if (!name)
			continue;
		is_another |=
			strcmp(name, k->recorded.symbol) == 0 && start != k->recorded.symbol_at;
		is_starved = !add_function(k, name, start);
	}
	is_starved |= errno == ENOMEM;
	free(line);
	if (f)
		fclose(f);
	if (is_starved)
		report_missing_names(k->messages);
	if (is_another || is_starved)
		symbol_table_clear(&k->table);
	symbol_table_sort(&k->table);
	if (!k->table.n && k->sources)
		k->has_file = vmlinux_read(&k->file, &k->recorded, k->sources);
	if (is_another && !k->has_file)
		show_profile_message(k->messages,
		                     "functions of the kernel are not named: the recording is of "
		                     "another kernel, or of an earlier boot");
}

const char *kernel_symbols_find(struct kernel_symbols *k, uint64_t address)
{
	const struct symbol *s;

	if (!k->is_loaded)
		load_kernel_symbols(k);
	k->is_loaded = true;
	if (k->has_file)
		return vmlinux_find_symbol(&k->file, address);
	s = symbol_table_find(&k->table, address);
	return s ? s->name : NULL;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	symbol_table_free(&k->table);
	vmlinux_free(&k->file);
}
