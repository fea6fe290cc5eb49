/* SPDX-License-Identifier: MIT */
/* pfm stat --dry-run: prints the events that the kernel would be asked for. */
#include "common/pfm.h"
#include "show/show.h"
#include "stat/stat.h"

static void put_plan_line(FILE *out, const pfm_ctx_t *ctx, const pfm_count_info_t *info)
{
	struct json j = { .out = out };

	put_begin(&j, NULL, '{');
	put_text(&j, "event", info->name);
	put_text(&j, "pmu", info->pmu);
	put_int(&j, "group", info->group);
	put_int(&j, "parts", info->n_kernel_events);
	put_text_if(&j, "cpus", info->cpus);
	put_text_if(&j, "unit", info->unit);
	put_text_if(&j, "why", info->why);
	put_text_if(&j, "remedy", info->remedy);
	put_event_notes(&j, ctx, info->name);
	put_attr(&j, "perf", &info->attr);
	put_end(&j, '}');
	put_line(&j);
}

static void print_indented(FILE *out, const char *text)
{
	if (!*text)
		return;
	fputs("  ", out);
	term_wrap(out, 2, 2, text);
}

static void print_plan(FILE *out, const pfm_ctx_t *ctx, const pfm_count_info_t *info)
{
	char note[NOTE_MAX];

	fprintf(out, "%s%s%s\n  pmu %s, group %u, %u kernel event%s%s%s\n",
	        term_colour_begin(out, BOLD), info->name, term_colour_end(out), info->pmu,
	        info->group, info->n_kernel_events, info->n_kernel_events == 1 ? "" : "s",
	        *info->cpus ? ", CPUs " : "", info->cpus);
	if (info->attr.expressible) {
		fputs("  ", out);
		print_attr(out, &info->attr);
		putc('\n', out);
	}
	print_indented(out, info->why);
	print_indented(out, info->remedy);
	print_indented(out, describe_uncertainty(ctx, info->name, note));
	print_remarks(out, ctx, info->name, "  rule: ");
	is_from_generic_fallback(ctx, info->name);
}

void report_plan(FILE *out, bool json, const pfm_ctx_t *ctx, const pfm_session_t *session)
{
	pfm_count_info_t info = PFM_INIT(info);
	unsigned i, n = pfm_session_size(session);

	for (i = 0; i < n && pfm_describe_count(session, i, &info) == PFMLIB_SUCCESS; i++)
		if (json)
			put_plan_line(out, ctx, &info);
		else
			print_plan(out, ctx, &info);
}
