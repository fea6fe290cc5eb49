/* SPDX-License-Identifier: MIT */
/* <sys/pfcntr.h> for sources written on Tru64 UNIX from pfm(7): compile them with the folder of
 * this header searched, -I$(pkg-config --variable=tru64dir perfmon), and run them under pfm device.
 */
#ifndef PERFMON_TRU64_SYS_PFCNTR_H
#define PERFMON_TRU64_SYS_PFCNTR_H

#include <perfmon/pfcntr.h>

/* pfm(7) speaks of this request where it tells what opening and closing do; everywhere else it is
 * PCNTRDISABLE. */
#define PCNTDISABLE PCNTRDISABLE

#endif
