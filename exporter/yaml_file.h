/* SPDX-License-Identifier: MIT */
/* pfm serve: files in YAML, or in JSON, which is YAML too. */
#ifndef PFM_SERVE_YAML_H
#define PFM_SERVE_YAML_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* The place of a value in a file: lines and columns count from 1. */
struct yaml_place {
	char *path; /* "/jobs/0/name" */
	size_t key_line, key_column, line, column;
};

struct yaml_places {
	struct yaml_place *at;
	unsigned n;
	size_t capacity;
};

/* Opens a file of settings, which is regular: the service would wait for other kinds, and no signal
 * would end it. NULL after *@why, which does not begin with the path. */
FILE *open_settings_file(const char *path, const char **why);
/* Reads a file of one document: mappings are objects, plain numbers and true and false what they
 * look like, other scalars strings. An empty file is an empty object. Notes in @places, unless it
 * is NULL, where each member and element is. NULL, after *@why, which begins with the path, if the
 * file cannot be read. */
json_t *load_yaml(const char *path, struct yaml_places *places, char *why, size_t size);
/* NULL if the file lacks the value. */
const struct yaml_place *find_yaml_place(const struct yaml_places *p, const char *path);
void free_yaml_places(struct yaml_places *p);

#endif
