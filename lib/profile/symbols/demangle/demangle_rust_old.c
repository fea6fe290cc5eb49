/* SPDX-License-Identifier: MIT */
/* Names of Rust before RFC 2603: they look like names of C++ whose last part is a hash. */
#include "profile/symbols/demangle/demangle_rust_old.h"

#include <stdio.h>
#include <string.h>

enum {
	HASH_DIGITS = 16,
	MIN_DIFFERENT = 5 /* digits of a hash: fewer are part of a name of C++ */
};

static bool is_crate_hash(const struct identifier *id)
{
	unsigned digits = 0, different = 0;

	if (id->len != 1 + HASH_DIGITS || id->text[0] != 'h')
		return false;
	for (size_t i = 1; i < id->len; i++) {
		int digit = rust_read_digit(id->text[i]);

		if (digit < 0 || digit > 15)
			return false;
		different += !(digits >> digit & 1);
		digits |= 1u << digit;
	}
	return different >= MIN_DIFFERENT;
}

/* Text of an escape such as "$LT$" at @s, and its length; NULL for another text. */
static const char *read_escape(const char *s, size_t len, size_t *used, char text[2])
{
	static const struct {
		const char *escape, *text;
	} escapes[] = { { "$SP$", "@" }, { "$BP$", "*" }, { "$RF$", "&" },
		        { "$LT$", "<" }, { "$GT$", ">" }, { "$LP$", "(" },
		        { "$RP$", ")" }, { "$C$", "," },  { "..", "::" } };
	char digits[3] = "";
	unsigned code;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		*used = strlen(escapes[i].escape);
		if (len >= *used && memcmp(s, escapes[i].escape, *used) == 0)
			return escapes[i].text;
	}
	*used = 5; /* "$u7e$" */
	if (len < *used || s[0] != '$' || s[1] != 'u' || s[4] != '$')
		return NULL;
	memcpy(digits, s + 2, 2); /* sscanf(3) would measure all of the rest */
	if (sscanf(digits, "%2x", &code) != 1 || code < ' ' || code >= 0x7f)
		return NULL;
	text[0] = (char)code;
	return text;
}

static void put_old_identifier(struct rust_name *r, const struct identifier *id)
{
	size_t used, i = id->len > 1 && id->text[0] == '_' && id->text[1] == '$';

	for (; i < id->len; i += used) {
		char character[2] = "";
		const char *text = read_escape(id->text + i, id->len - i, &used, character);

		if (text)
			rust_put_text(r, text);
		else
			rust_put_bytes(r, id->text + i, used = 1);
	}
}

/* "_ZN4core3fmt5write17h0123456789abcdefE" */
void rust_read_old_name(struct rust_name *r)
{
	struct identifier id = { .text = "" };
	bool has_hash = false;

	while (!r->failed && !rust_take_char(r, 'E')) {
		id = rust_read_bytes(r, false);
		has_hash = !r->failed && is_crate_hash(&id);
		if (has_hash)
			continue;
		rust_put_text(r, r->text_length ? "::" : "");
		put_old_identifier(r, &id);
	}
	r->failed |= !has_hash || !r->text_length;
}
