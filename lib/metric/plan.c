/* SPDX-License-Identifier: MIT */
/* Plans: texts become events, the events of each PMU are put into groups (pmu_plan.c), and the
 * result is described. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sizes.h"
#include "metric/plan.h"
#include "lookup/lookup.h"

/* ---- texts ----------------------------------------------------------------------------------- */

/* Adds the events of metric @row of PMU @pmu. */
static int add_metric_events(struct pfm_plan *p, unsigned pmu, uint32_t row, unsigned request,
                             pfm_error_t *error)
{
	pfm_metric_info_t info = PFM_INIT(info);
	pfm_metric_input_t in = PFM_INIT(in);
	int rc = pfm_describe_metric(p->ctx, (int)pmu, row, &info);

	p->n_metrics++;
	for (unsigned i = 0; !rc && i < info.n_value_inputs; i++) {
		rc = pfm_describe_metric_input(p->ctx, (int)pmu, row, i, &in);
		if (!rc && !in.is_constant)
			rc = pfmi_plan_add_event_text(p, in.text, request, p->n_metrics, error);
	}
	return rc;
}

/* Adds the events of the metrics that @text names. An error names the metric, not its unknown
 * event, because the user did not write the event's name. */
static int add_listed_metrics(struct pfm_plan *p, const struct metric_list *list, const char *text,
                              unsigned request, pfm_error_t *error)
{
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 0; i < list->n_metrics && !rc; i++)
		rc = add_metric_events(p, list->refs[i].pmu, list->refs[i].row, request, error);
	if (rc && error->kind != PFM_KIND_TOO_MANY)
		pfmi_base_set_error(
			error, rc, PFM_KIND_NONE, text, pfmi_base_make_slice(text),
			"the metric needs an event that this processor lacks; 'pfm show' lists its "
			"events");
	return rc;
}

/* Adds the first of these that @text names: a metric, an event, a group of metrics. */
static int add_named_text(struct pfm_plan *p, const char *text, unsigned request,
                          pfm_error_t *error)
{
	pfm_error_t mine = PFM_INIT(mine);
	struct metric_list list = { 0 };
	int rc = pfmi_metric_add_by_name(p->ctx, text, &list);

	if (rc == PFMLIB_ERR_NOTFOUND && pfmi_plan_add_event_text(p, text, request, 0, &mine)) {
		rc = pfmi_metric_find_group(p->ctx, text, &list);
		if (rc == PFMLIB_ERR_NOTFOUND) {
			base_copy_struct_out(error, &mine, sizeof(mine));
			rc = mine.code;
		}
	} else if (rc == PFMLIB_ERR_NOTFOUND) {
		rc = PFMLIB_SUCCESS;
	}
	if (!rc)
		rc = add_listed_metrics(p, &list, text, request, error);
	free(list.refs);
	return rc;
}

