/* SPDX-License-Identifier: MIT */
/* The symbols of all files of a recording, each read once, and the kernel's own list. */
#include "profile/regular_file.h"
#include "profile/messages.h"
#include "profile/symbols/file_checksums.h"
#include "profile/symbols/symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/hash.h"
#include "profile/symbols/debug_files.h"
#include "profile/symbols/debug_sources.h"
#include "profile/symbols/elf_file.h"
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/jitdump.h"
#include "profile/symbols/kernel_symbols.h"
#include "profile/symbols/lines.h"
#include "profile/symbols/symbol_table.h"
#include "profile/symbols/vdso.h"

#define LINKAGE_SUFFIX "@plt" /* as perf and debuggers show it */

/* Folders of files by build id: beside the recording, and the one that a user names. */
enum { STORE_OF_RECORDING, STORE_OF_USER, SYMBOL_STORES };

/* A file, however many paths lead to it. */
struct file {
	char *path; /* one of them */
	dev_t device;
	ino_t inode;
	struct file_symbols symbols;
	struct lines *lines;
	struct frame_rules *rules;
	bool lines_opened, rules_opened; /* for lines and rules */
};

struct object {
	char *path;
	struct symbols *all;
	struct file *file; /* NULL: not read, or none that has symbols */
	bool loaded;
	bool is_missing;           /* the file is gone, or has changed */
	uint8_t id[BUILD_ID_SIZE]; /* the build id that the file must have */
	size_t n_id;               /* 0: any build id will do */
};

struct symbols {
	struct object **objects;
	struct file **files;
	uint32_t n_objects, n_files;
	struct hash_table object_table, file_table;
	struct kernel_symbols kernel;
	struct symbol_sources sources;
	struct file_checksums checksums;
	char *stores[SYMBOL_STORES]; /* each or NULL */
	unsigned n_missing;          /* files that were reported as missing */
	struct timespec recorded;    /* when the recording was written; 0: not known */
	bool has_running_kernel;     /* the kernel that was recorded runs */
};

struct symbols *symbols_open(const char *debug_folder, struct profile_messages *messages)
{
	struct symbols *all = calloc(1, sizeof(*all));

	if (all) {
		all->sources.debug_folder = debug_folder ? debug_folder : DEBUG_FOLDER;
		all->sources.trust = trust_running();
		all->sources.checksums = &all->checksums;
		all->sources.messages = all->kernel.messages = messages;
	}
	return all;
}

static void release_file(struct file *f)
{
	file_symbols_free(&f->symbols);
	lines_close(f->lines);
	frame_rules_close(f->rules);
	free(f->path);
}

void symbols_set_recording(struct symbols *all, const struct stat *st)
{
	all->recorded = st->st_mtim;
	all->sources.trust = (struct trust){ .recorder = st->st_uid, .recorded = st->st_mtim };
}

void symbols_set_stores(struct symbols *all, const char *recording, const char *folder)
{
	if (asprintf(&all->stores[STORE_OF_RECORDING], "%s" STORE_SUFFIX, recording) < 0)
		all->stores[STORE_OF_RECORDING] = NULL;
	all->stores[STORE_OF_USER] = folder ? strdup(folder) : NULL;
	all->sources.store = all->stores[STORE_OF_USER];
	all->sources.recording_store = all->stores[STORE_OF_RECORDING];
}

struct profile_messages *symbols_get_messages(const struct symbols *all)
{
	return all->sources.messages;
}

const struct trust *symbols_get_trust(const struct symbols *all)
{
	return &all->sources.trust;
}

void symbols_set_recorded_kernel(struct symbols *all, const char *release)
{
	struct utsname u;

	all->has_running_kernel = uname(&u) == 0 && strcmp(u.release, release) == 0;
	kernel_symbols_set_release(&all->kernel, release, &all->sources);
}

void symbols_assume_running_kernel(struct symbols *all)
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
		release_file(all->files[i]);
		free(all->files[i]);
	}
	for (unsigned i = 0; i < SYMBOL_STORES; i++)
		free(all->stores[i]);
	free(all->objects);
	free(all->files);
	pfmi_base_free_hash(&all->object_table);
	pfmi_base_free_hash(&all->file_table);
	kernel_symbols_free(&all->kernel);
	file_checksums_free(&all->checksums);
	free(all);
}

/* @list of @n pointers, enlarged by one and moved where needed; NULL without memory. */
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

struct object *symbols_get_object(struct symbols *all, const char *path, const uint8_t *id,
                                  size_t n)
{
	const struct object_search search = { all, path, id,
		                              n < BUILD_ID_SIZE ? n : BUILD_ID_SIZE };
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
	report_missing_names(all->sources.messages);
	if (o)
		free(o->path);
	free(o);
	return NULL;
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
static struct file *find_or_read_file(struct object *o, struct elf_file *e, const struct stat *st)
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
	file_symbols_read(&f->symbols, e, o->path, &o->all->sources);
	return f;
}

