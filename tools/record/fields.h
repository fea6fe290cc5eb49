/* SPDX-License-Identifier: MIT */
/* Options of pfm record about the contents of samples. */
#ifndef PFM_RECORD_FIELDS_H
#define PFM_RECORD_FIELDS_H

#include <stdbool.h>
#include <perfmon/sampling.h>

/* The registers of the first two arguments of a system call: the lock of futex(2). 0: unknown. */
uint64_t get_argument_registers(void);

/* Reads "fp", "dwarf", "dwarf,SIZE" or "lbr". Returns NULL, or what was expected instead of
 * @text. */
const char *read_call_graph(const char *text, pfm_sampling_t *sampling);

/* Adds the comma-separated branches in @text, such as "any_call,u". False for other texts. */
bool read_branch_filter(const char *text, uint64_t *filter);

/* The branches of -b without --branch-filter. */
uint64_t get_default_branch_filter(void);

/* Adds the fields that pfm mem shows. */
void want_memory_fields(pfm_sampling_t *sampling);

/* Calls @add with each event of this machine that samples loads or stores. Returns their number, or
 * -1 if @add returns false. */
int visit_memory_events(bool (*add)(void *arg, const char *text), void *arg);

#endif
