/* SPDX-License-Identifier: MIT */
/* zstd, for recordings: loaded when one is compressed, so that nobody else needs it. Its ABI is stable since its version 1.0. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"

/* How the library sees what it reads and writes: a place, its size, and how far it has come. */
struct zstd_in {
	const void *at;
	size_t size, done;
};

struct zstd_out {
	void *at;
	size_t size, done;
};

struct zstd {
	void *library, *stream;
	size_t (*compress)(void *to, size_t room, const void *from, size_t n, int level);
	unsigned (*failed)(size_t rc);
	void *(*begin)(void);
	size_t (*end)(void *stream);
	size_t (*decompress)(void *stream, struct zstd_out *out, struct zstd_in *in);
};

static bool find(const struct zstd *z, const char *name, void *fn)
{
	void *symbol = dlsym(z->library, name);

	memcpy(fn, &symbol, sizeof(symbol));
	return symbol != NULL;
}

struct zstd *pfmi_zstd_open(void)
{
	struct zstd *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->library = dlopen("libzstd.so.1", RTLD_NOW);
	if (z->library && find(z, "ZSTD_compress", &z->compress) && find(z, "ZSTD_isError", &z->failed) &&
	    find(z, "ZSTD_createDStream", &z->begin) && find(z, "ZSTD_freeDStream", &z->end) &&
	    find(z, "ZSTD_decompressStream", &z->decompress))
		return z;
	pfmi_zstd_close(z);
	return NULL;
}

void pfmi_zstd_close(struct zstd *z)
{
	if (!z)
		return;
	if (z->stream)
		z->end(z->stream);
	if (z->library)
		dlclose(z->library);
	free(z);
}

size_t pfmi_zstd_pack(const struct zstd *z, void *to, size_t room, const void *from, size_t n, int level)
{
	size_t size = z->compress(to, room, from, n, level);

	return z->failed(size) ? 0 : size;
}

bool pfmi_zstd_unpack(struct zstd *z, struct bytes *out, const void *from, size_t n)
{
	struct zstd_in in = { from, n, 0 };
	bool full = false;

	if (!z->stream)
		z->stream = z->begin();
	while (z->stream && (in.done < in.size || full)) {
		struct zstd_out to;

		if (!pfmi_bytes_room(out, ZSTD_STEP))
			return false;
		to = (struct zstd_out){ out->at + out->end, out->room - out->end, 0 };
		if (z->failed(z->decompress(z->stream, &to, &in)))
			return false;
		out->end += to.done;
		full = to.done == to.size;
	}
	return z->stream != NULL;
}

/* ---- a buffer that grows --------------------------------------------------------------------------------------------------------- */

bool pfmi_bytes_room(struct bytes *b, size_t n)
{
	size_t room = b->room * 2 + n;
	uint8_t *more;

	if (b->used)
		memmove(b->at, b->at + b->used, b->end - b->used);
	b->end -= b->used;
	b->used = 0;
	if (b->room - b->end >= n)
		return true;
	more = room <= UNPACKED_MAX ? realloc(b->at, room) : NULL;
	if (!more)
		return false;
	b->at = more;
	b->room = room;
	return true;
}
