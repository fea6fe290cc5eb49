/* SPDX-License-Identifier: MIT */
/* pfm list: the processors there are, and their events. */
#include "metric.h"
#include "format/word_match.h"

#include <perfmon/aggregate.h>

#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	OPT_JSON = LONG_ONLY,
	OPT_PMU,
	OPT_COMPLETE,
	OPT_PMUS,
	OPT_METRICS,
	OPT_COUNTER,
	OPT_UNIT,
	OPT_NO_PAGER,
	NAME_COLUMN = 34,
	NAME_COLUMNS = 24, /* of a processor */
	PMU_COLUMN = 51,   /* where it is described */
	FOLDED_MAX = 256,
	TEXT_SIZE_MAX = 1024,
	PAGE_SIZE_MAX = 1 << 16,
	NAME_MARGIN_SIZE = 64,
	SIMILAR_NAMES = 5,
	DATE_SIZE = 40,
	MONTH_LENGTH = 7 /* YYYY-MM */
};

static const struct command_option options[] = {
	{ OPT_PMU, "pmu", "NAME", "only events of this processor or unit" },
	{ OPT_PMUS, "pmus", NULL, "list processors and units, not events" },
	{ OPT_METRICS, "metrics", NULL,
	  "list metrics, which are computed from events, instead of events" },
	{ 'd', "descriptions", NULL, "search descriptions as well; the best answers come first" },
	{ 'a', "all", NULL,
	  "list hidden and deprecated events, metrics, and the events of all "
	  "processors as well" },
	{ OPT_COUNTER, "counter", "LIST",
	  "only events that one of these counters can count: 0-3,F1" },
	{ OPT_UNIT, "unit", "NAME",
	  "only events of units outside the cores whose name or description contains NAME" },
	{ OPT_JSON, "json", NULL, "one JSON object for each processor and event" },
	{ OPT_NO_PAGER, "no-pager", NULL, "write to the terminal directly, without $PAGER" },
	{ OPT_COMPLETE, "complete", "PREFIX", NULL },
	{ 0, NULL, NULL, NULL }
};

struct text_piece {
	const char *text;
	size_t len;
};

struct lister {
	pfm_ctx_t *ctx;
	const char *pattern;  /* folded; NULL: everything */
	const char *question; /* the pattern as the user wrote it, or NULL */
	bool has_named_event; /* the pattern is the name of an event: */
	int named_pmu;
	unsigned named_event;
	char alias[FOLDED_MAX];          /* the name of it in the pattern */
	struct word_query words;         /* of the question, if is_ranked */
	bool is_ranked;                  /* the best answers come first */
	regex_t expression;              /* instead of it, if is_expression */
	int pmu;                         /* only this one, or -1 */
	bool is_expression, other_hosts; /* elsewhere: of other machines' processors, too */
	bool json, all_pmus, pmus_only, descriptions, metrics, no_pager;
	uint64_t counters;     /* one of them is wanted; 0: any */
	const char *unit_name; /* of a unit called so; NULL: of anything */
	struct json out;
	size_t width;   /* of the terminal; 0 without a terminal */
	bool is_narrow; /* two columns side by side would leave too little for the second one */
	size_t column;  /* of descriptions */
	char before_name[NAME_MARGIN_SIZE]; /* names: two blanks, their colour */
	char after_name[NAME_MARGIN_SIZE];  /* names: the end of it, and blanks */
	size_t colour_on_len,
		colour_off_len;    /* bytes of the former, and of the end of the colour */
	struct output_page *page;  /* rows on their way out */
	struct found_event *found; /* what was found of a PMU, with */
	size_t found_capacity;     /* room for so many */
	size_t n_pmus, n_events, n_tracepoints, n_forms;
	char folded[FOLDED_MAX];
};

/* An event that matched. */
struct found_event {
	const char *name, *desc, *replaced;
	const char *unit;  /* of a metric */
	const char *topic; /* what it is grouped by */
	const char *alias; /* the name it was found by, if that is another one; or NULL */
	int pmu;
	unsigned event, flags, rank;
};

/* Ranks of answers to -d: the name, a part of the name, words that mean the same (plus their cost),
 * a part of the description. */
enum { RANK_NAME, RANK_PART, RANK_WORDS, RANK_TEXT = RANK_WORDS + WORD_COST_MAX, RANK_NONE };

/* Lines on their way to standard output: there are tens of thousands. */
struct output_page {
	size_t n;
	char bytes[PAGE_SIZE_MAX];
};

/* ---- matching -------------------------------------------------------------------------------- */

static void fold_case(const char *text, char *out, size_t room)
{
	size_t n = 0;

	for (; *text && n + 1 < room; text++)
		if (*text != ' ' && *text != '-' && *text != '_')
			out[n++] = (char)(*text == ':' ? '.' : tolower((unsigned char)*text));
	out[n] = 0;
}

/* True if the pattern has characters that only a regular expression has. */
static bool looks_like_expression(const char *pattern)
{
	return strpbrk(pattern, "|()^$+\\") || strstr(pattern, ".*");
}

static bool contains_text(const struct lister *l, const char *text)
{
	const char *pattern = l->pattern;
	char small[FOLDED_MAX], *folded = small;
	size_t room = sizeof(small);
	bool found;

	if (l->is_expression)
		return regexec(&l->expression, text, 0, NULL, 0) == 0;
	/* Names are short, some descriptions are not. */
	if (strnlen(text, room) == room) {
		room = strlen(text) + 1;
		folded = malloc(room);
	}
	if (!folded)
		return false;
	fold_case(text, folded, room);
	found = strpbrk(pattern, "*?[") ? fnmatch(pattern, folded, 0) == 0
	                                : strstr(folded, pattern) != NULL;
	if (folded != small)
		free(folded);
	return found;
}

