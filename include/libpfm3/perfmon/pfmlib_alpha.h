/* SPDX-License-Identifier: MIT */
/* Alpha processors: settings, results and functions are those of <perfmon/alpha.h>. The functions
 * are in libperfmon: link with it too. */
#ifndef PERFMON_LIBPFM3_PFMLIB_ALPHA_H
#define PERFMON_LIBPFM3_PFMLIB_ALPHA_H

#include <perfmon/alpha.h>
#include <perfmon/pfmlib.h>

#endif
