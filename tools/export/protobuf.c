/* SPDX-License-Identifier: MIT */
#include "export/protobuf.h"

#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"

/* How the value of a field is written: the lowest three bits of its tag. */
enum { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_BYTES = 2, WIRE_32BIT = 5 };

/* ---- writing --------------------------------------------------------------------------------- */

void message_free(struct message *m)
{
	free(m->bytes);
	*m = (struct message){ .bytes = NULL };
}

void message_clear(struct message *m)
{
	m->n = 0;
}

/* Allocates memory for @n more bytes. False without memory. */
static bool reserve_bytes(struct message *m, size_t n)
{
	size_t more = 2 * m->capacity + n + 64;
	uint8_t *bigger;

	if (m->capacity - m->n >= n)
		return true;
	bigger = realloc(m->bytes, more);
	m->failed |= !bigger;
	if (!bigger)
		return false;
	m->bytes = bigger;
	m->capacity = more;
	return true;
}

static void append_bytes(struct message *m, const void *bytes, size_t n)
{
	if (!n || !reserve_bytes(m, n))
		return;
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

void message_add_packed(struct message *m, uint64_t value)
{
	enum { MAX_DIGITS = 10 };

	if (!reserve_bytes(m, MAX_DIGITS))
		return;
	for (; value >= 0x80; value >>= 7)
		m->bytes[m->n++] = (uint8_t)(value | 0x80);
	m->bytes[m->n++] = (uint8_t)value;
}

static void add_tag(struct message *m, unsigned field, unsigned wire)
{
	message_add_packed(m, (uint64_t)field << 3 | wire);
}

void message_add_chosen_number(struct message *m, unsigned field, uint64_t value)
{
	add_tag(m, field, WIRE_VARINT);
	message_add_packed(m, value);
}

void message_add_number(struct message *m, unsigned field, uint64_t value)
{
	if (value)
		message_add_chosen_number(m, field, value);
}

void message_add_chosen_fixed64(struct message *m, unsigned field, uint64_t value)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	add_tag(m, field, WIRE_64BIT);
	append_bytes(m, bytes, sizeof(bytes));
}

void message_add_fixed64(struct message *m, unsigned field, uint64_t value)
{
	if (value)
		message_add_chosen_fixed64(m, field, value);
}

void message_add_element(struct message *m, unsigned field, const void *bytes, size_t n)
{
	add_tag(m, field, WIRE_BYTES);
	message_add_packed(m, n);
	append_bytes(m, bytes, n);
}

void message_add_message(struct message *m, unsigned field, struct message *part)
{
	m->failed |= part->failed;
	message_add_element(m, field, part->bytes, part->n);
	message_clear(part);
}

void message_add_text(struct message *m, unsigned field, const char *text)
{
	struct message valid = { .bytes = NULL };
	size_t len = strlen(text), good = utf8_measure_valid(text, len);

	if (good == len) {
		message_add_element(m, field, text, len);
		return;
	}
	for (; len; good = utf8_measure_valid(text, len)) {
		append_bytes(&valid, text, good);
		text += good;
		len -= good;
		if (len) {
			append_bytes(&valid, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
			text++;
			len--;
		}
	}
	message_add_message(m, field, &valid);
	message_free(&valid);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool message_next_packed(const uint8_t **bytes, size_t *n, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *n && shift < 64; shift += 7) {
		uint8_t digit = *(*bytes)++;

		(*n)--;
		*value |= (uint64_t)(digit & 0x7f) << shift;
		if (digit < 0x80)
			return true;
	}
	return false;
}

/* Takes @len bytes. False if fewer are left. */
static bool take_bytes(const uint8_t **bytes, size_t *n, uint64_t len, struct message_field *field)
{
	if (len > *n)
		return false;
	field->bytes = *bytes;
	field->n = (size_t)len;
	*bytes += len;
	*n -= (size_t)len;
	return true;
}

int message_next_field(const uint8_t **bytes, size_t *n, struct message_field *field)
{
	uint64_t tag, len;
	bool good;

	*field = (struct message_field){ .number = 0 };
	if (!*n)
		return 0;
	if (!message_next_packed(bytes, n, &tag))
		return -1;
	field->number = (unsigned)(tag >> 3);
	switch (tag & 7) {
	case WIRE_VARINT: good = message_next_packed(bytes, n, &field->value); break;
	case WIRE_64BIT: good = take_bytes(bytes, n, 8, field); break;
	case WIRE_32BIT: good = take_bytes(bytes, n, 4, field); break;
	case WIRE_BYTES:
		field->is_bytes = true;
		good = message_next_packed(bytes, n, &len) && take_bytes(bytes, n, len, field);
		break;
	default: good = false; break;
	}
	return good ? 1 : -1;
}
