/* SPDX-License-Identifier: MIT */
/* The keys by which samples are added up: their names, columns and JSON. */
#include <stdlib.h>
#include <string.h>
#include "common/columns.h"
#include "common/pfm.h"
#include "report/view.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned key;
} key_names[] = {
	{ "task", KEY_TASK },       { "object", KEY_OBJECT }, { "symbol", KEY_SYMBOL },
	{ "line", KEY_LINE },       { "cpu", KEY_CPU },       { "cgroup", KEY_CGROUP },
	{ "address", KEY_ADDRESS },
};

enum { N_KEYS = sizeof(key_names) / sizeof(key_names[0]) };

/* Parses names of keys separated by commas. Returns NULL, or the text from an unknown key on. */
static const char *parse_keys(const char *text, unsigned *keys)
{
	for (*keys = 0;; text++) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < N_KEYS && (strlen(key_names[i].name) != len ||
		                      strncmp(key_names[i].name, text, len) != 0))
			i++;
		if (i == N_KEYS)
			return text;
		*keys |= key_names[i].key;
		text += len;
		if (!*text)
			return NULL;
	}
}

/* Lists the names of @keys, such as "task, object or symbol". */
static void list_key_names(unsigned keys, char *list, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS && n < size; i++) {
		if (!(keys & key_names[i].key))
			continue;
		keys &= ~key_names[i].key;
		n += (size_t)snprintf(list + n, size - n, "%s%s",
		                      !n     ? ""
		                      : keys ? ", "
		                             : " or ",
		                      key_names[i].name);
	}
}

bool option_keys(struct command_args *args, const char *value, unsigned allowed, unsigned *keys)
{
	const char *wrong = parse_keys(value, keys);
	char names[128];

	if (!wrong && !(*keys & ~allowed))
		return true;
	list_key_names(allowed, names, sizeof(names));
	args->status =
		report_usage_error(args, "--sort: expected %s, separated by commas, got '%s'.",
	                           names, wrong ? wrong : value);
	return false;
}

