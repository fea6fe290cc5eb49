/* SPDX-License-Identifier: MIT */
/* Shared by the guests' session programs: TAP, a session at a time, and its counts. Included once
 * by each program. */
#ifndef PERFMON_GUEST_SESSION_H
#define PERFMON_GUEST_SESSION_H

#include <perfmon/perfmon.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "tap.h"

#define N(array)   (sizeof(array) / sizeof(*(array)))
#define MAX_COUNTS 16

static pfm_session_t *session;
static pfm_session_options_t options = { .size = sizeof(options) };
static pfm_count_t counts[MAX_COUNTS];
static int finish(void)
{
	pfm_close_session(session);
	printf("1..%d\n", n_cases);
	return n_failed > 0;
}

static pfm_count_info_t about(unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);

	pfm_describe_count(session, i, &info);
	return info;
}

/* Opens a session of @n texts in place of the one before. */
static inline int open_texts(const char *const *texts, unsigned n)
{
	pfm_error_t error = PFM_INIT(error);
	int rc;

	pfm_close_session(session);
	session = NULL;
	rc = pfm_open_session(&session, NULL, &options, texts, n, &error);
	if (rc)
		printf("# %s: %d %s: %s\n", texts[0], rc, pfm_error_kind_name(error.kind),
		       error.detail ? error.detail : "");
	return rc;
}

static inline bool open_text(const char *text)
{
	return open_texts(&text, 1) == 0;
}

static bool read_counts(void)
{
	for (unsigned i = 0; i < MAX_COUNTS; i++)
		counts[i] = (pfm_count_t){ .size = sizeof(counts[i]) };
	return pfm_read_session(session, counts, MAX_COUNTS) == 0;
}

/* Prints all counts, for the reader of a failure. */
static inline void tell(void)
{
	for (unsigned i = 0; session && i < pfm_session_size(session) && i < MAX_COUNTS; i++)
		printf("# %s on %s: %llu (enabled %llu, running %llu) %s, %s: %s | %s\n",
		       about(i).name, about(i).pmu, (unsigned long long)counts[i].value,
		       (unsigned long long)counts[i].enabled, (unsigned long long)counts[i].running,
		       pfm_quality_name(counts[i].quality), pfm_cause_name(counts[i].cause),
		       about(i).why, about(i).remedy);
}

static bool is(unsigned i, pfm_quality_t quality, pfm_cause_t cause)
{
	return counts[i].quality == quality && counts[i].cause == cause;
}

/* True if the sentences of count @i are these. A failure shows what they are. */
static inline bool says(unsigned i, const char *why, const char *remedy)
{
	bool same = strcmp(about(i).why, why) == 0 && strcmp(about(i).remedy, remedy) == 0;

	if (!same)
		printf("# it says \"%s\" and \"%s\"\n", about(i).why, about(i).remedy);
	return same;
}

#endif
