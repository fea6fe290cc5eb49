/* SPDX-License-Identifier: MIT */
/* Sums that one thread writes while others read them. Words of a pointer's size are stored and
 * loaded as a whole on every processor, without libatomic. Longer sums have a sequence number in
 * their entry, by which a reader detects that it has read a part of an update. */
#ifndef PERFMON_REGION_WORDS_H
#define PERFMON_REGION_WORDS_H

#include <stddef.h>

typedef unsigned long __attribute__((may_alias)) region_word;

/* Copies @bytes, a multiple of the word's size, word by word. */
static inline void region_store_words(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(region_word); i++)
		__atomic_store_n((region_word *)to + i, ((const region_word *)from)[i],
		                 __ATOMIC_RELAXED);
}

/* Copies @bytes from memory that other threads store to. */
static inline void region_load_words(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(region_word); i++)
		((region_word *)to)[i] =
			__atomic_load_n((const region_word *)from + i, __ATOMIC_RELAXED);
}

/* Stores @V in the 64-bit sum @X. */
#define REGION_PUT(X, V)                                                                           \
	do {                                                                                       \
		__typeof__(X) region_put_value = (V);                                              \
		region_store_words(&(X), &region_put_value, sizeof(region_put_value));             \
	} while (0)
#define REGION_ADD(X, V) REGION_PUT(X, (X) + (V))

#endif
