/* SPDX-License-Identifier: MIT */
/* Test cases of the guests' programs as TAP. Included once by each program. */
#ifndef PERFMON_GUEST_TAP_H
#define PERFMON_GUEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int n_cases, n_failed;

__attribute__((format(printf, 2, 3))) static void check(bool ok, const char *format, ...)
{
	va_list args;

	n_failed += !ok;
	printf("%s %d - ", ok ? "ok" : "not ok", ++n_cases);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

#endif
