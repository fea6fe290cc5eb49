/* SPDX-License-Identifier: MIT */
/* pfm report: summarises the samples of a recording. */
#include "common/pfm.h"
#include "profile/render/flame_graph.h"
#include "profile/profile.h"
#include "html/page.h"
#include "profile/waits.h"
#include "report/browse.h"
#include "report/view.h"
#include "base/text_output.h"
#include "common/screen.h"
#include "common/profile_messages.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_JSON = LONG_ONLY,
	OPT_FOLDED,
	OPT_SVG,
	OPT_HTML,
	OPT_SOURCE,
	OPT_CHILDREN,
	OPT_SORT,
	OPT_LIMIT,
	OPT_TASK,
	OPT_SYMBOL,
	OPT_TIME,
	OPT_SLICES,
	OPT_METRICS,
	OPT_DEBUG_FOLDER,
	OPT_SYMBOLS,
	OPT_OFF_CPU,
	OPT_LOCKS,
	OPT_WAKERS,
	OPT_STDIO
};

enum { SLICES_MAX = 10000 };

static const struct command_option options[] = {
	{ OPT_JSON, "json", NULL, "one JSON object for each place" },
	{ 'g', "call-graph", "[ORDER]",
	  "show a call tree: caller begins with the outermost caller, callee with each function "
	  "and its callers below; default caller" },
	{ OPT_CHILDREN, "children", NULL,
	  "also show the share of each function together with the functions it calls, and sort by "
	  "that" },
	{ OPT_SORT, "sort", "KEY,...",
	  "add up by these keys: task, object, symbol, line, cpu, cgroup, address; default "
	  "task,object,symbol" },
	{ OPT_SOURCE, "source", NULL,
	  "show source lines and the functions that are inlined there" },
	{ OPT_FOLDED, "folded", NULL,
	  "print one line for each stack: task;outer;...;inner WEIGHT" },
	{ OPT_SVG, "svg", NULL,
	  "write a flame graph as SVG; click a function in a browser to zoom in" },
	{ OPT_HTML, "html", "FILE",
	  "write a page for browsers: flame graph, functions, call tree and a timeline in which to "
	  "select" },
	{ 'e', "event", "NAME", "only samples of this event; * and ? are wildcards" },
	{ OPT_TASK, "task", "NAME", "only samples of this task; * and ? are wildcards" },
	{ OPT_SYMBOL, "symbol", "NAME", "only samples in this function; * and ? are wildcards" },
	{ OPT_TIME, "time", "A,B",
	  "only samples from second A to second B after the first sample; either can be omitted" },
	{ OPT_OFF_CPU, "off-cpu", NULL,
	  "show where tasks waited, for how long and for what; --folded and --svg show stacks of "
	  "waits" },
	{ OPT_LOCKS, "locks", NULL,
	  "show waits for locks by lock, place and the task that released it; needs pfm record "
	  "--off-cpu" },
	{ OPT_WAKERS, "wakers", NULL, "show waits by cause, place and the task that ended them" },
	{ OPT_METRICS, "metrics", "[LIST]",
	  "metrics of each place, with standard errors; without LIST those of pfm record -M" },
	{ OPT_STDIO, "stdio", NULL, "print the table also on a terminal, where keys move else" },
	{ OPT_SLICES, "time-slices", "N", "print a table for each of N equal parts of the time" },
	{ 'n', "lines", "N",
	  "show at most N places of each event, 0 for all; default 40, with --json all" },
	{ OPT_LIMIT, "limit", "N", "another name of --lines" },
	{ OPT_DEBUG_FOLDER, "debug-dir", "DIR",
	  "folder of separate debug files; default /usr/lib/debug" },
	{ OPT_SYMBOLS, "symbols", "DIR|URL",
	  "folder of programs and debug files by build id, laid out as perf's cache: "
	  "DIR/.build-id/ab/cdef.../elf; or a server of debug files (debuginfod)" },
	{ 0, NULL, NULL, NULL }
};

static void put_folded(const struct profile *p)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		base_put_line(stdout, p->texts.text[p->stacks[i].function]);
		printf(" %llu\n", (unsigned long long)p->stacks[i].weight);
	}
}

