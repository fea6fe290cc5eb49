/* SPDX-License-Identifier: MIT */
/* Protocol buffers: fields of a message, one after the other, in memory that grows. */
#ifndef PFM_EXPORT_PROTOBUF_H
#define PFM_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that is being written. All zeros is empty. */
struct message {
	uint8_t *bytes;
	size_t n, capacity;
	bool failed; /* no memory */
};

void message_free(struct message *m);
/* Empties @m and keeps its memory. */
void message_clear(struct message *m);
/* Fields whose value is 0 or empty are left out, as proto3 does. */
void message_add_number(struct message *m, unsigned field, uint64_t value);
/* A number that is written though it is 0: one member of several that exclude each other. */
void message_add_chosen_number(struct message *m, unsigned field, uint64_t value);
/* A fixed number that is written though it is 0. */
void message_add_chosen_fixed64(struct message *m, unsigned field, uint64_t value);
void message_add_fixed64(struct message *m, unsigned field, uint64_t value);
/* A field that is written though it is empty: an element of a repeated field. */
void message_add_element(struct message *m, unsigned field, const void *bytes, size_t n);
/* Message @part as an element; @part is cleared. */
void message_add_message(struct message *m, unsigned field, struct message *part);
/* A number without a field: an element of a packed field, which message_add_message() adds. */
void message_add_packed(struct message *m, uint64_t value);
/* @text with U+FFFD for each byte that is not UTF-8, as an element. */
void message_add_text(struct message *m, unsigned field, const char *text);

/* A field that was read: a number, or @n bytes. */
struct message_field {
	unsigned number;
	bool is_bytes;
	uint64_t value;
	const uint8_t *bytes;
	size_t n;
};

/* Takes the next field from the *@n bytes at *@bytes, and steps on. 1, 0 at the end, -1 for
 * malformed bytes. */
int message_next_field(const uint8_t **bytes, size_t *n, struct message_field *field);
/* Takes the next number of a packed field. False at the end. */
bool message_next_packed(const uint8_t **bytes, size_t *n, uint64_t *value);

#endif
