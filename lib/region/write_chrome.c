/* SPDX-License-Identifier: MIT */
/* Visits as trace events of Chrome, which Perfetto and speedscope read as well. A visit is a
 * complete event ("X") of its thread; one that does not nest is a pair of asynchronous ones ("b",
 * "e").
 *
 * The first and the last line frame the list of events, and a line that is not the list's first
 * begins with a comma, so that files of several processes are joined by lines. Times are
 * CLOCK_MONOTONIC, which all processes share. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "region/region.h"

static void put_process(FILE *out, const pfm_region_results_t *r, uint64_t dropped)
{
	int pid = r->process.pid;

	fprintf(out,
	        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":%d,\"args\":{"
	        "\"name\":",
	        pid, pid);
	pfmi_region_put_process_name(out, r);
	fprintf(out, "}}\n");
	if (dropped)
		fprintf(out,
		        ",{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":%d,\"tid\":%d,"
		        "\"args\":{\"labels\":\"%" PRIu64 " visits are not drawn: too many\"}}\n",
		        pid, pid, dropped);
}

static void put_counts(FILE *out, const pfm_region_results_t *r, const struct visit_slice *s)
{
	uint64_t count;

	fprintf(out, ",\"args\":{\"wall_ns\":%" PRIu64, s->wall);
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfmi_results_describe_event(r, k, &e);
		fprintf(out, ",");
		pfmi_region_put_json(out, e.name);
		if (pfmi_slice_compute_count(r, s, k, &count))
			fprintf(out, ":%" PRIu64, count);
		else
			fprintf(out, ":\"not counted\"");
	}
	fprintf(out, "}}\n");
}

static void put_event(FILE *out, const pfm_region_results_t *r, const char *phase,
                      const struct visit_slice *s, uint64_t at)
{
	fprintf(out, ",{\"ph\":\"%s\",\"cat\":\"region\",\"name\":", phase);
	pfmi_region_put_json(out, pfmi_results_get_name(r, s->region));
	fprintf(out, ",\"pid\":%d,\"tid\":%d,\"ts\":", r->process.pid, s->tid);
	pfmi_region_put_us(out, at);
}

/* @id distinguishes the asynchronous events of a process. */
static void put_slice(FILE *out, const pfm_region_results_t *r, const struct visit_slice *s,
                      size_t id)
{
	put_event(out, r, s->overlaps ? "b" : "X", s, s->begin);
	if (s->overlaps) {
		fprintf(out, ",\"id\":\"%d.%zu\"", r->process.pid, id);
		put_counts(out, r, s);
		put_event(out, r, "e", s, s->end);
		fprintf(out, ",\"id\":\"%d.%zu\"}\n", r->process.pid, id);
	} else {
		fprintf(out, ",\"dur\":");
		pfmi_region_put_us(out, s->end - s->begin);
		put_counts(out, r, s);
	}
}

bool pfmi_region_write_chrome(FILE *out, const pfm_region_results_t *r)
{
	struct slice_list list;

	if (!pfmi_slices_collect(r, &list)) {
		return false;
	}
	fprintf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	put_process(out, r, list.dropped);
	for (size_t i = 0; i < list.n; i++)
		put_slice(out, r, list.items[i], i);
	fprintf(out, "]}\n");
	free(list.items);
	return true;
}
