/* SPDX-License-Identifier: MIT */
/* Regions of a program: what the files of this module share.
 *
 *   state.c     the state of the process and of a thread, the lock
 *   memory.c    arenas of mapped memory: a begin in a signal handler must not call malloc()
 *   names.c     names of regions to numbers
 *   events.c    events that can be counted, described by sessions
 *   layout.c    events into groups, groups into rounds
 *   simulated.c counts of an emulator in place of the kernel's
 *   counters.c  a thread's kernel events: opened, switched, read
 *   process.c   the process as its results name it
 *   storage.c   files of sums that outlive the process; memory for sums without a file
 *   storage_events.c  events, groups and rounds in such a file
 *   sums.h      sums of a plain visit, in straight code
 *   entry.c     sums of a region in one thread
 *   slices.c    visits one by one, for formats that draw them on a time line
 *   output.c    paths of the files of a process, and messages about them
 *   attach.c    the file of sums of a process, from its creation on
 *   thread.c    threads: made at their first region, kept when they end, and what a fork leaves
 *   subtract.c  costs of begin and end in a row, and how far they are known
 *   results.c   sums over threads, costs subtracted, metrics
 *   load.c      results from a file of sums
 *   merge.c     results of several processes as one
 *   text.c      the text that a format writes to
 *   write*.c    formats
 *   start.c     configuration, start, and the end of the process
 *   cost.c      what an empty visit counts
 *   visit.c     begin and end
 *   handle.c    visits that a handle holds
 *   control.c   start and stop as a program asks for them
 *
 * A file calls those above it in this list; events.c and layout.c call counters.c as well.
 *
 * A thread writes its own sums without a lock; readers take a copy of an entry under its sequence
 * number. */
#ifndef PERFMON_REGION_REGION_H
#define PERFMON_REGION_REGION_H

#include <limits.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>
#define PFM_REGION_NO_MACROS
#include <perfmon/region.h>

/* ---- memory.c ---------------------------------------------------------------------------- */

struct chunk {
	struct chunk *next;
	size_t size;
};

struct arena {
	char *at, *end;
	struct chunk *chunks;
};

/* Allocates @size bytes of zeros, at most 1 GiB. NULL without memory. Async-signal-safe. */
void *pfmi_arena_alloc(struct arena *a, size_t size);
void pfmi_arena_free(struct arena *a);
/* Makes all pages of @a writable without a page fault. */
void pfmi_arena_populate(const struct arena *a);

/* ---- names.c ----------------------------------------------------------------------------- */

/* Numbers of the regions that measure the cost; these have no names and are not in results. */
enum own_region { EMPTY_REGION = 1, OUTER_REGION, LAST_OWN_REGION = OUTER_REGION };
static inline bool pfmi_region_is_own(uint32_t number)
{
	return number <= LAST_OWN_REGION;
}
/* Number of the region called @name, above LAST_OWN_REGION; 0 without memory. */
uint32_t pfmi_region_find_or_make_number(const char *name);
pfm_region_t *pfmi_region_find_or_make(const char *name);
const char *pfmi_region_get_name(uint32_t number);
uint32_t pfmi_region_get_last_number(void); /* LAST_OWN_REGION before the first name */

/* ---- events.c, layout.c
 * ---------------------------------------------------------------------------- */

enum {
	GROUP_NR,
	GROUP_ENABLED,
	GROUP_RUNNING,
	GROUP_VALUES
}; /* positions of words in the kernel's reading of a group */

/* Events that one read(2) reads together. */
struct group {
	unsigned n;
	unsigned *events; /* indices, the leader first */
	unsigned word;    /* index of its reading in a snapshot */
	unsigned sums;    /* index of its sums in those of an entry (sums.h) */
	unsigned first_fd;
	int n_system; /* 0: counts in tasks; else the number of CPUs on which it counts the whole
	                 machine */
	const int *system_fds; /* cpu_fds of the event */
};

/* Groups that count at the same time. */
struct round {
	unsigned n;
	struct group *groups;
	unsigned words; /* in a snapshot */
	unsigned sums;  /* index of its sums in those of an entry */
};

