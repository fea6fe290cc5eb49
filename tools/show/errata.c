/* SPDX-License-Identifier: MIT */
/* pfm show: the errata of an event, and of a processor. */
#include "common/errata.h"
#include "common/pfm.h"
#include "show/show.h"

#include <string.h>

bool show_event_errata(const struct shower *s, const perfmon_pmu_info_t *pmu,
                       const perfmon_event_info_t *event)
{
	pfm_erratum_t e = PFM_INIT(e);
	char line[ERRATUM_LINE_MAX];
	unsigned n = 0, n_general = 0;

	for (unsigned i = 0; !pfm_describe_event_erratum(s->ctx, event->pmu, event->event, i, &e);
	     i++) {
		if (e.flags & PFM_ERRATUM_EVERY_EVENT) {
			n_general++;
			continue;
		}
		show_line(n++ ? "" : "errata", format_erratum(&e, line));
	}
	if (n_general) {
		snprintf(line, sizeof(line), "%u of all events: pfm show --errata %s", n_general,
		         pmu->name);
		show_line(n ? "" : "errata", line);
	}
	return n + n_general > 0;
}

static void show_erratum_events(const struct shower *s, int pmu, unsigned i)
{
	perfmon_event_info_t info = PFM_INIT(info);
	char line[SHOW_TEXT_SIZE] = "";
	size_t n = 0;
	unsigned event;

	for (unsigned k = 0; !pfm_describe_erratum_event(s->ctx, pmu, i, k, &event); k++)
		if (!pfm_describe_event(s->ctx, pmu, event, &info) && n < sizeof(line))
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", k ? ", " : "",
			                      info.name);
	show_line("events", line);
}

static void show_erratum(const struct shower *s, int pmu, unsigned i, const pfm_erratum_t *e)
{
	printf("\n%s%s%s%s\n  ", term_colour_begin(stdout, BOLD), e->ids, term_colour_end(stdout),
	       e->flags & PFM_ERRATUM_HERE ? "  (this machine has it)" : "");
	term_wrap(stdout, 2, 2, e->effect);
	show_erratum_events(s, pmu, i);
	if (e->flags & PFM_ERRATUM_EVERY_EVENT)
		show_line("events", "all");
	show_line("machines", e->machines);
	show_line("count instead", e->instead);
	show_line("workaround", e->workaround);
	show_line("Linux", e->kernel);
	show_line("source", e->source);
}

static void put_pmu_erratum(struct shower *s, const perfmon_pmu_info_t *pmu, int number, unsigned i,
                            const pfm_erratum_t *e)
{
	perfmon_event_info_t info = PFM_INIT(info);
	struct json *j = &s->out;
	unsigned event;

	put_erratum_begin(j, e);
	put_text(j, "pmu", pmu->name);
	put_begin(j, "events", '[');
	for (unsigned k = 0; !pfm_describe_erratum_event(s->ctx, number, i, k, &event); k++)
		if (!pfm_describe_event(s->ctx, number, event, &info))
			put_text(j, NULL, info.name);
	put_end(j, ']');
	put_end(j, '}');
	put_line(j);
}

void show_pmu_errata(struct shower *s, int pmu, const perfmon_pmu_info_t *info)
{
	pfm_erratum_t e = PFM_INIT(e);
	unsigned i;

	if (!s->json)
		printf("%s%s%s  %s\n", term_colour_begin(stdout, BOLD), info->name,
		       term_colour_end(stdout), info->desc);
	for (i = 0; !pfm_describe_erratum(s->ctx, pmu, i, &e); i++)
		if (s->json)
			put_pmu_erratum(s, info, pmu, i, &e);
		else
			show_erratum(s, pmu, i, &e);
	if (!i && !s->json)
		printf("  no erratum of its events is known here\n");
}
