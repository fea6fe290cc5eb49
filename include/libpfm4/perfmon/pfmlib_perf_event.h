/* SPDX-License-Identifier: MIT */
/* Interface of libpfm4 for perf_event_open(2). */
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
	struct perf_event_attr
		*attr; /* its member size limits what is read and written; 0: first version */
	char **fstr;   /* NULL, or receives the fully qualified string, which the caller frees */
	size_t size;
	int idx;
	int cpu; /* value of the attribute cpu, or -1 */
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
