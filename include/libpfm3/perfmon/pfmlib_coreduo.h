/* SPDX-License-Identifier: MIT */
/* Intel Core Solo and Core Duo: settings of pfm_dispatch_events(), from <perfmon/coreduo.h>. */
#ifndef PERFMON_LIBPFM3_PFMLIB_COREDUO_H
#define PERFMON_LIBPFM3_PFMLIB_COREDUO_H

#include <perfmon/coreduo.h>
#include <perfmon/pfmlib.h>

#endif
