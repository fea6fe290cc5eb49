/* SPDX-License-Identifier: MIT */
/* Steps that every program of the sessions benchmark measures: open, start, read, stop and close
 * the same events, in rounds. */
#ifndef PERFMON_BENCH_SESSIONS_H
#define PERFMON_BENCH_SESSIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "numbers.h"

enum {
	MAX_EVENTS = 64,
	MAX_ROUNDS = 401,
	STARTS = 8, /* in one round, */
	READS = 8,  /* and after each */
	MARKED = 3
}; /* times that every step is shown to strace: the first two sessions of all CPUs ask which there
      are */

enum session_step { OPEN, START, READ, STOP, CLOSE, STEPS };

static const char *const step_names[] = { "open", "start", "read", "stop", "close" };

/* A way to count. Every function ends the program if it fails. */
struct session_side {
	const char *name;
	/* Opens the first @n events, as one group, for the calling thread or for all CPUs. */
	void (*open)(unsigned n, bool all);
	void (*start)(void);
	void (*read)(void);
	void (*stop)(void);
	void (*close)(void);
};

static inline void report_failure(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static inline double time_step(void (*call)(void))
{
	double t = now_ns();

	call();
	return now_ns() - t;
}

/* Runs one round of @side and stores the time of each step. */
static inline void one_round(const struct session_side *side, unsigned n, bool all,
                             double took[STEPS])
{
	double t = now_ns();

	memset(took, 0, STEPS * sizeof(*took));
	side->open(n, all);
	took[OPEN] = now_ns() - t;
	for (unsigned i = 0; i < STARTS; i++) {
		took[START] += time_step(side->start) / STARTS;
		t = now_ns();
		for (unsigned k = 0; k < READS; k++)
			side->read();
		took[READ] += (now_ns() - t) / STARTS / READS;
		took[STOP] += time_step(side->stop) / STARTS;
	}
	took[CLOSE] = time_step(side->close);
}

/* Runs each step once, followed by a getppid() call that marks its end for strace. */
static inline void mark_steps(const struct session_side *side, unsigned n, bool all)
{
	side->open(n, all);
	syscall(SYS_getppid);
	side->start();
	syscall(SYS_getppid);
	side->read();
	syscall(SYS_getppid);
	side->stop();
	syscall(SYS_getppid);
	side->close();
	syscall(SYS_getppid);
}

/* Rounds of all sides in turn: {"SIDE": {"open": NS, ...}, ...} with medians. */
static inline int measure(const struct session_side *sides, unsigned n_sides, unsigned n, bool all,
                          unsigned rounds)
{
	static double v[4][STEPS][MAX_ROUNDS];
	double took[STEPS];

	for (unsigned r = 0; r < rounds; r++)
		for (unsigned s = 0; s < n_sides; s++) {
			one_round(&sides[s], n, all, took);
			for (unsigned i = 0; i < STEPS; i++)
				v[s][i][r] = took[i];
		}
	for (unsigned s = 0; s < n_sides; s++) {
		printf("%s\"%s\": {", s ? ", " : "{", sides[s].name);
		for (unsigned i = 0; i < STEPS; i++)
			printf("%s\"%s\": %.0f", i ? ", " : "", step_names[i],
			       median_value(v[s][i], rounds));
		printf("}");
	}
	return puts("}") < 0;
}

/*   PROGRAM measure EVENTS one|all ROUNDS    medians of the steps in ns, as JSON
 *   PROGRAM calls SIDE EVENTS one|all        rounds with a getppid() after each step, for strace */
static inline int drive_side(const struct session_side *sides, unsigned n_sides, int argc,
                             char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "measure") && atoi(argv[4]) > 0 &&
	    atoi(argv[4]) <= MAX_ROUNDS)
		return measure(sides, n_sides, (unsigned)atoi(argv[2]), !strcmp(argv[3], "all"),
		               (unsigned)atoi(argv[4]));
	for (unsigned s = 0; s < n_sides && argc == 5 && !strcmp(argv[1], "calls"); s++)
		if (!strcmp(argv[2], sides[s].name)) {
			for (unsigned i = 0; i < MARKED; i++)
				mark_steps(&sides[s], (unsigned)atoi(argv[3]),
				           !strcmp(argv[4], "all"));
			return 0;
		}
	fprintf(stderr, "usage: %s measure EVENTS one|all ROUNDS | calls SIDE EVENTS one|all\n",
	        argv[0]);
	return 2;
}

#endif
