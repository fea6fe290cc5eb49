/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The dynamic linker has no name for the program. */
static char program[PATH_MAX];

__attribute__((constructor)) static void read_program_path(void)
{
	const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[n > 0 ? n : 0] = '\0';
}

struct place {
	uintptr_t address;
	char name[PATH_MAX + 32];
};

static void write_name(struct place *p, const char *path, uint64_t offset)
{
	char absolute[PATH_MAX];

	if (!*path)
		path = program;
	else if (*path != '/' && realpath(path, absolute))
		path = absolute;
	snprintf(p->name, sizeof(p->name), "parallel %s+0x%" PRIx64, path, offset);
}

/* Nonzero if the file @info contains the place. */
static int name_in_file(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *p = data;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t at = p->address - info->dlpi_addr - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || at >= segment->p_filesz)
			continue;
		write_name(p, info->dlpi_name, segment->p_offset + at);
		return 1;
	}
	return 0;
}

pfm_region_t *find_region_of_place(const void *address)
{
	struct place p = { .address = (uintptr_t)address };

	if (!address || !dl_iterate_phdr(name_in_file, &p))
		return pfm_find_region("parallel");
	return pfm_find_region(p.name);
}
