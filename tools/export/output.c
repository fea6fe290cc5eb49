/* SPDX-License-Identifier: MIT */
/* The file of an export: written as FILE.tmp and renamed when it is complete, so that no half file
 * has the name. Failures and signals remove it. */
#include "common/term_guard.h"
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

/* ---- signals --------------------------------------------------------------------------------- */

/* The temporary file that a signal removes; empty: no such file. */
static char unfinished[PATH_MAX];

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGXCPU };

static void remove_unfinished_file(int sig)
{
	if (*unfinished)
		unlink(unfinished);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Sets what ending signals do, unless the caller of the command ignores them. */
static void set_signals(void (*handler)(int))
{
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
		struct sigaction act = { .sa_handler = handler }, was;

		if (sigaction(ending_signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &act, NULL);
	}
}

/* ---- gzip ------------------------------------------------------------------------------------ */

#ifdef HAVE_ZLIB
/* Level 1 takes a third of the time of the default, and gives files that are a quarter larger. */
enum { GZIP_WINDOW = 15 + 16, GZIP_PIECE = 65536, GZIP_LEVEL = 1 };

struct gzip_writer {
	FILE *to;
	z_stream z;
	unsigned char piece[GZIP_PIECE];
};

/* Compresses what z.next_in holds. False: errno tells why. */
static bool deflate_input(struct gzip_writer *g, int flush)
{
	size_t n;

	do {
		g->z.next_out = g->piece;
		g->z.avail_out = sizeof(g->piece);
		if (deflate(&g->z, flush) == Z_STREAM_ERROR) {
			errno = EIO;
			return false;
		}
		n = sizeof(g->piece) - g->z.avail_out;
		if (fwrite(g->piece, 1, n, g->to) != n)
			return false;
	} while (!g->z.avail_out);
	return true;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t n)
{
	struct gzip_writer *g = cookie;

	n = n < INT_MAX ? n : INT_MAX;
	g->z.next_in = (unsigned char *)(uintptr_t)bytes;
	g->z.avail_in = (unsigned)n;
	return deflate_input(g, Z_NO_FLUSH) ? (ssize_t)n : -1;
}

static int gzip_close(void *cookie)
{
	struct gzip_writer *g = cookie;
	bool good = deflate_input(g, Z_FINISH);
	int saved = errno;

	deflateEnd(&g->z);
	if (fclose(g->to)) {
		saved = good ? errno : saved;
		good = false;
	}
	free(g);
	errno = saved;
	return good ? 0 : -1;
}

/* A stream whose bytes go to @to compressed; closing it closes @to. NULL without memory. */
static FILE *open_gzip(FILE *to)
{
	const cookie_io_functions_t functions = { .write = gzip_write, .close = gzip_close };
	struct gzip_writer *g = calloc(1, sizeof(*g));
	FILE *out;

	if (!g)
		return NULL;
	g->to = to;
	if (deflateInit2(&g->z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		free(g);
		errno = ENOMEM;
		return NULL;
	}
	out = fopencookie(g, "w", functions);
	if (out)
		setvbuf(out, NULL, _IOFBF, GZIP_PIECE);
	if (!out) {
		deflateEnd(&g->z);
		free(g);
	}
	return out;
}

bool export_has_gzip(void)
{
	return true;
}

static bool append_bytes(char **data, size_t *len, size_t *capacity, const char *bytes, size_t n)
{
	if (*capacity - *len < n) {
		size_t more = 2 * *capacity + n;
		char *bigger = realloc(*data, more);

		if (!bigger)
			return false;
		*data = bigger;
		*capacity = more;
	}
	memcpy(*data + *len, bytes, n);
	*len += n;
	return true;
}

char *export_read_file(const char *path, size_t *len)
{
	gzFile in = gzopen(path, "rb");
	char piece[GZIP_PIECE], *data = calloc(1, 1);
	size_t capacity = 1;
	bool good = in && data;
	int n = 1;

	*len = 0;
	while (good && (n = gzread(in, piece, sizeof(piece))) > 0)
		good = append_bytes(&data, len, &capacity, piece, (size_t)n);
	good = good && n == 0 && append_bytes(&data, len, &capacity, "", 1);
	*len -= good;
	if (in && gzclose(in) != Z_OK)
		good = false;
	if (good)
		return data;
	free(data);
	return NULL;
}
#else
static FILE *open_gzip(FILE *to)
{
	(void)to;
	errno = ENOTSUP;
	return NULL;
}

bool export_has_gzip(void)
{
	return false;
}

char *export_read_file(const char *path, size_t *len)
{
	FILE *in = fopen(path, "re");
	struct stat st;
	char *data = NULL;

	if (in && fstat(fileno(in), &st) == 0)
		data = malloc((size_t)st.st_size + 1);
	if (data) {
		*len = fread(data, 1, (size_t)st.st_size, in);
		data[*len] = '\0';
	}
	if (in)
		fclose(in);
	return data;
}
#endif

/* ---- files ----------------------------------------------------------------------------------- */

/* True if @path itself may be replaced by a new file: it is a regular file, or missing. Links,
 * devices and pipes are not: /dev/stdout is a link that others need. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? S_ISREG(st.st_mode) : errno == ENOENT;
}

/* The path that a link leads to; NULL if that is not a regular file, or a name of the system for
 * an open file. */
static char *resolve_link(const char *path)
{
	bool is_system = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
	char *target = is_system ? NULL : realpath(path, NULL);
	struct stat st;

	if (target && lstat(target, &st) == 0 && S_ISREG(st.st_mode))
		return target;
	free(target);
	return NULL;
}

/* Chooses the names of the file. What may not be replaced is written at once. */
static bool choose_names(struct export_output *o, const char *path)
{
	bool is_new = is_replaceable(path);

	o->path = is_new ? strdup(path) : resolve_link(path);
	if (!o->path)
		return !is_new;
	if (asprintf(&o->temporary, "%s.tmp", o->path) < 0) {
		o->temporary = NULL;
		return false;
	}
	if (strlen(o->temporary) < sizeof(unfinished))
		return true;
	errno = ENAMETOOLONG;
	return false;
}

static FILE *open_file(const char *name, int flags)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !out)
		close(fd);
	return out;
}

