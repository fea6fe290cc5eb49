/* SPDX-License-Identifier: MIT */
/* pfm serve: reads YAML by libyaml. Anchors and tags have no use in these files, and are refused:
 * an alias could make a small file a large one. */
#include "yaml_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"

const struct yaml_place *find_yaml_place(const struct yaml_places *p, const char *path)
{
	for (unsigned i = 0; i < p->n; i++)
		if (strcmp(p->at[i].path, path) == 0)
			return &p->at[i];
	return NULL;
}

void free_yaml_places(struct yaml_places *p)
{
	while (p->n)
		free(p->at[--p->n].path);
	free(p->at);
	*p = (struct yaml_places){ 0 };
}

FILE *open_settings_file(const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat s;
	FILE *f = NULL;

	if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode))
		f = fdopen(fd, "r");
	*why = fd < 0 || (!f && S_ISREG(s.st_mode)) ? strerror(errno) : "expected a regular file";
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

#ifdef HAVE_YAML
#include <yaml.h>

enum { MAX_DEPTH = 16, PATH_SIZE = 1024 };

struct reading {
	yaml_parser_t parser;
	const char *file;
	struct yaml_places *places; /* NULL: not wanted */
	char path[PATH_SIZE];       /* of the value under way */
	yaml_mark_t key;            /* of its key */
	char *why;
	size_t size;
};

static json_t *fail(struct reading *r, const yaml_mark_t *mark, const char *problem)
{
	snprintf(r->why, r->size, "%s:%zu:%zu: %s", r->file, mark->line + 1, mark->column + 1,
	         problem);
	return NULL;
}

/* Notes where the value begins. False without memory. */
static bool note_place(struct reading *r, const yaml_mark_t *value)
{
	struct yaml_places *p = r->places;
	bool failed = false;

	if (!p)
		return true;
	p->at = base_grow_list(p->at, p->n, &p->capacity, sizeof(*p->at), &failed);
	if (failed)
		return false;
	p->at[p->n] = (struct yaml_place){ strdup(r->path), r->key.line + 1, r->key.column + 1,
		                           value->line + 1, value->column + 1 };
	return p->at[p->n].path && ++p->n;
}

static json_t *read_scalar(struct reading *r, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;
	char *end;
	long long number;

	if (strlen(text) != e->data.scalar.length)
		return fail(r, &e->start_mark, "expected text, got a byte 0");
	if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return json_string(text);
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_boolean(*text == 't');
	errno = 0;
	number = strtoll(text, &end, 10);
	if (end > text && !*end && !errno)
		return json_integer(number);
	return json_string(text);
}

static json_t *read_node(struct reading *r, yaml_event_t *e, unsigned depth);

/* Reads the name of a member of @to. NULL, after the reason, if it is not a new one. */
static char *read_key(struct reading *r, const yaml_event_t *e, json_t *to)
{
	const char *name = (const char *)e->data.scalar.value;

	if (e->type != YAML_SCALAR_EVENT) {
		fail(r, &e->start_mark, "expected the name of a member");
		return NULL;
	}
	if (json_object_get(to, name)) {
		fail(r, &e->start_mark, "the member is there already");
		return NULL;
	}
	r->key = e->start_mark;
	return strdup(name);
}

/* Adds the value that begins with @e to @to, under @key if that is a mapping. */
static bool add_value(struct reading *r, yaml_event_t *e, json_t *to, const char *key,
                      unsigned depth)
{
	const size_t len = strlen(r->path);
	json_t *value;

	if (key)
		snprintf(r->path + len, sizeof(r->path) - len, "/%s", key);
	else
		snprintf(r->path + len, sizeof(r->path) - len, "/%zu", json_array_size(to));
	value = note_place(r, &e->start_mark) ? read_node(r, e, depth + 1) : NULL;
	r->path[len] = '\0';
	if (!value)
		return false;
	if ((key ? json_object_set_new(to, key, value) : json_array_append_new(to, value)) == 0)
		return true;
	fail(r, &e->start_mark, "invalid UTF-8, or out of memory");
	return false;
}

