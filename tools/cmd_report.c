/* SPDX-License-Identifier: MIT */
/* pfm report: where the samples of a recording are. */
#include "pfm.h"
#include "profile.h"
#include "text_output.h"

#include <fnmatch.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>

enum { OPT_JSON = LONG_ONLY, OPT_FOLDED, OPT_SVG, OPT_SOURCE };

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each place" },
	{ OPT_FOLDED, "folded", NULL, "one line for each stack: task;outer;...;inner WEIGHT" },
	{ OPT_SVG, "svg", NULL,
	  "write a flame graph as SVG; click a function in a browser to zoom in" },
	{ OPT_SOURCE, "source", NULL,
	  "by source line, with the functions that were inlined there" },
	{ 'e', "event", "NAME", "samples of this event alone; with * and ?, of all that match" },
	{ 'n', "lines", "N",
	  "at most so many places of each event (0: all); 40 if not said, with --json all" },
	{ 0, NULL, NULL, NULL }
};

struct report_job {
	struct profile profile;
	bool json, folded, svg, source;
	uint64_t line_limit; /* of each event; 0: all */
	const char *event;   /* whose samples are wanted, by name or pattern; NULL: all */
};

/* True if a line for one more place of @event goes beyond what was asked for; @shown counts those
 * of @last. */
static bool has_line_limit(const struct report_job *job, unsigned event, unsigned *last,
                           uint64_t *shown)
{
	if (event != *last)
		*shown = 0;
	*last = event;
	return job->line_limit && (*shown)++ >= job->line_limit;
}

static const char *event_name(const struct profile *p, unsigned event)
{
	static char name[256];
	pfm_count_info_t info = PFM_INIT(info);

	name[0] = '\0';
	if (pfm_describe_count(p->session, event, &info) == PFMLIB_SUCCESS)
		snprintf(name, sizeof(name), "%s", info.name);
	return name;
}

static double weight_share(const struct profile *p, const struct profile_place *at)
{
	return (double)at->weight / (double)p->weights[at->event];
}

/* Of a share of @n samples taken by chance. */
static double standard_error(double share, uint64_t n)
{
	return n ? sqrt(share * (1 - share) / (double)n) : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_places_json(const struct report_job *job)
{
	const struct profile *p = &job->profile;
	unsigned last = 0;
	uint64_t shown = 0;

	for (size_t i = 0; i < p->n_places; i++) {
		const struct profile_place *at = &p->places[i];
		struct json j = { .out = stdout };

		if (has_line_limit(job, at->event, &last, &shown))
			continue;
		put_begin(&j, NULL, '{');
		put_text(&j, "event", event_name(p, at->event));
		put_text(&j, "task", p->texts.text[at->task]);
		put_text(&j, "object", p->texts.text[at->object]);
		put_text(&j, "function", p->texts.text[at->function]);
		if (job->source) {
			put_text(&j, "inlined", p->texts.text[at->inlined]);
			put_text(&j, "source", p->texts.text[at->source]);
		}
		put_int(&j, "samples", (int64_t)at->samples);
		put_int(&j, "weight", (int64_t)at->weight);
		put_real(&j, "share", weight_share(p, at));
		put_real(&j, "error", standard_error(weight_share(p, at), p->samples[at->event]));
		put_end(&j, '}');
		put_line(&j);
	}
}

/* "function", or "function > inlined > inlined  file.c:12". */
static void put_function(const struct profile *p, const struct profile_place *at)
{
	char line[NAME_LINE];

	fputs(profile_line(p->texts.text[at->function], line), stdout);
	for (const char *s = p->texts.text[at->inlined]; *s; s += *s == ';') {
		int len = (int)strcspn(s, ";");

		printf(" > %.*s", len, s);
		s += len;
	}
	if (at->source)
		printf("  %s", profile_line(base_name(p->texts.text[at->source]), line));
	putchar('\n');
}

static void put_places(const struct report_job *job)
{
	const struct profile *p = &job->profile;

	for (unsigned event = 0; event < p->n_events; event++) {
		char number[GROUPED_MAX], title[NAME_LINE];
		unsigned last = event;
		uint64_t shown = 0, hidden = 0;
		double rest = 0;

		if (!p->samples[event])
			continue;
		printf("%s%s%s: %s samples\n", term_colour_begin(stdout, BOLD),
		       profile_line(event_name(p, event), title), term_colour_end(stdout),
		       group_digits(p->samples[event], number));
		for (size_t i = 0; i < p->n_places; i++) {
			const struct profile_place *at = &p->places[i];
			char line[NAME_LINE];
			double s;

			if (at->event != event)
				continue;
			s = weight_share(p, at);
			if (has_line_limit(job, event, &last, &shown)) {
				hidden++;
				rest += s;
				continue;
			}
			printf("%6.2f%% +-%5.2f  %-16s ", 100 * s,
			       100 * standard_error(s, p->samples[event]),
			       profile_line(p->texts.text[at->task], line));
			printf("%-24s ", profile_line(base_name(p->texts.text[at->object]), line));
			put_function(p, at);
		}
		if (hidden)
			printf("%6.2f%% in %llu more place%s; -n 0 shows all\n", 100 * rest,
			       (unsigned long long)hidden, hidden > 1 ? "s" : "");
		putchar('\n');
	}
}

static void put_folded(const struct profile *p)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		put_line_text(stdout, p->texts.text[p->stacks[i].function]);
		printf(" %llu\n", (unsigned long long)p->stacks[i].weight);
	}
}