/* The uncertainty of a measured cost: half-widths of 95 % intervals. */
struct uncertainty {
	double mean;  /* of the median as the mean of many visits */
	double visit; /* of a single visit */
	double first; /* of the first visit of a thread */
};

struct region_event {
	char *name, *unit, *why, *remedy, *cpus;
	perfmon_attr_t attr;
	double scale;
	pfm_quality_t quality;
	pfm_cause_t cause;
	unsigned session_group, round;
	bool countable, soft, system;
	int n_cpu_fds, *cpu_fds; /* event of the whole machine: one descriptor for each CPU */
	double cost_inside, cost_pair;
	struct uncertainty inside, pair; /* of the costs */
};

struct layout {
	pfm_ctx_t *ctx;
	pfm_session_t *session;  /* a session that opens nothing, for computing metrics */
	unsigned max_group_size; /* limit of events in a group; 0: as many as the kernel accepts */
	unsigned n_events;
	struct region_event *events;
	unsigned n_rounds;
	struct round *rounds;
	unsigned words; /* number of words in the largest snapshot */
	unsigned sums;  /* number of words in the sums of an entry */
	unsigned n_fds;
	unsigned n_metrics;
	double wall_inside, wall_pair, task_inside; /* nanoseconds */
	struct uncertainty inside, pair;            /* of the first two */
	bool is_pretended; /* the machine is a pretended one: no count is exact */
	bool is_simulated; /* an emulator counts (simulated.c) */
};

/* True if @c has a value. */
static inline bool pfmi_region_has_count(const pfm_region_count_t *c)
{
	return pfm_counter_quality(c->quality, c->cause) <= PFM_QUALITY_PARTIAL;
}

static inline bool pfmi_region_is_software(const perfmon_attr_t *a)
{
	return a->type == PERF_TYPE_SOFTWARE || a->type == PERF_TYPE_TRACEPOINT;
}

/* Fills l->events with those of @events, a list as the user writes it; with @system also those that
 * only the whole machine can count. */
int pfmi_layout_open_events(struct layout *l, const char *events, bool system, pfm_error_t *error);
void pfmi_layout_close_events(struct layout *l);
/* Opens @e on each of its CPUs that is on line; false if the kernel refuses one of them. */
bool pfmi_region_open_on_cpus(struct region_event *e);
/* Opens the session that computes metrics of @l, whose list is @events. Without it there are no
 * metrics. */
void pfmi_layout_open_metrics(struct layout *l, const char *events);
/* Plans @events, a list as the user writes it, for the tasks of this process. */
int pfmi_layout_plan(struct layout *l, const char *events, bool system, pfm_error_t *error);
/* simulated.c: true if the program runs in the emulator of pfm stat --simulate. */
bool pfmi_region_is_simulated(void);
/* Puts the emulator's counts among @events into a group. */
int pfmi_layout_plan_simulated(struct layout *l, const char *events, pfm_error_t *error);
/* Reads them as read(2) reads a group, at the time @wall. */
void pfmi_region_read_simulated(const struct layout *l, uint64_t wall, uint64_t *out);
/* Assigns each group its places in snapshots, in sums and among a thread's descriptors. */
void pfmi_layout_assign_places(struct layout *l);
void pfmi_layout_free(struct layout *l);

/* ---- threads and what they count --------------------------------------------------------- */

/* Results of one event in the outermost visits of an entry. */
struct tally {
	uint64_t inclusive, exclusive;
	uint64_t visits, exclusive_visits;
	uint64_t pairs, children; /* visits inside, and visits directly inside: the counts contain
	                             their cost */
	uint64_t min, max;
	double mean, m2;
};

/* Results of an entry: visits and times. */
struct times {
	uint64_t visits, outermost;
	uint64_t wall, exclusive, min, max;
	uint64_t pairs, children;
	uint64_t task, task_visits;
	double mean, m2;
};

/* A number of 128 bits. */
struct wide {
	uint64_t low, high;
};

/* Sums of one event, or of the wall time, that a thread writes. */
struct span {
	uint64_t inclusive;  /* sum of visits that are not inside a visit of the same region */
	uint64_t nested;     /* sum of visits inside a visit of the same region */
	uint64_t inside;     /* sum of the visits directly inside either kind */
	uint64_t cost;       /* cost of begin and end of the visits inside */
	uint64_t min, max;   /* of inclusive visits; UINT64_MAX before the first one */
	struct wide squares; /* sum of squares of inclusive visits */
};

