/* SPDX-License-Identifier: MIT */
/* pfm record: samples of a command, a process, CPUs or the whole system, in a file. */
#include "record/recorder.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "profile/waits.h"
#include "record/fields.h"
#include "record/metrics.h"
#include "record/push.h"
#include "simulate/simulate.h"

enum {
	OPT_MODEL = LONG_ONLY,
	OPT_DEVICE,
	OPT_CONTROL,
	OPT_CONTINUOUS,
	OPT_ROUND,
	OPT_EVERY,
	OPT_ROUNDS,
	OPT_KEEP_BYTES,
	OPT_KEEP_AGE,
	OPT_EACH_EVENT,
	OPT_NAMES,
	OPT_PUSH,
	OPT_CALL_GRAPH,
	OPT_BRANCH_FILTER,
	OPT_MEMORY,
	OPT_ALTERNATE,
	OPT_OFF_CPU,
	OPT_CGROUPS,
	OPT_BUNDLE,
	OPT_REGIONS,
	OPT_METRIC,
	OPT_JSON
};

static const struct command_option options[] = {
	{ 'e', "event", "EVENT,...",
	  "events to sample; may be repeated. Append :period=N or :freq=N to set the rate" },
	{ 'M', "metrics", "LIST",
	  "metrics to measure in each function, by samples that hold the counts of a group" },
	{ OPT_METRIC, "metric", "NAME",
	  "sample the event that shows where this metric comes from; may be repeated" },
	{ 'F', "freq", "HZ", "take HZ samples per second" },
	{ 'c', "count", "PERIOD", "take a sample after every PERIOD events" },
	{ 'g', "chains", NULL, "record call chains, as --call-graph fp" },
	{ OPT_CALL_GRAPH, "call-graph", "HOW",
	  "record call chains: fp (by frame pointers), dwarf or dwarf,SIZE (a copy of so many "
	  "bytes of the stack, default 8192, for code without frame pointers) or lbr (by the "
	  "processor's branch records)" },
	{ 'b', "branches", NULL, "record the last branches before each sample" },
	{ OPT_BRANCH_FILTER, "branch-filter", "KIND,...",
	  "record these branches: any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, "
	  "in_tx, no_tx; at level u, k or hv; save_type records their types" },
	{ OPT_OFF_CPU, "off-cpu", NULL,
	  "record where tasks wait, beside where they run: call chains of all context switches" },
	{ OPT_CGROUPS, "cgroups", NULL,
	  "record the control group of each sample, for containers in OTLP and pprof" },
	{ 'd', "data", NULL, "record data addresses" },
	{ OPT_MEMORY, "memory", NULL,
	  "sample loads and stores with their latencies and where the data was, as 'pfm mem "
	  "record' does" },
	{ 'p', "pid", "PID", "sample this process until it ends or you interrupt" },
	{ 't', "tid", "TID", "sample this thread" },
	{ 'a', "all-cpus", NULL, "sample everything on every CPU" },
	{ 'C', "cpu", "LIST", "sample everything on these CPUs: 0,2-3" },
	{ 'i', "no-inherit", NULL, "do not sample child processes and threads" },
	{ 'm', "pages", "N",
	  "size of each buffer in pages, a power of two; default 128, with copies of stacks "
	  "and --off-cpu 512" },
	{ 'R', "raw-samples", NULL, "record the fields of tracepoints" },
	{ 'D', "delay", "-1", "with --control: start when \"enable\" arrives" },
	{ OPT_CONTROL, "control", "WHERE",
	  "take the commands enable, disable, ping, stop and evlist from fd:N[,ACK] or "
	  "fifo:PATH[,ACK]" },
	{ 'z', "compress", NULL, "compress the file with zstd" },
	{ 'o', "output", "FILE",
	  "write the samples to FILE, in a format of pfm export if its name means one (x.pb.gz); "
	  "default perf.data" },
	{ OPT_JSON, "json", NULL,
	  "write numbers of samples, losses and why samples are missing as JSON, on standard "
	  "output" },
	{ OPT_BUNDLE, "bundle", NULL,
	  "also pack the recording with the files that name its code, as pfm archive does: "
	  "FILE.tar.zst" },
	{ OPT_REGIONS, "regions", NULL,
	  "also count how often the command visits its regions, in FILE.regions, for pfm diff "
	  "--per 'NAME visit'" },
	{ 'r', "repeat", "N",
	  "record the command N times, in files whose names have the number of the run: "
	  "perf.1.data" },
	{ OPT_ALTERNATE, "alternate", NULL,
	  "with -r: record two commands in turns, OLD :: NEW, for pfm diff: perf.old.1.data, "
	  "perf.new.1.data" },
	{ OPT_CONTINUOUS, "continuous", "FOLDER",
	  "take recordings round after round, each a file in FOLDER" },
	{ OPT_ROUND, "round", "S", "with --continuous: a round takes S seconds, 10" },
	{ OPT_EVERY, "every", "S", "with --continuous: a round begins every S seconds, 60" },
	{ OPT_ROUNDS, "rounds", "N", "with --continuous: stop after N rounds" },
	{ OPT_KEEP_BYTES, "keep-bytes", "N",
	  "with --continuous: remove the oldest files while all take more than N bytes, "
	  "1000000000" },
	{ OPT_KEEP_AGE, "keep-age", "S", "with --continuous: remove files that are S seconds old" },
	{ OPT_PUSH, "push", "URL",
	  "with --continuous: send each file to URL, as pprof if it ends in /ingest, else as OTLP "
	  "profiles (env: to that of OTEL_EXPORTER_OTLP_ENDPOINT), and remove it once it is "
	  "taken" },
	{ OPT_NAMES, "names", NULL,
	  "with --push: look up names of functions on this machine, instead of by build ids at the "
	  "receiver" },
	{ OPT_EACH_EVENT, "each-event", NULL,
	  "with --continuous: sample one event in each round, in turns" },
	{ OPT_DEVICE, "device", "FROM-TO",
	  "sample with the Alpha counter device, /dev/pfcntr, in this range of addresses" },
	{ OPT_MODEL, "device-model", "NAME",
	  "sample on an emulated Alpha counter device: ev4, ev5, pca56, ev6 or ev67" },
	{ 0, NULL, NULL, NULL }
};

