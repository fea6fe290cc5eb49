/* SPDX-License-Identifier: MIT */
/* pfm export: a recording in the formats of other tools.
 *
 * read.c turns the records of a recording into samples whose frames are numbers of
 * locations, which locations.c stores. Each format is one file, NAME.c, that ends
 * with its descriptor; export.c has the table of descriptors. A format that needs all samples
 * before it can write adds them up in stacks.c; the others write each sample as it comes. */
#ifndef PFM_EXPORT_H
#define PFM_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <perfmon/sampling.h>
#include "base/grow.h"
#include "base/hash.h"
#include "common/json.h"
#include "common/container_path.h"
#include "common/pfm.h"
#include "series/openmetrics.h"
#include "profile/profile.h"
#include "profile/sample_visitor.h"

/* ---- samples of a recording (read.c) --------------------------------------------------------- */

/* A file in memory. Number 0 is "[unknown]", in which frames without a mapping are. */
struct export_mapping {
	uint64_t start, end, offset; /* zeros for names such as [hypervisor], which have no range */
	uint32_t file;               /* text */
	struct object *object;       /* or NULL */
	uint32_t build_id;           /* text, in hexadecimal; "" if unknown */
	uint32_t pid;                /* of code that a process compiled; 0 for files */
	bool is_shared;              /* of all processes; the range is that of one */
};

/* A line of source text. File 0: unknown; else a text. */
struct export_source {
	uint32_t file, line;
};

/* An address in code. Number 0 represents the callers that are missing from a chain. */
struct export_location {
	uint64_t address; /* as in the chain: callers have the address after the call */
	uint32_t mapping;
	uint32_t mode; /* PFM_MISC_MODE */
	bool is_caller, has_name;
	uint32_t first_name, n_names; /* in export_reader.names, the outermost first: the function,
	                                 then what was inlined into it */
	struct export_source source;  /* of the innermost one */
};

/* A function of an object. */
struct export_function {
	uint32_t name, object;       /* texts */
	struct export_source source; /* of its first instruction */
};

struct export_event {
	char name[256];
	bool is_clock;    /* weights are nanoseconds */
	bool is_selected; /* --event */
	uint64_t period;  /* of one sample, or 0 */
	uint64_t samples, weight;
};

struct export_sample {
	uint64_t time, weight, has; /* has: PFM_SAMPLE_* */
	uint32_t event, pid, tid,
		cpu;            /* pid, tid: UINT32_MAX of a task that had ended, printed as -1 */
	uint32_t task;          /* text: the thread's name */
	uint32_t cgroup;        /* text: the path of the control group; "" if it is unknown */
	const uint32_t *frames; /* locations, the innermost first; valid until the next sample. Of
	                           export_read_frames() */
	unsigned n_frames;
	uint64_t ip;
	const pfm_branch_t *branches; /* the newest first; valid until the next sample */
	uint32_t n_branches;
	pfm_record_t *record; /* valid until the next sample */
};

struct export_reader {
	pfm_session_t *session;
	const char *path;
	struct text_pool texts; /* 0: "" */
	bool merges_processes;  /* the code of a file has one location in all processes */
	bool leaves_names;      /* code of files with a build id has addresses, no names */
	struct export_mapping *mappings;
	struct export_location *locations;
	uint32_t *names;
	struct export_event *events;
	struct export_function *functions; /* after export_number_functions() */
	uint32_t *function_numbers;        /* of each name */
	unsigned n_events;
	size_t n_mappings, n_locations, n_names, n_functions;
	struct profile_losses losses;
	struct time_span sampled; /* of selected samples */
	bool failed;              /* no memory */
	/* called for each mapping of a process; NULL: not wanted */
	void (*see_mapping)(void *arg, const pfm_record_t *record);
	void *see_mapping_arg;

	/* of read.c and locations.c alone */
	uint64_t last_cgroup; /* number of a control group, and its path */
	uint32_t last_cgroup_path;
	struct sample_visitor visit;
	struct waits *waits; /* of export_read_waits() */
	size_t mappings_capacity, locations_capacity, names_capacity, frames_capacity;
	size_t functions_capacity;
	struct hash_table mapping_table, location_table, function_table;
	struct known_location *known; /* locations of addresses, as long as the mappings of their
	                                 process do not change */
	uint32_t *frames;
};

/* Opens the recording @path; samples of other events than @event (NULL: all) are left out.
 * EXIT_DONE or EXIT_REFUSED after a message. */
int export_open(struct export_reader *r, const char *path, const char *event);
void export_close(struct export_reader *r);
/* Lets samples of context switches weigh the nanoseconds of the waits after them. EXIT_DONE or
 * EXIT_REFUSED after a message. */