/* The file at @path, or NULL; @st is set to its status. */
static struct file *load_file(struct object *o, const char *path, struct stat *st)
{
	int fd = trust_open(&o->all->sources.trust, path, st, o->all->sources.messages);
	struct elf_file e;
	struct file *f;

	if (fd < 0)
		return NULL;
	e = elf_file_begin(fd, (uint64_t)st->st_size, path, o->all->sources.messages);
	f = find_or_read_file(o, &e, st);
	close(e.fd);
	if (f && !f->path)
		f->path = strdup(path);
	if (e.out_of_memory || (f && !f->path))
		report_missing_names(o->all->sources.messages);
	return f;
}

static bool has_wanted_build_id(const struct object *o, const struct file *f)
{
	return f && f->symbols.n_id == o->n_id && memcmp(f->symbols.id, o->id, o->n_id) == 0;
}

static bool is_later_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* The owner of a folder beside a recording in /tmp says nothing of its files: a file must belong
 * to root or to the owner of the recording. */
static bool is_own_store_file(const struct object *o, const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == o->all->sources.trust.recorder;
}

/* Reads the object's file from a server of the user. */
static bool load_fetched_file(struct object *o)
{
	char *path = fetch_program_file(o->id, o->n_id, o->all->sources.messages);
	struct stat st;

	o->file = path ? load_file(o, path, &st) : NULL;
	free(path);
	if (has_wanted_build_id(o, o->file))
		return true;
	o->file = NULL;
	return false;
}

/* Reads the object's file from where files are by build id. False if it is nowhere. */
static bool load_stored_file(struct object *o)
{
	char path[4096];
	struct stat st;

	for (unsigned i = 0; i <= SYMBOL_STORES; i++) {
		path[0] = '\0';
		if (i == SYMBOL_STORES)
			make_cached_file_path(o->id, o->n_id, path, sizeof(path));
		else if (o->all->stores[i])
			make_stored_file_path(o->all->stores[i], o->id, o->n_id, "elf", path,
			                      sizeof(path));
		o->file = *path ? load_file(o, path, &st) : NULL;
		if (has_wanted_build_id(o, o->file) &&
		    (i != STORE_OF_RECORDING || is_own_store_file(o, &st)))
			return true;
	}
	return load_fetched_file(o);
}

enum { MISSING_FILES_SHOWN = 5 };

static void report_missing_file(struct object *o)
{
	struct stat st;

	if (o->path[1] == '/' || stat(o->path, &st) == 0) /* //anon: memory */
		return;
	o->is_missing = true;
	if (o->all->n_missing++ < MISSING_FILES_SHOWN)
		show_profile_message(o->all->sources.messages,
		                     "functions of %s are not named: the file is gone, or it is of "
		                     "another mount namespace or machine",
		                     o->path);
	else if (o->all->n_missing == MISSING_FILES_SHOWN + 1)
		show_profile_message(o->all->sources.messages,
		                     "functions of more files are not named, as these are gone, "
		                     "too");
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
	if (o->path[0] != '/' || is_jitdump_path(o->path))
		return; /* [heap], //anon: no file; a dump of a compiler: no program */
	found = load_file(o, o->path, &st);
	if (found && !o->n_id && recorded->tv_sec && is_later_time(&st.st_mtim, recorded))
		show_profile_message(o->all->sources.messages,
		                     "%s has changed since the recording: names may be wrong",
		                     o->path);
	if (!o->n_id || has_wanted_build_id(o, found)) {
		o->file = found;
		if (!found)
			report_missing_file(o);
		return;
	}
	if (load_stored_file(o))
		return;
	o->is_missing = found;
	if (found)
		show_profile_message(o->all->sources.messages,
		                     "functions of %s are not named: the file has changed since "
		                     "the recording",
		                     o->path);
	else
		report_missing_file(o);
}

const char *symbols_get_recording_store(const struct symbols *all)
{
	return all->stores[STORE_OF_RECORDING];
}

const char *symbols_get_path(struct object *o)
{
	if (!o->loaded)
		load_symbols(o);
	return o->file ? o->file->path : NULL;
}

const char *symbols_get_debug_path(struct object *o)
{
	return symbols_get_path(o) ? o->file->symbols.separate_path : NULL;
}

bool symbols_is_missing(struct object *o)
{
	if (!o->loaded)
		load_symbols(o);
	return o->is_missing;
}

/* The file's own address of the byte at @offset. False if it is not loaded into memory. */
static bool compute_symbol_address(struct object *o, uint64_t offset, uint64_t *address)
{
	if (!o->loaded)
		load_symbols(o);
	return o->file && file_symbols_compute_address(&o->file->symbols, offset, address);
}

