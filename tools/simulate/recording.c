/* SPDX-License-Identifier: MIT */
/* The counts of a simulated program as a perf.data file: a sample for each instruction, whose
 * period is its count. Mappings and programs have times in their order, so that a reader finds the
 * file of an address though another file was there before. */
#include "simulate/simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/pfm.h"
#include "machine/perf_abi.h"
#include "perfdata/perfdata.h"

enum { COMM_SIZE = 16, TIMES = 4 /* of each mapping */ };

/* A file that is written. */
struct output {
	FILE *file;
	const struct simulated_profile *profile;
	uint32_t n_mappings;
};

static void put(struct output *o, const void *bytes, size_t n)
{
	(void)fwrite(bytes, 1, n, o->file);
}

static void put_head(struct output *o, uint32_t type, uint16_t misc, size_t size)
{
	const struct record_header head = { type, misc, (uint16_t)(sizeof(head) + size) };

	put(o, &head, sizeof(head));
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t get_time(uint64_t mapping, unsigned step)
{
	return mapping * TIMES + step + 1;
}

/* Fields at the end of records that are not samples: task and time. */
struct record_end {
	uint32_t pid, tid;
	uint64_t time;
};

static void put_task(struct output *o, const struct simulated_mapping *m, uint64_t number)
{
	const struct record_end end = { m->pid, m->pid, get_time(number, 0) };
	const uint32_t task[2] = { m->pid, m->pid };

	put_head(o, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
	         sizeof(task) + COMM_SIZE + sizeof(end));
	put(o, task, sizeof(task));
	put(o, m->task, COMM_SIZE);
	put(o, &end, sizeof(end));
}

static void put_mapping(struct output *o, const struct simulated_mapping *m, uint64_t number)
{
	const struct record_end end = { m->pid, m->pid, get_time(number, 1) };
	const uint32_t task[2] = { m->pid, m->pid };
	const uint64_t place[3] = { m->start, m->size, m->offset };
	char path[SIMULATED_PATH_MAX + 8] = { 0 };
	const size_t length = (size_t)snprintf(path, sizeof(path), "%s", m->path) / 8 * 8 + 8;

	put_head(o, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER,
	         sizeof(task) + sizeof(place) + length + sizeof(end));
	put(o, task, sizeof(task));
	put(o, place, sizeof(place));
	put(o, path, length);
	put(o, &end, sizeof(end));
}

static void put_sample(struct output *o, const struct simulated_place *p)
{
	const uint32_t pid = o->profile->mappings[p->mapping].pid;
	const struct {
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time, period;
	} sample = { p->address, pid, pid, get_time(p->mapping, 2), p->count };

	put_head(o, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample));
	put(o, &sample, sizeof(sample));
}

/* ---- counts ---------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct simulated_place *x = a, *y = b;

	if (x->mapping != y->mapping)
		return x->mapping < y->mapping ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Copies the places that have a count, in order, each once. */
static struct simulated_place *sort_places(const struct simulated_profile *p, size_t *n)
{
	const size_t all = p->n_places < SIMULATED_PLACES ? p->n_places : SIMULATED_PLACES;
	struct simulated_place *sorted = calloc(all + 1, sizeof(*sorted));
	size_t used = 0;

