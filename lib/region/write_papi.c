/* SPDX-License-Identifier: MIT */
/* Results in the form of the file that PAPI's high-level interface writes, for the scripts that
 * read it. All numbers are strings there. As in PAPI's own file, each visit has a record. Where
 * visits were not kept, or are too many, a record sums the visits of a region under one parent,
 * which is the same total. "cycles" is the count of an event of that name, else 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "region/region.h"

static void put_definitions(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "  \"event_definitions\": {");
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfmi_results_describe_event(r, k, &e);
		fprintf(out, "%s\n    ", k ? "," : "");
		pfmi_region_put_json(out, e.name);
		fprintf(out, ": {\"component\": \"perf_event\", \"type\": \"delta\"}");
	}
	fprintf(out, "\n  },\n");
}

static bool is_cycles(const char *name)
{
	return strncmp(name, "cycles", 6) == 0 && (name[6] == 0 || name[6] == ':');
}

/* Writes the counts of row @i. @cycles: only those of "cycles", which have a place of their own. */
static void put_counts(FILE *out, const pfm_region_results_t *r, unsigned i, bool cycles)
{
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);
		pfm_region_count_t c = PFM_INIT(c);

		pfmi_results_describe_event(r, k, &e);
		if (pfm_region_count(r, i, k, &c) || !c.visits || (cycles && !is_cycles(e.name)))
			continue;
		if (cycles) {
			fprintf(out, "%" PRIu64, c.inclusive);
			return;
		}
		fprintf(out, ", ");
		pfmi_region_put_json(out, e.name);
		fprintf(out, ": \"%" PRIu64 "\"", c.inclusive);
	}
	if (cycles)
		fprintf(out, "0");
}

/* A row of a thread, which is a record of the file. */
struct record {
	int tid;
	unsigned row;
};

/* Orders records by thread; those of a thread stay in the order of the rows, which is that of their
 * regions. */
static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* All rows, thread by thread; to be freed. NULL without memory. */
static struct record *list_records(const pfm_region_results_t *r)
{
	struct record *list = calloc(r->n + 1, sizeof(*list));

	for (unsigned i = 0; list && i < r->n; i++)
		list[i] = (struct record){ r->rows[i].tid, i };
	if (list)
		qsort(list, r->n, sizeof(*list), compare_records);
	return list;
}

/* Returns the number of the first of @n records, those of a thread, that is of @region, or -1. */
static int find_record(const pfm_region_results_t *r, const struct record *records, unsigned n,
                       uint32_t region)
{
	unsigned first = 0, end = n;

	while (first < end) {
		unsigned middle = first + (end - first) / 2;

		if (r->rows[records[middle].row].region < region)
			first = middle + 1;
		else
			end = middle;
	}
	return first < n && r->rows[records[first].row].region == region ? (int)first : -1;
}

static void put_thread(FILE *out, const pfm_region_results_t *r, const struct record *records,
                       unsigned n)
{
	fprintf(out, "{\"regions\": {");
	for (unsigned i = 0; i < n; i++) {
		const unsigned row = records[i].row;
		pfm_region_info_t info = PFM_INIT(info);

		pfm_describe_region(r, row, &info);
		fprintf(out, "%s\n      \"%u\": {\"name\": ", i ? "," : "", i);
		pfmi_region_put_json(out, info.region);
		fprintf(out, ", \"parent_region_id\": \"%d\", \"cycles\": \"",
		        find_record(r, records, n, r->rows[row].parent));
		put_counts(out, r, row, true);
		fprintf(out, "\", \"real_time_nsec\": \"%" PRIu64 "\"", info.wall);
		put_counts(out, r, row, false);
		fprintf(out, "}");
	}
	fprintf(out, "\n    }}");
}

/* Writes the rows of each thread; those of all threads together (task 0) are not in the file. */
static bool put_threads(FILE *out, const pfm_region_results_t *r)
{
	struct record *records = list_records(r);
	const bool is_listed = records;
	unsigned n_threads = 0, n;

	for (unsigned i = 0; records && i < r->n; i += n) {
		for (n = 1; i + n < r->n && records[i + n].tid == records[i].tid; n++)
			;
		if (!records[i].tid)
			continue;
		fprintf(out, "%s\n    \"%u\": ", n_threads ? "," : "", n_threads);
		put_thread(out, r, records + i, n);
		n_threads++;
	}
	free(records);
	return is_listed;
}

