/* SPDX-License-Identifier: MIT */
/* Sends recordings: to OTLP receivers with attributes of the machine, to Pyroscope and Parca with
 * labels. Receivers look up names by build ids, except those of the kernel. */
#include "record/push.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/http_url.h"
#include "common/otlp_resource.h"
#include "common/json.h"
#include "stat/stat.h"
#include "export/export.h"

enum { PATH_SIZE = 4096, QUERY_SIZE = 8192, STORE_NAME_SIZE = MAX_LABEL_NAME + 2 };

enum receiver { RECEIVER_OTLP, RECEIVER_PYROSCOPE, RECEIVER_PARCA };

/* True if the path of @url ends in @end. */
static bool has_path(const char *url, const char *end)
{
	const size_t len = strcspn(url, "?"), end_len = strlen(end);

	return len >= end_len && strncmp(url + len - end_len, end, end_len) == 0;
}

static enum receiver choose_receiver(const char *url)
{
	return has_path(url, "/ingest")     ? RECEIVER_PYROSCOPE
	       : has_path(url, "/writeraw") ? RECEIVER_PARCA
	                                    : RECEIVER_OTLP;
}

/* The attributes of the machine, those of the environment, and the labels. */
static bool make_attributes(struct otlp_resource *r, const struct pushed_profile *p)
{
	bool is_good = make_otlp_resource(r, "agent");

	for (const struct label *l = p->labels; is_good && l && l->name; l++)
		is_good = add_otlp_attribute(r, l->name, l->value);
	return is_good;
}

/* ---- Pyroscope ------------------------------------------------------------------------------- */

/* Appends @text, escaped for a query. */
static void add_escaped(char query[QUERY_SIZE], const char *text)
{
	size_t n = strlen(query);

	for (; *text && n + 4 < QUERY_SIZE; text++)
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~",
		           *text))
			query[n++] = *text;
		else
			n += (size_t)snprintf(query + n, QUERY_SIZE - n, "%%%02X",
			                      (unsigned char)*text);
	query[n] = '\0';
}

/* Labels of a store, with names that Prometheus permits. */
struct store_labels {
	struct store_label {
		char name[STORE_NAME_SIZE];
		const char *value;
	} list[MAX_ATTRIBUTES + 1];
	unsigned n;
};

/* Writes letters, digits and '_' as they are, other characters as '_', and '_' before a digit at
 * the start. */
