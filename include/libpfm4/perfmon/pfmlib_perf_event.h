/* SPDX-License-Identifier: MIT */
/* libpfm4's interface to the kernel's perf_event_open(). */
#ifndef PERFMON_LIBPFM4_PFMLIB_PERF_EVENT_H
#define PERFMON_LIBPFM4_PFMLIB_PERF_EVENT_H

#include <perfmon/perf_event.h>
#include <perfmon/pfmlib.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* For PFM_OS_PERF_EVENT and PFM_OS_PERF_EVENT_EXT. */
typedef struct {
	struct perf_event_attr *attr; /* its size, 0 for the first version, says how much of it is
	                                 read and written */
	char **fstr; /* NULL, or where to put the fully qualified string, which the caller frees */
	size_t size;
	int idx;
	int cpu; /* what "cpu=" said, or -1 */
	int flags;
	int pad0;
} pfm_perf_encode_arg_t;

#if __WORDSIZE == 64
#define PFM_PERF_ENCODE_ABI0 40
#else
#define PFM_PERF_ENCODE_ABI0 28
#endif

extern pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm,
                                             struct perf_event_attr *attr, char **fstr, int *idx);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