/* ---- visits ------------------------------------------------------------------------------ */

/* Writes the counts of visit @s. @cycles: only those of "cycles". */
static void put_visit_counts(FILE *out, const pfm_region_results_t *r, const struct visit_slice *s,
                             bool cycles)
{
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);
		uint64_t count;

		pfmi_results_describe_event(r, k, &e);
		if (!pfmi_slice_compute_count(r, s, k, &count) || (cycles && !is_cycles(e.name)))
			continue;
		if (cycles) {
			fprintf(out, "%" PRIu64, count);
			return;
		}
		fprintf(out, ", ");
		pfmi_region_put_json(out, e.name);
		fprintf(out, ": \"%" PRIu64 "\"", count);
	}
	if (cycles)
		fprintf(out, "0");
}

static uint64_t get_visit_time(const pfm_region_results_t *r, const struct visit_slice *s)
{
	const struct overhead o = pfmi_region_compute_overhead(r->layout, NULL, 1, s->pairs);

	if (r->flags & PFM_REGIONS_NO_SUBTRACT)
		return s->wall;
	return s->wall > o.cost ? s->wall - o.cost : 0;
}

/* Writes the visits of a thread. @around is memory for the numbers of the enclosing visits. */
static void put_thread_visits(FILE *out, const pfm_region_results_t *r,
                              const struct visit_slice *const *slices, size_t n, size_t *around)
{
	size_t depth = 0;

	fprintf(out, "{\"regions\": {");
	for (size_t i = 0; i < n; i++) {
		const struct visit_slice *s = slices[i];

		while (depth && slices[around[depth - 1]]->end < s->end)
			depth--;
		fprintf(out, "%s\n      \"%zu\": {\"name\": ", i ? "," : "", i);
		pfmi_region_put_json(out, pfmi_results_get_name(r, s->region));
		if (depth)
			fprintf(out, ", \"parent_region_id\": \"%zu\"", around[depth - 1]);
		else
			fprintf(out, ", \"parent_region_id\": \"-1\"");
		fprintf(out, ", \"cycles\": \"");
		put_visit_counts(out, r, s, true);
		fprintf(out, "\", \"real_time_nsec\": \"%" PRIu64 "\"", get_visit_time(r, s));
		put_visit_counts(out, r, s, false);
		fprintf(out, "}");
		around[depth++] = i;
	}
	fprintf(out, "\n    }}");
}

/* Writes the visits of each thread. *@is_written: false if they were not kept, or not all. False
 * without memory. */
static bool put_visits(FILE *out, const pfm_region_results_t *r, bool *is_written)
{
	struct slice_list list = { 0 };
	size_t *around = NULL, n;
	unsigned n_threads = 0;
	bool is_collected = pfmi_slices_collect(r, &list);

	*is_written = is_collected && list.n && !list.dropped;
	if (*is_written) {
		around = calloc(list.n + 1, sizeof(*around));
		is_collected = around != NULL;
	}
	for (size_t i = 0; around && i < list.n; i += n) {
		for (n = 1; i + n < list.n && list.items[i + n]->tid == list.items[i]->tid;)
			n++;
		fprintf(out, "%s\n    \"%u\": ", n_threads ? "," : "", n_threads);
		put_thread_visits(out, r, list.items + i, n, around);
		n_threads++;
	}
	free(around);
	free(list.items);
	return is_collected;
}

bool pfmi_region_write_papi(FILE *out, const pfm_region_results_t *r)
{
	bool is_listed, is_written;

	fprintf(out, "{\n  \"papi_version\": \"7.2.0\",\n  \"cpu_info\": \"\",\n  "
	             "\"max_cpu_rate_mhz\": \"0\",\n"
	             "  \"min_cpu_rate_mhz\": \"0\",\n");
	put_definitions(out, r);
	fprintf(out, "  \"threads\": {");
	is_listed = put_visits(out, r, &is_written) && (is_written || put_threads(out, r));
	fprintf(out, "\n  }\n}\n");
	return is_listed;
}
