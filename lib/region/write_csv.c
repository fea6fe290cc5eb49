/* SPDX-License-Identifier: MIT */
/* Results as CSV (RFC 4180): a line for each region, thread and event; one without an event has the
 * times alone. */
#include <inttypes.h>
#include <unistd.h>
#include "base/text_output.h"
#include "region/region.h"

static void put_field(FILE *out, const char *text)
{
	base_put_csv(out, text, ",");
	fputc(',', out);
}

static void put_start(FILE *out, const pfm_region_results_t *r, const pfm_region_info_t *info)
{
	fprintf(out, "%d,", r->process.pid);
	put_field(out, info->region);
	put_field(out, info->parent);
	if (info->thread > 0)
		fprintf(out, "%d,", info->thread);
	else
		fprintf(out, "%s,", info->thread ? "ended" : "all");
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", info->visits, info->wall,
	        info->exclusive);
	if (info->task_visits)
		fprintf(out, "%" PRIu64, info->task);
}

static void put_event(FILE *out, const pfm_region_results_t *r, unsigned i, unsigned k)
{
	pfm_region_event_t e = PFM_INIT(e);
	pfm_region_count_t c = PFM_INIT(c);

	pfmi_results_describe_event(r, k, &e);
	pfm_region_count(r, i, k, &c);
	fprintf(out, ",");
	put_field(out, e.name);
	if (pfmi_region_has_count(&c))
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", c.inclusive,
		        c.exclusive, c.min, c.max);
	else
		fprintf(out, ",,,,");
	fprintf(out, "%" PRIu64 ",%s,%" PRIu64 ",", c.visits, pfm_quality_name(c.quality),
	        c.overhead);
	if (pfmi_region_has_count(&c))
		fprintf(out, "%" PRIu64, c.error);
	fputc('\n', out);
}

bool pfmi_region_write_csv(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "process,region,parent,thread,visits,wall_ns,wall_exclusive_ns,task_"
	             "ns,event,inclusive,exclusive,min,max,counted_visits,"
	             "quality,overhead,error\n");
	for (unsigned i = 0; i < r->n; i++) {
		pfm_region_info_t info = PFM_INIT(info);
		unsigned n = r->layout->n_events;

		pfm_describe_region(r, i, &info);
		for (unsigned k = 0; k < n; k++) {
			put_start(out, r, &info);
			put_event(out, r, i, k);
		}
		if (!n) {
			put_start(out, r, &info);
			fprintf(out, ",,,,,,,,,\n");
		}
	}
	return true;
}
