/* SPDX-License-Identifier: MIT */
/* pfm serve: reads the file of --config. Each job becomes a command line, so that a file and a
 * command line mean the same. docs/schema/serve-config.json describes the file, too. */
#include "config.h"
#include "yaml_file.h"
#include "common/pfm.h"
#include "common/words.h"
#include "serve.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 4400, PATH_SIZE = 1024, MAX_NAME = 64 };

/* Kinds of values: each becomes options in its own way. */
enum value_kind {
	VALUE_NAME,   /* the name of the job */
	VALUE_TEXT,   /* --option=TEXT */
	VALUE_NUMBER, /* --option=NUMBER */
	VALUE_FLAG,   /* true: --option */
	VALUE_SWITCH, /* true: --option; a text or a number: --option=VALUE */
	VALUE_TEXTS,  /* --option=TEXT for each one of a list */
	VALUE_JOINED, /* --option=TEXT,TEXT */
	VALUE_UNIT,   /* cpu: --per-cpu */
	VALUE_BUDGET, /* a mapping of limits */
	VALUE_KUBELET /* a mapping: url, token_file, ca_file */
};

struct config_key {
	const char *name;
	enum value_kind kind;
	const char *option;
};

static const struct config_key keys[] = {
	{ "name", VALUE_NAME, NULL },
	{ "events", VALUE_TEXTS, "event" },
	{ "metrics", VALUE_TEXTS, "metrics" },
	{ "interval_ms", VALUE_NUMBER, "interval" },
	{ "cpus", VALUE_TEXT, "cpu" },
	{ "per", VALUE_UNIT, "per" },
	{ "cgroups", VALUE_JOINED, "for-each-cgroup" },
	{ "containers", VALUE_FLAG, "containers" },
	{ "kubelet", VALUE_KUBELET, "kubelet" },
	{ "listen", VALUE_TEXTS, "listen" },
	{ "allow_hosts", VALUE_JOINED, "allow-host" },
	{ "web_config", VALUE_TEXT, "web-config" },
	{ "textfile", VALUE_TEXT, "textfile" },
	{ "node_names", VALUE_FLAG, "node-names" },
	{ "lines", VALUE_TEXT, "lines" },
	{ "api", VALUE_TEXT, "api" },
	{ "pressure", VALUE_FLAG, "pressure" },
	{ "resctrl", VALUE_FLAG, "resctrl" },
	{ "otlp", VALUE_TEXT, "otlp" },
	{ "full_quality", VALUE_FLAG, "full-quality" },
	{ "max_series", VALUE_NUMBER, "max-series" },
	{ "give_way", VALUE_SWITCH, "give-way" },
	{ "budget", VALUE_BUDGET, "budget" },
	{ "rotate_ms", VALUE_SWITCH, "rotate" },
	{ "wishes", VALUE_TEXTS, "wish" },
	{ "shift", VALUE_FLAG, "shift" },
};

enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

static const char *const limit_keys[] = { "cpu", "files", "counters_free", "interrupts", NULL };
static const char *const kubelet_keys[] = { "url", "token_file", "ca_file", NULL };
static const char *const kubelet_options[] = { "kubelet", "kubelet-token", "kubelet-ca" };

struct config_reading {
	const char *file;
	struct yaml_places places;
	struct serve_config *config;
	bool has_failed;
};

/* ---- messages -------------------------------------------------------------------------------- */

/* Writes "FILE:LINE:COLUMN: KEY" for the value at @path. */
static void describe_place(const struct config_reading *r, const char *path, bool is_key,
                           char text[PLACE_SIZE])
{
	const struct yaml_place *p = find_yaml_place(&r->places, path);
	const char *member = strncmp(path, "/jobs/", 6) == 0 ? strchr(path + 6, '/') : NULL;

	snprintf(text, PLACE_SIZE, "%s:%zu:%zu: %s", r->file,
	         !p       ? 1
	         : is_key ? p->key_line
	                  : p->line,
	         !p       ? 1
	         : is_key ? p->key_column
	                  : p->column,
	         member  ? member + 1
	         : *path ? path + 1
	                 : "the file");
}

