/* SPDX-License-Identifier: MIT */
/* pfm serve: counts and metrics of the whole system, for Prometheus and similar programs. */
#include "common/http_url.h"
#include "common/pfm.h"
#include "config.h"
#include "series/series.h"
#include "serve.h"
#include "web.h"
#include "stat/options.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	OPT_CONFIG = LONG_ONLY,
	OPT_CHECK_CONFIG,
	OPT_LISTEN,
	OPT_ALLOW_HOST,
	OPT_WEB_CONFIG,
	OPT_TEXTFILE,
	OPT_NODE_NAMES,
	OPT_FULL_QUALITY,
	OPT_MAX_SERIES,
	OPT_GIVE_WAY,
	OPT_LINES,
	OPT_API,
	OPT_PRESSURE,
	OPT_RESCTRL,
	OPT_OTLP,
	OPT_BUDGET,
	OPT_ROTATE,
	OPT_WISH,
	OPT_SHIFT,
	OPT_EACH_CGROUP,
	OPT_CONTAINERS,
	OPT_KUBELET,
	OPT_KUBELET_TOKEN,
	OPT_KUBELET_CA,
	OPT_PER_CPU,
	OPT_PER_CORE,
	OPT_PER_DIE,
	OPT_PER_SOCKET,
	OPT_PER_NODE,
	MS = 1000000,
	LEAST_INTERVAL = 10, /* in milliseconds */
	MOST_INTERVAL = 86400000,
	KEPT_MEMORY = 1 << 20
};

#define USUAL_LOCK "/run/perfmon/pmu.lock"
/* The events of node_exporter's perf collector, and task-clock. Software events need no counter, so
 * they are one group that is read at once. */
#define USUAL_SOFTWARE_EVENTS                                                                      \
	"page-faults,minor-faults,major-faults,context-switches,cpu-migrations,task-clock"
#define USUAL_HARDWARE_EVENTS                                                                      \
	"cycles,instructions,branches,branch-misses,cache-references,cache-misses"

/* Milliseconds: clients that come within the first share a reading. */
static const uint64_t usual_interval = 50, usual_textfile_interval = 10000;

extern const struct command cmd_exporter;

