/* SPDX-License-Identifier: MIT */
/* The whole C interface of libperfmon. Each header can be included alone:
 *
 *   context.h    contexts, PMUs, errors
 *   event.h      events: description, encoding, printing, sets, decoding
 *   perf_attr.h  attributes for perf_event_open(2)
 *   metric.h     metrics
 *   plan.h       events and metrics planned in groups
 *   session.h    counting
 *   aggregate.h  sums of counts over CPUs, tasks and runs; tracepoints
 *   spawn.h      programs counted from their start
 *   sampling.h   samples and side-band records
 *   recording.h  perf.data files
 *   region.h     counts of parts of a program
 *   system.h     what this machine can count
 *
 * The manual is libperfmon(3).
 */
#ifndef LIBPERFMON_PERFMON_H
#define LIBPERFMON_PERFMON_H

#include <perfmon/context.h>
#include <perfmon/event.h>
#include <perfmon/perf_attr.h>
#include <perfmon/metric.h>
#include <perfmon/plan.h>
#include <perfmon/session.h>
#include <perfmon/aggregate.h>
#include <perfmon/spawn.h>
#include <perfmon/sampling.h>
#include <perfmon/recording.h>
#include <perfmon/region.h>
#include <perfmon/system.h>

#endif
