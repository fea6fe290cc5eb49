/* SPDX-License-Identifier: MIT */
#include "profile/tree/function_table.h"

#include <perfmon/profile.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "profile/symbols/symbols.h"

/* ---- functions ------------------------------------------------------------------------------- */

struct row_search {
	const struct function_row *rows, *key;
};

static bool is_same_row(const void *arg, uint32_t i)
{
	const struct row_search *s = arg;
	const struct function_row *a = &s->rows[i], *b = s->key;

	return a->event == b->event && a->function == b->function && a->object == b->object &&
	       a->build_id == b->build_id && a->flags == b->flags;
}

/* The row of the function of @f, which is added if it is new; HASH_NOT_FOUND without memory. */
static uint32_t find_or_add_row(struct function_table *t, uint32_t event,
                                const struct profile_frame *f)
{
	const struct function_row key = { .event = event,
		                          .function = f->function,
		                          .object = f->object,
		                          .build_id = f->build_id,
		                          .flags = f->flags };
	const uint32_t words[] = { event, f->function, f->object, f->build_id, f->flags };
	const struct row_search search = { t->rows, &key };
	uint64_t hash = pfmi_base_hash_bytes(words, sizeof(words));
	uint32_t at = pfmi_base_find_hash(&t->row_table, hash, is_same_row, &search);
	bool failed = false;

	if (at != HASH_NOT_FOUND)
		return at;
	t->rows = base_grow_list(t->rows, t->n_rows, &t->rows_capacity, sizeof(*t->rows), &failed);
	if (failed || !pfmi_base_add_hash(&t->row_table, hash, (uint32_t)t->n_rows))
		return HASH_NOT_FOUND;
	t->rows[t->n_rows] = key;
	return (uint32_t)t->n_rows++;
}

/* ---- frames of places ------------------------------------------------------------------------ */

static bool add_frame(struct function_table *t, uint32_t event, struct profile_frame frame)
{
	bool failed = false;

	t->frames = base_grow_list(t->frames, t->n_frames, &t->frames_capacity, sizeof(*t->frames),
	                           &failed);
	if (failed)
		return false;
	frame.row = find_or_add_row(t, event, &frame);
	t->frames[t->n_frames++] = frame;
	return frame.row != HASH_NOT_FOUND;
}

static uint32_t get_place_flags(const struct profile *p, const struct profile_place *at)
{
	const char *name = p->texts.text[at->function];
	uint32_t flags = at->mode == PFM_MISC_KERNEL ? PFM_FRAME_KERNEL : 0;

	if (!at->object)
		flags |= PFM_FRAME_CUT_OFF;
	else if (strncmp(name, "0x", 2) == 0)
		flags |= PFM_FRAME_UNNAMED;
	return flags;
}

/* Adds the functions of the text @inlined, which ';' separates; the last one has the source
 * line. */
static bool add_inlined_functions(struct function_table *t, struct profile *p,
                                  const struct profile_place *at, struct profile_frame frame)
{
	const char *s = p->texts.text[at->inlined];
	bool is_added = true;
	char name[SYMBOL_SIZE];
	size_t len;

	frame.flags |= PFM_FRAME_INLINED;
	for (; *s && is_added; s += len + (s[len] == ';')) {
		len = strcspn(s, ";");
		snprintf(name, sizeof(name), "%.*s", (int)len, s);
		frame.function = text_pool_add(&p->texts, name);
		frame.source = s[len] ? 0 : at->source;
		is_added = !p->texts.failed && add_frame(t, at->event, frame);
	}
	return is_added;
}

