/* SPDX-License-Identifier: MIT */
#ifndef PERFMON_TRUTH_SPEED_H
#define PERFMON_TRUTH_SPEED_H

#include <stdbool.h>

/* Measures how long a load waits that depends on the one before it, and how much all CPUs read in a
 * second. Other programs make it slower. */
bool truth_measure_memory(double *nanoseconds, double *bytes_a_second);

#endif
