/* SPDX-License-Identifier: MIT */
/* pfm stat: parses and checks its options. */
#include "stat/options.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_JSON = LONG_ONLY,
	OPT_DRY_RUN,
	OPT_MODEL,
	OPT_PER_CPU,
	OPT_PER_CORE,
	OPT_PER_DIE,
	OPT_PER_SOCKET,
	OPT_PER_NODE,
	OPT_PER_THREAD,
	OPT_EACH_CGROUP,
	OPT_FILTER,
	OPT_TIMEOUT,
	OPT_INTERVALS,
	OPT_APPEND,
	OPT_TABLE,
	OPT_TOPDOWN,
	OPT_NO_RATIOS,
	OPT_HTML,
	OPT_SIMULATE,
	OPT_REGIONS,
	OPT_REGIONS_SYSTEM,
	OPT_NO_SUBTRACT,
	OPT_FAIL_ABOVE,
	OPT_VISITS,
	OPT_BY,
	OPT_KEEP,
	OPT_NO_HEADER,
	OPT_CONTROL,
	OPT_ROTATE,
	OPT_WISH,
	OPT_FORMAT,
	MS = 1000000
};

/* Default events. Stalled cycles are inserted between these lists if the kernel has events for
 * them. */
#define FIRST_EVENTS "task-clock,context-switches,cpu-migrations,page-faults,cycles"
#define LAST_EVENTS  "instructions,branches,branch-misses"

/* The events of -d; given two or three times, it adds the following lists as well. */
static const char *const details[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,"
	 "iTLB-loads,iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses"
};
enum { DETAILS = sizeof(details) / sizeof(details[0]) };

const struct command_option stat_options[] = {
	{ 'e', "event", "EVENT,...",
	  "events to count; may be repeated. {A,B} is a group, counted at the same times" },
	{ 'M', "metrics", "METRIC,...",
	  "metrics and groups of metrics: counts their events and prints their values" },
	{ OPT_TOPDOWN, "topdown", "[LEVEL]", "top-down analysis to this level, 1 by default" },
	{ OPT_HTML, "html", "FILE",
	  "also write a page for browsers: the tree of metrics; with -I counts over time; with "
	  "--regions the regions" },
	{ OPT_NO_RATIOS, "no-ratios", NULL, "leave out the usual ratios" },
	{ OPT_ROTATE, "rotate", "[MS]",
	  "plan groups of the events and let them take turns of MS milliseconds, 100, on all CPUs "
	  "at once" },
	{ OPT_WISH, "wish", "WISH",
	  "with --rotate: [NAME=]N[/GAP] counts NAME in N turns a minute, and again after GAP "
	  "seconds at most; may be repeated" },
	{ OPT_FILTER, "filter", "FILTER",
	  "for the tracepoints of the preceding -e, count only hits whose fields match: 'prev_pid "
	  "== 0'" },
	{ 'd', "detailed", NULL,
	  "add cache events to the default events; twice: also TLB events; three times: also "
	  "prefetch events" },
	{ 'p', "pid", "PID,...", "count these processes until they end or you interrupt" },
	{ 't', "tid", "TID,...", "count these threads" },
	{ 'a', "all-cpus", NULL, "count everything on every CPU" },
	{ 'C', "cpu", "LIST", "count everything on these CPUs: 0,2-3" },
	{ 'G', "cgroup", "NAME,...",
	  "count the tasks of this control group; several names: one for each event" },
	{ OPT_EACH_CGROUP, "for-each-cgroup", "NAME,...",
	  "count every event for each of these control groups" },
	{ OPT_PER_CPU, "per-cpu", NULL,
	  "with -a or -C: print the counts of each CPU instead of their sum" },
	{ OPT_PER_CORE, "per-core", NULL, "with -a or -C: print the counts of each core" },
	{ OPT_PER_DIE, "per-die", NULL, "with -a or -C: print the counts of each die" },
	{ OPT_PER_SOCKET, "per-socket", NULL, "with -a or -C: print the counts of each socket" },
	{ OPT_PER_NODE, "per-node", NULL, "with -a or -C: print the counts of each NUMA node" },
	{ OPT_PER_THREAD, "per-thread", NULL, "with -p or -t: print the counts of each thread" },
	{ 'r', "repeat", "N", "run the command N times; print the mean and the deviation" },
	{ OPT_TABLE, "table", NULL, "with -r: print the time of each run" },
	{ 'I', "interval", "MS",
	  "print the counts of each interval of MS milliseconds as it ends" },
	{ OPT_INTERVALS, "interval-count", "N", "with -I: stop after N intervals" },
	{ OPT_TIMEOUT, "timeout", "MS", "stop after MS milliseconds and end the command" },
	{ 'D', "delay", "MS",
	  "start counting MS milliseconds after the command starts; -1 with --control: when "
	  "\"enable\" arrives" },
	{ 'i', "no-inherit", NULL, "do not count child processes and threads" },
	{ OPT_DRY_RUN, "dry-run", NULL,
	  "print the registers and attributes that would be programmed; count nothing" },
	{ OPT_SIMULATE, "simulate", NULL,
	  "count by an emulator: pfm stat --simulate --help has its options" },
	{ OPT_REGIONS, "regions", "[FORMAT]",
	  "count the regions of the command; FORMAT is table, json, csv, likwid, papi, chrome or "
	  "firefox; gomp adds the parallel regions of gcc's OpenMP" },
	{ OPT_REGIONS_SYSTEM, "regions-system", NULL,
	  "with --regions: count system-wide the events that exist only for whole CPUs" },
	{ OPT_NO_SUBTRACT, "no-subtract", NULL,
	  "with --regions: do not subtract the cost of begin and end from the counts" },
	{ OPT_VISITS, "visits", "N",
	  "with --regions: run the command again until each region has N visits; print the sums" },
	{ OPT_BY, "by", "UNIT",
	  "with --regions: print min, mean and max over units: rank, process or thread" },
	{ OPT_KEEP, "keep", NULL,
	  "with --regions: keep the folder of results, for pfm regions, and print its name" },
	{ OPT_FAIL_ABOVE, "fail-above", "PERCENT",
	  "with OLD :: NEW: exit with status 1 if a value grew significantly by more than "
	  "PERCENT" },
	{ OPT_CONTROL, "control", "WHERE",
	  "take the commands enable, disable, ping, stop and evlist from fd:N[,ACK] or "
	  "fifo:PATH[,ACK]" },
	{ 'v', "verbose", NULL, "print the programmed registers and attributes first" },
	{ OPT_JSON, "json", NULL, "one JSON object per count, on standard output" },
	{ 'x', "field-separator", "SEP",
	  "one line of columns per count, after a line of column names" },
	{ OPT_FORMAT, "format", "FORMAT",
	  "print the text format openmetrics, or prometheus for textfile collectors" },
	{ OPT_NO_HEADER, "no-header", NULL, "with -x: leave out the line of column names" },
	{ 'o', "output", "FILE", "write the counts to FILE" },
	{ OPT_APPEND, "append", NULL, "with -o: append to FILE" },
	{ OPT_MODEL, "device-model", "NAME",
	  "count on an emulated Alpha counter device: ev4, ev5, pca56, ev6 or ev67" },
	{ 0, NULL, NULL, NULL }
};