static bool add_place(struct function_table *t, struct profile *p, size_t i)
{
	const struct profile_place *at = &p->places[i];
	const char *inlined = p->texts.text[at->inlined];
	struct profile_frame frame = { .function = at->function,
		                       .object = at->object,
		                       .build_id = at->build_id,
		                       .source = *inlined ? 0 : at->source,
		                       .flags = get_place_flags(p, at) };
	bool is_added;

	t->places[i].first = (uint32_t)t->n_frames;
	is_added = add_frame(t, at->event, frame) && add_inlined_functions(t, p, at, frame);
	t->places[i].n = (uint32_t)t->n_frames - t->places[i].first;
	return is_added;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds stack number @stack to its functions: once to each, and to the own samples of the
 * innermost. */
static void add_stack(struct function_table *t, const struct profile *p, size_t stack)
{
	const struct profile_node *leaf = &p->nodes[t->stacks[stack]];
	bool is_innermost = true;

	for (uint32_t at = t->stacks[stack]; at != NO_NODE; at = p->nodes[at].parent) {
		struct frame_range range = t->places[p->nodes[at].place];

		for (uint32_t i = range.n; i-- > 0; is_innermost = false) {
			struct function_row *row = &t->rows[t->frames[range.first + i].row];

			if (is_innermost) {
				row->self_samples += leaf->end_samples;
				row->self_weight += leaf->end_weight;
			}
			if (row->last_stack == stack + 1)
				continue;
			row->last_stack = stack + 1;
			row->children_samples += leaf->end_samples;
			row->children_weight += leaf->end_weight;
		}
	}
}

static int compare_numbers(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct function_row *x = a, *y = b;
	const struct function_table *t = arg;

	if (x->event != y->event)
		return compare_numbers(x->event, y->event);
	if (x->self_weight != y->self_weight)
		return compare_numbers(y->self_weight, x->self_weight);
	if (x->children_weight != y->children_weight)
		return compare_numbers(y->children_weight, x->children_weight);
	if (x->function != y->function)
		return strcmp(t->texts[x->function], t->texts[y->function]);
	if (x->object != y->object)
		return strcmp(t->texts[x->object], t->texts[y->object]);
	return compare_numbers(x->build_id, y->build_id);
}

/* Sorts the rows. Row numbers in frames are invalid afterwards. */
static void sort_rows(struct function_table *t, const struct profile *p)
{
	unsigned event = 0;

	t->texts = (const char *const *)p->texts.text;
	if (t->n_rows)
		qsort_r(t->rows, t->n_rows, sizeof(*t->rows), compare_rows, t);
	for (size_t i = 0; i < t->n_rows; i++)
		while (event <= t->rows[i].event)
			t->first_rows[event++] = i;
	while (event <= p->n_events)
		t->first_rows[event++] = t->n_rows;
}

bool make_function_table(struct function_table *t, struct profile *p)
{
	bool is_made;

	*t = (struct function_table){ .n_stacks = 0 };
	t->stacks = calloc(p->n_nodes + 1, sizeof(*t->stacks));
	t->places = calloc(p->n_places + 1, sizeof(*t->places));
	t->first_rows = calloc(p->n_events + 1, sizeof(*t->first_rows));
	is_made = t->stacks && t->places && t->first_rows;
	for (size_t i = 0; i < p->n_places && is_made; i++)
		is_made = add_place(t, p, i);
	for (size_t i = 0; i < p->n_nodes && is_made; i++)
		if (p->nodes[i].end_samples)
			t->stacks[t->n_stacks++] = (uint32_t)i;
	for (size_t i = 0; i < t->n_stacks && is_made; i++)
		add_stack(t, p, i);
	if (is_made)
		sort_rows(t, p);
	return is_made;
}

void free_function_table(struct function_table *t)
{
	free(t->stacks);
	free(t->places);
	free(t->frames);
	free(t->rows);
	free(t->first_rows);
	free(t->listed);
	pfmi_base_free_hash(&t->row_table);
	*t = (struct function_table){ .n_stacks = 0 };
}

/* Appends the frames of a place to the list. False without memory. */
static bool list_frames_of_place(struct function_table *t, struct frame_range range)
{
	bool failed = false;

	for (uint32_t i = range.n; i-- > 0;) {
		t->listed = base_grow_list(t->listed, t->n_listed, &t->listed_capacity,
		                           sizeof(const struct profile_frame *), &failed);
		if (failed)
			return false;
		t->listed[t->n_listed++] = &t->frames[range.first + i];
	}
	return true;
}

const struct profile_frame *const *
list_stack_frames(struct function_table *t, const struct profile *p, size_t stack, unsigned *n)
{
	bool is_listed = true;

	if (t->listed_stack != stack + 1) {
		t->listed_stack = 0;
		t->n_listed = 0;
		for (uint32_t at = t->stacks[stack]; at != NO_NODE && is_listed;
		     at = p->nodes[at].parent)
			is_listed = list_frames_of_place(t, t->places[p->nodes[at].place]);
		t->listed_stack = is_listed ? stack + 1 : 0;
	}
	*n = (unsigned)t->n_listed;
	return is_listed ? t->listed : NULL;
}
