/* SPDX-License-Identifier: MIT */
/* Symbol tables of ELF files, sorted once, and the kernel's own list. Files are not trusted: what leads out of them is no symbol. */
#include "symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lines.h"

#define FILE_MAX_SIZE ((size_t)1 << 30)

struct symbol {
	uint64_t start, size;
	const char *name;
	char *plain; /* the name of a C++ function, once it has been asked for */
};

struct segment {
	uint64_t offset, size, address;
};

struct object {
	char *path;
	struct object *next;
	bool loaded, looked; /* looked: for lines */
	struct lines *lines;
	uint8_t *file;
	size_t size;
	struct symbol *symbols;
	size_t n, room;
	struct segment segments[16];
	unsigned n_segments;
};

struct symbols {
	struct object *objects;
	struct object kernel;
};

struct symbols *symbols_open(void)
{
	return calloc(1, sizeof(struct symbols));
}

static void release(struct object *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->symbols[i].plain);
	lines_close(o->lines);
	free(o->file);
	free(o->symbols);
	free(o->path);
}

void symbols_close(struct symbols *all)
{
	struct object *next;

	if (!all)
		return;
	for (struct object *o = all->objects; o; o = next) {
		next = o->next;
		release(o);
		free(o);
	}
	release(&all->kernel);
	free(all);
}

struct object *symbols_object(struct symbols *all, const char *path)
{
	struct object *o;

	for (o = all->objects; o; o = o->next)
		if (strcmp(o->path, path) == 0)
			return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->path = strdup(path);
	if (!o->path) {
		free(o);
		return NULL;
	}
	o->next = all->objects;
	return all->objects = o;
}

static bool add(struct object *o, uint64_t start, uint64_t size, const char *name)
{
	if (o->n == o->room) {
		size_t room = o->room * 2 + 256;
		struct symbol *more = realloc(o->symbols, room * sizeof(*more));

		if (!more)
			return false;
		o->symbols = more;
		o->room = room;
	}
	o->symbols[o->n++] = (struct symbol){ start, size, name, NULL };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->size < y->size ? 1 : x->size > y->size ? -1
	                                                 : strcmp(x->name, y->name);
}

static void sort(struct object *o)
{
	if (o->n)
		qsort(o->symbols, o->n, sizeof(*o->symbols), by_start);
}