/* Writes the path of member @name of the value at @path; that of the whole file if it is longer
 * than any key that is known. */
static void make_path(char at[PATH_SIZE], const char *path, const char *name)
{
	if (snprintf(at, PATH_SIZE, "%s/%s", path, name) >= PATH_SIZE)
		at[0] = '\0';
}

static void make_item_path(char at[PATH_SIZE], const char *path, size_t i)
{
	char number[24];

	snprintf(number, sizeof(number), "%zu", i);
	make_path(at, path, number);
}

static void refuse(struct config_reading *r, const char *path, bool is_key, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void refuse(struct config_reading *r, const char *path, bool is_key, const char *format, ...)
{
	char place[PLACE_SIZE];
	va_list ap;

	describe_place(r, path, is_key, place);
	fprintf(stderr, "pfm serve: %s: ", place);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	r->has_failed = true;
}

static void refuse_key(struct config_reading *r, const char *path, const char *key,
                       const char *const *known)
{
	const int similar = find_closest_word(key, known);

	if (similar >= 0)
		refuse(r, path, true, "the key is not known. Did you mean '%s'?", known[similar]);
	else
		refuse(r, path, true, "the key is not known; pfm(1) lists those that are");
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Returns @list with room for @n texts; without memory @list unchanged, after a message. */
static char **grow_texts(struct config_reading *r, char **list, size_t n)
{
	char **more = realloc(list, n * sizeof(*more));

	if (more)
		return more;
	if (!r->has_failed)
		report_no_memory();
	r->has_failed = true;
	return list;
}

/* Adds "--OPTION", or "--OPTION=VALUE", with the place of the value at @path. */
static void add_argument(struct config_reading *r, struct config_job *job, const char *path,
                         const char *option, const char *value)
{
	const size_t n = (size_t)job->argc + 2;
	const bool had_failed = r->has_failed;
	char place[PLACE_SIZE], *word = NULL;

	r->has_failed = false;
	job->argv = grow_texts(r, job->argv, n);
	job->places = grow_texts(r, job->places, n);
	describe_place(r, path, false, place);
	if (!r->has_failed && asprintf(&word, "%s%s%s%s", job->argc ? "--" : "", option,
	                               value ? "=" : "", value ? value : "") >= 0) {
		job->argv[job->argc] = word;
		job->places[job->argc++] = strdup(place);
		job->argv[job->argc] = job->places[job->argc] = NULL;
	}
	r->has_failed |= had_failed;
}

/* A scalar as text; NULL after a message. */
static const char *get_scalar(struct config_reading *r, const char *path, const json_t *value,
                              char number[32])
{
	if (json_is_string(value) && *json_string_value(value))
		return json_string_value(value);
	if (json_is_integer(value)) {
		snprintf(number, 32, "%lld", (long long)json_integer_value(value));
		return number;
	}
	refuse(r, path, false, "expected a text");
	return NULL;
}

static void add_text(struct config_reading *r, struct config_job *job, const char *path,
                     const char *option, const json_t *value)
{
	char number[32];
	const char *text = get_scalar(r, path, value, number);

	if (text)
		add_argument(r, job, path, option, text);
}

static void add_list(struct config_reading *r, struct config_job *job, const char *path,
                     const struct config_key *key, const json_t *list)
{
	char at[PATH_SIZE], joined[PLACE_SIZE] = "", number[32];
	size_t n = 0;

	if (!json_is_array(list) || !json_array_size(list)) {
		refuse(r, path, false, "expected a list of texts, such as [a, b]");
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *value = json_array_get(list, i);
		const char *text;

		make_item_path(at, path, i);
		if (key->kind == VALUE_TEXTS) {
			add_text(r, job, at, key->option, value);
			continue;
		}
		text = get_scalar(r, at, value, number);
		n += (size_t)snprintf(joined + n, sizeof(joined) - n, "%s%s", i ? "," : "",
		                      text ? text : "");
		if (n >= sizeof(joined)) {
			refuse(r, at, false, "the list is longer than %zu bytes", sizeof(joined));
			return;
		}
	}
	if (key->kind == VALUE_JOINED)
		add_argument(r, job, path, key->option, joined);
}

static void add_flag(struct config_reading *r, struct config_job *job, const char *path,
                     const struct config_key *key, const json_t *value)
{
	if (key->kind == VALUE_SWITCH && !json_is_boolean(value))
		add_text(r, job, path, key->option, value);
	else if (!json_is_boolean(value))
		refuse(r, path, false, "expected true or false");
	else if (json_is_true(value))
		add_argument(r, job, path, key->option, NULL);
}

static void add_unit(struct config_reading *r, struct config_job *job, const char *path,
                     const json_t *value)
{
	static const char *const units[] = { "cpu", "core", "die", "socket", "node", NULL };
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	char option[16];

	for (unsigned i = 0; units[i]; i++)
		if (strcmp(units[i], text) == 0) {
			snprintf(option, sizeof(option), "per-%s", text);
			add_argument(r, job, path, option, NULL);
			return;
		}
	refuse(r, path, false, "expected cpu, core, die, socket or node, got '%s'", text);
}

/* The number of @key in @names; negative after a message. */
static int find_member(struct config_reading *r, const char *path, const char *key,
                       const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], key) == 0)
			return i;
	refuse_key(r, path, key, names);
	return -1;
}

