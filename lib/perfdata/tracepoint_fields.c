/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints by name. A text of the kernel for each tracepoint describes where its
 * fields are in a sample's raw bytes. An open session reads the text from tracefs; a recording
 * contains the texts of its machine. */
#include <byteswap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"
#include "base/sizes.h"
#include "base/trace_line.h"

#define MAX_TRACE_FIELDS 256u

/* The fields of one count, and the text that contains their names and types. */
struct trace_format {
	struct trace_format *next;
	unsigned count_index, n_fields;
	char *strings;
	pfm_trace_field_t fields[MAX_TRACE_FIELDS];
};

/* ---- the text of a format ------------------------------------------------------------------ */

/* Appends the slice and a null byte to the strings. */
static const char *copy_string(char **to, struct slice s)
{
	char *at = *to;

	memcpy(at, s.text, s.len);
	at[s.len] = '\0';
	*to += s.len + 1;
	return at;
}

/* Removes @word from the start of *@s, if it is there. */
static bool skip_word(struct slice *s, const char *word)
{
	uint32_t len = (uint32_t)strlen(word);
	bool is_there = s->len >= len && memcmp(s->text, word, len) == 0;

	s->text += is_there ? len : 0;
	s->len -= is_there ? len : 0;
	return is_there;
}

/* Parses a line of a format: "__data_loc char[] name" has the type "char" and is dynamic. */
static bool parse_format_field(const char *line, pfm_trace_field_t *f, char **strings)
{
	struct trace_line l;

	*f = (pfm_trace_field_t){ .size = sizeof(*f) };
	if (!base_parse_trace_line(line, &l))
		return false;
	f->offset = l.offset;
	f->length = l.size;
	f->flags = l.is_signed ? PFM_TRACE_SIGNED : 0;
	f->flags |= l.array.len ? PFM_TRACE_ARRAY : 0;
	if (skip_word(&l.type, "__data_loc "))
		f->flags |= PFM_TRACE_DYNAMIC;
	else if (skip_word(&l.type, "__rel_loc "))
		f->flags |= PFM_TRACE_DYNAMIC | PFM_TRACE_RELATIVE;
	while (l.type.len && strchr(" []", l.type.text[l.type.len - 1]))
		l.type.len--;
	f->name = copy_string(strings, l.name);
	f->type = copy_string(strings, l.type);
	return true;
}

/* Parses the terminated @text, which it splits into lines. */
static struct trace_format *parse_trace_format(char *text)
{
	struct trace_format *t = calloc(1, sizeof(*t));
	char *strings;

	if (t)
		t->strings = malloc(2 * strlen(text) + 2);
	if (!t || !t->strings) {
		free(t);
		return NULL;
	}
	strings = t->strings;
	for (char *line = text, *end; line && t->n_fields < MAX_TRACE_FIELDS;
	     line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		t->n_fields += parse_format_field(line, &t->fields[t->n_fields], &strings);
	}
	return t;
}

/* ---- the texts of a recording -------------------------------------------------------------- */

struct tracing_cursor {
	const uint8_t *pos, *end;
	bool is_foreign, is_bad;
};

static const uint8_t *skip_bytes(struct tracing_cursor *w, uint64_t n)
{
	const uint8_t *at = w->pos;

	w->is_bad |= n > (uint64_t)(w->end - w->pos);
	w->pos = w->is_bad ? w->end : w->pos + n;
	return w->is_bad ? NULL : at;
}

static uint64_t read_number(struct tracing_cursor *w, unsigned bytes)
{
	const uint8_t *at = skip_bytes(w, bytes);
	uint32_t narrow = 0;
	uint64_t wide = 0;

	if (!at)
		return 0;
	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return w->is_foreign ? bswap_32(narrow) : narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return w->is_foreign ? bswap_64(wide) : wide;
}

/* Advances past a string and its null byte. */
static void skip_string(struct tracing_cursor *w)
{
	const uint8_t *zero = memchr(w->pos, 0, (size_t)(w->end - w->pos));

	skip_bytes(w, zero ? (uint64_t)(zero - w->pos) + 1 : UINT64_MAX);
}

/* Reads a text after its size. Returns a copy if it is the format of tracepoint @config, else
 * NULL. */
static char *read_format_text(struct tracing_cursor *w, uint64_t config, bool wanted)
{
	uint64_t len = read_number(w, 8);
	const uint8_t *text = skip_bytes(w, len);
	char *copy = wanted && text ? malloc((size_t)len + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, (size_t)len);
	copy[len] = '\0';
	if (pfmi_perfdata_has_tracepoint_id(copy, config))
		return copy;
	free(copy);
	return NULL;
}

/* Searches the recorded formats. They consist of a magic number, version, byte order, size of a
 * long, size of a page; the formats of the ring's page, of events, of ftrace's own; then the
 * systems. */
static char *find_recorded_format(const struct pfm_session *s, uint64_t config)
{
	struct tracing_cursor w = { .is_foreign = false };
	char *found = NULL;
	size_t len;

	w.pos = pfmi_perfdata_get_tracing_data(s, &len, &w.is_foreign);
	w.end = w.pos ? w.pos + len : NULL;
	if (!w.pos)
		return NULL;
	skip_bytes(&w, 10);
	skip_string(&w);
	skip_bytes(&w, 6);
	for (unsigned i = 0; i < 2; i++) {
		skip_string(&w);
		read_format_text(&w, 0, false);
	}
	for (uint64_t n = read_number(&w, 4); n && !w.is_bad; n--)
		read_format_text(&w, 0, false);
	for (uint64_t systems = read_number(&w, 4); systems && !w.is_bad && !found; systems--) {
		skip_string(&w);
		for (uint64_t n = read_number(&w, 4); n && !w.is_bad && !found; n--)
			found = read_format_text(&w, config, true);
	}
	return found;
}