	*n = 0;
	if (!sorted)
		return NULL;
	for (size_t i = 0; i < all; i++)
		if (p->places[i].count)
			sorted[used++] = p->places[i];
	qsort(sorted, used, sizeof(*sorted), compare_places);
	for (size_t i = 0; i < used; i++)
		if (*n && compare_places(&sorted[*n - 1], &sorted[i]) == 0)
			sorted[*n - 1].count += sorted[i].count;
		else
			sorted[(*n)++] = sorted[i];
	return sorted;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const struct perf_attr attr = { .type = PERF_TYPE_HARDWARE,
	                               .size = PERF_ATTR_SIGNAL_SIZE,
	                               .config = PERF_COUNT_HW_INSTRUCTIONS,
	                               .sample_period = 1,
	                               .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                                              PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1,
	                               .mmap = 1,
	                               .comm = 1,
	                               .comm_exec = 1,
	                               .sample_id_all = 1 };

static void put_records(struct output *o, const struct simulated_place *places, size_t n)
{
	uint32_t program = UINT32_MAX;

	for (uint32_t i = 0; i < o->n_mappings; i++) {
		const struct simulated_mapping *m = &o->profile->mappings[i];

		if (m->program != program)
			put_task(o, m, i);
		program = m->program;
		if (*m->path)
			put_mapping(o, m, i);
		for (; n && places->mapping == i; n--, places++)
			put_sample(o, places);
	}
}

/* A text of a feature: its length, and the text with zeros. */
static void put_text_section(struct output *o, const char *text)
{
	char padded[SIMULATED_PATH_MAX] = { 0 };
	const uint32_t size =
		((uint32_t)snprintf(padded, sizeof(padded) - 64, "%s", text) + 64) & ~(uint32_t)63;

	put(o, &size, sizeof(size));
	put(o, padded, size);
}

static void put_command_section(struct output *o, char *const *command)
{
	uint32_t n = 0;

	while (command[n])
		n++;
	put(o, &n, sizeof(n));
	for (; *command; command++)
		put_text_section(o, *command);
}

static void put_engine_section(struct output *o, const struct engine *e)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s %s, CPU %s, %s", PERFDATA_SIMULATED_CPU,
	         base_name(e->path), e->version, e->model ? e->model : "default",
	         e->is_fixed ? "fixed environment" : "environment of a shell");
	put_text_section(o, text);
}

/* The table of the sections is written before and after them, when their sizes are known. */
static void put_sections(struct output *o, const struct engine *e, char *const *command)
{
	struct perfdata_section sections[2] = { { 0, 0 }, { 0, 0 } };
	const long table = ftell(o->file);

	put(o, sections, sizeof(sections));
	sections[0].offset = (uint64_t)ftell(o->file);
	put_engine_section(o, e);
	sections[1].offset = (uint64_t)ftell(o->file);
	put_command_section(o, command);
	sections[0].size = sections[1].offset - sections[0].offset;
	sections[1].size = (uint64_t)ftell(o->file) - sections[1].offset;
	(void)fseek(o->file, table, SEEK_SET);
	put(o, sections, sizeof(sections));
}

static void put_file(struct output *o, const struct engine *e, char *const *command,
                     const struct simulated_place *places, size_t n)
{
	const struct perfdata_section no_ids = { 0, 0 };
	struct perfdata_header head = { .magic = PERFDATA_MAGIC,
		                        .size = sizeof(head),
		                        .attr_size = PERF_ATTR_SIGNAL_SIZE + sizeof(no_ids),
		                        .features = { (uint64_t)1 << PERFDATA_FEATURE_CPUDESC |
		                                      (uint64_t)1 << PERFDATA_FEATURE_CMDLINE } };

	put(o, &head, sizeof(head));
	head.attrs = (struct perfdata_section){ sizeof(head), head.attr_size };
	put(o, &attr, PERF_ATTR_SIGNAL_SIZE);
	put(o, &no_ids, sizeof(no_ids));
	head.data.offset = (uint64_t)ftell(o->file);
	put_records(o, places, n);
	head.data.size = (uint64_t)ftell(o->file) - head.data.offset;
	put_sections(o, e, command);
	rewind(o->file);
	put(o, &head, sizeof(head));
}

int write_simulated_recording(const char *path, const struct engine *e, char *const *command,
                              const struct simulated_profile *p)
{
	struct output o = { .profile = p,
		            .n_mappings = p->n_mappings < SIMULATED_MAPPINGS ? p->n_mappings
		                                                             : SIMULATED_MAPPINGS };
	size_t n;
	struct simulated_place *places = sort_places(p, &n);
	int err = 0;

	if (!places)
		return ENOMEM;
	o.file = fopen(path, "we");
	if (!o.file)
		err = errno;
	if (o.file) {
		put_file(&o, e, command, places, n);
		if (ferror(o.file))
			err = EIO;
		if (fclose(o.file) && !err)
			err = errno;
	}
	free(places);
	return err;
}