/* Metrics are found by the names of their groups, too. */
static bool is_in_group(const struct lister *l, const pfm_event_info_t *e)
{
	pfm_metric_info_t m = PFM_INIT(m);

	return !pfm_describe_metric(l->ctx, e->pmu, e->event, &m) && contains_text(l, m.groups);
}

/* Generic names are aliases: "branches" is branch-instructions. */
static bool is_named_event(const struct lister *l, const pfm_event_info_t *e)
{
	return l->has_named_event && e->pmu == l->named_pmu && e->event == l->named_event;
}

static bool is_whole_name(const struct lister *l, const char *name)
{
	char folded[FOLDED_MAX];

	fold_case(name, folded, sizeof(folded));
	return strcmp(l->pattern, folded) == 0;
}

/* How well @e answers the question of -d. */
static unsigned compute_rank(const struct lister *l, const pfm_event_info_t *e)
{
	bool by_words = l->words.is_known || strchr(l->question, ' ');
	unsigned cost;

	if (is_named_event(l, e) || is_whole_name(l, e->name))
		return RANK_NAME;
	if (contains_text(l, e->name))
		return RANK_PART;
	cost = by_words ? pfmi_format_compute_word_cost(&l->words, e->name, e->desc)
	                : WORD_NO_MATCH;
	if (cost != WORD_NO_MATCH)
		return RANK_WORDS + cost;
	return contains_text(l, e->desc) ? RANK_TEXT : RANK_NONE;
}

/* Metrics are answers to -d if their names fit. */
static bool is_wanted_kind(const struct lister *l, const pfm_event_info_t *e)
{
	bool metric = e->flags & PFM_EVENT_METRIC;

	return metric == l->metrics ||
	       (metric && (l->all_pmus || (l->is_ranked && compute_rank(l, e) < RANK_TEXT)));
}

static bool matches_pattern(const struct lister *l, const pfm_event_info_t *e)
{
	if (!is_wanted_kind(l, e))
		return false;
	if (l->counters && !(e->counters & l->counters))
		return false;
	if (!l->all_pmus && (e->flags & (PFM_EVENT_HIDDEN | PFM_EVENT_DEPRECATED)))
		return false;
	return !l->pattern || contains_text(l, e->name) || is_named_event(l, e) ||
	       (l->is_ranked && compute_rank(l, e) != RANK_NONE) ||
	       (l->descriptions && contains_text(l, e->desc)) || (l->metrics && is_in_group(l, e));
}

/* By rank, then by topic. */
static int compare_found(const void *a, const void *b)
{
	const struct found_event *x = a, *y = b;
	int order = x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
	                               : strcmp(x->topic, y->topic);

	return order ? order : (x->event > y->event) - (x->event < y->event);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void json_flags(struct json *j, unsigned flags)
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
	put_end(j, ']');
}

static void json_metric(struct lister *l, const pfm_pmu_info_t *pmu, const pfm_event_info_t *e)
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

static void json_event(struct lister *l, const pfm_pmu_info_t *pmu, const pfm_event_info_t *e)
{
	struct json *j = &l->out;

	put_begin(j, NULL, '{');
	put_text(j, "pmu", pmu->name);
	put_text(j, "event", e->name);
	put_text(j, "desc", e->desc);
	put_text_if(j, "topic", e->topic);
	put_hex(j, "code", e->code);
	counters_json(j, "counters", e->counters);
	json_flags(j, e->flags);
	put_text_if(j, "replaced", e->replaced);
	put_text(j, "origin", pmu->origin);
	put_end(j, '}');
	put_line(j);
}

/* Text of field @name in the row of @e, "" if it has none. Cheaper than pfm_describe_metric(). */
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

