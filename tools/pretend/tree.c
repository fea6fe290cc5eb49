/* SPDX-License-Identifier: MIT */
#include "pretend/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(struct tree *t, const char *where)
{
	if (t->error)
		return;
	t->error = errno;
	snprintf(t->where, sizeof(t->where), "%s", where);
}

/* ---- folders --------------------------------------------------------------------------------- */

static int make_base(const char *path)
{
	char copy[TREE_PATH_MAX];

	if (snprintf(copy, sizeof(copy), "%s/", path) >= (int)sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void begin_tree(struct tree *t, const char *path)
{
	*t = (struct tree){ .folder = -1 };
	t->base = make_base(path);
	if (t->base < 0)
		fail(t, "");
}

/* Opens the folder @name of folder @parent, which it closes. Returns -1 with errno. */
static int enter_folder(int parent, const char *name)
{
	int fd = -1;

	if (mkdirat(parent, name, 0755) == 0 || errno == EEXIST)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(parent);
	return fd;
}

/* Opens the folder @path below the base. Returns -1 with errno. */
static int open_folder(const struct tree *t, const char *path)
{
	char copy[TREE_PATH_MAX], *rest = copy, *name;
	int fd = fcntl(t->base, F_DUPFD_CLOEXEC, 0);

	snprintf(copy, sizeof(copy), "%s", path);
	while (fd >= 0 && (name = strsep(&rest, "/")))
		if (*name)
			fd = enter_folder(fd, name);
	return fd;
}

void descend_tree(struct tree *t, const char *path)
{
	const int fd = t->error ? -1 : open_folder(t, path);

	if (fd < 0)
		fail(t, "");
	if (t->base >= 0)
		close(t->base);
	t->base = fd;
}

/* Opens the folder @path as t->folder, unless the last file was in it. */
static void choose_folder(struct tree *t, const char *path)
{
	if (t->folder >= 0 && strcmp(t->folder_path, path) == 0)
		return;
	if (t->folder >= 0)
		close(t->folder);
	t->folder = open_folder(t, path);
	if (t->folder < 0)
		fail(t, path);
	snprintf(t->folder_path, sizeof(t->folder_path), "%s", path);
}

/* ---- files ----------------------------------------------------------------------------------- */

void put_file_bytes(struct tree *t, const char *folder, const char *name, const char *bytes,
                    size_t n)
{
	char where[TREE_PATH_MAX];
	int fd = -1;

	if (t->error)
		return;
	choose_folder(t, folder);
	if (t->folder < 0)
		return;
	if (unlinkat(t->folder, name, 0) == 0 || errno == ENOENT)
		fd = openat(t->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		            0644);
	snprintf(where, sizeof(where), "%.3000s%s%.1000s", folder, *folder ? "/" : "", name);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		fail(t, where);
	if (fd >= 0)
		close(fd);
}

void put_file(struct tree *t, const char *folder, const char *name, const char *text)
{
	put_line_file(t, folder, name, "%s", text);
}

void put_line_file(struct tree *t, const char *folder, const char *name, const char *format, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text) - 1, format, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(text) - 1)
		n = (int)sizeof(text) - 2;
	text[n] = '\n';
	put_file_bytes(t, folder, name, text, (size_t)n + 1);
}

void end_tree(struct tree *t)
{
	if (t->folder >= 0)
		close(t->folder);
	if (t->base >= 0)
		close(t->base);
	t->folder = t->base = -1;
}
