/* SPDX-License-Identifier: MIT */
/* pfm stat, in pieces: what it was asked (cmd_stat.c), the command it counts (stat_child.c), tasks
 * and control groups (stat_targets.c), lists of events (stat_list.c), waiting and counting
 * (stat_count.c), what became of each count (stat_rows.c), and how it is shown (stat_report.c). */
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
#include "control.h"
#include "event_list.h"
#include "openmetrics.h"
#include "rotation.h"

enum {
	NS = 1000000000,
	NOT_FOUND = 127, /* exit statuses of a shell */
	NOT_RUN = 126,
	LABEL_MAX = 80,
	TARGET_MAX = 256
};

/* The counters that a plan must not use so that @n_free of each core PMU stay free.
 * (serve_budget.c) */
uint64_t find_kept_counters(const pfm_ctx_t *ctx, unsigned n_free);

/* ---- counts (stat_rows.c) -------------------------------------------------------------------- */

/* The places that rows of the answer are for, beside control groups. */
enum aggregation { BY_NOTHING, BY_CPU, BY_CORE, BY_DIE, BY_SOCKET, BY_NODE, BY_THREAD };

/* Which event a text means. */
struct event_at {
	int pmu; /* negative: missing, or more than the kernel accepts */
	unsigned event;
};

/* One line of the answer: the counts of one event that have the same label, added up. */
struct stat_row {
	const struct stat_target
		*part;         /* whose control group or thread it is; NULL for pfm's own */
	pfm_count_info_t info; /* of its counts, in words that stay when the session is closed: in
	                          memory of its own, */
	char *words, *reason; /* all but the cause and the remedy; and these, of the run or interval
	                         that can be trusted least */
	char *event;          /* its name without the level that is all permissions allow */
	const struct stat_target *worst; /* of this run, the count that can be trusted least */
	unsigned worst_count;
	/* Once prepare_ratios() was there: the event that its text means, and that of all
	 * processors which this is, or the same. */
	struct event_at named, at;
	const char *own; /* pfm's own count of time, which no session takes; else NULL */
	char *label;
	size_t place; /* where in the label the CPU, core, thread ... begins, after a control group
	               */
	bool was_counted;     /* it had a value in some run or interval */
	pfm_count_sum_t sum;  /* of this run or interval */
	pfm_tally_t tally;    /* of all runs, or of this interval */
	struct slice *slices; /* what was counted on the way (stat_errors.c); NULL: nothing yet */
	struct slot_rates slot_rates; /* with --rotate (rotation.c) */
};

/* Counts of one task, control group, or all that the CPU list allows. */
struct stat_target {
	int pid;     /* 0: the command's, or none */
	bool thread; /* that thread alone */
	char *cgroup, *label;
	uint64_t cgroup_id;      /* of groups that come and go: the inode of its folder */
	bool is_gone;            /* which is there no more */
	unsigned first, n_texts; /* its events among the job's */
	pfm_session_t *session;
	struct alpha_emulator *emulator; /* of the session's device, or NULL */
	unsigned n;
	pfm_count_t *counts, *earlier,
		*slice_counts; /* now, when the interval began, and when the slice did */
	unsigned *rows;        /* each count's row */
	/* With --rotate, by group of the session: */
	unsigned n_groups, *turns, *planned_groups;
	unsigned char *is_on;
	int watch;             /* readable when the process has ended, or -1 */
	double unseen_seconds; /* time of the command on CPUs that was not counted */
	bool ran_unwatched;    /* ... more than a tick */
	bool lost_rights;      /* ... more than births and ends of tasks can take */
};

struct stat_job;
/* True if there is a value to show. */
bool has_value(const pfm_count_t *count);
/* Makes the rows of an opened session's counts, and those of pfm's own. False without memory. */
bool make_rows(struct stat_job *job, struct stat_target *part);
bool make_own_rows(struct stat_job *job);
/* Adds up what was read: since the beginning, or since the interval before. */
void gather_rows(struct stat_job *job, bool interval);
/* Adds what was read since the reading before to the slice of time that is under way. */
void gather_slice(struct stat_job *job);
/* Sets pfm's own counts, in seconds; negative: not known. Call before gather_rows(). */
void set_own_counts(struct stat_job *job, double elapsed, double user, double system);
/* True if each count of @part's session has the label and event of its row, and was not refused if
 * it was counted when last read. */
