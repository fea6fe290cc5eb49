/* SPDX-License-Identifier: MIT */
/* pfm record: the session that samples. */
#include "record/recorder.h"

#include "alpha/session.h"
#include "common/metric.h"
#include "common/sampling_session.h"

bool is_on_device(const struct recorder *job)
{
	return job->model || job->device.pfp_alpha_n_ranges;
}

void omit_fields_of_device(struct recorder *job)
{
	static const struct {
		uint64_t field;
		const char *name;
	} fields[] = { { PFM_SAMPLE_TIME, "time" }, { PFM_SAMPLE_TID, "task" } };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fprintf(stderr,
		        RECORD_COMMAND
		        ": %s: the device does not provide this, so the samples lack it\n",
		        fields[i].name);
	fputs(RECORD_COMMAND
	      ": mappings, names of tasks: the device does not provide these, so addresses "
	      "print in hex\n",
	      stderr);
	job->sampling.fields &= ~(uint64_t)(PFM_SAMPLE_TIME | PFM_SAMPLE_TID);
	job->sampling.records = 0;
}

/* Copies of stacks fill buffers of the usual size in 16 ms, at 4,000 samples a second of 8 KiB, and
 * so do 100,000 context switches a second: a recorder that waits longer for a busy CPU would lose
 * some. Not with a buffer for each thread. */
static void choose_buffer_size(struct recorder *job)
{
	enum { PAGES = 512 };

	if (!job->sampling.pages && !job->no_inherit &&
	    (job->wants_waits || job->sampling.fields & PFM_SAMPLE_STACK))
		job->sampling.pages = PAGES;
}

static int open_events(struct recorder *job)
{
	pfm_session_options_t so = PFM_INIT(so);
	pfm_alpha_session_t alpha = PFM_INIT(alpha);
	struct sampling_target target = {
		.cpus = job->cpus,
		.pid = job->pid,
		.child = job->child.pid,
		.all_cpus = job->all_cpus,
		.one_thread = job->one_thread,
		.no_inherit = job->no_inherit,
		.enable_on_exec = job->command && !job->control.on,
	};

	choose_buffer_size(job);
	so.sampling = &job->sampling;
	if (is_on_device(job)) {
		if (job->model && !job->emulator &&
		    !(job->emulator = open_device_model("record", job->model)))
			return EXIT_REFUSED;
		alpha.emulator = job->emulator ? alpha_emulator_get_device(job->emulator) : NULL;
		alpha.model = job->device.pfp_alpha_n_ranges ? &job->device : NULL;
		so.backend = "pfm_device";
		so.backend_options = &alpha;
	}
	return open_sampling_session(&job->session, job->ctx, &target, &so, &job->events,
	                             &job->is_default_event);
}

/* Adds the events to sample for metric @name. */
static int add_partners_of_metric(struct recorder *job, const char *name)
{
	static struct metric_use metric;
	pfm_error_t error = PFM_INIT(error);
	char text[NAME_MAX_LEN];
	unsigned i = 0;

	if (find_metric(job->ctx, NULL, name, &metric, &error)) {
		report_refusal(job->ctx, metric.text, &error, WANTED_ANY);
		return EXIT_REFUSED;
	}
	for (; pfm_print_metric_partner(job->ctx, metric.pmu, metric.event, i, text, sizeof(text)) >
	       0;
	     i++) {
		if (!event_list_add(&job->events, text))
			return report_no_memory();
		fprintf(stderr, RECORD_COMMAND ": %s: sampling %s\n", name, text);
	}
	if (i)
		return EXIT_DONE;
	fprintf(stderr,
	        RECORD_COMMAND
	        ": %s has no event whose samples show where it comes from; sample its clocks: "
	        "-e cycles\n",
	        name);
	return EXIT_REFUSED;
}

int add_metric_partners(struct recorder *job)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < job->partner_metrics.n && status == EXIT_DONE; i++)
		status = add_partners_of_metric(job, job->partner_metrics.texts[i]);
	return status;
}

/* Reopens the events without children: before Linux 6.12, groups sample only named tasks. */
static int reopen_without_children(struct recorder *job)
{
	if (!job->metrics || job->no_inherit || has_sampling_event(job->session))
		return EXIT_DONE;
	pfm_close_session(job->session);
	job->session = NULL;
	job->no_inherit = true;
	if (open_events(job) != EXIT_DONE)
		return EXIT_REFUSED;
	if (has_sampling_event(job->session))
		fputs(RECORD_COMMAND
		      ": this kernel cannot sample groups of child processes and threads: they "
		      "are left out; -a samples all CPUs, with them\n",
		      stderr);
	return EXIT_DONE;
}

int open_record_session(struct recorder *job)
{
	int status = open_events(job);

	if (status != EXIT_DONE)
		return status;
	status = reopen_without_children(job);
	if (status != EXIT_DONE)
		return status;
	if (job->is_default_event && !is_later_round)
		fputs(RECORD_COMMAND
		      ": cycles cannot be sampled here; sampling cpu-clock instead\n",
		      stderr);
	report_events_without_samples(RECORD_COMMAND, job->session);
	return has_sampling_event(job->session) ? EXIT_DONE : EXIT_REFUSED;
}