/* ---- the command line ------------------------------------------------------------------------ */

/* Chooses the path of the recording. If the output's name has the suffix of a format of pfm export,
 * the recording is temporary and exported later. Returns EXIT_DONE, or EXIT_REFUSED without memory.
 */
static int choose_output(struct recorder *job)
{
	job->format = find_export_format_of_file(job->output);
	if (!job->format)
		return EXIT_DONE;
	if (asprintf(&job->intermediate, "%s.perf.data", job->output) < 0) {
		job->intermediate = NULL;
		return report_no_memory();
	}
	job->exported = job->output;
	job->output = job->intermediate;
	return EXIT_DONE;
}

static bool add_memory_event(void *arg, const char *text)
{
	struct recorder *job = arg;

	return event_list_add(&job->events, text);
}

/* Chooses the events of --memory, unless -e names some. Returns EXIT_DONE, or EXIT_REFUSED after a
 * message. */
static int choose_memory_events(struct recorder *job)
{
	int n = job->events.n ? 1 : visit_memory_events(add_memory_event, job);

	if (n > 0)
		return EXIT_DONE;
	if (n < 0)
		return report_no_memory();
	fputs(RECORD_COMMAND
	      ": this machine exports no events that sample loads or stores (mem-loads, "
	      "mem-stores, ibs_op); name an event with -e\n",
	      stderr);
	return EXIT_REFUSED;
}

/* Adds the event of whoever wakes a task, where tracepoints can be read. */
static bool add_waking_event(struct recorder *job)
{
	static const char path[] = "/sys/kernel/tracing/events/sched/sched_waking/format";
	char text[4096];

	if (access(make_machine_path(path, text, sizeof(text)), R_OK) != 0) {
		fputs(RECORD_COMMAND
		      ": who ends a wait is not recorded: tracepoints cannot be read here; root "
		      "can\n",
		      stderr);
		return true;
	}
	job->sampling.fields |= PFM_SAMPLE_RAW;
	return event_list_add(&job->events, WAKING_EVENT ":period=1");
}

