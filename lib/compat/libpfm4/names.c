/* SPDX-License-Identifier: MIT */
/* Names of events and attributes: hashing and comparison. */
#include <endian.h>
#include <string.h>
#include "compat/libpfm4/l4.h"

static unsigned char to_lower_ascii(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static uint64_t mix_hash(uint64_t h, uint64_t letters)
{
	h = (h ^ (letters | 0x2020202020202020u)) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* Hashes eight characters at a time in lower case; compiler/libpfm4/name_tables.py computes equal
 * values. */
uint32_t l4_hash_name(const char *name, size_t len)
{
	uint64_t h = len, letters;

	for (; len >= 8; name += 8, len -= 8) {
		memcpy(&letters, name, 8);
		h = mix_hash(h, le64toh(letters));
	}
	for (letters = 0; len; len--)
		letters = letters << 8 | (unsigned char)name[len - 1];
	return (uint32_t)mix_hash(h, letters);
}

bool l4_is_same_name(const char *stored, const char *name, size_t len)
{
	if (strncmp(stored, name, len) == 0) /* the usual case */
		return stored[len] == '\0';
	for (size_t i = 0; i < len; i++)
		if (to_lower_ascii(stored[i]) != to_lower_ascii(name[i]) || !stored[i])
			return false;
	return stored[len] == '\0';
}
