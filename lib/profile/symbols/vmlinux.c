/* SPDX-License-Identifier: MIT */
/* A kernel is loaded at an address of its own in each boot: the address of one symbol in the
 * recording tells how far it was moved. */
#include "profile/symbols/vmlinux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/messages.h"
#include "profile/regular_file.h"

#define SYMBOLS_MAX ((uint64_t)1 << 28) /* bytes of a symbol table, and of its names */

/* The contents of section @i; the caller frees them. NULL if missing. */
static char *read_section(struct elf_file *e, unsigned i, uint64_t *size)
{
	Elf64_Shdr section = elf_get_section(e, i);

	*size = section.sh_size;
	return *size <= SYMBOLS_MAX ? elf_read_bytes(e, *size, section.sh_offset) : NULL;
}

/* Finds the symbol called @name, of any type, in section @i. */
static bool find_in_symbol_table(struct elf_file *e, unsigned i, const char *name, uint64_t *value)
{
	uint64_t size = 0, n_names = 0;
	unsigned names_section = elf_get_section(e, i).sh_link;
	char *symbols = read_section(e, i, &size), *names = NULL;
	bool is_found = false;

	if (symbols && names_section < e->n_sections)
		names = read_section(e, names_section, &n_names);
	n_names = names ? elf_measure_names(names, n_names) : 0;
	for (uint64_t at = 0; n_names && !is_found && size - at >= elf_symbol_size(e);
	     at += elf_symbol_size(e)) {
		Elf64_Sym s = elf_get_symbol(e, symbols + at);

		is_found = s.st_name < n_names && strcmp(names + s.st_name, name) == 0;
		*value = s.st_value;
	}
	free(symbols);
	free(names);
	return is_found;
}

static bool find_symbol_value(struct elf_file *e, const char *name, uint64_t *value)
{
	bool is_found = false;

	if (!elf_load_sections(e))
		return false;
	for (unsigned i = 0; i < e->n_sections && !is_found; i++)
		is_found = elf_get_section(e, i).sh_type == SHT_SYMTAB &&
		           find_in_symbol_table(e, i, name, value);
	elf_free_sections(e);
	return is_found;
}

static bool read_file(struct vmlinux *v, const char *path, const struct recorded_kernel *kernel,
                      struct symbol_sources *sources)
{
	struct stat st;
	int fd = trust_open(&sources->trust, path, &st, sources->messages);
	struct elf_file e;
	uint64_t value = 0;
	bool is_read;

	if (fd < 0)
		return false;
	e = elf_file_begin(fd, (uint64_t)st.st_size, path, sources->messages);
	is_read = elf_read_head(&e) && find_symbol_value(&e, kernel->symbol, &value);
	if (is_read) {
		file_symbols_read(&v->symbols, &e, path, sources);
		v->slide = kernel->symbol_at - value;
	}
	close(e.fd);
	if (e.out_of_memory)
		report_missing_names(sources->messages);
	return is_read;
}

bool vmlinux_read(struct vmlinux *v, const struct recorded_kernel *kernel,
                  struct symbol_sources *sources)
{
	static const char *const places[] = { "%s/boot/vmlinux-%s", "%s/lib/modules/%s/vmlinux" };
	const char *folders[] = { sources->debug_folder, "" };
	char path[4096];

	if (!*kernel->symbol || !*kernel->release || strchr(kernel->release, '/'))
		return false;
	for (size_t i = 0; i < 2 * sizeof(places) / sizeof(places[0]); i++) {
		int len = snprintf(path, sizeof(path), places[i % 2], folders[i / 2],
		                   kernel->release);

		if (len > 0 && (size_t)len < sizeof(path) && read_file(v, path, kernel, sources)) {
			show_profile_message(sources->messages,
			                     "functions of the kernel are those of %s", path);
			return true;
		}
	}
	return false;
}

const char *vmlinux_find_symbol(const struct vmlinux *v, uint64_t address)
{
	const struct symbol *s = symbol_table_find(&v->symbols.table, address - v->slide);

	return s ? s->name : NULL;
}

void vmlinux_free(struct vmlinux *v)
{
	file_symbols_free(&v->symbols);
}
