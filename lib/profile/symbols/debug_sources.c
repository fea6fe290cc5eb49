/* SPDX-License-Identifier: MIT */
/* The two libraries are loaded when they are needed, and declared here: their headers are not
 * needed to build. */
#include "profile/messages.h"
#include "profile/symbols/debug_sources.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_UNPACKED ((size_t)1 << 28)

/* Finds function @name of @library in *@function. */
static bool find_function(void *library, const char *name, void *function)
{
	void *at = library ? dlsym(library, name) : NULL;

	memcpy(function, &at, sizeof(at));
	return at;
}

static void report_missing_library(const struct profile_messages *messages, const char *library,
                                   const char *package, const char *lacking)
{
	show_profile_message(messages, "%s; install %s (Debian: %s)", lacking, library, package);
}

/* ---- xz -------------------------------------------------------------------------------------- */

enum { LZMA_OK = 0, LZMA_BUF_ERROR = 10 };

typedef int (*lzma_stream_buffer_decode_fn)(uint64_t *memory_limit, uint32_t flags,
                                            const void *allocator, const uint8_t *in, size_t *in_at,
                                            size_t in_size, uint8_t *out, size_t *out_at,
                                            size_t out_size);

static lzma_stream_buffer_decode_fn decode_xz;

static void open_lzma(void)
{
	find_function(dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL), "lzma_stream_buffer_decode",
	              &decode_xz);
}

static lzma_stream_buffer_decode_fn load_lzma(struct profile_messages *messages)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_lzma);
	if (!decode_xz && note_profile_topic(messages, TOPIC_XZ))
		report_missing_library(messages, "liblzma.so.5", "liblzma5",
		                       "compressed symbols (.gnu_debugdata) are not read");
	return decode_xz;
}

/* The unpacked bytes, which the caller frees; NULL if they are damaged or too many. */
static uint8_t *decompress_lzma(lzma_stream_buffer_decode_fn decode, const void *packed,
                                size_t size, size_t *n)
{
	for (size_t capacity = size * 8 + 4096; capacity <= MAX_UNPACKED; capacity *= 2) {
		uint64_t memory_limit = MAX_UNPACKED;
		uint8_t *out = malloc(capacity);
		size_t in_at = 0;
		int rc;

		*n = 0;
		if (!out)
			return NULL;
		rc = decode(&memory_limit, 0, NULL, packed, &in_at, size, out, n, capacity);
		if (rc == LZMA_OK)
			return out;
		free(out);
		if (rc != LZMA_BUF_ERROR)
			return NULL;
	}
	return NULL;
}

static bool write_all_bytes(int fd, const uint8_t *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done <= 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

int unpack_debug_data(const void *packed, size_t size, struct profile_messages *messages)
{
	lzma_stream_buffer_decode_fn decode = load_lzma(messages);
	size_t n = 0;
	uint8_t *bytes = decode ? decompress_lzma(decode, packed, size, &n) : NULL;
	int fd = bytes ? memfd_create("debugdata", MFD_CLOEXEC) : -1;

	if (fd >= 0 && !write_all_bytes(fd, bytes, n)) {
		close(fd);
		fd = -1;
	}
	free(bytes);
	return fd;
}

/* ---- servers --------------------------------------------------------------------------------- */

struct debuginfod_client;

typedef int (*server_find_fn)(struct debuginfod_client *client, const unsigned char *id, int n,
                              char **path);

static struct {
	struct debuginfod_client *(*begin)(void);
	server_find_fn find, find_program;
	void (*set_user_data)(struct debuginfod_client *client, void *data);
	void *(*get_user_data)(struct debuginfod_client *client);
	void (*set_progress)(struct debuginfod_client *client,
	                     int (*progress)(struct debuginfod_client *client, long done,
	                                     long all));
	void (*end)(struct debuginfod_client *client);
} server;

static bool has_servers;

static void open_debuginfod(void)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	has_servers = find_function(library, "debuginfod_begin", &server.begin) &&
	              find_function(library, "debuginfod_find_debuginfo", &server.find) &&
	              find_function(library, "debuginfod_find_executable", &server.find_program) &&
	              find_function(library, "debuginfod_set_user_data", &server.set_user_data) &&
	              find_function(library, "debuginfod_get_user_data", &server.get_user_data) &&
	              find_function(library, "debuginfod_set_progressfn", &server.set_progress) &&
	              find_function(library, "debuginfod_end", &server.end);
}

static bool load_debuginfod(struct profile_messages *messages)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_debuginfod);
	if (!has_servers && note_profile_topic(messages, TOPIC_SERVERS))
		report_missing_library(messages, "libdebuginfod.so.1", "libdebuginfod1",
		                       "DEBUGINFOD_URLS is set, but no debug files are fetched");
	return has_servers;
}

/* One download. */
struct download {
	const struct profile_messages *messages;
	time_t start; /* 0: it has not begun */
};

/* Shows the progress of a download that takes more than two seconds. */
static int show_progress(struct debuginfod_client *client, long done, long all)
{
	struct download *d = server.get_user_data(client);
	char line[96];

	if (!d->start || done <= 0)
		d->start = time(NULL);
	if (time(NULL) - d->start < 2)
		return 0;
	if (all > 0)
		snprintf(line, sizeof(line), "fetching a debug file: %ld of %ld", done, all);
	else
		snprintf(line, sizeof(line), "fetching a debug file: %ld", done);
	show_profile_progress(d->messages, line);
	return 0;
}

/* Fetches a file by *@find, which is known once the library is loaded. */
static char *fetch_file(const server_find_fn *find, const uint8_t *id, size_t n,
                        struct profile_messages *messages)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct download download = { .messages = messages };
	struct debuginfod_client *client;
	char *path = NULL;
	int fd;

	if (!urls || !*urls || !n || !load_debuginfod(messages))
		return NULL;
	client = server.begin();
	if (!client)
		return NULL;
	server.set_user_data(client, &download);
	server.set_progress(client, show_progress);
	fd = (*find)(client, id, (int)n, &path);
	if (fd >= 0)
		close(fd);
	server.end(client);
	show_profile_progress(messages, "");
	return fd >= 0 ? path : NULL;
}

char *fetch_debug_file(const uint8_t *id, size_t n, struct profile_messages *messages)
{
	return fetch_file(&server.find, id, n, messages);
}

char *fetch_program_file(const uint8_t *id, size_t n, struct profile_messages *messages)
{
	return fetch_file(&server.find_program, id, n, messages);
}