/* Adds the events of --off-cpu: each switch, a clock unless -e names events, and who wakes. */
static int add_wait_events(struct recorder *job)
{
	job->sampling.fields |= PFM_SAMPLE_CHAIN;
	job->sampling.user_regs |= get_argument_registers();
	if (job->sampling.user_regs)
		job->sampling.fields |= PFM_SAMPLE_REGS;
	job->sampling.records |= PFM_SIDEBAND_SWITCHES;
	return (job->events.n || event_list_add(&job->events, "cpu-clock")) &&
	                       event_list_add(&job->events, "context-switches:period=1") &&
	                       add_waking_event(job)
	               ? EXIT_DONE
	               : report_no_memory();
}

/* Refuses options that contradict each other. Returns an exit status. */
static int check_conflicts(const struct command_args *args, const struct recorder *job)
{
	const struct option_rule rules[] = {
		{ !job->command && !job->pid && !job->all_cpus && !job->cpus,
		  "expected what to sample: -- COMMAND, -p PID, -t TID, -a or -C CPUS." },
		{ job->pid && (job->all_cpus || job->cpus),
		  "-p and -t (tasks) cannot be combined with -a and -C (CPUs)." },
		{ job->wants_waits && (is_on_device(job) || job->metrics || job->wants_memory),
		  "--off-cpu cannot be combined with -M, --memory and the device." },
		{ job->visits.is_wanted && (!job->command || job->pid || is_on_device(job)),
		  "--regions counts visits of a command's regions: it needs one after --, and "
		  "cannot "
		  "be combined with -p, -t and the device." },
		{ job->start_off && !job->control.on, "--delay -1 needs --control." },
		{ job->sampling.freq && job->sampling.period,
		  "-F (frequency) and -c (period) cannot be combined." },
		{ is_on_device(job) && job->metrics,
		  "The device samples one event: -M needs several." },
		{ job->sampling.pages & (job->sampling.pages - 1),
		  "-m: expected a power of two, such as 128." },
		{ job->wants_branches && job->sampling.fields & PFM_SAMPLE_BRANCH,
		  "-b (branches) cannot be combined with --call-graph lbr, which uses them." },
		{ is_on_device(job) && !job->events.n,
		  "The device samples one event; name it with -e." },
		{ is_on_device(job) &&
		          (job->wants_branches ||
		           job->sampling.fields & (PFM_SAMPLE_CHAIN | PFM_SAMPLE_ADDR |
		                                   PFM_SAMPLE_RAW | PFM_SAMPLE_BRANCH)),
		  "the device's samples have no call chains (-g), no data addresses (-d), no "
		  "branches (-b) and no bytes of tracepoints (-R)." },
	};

	return check_option_rules(args, rules, sizeof(rules) / sizeof(rules[0]));
}

static int check_options(struct command_args *args, struct recorder *job)
{
	if (args->n)
		job->command = args->operands;
	if (check_conflicts(args, job) != EXIT_DONE)
		return EXIT_USAGE;
	if (job->wants_branches) {
		job->sampling.fields |= PFM_SAMPLE_BRANCH;
		job->sampling.branch_filter =
			job->branch_filter ? job->branch_filter : get_default_branch_filter();
	}
	if (check_cpu_list(args, job->cpus))
		return EXIT_USAGE;
	if (!job->output)
		job->output = "perf.data";
	if (strcmp(job->output, "-") == 0)
		return report_usage_error(args, "-o: expected a file, got standard output.");
	if (choose_output(job) != EXIT_DONE)
		return EXIT_REFUSED;
	if (job->format && job->visits.is_wanted)
		return report_usage_error(args, "--regions is for pfm diff, which needs a "
		                                "recording: -o cannot be a file of pfm export.");
	if (job->format && job->wants_bundle)
		return report_usage_error(args, "--bundle packs a recording: -o cannot be a file "
		                                "of pfm export.");
	if (job->format && !export_can_write(job->exported))
		return report_usage_error(args, "this pfm was built without zlib; install "
		                                "zlib1g-dev and build it again, or omit '.gz'.");
	if (job->wants_waits && add_wait_events(job) != EXIT_DONE)
		return EXIT_REFUSED;
	if (job->wants_memory && choose_memory_events(job) != EXIT_DONE)
		return EXIT_REFUSED;
	job->ctx = open_context(job->model);
	return job->ctx ? EXIT_DONE : EXIT_REFUSED;
}