static bool is_selected_event(const struct report_job *job, unsigned event)
{
	return !job->event ||
	       profile_matches_event(get_event_name(&job->profile, event), job->event);
}

/* Keeps places of selected events in @list. Returns their number. */
static size_t keep_selected_events(const struct profile *p, struct profile_place *list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (p->samples[list[i].event])
			list[kept++] = list[i];
	return kept;
}

/* Lists the recorded events, or only those with samples. Dummy events, which carry records of tasks
 * and mappings, have none. */
static void name_events(const struct profile *p, bool sampled)
{
	char line[NAME_LINE];

	for (unsigned i = 0, n = 0; i < p->n_events; i++)
		if (p->samples[i] ||
		    (!sampled && !profile_matches_event(get_event_name(p, i), "dummy")))
			fprintf(stderr, "%s%s", n++ ? ", " : "",
			        profile_format_line(get_event_name(p, i), line));
	fputc('\n', stderr);
}

/* True if the events with samples have more than one name. */
static bool has_kinds(const struct profile *p)
{
	char first[256] = "";

	for (unsigned i = 0; i < p->n_events; i++) {
		if (!p->samples[i])
			continue;
		if (*first && strcmp(get_event_name(p, i), first) != 0)
			return true;
		snprintf(first, sizeof(first), "%s", get_event_name(p, i));
	}
	return false;
}

/* Keeps the samples of the requested events. */
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
	if (job->options.tree)
		return EXIT_DONE;
	p->n_places = keep_selected_events(p, p->places, p->n_places);
	p->n_stacks = keep_selected_events(p, p->stacks, p->n_stacks);
	return EXIT_DONE;
}

/* If one occurrence is a sample of two events, newer kernels (6.18) give both samples to the first
 * event. */
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
			        "are the same kernel event\n",
			        profile_format_line(a.name, one),
			        profile_format_line(b.name, other));
			return;
		}
}

/* Refuses to add the weights of several events, whose units differ. */
static int refuse_event_sums(const struct report_job *job)
{
	if (job->event || !(job->folded || job->svg) || !has_kinds(&job->profile))
		return EXIT_DONE;
	fprintf(stderr, "pfm report: samples of different events cannot be added; choose one with "
	                "--event ('*' adds all anyway): ");
	name_events(&job->profile, true);
	return EXIT_REFUSED;
}

static void print_hint(const char *text)
{
	char *lines = NULL;
	size_t size;
	FILE *f = open_memstream(&lines, &size);

	if (!f)
		return;
	term_fill_line(f, term_width(stdout), 0, 2, text);
	if (fclose(f) == 0)
		printf("%s%.*s%s\n", term_colour_begin(stdout, DIM), (int)size - 1, lines,
		       term_colour_end(stdout));
	free(lines);
}

/* " FILE" for a command that reads the recording at @path; "" for the usual file, standard input,
 * and a name that a shell would take apart. */
static const char *print_recording_operand(const char *path, char text[NAME_LINE])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+-,@";

	text[0] = '\0';
	if (strcmp(path, "perf.data") != 0 && path[0] != '-' && !path[strspn(path, plain)])
		snprintf(text, NAME_LINE, " %s", path);
	return text;
}

/* Prints commands to type next, on a terminal. */
static void print_hints(const struct report_job *job, const char *path)
{
	char file[NAME_LINE], text[3 * NAME_LINE];

	if (!term_is_terminal(stdout))
		return;
	print_recording_operand(path, file);
	if (job->profile.has_chains && !job->options.tree) {
		snprintf(text, sizeof(text),
		         "pfm report -g%s shows callers, pfm report --svg%s >flame.svg a flame "
		         "graph",
		         file, file);
		print_hint(text);
	}
	if (!job->profile.has_chains)
		print_hint("pfm record -g records callers, too");
	if (!(job->options.keys & KEY_LINE)) {
		snprintf(text, sizeof(text),
		         "pfm report --source%s shows source lines, pfm annotate FUNCTION%s "
		         "instructions",
		         file, file);
		print_hint(text);
	}
	print_hint("pfm diff OLD NEW compares two recordings");
}

/* Writes a flame graph of the stacks, an SVG file for browsers. Returns EXIT_DONE, or EXIT_REFUSED
 * without memory. */
