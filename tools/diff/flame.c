/* SPDX-License-Identifier: MIT */
/* A differential flame graph: boxes are as wide as in the new recording, and coloured where their
 * share changed significantly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "diff/rows.h"
#include "diff/stats.h"
#include "profile/render/flame_graph.h"
#include "common/pfm.h"
#include "base/text_output.h"

/* The event whose stacks are compared; d->n_events, after a message, if it is not one. */
static uint32_t choose_compared_event(const struct diff *d)
{
	uint32_t found = d->n_events, n = 0;

	for (uint32_t i = 0; i < d->n_events; i++)
		if (is_compared_event(d, d->events[i].name) && is_event_of_all(d, &d->events[i])) {
			found = i;
			n++;
		}
	if (n == 1)
		return found;
	refuse_events(d, n ? "--svg: expected one event, got several; choose one with --event"
	                   : "the recordings have no event in common");
	return d->n_events;
}

/* The stacks of both recordings without their tasks, which may have new names. */
static size_t collect_stacks(const struct diff *d, uint32_t event, struct flame_stack *stacks)
{
	size_t n = 0;

	for (unsigned run = 0; run < d->n_recordings; run++) {
		const struct diff_recording *r = &d->recordings[run];
		const struct profile *p = &r->profile;

		for (size_t i = 0; i < p->n_stacks; i++) {
			const struct profile_place *place = &p->stacks[i];
			const char *frames = strchr(p->texts.text[place->function], ';');

			if (!frames || r->event_numbers[place->event] != event)
				continue;
			stacks[n++] = (struct flame_stack){
				.text = frames + 1,
				.weight = r->side == NEW_SIDE ? place->weight : 0,
				.old_weight = r->side == OLD_SIDE ? place->weight : 0,
			};
		}
	}
	return n;
}

static struct diff_side compute_box_side(const struct profile_sum *sum, uint64_t weight)
{
	double total = (double)sum->weight * (double)sum->weight / sum->squares;

	return (struct diff_side){ .samples = total * (double)weight / (double)sum->weight,
		                   .total = total,
		                   .exposure = total };
}

/* The probability of each box's change, adjusted for the number of boxes; 1 with few samples. The
 * caller frees it. NULL without memory. */
static double *compute_probabilities(const struct diff_event *e, const struct flame_boxes *b)
{
	double *p = malloc((b->n_boxes + 1) * sizeof(*p)),
	       *tested = malloc((b->n_boxes + 1) * sizeof(*tested));
	size_t n = 0;
	bool has_memory = p && tested;

	for (size_t i = 0; has_memory && i < b->n_boxes; i++) {
		struct diff_side old_side =
			compute_box_side(&e->sum[OLD_SIDE], b->boxes[i].old_weight);
		struct diff_side new_side = compute_box_side(&e->sum[NEW_SIDE], b->boxes[i].weight);

		p[i] = 1;
		if (old_side.samples + new_side.samples < TESTED_SAMPLES)
			continue;
		p[i] = -1;
		tested[n++] = compute_difference_probability(&old_side, &new_side, true);
	}
	has_memory = has_memory && adjust_probabilities(tested, n, FALSE_ALARMS);
	for (size_t i = b->n_boxes; has_memory && i-- > 0;)
		p[i] = p[i] < 0 ? tested[--n] : p[i];
	free(tested);
	if (has_memory)
		return p;
	free(p);
	return NULL;
}

/* Red grew, blue fell: the stronger, the larger the ratio of the shares. */
static struct flame_colour choose_colour(double old_share, double new_share)
{
	double strength = fabs(new_share - old_share) / (new_share + old_share);
	unsigned pale = (unsigned)(190 - 150 * strength);

	return new_share > old_share ? (struct flame_colour){ 240, pale, pale }
	                             : (struct flame_colour){ pale, pale, 240 };
}

static void put_box(FILE *out, const struct flame_boxes *b, const struct flame_box *box,
                    bool is_significant)
{
	double old_share = (double)box->old_weight / (double)b->old_total;
	double new_share = (double)box->weight / (double)b->total;

	begin_flame_box(out, box);
	fprintf(out, ", %.2f%% after %.2f%%: %s", 100 * new_share, 100 * old_share,
	        !is_significant         ? "no significant change"
	        : new_share > old_share ? "grew"
	                                : "fell");
	end_flame_box(out, box, b->depth,
	              is_significant ? choose_colour(old_share, new_share)
	                             : (struct flame_colour){ 220, 220, 220 });
}

static void put_title(const struct diff *d, FILE *out)
{
	const char *old_path = d->recordings[OLD_SIDE].path,
		   *new_path = d->recordings[NEW_SIDE].path;

	base_put_xml(out, new_path, strlen(new_path));
	fputs(" after ", out);
	base_put_xml(out, old_path, strlen(old_path));
	fputs(": red grew, blue fell, grey did not change significantly", out);
}

static bool put_graph(const struct diff *d, uint32_t event, FILE *out)
{
	size_t size = d->recordings[OLD_SIDE].profile.n_stacks +
	              d->recordings[NEW_SIDE].profile.n_stacks + 1;
	struct flame_stack *stacks = calloc(size, sizeof(*stacks));
	struct flame_boxes boxes = { .boxes = NULL };
	double *p = NULL;
	bool is_drawn;

	if (stacks && make_flame_boxes(stacks, collect_stacks(d, event, stacks), &boxes))
		p = compute_probabilities(&d->events[event], &boxes);
	if (p) {
		begin_flame_graph(out, boxes.depth);
		put_title(d, out);
		end_flame_title(out);
		for (size_t i = 0; i < boxes.n_boxes; i++)
			put_box(out, &boxes, &boxes.boxes[i], p[i] < 1 - d->confidence);
		end_flame_graph(out);
	}
	free(boxes.boxes);
	free(stacks);
	is_drawn = p;
	free(p);
	return is_drawn;
}

int put_diff_flame_graph(struct diff *d, FILE *out)
{
	uint32_t event;
	int status = read_diff(d);

	if (status != EXIT_DONE)
		return status;
	event = choose_compared_event(d);
	if (event == d->n_events)
		return EXIT_REFUSED;
	return put_graph(d, event, out) ? EXIT_DONE : report_no_memory();
}