bool symbols_has_offset(struct object *o, uint64_t offset)
{
	uint64_t address;

	return compute_symbol_address(o, offset, &address);
}

const uint8_t *symbols_get_build_id(struct object *o, size_t *n)
{
	if (!o->n_id && !o->loaded)
		load_symbols(o);
	*n = o->n_id ? o->n_id : o->file ? o->file->symbols.n_id : 0;
	return !*n ? NULL : o->n_id ? o->id : o->file->symbols.id;
}

/* The text that is printed for @s, in memory of the caller's; NULL if that is its name. */
static char *make_shown_name(const struct symbol *s, struct profile_messages *messages)
{
	bool is_stub = s->is_linkage_stub;
	bool is_other = is_stub || strnlen(s->name, SYMBOL_SIZE) == SYMBOL_SIZE;
	char *shown = symbols_demangle(s->name), *longer;

	if (!shown && is_other)
		shown = strndup(s->name, SYMBOL_SIZE - 1);
	longer = shown && is_stub ? realloc(shown, strlen(shown) + sizeof(LINKAGE_SUFFIX)) : shown;
	if (is_other && !longer)
		report_missing_names(messages);
	return longer && is_stub ? strcat(longer, LINKAGE_SUFFIX) : longer ? longer : shown;
}

const char *symbols_find_name(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct symbol *s = compute_symbol_address(o, offset, &address)
	                           ? symbol_table_find(&o->file->symbols.table, address)
	                           : NULL;

	if (!s)
		return NULL;
	if (!s->demangled)
		s->demangled = make_shown_name(s, o->all->sources.messages);
	return s->demangled ? s->demangled : s->name;
}

bool symbols_find_stub(struct object *o, uint64_t offset, uint64_t *offset_in_stub)
{
	uint64_t address;
	const struct symbol *s = compute_symbol_address(o, offset, &address)
	                                 ? symbol_table_find(&o->file->symbols.table, address)
	                                 : NULL;

	if (!s || !s->is_linkage_stub)
		return false;
	*offset_in_stub = address - s->start;
	return true;
}

/* A function without a size ends where the next one begins. */
static uint64_t get_symbol_end(const struct symbol_table *t, const struct symbol *s)
{
	const struct symbol *next = s + 1 < t->list + t->n ? s + 1 : NULL;
	uint64_t size = s->size ? s->size : s->section_rest;

	if (!s->size && next && next->start - s->start < size)
		size = next->start - s->start;
	return s->start + size;
}

bool symbols_find_range(struct object *o, uint64_t offset, struct symbol_range *range)
{
	const struct symbol *s =
		compute_symbol_address(o, offset, &range->address)
			? symbol_table_find(&o->file->symbols.table, range->address)
			: NULL;

	if (!s || !o->file->path)
		return false;
	range->path = o->file->path;
	range->start = s->start;
	range->end = get_symbol_end(&o->file->symbols.table, s);
	return true;
}

uint64_t symbols_get_shown_address(struct object *o, uint64_t offset, uint64_t address)
{
	bool is_file = o->path[0] == '/' && o->path[1] != '/'; /* memory is //anon, [heap] */

	if (!is_file)
		return address;
	return compute_symbol_address(o, offset, &address) ? address : offset;
}

const struct source_spot *symbols_find_source_spot(struct object *o, uint64_t offset)
{
	uint64_t address;
	struct file *f;

	if (!compute_symbol_address(o, offset, &address))
		return NULL;
	f = o->file;
	if (!f->lines_opened && f->path)
		f->lines = lines_open(f->path, &o->all->sources);
	f->lines_opened = true;
	return f->lines ? lines_find_spot(f->lines, address) : NULL;
}

enum frame_result symbols_find_caller(struct object *o, uint64_t offset,
                                      struct frame_registers *registers,
                                      const struct frame_memory *memory, bool *is_signal)
{
	uint64_t address;
	struct file *f;

	if (!compute_symbol_address(o, offset, &address))
		return FRAME_NO_RULE;
	f = o->file;
	if (!f->rules_opened && f->path)
		f->rules = frame_rules_open(f->path, &o->all->sources);
	f->rules_opened = true;
	return f->rules ? frame_rules_apply(f->rules, address, registers, memory, is_signal)
	                : FRAME_NO_RULE;
}

void symbols_expect_kernel_symbol(struct symbols *all, const char *name, uint64_t address)
{
	kernel_symbols_expect_symbol(&all->kernel, name, address);
}

const char *symbols_find_kernel_name(struct symbols *all, uint64_t address)
{
	return kernel_symbols_find(&all->kernel, address);
}
