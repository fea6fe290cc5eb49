/* SPDX-License-Identifier: MIT */
/* Control groups to count: those of pfm stat -G, and those that match the patterns of pfm serve
 * --for-each-cgroup. The latter are added when they appear and removed when they are deleted: a
 * group is counted as long as its folder exists; a new folder with the same name is a new group. */
#include "common/pfm.h"
#include "series/series.h"
#include "stat/stat.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, MAX_DEPTH = 24, KEPT_FILES = 160 /* for clients, files and readings */ };

/* A folder that a pattern matches. */
struct found_cgroup {
	char *path;
	uint64_t id; /* its inode */
	bool is_counted;
};

struct found_cgroups {
	struct found_cgroup *at;
	size_t n;
};

static bool is_cgroup_pattern(const char *names)
{
	return strpbrk(names, "*?[") != NULL;
}

/* ---- named groups ---------------------------------------------------------------------------- */

bool find_perf_cgroup_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	const struct mntent *m;
	bool own = false, any = false;

	path[0] = 0;
	while (mounts && !own && (m = getmntent(mounts))) {
		own = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "perf_event");
		if (!own && (any || strcmp(m->mnt_type, "cgroup2") != 0))
			continue;
		any = true;
		snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return *path != 0;
}

/* Finds where perf's hierarchy of control groups is mounted. False, after a message, if it is not
 * mounted. */
static bool find_cgroup_mount(char *path, size_t size)
{
	if (find_perf_cgroup_mount(path, size))
		return true;
	fprintf(stderr,
	        "%s: no control groups are mounted: run 'mount -t cgroup2 none /sys/fs/cgroup' as "
	        "root\n",
	        program_name);
	return false;
}

/* Returns the path of group @name, which the caller frees; NULL without memory. */
static char *make_cgroup_path(const char *mount, const char *name)
{
	char *path = NULL;

	if (strncmp(name, mount, strlen(mount)) == 0)
		return strdup(name);
	return asprintf(&path, "%s/%s", mount, name + (*name == '/')) < 0 ? NULL : path;
}

bool has_cgroup(const char *name)
{
	char mount[PATH_SIZE];
	char *path =
		find_perf_cgroup_mount(mount, sizeof(mount)) ? make_cgroup_path(mount, name) : NULL;
	const bool is_there = path && access(path, X_OK) == 0;

	free(path);
	return is_there;
}

static int add_cgroup(struct stat_targets *targets, const char *mount, const char *name,
                      unsigned first, unsigned n)
{
	struct stat_target *p = add_target(targets, first, n);

	if (!p)
		return report_bad_option("control groups", ENOMEM);
	p->label = strdup(name);
	if (*name)
		p->cgroup = make_cgroup_path(mount, name);
	if (!p->label || (*name && !p->cgroup))
		return report_bad_option("control groups", ENOMEM);
	if (!p->cgroup || access(p->cgroup, X_OK) == 0)
		return EXIT_DONE;
	fprintf(stderr,
	        "%s: %s: expected a control group, got '%s' (%s: %s); 'systemd-cgls' lists them\n",
	        program_name, targets->each_cgroup ? "--for-each-cgroup" : "-G", name, p->cgroup,
	        strerror(errno));
	return EXIT_REFUSED;
}

static bool is_labelled(const struct stat_targets *targets, const char *name)
{
	unsigned i;

	for (i = 0; i < targets->n; i++)
		if (strcmp(targets->list[i].label, name) == 0)
			return true;
	return false;
}

static int report_too_many_groups(const struct stat_request *request)
{
	fprintf(stderr,
	        "%s: -G has more names than the %u event%s to count; --for-each-cgroup counts "
	        "every event for each\n",
	        program_name, request->events.n, request->events.n == 1 ? "" : "s");
	return EXIT_REFUSED;
}

/* Adds the groups of -G: one name for all events, or a name for each event, where an empty name is
 * the whole system. */