static int put_flame_graph(const struct profile *p, const char *title)
{
	struct flame_stack *stacks = calloc(p->n_stacks + 1, sizeof(*stacks));
	bool is_written;

	for (size_t i = 0; stacks && i < p->n_stacks; i++)
		stacks[i] = (struct flame_stack){ .text = p->texts.text[p->stacks[i].function],
			                          .weight = p->stacks[i].weight };
	is_written = stacks && write_flame_graph(stdout, title, stacks, p->n_stacks);
	free(stacks);
	return is_written ? EXIT_DONE : report_no_memory();
}

static int print_view(struct report_job *job, const char *path)
{
	const struct profile *p = &job->profile;

	if (job->is_browsed)
		return browse_report(job, path);
	job->terminal_columns = term_width(stdout);
	job->has_two_shares = job->options.children || job->options.tree == CALLER_TREE;
	fit_metric_columns(job);
	if (job->svg)
		return put_flame_graph(p, path);
	if (job->shows_waits && !job->folded)
		return put_waits(job);
	if (job->folded)
		put_folded(p);
	else if (job->options.tree && put_trees(job) != EXIT_DONE)
		return EXIT_REFUSED;
	else if (job->json && !job->options.tree)
		put_places_json(job);
	else if (!job->options.tree)
		put_places(job);
	if (!job->json && !job->folded)
		put_hidden_metrics(job);
	if (!job->json && !job->folded)
		print_hints(job, path);
	return EXIT_DONE;
}

static int print_report(struct report_job *job, const char *path)
{
	struct profile *p = &job->profile;
	int status = read_recorded_profile(p, path, &job->options);

	if (status != EXIT_DONE)
		return status;
	report_profile_losses(p, path);
	name_duplicate_functions(p);
	if (p->losses.damaged)
		fprintf(stderr,
		        "pfm report: %s is damaged or cut off: the records after the first %llu "
		        "samples are missing\n",
		        path, (unsigned long long)count_profile_samples(p));
	status = choose_events(job, path);
	if (status == EXIT_DONE)
		status = refuse_event_sums(job);
	if (status != EXIT_DONE)
		return status;
	if (!count_profile_samples(p)) {
		fprintf(stderr, "pfm report: %s has no samples", path);
		if (job->event)
			fprintf(stderr, " of '%s'", job->event);
		if (job->options.task || job->options.symbol || job->options.from > 0 ||
		    job->options.to > 0)
			fputs(" that --task, --symbol and --time select", stderr);
		fputc('\n', stderr);
		return EXIT_DONE;
	}
	if (job->options.metrics)
		status = choose_metric_columns(job, path);
	return status == EXIT_DONE ? print_view(job, path) : status;
}

/* Reads "A,B" as seconds; either may be empty. */
static bool read_time_range(const char *text, double *from, double *to)
{
	char *end = (char *)text;

	*from = *text == ',' ? 0 : strtod(text, &end);
	if (*end != ',' || (end == text && *text != ','))
		return false;
	text = end + 1;
	*to = *text ? strtod(text, &end) : 0;
	return (!*text || (!*end && end != text)) && *from >= 0 && isfinite(*from) &&
	       isfinite(*to) && (!*text || *to > *from);
}

static int read_tree_order(struct command_args *args, struct report_job *job, const char *value)
{
	if (!value || strcmp(value, "caller") == 0)
		job->options.tree = CALLER_TREE;
	else if (strcmp(value, "callee") == 0)
		job->options.tree = CALLEE_TREE;
	else
		return args->status = report_usage_error(
			       args, "--call-graph: expected caller or callee, got '%s'.", value);
	return EXIT_DONE;
}

