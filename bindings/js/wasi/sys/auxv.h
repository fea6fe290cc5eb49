/* SPDX-License-Identifier: MIT */
/* WASI has no auxiliary vector. Keys of hash tables are the same in each run: a page asks its own
 * questions only. */
#ifndef PERFMON_WASI_AUXV_H
#define PERFMON_WASI_AUXV_H

#define AT_SECURE 23
#define AT_RANDOM 25

static inline unsigned long getauxval(unsigned long type)
{
	static const char key[16] = "perfmon";

	return type == AT_RANDOM ? (unsigned long)key : 0;
}

#endif
