/* SPDX-License-Identifier: MIT */
/* The public profile: a call tree whose leaves are stacks, from which functions, folded stacks and
 * flame graphs are made when they are asked for. */
#include <perfmon/profile.h>

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/sizes.h"
#include "profile/render/flame_graph.h"
#include "profile/render/folded_stacks.h"
#include "profile/tree/function_table.h"
#include "profile/kept_messages.h"
#include "profile/tree/losses.h"
#include "profile/profile.h"

struct event_label {
	char *name;
	bool is_clock;
};

struct pfm_profile {
	struct profile profile;
	struct profile_reader *reader; /* of pfm_create_profile() */
	struct profile_options options;
	char *strings[4]; /* of options */
	struct kept_messages messages;
	struct function_table table;
	bool has_table;             /* of the samples that were added so far */
	struct event_label *events; /* valid after the session of a live profile was closed */
	char *text;                 /* what was written last */
};

/* ---- opening --------------------------------------------------------------------------------- */

static int report_profile_error(pfm_error_t *error, int code, const char *detail)
{
	if (base_has_struct_size(error)) {
		const pfm_error_t why = {
			.size = sizeof(why), .code = code, .event = -1, .detail = detail
		};

		base_copy_struct_out(error, &why, sizeof(why));
	}
	return code;
}

/* Finds what is wrong with the options; NULL: nothing. */
static const char *check_options(const pfm_profile_options_t *o)
{
	if (o->flags & ~(uint32_t)(PFM_PROFILE_INNERMOST | PFM_PROFILE_NO_LINES))
		return "options.flags: unknown flag";
	if (o->labels & ~(uint32_t)(PFM_LABEL_THREAD | PFM_LABEL_CPU | PFM_LABEL_CGROUP))
		return "options.labels: unknown label";
	if (!(o->from >= 0) || !(o->to >= 0) || (o->to > 0 && o->to < o->from))
		return "options.from, options.to: expected 0 <= from <= to";
	return NULL;
}

/* A copy of @text that lives as long as @p. False without memory. */
static bool copy_string(char **copy, const char **to, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	*to = *copy;
	return !text || *copy;
}

static unsigned get_label_keys(uint32_t flags, uint32_t labels)
{
	unsigned keys = KEY_TASK | KEY_OBJECT | KEY_SYMBOL;

	keys |= flags & PFM_PROFILE_NO_LINES ? 0 : KEY_LINE;
	keys |= labels & PFM_LABEL_THREAD ? KEY_THREAD : 0;
	keys |= labels & PFM_LABEL_CPU ? KEY_CPU : 0;
	return keys | (labels & PFM_LABEL_CGROUP ? KEY_CGROUP : 0);
}

/* False without memory. */
static bool copy_options(pfm_profile_t *p, const pfm_profile_options_t *from)
{
	p->options = (struct profile_options){
		.keys = get_label_keys(from->flags, from->labels),
		.tree = CALLER_TREE,
		.innermost_only = from->flags & PFM_PROFILE_INNERMOST,
		.no_lines = from->flags & PFM_PROFILE_NO_LINES,
		.build_ids = true,
		.from = from->from,
		.to = from->to,
	};
	return copy_string(&p->strings[0], &p->options.event, from->event) &&
	       copy_string(&p->strings[1], &p->options.task, from->task) &&
	       copy_string(&p->strings[2], &p->options.symbol, from->symbol) &&
	       copy_string(&p->strings[3], &p->options.debug_folder, from->debug_folder);
}

static bool read_event(struct event_label *event, const pfm_session_t *session, unsigned i)
{
	pfm_count_info_t info = PFM_INIT(info);
	bool is_read = pfm_describe_count(session, i, &info) == PFMLIB_SUCCESS;

	event->name = strdup(is_read ? info.name : "");
	event->is_clock = is_read && info.attr.type == PERF_TYPE_SOFTWARE &&
	                  info.attr.config <= PERF_COUNT_SW_TASK_CLOCK;
	return event->name;
}

static bool read_events(pfm_profile_t *p)
{
	const struct profile *data = &p->profile;
	bool is_read;

	p->events = calloc(data->n_events + 1, sizeof(*p->events));
	is_read = p->events;
	for (unsigned i = 0; i < data->n_events && is_read; i++)
		is_read = read_event(&p->events[i], data->session, i);
	return is_read;
}