/* "What it is. [percent; TmaL1, Backend]" */
static void metric_text(const struct lister *l, const struct found_event *e,
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

static struct text_piece make_piece(const char *text)
{
	return (struct text_piece){ text, strlen(text) };
}

static void flush_page(struct output_page *p)
{
	fwrite_unlocked(p->bytes, 1, p->n, stdout);
	p->n = 0;
}

/* Writes the page, because @piece does not fit on it. */
__attribute__((noinline)) static void append_padding_to_column(struct output_page *p,
                                                               struct text_piece piece)
{
	term_write(stdout, p->bytes, p->n);
	p->n = 0;
	if (piece.len > PAGE_SIZE_MAX) {
		term_write(stdout, piece.text, piece.len);
		return;
	}
	memcpy(p->bytes, piece.text, piece.len);
	p->n = piece.len;
}

static inline void append_piece(struct output_page *p, struct text_piece piece)
{
	if (piece.len > PAGE_SIZE_MAX - p->n) {
		append_padding_to_column(p, piece);
		return;
	}
	memcpy(p->bytes + p->n, piece.text, piece.len);
	p->n += piece.len;
}

/* Appends @text with one blank between words and none at its end. */
static void append_words(struct output_page *p, const char *text)
{
	const char *gap = strstr(text, "  ");
	struct text_piece rest;

	for (; gap && gap[strspn(gap, " ")]; gap = strstr(text, "  ")) {
		append_piece(p, (struct text_piece){ text, (size_t)(gap + 1 - text) });
		text = gap + strspn(gap, " ");
	}
	rest = gap ? (struct text_piece){ text, (size_t)(gap - text) } : make_piece(text);
	rest.len -= rest.len && rest.text[rest.len - 1] == ' ';
	append_piece(p, rest);
}

/* The first @len of AROUND_ROOM bytes: all are copied, since that many is known beforehand. */
static void append_match_context(struct output_page *p, const char bytes[NAME_MARGIN_SIZE],
                                 size_t len)
{
	append_piece(p, (struct text_piece){ bytes, NAME_MARGIN_SIZE });
	p->n -= NAME_MARGIN_SIZE - len;
}

/* The name, and what leads from there to the column of descriptions. */
static void append_name(const struct lister *l, struct output_page *p, const char *text)
{
	struct text_piece name = make_piece(text);
	bool wide = name.len + 4 > NAME_COLUMN;

	append_match_context(p, l->before_name, l->colour_on_len);
	append_piece(p, name);
	if (!l->is_narrow && !(wide && l->width)) {
		append_match_context(p, l->after_name,
		                     l->colour_off_len + (wide ? 2 : NAME_COLUMN - 2 - name.len));
		return;
	}
	append_piece(p, (struct text_piece){ l->after_name, l->colour_off_len });
	append_piece(p, (struct text_piece){ "\n", 1 });
	append_piece(p, (struct text_piece){ l->after_name + l->colour_off_len, l->column });
}

static void append_texts(struct output_page *p, const char *const texts[])
{
	for (; *texts; texts++)
		append_piece(p, make_piece(*texts));
}

static void print_event(const struct lister *l, const struct found_event *e)
{
	struct output_page *p = l->page;
	const char *desc = e->desc;
	char text[TEXT_SIZE_MAX];

	append_name(l, p, e->name);
	if (e->flags & PFM_EVENT_DEPRECATED) {
		append_piece(p, make_piece(*e->replaced ? "(deprecated, see " : "(deprecated"));
		append_piece(p, make_piece(e->replaced));
		append_piece(p, make_piece(") "));
	}
	if (e->alias)
		append_texts(p, (const char *const[]){ "(also ", e->alias, ") ", NULL });
	if (e->flags & PFM_EVENT_METRIC) {
		metric_text(l, e, text);
		desc = text;
	}
	if (!*desc)
		desc = "-";
	if (l->width) {
		flush_page(p);
		term_fill_line(stdout, l->width, l->column, l->column, desc);
		return;
	}
	append_words(p, desc);
	append_piece(p, (struct text_piece){ "\n", 1 });
}

static void add_pmu_heading(const struct lister *l, const pfm_pmu_info_t *pmu)
{
	append_texts(l->page, (const char *const[]){ l->n_events || l->n_pmus ? "\n" : "",
	                                             term_colour_begin(stdout, BOLD), pmu->name,
	                                             term_colour_end(stdout), "  ", pmu->desc, " (",
	                                             pmu->origin, ")\n", NULL });
}

/* Finds the events of PMU @pmu that are wanted, in order. How many. */
static size_t find_events(struct lister *l, int pmu, const pfm_pmu_info_t *info)
{
	pfm_event_info_t e = PFM_INIT(e);
	bool has_topics = false;
	size_t n = 0;

	for (unsigned i = 0; i < info->n_events; i++) {
		if (pfm_describe_event(l->ctx, pmu, i, &e) || !matches_pattern(l, &e))
			continue;
		has_topics |= *e.topic != 0;
		l->found[n++] = (struct found_event){
			.name = e.name,
			.desc = e.desc,
			.replaced = e.replaced,
			.unit = e.unit,
			.topic = l->is_ranked ? "" : e.topic,
			.alias = is_named_event(l, &e) && !is_whole_name(l, e.name) ? l->alias
			                                                            : NULL,
			.pmu = pmu,
			.event = i,
			.flags = e.flags,
			.rank = l->is_ranked ? compute_rank(l, &e) : 0,
		};
	}
	if (has_topics || l->is_ranked)
		qsort(l->found, n, sizeof(*l->found), compare_found);
	return n;
}

static void print_found(const struct lister *l, const struct found_event *found, size_t n)
{
	const char *topic = "";

	for (const struct found_event *e = found; e < found + n; e++) {
		if (e->topic != topic && strcmp(e->topic, topic) != 0)
			append_texts(l->page, (const char *const[]){
						      " ", term_colour_begin(stdout, DIM), e->topic,
						      term_colour_end(stdout), "\n", NULL });
		topic = e->topic;
		print_event(l, e);
	}
}

static void json_events(struct lister *l, const pfm_pmu_info_t *info, size_t n)
{
	pfm_event_info_t info_of = PFM_INIT(info_of);

	for (const struct found_event *e = l->found; e < l->found + n; e++) {
		pfm_describe_event(l->ctx, e->pmu, e->event, &info_of);
		(l->metrics || (l->is_ranked && e->flags & PFM_EVENT_METRIC)
		         ? json_metric
		         : json_event)(l, info, &info_of);
	}
}

static bool has_page_room(struct lister *l, size_t n)
{
	struct found_event *more =
		n > l->found_capacity ? realloc(l->found, n * sizeof(*more)) : l->found;

	if (n <= l->found_capacity)
		return true;
	if (!more)
		return false;
	l->found = more;
	l->found_capacity = n;
	return true;
}

static int list_events(struct lister *l, int pmu, const pfm_pmu_info_t *info)
{
	size_t n;

	if (!has_page_room(l, info->n_events))
		return report_no_memory();
	n = find_events(l, pmu, info);
	if (l->json)
		json_events(l, info, n);
	else if (n)
		add_pmu_heading(l, info);
	if (!l->json)
		print_found(l, l->found, n);
	l->n_events += n;
	return EXIT_DONE;
}

static const char *host_note(unsigned flags)
{
	if (!(flags & PFM_PMU_HOST))
		return "";
	return flags & PFM_PMU_FALLBACK
	               ? " (this machine: the events common to its family; this model is "
	                 "unknown)"
	               : " (this machine)";
}

/* Writes the date of the vendor's list that @source names as YYYY-MM-DD: "03/24/2026", "17 Jan
 * 2025" or "Fri Jan 17 16:05:21 2025"; as YYYY-MM where @source has no day: "2026-04". Returns
 * whether there is one. */
static bool find_list_date(const char *source, char date[DATE_SIZE])
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

static void list_pmu(struct lister *l, const pfm_pmu_info_t *p)
{
	struct json *j = &l->out;
	char date[DATE_SIZE];

	if (!l->json) {
		bool narrow = l->width && l->width < PMU_COLUMN + 24;
		size_t len = strlen(p->name),
		       at = PMU_COLUMN + (len > NAME_COLUMNS ? len - NAME_COLUMNS : 0);
		char text[512];

		printf("  %s%-*s%s %5u events  %-*s", term_colour_begin(stdout, CYAN), NAME_COLUMNS,
		       p->name, term_colour_end(stdout), p->n_events, narrow ? 0 : 10,
		       strchr(p->origin, '/') ? "image" : p->origin);
		snprintf(text, sizeof(text), "%s%s%s%s", p->desc, host_note(p->flags),
		         l->pmus_only && find_list_date(p->source, date) ? ", list of " : "",
		         l->pmus_only && find_list_date(p->source, date) ? date : "");
		if (narrow)
			printf("\n    ");
		term_wrap(stdout, narrow ? 4 : at, narrow ? 4 : PMU_COLUMN, text);
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
	put_bool(j, "kernel", p->flags & PFM_PMU_KERNEL);
	put_bool(j, "uncore", p->flags & PFM_PMU_UNCORE);
	put_int(j, "instances", p->n_instances);
	put_text(j, "origin", p->origin);
	if (find_list_date(p->source, date))
		put_text(j, "date", date);
	put_end(j, '}');
	put_line(j);
}

/* ---- which ----------------------------------------------------------------------------------- */

static bool has_table(const struct lister *l, const char *name)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	int i;

	for (i = 0; pfm_describe_pmu(l->ctx, i, &info) == PFMLIB_SUCCESS; i++)
		if (info.n_events && strcmp(info.name, name) == 0)
			return true;
	return false;
}

/* True for a table of ratios, which is beside that of a processor. */
static bool has_no_event(const struct lister *l, int pmu, const pfm_pmu_info_t *info)
{
	pfm_event_info_t e = PFM_INIT(e);

	for (unsigned i = 0; i < info->n_events; i++)
		if (pfm_describe_event(l->ctx, pmu, i, &e) || !(e.flags & PFM_EVENT_METRIC))
			return false;
	return info->n_events > 0;
}

static bool is_shown_pmu(const struct lister *l, int pmu, pfm_pmu_info_t *info)
{
	if (pfm_describe_pmu(l->ctx, pmu, info) != PFMLIB_SUCCESS)
		return false;
	/* The kernel's view of a unit that has a table says nothing new. */
	if (info->n_events == 0 && has_table(l, info->name))
		return false;
	if (l->pmu >= 0)
		return pmu == l->pmu;
	return l->all_pmus ||
	       (!(info->flags & PFM_PMU_HIDDEN) && (l->metrics || !has_no_event(l, pmu, info)));
}

static bool is_on_host(const pfm_pmu_info_t *info)
{
	return info->flags & (PFM_PMU_HOST | PFM_PMU_KERNEL);
}

/* The events of other machines' processors would bury those one can count here. */
static bool selects_events(const struct lister *l, const pfm_pmu_info_t *info)
{
	bool here = is_on_host(info);

	if (l->pmus_only)
		return false;
	if (l->unit_name &&
	    (!(info->flags & PFM_PMU_UNCORE) ||
	     !(strcasestr(info->name, l->unit_name) || strcasestr(info->desc, l->unit_name))))
		return false;
	return l->pmu >= 0 || l->all_pmus || (l->other_hosts ? !here : here);
}

/* Something was asked for, not everything. */
static bool is_search(const struct lister *l)
{
	return l->pattern || l->counters || l->unit_name;
}

static bool selects_pmu(const struct lister *l, const pfm_pmu_info_t *info)
{
	return !l->pattern || contains_text(l, info->name) || contains_text(l, info->aliases) ||
	       contains_text(l, info->desc);
}

static int list_round(struct lister *l, int n, int first_pass)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	int status = EXIT_DONE;

	/* Ranked answers of this machine's PMUs come before those of others. */
	for (int pass = first_pass; pass < 2; pass++)
		for (int i = 0; i < n && status == EXIT_DONE; i++)
			if (is_shown_pmu(l, i, &info) && selects_events(l, &info) &&
			    (!l->is_ranked || is_on_host(&info) == !pass))
				status = list_events(l, i, &info);
	flush_page(l->page);
	return status;
}

