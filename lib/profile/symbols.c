/* SPDX-License-Identifier: MIT */
/* Symbol tables of ELF files, sorted once, and the kernel's own list. Files are not trusted:
 * entries that point outside the file are ignored, and neither their number nor their sizes take
 * more time or memory than files of those sizes deserve. */
#include "profile/regular_file.h"
#include "profile/messages.h"
#include "profile/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/hash.h"
#include "profile/debug_files.h"
#include "profile/debug_sources.h"
#include "profile/elf_file.h"
#include "profile/kernel_symbols.h"
#include "profile/linkage_stubs.h"
#include "profile/lines.h"
#include "profile/symbol_table.h"
#include "profile/vdso.h"

enum {
	TABLES = 2, /* of symbols: all, and those for the linker that loads it */
	SEGMENTS = 16,
	ID_SIZE = 20
};                                         /* bytes of a build id: the kernel tells no more */
#define LINKAGE_SUFFIX "@plt"              /* as perf and debuggers show it */
#define MAX_PACKED     ((uint64_t)1 << 26) /* bytes of a section .gnu_debugdata */
#define TABLES_SIZE    ((uint64_t)1 << 30) /* bytes of symbols and names of all files together */

struct segment {
	uint64_t offset, size, address;
};

/* A file, however many paths lead to it. */
struct file {
	char *path; /* one of them */
	dev_t device;
	ino_t inode;
	uint64_t size;
	char *names[TABLES];
	struct symbol_table table;
	struct segment segments[SEGMENTS];
	unsigned n_segments;
	uint8_t id[ID_SIZE]; /* build id */
	size_t n_id;
	struct lines *lines;
	struct frame_rules *rules;
	bool lines_opened, rules_opened; /* for lines and rules */
};

struct object {
	char *path;
	struct symbols *all;
	struct file *file; /* NULL: not read, or none that has symbols */
	bool loaded;
	uint8_t id[ID_SIZE]; /* that it must have; none if it may have any */
	size_t n_id;
};

struct symbols {
	struct object **objects;
	struct file **files;
	uint32_t n_objects, n_files;
	struct hash_table object_table, file_table;
	struct kernel_symbols kernel;
	uint64_t table_bytes; /* of TABLES_SIZE */
	const char *debug_folder;
	struct timespec recorded; /* when the recording was written; 0: not known */
	bool has_running_kernel;  /* the kernel that was recorded runs */
};

struct symbols *symbols_open(const char *debug_folder)
{
	struct symbols *all = calloc(1, sizeof(*all));

	if (all)
		all->debug_folder = debug_folder ? debug_folder : DEBUG_FOLDER;
	return all;
}

static void release_elf(struct file *f)
{
	symbol_table_free(&f->table);
	for (unsigned i = 0; i < TABLES; i++)
		free(f->names[i]);
	lines_close(f->lines);
	frame_rules_close(f->rules);
	free(f->path);
}

void symbols_recorded_at(struct symbols *all, const struct timespec *time)
{
	all->recorded = *time;
}

void symbols_recorded_kernel(struct symbols *all, const char *release)
{
	struct utsname u;

	all->has_running_kernel = uname(&u) == 0 && strcmp(u.release, release) == 0;
}

void symbols_recorded_running_kernel(struct symbols *all)
{
	all->has_running_kernel = true;
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
	kernel_symbols_free(&all->kernel);
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
	const struct object_search search = { all, path, id, n < ID_SIZE ? n : ID_SIZE };
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
	report_missing_names();
	if (o)
		free(o->path);
	free(o);
	return NULL;
}

/* ---- ELF ------------------------------------------------------------------------------------- */

/* Bytes from the start of a symbol to the end of its section. */
static uint64_t section_end_distance(const struct elf_file *e, const Elf64_Sym *s)
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
static void read_symbol(struct file *f, struct elf_file *e, const uint8_t *at, const char *names,
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
		s.st_value &= e->is_arm ? ~(Elf64_Addr)1 : ~(Elf64_Addr)0;
	}
	if ((ELF64_ST_TYPE(s.st_info) != STT_FUNC && ELF64_ST_TYPE(s.st_info) != STT_GNU_IFUNC) ||
	    s.st_shndx == SHN_UNDEF)
		return;
	if (s.st_name < n_names && names[s.st_name] &&
	    !symbol_table_add(&f->table,
	                      &(struct symbol){ .start = s.st_value,
	                                        .size = s.st_size,
	                                        .section_rest = section_end_distance(e, &s),
	                                        .binding = ELF64_ST_BIND(s.st_info),
	                                        .name = names + s.st_name }))
		e->out_of_memory = true;
}

