/* SPDX-License-Identifier: MIT */
/* pfm serve: options (serve.c), the loop (loop.c), addresses (listen.c), HTTP
 * (http.h), gzip (gzip.c), lines (lines.c), OTLP (otlp.c), the file for a textfile
 * collector (textfile.c), figures about itself (self.c), the lock of --give-way
 * (lock.c) and its probe (probe.c), --budget (budget.c), and the file of --config (config.h). One
 * thread does everything. */
#ifndef PFM_SERVE_H
#define PFM_SERVE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/otlp_resource.h"
#include "stat/stat.h"

enum { SERVE_MAX_LISTENERS = 8, SERVE_ADDRESS_MAX = 160 };

/* The resources that --budget limits. */
enum budget_resource {
	BUDGET_CPU,
	BUDGET_FILES,
	BUDGET_COUNTERS_FREE,
	BUDGET_INTERRUPTS,
	N_BUDGET_RESOURCES
};

struct budget_use {
	double limit; /* 0: no limit */
	double used;  /* at the last measurement */
	bool is_known;
	uint64_t n_exceeded;
};

struct serve_budget {
	bool is_on;
	struct budget_use resources[N_BUDGET_RESOURCES];
	/* times: start of the service, last refill, last step of recovery */
	uint64_t began, filled, recovered;
	double cpu_began, cpu_taken; /* seconds of processor time: at the start, and at the last
	                                withdrawal from */
	double bucket;               /* the bucket; the content of the bucket */
	bool is_waiting, is_refusing;
	uint64_t wait_began, waited_ns;
	unsigned back_off; /* factor by which intervals between readings are longer */
	uint64_t n_recoveries;
	uint64_t interrupts, interrupts_read; /* at the last check; its time */
	uint64_t paused_until;                /* 0: counting */
	unsigned pause_seconds;               /* length of the next pause */
};

/* Sums over events and CPUs, in nanoseconds. */
struct probe_times {
	double enabled, running;
};

/* State by which --give-way detects that events of other programs compete. */
struct serve_probe {
	pfm_session_t *session; /* of a pinned event; NULL: it cannot be counted */
	pfm_count_t *counts;
	unsigned n;
	bool is_on, is_trying; /* trying: after a pause, only the probe counts */
	bool was_own_whole; /* the service's own events had counters all the time in some reading */
	bool lacks_counters; /* ... and lacked them in the last one */
	struct probe_times times,
		own; /* at the last reading: times of the probe, and of the service's events */
	uint64_t next_look, paused_until, resumed;
	unsigned pause_seconds; /* length of the next pause */
};

/* Figures of pfm serve about itself. */
struct serve_figures {
	uint64_t readings, answers, refusals; /* refusals: answers without a text */
	uint64_t deferrals; /* refusals because the processor time of the budget was used up */
	uint64_t closed;    /* connections that were closed because they took too long */
	uint64_t textfile_errors, line_answers;
	uint64_t api_requests, api_refusals;
	uint64_t kubelet_answers, kubelet_failures;
	uint64_t otlp_sent, otlp_retries, otlp_dropped, otlp_rejected;
	double reading_seconds;  /* how long the last reading took */
	double interval_seconds; /* the time that it covers */
};

struct serve_listener {
	int fd;
	char name[SERVE_ADDRESS_MAX]; /* as in options and messages */
	char path[SERVE_ADDRESS_MAX]; /* path of a unix socket, else "" */
	bool is_loopback;
};

struct config_status;

struct serve {
	struct stat_job job;
	const char *name;             /* of a job of --config; NULL: without */
	const char *config_path;      /* of --config or --check-config; NULL: not given */
	bool only_checks;             /* --check-config */
	struct config_status *config; /* figures about the file */
	const char *addresses[SERVE_MAX_LISTENERS]; /* of --listen */
	unsigned n_addresses;
	struct serve_listener listeners[SERVE_MAX_LISTENERS];
	unsigned n_listeners;
	const char *hosts;      /* of --allow-host; NULL: not given */
	const char *web_path;   /* of --web-config; NULL: not given */
	struct web_config *web; /* what is in it */
	const char *textfile;
	char *temporary; /* name of the file until it is complete */
	int textfile_error;
	uint64_t max_series;
	uint64_t last_turn;    /* time of the end of the last turn, with --rotate */
	bool has_node_names;   /* --node-names: the textfile has the names of node_exporter */
	uint64_t shared_ns;    /* a reading is shared by clients that come within this time */
	uint64_t last_reading; /* time; 0: there was no reading */
	uint64_t version;      /* of the counts: changes with each reading */
	uint64_t last_opening; /* time at which a CPU that came on line was added; 0: never */
	const char *lock_path; /* of --give-way; NULL: without a lock */
	int lock_fd;
	uint64_t paused_since, paused_ns; /* paused_since: time; 0 while counting */
	double paused_before;             /* seconds of all pauses, at the last reading */
	char lock_holder[64];             /* the process that has the lock; "" if unknown */
	long lock_holder_pid;
	const char *pause_reason; /* "lock", "events" or "budget" */
	struct serve_probe probe;
	struct cgroup_figures cgroups; /* of patterns */
	struct serve_budget budget;
	struct serve_figures figures;
	struct serve_http *http;
	const char *lines_path; /* of --lines; NULL: not given */
	struct serve_lines *lines;
	const char *api_path; /* of --api; NULL: not given */
	struct serve_api *api;
	bool has_pressure, has_resctrl;
	bool has_containers;           /* --containers */
	const char *kubelet_url;       /* of --kubelet; NULL: not given */
	const char *kubelet_token;     /* file of --kubelet-token; NULL: without a token */
	const char *kubelet_authority; /* file of --kubelet-ca, "none"; NULL: those of the system */
	struct serve_kubelet *kubelet;
	const char *otlp_url; /* of --otlp; NULL: not given */
	char *command_line;   /* the options */
	struct serve_otlp *otlp;
};

