/* SPDX-License-Identifier: MIT */
/* The keys by which samples are added up: their names, columns and JSON. */
#include <string.h>
#include "pfm.h"
#include "report_view.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned key;
} key_names[] = {
	{ "task", KEY_TASK },       { "object", KEY_OBJECT }, { "symbol", KEY_SYMBOL },
	{ "line", KEY_LINE },       { "cpu", KEY_CPU },       { "cgroup", KEY_CGROUP },
	{ "address", KEY_ADDRESS },
};

bool read_report_keys(const char *text, unsigned *keys, const char **wrong)
{
	enum { N = sizeof(key_names) / sizeof(key_names[0]) };

	for (*keys = 0;; text++) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < N && (strlen(key_names[i].name) != len ||
		                 strncmp(key_names[i].name, text, len) != 0))
			i++;
		if (i == N) {
			*wrong = text;
			return false;
		}
		*keys |= key_names[i].key;
		text += len;
		if (!*text)
			return true;
	}
}

unsigned report_keys(const struct profile_options *o)
{
	return o->keys ? o->keys : KEY_TASK | KEY_OBJECT | KEY_SYMBOL;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Prints a column of @width; the blanks that fill it only before another column. */
static void put_column(const char *text, int width, int *pending)
{
	int len = (int)strlen(text);

	if (!len) {
		*pending += width + 1;
		return;
	}
	printf("%*s%s", *pending, "", text);
	*pending = len < width ? width - len + 1 : 1;
}

/* "inlined > inlined  file.c:12" after the function. */
static void put_spot(const struct profile *p, const struct profile_place *at, int *pending)
{
	char line[NAME_LINE];
	bool has_before = at->function;

	for (const char *s = p->texts.text[at->inlined]; *s; s += *s == ';') {
		int len = (int)strcspn(s, ";");

		if (!has_before)
			printf("%*s", *pending, "");
		printf("%s%.*s", has_before ? " > " : "", len, s);
		has_before = true;
		s += len;
	}
	if (!at->source)
		return;
	if (has_before)
		*pending = 2;
	put_column(profile_line(base_name(p->texts.text[at->source]), line), 0, pending);
}

void put_key_columns(const struct profile *p, const struct profile_place *at, unsigned keys,
                     unsigned depth)
{
	char line[NAME_LINE], number[24];
	int pending = 2;

	if (keys & KEY_CPU) {
		snprintf(number, sizeof(number), "%u", at->cpu);
		put_column(at->cpu == UNKNOWN_CPU ? "-" : number, 4, &pending);
	}
	if (keys & KEY_CGROUP)
		put_column(profile_line(p->texts.text[at->cgroup], line), 24, &pending);
	if (keys & KEY_TASK)
		put_column(profile_line(p->texts.text[at->task], line), 16, &pending);
	if (keys & KEY_OBJECT)
		put_column(profile_line(base_name(p->texts.text[at->object]), line), 24, &pending);
	if (keys & KEY_ADDRESS) {
		snprintf(number, sizeof(number), "%#llx", (unsigned long long)at->address);
		put_column(number, 18, &pending);
	}
	pending += 2 * (int)depth;
	if (keys & KEY_SYMBOL)
		put_column(profile_line(p->texts.text[at->function], line), 0, &pending);
	if (keys & KEY_LINE)
		put_spot(p, at, &pending);
	putchar('\n');
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void put_key_members(struct json *j, const struct profile *p, const struct profile_place *at,
                     unsigned keys)
{
	put_text(j, "event", event_name(p, at->event));
	if (p->n_slices > 1) {
		put_real(j, "from", slice_start(p, at->slice));
		put_real(j, "to", slice_start(p, at->slice + 1));
	}
	if (keys & KEY_CPU && at->cpu == UNKNOWN_CPU)
		put_null(j, "cpu");
	else if (keys & KEY_CPU)
		put_int(j, "cpu", at->cpu);
	if (keys & KEY_CGROUP)
		put_text(j, "cgroup", p->texts.text[at->cgroup]);
	if (keys & KEY_TASK)
		put_text(j, "task", p->texts.text[at->task]);
	if (keys & KEY_OBJECT)
		put_text(j, "object", p->texts.text[at->object]);
	if (keys & KEY_ADDRESS)
		put_hex(j, "address", at->address);
	if (keys & KEY_SYMBOL)
		put_text(j, "function", p->texts.text[at->function]);
	if (keys & KEY_LINE) {
		put_text(j, "inlined", p->texts.text[at->inlined]);
		put_text(j, "source", p->texts.text[at->source]);
	}
}
