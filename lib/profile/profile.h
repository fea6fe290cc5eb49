/* SPDX-License-Identifier: MIT */
/* pfm report: a recording, added up. */
#ifndef PFM_PROFILE_H
#define PFM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <perfmon/sampling.h>
#include "profile/tree/event_counts.h"
#include "profile/tree/losses.h"
#include "profile/text_pool.h"
#include "profile/tree/time_span.h"

/* Properties that separate samples, besides the event: bits of profile_options.keys. */
enum profile_key {
	KEY_TASK = 1,
	KEY_OBJECT = 2,
	KEY_SYMBOL = 4,
	KEY_LINE = 8,
	KEY_CPU = 16,
	KEY_CGROUP = 32,
	KEY_ADDRESS = 64,
	KEY_THREAD = 128
};

#define UNKNOWN_CPU UINT32_MAX

/* Where samples were: all with the same event, task, object and function (and source line), or
 * (folded) with the same stack. Members that are no key of the report are 0. */
struct profile_place {
	uint32_t event, task, object, function;
	uint32_t inlined, source; /* lines.h; 0: nothing is known */
	uint32_t cpu, cgroup, slice;
	uint32_t pid, tid; /* of KEY_THREAD */
	uint32_t build_id; /* with build_ids: of the object, in hexadecimal */
	uint32_t mode;     /* PFM_MISC_MODE of the first sample there */
	uint64_t address;
	uint64_t samples, weight;
	uint64_t children_samples,
		children_weight; /* that have the place anywhere in their stack */
	uint64_t stamp;          /* the stack that was added last to children_samples */
	uint64_t start, end;     /* with file_addresses or code_ranges: of the function, 0 if it has
	                            no name */
	uint32_t code;           /* with code_ranges: path of the file that has the function */
	uint32_t counts;         /* with metrics: its block of profile.counts; 0: nothing */
};

/* A call tree: the samples whose stacks begin with the places from a root to this node. */
struct profile_node {
	uint32_t parent, place;   /* parent: NO_NODE for a root */
	uint64_t samples, weight; /* of all nodes below as well; see profile_add_up_tree() */
	uint64_t end_samples, end_weight; /* whose stacks end here */
	uint32_t counts; /* with metrics: of the samples below it, too; as in a place */
};

#define NO_NODE UINT32_MAX

/* Samples, or times, that belong together: of one event in one slice of time. */
struct profile_sum {
	uint64_t samples, weight;
	double squares;  /* sum of the squares of the weights */
	bool is_counted; /* by an emulator, which counts each instruction: no error of sampling */
};

struct profile_messages;
struct symbols;
struct waits;

struct profile {
	pfm_session_t *session;
	struct text_pool texts;
	struct profile_place *places,
		*stacks; /* stacks: function is the number of "task;outer;inner" */
	size_t n_places, n_stacks;
	struct profile_losses losses;
	uint64_t *weights, *samples; /* of each event */
	unsigned n_events;
	struct profile_sum *sums; /* of event E in slice S: sums[E * n_slices + S] */
	unsigned n_slices;
	struct profile_node *nodes; /* with profile_options.tree; a parent is before its children */
	size_t n_nodes;
	struct event_counts counts; /* with profile_options.metrics */
	struct time_span recorded;  /* of records of any kind; made-up ones have no time */
	struct time_span sampled;   /* of samples */
	bool has_chains;            /* some sample has more than one frame */
	bool failed;                /* no memory */
	pfm_error_t error;          /* why the recording could not be read */
};

/* Kinds of rows: places, places by source line, or stacks. */
enum profile_detail { FUNCTIONS, SOURCE, STACKS };

/* Call trees: none, from the outermost caller to the innermost function, or from the innermost
 * function to its callers. */
enum profile_tree { NO_TREE, CALLER_TREE, CALLEE_TREE };

/* How a recording is read. All zeros: every sample, by task, object and function. */
struct profile_options {
	enum profile_detail detail;
	unsigned keys; /* KEY_*; 0: those of @detail */
	enum profile_tree tree;
	bool children;             /* children_samples is wanted */
	const char *task, *symbol; /* patterns of names; NULL: all. Symbol: the innermost one */
	double from, to;           /* seconds from the first sample; to 0: to the end */
	unsigned n_slices;         /* equal parts of the time; 0: one */
	bool merge_unnamed;        /* functions without a name are one for each object */
	bool merge_missing;        /* merge_unnamed, of files that are gone or have changed */
	bool file_addresses;       /* addresses, and names of objects, are those of files */
	bool code_ranges;          /* places have the addresses of their functions */
	bool metrics; /* all events have the same places, which count each; a weight is a sample */
	bool innermost_only; /* call chains are neither read nor unwound */
	bool no_lines;       /* no source lines and inlined functions */
	bool build_ids;      /* places have the build ids of their objects */
	const char *event;   /* as profile_matches_event() takes it; NULL: all events */
	struct waits *waits; /* of the recording: samples of context switches weigh waits; NULL:
	                        they count switches */
	const char *debug_folder;          /* of separate debug files; NULL: /usr/lib/debug */
	const char *symbol_folder;         /* of files by build id; NULL: none */
	struct profile_messages *messages; /* where messages go; NULL: nowhere */
};

/* Reads the recording @path. PFMLIB_SUCCESS, or an error code after a message. */
int profile_read_selected(struct profile *p, const char *path, const struct profile_options *o);
void profile_free(struct profile *p);

/* A profile of tasks that run. Mappings and names of tasks that are older than the session come
 * from /proc. */
struct profile_reader;
/* Begins the profile of @session, which profile_free() closes. Its records are read by
 * profile_add_records(), or (not @reads_session) by the caller. NULL without memory; with p->failed
 * set, only profile_end() may follow. */
struct profile_reader *profile_begin(struct profile *p, pfm_session_t *session, bool reads_session,
                                     const struct profile_options *o);
/* Adds a record that the caller has read. False without memory. */
bool profile_add_record(struct profile_reader *r, const pfm_record_t *record);
/* Reads what the session has recorded up to now. False without memory. */
bool profile_add_records(struct profile_reader *r);
/* Adds up the samples of a call tree: from the nodes where stacks end to all nodes above them, and
 * to the places of all. May be called again after more samples. */
void profile_add_up_tree(struct profile *p, enum profile_tree tree);
/* Forgets all samples; later ones are added up by @keys. */
void profile_clear(struct profile_reader *r, unsigned keys);
void profile_end(struct profile_reader *r);
/* True if the event called @name matches @pattern, with or without modifiers at its end. */
bool profile_matches_event(const char *name, const char *pattern);
/* @name in a line of its own, cut if it is longer than that: ends of lines in it are shown as
 * "\x0a". Returns @buf. */
#define NAME_LINE 4096
char *profile_format_line(const char *name, char buf[NAME_LINE]);

#endif