static int list_selected(struct lister *l, int n)
{
	int first_pass = l->is_ranked ? 0 : 1;
	int status = list_round(l, n, first_pass);

	/* If no event has all concepts of the question, those that lack a few are answers. */
	while (l->is_ranked && strchr(l->question, ' ') && !l->n_events && status == EXIT_DONE &&
	       pfmi_format_relax_words(&l->words))
		status = list_round(l, n, first_pass);
	return status;
}

/* ---- tracepoints ----------------------------------------------------------------------------- */

static void list_tracepoint(struct lister *l, const char *name)
{
	if (l->json) {
		put_begin(&l->out, NULL, '{');
		put_text(&l->out, "pmu", "tracepoint");
		put_text(&l->out, "event", name);
		put_end(&l->out, '}');
		put_line(&l->out);
		return;
	}
	if (!l->n_tracepoints)
		printf("%s%stracepoints%s  of the running kernel\n",
		       l->n_events || l->n_pmus ? "\n" : "", term_colour_begin(stdout, BOLD),
		       term_colour_end(stdout));
	printf("  %s%s%s\n", term_colour_begin(stdout, CYAN), name, term_colour_end(stdout));
}

static int add_tracepoint(void *arg, const char *name)
{
	struct lister *l = arg;

	if (l->pattern && !contains_text(l, name))
		return 0;
	list_tracepoint(l, name);
	l->n_tracepoints++;
	l->n_events++;
	return 0;
}

/* True if PMU @name, which has no list, is all that was asked for. */
static bool is_sole_pmu(const struct lister *l, const char *name)
{
	pfm_pmu_info_t info = PFM_INIT(info);

	return l->pmu >= 0 && !pfm_describe_pmu(l->ctx, l->pmu, &info) && !info.n_events &&
	       strcmp(info.name, name) == 0;
}