int add_cgroups(struct stat_job *job)
{
	char mount[PATH_SIZE], *rest = job->targets.cgroups;
	unsigned i = 0;
	int status = EXIT_DONE;

	if (!find_cgroup_mount(mount, sizeof(mount)))
		return EXIT_REFUSED;
	if (!job->targets.each_cgroup && !strchr(job->targets.cgroups, ','))
		return add_cgroup(&job->targets, mount, job->targets.cgroups, 0,
		                  job->request.events.n);
	for (; rest && status == EXIT_DONE; i++) {
		const char *name = strsep(&rest, ",");

		if (job->targets.each_cgroup)
			status = is_labelled(&job->targets, name)
			                 ? EXIT_DONE
			                 : add_cgroup(&job->targets, mount, name, 0,
			                              job->request.events.n);
		else if (i < job->request.events.n)
			status = add_cgroup(&job->targets, mount, name, i, 1);
		else
			status = report_too_many_groups(&job->request);
	}
	if (status == EXIT_DONE && !job->targets.each_cgroup && i < job->request.events.n)
		return add_cgroup(&job->targets, mount, "", i, job->request.events.n - i);
	return status;
}

/* ---- folders --------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct found_cgroup *)a)->path,
	              ((const struct found_cgroup *)b)->path);
}

static void free_found(struct found_cgroups *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].path);
	free(f->at);
}

/* Adds the folders among the paths. False without memory. */
static bool add_folders(struct found_cgroups *f, char *const *paths, size_t n)
{
	struct found_cgroup *more = realloc(f->at, (f->n + n + 1) * sizeof(*more));
	struct stat folder;

	if (!more)
		return false;
	f->at = more;
	for (size_t i = 0; i < n; i++) {
		if (stat(paths[i], &folder) != 0 || !S_ISDIR(folder.st_mode))
			continue;
		f->at[f->n].path = strdup(paths[i]);
		f->at[f->n].id = folder.st_ino;
		f->at[f->n].is_counted = false;
		if (!f->at[f->n].path)
			return false;
		f->n++;
	}
	return true;
}

/* Ends a search for which files or memory lack: what it found is not all there is. */
static int stop_at_shortage(const char *path, int error)
{
	(void)path;
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* The folders that @pattern matches below @mount. False if they cannot be listed. */
static bool list_folders(struct found_cgroups *f, const char *mount, const char *pattern)
{
	size_t size = strlen(mount) + strlen(pattern) + 2;
	char *whole = malloc(size);
	glob_t g = { 0 };
	bool is_good;
	int rc;

	if (!whole)
		return false;
	if (strncmp(pattern, mount, strlen(mount)) == 0 && pattern[strlen(mount)] == '/')
		snprintf(whole, size, "%s", pattern);
	else
		snprintf(whole, size, "%s/%s", mount, pattern + (*pattern == '/'));
	rc = glob(whole, GLOB_NOSORT | GLOB_ONLYDIR, stop_at_shortage, &g);
	is_good = rc != GLOB_NOSPACE && rc != GLOB_ABORTED &&
	          (rc != 0 || add_folders(f, g.gl_pathv, g.gl_pathc));
	globfree(&g);
	free(whole);
	return is_good;
}

static void remove_repeated(struct found_cgroups *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (n && strcmp(f->at[n - 1].path, f->at[i].path) == 0)
			free(f->at[i].path);
		else
			f->at[n++] = f->at[i];
	f->n = n;
}

static bool sort_found(struct found_cgroups *f)
{
	if (f->n)
		qsort(f->at, f->n, sizeof(*f->at), compare_paths);
	remove_repeated(f);
	return true;
}

/* Adds the folder at @path, whose first @mount_len bytes are the mount, if it is selected, or those
 * below it. False if a folder cannot be listed for lack of files or memory. */
static bool visit_folder(struct found_cgroups *f, const struct stat_targets *targets, char *path,
                         size_t mount_len, unsigned depth)
{
	const size_t len = strlen(path);
	const struct dirent *entry;
	bool is_good = true;
	DIR *folder;

	if (len > mount_len && targets->selects(path + mount_len + 1))
		return add_folders(f, &path, 1);
	folder = depth < MAX_DEPTH ? opendir(path) : NULL;
	if (!folder)
		return depth == MAX_DEPTH || !stop_at_shortage(path, errno);
	while (is_good && (entry = readdir(folder))) {
		if (entry->d_type != DT_DIR || *entry->d_name == '.' ||
		    len + strlen(entry->d_name) + 2 > PATH_SIZE)
			continue;
		snprintf(path + len, PATH_SIZE - len, "/%s", entry->d_name);
		is_good = visit_folder(f, targets, path, mount_len, depth + 1);
		path[len] = '\0';
	}
	closedir(folder);
	return is_good;
}

/* Finds the groups that the caller selects. False if they cannot be listed. */
static bool list_selected(struct found_cgroups *f, const struct stat_targets *targets,
                          const char *mount)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s", mount);
	return visit_folder(f, targets, path, strlen(path), 0);
}

