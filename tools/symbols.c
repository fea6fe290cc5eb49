/* SPDX-License-Identifier: MIT */
/* Symbol tables of ELF files, sorted once, and the kernel's own list. Files are not trusted:
 * entries that point outside the file are ignored, and neither their number nor their sizes take
 * more time or memory than files of those sizes deserve. */
#include "symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "lines.h"

enum {
	TABLES = 2, /* of symbols: all, and those for the linker that loads it */
	SEGMENTS = 16,
	ID_ROOM = 20
};                                      /* bytes of a build id: the kernel tells no more */
#define TABLES_ROOM ((uint64_t)1 << 30) /* bytes of symbols and names of all files together */

struct symbol {
	uint64_t start, size;
	uint64_t section_rest; /* bytes to the end of its section: what has no size, as functions in
	                          assembler often, ends there at the latest */
	const char *name;
	char *demangled; /* what it is called instead, once it has been asked for: C++ as it was
	                    written, and no name without end */
};

struct segment {
	uint64_t offset, size, address;
};

/* A file, however many paths lead to it. */
struct file {
	dev_t device;
	ino_t inode;
	uint64_t size;
	char *names[TABLES];
	struct symbol *symbols;
	size_t n_symbols, capacity;
	struct segment segments[SEGMENTS];
	unsigned n_segments;
	uint8_t id[ID_ROOM]; /* build id */
	size_t n_id;
	struct lines *lines;
	bool lines_opened; /* for lines */
};

struct object {
	char *path;
	struct symbols *all;
	struct file *file; /* NULL: not read, or none that has symbols */
	bool loaded;
	uint8_t id[ID_ROOM]; /* that it must have; none if it may have any */
	size_t n_id;
};

struct symbols {
	struct object **objects;
	struct file **files;
	uint32_t n_objects, n_files;
	struct hash_table object_table, file_table;
	struct file kernel;
	bool kernel_loaded;
	char expected[64]; /* a symbol of the kernel that was sampled; "": not told */
	uint64_t expected_at;
	uint64_t table_bytes; /* of TABLES_ROOM */
};

void symbols_starved(void)
{
	static bool said;

	if (!said)
		fputs("pfm report: some functions or source lines are not named: out of memory\n",
		      stderr);
	said = true;
}

struct symbols *symbols_open(void)
{
	return calloc(1, sizeof(struct symbols));
}

static void release_elf(struct file *f)
{
	for (size_t i = 0; i < f->n_symbols; i++)
		free(f->symbols[i].demangled);
	for (unsigned i = 0; i < TABLES; i++)
		free(f->names[i]);
	lines_close(f->lines);
	free(f->symbols);
}

void symbols_close(struct symbols *all)
{
	if (!all)
		return;
	for (uint32_t i = 0; i < all->n_objects; i++) {
		free(all->objects[i]->path);
		free(all->objects[i]);
	}
	for (uint32_t i = 0; i < all->n_files; i++) {
		release_elf(all->files[i]);
		free(all->files[i]);
	}
	free(all->objects);
	free(all->files);
	pfmi_base_free_hash(&all->object_table);
	pfmi_base_free_hash(&all->file_table);
	release_elf(&all->kernel);
	free(all);
}

/* @list of @n pointers with room for one more, moved where needed; NULL without memory. */
static void *reserve_pointer(void *list, uint32_t n)
{
	bool is_full = n == 0 || (n >= 16 && (n & (n - 1)) == 0);

	return is_full ? realloc(list, (n ? 2 * (size_t)n : 16) * sizeof(void *)) : list;
}

struct object_search {
	const struct symbols *all;
	const char *path;
	const uint8_t *id;
	size_t n_id;
};

static bool is_same_object(const void *arg, uint32_t i)
{
	const struct object_search *s = arg;
	const struct object *o = s->all->objects[i];

	return strcmp(o->path, s->path) == 0 && o->n_id == s->n_id &&
	       (s->n_id == 0 || memcmp(o->id, s->id, s->n_id) == 0);
}

