/* SPDX-License-Identifier: MIT */
/* pfm show: a processor, as text and as JSON. */
#include <perfmon/alpha.h>
#include "common/pfm.h"
#include "show/show.h"

#include <inttypes.h>
#include <string.h>

static const char *format_feature(const char *text, uint64_t value, char buf[24])
{
	if (*text)
		return text;
	snprintf(buf, 24, "%" PRIu64, value);
	return buf;
}

/* Prints features in a wide column, because most names are long. */
static void print_features(const struct shower *s, int pmu)
{
	const char *name, *text;
	uint64_t value;
	size_t column = 0;
	char buf[24];
	unsigned i;

	for (i = 0; pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS;
	     i++)
		column = strlen(name) > column ? strlen(name) : column;
	if (i)
		show_heading("Features");
	for (i = 0; pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS;
	     i++) {
		printf("  %s%-*s%s ", term_colour_begin(stdout, DIM), (int)column, name,
		       term_colour_end(stdout));
		term_wrap(stdout, column + 3, column + 3, format_feature(text, value, buf));
	}
}

static bool has_feature(const struct shower *s, int pmu, const char *wanted)
{
	const char *name, *text;
	uint64_t value;

	for (unsigned i = 0;
	     pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS; i++)
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

/* The part of the machine for which the PMU counts; a box of which the table does not tell it is a
 * device of the kernel. */
static const char *get_counted_scope(const struct shower *s, int pmu, const perfmon_pmu_info_t *p)
{
	if (has_feature(s, pmu, "counts"))
		return "";
	return p->flags & PFM_PMU_UNCORE ? "each device, read through one CPU" : "tasks and CPUs";
}

/* The kernel numbers the devices of a box that a machine has several of. */
static void show_device(const struct shower *s, int pmu, const perfmon_pmu_info_t *p)
{
	char buf[160];

	if (!(p->flags & PFM_PMU_UNCORE) || !*p->device || p->flags & PFM_PMU_KERNEL)
		return;
	if (has_feature(s, pmu, "instances"))
		snprintf(buf, sizeof(buf), "%s", p->device);
	else
		snprintf(buf, sizeof(buf), "%s, or %s_0, %s_1 ... where there are several",
		         p->device, p->device, p->device);
	show_line("device", buf);
}

/* The counters of Alphas differ in width. */
static void show_width(const perfmon_pmu_info_t *p)
{
	char buf[160];
	size_t n = (size_t)snprintf(buf, sizeof(buf), "%u bits", p->width);

	for (unsigned c = 1; c < pfm_alpha_num_counters(p->libpfm_type); c++) {
		unsigned width = pfm_alpha_counter_width(p->libpfm_type, c);

		if (width != p->width)
			n += (size_t)snprintf(buf + n, sizeof(buf) - n, "; %u bits of counter %u",
			                      width, c);
	}
	if (p->width)
		show_line("width", buf);
}

static void show_pmu_rules(const struct shower *s, int pmu)
{
	pfm_rule_info_t rule = PFM_INIT(rule);
	char buf[RULE_TEXT_MAX];

	for (unsigned i = 0; pfm_describe_rule(s->ctx, pmu, i, &rule) == PFMLIB_SUCCESS; i++) {
		if (i == 0)
			show_heading("Rules");
		printf("  %s%s%s: ", term_colour_begin(stdout, CYAN), rule.name,
		       term_colour_end(stdout));
		term_wrap(stdout, strlen(rule.name) + 4, 4, format_rule(&rule, buf));
	}
}

void show_pmu_as_text(const struct shower *s, int pmu, const perfmon_pmu_info_t *p)
{
	char buf[160];

	printf("%s%s%s  %s\n", term_colour_begin(stdout, BOLD), p->name, term_colour_end(stdout),
	       p->desc);
	show_line("also called", p->aliases);
	show_line("origin", p->origin);
	show_line("source", p->source);
	if (p->flags & PFM_PMU_FALLBACK)
		show_line("fallback", p->flags & PFM_PMU_NEAREST
		                              ? "list of the nearest model: this model is unknown"
		                              : "architectural events only: this model is unknown");
	show_line("this machine", p->flags & PFM_PMU_HOST ? "yes" : "no");
	if (p->flags & PFM_PMU_KERNEL) {
		snprintf(buf, sizeof(buf), "%s, type %d", *p->device ? p->device : p->name,
		         p->type);
		show_line("kernel", buf);
	}
	show_device(s, pmu, p);
	show_line("counts", get_counted_scope(s, pmu, p));
	show_line("CPUs", p->cpus);
	if (p->n_instances > 1) {
		snprintf(buf, sizeof(buf), "%u units", p->n_instances);
		show_line("instances", buf);
	}
	snprintf(buf, sizeof(buf), "%u", p->n_events);
	show_line("events", buf);
	if (p->n_counters || p->n_fixed) {
		snprintf(buf, sizeof(buf), "%u general, %u fixed", p->n_counters, p->n_fixed);
		show_line("counters", buf);
	}
	show_width(p);
	print_formats(s, pmu);
	print_features(s, pmu);
	show_pmu_rules(s, pmu);
}

static void put_formats(struct shower *s, int pmu)
{
	struct json *j = &s->out;
	const char *name;
	char buf[160];

	put_begin(j, "formats", '{');
	for (unsigned i = 0; get_format(s, pmu, i, &name, buf, sizeof(buf)); i++)
		put_text(j, name, buf);
	put_end(j, '}');
}

void show_pmu_as_json(struct shower *s, int pmu, const perfmon_pmu_info_t *p)
{
	const char *name, *text;
	struct json *j = &s->out;
	uint64_t value;
	unsigned i;

	put_begin(j, NULL, '{');
	put_text(j, "pmu", p->name);
	put_text(j, "desc", p->desc);
	put_text_if(j, "aka", p->aliases);
	put_text(j, "origin", p->origin);
	put_text_if(j, "source", p->source);
	put_bool(j, "host", p->flags & PFM_PMU_HOST);
	put_bool(j, "kernel", p->flags & PFM_PMU_KERNEL);
	put_bool(j, "uncore", p->flags & PFM_PMU_UNCORE);
	put_bool(j, "fallback", p->flags & PFM_PMU_FALLBACK);
	if (p->flags & PFM_PMU_NEAREST)
		put_bool(j, "nearest", true);
	if (p->type >= 0)
		put_int(j, "type", p->type);
	put_text_if(j, "device", p->device);
	put_text_if(j, "cpus", p->cpus);
	put_text_if(j, "counts", get_counted_scope(s, pmu, p));
	put_int(j, "instances", p->n_instances);
	put_int(j, "events", p->n_events);
	put_int(j, "counters", p->n_counters);
	put_int(j, "fixed", p->n_fixed);
	put_int(j, "width", p->width);
	put_formats(s, pmu);
	put_begin(j, "features", '{');
	for (i = 0; pfm_describe_feature(s->ctx, pmu, i, &name, &text, &value) == PFMLIB_SUCCESS;
	     i++)
		if (*text)
			put_text(j, name, text);
		else
			put_hex(j, name, value);
	put_end(j, '}');
	put_pmu_rules(j, s->ctx, pmu);
	put_end(j, '}');
	put_line(j);
}
