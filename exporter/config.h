/* SPDX-License-Identifier: MIT */
/* pfm serve --config: a file of jobs (config.c) and the processes that run them (jobs.c). */
#ifndef PFM_SERVE_CONFIG_H
#define PFM_SERVE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

/* A job is a command line of pfm serve. */
struct config_job {
	char *name;
	int argc;
	char **argv;
	char **places; /* where each argument was read; number 0: the job */
};

struct serve_config {
	const char *path;
	struct config_job *jobs;
	unsigned n;
};

/* Figures about the file that each job serves, in memory that the processes share. */
struct config_status {
	unsigned n_jobs, n_running, n_started; /* started: processes that ever began to serve */
	bool is_good;                          /* the last version of the file was taken */
	double taken;                          /* time at which one was, since 1970 */
	uint64_t n_taken, n_refused, n_restarts;
};

/* ---- the file (config.c) --------------------------------------------------------------------- */

/* Reads the file. NULL after messages, which name file, line and column. */
struct serve_config *load_serve_config(const char *path);
void free_serve_config(struct serve_config *c);

/* ---- its jobs (serve.c) ---------------------------------------------------------------------- */

/* Checks the options of @job. Returns an exit status, after an error message. */
int check_config_job(const struct config_job *job);
/* Runs the job until a signal ends it. Returns an exit status. */
int run_config_job(const struct config_job *job, struct config_status *config);

/* ---- processes (jobs.c) ---------------------------------------------------------------------- */

/* Runs the jobs of the file until a signal ends them. Returns an exit status. */
int run_config(const char *path);

#endif