int export_read_waits(struct export_reader *r);
/* The next sample, without its frames: 1, 0 after the last, or -1 after a message. */
int export_next(struct export_reader *r, struct export_sample *sample);
/* Finds the frames of the sample. */
void export_read_frames(struct export_reader *r, struct export_sample *s);
/* A hash of the call chain, and of the mappings that its addresses depend on. */
uint64_t export_hash_chain(struct export_reader *r, const struct export_sample *s);

/* ---- mappings and locations (locations.c) ---------------------------------------------------- */

/* Adds what has number 0: the mapping "[unknown]", and the location of callers that are missing.
 * False without memory. */
bool export_begin_locations(struct export_reader *r);
/* The number of the location, which is added if it is new. */
uint32_t export_number_location(struct export_reader *r, const struct process *process,
                                uint64_t address, uint32_t mode, bool is_caller);
/* Number of the name of the file, or [heap] and its like, that process @pid has at @address. */
uint32_t export_find_object(struct export_reader *r, uint32_t pid, uint64_t address);
const char *export_text(const struct export_reader *r, uint32_t number);
/* Text of name @i of a location. */
const char *export_name(const struct export_reader *r, const struct export_location *l, unsigned i);
/* True if the receiver finds the names of functions in @m by its build id. */
bool export_leaves_names(const struct export_reader *r, const struct export_mapping *m);
/* The line of the first instruction of the function of a location; unknown if that was inlined
 * into it. */
struct export_source export_read_function_source(struct export_reader *r,
                                                 const struct export_location *l);
/* Offset in its file of the code at @l. */
uint64_t export_file_offset(const struct export_reader *r, const struct export_location *l);
/* The file that a location is in. */
const char *export_object(const struct export_reader *r, const struct export_location *l);
/* "count", or "nanoseconds" of a clock. */
const char *export_unit(const struct export_event *e);
/* Puts the array "events", with name and unit of each. (json.c) */
void export_put_events(struct json *j, const struct export_reader *r);
/* True if the events has samples, or was selected and is not a dummy. */
bool export_has_column(const struct export_event *e);
/* The losses as members of an object. */
void put_losses_json(struct json *j, const struct profile_losses *l);
/* @name without line ends and tabs, which become "\x0a", and with ':' for ';', for lines of text.
 * Returns @buf. */
char *export_frame_text(const char *name, char buf[NAME_LINE]);

/* Finds the function of each name of each location (functions.c). False without
 * memory. */
bool export_number_functions(struct export_reader *r);
/* Number of the function of name @i of a location. */
uint32_t export_function_number(const struct export_reader *r, const struct export_location *l,
                                unsigned i);

/* ---- samples that are added up, and kept (stacks.c) ------------------------------------------ */

/* A stack is the number of its innermost node; node 0 is the empty stack. */
struct stack_node {
	uint32_t parent, location;
};

struct stack_tree {
	struct hash_table table;
	struct stack_node *nodes;
	size_t n, capacity;
	bool failed; /* no memory */
};

/* The stack with @frames, the innermost first. */
uint32_t export_add_stack(struct stack_tree *t, const uint32_t *frames, unsigned n);
/* The child of node @parent with @location, which is added if it is new. */
uint32_t export_add_node(struct stack_tree *t, uint32_t parent, uint32_t location);
void export_free_stacks(struct stack_tree *t);

/* Stacks that are stored whole: with many different ones that takes less memory than a tree, and
 * one look-up for each sample. */
struct stack_list {
	struct hash_table table;
	struct whole_stack {
		size_t first; /* in frames */
		uint32_t n;
	} * list;
	uint32_t *frames; /* locations, the innermost first */
	size_t n, capacity, n_frames, frames_capacity;
	bool failed; /* no memory */
};

void export_free_whole_stacks(struct stack_list *t);

/* Members that the samples of a row have in common, besides the stack: bits of
 * export_format.row_keys. */
enum { ROW_EVENT = 1, ROW_TASK = 2, ROW_THREAD = 4 /* pid, tid and cpu */ };

/* A sample whose row is known. Two samples with one hash, which a file cannot choose, are taken for
 * one: with a million rows that is as probable as 1e-7. With 680,000 samples of 12 frames an export
 * takes half of the time. */
struct known_row {
	uint64_t hash;
	uint32_t row; /* 1 + its index; 0: free */
};

/* Samples that are added up. */
struct export_row {
	uint32_t stack, event, pid, tid, cpu, task, cgroup;
	uint64_t samples, weight;
};

struct export_rows {
	struct hash_table table;
	struct export_row *list;
	size_t n, capacity;
	struct known_row *known; /* of export_add_sample() */
	bool failed;             /* no memory */
};

/* Adds @key->samples and @key->weight to the row that has the other members of @key. Returns its
 * index. */
