/* SPDX-License-Identifier: MIT */
/* Reading a name of Rust, and writing its text. */
#ifndef PERFMON_PROFILE_RUST_TEXT_H
#define PERFMON_PROFILE_RUST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name that is read, and its text, which ends where it is full. */
struct rust_name {
	const char *mangled, *next; /* of the part after "_R" */
	char *text;
	size_t text_length;
	unsigned depth, parts;
	uint64_t bound;      /* lifetimes that have names here */
	bool is_silent;      /* parts are read, and not written */
	bool is_full;        /* the text is cut */
	bool ends_when_full; /* reading fails then: what follows is not shown */
	bool failed;
};

struct identifier {
	const char *text;
	size_t len;
	bool is_punycode;
};

/* Add text, unless it is full. */
void rust_put_text(struct rust_name *r, const char *text);
void rust_put_bytes(struct rust_name *r, const char *bytes, size_t len);
/* Skips @c if it comes next. */
bool rust_take_char(struct rust_name *r, char c);
/* The value of a digit of base 62, -1 for another character. */
int rust_read_digit(char c);
/* A length and so many bytes. A newer identifier has "_" before a digit or "_". */
struct identifier rust_read_bytes(struct rust_name *r, bool has_separator);

#endif