static struct object *create_object(struct symbols *all, const struct object_search *s)
{
	struct object *o = calloc(1, sizeof(*o));

	if (o)
		o->path = strdup(s->path);
	if (!o || !o->path) {
		free(o);
		return NULL;
	}
	if (s->n_id)
		memcpy(o->id, s->id, s->n_id);
	o->n_id = s->n_id;
	o->all = all;
	return o;
}

struct object *symbols_object(struct symbols *all, const char *path, const uint8_t *id, size_t n)
{
	const struct object_search search = { all, path, id, n < ID_ROOM ? n : ID_ROOM };
	uint64_t hash = pfmi_base_hash_bytes(path, strlen(path));
	uint32_t at;
	struct object **list, *o;

	/* One path may have many builds. */
	if (search.n_id)
		hash ^= pfmi_base_hash_bytes(id, search.n_id);
	at = pfmi_base_find_hash(&all->object_table, hash, is_same_object, &search);
	if (at != HASH_NOT_FOUND)
		return all->objects[at];
	list = reserve_pointer(all->objects, all->n_objects);
	all->objects = list ? list : all->objects;
	o = list ? create_object(all, &search) : NULL;
	if (o && pfmi_base_add_hash(&all->object_table, hash, all->n_objects))
		return all->objects[all->n_objects++] = o;
	symbols_starved();
	if (o)
		free(o->path);
	free(o);
	return NULL;
}

static bool add_symbol(struct file *f, uint64_t start, uint64_t size, uint64_t room,
                       const char *name)
{
	if (f->n_symbols == f->capacity) {
		size_t twice = f->capacity * 2 + 256;
		struct symbol *more = realloc(f->symbols, twice * sizeof(*more));

		if (!more)
			return false;
		f->symbols = more;
		f->capacity = twice;
	}
	f->symbols[f->n_symbols++] = (struct symbol){ start, size, room, name, NULL };
	return true;
}

static void free_file(struct file *f)
{
	for (size_t i = 0; i < f->n_symbols; i++)
		free(f->symbols[i].demangled);
	f->n_symbols = 0;
}

/* Names that agree for long enough are as good as each other. */
static int compare_starts(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->size < y->size ? 1 : x->size > y->size ? -1 : strncmp(x->name, y->name, 256);
}

/* Of several that begin together the largest covers the most: it alone is kept. */
static void sort_symbols(struct file *f)
{
	size_t kept = 0;

	if (!f->n_symbols)
		return;
	qsort(f->symbols, f->n_symbols, sizeof(*f->symbols), compare_starts);
	for (size_t i = 0; i < f->n_symbols; i++)
		if (!kept || f->symbols[i].start != f->symbols[kept - 1].start)
			f->symbols[kept++] = f->symbols[i];
		else
			free(f->symbols[i].demangled);
	f->n_symbols = kept;
}

