/* SPDX-License-Identifier: MIT */
/* A function is an array of rows: [text, address] is an instruction, [text, number] a line of
 * source text, and a number that many rows that are left out. */
#include "html/page_code.h"

#include <stdlib.h>
#include <string.h>
#include "profile/symbols/symbols.h"
#include "report/disassembly.h"
#include "report/source_text.h"

enum {
	MOST_FUNCTIONS = 12,
	ROWS_AROUND = 10,    /* rows that are kept before and after one with samples */
	MOST_CODE = 1 << 18, /* bytes of a function */
};

#define LEAST_SHARE 0.01 /* of a function */

/* A location in a function with a symbol. */
struct code_spot {
	struct symbol_range range;
	uint32_t location;
	double share;
};

/* The spots of one function, in the order of their addresses. */
struct hot_function {
	const struct code_spot *spots;
	size_t n;
	double share;
};

struct page_code {
	struct export_reader *reader;
	struct code_spot *spots;
	size_t n_spots;
	struct hot_function *functions;
	size_t n_functions;
	const uint32_t *numbers;
	uint32_t *lines;
	uint32_t n_lines; /* of the functions before */
};

/* ---- functions ------------------------------------------------------------------------------- */

static int compare_spots(const void *a, const void *b)
{
	const struct symbol_range *x = &((const struct code_spot *)a)->range,
				  *y = &((const struct code_spot *)b)->range;
	int order = strcmp(x->path, y->path);

	if (order)
		return order;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void find_spots(struct page_code *c, const double *shares)
{
	struct export_reader *r = c->reader;

	for (size_t i = 1; i < r->n_locations; i++) {
		const struct export_location *l = &r->locations[i];
		struct code_spot *spot = &c->spots[c->n_spots];
		struct object *object = r->mappings[l->mapping].object;

		if (!(shares[i] > 0) || !object || l->mode == PFM_MISC_KERNEL ||
		    !symbols_find_range(object, export_file_offset(r, l), &spot->range))
			continue;
		spot->location = (uint32_t)i;
		spot->share = shares[i];
		c->n_spots += spot->range.end - spot->range.start <= MOST_CODE;
	}
	qsort(c->spots, c->n_spots, sizeof(*c->spots), compare_spots);
}

static bool is_same_function(const struct code_spot *a, const struct code_spot *b)
{
	return a->range.start == b->range.start && strcmp(a->range.path, b->range.path) == 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct hot_function *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return x->spots < y->spots ? -1 : 1;
}

/* Finds the functions of the spots, the hottest first. */
static void find_functions(struct page_code *c)
{
	for (size_t i = 0; i < c->n_spots; i++) {
		struct hot_function *last = c->functions + c->n_functions - !!c->n_functions;

		if (!i || !is_same_function(&c->spots[i - 1], &c->spots[i])) {
			last = &c->functions[c->n_functions++];
			*last = (struct hot_function){ .spots = &c->spots[i] };
		}
		last->n++;
		last->share += c->spots[i].share;
	}
	qsort(c->functions, c->n_functions, sizeof(*c->functions), compare_functions);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Keeps the rows around row @row, and its line of source text. */
static void keep_rows_around(const struct disassembly *d, size_t row, bool *kept)
{
	size_t source = row;

	for (size_t k = row > ROWS_AROUND ? row - ROWS_AROUND : 0;
	     k < d->n && k <= row + ROWS_AROUND; k++)
		kept[k] = true;
	while (source > 0 && d->lines[source].is_instruction)
		source--;
	kept[source] = true;
}

/* Sets the lines of the locations of @f, and in @kept the rows to show. */
static void mark_rows(struct page_code *c, const struct hot_function *f,
                      const struct disassembly *d, bool *kept)
{
	size_t row = 0;

	for (size_t i = 0; i < f->n; i++) {
		uint64_t address = f->spots[i].range.address;

		while (row < d->n &&
		       (!d->lines[row].is_instruction || d->lines[row].address < address))
			row++;
		if (row == d->n || d->lines[row].address != address)
			continue;
		c->lines[f->spots[i].location] = c->n_lines + (uint32_t)row + 1;
		keep_rows_around(d, row, kept);
	}
}

static void put_row(struct json *j, const struct code_line *line)
{
	put_begin(j, NULL, '[');
	put_text(j, NULL, line->text);
	if (line->is_instruction)
		put_hex(j, NULL, line->address);
	else
		put_count(j, NULL, line->number);
	put_end(j, ']');
}

static void put_rows(struct json *j, const struct disassembly *d, const bool *kept)
{
	put_begin(j, "rows", '[');
	for (size_t i = 0; i < d->n;) {
		size_t n = 0;

		while (i + n < d->n && !kept[i + n])
			n++;
		if (n)
			put_count(j, NULL, n);
		i += n;
		if (i < d->n)
			put_row(j, &d->lines[i++]);
	}
	put_end(j, ']');
}

/* The source lines of the rows with samples: [row, file, line]. */
static void put_sources(struct json *j, const struct page_code *c, const struct hot_function *f)
{
	const struct export_reader *r = c->reader;

	put_begin(j, "sources", '[');
	for (size_t i = 0; i < f->n; i++) {
		const struct export_location *l = &r->locations[f->spots[i].location];
		uint32_t line = c->lines[f->spots[i].location];

		if (!line || !l->source.file)
			continue;
		put_begin(j, NULL, '[');
		put_count(j, NULL, line - 1 - c->n_lines);
		put_text(j, NULL, export_text(r, l->source.file));
		put_count(j, NULL, l->source.line);
		put_end(j, ']');
	}
	put_end(j, ']');
}

/* False without memory. */
static bool put_code_of(struct json *j, struct page_code *c, const struct hot_function *f,
                        const struct disassembly *d)
{
	const struct export_reader *r = c->reader;
	const struct export_location *l = &r->locations[f->spots[0].location];
	bool *kept = calloc(d->n + 1, sizeof(*kept));

	if (!kept)
		return false;
	mark_rows(c, f, d, kept);
	put_begin(j, NULL, '{');
	put_count(j, "function", c->numbers[export_function_number(r, l, 0)]);
	put_count(j, "first", c->n_lines);
	put_rows(j, d, kept);
	put_sources(j, c, f);
	put_end(j, '}');
	c->n_lines += (uint32_t)d->n;
	free(kept);
	return true;
}

/* Code that cannot be read is left out. False without memory. */
static bool put_function(struct json *j, struct page_code *c, const struct hot_function *f)
{
	const struct symbol_range *range = &f->spots[0].range;
	struct source_text *source = source_text_open(range->path, c->reader->path, NULL);
	struct disassembly d = { .n = 0 };
	bool is_good = true;

	if (disassemble_function(&d, range->path, range->start, range->end, true, source) == 0 &&
	    d.n)
		is_good = put_code_of(j, c, f, &d);
	source_text_close(source);
	free_disassembly(&d);
	return is_good;
}

bool put_page_code(struct json *j, struct export_reader *r, const double *shares,
                   const uint32_t *numbers, uint32_t *lines)
{
	struct page_code c = { .reader = r,
		               .spots = calloc(r->n_locations + 1, sizeof(*c.spots)),
		               .functions = calloc(r->n_locations + 1, sizeof(*c.functions)),
		               .numbers = numbers,
		               .lines = lines };
	bool is_good = c.spots && c.functions;

	if (is_good) {
		find_spots(&c, shares);
		find_functions(&c);
	}
	put_begin(j, "code", '[');
	for (size_t i = 0; is_good && i < c.n_functions && i < MOST_FUNCTIONS &&
	                   c.functions[i].share >= LEAST_SHARE;
	     i++)
		is_good = put_function(j, &c, &c.functions[i]);
	put_end(j, ']');
	free(c.spots);
	free(c.functions);
	return is_good;
}