/* Lists tracepoints that match the pattern, or all if they are asked for by name: there are too
 * many to come with everything else. */
static void list_tracepoints(struct lister *l)
{
	if (l->pmu >= 0 ? is_sole_pmu(l, "tracepoint")
	                : l->pattern && !l->metrics && !l->counters && !l->unit_name)
		pfm_visit_tracepoints(l->ctx, NULL, add_tracepoint, l);
}

/* ---- events that are written, not listed ----------------------------------------------------- */

static const struct raw_form {
	const char *pmu, *form, *desc;
} raw_forms[] = {
	{ "tracepoint", "SUBSYSTEM:NAME",
	  "A tracepoint of the kernel; 'pfm list tracepoint' lists all, 'pfm show' the fields of "
	  "one." },
	{ "breakpoint", "mem:ADDRESS[/LENGTH][:ACCESS]",
	  "Accesses to 1 to 8 bytes of memory; ACCESS is any of r, w and x, or rw." },
	{ "kprobe", "kprobes:NAME",
	  "Executions of a place in the kernel, after it got a name: echo 'p:NAME FUNCTION' >> "
	  "/sys/kernel/tracing/kprobe_events." },
	{ "uprobe", "uprobes:NAME",
	  "Executions of a place in a program, after it got a name: echo 'p:NAME FILE:OFFSET' >> "
	  "/sys/kernel/tracing/uprobe_events." },
};

static void list_form(struct lister *l, const struct raw_form *w)
{
	if (!l->json) {
		const struct found_event form = { .name = w->form, .desc = w->desc, .topic = "" };

		if (!l->n_forms)
			printf("%s%swritten, not listed%s\n", l->n_events || l->n_pmus ? "\n" : "",
			       term_colour_begin(stdout, BOLD), term_colour_end(stdout));
		print_found(l, &form, 1);
		flush_page(l->page);
		return;
	}
	put_begin(&l->out, NULL, '{');
	put_text(&l->out, "pmu", w->pmu);
	put_text(&l->out, "form", w->form);
	put_text(&l->out, "desc", w->desc);
	put_end(&l->out, '}');
	put_line(&l->out);
}

/* How events of the kernel's PMUs that have no list are written: where that PMU is asked for, or
 * matches, or nothing was asked. */
static void list_forms(struct lister *l)
{
	if (l->metrics || l->counters || l->unit_name)
		return;
	for (const struct raw_form *w = raw_forms;
	     w < raw_forms + sizeof(raw_forms) / sizeof(raw_forms[0]); w++) {
		bool wanted = l->pmu >= 0 ? is_sole_pmu(l, w->pmu)
		                          : !l->pattern || contains_text(l, w->pmu);

		if (!wanted || (l->pmu < 0 && pfm_find_pmu(l->ctx, w->pmu) < 0))
			continue;
		list_form(l, w);
		l->n_forms++;
		l->n_events++;
	}
}

/* Writes @name with the PMU that was asked for. Returns where the name begins. */
static size_t name_event(const struct lister *l, const char *name, char text[2 * FOLDED_MAX])
{
	pfm_pmu_info_t info = PFM_INIT(info);
	bool is_bare =
		l->pmu >= 0 && !strstr(name, "::") && !pfm_describe_pmu(l->ctx, l->pmu, &info);
	const char *colons;

	snprintf(text, 2 * (size_t)FOLDED_MAX, "%s%s%s", is_bare ? info.name : "",
	         is_bare ? "::" : "", name);
	colons = strstr(text, "::");
	return colons ? (size_t)(colons + 2 - text) : 0;
}

/* Prints names that are similar to the pattern after @title; of this machine only, if @here. */
static void print_similar_names(const struct lister *l, const char *title, bool here)
{
	pfm_error_t error = PFM_INIT(error);
	char names[SIMILAR_NAMES][96], text[2 * FOLDED_MAX];
	size_t start = name_event(l, l->question, text), n;

	report_culprit(&error, PFMLIB_ERR_NOTFOUND, PFM_KIND_UNKNOWN_EVENT, start, strlen(text),
	               NULL);
	n = pfm_suggest_names(l->ctx, text, &error, names, SIMILAR_NAMES);
	for (size_t i = 0, shown = 0; i < n; i++) {
		if (here && (strstr(names[i], "::") || pfm_find_pmu(l->ctx, names[i]) >= 0))
			continue;
		fprintf(stderr, "%s%s", shown++ ? ", " : title, names[i]);
		if (i + 1 == n || (here && strstr(names[i + 1], "::")))
			fputc('\n', stderr);
	}
}

/* Nothing on this machine: the user may mean another machine's. */
static int list_other_hosts(struct lister *l, int n)
{
	int status;

	if (!is_search(l) || l->pmu >= 0 || l->all_pmus || l->n_events)
		return EXIT_DONE;
	l->other_hosts = true;
	status = list_selected(l, n);
	if (l->n_events && l->question && !l->metrics && !l->is_expression)
		print_similar_names(l, "pfm: note: similar events of this machine: ", true);
	if (l->n_events)
		fprintf(stderr,
		        "pfm: note: no %s of this machine match; these belong to other "
		        "processors.\n",
		        l->metrics ? "metrics" : "events");
	return status;
}

/* No event is called so: a metric may be. */
static int list_metrics(struct lister *l, int n)
{
	int status;

	if (!l->pattern || l->all_pmus || l->metrics || l->n_events)
		return EXIT_DONE;
	l->metrics = true;
	l->other_hosts = false;
	status = list_selected(l, n);
	if (status == EXIT_DONE)
		status = list_other_hosts(l, n);
	if (l->n_events) {
		fputs("pfm: note: no event matches; these are metrics.\n", stderr);
		if (l->question && !l->is_expression && !l->has_named_event)
			print_similar_names(l, "pfm: note: similar names: ", false);
	}
	l->metrics = false;
	return status;
}

