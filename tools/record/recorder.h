/* SPDX-License-Identifier: MIT */
/* pfm record: what its parts share. */
#ifndef PFM_RECORDER_H
#define PFM_RECORDER_H

#include "common/pfm.h"
#include "record/kept_files.h"
#include "record/rounds.h"
#include "record/runs.h"
#include "record/visits.h"
#include "stat/stat.h"

#include <sys/resource.h>
#include "alpha/emulator.h"
#include "export/export.h"
#include <perfmon/perfmon.h>

#define RECORD_COMMAND "pfm record" /* beginning of messages */

struct recorder {
	struct record_rounds rounds; /* of --continuous */
	struct record_runs runs;     /* of -r */
	struct event_list events, partner_metrics;
	pfm_sampling_t sampling;
	pfm_ctx_t *ctx;
	pfm_session_t *session;
	struct alpha_emulator *emulator; /* of the session's device, or NULL */
	pfm_recording_t *recording;
	char **command;
	const char *cpus, *output, *model;  /* model: of the Alpha device */
	const char *metrics;                /* names of metrics, or NULL */
	const struct export_format *format; /* of the exported file, NULL: not requested */
	const char *exported;               /* output is then exported to this file ... */
	char *intermediate;                 /* ... and has this name */
	pfmlib_alpha_input_param_t device;  /* with a range: the device itself */
	int pid;
	uint64_t branch_filter;
	bool wants_branches, wants_memory, wants_waits, wants_bundle;
	bool all_cpus, one_thread, no_inherit, compress,
		is_default_event; /* is_default_event: no event was requested, and a clock replaces
	                             the default one */
	struct control control;
	bool wants_json;
	bool start_off; /* with --control: do not sample until the command "enable" */
	struct child child;
	struct rusage usage; /* of the command */
	struct kept_files kept_files;
	struct region_visits visits;
	uint64_t size, start_time;
};

/* session.c: the session and its events. */

bool is_on_device(const struct recorder *job);
/* Omits default fields of samples that the device does not have. */
void omit_fields_of_device(struct recorder *job);
/* Adds the events that show where the metrics of --metric come from. EXIT_DONE, or EXIT_REFUSED
 * after a message. */
int add_metric_partners(struct recorder *job);
/* Opens job->session. EXIT_DONE, or EXIT_REFUSED after a message. */
int open_record_session(struct recorder *job);

/* loop.c: records from the start of the command to its end. Returns the exit status. */

int record_until_end(struct recorder *job);

/* result.c: messages about the recording. */

void report_lost_samples(const struct recorder *job);
/* Reports for each event without samples why it has none. */
void explain_missing_samples(const struct recorder *job);
void report_recording(const struct recorder *job);
/* Writes a line of JSON for each event, and one for the file, to standard output. Returns an exit
 * status. */
int put_result(const struct recorder *job);
/* Says that most of the time is in processes that are too short to be sampled. (short_processes.c)
 */
void report_short_processes(const struct recorder *job);
/* Exports the recording and removes it; keeps it if the export fails. */
int export_result(const struct recorder *job);

#endif
