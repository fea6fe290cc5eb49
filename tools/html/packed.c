/* SPDX-License-Identifier: MIT */
#include "html/packed.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

static void add_byte(struct packed_column *c, unsigned byte)
{
	c->bytes = base_grow_list(c->bytes, c->n, &c->capacity, 1, &c->failed);
	if (!c->failed)
		c->bytes[c->n++] = (uint8_t)byte;
}

void pack_number(struct packed_column *c, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		add_byte(c, (value & 0x7f) | 0x80);
	add_byte(c, (unsigned)value);
}

/* Writes up to three bytes as four digits. */
static void encode_bytes(char *to, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	unsigned word = (unsigned)bytes[0] << 16 | (n > 1 ? (unsigned)bytes[1] << 8 : 0) |
	                (n > 2 ? bytes[2] : 0);

	to[0] = digits[word >> 18];
	to[1] = digits[word >> 12 & 63];
	to[2] = n > 1 ? digits[word >> 6 & 63] : '=';
	to[3] = n > 2 ? digits[word & 63] : '=';
}

void put_packed(struct json *j, const char *key, struct packed_column *c)
{
	size_t len = (c->n + 2) / 3 * 4;
	char *text = malloc(len + 1);

	c->failed |= !text;
	for (size_t i = 0; text && i < c->n; i += 3)
		encode_bytes(text + i / 3 * 4, c->bytes + i, c->n - i);
	put_bytes(j, key, text ? text : "", text ? len : 0);
	free(text);
	free(c->bytes);
	*c = (struct packed_column){ .failed = c->failed };
}
