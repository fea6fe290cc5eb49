/* SPDX-License-Identifier: MIT */
/* The regions count nothing but their visits and time, so that they open no events beside those
 * that sample. */
#include "record/visits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/pfm.h"
#include "diff/region_rows.h"
#include "stat/stat.h"

enum { PATH_SIZE = 4096 };

static const char *const variables[] = { "PERFMON_REGIONS", "PERFMON_REGIONS_OPTIONS",
	                                 "PERFMON_REGIONS_OUTPUT", "PERFMON_REGIONS_FORMAT",
	                                 "PERFMON_REGIONS_FOLDER" };

int begin_visits(struct region_visits *v)
{
	static const struct stat_job defaults;
	char output[REGION_PATH_SIZE + 2];
	int err;

	if (!v->is_wanted)
		return EXIT_DONE;
	err = make_region_folder(&v->folder, false);
	if (err) {
		fprintf(stderr, "pfm record: --regions: %s: %s\n", v->folder.path, strerror(err));
		return EXIT_REFUSED;
	}
	snprintf(output, sizeof(output), "%s/", v->folder.results);
	inherit_region_folder(&v->folder);
	setenv("PERFMON_REGIONS", "time", 1);
	setenv("PERFMON_REGIONS_OPTIONS", "keep-file", 1);
	setenv("PERFMON_REGIONS_OUTPUT", output, 1);
	setenv("PERFMON_REGIONS_FORMAT", "json", 1);
	load_region_adapters(&defaults, v->interfaces, sizeof(v->interfaces));
	return EXIT_DONE;
}

void clear_visit_variables(struct region_visits *v, pid_t pid)
{
	v->pid = pid;
	for (size_t i = 0; v->is_wanted && i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
}

static bool make_visits_path(const char *recording, char path[PATH_SIZE])
{
	return (size_t)snprintf(path, PATH_SIZE, "%s" REGIONS_SUFFIX, recording) < PATH_SIZE;
}

void remove_earlier_visits(const char *recording)
{
	char path[PATH_SIZE];

	if (make_visits_path(recording, path))
		unlink(path);
}

void discard_visits(struct region_visits *v)
{
	if (v->is_wanted && *v->folder.path)
		remove_region_folder(&v->folder);
	v->is_wanted = false;
}

static int write_text(const struct region_collection *from, const char *recording)
{
	char path[PATH_SIZE];
	FILE *out = make_visits_path(recording, path) ? fopen(path, "wxe") : NULL;
	bool is_written = out && fwrite(from->text, 1, from->size, out) == from->size;

	is_written = out && fclose(out) == 0 && is_written;
	if (is_written)
		return EXIT_DONE;
	fprintf(stderr, "pfm record: --regions: %s: %s\n", path, strerror(errno));
	return EXIT_REFUSED;
}

int write_visits(struct region_visits *v, const char *path, const char *command, int wait_status)
{
	const struct region_command run = { .pid = v->pid, .status = wait_status };
	struct region_collection results = { .format = "json", .command = &run };
	int status = EXIT_DONE;

	if (!v->is_wanted)
		return EXIT_DONE;
	collect_region_results(&results, v->folder.results);
	if (results.n_written)
		status = write_text(&results, path);
	else
		report_no_region(command, v->interfaces);
	discard_visits(v);
	free(results.text);
	return status;
}
