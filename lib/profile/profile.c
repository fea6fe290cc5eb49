/* SPDX-License-Identifier: MIT */
/* A recording, or a session that samples, added up. */
#include "profile/profile_internal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "perfdata/perfdata.h"
#include "profile/symbols/lines.h"
#include "profile/messages.h"
#include "profile/recording_section.h"

static void read_record(struct profile_reader *r, pfm_record_t *record)
{
	struct profile *p = r->target_profile;

	if (record->has & PFM_SAMPLE_TIME && record->time)
		time_span_note(&p->recorded, record->time);
	if (record->type == PFM_RECORD_SAMPLE)
		samples_read_record(r, record);
	tasks_read_record(&r->tasks, record);
	losses_read_record(&p->losses, record);
	p->failed |= r->tasks.failed;
}

static void free_reader(struct profile_reader *r)
{
	tasks_free(&r->tasks);
	pfmi_base_free_hash(&r->place_table);
	pfmi_base_free_hash(&r->stack_table);
	pfmi_base_free_hash(&r->node_table);
	free(r->is_wanted);
	symbols_close(r->tasks.symbols);
	chains_free(&r->chains);
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

/* Opens the recording. PFMLIB_SUCCESS, or an error code after a message. */
static int open_recording(struct profile *p, const char *path)
{
	pfm_error_t *error = &p->error;
	int rc;

	*error = (pfm_error_t)PFM_INIT(*error);
	rc = pfm_open_recording(&p->session, strcmp(path, "-") ? path : "/dev/stdin", error);

	if (rc == PFMLIB_SUCCESS)
		return rc;
	show_profile_message("%s: %s", path, describe_recording_error(error));
	return rc;
}

/* Reads the times of the first and the last sample. */
static int read_times(struct profile *p, const char *path)
{
	pfm_record_t record = PFM_INIT(record);
	int status;

	if (strcmp(path, "-") == 0) {
		show_profile_message(
			"slices of time need a file that can be read twice, got standard input: "
			"name a file");
		return PFMLIB_ERR_INVAL;
	}
	status = open_recording(p, path);
	while (status == PFMLIB_SUCCESS && pfm_next_record(p->session, &record) == 1)
		if (record.type == PFM_RECORD_SAMPLE && record.has & PFM_SAMPLE_TIME)
			time_span_note(&p->sampled, record.time);
	pfm_close_session(p->session);
	p->session = NULL;
	return status;
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

struct symbols *open_recorded_symbols(const char *path, const char *debug_folder)
{
	struct symbols *all = symbols_open(debug_folder);
	char *release;
	struct stat st;

	if (!all)
		return NULL;
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0)
		symbols_set_recording(all, &st);
	release = read_recording_text(path, PERFDATA_FEATURE_OSRELEASE);
	if (release)
		symbols_set_recorded_kernel(all, release);
	free(release);
	return all;
}

/* Prepares everything that samples are added to. False without memory. */
static bool begin_reading(struct profile_reader *r, struct symbols *symbols)
{
	struct profile *p = r->target_profile;

	tasks_begin(&r->tasks, &p->texts, symbols);
	text_pool_add(&p->texts, "");
	p->failed = !symbols || !create_sums(p) || p->texts.failed || !choose_events(r);
	return !p->failed;
}

/* Reads all records. Returns what pfm_next_record() returned last. */
static int read_records(struct profile_reader *r, const char *path)
{
	struct profile *p = r->target_profile;
	pfm_record_t record = PFM_INIT(record);
	int rc = 0;

	begin_profile_recording(path);
	p->failed = !begin_reading(r, open_recorded_symbols(path, r->options.debug_folder)) ||
	            (r->options.metrics && !event_counts_init(&p->counts, p->n_events));
	if (!p->failed && r->options.metrics)
		read_inherited_events(path, p->counts.is_inherited, p->n_events);
	while (!p->failed && (rc = chains_next_record(&r->chains, p->session, &record)) == 1) {
		read_record(r, &record);
		p->failed |= p->texts.failed;
		count_profile_record(p->session);
	}
	count_profile_record(NULL);
	if (r->options.metrics && !p->failed)
		p->failed = !add_counts_to_parents(p);
	return rc;
}

/* Adds up and sorts what was read. */
static void complete_profile(struct profile *p, const struct profile_options *o)
{
	pfm_buffer_info_t buffers = PFM_INIT(buffers);

	p->losses.damaged |=
		pfm_buffer_statistics(p->session, &buffers) == PFMLIB_SUCCESS && buffers.damaged;
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
		show_profile_message("%s: %s", path, describe_reading_error(rc));
	if (rc == PFMLIB_SUCCESS && p->n_slices > 1)
		rc = read_times(p, path);
	if (rc == PFMLIB_SUCCESS)
		rc = open_recording(p, path);
	if (rc != PFMLIB_SUCCESS) {
		free(r);
		return rc;
	}
	r->target_profile = p;
	r->options = *o;
	r->keys = get_detail_keys(o);
	if ((r->keys & KEY_LINE || o->detail == STACKS) && !o->no_lines && !lines_are_supported())
		show_profile_message("libdw is missing: source lines and inlined functions are not "
		                     "shown");
	rc = read_records(r, path);
	free_reader(r);
	if (p->failed)
		rc = PFMLIB_ERR_NOMEM;
	if (rc < 0) {
		p->error = (pfm_error_t)PFM_INIT(p->error);
		p->error.code = rc;
		p->error.detail = p->failed ? NULL : describe_reading_error(rc);
		show_profile_message("%s: %s", path, describe_reading_error(rc));
		return rc;
	}
	complete_profile(p, o);
	return PFMLIB_SUCCESS;
}

struct profile_reader *profile_begin(struct profile *p, pfm_session_t *session,
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
	begin_reading(r, symbols_open(o->debug_folder));
	r->tasks.is_live = true;
	return r;
}

bool profile_add_record(struct profile_reader *r, pfm_record_t *record)
{
	read_record(r, record);
	r->target_profile->failed |= r->target_profile->texts.failed;
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
	tasks_forget_names(&r->tasks);
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
