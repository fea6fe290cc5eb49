/* SPDX-License-Identifier: MIT */
#include "pretend/recorded.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/pfm.h"

#define DEVICES  "/sys/bus/event_source/devices/"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

enum { FILE_PATH_MAX = 8192, WALK_FILES = 16 };

/* ---- files ----------------------------------------------------------------------------------- */

/* Replaces each "\\n" of @text by a line feed, and its end by another one. Returns the length. */
static size_t unescape_lines(char *text)
{
	char *from = text, *to = text;

	for (; *from; from++)
		if (from[0] == '\\' && from[1] == 'n')
			*to++ = '\n', from++;
		else
			*to++ = *from;
	*to++ = '\n';
	return (size_t)(to - text);
}

/* Writes @n bytes to file "devices/PATH". */
static void put_device_file(struct tree *t, const char *path, const char *bytes, size_t n)
{
	char folder[FILE_PATH_MAX];
	const int len = snprintf(folder, sizeof(folder), "devices/%s", path);
	char *name = strrchr(folder, '/');

	if (len >= (int)sizeof(folder))
		return;
	*name++ = '\0';
	put_file_bytes(t, folder, name, bytes, n);
}

/* Paths lead nowhere else. */
static bool is_plain_path(const char *path)
{
	return *path && *path != '/' && !strstr(path, "..");
}

/* Takes a line of a recording. */
static void take_line(struct pretend_machine *m, struct tree *t, char *line)
{
	char *text = strchr(line, '\t');

	if (*line == '#' || !text)
		return;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(line, PARANOID) == 0)
		m->paranoid = atoi(text);
	if (strncmp(line, DEVICES, strlen(DEVICES)) == 0)
		line += strlen(DEVICES);
	if (is_plain_path(line))
		put_device_file(t, line, text, unescape_lines(text));
}

static bool report(const char *path, int err)
{
	fprintf(stderr, "pfm pretend: %s: %s\n", path, strerror(err));
	return false;
}

bool lay_out_recording(struct pretend_machine *m, const char *path)
{
	const char *folder = getenv("TMPDIR");
	static struct tree t;
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return report(path, errno);
	snprintf(m->recording, sizeof(m->recording), "%.4000s/pfm-pretend-XXXXXX",
	         folder && *folder ? folder : "/tmp");
	if (!mkdtemp(m->recording)) {
		int err = errno;

		fclose(f);
		m->recording[0] = '\0';
		return report(folder ? folder : "/tmp", err);
	}
	begin_tree(&t, m->recording);
	while (!t.error && getline(&line, &size, f) >= 0)
		take_line(m, &t, line);
	end_tree(&t);
	free(line);
	fclose(f);
	return !t.error || report(m->recording, t.error);
}

static int remove_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

void remove_recording(struct pretend_machine *m)
{
	if (*m->recording)
		(void)nftw(m->recording, remove_file, WALK_FILES, FTW_DEPTH | FTW_PHYS);
	m->recording[0] = '\0';
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

/* The PMU of the tables for device @name: instances have a number after their name. */
static const struct pretend_pmu *find_table_pmu(const struct pretend_machine *m, const char *name)
{
	for (unsigned i = 0; i < m->n_pmus; i++) {
		const char *device = m->pmus[i].device;
		size_t len = strlen(device), stem = len;

		while (stem && isdigit((unsigned char)device[stem - 1]))
			stem--;
		if (strcmp(device, name) == 0)
			return &m->pmus[i];
		if (stem && stem < len && device[stem - 1] == '_' &&
		    strncmp(device, name, stem) == 0 && isdigit((unsigned char)name[stem]))
			return &m->pmus[i];
	}
	return NULL;
}

static uint32_t read_type(const struct pretend_machine *m, const char *name)
{
	char path[FILE_PATH_MAX], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices/%s/type", m->recording, name);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return (uint32_t)strtoul(text, NULL, 10);
}

/* Adds device @name of the recording to @pmus. */
static void add_recorded(const struct pretend_machine *m, const char *name,
                         struct pretend_pmu *pmus, unsigned *n)
{
	const struct pretend_pmu *pmu = find_table_pmu(m, name);
	uint32_t type = read_type(m, name);

	if (!pmu || !type || *n == PRETEND_PMUS)
		return;
	pmus[*n] = *pmu;
	pmus[*n].type = type;
	snprintf(pmus[*n].device, sizeof(pmus[*n].device), "%.60s", name);
	(*n)++;
}

static int compare_pmus(const void *a, const void *b)
{
	const struct pretend_pmu *x = a, *y = b;

	if (x->is_core != y->is_core)
		return x->is_core ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

bool use_recorded_pmus(struct pretend_machine *m)
{
	static struct pretend_pmu pmus[PRETEND_PMUS];
	char path[FILE_PATH_MAX];
	unsigned n = 0;
	struct dirent *entry;
	DIR *d;

	snprintf(path, sizeof(path), "%s/devices", m->recording);
	d = opendir(path);
	while (d && (entry = readdir(d)))
		if (*entry->d_name != '.')
			add_recorded(m, entry->d_name, pmus, &n);
	if (d)
		closedir(d);
	qsort(pmus, n, sizeof(*pmus), compare_pmus);
	memcpy(m->pmus, pmus, sizeof(pmus));
	m->n_pmus = n;
	if (get_pretend_core(m))
		return true;
	fprintf(stderr,
	        "pfm pretend: the recording has no core of %s: expected one of its "
	        "processor\n",
	        m->name);
	return false;
}

/* ---- the copy -------------------------------------------------------------------------------- */

enum { FILE_SIZE_MAX = 1 << 16 };

static struct {
	struct tree *to;
	size_t skip; /* the length of the recording's folder */
} copy;

static int copy_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	static char bytes[FILE_SIZE_MAX];
	FILE *in = kind == FTW_F ? fopen(path, "re") : NULL;

	(void)st, (void)at;
	if (!in)
		return 0;
	put_device_file(copy.to, path + copy.skip, bytes, fread(bytes, 1, sizeof(bytes), in));
	fclose(in);
	return 0;
}

void copy_recorded_files(const struct pretend_machine *m, struct tree *t)
{
	char devices[FILE_PATH_MAX];

	snprintf(devices, sizeof(devices), "%s/devices", m->recording);
	copy.to = t;
	copy.skip = strlen(devices) + 1;
	(void)nftw(devices, copy_file, WALK_FILES, FTW_PHYS);
}