static const struct command_option options[] = {
	{ OPT_CONFIG, "config", "FILE",
	  "run the jobs of this file, each with events, groups and outputs of its own; read again "
	  "when it changes and at SIGHUP" },
	{ OPT_CHECK_CONFIG, "check-config", "FILE",
	  "check the file of --config, report errors with line and column, and end" },
	{ 'e', "event", "EVENT,...", "events to count; may be repeated" },
	{ 'M', "metrics", "METRIC,...",
	  "metrics and groups of metrics: counts their events and serves their values" },
	{ OPT_LISTEN, "listen", "ADDRESS",
	  "answer on 127.0.0.1:9747 (the default), [::1]:9747 or unix:PATH; may be repeated" },
	{ OPT_ALLOW_HOST, "allow-host", "NAME,...",
	  "answer requests for these names of the machine, besides localhost and addresses" },
	{ OPT_WEB_CONFIG, "web-config", "FILE",
	  "TLS, client certificates and passwords of addresses, in the format of Prometheus' "
	  "exporter-toolkit; read again at SIGHUP" },
	{ OPT_TEXTFILE, "textfile", "FILE",
	  "replace FILE at each interval, for a textfile collector" },
	{ OPT_NODE_NAMES, "node-names", NULL,
	  "with --textfile: name counts as node_exporter's perf collector does, which must be "
	  "off" },
	{ OPT_FULL_QUALITY, "full-quality", NULL,
	  "serve a series for each state of quality, besides its rank" },
	{ 'I', "interval", "MS",
	  "read the counters at most every MS milliseconds, default 50; with --textfile: replace "
	  "the file, with --otlp: send, every MS milliseconds, default 10000" },
	{ OPT_MAX_SERIES, "max-series", "N",
	  "refuse to start with more series than N, default 10000" },
	{ OPT_GIVE_WAY, "give-way", "[FILE]",
	  "pause while another program holds a lock on FILE, default " USUAL_LOCK
	  ", or events of others compete for counters" },
	{ OPT_LINES, "lines", "PATH",
	  "give counts to local programs as lines, over a socket at PATH" },
	{ OPT_API, "api", "PATH",
	  "count events that local programs ask for, each for a limited time, over a socket at "
	  "PATH, which its owner and its group may use" },
	{ OPT_PRESSURE, "pressure", NULL,
	  "serve how long tasks of the machine and of each group waited for processors, memory and "
	  "I/O, and how long a quota held a group back" },
	{ OPT_RESCTRL, "resctrl", NULL,
	  "serve memory bandwidth and occupancy of caches of each group of the resctrl file "
	  "system" },
	{ OPT_OTLP, "otlp", "URL",
	  "send metrics to this OpenTelemetry receiver, such as http://127.0.0.1:4318, at each "
	  "interval; env: to that of OTEL_EXPORTER_OTLP_ENDPOINT" },
	{ OPT_BUDGET, "budget", "LIMITS",
	  "use no more than this: cpu=0.5%,files=2000,counters-free=2,interrupts=2000/s, or some "
	  "of it" },
	{ OPT_ROTATE, "rotate", "[MS]",
	  "plan groups of the events and let them take turns of MS milliseconds, 1000, on all CPUs "
	  "at once; a reading is of a whole cycle of turns" },
	{ OPT_WISH, "wish", "WISH",
	  "with --rotate: [NAME=]N[/GAP] counts NAME in N turns a minute, and again after GAP "
	  "seconds at most; may be repeated" },
	{ OPT_SHIFT, "shift", NULL, "with --rotate: shift the cycle by the name of the machine" },
	{ 'C', "cpu", "LIST", "count only on these CPUs: 0,2-3" },
	{ OPT_EACH_CGROUP, "for-each-cgroup", "NAME,...",
	  "count every event for each of these control groups; a pattern such as "
	  "'kubepods.slice/*' means those that there are, and those to come" },
	{ OPT_CONTAINERS, "containers", NULL,
	  "count every event for each container, besides the whole machine" },
	{ OPT_KUBELET, "kubelet", "URL",
	  "with --containers: the kubelet that names pods and containers, such as "
	  "https://127.0.0.1:10250 or http://127.0.0.1:10255" },
	{ OPT_KUBELET_TOKEN, "kubelet-token", "FILE",
	  "the token for it; with https by default that of the pod's service account" },
	{ OPT_KUBELET_CA, "kubelet-ca", "FILE",
	  "certificates of the authority that has signed the kubelet's, or none to trust any" },
	{ OPT_PER_CPU, "per-cpu", NULL, "serve the counts of each CPU instead of their sum" },
	{ OPT_PER_CORE, "per-core", NULL, "serve the counts of each core" },
	{ OPT_PER_DIE, "per-die", NULL, "serve the counts of each die" },
	{ OPT_PER_SOCKET, "per-socket", NULL, "serve the counts of each socket" },
	{ OPT_PER_NODE, "per-node", NULL, "serve the counts of each NUMA node" },
	{ 0, NULL, NULL, NULL }
};

static int add_list(struct command_args *args, struct event_list *list, const char *value)
{
	if (!*value || *value == ',' || value[strlen(value) - 1] == ',' || strstr(value, ",,"))
		return report_usage_error(args, "expected names separated by commas, got '%s'.",
		                          value);
	return event_list_add(list, value) ? -1 : report_no_memory();
}

static int set_cgroups(struct command_args *args, struct stat_job *job, const char *names)
{
	if (job->targets.cgroups || !*names)
		return report_usage_error(
			args, "expected one list of control groups, separated by commas.");
	job->targets.cgroups = strdup(names);
	job->targets.each_cgroup = job->targets.tell_cgroups = true;
	/* Names are patterns that match themselves: such a group may come later, or come again. */
	job->targets.has_cgroup_patterns = job->options.no_ratios = true;
	return job->targets.cgroups ? -1 : report_no_memory();
}

static int set_interval(struct command_args *args, struct stat_timing *timing, const char *value)
{
	uint64_t ms;

	if (!option_number(args, "--interval", value, LEAST_INTERVAL, MOST_INTERVAL, &ms))
		return args->status;
	timing->interval = ms * MS;
	return -1;
}

