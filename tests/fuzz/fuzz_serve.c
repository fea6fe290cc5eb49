/* SPDX-License-Identifier: MIT */
/* Any bytes from a client of pfm serve, over HTTP or the line protocol. The first byte chooses the
 * protocol and how the client behaves; each 0xff after it is a pause, in which the service works.
 * Whatever came, the next client gets a whole answer. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "common/pfm.h"
#include "series/series.h"
#include "exporter/http.h"
#include "exporter/web.h"
#include "time_bound.h"

enum {
	USES_LINES = 1,
	LEAVES = 2,    /* it closes the connection instead of reading */
	ENDS = 4,      /* it says that it sends nothing more */
	TAKES_ALL = 8, /* it reads in each pause */
	PAUSE = 0xff,
	MOST_TURNS = 2000,
	ANSWER_ROOM = 1 << 16
};

static const char counts_text[] = "# TYPE a counter\na_total 1\n# EOF\n";
static char folder[] = "/tmp/fuzz_serve_XXXXXX";
static char http_path[64], lines_path[64];
static struct serve service;

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* ---- what the service calls in the rest of pfm serve ----------------------------------------- */

char *make_answer(struct serve *s, struct kept_texts *kept, enum exposition_format format,
                  bool is_gzip, size_t *size)
{
	char *text = strdup(counts_text);

	(void)s;
	(void)kept;
	(void)format;
	*size = sizeof(counts_text) - 1;
	return is_gzip ? compress_serve_text(text, size) : text;
}

void free_kept_texts(struct kept_texts *kept)
{
	(void)kept;
}

unsigned compute_retry_seconds(const struct serve_budget *b)
{
	(void)b;
	return 0;
}

/* Without --web-config. */
struct web_config *load_web_config(const char *path)
{
	(void)path;
	return NULL;
}

enum web_access check_password(struct web_config *w, const char *user, const char *password)
{
	(void)w;
	(void)user;
	(void)password;
	return WEB_NO_ACCESS;
}

bool has_client_certificate(const struct web_config *w, void *session)
{
	(void)w;
	(void)session;
	return false;
}

void free_web_config(struct web_config *w)
{
	(void)w;
}

bool refresh_counts(struct serve *s)
{
	s->figures.readings += s->figures.answers % 7 == 0;
	return true;
}

void put_count_lines(FILE *out, const struct stat_job *job, const char *pattern)
{
	(void)job;
	if (fnmatch(pattern, "page-faults", 0) == 0)
		fputs("count\tpage-faults\n", out);
}

uint64_t now_ns(void)
{
	return 1;
}

int report_bad_option(const char *what, int err)
{
	(void)what;
	(void)err;
	abort();
}

/* ---- the service ----------------------------------------------------------------------------- */

static void remove_folder(void)
{
	unlink(http_path);
	unlink(lines_path);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char text[80];
	int null = open("/dev/null", O_WRONLY), errors = dup(STDERR_FILENO);

	(void)argc;
	(void)argv;
	if (!mkdtemp(folder) || null < 0 || errors < 0)
		abort();
	atexit(remove_folder);
	snprintf(http_path, sizeof(http_path), "%s/http", folder);
	snprintf(lines_path, sizeof(lines_path), "%s/lines", folder);
	snprintf(text, sizeof(text), "unix:%s", http_path);
	service.lines_path = lines_path;
	dup2(null, STDERR_FILENO); /* without the lines that say where it listens */
	if (open_listener(&service, text) != EXIT_DONE || open_lines(&service) != EXIT_DONE)
		abort();
	dup2(errors, STDERR_FILENO);
	close(errors);
	close(null);
	if (start_http(&service) != EXIT_DONE)
		_exit(EXIT_FAILURE); /* it has said what is missing */
	return 0;
}

static void run_service(void)
{
	if (!run_http(&service) || !run_lines(&service))
		abort();
}

/* ---- clients --------------------------------------------------------------------------------- */

static int connect_client(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		abort();
	return fd;
}

/* True while the connection is open. */
static bool receive(int fd, char *answer, size_t *len)
{
	char rest[4096];
	ssize_t n;

	do {
		bool has_room = *len < ANSWER_ROOM;

		n = has_room ? recv(fd, answer + *len, ANSWER_ROOM - *len, 0)
		             : recv(fd, rest, sizeof(rest), 0);
		*len += n > 0 && has_room ? (size_t)n : 0;
	} while (n > 0);
	return n < 0 && errno == EAGAIN;
}

/* Gives the bytes to the service, as far as it takes them. */
static void send_bytes(int fd, const uint8_t *data, size_t size)
{
	for (unsigned turn = 0; size && turn < MOST_TURNS; turn++) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
		if (size)
			run_service();
	}
}

static void check_answer(const char *answer, size_t len, bool is_lines)
{
	static const char *const words[] = { "count\t", "end\t", "version\t", "error\t" };
	const char *end = answer + len;

	if (!is_lines) {
		if (len >= 7 && memcmp(answer, "HTTP/1.", 7) != 0)
			abort();
		return;
	}
	for (const char *at = answer, *next; at < end; at = next + 1) {
		bool is_known = false;

		next = memchr(at, '\n', (size_t)(end - at));
		if (!next)
			return;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			is_known |= strncmp(at, words[i], strlen(words[i])) == 0;
		if (!is_known)
			abort();
	}
}

/* The answer to a correct request has @wanted, whatever other clients sent before. */
static void check_next_client(const char *path, const char *request, const char *wanted)
{
	char *answer = calloc(1, ANSWER_ROOM + 1);
	int fd = connect_client(path);
	size_t len = 0;

	if (!answer)
		abort();
	send_bytes(fd, (const uint8_t *)request, strlen(request));
	for (unsigned turn = 0; turn < MOST_TURNS && !strstr(answer, wanted); turn++) {
		run_service();
		if (!receive(fd, answer, &len))
			break;
	}
	if (!strstr(answer, wanted))
		abort();
	close(fd);
	run_service();
	free(answer);
}

int try_input(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *next;
	char *answer;
	size_t len = 0;
	unsigned how;
	int fd;

	if (size < 2 || size > 32768)
		return 0;
	how = *data++;
	answer = malloc(ANSWER_ROOM);
	fd = connect_client(how & USES_LINES ? lines_path : http_path);
	if (!answer)
		abort();
	for (; data < end; data = next + 1) {
		next = memchr(data, PAUSE, (size_t)(end - data));
		next = next ? next : end;
		send_bytes(fd, data, (size_t)(next - data));
		run_service();
		if (how & TAKES_ALL)
			receive(fd, answer, &len);
	}
	if (how & ENDS)
		shutdown(fd, SHUT_WR);
	for (unsigned turn = 0; !(how & LEAVES) && turn < 8; turn++) {
		run_service();
		if (!receive(fd, answer, &len))
			break;
	}
	close(fd);
	run_service();
	check_answer(answer, len, how & USES_LINES);
	free(answer);
	check_next_client(http_path, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", counts_text);
	check_next_client(lines_path, "read\n", "\nend\t");
	return 0;
}