/* ---- the loop (loop.c) and the texts (text.c) ------------------------------------------------ */

#define SERVE_USUAL_ADDRESS "127.0.0.1:9747"

/* Counts and serves until a signal ends it. Returns an exit status. */
int serve_counts(struct serve *s);

/* Writes the families that are not about the service itself. */
void put_counts(struct exposition *x, const struct serve *s);
/* Makes the text of the last reading for the textfile; the caller frees it. NULL without memory. */
char *make_textfile_text(struct serve *s, size_t *size);
/* Reads the counters, unless another client has just had them read. False if they cannot be read,
 * which ends the service. */
bool refresh_counts(struct serve *s);

/* ---- figures about itself (self.c) ----------------------------------------------------------- */

enum { SERVE_SELF_SERIES = 70 };
uint64_t count_open_files(void);
/* Call this when the service begins. */
void note_start_time(void);
void put_self_series(struct exposition *x, const struct serve *s);

/* ---- addresses (listen.c) -------------------------------------------------------------------- */

/* Adds a listener for "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:PATH". Returns an exit status,
 * after an error message. */
int open_listener(struct serve *s, const char *text);
/* Listens at @path. Returns an exit status, after an error message. */
int listen_on_path(struct serve_listener *l, const char *path);
/* Closes the listener and removes its socket from the file system. */
void close_listener(struct serve_listener *l);
/* Closes all listeners. */
void close_listeners(struct serve *s);

/* ---- gzip (gzip.c) --------------------------------------------------------------------------- */

struct gzip_part {
	char *bytes;
	size_t size;
	uint32_t crc;   /* of the text before its compression */
	size_t n_plain; /* and its size */
};

extern const bool have_gzip;
/* Compresses a part of a text. False without memory. */
bool compress_part(const char *text, size_t size, bool is_last, struct gzip_part *out);
/* Makes a file of one part, or of two if @first is not NULL. NULL without memory. */
char *finish_gzip(const struct gzip_part *first, const struct gzip_part *last, size_t *size);
/* Compresses @text, which it frees; NULL without memory. */
char *compress_serve_text(char *text, size_t *size);

/* Milliseconds from now until @time, at least 0 and at most @most. */
static inline int find_ms_until(uint64_t time, int most)
{
	const uint64_t now = now_ns(), ns_each = 1000000;

	return time <= now                              ? 0
	       : time - now >= (uint64_t)most * ns_each ? most
	                                                : (int)((time - now) / ns_each) + 1;
}

/* ---- HTTP (http.c) --------------------------------------------------------------------------- */

extern const bool have_http;
/* Reads the file of --web-config again; an invalid one changes nothing. Returns an exit status. */
int reload_http(struct serve *s);
/* Starts answering on all listeners. Returns an exit status, after an error message. */
int start_http(struct serve *s);
/* The time of the last reading, or of an earlier one that some client got last. */
uint64_t find_known_reading(const struct serve *s);
/* Lists descriptors that become readable when run_http() has work. Returns their number. */
unsigned list_http_fds(const struct serve *s, int fds[SERVE_MAX_LISTENERS]);
/* Milliseconds until run_http() has other work, at most @most. */
int compute_http_timeout(const struct serve *s, int most);
/* Handles requests. False if the counters could not be read. */
bool run_http(struct serve *s);
void stop_http(struct serve *s);

/* ---- lines (lines.c) ------------------------------------------------------------------------- */

