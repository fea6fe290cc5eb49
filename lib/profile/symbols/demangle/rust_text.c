/* SPDX-License-Identifier: MIT */
#include "profile/symbols/demangle/rust_text.h"

#include <ctype.h>
#include <string.h>

#include "profile/symbols/symbols.h"

enum { LENGTH_MAX = 1 << 20 }; /* of an identifier */

void rust_put_bytes(struct rust_name *r, const char *bytes, size_t len)
{
	size_t left = SYMBOL_SIZE - 1 - r->text_length;

	if (r->is_silent || r->failed)
		return;
	r->is_full |= len > left;
	r->failed |= r->is_full && r->ends_when_full;
	len = len < left ? len : left;
	memcpy(r->text + r->text_length, bytes, len);
	r->text_length += len;
	r->text[r->text_length] = '\0';
}

void rust_put_text(struct rust_name *r, const char *text)
{
	rust_put_bytes(r, text, strlen(text));
}

bool rust_take_char(struct rust_name *r, char c)
{
	bool is_there = !r->failed && *r->next == c;

	r->next += is_there;
	return is_there;
}

int rust_read_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

/* A decimal number without zeros before it. */
static size_t read_decimal(struct rust_name *r)
{
	size_t value = 0;

	r->failed |= !isdigit((unsigned char)*r->next);
	if (rust_take_char(r, '0'))
		return 0;
	while (!r->failed && isdigit((unsigned char)*r->next)) {
		value = value * 10 + (size_t)(*r->next++ - '0');
		r->failed |= value > LENGTH_MAX;
	}
	return value;
}

/* A length and so many bytes. A newer identifier has "_" before a digit or "_". */
struct identifier rust_read_bytes(struct rust_name *r, bool has_separator)
{
	struct identifier id = { .len = read_decimal(r) };

	if (has_separator)
		rust_take_char(r, '_');
	r->failed |= strnlen(r->next, id.len) < id.len;
	if (r->failed)
		return (struct identifier){ .text = "" };
	id.text = r->next;
	r->next += id.len;
	return id;
}
