/* SPDX-License-Identifier: MIT */
/* pfm serve: compresses texts. Names of families and labels repeat, so the lowest level reduces a
 * large text to a fiftieth; higher levels take several times as long and gain little. So do larger
 * tables of the compressor, which are cleared for each text: level 9 of memory takes twice the time
 * for a text of 11 KB. */
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef HAVE_ZLIB
#include <zlib.h>

enum { LEVEL = 1, WINDOW_BITS = 15, GZIP_FORMAT = 16, MEMORY_LEVEL = 5 };

/* True if the weight of an encoding ("q=0.5") is 0, which excludes it. */
static bool has_no_weight(const char *parameters, size_t len)
{
	const char *q = memchr(parameters, '=', len);

	if (!q || strncasecmp(parameters, "q", 1) != 0)
		return false;
	for (q++; q < parameters + len; q++)
		if (*q >= '1' && *q <= '9')
			return false;
	return true;
}

static bool is_gzip_allowed(const char *word, size_t len)
{
	const char *semicolon = memchr(word, ';', len);
	size_t name = semicolon ? (size_t)(semicolon - word) : len;

	while (name && strchr(" \t", word[name - 1]))
		name--;
	if (name != 4 || strncasecmp(word, "gzip", 4) != 0)
		return false;
	if (!semicolon)
		return true;
	semicolon++;
	while (semicolon < word + len && strchr(" \t", *semicolon))
		semicolon++;
	return !has_no_weight(semicolon, (size_t)(word + len - semicolon));
}

bool accepts_gzip(const char *accept)
{
	for (size_t len; *accept; accept += len + (accept[len] != '\0')) {
		accept += strspn(accept, " \t");
		len = strcspn(accept, ",");
		if (is_gzip_allowed(accept, len))
			return true;
	}
	return false;
}

char *compress_serve_text(char *text, size_t *size)
{
	z_stream z = { .next_in = (Bytef *)text, .avail_in = (uInt)*size };
	char *out = NULL, *smaller;
	size_t capacity;
	int rc = deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_FORMAT, MEMORY_LEVEL,
	                      Z_DEFAULT_STRATEGY);

	if (rc == Z_OK) {
		capacity = deflateBound(&z, *size);
		out = *size == z.avail_in ? malloc(capacity) : NULL;
		z.next_out = (Bytef *)out;
		z.avail_out = (uInt)capacity;
		rc = out ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
		*size = z.total_out;
		deflateEnd(&z);
	}
	free(text);
	if (rc != Z_STREAM_END) {
		free(out);
		return NULL;
	}
	smaller = realloc(out, *size);
	return smaller ? smaller : out;
}

#else

bool accepts_gzip(const char *accept)
{
	(void)accept;
	return false;
}

char *compress_serve_text(char *text, size_t *size)
{
	(void)size;
	return text;
}

#endif