/* Lists PMU @info; a heading comes before the first. */
static void list_pmu_of_section(struct lister *l, const pfm_pmu_info_t *info)
{
	if (!l->json && !l->n_pmus)
		printf("%sProcessors and units%s\n", term_colour_begin(stdout, BOLD),
		       term_colour_end(stdout));
	list_pmu(l, info);
	l->n_pmus++;
}

/* Processors and units: those of this machine, and where all are asked for the others after them.
 */
static void list_pmus(struct lister *l, int n)
{
	pfm_pmu_info_t info = PFM_INIT(info);
	unsigned others = 0;

	for (int here = 1; here >= 0; here--)
		for (int i = 0; i < n; i++) {
			if (!is_shown_pmu(l, i, &info) || !selects_pmu(l, &info) ||
			    is_on_host(&info) != here)
				continue;
			if (!here && !l->pmus_only && !l->all_pmus) {
				others++;
				continue;
			}
			list_pmu_of_section(l, &info);
		}
	if (others && !l->json)
		printf("  and %u of other machines: 'pfm list --pmus' lists them, 'pfm list "
		       "--pmu NAME' lists the events of one\n",
		       others);
}

/* True if the pattern names the processor of PMU @info: the beginning of its name, an alias, or
 * words of its description up to what describes a part. */
static bool is_named_processor(const struct lister *l, const pfm_pmu_info_t *info)
{
	char folded[FOLDED_MAX], processor[FOLDED_MAX];

	fold_case(info->name, folded, sizeof(folded));
	if (strncmp(folded, l->pattern, strlen(l->pattern)) == 0 || contains_text(l, info->aliases))
		return true;
	snprintf(processor, sizeof(processor), "%.*s", (int)strcspn(info->desc, ",:("), info->desc);
	return contains_text(l, processor);
}

/* True for the PMUs of Linux, such as "software", which belong to no processor. */
static bool is_pmu_of_linux(const pfm_pmu_info_t *info)
{
	return is_on_host(info) && !(info->flags & (PFM_PMU_CORE | PFM_PMU_UNCORE));
}

/* No event of this machine matches: the pattern may name a processor, such as "sapphire" or
 * "zen 6". */
static void list_named_processors(struct lister *l, int n)
{
	pfm_pmu_info_t info = PFM_INIT(info);

	if (!l->pattern || l->pmu >= 0 || l->all_pmus || l->metrics || l->counters ||
	    l->unit_name || l->n_events || l->is_expression || strlen(l->pattern) < 3)
		return;
	for (int core = 1; core >= 0; core--)
		for (int i = 0; i < n; i++) {
			if (!is_shown_pmu(l, i, &info) || is_pmu_of_linux(&info) ||
			    (info.flags & PFM_PMU_UNCORE ? core : !core) ||
			    !is_named_processor(l, &info))
				continue;
			list_pmu_of_section(l, &info);
		}
	if (l->n_pmus)
		fprintf(stderr,
		        "pfm: note: '%s' names processors; 'pfm list --pmu NAME' lists the events "
		        "of one.\n",
		        l->question);
}

static bool has_core_pmu(const struct lister *l, int n)
{
	pfm_pmu_info_t info = PFM_INIT(info);

	for (int i = 0; i < n; i++)
		if (!pfm_describe_pmu(l->ctx, i, &info) && info.flags & PFM_PMU_KERNEL &&
		    info.flags & PFM_PMU_CORE)
			return true;
	return false;
}

/* The list names the events of this machine's processor whether or not its kernel can count them.
 */
static void warn_without_pmu(const struct lister *l, int n)
{
	if (l->json || l->pmus_only || l->pmu >= 0 || is_search(l) || has_core_pmu(l, n))
		return;
	printf("This machine has no hardware PMU: of these events only software events and "
	       "tracepoints can be\n"
	       "counted here. 'pfm doctor' gives the cause.\n\n");
}

static int list_all(struct lister *l)
{
	int n = pfm_count_pmus(l->ctx), status;

	warn_without_pmu(l, n);
	if (l->pmus_only || (!is_search(l) && l->pmu < 0 && !l->metrics))
		list_pmus(l, n);
	status = list_selected(l, n);
	if (status == EXIT_DONE && !l->pmus_only) {
		list_tracepoints(l);
		list_forms(l);
	}
	if (status != EXIT_DONE || l->pmus_only)
		return status;
	list_named_processors(l, n);
	if (l->n_pmus && is_search(l))
		return status;
	status = list_other_hosts(l, n);
	return status == EXIT_DONE ? list_metrics(l, n) : status;
}

/* Images that were found and cannot be used: a user who misses their events needs the reason. */
static void report_refusals(const struct lister *l)
{
	const char *path, *why;
	unsigned i;

	for (i = 0; pfm_describe_rejected_image(l->ctx, i, &path, &why) == PFMLIB_SUCCESS; i++)
		fprintf(stderr, "pfm: %s is not used: %s\n", path, why);
}

/* True if @pattern is the name of an event, which was left out then. */
static bool is_event(const struct lister *l, const char *pattern, pfm_event_info_t *e)
{
	char text[2 * FOLDED_MAX];
	unsigned event;
	int pmu;

	name_event(l, pattern, text);
	return !pfm_find_event_by_text(l->ctx, text, &pmu, &event, NULL) &&
	       !pfm_describe_event(l->ctx, pmu, event, e);
}

static int report_nothing_found(const struct lister *l, const char *pattern)
{
	pfm_event_info_t e = PFM_INIT(e);
	bool is_known;

	if (!pattern) {
		fputs(is_search(l) ? "pfm: no event has that unit or counter.\n"
		                   : "pfm: the processor has no metrics.\n",
		      stderr);
		return EXIT_REFUSED;
	}
	if (l->pmus_only) {
		fprintf(stderr,
		        "pfm: no processor or unit matches '%s'; 'pfm list --pmus' lists "
		        "them.\n",
		        pattern);
		return EXIT_REFUSED;
	}
	is_known = is_event(l, pattern, &e);
	if (is_known && !l->all_pmus && !l->metrics &&
	    e.flags & (PFM_EVENT_HIDDEN | PFM_EVENT_DEPRECATED)) {
		fprintf(stderr, "pfm: '%s' is hidden or deprecated; --all shows it.\n", pattern);
		return EXIT_REFUSED;
	}
	fprintf(stderr, "pfm: no %s matches '%s'.\n", l->metrics ? "metric" : "event", pattern);
	if (!is_known)
		print_similar_names(l, "  similar: ", false);
	return EXIT_REFUSED;
}

