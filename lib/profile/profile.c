/* SPDX-License-Identifier: MIT */
/* A recording, or a session that samples, added up. */
#include "profile/profile_internal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "profile/symbols/lines.h"
#include "profile/messages.h"
#include "profile/recording_section.h"

static void free_reader(struct profile_reader *r)
{
	end_sample_visit(&r->visit);
	pfmi_base_free_hash(&r->place_table);
	pfmi_base_free_hash(&r->stack_table);
	pfmi_base_free_hash(&r->node_table);
	free(r->is_wanted);
	free(r->stack);
	free(r);
}

/* Orders places of equal weight by what they are, so that the order does not depend on qsort(3). */
static int compare_keys(const struct profile_place *x, const struct profile_place *y)
{
	const uint64_t a[] = { x->function, x->object, x->inlined, x->source,  x->task,    x->cpu,
		               x->cgroup,   x->pid,    x->tid,     x->address, x->build_id },
		       b[] = { y->function, y->object, y->inlined, y->source,  y->task,    y->cpu,
		               y->cgroup,   y->pid,    y->tid,     y->address, y->build_id };

	for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Orders places by event and slice; within these the heaviest comes first. */
static int compare_weights(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return compare_keys(x, y);
}

/* Orders places by their weight with callees; equal ones by their own weight. */
static int compare_children(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->event != y->event || x->slice != y->slice ||
	    x->children_weight == y->children_weight)
		return compare_weights(a, b);
	return x->children_weight < y->children_weight ? 1 : -1;
}

static void sort_places(struct profile_place *list, size_t n, bool is_by_children)
{
	if (n)
		qsort(list, n, sizeof(*list), is_by_children ? compare_children : compare_weights);
}

/* Reads the times of the first and the last sample. */
static int read_times(struct profile *p, const char *path, struct profile_messages *messages)
{
	struct profile_losses losses = { .records = 0 };
	struct sample_visitor visit;
	struct visited_sample sample;
	int status;

	if (strcmp(path, "-") == 0) {
		show_profile_message(
			messages,
			"slices of time need a file that can be read twice, got standard input: "
			"name a file");
		return PFMLIB_ERR_INVAL;
	}
	status = open_visited_recording(&p->session, path, messages, &p->error);
	if (status != PFMLIB_SUCCESS)
		return status;
	begin_sample_visit(&visit, p->session, SOURCE_RECORDING, &losses, messages);
	while (visit_next_sample(&visit, &sample) == 1)
		if (sample.record->has & PFM_SAMPLE_TIME)
			time_span_note(&p->sampled, sample.record->time);
	end_sample_visit(&visit);
	pfm_close_session(p->session);
	p->session = NULL;
	return PFMLIB_SUCCESS;
}

static unsigned get_detail_keys(const struct profile_options *o)
{
	unsigned keys = KEY_TASK | KEY_OBJECT | KEY_SYMBOL;

	if (o->keys)
		return o->keys;
	return o->detail == SOURCE ? keys | KEY_LINE : keys;
}

/* Creates the sums of each event. */
static bool create_sums(struct profile *p)
{
	p->n_events = pfm_session_size(p->session);
	p->weights = calloc(p->n_events + 1, sizeof(*p->weights));
	p->samples = calloc(p->n_events + 1, sizeof(*p->samples));
	p->sums = calloc((size_t)p->n_events * p->n_slices + 1, sizeof(*p->sums));
	return p->weights && p->samples && p->sums;
}

bool profile_matches_event(const char *name, const char *pattern)
{
	size_t len = strlen(pattern);

	return fnmatch(pattern, name, 0) == 0 ||
	       (strncmp(name, pattern, len) == 0 &&
	        (!name[len] || (name[len] == ':' && name[len + 1] != ':')));
}

/* Finds the events whose names match options.event. False without memory. */
static bool choose_events(struct profile_reader *r)
{
	const struct profile *p = r->target_profile;
	const char *pattern = r->options.event;
	pfm_count_info_t info = PFM_INIT(info);

	if (!pattern)
		return true;
	r->is_wanted = calloc(p->n_events + 1, sizeof(*r->is_wanted));
	for (unsigned i = 0; r->is_wanted && i < p->n_events; i++)
		r->is_wanted[i] = pfm_describe_count(p->session, i, &info) == PFMLIB_SUCCESS &&
		                  profile_matches_event(info.name, pattern);
	return r->is_wanted;
}

/* Adds the counts of each node to its parent's, which is before it. */
static bool add_counts_to_parents(struct profile *p)
{
	for (size_t i = p->n_nodes; i-- > 0;)
		if (p->nodes[i].parent != NO_NODE &&
		    !event_counts_merge(&p->counts, p->nodes[i].counts,
		                        &p->nodes[p->nodes[i].parent].counts))
			return false;
	return true;
}

/* Prepares everything that samples are added to. */
static void begin_reading(struct profile_reader *r, enum visitor_source source,
                          struct symbols *symbols)
{
	struct profile *p = r->target_profile;

	begin_sample_visit(&r->visit, p->session, source, &p->losses, r->options.messages);
	p->failed =
		!visit_tasks(&r->visit, &p->texts, symbols) || !create_sums(p) || !choose_events(r);
}

