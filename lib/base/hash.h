/* SPDX-License-Identifier: MIT */
/* A hash table that grows: it finds the place of an element in an array of its user.
 *
 * The table stores half a hash and an index for each element; the elements stay in the user's
 * array. Hashes are SipHash-1-3 under a key that differs in every process, so the author of a file
 * cannot choose names or numbers that share a slot. */
#ifndef PERFMON_HASH_H
#define PERFMON_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NOT_FOUND UINT32_MAX

struct hash_slot {
	uint32_t hash;  /* the lower half */
	uint32_t index; /* 1 + the index of the element, 0: free */
};

/* All zeros is an empty table. */
struct hash_table {
	struct hash_slot *slots;
	size_t n_slots; /* 0 or a power of two */
	size_t n_used;
};

/**
 * True if element @index of the user's array has the key that is searched.
 *
 * @arg  what the caller of pfmi_base_find_hash() passes: usually the array and the key
 */
typedef bool (*hash_match_fn)(const void *arg, uint32_t index);

/* SipHash-1-3 of @n bytes at @bytes under the 128-bit @key. A hash table needs fewer rounds than
 * SipHash-2-4 has (Aumasson, 2015), which takes twice the time. */
uint64_t pfmi_base_compute_siphash(const uint64_t key[2], const void *bytes, size_t n);
/* The hash of @n bytes, or of a number, under the key of this process. */
uint64_t pfmi_base_hash_bytes(const void *bytes, size_t n);
uint64_t pfmi_base_hash_number(uint64_t number);

/* The index of the element with hash @hash for which @match is true, or HASH_NOT_FOUND. */
uint32_t pfmi_base_find_hash(const struct hash_table *t, uint64_t hash, hash_match_fn match,
                             const void *arg);

/**
 * Add element @index, whose key has hash @hash and is not in the table.
 *
 * Returns false without memory; the table is unchanged then.
 */
bool pfmi_base_add_hash(struct hash_table *t, uint64_t hash, uint32_t index);

/* Releases the memory of the table, which is empty afterwards. */
void pfmi_base_free_hash(struct hash_table *t);

#endif
