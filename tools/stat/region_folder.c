/* SPDX-License-Identifier: MIT */
/* pfm stat --regions: the folder in which the processes of the command put their results.
 *
 * Only its owner can search it. The processes of root's command may change their user: their folder
 * is a second one inside, in which everybody may create files but not list them, and which the
 * command inherits as a descriptor, because no other user reaches it by its path.
 *
 * The folder is locked while pfm runs. A folder without a lock is of a pfm that was killed, and the
 * next one removes it. */
#include "stat/region_results.h"
#include "stat/stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define NAME      "pfm-regions-"
#define KEPT_NAME "pfm-kept-regions-"

enum { AGE = 60, INHERITED_FD = 100 };

static const uint64_t memory_room = (uint64_t)512 << 20;

/* Sums belong in memory: a file system on a disk protects pages that it has written, and each
 * protected page is a page fault of the program. */
static const char *get_parent_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	struct statvfs s;

	if (tmp && *tmp)
		return tmp;
	if (access("/dev/shm", W_OK | X_OK) == 0 && statvfs("/dev/shm", &s) == 0 &&
	    (uint64_t)s.f_bavail * s.f_frsize >= memory_room)
		return "/dev/shm";
	return "/tmp";
}

static int is_result(const struct dirent *e)
{
	return strncmp(e->d_name, "regions.", 8) == 0;
}

static void remove_files(const char *path)
{
	struct dirent **names = NULL;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int n = folder < 0 ? 0 : scandirat(folder, ".", &names, is_result, NULL);

	for (int i = 0; i < n; i++) {
		unlinkat(folder, names[i]->d_name, 0);
		free(names[i]);
	}
	free(names);
	if (folder >= 0)
		close(folder);
	rmdir(path);
}

static void remove_tree(const char *path)
{
	char inner[REGION_PATH_SIZE];

	if ((size_t)snprintf(inner, sizeof(inner), "%s/results", path) < sizeof(inner))
		remove_files(inner);
	remove_files(path);
}

static int is_folder(const struct dirent *e)
{
	return strncmp(e->d_name, NAME, strlen(NAME)) == 0;
}

/* Removes @path if it is a folder of this user that no pfm has locked for a minute. */
static void remove_stale(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat s;

	if (fd < 0)
		return;
	if (fstat(fd, &s) == 0 && s.st_uid == geteuid() && s.st_mtime + AGE < time(NULL) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_tree(path);
	close(fd);
}

static void remove_stale_folders(const char *parent)
{
	struct dirent **names = NULL;
	int n = scandir(parent, &names, is_folder, NULL);
	char path[REGION_PATH_SIZE];

	for (int i = 0; i < n; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", parent, names[i]->d_name) <
		    sizeof(path))
			remove_stale(path);
		free(names[i]);
	}
	free(names);
}

int make_region_folder(struct region_folder *folder, bool is_kept)
{
	const char *parent = get_parent_folder();

	remove_stale_folders(parent);
	*folder = (struct region_folder){ .lock = -1, .is_kept = is_kept };
	snprintf(folder->path, sizeof(folder->path), "%s/%sXXXXXX", parent,
	         is_kept ? KEPT_NAME : NAME);
	if (!mkdtemp(folder->path))
		return errno;
	folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (folder->lock >= 0)
		flock(folder->lock, LOCK_EX | LOCK_NB);
	folder->is_shared = geteuid() == 0;
	snprintf(folder->results, sizeof(folder->results), "%s%s", folder->path,
	         folder->is_shared ? "/results" : "");
	if (folder->is_shared &&
	    (mkdir(folder->results, 0700) != 0 || chmod(folder->results, S_ISVTX | 0733) != 0)) {
		int err = errno;

		remove_region_folder(folder);
		return err;
	}
	return 0;
}

void remove_region_folder(struct region_folder *folder)
{
	if (folder->is_kept)
		fprintf(stderr, "%s: the results are in %s\n", program_name, folder->path);
	else
		remove_tree(folder->path);
	if (folder->lock >= 0)
		close(folder->lock);
	folder->lock = -1;
}

void inherit_region_folder(const struct region_folder *folder)
{
	char text[128];
	struct stat s;
	int fd, high;

	unsetenv("PERFMON_REGIONS_FOLDER");
	if (!folder->is_shared)
		return;
	fd = open(folder->results, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	high = fd < 0 ? -1 : fcntl(fd, F_DUPFD, INHERITED_FD);
	if (high >= 0 && fstat(high, &s) == 0) {
		snprintf(text, sizeof(text), "%d:%llu:%llu", high, (unsigned long long)s.st_dev,
		         (unsigned long long)s.st_ino);
		setenv("PERFMON_REGIONS_FOLDER", text, 1);
	}
}