/* Adds the samples that are there. Returns what visit_next_sample() returned last. */
static int read_samples(struct profile_reader *r)
{
	struct profile *p = r->target_profile;
	struct visited_sample sample;
	int rc = 0;

	while (!p->failed && (rc = visit_next_sample(&r->visit, &sample)) == 1) {
		samples_read(r, &sample);
		p->failed |= p->texts.failed || r->visit.failed;
	}
	p->failed |= r->visit.failed;
	return rc;
}

/* Reads all samples. Returns what visit_next_sample() returned last. */
static int read_recording(struct profile_reader *r, const char *path)
{
	struct profile *p = r->target_profile;
	int rc;

	begin_profile_recording(r->options.messages, path);
	begin_reading(r, SOURCE_RECORDING,
	              open_recorded_symbols(path, r->options.debug_folder, r->options.symbol_folder,
	                                    r->options.messages));
	r->visit.waits = r->options.waits;
	p->failed =
		p->failed || (r->options.metrics && !event_counts_init(&p->counts, p->n_events));
	if (!p->failed && r->options.metrics)
		read_inherited_events(path, p->counts.is_inherited, p->n_events);
	rc = read_samples(r);
	if (r->options.metrics && !p->failed)
		p->failed = !add_counts_to_parents(p);
	p->recorded = r->visit.recorded;
	return rc;
}

/* Adds up and sorts what was read. */
static void complete_profile(struct profile *p, const struct profile_options *o)
{
	if (o->tree || o->children)
		profile_add_up_tree(p, o->tree == NO_TREE ? CALLER_TREE : o->tree);
	if (!o->tree)
		sort_places(p->places, p->n_places, o->children);
	sort_places(p->stacks, p->n_stacks, false);
}

int profile_read_selected(struct profile *p, const char *path, const struct profile_options *o)
{
	struct profile_reader *r = calloc(1, sizeof(*r));
	int rc = r ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;

	p->n_slices = o->n_slices ? o->n_slices : 1;
	if (!r)
		show_profile_message(o->messages, "%s: %s", path, describe_reading_error(rc));
	if (rc == PFMLIB_SUCCESS && p->n_slices > 1)
		rc = read_times(p, path, o->messages);
	if (rc == PFMLIB_SUCCESS)
		rc = open_visited_recording(&p->session, path, o->messages, &p->error);
	if (rc != PFMLIB_SUCCESS) {
		free(r);
		return rc;
	}
	read_recorded_pretence(path, &p->losses);
	r->target_profile = p;
	r->options = *o;
	r->keys = get_detail_keys(o);
	if ((r->keys & KEY_LINE || o->detail == STACKS) && !o->no_lines && !lines_are_supported())
		show_profile_message(o->messages,
		                     "libdw is missing: source lines and inlined functions are not "
		                     "shown");
	rc = read_recording(r, path);
	free_reader(r);
	for (size_t i = 0; p->sums && *p->losses.emulator && i < (size_t)p->n_events * p->n_slices;
	     i++)
		p->sums[i].is_counted = true;
	if (p->failed)
		rc = PFMLIB_ERR_NOMEM;
	if (rc < 0) {
		p->error = (pfm_error_t)PFM_INIT(p->error);
		p->error.code = rc;
		p->error.detail = p->failed ? NULL : describe_reading_error(rc);
		show_profile_message(o->messages, "%s: %s", path, describe_reading_error(rc));
		return rc;
	}
	complete_profile(p, o);
	return PFMLIB_SUCCESS;
}

struct profile_reader *profile_begin(struct profile *p, pfm_session_t *session, bool reads_session,
                                     const struct profile_options *o)
{
	struct profile_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	p->session = session;
	p->n_slices = 1;
	r->target_profile = p;
	r->options = *o;
	r->keys = get_detail_keys(o);
	begin_reading(r, reads_session ? SOURCE_LIVE : SOURCE_CALLER,
	              symbols_open(o->debug_folder, o->messages));
	return r;
}

bool profile_add_record(struct profile_reader *r, const pfm_record_t *record)
{
	give_record_to_visitor(&r->visit, record);
	return profile_add_records(r);
}

bool profile_add_records(struct profile_reader *r)
{
	read_samples(r);
	return !r->target_profile->failed;
}

void profile_clear(struct profile_reader *r, unsigned keys)
{
	struct profile *p = r->target_profile;

	pfmi_base_free_hash(&r->place_table);
	pfmi_base_free_hash(&r->node_table);
	memset(r->known_frames, 0, sizeof(r->known_frames));
	memset(r->named, 0, sizeof(r->named));
	p->n_places = p->n_nodes = 0;
	r->options.keys = keys;
	r->keys = get_detail_keys(&r->options);
	tasks_forget_names(&r->visit.tasks);
	for (unsigned i = 0; i < p->n_events; i++) {
		p->weights[i] = p->samples[i] = 0;
		p->sums[i] = (struct profile_sum){ 0 };
	}
}

void profile_end(struct profile_reader *r)
{
	if (r)
		free_reader(r);
}

void profile_free(struct profile *p)
{
	pfm_close_session(p->session);
	text_pool_free(&p->texts);
	free(p->places);
	free(p->stacks);
	free(p->nodes);
	event_counts_free(&p->counts);
	free(p->sums);
	free(p->weights);
	free(p->samples);
}
