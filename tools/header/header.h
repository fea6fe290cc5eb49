/* SPDX-License-Identifier: MIT */
/* pfm header: source text of the registers that count a set of events. */
#ifndef PFM_HEADER_H
#define PFM_HEADER_H

#include <perfmon/perfmon.h>
#include <stdbool.h>
#include <stdio.h>

enum { HEADER_EVENTS_MAX = 64, IDENTIFIER_MAX = 128 };

/* A placed set of events of one PMU. */
struct header_set {
	const pfm_ctx_t *ctx;
	const pfm_set_t *set;
	const char *const *texts;
	perfmon_pmu_info_t pmu;
	const char *prefix; /* of names, NULL: the PMU */
};

/* A language: texts in which $ and a letter stand for a value. $p, $P: the prefix in small and
 * capital letters; $n: a name; $v: a value in hexadecimal; $a: an address; $r: the name of a
 * register; $k: the number of rows; $i: the number of a row. */
struct header_language {
	const char *name;
	const char *comment_begin, *comment_end;
	const char *head;
	const char *constant;
	const char *writes_begin, *write, *writes_end;
	const char *reads_begin, *read, *reads_end;
	const char *tail;
};

/* Returns the language called @name, or NULL. */
const struct header_language *find_header_language(const char *name);
/* The names of all languages, with commas. Returns @buf. */
char *list_header_languages(char *buf, size_t size);
void write_header(FILE *out, const struct header_language *l, const struct header_set *h);

/* (go.c) The pure Go file of @package: perf attributes of @texts on each of the processors @cpus.
 * Returns an exit status. */
int write_go(FILE *out, const char *package, const char *const *cpus, unsigned n_cpus,
             const char *const *texts, unsigned n, unsigned plm);

#endif
