/* SPDX-License-Identifier: MIT */
/* pfm list: how events and PMUs are shown. */
#include "common/errata.h"
#include "list/list.h"

#include <perfmon/aggregate.h>

#include <stdlib.h>
#include <string.h>

enum {
	NAME_COLUMNS = 24, /* width of processors' names */
	PMU_COLUMN = 51,   /* column of a PMU's description */
	DATE_SIZE = 40,
	MONTH_LENGTH = 7 /* YYYY-MM */
};

static void put_flags(struct json *j, unsigned flags, bool is_implemented)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {
		{ PFM_EVENT_DEPRECATED, "deprecated" }, { PFM_EVENT_ALONE, "alone" },
		{ PFM_EVENT_PER_PKG, "per_pkg" },       { PFM_EVENT_EXPERIMENTAL, "experimental" },
		{ PFM_EVENT_ARCH, "architectural" },    { PFM_EVENT_METRIC, "metric" },
		{ PFM_EVENT_HIDDEN, "hidden" },
	};
	size_t i;

	put_begin(j, "flags", '[');
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].bit)
			put_text(j, NULL, names[i].name);
	if (!is_implemented)
		put_text(j, NULL, "not_implemented");
	put_end(j, ']');
}

static void put_metric_line(struct lister *l, const perfmon_pmu_info_t *pmu,
                            const perfmon_event_info_t *e)
{
	struct json *j = &l->out;

	put_begin(j, NULL, '{');
	put_text(j, "pmu", pmu->name);
	put_text(j, "metric", e->name);
	put_text(j, "desc", e->desc);
	put_text_if(j, "topic", e->topic);
	put_metric(j, l->ctx, e->pmu, e->event);
	put_text(j, "origin", pmu->origin);
	put_end(j, '}');
	put_line(j);
}

static void put_event_line(struct lister *l, const perfmon_pmu_info_t *pmu,
                           const perfmon_event_info_t *e)
{
	struct json *j = &l->out;

	put_begin(j, NULL, '{');
	put_text(j, "pmu", pmu->name);
	put_text(j, "event", e->name);
	put_text(j, "desc", e->desc);
	put_text_if(j, "topic", e->topic);
	put_hex(j, "code", e->code);
	put_counter_numbers(j, "counters", e->counters);
	put_flags(j, e->flags, pfm_is_event_implemented(l->ctx, e->pmu, e->event) != 0);
	put_rule_names(j, l->ctx, e->pmu, e->event);
	put_text_if(j, "replaced", e->replaced);
	put_event_errata(j, l->ctx, e->pmu, e->event);
	put_text(j, "origin", pmu->origin);
	put_end(j, '}');
	put_line(j);
}

/* Returns the text of field @name in the row of @e, "" if missing. Faster than
 * pfm_describe_metric(). */
static const char *find_field_text(const struct lister *l, const struct found_event *e,
                                   const char *name)
{
	const char *called, *text;
	uint64_t value;
	int counter;

	for (unsigned i = 0;
	     !pfm_describe_field(l->ctx, e->pmu, e->event, i, &called, &text, &value, &counter);
	     i++)
		if (strcmp(called, name) == 0)
			return text;
	return "";
}

/* Writes description, unit and groups of metric @e: "Description. [percent; TmaL1, Backend]" */
static void write_metric_text(const struct lister *l, const struct found_event *e,
                              char buf[TEXT_SIZE_MAX])
{
	const char *groups = find_field_text(l, e, "metric_group");
	const char *parts[] = { e->desc, *e->desc ? " [" : "[",
		                e->unit, *e->unit && *groups ? "; " : "",
		                groups,  "]" };
	unsigned n_parts = *e->unit || *groups ? sizeof(parts) / sizeof(parts[0]) : 1;
	size_t n = 0, len;

	for (unsigned i = 0; i < n_parts; i++, n += len) {
		len = strnlen(parts[i], TEXT_SIZE_MAX - 1 - n);
		memcpy(buf + n, parts[i], len);
	}
	buf[n] = 0;
}

