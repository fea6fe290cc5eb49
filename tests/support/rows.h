/* SPDX-License-Identifier: MIT */
/* Test cases out of a file of JSON lines: one cmocka test per row, so that every row is counted and
 * named on its own. */
#ifndef PERFMON_TESTS_ROWS_H
#define PERFMON_TESTS_ROWS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

struct rows {
	struct CMUnitTest *tests;
	size_t n, room;
};

/* Adds a test that gets @state. @name is copied; what TAP would read as a directive is left out of
 * it. */
static inline void rows_add(struct rows *rows, const char *name, CMUnitTestFunction test,
                            void *state)
{
	char *copy = strdup(name);

	if (rows->n == rows->room) {
		rows->room = rows->room * 2 + 64;
		rows->tests = realloc(rows->tests, rows->room * sizeof(*rows->tests));
	}
	if (!copy || !rows->tests)
		abort();
	for (char *p = copy; *p; p++)
		if (*p == '#' || *p == '\n')
			*p = ' ';
	rows->tests[rows->n++] =
		(struct CMUnitTest){ .name = copy, .test_func = test, .initial_state = state };
}

/* Calls @each with every object of @path; false if the file cannot be read. A broken line ends the
 * program: vectors are ours. */
static inline int rows_read(const char *path, void (*each)(struct rows *rows, json_t *row),
                            struct rows *rows)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!f)
		return 0;
	while (getline(&line, &room, f) > 0) {
		json_error_t error;
		json_t *row = json_loads(line, 0, &error);

		if (!row) {
			fprintf(stderr, "%s: %s\n", path, error.text);
			abort();
		}
		each(rows, row);
	}
	free(line);
	fclose(f);
	return 1;
}

static inline const char *rows_folder(void)
{
	const char *folder = getenv("PERFMON_TESTS");

	return folder ? folder : "tests";
}

static inline uint64_t row_hex(const json_t *row, const char *key)
{
	const char *s = json_string_value(json_object_get(row, key));

	return s ? strtoull(s, NULL, 0) : 0;
}

static inline const char *row_text(const json_t *row, const char *key)
{
	const char *s = json_string_value(json_object_get(row, key));

	return s ? s : "";
}

static inline long long row_int(const json_t *row, const char *key, long long otherwise)
{
	json_t *v = json_object_get(row, key);

	return json_is_integer(v) ? (long long)json_integer_value(v) : otherwise;
}

static inline int rows_run(const char *name, struct rows *rows)
{
	return _cmocka_run_group_tests(name, rows->tests, rows->n, NULL, NULL);
}

#endif
