/* SPDX-License-Identifier: MIT */
/* The file of a command tells whether the kernel takes the counters away from it: it
 * gives rights that the caller lacks, or the caller may not read it. */
#include "common/command_rights.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Writes the path of the file that execvp(3) executes for @name. False if there is none. */
static bool find_program(const char *name, char path[PATH_SIZE])
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/') || !folders)
		return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE && access(path, X_OK) == 0;
	for (size_t len; *folders; folders += len + (folders[len] == ':')) {
		len = strcspn(folders, ":");
		if (snprintf(path, PATH_SIZE, "%.*s/%s", len ? (int)len : 1, len ? folders : ".",
		             name) < PATH_SIZE &&
		    access(path, X_OK) == 0)
			return true;
	}
	return false;
}

void read_command_rights(char *const *command, char *facts, size_t size)
{
	char path[PATH_SIZE];
	struct stat file;

	*facts = '\0';
	if (geteuid() == 0 || !find_program(command[0], path) || stat(path, &file) != 0)
		return;
	if ((file.st_mode & S_ISUID && file.st_uid != geteuid()) ||
	    (file.st_mode & S_ISGID && file.st_gid != getegid()) || access(path, R_OK) != 0)
		snprintf(facts, size, "; mode of %s is %o, owner %u", path,
		         (unsigned)(file.st_mode & 07777), (unsigned)file.st_uid);
	else if (getxattr(path, "security.capability", NULL, 0) > 0)
		snprintf(facts, size, "; %s has capabilities", path);
}