/* Reports that the name before "::" in @pattern is not a PMU. */
static int report_unknown_pmu(const struct lister *l, const char *pattern)
{
	pfm_error_t error;

	report_culprit(&error, PFMLIB_ERR_NOPMU, PFM_KIND_UNKNOWN_PMU, 0,
	               (size_t)(strstr(pattern, "::") - pattern), NULL);
	report_refusal(l->ctx, pattern, &error, WANTED_ANY);
	return EXIT_REFUSED;
}

/* ---- completion ------------------------------------------------------------------------------ */

static void complete_umasks(const struct lister *l, const char *prefix, size_t base)
{
	char event[FOLDED_MAX];
	pfm_umask_info_t mask = PFM_INIT(mask);
	char word[FOLDED_MAX];
	unsigned index, i;
	int pmu;

	snprintf(event, sizeof(event), "%.*s", (int)base, prefix);
	if (pfm_find_event_by_text(l->ctx, event, &pmu, &index, NULL) != PFMLIB_SUCCESS)
		return;
	for (i = 0; pfm_describe_umask(l->ctx, pmu, index, i, &mask) == PFMLIB_SUCCESS; i++) {
		if (prefix[base] == ',')
			snprintf(word, sizeof(word), "%s=%s", mask.group, mask.name);
		else
			snprintf(word, sizeof(word), "%s", *mask.alias ? mask.alias : mask.name);
		if (strncasecmp(word, prefix + base + 1, strlen(prefix + base + 1)) == 0)
			printf("%.*s%s\n", (int)base + 1, prefix, word);
	}
}

static void complete_events(const struct lister *l, int pmu, const char *before, const char *prefix)
{
	pfm_event_info_t e = PFM_INIT(e);
	size_t len = strlen(prefix);
	unsigned i;

	for (i = 0; pfm_describe_event(l->ctx, pmu, i, &e) == PFMLIB_SUCCESS; i++)
		if (!(e.flags & PFM_EVENT_HIDDEN) && strncasecmp(e.name, prefix, len) == 0)
			printf("%s%s\n", before, e.name);
}

