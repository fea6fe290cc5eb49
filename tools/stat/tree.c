/* SPDX-License-Identifier: MIT */
/* pfm stat: metrics as a tree. For a metric above its threshold, suggests to count the metrics
 * below it. Also writes the tree as a page for a browser, with a bar for each value, its error, and
 * commands for the metrics below. */
#include "common/metric.h"
#include "profile/profile.h"
#include "stat/stat.h"
#include "base/text_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 16 };

/* ---- parents and children -------------------------------------------------------------------- */

bool is_child_metric(const struct stat_job *job, const struct stat_metric *child,
                     const struct stat_metric *parent)
{
	pfm_metric_info_t c = PFM_INIT(c), p = PFM_INIT(p);

	return child->pmu == parent->pmu &&
	       !pfm_describe_metric(job->ctx, child->pmu, child->event, &c) &&
	       !pfm_describe_metric(job->ctx, parent->pmu, parent->event, &p) && *c.parent &&
	       strcasecmp(c.parent, p.name) == 0;
}

/* True if no requested metric is an ancestor of metric @i. */
static bool is_root(const struct stat_job *job, unsigned i)
{
	for (unsigned k = 0; k < job->result.metrics.n; k++)
		if (k != i &&
		    is_child_metric(job, &job->result.metrics.at[i], &job->result.metrics.at[k]))
			return false;
	return true;
}

/* Counts the metrics below @m that were not requested. */
static unsigned count_uncounted_children(const struct stat_job *job, const struct stat_metric *m)
{
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_metric_info_t info = PFM_INIT(info);
	unsigned n = 0;

	if (pfm_describe_pmu(job->ctx, m->pmu, &pmu))
		return 0;
	for (unsigned e = 0; e < pmu.n_events; e++)
		n += !pfm_describe_metric(job->ctx, m->pmu, e, &info) &&
		     is_child_metric(job, &(struct stat_metric){ .pmu = m->pmu, .event = e }, m) &&
		     !is_requested_metric(&job->result, m->pmu, e);
	return n;
}

/* Moves the metrics below @m from @left to the order, each followed by its own children. */
static void add_children(struct stat_job *job, const struct stat_metric *m, struct stat_metric *out,
                         unsigned *n, bool *taken, unsigned depth)
{
	for (unsigned i = 0; i < job->result.metrics.n && depth < MAX_DEPTH; i++)
		if (!taken[i] && is_child_metric(job, &job->result.metrics.at[i], m)) {
			taken[i] = true;
			out[(*n)++] = job->result.metrics.at[i];
			add_children(job, &job->result.metrics.at[i], out, n, taken, depth + 1);
		}
}

bool order_metric_tree(struct stat_job *job)
{
	struct stat_metric *out = calloc(job->result.metrics.n + 1, sizeof(*out));
	bool *taken = calloc(job->result.metrics.n + 1, sizeof(*taken));
	unsigned n = 0;

	for (unsigned i = 0; out && taken && i < job->result.metrics.n; i++)
		if (!taken[i] && is_root(job, i)) {
			taken[i] = true;
			out[n++] = job->result.metrics.at[i];
			add_children(job, &job->result.metrics.at[i], out, &n, taken, 0);
		}
	if (n == job->result.metrics.n && n)
		memcpy(job->result.metrics.at, out, n * sizeof(*out));
	free(taken);
	free(out);
	return n == job->result.metrics.n;
}

/* ---- what to look at next -------------------------------------------------------------------- */

/* Metrics to count next. */
struct metric_branch {
	char text[256]; /* argument of -M */
	const char *name;
	unsigned metrics, groups;
};

/* Finds the group of metrics to count next below @m. Returns false if @m is not above its
 * threshold, or all metrics below it were requested. */
static bool choose_branch(const struct stat_job *job, const struct stat_metric *m, double elapsed,
                          struct metric_branch *out)
{
	static struct metric_answer a;
	perfmon_pmu_info_t pmu = PFM_INIT(pmu);
	pfm_plan_info_t info = PFM_INIT(info);
	pfm_plan_options_t options = PFM_INIT(options);
	const char *texts[] = { out->text };
	pfm_plan_t *plan;

	if (!compute_stat_metric(job, m, "", elapsed, &a) || a.value.over_threshold <= 0 ||
	    pfm_describe_pmu(job->ctx, m->pmu, &pmu))
		return false;
	*out = (struct metric_branch){ .name = a.info.name,
		                       .metrics = count_uncounted_children(job, m) };
	if (!out->metrics)
		return false;
	snprintf(out->text, sizeof(out->text), "%s::%s_group", pmu.name, a.info.name);
	options.flags = PFM_PLAN_ALL_COUNTERS;
	if (pfm_create_plan(&plan, job->ctx, texts, 1, &options, NULL))
		return true;
	pfm_describe_plan(plan, &info);
	out->groups = info.n_groups;
	pfm_close_plan(plan);
	return true;
}

