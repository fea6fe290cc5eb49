/* SPDX-License-Identifier: MIT */
/* Symbols in an array that is sorted once. */
#include "profile/symbols/symbol_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* Names are compared up to this number of bytes. */
enum { COMPARED_BYTES = 256 };

bool symbol_table_add(struct symbol_table *t, const struct symbol *s)
{
	bool failed = false;

	t->list = base_grow_list(t->list, t->n, &t->capacity, sizeof(*t->list), &failed);
	if (!failed)
		t->list[t->n++] = *s;
	return !failed;
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

static bool has_version(const char *name)
{
	return memchr(name, '@', strnlen(name, COMPARED_BYTES));
}

/* A library has several names for a function, and programmers know the one that programs call.
 * Negative if @x is the better one:
 *
 *  1. a name that other files can use       malloc rather than __GI___libc_malloc
 *  2. a name without a version              memcpy rather than memcpy@@GLIBC_2.14
 *  3. a name with fewer leading underscores read rather than __libc_read
 *  4. a strong name rather than a weak one
 *  5. the longer name, as perf chooses
 */
static int compare_names(const struct symbol *x, const struct symbol *y)
{
	size_t n_x = strnlen(x->name, COMPARED_BYTES), n_y = strnlen(y->name, COMPARED_BYTES);
	int order = (x->binding == STB_LOCAL) - (y->binding == STB_LOCAL);

	if (!order)
		order = has_version(x->name) - has_version(y->name);
	if (!order)
		order = (int)strspn(x->name, "_") - (int)strspn(y->name, "_");
	if (!order)
		order = (x->binding == STB_WEAK) - (y->binding == STB_WEAK);
	if (!order)
		order = (n_x < n_y) - (n_x > n_y);
	return order ? order : strncmp(x->name, y->name, COMPARED_BYTES);
}

static int compare_starts(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return compare_names(x, y);
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