/* Creates a profile of @source with the caller's options, without samples. */
static int create_handle(pfm_profile_t **out, const void *source,
                         const pfm_profile_options_t *options, pfm_error_t *error)
{
	pfm_profile_options_t o;
	const char *wrong;

	if (out)
		*out = NULL;
	if (!out || !source)
		return report_profile_error(error, PFMLIB_ERR_INVAL, "an argument is NULL");
	wrong = base_copy_options_in(&o, sizeof(o), options);
	if (!wrong)
		wrong = check_options(&o);
	if (wrong)
		return report_profile_error(error, PFMLIB_ERR_INVAL, wrong);
	*out = calloc(1, sizeof(**out));
	if (*out && copy_options(*out, &o)) {
		(*out)->options.messages = keep_messages(&(*out)->messages);
		return PFMLIB_SUCCESS;
	}
	pfm_close_profile(*out);
	*out = NULL;
	return report_profile_error(error, PFMLIB_ERR_NOMEM, NULL);
}

/* Releases a profile that could not be filled. */
static int discard_profile(pfm_profile_t **out, int rc)
{
	pfm_close_profile(*out);
	*out = NULL;
	return rc;
}

int pfm_open_profile(pfm_profile_t **out, const char *path, const pfm_profile_options_t *options,
                     pfm_error_t *error)
{
	int rc = create_handle(out, path, options, error);
	pfm_profile_t *p;

	if (rc)
		return rc;
	p = *out;
	rc = profile_read_selected(&p->profile, path, &p->options);
	if (rc && base_has_struct_size(error))
		base_copy_struct_out(error, &p->profile.error, sizeof(p->profile.error));
	if (!rc && !read_events(p))
		rc = report_profile_error(error, PFMLIB_ERR_NOMEM, NULL);
	return rc ? discard_profile(out, rc) : rc;
}

int pfm_create_profile(pfm_profile_t **out, pfm_session_t *session,
                       const pfm_profile_options_t *options, pfm_error_t *error)
{
	int rc = create_handle(out, session, options, error);
	pfm_profile_t *p;

	if (rc)
		return rc;
	p = *out;
	p->reader = profile_begin(&p->profile, session, false, &p->options);
	if (!p->reader || p->profile.failed || !read_events(p))
		return discard_profile(out, report_profile_error(error, PFMLIB_ERR_NOMEM, NULL));
	return PFMLIB_SUCCESS;
}

static void discard_function_table(pfm_profile_t *p)
{
	free_function_table(&p->table);
	p->has_table = false;
}

int pfm_add_profile_record(pfm_profile_t *p, const pfm_record_t *record)
{
	pfm_record_t copy;
	bool is_added;

	if (!p || !p->reader || !record || !base_copy_struct_in(&copy, sizeof(copy), record))
		return PFMLIB_ERR_INVAL;
	discard_function_table(p);
	is_added = profile_add_record(p->reader, &copy);
	return is_added ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
}

int pfm_clear_profile(pfm_profile_t *p)
{
	if (!p || !p->reader)
		return PFMLIB_ERR_INVAL;
	discard_function_table(p);
	profile_clear(p->reader, p->options.keys);
	return PFMLIB_SUCCESS;
}

