/* SPDX-License-Identifier: MIT */
/* The hash table of hash.h: open addressing with linear probing, at most half full. */
#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "base/hash.h"

#define FIRST_N_SLOTS 64

/* The compiler unrolls the rounds where their number is a constant: four fifths of the
 * instructions. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- SipHash (Aumasson and Bernstein, 2012) ------------------------------------------------ */

static inline uint64_t rotate_left(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static ALWAYS_INLINE void mix_state(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate_left(v[1], 13) ^ v[0];
	v[3] = rotate_left(v[3], 16) ^ v[2];
	v[0] = rotate_left(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate_left(v[1], 17) ^ v[2];
	v[3] = rotate_left(v[3], 21) ^ v[0];
	v[2] = rotate_left(v[2], 32);
}

static ALWAYS_INLINE void absorb_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix_state(v);
	v[0] ^= word;
}

/* Less than 8 bytes, the lowest first on every machine. */
static uint64_t load_partial_word(const uint8_t *p, size_t n)
{
	uint64_t word = 0;

	while (n--)
		word = word << 8 | p[n];
	return word;
}

static uint64_t load_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

uint64_t pfmi_base_compute_siphash(const uint64_t key[2], const void *bytes, size_t n)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
		          key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u };
	const uint8_t *p = bytes;
	size_t left = n;

	for (; left >= 8; p += 8, left -= 8)
		absorb_word(v, load_word(p));
	absorb_word(v, (uint64_t)n << 56 | load_partial_word(p, left));
	v[2] ^= 0xff;
	for (unsigned round = 0; round < 3; round++)
		mix_state(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The kernel gives each process 16 random bytes. Without them the key is constant. Their address is
 * kept: getauxval() takes a quarter of the time of a hash. All threads find the same address. */
static const void *get_process_key(void)
{
	static const uint64_t constant[2];
	static _Atomic(const void *) kept;
	const void *key = atomic_load_explicit(&kept, memory_order_relaxed);

	if (!key) {
		key = (const void *)getauxval(AT_RANDOM);
		key = key ? key : constant;
		atomic_store_explicit(&kept, key, memory_order_relaxed);
	}
	return key;
}

uint64_t pfmi_base_hash_bytes(const void *bytes, size_t n)
{
	uint64_t key[2];

	memcpy(key, get_process_key(), sizeof(key));
	return pfmi_base_compute_siphash(key, bytes, n);
}

uint64_t pfmi_base_hash_number(uint64_t number)
{
	return pfmi_base_hash_bytes(&number, sizeof(number));
}

/* ---- the table ----------------------------------------------------------------------------- */

uint32_t pfmi_base_find_hash(const struct hash_table *t, uint64_t hash, hash_match_fn match,
                             const void *arg)
{
	size_t mask = t->n_slots - 1;

	if (!t->n_slots)
		return HASH_NOT_FOUND;
	for (size_t at = (uint32_t)hash & mask; t->slots[at].index; at = (at + 1) & mask)
		if (t->slots[at].hash == (uint32_t)hash && match(arg, t->slots[at].index - 1))
			return t->slots[at].index - 1;
	return HASH_NOT_FOUND;
}

static void store_slot(struct hash_slot *slots, size_t n_slots, struct hash_slot slot)
{
	size_t at = slot.hash & (n_slots - 1);

	while (slots[at].index)
		at = (at + 1) & (n_slots - 1);
	slots[at] = slot;
}

static bool grow_table(struct hash_table *t)
{
	size_t n = t->n_slots ? 2 * t->n_slots : FIRST_N_SLOTS;
	struct hash_slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].index)
			store_slot(slots, n, t->slots[i]);
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	return true;
}

bool pfmi_base_add_hash(struct hash_table *t, uint64_t hash, uint32_t index)
{
	if (2 * (t->n_used + 1) > t->n_slots && !grow_table(t))
		return false;
	store_slot(t->slots, t->n_slots,
	           (struct hash_slot){ .hash = (uint32_t)hash, .index = index + 1 });
	t->n_used++;
	return true;
}

void pfmi_base_free_hash(struct hash_table *t)
{
	free(t->slots);
	*t = (struct hash_table){ .n_slots = 0 };
}
