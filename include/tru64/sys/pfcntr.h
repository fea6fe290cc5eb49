/* SPDX-License-Identifier: MIT */
/* <sys/pfcntr.h> for programs that were written for pfm(7) of Tru64 UNIX. Compile them with
 * -I$(pkg-config --variable=tru64dir perfmon), and run them under pfm alpha device.
 */
#ifndef PERFMON_TRU64_SYS_PFCNTR_H
#define PERFMON_TRU64_SYS_PFCNTR_H

#include <perfmon/pfcntr.h>

/* pfm(7) uses this name where it describes opening and closing, and PCNTRDISABLE everywhere
 * else. */
#define PCNTDISABLE PCNTRDISABLE

#endif
