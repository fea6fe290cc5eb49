/* SPDX-License-Identifier: MIT */
/* A buffer that grows. */
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"

bool pfmi_perfdata_reserve_bytes(struct byte_buffer *b, size_t n)
{
	size_t size = b->capacity * 2 + n;
	uint8_t *more;

	if (b->n_consumed)
		memmove(b->data, b->data + b->n_consumed, b->end - b->n_consumed);
	b->end -= b->n_consumed;
	b->n_consumed = 0;
	if (b->capacity - b->end >= n)
		return true;
	more = size <= MAX_UNPACKED_SIZE ? realloc(b->data, size) : NULL;
	if (!more)
		return false;
	b->data = more;
	b->capacity = size;
	return true;
}

bool pfmi_perfdata_append_bytes(struct byte_buffer *b, const void *p, size_t n)
{
	if (!pfmi_perfdata_reserve_bytes(b, n))
		return false;
	if (n)
		memcpy(b->data + b->end, p, n);
	b->end += n;
	return true;
}

bool pfmi_perfdata_append_u32(struct byte_buffer *b, uint32_t v)
{
	return pfmi_perfdata_append_bytes(b, &v, sizeof(v));
}

bool pfmi_perfdata_append_u64(struct byte_buffer *b, uint64_t v)
{
	return pfmi_perfdata_append_bytes(b, &v, sizeof(v));
}