/* Reads what is in a mapping or a sequence into @to. False, after the reason, if that fails. */
static bool fill(struct reading *r, json_t *to, unsigned depth)
{
	bool is_good = true, is_over = false;
	char *key = NULL;
	yaml_event_t e;

	while (is_good && !is_over) {
		if (!yaml_parser_parse(&r->parser, &e)) {
			fail(r, &r->parser.problem_mark, r->parser.problem);
			break;
		}
		is_over = e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT;
		if (!is_over && json_is_object(to) && !key) {
			key = read_key(r, &e, to);
			is_good = key != NULL;
		} else if (!is_over) {
			is_good = add_value(r, &e, to, key, depth);
			free(key);
			key = NULL;
		}
		yaml_event_delete(&e);
	}
	free(key);
	return is_good && is_over;
}

/* Returns @to with what is in it; NULL, after the reason, if that fails. */
static json_t *read_members(struct reading *r, json_t *to, unsigned depth)
{
	if (to && fill(r, to, depth))
		return to;
	json_decref(to);
	return NULL;
}

static json_t *read_node(struct reading *r, yaml_event_t *e, unsigned depth)
{
	if (depth > MAX_DEPTH)
		return fail(r, &e->start_mark, "too many levels");
	switch (e->type) {
	case YAML_SCALAR_EVENT: return read_scalar(r, e);
	case YAML_MAPPING_START_EVENT: return read_members(r, json_object(), depth);
	case YAML_SEQUENCE_START_EVENT: return read_members(r, json_array(), depth);
	case YAML_ALIAS_EVENT: return fail(r, &e->start_mark, "aliases are not supported");
	default: return fail(r, &e->start_mark, "expected a value");
	}
}

/* Reads the first document and what follows it. */
static json_t *read_document(struct reading *r)
{
	json_t *found = NULL;
	bool is_over = false, has_failed = false;
	yaml_event_t e;

	while (!is_over && !has_failed) {
		if (!yaml_parser_parse(&r->parser, &e)) {
			fail(r, &r->parser.problem_mark, r->parser.problem);
			break;
		}
		is_over = e.type == YAML_STREAM_END_EVENT;
		if (e.type == YAML_DOCUMENT_START_EVENT && found) {
			fail(r, &e.start_mark, "expected one document");
			has_failed = true;
		} else if (e.type != YAML_STREAM_START_EVENT && e.type != YAML_STREAM_END_EVENT &&
		           e.type != YAML_DOCUMENT_START_EVENT &&
		           e.type != YAML_DOCUMENT_END_EVENT) {
			found = read_node(r, &e, 0);
			has_failed = !found;
		}
		yaml_event_delete(&e);
	}
	if (is_over && !has_failed)
		return found ? found : json_object();
	json_decref(found);
	return NULL;
}

json_t *load_yaml(const char *path, struct yaml_places *places, char *why, size_t size)
{
	struct reading r = { .file = path, .places = places, .why = why, .size = size };
	const char *problem;
	FILE *f = open_settings_file(path, &problem);
	json_t *found = NULL;

	if (!f) {
		snprintf(why, size, "%s: %s", path, problem);
		return NULL;
	}
	snprintf(why, size, "%s: out of memory", path);
	if (yaml_parser_initialize(&r.parser)) {
		yaml_parser_set_input_file(&r.parser, f);
		found = read_document(&r);
		yaml_parser_delete(&r.parser);
	}
	fclose(f);
	return found;
}

#else

json_t *load_yaml(const char *path, struct yaml_places *places, char *why, size_t size)
{
	(void)places;
	snprintf(why, size,
	         "%s: this pfm was built without libyaml: the option needs a build with Debian's "
	         "libyaml-dev",
	         path);
	return NULL;
}

#endif
