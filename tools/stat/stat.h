/* SPDX-License-Identifier: MIT */
/* pfm stat: the command (stat.c), its options (options.c), the process that it counts
 * (child.c), tasks (tasks.c), control groups (cgroups.c), sessions (targets.c),
 * lists of events (list.c), waiting
 * and counting (count.c), rows of the result (rows.c), and their output
 * (report.c). */
#ifndef PFM_STAT_H
#define PFM_STAT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <perfmon/aggregate.h>
#include <perfmon/perfmon.h>
#include "base/child.h"
#include "stat/control.h"
#include "common/event_list.h"
#include "common/json.h"
#include "series/openmetrics.h"
#include "common/rotation.h"
#include "common/slot_error.h"

enum {
	NS = 1000000000,
	NOT_FOUND = 127, /* exit status of shells for a missing command */
	NOT_RUN = 126,
	LABEL_MAX = 80,
	TARGET_MAX = 256
};

/* ---- counts (rows.c) ------------------------------------------------------------------------- */

/* Unit over which a row sums counts, within a control group. */
enum aggregation { BY_NOTHING, BY_CPU, BY_CORE, BY_DIE, BY_SOCKET, BY_NODE, BY_THREAD };

/* The event of a text. */
struct event_at {
	int pmu; /* negative: unknown event */
	unsigned event;
};

/* A row of the result: the sum of the counts of one event with the same label. */
struct stat_row {
	const struct stat_target *part; /* the target of its counts; NULL: pfm's own count */
	/* Properties of its counts. Texts are copies in words, which outlive the session; cause and
	 * remedy, copied to reason, are those of the worst run or interval. */
	pfm_count_info_t info;
	char *words, *reason;
	char *event; /* name without the level that was added for lack of permission */
	const struct stat_target *worst; /* the worst count of this run */
	unsigned worst_count;
	/* Set by prepare_ratios(): the event of its text, and the equal generic event or the same
	 * event. */
	struct event_at named, at;
	const char *own; /* name of pfm's own count of time, which is not in a session; else NULL */
	char *label;
	size_t place;     /* position in the label after the control group: CPU, core, thread ... */
	bool was_counted; /* true if it had a value in some run or interval */
	pfm_count_sum_t sum;          /* sum of this run or interval */
	pfm_tally_t tally;            /* statistics of all runs, or of this interval */
	pfm_count_part_t *slices;     /* counts at each slice of time, or NULL (slices.c) */
	struct slot_rates slot_rates; /* with --rotate */
};

enum { MAX_TARGET_LABELS = 8 };

struct target_label {
	const char *name;
	char *value;
};

/* A session of its own: counts of a task, of a control group, or of everything on the listed
 * CPUs. */
struct stat_target {
	int pid;     /* 0: the command, or no task */
	bool thread; /* counts this thread alone */
	char *cgroup, *label;
	uint64_t cgroup_id;          /* for groups found by a pattern: the inode of the folder */
	bool is_gone;                /* the group has been removed */
	bool has_ended;              /* and its last counts have been served */
	bool is_hidden;              /* its series wait for their labels */
	uint64_t seen;               /* time at which it was found */
	struct target_label *labels; /* instead of that of the group; NULL: without */
	unsigned n_labels;
	unsigned first, n_texts; /* its range of the job's events */
	pfm_session_t *session;
	struct alpha_emulator *emulator; /* device of the session, or NULL */
	unsigned n;
	/* current counts, and those at the start of the interval, of the slice, and at the end of
	 * the last turn */
	pfm_count_t *counts, *earlier, *slice_counts, *turn_counts;
	unsigned *rows; /* the row of each count */
	/* With --rotate: turn and plan group of each group of the session. */
	unsigned n_groups, *turns, *planned_groups;
	unsigned char *is_on;
	int watch;             /* descriptor that is readable when the process has ended, or -1 */
	double unseen_seconds; /* processor time of the command that was not counted */
	bool ran_unwatched;    /* unseen_seconds is longer than a tick */
	bool lost_rights;      /* the file of the command tells why: stat_job.rights_facts */
	char unseen_facts[64]; /* the times that were read */
};

