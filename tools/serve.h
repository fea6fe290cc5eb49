/* SPDX-License-Identifier: MIT */
/* pfm serve, in pieces: options and the loop (cmd_serve.c), addresses (serve_listen.c), HTTP
 * (serve_http.c, serve_gzip.c), lines
 * (serve_lines.c), OTLP (serve_otlp.c), the file for a textfile collector
 * (serve_textfile.c), figures about itself (serve_self.c), the lock of --give-way (serve_lock.c)
 * and its probe (serve_probe.c), and --budget (serve_budget.c). One thread does all of it. */
#ifndef PFM_SERVE_H
#define PFM_SERVE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "stat.h"

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
	double used;  /* as last measured */
	bool is_known;
	uint64_t n_exceeded;
};

struct serve_budget {
	bool is_on;
	struct budget_use resources[N_BUDGET_RESOURCES];
	uint64_t began, filled, recovered; /* when: the service, the last filling, the last step */
	double cpu_began, cpu_taken;       /* processor time then, and as last taken from the */
	double bucket;                     /* bucket, in seconds */
	bool is_waiting;
	uint64_t wait_began, waited_ns;
	unsigned back_off; /* readings are so many times less frequent */
	uint64_t n_recoveries;
	uint64_t interrupts, interrupts_read; /* as last read, and when */
	uint64_t paused_until;                /* 0: counting */
	unsigned pause_seconds;               /* of the next pause */
};

/* Sums over events and CPUs, in nanoseconds. */
struct probe_times {
	double enabled, running;
};

/* How --give-way finds out that events of others compete. */
struct serve_probe {
	pfm_session_t *session; /* of a pinned event; NULL: none can be counted */
	pfm_count_t *counts;
	unsigned n;
	bool is_on, is_trying; /* trying: it alone counts, after a pause */
	bool was_own_whole;    /* the service's own events once had counters all the time */
	bool lacks_counters;   /* and they lacked them in the last reading */
	struct probe_times times,
		own; /* as last read: the probe's, those of the service's events */
	uint64_t next_look, paused_until, resumed;
	unsigned pause_seconds; /* of the next pause */
};

/* Figures of pfm serve about itself. */
struct serve_figures {
	uint64_t readings, answers, refusals; /* refusals: answers that are no texts */
	uint64_t closed;                      /* connections that took too long */
	uint64_t textfile_errors, line_answers;
	uint64_t otlp_sent, otlp_retries, otlp_dropped, otlp_rejected;
	double reading_seconds;  /* the last reading took so long */
	double interval_seconds; /* and is of so long a time */
};

struct serve_listener {
	int fd;
	char name[SERVE_ADDRESS_MAX]; /* as users and messages write it */
	char path[SERVE_ADDRESS_MAX]; /* of a unix socket, else "" */
};

struct serve {
	struct stat_job job;
	const char *addresses[SERVE_MAX_LISTENERS]; /* of --listen */
	unsigned n_addresses;
	struct serve_listener listeners[SERVE_MAX_LISTENERS];
	unsigned n_listeners;
	const char *textfile;
	char *temporary; /* name of the file that replaces it */
	int textfile_error;
	uint64_t max_series;
	uint64_t last_reading; /* when; 0: never */
	uint64_t last_opening; /* after a CPU came on line; 0: never */
	const char *lock_path; /* of --give-way; NULL: none */
	int lock_fd;
	uint64_t paused_since, paused_ns; /* paused_since: 0 while counting */
	const char *pause_reason;         /* "lock", "events" or "budget" */
	struct serve_probe probe;
	struct cgroup_figures cgroups; /* of patterns */
	struct serve_budget budget;
	struct serve_figures figures;
	struct serve_http *http;
	const char *lines_path; /* of --lines; NULL: none */
	struct serve_lines *lines;
	const char *otlp_url; /* of --otlp; NULL: none */
	struct serve_otlp *otlp;
};

/* ---- the texts (cmd_serve.c) ----------------------------------------------------------------- */

/* The text of the last reading, to be freed; NULL without memory. */
char *make_serve_text(struct serve *s, enum exposition_format format, size_t *size);
/* Reads counters if the last reading is old. False if that is impossible. */
bool refresh_counts(struct serve *s);
/* Reads counters now. False if that is impossible: the service ends. */
bool read_counts_now(struct serve *s);

/* ---- figures about itself (serve_self.c) ----------------------------------------------------- */

enum { SERVE_SELF_SERIES = 47 };
uint64_t count_open_files(void);
/* Call when the service begins. */
void note_start_time(void);
void put_self_series(struct exposition *x, const struct serve *s);

/* ---- addresses (serve_listen.c) -------------------------------------------------------------- */

/* Adds a listener for "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:PATH". Returns an exit status;
 * reports errors. */
