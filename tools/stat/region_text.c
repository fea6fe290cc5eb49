/* SPDX-License-Identifier: MIT */
/* pfm stat --regions: texts of results, one of all processes or one file for each. */
#include "stat/region_text.h"
#include "common/pfm.h"
#include "stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- formats ----------------------------------------------------------------------------- */

/* Lines of each process's text that the joined text has once: the first ones and the last one. */
static const struct {
	const char *name;
	bool has_head, has_tail;
	const char *suffix; /* of the file of each process; NULL: processes share a text */
} formats[] = {
	{ "table", false, false, NULL },   { "json", false, false, NULL },
	{ "csv", true, false, NULL },      { "likwid", false, false, ".txt" },
	{ "papi", false, false, ".json" }, { "chrome", true, true, NULL },
	{ "firefox", true, true, NULL },
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static unsigned find_format(const char *name)
{
	unsigned i = 0;

	while (i < FORMATS && strcmp(formats[i].name, name) != 0)
		i++;
	return i;
}

bool is_one_file_each(const char *name)
{
	return formats[find_format(name)].suffix != NULL;
}

bool is_region_format(const char *name)
{
	return find_format(name) < FORMATS;
}

/* Adds the text of a process. Writes each line after reading the next one, because the last line
 * may be one that is written once. */
static bool join_text(struct region_join *join, FILE *in)
{
	char *line = NULL;
	size_t size = 0, n = 0;

	for (; getline(&line, &size, in) > 0; n++) {
		char *before = join->tail;
		size_t before_room = join->tail_room;

		if (!join->has_tail) {
			if (!n && join->run)
				fprintf(join->out, "{\"run\":%u,%s", join->run, line + 1);
			else if (n || !join->has_head || !join->is_begun)
				fputs(line, join->out);
			continue;
		}
		if (n == 1 && join->is_begun)
			fputc(',', join->out);
		else if (n)
			fputs(before, join->out);
		join->tail = line;
		join->tail_room = size;
		line = before;
		size = before_room;
	}
	join->is_begun = join->is_begun || n > 0;
	free(line);
	return n > 0;
}

struct region_join begin_region_join(struct region_collection *to)
{
	const unsigned format = find_format(to->format);

	return (struct region_join){ .run = strcmp(to->format, "json") == 0 ? to->run : 0,
		                     .has_head = formats[format].has_head,
		                     .has_tail = formats[format].has_tail,
		                     .out = open_memstream(&to->text, &to->size) };
}

void end_region_join(struct region_collection *to, struct region_join *join)
{
	if (join->tail && join->out)
		fputs(join->tail, join->out);
	free(join->tail);
	if (!join->out || fclose(join->out))
		to->n_lost++;
}

FILE *write_region_text(const pfm_region_results_t *r, const char *format)
{
	int fd = memfd_create("regions", MFD_CLOEXEC);
	FILE *text;

	if (fd < 0)
		return NULL;
	if (pfm_write_regions(r, fd, format) || lseek(fd, 0, SEEK_SET) != 0 ||
	    !(text = fdopen(fd, "r"))) {
		close(fd);
		return NULL;
	}
	return text;
}

/* Copies @text to a file of its own, with the number of the rank or the next free one. */
static bool write_file(const struct region_collection *to, const char *suffix, int rank, FILE *text)
{
	unsigned number = rank >= 0 ? (unsigned)rank : to->n_written;
	char path[REGION_PATH_SIZE + 64];
	FILE *out;
	int c, fd;

	do {
		snprintf(path, sizeof(path), "%srank_%06u%s", to->folder, number++, suffix);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((c = getc(text)) != EOF)
		putc(c, out);
	return fclose(out) == 0;
}

bool add_region_text(struct region_collection *to, struct region_join *join, int rank, FILE *text)
{
	const char *suffix = formats[find_format(to->format)].suffix;

	if (suffix && to->folder)
		return write_file(to, suffix, rank, text);
	if (!suffix || !to->n_written)
		return join_text(join, text);
	fprintf(stderr,
	        "%s: %s has one file for each process: name a new folder, -o FOLDER/, to get those "
	        "of all\n",
	        program_name, to->format);
	return false;
}

bool write_region_sum(struct region_collection *to)
{
	FILE *text = to->sum ? write_region_text(to->sum, to->format) : NULL;
	struct region_join join = begin_region_join(to);
	const bool is_written = text && join.out && join_text(&join, text);

	if (text)
		fclose(text);
	end_region_join(to, &join);
	pfm_close_region_results(to->sum);
	to->sum = NULL;
	return is_written;
}