/* ---- default events -------------------------------------------------------------------------- */

/* Adds the default events. False without memory. */
static bool add_defaults(struct stat_request *request)
{
	static const char *const stalls[] = { "stalled-cycles-frontend", "stalled-cycles-backend" };
	bool is_added = event_list_add(&request->events, FIRST_EVENTS);
	char path[128], text[4096];

	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]) && is_added; i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/cpu/events/%s",
		         stalls[i]);
		if (access(make_machine_path(path, text, sizeof(text)), F_OK) == 0)
			is_added = event_list_add(&request->events, stalls[i]);
	}
	return is_added && event_list_add(&request->events, LAST_EVENTS);
}

static int add_usual_events(struct command_args *args, struct stat_job *job)
{
	unsigned i;

	if (job->request.events.n && job->options.detail)
		return report_usage_error(
			args, "-d adds to the default events; it cannot be combined with -e.");
	if (job->request.events.n || job->request.metric_names.n || job->request.topdown)
		return EXIT_DONE;
	if (job->options.model)
		return report_usage_error(
			args, "The default events do not exist on %s; name events with -e.",
			job->options.model);
	if (!add_defaults(&job->request))
		return report_bad_option("events", ENOMEM);
	for (i = 0; i < job->options.detail && i < DETAILS; i++)
		if (!event_list_add(&job->request.events, details[i]))
			return report_bad_option("events", ENOMEM);
	return EXIT_DONE;
}

