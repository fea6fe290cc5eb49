/* SPDX-License-Identifier: MIT */
/* Columns of numbers in the data of a page: seven bits a byte, the low ones first, with bit 7 in
 * all but the last byte of a number, as a text of base64. 330,000 samples take 5 MB; as decimal
 * numbers of JSON they take 27 MB, and a browser five times as long to read. */
#ifndef PFM_HTML_PACKED_H
#define PFM_HTML_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/json.h"

struct packed_column {
	uint8_t *bytes;
	size_t n, capacity;
	bool failed; /* no memory */
};

void pack_number(struct packed_column *c, uint64_t value);
/* Puts the column as member @key, and frees it. */
void put_packed(struct json *j, const char *key, struct packed_column *c);

#endif
