/* SPDX-License-Identifier: MIT */
/* Visits as markers of the Firefox Profiler, in version 24 of its format, which the page upgrades.
 * A profile without samples: each thread has its visits as interval markers, whose fields are the
 * counts. The first thread is the main one, with or without visits.
 *
 * As in Chrome's form, the first and the last line frame the list of threads, so that files of
 * several processes are joined by lines. Times are milliseconds of CLOCK_MONOTONIC. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/text_output.h"
#include "region/region.h"

enum { CATEGORY = 1, INTERVAL = 1 /* a marker with a begin and an end */ };

/* Nanoseconds between the epoch and the zero of the monotonic clock. */
static uint64_t start_of_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
	       pfmi_region_get_wall_time();
}

static void put_schema(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "\"markerSchema\":[{\"name\":\"Region\",\"tooltipLabel\":"
	             "\"{marker.name}\",\"tableLabel\":\"{marker.name}\",\"chartLabel\":"
	             "\"{marker.name}\",\"display\":[\"marker-chart\",\"marker-table\","
	             "\"timeline-overview\"],\"data\":[");
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfmi_results_describe_event(r, k, &e);
		fprintf(out, "%s{\"key\":\"event%u\",\"label\":", k ? "," : "", k);
		pfmi_region_put_json(out, e.name);
		fprintf(out, ",\"format\":\"integer\"}");
	}
	fprintf(out, "%s{\"key\":\"left\",\"label\":\"Not counted\",\"format\":\"string\"}]}]",
	        r->layout->n_events ? "," : "");
}

static void put_head(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "{\"meta\":{\"version\":24,\"interval\":1,\"processType\":0,\"stackwalk\":1,"
	             "\"debug\":0,\"gcpoison\":0,\"asyncstack\":1,\"shutdownTime\":null,"
	             "\"presymbolicated\":true,\"product\":");
	pfmi_region_put_json(out, r->process.program);
	fprintf(out, ",\"startTime\":");
	pfmi_region_put_ms(out, start_of_clock());
	fprintf(out, ",\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
	             "\"subcategories\":[\"Other\"]},{\"name\":\"Regions\",\"color\":"
	             "\"blue\",\"subcategories\":[\"Other\"]}],");
	put_schema(out, r);
	fprintf(out, "},\"libs\":[],\"threads\":[\n");
}

/* Writes the counts of a slice; one field names the events without a count. */
static void put_counts(FILE *out, const pfm_region_results_t *r, const struct visit_slice *s)
{
	pfm_region_event_t e = PFM_INIT(e);
	bool is_in_field = false;
	uint64_t count;

	for (unsigned k = 0; k < r->layout->n_events; k++)
		if (pfmi_slice_compute_count(r, s, k, &count))
			fprintf(out, ",\"event%u\":%" PRIu64, k, count);
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		if (pfmi_slice_compute_count(r, s, k, &count))
			continue;
		pfmi_results_describe_event(r, k, &e);
		fputs(is_in_field ? ", " : ",\"left\":\"", out);
		base_put_json(out, e.name, strlen(e.name), false);
		is_in_field = true;
	}
	if (is_in_field)
		fputc('"', out);
}

static void put_marker(FILE *out, const pfm_region_results_t *r, const struct visit_slice *s)
{
	/* The string table has the names of all regions, at their numbers. */
	fprintf(out, "[%u,", s->region);
	pfmi_region_put_ms(out, s->begin);
	fprintf(out, ",");
	pfmi_region_put_ms(out, s->end);
	fprintf(out, ",%d,%d,{\"type\":\"Region\"", INTERVAL, CATEGORY);
	put_counts(out, r, s);
	fprintf(out, "}]");
}

static void put_strings(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "\"stringTable\":[\"\"");
	for (uint32_t i = 1; i <= pfmi_results_get_last_number(r); i++) {
		fprintf(out, ",");
		pfmi_region_put_json(out, pfmi_results_get_name(r, i));
	}
	fprintf(out, "]");
}

/* The main thread has the program's name. */
static void put_thread_name(FILE *out, const pfm_region_results_t *r, int tid)
{
	char name[300];

	snprintf(name, sizeof(name), "%s thread %d", r->process.program, tid);
	pfmi_region_put_json(out, tid == r->process.pid ? r->process.program : name);
}

/* Writes a thread with @n slices. */
static void put_thread(FILE *out, const pfm_region_results_t *r, int tid,
                       const struct visit_slice *const *slices, size_t n)
{
	fprintf(out,
	        "{\"tid\":%d,\"pid\":%d,\"processType\":\"default\",\"registerTime\":0,"
	        "\"unregisterTime\":null,\"name\":",
	        tid, r->process.pid);
	put_thread_name(out, r, tid);
	fprintf(out, ",\"processName\":");
	pfmi_region_put_process_name(out, r);
	fprintf(out, ",\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,"
	             "\"phase\":3,\"category\":4,\"data\":5},\"data\":[");
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s", i ? "," : "");
		put_marker(out, r, slices[i]);
	}
	fprintf(out, "]},\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"responsiveness\":2},"
	             "\"data\":[]},\"frameTable\":{\"schema\":{\"location\":0,"
	             "\"relevantForJS\":1,\"innerWindowID\":2,\"implementation\":3,"
	             "\"optimizations\":4,\"line\":5,\"column\":6,\"category\":7,"
	             "\"subcategory\":8},\"data\":[]},\"stackTable\":{\"schema\":{"
	             "\"prefix\":0,\"frame\":1},\"data\":[]},");
	put_strings(out, r);
	fprintf(out, "}\n");
}

static void put_threads(FILE *out, const pfm_region_results_t *r, const struct slice_list *list)
{
	int main_thread = r->process.pid;
	bool is_first = true;
	size_t n;

	for (size_t i = 0; i < list->n; i++)
		is_first = is_first && list->items[i]->tid != main_thread;
	if (is_first)
		put_thread(out, r, main_thread, NULL, 0);
	is_first = !is_first;
	for (size_t i = 0; i < list->n; i += n) {
		for (n = 1; i + n < list->n && list->items[i + n]->tid == list->items[i]->tid;)
			n++;
		fprintf(out, "%s", is_first ? "" : ",");
		put_thread(out, r, list->items[i]->tid, list->items + i, n);
		is_first = false;
	}
}

bool pfmi_region_write_firefox(FILE *out, const pfm_region_results_t *r)
{
	struct slice_list list;

	if (!pfmi_slices_collect(r, &list)) {
		return false;
	}
	put_head(out, r);
	put_threads(out, r, &list);
	fprintf(out,
	        "],\"processes\":[],\"pausedRanges\":[],\"pfm\":{\"visitsNotDrawn\":%" PRIu64
	        "}}\n",
	        list.dropped);
	free(list.items);
	return true;
}
