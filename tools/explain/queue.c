/* SPDX-License-Identifier: MIT */
/* Reads what the tasks of a process wait for. */
#include "explain/queue.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	DEPTH_MAX = 8,
	CONTENDED = 2 /* the value of a lock for which threads wait: glibc's and Rust's */
};

/* Reads a number of the thread whose folder in /proc is @path. */
typedef double read_thread_fn(const char *path);

static double read_tree(int pid, unsigned depth, read_thread_fn *read);

/* Adds up the numbers of thread @tid and of the processes that it started. */
static double read_thread(int pid, const char *tid, unsigned depth, read_thread_fn *read)
{
	char path[64], children[96];
	double sum;
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s", pid, tid);
	sum = read(path);
	snprintf(children, sizeof(children), "%s/children", path);
	f = depth < DEPTH_MAX ? fopen(children, "re") : NULL;
	while (f && fscanf(f, "%d", &child) == 1)
		sum += read_tree(child, depth + 1, read);
	if (f)
		fclose(f);
	return sum;
}

static double read_tree(int pid, unsigned depth, read_thread_fn *read)
{
	char path[64];
	const struct dirent *entry;
	double sum = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			sum += read_thread(pid, entry->d_name, depth, read);
	if (tasks)
		closedir(tasks);
	return sum;
}

/* Reads the nanoseconds in which the thread could run and had no CPU. */
static double read_run_queue(const char *thread)
{
	char path[96];
	double waited = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/schedstat", thread);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*u %lf", &waited) != 1)
		waited = 0;
	if (f)
		fclose(f);
	return waited;
}

static bool is_futex(long call)
{
#ifdef SYS_futex_time64
	if (call == SYS_futex_time64)
		return true;
#endif
#ifdef SYS_futex
	return call == SYS_futex;
#else
	return false;
#endif
}

/* Returns 1 if the thread waits for a lock, otherwise 0. */
static double read_lock(const char *thread)
{
	char path[96], line[160] = "";
	unsigned long value;
	char *end;
	long call;
	FILE *f;

	snprintf(path, sizeof(path), "%s/syscall", thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		*line = 0;
	fclose(f);
	call = strtol(line, &end, 10);
	if (end == line || !is_futex(call))
		return 0;
	strtoul(end, &end, 16); /* the address */
	strtoul(end, &end, 16); /* the operation */
	value = strtoul(end, &end, 16);
	return value == CONTENDED;
}

double read_queue_time(pid_t pid)
{
	return read_tree(pid, 0, read_run_queue) / 1e9;
}

double count_lock_waiters(pid_t pid)
{
	return read_tree(pid, 0, read_lock);
}
