/* SPDX-License-Identifier: MIT */
/* pfm serve: a file for textfile collectors such as node_exporter's. It is replaced as a whole, so
 * that readers see either the old or the new one. */
#include "common/pfm.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int open_textfile(struct serve *s)
{
	struct stat there;
	size_t size = strlen(s->textfile) + 32;

	if (stat(s->textfile, &there) == 0 && !S_ISREG(there.st_mode)) {
		fprintf(stderr, "pfm serve: --textfile: expected a regular file, got '%s'\n",
		        s->textfile);
		return EXIT_REFUSED;
	}
	s->temporary = malloc(size);
	if (!s->temporary)
		return report_no_memory();
	snprintf(s->temporary, size, "%s.%ld.tmp", s->textfile, (long)getpid());
	return EXIT_DONE;
}

/* Writes the text. Returns 0 or an errno. */
static int write_whole(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

static int replace_file(const struct serve *s, const char *text, size_t size)
{
	int fd, err;

	unlink(s->temporary); /* may be left over from a killed process with the same number */
	fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	err = write_whole(fd, text, size);
	if (close(fd) != 0 && !err)
		err = errno;
	if (!err && rename(s->temporary, s->textfile) != 0)
		err = errno;
	if (err)
		unlink(s->temporary);
	return err;
}

/* Reports an error once, until another one occurs or writing succeeds. */
static void report_textfile(struct serve *s, int err)
{
	if (err && err != s->textfile_error)
		fprintf(stderr,
		        "pfm serve: %s: %s; the file is removed until it can be written again\n",
		        s->textfile, strerror(err));
	else if (!err && s->textfile_error)
		fprintf(stderr, "pfm serve: %s: written again\n", s->textfile);
	s->textfile_error = err;
}

void write_textfile(struct serve *s)
{
	size_t size;
	char *text = make_textfile_text(s, &size);
	int err = text ? replace_file(s, text, size) : ENOMEM;

	free(text);
	report_textfile(s, err);
	if (!err)
		return;
	s->figures.textfile_errors++;
	unlink(s->textfile);
}

void close_textfile(struct serve *s)
{
	if (!s->temporary)
		return;
	unlink(s->temporary);
	unlink(s->textfile);
	free(s->temporary);
	s->temporary = NULL;
}