/* Words that @prefix may become, one a line: processors, events, unit masks. */
static int complete_text(const struct lister *l, const char *prefix)
{
	const char *colons = strstr(prefix, "::"), *last = strrchr(prefix, ':');
	pfm_pmu_info_t info = PFM_INIT(info);
	char before[FOLDED_MAX];
	int i, pmu, n = pfm_count_pmus(l->ctx);

	if (!last || (strrchr(prefix, ',') && strrchr(prefix, ',') > last))
		last = strrchr(prefix, ',');
	if (colons) {
		snprintf(before, sizeof(before), "%.*s", (int)(colons - prefix), prefix);
		pmu = pfm_find_pmu(l->ctx, before);
		snprintf(before, sizeof(before), "%.*s", (int)(colons + 2 - prefix), prefix);
		if (pmu >= 0)
			complete_events(l, pmu, before, colons + 2);
	}
	if (last && last > prefix && last[-1] != ':')
		complete_umasks(l, prefix, (size_t)(last - prefix));
	for (i = 0; i < n && !colons; i++) {
		if (pfm_describe_pmu(l->ctx, i, &info) != PFMLIB_SUCCESS ||
		    (info.flags & PFM_PMU_HIDDEN) || has_no_event(l, i, &info))
			continue;
		if (strncasecmp(info.name, prefix, strlen(prefix)) == 0)
			printf("%s::\n", info.name);
		if (l->pmu >= 0 ? i == l->pmu : (info.flags & (PFM_PMU_HOST | PFM_PMU_KERNEL)) != 0)
			complete_events(l, i, "", prefix);
	}
	return EXIT_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Compiles a pattern that looks like a regular expression. Reports one that is not valid; its
 * text is searched as it is. */
static bool compile_pattern(struct lister *l, const char *pattern)
{
	char why[TEXT_SIZE_MAX];
	int rc = looks_like_expression(pattern)
	                 ? regcomp(&l->expression, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB)
	                 : -1;

	if (rc > 0) {
		regerror(rc, &l->expression, why, sizeof(why));
		fprintf(stderr,
		        "pfm: note: '%s' is not a regular expression (%s); searching for the text "
		        "itself.\n",
		        pattern, why);
	}
	return rc == 0;
}

/* Finds the event that @pattern is a name of, in whole: "branches", "^cycles$". */
static void find_named_event(struct lister *l, const char *pattern)
{
	const char *name = pattern + (*pattern == '^');
	size_t len = strlen(name);
	char text[2 * FOLDED_MAX], *word = l->alias;

	snprintf(word, sizeof(l->alias), "%.*s", (int)(len && name[len - 1] == '$' ? len - 1 : len),
	         name);
	name_event(l, word, text);
	l->has_named_event =
		!strpbrk(word, "*?[|()^$+\\:") &&
		!pfm_find_event_by_text(l->ctx, text, &l->named_pmu, &l->named_event, NULL);
}

/* "pmu::pattern" asks for one processor. */
static bool split_pattern(struct lister *l, const char *pattern)
{
	const char *colons = strstr(pattern, "::");
	char name[FOLDED_MAX];

	if (colons && colons > pattern) {
		snprintf(name, sizeof(name), "%.*s", (int)(colons - pattern), pattern);
		l->pmu = pfm_find_pmu(l->ctx, name);
		if (l->pmu < 0)
			return false;
		pattern = colons + 2;
	} else if (l->pmu < 0 && !l->pmus_only && !l->unit_name &&
	           pfm_find_pmu(l->ctx, pattern) >= 0) {
		/* A processor's name asks for all it has. */
		l->pmu = pfm_find_pmu(l->ctx, pattern);
		return true;
	}
	l->question = pattern;
	find_named_event(l, pattern);
	l->is_expression = compile_pattern(l, pattern);
	fold_case(pattern, l->folded, sizeof(l->folded));
	l->pattern = l->folded[0] ? l->folded : NULL;
	l->is_ranked =
		l->descriptions && l->pattern && !l->is_expression && !strpbrk(pattern, "*?[");
	if (l->is_ranked)
		pfmi_format_parse_words(&l->words,
		                        (struct slice){ pattern, (uint32_t)strlen(pattern) });
	l->words.desc_suffices = true;
	return true;
}

/* Reads the properties of the terminal that printing of each line needs. */
static void init_layout(struct lister *l)
{
	l->width = term_width(stdout);
	l->is_narrow = l->width && l->width < NAME_COLUMN + 30;
	l->column = l->is_narrow ? 4 : NAME_COLUMN;
	l->colour_on_len = (size_t)snprintf(l->before_name, sizeof(l->before_name), "  %s",
	                                    term_colour_begin(stdout, CYAN));
	l->colour_off_len = strlen(term_colour_end(stdout));
	snprintf(l->after_name, sizeof(l->after_name), "%s%*s", term_colour_end(stdout),
	         NAME_COLUMN, "");
}

static int run_list(struct command_args *args)
{
	static struct output_page page;
	struct lister l = { .out = { .out = stdout }, .pmu = -1, .page = &page };
	const char *value, *pmu = NULL, *prefix = NULL;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_PMU: pmu = value; break;
		case OPT_PMUS: l.pmus_only = true; break;
		case OPT_METRICS: l.metrics = true; break;
		case OPT_COUNTER:
			if (!read_counters(value, &l.counters))
				return report_usage_error(
					args, "expected counters such as 0-3,F1, got '%s'.", value);
			break;
		case OPT_UNIT:
			if (!*value)
				return report_usage_error(
					args, "--unit: expected a part of the name of a "
					      "unit, got an empty text.");
			l.unit_name = value;
			break;
		case OPT_NO_PAGER: l.no_pager = true; break;
		case OPT_JSON: l.json = true; break;
		case OPT_COMPLETE: prefix = value; break;
		case 'a': l.all_pmus = true; break;
		case 'd': l.descriptions = true; break;
		}
	if (id < 0)
		return args->status;
	if (l.unit_name && pmu)
		return report_usage_error(args, "expected no pattern with PMU:: beside --unit; "
		                                "write --unit icx_uncore_imc.");
	if (l.pmus_only && (l.metrics || l.unit_name || l.counters))
		return report_usage_error(
			args,
			"--pmus lists processors and units only: omit the options that select "
			"events.");
	if (args->n > 1)
		return report_usage_error(
			args, "expected one pattern; quote it if the shell expanded it.");
	l.ctx = open_context(pmu);
	if (!l.ctx)
		return EXIT_REFUSED;
	if (pmu)
		l.pmu = pfm_find_pmu(l.ctx, pmu);
	if (!prefix && !l.json && !l.no_pager)
		term_page();
	init_layout(&l);
	if (prefix)
		status = complete_text(&l, prefix);
	else if (args->n && !split_pattern(&l, args->operands[0]))
		status = report_unknown_pmu(&l, args->operands[0]);
	else
		status = list_all(&l);
	if (status == EXIT_DONE && (args->n || is_search(&l) || (l.metrics && l.pmu >= 0)) &&
	    !prefix && l.n_events + l.n_pmus == 0)
		status = report_nothing_found(&l, args->n ? args->operands[0] : NULL);
	if (!prefix)
		report_refusals(&l);
	if (l.is_expression)
		regfree(&l.expression);
	free(l.found);
	pfm_close_context(l.ctx);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.usage = "[PATTERN] [--pmu NAME] [--json]\n--metrics [PATTERN] [--pmu NAME] [--json]",
	.summary = "list processors and their events, or search them",
	.about = "Without a pattern, lists the processors and units of this "
		 "machine, then their events; --pmus lists the processors "
		 "and units of all machines. With a pattern, lists the "
		 "events of this machine, tracepoints included, whose names "
		 "contain the pattern; where no name does, those of all "
		 "other processors. Case, blanks, \"-\" and \"_\" make no "
		 "difference. A pattern with * ? or [ must match the whole "
		 "name; one with | ( ) ^ $ + \\ or .* is a regular "
		 "expression. The name of a processor lists all its events. "
		 "--metrics lists metrics (see pfm stat -M) instead of "
		 "events; the pattern may name a group of metrics.",
	.examples = "What can be counted here?\n"
		    "pfm list\n"
		    "All events of one processor\n"
		    "pfm list --pmu amdzen5\n"
		    "Everything with TLB in its name or description\n"
		    "pfm list -d tlb\n"
		    "What an event is called, in plain words\n"
		    "pfm list --pmu spr -d 'last level cache misses'\n"
		    "Metrics of Sapphire Rapids that concern branches\n"
		    "pfm list --metrics spr::branch\n"
		    "Events of the memory controllers of an Ice Lake server\n"
		    "pfm list --unit icx_uncore_imc\n"
		    "Retired instructions that counter 0 of a Core Duo can count\n"
		    "pfm list --counter 0 'coreduo::*ret*'\n"
		    "Loads or stores of all processors\n"
		    "pfm list -a '^L1.*(load|store)'\n"
		    "Branch events of Neoverse N1\n"
		    "pfm list 'neoverse_n1::br*'\n",
	.options = options,
	.run = run_list
};
