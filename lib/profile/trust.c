/* SPDX-License-Identifier: MIT */
#include "profile/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "profile/messages.h"
#include "profile/regular_file.h"

struct trust trust_running(void)
{
	return (struct trust){ .recorder = geteuid() };
}

struct trust trust_recording(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0 || stat(path, &st) != 0)
		return trust_running();
	return (struct trust){ .recorder = st.st_uid, .recorded = st.st_mtim };
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The effective user of process @pid. False if it does not run. */
static bool read_process_user(uint32_t pid, uid_t *user)
{
	char path[64], line[256];
	unsigned long effective;
	bool is_found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%lu/status", (unsigned long)pid);
	f = fopen(path, "re");
	while (f && !is_found && fgets(line, sizeof(line), f))
		is_found = sscanf(line, "Uid: %*u %lu", &effective) == 1;
	if (f)
		fclose(f);
	if (is_found)
		*user = (uid_t)effective;
	return is_found;
}

/* Seconds from the start of the machine to that of process @pid; negative if it does not run. The
 * name of the program, in brackets, can contain anything. */
static double read_start_seconds(uint32_t pid)
{
	char path[64], line[1024], *at;
	unsigned long long ticks;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%lu/stat", (unsigned long)pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(line, 1, sizeof(line) - 1, f);
		fclose(f);
	}
	line[n] = '\0';
	at = strrchr(line, ')');
	if (!at || sscanf(at + 1,
	                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
	                  "%*d %*d %llu",
	                  &ticks) != 1)
		return -1;
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double get_seconds(const struct timespec *t)
{
	return (double)t->tv_sec + (double)t->tv_nsec / 1e9;
}

/* Did process @pid, which runs, begin before the recording was written? */
static bool was_recorded(const struct trust *t, uint32_t pid)
{
	struct timespec now, up;
	double start = read_start_seconds(pid);

	if (!t->recorded.tv_sec)
		return true;
	if (start < 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &up) != 0)
		return false;
	return get_seconds(&now) - get_seconds(&up) + start <= get_seconds(&t->recorded);
}

bool trust_owner_of_process(const struct trust *t, uint32_t pid, uid_t owner)
{
	uid_t user;

	if (owner == 0)
		return true;
	if (!read_process_user(pid, &user) || !was_recorded(t, pid))
		user = t->recorder;
	return owner == user;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Can every user create files beside the one at @path? */
static bool is_in_public_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	struct stat st;

	if (!slash || (size_t)(slash - path) + 2 > sizeof(folder))
		return true;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	return stat(folder, &st) != 0 || st.st_mode & S_IWOTH;
}

bool trust_file(const struct trust *t, const char *path, const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == t->recorder || !is_in_public_folder(path);
}

int trust_open(const struct trust *t, const char *path, struct stat *st,
               const struct profile_messages *messages)
{
	int fd = open_regular_file(path, st);

	if (fd < 0 || trust_file(t, path, st))
		return fd;
	close(fd);
	show_profile_message(messages,
	                     "%s is ignored: it belongs to another user than the recording, in a "
	                     "folder to which all users can write",
	                     path);
	return -1;
}