/* Is @name what @pattern says, or that with modifiers behind it? */
static bool matches_event_name(const char *name, const char *pattern)
{
	size_t len = strlen(pattern);

	return fnmatch(pattern, name, 0) == 0 ||
	       (strncmp(name, pattern, len) == 0 && name[len] == ':' && name[len + 1] != ':');
}

static bool is_selected_event(const struct report_job *job, unsigned event)
{
	return !job->event || matches_event_name(event_name(&job->profile, event), job->event);
}

/* Leaves the places in @list whose events have samples. Returns how many. */
static size_t keep_selected_events(const struct profile *p, struct profile_place *list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (p->samples[list[i].event])
			list[kept++] = list[i];
	return kept;
}

/* Names the events that were recorded, or those with samples alone. A dummy, which carries the
 * records of tasks and maps, has none. */
static void name_events(const struct profile *p, bool sampled)
{
	char line[NAME_LINE];

	for (unsigned i = 0, n = 0; i < p->n_events; i++)
		if (p->samples[i] || (!sampled && !matches_event_name(event_name(p, i), "dummy")))
			fprintf(stderr, "%s%s", n++ ? ", " : "",
			        profile_line(event_name(p, i), line));
	fputc('\n', stderr);
}

/* True if the events with samples have more than one name. */
static bool has_kinds(const struct profile *p)
{
	char first[256] = "";

	for (unsigned i = 0; i < p->n_events; i++) {
		if (!p->samples[i])
			continue;
		if (*first && strcmp(event_name(p, i), first) != 0)
			return true;
		snprintf(first, sizeof(first), "%s", event_name(p, i));
	}
	return false;
}

/* Leaves the samples that are wanted, of events that were recorded. */
static int choose_events(struct report_job *job, const char *path)
{
	struct profile *p = &job->profile;
	unsigned wanted = 0;

	for (unsigned i = 0; i < p->n_events; i++)
		wanted += is_selected_event(job, i);
	if (job->event && !wanted) {
		fprintf(stderr, "pfm report: no '%s' was recorded in %s, but ", job->event, path);
		name_events(p, false);
		return EXIT_REFUSED;
	}
	for (unsigned i = 0; i < p->n_events; i++)
		if (!is_selected_event(job, i))
			p->samples[i] = 0;
	p->n_places = keep_selected_events(p, p->places, p->n_places);
	p->n_stacks = keep_selected_events(p, p->stacks, p->n_stacks);
	return EXIT_DONE;
}

/* Where one occurrence is a sample of two events, newer kernels (6.18 does) give both to the first.
 */
static void name_duplicate_functions(const struct profile *p)
{
	for (unsigned i = 0; i < p->n_events; i++)
		for (unsigned k = i + 1; k < p->n_events; k++) {
			pfm_count_info_t a = PFM_INIT(a), b = PFM_INIT(b);
			char one[NAME_LINE], other[NAME_LINE];

			if (pfm_describe_count(p->session, i, &a) ||
			    pfm_describe_count(p->session, k, &b) ||
			    a.attr.type != PERF_TYPE_SOFTWARE ||
			    b.attr.type != PERF_TYPE_SOFTWARE || a.attr.config != b.attr.config ||
			    a.attr.config <= PERF_COUNT_SW_TASK_CLOCK)
				continue;
			fprintf(stderr,
			        "pfm report: samples of %s and %s cannot be distinguished: both "
			        "are "
			        "the "
			        "same kernel event\n",
			        profile_line(a.name, one), profile_line(b.name, other));
			return;
		}
}