/* ---- formats of a session's tracepoints ------------------------------------------------------ */

static struct trace_format *load_trace_format(const struct pfm_session *s, unsigned i)
{
	const perfmon_attr_t *a = &s->counts[i].config.attr;
	char *text = NULL;
	struct trace_format *t;

	if (a->type == PERF_TYPE_TRACEPOINT)
		text = s->recording ? find_recorded_format(s, a->config)
		                    : pfmi_perfdata_read_trace_format(s, i);
	t = text ? parse_trace_format(text) : NULL;
	free(text);
	return t;
}

static void free_trace_formats(struct sampling_state *sm)
{
	for (struct trace_format *t = sm->trace_formats, *next; t; t = next) {
		next = t->next;
		free(t->strings);
		free(t);
	}
	sm->trace_formats = NULL;
}

static const struct trace_format *get_trace_format(pfm_session_t *s, unsigned i)
{
	struct trace_format *t;

	if (!s || !s->sampling || i >= s->n_counts)
		return NULL;
	for (t = s->sampling->trace_formats; t; t = t->next)
		if (t->count_index == i)
			return t;
	t = load_trace_format(s, i);
	if (!t)
		return NULL;
	t->count_index = i;
	t->next = s->sampling->trace_formats;
	s->sampling->free_trace_formats = free_trace_formats;
	return s->sampling->trace_formats = t;
}

int pfm_describe_trace_field(pfm_session_t *s, unsigned i, unsigned k, pfm_trace_field_t *out)
{
	const struct trace_format *t = base_has_struct_size(out) ? get_trace_format(s, i) : NULL;

	if (!s || !s->sampling || i >= s->n_counts || !base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	if (!t)
		return PFMLIB_ERR_NOTSUPP;
	if (k >= t->n_fields)
		return PFMLIB_ERR_NOTFOUND;
	base_copy_struct_out(out, &t->fields[k], sizeof(t->fields[k]));
	return PFMLIB_SUCCESS;
}

int pfm_find_trace_field(pfm_session_t *s, unsigned i, const char *name, pfm_trace_field_t *out)
{
	pfm_trace_field_t f = PFM_INIT(f);
	int rc = name ? PFMLIB_SUCCESS : PFMLIB_ERR_INVAL;

	if (!base_has_struct_size(out))
		return PFMLIB_ERR_INVAL;
	for (unsigned k = 0; !rc; k++) {
		rc = pfm_describe_trace_field(s, i, k, &f);
		if (!rc && strcmp(f.name, name) == 0) {
			base_copy_struct_out(out, &f, sizeof(f));
			break;
		}
	}
	return rc;
}

/* ---- values -------------------------------------------------------------------------------- */

/* Decodes a number of 1, 2, 4 or 8 bytes; 0 for other lengths. */
static uint64_t decode_number(const uint8_t *at, uint32_t length, bool foreign, bool is_signed)
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

/* The bytes of a field, or NULL if it is outside of the sample's bytes. */
static const uint8_t *locate_field_bytes(const pfm_sample_t *sample, const pfm_trace_field_t *f,
                                         bool foreign, uint32_t *length)
{
	const uint8_t *raw = sample->raw;
	uint64_t at = f->offset;

	*length = f->length;
	if (at + *length > sample->raw_size)
		return NULL;
	if (f->flags & PFM_TRACE_DYNAMIC) { /* its offset, with its length in the upper half */
		uint64_t where = decode_number(raw + at, *length, foreign, false);

		at = (where & 0xffff) + (f->flags & PFM_TRACE_RELATIVE ? at + *length : 0);
		*length = (uint32_t)(where >> 16 & 0xffff);
	}
	return at + *length <= sample->raw_size ? raw + at : NULL;
}

int pfm_read_trace_field(const pfm_session_t *s, const pfm_record_t *r,
                         const pfm_trace_field_t *field, uint64_t *value, const void **bytes,
                         uint32_t *length)
{
	pfm_trace_field_t f;
	const uint8_t *at;
	uint32_t len;
	bool foreign = s && s->recording && pfmi_perfdata_is_foreign_endian(s);

	if (!s || !r || !field || !base_copy_struct_in(&f, sizeof(f), field) ||
	    r->type != PFM_RECORD_SAMPLE)
		return PFMLIB_ERR_INVAL;
	at = r->body.sample.raw ? locate_field_bytes(&r->body.sample, &f, foreign, &len) : NULL;
	if (!at)
		return PFMLIB_ERR_NOTFOUND;
	if (value)
		*value = f.flags & (PFM_TRACE_ARRAY | PFM_TRACE_DYNAMIC)
		                 ? 0
		                 : decode_number(at, len, foreign, f.flags & PFM_TRACE_SIGNED);
	if (bytes)
		*bytes = at;
	if (length)
		*length = len;
	return PFMLIB_SUCCESS;
}