int check_stat_options(struct command_args *args, struct stat_job *job)
{
	int status;

	if (args->n)
		job->command = args->operands;
	if (job->targets.cgroups)
		job->options.all_cpus = true;
	status = check_option_modes(args, job, STAT_COUNTS);
	if (status == EXIT_DONE)
		status = add_usual_events(args, job);
	if (status == EXIT_DONE)
		status = check_option_conflicts(args, job);
	if (status == EXIT_DONE)
		status = check_cpu_list(args, job->options.cpus);
	return status == EXIT_DONE ? check_stat_tasks(job) : status;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* Adds comma-separated numbers to *@ids. Returns an exit status, or -1 to continue. */
int read_task_ids(struct command_args *args, const char *name, const char *list, int **ids,
                  unsigned *n)
{
	const char *at = list;
	char *end;

	for (;; at = end + 1) {
		unsigned long id = strtoul(at, &end, 10);
		int *more;

		if (!isdigit((unsigned char)*at) || id == 0 || id > INT32_MAX ||
		    (*end && *end != ','))
			return report_usage_error(
				args, "%s: expected task numbers separated by commas, got '%s'.",
				name, list);
		more = realloc(*ids, (*n + 1) * sizeof(*more));
		if (!more)
			return report_bad_option("tasks", ENOMEM);
		*ids = more;
		more[(*n)++] = (int)id;
		if (!*end)
			return -1;
	}
}

static int add_events(struct command_args *args, struct stat_job *job, const char *list)
{
	if (!*list)
		return report_usage_error(args, "-e: expected events separated by commas.");
	if (!job->request.gap && find_list_gap(list))
		job->request.gap = list;
	return event_list_add(&job->request.events, list) ? -1
	                                                  : report_bad_option("events", ENOMEM);
}

/* Adds a filter to the events of the last -e, from number @first on. */
static int add_filter(struct command_args *args, struct stat_job *job, unsigned first,
                      const char *filter)
{
	char **more = realloc(job->request.filters, (job->request.events.n + 1) * sizeof(*more));
	unsigned i;

	if (!job->request.events.n) {
		free(more);
		job->request.filters = NULL;
		return report_usage_error(args, "--filter applies to the tracepoints of the -e "
		                                "before it: expected -e before --filter.");
	}
	if (!more)
		return report_bad_option("filters", ENOMEM);
	job->request.filters = more;
	for (i = job->request.n_filters; i < job->request.events.n; i++)
		more[i] = NULL;
	job->request.n_filters = job->request.events.n;
	for (i = first; i < job->request.events.n; i++) {
		free(more[i]);
		more[i] = strdup(filter);
		if (!more[i])
			return report_bad_option("filters", ENOMEM);
	}
	return -1;
}

static int add_groups(struct command_args *args, struct stat_job *job, const char *names, bool each)
{
	if (job->targets.cgroups)
		return report_usage_error(
			args, "expected one -G with all control groups, separated by commas.");
	if (!*names)
		return report_usage_error(args, "expected the name of a control group.");
	job->targets.cgroups = strdup(names);
	job->targets.each_cgroup = each;
	job->targets.tell_cgroups = each || strchr(names, ',');
	return job->targets.cgroups ? -1 : report_bad_option("control groups", ENOMEM);
}

int set_aggregation(struct command_args *args, struct stat_job *job, enum aggregation by)
{
	if (job->options.by != BY_NOTHING && job->options.by != by)
		return report_usage_error(args, "expected at most one of the --per-... options.");
	job->options.by = by;
	return -1;
}

/* Parses milliseconds and stores nanoseconds in *@out. */
static int parse_ms(struct command_args *args, const char *name, const char *value, uint64_t *out)
{
	if (!option_number(args, name, value, 1, 86400000, out))
		return args->status;
	*out *= MS;
	return -1;
}

static int parse_number(struct command_args *args, const char *name, const char *value,
                        unsigned *out)
{
	uint64_t number;

	if (!option_number(args, name, value, 1, 1000000, &number))
		return args->status;
	*out = (unsigned)number;
	return -1;
}

/* Parses one option. Returns an exit status, or -1 to continue. */
static int parse_stat_option(struct command_args *args, struct stat_job *job, int id,
                             const char *value)
{
	unsigned before = job->request.events.n;
	int status;

	switch (id) {
	case 'e':
		status = add_events(args, job, value);
		job->request.last_list = before;
		return status;
	case 'M':
		if (!*value)
			return report_usage_error(args,
			                          "-M: expected metrics separated by commas.");
		return event_list_add(&job->request.metric_names, value)
		               ? -1
		               : report_bad_option("metrics", ENOMEM);
	case OPT_TOPDOWN:
		job->request.topdown = 1;
		return value ? parse_number(args, "--topdown", value, &job->request.topdown) : -1;
	case OPT_CONTROL:
		if (control_open(&job->control, value))
			break;
		return errno ? report_bad_option(value, errno)
		             : report_usage_error(args,
		                                  "expected fd:N[,ACK] or fifo:PATH[,ACK] after "
		                                  "--control, got '%s'.",
		                                  value);
	case OPT_REGIONS:
		job->regions.has_gomp |= value && strcmp(value, "gomp") == 0;
		job->regions.format = value && strcmp(value, "gomp") != 0 ? value
		                      : job->regions.format               ? job->regions.format
		                                                          : "table";
		break;
	case OPT_REGIONS_SYSTEM: job->regions.has_system = true; break;
	case OPT_BY: return set_region_unit(args, job, value);
	case OPT_KEEP: job->regions.keeps_folder = true; break;
	case OPT_VISITS:
		return option_number(args, "--visits", value, 1, UINT32_MAX, &job->regions.visits)
		               ? -1
		               : args->status;
	case OPT_FAIL_ABOVE:
		job->regions.has_limit = true;
		return option_percent(args, "--fail-above", value, 1e6, &job->regions.limit)
		               ? -1
		               : args->status;
	case OPT_NO_SUBTRACT: job->regions.no_subtract = true; break;
	case OPT_NO_RATIOS: job->options.no_ratios = true; break;
	case OPT_ROTATE: return set_rotation(args, &job->rotation, value, 100);
	case OPT_WISH: return parse_rotation_wish(args, &job->rotation, value);
	case OPT_FORMAT:
		job->options.format = parse_exposition_format(value);
		job->options.has_full_quality = true;
		return job->options.format
		               ? -1
		               : report_usage_error(args,
		                                    "expected openmetrics or prometheus after "
		                                    "--format, got '%s'.",
		                                    value);
	case OPT_HTML: job->options.html = value; break;
	case OPT_NO_HEADER: job->report.has_header = true; break;
	case OPT_FILTER: return add_filter(args, job, job->request.last_list, value);
	case 'p': return read_task_ids(args, "-p", value, &job->targets.pids, &job->targets.n_pids);
	case 't': return read_task_ids(args, "-t", value, &job->targets.tids, &job->targets.n_tids);
	case 'G': return add_groups(args, job, value, false);
	case OPT_EACH_CGROUP: return add_groups(args, job, value, true);
	case 'r':
		status = parse_number(args, "--repeat", value, &job->timing.repeat);
		job->timing.repeats = job->timing.repeat > 1;
		return status;
	case OPT_INTERVALS:
		return parse_number(args, "--interval-count", value, &job->timing.intervals);
	case 'I': return parse_ms(args, "--interval", value, &job->timing.interval);
	case OPT_TIMEOUT: return parse_ms(args, "--timeout", value, &job->timing.timeout);
	case 'D':
		job->timing.start_off = strcmp(value, "-1") == 0;
		return job->timing.start_off ? -1
		                             : parse_ms(args, "--delay", value, &job->timing.delay);
	case 'a': job->options.all_cpus = true; break;
	case 'd': job->options.detail++; break;
	case 'C': job->options.cpus = value; break;
	case 'i': job->options.no_inherit = true; break;
	case 'o':
		job->options.output = value;
		return *value ? -1 : report_usage_error(args, "-o: expected the name of a file.");
	case 'v': job->options.verbose = true; break;
	case 'x': job->options.separator = value; break;
	case OPT_PER_CPU: return set_aggregation(args, job, BY_CPU);
	case OPT_PER_CORE: return set_aggregation(args, job, BY_CORE);
	case OPT_PER_DIE: return set_aggregation(args, job, BY_DIE);
	case OPT_PER_SOCKET: return set_aggregation(args, job, BY_SOCKET);
	case OPT_PER_NODE: return set_aggregation(args, job, BY_NODE);
	case OPT_PER_THREAD: return set_aggregation(args, job, BY_THREAD);
	case OPT_APPEND: job->options.append = true; break;
	case OPT_TABLE: job->options.table = true; break;
	case OPT_DRY_RUN: job->options.dry_run = true; break;
	case OPT_JSON: job->options.json = true; break;
	case OPT_MODEL: job->options.model = value; break;
	}
	return -1;
}

int read_stat_options(struct command_args *args, struct stat_job *job)
{
	const char *value;
	int id, status;

	while ((id = next_option(args, &value)) > 0) {
		note_given_option(&job->options, id);
		status = parse_stat_option(args, job, id, value);
		if (status >= 0)
			return status;
	}
	if (id == 0 && job->options.separator && !*job->options.separator)
		return report_usage_error(args,
		                          "-x: expected a column separator, such as a comma.");
	return id < 0 ? args->status : -1;
}
