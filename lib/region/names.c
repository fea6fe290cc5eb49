/* SPDX-License-Identifier: MIT */
/* Names of regions. A name is added under the lock and never removed, so that look-ups need no
 * lock. */
#include <string.h>
#include "region/region.h"

struct name {
	pfm_region_t region; /* its id is its index */
	uint32_t hash;
};

/* A hash table with open addressing, whose slots are written once. A table that is replaced by a
 * larger one stays, for threads that still read it. */
struct names {
	uint32_t mask;
	struct name *slots[];
};

enum { FIRST_SLOTS = 64 };

static struct names *name_table;
static struct name **names_by_number;
static uint32_t last_number = LAST_OWN_REGION, numbers_capacity;

static uint32_t compute_name_hash(const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

static struct name *find_name(const struct names *t, const char *name, uint32_t hash)
{
	struct name *n;

	for (uint32_t at = hash; t; at++) {
		n = __atomic_load_n(&t->slots[at & t->mask], __ATOMIC_ACQUIRE);
		if (!n || (n->hash == hash && strcmp(n->region.name, name) == 0))
			return n;
	}
	return NULL;
}

static void insert_name(struct names *t, struct name *n)
{
	uint32_t at = n->hash;

	while (t->slots[at & t->mask])
		at++;
	__atomic_store_n(&t->slots[at & t->mask], n, __ATOMIC_RELEASE);
}

/* Grows the table if half of its slots are taken. */
static bool grow_name_table(void)
{
	uint32_t slots = name_table ? 2 * (name_table->mask + 1) : FIRST_SLOTS;
	struct names *bigger;

	if (name_table && 2 * (last_number + 1) <= name_table->mask + 1)
		return true;
	bigger = pfmi_arena_alloc(&pfmi_regions.arena,
	                          sizeof(*bigger) + slots * sizeof(bigger->slots[0]));
	if (!bigger)
		return false;
	bigger->mask = slots - 1;
	for (uint32_t i = LAST_OWN_REGION + 1; i <= last_number; i++)
		insert_name(bigger, names_by_number[i]);
	__atomic_store_n(&name_table, bigger, __ATOMIC_RELEASE);
	return true;
}

static bool grow_numbers(void)
{
	uint32_t size = numbers_capacity ? 2 * numbers_capacity : FIRST_SLOTS;
	struct name **bigger;

	if (last_number + 1 < numbers_capacity)
		return true;
	bigger = pfmi_arena_alloc(&pfmi_regions.arena, size * sizeof(struct name *));
	if (!bigger)
		return false;
	if (names_by_number)
		memcpy(bigger, names_by_number, (last_number + 1) * sizeof(struct name *));
	names_by_number = bigger;
	numbers_capacity = size;
	return true;
}

static struct name *add_name(const char *name, uint32_t hash)
{
	size_t len = strlen(name) + 1;
	struct name *n;
	char *copy;

	if (!grow_name_table() || !grow_numbers())
		return NULL;
	n = pfmi_arena_alloc(&pfmi_regions.arena, sizeof(*n) + len);
	if (!n)
		return NULL;
	copy = (char *)(n + 1);
	memcpy(copy, name, len);
	n->hash = hash;
	n->region = (pfm_region_t){ copy, last_number + 1, 0 };
	names_by_number[last_number + 1] = n;
	__atomic_store_n(&last_number, last_number + 1, __ATOMIC_RELEASE);
	insert_name(name_table, n);
	pfmi_storage_put_name(n->region.id, copy);
	return n;
}

pfm_region_t *pfmi_region_find_or_make(const char *name)
{
	uint32_t hash = compute_name_hash(name);
	struct name *n = find_name(__atomic_load_n(&name_table, __ATOMIC_ACQUIRE), name, hash);

	if (!n) {
		pfmi_regions_lock();
		n = find_name(name_table, name, hash);
		if (!n)
			n = add_name(name, hash);
		pfmi_regions_unlock();
	}
	return n ? &n->region : NULL;
}

uint32_t pfmi_region_find_or_make_number(const char *name)
{
	const pfm_region_t *r = pfmi_region_find_or_make(name);

	return r ? r->id : 0;
}

/* Call this with the lock held, or with a number that this thread has. */
const char *pfmi_region_get_name(uint32_t number)
{
	return number > LAST_OWN_REGION && number <= __atomic_load_n(&last_number, __ATOMIC_ACQUIRE)
	               ? names_by_number[number]->region.name
	               : "";
}

uint32_t pfmi_region_get_last_number(void)
{
	return __atomic_load_n(&last_number, __ATOMIC_ACQUIRE);
}

pfm_region_t *pfm_find_region(const char *name)
{
	return name ? pfmi_region_find_or_make(name) : NULL;
}
