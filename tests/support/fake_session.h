/* SPDX-License-Identifier: MIT */
/* Sessions on a scripted kernel: what the tests about them share. */
#ifndef PERFMON_TESTS_FAKE_SESSION_H
#define PERFMON_TESTS_FAKE_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "session/perf_event_internal.h"
#include "context/context.h"
#include "fake_sys.h"

extern struct fake fake;
extern pfm_ctx_t *ctx;
extern pfm_session_t *session;
extern pfm_session_options_t options;
extern pfm_error_t error;
extern pfm_count_t counts[64];

#define TEXTS(...)                                                                                 \
	(const char *const[]){ __VA_ARGS__ },                                                      \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)

/* A context on the fake system, for the processor @cpuid. */
void open_context(const char *cpuid);
/* Makes recorded machine @name of tests/machines. */
void make_machine(const char *name);
/* Opens a session with the options. */
int open_texts(const char *const *texts, unsigned n);
/* Opens a session, which must succeed. */
void must_open(const char *const *texts, unsigned n);
/* Reads all counts. */
void read_all(void);
/* Starts, stops and reads. */
void run_session(void);
/* Describes count @i. */
pfm_count_info_t is_about(unsigned i);
/* The @i-th kernel event that was opened. */
struct fake_event *event_text(unsigned i);
/* Count @i must be of this quality and cause; what is not exact must say why. */
void expect_count(unsigned i, pfm_quality_t quality, pfm_cause_t cause);
/* @piece must be in the sentences of count @i. */
void expect_why(unsigned i, const char *piece);
/* Closes the session; nothing may stay open. */
void end_session(void);
/* Kernels for fake.decide: one that counts no cycles. */
int no_cycles(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group);
/* One that refuses what fake.number says. */
int refuse_one(struct fake *f, const struct perf_attr *attr, int pid, int cpu, int group);
/* For the end of a test. */
int done(void **state);

#endif
