/* SPDX-License-Identifier: MIT */
/* A line is found by its physical address where that is known, so that processes that share memory
 * meet; else by process and virtual address. */
#include "mem/lines.h"

#include <string.h>
#include "base/grow.h"

static void add_to_sum(struct mem_sum *sum, const struct mem_access *a)
{
	sum->samples++;
	sum->loads += a->source.operation == MEM_LOAD;
	sum->stores += a->source.operation == MEM_STORE;
	sum->hitm += a->source.is_hitm;
	sum->remote_hitm += a->source.is_hitm && a->source.is_remote;
	sum->latency += a->latency;
	sum->n_latency += a->latency != 0;
}

static void add_level(struct mem_lines *m, const struct mem_access *a)
{
	for (size_t i = 0; i < m->n_levels; i++) {
		struct mem_level *l = &m->levels[i];

		if (l->operation == a->source.operation && l->node == a->node &&
		    l->data_node == a->data_node && strcmp(l->name, a->source.level) == 0) {
			add_to_sum(&l->sum, a);
			return;
		}
	}
	m->levels = base_grow_list(m->levels, m->n_levels, &m->levels_capacity, sizeof(*m->levels),
	                           &m->failed);
	if (m->failed)
		return;
	m->levels[m->n_levels] = (struct mem_level){ .operation = a->source.operation,
		                                     .node = a->node,
		                                     .data_node = a->data_node };
	memcpy(m->levels[m->n_levels].name, a->source.level, sizeof(a->source.level));
	add_to_sum(&m->levels[m->n_levels++].sum, a);
}

struct line_search {
	const struct mem_line *lines;
	uint64_t address, physical;
	uint32_t pid;
};

static bool is_same_line(const void *arg, uint32_t i)
{
	const struct line_search *s = arg;
	const struct mem_line *l = &s->lines[i];

	if (s->physical)
		return l->physical == s->physical;
	return !l->physical && l->pid == s->pid && l->address == s->address;
}

/* The index of the line, which is added if it is new; HASH_NOT_FOUND without memory. */
static uint32_t find_or_add_line(struct mem_lines *m, const struct mem_access *a)
{
	uint64_t mask = ~(uint64_t)(m->line_size - 1);
	const struct line_search search = { m->lines, a->address & mask, a->physical & mask,
		                            a->pid };
	const uint64_t key[] = { search.physical ? search.physical : search.address,
		                 search.physical ? 0 : 1 + (uint64_t)a->pid };
	uint64_t hash = pfmi_base_hash_bytes(key, sizeof(key));
	uint32_t at = pfmi_base_find_hash(&m->line_table, hash, is_same_line, &search);

	if (at != HASH_NOT_FOUND)
		return at;
	m->lines = base_grow_list(m->lines, m->n_lines, &m->lines_capacity, sizeof(*m->lines),
	                          &m->failed);
	m->failed = m->failed || !pfmi_base_add_hash(&m->line_table, hash, (uint32_t)m->n_lines);
	if (m->failed)
		return HASH_NOT_FOUND;
	m->lines[m->n_lines] = (struct mem_line){ .address = search.address,
		                                  .physical = search.physical,
		                                  .pid = a->pid,
		                                  .object = a->object };
	return (uint32_t)m->n_lines++;
}

struct place_search {
	const struct mem_place *places, *key;
};

static bool is_same_place(const void *arg, uint32_t i)
{
	const struct place_search *s = arg;
	const struct mem_place *a = &s->places[i], *b = s->key;

	return a->line == b->line && a->offset == b->offset && a->tid == b->tid &&
	       a->function == b->function;
}

static void add_place(struct mem_lines *m, const struct mem_access *a, uint32_t line)
{
	const struct mem_place key = { .line = line,
		                       .offset = (uint32_t)a->address & (m->line_size - 1),
		                       .tid = a->tid,
		                       .task = a->task,
		                       .function = a->function };
	const struct place_search search = { m->places, &key };
	const uint32_t words[] = { key.line, key.offset, key.tid, key.function };
	uint64_t hash = pfmi_base_hash_bytes(words, sizeof(words));
	uint32_t at = pfmi_base_find_hash(&m->place_table, hash, is_same_place, &search);

	if (at == HASH_NOT_FOUND) {
		m->places = base_grow_list(m->places, m->n_places, &m->places_capacity,
		                           sizeof(*m->places), &m->failed);
		m->failed = m->failed ||
		            !pfmi_base_add_hash(&m->place_table, hash, (uint32_t)m->n_places);
		if (m->failed)
			return;
		at = (uint32_t)m->n_places++;
		m->places[at] = key;
	}
	add_to_sum(&m->places[at].sum, a);
}