static bool has_table_space(struct symbols *all, const char *path, uint64_t size)
{
	if (size <= TABLES_SIZE - all->table_bytes) {
		all->table_bytes += size;
		return true;
	}
	show_profile_message("functions of %s are not named: the files have more than %u MiB of "
	                     "symbols",
	                     path, (unsigned)(TABLES_SIZE >> 20));
	return false;
}

/* One table, @s, and the names it leads to, which become @*kept. */
static void read_table(struct object *o, struct elf_file *e, struct file *f, const Elf64_Shdr *s,
                       char **kept)
{
	size_t each = e->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	Elf64_Shdr names = s->sh_link < e->n_sections ? elf_get_section(e, s->sh_link)
	                                              : (Elf64_Shdr){ .sh_type = SHT_NULL };
	uint8_t *table;
	uint64_t n;

	if (names.sh_type != SHT_STRTAB || s->sh_size > e->size || names.sh_size > e->size ||
	    !has_table_space(o->all, o->path, s->sh_size + names.sh_size))
		return;
	table = elf_read_bytes(e, s->sh_size, s->sh_offset);
	*kept = table ? elf_read_bytes(e, names.sh_size, names.sh_offset) : NULL;
	n = *kept ? elf_measure_names(*kept, names.sh_size) : 0;
	for (uint64_t at = 0; n && at + each <= s->sh_size; at += each)
		read_symbol(f, e, table + at, *kept, n);
	free(table);
}

static const uint32_t table_kinds[TABLES] = { SHT_SYMTAB, SHT_DYNSYM };

/* There is one table of each kind at most: whatever else says that it is one is not looked at. */
static void read_table_kind(struct object *o, struct elf_file *e, struct file *f, unsigned kind)
{
	for (unsigned i = 0; i < e->n_sections; i++) {
		Elf64_Shdr s = elf_get_section(e, i);

		if (s.sh_type != table_kinds[kind])
			continue;
		read_table(o, e, f, &s, &f->names[kind]);
		break;
	}
}

/* The build id among the notes at @offset, if it is there. */
static void read_notes(struct elf_file *e, struct file *f, uint64_t offset, uint64_t size)
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
		f->n_id = n.n_descsz < ID_SIZE ? n.n_descsz : ID_SIZE;
		memcpy(f->id, notes + desc, f->n_id);
		break;
	}
	free(notes);
}

static void read_segments(struct elf_file *e, struct file *f)
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
			read_notes(e, f, p.p_offset, p.p_filesz);
		if (p.p_type == PT_LOAD && f->n_segments < SEGMENTS)
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
static bool is_same_build(const struct elf_file *d, const struct file *separate,
                          const struct file *f, uint32_t checksum)
{
	if (f->n_id)
		return separate->n_id == f->n_id && memcmp(separate->id, f->id, f->n_id) == 0;
	return debug_file_checksum(d->fd) == checksum;
}

/* Reads the symbols of the separate file at @path into @f, the file of @e. False if it is another
 * file. */
static bool read_separate(struct object *o, struct elf_file *e, const char *path, struct file *f,
                          uint32_t checksum)
{
	struct elf_file d = { .fd = -1 };
	struct file separate = { .n_id = 0 };
	struct stat st;
	bool is_read;

	d.fd = open_regular_file(path, &st);
	if (d.fd < 0)
		return false;
	d.size = (uint64_t)st.st_size;
	is_read = elf_read_head(&d);
	if (is_read)
		read_segments(&d, &separate);
	is_read = is_read && is_same_build(&d, &separate, f, checksum) && elf_load_sections(&d);
	if (is_read)
		read_table_kind(o, &d, f, 0);
	elf_free_sections(&d);
	close(d.fd);
	e->out_of_memory |= d.out_of_memory;
	return is_read && f->names[0];
}