static uint64_t count_samples(const struct profile *p)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i < p->n_events; i++)
		samples += p->samples[i];
	return samples;
}

/* Stacks are added by weight, so all weights must have one unit. */
static int refuse_event_sums(const struct report_job *job)
{
	if (job->event || !(job->folded || job->svg) || !has_kinds(&job->profile))
		return EXIT_DONE;
	fprintf(stderr, "pfm report: samples of different events cannot be added; choose one "
	                "with --event ('*' adds all anyway): ");
	name_events(&job->profile, true);
	return EXIT_REFUSED;
}

static int print_report(struct report_job *job, const char *path)
{
	struct profile *p = &job->profile;
	int status = profile_read(p, path,
	                          job->folded || job->svg ? STACKS
	                          : job->source           ? SOURCE
	                                                  : FUNCTIONS);

	if (status != EXIT_DONE)
		return status;
	if (p->n_lost || p->lost_samples)
		fprintf(stderr, "pfm report: %llu records were lost while recording\n",
		        (unsigned long long)(p->n_lost > p->lost_samples ? p->n_lost
		                                                         : p->lost_samples));
	if (p->throttled)
		fprintf(stderr,
		        "pfm report: the kernel throttled sampling %llu time%s: an unknown "
		        "number of samples is missing\n",
		        (unsigned long long)p->throttled, p->throttled > 1 ? "s" : "");
	if (p->n_without_event)
		fprintf(stderr, "pfm report: %llu samples are left out: their event is unknown\n",
		        (unsigned long long)p->n_without_event);
	name_duplicate_functions(p);
	if (p->damaged)
		fprintf(stderr,
		        "pfm report: %s is damaged or cut off: the records after the first "
		        "%llu samples are missing\n",
		        path, (unsigned long long)count_samples(p));
	status = choose_events(job, path);
	if (status == EXIT_DONE)
		status = refuse_event_sums(job);
	if (status != EXIT_DONE)
		return status;
	if (!count_samples(p)) {
		fprintf(stderr, "pfm report: %s has no samples", path);
		if (job->event)
			fprintf(stderr, " of '%s'", job->event);
		fputc('\n', stderr);
		return EXIT_DONE;
	}
	if (job->svg)
		return put_flame_graph(p, stdout, path);
	if (job->folded)
		put_folded(p);
	else if (job->json)
		put_places_json(job);
	else
		put_places(job);
	return EXIT_DONE;
}

static int run_report(struct command_args *args)
{
	struct report_job job = { .line_limit = 40 };
	const char *value;
	bool limited = false;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case OPT_JSON: job.json = true; break;
		case OPT_FOLDED: job.folded = true; break;
		case OPT_SVG: job.svg = true; break;
		case OPT_SOURCE: job.source = true; break;
		case 'e': job.event = value; break;
		case 'n':
			if (!option_number(args, "-n", value, 0, UINT32_MAX, &job.line_limit))
				return args->status;
			limited = true;
			break;
		}
	if (id < 0)
		return args->status;
	if (job.json && !limited)
		job.line_limit = 0;
	if (job.json + job.folded + job.svg > 1)
		return report_usage_error(args, "--json, --folded and --svg exclude each other.");
	if (job.source && (job.folded || job.svg))
		return report_usage_error(
			args, "--source excludes --folded and --svg: stacks contain inlined "
			      "functions anyway.");
	if (args->n > 1)
		return report_usage_error(args, "expected one recording.");
	status = print_report(&job, args->n ? args->operands[0] : "perf.data");
	profile_free(&job.profile);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.usage = "[OPTION]... [FILE]",
	.summary = "show the functions, lines or stacks of a recording",
	.about = "Adds up the samples of a recording, perf.data unless a file is named, ours or "
		 "that of perf: by event, task, "
		 "object and function, with the share of each and the standard error of that "
		 "share. Samples weigh what they stand "
		 "for. Functions are found in the symbol tables of the programs and libraries that "
		 "were mapped, and of the "
		 "running kernel; unresolved addresses print in hex. Code compiled with -g can be "
		 "shown by source "
		 "line, and its inlined functions are part of the stacks.",
	.examples = "Where a program spends its time\n"
		    "pfm record -- ./work && pfm report\n"
		    "On which lines\n"
		    "pfm report --source\n"
		    "A flame graph\n"
		    "pfm record -g -- ./work && pfm report --svg >flame.svg\n"
		    "Of one event of several\n"
		    "pfm record -g -e cpu-clock,page-faults -- ./work && pfm report --event "
		    "page-faults --folded\n",
	.options = options,
	.run = run_report
};
