/* SPDX-License-Identifier: MIT */
/* pfm stat --regions: results of all processes, from the folder that they share.
 *
 * Each process has a file of sums there (perfmon_regions(5)), which stays however the process ends.
 * Programs with an older library write results in the format themselves. */
#include "stat/region_results.h"
#include "common/pfm.h"
#include "stat/region_places.h"
#include "stat/region_text.h"
#include "stat/stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfmon/region.h>

/* ---- processes --------------------------------------------------------------------------- */

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	return len > end && strcmp(name + len - end, suffix) == 0;
}

/* Field 22 of /proc/PID/stat; 0 if there is no such process. */
static uint64_t read_start_time(int pid)
{
	char path[64], text[1024], *at;
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	in = fopen(path, "re");
	n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
	if (in)
		fclose(in);
	text[n] = '\0';
	at = strrchr(text, ')');
	if (at && (at[2] == 'Z' || at[2] == 'X'))
		return 0;
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/* True if process @pid maps a file called @name: it has not executed another program. */
static bool has_mapping(int pid, const char *name)
{
	char path[64], line[4352];
	bool is_found = false;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	in = fopen(path, "re");
	while (in && !is_found && fgets(line, sizeof(line), in))
		is_found = strstr(line, name) != NULL;
	if (in)
		fclose(in);
	return is_found;
}

/* Writes how a process ended that has not called exit(3), as far as it can be known. True if a user
 * must know it even where no visit was open. */
static bool describe_end(const struct region_command *command, const pfm_region_process_t *p,
                         const char *name, bool has_later, char *text, size_t size)
{
	const int status = command->status;
	const bool is_command = p->process == command->pid && !has_later;
	const bool is_killed = is_command && WIFSIGNALED(status);
	const bool is_alive = !has_later && !is_killed && p->start_time &&
	                      read_start_time(p->process) == p->start_time;
	const bool is_running = is_alive && has_mapping(p->process, name);

	if (is_killed)
		snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
		         strsignal(WTERMSIG(status)));
	else if (is_running)
		snprintf(text, size, "is still running");
	else if (has_later || is_alive)
		snprintf(text, size, "executed another program");
	else if (is_command)
		snprintf(text, size,
		         "ended with status %d without exit(3), or executed another program",
		         WEXITSTATUS(status));
	else
		snprintf(text, size,
		         "ended by a signal, _exit(2) or the execution of another program");
	return is_killed || is_running;
}

/* Reports a process that has lost visits, or whose results are not final. */
static void report_end(const struct region_command *command, const pfm_region_results_t *r,
                       const char *name, bool has_later)
{
	pfm_region_process_t p = PFM_INIT(p);
	bool is_important;
	char text[128];

	pfm_describe_region_process(r, &p);
	if (p.is_incomplete)
		fprintf(stderr,
		        "%s: process %d (%s) could not write all results: no room in the "
		        "folder of results\n",
		        program_name, p.process, p.program);
	if (p.has_ended)
		return;
	is_important = describe_end(command, &p, name, has_later, text, sizeof(text));
	if (p.unfinished || is_important)
		fprintf(stderr,
		        "%s: process %d (%s) %s with %llu open visits; the visits that had ended "
		        "are counted\n",
		        program_name, p.process, p.program, text, (unsigned long long)p.unfinished);
}

/* ---- the folder -------------------------------------------------------------------------- */

static int is_result(const struct dirent *e)
{
	return strncmp(e->d_name, "regions.", 8) == 0;
}

/* Orders "regions.PID.regions", "regions.PID.2.regions" ... by the two numbers. */
static void read_numbers(const char *name, long numbers[2])
{
	char *end;

	numbers[0] = strtol(name + 8, &end, 10);
	numbers[1] = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
}

