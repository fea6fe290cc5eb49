/* SPDX-License-Identifier: MIT */
/* Limits of the cost of reading a file. Recordings, and the files that they name, are not trusted:
 * a small file can refer to the same bytes a thousand times, nest without end, or claim any size.
 * Every reader charges what it reads, keeps or walks through, and stops when the budget is spent.
 * Limits are numbers of bytes, entries or levels rather than times, so that the result is the same
 * on every machine; programs that are started have a limit of time. */
#ifndef PERFMON_PROFILE_BUDGET_H
#define PERFMON_PROFILE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct profile_messages;

struct budget {
	struct profile_messages *messages; /* where it is reported */
	const char *file;                  /* in messages; kept. NULL: nothing is reported */
	const char *subject;               /* what is incomplete then: "functions" */
	const char *unit;                  /* what is limited: "bytes of symbols" */
	uint64_t limit, spent;
	bool is_exceeded; /* and reported */
};

/* A limit for what is made of a file of @size bytes: @times its size, and @more. */
uint64_t budget_limit(uint64_t size, uint64_t times, uint64_t more);
/* Spends @n units. False if that is more than is left: the first time a message names the file,
 * what is incomplete, and the limit. */
bool budget_charge(struct budget *b, uint64_t n);
/* False, as above, if @value, a depth or a size, is above the limit. Nothing is spent. */
bool budget_allows(struct budget *b, uint64_t value);

#endif