/* Parses one option. Returns an exit status, or -1 to continue. */
static int parse_serve_option(struct command_args *args, struct serve *s, int id, const char *value)
{
	struct stat_job *job = &s->job;

	switch (id) {
	case 'e': return add_list(args, &job->request.events, value);
	case 'M': return add_list(args, &job->request.metric_names, value);
	case 'I': return set_interval(args, &job->timing, value);
	case 'C': job->options.cpus = value; return check_cpu_list(args, value) ? EXIT_USAGE : -1;
	case OPT_CONFIG:
	case OPT_CHECK_CONFIG:
		s->config_path = value;
		s->only_checks = id == OPT_CHECK_CONFIG;
		break;
	case OPT_LISTEN:
		if (s->n_addresses == SERVE_MAX_LISTENERS)
			return report_usage_error(args, "--listen may be given %d times.",
			                          SERVE_MAX_LISTENERS);
		s->addresses[s->n_addresses++] = value;
		break;
	case OPT_ALLOW_HOST: s->hosts = value; break;
	case OPT_WEB_CONFIG: s->web_path = value; break;
	case OPT_TEXTFILE: s->textfile = value; break;
	case OPT_NODE_NAMES: s->has_node_names = true; break;
	case OPT_FULL_QUALITY: job->options.has_full_quality = true; break;
	case OPT_MAX_SERIES:
		return option_number(args, "--max-series", value, 1, 100000000, &s->max_series)
		               ? -1
		               : args->status;
	case OPT_LINES: s->lines_path = value; break;
	case OPT_API: s->api_path = value; break;
	case OPT_PRESSURE:
		s->has_pressure = true;
		job->targets.more_series = PRESSURE_SERIES_EACH;
		break;
	case OPT_RESCTRL: s->has_resctrl = true; break;
	case OPT_OTLP:
		if (strcmp(value, "env") != 0 && !is_http_url(value))
			return report_usage_error(
				args,
				"expected env, or a URL such as http://127.0.0.1:4318, after "
				"--otlp, got '%s'.",
				value);
		s->otlp_url = value;
		break;
	case OPT_BUDGET:
		return read_budget(&s->budget, value)
		               ? -1
		               : report_usage_error(
					 args,
					 "expected some of cpu=0.5%%,files=2000,counters-free=2,"
					 "interrupts=2000/s after --budget, got '%s'.",
					 value);
	case OPT_ROTATE: return set_rotation(args, &job->rotation, value, 1000);
	case OPT_WISH: return parse_rotation_wish(args, &job->rotation, value);
	case OPT_SHIFT: job->rotation.is_shifted = true; break;
	case OPT_GIVE_WAY: s->lock_path = value ? value : USUAL_LOCK; break;
	case OPT_EACH_CGROUP: return set_cgroups(args, job, value);
	case OPT_CONTAINERS: s->has_containers = true; break;
	case OPT_KUBELET:
		s->kubelet_url = value;
		return is_http_url(value)
		               ? -1
		               : report_usage_error(args,
		                                    "expected a URL such as "
		                                    "https://127.0.0.1:10250 after --kubelet, got "
		                                    "'%s'.",
		                                    value);
	case OPT_KUBELET_TOKEN: s->kubelet_token = value; break;
	case OPT_KUBELET_CA: s->kubelet_authority = value; break;
	case OPT_PER_CPU: return set_aggregation(args, job, BY_CPU);
	case OPT_PER_CORE: return set_aggregation(args, job, BY_CORE);
	case OPT_PER_DIE: return set_aggregation(args, job, BY_DIE);
	case OPT_PER_SOCKET: return set_aggregation(args, job, BY_SOCKET);
	case OPT_PER_NODE: return set_aggregation(args, job, BY_NODE);
	}
	return -1;
}

/* Files and requests that are sent have readings of their own: the time in which one is shared is
 * shorter than an interval between two of them. */
static void set_usual_intervals(struct serve *s)
{
	const bool is_sent = s->textfile || s->otlp_url;
	const char *text = s->otlp_url ? getenv("OTEL_METRIC_EXPORT_INTERVAL") : NULL;
	const uint64_t given = text ? strtoull(text, NULL, 10) : 0;

	if (!s->job.timing.interval && given >= LEAST_INTERVAL && given <= MOST_INTERVAL)
		s->job.timing.interval = given * MS;
	if (!s->job.timing.interval)
		s->job.timing.interval = (is_sent ? usual_textfile_interval : usual_interval) * MS;
	s->shared_ns = is_sent ? s->job.timing.interval / 2 : s->job.timing.interval;
	if (is_sent && s->shared_ns > usual_interval * MS)
		s->shared_ns = usual_interval * MS;
}

