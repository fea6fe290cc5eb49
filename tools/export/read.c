/* SPDX-License-Identifier: MIT */
/* The samples of a recording, their frames as locations. */
#include "export/export.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "profile/messages.h"
#include "profile/symbols/symbols.h"

/* ---- frames ---------------------------------------------------------------------------------- */

static void add_frame(struct export_reader *r, unsigned *n, uint32_t location)
{
	r->frames =
		base_grow_list(r->frames, *n, &r->frames_capacity, sizeof(*r->frames), &r->failed);
	if (!r->failed)
		r->frames[(*n)++] = location;
}

void export_read_frames(struct export_reader *r, struct export_sample *s)
{
	const struct process *process = tasks_find_or_add_process(&r->tasks, s->record->pid);
	struct frame_walk walk = { .record = s->record };

	s->n_frames = 0;
	while (process && !r->failed && walk_frames(&walk))
		add_frame(r, &s->n_frames,
		          export_number_location(r, process, walk.address, walk.mode,
		                                 walk.is_caller));
	if (s->record->truncated & PFM_TRUNCATED_CHAIN)
		add_frame(r, &s->n_frames, 0);
	s->frames = r->frames;
}

uint64_t export_hash_chain(struct export_reader *r, const struct export_sample *s)
{
	const struct process *process = tasks_find_or_add_process(&r->tasks, s->record->pid);
	const pfm_sample_t *sample = &s->record->body.sample;
	const uint64_t parts[] = {
		sample->n_chain ? pfmi_base_hash_bytes(sample->chain,
		                                       sample->n_chain * sizeof(*sample->chain))
				: sample->ip,
		(uint64_t)(process ? process->generation : 0) << 32 | r->tasks.kernel_generation,
		(uint64_t)s->record->pid << 32 | (s->record->misc & PFM_MISC_MODE),
		(uint64_t)s->record->truncated << 32 | sample->n_chain,
	};

	return pfmi_base_hash_bytes(parts, sizeof(parts));
}

/* ---- samples --------------------------------------------------------------------------------- */

/* False if the sample is left out. */
static bool read_sample_record(struct export_reader *r, struct export_sample *s)
{
	pfm_record_t *record = &r->record;
	uint32_t event = record->event == PFM_NO_EVENT ? 0 : record->event;
	const struct task *task;

	if (record->event == PFM_NO_EVENT && r->n_events > 1) {
		r->losses.without_event++;
		return false;
	}
	if (event >= r->n_events || !r->events[event].is_selected)
		return false;
	task = tasks_find(&r->tasks, record->tid);
	*s = (struct export_sample){ .time = record->time,
		                     .weight = record->body.sample.period,
		                     .has = record->has,
		                     .event = event,
		                     .pid = record->pid,
		                     .tid = record->tid,
		                     .cpu = record->cpu,
		                     .ip = record->body.sample.ip,
		                     .branches = record->body.sample.branches,
		                     .n_branches = record->body.sample.n_branches,
		                     .record = record,
		                     .task = task ? task->name : 0 };
	s->weight = limit_weight(r->events[event].weight, s->weight ? s->weight : 1,
	                         &r->losses.damaged);
	if (!chains_complete(&r->chains, record, tasks_find_code, &r->tasks))
		r->failed = true;
	r->events[event].samples++;
	r->events[event].weight += s->weight;
	if (s->has & PFM_SAMPLE_TIME)
		time_span_note(&r->sampled, s->time);
	return !r->failed;
}

static bool is_mapping_of_process(const pfm_record_t *record)
{
	return (record->type == PFM_RECORD_MAP || record->type == PFM_RECORD_MAP2) &&
	       record->body.map.name && (record->misc & PFM_MISC_MODE) != PFM_MISC_KERNEL;
}

/* True if @s holds a sample. */
static bool read_record(struct export_reader *r, struct export_sample *s)
{
	const pfm_record_t *record = &r->record;

	if (record->type == PFM_RECORD_SAMPLE)
		return read_sample_record(r, s);
	if (r->see_mapping && is_mapping_of_process(record))
		r->see_mapping(r->see_mapping_arg, record);
	tasks_read_record(&r->tasks, record);
	losses_read_record(&r->losses, record);
	return false;
}

