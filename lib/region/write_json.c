/* SPDX-License-Identifier: MIT */
/* Results as JSON, one object a line: the process, then each region and thread
 * (docs/schema/regions.json). */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>
#include "region/region.h"

static void put_real(FILE *out, const char *key, double value)
{
	fprintf(out, ",\"%s\":", key);
	pfmi_region_put_real(out, 6, value);
}

static void put_variance(FILE *out, double variance)
{
	if (variance < 0)
		fprintf(out, ",\"variance\":null");
	else
		put_real(out, "variance", variance);
}

/* Writes the error of a value, and whether the value is larger. */
static void put_error(FILE *out, uint64_t error, uint64_t own, uint64_t enough)
{
	fprintf(out, ",\"error\":%" PRIu64 ",\"exclusive_error\":%" PRIu64, error, own);
	if (!enough)
		return;
	fprintf(out, ",\"too_short\":true,\"enough_visits\":");
	if (enough == UINT64_MAX)
		fprintf(out, "null");
	else
		fprintf(out, "%" PRIu64, enough);
}

static void put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	pfmi_region_put_json(out, text);
}

static void put_process(FILE *out, const pfm_region_results_t *r)
{
	fprintf(out, "{\"process\":%d", r->process.pid);
	put_text(out, "program", r->process.program);
	if (r->process.rank >= 0)
		fprintf(out, ",\"rank\":%d", r->process.rank);
	else
		fprintf(out, ",\"rank\":null");
	if (r->process.more)
		fprintf(out, ",\"processes\":%" PRIu64, 1 + r->process.more);
	fprintf(out, ",\"ended\":%s", r->process.has_ended ? "true" : "false");
	fprintf(out, ",\"subtracted\":%s,\"missed\":%" PRIu64 ",\"unmatched\":%" PRIu64,
	        r->flags & PFM_REGIONS_NO_SUBTRACT ? "false" : "true", r->missed, r->unmatched);
	put_real(out, "wall_inside_ns", r->layout->wall_inside);
	put_real(out, "wall_pair_ns", r->layout->wall_pair);
	fprintf(out, ",\"events\":[");
	for (unsigned k = 0; k < r->layout->n_events; k++) {
		pfm_region_event_t e = PFM_INIT(e);

		pfmi_results_describe_event(r, k, &e);
		fprintf(out, "%s{\"event\":", k ? "," : "");
		pfmi_region_put_json(out, e.name);
		put_text(out, "unit", e.unit);
		fprintf(out, ",\"round\":%u,\"rounds\":%u,\"whole_machine\":%s", e.round,
		        e.n_rounds, e.whole_machine ? "true" : "false");
		put_real(out, "inside", e.cost_inside);
		put_real(out, "pair", e.cost_pair);
		put_real(out, "inside_error", e.inside_error);
		put_real(out, "pair_error", e.pair_error);
		put_text(out, "why", e.why);
		put_text(out, "remedy", e.remedy);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
}

static void put_count(FILE *out, const pfm_region_results_t *r, unsigned i, unsigned k)
{
	pfm_region_event_t e = PFM_INIT(e);
	pfm_region_count_t c = PFM_INIT(c);

	pfmi_results_describe_event(r, k, &e);
	pfm_region_count(r, i, k, &c);
	fprintf(out, "%s{\"event\":", k ? "," : "");
	pfmi_region_put_json(out, e.name);
	if (pfmi_region_has_count(&c)) {
		fprintf(out,
		        ",\"inclusive\":%" PRIu64 ",\"exclusive\":%" PRIu64 ",\"min\":%" PRIu64
		        ",\"max\":%" PRIu64,
		        c.inclusive, c.exclusive, c.min, c.max);
		put_variance(out, c.variance);
		put_error(out, c.error, c.exclusive_error, c.enough_visits);
	} else {
		fprintf(out, ",\"inclusive\":null,\"exclusive\":null,\"min\":null,\"max\":"
		             "null,\"variance\":null");
	}
	fprintf(out, ",\"visits\":%" PRIu64, c.visits);
	put_text(out, "quality", pfm_quality_name(c.quality));
	if (c.cause != PFM_CAUSE_NONE)
		put_text(out, "cause", pfm_cause_name(c.cause));
	fprintf(out, ",\"overhead\":%" PRIu64 "}", c.overhead);
}

static void put_metric(FILE *out, const pfm_region_results_t *r, unsigned i, unsigned m)
{
	pfm_session_metric_t value = PFM_INIT(value);
	const char *name;
	int rc = pfm_region_metric(r, i, m, &name, &value);

	fprintf(out, "%s{\"metric\":", m ? "," : "");
	pfmi_region_put_json(out, rc ? "" : name);
	if (!rc && value.state == PFM_METRIC_DEFINED) {
		put_real(out, "value", value.value);
		put_real(out, "low", value.low);
		put_real(out, "high", value.high);
	} else {
		fprintf(out, ",\"value\":null");
		put_text(out, "state",
		         pfm_metric_state_name(rc ? PFM_METRIC_NOT_COUNTED : value.state));
	}
	put_text(out, "quality", pfm_quality_name(rc ? PFM_QUALITY_NOT_COUNTED : value.quality));
	fprintf(out, "}");
}

static void put_row(FILE *out, const pfm_region_results_t *r, unsigned i)
{
	pfm_region_info_t info = PFM_INIT(info);

	pfm_describe_region(r, i, &info);
	fprintf(out, "{\"region\":");
	pfmi_region_put_json(out, info.region);
	if (*info.parent)
		put_text(out, "parent", info.parent);
	else
		fprintf(out, ",\"parent\":null");
	if (info.thread > 0)
		fprintf(out, ",\"thread\":%d", info.thread);
	else
		fprintf(out, ",\"thread\":\"%s\"", info.thread ? "ended" : "all");
	fprintf(out,
	        ",\"process\":%d,\"threads\":%" PRIu64 ",\"visits\":%" PRIu64
	        ",\"outermost\":%" PRIu64 ",\"unfinished\":%" PRIu64,
	        r->process.pid, info.threads, info.visits, info.outermost, info.unfinished);
	fprintf(out,
	        ",\"costly\":%s,\"wall_ns\":{\"inclusive\":%" PRIu64 ",\"exclusive\":%" PRIu64
	        ",\"min\":%" PRIu64 ",\"max\":%" PRIu64,
	        info.costly ? "true" : "false", info.wall, info.exclusive, info.wall_min,
	        info.wall_max);
	put_variance(out, info.wall_variance);
	put_error(out, info.wall_error, info.exclusive_error, info.enough_visits);
	if (info.task_visits)
		fprintf(out, "},\"task_ns\":%" PRIu64 ",\"counts\":[", info.task);
	else
		fprintf(out, "},\"task_ns\":null,\"counts\":[");
	for (unsigned k = 0; k < r->layout->n_events; k++)
		put_count(out, r, i, k);
	fprintf(out, "],\"metrics\":[");
	for (unsigned m = 0; m < r->layout->n_metrics; m++)
		put_metric(out, r, i, m);
	fprintf(out, "]}\n");
}

bool pfmi_region_write_json(FILE *out, const pfm_region_results_t *r)
{
	put_process(out, r);
	for (unsigned i = 0; i < r->n; i++)
		put_row(out, r, i);
	return true;
}