bool has_rows_of_counts(const struct stat_job *job, const struct stat_target *part);
void free_row(struct stat_row *row);
void free_rows(struct stat_job *job);
/* True if rows say whose their counts are. */
bool has_row_labels(const struct stat_job *job);
/* Standard error of the mean, in percent of it. */
double relative_deviation(const pfm_tally_t *t);
/* True if @text is one of pfm's own: duration_time, user_time, system_time. */
const char *find_own_event(const char *text);

/* ---- tasks and control groups to count (stat_targets.c) -------------------------------------- */

/* Says what is wrong with @text, as an object where those are wanted. */
void report_stat_refusal(const struct stat_job *job, const char *text, const pfm_error_t *error);
/* Lays out job->parts. Returns an exit status; reports errors. */
int make_targets(struct stat_job *job);
/* Opens all sessions, for @pid in parts that name no task. */
int open_targets(struct stat_job *job, int pid);
int start_targets(struct stat_job *job);
void stop_targets(struct stat_job *job);
int read_targets(struct stat_job *job);
/* Compares what was read with the processor time that the command and its children took, in
 * seconds: the kernel takes the events of a task away, without notice, when it starts a program
 * with more rights than its caller's, or one that may not be read. */
void check_unwatched_time(struct stat_job *job, double seconds);
/* True once every task that was asked for has ended. */
bool have_targets_ended(const struct stat_job *job);
/* True if, by the last reading, a CPU has come on line on which not everything is counted. */
bool misses_cpu(const struct stat_job *job);
/* Opens and starts what misses a CPU anew; it is counted from 0. Prints errors and returns an exit
 * status. */
int reopen_targets(struct stat_job *job);
void close_targets(struct stat_job *job);
void free_target(struct stat_target *p);
void free_targets(struct stat_job *job);
/* Opens all events without counting, so that texts that cannot be read are refused. Prints errors
 * and returns an exit status. */
int refuse_bad_events(struct stat_job *job);
/* Opens the session of @p, which was prepared by the caller, without messages about it. */
int open_new_target(struct stat_job *job, struct stat_target *p);
/* The mount of the control groups that perf uses. False, with a message, where they are not
 * mounted. */
bool find_cgroup_mount(char *path, size_t size);

/* ---- control groups that come and go (stat_cgroups.c) ---------------------------------------- */

struct cgroup_figures {
	uint64_t n_born, n_gone, n_omitted; /* omitted: for which there was no room now */
};

/* True if some of @names, between commas, is a pattern. */
bool is_cgroup_pattern(const char *names);
/* Looks which control groups there are: opens those that are new, up to @most_series series, and
 * removes those that are gone. Prints errors and returns an exit status. */
int update_cgroups(struct stat_job *job, size_t most_series, bool is_counting,
                   struct cgroup_figures *figures);

/* "S0-D0-C1" for the core of @cpu, and so on; "?" for what the kernel does not say. */
void topology_label(const pfm_ctx_t *ctx, enum aggregation by, const char *cpu,
                    char label[LABEL_MAX]);

/* ---- the command (stat_child.c) -------------------------------------------------------------- */

/* A command that waits to be let go. */
struct child {
	pid_t pid;
	int go;      /* a byte here starts it; closing it ends it */
	int failure; /* errno of exec comes back here */
};

/* The name of the command in messages: "pfm stat" unless it is changed. */
extern const char *program_name;
int child_prepare(char *const *command, const sigset_t *mask, struct child *c);
/* Lets the command go. An exit status if it cannot be run, else DONE. */
int child_start(char *const *command, struct child *c);
void child_discard(struct child *c);
/* Sends what ends a command, which one that is stopped hears of, too. */
void child_signal(const struct child *c, int sig);
/* The exit status for the command's end. Reports a signal that ended it. */
int child_status(const char *name, int status);
/* The words of @command as one types them in a shell, cut at @size. Returns @buf. */
char *quoted_command(char *const *command, char *buf, size_t size);

/* ---- all of it ------------------------------------------------------------------------------- */