/* Listens at the path of --lines. Returns an exit status, after an error message. */
int open_lines(struct serve *s);
/* A descriptor that becomes readable when run_lines() has work; -1 without --lines. */
int get_lines_fd(const struct serve *s);
/* Milliseconds until run_lines() has other work, at most @most. */
int compute_lines_timeout(const struct serve *s, int most);
/* Handles requests. False if the counters could not be read. */
bool run_lines(struct serve *s);
void close_lines(struct serve *s);

/* ---- requests for counts (api.c) ------------------------------------------------------------- */

/* Listens at the path of --api. Returns an exit status, after an error message. */
int open_api(struct serve *s);
/* A descriptor that becomes readable when run_api() has work; -1 without --api. */
int get_api_fd(const struct serve *s);
/* Number of requests that are counted now. */
unsigned count_api_counts(const struct serve *s);
/* Milliseconds until run_api() has other work, at most @most. */
int compute_api_timeout(const struct serve *s, int most);
void run_api(struct serve *s);
void close_api(struct serve *s);

/* ---- what the kernel sums itself (pressure.c, resctrl.c) ------------------------------------- */

/* Series of the machine, and of a group, with --pressure. */
enum { PRESSURE_SERIES = 6, PRESSURE_SERIES_EACH = 9 };

void put_pressure(struct exposition *x, const struct serve *s);
void put_resctrl(struct exposition *x, const struct serve *s);

/* ---- containers (containers.c) --------------------------------------------------------------- */

/* True if @path, below the mount of control groups, is the group of a container. */
bool is_container_group(const char *path);
/* Gives new containers their labels. Call this after each change of the groups or of the names. */
void name_containers(struct serve *s);

/* ---- OTLP (otlp.c) --------------------------------------------------------------------------- */

/* Prepares --otlp. Returns an exit status, after an error message. */
int open_otlp(struct serve *s);
/* Makes and sends requests. Returns the milliseconds until it has work again, at most @most;
 * negative if the counters could not be read. */
int run_otlp(struct serve *s, int most);
/* As poll(2), with the sockets of requests. */
int poll_with_otlp(struct serve *s, struct pollfd *polled, nfds_t n, int ms);
unsigned count_queued_requests(const struct serve *s);
void close_otlp(struct serve *s);

/* ---- the textfile (textfile.c) --------------------------------------------------------------- */

/* Checks that the file can be replaced. Returns an exit status, after an error message. */
int open_textfile(struct serve *s);
/* Replaces the file. On failure removes it, so that old counts do not pass for new ones. */
void write_textfile(struct serve *s);
/* Removes it. */
void close_textfile(struct serve *s);

/* ---- giving way (lock.c) --------------------------------------------------------------------- */

/* Opens the lock's file. Returns an exit status, after an error message. */
int open_give_way_lock(struct serve *s);
void close_give_way_lock(struct serve *s);
/* Pauses or continues counting, as lock, probe and budget demand. Returns an exit status, after an
 * error message. */
int give_way(struct serve *s);
/* Seconds for which counting has been paused. */
double compute_paused_seconds(const struct serve *s);

/* ---- the probe (probe.c) --------------------------------------------------------------------- */

/* Opens the probe, for --give-way. Returns an exit status, after an error message. */
int open_probe(struct serve *s);
void close_probe(struct serve *s);
/* Number of files that the probe has open. */
unsigned count_probe_files(const struct serve *s);
/* True while counting must pause because events of other programs compete. */
bool do_events_compete(struct serve *s);
/* Releases the probe's counters until do_events_compete() is called. */
void stop_probe(struct serve *s);
/* Call this after each reading of the service's events. */
void note_own_times(struct serve *s);

/* ---- the budget (budget.c) ------------------------------------------------------------------- */

/* Reads a text such as "cpu=0.5%,files=2000,counters-free=2,interrupts=2000/s", or a part of it.
 * False if it is invalid. */
bool read_budget(struct serve_budget *b, const char *text);
/* Call this before events are opened. */
void limit_files(const struct serve_budget *b);
/* Reports too many open files. Returns an exit status. Call this after events were opened. */
int check_files(const struct serve *s);
/* Begins the budget, so that the cost of opening events is not charged. */
void begin_budget(struct serve_budget *b);
/* Milliseconds to sleep because the budget is used up; 0: continue. */
int compute_budget_wait(struct serve_budget *b);
/* Seconds after which a client may come again; 0: it is answered now. */
unsigned compute_retry_seconds(const struct serve_budget *b);
/* The factor by which the intervals of the textfile and of OTLP are longer, at least 1. */
unsigned get_back_off(const struct serve_budget *b);
/* True while counting must pause because the PMUs interrupt too often. */
bool are_interrupts_too_many(struct serve_budget *b);
void put_budget(struct exposition *x, const struct serve *s);

#endif