/* Finds all groups that match the patterns, sorted by path. False if they cannot be listed. */
static bool list_cgroups(const struct stat_targets *targets, struct cgroup_figures *figures,
                         struct found_cgroups *f)
{
	char *copy, *rest, *pattern;
	bool is_good;

	if (targets->selects)
		return list_selected(f, targets, figures->mount) && sort_found(f);
	copy = rest = strdup(targets->cgroups);
	is_good = copy != NULL;
	figures->n_missing = 0;
	while (is_good && (pattern = strsep(&rest, ","))) {
		const size_t before = f->n;

		is_good = !*pattern || list_folders(f, figures->mount, pattern);
		figures->n_missing += *pattern && f->n == before && !is_cgroup_pattern(pattern);
	}
	free(copy);
	return is_good && sort_found(f);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Reserves memory for @more parts and updates pointers to parts. */
static bool reserve_parts(struct stat_job *job, size_t more)
{
	struct stat_target *moved = calloc(job->targets.n + more + 1, sizeof(*moved));

	if (!moved)
		return false;
	if (job->targets.n)
		memcpy(moved, job->targets.list, job->targets.n * sizeof(*moved));
	for (struct stat_row *row = job->result.rows; row < job->result.rows + job->result.n_rows;
	     row++) {
		if (row->part)
			row->part = moved + (row->part - job->targets.list);
		row->worst = NULL;
	}
	free(job->targets.list);
	job->targets.list = moved;
	return true;
}

/* True if a folder is not counted so far. */
static bool has_new(const struct found_cgroups *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->at[i].is_counted)
			return true;
	return false;
}

/* Marks parts whose group was removed. Returns their number. */
static unsigned mark_gone(struct stat_targets *targets, struct found_cgroups *f)
{
	unsigned n = 0;

	for (struct stat_target *p = targets->list; p < targets->list + targets->n; p++) {
		const struct found_cgroup key = { .path = p->cgroup };
		struct found_cgroup *found =
			f->n && p->cgroup ? bsearch(&key, f->at, f->n, sizeof(key), compare_paths)
					  : NULL;
		const bool is_removed = p->cgroup && (!found || found->id != p->cgroup_id);

		/* The last counts of a container are served once more. */
		p->is_gone = is_removed && (!targets->selects || p->has_ended);
		p->has_ended = is_removed;
		if (is_removed && !p->is_gone)
			continue;
		if (!p->is_gone && found)
			found->is_counted = true;
		n += p->is_gone;
	}
	return n;
}

/* Removes the rows of marked parts. moved[i]: new index of row i; UINT_MAX: removed. */
static void remove_gone_rows(struct stat_result *result, unsigned *moved)
{
	unsigned n = 0;

	for (unsigned i = 0; i < result->n_rows; i++) {
		const bool is_gone = result->rows[i].part && result->rows[i].part->is_gone;

		moved[i] = is_gone ? UINT_MAX : n;
		if (is_gone)
			free_row(&result->rows[i]);
		else
			result->rows[n++] = result->rows[i];
	}
	result->n_rows = n;
}

static void remove_gone_parts(struct stat_job *job, const unsigned *moved)
{
	unsigned n = 0;

	for (unsigned i = 0; i < job->targets.n; i++) {
		struct stat_target *p = &job->targets.list[i];

		if (p->is_gone) {
			free_target(p);
			continue;
		}
		for (unsigned k = 0; k < p->n; k++)
			p->rows[k] = moved[p->rows[k]];
		for (unsigned k = 0; k < p->n; k++) {
			job->result.rows[p->rows[k]].part = &job->targets.list[n];
			job->result.rows[p->rows[k]].worst = NULL;
		}
		job->targets.list[n++] = *p;
	}
	job->targets.n = n;
}

/* Adds a part unless its group was removed meanwhile. False without memory. */
static bool add_part(struct stat_job *job, const struct found_cgroup *found, const char *mount)
{
	struct stat_target *p = &job->targets.list[job->targets.n];
	bool has_names;

	*p = (struct stat_target){ .n_texts = job->request.events.n, .watch = -1 };
	p->cgroup = strdup(found->path);
	p->label = strdup(found->path + strlen(mount) + 1);
	p->cgroup_id = found->id;
	has_names = p->cgroup && p->label;
	if (!has_names || open_new_target(job, p) != EXIT_DONE) {
		free_target(p);
		return has_names;
	}
	job->targets.n++;
	return make_rows(job, p) && add_session_metrics(&job->result, p->session) &&
	       prepare_ratios(job);
}

