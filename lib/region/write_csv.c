/* SPDX-License-Identifier: MIT */
/* Results as CSV (RFC 4180): a line for each region, thread and event; one without an event has the
 * times alone. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "region/region.h"

static void put_field(struct text *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		pfmi_region_put(out, "%s,", text);
		return;
	}
	pfmi_region_put(out, "\"");
	for (; *text; text++)
		pfmi_region_put(out, *text == '"' ? "\"\"" : "%c", *text);
	pfmi_region_put(out, "\",");
}

static void put_start(struct text *out, const pfm_region_info_t *info)
{
	pfmi_region_put(out, "%d,", (int)getpid());
	put_field(out, info->region);
	put_field(out, info->parent);
	if (info->thread > 0)
		pfmi_region_put(out, "%d,", info->thread);
	else
		pfmi_region_put(out, "%s,", info->thread ? "ended" : "all");
	pfmi_region_put(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", info->visits, info->wall,
	                info->exclusive);
	if (info->task_visits)
		pfmi_region_put(out, "%" PRIu64, info->task);
}

static void put_event(struct text *out, const pfm_region_results_t *r, unsigned i, unsigned k)
{
	pfm_region_event_t e = PFM_INIT(e);
	pfm_region_count_t c = PFM_INIT(c);

	pfm_describe_region_event(k, &e);
	pfm_region_count(r, i, k, &c);
	pfmi_region_put(out, ",");
	put_field(out, e.name);
	if (c.quality == PFM_QUALITY_EXACT || c.quality == PFM_QUALITY_PARTIAL)
		pfmi_region_put(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
		                c.inclusive, c.exclusive, c.min, c.max);
	else
		pfmi_region_put(out, ",,,,");
	pfmi_region_put(out, "%" PRIu64 ",%s,%" PRIu64 "\n", c.visits, pfm_quality_name(c.quality),
	                c.overhead);
}

void pfmi_region_write_csv(struct text *out, const pfm_region_results_t *r)
{
	pfmi_region_put(out, "process,region,parent,thread,visits,wall_ns,wall_exclusive_ns,task_"
	                     "ns,event,inclusive,exclusive,min,max,counted_visits,"
	                     "quality,overhead\n");
	for (unsigned i = 0; i < r->n; i++) {
		pfm_region_info_t info = PFM_INIT(info);
		unsigned n = pfm_count_region_events();

		pfm_describe_region(r, i, &info);
		for (unsigned k = 0; k < n; k++) {
			put_start(out, &info);
			put_event(out, r, i, k);
		}
		if (!n) {
			put_start(out, &info);
			pfmi_region_put(out, ",,,,,,,,\n");
		}
	}
}
