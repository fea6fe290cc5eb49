/* SPDX-License-Identifier: MIT */
/* zstd, for recordings. The library is loaded when a recording is compressed, so that other
 * programs do not need it. Its ABI is stable since its version 1.0. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata.h"

/* The library's description of a buffer: address, size, and the position reached. */
struct zstd_input {
	const void *data;
	size_t size, pos;
};

struct zstd_output {
	void *data;
	size_t size, pos;
};

struct zstd_codec {
	void *library, *stream;
	size_t (*compress)(void *to, size_t size, const void *from, size_t n, int level);
	unsigned (*is_error)(size_t rc);
	void *(*create_stream)(void);
	size_t (*free_stream)(void *stream);
	size_t (*decompress_stream)(void *stream, struct zstd_output *out, struct zstd_input *in);
};

static bool load_symbol(const struct zstd_codec *z, const char *name, void *fn)
{
	void *symbol = dlsym(z->library, name);

	memcpy(fn, &symbol, sizeof(symbol));
	return symbol != NULL;
}

struct zstd_codec *pfmi_perfdata_open_zstd(void)
{
	struct zstd_codec *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->library = dlopen("libzstd.so.1", RTLD_NOW);
	if (z->library && load_symbol(z, "ZSTD_compress", &z->compress) &&
	    load_symbol(z, "ZSTD_isError", &z->is_error) &&
	    load_symbol(z, "ZSTD_createDStream", &z->create_stream) &&
	    load_symbol(z, "ZSTD_freeDStream", &z->free_stream) &&
	    load_symbol(z, "ZSTD_decompressStream", &z->decompress_stream))
		return z;
	pfmi_perfdata_close_zstd(z);
	return NULL;
}

void pfmi_perfdata_close_zstd(struct zstd_codec *z)
{
	if (!z)
		return;
	if (z->stream)
		z->free_stream(z->stream);
	if (z->library)
		dlclose(z->library);
	free(z);
}

size_t pfmi_perfdata_compress_frame(const struct zstd_codec *z, void *to, size_t capacity,
                                    const void *from, size_t n, int level)
{
	size_t size = z->compress(to, capacity, from, n, level);

	return z->is_error(size) ? 0 : size;
}

bool pfmi_perfdata_decompress_bytes(struct zstd_codec *z, struct byte_buffer *out, const void *from,
                                    size_t n)
{
	struct zstd_input in = { from, n, 0 };
	bool full = false;

	if (!z->stream)
		z->stream = z->create_stream();
	while (z->stream && (in.pos < in.size || full)) {
		struct zstd_output to;

		if (!pfmi_perfdata_reserve_bytes(out, MIN_UNPACK_SIZE))
			return false;
		to = (struct zstd_output){ out->data + out->end, out->capacity - out->end, 0 };
		if (z->is_error(z->decompress_stream(z->stream, &to, &in)))
			return false;
		out->end += to.pos;
		full = to.pos == to.size;
	}
	return z->stream != NULL;
}