/* Returns how many more parts may be counted; SIZE_MAX while the number of series of a part is
 * unknown. */
static size_t compute_room(struct stat_job *job, size_t most_series)
{
	const size_t used = job->targets.n ? count_most_series(job) : 0,
		     each = job->targets.n ? used / job->targets.n : 0;

	return !each ? SIZE_MAX : used < most_series ? (most_series - used) / each : 0;
}

static bool remove_gone(struct stat_job *job, struct cgroup_figures *figures, unsigned n_gone)
{
	unsigned *moved = calloc(job->result.n_rows + 1, sizeof(*moved));

	if (!moved)
		return false;
	remove_gone_rows(&job->result, moved);
	remove_gone_parts(job, moved);
	move_series(job, moved);
	figures->n_gone += n_gone;
	free(moved);
	return extend_series(job);
}

static unsigned count_target_files(const struct stat_target *p)
{
	pfm_count_info_t info = PFM_INIT(info);
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++)
		if (!pfm_describe_count(p->session, i, &info))
			n += info.n_kernel_events;
	return n;
}

/* True if the files of one more group may be opened, besides those that clients and readings
 * need. A session raises the soft limit when it needs more. */
static bool has_files_for_group(const struct stat_targets *targets, unsigned files_each)
{
	const uint64_t needed = ((uint64_t)targets->n + 1) * files_each + KEPT_FILES;
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max == RLIM_INFINITY ||
	       needed <= files.rlim_max;
}

static bool add_new(struct stat_job *job, const struct found_cgroups *f, size_t most_series,
                    struct cgroup_figures *figures)
{
	const char *mount = figures->mount;
	size_t size = compute_room(job, most_series);
	bool is_good = true;

	for (size_t i = 0; i < f->n && is_good; i++) {
		const unsigned before = job->targets.n;

		if (f->at[i].is_counted)
			continue;
		if (!size) {
			figures->n_omitted++;
			continue;
		}
		if (!has_files_for_group(&job->targets, figures->files_each)) {
			figures->n_omitted++;
			figures->n_without_files++;
			continue;
		}
		is_good = add_part(job, &f->at[i], mount);
		if (job->targets.n == before)
			continue;
		figures->files_each = count_target_files(&job->targets.list[before]);
		figures->n_born++;
		size--;
		if (is_good && !before) {
			is_good = extend_series(job);
			size = compute_room(job, most_series);
		}
	}
	return is_good && extend_series(job);
}

/* Starts counting in the parts from @first on. */
static int start_new(struct stat_job *job, unsigned first)
{
	if (job->rotation.is_on && select_slot(job) != EXIT_DONE)
		return EXIT_REFUSED;
	for (struct stat_target *p = job->targets.list + first;
	     p < job->targets.list + job->targets.n; p++)
		pfm_start_session(p->session);
	return EXIT_DONE;
}

int update_cgroups(struct stat_job *job, size_t most_series, bool is_counting,
                   struct cgroup_figures *figures)
{
	struct found_cgroups f = { 0 };
	unsigned n_gone, n_kept;
	bool is_good = true;

	if (!*figures->mount && !find_cgroup_mount(figures->mount, sizeof(figures->mount)))
		return EXIT_REFUSED;
	if (!list_cgroups(&job->targets, figures, &f)) {
		/* No memory or no files at the moment: those that are counted stay. */
		free_found(&f);
		figures->n_failures++;
		return EXIT_DONE;
	}
	n_gone = mark_gone(&job->targets, &f);
	n_kept = job->targets.n - n_gone;
	figures->n_omitted = figures->n_without_files = 0;
	if (n_gone)
		is_good = remove_gone(job, figures, n_gone);
	if (is_good && has_new(&f))
		is_good = reserve_parts(job, f.n) && add_new(job, &f, most_series, figures);
	free_found(&f);
	if (!is_good)
		return report_no_memory();
	return is_counting && job->targets.n > n_kept ? start_new(job, n_kept) : EXIT_DONE;
}
