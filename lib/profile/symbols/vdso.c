/* SPDX-License-Identifier: MIT */
/* Each process has a copy of [vdso], an ELF file in memory that ends with its table of sections. */
#include "profile/symbols/vdso.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_VDSO ((size_t)1 << 20)

/* How many bytes the file has; 0 if it is not one of 64 bits. */
static size_t get_size(const unsigned char *vdso)
{
	Elf64_Ehdr h;
	size_t size;

	memcpy(&h, vdso, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	size = (size_t)h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
	return h.e_shoff && size <= MAX_VDSO ? size : 0;
}

int make_vdso_file(char *path, size_t capacity)
{
	uintptr_t address = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const unsigned char *vdso = (const unsigned char *)address;
	size_t size = vdso ? get_size(vdso) : 0;
	int fd = size ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd < 0)
		return -1;
	if (write(fd, vdso, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	snprintf(path, capacity, "/proc/self/fd/%d", fd);
	return 0;
}