static void make_label_name(const char *name, char text[STORE_NAME_SIZE])
{
	snprintf(text, STORE_NAME_SIZE, "%s%s", *name >= '0' && *name <= '9' ? "_" : "", name);
	for (char *c = text; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
			*c = '_';
}

/* Adds a label, or replaces the one of this name: Parca refuses a name that comes twice. */
static void set_label(struct store_labels *s, const char *name, const char *value)
{
	char text[STORE_NAME_SIZE];
	unsigned i = 0;

	make_label_name(name, text);
	while (i < s->n && strcmp(s->list[i].name, text) != 0)
		i++;
	if (i > MAX_ATTRIBUTES)
		return;
	memcpy(s->list[i].name, text, sizeof(text));
	s->list[i].value = value;
	s->n += i == s->n;
}

/* The labels that both kinds of stores get. */
static void list_labels(const struct otlp_resource *r, const struct pushed_profile *p,
                        struct store_labels *s)
{
	static const char *const kept[] = { "host.name", "service.instance.id", "k8s.node.name" };

	s->n = 0;
	for (unsigned i = 0; i < r->n; i++)
		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			if (strcmp(r->at[i].name, kept[k]) == 0)
				set_label(s, r->at[i].name, r->at[i].value);
	for (const struct label *l = p->labels; l && l->name; l++)
		set_label(s, l->name, l->value);
}

/* Appends a value. Pyroscope's names have no way to write ',' and '}' in a value. */
static void add_label_value(char query[QUERY_SIZE], const char *value)
{
	char text[2] = "";

	for (; *value; value++) {
		text[0] = *value == ',' || *value == '}' ? '_' : *value;
		add_escaped(query, text);
	}
}

/* Adds the parameters of /ingest to the URL: name{label=value,...}, format and times. False if the
 * labels are too long. */
static bool make_ingest_url(const struct pushed_profile *p, const struct otlp_resource *r,
                            char url[HTTP_URL_SIZE + QUERY_SIZE + 128])
{
	struct store_labels labels;
	char query[QUERY_SIZE] = "";

	list_labels(r, p, &labels);
	add_escaped(query, "perfmon{");
	for (unsigned i = 0; i < labels.n; i++) {
		add_escaped(query, i ? "," : "");
		add_escaped(query, labels.list[i].name);
		add_escaped(query, "=");
		add_label_value(query, labels.list[i].value);
	}
	add_escaped(query, "}");
	snprintf(url, HTTP_URL_SIZE + QUERY_SIZE + 128,
	         "%s%cname=%s&format=pprof&from=%llu&until=%llu", p->url,
	         strchr(p->url, '?') ? '&' : '?', query, (unsigned long long)p->from,
	         (unsigned long long)p->until);
	return strcmp(query + strlen(query) - strlen("%7D"), "%7D") == 0;
}

/* ---- Parca ----------------------------------------------------------------------------------- */

/* Writes @n bytes in base64 (RFC 4648). */
static void put_base64(FILE *out, const unsigned char *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const unsigned word = (unsigned)bytes[i] << 16 |
		                      (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
		                      (i + 2 < n ? bytes[i + 2] : 0);

		putc(digits[word >> 18], out);
		putc(digits[word >> 12 & 63], out);
		putc(i + 1 < n ? digits[word >> 6 & 63] : '=', out);
		putc(i + 2 < n ? digits[word & 63] : '=', out);
	}
}

static void put_parca_label(struct json *j, const char *name, const char *value)
{
	put_begin(j, NULL, '{');
	put_text(j, "name", name);
	put_text(j, "value", value);
	put_end(j, '}');
}

/* Replaces the pprof file @body by a request of WriteRaw in JSON. */
static bool make_parca_request(const struct pushed_profile *p, const struct otlp_resource *r,
                               const char *body)
{
	struct store_labels labels;
	struct json j = { 0 };
	FILE *in = fopen(body, "re");
	char *bytes = NULL;
	size_t size = 0, got;
	FILE *whole = open_memstream(&bytes, &size);
	char piece[65536];
	bool is_good = in && whole;

	while (is_good && (got = fread(piece, 1, sizeof(piece), in)) > 0)
		is_good = fwrite(piece, 1, got, whole) == got;
	if (in)
		fclose(in);
	if (whole)
		is_good &= fclose(whole) == 0;
	j.out = is_good ? fopen(body, "we") : NULL;
	if (!j.out) {
		free(bytes);
		return false;
	}
	put_begin(&j, NULL, '{');
	put_begin(&j, "series", '[');
	put_begin(&j, NULL, '{');
	put_begin(&j, "labels", '{');
	put_begin(&j, "labels", '[');
	put_parca_label(&j, "__name__", "perfmon");
	list_labels(r, p, &labels);
	for (unsigned i = 0; i < labels.n; i++)
		put_parca_label(&j, labels.list[i].name, labels.list[i].value);
	put_end(&j, ']');
	put_end(&j, '}');
	put_begin(&j, "samples", '[');
	fputs("{\"raw_profile\":\"", j.out);
	put_base64(j.out, (const unsigned char *)bytes, size);
	fputs("\"}]}]}", j.out);
	free(bytes);
	return fclose(j.out) == 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct otlp_signal *get_signal(void)
{
	static struct otlp_signal signal = { .name = "PROFILES",
		                             .path = "/v1development/profiles" };

	signal.program = program_name;
	return &signal;
}

bool is_push_url(const char *text)
{
	return strcmp(text, "env") == 0 || is_http_url(text);
}

const char *find_push_url(const char *url)
{
	static struct otlp_settings settings;

	if (!url || choose_receiver(url) != RECEIVER_OTLP)
		return url;
	return read_otlp_settings(get_signal(), url, &settings) == EXIT_DONE ? settings.url : NULL;
}

/* Converts the recording @path to the file @f, for @receiver. False after a message. */
static bool convert_profile(const struct pushed_profile *p, enum receiver receiver,
                            const struct otlp_resource *resource, const char *path,
                            const struct pushed_file *f)
{
	const struct export_format *format =
		find_export_format(receiver == RECEIVER_OTLP ? "otlp" : "pprof");

	export_attributes = resource->at;
	return format &&
	       export_recording(format, path, f->path, NULL, false, !p->has_names, false) ==
	               EXIT_DONE &&
	       (receiver != RECEIVER_PARCA || make_parca_request(p, resource, f->path));
}

enum push_result push_profile(const struct pushed_profile *p, const char *path, char *why,
                              unsigned size)
{
	static const char *const types[] = { [RECEIVER_OTLP] = "application/x-protobuf",
		                             [RECEIVER_PYROSCOPE] = "application/octet-stream",
		                             [RECEIVER_PARCA] = "application/json" };
	const enum receiver receiver = choose_receiver(p->url);
	char body[PATH_SIZE + 16], url[HTTP_URL_SIZE + QUERY_SIZE + 128];
	struct otlp_settings settings = { .has_gzip = false };
	struct pushed_file f = { .url = url, .path = body, .type = types[receiver] };
	struct otlp_resource resource;
	enum push_result result = PUSH_REFUSED;

	if (receiver == RECEIVER_OTLP) {
		if (read_otlp_settings(get_signal(), p->url, &settings) != EXIT_DONE)
			return PUSH_LATER;
		settings.has_gzip &= export_has_gzip();
		f.settings = &settings;
	}
	snprintf(body, sizeof(body), "%s.%s", path,
	         receiver != RECEIVER_OTLP ? "pb.gz"
	         : settings.has_gzip       ? "push.gz"
	                                   : "push");
	snprintf(url, sizeof(url), "%s", p->url);
	snprintf(why, size, "out of memory");
	if (make_attributes(&resource, p)) {
		*why = '\0';
		if (receiver == RECEIVER_PYROSCOPE && !make_ingest_url(p, &resource, url)) {
			snprintf(why, size, "the labels are too long for a URL: give fewer");
			result = PUSH_LATER;
		} else if (convert_profile(p, receiver, &resource, path, &f)) {
			result = push_file(&f, why, size);
		}
	}
	unlink(body);
	free_otlp_resource(&resource);
	return result;
}
