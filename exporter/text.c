/* SPDX-License-Identifier: MIT */
/* pfm serve: texts. One has two parts: the families of counts, which stay the same until the next
 * reading and are kept for all clients, and the figures of the service itself, which are made for
 * each text. */
#include "http.h"
#include "series/series.h"

#include <stdlib.h>
#include <string.h>

/* Writes the counts, and the sums that the kernel keeps itself. */
void put_counts(struct exposition *x, const struct serve *s)
{
	put_series(x, &s->job);
	put_pressure(x, s);
	put_resctrl(x, s);
}

static void put_first_part(struct exposition *x, const struct serve *s)
{
	x->is_continued = true;
	put_counts(x, s);
}

/* Ends a text, which is known when its file is closed. NULL without memory. */
static char *close_text(const struct exposition *x, char **text)
{
	const bool failed = x->failed || ferror(x->out) != 0;

	if (fclose(x->out) == 0 && !failed)
		return *text;
	free(*text);
	return NULL;
}

/* Makes the first or the last part of an answer. *@n_samples grows by the samples in it. Returns
 * NULL without memory. */
static char *make_exposition_part(struct serve *s, enum exposition_format format, bool is_first,
                                  size_t *n_samples, size_t *size)
{
	struct exposition x = { .format = format, .n_samples = *n_samples };
	char *text = NULL;

	x.out = open_memstream(&text, size);
	if (!x.out)
		return NULL;
	if (is_first)
		put_first_part(&x, s);
	else
		put_self_series(&x, s);
	end_exposition(&x);
	*n_samples = x.n_samples;
	return close_text(&x, &text);
}

/* Joins two texts and frees the second. */
static char *join_texts(const struct kept_text *first, char *last, size_t *size)
{
	char *both = realloc(last, first->size + *size + 1);

	if (!both) {
		free(last);
		return NULL;
	}
	memmove(both + first->size, both, *size);
	memcpy(both, first->bytes, first->size);
	*size += first->size;
	return both;
}

/* Joins the compressed @first with @last, which is not compressed. */
static char *join_gzip(const struct kept_text *first, char *last, size_t *size)
{
	const struct gzip_part before = { first->bytes, first->size, first->crc, first->n_plain };
	struct gzip_part part;
	const bool is_good = compress_part(last, *size, true, &part);
	char *whole = is_good ? finish_gzip(&before, &part, size) : NULL;

	free(last);
	if (is_good)
		free(part.bytes);
	return whole;
}

static bool keep_first_part(struct serve *s, struct kept_text *t, enum exposition_format format,
                            bool is_gzip)
{
	struct gzip_part part;
	char *text;

	if (t->bytes && t->version == s->version)
		return true;
	free(t->bytes);
	*t = (struct kept_text){ .version = s->version };
	text = make_exposition_part(s, format, true, &t->n_samples, &t->n_plain);
	if (!text || !is_gzip) {
		t->bytes = text;
		t->size = t->n_plain;
		return text;
	}
	if (compress_part(text, t->n_plain, false, &part)) {
		t->bytes = part.bytes;
		t->size = part.size;
		t->crc = part.crc;
	}
	free(text);
	return t->bytes;
}

char *make_answer(struct serve *s, struct kept_texts *kept, enum exposition_format format,
                  bool is_gzip, size_t *size)
{
	struct kept_text *first = &kept->at[format][is_gzip];
	size_t n_samples;
	char *last;

	if (!keep_first_part(s, first, format, is_gzip))
		return NULL;
	n_samples = first->n_samples;
	last = make_exposition_part(s, format, false, &n_samples, size);
	if (!last)
		return NULL;
	return is_gzip ? join_gzip(first, last, size) : join_texts(first, last, size);
}

/* node_exporter joins the files of a folder and its own families in one text. */
char *make_textfile_text(struct serve *s, size_t *size)
{
	struct exposition x = { .format = EXPOSITION_PROMETHEUS,
		                .has_own_names = true,
		                .common = { "perfmon_job", s->name },
		                .keeps_node_names = s->has_node_names };
	char *text = NULL;

	x.out = open_memstream(&text, size);
	if (!x.out)
		return NULL;
	put_counts(&x, s);
	put_self_series(&x, s);
	end_exposition(&x);
	return close_text(&x, &text);
}

void free_kept_texts(struct kept_texts *kept)
{
	for (size_t i = 0; i < sizeof(kept->at) / sizeof(kept->at[0]); i++)
		for (size_t k = 0; k < 2; k++) {
			free(kept->at[i][k].bytes);
			kept->at[i][k] = (struct kept_text){ 0 };
		}
}