/* Visits of a round, or only those in which a group was not counted from begin to end. */
struct visit_sums {
	uint64_t visits, nested;
	uint64_t pairs, children;
};

struct group_sums {
	struct visit_sums without;
	uint64_t task, unread; /* nanoseconds on a CPU; visits without that time that are not inside
	                          a visit of the same region */
};

enum { ENTRY_BRANCHES = 4 };

/* One region under one parent in one thread. */
struct entry {
	struct entry *next;
	struct entry *others[ENTRY_BRANCHES]; /* of the region, by parts of their parents' hashes */
	struct node *node;
	/* From here on a file of sums has it (storage.h). */
	uint32_t region, parent;
	uint32_t sequence; /* odd while the thread writes */
	uint32_t threads;  /* whose visits are summed; 0: moved to another entry */
	uint64_t begun;    /* number of visits, open ones included */
	struct span wall;
	uint64_t sums[]; /* layout.sums words: of each round, then of each group in it */
};

/* A region in one thread. */
struct node {
	struct entry *entries;      /* the first one, the root of the others */
	struct entry *last;         /* the entry of the last visit */
	const struct entry *around; /* the entry that encloses it */
	uint64_t begun;             /* number of visits begun, which selects the round */
	uint32_t depth;             /* open visits */
};

enum { NODES = 64 };      /* nodes in a page */
enum { BEFORE_FORK = 0 }; /* generation of visits that began before a fork */

struct frame {
	struct entry *entry;
	uint32_t generation;
	uint64_t wall, wall_children;
	uint64_t pairs, children;
	uint64_t words[]; /* the snapshot at the begin, followed by sums of the visits directly
	                     inside */
};

struct thread {
	struct arena arena;
	struct thread *next;
	int tid;
	bool opened, ended;
	int open_errno;
	unsigned round;
	uint32_t generation; /* visits that began in another generation are not counted */
	uint32_t epoch;      /* of the process when its pages were last touched */
	unsigned depth, size;
	size_t stride;
	char *frames; /* one unused frame precedes the first */
	unsigned n_pages;
	struct node **nodes; /* pages of NODES nodes */
	struct entry *entries, **last;
	struct region_chunk *chunks; /* of entries, the newest first */
	size_t chunk_bytes;
	int *fds;
	void **pages; /* for reading in user space: the pages of all events of a group, or NULL */
	/* The group of this round if user space reads it; the wall time is read there, too. NULL:
	 * the kernel reads it. */
	const struct group *user_group;
	unsigned handles;
	uint32_t run; /* copy of the run number in pfm_regions: a stop discards open visits */
	uint64_t missed, unmatched;
	uint32_t unmatched_region; /* of the first end without a begin */
	uint64_t *now;
	struct slice_page *slices; /* slices.c: the page of the next slice */
	uint64_t *probe;           /* cost.c: what the next visit counts, and its wall time */
	uint64_t *probe_wall;
};

struct output_file {
	ino_t inode;
	off_t size;
	struct timespec time; /* of its last change */
};

/* The state of the process. */
struct regions {
	pthread_mutex_t lock;
	bool started;
	const char *events; /* list of events that counting was started with */
	unsigned flags;
	uint32_t epoch; /* number of forks */
	uint32_t run;   /* number of stops */
	struct layout layout;
	struct thread *threads;
	unsigned n_ended;
	struct thread *pool; /* sums of ended threads that have no record of their own */
	struct arena arena;  /* memory of names and handles */
	char output[4096];
	const char *format;
	struct output_file earlier;
	bool keeps_slices;
	bool keeps_file; /* the reader of the folder takes the file of sums: no results are written
	                  */
};

extern struct regions pfmi_regions;

/* The calling thread's state. The initial-exec model makes it accessible in signal handlers,
 * without a call that may allocate. */
