/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "simulate/places.h"

enum { KNOWN_MAX = 256, NO_MAPPING = -1 };

static struct simulated_profile *profile;
static char task[SIMULATED_TASK_MAX];
static uint32_t program;
/* Mappings of this process: where they are in its memory, and their numbers. */
static struct known_mapping {
	uint64_t first, end;
	int number;
} known[KNOWN_MAX];
static unsigned n_known;
static bool is_known;

/* The number of @m, which is added unless this program had it before. */
static int number_mapping(const struct simulated_mapping *m)
{
	uint32_t n = profile->n_mappings;

	for (uint32_t i = n < SIMULATED_MAPPINGS ? n : SIMULATED_MAPPINGS; i-- > 0;) {
		const struct simulated_mapping *old = &profile->mappings[i];

		if (old->program == m->program && old->start == m->start && old->size == m->size &&
		    old->offset == m->offset && strcmp(old->path, m->path) == 0)
			return (int)i;
	}
	n = __atomic_fetch_add(&profile->n_mappings, 1, __ATOMIC_RELAXED);
	if (n >= SIMULATED_MAPPINGS)
		return NO_MAPPING;
	profile->mappings[n] = *m;
	return (int)n;
}

/* Reads a line of /proc/self/maps: @base is what QEMU adds to addresses of the program. */
static void read_mapping(const char *line, uint64_t base)
{
	unsigned long long first, end, offset;
	struct simulated_mapping m = { .pid = (uint32_t)getpid(), .program = program };
	int at = 0;

	if (n_known == KNOWN_MAX ||
	    sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &first, &end, &offset, &at) < 3 || !at ||
	    line[at] != '/')
		return;
	m.start = first - base;
	m.size = end - first;
	m.offset = offset;
	memcpy(m.task, task, sizeof(task));
	snprintf(m.path, sizeof(m.path), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	known[n_known++] = (struct known_mapping){ first, end, number_mapping(&m) };
}

static void read_mappings(uint64_t base)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[SIMULATED_PATH_MAX + 128];

	n_known = 0;
	is_known = f != NULL;
	while (f && fgets(line, sizeof(line), f))
		read_mapping(line, base);
	if (f)
		fclose(f);
}

void forget_mappings(void)
{
	is_known = false;
}

/* The number of the mapping with the code at @here, which is no file's if the program made it. */
static int find_mapping(uint64_t here)
{
	struct simulated_mapping none = { .pid = (uint32_t)getpid(), .program = program };

	for (unsigned i = 0; i < n_known; i++)
		if (here >= known[i].first && here < known[i].end)
			return known[i].number;
	memcpy(none.task, task, sizeof(task));
	return number_mapping(&none);
}

/* Blocks are translated by one thread at a time. */
struct simulated_place *add_place(uint64_t address, const void *code)
{
	const uint64_t here = (uint64_t)(uintptr_t)code;
	uint32_t n;
	int mapping;

	if (!is_known)
		read_mappings(here - address);
	mapping = find_mapping(here);
	n = __atomic_fetch_add(&profile->n_places, 1, __ATOMIC_RELAXED);
	if (n >= SIMULATED_PLACES || mapping == NO_MAPPING) {
		profile->is_full = 1;
		return NULL;
	}
	profile->places[n].address = address;
	profile->places[n].mapping = (uint64_t)mapping;
	return &profile->places[n];
}

void name_program(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	if (path && !*task)
		snprintf(task, sizeof(task), "%s", base ? base + 1 : path);
}

bool open_places(const char *path, uint32_t number)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at;

	if (fd < 0)
		return false;
	at = mmap(NULL, sizeof(*profile), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	profile = at;
	program = number;
	return true;
}
