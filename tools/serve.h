/* SPDX-License-Identifier: MIT */
/* pfm serve, in pieces: options and the loop (cmd_serve.c), addresses (serve_listen.c), HTTP
 * (serve_http.c, serve_gzip.c), the file for a textfile collector (serve_textfile.c), figures about
 * itself (serve_self.c), and the lock of --give-way (serve_lock.c). One thread does all of it. */
#ifndef PFM_SERVE_H
#define PFM_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "stat.h"

enum { SERVE_MAX_LISTENERS = 8, SERVE_ADDRESS_MAX = 160 };

/* Figures of pfm serve about itself. */
struct serve_figures {
	uint64_t readings, answers, refusals; /* refusals: answers that are no texts */
	uint64_t closed;                      /* connections that took too long */
	uint64_t textfile_errors;
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
	const char *lock_path; /* of --give-way; NULL: none */
	int lock_fd;
	uint64_t paused_since, paused_ns; /* paused_since: 0 while counting */
	struct serve_figures figures;
	struct serve_http *http;
};

/* ---- the texts (cmd_serve.c) ----------------------------------------------------------------- */

/* The text of the last reading, to be freed; NULL without memory. */
char *make_serve_text(struct serve *s, enum exposition_format format, size_t *size);
/* Reads counters if the last reading is old. False if that is impossible. */
bool refresh_counts(struct serve *s);
/* Reads counters now. False if that is impossible: the service ends. */
bool read_counts_now(struct serve *s);

/* ---- figures about itself (serve_self.c) ----------------------------------------------------- */

enum { SERVE_SELF_SERIES = 18 };
/* Call when the service begins. */
void note_start_time(void);
void put_self_series(struct exposition *x, const struct serve *s);

/* ---- addresses (serve_listen.c) -------------------------------------------------------------- */

/* Adds a listener for "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:PATH"; an exit status, what is
 * wrong is said. */
int open_listener(struct serve *s, const char *text);
/* Closes all of them and removes sockets from the file system. */
void close_listeners(struct serve *s);

/* ---- gzip (serve_gzip.c) --------------------------------------------------------------------- */

/* True if the header Accept-Encoding @accept allows gzip, and this pfm can write it. */
bool accepts_gzip(const char *accept);
/* Replaces @text, which is freed, by its gzip; NULL without memory. */
char *compress_serve_text(char *text, size_t *size);

/* ---- HTTP (serve_http.c) --------------------------------------------------------------------- */

/* Answers on all listeners; an exit status, what is wrong is said. */
int start_http(struct serve *s);
/* Descriptors that become readable when run_http() has work. Their number. */
unsigned list_http_fds(const struct serve *s, int fds[SERVE_MAX_LISTENERS]);
/* Milliseconds until run_http() has work without that, at most @most. */
int find_http_timeout(const struct serve *s, int most);
/* False if the counters could not be read. */
bool run_http(struct serve *s);
void stop_http(struct serve *s);

/* ---- the textfile (serve_textfile.c) --------------------------------------------------------- */

/* Checks that the file can be replaced; an exit status, what is wrong is said. */
int open_textfile(struct serve *s);
/* Replaces the file. If that fails, it is removed: old counts must not look like new ones. */
void write_textfile(struct serve *s);
/* Removes it. */
void close_textfile(struct serve *s);

/* ---- giving way (serve_lock.c) --------------------------------------------------------------- */

/* Opens the lock's file; an exit status, what is wrong is said. */
int open_give_way_lock(struct serve *s);
void close_give_way_lock(struct serve *s);
/* Pauses counting or goes on, as the lock says; an exit status, what is wrong is said. */
int give_way(struct serve *s);
/* How long counting has been paused. */
double find_paused_seconds(const struct serve *s);

#endif