/* Reads the symbols that are packed into the file itself. */
static void read_packed(struct object *o, struct elf_file *e, struct file *f)
{
	struct elf_file d = { .fd = -1 };
	size_t size = 0;
	void *packed = elf_read_named_section(e, ".gnu_debugdata", MAX_PACKED, &size);
	struct stat st;

	if (packed)
		d.fd = unpack_debug_data(packed, size);
	free(packed);
	if (d.fd < 0)
		return;
	d.size = fstat(d.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	if (elf_read_head(&d) && elf_load_sections(&d))
		read_table_kind(o, &d, f, 0);
	elf_free_sections(&d);
	close(d.fd);
	e->out_of_memory |= d.out_of_memory;
}

/* Reads the symbols that a server has. */
static void read_fetched(struct object *o, struct elf_file *e, struct file *f)
{
	char *path = fetch_debug_file(f->id, f->n_id);

	if (path)
		read_separate(o, e, path, f, 0);
	free(path);
}

/* Looks for the symbols of @f, which is stripped. */
static void find_separate(struct object *o, struct elf_file *e, struct file *f)
{
	uint32_t checksum = 0;
	char *link = read_debug_link(e, &checksum), path[4096 + 256];
	const struct debug_search search = { .path = o->path,
		                             .folder = o->all->debug_folder,
		                             .id = f->id,
		                             .n_id = f->n_id,
		                             .link = link };

	for (unsigned i = 0; debug_file_path(&search, i, path, sizeof(path)); i++)
		if (*path && read_separate(o, e, path, f, checksum))
			break;
	free(link);
	if (!f->names[0])
		read_fetched(o, e, f);
	if (!f->names[0])
		read_packed(o, e, f);
}

static void read_symbols(struct object *o, struct elf_file *e, struct file *f)
{
	if (elf_load_sections(e)) {
		for (unsigned k = 0; k < TABLES; k++)
			read_table_kind(o, e, f, k);
		if (!f->names[0])
			find_separate(o, e, f);
		linkage_stubs_add(e, f->names[1], &f->table);
	}
	elf_free_sections(e);
	symbol_table_sort(&f->table);
}

/* ---- files ----------------------------------------------------------------------------------- */

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

/* The file of @e, read if no path has led to it before. NULL if it has no symbols. */
static struct file *find_file(struct object *o, struct elf_file *e, const struct stat *st)
{
	const struct file_search search = { o->all, st };
	const uint64_t key[] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&o->all->file_table, hash, is_same_file, &search);
	struct file *f;

	if (at != HASH_NOT_FOUND)
		return o->all->files[at];
	if (!elf_read_head(e))
		return NULL;
	f = create_file(o->all, st, hash);
	e->out_of_memory = !f;
	if (!f)
		return NULL;
	read_segments(e, f);
	read_symbols(o, e, f);
	if (e->out_of_memory)
		symbol_table_clear(&f->table);
	return f;
}

/* The file at @path, or NULL; @st is set to its status. */
static struct file *load_file(struct object *o, const char *path, struct stat *st)
{
	struct elf_file e = { .fd = open_regular_file(path, st) };
	struct file *f;

	if (e.fd < 0)
		return NULL;
	e.size = (uint64_t)st->st_size;
	f = find_file(o, &e, st);
	close(e.fd);
	if (f && !f->path)
		f->path = strdup(path);
	if (e.out_of_memory || (f && !f->path))
		report_missing_names();
	return f;
}