struct caller {
	struct thread *thread;
	/* IN_CALL, UNPREPARED, or the value of perfmon_regions_active for which the thread is
	 * prepared */
	int state;
	int active;    /* next state, set by the call in progress */
	unsigned busy; /* the lock is taken: a call in a signal handler is not counted */
};
enum { UNPREPARED = INT_MIN, IN_CALL };
extern __thread struct caller pfmi_region_caller __attribute__((tls_model("initial-exec")));

/* Takes the lock of the process. Prevents signal handlers of this thread from waiting for it. */
void pfmi_regions_lock(void);
void pfmi_regions_unlock(void);

/* ---- counters.c -------------------------------------------------------------------------- */

/* Opens @from for the calling thread. Returns a descriptor or -errno. */
int pfmi_region_open_event(const perfmon_attr_t *from, int pid, int cpu, int group, bool disabled);
/* Opens all events of @g for the calling thread into @fds, or none of them. Returns 0 or an errno.
 * Whether a group fits is tried with this function as well. */
int pfmi_region_open_group(const struct region_event *events, const struct group *g, bool to_try,
                           int *fds);
/* Opens the counters of thread @t, which is the caller. */
void pfmi_thread_open_counters(struct thread *t);
void pfmi_thread_close_counters(struct thread *t);
/* Reads all groups of the round to @out. A group that cannot be read has 0 events. */
void pfmi_thread_read_counters(const struct thread *t, uint64_t *out);
/* Returns the wall time for a begin or end in @t. */
uint64_t pfmi_thread_get_time(const struct thread *t);
void pfmi_thread_switch_round(struct thread *t, unsigned round);
uint64_t pfmi_region_get_wall_time(void);

/* ---- entry.c ----------------------------------------------------------------------------- */

/* Returns the entry of @region under @parent in @t, creating it if necessary; NULL without memory.
 * Stores the region's node in *@node. */
struct entry *pfmi_thread_find_or_make_entry(struct thread *t, uint32_t region, uint32_t parent,
                                             struct node **node);
/* Returns the node of @region; NULL before its first entry. */
static inline struct node *pfmi_thread_find_node(const struct thread *t, uint32_t region)
{
	unsigned page = region / NODES;

	return page < t->n_pages && t->nodes[page] ? &t->nodes[page][region % NODES] : NULL;
}
void pfmi_entry_clear(struct entry *e);
/* Counts of one visit. */
struct visit {
	const uint64_t *start, *now,
		*inside; /* snapshots; @inside: sums of the visits directly inside, or NULL */
	const uint64_t *overlapping; /* snapshot of the begin of a visit that began inside and is
	                           still open, or NULL */
	unsigned round;
	bool is_complete; /* one round was counted during the whole visit */
	bool outermost;   /* no other visit of the same region is open */
	uint64_t wall, wall_inside, pairs, children;
};
/* True if group @g was on its counters from begin to end of @v. */
bool pfmi_visit_has_group(const struct visit *v, const struct group *g);
void pfmi_entry_add_visit(struct entry *e, const struct visit *v);
/* Adds one group of a visit, like pfmi_entry_add_visit() for all groups. */
void pfmi_entry_add_group(struct entry *e, const struct visit *v, const struct group *g);
/* Adds the sums of @from, which no thread writes, to those of @to. */
void pfmi_entry_merge(struct entry *to, const struct entry *from);
/* Copies @e consistently, while no visit updates it, to @copy. */
void pfmi_entry_copy(struct entry *copy, const struct entry *e);
static inline size_t pfmi_entry_get_size(const struct layout *l)
{
	return sizeof(struct entry) + l->sums * sizeof(uint64_t);
}
/* Computes the results of @e, which no thread may be writing. */
void pfmi_entry_compute_times(const struct layout *l, const struct entry *e, struct times *times);
void pfmi_entry_compute_tallies(const struct layout *l, const struct entry *e,
                                struct tally *tallies);
/* Adds @from to @to. */
void pfmi_region_add_times(struct times *to, const struct times *from);
void pfmi_region_add_tally(struct tally *to, const struct tally *from);

/* ---- slices.c ---------------------------------------------------------------------------- */

#define SLICE_NOT_COUNTED UINT64_MAX

