/* SPDX-License-Identifier: MIT */
/* Linked with -Wl,--wrap=open. The mode bits of an open of the counter device mean other things to
 * Linux (O_LARGEFILE and O_DIRECTORY), which looks at them before any driver does. Here they are
 * moved to bits that reach the driver unseen (O_APPEND and O_NONBLOCK); cuse_server.c moves them
 * back. Nothing else is touched. */
#include <fcntl.h>
#include <perfmon/pfcntr.h>
#include <string.h>
#include <sys/types.h>
#include "door.h"

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);

int __wrap_open(const char *path, int flags, mode_t mode)
{
	if (strncmp(path, PFCNTR_DEVICE, strlen(PFCNTR_DEVICE)) == 0)
		flags = (flags & ~PCNTOPENMASK) | (flags & PCNTOPENMASK) >> DOOR_SHIFT;
	return __real_open(path, flags, mode);
}
