/* SPDX-License-Identifier: MIT */
/* The boxes of flame graphs, and their SVG. */
#ifndef PERFMON_PROFILE_FLAME_GRAPH_H
#define PERFMON_PROFILE_FLAME_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A stack "outer;...;inner". Callers set its text and weights, and all other members to 0. */
struct flame_stack {
	const char *text,
		*frame;      /* frame: that of the depth being drawn; NULL after the last one */
	size_t frame_length; /* of the frame */
	uint64_t weight, old_weight; /* old_weight: in the recording that a graph compares with */
	bool is_joined;              /* equals the stack before it up to this depth */
};

/* Frames of neighbouring stacks that have the same callers. */
struct flame_box {
	const char *name;
	size_t len;
	double x, width; /* fractions of the width of the graph */
	unsigned depth;
	uint64_t weight, old_weight;
};

struct flame_boxes {
	struct flame_box *boxes; /* the outermost first; the caller frees it */
	size_t n_boxes, capacity;
	unsigned depth;
	uint64_t total, old_total;
};

struct flame_colour {
	unsigned red, green, blue;
};

/* Sorts the stacks and makes their boxes, which refer to their texts. Boxes without a weight are
 * omitted. False without memory. */
bool make_flame_boxes(struct flame_stack *stacks, size_t n, struct flame_boxes *b);

/* A graph is written in this order: its begin, the text of its title, the end of the title; the
 * begin of each box, the text of its value, its end; the end of the graph. A value begins with a
 * comma and has no other one. @depth: flame_boxes.depth. The positions are in the file, because not
 * every viewer runs its script. */
void begin_flame_graph(FILE *out, unsigned depth);
void end_flame_title(FILE *out);
void begin_flame_box(FILE *out, const struct flame_box *box);
void end_flame_box(FILE *out, const struct flame_box *box, unsigned depth,
                   struct flame_colour colour);
void end_flame_graph(FILE *out);

/* Writes the whole graph of the stacks, which it sorts. False without memory. */
bool write_flame_graph(FILE *out, const char *title, struct flame_stack *stacks, size_t n);

#endif