struct stat_job;
struct stat_result;
struct stat_targets;
/* True if the count has a value to show. */
bool has_value(const pfm_count_t *count);
/* True if the value was extrapolated from a part of the time. */
bool is_scaled(const pfm_count_t *count);
/* Makes the rows for the counts of an opened session, and for pfm's own. False without memory. */
bool make_rows(struct stat_job *job, struct stat_target *part);
bool make_own_rows(struct stat_job *job);
/* Adds the counts to the rows: those since the beginning, or since the last interval. */
void gather_rows(struct stat_job *job, bool interval);
/* Adds the counts since the last slice to the current slice. */
void gather_slice(struct stat_job *job);
/* With --rotate: adds the counts since the last slice to the rows' current slots. */
void gather_slot(struct stat_job *job);
/* Sets pfm's own counts, in seconds; negative: unknown. Call this before gather_rows(). */
void set_own_counts(struct stat_job *job, double elapsed, double user, double system);
/* True if each count of @part's session still has the label and event of its row, and has not
 * become a refused one. */
bool has_rows_of_counts(const struct stat_job *job, const struct stat_target *part);
void free_row(struct stat_row *row);
void free_rows(struct stat_result *result);
/* True if rows have labels. */
bool has_row_labels(const struct stat_job *job);
/* The standard error of the mean, in percent of the mean. */
double compute_relative_deviation(const pfm_tally_t *t);
/* Returns @text if it is an event of pfm's own: duration_time, user_time, system_time. Else
 * NULL. */
const char *find_own_event(const char *text);

/* ---- targets and their sessions (targets.c) -------------------------------------------------- */

/* Reports what is wrong with @text, as a JSON object if the output is JSON. */
void report_stat_refusal(const struct stat_job *job, const char *text, const pfm_error_t *error);
/* Creates the targets. Returns an exit status, after an error message. */
int make_targets(struct stat_job *job);
/* Opens all sessions. @pid: the task of parts that name no task. */
int open_targets(struct stat_job *job, int pid);
int start_targets(struct stat_job *job);
void stop_targets(struct stat_targets *targets);
int read_targets(struct stat_targets *targets);
/* Compares the counts with the processor time, in seconds, of the command and its children: the
 * kernel removes the events of a task without notice when the task executes a program that has more
 * rights than its caller, or that may not be read. */
void check_unwatched_time(struct stat_job *job, double seconds);
/* True if all tasks of the job have ended. */
bool have_targets_ended(const struct stat_targets *targets);
/* True if, at the last reading, a CPU has come on line on which something is not counted. */
bool misses_cpu(const struct stat_targets *targets);
/* Opens and starts the counts of these CPUs again, from 0. Prints errors and returns an exit
 * status. */
int reopen_targets(struct stat_job *job);
void close_targets(struct stat_targets *targets);
void free_target(struct stat_target *p);
void free_targets(struct stat_job *job);
/* Opens all events without counting, to refuse invalid ones. Returns an exit status, after an error
 * message. */
int refuse_bad_events(struct stat_job *job);
/* Removes invalid events from the list, and notes them as refused, after an error message. Returns
 * an exit status. */
int drop_bad_events(struct stat_job *job);
/* Opens the session of @p, which the caller has prepared, without messages. */
int open_new_target(struct stat_job *job, struct stat_target *p);
/* Adds a target for @n events of the job from number @first on. NULL without memory. */
struct stat_target *add_target(struct stat_targets *targets, unsigned first, unsigned n);

/* Adds the requested processes, then threads of other processes, as targets. Returns an exit
 * status, after an error message. (tasks.c) */
int add_tasks(struct stat_job *job);

/* ---- control groups (cgroups.c) -------------------------------------------------------------- */

/* Finds the mount of the control groups that perf counts and samples: the hierarchy of perf_event,
 * or version 2. */
bool find_perf_cgroup_mount(char *path, size_t size);
/* True if @name is a control group: a path below their mount. */
bool has_cgroup(const char *name);
/* Adds the groups of -G as targets. Returns an exit status, after an error message. */
int add_cgroups(struct stat_job *job);

