/* SPDX-License-Identifier: MIT */
#include "common/cgroup_path.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "stat/stat.h"

enum { MAX_DEPTH = 24 };

/* Looks for the folder @id at and below @path. */
static bool find_below(uint64_t id, char path[CGROUP_PATH_SIZE], unsigned depth)
{
	const size_t len = strlen(path);
	const struct dirent *entry;
	bool is_found = false;
	struct stat folder;
	DIR *dir;

	if (stat(path, &folder) == 0 && folder.st_ino == id)
		return true;
	dir = depth < MAX_DEPTH ? opendir(path) : NULL;
	while (dir && !is_found && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || *entry->d_name == '.' ||
		    len + strlen(entry->d_name) + 2 > CGROUP_PATH_SIZE)
			continue;
		snprintf(path + len, CGROUP_PATH_SIZE - len, "/%s", entry->d_name);
		is_found = find_below(id, path, depth + 1);
		if (!is_found)
			path[len] = '\0';
	}
	if (dir)
		closedir(dir);
	return is_found;
}

bool find_cgroup_path(uint64_t id, char path[CGROUP_PATH_SIZE])
{
	char mount[CGROUP_PATH_SIZE];
	size_t len;

	if (!find_perf_cgroup_mount(mount, sizeof(mount)))
		return false;
	snprintf(path, CGROUP_PATH_SIZE, "%s", mount);
	if (!find_below(id, path, 0))
		return false;
	len = strlen(mount);
	memmove(path, path + len, strlen(path + len) + 1);
	if (!*path)
		snprintf(path, CGROUP_PATH_SIZE, "/");
	return true;
}