/* Prints @text with one blank between words and none at its end. */
static void print_words(const char *text)
{
	size_t len = strlen(text);
	const char *gap;

	while ((gap = strstr(text, "  "))) {
		size_t blanks = strspn(gap, " ");

		fwrite_unlocked(text, 1, (size_t)(gap - text) + (gap[blanks] != 0), stdout);
		len -= (size_t)(gap - text) + blanks;
		text = gap + blanks;
	}
	len -= len && text[len - 1] == ' ';
	fwrite_unlocked(text, 1, len, stdout);
}

/* Prints the name and the blanks or the newline before the column of descriptions. */
static void print_name(const struct lister *l, const char *name)
{
	static const char blanks[] = "                                  ";
	size_t len = strlen(name);
	bool wide = len + 4 > NAME_COLUMN;

	fputs_unlocked("  ", stdout);
	fputs_unlocked(term_colour_begin(stdout, CYAN), stdout);
	fwrite_unlocked(name, 1, len, stdout);
	fputs_unlocked(term_colour_end(stdout), stdout);
	if (!l->is_narrow && !(wide && l->width))
		fwrite_unlocked(blanks, 1, wide ? 2 : NAME_COLUMN - 2 - len, stdout);
	else
		printf("\n%*s", (int)l->column, "");
}

static void print_event(const struct lister *l, const struct found_event *e)
{
	const char *desc = e->desc;
	char text[TEXT_SIZE_MAX];

	print_name(l, e->name);
	if (e->flags & PFM_EVENT_DEPRECATED)
		printf("(deprecated%s%s) ", *e->replaced ? ", see " : "", e->replaced);
	if (e->alias)
		printf("(also %s) ", e->alias);
	if (pfm_is_event_implemented(l->ctx, e->pmu, e->event) == 0)
		fputs("(not supported: this CPU does not implement it) ", stdout);
	if (e->flags & PFM_EVENT_METRIC) {
		write_metric_text(l, e, text);
		desc = text;
	}
	if (!*desc)
		desc = "-";
	if (l->width) {
		term_fill_line(stdout, l->width, l->column, l->column, desc);
		return;
	}
	print_words(desc);
	putchar_unlocked('\n');
}

void print_list_heading(const struct lister *l, const perfmon_pmu_info_t *pmu)
{
	printf("%s%s%s%s  %s (%s)\n", l->n_events || l->n_pmus ? "\n" : "",
	       term_colour_begin(stdout, BOLD), pmu->name, term_colour_end(stdout), pmu->desc,
	       pmu->origin);
}

void print_found(const struct lister *l, const struct found_event *found, size_t n)
{
	const char *topic = "";

	for (const struct found_event *e = found; e < found + n; e++) {
		if (e->topic != topic && strcmp(e->topic, topic) != 0)
			printf(" %s%s%s\n", term_colour_begin(stdout, DIM), e->topic,
			       term_colour_end(stdout));
		topic = e->topic;
		print_event(l, e);
	}
}

void put_found_events(struct lister *l, const perfmon_pmu_info_t *info, size_t n)
{
	perfmon_event_info_t info_of = PFM_INIT(info_of);

	for (const struct found_event *e = l->found; e < l->found + n; e++) {
		pfm_describe_event(l->ctx, e->pmu, e->event, &info_of);
		(l->metrics || (l->is_ranked && e->flags & PFM_EVENT_METRIC)
		         ? put_metric_line
		         : put_event_line)(l, info, &info_of);
	}
}

static const char *describe_host_state(unsigned flags)
{
	if (!(flags & PFM_PMU_HOST))
		return "";
	if (flags & PFM_PMU_NEAREST)
		return " (this machine: the list of the nearest model; this model is unknown)";
	return flags & PFM_PMU_FALLBACK
	               ? " (this machine: the events common to its family; this model is unknown)"
	               : " (this machine)";
}

