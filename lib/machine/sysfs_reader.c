/* SPDX-License-Identifier: MIT */
/* Reading what the kernel shows: a file, a folder, and memory for both. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "machine/machine_internal.h"

enum { MAX_FILES = 64,
       RECENT = 4 };

struct block {
	struct block *next;
	size_t used, room;
	_Alignas(16) char at[];
};

void *pfmi_take(struct arena *a, size_t n)
{
	struct block *b = a->blocks;

	n = (n + 15) & ~(size_t)15;
	if (!b || b->room - b->used < n) {
		size_t room = n > 8000 ? n : 8000;

		b = a->failed ? NULL : malloc(sizeof(*b) + room);
		if (!b) {
			a->failed = true;
			return NULL;
		}
		*b = (struct block){ .next = a->blocks, .room = room };
		a->blocks = b;
	}
	b->used += n;
	return memset(b->at + b->used - n, 0, n);
}

const char *pfmi_keep(struct arena *a, const char *s, size_t len)
{
	char *to = pfmi_take(a, len + 1);

	if (!to)
		return "";
	memcpy(to, s, len);
	return to;
}

void pfmi_release(struct arena *a)
{
	while (a->blocks) {
		struct block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
}

static int collect(void *arg, const char *name)
{
	struct strings *s = arg;
	size_t len = strlen(name);

	if (len == 0 || len > s->longest)
		return 0;
	if (s->n == s->room) {
		const char **at = pfmi_take(s->arena, (s->room * 2 + 16) * sizeof(*at));

		if (!at)
			return -ENOMEM;
		if (s->n)
			memcpy(at, s->at, s->n * sizeof(*at));
		s->at = at;
		s->room = s->room * 2 + 16;
	}
	s->at[s->n] = pfmi_keep(s->arena, name, len);
	return ++s->n == s->max;
}

static struct strings names_in(struct reading *r, const char *pmu, const char *folder, size_t max, size_t longest)
{
	struct strings s = { .max = max, .longest = longest, .arena = r->scrap };
	char path[sizeof(DEVICES) + 64 + 16];

	snprintf(path, sizeof(path), DEVICES "%s%.63s%s%.14s", *pmu ? "/" : "", pmu, *folder ? "/" : "", folder);
	r->sys->list(r->sys, path, collect, &s);
	return s;
}

/* What is in the folder of a PMU. */
struct folder {
	struct folder *next;
	const char *pmu;
	struct strings names;
};

/* One PMU is read after the other: its folder is at hand, or one of the last few, or a new one. */
static const struct folder *folder_of(struct reading *r, const char *pmu)
{
	struct folder *f = r->seen;

	if (r->at && is_word(r->at->pmu, pmu))
		return r->at;
	for (unsigned i = 0; f && i < RECENT; i++, f = f->next)
		if (is_word(f->pmu, pmu))
			return r->at = f;
	f = pfmi_take(r->scrap, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct folder){ r->seen, pfmi_keep(r->scrap, pmu, strlen(pmu)), names_in(r, pmu, "", MAX_FILES, 63) };
	return r->at = r->seen = f;
}

bool pfmi_reading_may_have(struct reading *r, const char *pmu, const char *name)
{
	const struct folder *f = *pmu ? folder_of(r, pmu) : NULL;

	if (!f || f->names.n == 0 || f->names.n == MAX_FILES)
		return true;
	for (size_t i = 0; i < f->names.n; i++)
		if (strcmp(f->names.at[i], name) == 0)
			return true;
	return false;
}

bool pfmi_reading_file(struct reading *r, const char *pmu, const char *folder, const char *file)
{
	char path[sizeof(DEVICES) + 64 + 16 + 256];
	int n = snprintf(path, sizeof(path), DEVICES "/%s/%s%s", pmu, folder, file);

	return n > 0 && (size_t)n < sizeof(path) && (*folder || pfmi_reading_may_have(r, pmu, file)) &&
	       pfmi_sys_slurp(r->sys, path, r->text, sizeof(r->text)) >= 0;
}

struct strings pfmi_reading_names(struct reading *r, const char *pmu, const char *folder, size_t max, size_t longest)
{
	return !*folder || pfmi_reading_may_have(r, pmu, folder) ? names_in(r, pmu, folder, max, longest) : (struct strings){ 0 };
}