static bool read_range(const char *text, pfmlib_alpha_input_param_t *device)
{
	char *end;
	pfmlib_alpha_range_t *range = &device->pfp_alpha_ranges[0];

	errno = 0;
	range->start = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end != '-')
		return false;
	text = end + 1;
	range->end = strtoull(text, &end, 0);
	device->pfp_alpha_n_ranges =
		isdigit((unsigned char)*text) && !*end && !errno && range->start < range->end;
	return device->pfp_alpha_n_ranges;
}

static bool read_round_option(struct command_args *args, struct recorder *job, int id,
                              const char *value)
{
	struct record_rounds *r = &job->rounds;

	switch (id) {
	case OPT_ROUND: return option_number(args, "--round", value, 1, 86400, &r->round_seconds);
	case OPT_EVERY: return option_number(args, "--every", value, 1, 864000, &r->every);
	case OPT_ROUNDS: return option_number(args, "--rounds", value, 1, INT64_MAX, &r->n_rounds);
	case OPT_KEEP_BYTES:
		return option_number(args, "--keep-bytes", value, 1, INT64_MAX, &r->keep_bytes);
	default: return option_number(args, "--keep-age", value, 1, INT32_MAX, &r->keep_seconds);
	}
}

/* Checks options of -r; each run checks all others. */
static int check_runs(struct command_args *args, const struct recorder *job)
{
	const struct option_rule rules[] = {
		{ !job->runs.n, "--alternate needs -r: the number of runs of each command." },
		{ !args->n, "-r: expected a command to run, -- COMMAND." },
		{ job->control.on || job->rounds.folder,
		  "-r cannot be combined with --control and --continuous." },
	};
	int status = check_option_rules(args, rules, sizeof(rules) / sizeof(rules[0]));

	return status == EXIT_DONE ? record_runs(args, &job->runs, job->output) : status;
}

/* Checks options of --continuous; each round checks all others. */
static int check_rounds(struct command_args *args, struct recorder *job)
{
	struct record_rounds *r = &job->rounds;
	const bool wants_push = r->push_url;

	if (job->output || args->n || job->control.on || job->start_off || job->wants_bundle)
		return report_usage_error(
			args, "--continuous cannot be combined with -o, --bundle, --control, "
			      "--delay and a command: each round is a file of its own.");
	r->round_seconds = r->round_seconds ? r->round_seconds : 10;
	r->every = r->every ? r->every : 60;
	r->keep_bytes = r->keep_bytes ? r->keep_bytes : 1000000000;
	r->push_url = find_push_url(r->push_url);
	if (wants_push && !r->push_url)
		return EXIT_REFUSED;
	if (r->round_seconds > r->every)
		return report_usage_error(args,
		                          "expected rounds (--round) no longer than their distance "
		                          "(--every).");
	return record_continuously(args, r, &job->events);
}

/* Parses an option about events. Returns an exit status, or -1 to continue. */
static int parse_event_option(struct command_args *args, struct recorder *job, int id,
                              const char *value)
{
	uint64_t number;

	switch (id) {
	case 'e':
		if (!*value)
			return report_usage_error(args, "-e: expected events separated by commas.");
		return event_list_add(&job->events, value) ? -1 : report_no_memory();
	case 'M':
		if (!*value)
			return report_usage_error(args,
			                          "-M: expected metrics separated by commas.");
		if (job->metrics)
			return report_usage_error(
				args, "expected one -M, got two: separate metrics by commas.");
		job->metrics = value;
		break;
	case OPT_METRIC:
		if (!*value)
			return report_usage_error(args, "--metric: expected a metric.");
		return event_list_add(&job->partner_metrics, value) ? -1 : report_no_memory();
	case 'F':
		if (!option_number(args, "-F", value, 1, 1000000000, &job->sampling.freq))
			return args->status;
		break;
	case 'c':
		if (!option_number(args, "-c", value, 1, INT64_MAX, &job->sampling.period))
			return args->status;
		break;
	case 'm':
		if (!option_number(args, "-m", value, 1, 1 << 20, &number))
			return args->status;
		job->sampling.pages = (uint32_t)number;
		break;
	}
	return -1;
}

