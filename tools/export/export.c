/* SPDX-License-Identifier: MIT */
/* pfm export: a recording in the formats of other tools. */
#include "export/export.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

extern const struct export_format export_pprof, export_script, export_firefox, export_speedscope,
	export_folded, export_chrome, export_callgrind, export_otlp, export_csv, export_json,
	export_brstack;

/* Descriptors of all formats, in the order of messages. Of two suffixes the longer one comes
 * first. */
static const struct export_format *const export_formats[] = {
	&export_pprof,  &export_script, &export_firefox,   &export_speedscope,
	&export_folded, &export_chrome, &export_callgrind, &export_otlp,
	&export_csv,    &export_json,   &export_brstack,   NULL
};

enum { OPT_CHECK = LONG_ONLY, OPT_OFF_CPU };

static const struct command_option options[] = {
	{ 'f', "format", "NAME",
	  "pprof, script, firefox, speedscope, folded, chrome, callgrind, otlp, csv, json or "
	  "brstack; default: the one that the name of the output means" },
	{ 'o', "output", "FILE", "write to FILE instead of standard output; .gz means gzip" },
	{ 'e', "event", "NAME", "only samples of this event; * and ? are wildcards" },
	{ OPT_OFF_CPU, "off-cpu", NULL,
	  "samples of context switches weigh the nanoseconds of the waits after them (pfm record "
	  "--off-cpu)" },
	{ OPT_CHECK, "check", NULL,
	  "with -o: read pprof and folded files back and compare their sums with the recording" },
	{ 0, NULL, NULL, NULL }
};

/* ---- formats --------------------------------------------------------------------------------- */

const struct export_format *find_export_format(const char *name)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (strcmp(export_formats[i]->name, name) == 0)
			return export_formats[i];
	return NULL;
}

static bool ends_in(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && strncmp(text + len - n, end, n) == 0;
}

static bool has_suffix(const char *path, const char *end)
{
	return ends_in(path, strlen(path), end);
}

const struct export_format *find_export_format_of_file(const char *path)
{
	size_t len = strlen(path), plain = has_suffix(path, ".gz") ? len - 3 : len;

	for (size_t i = 0; export_formats[i]; i++)
		for (const char *const *s = export_formats[i]->suffixes; *s; s++)
			if (ends_in(path, len, *s) || ends_in(path, plain, *s))
				return export_formats[i];
	return NULL;
}

/* ---- exporting ------------------------------------------------------------------------------- */

static void add_sample(struct exporter *e, const struct export_format *format,
                       struct export_sample *s)
{
	if (format->row_keys) {
		export_add_sample(e, format->row_keys, s);
		return;
	}
	export_read_frames(e->reader, s);
	e->failed |= e->reader->failed;
	if (!e->failed)
		format->add_sample(e, s);
}

static bool write_samples(struct exporter *e, const struct export_format *format)
{
	bool is_written_at_end = format->row_keys;
	struct export_sample sample;
	int rc;

	if (format->begin)
		format->begin(e);
	while (!e->failed && (is_written_at_end || !ferror(e->out)) &&
	       (rc = export_next(e->reader, &sample)) != 0) {
		if (rc < 0)
			return false;
		add_sample(e, format, &sample);
	}
	return true;
}

/* True if the events with samples have more than one name. */
static bool has_several_events(const struct export_reader *r)
{
	const char *first = NULL;

	for (unsigned i = 0; i < r->n_events; i++) {
		if (!r->events[i].samples)
			continue;
		if (first && strcmp(r->events[i].name, first) != 0)
			return true;
		first = r->events[i].name;
	}
	return false;
}

/* Weights of several events have different units. */
static bool refuse_event_sum(const struct export_reader *r, const struct export_format *format,
                             const char *event)
{
	char line[NAME_LINE];

	if (!format->is_sum || event || !has_several_events(r))
		return false;
	fprintf(stderr,
	        "pfm export: %s adds the samples of all events; choose one with --event ('*' adds "
	        "all):\n",
	        format->name);
	for (unsigned i = 0; i < r->n_events; i++)
		if (r->events[i].samples)
			fprintf(stderr, "  %s\n", profile_format_line(r->events[i].name, line));
	return true;
}

