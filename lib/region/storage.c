/* SPDX-License-Identifier: MIT */
/* Chunks of memory for sums, visits and names. Where results go to a folder, chunks are pieces of a
 * file that is mapped (storage.h), so that a reader finds all ended visits however the process
 * ends. Elsewhere, and where the file has no room, they are memory of the process.
 *
 * Space in the file is allocated before it is mapped: a page without a block would raise SIGBUS.
 * The descriptor is compared with the file each time, because programs close descriptors that they
 * do not know. A fork gives the child copies of its chunks at the same addresses; they move to a
 * file of the child at its first region. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "machine/machine.h"
#include "region/region.h"
#include "region/storage.h"
#include "region/words.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { FIRST_CHUNK = 8 << 10, MAX_CHUNK = 1 << 30, NAMES_CHUNK = 4096, MAX_TRIES = 1000 };

static struct {
	bool is_tried; /* this process has created its file, or failed to */
	int fd;
	dev_t device;
	ino_t inode;
	/* Of the file; a word, since 64 bits need libatomic on some processors. */
	unsigned long pages;
	struct region_file_header *header; /* NULL: no file */
	struct region_chunk *names, *events, *undo, *free;
} file;

static size_t round_to_pages(size_t size)
{
	return (size + REGION_FILE_PAGE - 1) & ~(size_t)(REGION_FILE_PAGE - 1);
}

/* Makes all pages writable without a page fault: open regions would count it. */
static void populate(void *at, size_t bytes)
{
	if (madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
		return;
	for (size_t i = 0; i < bytes; i += REGION_FILE_PAGE) {
		volatile char *page = (volatile char *)at + i;
		char first = *page;

		*page = first;
	}
}

void pfmi_arena_populate(const struct arena *a)
{
	for (struct chunk *c = a->chunks; c; c = c->next)
		populate(c, c->size);
}

/* ---- space in the file ------------------------------------------------------------------- */

static bool is_own_file(void)
{
	struct stat s;

	return fstat(file.fd, &s) == 0 && s.st_dev == file.device && s.st_ino == file.inode;
}

/* A file beyond RLIMIT_FSIZE would end the process by SIGXFSZ. */
static bool is_within_limit(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur;
}

static int allocate_blocks(uint64_t at, size_t bytes)
{
	int err;

	do
		err = posix_fallocate(file.fd, (off_t)at, (off_t)bytes);
	while (err == EINTR);
	return err;
}

/* The pages of the file that @bytes take: a mapping begins at a page of the machine, which may be
 * larger. Those after @bytes are zero, and readers skip them. */
static unsigned long count_pages(size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * (page / REGION_FILE_PAGE);
}

/* Maps @bytes of new space in the file; NULL without room. Stores the offset in *@at. */
static void *map_new_space(size_t bytes, uint64_t *at)
{
	void *memory;

	if (!is_own_file())
		return NULL;
	*at = (uint64_t)__atomic_fetch_add(&file.pages, count_pages(bytes), __ATOMIC_RELAXED) *
	      REGION_FILE_PAGE;
	if (!is_within_limit(*at + bytes) || allocate_blocks(*at, bytes))
		return NULL;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.fd,
	              (off_t)*at);
	if (memory == MAP_FAILED)
		return NULL;
	populate(memory, bytes);
	return memory;
}

static void *map_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static struct region_chunk *make_chunk(enum region_chunk_kind kind, size_t bytes, int tid)
{
	uint64_t at = 0;
	struct region_chunk *c = file.header ? map_new_space(bytes, &at) : NULL;

	if (!c && file.header)
		__atomic_fetch_add(&file.header->lost, 1, __ATOMIC_RELAXED);
	if (!c) {
		at = 0;
		c = map_memory(bytes);
	}
	if (!c)
		return NULL;
	c->bytes = (uint32_t)bytes;
	c->tid = tid;
	c->used = sizeof(*c);
	c->offset = at;
	__atomic_store_n(&c->kind, kind, __ATOMIC_RELEASE);
	return c;
}