/* One visit. */
struct visit_slice {
	uint64_t begin, end; /* CLOCK_MONOTONIC, nanoseconds */
	uint64_t wall;       /* less than end - begin where a handle was suspended */
	uint64_t pairs;      /* visits inside: their cost is in the counts */
	uint32_t region;
	int32_t tid;       /* number of the thread that ended it */
	uint32_t overlaps; /* 1: ended while a visit that began inside was open, or held by a handle
	                    */
	uint32_t reserved;
	uint64_t counts[]; /* count of each event; SLICE_NOT_COUNTED if missing */
};

struct slice_times {
	uint64_t begin, end;
	bool overlaps;
};

struct slice_list {
	size_t n;
	const struct visit_slice *
		*items;   /* sorted by thread, then by begin, enclosing visits first */
	uint64_t dropped; /* visits beyond the limit of memory */
};

void pfmi_slices_add_visit(struct thread *t, uint32_t region, const struct visit *v,
                           const struct slice_times *times);
/* Lets another thread use the page of a thread that ends. Call this with the lock held. */
void pfmi_slices_release_page(struct thread *t);
/* Releases all slices, in the child of a fork. */
void pfmi_slices_forget(void);
/* Lists all slices of @r, or of this process until now; free(3) @list->items. The slices stay.
 * False without memory. */
bool pfmi_slices_collect(const pfm_region_results_t *r, struct slice_list *list);
static inline size_t pfmi_slice_get_size(const struct layout *l)
{
	return sizeof(struct visit_slice) + l->n_events * sizeof(uint64_t);
}

/* ---- output.c ---------------------------------------------------------------------------- */

/* Writes the path of this process's results, where %p is its id. A forked process adds its id to
 * avoid sharing a file. False without a path. */
bool pfmi_region_build_path(char *path, size_t size, const char *suffix);

/* ---- process.c, storage.c, storage_events.c, attach.c ---------------------------------- */

#define REGION_FILE_SUFFIX ".regions"

enum { MAX_FILE_EVENTS = 1024, MAX_FILE_GROUPS = 4096 };

struct region_process {
	int pid, rank; /* rank: -1 if the environment has none */
	bool has_ended, is_incomplete;
	uint64_t start_time;
	uint64_t more; /* other processes whose results were added */
	char program[64];
};

/* The process of @p is this one. */
void pfmi_region_fill_process(struct region_process *p);
/* Creates the file of this process, with an empty header. NULL on failure, which sets errno, and if
 * it was tried before. */
struct region_file_header *pfmi_storage_open_file(void);
/* The header of the file; NULL without a file. */
struct region_file_header *pfmi_storage_get_header(void);
/* Moves the sums of @t to the file. */
void pfmi_storage_move_to_file(const struct thread *t);
/* Returns room for @bytes of events; NULL without memory. */
void *pfmi_storage_make_events(size_t bytes);
/* Readers see the events. Returns them. */
void *pfmi_storage_commit_events(void);
/* Creates the file of this process if results go to a folder, and moves its chunks there. Call this
 * with the lock held. */
void pfmi_storage_attach(void);
/* Writes the measured costs to the file. */
void pfmi_storage_put_costs(void);
/* Notes that the process ends. Removes the file unless @is_kept. */
void pfmi_storage_end(bool is_kept);
void pfmi_storage_count_dropped(uint64_t n);
/* Writes a new name. Call this with the lock held. */
void pfmi_storage_put_name(uint32_t number, const char *name);
/* Returns memory for an entry of @t, zeros; NULL without memory. */
void *pfmi_storage_alloc_slot(struct thread *t, size_t bytes);
/* Readers see the entry that was allocated last. */
void pfmi_storage_commit_slot(const struct thread *t);
/* Writes the numbers of missed calls and unmatched ends of @t. */
void pfmi_storage_note(const struct thread *t);
/* Writes the number of @t. */
void pfmi_storage_set_thread(const struct thread *t);
/* Frees the entries of @t. */
void pfmi_storage_release(struct thread *t);
/* Call these before and after the sums of @e of @from are added to those of @sum of @to. */
void pfmi_storage_begin_merge(const struct thread *to, const struct entry *sum,
                              const struct thread *from, const struct entry *e);
