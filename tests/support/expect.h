/* SPDX-License-Identifier: MIT */
/* Checks of one row of many: a failure names the row's input beside what was expected and got. */
#ifndef PERFMON_TESTS_EXPECT_H
#define PERFMON_TESTS_EXPECT_H

#include <string.h>

#define EXPECT_ROW_NUMBER(INPUT, GOT, WANT)                                                        \
	do {                                                                                       \
		long long expect_got = (long long)(GOT), expect_want = (long long)(WANT);          \
		if (expect_got != expect_want)                                                     \
			fail_msg("'%s': expected %lld (%#llx), got %lld (%#llx)", INPUT,           \
			         expect_want, (unsigned long long)expect_want, expect_got,         \
			         (unsigned long long)expect_got);                                  \
	} while (0)

#define EXPECT_ROW_TEXT(INPUT, GOT, WANT)                                                          \
	do {                                                                                       \
		const char *expect_got = (GOT), *expect_want = (WANT);                             \
		if (!expect_got || strcmp(expect_got, expect_want) != 0)                           \
			fail_msg("'%s': expected '%s', got '%s'", INPUT, expect_want,              \
			         expect_got ? expect_got : "(null)");                              \
	} while (0)

#define EXPECT_ROW_TRUE(INPUT, CONDITION)                                                          \
	do {                                                                                       \
		if (!(CONDITION))                                                                  \
			fail_msg("'%s': expected %s", INPUT, #CONDITION);                          \
	} while (0)

#endif