unsigned report_keys(const struct profile_options *o)
{
	return o->keys ? o->keys : KEY_TASK | KEY_OBJECT | KEY_SYMBOL;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Columns of names where each row has the same, so that awk finds them; the last one is as long as
 * it is. */
const struct key_layout plain_key_layout = { .cgroup = 24, .task = 16, .object = 24, .step = 2 };

enum {
	CPU_COLUMNS = 4,
	ADDRESS_COLUMNS = 18,
	COLUMNS_MIN = 8,  /* of a name that is cut so that functions fit */
	NAME_WANTED = 32, /* of the functions, before other columns become narrower */
	NAME_MIN = 16     /* with fewer, other columns are left out */
};

static size_t choose_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t choose_larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* "function > inlined > inlined  file.c:12" */
static void put_name(FILE *out, const struct profile *p, const struct profile_place *at,
                     unsigned keys)
{
	char line[NAME_LINE];
	bool has_before = false;

	if (keys & KEY_SYMBOL && at->function) {
		fputs(profile_format_line(p->texts.text[at->function], line), out);
		has_before = *line;
	}
	if (!(keys & KEY_LINE))
		return;
	for (const char *s = p->texts.text[at->inlined]; *s; s += *s == ';') {
		int len = (int)strcspn(s, ";");

		fprintf(out, "%s%.*s", has_before ? " > " : "", len, s);
		has_before = true;
		s += len;
	}
	if (*p->texts.text[at->source])
		fprintf(out, "%s%s", has_before ? "  " : "",
		        profile_format_line(base_name(p->texts.text[at->source]), line));
	else if (!(keys & KEY_SYMBOL))
		fputs(has_before ? "  [unknown line]" : "[unknown line]", out);
}

/* The text of put_name(), to be freed; NULL without memory. */
static char *name_text(const struct profile *p, const struct profile_place *at, unsigned keys)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	put_name(f, p, at, keys);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static size_t measure_text(size_t width, const char *text)
{
	char line[NAME_LINE];

	profile_format_line(text, line);
	return choose_larger(width, count_columns(line, strlen(line)));
}

void measure_keys(struct key_layout *l, const struct profile *p, const struct profile_place *at,
                  unsigned keys, unsigned depth)
{
	char **texts = p->texts.text, *name;

	if (keys & KEY_CGROUP)
		l->cgroup = measure_text(l->cgroup, texts[at->cgroup]);
	if (keys & KEY_TASK)
		l->task = measure_text(l->task, texts[at->task]);
	if (keys & KEY_OBJECT)
		l->object = measure_text(l->object, base_name(texts[at->object]));
	l->depth = choose_larger(l->depth, depth);
	name = name_text(p, at, keys);
	if (name)
		l->name = measure_text(l->name, name);
	free(name);
}

/* The columns of a name of @width with the blank after it. */
static size_t measure_with_blank(size_t width)
{
	return width + (width > 0);
}

/* Makes columns narrower, the widest first, until they fit into @available or all are narrow. */
static void shrink_columns(size_t *const *widths, size_t n, size_t available)
{
	for (;;) {
		size_t sum = 0, widest = 0;

		for (size_t i = 0; i < n; i++) {
			sum += measure_with_blank(*widths[i]);
			widest = *widths[i] > *widths[widest] ? i : widest;
		}
		if (sum <= available || *widths[widest] <= COLUMNS_MIN)
			return;
		--*widths[widest];
	}
}

void fit_keys(struct key_layout *l, unsigned keys, size_t columns)
{
	/* The last one is left out first. */
	size_t *const widths[] = { &l->task, &l->cgroup, &l->object };
	enum { N = sizeof(widths) / sizeof(widths[0]) };
	size_t fixed = 2, available, wanted, others = 0;

	fixed += keys & KEY_CPU ? CPU_COLUMNS + 1 : 0;
	fixed += keys & KEY_ADDRESS ? ADDRESS_COLUMNS + 1 : 0;
	available = choose_larger(columns, fixed) - fixed;
	l->is_cut = true;
	l->step = 2;
	wanted = choose_smaller(l->name + l->step * l->depth,
	                        choose_larger(NAME_WANTED, available / 2));
	shrink_columns(widths, N, choose_larger(available, wanted) - wanted);
	for (size_t i = 0; i < N; i++)
		others += measure_with_blank(*widths[i]);
	wanted = choose_smaller(wanted, NAME_MIN);
	for (size_t i = N; i-- > 0 && available < others + wanted;) {
		others -= measure_with_blank(*widths[i]);
		*widths[i] = 0;
	}
	l->name = choose_larger(available, others) - others;
	if (l->step * l->depth > l->name / 2)
		l->step = 1;
	l->indent_max = l->name > NAME_WANTED ? l->name / 2 : l->name / 3;
}

/* Prints a column of a name; the blanks that fill it only before another column. */
static void put_column(FILE *out, const struct key_layout *l, const char *text, size_t width,
                       enum cut_place place, size_t *pending)
{
	char line[NAME_LINE];
	size_t n;

	if (l->is_cut && !width)
		return;
	profile_format_line(text, line);
	if (*line)
		fprintf(out, "%*s", (int)*pending, "");
	else
		width += *pending;
	n = put_cut(out, line, l->is_cut ? width : SIZE_MAX, place);
	*pending = n < width ? width - n + 1 : 1;
}

/* Blanks before a name at @depth. Where more do not fit into a terminal, "+7 " says how much deeper
 * it is. Returns the columns. */
static size_t put_indent(FILE *out, const struct key_layout *l, unsigned depth, size_t pending)
{
	size_t indent = l->step * depth;
	char more[32] = "";

	if (l->is_cut && indent > l->indent_max) {
		indent = l->indent_max;
		if (l->name > COLUMNS_MIN)
			snprintf(more, sizeof(more), "+%zu ", depth - indent / l->step);
	}
	fprintf(out, "%*s%s", (int)(pending + indent), "", more);
	return indent + strlen(more);
}

static bool has_name(const struct profile_place *at, unsigned keys)
{
	return (keys & KEY_SYMBOL && at->function) || keys & KEY_LINE;
}

/* Prints the name, which is the last column; whole without the memory to cut it. */
static void put_name_column(FILE *out, const struct profile *p, const struct profile_place *at,
                            unsigned keys, const struct key_layout *l, unsigned depth,
                            size_t pending)
{
	size_t indent = put_indent(out, l, depth, pending);
	char *name = l->is_cut ? name_text(p, at, keys) : NULL;

	if (name)
		put_cut(out, name, choose_larger(l->name, indent) - indent, CUT_NAME);
	else
		put_name(out, p, at, keys);
	free(name);
}

void put_key_columns(FILE *out, const struct profile *p, const struct profile_place *at,
                     unsigned keys, const struct key_layout *l, unsigned depth)
{
	char number[24], **texts = p->texts.text;
	size_t pending = 2;

	if (keys & KEY_CPU) {
		snprintf(number, sizeof(number), "%u", at->cpu);
		put_column(out, l, at->cpu == UNKNOWN_CPU ? "-" : number, CPU_COLUMNS, CUT_END,
		           &pending);
	}
	if (keys & KEY_CGROUP)
		put_column(out, l, texts[at->cgroup], l->cgroup, CUT_MIDDLE, &pending);
	if (keys & KEY_TASK)
		put_column(out, l, texts[at->task], l->task, CUT_END, &pending);
	if (keys & KEY_OBJECT)
		put_column(out, l, base_name(texts[at->object]), l->object, CUT_END, &pending);
	if (keys & KEY_ADDRESS) {
		snprintf(number, sizeof(number), "%#llx", (unsigned long long)at->address);
		put_column(out, l, number, ADDRESS_COLUMNS, CUT_END, &pending);
	}
	if (has_name(at, keys))
		put_name_column(out, p, at, keys, l, depth, pending);
	putc('\n', out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void put_key_members(struct json *j, const struct profile *p, const struct profile_place *at,
                     unsigned keys)
{
	put_text(j, "event", get_event_name(p, at->event));
	if (p->n_slices > 1) {
		put_real(j, "from", compute_slice_start(p, at->slice));
		put_real(j, "to", compute_slice_start(p, at->slice + 1));
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
