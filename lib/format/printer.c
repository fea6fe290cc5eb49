/* SPDX-License-Identifier: MIT */
/* The text that a printer writes, piece by piece. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "format/printer.h"

void pfmi_put(struct printer *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->n, sizeof(p->text) - p->n, format, args);
	va_end(args);
	if (n > 0)
		p->n += (size_t)n < sizeof(p->text) - p->n ? (size_t)n : sizeof(p->text) - 1 - p->n;
	if (p->n == sizeof(p->text) - 1)
		p->why = "the text is too long";
}

void pfmi_put_char(struct printer *p, char c)
{
	if (p->n < sizeof(p->text) - 1) {
		p->text[p->n++] = c;
		p->text[p->n] = '\0';
	}
	if (p->n == sizeof(p->text) - 1)
		p->why = "the text is too long";
}

/* As much of the next @n bytes as there is room for. */
static size_t room_for(struct printer *p, size_t n)
{
	size_t room = sizeof(p->text) - 1 - p->n;

	if (n >= room)
		p->why = "the text is too long";
	return n < room ? n : room;
}

void pfmi_put_text(struct printer *p, const char *s)
{
	size_t n = room_for(p, strlen(s));

	memcpy(p->text + p->n, s, n);
	p->text[p->n += n] = '\0';
}

/* capital() for so many that the compiler can do them at once. */
static inline void put_capital_run(char *to, const char *s, size_t n)
{
	char run[16];

	memcpy(run, s, n);
	for (size_t i = 0; i < n; i++)
		run[i] = capital(run[i]);
	memcpy(to, run, n);
}

/* The last ones of a run with some before them, few with what a pool has behind. */
void pfmi_capitals(char *to, const char *s, size_t n)
{
	char few[POOL_PAD];

	if (n >= 16) {
		for (size_t i = 0; i < n - 16; i += 16)
			put_capital_run(to + i, s + i, 16);
		put_capital_run(to + n - 16, s + n - 16, 16);
	} else if (n >= 8) {
		put_capital_run(to, s, 8);
		put_capital_run(to + n - 8, s + n - 8, 8);
	} else {
		put_capital_run(few, s, POOL_PAD);
		memcpy(to, few, n);
	}
}

void pfmi_put_capitals(struct printer *p, const char *s)
{
	size_t n = room_for(p, strlen(s));

	pfmi_capitals(p->text + p->n, s, n);
	p->text[p->n += n] = '\0';
}

bool pfmi_cannot(struct printer *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return false;
}

/* Codes and whatever is wider than 16 bits are hexadecimal, thresholds and the like are not. */
static void put_number(struct printer *p, const struct field *f, uint64_t value)
{
	bool hex = f->width > 16 || f->key == KEY_CODE || f->key == KEY_UMASK;

	pfmi_put(p, hex ? "0x%" PRIx64 : "%" PRIu64, value);
}

/* A word for @value that reads back as that value in every grammar, or NULL. */
static const char *field_word(const struct table *t, const struct field *f, uint64_t value)
{
	const struct word *w = table_words(t) + f->word;

	for (unsigned i = 0; i < f->n_words; i++) {
		const char *word = table_text(t, w[i].name);
		uint64_t number;

		if (w[i].value == value && has_none(word, ":.,/=") && !pfmi_spec_number(pfmi_slice(word), &number))
			return word;
	}
	return NULL;
}

void pfmi_put_value(struct printer *p, const struct field *f, uint64_t value)
{
	const char *word = f->kind == FIELD_NUMBER ? NULL : field_word(p->t, f, value);

	if (word)
		pfmi_put(p, "%s", word);
	else
		put_number(p, f, value);
}
