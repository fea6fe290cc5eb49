/* SPDX-License-Identifier: MIT */
/* Image files: search path, file permissions, mapping, verification. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "context/context.h"

#ifndef PERFMON_DATADIR
#define PERFMON_DATADIR "/usr/share/perfmon"
#endif

size_t pfmi_image_get_default_path(char *buf, size_t len)
{
	const char *data = pfmi_machine_get_env("XDG_DATA_HOME"),
		   *home = pfmi_machine_get_env("HOME");
	int n;

	if (data && data[0] == '/')
		n = snprintf(buf, len, "%s/perfmon:%s", data, PERFMON_DATADIR);
	else if (home && home[0] == '/')
		n = snprintf(buf, len, "%s/.local/share/perfmon:%s", home, PERFMON_DATADIR);
	else
		n = snprintf(buf, len, "%s", PERFMON_DATADIR);
	return n < 0 ? len : (size_t)n;
}

/* Refuses a file that a user other than root and this one may have written. */
static const char *check_trust(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it belongs to another user: name the file itself to use it anyway";
	if (st->st_mode & S_IWOTH)
		return "every user can write to it: remove that permission (chmod o-w), or name "
		       "the file itself to use it anyway";
	return NULL;
}

/* Can only root shorten the file? Reading a mapped page that was cut off would end the process. */
static bool is_root_only_writable(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static bool read_exactly(int fd, char *to, size_t size)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < size && n > 0) {
		n = read(fd, to + have, size - have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	return have == size;
}

/* Maps a file, or reads it into private memory. Returns MAP_FAILED on failure. */
static void *load_file_bytes(int fd, const struct stat *st)
{
	size_t size = (size_t)st->st_size;
	void *at;

	if (is_root_only_writable(st))
		return mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED || (read_exactly(fd, at, size) && !mprotect(at, size, PROT_READ)))
		return at;
	munmap(at, size);
	return MAP_FAILED;
}

static const char no_descriptor_fault[] = "the process cannot open more files";

/* Reads or maps @path. Returns NULL, or a text with the fault. @named: the caller named this file,
 * so its owner is not checked. */
static const char *map_image_file(const char *path, bool named, struct image_map *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;
	struct stat st;
	void *at;

	if (fd < 0)
		return errno == EACCES                     ? "its permissions deny reading"
		       : errno == ENOENT                   ? "the file does not exist"
		       : machine_is_resource_error(-errno) ? no_descriptor_fault
		                                           : "it cannot be opened";
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		why = "it is not a regular file";
	else if (!named)
		why = check_trust(&st);
	if (!why && (st.st_size < (off_t)sizeof(struct image) || (uint64_t)st.st_size > UINT32_MAX))
		why = st.st_size < (off_t)sizeof(struct image)
		              ? "too short for an image of event tables"
		              : "too long for an image of event tables";
	at = why ? MAP_FAILED : load_file_bytes(fd, &st);
	close(fd);
	if (!why && at == MAP_FAILED)
		return "it cannot be read";
	if (!why &&
	    pfmi_table_verify_image(at, (size_t)st.st_size, named ? VERIFY_ALL : VERIFY_HEAD, &why))
		munmap(at, (size_t)st.st_size);
	if (why)
		return why;
	out->image = at;
	out->size = (size_t)st.st_size;
	atomic_init(&out->check_state, named);
	return NULL;
}

const char *pfmi_image_find_fault(struct image_map *map)
{
	const char *why = NULL;

	if (atomic_load_explicit(&map->check_state, memory_order_acquire) == 1)
		return NULL;
	/* Two threads may both verify the image, with the same result. */
	pfmi_table_verify_image(map->image, map->size, VERIFY_ALL, &why);
	if (!atomic_exchange(&map->check_state, why ? -1 : 1) && why && map->log)
		pfmi_machine_log(map->log, LOG_IMAGE, PFM_LOG_WARNING, "%s is ignored: %s",
		                 map->path, why);
	return why;
}

/* Allocates memory for one more element in a list that grows in powers of two. */
static void *extend_list(void *list, unsigned n, size_t size)
{
	if (n & (n - 1))
		return list;
	return realloc(list, (n ? 2 * n : 1) * size);
}

static int record_refusal(struct image_set *im, char *path, const char *why)
{
	struct image_rejection *list = extend_list(im->rejected, im->n_rejected, sizeof(*list));

	if (!list) {
		free(path);
		return PFMLIB_ERR_NOMEM;
	}
	im->rejected = list;
	im->rejected[im->n_rejected++] = (struct image_rejection){ path, why };
	return PFMLIB_SUCCESS;
}

static int report_resource_error(int err, pfm_error_t *why)
{
	return pfmi_base_set_errno_error(why, err == -ENOMEM ? PFMLIB_ERR_NOMEM : PFMLIB_ERR_SYS,
	                                 -err, err == -ENOMEM ? NULL : no_descriptor_fault);
}