static struct symbol *find(const struct object *o, uint64_t address)
{
	size_t low = 0, high = o->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (o->symbols[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* Several may begin together: the largest stands first and covers the most. */
	while (low > 1 && o->symbols[low - 2].start == o->symbols[low - 1].start)
		low--;
	if (!low)
		return NULL;
	return o->symbols[low - 1].size == 0 || address - o->symbols[low - 1].start < o->symbols[low - 1].size ? &o->symbols[low - 1]
	                                                                                                       : NULL;
}

/* ---- ELF ---------------------------------------------------------------------------------------------------------------------- */

static bool inside(const struct object *o, uint64_t offset, uint64_t size)
{
	return offset <= o->size && size <= o->size - offset;
}

/* Section @i, whichever the width of the file. */
static bool section_at(const struct object *o, unsigned i, Elf64_Shdr *out)
{
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;
	Elf32_Shdr s32;

	if (o->file[EI_CLASS] == ELFCLASS64) {
		memcpy(&e64, o->file, sizeof(e64));
		if (i >= e64.e_shnum || !inside(o, e64.e_shoff, (uint64_t)e64.e_shnum * sizeof(*out)))
			return false;
		memcpy(out, o->file + e64.e_shoff + i * sizeof(*out), sizeof(*out));
		return true;
	}
	memcpy(&e32, o->file, sizeof(e32));
	if (i >= e32.e_shnum || !inside(o, e32.e_shoff, (uint64_t)e32.e_shnum * sizeof(s32)))
		return false;
	memcpy(&s32, o->file + e32.e_shoff + i * sizeof(s32), sizeof(s32));
	*out = (Elf64_Shdr){ .sh_type = s32.sh_type, .sh_offset = s32.sh_offset, .sh_size = s32.sh_size, .sh_link = s32.sh_link };
	return true;
}

static bool segment_at(const struct object *o, unsigned i, Elf64_Phdr *out)
{
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;
	Elf32_Phdr p32;

	if (o->file[EI_CLASS] == ELFCLASS64) {
		memcpy(&e64, o->file, sizeof(e64));
		if (i >= e64.e_phnum || !inside(o, e64.e_phoff, (uint64_t)e64.e_phnum * sizeof(*out)))
			return false;
		memcpy(out, o->file + e64.e_phoff + i * sizeof(*out), sizeof(*out));
		return true;
	}
	memcpy(&e32, o->file, sizeof(e32));
	if (i >= e32.e_phnum || !inside(o, e32.e_phoff, (uint64_t)e32.e_phnum * sizeof(p32)))
		return false;
	memcpy(&p32, o->file + e32.e_phoff + i * sizeof(p32), sizeof(p32));
	*out = (Elf64_Phdr){ .p_type = p32.p_type, .p_offset = p32.p_offset, .p_vaddr = p32.p_vaddr, .p_filesz = p32.p_filesz };
	return true;
}

static void read_symbol(struct object *o, const uint8_t *at, const Elf64_Shdr *names)
{
	Elf64_Sym s;
	Elf32_Sym s32;
	const char *name;

	if (o->file[EI_CLASS] == ELFCLASS64) {
		memcpy(&s, at, sizeof(s));
	} else {
		memcpy(&s32, at, sizeof(s32));
		s = (Elf64_Sym){ s32.st_name, s32.st_info, s32.st_other, s32.st_shndx, s32.st_value, s32.st_size };
	}
	if ((ELF64_ST_TYPE(s.st_info) != STT_FUNC && ELF64_ST_TYPE(s.st_info) != STT_GNU_IFUNC) || s.st_shndx == SHN_UNDEF)
		return;
	if (s.st_name >= names->sh_size)
		return;
	name = (const char *)o->file + names->sh_offset + s.st_name;
	if (*name && memchr(name, '\0', (size_t)(names->sh_size - s.st_name)))
		add(o, s.st_value, s.st_size, name);
}

static void read_symbols(struct object *o)
{
	size_t each = o->file[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	Elf64_Shdr s, names;

	for (unsigned i = 0; section_at(o, i, &s); i++) {
		if ((s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM) || !inside(o, s.sh_offset, s.sh_size))
			continue;
		if (!section_at(o, s.sh_link, &names) || names.sh_type != SHT_STRTAB || !inside(o, names.sh_offset, names.sh_size))
			continue;
		for (uint64_t at = 0; at + each <= s.sh_size; at += each)
			read_symbol(o, o->file + s.sh_offset + at, &names);
	}
	sort(o);
}

static void read_segments(struct object *o)
{
	Elf64_Phdr p;

	for (unsigned i = 0; segment_at(o, i, &p) && o->n_segments < 16; i++)
		if (p.p_type == PT_LOAD)
			o->segments[o->n_segments++] = (struct segment){ p.p_offset, p.p_filesz, p.p_vaddr };
}

static void read_file(struct object *o)
{
	FILE *f = fopen(o->path, "re");
	long size = -1;

	if (f && fseek(f, 0, SEEK_END) == 0)
		size = ftell(f);
	if (size >= (long)sizeof(Elf64_Ehdr) && (size_t)size < FILE_MAX_SIZE && fseek(f, 0, SEEK_SET) == 0)
		o->file = malloc((size_t)size);
	if (o->file)
		o->size = fread(o->file, 1, (size_t)size, f);
	if (f)
		fclose(f);
}

static void load(struct object *o)
{
	static const uint16_t one = 1;
	int order = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	o->loaded = true;
	if (o->path[0] != '/')
		return; /* [vdso], //anon: no file */
	read_file(o);
	if (o->size < sizeof(Elf64_Ehdr) || memcmp(o->file, ELFMAG, SELFMAG) != 0 || o->file[EI_DATA] != order)
		return;
	read_segments(o);
	read_symbols(o);
}

/* The file's own address of the byte at @offset. False if it is not loaded into memory. */
static bool address_of(struct object *o, uint64_t offset, uint64_t *address)
{
	if (!o->loaded)
		load(o);
	for (unsigned i = 0; i < o->n_segments; i++)
		if (offset - o->segments[i].offset < o->segments[i].size) {
			*address = offset - o->segments[i].offset + o->segments[i].address;
			return true;
		}
	return false;
}

const char *symbols_at(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct symbol *s = address_of(o, offset, &address) ? find(o, address) : NULL;

	if (!s)
		return NULL;
	if (!s->plain)
		s->plain = symbols_plain(s->name);
	return s->plain ? s->plain : s->name;
}

const struct spot *symbols_spot(struct object *o, uint64_t offset)
{
	uint64_t address;

	if (!address_of(o, offset, &address))
		return NULL;
	if (!o->looked)
		o->lines = lines_open(o->path);
	o->looked = true;
	return o->lines ? lines_at(o->lines, address) : NULL;
}

/* ---- names of C++ --------------------------------------------------------------------------------------------------------------- */

typedef char *(*demangle_fn)(const char *symbol, char *buf, size_t *len, int *status);

/* The C++ library of this machine knows how its names are made; where there is no C++, it need not be installed. */
static demangle_fn find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
	void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
	demangle_fn fn = NULL;

	if (symbol)
		memcpy(&fn, &symbol, sizeof(fn));
	else
		fputs("pfm report: names of C++ are shown as the linker sees them: there is no libstdc++.so.6\n", stderr);
	return fn;
}

char *symbols_plain(const char *symbol)
{
	static demangle_fn demangle;
	static bool looked;
	int status = 0;

	if (strncmp(symbol, "_Z", 2) != 0)
		return NULL;
	if (!looked)
		demangle = find_demangler();
	looked = true;
	return demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
}

/* ---- the kernel ----------------------------------------------------------------------------------------------------------------- */

/* Lines of /proc/kallsyms: address, type, name. All addresses are zero for whom they are a secret. */
static void load_kernel(struct object *o)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t room = 0;
	char *line = NULL;

	o->loaded = true;
	while (f && getline(&line, &room, f) > 0) {
		char *rest, *name;
		uint64_t start = strtoull(line, &rest, 16);

		if (!start || strlen(rest) < 4 || (rest[1] != 't' && rest[1] != 'T'))
			continue;
		rest[3 + strcspn(rest + 3, "\t\n ")] = '\0';
		name = strdup(rest + 3);
		if (!name || !add(o, start, 0, name)) {
			free(name);
			break;
		}
		o->symbols[o->n - 1].plain = name; /* given back with it */
	}
	free(line);
	if (f)
		fclose(f);
	sort(o);
}

const char *symbols_kernel(struct symbols *all, uint64_t address)
{
	const struct symbol *s;

	if (!all->kernel.loaded)
		load_kernel(&all->kernel);
	s = find(&all->kernel, address);
	return s ? s->name : NULL;
}
