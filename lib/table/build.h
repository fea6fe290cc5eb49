/* SPDX-License-Identifier: MIT */
/* Builds an event table in memory, in the layout of image.h, for PMUs that only the running kernel
 * describes. A failed allocation is remembered; pfmi_table_finish_build() reports it. */
#ifndef PERFMON_BUILD_H
#define PERFMON_BUILD_H

#include "table/table.h"

/* A growing array. */
struct growing_array {
	void *items;
	size_t n, capacity;
};

struct table_builder {
	struct table head; /* the caller sets all members but offsets and counts */
	uint8_t keys[64];
	struct growing_array fields, features, rows, values, wide_values, pool;
	bool failed;
};

void pfmi_table_begin_build(struct table_builder *b);
/* Copies @len bytes into the pool. Returns their offset. */
uint32_t pfmi_table_add_text(struct table_builder *b, const char *s, size_t len);
/* Adds a field with the bits of @n_ranges (at most 4) ranges; users may set it on any event.
 * Returns its index. */
unsigned pfmi_table_add_field(struct table_builder *b, const char *name, enum field_key key,
                              const struct bitrange *ranges, unsigned n_ranges);
/* Adds a field whose values are texts. Returns its index. */
unsigned pfmi_table_add_text_field(struct table_builder *b, enum field_key key);
/* Index of the field called @name (@len bytes); -1 if missing. */
int pfmi_table_find_built_field(const struct table_builder *b, const char *name, size_t len);
const struct field *pfmi_table_get_built_field(const struct table_builder *b, unsigned field);
/* Adds a feature of the PMU: a text, or a number if @text is NULL. */
void pfmi_table_add_feature(struct table_builder *b, const char *name, const char *text,
                            uint64_t value);
/* Starts a row; values that follow belong to it. */
void pfmi_table_begin_row(struct table_builder *b, const char *name, const char *desc,
                          uint32_t flags);
/* Gives the last row a value for @field; a second one replaces the first. */
void pfmi_table_set_row_value(struct table_builder *b, unsigned field, uint64_t value);
/* Removes the last row. */
void pfmi_table_drop_row(struct table_builder *b);
/* The finished table, which the caller frees; NULL without memory. Empties the builder. */
struct table *pfmi_table_finish_build(struct table_builder *b);

#endif