/* Applies option @id. Returns EXIT_DONE, or the status to end with. */
static int apply_option(struct command_args *args, struct report_job *job, int id,
                        const char *value)
{
	uint64_t number;

	switch (id) {
	case OPT_JSON: job->json = true; break;
	case OPT_FOLDED: job->folded = true; break;
	case OPT_SVG: job->svg = true; break;
	case OPT_HTML: job->html = value; break;
	case OPT_SOURCE: job->options.detail = SOURCE; break;
	case OPT_CHILDREN: job->options.children = true; break;
	case 'g': return read_tree_order(args, job, value);
	case OPT_SORT:
		if (!option_keys(args, value, REPORT_KEYS, &job->options.keys))
			return args->status;
		if (job->options.keys & KEY_ADDRESS)
			job->options.keys |= KEY_OBJECT; /* an address is one of its file */
		return EXIT_DONE;
	case 'e': job->event = value; break;
	case OPT_TASK: job->options.task = value; break;
	case OPT_SYMBOL: job->options.symbol = value; break;
	case OPT_DEBUG_FOLDER: job->options.debug_folder = value; break;
	case OPT_OFF_CPU: job->shows_waits = true; break;
	case OPT_LOCKS: job->shows_locks = true; break;
	case OPT_STDIO: job->is_plain = true; break;
	case OPT_WAKERS: job->shows_wakers = true; break;
	case OPT_SYMBOLS: use_symbols(&job->options, value); break;
	case OPT_TIME:
		if (!read_time_range(value, &job->options.from, &job->options.to))
			return args->status = report_usage_error(
				       args,
				       "--time: expected A,B in seconds, A before B, got '%s'.",
				       value);
		break;
	case OPT_METRICS:
		job->options.metrics = true;
		job->metric_names = value;
		break;
	case OPT_SLICES:
		if (!option_number(args, "--time-slices", value, 1, SLICES_MAX, &number))
			return args->status;
		job->options.n_slices = (unsigned)number;
		break;
	default:
		if (!option_number(args, id == 'n' ? "-n" : "--limit", value, 0, UINT32_MAX,
		                   &job->line_limit))
			return args->status;
		break;
	}
	return EXIT_DONE;
}

/* Refuses options that do not go together; EXIT_DONE if they do. */
static int check_options(struct command_args *args, const struct report_job *job)
{
	const bool is_stacks = job->folded || job->svg;
	const struct option_rule rules[] = {
		{ job->json + job->folded + job->svg + (job->html != NULL) > 1,
		  "--json, --folded, --svg and --html cannot be combined." },
		{ job->html && (job->options.keys || job->options.tree || job->options.children ||
		                job->options.detail != FUNCTIONS || job->options.metrics ||
		                job->options.n_slices || job->options.task || job->options.symbol ||
		                job->options.from > 0 || job->options.to > 0),
		  "--html has all samples, and selects in the browser: combine it with --event "
		  "alone." },
		{ job->options.detail == SOURCE && is_stacks,
		  "--source cannot be combined with --folded or --svg: stacks contain inlined "
		  "functions in any case." },
		{ is_stacks && (job->options.keys || job->options.tree || job->options.children ||
		                job->options.n_slices > 1),
		  "--sort, --children, -g and --time-slices cannot be combined with --folded or "
		  "--svg." },
		{ job->options.tree && job->options.n_slices > 1,
		  "-g cannot be combined with --time-slices; choose a part of the time with "
		  "--time." },
		{ job->options.metrics && (is_stacks || job->options.children || job->event),
		  "--metrics cannot be combined with --children, --event, --folded and --svg; -g "
		  "shows metrics with callees." },
		{ job->shows_waits &&
		          (job->options.keys || job->options.tree || job->options.children ||
		           job->options.detail == SOURCE || job->options.metrics || job->event ||
		           job->options.n_slices > 1),
		  "--off-cpu can be combined with --task, --symbol, --time, --json, --folded, "
		  "--svg, --html and -n." },
		{ (job->shows_locks || job->shows_wakers) &&
		          (job->shows_locks + job->shows_wakers + job->shows_waits > 1 ||
		           is_stacks || job->html || job->options.keys || job->options.tree ||
		           job->options.children || job->options.detail == SOURCE ||
		           job->options.metrics || job->event || job->options.n_slices > 1 ||
		           job->options.symbol || job->options.from > 0 || job->options.to > 0),
		  "--locks and --wakers can be combined with --task, --json and -n alone." },
		{ job->metric_names && !*job->metric_names,
		  "--metrics: expected metrics separated by commas." },
		{ args->n > 1, "expected one recording." },
	};

	return check_option_rules(args, rules, sizeof(rules) / sizeof(rules[0]));
}

