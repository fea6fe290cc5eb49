/* SPDX-License-Identifier: MIT */
/* Sections of an ELF file with this machine's byte order, of 32 or 64 bits. Files are not trusted:
 * what points outside the file is treated as missing.
 *
 * Debugging information is read by elfutils. Symbol tables are read here instead of by its libelf:
 * functions have names on machines without elfutils, and without memory libelf ends the process. */
#ifndef PFM_ELF_FILE_H
#define PFM_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "profile/budget.h"

/* A file that is being read: the part of its header that both widths share. */
struct elf_file {
	int fd;
	uint64_t size;
	bool is_64bit;
	uint16_t machine; /* EM_* */
	bool is_arm;      /* 32 bits: bit 0 of a function's value marks Thumb code */
	uint64_t segments_at, sections_at;
	unsigned n_segments, n_sections, names_section;
	uint8_t *sections;
	bool out_of_memory;   /* something was not read because memory ran out */
	struct budget budget; /* of bytes: sections may be at the same place */
};

/* Begins the file with descriptor @fd and @size bytes, called @path in messages, which is kept. */
struct elf_file elf_file_begin(int fd, uint64_t size, const char *path,
                               struct profile_messages *messages);
/* Reads @n bytes at @offset. False if the file has fewer. */
bool elf_read_at(const struct elf_file *e, void *to, size_t n, uint64_t offset);
/* @n bytes at @offset; the caller frees them. NULL if they are not there, or without memory. */
void *elf_read_bytes(struct elf_file *e, uint64_t n, uint64_t offset);
/* Reads the head of the file. False if the file is not ELF. */
bool elf_read_head(struct elf_file *e);
/* Reads the table of sections. False without a table or memory. */
bool elf_load_sections(struct elf_file *e);
void elf_free_sections(struct elf_file *e);
/* Section @i of the n_sections that were read. */
Elf64_Shdr elf_get_section(const struct elf_file *e, unsigned i);
/* Finds the section called @name. False if it is missing or has no bytes in the file. */
bool elf_find_section(struct elf_file *e, const char *name, Elf64_Shdr *found);
/* The contents of the section called @name, of at most @most bytes; the caller frees them. NULL if
 * missing. */
void *elf_read_named_section(struct elf_file *e, const char *name, uint64_t most, size_t *size);
/* Bytes of a symbol in a table. */
size_t elf_symbol_size(const struct elf_file *e);
/* The symbol at @at. */
Elf64_Sym elf_get_symbol(const struct elf_file *e, const void *at);
/* Number of bytes of @names up to and including the last zero: a name without an end is ignored. */
uint64_t elf_measure_names(const char *names, uint64_t n);

#endif
