/* SPDX-License-Identifier: MIT */
/* The context of a freestanding build is constant and needs no lock. */
#ifndef PERFMON_FREESTANDING_PTHREAD_H
#define PERFMON_FREESTANDING_PTHREAD_H

typedef int pthread_mutex_t;

#endif
