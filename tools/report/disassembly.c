/* SPDX-License-Identifier: MIT */
/* objdump's lines begin with "  ADDRESS:" and a tabulator where they are instructions. It gets no
 * option that makes it open other files than the program: those could be anything. */
#include "report/disassembly.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/grow.h"
#include "report/source_text.h"

enum { TAB_STOP = 8, ARROWS_MAX = 24, SECONDS = 60 /* of objdump, on a CPU */ };

/* Returns a copy of @text with each tabulator replaced by blanks up to the next multiple of eight
 * columns. To be freed. */
static char *expand_tabs(const char *text)
{
	size_t n_tabs = 0, column = 0;
	char *copy, *to;

	for (const char *c = text; *c; c++)
		n_tabs += *c == '\t';
	copy = malloc(strlen(text) + TAB_STOP * n_tabs + 1);
	if (!copy)
		return NULL;
	to = copy;
	for (const char *c = text; *c; c++)
		if (*c == '\t') {
			do
				*to++ = ' ';
			while (++column % TAB_STOP);
		} else {
			*to++ = *c;
			column += (*c & 0xc0) != 0x80; /* not inside a character of UTF-8 */
		}
	*to = '\0';
	return copy;
}

static bool add_code_line(struct disassembly *d, const char *text, bool is_instruction,
                          uint64_t address)
{
	bool failed = false;

	d->lines = base_grow_list(d->lines, d->n, &d->capacity, sizeof(*d->lines), &failed);
	if (failed)
		return false;
	d->lines[d->n] = (struct code_line){ is_instruction, address, expand_tabs(text) };
	return d->lines[d->n++].text;
}

static bool add_source_line(void *arg, const char *line)
{
	return !*line || add_code_line(arg, line, false, 0);
}

/* Adds a line of objdump. False without memory. */
static bool read_objdump_line(struct disassembly *d, char *line, bool *is_code,
                              struct source_text *source)
{
	char *end;
	uint64_t address;

	line[strcspn(line, "\n")] = '\0';
	/* Titles of the file and the section come first. */
	if (strncmp(line, "Disassembly of section", 22) == 0) {
		*is_code = true;
		return true;
	}
	if (!*is_code || !*line)
		return true;
	address = strtoull(line, &end, 16);
	if (*line == ' ' && end != line && end[0] == ':' && end[1] == '\t')
		return (!source || source_text_show(source, address, add_source_line, d)) &&
		       add_code_line(d, end + 2, true, address);
	return add_code_line(d, line, false, 0);
}

static int read_lines(struct disassembly *d, int from, struct source_text *source)
{
	FILE *f = fdopen(from, "r");
	bool is_code = false, is_read = f;
	size_t size = 0;
	char *line = NULL;

	while (is_read && getline(&line, &size, f) > 0)
		is_read = read_objdump_line(d, line, &is_code, source);
	free(line);
	if (f)
		fclose(f);
	else
		close(from);
	return is_read ? 0 : ENOMEM;
}

/* Starts objdump, which writes to *@from. Returns 0 or an errno. */
static int start_objdump(const char *path, uint64_t start, uint64_t end, bool draws_jumps,
                         int *from, pid_t *child)
{
	char first[48], last[48];
	char *words[] = { "objdump", "-d",         "-C", "--no-show-raw-insn", first, last,
		          "--",      (char *)path, NULL };
	char *with_jumps[] = { "objdump", "-d", "-C", "--no-show-raw-insn", "--visualize-jumps",
		               first,     last, "--", (char *)path,         NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], rc;

	snprintf(first, sizeof(first), "--start-address=%#llx", (unsigned long long)start);
	snprintf(last, sizeof(last), "--stop-address=%#llx", (unsigned long long)end);
	if (pipe2(ends, O_CLOEXEC))
		return errno;
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		rc = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
		if (rc == 0)
			rc = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
			                                      0);
		if (rc == 0)
			rc = posix_spawnp(child, "objdump", &actions, NULL,
			                  draws_jumps ? with_jumps : words, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*from = ends[0];
	if (rc)
		close(ends[0]);
	return rc;
}

static int run_objdump(struct disassembly *d, const char *path, uint64_t start, uint64_t end,
                       bool draws_jumps, struct source_text *source)
{
	const struct rlimit time = { SECONDS, SECONDS };
	int from = -1, status = 0, rc;
	pid_t child = -1;

	rc = start_objdump(path, start, end, draws_jumps, &from, &child);
	if (rc)
		return rc;
	prlimit(child, RLIMIT_CPU, &time, NULL);
	rc = read_lines(d, from, source);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
		return ENOEXEC;
	return rc;
}

/* Removes arrows that take too many columns: a large function has many jumps at once. */
static void remove_wide_arrows(struct disassembly *d)
{
	for (size_t i = 0; i < d->n; i++) {
		char *text = d->lines[i].text;
		size_t width = d->lines[i].is_instruction ? strspn(text, " |/\\-+>X") : 0;

		if (width > ARROWS_MAX)
			memmove(text, text + width, strlen(text + width) + 1);
	}
}

int disassemble_function(struct disassembly *d, const char *path, uint64_t start, uint64_t end,
                         bool draws_jumps, struct source_text *source)
{
	int rc = run_objdump(d, path, start, end, draws_jumps, source);

	/* objdump draws no arrows before binutils 2.34. */
	if (rc == ENOEXEC && draws_jumps && !d->n)
		rc = run_objdump(d, path, start, end, false, source);
	remove_wide_arrows(d);
	return rc;
}

void free_disassembly(struct disassembly *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i].text);
	free(d->lines);
}
