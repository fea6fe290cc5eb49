/* SPDX-License-Identifier: MIT */
/* pfm record -M: the events of metrics in groups of a plan. One event of each group samples; its
 * samples contain the counts of all events of the group. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/metric.h"
#include "record/metrics.h"

/* The event that samples in a group without a clock; available on every machine. */
#define SAMPLING_CLOCK "cpu-clock"

/* Hardware clocks, by the names that processors' lists give them. */
static const char *const hardware_clocks[] = {
	"CPU_CLK_UNHALTED.THREAD",
	"CPU_CLK_UNHALTED.CORE",
	"UNHALTED_CORE_CYCLES",
	"CPU_CYCLES",
	"ls_not_halted_cyc",
	"CYCLES_NOT_IN_HALT",
	"PM_RUN_CYC",
	"PM_CYC",
	"CYCLES",
	"cpu-cycles",
	"CPU_CLK_UNHALTED",
	"slots",
	"TOPDOWN.SLOTS",
};

static bool is_hardware_clock(const char *text)
{
	const char *colons = strstr(text, "::"), *name = colons ? colons + 2 : text;

	for (size_t i = 0; i < sizeof(hardware_clocks) / sizeof(hardware_clocks[0]); i++)
		if (strcasecmp(name, hardware_clocks[i]) == 0)
			return true;
	return false;
}

/* True if samples of the event show where time is spent. */
static bool is_clock(const pfm_ctx_t *ctx, const char *text)
{
	pfm_encoding_t enc = PFM_INIT(enc);

	if (pfm_encode_event(ctx, text, 0, &enc, NULL) == PFMLIB_SUCCESS && enc.attr.type_known &&
	    enc.attr.type == PERF_TYPE_SOFTWARE)
		return enc.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
	return is_hardware_clock(text);
}

/* Returns group @group of @plan, whose first event has number @first, as a text for a session, with
 * the sampling clock first. NULL without memory. */
static char *group_text(const pfm_ctx_t *ctx, const pfm_plan_t *plan, unsigned group,
                        unsigned first)
{
	pfm_planned_event_t e = PFM_INIT(e);
	size_t size = sizeof(SAMPLING_CLOCK) + sizeof("{}:S"), at;
	int clock = -1;
	char *text;

	for (unsigned i = first; !pfm_describe_planned_event(plan, i, &e) && e.group == group;
	     i++) {
		size += strlen(e.text) + 1;
		if (clock < 0 && is_clock(ctx, e.text))
			clock = (int)i;
	}
	text = malloc(size);
	if (!text)
		return NULL;
	if (clock >= 0)
		pfm_describe_planned_event(plan, (unsigned)clock, &e);
	at = (size_t)snprintf(text, size, "{%s", clock >= 0 ? e.text : SAMPLING_CLOCK);
	for (unsigned i = first; !pfm_describe_planned_event(plan, i, &e) && e.group == group; i++)
		if ((int)i != clock)
			at += (size_t)snprintf(text + at, size - at, ",%s", e.text);
	snprintf(text + at, size - at, "}:S");
	return text;
}

static bool add_groups(const pfm_ctx_t *ctx, const pfm_plan_t *plan, struct event_list *events)
{
	pfm_planned_event_t e = PFM_INIT(e);
	unsigned i = 0;

	while (!pfm_describe_planned_event(plan, i, &e)) {
		unsigned group = e.group;
		char *text = group_text(ctx, plan, group, i);
		bool is_added = text && event_list_add(events, text);

		free(text);
		if (!is_added)
			return false;
		while (!pfm_describe_planned_event(plan, i, &e) && e.group == group)
			i++;
	}
	return true;
}

int add_sampled_metrics(const pfm_ctx_t *ctx, const char *names, struct event_list *events)
{
	struct event_list list = { 0 };
	pfm_error_t error = PFM_INIT(error);
	pfm_plan_options_t options = PFM_INIT(options);
	pfm_plan_t *plan = NULL;
	int rc = event_list_add(&list, names) ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	error.event = -1;
	options.flags = PFM_PLAN_RESERVED_IF_NEEDED;
	if (!rc)
		rc = pfm_create_plan(&plan, ctx, (const char *const *)list.texts, list.n, &options,
		                     &error);
	if (!rc && !add_groups(ctx, plan, events))
		rc = PFMLIB_ERR_NOMEM;
	if (rc == PFMLIB_ERR_NOMEM)
		report_no_memory();
	else if (rc)
		report_refusal(ctx,
		               error.event >= 0 && (unsigned)error.event < list.n
		                       ? list.texts[error.event]
		                       : names,
		               &error, WANTED_ANY);
	pfm_close_plan(plan);
	event_list_free(&list);
	return rc ? EXIT_REFUSED : EXIT_DONE;
}
