/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints by name: the kernel describes, in a text for each, where they lie in a sample's own bytes. Of a session that is
 * open that text is read from tracefs; a recording has those of its machine in it. */
#include <byteswap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"
#include "base/sizes.h"

#define FIELDS_MAX 256u

/* The fields of one count, and the text that their names and types are parts of. */
struct trace {
	struct trace *next;
	unsigned count, n;
	char *strings;
	pfm_trace_field_t fields[FIELDS_MAX];
};

/* ---- the text of a format ----------------------------------------------------------------------------------------------- */

static bool in_name(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Adds @len bytes at @s and an end to the strings. */
static const char *keep(char **to, const char *s, size_t len)
{
	char *at = *to;

	memcpy(at, s, len);
	at[len] = '\0';
	*to += len + 1;
	return at;
}

/* @word off the start of *@s, if it is there. */
static bool starts(const char **s, const char *word)
{
	bool yes = strncmp(*s, word, strlen(word)) == 0;

	*s += yes ? strlen(word) : 0;
	return yes;
}

/* "__data_loc char[] name" or "unsigned char name[16]", of @len bytes: its type ("char"), its name and how it lies. False if it has no
 * name. */
static bool read_declaration(const char *s, size_t len, pfm_trace_field_t *f, char **strings)
{
	const char *end = s + len, *name;

	if (starts(&s, "__data_loc "))
		f->flags |= PFM_TRACE_DYNAMIC;
	else if (starts(&s, "__rel_loc "))
		f->flags |= PFM_TRACE_DYNAMIC | PFM_TRACE_RELATIVE;
	if (end > s && end[-1] == ']') {
		f->flags |= PFM_TRACE_ARRAY;
		while (end > s && *end != '[')
			end--;
	}
	for (name = end; name > s && in_name(name[-1]); name--)
		;
	if (name == end)
		return false;
	f->name = keep(strings, name, (size_t)(end - name));
	while (name > s && strchr(" []", name[-1]))
		name--;
	f->type = keep(strings, s, (size_t)(name - s));
	return true;
}

/* A line like "	field:unsigned int fd;	offset:16;	size:8;	signed:0;". */
static bool read_field(const char *line, pfm_trace_field_t *f, char **strings)
{
	const char *declaration = strstr(line, "field:"), *end = declaration ? strstr(declaration, ";\toffset:") : NULL;
	unsigned is_signed = 0;

	*f = (pfm_trace_field_t){ .size = sizeof(*f) };
	if (!end || sscanf(end, ";\toffset:%u;\tsize:%u;\tsigned:%u", &f->offset, &f->length, &is_signed) < 2)
		return false;
	declaration += strlen("field:");
	f->flags = is_signed ? PFM_TRACE_SIGNED : 0;
	return read_declaration(declaration, (size_t)(end - declaration), f, strings);
}

/* Takes @text, which ends with a zero and is cut into lines. */
static struct trace *read_format(char *text)
{
	struct trace *t = calloc(1, sizeof(*t));
	char *strings;

	if (t)
		t->strings = malloc(2 * strlen(text) + 2);
	if (!t || !t->strings) {
		free(t);
		return NULL;
	}
	strings = t->strings;
	for (char *line = text, *end; line && t->n < FIELDS_MAX; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		t->n += read_field(line, &t->fields[t->n], &strings);
	}
	return t;
}

/* ---- the texts of a recording -------------------------------------------------------------------------------------------- */

struct walk {
	const uint8_t *at, *end;
	bool foreign, bad;
};

static const uint8_t *pass(struct walk *w, uint64_t n)
{
	const uint8_t *at = w->at;

	w->bad |= n > (uint64_t)(w->end - w->at);
	w->at = w->bad ? w->end : w->at + n;
	return w->bad ? NULL : at;
}

static uint64_t pass_number(struct walk *w, unsigned bytes)
{
	const uint8_t *at = pass(w, bytes);
	uint32_t narrow = 0;
	uint64_t wide = 0;

	if (!at)
		return 0;
	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return w->foreign ? bswap_32(narrow) : narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return w->foreign ? bswap_64(wide) : wide;
}

/* Over a string, its zero included. */
static void pass_string(struct walk *w)
{
	const uint8_t *zero = memchr(w->at, 0, (size_t)(w->end - w->at));

	pass(w, zero ? (uint64_t)(zero - w->at) + 1 : UINT64_MAX);
}

/* A text with its size before it; a copy if it is the format of tracepoint @config, else NULL. */
static char *pass_text(struct walk *w, uint64_t config, bool wanted)
{
	uint64_t len = pass_number(w, 8);
	const uint8_t *text = pass(w, len);
	char *copy = wanted && text ? malloc((size_t)len + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, (size_t)len);
	copy[len] = '\0';
	if (pfmi_data_is_format(copy, config))
		return copy;
	free(copy);
	return NULL;
}

/* Magic, version, byte order, size of a long, size of a page; the formats of the ring's page, of events, of ftrace's own; then the
 * systems. */
static char *find_in_recording(const struct pfm_session *s, uint64_t config)
{
	struct walk w = { .foreign = false };
	char *found = NULL;
	size_t len;

	w.at = pfmi_data_tracing(s, &len, &w.foreign);
	w.end = w.at ? w.at + len : NULL;
	if (!w.at)
		return NULL;
	pass(&w, 10);
	pass_string(&w);
	pass(&w, 6);
	for (unsigned i = 0; i < 2; i++) {
		pass_string(&w);
		pass_text(&w, 0, false);
	}
	for (uint64_t n = pass_number(&w, 4); n && !w.bad; n--)
		pass_text(&w, 0, false);
	for (uint64_t systems = pass_number(&w, 4); systems && !w.bad && !found; systems--) {
		pass_string(&w);
		for (uint64_t n = pass_number(&w, 4); n && !w.bad && !found; n--)
			found = pass_text(&w, config, true);
	}
	return found;
}

/* ---- asked -------------------------------------------------------------------------------------------------------------- */

static struct trace *load(const struct pfm_session *s, unsigned i)
{
	const pfm_attr_t *a = &s->counts[i].config.attr;
	char *text = NULL;
	struct trace *t;

	if (a->type == PERF_TYPE_TRACEPOINT)
		text = s->recording ? find_in_recording(s, a->config) : pfmi_data_format(s, i);
	t = text ? read_format(text) : NULL;
	free(text);
	return t;
}

static const struct trace *trace_of(pfm_session_t *s, unsigned i)
{
	struct trace *t;

	if (!s || !s->sampling || i >= s->n_counts)
		return NULL;
	for (t = s->sampling->traces; t; t = t->next)
		if (t->count == i)
			return t;
	t = load(s, i);
	if (!t)
		return NULL;
	t->count = i;
	t->next = s->sampling->traces;
	return s->sampling->traces = t;
}

void pfmi_data_free_fields(struct sampling *sm)
{
	for (struct trace *t = sm->traces, *next; t; t = next) {
		next = t->next;
		free(t->strings);
		free(t);
	}
	sm->traces = NULL;
}

int pfm_describe_trace_field(pfm_session_t *s, unsigned i, unsigned k, pfm_trace_field_t *out)
{
	const struct trace *t = pfmi_sized(out) ? trace_of(s, i) : NULL;

	if (!s || !s->sampling || i >= s->n_counts || !pfmi_sized(out))
		return PFMLIB_ERR_INVAL;
	if (!t)
		return PFMLIB_ERR_NOTSUPP;
	if (k >= t->n)
		return PFMLIB_ERR_NOTFOUND;
	pfmi_give(out, &t->fields[k], sizeof(t->fields[k]));
	return PFMLIB_SUCCESS;
}

int pfm_find_trace_field(pfm_session_t *s, unsigned i, const char *name, pfm_trace_field_t *out)
{
	pfm_trace_field_t f = PFM_INIT(f);
	int rc = name ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;

	if (!pfmi_sized(out))
		return PFMLIB_ERR_INVAL;
	for (unsigned k = 0; !rc; k++) {
		rc = pfm_describe_trace_field(s, i, k, &f);
		if (!rc && strcmp(f.name, name) == 0) {
			pfmi_give(out, &f, sizeof(f));
			break;
		}
	}
	return rc;
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

/* A number of 1, 2, 4 or 8 bytes; 0 for others. */
static uint64_t number_at(const uint8_t *at, uint32_t length, bool foreign, bool is_signed)
{
	uint64_t v = 0;
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != foreign;

	if (length > sizeof(v) || (length & (length - 1)))
		return 0;
	for (uint32_t k = 0; k < length; k++)
		v = v << 8 | at[big ? k : length - 1 - k];
	if (is_signed && length && length < sizeof(v) && v >> (8 * length - 1))
		v |= ~(uint64_t)0 << 8 * length;
	return v;
}

/* Where the bytes of a field are, if it lies inside of the sample's. */
static const uint8_t *place_of(const pfm_sample_t *sample, const pfm_trace_field_t *f, bool foreign, uint32_t *length)
{
	const uint8_t *raw = sample->raw;
	uint64_t at = f->offset;

	*length = f->length;
	if (at + *length > sample->raw_size)
		return NULL;
	if (f->flags & PFM_TRACE_DYNAMIC) { /* where it is, and its length in the upper half */
		uint64_t where = number_at(raw + at, *length, foreign, false);

		at = (where & 0xffff) + (f->flags & PFM_TRACE_RELATIVE ? at + *length : 0);
		*length = (uint32_t)(where >> 16 & 0xffff);
	}
	return at + *length <= sample->raw_size ? raw + at : NULL;
}

int pfm_read_trace_field(const pfm_session_t *s, const pfm_record_t *r, const pfm_trace_field_t *field, uint64_t *value, const void **bytes,
                         uint32_t *length)
{
	pfm_trace_field_t f;
	const uint8_t *at;
	uint32_t len;
	bool foreign = s && s->recording && pfmi_data_foreign(s);

	if (!s || !r || !field || !pfmi_take(&f, sizeof(f), field) || r->type != PFM_RECORD_SAMPLE)
		return PFMLIB_ERR_INVAL;
	at = r->sample.raw ? place_of(&r->sample, &f, foreign, &len) : NULL;
	if (!at)
		return PFMLIB_ERR_NOTFOUND;
	if (value)
		*value = f.flags & (PFM_TRACE_ARRAY | PFM_TRACE_DYNAMIC) ? 0 : number_at(at, len, foreign, f.flags & PFM_TRACE_SIGNED);
	if (bytes)
		*bytes = at;
	if (length)
		*length = len;
	return PFMLIB_SUCCESS;
}
