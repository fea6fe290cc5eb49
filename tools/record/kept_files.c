/* SPDX-License-Identifier: MIT */
/* Records of mappings are read from the recording itself, as they are written: a mapping is seen
 * within the tenth of a second between two passes over the buffers. A file that is gone by then is
 * reached through the process that has it mapped, /proc/PID/map_files (root) or /proc/PID/root, if
 * that still runs. */
#include "record/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"
#include "common/pfm.h"
#include "perfdata/perfdata.h"
#include "profile/regular_file.h"
#include "profile/symbols/debug_files.h"
#include "profile/symbols/file_symbols.h"
#include "profile/symbols/symbols.h"

enum { FILES_MAX = 1000, CHUNK = 1 << 18, PATH_SIZE = 4096 };

/* PERF_RECORD_MMAP2 of Linux with a build id (PERF_RECORD_MISC_MMAP_BUILD_ID). */
struct mapping_record {
	struct record_header head;
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint8_t n_id, reserved[3], id[KEPT_ID_SIZE];
	uint32_t protection, flags;
	char path[];
};

enum { MISC_BUILD_ID = 1 << 14 };

/* ---- files ----------------------------------------------------------------------------------- */

struct kept_search {
	const struct kept_files *files;
	const uint8_t *id;
	size_t n_id;
};

static bool is_same_build(const void *arg, uint32_t i)
{
	const struct kept_search *s = arg;
	const struct kept_file *f = &s->files->list[i];

	return f->n_id == s->n_id && memcmp(f->id, s->id, s->n_id) == 0;
}

/* The file at @path, if it is of build @id; else -1. */
static int open_build(const char *path, const uint8_t *id, size_t n_id)
{
	struct stat st;
	int fd = open_regular_file(path, &st);

	if (fd >= 0 && file_symbols_is_build(fd, (uint64_t)st.st_size, path, id, n_id, 0,
	                                     &(struct symbol_sources){ .messages = NULL }))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Opens a file by its path, or through a process that has mapped it. */
static int open_mapped_file(const struct mapping_record *m)
{
	char path[PATH_SIZE + 64];
	int fd = open_build(m->path, m->id, m->n_id);

	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", m->pid,
		         (unsigned long long)m->start, (unsigned long long)m->start + m->size);
		fd = open_build(path, m->id, m->n_id);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%u/root%s", m->pid, m->path);
		fd = open_build(path, m->id, m->n_id);
	}
	return fd;
}

/* The number of files that may be open: half of what the limit permits. */
static size_t get_open_limit(void)
{
	struct rlimit limit;
	size_t half;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return FILES_MAX;
	half = (size_t)limit.rlim_cur / 2;
	return half < FILES_MAX ? half : FILES_MAX;
}

static struct kept_file *add_file(struct kept_files *k, const struct mapping_record *m,
                                  uint64_t hash)
{
	struct kept_file *f;

	k->list = base_grow_list(k->list, k->n, &k->capacity, sizeof(*k->list), &k->failed);
	if (k->failed || !pfmi_base_add_hash(&k->table, hash, (uint32_t)k->n)) {
		k->failed = true;
		return NULL;
	}
	f = &k->list[k->n++];
	*f = (struct kept_file){ .path = strdup(m->path), .n_id = m->n_id, .fd = -1 };
	memcpy(f->id, m->id, m->n_id);
	k->failed |= !f->path;
	return f;
}

/* Adds the file of a mapping, or opens it if that failed before. */
static void keep_file(struct kept_files *k, const struct mapping_record *m)
{
	const struct kept_search search = { k, m->id, m->n_id };
	uint64_t hash = pfmi_base_hash_bytes(m->id, m->n_id);
	uint32_t at = pfmi_base_find_hash(&k->table, hash, is_same_build, &search);
	struct kept_file *f = at == HASH_NOT_FOUND ? add_file(k, m, hash) : &k->list[at];

	if (!f || f->fd >= 0)
		return;
	if (k->n_open >= get_open_limit()) {
		k->n_left_out++;
		return;
	}
	f->fd = open_mapped_file(m);
	k->n_open += f->fd >= 0;
}

/* ---- records --------------------------------------------------------------------------------- */

static bool is_mapping_of_file(const struct mapping_record *m)
{
	return m->head.type == PFM_RECORD_MAP2 && m->head.misc & MISC_BUILD_ID &&
	       (m->head.misc & PFM_MISC_MODE) == PFM_MISC_USER && m->head.size > sizeof(*m) + 1 &&
	       m->n_id && m->n_id <= KEPT_ID_SIZE && m->path[0] == '/' &&
	       memchr(m->path, '\0', m->head.size - sizeof(*m));
}

/* Reads whole records of @bytes. Returns their size. */
static size_t read_records(struct kept_files *k, const uint8_t *bytes, size_t n)
{
	struct record_header head;
	size_t at = 0;

	while (n - at >= sizeof(head) && !k->failed) {
		const struct mapping_record *m = (const void *)(bytes + at);

		memcpy(&head, bytes + at, sizeof(head));
		if (head.size < sizeof(head) || head.size % sizeof(uint64_t)) {
			k->failed = true;
			break;
		}
		if (head.size > n - at)
			break;
		if (is_mapping_of_file(m))
			keep_file(k, m);
		at += head.size;
	}
	return at;
}

