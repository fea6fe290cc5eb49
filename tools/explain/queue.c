/* SPDX-License-Identifier: MIT */
/* Reads how long the tasks of a process waited for a CPU. */
#include "explain/queue.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 8 };

static double read_tree(int pid, unsigned depth);

/* The time of thread @tid, and of the processes that it started. */
static double read_thread(int pid, const char *tid, unsigned depth)
{
	char path[96];
	double waited = 0;
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", pid, tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*u %lf", &waited) != 1)
		waited = 0;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", pid, tid);
	f = depth < DEPTH_MAX ? fopen(path, "re") : NULL;
	while (f && fscanf(f, "%d", &child) == 1)
		waited += read_tree(child, depth + 1);
	if (f)
		fclose(f);
	return waited;
}

/* Nanoseconds. */
static double read_tree(int pid, unsigned depth)
{
	char path[64];
	const struct dirent *entry;
	double sum = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			sum += read_thread(pid, entry->d_name, depth);
	if (tasks)
		closedir(tasks);
	return sum;
}

double read_queue_time(pid_t pid)
{
	return read_tree(pid, 0) / 1e9;
}
