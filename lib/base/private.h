/* SPDX-License-Identifier: MIT */
/* PERFMON_PRIVATE marks the functions that libpfm.so.3 calls in libperfmon.so.1.
 *
 * They have the version PERFMON_PRIVATE_... of lib/perfmon.map, whose name has the project's
 * version and hashes of the headers that declare them: the dynamic linker refuses a libpfm.so.3 of
 * another build and prints both names. No other program may call them. */
#ifndef PERFMON_BASE_PRIVATE_H
#define PERFMON_BASE_PRIVATE_H

#define PERFMON_PRIVATE __attribute__((visibility("default")))

#endif