/* ---- the file ---------------------------------------------------------------------------- */

/* The folder of results: a descriptor that the command inherits, since a process that has changed
 * its user may not search the path. "FD:DEVICE:INODE" names it. */
static int get_inherited_folder(void)
{
	const char *text = pfmi_machine_get_env("PERFMON_REGIONS_FOLDER");
	unsigned long long device, inode;
	struct stat s;
	int fd;

	if (!text || sscanf(text, "%d:%llu:%llu", &fd, &device, &inode) != 3 ||
	    fstat(fd, &s) != 0 || !S_ISDIR(s.st_mode) || s.st_dev != (dev_t)device ||
	    s.st_ino != (ino_t)inode)
		return -1;
	return fd;
}

/* Creates the file under a name that no file has: a process that executes another program keeps its
 * number. */
static int create_file(void)
{
	int folder = get_inherited_folder(), fd = -1;
	char path[4200], suffix[32] = REGION_FILE_SUFFIX;

	for (unsigned i = 2; fd < 0 && i < MAX_TRIES; i++) {
		const char *name = path;

		if (!pfmi_region_build_path(path, sizeof(path), suffix))
			return -1;
		if (folder >= 0)
			name = strrchr(path, '/') + 1;
		fd = openat(folder >= 0 ? folder : AT_FDCWD, name,
		            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
		snprintf(suffix, sizeof(suffix), ".%u" REGION_FILE_SUFFIX, i);
	}
	return fd;
}

struct region_file_header *pfmi_storage_open_file(void)
{
	struct region_file_header *h;
	struct stat s;
	uint64_t at;

	if (file.is_tried)
		return NULL;
	file.is_tried = true;

	file.fd = create_file();
	if (file.fd < 0 || fstat(file.fd, &s) != 0)
		return NULL;
	file.device = s.st_dev;
	file.inode = s.st_ino;
	file.pages = 0;
	h = map_new_space(REGION_FILE_PAGE, &at);
	if (!h) {
		close(file.fd);
		errno = ENOSPC;
		return NULL;
	}
	file.header = h;
	return h;
}

/* Moves a chunk of this process into the file. Its address stays. */
static void move_chunk(struct region_chunk *c)
{
	uint64_t at;
	struct region_chunk *copy = map_new_space(c->bytes, &at);

	if (!copy) {
		file.header->lost++;
		return;
	}
	memcpy(copy, c, c->bytes);
	copy->offset = at;
	if (mremap(copy, copy->bytes, copy->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, c) == MAP_FAILED)
		file.header->lost++;
}

void pfmi_storage_move_to_file(const struct thread *t)
{
	for (struct region_chunk *c = t->chunks, *next; c; c = next) {
		next = c->own.next;
		move_chunk(c);
	}
}

void *pfmi_storage_make_events(size_t bytes)
{
	file.events = make_chunk(CHUNK_EVENTS, round_to_pages(sizeof(*file.events) + bytes), 0);
	if (!file.events)
		return NULL;
	file.events->used += (uint32_t)bytes;
	return file.events + 1;
}

void *pfmi_storage_commit_events(void)
{
	if (!file.events)
		return NULL;
	__atomic_store_n(&file.events->n, 1, __ATOMIC_RELEASE);
	return file.events + 1;
}

struct region_file_header *pfmi_storage_get_header(void)
{
	return file.header;
}

void pfmi_storage_end(bool is_kept)
{
	char path[4200];

	if (!file.header)
		return;
	__atomic_store_n(&file.header->state, REGION_FILE_ENDED, __ATOMIC_RELEASE);
	if (!is_kept && pfmi_region_build_path(path, sizeof(path), REGION_FILE_SUFFIX))
		unlink(path);
}

void pfmi_storage_count_dropped(uint64_t n)
{
	if (file.header)
		REGION_PUT(file.header->dropped, n);
}

/* ---- names ------------------------------------------------------------------------------- */

void pfmi_storage_put_name(uint32_t number, const char *name)
{
	uint32_t words[2] = { number, (uint32_t)strlen(name) };
	size_t bytes = sizeof(words) + ((words[1] + 7u) & ~(size_t)7);
	struct region_chunk *c = file.names;
	char *at;

	if (!file.header)
		return;
	if (!c || c->bytes - c->used < bytes) {
		c = make_chunk(CHUNK_NAMES, round_to_pages(sizeof(*c) + bytes), 0);
		if (!c)
			return;
		c->own.next = file.names;
		file.names = c;
	}
	at = (char *)c + c->used;
	memcpy(at, words, sizeof(words));
	memcpy(at + sizeof(words), name, words[1]);
	c->used += (uint32_t)bytes;
	__atomic_store_n(&c->n, c->n + 1, __ATOMIC_RELEASE);
}

/* ---- sums of threads --------------------------------------------------------------------- */

/* Takes a free chunk of at least @bytes. The list is taken as a whole, so that no lock is needed.
 */
static struct region_chunk *take_free_chunk(size_t bytes)
{
	struct region_chunk *list = __atomic_exchange_n(&file.free, NULL, __ATOMIC_ACQUIRE), *rest,
			    *last;

	if (!list)
		return NULL;
	rest = list->bytes >= bytes ? list->own.next : list;
	for (last = rest; last && last->own.next; last = last->own.next)
		;
	if (last) {
		last->own.next = __atomic_load_n(&file.free, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&file.free, &last->own.next, rest, true,
		                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	return list == rest ? NULL : list;
}

static struct region_chunk *reuse_chunk(struct region_chunk *c, int tid)
{
	memset(c + 1, 0, c->bytes - sizeof(*c));
	c->tid = tid;
	c->n = 0;
	c->used = sizeof(*c);
	c->missed = c->unmatched = 0;
	__atomic_store_n(&c->kind, CHUNK_SUMS, __ATOMIC_RELEASE);
	return c;
}

/* Chunks grow with the thread's sums: few mappings, and at most a ninth of the memory unused. */
static struct region_chunk *add_chunk(struct thread *t, size_t slot)
{
	size_t bytes = round_to_pages(t->chunk_bytes / 8), least;
	struct region_chunk *c;

	least = round_to_pages(sizeof(*c) + slot);
	bytes = bytes < FIRST_CHUNK ? FIRST_CHUNK : bytes;
	bytes = bytes < least ? least : bytes;
	if (bytes > MAX_CHUNK)
		return NULL;
	c = take_free_chunk(least);
	c = c ? reuse_chunk(c, t->tid) : make_chunk(CHUNK_SUMS, bytes, t->tid);
	if (!c)
		return NULL;
	c->own.next = t->chunks;
	t->chunks = c;
	t->chunk_bytes += c->bytes;
	pfmi_storage_note(t);
	return c;
}

void *pfmi_storage_alloc_slot(struct thread *t, size_t bytes)
{
	struct region_chunk *c = t->chunks;
	void *slot;

	if ((!c || c->bytes - c->used < bytes) && !(c = add_chunk(t, bytes)))
		return NULL;
	slot = (char *)c + c->used;
	c->used += (uint32_t)bytes;
	return slot;
}

void pfmi_storage_commit_slot(const struct thread *t)
{
	__atomic_store_n(&t->chunks->n, t->chunks->n + 1, __ATOMIC_RELEASE);
}

void pfmi_storage_note(const struct thread *t)
{
	struct region_chunk *c = t->chunks;

	if (!c)
		return;
	if (c->own.next)
		c->own.next->missed = c->own.next->unmatched = 0;
	c->missed = t->missed;
	c->unmatched = t->unmatched;
	c->unmatched_region = t->unmatched_region;
}

void pfmi_storage_set_thread(const struct thread *t)
{
	for (struct region_chunk *c = t->chunks; c; c = c->own.next)
		c->tid = t->tid;
}

void pfmi_storage_release(struct thread *t)
{
	for (struct region_chunk *c = t->chunks, *next; c; c = next) {
		next = c->own.next;
		__atomic_store_n(&c->kind, CHUNK_FREE, __ATOMIC_RELEASE);
		c->own.next = __atomic_load_n(&file.free, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&file.free, &c->own.next, c, true,
		                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	t->chunks = NULL;
}

/* ---- merging ----------------------------------------------------------------------------- */

/* Offset of @e in the file; 0 if it is not there. */
static uint64_t get_slot_offset(const struct thread *t, const struct entry *e)
{
	for (const struct region_chunk *c = t->chunks; c; c = c->own.next) {
		uintptr_t at = (uintptr_t)e - (uintptr_t)c;

		if (at < c->bytes)
			return c->offset ? c->offset + at : 0;
	}
	return 0;
}

/* A reader of a process that ended between these two calls takes the target's sums from the undo
 * chunk and the source's from its slot. */
void pfmi_storage_begin_merge(const struct thread *to, const struct entry *sum,
                              const struct thread *from, const struct entry *e)
{
	const size_t slot = pfmi_entry_get_size(&pfmi_regions.layout);
	uint64_t target = file.header ? get_slot_offset(to, sum) : 0;

	if (target && !file.undo)
		file.undo = make_chunk(CHUNK_UNDO, round_to_pages(sizeof(*file.undo) + slot), 0);
	if (!target || !file.undo)
		return;
	memcpy(file.undo + 1, sum, slot);
	file.undo->n = 1;
	file.header->merge_source = get_slot_offset(from, e);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	REGION_PUT(file.header->merge_target, target);
}

void pfmi_storage_end_merge(struct entry *e)
{
	__atomic_store_n(&e->threads, 0, __ATOMIC_RELEASE);
	if (!file.header)
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	REGION_PUT(file.header->merge_target, 0);
	REGION_ADD(file.header->merges, 1);
}

/* ---- visits one by one ------------------------------------------------------------------- */

struct region_chunk *pfmi_storage_make_visit_chunk(size_t bytes)
{
	return make_chunk(CHUNK_VISITS, bytes, 0);
}

/* ---- fork -------------------------------------------------------------------------------- */

static void unmap_list(struct region_chunk **list)
{
	for (struct region_chunk *c = *list, *next; c; c = next) {
		next = c->own.next;
		munmap(c, c->bytes);
	}
	*list = NULL;
}

/* Replaces a chunk of the parent's file by a copy. False without memory. */
static bool copy_chunk(struct region_chunk *c)
{
	struct region_chunk *copy = map_memory(c->bytes);

	if (!copy)
		return false;
	memcpy(copy, c, c->bytes);
	copy->offset = 0;
	return mremap(copy, copy->bytes, copy->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, c) !=
	       MAP_FAILED;
}

void pfmi_storage_forget_thread(struct thread *t)
{
	unmap_list(&t->chunks);
}

bool pfmi_storage_detach(struct thread *self)
{
	bool is_copied = true;

	if (file.header) {
		if (is_own_file())
			close(file.fd);
		munmap(file.header, REGION_FILE_PAGE);
	}
	for (struct region_chunk *c = self ? self->chunks : NULL; c; c = c->own.next)
		is_copied = is_copied && (!c->offset || copy_chunk(c));
	unmap_list(&file.names);
	unmap_list(&file.free);
	if (file.events)
		munmap(file.events, file.events->bytes);
	if (file.undo)
		munmap(file.undo, file.undo->bytes);
	file.header = NULL;
	file.events = file.undo = NULL;
	file.is_tried = false;
	return is_copied;
}
