/* SPDX-License-Identifier: MIT */
/* Stacks as a tree whose nodes are shared, rows of equal samples, and samples by thread. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

/* ---- stacks ---------------------------------------------------------------------------------- */

struct node_search {
	const struct stack_node *nodes;
	struct stack_node key;
};

static bool is_same_node(const void *arg, uint32_t i)
{
	const struct node_search *s = arg;

	return s->nodes[i].parent == s->key.parent && s->nodes[i].location == s->key.location;
}

static uint32_t append_node(struct stack_tree *t, struct stack_node node)
{
	t->nodes = base_grow_list(t->nodes, t->n, &t->capacity, sizeof(*t->nodes), &t->failed);
	if (t->failed)
		return 0;
	t->nodes[t->n] = node;
	return (uint32_t)t->n++;
}

uint32_t export_add_node(struct stack_tree *t, uint32_t parent, uint32_t location)
{
	const struct node_search search = { t->nodes, { parent, location } };
	uint64_t hash = pfmi_base_hash_number((uint64_t)parent << 32 | location);
	uint32_t at = pfmi_base_find_hash(&t->table, hash, is_same_node, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	at = append_node(t, search.key);
	t->failed = t->failed || !pfmi_base_add_hash(&t->table, hash, at);
	return t->failed ? 0 : at;
}

uint32_t export_add_stack(struct stack_tree *t, const uint32_t *frames, unsigned n)
{
	uint32_t at = 0;

	if (!t->n)
		append_node(t, (struct stack_node){ 0, 0 });
	while (n-- > 0 && !t->failed)
		at = export_add_node(t, at, frames[n]);
	return t->failed ? 0 : at;
}

void export_free_stacks(struct stack_tree *t)
{
	free(t->nodes);
	pfmi_base_free_hash(&t->table);
}

/* ---- whole stacks ---------------------------------------------------------------------------- */

struct whole_search {
	const struct stack_list *stacks;
	const uint32_t *frames;
	unsigned n;
};

static bool is_same_stack(const void *arg, uint32_t i)
{
	const struct whole_search *s = arg;
	const struct whole_stack *a = &s->stacks->list[i];

	return a->n == s->n &&
	       memcmp(s->stacks->frames + a->first, s->frames, s->n * sizeof(*s->frames)) == 0;
}

/* Allocates memory for @n more frames. False without memory. */
static bool reserve_frames(struct stack_list *t, unsigned n)
{
	size_t capacity = 2 * t->frames_capacity + n;
	uint32_t *more;

	if (t->frames_capacity - t->n_frames >= n)
		return true;
	more = realloc(t->frames, capacity * sizeof(*more));
	if (!more)
		return false;
	t->frames = more;
	t->frames_capacity = capacity;
	return true;
}

/* The number of the stack with @frames. */
static uint32_t add_whole_stack(struct stack_list *t, const uint32_t *frames, unsigned n)
{
	const struct whole_search search = { t, frames, n };
	uint64_t hash = pfmi_base_hash_bytes(frames, n * sizeof(*frames));
	uint32_t at = pfmi_base_find_hash(&t->table, hash, is_same_stack, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	t->list = base_grow_list(t->list, t->n, &t->capacity, sizeof(*t->list), &t->failed);
	t->failed = t->failed || !reserve_frames(t, n) ||
	            !pfmi_base_add_hash(&t->table, hash, (uint32_t)t->n);
	if (t->failed)
		return 0;
	memcpy(t->frames + t->n_frames, frames, n * sizeof(*frames));
	t->list[t->n] = (struct whole_stack){ t->n_frames, n };
	t->n_frames += n;
	return (uint32_t)t->n++;
}

void export_free_whole_stacks(struct stack_list *t)
{
	free(t->list);
	free(t->frames);
	pfmi_base_free_hash(&t->table);
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct row_search {
	const struct export_row *list, *key;
};

static bool is_same_row(const void *arg, uint32_t i)
{
	const struct row_search *s = arg;
	const struct export_row *a = &s->list[i], *b = s->key;

	return a->stack == b->stack && a->event == b->event && a->pid == b->pid &&
	       a->tid == b->tid && a->cpu == b->cpu && a->task == b->task && a->cgroup == b->cgroup;
}

uint32_t export_add_row(struct export_rows *rows, const struct export_row *key)
{
	const struct row_search search = { rows->list, key };
	const uint32_t words[] = { key->stack, key->event, key->pid,   key->tid,
		                   key->cpu,   key->task,  key->cgroup };
	uint64_t hash = pfmi_base_hash_bytes(words, sizeof(words));
	uint32_t at = pfmi_base_find_hash(&rows->table, hash, is_same_row, &search);

	if (at != HASH_NOT_FOUND) {
		rows->list[at].samples += key->samples;
		rows->list[at].weight += key->weight;
		return at;
	}
	rows->list = base_grow_list(rows->list, rows->n, &rows->capacity, sizeof(*rows->list),
	                            &rows->failed);
	rows->failed = rows->failed || !pfmi_base_add_hash(&rows->table, hash, (uint32_t)rows->n);
	if (rows->failed)
		return 0;
	rows->list[rows->n] = *key;
	return (uint32_t)rows->n++;
}

enum { KNOWN_ROWS_LOG2 = 16 };

/* The entry of a sample with these members; NULL without memory. */
static struct known_row *get_known_row(struct export_rows *rows, const struct export_row *key,
                                       uint64_t chain)
{
	const uint64_t parts[] = { chain, (uint64_t)key->event << 32 | key->task,
		                   (uint64_t)key->pid << 32 | key->tid,
		                   (uint64_t)key->cgroup << 32 | key->cpu };
	uint64_t hash = pfmi_base_hash_bytes(parts, sizeof(parts));
	struct known_row *known;

	if (!rows->known)
		rows->known = calloc((size_t)1 << KNOWN_ROWS_LOG2, sizeof(*rows->known));
	if (!rows->known)
		return NULL;
	known = &rows->known[hash >> (64 - KNOWN_ROWS_LOG2)];
	if (known->hash != hash)
		*known = (struct known_row){ hash, 0 };
	return known;
}

void export_add_sample(struct exporter *e, unsigned keys, struct export_sample *s)
{
	struct export_row row = { .samples = 1, .weight = s->weight };
	struct known_row *known;

	if (keys & ROW_EVENT)
		row.event = s->event;
	if (keys & ROW_TASK)
		row.task = s->task;
	if (keys & ROW_THREAD) {
		row.pid = s->pid;
		row.tid = s->tid;
		row.cpu = s->cpu;
		row.cgroup = s->cgroup;
	}
	known = get_known_row(&e->rows, &row, export_hash_chain(e->reader, s));
	if (known && known->row) {
		e->rows.list[known->row - 1].samples++;
		e->rows.list[known->row - 1].weight += s->weight;
		return;
	}
	export_read_frames(e->reader, s);
	row.stack = add_whole_stack(&e->stacks, s->frames, s->n_frames);
	e->failed |= !known || e->reader->failed || e->stacks.failed;
	if (!e->failed)
		known->row = 1 + export_add_row(&e->rows, &row);
	e->failed |= e->rows.failed;
}

void export_free_rows(struct export_rows *rows)
{
	free(rows->list);
	free(rows->known);
	pfmi_base_free_hash(&rows->table);
}

/* ---- timelines ------------------------------------------------------------------------------- */

struct timeline_search {
	const struct timeline *list;
	const struct export_sample *sample;
};

static bool is_same_timeline(const void *arg, uint32_t i)
{
	const struct timeline_search *s = arg;
	const struct timeline *t = &s->list[i];

	return t->event == s->sample->event && t->pid == s->sample->pid && t->tid == s->sample->tid;
}

/* NULL without memory. */
static struct timeline *find_or_add_timeline(struct timelines *t, const struct export_sample *s)
{
	const struct timeline_search search = { t->list, s };
	const uint32_t words[] = { s->event, s->pid, s->tid };
	uint64_t hash = pfmi_base_hash_bytes(words, sizeof(words));
	uint32_t at = pfmi_base_find_hash(&t->table, hash, is_same_timeline, &search);

	if (at != HASH_NOT_FOUND)
		return &t->list[at];
	t->list = base_grow_list(t->list, t->n, &t->capacity, sizeof(*t->list), &t->failed);
	t->failed = t->failed || !pfmi_base_add_hash(&t->table, hash, (uint32_t)t->n);
	if (t->failed)
		return NULL;
	t->list[t->n] = (struct timeline){ .event = s->event, .pid = s->pid, .tid = s->tid };
	return &t->list[t->n++];
}

void export_add_to_timeline(struct timelines *t, const struct export_sample *s)
{
	struct timeline *line = find_or_add_timeline(t, s);

	if (!line)
		return;
	line->samples = base_grow_list(line->samples, line->n, &line->capacity,
	                               sizeof(*line->samples), &t->failed);
	if (t->failed)
		return;
	line->task = s->task; /* the last name is that of the program that was executed */
	line->samples[line->n++] = (struct timeline_sample){
		.time = s->time,
		.weight = s->weight,
		.stack = export_add_stack(&t->stacks, s->frames, s->n_frames),
	};
	t->failed |= t->stacks.failed;
}

void export_free_timelines(struct timelines *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].samples);
	free(t->list);
	pfmi_base_free_hash(&t->table);
	export_free_stacks(&t->stacks);
}
