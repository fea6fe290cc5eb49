/* SPDX-License-Identifier: MIT */
/* pfm stat -p and -t: the processes and threads to count. */
#include "common/pfm.h"
#include "stat/stat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *make_thread_label(int tid)
{
	char path[64], name[32] = "", label[64];
	size_t len = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	f = fopen(path, "r");
	if (f) {
		len = fread(name, 1, sizeof(name) - 1, f);
		fclose(f);
	}
	/* The kernel ends the name with a newline; the name itself may contain newlines. */
	name[len ? len - 1 : 0] = 0;
	snprintf(label, sizeof(label), "%s-%d", *name ? name : "?", tid);
	return strdup(label);
}

static int add_task(struct stat_job *job, int pid, bool thread)
{
	struct stat_target *p;
	unsigned i;

	/* Skip a task that is counted already. */
	for (i = 0; i < job->targets.n; i++)
		if (job->targets.list[i].pid == pid)
			return EXIT_DONE;
	p = add_target(&job->targets, 0, job->request.events.n);
	if (!p)
		return report_bad_option("tasks", ENOMEM);
	p->pid = pid;
	p->thread = thread;
	if (job->options.by == BY_THREAD && !(p->label = make_thread_label(pid)))
		return report_bad_option("tasks", ENOMEM);
	return EXIT_DONE;
}

/* Adds every thread of process @pid as a part. */
static int add_threads(struct stat_job *job, int pid)
{
	char path[64];
	const struct dirent *entry;
	int status = EXIT_DONE;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return report_bad_option(path, errno);
	while (status == EXIT_DONE && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			status = add_task(job, atoi(entry->d_name), true);
	closedir(dir);
	return status;
}

/* True if task @id is a thread of a process that is counted with all its threads. */
static bool is_within(const struct stat_targets *targets, int id)
{
	int pid = read_thread_process(id);
	unsigned i;

	for (i = 0; i < targets->n_pids && pid != id; i++)
		if (targets->pids[i] == pid)
			return true;
	return false;
}

int add_tasks(struct stat_job *job)
{
	int status = EXIT_DONE;
	unsigned i;

	for (i = 0; i < job->targets.n_pids && status == EXIT_DONE; i++)
		if (!is_within(&job->targets, job->targets.pids[i]))
			status = job->options.by == BY_THREAD
			                 ? add_threads(job, job->targets.pids[i])
			                 : add_task(job, job->targets.pids[i], false);
	for (i = 0; i < job->targets.n_tids && status == EXIT_DONE; i++)
		if (!is_within(&job->targets, job->targets.tids[i]))
			status = add_task(job, job->targets.tids[i], true);
	return status;
}