/* Adds the image @path, which it then owns. A fault of a named file is an error, with its place in
 * the search path; other faults are listed. */
static int add_image_file(struct image_set *im, char *path, const char *search, const char *named,
                          pfm_error_t *why)
{
	struct image_map map = { .path = path }, *list;
	const char *fault = map_image_file(path, named != NULL, &map);

	if (fault && named) {
		struct slice place = { named, (uint32_t)strlen(path) };

		free(path);
		return pfmi_base_set_error(why, PFMLIB_ERR_IMAGE, PFM_KIND_IMAGE, search, place,
		                           fault);
	}
	if (fault == no_descriptor_fault) { /* the file may be valid */
		free(path);
		return report_resource_error(-EMFILE, why);
	}
	if (fault)
		return record_refusal(im, path, fault);
	list = extend_list(im->maps, im->n_maps, sizeof(*list));
	if (!list) {
		munmap((void *)(uintptr_t)map.image, map.size);
		free(path);
		return report_resource_error(-ENOMEM, why);
	}
	im->maps = list;
	im->maps[im->n_maps].image = map.image;
	im->maps[im->n_maps].log = NULL;
	im->maps[im->n_maps].size = map.size;
	im->maps[im->n_maps].path = map.path;
	atomic_init(&im->maps[im->n_maps++].check_state, atomic_load(&map.check_state));
	return PFMLIB_SUCCESS;
}

/* Joins @len bytes of @head, @between and @tail; NULL without memory. */
static char *join_text(const char *head, size_t len, const char *between, const char *tail)
{
	size_t size = len + strlen(between) + strlen(tail) + 1;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%.*s%s%s", (int)len, head, between, tail);
	return text;
}

static bool is_image_name(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".pmdb") == 0;
}

struct image_folder {
	struct image_set *images;
	const char *path;
	bool is_untrusted;
	pfm_error_t *error;
	int rc;
};

static int add_folder_file(void *arg, const char *name)
{
	struct image_folder *f = arg;
	char *path;

	if (!is_image_name(name) || name[0] == '.')
		return 0;
	path = join_text(f->path, strlen(f->path), "/", name);
	if (!path)
		f->rc = report_resource_error(-ENOMEM, f->error);
	else if (f->is_untrusted)
		f->rc = record_refusal(
			f->images, path,
			"its folder belongs to another user, or every user can write to it");
	else
		f->rc = add_image_file(f->images, path, NULL, NULL, f->error);
	return f->rc;
}

static int record_folder_refusal(struct image_set *im, const char *path, const char *fault,
                                 pfm_error_t *why)
{
	char *copy = join_text(path, strlen(path), "", "");

	return copy ? record_refusal(im, copy, fault) : report_resource_error(-ENOMEM, why);
}

static int add_image_folder(struct image_set *im, const char *path, pfm_error_t *why)
{
	struct image_folder f = { .images = im, .path = path, .error = why };
	struct stat st;
	struct sys sys;
	int err;

	if (stat(path, &st))
		return PFMLIB_SUCCESS; /* missing folders of a search path are ignored */
	if (!S_ISDIR(st.st_mode))
		return record_folder_refusal(
			im, path, "expected a folder or a file whose name ends in .pmdb", why);
	f.is_untrusted = check_trust(&st);
	pfmi_machine_init_real_sys(&sys, NULL);
	err = sys.list_folder(&sys, path, add_folder_file, &f);
	if (f.rc || err >= 0)
		return f.rc;
	return machine_is_resource_error(err)
	               ? report_resource_error(err, why)
	               : record_folder_refusal(im, path, "the folder cannot be read", why);
}

int pfmi_image_map_search_path(const char *path, struct image_set *out, pfm_error_t *why)
{
	const char *search = path;
	int rc = PFMLIB_SUCCESS;

	*out = (struct image_set){ 0 };
	while (*path && !rc) {
		size_t n = strcspn(path, ":");
		char *piece = join_text(path, n, "", "");

		if (!piece)
			rc = report_resource_error(-ENOMEM, why);
		else if (is_image_name(piece))
			rc = add_image_file(out, piece, search, path, why);
		else {
			rc = n ? add_image_folder(out, piece, why) : PFMLIB_SUCCESS;
			free(piece);
		}
		path += n + (path[n] == ':');
	}
	if (rc)
		pfmi_image_unmap_all(out);
	return rc;
}

void pfmi_image_unmap_all(struct image_set *im)
{
	for (unsigned i = 0; i < im->n_maps; i++) {
		munmap((void *)(uintptr_t)im->maps[i].image, im->maps[i].size);
		free(im->maps[i].path);
	}
	for (unsigned i = 0; i < im->n_rejected; i++)
		free(im->rejected[i].path);
	free(im->maps);
	free(im->rejected);
	*im = (struct image_set){ 0 };
}
