/* SPDX-License-Identifier: MIT */
/* Arenas of mapped memory, which are released as a whole. Pages are populated when they are mapped,
 * because open regions would otherwise count these page faults. */
#include <sys/mman.h>
#include "region/region.h"

enum { CHUNK = 8 << 10, ALIGNMENT = 16, MAX_PIECE = 1 << 30 };

static bool add_chunk(struct arena *a, size_t size)
{
	size_t capacity = size + sizeof(struct chunk) + ALIGNMENT;
	struct chunk *c;

	capacity = capacity < CHUNK ? CHUNK : (capacity + 4095) & ~(size_t)4095;
	c = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
	         -1, 0);
	if (c == MAP_FAILED)
		return false;
	c->next = a->chunks;
	c->size = capacity;
	a->chunks = c;
	a->at = (char *)c + ((sizeof(*c) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
	a->end = (char *)c + capacity;
	return true;
}

void *pfmi_arena_alloc(struct arena *a, size_t size)
{
	char *at;

	if (size > MAX_PIECE)
		return NULL;
	size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if ((size_t)(a->end - a->at) < size && !add_chunk(a, size))
		return NULL;
	at = a->at;
	a->at += size;
	return at;
}

void pfmi_arena_free(struct arena *a)
{
	struct chunk *chunk = a->chunks, *next;

	*a = (struct arena){ 0 }; /* the arena itself may be in one of its own chunks */
	for (; chunk; chunk = next) {
		next = chunk->next;
		munmap(chunk, chunk->size);
	}
}
