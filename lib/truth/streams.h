/* SPDX-License-Identifier: MIT */
/* Streams: threads on all CPUs that move a known number of bytes between the memory and the
 * caches. */
#ifndef PERFMON_TRUTH_STREAMS_H
#define PERFMON_TRUTH_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

enum truth_stream {
	TRUTH_STREAM_READ,  /* each byte is read once in a pass */
	TRUTH_STREAM_WRITE, /* each byte is written once; a cache may read it before */
	TRUTH_STREAM_IDLE   /* as long as a read would take, without the memory */
};

/* Lets a thread for each CPU, at most 64, do @passes over its part of the memory, which no cache
 * holds. The calling thread may run on all CPUs afterwards. *@bytes: in all passes; *@seconds: that
 * they took. False without memory or threads. */
bool truth_run_stream(enum truth_stream kind, unsigned long passes, double *bytes, double *seconds);

#endif