struct cgroup_figures {
	/* omitted: groups that would have exceeded the limit of series, or for which files lacked;
	 * the latter for themselves; names without a pattern that are no group */
	uint64_t n_born, n_gone, n_omitted, n_without_files, n_missing;
	uint64_t n_failures; /* times that the groups could not be listed */
	unsigned files_each; /* files of a group; 0: unknown */
	char mount[4096];    /* of the groups; "": not found so far */
};

/* Opens new control groups, up to @most_series series, and removes those that are gone. Returns an
 * exit status, after an error message. */
int update_cgroups(struct stat_job *job, size_t most_series, bool is_counting,
                   struct cgroup_figures *figures);

/* ---- the command (child.c) ------------------------------------------------------------------- */

/* Name of the command in messages: "pfm stat", unless it is changed. */
extern const char *program_name;
int child_prepare(char *const *command, const sigset_t *mask, struct child *c);
/* Starts the command. Returns an exit status if it cannot be executed, else EXIT_DONE. */
int child_start(char *const *command, struct child *c);
/* Sends the signal, and wakes a stopped command so that it gets the signal. */
void child_signal(const struct child *c, int sig);
/* The exit status for the end of the command. Reports a signal that ended it. */
int child_get_status(const char *name, int status);
/* The command as it would be typed in a shell, cut at @size. Returns @buf. */
char *quote_command(char *const *command, char *buf, size_t size);

/* ---- metrics (metric*.c, ratios.c) ----------------------------------------------------------- */

struct stat_metric {
	int pmu;
	unsigned event;
	struct event_at first; /* for ratios: the event of the count beside which it is shown */
	bool is_beside_count;  /* true if this report shows it beside a count */
};

struct stat_metrics {
	struct stat_metric *at;
	unsigned n;
};

/* A ratio that is shown beside a count. */
struct ratio {
	const char *name, *unit;
	double value;
	pfm_quality_t quality; /* the worst quality of its counts */
};

/* Finds the requested metrics and adds groups with their events. Returns an exit status. */
int plan_stat_metrics(struct stat_job *job);
void free_stat_metrics(struct stat_job *job);
/* The name of PMU @number if metrics of several PMUs were requested, else "". */
const char *get_common_pmu(const struct stat_job *job, int number);
/* Adds the metrics among the texts of -e. False without memory. */
bool add_session_metrics(struct stat_result *result, const pfm_session_t *session);
/* Computes a metric from the rows of @label. False if that is impossible; the value may still be
 * undefined. */
struct metric_answer;
bool compute_stat_metric(const struct stat_job *job, const struct stat_metric *m, const char *label,
                         double elapsed, struct metric_answer *out);
/* Finds the events of the rows, and the usual ratios unless metrics were requested. False without
 * memory. */
bool prepare_ratios(struct stat_job *job);
/* Finds the ratio to show beside the count of @row: a ratio of the tables if all its events were
 * counted, or events per second of task time. */
bool compute_row_ratio(const struct stat_job *job, const struct stat_row *row, double elapsed,
                       struct ratio *out);
/* Reports metrics; as text also the ratios that belong to no count. */
void report_metrics(const struct stat_job *job, double elapsed, double time);

/* ---- slices of time (slices.c) ------------------------------------------------------------ */

/* True if counts must be read in slices of time, to estimate the error of extrapolation. */
bool needs_slices(const struct stat_job *job);
/* Discards the slices, at the start of an interval. */
void free_slices(struct stat_job *job);
/* Starts a slice. Returns its length in nanoseconds. */
uint64_t begin_slice(struct stat_job *job);
/* Adds the count of @row to slice number @slice. */
void add_to_slice(struct stat_row *row, unsigned slice, const pfm_count_t *count);
/* Ends the current slice. */
void end_slice(struct stat_job *job);

/* ---- metrics as a tree (tree.c) -------------------------------------------------------------- */

/* Sorts the metrics into the order of their tree: each after its parent. False without memory. */
bool order_metric_tree(struct stat_job *job);
/* True if the metric is among those that were requested. (metrics.c) */
bool is_requested_metric(const struct stat_result *result, int pmu, unsigned event);
/* True if @child is a part of @parent. */
bool is_child_metric(const struct stat_job *job, const struct stat_metric *child,
                     const struct stat_metric *parent);