static int compare_results(const struct dirent **a, const struct dirent **b)
{
	long x[2], y[2];

	read_numbers((*a)->d_name, x);
	read_numbers((*b)->d_name, y);
	for (unsigned i = 0; i < 2; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool is_same_process(const char *a, const char *b)
{
	long x[2], y[2];

	read_numbers(a, x);
	read_numbers(b, y);
	return x[0] == y[0];
}

static void report_unreadable(const char *name)
{
	fprintf(stderr,
	        "%s: the results of process %ld are lost: it could not write them, or they are "
	        "damaged\n",
	        program_name, strtol(name + strlen("regions."), NULL, 10));
}

/* Adds *@r to the sum, or takes it as the sum. */
static void add_to_sum(struct region_collection *to, pfm_region_results_t **r, const char *name,
                       unsigned n_regions)
{
	int rc = PFMLIB_SUCCESS;

	if (!n_regions)
		return;
	if (!to->sum) {
		to->sum = *r;
		*r = NULL;
	} else {
		rc = pfm_add_region_results(to->sum, *r);
	}
	if (rc) {
		fprintf(stderr, "%s: the results of process %ld cannot be added: %s\n",
		        program_name, strtol(name + strlen("regions."), NULL, 10),
		        rc == PFMLIB_ERR_NOMEM ? "no memory" : "it counts other events");
		to->n_lost++;
	} else {
		to->n_written++;
	}
}

/* Adds the results in the file of sums @fd. */
static void add_sums(struct region_collection *to, struct region_join *join, int fd,
                     const char *name, bool has_later)
{
	pfm_region_process_t p = PFM_INIT(p);
	pfm_region_results_t *r;
	bool is_written;
	FILE *text;

	if (pfm_load_regions(fd, &r, NULL)) {
		report_unreadable(name);
		to->n_lost++;
		return;
	}
	name_region_places(&to->places, r, fd);
	pfm_describe_region_process(r, &p);
	if (to->is_summed) {
		report_end(to->command, r, name, has_later);
		to->n_lost += p.is_incomplete != 0;
		add_to_sum(to, &r, name, p.n_regions);
		pfm_close_region_results(r);
		return;
	}
	text = p.n_regions ? write_region_text(r, to->format) : NULL;
	is_written = text && add_region_text(to, join, p.rank, text);
	to->n_written += is_written;
	if (!to->is_snapshot)
		report_end(to->command, r, name, has_later);
	to->n_lost += p.is_incomplete || (p.n_regions && !is_written);
	if (text)
		fclose(text);
	pfm_close_region_results(r);
}

static void add_file(struct region_collection *to, struct region_join *join, int folder,
                     const char *name, bool has_later)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *in;

	if (fd < 0)
		return;
	if (has_suffix(name, ".regions")) {
		add_sums(to, join, fd, name, has_later);
		close(fd);
		return;
	}
	in = to->is_summed ? NULL : fdopen(fd, "r"); /* texts have no sum */
	if (!in) {
		to->n_lost += to->is_summed;
		close(fd);
		return;
	}
	to->n_written += add_region_text(to, join, -1, in);
	fclose(in);
}

/* Opens the file of sums that process @pid maps; -1 if it maps none. */
static int open_mapped_file(int pid)
{
	char maps[64], line[REGION_PATH_SIZE + 256], path[REGION_PATH_SIZE + 320];
	int fd = -1;
	FILE *in;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	in = fopen(maps, "re");
	while (in && fd < 0 && fgets(line, sizeof(line), in)) {
		char *name = strchr(line, '/');

		if (!name)
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (!has_suffix(name, ".regions") || !strstr(name, "/regions."))
			continue;
		/* The process may have a root directory of its own. */
		snprintf(path, sizeof(path), "/proc/%d/root%s", pid, name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	if (in)
		fclose(in);
	return fd;
}

void collect_running_regions(struct region_collection *to, const int *pids, unsigned n)
{
	struct region_join join = begin_region_join(to);

	to->is_snapshot = true;
	for (unsigned i = 0; i < n && join.out; i++) {
		int fd = open_mapped_file(pids[i]);
		char name[64];

		if (fd < 0) {
			fprintf(stderr,
			        "%s: process %d has no results of regions: start it under pfm stat "
			        "--regions, or with PERFMON_REGIONS and a folder in "
			        "PERFMON_REGIONS_OUTPUT\n",
			        program_name, pids[i]);
			to->n_lost++;
			continue;
		}
		snprintf(name, sizeof(name), "regions.%d", pids[i]);
		add_sums(to, &join, fd, name, false);
		close(fd);
	}
	end_region_join(to, &join);
	free_region_places(&to->places);
}

void collect_region_results(struct region_collection *to, const char *path)
{
	struct region_join join = { 0 };
	struct dirent **names = NULL;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = scandir(path, &names, is_result, compare_results);

	if (!to->is_summed)
		join = begin_region_join(to);
	for (int i = 0; i < n; i++) {
		if (join.out || to->is_summed)
			add_file(to, &join, folder, names[i]->d_name,
			         i + 1 < n &&
			                 is_same_process(names[i]->d_name, names[i + 1]->d_name));
		if (i)
			free(names[i - 1]);
	}
	if (n > 0)
		free(names[n - 1]);
	free(names);
	if (folder >= 0)
		close(folder);
	if (!to->is_summed)
		end_region_join(to, &join);
	free_region_places(&to->places);
}
