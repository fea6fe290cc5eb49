/* SPDX-License-Identifier: MIT */
/* An input may take so much processor time and no more: what takes time that grows faster than the
 * input is a fault like a crash. */
#ifndef PERFMON_FUZZ_TIME_BOUND_H
#define PERFMON_FUZZ_TIME_BOUND_H

#include <stddef.h>
#include <stdint.h>

/* Runs a harness on an input, in place of LLVMFuzzerTestOneInput(), which times it. */
int try_input(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
