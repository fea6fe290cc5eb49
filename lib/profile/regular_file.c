/* SPDX-License-Identifier: MIT */
#include "profile/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int open_regular_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || (fstat(fd, st) == 0 && S_ISREG(st->st_mode)))
		return fd;
	close(fd);
	return -1;
}
