/* SPDX-License-Identifier: MIT */
/* Texts that are stored once and have numbers. */
#ifndef PERFMON_PROFILE_TEXT_POOL_H
#define PERFMON_PROFILE_TEXT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct text_pool {
	char **text;
	size_t n, capacity;
	struct hash_table table;
	bool failed; /* some text has no number, because memory ran out */
};

/* The number of the text, the first text's number if memory runs out. */
uint32_t text_pool_add(struct text_pool *t, const char *text);
void text_pool_free(struct text_pool *t);
/* The number of the text, or HASH_NOT_FOUND. */
uint32_t text_pool_find(const struct text_pool *t, const char *text);

#endif