void pfmi_storage_end_merge(struct entry *e);
struct region_chunk *pfmi_storage_make_visit_chunk(size_t bytes);
/* In the child of a fork: releases the entries of a thread of the parent; replaces everything of
 * the parent's file by memory. The latter is false without memory. */
void pfmi_storage_forget_thread(struct thread *t);
bool pfmi_storage_detach(struct thread *self);
/* Writes the events of @l, whose list is @list, to @to. Returns the number of bytes; @to may be
 * NULL. */
size_t pfmi_storage_write_events(const struct layout *l, const char *list, void *to);
/* Reads them from @n bytes, which may hold anything. Returns the list, to be freed; NULL if they
 * are damaged, or without memory. Free @l in either case. */
char *pfmi_storage_read_events(struct layout *l, const void *bytes, size_t n);

/* Reports a value of the environment on standard error: the program did not choose it and may have
 * no message for it. Control bytes of the value do not reach the terminal. */
void pfmi_region_print_message(const char *variable, const char *text);
/* Reports files that the environment named. A program checks the files that it names itself. */
void pfmi_region_print_lost_output(const char *path, int err);

/* ---- thread.c ---------------------------------------------------------------------------- */

/* Returns the calling thread, creating its record if necessary; NULL without memory. */
struct thread *pfmi_thread_get_current(void);
int pfmi_thread_install_handlers(void);

/* ---- visit.c, handle.c ------------------------------------------------------------------- */

bool pfmi_region_enter_call(struct thread **t);
void pfmi_region_leave_call(void);
uint32_t pfmi_region_get_id(pfm_region_t *region);
/* Measures the cost of begin and end in the calling thread. */
void pfmi_regions_measure_cost(void);

/* ---- cost.c, start.c --------------------------------------------------------------------- */

/* Begin and end, whose cost is measured. */
struct region_marks {
	void (*begin)(pfm_region_t *region), (*end)(pfm_region_t *region);
};
void pfmi_region_measure_cost(struct thread *t, const struct region_marks *marks);
/* Starts counting at the first begin if the environment requests it. True if regions are counted.
 * *@is_first: this call started it, and the cost is to be measured. */
bool pfmi_regions_start_from_environment(bool *is_first);
/* pfm_start_regions() except for the measurement. */
int pfmi_regions_start(const pfm_regions_options_t *options, bool *is_first, pfm_error_t *error);

/* ---- subtract.c -------------------------------------------------------------------------- */

/* The costs of begin and end that are in the counts of visits and of those inside. */
struct overhead {
	uint64_t cost, error; /* error: half-width of its 95 % interval */
	double mean, visit;   /* uncertainty of the cost of a visit with those inside it */
};

/* Square root, because the library does not use libm. */
double pfmi_region_compute_root(double v);
/* @value as an integer, 0 if it is negative. */
uint64_t pfmi_region_round(double value);
/* The overhead of @visits with @pairs visits inside them, of event @e; NULL: of the wall time. */
struct overhead pfmi_region_compute_overhead(const struct layout *l, const struct region_event *e,
                                             uint64_t visits, uint64_t pairs);
/* The counts of @visits in @threads threads, each of which had a first visit; @pairs visits were
 * inside them. @sum and the smallest count @min contain the cost of begin and end, @sum also that
 * of the visits inside. */
struct counted_visits {
	uint64_t visits, pairs, sum, min, threads;
};
/* Adds costs that few visits have to the error of @o: those of first visits and interrupts. */
void pfmi_region_add_rare_costs(struct overhead *o, const struct layout *l,
                                const struct region_event *e, const struct counted_visits *v);
/* The overhead in own counts. These leave out what one of the @children visits directly inside
 * counts itself, but contain the rest of what its begin and end cost. */
struct overhead pfmi_region_compute_own_overhead(const struct layout *l,
                                                 const struct region_event *e, uint64_t visits,
                                                 uint64_t children);
/* 0 if @value of @visits, without the cost @o, is distinguishable from 0. Otherwise the number of
 * visits after which the error of a visit is half its value; UINT64_MAX if no number is enough. */
uint64_t pfmi_region_find_enough_visits(uint64_t value, uint64_t visits, const struct overhead *o);

/* ---- results.c --------------------------------------------------------------------------- */

