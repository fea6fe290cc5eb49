/* SPDX-License-Identifier: MIT */
#include "profile/text_pool.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

struct text_search {
	const struct text_pool *pool;
	const char *text;
};

static bool is_same_text(const void *arg, uint32_t i)
{
	const struct text_search *s = arg;

	return strcmp(s->pool->text[i], s->text) == 0;
}

uint32_t text_pool_find(const struct text_pool *t, const char *text)
{
	const struct text_search search = { t, text };

	return pfmi_base_find_hash(&t->table, pfmi_base_hash_bytes(text, strlen(text)),
	                           is_same_text, &search);
}

uint32_t text_pool_add(struct text_pool *t, const char *text)
{
	const struct text_search search = { t, text };
	uint64_t hash = pfmi_base_hash_bytes(text, strlen(text));
	uint32_t found =
		t->failed ? 0 : pfmi_base_find_hash(&t->table, hash, is_same_text, &search);

	if (found != HASH_NOT_FOUND)
		return found;
	t->text = base_grow_list(t->text, t->n, &t->capacity, sizeof(*t->text), &t->failed);
	if (!t->failed)
		t->text[t->n] = strdup(text);
	t->failed = t->failed || !t->text[t->n];
	if (t->failed)
		return 0;
	t->failed = !pfmi_base_add_hash(&t->table, hash, (uint32_t)t->n++);
	return (uint32_t)t->n - 1;
}

void text_pool_free(struct text_pool *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->text[i]);
	free(t->text);
	pfmi_base_free_hash(&t->table);
}
