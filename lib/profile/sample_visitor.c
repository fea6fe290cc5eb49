/* SPDX-License-Identifier: MIT */
#include "profile/sample_visitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <perfmon/recording.h>
#include "perfdata/perfdata.h"
#include "profile/messages.h"
#include "profile/recording_section.h"
#include "profile/waits.h"

/* ---- opening --------------------------------------------------------------------------------- */

struct symbols *open_recorded_symbols(const char *path, const char *debug_folder, const char *store,
                                      struct profile_messages *messages)
{
	struct symbols *all = symbols_open(debug_folder, messages);
	char *release;
	struct stat st;

	if (!all)
		return NULL;
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0)
		symbols_set_recording(all, &st);
	symbols_set_stores(all, path, store);
	release = read_recording_text(path, PERFDATA_FEATURE_OSRELEASE);
	if (release)
		symbols_set_recorded_kernel(all, release);
	free(release);
	return all;
}

int open_visited_recording(pfm_session_t **session, const char *path,
                           const struct profile_messages *messages, pfm_error_t *error)
{
	int rc;

	*error = (pfm_error_t)PFM_INIT(*error);
	rc = pfm_open_recording(session, strcmp(path, "-") ? path : "/dev/stdin", error);
	if (rc != PFMLIB_SUCCESS)
		show_profile_message(messages, "%s: %s", path, describe_recording_error(error));
	return rc;
}

static bool begins_with(const char *text, const char *prefix)
{
	return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

void read_recorded_pretence(const char *path, struct profile_losses *losses)
{
	char *cpu =
		strcmp(path, "-") == 0 ? NULL : read_recording_text(path, PERFDATA_FEATURE_CPUDESC);

	losses->pretended = begins_with(cpu, PERFDATA_PRETENDED_CPU);
	if (begins_with(cpu, PERFDATA_SIMULATED_CPU))
		snprintf(losses->emulator, sizeof(losses->emulator), "%s",
		         cpu + strlen(PERFDATA_SIMULATED_CPU));
	free(cpu);
}

void begin_sample_visit(struct sample_visitor *v, pfm_session_t *session,
                        enum visitor_source source, struct profile_losses *losses,
                        struct profile_messages *messages)
{
	*v = (struct sample_visitor){ .session = session,
		                      .n_events = pfm_session_size(session),
		                      .source = source,
		                      .messages = messages,
		                      .chains = { .messages = messages },
		                      .losses = losses,
		                      .record = PFM_INIT(v->record) };
}

bool visit_tasks(struct sample_visitor *v, struct text_pool *texts, struct symbols *symbols)
{
	tasks_begin(&v->tasks, texts, symbols);
	v->tasks.is_live = v->source != SOURCE_RECORDING;
	text_pool_add(texts, "");
	v->failed = !symbols || texts->failed;
	return !v->failed;
}

void end_sample_visit(struct sample_visitor *v)
{
	if (v->tasks.texts) {
		symbols_close(v->tasks.symbols);
		tasks_free(&v->tasks);
	}
	chains_free(&v->chains);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Finds event and task of the sample v->record. False if it is left out. */
static bool read_sample(struct sample_visitor *v, struct visited_sample *s)
{
	pfm_record_t *record = &v->record;
	const uint64_t period = record->body.sample.period;
	const struct process *process;
	const struct task *task;

	if (record->event == PFM_NO_EVENT && v->n_events > 1) {
		v->losses->without_event++;
		return false;
	}
	*s = (struct visited_sample){ .record = record,
		                      .event = record->event == PFM_NO_EVENT ? 0 : record->event,
		                      .weight = period ? period : 1 };
	if (s->event >= v->n_events)
		return false;
	if (v->waits && waits_is_event(v->session, s->event))
		s->weight = waits_find(v->waits, record->tid, record->time);
	if (!v->tasks.texts)
		return true;
	task = tasks_find(&v->tasks, record->tid);
	process = tasks_find_or_add_process(&v->tasks, record->pid);
	if (!task || !process)
		return false;
	s->task = task->name;
	s->generation = process->generation;
	return true;
}

/* True if v->record is a sample that the caller gets. */
static bool read_record(struct sample_visitor *v, struct visited_sample *s)
{
	const pfm_record_t *record = &v->record;
	bool is_sample = record->type == PFM_RECORD_SAMPLE;

	if (record->has & PFM_SAMPLE_TIME && record->time)
		time_span_note(&v->recorded, record->time);
	if (is_sample)
		return read_sample(v, s);
	if (v->see_record)
		v->see_record(v->see_arg, record);
	if (v->tasks.texts)
		tasks_read_record(&v->tasks, record);
	losses_read_record(v->losses, record);
	return false;
}

void give_record_to_visitor(struct sample_visitor *v, const pfm_record_t *record)
{
	v->given = record;
}

static int take_given_record(struct sample_visitor *v)
{
	if (!v->given)
		return 0;
	v->record = *v->given;
	v->given = NULL;
	return 1;
}

/* Reads the next record into v->record. Returns 1, 0 if there is none yet, or an error code. */
static int read_next_record(struct sample_visitor *v)
{
	if (v->source == SOURCE_CALLER)
		return take_given_record(v);
	return pfm_next_record(v->session, &v->record);
}

/* Stores in v->record the next record that does not wait for a part of its call chain. Returns 1, 0
 * if there is none yet, or an error code. */
static int take_record(struct sample_visitor *v)
{
	while (!chains_take_record(&v->chains, &v->record)) {
		if (v->has_ended)
			return v->read_result;
		v->read_result = read_next_record(v);
		if (v->read_result == 1 && !chains_hold_record(&v->chains, &v->record))
			return 1;
		if (v->chains.failed)
			return PFMLIB_ERR_NOMEM;
		if (v->read_result != 1 && v->source != SOURCE_RECORDING)
			return v->read_result;
		v->has_ended = v->read_result != 1;
		if (v->has_ended)
			chains_end(&v->chains);
	}
	return 1;
}

/* Ends the progress of a recording, and notes whether it is damaged. */
static void end_recording(struct sample_visitor *v)
{
	pfm_buffer_info_t buffers = PFM_INIT(buffers);

	count_profile_record(v->messages, NULL);
	v->losses->damaged |=
		pfm_buffer_statistics(v->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
}

int visit_next_sample(struct sample_visitor *v, struct visited_sample *s)
{
	int rc = 1;

	while (!v->failed && (rc = take_record(v)) == 1) {
		bool is_sample = read_record(v, s);

		if (v->source == SOURCE_RECORDING)
			count_profile_record(v->messages, v->session);
		v->failed |= v->tasks.failed || (v->tasks.texts && v->tasks.texts->failed);
		if (is_sample && !v->failed)
			return 1;
	}
	if (v->source == SOURCE_RECORDING)
		end_recording(v);
	return v->failed ? PFMLIB_ERR_NOMEM : rc;
}

void complete_visited_chain(struct sample_visitor *v, const struct visited_sample *s)
{
	v->failed |= !chains_complete(&v->chains, s->record, tasks_find_code, &v->tasks);
}