void pfm_close_profile(pfm_profile_t *p)
{
	if (!p)
		return;
	if (p->reader)
		p->profile.session = NULL; /* it is the caller's */
	profile_end(p->reader);
	discard_function_table(p);
	for (unsigned i = 0; p->events && i < p->profile.n_events; i++)
		free(p->events[i].name);
	free(p->events);
	profile_free(&p->profile);
	free_kept_messages(&p->messages);
	for (size_t i = 0; i < sizeof(p->strings) / sizeof(p->strings[0]); i++)
		free(p->strings[i]);
	free(p->text);
	free(p);
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/* Makes the table of functions if samples were added since. @has_room: the caller's struct has a
 * valid size. */
static int prepare_table(pfm_profile_t *p, bool has_room)
{
	if (!p || !has_room)
		return PFMLIB_ERR_INVAL;
	if (p->has_table)
		return PFMLIB_SUCCESS;
	p->has_table = make_function_table(&p->table, &p->profile);
	if (p->has_table)
		return PFMLIB_SUCCESS;
	discard_function_table(p);
	return PFMLIB_ERR_NOMEM;
}

int pfm_describe_profile(pfm_profile_t *p, pfm_profile_info_t *info)
{
	int rc = prepare_table(p, base_has_struct_size(info));
	pfm_profile_info_t out = { .size = sizeof(out) };
	const struct profile_losses *losses;

	if (rc)
		return rc;
	losses = &p->profile.losses;
	out.n_events = p->profile.n_events;
	out.n_stacks = (unsigned)p->table.n_stacks;
	out.is_complete = is_profile_complete(losses);
	out.is_damaged = losses->damaged;
	out.lost_records = losses->records;
	out.lost_samples = losses->samples;
	out.throttled = losses->throttled;
	out.samples_without_event = losses->without_event;
	out.has_stacks = p->profile.has_chains;
	out.first_time = p->profile.sampled.first;
	out.last_time = p->profile.sampled.last;
	base_copy_struct_out(info, &out, sizeof(out));
	return PFMLIB_SUCCESS;
}

int pfm_describe_profile_event(pfm_profile_t *p, unsigned event, pfm_profile_event_t *info)
{
	int rc = prepare_table(p, base_has_struct_size(info));
	pfm_profile_event_t out = { .size = sizeof(out) };

	if (rc)
		return rc;
	if (event >= p->profile.n_events)
		return PFMLIB_ERR_NOTFOUND;
	out.name = p->events[event].name;
	out.unit = p->events[event].is_clock ? "nanoseconds" : "count";
	out.samples = p->profile.samples[event];
	out.weight = p->profile.weights[event];
	out.n_functions = (unsigned)(p->table.first_rows[event + 1] - p->table.first_rows[event]);
	base_copy_struct_out(info, &out, sizeof(out));
	return PFMLIB_SUCCESS;
}

const char *pfm_get_profile_message(const pfm_profile_t *p, unsigned i)
{
	return p && i < p->messages.n_texts ? p->messages.texts[i] : NULL;
}

static double compute_share(uint64_t weight, uint64_t total)
{
	return total ? (double)weight / (double)total : 0;
}

/* Standard error of the share of @n samples, which are a random choice. */
static double compute_share_error(double share, uint64_t n)
{
	return n ? sqrt(share * (1 - share) / (double)n) : 0;
}

int pfm_describe_function(pfm_profile_t *p, unsigned event, unsigned i, pfm_function_t *function)
{
	int rc = prepare_table(p, base_has_struct_size(function));
	pfm_function_t out = { .size = sizeof(out) };
	const struct function_row *row;
	uint64_t samples, weight;

	if (rc)
		return rc;
	if (event >= p->profile.n_events ||
	    i >= p->table.first_rows[event + 1] - p->table.first_rows[event])
		return PFMLIB_ERR_NOTFOUND;
	row = &p->table.rows[p->table.first_rows[event] + i];
	samples = p->profile.samples[event];
	weight = p->profile.weights[event];
	out.function = p->profile.texts.text[row->function];
	out.object = p->profile.texts.text[row->object];
	out.build_id = p->profile.texts.text[row->build_id];
	out.flags = row->flags;
	out.self_samples = row->self_samples;
	out.self_weight = row->self_weight;
	out.children_samples = row->children_samples;
	out.children_weight = row->children_weight;
	out.self_share = compute_share(row->self_weight, weight);
	out.children_share = compute_share(row->children_weight, weight);
	out.self_error = compute_share_error(out.self_share, samples);
	out.children_error = compute_share_error(out.children_share, samples);
	base_copy_struct_out(function, &out, sizeof(out));
	return PFMLIB_SUCCESS;
}

int pfm_describe_stack(pfm_profile_t *p, unsigned i, pfm_stack_t *stack)
{
	int rc = prepare_table(p, base_has_struct_size(stack));
	pfm_stack_t out = { .size = sizeof(out) };
	const struct profile_frame *const *frames;
	const struct profile_place *place;
	const struct profile_node *node;

	if (rc)
		return rc;
	if (i >= p->table.n_stacks)
		return PFMLIB_ERR_NOTFOUND;
	frames = list_stack_frames(&p->table, &p->profile, i, &out.n_frames);
	if (!frames)
		return PFMLIB_ERR_NOMEM;
	node = &p->profile.nodes[p->table.stacks[i]];
	place = &p->profile.places[node->place];
	out.event = place->event;
	out.task = p->profile.texts.text[place->task];
	out.pid = place->pid;
	out.tid = place->tid;
	out.cpu = p->options.keys & KEY_CPU && place->cpu != UNKNOWN_CPU ? (int32_t)place->cpu : -1;
	out.flags = out.n_frames ? frames[out.n_frames - 1]->flags & PFM_FRAME_CUT_OFF : 0;
	out.cgroup = p->profile.texts.text[place->cgroup];
	out.samples = node->end_samples;
	out.weight = node->end_weight;
	base_copy_struct_out(stack, &out, sizeof(out));
	return PFMLIB_SUCCESS;
}

int pfm_describe_frame(pfm_profile_t *p, unsigned stack, unsigned i, pfm_frame_t *frame)
{
	int rc = prepare_table(p, base_has_struct_size(frame));
	pfm_frame_t out = { .size = sizeof(out) };
	const struct profile_frame *const *frames;
	unsigned n;

	if (rc)
		return rc;
	if (stack >= p->table.n_stacks)
		return PFMLIB_ERR_NOTFOUND;
	frames = list_stack_frames(&p->table, &p->profile, stack, &n);
	if (!frames || i >= n)
		return frames ? PFMLIB_ERR_NOTFOUND : PFMLIB_ERR_NOMEM;
	out.function = p->profile.texts.text[frames[i]->function];
	out.object = p->profile.texts.text[frames[i]->object];
	out.build_id = p->profile.texts.text[frames[i]->build_id];
	out.source = p->profile.texts.text[frames[i]->source];
	out.flags = frames[i]->flags;
	base_copy_struct_out(frame, &out, sizeof(out));
	return PFMLIB_SUCCESS;
}

/* ---- text and picture ------------------------------------------------------------------------ */

/* False without memory. */
static bool write_graph(FILE *out, const char *title, const struct folded_stacks *f)
{
	struct flame_stack *stacks = calloc(f->n + 1, sizeof(*stacks));
	bool is_written;

	for (size_t i = 0; stacks && i < f->n; i++)
		stacks[i] = (struct flame_stack){ .text = f->lines[i].text,
			                          .weight = f->lines[i].weight };
	is_written = stacks && write_flame_graph(out, title, stacks, f->n);
	free(stacks);
	return is_written;
}

/* Writes the folded stacks, or the graph with @title, to p->text. */
static int write_text(pfm_profile_t *p, unsigned event, const char *title, const char **text,
                      size_t *length)
{
	struct folded_stacks f = { .n = 0 };
	bool is_written = fold_stacks(&f, &p->table, &p->profile, event);
	size_t n = 0;
	FILE *out;

	free(p->text);
	p->text = NULL;
	out = is_written ? open_memstream(&p->text, &n) : NULL;
	if (out && title)
		is_written = write_graph(out, title, &f);
	else if (out)
		write_folded_lines(out, &f, &p->profile.losses);
	free_folded_stacks(&f);
	if (!out || fclose(out) != 0 || !is_written)
		return PFMLIB_ERR_NOMEM;
	*text = p->text;
	if (length)
		*length = n;
	return PFMLIB_SUCCESS;
}

static int prepare_text(pfm_profile_t *p, unsigned event, const char **text)
{
	int rc = text ? prepare_table(p, true) : PFMLIB_ERR_INVAL;

	if (rc)
		return rc;
	*text = NULL;
	return event < p->profile.n_events ? PFMLIB_SUCCESS : PFMLIB_ERR_NOTFOUND;
}

int pfm_fold_profile(pfm_profile_t *p, unsigned event, const char **text, size_t *length)
{
	int rc = prepare_text(p, event, text);

	return rc ? rc : write_text(p, event, NULL, text, length);
}

int pfm_draw_flame_graph(pfm_profile_t *p, unsigned event, const char *title, const char **svg,
                         size_t *length)
{
	int rc = prepare_text(p, event, svg);

	return rc ? rc : write_text(p, event, title ? title : p->events[event].name, svg, length);
}
