/* SPDX-License-Identifier: MIT */
/* Texts and tables in the columns of a terminal. */
#ifndef PFM_COLUMNS_H
#define PFM_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

/* Columns that the first @len bytes of @text take on a terminal: a wide character takes two, a
 * combining one none, and a byte that term_guard() escapes four. */
size_t count_columns(const char *text, size_t len);

/* How a text that is too long is cut. */
enum cut_place {
	CUT_END,
	CUT_MIDDLE, /* two thirds of the remaining columns show the beginning */
	CUT_NAME /* for function names: cut parameters, then template arguments, then the middle */
};

/* Prints @text in at most @columns, with an ellipsis for what is left out. Returns the columns that
 * it takes. */
size_t put_cut(FILE *out, const char *text, size_t columns, enum cut_place place);

/* Width of a column of a table, with the blanks before it. */
struct table_column {
	size_t width;
	unsigned importance; /* 0: always shown */
};

/* Chooses the shown columns of @n as a bit set. Omits the least important ones, columns of equal
 * importance together, until the rest fits into @available. */
unsigned choose_columns(const struct table_column *columns, size_t n, size_t available);

#endif