static int parse_task(struct command_args *args, struct recorder *job, bool one_thread,
                      const char *value)
{
	uint64_t number;

	if (job->pid)
		return report_usage_error(
			args, "expected one process or thread: -p PID or -t TID, once.");
	job->one_thread = one_thread;
	if (!option_number(args, one_thread ? "-t" : "-p", value, 1, INT32_MAX, &number))
		return args->status;
	job->pid = (int)number;
	return -1;
}

static int open_control(struct command_args *args, struct recorder *job, const char *value)
{
	if (control_open(&job->control, value))
		return -1;
	if (!errno)
		return report_usage_error(args,
		                          "expected fd:N[,ACK] or fifo:PATH[,ACK] after --control, "
		                          "got '%s'.",
		                          value);
	fprintf(stderr, RECORD_COMMAND ": %s: %s\n", value, strerror(errno));
	return EXIT_REFUSED;
}

/* Parses an option about the contents of samples. Returns an exit status, or -1 to continue. */
static int parse_sample_option(struct command_args *args, struct recorder *job, int id,
                               const char *value)
{
	const char *expected;

	switch (id) {
	case 'g': job->sampling.fields |= PFM_SAMPLE_CHAIN; break;
	case OPT_CALL_GRAPH:
		expected = read_call_graph(value, &job->sampling);
		if (expected)
			return report_usage_error(args, "--call-graph: %s, got '%s'.", expected,
			                          value);
		break;
	case OPT_MEMORY:
		job->wants_memory = true;
		want_memory_fields(&job->sampling);
		break;
	case 'b': job->wants_branches = true; break;
	case OPT_BRANCH_FILTER:
		job->wants_branches = true;
		if (!read_branch_filter(value, &job->branch_filter))
			return report_usage_error(
				args,
				"--branch-filter: expected any, any_call, any_ret, ind_call, "
				"ind_jmp, call, cond, abort_tx, in_tx, no_tx, u, k, hv or "
				"save_type, separated by commas, got '%s'.",
				value);
		break;
	case OPT_CGROUPS:
		job->sampling.fields |= PFM_SAMPLE_CGROUP;
		job->sampling.records |= PFM_SIDEBAND_CGROUPS;
		break;
	case 'd': job->sampling.fields |= PFM_SAMPLE_ADDR; break;
	case 'R': job->sampling.fields |= PFM_SAMPLE_RAW; break;
	}
	return -1;
}

/* Parses one option. Returns an exit status, or -1 to continue. */
static int parse_record_option(struct command_args *args, struct recorder *job, int id,
                               const char *value)
{
	switch (id) {
	case 'e':
	case 'M':
	case OPT_METRIC:
	case 'F':
	case 'c':
	case 'm': return parse_event_option(args, job, id, value);
	case 't':
	case 'p': return parse_task(args, job, id == 't', value);
	case 'a': job->all_cpus = true; break;
	case 'C': job->cpus = value; break;
	case 'i': job->no_inherit = true; break;
	case 'z': job->compress = true; break;
	case OPT_ALTERNATE: job->runs.alternate = true; break;
	case OPT_OFF_CPU: job->wants_waits = true; break;
	case OPT_BUNDLE: job->wants_bundle = true; break;
	case OPT_REGIONS: job->visits.is_wanted = true; break;
	case OPT_JSON: job->wants_json = true; break;
	case 'r':
		if (!option_number(args, "-r", value, 1, 10000, &job->runs.n))
			return args->status;
		break;
	case 'o': job->output = value; break;
	case 'D':
		if (strcmp(value, "-1") != 0)
			return report_usage_error(args, "expected -1 after --delay, got '%s'.",
			                          value);
		job->start_off = true;
		break;
	case OPT_CONTROL: return open_control(args, job, value);
	case OPT_CONTINUOUS: job->rounds.folder = value; break;
	case OPT_PUSH:
		if (!is_push_url(value))
			return report_usage_error(
				args,
				"expected a URL such as http://127.0.0.1:4040/ingest after --push, "
				"got '%s'.",
				value);
		job->rounds.push_url = value;
		break;
	case OPT_EACH_EVENT: job->rounds.takes_turns = true; break;
	case OPT_NAMES: job->rounds.has_names = true; break;
	case OPT_ROUND:
	case OPT_EVERY:
	case OPT_ROUNDS:
	case OPT_KEEP_BYTES:
	case OPT_KEEP_AGE: return read_round_option(args, job, id, value) ? -1 : args->status;
	case OPT_MODEL: job->model = value; break;
	case OPT_DEVICE:
		if (!read_range(value, &job->device))
			return report_usage_error(args,
			                          "--device: expected a range of addresses such as "
			                          "0x120000000-0x120002000.");
		break;
	default: return parse_sample_option(args, job, id, value);
	}
	return -1;
}

