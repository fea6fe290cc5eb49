/* SPDX-License-Identifier: MIT */
/* Results in the form of the file that PAPI's high-level interface writes, for the scripts that
 * read it. All numbers are strings there. PAPI has a record for each visit; here a record sums the
 * visits of a region under one parent, which is the same total. "cycles" is the count of an event
 * of that name, else 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "region/region.h"

static void put_definitions(FILE *out)
{
	fprintf(out, "  \"event_definitions\": {");
	for (unsigned k = 0; k < pfm_count_region_events(); k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfm_describe_region_event(k, &e);
		fprintf(out, "%s\n    ", k ? "," : "");
		pfmi_region_put_json(out, e.name);
		fprintf(out, ": {\"component\": \"perf_event\", \"type\": \"delta\"}");
	}
	fprintf(out, "\n  },\n");
}

/* Writes the counts of row @i. @cycles: only those of "cycles", which have a place of their own. */
static void put_counts(FILE *out, const pfm_region_results_t *r, unsigned i, bool cycles)
{
	for (unsigned k = 0; k < pfm_count_region_events(); k++) {
		pfm_region_event_t e = PFM_INIT(e);
		pfm_region_count_t c = PFM_INIT(c);
		bool is_cycles;

		pfm_describe_region_event(k, &e);
		is_cycles =
			strncmp(e.name, "cycles", 6) == 0 && (e.name[6] == 0 || e.name[6] == ':');
		if (pfm_region_count(r, i, k, &c) || !c.visits || (cycles && !is_cycles))
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

/* Returns the number of the record of row @i's parent in the same thread, or -1. */
static int find_parent_record(const pfm_region_results_t *r, unsigned i)
{
	int record = 0;

	for (unsigned k = 0; k < r->n; k++) {
		if (r->rows[k].tid != r->rows[i].tid)
			continue;
		if (r->rows[k].region == r->rows[i].parent)
			return record;
		record++;
	}
	return -1;
}

static void put_thread(FILE *out, const pfm_region_results_t *r, int tid)
{
	unsigned record = 0;

	fprintf(out, "{\"regions\": {");
	for (unsigned i = 0; i < r->n; i++) {
		pfm_region_info_t info = PFM_INIT(info);

		if (r->rows[i].tid != tid)
			continue;
		pfm_describe_region(r, i, &info);
		fprintf(out, "%s\n      \"%u\": {\"name\": ", record ? "," : "", record);
		pfmi_region_put_json(out, info.region);
		fprintf(out, ", \"parent_region_id\": \"%d\", \"cycles\": \"",
		        find_parent_record(r, i));
		put_counts(out, r, i, true);
		fprintf(out, "\", \"real_time_nsec\": \"%" PRIu64 "\"", info.wall);
		put_counts(out, r, i, false);
		fprintf(out, "}");
		record++;
	}
	fprintf(out, "\n    }}");
}

static bool put_threads(FILE *out, const pfm_region_results_t *r)
{
	unsigned n;
	int *tids = pfmi_region_list_threads(r, &n);

	if (!tids) {
		return false;
	}
	for (unsigned i = 0; i < n; i++) {
		fprintf(out, "%s\n    \"%u\": ", i ? "," : "", i);
		put_thread(out, r, tids[i]);
	}
	free(tids);
	return true;
}

bool pfmi_region_write_papi(FILE *out, const pfm_region_results_t *r)
{
	bool is_listed;

	fprintf(out, "{\n  \"papi_version\": \"7.2.0\",\n  \"cpu_info\": \"\",\n  "
	             "\"max_cpu_rate_mhz\": \"0\",\n"
	             "  \"min_cpu_rate_mhz\": \"0\",\n");
	put_definitions(out);
	fprintf(out, "  \"threads\": {");
	is_listed = put_threads(out, r);
	fprintf(out, "\n  }\n}\n");
	return is_listed;
}
