/* SPDX-License-Identifier: MIT */
/* The system calls that the supervisor answers for a program. */
#ifndef PFM_PRETEND_FILTER_H
#define PFM_PRETEND_FILTER_H

#include <sys/syscall.h>

/* Descriptors of pretended events: the calls of others stay the kernel's. */
enum { FIRST_EVENT_FD = 900, N_EVENT_FDS = 8192 };

/* Installs the filter in this process. Returns its descriptor, for the supervisor, or -errno. */
int install_filter(void);

/* The call that maps files: 32-bit Arm has mmap2(2) alone. */
#ifdef SYS_mmap
#define MAP_CALL SYS_mmap
#else
#define MAP_CALL SYS_mmap2
#endif

#endif