int open_listener(struct serve *s, const char *text);
/* Listens at @path. Prints errors and returns an exit status. */
int listen_on_path(struct serve_listener *l, const char *path);
/* Closes it and removes its socket from the file system. */
void close_listener(struct serve_listener *l);
/* Closes all of them and removes sockets from the file system. */
void close_listeners(struct serve *s);

/* ---- gzip (serve_gzip.c) --------------------------------------------------------------------- */

/* True if the header Accept-Encoding @accept allows gzip, and this pfm can write it. */
bool accepts_gzip(const char *accept);
/* Replaces @text, which is freed, by its gzip; NULL without memory. */
char *compress_serve_text(char *text, size_t *size);

/* Milliseconds from now until @time, at least 0 and at most @most. */
static inline int find_ms_until(uint64_t time, int most)
{
	const uint64_t now = now_ns(), ns_each = 1000000;

	return time <= now                              ? 0
	       : time - now >= (uint64_t)most * ns_each ? most
	                                                : (int)((time - now) / ns_each) + 1;
}

/* ---- HTTP (serve_http.c) --------------------------------------------------------------------- */

/* Answers on all listeners. Returns an exit status; reports errors. */
int start_http(struct serve *s);
/* Descriptors that become readable when run_http() has work. Their number. */
unsigned list_http_fds(const struct serve *s, int fds[SERVE_MAX_LISTENERS]);
/* Milliseconds until run_http() has work without that, at most @most. */
int find_http_timeout(const struct serve *s, int most);
/* False if the counters could not be read. */
bool run_http(struct serve *s);
void stop_http(struct serve *s);

/* ---- lines (serve_lines.c) ------------------------------------------------------------------- */

/* Listens where --lines says. Prints errors and returns an exit status. */
int open_lines(struct serve *s);
/* A descriptor that becomes readable when run_lines() has work, -1: none. */
int get_lines_fd(const struct serve *s);
/* Milliseconds until run_lines() has work without that, at most @most. */
int find_lines_timeout(const struct serve *s, int most);
/* False if the counters could not be read. */
bool run_lines(struct serve *s);
void close_lines(struct serve *s);

/* ---- OTLP (serve_otlp.c) --------------------------------------------------------------------- */

/* Prepares what --otlp asks for. Prints errors and returns an exit status. */
int open_otlp(struct serve *s);
/* Makes and sends requests. Milliseconds until it has work again, at most @most; negative if the
 * counters could not be read. */
int run_otlp(struct serve *s, int most);
/* poll(2), also for the sockets of requests. */
int poll_with_otlp(struct serve *s, struct pollfd *polled, nfds_t n, int ms);
unsigned count_queued_requests(const struct serve *s);
void close_otlp(struct serve *s);

/* ---- the textfile (serve_textfile.c) --------------------------------------------------------- */

/* Checks that the file can be replaced. Returns an exit status; reports errors. */
int open_textfile(struct serve *s);
/* Replaces the file. If that fails, it is removed: old counts must not look like new ones. */
void write_textfile(struct serve *s);
/* Removes it. */
void close_textfile(struct serve *s);

/* ---- giving way (serve_lock.c) --------------------------------------------------------------- */

/* Opens the lock's file. Returns an exit status; reports errors. */
int open_give_way_lock(struct serve *s);
void close_give_way_lock(struct serve *s);
/* Pauses counting or goes on, as the lock says. Returns an exit status; reports errors. */
int give_way(struct serve *s);
/* How long counting has been paused. */
double find_paused_seconds(const struct serve *s);

/* ---- the probe (serve_probe.c) --------------------------------------------------------------- */

/* Opens it, for --give-way. Returns an exit status; reports errors. */
int open_probe(struct serve *s);
void close_probe(struct serve *s);
/* Files that it has open. */
unsigned count_probe_files(const struct serve *s);
/* True while counting is to pause because events of others compete. */
bool do_events_compete(struct serve *s);
/* Frees its counters until do_events_compete() is called. */
void stop_probe(struct serve *s);
/* Call after each reading of the service's events. */
void note_own_times(struct serve *s);

/* ---- the budget (serve_budget.c) ------------------------------------------------------------- */

/* "cpu=0.5%,files=2000,counters-free=2,interrupts=2000/s", or some of it. False for other texts. */
bool read_budget(struct serve_budget *b, const char *text);
/* Call before events are opened. */
void limit_files(const struct serve_budget *b);
/* An exit status: too many files are said. Call once events are open. */
int check_files(const struct serve *s);
/* The service begins: what it took to open events is not counted. */
void begin_budget(struct serve_budget *b);
/* Milliseconds for which nothing may be done; 0: go on. */
int find_budget_wait(struct serve_budget *b);
/* Readings are so many times less frequent, at least 1. */
unsigned find_back_off(const struct serve_budget *b);
/* True while counting is to pause because the PMUs interrupt too often. */
bool are_interrupts_too_many(struct serve_budget *b);
void put_budget(struct exposition *x, const struct serve *s);

#endif
