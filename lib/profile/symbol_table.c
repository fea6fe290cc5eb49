/* SPDX-License-Identifier: MIT */
/* Symbols in an array that is sorted once. */
#include "profile/symbol_table.h"

#include <stdlib.h>
#include <string.h>

bool symbol_table_add(struct symbol_table *t, const struct symbol *s)
{
	if (t->n == t->capacity) {
		size_t twice = t->capacity * 2 + 256;
		struct symbol *more = realloc(t->list, twice * sizeof(*more));

		if (!more)
			return false;
		t->list = more;
		t->capacity = twice;
	}
	t->list[t->n++] = *s;
	return true;
}

void symbol_table_clear(struct symbol_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].demangled);
	t->n = 0;
}

void symbol_table_free(struct symbol_table *t)
{
	symbol_table_clear(t);
	free(t->list);
	*t = (struct symbol_table){ .list = NULL };
}

/* Names that agree for long enough are as good as each other. */
static int compare_starts(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->size < y->size ? 1 : x->size > y->size ? -1 : strncmp(x->name, y->name, 256);
}

void symbol_table_sort(struct symbol_table *t)
{
	size_t kept = 0;

	if (!t->n)
		return;
	qsort(t->list, t->n, sizeof(*t->list), compare_starts);
	for (size_t i = 0; i < t->n; i++)
		if (!kept || t->list[i].start != t->list[kept - 1].start)
			t->list[kept++] = t->list[i];
		else
			free(t->list[i].demangled);
	t->n = kept;
}

struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address)
{
	size_t low = 0, high = t->n;
	struct symbol *s;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	s = &t->list[low - 1];
	return address - s->start < (s->size ? s->size : s->section_rest) ? s : NULL;
}