static void add_budget(struct config_reading *r, struct config_job *job, const char *path,
                       json_t *value)
{
	static const char *const names[] = { "cpu", "files", "counters-free", "interrupts" };
	char at[PATH_SIZE], limit[PATH_SIZE], number[32];
	const char *key;
	json_t *item;

	if (!json_is_object(value))
		refuse(r, path, false, "expected a mapping such as {cpu: 0.5%%, files: 2000}");
	json_object_foreach (value, key, item) {
		const char *text;
		int i;

		make_path(at, path, key);
		i = find_member(r, at, key, limit_keys);
		text = i >= 0 ? get_scalar(r, at, item, number) : NULL;
		if (!text)
			continue;
		snprintf(limit, sizeof(limit), "%s=%s", names[i], text);
		add_argument(r, job, at, "budget", limit);
	}
}

static void add_kubelet(struct config_reading *r, struct config_job *job, const char *path,
                        json_t *value)
{
	char at[PATH_SIZE];
	const char *key;
	json_t *item;

	if (!json_is_object(value))
		refuse(r, path, false, "expected a mapping such as {url: https://127.0.0.1:10250}");
	json_object_foreach (value, key, item) {
		int i;

		make_path(at, path, key);
		i = find_member(r, at, key, kubelet_keys);
		if (i >= 0)
			add_text(r, job, at, kubelet_options[i], item);
	}
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Appends @text up to "${", or all of it; then the value of the variable. Returns what follows;
 * NULL at the end, or after a message. */
static const char *expand_piece(struct config_reading *r, const char *path, const char *text,
                                FILE *out)
{
	const char *at = strstr(text, "${"), *end = at ? strchr(at, '}') : NULL, *value;
	char name[128];

	if (!at) {
		fputs(text, out);
		return NULL;
	}
	fprintf(out, "%.*s", (int)(at - text), text);
	snprintf(name, sizeof(name), "%.*s", end ? (int)(end - at) - 2 : 0, at + 2);
	value = *name ? getenv(name) : NULL;
	if (value) {
		fputs(value, out);
		return end + 1;
	}
	if (*name)
		refuse(r, path, false, "the variable %s of the environment is not set", name);
	else
		refuse(r, path, false, "expected ${NAME}, got '%s'", at);
	return NULL;
}

/* Replaces ${NAME} in the text @value by a variable of the environment. */
static void expand_text(struct config_reading *r, const char *path, json_t *value)
{
	const char *text = json_string_value(value);
	char *expanded = NULL;
	size_t size = 0;
	FILE *out = strstr(text, "${") ? open_memstream(&expanded, &size) : NULL;

	while (out && text)
		text = expand_piece(r, path, text, out);
	if (out && fclose(out) == 0)
		json_string_set(value, expanded);
	free(expanded);
}

static void expand_variables(struct config_reading *r, const char *path, json_t *value)
{
	char at[PATH_SIZE];
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		expand_text(r, path, value);
	json_object_foreach (value, key, member) {
		make_path(at, path, key);
		expand_variables(r, at, member);
	}
	json_array_foreach (value, i, member) {
		make_item_path(at, path, i);
		expand_variables(r, at, member);
	}
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool is_job_name(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || strchr("_-.", text[n] ? text[n] : '/'))
		n++;
	return n && n <= MAX_NAME && !text[n];
}

static void set_name(struct config_reading *r, struct config_job *job, const char *path,
                     const json_t *value)
{
	char number[32];
	const char *text = get_scalar(r, path, value, number);

	if (!text)
		return;
	if (!is_job_name(text)) {
		refuse(r, path, false,
		       "expected 1 to %d letters, digits, '_', '-' and '.', got '%s'", MAX_NAME,
		       text);
		return;
	}
	for (unsigned i = 0; i < r->config->n; i++)
		if (r->config->jobs[i].name && strcmp(r->config->jobs[i].name, text) == 0)
			refuse(r, path, false, "another job has the name '%s': choose a new one",
			       text);
	job->name = strdup(text);
}

static void add_member(struct config_reading *r, struct config_job *job, const char *path,
                       const struct config_key *key, json_t *value)
{
	switch (key->kind) {
	case VALUE_NAME: set_name(r, job, path, value); break;
	case VALUE_TEXT: add_text(r, job, path, key->option, value); break;
	case VALUE_NUMBER:
		if (json_is_integer(value))
			add_text(r, job, path, key->option, value);
		else
			refuse(r, path, false, "expected a whole number");
		break;
	case VALUE_FLAG:
	case VALUE_SWITCH: add_flag(r, job, path, key, value); break;
	case VALUE_TEXTS:
	case VALUE_JOINED: add_list(r, job, path, key, value); break;
	case VALUE_UNIT: add_unit(r, job, path, value); break;
	case VALUE_BUDGET: add_budget(r, job, path, value); break;
	case VALUE_KUBELET: add_kubelet(r, job, path, value); break;
	}
}

static void read_member(struct config_reading *r, struct config_job *job, const char *path,
                        const char *name, json_t *value)
{
	const char *names[N_KEYS + 1] = { NULL };
	char at[PATH_SIZE];

	make_path(at, path, name);
	for (unsigned i = 0; i < N_KEYS; i++) {
		names[i] = keys[i].name;
		if (strcmp(keys[i].name, name) == 0) {
			add_member(r, job, at, &keys[i], value);
			return;
		}
	}
	refuse_key(r, at, name, names);
}

/* True if an argument of the job begins with @start. */
static bool has_argument(const struct config_job *job, const char *start)
{
	for (int i = 1; i < job->argc; i++)
		if (strncmp(job->argv[i], start, strlen(start)) == 0)
			return true;
	return false;
}

static void read_job(struct config_reading *r, const char *path, json_t *value)
{
	struct config_job *job = &r->config->jobs[r->config->n];
	const char *name;
	json_t *member;

	*job = (struct config_job){ 0 };
	/* Argument 0 is the place of the whole job. */
	add_argument(r, job, path, "serve", NULL);
	if (!json_is_object(value))
		refuse(r, path, false, "expected a job, a mapping with the member 'name'");
	json_object_foreach (value, name, member)
		read_member(r, job, path, name, member);
	if (json_is_object(value) && !json_object_get(value, "name"))
		refuse(r, path, false, "expected the member 'name'");
	if (!has_argument(job, "--listen=") && !has_argument(job, "--textfile=") &&
	    !has_argument(job, "--lines=") && !has_argument(job, "--api=") &&
	    !has_argument(job, "--otlp="))
		add_argument(r, job, path, "listen", SERVE_USUAL_ADDRESS);
	r->config->n++;
}

/* Refuses outputs that two jobs share. Port 0 is a new port each time. */
static void refuse_shared_outputs(struct config_reading *r, const struct config_job *a,
                                  const struct config_job *b)
{
	for (int i = 1; i < a->argc; i++)
		for (int k = 1; k < b->argc; k++) {
			const char *word = a->argv[i];
			const bool is_output = strncmp(word, "--listen=", 9) == 0 ||
			                       strncmp(word, "--textfile=", 11) == 0 ||
			                       strncmp(word, "--lines=", 8) == 0 ||
			                       strncmp(word, "--api=", 6) == 0;

			if (!is_output || strcmp(word, b->argv[k]) != 0 ||
			    strcmp(word + strlen(word) - 2, ":0") == 0)
				continue;
			fprintf(stderr,
			        "pfm serve: %s: job '%s' has '%s' already: each job needs outputs "
			        "of its own\n",
			        b->places[k], a->name ? a->name : "", strchr(word, '=') + 1);
			r->has_failed = true;
		}
}

static void read_jobs(struct config_reading *r, json_t *list)
{
	const size_t n = json_array_size(list);
	char path[PATH_SIZE];

	if (!json_is_array(list) || !n) {
		refuse(r, "/jobs", false, "expected a list of jobs");
		return;
	}
	r->config->jobs = calloc(n, sizeof(*r->config->jobs));
	if (!r->config->jobs) {
		report_no_memory();
		r->has_failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		make_item_path(path, "/jobs", i);
		read_job(r, path, json_array_get(list, i));
	}
	for (unsigned i = 0; i < r->config->n; i++)
		for (unsigned k = i + 1; k < r->config->n; k++)
			refuse_shared_outputs(r, &r->config->jobs[i], &r->config->jobs[k]);
}

static void read_config(struct config_reading *r, json_t *file)
{
	static const char *const known[] = { "jobs", NULL };
	char at[PATH_SIZE];
	const char *key;
	json_t *value;

	if (!json_is_object(file) || !json_object_get(file, "jobs"))
		refuse(r, "", false, "expected a mapping with the member 'jobs'");
	json_object_foreach (file, key, value) {
		make_path(at, "", key);
		if (strcmp(key, "jobs") == 0)
			read_jobs(r, value);
		else
			refuse_key(r, at, key, known);
	}
	for (unsigned i = 0; i < r->config->n && !r->has_failed; i++)
		r->has_failed = check_config_job(&r->config->jobs[i]) != EXIT_DONE;
}

struct serve_config *load_serve_config(const char *path)
{
	char why[PLACE_SIZE + 256];
	struct config_reading r = { .file = path, .config = calloc(1, sizeof(*r.config)) };
	json_t *file = load_yaml(path, &r.places, why, sizeof(why));

	if (!file)
		fprintf(stderr, "pfm serve: %s\n", why);
	if (file && r.config) {
		r.config->path = path;
		expand_variables(&r, "", file);
		read_config(&r, file);
	}
	r.has_failed |= !file;
	json_decref(file);
	free_yaml_places(&r.places);
	if (!r.has_failed)
		return r.config;
	free_serve_config(r.config);
	return NULL;
}

static void free_job(struct config_job *job)
{
	free(job->name);
	while (job->argc) {
		free(job->argv[--job->argc]);
		free(job->places[job->argc]);
	}
	free(job->argv);
	free(job->places);
}

void free_serve_config(struct serve_config *c)
{
	while (c && c->n)
		free_job(&c->jobs[--c->n]);
	if (c)
		free(c->jobs);
	free(c);
}
