/* SPDX-License-Identifier: MIT */
/* Where the code of the test program is: in memory, in its file, and in the file's addresses. */
#ifndef PERFMON_TESTS_OWN_CODE_H
#define PERFMON_TESTS_OWN_CODE_H

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/symbols.h"

static const struct symbol_sources own_sources = { .debug_folder = DEBUG_FOLDER };

struct own_code {
	char path[4096];
	uint64_t address, offset; /* of the function, in the file's addresses and in the file */
};

struct own_search {
	uint64_t pc;
	struct own_code *code;
};

static inline int search_own_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own_search *s = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t at = info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || s->pc - info->dlpi_addr < at ||
		    s->pc - info->dlpi_addr >= at + info->dlpi_phdr[i].p_memsz)
			continue;
		s->code->address = s->pc - info->dlpi_addr;
		s->code->offset = s->code->address - at + info->dlpi_phdr[i].p_offset;
		return 1;
	}
	return 0;
}

/* Where the code of a function is: the lowest bit of @pc says Thumb on 32-bit Arm. */
static inline uint64_t code_address(uint64_t pc)
{
#ifdef __arm__
	pc &= ~UINT64_C(1);
#endif
	return pc;
}

/* @pc: of a function. */
static inline struct own_code find_own_code(uint64_t pc)
{
	struct own_code code = { .address = 0 };
	struct own_search search = { code_address(pc), &code };
	ssize_t n = readlink("/proc/self/exe", code.path, sizeof(code.path) - 1);

	code.path[n > 0 ? n : 0] = '\0';
	dl_iterate_phdr(search_own_object, &search);
	return code;
}

#endif