/* Signals wait until the new file is one that they remove. */
static FILE *create_temporary_file(const char *name)
{
	sigset_t ending, was;
	FILE *out;

	sigemptyset(&ending);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
		sigaddset(&ending, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &ending, &was);
	out = open_file(name, O_NOFOLLOW);
	if (out) {
		memcpy(unfinished, name, strlen(name) + 1);
		set_signals(remove_unfinished_file);
	}
	sigprocmask(SIG_SETMASK, &was, NULL);
	return out;
}

bool export_open_output(struct export_output *o, const char *path, bool is_gzip)
{
	FILE *plain;

	*o = (struct export_output){ .out = NULL };
	if (path && !choose_names(o, path))
		return false;
	if (path)
		plain = o->temporary ? create_temporary_file(o->temporary) : open_file(path, 0);
	else if (isatty(guard_descriptor(stdout)))
		plain = stdout; /* through the guard of terminals */
	else
		plain = fdopen(dup(guard_descriptor(stdout)), "w");
	/* Where the caller closed standard output, main() opened a file that cannot be written. */
	if (!plain && !path && errno == EINVAL)
		errno = EBADF;
	o->out = plain && is_gzip ? open_gzip(plain) : plain;
	if (plain && !o->out)
		fclose(plain);
	return o->out;
}

bool export_end_output(struct export_output *o)
{
	bool good = o->out && !ferror(o->out);

	if (o->out && (o->out == stdout ? fflush(stdout) : fclose(o->out)))
		good = false;
	o->out = NULL;
	return good;
}

bool export_close_output(struct export_output *o, bool is_good)
{
	int saved;

	is_good &= !o->out || export_end_output(o);
	saved = errno;
	if (is_good && o->temporary && rename(o->temporary, o->path)) {
		saved = errno;
		is_good = false;
	}
	if (!is_good && o->temporary && *unfinished)
		unlink(o->temporary);
	*unfinished = '\0';
	if (o->temporary)
		set_signals(SIG_DFL);
	free(o->temporary);
	free(o->path);
	*o = (struct export_output){ .out = NULL };
	errno = saved;
	return is_good;
}