static int report_output_error(const char *output)
{
	fprintf(stderr, "pfm export: %s: %s\n", output ? output : "standard output",
	        describe_output_error(errno));
	return EXIT_REFUSED;
}

/* Writes everything to @o, and checks it against the recording if @is_checked. */
static int write_export(struct exporter *e, const struct export_format *format,
                        struct export_output *o, const char *output, const char *event,
                        bool is_checked)
{
	const char *problem = NULL;

	e->out = o->out;
	if (!write_samples(e, format))
		return EXIT_REFUSED;
	if (!e->failed && !ferror(e->out)) {
		if (refuse_event_sum(e->reader, format, event))
			return EXIT_REFUSED;
		format->end(e);
	}
	if (e->failed)
		return report_no_memory();
	if (!export_end_output(o))
		return report_output_error(output);
	if (is_checked)
		problem = format->check(e->reader, o->temporary ? o->temporary : output);
	if (problem)
		fprintf(stderr, "pfm export: %s: %s\n", output, problem);
	return problem ? EXIT_REFUSED : EXIT_DONE;
}

static void report_losses(const struct export_reader *r)
{
	char text[LOSSES_MAX];

	if (!is_profile_complete(&r->losses))
		fprintf(stderr, "pfm export: %s: %s\n", r->path,
		        print_profile_losses(&r->losses, text));
}

bool export_can_write(const char *path)
{
	return export_has_gzip() || !has_suffix(path, ".gz");
}

static bool is_compressed(const struct export_format *format, const char *output)
{
	if (output && has_suffix(output, ".gz"))
		return true;
	return format->is_gzip && export_has_gzip() && !(output && has_suffix(output, ".pb"));
}

static int export_opened_recording(struct exporter *e, const struct export_format *format,
                                   const char *output, const char *event, bool is_checked)
{
	struct export_output o;
	int status;

	e->state = calloc(1, format->state_size + 1);
	if (!e->state)
		return report_no_memory();
	if (!export_open_output(&o, output, is_compressed(format, output))) {
		status = report_output_error(output);
		export_close_output(&o, false);
	} else {
		status = write_export(e, format, &o, output, event, is_checked);
		if (!export_close_output(&o, status == EXIT_DONE) && status == EXIT_DONE)
			status = report_output_error(output);
	}
	if (format->release)
		format->release(e);
	export_free_rows(&e->rows);
	export_free_whole_stacks(&e->stacks);
	free(e->state);
	return status;
}

const struct label *export_attributes;

int export_recording(const struct export_format *format, const char *path, const char *output,
                     const char *event, bool is_checked, bool leaves_names, bool has_waits)
{
	struct export_reader reader;
	struct exporter e = { .reader = &reader };
	int status = export_open(&reader, path, event);

	if (status == EXIT_DONE && has_waits)
		status = export_read_waits(&reader);
	reader.merges_processes = !format->has_process_addresses;
	reader.leaves_names = leaves_names;
	if (status == EXIT_DONE)
		status = export_opened_recording(&e, format, output, event, is_checked);
	if (status == EXIT_DONE)
		report_losses(&reader);
	export_close(&reader);
	return status;
}