/* Writes the date of the vendor's list that @source names as YYYY-MM-DD: "03/24/2026", "17 Jan
 * 2025" or "Fri Jan 17 16:05:21 2025"; as YYYY-MM where @source has no day: "2026-04". Returns
 * whether there is one. */
static bool parse_list_date(const char *source, char date[DATE_SIZE])
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int year, month, day;
	char name[4];

	for (const char *at = source; *at; at++) {
		bool is_start = at == source || at[-1] == ' ';
		const char *found;
		int length = 0;

		if (is_start && sscanf(at, "%2d/%2d/%4d", &month, &day, &year) == 3) {
			snprintf(date, DATE_SIZE, "%04d-%02d-%02d", year, month, day);
			return true;
		}
		if (is_start && sscanf(at, "20%2d-%2d%n", &year, &month, &length) == 2 &&
		    length == MONTH_LENGTH) {
			snprintf(date, DATE_SIZE, "20%02d-%02d", year, month);
			return true;
		}
		if (!is_start ||
		    (sscanf(at, "%2d %3[A-Za-z] %4d", &day, name, &year) != 3 &&
		     sscanf(at, "%3[A-Za-z] %2d %*d:%*d:%*d %4d", name, &day, &year) != 3))
			continue;
		found = strstr(months, name);
		if (found && strlen(name) == 3 && (found - months) % 3 == 0) {
			snprintf(date, DATE_SIZE, "%04d-%02d-%02d", year,
			         (int)(found - months) / 3 + 1, day);
			return true;
		}
	}
	return false;
}

static void print_pmu_line(const struct lister *l, const perfmon_pmu_info_t *p)
{
	bool narrow = l->width && l->width < PMU_COLUMN + 24;
	size_t len = strlen(p->name),
	       at = PMU_COLUMN + (len > NAME_COLUMNS ? len - NAME_COLUMNS : 0);
	char text[512], date[DATE_SIZE];
	bool has_date = l->pmus_only && parse_list_date(p->source, date);

	printf("  %s%-*s%s %5u events  %-*s", term_colour_begin(stdout, CYAN), NAME_COLUMNS,
	       p->name, term_colour_end(stdout), p->n_events, narrow ? 0 : 10,
	       strchr(p->origin, '/') ? "image" : p->origin);
	snprintf(text, sizeof(text), "%s%s%s%s", p->desc, describe_host_state(p->flags),
	         has_date ? ", list of " : "", has_date ? date : "");
	if (narrow)
		printf("\n    ");
	term_wrap(stdout, narrow ? 4 : at, narrow ? 4 : PMU_COLUMN, text);
}

void print_listed_pmu(struct lister *l, const perfmon_pmu_info_t *p)
{
	struct json *j = &l->out;
	char date[DATE_SIZE];

	if (!l->json) {
		print_pmu_line(l, p);
		return;
	}
	put_begin(j, NULL, '{');
	put_text(j, "pmu", p->name);
	put_text(j, "desc", p->desc);
	put_text_if(j, "aka", p->aliases);
	put_int(j, "events", p->n_events);
	put_int(j, "counters", p->n_counters);
	put_int(j, "fixed", p->n_fixed);
	put_int(j, "width", p->width);
	put_bool(j, "host", p->flags & PFM_PMU_HOST);
	if (p->flags & PFM_PMU_FALLBACK)
		put_bool(j, "fallback", true);
	if (p->flags & PFM_PMU_NEAREST)
		put_bool(j, "nearest", true);
	put_bool(j, "kernel", p->flags & PFM_PMU_KERNEL);
	put_bool(j, "uncore", p->flags & PFM_PMU_UNCORE);
	put_int(j, "instances", p->n_instances);
	put_text(j, "origin", p->origin);
	if (parse_list_date(p->source, date))
		put_text(j, "date", date);
	put_pmu_rules(j, l->ctx, pfm_find_pmu(l->ctx, p->name));
	put_end(j, '}');
	put_line(j);
}