static int read_options(struct command_args *args, struct recorder *job)
{
	const char *value;
	int id, status;

	while ((id = next_option(args, &value)) > 0) {
		status = parse_record_option(args, job, id, value);
		if (status >= 0)
			return status;
	}
	return id < 0 ? args->status : -1;
}

static int run_record(struct command_args *args)
{
	struct recorder job = { .sampling = PFM_INIT(job.sampling) };
	int status;

	if (is_simulation(args->argv))
		return run_pfm_command(&cmd_simulate_record, args->argc, args->argv);
	program_name = RECORD_COMMAND;
	job.sampling.fields = PFM_SAMPLE_IP | PFM_SAMPLE_TID | PFM_SAMPLE_TIME | PFM_SAMPLE_CPU |
	                      PFM_SAMPLE_PERIOD;
	job.sampling.records = PFM_SIDEBAND_USUAL;
	status = read_options(args, &job);
	if (status < 0 && (job.runs.n || job.runs.alternate))
		status = check_runs(args, &job);
	else if (status < 0 && job.rounds.folder)
		status = check_rounds(args, &job);
	if (status < 0)
		status = check_options(args, &job);
	if (status == EXIT_DONE && job.ctx)
		status = add_metric_partners(&job);
	if (status == EXIT_DONE && job.metrics)
		status = add_sampled_metrics(job.ctx, job.metrics, &job.events);
	if (status == EXIT_DONE && is_on_device(&job))
		omit_fields_of_device(&job);
	if (status == EXIT_DONE && job.ctx)
		status = record_until_end(&job);
	base_discard_child(&job.child);
	pfm_close_recording(job.recording);
	pfm_close_session(job.session);
	alpha_emulator_close(job.emulator);
	pfm_close_context(job.ctx);
	event_list_free(&job.events);
	event_list_free(&job.partner_metrics);
	free(job.intermediate);
	free_kept_files(&job.kept_files);
	discard_visits(&job.visits);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.usage = "[-e EVENT,...] [OPTION]... -- COMMAND [ARG]...\n"
		 "[-e EVENT,...] [OPTION]... -p PID | -t TID | -a | -C CPUS [-- COMMAND [ARG]...]",
	.summary = "sample a command, a process, CPUs or the system",
	.about = "Writes samples, the places where events happen, to a file in perf's format "
		 "perf.data: pfm report, perf and other tools read it. The file is readable at any "
		 "time, even after the recorder was killed. Without -e, -M and --metric, samples "
		 "cycles, or cpu-clock on a machine without a PMU.\n"
		 "With -p, -t, -a or -C a command only sets the duration. The exit status is the "
		 "command's.",
	.examples = "Where does a program spend its time, and who calls it there?\n"
		    "pfm record -g -- ./work\n"
		    "How many page faults has each function, for each second of its time?\n"
		    "pfm record -M faults_per_second -- ./work\n"
		    "Where does a program wait, and for what?\n"
		    "pfm record --off-cpu -- ./work && pfm report --off-cpu\n"
		    "Which branches are mispredicted?\n"
		    "pfm record --metric branch_mpki -- ./work\n"
		    "The same for a program without frame pointers\n"
		    "pfm record --call-graph dwarf -- ./work\n"
		    "The data addresses of page faults\n"
		    "pfm record -d -e page-faults -- ./work\n"
		    "The cycles of an emulated Alpha\n"
		    "pfm record --device-model ev5 -e cycles -- sleep 0.1\n"
		    "The system for ten seconds, 99 times a second\n"
		    "pfm record -a -F 99 -- sleep 10\n",
	.options = options,
	.stops_at_operand = true,
	.run = run_record
};
