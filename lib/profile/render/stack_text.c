/* SPDX-License-Identifier: MIT */
#include "profile/profile_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds @len bytes of a name to a text of one line, as far as there is @size, with @semicolon in
 * place of semicolons. Names come from recorded programs: line ends and semicolons in them must not
 * begin a line or a frame. */
static size_t add_frame_name(char *text, size_t at, size_t size, const char *name, size_t len,
                             char semicolon)
{
	for (; len && at < size; name++, len--)
		if (*name == ';')
			text[at++] = semicolon;
		else if (*name == '\n' || *name == '\t')
			at += (size_t)snprintf(text + at, size - at, "\\x%02x", (unsigned)*name);
		else
			text[at++] = *name;
	at = at < size ? at : size - 1;
	text[at] = '\0';
	return at;
}

char *profile_format_line(const char *name, char buf[NAME_LINE])
{
	add_frame_name(buf, 0, NAME_LINE, name, strlen(name), ';');
	return buf;
}

static size_t append_limited(char *text, size_t at, size_t size, const char *more)
{
	size_t len = strlen(more);

	len = len < size - at ? len : size - 1 - at;
	memcpy(text + at, more, len);
	text[at + len] = '\0';
	return at + len;
}

/* Adds a frame to a stack's text: the function, and what is inlined there, the outermost first.
 * Returns the new length. */
static size_t add_frame(const struct text_pool *t, char *text, size_t at, size_t size,
                        const struct profile_place *p, bool kernel)
{
	at = append_limited(text, at, size, ";");
	at = add_frame_name(text, at, size, t->text[p->function], strlen(t->text[p->function]),
	                    ':');
	at = append_limited(text, at, size, kernel ? "_[k]" : "");
	for (const char *s = t->text[p->inlined]; *s; s += *s == ';') {
		size_t len = strcspn(s, ";");

		at = append_limited(text, at, size, ";");
		at = add_frame_name(text, at, size, s, len, ':');
		at = append_limited(text, at, size, "_[i]");
		s += len;
	}
	return at;
}

#define STACK_MAX ((uint64_t)1 << 24) /* bytes of a stack as a text */

/* Enlarges the text so that @more bytes fit after the first @at. Returns false without memory, or
 * if the text would exceed STACK_MAX. */
static bool reserve_stack(struct profile_reader *r, size_t at, size_t more)
{
	size_t capacity = 2 * (at + more) + 1;
	char *text;

	if (!r->stack_size.limit)
		r->stack_size = (struct budget){ .messages = r->options.messages,
			                         .file = "the recording",
			                         .subject = "stacks",
			                         .unit = "bytes of names",
			                         .limit = STACK_MAX };
	if (!budget_allows(&r->stack_size, at + more))
		return false;
	if (at + more < r->stack_capacity)
		return true;
	text = realloc(r->stack, capacity);
	r->target_profile->failed |= !text;
	if (!text)
		return false;
	r->stack = text;
	r->stack_capacity = capacity;
	return true;
}

/* Most bytes that add_frame() writes for @p: "\\x0a" for a byte, and ";" and "_[i]" for a name. */
static size_t measure_frame(const struct text_pool *t, const struct profile_place *p)
{
	return 4 * strlen(t->text[p->function]) + 9 * strlen(t->text[p->inlined]) + 16;
}

uint32_t number_stack_text(struct profile_reader *r, const pfm_record_t *record, uint32_t task)
{
	struct text_pool *texts = &r->target_profile->texts;
	struct frames *f = &r->frames;
	size_t at;

	if (!reserve_stack(r, 0, 4 * strlen(texts->text[task]) + sizeof(CUT_OFF) + 16))
		return 0;
	at = add_frame_name(r->stack, 0, r->stack_capacity, texts->text[task],
	                    strlen(texts->text[task]), ':');
	at = append_limited(r->stack, at, r->stack_capacity,
	                    record->truncated & PFM_TRUNCATED_CHAIN ? ";" CUT_OFF : "");
	for (unsigned i = f->n_frames; i-- > 0;) {
		struct profile_place p = { 0 };

		names_find_at_address(r, record->pid, f->address[i], f->mode[i], &p);
		if (!reserve_stack(r, at, measure_frame(texts, &p)))
			break;
		at = add_frame(texts, r->stack, at, r->stack_capacity, &p,
		               f->mode[i] == PFM_MISC_KERNEL);
	}
	return text_pool_add(texts, r->stack);
}
