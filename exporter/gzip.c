/* SPDX-License-Identifier: MIT */
/* pfm serve: compresses texts. Names of families and labels repeat, so the lowest level reduces a
 * large text to a fiftieth; higher levels take several times as long and gain little. So do larger
 * tables of the compressor, which are cleared for each text: level 9 of memory takes twice the time
 * for a text of 11 KB. A part of a text is compressed for itself, up to a whole byte, so that parts
 * that stay the same are compressed once (RFC 1951: blocks follow each other without a mark). */
#include "serve.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>

enum { LEVEL = 1, WINDOW_BITS = 15, MEMORY_LEVEL = 5, HEAD_SIZE = 10, TAIL_SIZE = 8 };

const bool have_gzip = true;

bool compress_part(const char *text, size_t size, bool is_last, struct gzip_part *out)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)size };
	const int flush = is_last ? Z_FINISH : Z_FULL_FLUSH;
	size_t capacity;
	bool is_good;

	*out = (struct gzip_part){ .n_plain = size };
	if (size != z.avail_in || deflateInit2(&z, LEVEL, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
	                                       Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	/* The end of a part that is not the last one takes up to 7 bytes more. */
	capacity = deflateBound(&z, size) + 16;
	out->bytes = malloc(capacity);
	z.next_out = (Bytef *)out->bytes;
	z.avail_out = (uInt)capacity;
	is_good = out->bytes && deflate(&z, flush) == (is_last ? Z_STREAM_END : Z_OK) &&
	          !z.avail_in && z.avail_out;
	out->size = z.total_out;
	out->crc = (uint32_t)crc32(0, (const Bytef *)text, (uInt)size);
	deflateEnd(&z);
	if (!is_good)
		free(out->bytes);
	return is_good;
}

static void put_little_endian(char *to, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (char)(value >> 8 * i);
}

char *finish_gzip(const struct gzip_part *first, const struct gzip_part *last, size_t *size)
{
	/* RFC 1952: deflate, no flags, no time, the fastest level, Unix */
	static const char head[HEAD_SIZE] = "\x1f\x8b\x08\0\0\0\0\0\x04\x03";
	const size_t n_first = first ? first->size : 0, n = HEAD_SIZE + n_first + last->size;
	char *out = malloc(n + TAIL_SIZE);
	uint32_t crc = last->crc;

	if (!out)
		return NULL;
	if (first)
		crc = (uint32_t)crc32_combine(first->crc, last->crc, (z_off_t)last->n_plain);
	memcpy(out, head, HEAD_SIZE);
	if (first)
		memcpy(out + HEAD_SIZE, first->bytes, n_first);
	memcpy(out + HEAD_SIZE + n_first, last->bytes, last->size);
	put_little_endian(out + n, crc);
	put_little_endian(out + n + 4, (uint32_t)(last->n_plain + (first ? first->n_plain : 0)));
	*size = n + TAIL_SIZE;
	return out;
}

#else

const bool have_gzip = false;

bool compress_part(const char *text, size_t size, bool is_last, struct gzip_part *out)
{
	(void)text;
	(void)size;
	(void)is_last;
	(void)out;
	return false;
}

char *finish_gzip(const struct gzip_part *first, const struct gzip_part *last, size_t *size)
{
	(void)first;
	(void)last;
	(void)size;
	return NULL;
}

#endif

char *compress_serve_text(char *text, size_t *size)
{
	struct gzip_part part;
	char *out;

	if (!have_gzip)
		return text;
	if (!compress_part(text, *size, true, &part)) {
		free(text);
		return NULL;
	}
	free(text);
	out = finish_gzip(NULL, &part, size);
	free(part.bytes);
	return out;
}
