/* SPDX-License-Identifier: MIT */
/* Results of system calls, which a program without an operating system does not make. */
#ifndef PERFMON_FREESTANDING_ERRNO_H
#define PERFMON_FREESTANDING_ERRNO_H

enum { ENOENT = 2, ENOMEM = 12, EACCES = 13, EINVAL = 22, ENFILE = 23, EMFILE = 24 };

#endif