/* Suggests metrics to count next, because their parent exceeds its threshold. */
void report_children(const struct stat_job *job, double elapsed);
/* Writes the page of --html. Returns EXIT_DONE, or EXIT_REFUSED after a message. */
int write_page(const struct stat_job *job, double elapsed);

/* ---- counts over time as a page (interval_page.c) -------------------------------------------- */

/* Keeps the counts of the interval that ends at @time for the page of -I and --html. */
void note_interval(struct stat_job *job, double elapsed, double time);
/* Writes that page. Returns EXIT_DONE, or EXIT_REFUSED after a message. */
int write_interval_page(struct stat_job *job);

/* Options of what is counted and how it is shown. */
struct stat_options {
	const char *cpus, *model, *output, *separator, *html;
	bool all_cpus, json, dry_run, no_inherit, append, verbose, table, no_ratios;
	enum exposition_format format; /* of --format */
	bool has_full_quality;         /* a series for each state of quality */
	enum aggregation by;
	unsigned detail;
	uint64_t given_options; /* a bit for each option of stat_options[] */
};

/* An event or a metric that this machine does not have. */
struct refused_name {
	char *text;
	char cause[32]; /* stable words */
	bool is_metric;
};

/* The events and metrics that were requested. */
struct stat_request {
	struct event_list events;
	const char *gap; /* a list of -e with a missing event before or after a comma */
	char **filters;  /* filters of the first n_filters events; NULL: no filter */
	unsigned n_filters;
	unsigned last_list; /* the first event of the last -e */
	struct event_list metric_names;
	bool keeps_refused; /* events and metrics that are refused are noted, and others counted */
	struct refused_name *refused;
	unsigned n_refused;
	unsigned topdown;       /* levels of top-down analysis; 0: not requested */
	unsigned counters_free; /* counters of each core PMU that plans leave free */
};

/* Notes that @text was refused. False without memory. (list.c) */
bool add_refused_name(struct stat_request *request, const char *text, const pfm_error_t *error,
                      bool is_metric);

/* What is counted, and the sessions that count it. */
struct stat_targets {
	int *pids, *tids;
	unsigned n_pids, n_tids;
	char *cgroups;            /* comma-separated names */
	bool has_cgroup_patterns; /* the names are patterns: groups are added and removed while
	                             counting */
	bool (*selects)(const char *path); /* all groups that it selects, instead of patterns */
	bool adds_whole;                   /* the whole machine besides the groups */
	bool each_cgroup, tell_cgroups;
	unsigned more_series; /* of each group, besides those of its counts */
	bool skips_refused;   /* targets that cannot be opened are skipped without a message */
	struct stat_target *list;
	unsigned n;
	size_t capacity;
};

/* When counts are taken, and what has ended them. */
struct stat_timing {
	uint64_t interval, timeout, delay; /* nanoseconds; 0: not given */
	unsigned intervals;
	bool repeats;     /* several runs were requested */
	unsigned repeat;  /* number of runs; after the last one, number of counted runs */
	bool start_off;   /* --control: counting starts with the command "enable" */
	bool was_enabled; /* the command "enable" was received */
	sigset_t signals, saved_signals; /* signals to wait for; the original mask */
	bool interrupted;
	bool missed;            /* the run ended or was interrupted before the delay was over */
	bool outlived_counting; /* the command ran before counting began, or after counting ended */
	uint64_t since;         /* time of the start of the first run */
	double paused;          /* seconds of the last interval in which the caller did not count */
	double reading_took;    /* seconds, by the last reading */
	/* times of the last reading, and of the one that some reader got last: marks of readings
	 * after it are kept for that reader */
	uint64_t reading, known_since;
};

/* Options of --regions. */
struct stat_regions {
	const char *format; /* NULL: without regions */
	bool has_system, no_subtract;
	bool has_gomp;   /* parallel regions of gcc's OpenMP */
	uint64_t visits; /* --visits; 0: not given */
	unsigned by;     /* enum region_unit */
	bool keeps_folder;
	bool has_limit; /* --fail-above */
	double limit;
};