/* Adds a group in braces, or what @text names. */
static int add_planned_text(struct pfm_plan *p, const char *text, unsigned request,
                            pfm_error_t *error)
{
	int rc = text[strspn(text, " ")] == '{'
	                 ? pfmi_plan_add_braced_group(p, text, request, error)
	                 : add_named_text(p, text, request, error);

	if (rc == PFMLIB_ERR_NOMEM)
		pfmi_base_set_plain_error(error, rc, PFM_KIND_SYSTEM, NULL);
	if (rc)
		error->event = (int)request;
	return rc;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* Orders events by group; leaders first, then in the order of the items and texts. */
static int compare_planned_events(const void *a, const void *b)
{
	const struct planned_event *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->is_leader != y->is_leader)
		return x->is_leader ? -1 : 1;
	if (x->item_index != y->item_index)
		return x->item_index < y->item_index ? -1 : 1;
	if (x->is_follower != y->is_follower)
		return x->is_follower ? 1 : -1;
	if (x->brace_number)
		return x->serial < y->serial ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* True for the first event of its PMU. */
static bool is_first_of_pmu(const struct pfm_plan *plan, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (plan->events[k].event.table == plan->events[i].event.table)
			return false;
	return true;
}

static int plan_each_pmu(struct pfm_plan *plan, pfm_error_t *error)
{
	bool several = false;
	int rc = PFMLIB_SUCCESS;

	for (unsigned i = 1; i < plan->n_events; i++)
		several |= plan->events[i].event.table != plan->events[0].event.table;
	for (unsigned i = 0; i < plan->n_events && !rc; i++)
		if (is_first_of_pmu(plan, i)) {
			struct pmu_info u = pfmi_context_get_pmu(plan->ctx, plan->events[i].pmu);

			rc = pfmi_plan_group_pmu_events(plan, &u, several, error);
		}
	return rc;
}

static int finish_plan(struct pfm_plan *plan, pfm_error_t *error)
{
	int rc = plan_each_pmu(plan, error);

	if (!rc && plan->n_events)
		qsort(plan->events, plan->n_events, sizeof(plan->events[0]),
		      compare_planned_events);
	if (!rc && !plan->n_events) { /* metrics of constants alone */
		plan->certificate = strdup("expected at least one event to count");
		rc = plan->certificate ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
	}
	return rc;
}

/* ---- the interface --------------------------------------------------------------------------- */

static int plan_listed_texts(struct pfm_plan *plan, const char *const *texts, unsigned n,
                             pfm_error_t *error)
{
	int rc = PFMLIB_SUCCESS;

	plan->n_requests = n;
	for (unsigned i = 0; i < n && !rc; i++)
		rc = texts[i] ? add_planned_text(plan, texts[i], i, error)
		              : pfmi_base_refuse_argument(error, "an event is NULL");
	return rc ? rc : finish_plan(plan, error);
}

static int make_plan(pfm_plan_t **out, const pfm_ctx_t *ctx, const char *const *texts, unsigned n,
                     const pfm_plan_options_t *options, unsigned more_flags, pfm_error_t *why)
{
	struct pfm_plan *plan = calloc(1, sizeof(*plan));
	const char *wrong;
	int rc;

	if (!plan)
		return pfmi_base_set_no_memory_error(why);
	plan->ctx = pfmi_context_add_ref(ctx);
	plan->is_optimal = true;
	wrong = base_copy_options_in(&plan->options, sizeof(plan->options), options);
	if (!wrong)
		wrong = plan->options.plm > PFMI_LEVEL_MASK
		                ? PFMI_BAD_LEVELS_MESSAGE
		                : base_find_unknown_flag(plan->options.flags,
		                                         PFM_PLAN_RESERVED_IF_NEEDED);
	plan->options.flags |= more_flags;
	rc = wrong ? pfmi_base_refuse_argument(why, wrong) : plan_listed_texts(plan, texts, n, why);
	if (rc)
		pfm_close_plan(plan);
	else
		*out = plan;
	return rc;
}

int pfm_create_plan(pfm_plan_t **out, const pfm_ctx_t *ctx, const char *const *texts, unsigned n,
                    const pfm_plan_options_t *options, pfm_error_t *error)
{
	pfm_error_t mine = PFM_INIT(mine),
		    *why = error ? base_choose_error_struct(error, &mine) : &mine;
	int rc;

	if (out)
		*out = NULL;
	if (!out || !texts || !n) {
		rc = pfmi_base_refuse_argument(why, "out or texts is NULL, or there are no events");
		return base_return_error(error, why, rc);
	}
	rc = make_plan(out, ctx, texts, n, options, 0, why);
	if (rc == PFMLIB_ERR_NOASSIGN && options && options->flags & PFM_PLAN_RESERVED_IF_NEEDED)
		rc = make_plan(out, ctx, texts, n, options, PFM_PLAN_ALL_COUNTERS, why);
	return base_return_error(error, why, rc);
}

int pfm_describe_plan(const pfm_plan_t *plan, pfm_plan_info_t *info)
{
	pfm_plan_info_t full;

	if (!plan || !base_has_struct_size(info))
		return PFMLIB_ERR_INVAL;
	full = (pfm_plan_info_t){ .n_events = plan->n_events,
		                  .n_groups = plan->n_groups,
		                  .n_rounds = plan->n_rounds,
		                  .bound = plan->bound,
		                  .optimal = plan->is_optimal,
		                  .certificate = plan->certificate };
	base_copy_struct_out(info, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

int pfm_describe_planned_event(const pfm_plan_t *plan, unsigned i, pfm_planned_event_t *event)
{
	const struct planned_event *e;
	pfm_planned_event_t full;

	if (!plan || !base_has_struct_size(event))
		return PFMLIB_ERR_INVAL;
	if (i >= plan->n_events)
		return PFMLIB_ERR_NOTFOUND;
	e = &plan->events[i];
	full = (pfm_planned_event_t){
		.request = e->request_index,
		.pmu = (int)e->pmu,
		.text = e->text,
		.group = e->group,
		.counter = e->counter,
		.added = e->is_added,
		.in_proof = e->is_in_proof,
		.replaced = e->replaced,
		.errata = e->errata ? e->errata : "",
	};
	base_copy_struct_out(event, &full, sizeof(full));
	return PFMLIB_SUCCESS;
}

/* Appends @text to the @len bytes at @buf, which have @at before it. Returns the length of both. */
static size_t append_text(char *buf, size_t len, size_t at, const char *text)
{
	bool fits = at < len;

	return at + (size_t)snprintf(fits ? buf + at : NULL, fits ? len - at : 0, "%s", text);
}

int pfm_print_plan_group(const pfm_plan_t *plan, unsigned group, char *buf, size_t len)
{
	unsigned first = 0, end;
	bool is_group;
	size_t at = 0;

	if (!plan || (!buf && len))
		return PFMLIB_ERR_INVAL;
	while (first < plan->n_events && plan->events[first].group != group)
		first++;
	for (end = first; end < plan->n_events && plan->events[end].group == group;)
		end++;
	is_group = end > first + 1;
	for (unsigned i = first; i < end; i++) {
		at = append_text(buf, len, at, i > first ? "," : is_group ? "{" : "");
		at = append_text(buf, len, at, plan->events[i].text);
	}
	at = append_text(buf, len, at, is_group ? "}:W" : "");
	return end > first ? (int)at : PFMLIB_ERR_NOTFOUND;
}

void pfm_close_plan(pfm_plan_t *plan)
{
	union {
		const struct pfm_ctx *in;
		struct pfm_ctx *out;
	} ctx;

	if (!plan)
		return;
	ctx.in = plan->ctx; /* the reference that make_plan() added */
	pfm_close_context(ctx.out);
	free(plan->events);
	free(plan->uses);
	free(plan->certificate);
	free(plan);
}
