/* SPDX-License-Identifier: MIT */
/* Programs as files: their architecture, and interpreters of scripts. */
#ifndef PFM_SIMULATE_PROGRAM_H
#define PFM_SIMULATE_PROGRAM_H

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAM_HEAD_SIZE = 256 };

/* Reads the beginning of a file, terminated. Returns its length, or -1. Async-signal-safe. */
static inline long read_program_head(const char *path, char head[PROGRAM_HEAD_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? -1 : (long)read(fd, head, PROGRAM_HEAD_SIZE - 1);

	if (fd >= 0)
		close(fd);
	head[n < 0 ? 0 : n] = '\0';
	return n;
}

/* The machine (EM_*) of an ELF file of 64 bits with the @n bytes at its head; 0 for other files. */
static inline unsigned get_program_machine(const char *head, long n)
{
	Elf64_Ehdr h;

	if (n < (long)sizeof(h) || memcmp(head, ELFMAG, SELFMAG) != 0 ||
	    head[EI_CLASS] != ELFCLASS64)
		return 0;
	memcpy(&h, head, sizeof(h));
	return h.e_machine;
}

/* Splits the line "#!INTERPRETER ARGUMENT" at @head. Returns the interpreter, NULL for other files.
 * *@argument is NULL without one. */
static inline char *split_script_line(char *head, char **argument)
{
	char *name = head + 2, *end;

	*argument = NULL;
	if (head[0] != '#' || head[1] != '!')
		return NULL;
	head[strcspn(head, "\n")] = '\0';
	name += strspn(name, " \t");
	end = name + strcspn(name, " \t");
	if (*end) {
		*end++ = '\0';
		end += strspn(end, " \t");
		*argument = *end ? end : NULL;
	}
	return *name ? name : NULL;
}

#endif