/* Reads the waits of --off-cpu. Returns an exit status. */
static int begin_waits(struct report_job *job, const char *path)
{
	if (!job->shows_waits)
		return EXIT_DONE;
	if (job->folded || job->svg)
		job->event = "context-switches*";
	job->options.waits = waits_read(path, get_profile_messages());
	return job->options.waits ? EXIT_DONE : EXIT_REFUSED;
}

static int write_report_page(const struct report_job *job, const char *path)
{
	const struct page_recording recording = { .path = path };
	const struct page page = { .title = base_name(path),
		                   .recordings = &recording,
		                   .n_recordings = 1,
		                   .has_waits = job->shows_waits,
		                   .event = job->event };

	return write_recording_page(&page, job->html);
}

/* Is the report one to move in? Each option that says how it is printed prevents that. */
static bool can_browse(const struct report_job *job)
{
	return !job->is_plain && !job->json && !job->folded && !job->svg && !job->shows_waits &&
	       !job->options.keys && !job->options.children && !job->options.metrics &&
	       !job->options.n_slices && job->options.detail == FUNCTIONS &&
	       job->line_limit == UINT64_MAX && screen_is_possible();
}

static int run_report(struct command_args *args)
{
	struct report_job job = { .line_limit = UINT64_MAX };
	const char *value, *path;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		if (apply_option(args, &job, id, value) != EXIT_DONE)
			return args->status;
	if (id < 0)
		return args->status;
	status = check_options(args, &job);
	if (status != EXIT_DONE)
		return status;
	if (job.html)
		return write_report_page(&job, args->n ? args->operands[0] : "perf.data");
	job.is_browsed = can_browse(&job);
	if (job.is_browsed && !job.options.tree)
		job.options.tree = CALLEE_TREE;
	if (job.is_browsed)
		job.options.keys = KEY_OBJECT | KEY_SYMBOL;
	if (job.line_limit == UINT64_MAX)
		job.line_limit = job.json ? 0 : 40;
	if (job.shows_locks || job.shows_wakers)
		return put_waiting(&job, args->n ? args->operands[0] : "perf.data");
	job.options.merge_missing = !job.json && !job.folded && !job.svg && !job.options.tree;
	if (job.options.detail == SOURCE)
		job.options.keys = report_keys(&job.options) | KEY_LINE;
	if (job.folded || job.svg || job.shows_waits)
		job.options.detail = STACKS;
	path = args->n ? args->operands[0] : "perf.data";
	status = begin_waits(&job, path);
	if (status == EXIT_DONE)
		status = print_report(&job, path);
	waits_free(job.options.waits);
	free_metric_columns(&job);
	profile_free(&job.profile);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.usage = "[OPTION]... [FILE]",
	.summary = "show the functions, lines or stacks of a recording",
	.about = "Adds up the samples of a recording of pfm or perf, by default perf.data, by "
		 "event, task, object and function. Prints the share of each and the standard "
		 "error of that share. The weight of a sample is the number of events since the "
		 "sample before it. Functions are found in the symbol tables of the programs and "
		 "libraries that were mapped, and of the running kernel; unresolved addresses "
		 "print in hex, as addresses of their file. Code compiled with -g can be shown by "
		 "source line, and its inlined functions are part of the stacks.",
	.examples = "Where a program spends its time\n"
		    "pfm record -- ./work && pfm report\n"
		    "On which lines\n"
		    "pfm report --source\n"
		    "Which functions call the expensive ones\n"
		    "pfm record -g -- ./work && pfm report -g\n"
		    "A flame graph\n"
		    "pfm record -g -- ./work && pfm report --svg >flame.svg\n"
		    "Stacks of one event of several\n"
		    "pfm record -g -e cpu-clock,page-faults -- ./work && pfm report --event "
		    "page-faults --folded\n"
		    "A page to look at: select a time, search, zoom\n"
		    "pfm record -g -- ./work && pfm report --html work.html\n"
		    "Which functions have page faults, for each second of their time\n"
		    "pfm record -M faults_per_second -- ./work && pfm report --metrics\n"
		    "In which quarter of the run\n"
		    "pfm report --time-slices 4 -n 3\n",
	.options = options,
	.reads_recording = true,
	.run = run_report
};
