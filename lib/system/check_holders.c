/* SPDX-License-Identifier: MIT */
/* Checks of pfm_check_system(): processes that have events open, the holder of the lock that pfm
 * serve --give-way watches, and the groups of resctrl. */
#include "system/system_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LOCK_PATH "/run/perfmon/pmu.lock"

enum { PATH_SIZE = 320, NAME_SIZE = 32, MAX_NAMED = 8, NAMES_SIZE = 400 };

struct holder_search {
	struct pfm_system_check *check;
	char process[NAME_SIZE]; /* number of the process that is searched */
	unsigned n_files;        /* files of events that it has open */
	unsigned n_holders, n_hidden, n_named;
	char named[NAMES_SIZE];
};

/* The name of process @process; "?" if it has ended. */
static void read_process_name(struct pfm_system_check *c, const char *process, char name[NAME_SIZE])
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%s/comm", process);
	if (pfmi_machine_read_small_file(&c->sys.sys, path, name, NAME_SIZE) <= 0)
		snprintf(name, NAME_SIZE, "?");
}

static int count_event_file(void *arg, const char *name)
{
	static const char event[] = "anon_inode:[perf_event]";
	struct holder_search *s = arg;
	char path[PATH_SIZE], target[sizeof(event)];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", s->process, name);
	n = readlink(path, target, sizeof(target));
	s->n_files += n == sizeof(event) - 1 && memcmp(target, event, sizeof(event) - 1) == 0;
	return 0;
}

static int find_events_of_process(void *arg, const char *process)
{
	struct holder_search *s = arg;
	const struct sys *sys = &s->check->sys.sys;
	char path[PATH_SIZE], name[NAME_SIZE];
	size_t len = strlen(s->named);
	int rc;

	if (!base_is_digit(*process) || strlen(process) >= NAME_SIZE ||
	    strtol(process, NULL, 10) == (long)getpid())
		return 0;
	snprintf(s->process, sizeof(s->process), "%s", process);
	s->n_files = 0;
	snprintf(path, sizeof(path), "/proc/%s/fd", process);
	rc = sys->list_folder(sys, path, count_event_file, s);
	s->n_hidden += rc == -EACCES || rc == -EPERM;
	if (!s->n_files)
		return 0;
	s->n_holders++;
	read_process_name(s->check, process, name);
	if (s->n_named < MAX_NAMED && len + PATH_SIZE / 4 < sizeof(s->named)) {
		snprintf(s->named + len, sizeof(s->named) - len, "%s%s (process %s): %u file%s",
		         len ? ", " : "", name, process, s->n_files, s->n_files == 1 ? "" : "s");
		s->n_named++;
	}
	return 0;
}

/* Finds processes that have events open. The kernel does not show which events those are, and shows
 * the files of other users' processes to root only. */
static void check_event_files(struct pfm_system_check *c)
{
	struct finding f = { .check = "open events", .state = PFM_FINDING_NOTE };
	struct holder_search s = { .check = c };

	if (c->sys.sys.list_folder(&c->sys.sys, "/proc", find_events_of_process, &s) < 0 ||
	    !s.n_holders)
		return;
	pfmi_check_set_text(f.observed, "%s", s.named);
	if (s.n_holders > s.n_named)
		pfmi_check_set_text(f.observed, "%s, and %u more processes", s.named,
		                    s.n_holders - s.n_named);
	pfmi_check_set_text(f.consequence,
	                    "their hardware events can share the counters with yours");
	pfmi_check_set_text(f.remedy, "stop them while you measure");
	if (s.n_hidden)
		pfmi_check_set_text(f.available,
		                    "everything; %u processes of other users cannot be checked",
		                    s.n_hidden);
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

/* The process with a lock for writing in a line of /proc/locks; 0 if it is another file's or of
 * another kind. */
static long read_lock_holder(const char *line, const struct stat *file)
{
	unsigned major_number, minor_number;
	unsigned long long inode;
	long process;

	if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%llu", &process, &major_number,
	           &minor_number, &inode) != 4)
		return 0;
	return inode == file->st_ino && major_number == major(file->st_dev) &&
	                       minor_number == minor(file->st_dev)
	               ? process
	               : 0;
}

static void check_counter_lock(struct pfm_system_check *c)
{
	struct finding f = { .check = "lock", .state = PFM_FINDING_NOTE };
	char *text = NULL, name[NAME_SIZE], process[NAME_SIZE];
	struct stat file;
	long holder = 0;
	size_t len;

	if (stat(LOCK_PATH, &file) != 0 || pfmi_check_read_file(c, "/proc/locks", &text, &len) != 0)
		return;
	for (char *at = text, *line; !holder && (line = check_cut_line(&at));)
		holder = read_lock_holder(line, &file);
	free(text);
	if (!holder)
		return;
	snprintf(process, sizeof(process), "%ld", holder);
	read_process_name(c, process, name);
	pfmi_check_set_text(f.observed, "%s (process %s) holds " LOCK_PATH, name, process);
	pfmi_check_set_text(f.consequence, "pfm serve --give-way does not count meanwhile");
	pfmi_check_set_text(f.remedy, "wait until it releases the lock");
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

static int count_name(void *arg, const char *name)
{
	(void)name;
	++*(unsigned *)arg;
	return 0;
}

/* Each monitoring group of resctrl uses one RMID, a number that tags cache occupancy and memory
 * bandwidth. */
static void check_resctrl_groups(struct pfm_system_check *c)
{
	struct finding f = { .check = "resctrl", .state = PFM_FINDING_NOTE };
	const struct sys *sys = &c->sys.sys;
	unsigned n = 0;
	long most;

	if (sys->list_folder(sys, "/sys/fs/resctrl/mon_groups", count_name, &n) < 0)
		return;
	if (!n)
		f.state = PFM_FINDING_GOOD;
	pfmi_check_set_text(f.observed, "%u group%s for monitoring", n, n == 1 ? "" : "s");
	if (pfmi_check_read_number(c, "/sys/fs/resctrl/info/L3_MON/num_rmids", &most))
		pfmi_check_set_text(f.observed, "%u group%s for monitoring, of at most %ld", n,
		                    n == 1 ? "" : "s", most);
	pfmi_check_add_finding(c, PFM_FINDING_OBSTACLES, &f);
}

void pfmi_check_holders(struct pfm_system_check *c)
{
	check_resctrl_groups(c);
	if (c->is_recorded)
		return;
	check_event_files(c);
	check_counter_lock(c);
}
