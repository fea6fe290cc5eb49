/* SPDX-License-Identifier: MIT */
/* pfm list: tracepoints, and the forms of events that no table has. */
#include "list/list.h"

#include <perfmon/aggregate.h>

#include <string.h>

/* True if the request is for PMU @name alone, and no table has its events. */
static bool is_sole_pmu(const struct lister *l, const char *name)
{
	perfmon_pmu_info_t info = PFM_INIT(info);

	return l->pmu >= 0 && !pfm_describe_pmu(l->ctx, l->pmu, &info) && !info.n_events &&
	       strcmp(info.name, name) == 0;
}

/* ---- tracepoints ----------------------------------------------------------------------------- */

static void list_tracepoint(struct lister *l, const char *name)
{
	if (l->json) {
		put_begin(&l->out, NULL, '{');
		put_text(&l->out, "pmu", "tracepoint");
		put_text(&l->out, "event", name);
		put_end(&l->out, '}');
		put_line(&l->out);
		return;
	}
	if (!l->n_tracepoints)
		printf("%s%stracepoints%s  of the running kernel\n",
		       l->n_events || l->n_pmus ? "\n" : "", term_colour_begin(stdout, BOLD),
		       term_colour_end(stdout));
	printf("  %s%s%s\n", term_colour_begin(stdout, CYAN), name, term_colour_end(stdout));
}

static int add_tracepoint(void *arg, const char *name)
{
	struct lister *l = arg;

	if (l->pattern && !contains_text(l, name))
		return 0;
	list_tracepoint(l, name);
	l->n_tracepoints++;
	l->n_events++;
	return 0;
}

void list_tracepoints(struct lister *l)
{
	if (l->pmu >= 0 ? is_sole_pmu(l, "tracepoint")
	                : l->pattern && !l->metrics && !l->counters && !l->unit_name)
		pfm_visit_tracepoints(l->ctx, NULL, add_tracepoint, l);
}

/* ---- events that are written, not listed ----------------------------------------------------- */

static const struct raw_form {
	const char *pmu, *form, *desc;
} raw_forms[] = {
	{ "tracepoint", "SUBSYSTEM:NAME",
	  "A tracepoint of the kernel; 'pfm list tracepoint' lists all, 'pfm show' the fields of "
	  "one." },
	{ "breakpoint", "mem:ADDRESS[/LENGTH][:ACCESS]",
	  "Accesses to 1 to 8 bytes of memory; ACCESS is any of r, w and x, or rw." },
	{ "kprobe", "kprobes:NAME",
	  "Executions of a place in the kernel, after it got a name: echo 'p:NAME FUNCTION' >> "
	  "/sys/kernel/tracing/kprobe_events." },
	{ "uprobe", "uprobes:NAME",
	  "Executions of a place in a program, after it got a name: echo 'p:NAME FILE:OFFSET' >> "
	  "/sys/kernel/tracing/uprobe_events." },
};

static void list_form(struct lister *l, const struct raw_form *w)
{
	if (!l->json) {
		const struct found_event form = { .name = w->form, .desc = w->desc, .topic = "" };

		if (!l->n_forms)
			printf("%s%swritten, not listed%s\n", l->n_events || l->n_pmus ? "\n" : "",
			       term_colour_begin(stdout, BOLD), term_colour_end(stdout));
		print_found(l, &form, 1);
		return;
	}
	put_begin(&l->out, NULL, '{');
	put_text(&l->out, "pmu", w->pmu);
	put_text(&l->out, "form", w->form);
	put_text(&l->out, "desc", w->desc);
	put_end(&l->out, '}');
	put_line(&l->out);
}

void list_forms(struct lister *l)
{
	if (l->metrics || l->counters || l->unit_name)
		return;
	for (const struct raw_form *w = raw_forms;
	     w < raw_forms + sizeof(raw_forms) / sizeof(raw_forms[0]); w++) {
		bool wanted = l->pmu >= 0 ? is_sole_pmu(l, w->pmu)
		                          : !l->pattern || contains_text(l, w->pmu);

		if (!wanted || (l->pmu < 0 && pfm_find_pmu(l->ctx, w->pmu) < 0))
			continue;
		list_form(l, w);
		l->n_forms++;
		l->n_events++;
	}
}