int export_next(struct export_reader *r, struct export_sample *sample)
{
	pfm_buffer_info_t buffers = PFM_INIT(buffers);
	int rc;

	while ((rc = chains_next_record(&r->chains, r->session, &r->record)) == 1) {
		bool is_sample = read_record(r, sample);

		progress_step(&r->progress, r->session);
		r->failed |= r->texts.failed || r->tasks.failed;
		if (r->failed)
			break;
		if (is_sample)
			return 1;
	}
	progress_end(&r->progress);
	if (r->failed || rc < 0) {
		fprintf(stderr, "pfm %s: %s: %s\n", get_running_command(), r->path,
		        describe_reading_error(r->failed ? PFMLIB_ERR_NOMEM : rc));
		return -1;
	}
	r->losses.damaged |=
		pfm_buffer_statistics(r->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void describe_event(struct export_reader *r, unsigned i, const char *event)
{
	struct export_event *e = &r->events[i];
	pfm_count_info_t info = PFM_INIT(info);

	if (pfm_describe_count(r->session, i, &info) == PFMLIB_SUCCESS)
		snprintf(e->name, sizeof(e->name), "%s", info.name);
	e->is_clock = info.attr.type == PERF_TYPE_SOFTWARE &&
	              info.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
	e->is_selected = !event || profile_matches_event(e->name, event);
}

static int refuse_unknown_event(const struct export_reader *r, const char *event)
{
	char line[NAME_LINE];

	fprintf(stderr, "pfm %s: %s has no event '%s'; recorded events:", get_running_command(),
	        r->path, event);
	for (unsigned i = 0; i < r->n_events; i++)
		fprintf(stderr, "%s %s", i ? "," : "",
		        profile_format_line(r->events[i].name, line));
	fputc('\n', stderr);
	return EXIT_REFUSED;
}

static int describe_events(struct export_reader *r, const char *event)
{
	unsigned n_selected = 0;

	for (unsigned i = 0; i < r->n_events; i++) {
		describe_event(r, i, event);
		n_selected += r->events[i].is_selected;
	}
	return event && !n_selected ? refuse_unknown_event(r, event) : EXIT_DONE;
}

int export_open(struct export_reader *r, const char *path, const char *event)
{
	pfm_error_t error = PFM_INIT(error);
	const char *name = strcmp(path, "-") ? path : "/dev/stdin";

	*r = (struct export_reader){ .path = path, .record = PFM_INIT(r->record) };
	if (pfm_open_recording(&r->session, name, &error) != PFMLIB_SUCCESS) {
		fprintf(stderr, "pfm %s: %s: %s\n", get_running_command(), path,
		        describe_recording_error(&error));
		return EXIT_REFUSED;
	}
	progress_begin(&r->progress, path);
	r->n_events = pfm_session_size(r->session);
	r->events = calloc(r->n_events + 1, sizeof(*r->events));
	tasks_begin(&r->tasks, &r->texts, open_recorded_symbols(path, NULL));
	r->tasks.has_build_ids = true;
	if (!r->events || !r->tasks.symbols || !export_begin_locations(r))
		return report_no_memory();
	return describe_events(r, event);
}

void export_close(struct export_reader *r)
{
	pfm_close_session(r->session);
	symbols_close(r->tasks.symbols);
	tasks_free(&r->tasks);
	chains_free(&r->chains);
	pfmi_base_free_hash(&r->mapping_table);
	pfmi_base_free_hash(&r->location_table);
	pfmi_base_free_hash(&r->function_table);
	free(r->frames);
	free(r->known);
	free(r->mappings);
	free(r->locations);
	free(r->names);
	free(r->functions);
	free(r->function_numbers);
	free(r->events);
	text_pool_free(&r->texts);
}

/* ---- texts ----------------------------------------------------------------------------------- */

const char *export_text(const struct export_reader *r, uint32_t number)
{
	return r->texts.text[number];
}

const char *export_name(const struct export_reader *r, const struct export_location *l, unsigned i)
{
	return r->texts.text[r->names[l->first_name + i]];
}

const char *export_object(const struct export_reader *r, const struct export_location *l)
{
	return r->texts.text[r->mappings[l->mapping].file];
}

const char *export_unit(const struct export_event *e)
{
	return e->is_clock ? "nanoseconds" : "count";
}

bool export_has_column(const struct export_event *e)
{
	return e->samples || (e->is_selected && strncmp(e->name, "dummy", 5) != 0);
}

void put_losses_json(struct json *j, const struct profile_losses *l)
{
	put_text(j, "quality", is_profile_complete(l) ? "exact" : "partial");
	put_count(j, "lost_records", l->records);
	put_count(j, "lost_samples", l->samples);
	put_count(j, "throttled", l->throttled);
	put_count(j, "samples_without_event", l->without_event);
	put_bool(j, "damaged", l->damaged);
}

char *export_frame_text(const char *name, char buf[NAME_LINE])
{
	profile_format_line(name, buf);
	for (char *p = buf; *p; p++)
		if (*p == ';')
			*p = ':';
	return buf;
}
