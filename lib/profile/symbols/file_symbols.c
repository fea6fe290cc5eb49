/* SPDX-License-Identifier: MIT */
#include "profile/symbols/file_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/symbols/debug_files.h"
#include "profile/symbols/file_checksums.h"
#include "profile/symbols/debug_sources.h"
#include "profile/symbols/linkage_stubs.h"
#include "profile/messages.h"
#include "profile/regular_file.h"

#define MAX_PACKED    ((uint64_t)1 << 26) /* bytes of a section .gnu_debugdata */
#define CHECKSUM_SIZE ((uint64_t)1 << 30) /* bytes of a debug file without a build id */
#define TABLES_SIZE   ((uint64_t)1 << 30) /* bytes of symbols and names of all files together */

/* A file that is read: what messages call it, and where else its symbols may be. */
struct reading {
	const char *path;
	struct symbol_sources *sources;
};

/* ---- symbol tables --------------------------------------------------------------------------- */

/* Bytes from the start of a symbol to the end of its section. */
static uint64_t measure_section_rest(const struct elf_file *e, const Elf64_Sym *s)
{
	Elf64_Shdr section;

	if (s->st_shndx >= e->n_sections)
		return UINT64_MAX;
	section = elf_get_section(e, s->st_shndx);
	return s->st_value - section.sh_addr < section.sh_size
	               ? section.sh_size - (s->st_value - section.sh_addr)
	               : UINT64_MAX;
}

/* @names ends with a zero, its last. */
static void read_symbol(struct file_symbols *f, struct elf_file *e, const uint8_t *at,
                        const char *names, uint64_t n_names)
{
	Elf64_Sym s = elf_get_symbol(e, at);

	s.st_value &= e->is_arm ? ~(Elf64_Addr)1 : ~(Elf64_Addr)0;
	if ((ELF64_ST_TYPE(s.st_info) != STT_FUNC && ELF64_ST_TYPE(s.st_info) != STT_GNU_IFUNC) ||
	    s.st_shndx == SHN_UNDEF)
		return;
	if (s.st_name < n_names && names[s.st_name] &&
	    !symbol_table_add(&f->table,
	                      &(struct symbol){ .start = s.st_value,
	                                        .size = s.st_size,
	                                        .section_rest = measure_section_rest(e, &s),
	                                        .binding = ELF64_ST_BIND(s.st_info),
	                                        .name = names + s.st_name }))
		e->out_of_memory = true;
}

static bool has_table_space(struct reading *r, uint64_t size)
{
	struct budget b = { .messages = r->sources->messages,
		            .file = r->path,
		            .subject = "functions",
		            .unit = "bytes of symbols of all files",
		            .limit = TABLES_SIZE,
		            .spent = r->sources->table_bytes };
	bool has_space = budget_charge(&b, size);

	r->sources->table_bytes = b.spent;
	return has_space;
}

/* Reads the functions of symbol table @s. Their names, which the caller frees, become @*kept. */
static void read_table(struct reading *r, struct elf_file *e, struct file_symbols *f,
                       const Elf64_Shdr *s, char **kept)
{
	size_t each = elf_symbol_size(e);
	Elf64_Shdr names = s->sh_link < e->n_sections ? elf_get_section(e, s->sh_link)
	                                              : (Elf64_Shdr){ .sh_type = SHT_NULL };
	uint8_t *table;
	uint64_t n;

	if (names.sh_type != SHT_STRTAB || s->sh_size > e->size || names.sh_size > e->size ||
	    !has_table_space(r, s->sh_size + names.sh_size))
		return;
	table = elf_read_bytes(e, s->sh_size, s->sh_offset);
	*kept = table ? elf_read_bytes(e, names.sh_size, names.sh_offset) : NULL;
	n = *kept ? elf_measure_names(*kept, names.sh_size) : 0;
	for (uint64_t at = 0; n && at + each <= s->sh_size; at += each)
		read_symbol(f, e, table + at, *kept, n);
	free(table);
}

static const uint32_t table_kinds[SYMBOL_TABLES] = { SHT_SYMTAB, SHT_DYNSYM };

/* Reads the symbol table of @kind. A file has at most one: further sections are ignored. */
static void read_table_kind(struct reading *r, struct elf_file *e, struct file_symbols *f,
                            unsigned kind)
{
	for (unsigned i = 0; i < e->n_sections; i++) {
		Elf64_Shdr s = elf_get_section(e, i);

		if (s.sh_type != table_kinds[kind])
			continue;
		read_table(r, e, f, &s, &f->names[kind]);
		break;
	}
}