uint32_t export_add_row(struct export_rows *rows, const struct export_row *key);
void export_free_rows(struct export_rows *rows);

/* The samples of one event in one thread, in the order of their times. */
struct timeline {
	uint32_t event, pid, tid, task;
	struct timeline_sample {
		uint64_t time, weight;
		uint32_t stack;
	} * samples;
	size_t n, capacity;
};

struct timelines {
	struct hash_table table;
	struct timeline *list;
	size_t n, capacity;
	struct stack_tree stacks;
	bool failed; /* no memory */
};

void export_add_to_timeline(struct timelines *t, const struct export_sample *s);
void export_free_timelines(struct timelines *t);

/* ---- formats --------------------------------------------------------------------------------- */

struct exporter {
	struct export_reader *reader;
	FILE *out;
	void *state;              /* state_size bytes of the format, zeros at first */
	struct export_rows rows;  /* with row_keys */
	struct stack_list stacks; /* of the rows */
	bool failed;              /* no memory: set by the format */
};

/* Adds the sample to the row that has its stack and its @keys (ROW_*). (stacks.c) */
void export_add_sample(struct exporter *e, unsigned keys, struct export_sample *s);

struct export_format {
	const char *name, *summary;
	const char *suffixes[4];    /* names of files that mean this format; NULL after the last */
	bool is_gzip;               /* compressed, unless the file's name ends in ".pb" */
	bool is_sum;                /* adds weights: samples of several events need --event */
	bool has_process_addresses; /* writes addresses as processes had them */
	unsigned row_keys;          /* ROW_*: end() has all samples in rows; 0: add_sample() */
	size_t state_size;
	/* Called once before the first sample, when the events are known. May be NULL. */
	void (*begin)(struct exporter *e);
	/* Called for each sample, in the order of times. NULL with row_keys. */
	void (*add_sample)(struct exporter *e, const struct export_sample *s);
	/* Called once after the last sample, when losses are known. */
	void (*end)(struct exporter *e);
	/* Frees what @state leads to. Called once, also after failures. May be NULL. */
	void (*release)(struct exporter *e);
	/* Adds up what @path holds: NULL, or a sentence about what is wrong. Sums in the order of
	 * the events for which export_has_column() is true. May be NULL. */
	const char *(*check)(const struct export_reader *r, const char *path);
};

/* The format with @name, or NULL. */
const struct export_format *find_export_format(const char *name);
/* The format that the name of a file means, or NULL. */
const struct export_format *find_export_format_of_file(const char *path);
/* False if the name of a file asks for gzip, which is missing. */
bool export_can_write(const char *path);
/* Attributes of the resource, for receivers of OTLP; NULL: none. The last has no name. */
extern const struct label *export_attributes;

/* Writes the recording @path to @output (NULL: standard output), in pprof's and OTLP's formats
 * without the names that a receiver finds by build ids if @leaves_names. @has_waits: samples of
 * context switches weigh the waits after them. EXIT_DONE or EXIT_REFUSED after a message. */
int export_recording(const struct export_format *format, const char *path, const char *output,
                     const char *event, bool is_checked, bool leaves_names, bool has_waits);

/* Writes the recording @path to @out, in the order of add_sample() and end(). @has_waits: samples
 * of context switches weigh the waits after them. EXIT_DONE or EXIT_REFUSED after a message. */
int export_to_stream(const struct export_format *format, const char *path, FILE *out,
                     const char *event, bool has_waits);

/* ---- output (output.c) ----------------------------------------------------------------------- */

/* A file that is written under another name until it is complete. */
struct export_output {
	FILE *out;
	char *path, *temporary; /* NULL: standard output, or not a regular file */
};

/* Opens @path (NULL: standard output), compressed by gzip if @is_gzip. False: errno tells why. */
bool export_open_output(struct export_output *o, const char *path, bool is_gzip);
/* Ends the file, which keeps its temporary name. False: errno tells why. */
bool export_end_output(struct export_output *o);
/* Gives the file its name if @is_good, and removes it otherwise. False: errno tells why. */
bool export_close_output(struct export_output *o, bool is_good);
/* True if this command was built with zlib. */
bool export_has_gzip(void);
/* The contents of a file, decompressed; the caller frees them. NULL: no memory, not readable, or a
 * gzip stream that ends early. */
char *export_read_file(const char *path, size_t *len);

/* ---- the main program (main_mapping.c) ------------------------------------------------------- */

/* Of the mappings with an id in @ids, finds the one that looks most like the main program, and of
 * several the one with most @samples. 0: all are libraries. */
uint32_t export_choose_main_mapping(struct exporter *e, const uint32_t *ids,
                                    const uint64_t *samples);

#endif
