/* SPDX-License-Identifier: MIT */
/* The samples of a recording, their frames as locations. */
#include "export/export.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "common/cgroup_path.h"
#include "common/profile_messages.h"
#include "profile/messages.h"
#include "profile/symbols/symbols.h"
#include "profile/waits.h"

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
	const struct process *process = tasks_find_or_add_process(&r->visit.tasks, s->record->pid);
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
	const struct process *process = tasks_find_or_add_process(&r->visit.tasks, s->record->pid);
	const pfm_sample_t *sample = &s->record->body.sample;
	const uint64_t parts[] = {
		sample->n_chain ? pfmi_base_hash_bytes(sample->chain,
		                                       sample->n_chain * sizeof(*sample->chain))
				: sample->ip,
		(uint64_t)(process ? process->generation : 0) << 32 |
			r->visit.tasks.kernel_generation,
		(uint64_t)s->record->pid << 32 | (s->record->misc & PFM_MISC_MODE),
		(uint64_t)s->record->truncated << 32 | sample->n_chain,
	};

	return pfmi_base_hash_bytes(parts, sizeof(parts));
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The path of a control group: recorded, or that of the folder that has the number now. */
static uint32_t find_cgroup(struct export_reader *r, uint64_t id)
{
	char path[CGROUP_PATH_SIZE];

	if (id == r->last_cgroup && r->last_cgroup_path)
		return r->last_cgroup_path;
	if (!tasks_has_cgroup_name(&r->visit.tasks, id) && find_cgroup_path(id, path))
		r->last_cgroup_path = text_pool_add(&r->texts, path);
	else
		r->last_cgroup_path = tasks_get_cgroup_name(&r->visit.tasks, id);
	r->last_cgroup = id;
	return r->last_cgroup_path;
}

/* False if the sample is left out. */
static bool read_sample(struct export_reader *r, const struct visited_sample *v,
                        struct export_sample *s)
{
	pfm_record_t *record = v->record;
	struct export_event *event = &r->events[v->event];

	if (!event->is_selected)
		return false;
	*s = (struct export_sample){ .time = record->time,
		                     .weight = limit_weight(event->weight, v->weight,
		                                            &r->losses.damaged),
		                     .has = record->has,
		                     .event = v->event,
		                     .pid = record->pid,
		                     .tid = record->tid,
		                     .cpu = record->cpu,
		                     .ip = record->body.sample.ip,
		                     .branches = record->body.sample.branches,
		                     .n_branches = record->body.sample.n_branches,
		                     .record = record,
		                     .task = v->task };
	if (s->has & PFM_SAMPLE_CGROUP)
		s->cgroup = find_cgroup(r, record->body.sample.cgroup);
	complete_visited_chain(&r->visit, v);
	event->samples++;
	event->weight += s->weight;
	if (s->has & PFM_SAMPLE_TIME)
		time_span_note(&r->sampled, s->time);
	return true;
}

static void see_record(void *arg, const pfm_record_t *record)
{
	const struct export_reader *r = arg;

	if (r->see_mapping && (record->type == PFM_RECORD_MAP || record->type == PFM_RECORD_MAP2) &&
	    record->body.map.name && (record->misc & PFM_MISC_MODE) != PFM_MISC_KERNEL)
		r->see_mapping(r->see_mapping_arg, record);
}

int export_next(struct export_reader *r, struct export_sample *sample)
{
	struct visited_sample visited;
	int rc;

	while ((rc = visit_next_sample(&r->visit, &visited)) == 1) {
		bool is_sample = read_sample(r, &visited, sample);

		r->failed |= r->texts.failed || r->visit.failed;
		if (r->failed)
			break;
		if (is_sample)
			return 1;
	}
	if (!r->failed && rc == 0)
		return 0;
	show_profile_message(get_profile_messages(), "%s: %s", r->path,
	                     describe_reading_error(r->failed ? PFMLIB_ERR_NOMEM : rc));
	return -1;
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
	struct profile_messages *messages = get_profile_messages();
	pfm_error_t error;

	*r = (struct export_reader){ .path = path };
	if (open_visited_recording(&r->session, path, messages, &error) != PFMLIB_SUCCESS)
		return EXIT_REFUSED;
	begin_profile_recording(messages, path);
	read_recorded_pretence(path, &r->losses);
	begin_sample_visit(&r->visit, r->session, SOURCE_RECORDING, &r->losses, messages);
	r->visit.see_record = see_record;
	r->visit.see_arg = r;
	r->n_events = r->visit.n_events;
	r->events = calloc(r->n_events + 1, sizeof(*r->events));
	if (!visit_tasks(&r->visit, &r->texts, open_recorded_symbols(path, NULL, NULL, messages)) ||
	    !r->events || !export_begin_locations(r))
		return report_no_memory();
	r->visit.tasks.has_build_ids = true;
	return describe_events(r, event);
}

int export_read_waits(struct export_reader *r)
{
	r->waits = waits_read(r->path, get_profile_messages());
	r->visit.waits = r->waits;
	for (unsigned i = 0; i < r->n_events; i++)
		r->events[i].is_clock |= waits_is_event(r->session, i);
	return r->waits ? EXIT_DONE : EXIT_REFUSED;
}

void export_close(struct export_reader *r)
{
	pfm_close_session(r->session);
	end_sample_visit(&r->visit);
	waits_free(r->waits);
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
	put_text(j, "quality", get_profile_quality(l));
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