/* The build id among the notes at @offset, if it is there. */
static void read_build_id_note(struct elf_file *e, struct file_symbols *f, uint64_t offset,
                               uint64_t size)
{
	uint8_t *notes = size <= 1 << 20 ? elf_read_bytes(e, size, offset) : NULL;
	Elf64_Nhdr n; /* of both widths */

	for (uint64_t at = 0; notes && size - at >= sizeof(n);) {
		uint64_t name, desc;

		memcpy(&n, notes + at, sizeof(n));
		name = at + sizeof(n);
		desc = name + (((uint64_t)n.n_namesz + 3) & ~(uint64_t)3);
		at = desc + (((uint64_t)n.n_descsz + 3) & ~(uint64_t)3);
		if (at > size)
			break;
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != sizeof("GNU") ||
		    memcmp(notes + name, "GNU", sizeof("GNU")) != 0)
			continue;
		f->n_id = n.n_descsz < BUILD_ID_SIZE ? n.n_descsz : BUILD_ID_SIZE;
		memcpy(f->id, notes + desc, f->n_id);
		break;
	}
	free(notes);
}

static void read_segments(struct elf_file *e, struct file_symbols *f)
{
	size_t each = e->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t *all = elf_read_bytes(e, (uint64_t)e->n_segments * each, e->segments_at);
	Elf64_Phdr p;
	Elf32_Phdr p32;

	for (unsigned i = 0; all && i < e->n_segments; i++) {
		if (e->is_64bit) {
			memcpy(&p, all + i * each, sizeof(p));
		} else {
			memcpy(&p32, all + i * each, sizeof(p32));
			p = (Elf64_Phdr){ .p_type = p32.p_type,
				          .p_offset = p32.p_offset,
				          .p_vaddr = p32.p_vaddr,
				          .p_filesz = p32.p_filesz };
		}
		if (p.p_type == PT_NOTE && !f->n_id)
			read_build_id_note(e, f, p.p_offset, p.p_filesz);
		if (p.p_type == PT_LOAD && f->n_segments < FILE_SEGMENTS)
			f->segments[f->n_segments++] =
				(struct segment){ p.p_offset, p.p_filesz, p.p_vaddr };
	}
	free(all);
}

/* ---- separate debug files -------------------------------------------------------------------- */

/* The contents of .gnu_debuglink, a name and a checksum at the next multiple of 4, in memory of the
 * caller's; NULL if missing. */
static char *read_debug_link(struct elf_file *e, uint32_t *checksum)
{
	size_t size = 0, at;
	char *link = elf_read_named_section(e, ".gnu_debuglink", 4096, &size);

	at = link ? (strnlen(link, size) + 4) & ~(size_t)3 : 0;
	if (link && at + 4 <= size) {
		memcpy(checksum, link + at, 4);
		return link;
	}
	free(link);
	return NULL;
}

/* Is the file @d, whose build id is in @separate, of the same build as @f? */
static bool is_file_of_same_build(struct elf_file *d, const struct file_symbols *separate,
                                  const struct file_symbols *f, uint32_t checksum,
                                  const struct symbol_sources *sources)
{
	if (f->n_id)
		return separate->n_id == f->n_id && memcmp(separate->id, f->id, f->n_id) == 0;
	return budget_allows(&(struct budget){ .messages = sources->messages,
	                                       .file = d->budget.file,
	                                       .subject = "functions",
	                                       .unit = "bytes whose checksum is computed",
	                                       .limit = CHECKSUM_SIZE },
	                     d->size) &&
	       file_checksums_compute(sources->checksums, d->fd) == checksum;
}

bool file_symbols_is_build(int fd, uint64_t size, const char *path, const uint8_t *id, size_t n,
                           uint32_t checksum, const struct symbol_sources *sources)
{
	struct elf_file d = elf_file_begin(fd, size, path, sources->messages);
	struct file_symbols separate = { .n_id = 0 }, wanted = { .n_id = 0 };

	if (n)
		memcpy(wanted.id, id, n < BUILD_ID_SIZE ? n : BUILD_ID_SIZE);
	wanted.n_id = n < BUILD_ID_SIZE ? n : BUILD_ID_SIZE;
	if (!elf_read_head(&d))
		return false;
	read_segments(&d, &separate);
	return is_file_of_same_build(&d, &separate, &wanted, checksum, sources);
}