struct result_row {
	uint32_t region, parent;
	int tid;
	uint64_t threads, open;
	bool is_torn; /* the process ended in the middle of an end: its counts may be in a part of
	               * the sums */
	struct times times;
	struct tally *tallies;
};

struct pfm_region_results {
	const struct layout *layout;
	struct region_process process;
	struct region_loaded *loaded; /* what was read from a file; NULL: results of this process */
	unsigned n;
	struct result_row *rows;
	uint64_t missed, unmatched;
	uint32_t unmatched_region; /* of one of these ends */
	unsigned flags;
};

/* Adds a row of zeros to @r, which has room for *@size rows. NULL without memory. */
struct result_row *pfmi_results_add_row(pfm_region_results_t *r, unsigned *size);
/* Orders rows by region in the order of their first begin, then by parent, then by thread. */
int pfmi_results_compare_rows(const void *a, const void *b);
/* Fills @row from @e, which no thread may be writing. False if it has no visit: free the row. */
bool pfmi_results_fill_row(const pfm_region_results_t *r, struct result_row *row,
                           const struct entry *e, int tid);
/* Adds the rows of all threads together and sorts all rows. False without memory. */
bool pfmi_results_add_sums(pfm_region_results_t *r, unsigned *size);
int pfmi_results_describe_event(const pfm_region_results_t *r, unsigned i,
                                pfm_region_event_t *event);
const char *pfmi_results_get_name(const pfm_region_results_t *r, uint32_t number);
unsigned pfmi_results_get_last_number(const pfm_region_results_t *r);

/* ---- load.c ---------------------------------------------------------------------------------- */

/* Results that were read from a file. */
struct region_loaded {
	struct layout layout;
	uint32_t last_number;
	char **names; /* by number */
	size_t n_visits, visits_room;
	struct visit_slice **visits;
	size_t n_buffers;
	void **buffers; /* that visits are in */
	uint64_t dropped;
};

void pfmi_region_unload(struct region_loaded *loaded);
/* Gives the next number to a name. False without memory. */
bool pfmi_loaded_add_name(struct region_loaded *to, const char *bytes, size_t length);

/* Returns the numbers of the threads that @r has results of, sorted; free(3) them. NULL without
 * memory. */
int *pfmi_region_list_threads(const pfm_region_results_t *r, unsigned *n);

/* ---- text.c, write.c ------------------------------------------------------------------------- */

enum { REAL_SIZE = 400 };
/* A real number with @digits after its point, which is a point in every locale. */
const char *pfmi_region_format_real(int digits, double value, char number[REAL_SIZE]);
void pfmi_region_put_real(FILE *out, int digits, double value);
void pfmi_region_put_exponent(FILE *out, double value);
/* @text as a JSON string with its quotes. */
void pfmi_region_put_json(FILE *out, const char *text);
/* The program of @r with its rank, if it has one, as a JSON string. */
void pfmi_region_put_process_name(FILE *out, const pfm_region_results_t *r);
/* @ns as microseconds. */
void pfmi_region_put_us(FILE *out, uint64_t ns);
/* @ns as milliseconds. */
void pfmi_region_put_ms(FILE *out, uint64_t ns);
/* Computes the count of event @k in slice @s, minus the cost of begin and end unless @r disables
 * that. False if it was not counted. */
bool pfmi_slice_compute_count(const pfm_region_results_t *r, const struct visit_slice *s,
                              unsigned k, uint64_t *count);
/* Writes the results. False without memory. */
typedef bool region_write_fn(FILE *out, const pfm_region_results_t *r);
/* Single visits (slices) in a format: it has none, writes sums in their place if they were not
 * kept, or cannot be written without them. */
enum slice_use { NO_SLICES, USES_SLICES, NEEDS_SLICES };
/* A format of results. */
struct region_format {
	char name[8];
	char suffix[16]; /* of its files */
	enum slice_use slices;
};
/* The format called @name, NULL for an unknown name. */
const struct region_format *pfmi_region_find_format(const char *name);
region_write_fn pfmi_region_write_table, pfmi_region_write_json, pfmi_region_write_csv,
	pfmi_region_write_likwid, pfmi_region_write_papi, pfmi_region_write_chrome,
	pfmi_region_write_firefox;

#endif
