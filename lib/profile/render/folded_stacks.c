/* SPDX-License-Identifier: MIT */
#include "profile/render/folded_stacks.h"

#include <perfmon/profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/text_output.h"

void put_folded_name(FILE *out, const char *name)
{
	char line[NAME_LINE];

	profile_format_line(name, line);
	for (char *s = line; (s = strchr(s, ';'));)
		*s = ':';
	base_put_line(out, line);
}

/* Prints "task;outer;inner" into memory that the caller frees. NULL without memory. */
static char *print_stack(struct function_table *t, const struct profile *p, size_t stack)
{
	const struct profile_node *node = &p->nodes[t->stacks[stack]];
	unsigned n;
	const struct profile_frame *const *frames = list_stack_frames(t, p, stack, &n);
	char *text = NULL;
	size_t length;
	FILE *out = frames ? open_memstream(&text, &length) : NULL;

	if (!out)
		return NULL;
	put_folded_name(out, p->texts.text[p->places[node->place].task]);
	while (n-- > 0) {
		const struct profile_frame *f = frames[n];

		putc(';', out);
		put_folded_name(out, p->texts.text[f->function]);
		if (f->flags & PFM_FRAME_INLINED)
			fputs("_[i]", out);
		else if (f->flags & PFM_FRAME_KERNEL)
			fputs("_[k]", out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

struct line_search {
	const struct folded_line *lines;
	const char *text;
};

static bool is_same_line(const void *arg, uint32_t i)
{
	const struct line_search *s = arg;

	return strcmp(s->lines[i].text, s->text) == 0;
}

bool add_folded_line(struct folded_stacks *f, char *text, uint64_t weight)
{
	const struct line_search search = { f->lines, text };
	uint64_t hash = text ? pfmi_base_hash_bytes(text, strlen(text)) : 0;
	uint32_t at =
		text ? pfmi_base_find_hash(&f->table, hash, is_same_line, &search) : HASH_NOT_FOUND;
	bool failed = !text;

	if (at != HASH_NOT_FOUND) {
		free(text);
		f->lines[at].weight += weight;
		return true;
	}
	f->lines = base_grow_list(f->lines, f->n, &f->capacity, sizeof(*f->lines), &failed);
	if (failed || !pfmi_base_add_hash(&f->table, hash, (uint32_t)f->n)) {
		free(text);
		return false;
	}
	f->lines[f->n] = (struct folded_line){ text, weight, f->n };
	f->n++;
	return true;
}

static int compare_lines(const void *a, const void *b)
{
	const struct folded_line *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

void sort_folded_lines(struct folded_stacks *f)
{
	if (f->n)
		qsort(f->lines, f->n, sizeof(*f->lines), compare_lines);
}

bool fold_stacks(struct folded_stacks *f, struct function_table *t, const struct profile *p,
                 unsigned event)
{
	bool is_made = true;

	*f = (struct folded_stacks){ .n = 0 };
	for (size_t i = 0; i < t->n_stacks && is_made; i++) {
		const struct profile_node *node = &p->nodes[t->stacks[i]];

		if (p->places[node->place].event == event)
			is_made = add_folded_line(f, print_stack(t, p, i), node->end_weight);
	}
	sort_folded_lines(f);
	return is_made;
}

void write_folded_lines(FILE *out, const struct folded_stacks *f,
                        const struct profile_losses *losses)
{
	char text[LOSSES_MAX];

	for (size_t i = 0; i < f->n; i++)
		fprintf(out, "%s %llu\n", f->lines[i].text, (unsigned long long)f->lines[i].weight);
	fprintf(out, "# %s\n", print_profile_losses(losses, text));
}

void free_folded_stacks(struct folded_stacks *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->lines[i].text);
	free(f->lines);
	pfmi_base_free_hash(&f->table);
	*f = (struct folded_stacks){ .n = 0 };
}