/* Keeps the options as one text. NULL without memory. */
static char *join_options(char *const *argv, int argc)
{
	size_t size = 1, at = 0;
	char *text;

	for (int i = 1; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = calloc(1, size);
	for (int i = 1; text && i < argc; i++)
		at += (size_t)snprintf(text + at, size - at, "%s ", argv[i]);
	return text;
}

/* The token that Kubernetes gives to each pod that may have one. */
#define USUAL_TOKEN "/var/run/secrets/kubernetes.io/serviceaccount/token"

/* Returns an exit status, or -1 to continue. */
static int prepare_containers(struct command_args *args, struct serve *s)
{
	struct stat_targets *t = &s->job.targets;

	if (!s->has_containers)
		return s->kubelet_url ? report_usage_error(args, "--kubelet needs --containers.")
		                      : -1;
	if (t->cgroups)
		return report_usage_error(args,
		                          "--containers and --for-each-cgroup cannot be combined.");
	if (s->kubelet_url && !s->kubelet_token && strncasecmp(s->kubelet_url, "https", 5) == 0 &&
	    access(USUAL_TOKEN, F_OK) == 0)
		s->kubelet_token = USUAL_TOKEN;
	t->each_cgroup = t->tell_cgroups = t->has_cgroup_patterns = t->adds_whole = true;
	t->selects = is_container_group;
	s->job.options.no_ratios = true;
	return -1;
}

static int read_options(struct command_args *args, struct serve *s)
{
	const char *value;
	int id, status;

	while ((id = next_option(args, &value)) > 0) {
		status = parse_serve_option(args, s, id, value);
		if (status >= 0)
			return status;
	}
	if (id < 0)
		return args->status;
	if (args->n)
		return report_usage_error(args, "expected options only, got '%s'.",
		                          args->operands[0]);
	/* --config=FILE, or --config FILE */
	if (s->config_path && args->argc > 2 + !strchr(args->argv[1], '='))
		return report_usage_error(args,
		                          "%s stands alone: the file has the options of each job.",
		                          s->only_checks ? "--check-config" : "--config");
	/* Only groups that take turns are sure to leave counters free. */
	if (s->budget.resources[BUDGET_COUNTERS_FREE].limit > 0 && !s->job.rotation.is_on &&
	    set_rotation(args, &s->job.rotation, NULL, 1000) >= 0)
		return args->status;
	if (s->api_path && s->budget.resources[BUDGET_COUNTERS_FREE].limit > 0)
		return report_usage_error(
			args, "--api cannot be combined with --budget counters-free: events of "
			      "requests take no turns.");
	if (!s->job.rotation.is_on && (s->job.rotation.n_wishes || s->job.rotation.is_shifted))
		return report_usage_error(args, "--wish and --shift need --rotate.");
	status = prepare_containers(args, s);
	if (status >= 0)
		return status;
	set_usual_intervals(s);
	if (!s->job.request.events.n && !s->job.request.metric_names.n &&
	    !event_list_add(&s->job.request.events,
	                    s->job.rotation.is_on ? USUAL_SOFTWARE_EVENTS "," USUAL_HARDWARE_EVENTS
	                                          : "{" USUAL_SOFTWARE_EVENTS
	                                            "}:W," USUAL_HARDWARE_EVENTS))
		return report_no_memory();
	return -1;
}

static void begin_serve(struct serve *s)
{
	*s = (struct serve){ .max_series = 10000 };
	s->job.options.all_cpus = s->job.request.keeps_refused = true;
	s->job.rotation.skips_unknown = true;
	s->job.report.out = stdout;
	s->job.options.format = EXPOSITION_OPENMETRICS;
}

static void end_serve(struct serve *s)
{
	free_web_config(s->web);
	free(s->command_line);
	close_listeners(s);
	close_probe(s);
	free_series(&s->job.report);
	free_targets(&s->job);
	pfm_close_context(s->job.ctx);
	event_list_free(&s->job.request.events);
	free_stat_metrics(&s->job);
	free(s->job.targets.cgroups);
}

/* ---- the file of --config -------------------------------------------------------------------- */

static struct command_args list_job_args(const struct config_job *job)
{
	return (struct command_args){ .cmd = &cmd_exporter,
		                      .argc = job->argc,
		                      .argv = job->argv,
		                      .places = (const char *const *)job->places,
		                      .operands = calloc((size_t)job->argc + 1, sizeof(char *)) };
}

/* Reads the options of @job. Returns an exit status, or -1 to continue. */
static int read_job_options(const struct config_job *job, struct serve *s)
{
	struct command_args args = list_job_args(job);
	int status;

	begin_serve(s);
	program_name = "pfm serve";
	s->name = job->name;
	optind = 0;
	s->command_line = join_options(args.argv, args.argc);
	status = args.operands && s->command_line ? read_options(&args, s) : report_no_memory();
	free(args.operands);
	return status;
}

int check_config_job(const struct config_job *job)
{
	static struct serve s;
	int status = read_job_options(job, &s);

	if (status < 0 && s.web_path) {
		s.web = load_web_config(s.web_path);
		status = s.web ? -1 : EXIT_REFUSED;
	}
	end_serve(&s);
	return status < 0 ? EXIT_DONE : status;
}

/* Reports events of @job that this machine does not have. Returns their number. */
static unsigned report_unknown_events(const struct config_job *job)
{
	static const char option[] = "--event=";
	unsigned n = 0;

	for (int i = 1; i < job->argc; i++) {
		static struct serve s;
		unsigned n_here;

		if (strncmp(job->argv[i], option, sizeof(option) - 1) != 0)
			continue;
		begin_serve(&s);
		s.job.ctx = open_context(NULL);
		if (!s.job.ctx ||
		    !event_list_add(&s.job.request.events, job->argv[i] + sizeof(option) - 1))
			return n + 1;
		drop_bad_events(&s.job);
		n_here = s.job.request.n_refused;
		if (n_here)
			fprintf(stderr,
			        "pfm serve: %s: this machine does not have %s of these events: "
			        "their causes are served\n",
			        job->places[i], n_here > 1 ? "some" : "one");
		n += n_here;
		end_serve(&s);
	}
	return n;
}

static void prepare_process(void)
{
	note_start_time();
	/* Keeps the memory of a text for the next one: returning it costs more than a reading. */
	mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
}

int run_config_job(const struct config_job *job, struct config_status *config)
{
	static struct serve s;
	int status = read_job_options(job, &s);

	s.config = config;
	prepare_process();
	if (status < 0)
		status = serve_counts(&s);
	end_serve(&s);
	return status;
}

/* Checks the file for a person. Events that this machine lacks are no errors: another one that gets
 * the same file may have them. */
static int check_config(const char *path)
{
	struct serve_config *c = load_serve_config(path);
	unsigned n_unknown = 0;

	if (!c)
		return EXIT_REFUSED;
	for (unsigned i = 0; i < c->n; i++)
		n_unknown += report_unknown_events(&c->jobs[i]);
	printf("%s: %u job%s, no errors", path, c->n, c->n == 1 ? "" : "s");
	if (n_unknown)
		printf("; %u event%s not on this machine", n_unknown, n_unknown == 1 ? "" : "s");
	putchar('\n');
	free_serve_config(c);
	return EXIT_DONE;
}

static int run_serve(struct command_args *args)
{
	static struct serve s;
	int status;

	begin_serve(&s);
	prepare_process();
	program_name = "pfm serve";
	s.command_line = join_options(args->argv, args->argc);
	status = s.command_line ? read_options(args, &s) : report_no_memory();
	if (status < 0 && s.config_path)
		status = s.only_checks ? check_config(s.config_path) : run_config(s.config_path);
	else if (status < 0)
		status = serve_counts(&s);
	end_serve(&s);
	return status;
}

const struct command cmd_exporter = {
	.name = "serve",
	.usage = "[-e EVENT,...] [-M METRIC,...] [--listen ADDRESS]... [--textfile FILE] "
		 "[OPTION]...",
	.summary = "serve counts and metrics of the machine to Prometheus",
	.about = "Counts events on all CPUs until a signal ends it, and answers GET /metrics with "
		 "OpenMetrics 1.0 or the Prometheus text format, as the client requests. The "
		 "counters are read for each request; those within 50 milliseconds share a "
		 "reading.\n"
		 "Every count comes with its quality, the share of the time counted and, if it is "
		 "not exact, the cause. An event that was not counted has no sample.\n"
		 "Without --listen, --textfile, --lines and --otlp it listens "
		 "on " SERVE_USUAL_ADDRESS ", which only programs of this machine reach.",
	.examples = "The default events, for a Prometheus on this machine\n"
		    "pfm serve\n"
		    "Metrics of each socket, for local readers\n"
		    "pfm serve -M ipc,l3_mpki --per-socket --listen unix:/run/perfmon.sock\n"
		    "A file for node_exporter's textfile collector\n"
		    "pfm serve --textfile /var/lib/prometheus/node-exporter/perfmon.prom\n",
	.options = options,
	.run = run_serve
};