/* Reads the symbols of the separate file at @path into @f, the file of @e. False if it is another
 * file. */
static bool read_separate_file(struct reading *r, struct elf_file *e, const char *path,
                               struct file_symbols *f, uint32_t checksum)
{
	struct file_symbols separate = { .n_id = 0 };
	struct stat st;
	int fd = trust_open(&r->sources->trust, path, &st, r->sources->messages);
	struct elf_file d;
	bool is_read;

	if (fd < 0)
		return false;
	d = elf_file_begin(fd, (uint64_t)st.st_size, path, r->sources->messages);
	is_read = elf_read_head(&d);
	if (is_read)
		read_segments(&d, &separate);
	is_read = is_read && is_file_of_same_build(&d, &separate, f, checksum, r->sources) &&
	          elf_load_sections(&d);
	if (is_read)
		read_table_kind(r, &d, f, 0);
	elf_free_sections(&d);
	close(d.fd);
	e->out_of_memory |= d.out_of_memory;
	return is_read && f->names[0];
}

/* Reads the symbols that are packed into the file itself. */
static void read_packed_symbols(struct reading *r, struct elf_file *e, struct file_symbols *f)
{
	struct elf_file d;
	size_t size = 0;
	int fd;
	void *packed = elf_read_named_section(e, ".gnu_debugdata", MAX_PACKED, &size);
	struct stat st;

	fd = packed ? unpack_debug_data(packed, size, r->sources->messages) : -1;
	free(packed);
	if (fd < 0)
		return;
	d = elf_file_begin(fd, fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0, r->path,
	                   r->sources->messages);
	if (elf_read_head(&d) && elf_load_sections(&d))
		read_table_kind(r, &d, f, 0);
	elf_free_sections(&d);
	close(d.fd);
	e->out_of_memory |= d.out_of_memory;
}

/* Reads the symbols that a server has. */
static void read_fetched_symbols(struct reading *r, struct elf_file *e, struct file_symbols *f)
{
	char *path = fetch_debug_file(f->id, f->n_id, r->sources->messages);

	if (path && read_separate_file(r, e, path, f, 0))
		f->separate_path = path;
	else
		free(path);
}

/* Looks for the symbols of @f, which is stripped. */
static void read_separate_symbols(struct reading *r, struct elf_file *e, struct file_symbols *f)
{
	uint32_t checksum = 0;
	char *link = read_debug_link(e, &checksum), path[4096 + 256];
	const struct debug_search search = { .path = r->path,
		                             .folder = r->sources->debug_folder,
		                             .id = f->id,
		                             .n_id = f->n_id,
		                             .link = link,
		                             .store = r->sources->store,
		                             .recording_store = r->sources->recording_store };

	for (unsigned i = 0; make_debug_file_path(&search, i, path, sizeof(path)); i++)
		if (*path && read_separate_file(r, e, path, f, checksum)) {
			f->separate_path = strdup(path);
			break;
		}
	free(link);
	if (!f->names[0])
		read_fetched_symbols(r, e, f);
	if (!f->names[0])
		read_packed_symbols(r, e, f);
}

static void read_symbols(struct reading *r, struct elf_file *e, struct file_symbols *f)
{
	if (elf_load_sections(e)) {
		for (unsigned k = 0; k < SYMBOL_TABLES; k++)
			read_table_kind(r, e, f, k);
		if (!f->names[0])
			read_separate_symbols(r, e, f);
		linkage_stubs_add(e, f->names[1], &f->table);
	}
	elf_free_sections(e);
	symbol_table_sort(&f->table);
}

/* ---- files ----------------------------------------------------------------------------------- */

void file_symbols_read(struct file_symbols *f, struct elf_file *e, const char *path,
                       struct symbol_sources *sources)
{
	struct reading r = { path, sources };

	read_segments(e, f);
	read_symbols(&r, e, f);
	if (e->out_of_memory)
		symbol_table_clear(&f->table);
}

bool file_symbols_compute_address(const struct file_symbols *f, uint64_t offset, uint64_t *address)
{
	for (unsigned i = 0; i < f->n_segments; i++)
		if (offset - f->segments[i].offset < f->segments[i].size) {
			*address = offset - f->segments[i].offset + f->segments[i].address;
			return true;
		}
	return false;
}

void file_symbols_free(struct file_symbols *f)
{
	symbol_table_free(&f->table);
	for (unsigned i = 0; i < SYMBOL_TABLES; i++)
		free(f->names[i]);
	free(f->separate_path);
}