static struct symbol *find_symbol(const struct file *f, uint64_t address)
{
	size_t low = 0, high = f->n_symbols;
	struct symbol *s;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (f->symbols[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	s = &f->symbols[low - 1];
	return address - s->start < (s->size ? s->size : s->section_rest) ? s : NULL;
}

/* ---- ELF ------------------------------------------------------------------------------------- */

/* A file that is being read: its head, and what the two widths have in common. */
struct elf {
	int fd;
	uint64_t size;
	bool is_64bit;
	uint64_t segments_at, sections_at;
	unsigned n_segments, n_sections;
	uint8_t *sections;
	bool out_of_memory; /* something was not read for want of memory */
};

static bool read_at(const struct elf *e, void *to, size_t n, uint64_t offset)
{
	uint8_t *p = to;

	if (offset > e->size || n > e->size - offset)
		return false;
	while (n) {
		ssize_t got = pread(e->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

/* @n bytes at @offset; the caller frees them. NULL if they are not there. */
static void *reserve_bytes(struct elf *e, uint64_t n, uint64_t offset)
{
	bool there = n && offset <= e->size && n <= e->size - offset;
	void *p = there ? malloc((size_t)n) : NULL;

	e->out_of_memory |= there && !p;
	if (p && read_at(e, p, (size_t)n, offset))
		return p;
	free(p);
	return NULL;
}

static bool read_head(struct elf *e)
{
	static const uint16_t one = 1;
	int order = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	union {
		uint8_t ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h;

	if (!read_at(e, &h, sizeof(h), 0) || memcmp(h.ident, ELFMAG, SELFMAG) != 0 ||
	    h.ident[EI_DATA] != order)
		return false;
	e->is_64bit = h.ident[EI_CLASS] == ELFCLASS64;
	e->segments_at = e->is_64bit ? h.e64.e_phoff : h.e32.e_phoff;
	e->sections_at = e->is_64bit ? h.e64.e_shoff : h.e32.e_shoff;
	e->n_segments = e->is_64bit ? h.e64.e_phnum : h.e32.e_phnum;
	e->n_sections = e->is_64bit ? h.e64.e_shnum : h.e32.e_shnum;
	return true;
}

static Elf64_Shdr section_at(const struct elf *e, unsigned i)
{
	Elf64_Shdr wide;
	Elf32_Shdr s;

	if (e->is_64bit) {
		memcpy(&wide, e->sections + i * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&s, e->sections + i * sizeof(s), sizeof(s));
	return (Elf64_Shdr){ .sh_type = s.sh_type,
		             .sh_addr = s.sh_addr,
		             .sh_offset = s.sh_offset,
		             .sh_size = s.sh_size,
		             .sh_link = s.sh_link };
}

/* Bytes from the start of a symbol to the end of its section. */
static uint64_t section_end_distance(const struct elf *e, const Elf64_Sym *s)
{
	Elf64_Shdr section;

	if (s->st_shndx >= e->n_sections)
		return UINT64_MAX;
	section = section_at(e, s->st_shndx);
	return s->st_value - section.sh_addr < section.sh_size
	               ? section.sh_size - (s->st_value - section.sh_addr)
	               : UINT64_MAX;
}

/* @names ends with a zero, its last. */
static void read_symbol(struct file *f, struct elf *e, const uint8_t *at, const char *names,
                        uint64_t n_names)
{
	Elf64_Sym s;
	Elf32_Sym s32;

	if (e->is_64bit) {
		memcpy(&s, at, sizeof(s));
	} else {
		memcpy(&s32, at, sizeof(s32));
		s = (Elf64_Sym){ s32.st_name,  s32.st_info,  s32.st_other,
			         s32.st_shndx, s32.st_value, s32.st_size };
	}
	if ((ELF64_ST_TYPE(s.st_info) != STT_FUNC && ELF64_ST_TYPE(s.st_info) != STT_GNU_IFUNC) ||
	    s.st_shndx == SHN_UNDEF)
		return;
	if (s.st_name < n_names && names[s.st_name] &&
	    !add_symbol(f, s.st_value, s.st_size, section_end_distance(e, &s), names + s.st_name))
		e->out_of_memory = true;
}

/* Bytes of @names up to the last zero, that included: a name without an end is ignored. */
static uint64_t is_past_end(const char *names, uint64_t n)
{
	while (n && names[n - 1])
		n--;
	return n;
}

static bool has_table_space(struct symbols *all, const char *path, uint64_t size)
{
	if (size <= TABLES_ROOM - all->table_bytes) {
		all->table_bytes += size;
		return true;
	}
	fprintf(stderr,
	        "pfm report: functions of %s are not named: the files have more than %u MiB of "
	        "symbols\n",
	        path, (unsigned)(TABLES_ROOM >> 20));
	return false;
}

/* One table, @s, and the names it leads to, which become @*kept. */
static void read_table(struct object *o, struct elf *e, struct file *f, const Elf64_Shdr *s,
                       char **kept)
{
	size_t each = e->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	Elf64_Shdr names = s->sh_link < e->n_sections ? section_at(e, s->sh_link)
	                                              : (Elf64_Shdr){ .sh_type = SHT_NULL };
	uint8_t *table;
	uint64_t n;

	if (names.sh_type != SHT_STRTAB || s->sh_size > e->size || names.sh_size > e->size ||
	    !has_table_space(o->all, o->path, s->sh_size + names.sh_size))
		return;
	table = reserve_bytes(e, s->sh_size, s->sh_offset);
	*kept = table ? reserve_bytes(e, names.sh_size, names.sh_offset) : NULL;
	n = *kept ? is_past_end(*kept, names.sh_size) : 0;
	for (uint64_t at = 0; n && at + each <= s->sh_size; at += each)
		read_symbol(f, e, table + at, *kept, n);
	free(table);
}

/* There is one table of each kind at most: whatever else says that it is one is not looked at. */
static void read_symbols(struct object *o, struct elf *e, struct file *f)
{
	static const uint32_t kinds[TABLES] = { SHT_SYMTAB, SHT_DYNSYM };
	size_t each = e->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	e->sections = reserve_bytes(e, (uint64_t)e->n_sections * each, e->sections_at);
	for (unsigned k = 0; e->sections && k < TABLES; k++)
		for (unsigned i = 0; i < e->n_sections; i++) {
			Elf64_Shdr s = section_at(e, i);

			if (s.sh_type != kinds[k])
				continue;
			read_table(o, e, f, &s, &f->names[k]);
			break;
		}
	free(e->sections);
	sort_symbols(f);
}

/* The build id among the notes at @offset, if it is there. */
static void read_notes(struct elf *e, struct file *f, uint64_t offset, uint64_t size)
{
	uint8_t *notes = size <= 1 << 20 ? reserve_bytes(e, size, offset) : NULL;
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
		f->n_id = n.n_descsz < ID_ROOM ? n.n_descsz : ID_ROOM;
		memcpy(f->id, notes + desc, f->n_id);
		break;
	}
	free(notes);
}

static void read_segments(struct elf *e, struct file *f)
{
	size_t each = e->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t *all = reserve_bytes(e, (uint64_t)e->n_segments * each, e->segments_at);
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
			read_notes(e, f, p.p_offset, p.p_filesz);
		if (p.p_type == PT_LOAD && f->n_segments < SEGMENTS)
			f->segments[f->n_segments++] =
				(struct segment){ p.p_offset, p.p_filesz, p.p_vaddr };
	}
	free(all);
}

struct file_search {
	const struct symbols *all;
	const struct stat *st;
};

static bool is_same_file(const void *arg, uint32_t i)
{
	const struct file_search *s = arg;

	return s->all->files[i]->device == s->st->st_dev &&
	       s->all->files[i]->inode == s->st->st_ino;
}

static struct file *create_file(struct symbols *all, const struct stat *st, uint64_t hash)
{
	struct file **list = reserve_pointer(all->files, all->n_files), *f;

	all->files = list ? list : all->files;
	f = list ? calloc(1, sizeof(*f)) : NULL;
	if (!f || !pfmi_base_add_hash(&all->file_table, hash, all->n_files)) {
		free(f);
		return NULL;
	}
	f->device = st->st_dev;
	f->inode = st->st_ino;
	return all->files[all->n_files++] = f;
}

/* The file behind @e, read if no path has led to it before. NULL if it has no symbols. */
static struct file *find_file(struct object *o, struct elf *e, const struct stat *st)
{
	const struct file_search search = { o->all, st };
	const uint64_t key[] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&o->all->file_table, hash, is_same_file, &search);
	struct file *f;

	if (at != HASH_NOT_FOUND)
		return o->all->files[at];
	if (!read_head(e))
		return NULL;
	f = create_file(o->all, st, hash);
	e->out_of_memory = !f;
	if (!f)
		return NULL;
	read_segments(e, f);
	read_symbols(o, e, f);
	if (e->out_of_memory)
		free_file(f);
	return f;
}

int symbols_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || (fstat(fd, st) == 0 && S_ISREG(st->st_mode)))
		return fd;
	close(fd);
	return -1;
}

static void load_symbols(struct object *o)
{
	struct elf e = { .fd = -1 };
	struct stat st;

	o->loaded = true;
	if (o->path[0] != '/')
		return; /* [vdso], //anon: no file */
	e.fd = symbols_file(o->path, &st);
	if (e.fd < 0)
		return;
	e.size = (uint64_t)st.st_size;
	o->file = find_file(o, &e, &st);
	close(e.fd);
	if (e.out_of_memory)
		symbols_starved();
	if (!o->n_id || !o->file ||
	    (o->file->n_id == o->n_id && memcmp(o->file->id, o->id, o->n_id) == 0))
		return;
	o->file = NULL;
	fprintf(stderr,
	        "pfm report: functions of %s are not named: the file has changed since "
	        "the recording\n",
	        o->path);
}

/* The file's own address of the byte at @offset. False if it is not loaded into memory. */
static bool symbol_address(struct object *o, uint64_t offset, uint64_t *address)
{
	const struct file *f;

	if (!o->loaded)
		load_symbols(o);
	f = o->file;
	for (unsigned i = 0; f && i < f->n_segments; i++)
		if (offset - f->segments[i].offset < f->segments[i].size) {
			*address = offset - f->segments[i].offset + f->segments[i].address;
			return true;
		}
	return false;
}

const char *symbols_at(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct symbol *s =
		symbol_address(o, offset, &address) ? find_symbol(o->file, address) : NULL;

	if (!s)
		return NULL;
	if (!s->demangled)
		s->demangled = symbols_demangle(s->name);
	if (!s->demangled && strnlen(s->name, SYMBOL_ROOM) == SYMBOL_ROOM)
		s->demangled = strndup(s->name, SYMBOL_ROOM - 1);
	return s->demangled ? s->demangled : s->name;
}

const struct source_spot *symbols_spot(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct file *f;

	if (!symbol_address(o, offset, &address))
		return NULL;
	f = o->file;
	if (!f->lines_opened)
		f->lines = lines_open(o->path);
	f->lines_opened = true;
	return f->lines ? lines_at(f->lines, address) : NULL;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

void symbols_expect(struct symbols *all, const char *name, uint64_t address)
{
	snprintf(all->expected, sizeof(all->expected), "%s", name);
	all->expected_at = address;
}

/* Lines of /proc/kallsyms: address, type, name. All addresses are zero for users without
 * permission. */
static void load_kernel(const struct symbols *all, struct file *o)
{
	bool another = false, starved = false;
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t room = 0;
	char *line = NULL;

	errno = 0;
	while (f && !starved && getline(&line, &room, f) > 0) {
		char *rest, *name;
		uint64_t start = strtoull(line, &rest, 16);

		if (!start || strlen(rest) < 4 || !strchr("tTwW", rest[1]))
			continue;
		rest[3 + strcspn(rest + 3, "\t\n ")] = '\0';
		another |= strcmp(rest + 3, all->expected) == 0 && start != all->expected_at;
		name = strdup(rest + 3);
		starved = !name || !add_symbol(o, start, 0, UINT64_MAX, name);
		if (starved)
			free(name);
		else
			o->symbols[o->n_symbols - 1].demangled = name; /* given back with it */
	}
	starved |= errno == ENOMEM;
	free(line);
	if (f)
		fclose(f);
	if (starved)
		symbols_starved();
	if (another)
		fputs("pfm report: functions of the kernel are not named: the recording is "
		      "of another kernel, or of an earlier boot\n",
		      stderr);
	if (another || starved)
		free_file(o);
	sort_symbols(o);
}

const char *symbols_kernel(struct symbols *all, uint64_t address)
{
	const struct symbol *s;

	if (!all->kernel_loaded)
		load_kernel(all, &all->kernel);
	all->kernel_loaded = true;
	s = find_symbol(&all->kernel, address);
	return s ? s->name : NULL;
}
