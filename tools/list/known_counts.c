/* SPDX-License-Identifier: MIT */
/* The findings of pfm doctor about events that are compared with known counts, in little time. */
#include "check_events/check_events.h"
#include "common/pfm.h"
#include "list/list.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 18, TEXT_MAX = 640, NAMES_MAX = 6 };

/* The check is over after this time, and one event. */
#define QUICK_SECONDS 0.8

static void print_detail(const char *label, const char *text)
{
	if (!*text)
		return;
	printf("  %-*s %s", LABEL_WIDTH, "", label);
	term_wrap(stdout, LABEL_WIDTH + 3 + strlen(label), LABEL_WIDTH + 5, text);
}

static const char *find_event_name(const struct event_check *c)
{
	const char *colons = strstr(c->text, "::");

	return colons ? colons + 2 : c->text;
}

static bool is_wrong(const struct event_check *c)
{
	return c->result.judgement != NOT_JUDGED && c->result.judgement != JUDGED_RIGHT;
}

/* Appends to a text that is cut where it is full. */
static void append(char text[TEXT_MAX], const char *before, const char *word)
{
	size_t at = strlen(text);

	snprintf(text + at, TEXT_MAX - at, "%s%s", before, word);
}

static void append_number(char text[TEXT_MAX], const char *before, unsigned number)
{
	char word[16];

	snprintf(word, sizeof(word), "%u", number);
	append(text, before, word);
}

/* "9 events right: instructions, ... and 1 more; not right: 1". */
static void describe_judged(const struct check_list *list, char text[TEXT_MAX])
{
	unsigned n_right = 0, n_wrong = 0, n = 0;

	for (size_t i = 0; i < list->n; i++) {
		n_right += list->checks[i].result.judgement == JUDGED_RIGHT;
		n_wrong += is_wrong(&list->checks[i]);
	}
	snprintf(text, TEXT_MAX, "%u events right", n_right);
	for (size_t i = 0; i < list->n && n < NAMES_MAX; i++)
		if (list->checks[i].result.judgement == JUDGED_RIGHT)
			append(text, n++ ? ", " : ": ", find_event_name(&list->checks[i]));
	if (n_right > n)
		append_number(text, " and more: ", n_right - n);
	if (n_wrong)
		append_number(text, "; not right: ", n_wrong);
}

/* Says what was not checked, by reason; "" if all was. */
static void describe_rest(const struct check_list *list, char text[TEXT_MAX])
{
	char part[REASON_MAX + 32];

	*text = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct event_check *c = &list->checks[i];
		unsigned n = 0;
		bool is_first = true;

		for (size_t k = 0; k < list->n; k++)
			if (list->checks[k].result.judgement == NOT_JUDGED &&
			    strcmp(list->checks[k].reason, c->reason) == 0) {
				is_first = is_first && k >= i;
				n++;
			}
		if (c->result.judgement != NOT_JUDGED || !is_first)
			continue;
		snprintf(part, sizeof(part), "%u (%s)", n, c->reason);
		append(text, *text ? ", " : "not checked: ", part);
	}
}

static void print_quick_check(const struct check_list *list)
{
	char text[TEXT_MAX], rest[TEXT_MAX], judgement[96];
	unsigned n_wrong = 0;

	for (size_t i = 0; i < list->n; i++)
		n_wrong += is_wrong(&list->checks[i]);
	describe_judged(list, text);
	describe_rest(list, rest);
	printf("\n%sKnown counts%s\n  %s%-*s%s ", term_colour_begin(stdout, BOLD),
	       term_colour_end(stdout), term_colour_begin(stdout, n_wrong ? RED : GREEN),
	       LABEL_WIDTH, "known counts", term_colour_end(stdout));
	term_wrap(stdout, LABEL_WIDTH + 3, LABEL_WIDTH + 3, text);
	for (size_t i = 0; i < list->n; i++) {
		const struct event_check *c = &list->checks[i];

		if (!is_wrong(c))
			continue;
		snprintf(text, sizeof(text), "%s: %s", c->text,
		         describe_judgement(&c->result, judgement));
		print_detail("", text);
	}
	print_detail("", rest);
	print_detail("do: ", "pfm check-events --all");
}

static void put_quick_check(const struct check_list *list)
{
	struct json j = { .out = stdout };
	char text[TEXT_MAX], judgement[96];
	bool is_good = true;

	for (size_t i = 0; i < list->n; i++) {
		const struct event_check *c = &list->checks[i];

		if (!is_wrong(c))
			continue;
		is_good = false;
		put_begin(&j, NULL, '{');
		put_text(&j, "check", c->text);
		put_text(&j, "state", "bad");
		put_text(&j, "found", describe_judgement(&c->result, judgement));
		put_text_if(&j, "why", c->reason);
		put_end(&j, '}');
		put_line(&j);
	}
	describe_judged(list, text);
	put_begin(&j, NULL, '{');
	put_text(&j, "check", "known counts");
	put_text(&j, "state", is_good ? "good" : "note");
	put_text(&j, "found", text);
	describe_rest(list, text);
	put_text_if(&j, "why", text);
	put_text(&j, "remedy", "pfm check-events --all");
	put_end(&j, '}');
	put_line(&j);
}

void report_known_counts(pfm_ctx_t *ctx, bool json)
{
	struct check_list list = { 0 };
	char path[8];

	if (strcmp(make_machine_path("/", path, sizeof(path)), "/") != 0)
		return;
	if (check_quickly(ctx, QUICK_SECONDS, &list)) {
		if (json)
			put_quick_check(&list);
		else
			print_quick_check(&list);
	}
	free(list.checks);
}