/* Opens the recording, and goes to its data. */
static bool begin_records(struct kept_files *k, const char *path)
{
	struct perfdata_header header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	k->fd = fd;
	k->read = header.data.offset;
	return true;
}

void keep_mapped_files(struct kept_files *k, const char *path, uint64_t size)
{
	uint64_t *bytes; /* aligned as records are */

	if (!k->fd && !k->failed)
		k->failed = !begin_records(k, path);
	if (k->failed || k->read >= size)
		return;
	bytes = malloc(CHUNK);
	while (bytes && !k->failed && k->read < size) {
		size_t wanted = size - k->read < CHUNK ? (size_t)(size - k->read) : CHUNK;
		ssize_t got = pread(k->fd, bytes, wanted, (off_t)k->read);
		size_t done = got > 0 ? read_records(k, (const uint8_t *)bytes, (size_t)got) : 0;

		k->read += done;
		if (!done)
			break;
	}
	free(bytes);
}

/* ---- storing --------------------------------------------------------------------------------- */

/* Does the path lead to the file that is open? */
static bool is_in_place(const struct kept_file *f)
{
	struct stat kept, now;

	return fstat(f->fd, &kept) == 0 && stat(f->path, &now) == 0 && kept.st_dev == now.st_dev &&
	       kept.st_ino == now.st_ino;
}

/* Creates the folder beside the recording. False, with errno, if another user owns it. */
static bool create_store(const char *recording)
{
	char path[PATH_SIZE];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s" STORE_SUFFIX, recording) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if ((mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &st) != 0)
		return false;
	errno = EPERM;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Creates the folders of @path. False, with errno, if one cannot be. */
static bool create_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int rc;

		*slash = '\0';
		rc = mkdir(path, 0700);
		*slash = '/';
		if (rc != 0 && errno != EEXIST)
			return false;
	}
	return true;
}

static bool copy_bytes(int from, int to)
{
	char bytes[1 << 16];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(from, bytes, sizeof(bytes), at)) > 0) {
		for (ssize_t done = 0, n; done < got; done += n) {
			n = write(to, bytes + done, (size_t)(got - done));
			if (n <= 0)
				return false;
		}
		at += got;
	}
	return got == 0;
}

/* Copies the file to @path. False, with errno, if it cannot be written. */
static bool store_file(const struct kept_file *f, char *path)
{
	bool is_written;
	int fd;

	if (!create_folders(path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST;
	is_written = copy_bytes(f->fd, fd);
	is_written = close(fd) == 0 && is_written;
	if (!is_written)
		unlink(path);
	return is_written;
}

static void make_store_path(const struct kept_file *f, const char *recording, char path[PATH_SIZE])
{
	char folder[PATH_SIZE];

	path[0] = '\0';
	if ((size_t)snprintf(folder, sizeof(folder), "%s" STORE_SUFFIX, recording) < sizeof(folder))
		make_stored_file_path(folder, f->id, f->n_id, "elf", path, PATH_SIZE);
}

void store_kept_files(struct kept_files *k, const char *recording)
{
	char path[PATH_SIZE];
	size_t n_stored = 0;

	for (size_t i = 0; i < k->n; i++) {
		struct kept_file *f = &k->list[i];

		if (f->fd < 0 || is_in_place(f))
			continue;
		make_store_path(f, recording, path);
		f->is_stored = *path && create_store(recording) && store_file(f, path);
		n_stored += f->is_stored;
		if (!f->is_stored)
			fprintf(stderr, "pfm record: %s is gone, and cannot be stored as %s: %s\n",
			        f->path, path, strerror(errno));
	}
	if (n_stored)
		fprintf(stderr,
		        "pfm record: %zu program%s or librar%s that %s gone %s stored in %s%s\n",
		        n_stored, n_stored > 1 ? "s" : "", n_stored > 1 ? "ies" : "y",
		        n_stored > 1 ? "are" : "is", n_stored > 1 ? "are" : "is", recording,
		        STORE_SUFFIX);
	if (k->n_left_out)
		fprintf(stderr,
		        "pfm record: too many files were mapped: names of those that are gone may "
		        "be missing; raise the limit of open files (ulimit -n)\n");
}

void remove_stored_files(const struct kept_files *k, const char *recording)
{
	char path[PATH_SIZE];

	for (size_t i = 0; i < k->n; i++) {
		if (!k->list[i].is_stored)
			continue;
		make_store_path(&k->list[i], recording, path);
		unlink(path);
		/* The folders above it, up to that of the recording, once they are empty. */
		for (unsigned level = 0; level < 4; level++) {
			*strrchr(path, '/') = '\0';
			if (rmdir(path) != 0)
				break;
		}
	}
}

void free_kept_files(struct kept_files *k)
{
	for (size_t i = 0; i < k->n; i++) {
		if (k->list[i].fd >= 0)
			close(k->list[i].fd);
		free(k->list[i].path);
	}
	if (k->fd > 0)
		close(k->fd);
	free(k->list);
	pfmi_base_free_hash(&k->table);
}