void mem_lines_add(struct mem_lines *m, const struct mem_access *a)
{
	uint32_t line;

	add_to_sum(&m->all, a);
	add_level(m, a);
	if (!a->address)
		return;
	line = find_or_add_line(m, a);
	if (line == HASH_NOT_FOUND)
		return;
	add_to_sum(&m->lines[line].sum, a);
	add_place(m, a, line);
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_sums(const struct mem_sum *a, const struct mem_sum *b)
{
	int by_latency = compare_numbers(b->latency, a->latency);

	return by_latency ? by_latency : compare_numbers(b->samples, a->samples);
}

static int compare_levels(const void *a, const void *b)
{
	const struct mem_level *x = a, *y = b;

	if (x->operation != y->operation)
		return compare_numbers((uint64_t)(x->operation - 1u) & 3,
		                       (uint64_t)(y->operation - 1u) & 3);
	if (compare_sums(&x->sum, &y->sum))
		return compare_sums(&x->sum, &y->sum);
	return x->node != y->node ? compare_numbers(x->node, y->node)
	                          : compare_numbers(x->data_node, y->data_node);
}

static int compare_places(const void *a, const void *b)
{
	const struct mem_place *x = a, *y = b;

	if (x->line != y->line)
		return compare_numbers(x->line, y->line);
	if (x->offset != y->offset)
		return compare_numbers(x->offset, y->offset);
	if (x->sum.samples != y->sum.samples)
		return compare_numbers(y->sum.samples, x->sum.samples);
	return x->tid != y->tid ? compare_numbers(x->tid, y->tid)
	                        : compare_numbers(x->function, y->function);
}

static int compare_threads(const void *a, const void *b)
{
	return compare_numbers(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* How many threads the places @first to @end have. @tids is an array that is large enough. */
static uint32_t count_threads(const struct mem_lines *m, size_t first, size_t end, uint32_t *tids)
{
	size_t n = end - first;
	uint32_t n_threads = 0;

	for (size_t i = 0; i < n; i++)
		tids[i] = m->places[first + i].tid;
	qsort(tids, n, sizeof(*tids), compare_threads);
	for (size_t i = 0; i < n; i++)
		n_threads += i == 0 || tids[i] != tids[i - 1];
	return n_threads;
}

/* Do two threads use one offset of the line with the places @first to @end? */
static bool has_common_offset(const struct mem_lines *m, size_t first, size_t end)
{
	for (size_t i = first + 1; i < end; i++)
		if (m->places[i].offset == m->places[i - 1].offset &&
		    m->places[i].tid != m->places[i - 1].tid)
			return true;
	return false;
}

static void judge_line(struct mem_lines *m, size_t first, size_t end, uint32_t *tids)
{
	struct mem_line *l = &m->lines[m->places[first].line];

	l->n_threads = count_threads(m, first, end, tids);
	l->is_shared = l->n_threads > 1 && (l->sum.stores || l->sum.hitm);
	l->is_false_shared = l->is_shared && !has_common_offset(m, first, end);
}

struct line_order {
	const struct mem_line *line;
};

static int compare_lines(const void *a, const void *b)
{
	const struct mem_line *x = ((const struct line_order *)a)->line,
			      *y = ((const struct line_order *)b)->line;
	int by_sum = compare_sums(&x->sum, &y->sum);

	return by_sum ? by_sum : compare_numbers(x->address, y->address);
}

bool mem_lines_sort(struct mem_lines *m, uint32_t **order)
{
	struct line_order *lines = calloc(m->n_lines + 1, sizeof(*lines));
	uint32_t *tids = calloc(m->n_places + 1, sizeof(*tids));

	*order = calloc(m->n_lines + 1, sizeof(**order));
	if (!lines || !*order || !tids) {
		free(lines);
		free(tids);
		return false;
	}
	if (m->n_levels)
		qsort(m->levels, m->n_levels, sizeof(*m->levels), compare_levels);
	if (m->n_places)
		qsort(m->places, m->n_places, sizeof(*m->places), compare_places);
	for (size_t first = 0, end; first < m->n_places; first = end) {
		for (end = first; end < m->n_places && m->places[end].line == m->places[first].line;
		     end++)
			;
		judge_line(m, first, end, tids);
	}
	for (size_t i = 0; i < m->n_lines; i++)
		lines[i].line = &m->lines[i];
	if (m->n_lines)
		qsort(lines, m->n_lines, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < m->n_lines; i++)
		(*order)[i] = (uint32_t)(lines[i].line - m->lines);
	free(lines);
	free(tids);
	return true;
}

void mem_lines_free(struct mem_lines *m)
{
	free(m->levels);
	free(m->lines);
	free(m->places);
	pfmi_base_free_hash(&m->line_table);
	pfmi_base_free_hash(&m->place_table);
}