/* Slices of time. (slices.c) */
struct stat_slices {
	uint64_t length;    /* nanoseconds */
	unsigned n;         /* number of complete slices */
	unsigned runs_each; /* with repetitions: runs in a slice */
	unsigned runs_now;  /* runs in the current slice */
};

/* The counts so far, and the metrics that are computed from them. */
struct stat_result {
	struct stat_row *rows;
	unsigned n_rows;
	size_t rows_capacity;
	struct stat_metrics metrics, ratios;
	double elapsed, user, system; /* seconds, sums over runs */
	unsigned runs;                /* number of counted runs */
	double *run_seconds;          /* seconds of each counted run */
	/* by which the kernel takes the counters away from the command; "" if nothing tells */
	char rights_facts[160];
};

/* Where the result goes. */
struct stat_report {
	FILE *out;
	int write_error;       /* errno of the first failed write */
	bool has_header;       /* no header of columns is to be written */
	struct series *series; /* if the output is one of the exporters' formats: counters and
	                          metrics (series.c) */
	FILE *intervals;       /* with -I and --html: their counts as lines of JSON */
	char *interval_text;   /* of that stream */
	size_t interval_size;
	char target[TARGET_MAX];
};

struct stat_job {
	pfm_ctx_t *ctx;
	char **command; /* NULL: none */
	struct stat_options options;
	struct stat_request request;
	struct stat_targets targets;
	struct stat_timing timing;
	struct control control;
	struct rotation rotation; /* of --rotate */
	struct stat_regions regions;
	struct stat_slices slices;
	struct stat_result result;
	struct stat_report report;
};

uint64_t now_ns(void);
/* "pfm stat: WHAT: the error's text" to standard error. Returns EXIT_REFUSED. */
int report_bad_option(const char *what, int err);

struct command_args;

/* True if the operands are several commands with :: between them. (compare.c) */
bool has_several_commands(char *const *operands);
/* Ends each command at a separator, in @into, which has room for @most. Returns their number; 0
 * if one is empty or there are too many. */
unsigned split_operands(char **operands, char ***into, unsigned most);
/* Runs pfm stat -- A :: B. Returns an exit status. */
int compare_commands(struct command_args *args, struct stat_job *job);
/* Runs pfm stat --regions -- OLD :: NEW. Returns an exit status. (region_compare.c) */
int compare_regions(struct command_args *args, struct stat_job *job);
/* Runs pfm stat --regions. Returns an exit status. (regions.c) */
int count_regions(struct command_args *args, struct stat_job *job);
/* Counts and reports. Returns an exit status. (count.c) */
int count_runs(struct stat_job *job);
/* True if no event could be opened. */
bool has_nothing_to_count(struct stat_job *job);

/* ---- answers (report.c) ---------------------------------------------------------------------- */

/* The width of the widest label of the rows; 0 without labels. And a label as text, padded to that
 * width. */
size_t measure_widest_label(const struct stat_result *result);
void print_label(const struct stat_job *job, const char *label, size_t widest);

/* Reports the counts. @time: end of the interval, negative for whole runs. Returns 0 or the errno
 * of writing. */
int report_counts(const struct stat_job *job, double elapsed, double time);
/* Writes the names of the columns of -x. */
void put_column_names(const struct stat_job *job);
/* Writes one column of -x, quoted if necessary, and the text @behind. */
void put_field(const struct stat_job *job, const char *text, const char *behind);
/* Writes seconds as the first column, unless negative. */
void put_time_field(const struct stat_job *job, double time);
/* With -I, after the last interval: reports why counts are not exact. */
void report_why(const struct stat_job *job);
/* True if the event @text is one of the generic list for this machine's processor. */
bool is_from_generic_fallback(const pfm_ctx_t *ctx, const char *text);
/* Adds the members "note", if counts of the event @text are uncertain, and "fallback". */
void put_event_notes(struct json *j, const pfm_ctx_t *ctx, const char *text);
/* Prints the kernel events of @session. (dry_run.c) */
void report_plan(FILE *out, bool json, const pfm_ctx_t *ctx, const pfm_session_t *session);

#endif