static bool has_wanted_id(const struct object *o, const struct file *f)
{
	return f && f->n_id == o->n_id && memcmp(f->id, o->id, o->n_id) == 0;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static void load_symbols(struct object *o)
{
	const struct timespec *recorded = &o->all->recorded;
	char path[4096];
	struct stat st;
	struct file *found;

	o->loaded = true;
	if (strcmp(o->path, "[vdso]") == 0 && o->all->has_running_kernel &&
	    make_vdso_file(path, sizeof(path)) == 0)
		o->file = load_file(o, path, &st);
	if (o->path[0] != '/')
		return; /* [heap], //anon: no file */
	found = load_file(o, o->path, &st);
	if (found && !o->n_id && recorded->tv_sec && is_newer(&st.st_mtim, recorded))
		show_profile_message("%s has changed since the recording: names may be wrong",
		                     o->path);
	if (!o->n_id || has_wanted_id(o, found)) {
		o->file = found;
		return;
	}
	cached_file_path(o->id, o->n_id, path, sizeof(path));
	o->file = *path ? load_file(o, path, &st) : NULL;
	if (has_wanted_id(o, o->file))
		return;
	o->file = NULL;
	if (found)
		show_profile_message("functions of %s are not named: the file has changed since "
		                     "the recording",
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

bool symbols_has_offset(struct object *o, uint64_t offset)
{
	uint64_t address;

	return symbol_address(o, offset, &address);
}

const uint8_t *symbols_build_id(struct object *o, size_t *n)
{
	if (!o->n_id && !o->loaded)
		load_symbols(o);
	*n = o->n_id ? o->n_id : o->file ? o->file->n_id : 0;
	return !*n ? NULL : o->n_id ? o->id : o->file->id;
}

/* The text that is printed for @s, in memory of the caller's; NULL if that is its name. */
static char *make_shown_name(const struct symbol *s)
{
	bool is_stub = s->is_linkage_stub;
	bool is_other = is_stub || strnlen(s->name, SYMBOL_SIZE) == SYMBOL_SIZE;
	char *shown = symbols_demangle(s->name), *longer;

	if (!shown && is_other)
		shown = strndup(s->name, SYMBOL_SIZE - 1);
	longer = shown && is_stub ? realloc(shown, strlen(shown) + sizeof(LINKAGE_SUFFIX)) : shown;
	if (is_other && !longer)
		report_missing_names();
	return longer && is_stub ? strcat(longer, LINKAGE_SUFFIX) : longer ? longer : shown;
}

const char *symbols_at(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct symbol *s = symbol_address(o, offset, &address)
	                           ? symbol_table_find(&o->file->table, address)
	                           : NULL;

	if (!s)
		return NULL;
	if (!s->demangled)
		s->demangled = make_shown_name(s);
	return s->demangled ? s->demangled : s->name;
}

/* A function without a size ends where the next one begins. */
static uint64_t end_of_symbol(const struct symbol_table *t, const struct symbol *s)
{
	const struct symbol *next = s + 1 < t->list + t->n ? s + 1 : NULL;
	uint64_t size = s->size ? s->size : s->section_rest;

	if (!s->size && next && next->start - s->start < size)
		size = next->start - s->start;
	return s->start + size;
}

bool symbols_range(struct object *o, uint64_t offset, struct symbol_range *range)
{
	const struct symbol *s = symbol_address(o, offset, &range->address)
	                                 ? symbol_table_find(&o->file->table, range->address)
	                                 : NULL;

	if (!s || !o->file->path)
		return false;
	range->path = o->file->path;
	range->start = s->start;
	range->end = end_of_symbol(&o->file->table, s);
	return true;
}

uint64_t symbols_shown_address(struct object *o, uint64_t offset, uint64_t address)
{
	bool is_file = o->path[0] == '/' && o->path[1] != '/'; /* memory is //anon, [heap] */

	if (!is_file)
		return address;
	return symbol_address(o, offset, &address) ? address : offset;
}

const struct source_spot *symbols_spot(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct file *f;

	if (!symbol_address(o, offset, &address))
		return NULL;
	f = o->file;
	if (!f->lines_opened && f->path)
		f->lines = lines_open(f->path, o->all->debug_folder);
	f->lines_opened = true;
	return f->lines ? lines_at(f->lines, address) : NULL;
}

enum frame_result symbols_caller(struct object *o, uint64_t offset,
                                 struct frame_registers *registers,
                                 const struct frame_memory *memory, bool *is_signal)
{
	uint64_t address;
	struct file *f;

	if (!symbol_address(o, offset, &address))
		return FRAME_NO_RULE;
	f = o->file;
	if (!f->rules_opened && f->path)
		f->rules = frame_rules_open(f->path, o->all->debug_folder);
	f->rules_opened = true;
	return f->rules ? frame_rules_apply(f->rules, address, registers, memory, is_signal)
	                : FRAME_NO_RULE;
}

void symbols_expect(struct symbols *all, const char *name, uint64_t address)
{
	kernel_symbols_expect(&all->kernel, name, address);
}

const char *symbols_kernel(struct symbols *all, uint64_t address)
{
	return kernel_symbols_at(&all->kernel, address);
}