static void put_branch_line(const struct stat_report *report, const struct metric_branch *b)
{
	struct json j = { .out = report->out };

	put_begin(&j, NULL, '{');
	put_text(&j, "next", b->text);
	put_text(&j, "below", b->name);
	put_int(&j, "metrics", b->metrics);
	if (b->groups)
		put_int(&j, "groups", b->groups);
	put_end(&j, '}');
	put_line(&j);
}

void report_children(const struct stat_job *job, double elapsed)
{
	struct metric_branch b;

	for (unsigned i = 0;
	     i < job->result.metrics.n && job->options.by == BY_NOTHING && !job->options.separator;
	     i++) {
		if (!choose_branch(job, &job->result.metrics.at[i], elapsed, &b))
			continue;
		if (job->options.json)
			put_branch_line(&job->report, &b);
		else
			fprintf(job->report.out,
			        "\n  below %s: pfm stat -M %s  (%u metric%s, %u group%s)\n", b.name,
			        b.text, b.metrics, b.metrics == 1 ? "" : "s", b.groups,
			        b.groups == 1 ? "" : "s");
	}
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The marks before names: U+25B8, U+25BE. */
static const char html_head[] =
	"<!doctype html>\n"
	"<html lang=\"en\">\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>\n"
	":root{color-scheme:light "
	"dark;--ink:#1b1f24;--dim:#5b6570;--page:#fff;--line:#d8dee4;--bar:#8fb4dc;--hot:#d9822b;--"
	"error:#1b1f24}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--dim:#9aa4ae;--page:#14171a;"
	"--line:#30363d;--bar:#31598a;--hot:#b35f0e;--error:#e6e9ec}}\n"
	"body{font:15px/1.45 "
	"system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:60rem;margin:2rem "
	"auto;padding:0 1rem}\n"
	"h1{font-size:1.25rem;margin:0 0 .25rem}h2{font-size:1rem;margin:2rem 0 "
	".5rem}p{margin:.25rem 0;color:var(--dim)}\n"
	"summary,.leaf{padding:.15rem "
	"0;list-style:none}summary{cursor:pointer}summary::-webkit-details-marker{display:none}\n"
	".row{display:grid;grid-template-columns:17rem 1fr 9rem;gap:.75rem;align-items:center}\n"
	".name{overflow-wrap:anywhere;padding-left:calc(var(--depth)*1.1rem + 1.1rem)}\n"
	"summary "
	".name:before{content:\"\\25b8\";display:inline-block;width:1.1rem;margin-left:-1.1rem}"
	"details[open]>summary .name:before{content:\"\\25be\"}\n"
	".value{text-align:right;font-variant-numeric:tabular-nums}\n"
	".track{position:relative;height:.9rem;background:color-mix(in srgb,var(--line) "
	"45%,transparent);border-radius:2px}\n"
	".bar{position:absolute;inset:0 auto 0 0;background:var(--bar);border-radius:2px}.row.over "
	".bar{background:var(--hot)}.row.over .name{font-weight:600}\n"
	".error{position:absolute;top:50%;height:2px;margin-top:-1px;background:var(--error)}\n"
	".error:before,.error:after{content:\"\";position:absolute;top:-3px;width:2px;height:8px;"
	"background:var(--error)}.error:after{right:0}\n"
	".none{color:var(--dim)}code{font:13px ui-monospace,monospace;background:color-mix(in "
	"srgb,var(--line) 45%,transparent);padding:.1rem .3rem;border-radius:3px}\n"
	"table{border-collapse:collapse}td,th{padding:.15rem .75rem .15rem "
	"0;text-align:left;font-weight:400}td:nth-child(2){text-align:right;font-variant-numeric:"
	"tabular-nums}\n"
	"button{font:inherit;color:inherit;background:none;border:1px solid "
	"var(--line);border-radius:4px;padding:.1rem .6rem;margin-right:.5rem;cursor:pointer}\n"
	"@media(max-width:40rem){.row{grid-template-columns:10rem 1fr 5.5rem}}\n"
	"</style>\n";

static const char html_script[] =
	"<script>\n"
	"const all=document.querySelectorAll('details');\n"
	"document.getElementById('all').onclick=()=>all.forEach(d=>d.open=true);\n"
	"document.getElementById('worth').onclick=()=>all.forEach(d=>d.open=d.classList.contains('"
	"over'));\n"
	"</script>\n";

static void put_page_text(FILE *out, const char *text)
{
	base_put_xml(out, text, strlen(text));
}

static double limit_percent(double percent)
{
	return percent < 0 ? 0 : percent > 100 ? 100 : percent;
}

/* True for a ratio, which is shown as a bar. */
static bool is_share(const struct metric_answer *a)
{
	return strcmp(a->info.unit, "%") == 0 || strcmp(a->info.unit, "percent") == 0 ||
	       strcmp(a->info.unit, "100%") == 0;
}

static void put_value(FILE *out, const struct metric_answer *a)
{
	if (a->value.state)
		fprintf(out, "<span class=\"value none\">%s</span>",
		        pfm_metric_state_name(a->value.state));
	else if (a->value.error > 0)
		fprintf(out, "<span class=\"value\">%.1f &plusmn; %.2g %%</span>", a->value.value,
		        a->value.error);
	else if (a->value.error < 0)
		fprintf(out, "<span class=\"value\">%.1f &plusmn; ? %%</span>", a->value.value);
	else
		fprintf(out, "<span class=\"value\">%.1f %%</span>", a->value.value);
}

static void put_bar(FILE *out, const struct metric_answer *a)
{
	double low = limit_percent(a->value.low), high = limit_percent(a->value.high);

	fputs("<span class=\"track\">", out);
	if (!a->value.state)
		fprintf(out, "<span class=\"bar\" style=\"width:%.2f%%\"></span>",
		        limit_percent(a->value.value));
	if (!a->value.state && a->value.error > 0)
		fprintf(out,
		        "<span class=\"error\" style=\"left:%.2f%%;width:%.2f%%\" title=\"95 %% "
		        "interval: %.1f to %.1f\"></span>",
		        low, high - low, a->value.low, a->value.high);
	fputs("</span>", out);
}

static void put_row(const struct stat_job *job, FILE *out, const struct stat_metric *m,
                    const struct metric_answer *a, unsigned depth)
{
	perfmon_event_info_t e = PFM_INIT(e);
	const char *pmu = get_common_pmu(job, m->pmu);

	fprintf(out, "<span class=\"row%s\" style=\"--depth:%u\"><span class=\"name\" title=\"",
	        a->value.over_threshold > 0 ? " over" : "", depth);
	put_page_text(out, pfm_describe_event(job->ctx, m->pmu, m->event, &e) ? "" : e.desc);
	fputs("\">", out);
	put_page_text(out, a->info.name);
	if (*pmu && depth == 0) {
		fputs(" <small>", out);
		put_page_text(out, pmu);
		fputs("</small>", out);
	}
	fputs("</span>", out);
	put_bar(out, a);
	put_value(out, a);
	fputs("</span>", out);
}

static void put_node(const struct stat_job *job, FILE *out, unsigned i, double elapsed,
                     unsigned depth)
{
	const struct stat_metric *m = &job->result.metrics.at[i];
	struct metric_answer *a = malloc(sizeof(*a));
	bool over, branch = false;

	if (!a || !compute_stat_metric(job, m, "", elapsed, a) || !is_share(a) ||
	    depth > MAX_DEPTH) {
		free(a);
		return;
	}
	over = a->value.over_threshold > 0;
	for (unsigned k = 0; k < job->result.metrics.n; k++)
		branch |= is_child_metric(job, &job->result.metrics.at[k], m);
	if (branch)
		fprintf(out, "<details%s>\n<summary>", over ? " class=\"over\" open" : "");
	else
		fputs("<div class=\"leaf\">", out);
	put_row(job, out, m, a, depth);
	fputs(branch ? "</summary>\n" : "</div>\n", out);
	for (unsigned k = 0; branch && k < job->result.metrics.n; k++)
		if (is_child_metric(job, &job->result.metrics.at[k], m))
			put_node(job, out, k, elapsed, depth + 1);
	if (branch)
		fputs("</details>\n", out);
	free(a);
}

/* Writes the metrics without a bar as a table. */
static void put_other_metrics(const struct stat_job *job, FILE *out, double elapsed)
{
	static struct metric_answer a;
	unsigned n = 0;

	for (unsigned i = 0; i < job->result.metrics.n; i++) {
		if (!compute_stat_metric(job, &job->result.metrics.at[i], "", elapsed, &a) ||
		    is_share(&a))
			continue;
		fputs(n++ ? "<tr><th>" : "<h2>Beside the tree</h2>\n<table>\n<tr><th>", out);
		put_page_text(out, a.info.name);
		if (a.value.state)
			fprintf(out, "<td class=\"none\">%s<td>",
			        pfm_metric_state_name(a.value.state));
		else
			fprintf(out,
			        a.value.error > 0   ? "<td>%.4g &plusmn; %.2g<td>"
			        : a.value.error < 0 ? "<td>%.4g &plusmn; ?<td>"
			                            : "<td>%.4g<td>",
			        a.value.value, a.value.error);
		put_page_text(out, a.value.state ? "" : a.info.unit);
		fputc('\n', out);
	}
	fputs(n ? "</table>\n" : "", out);
}

/* True if a metric with a bar has a value. */
static bool has_bar(const struct stat_job *job, double elapsed)
{
	static struct metric_answer a;

	for (unsigned i = 0; i < job->result.metrics.n; i++)
		if (compute_stat_metric(job, &job->result.metrics.at[i], "", elapsed, &a) &&
		    is_share(&a) && !a.value.state)
			return true;
	return false;
}

static void put_children(const struct stat_job *job, FILE *out, double elapsed)
{
	struct metric_branch b;
	unsigned n = 0;

	for (unsigned i = 0; i < job->result.metrics.n; i++) {
		if (!choose_branch(job, &job->result.metrics.at[i], elapsed, &b))
			continue;
		fputs(n++ ? "<li>" : "<h2>What to look at next</h2>\n<ul id=\"next\">\n<li>", out);
		put_page_text(out, b.name);
		fprintf(out,
		        " exceeds its threshold, and %u metric%s below it %s not counted: "
		        "<code>pfm stat -M ",
		        b.metrics, b.metrics == 1 ? "" : "s", b.metrics == 1 ? "was" : "were");
		put_page_text(out, b.text);
		fprintf(out, "</code> (%u group%s of events)\n", b.groups,
		        b.groups == 1 ? "" : "s");
	}
	if (n)
		fputs("</ul>\n", out);
	else if (has_bar(job, elapsed))
		fputs("<h2>What to look at next</h2>\n<p>No value exceeds its threshold and has "
		      "metrics below it that were not counted.</p>\n",
		      out);
}

/* True if an earlier row has the same reason. */
static bool has_reason_before(const struct stat_result *result, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (strcmp(result->rows[k].info.why, result->rows[i].info.why) == 0)
			return true;
	return false;
}

/* Writes why events were not counted, each reason once. */
static void put_reasons(const struct stat_result *result, FILE *out)
{
	for (unsigned i = 0; i < result->n_rows; i++) {
		const struct stat_row *row = &result->rows[i];

		if (row->tally.counted || !*row->info.why || has_reason_before(result, i))
			continue;
		fputs("<p class=\"none\">Not counted: ", out);
		put_page_text(out, row->info.why);
		if (*row->info.remedy)
			fputs("; ", out);
		put_page_text(out, row->info.remedy);
		fputs(".</p>\n", out);
	}
}

static void put_page(const struct stat_job *job, FILE *out, double elapsed)
{
	bool scaled = false, partial = false;
	static struct metric_answer a;

	for (unsigned i = 0; i < job->result.metrics.n; i++)
		if (compute_stat_metric(job, &job->result.metrics.at[i], "", elapsed, &a)) {
			scaled |= a.value.quality == PFM_QUALITY_SCALED;
			partial |= a.value.quality == PFM_QUALITY_PARTIAL;
		}
	fputs(html_head, out);
	fputs("<title>Metrics of ", out);
	put_page_text(out, job->report.target);
	fputs("</title>\n<h1>", out);
	put_page_text(out, job->report.target);
	fprintf(out,
	        "</h1>\n<p>%.6f seconds%s. Bars are percent of the whole; orange is over its "
	        "threshold%s.%s%s</p>\n",
	        elapsed, job->timing.repeat > 1 ? ", mean of the runs" : "",
	        job->timing.repeat > 1 || scaled ? "; whiskers are 95 % intervals" : "",
	        scaled ? " Some counts shared their counters and were scaled." : "",
	        partial ? " Some counts are partial." : "");
	put_reasons(&job->result, out);
	fputs("<p><button id=\"worth\">Open what needs attention</button><button id=\"all\">Open "
	      "all</button></p>\n<main>\n",
	      out);
	for (unsigned i = 0; i < job->result.metrics.n; i++)
		if (is_root(job, i))
			put_node(job, out, i, elapsed, 0);
	fputs("</main>\n", out);
	put_children(job, out, elapsed);
	put_other_metrics(job, out, elapsed);
	fputs(html_script, out);
	fputs("</html>\n", out);
}

int write_page(const struct stat_job *job, double elapsed)
{
	FILE *out = fopen(job->options.html, "we");
	bool failed;

	if (!out)
		return report_bad_option(job->options.html, errno);
	put_page(job, out, elapsed);
	failed = ferror(out);
	if (fclose(out) || failed)
		return report_bad_option(job->options.html, failed ? EIO : errno);
	return EXIT_DONE;
}
