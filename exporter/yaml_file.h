/* SPDX-License-Identifier: MIT */
/* pfm serve: files in YAML, or in JSON, which is YAML too. */
#ifndef PFM_SERVE_YAML_H
#define PFM_SERVE_YAML_H

#include <jansson.h>
#include <stddef.h>

/* Reads a file of one document: mappings are objects, plain numbers and true and false what they
 * look like, other scalars strings. An empty file is an empty object. NULL, after *@why, if it
 * cannot be read. */
json_t *load_yaml(const char *path, char *why, size_t size);

#endif