/* ---- metrics (stat_metric_plan.c, _values.c, stat_metrics.c, stat_ratios.c) ------------------ */

struct stat_metric {
	int pmu;
	unsigned event;
	struct event_at first; /* of a ratio: the event it begins with; */
	bool is_beside_count;  /* it is beside a count of the report under way */
};

struct stat_metrics {
	struct stat_metric *at;
	unsigned n;
};

/* A ratio as it is beside a count. */
struct ratio {
	const char *name, *unit;
	double value;
	pfm_quality_t quality; /* the worst of the counts that it is made of */
};

/* Finds the metrics that were asked for and adds groups of what they need to the events. An exit
 * status. */
int plan_stat_metrics(struct stat_job *job);
void free_stat_metrics(struct stat_job *job);
/* The name of the metric's PMU if metrics of others are asked for as well, else "". */
const char *common_pmu(const struct stat_job *job, const struct stat_metric *m);
/* Adds the metrics that texts of -e named. False without memory. */
bool visit_session_metrics(struct stat_job *job, const pfm_session_t *session);
/* A metric's value from the rows of @label. False if it cannot be computed at all; a value may
 * still be undefined. */
struct metric_answer;
bool compute_stat_metric(const struct stat_job *job, const struct stat_metric *m, const char *label,
                         double elapsed, struct metric_answer *out);
/* Finds the events of the rows, once there are rows, and the usual ratios; none if metrics were
 * asked for. False without memory. */
bool prepare_ratios(struct stat_job *job);
/* The ratio that belongs beside the count of @row, if all it needs was counted: one of the tables'
 * that begins with its event, else how many there were in a second of the task's time. */
bool find_row_ratio(const struct stat_job *job, const struct stat_row *row, double elapsed,
                    struct ratio *out);
/* Values of metrics from the rows; in text also those usual ratios that are beside no count. */
void report_metrics(const struct stat_job *job, double elapsed, double time);

/* ---- errors of metrics (stat_errors.c) ------------------------------------------------------- */

/* True if counts are to be read on the way, so that their extrapolation error can be estimated. */
bool needs_slices(const struct stat_job *job);
/* Forgets the slices: another interval begins. */
void free_slices(struct stat_job *job);
/* How long a slice of the time takes now, in nanoseconds. */
uint64_t begin_slice(struct stat_job *job);
/* Adds what @row counted to slice number @slice. */
void add_to_slice(struct stat_row *row, unsigned slice, const pfm_count_t *count);
/* The slice under way is over. */
void end_slice(struct stat_job *job);

/* A metric's value, and what it was made from. */
struct metric_inputs {
	struct stat_metric metric;
	const pfm_metric_operand_t *counts; /* of its @n inputs */
	unsigned n;
	const struct row_use {
		unsigned input, row;
	} * uses; /* which rows are counts of which input */
	unsigned n_uses;
	pfm_quality_t quality; /* the worst of theirs */
	bool spans_groups;     /* they are of several groups */
};

/* Sets error and interval of @v; they stay as they are where nothing was extrapolated. */
void estimate_metric_error(const struct stat_job *job, const struct metric_inputs *j,
                           pfm_metric_value_t *v);

/* ---- metrics as a tree (stat_tree.c) --------------------------------------------------------- */

/* Puts the metrics in the order of their tree: each after the one it is a part of. False without
 * memory. */
bool order_metric_tree(struct stat_job *job);
/* True if @child is a part of @parent. */
bool is_child_metric(const struct stat_job *job, const struct stat_metric *child,
                     const struct stat_metric *parent);
/* Reports metrics that are worth counting next, because their parent is over its threshold. */
void report_children(const struct stat_job *job, double elapsed);
/* Writes the page that --html asks for. DONE, or REFUSED with a message. */
int write_page(const struct stat_job *job, double elapsed);