int export_to_stream(const struct export_format *format, const char *path, FILE *out,
                     const char *event, bool has_waits)
{
	struct export_reader reader;
	struct exporter e = { .reader = &reader, .out = out };
	int status = export_open(&reader, path, event);

	if (status == EXIT_DONE && has_waits)
		status = export_read_waits(&reader);
	reader.merges_processes = true;
	e.state = calloc(1, format->state_size + 1);
	e.failed = !e.state;
	if (status == EXIT_DONE && !e.failed && !write_samples(&e, format))
		status = EXIT_REFUSED;
	if (status == EXIT_DONE && !e.failed)
		format->end(&e);
	if (status == EXIT_DONE && e.failed)
		status = report_no_memory();
	if (format->release && e.state)
		format->release(&e);
	free(e.state);
	export_close(&reader);
	return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

struct export_job {
	const char *format_name, *output, *event;
	bool is_checked, has_waits;
};

static void report_unknown_format(const char *name)
{
	fprintf(stderr, "pfm export: expected a format, got '%s'; the formats are:\n", name);
	for (size_t i = 0; export_formats[i]; i++)
		fprintf(stderr, "  %-12s %s\n", export_formats[i]->name,
		        export_formats[i]->summary);
}

/* Chooses the format. NULL, after a message, if it is unknown. */
static const struct export_format *choose_format(const struct command_args *args,
                                                 const struct export_job *job)
{
	const struct export_format *format = NULL;

	if (job->format_name)
		format = find_export_format(job->format_name);
	else if (job->output)
		format = find_export_format_of_file(job->output);
	if (format)
		return format;
	if (job->format_name)
		report_unknown_format(job->format_name);
	else if (job->output)
		report_usage_error(args,
		                   "cannot determine the format from the name of the output; add "
		                   "-f FORMAT.");
	else
		report_usage_error(args, "expected -f FORMAT or -o FILE.");
	return NULL;
}

static int check_options(const struct command_args *args, const struct export_job *job,
                         const struct export_format *format)
{
	if (args->n > 1)
		return report_usage_error(args, "expected one recording, got %d.", args->n);
	if (job->output && !export_can_write(job->output))
		return report_usage_error(args, "this pfm was built without zlib; install "
		                                "zlib1g-dev and build it again, or omit '.gz'.");
	if (job->is_checked && !format->check)
		return report_usage_error(args, "--check: expected format pprof or folded, got %s.",
		                          format->name);
	if (job->is_checked && !job->output)
		return report_usage_error(args, "--check reads a file; add -o FILE.");
	if (!job->output && format->is_gzip && isatty(fileno(stdout)))
		return report_usage_error(args, "%s is a binary format; add -o FILE.",
		                          format->name);
	return EXIT_DONE;
}

static int run_export(struct command_args *args)
{
	struct export_job job = { .event = NULL };
	const struct export_format *format;
	const char *value;
	int id, status;

	while ((id = next_option(args, &value)) > 0)
		switch (id) {
		case 'f': job.format_name = value; break;
		case 'o': job.output = strcmp(value, "-") ? value : NULL; break;
		case 'e': job.event = value; break;
		case OPT_CHECK: job.is_checked = true; break;
		case OPT_OFF_CPU: job.has_waits = true; break;
		}
	if (id < 0)
		return args->status;
	format = choose_format(args, &job);
	if (!format)
		return EXIT_USAGE;
	status = check_options(args, &job, format);
	if (status != EXIT_DONE)
		return status;
	return export_recording(format, args->n ? args->operands[0] : "perf.data", job.output,
	                        job.event, job.is_checked, false, job.has_waits);
}

const struct command cmd_export = {
	.name = "export",
	.usage = "-f FORMAT [OPTION]... [FILE]\n"
		 "-o OUTPUT [OPTION]... [FILE]",
	.summary = "write a recording in the format of another tool",
	.about = "Writes the samples of a recording, by default perf.data, for other programs. "
		 "Lost and throttled samples are part of every format, as a comment or as values. "
		 "The output gets its name when it is complete.",
	.examples = "A profile for pprof\n"
		    "pfm record -g -- ./work && pfm export -o work.pb.gz\n"
		    "Stacks for a flame graph program\n"
		    "pfm export -f folded >work.folded\n"
		    "The text of perf script\n"
		    "pfm export -f script\n",
	.options = options,
	.reads_recording = true,
	.run = run_export
};
