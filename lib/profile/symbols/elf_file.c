/* SPDX-License-Identifier: MIT */
#include "profile/symbols/elf_file.h"

#include <stdlib.h>
#include <string.h>
#include "base/pread.h"

/* Each byte of a file is needed once or twice: as a table of symbols, as their names. */
enum { READS_OF_A_BYTE = 4, FREE_BYTES = 1 << 20 };

struct elf_file elf_file_begin(int fd, uint64_t size, const char *path,
                               struct profile_messages *messages)
{
	return (struct elf_file){ .fd = fd,
		                  .size = size,
		                  .budget = { .messages = messages,
		                              .file = path,
		                              .subject = "functions",
		                              .unit = "bytes of sections",
		                              .limit = budget_limit(size, READS_OF_A_BYTE,
		                                                    FREE_BYTES) } };
}

bool elf_read_at(const struct elf_file *e, void *to, size_t n, uint64_t offset)
{
	return offset <= e->size && n <= e->size - offset && base_pread(e->fd, to, n, offset);
}

void *elf_read_bytes(struct elf_file *e, uint64_t n, uint64_t offset)
{
	bool there = n && offset <= e->size && n <= e->size - offset;
	void *p;

	there = there && budget_charge(&e->budget, n);
	p = there ? malloc((size_t)n) : NULL;
	e->out_of_memory |= there && !p;
	if (p && elf_read_at(e, p, (size_t)n, offset))
		return p;
	free(p);
	return NULL;
}

bool elf_read_head(struct elf_file *e)
{
	static const uint16_t one = 1;
	int order = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	union {
		uint8_t ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h;

	if (!elf_read_at(e, &h, sizeof(h), 0) || memcmp(h.ident, ELFMAG, SELFMAG) != 0 ||
	    h.ident[EI_DATA] != order)
		return false;
	e->is_64bit = h.ident[EI_CLASS] == ELFCLASS64;
	e->machine = e->is_64bit ? h.e64.e_machine : h.e32.e_machine;
	e->is_arm = !e->is_64bit && e->machine == EM_ARM;
	e->segments_at = e->is_64bit ? h.e64.e_phoff : h.e32.e_phoff;
	e->sections_at = e->is_64bit ? h.e64.e_shoff : h.e32.e_shoff;
	e->n_segments = e->is_64bit ? h.e64.e_phnum : h.e32.e_phnum;
	e->n_sections = e->is_64bit ? h.e64.e_shnum : h.e32.e_shnum;
	e->names_section = e->is_64bit ? h.e64.e_shstrndx : h.e32.e_shstrndx;
	return true;
}

Elf64_Shdr elf_get_section(const struct elf_file *e, unsigned i)
{
	Elf64_Shdr wide;
	Elf32_Shdr s;

	if (e->is_64bit) {
		memcpy(&wide, e->sections + i * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&s, e->sections + i * sizeof(s), sizeof(s));
	return (Elf64_Shdr){ .sh_name = s.sh_name,
		             .sh_type = s.sh_type,
		             .sh_addr = s.sh_addr,
		             .sh_offset = s.sh_offset,
		             .sh_size = s.sh_size,
		             .sh_link = s.sh_link };
}

size_t elf_symbol_size(const struct elf_file *e)
{
	return e->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

Elf64_Sym elf_get_symbol(const struct elf_file *e, const void *at)
{
	Elf64_Sym wide;
	Elf32_Sym s;

	if (e->is_64bit) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&s, at, sizeof(s));
	return (Elf64_Sym){ .st_name = s.st_name,
		            .st_info = s.st_info,
		            .st_other = s.st_other,
		            .st_shndx = s.st_shndx,
		            .st_value = s.st_value,
		            .st_size = s.st_size };
}

uint64_t elf_measure_names(const char *names, uint64_t n)
{
	while (n && names[n - 1])
		n--;
	return n;
}

bool elf_load_sections(struct elf_file *e)
{
	size_t each = e->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	e->sections = elf_read_bytes(e, (uint64_t)e->n_sections * each, e->sections_at);
	return e->sections;
}

void elf_free_sections(struct elf_file *e)
{
	free(e->sections);
	e->sections = NULL;
}

bool elf_find_section(struct elf_file *e, const char *name, Elf64_Shdr *found)
{
	Elf64_Shdr names = e->names_section < e->n_sections ? elf_get_section(e, e->names_section)
	                                                    : (Elf64_Shdr){ .sh_size = 0 };
	char *text =
		names.sh_size <= 1 << 20 ? elf_read_bytes(e, names.sh_size, names.sh_offset) : NULL;
	uint64_t n = text ? elf_measure_names(text, names.sh_size) : 0;
	bool is_found = false;

	for (unsigned i = 0; i < e->n_sections && !is_found; i++) {
		*found = elf_get_section(e, i);
		is_found = found->sh_name < n && strcmp(text + found->sh_name, name) == 0 &&
		           found->sh_type != SHT_NOBITS;
	}
	free(text);
	return is_found;
}

void *elf_read_named_section(struct elf_file *e, const char *name, uint64_t most, size_t *size)
{
	Elf64_Shdr s;

	if (!elf_find_section(e, name, &s) || s.sh_size > most)
		return NULL;
	*size = (size_t)s.sh_size;
	return elf_read_bytes(e, s.sh_size, s.sh_offset);
}