struct stat_job {
	struct event_list events;
	const char *gap; /* a list of -e that has a comma too many */
	char **filters;  /* of the first n_filters events, NULL: none */
	unsigned n_filters;
	unsigned last; /* the first of the events that the last -e gave */
	pfm_ctx_t *ctx;
	char **command; /* NULL: none */
	int *pids, *tids;
	unsigned n_pids, n_tids;
	char *cgroups;            /* names with commas between */
	bool has_cgroup_patterns; /* they are patterns, of groups that come and go */
	bool skips_refused;       /* targets that cannot be opened have no message */
	const char *cpus, *model, *output, *separator, *html;
	bool all_cpus, each_cgroup, tell_cgroups, json, dry_run, no_inherit, append, verbose, table,
		no_ratios, regions_system, no_subtract;
	enum exposition_format format; /* of --format */
	const char *region_format;     /* of --regions; NULL: none */
	struct series *series;         /* with a format: counters and metrics (series.c) */
	struct control control;
	struct rotation rotation; /* of --rotate */
	unsigned counters_free;   /* of each core PMU, that no plan uses */
	bool start_off;           /* with --control: until the command "enable" */
	bool was_enabled;         /* the command "enable" was received */
	bool repeats;             /* more than one run was asked for */
	bool has_header;          /* the names of columns were written, or are not wanted */
	enum aggregation by;
	unsigned repeat; /* runs; once they are over, those that were counted */
	unsigned intervals, detail;
	struct event_list metric_names;
	struct stat_metrics metrics, ratios;
	double memory_peak; /* of this machine, in millions of bytes a second; 0: unknown */
	unsigned topdown;   /* levels of top-down analysis, 0 for none */
	uint64_t interval, timeout, delay; /* nanoseconds, 0 for none */
	/* while it runs */
	struct stat_target *parts;
	unsigned n_parts;
	size_t parts_capacity;
	struct stat_row *rows;
	unsigned n_rows;
	size_t rows_capacity;
	FILE *out;
	int write_error;                 /* errno of the first failure */
	sigset_t signals, saved_signals; /* those waited for; the mask as it was */
	bool interrupted;
	bool missed;            /* this run ended, or the user left, before the delay was over */
	bool outlived_counting; /* the command ran before counting began, or went on after its end
	                         */
	uint64_t since;         /* when the first run began */
	double elapsed, user, system; /* summed over runs */
	uint64_t slice_ns;            /* the length of a slice, */
	unsigned n_slices;            /* how many are whole, */
	unsigned runs_in_slice;       /* and with repetitions how many of those each has, */
	unsigned runs_here;           /* and the one under way */
	unsigned runs;                /* that were counted */
	double *run_seconds;          /* seconds of each of them */
	char target[TARGET_MAX];
};

uint64_t now_ns(void);
/* "pfm stat: WHAT: the error's text" to standard error. Returns REFUSED. */
int report_bad_option(const char *what, int err);
struct command_args;
/* True if the operands are several commands, with :: between them. (stat_compare.c) */
bool stat_compares(char *const *operands);
/* pfm stat -- A :: B; an exit status. */
int stat_compare(struct command_args *args, struct stat_job *job);
/* pfm stat --regions; an exit status. (stat_regions.c) */
int stat_regions(struct command_args *args, struct stat_job *job);
/* Counts and reports; an exit status. (stat_count.c) */
int count_runs(struct stat_job *job);
/* True if no event of the targets could be opened: then there is nothing to wait for. */
bool has_nothing_to_count(struct stat_job *job);

/* ---- answers (stat_report.c) ----------------------------------------------------------------- */

/* How wide the labels of rows are: 0 if no row has one. And one of them, as text, filled up to
 * that. */
size_t widest_label(const struct stat_job *job);
void print_label(const struct stat_job *job, const char *label, size_t widest);

/* 0, or the error number of writing. @time: end of the interval, negative if these are whole
 * runs. */
int report_counts(const struct stat_job *job, double elapsed, double time);
/* The names of the columns of -x. */
void put_column_names(const struct stat_job *job);
/* One column of -x, in quotes where it would be taken for several, followed by @behind. */
void put_field(const struct stat_job *job, const char *text, const char *behind);
/* Seconds, as the first column; nothing if negative. */
void put_time_field(const struct stat_job *job, double time);
/* With -I, after the last interval: reports why counts are not exact. */
void report_why(const struct stat_job *job);
/* Prints the kernel events of @session. */
void report_plan(FILE *out, bool json, const pfm_ctx_t *ctx, const pfm_session_t *session);

#endif
